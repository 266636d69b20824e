"""What a reader sees without scrolling, on a phone and on a desk, with a store as large groups have."""

import pytest
from tests.report.pages import page_of
from tests.report.realistic import realistic_records

PHONE = {"viewport": {"width": 400, "height": 800}, "is_mobile": True}
DESK = {"viewport": {"width": 1360, "height": 900}}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("reader") / "report.html"
    path.write_text(page_of(realistic_records()), encoding="utf-8")
    return path


def headers(page):
    return [text.strip() for text in page.locator("#headers th").all_inner_texts()]


def column(page, title):
    place = headers(page).index(title)
    return [text.strip() for text in page.locator(f"#rows td:nth-child({place + 1})").all_inner_texts()]


def right_of(page, selector):
    """Where the rightmost visible element ends, in pixels from the left of the screen."""
    ends = page.locator(selector).evaluate_all("found => found.map((one) => one.getBoundingClientRect().right)")
    return max(ends)


def test_on_a_phone_network_framework_and_number_are_side_by_side(visit, report):
    page = visit(report, **PHONE)
    first = page.locator("#rows tr").first
    assert "PyTorch 2" in first.locator("td.network").inner_text()
    assert "cifar10 · b16" in first.locator("td.network").inner_text()
    place = headers(page).index("images/s")
    assert right_of(page, f"#rows td:nth-child({place + 1})") <= 400
    assert right_of(page, "#rows td.network") <= 400 - 100  # and beside it is the number, not the next name


def test_on_a_phone_data_from_files_are_named_below_the_network(visit, report):
    page = visit(report, **PHONE)
    page.get_by_label("Search").fill("resnet50 pytorch")
    shown = page.locator("#rows td.network small").all_inner_texts()
    assert sorted(shown) == ["imagenet · b64", "imagenet · b64 · native", "imagenet · b64 · packed"]


def test_on_a_desk_the_verdict_is_on_screen_and_no_column_is_empty(visit, report):
    page = visit(report, **DESK)
    assert right_of(page, "#rows td.judged") <= 1360
    assert right_of(page, "#headers .judged") <= 1360
    assert "of peak" not in headers(page)  # nothing of that was read
    empty = [title for title in headers(page) if set(column(page, title)) <= {"–", ""}]
    assert empty == []


def test_what_is_the_same_in_all_rows_is_one_sentence(visit, report):
    page = visit(report, **DESK)
    assert page.locator("#same").inner_text() == "The same in all rows: execution: eager · verified: no"
    assert "Execution" not in headers(page)


@pytest.mark.parametrize("shape", [PHONE, DESK], ids=["phone", "desk"])
def test_no_text_of_a_chart_or_a_table_is_cut(visit, report, shape):
    page = visit(report, **shape)
    outside = page.evaluate(
        """() => [...document.querySelectorAll('svg.chart')].flatMap((chart) => {
          const box = chart.getBoundingClientRect();
          return [...chart.querySelectorAll('text')]
            .filter((one) => { const own = one.getBoundingClientRect();
              return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1; })
            .map((one) => one.textContent); })"""
    )
    assert outside == []
    cut = page.evaluate(
        """() => [...document.querySelectorAll('td, th, h2, h3:not(.offscreen), .lead, dd')]
          .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
          .map((one) => one.outerHTML.slice(0, 120))"""
    )
    assert cut == []
    assert page.evaluate("document.documentElement.scrollWidth") <= shape["viewport"]["width"]


def test_the_names_of_lines_are_whole(visit, report):
    page = visit(report, **DESK)
    names = page.locator("svg.chart text").all_text_contents()
    assert "Keras 3 on TensorFlow" in names
    assert [name for name in names if name.endswith("…") and not name.startswith("not measured")] == []


def test_an_instrument_never_tops_the_table_however_it_is_sorted(visit, report):
    page = visit(report, **DESK)
    page.get_by_label("Network", exact=True).select_option("lenet")
    for _ in ("down", "up"):
        page.get_by_role("button", name="images/s").click()
        assert column(page, "Framework")[-1].startswith("Null")
        assert column(page, "× best")[-1] == "–"


def test_ratios_wide_intervals_and_one_run_are_in_the_table(visit, report):
    page = visit(report, **DESK)
    page.get_by_label("Network", exact=True).select_option("lenet")
    found = dict(
        zip(column(page, "Framework"), zip(column(page, "× best"), column(page, "95 %"), strict=True), strict=True)
    )
    assert found["PyTorch 2"][0] == "×1.00"
    assert found["JAX"][0] == "×0.86"
    assert found["Chainer"][1] == "one run"
    assert " … " in found["Keras 3 on PyTorch"][1]
    assert found["MXNet 1.2 (MKL-DNN)"] == ("–", "–")


def test_a_failure_says_its_error_and_not_its_stack_trace(visit, report):
    page = visit(report, **DESK)
    page.get_by_label("Search").fill("theano")
    shown = page.locator("#rows td.judged").inner_text()
    assert "CUDA out of memory" in shown
    assert "Traceback" not in shown


def test_the_columns_are_explained(visit, report):
    page = visit(report, **DESK)
    page.get_by_text("What the columns mean").click()
    assert "divided by the best one" in page.locator("#legend").inner_text()
