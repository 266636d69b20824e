"""What a reader does with the page, done in a browser: sort, filter, search, look behind, switch the theme."""

import csv
import json
import re

import pytest
from playwright.sync_api import expect
from tests.report.pages import GPU, data_of, failure, page_of, runs_of

FRAMEWORKS = ("alpha", "beta", "gamma")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """Three frameworks, two batches, a CPU and a GPU, one failure, one weak result: 8 rows and 9 with the failure."""
    gpu = {"device": "cuda", "environment": GPU, "readings": {"mean_w": 500.0, "j_per_item": 0.2, "asked_s": 0.002}}
    records = [
        record
        for place, name in enumerate(FRAMEWORKS)
        for batch in (32, 128)
        for record in runs_of(0.01 * (place + 1) * batch / 32, framework=name, batch=batch, seed=place)
    ]
    records += runs_of(0.002, framework="alpha", device_peak_bytes=2**30, **gpu)
    records += runs_of(0.02, framework="beta", network="alexnet", dataset="cifar10", flags=("foreign load",))
    records += [failure("ValueError: no such layer", framework="delta", batch=32)]
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_of(records), encoding="utf-8")
    return path


def column(page, title):
    """The cells under a header, as they are shown."""
    headers = page.locator("#headers th").all_inner_texts()
    place = next(place for place, text in enumerate(headers) if text.strip().startswith(title))
    return [text.strip() for text in page.locator(f"#rows td:nth-child({place + 1})").all_inner_texts()]


def speeds(page):
    return [float(text.rstrip("∗").replace(",", "")) for text in column(page, "images/s") if text != "–"]


def test_the_table_has_every_result(visit, report):
    page = visit(report)
    expect(page.locator("#rows tr")).to_have_count(9)
    expect(page.locator("#count")).to_have_text("9 results")


def test_a_header_sorts_down_and_up_and_says_so(visit, report):
    page = visit(report)
    header = page.locator("#headers th", has=page.get_by_role("button", name="images/s"))
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "descending")
    assert speeds(page) == sorted(speeds(page), reverse=True)
    assert column(page, "images/s")[-1] == "–"
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    assert speeds(page) == sorted(speeds(page))
    assert column(page, "images/s")[-1] == "–"


def test_a_header_sorts_by_keyboard(visit, report):
    page = visit(report)
    page.get_by_role("button", name="Framework", exact=True).focus()
    page.keyboard.press("Enter")
    assert column(page, "Framework") == sorted(column(page, "Framework"))
    assert page.locator("[aria-sort]").count() == 1


def test_filters_narrow_the_table_together_and_can_be_taken_back(visit, report):
    page = visit(report)
    page.get_by_label("Framework", exact=True).select_option("alpha")
    expect(page.locator("#count")).to_have_text("3 of 9 results")
    page.get_by_label("Batch", exact=True).select_option("128")
    expect(page.locator("#rows tr")).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("#rows tr")).to_have_count(9)
    expect(page.get_by_label("Batch", exact=True)).to_have_value("")


def test_a_search_needs_all_its_words(visit, report):
    page = visit(report)
    page.get_by_label("Search").fill("BETA b128")
    expect(page.locator("#rows tr")).to_have_count(1)
    assert column(page, "Framework") == ["beta"]
    page.get_by_label("Search").fill("no such layer")
    assert column(page, "Framework") == ["delta"]
    page.get_by_label("Search").fill("nowhere")
    expect(page.get_by_text("No result matches.")).to_be_visible()


def test_a_section_leads_to_its_rows(visit, report):
    page = visit(report)
    page.locator("section", has=page.locator("h3", has_text="alexnet on cifar10")).get_by_role("button").click()
    expect(page.locator("#count")).to_have_text("1 of 9 results")
    assert column(page, "Network") == ["alexnet"]


def test_the_table_is_copied_as_csv_as_it_is_filtered(visit, report):
    page = visit(report, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_label("Framework", exact=True).select_option("alpha")
    page.get_by_role("button", name="Copy as CSV").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    lines = list(csv.DictReader(page.evaluate("navigator.clipboard.readText()").splitlines()))
    assert [line["Framework"] for line in lines] == ["alpha"] * 3
    assert all(float(line["images/s"]) > 0 for line in lines)


def test_a_result_opens_by_mouse_with_everything_behind_it_and_closes(visit, report):
    page = visit(report)
    page.get_by_label("Search").fill("h200")
    page.locator("#rows button").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    expect(dialog.get_by_role("heading", name="lenet/mnist in alpha")).to_be_visible()
    expect(dialog.locator("svg.blocks circle")).to_have_count(90)
    expect(dialog.locator("code")).to_contain_text("netdyno run --network lenet --dataset mnist --framework alpha")
    expect(dialog).to_contain_text("Not verified on this machine")
    expect(dialog).to_contain_text("mean_w")
    assert re.search(r"#cell-[0-9a-f]{10}$", page.url)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(page).not_to_have_url(re.compile("#cell"))  # it follows the closing, not at once


def test_a_result_opens_and_closes_by_keyboard_and_the_focus_returns(visit, report):
    page = visit(report)
    button = page.locator("#rows button").nth(2)
    button.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    expect(button).to_be_focused()


def test_a_link_to_a_result_opens_it(visit, report):
    page = visit(report)
    page.locator("#rows button").first.click()
    title, address = page.locator("#cell-title").inner_text(), page.url
    again = visit(report, hash_=f"#{address.partition('#')[2]}")
    expect(again.get_by_role("dialog")).to_be_visible()
    expect(again.locator("#cell-title")).to_have_text(title)


def test_the_command_is_copied(visit, report):
    page = visit(report, permissions=["clipboard-read", "clipboard-write"])
    page.locator("#rows button").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".command code").inner_text()


def test_a_kept_trace_is_drawn(visit, report, tmp_path):
    text = report.read_text(encoding="utf-8")
    told = data_of(text)
    points = [[n / 10, 500 + n] for n in range(20)]
    names = ["power_w", "sm_clock_mhz", "constructor"]
    first = len(told["texts"])
    told["texts"] += names
    for row in told["rows"]:
        row[told["columns"].index("trace")] = [
            [first, points],
            [first + 1, [[0, 1980], [2, 1980]]],
            [first + 2, points],
        ]
    copy = tmp_path / "report.html"
    copy.write_text(re.sub(r'(id="data">).*?(</script>)', lambda found: found[1] + json.dumps(told) + found[2], text))
    page = visit(copy)
    page.locator("#rows button").first.click()
    expect(page.get_by_role("heading", name="While it ran")).to_be_visible()
    expect(page.locator("svg.trace polyline")).to_have_count(3)
    said = ["Power: 500 to 519 W, 1.9 s", "SM clock: 1,980 MHz throughout, 2 s", "constructor: 500 to 519, 1.9 s"]
    for place, words in enumerate(said):
        expect(page.locator("svg.trace").nth(place)).to_have_attribute("aria-label", words)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button_turns_it(visit, report, scheme):
    page = visit(report, color_scheme=scheme)
    colour = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(255, 255, 255)", "rgb(22, 24, 29)"
    assert page.evaluate(colour) == (light if scheme == "light" else dark)
    page.get_by_role("button", name="Dark theme" if scheme == "light" else "Light theme").click()
    assert page.evaluate(colour) == (dark if scheme == "light" else light)


def test_on_paper_the_page_is_light_and_without_buttons(visit, report):
    page = visit(report, color_scheme="dark")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    expect(page.get_by_role("button", name="Copy as CSV")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()


@pytest.mark.parametrize("width", [320, 360, 390, 768])
def test_a_narrow_screen_does_not_scroll_sideways(visit, report, width):
    page = visit(report, viewport={"width": width, "height": 740}, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("#rows button").first.click()
    assert page.evaluate("document.querySelector('#cell').getBoundingClientRect().right") <= width
    assert page.evaluate("document.querySelector('#cell-body').scrollWidth") <= width


def test_everything_that_can_be_used_has_a_name(visit, report):
    page = visit(report)
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a, input, select, svg[role=img], [role=region]')]
          .filter((one) => !(one.textContent.trim() || one.ariaLabel || one.labels?.length || one.title))
          .map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert nameless == []
    assert page.locator("h1").count() == 1
    assert page.locator("svg:not([role=img]):not([aria-hidden])").count() == 0
    assert page.locator("html[lang=en]").count() == 1


def test_the_first_tab_leads_past_the_header_and_the_focus_can_be_seen(visit, report):
    page = visit(report)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the results")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, place) => sum + v * [0.2126, 0.7152, 0.0722][place], 0);
  const under = (one) => { for (; one; one = one.parentElement) {
    const colour = getComputedStyle(one).backgroundColor; if (rgb(colour)[3]) return rgb(colour); }
    return rgb(getComputedStyle(document.body).backgroundColor); };
  const found = [];
  for (const one of document.querySelectorAll('p, a, h1, h2, h3, h4, td, th, button, label, li, summary, dd, dt')) {
    if (!one.checkVisibility() || !one.textContent.trim()) continue;
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(under(one))].sort().reverse();
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push([ratio.toFixed(2), one.outerHTML.slice(0, 80)]);
  }
  return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_it_lies_on(visit, report, scheme):
    page = visit(report, color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []


def test_data_is_what_the_script_shows_and_not_more(visit, report):
    page = visit(report)
    assert json.loads(page.locator("#data").inner_text() or page.evaluate("document.getElementById('data').text"))
    assert page.evaluate("document.scripts.length") == 2
