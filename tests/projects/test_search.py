"""``search``: a substring of name, description or external id, without regard to case and accents,
whatever the script and whatever the characters mean elsewhere. docs/api-conventions.md, "Lists"."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.make import Client, make_asset, make_project

pytestmark = pytest.mark.both


# A name, and what finds it.
FINDS = [
    ("Schwarzwald", "schwarz"),
    ("Schwarzwald", "WARZ"),
    ("Schwarzwald", "d"),
    ("Schwarzwald", "ld"),
    ("Straße", "strasse"),
    ("Straße", "STRASSE"),
    ("STRASSE", "straße"),
    ("Straße", "ß"),
    ("Straße", "ss"),
    ("GROẞER FORST", "großer"),
    ("İstanbul", "istanbul"),
    ("İstanbul", "İSTANBUL"),
    ("ISTANBUL", "ıstanbul"),
    ("Diyarbakır", "DİYARBAKIR"),
    ("DIYARBAKIR", "diyarbakır"),
    ("ılık", "ILIK"),
    ("Ελάτη ΔΑΣΟΣ", "δασος"),
    ("δάσος", "ΔΆΣΟΣ"),
    ("Тайга", "ТАЙГА"),
    ("Caf\u00e9", "Cafe\u0301"),
    ("Cafe\u0301", "CAF\u00c9"),
    ("A\u030angstr\u00f6m", "\u00c5NGSTRO\u0308M"),
    ("ﬃ", "ffi"),
    ("Café", "cafe"),
    ("Cafe", "CAFÉ"),
    ("Łódź", "lodz"),
    ("Lodz", "łódź"),
    ("Đakovo", "dakovo"),
    ("Ærø", "aero"),
    ("Bjørnø", "bjorno"),
    ("Bârsana, ţară", "țara"),
    ("Iaşi", "iași"),
    ("Iași", "iaşi"),
    ("Iași", "iasi"),
    ("Đà Nẵng", "da nang"),
    ("Ναύπλιο", "ναυπλιο"),
    ("Ёлкино", "елкино"),
    ("森林公園", "森"),
    ("森林公園", "林公"),
    ("森林公園", "森林公園"),
    ("ป่าชายเลน", "ชาย"),
    ("🌲🌳 Park", "🌳"),
    ("🌲🌳 Park", "🌲🌳 p"),
    ("👩‍🌾 Hof", "👩‍🌾"),
    ("100% Wald", "%"),
    ("100% Wald", "0% w"),
    ("a_b", "_"),
    ("a_b", "A_B"),
    ('say "yes"', '"'),
    ('say "yes"', '"yes"'),
    ("d'Orléans", "'"),
    ("d'Orléans", "D'O"),
    ("back\\slash", "\\"),
    ("back\\slash", "k\\s"),
    ("North AND South", "and"),
    ("this OR that", "OR that"),
    ("do NOT enter", "not ent"),
    ("NEAR(a b)", "near(a"),
    ("star*", "tar*"),
    ("a^b", "^b"),
    ("col:on", "col:"),
    ("(paren)", "(paren)"),
    ("a-b+c", "-b+"),
    ("{x}", "{x}"),
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


@pytest.fixture
def path(client: Client) -> str:
    """The assets of a project."""
    return f"/v1/projects/{make_project(client)['id']}/assets"


@pytest.mark.parametrize(("name", "needle"), FINDS)
def test_a_project_is_found_by_a_part_of_its_texts(client: Client, name: str, needle: str) -> None:
    make_project(client, name=name)
    make_project(client, name="0", description=f"x {name} y")
    make_project(client, name="1", external_id=f"x {name} y")
    make_project(client, name="@")
    assert _found(client, "/v1/projects", needle) == 3


@pytest.mark.parametrize(("name", "needle"), MISSES)
def test_a_project_without_the_needle_is_not_found(client: Client, name: str, needle: str) -> None:
    make_project(client, name=name, description=name)
    assert _found(client, "/v1/projects", needle) == 0


@pytest.mark.parametrize(("name", "needle"), FINDS[::3])
def test_finds_assets_by_name(client: Client, path: str, name: str, needle: str) -> None:
    project_id = path.split("/")[3]
    make_asset(client, project_id, name=name)
    make_asset(client, project_id, name="@", metadata={"note": name})
    assert _found(client, path, needle) == 1


@pytest.mark.parametrize("needle", ["", "   ", "\t"])
def test_an_empty_search_finds_all(client: Client, needle: str) -> None:
    make_project(client)
    assert _found(client, "/v1/projects", needle) == 1


def test_nothing_is_found_across_name_and_description(client: Client) -> None:
    make_project(client, name="Schwarz", description="wald")
    for needle in ("schwarzwald", "schwarz wald", "z\nw", "zw"):
        assert _found(client, "/v1/projects", needle) == 0


def test_spaces_around_are_trimmed(client: Client) -> None:
    make_project(client, name="Wald")
    assert _found(client, "/v1/projects", "  wald ") == 1


def test_a_changed_text_is_found_as_it_is_now(client: Client) -> None:
    project = make_project(client, name="Alder grove", description="beside the brook")
    client.put(f"/v1/projects/{project['id']}", json={"name": "Birch", "description": None})
    assert _found(client, "/v1/projects", "birch") == 1
    assert _found(client, "/v1/projects", "alder") == 0
    assert _found(client, "/v1/projects", "brook") == 0


def test_a_changed_external_id_is_found_as_it_is_now(client: Client) -> None:
    project = make_project(client, name="Alder grove", external_id="FS-0615")
    path = f"/v1/projects/{project['id']}"
    assert client.put(path, json={"external_id": "ÖBF-7"}).status_code == 200
    assert _found(client, "/v1/projects", "obf") == 1
    assert _found(client, "/v1/projects", "0615") == 0
    client.put(path, json={"external_id": None})
    assert _found(client, "/v1/projects", "obf") == 0


def test_a_deleted_project_is_not_found(client: Client) -> None:
    project = make_project(client, name="Alder grove")
    client.post(f"/v1/projects/{project['id']}/archive")
    client.delete(f"/v1/projects/{project['id']}")
    assert _found(client, "/v1/projects", "alder") == 0


def test_the_end_of_a_long_description_is_found(client: Client) -> None:
    make_project(client, description="x " * 4995 + "needle")
    assert _found(client, "/v1/projects", "needle") == 1


def test_a_search_of_two_hundred_characters(client: Client) -> None:
    make_project(client, description="y" * 300)
    assert _found(client, "/v1/projects", "y" * 200) == 1


def test_the_same_text_of_another_account_is_not_found(client: Client, stranger: Client) -> None:
    make_project(stranger, name="Alder grove")
    assert _found(client, "/v1/projects", "alder") == 0
    assert _found(client, "/v1/projects", "al") == 0
