"""What the application tells ``bin/serve`` while it starts, each message a line of JSON in a pipe:

* ``["note", "…"]``: a line for the person who started it, such as one about a migration
* ``["loaded", ""]``: the web server starts now
* ``["welcome", "…"]``: the web server responds; what that person has to know
"""

from __future__ import annotations

import json
import os
from typing import IO, Final

NOTE: Final = "note"
LOADED: Final = "loaded"
WELCOME: Final = "welcome"


def send_report(pipe: int, kind: str, text: str = "") -> None:
    """Raises BrokenPipeError: ``bin/serve`` reads no more."""
    os.write(pipe, f"{json.dumps([kind, text])}\n".encode())


def receive_report(pipe: IO[bytes]) -> tuple[str, str] | None:
    """The kind and the text of the next message; None: the application has ended."""
    line = pipe.readline()
    return tuple(json.loads(line)) if line else None
