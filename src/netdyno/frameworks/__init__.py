"""Which frameworks there are and where they live: specs, interpreters, environments, installing."""
