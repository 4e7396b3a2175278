"""The questions of ``bin/canopy import`` about a file, asked at a terminal or answered by
options."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from typing import Any, Final

import click

from app.cli.output import CommandError, print_text
from app.imports.questions import required_question

Json = dict[str, Any]

_PROMPTS: Final = {"project_id": "Id of the project", "geometry": "Column"}  # for open values
_ANY_CRS: Final = "--crs EPSG:CODE"


def is_terminal() -> bool:
    """True if somebody can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_question(question: Mapping[str, Any]) -> Json:
    """Ask a question at the terminal. Returns the answer as a body of ``PUT /v1/imports/{id}``;
    empty to read the file unchanged."""
    print_text(f"\n{question['message']}", err=True)
    for option in question["options"]:
        if len(option["sample"]) > 1:
            for column, values in option["sample"].items():
                print_text(f"  {column}: {', '.join(values)}", err=True)
    options = [(_option_label(option), option["put"]) for option in question["options"]]
    if question["code"] == "crs":
        options.append(("Another system", {"crs": None}))
    if required_question([question]) is None:
        options.append(("Leave it as it is", {}))
    for number, (label, _) in enumerate(options, start=1):
        print_text(f"  {number}  {label}", err=True)
    number = click.prompt("Number", type=click.IntRange(1, len(options)), err=True)
    return _fill_in(options[number - 1][1])


def open_question(question: Mapping[str, Any]) -> CommandError:
    """Return the error for a question that nobody can answer."""
    return CommandError(f"{question['message']} Add one of:\n{_question_flags(question)}")


def question_warning(question: Mapping[str, Any]) -> str:
    """Return a warning about a question that may stay open."""
    return f"{question['message']} If so, add:\n{_question_flags(question)}"


def with_answer(choices: Json, answer: Json) -> Json:
    """Return the choices of an import, changed by an answer."""
    mapping = {**choices["mapping"], **answer.get("mapping", {})}
    return {**choices, **answer, "mapping": mapping}


def _option_label(option: Mapping[str, Any]) -> str:
    """Return the text of an option, with the values of its column."""
    columns = list(option["sample"].values())
    values = f": {', '.join(columns[0])}" if len(columns) == 1 else ""
    return f"{option['label']}{values}"


def _fill_in(put: Json) -> Json:
    """Prompt for the open values of an answer. Returns the whole answer."""
    answer: Json = {}
    for name, value in put.items():
        if isinstance(value, dict):
            value = _fill_in(value)
        elif value is None:
            value = click.prompt(_PROMPTS.get(name, "Its code, such as EPSG:25832"), err=True)
        answer[name] = value
    return answer


def _question_flags(question: Mapping[str, Any]) -> str:
    flags = [(_answer_flag(option["put"]), _option_label(option)) for option in question["options"]]
    if question["code"] == "crs":
        flags.append((_ANY_CRS, "Another system"))
    width = max(len(flag) for flag, _ in flags)
    return "\n".join(f"  {flag:{width}}  {label}" for flag, label in flags)


def _answer_flag(put: Json) -> str:
    """Return the options of the command for an answer."""
    values: Json = {**put, **put.get("mapping", {})}
    values.pop("mapping", None)
    match values:
        case {"points": points}:
            layer = f"--layer {shlex.quote(put['layer'])} " if "layer" in put else ""
            return f"{layer}--points {points}{' --project ID' if 'project_id' in put else ''}"
        case {"points_as_plots": True, "project_id": _}:
            return "--points-as-plots --project ID"
        case {"points_as_plots": False}:
            return "--no-points-as-plots"
        case {"project_id": _}:
            return "--project ID"
        case {"corners_by": column}:
            return f"--corners-by {shlex.quote(column)}"
        case {"name": column}:
            return f"--name-property {shlex.quote(column)}"
    return " ".join(_value_flag(name, value) for name, value in values.items())


def _value_flag(name: str, value: Any) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is True:
        return option
    if isinstance(value, dict):
        value = "=".join(*value.items())
    return f"{option} {'COLUMN' if value is None else shlex.quote(value)}"
