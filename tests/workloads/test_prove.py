"""Proofs go on when a process dies, refusals are answers, and references are computed once."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.bench.check import check
from netdyno.frameworks.environments import Interpreter
from netdyno.frameworks.spec import find_spec, read_spec
from netdyno.runtime.worker import Setup
from netdyno.runtime.worker_file import pack_worker
from netdyno.workloads import references
from netdyno.workloads.prove import Candidate, Prover
from netdyno.workloads.references import References
from netdyno.zoo.catalog import find_entry, resolve

SCRIPTED = Path(__file__).parents[1] / "scripted" / "scripted.toml"


@pytest.fixture
def prover(tmp_path):
    return Prover(
        archive=pack_worker(tmp_path / "workers"),
        python=Path(sys.executable),
        scratch=tmp_path,
        references=References(folder=tmp_path / "references"),
        threads=1,
        deadline_s=60,
    )


@pytest.fixture
def scripted():
    setup = Setup(device="cpu", precision="float32", execution="eager", threads=1)
    own = Interpreter(path=Path(sys.executable), origin="current")
    return Candidate(spec=read_spec(SCRIPTED), interpreter=own, setup=setup)


def _cases(prover, *batches):
    return [prover.case(("lenet", f"b{batch}"), resolve(find_entry("lenet", "mnist"), batch)) for batch in batches]


def test_a_crash_costs_one_network_and_the_others_are_proved(prover, scripted, monkeypatch):
    monkeypatch.setenv("NETDYNO_SCRIPT", json.dumps({"2": "crash", "4": "exit"}))
    heard = []
    proofs = prover.prove(_cases(prover, 1, 2, 3, 4), scripted, heard.append)
    assert [proof.dataset for proof in proofs] == ["b1", "b2", "b3", "b4"]
    assert [bool(proof.reason) for proof in proofs] == [False, True, False, True]
    assert "said goodbye" in proofs[3].reason
    assert heard == proofs
    assert not any(proof.passed for proof in proofs)  # it computes nothing, so nothing is equal


def test_a_refusal_is_told_and_ends_nothing(prover, scripted, monkeypatch):
    monkeypatch.setenv("NETDYNO_SCRIPT", json.dumps({"2": "cannot"}))
    first, second = prover.prove(_cases(prover, 2, 3), scripted)
    assert first.reason == "unsupported: not on a Sunday"
    assert second.reason == ""
    assert second.versions == {"scripted": "1"}


def test_a_reference_is_computed_once_for_all_who_ask(prover):
    (case,) = _cases(prover, 2)
    made = case.arrays.stat().st_ino
    (again,) = _cases(prover, 2)
    assert (again.arrays, again.arrays.stat().st_ino) == (case.arrays, made)
    (other,) = _cases(prover, 3)
    assert other.arrays != case.arrays


def test_the_references_used_longest_ago_go_first(prover, monkeypatch):
    old, new = _cases(prover, 1, 2)
    monkeypatch.setattr(references, "MOST_BYTES", new.arrays.stat().st_size)
    prover.references.prune()
    assert (old.arrays.exists(), new.arrays.exists()) == (False, True)


def test_check_trains_a_step_or_says_why_not(tmp_path, scripted, monkeypatch):
    spec = replace(scripted.spec, name="reference")  # so that the bench finds it
    given = {"reference": scripted.interpreter}
    good = check(spec, given, tmp_path, 1)
    assert (good.problem, good.versions) == ("", "scripted 1")
    monkeypatch.setenv("NETDYNO_SCRIPT", json.dumps({"2": "crash"}))
    assert "ended by SIGSEGV" in check(spec, given, tmp_path, 1).problem
    missing = replace(find_spec("reference"), module="no_such_module", requirements=("x==1",))
    assert "not on this machine" in check(missing, {}, tmp_path, 1).problem
