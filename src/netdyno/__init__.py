"""netdyno: a dynamometer for neural networks. This page is the whole public API.

>>> import netdyno
>>> def mine(net, images):
...     x = net.relu(net.convolution(images, 32, 3, pad=1))
...     return net.classifier(net.global_mean_pool(x))
>>> netdyno.network(mine, dataset="cifar10").parameters
1226
>>> for result in netdyno.run(network=mine, dataset="cifar10"):  # doctest: +SKIP
...     print(result.head.value, result.head.unit, result.verdict)
9025.1 images/s steady
"""

from typing import TYPE_CHECKING, Any

from netdyno.version import __version__

if TYPE_CHECKING:
    from netdyno.bench.networks import Network
    from netdyno.results.compare.pairs import Compared
    from netdyno.results.proof import Proof
    from netdyno.results.record import Record
    from netdyno.results.result import Result
    from netdyno.runtime.observer import Observer
    from netdyno.zoo.entry import Recipe

__all__ = ("__version__", "compare", "network", "results", "run", "verify")


def network(
    network: "str | Recipe", *, dataset: str | None = None, batch: int | None = None, **options: Any
) -> "Network":
    """Resolve a network: of the zoo, path/to/file.py:function, or a function (net, items, *, options)."""
    from netdyno import library

    return library.find_network(network, dataset, batch, options)


def run(
    suite: str | None = None,
    *,
    network: "str | Recipe | None" = None,
    store: str | None = None,
    again: bool = False,
    observer: "Observer[Record] | None" = None,
    **fields: Any,
) -> "list[Result]":
    """Measure a suite, or one cell: `run(network="lenet", batch=64, runs=3, seconds=10)`.

    `fields` are those of a cell (dataset, options, framework, batch, precision, execution, data, device, threads,
    workload) and of its measuring (runs, seconds, target, deadline_s, seed, split). Finished runs are not repeated
    unless `again`. Results are stored as the command stores them.
    """
    from netdyno import library

    return library.run(suite, network, fields, library.Running(store=store, again=again, observer=observer))


def verify(network: "str | Recipe", *, framework: str, store: str | None = None, **fields: Any) -> "Proof":
    """Prove that a framework trains this network. `fields`: dataset, precision, execution, device, batch."""
    from netdyno import library

    return library.verify(network, framework, store, fields)


def results(selector: str = "", *, store: str | None = None) -> "list[Result]":
    """The newest results, all or those that match `network=lenet,batch=64`; figures by name in each."""
    from netdyno import library

    return library.results(selector, store)


def compare(a: str, b: str, *, figure: str = "", store: str | None = None) -> "list[Compared]":
    """Compare two selectors or files by a figure, the headline if none is named; verdicts hold for all together."""
    from netdyno import library

    return library.compare(a, b, figure, store)
