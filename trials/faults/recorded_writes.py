"""What processes write to some files and sync, and the disk that a power cut would leave of it."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from trials.report import CannotCause

_HEAD: Final = struct.Struct("=dqqqqq")
_WRITTEN, _TRUNCATED, _SYNC_BEGINS, _SYNCED = range(4)


class Call(NamedTuple):
    """A call of a process, once it has succeeded."""

    at: float  # seconds, as of ``time.monotonic``
    kind: int
    thread: int
    offset: int
    path: str
    content: bytes


class Recorder:
    """Records the calls of the processes that are started with ``environ``.

    Args:
        folder: where two files are made that these processes can use.
        beginning: of the paths of the files that are recorded.

    Raises:
        CannotCause: this is not Linux, or there is no C compiler.
    """

    def __init__(self, folder: Path, beginning: Path) -> None:
        self._log = folder / "writes.log"
        self._log.touch()
        self._log.chmod(0o666)
        library, compiler = folder / "recorded_writes.so", shutil.which("cc")
        if sys.platform != "linux" or compiler is None:
            raise CannotCause("it takes Linux and a C compiler, such as of the package gcc")
        source = str(Path(__file__).with_suffix(".c"))
        command = [compiler, "-shared", "-fPIC", "-O2", source, "-o", str(library)]
        subprocess.run(command, check=True)
        self.environ = {
            "LD_PRELOAD": str(library),
            "WRITES_OF": str(beginning.resolve()),
            "WRITES_LOG": str(self._log),
        }

    def position(self) -> int:
        """Where the calls begin that come from now on."""
        return self._log.stat().st_size

    def calls(self, position: int) -> Iterator[Call]:
        """Those since then, in their order."""
        with self._log.open("rb") as log:
            log.seek(position)
            while head := log.read(_HEAD.size):
                at, kind, thread, offset, size, path_size = _HEAD.unpack(head)
                path = log.read(path_size).decode()
                content = log.read(size) if kind == _WRITTEN else b""
                yield Call(at, kind, thread, offset, path, content)


class Disk:
    """Files as they are on the disk: what has been synced.

    Args:
        files: their content at first, by path.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.syncs = self.writes = 0
        self._files = defaultdict(bytearray, {path: bytearray(files[path]) for path in files})
        self._unsynced = defaultdict[str, list[Call]](list)
        self._syncing: dict[tuple[str, int], set[int]] = {}

    def follow(self, call: Call) -> None:
        """Do what a process did."""
        unsynced, sync = self._unsynced[call.path], (call.path, call.thread)
        if call.kind == _SYNC_BEGINS:
            self._syncing[sync] = {id(each) for each in unsynced}
        elif call.kind == _SYNCED:
            self.syncs += 1
            covered = self._syncing.pop(sync, set())
            for each in unsynced:
                if id(each) in covered:
                    _apply(self._files[call.path], each)
            unsynced[:] = [each for each in unsynced if id(each) not in covered]
        else:
            self.writes += 1
            unsynced.append(call)

    def after_power_cut(self, chance: random.Random) -> dict[str, bytes]:
        """The files when the power is cut now. Of what is not synced, some is there by chance."""
        files = {path: bytearray(content) for path, content in self._files.items()}
        for path, calls in self._unsynced.items():
            for each in calls:
                if chance.random() < 0.5:
                    _apply(files.setdefault(path, bytearray()), each)
        return {path: bytes(content) for path, content in files.items()}


def _apply(content: bytearray, call: Call) -> None:
    end = call.offset + len(call.content)
    if call.kind == _TRUNCATED:
        del content[call.offset :]
    content.extend(bytes(max(0, end - len(content))))
    content[call.offset : end] = call.content
