"""The figures of 2018: all there, called as we call them, and saying what the thesis says of them."""

import re
from xml.etree import ElementTree

import pytest

from netdyno.frameworks.spec import specs
from netdyno.report.charts import Bar, render_svg
from netdyno.report.charts.palette import family, look
from netdyno.report.published.appendix import appendix_charts, appendix_latex, escaped
from netdyno.report.published.thesis import cases, caveats, published_figures, reference_bars, reference_charts
from netdyno.zoo.catalog import find_entry


def _values(metric, dataset, network):
    """Value by hardware, then by framework."""
    found = {}
    for figure in published_figures():
        if (figure.metric, figure.dataset, figure.network) == (metric, dataset, network) and figure.value is not None:
            found.setdefault(figure.hardware, {})[figure.framework] = figure.value
    return found


def _leader(values):
    return max(values, key=values.__getitem__)


def test_googlenet_on_cifar10_is_led_by_the_framework_that_section_5_3_3_names():
    """Section 5.3.3, figure 5.3.3.a: MXNet is best on every machine, and gains 24.7 times by one K20m."""
    values = _values("speed", "cifar10", "googlenet")
    assert len(values) == 5
    assert {_leader(by_framework) for by_framework in values.values()} == {"MXNet"}
    gain = values["1x Tesla K20m"]["MXNet"] / values["Intel E5-2620 v2 (12 cores)"]["MXNet"]
    assert gain == pytest.approx(24.7, abs=0.05)


def test_lenet_is_led_by_two_groups_as_section_5_2_says():
    """Section 5.2, figure 5.2.a: Caffe and MXNet surpass the others on GPUs, PyTorch and CNTK on the processor."""
    for hardware, values in _values("speed", "mnist", "lenet").items():
        first_two = set(sorted(values, key=values.__getitem__)[-2:])
        assert first_two == ({"Caffe", "MXNet"} if "Tesla" in hardware else {"PyTorch", "CNTK"}), hardware


def test_two_p100_are_used_best_by_the_framework_that_section_5_3_2_names():
    """Section 5.3.2, figure 5.3.2.a: CNTK overwhelms the others with two P100 on CIFAR10 and ResNet50."""
    assert _leader(_values("speed", "cifar10", "resnet50")["2x Tesla P100"]) == "CNTK"


def test_lenets_memory_is_largest_where_section_5_2_says():
    """Section 5.2, figure 5.2.b: TensorFlow is clearly the most expensive."""
    gpus = [v for hardware, v in _values("memory", "mnist", "lenet").items() if "Tesla" in hardware]
    assert len(gpus) == 4
    for values in gpus:
        others = [value for framework, value in values.items() if framework != "TensorFlow"]
        assert values["TensorFlow"] > 5 * max(others)


def test_all_figures_are_there_and_called_as_our_zoo_calls_them():
    figures = published_figures()
    assert len(figures) == 675
    assert len(cases()) == 9
    for dataset, network in cases():
        entry = find_entry(network, dataset)
        assert entry.batch == next(f.batch for f in figures if (f.dataset, f.network) == (dataset, network))


def test_every_framework_of_then_belongs_to_a_family_we_know():
    known = {family(name) for name, spec in specs().items() if spec.era == "2018"}
    assert {figure.family for figure in published_figures()} <= known
    assert {bar.name for bar in reference_bars("speed", "mnist", "lenet")} == {
        "Caffe 1.0", "TensorFlow 1.9", "PyTorch 0.4.0", "MXNet 1.2.0", "CNTK 2.5.1",
    }  # fmt: skip
    assert all(look(bar.framework).era == "2018" for bar in reference_bars("speed", "mnist", "lenet"))


def test_what_a_framework_lacked_is_said_once_and_a_processor_has_no_gpu_memory():
    bars = reference_bars("memory", "cifar10", "googlenet")
    assert [bar.name for bar in bars if bar.value is None] == ["TensorFlow 1.9", "PyTorch 0.4.0"]
    assert not any("Intel" in bar.group for bar in bars)
    assert any("Intel" in bar.group for bar in reference_bars("speed", "cifar10", "googlenet"))


def test_todays_bars_stand_over_those_of_2018():
    today = {"speed": [Bar(group="today: H200", framework="pytorch-2", value=100_000.0)]}
    speed, memory, power = reference_charts("mnist", "lenet", today)
    texts = [
        t.text for t in ElementTree.fromstring(render_svg(speed, width=460)).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert texts.index("today: H200") < texts.index("2018: 1 × Tesla K20m, batch 64")
    assert "today" not in render_svg(memory, width=460) + render_svg(power, width=460)


def test_a_case_that_was_not_published_has_no_charts():
    assert reference_charts("vectors26752", "fcn5") == []


def test_the_caveats_name_versions_machines_batches_and_how_it_was_measured():
    text = " ".join(caveats())
    for word in ("PyTorch 0.4.0", "K20m", "P100", "batches", "8 images", "nvidia-smi", "once a second", "Piccione"):
        assert word in text


def test_the_appendix_has_a_table_for_each_of_27_and_every_figure():
    latex = appendix_latex()
    assert latex.count(r"\begin{table}") == latex.count(r"\end{table}") == 27
    assert latex.count(r"\toprule") == latex.count(r"\bottomrule") == 27
    rows = [line for line in latex.splitlines() if line.endswith(r"\\") and "Framework &" not in line]
    cells = [cell.strip() for row in rows for cell in row.removesuffix(r"\\").split("&")[1:]]
    assert len(cells) == 675
    printed = [None if cell == "--" else float(cell.replace(r"\,", "")) for cell in cells]
    assert sorted(v for v in printed if v is not None) == sorted(
        figure.value for figure in published_figures() if figure.value is not None
    )


def test_a_row_of_the_appendix_is_as_the_thesis_prints_it():
    assert r"    Caffe 1.0 & 572 & 19\,807 & 42\,588 & 22\,734 & 46\,110 \\" in appendix_latex()


def test_the_caveats_come_once_before_the_tables():
    latex = appendix_latex()
    assert latex.count("nvidia-smi") == 1
    assert latex.index("nvidia-smi") < latex.index(r"\begin{table}")


def test_no_text_can_be_a_command():
    assert escaped(r"\input{x} 50 % & #1 _ ^ ~ $") == (
        r"\textbackslash{}input\{x\} 50 \% \& \#1 \_ \textasciicircum{} \textasciitilde{} \$"
    )


def test_the_appendix_is_also_54_files(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        "netdyno.report.published.appendix.write_chart", lambda chart, path: written.append((chart.title, path))
    )
    files = appendix_charts(tmp_path / "appendix")
    assert [path for _, path in written] == files
    assert len(set(files)) == 54
    assert (tmp_path / "appendix").is_dir()
    titles = {path.stem: title for title, path in written}
    assert titles["speed-mnist-lenet"] == "Training speed, lenet on mnist"
    assert re.match("GPU power", titles["power-imagenet-vgg16"])
