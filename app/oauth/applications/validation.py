"""Validation of an application's name, redirect URIs and scopes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.http.errors import Detail, ValidationFailed
from app.oauth.redirect_uris import redirect_uri_problem
from app.policy.oauth import REDIRECT_URIS
from app.policy.permissions import SCOPES
from app.values.text import name_problem

# Bidirectional controls, with which one name could be made to look like another.
_BIDI_CONTROLS: Final = frozenset(
    "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)
_ECHOED_CHARACTERS: Final = 100  # the part of an invalid value in the error


def check_application(name: str, redirect_uris: Sequence[str], scopes: Sequence[str]) -> None:
    """Raise ValidationFailed with every invalid argument."""
    if details := list(_application_problems(name, redirect_uris, scopes)):
        raise ValidationFailed(details=details)


def _application_problems(
    name: str, redirect_uris: Sequence[str], scopes: Sequence[str]
) -> Iterator[Detail]:
    if problem := _name_problem(name):
        yield Detail("name", problem, "invalid")
    if not 1 <= len(redirect_uris) <= REDIRECT_URIS:
        yield Detail("redirect_uris", f"Must be 1 to {REDIRECT_URIS} URIs.", "too_many")
    for uri in redirect_uris[:REDIRECT_URIS]:
        if problem := redirect_uri_problem(uri):
            yield Detail(
                "redirect_uris", f"{uri[:_ECHOED_CHARACTERS]!r}: {problem}", "wrong_format"
            )
    if not scopes or any(scope not in SCOPES for scope in scopes):
        yield Detail("scopes", f"Must be one or more of {', '.join(SCOPES)}.", "not_one_of")


def _name_problem(name: str) -> str | None:
    if problem := name_problem(name):
        return problem
    if not _BIDI_CONTROLS.isdisjoint(name):
        return "Must be one line, without characters that control how text is shown."
    return None
