"""The progress bar of commands that take long."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any, Final

import click

from app.imports.progress import ImportProgress

_UPDATES: Final = 200  # of a whole bar


class ProgressBar(ImportProgress):
    """A progress bar on a terminal; elsewhere it shows nothing."""

    waits_in_place = True

    def __init__(self, label: str, *, quiet: bool) -> None:
        self.is_shown: Final = not quiet and sys.stderr.isatty()
        self._label = label
        self._stack = ExitStack()
        self._bar: Any = None

    def start(self, total: int) -> None:
        if self.is_shown:
            bar: Any = click.progressbar(
                length=total,
                label=self._label,
                file=sys.stderr,
                update_min_steps=max(total // _UPDATES, 1),
            )
            self._bar = self._stack.enter_context(bar)

    def advance(self, features: int) -> None:
        if self._bar is not None:
            self._bar.update(features)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
