"""Which frameworks there are and where they are installed: specs, interpreters, environments, installing."""
