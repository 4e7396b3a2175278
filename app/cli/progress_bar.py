"""A bar that shows how far an import is."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

import click

from app.imports.progress import ImportProgress


class ProgressBar(ImportProgress):
    """A bar on a terminal, and nothing elsewhere."""

    def __init__(self, label: str, *, quiet: bool) -> None:
        self._label = label
        self._stack = ExitStack()
        self._is_shown = not quiet and sys.stderr.isatty()
        self._bar: Any = None

    def start(self, total: int) -> None:
        if self._is_shown:
            bar: Any = click.progressbar(length=total, label=self._label, file=sys.stderr)
            self._bar = self._stack.enter_context(bar)

    def advance(self, features: int) -> None:
        if self._bar is not None:
            self._bar.update(features)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
