"""The records that a file for the EUDR is written of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Final

from flask import Flask
from sqlalchemy import bindparam

from app.assets.listing import asset_query, scan_assets
from app.auth.guard import require_permission
from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.eudr.plots import EudrOptions, country_of_plot
from app.formats.writers.features import ASSETS, PROJECTS, Feature
from app.http.errors import BadRequest, Detail
from app.lists.scanning import OnBatch, in_short_queries
from app.models import Asset
from app.policy.eudr import PLOT_TYPE
from app.projects.listing import project_query, scan_projects
from app.values.ids import is_id

_PROJECTS_WITH_PLOTS: Final = CompiledQuery(
    columns_of(Asset, Asset.project_id).where(Asset.type == bindparam("type")).distinct()
)
_PROJECTS: Final = 500  # whose plots are read at a time


def check_points(principal: Principal, values: Mapping[str, Any]) -> None:
    """Check that a query may have the plots that it names or asks for.

    Raises:
        Forbidden: the credential may not read assets.
        BadRequest: ``ids`` has plots that the file would not have.
    """
    if values.get("points"):
        require_permission(principal, "assets:read")
    elif any(is_id("asset", each) for each in values.get("ids", ())):
        message = "Some of these are plots kept as points: add points=true."
        raise BadRequest(message, details=[Detail("ids", message, "invalid")])


class PlotReader:
    """Reads the projects and assets of an account that are plots.

    Args:
        app: provides a context for each query.
        on_batch: called with the number of records of each batch.
    """

    def __init__(self, account_id: str, app: Flask, on_batch: OnBatch = lambda _: None) -> None:
        self._account_id, self._app, self._on_batch = account_id, app, on_batch

    def assets(self, filters: Mapping[str, Any]) -> Iterator[Feature]:
        """Yield the plots kept as points, of the assets that filters leave."""
        others = {**filters, "type": PLOT_TYPE}
        project_id = others.pop("project_id", None)
        query = asset_query(**others)
        records = in_short_queries(
            self._app,
            lambda read: scan_assets(read, self._account_id, query, project_id=project_id),
            self._on_batch,
        )
        return map(ASSETS.feature, records)

    def projects(self, filters: Mapping[str, Any], options: EudrOptions) -> Iterator[Feature]:
        """Yield the projects that filters leave, without those that have plots and no boundary,
        and then their plots. With ``points``, ``country`` filters each project and each plot, so
        does ``import_id``, and ``ids`` may have those of plots."""
        others = dict(filters)
        country = others.pop("country", None) if options.points else None
        ids = others.pop("ids", ())
        plot_ids = tuple(each for each in ids if is_id("asset", each))
        own_ids = tuple(each for each in ids if not is_id("asset", each))
        project_ids: list[str] = []
        for record in self._records(others | {"ids": own_ids}) if own_ids or not plot_ids else ():
            project_ids.append(record["id"])
            is_in_country = country in (None, record["country"])
            is_plot = record["geometry"] or record["id"] not in self._with_plots
            if options.boundaries and is_in_country and is_plot:
                yield PROJECTS.feature(record)
        if not options.points:
            return
        within, import_id = others.get("within"), others.pop("import_id", None)
        plots = chain(
            self._of_left({"import_id": import_id, "within": within}, others | {"ids": own_ids})
            if import_id
            else chain.from_iterable(
                self.assets({"within": tuple(project_ids[start : start + _PROJECTS])})
                for start in range(0, len(project_ids), _PROJECTS)
            ),
            self._of_left({"ids": plot_ids, "within": within}, others) if plot_ids else (),
        )
        known: set[str] = set()
        for plot in plots:
            if country in (None, country_of_plot(plot)) and plot.id not in known:
                known.add(plot.id)
                yield plot

    def _records(self, filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        query = project_query(**filters)
        return in_short_queries(
            self._app, lambda read: scan_projects(read, self._account_id, query), self._on_batch
        )

    def _of_left(
        self, filters: dict[str, Any], of_projects: Mapping[str, Any]
    ) -> Iterator[Feature]:
        """Yield the plots that filters leave of the projects that others leave."""
        owners = {plot.properties["project_id"] for plot in self.assets(filters)}
        if ids := of_projects.get("ids"):
            owners &= set(ids)
        if owners:
            left = {each["id"] for each in self._records({**of_projects, "ids": tuple(owners)})}
            yield from (p for p in self.assets(filters) if p.properties["project_id"] in left)

    @cached_property
    def _with_plots(self) -> frozenset[str]:
        """The ids of the projects that have plots."""
        with self._app.app_context():
            rows = _PROJECTS_WITH_PLOTS.tuples(account_id=self._account_id, type=PLOT_TYPE)
            return frozenset(project_id for (project_id,) in rows)
