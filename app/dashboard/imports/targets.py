"""The projects that assets are imported into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from app.dashboard.project_choice import projects_by_id
from app.projects.service import list_projects, project_query
from app.values.text import unnormalizable, unstorable

CHOICES: Final = 100
_SEARCH_LENGTH: Final = 200
_PAGE: Final[dict[str, Any]] = {"page": 1, "per_page": CHOICES}


def project_names(account_id: str, ids: Iterable[str | None]) -> dict[str, str]:
    """The names of projects by their ids, without those that are deleted."""
    found = projects_by_id(account_id, filter(None, ids))
    return {project_id: record["name"] for project_id, record in found.items()}


def project_choices(
    account_id: str, search: str, chosen: str | None
) -> tuple[list[tuple[str, str]], int]:
    """The ids and names of the first projects that a search finds, with the chosen one, and how
    many it finds."""
    search = search.strip()[:_SEARCH_LENGTH]
    choices, total = _searched(account_id, search)
    if chosen and chosen not in dict(choices):
        choices = [*project_names(account_id, [chosen]).items(), *choices]
    return choices, total


def _searched(account_id: str, search: str) -> tuple[list[tuple[str, str]], int]:
    if unstorable(search) or unnormalizable(search):  # no name has it
        return [], 0
    query = project_query(**({"search": search} if search else {}), **_PAGE, sort="name")
    records, total = list_projects(account_id, query, boundaries=False)
    return [(record["id"], record["name"]) for record in records], total
