"""How the running variance of a library that averages biased variances becomes the graph's, which are unbiased.

Both are the same weighted mean of variances that differ by a constant factor, so they differ by that factor too.
"""

from netdyno_worker.contract import Unsupported
from netdyno_worker.program import inputs_by_role, shapes


def unbiased_over_biased(count):
    """The factor between the two variances of `count` values."""
    return count / max(count - 1.0, 1.0)


def variance_factors(program):
    """{running variance: what the library's value is multiplied with to be the graph's}."""
    known, factors = shapes(program), {}
    for node in program.nodes:
        for role, name in inputs_by_role(program, node):
            if role == "running_variance":
                factor = unbiased_over_biased(values_per_channel(known[node.inputs[0]]))
                if factors.setdefault(name, factor) != factor:
                    raise Unsupported("'%s' is shared by batch norms over different numbers of values" % name)
    return factors


def values_per_channel(shape):
    """How many values of a batch of that shape, channels second, each channel has."""
    count = 1
    for length in shape[:1] + shape[2:]:
        count *= length
    return float(count)
