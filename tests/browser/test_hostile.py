"""Nothing in a name, a path, a log or an error can run in the page, and very many records leave it usable."""

import pytest
from playwright.sync_api import expect
from tests.report.pages import HOSTILE, failure, page_of, runs_of

MANY = 2_500


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    records = []
    for name in HOSTILE:
        environment = {"cpu": name, name: {name: [name]}, "gpus": [{"name": name}]}
        records += runs_of(
            framework=name, network=name, dataset=name, machine=name, flags=(name,), versions={name: name},
            settings={name: name, "execution": name}, absent={name: name}, environment=environment, runs=2,
        )  # fmt: skip
        records.append(failure(name, framework=name, network="lenet"))
    path = tmp_path_factory.mktemp("hostile") / "report.html"
    path.write_text(page_of(records, selector=HOSTILE[0]), encoding="utf-8", errors="replace")
    return path


def test_hostile_names_do_nothing(visit, hostile):
    page = visit(hostile)
    page.get_by_label("Search").fill("script")
    page.get_by_role("button", name="Show all").click()
    for index in range(page.locator("#rows button").count()):
        page.locator("#rows button").nth(index).click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, iframe, main script").count() == 0


def test_hostile_names_are_shown_as_they_are(visit, hostile):
    page = visit(hostile)
    shown = page.locator("#rows td").all_inner_texts()
    assert any("<img src=x onerror=window.hacked=1>" in text for text in shown)


def test_a_copied_name_is_no_formula_in_a_sheet(visit, hostile):
    page = visit(hostile, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "'=HYPERLINK" in copied
    assert ",=HYPERLINK" not in copied.replace('"', "")


def test_a_name_of_six_hundred_letters_breaks_no_layout(visit, hostile):
    page = visit(hostile, viewport={"width": 360, "height": 740}, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    records = [record for n in range(MANY) for record in runs_of(framework=f"f{n % 20}", batch=n + 1, runs=1)]
    path = tmp_path_factory.mktemp("large") / "report.html"
    path.write_text(page_of(records), encoding="utf-8")
    return path


def test_a_long_table_is_made_as_one_scrolls(visit, large):
    page = visit(large)
    expect(page.locator("#count")).to_have_text("2,500 results")
    before = page.locator("#rows tr").count()
    assert before <= 200
    page.locator("#table-scroll").evaluate("one => one.scrollTo(0, one.scrollHeight)")
    page.wait_for_function("before => document.querySelectorAll('#rows tr').length > before", arg=before)
    page.get_by_role("button", name="Batch", exact=True).click()
    assert page.locator("#rows tr").count() <= 200
    assert page.locator("#table-scroll").evaluate("one => one.scrollTop") == 0


def test_a_long_table_is_searched_at_once(visit, large):
    page = visit(large)
    page.get_by_label("Search").fill("b1234")
    expect(page.locator("#rows tr")).to_have_count(1)
