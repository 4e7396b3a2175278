"""The Python environment in ``.venv``, which uv makes and fills.

Standard library only: it is used before anything is installed. One environment serves running and
developing, for ``requirements-dev.txt`` holds all of ``requirements.txt``. One that somebody else
made is used if its packages fit, and never changed.
"""

import configparser
import contextlib
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MARK = VENV / "made-by-canopy"  # says what is installed; empty until everything is
OWN = ROOT / ".setup"  # packages for set-up itself, as .venv may be somebody's own
RUNTIME, DEVELOPMENT = "requirements.txt", "requirements-dev.txt"

# Variables of the caller that would change the Python or the packages in use.
MISLEADING = re.compile(
    "PYTHON(PATH|HOME|SAFEPATH|PLATLIBDIR|EXECUTABLE|USERBASE|INSPECT|OPTIMIZE)"
    "|VIRTUAL_ENV|__PYVENV_LAUNCHER__"
    "|(PIP|UV)_(TARGET|PREFIX|ROOT|USER|PYTHON|DRY_RUN|SYSTEM_PYTHON|BREAK_SYSTEM_PACKAGES)"
)
# pip's settings about reaching packages, and uv's variable for each.
FROM_PIP = {
    "index-url": "UV_INDEX_URL",
    "extra-index-url": "UV_EXTRA_INDEX_URL",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
    "proxy": "ALL_PROXY",
}
# For optional packages: without a connection, nobody should wait for minutes.
IMPATIENT = {"UV_HTTP_TIMEOUT": "5", "UV_HTTP_RETRIES": "0"}
IMPATIENT |= {"PIP_DEFAULT_TIMEOUT": "5", "PIP_RETRIES": "0"}

_FETCHING_UV = threading.Lock()


class SetupError(Exception):
    """Something cannot be installed. The message is a sentence without its full stop."""


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def environment() -> dict[str, str]:
    """Return the caller's variables without misleading ones."""
    return {name: text for name, text in os.environ.items() if not MISLEADING.fullmatch(name)}


def prepare(requirements: str) -> dict[str, str]:
    """Make sure that ``.venv`` has the packages of ``requirements``; quick if it does. Returns the
    variables for programs that run in it.

    Raises:
        SetupError: it cannot be made, or is somebody's own and has other packages.
    """
    try:
        if VENV.is_dir() and any(VENV.iterdir()) and not MARK.exists():
            check_somebodys(requirements)
            return environment() | {"PYTHONPATH": str(ROOT)}  # Canopy's own has canopy.pth
        if not is_current(requirements):
            with alone():
                if not is_current(requirements):  # another command may have made it meanwhile
                    install(requirements)
    except OSError as error:
        raise SetupError(
            f"The environment {VENV} cannot be created ({error}); "
            "its folder must be writable on the first run and after an update"
        ) from None
    return environment()


def check_somebodys(requirements: str) -> None:
    folders = [str(folder) for folder in VENV.glob("lib/python*/site-packages")]
    installed = {
        re.sub(r"[-_.]+", "-", package.name).lower(): package.version
        for package in importlib.metadata.distributions(path=folders)
    }
    pin = r"^([\w.-]+)(?:\[.*?\])?==([^\s;]+)( ;)?"
    pins = re.findall(pin, (ROOT / requirements).read_text(), re.MULTILINE)
    # There may be a pin for each Python, and packages for other systems.
    fits = {(name, version) for name, version, _ in pins}
    fits |= {(name, None) for name, _, marker in pins if marker}
    names = dict.fromkeys(name for name, _, _ in pins)
    lacking = [name for name in names if (name, installed.get(name)) not in fits]
    if not os.access(PYTHON, os.X_OK):
        problem = "it has no Python that runs"
    elif lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        problem = f"it lacks {', '.join(lacking[:3])}{more}"
    else:
        return
    raise SetupError(
        f"{VENV} was not made by Canopy, which leaves it alone, and {problem}: run "
        f"{PYTHON} -m pip install -r {requirements}, or move the folder away"
    )


def is_current(requirements: str) -> bool:
    return MARK.is_file() and MARK.read_text() in (stamp(requirements), stamp(DEVELOPMENT))


def stamp(requirements: str) -> str:
    """Return what identifies a complete environment: the lock file's content and the Python behind
    ``.venv``. It is not the Python that runs now: two terminals with different ones on PATH would
    otherwise replace each other's environment, and that of a running service.
    """
    digest = hashlib.sha256((ROOT / requirements).read_bytes()).hexdigest()
    return f"{requirements} {digest} {interpreter()}\n"


def interpreter() -> str:
    path = os.path.realpath(PYTHON)
    return path if os.path.exists(path) else "missing"


def install(requirements: str) -> None:
    began = time.monotonic()
    if not (MARK.is_file() and MARK.read_text().endswith(f" {interpreter()}\n")):
        make_anew()
    MARK.write_text("")
    say(f"Installing the packages of {requirements} into {VENV} …")
    if not uv_install("--python", PYTHON, "-r", ROOT / requirements):
        raise SetupError(f"{requirements} could not be installed; the reason is above")
    MARK.write_text(stamp(requirements))
    say(f"Done in {time.monotonic() - began:.0f} s.")


def make_anew() -> None:
    """Make the environment, also in place of an incomplete one."""
    if VENV.is_dir():
        shutil.rmtree(VENV)
    VENV.mkdir()
    MARK.touch()
    say(f"Creating {VENV} with Python {platform.python_version()} …")
    if not uv("venv", "--quiet", "--allow-existing", "--python", sys.executable, VENV):
        raise SetupError(f"{VENV} could not be created; the reason is above")
    for folder in VENV.glob("lib/python*/site-packages"):  # to import the application anywhere
        (folder / "canopy.pth").write_text(os.path.relpath(ROOT, folder) + "\n")


def packages(*names: str) -> Path:
    """Return a folder in ``.setup`` with packages, as the lock file pins them.

    Raises:
        SetupError: they cannot be installed. The reason is on stderr.
    """

    def fill(folder: Path, pins: Path) -> None:
        say(f"Installing {names[0]} from PyPI into {folder} …")
        options = ("--no-deps", "--target", folder, "--python", sys.executable)
        if not uv_install(*options, "-r", pins, **IMPATIENT):
            raise SetupError(f"{names[0]} could not be installed from PyPI; see above")

    return pinned(names, fill)


def pinned(names: tuple[str, ...], fill: Callable[[Path, Path], None]) -> Path:
    """Return a folder in ``.setup`` that ``fill`` has filled from the lock file's lines for these
    packages."""
    text = (ROOT / DEVELOPMENT).read_text()
    pins = ""
    for name in names:
        lines = re.search(rf"^{re.escape(name)}==(.*\\\n)+.*\n", text, re.MULTILINE)
        pins += lines[0] if lines else f"{name}\n"  # refused, as it has no hash
    folder = OWN / names[0]
    complete, wanted = folder / "requirements.txt", folder / "wanted.txt"
    if not (complete.is_file() and complete.read_text() == pins):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        wanted.write_text(pins)
        fill(folder, wanted)
        wanted.rename(complete)
    return folder


def uv_install(*arguments: object, **variables: str) -> bool:
    quiet = [] if sys.stderr.isatty() else ["--quiet"]
    # As pip does, take a version from any index that has it: the hashes decide.
    options = ["--require-hashes", "--index-strategy", "unsafe-best-match"]
    return uv("pip", "install", *quiet, *options, *arguments, **variables)


def uv(*arguments: object, **variables: str) -> bool:
    """Run the machine's uv or, if there is none or it fails, the pinned one. True if it
    succeeds."""
    settings = pip_settings()
    if arguments[0] == "pip" and settings.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        arguments += ("--no-index",)
    settings_for_uv = for_uv(settings) | variables
    if program := working("uv"):
        if run(program, *arguments, **settings_for_uv):
            return True
        say(f"{program} failed; the reason is above. Trying the uv of PyPI.")
    with _FETCHING_UV:  # two threads may need it
        own = pinned(("uv",), lambda folder, pins: pip_install(folder, pins, variables))
    return run(own / "bin" / "uv", *arguments, **settings_for_uv)


def pip_install(folder: Path, pins: Path, variables: dict[str, str]) -> None:
    """Install with the pip of this Python, or with one in a new environment.

    Raises:
        SetupError: there is no pip, or it fails.
    """
    python, new = sys.executable, OWN / "pip"
    say(f"Installing uv from PyPI into {folder} …")
    if importlib.util.find_spec("pip") is None:
        python = str(new / "bin" / "python")
        if importlib.util.find_spec("ensurepip") is None:
            raise SetupError(
                f"{sys.executable} has no pip: install python3-venv (Debian, Ubuntu), or uv"
            )
        if not run(sys.executable, "-I", "-m", "venv", "--clear", new):
            raise SetupError(f"{new} could not be created; the reason is above")
    command = (python, "-I", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    options = ("--no-input", "--require-hashes", "--no-deps", "--target", folder, "-r", pins)
    # Settings that do not matter, as nothing is installed into this Python.
    others = {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_USER": "0", "PIP_ROOT_USER_ACTION": "ignore"}
    is_installed = run(*command, *options, **variables | others)
    shutil.rmtree(new, ignore_errors=True)
    if not is_installed:
        raise SetupError("uv could not be installed; the reason is above")


def pip_settings() -> dict[str, str]:
    """Return pip's settings: those in its files, overridden by its variables."""
    config = configparser.RawConfigParser()
    file, home = os.environ.get("PIP_CONFIG_FILE", ""), Path.home()
    folders = [f"{path}/pip" for path in os.environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":")]
    own = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    folders += ["/etc", f"{home}/.pip", f"{own}/pip", sys.prefix]
    if file != os.devnull:
        try:
            config.read([f"{folder}/pip.conf" for folder in folders] + [file] * bool(file))
        except configparser.Error as error:
            raise SetupError(f"pip's settings cannot be read ({error})") from None
    pairs = [
        pair for part in ("global", "install") if part in config for pair in config.items(part)
    ]
    pairs += [(name[4:], text) for name, text in os.environ.items() if name.startswith("PIP_")]
    return {name.lower().replace("_", "-"): text for name, text in pairs if text}


def for_uv(settings: dict[str, str]) -> dict[str, str]:
    """Return uv's variables for pip's settings. The caller's own variables for uv override them."""
    variables = {"UV_SYSTEM_CERTS": "true", "UV_NATIVE_TLS": "true"}
    for name, variable in FROM_PIP.items():
        words = [os.path.expanduser(word) for word in settings.get(name, "").split()]
        if name == "find-links":  # uv refuses folders that do not exist
            words = [word for word in words if "://" in word or os.path.exists(word)]
        if words:
            variables[variable] = ("," if name == "find-links" else " ").join(words)
    return variables | environment() | {"UV_PYTHON_DOWNLOADS": "never"}


def run(*command: object, **variables: str) -> bool:
    """Run a command of set-up. True if it succeeds.

    It prints to stderr, as a program may read the output of bin/canopy. It inherits the lock, so
    that a uv that still runs keeps it when this process is killed.
    """
    words, env = [str(word) for word in command], environment() | variables
    return subprocess.run(words, env=env, stdout=sys.stderr, close_fds=False).returncode == 0


def working(name: str, version: str = "") -> str | None:
    """Return a program on PATH if it runs and its version matches. The stand-in of a version
    manager may not run."""
    if program := shutil.which(name):
        with contextlib.suppress(OSError):
            command = [program, "--version"]
            result = subprocess.run(command, capture_output=True, text=True, env=environment())
            if result.returncode == 0 and re.match(version, result.stdout):
                return program
    return None


@contextlib.contextmanager
def alone(folder: Path = VENV) -> Iterator[None]:
    """Hold the lock of set-up for a folder."""
    OWN.mkdir(exist_ok=True)
    name = folder.relative_to(ROOT).as_posix().replace("/", "_")
    descriptor = os.open(OWN / f"{name}.lock", os.O_RDWR | os.O_CREAT, 0o644)
    os.set_inheritable(descriptor, True)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another command is setting up {folder}; waiting for it …")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
