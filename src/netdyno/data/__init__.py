"""Which data there is, in which files, and how it gets from one format into another."""
