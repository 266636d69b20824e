"""What was read while a run was timed: from the monitor's trace and from the worker."""
