"""The check of the instance's own map."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Iterator
from typing import Final

from pmtiles.tile import zxy_to_tileid
from sqlalchemy import Connection

from app.auth.tenant import select_of_all_accounts
from app.basemap.area import touched_tiles
from app.basemap.cutting import read_entries
from app.basemap.own import FILE, OwnBasemap, read_basemap
from app.basemap.sources import FileSource
from app.doctor.backups import newest_entries
from app.doctor.findings import Finding, ok, warning
from app.geometry.bounding_boxes import Bounds, middle_of_box
from app.models import Project
from app.values.clock import format_time
from app.values.command_name import canopy_command
from app.values.text import pluralize
from config import Settings

MADE: Final = "instance.basemap_made"
_BOXES: Final = select_of_all_accounts(
    Project.west, Project.south, Project.east, Project.north
).where(Project.area_m2.is_not(None), Project.deleted_at.is_(None))


def project_boxes(connection: Connection) -> Iterator[Bounds]:
    """Yield the box of each project that has a boundary, of all accounts."""
    with connection.execute(_BOXES, execution_options={"yield_per": 1000}) as rows:
        yield from (Bounds(*row) for row in rows)


def check_basemap(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Say what map there is, and report projects that it does not have."""
    path = settings.instance_path / FILE
    again = f"Run {canopy_command()} basemap again."
    try:
        state = path.stat()
        basemap = read_basemap(path, state.st_mtime_ns, state.st_size)
        outside = _count_outside(basemap, project_boxes(connection))
    except FileNotFoundError:
        yield _missing(connection)
        return
    except OSError as error:
        yield warning(f"{path} cannot be read ({error.strerror})", "Correct its permissions.")
        return
    except ValueError as error:  # UnusableMap among them
        yield warning(f"{path} {error}", again)
        return
    sentence = (
        f"{path.name} of {format_time(basemap.made_at)}: {basemap.size / 1e6:,.1f} MB, zooms "
        f"{basemap.min_zoom} to {basemap.max_zoom}, from {basemap.source or 'an unknown source'}"
    )
    if outside:
        yield warning(f"{sentence}; {pluralize(outside, 'project')} outside of it", again)
    else:
        yield ok(sentence)


def _missing(connection: Connection) -> Finding:
    """Return the finding for a host without a map: another may have one."""
    command = f"{canopy_command()} basemap"
    for entry in newest_entries(connection, MADE)[:1]:
        host = entry["changes"]["host"]["to"]
        if host != platform.node():
            return warning(
                f"This host has no map of its own, but {host} has one of {entry['at']}",
                f"Run {command} here, or copy {FILE} from its instance folder into this one.",
            )
    return ok(f"none; {command} makes one, with roads and villages")


def _count_outside(basemap: OwnBasemap, boxes: Iterator[Bounds]) -> int:
    """Count the boxes in whose middle the map has no tile of its last zoom."""
    zoom = basemap.max_zoom
    middles = (Bounds(lon, lat, lon, lat) for lon, lat in map(middle_of_box, boxes))
    tiles = (next(iter(touched_tiles([each], zoom))) for each in middles)
    ids = Counter(zxy_to_tileid(zoom, tile.west, tile.north) for tile in tiles)
    ranges = [(number, number + 1) for number in sorted(ids)]
    _, entries = read_entries(FileSource(basemap.path), ranges)
    for first, _, _, count in entries.tolist():
        for number in range(first, first + count):
            del ids[number]
    return ids.total()
