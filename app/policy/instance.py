"""The settings and lists of the operators' pages (``app.pages.operator``)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# The message at the top of every page.
MESSAGE_LENGTH: Final = 500  # characters
MESSAGE_KINDS: Final[dict[str, str]] = {"information": "Information", "warning": "Warning"}

# For how long a process caches the message, and whether anybody can sign up.
STATE_SECONDS: Final = 10.0

LISTED: Final = 50  # accounts, people, or entries on one page
ACCOUNTS_SHOWN: Final = 5  # for each person in the list of people

# How often a worker runs the doctor, besides whenever an operator asks for it.
DOCTOR_EVERY: Final = timedelta(days=1)
DOCTOR_WITHIN: Final = timedelta(minutes=15)  # then it is given up
DOCTOR_KEPT: Final = timedelta(days=30)
