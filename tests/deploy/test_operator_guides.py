"""What the guides for operators say of metrics, logs and refusals, compared with the service."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator

import pytest
from flask import Flask
from prometheus_client import REGISTRY

from app.http.logging import JsonFormatter
from app.monitoring.metrics import read_registry
from app.policy.metrics import METRICS
from app.processes.web_server import refusals
from tests.deploy.files import text
from tests.make import Client

PAGES = text("docs/run.md") + text("docs/repair.md")
PARTS_OF_A_LINE = {"time", "level", "logger", "message"}


def section(title: str) -> str:
    """A section of these pages, up to the next one."""
    return PAGES.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_column(title: str) -> list[str]:
    return re.findall(r"^\| `?([\w]+)`? \|", section(title), re.MULTILINE)[1:]


@pytest.fixture
def lines(client: Client) -> Iterator[list[str]]:
    """The lines of the requests of a test, as they would be written."""
    written: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(JsonFormatter().format(record))

    log, handler = logging.getLogger("canopy.request"), Keep()
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    yield written
    log.removeHandler(handler)
    log.setLevel(level)


def test_the_metrics_are_those_of_the_service(app: Flask) -> None:
    with app.app_context():
        metrics = [*REGISTRY.collect(), *read_registry().collect()]
    for metric in metrics:
        name = metric.name + ("_total" if metric.type == "counter" else "")
        kind = METRICS[name]
        assert (metric.type, metric.documentation) == (kind.type, kind.meaning)
        labels = {label for sample in metric.samples for label in sample.labels}
        assert labels <= {*kind.labels, "le"}, name
    # The others are those of processes, which do not run here.
    others = METRICS.keys() - {m.name + ("_total" if m.type == "counter" else "") for m in metrics}
    assert {name.partition("_")[0] for name in others} <= {"process"}


def test_the_fields_are_those_of_a_line(client: Client, lines: list[str]) -> None:
    client.send("GET", "/v1/account?colour=green")
    (line,) = map(json.loads, lines)
    assert line.keys() == PARTS_OF_A_LINE | set(first_column("Logs"))
    assert "green" not in lines[0]
    assert client.token not in lines[0]


def test_the_statuses_are_those_of_the_web_server() -> None:
    title = "What the web server refuses"
    others = (refusals.TOO_SLOW, refusals.NO_ROOM, *refusals.BY_PROGRESS.values())
    statuses = {status for _, status, _ in refusals.MALFORMED_REQUESTS}
    statuses |= {refusal.status for refusal in others}
    assert {int(word) for word in first_column(title)} == statuses
    told = {
        "limit_request_line": "bytes",
        "limit_request_fields": "header fields",
        "limit_request_field_size": "bytes",
    }
    for name, unit in told.items():
        (limit,) = re.findall(rf"^{name} = (\d+)$", text("gunicorn.conf.py"), re.MULTILINE)
        assert f"{int(limit):,} {unit}" in section(title)
