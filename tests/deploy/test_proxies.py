"""The examples of proxies: what they pass on, and what they refuse themselves."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from app.http.errors import ApiError, PayloadTooLarge, RateLimited, ServiceUnavailable
from app.policy.files import FORM_BYTES
from tests.captured import captured
from tests.deploy.files import DEFAULTS, assignments, text, tool

NGINX, CADDY = text("deploy/nginx.conf"), text("deploy/Caddyfile")
KINDS = {kind.code: kind for kind in (PayloadTooLarge, RateLimited, ServiceUnavailable)}
MEGABYTE = 1024 * 1024
LIMIT = MEGABYTE * (1 + (int(DEFAULTS["MAX_IMPORT_BYTES"]) + FORM_BYTES) // MEGABYTE)


def refusals(page: str) -> list[tuple[int, str]]:
    """The answers that a proxy makes itself: status and body."""
    answers = re.findall(r"return (\d+) '(\{.*\})';", page)
    answers += [(status, body) for body, status in re.findall(r"respond `(\{.*\})` (\d+)", page)]
    return [(int(status), body) for status, body in answers]


REFUSALS = refusals(NGINX) + refusals(CADDY)


def test_there_are_refusals_of_both() -> None:
    assert sorted(status for status, _ in refusals(NGINX)) == [413, 429, 503]
    assert sorted(status for status, _ in refusals(CADDY)) == [413, 503]


@pytest.mark.parametrize(("status", "body"), REFUSALS)
def test_a_refusal_of_a_proxy_has_the_envelope(status: int, body: str) -> None:
    answer = json.loads(body)
    kind: type[ApiError] = KINDS[answer["error"]["code"]]
    assert status == kind.status
    assert answer["error"].keys() == {"code", "message", "details"}
    assert answer["meta"].keys() == {"request_id"}


@pytest.mark.parametrize("body", [body for status, body in REFUSALS if status == 413])
def test_the_limit_that_is_told_is_that_of_the_proxy(body: str) -> None:
    assert json.loads(body)["error"]["message"] == f"The body is larger than {LIMIT:,} bytes."


@pytest.mark.parametrize("page", [NGINX, text("deploy/hosts/nginx.conf")])
def test_nginx_logs_no_query(page: str) -> None:
    """It can hold a key."""
    (form,) = re.findall(r"log_format canopy ([^;]*);", page)
    assert not re.search(r"\$(request\b|request_uri|args|query_string)", form)
    assert '"$request_method $uri"' in form
    assert "access_log /var/log/nginx/access.log canopy;" in page


def test_the_limits_on_bodies_leave_room_for_a_file() -> None:
    assert f"client_max_body_size {LIMIT // MEGABYTE}m;" in NGINX
    assert f"max_size {LIMIT // MEGABYTE}MiB" in CADDY
    assert "int({http.request.header.Content-Length}) > " + f"{LIMIT}`" in CADDY


def test_slow_requests_are_given_up() -> None:
    assert "\tproxy_request_buffering on;" in NGINX.replace(" " * 8, "\t")
    assert re.search(r"client_body_timeout \d+s;", NGINX)
    assert re.search(r"timeouts \{\s+read_header \d+s\s+read_body \d+s\s+\}", CADDY)


def test_nginx_replaces_what_a_client_says_of_its_address() -> None:
    for line in (
        "X-Forwarded-For $remote_addr;",
        "X-Forwarded-Proto $scheme;",
        "X-Forwarded-Host $http_host;",
        "Host $http_host;",
    ):
        assert f"proxy_set_header {line}" in NGINX


def test_both_lead_to_where_the_web_server_listens() -> None:
    example = assignments(text("deploy/systemd/canopy.env.example"))
    address = f"{example['HOST']}:{example['PORT']}"
    assert f"server {address};" in NGINX
    assert "reverse_proxy {$UPSTREAM:" + address + "}" in CADDY


def test_connections_are_let_go_before_gunicorn_closes_them() -> None:
    (seconds,) = re.findall(r"^keepalive = (\d+)$", text("gunicorn.conf.py"), re.MULTILINE)
    assert f"keepalive_timeout {int(seconds) - 1}s;" in NGINX
    assert f"keepalive {int(seconds) - 1}s" in CADDY


def test_what_the_service_compresses_passes_as_it_is() -> None:
    """Compressed or unpacked on the way, an answer would no longer have the tag that it carries."""
    assert "gzip off;" in NGINX
    assert "Accept-Encoding" not in NGINX
    assert "\tencode" not in CADDY
    assert "\t\t\tcompression off\n" in CADDY


def test_nginx_takes_its_file(tmp_path: Path) -> None:
    nginx, openssl = tool("nginx"), tool("openssl")
    if nginx is None or openssl is None:
        pytest.skip("nginx or openssl is not installed")
    make = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    keys = ["-keyout", "privkey.pem", "-out", "fullchain.pem"]
    subprocess.run([openssl, *make, *keys], cwd=tmp_path, check=True, capture_output=True)
    folder = "/etc/letsencrypt/live/forest.example.org"
    (tmp_path / "site.conf").write_text(NGINX.replace(folder, str(tmp_path)))
    whole = f"pid {tmp_path}/pid; events {{}} http {{ access_log off; include site.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole)
    words = [nginx, "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = captured(words)
    assert "syntax is ok" in done.stderr, done.stderr
