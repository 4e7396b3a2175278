"""``python -m tests.browser FOLDER``: screenshots of every page, on phone and desktop, light and
dark."""

from __future__ import annotations

import itertools
import sys
import tempfile
from pathlib import Path

from tests.browser.account_scenes import account_scenes
from tests.browser.chromium import chromium
from tests.browser.conftest import DESKTOP, PHONE, running_instance
from tests.browser.connection_scenes import connection_scenes
from tests.browser.guide_scenes import guide_scenes
from tests.browser.operator_scenes import map_scenes, operator_scenes
from tests.browser.scenes import scenes
from tests.browser.second_factor_scenes import second_factor_scenes
from tests.browser.single_sign_on_scenes import single_sign_on_scenes, sso_instance


def main(folder: Path) -> None:
    """Write one screenshot for each scene and appearance."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {"phone": PHONE, "desktop": DESKTOP}
    with (
        tempfile.TemporaryDirectory(prefix="canopy-") as scratch,
        running_instance(Path(scratch)) as instance,
        sso_instance(Path(scratch) / "sso") as other,
        chromium() as chrome,
    ):
        for scheme, size in itertools.product(("light", "dark"), sizes):
            options = {"color_scheme": scheme, "viewport": sizes[size]}
            parts = itertools.chain(
                scenes(chrome, instance, **options),
                account_scenes(chrome, instance, **options),
                connection_scenes(chrome, instance, **options),
                second_factor_scenes(chrome, instance, **options),
                operator_scenes(chrome, instance, **options),
                map_scenes(chrome, instance, **options),
                guide_scenes(chrome, instance, **options),
                single_sign_on_scenes(chrome, other, **options),
            )
            for place, (name, visitor) in enumerate(parts):
                path = folder / f"{place:02} {name} {size} {scheme}.png"
                visitor.page.evaluate("scrollTo(0, 0)")
                visitor.page.screenshot(path=path, full_page=name != "reference")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {__doc__.partition(':')[0].strip('`')}")
    main(Path(sys.argv[1]))
