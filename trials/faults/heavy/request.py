"""A request, as it is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from app.security.signatures import sign, signature_header

Value = Callable[[], bytes]

SECRETS: Final = {
    "BILLING_WEBHOOK_SECRET": "of the billing system",
    "PAYMENT_PROVIDER_WEBHOOK_SECRET": "of the payment provider",
    "DB_WEBHOOK_SECRET": "of the database's webhook",
}


@dataclass(frozen=True)
class Request:
    """A request, whose body is made when it is needed."""

    name: str
    method: str
    path: str
    make_body: Value
    headers: Mapping[str, str] = field(default_factory=dict)
    repeated: tuple[str, bytes] | None = None  # a header field that is sent as often as possible
    secret: str = ""  # the setting with which it is signed

    def signed(self, body: bytes) -> dict[str, str]:
        """Its headers, with the signature of its body where it needs one."""
        headers = {"Content-Type": "application/json", **self.headers}
        if self.secret == "PAYMENT_PROVIDER_WEBHOOK_SECRET":
            moment = int(time.time())
            signature = sign(SECRETS[self.secret], b"%d.%b" % (moment, body))
            headers["Stripe-Signature"] = f"t={moment},v1={signature}"
        elif self.secret:
            headers["X-Service-Signature"] = signature_header(SECRETS[self.secret], body)
        return headers


def filled(
    before: bytes, piece: bytes, after: bytes = b"", most: int | None = None, *, size: int
) -> bytes:
    """``before``, then ``piece`` as often as it fits into ``size`` bytes and at most ``most``
    times, then ``after``."""
    number = (size - len(before) - len(after)) // len(piece)
    return before + piece * (number if most is None else min(most, number)) + after
