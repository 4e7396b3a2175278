"""What features become: projects or assets. The steps of an import know both by this interface."""

from __future__ import annotations

from collections.abc import Collection, Container
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from app.auth.principal import Principal
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import Decision, Match


class Written(NamedTuple):
    """What was written: the target, the ``updated_at`` that it got, and the columns that were
    replaced; None for a new one."""

    target_id: str
    name: str
    written_at: datetime
    before: dict[str, Any] | None


class Kept(Exception):
    """A target is not taken back; the message says why."""


class Matcher(Protocol):
    """Decides what becomes of the features of a layer, in their order."""

    def decide(self, item: Candidate) -> Decision:
        """What becomes of a feature. Raises Unusable."""

    def free_name(self, name: str) -> str:
        """A name that a new target can have: this one, perhaps with a number behind it."""


class Targets(Protocol):
    """Projects, or the assets of one project."""

    def matcher(
        self,
        account_id: str,
        match: Match,
        repeated_names: Collection[str] = (),
        created: Container[str] = (),
    ) -> Matcher:
        """What decides about the features of one layer.

        Args:
            repeated_names: names that several features have, as ``fold`` makes them.
            created: ids of what the import has made already.
        """

    def create(self, principal: Principal, item: Candidate, name: str) -> Written:
        """Create what a feature becomes. Raises ApiError."""

    def prepare(self, account_id: str, item: Candidate, decision: Decision) -> Any:
        """What would hold up others in the transaction of ``change``, which gets the result."""

    def change(
        self,
        principal: Principal,
        item: Candidate,
        decision: Decision,
        match: Match,
        prepared: Any = None,
    ) -> Written | None:
        """Change the target of a feature; None: nothing is to be changed anymore. Raises
        ApiError."""

    def undo(self, principal: Principal, row: Any) -> None:
        """Take back what a stored feature did. Raises Kept."""
