"""The signal for the running job to stop, as its worker ends.

A long job checks it, finishes or gives back what it holds, and returns. Otherwise the job is killed
after ``app.processes.job_worker.FINISH_WITHIN`` seconds.
"""

from __future__ import annotations

import threading
from typing import Final

# A thread that listens to the worker sets it in the job's process.
requested: Final = threading.Event()
