"""Why a mail was not sent.

::

    MailFailed
    ├── Undeliverable      never will be
    └── Delayed            may be later
        └── ServerUnavailable  and no other mail either
"""

from __future__ import annotations


class MailFailed(Exception):
    """A mail was not sent.

    ``reason`` is a short text of this service, kept with the mail and logged: without a secret and
    without what a server said. ``answer`` is what it said, for an operator who asks.
    """

    def __init__(self, reason: str, answer: str = "") -> None:
        self.reason = reason
        self.answer = answer
        super().__init__(reason)


class Undeliverable(MailFailed):
    """Trying again would change nothing."""


class Delayed(MailFailed):
    """Worth another try."""


class ServerUnavailable(Delayed):
    """The server cannot be used, for this mail or another one."""
