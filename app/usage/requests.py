"""The requests of an account in a period: by day, and by the credentials that made them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from app.auth.credentials import IS_VALID, has_ended
from app.auth.principal import SESSIONS
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids
from app.formats.writers.delimited import csv_line
from app.limits.request_counts import requests_by_credential, requests_by_day
from app.models import Credential, CredentialRequest, OAuthApplication, OAuthConsent, RequestCount
from app.policy.request_limits import ENDED_CALLERS
from app.values import clock

_APPLICATION: Final = "oauth_application"
CSV: Final = "text/csv; charset=utf-8"

_ALL_CREDENTIALS = columns_of(
    Credential,
    Credential.id,
    Credential.kind,
    Credential.name,
    Credential.token_end,
    Credential.last_used_at,
    Credential.expires_at,
    Credential.revoked_at,
)
_CREDENTIALS = CompiledQuery(_ALL_CREDENTIALS.where(IS_VALID).order_by(Credential.id.desc()))
_CONSENTED = CompiledQuery(
    columns_of(OAuthConsent, OAuthConsent.application_id)
    .add_columns(OAuthApplication.name)
    .join(OAuthApplication, OAuthApplication.id == OAuthConsent.application_id)
    .distinct()
)
_APPLICATIONS_SEEN = (
    columns_of(CredentialRequest, CredentialRequest.credential_id)
    .add_columns(OAuthApplication.name)
    .join(OAuthApplication, OAuthApplication.id == CredentialRequest.credential_id)
    .distinct()
)

_FIRST_DAY = CompiledQuery(
    columns_of(RequestCount, RequestCount.day).order_by(RequestCount.day).limit(1)
)


class Caller(NamedTuple):
    """A caller of the API: a key, a token, an application, or people in their browsers."""

    id: str
    kind: str  # api_key, service_token, oauth_application or session
    name: str
    token_end: str = ""
    has_ended: bool = False  # revoked, expired, or without access
    was_used: bool = True  # as far as known


class CallerRequests(NamedTuple):
    """The requests of a caller on each day of a period."""

    caller: Caller
    by_day: list[int]

    @property
    def total(self) -> int:
        return sum(self.by_day)


class Requests(NamedTuple):
    """The requests of an account in a period, and their callers, the most active first.

    ``unknown_by_day`` counts requests without a caller: counts by credential are kept for 90 days,
    and only some ended callers are included. It is 0 if the account's counter is behind those of
    its credentials.
    """

    days: list[str]
    by_day: list[int]
    callers: list[CallerRequests]

    @property
    def total(self) -> int:
        return sum(self.by_day)

    @property
    def unknown_by_day(self) -> list[int]:
        return [
            max(0, number - sum(caller.by_day[place] for caller in self.callers))
            for place, number in enumerate(self.by_day)
        ]

    @property
    def unknown(self) -> int:
        return sum(self.unknown_by_day)


def last_days(number: int) -> list[str]:
    """The last ``number`` days up to today (UTC), as ``YYYY-MM-DD``."""
    today = clock.now().date()
    return days_between(today - timedelta(days=number - 1), today)


def days_between(first: date, last: date) -> list[str]:
    """The days from ``first`` to ``last``, both included, as ``YYYY-MM-DD``."""
    return [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]


def known_days(account_id: str) -> list[str]:
    """The days from the first with requests of an account up to today (UTC)."""
    row, today = _FIRST_DAY.first(account_id=account_id), clock.now().date()
    return days_between(date.fromisoformat(row.day) if row else today, today)


def read_requests(
    account_id: str, days: Sequence[str], most_ended: int = ENDED_CALLERS
) -> Requests:
    """Count the requests of an account on consecutive days (UTC), today's up to now.

    Callers without requests are included, unless they have ended.

    Args:
        most_ended: the number of ended callers to include, those with most requests.
    """
    callers = {caller.id: caller for caller in _account_callers(account_id)}
    counted = requests_by_credential(account_id, callers, days, most_ended)
    callers |= _ended_callers(account_id, counted.keys() - callers.keys())
    requests = [
        CallerRequests(caller, [counted.get(caller.id, {}).get(day, 0) for day in days])
        for caller in callers.values()
        if caller.id in counted or caller.kind != SESSIONS
    ]
    by_day = requests_by_day(account_id, days)
    requests.sort(key=lambda caller: -caller.total)
    return Requests(list(days), [by_day[day] for day in days], requests)


def csv_name(requests: Requests) -> str:
    """The file name for ``requests_csv``."""
    return f"requests-{requests.days[0]}-{requests.days[-1]}.csv"


def requests_csv(requests: Requests) -> bytes:
    """Write a line for each day and caller with requests, and for requests without a caller."""
    lines = [csv_line(("day", "credential_id", "type", "name", "requests"))]
    for place, (day, unknown) in enumerate(
        zip(requests.days, requests.unknown_by_day, strict=True)
    ):
        for caller, by_day in requests.callers:
            if number := by_day[place]:
                lines.append(csv_line((day, caller.id, caller.kind, caller.name, number)))
        if unknown:
            lines.append(csv_line((day, None, None, None, unknown)))
    return b"".join(lines)


def requests_record(requests: Requests) -> dict[str, Any]:
    """Build the record of the API, by day and by credential."""
    return {
        "since": requests.days[0],
        "until": requests.days[-1],
        "requests": requests.total,
        "by_day": _day_records(requests.days, requests.by_day),
        "by_credential": [_caller_record(requests.days, caller) for caller in requests.callers],
    }


def _ended_callers(account_id: str, ids: Collection[str]) -> dict[str, Caller]:
    """Callers that cannot make requests anymore, by id; some were deleted."""
    if not ids:
        return {}
    values = {"account_id": account_id, "ids": list(ids)}
    callers = {id_: Caller(id_, _APPLICATION, id_, has_ended=True) for id_ in ids}  # if deleted
    for row in _CREDENTIALS_AMONG.all(**values):
        callers[row.id] = _credential_caller(row)
    for row in _APPLICATIONS_AMONG.all(**values):
        callers[row.credential_id] = callers[row.credential_id]._replace(name=row.name)
    return callers


def _account_callers(account_id: str) -> Iterator[Caller]:
    """Yield all that can make requests in an account."""
    yield from map(_credential_caller, _CREDENTIALS.all(account_id=account_id, now=clock.now()))
    consented = {row.application_id: row.name for row in _CONSENTED.all(account_id=account_id)}
    values = {"account_id": account_id, "ids": list(consented)}
    consentless = {row.credential_id for row in _APPLICATIONS_AMONG.all(**values)}
    for id_, name in consented.items():
        yield Caller(id_, _APPLICATION, name, was_used=id_ in consentless)
    yield Caller(SESSIONS, SESSIONS, "Signed-in people at /ogc")


def _credential_caller(row: Any) -> Caller:
    used = row.last_used_at is not None
    return Caller(row.id, row.kind, row.name, row.token_end, has_ended(row._asdict()), used)


_CREDENTIALS_AMONG: Final = CompiledQuery(
    _ALL_CREDENTIALS.where(is_among_ids(Credential.id.expression))
)
# The applications among some that have made requests.
_APPLICATIONS_AMONG: Final = CompiledQuery(
    _APPLICATIONS_SEEN.where(is_among_ids(CredentialRequest.credential_id.expression))
)


def _caller_record(days: list[str], caller: CallerRequests) -> dict[str, Any]:
    return {
        "id": caller.caller.id,
        "type": caller.caller.kind,
        "name": caller.caller.name,
        "requests": caller.total,
        "by_day": [each for each in _day_records(days, caller.by_day) if each["requests"]],
    }


def _day_records(days: list[str], numbers: list[int]) -> list[dict[str, Any]]:
    return [{"day": day, "requests": number} for day, number in zip(days, numbers, strict=True)]
