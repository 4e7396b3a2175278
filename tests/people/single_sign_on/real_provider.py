"""A real OpenID Connect provider, panva's oidc-provider (``tests/node/openid_provider.mjs``)."""

from __future__ import annotations

import itertools
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import requests

from tests.node import HERE, NODE, modules

CLIENT_ID = "canopy:tests"
CLIENT_SECRET = "a secret % with + signs"
SECONDS = 60
_numbers = itertools.count(1)


class RealProvider:
    """The provider, and a browser that signs in there."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of an instance whose people sign in there."""
        return {
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT_ID,
            "oidc_client_secret": CLIENT_SECRET,
            "oidc_name": "Green Woods",
        }

    def sign_in(self, address: str, person: dict[str, Any] | None) -> str:
        """Sign in where an instance sends a browser. The address that it is sent back to.

        Args:
            person: the claims of who signs in; None: they cancel.
        """
        browser = requests.Session()
        form = {"do": "out"} if person is None else {"do": "in", "person": json.dumps(person)}
        asked = browser.get(address, timeout=SECONDS)
        assert "/interaction/" in asked.url, (asked.url, asked.text)
        response = browser.post(asked.url, data=form, allow_redirects=False, timeout=SECONDS)
        location = urljoin(asked.url, response.headers["Location"])
        while location.startswith(self.issuer):
            response = browser.get(location, allow_redirects=False, timeout=SECONDS)
            assert "Location" in response.headers, response.text
            location = urljoin(location, response.headers["Location"])
        return location


def claims(**others: Any) -> dict[str, Any]:
    """Those of somebody whom nobody knows yet, with a verified address."""
    sub = f"subject-{next(_numbers)}-{id(_numbers)}"
    person = {
        "sub": sub,
        "email": f"{sub}@woods.example",
        "email_verified": True,
        "name": "Ada Birch",
    }
    return {name: value for name, value in (person | others).items() if value is not None}


@contextmanager
def real_provider(
    folder: Path, *callbacks: str, all_claims: bool = False
) -> Iterator[RealProvider]:
    """The provider, for instances with these redirect URIs.

    Args:
        all_claims: whether it has the address in the ID token, and not at the userinfo endpoint.
    """
    folder.mkdir(exist_ok=True)
    packages, script = folder / "node_modules", folder / "openid_provider.mjs"
    if not packages.exists():
        packages.symlink_to(modules())
    script.write_bytes((HERE / script.name).read_bytes())
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [str(NODE), script.name, "all" if all_claims else "few", *callbacks],
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=log,
        )
    try:
        assert process.stdout is not None
        issuer = process.stdout.readline().strip()
        assert issuer, (folder / "log").read_text()
        yield RealProvider(issuer)
    finally:
        process.terminate()
        process.communicate(timeout=SECONDS)
