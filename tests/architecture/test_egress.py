"""There is one way out to addresses that customers gave."""

from __future__ import annotations

import ast
import re

import pytest

from tests.architecture.egress import OTHER_WAYS, other_ways, used
from tests.architecture.sources import parse, sources

# Who calls other servers. ``app.outbound.switch`` stops these, as ``tests/outbound/test_switch.py``
# shows:
STOPPED = {"app.chat.model", "app.cli.mail", "app.mail.jobs", "app.webhooks.deliveries.jobs"}
# and not these: signing in, the doctor, which sends nothing, and the operator's command for a map,
# which only the setting stops.
GOING_ON = {
    "app.people.single_sign_on.provider",
    "app.doctor.checks.addresses",
    "app.basemap.sources",
}


def test_who_calls_other_servers_is_stopped_by_the_switch_or_known_not_to_be() -> None:
    calls = re.compile(r"(?<!class )(?<!def )\b(?:Egress|open_transport)\(")
    found = {module for module, source in sources().items() if calls.search(source)}
    assert found == STOPPED | GOING_ON


def test_there_is_one_way_out() -> None:
    assert list(other_ways(sources())) == []


def test_the_others_are_in_use() -> None:
    for module, (libraries, reason) in OTHER_WAYS.items():
        tree = parse(sources().get(module, ""))
        found = {library for node in ast.walk(tree) for library in used(node)}
        assert found == set(libraries.split()), module
        assert reason


@pytest.mark.parametrize(
    ("source", "library"),
    [
        ("import socket", "socket"),
        ("import socket as s", "socket"),
        ("from socket import create_connection", "socket"),
        ("import http.client", "http.client"),
        ("from http import client", "http.client"),
        ("from http.client import HTTPSConnection", "http.client"),
        ("from urllib import request", "urllib.request"),
        ("import urllib.request", "urllib.request"),
        ("from urllib.request import urlopen", "urllib.request"),
        ("import urllib3", "urllib3"),
        ("from urllib3.connection import HTTPSConnection", "urllib3"),
        ("import requests", "requests"),
        ("import httpx2", "httpx2"),
        ("import asyncio", "asyncio"),
        ("def f():\n    import ssl", "ssl"),
        ("import importlib\nimportlib.import_module('socket')", "socket"),
        ("__import__('requests')", "requests"),
        ("import_module(name)", "importlib"),
    ],
)
def test_another_way_is_seen(source: str, library: str) -> None:
    (found,) = other_ways({"app.bees.service": source})
    assert found.endswith(f"uses {library}")


@pytest.mark.parametrize(
    "source",
    [
        "from urllib.parse import urlsplit",
        "from http import HTTPStatus",
        "import socketio",
        "from app.core import requests",
    ],
)
def test_what_does_not_connect_passes(source: str) -> None:
    assert list(other_ways({"app.bees.service": source})) == []


def test_the_egress_itself_passes() -> None:
    assert list(other_ways({"app.outbound.client": "import socket"})) == []
    assert list(other_ways({"app.core.egresses": "import socket"}))


def test_a_module_has_its_own_libraries_only() -> None:
    assert list(other_ways({"app.mail.smtp": "import smtplib"})) == []
    assert len(list(other_ways({"app.mail.smtp": "import urllib3"}))) == 1
