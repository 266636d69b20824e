"""How a cell's figures went over time."""
