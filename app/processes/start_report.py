"""Messages from the starting application to ``bin/serve``, each a line of JSON in a pipe:

* ``["note", "…"]``: a line for the person who started it, such as one about a migration
* ``["loaded", ""]``: the web server starts now
* ``["welcome", "…"]``: the web server responds; the text is for that person, too
"""

from __future__ import annotations

import json
import os
from typing import IO, Final

NOTE: Final = "note"
LOADED: Final = "loaded"
WELCOME: Final = "welcome"


def send_report(pipe: int, kind: str, text: str = "") -> None:
    """Send a message. Raises BrokenPipeError if ``bin/serve`` no longer reads."""
    os.write(pipe, f"{json.dumps([kind, text])}\n".encode())


def receive_report(pipe: IO[bytes]) -> tuple[str, str] | None:
    """Return the kind and text of the next message; None if the application has ended."""
    line = pipe.readline()
    return tuple(json.loads(line)) if line else None
