"""The command: arguments in, a report and an exit code out."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from ._version import __version__
from .errors import ConfigError, described
from .run import Run
from .suite import Suite

__all__ = ["main"]

PASSED, FAILED, WRONG_CONFIG, COULD_NOT_RUN = 0, 1, 2, 3
_DEFAULT_SUITE = "agent.yaml"


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the arguments say.

    Args:
        arguments: Without the program's name; None takes those of this process.

    Returns:
        0 all passed, 1 some failed, 2 the suite or an argument is wrong, 3 it could not run.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.do(options))
    except ConfigError as error:
        print(error, file=sys.stderr)
        return WRONG_CONFIG
    except KeyboardInterrupt as interrupt:
        print(f"interrupted: {interrupt}" if str(interrupt) else "interrupted", file=sys.stderr)
        return COULD_NOT_RUN
    except Exception as error:  # noqa: BLE001 - the last border: the exit code tells, and --verbose shows all
        if getattr(options, "verbose", False):
            traceback.print_exc()
        print(f"could not run: {described(error)}", file=sys.stderr)
        return COULD_NOT_RUN


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="holodeck-nb", description="Play a suite of conversations against an agent and judge them."
    )
    parser.add_argument("--version", action="version", version=f"holodeck-nb {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    test = commands.add_parser(
        "test", help="run a suite; exit code 0 all passed, 1 some failed, 2 config, 3 broken"
    )
    test.set_defaults(do=_test)
    _add_suite(test)
    test.add_argument("--output", metavar="FILE", help="write a report; Markdown if it ends in .md")
    test.add_argument(
        "--format", choices=("json", "markdown"), help="of the report; without --output to stdout"
    )
    test.add_argument("--model", metavar="PROVIDER:NAME", help="instead of the suite's model")
    test.add_argument("--parallel", type=int, metavar="N", help="cases at once")
    test.add_argument("--case", metavar="GLOB", help="only cases whose name fits, such as '*AAL*'")
    test.add_argument("--verbose", action="store_true", help="a line a turn, and stack traces of errors")
    test.add_argument("--quiet", action="store_true", help="no progress, only what is wrong")
    validate = commands.add_parser("validate", help="only load a suite; exit code 0 or 2")
    validate.set_defaults(do=_validate)
    _add_suite(validate)
    schema = commands.add_parser("schema", help="print the JSON Schema of the suite file, for editors")
    schema.set_defaults(do=_schema)
    return parser


def _add_suite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("suite", nargs="?", default=_DEFAULT_SUITE, help=f"the suite file ({_DEFAULT_SUITE})")


def _test(options: argparse.Namespace) -> int:
    suite = Suite.from_yaml(options.suite)
    if options.model is not None:
        suite = suite.with_model(options.model)
    if options.case is not None:
        suite = suite.select(name=options.case)
    run = suite.run(
        parallel_test_cases=options.parallel, verbose=options.verbose or None, quiet=options.quiet or None
    )
    _report(run, options.output, options.format)
    if not len(suite):
        wanted = "no test cases" if options.case is None else f"no test case whose name fits {options.case!r}"
        print(f"{options.suite}: {wanted}", file=sys.stderr)
        return WRONG_CONFIG
    if run.result.stop_reason is not None:
        return COULD_NOT_RUN
    return PASSED if run.passed else FAILED


def _report(run: Run, output: str | None, form: str | None) -> None:
    """Write the report where it was asked for; nothing where it was not."""
    if output is None and form is None:
        return
    markdown = form == "markdown" or (
        form is None and Path(output or "").suffix.lower() in {".md", ".markdown"}
    )
    if output is not None:
        written = run.to_markdown(output) if markdown else run.to_json(output)
        print(f"report: {written}", file=sys.stderr)
    else:
        sys.stdout.write(run.to_markdown() if markdown else run.to_json())


def _validate(options: argparse.Namespace) -> int:
    suite = Suite.from_yaml(options.suite)
    for warning in suite.warnings:
        print(f"warning: {warning.place}: {warning.text}", file=sys.stderr)
    turns = sum(len(case.conversation) for case in suite.cases)
    print(f"{options.suite}: valid, {len(suite)} test cases, {turns} turns", file=sys.stderr)
    return PASSED


def _schema(_: argparse.Namespace) -> int:
    from .schema.suite import SuiteConfig  # noqa: PLC0415 - only this command wants it

    print(json.dumps(SuiteConfig.model_json_schema(), indent=2))
    return PASSED


if __name__ == "__main__":
    sys.exit(main())
