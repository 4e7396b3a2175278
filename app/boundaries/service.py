"""What other packages use of boundaries."""

from __future__ import annotations

from app.boundaries.overlaps import Overlaps as Overlaps
from app.boundaries.overlaps import find_overlaps as find_overlaps
from app.boundaries.overlaps import overlaps_of_project as overlaps_of_project
from app.boundaries.restoring import read_boundary_to_restore as read_boundary_to_restore
from app.boundaries.restoring import restore_boundary as restore_boundary
from app.boundaries.validation import geometry_report as geometry_report
