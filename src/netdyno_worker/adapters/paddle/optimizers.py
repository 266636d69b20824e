"""Which of Paddle's optimizers computes what the graph asks for."""

import paddle

from netdyno_worker.adapters.paddle import exact


def make_optimizer(rule, parameters, precision):
    rate = rule["learning_rate"]
    if rule["kind"] == "adam":
        return paddle.optimizer.Adam(rate, rule["beta1"], rule["beta2"], rule["epsilon"], parameters)
    if rule["kind"] == "momentum":
        kind = exact.Momentum if precision == "float64" else paddle.optimizer.Momentum
        return kind(rate, rule["momentum"], parameters)
    return paddle.optimizer.SGD(rate, parameters)
