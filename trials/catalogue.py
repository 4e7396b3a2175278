"""The trials: what each is for, how long it takes, and when it must pass."""

from __future__ import annotations

from typing import Final, NamedTuple


class Trial(NamedTuple):
    """One or more commands that are run one after another.

    ``minutes`` are about how many it takes on two cores, estimated for ``faults``, ``chance``,
    ``pythons``, ``mutants`` and the half on PostgreSQL of ``compare``, ``beside_pygeoapi``,
    ``parts`` and ``exports``. ``after`` names what a change touches that should not land without
    it. ``release`` and ``weekly`` say what ``bin/trials release`` and ``bin/trials weekly`` run.
    """

    name: str
    purpose: str
    minutes: int
    commands: tuple[tuple[str, ...], ...]
    after: str = ""
    release: bool = False
    weekly: bool = False

    def when(self) -> str:
        """When it must pass, in words."""
        times = ["before a release"] * self.release + ["weekly"] * self.weekly
        times += [f"after a change of {self.after}"] * bool(self.after)
        return ", ".join(times) or "when its figures are wanted"


def _pytest(*arguments: str) -> tuple[tuple[str, ...], ...]:
    return (("pytest", "-n", "2", "--dist", "loadgroup", *arguments),)


def _bench(
    module: str, purpose: str, minutes: int, *more: tuple[str, ...], after: str = ""
) -> Trial:
    name = f"bench.{module}"
    return Trial(name, purpose, minutes, ((name,), *((name, *each) for each in more)), after)


_POSTGRES: Final = ("--postgres",)

TRIALS: Final = (
    Trial(
        "faults",
        "Valkey, databases, disks, clocks, processes and receivers fail under load",
        68,
        (("trials.faults",),),
        "app/jobs, app/webhooks/deliveries, app/imports, app/limits, app/processes",
        release=True,
        weekly=True,
    ),
    Trial(
        "heavy",
        "bodies and queries made to be expensive end in two seconds, and hold up nobody",
        140,
        (("trials.faults", "heavy", "queries", "--minutes", "60"),),
        "app/lists, app/ogc, app/geometry, app/exports, a new route",
        weekly=True,
    ),
    Trial(
        "serve-kills",
        "parts of bin/serve are killed and stopped by chance; one of the faults",
        25,
        (("trials.faults", "serve-kills"),),
        "app/processes",
    ),
    Trial(
        "power",
        "the power is cut just after answers and deliveries; one of the faults",
        3,
        (("trials.faults", "power"),),
        "app/db, what commits",
    ),
    Trial(
        "machines",
        "hosts in network namespaces fail, are cut off, and are upgraded; needs root",
        13,
        (("trials.machines",),),
        "deploy/hosts, app/db/postgresql",
        release=True,
    ),
    Trial(
        "browser",
        "long flows in a real browser",
        8,
        _pytest("-m", "trial", "tests/browser"),
        "pages and their scripts",
        release=True,
        weekly=True,
    ),
    Trial(
        "long-tests",
        "all other tests marked trial: kills, large files, concurrency, versions of PostgreSQL",
        17,
        _pytest("-m", "trial", "tests", "--ignore=tests/browser"),
        "what they lie beside",
        release=True,
        weekly=True,
    ),
    Trial(
        "postgresql",
        "every test of .ci/run on PostgreSQL, marked both or not",
        18,
        _pytest("--slow", "--database", "postgresql", "tests"),
        "app/db, app/db/postgresql",
        release=True,
        weekly=True,
    ),
    Trial(
        "chance",
        "what once failed by chance, up to 200 times; all that waits, forks or listens, 10 times",
        150,
        (("trials.chance",),),
        "the tests' own servers and waiting",
    ),
    Trial(
        "pythons",
        "the suite on each newer Python that is installed, 3.13 above all, which the image has",
        40,
        (("trials.pythons",),),
        "the lock files",
        release=True,
        weekly=True,
    ),
    Trial(
        "mutants",
        "100 changes of one line each, at random: which of them a test notices",
        120,
        (("trials.mutants",),),
    ),
    Trial(
        "fuzz",
        "20,000 made-up requests and 200 sequences of changes, on each database",
        20,
        (("trials.fuzz",), ("trials.fuzz", "--database", "postgresql")),
        "how bodies, queries and paths are read",
        release=True,
        weekly=True,
    ),
    Trial(
        "map-programs",
        "GDAL, OWSLib and QGIS read and edit 2,500 projects",
        1,
        (("trials.clients",),),
        "app/ogc",
        release=True,
    ),
    Trial(
        "others",
        "370 files of public repositories, read as an import does, and compared with GDAL",
        8,
        (("trials.others",),),
        "app/formats, app/imports/features",
        release=True,
    ),
    _bench("http", "reading and writing beside bare Flask", 4, _POSTGRES),
    _bench("compare", "the service beside a conventional application", 12, _POSTGRES),
    _bench("beside_pygeoapi", "reading beside pygeoapi", 10, _POSTGRES),
    _bench("parts", "what the parts of a request cost", 6, _POSTGRES),
    _bench("reading", "ways to read one row", 2),
    _bench("spreading", "how connections spread over web processes", 5),
    _bench("growth", "lists of up to a million projects", 35, _POSTGRES, after="app/lists"),
    _bench("retention", "how fast old rows are deleted", 19, _POSTGRES, after="app/maintenance"),
    _bench("deliveries", "what delivering costs, and how soon events arrive", 15, _POSTGRES),
    _bench("exports", "memory and time of exports", 4, _POSTGRES, after="app/exports"),
    _bench("map", "what a map of the projects costs", 12, _POSTGRES, after="app/projects/map"),
    _bench("pages", "the page of projects in a browser", 13, _POSTGRES),
    _bench("page_quality", "what Lighthouse says of the page of projects", 2),
    _bench("webhook_log", "the log of a webhook with a million attempts", 2, _POSTGRES),
    _bench("written", "what a change writes, in rows and bytes", 1),
    _bench("audit_log", "an audit log of a million entries", 12, _POSTGRES),
)
ALL: Final = tuple(trial.name for trial in TRIALS)
