"""Networks that make images: a variational auto-encoder, and two pairs of a generator and a discriminator."""

from collections.abc import Callable

from netdyno.graph.model import Draw, Optimizer, constant, uniform_within
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import GENERATIVE, Entry
from netdyno.zoo.items import FACES64, MNIST

CODE = 100  # numbers that a generator makes an image of
SMALL = 0.02 * 3**0.5  # a deviation of 0.02
LEAK = 0.2


def vae(net: Net, images: Value, *, hidden: int = 400, code: int = 20) -> tuple[Value, ...]:
    """An image becomes a mean and a variance of a code; a drawn code becomes an image. The loss is the bound."""
    pixels = net.flatten(images)
    x = net.relu(net.linear(pixels, hidden, name="encoder"))
    mean = net.linear(x, code, name="mean")
    log_variance = net.linear(x, code, name="log_variance")
    deviation = net.exp(net.scale(log_variance, 0.5))
    drawn = net.add(mean, net.multiply(deviation, net.normal((net.batch, code))), name="code")
    again = net.linear(net.relu(net.linear(drawn, hidden, name="decoder")), pixels.shape[1], name="again")
    of_an_image = net.scale(net.binary_cross_entropy(again, pixels), pixels.shape[1], name="reconstruction")
    divergence = net.gaussian_kl(mean, log_variance, name="divergence")
    loss = net.add(of_an_image, divergence, name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=net.learning_rate))
    return again, of_an_image, divergence


def gan(net: Net, images: Value, *, hidden: int = 256) -> tuple[Value, ...]:
    """Two hidden layers in each, fully connected."""
    pixels = net.flatten(images)
    with net.scope("generator"):
        x = net.input("code", (net.batch, CODE), Draw(kind="normal"))
        for number in (1, 2):
            x = net.relu(net.linear(x, hidden, name=f"fc{number}"))
        made = net.tanh(net.linear(x, pixels.shape[1], name="fc3"))
    weights = _Weights(net)

    def judge(x: Value) -> Value:
        for number in (1, 2):
            x = _leaky(net, weights.linear(x, hidden, f"fc{number}"))
        return weights.linear(x, 1, "fc3")

    _compete(net, judge, pixels, made)
    return made, _variety(net, made, "variety"), _variety(net, pixels, "variety_of_images")


def dcgan(net: Net, images: Value, *, width: float = 1.0) -> tuple[Value, ...]:
    """Convolutions with strides, transposed ones in the generator, batch norms between them."""
    _, channels, side, _ = images.shape
    levels = _levels(side)
    with net.scope("generator"):
        made = _generated(
            net, side >> levels, [round(64 * width) << level for level in range(levels)][::-1], channels
        )
    weights = _Weights(net)

    def judge(x: Value) -> Value:
        for level in range(levels):
            x = weights.convolution(x, round(64 * width) << level, f"conv{level + 1}")
            x = _leaky(net, weights.batch_norm(x, f"bn{level + 1}") if level else x)
        return weights.linear(net.flatten(x), 1, "fc", bias=False)

    _compete(net, judge, images, made)
    return made, *(
        _variety(net, net.flatten(x), name) for x, name in ((made, "variety"), (images, "variety_of_images"))
    )


def _levels(side: int) -> int:
    """How often the side is halved: 64 to 4, 28 to 7."""
    levels = 0
    while side % 2 == 0 and side > 4:
        side, levels = side // 2, levels + 1
    return levels


def _generated(net: Net, side: int, channels: list[int], last: int) -> Value:
    code = net.input("code", (net.batch, CODE), Draw(kind="normal"))
    x = net.linear(code, channels[0] * side**2, bias=False, initial=_small, name="fc")
    x = net.relu(net.batch_norm(net.reshape(x, (-1, channels[0], side, side), kind="image")))
    for fewer in channels[1:]:
        x = net.transposed_convolution(x, fewer, 4, stride=2, pad=1, bias=False, initial=_small)
        x = net.relu(net.batch_norm(x))
    return net.tanh(net.transposed_convolution(x, last, 4, stride=2, pad=1, bias=False, initial=_small))


def _compete(net: Net, judge: Callable[[Value], Value], real: Value, made: Value) -> None:
    """The discriminator learns to tell real images from made ones, then the generator to make ones that it takes
    for real: −log σ(x) is softplus(−x)."""
    of_real, of_made = judge(real), judge(made)
    mistakes = net.add(_mean(net, net.softplus(net.scale(of_real, -1.0))), _mean(net, net.softplus(of_made)))
    seen_through = _mean(net, net.softplus(net.scale(of_made, -1.0)))
    optimizer = Optimizer(kind="adam", learning_rate=net.learning_rate, beta1=0.5)
    for name, loss in (("discriminator", mistakes), ("generator", seen_through)):
        net.update(loss, [name], optimizer=optimizer, name=name)


def _variety(net: Net, pixels: Value, name: str) -> Value:
    """How much images of a batch differ: the variance of a pixel over them, its mean over the pixels."""
    away = net.subtract(pixels, net.reduce_mean(pixels, (0,), keep=True))
    return net.reduce_mean(net.multiply(away, away), (0, 1), name=name)


def _mean(net: Net, x: Value) -> Value:
    return net.reduce_mean(x, (0, 1))


def _leaky(net: Net, x: Value) -> Value:
    """A relu that lets a share of what is below 0 through."""
    return net.add(net.scale(x, LEAK), net.scale(net.relu(x), 1.0 - LEAK))


def _small(fan_in: int, fan_out: int) -> float:
    return SMALL


class _Weights:
    """Layers of a discriminator that are made when they are first asked for and used again afterwards."""

    def __init__(self, net: Net) -> None:
        self._net = net
        self._known: dict[str, Value] = {}

    def linear(self, x: Value, features: int, name: str, *, bias: bool = True) -> Value:
        weight = self._parameter(f"{name}.weight", (features, x.shape[1]))
        own = self._parameter(f"{name}.bias", (features,), 0.0) if bias else False
        return self._net.linear(x, features, weight=weight, bias=own)

    def convolution(self, x: Value, channels: int, name: str) -> Value:
        weight = self._parameter(f"{name}.weight", (channels, x.shape[1], 4, 4), kind="kernel")
        return self._net.node("convolution", x, weight, strides=(2, 2), padding=(1, 1, 1, 1), groups=1)

    def batch_norm(self, x: Value, name: str) -> Value:
        """Each use has running statistics of its own."""
        net, width = self._net, (x.shape[1],)
        learnt = [self._parameter(f"{name}.{part}", width, start) for part, start in (("scale", 1.0), ("shift", 0.0))]
        use = sum(known.startswith(f"{name}.use") for known in self._known) // 2 + 1
        state = [
            self._parameter(f"{name}.use{use}.{part}", width, start, trainable=False)
            for part, start in (("running_mean", 0.0), ("running_variance", 1.0))
        ]
        return net.node("batch_norm", x, *learnt, *state, epsilon=1e-5, momentum=0.1)

    def _parameter(
        self,
        name: str,
        shape: tuple[int, ...],
        start: float | None = None,
        *,
        trainable: bool = True,
        kind: str = "plain",
    ) -> Value:
        if name not in self._known:
            initial = uniform_within(SMALL) if start is None else constant(start)
            self._known[name] = self._net.parameter(
                f"discriminator.{name}", shape, initial, trainable=trainable, kind=kind
            )
        return self._known[name]


_COUNTED = "counted by hand from the layers"
_GOODFELLOW = "Goodfellow et al. 2014, Generative adversarial nets: fully connected, with relu in place of maxout"
_RADFORD = (
    "Radford et al. 2015, Unsupervised representation learning with deep convolutional GANs; pytorch/examples dcgan"
)

ENTRIES = (
    Entry(
        network="vae",
        family=GENERATIVE,
        items=MNIST.within(0.0, 1.0),
        build=vae,
        source="Kingma and Welling 2013, Auto-encoding variational Bayes; pytorch/examples vae: 652,824",
        parameters=652_824,
        macs=2 * 784 * 400 + 3 * 400 * 20,
        batch=128,
        learning_rate=0.001,
        steps=469,
        note=_COUNTED,
    ),
    Entry(
        network="gan",
        family=GENERATIVE,
        items=MNIST.within(-1.0, 1.0),
        build=gan,
        source=_GOODFELLOW,
        parameters=(100 * 256 + 256 + 256 * 257 + 256 * 784 + 784) + (784 * 256 + 256 + 256 * 257 + 257),
        macs=(100 * 256 + 256 * 256 + 256 * 784) + 2 * (784 * 256 + 256 * 256 + 256),
        batch=128,
        learning_rate=2e-4,
        steps=469,
        note=_COUNTED,
    ),
    Entry(
        network="dcgan",
        family=GENERATIVE,
        items=FACES64.within(-1.0, 1.0),
        build=dcgan,
        source=_RADFORD + ": 3,576,704 and 2,765,568",
        parameters=3_576_704 + 2_765_568,
        macs=104_628_224 + 2 * 103_817_216,
        batch=128,
        learning_rate=2e-4,
        proof_options={"width": 0.125},
        note=_COUNTED,
    ),
    Entry(
        network="dcgan",
        family=GENERATIVE,
        items=MNIST.within(-1.0, 1.0),
        build=dcgan,
        source=_RADFORD + ", with two levels in place of four",
        parameters=759_680 + 138_624,
        macs=7_250_432 + 2 * 6_629_504,
        batch=128,
        learning_rate=2e-4,
        steps=469,
        proof_options={"width": 0.125},
        note=_COUNTED,
    ),
)
