"""What is found out about a cell before it is measured: its largest batch, its fastest execution."""
