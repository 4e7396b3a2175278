"""The lines of the log: one JSON object each."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime

import pytest

from app.http.logging import JsonFormatter, TextFormatter
from app.values.clock import format_time
from tests.make import Client


def test_the_time_of_a_line_is_that_of_its_record() -> None:
    formatter = JsonFormatter()
    for time in (1_700_000_000.0, 1_700_000_000.0421, 1_700_000_000.9996, 1_700_000_001.5, 0.0):
        record = logging.makeLogRecord({"created": time, "msecs": time % 1 * 1000, "msg": "100%"})
        line = json.loads(formatter.format(record))
        assert line["time"] == format_time(datetime.fromtimestamp(time, UTC))
        assert line["message"] == "100%"


def test_a_text_of_somebody_else_makes_no_line_of_its_own() -> None:
    record = logging.makeLogRecord({"msg": "claim %s", "args": ("a\nGET /\x1b[2J",)})
    assert TextFormatter().format(record).endswith(r"claim a\nGET /\x1b[2J")


@pytest.mark.parametrize(
    ("path", "route", "status"), [("/v1/account", "/v1/account", 200), ("/v1/%s", None, 404)]
)
def test_the_line_of_a_request(
    client: Client, caplog: pytest.LogCaptureFixture, path: str, route: str | None, status: int
) -> None:
    with caplog.at_level(logging.INFO, logger="canopy.request"):
        request_id = client.get(path).headers["X-Request-Id"]
    (record,) = (record for record in caplog.records if record.name == "canopy.request")
    line = json.loads(JsonFormatter().format(record))
    duration = line.pop("duration_ms")
    assert re.fullmatch(rf"GET {route} {status} \d+\.\d ms", line.pop("message"))
    assert duration > 0
    members = "time level logger request_id method route status account credential"
    assert list(line) == members.split()
    assert (line["level"], line["request_id"], line["method"]) == ("INFO", request_id, "GET")
    assert (line["route"], line["status"]) == (route, status)
    assert line["account"] == client.account_id


def test_a_level_that_is_not_logged_has_no_line(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="canopy.request"):
        client.get("/v1/account")
    assert not [record for record in caplog.records if record.name == "canopy.request"]
