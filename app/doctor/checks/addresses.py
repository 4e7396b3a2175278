"""Checks of the port, and of the public address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from email.message import Message
from typing import Final

from app.doctor.findings import Finding, ok, warning
from app.outbound import Attempt, Egress, EgressError
from app.policy.deliveries import FailureReason
from app.settings.values import default_url
from app.values.deadline import Deadline
from config import Settings

SECONDS: Final = 5.0  # for a response
_HTTPS_ONLY: Final = "Strict-Transport-Security"  # in responses to requests by https


def check_port(settings: Settings) -> Iterator[Finding]:
    """Check that a service responds on the port, or nothing does."""
    url = default_url(settings.host, settings.port)
    try:
        status, _ = _request_health(url)
    except EgressError as error:
        if error.reason is FailureReason.REFUSED:
            yield ok(f"port {settings.port} is free: no service runs here")
            return
        answer = str(error)
    else:
        if status == 200:
            yield ok(f"a service responds at {url}")
            return
        answer = f"{url}/healthz responds with {status}"
    yield warning(
        f"Port {settings.port} is in use, but not by a healthy service: {answer}",
        "If the service runs here, restart it. Else set PORT to a free one.",
    )


def public_url(settings: Settings) -> Iterator[Finding]:
    """Check that a service responds at PUBLIC_URL, and knows by which protocol."""
    url = settings.public_url
    if not settings.public_url_is_set:
        yield ok("PUBLIC_URL is unset: links lead to where each request came")
        return
    try:
        status, headers = _request_health(url)
    except EgressError as error:
        yield warning(
            f"{url} does not respond to this machine: {error}",
            "If it does elsewhere, all is well. Else start the service and its proxy, or correct "
            "PUBLIC_URL.",
        )
        return
    if status != 200:
        location = f", and leads to {headers['Location']}" if "Location" in headers else ""
        yield warning(
            f"{url}/healthz responds with {status}{location}",
            "Set PUBLIC_URL to the address that people use, and have the proxy pass on all paths.",
        )
    elif settings.is_https and _HTTPS_ONLY not in headers:
        yield warning(
            f"{url} is https, but the service was told of http: responses have no {_HTTPS_ONLY}",
            "Have the proxy send X-Forwarded-Proto, as deploy/nginx.conf does, and set "
            "TRUSTED_PROXIES to the number of proxies.",
        )
    else:
        yield ok(f"{url} responds")


def _request_health(url: str) -> tuple[int, Message]:
    """Return the status and the headers of a service's /healthz. Raises EgressError."""
    attempt = Attempt(Deadline(SECONDS))
    with (
        closing(Egress(for_operator=True)) as egress,
        egress.request("GET", f"{url}/healthz", {}, attempt=attempt) as response,
    ):
        return response.status, response.headers
