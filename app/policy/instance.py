"""What operators set and see of the whole instance (``app.pages.operator``)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# The message at the top of every page.
MESSAGE_LENGTH: Final = 500  # characters
MESSAGE_KINDS: Final[dict[str, str]] = {"information": "Information", "warning": "Warning"}

# How long a process shows what it has read: a message, and whether anybody can sign up.
STATE_SECONDS: Final = 10.0

LISTED: Final = 50  # accounts, people, or entries on one page
ACCOUNTS_SHOWN: Final = 5  # of one person in the list of people

# How often a worker runs the doctor, besides whenever an operator asks for it.
DOCTOR_EVERY: Final = timedelta(days=1)
DOCTOR_WITHIN: Final = timedelta(minutes=15)  # then it is given up
DOCTOR_KEPT: Final = timedelta(days=30)
