"""Which of Paddle's optimizers computes what the graph asks for."""

import paddle


def make_optimizer(rule, parameters):
    rate = rule["learning_rate"]
    if rule["kind"] == "adam":
        return paddle.optimizer.Adam(rate, rule["beta1"], rule["beta2"], rule["epsilon"], parameters)
    if rule["kind"] == "momentum":
        return paddle.optimizer.Momentum(rate, rule["momentum"], parameters)
    return paddle.optimizer.SGD(rate, parameters)
