"""The first step of an import: its file is read, and what will become of each feature is decided.

Only the import itself is written. A step that is repeated starts from scratch.
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
from app.formats.features import FileInvalid, Layer
from app.formats.readers.kml import ALL_FOLDERS
from app.geometry.problems import whole_problem
from app.imports.feature_rows import (
    count_features,
    delete_features,
    feature_row,
    insert_features,
    update_features,
)
from app.imports.features.bounded import BoundedMatcher
from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature
from app.imports.features.mapping import (
    ColumnMapping,
    LayerScan,
    guess_mapping,
    guess_name_column,
    ignored_columns,
    is_export,
    within_key_limit,
)
from app.imports.features.mixed_targets import MixedTargets, name_of_file
from app.imports.features.reader_process import Batch, OpenedFile, ReaderProcess, TooCostly
from app.imports.features.reader_program import TOO_SLOW, OpenOptions, ReadLimits
from app.imports.features.sums import FeatureSums
from app.imports.features.targets import CannotImport, Decision, Match, Matcher, Targets
from app.imports.leases import LeasedImport, end_costly, end_step, lock_leased, put_back
from app.imports.overlaps import PlacedFeature, find_overlaps
from app.imports.progress import NO_PROGRESS, ImportProgress
from app.imports.questions import Answers, project_places, questions_of, required_question
from app.models import Import
from app.policy.bounds import METADATA_KEYS
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
from app.values.batching import batched_by_time
from app.values.text import unstorable

# Which layer of a file an import takes when it is not told; of other files the first one with what
# it wants, or with anything.
_USUAL: Final = {
    ("gpx", "projects"): ("tracks", "routes"),
    ("gpx", "assets"): ("waypoints",),
    ("kml", "projects"): (ALL_FOLDERS,),
    ("kml", "assets"): (ALL_FOLDERS,),
    ("kmz", "projects"): (ALL_FOLDERS,),
    ("kmz", "assets"): (ALL_FOLDERS,),
}
_BOUNDS: Final = ReadLimits(READ_SECONDS, READ_MEMORY_BYTES, WAIT_SECONDS)
_BRIEF: Final = ReadLimits(BRIEF_SECONDS, BRIEF_MEMORY_BYTES, BRIEF_WAIT_SECONDS)
_SHOWN: Final = 20  # names in a message
_WRITTEN: Final = 500  # overlaps in one transaction
_NOT_COMPARED: Final = (
    "There was no time to compare all features with each other and with your projects: some "
    "overlaps may be missing."
)
_LATEST: Final = CompiledQuery(
    columns_of(Import, Import.layers, Import.layer, Import.mapping)
    .where(
        Import.kind == bindparam("kind"),
        Import.status == "applied",
    )
    .order_by(Import.created_at.desc(), Import.id.desc())
    .limit(20)
)


class LayerPlan(NamedTuple):
    """How a layer is read. ``crs_is_open``: that question is to be answered first."""

    layer: Layer
    crs: str | None
    choices: ReadOptions
    matcher: Matcher
    features: int
    crs_is_open: bool


def prepare_preview(
    leased: LeasedImport,
    path: Path,
    targets: Targets,
    in_transaction: Transaction,
    *,
    most: int | None = FEATURES,
    progress: ImportProgress = NO_PROGRESS,
) -> None:
    """Read a file, and store its features with the decisions about them. The import is ``ready``
    then, or ``failed`` if the file cannot be read. A lease for a brief turn is given back if that
    is too short for the file.

    Args:
        most: the most features of a layer; None: any number, and the file may take any time.
        progress: observes how many features are read.

    Raises:
        LeaseLost: the import was canceled, or another worker has it.
    """

    def renew() -> None:
        with in_transaction():
            lock_leased(leased)

    def clear() -> None:
        delete_features(
            leased.account_id, leased.import_id, in_transaction, lambda: lock_leased(leased)
        )

    with in_transaction():
        lock_leased(leased).progress_done = 0
    clear()
    sums = FeatureSums()
    bounds = _BRIEF if leased.is_brief else _BOUNDS
    end = time.monotonic() + bounds.wait_seconds if leased.is_brief else float("inf")
    try:
        with ReaderProcess(path, renew, None if most is None else bounds) as process:
            plan = _plan(leased, process, targets, in_transaction, most)
            progress.start(plan.features)
            batches = process.features(plan.layer, plan.crs, plan.choices)
            for batch in () if plan.crs_is_open else batches:
                decided = _decide(leased, batch, plan.matcher)
                for some in batched_by_time(decided, BATCH_SECONDS):
                    _store(leased, [row for row, _ in some], in_transaction)
                    sums.add(some)
                    progress.advance(len(some))
                    if time.monotonic() > end:
                        raise TooCostly(TOO_SLOW)
            notes = [*process.notes(), *sums.notes()]
        seconds = IMPORT_OVERLAPS_SECONDS if most is not None else float("inf")
        seconds = min(seconds, end - time.monotonic())
        notes += _compare(leased, sums.placed, seconds, renew, in_transaction)
    except TooCostly as error:
        clear()
        with in_transaction():
            found = lock_leased(leased)
            if leased.is_brief:
                found.is_long = True
                put_back(found)
            else:
                end_costly(found, str(error))
        return
    except FileInvalid as error:
        clear()
        with in_transaction():
            end_step(lock_leased(leased), "failed", str(error))
        return
    with in_transaction():
        found = lock_leased(leased)
        found.notes = [*found.notes, *notes]
        counts = count_features(leased.account_id, leased.import_id)
        found.counts = counts | sums.as_json()
        open_question = required_question(found.questions)
        end_step(found, "ready", open_question["message"] if open_question else None)


def _plan(
    leased: LeasedImport,
    process: ReaderProcess,
    targets: Targets,
    in_transaction: Transaction,
    most: int | None,
) -> LayerPlan:
    """Open the file, decide how its columns are read, and store that."""
    with in_transaction():
        found = lock_leased(leased)
        named = ColumnMapping.from_json(found.mapping or {})
        ways = OpenOptions(found.swap, found.corners_by, named.geometry)
    opened = process.open(ways)
    with in_transaction():
        found = lock_leased(leased)
        layer = _layer(found, opened)
        found.format, found.layer, found.crs = opened.format, layer.name, layer.crs
        found.layers = [asdict(each) for each in opened.layers]
        found.progress_total = layer.features
        found.notes = _other_layers(layer, opened.layers)
        kind, crs, given, project_id = found.kind, found.given_crs, found.mapping, found.project_id
        match, answers = found.match, Answers.of(found)
        name_of_project = name_of_file(found.filename)
    if most is not None and layer.features > most:
        raise FileInvalid(_too_many(layer, most))
    scan = process.scan(layer, crs, most)
    if given is None:
        given = _last_mapping(leased.account_id, kind, layer.columns) or {}
    if not scan.features:
        raise FileInvalid("The file has no features.")
    if ways.corners_by:
        given = {"name": guess_name_column(scan) or ways.corners_by, **given}
    mapping = _mapping(scan, kind, given)
    from_here, ignored = is_export(scan), ignored_columns(scan, kind)
    if from_here:  # it has no more because there was no more
        answers = answers._replace(without_boundaries=True)
    questions = questions_of(
        layer,
        scan,
        opened.format,
        mapping,
        answers,
        project_places(leased.account_id),
        asks_name="name" not in given,
        name_of_project=name_of_project,
    )
    crs_is_open = any(each["code"] == "crs" for each in questions)
    left_out: list[str] = []
    if not from_here:  # its keys that were no columns are together in one
        mapping, left_out = within_key_limit(mapping, scan, ignored)
    match = _chosen_match(match, mapping, from_here)
    matcher = _matcher(leased, process, targets, match, (layer, crs, mapping.name))
    with in_transaction():
        found = lock_leased(leased)
        found.mapping, found.match = mapping.as_json(), match
        if "name" in given and given["name"] is None:
            found.mapping = {"name": None, **found.mapping}  # a person wants none
        found.questions, found.progress_total = questions, scan.features
        found.notes = [*found.notes, *_left_out(left_out)]
        if crs_is_open:
            found.crs = None
        elif scan.box is None:  # nothing to ask about
            found.crs = found.crs or "EPSG:4326"
    choices = ReadOptions(
        kind,
        mapping,
        layer.name,
        ignored,
        from_here,
        answers.close_lines,
        project_id,
        points_as_plots=bool(answers.points_as_plots),
    )
    seconds = float("inf") if most is None else DECIDE_SECONDS
    bounded = BoundedMatcher(matcher, seconds)
    return LayerPlan(layer, crs, choices, bounded, scan.features, crs_is_open)


def _matcher(
    leased: LeasedImport,
    process: ReaderProcess,
    targets: Targets,
    match: Match,
    names: tuple[Layer, str | None, str | None],
) -> Matcher:
    """The matcher for a layer; ``names``: with its coordinate system, and the column of names."""
    if match != "name":
        return targets.matcher(leased.account_id, match)
    if isinstance(targets, MixedTargets):
        targets = replace(targets, repeated_plots=process.repeated_names(*names, of_points=True))
        areas = process.repeated_names(*names, of_points=False)
        return targets.matcher(leased.account_id, match, areas)
    return targets.matcher(leased.account_id, match, process.repeated_names(*names))


def _decide(
    leased: LeasedImport, batch: Batch, matcher: Matcher
) -> Iterator[tuple[dict[str, Any], Candidate | RejectedFeature]]:
    """Yield the rows of features."""
    for item in batch:
        yield _row(leased, item, matcher), item


def _compare(
    leased: LeasedImport,
    placed: Sequence[PlacedFeature],
    seconds: float,
    renew: Callable[[], None],
    in_transaction: Transaction,
) -> list[str]:
    """Find the overlaps of features, and store them. Returns a note if there was no time for all.

    Raises:
        TooCostly: it takes longer than a brief turn.
    """
    found = find_overlaps(leased.account_id, leased.import_id, placed, seconds, renew)
    if leased.is_brief and not found.is_complete:
        raise TooCostly(TOO_SLOW)
    columns = list(found.columns.items())
    for start in range(0, len(columns), _WRITTEN):
        with in_transaction():
            lock_leased(leased)
            some = columns[start : start + _WRITTEN]
            update_features(leased.account_id, leased.import_id, some)
    return [] if found.is_complete else [_NOT_COMPARED]


def _store(
    leased: LeasedImport, rows: Sequence[dict[str, Any]], in_transaction: Transaction
) -> None:
    with in_transaction():
        found = lock_leased(leased)
        left_out = set(found.left_out)
        insert_features([{**row, "left_out": row["number"] in left_out} for row in rows])
        found.progress_done += len(rows)


def _row(
    leased: LeasedImport, item: Candidate | RejectedFeature, matcher: Matcher
) -> dict[str, Any]:
    decision: Decision | None = None
    if isinstance(item, Candidate):
        try:
            decision = matcher.decide(item)
        except CannotImport as error:
            problem = whole_problem("conflict", error.message, error.field)
            geometry = item.boundary or item.location
            shape = geometry.text if geometry else None
            item = RejectedFeature(item.number, item.name, (problem,), shape, item.is_plot)
    return feature_row(leased.account_id, leased.import_id, item, decision)


def _layer(found: Import, opened: OpenedFile) -> Layer:
    """The layer to import."""
    names = [layer.name for layer in opened.layers]
    _check_names([*names, *(name for each in opened.layers for name in each.columns)])
    if not names:
        raise FileInvalid("The file has no features.")
    if found.layer is not None:
        if found.layer in names:
            return opened.layers[names.index(found.layer)]
        raise FileInvalid(f"The file has no layer {found.layer!r}. It has: {_listed(names)}.")
    usual = [name for name in _USUAL.get((opened.format, found.kind), ()) if name in names]
    if usual:
        return opened.layers[names.index(usual[0])]
    wanted = "points" if found.kind == "assets" else "areas"
    filled = [layer for layer in opened.layers if layer.features]
    fitting = [layer for layer in filled if layer.geometry == wanted]
    return [*fitting, *filled, *opened.layers][0]


def affordable_layers(found: Import) -> set[str]:
    """The layers of a file that are not known to take too much to be read."""
    names = {each["name"] for each in found.layers}
    # All folders together take as much as one that takes too much.
    return names.difference(found.costly_layers, [ALL_FOLDERS] if found.costly_layers else [])


def _other_layers(layer: Layer, layers: Sequence[Layer]) -> list[str]:
    """A note about the layers that are not imported."""
    others = [f"{each.name} ({each.features:,})" for each in layers if each != layer]
    if not others or layer.name == ALL_FOLDERS:
        return []
    return [f"Only the layer {layer.name} was read. The file also has: {_listed(others)}."]


def _left_out(columns: Sequence[str]) -> list[str]:
    """A note about columns that are too many for metadata."""
    if not columns:
        return []
    return [
        f"Only {METADATA_KEYS} columns can become metadata. Left out: {_listed(columns)}. You "
        "can choose others."
    ]


def _chosen_match(given: str | None, mapping: ColumnMapping, from_here: bool) -> Match:
    """How features find their targets. Those of an export have the ids of their origins.

    Raises:
        FileInvalid: it is by external id, and no feature has one.
    """
    has_ids = mapping.has_external_id or from_here
    if given == "external_id" and not has_ids:
        raise FileInvalid(
            "No column holds external ids. Say in the mapping which one does, or match by name."
        )
    if given is not None:
        return cast("Match", given)
    return "external_id" if has_ids else "none"


def _check_names(names: Sequence[str]) -> None:
    """Raise FileInvalid if the names of layers and columns cannot be stored or shown."""
    if any(map(unstorable, names)):
        raise FileInvalid("The name of a layer or column has characters that cannot be stored.")
    if sum(map(len, names)) > NAMES_LENGTH:
        raise FileInvalid(
            f"The names of the layers and columns have more than {NAMES_LENGTH:,} characters "
            "together. Shorten them, or leave out some layers or columns."
        )


def _mapping(scan: LayerScan, kind: str, given: Mapping[str, Any]) -> ColumnMapping:
    mapping = guess_mapping(scan, kind, given)
    wanted = [*mapping.fields.values(), *(mapping.metadata or ())]
    if unknown := [name for name in wanted if name not in scan.columns]:
        known = _listed(list(scan.columns)) or "none"
        raise FileInvalid(f"The layer has no column {unknown[0]!r}. Its columns are: {known}.")
    return mapping


def _last_mapping(account_id: str, kind: str, columns: Sequence[str]) -> dict[str, Any] | None:
    """The mapping that the account last applied to a layer with these columns, or None."""
    for row in _LATEST.all(account_id=account_id, kind=kind):
        for layer in row.layers:
            if layer["name"] == row.layer and set(layer["columns"]) == set(columns):
                # This file says itself where its geometries are.
                return {n: each for n, each in row.mapping.items() if n not in GEOMETRY_COLUMNS}
    return None


def _too_many(layer: Layer, most: int) -> str:
    return (
        f"The layer {layer.name!r} has {layer.features:,} features, and an import can have "
        f"{most:,}. Split the file into several."
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
