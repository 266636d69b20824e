"""What each loss computes in the oracle, forward and backward."""

import numpy as np

from netdyno_worker.oracle.elementwise import sigmoid_of
from netdyno_worker.oracle.rounding import EXACT


def softmax_cross_entropy(inputs, attributes):
    logits, labels = inputs
    shifted = logits - logits.max(axis=1, keepdims=True)
    log_sums = np.log(attributes.get("rounding", EXACT).sum(np.exp(shifted), (1,))).reshape(-1, 1)
    log_probabilities = shifted - log_sums
    return -log_probabilities[np.arange(len(labels)), labels].mean(), (log_probabilities, labels)


def softmax_cross_entropy_backward(gradient, kept, needed):
    log_probabilities, labels = kept
    found = np.exp(log_probabilities)
    found[np.arange(len(labels)), labels] -= 1.0
    return [found * (gradient / len(labels)), None]


def mean_squared_error(inputs, attributes):
    difference = inputs[0] - inputs[1]
    return np.mean(difference * difference), difference


def mean_squared_error_backward(gradient, difference, needed):
    found = difference * (2.0 * gradient / difference.size)
    return [found, -found]


def binary_cross_entropy(inputs, attributes):
    logits, target = inputs
    terms = np.maximum(logits, 0.0) - logits * target + np.log1p(np.exp(-np.abs(logits)))
    return terms.mean(), inputs


def binary_cross_entropy_backward(gradient, kept, needed):
    logits, target = kept
    share = gradient / logits.size
    return [(sigmoid_of(logits) - target) * share, -logits * share]


def gaussian_kl(inputs, attributes):
    mean, log_variance = inputs
    total = np.sum(1.0 + log_variance - mean * mean - np.exp(log_variance))
    return -0.5 * total / len(mean), inputs


def gaussian_kl_backward(gradient, kept, needed):
    mean, log_variance = kept
    share = gradient / len(mean)
    return [mean * share, 0.5 * (np.exp(log_variance) - 1.0) * share]
