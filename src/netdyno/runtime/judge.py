"""What became of a group: one outcome and one line of reason from its ranks' events and its ending."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from netdyno.protocol.event_log import EventLog
from netdyno.protocol.events import Done, Failed, LastWord, OutOfMemory, Unsupported
from netdyno.runtime.group import rank_folder
from netdyno.runtime.watch import Ending

DONE = "done"  # everything that was requested was done; the workload judges what was measured
FAILED = "failed"
OUT_OF_MEMORY = "out of memory"
OUTCOME_OF = {Unsupported: "unsupported", OutOfMemory: OUT_OF_MEMORY, Failed: FAILED}
BROKEN = "the worker broke its protocol"
LONGEST = 300  # letters of a reason
STACK = ("[bt]", "Stack trace", "***", "Traceback", 'File "')  # how libraries begin the lines of a stack trace

FOREIGN = 0.05  # of the machine used by others
STOLEN = 0.02  # of the machine given away by a hypervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An outcome with its reason in one line; `said` is everything that the worker said about it."""

    outcome: str
    reason: str = ""
    said: str = ""
    rank: int = 0

    @property
    def has_more(self) -> bool:
        """Whether the worker said more than the reason has."""
        return len(self.said.strip().splitlines()) > 1 or len(self.said) > LONGEST


def judge(logs: Sequence[EventLog], ending: Ending, folder: Path) -> Verdict:
    """The verdict on a group: that of the rank that ended it, or of the first that is not done."""
    order = sorted(range(len(logs)), key=lambda rank: (rank != ending.failed, rank))
    verdicts = [_judge_rank(rank, logs[rank], ending, folder) for rank in order]
    found = next((verdict for verdict in verdicts if verdict.outcome != DONE), Verdict(outcome=DONE))
    if len(logs) == 1 or found.outcome == DONE:
        return found
    late = [v.rank for v in verdicts if v.outcome == found.outcome] if ending.timed_out else [found.rank]
    names = f"rank{'s' if len(late) > 1 else ''} {', '.join(map(str, late))}"
    return Verdict(outcome=found.outcome, reason=f"{names}: {found.reason}", said=found.said, rank=found.rank)


def broken(why: str) -> Verdict:
    """The verdict on a worker that said `done` without what its task needs."""
    return Verdict(outcome=FAILED, reason=f"{BROKEN}: {why}")


def disturbances(ending: Ending) -> list[str]:
    """Flags for what else the machine did meanwhile."""
    shares = (("foreign load", ending.foreign_share, FOREIGN), ("stolen time", ending.stolen_share, STOLEN))
    return [flag for flag, share, limit in shares if share is not None and share > limit]


def one_line(text: str) -> str:
    """The first line of a message: a stack trace that follows it belongs into the log."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0][:LONGEST] if lines else "no reason given"


def tail(path: Path) -> str:
    """The last lines of a log without stack traces, in one line."""
    if not path.exists():
        return ""
    lines = [line.strip() for line in path.read_text(errors="replace").splitlines()]
    lines = [line for line in lines if line and not line.startswith(STACK)]
    return " | ".join(lines[-3:])[-LONGEST:]


def _judge_rank(rank: int, log: EventLog, ending: Ending, folder: Path) -> Verdict:
    if log.complaint:
        return Verdict(outcome=FAILED, reason=f"{BROKEN}: {log.complaint}", rank=rank)
    if log.last is None:
        outcome, reason = _silence(ending, rank, tail(rank_folder(folder, rank) / "stderr.log"))
        return Verdict(outcome=outcome, reason=reason, rank=rank)
    if isinstance(log.last, Done):
        return Verdict(outcome=DONE, rank=rank)
    said = _reason(log.last)
    return Verdict(outcome=OUTCOME_OF[type(log.last)], reason=one_line(said), said=said, rank=rank)


def _reason(word: LastWord) -> str:
    return "" if isinstance(word, Done) else word.reason


def _silence(ending: Ending, rank: int, last_lines: str) -> tuple[str, str]:
    """The outcome of a rank that ended without a last word."""
    if ending.timed_out:
        return "timed out", "no last word before the deadline"
    said = f": {last_lines}" if last_lines else ""
    code = ending.exit_codes[rank]
    if code == -signal.SIGKILL and ending.out_of_memory_kills:
        return OUT_OF_MEMORY, "killed by the kernel for want of host memory"
    if code < 0:
        return "crashed", f"ended by {signal.Signals(-code).name}{said}"
    return "crashed", f"exit code {code} without a last word{said}"
