"""How fast is Theano without any harness? Hand-written compiled training functions, to hold the adapter against.

    echo 100 | python benchmarks/bare_theano.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import glob
import os
import sys

import numpy as np
from blocks import read_options, serve

BLAS = glob.glob(os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs", "libopenblas*.so"))[0]
os.environ["THEANO_FLAGS"] = ",".join(
    [
        "floatX=float32",
        "openmp={}".format(os.environ.get("OMP_NUM_THREADS") != "1"),
        "base_compiledir=" + os.path.join(sys.prefix, "theano"),
        "blas.ldflags=-L{} -l:{}".format(*os.path.split(BLAS)),
    ]
)

import theano  # noqa: E402 - reads its flags when it is imported
import theano.tensor as T  # noqa: E402, N812
from theano.tensor.nnet import conv2d, relu  # noqa: E402
from theano.tensor.signal.pool import pool_2d  # noqa: E402

LEARNING_RATE = 0.01
MOMENTUM = 0.9


class Network:
    """Collects the shared variables of the layers it is asked for."""

    def __init__(self):
        self.parameters = []
        self.draw = np.random.RandomState(0)

    def shared(self, shape, bound):
        value = theano.shared(self.draw.uniform(-bound, bound, shape).astype("float32"))
        self.parameters.append(value)
        return value

    def conv(self, x, shape, weights, stride=1, pad=0):
        w = self.shared(weights, glorot((weights[0] + weights[1]) * weights[2] * weights[3]))
        b = self.shared(weights[:1], 0.0)
        y = conv2d(
            x,
            w,
            input_shape=shape,
            filter_shape=weights,
            border_mode=(pad, pad),
            subsample=(stride, stride),
            filter_flip=False,
        )
        return y + b.dimshuffle("x", 0, "x", "x")

    def linear(self, x, inputs, outputs):
        return T.dot(x, self.shared((inputs, outputs), glorot(inputs + outputs))) + self.shared((outputs,), 0.0)


def glorot(fans):
    """Initial range. It matters for speed too: how long a tanh takes depends on its argument."""
    return (6 / fans) ** 0.5


def lenet(net, x, batch):
    x = T.tanh(net.conv(x, (batch, 1, 28, 28), (6, 1, 5, 5), pad=2))
    x = pool_2d(x, (2, 2), ignore_border=True, mode="average_exc_pad")
    x = T.tanh(net.conv(x, (batch, 6, 14, 14), (16, 6, 5, 5)))
    x = pool_2d(x, (2, 2), ignore_border=True, mode="average_exc_pad")
    x = T.tanh(net.linear(x.flatten(2), 400, 120))
    return net.linear(T.tanh(net.linear(x, 120, 84)), 84, 10)


def alexnet(net, x, batch):
    x = relu(net.conv(x, (batch, 3, 32, 32), (64, 3, 11, 11), stride=4, pad=5))
    x = pool_2d(x, (2, 2), ignore_border=True)
    x = relu(net.conv(x, (batch, 64, 4, 4), (192, 64, 5, 5), pad=2))
    x = pool_2d(x, (2, 2), ignore_border=True)
    x = relu(net.conv(x, (batch, 192, 2, 2), (384, 192, 3, 3), pad=1))
    x = relu(net.conv(x, (batch, 384, 2, 2), (256, 384, 3, 3), pad=1))
    x = relu(net.conv(x, (batch, 256, 2, 2), (256, 256, 3, 3), pad=1))
    return net.linear(pool_2d(x, (2, 2), ignore_border=True).flatten(2), 256, 10)


# (network, dataset): its function, parameter count, image shape
CASES = {
    ("lenet", "mnist"): (lenet, 61_706, (1, 28, 28)),
    ("alexnet", "cifar10"): (alexnet, 2_472_266, (3, 32, 32)),
}


def training_step(options):
    """A compiled function that makes one step on a batch in shared variables."""
    make, count, shape = CASES[options.network, options.dataset]
    draw = np.random.RandomState(0)
    images = theano.shared(draw.normal(size=(options.batch, *shape)).astype("float32"), borrow=True)
    labels = theano.shared(draw.randint(10, size=options.batch).astype("int32"), borrow=True)
    x, y = T.tensor4(), T.ivector()
    net = Network()
    probabilities = T.nnet.softmax(make(net, x, options.batch))
    total = sum(p.get_value(borrow=True).size for p in net.parameters)
    assert total == count, total
    loss = T.nnet.categorical_crossentropy(probabilities, y).mean()
    updates = []
    for parameter, gradient in zip(net.parameters, T.grad(loss, net.parameters)):  # noqa: B905 - 3.8 knows no strict
        velocity = theano.shared(np.zeros_like(parameter.get_value()))
        moved = MOMENTUM * velocity + gradient
        updates += [(velocity, moved), (parameter, parameter - LEARNING_RATE * moved)]
    step = theano.function([], loss, updates=updates, givens={x: images, y: labels})
    step.trust_input = True
    return step


def main():
    serve(training_step(read_options(CASES)), lambda: None)


if __name__ == "__main__":
    main()
