"""Which networks there are: recipes, the builder they are written with, and a catalog with published counts."""
