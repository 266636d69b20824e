"""How a matrix of cells is measured: suite, plan, campaign, and the searches before them."""
