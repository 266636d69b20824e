"""`netdyno train`: a tiny set is learned from the command line, over seeds, and not learned twice."""

import json

import pytest
from tests.data.tiny_mnist import pack

from netdyno.results.store import open_store


@pytest.fixture
def tiny_mnist(netdyno):
    pack(netdyno.home)
    return netdyno


LEARN = ("train", "--framework", "reference", "--batch", "16", "--steps", "3", "--evaluate-every", "2")


def test_every_seed_has_its_curve_and_is_not_trained_twice(tiny_mnist):
    done = tiny_mnist(*LEARN, "--seeds", "2", "--price-per-hour", "3600", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    assert (result["source"], result["goal"], result["data"]) == ("mnist", "steps=3", "packed")
    assert [[point["step"] for point in seed["curve"]] for seed in result["seeds"]] == [[2, 3], [2, 3]]
    accuracy = result["figures"]["accuracy"]
    assert accuracy["low"] <= accuracy["value"] <= accuracy["high"]
    assert result["cost"]["value"] == pytest.approx(result["figures"]["wall_time"]["value"])
    losses = [seed["curve"][-1]["loss"] for seed in result["seeds"]]
    assert losses[0] != losses[1]  # other weights, another order
    again = tiny_mnist(*LEARN, "--seeds", "2", "--json")
    assert json.loads(again.stdout)[0]["seeds"] == result["seeds"]
    assert "seed" not in again.stderr


def test_other_data_starts_a_new_series(tiny_mnist):
    arguments = (*LEARN, "--seeds", "1", "--json")
    curve = json.loads(tiny_mnist(*arguments).stdout)[0]["seeds"][0]["curve"]
    pack(tiny_mnist.home, first=1)
    other = json.loads(tiny_mnist(*arguments).stdout)[0]["seeds"][0]["curve"]
    assert other != curve
    first, second = _runs(tiny_mnist)[1, 1], _runs(tiny_mnist)[2, 1]
    assert {"train data", "test data"} <= set(first.basis)
    assert first.basis != second.basis
    assert json.loads(tiny_mnist(*arguments).stdout)[0]["seeds"][0]["curve"] == other


def test_an_accuracy_that_is_not_reached_is_named_and_ends_with_1(tiny_mnist):
    done = tiny_mnist(*LEARN, "--seeds", "1", "--until", "accuracy=1.0")
    assert done.returncode == 1
    assert "accuracy=1 within steps=3" in done.stdout
    assert "short of its goal" in done.stdout


def test_an_accuracy_that_is_reached_ends_a_training_early(tiny_mnist):
    done = tiny_mnist(*LEARN, "--seeds", "1", "--until", "accuracy=0.0001", "--json")
    assert done.returncode == 0, done.stderr
    (seed,) = json.loads(done.stdout)[0]["seeds"]
    assert [point["step"] for point in seed["curve"]] == [2]


SCRIPTED = ("train", "--framework", "scripted", "--batch", "16", "--steps", "3", "--seeds", "3", "--json")


def _fail(netdyno, *seeds, how="raise"):
    netdyno.environment["NETDYNO_SEEDS"] = json.dumps(dict.fromkeys(map(str, seeds), how))


def _runs(netdyno):
    with open_store(str(netdyno.home / "results.sqlite")) as store:
        return {(run.series, run.number): run for run in store.records()}


@pytest.mark.parametrize("failed", [1, 2, 3])
def test_only_the_seed_that_failed_is_repeated(tiny_mnist, failed):
    _fail(tiny_mnist, failed)
    first = tiny_mnist(*SCRIPTED)
    assert first.returncode == 1, first.stderr
    before = _runs(tiny_mnist)
    assert [run.number for run in before.values() if run.outcome == "failed"] == [failed]
    _fail(tiny_mnist)
    again = tiny_mnist(*SCRIPTED)
    assert again.returncode == 0, again.stderr
    (result,) = json.loads(again.stdout)
    assert (result["runs"], result["outcome"]) == (3, "measured")
    assert [seed["outcome"] for seed in result["seeds"]] == ["measured"] * 3
    kept = {run.id for run in before.values()}
    made = [run for run in _runs(tiny_mnist).values() if run.id not in kept]
    assert [run.number for run in made] == [failed]
    assert len(_runs(tiny_mnist)) == 4  # the failed one is kept, in a series of its own


def test_a_repetition_that_was_cut_off_repeats_no_more_than_the_seed_that_failed(tiny_mnist):
    _fail(tiny_mnist, 3)
    tiny_mnist(*SCRIPTED)
    before = {run.id for run in _runs(tiny_mnist).values()}
    with open_store(str(tiny_mnist.home / "results.sqlite")) as store:  # as it is just before seed 3 is repeated
        store.leave_behind([run for run in store.records() if run.outcome == "failed"])
    _fail(tiny_mnist)
    again = tiny_mnist(*SCRIPTED)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)[0]["runs"] == 3
    assert [run.number for run in _runs(tiny_mnist).values() if run.id not in before] == [3]


def test_again_repeats_every_seed_even_where_one_failed(tiny_mnist):
    _fail(tiny_mnist, 2)
    tiny_mnist(*SCRIPTED)
    _fail(tiny_mnist)
    assert tiny_mnist(*SCRIPTED, "--again").returncode == 0
    assert sorted(_runs(tiny_mnist)) == [(series, number) for series in (1, 2) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--until", "loss=1"), "expected accuracy=X"),
        (("--until", "accuracy=2"), "expected accuracy=X"),
        (("--epochs", "1"), "expected --epochs or --steps, received both"),
        (("--seeds", "0"), "--seeds: expected a whole number over 0, at most 2,147,483,647, received 0"),
        (("--source", "cifar10"), "cifar10 has no train split here"),
        (("--source", "mnits"), "mnist"),
        (("--batch", "65"), "expected at least a batch of 65 items, received 64"),
    ],
)
def test_a_mistake_is_one_line(tiny_mnist, flags, words):
    done = tiny_mnist(*LEARN, *flags)
    assert done.returncode in (1, 2)
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


def test_a_text_of_the_user_is_learnt_and_kept_beside_what_needs_no_network(netdyno, tmp_path):
    text = tmp_path / "own.txt"
    text.write_text("a rose is a rose is a rose, and so is every other rose. " * 40)
    done = netdyno(
        "train", "--framework", "reference", "--network", "lstm", "--dataset", f"text:{text}", "--batch", "4",
        "--set", "words=20", "--set", "hidden=6", "--set", "steps=5", "--steps", "3", "--seeds", "1", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    assert (result["dataset"], result["source"]) == ("text", f"text:{text}")
    assert "accuracy" not in result["figures"]
    (point,) = result["seeds"][0]["curve"]
    assert result["figures"]["loss"]["value"] == point["loss"] == pytest.approx(3.0, abs=0.2)  # ln 20
    (run,) = _runs(netdyno).values()
    assert 0 < run.basis["simple bigram"] < run.basis["simple unigram"] < 3.0
    assert result["simple"] == {name: run.basis[f"simple {name}"] for name in ("unigram", "bigram")}


def test_a_network_of_words_asks_for_a_text(netdyno):
    done = netdyno("train", "--framework", "reference", "--network", "lstm", "--steps", "1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "lstm: expected a text to read, received 'text'. Use --dataset text:PATH, or bytes:PATH." in done.stderr


def test_a_network_that_classifies_nothing_tells_what_it_returns(tiny_mnist):
    done = tiny_mnist(*LEARN, "--network", "rbm", "--set", "hidden=9", "--seeds", "1", "--json")
    assert done.returncode == 0, done.stderr
    (result,) = json.loads(done.stdout)
    assert {"loss", "reconstruction_error"} <= set(result["figures"])
    curve = result["seeds"][0]["curve"]
    assert [set(point["scores"]) for point in curve] == [{"reconstruction_error"}] * 2
    assert (
        "reconstruction error" in tiny_mnist(*LEARN, "--network", "rbm", "--set", "hidden=9", "--seeds", "1").stdout
    )
