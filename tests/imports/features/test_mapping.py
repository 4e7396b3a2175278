"""Which columns of a layer are read as which fields."""

from __future__ import annotations

from typing import Any

import pytest

from app.formats.features import SourceFeature
from app.imports.features.mapping import (
    ColumnMapping,
    LayerScan,
    guess_mapping,
    guess_name_column,
    id_options,
    ignored_columns,
    is_export,
    mapped_fields,
    within_key_limit,
)

EXPORTED = (
    "id", "name", "slug", "external_id", "description", "area_hectares", "status", "created_at",
    "updated_at", "soil",
)  # fmt: skip
SHORTENED = tuple(name[:10] for name in EXPORTED)


def scanned(*properties: dict[str, Any]) -> LayerScan:
    scan = LayerScan()
    for one in properties:
        scan.add(SourceFeature(1, None, one))
    return scan


def test_the_column_with_the_names_is_guessed() -> None:
    for properties, chosen in (
        ([{"district": "A", "forest": "B"}], "district"),
        ([{"OBJECTID": 1, "NAME": "A"}], "NAME"),
        ([{"Title": "A", "name": "B"}], "name"),
        ([{"forest": "F", "DISTRICTNAME": "A"}], "DISTRICTNAME"),
        ([{"Nombre": "A"}], "Nombre"),
        ([{"INSEE_COM": "1", "STATUS": "C", "LIBGEO": "A"}], "LIBGEO"),
        ([{"Parcela": "A", "dueño": "B"}], "Parcela"),
        ([{"Name_1": "A"}], "Name_1"),
        ([{"wdpa_name": "A", "area": 3}], "wdpa_name"),
        ([{"AREA": 215229.266, "PERIMETER": 1.5, "STAND": 7}], None),
        ([{"Local Government Area": "Alpine", "area": "803.6 sq km"}], None),
        ([{"area": "Alpine"}, {"area": 12}], "area"),
        ([{"district": "12"}, {"district": "1,204.50"}], None),
        ([{"name": 12}, {"name": "013"}], "name"),
        ([{"name": 1.5}], "name"),
        ([{"name": n / 10} for n in (121, 122, 131)], "name"),
        ([{"name": "12.1"}, {"name": "191.0"}, {"name": "x"}], "name"),
        ([{"district": "M", "parcel_no": f"M/{n}"} for n in range(3)], "parcel_no"),
        ([{"district": "M", "plot": n} for n in range(3)], None),
        ([{"site": site, "plot_name": n} for site, n in ("bP", "bQ", "oR")], "plot_name"),
        ([{"site": site} for site in "bbo"], "site"),
        ([{"plot": plot, "site": n} for plot, n in ("bP", "bQ", "oR")], "site"),
        ([{"name": name, "label": n} for name, n in ("bP", "bQ", "oR")], "name"),
        ([{"ClientName": n, "FieldName": n} for n in "AB"], "FieldName"),
        ([{"CLIENTNAME": n, "STREETNAME": n, "hue": n} for n in "AB"], None),
        ([{"owner_plot_name": n} for n in "AB"], "owner_plot_name"),
        ([{"area": "yes", "name": "North isle"}, {"area": "yes", "name": None}], "name"),
        ([{"area": "yes"}], None),
        ([{"name": "A", "area": "x"}, {"name": "A", "area": "y"}, {"name": "B"}], "name"),
        ([{"ADM1_EN": "A", "ADM3_EN": n, "ADM2_EN": n} for n in "AB"], "ADM3_EN"),
        ([{"Unit": n, "APN": f"055 18321{n or 0}"} for n in (None, "1", "2")], None),
        ([{"name": "3 ha"}, {"name": "12.5ha"}, {"name": "1 000 m²"}], None),
        ([{"name": True}], "name"),
        ([{"area": 10**400}], None),
        ([{"Název": "A", "id": 1}], "Název"),
        ([{"DENUMIRE": "Pădurea", "region": "B"}], "DENUMIRE"),
        ([{"name": "", "label": "A"}], "label"),
        ([{"name": None, "label": "A"}, {"name": None, "label": "B"}], "label"),
        ([{"name": "A", "label": "x"}, {"label": "y"}, {"label": "z"}], "label"),
        ([{"name": "A", "label": "x"}, {"name": "B", "label": "y"}, {"label": "z"}], "name"),
        ([{"name": "map", "label": "x"}, {"name": "map", "label": "y"}], "label"),
        ([{"name": "same"}, {"name": "same"}], "name"),
        ([{"objectid": 3, "hue": "red"}], None),
        ([{"Plot_ID": "A1", "hue": "red"}], "Plot_ID"),
        ([{"plot_id": "A1", "tree": 1}, {"plot_id": "A1", "tree": 2}], None),
        ([{"external_id": "A1", "hue": "red"}], None),
        ([], None),
    ):
        assert guess_name_column(scanned(*properties)) == chosen, properties


def test_columns_with_a_code_of_its_own_in_each_feature_may_be_the_external_id(
    subtests: pytest.Subtests,
) -> None:
    few, many = range(3), range(1500)
    for values, ids in (
        (
            {"KGNR": [80101, 80102, 80107], "soil": "abc", "stand": ["I-1", "I-2", "II-1"]},
            ["KGNR", "stand", "soil"],
        ),
        (
            {"fid": few, "ID_PARCELA": few, "plotid": few, "area_no": few, "uuid": "xyz"},
            ["ID_PARCELA", "plotid", "area_no", "uuid", "fid"],
        ),
        ({"code": ["A", "B", None]}, []),
        ({"code": ["A", "B", ""]}, []),
        ({"code": ["A", "B", "A"]}, []),
        ({"code": [1, 1.0, 2]}, []),
        ({"code": ["A"]}, []),
        ({"code": ["A 1", "A 2", "A 3"]}, []),
        ({"code": ["A" * 40, "B"]}, ["code"]),
        ({"code": ["A" * 41, "B"]}, []),
        ({"code": [1.5, 2.5, 3]}, []),
        ({"code": ["1,5", "2,5", "3ha"]}, []),
        ({"serial_no": few, "no_of_trees": few}, ["serial_no"]),
        ({"code": [True, False], "id": [{"a": 1}, {"a": 2}]}, []),
        (
            {"id": ["2026-01-02", "2026-01-03"], "at": ["2026-01-02T10:00:00Z", "2026-01-03T1:00"]},
            [],
        ),
        ({"day": ["3/5/2026", "13/5/2026"], "Datum": ["03.05.2026", "04.05.2026"]}, []),
        ({"area_m2": [7000, 8000], "trees": few, "x": [5e5, 6e5], "population": [20, 30]}, []),
        (
            {"MGRS": ["32TNS12", "32TNS13"], "lat_dms": ["47°1'", "47°2'"], "zona": ["32U", "33U"]},
            [],
        ),
        ({"Name": "ABC", "REFERENCE": "ABC"}, ["REFERENCE"]),
        ({"---": ["A", "B"]}, ["---"]),
        ({"code": many, "last_is_first": [*(f"P{n}" for n in many[1:]), "P1"]}, ["code"]),
        ({**{f"c{n}": few for n in range(50)}, "code": few}, []),
        ({"ReferenceNumber": "ABC", "VerificationNumber": "ABC"}, ["ReferenceNumber"]),
    ):
        rows = (dict(zip(values, row, strict=True)) for row in zip(*values.values(), strict=False))
        scan = scanned(*rows)
        with subtests.test(columns=list(values)):
            assert id_options(scan, ignored_columns(scan, "projects")) == ids


def test_fields_that_a_column_is_read_as() -> None:
    assert {"name", "external_id", "description"} <= {*mapped_fields("projects")}
    assert {"name", "type", "status"} <= {*mapped_fields("assets")}
    others = {"id", "slug", "geometry", "location", "metadata", "area_hectares", "project_id"}
    assert not others & {*mapped_fields("projects"), *mapped_fields("assets")}


def test_usual_columns_are_guessed() -> None:
    scan = scanned({"NAME": "A", "External_ID": "1", "Description": "Steep.", "soil": "loam"})
    mapping = guess_mapping(scan, "projects", {})
    assert mapping.fields == {
        "name": "NAME", "external_id": "External_ID", "description": "Description",
    }  # fmt: skip
    assert mapping.metadata is None
    for heading in ("Beschreibung", "описание", "DESCRIPCIÓN", "description"):
        fields = guess_mapping(scanned({"Опис": "a", heading: "b"}), "projects", {}).fields
        assert fields["description"] == ("description" if heading == "description" else "Опис")


def test_what_is_given_is_not_guessed() -> None:
    scan = scanned({"name": "A", "code": "1", "description": "Steep."})
    given = {"external_id": "code", "description": None, "metadata": ["name"]}
    mapping = guess_mapping(scan, "projects", given)
    assert mapping.fields == {"name": "name", "external_id": "code"}
    assert mapping.metadata == ("name",)


def test_columns_that_a_shapefile_cut_off_are_known() -> None:
    scan = scanned({"name": "A", "external_i": "1", "descriptio": "Steep."})
    mapping = guess_mapping(scan, "projects", {})
    assert mapping.fields["external_id"] == "external_i"
    assert mapping.fields["description"] == "descriptio"


def test_a_mapping_is_kept_as_json() -> None:
    mapping = ColumnMapping({"name": "NAME"}, ("soil",))
    assert ColumnMapping.from_json(mapping.as_json()) == mapping


def test_what_nobody_can_set_is_left_out_of_an_exported_file() -> None:
    cases: list[tuple[str, ...]] = [EXPORTED, SHORTENED, tuple(map(str.upper, EXPORTED))]
    for columns in cases:
        scan = scanned(dict.fromkeys(columns))
        ignored = {name.casefold()[:10] for name in ignored_columns(scan, "projects")}
        assert is_export(scan), columns
        assert ignored == {"id", "slug", "area_hecta", "status", "created_at", "updated_at"}, (
            columns
        )


def test_another_file_may_have_columns_of_these_names() -> None:
    columns = dict.fromkeys(("id", "status", "slug", "name"))
    assert ignored_columns(scanned(columns | {"wkt": "POINT (1 2)"}), "projects") == frozenset()


def test_the_columns_that_gdal_adds_to_kml_are_left_out() -> None:
    added = {"tessellate": -1, "extrude": 0, "visibility": -1, "altitudeMode": None, "icon": None}
    scan = scanned({"name": "A", "begin": None, "soil": "clay", **added})
    assert ignored_columns(scan, "projects") == {"begin", *added}
    assert ignored_columns(scanned({"name": "A", "begin": "2026"}), "projects") == frozenset()


def test_the_geometry_that_gdal_keeps_as_a_column_is_left_out_of_an_exported_file() -> None:
    shape = "MULTIPOLYGON (((0 0,1 0,1 1,0 0)))"
    columns = dict.fromkeys(EXPORTED) | {"geometry": shape, "WKT": "POLYGON((0 0,1 0,1 1,0 0))"}
    ignored = ignored_columns(scanned(columns | {"name": "Point (of interest)"}), "projects")
    assert {"geometry", "WKT"} <= ignored
    assert "name" not in ignored


def test_so_many_columns_as_may_be_become_metadata() -> None:
    columns = {f"c{n}": n for n in range(60)} | {"empty": None, "Risk_PCrop": "low", "Area": 3}
    scan = scanned({"name": "A", **columns})
    mapping, left_out = within_key_limit(ColumnMapping({"name": "name"}), scan, {"c0"})
    assert mapping.metadata == ("Risk_PCrop", "Area", *(f"c{n}" for n in range(1, 49)))
    assert left_out == [f"c{n}" for n in range(49, 60)]
    for kept in (ColumnMapping({"name": "name"}, ("c1",)), ColumnMapping({}, ())):
        assert within_key_limit(kept, scan, ()) == (kept, [])
    assert within_key_limit(mapping, scan, {"c0"}) == (mapping, left_out)
    with_empty = scanned({f"c{n}": n if n < 45 else None for n in range(60)})
    mapping, left_out = within_key_limit(ColumnMapping({}), with_empty, ())
    assert (mapping.metadata, left_out) == (tuple(f"c{n}" for n in range(45)), [])
    few = scanned({f"c{n}": n for n in range(50)})
    assert within_key_limit(ColumnMapping({}), few, ()) == (ColumnMapping({}), [])
