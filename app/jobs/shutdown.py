"""Whether the running job was asked to stop, as the worker is when it ends.

A job that takes long looks here, finishes or gives back what it holds, and returns. One that does
not look has ``app.processes.rq_worker.FINISH_WITHIN`` seconds, and is ended then.
"""

from __future__ import annotations

import threading
from typing import Final

# Set in the job's own process, by a thread that listens to the worker. For waiting, and for tests.
requested: Final = threading.Event()


def is_requested() -> bool:
    """Whether the job has to come to an end."""
    return requested.is_set()
