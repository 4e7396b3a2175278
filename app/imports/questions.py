"""Questions about a file that can be read in several ways, with answers to choose from."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from app.formats.crs import read_crs
from app.formats.crs_search import (
    Box,
    Position,
    bounds_in_degrees,
    nearest_systems,
    usual_systems,
)
from app.formats.encodings import TWICE, Guess, read_once
from app.formats.features import FileInvalid, Layer
from app.formats.readers.gpx import ALL_LAYERS, WAYPOINTS
from app.geometry.countries import country_at, country_name
from app.imports.features.mapping import (
    ColumnMapping,
    LayerScan,
    are_plots,
    id_options,
    is_export,
    name_options,
    plot_ids,
    shorten_value,
)
from app.imports.features.reader_program import OpenedFile
from app.imports.features.targets import project_name_of
from app.policy.countries import COUNTRY_CODES, MISTAKEN_CODES
from app.policy.imports import MUST_BE_ANSWERED, OPTIONS, QUESTIONS, SAMPLED_COLUMNS
from app.projects.places import NEAR, degrees_from, home_countries, is_home_swapped
from app.values.folding import fold_text
from app.values.text import pluralize

Json = dict[str, Any]

_DEGREES: Final = "EPSG:4326"
_NAMES_CRS: Final = ("shp", "gpkg")  # formats that name it; others are in degrees by default
_TURN: Final = 360.0  # degrees; larger numbers are lengths
_RIGHT_ANGLE: Final = 90.0
_NEARLY_MEET: Final = "whose ends nearly meet"
_AREA_CORNERS: Final = 3  # at least
NO_SAMPLE: Final[Mapping[str, Sequence[str]]] = {}
_LONGITUDE_FIRST: Final = "Longitude and latitude (WGS 84)"
_WHICH_CRS: Final = "Which coordinate system is it in?"


def questions_of(
    file: OpenedFile,
    layer: Layer,
    scan: LayerScan,
    mapping: ColumnMapping,
    choices: Any,
    near: Sequence[Position],
    of_places: Sequence[Json] = (),
    *,
    asks_name: bool,
) -> list[Json]:
    """The questions about a layer, the most important first.

    Args:
        choices: an import, or a row with what was chosen for it.
        near: positions of the account's projects.
        of_places: questions about other places of the features (``settle_places``).
        asks_name: nobody has chosen the column of names.
    """
    questions: Iterable[Json | None] = (
        *of_places,
        _ask_crs(layer, scan, file.format, choices, near),
        _ask_geometry_columns(scan, file.format, choices),
        _ask_geometry_type(scan, choices, file.format),
        None if required_question(of_places) else _ask_if_swapped(scan, choices, near),
        _ask_if_lines_are_open(scan, choices),
        _ask_encoding(scan, file.guesses if layer.is_guessed else ()),
    )
    asked = sorted(filter(None, questions), key=lambda each: QUESTIONS.index(each["code"]))
    asked += filter(None, [_ask_other_layer(layer, choices, file.layers)])
    # Answers to required questions may change the columns, so the name is asked after them.
    if asks_name and not required_question(asked):
        asked += filter(None, [_ask_name_column(scan, mapping)])
    return asked


def required_question(questions: Sequence[Mapping[str, Any]]) -> Json | None:
    """The first question that must be answered before an import is applied, or None."""
    return next((dict(question) for question in questions if question["required"]), None)


def question_record(
    code: str,
    message: str,
    options: Iterable[Json],
    *,
    bbox: Box | None = None,
    position: Position | None = None,
    required: bool | None = None,
) -> Json:
    """A question.

    Args:
        bbox: where the file is as read now.
        position: its middle in the coordinate system that is asked for.
        required: None: as MUST_BE_ANSWERED says.
    """
    return {
        "code": code,
        "message": message,
        "bbox": bbox and list(bbox),
        "position": position and list(position),
        "required": code in MUST_BE_ANSWERED if required is None else required,
        "options": list(options),
    }


def option_record(
    label: str,
    features: int,
    *,
    bbox: Box | None = None,
    sample: Mapping[str, Sequence[str]] = NO_SAMPLE,
    **put: Any,
) -> Json:
    """An answer. ``bbox``: where it would put the file. ``sample``: values of its columns."""
    box = bbox and list(bbox)
    return {"put": put, "label": label, "features": features, "bbox": box, "sample": sample}


def _ask_crs(
    layer: Layer, scan: LayerScan, file_format: str, choices: Any, near: Sequence[Position]
) -> Json | None:
    if choices.given_crs or scan.box is None:
        return None
    if scan.in_swapped_degrees == scan.not_degrees > 0:
        return None  # ``_ask_if_swapped`` asks
    _, south, _, north = scan.box
    is_turned = max(map(abs, scan.box)) <= _TURN
    are_mistakes = scan.in_degrees or max(abs(south), abs(north)) <= _RIGHT_ANGLE
    if layer.crs and file_format not in _NAMES_CRS and is_turned and are_mistakes:
        return None  # positions out of range are mistakes of single features
    if scan.not_degrees > scan.in_degrees and scan.far is not None:
        x, y = scan.far
        is_named = layer.crs is not None and file_format in _NAMES_CRS
        says = f", though the file says {layer.crs}" if is_named else ""
        look = "cannot be degrees" if is_turned else "look like meters, not degrees"
        message, options = f"Positions such as ({x:.10g}, {y:.10g}) {look}{says}.", []
    elif layer.crs is not None:
        return _ask_crs_of_degrees(layer.crs, scan)
    else:
        message = "The file does not say which coordinate system it uses."
        degrees = option_record(_LONGITUDE_FIRST, scan.in_degrees, bbox=scan.upright, crs=_DEGREES)
        options = [degrees] if scan.in_degrees else []
    options += _system_options(scan, near)
    message, position = f"{message} {_WHICH_CRS}", _middle_of(scan.box)
    return question_record("crs", message, options, position=position)


def _ask_crs_of_degrees(crs: str, scan: LayerScan) -> Json | None:
    """Ask which system is right when a file names one in meters, but has degrees."""
    assert scan.box is not None
    try:
        box = read_crs(crs).as_degrees(scan.box)
    except FileInvalid:  # the file defines a system without a code
        return None
    if box is None:
        return None
    x, y = box[:2]
    message = f"Positions such as ({x:.8g}, {y:.8g}) look like degrees, though the file says {crs}."
    features = scan.placed
    options = [
        option_record(_LONGITUDE_FIRST, features, bbox=box, crs=_DEGREES),
        option_record(f"{crs}, as the file says", features, bbox=scan.box, crs=crs),
    ]
    return question_record("crs", f"{message} {_WHICH_CRS}", options)


def _system_options(scan: LayerScan, near: Sequence[Position]) -> Iterator[Json]:
    """Yield options for the systems that put the file closest to the account's projects; without
    any near them, those that put it on land."""
    assert scan.box is not None
    features, middle = scan.placed, _middle_of(scan.box)
    for system in nearest_systems(middle, near, OPTIONS) or usual_systems(middle):
        area = shorten_value(system.area.rstrip("."), 60)
        label = f"{system.code} · {system.name} ({area})"
        bbox = bounds_in_degrees(system.code, scan.box)
        yield option_record(label, features, bbox=bbox, crs=system.code)


def _middle_of(box: Box) -> Position:
    west, south, east, north = box
    return (west + east) / 2, (south + north) / 2


def _column_samples(scan: LayerScan, *columns: str) -> dict[str, list[str]]:
    return {name: scan.columns[name].samples for name in columns}


def _ask_geometry_columns(scan: LayerScan, file_format: str, choices: Any) -> Json | None:
    is_answered = choices.without_boundaries or choices.corners_by or is_export(scan)
    if scan.placed or scan.unreadable or is_answered:  # in an export, they had none
        return None
    is_of_areas = choices.kind == "projects"
    one, several = ("boundary", "boundaries") if is_of_areas else ("location", "locations")
    options = []
    if file_format == "csv":
        sample = _column_samples(scan, *list(scan.columns)[:SAMPLED_COLUMNS])
        label = "Choose the column with the geometries"
        options = [option_record(label, 0, sample=sample, mapping={"geometry": None})]
    without = option_record(f"Import without {several}", scan.features, without_boundaries=True)
    message = f"No feature of the file has a {one}."
    return question_record("geometry", message, [*options, without])


def _ask_other_layer(layer: Layer, choices: Any, others: Sequence[Layer]) -> Json | None:
    """Ask whether the waypoints of a GPX file are wanted with its tracks."""
    features = {other.name: other.features for other in others}
    waypoints = features.get(WAYPOINTS)
    if ALL_LAYERS not in features or layer.name in (ALL_LAYERS, WAYPOINTS):
        return None
    if choices.kind != "projects" or not waypoints:
        return None
    owner = "a new project" if layer.features > 1 else "the project of the track"
    put = {"layer": ALL_LAYERS, "points": "assets"}
    options = _owner_options("Import them too, as assets of", owner, waypoints, **put)
    message = f"The file also has {pluralize(waypoints, 'waypoint')}."
    return question_record("geometry_type", message, options, required=False)


def _owner_options(text: str, owner: str, features: int, **put: Any) -> list[Json]:
    """Points can be of a project that the import makes, or of one that a person names."""
    return [
        option_record(f"{text} {owner}", features, **put),
        option_record(f"{text} a project", features, **put, project_id=None),
    ]


def _ask_geometry_type(scan: LayerScan, choices: Any, file_format: str) -> Json | None:
    has_plots = are_plots(scan.columns)
    points = scan.points + (scan.collected_points if has_plots else 0)
    if choices.kind != "projects" or choices.points_as_plots is not None or not points:
        return None
    owner = f"a new project “{shorten_value(project_name_of(choices.filename))}”"
    plots = _owner_options("Plots kept as points, of", owner, points, points_as_plots=True)
    without = option_record("Nothing: reject the points", points, points_as_plots=False)
    if scan.areas or (scan.lines and choices.close_lines):
        if file_format == "gpx" and scan.areas + scan.lines == 1:
            owner = "the project of the track"
        assets = [] if has_plots else _owner_options("Assets of", owner, points, points="assets")
        message = (
            "The file has areas, which become projects, and points in "
            f"{pluralize(points, 'feature')}. What are the points?"
        )
        options = [*assets[::-1], *plots, without]
        return question_record("geometry_type", message, options, required=has_plots)
    to_assets = option_record(
        "Import them as assets of a project", scan.points, kind="assets", project_id=None
    )
    columns = [
        option_record(
            f"Each value of “{name}” is a boundary with these corners",
            scan.points,
            sample=_column_samples(scan, name),
            corners_by=name,
        )
        for name, use in scan.columns.items()
        if use.varies and use.filled == scan.features and use.runs * _AREA_CORNERS <= use.filled
    ]
    joined = []
    if scan.points >= _AREA_CORNERS:
        joined = [option_record("All are the corners of one boundary", scan.points, corners_by="")]
    has = "lines and points" if scan.lines else "points"
    message = f"The file has {has}, and projects have areas as boundaries. What are the points?"
    first = plots if has_plots or plot_ids(scan) else []
    last = [to_assets, *joined, *([without] if scan.lines else [])]
    columns = columns[: OPTIONS - len(first) - len(last)]
    return question_record("geometry_type", message, [*first, *columns, *last])


def _ask_if_swapped(scan: LayerScan, choices: Any, near: Sequence[Position]) -> Json | None:
    if choices.swap or scan.box is None or choices.given_crs not in (None, _DEGREES):
        return None
    if scan.letters.get("E"):
        return None
    if scan.in_swapped_degrees:
        if scan.in_swapped_degrees < scan.not_degrees:
            return None
        message = (
            f"Latitude and longitude are swapped in {pluralize(scan.in_swapped_degrees, 'feature')}"
            ": they are coordinates only the other way round."
        )
        here, there = scan.upright, scan.turned
    else:
        west, south, east, north = scan.box
        is_beyond = scan.not_degrees or max(abs(west), abs(east)) > _RIGHT_ANGLE
        words = None if is_beyond else _words_on_swap(scan, near)
        if words is None:
            return None
        message = f"Latitude and longitude seem to be swapped: the file is {words}."
        here, there = scan.box, (south, west, north, east)
    features = scan.in_degrees + scan.in_swapped_degrees
    option = option_record("Swap them in the whole file", features, bbox=there, swap=True)
    return question_record("swapped", message, [option], bbox=here)


def _words_on_swap(scan: LayerScan, near: Sequence[Position]) -> str | None:
    """Where the file is, and where it is more likely the other way round; None if it is right."""
    assert scan.box is not None
    x, y = _middle_of(scan.box)
    here, there = country_at(x, y), country_at(y, x)
    words = f"{_in_country(here)}, and the other way round {_in_country(there)}"
    named = [(code, x, y) for text, x, y in scan.places.values() if (code := _country_code(text))]
    right = sum(country_at(x, y) == code for code, x, y in named)
    if 2 * sum(country_at(y, x) == code for code, x, y in named) > len(named) + right:
        return f"{words}; it names {country_name(named[0][0])}"
    if 2 * right > len(named):
        return None
    if is_home_swapped(near, x, y):
        beside = "where" if there in home_countries(near) else "next to where"
        return f"{words}, {beside} your projects are"
    places = [(x, y) for _, x, y in scan.places.values()]
    is_lost = not any(country_at(x, y) for x, y in places)
    is_found = 2 * sum(country_at(y, x) is not None for x, y in places) > len(places)
    return words if is_lost and is_found and there else None


def _in_country(code: str | None) -> str:
    return f"in {country_name(code)}" if code else "in no country"


def _country_code(text: str) -> str | None:
    """The code of a country that a file names by it or in English, or None."""
    code = MISTAKEN_CODES.get(text.strip().upper(), (text.strip().upper(),))[0]
    if not text or code in COUNTRY_CODES:
        return code or None
    name = fold_text(text)
    return next((code for code in COUNTRY_CODES if fold_text(country_name(code)) == name), None)


def distance_rank(box: Box | None, near: Sequence[Position]) -> int:
    """0 for a file next to a project, 1 for one in the country of a project, else 2."""
    if box is None:
        return 2
    x, y = _middle_of(box)
    if degrees_from(near, x, y) <= NEAR:
        return 0
    return 1 if country_at(x, y) in home_countries(near) else 2


def _ask_if_lines_are_open(scan: LayerScan, choices: Any) -> Json | None:
    if choices.kind != "projects" or choices.close_lines or not scan.closable:
        return None
    around = f"around {scan.closed_m2 / 10_000:,.4f} ha" if scan.closed_m2 else _NEARLY_MEET
    lines = pluralize(scan.closable, "feature is a line", "features are lines")
    message = f"{lines} {around}, as of a walk around a forest."
    close = option_record(
        "Close lines, so that they become boundaries", scan.closable, close_lines=True
    )
    return question_record("open_lines", message, [close])


def _ask_encoding(scan: LayerScan, guesses: Sequence[Guess]) -> Json | None:
    if scan.twice and not guesses:
        option = option_record(
            "Read the texts as they were before",
            scan.features,
            sample={"words": list(map(read_once, scan.twice))},
            encoding=TWICE,
        )
        message = (
            f"Texts such as “{scan.twice[0]}” look like UTF-8 that a program has read in another "
            "encoding and saved again."
        )
        return question_record("encoding", message, [option])
    if len(guesses) < 2:
        return None
    options = [
        option_record(
            f"Read as {guess.name}",
            scan.features,
            sample={"words": guess.samples},
            encoding=guess.name,
        )
        for guess in guesses
    ]
    message = (
        f"The file does not say the encoding of its texts, and was read as {guesses[0].name}. "
        "In which one are its words right?"
    )
    return question_record("encoding", message, options)


def _ask_name_column(scan: LayerScan, mapping: ColumnMapping) -> Json | None:
    if mapping.name:
        return None
    options = _column_options(scan, "name", name_options(scan, mapping.fields.values()))
    message = "No column was taken as the name. Is it one of these?"
    return question_record("name", message, options) if options else None


def suggested_ids(scan: LayerScan, mapping: ColumnMapping, ignored: Collection[str]) -> list[Json]:
    """Options for the external id. None is taken unasked: it decides what later imports change."""
    if mapping.has_external_id or is_export(scan):
        return []
    names = id_options(scan, ignored)
    return _column_options(scan, "external_id", names, match="external_id")


def _column_options(scan: LayerScan, field: str, names: list[str], **put: Any) -> list[Json]:
    return [
        option_record(
            f"The column “{name}”",
            scan.features,
            sample=_column_samples(scan, name),
            mapping={field: name},
            **put,
        )
        for name in names[:OPTIONS]
    ]
