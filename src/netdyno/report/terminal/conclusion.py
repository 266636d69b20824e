"""What the results of a suite come to, in one sentence that a person can use."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from netdyno.report.figures import run_values
from netdyno.report.names import is_instrument, short_name
from netdyno.report.vocabulary import Wording, wording_of
from netdyno.results.cell import FIELDS, Cell
from netdyno.results.compare.family import CANNOT_TELL, EQUAL, Comparison
from netdyno.results.compare.pairs import compare_all
from netdyno.results.compare.question import question_of
from netdyno.results.result import Result

# The first of these in which results differ is described. The effect of batch and threads is a curve.
COMPARED = ("execution", "framework", "precision", "data", "device")
NAMED = ("network", "dataset")
MOST_CLAUSES = 3
TOO_WIDE = 100.0  # an interval whose ends differ by more says nothing
NOISY = 0.02  # relative spread between runs from which the sentence mentions it


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The best result of a group and the next; `comparison` is the ratio by which the first is better."""

    field: str  # in which the two differ
    best: Result
    other: Result
    wording: Wording
    comparison: Comparison

    @property
    def names(self) -> tuple[str, str]:
        return str(getattr(self.best.cell, self.field)), str(getattr(self.other.cell, self.field))

    @property
    def is_decided(self) -> bool:
        return self.comparison.low is not None and self.comparison.verdict not in (CANNOT_TELL, EQUAL)


def conclusion(results: Sequence[Result]) -> str:
    """How the fastest compares with the next, or that one cannot tell; a single result by itself.

    Empty where nothing was measured or no two results are comparable.
    """
    measured = [result for result in results if result.head]
    pairs = _pairs([result for result in measured if not is_instrument(result.cell.framework)])
    if not pairs:
        return _single(measured[0]) if len(measured) == 1 else ""
    ordered = sorted(pairs, key=lambda pair: (not pair.is_decided, -(pair.comparison.ratio or 0.0)))
    varying = _varying([pair.best.cell for pair in pairs], ordered[0].field)
    clauses = [_clause(pair, ordered[0], varying) for pair in ordered[:MOST_CLAUSES]]
    if len(ordered) > MOST_CLAUSES:
        clauses.append(f"{len(ordered) - MOST_CLAUSES} more in the table")
    return "; ".join([*clauses, *_noise([result for pair in ordered for result in (pair.best, pair.other)])]) + "."


def _pairs(results: Sequence[Result]) -> list[Pair]:
    """The best and the next of every group; all comparisons with the best are judged together."""
    groups = [(field, _ordered(group)) for field, group in _groups(results)]
    sides = [(other, group[0]) for _, group in groups for other in group[1:]]
    if not sides:
        return []
    words = wording_of(sides[0][1])
    turned = sides if words.more_is_better else [(best, other) for other, best in sides]
    compared = iter(compare_all(turned, question_of([best for _, best in sides], words.name)))
    pairs = []
    for field, group in groups:
        first, *_ = [next(compared) for _ in group[1:]]
        pairs.append(Pair(field=field, best=group[0], other=group[1], wording=words, comparison=first.comparison))
    return pairs


def _groups(results: Iterable[Result]) -> list[tuple[str, list[Result]]]:
    """Results of the first workload that differ in one field only, of the first field in which any do."""
    found = list(results)
    same = [result for result in found if result.cell.workload == found[0].cell.workload]
    for field in COMPARED:
        groups: dict[tuple[object, ...], list[Result]] = {}
        for result in same:
            cell = tuple(getattr(result.cell, name) for name in FIELDS if name != field)
            groups.setdefault((result.machine, *cell), []).append(result)
        several = [(field, group) for group in groups.values() if len(group) > 1]
        if several:
            return several
    return []


def _ordered(group: Sequence[Result]) -> list[Result]:
    """The best first."""
    is_more = wording_of(group[0]).more_is_better
    return sorted(group, key=lambda result: head.value if (head := result.head) else 0.0, reverse=is_more)


def _varying(cells: Sequence[Cell], field: str) -> list[str]:
    """The fields besides the network that tell the pairs apart."""
    others = [name for name in FIELDS if name not in (field, *NAMED)]
    return [name for name in others if len({getattr(cell, name) for cell in cells}) > 1]


def _clause(pair: Pair, first: Pair, varying: Sequence[str]) -> str:
    """Whole for the first pair and for other names; else only what differs from the first."""
    where, found = _where(pair.best.cell, varying), pair.comparison
    best, other = pair.names
    is_repeated = pair is not first and pair.names == first.names
    if pair.is_decided and found.ratio is not None:
        between = f"({_ratio(found.low)} to {_ratio(found.high)})"
        if is_repeated and first.is_decided:
            return f"{_ratio(found.ratio)} × on {where} {between}"
        text = f"{best} is {_ratio(found.ratio)} × {_comparative(pair.wording)} than {other} on {where} {between}"
    elif found.verdict == EQUAL:
        text = f"{best} and {other} are equal within 1 % on {where}"
    elif is_repeated:
        text = f"cannot tell on {where}{_doubt(found)}"
    else:
        text = f"cannot tell {best} from {other} on {where}{_doubt(found)}"
    is_name = pair.field == "framework" and text.startswith(best)  # written as it is, even at the beginning
    return text[0].upper() + text[1:] if pair is first and not is_name else text


def _where(cell: Cell, varying: Sequence[str]) -> str:
    more = [f"b{cell.batch}" if name == "batch" else str(getattr(cell, name)) for name in varying]
    return " ".join([f"{short_name(cell.network)}/{cell.dataset}", *more])


def _comparative(words: Wording) -> str:
    is_speed = words.stored_unit.endswith("/s") or words.stored_unit == "s"
    return "faster" if is_speed else f"better in {words.title.lower()}"


def _doubt(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return f" ({found.reason})" if found.reason else ""
    if found.high / found.low > TOO_WIDE:
        return ""
    return f" ({_ratio(found.low)} to {_ratio(found.high)})"


def _single(result: Result) -> str:
    head, words, cell = result.head, wording_of(result), result.cell
    value = words.text(head.value if head else None)
    where = f"{short_name(cell.network)}/{cell.dataset} in {cell.framework} at batch {cell.batch}"
    return "; ".join([f"{words.title} of {where}: {value} {words.unit}", *_noise([result])]) + "."


def _noise(results: Iterable[Result]) -> list[str]:
    """The largest spread between the runs of a result, where it is large or unknown."""
    spreads = [_spread(run_values(result, result.headline)) for result in results]
    known = [spread for spread in spreads if spread is not None]
    if not known:
        return ["one run cannot show the noise"]
    return (
        [f"on this machine the noise is {100 * max(known):.0f} %, see netdyno doctor"] if max(known) >= NOISY else []
    )


def _spread(values: Sequence[float]) -> float | None:
    return (max(values) - min(values)) * len(values) / sum(values) if len(values) > 1 else None


def _ratio(value: float | None) -> str:
    return "?" if value is None else f"{value:.3g}" if value < 100 else f"{value:,.0f}"
