"""How results compare, in one figure: faster, slower, more, less, equal or cannot tell."""
