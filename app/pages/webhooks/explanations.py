"""Explanations of failed attempts of webhooks, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NamedTuple

from app.policy.deliveries import ATTEMPT_SECONDS, FailureReason
from app.webhooks.logs.service import last_failure


class Explanation(NamedTuple):
    """A sentence about what happened, and one about what to do, or an empty string."""

    what: str
    todo: str = ""


# Reasons for no response.
_NO_RESPONSE: Final[dict[str, tuple[str, str]]] = {
    FailureReason.NOT_ALLOWED: (
        "The address of the URL is not public, so it was not called.",
        "Use a host name, or an address that is reachable from the internet.",
    ),
    FailureReason.NO_PUBLIC_ADDRESS: (
        "The host name of the URL has no public address.",
        "Check its spelling and its DNS records. If your receiver is in a private network, ask the "
        "operator of this instance to allow it with WEBHOOK_ALLOWED_NETWORKS.",
    ),
    FailureReason.SLOW_NAME: (
        "Looking up the host name took too long.",
        "Check the name servers of the domain: they are slow or do not respond.",
    ),
    FailureReason.SLOW_CONNECT: (
        "Nothing accepted the connection in time.",
        "Check the port of the URL, and whether a firewall drops connections.",
    ),
    FailureReason.REFUSED: (
        "The machine refused the connection: nothing listens on that port.",
        "Start your receiver, or correct the port in the URL.",
    ),
    FailureReason.UNREACHABLE: (
        "There is no route to the machine.",
        "Check your network; perhaps DNS lists an IPv6 address that does not work.",
    ),
    FailureReason.SLOW_TLS: (
        "The TLS handshake took too long.",
        "Check whether that port uses TLS, and whether the machine is overloaded.",
    ),
    FailureReason.WRONG_NAME: (
        "The TLS certificate is for another host name.",
        "Get a certificate for the host name in the URL.",
    ),
    FailureReason.EXPIRED: (
        "The TLS certificate has expired, or is not valid yet.",
        "Renew the certificate, and have your server load it.",
    ),
    FailureReason.UNTRUSTED: (
        "The TLS certificate is not signed by an authority that is trusted here.",
        "Send the intermediate certificates too. For an authority of your own, ask the operator "
        "of this instance to add it to WEBHOOK_CA_BUNDLE.",
    ),
    FailureReason.BAD_CERTIFICATE: (
        "The TLS certificate is not valid.",
        "Inspect it, for example with “openssl s_client”.",
    ),
    FailureReason.TLS: (
        "The TLS handshake failed.",
        "Offer TLS 1.2 or 1.3, and do not require a client certificate.",
    ),
    FailureReason.SLOW_RESPONSE: (
        f"Your receiver did not answer within {ATTEMPT_SECONDS:g} seconds.",
        "Store the event, answer at once, and do the work afterwards.",
    ),
    FailureReason.CLOSED: (
        "The connection was closed before a response came.",
        "Check whether your receiver, or a proxy in front of it, crashes, restarts or limits "
        "requests.",
    ),
    FailureReason.NOT_HTTP: (
        "The response is not HTTP.",
        "Check whether another program uses that port, and keep the headers of responses small.",
    ),
    FailureReason.BAD_URL: ("The URL cannot be used.", "Edit the webhook and enter its URL again."),
}
_INTERNAL_ERROR: Final = Explanation(
    "The service had an internal error. It does not count as a failure of your receiver.",
    "Ask the operator of this instance, who finds the reason in the service's log.",
)
_LOOK: Final = "Look into your receiver's own log at that time."
_RESPONSES: Final[dict[int, str]] = {
    400: "Your receiver did not understand the request. Check that it reads the body as JSON, and "
    "ignores fields that it does not know.",
    401: "Your receiver wants credentials, or its check of the signature failed. Compare the "
    "secret that it has, and check that it verifies the body byte for byte.",
    403: "Your receiver, or a firewall in front of it, forbids the request. Check its rules for "
    "POST requests from this service, and its check of the signature.",
    404: "Nothing is at that path. Correct the path in the URL, or add the route to your receiver.",
    405: "The path does not take POST. Correct the path in the URL, or add the method.",
    408: "Your receiver gave up waiting for the request. Check proxies in front of it.",
    410: "Your receiver says that it is gone, which disables the webhook. Correct the URL, then "
    "enable it again.",
    413: "The body is too large for your receiver. Raise its limit to 1 MB or more.",
    415: "Your receiver does not take application/json. Allow this content type.",
    422: "Your receiver refused the content. Check that it ignores fields and types that it does "
    "not know.",
    429: "Your receiver limits requests. Raise the limit for this path, or answer before you work.",
    500: f"Your receiver failed. {_LOOK}",
    502: "A proxy in front of your receiver got no valid response. Check that the receiver runs.",
    503: "Your receiver, or a proxy in front of it, is overloaded or down for maintenance. Check "
    "that it runs.",
    504: "A proxy in front of your receiver waited too long. Answer at once, and work afterwards.",
}
_BY_HUNDRED: Final = {
    3: "Redirects are not followed. Change the URL of the webhook to where it leads.",
    4: f"Your receiver refused the request. {_LOOK}",
    5: f"Your receiver failed. {_LOOK}",
}
_OTHER_STATUS: Final = f"Only a status from 200 to 299 is a success. {_LOOK}"


def failure_of(account_id: str, webhook: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the last failed attempt of a webhook that is failing or gone; None for any other.

    Args:
        webhook: a record of ``app.webhooks.activity``.
    """
    if not webhook["consecutive_failures"] and webhook["disabled_reason"] != "gone":
        return None
    return last_failure(account_id, webhook["id"])


def explain_attempt(entry: Mapping[str, Any]) -> Explanation:
    """Return the explanation of an entry of the log."""
    code = entry.get("response_code")
    if code is None:
        texts = _NO_RESPONSE.get(entry.get("error", ""))
        return Explanation(*texts) if texts else _INTERNAL_ERROR
    response = f"Your receiver answered {status_words(code)}."
    if entry["status"] == "success":
        return Explanation(response)
    todo = _RESPONSES.get(code) or _BY_HUNDRED.get(code // 100, _OTHER_STATUS)
    return Explanation(response, todo)


def status_words(code: int) -> str:
    """Return a status with its phrase, if it has one: ``503 Service Unavailable``."""
    try:
        return f"{code} {HTTPStatus(code).phrase}"
    except ValueError:
        return str(code)
