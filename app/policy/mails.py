"""Mails: how long sending one may take, when it is tried again, and how long it is kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.policy.people import INVITATION_LIFE, RESET_LIFE, SIGN_UP_LIFE, VERIFICATION_LIFE

# After each attempt that failed; after the one that follows the last of these a mail is given up.
RETRY_AFTER: Final = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
)

# A mail whose link is dead by then is not tried again.
LINK_LIVES: Final = {
    "confirm_sign_up": SIGN_UP_LIFE,
    "reset_password": RESET_LIFE,
    "verify_email": VERIFICATION_LIFE,
    "invitation": INVITATION_LIFE,
}

# Seconds: for a connection and for each answer, for the answer to a whole mail, which some servers
# examine first, and for everything together.
ANSWER_WITHIN: Final = 10.0
TAKEN_WITHIN: Final = 45.0
SENT_WITHIN: Final = 60.0

MAILS_A_CONNECTION: Final = 50

# Seconds after which a job begins no other mail. With the last one it stays below the 180 that RQ
# gives a job.
RUN_FOR: Final = 90.0

NOTE_AGAIN_AFTER: Final = (0.5, 2.0, 8.0)  # seconds, when the database cannot take the outcome

# Longer than an attempt can take: after it, the mail of a worker that was killed is taken again.
LEASE: Final = timedelta(minutes=2)

MAILS_KEPT_FOR: Final = timedelta(days=30)  # since it was queued, once it is sent or given up

NAME_LENGTH: Final = 80  # characters of a name that a mail shows
