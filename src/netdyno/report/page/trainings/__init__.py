"""Charts of trainings to a goal: their learning curves, and what their error costs."""
