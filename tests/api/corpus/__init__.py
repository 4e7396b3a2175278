"""Bad inputs, a table for each place that they come in by: what is sent and what is answered."""

from tests.api.corpus import addresses, assets, boundaries, headers, projects, queries, syntax
from tests.api.corpus.case import CODES, Bad

GROUPS: dict[str, list[Bad]] = {
    "syntax": syntax.CASES,
    "projects": projects.CASES,
    "assets": assets.CASES,
    "boundaries": boundaries.CASES,
    "queries": queries.CASES,
    "addresses": addresses.CASES,
    "headers": headers.CASES,
}

__all__ = ["CODES", "GROUPS", "Bad"]
