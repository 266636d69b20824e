"""What a record keeps of the world around its run, and where a change of it is told."""

from netdyno.results.history.changes import Change, changes
from netdyno.results.result import results_of
from netdyno.results.store import open_store

CELL = ("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1", "--again")


def test_a_record_keeps_the_variables_that_its_worker_inherited(netdyno):
    netdyno.environment |= {"GOMP_SPINCOUNT": "7", "OMP_NUM_THREADS": "99", "SECRET": "no"}
    assert netdyno(*CELL).returncode == 0
    (record,) = _records(netdyno)
    assert record.environment["variables"]["GOMP_SPINCOUNT"] == "7"
    # How many threads there are netdyno says itself.
    assert not {"OMP_NUM_THREADS", "SECRET"} & record.environment["variables"].keys()


def test_one_that_was_set_between_two_series_is_among_what_changed(netdyno):
    netdyno(*CELL)
    netdyno.environment["GOMP_SPINCOUNT"] = "7"
    netdyno(*CELL)
    before, after = results_of(_records(netdyno), every_series=True)
    assert Change(field="environment.variables.GOMP_SPINCOUNT", before="–", after="7") in changes(before, after)


def test_doctor_tells_of_them(netdyno):
    netdyno.environment["GOMP_SPINCOUNT"] = "7"
    (finding,) = (found for found in netdyno.json("doctor")["findings"] if found["what"] == "variables")
    assert finding["state"] == "weak"
    assert "GOMP_SPINCOUNT=7" in finding["seen"]


def _records(netdyno):
    with open_store(str(netdyno.home / "results.sqlite"), create=False) as store:
        return store.records()
