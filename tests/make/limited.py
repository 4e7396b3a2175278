"""A credential that is limited to a project, in an account that has another one.

What must stay hidden has the word ``quokka`` in every text of it, and ids that are looked for, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from werkzeug.test import TestResponse

from app.policy.permissions import OF_PROJECTS
from tests.make.accounts import Client, make_key
from tests.make.geometry import point, square
from tests.make.imports import make_asset_import
from tests.make.resources import make_asset, make_former_boundary, make_project

HIDDEN: Final = "quokka"


@dataclass(frozen=True)
class Forest:
    """An account with a project that a key may see, and one that it may not, on the same ground."""

    owner: Client
    key: Client
    own: dict[str, str]  # ids by the arguments of paths
    hidden: dict[str, str]

    def reveals(self, response: TestResponse) -> list[str]:
        """What an answer says of the hidden project."""
        text = response.get_data(as_text=True) + str(response.headers)
        sought = response.request.path + str(response.request.query_string)
        found = [each for each in self.hidden.values() if each in text and each not in sought]
        words = re.findall(HIDDEN, text, re.IGNORECASE)
        return found + ([] if HIDDEN in sought else words)


def make_forest(client: Client, make: Any = make_key) -> Forest:
    own, hidden = _things(client, "Own", 0.1), _things(client, "Quokka", 0.4)
    permissions = sorted(OF_PROJECTS)
    key = make(client, permissions=permissions, project_ids=[own["project_id"]])
    return Forest(client, key, own, hidden)


def _things(client: Client, word: str, size: float) -> dict[str, str]:
    text = word.lower()
    project = make_project(
        client, name=word, description=f"The {text} forest", external_id=text, metadata={text: text}
    )
    ids = {"project_id": project["id"]}
    ids["boundary_id"] = make_former_boundary(client, project["id"])
    client.put(f"/v1/projects/{project['id']}", json={"geometry": square(10, 50, size=size)})
    asset = make_asset(
        client, project["id"], name=f"{word} asset", type=f"{text}_type", status=f"{text}_status",
        external_id=text, metadata={text: text}, location=point(10.05, 50.05),
    )  # fmt: skip
    ids["asset_id"] = asset["id"]
    ids["import_id"] = make_asset_import(client, project["id"], f"{text}.geojson")
    return ids


def normalized(response: TestResponse) -> tuple[int, str]:
    request_id = response.headers["X-Request-Id"]
    return response.status_code, response.get_data(as_text=True).replace(request_id, "")
