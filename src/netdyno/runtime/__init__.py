"""Running groups of worker processes and reading what they and the machine did."""
