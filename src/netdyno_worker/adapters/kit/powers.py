"""How a negative power is computed by roots, which take a fraction of the time of a logarithm and an exponential."""


def negative_power(x, beta, rsqrt, sqrt):
    """x^-beta: by roots for the usual 0.75 and for 0.5. `rsqrt` and `sqrt` are the library's own."""
    if beta == 0.75:
        root = rsqrt(x)
        return root * sqrt(root)
    return rsqrt(x) if beta == 0.5 else x**-beta
