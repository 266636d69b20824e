"""Results for people: tables in the terminal, charts, and one HTML page."""
