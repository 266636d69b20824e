"""How fast is JAX without any harness? Hand-written training loops over jax.lax, to hold the adapter against.

    echo 100 | python benchmarks/bare_jax.py --network lenet --dataset mnist --batch 64

prints the seconds that a hundred steps took; see blocks.py.
"""

import math
import os
from functools import partial

import jax
import jax.numpy as jnp
import jax_families
import numpy as np
from blocks import read_options, serve
from jax import lax

LEARNING_RATE = 0.01
MOMENTUM = 0.9


class Variables:
    """A network's variables in the order it asks for them: drawn on the first pass, given on later ones."""

    def __init__(self, kept=None, key=None, precision="float32") -> None:
        self.kept = kept
        self.key = key
        self.weights = [] if kept is None else list(kept["weights"])
        self.statistics = [] if kept is None else list(kept["statistics"])
        self.next_statistics = []
        self.type = jnp.bfloat16 if precision == "bfloat16" else jnp.float32
        self.precision = lax.Precision.DEFAULT if precision == "tf32" else lax.Precision.HIGHEST
        self._draw = np.random.RandomState(0)

    def weight(self, *shape):
        if self.kept is not None:
            return self.weights.pop(0)
        bound = 1.0 / math.sqrt(math.prod(shape[:-1]))
        self.weights.append(jnp.array(self._draw.uniform(-bound, bound, shape), jnp.float32))
        return self.weights[-1]

    def vector(self, size, value):
        if self.kept is not None:
            return self.weights.pop(0)
        self.weights.append(jnp.full((size,), value, jnp.float32))
        return self.weights[-1]

    def statistic(self, size, value):
        if self.kept is not None:
            return self.statistics.pop(0)
        self.statistics.append(jnp.full((size,), value, jnp.float32))
        return self.statistics[-1]


def conv(v, x, channels, kernel, stride=1, padding=0, bias=True):
    w = v.weight(kernel, kernel, x.shape[3], channels)
    y = lax.conv_general_dilated(
        x.astype(v.type),
        w.astype(v.type),
        (stride, stride),
        [(padding, padding)] * 2,
        dimension_numbers=("NHWC", "HWIO", "NHWC"),
        precision=v.precision,
    )
    return y + v.vector(channels, 0.0).astype(v.type) if bias else y


def linear(v, x, features):
    y = jnp.dot(x.astype(v.type), v.weight(x.shape[1], features).astype(v.type), precision=v.precision)
    return y + v.vector(features, 0.0).astype(v.type)


def batch_norm(v, x):
    size = x.shape[-1]
    wide = x.astype(jnp.float32)
    mean = jnp.mean(wide, (0, 1, 2))
    if x.dtype == jnp.bfloat16:
        variance = jnp.maximum(jnp.mean(jnp.square(wide), (0, 1, 2)) - jnp.square(mean), 0.0)
    else:
        variance = jnp.mean(jnp.square(wide - mean), (0, 1, 2))
    count = x.size // size
    running_mean, running_variance = v.statistic(size, 0.0), v.statistic(size, 1.0)
    v.next_statistics += [
        0.9 * running_mean + 0.1 * mean,
        0.9 * running_variance + 0.1 * variance * (count / (count - 1)),
    ]
    factor = v.vector(size, 1.0) * lax.rsqrt(variance + 1e-5)
    return ((wide - mean) * factor + v.vector(size, 0.0)).astype(x.dtype)


def max_pool(x, kernel, stride, sides=(0, 0)):
    window, strides = (1, kernel, kernel, 1), (1, stride, stride, 1)
    lowest = np.array(-np.inf, x.dtype)
    return lax.reduce_window(x, lowest, lax.max, window, strides, ((0, 0), sides, sides, (0, 0)))


def mean_pool(x, kernel):
    window = (1, kernel, kernel, 1)
    return lax.reduce_window(x, np.array(0, x.dtype), lax.add, window, window, "VALID") / kernel**2


def response_norm(x):
    wide = x.astype(jnp.float32)
    sides = ((0, 0), (0, 0), (0, 0), (2, 2))
    total = lax.reduce_window(jnp.square(wide), np.float32(0), lax.add, (1, 1, 1, 5), (1, 1, 1, 1), sides)
    return (wide * (1.0 + 1e-4 / 5 * total) ** -0.75).astype(x.dtype)


def lenet(v, x, classes):
    x = mean_pool(jnp.tanh(conv(v, x, 6, 5, padding=2)), 2)
    x = mean_pool(jnp.tanh(conv(v, x, 16, 5)), 2)
    x = jnp.tanh(linear(v, x.reshape(x.shape[0], -1), 120))
    return linear(v, jnp.tanh(linear(v, x, 84)), classes)


def alexnet(v, x, classes):
    x = max_pool(jax.nn.relu(conv(v, x, 64, 11, 4, 5)), 2, 2)
    x = max_pool(jax.nn.relu(conv(v, x, 192, 5, padding=2)), 2, 2)
    x = jax.nn.relu(conv(v, x, 384, 3, padding=1))
    x = jax.nn.relu(conv(v, x, 256, 3, padding=1))
    x = max_pool(jax.nn.relu(conv(v, x, 256, 3, padding=1)), 2, 2)
    return linear(v, x.reshape(x.shape[0], -1), classes)


# 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; after the pool. None: a max pool between.
INCEPTIONS = (
    (64, 96, 128, 16, 32, 32),
    (128, 128, 192, 32, 96, 64),
    None,
    (192, 96, 208, 16, 48, 64),
    (160, 112, 224, 24, 64, 64),
    (128, 128, 256, 24, 64, 64),
    (112, 144, 288, 32, 64, 64),
    (256, 160, 320, 32, 128, 128),
    None,
    (256, 160, 320, 32, 128, 128),
    (384, 192, 384, 48, 128, 128),
)


def googlenet(v, x, classes):
    x = response_norm(max_pool(jax.nn.relu(conv(v, x, 64, 7, 2, 3)), 3, 2, (0, 1)))
    x = jax.nn.relu(conv(v, x, 64, 1))
    x = jax.nn.relu(conv(v, x, 192, 3, padding=1))
    x = max_pool(response_norm(x), 3, 2, (0, 1))
    for columns in INCEPTIONS:
        x = max_pool(x, 3, 2, (0, 1)) if columns is None else inception(v, x, columns)
    x = jnp.mean(x.astype(jnp.float32), (1, 2)).astype(x.dtype)
    kept = jax.random.bernoulli(v.key, 0.6, x.shape)
    return linear(v, jnp.where(kept, x / 0.6, 0), classes)


def inception(v, x, columns):
    one, reduce3, three, reduce5, five, pooled = columns
    branches = [
        jax.nn.relu(conv(v, x, one, 1)),
        jax.nn.relu(conv(v, jax.nn.relu(conv(v, x, reduce3, 1)), three, 3, padding=1)),
        jax.nn.relu(conv(v, jax.nn.relu(conv(v, x, reduce5, 1)), five, 5, padding=2)),
        jax.nn.relu(conv(v, max_pool(x, 3, 1, (1, 1)), pooled, 1)),
    ]
    return jnp.concatenate(branches, 3)


def resnet50(v, x, classes):
    small = x.shape[1] < 64
    x = conv(v, x, 64, 3 if small else 7, 1 if small else 2, 1 if small else 3, bias=False)
    x = jax.nn.relu(batch_norm(v, x))
    if not small:
        x = max_pool(x, 3, 2, (1, 1))
    for stage, depth in enumerate((3, 4, 6, 3)):
        for block in range(depth):
            x = bottleneck(v, x, 64 * 2**stage, 2 if stage and not block else 1)
    return linear(v, jnp.mean(x.astype(jnp.float32), (1, 2)).astype(x.dtype), classes)


def bottleneck(v, x, width, stride):
    y = jax.nn.relu(batch_norm(v, conv(v, x, width, 1, bias=False)))
    y = jax.nn.relu(batch_norm(v, conv(v, y, width, 3, stride, 1, bias=False)))
    y = batch_norm(v, conv(v, y, 4 * width, 1, bias=False))
    if x.shape[3] != 4 * width:
        x = batch_norm(v, conv(v, x, 4 * width, 1, stride, bias=False))
    return jax.nn.relu(x + y)


# network, image side, channels, classes, parameters
CASES = {
    ("lenet", "mnist"): (lenet, 28, 1, 10, 61_706),
    ("alexnet", "cifar10"): (alexnet, 32, 3, 10, 2_472_266),
    ("googlenet", "imagenet"): (googlenet, 224, 3, 1000, 6_998_552),
    ("resnet50", "cifar10"): (resnet50, 32, 3, 10, 23_520_842),
    ("resnet50", "imagenet"): (resnet50, 224, 3, 1000, 25_557_032),
}


class Training:
    """The loop: `step()` trains once without waiting, `wait()` returns when everything is computed."""

    def __init__(self, options) -> None:
        network, side, channels, classes, parameters = CASES[options.network, options.dataset]
        draw = np.random.RandomState(1)
        self.images = jnp.array(draw.uniform(0, 1, (options.batch, side, side, channels)), jnp.float32)
        self.labels = jnp.array(draw.randint(0, classes, options.batch), jnp.int32)
        self.state = initial_state(partial(network, classes=classes), self.images)
        count = sum(weight.size for weight in self.state["weights"])
        assert count == parameters, (count, parameters)
        loop = partial(train, partial(network, classes=classes), options.precision)
        self.compiled = jax.jit(loop, donate_argnums=0)
        self.loss = None

    def step(self) -> None:
        self.state, self.loss = self.compiled(self.state, self.images, self.labels)

    def wait(self) -> None:
        jax.block_until_ready((self.state, self.loss))


def initial_state(network, images):
    v = Variables(key=jax.random.key(0))
    network(v, images[:2])
    velocities = [jnp.zeros_like(weight) for weight in v.weights]
    count = jnp.zeros((), jnp.int32)
    return {"weights": v.weights, "velocities": velocities, "statistics": v.statistics, "count": count}


def train(network, precision, state, images, labels):
    def loss_of(weights):
        key = jax.random.fold_in(jax.random.key(0), state["count"])
        v = Variables({"weights": weights, "statistics": state["statistics"]}, key, precision)
        logits = jax.nn.log_softmax(network(v, images).astype(jnp.float32))
        chosen = jnp.take_along_axis(logits, labels[:, None], 1)
        return -jnp.mean(chosen), v.next_statistics

    (loss, moved), gradients = jax.value_and_grad(loss_of, has_aux=True)(state["weights"])
    velocities = jax.tree.map(lambda u, g: MOMENTUM * u + g, state["velocities"], gradients)
    weights = jax.tree.map(lambda w, u: w - LEARNING_RATE * u, state["weights"], velocities)
    count = state["count"] + 1
    return {"weights": weights, "velocities": velocities, "statistics": moved, "count": count}, loss


def prepare(options) -> None:
    """JAX has as many threads as cores it may run on."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax.config.update("jax_platforms", options.device)


def main() -> None:
    options = read_options({**CASES, **jax_families.CASES})
    prepare(options)
    classifies = (options.network, options.dataset) in CASES
    training = Training(options) if classifies else jax_families.Training(options)
    serve(training.step, training.wait)


if __name__ == "__main__":
    main()
