"""Sequences of changes beside a model in plain Python, which says what each must answer."""

from __future__ import annotations

from typing import Any, ClassVar

from flask import Flask
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from app.policy.request_limits import PROJECT_STATUSES
from app.values.text import slugify
from tests.make import Client, event_types, make_account, multi_square, square

NAMES = ("Wald", "wald!", "Forst", "森", "…")
BOUNDARIES = (None, square(size=0.01), multi_square((1, 1), (3, 3)), {"type": "Point"})
WORDS = ("active", "retired", "Lost")

projects = Bundle("projects")
assets = Bundle("assets")


class Changes(RuleBasedStateMachine):
    """Projects and assets of one account. ``app`` is set on a subclass."""

    app: ClassVar[Flask]

    @initialize()
    def begin(self) -> None:
        self.client: Client = make_account(self.app)
        self.projects: dict[str, dict[str, Any]] = {}
        self.assets: dict[str, dict[str, Any]] = {}
        self.slugs: dict[str, str] = {}
        self.events: list[str] = []

    @rule(target=projects, name=st.sampled_from(NAMES), boundary=st.sampled_from(BOUNDARIES))
    def create(self, name: str, boundary: Any) -> str:
        response = self.client.post("/v1/projects", json={"name": name, "geometry": boundary})
        slug = slugify(name)
        if boundary == {"type": "Point"}:
            assert response.status_code == 422
        elif slug and slug in self.slugs.values():
            assert response.status_code == 409
        else:
            assert response.status_code == 201
            return self._remember(response.json["data"], "project.created")
        return "proj_01arz3ndektsv4rrffq69g5fav"

    def _remember(self, record: dict[str, Any], *events: str) -> str:
        self.projects[record["id"]] = record
        self.slugs[record["id"]] = record["slug"]
        self.events += events
        return str(record["id"])

    @rule(project=projects, field=st.sampled_from(["name", "geometry", "status", "description"]),
          data=st.data())  # fmt: skip
    def change(self, project: str, field: str, data: st.DataObject) -> None:
        values = {
            "name": st.sampled_from(NAMES),
            "geometry": st.sampled_from(BOUNDARIES[:3]),
            "status": st.sampled_from(PROJECT_STATUSES),
            "description": st.sampled_from([None, "", "old"]),
        }
        value = data.draw(values[field])
        response = self.client.put(f"/v1/projects/{project}", json={field: value})
        before = self.projects.get(project)
        if before is None:
            assert response.status_code == 404
            return
        changed = response.json["data"]
        assert changed[field] == value
        self._remember(changed, *(["project.updated"] if value != before[field] else []))

    @rule(project=projects, action=st.sampled_from(["archive", "restore", "delete"]))
    def move(self, project: str, action: str) -> None:
        path = f"/v1/projects/{project}"
        delete = action == "delete"
        response = self.client.delete(path) if delete else self.client.post(f"{path}/{action}")
        before = self.projects.get(project)
        if before is None:
            assert response.status_code == 404
        elif (before["status"] == "archived") is (action == "archive"):
            assert response.status_code == 409
        elif delete:
            assert response.status_code == 204
            self._forget(project)
        else:
            assert response.status_code == 200
            self._remember(response.json["data"], f"project.{action}d")

    def _forget(self, project: str) -> None:
        del self.projects[project], self.slugs[project]
        self.events.append("project.deleted")
        self.assets = {k: v for k, v in self.assets.items() if v["project_id"] != project}

    @rule(target=assets, project=projects, status=st.sampled_from(WORDS))
    def place(self, project: str, status: str) -> tuple[str, str]:
        body = {"name": "A", "type": "tower", "status": status}
        response = self.client.post(f"/v1/projects/{project}/assets", json=body)
        if project not in self.projects:
            assert response.status_code == 404
        elif status == "Lost":
            assert response.status_code == 422
        else:
            assert response.status_code == 201
            record = response.json["data"]
            self.assets[record["id"]] = record
            self.events.append("asset.created")
            return project, record["id"]
        return project, "asset_01arz3ndektsv4rrffq69g5fav"

    @rule(asset=assets, status=st.sampled_from(WORDS[:2]), delete=st.booleans())
    def service(self, asset: tuple[str, str], status: str, delete: bool) -> None:
        path = f"/v1/projects/{asset[0]}/assets/{asset[1]}"
        change = {"status": status}
        response = self.client.delete(path) if delete else self.client.put(path, json=change)
        before = self.assets.get(asset[1])
        if before is None:
            assert response.status_code == 404
        elif delete:
            assert response.status_code == 204
            del self.assets[asset[1]]
            self.events.append("asset.deleted")
        else:
            self.assets[asset[1]] = response.json["data"]
            if before["status"] != status:
                self.events += ["asset.updated", "asset.status_changed"]

    @invariant()
    def lists_and_counters_agree(self) -> None:
        listed = self.client.get("/v1/projects?per_page=100").json["data"]
        assert {project["id"]: project for project in listed} == self.projects
        usage = self.client.get("/v1/account").json["data"]["usage"]
        living = [p for p in self.projects.values() if p["status"] != "archived"]
        square_metres = sum(round((p["area_hectares"] or 0) * 10_000) for p in living)
        assert usage["projects"] == len(self.projects)
        assert usage["hectares"] == square_metres / 10_000

    def teardown(self) -> None:
        assert event_types(self.client) == self.events
        for project in self.projects:
            path = f"/v1/projects/{project}/assets?per_page=100"
            found = {each["id"]: each for each in self.client.get(path).json["data"]}
            own = {k: v for k, v in self.assets.items() if v["project_id"] == project}
            assert found == own
