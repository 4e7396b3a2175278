"""Makes a release: moves the changelog's section, sets the version, commits and tags.

Standard library and git only. Everything is checked before anything is changed, and what a step
has changed is undone when a later one fails.
"""

import datetime
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import NoReturn
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
VERSION = re.compile(r'^(VERSION: Final = ")([^"]*)(")$', re.MULTILINE)
SECTION = re.compile(r"^## (.+)\n", re.MULTILINE)
UPGRADE = re.compile(r"^### Upgrade\n+(?!#)\S", re.MULTILINE)


class Refused(Exception):
    """The release is not possible. The message says why, in whole sentences."""


def main(arguments: list[str]) -> int:
    """Make the release. 1: it is not possible, or a step failed; 2: wrong usage."""
    if {"-h", "--help"} & set(arguments):
        print(HELP, end="")
        return 0
    numbers = [word for word in arguments if word != "--dry-run"]
    if len(numbers) != 1 or numbers[0].startswith("-"):
        print(HELP.splitlines()[0], file=sys.stderr)
        return 2
    number = numbers[0]
    try:
        former, files = plan(number)
        if "--dry-run" in arguments:
            print(f"{former} would become {number}, tagged v{number}.")
            print(publishing(number, "COMMIT"))
        else:
            make(number, files)
            commit = git("rev-parse", "HEAD")
            print(f"Released {number} as {commit}, tagged v{number}.")
            print(publishing(number, commit))
    except Refused as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def plan(number: str) -> tuple[str, dict[str, str]]:
    """Check everything; return the present version, and what is to be in the two files.

    Raises:
        Refused: something is in the way; the message has a line for each such thing.
    """
    problems, former, files = list(problems_of_repository(number)), "", {}
    try:
        former, files[VERSION_FILE] = with_number((ROOT / VERSION_FILE).read_text("utf-8"), number)
    except Refused as error:
        problems.append(str(error))
    try:
        today, text = datetime.date.today().isoformat(), (ROOT / CHANGELOG).read_text("utf-8")
        files[CHANGELOG] = with_release(text, number, today)
    except Refused as error:
        problems.append(str(error))
    if problems:
        raise Refused("\n".join(problems))
    return former, files


def problems_of_repository(number: str) -> Iterator[str]:
    if git("rev-parse", "--show-toplevel") != str(ROOT):
        raise Refused(f"{ROOT} is not a repository of its own.")
    branch = git("branch", "--show-current") or "no branch"
    if branch != BRANCH:
        yield f"Releases are made on {BRANCH}; this is {branch}."
    if changes := git("status", "--porcelain"):
        yield f"Commit or remove these changes first:\n{changes}"
    if git("tag", "--list", f"v{number}"):
        yield f"There is a tag v{number} already."


def with_number(source: str, number: str) -> tuple[str, str]:
    """The present version in the source of ``app/values/version.py``, and that source with
    ``number`` instead.

    Raises:
        Refused: ``number`` cannot follow, or there is no version.
    """
    match = VERSION.search(source)
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
    sections = list(SECTION.finditer(changelog))
    if not sections or sections[0][1] != "Unreleased":
        raise Refused(f'The first section of {CHANGELOG} is not "## Unreleased".')
    begin = sections[0].end()
    end = sections[1].start() if len(sections) > 1 else len(changelog)
    content = changelog[begin:end].strip()
    if not content:
        raise Refused(f'{CHANGELOG} has nothing under "Unreleased".')
    if not UPGRADE.search(content):
        raise Refused(
            f'{CHANGELOG} has no subsection "### Upgrade" under "Unreleased": say what an operator '
            "has to do, if only that it is nothing."
        )
    rest = changelog[end:]
    return f"{changelog[:begin]}\n## {number} - {date}\n\n{content}\n" + (rest and f"\n{rest}")


def make(number: str, files: dict[str, str]) -> None:
    """Write the files, commit and tag.

    Raises:
        Refused: a step failed; everything is as it was.
        KeyboardInterrupt: the same, as the process was told to end.
    """
    before = git("rev-parse", "HEAD")
    signal.signal(signal.SIGTERM, interrupt)
    try:
        for name, text in files.items():
            (ROOT / name).write_text(text, "utf-8")
        git("commit", "--quiet", "--message", f"Release {number}", "--", *files)
        git("tag", "--annotate", f"v{number}", "--message", f"Canopy {number}")
    except BaseException as error:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        if git("tag", "--list", f"v{number}"):
            git("tag", "--delete", f"v{number}")
        git("reset", "--quiet", "--hard", before)  # nothing else had changed
        if isinstance(error, OSError | Refused):
            raise Refused(f"{error}\nNothing was released, and nothing is changed.") from None
        raise


def interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def publishing(number: str, commit: str) -> str:
    """What to run to publish a release."""
    remote = git("config", "--default", "origin", f"branch.{BRANCH}.remote")
    given = {"VERSION": number, "REVISION": commit}
    if source := address_for_people(git("config", "--default", "", f"remote.{remote}.url")):
        given["SOURCE"] = source
    arguments = " ".join(f"--build-arg {name}={quote(value)}" for name, value in given.items())
    return (
        "Nothing is pushed. To publish it, and to build its image:\n\n"
        f"  git push --atomic {remote} {BRANCH} v{number}\n"
        f"  docker build {arguments} --tag canopy:{number} ."
    )


def address_for_people(remote: str) -> str:
    """The address of a repository, without credentials; empty if it is on this machine."""
    remote = re.sub(r"^(?:[\w.-]+@)?([\w.-]+\.[a-z]+):(?!//)", r"ssh://\1/", remote)  # host:path
    parts = urlsplit(remote.removesuffix(".git"))
    if parts.scheme == "ssh" and parts.hostname:
        return f"https://{parts.hostname}{parts.path}"
    if parts.scheme in ("http", "https") and parts.hostname:
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return ""


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
