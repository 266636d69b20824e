"""How readings are shown to people: tables and progress."""
