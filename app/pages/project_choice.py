"""Choosing one of many projects by a typed text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import marshmallow as ma

from app.projects.listing import list_projects, project_query, projects_with_ids
from app.projects.lookup import project_name
from app.projects.schemas import ProjectQuerySchema
from app.values.text import slugify

_OFFERED: Final = 20

Record = dict[str, Any]


@dataclass
class ProjectChoice:
    """A typed text, and the project that it names; else the problem, and possible matches."""

    text: str = ""
    id: str | None = None
    problem: str = ""
    matches: list[Record] = field(default_factory=list)


def choose_project(account_id: str, project_id: str, text: str | None) -> ProjectChoice:
    """Return the project that a form or an address names, or the problem. A blank text is neither.

    Args:
        project_id: the former choice, which counts unless another name was typed.
        text: a name, slug or id, or a part of a name; None if nothing was typed.
    """
    name = project_name(account_id, project_id)
    if name is not None and text in (None, name):
        return ProjectChoice(name, project_id)
    if not (typed := (text or "").strip()):
        is_missing = bool(project_id) and name is None
        return ProjectChoice(problem="This project does not exist." if is_missing else "")
    if (name := project_name(account_id, typed)) is not None:
        return ProjectChoice(name, typed)
    matches, total, problem = find_projects(account_id, typed)
    if problem:
        return ProjectChoice(typed, problem=problem)
    project = _unique_match(account_id, typed, matches, total)
    if project is not None:
        return ProjectChoice(project["name"], project["id"])
    if not matches:
        return ProjectChoice(typed, problem="No project is called this.")
    return ProjectChoice(
        typed, problem="Several projects match. Choose one of them:", matches=matches
    )


def find_projects(
    account_id: str, text: str, most: int = _OFFERED
) -> tuple[list[Record], int, str]:
    """Search for projects by name; a blank text matches all.

    Returns:
        (the first matches, the number of matches, the problem with the text or an empty string).
    """
    search = {"search": text} if text else {}
    try:
        values = ProjectQuerySchema().load(search | {"sort": "name"})
    except ma.ValidationError as error:
        return [], 0, " ".join(error.messages_dict.get("search", ["This is no name."]))
    query = project_query(**values | {"per_page": most})
    records, total = list_projects(account_id, query, boundaries=False)
    return list(records), total, ""


class OfferedProjects(NamedTuple):
    """Projects to choose from: the chosen ones by id, others that a search finds, and the number of
    those that are not listed. ``problem``: with the search; empty: none."""

    chosen: dict[str, Record]
    others: list[Record]
    more: int
    problem: str


def offer_projects(
    account_id: str, search: str, chosen_ids: Iterable[str], most: int
) -> OfferedProjects:
    """Return the projects with these ids, and the first ``most`` that a search finds."""
    chosen = projects_by_id(account_id, chosen_ids)
    matches, total, problem = find_projects(account_id, search.strip(), most)
    others = [project for project in matches if project["id"] not in chosen]
    return OfferedProjects(chosen, others, total - len(matches), problem)


def projects_by_id(account_id: str, ids: Iterable[str]) -> dict[str, Record]:
    """Return the projects with these ids, at most LIST_IDS, sorted by name, by id. Ids that do not
    exist are left out."""
    records = projects_with_ids(account_id, tuple(dict.fromkeys(ids)))
    return {record["id"]: record for record in records}


def _unique_match(account_id: str, text: str, matches: list[Record], total: int) -> Record | None:
    """Return the one project that a text names; None if none or several match."""
    folded = text.casefold()
    namesakes = [record for record in matches if record["name"].casefold() == folded]
    if not namesakes or total > len(matches):
        query = project_query(slug=slugify(text))
        by_slug, _ = list_projects(account_id, query, boundaries=False)
        namesakes += [
            record
            for record in by_slug
            if folded in (record["slug"], record["name"].casefold()) and record not in namesakes
        ]
    if len(namesakes) == 1:
        return namesakes[0]
    is_only = total == 1 and folded in matches[0]["name"].casefold()
    return matches[0] if is_only and not namesakes else None
