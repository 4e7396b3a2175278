"""Timed signatures for cookies, for hosts whose clocks differ."""

from __future__ import annotations

from typing import Any

from itsdangerous import SignatureExpired, TimestampSigner


class TimedSigner(TimestampSigner):
    """A signer that, unlike itsdangerous, accepts times in the future: another host, whose clock is
    a moment ahead, may have signed."""

    def unsign(
        self, signed_value: str | bytes, max_age: int | None = None, return_timestamp: bool = False
    ) -> Any:
        """Return the value, with the time of its signature if ``return_timestamp``.

        Raises:
            itsdangerous.SignatureExpired: it was signed more than ``max_age`` seconds ago.
            itsdangerous.BadSignature: it was signed with another key, or is malformed.
        """
        value, signed_at = super().unsign(signed_value, return_timestamp=True)
        age = self.get_timestamp() - signed_at.timestamp()
        if max_age is not None and age > max_age:
            raise SignatureExpired(f"signed {age:.0f} s ago", value, signed_at)
        return (value, signed_at) if return_timestamp else value
