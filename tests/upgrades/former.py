"""A former version of the service: its code in a folder, and an instance of it that runs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypeVar

import requests
from werkzeug.wrappers import Response

from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.make.browser import Browser, Page
from tests.make.mails import link_in
from tests.ports import free_port

PUBLIC_URL = "http://localhost"  # passkeys are made for its host
SECRET_KEY = "a-key-for-tests-of-upgrades-which-protects-nothing"
T = TypeVar("T")


def check_out(commit: str, folder: Path) -> Path:
    """The code of a commit in a folder, with an environment of its own. Returns its Python."""
    tree = folder / "tree"
    tree.mkdir()
    archive = subprocess.run(
        ["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE, check=True
    )
    subprocess.run(["tar", "x", "-C", str(tree)], input=archive.stdout, check=True)
    uv, python = Path(sys.executable).with_name("uv"), tree / ".venv/bin/python"
    for command in (
        ("venv", "--quiet", "--python", sys.executable, str(tree / ".venv")),
        ("pip", "install", "--quiet", "--python", str(python), "-r", "requirements.txt"),
    ):
        subprocess.run([str(uv), *command], cwd=tree, check=True)
    return python


class Former:
    """An instance of a former version, as whoever runs and uses it sees it."""

    def __init__(
        self, python: Path, instance: Path, settings: Mapping[str, str], tree: Path | None = None
    ) -> None:
        self._python, self.instance, self.port = python, instance, free_port()
        self._tree = tree or python.parents[2]
        kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        self._environ = {
            **kept,
            "INSTANCE_PATH": str(instance),
            "SECRET_KEY": SECRET_KEY,
            "PUBLIC_URL": PUBLIC_URL,
            "PORT": str(self.port),
            "LOG_LEVEL": "error",
            "WEB_WORKERS": "1",
            "RATE_LIMIT_DISABLED": "true",
            "PASSWORD_TIME_COST": "1",
            "PASSWORD_MEMORY_KIB": "8",
            "PASSWORD_PARALLELISM": "1",
            **settings,
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Serve until the end of the block, then stop in order."""
        command = [str(self._python), "-m", "app.serve", "--empty"]
        process = subprocess.Popen(
            command, cwd=self._tree, env=self._environ, stdout=subprocess.DEVNULL
        )
        try:
            wait(lambda: process.poll() is not None or self.request("GET", "/readyz").ok)
            assert process.poll() is None
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)

    def command(self, *words: str) -> Any:
        """What a command prints with ``--json``."""
        command = [str(self._python), "-m", "app.cli", *words, "--json"]
        done = captured(command, cwd=self._tree, env=self._environ)
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout)

    def request(self, method: str, path: str, **options: Any) -> requests.Response:
        """The response to a request; redirects are not followed."""
        url = f"http://127.0.0.1:{self.port}{path}"
        headers = {"Host": "localhost"} | options.pop("headers", {})
        with requests.Session() as session:
            session.trust_env = False
            options = {"timeout": 60, "allow_redirects": False} | options
            return session.request(method, url, headers=headers, **options)

    def mailed_link(self, recipient: str, *, subject: str = "") -> str:
        """The first link of the mail that an address got last, with these words in its subject."""

        def found() -> str | None:
            messages = (
                message_from_bytes(path.read_bytes(), policy=policy.default)
                for path in self._mails()
            )
            own = [each for each in messages if _is_about(each, recipient, subject)]
            own.sort(key=lambda each: str(each["Message-ID"]))
            return link_in(own[-1]) if own else None

        return wait(found).removeprefix(PUBLIC_URL)

    def _mails(self) -> Iterator[Path]:
        return (self.instance / "mails").glob("*.eml")


def _is_about(message: EmailMessage, recipient: str, subject: str) -> bool:
    return message["To"] == recipient and subject in str(message["Subject"])


class Caller:
    """A program that calls the API with a credential."""

    def __init__(self, former: Former, token: str) -> None:
        self.former, self.token = former, token

    def get(self, path: str) -> Any:
        return self.send("GET", path)

    def post(self, path: str, body: Any = None, **options: Any) -> Any:
        return self.send("POST", path, json=body, **options)

    def put(self, path: str, body: Any) -> Any:
        return self.send("PUT", path, json=body)

    def delete(self, path: str) -> None:
        self.send("DELETE", path)

    def send(self, method: str, path: str, **options: Any) -> Any:
        """The data of a response, which must not be an error; None when it has none."""
        headers = {"Authorization": f"Bearer {self.token}"} | options.pop("headers", {})
        response = self.former.request(method, path, headers=headers, **options)
        assert response.ok, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()["data"] if response.content else None


class _Shown(Response):
    """A response with the text that Werkzeug's of tests have."""

    @property
    def text(self) -> str:
        return self.get_data(as_text=True)


class FormerBrowser(Browser):
    """A browser at a former version."""

    def __init__(self, former: Former) -> None:
        self._former = former
        self.cookies: dict[str, str] = {}
        self.headers = {"Accept": "text/html", "User-Agent": "Mozilla/5.0 (Linux) Firefox/140.0"}
        self.page: Page | None = None

    def _open(self, method: str, path: str, *, follow: bool, **options: Any) -> Page:
        headers = self.headers | options.pop("headers", {})
        if kind := options.pop("content_type", None):
            headers["Content-Type"] = kind
        answer = self._former.request(
            method, path, headers=headers, cookies=self.cookies, **options
        )
        self.cookies |= answer.cookies.get_dict()
        location = answer.headers.get("Location", "").removeprefix(PUBLIC_URL)
        if follow and answer.status_code in (302, 303) and location.startswith("/"):
            return self._open("GET", location, follow=True)
        shown = {name: answer.headers[name] for name in ("Content-Type", "Location")
                 if name in answer.headers}  # fmt: skip
        page = Page(path, _Shown(answer.content, answer.status_code, shown))  # type: ignore[arg-type]
        if page.status != 303:
            self.page = page
        return page


def wait(condition: Callable[[], T | None], seconds: float = 180) -> T:
    """The first true result of ``condition``. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(requests.ConnectionError):
            if result := condition():
                return result
        time.sleep(0.2)
    raise TimeoutError(f"not within {seconds} s: {condition}")
