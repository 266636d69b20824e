"""Small networks that put several ops together, each for something that an op alone does not show."""

from sketch import ADAM, MOMENTUM, Sketch


def residual(composite):
    """A classifier with a shortcut, batch norm and every kind of pool; the pools over whole maps are `composite` ops
    or spelled out in primitives."""
    sketch = Sketch()
    edge = {"strides": [1, 1], "padding": [1, 1, 1, 1], "groups": 1}
    sketch.input("image", [4, 3, 8, 8])
    sketch.input("labels", [4], 0, 5, "integers")
    stem = [sketch.parameter("stem.weight", [6, 3, 3, 3], -0.3, 0.3), sketch.parameter("stem.bias", [6])]
    branch = sketch.parameter("branch.weight", [6, 6, 3, 3], -0.2, 0.2)
    head = [sketch.parameter("head.weight", [5, 12]), sketch.parameter("head.bias", [5])]
    sketch.node("stem", "convolution", ["image", *stem], [4, 6, 8, 8], **edge)
    sketch.node("stem.relu", "relu", ["stem"], [4, 6, 8, 8])
    window = {"kernel": [3, 3], "strides": [2, 2], "padding": [0, 1, 0, 1]}
    sketch.node("pooled", "max_pool", ["stem.relu"], [4, 6, 4, 4], **window)
    sketch.node("branch", "convolution", ["pooled", branch], [4, 6, 4, 4], **edge)
    norm = ["branch", *sketch.state("branch.norm", 6)]
    sketch.node("branch.norm", "batch_norm", norm, [4, 6, 4, 4], epsilon=1e-5, momentum=0.1)
    sketch.node("sum", "add", ["branch.norm", "pooled"], [4, 6, 4, 4])
    sketch.node("smooth", "mean_pool", ["sum"], [4, 6, 2, 2], **window)
    for name, source, side in (("beside", "smooth", 2), ("deep", "sum", 4)):
        if composite:
            sketch.node(name, "global_mean_pool", [source], [4, 6])
            continue
        whole = {"kernel": [side, side], "strides": [1, 1], "padding": [0, 0, 0, 0]}
        sketch.node(name + ".mean", "mean_pool", [source], [4, 6, 1, 1], **whole)
        sketch.node(name, "flatten", [name + ".mean"], [4, 6])
    sketch.node("both", "concat", ["beside", "deep"], [4, 12])
    sketch.node("kept", "dropout", ["both"], [4, 12], rate=0.0, seed=1)
    sketch.node("y", "linear", ["kept", *head], [4, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y", "loss")


def repeated_pools():
    """Windows over the very same pixels: all values of a map are equal, and each gradient must still count once."""
    sketch = Sketch()
    edge = {"strides": [1, 1], "padding": [1, 1, 1, 1], "groups": 1}
    whole = {"kernel": [3, 3], "strides": [1, 1], "padding": [1, 1, 1, 1]}
    sketch.input("image", [4, 3, 4, 4])
    sketch.input("labels", [4], 0, 5, "integers")
    stem = [sketch.parameter("stem.weight", [6, 3, 3, 3], -0.3, 0.3), sketch.parameter("stem.bias", [6])]
    mixed = [sketch.parameter("mixed.weight", [5, 6, 1, 1]), sketch.parameter("mixed.bias", [5])]
    last = sketch.parameter("last.weight", [5, 5, 3, 3], -0.3, 0.3)
    sketch.node("stem", "convolution", ["image", *stem], [4, 6, 4, 4], **edge)
    sketch.node("stem.relu", "relu", ["stem"], [4, 6, 4, 4])
    small = {"kernel": [3, 3], "strides": [2, 2], "padding": [0, 1, 0, 1]}
    sketch.node("pooled", "max_pool", ["stem.relu"], [4, 6, 2, 2], **small)
    sketch.node("repeated", "max_pool", ["pooled"], [4, 6, 2, 2], **whole)
    sketch.node("mixed", "convolution", ["repeated", *mixed], [4, 5, 2, 2], **dict(edge, padding=[0, 0, 0, 0]))
    sketch.node("mixed.relu", "relu", ["mixed"], [4, 5, 2, 2])
    sketch.node("again", "max_pool", ["mixed.relu"], [4, 5, 2, 2], **whole)
    sketch.node("last", "convolution", ["again", last], [4, 5, 2, 2], **edge)
    sketch.node("y", "global_mean_pool", ["last"], [4, 5])
    sketch.node("loss", "softmax_cross_entropy", ["y", "labels"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y", "loss")


def tied():
    """A kernel and a matrix that are used twice each, with a bias: their gradients add up."""
    sketch = Sketch()
    edge = {"strides": [1, 1], "padding": [1, 1, 1, 1], "groups": 1}
    sketch.input("image", [4, 3, 2, 2])
    sketch.input("target", [4, 12])
    kernel = sketch.parameter("kernel.weight", [3, 3, 3, 3], -0.3, 0.3)
    matrix = [sketch.parameter("matrix.weight", [12, 12], -0.4, 0.4), sketch.parameter("matrix.bias", [12])]
    sketch.node("conv1", "convolution", ["image", kernel], [4, 3, 2, 2], **edge)
    sketch.node("tanh1", "tanh", ["conv1"], [4, 3, 2, 2])
    sketch.node("conv2", "convolution", ["tanh1", kernel], [4, 3, 2, 2], **edge)
    sketch.node("flat", "flatten", ["conv2"], [4, 12])
    sketch.node("fc1", "linear", ["flat", *matrix], [4, 12])
    sketch.node("tanh2", "tanh", ["fc1"], [4, 12])
    sketch.node("y", "linear", ["tanh2", *matrix], [4, 12])
    sketch.node("loss", "mean_squared_error", ["y", "target"], [])
    sketch.update("loss", MOMENTUM)
    return sketch.wire("y", "loss")


def variational():
    """Two losses in one, scaled and added; the noise is fed so that nothing is drawn."""
    sketch = Sketch()
    sketch.input("x", [4, 6], 0.0, 1.0)
    sketch.input("noise", [4, 2], kind="normal")
    for name, shape in (("mean", [2, 6]), ("spread", [2, 6]), ("decoder", [6, 2])):
        sketch.parameter(name + ".weight", shape)
    sketch.node("mean", "linear", ["x", "mean.weight"], [4, 2])
    sketch.node("spread", "linear", ["x", "spread.weight"], [4, 2])
    sketch.node("width", "sigmoid", ["spread"], [4, 2])
    sketch.node("moved", "multiply", ["width", "noise"], [4, 2])
    sketch.node("code", "add", ["mean", "moved"], [4, 2])
    sketch.node("y", "linear", ["code", "decoder.weight"], [4, 6])
    sketch.node("rebuilt", "binary_cross_entropy", ["y", "x"], [])
    sketch.node("divergence", "gaussian_kl", ["mean", "spread"], [])
    sketch.node("weighed", "scale", ["divergence"], [], factor=0.25)
    sketch.node("loss", "add", ["rebuilt", "weighed"], [])
    sketch.update("loss", ADAM)
    return sketch.wire("y", "loss")


def adversarial():
    """Two updates over two groups; the judge is applied to real and made values with one set of weights."""
    sketch = Sketch()
    sketch.input("real", [4, 3])
    sketch.input("seeds", [4, 2], kind="normal")
    sketch.input("ones", [4, 1], 1.0, 1.0)
    sketch.input("zeros", [4, 1], 0.0, 0.0)
    sketch.parameter("maker.weight", [3, 2])
    sketch.parameter("judge.weight", [1, 3])
    sketch.parameter("judge.bias", [1])
    judge = ["judge.weight", "judge.bias"]
    sketch.node("made.linear", "linear", ["seeds", "maker.weight"], [4, 3])
    sketch.node("made", "tanh", ["made.linear"], [4, 3])
    sketch.node("fixed", "stop_gradient", ["made"], [4, 3])
    sketch.node("of.real", "linear", ["real", *judge], [4, 1])
    sketch.node("of.fixed", "linear", ["fixed", *judge], [4, 1])
    sketch.node("of.made", "linear", ["made", *judge], [4, 1])
    sketch.node("real.loss", "binary_cross_entropy", ["of.real", "ones"], [])
    sketch.node("fixed.loss", "binary_cross_entropy", ["of.fixed", "zeros"], [])
    sketch.node("judge.loss", "add", ["real.loss", "fixed.loss"], [])
    sketch.node("maker.loss", "binary_cross_entropy", ["of.made", "ones"], [])
    sketch.update("judge.loss", MOMENTUM, judge, name="judge")
    sketch.update("maker.loss", ADAM, ["maker.weight"], name="maker")
    return sketch.wire("made", "judge.loss", "maker.loss")
