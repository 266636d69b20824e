"""GoogLeNet (Szegedy et al. 2014, table 1), without auxiliary heads: as published, with batch norm, for 32×32."""

from dataclasses import dataclass

from netdyno.zoo.builder import Net, Value
from netdyno.zoo.initial_limits import glorot, he

# Columns of the paper's table: 1×1, 3×3 reduce, 3×3, 5×5 reduce, 5×5, pool projection.
INCEPTIONS: dict[str, tuple[int, int, int, int, int, int]] = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def googlenet(net: Net, images: Value) -> Value:
    """As published: response normalisation, pools that count the window over the edge, dropout of 40 %."""
    layers = Layers(net, bias=True, wide=(5,))
    x = layers.convolution(images, 64, 7, stride=2, name="conv1")
    x = net.local_response_norm(net.max_pool(x, 3, 2, ceil=True))
    x = layers.convolution(x, 64, 1, name="conv2.reduce")
    x = layers.convolution(x, 192, 3, name="conv2")
    x = net.max_pool(net.local_response_norm(x), 3, 2, ceil=True)
    x = layers.inceptions(x, "3a", "3b")
    x = net.max_pool(x, 3, 2, ceil=True)
    x = layers.inceptions(x, "4a", "4b", "4c", "4d", "4e")
    x = net.max_pool(x, 3, 2, ceil=True)
    x = layers.inceptions(x, "5a", "5b")
    x = net.dropout(net.global_mean_pool(x), 0.4)
    return net.classifier(x, name="fc")


def googlenet_bn(net: Net, images: Value) -> Value:
    """Batch norm in place of biases and response normalisation, 3×3 in place of 5×5, dropout of 20 %."""
    layers = Layers(net, bias=False, wide=(3,), epsilon=1e-3)
    x = layers.convolution(images, 64, 7, stride=2, name="conv1")
    x = net.max_pool(x, 3, 2, ceil=True)
    x = layers.convolution(x, 64, 1, name="conv2.reduce")
    x = layers.convolution(x, 192, 3, name="conv2")
    x = net.max_pool(x, 3, 2, ceil=True)
    x = layers.inceptions(x, "3a", "3b")
    x = net.max_pool(x, 3, 2, ceil=True)
    x = layers.inceptions(x, "4a", "4b", "4c", "4d", "4e")
    x = net.max_pool(x, 2, 2, ceil=True)
    x = layers.inceptions(x, "5a", "5b")
    x = net.dropout(net.global_mean_pool(x), 0.2)
    return net.classifier(x, name="fc")


def googlenet_cifar10(net: Net, images: Value) -> Value:
    """A single 3×3 convolution as stem, batch norm beside the biases, two 3×3 in place of each 5×5."""
    layers = Layers(net, bias=True, wide=(3, 3), epsilon=1e-5)
    x = layers.convolution(images, 192, 3, name="conv1")
    x = layers.inceptions(x, "3a", "3b")
    x = net.max_pool(x, 3, 2, pad=1)
    x = layers.inceptions(x, "4a", "4b", "4c", "4d", "4e")
    x = net.max_pool(x, 3, 2, pad=1)
    x = layers.inceptions(x, "5a", "5b")
    return net.classifier(net.global_mean_pool(x), name="fc")


@dataclass(frozen=True, slots=True)
class Layers:
    """What the three forms differ in: biases, batch norm (where `epsilon` is given), kernels of the wide branch."""

    net: Net
    bias: bool
    wide: tuple[int, ...]
    epsilon: float | None = None

    def inceptions(self, x: Value, *names: str) -> Value:
        for name in names:
            with self.net.scope(f"inception{name}"):
                x = self._inception(x, INCEPTIONS[name])
        return x

    def convolution(self, x: Value, channels: int, kernel: int, *, name: str, stride: int = 1) -> Value:
        """Convolution, batch norm if any, relu."""
        x = self.net.convolution(
            x,
            channels,
            kernel,
            stride=stride,
            pad=kernel // 2,
            bias=self.bias,
            initial=glorot if self.epsilon is None else he,
            name=name,
        )
        if self.epsilon is not None:
            x = self.net.batch_norm(x, epsilon=self.epsilon, name=f"{name}.bn")
        return self.net.relu(x, name=f"{name}.relu")

    def _inception(self, x: Value, columns: tuple[int, int, int, int, int, int]) -> Value:
        narrow, reduce3, out3, reduce5, out5, projection = columns
        one = self.convolution(x, narrow, 1, name="1x1")
        three = self.convolution(x, reduce3, 1, name="3x3.reduce")
        three = self.convolution(three, out3, 3, name="3x3")
        five = self.convolution(x, reduce5, 1, name="5x5.reduce")
        for number, kernel in enumerate(self.wide):
            five = self.convolution(five, out5, kernel, name=f"5x5.{number + 1}" if number else "5x5")
        pooled = self.net.max_pool(x, 3, 1, pad=1, name="pool")
        pooled = self.convolution(pooled, projection, 1, name="pool.projection")
        return self.net.concat(one, three, five, pooled, name="output")
