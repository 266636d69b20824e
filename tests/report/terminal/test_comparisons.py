"""A comparison reads well in 100 columns and in a pull request, and nothing in a name becomes markup there."""

import numpy as np
import pytest
from rich.console import Console
from tests.results.samples import draw_runs, make_cell, make_result

from netdyno.report.terminal import comparisons
from netdyno.report.terminal.comparisons import Shown, comparison_parts, summary
from netdyno.report.terminal.pull_request import comparison_markdown
from netdyno.results.compare.pairs import compare_all, overall
from netdyno.results.compare.question import question_of
from netdyno.results.result import Result


def shown(pairs: list[tuple[Result, Result]], figure: str = "") -> Shown:
    question = question_of((result for pair in pairs for result in pair), figure)
    compared = compare_all(pairs, question)
    return Shown(a="a.db", b="b.db", compared=tuple(compared), overall=overall(compared, question), question=question)


def made(step_s: float, runs: int = 4, **changes: object) -> Result:
    random = np.random.default_rng(int(step_s * 1e6))
    drawn = draw_runs(random, runs, step_s=step_s, run_noise=0.0003, block_noise=0.0005)
    cell = make_cell(**{name: value for name, value in changes.items() if name in ("network", "framework", "batch")})
    rest = {name: value for name, value in changes.items() if name not in ("network", "framework", "batch")}
    return make_result(drawn, cell=cell, **rest)


def printed(what: Shown) -> str:
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in comparison_parts(what):
        console.print(part)
    return console.export_text()


@pytest.fixture
def five() -> Shown:
    """Faster, slower by 5 %, slower by 0.3 %, equal, one run."""
    return shown(
        [
            (made(0.010, network="lenet"), made(0.009, network="lenet", series=2)),
            (made(0.020, network="alexnet"), made(0.021, network="alexnet", series=2)),
            (made(0.030, network="vgg16"), made(0.03009, network="vgg16", series=2)),
            (made(0.040, network="resnet50"), made(0.040001, network="resnet50", series=2)),
            (made(0.050, network="googlenet"), made(0.050, runs=1, network="googlenet", series=2)),
        ]
    )


def test_a_table_has_a_line_with_each_verdict_and_fits(five: Shown) -> None:
    text = printed(five)
    assert max(map(len, text.splitlines())) <= 100
    lines = {line.split("/")[0]: " ".join(line.split()) for line in text.splitlines() if "/mnist" in line}
    assert lines["lenet"].endswith("faster")
    assert lines["alexnet"].endswith("slower")
    assert lines["vgg16"].endswith("slower, under 1 %")
    assert lines["resnet50"].endswith("equal within 1 %")
    assert "cannot tell" in lines["googlenet"]
    assert "−4.7" in lines["alexnet"]


def test_the_summary_counts_verdicts_and_gives_the_mean(five: Shown) -> None:
    told = summary(five)
    assert "5 comparisons of images/s: 2 slower, 1 faster, 1 equal within 1 %, 1 cannot tell." in told
    assert "Geometric mean of 4: 1.0136" in told


def test_a_weak_result_is_marked_with_what_is_weak(five: Shown) -> None:
    assert "¹ one run" in printed(five)


def test_a_name_cannot_colour_the_terminal() -> None:
    hostile = "[red]x\x1b[31my"
    text = printed(shown([(made(0.01, network=hostile), made(0.01, network=hostile))]))
    assert "[red]x\ufffd[31my/mnist" in text
    assert "\x1b" not in text


def test_memory_is_told_in_mebibytes() -> None:
    a, b = (made(0.01, host_peak_bytes=size * 2**20) for size in (100, 150))
    text = printed(shown([(a, b)], "memory"))
    assert "A MiB" in text
    assert "150.0" in text
    assert "1 comparison of bytes: 1 more." in text


def test_markdown_has_a_summary_a_table_and_folded_details(five: Shown) -> None:
    lines = comparison_markdown(five).splitlines()
    assert lines[0].startswith("**netdyno compare** B against A in 5 comparisons")
    table = [line for line in lines if line.startswith("| ")]
    assert len(table) == 2 + 5
    assert len({line.count("|") for line in table}) == 1
    assert lines.index("<details><summary>What was compared, and how</summary>") > lines.index(table[-1])
    assert lines[-1] == "</details>"
    assert "- ¹ one run" in lines


def test_markdown_of_many_cells_shows_at_once_what_differs() -> None:
    equal = [(made(0.01, framework=f"f{n}"), made(0.010001, framework=f"f{n}")) for n in range(14)]
    slow = (made(0.01, framework="odd"), made(0.02, framework="odd"))
    first, _, folded = comparison_markdown(shown([*equal, slow])).partition("<details>")
    assert first.count("mnist") == 1
    assert folded.count("mnist") == 15


def test_markdown_tells_what_else_differs_between_the_sides() -> None:
    a, b = (made(0.01, versions={"numpy": version}) for version in ("2.1", "2.2"))
    assert "- versions.numpy: 2.1 → 2.2" in comparison_markdown(shown([(a, b)]))
    assert "- Nothing else that was recorded differs." in comparison_markdown(shown([(a, a)]))


def test_nothing_in_a_name_becomes_markup_in_markdown() -> None:
    hostile = "a|b</details><script>x</script>`*_[l](u)@all\n# h"
    text = comparison_markdown(shown([(made(0.01, network=hostile), made(0.01, network=hostile))]))
    for mark in ("<script", "](", "@all", "a|b", "`", "\n# h"):
        assert mark not in text
    assert text.count("</details>") == 1


def test_a_long_table_says_how_many_pairs_it_leaves_out(five: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparisons, "MOST_ROWS", 4)
    text = printed(five)
    assert text.count("/mnist") == 4
    assert "Shown: the first 4 of 5; --json has all of them." in text
    assert "B against A in 5 comparisons" in text
    monkeypatch.setattr(comparisons, "MOST_ROWS", 5)
    assert "Shown" not in printed(five)


def test_the_end_of_an_interval_that_is_far_out_has_few_digits() -> None:
    assert comparisons.interval_of(0.0, 1e304) == "−100.00 … +1e+306 %"
    assert comparisons.interval_of(0.5, 2.0) == "−50.00 … +100.00 %"
