"""The README.txt of an archive, which describes its files."""

from __future__ import annotations

from textwrap import fill
from typing import Final

from app.exports.account_export.json_files import ExportedAccount
from app.policy.account_export import FILES
from app.values.version import VERSION

_WIDTH: Final = 78

_TEXT: Final = """\
The account {slug}
of {instance}
as of {made_at}, exported by Canopy {version}

This archive has everything in the account {id},
in files that other programs can read: .json is JSON, .geojson is GeoJSON
(RFC 7946, WGS 84), and .ndjson has a JSON object on each line.

Keep it private: it contains the names and email addresses of people, and the
addresses of your webhooks, which may contain secrets of other systems.
It contains no passwords, keys, tokens or webhook secrets.

Records that changed while the archive was being written appear as they were
when their file was written.


FILES

{files}


USING IT ELSEWHERE

projects.geojson and assets.geojson open in QGIS, in GDAL (ogrinfo, ogr2ogr),
in Python (GeoPandas) and in R (sf), as one layer each. Spreadsheets and
scripts read the others with any JSON library.

An operator of another instance of Canopy imports this archive:

    bin/canopy account import FILE --owner-email jo@example.org

Projects, assets and former boundaries keep their names, slugs, external ids,
states, metadata and dates, and get new ids. Then invite the members again,
and create new keys, tokens, applications and webhooks.

Without an operator, import projects.geojson on the page "Imports", or with
POST /v1/imports. More is at {instance}/docs/guides/account-export


CHECKING IT

manifest.json has the SHA-256 of each file. Even without the service,

    bin/canopy audit verify audit-log.ndjson

proves that nobody has changed the audit log since it was sealed.
"""


def readme_text(account: ExportedAccount, made_at: str) -> str:
    """The text of README.txt, in lines of at most 78 characters."""
    files = "\n".join(
        f"{name}\n{_indented_text(description)}" for name, description in FILES.items()
    )
    return _TEXT.format(**account._asdict(), made_at=made_at, version=VERSION, files=files)


def _indented_text(text: str) -> str:
    return fill(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")
