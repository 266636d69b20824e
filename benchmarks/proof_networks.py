"""Which networks are mutated: small forms of the zoo's, and a few that have what those lack."""

from collections.abc import Callable
from dataclasses import dataclass

from netdyno.graph.check import check_programme
from netdyno.graph.model import Optimizer, Programme
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import find_entry, resolve
from netdyno.zoo.entry import reduced


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A programme to mutate. A large one gets, in one framework, some kinds of mutations in their usual strength."""

    name: str
    make: Callable[[], Programme]
    kinds: tuple[str, ...] = ()  # beginnings of their names; all if there are none

    @property
    def is_large(self) -> bool:
        return bool(self.kinds)


def zoo(name: str, batch: int, **options: int) -> Callable[[], Programme]:
    return lambda: resolve(reduced(find_entry(*name.split("/"))), batch, options)


def own(build: Callable[[Net], Value], batch: int = 4, size: int = 16) -> Callable[[], Programme]:
    def make() -> Programme:
        net = Net(batch=batch, classes=10, learning_rate=0.01, shape=(3, size, size))
        programme = net.programme(build(net))
        check_programme(programme)
        return programme

    return make


def residual(net: Net) -> Value:
    """Batch norms, additions, strides with padding on both sides."""
    x = net.relu(_normed(net, net.images(), 8))
    for channels, stride in ((8, 1), (16, 2)):
        y = net.relu(_normed(net, x, channels, stride=stride))
        y = _normed(net, y, channels)
        skip = x if stride == 1 else net.batch_norm(net.convolution(x, channels, 1, stride=stride, bias=False))
        x = net.relu(net.add(y, skip))
    return net.classifier(net.global_mean_pool(x))


def normalised(net: Net) -> Value:
    """AlexNet's start: response normalisation over few channels, groups, overlapping pools, dropout."""
    x = net.relu(net.convolution(net.images(), 24, 5, stride=2, pad=2))
    x = net.max_pool(net.local_response_norm(x, k=2.0), 3, 2)
    x = net.relu(net.convolution(x, 32, 3, pad=1, groups=2))
    x = net.max_pool(net.local_response_norm(x, k=2.0), 3, 2)
    x = net.dropout(net.relu(net.linear(net.flatten(x), 48)))
    return net.classifier(x)


def pools(net: Net) -> Value:
    """Branches, and pools whose last windows reach over the edge or into padding, before any relu."""
    x = net.tanh(net.convolution(net.images(), 8, 3, pad=1))
    x = net.max_pool(x, 3, 2, ceil=True)
    a = net.mean_pool(net.convolution(x, 8, 3, pad=1), 3, 1, pad=1)
    b = net.max_pool(net.convolution(x, 8, 1), 3, 1, pad=1)
    x = net.mean_pool(net.tanh(net.concat(a, b)), 3, 2, ceil=True)
    x = net.relu(net.convolution(x, 16, 3, pad=1))
    return net.classifier(net.global_mean_pool(x))


def separable(net: Net) -> Value:
    """Depthwise convolutions, silu, trained by Adam."""
    x = net.silu(_normed(net, net.images(), 8, stride=2))
    for channels in (8, 16):
        y = net.convolution(x, x.shape[1], 3, pad=1, groups=x.shape[1], bias=False)
        x = net.batch_norm(net.convolution(net.silu(net.batch_norm(y)), channels, 1, bias=False))
    return _by_adam(net, net.classifier(net.global_mean_pool(net.silu(x))))


def dense(net: Net) -> Value:
    """Square matrices and dropout, trained by Adam."""
    x = net.flatten(net.images())
    for _ in range(3):
        x = net.dropout(net.relu(net.linear(x, 48)))
    return _by_adam(net, net.classifier(x))


def _normed(net: Net, x: Value, channels: int, *, stride: int = 1) -> Value:
    return net.batch_norm(net.convolution(x, channels, 3, stride=stride, pad=1, bias=False))


def _by_adam(net: Net, logits: Value) -> Value:
    loss = net.softmax_cross_entropy(logits, net.labels, name="loss")
    net.update(loss, optimizer=Optimizer(kind="adam", learning_rate=1e-3))
    return logits


NETWORKS = (
    Network(name="lenet/mnist", make=zoo("lenet/mnist", 4)),
    Network(name="alexnet/cifar10", make=zoo("alexnet/cifar10", 2)),
    Network(name="fcn5-small/vectors512", make=zoo("fcn5-small/vectors512", 4, hidden=64)),
    Network(name="residual", make=own(residual)),
    Network(name="normalised", make=own(normalised, size=32)),
    Network(name="pools", make=own(pools)),
    Network(name="separable", make=own(separable)),
    Network(name="dense", make=own(dense, size=4)),
    Network(name="alexnet/imagenet", make=zoo("alexnet/imagenet", 2), kinds=("LRN", "momentum", "learning rate")),
    Network(
        name="vgg16/cifar10", make=zoo("vgg16/cifar10", 2), kinds=("flatten", "gradient of a", "float16", "weight")
    ),
    Network(name="googlenet/cifar10", make=zoo("googlenet/cifar10", 2), kinds=("concat", "max pool", "frozen bias")),
    Network(name="resnet50/cifar10", make=zoo("resnet50/cifar10", 2), kinds=("batch norm", "addition", "momentum")),
)
