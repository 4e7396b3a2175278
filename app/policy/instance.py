"""The settings and lists of the operators' pages (``app.pages.operator``)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# The message at the top of every page.
MESSAGE_LENGTH: Final = 500  # characters
MESSAGE_KINDS: Final[dict[str, str]] = {"information": "Information", "warning": "Warning"}

# A process caches the message, and if anybody can sign up, for this long.
STATE_SECONDS: Final = 10.0

LISTED: Final = 50  # accounts, people, or entries on one page
ACCOUNTS_SHOWN: Final = 5  # for each person in the list of people

# Interval of the doctor's runs, besides those that an operator asks for.
DOCTOR_EVERY: Final = timedelta(days=1)
DOCTOR_WITHIN: Final = timedelta(minutes=15)  # then it is given up
DOCTOR_KEPT: Final = timedelta(days=30)

# The daily backup (BACKUP_DAILY): how many are kept, when it is tried again after a failure, and
# when it is given up. From which age the doctor warns of the last backup, without and with it.
BACKUPS_KEPT: Final = 7
BACKUP_RETRY: Final = timedelta(hours=1)
BACKUP_WITHIN: Final = timedelta(hours=6)
OLD_BACKUP: Final = timedelta(days=7)
OLD_DAILY_BACKUP: Final = timedelta(days=2)
