"""The logs of ``bin/serve``'s parts: files, rotated and shown on a terminal, or standard error, for
which the path is None."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from config import Settings

CHECK_EVERY = 0.2  # seconds


def log_path(settings: Settings, name: str) -> Path | None:
    """The file of a log, or None where it is standard error."""
    return settings.instance_path / "logs" / name if settings.log_files else None


def open_log(path: Path | None) -> int:
    """A descriptor for a child's output. It appends, so that ``rotate`` can truncate the file."""
    if path is None:
        return os.dup(sys.stderr.fileno())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def rotate(path: Path, limit: int, files: int) -> None:
    """Copy a log of more than ``limit`` bytes to ``.1`` and truncate it, while its writers go on.
    Of it and its former files, ``files`` are kept. Where that fails, as on a full disk, it stays.
    """
    if size_of(path) <= limit:
        return
    copy = Path(f"{path}.0")
    try:
        for number in _former(path):
            if number >= files - 1:  # first, as it makes room
                Path(f"{path}.{number}").unlink()
        if files > 1:
            shutil.copyfile(path, copy)
            for number in _former(path):
                Path(f"{path}.{number}").replace(f"{path}.{number + 1}")
        os.truncate(path, 0)
    except OSError:
        copy.unlink(missing_ok=True)


def _former(path: Path) -> list[int]:
    """The numbers of the former files of a log, the oldest first."""
    found = (each.suffix[1:] for each in path.parent.glob(f"{path.name}.*"))
    return sorted((int(number) for number in found if number.isdigit()), reverse=True)


def size_of(path: Path | None) -> int:
    """The size of a log, in bytes; 0 if there is none."""
    return path.stat().st_size if path is not None and path.exists() else 0


def its_log(path: Path | None) -> str:
    """Where the log of a part that died is, as the end of a sentence."""
    return "" if path is None else f"; its log is {path}"


def last_lines(path: Path | None, count: int = 8, *, after: int = 0) -> str:
    """The last ``count`` lines of a log, which show why its process died.

    Args:
        after: the size that it had when the process began.
    """
    if path is None:
        return ""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(after if after <= size else 0, size - 8192))  # or it was rotated
        return b"".join(file.readlines()[-count:]).decode(errors="replace")
    return ""


class Mirror:
    """Copies new lines of some logs to a terminal, each with the name of its log.

    It reads the files instead of piping the output of the processes: a terminal that blocks, such
    as one on which Ctrl-S was pressed, blocks this thread only.
    """

    def __init__(self, logs: Sequence[Path], target: int) -> None:
        width = max(len(path.stem) for path in logs)
        self._logs = [(f"{path.stem:{width}} │ ".encode(), path) for path in logs]
        self._target = target
        self._positions = {path: size_of(path) for path in logs}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Show the rest and end, without waiting for a terminal that blocks."""
        self._stopped.set()
        self._thread.join(timeout=0.4)

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # the terminal is gone
            while not self._stopped.wait(CHECK_EVERY):
                self._show_new()
            self._show_new()

    def _show_new(self) -> None:
        for prefix, path in self._logs:
            for line in self._new_lines(path):
                # os.write, as a terminal that blocks would block a stream's lock with it.
                os.write(self._target, prefix + line)

    def _new_lines(self, path: Path) -> list[bytes]:
        """Whole new lines; an unfinished one is read with the next."""
        size = size_of(path)
        if size < self._positions[path]:
            self._positions[path] = 0  # rotated
        if not size:  # of a part that has not begun to write
            return []
        with path.open("rb") as file:
            file.seek(self._positions[path])
            lines = [line for line in file if line.endswith(b"\n")]
        self._positions[path] += sum(len(line) for line in lines)
        return lines
