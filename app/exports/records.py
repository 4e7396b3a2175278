"""Reading the records of an export in short queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import Any, Final, ParamSpec, TypeVar

from flask import Flask
from sqlalchemy import bindparam

from app.assets.listing import asset_query, scan_assets
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.formats.writers.eudr_plots import country_of_plot
from app.formats.writers.features import ASSETS, PROJECTS, Feature
from app.lists.scanning import Reader
from app.models import Asset
from app.policy.eudr import PLOT_TYPE
from app.projects.listing import project_query, scan_projects
from app.values import processor_clock

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
OnBatch = Callable[[int], None]  # called with the number of records of each batch

_PROJECTS_WITH_PLOTS: Final = CompiledQuery(
    columns_of(Asset, Asset.project_id).where(Asset.type == bindparam("type")).distinct()
)
_FEW_PROJECTS: Final = 50  # their plots are read project by project


def read_in_short_queries(
    app: Flask, scan: Callable[[Reader], Iterable[list[T]]], on_batch: OnBatch
) -> Iterator[T]:
    """Yield the records of a scan. ``app`` provides a context, and so a connection, for each query
    alone."""

    def read(query: Callable[P, R], *args: P.args, **values: P.kwargs) -> R:
        with app.app_context():
            return query(*args, **values)

    for batch in scan(read):
        processor_clock.restart()  # some formats send nothing before all batches are read
        on_batch(len(batch))
        yield from batch


def scan_records(
    kind: str,
    account_id: str,
    filters: dict[str, Any],
    reader: Reader,
    *,
    metadata_only: bool = False,
) -> Iterator[list[Any]]:
    """Yield the filtered projects or assets in batches.

    Args:
        kind: "projects" or "assets".
        filters: as the schema of the list loads them; for assets also ``project_id``.
        metadata_only: yield the JSON text of their metadata instead, or None.
    """
    if kind == "projects":
        query = project_query(**filters)
        return scan_projects(reader, account_id, query, metadata_only=metadata_only)
    project_id, others = filters.get("project_id"), dict(filters)
    others.pop("project_id", None)
    query = asset_query(**others)
    return scan_assets(
        reader, account_id, query, project_id=project_id, metadata_only=metadata_only
    )


class EudrReader:
    """Reads the features of a file for the EUDR."""

    def __init__(self, account_id: str, app: Flask, on_batch: OnBatch) -> None:
        self._account_id, self._app, self._on_batch = account_id, app, on_batch

    def plots(self, filters: dict[str, Any]) -> Iterator[Feature]:
        """Yield the filtered assets that are plots, as points."""
        return map(ASSETS.feature, self._read("assets", filters | {"type": PLOT_TYPE}))

    def projects(
        self, filters: dict[str, Any], *, boundaries: bool, points: bool
    ) -> Iterator[Feature]:
        """Yield the filtered projects, and then their plots.

        Projects with plots, but without a boundary, are left out. With points, the filter by
        country applies to each project and each plot by itself.

        Args:
            boundaries: yield projects.
            points: yield plots.
        """
        others = dict(filters)
        country = others.pop("country", None) if points else None
        ids: list[str] = []
        for record in self._read("projects", others):
            ids.append(record["id"])
            is_in_country = country in (None, record["country"])
            is_plot = record["geometry"] or record["id"] not in self._with_plots
            if boundaries and is_in_country and is_plot:
                yield PROJECTS.feature(record)
        if points:
            for plot in self._plots_of(ids, others):
                if country in (None, country_of_plot(plot)):
                    yield plot

    def _plots_of(self, project_ids: list[str], filters: dict[str, Any]) -> Iterator[Feature]:
        if len(project_ids) <= _FEW_PROJECTS:
            for project_id in project_ids:
                yield from self.plots({"project_id": project_id})
            return
        ids = frozenset(project_ids)
        for plot in self.plots({"within": filters.get("within")}):
            if plot.properties["project_id"] in ids:
                yield plot

    def _read(self, kind: str, filters: dict[str, Any]) -> Iterator[dict[str, Any]]:
        scan = partial(scan_records, kind, self._account_id, filters)
        return read_in_short_queries(self._app, scan, self._on_batch)

    @cached_property
    def _with_plots(self) -> frozenset[str]:
        """The ids of the projects that have plots."""
        with self._app.app_context():
            rows = _PROJECTS_WITH_PLOTS.tuples(account_id=self._account_id, type=PLOT_TYPE)
            return frozenset(project_id for (project_id,) in rows)
