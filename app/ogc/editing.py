"""Changes of features, through the services of projects and assets, with their events."""

from __future__ import annotations

from typing import Any

from app.api.merge_patch import merged_text
from app.assets import service as assets
from app.auth.guard import require_project
from app.auth.principal import Principal
from app.geometry import Boundary, is_same_boundary
from app.geometry.shapes import CRS84
from app.http.errors import Forbidden, InvalidField, NotFound
from app.http.etags import IfMatch
from app.ogc.bodies import content_crs
from app.ogc.collections import Collection
from app.ogc.columns import restore_types
from app.ogc.features import shown_geometry
from app.ogc.items import project_of
from app.projects import lookup
from app.projects import service as projects
from app.values.strict_json import dumps, loads_own

Values = dict[str, Any]


def create_feature(principal: Principal, collection: Collection, values: Values) -> Values:
    """Add a feature. Returns its record.

    Raises:
        ValidationFailed: an asset's project does not exist.
        Conflict: another project has the same slug or external id, or another asset of the project
            the same external id.
        Forbidden: the account would store more bytes than allowed, or the principal, who sees only
            some projects, would add one.
    """
    if collection.word == "project":
        if principal.project_ids is not None:
            raise Forbidden(
                "limited_to_projects",
                "This credential is limited to some projects. It can change them, but add none: "
                "use one that is not limited.",
            )
        return projects.create_project(principal, source="ogc", **values)
    project_id = values.pop("project_id")
    try:
        require_project(principal, project_id)
        return assets.create_asset(principal, project_id, **values)
    except NotFound as error:
        raise InvalidField("properties.project_id", error.message, "not_found") from None


def change_feature(
    principal: Principal,
    collection: Collection,
    feature_id: str,
    values: Values,
    patch: Values,
    if_match: IfMatch,
) -> None:
    """Change a feature.

    Args:
        values: the fields by column.
        patch: the patch of the metadata.

    Raises:
        NotFound: there is no such feature.
        PreconditionFailed: ``if_match`` does not hold.
        ValidationFailed: a field would change that never does, or the metadata would be too large.
        Conflict: another project, or asset of the project, has this external id.
        Forbidden: the account would store more bytes than allowed.
    """
    if collection.word == "project":
        require_project(principal, feature_id)
        project = lookup.lock_project(principal.account_id, feature_id)
        _keep_same_boundary(values, project.geometry)
        _merge_metadata(project, values, patch)
        projects.update_project(principal, feature_id, values, if_match, source="ogc")
        return
    project_id = project_of(principal, collection, feature_id)
    _check_project(values, project_id)
    asset = assets.lock_asset(principal.account_id, project_id, feature_id)
    _merge_metadata(asset, values, patch)
    assets.update_asset(principal, project_id, feature_id, values, if_match)


def delete_feature(
    principal: Principal, collection: Collection, feature_id: str, if_match: IfMatch
) -> None:
    """Delete an asset, or an archived project with its assets.

    Raises:
        NotFound: there is no such feature.
        PreconditionFailed: ``if_match`` does not hold.
        Conflict: the project is not archived.
    """
    if collection.word == "project":
        require_project(principal, feature_id)
        projects.delete_project(principal, feature_id, if_match)
    else:
        project_id = project_of(principal, collection, feature_id)
        assets.delete_asset(principal, project_id, feature_id, if_match)


def _keep_same_boundary(values: Values, stored: str | None) -> None:
    """Drop a boundary that equals the stored one, although its text may differ: it was read as a
    MultiPolygon, perhaps in another coordinate system."""
    boundary: Boundary | None = values.get("geometry")
    if boundary is None or stored is None:
        return
    is_same = dumps(shown_geometry(boundary.text)) == dumps(shown_geometry(stored))
    if is_same or (content_crs() is not CRS84 and is_same_boundary(boundary.text, stored)):
        del values["geometry"]


def _merge_metadata(row: Any, values: Values, patch: Values) -> None:
    """Merge a patch into the metadata, with the stored values of unchanged texts."""
    stored = loads_own(row.metadata_json.encode()) if row.metadata_json else {}
    if patch:
        metadata = restore_types(patch, stored)
        merged = merged_text(row.metadata_json, metadata, "properties")
        values["metadata_json"] = None if merged == "{}" else merged
    elif values.get("metadata_json") and stored:
        metadata = restore_types(loads_own(values["metadata_json"].encode()), stored)
        values["metadata_json"] = dumps(metadata).decode()


def _check_project(values: Values, project_id: str) -> None:
    """Raise ValidationFailed if an asset would move to another project."""
    if values.pop("project_id", project_id) != project_id:
        message = f"The project of an asset never changes. Leave it out, or send {project_id!r}."
        raise InvalidField("properties.project_id", message, "read_only")
