"""People: passwords, sessions, mailed links, and how often a password may be guessed."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

PASSWORD_LENGTH: Final = (10, 128)  # characters

# A session ends when it was not used for so long, and after the other in any case.
SESSION_IDLE: Final = timedelta(days=14)
SESSION_LIFE: Final = timedelta(days=90)

# How long a mailed link can be followed.
SIGN_UP_LIFE: Final = timedelta(hours=24)
RESET_LIFE: Final = timedelta(hours=1)
VERIFICATION_LIFE: Final = timedelta(days=7)
INVITATION_LIFE: Final = timedelta(days=7)

# So many wrong passwords for one person in so long a time; then strange browsers wait for its end.
# A browser in which that person was signed in before has as many of its own.
WRONG_PASSWORDS: Final = 10
WRONG_PASSWORDS_WINDOW: Final = timedelta(minutes=10)
KNOWN_BROWSER_LIFE: Final = timedelta(days=365)

# Mails of one kind in an hour that others can have sent to an address; further ones are dropped. By
# themselves count sign-ups, new passwords, word of changed ones, and each account's invitations.
MAILS_AN_HOUR: Final = 5

TRIES: Final = 5  # of a change that somebody else's stood in the way of
FORM_BYTES: Final = 64 * 1024  # no form of a page is longer
FORM_LIFE: Final = timedelta(hours=12)  # after which an open page has to be loaded anew
