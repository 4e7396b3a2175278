"""An account before an import, after it, and after that was undone: what its rows must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask

from app.auth.tenant import rows_of
from app.db.connections import close_all
from app.db.extensions import db
from app.models import AccountUsage, Asset, BoundaryEntry, Event, Project
from app.usage.counters import counters, recount
from tests.make import Client, make_asset, make_project, square
from tests.make.features import collection, feature
from trials.faults.trial_report import TrialReport

CHANGED, SAME, OTHERS = 20, 10, 5  # projects that the import changes, and leaves as they are
# What tells that something was changed, even if it was changed back.
_TRACES = {"updated_at", "map_version", "row"}

Rows = dict[str, dict[str, Any]]


class ImportAccount:
    """An account with some projects, and a file whose features change some of these."""

    def __init__(self, app: Flask, client: Client, features: int) -> None:
        self.app, self.client, self.features = app, client, features
        for number in range(CHANGED + SAME):
            make_project(
                client,
                name=f"Stand {number}",
                external_id=f"E{number}",
                geometry=_place(number, 0.04 if number < CHANGED else 0.05),
                metadata={"age": number},
            )
        for number in range(OTHERS):
            made = make_project(client, name=f"Other {number}", geometry=square(number, 1))
            make_asset(client, made["id"])
        self.before = self._rows()

    def content(self) -> bytes:
        """The file."""
        return collection(
            *(
                feature(_place(n, 0.05), name=f"Stand {n}", external_id=f"E{n}")
                for n in range(self.features)
            )
        )

    @property
    def new(self) -> int:
        return self.features - CHANGED - SAME

    def check_untouched(self, report: TrialReport, when: str) -> None:
        """Nothing of the import is there."""
        _compare(report, when, self.before, self._rows(), without=set())

    def check_applied(self, report: TrialReport, when: str) -> None:
        """Each feature is one project, created with one event, and the counters agree."""
        projects = self._rows()["projects"].values()
        names = Counter(row["name"] for row in projects)
        wanted = Counter([f"Stand {n}" for n in range(self.features)])
        wanted += Counter([f"Other {n}" for n in range(OTHERS)])
        lost, more = wanted - names, names - wanted
        report.check(not lost, f"{when}: {lost.total()} projects are missing: {_some(lost)}")
        report.check(not more, f"{when}: {more.total()} projects too many: {_some(more)}")
        events = self._events()
        report.check(
            len(events) == len(projects) and set(events.values()) == {1},
            f"{when}: {len(events)} of {len(projects)} projects have an event of their creation, "
            f"{sum(number > 1 for number in events.values())} several",
        )
        self._check_counters(report, when)

    def check_undone(self, report: TrialReport, when: str, kept: str) -> None:
        """All rows are as before the import, but for the project with the id ``kept``."""
        after = self._rows()
        report.check(after["projects"].pop(kept, None) is not None, f"{when}: {kept} is not kept")
        after["entries"] = {
            key: row for key, row in after["entries"].items() if row["project_id"] != kept
        }
        after["usage"] = {}
        _compare(report, when, {**self.before, "usage": {}}, after, without=_TRACES)
        self._check_counters(report, when)

    def _check_counters(self, report: TrialReport, when: str) -> None:
        with self._session():
            shown = counters(self.client.account_id)
            recount(self.client.account_id)
            counted = counters(self.client.account_id)
        report.check(shown == counted, f"{when}: the counters are {shown}, and should be {counted}")

    def _events(self) -> Counter[str]:
        """How many events say that a project was created, by its id."""
        own = rows_of(self.client.account_id, Event).with_only_columns(Event.subject_id)
        with self._session():
            found = db.session.scalars(own.where(Event.type == "project.created"))
            return Counter(found)

    def _rows(self) -> dict[str, Rows]:
        """All rows of the account that an import can touch, by table and id."""
        with self._session():
            return {
                name: {
                    getattr(row, "id", ""): {
                        column.key: getattr(row, column.key) for column in model.__mapper__.columns
                    }
                    for row in db.session.scalars(rows_of(self.client.account_id, model))
                }
                for name, model in _MODELS.items()
            } | {"entries": self._entries()}

    def _entries(self) -> Rows:
        """The present boundary of each project, by the project."""
        own = rows_of(self.client.account_id, BoundaryEntry)
        present = own.where(BoundaryEntry.replaced_at.is_(None))
        return {
            row.project_id: {"project_id": row.project_id, "checksum": row.checksum}
            for row in db.session.scalars(present)
        }

    @contextmanager
    def _session(self) -> Iterator[None]:
        with self.app.app_context():
            close_all()  # the database may have been another process meanwhile
            try:
                yield
            finally:
                db.session.rollback()


_MODELS: dict[str, Any] = {"projects": Project, "assets": Asset, "usage": AccountUsage}


def _place(number: int, size: float) -> dict[str, Any]:
    return square(number % 100 / 10, 40 + number // 100 / 10, size=size)


def _compare(
    report: TrialReport,
    when: str,
    before: dict[str, Rows],
    after: dict[str, Rows],
    without: set[str],
) -> None:
    for name, rows in before.items():
        now = after[name]
        gone, more = rows.keys() - now.keys(), now.keys() - rows.keys()
        differ = [
            (key, column, row[column], now[key][column])
            for key, row in rows.items()
            for column in row.keys() - without
            if key in now and row[column] != now[key][column]
        ]
        report.check(not gone, f"{when}: {len(gone)} rows of {name} are missing: {_some(gone)}")
        report.check(not more, f"{when}: {len(more)} rows of {name} too many: {_some(more)}")
        report.check(not differ, f"{when}: {name} differ: {differ[:3]}")


def _some(found: Any) -> list[Any]:
    return list(found)[:3]
