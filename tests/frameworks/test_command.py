"""netdyno frameworks and netdyno doctor, as a user calls them."""

import io
import json
import re
from pathlib import Path

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from netdyno.cli import doctor, frameworks
from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import environment_of, is_complete
from netdyno.frameworks.spec import Spec
from netdyno.report.terminal.installing import InstallProgress

app = typer.Typer()
app.add_typer(frameworks.app, name="frameworks")
app.command()(doctor.doctor)


def test_the_list_says_where_each_framework_is(tiny: Spec) -> None:
    done = CliRunner().invoke(app, ["frameworks", "--json"])
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["reference"]["origin"] == "current"
    assert (rows["tiny"]["usable"], rows["tiny"]["interpreter"]) == (False, None)


def test_tables_fit_a_hundred_columns_and_show_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frameworks, "has_nvidia_gpu", lambda: True)
    for command in ("frameworks", "doctor"):
        done = CliRunner().invoke(app, [command])
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= 100
    assert "jax[cuda13]" in CliRunner().invoke(app, ["frameworks"]).stdout


def test_install_goes_on_after_a_failure_and_ends_with_2(tiny: Spec, offline: Path) -> None:
    done = CliRunner().invoke(app, ["frameworks", "install", "tyni", "tiny"])
    assert done.exit_code == 2
    assert is_complete(tiny, environment_of(tiny))
    assert re.search(r"tiny +1\.0 .*ready", done.stdout)
    assert "error: no framework named 'tyni'" in done.stderr


def test_what_cannot_be_installed_says_why_and_the_others_go_on(tiny: Spec, offline: Path) -> None:
    done = CliRunner().invoke(app, ["frameworks", "install", "torch7", "tiny"])
    assert done.exit_code == 2
    assert "[1/2] torch7: failed: torch7: there is nothing to install: Torch7 is a Lua library" in done.stderr
    assert is_complete(tiny, environment_of(tiny))


def test_remove_says_what_became_free(tiny: Spec, offline: Path) -> None:
    CliRunner().invoke(app, ["frameworks", "install", "tiny"])
    assert "tiny: removed" in CliRunner().invoke(app, ["frameworks", "remove", "tiny"]).stdout
    assert not environment_of(tiny).exists()
    assert "tiny: was not installed" in CliRunner().invoke(app, ["frameworks", "remove", "tiny"]).stdout


def test_plain_talk_repeats_a_step_only_now_and_then(tiny: Spec) -> None:
    console = Console(file=io.StringIO(), width=100)
    progress = InstallProgress(console, 1)
    for text in ("x: Collecting a (1 s, 2 MB)", "x: Collecting a (2 s, 3 MB)", "x: Collecting b (3 s, 3 MB)"):
        progress.progressed(tiny, text)
    assert console.file.getvalue().splitlines() == ["x: Collecting a (1 s, 2 MB)", "x: Collecting b (3 s, 3 MB)"]


def test_doctor_describes_machine_findings_and_frameworks() -> None:
    report = json.loads(CliRunner().invoke(app, ["doctor", "--json"]).stdout)
    assert report.keys() == {"machine", "gpu_states", "findings", "frameworks"}
    assert len(report["machine"]["id"]) == 12
    assert {"load", "cores", "disk", "GPU"} <= {finding["what"] for finding in report["findings"]}


def test_a_malformed_spec_reaches_the_command_as_a_users_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.toml").write_text("name = 1\n")
    monkeypatch.setenv("NETDYNO_SPECS", str(tmp_path))
    done = CliRunner().invoke(app, ["frameworks"])
    assert isinstance(done.exception, NetdynoError)
