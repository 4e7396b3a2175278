"""What release 8.2.1 of the Information System takes, by the doors of the API."""

from __future__ import annotations

import csv
import io

import pytest

from app.policy import eudr
from tests.countries import needs_countries
from tests.imports.making import act, answered, read, ready, work
from tests.make import Client, make_asset, make_project, point, square
from tests.make.features import feature

NAME, COUNTRY, PLACE, AREA = "ProducerName", "ProducerCountry", "ProductionPlace", "Area"
OWN = {NAME: "Ama Mensah", COUNTRY: "GH", PLACE: "Tepa"}
ADDRESS = {"PostalAddress": "Hauptstr. 1", "PostalCode": 79100, "City": "Freiburg"}
FIELD = square(-2, 6.5, size=0.002)  # in Ghana


def details(client: Client, path: str) -> list[tuple[str, str]]:
    answer = client.get(path)
    assert answer.status_code == 400, answer.text
    return [(each["code"], each["message"]) for each in answer.json["error"]["details"]]


def rows(client: Client, query: str = "") -> list[dict[str, str]]:
    answer = client.get(f"/v1/exports/projects?format=eudr_simplified{query}")
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.get_data(as_text=True))))


def test_the_limits_of_release_8_2_1() -> None:
    """By its schemas of 4 September 2026, and the GeoJSON file description 1.3."""
    assert eudr.RELEASE == "8.2.1"
    assert (eudr.NAME, eudr.COUNTRY, eudr.PLACE, eudr.AREA) == (NAME, COUNTRY, PLACE, AREA)
    assert (eudr.FILE_BYTES, eudr.FILE_PRODUCERS, eudr.NAME_LENGTH) == (25_000_000, 1_000, 500)
    assert (eudr.DECIMALS, eudr.SMALLEST_HECTARES, eudr.POINT_HECTARES) == (6, 0.0001, 4)
    assert (eudr.PLACES, eudr.CADASTRAL_LENGTH) == (100, 80)


@needs_countries
def test_a_missing_country_is_a_problem_that_proposes_one(client: Client) -> None:
    make_project(client, geometry=FIELD, metadata={NAME: "Ama"})
    make_project(client, geometry=FIELD, metadata={COUNTRY: "UK"})
    for variant in (1, 2):
        found = client.get(f"/v1/eudr?variant={variant}").json["data"]["problems"]
        assert [(each["code"], each["proposed"]) for each in found] == [
            ("country_missing", "GH"),
            ("country_invalid", "GB"),
        ]
        listed = details(client, f"/v1/exports/projects?format=eudr&variant={variant}")
        assert listed == [(each["code"], each["message"]) for each in found]
    found = client.get("/v1/eudr?producer_country=GH").json["data"]
    assert found["problem_counts"] == {"country_invalid": 1}


@needs_countries
def test_what_lies_overseas_has_a_code_of_its_own(client: Client) -> None:
    for code, place in (("GF", (-53, 4)), ("RE", (55.5, -21.1)), ("NL", (-53, 4))):
        make_project(
            client, name=code, geometry=square(*place, size=0.002), metadata={COUNTRY: code}
        )
    found = client.get("/v1/eudr").json["data"]["warnings"]
    differing = [each for each in found if each["code"] == "country_differs"]
    assert [(each["name"], each["proposed"]) for each in differing] == [("NL", "FR")]


def test_any_key_of_the_metadata_is_the_producer(client: Client) -> None:
    for number, metadata in enumerate(
        ({"farmer": "Ama"}, {"farmer": 17}, {NAME: "Kofi", "farmer": "x"}, {"farmer": " "})
    ):
        make_project(
            client, geometry=square(-2 + number / 50, 6.5, size=0.002),
            metadata={COUNTRY: "GH", **metadata},
        )  # fmt: skip
    query = "producer_key=farmer&producer_name=Coop"
    exported = client.get(f"/v1/exports/projects?format=eudr&variant=2&{query}").json["features"]
    assert [each["properties"][NAME] for each in exported] == ["17", "Ama", "Coop", "Kofi"]
    assert client.get(f"/v1/eudr?{query}").json["data"]["producers"] == 4


def test_what_a_file_has_differently_is_counted(client: Client) -> None:
    outer = square(-2, 6.5, size=0.002)["coordinates"][0]
    hole = square(-1.9995, 6.5005, size=0.001)["coordinates"][0][::-1]
    make_project(client, geometry={"type": "Polygon", "coordinates": [outer, hole]}, metadata=OWN)
    parts = [square(x, 6.6000004, size=0.002)["coordinates"] for x in (-2, -1.9)]
    made = make_project(
        client, geometry={"type": "MultiPolygon", "coordinates": parts}, metadata=OWN
    )["id"]
    make_asset(client, made, type="plot", location=point(-2.5, 6.5), metadata=OWN)
    found = client.get("/v1/eudr?points=true").json["data"]
    assert found["changes"] == {"parts": 1, "holes": 1, "rounded": 1}
    assert (found["records"], found["features"]) == (3, 5)


def test_a_simplified_declaration_has_a_row_for_each_plot(client: Client) -> None:
    by_number = make_project(client, name="No boundary", metadata=OWN | {
        "cadastralidentifier": 4711, PLACE: "Au", AREA: 2.5})["id"]  # fmt: skip
    by_address = make_project(client, geometry=FIELD, metadata=OWN | ADDRESS)
    assert rows(client) == [
        {NAME: "Ama Mensah", COUNTRY: "GH", "CadastralIdentifier": "4711", "PostalAddress": "",
         "PostalCode": "", "City": "", PLACE: "Au", AREA: "2.5", "id": by_number},
        {NAME: "Ama Mensah", COUNTRY: "GH", "CadastralIdentifier": "", PLACE: "Tepa",
         "PostalAddress": "Hauptstr. 1", "PostalCode": "79100", "City": "Freiburg",
         AREA: str(by_address["area_hectares"]), "id": by_address["id"]},
    ]  # fmt: skip
    found = client.get("/v1/eudr?simplified=true").json["data"]
    assert (found["ready"], found["records"]) == (True, 2)
    answer = client.get("/v1/exports/projects?format=eudr_simplified")
    assert found["bytes"] == len(answer.data)
    assert "-projects-eudr-simplified-" in answer.headers["Content-Disposition"]


def test_no_text_of_a_simplified_declaration_is_a_formula(client: Client) -> None:
    make_project(client, metadata=OWN | {"CadastralIdentifier": "=1+1", PLACE: 'a;"=2'})
    (row,) = rows(client)
    assert (row["CadastralIdentifier"], row[PLACE]) == ("'=1+1", "a;\"'=2")


def test_what_a_simplified_declaration_lacks(client: Client) -> None:
    make_project(client, metadata=OWN | ADDRESS | {"City": ""})
    make_project(client, metadata=OWN | {"CadastralIdentifier": "x" * 81})
    make_project(client, metadata={"CadastralIdentifier": "1", COUNTRY: "XX", AREA: 0})
    listed = details(client, "/v1/exports/projects?format=eudr_simplified")
    assert listed == [
        ("address_incomplete", "Set CadastralIdentifier, or City."),
        ("too_long", "Shorten CadastralIdentifier to 80 characters; it has 81."),
        ("country_invalid", '"XX" is no country. Set ProducerCountry to two letters of ISO 3166-1, '
         "such as GH."),
        ("area_invalid", "Area is 0 hectares. Correct it, or remove it."),
    ]  # fmt: skip
    found = client.get("/v1/eudr?simplified=true").json["data"]["problems"]
    assert [(each["code"], each["message"]) for each in found] == listed
    for query in ("divide=true", "variant=2"):
        refused = client.get(f"/v1/exports/projects?format=eudr_simplified&{query}")
        assert refused.status_code == 400, query


def test_a_producer_has_a_hundred_places(client: Client) -> None:
    for _ in range(101):
        make_project(client, metadata=OWN | {"CadastralIdentifier": "1"})
    ((code, message),) = details(client, "/v1/exports/projects?format=eudr_simplified")
    assert code == "too_many_places"
    assert message.startswith("“Ama Mensah” in GH has 101 plots")


def test_the_verification_number_is_kept_nowhere(client: Client, subtests: pytest.Subtests) -> None:
    project = make_project(client, metadata={"a": 1, "StatementReference": "26FIX01"})["id"]
    asset = make_asset(client, project)["id"]
    secret = {"a": [{"verificationNumber": "ABCD1234"}]}
    item = {"type": "Feature", "geometry": None, "properties": {"name": "x", **secret}}
    merge = {"headers": {"Content-Type": "application/merge-patch+json"}}
    for verb, path, body, more in (
        ("POST", "/v1/projects", {"name": "x", "metadata": secret}, {}),
        ("POST", "/v1/projects", {"name": "x", "metadata": secret["a"][0]}, {}),
        ("PUT", f"/v1/projects/{project}", {"metadata": secret}, {}),
        ("PATCH", f"/v1/projects/{project}", {"metadata": secret}, merge),
        ("POST", f"/v1/projects/{project}/assets",
         {"name": "x", "type": "plot", "metadata": secret}, {}),
        ("PUT", f"/v1/projects/{project}/assets/{asset}", {"metadata": secret}, {}),
        ("POST", "/ogc/collections/projects/items", item, {}),
        ("PUT", f"/ogc/collections/projects/items/{project}", item, {}),
        ("PATCH", f"/ogc/collections/projects/items/{project}", item, {}),
    ):  # fmt: skip
        with subtests.test(path=path, verb=verb):
            answer = client.send(verb, path, json=body, **more)
            assert answer.status_code == 422, answer.text
            assert "opens a statement" in answer.text
    kept = client.get(f"/v1/projects/{project}").json["data"]["metadata"]
    assert kept == {"a": 1, "StatementReference": "26FIX01"}
    for number, (key, value) in enumerate((
        ("VerificationNumber", "ABCD1234"),
        ("VERIFICATI", "ABCD1234"),
        ("dds", {"of": [{"VerificationNumber": "ABCD1234"}]}),
        ("text", '{"verificationNumber" : "ABCD1234"}'),
    )):  # fmt: skip
        with subtests.test(key):
            record = ready(client, feature(square(5 * number), b=f"of {key}", **{key: value}))
            assert f"“{key}” was left out: " in " ".join(record["notes"])
            assert "ABCD1234" not in str(record)
            assert client.put(f"/v1/imports/{record['id']}", json={"mapping": {"name": key}})
            work(client)
            assert "has no column" in read(client, record["id"])["message"]
            record = answered(client, record, mapping={"name": None, "metadata": [key, "b"]})
            act(client, record, "apply")
            made = client.get(f"/v1/projects?import_id={record['id']}").json["data"][0]
            assert made["metadata"] == {"b": f"of {key}"}
