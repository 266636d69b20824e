"""PyTorch's kernels of composite ops that take more than an expression to call."""

import torch
from torch.nn import functional


def _recurrent(kernel, states):
    """Layers of one width from zeros; `kernel` is that which torch.nn's own calls. Gives the last's hidden states."""

    def layers(x, *weights):
        count = len(weights) // 4
        zeros = x.new_zeros(count, x.shape[0], weights[1].shape[1])
        state = (zeros,) * states if states > 1 else zeros
        return kernel(x, state, weights, True, count, 0.0, True, False, True)[0]

    return layers


def attention(query, key, value, causal):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)


NAMESPACE = {
    "lstm": _recurrent(torch.lstm, 2),
    "gru": _recurrent(torch.gru, 1),
    "rnn": _recurrent(torch.rnn_tanh, 1),
    "attention": attention,
}
