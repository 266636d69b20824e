"""Which cases are held against bare loops, and how a case is written:

FRAMEWORK:NETWORK/DATASET:BATCH:PRECISION:EXECUTION
FRAMEWORK:NETWORK/DATASET{OPTION=VALUE,…}:BATCH:PRECISION:EXECUTION
"""

import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from netdyno.bench.cells import Bench
from netdyno.frameworks.environments import locate
from netdyno.frameworks.spec import Spec, specs
from netdyno.results.cell import Cell

HERE = Path(__file__).parent
NETWORKS = ("lenet/mnist:64", "alexnet/cifar10:128", "googlenet/imagenet:8", "resnet50/cifar10:16")
MANNERS = (("pytorch-2", "eager"), ("pytorch-2", "compiled"), ("jax", "compiled"))
SMALL_NETWORKS = ("lenet/mnist:64", "alexnet/cifar10:128")  # these every bare script has
FAMILIES = ("lstm/text:32", "rbm/mnist:100", "vae/mnist:128")  # these PyTorch, JAX and TensorFlow 2 have
FAMILY_MANNERS = (*MANNERS, ("tensorflow-2", "eager"), ("tensorflow-2", "compiled"))
FORM = re.compile(
    r"(?P<framework>[^:]+):(?P<network>[^:{]+)(?:\{(?P<options>[^}]*)\})?"
    r":(?P<batch>\d+):(?P<precision>[^:]+):(?P<execution>[^:]+)"
)


def chosen_cells(options: Namespace) -> list[Cell]:
    """The cases that were named, or else a list of them."""
    lists = {"default": default_cases, "every framework": every_framework, "families": families}
    return [read_case(case, options) for case in options.cases or lists[options.list]()]


def read_case(text: str, options: Namespace) -> Cell:
    found = FORM.fullmatch(text)
    if not found:
        raise SystemExit(f"expected FRAMEWORK:NETWORK/DATASET:BATCH:PRECISION:EXECUTION, received {text!r}")
    named = found.groupdict()
    bench = Bench(threads=options.threads, folder=Path.cwd(), framework=named["framework"])
    own = named["options"].split(",") if named["options"] else []
    return bench.complete({**named, "options": own, "batch": int(named["batch"]), "device": options.device})


def case_of(cell: Cell) -> str:
    """The text that read_case() makes this cell of."""
    own = ",".join(f"{name}={value}" for name, value in cell.options)
    network = f"{cell.network}/{cell.dataset}" + (f"{{{own}}}" if own else "")
    return f"{cell.framework}:{network}:{cell.batch}:{cell.precision}:{cell.execution}"


def bare_script(spec: Spec) -> Path:
    """The hand-written loop for what an adapter serves."""
    return HERE / f"bare_{spec.adapter}.py"


def default_cases() -> list[str]:
    return _crossed(MANNERS, NETWORKS)


def families() -> list[str]:
    """Networks of other kinds than layers of images, in the frameworks whose bare scripts have them."""
    return _crossed(FAMILY_MANNERS, FAMILIES)


def every_framework() -> list[str]:
    """Each framework on this machine in each of its executions, on the networks that every bare script has."""
    here = [spec for spec in specs().values() if bare_script(spec).exists() and locate(spec, {})]
    return _crossed([(spec.name, way) for spec in here for way in spec.executions], SMALL_NETWORKS)


def _crossed(manners: Sequence[tuple[str, str]], networks: Sequence[str]) -> list[str]:
    return [f"{framework}:{network}:float32:{execution}" for framework, execution in manners for network in networks]
