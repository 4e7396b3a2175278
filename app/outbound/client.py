"""HTTP requests with limits on time, bytes and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import NamedTuple

from app.outbound.addresses import Address, Network, allowed_addresses, is_address, is_opened
from app.outbound.attempt import Attempt, EgressError, Timing
from app.outbound.connecting import connect_to_any, is_own
from app.outbound.connection import Connection, start_tls, tls_context
from app.outbound.connection_pool import ConnectionPool
from app.outbound.exchange import Response, compose_request, send_request
from app.outbound.resolving import Lookups, Resolve, resolve_name
from app.outbound.targets import UrlTarget, parse_target
from app.policy.deliveries import ATTEMPT_SECONDS, FailureReason
from app.values.deadline import Deadline


class Receipt(NamedTuple):
    """The status of the response to a post, which may be a redirect, and the durations."""

    status: int
    timing: Timing


class Egress:
    """An HTTP client, which threads share."""

    def __init__(
        self,
        *,
        for_operator: bool = False,
        allowed_networks: Sequence[Network] = (),
        ca_bundle: Path | None = None,
        resolve: Resolve = resolve_name,
    ) -> None:
        """
        Args:
            for_operator: the URLs are from the operator's settings: they may lead to any address,
                and be http.
            allowed_networks: networks that customers' URLs may lead to although they are private.
            ca_bundle: a file with certificate authorities to trust besides the system's.

        Raises:
            OSError: ``ca_bundle`` cannot be used.
        """
        self._for_operator = for_operator
        self._allowed = tuple(allowed_networks)
        self._context = tls_context(ca_bundle)
        self._lookups = Lookups(resolve)
        self._pool = ConnectionPool()

    @contextmanager
    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        attempt: Attempt,
        keep: bool = False,
    ) -> Iterator[Response]:
        """Send a request, and yield its response, whatever the status.

        Args:
            headers: in addition to Host, Content-Length and a default Accept.
            attempt: has the deadline for everything, up to the end of the body.
            keep: keep the connection for the next request if the body was read.

        Raises:
            EgressError: there was no response in time, or the address may not be called.
            ValueError: a header cannot be sent.
        """
        target, response = self._send(method, url, headers, body, attempt)
        try:
            yield response
        finally:
            if keep and response.is_over:
                self._pool.release((target.host, target.port), response.connection)
            else:
                response.connection.close()

    def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        seconds: float = ATTEMPT_SECONDS,
    ) -> Receipt:
        """Post a body, skip the response's, and keep the connection for the next post.

        Args:
            seconds: limit from resolving the name to the status of the response.

        Raises:
            EgressError, ValueError: as ``request`` does.
        """
        attempt = Attempt(Deadline(seconds))
        try:
            target, response = self._send("POST", url, headers, body, attempt)
        except EgressError as failure:
            failure.timing = attempt.timing()
            raise
        if response.skip():
            self._pool.release((target.host, target.port), response.connection)
        else:
            response.connection.close()
        return Receipt(response.status, attempt.timing())

    def close(self) -> None:
        """Close idle connections. Requests in flight are not disturbed."""
        self._pool.close()

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes, attempt: Attempt
    ) -> tuple[UrlTarget, Response]:
        """Send a request once; twice only if a kept connection is closed without a response."""
        try:
            target = parse_target(url, self._for_operator)
        except ValueError:
            raise EgressError(FailureReason.BAD_URL) from None
        request = compose_request(method, target, headers, body)
        kept = self._pool.acquire((target.host, target.port))
        if kept is not None:
            try:
                return target, send_request(kept, request, attempt)
            except EgressError as failure:
                if failure.reason is not FailureReason.CLOSED or kept.has_response:
                    raise
        return target, send_request(self._open(target, attempt), request, attempt)

    def _open(self, target: UrlTarget, attempt: Attempt) -> Connection:
        with attempt.phase("resolve_ms"):
            addresses = self._resolve(target.host, attempt)
        with attempt.phase("connect_ms"):
            connection = connect_to_any(addresses, target.port, attempt)
        if not target.is_secure:
            return Connection(connection)
        with attempt.phase("tls_ms"):
            return start_tls(connection, target.host, self._context, attempt)

    def _resolve(self, host: str, attempt: Attempt) -> list[Address]:
        """Return the addresses of a host that may be called. There may be none for a name in the
        operator's settings."""
        is_name = not is_address(host)
        texts = self._lookups.resolve(host, attempt.connect_deadline) if is_name else [host]
        if self._for_operator:
            return [ip_address(text) for text in texts]
        addresses = [
            address
            for address in allowed_addresses(texts, self._allowed)
            if is_opened(address, self._allowed) or not is_own(address)
        ]
        if not addresses:
            reason = FailureReason.NO_PUBLIC_ADDRESS if is_name else FailureReason.NOT_ALLOWED
            raise EgressError(reason)
        return addresses
