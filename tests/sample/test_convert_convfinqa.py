"""The converter: both layouts in, cases that load and run out, and nothing written where it fails."""

import importlib.util
import json
import subprocess
import sys

import convfinqa
import pytest
import yaml

import holodeck_nb as hd

FLAT = {
    "dev": [
        {
            "id": "Single_ABC/2020/page_1.pdf-1",
            "doc": {
                "pre_text": "sales went up .",
                "post_text": ".",
                "table": {"2020": {"sales": 120.0, "costs": 90.0}, "2019": {"sales": 100.0, "costs": "-"}},
            },
            "dialogue": {
                "conv_questions": ["sales in 2020?", "the change?", "in percent?", "above costs?", "margin?"],
                "conv_answers": ["120", "20", "20%", "yes", "13.4%"],
                "turn_program": [
                    "120", "subtract(120, 100)", "subtract(120, 100), divide(#0, 100)", "greater(120, 90)",
                    "13.4%",
                ],
                "executed_answers": [120.0, 20.0, 0.2, "yes", 0.134],
                "qa_split": [False] * 5,
            },
        }
    ],
    "train": [],
}  # fmt: skip
OFFICIAL = [
    {
        "pre_text": ["sales went up .", "costs too ."],
        "post_text": ["."],
        "filename": "ABC/2020/page_1.pdf",
        "table_ori": [["", "2020"], ["Sales", "120"]],
        "table": [["", "2020"], ["sales", "120"]],
        "id": "Double_ABC/2020/page_1.pdf",
        "annotation": {
            "original_program_0": "add(1, 2)",
            "dialogue_break": ["what were sales?", "less of that?", "twice?", "as a rate?", "more than 5?"],
            "turn_program": [
                "120", "multiply(120, const_m1)", "multiply(120, const_m1), multiply(#0, const_2)",
                "divide(932, 13.4%)",
                "greater(120, 5)",
            ],
            "qa_split": [0, 0, 0, 1, 1],
            "exe_ans_list": [120, -120.0, 0.00001, 6955.22388, "yes"],
        },
    }
]  # fmt: skip


@pytest.fixture(scope="session")
def script(sample):
    spec = importlib.util.spec_from_file_location(
        "convert_convfinqa", sample / "scripts" / "convert_convfinqa.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def convert(script, tmp_path):
    """Run the converter on some data; gives the written file."""

    def run(data, *options, out="cases.json"):
        source = tmp_path / "source.json"
        source.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        target = tmp_path / out
        assert script.main(["--source", str(source), "--out", str(target), *options]) == 0
        return target

    return run


def _names(folder):
    return sorted(path.name for path in folder.iterdir())


def read(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)


FLAT_CASE = {
    "name": "Single_ABC/2020/page_1.pdf-1",
    "evaluations": [{"type": "numeric", "absolute_tolerance": 1e-5}],
    "turns": [
        {
            "input": "sales in 2020?",
            "ground_truth": "120",
            "turn_config": {"document": "Single_ABC/2020/page_1.pdf-1", "turn_program": "120"},
        },
        {
            "input": "the change?",
            "ground_truth": "20",
            "expected_tools": [{"name": "subtract", "args": {"a": {"fuzzy": "120"}, "b": {"fuzzy": "100"}}}],
            "turn_config": {
                "document": "Single_ABC/2020/page_1.pdf-1",
                "turn_program": "subtract(120, 100)",
            },
        },
        {
            "input": "in percent?",
            "ground_truth": "0.2",
            "expected_tools": [
                {"name": "subtract", "args": {"a": {"fuzzy": "120"}, "b": {"fuzzy": "100"}}},
                {"name": "divide", "args": {"b": {"fuzzy": "100"}}},
            ],
            "turn_config": {
                "document": "Single_ABC/2020/page_1.pdf-1",
                "turn_program": "subtract(120, 100), divide(#0, 100)",
            },
        },
        {
            "input": "above costs?",
            "ground_truth": "yes",
            "expected_tools": [{"name": "greater", "args": {"a": {"fuzzy": "120"}, "b": {"fuzzy": "90"}}}],
            "evaluations": [{"type": "equality", "case_insensitive": True}],
            "turn_config": {"document": "Single_ABC/2020/page_1.pdf-1", "turn_program": "greater(120, 90)"},
        },
        {
            "input": "margin?",
            "ground_truth": "0.134",
            "turn_config": {"document": "Single_ABC/2020/page_1.pdf-1", "turn_program": "13.4%"},
        },
    ],
}


@pytest.mark.parametrize("out", ["cases.json", "cases.yaml", "cases.yml", "CASES.JSON"])
def test_a_flattened_dialogue_becomes_a_case(convert, out):
    path = convert(FLAT, out=out)
    text = path.read_text(encoding="utf-8")
    assert (json.loads(text) if out.lower().endswith("json") else yaml.safe_load(text)) == [FLAT_CASE]


def test_an_official_record_becomes_a_case(convert):
    (case,) = read(convert(OFFICIAL, "--split", "names nothing here"))
    assert case["name"] == "Double_ABC/2020/page_1.pdf"
    assert [turn["input"] for turn in case["turns"]] == OFFICIAL[0]["annotation"]["dialogue_break"]
    assert [turn["ground_truth"] for turn in case["turns"]] == ["120", "-120", "0.00001", "6955.22388", "yes"]
    negated = {"name": "multiply", "args": {"a": {"fuzzy": "120"}, "b": {"fuzzy": "-1"}}}
    assert [turn.get("expected_tools") for turn in case["turns"]] == [
        None,
        [negated],
        [negated, {"name": "multiply", "args": {"b": {"fuzzy": "2"}}}],
        [{"name": "divide", "args": {"a": {"fuzzy": "932"}, "b": {"fuzzy": "13.4%"}}}],
        [{"name": "greater", "args": {"a": {"fuzzy": "120"}, "b": {"fuzzy": "5"}}}],
    ]
    assert [turn.get("evaluations") for turn in case["turns"]] == [None] * 4 + [
        [{"type": "equality", "case_insensitive": True}]
    ]


PROGRAMS = [
    # program, expected tools
    ("120", None),
    ("-0.5", None),
    ("subtract(5, 3), add(1, 2)", [("add", "1", "2")]),  # the first step leads nowhere
    ("subtract(5, 3), add(1, 2), divide(#0, #1)", [("subtract", "5", "3"), ("add", "1", "2"), ("divide",)]),
    ("add(1,2)", [("add", "1", "2")]),
    ("exp(const_2, const_m1)", [("exp", "2", "-1")]),
    ("table_max(net sales, none)", [("table_max",)]),  # a row's name is nothing to assert
]


@pytest.mark.parametrize(("program", "tools"), PROGRAMS)
def test_the_steps_that_lead_to_the_answer_are_expected(convert, program, tools):
    record = {
        "id": "x",
        "annotation": {"dialogue_break": ["q"], "turn_program": [program], "exe_ans_list": [1]},
    }
    (case,) = read(convert([record]))
    expected = tools and [
        {
            "name": name,
            **({"args": {k: {"fuzzy": v} for k, v in zip("ab", operands, strict=True)}} if operands else {}),
        }
        for name, *operands in tools
    ]
    assert case["turns"][0].get("expected_tools") == expected


TEXTS = [
    "60.94",
    "no",
    "yes",
    "1e5",
    "0123",
    "1_000",
    "null",
    "~",
    "1:30",
    "2009-12-31",
    "0x1F",
    "true",
    ".5",
    "-3",
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("out", ["cases.json", "cases.yaml"])
def test_text_that_reads_as_a_value_stays_text(convert, tmp_path, text, out):
    record = {
        "id": text,
        "annotation": {"dialogue_break": [text], "turn_program": [text], "exe_ans_list": [text]},
    }
    path = convert([record], out=out)
    (case,) = read(path)
    assert (case["name"], case["turns"][0]["input"], case["turns"][0]["ground_truth"]) == (text, text, text)
    suite = hd.Suite.from_dict({"name": "s", "test_cases_file": path.name}, folder=tmp_path)
    turn = suite.cases[0].conversation[0]
    assert (suite.case_names, turn.input, turn.ground_truth) == ((text,), text, text)
    assert turn.turn_config["turn_program"] == text
    assert type(turn.turn_config["turn_program"]) is str


def test_a_grader_is_added_on_request(convert):
    (case,) = read(convert(FLAT, "--grader", "graders:mine"))
    code = {"type": "code", "grader": "graders:mine"}
    assert case["evaluations"] == [{"type": "numeric", "absolute_tolerance": 1e-5}, code]
    assert case["turns"][3]["evaluations"] == [{"type": "equality", "case_insensitive": True}, code]


def test_the_page_is_put_before_the_first_question_on_request(convert):
    (case,) = read(convert(FLAT, "--with-document", out="cases.yaml"))
    assert case["turns"][0]["input"] == (
        "sales went up .\n\n"
        "|  | 2020 | 2019 |\n| sales | 120.0 | 100.0 |\n| costs | 90.0 | - |\n\n"
        "sales in 2020?"
    )
    assert case["turns"][1]["input"] == "the change?"
    (case,) = read(convert(OFFICIAL, "--with-document"))
    assert case["turns"][0]["input"] == (
        "sales went up . costs too .\n\n|  | 2020 |\n| sales | 120 |\n\nwhat were sales?"
    )


def test_yaml_is_for_people_to_read(convert):
    text = convert(FLAT, out="cases.yaml").read_text(encoding="utf-8")
    assert "ground_truth: '120'" in text
    assert "ground_truth: 'yes'" in text
    assert "- input: the change?" in text
    assert "&id" not in text


def test_more_than_there_are_is_all_of_them(convert, capsys):
    path = convert(FLAT, "--n", "500")
    assert len(read(path)) == 1
    assert capsys.readouterr().out == f"{path}: 1 conversations, 5 turns\n"


def test_a_file_with_a_byte_order_mark_is_read(convert):
    assert read(convert("\ufeff" + json.dumps(FLAT))) == [FLAT_CASE]


# The real data.


def _play(cases, sample, **options):
    suite = {"name": "converted", "test_cases_file": cases.name, "tools": convfinqa.tools()}
    loaded = hd.Suite.from_dict(suite, folder=cases.parent)
    assert loaded.warnings == ()
    return loaded.run(backend=convfinqa.ProgramAnalyst(), quiet=True, **options)


@pytest.mark.parametrize("out", ["ten.json", "ten.yaml"])
def test_ten_real_dialogues_load_and_run(script, dialogues, sample, tmp_path, out):
    path = tmp_path / out
    arguments = [
        "--source", str(convfinqa.DATA_FILE), "--split", "dev", "--n", "10", "--out", str(path),
    ]  # fmt: skip
    assert script.main(arguments) == 0
    run = _play(path, sample)
    assert run.cases["case"].tolist() == list(dialogues)[:10]
    assert run.passed


def test_the_whole_split_loads_and_passes_with_the_samples_grader(script, dialogues, copy):
    """421 conversations: answers, tools with arguments and programs, by an agent that runs each program."""
    path = copy / "all.yaml"
    arguments = ["--source", str(convfinqa.DATA_FILE), "--n", "all", "--out", str(path)]
    assert script.main([*arguments, "--grader", "graders:turn_program_equivalence"]) == 0
    run = _play(path, copy, parallel_test_cases=8)
    assert (len(run.cases), len(run.turns)) == (421, 1490)
    assert run.failures.empty
    assert run.warnings.empty
    counted = run.metrics.groupby("metric")["passed"].agg(["size", "all"])
    assert counted.loc["numeric"].tolist() == [1486, True]
    assert counted.loc["equality"].tolist() == [4, True]
    assert counted.loc["turn_program_equivalence"].tolist() == [1490, True]
    assert run.tool_checks["matched"].all()


def test_the_command_of_the_readme(dialogues, copy):
    command = [
        sys.executable, "scripts/convert_convfinqa.py", "--source", str(convfinqa.DATA_FILE),
        "--split", "dev", "--n", "10", "--out", "data/dev_10.json",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (
        0, "data/dev_10.json: 10 conversations, 36 turns\n", "",
    )  # fmt: skip


# What goes wrong: exit code 2, the reason, and no file.


def _without(record, *keys):
    copied = json.loads(json.dumps(record))
    inner = copied
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    return copied


def _with(record, value, *keys):
    copied = json.loads(json.dumps(record))
    inner = copied
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return copied


FLAT_RECORD, RECORD = FLAT["dev"][0], OFFICIAL[0]
BAD_DATA = [
    # data, what is told
    ("{", "is not JSON: Expecting property name"),
    ("", "is not JSON: Expecting value"),
    ("[" * 100_000, "is not JSON"),
    ("3", "has a layout that is not known: expected a list of records"),
    ('"text"', "has a layout that is not known"),
    ({}, "has a layout that is not known"),
    ({"id": "x", "annotation": {}}, "has a layout that is not known"),
    ([], "has no dialogues"),
    ({"dev": []}, "has no dialogues"),
    ({"train": [FLAT_RECORD], "test": []}, "has no split 'dev'; it has train, test"),
    ([3], "record 1 has a layout that is not known: expected `dialogue` with conv_questions"),
    ([{"id": "x", "qa": {}}], "record 1 (x) has a layout that is not known"),
    ([RECORD, {"id": "x"}], "record 2 (x) has a layout that is not known"),
    ([_without(RECORD, "annotation", "exe_ans_list")], "page_1.pdf) has no list `exe_ans_list`"),
    ([_without(FLAT_RECORD, "dialogue", "turn_program")], "page_1.pdf-1) has no list `turn_program`"),
    ([_with(RECORD, "add(1, 2)", "annotation", "cur_program")],
        "is a single turn, not a conversation; convert dev.json"),
    ([_with(RECORD, "add(1, 2)", "cur_program")], "is a single turn, not a conversation"),
    ([_with(RECORD, [1], "annotation", "exe_ans_list")],
        "got 5 dialogue_break, 5 turn_program, 1 exe_ans_list"),
    ([{"id": "x", "annotation": {"dialogue_break": [], "turn_program": [], "exe_ans_list": []}}],
        "got 0 dialogue_break"),
    ([_with(RECORD, [""] * 5, "annotation", "dialogue_break")], "every item of dialogue_break must be text"),
    ([_with(RECORD, [1] * 5, "annotation", "turn_program")], "every item of turn_program must be text"),
    ([_with(RECORD, [None] * 5, "annotation", "exe_ans_list")],
        "the answer None is neither a number nor text"),
    ([_with(RECORD, [True] * 5, "annotation", "exe_ans_list")],
        "the answer True is neither a number nor text"),
    ("[" + json.dumps(_with(RECORD, [float("nan")] * 5, "annotation", "exe_ans_list")) + "]",
        "the answer nan is neither"),
    ([_without(RECORD, "id")], "record 1 has no `id`"),
    ([_with(RECORD, "\ud800", "id")], "the data holds text that is no Unicode"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "told"), BAD_DATA)
def test_data_that_cannot_be_converted(script, tmp_path, capsys, data, told):
    source = tmp_path / "source.json"
    source.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    assert script.main(["--source", str(source), "--out", str(tmp_path / "out.json")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("convert_convfinqa: ")
    assert told in error
    assert error.count("\n") == 1
    assert _names(tmp_path) == ["source.json"]


BAD_OPTIONS = [
    # options, what is told
    (["--n", "0"], "expected a whole number from 1, or `all`, got '0'"),
    (["--n", "-3"], "expected a whole number from 1, or `all`, got '-3'"),
    (["--n", "1.5"], "expected a whole number from 1, or `all`, got '1.5'"),
    (["--n", "some"], "expected a whole number from 1, or `all`, got 'some'"),
    (["--split", "test"], "has no split 'test'; it has dev, train"),
    (["--source", "{folder}/none.json"], "cannot read {folder}/none.json: No such file or directory"),
    (["--source", "{folder}"], "cannot read {folder}: Is a directory"),
    (["--out", "{folder}/none/out.json"],
        "cannot write {folder}/none/out.json: there is no folder {folder}/none"),
    (["--out", "{folder}/out.txt"], "out.txt: expected a name that ends in .json, .yaml, .yml"),
    (["--out", "{folder}/folder.json"], "cannot write {folder}/folder.json: it is a folder"),
    (["--out", "{folder}/source.json"], "source.json is there already; add --force to replace it"),
    (["--frobnicate"], "unrecognized arguments: --frobnicate"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "told"), BAD_OPTIONS)
def test_options_that_cannot_be_followed(script, tmp_path, capsys, options, told):
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "source.json").write_text(json.dumps(FLAT), encoding="utf-8")
    given = {"--source": str(tmp_path / "source.json"), "--out": str(tmp_path / "out.json")}
    asked = [text.format(folder=tmp_path) for text in options]
    arguments = [text for option in given.items() for text in option if option[0] not in asked] + asked
    assert script.main(arguments) == 2
    assert told.format(folder=tmp_path) in capsys.readouterr().err
    assert _names(tmp_path) == ["folder.json", "source.json"]
    assert json.loads((tmp_path / "source.json").read_text(encoding="utf-8")) == FLAT


def test_source_and_out_are_needed(script, capsys):
    assert script.main([]) == 2
    assert "the following arguments are required: --source, --out" in capsys.readouterr().err


def test_help_is_no_error(script, capsys):
    assert script.main(["--help"]) == 0
    assert "--with-document" in capsys.readouterr().out


def test_a_file_that_is_no_text(script, tmp_path, capsys):
    (tmp_path / "source.json").write_bytes(b"\xff\xfe\x00")
    assert script.main(["--source", str(tmp_path / "source.json"), "--out", str(tmp_path / "out.json")]) == 2
    assert "is not JSON: 'utf-8' codec can't decode" in capsys.readouterr().err


def test_an_existing_file_is_replaced_with_force_alone(script, convert, tmp_path):
    path = convert(FLAT)
    before = path.stat().st_mode
    source = ["--source", str(tmp_path / "source.json"), "--out", str(path)]
    path.write_text("mine", encoding="utf-8")
    assert script.main(source) == 2
    assert path.read_text(encoding="utf-8") == "mine"
    assert script.main([*source, "--force"]) == 0
    assert read(path) == [FLAT_CASE]
    assert path.stat().st_mode == before


def test_a_disk_that_refuses_leaves_the_old_file(script, convert, tmp_path, monkeypatch, capsys):
    path = convert(FLAT)

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(script.Path, "replace", refuse)
    arguments = ["--source", str(tmp_path / "source.json"), "--out", str(path), "--force", "--n", "all"]
    assert script.main(arguments) == 2
    assert capsys.readouterr().err.endswith(f"cannot write {path}: No space left on device\n")
    assert _names(tmp_path) == ["cases.json", "source.json"]
    assert read(path) == [FLAT_CASE]


def test_yaml_without_pyyaml_says_what_to_do(script, convert, tmp_path, monkeypatch, capsys):
    convert(FLAT)
    monkeypatch.setitem(sys.modules, "yaml", None)
    source = str(tmp_path / "source.json")
    assert script.main(["--source", source, "--out", str(tmp_path / "out.yaml")]) == 2
    assert "YAML needs PyYAML: pip install pyyaml, or choose an --out .json" in capsys.readouterr().err
    assert not (tmp_path / "out.yaml").exists()
