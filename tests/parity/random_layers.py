"""Which random networks there are: blocks of layers drawn one upon the other.

Branches, dense and residual connections, groups, depthwise convolutions, batch norms in a row, values that nothing
uses, weights used twice, both pools with odd paddings and strides, every activation and optimizer. A batch norm
always sees at least `LEAST_VALUES` values of a channel: over two or three its output is hardly more than their signs.
"""

from random import Random
from typing import Any

from hypothesis import strategies

from netdyno.graph.model import Optimizer, Shape
from netdyno.zoo.builder import Net
from tests.parity.random_networks import CLASSES, Drawn, Layer, add_layer

FEWEST_NODES, MOST_NODES = 10, 200
LEAST_HEAD, LONGEST_END = 3, 54  # nodes: the shortest head; the longest block, head and loss
MOST_CHANNELS = 24  # a 1×1 convolution makes fewer of more
LEAST_SIDE, MOST_SIDE = 3, 22
LEAST_VALUES = 16
OPTIMIZERS = (
    Optimizer(kind="sgd", learning_rate=0.05),
    Optimizer(kind="momentum", learning_rate=0.01),
    Optimizer(kind="momentum", learning_rate=0.02, momentum=0.5),
    Optimizer(kind="adam", learning_rate=0.001),
)
BLOCKS = {
    "plain": 5.0,
    "normed": 5.0,
    "pooled": 2.0,
    "residual": 4.0,
    "gated": 1.0,
    "branches": 2.0,
    "dense": 2.0,
    "separable": 2.0,
    "unused": 1.0,
    "tied": 1.0,
    "auxiliary": 0.4,
}


def random_network(random: Random) -> Drawn:
    """Of `FEWEST_NODES` to `MOST_NODES` nodes; twice as many are over n as over 2n."""
    sketch = _Sketch(random)
    fewest, most = FEWEST_NODES - LEAST_HEAD, MOST_NODES - LONGEST_END
    wanted = fewest / (1 - random.random() * (1 - fewest / most))
    while sketch.nodes() < wanted:
        sketch.block()
    sketch.head()
    return Drawn(images=sketch.images, optimizer=random.choice(OPTIMIZERS), layers=tuple(sketch.layers))


networks = strategies.randoms(use_true_random=False).map(random_network)


class _Sketch:
    """A network while it is drawn: its layers, the shape of each, and the one that the next block is put on."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.images = (random.randint(2, 4), random.randint(1, 4), random.randint(8, 20), random.randint(8, 20))
        self.net = Net(batch=self.images[0], classes=CLASSES, learning_rate=0.01, shape=self.images[1:])
        self.layers: list[Layer] = []
        self.values = [self.net.images()]
        self.top = 0

    def nodes(self) -> int:
        """With the three of each auxiliary loss."""
        return len(self.layers) + 3 * sum(layer.op == "classifier" for layer in self.layers)

    def block(self) -> None:
        (name,) = self.random.choices(list(BLOCKS), list(BLOCKS.values()))
        getattr(self, f"_{name}")()
        if self._channels() > MOST_CHANNELS:
            self._convolution(kernel=1, channels=self._some_channels())

    def head(self) -> None:
        """Down to vectors, some linear layers of which two may share a weight, and the classifier."""
        self._add("flatten" if self._often(0.5) else "global_mean_pool")
        if self._often(0.5):
            features = self.random.randint(4, 16)
            first = self._linear(features)
            self._activation()
            if self._often(0.5):
                second = self._linear(features)
                self._linear(features, tied_to=second)
                self._add("add", self.top, first)
            if self._often(0.3):
                self._add("concat", self.top, first)
        self._add("classifier")

    def _plain(self) -> None:
        self._convolution()
        self._activation()
        if self._often(0.15):
            self._norm_across_channels()
        if self._often(0.1):
            self._add("dropout", rate=0.5)

    def _normed(self) -> None:
        """Convolution, batch norm and activation in one of two orders, with one to three norms in a row."""
        before = self._often(0.4)
        if before:
            self._norms()
            self._activation()
        self._convolution(bias=self._often(0.2))
        if not before:
            self._norms()
            if self._often(0.8):  # else a linear bottleneck
                self._activation()

    def _pooled(self) -> None:
        window = self._window(self.random.choice((1, 2, 2, 3)), self.random.choice((1, 2, 2, 3)))
        self._add(self.random.choice(("max_pool", "mean_pool")), ceil=self._often(0.2), **window)

    def _residual(self) -> None:
        start = self.top
        for _ in range(self.random.randint(1, 3)):
            self._same_size()
        if self._channels() != self.values[start].shape[1]:
            self._convolution(kernel=1, channels=self.values[start].shape[1])
        pair = (self.top, start) if self._often(0.5) else (start, self.top)
        self._add("add", *pair)
        if self._often(0.7):
            self._activation()

    def _gated(self) -> None:
        """x times a gate of x, or a power of the gate, or what of it has no gradient."""
        start = self.top
        self._convolution(kernel=self.random.choice((1, 3)), channels=self._channels())
        self._add("sigmoid")
        if self._often(0.3):
            self._add("power", exponent=self.random.choice((1.5, 2.0)))
        if self._often(0.2):
            self._add("stop_gradient")
        self._add("multiply", start, self.top)

    def _branches(self) -> None:
        start, ends = self.top, []
        for _ in range(self.random.randint(2, 4)):
            self.top = start
            if self._often(0.2):
                op = self.random.choice(("max_pool", "mean_pool"))
                self._add(op, kernel=3, stride=1, pad=1)
            for _ in range(self.random.randint(0, 2)):
                self._same_size()
            ends.append(self.top)
        self._add("concat", *ends)

    def _dense(self) -> None:
        for _ in range(self.random.randint(1, 4)):
            start = self.top
            self._norms()
            self._activation()
            self._convolution(kernel=3, channels=self.random.randint(2, 4))
            self._add("concat", start, self.top)

    def _separable(self) -> None:
        """Depthwise, with one or two maps of each channel, then pointwise."""
        channels = self._channels()
        self._convolution(kernel=3, channels=channels * self.random.randint(1, 2), groups=channels)
        self._norms()
        if self._often(0.5):
            self._activation()
        self._convolution(kernel=1, channels=self._some_channels())

    def _unused(self) -> None:
        """A branch that nothing looks at."""
        start = self.top
        self._same_size()
        self.top = start

    def _tied(self) -> None:
        """The same square convolution twice."""
        channels = self._channels()
        first = self._convolution(kernel=3, channels=channels, groups=1)
        self._activation()
        self._convolution(kernel=3, channels=channels, groups=1, tied_to=first)
        self._activation()

    def _auxiliary(self) -> None:
        start = self.top
        self._add("global_mean_pool")
        self._add("classifier")
        self.top = start

    def _same_size(self) -> None:
        if self._often(0.5):
            self._norms()
        if self._often(0.7):
            self._activation()
        kernel = self.random.choice((1, 3, 3, 5))
        self._convolution(kernel=kernel, channels=self._some_channels())

    def _convolution(
        self,
        *,
        kernel: int = 0,
        channels: int = 0,
        groups: int = 0,
        bias: bool = True,
        tied_to: int = 0,
    ) -> int:
        """Any that leaves enough of the image, where its kernel is not given."""
        if kernel:
            window = {"kernel": kernel, "pad": kernel // 2}
        else:
            window = self._window(*self.random.choice(((1, 1), (1, 1), (1, 1), (2, 2), (2, 1), (1, 2))))
        channels = channels or self._some_channels()
        groups = groups or self._some_groups(channels)
        initial = self.random.choice(("he", "glorot"))
        return self._add(
            "convolution", channels=channels, groups=groups, bias=bias, initial=initial, tied_to=tied_to, **window
        )

    def _window(self, down: int, across: int) -> dict[str, Any]:
        """Of these strides, with a kernel and padding as they come; a usual 3×3 where that leaves too little."""
        kernel = self.random.randint(1, 4), self.random.randint(1, 4)
        pad = self._padding(kernel)
        _, _, height, width = self._shape()
        sides = (
            (height + pad[0] + pad[1] - kernel[0]) // down + 1,
            (width + pad[2] + pad[3] - kernel[1]) // across + 1,
        )
        if min(sides) < LEAST_SIDE or max(sides) > MOST_SIDE:
            return {"kernel": 3, "stride": 1, "pad": 1}
        return {"kernel": kernel, "stride": (down, across), "pad": pad}

    def _padding(self, kernel: tuple[int, int]) -> tuple[int, int, int, int]:
        """Smaller than the kernel on each side; all the same in half of all cases."""
        if self._often(0.5):
            return (min(kernel) // 2,) * 4
        top, bottom = (self.random.randrange(kernel[0]) for _ in range(2))
        left, right = (self.random.randrange(kernel[1]) for _ in range(2))
        return top, bottom, left, right

    def _some_groups(self, channels: int) -> int:
        shared = [n for n in range(2, 9) if channels % n == 0 and self._channels() % n == 0]
        return self.random.choice(shared) if shared and self._often(0.25) else 1

    def _some_channels(self) -> int:
        return self.random.choice((2, 3, 4, 6, 8, 8, 12))

    def _norms(self) -> None:
        batch, _, height, width = self._shape()
        if batch * height * width < LEAST_VALUES:
            return
        for _ in range(self.random.choices((1, 2, 3), (8, 2, 1))[0]):
            epsilon = self.random.choice((1e-5, 1e-3))
            self._add("batch_norm", epsilon=epsilon, momentum=self.random.choice((0.1, 0.3, 1.0)))

    def _norm_across_channels(self) -> None:
        self._add(
            "local_response_norm",
            size=self.random.choice((1, 3, 5)),
            alpha=self.random.choice((1e-4, 0.1)),
            beta=self.random.choice((0.75, 0.5)),
            k=self.random.choice((1.0, 2.0)),
        )

    def _activation(self) -> None:
        self._add(self.random.choices(("relu", "tanh", "sigmoid", "silu"), (6, 2, 1, 2))[0])

    def _linear(self, features: int, tied_to: int = 0) -> int:
        return self._add("linear", features=features, tied_to=tied_to)

    def _often(self, share: float) -> bool:
        return self.random.random() < share

    def _shape(self) -> Shape:
        return self.values[self.top].shape

    def _channels(self) -> int:
        return self._shape()[1]

    def _add(self, op: str, *inputs: int, tied_to: int = 0, **arguments: Any) -> int:
        """Its number; it is the new top."""
        layer = Layer(op=op, inputs=inputs or (self.top,), arguments=arguments, tied_to=tied_to)
        self.values.append(add_layer(self.net, layer, self.values))
        self.layers.append(layer)
        self.top = len(self.layers)
        return self.top
