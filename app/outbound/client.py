"""POST requests to URLs that customers gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from app.outbound.addresses import Address, Network, all_allowed, is_address, is_opened
from app.outbound.attempt import Attempt, EgressError, Timing
from app.outbound.connecting import connect, is_own
from app.outbound.connection_pool import ConnectionPool
from app.outbound.exchange import compose, exchange
from app.outbound.resolving import Lookups, Resolve, resolve_name
from app.outbound.securing import SecureConnection, secure, tls_context
from app.outbound.targets import Target, parse_target
from app.policy.deliveries import ATTEMPT_SECONDS, FailureReason
from app.policy.egress import POOL_PER_HOST


class Response(NamedTuple):
    """A response with any status, redirects included."""

    status: int
    timing: Timing


class Egress:
    """Posts to URLs that customers gave. One for a process; threads share it."""

    def __init__(
        self,
        *,
        allowed_networks: Sequence[Network] = (),
        ca_bundle: Path | None = None,
        resolve: Resolve = resolve_name,
        connections_per_host: int = POOL_PER_HOST,
    ) -> None:
        """
        Args:
            allowed_networks: may be called although they are not public.
            ca_bundle: a file of certificate authorities to trust instead of the system's.
            connections_per_host: idle connections kept at most. More can be in use.

        Raises:
            OSError: ``ca_bundle`` cannot be used.
        """
        self._allowed = tuple(allowed_networks)
        self._context = tls_context(ca_bundle)
        self._lookups = Lookups(resolve)
        self._pool = ConnectionPool(connections_per_host)

    def post(
        self,
        url: str,
        body: bytes,
        headers: Mapping[str, str],
        *,
        seconds: float = ATTEMPT_SECONDS,
    ) -> Response:
        """Post a body once; twice only when the peer closed a kept connection without a response.

        Args:
            headers: sent as they are, besides Host, Accept and Content-Length.
            seconds: wall clock, from resolving the name to the status of the response.

        Raises:
            EgressError: there was no response in time, or the address may not be called.
            ValueError: a header cannot be sent.
        """
        attempt = Attempt(seconds)
        try:
            status = self._post(url, body, headers, attempt)
        except EgressError as failure:
            failure.timing = attempt.timing()
            raise
        return Response(status, attempt.timing())

    def close(self) -> None:
        """Close idle connections. Requests in flight are not disturbed."""
        self._pool.close()
        self._lookups.close()

    def _post(self, url: str, body: bytes, headers: Mapping[str, str], attempt: Attempt) -> int:
        try:
            target = parse_target(url)
        except ValueError:
            raise EgressError(FailureReason.BAD_URL) from None
        request = compose(target, body, headers)
        kept = self._pool.acquire((target.host, target.port))
        if kept is not None:
            try:
                return self._exchange(kept, target, request, attempt)
            except EgressError as failure:
                if failure.reason is not FailureReason.CLOSED or kept.has_response:
                    raise
        return self._exchange(self._open(target, attempt), target, request, attempt)

    def _exchange(
        self, connection: SecureConnection, target: Target, request: bytes, attempt: Attempt
    ) -> int:
        is_reusable = False
        try:
            status, is_reusable = exchange(connection, request, attempt)
            return status
        finally:
            if is_reusable:
                self._pool.release((target.host, target.port), connection)
            else:
                connection.close()

    def _open(self, target: Target, attempt: Attempt) -> SecureConnection:
        with attempt.phase("resolve_ms"):
            addresses = self._resolve(target.host, attempt)
        with attempt.phase("connect_ms"):
            connection = connect(addresses, target.port, attempt)
        with attempt.phase("tls_ms"):
            return secure(connection, target.host, self._context, attempt)

    def _resolve(self, host: str, attempt: Attempt) -> list[Address]:
        """The addresses of a host, all of them allowed."""
        is_name = not is_address(host)
        found = self._lookups.resolve(host, attempt.deadline) if is_name else [host]
        reason = FailureReason.NO_PUBLIC_ADDRESS if is_name else FailureReason.NOT_ALLOWED
        try:
            addresses = all_allowed(found, self._allowed)
        except ValueError:
            raise EgressError(reason) from None
        if any(is_own(one) and not is_opened(one, self._allowed) for one in addresses):
            raise EgressError(reason)
        return addresses
