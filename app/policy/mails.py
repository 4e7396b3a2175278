"""Mails: time limits for sending, retries, and how long they are kept."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from app.policy.people import INVITATION_LIFE, RESET_LIFE, SIGN_UP_LIFE, VERIFICATION_LIFE
from app.policy.single_sign_on import CONSENT_LIFE

# The pause after each failed attempt. There is one attempt more than pauses.
RETRY_AFTER: Final = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
)

# A mail whose link has expired is not tried again.
LINK_LIVES: Final = {
    "confirm_sign_up": SIGN_UP_LIFE,
    "reset_password": RESET_LIFE,
    "verify_email": VERIFICATION_LIFE,
    "invitation": INVITATION_LIFE,
    "link_sign_in": CONSENT_LIFE,
}

# Seconds: for the connection and each reply, for the reply to the whole mail, which some servers
# scan first, and for everything together.
REPLY_TIMEOUT: Final = 10.0
ACCEPT_TIMEOUT: Final = 45.0
SEND_TIMEOUT: Final = 60.0

MAILS_A_CONNECTION: Final = 50

# Seconds after which a job begins no other mail. The last one takes SEND_TIMEOUT at most.
RUN_FOR: Final = 90.0

SAVE_RETRY_AFTER: Final = (0.5, 2.0, 8.0)  # seconds between tries to save the outcome

# Longer than an attempt can take. Afterwards, another worker retries the mail of a killed one.
LEASE: Final = timedelta(minutes=2)

# The longest waits of a mail before its first attempt and after each. Longer ones mean that the
# clock was set back.
LONGEST_WAITS: Final = (LEASE, *(max(LEASE, pause) for pause in RETRY_AFTER), LEASE)

MAILS_KEPT_FOR: Final = timedelta(days=30)  # since it was queued, once it is sent or given up

NAME_LENGTH: Final = 80  # characters of a name that a mail shows
