"""Whatever a killed run left, the next one starts: it is set aside first, looked into, and reported at most once."""

import json
import os
import shutil
from types import SimpleNamespace

import pytest

from netdyno.bench.campaign import recover
from netdyno.results.store.problems import StoreRefused
from netdyno.runtime.folders import ATTEMPTS, RunFolders

CELL = ("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")


@pytest.fixture
def crashed(netdyno):
    """A home with one finished run, and how to make it look like one that was in flight when netdyno was killed."""
    assert netdyno(*CELL).returncode == 0
    (folder,) = (netdyno.home / "runs").iterdir()
    folders = RunFolders(home=netdyno.home, store_name=str(netdyno.home / "results.sqlite"))

    def make():
        (netdyno.home / "results.sqlite").unlink()
        folders.point_at(folder)
        return folder

    return make


def _spoil(folder, how):
    facts, events = folder / "run.json", folder / "rank0" / "events.jsonl"
    if how == "empty run.json":
        facts.write_text("")
    elif how == "no run.json":
        facts.unlink()
    elif how == "a fifo as run.json":
        facts.unlink()
        os.mkfifo(facts)
    elif how == "another cell":
        facts.write_text(json.dumps({**json.loads(facts.read_text()), "cell": {"batch": 2**63}}))
    elif how == "another workload":
        known = json.loads(facts.read_text())
        facts.write_text(json.dumps({**known, "cell": {**known["cell"], "workload": "wishing"}}))
    elif how == "infinite seconds":
        events.write_text(events.read_text().replace('"seconds": ', '"seconds": 1e999, "old": ', 1))
    elif how == "no folder":
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("how", "reported"),
    [
        ("untouched", "Recovered a finished run of lenet/mnist"),
        ("empty run.json", "Not recovered: the run in flight"),
        ("a fifo as run.json", "Not recovered: the run in flight"),
        ("another cell", "Not recovered: the run in flight"),
        ("another workload", "no workload named 'wishing'"),
        ("no run.json", ""),
        ("no folder", ""),
        ("infinite seconds", ""),
    ],
)
def test_nothing_that_a_killed_run_left_stops_the_next_one(netdyno, crashed, how, reported):
    _spoil(crashed(), how)
    first, second = netdyno(*CELL, "--again"), netdyno(*CELL, "--again")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert reported in first.stderr
    assert ("ecovered" in first.stderr) == bool(reported)
    assert "ecovered" not in second.stderr
    assert list(netdyno.home.glob("in-flight-*")) == []


def test_a_run_that_kills_netdyno_each_time_it_is_read_is_left_alone_in_the_end(tmp_path):
    folders = RunFolders(home=tmp_path, store_name="store")
    folder = folders.make("one")
    folders.point_at(folder)
    for _ in range(ATTEMPTS):  # netdyno dies before it can forget
        assert folders.set_aside().folder == folder
    last = folders.set_aside()
    assert last.is_hopeless
    last.forget()
    assert folders.set_aside() is None
    assert folder.is_dir()


def test_a_pointer_that_leads_elsewhere_is_not_followed(tmp_path):
    folders = RunFolders(home=tmp_path, store_name="store")
    folders.point_at(folders.make("one"))
    (pointer,) = tmp_path.glob("in-flight-*")
    pointer.write_text("../../etc")
    assert folders.set_aside().folder is None


def test_a_recovered_run_says_so(netdyno, crashed):
    crashed()
    netdyno(*CELL)
    (result,) = netdyno.json("results")
    assert "recovered (what else ran meanwhile is not known)" in result["verdict"]


def test_a_run_that_another_home_repeated_is_kept_beside_it(netdyno, tmp_path):
    """Killed before its run was stored; another home measured the cell; then the first home goes on."""
    store = str(tmp_path / "shared.sqlite")
    first = (*("--store", store), *CELL)
    assert netdyno(*first).returncode == 0
    (folder,) = (netdyno.home / "runs").iterdir()
    os.unlink(store)
    netdyno.environment["NETDYNO_HOME"] = str(tmp_path / "other home")
    assert netdyno(*first).returncode == 0
    netdyno.environment["NETDYNO_HOME"] = str(netdyno.home)
    RunFolders(home=netdyno.home, store_name=store).point_at(folder)
    done = netdyno(*first)
    assert done.returncode == 0
    assert "Recovered a finished run" in done.stderr
    shown = netdyno.json("--store", store, "results", "--every-series")
    assert [result["runs"] for result in shown] == [1, 1]


def test_a_relative_store_is_the_one_of_the_folder_where_the_run_began(netdyno, tmp_path):
    here, there = tmp_path / "a", tmp_path / "b"
    here.mkdir()
    there.mkdir()
    cell = ("--store", "mine.sqlite", *CELL)
    assert netdyno(*cell, cwd=here).returncode == 0
    (folder,) = (netdyno.home / "runs").iterdir()
    (here / "mine.sqlite").unlink()
    RunFolders(home=netdyno.home, store_name=str(here / "mine.sqlite")).point_at(folder)
    assert "ecovered" not in netdyno(*cell, cwd=there).stderr
    assert "Recovered a finished run" in netdyno(*cell, cwd=here).stderr


class _Unreachable:
    """A store whose server is down."""

    def has(self, identity):
        return False

    def add(self, record):
        raise StoreRefused("cannot reach the server.")


def test_a_store_that_refuses_costs_no_finished_run_however_often_it_does(netdyno, crashed):
    folder = crashed()
    folders = RunFolders(home=netdyno.home, store_name=str(netdyno.home / "results.sqlite"))
    for _ in range(ATTEMPTS + 2):
        with pytest.raises(StoreRefused):
            recover(SimpleNamespace(folders=folders, store=_Unreachable()))
    assert folder.name in "".join(path.read_text() for path in netdyno.home.glob("in-flight-*"))
    assert "Recovered a finished run of lenet/mnist" in netdyno(*CELL, "--again").stderr
