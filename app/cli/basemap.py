"""``bin/canopy basemap``: a map of one's own region, cut out of a map of the world."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from app.audit.entries import changes_of_new, write_instance_entry
from app.basemap.area import Tiles, bounds_of, tile_ids, touched_tiles, widened
from app.basemap.cutting import Cut, plan_cut, write_tiles
from app.basemap.own import FILE, OWN, UnusableMap, read_facts
from app.basemap.sources import FileSource, ServerSource, Source, SourceFailed
from app.cli.context import database_command
from app.cli.output import CommandError, confirm_action, print_text, show_record, yes_option
from app.db.snapshots import database_url, open_snapshot
from app.db.transactions import transaction
from app.doctor.checks.basemap import MADE, project_boxes
from app.geometry.bounding_boxes import Bounds, read_bbox
from app.outbound import parse_target
from app.outbound.switch import is_off_by_setting
from app.settings.current import current_settings
from app.values.files import open_lock_file, try_lock
from app.values.text import pluralize

_EXAMPLE: Final = "https://build.protomaps.com/20261130.pmtiles"
_WHERE: Final = (
    "Name the file to cut from with --source. Protomaps publishes a map of the world each day; "
    "https://maps.protomaps.com/builds lists the addresses, which are like "
    f"{_EXAMPLE}. Only your own area is loaded. It can also be a file of your own in that form "
    "(PMTiles with Protomaps' layers), on this machine or on a server that sends parts of files."
)
_NO_AREA: Final = (
    "No project has a boundary yet, so there is no area to cut out. Name one in degrees, west, "
    "south, east and north: --box 22.5,46.2,23.5,46.8"
)


def _require_source(_: click.Context, __: click.Parameter, source: str | None) -> str:
    if source is None:
        raise click.UsageError(_WHERE)
    if "://" in source:
        try:
            parse_target(source, True)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None
    return source


def _read_box(_: click.Context, __: click.Parameter, text: str | None) -> Bounds | None:
    try:
        return None if text is None else read_bbox(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command("basemap")
@click.option(
    "--source",
    metavar="URL|FILE",
    callback=_require_source,
    help="The PMTiles file to cut from.",
)
@click.option(
    "--box",
    metavar="W,S,E,N",
    callback=_read_box,
    help="Cut out this box, in degrees, instead of what is around the projects.",
)
@click.option(
    "--max-zoom",
    type=click.IntRange(0, 15),
    default=14,
    show_default=True,
    help="The last zoom. Each further one takes two to four times the bytes.",
)
@click.option(
    "--margin",
    type=click.IntRange(0, 1000),
    default=10,
    show_default=True,
    metavar="KM",
    help="What to add around each project, in kilometers.",
)
@yes_option
@database_command(
    f"basemap --source {_EXAMPLE}", "basemap --source planet.pmtiles --box 22.5,46.2,23.5,46.8"
)
def basemap(
    source: str, box: Bounds | None, max_zoom: int, margin: int, yes: bool, as_json: bool
) -> None:
    """Make a map of your own region, with roads and villages.

    What lies around the projects of all accounts is cut out of a map of the world into the file
    basemap.pmtiles in the instance folder. From then on, the maps of all pages offer it, without
    the internet. The file is replaced only once the new one is complete. If the command is
    interrupted, run it again: it goes on. On several hosts, run it on each, or copy the file. It is
    not in backups.
    """
    tiles = _area(box, margin, max_zoom)
    reader = _open_source(source)
    path = current_settings().instance_path / FILE
    try:
        with closing(reader), _draft(path) as file:
            begun = _begun(file)
            cut = plan_cut(reader, tile_ids(tiles, max_zoom), bounds_of(tiles, max_zoom), begun)
            done = _bytes_done(file, cut)
            _show_cut(cut, reader, done, path, max_zoom)
            confirm_action("Load it?", yes=yes, as_json=as_json)
            _complete(reader, cut, file, done, quiet=as_json)
    except UnusableMap as error:
        raise CommandError(f"{reader.name} {error}.") from None
    except SourceFailed as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from None
    values = {"file": str(path), "source": reader.name, "host": platform.node()}
    with transaction():
        write_instance_entry(MADE, changes_of_new(values))
    header = cut.header
    record = values | {"tiles": header["addressed_tiles_count"], "bytes": cut.size}
    show_record(record | {n: header[n] for n in ("min_zoom", "max_zoom")}, as_json=as_json)


def _area(box: Bounds | None, margin: int, zoom: int) -> set[Tiles]:
    """Return the tiles of the last zoom to be in the map."""
    if box is not None:
        return touched_tiles([box], zoom)
    with open_snapshot(database_url(current_settings())) as connection:
        tiles = touched_tiles((widened(each, margin) for each in project_boxes(connection)), zoom)
    if not tiles:
        raise click.UsageError(_NO_AREA)
    return tiles


def _open_source(source: str) -> Source:
    if "://" not in source:
        return FileSource(Path(source))
    if is_off_by_setting(current_settings()):
        raise CommandError(
            "OUTBOUND=off: this instance calls no other server. Load the file elsewhere, and give "
            "its path; or set OUTBOUND=on for this command."
        )
    return ServerSource(source, lambda text: print_text(f"\n{text}", err=True))


@contextmanager
def _draft(path: Path) -> Iterator[BinaryIO]:
    """Open the file beside ``path`` that becomes it at the end of the block. If that raises, it
    stays, unless it is empty."""
    draft = path.with_name(f"{path.name}.part")
    with os.fdopen(open_lock_file(draft), "r+b") as file:
        if not try_lock(file.fileno()):
            raise CommandError("Another basemap command is running on this host.")
        try:
            yield file
            draft.replace(path)
        finally:
            if not os.fstat(file.fileno()).st_size:
                draft.unlink(missing_ok=True)


def _begun(file: BinaryIO) -> dict[str, Any]:
    """Return what an interrupted command has written about its file; empty: there was none."""
    try:
        own: dict[str, Any] = read_facts(file)[1][OWN]
    except UnusableMap:
        return {}
    return own


def _bytes_done(file: BinaryIO, cut: Cut) -> int:
    """Return the bytes that an interrupted command has written of the same file; 0: none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    return size if len(cut.head) <= size <= cut.size and file.read(len(cut.head)) == cut.head else 0


def _show_cut(cut: Cut, reader: Source, done: int, path: Path, max_zoom: int) -> None:
    header = cut.header
    print_text(
        f"{pluralize(header['addressed_tiles_count'], 'tile')} of zooms {header['min_zoom']} to "
        f"{header['max_zoom']}: {cut.size:,} bytes ({cut.size / 1e6:,.1f} MB). To be loaded from "
        f"{reader.name}: {cut.to_load(done) / 1e6:,.1f} MB",
        err=True,
    )
    if done:
        print_text(f"There already: {done / 1e6:,.1f} MB", err=True)
    if header["max_zoom"] < max_zoom:
        print_text(f"The source has no zoom above {header['max_zoom']} there.", err=True)
    free = shutil.disk_usage(path.parent).free
    if free < cut.size - done:
        raise CommandError(f"Only {free / 1e6:,.1f} MB are free in {path.parent}.")


def _complete(reader: Source, cut: Cut, file: BinaryIO, done: int, *, quiet: bool) -> None:
    """Load what is missing, with a bar on a terminal."""
    if not done:
        file.truncate(0)
        file.write(cut.head)
        done = len(cut.head)
    is_hidden = quiet or not sys.stderr.isatty()
    length = cut.to_load(done)
    with click.progressbar(
        length=length, label="Loading", file=sys.stderr, hidden=is_hidden
    ) as bar:
        write_tiles(reader, cut, file, done, bar.update)
