"""Who sets a boundary, and in which way."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from app.auth.principal import Principal

Source = Literal["api", "import", "dashboard", "cli", "database", "ogc"]

# By the kind of the principal, where nothing else is said.
_SOURCES: Final[dict[str, Source]] = {"session": "dashboard", "operator": "cli"}


class Author(NamedTuple):
    """A person, for a key the one who made it, and the way; None: nobody knows."""

    user_id: str | None = None
    email: str | None = None
    source: Source | None = None


def author_of(principal: Principal, source: Source | None = None) -> Author:
    """Who acts.

    Args:
        source: None: what follows from the kind of the credential.
    """
    source = source or _SOURCES.get(principal.kind, "api")
    return Author(principal.user_id, principal.user_email, source)
