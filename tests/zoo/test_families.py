"""Are the networks that are no classifiers of images what their sources say: inputs, updates, options, units?"""

import pytest

from netdyno.errors import NetdynoError
from netdyno.graph.check import ancestors
from netdyno.graph.model import Programme
from netdyno.zoo.catalog import find_entry, resolve
from netdyno.zoo.entry import RECURRENT, TRANSFORMER
from netdyno.zoo.options import Option


def _resolved(network: str, dataset: str | None = None, batch: int = 2, **options: Option) -> Programme:
    return resolve(find_entry(network, dataset), batch, options)


@pytest.mark.parametrize(
    ("network", "options", "complaint"),
    [
        ("ffn", {"hidden": 0}, "network 'ffn', hidden: expected a whole number over 0, received 0."),
        (
            "autoencoder",
            {"hidden": -3},
            "network 'autoencoder', hidden: expected a whole number over 0, received -3.",
        ),
        ("dcgan", {"width": 0.0}, "network 'dcgan', width: expected a number over 0, received 0.0."),
        ("lstm", {"steps": 0}, "network 'lstm', steps: expected a whole number over 0, received 0."),
        ("rbm", {"k": 0}, "network 'rbm', k: expected a whole number over 0, received 0."),
        ("gpt2", {"steps": 1025}, "network 'gpt2', steps: expected at most 1024 (its context), received 1025."),
        (
            "bert-base",
            {"steps": 600},
            "network 'bert-base', steps: expected at most 512 (its context), received 600.",
        ),
        ("dbn", {"stage": 5}, "network 'dbn', stage: expected at most 4, received 5."),
        ("dbn", {"start": "warm"}, "no start of dbn named 'warm' among the 2 known. Known: drawn, pretrained."),
        ("recursive", {"leaves": 1}, "network 'recursive', leaves: expected 2 or more, received 1."),
        ("vit-b16", {"heads": 7}, "attention: expected a width that 7 heads divide, received 768."),
        ("lstm", {"layers": 3}, "no option of lstm named 'layers' among the 3 known. Known: hidden, steps, words."),
    ],
)
def test_an_option_that_cannot_be_is_refused_in_one_line(
    network: str, options: dict[str, Option], complaint: str
) -> None:
    with pytest.raises(NetdynoError) as caught:
        _resolved(network, **options)
    assert str(caught.value) == complaint


@pytest.mark.parametrize("network", ["rnn", "lstm", "gru"])
def test_a_text_is_read_but_for_its_last_word_and_said_but_for_its_first(network: str) -> None:
    graph = _resolved(network, steps=7, words=50).graph
    assert [(given.name, given.shape, given.draw.high) for given in graph.inputs] == [("tokens", (2, 8), 50.0)]
    slices = {
        node.name: (node.attributes["start"], node.attributes["stop"]) for node in graph.nodes if node.op == "slice"
    }
    assert slices == {"next": (1, 8), "read": (0, 7)}
    assert graph.shapes()[graph.outputs[0]] == (14, 50)


def test_items_of_a_text_are_its_tokens() -> None:
    assert {
        network: find_entry(network).units_per_row({}) for network in ("lstm", "gpt2", "bert-base", "vit-b16")
    } == {
        "lstm": 32,
        "gpt2": 1024,
        "bert-base": 128,
        "vit-b16": 1,
    }
    assert find_entry("gpt2").units_per_row({"steps": 64}) == 64
    assert {find_entry(network).family for network in ("rnn", "lstm", "gru")} == {RECURRENT}
    assert find_entry("gpt2").family == TRANSFORMER


def test_gpt2_says_words_with_the_table_that_it_reads_them_with() -> None:
    graph = _resolved("gpt2", steps=8).graph
    users = {node.op for node in graph.nodes if "words.weight" in node.inputs}
    assert users == {"gather", "linear"}
    assert [node.attributes["causal"] for node in graph.nodes if node.op == "attention"] == [True] * 12


def test_a_pair_learns_in_two_updates_over_parameters_of_its_own() -> None:
    for network, dataset in (("gan", "mnist"), ("dcgan", "mnist"), ("dcgan", "faces64")):
        programme = _resolved(network, dataset)
        discriminator, generator = programme.updates()
        assert (discriminator.name, generator.name) == ("discriminator", "generator")
        assert {name.split(".")[0] for name in discriminator.parameters} == {"discriminator"}
        assert {name.split(".")[0] for name in generator.parameters} == {"generator"}
        trainable = {p.name for p in programme.graph.parameters if p.trainable}
        assert {*discriminator.parameters, *generator.parameters} == trainable


def test_contrastive_divergence_takes_what_the_machine_made_as_it_is() -> None:
    graph = _resolved("rbm", k=3).graph
    assert sum(node.op == "bernoulli" for node in graph.nodes) == 3
    assert {"made", "images", "machine.weight"} <= ancestors(graph, "loss")
    (made,) = (node for node in graph.nodes if node.name == "made")
    assert made.op == "stop_gradient"


def test_a_tree_of_any_form_has_one_set_of_weights() -> None:
    graph = _resolved("recursive", leaves=5).graph
    joins = [node for node in graph.nodes if "join.in.weight" in node.inputs]
    assert len(joins) == 4
    assert [given.shape for given in graph.inputs if given.name in ("digits", "left", "operations")] == [
        (2, 5),
        (2, 4),
        (2, 4),
    ]


def test_a_belief_network_teaches_one_machine_after_the_other_and_tunes_them_together() -> None:
    for stage in (1, 2, 3):
        (update,) = _resolved("dbn", stage=stage, hidden=30, top=40).updates()
        assert {name.split(".")[0] for name in update.parameters} == {f"layer{stage}"}
    (update,) = _resolved("dbn", hidden=30, top=40).updates()
    assert {name.split(".")[0] for name in update.parameters} == {"layer1", "layer2", "layer3", "classes"}


def test_a_belief_network_begins_with_the_stages_before_it_unless_it_is_drawn() -> None:
    entry = find_entry("dbn")
    assert [options["stage"] for options in entry.earlier(entry.options)] == [1, 2, 3]
    assert not entry.earlier({**entry.options, "start": "drawn"})
    assert [options["stage"] for options in entry.earlier({**entry.options, "stage": 2})] == [1]
    shared = {p.name: p.shape for p in _resolved("dbn").graph.parameters}
    for options in entry.earlier(entry.options):
        own = {p.name: p.shape for p in resolve(entry, 2, options).graph.parameters}
        assert {
            name: shape for name, shape in own.items() if not name.endswith("visible_bias")
        }.items() <= shared.items()
