"""What means the same in a file that has fewer types is no change."""

from __future__ import annotations

import orjson

from app.imports.features.metadata import changed_metadata

KNOWN = {
    "age": 80, "share": 0.5, "code": "007", "open": True, "tags": ["a", 1], "none": None,
    "forest_administration": "North", "name": "Old oaks", "parcel": 1234567890123456788,
}  # fmt: skip


def test_the_same_in_other_types() -> None:
    for wanted in (
        KNOWN,
        {"age": "80", "share": "0.5", "code": 7, "open": "true", "tags": '["a",1]'},
        {"age": 80.0, "open": 1, "none": "", "forest_adm": "North"},
        {"metadata_n": "Old oaks"},
        {"missing": None, "blank": ""},
        {"code": " 007 "},
        {"parcel": "1234567890123456788"},
    ):
        assert (
            changed_metadata(orjson.dumps(KNOWN).decode(), orjson.dumps(wanted).decode()) is None
        ), wanted


def test_what_differs() -> None:
    for wanted, expected in (
        ({"age": 81}, {"age": 81}),
        ({"age": None}, {"age": None}),
        ({"open": False}, {"open": False}),
        ({"soil": "loam"}, {"soil": "loam"}),
        ({"forest_adm": "South"}, {"forest_administration": "South"}),
        ({"code": "7a"}, {"code": "7a"}),
        ({"parcel": 1234567890123456789}, {"parcel": 1234567890123456789}),
    ):
        changed = changed_metadata(orjson.dumps(KNOWN).decode(), orjson.dumps(wanted).decode())
        assert changed is not None, wanted
        assert orjson.loads(changed) == KNOWN | expected, wanted


def test_a_cut_off_name_that_could_be_two_is_a_key_of_its_own() -> None:
    known = orjson.dumps({"forest_adm_north": 1, "forest_adm_south": 2}).decode()
    changed = changed_metadata(known, '{"forest_adm":3}')
    assert changed is not None
    assert orjson.loads(changed)["forest_adm"] == 3


def test_a_project_without_metadata_gets_what_is_filled_in() -> None:
    assert changed_metadata(None, '{"a":1,"b":null,"c":""}') == '{"a":1}'
