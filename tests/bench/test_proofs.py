"""Which networks a verification proves, and in which groups."""

from pathlib import Path

from netdyno.bench.cells import Bench
from netdyno.bench.proofs import Size, groups_that_fit, networks_to_prove
from netdyno.workloads.references import MOST_BYTES
from netdyno.zoo.catalog import entries
from netdyno.zoo.entry import INSTRUMENT

BENCH = Bench(threads=1, folder=Path(), framework="reference")


def test_the_whole_zoo_is_proved_but_for_instruments():
    proved = networks_to_prove([], None, BENCH)
    assert proved == [entry for entry in entries() if entry.family != INSTRUMENT]
    assert {"lenet", "lstm", "gpt2", "rbm", "recursive"} <= {entry.network for entry in proved}


def test_references_of_a_group_fit_together_and_no_network_is_lost():
    networks = networks_to_prove([], None, BENCH)
    groups = groups_that_fit(networks, Size(full=True))
    assert [entry for group in groups for entry in group] == networks
    assert len(groups) > 1
    assert all(16 * sum(entry.parameters for entry in group) <= MOST_BYTES for group in groups)


def test_small_forms_are_one_group():
    assert len(groups_that_fit(networks_to_prove([], None, BENCH), Size(full=False))) == 1
