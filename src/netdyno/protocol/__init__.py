"""What crosses the process boundary: typed requests to a worker and typed events from it."""
