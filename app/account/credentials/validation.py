"""Validation of a new API key or service token."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.http.errors import Detail
from app.models import Account, Project
from app.policy.permissions import OF_PROJECTS, PERMISSIONS
from app.policy.request_limits import ALLOWLIST_ENTRIES, PROJECTS_OF_CREDENTIAL
from app.values import clock
from app.values.text import name_problem

_MAPPED_IPV4: Final = ipaddress.IPv6Network("::ffff:0:0/96")


@dataclass(frozen=True, slots=True)
class NewCredential:
    """An API key or service token to create.

    Args:
        kind: ``api_key`` or ``service_token``.
        ip_allowlist: the addresses and networks that it may be used from; empty for anywhere.
        project_ids: the only projects that it sees; None for all, future ones included.
        expires_at: the time from which it is rejected; None for never, as for service tokens.
    """

    kind: str
    name: str
    permissions: Sequence[str]
    ip_allowlist: Sequence[str] = ()
    project_ids: Sequence[str] | None = None
    expires_at: datetime | None = None

    def problems(self, account_id: str) -> Iterator[Detail]:
        """Yield the problems of its fields."""
        if db.session.get(Account, account_id) is None:
            yield Detail("account", "This account does not exist.", "not_found")
        if problem := name_problem(self.name):
            yield Detail("name", problem, "invalid")
        yield from self._problems_of_permissions()
        yield from self._problems_of_allowlist()
        if self.project_ids is not None:
            yield from _problems_of_projects(account_id, self.project_ids)
        if self.expires_at is not None:
            if self.kind != "api_key":
                yield Detail(
                    "expires_at", "Service tokens do not expire. Create an API key.", "unknown"
                )
            elif self.expires_at <= clock.now():
                yield Detail("expires_at", "Must be in the future.", "too_small")

    def _problems_of_permissions(self) -> Iterator[Detail]:
        if not self.permissions or not PERMISSIONS.keys() >= set(self.permissions):
            names = ", ".join(PERMISSIONS)
            yield Detail(
                "permissions", f"Choose at least one permission, of {names}.", "not_one_of"
            )
            return
        of_account = [name for name in self.permissions if name not in OF_PROJECTS]
        if self.project_ids is not None and of_account:
            message = (
                f"{', '.join(of_account)} is about the whole account, so it cannot be limited to "
                "projects. Leave it out, or do not name projects."
            )
            yield Detail("permissions", message, "invalid")

    def _problems_of_allowlist(self) -> Iterator[Detail]:
        if len(self.ip_allowlist) > ALLOWLIST_ENTRIES:
            yield Detail(
                "ip_allowlist", f"Must have at most {ALLOWLIST_ENTRIES} entries.", "too_many"
            )
        for entry in self.ip_allowlist:
            try:
                allowed_network(entry)
            except ValueError as error:
                yield Detail("ip_allowlist", str(error), "wrong_format")


def _problems_of_projects(account_id: str, project_ids: Sequence[str]) -> Iterator[Detail]:
    ids = tuple(dict.fromkeys(project_ids))
    if not 1 <= len(ids) <= PROJECTS_OF_CREDENTIAL:
        yield Detail("project_ids", f"Choose 1 to {PROJECTS_OF_CREDENTIAL} projects.", "too_many")
        return
    own = rows_of(account_id, Project).where(Project.id.in_(ids))
    existing = set(db.session.scalars(own.with_only_columns(Project.id)))
    for project_id in ids:
        if project_id not in existing:
            yield Detail("project_ids", f"The account has no project {project_id!r}.", "not_found")


def allowed_network(entry: str) -> str:
    """The stored form of an address or network of an allowlist: IPv4 for a mapped one.

    Raises:
        ValueError: it is neither. The message says why.
    """
    try:
        interface = ipaddress.ip_interface(entry)
    except ValueError:
        message = f"{entry!r} is not an IP address or a network such as 10.0.0.0/8."
        raise ValueError(message) from None
    if isinstance(interface, ipaddress.IPv6Interface) and interface.network.subnet_of(_MAPPED_IPV4):
        bits = interface.network.prefixlen - 96
        interface = ipaddress.IPv4Interface((int(interface.ip) & 0xFFFFFFFF, bits))
        entry = str(interface) if "/" in entry else str(interface.ip)
    if interface.ip != interface.network.network_address:
        raise ValueError(
            f"{entry!r} is an address in the network {interface.network}. Enter that, or "
            f"{interface.ip} alone."
        )
    return entry
