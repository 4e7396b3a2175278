"""Uses the API through the package that openapi-python-client made, and prints what it saw."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from canopy_client import AuthenticatedClient, Client
from canopy_client.api.assets import create_asset, list_assets
from canopy_client.api.auth import verify_credential
from canopy_client.api.boundaries import validate_geometry
from canopy_client.api.events import list_event_types, list_events
from canopy_client.api.exports import export_assets, export_projects
from canopy_client.api.projects import (
    create_project,
    delete_project,
    list_projects,
    patch_project,
    read_project,
    update_project,
)
from canopy_client.api.webhooks import create_webhook
from canopy_client.models import (
    AnyGeometry,
    AssetCreate,
    AssetCreateMetadataType0,
    EventName,
    ExportAssetsFormat,
    GeometryCheck,
    ListAssetsMetadata,
    Point,
    Polygon,
    ProjectCreate,
    ProjectStatus,
    ProjectUpdate,
    WebhookCreate,
)

address = os.environ["ADDRESS"]
client = AuthenticatedClient(base_url=address, token=os.environ["KEY"])
said: dict[str, Any] = {}


def refusal(answer: Any) -> list[Any]:
    return [answer.status_code, answer.parsed.error.code]


boundary = Polygon("Polygon", [[[8, 48], [9, 48], [9, 49, 250], [8, 48]]])
body = ProjectCreate(name="Cottage Grove", geometry=boundary)
project = create_project.sync(client=client, body=body).data
said["created"] = [project.name, project.geometry.type_, project.status]
for name in ("Diamond Lake", "Tiller"):
    create_project.sync(client=client, body=ProjectCreate(name=name))

found, page, pages = [], 1, 1
while page <= pages:
    listed = list_projects.sync(client=client, page=page, per_page=2, status=ProjectStatus.ACTIVE)
    found += [each.name for each in listed.data]
    page, pages = page + 1, listed.meta.total_pages
said["listed"] = sorted(found)
some = list_projects.sync(client=client, fields="name").data[0]
said["some_fields"] = [type(some).__name__, some.name]

read = read_project.sync_detailed(project.id, client=client)
tag = read.headers["ETag"]
archived = ProjectUpdate(status=ProjectStatus.ARCHIVED)
changed = patch_project.sync(project.id, client=client, body=archived, if_match=tag)
said["changed"] = changed.data.status
late = ProjectUpdate(description="too late")
said["stale"] = refusal(
    update_project.sync_detailed(project.id, client=client, body=late, if_match=tag)
)

refused = create_project.sync_detailed(client=client, body=ProjectCreate(name=""))
said["refused"] = [*refusal(refused), refused.parsed.error.details[0].field]
nowhere = "proj_01arz3ndektsv4rrffq69g5fav"
said["not_there"] = refusal(read_project.sync_detailed(nowhere, client=client))
nobody = verify_credential.sync_detailed(client=Client(base_url=address))
said["without_key"] = [nobody.status_code, nobody.parsed.valid]

station = AssetCreate(
    name="Weather station 4",
    type_="monitoring_station",
    location=Point("Point", [8.5, 48.2]),
    metadata=AssetCreateMetadataType0.from_dict({"serial": "WX-1"}),
)
asset = create_asset.sync(project.id, client=client, body=station).data
exported = json.load(export_projects.sync(client=client).payload)["features"]
said["exported"] = [each["properties"]["name"] for each in exported]
for name in ("gpkg", "csv", "kml"):
    file = export_assets.sync(client=client, format_=ExportAssetsFormat(name))
    said[f"exported_{name}"] = file.payload.read(10).decode()
serial = ListAssetsMetadata.from_dict({"metadata.serial": "WX-1"})
said["by_metadata"] = list_assets.sync(project.id, client=client, metadata=serial).meta.total
said["asset"] = [asset.name, asset.location.coordinates]

bare = AnyGeometry("Polygon", [[[8, 48], [9, 48], [9, 49], [8, 49]]])
reports = [
    validate_geometry.sync(client=client, body=given).data
    for given in (bare, GeometryCheck(geometry=bare.to_dict()))
]
said["problems"] = [problem.code for report in reports for problem in report.problems]

events = list_events.sync(client=client, type_=EventName.PROJECT_CREATED).data
said["events"] = [event.type_ for event in events]
kinds = list_event_types.sync(client=client).data
said["kinds"] = {each.name for each in kinds} == {each.value for each in EventName}

subscription = WebhookCreate(url="https://example.org/canopy", events=["*"])
webhook = create_webhook.sync(client=client, body=subscription).data
said["webhook"] = [webhook.events[0], webhook.status, webhook.disabled_reason]
said["deleted"] = delete_project.sync_detailed(project.id, client=client).status_code

sys.stdout.write(json.dumps(said))
