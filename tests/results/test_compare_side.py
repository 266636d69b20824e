"""What a comparison keeps of a result."""

import numpy as np
from tests.results.samples import draw_runs, make_result

from netdyno.results.compare.pairs import compare_all
from netdyno.results.compare.question import question_of
from netdyno.results.compare.side import Side
from netdyno.results.record import Record
from netdyno.results.statistics import rate


def test_a_side_keeps_values_and_errors_but_no_runs() -> None:
    random = np.random.default_rng(3)
    drawn = [draw_runs(random, 4, step_s=step_s, run_noise=0.01, block_noise=0.02) for step_s in (0.01, 0.0103)]
    a, b = (make_result(runs) for runs in drawn)
    slim = [Side.of(result, details=False) for result in (a, b)]
    (kept,) = compare_all([(slim[0], slim[1])], question_of(slim))
    (whole,) = compare_all([(a, b)], question_of([a, b]))
    assert kept.comparison == whole.comparison
    assert (kept.a.estimate, kept.a.recorded) == (None, {})
    assert whole.a.estimate == a.head
    assert not any(isinstance(getattr(kept.a, name), Record) for name in Side.__slots__)
    assert kept.a.values == tuple(rate(record.samples, record.cell.batch) for record in a.records)
