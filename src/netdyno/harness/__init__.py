"""How a matrix of cells is measured: suite, plan, launch, watch, judge, run; and how equality is proved."""
