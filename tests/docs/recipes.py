"""The recipes of docs/recipes, followed as they stand in a copy of the checkout.

An HTML comment in front of a block says what is done with it:

- ``create PATH``: it is the file.
- ``in PATH, after: LINE``, ``before: LINE``, ``instead of: LINE``: the one line of the file that is
  LINE, whatever its indentation.
- ``in PATH, at the end``: it is added there, in Python after two blank lines.
- ``run``: it is a list of commands.

Comments are not shown, so the sentence above the block names the line, and the file unless it is
that of the block before. In paths and blocks, NEXT is the number of the next migration, and LAST
that of the last one.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from tests.architecture.sources import ROOT
from tests.docs.pages import blocks

FOLDER: Final = ROOT / "docs/recipes"
_COPIED: Final = ("app", "bench", "bin", "deploy", "docs", "migrations", "tests", "trials")
_IGNORED: Final = shutil.ignore_patterns("__pycache__", "node_modules")
_NOTE: Final = re.compile(
    r"create (?P<new>\S+)|in (?P<path>\S+?), (?:at the end|(?P<where>\w[\w ]*): (?P<line>.+))"
)
# What a command of the page is here, without setting anything up.
_PROGRAMS: Final = {
    "bin/test": [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider"],
    "bin/canopy": [sys.executable, "-m", "app.cli"],
    ".venv/bin/python": [sys.executable],
}


class Edit(NamedTuple):
    """Text that is put into a file: at its end, or ``where`` the line is."""

    path: str
    text: str
    where: str = ""  # "after", "before" or "instead of"; empty: at the end
    line: str = ""

    def apply(self, folder: Path) -> None:
        path = folder / self.path
        if not self.line:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text((path.read_text() if path.exists() else "") + self.text)
            return
        lines = path.read_text().splitlines(keepends=True)
        found = [number for number, each in enumerate(lines) if each.strip() == self.line.strip()]
        assert len(found) == 1, f"{self.path} has {len(found)} lines that are: {self.line}"
        start = found[0] + (self.where == "after")
        lines[start : found[0] + (self.where != "before")] = [self.text]
        path.write_text("".join(lines))


def copy_checkout(folder: Path) -> None:
    """Copy what is needed to run the service and its tests."""
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=_IGNORED)
    for path in ROOT.iterdir():
        if path.is_file() and path.name != ".git":
            shutil.copy(path, folder)


def edits(page: str, root: Path = ROOT) -> Iterator[Edit]:
    """Yield the edits of a recipe in their order."""
    last = max(path.name[:4] for path in (root / "migrations/versions").glob("[0-9]*.py"))
    for block in blocks(page):
        if match := _NOTE.fullmatch(block.note):
            numbered = [
                each.replace("NEXT", f"{int(last) + 1:04}").replace("LAST", last)
                for each in (match["new"] or match["path"], block.text)
            ]
            is_added = not (match["new"] or match["line"]) and numbered[0].endswith(".py")
            text = ("\n\n" if is_added else "") + f"{numbered[1]}\n"
            yield Edit(numbered[0], text, match["where"] or "", match["line"] or "")


def commands(page: str) -> Iterator[list[str]]:
    """Yield the commands of a recipe."""
    for block in blocks(page):
        if block.note == "run":
            yield from map(shlex.split, block.text.splitlines())


def created(page: str) -> set[str]:
    """The files that a recipe creates, as it names them."""
    found = (re.fullmatch(r"create (\S+)", block.note) for block in blocks(page))
    return {match[1] for match in found if match}


def unclear(page: str) -> Iterator[str]:
    """Yield the notes that no rule reads, or that say more than the sentence above their block."""
    former = ""  # the path of the block before
    for block in blocks(page):
        match = _NOTE.fullmatch(block.note)
        if match is None:
            if block.note != "run":
                yield block.note or block.text
            continue
        path, line = match["new"] or match["path"], match["line"] or ""
        said = " ".join(block.before.split())
        is_told = path == former or f"`{path}`" in said
        if not is_told or (line and f"`{' '.join(line.split())}`" not in said):
            yield block.note
        former = path


@contextmanager
def followed(page: str, folder: Path) -> Iterator[None]:
    """Make the edits of a recipe in a copy; afterwards, the copy is as it was."""
    former: dict[Path, bytes | None] = {}
    try:
        for edit in edits(page, folder):
            path = folder / edit.path
            former.setdefault(path, path.read_bytes() if path.exists() else None)
            edit.apply(folder)
        yield
    finally:
        for path, content in former.items():
            if content is not None:
                path.write_bytes(content)
            else:
                path.unlink(missing_ok=True)


def run(command: list[str], folder: Path) -> str:
    """Run a command of a recipe in a copy. Returns its output; fails if the command does."""
    program, *arguments = command
    kept = ("PATH", "HOME", "TMPDIR")
    done = subprocess.run(
        [*_PROGRAMS[program], *arguments],
        cwd=folder,
        env={name: os.environ[name] for name in kept if name in os.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}"
    return done.stdout
