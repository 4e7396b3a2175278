"""A whole instance, a mail server and a browser, for flows as people have them."""

from __future__ import annotations

import ipaddress
import itertools
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect

from app.db.connections import close_all
from app.factory import create_core
from config import ROOT, load_settings
from tests.browser.chromium import NoBrowser, chromium
from tests.cli.conftest import runner
from tests.mail.servers import Inbox, smtp_server
from tests.make import new_email
from tests.make.apps import CHEAP_PASSWORDS
from tests.make.browser import PASSWORD
from tests.make.mails import link_in
from tests.node import skip
from tests.outbound.receivers import Authority, Receiver, make_authority
from tests.ports import free_port
from tests.waiting import PATIENCE, wait_for

START_SECONDS = 120
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
expect.set_options(timeout=1000 * PATIENCE)
_addresses = itertools.count(13 << 24 | 1)  # 13.0.0.1


@dataclass(frozen=True)
class Instance:
    """An instance that runs as ``bin/serve`` runs it, and what it has mailed."""

    url: str
    folder: Path
    environment: dict[str, str]
    inbox: Inbox
    authority: Authority  # of the receivers that it trusts, on this machine
    cors_port: int  # of pages on this machine that may call its API

    @cached_property
    def core(self) -> Flask:
        """What commands run in, on its database."""
        return create_core(load_settings(self.environment))

    def canopy(self, *arguments: str) -> Any:
        """The record that a command of the command line prints."""
        result = runner(self.core)(*arguments, "--json")
        assert result.exit_code == 0, result.output
        return json.loads(result.output)

    def mail_to(self, address: str, number: int = 1) -> EmailMessage:
        """The mail to an address that came as number so many; waits for the worker to send it."""
        found: list[EmailMessage] = wait_for(
            lambda: len(mails := self.inbox.to(address)) >= number and mails
        )
        return found[number - 1]

    def link_to(self, address: str, number: int = 1) -> str:
        """The link in it."""
        return link_in(self.mail_to(address, number))


@pytest.fixture(scope="package")
def instance(scratch: Path) -> Iterator[Instance]:
    """One for all tests of pages."""
    with running_instance(scratch) as made:
        yield made


@contextmanager
def running_instance(scratch: Path, port: int | None = None, **settings: str) -> Iterator[Instance]:
    """An instance with a database of its own, behind a proxy that says who comes: each visitor has
    an address of their own."""
    folder, port, cors_port = scratch / "browsed", port or free_port(), free_port()
    (own := scratch / "authority").mkdir(exist_ok=True)
    authority = make_authority(own)
    with smtp_server() as (inbox, mail_port):
        environment = {
            **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
            **CHEAP_PASSWORDS,
            "INSTANCE_PATH": str(folder),
            "PORT": str(port),
            "PYTHONPATH": str(ROOT),
            "MAIL_URL": f"smtp://127.0.0.1:{mail_port}",
            "TRUSTED_PROXIES": "1",
            "WEB_WORKERS": "1",
            "CORS_ORIGINS": f"http://127.0.0.1:{cors_port}",
            "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
            "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
            **settings,
        }
        command = [sys.executable, "-P", "-m", "app.serve", "--empty"]
        serving = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        made = Instance(
            f"http://127.0.0.1:{port}", folder, environment, inbox, authority, cors_port
        )
        try:
            _wait(made, serving)
            yield made
        finally:
            if "core" in vars(made):
                with made.core.app_context():
                    close_all()
            serving.terminate()
            serving.wait(PATIENCE)


def _wait(made: Instance, serving: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and serving.poll() is None:
        try:
            with urllib.request.urlopen(f"{made.url}/readyz", timeout=30):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the instance did not start; its logs are in {made.folder}/logs")


@pytest.fixture
def receiver(instance: Instance) -> Iterator[Receiver]:
    """A receiver of webhooks that the instance may call."""
    with receiver_of(instance) as made:
        yield made


def receiver_of(instance: Instance) -> Receiver:
    """Likewise, to be entered."""
    return Receiver(instance.authority.certificate_for(["127.0.0.1"]))


@pytest.fixture(scope="package")
def chrome() -> Iterator[Browser]:
    """One browser for all tests of pages, which are skipped where there is none."""
    with ExitStack() as stack:
        try:
            browser = stack.enter_context(chromium())
        except NoBrowser as missing:
            skip(str(missing))
        yield browser


class Visitor:
    """Somebody with a browser of their own (cookies, address), who looks at one page at a time."""

    def __init__(self, chrome: Browser, instance: Instance, **options: object) -> None:
        self.instance = instance
        self.address = str(ipaddress.ip_address(next(_addresses)))
        self.context: BrowserContext = chrome.new_context(
            extra_http_headers={"X-Forwarded-For": self.address},
            **options,  # type: ignore[arg-type]
        )
        self.faults: list[str] = []
        self.expected: list[str] = ["the server responded with a status of"]  # error pages
        self.context.on("console", self._complain)
        self.context.on("request", self._check_host)
        self.context.on("weberror", lambda error: self.faults.append(str(error.error)))
        self.context.set_default_timeout(1000 * PATIENCE)
        self.page: Page = self.context.new_page()

    def _check_host(self, request: Request) -> None:
        """Pages ask nobody but the instance, which may be the only one that can be reached."""
        is_own = request.url.startswith((self.instance.url, "data:", "blob:"))
        if not (is_own or request.is_navigation_request()):
            self.faults.append(f"{request.url} was asked")

    def _complain(self, message: ConsoleMessage) -> None:
        """Note an error of the console."""
        if message.type in ("error", "warning"):
            self.faults.append(f"{message.page and message.page.url}: {message.text}")

    def move(self) -> None:
        """Come from another address from now on: those who post often are limited."""
        self.address = str(ipaddress.ip_address(next(_addresses)))
        self.context.set_extra_http_headers({"X-Forwarded-For": self.address})

    def go(self, path: str) -> Page:
        """A page of the instance, or whatever an address leads to."""
        self.page.goto(path if "://" in path else self.instance.url + path)
        return self.page

    def fill(self, **fields: str) -> None:
        """Fill in fields by their labels' names, such as ``new_password``."""
        for name, text in fields.items():
            self.page.locator(f"main [name={name}]:visible").fill(text)

    def press(self, button: str) -> None:
        """Press a button of the page by what it says."""
        self.page.get_by_role("button", name=button, exact=True).click()

    def choose(self, menu: str, item: str) -> None:
        """Open a menu of the navigation, such as ``You``, and choose something in it."""
        self.page.wait_for_load_state()
        button = self.page.locator(f"nav button[aria-label^='{menu}']")
        if not button.is_visible():  # on a phone, all menus are open in one
            self.page.get_by_role("button", name="Menu", exact=True).click()
        else:
            button.click()
        self.page.locator("nav .menu").get_by_text(item, exact=True).click()

    def leave(self) -> None:
        """Look no more. Nothing must have gone wrong in the browser but what is ``expected``.

        Only now is that certain: the browser may tell of an error long after it has happened.
        """
        self.context.close()
        is_expected = re.compile("|".join(self.expected))
        assert [each for each in self.faults if not is_expected.search(each)] == []

    @property
    def heading(self) -> str:
        return self.page.locator("h1").inner_text()

    @property
    def path(self) -> str:
        return self.page.url.removeprefix(self.instance.url)


class Owner(Visitor):
    """The owner of a new account, on its first steps, with scripts turned on."""

    def __init__(self, chrome: Browser, instance: Instance, **options: object) -> None:
        super().__init__(chrome, instance, **{"viewport": DESKTOP} | options)
        self.email = new_email()
        account = instance.canopy(
            "account", "create", "--name", "Hazel Woods", "--plan", "enterprise",
            "--owner-email", self.email, "--owner-password", PASSWORD,
        )  # fmt: skip
        self.key: str = account["api_key"]
        self.slug: str = account["slug"]
        self.go("/login")
        self.fill(email=self.email, password=PASSWORD)
        self.press("Sign in")
        assert self.path == "/welcome"
        self.move()

    def post(self, path: str, **body: object) -> dict[str, Any]:
        """Make something through the API. Returns its record."""
        headers = {"Authorization": f"Bearer {self.key}"}
        response = self.context.request.post(self.instance.url + path, headers=headers, data=body)
        assert response.status == 201, response.text()
        record: dict[str, Any] = response.json()["data"]
        return record


@pytest.fixture
def forester(chrome: Browser, instance: Instance) -> Iterator[Owner]:
    owner = Owner(chrome, instance)
    yield owner
    owner.leave()


def sign_up(visitor: Visitor, email: str, account: str = "Hazel Woods") -> None:
    """Sign a person up, ending on the first steps of their account."""
    visitor.go("/register")
    visitor.fill(name="Jo Hazel", email=email, password=PASSWORD, account_name=account)
    visitor.press("Sign up")
    assert visitor.heading == "Check your email"
    visitor.go(visitor.instance.link_to(email))
    visitor.fill(password=PASSWORD)
    visitor.press("Create account")
    assert visitor.path == "/welcome"
    visitor.move()


@pytest.fixture
def visitor(chrome: Browser, instance: Instance) -> Iterator[Visitor]:
    """A visitor with scripts turned off, as every flow has to work without."""
    made = Visitor(chrome, instance, java_script_enabled=False)
    yield made
    made.leave()
