"""The command: one file per subcommand. Nobody imports it."""
