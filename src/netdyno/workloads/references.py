"""Where the oracle's arrays are kept, and what rounding makes of them: once for a network, for every proof of it."""

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

import msgspec

from netdyno.graph.lower import lowered
from netdyno.graph.model import Programme
from netdyno.graph.wire import to_wire
from netdyno.protocol.request import SEED
from netdyno.runtime.folders import write_atomically
from netdyno.runtime.worker_file import source_files
from netdyno.workloads.judgement import Tensors, finite

SIZES = "sizes"  # of the tensors, kept beside the arrays
MOST_BYTES = 8 * 1024**3  # the oldest go when there is more
# Files and folders of the worker that decide the oracle's numbers; adapters of frameworks do not.
DECIDING = {"oracle", "reference", "prove", "weights", "draws", "batches", "program"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofCase:
    """Outputs, gradients and `steps` updates of a batch: the oracle writes `arrays`, others are compared with it."""

    name: str
    programme: Programme
    arrays: Path
    identity: str = ""  # of the network that is proved, whatever the batch
    size: str = ""  # of the items in the proof
    steps: int = 2

    def kept(self, what: str) -> Path:
        """The file beside the arrays that has tensors' sizes, or their noise in a precision."""
        return self.arrays.with_suffix(f".{what}.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """A folder of arrays, each named by the hash of what it was computed from."""

    folder: Path

    def case(self, name: str, programme: Programme) -> ProofCase:
        """The network as a case to prove, with the file where its reference is or will be."""
        self.folder.mkdir(parents=True, exist_ok=True)
        case = ProofCase(name=name, programme=programme, arrays=self.folder)
        asked = json.dumps([to_wire(lowered(programme, frozenset())), case.steps, SEED], sort_keys=True)
        digest = hashlib.sha256((asked + _sources_digest()).encode()).hexdigest()[:20]
        return ProofCase(name=name, programme=programme, arrays=self.folder / f"{digest}.npz")

    def missing(self, cases: list[ProofCase], what: str) -> list[ProofCase]:
        """Those without arrays and what is kept beside them; the others are marked as used just now."""
        for case in cases:
            if case.arrays.exists():
                os.utime(case.arrays)
        return [case for case in cases if not (case.arrays.exists() and case.kept(what).exists())]

    def prune(self) -> None:
        """Delete what was not used for longest, until the rest is small enough."""
        kept_bytes = 0
        for path in sorted(self.folder.glob("*.npz"), key=lambda path: path.stat().st_mtime, reverse=True):
            kept_bytes += path.stat().st_size
            if kept_bytes > MOST_BYTES:
                for beside in self.folder.glob(f"{path.stem}.*"):
                    beside.unlink(missing_ok=True)


def keep_tensors(path: Path, tensors: Tensors) -> None:
    write_atomically(path, msgspec.json.encode(tensors).decode())


def kept_tensors(path: Path) -> Tensors:
    return finite(msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, float | None]]))


def _sources_digest() -> str:
    digest = hashlib.sha256()
    for name, data in source_files().items():
        if DECIDING.intersection(Path(name).with_suffix("").parts):
            digest.update(data)
    return digest.hexdigest()
