"""The guides: as pages, as Markdown, and listed for language models.

The folder ``made`` has ``NAME.md`` and ``NAME.html`` for each guide, the pictures, and
``guides.json``, which lists the guides. Each file is read at each request.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson
from flask import Blueprint, Response, render_template, send_from_directory
from markupsafe import Markup, escape

from app.http.errors import NotFound
from app.http.urls import absolute_url
from app.reference.curl import ADDRESS
from app.site.pages import instance, revalidated
from app.site.signed_in import may_be_signed_in

bp = Blueprint("guides", __name__, template_folder="templates")

_URL: Final = "/docs/guides"
MADE: Final = Path(__file__).parent / "made"
_LIST: Final = "README"  # the page with the list
_NOT_MADE: Final = (
    "This instance lacks the guides. Whoever runs it makes them with: python3 bin/_third_party.py"
)


@bp.get(_URL)
def all_guides() -> Response:
    """The list of all guides."""
    return _guide_page(_LIST, _URL)


@bp.get(f"{_URL}/<name>")
def guide_page(name: str) -> Response:
    """A guide. The page loads nothing from other hosts."""
    return _guide_page(_checked_guide_name(name), f"{_URL}/{name}")


@bp.get(f"{_URL}/<name>.md")
def guide_text(name: str) -> Response:
    """A guide in Markdown."""
    text = _read_made(f"{_checked_guide_name(name)}.md").replace(ADDRESS, absolute_url(""))
    return revalidated(text.encode(), "text/markdown; charset=utf-8", public=True)


@bp.get(f"{_URL}/<name>.png")
def picture(name: str) -> Response:
    """A picture in a guide."""
    return send_from_directory(MADE, f"{name}.png")


@bp.get("/llms.txt")
def for_language_models() -> Response:
    """A description of this instance with links to its guides in Markdown (llmstxt.org)."""
    index = _guides_index()
    lines = [
        f"# {instance().name}\n",
        f"> {index['pages'][_LIST]['summary']}\n",
        "## API\n",
        f"- [OpenAPI description]({absolute_url('/v1/openapi.json')}): all operations of the API",
        f"- [API reference]({absolute_url('/docs')}): the same as a page, with an example of each",
    ]
    for section in index["sections"]:
        lines += [f"\n## {section['title']}\n"]
        for guide in section["guides"]:
            address = absolute_url(f"{_URL}/{guide['name']}.md")
            lines += [f"- [{guide['title']}]({address}): {guide['summary']}"]
    text = "\n".join(lines) + "\n"
    return revalidated(text.encode(), "text/plain; charset=utf-8", public=True)


def _guide_page(name: str, path: str) -> Response:
    index = _guides_index()
    body = _read_made(f"{name}.html").replace(ADDRESS, escape(absolute_url("")))
    html = render_template(
        "guide.html",
        guide=index["pages"][name] | {"name": name, "path": path, "url": absolute_url(path)},
        body=Markup(body),  # noqa: S704 - made from documents of this version
        sections=index["sections"],
        is_signed_in=may_be_signed_in(),
        section=_URL,
    )
    response = revalidated(html.encode(), "text/html; charset=utf-8", public=True)
    response.vary.add("Cookie")
    return response


def _checked_guide_name(name: str) -> str:
    """Return the name if a guide has it. Raises NotFound."""
    if name == _LIST or name not in _guides_index()["pages"]:
        raise NotFound
    return name


def _guides_index() -> dict[str, Any]:
    """Read the sections with their guides, and the title, summary and headings of each page."""
    index: dict[str, Any] = orjson.loads(_read_made("guides.json"))
    return index


def _read_made(name: str) -> str:
    """Read a text file of ``made``. Raises NotFound if set-up has not made the guides."""
    try:
        return (MADE / name).read_text("utf-8")
    except FileNotFoundError:
        raise NotFound(_NOT_MADE) from None
