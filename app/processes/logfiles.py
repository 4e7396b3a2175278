"""The logs of the parts of ``bin/serve``: files, which are rotated and shown on a terminal. A path
of None stands for standard error."""

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
    """Return the file of a log, or None for standard error."""
    return settings.instance_path / "logs" / name if settings.log_files else None


def open_log(path: Path | None) -> int:
    """Open a log for a child's output. It is appended to, so that ``rotate_log`` can truncate
    it.
    """
    if path is None:
        return os.dup(sys.stderr.fileno())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def rotate_log(path: Path, limit: int, files: int) -> None:
    """Copy a log of more than ``limit`` bytes to ``.1`` and truncate it; its writers may go on.
    Keeps ``files`` files in total. If that fails, as on a full disk, the log stays."""
    if size_of(path) <= limit:
        return
    copy = Path(f"{path}.0")
    try:
        for number in _old_numbers(path):
            if number >= files - 1:  # first, as it makes room
                Path(f"{path}.{number}").unlink()
        if files > 1:
            shutil.copyfile(path, copy)
            for number in _old_numbers(path):
                Path(f"{path}.{number}").replace(f"{path}.{number + 1}")
        os.truncate(path, 0)
    except OSError:
        copy.unlink(missing_ok=True)


def _old_numbers(path: Path) -> list[int]:
    """Return the numbers of the rotated files of a log, the oldest first."""
    suffixes = (file.suffix[1:] for file in path.parent.glob(f"{path.name}.*"))
    return sorted((int(suffix) for suffix in suffixes if suffix.isdigit()), reverse=True)


def size_of(path: Path | None) -> int:
    """Return the size of a log in bytes; 0 if there is none."""
    return path.stat().st_size if path is not None and path.exists() else 0


def its_log(path: Path | None) -> str:
    """Return the end of a sentence that says where a log is."""
    return "" if path is None else f"; its log is {path}"


def last_lines(path: Path | None, count: int = 8, *, after: int = 0) -> str:
    """Return the last ``count`` lines of a log, which show why its process died.

    Args:
        after: size of the log when the process began.
    """
    if path is None:
        return ""
    with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
        size = path.stat().st_size
        file.seek(max(after if after <= size else 0, size - 8192))  # 0 if it was rotated
        return b"".join(file.readlines()[-count:]).decode(errors="replace")
    return ""


class Mirror:
    """Copies new lines of logs to a terminal, each with the name of its log.

    It reads the files instead of piping the output of the processes, so that a blocked terminal
    (Ctrl-S) blocks this thread only.
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
        """Show the rest and end, without waiting for a blocked terminal."""
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
                # Not a stream: a blocked terminal would keep its lock.
                os.write(self._target, prefix + line)

    def _new_lines(self, path: Path) -> list[bytes]:
        """Return the new lines. An unfinished one is left for the next call."""
        size = size_of(path)
        if size < self._positions[path]:
            self._positions[path] = 0  # rotated
        if not size:  # the part has written nothing yet
            return []
        with path.open("rb") as file:
            file.seek(self._positions[path])
            lines = [line for line in file if line.endswith(b"\n")]
        self._positions[path] += sum(len(line) for line in lines)
        return lines
