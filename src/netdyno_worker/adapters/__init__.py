"""One file per framework; a file is imported only when its framework is asked for."""
