"""Several environments at once: groups, failures that hold up nobody, Ctrl-C."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from netdyno.errors import NetdynoError
from netdyno.frameworks.install import several
from netdyno.frameworks.install.several import Installed, install_several, members
from netdyno.frameworks.spec import Spec, specs


class Recorder:
    def __init__(self) -> None:
        self.finished: list[Installed] = []

    def progressed(self, spec: Spec, message: str) -> None:
        pass

    def ended(self, installed: Installed) -> None:
        self.finished.append(installed)


def _named(tiny: Spec, *names: str) -> list[Spec]:
    return [replace(tiny, name=name) for name in names]


def test_one_that_fails_holds_up_no_other(tiny: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(spec, *, report):
        if spec.name == "b":
            raise NetdynoError("b: no network.")
        return Path(spec.name)

    monkeypatch.setattr(several, "install", install)
    recorder = Recorder()
    found = install_several(_named(tiny, "a", "b", "c"), 2, recorder)
    assert [(one.spec.name, one.error) for one in found] == [("a", ""), ("b", "b: no network."), ("c", "")]
    assert len(recorder.finished) == 3


def test_as_many_are_made_at_a_time_as_is_said(tiny: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    together = threading.Barrier(3, timeout=20)

    def install(spec, *, report):
        together.wait()
        return Path(spec.name)

    monkeypatch.setattr(several, "install", install)
    assert len(install_several(_named(tiny, "a", "b", "c"), 3, Recorder())) == 3


def test_ctrl_c_reaches_those_in_flight_and_starts_no_other(tiny: Spec, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, cleaned = threading.Event(), []

    def install(spec, *, report):
        begun.set()
        try:
            while True:
                report("still at it")
                time.sleep(0.01)
        except KeyboardInterrupt:
            cleaned.append(spec.name)
            raise

    def interrupted(futures):
        begun.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(several, "install", install)
    monkeypatch.setattr(several, "_wait_for", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install_several(_named(tiny, "a", "b"), 1, Recorder())
    assert cleaned == ["a"]


def test_groups_are_everything_or_an_era_and_only_what_can_be_installed() -> None:
    known = list(specs().values())
    everything = {spec.name for spec in members("all", known)}
    then, now = ({spec.name for spec in members(era, known)} for era in ("2018", "today"))
    assert {"reference", "null", "torch7", "caffe-1.0"}.isdisjoint(everything)
    assert then
    assert now
    assert then.isdisjoint(now)
    assert then | now <= everything
