"""The first step of an import: read its file, and decide what will become of each feature.

Only the import and its feature rows are written. A repeated step starts from scratch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import bindparam

from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.transactions import Transaction
from app.formats.crs import note_on_area
from app.formats.encodings import TWICE, decoder_of, read_once
from app.formats.features import FileInvalid, Layer
from app.formats.readers.gpx import ALL_LAYERS
from app.formats.readers.kml import ALL_FOLDERS
from app.geometry.countries import country_at
from app.geometry.problems import whole_problem
from app.imports.feature_rows import (
    count_features,
    delete_features,
    feature_row,
    insert_features,
    update_features,
)
from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature
from app.imports.features.limited_matcher import LimitedMatcher
from app.imports.features.mapping import (
    SECRET_COLUMNS,
    ColumnMapping,
    LayerScan,
    guess_mapping,
    guess_name_column,
    ignored_columns,
    is_export,
    within_key_limit,
)
from app.imports.features.mixed_targets import MixedTargets, project_name_of
from app.imports.features.reader_process import Batch, OpenedFile, ReaderProcess, TooCostly
from app.imports.features.reader_program import TOO_SLOW, OpenOptions, ReadLimits
from app.imports.features.summary import FeatureSummary
from app.imports.features.targets import CannotImport, Decision, Match, Matcher, Matching, Targets
from app.imports.leases import LeasedImport, end_costly, end_step, lock_leased, put_back
from app.imports.overlaps import PlacedFeature, find_overlaps
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.questions import Answers, project_places, questions_of, required_question
from app.imports.readings import Reading, settle_reading
from app.models import Import
from app.policy.eudr import VERIFICATION
from app.policy.files import (
    BRIEF_MEMORY_BYTES,
    BRIEF_SECONDS,
    BRIEF_WAIT_SECONDS,
    FEATURES,
    NAMES_LENGTH,
    READ_MEMORY_BYTES,
    READ_SECONDS,
    WAIT_SECONDS,
)
from app.policy.imports import (
    BATCH_SECONDS,
    DECIDE_SECONDS,
    GEOMETRY_COLUMNS,
    IMPORT_OVERLAPS_SECONDS,
)
from app.policy.request_limits import METADATA_KEYS
from app.values.batching import batched_by_time
from app.values.text import storage_problem

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
_LIMITS: Final = ReadLimits(READ_SECONDS, READ_MEMORY_BYTES, WAIT_SECONDS)
BRIEF_LIMITS: Final = ReadLimits(BRIEF_SECONDS, BRIEF_MEMORY_BYTES, BRIEF_WAIT_SECONDS)
_LISTED_NAMES: Final = 20  # in a message
_OVERLAPS_AT_ONCE: Final = 500  # in one transaction
_NOT_COMPARED: Final = (
    "There was no time to compare all features with each other and with your projects: some "
    "overlaps may be missing."
)
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


def prepare_preview(
    leased: LeasedImport,
    path: Path,
    targets: Targets,
    in_transaction: Transaction,
    *,
    max_features: int | None = FEATURES,
    progress: ImportProgress = NO_PROGRESS,
) -> None:
    """Read a file, and store its features with the decisions about them.

    Afterwards the import is ``ready``, or ``failed`` if the file cannot be read. In a brief turn, a
    file that takes longer is left to a full turn.

    Args:
        max_features: of the layer; None: any number, and reading may take any time and memory.
        progress: observes how many features are read.

    Raises:
        LeaseLost: the import was canceled, or another worker has it.
    """

    def renew() -> None:
        with in_transaction():
            lock_leased(leased)

    def clear() -> None:
        ids = leased.account_id, leased.import_id
        delete_features(*ids, in_transaction, lambda: lock_leased(leased))

    with in_transaction():
        lock_leased(leased).progress_done = 0
    clear()
    is_limited = max_features is not None
    summary = FeatureSummary()
    limits = BRIEF_LIMITS if leased.is_brief else _LIMITS
    end = time.monotonic() + limits.wait_seconds if leased.is_brief else float("inf")
    try:
        with ReaderProcess(path, renew, limits if is_limited else None) as process:
            plan = _plan_layer(leased, process, targets, in_transaction, max_features)
            seconds = DECIDE_SECONDS if is_limited else float("inf")
            matcher = LimitedMatcher(plan.matcher, seconds)
            progress.start(plan.features)
            batches = process.features(plan.layer, plan.crs, plan.options)
            for batch in () if plan.crs_is_open else batches:
                for rows in batched_by_time(
                    _decide_features(leased, matcher, batch), BATCH_SECONDS
                ):
                    _store_rows(leased, [row for row, _ in rows], in_transaction)
                    summary.add(rows)
                    progress.advance(len(rows))
                    if time.monotonic() > end:
                        raise TooCostly(TOO_SLOW)
            notes = [*process.notes(), *summary.notes()]
        seconds = IMPORT_OVERLAPS_SECONDS if is_limited else float("inf")
        seconds = min(seconds, end - time.monotonic())
        notes += _store_overlaps(leased, summary.placed, seconds, renew, in_transaction)
    except TooCostly as error:
        clear()
        with in_transaction():
            import_ = lock_leased(leased)
            if leased.is_brief:
                import_.is_long = True
                put_back(import_)
            else:
                end_costly(import_, str(error))
        return
    except FileInvalid as error:
        clear()
        with in_transaction():
            end_step(lock_leased(leased), "failed", str(error))
        return
    with in_transaction():
        import_ = lock_leased(leased)
        import_.notes = [*import_.notes, *notes]
        counts = count_features(leased.account_id, leased.import_id)
        import_.counts = counts | summary.as_json()
        question = required_question(import_.questions)
        end_step(import_, "ready", question["message"] if question else None)


def _plan_layer(
    leased: LeasedImport,
    process: ReaderProcess,
    targets: Targets,
    in_transaction: Transaction,
    max_features: int | None,
) -> LayerPlan:
    """Open the file, choose its layer and mapping, and store them."""
    near = project_places(leased.account_id)
    home = sorted(filter(None, {country_at(*place) for place in near}))
    with in_transaction():
        import_ = lock_leased(leased)
        _recode_columns(import_, import_.given_encoding)
        geometry = ColumnMapping.from_json(import_.mapping or {}).geometry
        corners_by = import_.corners_by
        given = import_.given_encoding, import_.given_crs
        letters = import_.letters, import_.zone_letter
        open_options = OpenOptions(import_.swap, corners_by, geometry, *given, home, *letters)
    file = process.open(open_options)
    with in_transaction():
        import_ = lock_leased(leased)
        layer = _choose_layer(import_, file)
        import_.format, import_.layer, import_.crs = file.format, layer.name, layer.crs
        encoding, is_guessed = layer.encoding, layer.is_guessed
        _recode_columns(import_, encoding)
        import_.layers = [asdict(file_layer) for file_layer in file.layers]
        import_.progress_total = layer.features
        import_.encoding = {"name": encoding, "guessed": is_guessed} if encoding else None
        import_.notes = _other_layers_note(layer, file.layers)
        kind, crs, project_id = import_.kind, import_.given_crs, import_.project_id
        partial_mapping, match, answers = import_.mapping, import_.match, Answers.of(import_)
        new_project_name, names = project_name_of(import_.filename), import_.names or {}
    _check_layer(layer, corners_by, max_features)
    scan = process.scan(layer, crs, max_features)
    reading = Reading(open_options, layer, scan, next(iter(file.choices), {}))
    reading, of_reading, reading_notes = settle_reading(
        process, file, reading, lambda layer: process.scan(layer, crs, max_features), near
    )
    layer, scan = reading.layer, reading.scan
    if partial_mapping is None:
        partial_mapping = _last_mapping(leased.account_id, kind, layer.columns) or {}
    if not scan.features:
        raise FileInvalid("The file has no features.")
    if corners_by:
        partial_mapping = {"name": guess_name_column(scan) or corners_by, **partial_mapping}
    mapping = _complete_mapping(scan, kind, partial_mapping)
    from_here, ignored = is_export(scan), ignored_columns(scan, kind)
    if from_here:  # what has no boundary in an export had none
        answers = answers._replace(without_boundaries=True)
    questions = questions_of(
        layer,
        scan,
        file.format,
        mapping,
        answers,
        near,
        file.guesses if is_guessed else (),
        asks_name="name" not in partial_mapping,
        new_project_name=new_project_name,
        others=file.layers,
        of_reading=of_reading,
    )
    area_note = note_on_area(crs or layer.crs or "", scan.places.values())
    crs_is_open = any(question["code"] == "crs" for question in questions)
    skipped: list[str] = []
    if not from_here:  # an export has what is beyond the limit in one column
        mapping, skipped = within_key_limit(mapping, scan, ignored)
    match = _choose_match(match, mapping, from_here)
    matcher = _layer_matcher(leased, process, targets, match, (layer, crs, mapping.name))
    with in_transaction():
        import_ = lock_leased(leased)
        import_.mapping, import_.match = mapping.as_json(), match
        import_.crs = layer.crs
        import_.layers = [
            asdict(layer) | {"found": dict(reading.columns)} if each["name"] == layer.name else each
            for each in import_.layers
        ]
        if "name" in partial_mapping and partial_mapping["name"] is None:
            import_.mapping = {"name": None, **import_.mapping}  # chosen: no column has names
        import_.questions, import_.progress_total = questions, scan.features
        import_.notes = [*import_.notes, *_skipped_columns_note(skipped), *_secret_note(scan)]
        import_.notes = [*import_.notes, *reading_notes, *_zero_note(scan)]
        if area_note and not crs_is_open:
            import_.notes = [*import_.notes, area_note]
        if crs_is_open:
            import_.crs = None
        elif scan.box is None:  # no positions, so no question about their system
            import_.crs = import_.crs or "EPSG:4326"
    options = ReadOptions(
        kind,
        mapping,
        layer.name,
        ignored,
        from_here,
        answers.close_lines,
        project_id,
        points_as_plots=bool(answers.points_as_plots),
        names=names,
    )
    return LayerPlan(layer, crs, options, matcher, scan.features, crs_is_open)


def _layer_matcher(
    leased: LeasedImport,
    process: ReaderProcess,
    targets: Targets,
    match: Match,
    names: tuple[Layer, str | None, str | None],
) -> Matcher:
    """Return the matcher for a layer.

    Args:
        names: the layer, its coordinate system, and its column of names.
    """
    if match != "name":
        return targets.matcher(Matching(leased.account_id, match))
    if isinstance(targets, MixedTargets):
        targets = replace(targets, repeated_plots=process.repeated_names(*names, of_points=True))
        repeated = process.repeated_names(*names, of_points=False)
    else:
        repeated = process.repeated_names(*names)
    return targets.matcher(Matching(leased.account_id, match, repeated))


def _decide_features(
    leased: LeasedImport, matcher: Matcher, features: Batch
) -> Iterator[tuple[dict[str, Any], Candidate | RejectedFeature]]:
    """Yield the row of each feature with the feature. Raises TooCostly."""
    for feature in features:
        yield _decided_row(leased, matcher, feature), feature


def _decided_row(
    leased: LeasedImport, matcher: Matcher, feature: Candidate | RejectedFeature
) -> dict[str, Any]:
    decision: Decision | None = None
    if isinstance(feature, Candidate):
        try:
            decision = matcher.decide(feature)
        except CannotImport as error:
            problem = whole_problem("conflict", error.message, error.field)
            geometry = feature.boundary or feature.location
            shape = geometry.text if geometry else None
            feature = RejectedFeature(
                feature.number, feature.name, (problem,), shape, feature.is_plot
            )
    return feature_row(leased.account_id, leased.import_id, feature, decision)


def _store_overlaps(
    leased: LeasedImport,
    placed: Sequence[PlacedFeature],
    seconds: float,
    renew: Callable[[], None],
    in_transaction: Transaction,
) -> list[str]:
    """Find and store the overlaps of features. Returns a note if there was no time for all.

    Raises:
        TooCostly: it takes longer than a brief turn.
    """
    overlaps = find_overlaps(leased.account_id, leased.import_id, placed, seconds, renew)
    if leased.is_brief and not overlaps.is_complete:
        raise TooCostly(TOO_SLOW)
    columns = list(overlaps.columns.items())
    for start in range(0, len(columns), _OVERLAPS_AT_ONCE):
        with in_transaction():
            lock_leased(leased)
            changes = columns[start : start + _OVERLAPS_AT_ONCE]
            update_features(leased.account_id, leased.import_id, changes)
    return [] if overlaps.is_complete else [_NOT_COMPARED]


def _store_rows(
    leased: LeasedImport, rows: Sequence[dict[str, Any]], in_transaction: Transaction
) -> None:
    with in_transaction():
        import_ = lock_leased(leased)
        left_out = set(import_.left_out)
        insert_features([{**row, "left_out": row["number"] in left_out} for row in rows])
        import_.progress_done += len(rows)


def _choose_layer(import_: Import, file: OpenedFile) -> Layer:
    names = [layer.name for layer in file.layers]
    _check_names([*names, *(column for layer in file.layers for column in layer.columns)])
    if not names:
        raise FileInvalid("The file has no features.")
    if import_.layer is not None:
        if import_.layer in names:
            return file.layers[names.index(import_.layer)]
        raise FileInvalid(
            f"The file has no layer {import_.layer!r}. It has: {_listed_names(names)}."
        )
    for name in _DEFAULT_LAYERS.get((file.format, import_.kind), ()):
        if name in names:
            return file.layers[names.index(name)]
    geometry = "points" if import_.kind == "assets" else "areas"
    filled = [layer for layer in file.layers if layer.features]
    fitting = [layer for layer in filled if layer.geometry == geometry]
    return [*fitting, *filled, *file.layers][0]


def affordable_layers(import_: Import) -> set[str]:
    """The names of the layers that are not known to be too costly to read."""
    names = {layer["name"] for layer in import_.layers}
    # All folders together are as costly as the costliest of them.
    all_folders = [ALL_FOLDERS] if import_.costly_layers else []
    return names.difference(import_.costly_layers, all_folders)


def _recode_columns(import_: Import, encoding: str | None) -> None:
    """Give the columns of choices the names that they have in another encoding than before."""
    before: str = (import_.encoding or {}).get("name", "")
    if before == TWICE != encoding:  # which cannot be taken back
        import_.mapping = import_.encoding = None
    if not encoding or encoding == before or not (before or encoding == TWICE):
        return
    layers = [layer for layer in import_.layers if layer["name"] == import_.layer]
    known = {name for layer in layers for name in (*layer["columns"], *layer["geometry_columns"])}

    def renamed(column: Any) -> Any:
        if isinstance(column, list):
            return list(map(renamed, column))
        if column is None or column.isascii() or column not in known:
            return column
        if encoding == TWICE:
            return read_once(column)
        return column.encode(decoder_of(before), "replace").decode(decoder_of(encoding), "replace")

    mapping = import_.mapping or {}
    import_.mapping = {name: renamed(column) for name, column in mapping.items()} or None
    import_.corners_by = renamed(import_.corners_by)
    import_.encoding = {"name": encoding, "guessed": False}


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


def _secret_note(scan: LayerScan) -> list[str]:
    if SECRET_COLUMNS.isdisjoint(map(str.casefold, scan.columns)):
        return []
    return [
        f"The column {VERIFICATION} was left out: the number opens a statement to everybody who "
        "reads it here."
    ]


def _skipped_columns_note(columns: Sequence[str]) -> list[str]:
    if not columns:
        return []
    return [
        f"Only {METADATA_KEYS} columns can become metadata. Left out: {_listed_names(columns)}. "
        "You can choose others."
    ]


def _zero_note(scan: LayerScan) -> list[str]:
    if not scan.at_zero:
        return []
    features = "1 feature is" if scan.at_zero == 1 else f"{scan.at_zero:,} features are"
    return [f"{features} at 0, 0, which devices write that do not know their place."]


def _choose_match(chosen: str | None, mapping: ColumnMapping, from_here: bool) -> Match:
    """Return how features find their targets. Exported features have the ids of their origins.

    Raises:
        FileInvalid: it is by external id, and no feature has one.
    """
    has_ids = mapping.has_external_id or from_here
    if chosen == "external_id" and not has_ids:
        raise FileInvalid(
            "No column holds external ids. Say in the mapping which one does, or match by name."
        )
    if chosen is not None:
        return cast("Match", chosen)
    return "external_id" if has_ids else "none"


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
    scan: LayerScan, kind: str, partial_mapping: Mapping[str, Any]
) -> ColumnMapping:
    mapping = guess_mapping(scan, kind, partial_mapping)
    columns = [*mapping.fields.values(), *(mapping.metadata or ())]
    if unknown := [column for column in columns if column not in scan.columns]:
        raise _unknown_column(repr(unknown[0]), list(scan.columns))
    return mapping


def _unknown_column(name: str, columns: Sequence[str]) -> FileInvalid:
    choices = _listed_names(columns) or "none"
    return FileInvalid(f"The layer has no column {name}. Its columns are: {choices}.")


def _last_mapping(account_id: str, kind: str, columns: Sequence[str]) -> dict[str, Any] | None:
    """The mapping that the account last applied to a layer with these columns, or None."""
    for row in _LATEST_APPLIED.all(account_id=account_id, kind=kind):
        for layer in row.layers:
            if layer["name"] == row.layer and set(layer["columns"]) == set(columns):
                # Each file has its geometries in its own columns.
                return {
                    name: column
                    for name, column in row.mapping.items()
                    if name not in GEOMETRY_COLUMNS
                }
    return None


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
