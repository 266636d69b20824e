"""`fastest`: a short look at every execution, then runs with the winner, which the record names."""

from tests.results.samples import make_record

from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import Done, Failed, Probe
from netdyno.results.store import open_store
from netdyno.workloads.probe import choose, earlier_choice

EAGER_WINS = [
    Probe(at=1, execution="eager", seconds_per_step=0.01),
    Probe(at=2, execution="compiled", seconds_per_step=0.02),
    Probe(at=3, execution="cudagraph", absent="a CUDA graph needs a CUDA device"),
]


def test_the_shortest_step_wins_and_the_others_are_remembered():
    choice = choose(EventLog(events=tuple(EAGER_WINS), last=Done(at=4)), ["eager", "compiled", "cudagraph"])
    assert choice.execution == "eager"
    assert choice.seconds_per_step == {"eager": 0.01, "compiled": 0.02}
    assert choice.absent == {"cudagraph": "a CUDA graph needs a CUDA device"}


def test_a_worker_that_died_while_looking_leaves_what_it_had_found():
    choice = choose(EventLog(events=tuple(EAGER_WINS[1:2]), last=None), ["compiled", "cudagraph"])
    assert choice.execution == "compiled"
    assert choice.absent == {"cudagraph": "the probe ended before it was tried"}


def test_where_nothing_could_be_tried_the_run_itself_will_say_why():
    choice = choose(EventLog(events=(), last=Failed(at=4, reason="no device")), ["eager", "compiled"])
    assert choice.execution == "eager"
    assert choice.absent == {"eager": "no device", "compiled": "no device"}


def test_later_runs_of_a_series_train_as_the_first_did():
    choice = choose(EventLog(events=tuple(EAGER_WINS), last=None), ["eager", "compiled", "cudagraph"])
    assert earlier_choice([make_record(settings=choice.for_record())]) == choice
    assert earlier_choice([make_record()]) is None


def test_a_run_names_the_execution_that_it_found_to_be_fastest(netdyno):
    cell = ("--framework", "null", "--network", "lenet", "--execution", "fastest")
    done = netdyno("run", *cell, "--runs", "2", "--seconds", "0.1")
    assert done.returncode == 0, done.stderr
    with open_store(str(netdyno.home / "results.sqlite")) as store:
        first, second = store.records()
    assert first.cell.execution == "fastest"
    assert first.settings["execution"] == "eager"
    assert first.settings["looked_at"].keys() == {"eager"}
    assert second.settings["looked_at"] == first.settings["looked_at"]  # looked once
    assert "busy_cores" in {**first.readings, **first.absent}
