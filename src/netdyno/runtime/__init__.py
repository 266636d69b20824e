"""How a task is carried out by worker processes: folders, launching, watching, judging."""
