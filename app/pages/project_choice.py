"""A project chosen by what somebody typed, of any number of projects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import marshmallow as ma

from app.projects.listing import list_projects, project_query, projects_with_ids
from app.projects.lookup import project_name
from app.projects.schemas import ProjectQuerySchema
from app.values.text import slugify

_OFFERED: Final = 20

Record = dict[str, Any]


@dataclass
class ProjectChoice:
    """What was typed, and the project that it names; else what is wrong, and which it may be."""

    text: str = ""
    id: str | None = None
    problem: str = ""
    matches: list[Record] = field(default_factory=list)


def choose_project(account_id: str, project_id: str, text: str | None) -> ProjectChoice:
    """The project that a form or an address names; neither a project nor a problem for blank text.

    Args:
        project_id: the one that was chosen before, which counts unless another name was typed.
        text: the name, the slug or the id that was typed, or a part of the name; None: nothing.
    """
    known = project_name(account_id, project_id)
    if known is not None and text in (None, known):
        return ProjectChoice(known, project_id)
    if not (typed := (text or "").strip()):
        return ProjectChoice(
            problem="This project does not exist." if project_id and known is None else ""
        )
    if (name := project_name(account_id, typed)) is not None:
        return ProjectChoice(name, typed)
    found, total, problem = find_projects(account_id, typed)
    if problem:
        return ProjectChoice(typed, problem=problem)
    chosen = _named(account_id, typed, found, total)
    if chosen is not None:
        return ProjectChoice(chosen["name"], chosen["id"])
    if not found:
        return ProjectChoice(typed, problem="No project is called this.")
    return ProjectChoice(
        typed, problem="Several projects match. Choose one of them:", matches=found
    )


def find_projects(
    account_id: str, text: str, most: int = _OFFERED
) -> tuple[list[Record], int, str]:
    """The first projects that match a text, how many do, and what is wrong with the text. A blank
    one matches all."""
    searched = {"search": text} if text else {}
    try:
        values = ProjectQuerySchema().load(searched | {"sort": "name"})
    except ma.ValidationError as error:
        return [], 0, " ".join(error.messages_dict.get("search", ["This is no name."]))
    query = project_query(**values | {"per_page": most})
    records, total = list_projects(account_id, query, boundaries=False)
    return list(records), total, ""


def projects_by_id(account_id: str, ids: Iterable[str]) -> dict[str, Record]:
    """The projects with these ids, at most LIST_IDS, by name; those that do not exist are left
    out."""
    found = projects_with_ids(account_id, tuple(dict.fromkeys(ids)))
    return {record["id"]: record for record in found}


def _named(account_id: str, text: str, found: list[Record], total: int) -> Record | None:
    """The one project that a text names; None: it is not clear which."""
    folded = text.casefold()
    same = [record for record in found if record["name"].casefold() == folded]
    if not same or total > len(found):
        query = project_query(slug=slugify(text))
        by_slug, _ = list_projects(account_id, query, boundaries=False)
        named = (
            record for record in by_slug if folded in (record["slug"], record["name"].casefold())
        )
        same += [record for record in named if record not in same]
    if len(same) == 1:
        return same[0]
    is_only = total == 1 and folded in found[0]["name"].casefold()
    return found[0] if is_only and not same else None
