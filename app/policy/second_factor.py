"""The second factor: codes, passkeys, limits on wrong codes, and what an account requires."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

# Codes of an authenticator app (RFC 6238), with SHA-1, which all of them know.
CODE_DIGITS: Final = 6
CODE_SECONDS: Final = 30  # for which a code is shown
CODE_DRIFT: Final = 1  # codes before and after the current one that are accepted, for slow clocks
SECRET_BYTES: Final = 20  # the output of SHA-1 (RFC 4226, section 4)

# 80 random bits each: a stolen hash cannot be searched for the code.
RECOVERY_CODES: Final = 10
RECOVERY_CODE_LENGTH: Final = 16  # characters, of five bits each

PASSKEYS: Final = 20  # per person
PASSKEY_NAME_LENGTH: Final = 64  # characters
PASSKEY_RESPONSE_LENGTH: Final = 20_000  # characters of a browser's JSON
RSA_BITS: Final = 2048  # the shortest RSA key of a passkey (RFC 8812, section 2)

# From the right password, or from a page with a challenge for a passkey, to the second factor.
SECOND_STEP_LIFE: Final = timedelta(minutes=10)
# From the page with a new secret for an app to the first code from it.
SETUP_LIFE: Final = timedelta(hours=1)
# After a confirmation, a session need not confirm again for this long before it does something
# that could hand over the account.
CONFIRMED_FOR: Final = timedelta(minutes=10)

# Wrong codes of one person in one window; after these, unknown browsers are locked out until it
# ends, but for passkeys. Three of a million codes are right at a time: whoever knows the password
# finds one within a year with a probability of a quarter. Whoever stays below the number that is
# mailed finds one with a probability of a twentieth.
WRONG_CODES: Final = 10
WRONG_CODES_MAILED: Final = 3  # in one window, at most once an hour
WRONG_CODES_WINDOW: Final = timedelta(hours=1)

# Days that members have to turn on a second factor once their account requires it.
GRACE_DAYS: Final = (0, 30)
DEFAULT_GRACE_DAYS: Final = 7
