"""``search``: a substring of name, description or external id, without regard to case and accents,
whatever the script and whatever the characters mean elsewhere. docs/api-conventions.md, "Lists"."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.make import Client, make_asset, make_project

pytestmark = pytest.mark.both


# A name, and what finds it.
FINDS = [
    ("Schwarzwald", "WARZ"),
    ("Schwarzwald", "ld"),
    ("Straße", "strasse"),
    ("STRASSE", "straße"),
    ("Straße", "ß"),
    ("GROẞER FORST", "großer"),
    ("İstanbul", "istanbul"),
    ("ISTANBUL", "ıstanbul"),
    ("Diyarbakır", "DİYARBAKIR"),
    ("ılık", "ILIK"),
    ("Ελάτη ΔΑΣΟΣ", "δασος"),
    ("Тайга", "ТАЙГА"),
    ("Cafe\u0301", "CAF\u00c9"),
    ("A\u030angstr\u00f6m", "\u00c5NGSTRO\u0308M"),
    ("ﬃ", "ffi"),
    ("Café", "cafe"),
    ("Łódź", "lodz"),
    ("Ærø", "aero"),
    ("Bârsana, ţară", "țara"),
    ("Iași", "iaşi"),
    ("Đà Nẵng", "da nang"),
    ("Ναύπλιο", "ναυπλιο"),
    ("Ёлкино", "елкино"),
    ("森林公園", "森"),
    ("森林公園", "林公"),
    ("ป่าชายเลน", "ชาย"),
    ("🌲🌳 Park", "🌲🌳 p"),
    ("👩‍🌾 Hof", "👩‍🌾"),
    ("100% Wald", "%"),
    ("100% Wald", "0% w"),
    ("a_b", "_"),
    ('say "yes"', '"'),
    ('say "yes"', '"yes"'),
    ("d'Orléans", "'"),
    ("back\\slash", "\\"),
    ("North AND South", "and"),
    ("NEAR(a b)", "near(a"),
    ("a^b", "^b"),
    ("(paren)", "(paren)"),
    ("a-b+c", "-b+"),
    ("x  y", "x  y"),
    ("' OR 1=1 --", "' or 1=1 --"),
]
# A name, and what does not find it.
MISSES = [
    ("Schwarzwald", "wälder"),
    ("Schwarzwald", "s_h"),
    ("Schwarzwald", "sch%ald"),
    ("Schwarzwald", "%"),
    ("Schwarzwald", "_"),
    ("Schwarzwald", "sch*"),
    ("Schwarzwald", "schwarz OR wald"),
    ("Schwarzwald", '"schwarz"'),
    ("が", "か"),
    ("north south", "north AND south"),
    ("north south", "north NEAR south"),
    ("x  y", "x y"),
    ("森林", "林森"),
    ("abc", "\uffff"),
]


def _found(client: Client, path: str, needle: str) -> int:
    response = client.get(f"{path}?{urlencode({'search': needle})}")
    assert response.status_code == 200, response.json
    assert len(response.json["data"]) == response.json["meta"]["total"]
    return response.json["meta"]["total"]


def test_a_project_is_found_by_a_part_of_its_texts(
    client: Client, subtests: pytest.Subtests
) -> None:
    names = {f"{number:02}": name for number, name in enumerate(dict(FINDS + MISSES))}
    for number, name in names.items():
        make_project(client, name=number, description=f"x {name} y")
    for name, needle in FINDS + MISSES:
        with subtests.test(f"{name} {needle}"):
            matching = {number for number, text in names.items() if text == name}
            assert (matching <= _names(client, needle)) is ((name, needle) in FINDS)


def test_name_external_id_and_description_are_searched(client: Client) -> None:
    make_project(client, name="Straße")
    make_project(client, name="1", external_id="x Straße y")
    make_project(client, name="2", description="x Straße y")
    make_project(client, name="@")
    for needle in ("strasse", "ss"):
        assert _names(client, needle) == {"Straße", "1", "2"}


def _names(client: Client, needle: str) -> set[str]:
    query = urlencode({"search": needle, "per_page": 100})
    return {project["name"] for project in client.get(f"/v1/projects?{query}").json["data"]}


def test_finds_assets_by_name(client: Client, subtests: pytest.Subtests) -> None:
    path = f"/v1/projects/{make_project(client)['id']}/assets"
    for name in dict(FINDS[::3]):
        make_asset(client, path.split("/")[3], name=name)
        make_asset(client, path.split("/")[3], name="@", metadata={"note": name})
    for name, needle in FINDS[::3]:
        with subtests.test(needle):
            query = urlencode({"search": needle, "per_page": 100})
            names = {asset["name"] for asset in client.get(f"{path}?{query}").json["data"]}
            assert name in names
            assert "@" not in names


def test_spaces_around_are_trimmed_and_an_empty_search_finds_all(client: Client) -> None:
    make_project(client, name="Wald")
    for needle in ("", " \t", "  wald "):
        assert _found(client, "/v1/projects", needle) == 1


def test_nothing_is_found_across_name_and_description(client: Client) -> None:
    make_project(client, name="Schwarz", description="wald")
    for needle in ("schwarzwald", "schwarz wald", "z\nw", "zw"):
        assert _found(client, "/v1/projects", needle) == 0


def test_a_changed_text_is_found_as_it_is_now(client: Client) -> None:
    texts = {"name": "Alder grove", "description": "beside the brook", "external_id": "FS-0615"}
    path = f"/v1/projects/{make_project(client, **texts)['id']}"
    client.put(path, json={"name": "Birch", "description": None, "external_id": "ÖBF-7"})
    for needle, number in (("birch", 1), ("obf", 1), ("alder", 0), ("brook", 0), ("0615", 0)):
        assert _found(client, "/v1/projects", needle) == number


def test_the_end_of_a_long_description_is_found(client: Client) -> None:
    make_project(client, description="x " * 4895 + "y" * 200)
    assert _found(client, "/v1/projects", "y" * 200) == 1


def test_the_same_text_of_another_account_is_not_found(client: Client, stranger: Client) -> None:
    make_project(stranger, name="Alder grove")
    assert _found(client, "/v1/projects", "alder") == 0
    assert _found(client, "/v1/projects", "al") == 0
