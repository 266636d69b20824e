"""How far out Student's t may lie: its quantiles and tails, for any real number of degrees of freedom."""

from math import exp, lgamma, log, log1p, pi

TINY = 1e-300
CLOSE = 1e-15


def quantile(probability: float, degrees: float) -> float:
    """The t that a share `probability` of the distribution lies under."""
    if not 0 < probability < 1 or not degrees > 0:
        raise ValueError(f"no Student quantile of {probability} with {degrees} degrees of freedom")
    if probability < 0.5:
        return -quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while upper_tail(high, degrees) > 1 - probability:
        low, high = high, 2 * high
    t = high
    for _ in range(100):
        excess = upper_tail(t, degrees) - (1 - probability)
        low, high = (t, high) if excess > 0 else (low, t)
        newton = t + excess / _density(t, degrees)
        t, last = newton if low < newton < high else (low + high) / 2, t
        if abs(t - last) <= CLOSE * t:
            break
    return t


def upper_tail(t: float, degrees: float) -> float:
    """The share of the distribution that lies over t."""
    if t < 0:
        return 1 - upper_tail(-t, degrees)
    return 0.5 * _incomplete_beta(degrees / (degrees + t * t), degrees / 2, 0.5)


def _density(t: float, degrees: float) -> float:
    scale = lgamma((degrees + 1) / 2) - lgamma(degrees / 2) - log(degrees * pi) / 2
    return exp(scale - (degrees + 1) / 2 * log1p(t * t / degrees))


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction where that converges fast."""
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """1 + d₁/(1 + d₂/(1 + …)), evaluated forwards by Lentz's method."""
    value, c, d = 1.0, 1.0, 0.0
    for index in range(1, 2000):
        m = index // 2
        if index % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1 / _not_zero(1 + term * d)
        c = _not_zero(1 + term / c)
        value *= c * d
        if abs(c * d - 1) < CLOSE:
            break
    return value


def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
