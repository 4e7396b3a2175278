"""The route of the chat, ``/api/chat``."""

from __future__ import annotations

from flask import Blueprint, Response, request

from app.api import web_routes
from app.auth.guard import ANY_CREDENTIAL, identify_caller, permitted_principal, set_permission
from app.chat import service
from app.chat.schemas import QuestionSchema
from app.site.access_check import access_check
from app.site.signed_in import signed_in_principal

bp = Blueprint("chat", __name__)


@bp.post("/api/chat")
def chat() -> Response:
    """Answer a question about the projects of the account."""
    identify_caller(request.headers.get("Authorization"))
    principal = (
        permitted_principal(ANY_CREDENTIAL)
        if "Authorization" in request.headers
        else signed_in_principal()
    )
    question = web_routes.read_body(QuestionSchema)
    reply = service.answer_question(principal, access_check(), **question)
    return web_routes.json_response({"reply": reply})


set_permission(chat, ANY_CREDENTIAL)
