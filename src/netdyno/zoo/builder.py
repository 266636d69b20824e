"""How a recipe writes down a network: one method per layer, with the parameters that the layer needs."""

from math import prod

from netdyno.errors import NetdynoError
from netdyno.graph.model import Draw, Shape, constant, uniform_within
from netdyno.zoo.graph_builder import Value, checked_shape
from netdyno.zoo.initial_limits import Limit, glorot, logits
from netdyno.zoo.padding import Pad, Size, ceil_padding, four_sides, pair
from netdyno.zoo.value_ops import ValueOps

__all__ = ["Net", "Value"]


class Net(ValueOps):
    """What a recipe is given. A layer's name is its own or a short one with the next free number."""

    def images(self, shape: Shape | None = None, *, name: str = "images") -> Value:
        """An input of images of (channels, height, width); of the dataset's if not said."""
        return self._items(name, "image", shape, 3)

    def vectors(self, features: int | None = None, *, name: str = "vectors") -> Value:
        """An input of one vector per item, as long as the dataset's if not said."""
        return self._items(name, "plain", None if features is None else (features,), 1)

    def tokens(self, count: int, words: int | None = None, *, name: str = "tokens") -> Value:
        """An input of so many integers per item, each below `words`: the dataset's number of classes if not said."""
        draw = Draw(kind="integers", high=float(self.classes if words is None else words))
        return self.input(name, (self.batch, count), draw, kind="sequence")

    def text(self, steps: int, words: int) -> tuple[Value, Value]:
        """A text of `steps` + 1 tokens per item: the tokens before each, and the ones to be said, in one vector."""
        tokens = self.tokens(steps + 1, words)
        said = self.reshape(self.slice(tokens, 1, 1, steps + 1, name="next"), (-1,), name="said")
        return self.slice(tokens, 1, 0, steps, name="read"), said

    def convolution(
        self,
        x: Value,
        channels: int,
        kernel: Size,
        *,
        stride: Size = 1,
        pad: Pad = 0,
        groups: int = 1,
        bias: bool = True,
        initial: Limit = glorot,
        name: str | None = None,
    ) -> Value:
        name = name or self._next("conv")
        in_group = self._features(name, x) // max(groups, 1)  # groups below 1 are refused with the node
        weight = self._weight(name, (channels, in_group, *pair(kernel)), initial)
        attributes = {"strides": pair(stride), "padding": four_sides(pad), "groups": groups}
        return self.node("convolution", x, weight, *self._bias(name, channels, bias), name=name, **attributes)

    def transposed_convolution(
        self,
        x: Value,
        channels: int,
        kernel: Size,
        *,
        stride: Size = 1,
        pad: Pad = 0,
        groups: int = 1,
        bias: bool = True,
        initial: Limit = glorot,
        name: str | None = None,
    ) -> Value:
        """To a map that grows by the stride and loses `pad`; the weight is (in, out / groups, height, width)."""
        name = name or self._next("deconv")
        parts = max(groups, 1)  # groups below 1 are refused with the node
        shape = (self._features(name, x), channels // parts, *pair(kernel))
        weight = self._weight(name, shape, lambda fan_out, fan_in: initial(fan_in // parts, fan_out * parts))
        attributes = {"strides": pair(stride), "padding": four_sides(pad), "groups": groups}
        learnt = (weight, *self._bias(name, channels, bias))
        return self.node("transposed_convolution", x, *learnt, name=name, **attributes)

    def linear(
        self,
        x: Value,
        features: int,
        *,
        bias: bool | Value = True,
        initial: Limit = glorot,
        weight: Value | None = None,
        name: str | None = None,
    ) -> Value:
        """`weight`, and a `bias` that is a value, are used again in place of new ones: their gradients add up."""
        name = name or self._next("linear")
        shape = (features, self._features(name, x))
        if weight is None:
            weight = self._weight(name, shape, initial)
        elif weight.shape != shape:
            raise NetdynoError(f"node '{name}': expected a weight of {list(shape)}, received {list(weight.shape)}.")
        return self.node("linear", x, weight, *self._bias(name, features, bias), name=name)

    def classifier(self, x: Value, *, name: str | None = None) -> Value:
        """The last linear layer: one logit per class, small at first."""
        return self.linear(x, self.classes, initial=logits, name=name)

    def max_pool(
        self,
        x: Value,
        kernel: Size,
        stride: Size,
        *,
        pad: Pad = 0,
        ceil: bool = False,
        name: str | None = None,
    ) -> Value:
        """With `ceil`, a window that reaches over the bottom or right edge counts, as extra padding."""
        return self._pool("max_pool", x, (kernel, stride, pad), ceil, name)

    def mean_pool(
        self,
        x: Value,
        kernel: Size,
        stride: Size,
        *,
        pad: Pad = 0,
        ceil: bool = False,
        name: str | None = None,
    ) -> Value:
        """As `max_pool`; padding is not counted in the mean."""
        return self._pool("mean_pool", x, (kernel, stride, pad), ceil, name)

    def global_mean_pool(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("global_mean_pool", x, name=name)

    def batch_norm(
        self,
        x: Value,
        *,
        epsilon: float = 1e-5,
        momentum: float = 0.1,
        scale: float = 1.0,
        name: str | None = None,
    ) -> Value:
        """`momentum` is the share of the new batch in the running statistics, `scale` where its scale starts."""
        name = name or self._next("bn")
        width = (self._features(name, x),)
        vectors = (
            self.parameter(f"{name}.scale", width, constant(scale)),
            self.parameter(f"{name}.shift", width, constant(0.0)),
            self.parameter(f"{name}.running_mean", width, constant(0.0), trainable=False),
            self.parameter(f"{name}.running_variance", width, constant(1.0), trainable=False),
        )
        return self.node("batch_norm", x, *vectors, name=name, epsilon=epsilon, momentum=momentum)

    def local_response_norm(
        self,
        x: Value,
        *,
        size: int = 5,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
        name: str | None = None,
    ) -> Value:
        return self.node("local_response_norm", x, name=name, size=size, alpha=alpha, beta=beta, k=float(k))

    def layer_norm(self, x: Value, *, epsilon: float = 1e-5, name: str | None = None) -> Value:
        """Over the last axis."""
        name = name or self._next("norm")
        return self.node("layer_norm", x, *self._scale_and_shift(name, x, -1), name=name, epsilon=epsilon)

    def group_norm(self, x: Value, groups: int, *, epsilon: float = 1e-5, name: str | None = None) -> Value:
        """Over the channels of a group and every place of an image."""
        name = name or self._next("norm")
        vectors = self._scale_and_shift(name, x, 1)
        return self.node("group_norm", x, *vectors, name=name, groups=groups, epsilon=epsilon)

    def embedding(
        self, indices: Value, rows: int, features: int, *, initial: Limit = glorot, name: str | None = None
    ) -> Value:
        """A learnt row for each of `rows` integers."""
        table = self._weight(name or self._next("embedding"), (rows, features), initial)
        return self.gather(table, indices, name=name)

    def rnn(self, x: Value, hidden: int, *, name: str | None = None) -> Value:
        """Every hidden state of a layer with tanh, over a sequence (batch, steps, features)."""
        return self._recurrent("rnn", 1, x, hidden, name)

    def lstm(self, x: Value, hidden: int, *, name: str | None = None) -> Value:
        """Every hidden state; gates in the order input, forget, candidate, output."""
        return self._recurrent("lstm", 4, x, hidden, name)

    def gru(self, x: Value, hidden: int, *, name: str | None = None) -> Value:
        """Every hidden state; gates in the order reset, update, candidate."""
        return self._recurrent("gru", 3, x, hidden, name)

    def _recurrent(self, op: str, gates: int, x: Value, hidden: int, name: str | None) -> Value:
        """Both biases are there, as in most libraries."""
        name = name or self._next(op)
        self._expect_own(name, x)
        draw = uniform_within(hidden**-0.5)
        shapes = {
            "input_weight": (gates * hidden, x.shape[-1]),
            "hidden_weight": (gates * hidden, hidden),
            "input_bias": (gates * hidden,),
            "hidden_bias": (gates * hidden,),
        }
        learnt = [self.parameter(f"{name}.{part}", shape, draw) for part, shape in shapes.items()]
        return self.node(op, x, *learnt, name=name)

    def _scale_and_shift(self, name: str, x: Value, axis: int) -> list[Value]:
        self._expect_own(name, x)
        width = (x.shape[axis],) if x.shape else ()
        return [
            self.parameter(f"{name}.scale", width, constant(1.0)),
            self.parameter(f"{name}.shift", width, constant(0.0)),
        ]

    def _items(self, name: str, kind: str, shape: Shape | None, rank: int) -> Value:
        if shape is None and len(self.shape) != rank:
            received = list(self.shape) or "no items"
            raise NetdynoError(f"'{name}': expected a dataset of {name}, received one with {received}.")
        whole = (self.batch, *(self.shape if shape is None else shape))
        draw = Draw(kind="uniform", low=self.span[0], high=self.span[1]) if self.span else Draw(kind="normal")
        return self.input(name, whole, draw, kind=kind)

    def _weight(self, name: str, shape: Shape, initial: Limit) -> Value:
        shape = checked_shape(f"{name}.weight", shape)
        field = prod(shape[2:])
        limit = initial(shape[1] * field, shape[0] * field)
        kind = "kernel" if len(shape) == 4 else "plain"
        return self.parameter(f"{name}.weight", shape, uniform_within(limit), kind=kind)

    def _bias(self, name: str, features: int, bias: bool | Value) -> list[Value]:
        if isinstance(bias, Value):
            return [bias]
        return [self.parameter(f"{name}.bias", (features,), constant(0.0))] if bias else []

    def _pool(self, op: str, x: Value, window: tuple[Size, Size, Pad], ceil: bool, name: str | None) -> Value:
        kernel, stride, pad = window
        sides = four_sides(pad)
        if ceil and len(x.shape) == 4 and min(pair(stride)) > 0:  # the rest is refused with the node
            sides = ceil_padding((x.shape[2], x.shape[3]), kernel, stride, pad)
        return self.node(op, x, name=name, kernel=pair(kernel), strides=pair(stride), padding=sides)

    def _features(self, name: str, x: Value) -> int:
        """The length of axis 1: channels of images, features of vectors."""
        self._expect_own(name, x)
        if len(x.shape) < 2:
            raise NetdynoError(f"node '{name}': expected a value of rank 2 or 4, received {list(x.shape)}.")
        return x.shape[1]
