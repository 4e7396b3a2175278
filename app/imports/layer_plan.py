"""Choosing how the file of an import is read: its layer, columns, coordinate system and match."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.formats.crs import note_on_area
from app.formats.crs_search import Position
from app.formats.features import FileInvalid, Layer
from app.formats.readers.gpx import ALL_LAYERS
from app.formats.readers.kml import ALL_FOLDERS
from app.geometry.countries import country_at
from app.imports.ambiguous_places import settle_places
from app.imports.features.candidates import ReadOptions
from app.imports.features.decisions import Match
from app.imports.features.mapping import (
    ColumnMapping,
    LayerScan,
    guess_mapping,
    guess_name_column,
    ignored_columns,
    is_export,
    within_key_limit,
)
from app.imports.features.reader_process import ReaderProcess
from app.imports.features.reader_program import OpenedFile, OpenOptions
from app.imports.features.targets import Matcher, Targets, import_targets
from app.imports.leases import LeasedImport, LeaseLost, lock_leased
from app.imports.questions import questions_of, suggested_ids
from app.models import Import
from app.policy.files import NAMES_LENGTH
from app.policy.imports import GEOMETRY_COLUMNS
from app.policy.request_limits import METADATA_KEYS
from app.projects.places import project_places
from app.values.text import pluralize, storage_problem

# The layers that an import takes by default, by format and kind. In other formats it is the first
# layer with the right geometries, or with any features.
_DEFAULT_LAYERS: Final = {
    ("gpx", "projects"): ("tracks", "routes"),
    ("gpx", "assets"): ("waypoints",),
    ("kml", "projects"): (ALL_FOLDERS,),
    ("kml", "assets"): (ALL_FOLDERS,),
    ("kmz", "projects"): (ALL_FOLDERS,),
    ("kmz", "assets"): (ALL_FOLDERS,),
}
_LISTED_NAMES: Final = 20  # in a message
# What a person has chosen, and what was found when the file was read before.
_CHOICES: Final = CompiledQuery(
    columns_of(
        Import,
        *(getattr(Import, name) for name in (
            "kind", "project_id", "filename", "layers", "layer", "mapping", "match",
            "given_crs", "given_encoding", "close_lines", "swap", "corners_by",
            "without_boundaries", "points_as_plots", "letters", "zone_letter", "names",
        )),
    ).where(Import.id == bindparam("import_id"))
)  # fmt: skip
_LATEST_APPLIED: Final = CompiledQuery(
    columns_of(Import, Import.layers, Import.layer, Import.mapping)
    .where(Import.kind == bindparam("kind"), Import.status == "applied")
    .order_by(Import.created_at.desc(), Import.id.desc())
    .limit(20)
)


class LayerPlan(NamedTuple):
    """How to read a layer. ``crs_is_open``: its coordinate system must be chosen first."""

    layer: Layer
    crs: str | None
    options: ReadOptions
    matcher: Matcher
    features: int
    crs_is_open: bool


def plan_layer(
    leased: LeasedImport,
    process: ReaderProcess,
    in_transaction: Transaction,
    max_features: int | None,
) -> LayerPlan:
    """Open the file, choose its layer and mapping, and store them with the questions about it."""
    choices = _CHOICES.first(account_id=leased.account_id, import_id=leased.import_id)
    if choices is None:
        raise LeaseLost
    near = project_places(leased.account_id)
    options = _open_options(choices, near)
    file = process.open(options)
    layer = _choose_layer(choices, file)
    with in_transaction():  # other layers can be chosen if this one cannot be read
        targets = _store_layers(lock_leased(leased), file, layer)
    _check_layer(layer, choices.corners_by, max_features)
    crs = choices.given_crs

    def scan_layer(layer: Layer) -> LayerScan:
        return process.scan(layer, crs, max_features)

    reading, of_places, notes = settle_places(process, file, layer, options, scan_layer, near)
    layer, scan = reading.layer, reading.scan
    if not scan.features:
        raise FileInvalid("The file has no features.")
    chosen = _chosen_columns(leased.account_id, choices, layer, scan)
    asks_name = "name" not in chosen
    from_here, ignored = is_export(scan), ignored_columns(scan, choices.kind)
    mapping, skipped = _complete_mapping(scan, choices.kind, chosen)
    match = _choose_match(choices, chosen, mapping, from_here)
    names = layer, crs, mapping.name
    matcher = _layer_matcher(leased.account_id, process, targets, match, names)
    questions = questions_of(
        file, layer, scan, mapping, choices, near, of_places, asks_name=asks_name
    )
    crs_is_open = any(question["code"] == "crs" for question in questions)
    notes += _notes(scan, skipped, None if crs_is_open else crs or layer.crs)
    suggestions = suggested_ids(scan, mapping, ignored)
    with in_transaction():
        import_ = lock_leased(leased)
        import_.mapping, import_.match = mapping.as_json(), match
        if not asks_name:
            import_.mapping = {"name": None, **import_.mapping}  # it may have been chosen
        found = asdict(layer) | {"found": dict(reading.columns), "suggestions": suggestions}
        import_.layers = [found if each["name"] == layer.name else each for each in import_.layers]
        import_.questions, import_.progress_total = questions, scan.features
        import_.notes = [*import_.notes, *notes]
        import_.crs = None if crs_is_open else layer.crs
        if scan.box is None:  # no positions, so no question about their system
            import_.crs = layer.crs or "EPSG:4326"
    read_options = ReadOptions(
        choices.kind,
        mapping,
        layer.name,
        ignored,
        from_here,
        choices.close_lines,
        choices.project_id,
        points_as_plots=bool(choices.points_as_plots),
        names=choices.names or {},
    )
    return LayerPlan(layer, crs, read_options, matcher, scan.features, crs_is_open)


def _open_options(choices: Any, near: Sequence[Position]) -> OpenOptions:
    return OpenOptions(
        choices.swap,
        choices.corners_by,
        ColumnMapping.from_json(choices.mapping or {}).geometry,
        choices.given_encoding,
        choices.given_crs,
        sorted(filter(None, {country_at(*place) for place in near})),
        choices.letters,
        choices.zone_letter,
    )


def _store_layers(import_: Import, file: OpenedFile, layer: Layer) -> Targets:
    """Store what is known before a layer is read. Returns the targets of its features."""
    import_.format, import_.layer, import_.crs = file.format, layer.name, layer.crs
    import_.layers = list(map(asdict, file.layers))
    import_.progress_total = layer.features
    encoding = {"name": layer.encoding, "guessed": layer.is_guessed}
    import_.encoding = encoding if layer.encoding else None
    import_.notes = _other_layers_note(layer, file.layers)
    return import_targets(import_)


def _choose_layer(choices: Any, file: OpenedFile) -> Layer:
    names = [layer.name for layer in file.layers]
    _check_names([*names, *(column for layer in file.layers for column in layer.columns)])
    if not names:
        raise FileInvalid("The file has no features.")
    if choices.layer is not None:
        if choices.layer in names:
            return file.layers[names.index(choices.layer)]
        raise FileInvalid(
            f"The file has no layer {choices.layer!r}. It has: {_listed_names(names)}."
        )
    for name in _DEFAULT_LAYERS.get((file.format, choices.kind), ()):
        if name in names:
            return file.layers[names.index(name)]
    geometry = "points" if choices.kind == "assets" else "areas"
    filled = [layer for layer in file.layers if layer.features]
    fitting = [layer for layer in filled if layer.geometry == geometry]
    return [*fitting, *filled, *file.layers][0]


def _layer_matcher(
    account_id: str,
    process: ReaderProcess,
    targets: Targets,
    match: Match,
    names: tuple[Layer, str | None, str | None],
) -> Matcher:
    """Return the matcher for a layer.

    Args:
        names: the layer, its coordinate system, and its column of names.
    """
    areas, points = set[str](), set[str]()
    if match == "name" and targets.projects:
        areas = process.repeated_names(*names, of_points=False if targets.assets else None)
    if match == "name" and targets.assets:
        points = process.repeated_names(*names, of_points=True if targets.projects else None)
    return targets.matcher(account_id, match, repeated_areas=areas, repeated_points=points)


def _other_layers_note(layer: Layer, layers: Sequence[Layer]) -> list[str]:
    all_layers = ALL_FOLDERS, ALL_LAYERS
    others = [
        f"{other.name} ({other.features:,})"
        for other in layers
        if other != layer and other.name != ALL_LAYERS
    ]
    if not others or layer.name in all_layers:
        return []
    return [f"Only the layer {layer.name} was read. The file also has: {_listed_names(others)}."]


def _notes(scan: LayerScan, skipped: Sequence[str], crs: str | None) -> Iterator[str]:
    """Yield what to know about the columns and places of a layer.

    Args:
        skipped: the columns that are too many for metadata.
        crs: the coordinate system; None: it is not known.
    """
    if skipped:
        left_out = _listed_names(skipped)
        yield (
            f"Only {METADATA_KEYS} columns can become metadata. Left out: {left_out}. You can "
            "choose others."
        )
    for column in scan.secret:
        yield (
            f"“{column}” was left out: the verification number opens a statement to everybody who "
            "reads it here."
        )
    if scan.at_zero:
        features = pluralize(scan.at_zero, "feature is", "features are")
        yield f"{features} at 0, 0, which devices write that do not know their place."
    names, countries = (scan.columns.get(name) for name in ("ProducerName", "ProducerCountry"))
    without = names.filled - (countries.filled if countries else 0) if names else 0
    if names and names.distinct > 1 and without > 0:
        features = pluralize(without, "feature has", "features have")
        yield (
            f"The file names several producers, and {features} no ProducerCountry. Each plot needs "
            "it in a file for the EUDR."
        )
    if area_note := note_on_area(crs or "", scan.places.values()):
        yield area_note


def _choose_match(
    choices: Any, chosen: Mapping[str, Any], mapping: ColumnMapping, from_here: bool
) -> Match:
    """Return how features find their targets. Exported features have the ids of their origins.

    Raises:
        FileInvalid: it is by external id, and no feature has one.
    """
    match: Match | None = choices.match
    if mapping.has_external_id or from_here:
        return match or "external_id"
    if match != "external_id":
        return match or "none"
    if "external_id" in (choices.mapping or {}).keys() - chosen.keys():  # another layer has none
        return "none"
    raise FileInvalid(
        "No column holds external ids. Say in the mapping which one does, or match by name."
    )


def _check_names(names: Sequence[str]) -> None:
    """Raise FileInvalid if the names of layers and columns cannot be stored or shown."""
    if any(map(storage_problem, names)):
        raise FileInvalid("The name of a layer or column has characters that cannot be stored.")
    if sum(map(len, names)) > NAMES_LENGTH:
        raise FileInvalid(
            f"The names of the layers and columns have more than {NAMES_LENGTH:,} characters "
            "together. Shorten them, or leave out some layers or columns."
        )


def _complete_mapping(
    scan: LayerScan, kind: str, chosen: Mapping[str, Any]
) -> tuple[ColumnMapping, list[str]]:
    """Return the whole mapping, and the columns that are too many for metadata. Raises
    FileInvalid."""
    mapping = guess_mapping(scan, kind, chosen)
    metadata = (column for column in mapping.metadata or () if column not in scan.secret)
    columns = [*mapping.fields.values(), *metadata]
    if unknown := [column for column in columns if column not in scan.columns]:
        raise _unknown_column(repr(unknown[0]), list(scan.columns))
    if is_export(scan):  # an export has what is beyond the limit in one column
        return mapping, []
    return within_key_limit(mapping, scan, ignored_columns(scan, kind))


def _unknown_column(name: str, columns: Sequence[str]) -> FileInvalid:
    choices = _listed_names(columns) or "none"
    return FileInvalid(f"The layer has no column {name}. Its columns are: {choices}.")


def _chosen_columns(
    account_id: str, choices: Any, layer: Layer, scan: LayerScan
) -> Mapping[str, Any]:
    """The mapping that was chosen, or else the last one of a layer with these columns. Columns that
    another layer does not have, or to which another encoding gives other names, are left out, so
    that they are guessed again."""
    if choices.mapping is None:
        chosen = _last_mapping(account_id, choices.kind, layer.columns)
    else:
        before = {column for each in choices.layers for column in each["columns"]}
        lost = before.difference(layer.columns)
        chosen = {
            field: columns
            for field, columns in choices.mapping.items()
            if lost.isdisjoint(columns if isinstance(columns, list) else [columns])
        }
    if choices.corners_by:
        return {"name": guess_name_column(scan) or choices.corners_by, **chosen}
    return chosen


def _last_mapping(account_id: str, kind: str, columns: Sequence[str]) -> dict[str, Any]:
    """The mapping that the account last applied to a layer with these columns, or none."""
    for row in _LATEST_APPLIED.all(account_id=account_id, kind=kind):
        for layer in row.layers:
            if layer["name"] == row.layer and set(layer["columns"]) == set(columns):
                # Each file has its geometries in its own columns.
                return {
                    name: column
                    for name, column in row.mapping.items()
                    if name not in GEOMETRY_COLUMNS
                }
    return {}


def _check_layer(layer: Layer, corners_by: str | None, max_features: int | None) -> None:
    """Check what is known before a layer is read. Raises FileInvalid."""
    if max_features is not None and layer.features > max_features:
        raise FileInvalid(
            f"The layer {layer.name!r} has {layer.features:,} features, and an import can have "
            f"{max_features:,}. Split the file into several."
        )
    if corners_by and corners_by not in layer.columns:
        raise _unknown_column(f"{corners_by!r}, which corners_by names", layer.columns)


def _listed_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED_NAMES} more" if len(names) > _LISTED_NAMES else ""
    return ", ".join(names[:_LISTED_NAMES]) + more
