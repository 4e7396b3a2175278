"""The output of commands: lines and tables for people, one JSON document for programs. Only results
go to standard output; questions, progress and errors go to standard error."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import cleandoc
from pathlib import Path
from typing import IO, Any, Final

import click
import orjson

from app.http.errors import ApiError
from app.values.command_name import canopy_command
from app.values.files import new_private_file
from app.values.text import printable_text

Record = Mapping[str, Any]

_RAW_CONTROL: Final = re.compile("[\x7f-\x9f]")  # orjson does not escape these

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON document and nothing else."
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
account_option = click.option(
    "--account", required=True, metavar="ACCOUNT", help="Id or slug of the account."
)
output_option = click.option(
    "--output",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="The file to write; - is standard output.",
)


class CommandError(click.ClickException):
    """A command failed: prints ``Error: …`` on standard error, exit code 1."""

    def __init__(self, message: str) -> None:
        super().__init__(printable_text(message))


def command_error(error: ApiError) -> CommandError:
    """Return the error of a command for one of a service: its message or, if it only has the
    default one, a line for each invalid field."""
    if error.message != error.default_message:
        return CommandError(error.message)
    lines = [f"{detail.field}: {detail.message}" for detail in error.details]
    return CommandError("\n       ".join(lines or [error.message]))


def print_text(text: str = "", *, err: bool = False) -> None:
    """Print a text, without control characters for terminals."""
    click.echo(printable_text(text), err=err)


def show_json(value: Any) -> None:
    """Print one JSON document, without control characters for terminals."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    click.echo(_RAW_CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def show_record(record: Record, columns: Sequence[str] = (), *, as_json: bool) -> None:
    """Print one record: a JSON object, or a line ``name  value`` for each field, or for these."""
    if as_json:
        show_json(record)
        return
    width = max(map(len, columns or record))
    for name in columns or record:
        print_text(f"{name:<{width}}  {format_cell(record[name])}".rstrip())


def show_records(
    records: Sequence[Record], columns: Sequence[str], *, as_json: bool, none: str
) -> None:
    """Print a list: a JSON array of whole records, or a table of some columns; ``none`` instead of
    an empty table."""
    if as_json:
        show_json(records)
    elif not records:
        print_text(none)
    else:
        show_table(columns, ([record[name] for name in columns] for record in records))


def show_section(title: str, records: Sequence[Record], columns: Sequence[str]) -> None:
    """Print a table of related records below a record."""
    print_text(f"\n{title}")
    show_records(records, columns, as_json=False, none="None.")


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table with headings. Columns of numbers are aligned to the right."""
    body = list(rows)
    cells = [list(columns), *([format_cell(value) for value in row] for row in body)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [all(isinstance(row[n], int | float) for row in body) for n in range(len(columns))]
    for line in cells:
        padded = (
            text.rjust(width) if is_numeric else text.ljust(width)
            for text, width, is_numeric in zip(line, widths, numeric, strict=True)
        )
        print_text("  ".join(padded).rstrip())


def format_cell(value: Any) -> str:
    """Return a value for people, in one line. Fractions, such as hectares, have four decimals."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.4f}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        value = " ".join(map(str, value)) or "-"
    return re.sub(r"\s", " ", str(value))


def confirm_action(question: str, *, yes: bool, as_json: bool) -> None:
    """Ask before something that cannot be undone, unless ``yes``.

    Raises:
        CommandError: with ``--json`` and without a terminal, nobody can be asked.
        click.Abort: the answer was no.
    """
    if yes:
        return
    if as_json and not sys.stdin.isatty():
        raise CommandError("This cannot be undone, and there is no terminal to ask on; add --yes.")
    click.confirm(printable_text(question), abort=True, err=True)


def read_password() -> str:
    """Read a password from standard input, which no list of processes shows. On a terminal it is
    typed twice."""
    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    password: str = click.prompt(
        "New password", hide_input=True, confirmation_prompt="Repeat the password", err=True
    )
    return password


def add_examples(*lines: str, text: str = "") -> Callable[[Any], Any]:
    """Add examples to a command's help. This decorator goes below ``command``.

    Args:
        text: the help before the examples; by default the function's docstring.
    """

    def add(function: Any) -> Any:
        commands = "\n".join(f"  {canopy_command(line)}" for line in lines)
        description = cleandoc(text or function.__doc__).replace("bin/canopy", canopy_command())
        function.__doc__ = f"{description}\n\n\b\nExamples:\n{commands}\n"
        return function

    return add


@contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Open standard output, or a file that replaces the one at ``path`` once it is complete. Raises
    CommandError if it cannot be written."""
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    try:
        with new_private_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from None
