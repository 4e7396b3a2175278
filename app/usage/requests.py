"""The requests of an account in a period: by day, and by the credentials that made them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from app.auth.credentials import IS_VALID, has_ended
from app.auth.principal import SESSIONS
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import id_values, is_among_ids
from app.formats.writers.delimited import csv_line
from app.limits.request_counts import requests_by_credential, requests_by_day
from app.models import Credential, CredentialRequest, OAuthApplication, OAuthConsent, RequestCount
from app.policy.bounds import ENDED_CALLERS
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
    was_used: bool = True  # ever, as far as known


class CallerRequests(NamedTuple):
    """The requests of a caller on each day of a period."""

    caller: Caller
    by_day: list[int]

    @property
    def total(self) -> int:
        return sum(self.by_day)


class Requests(NamedTuple):
    """The requests of an account in a period, and their callers, the most active first.

    ``unknown_by_day`` counts requests without a caller: those of credentials are kept for 90 days
    only, and of callers that have ended only some are there. A day has none if the account's
    counter is behind those of its credentials.
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
            max(0, number - sum(each.by_day[place] for each in self.callers))
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
        most_ended: of callers that have ended, these many with most requests are included.
    """
    known = {each.id: each for each in _callers(account_id)}
    counted = requests_by_credential(account_id, known, days, most_ended)
    known |= _ended_callers(account_id, counted.keys() - known.keys())
    found = [
        CallerRequests(each, [counted.get(each.id, {}).get(day, 0) for day in days])
        for each in known.values()
        if each.id in counted or each.kind != SESSIONS
    ]
    by_day = requests_by_day(account_id, days)
    found.sort(key=lambda each: -each.total)
    return Requests(list(days), [by_day[day] for day in days], found)


def csv_name(found: Requests) -> str:
    """The file name for ``requests_csv``."""
    return f"requests-{found.days[0]}-{found.days[-1]}.csv"


def requests_csv(found: Requests) -> bytes:
    """Write a line for each day and caller with requests, and for requests without a caller."""
    lines = [csv_line(("day", "credential_id", "type", "name", "requests"))]
    for place, (day, unknown) in enumerate(zip(found.days, found.unknown_by_day, strict=True)):
        for caller, by_day in found.callers:
            if number := by_day[place]:
                lines.append(csv_line((day, caller.id, caller.kind, caller.name, number)))
        if unknown:
            lines.append(csv_line((day, None, None, None, unknown)))
    return b"".join(lines)


def requests_record(found: Requests) -> dict[str, Any]:
    """Build the record of the API, by day and by credential."""
    return {
        "since": found.days[0],
        "until": found.days[-1],
        "requests": found.total,
        "by_day": _days(found.days, found.by_day),
        "by_credential": [_caller(found.days, each) for each in found.callers],
    }


def _ended_callers(account_id: str, ids: Collection[str]) -> dict[str, Caller]:
    """What is known of callers that can make no requests any more, by their ids."""
    if not ids:
        return {}
    dialect = reading_engine().dialect.name
    values = {"account_id": account_id, "ids": id_values(list(ids), dialect)}
    found = {id_: Caller(id_, _APPLICATION, id_, has_ended=True) for id_ in ids}  # if deleted
    for row in _credentials_among(dialect).all(**values):
        found[row.id] = _credential(row)
    for row in _applications_among(dialect).all(**values):
        found[row.credential_id] = found[row.credential_id]._replace(name=row.name)
    return found


def _callers(account_id: str) -> Iterator[Caller]:
    """All that may make requests in an account."""
    yield from map(_credential, _CREDENTIALS.all(account_id=account_id, now=clock.now()))
    consented = {row.application_id: row.name for row in _CONSENTED.all(account_id=account_id)}
    dialect = reading_engine().dialect.name
    values = {"account_id": account_id, "ids": id_values(list(consented), dialect)}
    seen = {row.credential_id for row in _applications_among(dialect).all(**values)}
    for id_, name in consented.items():
        yield Caller(id_, _APPLICATION, name, was_used=id_ in seen)
    yield Caller(SESSIONS, SESSIONS, "Signed-in people at /ogc")


def _credential(row: Any) -> Caller:
    used = row.last_used_at is not None
    return Caller(row.id, row.kind, row.name, row.token_end, has_ended(row._asdict()), used)


@cache
def _credentials_among(dialect: str) -> CompiledQuery:
    return CompiledQuery(_ALL_CREDENTIALS.where(is_among_ids(Credential.id.expression, dialect)))


@cache
def _applications_among(dialect: str) -> CompiledQuery:
    """The applications among some that have made requests."""
    among = is_among_ids(CredentialRequest.credential_id.expression, dialect)
    return CompiledQuery(_APPLICATIONS_SEEN.where(among))


def _caller(days: list[str], each: CallerRequests) -> dict[str, Any]:
    made = [(day, number) for day, number in zip(days, each.by_day, strict=True) if number]
    return {
        "id": each.caller.id,
        "type": each.caller.kind,
        "name": each.caller.name,
        "requests": each.total,
        "by_day": [{"day": day, "requests": number} for day, number in made],
    }


def _days(days: list[str], numbers: list[int]) -> list[dict[str, Any]]:
    return [{"day": day, "requests": number} for day, number in zip(days, numbers, strict=True)]
