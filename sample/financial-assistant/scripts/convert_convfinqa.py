"""Turn ConvFinQA dialogues into test cases: one conversation each, ready for a suite's `test_cases_file`.

    python scripts/convert_convfinqa.py --source dev.json --n 10 --out data/dev_10.yaml

Needs PyYAML to write YAML, and nothing else beside Python. Exit code 0, or 2 with the reason.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

# What the data rounds its executed answers to; an answer that is computed in full is nearer than this.
ABSOLUTE_TOLERANCE = 1e-5
ENDINGS = (".json", ".yaml", ".yml")

_STEP = re.compile(r"([a-z_]+)\(([^(),]*),([^(),]*)\)")
# Plain text of this look would come back from YAML as a number, a boolean or nothing.
_READS_AS_A_VALUE = re.compile(
    r"(?i)[-+]?[\d.][\d._,:e+-]*|0[ox][0-9a-f]+|[-+]?\.(inf|nan)|y|n|yes|no|on|off"
)


class ConversionError(Exception):
    """The cases cannot be made; the message says why and what to do."""


@dataclass(frozen=True)
class Dialogue:
    """One conversation of the data, whichever layout it came in. The three sequences have one item a turn."""

    id: str
    questions: Sequence[str]
    programs: Sequence[str]
    answers: Sequence[float | str]
    page: str


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; what goes wrong is told on standard error."""
    try:
        options = _parser().parse_args(argv)
    except SystemExit as exit_:  # a wrong option (2), or --help (0)
        return int(exit_.code or 0)
    try:
        _check_target(options.out, force=options.force)
        records = _records(options.source, options.split)
        chosen = records if options.n is None else records[: options.n]
        dialogues = [_dialogue(record, place) for place, record in enumerate(chosen)]
        cases = [_case(dialogue, options.grader, options.with_document) for dialogue in dialogues]
        _write(options.out, cases)
    except ConversionError as error:
        sys.stderr.write(f"convert_convfinqa: {error}\n")
        return 2
    turns = sum(len(case["turns"]) for case in cases)
    sys.stdout.write(f"{options.out}: {len(cases)} conversations, {turns} turns\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--source",
        type=Path,
        required=True,
        help="the data: the official dev.json or train.json, or a file of splits with flattened dialogues",
    )
    parser.add_argument(
        "--split",
        default="dev",
        help="which split of a file of splits; an official file is one split, and this names nothing there "
        "(default: dev)",
    )
    parser.add_argument(
        "--n", type=_how_many, default=10, help="how many dialogues from the top, or `all` (default: 10)"
    )
    parser.add_argument("--out", type=Path, required=True, help="where to: a .json, .yaml or .yml file")
    parser.add_argument("--force", action="store_true", help="replace the file if it is there")
    parser.add_argument(
        "--grader", metavar="MODULE:FUNCTION", help="also judge each turn by this code grader of your suite"
    )
    parser.add_argument(
        "--with-document",
        action="store_true",
        help="put the page, text and table, before the first question: for agents without a lookup",
    )
    return parser


def _how_many(text: str) -> int | None:
    """A count, None for all."""
    if text == "all":
        return None
    if not re.fullmatch(r"0*[1-9]\d*", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"expected a whole number from 1, or `all`, got {text!r}")
    return int(text)


# Reading: two layouts, one kind of dialogue.


def _records(source: Path, split: str) -> Sequence[Any]:
    """The records of one split, as the file has them."""
    try:
        data = json.loads(source.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConversionError(f"cannot read {source}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConversionError(f"{source} is not JSON: {error}") from error
    if isinstance(data, Mapping):
        splits = [name for name, records in data.items() if isinstance(records, list)]
        if not splits:
            raise ConversionError(f"{source} has a layout that is not known: {_EXPECTED_FILE}")
        if split not in splits:
            raise ConversionError(f"{source} has no split {split!r}; it has {', '.join(splits)}")
        data = data[split]
    if not isinstance(data, list):
        raise ConversionError(f"{source} has a layout that is not known: {_EXPECTED_FILE}")
    if not data:
        raise ConversionError(f"{source} has no dialogues")
    return data


_EXPECTED_FILE = "expected a list of records, or an object with one such list a split"
_EXPECTED_RECORD = (
    "expected `dialogue` with conv_questions, turn_program and executed_answers, "
    "or `annotation` with dialogue_break, turn_program and exe_ans_list"
)


def _dialogue(record: Any, place: int) -> Dialogue:
    """One record, checked; `place` counts from 0."""
    fields: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
    where = f"record {place + 1}" + (f" ({fields['id']})" if isinstance(fields.get("id"), str) else "")
    flat, official = fields.get("dialogue"), fields.get("annotation")
    if isinstance(flat, Mapping):
        keys, told, page = ("conv_questions", "turn_program", "executed_answers"), flat, fields.get("doc")
    elif isinstance(official, Mapping):
        if "cur_program" in official or "cur_program" in fields:
            hint = "convert dev.json or train.json, not the files that end in _turn.json"
            raise ConversionError(f"{where} is a single turn, not a conversation; {hint}")
        keys, told, page = ("dialogue_break", "turn_program", "exe_ans_list"), official, fields
    else:
        raise ConversionError(f"{where} has a layout that is not known: {_EXPECTED_RECORD}")
    questions, programs, answers = (_turns(told, key, where) for key in keys)
    if not len(questions) == len(programs) == len(answers) or not questions:
        counts = ", ".join(f"{len(told[key])} {key}" for key in keys)
        raise ConversionError(f"{where}: expected as many programs and answers as questions, got {counts}")
    for key, texts in zip(keys, (questions, programs), strict=False):
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise ConversionError(f"{where}: every item of {key} must be text")
    name = fields.get("id")
    if not isinstance(name, str) or not name.strip():
        raise ConversionError(f"{where} has no `id`")
    return Dialogue(name, questions, programs, [_answer(answer, where) for answer in answers], _page(page))


def _turns(told: Mapping[str, Any], key: str, where: str) -> list[Any]:
    found = told.get(key)
    if not isinstance(found, list):
        raise ConversionError(f"{where} has no list `{key}`: {_EXPECTED_RECORD}")
    return found


def _answer(answer: Any, where: str) -> float | str:
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    if is_number and abs(answer) < float("inf"):
        return float(answer)
    if isinstance(answer, str) and answer.strip():
        return answer.strip()
    raise ConversionError(f"{where}: the answer {answer!r} is neither a number nor text")


def _page(page: Any) -> str:
    """The page of the filing as text: what stands before the table, the table, what stands after it."""
    if not isinstance(page, Mapping):
        return ""
    parts = (_prose(page.get("pre_text")), _table(page.get("table")), _prose(page.get("post_text")))
    return "\n\n".join(part for part in parts if part.strip(" ."))


def _prose(text: Any) -> str:
    return " ".join(str(line) for line in text) if isinstance(text, list) else str(text or "")


def _table(table: Any) -> str:
    """Rows of cells as they are (official), or columns of named rows (flattened)."""
    if isinstance(table, list):
        rows = [row for row in table if isinstance(row, list)]
    elif isinstance(table, Mapping):
        columns = {name: column for name, column in table.items() if isinstance(column, Mapping)}
        names = dict.fromkeys(name for column in columns.values() for name in column)
        rows = [["", *columns], *([name, *(c.get(name, "") for c in columns.values())] for name in names)]
    else:
        rows = []
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)


# Writing: cases as a suite reads them.


def _case(dialogue: Dialogue, grader: str | None, with_document: bool) -> dict[str, Any]:
    """One test case. Every text stays text: `"60.94"`, `"no"`."""
    code = [] if grader is None else [{"type": "code", "grader": grader}]
    turns = []
    for question, program, answer in zip(
        dialogue.questions, dialogue.programs, dialogue.answers, strict=True
    ):
        turn: dict[str, Any] = {"input": question, "ground_truth": _text(answer)}
        if tools := list(_expected_tools(program)):
            turn["expected_tools"] = tools
        if isinstance(answer, str):
            turn["evaluations"] = [{"type": "equality", "case_insensitive": True}, *code]
        turn["turn_config"] = {"document": dialogue.id, "turn_program": program}
        turns.append(turn)
    if with_document and dialogue.page:
        turns[0]["input"] = f"{dialogue.page}\n\n{dialogue.questions[0]}"
    numeric = {"type": "numeric", "absolute_tolerance": ABSOLUTE_TOLERANCE}
    return {"name": dialogue.id, "evaluations": [numeric, *code], "turns": turns}


def _text(answer: float | str) -> str:
    """25587.0 is "25587", 1e-05 is "0.00001"."""
    return answer if isinstance(answer, str) else f"{Decimal(str(answer)).normalize() + 0:f}"


def _expected_tools(program: str) -> Iterator[dict[str, Any]]:
    """The steps that lead to a program's last one, as tools with arguments `a` and `b`.

    Results of earlier steps (`#0`) are not asserted, nor is what is no number. A bare number expects no tool.
    """
    steps = [tuple(part.strip() for part in found.groups()) for found in _STEP.finditer(program)]
    needed = {len(steps) - 1}
    for place in reversed(range(len(steps))):
        if place in needed:
            needed.update(int(operand[1:]) for operand in steps[place][1:] if re.fullmatch(r"#\d+", operand))
    for place, (operation, *operands) in enumerate(steps):
        if place in needed:
            args = {
                name: {"fuzzy": _constant(operand)}
                for name, operand in zip("ab", operands, strict=True)
                if re.fullmatch(r"-?[\d.,]+%?", _constant(operand), re.ASCII)
            }
            yield {"name": operation, "args": args} if args else {"name": operation}


def _constant(operand: str) -> str:
    """`const_100` is "100", `const_m1` is "-1"; other operands stay."""
    return re.sub(r"^const_(m?)", lambda found: "-" if found[1] else "", operand)


def _check_target(out: Path, *, force: bool) -> None:
    if out.suffix.lower() not in ENDINGS:
        raise ConversionError(f"{out}: expected a name that ends in {', '.join(ENDINGS)}")
    if not out.parent.is_dir():
        raise ConversionError(f"cannot write {out}: there is no folder {out.parent}")
    if out.is_dir():
        raise ConversionError(f"cannot write {out}: it is a folder")
    if out.exists() and not force:
        raise ConversionError(f"{out} is there already; add --force to replace it, or choose another --out")


def _write(out: Path, cases: list[dict[str, Any]]) -> None:
    """Write the whole file or nothing: beside it first, then in its place."""
    text = _yaml(cases) if out.suffix.lower() != ".json" else _json(cases)
    draft = out.with_name(f".{out.name}.part")
    try:
        draft.write_text(text, encoding="utf-8", newline="\n")
        draft.replace(out)
    except OSError as error:
        raise ConversionError(f"cannot write {out}: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise ConversionError(f"the data holds text that is no Unicode: {error}") from error
    finally:
        draft.unlink(missing_ok=True)


def _json(cases: list[dict[str, Any]]) -> str:
    return json.dumps(cases, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _yaml(cases: list[dict[str, Any]]) -> str:
    try:
        import yaml  # noqa: PLC0415 - JSON does without
    except ImportError as error:
        raise ConversionError("YAML needs PyYAML: pip install pyyaml, or choose an --out .json") from error

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the cases are for people to read
            return True

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        # PyYAML quotes what YAML 1.1 takes for a value; 1e5 is one in YAML 1.2 alone.
        style = "|" if "\n" in value else "'" if _READS_AS_A_VALUE.fullmatch(value) else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return yaml.dump(cases, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110)


if __name__ == "__main__":
    sys.exit(main())
