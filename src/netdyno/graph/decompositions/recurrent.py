"""Recurrent layers in primitives: the input's part of all steps in one product, then step after step.

The first hidden state is 0: there the hidden part is its bias alone.
"""

from collections.abc import Callable, Mapping

from netdyno.graph.parts import Parts, Rule

# (parts, step, what the input gives, what the state before gives or None in the first step) -> the new hidden state
Cell = Callable[["_Unrolled", int, str, str | None], str]


class _Unrolled:
    """A layer over the steps of `x`: (batch, steps, features) → (batch, steps, hidden)."""

    def __init__(self, parts: Parts, x: str, weights: tuple[str, str, str, str]) -> None:
        self._parts = parts
        self._to_input, self._to_hidden, self._input_bias, self.hidden_bias = weights
        self._steps, self._features = parts.shape(x)[1:]
        self.hidden = parts.shape(self._to_hidden)[1]
        self._given = self._of_input(x)
        self.memory = ""  # an LSTM's, of the step before

    def run(self, cell: Cell) -> None:
        states: list[str] = []
        for step in range(self._steps):
            before = self._of_state(step, states[-1]) if states else None
            states.append(cell(self, step, self._at(step), before))
        shape = (-1, 1, self.hidden)
        rows = [
            self.add(step, "row", "reshape", state, shape=shape, kind="sequence") for step, state in enumerate(states)
        ]
        self._parts.last("concat", *rows)

    def add(self, step: int, part: str, op: str, *inputs: str, **attributes: object) -> str:
        return self._parts.add(f"step{step}.{part}", op, *inputs, **attributes)

    def gate(self, step: int, part: str, x: str, place: int, activation: str = "") -> str:
        """The block of `x` at `place`, which has a layer's gates side by side, through an activation."""
        first, inner = place * self.hidden, f"{part}_in" if activation else part
        block = self.add(step, inner, "slice", x, axis=1, start=first, stop=first + self.hidden)
        return self.add(step, part, activation, block) if activation else block

    def both(self, step: int, given: str, before: str | None) -> str:
        """The sum of both parts."""
        return self.add(step, "sum", "add", given, before or self.hidden_bias)

    def _of_input(self, x: str) -> str:
        flat = self._parts.add("flat", "reshape", x, shape=(-1, self._features), kind="plain")
        product = self._parts.add("given", "linear", flat, self._to_input, self._input_bias)
        width = self._parts.shape(self._to_input)[0]
        return self._parts.add("steps", "reshape", product, shape=(-1, self._steps, width), kind="sequence")

    def _at(self, step: int) -> str:
        one = self.add(step, "slice", "slice", self._given, axis=1, start=step, stop=step + 1)
        return self.add(step, "given", "reshape", one, shape=(-1, self._parts.shape(one)[2]), kind="plain")

    def _of_state(self, step: int, state: str) -> str:
        return self.add(step, "state", "linear", state, self._to_hidden, self.hidden_bias)


def _rnn_cell(layer: _Unrolled, step: int, given: str, before: str | None) -> str:
    return layer.add(step, "hidden", "tanh", layer.both(step, given, before))


def _lstm_cell(layer: _Unrolled, step: int, given: str, before: str | None) -> str:
    """Gates in the order input, forget, candidate, output."""
    gates = layer.both(step, given, before)
    candidate = layer.gate(step, "candidate", gates, 2, "tanh")
    memory = layer.add(step, "new", "multiply", layer.gate(step, "input", gates, 0, "sigmoid"), candidate)
    if layer.memory:
        forget = layer.gate(step, "forget", gates, 1, "sigmoid")
        memory = layer.add(step, "memory", "add", layer.add(step, "old", "multiply", forget, layer.memory), memory)
    layer.memory = memory
    shown = layer.add(step, "shown", "tanh", memory)
    return layer.add(step, "hidden", "multiply", layer.gate(step, "output", gates, 3, "sigmoid"), shown)


def _gru_cell(layer: _Unrolled, step: int, given: str, before: str | None) -> str:
    """Gates in the order reset, update, candidate; the reset gate scales what the state gives to the candidate:
    h = (1 − z) · n + z · h, written n + z · (h − n)."""
    reset, update = (
        _gru_gate(layer, step, part, place, given, before) for place, part in enumerate(("reset", "update"))
    )
    own = _state_block(layer, step, before, 2)
    kept = layer.add(step, "kept", "multiply", reset, own)
    candidate = layer.add(
        step, "candidate", "tanh", layer.add(step, "sum", "add", layer.gate(step, "own", given, 2), kept)
    )
    if not layer.memory:
        blend = layer.add(step, "less", "multiply", update, candidate)
        hidden = layer.add(step, "hidden", "subtract", candidate, blend)
    else:
        away = layer.add(step, "away", "subtract", layer.memory, candidate)
        hidden = layer.add(step, "hidden", "add", candidate, layer.add(step, "moved", "multiply", update, away))
    layer.memory = hidden
    return hidden


def _gru_gate(layer: _Unrolled, step: int, part: str, place: int, given: str, before: str | None) -> str:
    mine = layer.gate(step, f"{part}_given", given, place)
    both = layer.add(step, f"{part}_sum", "add", mine, _state_block(layer, step, before, place))
    return layer.add(step, part, "sigmoid", both)


def _state_block(layer: _Unrolled, step: int, before: str | None, place: int) -> str:
    """What the state gives to one gate; in the first step a part of the bias, which is a vector."""
    if before:
        return layer.gate(step, f"state{place}", before, place)
    first = place * layer.hidden
    return layer.add(
        step, f"state{place}", "slice", layer.hidden_bias, axis=0, start=first, stop=first + layer.hidden
    )


def _recurrent(cell: Cell) -> Rule:
    def rule(parts: Parts, x: str, *weights: str) -> None:
        to_input, to_hidden, input_bias, hidden_bias = weights
        _Unrolled(parts, x, (to_input, to_hidden, input_bias, hidden_bias)).run(cell)

    return rule


RULES: Mapping[str, Rule] = {
    "rnn": _recurrent(_rnn_cell),
    "lstm": _recurrent(_lstm_cell),
    "gru": _recurrent(_gru_cell),
}
