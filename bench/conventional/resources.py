"""/v1/projects."""

from __future__ import annotations

from typing import Any

from flask import g
from flask.views import MethodView
from flask_smorest import Blueprint, Page, abort
from sqlalchemy.exc import IntegrityError

from bench.conventional.models import Project, db
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
            db.session.commit()
        except IntegrityError:
            abort(409, message="There is a project of this name.")
        return project


@blp.route("/<project_id>")
class ProjectById(MethodView):
    @blp.response(200, ProjectSchema)
    def get(self, project_id: str) -> Project:
        """Read a project."""
        mine = db.select(Project).filter_by(id=project_id, account_id=g.account.id)
        return db.first_or_404(mine)  # type: ignore[no-any-return]
