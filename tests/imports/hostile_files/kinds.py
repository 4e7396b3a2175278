"""What a hostile file is, and what it must not get at."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MEGABYTE = 1024 * 1024
SECRET = "e7a3c1d9"


class Bait:
    """A file, a folder and a URL that nobody may read, or write to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "secret.csv"
        self.file.write_text(f"name,wkt\n{SECRET},POINT (1 2)\n")
        os.utime(self.file, (0, self.file.stat().st_mtime))  # reading it changes the first
        self.connections = 0
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}/bait"
        threading.Thread(target=self._listen, daemon=True).start()

    def faults(self) -> list[str]:
        """What somebody has read, fetched, or written."""
        found = [f"{self.connections} connections to the listener"] if self.connections else []
        if self.file.stat().st_atime != 0:
            found.append("the file was read")
        others = [path.name for path in self.folder.iterdir() if path != self.file]
        return found + ([f"files appeared: {others}"] if others else [])

    def close(self) -> None:
        self._server.close()

    def _listen(self) -> None:
        with suppress(OSError):  # it was closed
            while True:
                connection, _ = self._server.accept()
                self.connections += 1
                connection.close()


class Makers(NamedTuple):
    """What a file is made with: a folder for it, the bait, and the most bytes of an upload."""

    folder: Path
    bait: Bait
    most: int

    def baited(self, text: str) -> str:
        """A text with the bait in the place of ``{file}`` and ``{url}``."""
        return text.replace("{file}", str(self.bait.file)).replace("{url}", self.bait.url)


class HostileFile(NamedTuple):
    """A file; ``make`` gives its content.

    ``message``: a part of what the import says of it, where it has to fail. Empty: the file is
    ready, as what is harmful in it is passed over or rejected feature by feature. None: the upload
    itself is refused.
    """

    name: str
    make: Callable[[Makers], bytes]
    message: str | None
    filename: str = "upload"
    is_large: bool = False  # takes long, so that it is for the long form alone
