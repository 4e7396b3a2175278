"""The limits of a plan in words."""

from __future__ import annotations

from app.policy.plans import Plan


def limits_in_words(plan: Plan) -> list[tuple[str, str]]:
    """What is limited, and how: ``("Members", "25, including invitations")``."""
    return [
        ("Members", _limit(plan.members, ", including invitations")),
        ("Area", _limit(plan.hectares, " ha in projects that are not archived")),
        ("API requests", plan.requests_in_words() or "no limit"),
        ("Chat", _limit(plan.chat_questions_per_day, " questions a day")),
    ]


def _limit(number: int | None, words: str) -> str:
    return "no limit" if number is None else f"{number:,}{words}"
