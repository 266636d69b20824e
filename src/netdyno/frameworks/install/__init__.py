"""Installing frameworks: environments, their packages, and whether they are still intact."""
