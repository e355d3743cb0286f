"""006, user story 2: test cases with files. And the faults that people reported of files elsewhere."""

import datetime as dt
import json
import logging

import documents
import pytest
from documents import box, lines, pdf, picture_of, scanned_page, slides, word, workbook
from file_servers import Answer, FileServer, dripping, with_etag

import holodeck_nb as hd
from holodeck_nb.files import ocr


class Listener:
    """An agent that answers "x" and remembers what it was sent."""

    def __init__(self):
        self.messages = []

    async def create_session(self, context):
        return self

    async def send(self, message):
        self.messages.append(message)
        return hd.Reply("x")

    async def close(self):
        pass

    @property
    def sent(self):
        return [message.text for message in self.messages]


@pytest.fixture
def agent():
    return Listener()


@pytest.fixture
def server():
    server = FileServer()
    yield server
    server.close()


def run(folder, agent, *files, **settings):
    """One case a list of files, or a file alone, named `0`, `1`, …"""
    cases = [
        {"name": str(number), "input": "net cash?", "files": one if isinstance(one, list) else [one]}
        for number, one in enumerate(files)
    ]
    suite = hd.Suite.from_dict({"name": "files", "test_cases": cases}, folder=folder)
    return suite.run(backend=agent, quiet=True, **settings)


def report(result, folder):
    return json.loads(result.to_json(folder / "report.json").read_text())


class TestUserStory2:
    def test_1_a_pdf_is_given_as_context(self, tmp_path, agent):
        pdf(tmp_path / "r.pdf", [lines("NET CASH 206588")])
        assert run(tmp_path, agent, {"path": "r.pdf", "type": "pdf"}).passed
        [text] = agent.sent
        assert text == (
            "[File 1 of 1: r.pdf (pdf, pages 1 of 1)]\n## Page 1\n\nNET CASH 206588\n"
            "[End of file 1: r.pdf]\n\nnet cash?"
        )

    def test_2_images_are_included(self, tmp_path, agent):
        image = picture_of("NET CASH 206588")
        (tmp_path / "i.png").write_bytes(image)
        assert run(tmp_path, agent, {"path": "i.png", "type": "image"}).passed
        assert agent.messages[0].images == (image,)
        assert "i.png" in agent.sent[0]

    def test_2_a_function_of_the_text_gets_the_text_in_them(self, tmp_path):
        (tmp_path / "i.png").write_bytes(picture_of("NET CASH 206588"))
        case = {"input": "net cash?", "files": [{"path": "i.png", "type": "image"}]}
        suite = hd.Suite.from_dict({"name": "s", "test_cases": [case]}, folder=tmp_path)
        seen = []
        result = suite.run(agent=lambda text: seen.append(text) or "x", quiet=True)
        if ocr.is_available():
            assert "NET CASH 206588" in seen[0]
        else:
            assert seen == []
            assert "holodeck-nb[ocr]" in result.turns["reason"][0]

    def test_2_a_function_of_the_conversation_gets_the_picture(self, tmp_path):
        image = picture_of("NET CASH 206588")
        (tmp_path / "i.png").write_bytes(image)
        turns = [
            {"input": "net cash?", "files": [{"path": "i.png", "type": "image"}]},
            {"input": "and debt?"},
        ]
        suite = hd.Suite.from_dict({"name": "s", "test_cases": [{"turns": turns}]}, folder=tmp_path)
        seen = []

        def agent(text, conversation):
            seen.append(conversation.images)
            return "x"

        assert suite.run(agent=agent, quiet=True).passed
        assert seen == [(image,), ()]  # files belong to their turn only

    def test_3_only_the_range_of_a_sheet(self, tmp_path, agent):
        def fill(book):
            for name in ("P", "Q"):
                for row in range(5):
                    book.get_worksheet_by_name(name) or book.add_worksheet(name)
                    book.get_worksheet_by_name(name).write_row(row, 0, [f"{name}{row + 1}-{x}" for x in "AB"])

        workbook(tmp_path / "f.xlsx", fill)
        run(tmp_path, agent, {"path": "f.xlsx", "type": "excel", "sheet": "Q", "range": "A2:A3"})
        assert "| 2 | Q2-A |\n| 3 | Q3-A |\n[End" in agent.sent[0]
        assert "P2" not in agent.sent[0]

    def test_4_only_the_slides_asked_for(self, tmp_path, agent):
        slides(tmp_path / "p.pptx", *(lambda slide, n=n: box(slide, f"S{n}") for n in (1, 2, 3)))
        run(
            tmp_path,
            agent,
            {"path": "p.pptx", "type": "powerpoint", "slides": [2]},
            {"path": "p.pptx", "type": "powerpoint", "pages": [1]},
        )
        assert ["S2" in agent.sent[0], "S1" in agent.sent[0], "S1" in agent.sent[1]] == [True, False, True]

    def test_5_several_files_in_their_order(self, tmp_path, agent):
        pdf(tmp_path / "r.pdf", [lines("NET CASH 206588")])
        (tmp_path / "i.png").write_bytes(picture_of("x"))
        files = [{"path": "i.png", "type": "image"}, {"path": "r.pdf", "type": "pdf"}]
        run(tmp_path, agent, files)
        assert agent.sent[0].index("[File 1 of 2: i.png") < agent.sent[0].index("[File 2 of 2: r.pdf")

    def test_6_a_remote_file_is_kept_and_used_again(self, tmp_path, agent, server):
        server.routes["/r.txt"] = with_etag(b"NET CASH 206588")
        file = {"url": server.url + "/r.txt", "type": "text"}
        run(tmp_path, agent, file, file, parallel_test_cases=2)
        assert server.asked("/r.txt") == 1  # once a run, whoever asks
        assert (tmp_path / ".holodeck" / "cache" / "downloads").is_dir()
        run(tmp_path, agent, file)
        assert server.requests[1][1]["If-None-Match"] == '"1"'
        assert all("NET CASH 206588" in text for text in agent.sent)


class TestEdgeCases:
    def test_a_missing_file_is_found_at_load(self, tmp_path):
        with pytest.raises(
            hd.ConfigError, match=r"test_cases\[0\]\.files\[0\]\.path: file 'gone\.pdf' not found"
        ):
            run(tmp_path, None, {"path": "gone.pdf", "type": "pdf"})

    def test_an_address_of_no_use_is_refused_before_any_call(self, tmp_path, agent):
        with pytest.raises(
            hd.ConfigError, match=r"test case '0', files\[0\]\.url: an address begins with http"
        ):
            run(tmp_path, agent, {"url": "ftp://example.org/r.pdf", "type": "pdf"})
        assert agent.sent == []

    def test_paths_begin_at_the_suite_file(self, tmp_path, agent, monkeypatch):
        (tmp_path / "suite").mkdir()
        (tmp_path / "suite" / "t.txt").write_text("206588")
        (tmp_path / "suite" / "agent.yaml").write_text(
            "name: s\ntest_cases: [{input: a, files: [{path: t.txt, type: text}]}]\n"
        )
        monkeypatch.chdir(tmp_path)
        hd.Suite.from_yaml("suite/agent.yaml").run(backend=agent, quiet=True)
        assert "206588" in agent.sent[0]

    def test_a_bad_file_costs_its_turn_and_no_more(self, tmp_path, agent):
        (tmp_path / "t.txt").write_text("fine")
        documents.pdf_bomb(tmp_path / "bomb.pdf")
        documents.zip_bomb(tmp_path / "bomb.xlsx")
        turns = [
            {"input": "a", "files": [{"path": "bomb.pdf", "type": "pdf"}]},
            {"input": "b", "files": [{"path": "t.txt", "type": "text"}]},
            {"input": "c", "files": [{"path": "bomb.xlsx", "type": "excel"}]},
            {"input": "d"},
        ]
        suite = hd.Suite.from_dict({"name": "s", "test_cases": [{"turns": turns}]}, folder=tmp_path)
        result = suite.run(backend=agent, quiet=True)
        assert list(result.turns["status"]) == ["error", "passed", "error", "passed"]
        assert [text[-1] for text in agent.sent] == ["b", "d"]
        assert "fine" not in agent.sent[1]
        files = report(result, tmp_path)["results"][0]["processed_files"]
        assert [file["metadata"]["turn"] for file in files] == [0, 1, 2]
        assert [bool(file["error"]) for file in files] == [True, False, True]

    def test_the_limit_for_reading_a_file(self, tmp_path, agent):
        pdf(tmp_path / "k.pdf", [lines(*["net cash 206588 " * 5] * 45) for _ in range(60)])
        result = run(tmp_path, agent, {"path": "k.pdf", "type": "pdf"}, file_timeout=0.05)
        assert result.turns["reason"][0] == (
            "k.pdf: reading it took more than 0.05 s (execution.file_timeout)"
        )

    def test_the_limit_for_a_download(self, tmp_path, agent, server):
        server.routes["/r.txt"] = dripping()
        result = run(tmp_path, agent, {"url": server.url + "/r.txt", "type": "text"}, download_timeout=0.3)
        assert "took more than 0.3 s (execution.download_timeout)" in result.turns["reason"][0]

    def test_no_cache(self, tmp_path, agent, server):
        server.routes["/r.txt"] = with_etag(b"NET CASH")
        file = {"url": server.url + "/r.txt", "type": "text"}
        run(tmp_path, agent, file, cache_enabled=False)
        run(tmp_path, agent, {**file, "cache": False})
        assert server.asked("/r.txt") == 2
        assert not (tmp_path / ".holodeck" / "cache").exists()

    def test_a_remote_workbook_with_two_sheets(self, tmp_path, agent, server):
        def fill(book):
            for name in ("P", "Q"):
                book.add_worksheet(name).write("A1", f"on {name}")

        body = workbook(tmp_path / "f.xlsx", fill).read_bytes()
        server.routes["/download"] = with_etag(body)  # no extension to go by
        run(
            tmp_path,
            agent,
            *({"url": server.url + "/download", "type": "excel", "sheet": name} for name in ("P", "Q")),
        )
        assert ["on P" in agent.sent[0], "on Q" in agent.sent[1]] == [True, True]

    def test_both_reports_tell_of_the_files(self, tmp_path, agent):
        pdf(tmp_path / "r.pdf", [lines("one"), lines("two")])
        result = run(tmp_path, agent, {"path": "r.pdf", "type": "pdf", "pages": [2]})
        [file] = report(result, tmp_path)["results"][0]["processed_files"]
        assert file["original"]["pages"] == [2]
        assert file["markdown_content"] == "## Page 2\n\ntwo"
        assert file["metadata"]["page_count"] == 2
        assert "r.pdf" in result.to_markdown(tmp_path / "report.md").read_text()


def warnings(result):
    return " | ".join(result.warnings["text"])


class TestReportedFaults:
    """FIL-01 to FIL-09 and SEC-04 of the collection of public faults."""

    def test_fil_01_a_scanned_page(self, tmp_path, agent):
        pdf(tmp_path / "scan.pdf", [scanned_page("picture"), lines("NET CASH 206588")])
        pdf(tmp_path / "blank.pdf", [lambda drawing: None, lambda drawing: None])
        result = run(tmp_path, agent, *({"path": f"{name}.pdf", "type": "pdf"} for name in ("scan", "blank")))
        assert list(result.turns["status"]) == ["passed", "error"]
        assert "206588" in agent.sent[0]
        assert "scan.pdf: page 1 " in warnings(result)
        assert "no text" in result.turns["reason"][1]
        files = report(result, tmp_path)["results"][0]["processed_files"]
        assert "page 1" in files[0]["metadata"]["warnings"][0]

    def test_fil_03_formulas(self, tmp_path, agent):
        def fill(book):
            sheet = book.add_worksheet("P")
            sheet.write("A1", 10)
            sheet.write("A2", 15)
            sheet.write_formula("A3", "=SUM(A1:A2)", None, 25)
            sheet.write_formula("B3", "=A3*2", None, "")

        workbook(tmp_path / "f.xlsx", fill)
        result = run(tmp_path, agent, {"path": "f.xlsx", "type": "excel", "sheet": "P", "range": "A1:B3"})
        assert "| 3 | 25 | =A3*2 |" in agent.sent[0]
        assert "B3" in warnings(result)

    def test_fil_04_a_wrong_sheet_range_or_label(self, tmp_path, agent):
        workbook(tmp_path / "f.xlsx", lambda book: book.add_worksheet("P").write("A1", 1))
        word(tmp_path / "fake.xlsx", lambda document: document.add_paragraph("x"))
        result = run(
            tmp_path,
            agent,
            {"path": "f.xlsx", "type": "excel", "sheet": "Nope"},
            {"path": "f.xlsx", "type": "excel", "sheet": "P", "range": "B9:A"},
            {"path": "fake.xlsx", "type": "excel"},
        )
        assert agent.sent == []
        wrong_sheet, wrong_range, wrong_label = result.turns["reason"]
        assert wrong_sheet == "f.xlsx: there is no sheet 'Nope'; its sheets: 'P'"
        assert "f.xlsx: range 'B9:A' is no range" in wrong_range
        assert (
            "fake.xlsx: it should be an Excel workbook (`type: excel`), but its content is a Word"
            in wrong_label
        )

    def test_fil_05_dates_zeros_percentages_and_hidden_sheets(self, tmp_path, agent):
        def fill(book):
            sheet = book.add_worksheet("S")
            sheet.write_datetime("A1", dt.datetime(2009, 12, 31), book.add_format({"num_format": "d-mmm-yy"}))  # noqa: DTZ001 - Excel knows no time zones
            sheet.write_string("A2", "00123")
            sheet.write("A3", 0.1414, book.add_format({"num_format": "0.00%"}))
            hidden = book.add_worksheet("H")
            hidden.write("A1", "MARK-H")
            hidden.hide()

        workbook(tmp_path / "d.xlsx", fill, date_1904=True)
        run(tmp_path, agent, {"path": "d.xlsx", "type": "excel"})
        assert all(part in agent.sent[0] for part in ("2009-12-31", "00123", "14.14%"))
        assert "MARK-H" not in agent.sent[0]

    def test_fil_06_a_table_between_paragraphs(self, tmp_path, agent):
        def fill(document):
            document.add_paragraph("BEFORE-1")
            table = document.add_table(2, 2)
            for number, text in enumerate(("Year", "Cash", "2009", "206588")):
                table.cell(number // 2, number % 2).text = text
            document.add_paragraph("AFTER-1")

        word(tmp_path / "w.docx", fill)
        run(tmp_path, agent, {"path": "w.docx", "type": "word"})
        places = [agent.sent[0].index(p) for p in ("BEFORE-1", "Year", "Cash", "2009", "206588", "AFTER-1")]
        assert places == sorted(places)

    def test_fil_08_groups_and_tables_on_a_slide(self, tmp_path, agent):
        def second(slide):
            box(slide, "FIRST BOX")
            box(slide, "SECOND BOX")
            slide.shapes.add_table(1, 2, 0, 0, 900, 900).table.cell(0, 1).text = "CELL B"
            box(slide.shapes.add_group_shape().shapes.add_group_shape(), "DEEP")

        slides(tmp_path / "p.pptx", lambda slide: box(slide, "S1"), second)
        run(tmp_path, agent, {"path": "p.pptx", "type": "powerpoint", "slides": [2]})
        assert all(part in agent.sent[0] for part in ("FIRST BOX\n", "SECOND BOX", "CELL B", "DEEP"))
        assert "S1" not in agent.sent[0]

    def test_fil_09_values_of_a_csv(self, tmp_path, agent):
        data = 'id,region,note\n00123,NA,"cheap | fast"\n9007199254740993,None,"two\nlines"\n'
        (tmp_path / "c.csv").write_text(data, encoding="utf-8-sig")
        run(tmp_path, agent, {"path": "c.csv", "type": "csv"})
        assert (
            '\nid,region,note\n00123,NA,cheap | fast\n9007199254740993,None,"two\nlines"\n' in agent.sent[0]
        )

    def test_sec_04_a_signed_address(self, tmp_path, agent, server, caplog):
        caplog.set_level(logging.INFO)
        server.routes["/r.txt"] = with_etag(b"NET CASH")
        signed = server.url + "/r.txt?sig=SIG-SECRET"
        result = run(tmp_path, agent, {"url": signed, "type": "text", "cache": True})
        server.routes["/r.txt"] = Answer(status=403)
        broken = run(tmp_path, agent, {"url": signed, "type": "text", "cache": True})
        for one, name in ((result, "good"), (broken, "bad")):
            one.to_json(tmp_path / f"{name}.json")
            one.to_markdown(tmp_path / f"{name}.md")
        shown = [repr(result), result._repr_html_(), caplog.text, str(broken.turns.to_dict()), *agent.sent]
        kept = [
            path.read_bytes().decode("utf-8", "replace") for path in tmp_path.rglob("*") if path.is_file()
        ]
        assert "SIG-SECRET" not in "".join([*shown, *kept, *map(str, tmp_path.rglob("*"))])
        assert server.requests[0][0].endswith("?sig=SIG-SECRET")
        assert broken.turns["reason"][0] == "r.txt: the server answered 403 Forbidden"
