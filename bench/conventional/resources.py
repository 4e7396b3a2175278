"""/v1/projects."""

from __future__ import annotations

from typing import Any

from flask import current_app, g, request
from flask.views import MethodView
from flask_smorest import Blueprint, Page, abort
from sqlalchemy.exc import IntegrityError

from bench.conventional.models import AuditEntry, Event, Project, db
from bench.conventional.schemas import ProjectSchema

blp = Blueprint("projects", __name__, url_prefix="/v1/projects")


class QueryPage(Page):  # type: ignore[misc]
    """A page of a query, as flask-smorest's documentation has it."""

    @property
    def item_count(self) -> int:
        return int(self.collection.count())


@blp.route("")
class Projects(MethodView):
    @blp.response(200, ProjectSchema(many=True))
    @blp.paginate(QueryPage)
    def get(self) -> Any:
        """List projects."""
        mine = db.session.query(Project).filter_by(account_id=g.account.id)
        return mine.order_by(Project.created_at.desc(), Project.id)

    @blp.arguments(ProjectSchema)
    @blp.response(201, ProjectSchema)
    def post(self, values: dict[str, Any]) -> Project:
        """Create a project."""
        project = Project(account_id=g.account.id, **values)
        db.session.add(project)
        try:
            if current_app.config["WRITES_HISTORY"]:
                db.session.flush()
                _add_history("project.created", project)
            db.session.commit()
        except IntegrityError:
            abort(409, message="There is a project of this name.")
        return project


def _add_history(action: str, project: Project) -> None:
    """Add an event about a project, and an entry of the audit log."""
    shown = ProjectSchema().dump(project)
    summary = {name: value for name, value in shown.items() if name != "geometry"}
    common = {"account_id": g.account.id}
    db.session.add(Event(**common, type=action, subject_id=project.id, data=summary))
    entry = AuditEntry(
        **common,
        actor_id=g.key.id,
        action=action,
        target_id=project.id,
        address=request.remote_addr,
        changes={name: {"from": None, "to": value} for name, value in summary.items()},
    )
    db.session.add(entry)


@blp.route("/<project_id>")
class ProjectById(MethodView):
    @blp.response(200, ProjectSchema)
    def get(self, project_id: str) -> Project:
        """Read a project."""
        mine = db.select(Project).filter_by(id=project_id, account_id=g.account.id)
        return db.first_or_404(mine)  # type: ignore[no-any-return]
