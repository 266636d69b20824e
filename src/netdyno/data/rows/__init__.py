"""Rows of integers for networks that read no images: texts of the user, and trees drawn by seed."""
