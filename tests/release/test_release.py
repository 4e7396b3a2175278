"""bin/release makes a whole release or changes nothing, in a repository as git makes it."""

from __future__ import annotations

import datetime
import runpy
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from app.values.version import VERSION
from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.git import SETTINGS, commit_all, git, make_repository
from tests.processes.instances import wait_for

_SCRIPT = runpy.run_path(str(ROOT / ".ci/release.py"))
NUMBER, Refused = _SCRIPT["NUMBER"], _SCRIPT["Refused"]
with_number, with_release = _SCRIPT["with_number"], _SCRIPT["with_release"]
VERSION_FILE = "app/values/version.py"
UNRELEASED = "### Upgrade\n\n- Nothing to do.\n\n### Added\n\n- A bear.\n"
CHANGELOG = f"# Changelog\n\n## Unreleased\n\n{UNRELEASED}\n## 1.2.3 - 2026-01-02\n\n- A bee.\n"
FILES = {
    "CHANGELOG.md": CHANGELOG,
    VERSION_FILE: '"""Words."""\n\nVERSION: Final = "1.2.3"\n\nOTHER = "1.2.3"\n',
    **{name: (ROOT / name).read_text() for name in (".ci/release.py", "bin/_python.sh")},
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    make_repository(folder, FILES)
    shutil.copy(ROOT / "bin/release", folder / "bin")
    commit_all(folder, "The command")
    return folder


def release(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run it from another folder."""
    command = [str(checkout / "bin/release"), *words]
    return captured(command, cwd=checkout.parent, env=SETTINGS, timeout=60)


def state(checkout: Path) -> tuple[str, ...]:
    """What a release would change: branches, tags, the index, and the files."""
    references = git(checkout, "for-each-ref")
    status = git(checkout, "status", "--porcelain", "--untracked-files=all")
    return references, status, *((checkout / name).read_text() for name in FILES)


def put_hook(checkout: Path, name: str, script: str) -> None:
    path = checkout / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_a_release(checkout: Path) -> None:
    before = git(checkout, "rev-parse", "HEAD")
    done = release(checkout, "1.3.0")
    assert (done.returncode, done.stderr) == (0, "")
    today = datetime.date.today().isoformat()
    assert (checkout / "CHANGELOG.md").read_text() == CHANGELOG.replace(
        "## Unreleased\n", f"## Unreleased\n\n## 1.3.0 - {today}\n"
    )
    assert (checkout / VERSION_FILE).read_text() == FILES[VERSION_FILE].replace(
        'VERSION: Final = "1.2.3"', 'VERSION: Final = "1.3.0"'
    )
    assert git(checkout, "status", "--porcelain") == ""
    assert git(checkout, "rev-parse", "main~1") == before
    assert git(checkout, "log", "-1", "--format=%s") == "Release 1.3.0"
    assert git(checkout, "cat-file", "-t", "v1.3.0") == "tag"
    made = git(checkout, "rev-parse", "v1.3.0^{commit}")
    assert made == git(checkout, "rev-parse", "main")
    assert "git push --atomic origin main v1.3.0\n" in done.stdout
    assert f"--build-arg VERSION=1.3.0 --build-arg REVISION={made} --tag canopy:1.3.0 ." in (
        done.stdout
    )


@pytest.mark.slow
def test_the_next_release_needs_something_to_release(checkout: Path) -> None:
    assert release(checkout, "1.2.4").returncode == 0
    before = state(checkout)
    done = release(checkout, "1.2.5")
    assert done.returncode == 1
    assert done.stderr == 'CHANGELOG.md has nothing under "Unreleased".\n'
    assert state(checkout) == before


def test_a_trial_changes_nothing(checkout: Path) -> None:
    before = state(checkout)
    done = release(checkout, "--dry-run", "2.0.0")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1.2.3 would become 2.0.0, tagged v2.0.0.\n")
    assert state(checkout) == before


def test_everything_in_the_way_is_said_at_once(checkout: Path) -> None:
    git(checkout, "tag", "v9.0.0")
    git(checkout, "switch", "--quiet", "--create", "other")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n")
    before = state(checkout)
    done = release(checkout, "9.0.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "Releases are made on main; this is other.",
        "Commit or remove these changes first:",
        " M CHANGELOG.md",
        "There is a tag v9.0.0 already.",
        "9.0.0 cannot follow 1.2.3; possible are 1.2.4, 1.3.0, 2.0.0.",
        'The first section of CHANGELOG.md is not "## Unreleased".',
    ]
    assert state(checkout) == before


def test_a_file_that_git_does_not_know_is_in_the_way(checkout: Path) -> None:
    (checkout / "notes").touch()
    done = release(checkout, "1.3.0")
    assert (done.returncode, done.stderr) == (
        1,
        "Commit or remove these changes first:\n?? notes\n",
    )


def test_a_checkout_within_another_repository_is_refused(checkout: Path) -> None:
    shutil.rmtree(checkout / ".git")
    git(checkout.parent, "init", "--quiet")
    done = release(checkout, "1.3.0")
    assert done.returncode == 1
    assert "is not a repository of its own" in done.stderr


@pytest.mark.parametrize("hook", ["pre-commit", "commit-msg"])
def test_a_hook_that_refuses_the_commit_leaves_everything_as_it_was(
    checkout: Path, hook: str
) -> None:
    put_hook(checkout, hook, "echo It is Friday. >&2; exit 1")
    before = state(checkout)
    done = release(checkout, "1.3.0")
    assert done.returncode == 1
    assert "It is Friday." in done.stderr
    assert "nothing is changed" in done.stderr
    assert state(checkout) == before


def test_a_tag_that_fails_takes_the_commit_back(checkout: Path) -> None:
    # A tag v1.3.0/x leaves no place for one named v1.3.0.
    git(checkout, "tag", "v1.3.0/x")
    before = state(checkout)
    done = release(checkout, "1.3.0")
    assert done.returncode == 1
    assert "git tag failed" in done.stderr
    assert state(checkout) == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_release_that_is_interrupted_leaves_everything_as_it_was(
    checkout: Path, number: signal.Signals
) -> None:
    committed, ended = checkout.with_name("committed"), checkout.with_name("ended")
    # It runs after the commit was made, and holds up git.
    waiting = f"while [ ! -e '{ended}' ]; do sleep 0.1; done"
    put_hook(checkout, "post-commit", f"exec >&- 2>&-; touch '{committed}'; {waiting}")
    before = state(checkout)
    with subprocess.Popen([checkout / "bin/release", "1.3.0"], env=SETTINGS) as process:
        try:
            wait_for(committed.exists, 60)
            assert git(checkout, "log", "-1", "--format=%s") == "Release 1.3.0"
            process.send_signal(number)
            assert process.wait(60) == 130
        finally:
            ended.touch()
    assert state(checkout) == before


@pytest.mark.slow
def test_the_address_of_the_repository_is_printed_without_credentials(
    checkout: Path, subtests: pytest.Subtests
) -> None:
    for address, source in {
        "git@example.org:wood/canopy.git": "https://example.org/wood/canopy",
        "ssh://git@example.org:22/wood/canopy": "https://example.org/wood/canopy",
        "https://ana:secret@example.org:8443/wood/canopy.git": (
            "https://example.org:8443/wood/canopy"
        ),
        "/srv/canopy.git": None,
    }.items():
        with subtests.test(address):
            git(checkout, "config", "remote.origin.url", address)
            done = release(checkout, "--dry-run", "1.3.0")
            assert (f"SOURCE={source} " in done.stdout) is (source is not None)
            assert ("SOURCE" in done.stdout) is (source is not None)
            assert "secret" not in done.stdout


@pytest.mark.parametrize("words", [[], ["1.3.0", "1.4.0"], ["--force"]])
def test_wrong_usage(checkout: Path, words: list[str]) -> None:
    done = release(checkout, *words)
    assert (done.returncode, done.stderr) == (2, "usage: bin/release [--dry-run] X.Y.Z\n")


def test_help(checkout: Path) -> None:
    assert release(checkout, "--help").stdout.startswith("usage: bin/release [--dry-run] X.Y.Z\n")


def test_only_the_next_numbers_can_follow(subtests: pytest.Subtests) -> None:
    source = FILES[VERSION_FILE]
    for number in ("1.2.4", "1.3.0", "2.0.0"):
        with subtests.test(number):
            assert with_number(source, number)[0] == "1.2.3"
    for number in ("1.2.3", "1.2.5", "1.3.1", "1.2", "v1.3.0", "01.3.0", "1.3.0-rc.1", ""):
        with subtests.test(number), pytest.raises(Refused, match="cannot follow"):
            with_number(source, number)


def test_the_changelog_must_say_how_to_upgrade() -> None:
    for content in ("- A bear.\n", "### Upgrade\n\n### Added\n\n- A bear.\n"):
        changelog = CHANGELOG.replace(UNRELEASED, content)
        with pytest.raises(Refused, match="Upgrade"):
            with_release(changelog, "1.3.0", "2026-02-03")


def test_the_first_release() -> None:
    text = with_release(f"# Changelog\n\n## Unreleased\n\n{UNRELEASED}", "0.1.0", "2026-02-03")
    assert text == f"# Changelog\n\n## Unreleased\n\n## 0.1.0 - 2026-02-03\n\n{UNRELEASED}"


def test_the_version_of_canopy_can_be_raised() -> None:
    match = NUMBER.fullmatch(VERSION)
    assert match
    number = f"{int(match[1]) + 1}.0.0"
    former, source = with_number((ROOT / VERSION_FILE).read_text(), number)
    assert former == VERSION
    assert f'\nVERSION: Final = "{number}"\n' in source
