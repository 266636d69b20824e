"""PyTorch's kernels of composite ops that take more than an expression to call."""

import torch
from torch.nn import functional


def _recurrent(kernel, states):
    """Of one layer from zeros; `kernel` is that which torch.nn's own layer calls. Gives every hidden state."""

    def layer(x, *weights):
        zeros = x.new_zeros(1, x.shape[0], weights[1].shape[1])
        state = (zeros,) * states if states > 1 else zeros
        return kernel(x, state, weights, True, 1, 0.0, True, False, True)[0]

    return layer


def attention(query, key, value, causal):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=causal)


NAMESPACE = {
    "lstm": _recurrent(torch.lstm, 2),
    "gru": _recurrent(torch.gru, 1),
    "rnn": _recurrent(torch.rnn_tanh, 1),
    "attention": attention,
}
