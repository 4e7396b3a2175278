"""The file that a command writes, or standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from app.cli.output import CommandError
from app.values.files import new_private_file

output_option = click.option(
    "--output",
    "path",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True),
    help="The file to write; - is standard output.",
)


@contextmanager
def output_file(path: Path) -> Iterator[IO[bytes]]:
    """Standard output, or a file that replaces the one at ``path`` when it is complete.

    Raises CommandError when it cannot be written.
    """
    if str(path) == "-":
        yield sys.stdout.buffer
        return
    try:
        with new_private_file(path) as file:
            yield file
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from None
