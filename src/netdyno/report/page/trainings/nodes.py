"""Error against cost: a network with more and fewer nodes, with the survey's rule; and networks on one task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from netdyno.report.charts.palette import look
from netdyno.report.charts.tradeoff import Border, Trade, tradeoff_chart
from netdyno.report.figures import LEARN
from netdyno.report.names import short_name, unusual
from netdyno.report.page.sections import Picture
from netdyno.report.sweeps import Error, Sweep, error_of, others, step_mflop, sweeps
from netdyno.results.cell import Cell
from netdyno.results.result import Result

TITLE = "Error against cost"
OPTIONS = {"hidden": "hidden nodes", "form": "form of the layers"}
WIDE = 1.1  # where costs in FLOP differ by less they are equal, and seconds are shown
MOST_NETWORKS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """A chart, and what it says of the survey's rule in each framework."""

    picture: Picture
    sentences: tuple[str, ...] = ()


def tradeoffs(results: Iterable[Result]) -> list[Tradeoff]:
    """Of networks for which the survey has a rule, then of different networks with the same task and budget."""
    found = [result for result in results if result.cell.workload == LEARN]
    groups: dict[tuple[object, ...], list[Sweep]] = {}
    for sweep in sweeps(found):
        groups.setdefault(_same(sweep), []).append(sweep)
    tasks: dict[tuple[object, ...], list[Result]] = {}
    for result in found:
        if (error := error_of(result)) and error.is_share:
            tasks.setdefault(_task(result), []).append(result)
    networks = [_of_networks(group) for group in tasks.values() if len({each.cell.network for each in group}) > 1]
    return [*map(_of_nodes, groups.values()), *networks]


def _of_nodes(group: Sequence[Sweep]) -> Tradeoff:
    first = group[0]
    is_flops = all(step_mflop(each.result) for sweep in group for each in sweep.trained) and _are_apart(first)
    lines = _named([_trades(sweep, is_flops) for sweep in group])
    cost = "million FLOP per image" if is_flops else "seconds of training"
    border = _border(first, lines[0]) if is_flops and first.rule.is_of_numbers else None
    lines = lines if first.rule.is_of_numbers else [[one] for line in lines for one in line]
    axes = (cost, _error_title(first.trained[0].error))
    title = f"{TITLE}, {_name(first)}"
    chart = tradeoff_chart(lines, title=title, axes=axes, border=border)
    several = len(group) > 1
    caption = _caption([each.result for sweep in group for each in sweep.trained], is_flops)
    return Tradeoff(
        picture=Picture(title=f"{_name(first)}: {OPTIONS[first.rule.option]}", chart=chart, caption=caption),
        sentences=tuple((f"{look(s.cell.framework).name}. " if several else "") + s.sentence() for s in group),
    )


def _of_networks(group: Sequence[Result]) -> Tradeoff:
    """The best training of each network in each framework; other options are in the table."""
    best: dict[tuple[str, str], tuple[Result, Error]] = {}
    for result in group:
        error, key = error_of(result), (result.cell.network, result.cell.framework)
        if error and (key not in best or error.value < best[key][1].value):
            best[key] = (result, error)
    chosen = sorted(best.values(), key=lambda each: each[1].value)[:MOST_NETWORKS]
    several = len({result.cell.framework for result, _ in chosen}) > 1
    points = [[_trade(result, error, _label(result.cell, several), False)] for result, error in chosen]
    cell = group[0].cell
    title = f"{TITLE}, networks on {cell.source}"
    chart = tradeoff_chart(points, title=title, axes=("seconds of training", "error, %"))
    caption = f"The best options of each network. {_caption([result for result, _ in chosen], False)}"
    return Tradeoff(picture=Picture(title=f"Networks on {cell.source}", chart=chart, caption=caption))


def _trades(sweep: Sweep, is_flops: bool) -> list[Trade]:
    return [
        _trade(each.result, each.error, each.label + _star(each.follows, sweep), is_flops) for each in sweep.trained
    ]


def _named(lines: Sequence[list[Trade]]) -> list[list[Trade]]:
    """Of several lines each names its framework at the end, and before it what no earlier one has named."""
    if len(lines) < 2:
        return list(lines)
    found, known = [], set[str]()
    for line in lines:
        end = replace(line[-1], name=f"{line[-1].label}, {look(line[-1].framework).name}")
        found.append([*(replace(one, name="" if one.label in known else one.label) for one in line[:-1]), end])
        known |= {one.label for one in line}
    return found


def _trade(result: Result, error: Error, label: str, is_flops: bool) -> Trade:
    scale = 100.0 if error.is_share else 1.0
    low, high = (None if end is None else max(0.0, scale * end) for end in (error.low, error.high))
    cost = (step_mflop(result) or 0.0) if is_flops else _seconds(result)
    return Trade(
        label=label,
        name=label,
        framework=result.cell.framework,
        cost=cost,
        error=scale * error.value,
        low=low,
        high=high,
    )


def _star(follows: bool, sweep: Sweep) -> str:
    """Where no line can mark what the rule advises, a word does."""
    return ", as advised" if follows and not sweep.rule.is_of_numbers else ""


def _border(sweep: Sweep, line: Sequence[Trade]) -> Border:
    """At the cost of as many hidden nodes as inputs, which grows evenly with them."""
    sizes = [float(each.value) for each in sweep.trained]
    slope = (line[-1].cost - line[0].cost) / (sizes[-1] - sizes[0])
    cost = line[0].cost + slope * (sweep.inputs - sizes[0])
    is_least = sweep.rule.follows(sizes[-1], sweep.inputs)
    limit = f"the survey: {'from' if is_least else 'below'} {sweep.inputs:,}"
    return Border(cost=max(cost, line[0].cost / 2), text=limit, is_least=is_least)


def _are_apart(sweep: Sweep) -> bool:
    costs = [step_mflop(each.result) or 0.0 for each in sweep.trained]
    return max(costs) > WIDE * min(costs)


def _seconds(result: Result) -> float:
    """With those of the stages before."""
    return sum(result.figures[name].value for name in ("train_time", "earlier_time") if name in result.figures)


def _label(cell: Cell, several: bool) -> str:
    """With the framework where there are several."""
    name = " ".join([short_name(cell.network), *unusual(cell)])
    return f"{name}, {look(cell.framework).name}" if several else name


def _name(sweep: Sweep) -> str:
    return " ".join([short_name(sweep.cell.network), *others(sweep.cell, sweep.rule.option)])


def _error_title(error: Error) -> str:
    return "error, %" if error.is_share else "loss"


def _caption(results: Sequence[Result], is_flops: bool) -> str:
    words = ["On the whole test split after training; whiskers are 95 % intervals over the seeds."]
    if is_flops:
        words.append("Cost is that of a training step, counted from the graph.")
    elif any("earlier_time" in result.figures for result in results):
        words.append("Seconds include those of the stages before.")
    return " ".join([*words, f"{results[0].cell.goal}, batch {results[0].cell.batch}."])


def _same(sweep: Sweep) -> tuple[object, ...]:
    cell = sweep.cell
    return cell.network, cell.dataset, cell.source, cell.goal, cell.batch, others(cell, sweep.rule.option)


def _task(result: Result) -> tuple[object, ...]:
    cell = result.cell
    return result.machine, cell.source, cell.goal, cell.batch, cell.device, cell.threads
