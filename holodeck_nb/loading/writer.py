"""A suite's models -> the YAML text of a suite file that reads back the same."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel

from holodeck_nb.errors import ConfigError, Problem
from holodeck_nb.schema.metrics import MetricReference
from holodeck_nb.schema.tools import ExpectedTool
from holodeck_nb.schema.values import Plain, Secret, Substituted, untyped

from .variables import escape

if TYPE_CHECKING:
    from holodeck_nb.schema.suite import SuiteConfig

__all__ = ["data_of", "suite_yaml"]

# Where `${NAME}` means nothing, so that text is written as it is.
_UNREAD = frozenset({"test_cases", "deployment", "observability", "embedding_provider", "optimizer"})
_WIDTH = 110
# Line breaks and blanks that only double quotes keep as they are.
_UNSAFE_IN_BLOCK = re.compile("[^\\S \\n]|[ ]\\n|[ ]\\Z|\\A[ \\n]|\ufeff|[\x00-\x09\x0b-\x1f\x7f-\x9f]")


class _Dumper(yaml.SafeDumper):
    """Quotes text that would read as something else, and writes out what Python shares."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT002 - as PyYAML has it
        """Indent lists too, so that they stand out from the key above."""
        super().increase_indent(flow, False)  # noqa: FBT003 - as PyYAML has it

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - as PyYAML has it
        """Use no anchors: a suite is read by people."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if not isinstance(untyped(Plain(text)), str):
        style = "'"
    elif "\n" in text:
        style = '"' if _UNSAFE_IN_BLOCK.search(text) else "|"
    elif _UNSAFE_IN_BLOCK.search(text):
        style = '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def suite_yaml(config: SuiteConfig) -> str:
    """Write a suite as YAML; what was left out stays out.

    Text that came from `${NAME}`, secrets too, is written as that. A grader that was given as a function is
    written as `module:function`.

    Raises:
        ConfigError: A grader is a function that no file can name.
    """
    data = data_of(config, escaped=True, templates=True)
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDTH)


def data_of(value: Any, *, escaped: bool, templates: bool) -> Any:
    """Turn models into the mappings that a suite file would hold.

    Args:
        value: A model, or data that may hold models.
        escaped: Whether `${` in text is written so that reading replaces nothing.
        templates: Whether secrets and substituted text become the `${NAME}` they came from; else they are
            kept as they are.
    """
    match value:
        case MetricReference():
            return str(value.reference)
        case ExpectedTool():
            return data_of(value.written, escaped=escaped, templates=templates)
        case BaseModel():
            return _model_data(value, escaped=escaped, templates=templates)
        case Mapping():
            items = value.items()
            return {str(key): data_of(item, escaped=escaped, templates=templates) for key, item in items}
        case list() | tuple():
            return [data_of(item, escaped=escaped, templates=templates) for item in value]
        case Secret() | Substituted():
            return _template(value) if templates else value
        case str():
            return escape(value) if escaped else str(value)
    return _reference(value) if callable(value) and templates else value


def _template(value: Secret | Substituted) -> str:
    return (
        escape(value.reveal())
        if isinstance(value, Secret) and value.template is None
        else str(value.template)
    )


def _model_data(model: BaseModel, *, escaped: bool, templates: bool) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        given = name in model.model_fields_set or name == "type" or value != field.default
        if given and not (value is None and field.default is None):
            data[name] = data_of(value, escaped=escaped and name not in _UNREAD, templates=templates)
    for name, value in (model.model_extra or {}).items():
        data[name] = data_of(value, escaped=escaped, templates=templates)
    return data


def _reference(grader: Any) -> str:
    module, name = getattr(grader, "__module__", None), getattr(grader, "__qualname__", "")
    if module in {None, "__main__", "builtins"} or not name.isidentifier():
        message = f"the grader {name or grader!r} is a function that no file can name"
        raise ConfigError([Problem(message, hint="put it into a module and write `module:function`")])
    return f"{module}:{name}"
