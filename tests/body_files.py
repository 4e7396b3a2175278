"""The files of large responses, which can be looked at after the request."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import Any

import pytest

from app.http import body_files


class SeenFile(SpooledTemporaryFile):  # type: ignore[type-arg]
    """A file that is in ``made`` once it is opened."""

    made: list[SeenFile] = []  # noqa: RUF012 - emptied for each test

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.made.append(self)


def watch_files(monkeypatch: pytest.MonkeyPatch) -> list[SeenFile]:
    """The files that are opened from now on."""
    monkeypatch.setattr(body_files, "SpooledTemporaryFile", SeenFile)
    monkeypatch.setattr(SeenFile, "made", [])
    return SeenFile.made
