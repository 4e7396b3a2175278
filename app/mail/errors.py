"""The reasons why a mail was not sent.

::

    MailError
    ├── Undeliverable          permanent
    └── Delayed                temporary
        └── ServerUnavailable  affects all mails
"""

from __future__ import annotations


class MailError(Exception):
    """A mail was not sent.

    ``reason`` is a short text, stored with the mail and logged; it contains no secrets and nothing
    from the server. ``reply`` is the server's reply, shown to the operator only.
    """

    def __init__(self, reason: str, reply: str = "") -> None:
        self.reason = reason
        self.reply = reply
        super().__init__(reason)


class Undeliverable(MailError):
    """A permanent failure: it is not retried."""


class Delayed(MailError):
    """A temporary failure: it is retried."""


class ServerUnavailable(Delayed):
    """The server cannot be used for any mail."""
