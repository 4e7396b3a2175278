"""People: passwords, sessions, mailed links, and limits on wrong passwords."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

PASSWORD_LENGTH: Final = (10, 128)  # characters

# A session expires when it is unused for SESSION_IDLE, and after SESSION_LIFE in any case.
SESSION_IDLE: Final = timedelta(days=14)
SESSION_LIFE: Final = timedelta(days=90)
# One more sign-in ends the session that was unused for longest.
SESSIONS_PER_PERSON: Final = 50

# The validity of mailed links.
SIGN_UP_LIFE: Final = timedelta(hours=24)
RESET_LIFE: Final = timedelta(hours=1)
VERIFICATION_LIFE: Final = timedelta(days=7)
INVITATION_LIFE: Final = timedelta(days=7)

# Wrong passwords for one person in one window; after these, unknown browsers are locked out until
# it ends. A browser in which the person has signed in before is counted separately.
WRONG_PASSWORDS: Final = 10
WRONG_PASSWORDS_WINDOW: Final = timedelta(minutes=10)
# Refused sign-ins without a known person that get an entry, from one client in one window.
REFUSALS_RECORDED: Final = 20
REFUSALS_WINDOW: Final = timedelta(hours=1)
KNOWN_BROWSER_LIFE: Final = timedelta(days=365)

# Mails of one kind in an hour that others can cause to an address; more are dropped. The kinds are
# sign-ups, password resets, notices of changed passwords, and the invitations of each account.
MAILS_AN_HOUR: Final = 5

TRIES: Final = 5  # to make a change that conflicts with another one
