"""Trainings that differ in the option for which a survey has a rule: their errors, and whether the rule held."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from statistics import fmean

from netdyno.report.figures import LEARN, run_values
from netdyno.report.names import unusual
from netdyno.report.networks import usual_options
from netdyno.report.published.nodes import RULES, Option, Rule
from netdyno.results.cell import Cell
from netdyno.results.result import Result
from netdyno.results.statistics import interval
from netdyno.results.words import number
from netdyno.zoo.catalog import find_entry

HELD, FAILED, OPEN = "it held", "it did not hold", "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """1 − accuracy, or the loss where nothing is classified: the mean over seeds with its 95 % interval, which one
    seed does not have."""

    value: float
    low: float | None
    high: float | None
    is_share: bool

    def words(self) -> str:
        between = "" if self.low is None else f" ({self._text(self.low)} to {self._text(self.high)})"
        return f"{self._text(self.value)}{' %' if self.is_share else ''}{between}"

    def _text(self, value: float | None) -> str:
        return "" if value is None else f"{100 * value:.2f}" if self.is_share else number(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """A network trained with one value of the option."""

    result: Result
    value: Option
    error: Error
    follows: bool  # the rule

    @property
    def label(self) -> str:
        return f"{self.value:,}" if isinstance(self.value, int) else str(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """One framework's trainings with different values, from the smallest to the largest, or as the suite has them."""

    rule: Rule
    inputs: int
    trained: tuple[Trained, ...]

    @property
    def cell(self) -> Cell:
        return self.trained[0].result.cell

    def verdict(self) -> str:
        """By the intervals over seeds of the best that follows the rule and the best that does not."""
        best, other = _best(self.trained, True), _best(self.trained, False)
        if best is None or other is None:
            return f"{OPEN} (nothing that {'breaks' if best else 'follows'} it was trained)"
        if best.error.high is None or other.error.high is None:
            return f"{OPEN} (one seed has no interval)"
        if best.error.high < (other.error.low or 0.0):
            return HELD
        return FAILED if other.error.high < (best.error.low or 0.0) else f"{OPEN} (their intervals overlap)"

    def sentence(self) -> str:
        """The rule, the errors that decide, and the verdict."""
        parts = [self._clause(follows) for follows in (True, False)]
        rule = f"The survey: {self.rule.words}{f', here {self.inputs:,}' if self.rule.is_of_numbers else ''}."
        found = f"{'; '.join(filter(None, parts))}: {self.verdict()}."
        return " ".join(filter(None, (rule, found[0].upper() + found[1:], self.rule.caveat)))

    def _clause(self, follows: bool) -> str:
        best = _best(self.trained, follows)
        if best is None:
            return ""
        kind = "error" if best.error.is_share else "loss"
        name = f"{best.label} hidden nodes" if self.rule.is_of_numbers else f"the {best.label} form"
        others = sum(each.follows == follows for each in self.trained) - 1
        which = f"the best of {others + 1} that {'follow' if follows else 'break'} it, " if others else ""
        return f"{which}{name}: {kind} {best.error.words()}"


def sweeps(results: Iterable[Result]) -> list[Sweep]:
    """Of every network with a rule, where two values or more were trained with otherwise equal settings."""
    groups: dict[tuple[object, ...], list[Trained]] = {}
    for result in results:
        rule = RULES.get(result.cell.network)
        found = _trained(result, rule) if rule and result.cell.workload == LEARN else None
        if rule and found:
            groups.setdefault(_setting(result, rule), []).append(found)
    return [_sweep(found) for _, found in sorted(groups.items(), key=lambda each: str(each[0])) if len(found) > 1]


def error_of(result: Result) -> Error | None:
    """The error of trainings; None where none was evaluated."""
    accuracies, losses = run_values(result, "accuracy"), run_values(result, "loss")
    values = [1 - accuracy for accuracy in accuracies] or losses
    if not values:
        return None
    low, high = interval(values) if len(values) > 1 else (None, None)
    if accuracies and low is not None and high is not None:
        low, high = max(0.0, low), min(1.0, high)
    return Error(value=fmean(values), low=low, high=high, is_share=bool(accuracies))


def step_mflop(result: Result) -> float | None:
    """Millions of operations in a training step, for one item; None where the records do not say it."""
    cost = result.records[-1].cost
    return cost["step_flops"] / cost["batch"] / 1e6 if cost.get("batch") and cost.get("step_flops") else None


def others(cell: Cell, option: str) -> tuple[str, ...]:
    """The options besides one, such as "width=0.5"."""
    return tuple(word for word in unusual(cell) if not word.startswith(f"{option}="))


def _setting(result: Result, rule: Rule) -> tuple[object, ...]:
    cell = result.cell
    named = ("network", "dataset", "source", "goal", "batch", "device", "threads", "precision", "framework")
    fields = (getattr(cell, name) for name in (*named, "execution"))
    return (*fields, result.machine, others(cell, rule.option))


def _trained(result: Result, rule: Rule) -> Trained | None:
    """None where nothing was evaluated, or an imported record says what this zoo does not know."""
    cell, error = result.cell, error_of(result)
    usual = usual_options(cell).get(rule.option)
    value = dict(cell.options).get(rule.option, usual)
    if error is None or value is None or type(value) is not type(usual):
        return None
    return Trained(result=result, value=value, error=error, follows=rule.follows(value, _inputs(cell)))


def _sweep(found: Sequence[Trained]) -> Sweep:
    cell = found[0].result.cell
    ordered = sorted(found, key=lambda each: each.value if isinstance(each.value, int) else 0)
    return Sweep(rule=RULES[cell.network], inputs=_inputs(cell), trained=tuple(ordered))


def _inputs(cell: Cell) -> int:
    return prod(find_entry(cell.network, cell.dataset).items.shape)


def _best(trained: Sequence[Trained], follows: bool) -> Trained | None:
    of_kind = [each for each in trained if each.follows == follows]
    return min(of_kind, key=lambda each: each.error.value, default=None)
