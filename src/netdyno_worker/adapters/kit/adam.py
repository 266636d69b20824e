"""How Adam with epsilon outside the corrected root is computed by a library that corrects the step size instead.

The graph means p - rate * (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + epsilon). Most libraries compute
p - rate_t * m / (sqrt(v) + epsilon_t), which is the same for the two numbers below. They take the powers b1^t and
b2^t as numbers or as a library's tensors, and with tensors its `sqrt`.
"""

import math


def adam_epsilon(epsilon, beta2_power, sqrt=math.sqrt):
    """epsilon_t: epsilon times the correction of the root."""
    return epsilon * sqrt(1.0 - beta2_power)


def adam_rate(rate, beta1_power, beta2_power, sqrt=math.sqrt):
    """rate_t: the learning rate times both corrections."""
    return rate * sqrt(1.0 - beta2_power) / (1.0 - beta1_power)
