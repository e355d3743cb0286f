"""The HTML report, opened from disk: the same drill-down, on paper too, no script but its own."""

import runs_to_show
from playwright.sync_api import expect


def test_it_opens_and_is_walked(file_page, tmp_path, shot):
    path = runs_to_show.careless().to_html(tmp_path / "report.html")
    for dark in (False, True):
        page = file_page(path, dark=dark)
        explorer = page.locator(".hn-explorer")
        expect(explorer.locator(".where")).to_have_text("failure 1 of 13")
        expect(explorer.locator(".turn.chosen .why")).to_contain_text("column expected 2005, got '2006'")
        expect(page.locator(".hn-static")).to_be_hidden()
        shot(page, f"report-{'dark' if dark else 'light'}")
        explorer.get_by_test_id("cases").focus()
        for key in ("n", "n", "p"):
            page.keyboard.press(key)
        expect(explorer.locator(".where")).to_have_text("failure 2 of 13")
        explorer.get_by_test_id("status").select_option("not passed")
        explorer.get_by_role("searchbox").fill("Overloaded")
        expect(explorer.locator(".count")).to_have_text("1 of 10 cases, 2 failing turns")
        expect(explorer.locator(".conversation header")).to_contain_text("Double_MAS/2018/page_35.pdf")
        explorer.get_by_role("button", name="Clear").click()
        explorer.get_by_test_id("metric").select_option("numeric")
        expect(explorer.locator(".count")).to_contain_text("4 of 10 cases")
        explorer.get_by_test_id("reason").select_option("divide: b does not fit")
        expect(explorer.locator(".count")).to_contain_text("2 of 10 cases")
        page.keyboard.press("Escape")
        page.keyboard.press("End")
        expect(explorer.locator(".conversation header")).to_contain_text("Double_PM")
        shot(explorer, f"report-explorer-{'dark' if dark else 'light'}")


def test_it_filters_as_the_widget_does(file_page, tmp_path):
    run = runs_to_show.careless()
    page = file_page(run.to_html(tmp_path / "report.html"))
    explorer = page.locator(".hn-explorer")
    widget = run.explore()
    for name, choices in widget._start["choices"].items():
        for value, cases in choices:
            explorer.get_by_test_id(name).select_option(value)
            wanted = {"status": "", "text": "", "metric": "", "reason": "", name: value}
            answer = widget._answer({"ask": "rows", "wanted": wanted, "from": 0, "most": 100})
            assert answer["total"] == cases
            count = f"{cases} of 10 case" if cases < 10 else "10 case"
            expect(explorer.locator(".count")).to_contain_text(f"{count}s, {answer['failures']} failing turn")
            expect(explorer.locator(".case")).to_have_count(cases)
        explorer.get_by_test_id(name).select_option("")


def test_hostile_text_is_text(file_page, tmp_path):
    page = file_page(runs_to_show.hostile().to_html(tmp_path / "report.html"))
    title = page.title()
    explorer = page.locator(".hn-explorer")
    for place in range(8):
        explorer.locator(".case").nth(place).click()
        expect(explorer.locator(".where")).to_have_text("8 failures")
        explorer.get_by_role("button", name="Unfold all").click()
    assert page.locator("img, h1, iframe, a, [onmouseover], [onclick], [onerror]").count() == 0
    assert page.title() == title
    explorer.locator(".case").first.click()
    expect(explorer.locator(".turn dd").first).to_contain_text(
        "<script>document.title='run'</script><img src="
    )


def test_without_scripts_and_on_paper_the_failures_are_there(running, file_page, tmp_path):
    path = runs_to_show.careless().to_html(tmp_path / "report.html")
    context = running.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.locator(".hn-static .why").first).to_contain_text("column expected 2005, got '2006'")
    expect(page.locator("#explorer")).to_be_hidden()
    context.close()
    page = file_page(path, dark=True)
    page.emulate_media(media="print", color_scheme="dark")
    expect(page.locator(".hn-static .why").first).to_be_visible()
    expect(page.locator("#explorer")).to_be_hidden()
    assert page.locator(".hn-static").evaluate("node => getComputedStyle(node).color") == "rgb(31, 35, 40)"
    page.emulate_media(media="screen")
    page.locator(".list .case", has_text="Double_PNC").click()
    expect(page.locator(".conversation header").first).to_contain_text("Double_PNC")
    page.emulate_media(media="print")  # what one has gone to is what one prints
    expect(page.locator("#explorer .conversation")).to_be_visible()
    expect(page.locator("#explorer .list")).to_be_hidden()
    expect(page.locator(".hn-static")).to_be_hidden()


def test_ten_thousand_cases_open(file_page, tmp_path):
    page = file_page(runs_to_show.many(10_000, turns=1).to_html(tmp_path / "report.html"))
    explorer = page.locator(".hn-explorer")
    expect(explorer.locator(".count")).to_have_text("10,000 cases, 2,000 failing turns")
    assert explorer.locator(".case").count() < 40
    explorer.get_by_test_id("cases").focus()
    page.keyboard.press("End")
    expect(explorer.locator(".conversation header")).to_contain_text("case-09999")
    explorer.get_by_role("searchbox").fill("case-07777")
    expect(explorer.locator(".conversation header")).to_contain_text("case-07777")
