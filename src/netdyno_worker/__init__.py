"""The half of netdyno that runs beside a framework: Python 3.6 syntax, standard library and numpy only."""
