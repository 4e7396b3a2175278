"""The programs in ``docs/oauth.md``, run unchanged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import requests
from playwright.sync_api import Browser, expect

from config import ROOT
from tests.browser.conftest import Instance, Visitor
from tests.browser.oauth.running import SECONDS, Program, loopback, program
from tests.browser.oauth.woods import Tokens, Woods, call, numbers, revoke_access
from tests.docs.pages import blocks

pytestmark = pytest.mark.slow


def code(language: str, part: str) -> str:
    """The documented program in this language that contains ``part``."""
    page = (ROOT / "docs" / "oauth.md").read_text()
    (found,) = (
        each.text for each in blocks(page) if each.language == language and part in each.text
    )
    return found


class Developer:
    """Runs a documented program, in its own folder."""

    def __init__(self, woods: Woods, language: str, part: str, folder: Path) -> None:
        self.woods, self.language, self.folder = woods, language, folder
        self.code = code(language, part)
        self.name = f"Field notes {next(numbers)}"
        self.application = woods.register(
            self.name, "projects:read", "offline_access", public=language == "javascript"
        )

    def run(self) -> Program:
        settings = {
            "PATH": os.environ["PATH"],
            "CANOPY": self.woods.instance.url,
            "CLIENT_ID": self.application.id,
            "CLIENT_SECRET": self.application.secret,
        }
        return program(self.language, self.code, self.folder, settings)

    @property
    def file(self) -> Path:
        """The file in which the program stores its tokens."""
        return self.folder / "tokens.json"

    def tokens(self) -> Tokens:
        tokens: Tokens = json.loads(self.file.read_text())
        return tokens

    def revoke(self, token: str) -> None:
        form = {"token": token, "client_id": self.application.id}
        secret = self.application.secret
        form |= {} if secret is None else {"client_secret": secret}
        url = f"{self.woods.instance.url}/oauth/revoke"
        assert requests.post(url, form, timeout=SECONDS).status_code == 200


@pytest.mark.parametrize(
    ("language", "part"), [("python", "import requests"), ("javascript", "openid-client")]
)
def test_a_documented_program_stores_and_refreshes_tokens(
    visitor: Visitor, instance: Instance, woods: Woods, tmp_path: Path, language: str, part: str
) -> None:
    developer = Developer(woods, language, part, tmp_path)
    project = call(instance, woods.key, method="POST", json={"name": developer.name})
    assert project.status_code == 201, project.text

    asking = developer.run()
    woods.ask(visitor, asking.address())
    visitor.press("Allow")
    assert developer.name in asking.finish()
    assert developer.file.stat().st_mode & 0o777 == 0o600

    first = developer.tokens()
    assert developer.name in developer.run().finish()
    assert developer.tokens() == first

    developer.revoke(first["access_token"])
    assert developer.name in developer.run().finish()
    assert developer.tokens()["refresh_token"] != first["refresh_token"]

    revoke_access(visitor, developer.name)
    asking = developer.run()
    visitor.go(asking.address())
    assert visitor.heading == f"{developer.name} asks for access"
    visitor.press("Allow")
    assert developer.name in asking.finish()


INDEX = """
<!doctype html>
<button>Ask</button>
<pre></pre>
<script type="module">
  import { ask, comeBack, projects } from "/app.js";
  const shown = document.querySelector("pre");
  document.querySelector("button").onclick = ask;
  try {
    const token = await comeBack();
    if (token) shown.innerText = JSON.stringify(await projects(token));
  } catch (error) {
    shown.innerText = `${error}`;
  }
</script>
"""


def test_the_documented_program_for_browsers(
    chrome: Browser, instance: Instance, woods: Woods
) -> None:
    """A page of an origin in ``CORS_ORIGINS`` can get tokens; one of another origin cannot."""
    application = woods.register("Map", "projects:read", uris=["http://127.0.0.1/"], public=True)
    text = code("javascript", "sessionStorage").replace("app_…", application.id)
    files = {"/": INDEX, "/app.js": text.replace("http://127.0.0.1:8000", instance.url)}
    response = call(instance, woods.key, method="POST", json={"name": "Swamp"})
    assert response.status_code == 201, response.text
    visitor = Visitor(chrome, instance)
    visitor.context.set_extra_http_headers({})  # a page of another origin may not send them
    shown = visitor.page.locator("pre")

    with loopback(files, port=instance.cors_port) as named:
        visitor.go(named.origin)
        visitor.press("Ask")
        visitor.page.wait_for_url(f"{instance.url}/login**")
        woods.enter(visitor)
        visitor.press("Allow")
        expect(shown).to_contain_text('"name":"Swamp"')
        assert visitor.page.url == f"{named.origin}/"
        visitor.press("Ask")
        with visitor.page.expect_response(f"{instance.url}/oauth/token") as answered:
            visitor.press("Allow")  # on this device anybody could pose as a page without a secret
        assert answered.value.status == 200
        expect(shown).to_contain_text('"name":"Swamp"')

    with loopback(files) as other:
        visitor.go(other.origin)
        visitor.press("Ask")
        visitor.press("Allow")
        expect(shown).to_contain_text("Failed to fetch")
    visitor.context.close()  # not leave(): the browser complains of the last, and of other hosts
