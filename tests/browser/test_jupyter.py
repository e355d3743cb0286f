"""The explorer in JupyterLab and Notebook 7: seen, filtered, walked by keyboard, read without a kernel."""

import re

import pytest
from jupyter_pages import open_notebook, page_of, run_all
from playwright.sync_api import expect

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def seen(running, server):
    """The notebook with every cell run; at the end nothing foreign was asked for, nothing went wrong."""
    with page_of(running, server.address) as (page, witness):
        open_notebook(page, server, "light.ipynb")
        witness.errors.clear()  # what Notebook 7 itself says while it starts
        run_all(page)
        page.get_by_text("all done", exact=True).wait_for(timeout=60_000)
        page.locator(".hn-explorer").first.wait_for()
        yield server.kind, page
        assert (witness.foreign, witness.errors) == ([], [])


@pytest.fixture
def explorer(seen):
    """The first explorer, its filters cleared, at the first failure."""
    _, page = seen
    found = page.locator(".hn-explorer").first
    found.scroll_into_view_if_needed()
    if found.get_by_role("button", name="Clear").is_visible():
        found.get_by_role("button", name="Clear").click()
    found.get_by_test_id("cases").focus()
    page.keyboard.press("Home")
    expect(found.locator(".conversation header")).to_contain_text("Single_MRO")
    page.keyboard.press("n")
    expect(found.locator(".where")).to_have_text("failure 1 of 13")
    return found


def test_the_card_and_the_explorer_are_there(seen, explorer, shot):
    kind, page = seen
    card = page.locator(".jp-OutputArea .holodeck-nb").first
    expect(card).to_contain_text("2 of 10 passed (20.0 %)")
    expect(card).to_contain_text("Pass rate by turn")
    expect(explorer.locator(".count")).to_have_text("10 cases, 13 failing turns")
    expect(page.locator(".hn-static").first).to_be_hidden()  # it stands in where no kernel runs
    shot(card, f"{kind}-card-light")
    shot(explorer, f"{kind}-explorer-light")


def test_a_failing_turn_gives_its_reason(explorer):
    turn = explorer.locator(".turn.chosen")
    expect(turn).to_have_attribute("data-turn", "1")
    expect(turn.locator(".why")).to_contain_text("lookup: closest call #1: column expected 2005, got '2006'")
    expect(turn).to_contain_text("numeric")
    expect(explorer.locator(".turn[data-turn='0'] .inside")).to_be_hidden()  # it passed
    explorer.locator(".turn[data-turn='0'] summary").first.click()
    expect(explorer.locator(".turn[data-turn='0'] .inside")).to_be_visible()


def test_filters_by_mouse(explorer):
    explorer.get_by_test_id("status").select_option("error")
    expect(explorer.locator(".count")).to_have_text("3 of 10 cases, 5 failing turns")
    explorer.get_by_test_id("reason").select_option("error: 503 from the provider: overloaded")
    expect(explorer.locator(".case")).to_have_count(1)
    expect(explorer.locator(".conversation header")).to_contain_text("Double_MAS/2018/page_35.pdf")
    explorer.get_by_test_id("metric").select_option("turn_program_equivalence")
    expect(explorer.locator(".case")).to_have_count(1)
    explorer.get_by_role("searchbox").fill("no such text")
    expect(explorer.locator(".reading")).to_have_text("No case fits these filters.")
    explorer.get_by_role("button", name="Clear").click()
    expect(explorer.locator(".count")).to_have_text("10 cases, 13 failing turns")
    explorer.locator(".case", has_text="Double_PNC").click()
    expect(explorer.locator(".conversation header")).to_contain_text("Double_PNC")


def test_everything_by_keyboard(seen, explorer):
    _, page = seen
    cells = page.locator(".jp-Cell").count()
    for key in ("n", "n", "p"):
        page.keyboard.press(key)
    expect(explorer.locator(".where")).to_have_text("failure 2 of 13")
    page.keyboard.press("/")
    page.keyboard.type("overloaded")
    expect(explorer.locator(".case")).to_have_count(1)
    page.keyboard.press("Enter")  # into the list
    expect(explorer.get_by_test_id("cases")).to_be_focused()
    page.keyboard.press("Enter")  # into the conversation
    expect(explorer.get_by_test_id("conversation")).to_be_focused()
    page.keyboard.press("Escape")  # back to the list
    expect(explorer.get_by_test_id("cases")).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    expect(explorer.locator(".count")).to_have_text("10 cases, 13 failing turns")
    page.keyboard.press("ArrowDown")
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowUp", "End", "PageUp", "Home", "ArrowDown"):
        page.keyboard.press(key)
    expect(explorer.locator(".case[aria-selected=true]")).to_contain_text("Single_AON")
    expect(explorer.locator(".conversation header")).to_contain_text("Single_AON")
    for key in ("d", "d", "x", "a", "b"):  # Jupyter's own: they delete, cut and add cells
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == cells


def test_a_reader_is_told_what_is_what(explorer):
    listbox = explorer.get_by_role("listbox", name="Cases")
    expect(listbox).to_have_attribute("aria-activedescendant", re.compile(r"hn-\d+-0"))
    option = explorer.locator(".case[aria-selected=true]")
    expect(option).to_have_role("option")
    expect(option).to_have_attribute("aria-posinset", "1")
    expect(option).to_have_attribute("aria-setsize", "10")
    expect(option).to_have_accessible_name(re.compile(r"^failed: Single_MRO.*, 2 of 5 turns not passed\."))
    expect(explorer.locator(".turn.chosen > summary .mark")).to_have_text("✗ failed")  # glyph and word
    explorer.get_by_role("searchbox").focus()
    outline = explorer.get_by_role("searchbox").evaluate("node => getComputedStyle(node).outlineStyle")
    assert outline == "solid"


def test_what_is_open_is_the_selection(seen, explorer):
    _, page = seen
    explorer.locator(".case", has_text="Double_PNC").click()
    expect(explorer.locator(".conversation header")).to_contain_text("Double_PNC")
    wanted = "'Double_PNC/2013/page_207.pdf: 2'"
    for _ in range(50):  # the widget tells the kernel in its own time
        answer = _ask(page, "f'{explorer.selection.case.iloc[0]}: {len(explorer.selection)}'")
        if answer == wanted:
            break
        page.wait_for_timeout(100)
    assert answer == wanted
    _ask(page, "explorer.go_to('Single_L/2015/page_59.pdf-2', 1)")
    expect(explorer.locator(".turn.chosen .why")).to_have_text(
        "timeout: no reply within 2 s (execution.llm_timeout)"
    )


def test_hostile_text_is_text(seen, shot):
    kind, page = seen
    explorer = page.locator(".hn-explorer").nth(1)
    explorer.scroll_into_view_if_needed()
    title = page.title()
    for place in range(8):
        explorer.locator(".case").nth(place).click()
        expect(explorer.locator(".where")).to_have_text("8 failures")
        expect(explorer.locator(".case").nth(place)).to_have_attribute("aria-selected", "true")
        explorer.get_by_role("button", name="Unfold all").click()
        assert explorer.locator("script, img, h1, iframe, style, a").count() == 0
        assert explorer.locator("[onmouseover], [onclick], [onerror]").count() == 0
    explorer.locator(".case").first.click()
    expect(explorer.locator(".turn dd").first).to_contain_text(
        "<script>document.title='run'</script><img src="
    )
    assert page.title() == title
    shot(explorer, f"{kind}-hostile")


def test_in_the_dark(running, server, shot):
    if server.kind == "notebook":
        pytest.skip("its themes are JupyterLab's")
    server.set("apputils-extension/themes", {"theme": "JupyterLab Dark"})
    with page_of(running, server.address, dark=True) as (page, witness):
        open_notebook(page, server, "dark.ipynb")
        page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
        witness.errors.clear()  # what Notebook 7 itself says while it starts
        run_all(page)
        page.get_by_text("all done", exact=True).wait_for(timeout=60_000)
        explorer = page.locator(".hn-explorer").first
        expect(explorer.locator(".where")).to_have_text("failure 1 of 13")
        explorer.scroll_into_view_if_needed()
        back, text = explorer.evaluate(
            "node => [getComputedStyle(node).backgroundColor, getComputedStyle(node).color]"
        )
        assert _lightness(back) < 60
        assert _lightness(text) > 200
        shot(page.locator(".jp-OutputArea .holodeck-nb").first, f"{server.kind}-card-dark")
        shot(explorer, f"{server.kind}-explorer-dark")
        assert (witness.foreign, witness.errors) == ([], [])


def test_opened_again_without_a_kernel_it_shows_the_failures(running, server, seen, shot):
    _, page = seen
    page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")  # and waits until it is
    expect(page.locator(".hn-explorer").first).to_be_visible()
    with page_of(running, server.address) as (again, witness):
        server.end_kernels()
        again.goto(server.page("light.ipynb"))
        static = again.locator(".hn-static").first
        expect(static).to_be_visible(timeout=30_000)
        expect(static).to_contain_text("Cases that did not pass")
        expect(static.locator(".why").first).to_contain_text("column expected 2005, got '2006'")
        expect(again.get_by_text("model not found").first).to_be_hidden()
        static.scroll_into_view_if_needed()
        shot(again, f"{server.kind}-reopened")
        assert witness.foreign == []  # (Jupyter itself says on the console that the widget is gone)


def _ask(page, code):
    """What the kernel says to an expression."""
    return page.evaluate(
        """async (code) => {
          const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
          const future = kernel.requestExecute({code: "", user_expressions: {answer: code}, silent: true});
          const reply = await future.done;
          const answer = reply.content.user_expressions.answer;
          return answer.data ? answer.data["text/plain"] : answer.evalue;
        }""",
        code,
    )


def _lightness(colour):
    return sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
