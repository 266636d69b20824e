"""What the oracle computes with: every primitive op in float64, forward and backward."""
