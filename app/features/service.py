"""What other packages use of this one."""

from __future__ import annotations

from app.features.asset_targets import AssetTargets as AssetTargets
from app.features.candidates import IS_LINE as IS_LINE
from app.features.candidates import Candidate as Candidate
from app.features.candidates import Choices as Choices
from app.features.candidates import Rejected as Rejected
from app.features.candidates import problem_of as problem_of
from app.features.decisions import Decision as Decision
from app.features.decisions import Match as Match
from app.features.decisions import Unusable as Unusable
from app.features.mapping import ColumnMapping as ColumnMapping
from app.features.mapping import LayerScan as LayerScan
from app.features.mapping import guess_mapping as guess_mapping
from app.features.mapping import ignored_columns as ignored_columns
from app.features.mapping import is_export as is_export
from app.features.mapping import mapped_fields as mapped_fields
from app.features.project_targets import ProjectTargets as ProjectTargets
from app.features.reader_process import Batch as Batch
from app.features.reader_process import Opened as Opened
from app.features.reader_process import ReaderProcess as ReaderProcess
from app.features.targets import Kept as Kept
from app.features.targets import Matcher as Matcher
from app.features.targets import Targets as Targets
from app.features.targets import Written as Written
