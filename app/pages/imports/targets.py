"""The projects that assets are imported into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.pages.project_choice import find_projects, projects_by_id

CHOICES: Final = 100


def project_names(account_id: str, ids: Iterable[str | None]) -> dict[str, str]:
    """The names of projects by their ids, without those that are deleted."""
    found = projects_by_id(account_id, filter(None, ids))
    return {project_id: record["name"] for project_id, record in found.items()}


def project_choices(
    account_id: str, search: str, chosen: str | None
) -> tuple[list[tuple[str, str]], int]:
    """The ids and names of the first projects that a search finds, with the chosen one, and how
    many it finds."""
    found, total, _ = find_projects(account_id, search.strip(), CHOICES)
    choices = [(record["id"], record["name"]) for record in found]
    if chosen and chosen not in dict(choices):
        choices = [*project_names(account_id, [chosen]).items(), *choices]
    return choices, total
