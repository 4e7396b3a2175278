"""The commands in ``bin`` make what they need, once, whatever they find."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from uv import find_uv_bin

from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.outbound.authority import make_authority
from tests.processes.checkout import Checkout, finish
from tests.processes.mirror import put_wheel, serving
from tests.waiting import wait_for

# It runs, but reaches no registry.
NPM_ALONE = "#!/bin/sh\n[ $1 = --version ] && echo 10.0.0\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def ready(checkout: Checkout) -> Checkout:
    """One that was set up for running."""
    code, _ = checkout.run("canopy")
    assert code == 0
    return checkout


def test_the_first_run_makes_the_environment(checkout: Checkout, tmp_path: Path) -> None:
    code, said = checkout.run("canopy", "one", "two words")
    assert code == 0
    output, errors = said.split(".venv\n")[0], said.split(".venv\n")[1]
    assert output.startswith("['one', 'two words']\n")
    assert output.endswith("/a clone/")
    assert [line.split()[0] for line in errors.splitlines()] == ["Creating", "Installing", "Done"]
    asked = f"--python {checkout.venv}/bin/python -r {checkout.root}/requirements.txt"
    options = "--quiet --require-hashes --index-strategy unsafe-best-match"
    assert checkout.installs() == [f"pip install {options} {asked}"]
    link = tmp_path / "linked"
    link.symlink_to(checkout.root / "bin" / "canopy")
    for command in ("canopy", str(link)):  # the second run is quiet
        code, said = checkout.run(command, cwd=tmp_path)
        assert (code, said) == (0, f"[]\n{tmp_path}\n{checkout.venv}\n")
    assert len(checkout.installs()) == 1


def test_variables_of_the_caller_do_not_matter(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('not this one')")
    variables = {
        "PYTHONPATH": str(tmp_path),
        "PYTHONHOME": "/nonexistent",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONSAFEPATH": "1",
        "VIRTUAL_ENV": "/nonexistent",
    }
    for _ in range(2):
        code, said = checkout.run("canopy", cwd=tmp_path, **variables)
        assert code == 0
        assert said.startswith(f"[]\n{tmp_path}\n{checkout.venv}\n")


@pytest.mark.slow
def test_changed_requirements_are_installed_into_it_and_what_is_broken_is_made_anew(
    ready: Checkout,
) -> None:
    kept = ready.venv / "kept"
    kept.touch()
    (ready.root / "requirements.txt").write_text("# changed\n")
    for _ in range(2):
        assert ready.run("canopy")[0] == 0
        assert len(ready.installs()) == 2
    assert kept.exists()
    for link in (ready.venv / "bin").glob("python*"):  # another Python behind it
        link.unlink()
        link.symlink_to("/nonexistent/python")
    assert ready.run("canopy")[0] == 0
    assert len(ready.installs()) == 3
    assert not kept.exists()
    (ready.root / "requirements.txt").write_text("# changed again\n")
    process = ready.start("canopy", UNTIL="/nonexistent")  # which makes half of it
    wait_for(lambda: len(ready.installs()) == 4)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept.touch()
    assert ready.run("canopy")[0] == 0
    assert len(ready.installs()) == 5
    assert not kept.exists()


@pytest.mark.slow
def test_an_install_whose_command_was_killed_is_waited_for(checkout: Checkout) -> None:
    done = checkout.root / "done"
    process = checkout.start("canopy", UNTIL=str(done))
    wait_for(checkout.installs)
    process.kill()  # and not the uv that it started
    following = checkout.start("canopy")
    finish([following], 1, done.touch)
    process.communicate()
    assert following.returncode == 0
    assert len(checkout.installs()) == 2


@pytest.mark.trial
def test_where_the_machines_uv_fails_that_of_pypi_is_tried(checkout: Checkout) -> None:
    requirements = checkout.root / "requirements.txt"
    good = requirements.read_text()
    requirements.write_text("nothing-by-this-name\n")  # without a hash, which is refused at once
    code, said = checkout.run("canopy", FAILS="1")
    assert code == 2
    assert "Trying the uv of PyPI." in said
    assert said.endswith("requirements.txt could not be installed; the reason is above.\n")
    requirements.write_text(good)
    assert checkout.run("canopy", FAILS="1")[0] == 0


@pytest.mark.slow
def test_two_at_once_install_once(checkout: Checkout) -> None:
    done = checkout.root / "done"
    processes = [checkout.start("canopy", UNTIL=str(done)) for _ in range(2)]
    said = finish(processes, 1, done.touch)
    assert [process.returncode for process in processes] == [0, 0]
    assert len(checkout.installs()) == 1
    assert sum("waiting for it" in text for text in said) == 1


@pytest.mark.slow
def test_what_serves_developing_serves_running(checkout: Checkout) -> None:
    code, _ = checkout.run("check")  # which finds no ruff in this environment
    assert code == 1
    assert "requirements-dev.txt" in checkout.installs()[0]
    assert checkout.run("canopy")[0] == 0
    assert len(checkout.installs()) == 1


def test_a_folder_that_cannot_be_written(checkout: Checkout) -> None:
    checkout.venv.touch()  # root may write everywhere, but not in a file as if it were a folder
    code, said = checkout.run("canopy")
    assert code == 2
    assert said.startswith(f"The environment {checkout.venv} cannot be created (")
    assert said.count("\n") == 1


@pytest.mark.slow
def test_an_old_python3_is_passed_over(checkout: Checkout) -> None:
    (checkout.tools / "python3").rename(checkout.tools / "python3.12")
    checkout.put_tool("python3", "#!/bin/sh\nexit 1\n")
    assert checkout.run("canopy")[0] == 0


@pytest.mark.parametrize(
    ("python3", "told"),
    [(None, ""), ("#!/bin/sh\n[ $1 = -I ] && exit 1\necho '; python3 is Python 3.9'\n", "3.9")],
)
def test_no_python_that_will_do(checkout: Checkout, python3: str | None, told: str) -> None:
    (checkout.tools / "python3").unlink()
    if python3:
        checkout.put_tool("python3", python3)
    code, said = checkout.run("serve")
    assert code == 2
    assert said.startswith("Canopy needs Python 3.11 or newer on PATH")
    assert said.count("\n") == 1
    assert told in said


@pytest.mark.slow
def test_without_uv_and_without_a_mirror_pip_installs_it(checkout: Checkout) -> None:
    checkout.put_tool("uv", "#!/bin/sh\nexit 127\n")
    code, said = checkout.run("canopy")
    assert code == 0, said
    assert (checkout.root / ".setup" / "uv" / "bin" / "uv").exists()
    assert checkout.run("canopy")[1].startswith("[]\n")


@pytest.fixture
def mirrored(checkout: Checkout, tmp_path: Path) -> Path:
    """A folder with the two packages that the checkout needs: bees, and uv, which it has not."""
    (checkout.tools / "uv").unlink()
    saying = f'echo "$UV_PYTHON_DOWNLOADS" >"{tmp_path}/downloads"'
    uv = f'#!/bin/sh\n{saying}\nexec "{find_uv_bin()}" "$@"\n'
    folder = tmp_path / "mirror"
    folder.mkdir()
    pins = put_wheel(folder, "uv", {"uv-1.0.data/scripts/uv": uv})
    (checkout.root / "requirements-dev.txt").write_text(pins)
    pins = put_wheel(folder, "bees", {"bees.py": ""})
    (checkout.root / "requirements.txt").write_text(pins)
    return folder


def set_up(checkout: Checkout, **variables: str) -> None:
    """Without the settings of this machine, and without what it has installed before."""
    quiet = {"HOME": str(checkout.root), "XDG_CONFIG_DIRS": str(checkout.root)} | variables
    code, said = checkout.run("canopy", **quiet)
    assert code == 0, said
    assert len(list(checkout.venv.glob("lib/*/site-packages/bees.py"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize("by", ["variables", "file"])
def test_the_index_and_certificate_of_pip_are_those_of_uv(
    checkout: Checkout, mirrored: Path, tmp_path: Path, by: str
) -> None:
    authority = make_authority(tmp_path)
    with serving(mirrored, authority.certificate_for(["127.0.0.1"])) as (index, asked):
        if by == "file":
            file = checkout.root / ".config/pip/pip.conf"
            file.parent.mkdir(parents=True)
            file.write_text(f"[global]\nindex_url = {index}\n[install]\ncert={authority.ca_path}\n")
            set_up(checkout)
        else:
            variables = {"PIP_INDEX_URL": index, "PIP_CERT": str(authority.ca_path)}
            # What is told of an environment is not about this one.
            set_up(checkout, PIP_REQUIRE_VIRTUALENV="1", PIP_USER="1", **variables)
    assert {"/simple/uv/", "/simple/bees/"} <= set(asked)
    assert (tmp_path / "downloads").read_text() == "never\n"


@pytest.mark.slow
def test_pip_without_an_index_is_uv_without_one(checkout: Checkout, mirrored: Path) -> None:
    nowhere = {"PIP_NO_INDEX": "1", "PIP_PROXY": "http://127.0.0.1:1"}
    set_up(checkout, PIP_FIND_LINKS=f"/nonexistent {mirrored}", **nowhere)


@pytest.mark.slow
def test_settings_of_uv_go_before_those_of_pip(
    checkout: Checkout, mirrored: Path, tmp_path: Path
) -> None:
    checkout.put_tool("uv", f'#!/bin/sh\nexec "{find_uv_bin()}" "$@"\n')
    authority = make_authority(tmp_path)
    with serving(mirrored, authority.certificate_for(["127.0.0.1"])) as (index, _):
        variables = {"UV_DEFAULT_INDEX": index, "SSL_CERT_FILE": str(authority.ca_path)}
        set_up(checkout, PIP_INDEX_URL="http://127.0.0.1:1/", **variables)


@pytest.fixture
def somebodys(checkout: Checkout) -> Checkout:
    """With an environment that its owner made with the standard library's command."""
    python = str(checkout.tools / "python3")
    subprocess.run([python, "-m", "venv", "--without-pip", str(checkout.venv)], check=True)
    return checkout


@pytest.mark.slow
def test_an_environment_of_somebody_elses_is_used_as_it_is(somebodys: Checkout) -> None:
    before = files_in(somebodys.venv)
    code, said = somebodys.run("canopy")
    assert (code, said.splitlines()[2]) == (0, str(somebodys.venv))
    assert somebodys.run("serve")[0] == 0
    assert files_in(somebodys.venv) == before
    assert somebodys.installs() == []


def test_its_packages_may_be_those_for_its_python(somebodys: Checkout) -> None:
    (site,) = somebodys.venv.glob("lib/python*/site-packages")
    about = site / "Num_Py-2.dist-info" / "METADATA"
    about.parent.mkdir()
    about.write_text("Metadata-Version: 2.1\nName: Num_Py\nVersion: 2\n")
    pins = [f"num-py=={number} ; python_version < '{number}'\n" for number in (1, 2)]
    (somebodys.root / "requirements.txt").write_text("".join(pins))
    assert somebodys.run("canopy")[0] == 0
    (somebodys.root / "requirements.txt").write_text(pins[0])
    assert "it lacks num-py: run" in somebodys.run("canopy")[1]


def test_an_environment_of_somebody_elses_is_left_alone(somebodys: Checkout) -> None:
    before = files_in(somebodys.venv)
    (somebodys.root / "requirements.txt").write_text(
        "flask==3.1.2 \\\n    --hash=sha256:00\nonly-there==1 ; sys_platform == 'win32'\n"
    )
    code, said = somebodys.run("canopy")
    assert code == 2
    assert "was not made by Canopy, which leaves it alone, and it lacks flask: run" in said
    assert said.count("\n") == 1
    assert files_in(somebodys.venv) == before


def files_in(folder: Path) -> dict[str, int]:
    found = (path for path in folder.rglob("*") if "__pycache__" not in path.parts)
    return {str(path): path.lstat().st_mtime_ns for path in found}


def test_serve_goes_on_without_the_browser_code(checkout: Checkout) -> None:
    checkout.put_browser_code_sources()
    checkout.put_tool("npm", NPM_ALONE)
    code, said = checkout.run("serve", "--empty")
    assert (code, said.splitlines()[0]) == (0, "['--empty']")
    assert "npm's registry cannot be used (exit code 1)" in said


def test_ci_does_not_go_on_without_the_browser_code(checkout: Checkout) -> None:
    checkout.put_browser_code_sources()
    checkout.put_tool("npm", NPM_ALONE)
    code, said = checkout.run("test", CI="true")
    assert code == 2
    assert said.endswith("No test may be skipped here (CI=true); what is missing is above.\n")


def test_help_needs_nothing(checkout: Checkout) -> None:
    for command in ("serve", "check", "lock"):
        code, said = checkout.run(command, "--help")
        assert code == 0
        assert said.startswith(f"usage: bin/{command}")
        assert ("--small" in said) is (command == "serve")
    assert not checkout.venv.exists()


def test_ci_runs_the_checks_then_the_tests(tmp_path: Path) -> None:
    (tmp_path / ".ci").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(ROOT / ".ci" / "run", tmp_path / ".ci")
    for name, code in (("check", 0), ("test", 3)):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\necho {name}\nexit {code}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    done = captured([tmp_path / ".ci" / "run"], cwd="/")
    assert (done.returncode, done.stdout) == (3, "check\ntest\n")
