"""Identifiers, tokens, text and time."""

from __future__ import annotations

import json
import re
import string
import threading
import unicodedata
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from app.security import tokens
from app.values import clock
from app.values.folding import fold_text, searchable_text
from app.values.ids import PREFIXES, is_id, new_id
from app.values.strict_json import dumps
from app.values.text import (
    SLUG_LENGTH,
    has_control,
    may_have_control,
    printable_text,
    slugify,
    storage_problem,
    without_controls,
)

ALPHABET = string.ascii_letters + string.digits


def test_an_id_is_its_prefix_and_a_ulid() -> None:
    for kind, prefix in PREFIXES.items():
        made = new_id(kind)
        assert re.fullmatch(prefix + "[0-9a-hjkmnp-tv-z]{26}", made), kind
        assert len(made) <= 40, kind
        assert is_id(kind, made), kind


def test_ids_of_one_process_are_distinct_and_sorted() -> None:
    made: list[str] = []
    threads = [
        threading.Thread(target=lambda: made.extend(new_id("event") for _ in range(500)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 2000
    alone = [new_id("event") for _ in range(1000)]
    assert sorted(alone) == alone


def test_what_is_no_id() -> None:
    for end in ("", "x", "\n", " ", "\x00", "0"):
        text = new_id("project") + end
        assert is_id("project", text) is (end == ""), end
        assert not is_id("asset", text), end
        assert not is_id("project", text.upper()), end


PREFIXED = [tokens.API_KEY, tokens.SERVICE_TOKEN, tokens.ACCESS_TOKEN, tokens.REFRESH_TOKEN]


def test_a_token_is_well_formed_with_its_own_prefix_only() -> None:
    for prefix in PREFIXED:
        token = tokens.new_token(prefix)
        assert token.startswith(prefix), prefix
        assert set(token.removeprefix(prefix)) <= set(ALPHABET), prefix
        assert [tokens.is_well_formed(token, other) for other in PREFIXED].count(True) == 1, prefix


def test_a_token_has_at_least_160_random_bits() -> None:
    random = tokens.new_token(tokens.API_KEY).removeprefix(tokens.API_KEY)[:-6]
    assert len(random) * 5.95 >= 160
    assert len({tokens.new_token(tokens.API_KEY) for _ in range(100)}) == 100


@given(st.integers(0, 48), st.sampled_from(ALPHABET))
@settings(deadline=None, database=None)
def test_any_other_character_breaks_the_checksum(place: int, letter: str) -> None:
    token = tokens.new_token(tokens.API_KEY)
    changed = token[:place] + letter + token[place + 1 :]
    assert tokens.is_well_formed(changed, tokens.API_KEY) is (changed == token)


@given(st.text())
@settings(deadline=None, database=None)
def test_folding_knows_no_case_and_no_composition(text: str) -> None:
    once = fold_text(text)
    assert fold_text(unicodedata.normalize("NFD", text)) == once
    assert fold_text(once) == once


@given(st.text(), st.text())
@settings(deadline=None, database=None)
def test_a_text_is_found_in_what_it_is_part_of(before: str, after: str) -> None:
    whole = searchable_text(f"{before} Wald {after}")
    assert searchable_text("wald") in whole
    assert searchable_text("WALD") in whole


@given(st.text())
@settings(deadline=None, database=None)
def test_a_slug_is_an_address(text: str) -> None:
    slug = slugify(text)
    assert slug == "" or re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug)
    assert len(slug) <= SLUG_LENGTH
    assert slugify(slug) == slug


def test_terminals_show_text_of_all_scripts() -> None:
    for text in ("می\u200cخواهم", "👩\u200d🌾", "one\ttwo\nthree", "a\u00a0b", "\ue000"):
        assert printable_text(text) == text, text


def test_terminals_obey_no_text() -> None:
    for text in ("\x1b", "\r", "\x7f", "\x9b", "\u202e", "\ud800", "\uffff"):
        assert printable_text(f"a{text}b") == "a?b", text


def test_what_a_database_cannot_keep() -> None:
    for text, fits in (
        ("", True),
        ("🌲", True),
        ("\uffff", True),
        ("a\x00", False),
        ("\ud800", False),
    ):
        assert (storage_problem(text) is None) is fits, text


def test_moments_are_shown_in_utc_with_three_decimals() -> None:
    for moment, text in (
        (datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), "2026-01-02T03:04:05.678Z"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00.000Z"),
        (
            datetime(2026, 1, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))),
            "2025-12-31T23:30:00.000Z",
        ),
    ):
        assert clock.format_time(moment) == text, moment


@given(st.text(st.sampled_from("ab \n\t\r\x00\x85\u2028\ufdd0\U0001ffff\u200c"), max_size=6))
def test_a_text_without_control_characters_has_the_same_words(text: str) -> None:
    value = {text: [text, 1, None]}
    plain = without_controls(value)
    assert not has_control(plain)
    ((name, (same, *others)),) = plain.items()
    assert (name, others) == (same, [1, None])
    words = re.findall("[ab\u200c]+", text)
    assert re.findall("[ab\u200c]+", same) == words
    assert has_control(value) or same == text


def test_none_is_found_in_what_has_none() -> None:
    for text in ("C:\\users\\b", 'a "word"', "one\ttwo\nthree", "a\u3000b", "Wäldchen"):
        assert not may_have_control(dumps({text: text}).decode()), text


@given(
    st.text(
        st.sampled_from('a\\"u\n\t\r\x00\x1b\x7f\x85\xa0\u2028\u3000\ufdd0\U0001ffff'), max_size=4
    )
)
def test_a_control_character_is_found_in_json(text: str) -> None:
    value = {text: [text]}
    for written in (dumps(value).decode(), json.dumps(value)):
        assert may_have_control(written) or not has_control(value)
