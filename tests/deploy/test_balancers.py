"""The balancers in front of several hosts: what they pass on, repeat, and answer themselves."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.http.errors import BadRequest, ServiceUnavailable
from tests.captured import captured
from tests.deploy.files import text
from tests.deploy.programs import find_installed, without_user
from tests.deploy.test_proxies import NGINX, refusals
from tests.outbound.authority import make_authority

HAPROXY, NGINX_OF_HOSTS = text("deploy/hosts/haproxy.cfg"), text("deploy/hosts/nginx.conf")


def directives(page: str) -> set[str]:
    """The lines of a configuration without comments."""
    lines = (line.partition("#")[0].strip() for line in page.splitlines())
    return {line for line in lines if line}


def test_nginx_is_as_in_front_of_one_host() -> None:
    """But for what it takes to have several."""
    more = directives(NGINX_OF_HOSTS) - directives(NGINX)
    assert {line.split()[0] for line in more} == {
        "least_conn;",
        "zone",
        "server",
        "proxy_socket_keepalive",
        "proxy_next_upstream",
        "proxy_next_upstream_tries",
    }
    assert directives(NGINX) - directives(NGINX_OF_HOSTS) == {"server 127.0.0.1:8000;"}
    assert len(refusals(NGINX_OF_HOSTS)) == 3


def test_nothing_that_was_sent_is_repeated_but_what_is_safe() -> None:
    assert "retry-on conn-failure" in directives(HAPROXY)
    assert "proxy_next_upstream error timeout;" in directives(NGINX_OF_HOSTS)


def test_errors_of_haproxy_are_those_of_the_service() -> None:
    found = re.findall(r"http-error status (\d+) .*? lf-string '(\{.*\})'", HAPROXY)
    assert [status for status, _ in found] == ["400", "408", "502", "503", "504"]
    assert "http-after-response set-status 503 if { status 502 504 }" in directives(HAPROXY)
    for status, body in found:
        answer = json.loads(body)
        expected = ServiceUnavailable if status > "500" else BadRequest
        assert answer["error"]["code"] == expected.code
        assert answer["error"].keys() == {"code", "message", "details"}
        assert answer["meta"].keys() == {"request_id"}


def test_haproxy_replaces_what_a_client_says_of_its_address() -> None:
    for line in (
        "http-request set-header X-Forwarded-For %[src]",
        "http-request set-header X-Forwarded-Proto https",
        "http-request set-header X-Forwarded-Host %[req.hdr(host)]",
    ):
        assert line in directives(HAPROXY)


@pytest.mark.parametrize("name", ["haproxy", "nginx"])
def test_the_balancer_takes_its_file(name: str, tmp_path: Path) -> None:
    program = find_installed(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    certificate = make_authority(tmp_path).certificate_for(["forest.example.org"])
    if name == "haproxy":
        page = without_user(HAPROXY).replace(
            "/etc/haproxy/forest.example.org.pem", str(certificate)
        )
        (tmp_path / "haproxy.cfg").write_text(page)
        command = ["-c", "-f", str(tmp_path / "haproxy.cfg")]
    else:
        site = re.sub(r"/etc/letsencrypt/\S+\.pem", str(certificate), NGINX_OF_HOSTS)
        (tmp_path / "site.conf").write_text(site)
        whole = f"pid {tmp_path}/pid; events {{}} http {{ access_log off; include site.conf; }}"
        (tmp_path / "nginx.conf").write_text(whole)
        command = ["-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = captured([program.path, *command], env=program.environ)
    assert done.returncode == 0 or "syntax is ok" in done.stderr, done.stderr
    assert "[WARNING]" not in done.stderr
