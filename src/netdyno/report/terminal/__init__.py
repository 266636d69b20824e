"""Everything a command prints: tables, progress lines, sentences."""
