"""One method for each operation that has no parameters of its own, on values of a network."""

from collections.abc import Sequence

from netdyno.graph.model import Shape
from netdyno.zoo.graph_builder import GraphBuilder, Value


class ValueOps(GraphBuilder):
    """Every op of the table is reached by `node` too, with its attributes spelled out."""

    def relu(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("relu", x, name=name)

    def tanh(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("tanh", x, name=name)

    def sigmoid(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("sigmoid", x, name=name)

    def silu(self, x: Value, *, name: str | None = None) -> Value:
        """x · sigmoid(x)."""
        return self.node("silu", x, name=name)

    def relu6(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("relu6", x, name=name)

    def hard_swish(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("hard_swish", x, name=name)

    def gelu(self, x: Value, *, form: str = "erf", name: str | None = None) -> Value:
        """`form`: "erf", or "tanh" as an approximation of it."""
        return self.node("gelu", x, name=name, form=form)

    def softplus(self, x: Value, *, name: str | None = None) -> Value:
        """log(1 + exp x)."""
        return self.node("softplus", x, name=name)

    def exp(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("exp", x, name=name)

    def softmax(self, x: Value, axis: int, *, name: str | None = None) -> Value:
        return self.node("softmax", x, name=name, axis=axis)

    def dropout(self, x: Value, rate: float = 0.5, *, name: str | None = None) -> Value:
        return self.node("dropout", x, name=name, rate=rate, seed=self._seed())

    def bernoulli(self, probability: Value, *, name: str | None = None) -> Value:
        return self.node("bernoulli", probability, name=name, seed=self._seed())

    def normal(self, shape: Shape, *, kind: str = "plain", name: str | None = None) -> Value:
        return self.node("normal", name=name, seed=self._seed(), shape=tuple(shape), kind=kind)

    def flatten(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("flatten", x, name=name)

    def add(self, a: Value, b: Value, *, name: str | None = None) -> Value:
        return self.node("add", a, b, name=name)

    def subtract(self, a: Value, b: Value, *, name: str | None = None) -> Value:
        return self.node("subtract", a, b, name=name)

    def multiply(self, a: Value, b: Value, *, name: str | None = None) -> Value:
        return self.node("multiply", a, b, name=name)

    def scale(self, x: Value, factor: float, *, name: str | None = None) -> Value:
        return self.node("scale", x, name=name, factor=float(factor))

    def power(self, x: Value, exponent: float, *, name: str | None = None) -> Value:
        """To a constant exponent; every value of `x` must be over 0."""
        return self.node("power", x, name=name, exponent=float(exponent))

    def concat(self, *values: Value, axis: int = 1, name: str | None = None) -> Value:
        """Side by side along the channels, or along another axis."""
        return self.node("concat", *values, name=name, **({} if axis == 1 else {"axis": axis}))

    def reshape(self, x: Value, shape: Shape, *, kind: str = "plain", name: str | None = None) -> Value:
        """The batch is best left as -1."""
        return self.node("reshape", x, name=name, shape=tuple(shape), kind=kind)

    def transpose(self, x: Value, axes: Sequence[int], *, kind: str = "plain", name: str | None = None) -> Value:
        return self.node("transpose", x, name=name, axes=tuple(axes), kind=kind)

    def slice(self, x: Value, axis: int, start: int, stop: int, *, name: str | None = None) -> Value:
        """From `start` to before `stop` along an axis."""
        return self.node("slice", x, name=name, axis=axis, start=start, stop=stop)

    def matmul(self, a: Value, b: Value, *, name: str | None = None) -> Value:
        """Of the last two axes."""
        return self.node("matmul", a, b, name=name)

    def reduce_mean(self, x: Value, axes: Sequence[int], *, keep: bool = False, name: str | None = None) -> Value:
        return self.node("reduce_mean", x, name=name, axes=tuple(axes), keep=keep)

    def reduce_sum(self, x: Value, axes: Sequence[int], *, keep: bool = False, name: str | None = None) -> Value:
        return self.node("reduce_sum", x, name=name, axes=tuple(axes), keep=keep)

    def gather(self, table: Value, indices: Value, *, name: str | None = None) -> Value:
        """Rows of a table by integers."""
        return self.node("gather", table, indices, name=name)

    def one_hot(self, indices: Value, classes: int, *, name: str | None = None) -> Value:
        """1 at each integer, 0 elsewhere, over a new last axis."""
        return self.node("one_hot", indices, name=name, classes=classes)

    def attention(
        self, query: Value, key: Value, value: Value, *, causal: bool = False, name: str | None = None
    ) -> Value:
        """softmax(Q Kᵀ / √features) V of values (batch, heads, places, features)."""
        return self.node("attention", query, key, value, name=name, causal=causal)

    def stop_gradient(self, x: Value, *, name: str | None = None) -> Value:
        return self.node("stop_gradient", x, name=name)

    def softmax_cross_entropy(self, logits: Value, labels: Value, *, name: str | None = None) -> Value:
        return self.node("softmax_cross_entropy", logits, labels, name=name)

    def mean_squared_error(self, x: Value, target: Value, *, name: str | None = None) -> Value:
        return self.node("mean_squared_error", x, target, name=name)

    def binary_cross_entropy(self, logits: Value, target: Value, *, name: str | None = None) -> Value:
        return self.node("binary_cross_entropy", logits, target, name=name)

    def gaussian_kl(self, mean: Value, log_variance: Value, *, name: str | None = None) -> Value:
        return self.node("gaussian_kl", mean, log_variance, name=name)
