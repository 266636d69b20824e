"""Trees of nested arithmetic, drawn by seed: each node joins two results, and the value of the whole is the label.

Numbers stay digits: a sum is at most 9, a difference at least 0. A tree is written as the network `recursive` reads
it: what comes of two places takes the left one.
"""

import numpy as np
from numpy.typing import NDArray

from netdyno.data.rows.split import Numbers, Rows

COUNTS = {"train": 20_000, "test": 4_000}
DIGITS = 10
JOINS = (
    lambda a, b: min(a + b, 9),
    lambda a, b: max(a - b, 0),
    max,
    min,
)
BAG_STEPS, BAG_RATE = 300, 1.0  # of a regression on how often each digit is there


def tree_rows(leaves: int, seed: int = 0) -> Rows:
    """Both splits of trees with so many leaves."""
    train, test = (_drawn(count, leaves, [seed, part]) for part, count in enumerate(COUNTS.values()))
    return Rows(train=train, test=test, simple={"bag of leaves": _bag(train, test)})


def _drawn(count: int, leaves: int, seed: list[int]) -> dict[str, Numbers]:
    state = np.random.RandomState(seed)
    digits = state.randint(0, DIGITS, size=(count, leaves))
    operations = state.randint(0, len(JOINS), size=(count, leaves - 1))
    choices = state.random_sample((count, leaves - 1))
    found = [
        _joined(row.tolist(), how.tolist(), chosen.tolist())
        for row, how, chosen in zip(digits, operations, choices, strict=True)
    ]
    left, right, labels = zip(*found, strict=True)
    whole = {"digits": digits, "operations": operations, "left": left, "right": right, "labels": labels}
    return {name: np.array(array, np.int32) for name, array in whole.items()}


def _joined(values: list[int], operations: list[int], choices: list[float]) -> tuple[list[int], list[int], int]:
    """(left places, right places, value): in each step two neighbours are joined."""
    places, lefts, rights = list(range(len(values))), [], []
    for operation, choice in zip(operations, choices, strict=True):
        pick = int(choice * (len(places) - 1))
        left, right = places[pick], places.pop(pick + 1)
        values[left] = JOINS[operation](values[left], values[right])
        lefts.append(left)
        rights.append(right)
    return lefts, rights, values[places[0]]


def _bag(train: dict[str, Numbers], test: dict[str, Numbers]) -> float:
    """The accuracy of a softmax regression that sees which digits and operations a tree has, and not where."""
    weights = np.zeros((DIGITS + len(JOINS) + 1, DIGITS))
    inputs, labels = _counted(train), train["labels"]
    wanted = np.eye(DIGITS)[labels]
    for _ in range(BAG_STEPS):
        scores = inputs @ weights
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        weights -= BAG_RATE * inputs.T @ (shares - wanted) / len(inputs)
    return float(((_counted(test) @ weights).argmax(axis=1) == test["labels"]).mean())


def _counted(rows: dict[str, Numbers]) -> NDArray[np.float64]:
    """How often each digit and operation is in a tree, as a share, and a constant."""
    digits = (rows["digits"][:, :, None] == np.arange(DIGITS)).mean(axis=1)
    operations = (rows["operations"][:, :, None] == np.arange(len(JOINS))).mean(axis=1)
    return np.concatenate([digits, operations, np.ones((len(digits), 1))], axis=1)
