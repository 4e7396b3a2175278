"""Writes the guides that an instance serves at ``/docs/guides``: ``python3 guides.py FOLDER``.

``docs/README.md`` lists the sections and the guides in them; another guide needs a line there. Of
each guide, this writes the Markdown, in which links lead to other guides only, and the HTML;
besides, the pictures and an index. ``bin/_third_party.py`` runs it before anything else is
installed, with markdown-it-py; the service never imports that.
"""

import html
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt

DOCS = Path(__file__).resolve().parent
LIST = "README"  # the page at /docs/guides itself
URL = "/docs/guides"
# In examples, the address of the instance; what serves a guide puts its own in that place. Guides
# for operators are about the address itself.
EXAMPLE, ADDRESS = "http://127.0.0.1:8000", "https://address.invalid"
OPERATORS = "Run an instance"

SECTION = re.compile(r"^## (.+)\n\n((?:(?:- |  ).+\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^- \[([^\]]+)\]\(([\w-]+)\.md\): (.+(?:\n  .+)*)", re.MULTILINE)
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
PICTURE = re.compile(r"!\[[^\]]*\]\(([\w-]+\.png)\)")


def write(folder: Path) -> None:
    """Write the guides, their pictures and the index ``guides.json`` into a folder."""
    index = sections((DOCS / f"{LIST}.md").read_text("utf-8"))
    operators = {guide["name"] for each in index if each["title"] == OPERATORS
                 for guide in each["guides"]}  # fmt: skip
    names = [guide["name"] for each in index for guide in each["guides"]]
    pages = {}
    for name in (LIST, *names):
        text = (DOCS / f"{name}.md").read_text("utf-8")
        if name not in operators:
            text = text.replace(EXAMPLE, ADDRESS)
        text = with_links_to(names, text)
        body, pages[name] = render(text)
        (folder / f"{name}.md").write_text(text, "utf-8")
        (folder / f"{name}.html").write_text(body, "utf-8")
        for picture in PICTURE.findall(text):
            shutil.copyfile(DOCS / picture, folder / picture)
    (folder / "guides.json").write_text(json.dumps({"sections": index, "pages": pages}), "utf-8")


def sections(text: str) -> list[dict[str, object]]:
    """The sections of the list, each with its title and its guides: name, title and summary."""
    return [
        {
            "title": title,
            "guides": [
                {"name": name, "title": label, "summary": " ".join(summary.split())}
                for label, name, summary in ENTRY.findall(entries)
            ],
        }
        for title, entries in SECTION.findall(text)
    ]


def with_links_to(names: list[str], text: str) -> str:
    """Markdown whose links to files lead to guides; of a link to another file its text is left."""

    def link(found: re.Match[str]) -> str:
        label, target, _ = found.groups()
        is_kept = not target or ":" in target or target.removesuffix(".md") in names
        return found[0] if is_kept else label

    # A label may have code in it, which the split cuts off: so code is put back by its number.
    code: list[str] = []

    def take(found: re.Match[str]) -> str:
        code.append(found[0])
        return f"\0{len(code) - 1}\0"

    bare = LINK.sub(link, CODE.sub(take, text))
    return re.sub("\0(\\d+)\0", lambda found: code[int(found[1])], bare)


def render(text: str) -> tuple[str, dict[str, object]]:
    """The HTML of a guide; its title, its first paragraph, and the id and text of each section."""
    parser = MarkdownIt("commonmark").enable("table")
    tokens = parser.parse(text)
    seen: dict[str, int] = {}
    headings, first = [], ""
    for place, token in enumerate(tokens):
        inside = tokens[min(place + 1, len(tokens) - 1)]
        if token.type == "heading_open":
            words = "".join(each.content for each in inside.children)
            token.attrSet("id", heading_id(words, seen))
            headings.append((token.tag, token.attrs["id"], words))
        elif token.type == "paragraph_open" and not first:
            first = " ".join("".join(plain(inside.children)).split())
        elif token.type == "th_open":
            if inside.content:
                token.attrSet("scope", "col")
            else:  # a cell without a word is no heading
                token.tag = tokens[place + 2].tag = "td"
        for each in token.children or ():
            set_link(each)
    for name, rule in RULES.items():
        parser.add_render_rule(name, rule)
    body = parser.renderer.render(tokens, parser.options, {})
    about = {"title": headings[0][2], "summary": first}
    return body, about | {"headings": [found[1:] for found in headings if found[0] == "h2"]}


def plain(children: list) -> Iterator[str]:
    for each in children:
        yield " " if each.type == "softbreak" else each.content


def heading_id(words: str, seen: dict[str, int]) -> str:
    """The id of a heading, by GitHub's rule."""
    name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
    seen[name] = number = seen.get(name, -1) + 1
    return f"{name}-{number}" if number else name


def set_link(token) -> None:
    if token.type == "link_open":
        target, hash_, anchor = str(token.attrs["href"]).partition("#")
        if target.endswith(".md") and ":" not in target:
            token.attrs["href"] = f"{URL}/{target.removesuffix('.md')}{hash_}{anchor}"
    elif token.type == "image":
        path = DOCS / str(token.attrs["src"])
        header = path.read_bytes()[:24]  # a PNG has its size there
        token.attrs |= {
            "src": f"{URL}/{path.name}",
            "width": int.from_bytes(header[16:20]),
            "height": int.from_bytes(header[20:24]),
        }


def block_of_code(_, tokens, place, *__) -> str:
    return f'<pre tabindex="0"><code>{html.escape(tokens[place].content)}</code></pre>\n'


def comment(_, tokens, place, *__) -> str:
    """Nothing: of HTML, documents have comments alone."""
    text = tokens[place].content
    if not re.fullmatch(r"\s*<!--.*-->\s*", text, re.DOTALL):
        raise ValueError(f"not a comment: {text}")
    return ""


def heading(_, tokens, place, *__) -> str:
    token = tokens[place]
    return f'<{token.tag} id="{token.attrs["id"]}"><a href="#{token.attrs["id"]}">'


RULES = {
    "code_block": block_of_code,
    "fence": block_of_code,
    "html_block": comment,
    "html_inline": comment,
    "heading_open": heading,
    "heading_close": lambda _, tokens, place, *__: f"</a></{tokens[place].tag}>\n",
    # A wide table scrolls by itself.
    "table_open": lambda *_: '<div class="scroll" tabindex="0"><table>\n',
    "table_close": lambda *_: "</table></div>\n",
}


if __name__ == "__main__":
    write(Path(sys.argv[1]))
