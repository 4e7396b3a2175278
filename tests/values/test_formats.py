"""Numbers, units and dates in all locales, from the server and from js/formats.js."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, Final

import pytest

from app.values.formats import AREA_UNITS, Format, find_locale, format_in, locale_names
from config import ROOT
from docs import locales as made
from tests.captured import captured
from tests.node import NODE

SENTENCE: Final = (
    "The plan has room for 1,960 ha of 12,345,678.9, -0.5 and 36.5% (100 %); “1,960” and 8.2.1, "
    '"30%", OAuth 2.0, PostgreSQL 16.4, EPSG:4326, 2026-01-31 and 1,5 stay.'
)
# Names of functions, and what they are given: a dict in place of keywords, a time as {"time": …}.
CALLS: Final[list[tuple[str, list[Any]]]] = [
    *(("number", [each]) for each in (0, 7, 999, 1000, 9999.5, 123456, 1234567890, -1234, -0.2)),
    *(("number", [each, 2]) for each in (0.005, 0.125, 1.005, 2.675, 203486.04, -1960.555, 1e15)),
    *(("number", [each, 3, {"trim": True}]) for each in (1.5, 2, 0.25, 1204.1206)),
    *(("area", [each]) for each in (0, 0.26, 0.3176, 0.99999, 1, 36, 203486.0412, -0.5)),
    *(("percent", [each]) for each in (0, 0.306, 1.91, 0.0005, 12.345)),
    *(("length", [each]) for each in (0.35, 12.345, 1204)),
    *(("bytes", [each]) for each in (1, 999, 1500, 52_428_800, 999_950, 3 * 10**12)),
    ("degrees", [46.45328, -22.96571]),
    *(("degree", [each, "EW", 5, {"trim": True}]) for each in (-0.5, 0, 180)),
    *(("date", [{"time": each}]) for each in ("2026-01-31T00:05:00Z", "1999-12-09T12:05:00Z")),
    *(("time", [{"time": f"2026-02-03T{hour}:05:00Z"}]) for hour in ("00", "09", "12", "23")),
    ("sentence", [SENTENCE]),
]  # fmt: skip


def written(form: Format, name: str, given: list[Any]) -> str:
    """What the server writes."""
    last = given[-1]
    options = last if isinstance(last, dict) and "time" not in last else {}
    values = [
        datetime.fromisoformat(each["time"]) if isinstance(each, dict) else each
        for each in given[: len(given) - bool(options)]
    ]
    text: str = getattr(form, {"time": "moment"}.get(name, name))(*values, **options)
    return text


def test_server_and_scripts_write_alike_in_every_locale() -> None:
    table = json.loads((ROOT / "app" / "policy" / "locales.json").read_text())
    assert len(table["locales"]) > 1100
    formats = sorted({format_in(tag) for tag in table["locales"]} | {format_in("de", "acres")})
    given = json.dumps({"formats": [each._asdict() for each in formats], "calls": CALLS})
    script = ROOT / "tests" / "javascript" / "formats.mjs"
    done = captured([str(NODE), str(script)], input=given)
    assert done.returncode == 0, done.stderr
    for form, answers in zip(formats, json.loads(done.stdout), strict=True):
        assert answers == [written(form, name, values) for name, values in CALLS], form


@pytest.mark.slow
def test_the_table_is_that_of_the_cldr() -> None:
    """If not: ``.venv/bin/python -m docs.locales``."""
    assert made.FILE.read_text() == made.text_of(made.make_table())


def test_what_locales_write(subtests: pytest.Subtests) -> None:
    noon = datetime(2026, 1, 31, 14, 5, tzinfo=UTC)
    for tag, *texts in (
        ("en-US", "1,234,567.50", "30.6%", "01/31/2026, 2:05 PM"),
        ("de-DE", "1.234.567,50", "30,6\xa0%", "31.01.2026, 14:05"),
        ("fr-FR", "1\u202f234\u202f567,50", "30,6\xa0%", "31/01/2026 14:05"),
        ("ro-RO", "1.234.567,50", "30,6\xa0%", "31.01.2026, 14:05"),
        ("pt-BR", "1.234.567,50", "30,6%", "31/01/2026 14:05"),
        ("hi-IN", "12,34,567.50", "30.6%", "31/01/2026, 2:05 pm"),
        ("de-CH", "1'234'567.50", "30.6%", "31.01.2026, 14:05"),
        ("en-US-POSIX", "1234567.50", "30.6%", "01/31/2026, 2:05 PM"),
        ("fa-IR", "1,234,567.50", "30.6%", "2026/01/31، 14:05"),
    ):
        form = format_in(tag)
        with subtests.test(tag):
            assert [form.number(1234567.5, 2), form.percent(0.306), form.moment(noon)] == texts


def test_areas_in_both_units() -> None:
    hectares, acres = format_in("en"), format_in("en", "acres")
    assert [hectares.area(each) for each in (0, 0.3176, 36)] == ["0 ha", "0.3176 ha", "36.00 ha"]
    assert [acres.area(each) for each in (0, 0.3176, 36)] == ["0 ac", "0.7848 ac", "88.96 ac"]


def test_typed_numbers(subtests: pytest.Subtests) -> None:
    """What is in doubt goes by the locale; what is no number in it stays as it is."""
    for tag, numbers in (
        ("en-US", {"1,960.5": "1960.5", "71 628": "71628", "-0.5": "-0.5"}),
        ("en-US", dict.fromkeys(("1,96", "0,960", "1,9600"))),
        ("de-DE", {"100.000": "100000", "71.628,48": "71628.48", "1.234": "1234"}),
        ("de-DE", {"\u22125": "-5", "12 345,6": "12345.6", "1.000.000": "1000000"}),
        ("de-DE", dict.fromkeys(("12.5", "0.250", "100.0", "1234.56", "1.00.000", "12 ha"))),
        ("fr-FR", {"1\u202f960,5": "1960.5", "1\xa0960": "1960", "1 960": "1960", "1.960": None}),
        ("de-CH", {"1'234'567.5": "1234567.5", "1\u2019234": "1234"}),
        ("hi-IN", {"12,34,567": "1234567", "1,234": "1234", "123,456": None}),
        ("en-US-POSIX", {"1960.5": "1960.5", "1,960": None}),
    ):
        for text, number in numbers.items():
            with subtests.test(f"{tag} {text}"):
                assert format_in(tag).read(text) == (number or text)


def test_what_a_field_shows_is_read_as_it_was() -> None:
    texts = ("0", "0.0001", "1", "100", "101.1714", "35692.7657", "99999999999.9999", "-12.345")
    for tag in ("en-US", "de-DE", "fr-FR", "de-CH", "hi-IN", "sv-SE"):
        for unit in AREA_UNITS:
            form = format_in(tag, unit)
            for text in (*texts, "12 ha"):
                shown = form.field_text(text, is_area=True)
                assert form.read(shown, is_area=True) == text, (tag, unit, text)
    assert format_in("de", "acres").field_text("101.1714", is_area=True) == "250"
    assert format_in("de").field_text("1950.5") == "1950,5"


def test_numbers_in_sentences() -> None:
    assert format_in("de-DE").sentence(SENTENCE) == (
        "The plan has room for 1.960 ha of 12.345.678,9, -0,5 and 36,5\xa0% (100\xa0%); “1,960” "
        'and 8.2.1, "30%", OAuth 2.0, PostgreSQL 16.4, EPSG:4326, 2026-01-31 and 1,5 stay.'
    )
    assert format_in("en").sentence(SENTENCE) == SENTENCE.replace("100 %", "100%")


def test_the_first_known_language_is_taken() -> None:
    for tags, locale in (
        (["de-AT", "en"], "de-AT"),
        (["DE_ch"], "de-CH"),
        (["xx", "ro"], "ro"),
        (["fr-XX", "en"], "fr"),
        (["zh-TW"], "zh-TW"),
        (["sl-rozaj-1994"], "sl"),
        (["*", "tlh", "", "../../x"], "en"),
        ([], "en"),
    ):
        assert find_locale(tags) == locale, tags


def test_locales_to_choose_from_are_known_and_are_in_order() -> None:
    names = locale_names()
    assert {find_locale([tag]) for tag in names} == set(names)
    assert len(names) < 400
    assert names["de-DE"] == "Deutsch (Deutschland)"
    assert "en-SE" in names  # English with days as in ISO 8601
    assert list(names.values()) == sorted(names.values(), key=str.casefold)
    assert max(map(len, names)) <= 20  # characters of the column
