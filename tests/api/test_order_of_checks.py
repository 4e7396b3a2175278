"""Of two faults the earlier one is answered: 413 and 415, then 401, 429, 403, 404, 400 and 422,
then 409 and 412 (docs/request-flow.md, "The order of checks")."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.make import Client, make_key, make_project, use_up_minute

NOBODYS = "proj_01arz3ndektsv4rrffq69g5fav"


class Attempt:
    """A change of a project with everything right, and what can be made wrong."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.project = make_project(client)["id"]
        self.method, self.action = "PUT", ""
        self.body: bytes = b'{"description": "new"}'
        self.headers = {"Content-Type": "application/json"}
        self.query = ""

    def too_large(self) -> None:
        self.body += b" " * self.client.app.config["SETTINGS"].max_body_bytes

    def no_json(self) -> None:
        self.headers["Content-Type"] = "text/plain"

    def nobody(self) -> None:
        self.headers["Authorization"] = "Bearer nobody"

    def too_often(self) -> None:
        use_up_minute(self.client)

    def not_permitted(self) -> None:
        self.client = make_key(self.client, permissions=["assets:write"])

    def absent(self) -> None:
        self.project = NOBODYS

    def bad_query(self) -> None:
        self.query = "?x=1"

    def bad_syntax(self) -> None:
        self.body = b"{" + self.body

    def bad_field(self) -> None:
        self.body = self.body.replace(b"}", b', "x": 1}')

    def bad_tag(self) -> None:
        self.headers["If-Match"] = "x"

    def other_tag(self) -> None:
        self.headers["If-Match"] = '"x"'

    def send(self) -> Any:
        path = f"/v1/projects/{self.project}{self.action}{self.query}"
        return self.client.send(self.method, path, data=self.body, headers=self.headers)


# The faults from the first that is answered to the last; those in a row are checked together.
ORDER = [
    {"too_large": 413, "no_json": 415},
    {"nobody": 401},
    {"too_often": 429},
    {"not_permitted": 403},
    {"absent": 404},
    {"bad_query": 400, "bad_syntax": 400, "bad_field": 422, "bad_tag": 400},
    {"other_tag": 412},
]
PAIRS = [
    (first, second, status)
    for earlier, later in pairwise(ORDER)
    for first, status in earlier.items()
    for second in later
    if {first, second} != {"bad_tag", "other_tag"}
]


@pytest.mark.parametrize(("fault", "status"), [item for row in ORDER for item in row.items()])
def test_each_fault_alone(client: Client, fault: str, status: int) -> None:
    attempt = Attempt(client)
    getattr(attempt, fault)()
    assert attempt.send().status_code == status


def test_without_a_fault_it_is_done(client: Client) -> None:
    assert Attempt(client).send().status_code == 200


@pytest.mark.parametrize(("first", "second", "status"), PAIRS)
def test_of_two_faults_the_earlier_is_answered(
    client: Client, first: str, second: str, status: int
) -> None:
    attempt = Attempt(client)
    getattr(attempt, second)()
    getattr(attempt, first)()
    assert attempt.send().status_code == status


@pytest.mark.parametrize(
    ("fault", "status"),
    [("nobody", 401), ("not_permitted", 403), ("absent", 404), ("bad_query", 400)],
)
def test_a_conflict_comes_last(client: Client, fault: str, status: int) -> None:
    attempt = Attempt(client)
    client.post(f"/v1/projects/{attempt.project}/archive")
    attempt.method, attempt.action, attempt.body = "POST", "/archive", b""
    assert attempt.send().status_code == 409
    getattr(attempt, fault)()
    assert attempt.send().status_code == status


def test_of_a_conflict_and_another_tag_the_tag_is_answered(client: Client) -> None:
    attempt = Attempt(client)
    client.post(f"/v1/projects/{attempt.project}/archive")
    attempt.method, attempt.action, attempt.body = "POST", "/archive", b""
    attempt.other_tag()
    assert attempt.send().status_code == 412


@pytest.mark.parametrize(("path", "status"), [("/v1/forests", 404), ("/v1/account/usage", 405)])
def test_unknown_routes_and_methods_are_answered_before_the_credential(
    client: Client, path: str, status: int
) -> None:
    for caller in (client, client.nobody()):
        response = caller.post(path, json={})
        assert response.status_code == status
    wrong_type = client.send("POST", path, data=b"x", headers={"Content-Type": "text/plain"})
    assert wrong_type.status_code == status


def test_a_body_that_is_too_large_is_refused_on_unknown_routes_too(client: Client) -> None:
    body = b" " * (client.app.config["SETTINGS"].max_body_bytes + 1)
    for path in ("/v1/forests", "/v1/projects"):
        assert client.send("POST", path, data=body).status_code == 413


def test_a_body_of_just_the_limit_is_read(client: Client) -> None:
    body = b'{"name": "A"}'
    body += b" " * (client.app.config["SETTINGS"].max_body_bytes - len(body))
    response = client.send(
        "POST", "/v1/projects", data=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 201


def test_absence_comes_before_the_query_and_the_precondition(client: Client) -> None:
    for method, suffix in (("GET", ""), ("DELETE", ""), ("POST", "/archive"), ("POST", "/restore")):
        path = f"/v1/projects/proj_{'0' * 26}{suffix}?colour=green"
        response = client.send(method, path, headers={"If-Match": "not a tag"})
        assert response.status_code == 404, method
