"""What a record keeps of the world around its run, and where a change of it is told."""

from netdyno.results.store import open_store

CELL = ("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")


def test_a_record_keeps_the_variables_that_its_worker_inherited(netdyno):
    netdyno.environment |= {"GOMP_SPINCOUNT": "7", "OMP_NUM_THREADS": "99", "SECRET": "no"}
    assert netdyno(*CELL).returncode == 0
    with open_store(str(netdyno.home / "results.sqlite"), create=False) as store:
        (record,) = store.records()
    assert record.environment["variables"]["GOMP_SPINCOUNT"] == "7"
    assert (
        not {"OMP_NUM_THREADS", "SECRET"} & record.environment["variables"].keys()
    )  # netdyno sets the threads itself


def test_doctor_tells_of_them(netdyno):
    netdyno.environment["GOMP_SPINCOUNT"] = "7"
    (finding,) = (found for found in netdyno.json("doctor")["findings"] if found["what"] == "variables")
    assert finding["state"] == "weak"
    assert "GOMP_SPINCOUNT=7" in finding["seen"]
