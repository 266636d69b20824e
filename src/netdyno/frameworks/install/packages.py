"""Put packages into an environment: run venv and pip, report their progress, and their failures in one line."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from packaging.utils import canonicalize_name

from netdyno.errors import NetdynoError
from netdyno.frameworks.environments import python_in
from netdyno.frameworks.spec import Spec

TICK_S = 1.0
OLD_PIP = 21
REPORTING_PIP = (22, 2)  # from this one on pip reports which files it installed, with their hashes
NEWER_PIP = "pip==21.3.1"
PAUSES_S = (2.0, 10.0)  # between attempts of an interrupted download
HASH = " --hash=sha256:"
QUIETLY = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
INDEX_LIMIT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """An environment being made.

    Children hold `lock_fd` open too, so that the orphan of a killed parent still keeps others out.
    """

    spec: Spec
    environment: Path
    gpu: bool
    log: Path
    lock_fd: int
    started: float  # time.monotonic()
    report: Callable[[str], None]

    @property
    def lock(self) -> Path:
        """What the pins were resolved to; beside the environment, so that it survives a repair."""
        return self.environment.parent / (self.environment.name + ".lock.txt")

    @property
    def files(self) -> Path:
        """Which files pip installed, as it reported them."""
        return self.temporary / "report.json"

    @property
    def temporary(self) -> Path:
        """For downloads and unpacking; inside the environment, so that it is wiped together with it."""
        return self.environment / "tmp"


def make_venv(work: Work, python: Path) -> list[str]:
    """Make the environment; returns the command that is pip for it."""
    inside = python_in(work.environment)
    if run_logged(work, [str(python), "-I", "-m", "venv", "--clear", str(work.environment)]) == 0:
        return [str(inside), "-I", "-m", "pip"]
    # A bare Debian has venv without ensurepip: then the current interpreter's pip fills the environment.
    bare = [str(python), "-I", "-m", "venv", "--clear", "--without-pip", str(work.environment)]
    if run_logged(work, bare) != 0:
        raise failure(work, f"{python} cannot make an environment", hint="Install its venv module.")
    if importlib.util.find_spec("pip") is None:
        raise failure(work, f"neither {python} (ensurepip) nor the current interpreter has pip")
    return [sys.executable, "-m", "pip", "--python", str(inside)]


def renew_pip(work: Work, pip: Sequence[str]) -> None:
    """Replace a pip from before 2021, which cannot read current wheels, by the last one for Python 3.6."""
    version = pip_version(pip)
    if not version or version[0] >= OLD_PIP:
        return
    work.temporary.mkdir(exist_ok=True)
    if run_logged(work, [*pip, "install", *QUIETLY, NEWER_PIP]) != 0:
        work.report(f"{work.spec.name}: pip could not be renewed; trying with the old one")


def pip_version(pip: Sequence[str]) -> tuple[int, int] | None:
    """Such as (23, 2); None where pip does not say."""
    done = subprocess.run([*pip, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    found = re.search(rb"^pip (\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else None


def install_packages(work: Work, pip: Sequence[str]) -> str:
    """Install the pins; returns the extra index that was used, empty if none."""
    pins, index = work.spec.pins(work.gpu), work.spec.index(work.gpu)
    work.temporary.mkdir(exist_ok=True)
    version = pip_version(pip)
    report = ["--report", str(work.files)] if version and version >= REPORTING_PIP else []
    command = [*pip, "install", *QUIETLY, *report]
    if index and not is_reachable(index):
        work.report(f"{work.spec.name}: {index} cannot be reached; the default index may have larger builds")
        index = ""
    for extra in dict.fromkeys((index, "")):
        if _install_from(work, [*command, *(("--extra-index-url", extra) if extra else ())], pins):
            return extra
        if extra:
            work.report(f"{work.spec.name}: failed with {extra}; trying the default index alone")
    raise failure(work, "pip could not install " + " ".join(pins))


def _install_from(work: Work, command: Sequence[str], pins: Sequence[str]) -> bool:
    """Install what an earlier resolution found, else resolve again; retry an interrupted download."""
    if work.lock.exists():
        if run_logged(work, [*command, *_locked(work.lock, pins)]) == 0:
            return True
        if "DO NOT MATCH THE HASHES" in _last_output(work.log.read_text(encoding="utf-8", errors="replace")):
            hint = f"If that is meant: netdyno frameworks remove {work.spec.name}, then install it again."
            raise failure(work, "a file of the index is not the one that was installed before", hint=hint)
    for pause_s in (*PAUSES_S, None):
        if run_logged(work, [*command, *pins]) == 0:
            return True
        if pause_s is None or not _is_temporary(work.log):
            return False
        work.report(f"{work.spec.name}: the download was interrupted; trying again in {pause_s:.0f} s")
        time.sleep(pause_s)
    return False


def _locked(lock: Path, pins: Sequence[str]) -> list[str]:
    """What pip is asked for again: the very same files where their hashes are known, else the same versions."""
    if HASH in lock.read_text(encoding="utf-8"):
        return ["--no-deps", "--require-hashes", "--requirement", str(lock)]
    return [*pins, "--constraint", str(lock)]


def write_lock(work: Work, versions: dict[str, str]) -> None:
    """Store what the pins were resolved to: the same environment made again gets the same versions, and the same
    files where pip reported them."""
    wanted = {name: version for name, version in sorted(versions.items()) if name not in ("pip", "setuptools")}
    hashes = _reported_hashes(work.files)
    if all(canonicalize_name(name) in hashes for name in wanted):
        wanted = {name: version for name, version in sorted(versions.items()) if canonicalize_name(name) in hashes}
        lines = [f"{name}=={version}{HASH}{hashes[canonicalize_name(name)]}" for name, version in wanted.items()]
    else:
        lines = [f"{name}=={version}" for name, version in wanted.items()]
    work.lock.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _reported_hashes(report: Path) -> dict[str, str]:
    """{distribution: SHA-256 of its file}, as far as pip reported them."""
    try:
        items = json.loads(report.read_bytes())["install"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    found: dict[str, str] = {}
    for item in items:
        sha256 = item.get("download_info", {}).get("archive_info", {}).get("hashes", {}).get("sha256")
        if sha256:
            found[canonicalize_name(item["metadata"]["name"])] = sha256
    return found


def installed_versions(pip: Sequence[str]) -> dict[str, str]:
    """Every distribution in the environment with its version, as pip lists them."""
    command = [*pip, "list", "--format=json", "--disable-pip-version-check"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
    try:
        return {entry["name"]: entry["version"] for entry in json.loads(done.stdout)}
    except (ValueError, KeyError, TypeError) as error:
        raise NetdynoError(f"pip does not list what it installed: {error}.") from error


def is_reachable(index: str, limit_s: float = INDEX_LIMIT_S) -> bool:
    """Whether an index answers in time. In a thread, because no time limit holds for resolving a name."""
    answers: list[int] = []

    def ask() -> None:
        try:
            with urllib.request.urlopen(index.rstrip("/") + "/", timeout=limit_s) as answer:
                answers.append(answer.status)
        except (OSError, HTTPException, ValueError):
            return

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(limit_s)
    return bool(answers)


def failure(work: Work, what: str, hint: str = "") -> NetdynoError:
    """What went wrong, quoted from the log, and where the log is."""
    text = work.log.read_text(encoding="utf-8", errors="replace")
    return NetdynoError(f"{work.spec.name}: {what}: {_reason(text)}.", hint=f"{hint} The log is {work.log}".strip())


def bytes_in(folder: Path) -> int:
    """What the files in a folder take on disk; those that vanish meanwhile are not counted."""
    total = 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(where, name)).st_blocks * 512
            except OSError:
                continue
    return total


_STEP = re.compile(r"^\s*((?:Collecting|Downloading|Using cached|Building|Preparing|Installing)\b.*)$", re.MULTILINE)
_TEMPORARY = re.compile(
    r"IncompleteRead|Connection broken|Read timed out|ConnectionReset|THESE PACKAGES DO NOT MATCH"
)
_OFFLINE = re.compile(
    r"NewConnectionError|name resolution|ConnectTimeout|Network is unreachable|Max retries exceeded"
)


def run_logged(work: Work, command: Sequence[str]) -> int:
    """Run a command with its output in the log; returns its exit code."""
    with work.log.open("ab") as log:
        log.write(f"$ {' '.join(command)}\n".encode())
        log.flush()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=_variables(work),
            pass_fds=(work.lock_fd,),
        )
        try:
            return _watch(work, process)
        finally:
            _stop(process)


def _watch(work: Work, process: "subprocess.Popen[bytes]") -> int:
    while True:
        try:
            return process.wait(timeout=TICK_S)
        except subprocess.TimeoutExpired:
            elapsed_s = time.monotonic() - work.started
            size_mb = bytes_in(work.environment) / 1e6
            work.report(f"{work.spec.name}: {_step(work.log)} ({elapsed_s:.0f} s, {size_mb:.0f} MB)")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _variables(work: Work) -> dict[str, str]:
    # These would install the packages outside the environment.
    misleading = ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONHOME", "PYTHONPATH")
    variables = {name: value for name, value in os.environ.items() if name not in misleading}
    if work.temporary.is_dir():
        variables["TMPDIR"] = str(work.temporary)
    return variables


def _step(log: Path) -> str:
    steps = _STEP.findall(log.read_text(encoding="utf-8", errors="replace"))
    return steps[-1].split(":")[0].split(" (")[0][:60] if steps else "making the environment"


def _is_temporary(log: Path) -> bool:
    """Whether the last command failed in a way that may not happen again."""
    return bool(_TEMPORARY.search(_last_output(log.read_text(encoding="utf-8", errors="replace"))))


def _last_output(log: str) -> str:
    return log.rpartition("\n$ ")[2].partition("\n")[2]


def _reason(log: str) -> str:
    output = _last_output(log)
    if "No space left on device" in output:
        return "no space left on the disk"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    said = " / ".join((errors or lines)[-2:])[:400].rstrip(".") or "no output"
    return f"the package index cannot be reached ({said})" if _OFFLINE.search(output) else said
