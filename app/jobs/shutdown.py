"""The signal for the running job to stop, as its worker is ending.

A job that takes long looks at it, finishes or gives back what it holds, and returns. One that does
not look has ``app.processes.job_worker.FINISH_WITHIN`` seconds, and is ended then.
"""

from __future__ import annotations

import threading
from typing import Final

# Set in the job's own process, by a thread that listens to the worker.
requested: Final = threading.Event()
