"""What the terminal shows of trainings to a goal."""
