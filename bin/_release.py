"""Makes a release: moves the changelog's section, sets the version, commits and tags.

Standard library and git only. Everything is checked before anything is changed, and what a step
has changed is undone when a later one fails.
"""

import datetime
import re
import signal
import subprocess
import sys
from pathlib import Path
from shlex import quote
from typing import NamedTuple, NoReturn
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
BRANCH = "main"
CHANGELOG, VERSION_FILE = "CHANGELOG.md", "app/values/version.py"

HELP = """\
usage: bin/release [--dry-run] X.Y.Z

Makes a release of this checkout, which must be clean and on the branch main. What CHANGELOG.md has
under "Unreleased" gets the number and today's date, app/values/version.py gets the number, both are
committed, and the commit gets the annotated tag vX.Y.Z. Nothing is pushed: the commands for that,
and for the image, are printed. If a step fails, everything is as it was before.

X.Y.Z must follow the present version by the rules of https://semver.org/.

  --dry-run   check everything and say what would be done, but change nothing
"""

NUMBER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_VERSION = re.compile(r'^(VERSION: Final = ")([^"]*)(")$', re.MULTILINE)
_SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
_UPGRADE = re.compile(r"^### Upgrade\n+(?!#)\S", re.MULTILINE)
# host:path, as ssh takes it
_SSH = re.compile(r"(?:[\w.-]+@)?([\w.-]+\.[a-z]+):(?!//)(.+)")


class Refused(Exception):
    """The release is not possible. The message says why, in whole sentences."""


class Release(NamedTuple):
    """The former version and the new one, and the two files, by their paths from the root, as they
    are and as they will be."""

    former: str
    number: str
    files_before: dict[str, str]
    files: dict[str, str]

    @property
    def tag(self) -> str:
        return f"v{self.number}"


def main(arguments: list[str]) -> int:
    """Make the release. 1: it is not possible, or a step failed; 2: wrong usage."""
    if {"-h", "--help"} & set(arguments):
        print(HELP, end="")
        return 0
    is_trial = "--dry-run" in arguments
    numbers = [word for word in arguments if word != "--dry-run"]
    if len(numbers) != 1 or numbers[0].startswith("-"):
        print(HELP.splitlines()[0], file=sys.stderr)
        return 2
    try:
        release = plan(numbers[0])
        if is_trial:
            print(f"{release.former} would become {release.number}, tagged {release.tag}.")
        else:
            make(release)
            print(f"Released {release.number} as {git('rev-parse', 'HEAD')}, tagged {release.tag}.")
        print(publishing(release, "COMMIT" if is_trial else git("rev-parse", "HEAD")))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def plan(number: str) -> Release:
    """Check everything, and read what the release will change.

    Raises:
        Refused: something is in the way; the message has a line for each such thing.
    """
    problems = list(_problems_of_repository(number))
    texts = {name: (ROOT / name).read_text("utf-8") for name in (CHANGELOG, VERSION_FILE)}
    former, files = "", {}
    try:
        former, files[VERSION_FILE] = with_number(texts[VERSION_FILE], number)
    except Refused as error:
        problems.append(str(error))
    try:
        today = datetime.date.today().isoformat()
        files[CHANGELOG] = with_release(texts[CHANGELOG], number, today)
    except Refused as error:
        problems.append(str(error))
    if problems:
        raise Refused("\n".join(problems))
    return Release(former, number, texts, files)


def _problems_of_repository(number: str) -> list[str]:
    if git("rev-parse", "--show-toplevel") != str(ROOT):
        raise Refused(f"{ROOT} is not a repository of its own.")
    found = []
    branch = git("branch", "--show-current") or "no branch"
    if branch != BRANCH:
        found.append(f"Releases are made on {BRANCH}; this is {branch}.")
    if changes := git("status", "--porcelain"):
        found.append(f"Commit or remove these changes first:\n{changes}")
    if git("tag", "--list", f"v{number}"):
        found.append(f"There is a tag v{number} already.")
    return found


def with_number(source: str, number: str) -> tuple[str, str]:
    """The present version in the source of ``app/values/version.py``, and that source with
    ``number`` instead.

    Raises:
        Refused: ``number`` cannot follow, or there is no version.
    """
    match = _VERSION.search(source)
    present = NUMBER.fullmatch(match[2]) if match else None
    if not (match and present):
        raise Refused(f"{VERSION_FILE} has no line VERSION with a number.")
    major, minor, patch = map(int, present.groups())
    followers = [f"{major}.{minor}.{patch + 1}", f"{major}.{minor + 1}.0", f"{major + 1}.0.0"]
    if number not in followers:
        raise Refused(f"{number} cannot follow {match[2]}; possible are {', '.join(followers)}.")
    return match[2], source[: match.start(2)] + number + source[match.end(2) :]


def with_release(changelog: str, number: str, date: str) -> str:
    """The changelog with what was unreleased under ``number`` and ``date``, below a new, empty
    section.

    Raises:
        Refused: nothing is unreleased, or it does not say how to upgrade.
    """
    sections = list(_SECTION.finditer(changelog))
    if not sections or sections[0][1] != "Unreleased":
        raise Refused(f'The first section of {CHANGELOG} is not "## Unreleased".')
    begin = sections[0].end()
    end = sections[1].start() if len(sections) > 1 else len(changelog)
    content = changelog[begin:end].strip()
    if not content:
        raise Refused(f'{CHANGELOG} has nothing under "Unreleased".')
    if not _UPGRADE.search(content):
        raise Refused(
            f'{CHANGELOG} has no subsection "### Upgrade" under "Unreleased": say what an operator '
            "has to do, if only that it is nothing."
        )
    rest = changelog[end:]
    return f"{changelog[:begin]}\n## {number} - {date}\n\n{content}\n" + (rest and f"\n{rest}")


def make(release: Release) -> None:
    """Write the files, commit and tag.

    Raises:
        Refused: a step failed; everything is as it was.
        KeyboardInterrupt: the same, as the process was told to end.
    """
    before = git("rev-parse", "HEAD")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        _write(release.files)
        git("commit", "--quiet", "--message", f"Release {release.number}", "--", *release.files)
        git("tag", "--annotate", release.tag, "--message", f"Canopy {release.number}")
    except BaseException as error:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        _undo(release, before)
        if isinstance(error, OSError | Refused):
            raise Refused(f"{error}\nNothing was released, and nothing is changed.") from None
        raise


def _write(files: dict[str, str]) -> None:
    for name, text in files.items():
        (ROOT / name).write_text(text, "utf-8")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _undo(release: Release, before: str) -> None:
    """Bring back the files, the branch and the tags. The index has changed only if it committed."""
    _write(release.files_before)
    if git("tag", "--list", release.tag):
        git("tag", "--delete", release.tag)
    if git("rev-parse", "HEAD") != before:
        git("reset", "--quiet", "--soft", before)
        git("reset", "--quiet", before, "--", *release.files)


def publishing(release: Release, commit: str) -> str:
    """What to run to publish a release."""
    remote = git("config", "--default", "origin", f"branch.{BRANCH}.remote")
    given = {"VERSION": release.number, "REVISION": commit}
    if source := _source(remote):
        given["SOURCE"] = source
    arguments = " ".join(f"--build-arg {name}={quote(value)}" for name, value in given.items())
    return (
        "Nothing is pushed. To publish it, and to build its image:\n\n"
        f"  git push --atomic {remote} {BRANCH} {release.tag}\n"
        f"  docker build {arguments} --tag canopy:{release.number} ."
    )


def _source(remote: str) -> str:
    """The address of the repository for people, without credentials; empty if there is none."""
    address = git("config", "--default", "", f"remote.{remote}.url")
    if ssh := _SSH.fullmatch(address):
        address = f"ssh://{ssh[1]}/{ssh[2]}"
    parts = urlsplit(address)
    if parts.scheme not in ("https", "http", "ssh") or not parts.hostname:
        return ""
    path = parts.path.removesuffix(".git")
    if parts.scheme == "ssh":
        return f"https://{parts.hostname}{path}"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{path}"


def git(*words: str) -> str:
    """What git prints. Raises Refused when it fails."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except FileNotFoundError:
        raise Refused("A release needs git, which is not installed.") from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip()
        raise Refused(f"git {words[0]} failed: {reason}")
    return done.stdout.rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
