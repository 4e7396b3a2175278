"""The form for how a file is read: its layer, columns, coordinates and match.

Layers and columns are sent by number: names can contain anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from werkzeug.datastructures import MultiDict

from app.http.errors import Conflict, InvalidField
from app.imports.features.mapping import mapped_fields
from app.policy.imports import GEOMETRY_COLUMNS
from app.values.strict_json import JsonInvalid, loads

AUTOMATIC: Final = "auto"
NO_COLUMN: Final = "none"
_DEGREES: Final = "EPSG:4326"


class FileReading(NamedTuple):
    """How a file was read, as its form shows it. ``layer``: a number.

    ``file_crs``: the coordinate system that the file names. ``fields``: the number of a column,
    AUTOMATIC or NO_COLUMN. ``metadata``: numbers of columns; None: all others. ``geometry``: the
    columns with the geometries, if a person has named them; ``geometry_columns``: all of them.
    """

    layers: list[dict[str, Any]]
    layer: int | None
    columns: list[str]
    file_crs: str | None
    fields: dict[str, str]
    metadata: list[int] | None
    geometry: dict[str, str]
    geometry_columns: list[str]


def file_reading(record: Mapping[str, Any]) -> FileReading:
    """How the file of an import was read."""
    layers = record["layers"]
    names = [layer["name"] for layer in layers]
    number = names.index(record["layer"]) if record["layer"] in names else None
    columns = [] if number is None else layers[number]["columns"]
    numbers = {name: index for index, name in enumerate(columns)}
    mapping = record["mapping"] or {}

    def column_number(field: str) -> str:
        if field not in mapping:
            return NO_COLUMN if mapping else AUTOMATIC
        return str(numbers.get(mapping[field], NO_COLUMN))

    metadata = mapping.get("metadata")
    return FileReading(
        layers,
        number,
        columns,
        None if number is None else layers[number]["crs"],
        {field: column_number(field) for field in mapped_fields(record["kind"])},
        None if metadata is None else [numbers[name] for name in metadata if name in numbers],
        {name: mapping[name] for name in GEOMETRY_COLUMNS if mapping.get(name)},
        [] if number is None else layers[number]["geometry_columns"],
    )


def read_choices(form: MultiDict[str, str], record: Mapping[str, Any]) -> dict[str, Any]:
    """The choices of a form, for ``ImportUpdateSchema``.

    Raises:
        Conflict: the layer has changed since the form was shown.
        ValidationFailed: the form has no such layer or column.
    """
    if kind := form.get("kind"):
        return {"kind": kind, "project_id": None}
    if number := form.get("rename"):
        names = record["names"] | {number: form.get("name", "").strip()}
        return {"names": {number: name for number, name in names.items() if name}}
    reading = file_reading(record)
    if "answer" in form:
        return _form_answer(form, reading)
    if form.get("read_layer", "") != ("" if reading.layer is None else str(reading.layer)):
        raise Conflict(
            "changed_meanwhile",
            "layer",
            "The file has been read with another layer since. Review it again.",
        )
    values: dict[str, Any] = {"close_lines": "close_lines" in form}
    if match := form.get("match"):
        values["match"] = match
    if form.get("crs"):
        values["crs"] = _form_crs(form)
    if form.get("encoding", before := (record["encoding"] or {}).get("name")) != before:
        values["encoding"] = form["encoding"] or None
    layer = form.get("layer", form.get("read_layer", ""))
    if layer != form.get("read_layer", ""):
        values["layer"] = _picked_field(reading.layers, layer, "layer")["name"]
    elif reading.columns:
        values["mapping"] = _form_mapping(form, reading)
    return values


def left_out(form: MultiDict[str, str], before: Iterable[int]) -> list[int]:
    """The numbers of features to leave out.

    A listed feature is left out if it is not ticked; others stay as in ``before``.
    """
    listed = _parse_numbers(form.get("listed", "").split(","))
    ticked = _parse_numbers(form.getlist("kept"))
    return sorted(set(before) - listed | (listed - ticked))


def _parse_numbers(texts: Iterable[str]) -> set[int]:
    return {int(text) for text in texts if text.isascii() and text.isdecimal() and len(text) < 10}


def _form_answer(form: MultiDict[str, str], reading: FileReading) -> dict[str, Any]:
    """The answer to a question, completed by the fields that the person fills in."""
    try:
        answer = loads(form["answer"].encode())
    except JsonInvalid as error:
        raise InvalidField("answer", str(error), "wrong_format") from None
    if not isinstance(answer, dict):
        raise InvalidField("answer", "Must be a JSON object.", "wrong_type")
    if "project_id" in answer:
        if not form.get("project_id"):
            message = "Choose the project that the points belong to."
            raise InvalidField("project_id", message, "required")
        answer["project_id"] = form["project_id"]
    if answer.get("mapping") == {"geometry": None}:
        answer["mapping"] = {
            "geometry": _picked_field(reading.columns, form.get("column", ""), "column")
        }
    return answer


def _form_mapping(form: MultiDict[str, str], reading: FileReading) -> dict[str, Any]:
    mapping: dict[str, Any] = dict(reading.geometry)
    for field in reading.fields:
        column = form.get(f"column_{field}", AUTOMATIC)
        if column == NO_COLUMN:
            mapping[field] = None
        elif column != AUTOMATIC:
            mapping[field] = _picked_field(reading.columns, column, "mapping")
    if form.get("metadata") == "chosen":
        numbers = form.getlist("metadata_column")
        mapping["metadata"] = [
            _picked_field(reading.columns, number, "mapping") for number in numbers
        ]
    else:
        mapping["metadata"] = None
    return mapping


def _form_crs(form: MultiDict[str, str]) -> str | None:
    """The chosen coordinate system; None: the file's. EPSG codes may be typed as numbers."""
    if form.get("crs") != "other":
        return _DEGREES if form.get("crs") == "degrees" else None
    code = form.get("epsg", "").strip()
    if not code:
        message = "Type the code of the coordinate system, such as 25832."
        raise InvalidField("crs", message, "invalid")
    return f"EPSG:{code}" if code.isascii() and code.isdigit() else code


def _picked_field(choices: list[Any], number: str, field: str) -> Any:
    if number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(choices):
        return choices[int(number)]
    raise InvalidField(field, "The file has no such layer or column.", "not_found")
