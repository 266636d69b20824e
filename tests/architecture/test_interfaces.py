"""What scripts rely on. A change here needs a line in the CHANGELOG."""

import typer

from netdyno import __version__ as version
from netdyno.cli.main import app
from netdyno.zoo.catalog import entries

FLAGS = {
    "run": {
        "--network", "--dataset", "--framework", "--batch", "--precision", "--execution", "--threads", "--cpu",
        "--gpus", "--runs", "--seconds", "--target", "--deadline", "--seed", "--python", "--again", "--retry",
        "--dry-run", "--split", "--data", "--workload", "--set",
    },
    "train": {
        "--network", "--dataset", "--framework", "--source", "--epochs", "--steps", "--until", "--seeds",
        "--evaluate-every", "--batch", "--precision", "--execution", "--threads", "--cpu", "--gpus",
        "--price-per-hour", "--deadline", "--python", "--again", "--json", "--set",
    },
    "networks": {"--dataset", "--set", "--batch", "--nodes", "--json"},
    "frameworks": {"--json"},
    "frameworks install": {"--jobs"},
    "frameworks remove": set(),
    "frameworks check": {"--python", "--json"},
    "datasets": {"--json"},
    "datasets get": {"--from", "--to", "--size", "--count"},
    "datasets convert": {"--to", "--out", "--size", "--split", "--count"},
    "verify": {
        "--framework", "--network", "--dataset", "--precision", "--execution", "--batch", "--full-size", "--small",
        "--explain", "--cpu", "--gpus", "--python", "--all", "--json",
    },
    "results": set(),
    "results show": {"--every-series", "--json"},  # also without the word
    "results export": {"--format", "--output", "--every-series"},
    "results import": set(),
    "results delete": {"--dry-run"},
    "compare": {"--figure", "--margin", "--fail-on-slower", "--format", "--json"},
    "history": {"--figure", "--json"},
    "report": {"--output", "--reference", "--charts", "--format"},
    "doctor": {"--json"},
}  # fmt: skip


def test_the_flags_of_every_command_are_as_frozen():
    root = typer.main.get_command(app)
    assert {option for parameter in root.params for option in parameter.opts} == {"--store", "--version"}
    assert dict(_flags(root)) == FLAGS


def test_networks_json_has_its_fields_and_the_published_counts(netdyno):
    networks = netdyno.json("networks")
    fields = ["network", "dataset", "parameters", "macs", "source", "item", "family", "options"]
    assert all(list(entry) == fields for entry in networks)
    known = {entry["network"]: (entry["item"], entry["family"], entry["options"]) for entry in networks}
    assert known["lenet"] == ("image", "cnn", {})
    assert known["fcn5-small"] == ("sample", "mlp", {"hidden": 2048})
    assert known["gpt2"][:2] == ("token", "transformer")
    counts = {(entry["network"], entry["dataset"]): entry["parameters"] for entry in networks}
    assert counts["lenet", "mnist"] == 61_706
    assert counts["alexnet", "imagenet"] == 60_965_224
    assert counts["alexnet-owt", "imagenet"] == 61_100_840
    assert counts["vgg16", "imagenet"] == 138_357_544
    assert counts["resnet50", "imagenet"] == 25_557_032
    assert counts["googlenet", "imagenet"] == 6_998_552
    assert counts["googlenet-bn", "imagenet"] == 6_624_904
    assert counts["resnet152", "imagenet"] == 60_192_808
    assert counts["inception-v3", "imagenet"] == 23_834_568
    assert counts["unet", "tiles572"] == 31_030_658
    assert counts["gpt2", "text"] == 124_439_808
    assert counts["vit-b16", "imagenet"] == 86_567_656
    assert counts["vae", "mnist"] == 652_824
    assert len(counts) == len(entries())


def test_results_json_has_its_fields(netdyno):
    netdyno("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")
    (result,) = netdyno.json("results")
    assert list(result) == [
        "workload", "network", "options", "dataset", "goal", "source", "framework", "batch", "precision",
        "execution", "data", "device", "threads", "ranks", "nodes", "strategy", "synchrony", "outcome", "verdict",
        "runs", "headline", "figures", "step_s", "host_peak_bytes", "device_peak_bytes", "readings", "absent",
        "utilisation",
    ]  # fmt: skip
    assert all(list(figure) == ["value", "low", "high", "unit", "better"] for figure in result["figures"].values())
    headline = result["figures"][result["headline"]]
    assert headline["value"] > 0
    assert (headline["low"], headline["high"]) == (None, None)  # one run has no interval
    assert (headline["unit"], headline["better"]) == ("images/s", "more")


def test_verify_json_has_its_fields(netdyno):
    exact, proof = netdyno.json("verify", "--framework", "reference", "--network", "lenet")
    assert list(proof) == [
        "framework", "network", "dataset", "device", "precision", "execution", "passed", "outputs", "gradients",
        "parameters", "worst_node", "versions", "size", "batch", "resolution", "worst",
    ]  # fmt: skip
    assert proof["passed"] is True
    assert (exact["precision"], proof["precision"]) == ("float64", "float32")
    assert exact["gradients"] < 1e-15
    assert proof["size"] == "28×28"


def test_the_version_is_printed_without_a_command(netdyno):
    done = netdyno("--version")
    assert (done.returncode, done.stdout) == (0, f"netdyno {version}\n")
    assert netdyno("--store", "x.sqlite").returncode == 2


def test_store_and_home_are_taken_from_the_environment(netdyno, tmp_path):
    netdyno.environment["NETDYNO_STORE"] = str(tmp_path / "elsewhere.sqlite")
    netdyno("run", "--framework", "null", "--network", "lenet", "--runs", "1", "--seconds", "0.1")
    assert (tmp_path / "elsewhere.sqlite").exists()
    assert (netdyno.home / "runs").is_dir()
    assert not (netdyno.home / "results.sqlite").exists()


def _flags(root):
    for name in root.list_commands(None):
        command = root.get_command(None, name)
        yield name, _options(command)
        for sub, subcommand in getattr(command, "commands", {}).items():
            yield f"{name} {sub}", _options(subcommand)


def _options(command):
    return {
        option
        for p in command.params
        for option in (*p.opts, *p.secondary_opts)
        if option.startswith("--") and option != "--help"
    }
