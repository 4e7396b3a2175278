"""``bin/lines``: prints the lines of code of a checkout, by package. Standard library only."""

import argparse
import ast
import io
import json
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ("config.py", "worker.py", "wsgi.py", "gunicorn.conf.py")
# The columns: the kinds of files, by what their names end with.
KINDS = {
    "python": (".py",),
    "javascript": (".js", ".mjs", ".ts"),
    "css": (".css",),
    "templates": (".html", ".txt", ".svg"),
}
NOT_OURS = {"third_party", "made", "node_modules", "data"}  # fetched or generated; data of tests
COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$|<!--.*?-->|\{#.*?#\}", re.DOTALL | re.MULTILINE)
LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip
# Prints how many operations of /v1 and how many pages the application in the current folder has.
ADDRESSES = """\
import tempfile
from app.factory import create_app
from config import load_settings
with tempfile.TemporaryDirectory() as folder:
    app = create_app(load_settings({"INSTANCE_PATH": folder}))
operations = pages = 0
for rule in app.url_map.iter_rules():
    blueprint = app.blueprints.get(rule.endpoint.rpartition(".")[0])
    if rule.rule.startswith("/v1/"):
        operations += len(rule.methods - {"HEAD", "OPTIONS"})
    elif type(blueprint).__name__ == "PageBlueprint":
        pages += "GET" in rule.methods
print(operations, pages)
"""
Count = dict[str, int]  # of files, and of lines of each kind


def main() -> int:
    parser = argparse.ArgumentParser(
        "bin/lines",
        description="Print the lines of code of each package of app/, of each script beside it and "
        "of tests/: of Python, without blank lines, comments, imports and docstrings; of "
        "JavaScript, CSS and templates, without blank lines and comments. Below, the average of "
        "Python for each operation of /v1 and each HTML page.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--json", action="store_true", help="print an object of JSON")
    options = parser.parse_args()
    root = options.folder
    if not (root / "app").is_dir():
        parser.error(f"{root} has no folder app")
    paths = [*(root / "app").iterdir(), *map(root.joinpath, SCRIPTS)]
    names = {f"{path.relative_to(root)}{'/' * path.is_dir()}": count(path) for path in paths}
    packages = {name: names[name] for name in sorted(names) if names[name]["files"]}
    total = {kind: sum(each[kind] for each in packages.values()) for kind in ("files", *KINDS)}
    tests = count(root / "tests")
    operations, pages = addresses(root)
    average = total["python"] / (operations + pages) if operations else None
    if options.json:
        print(json.dumps({
            "packages": packages, "total": total, "operations": operations, "pages": pages,
            "per_operation_or_page": average, "tests": tests,
        }, indent=2))  # fmt: skip
        return 0
    print_table({**packages, "total": total, "tests/": tests})
    if average:
        print(f"\n{average:.0f} lines of Python per operation or page ({operations} and {pages})")
    else:
        print("\nThe application cannot be loaded: operations and pages are not counted.")
    return 0


def count(path: Path) -> Count:
    """The files of these kinds in a folder and below, or this file, and their lines."""
    found = dict.fromkeys(("files", *KINDS), 0)
    for file in [path] if path.is_file() else sorted(path.rglob("*.*")):
        if file.is_file() and not NOT_OURS.intersection(file.relative_to(path).parts):
            for kind, ends in KINDS.items():
                if file.suffix in ends:
                    text = file.read_text("utf-8")
                    lines = code_of_python(text) if kind == "python" else code_of_others(text)
                    found["files"] += 1
                    found[kind] += sum(bool(line.strip()) for line in lines)
    return found


def code_of_python(source: str) -> Iterator[str]:
    """The lines that are no comment, import or docstring."""
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            numbers.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant(str())):
                numbers.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = source.split("\n")
    return (lines[number - 1] for number in numbers)


def code_of_others(source: str) -> list[str]:
    """The lines without comments."""
    return COMMENT.sub("", source).split("\n")


def addresses(root: Path) -> tuple[int, int]:
    """How many operations and pages the application in a folder has; 0 if it cannot be loaded."""
    pythons = [folder / ".venv/bin/python" for folder in (root, ROOT)]
    python = next(filter(Path.exists, pythons), None)
    if python is None:
        return 0, 0
    command = [str(python), "-E", "-B", "-c", ADDRESSES]  # which has the folder on its path
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    if done.returncode:
        return 0, 0
    operations, pages = map(int, done.stdout.split())
    return operations, pages


def print_table(counts: dict[str, Count]) -> None:
    width = max(map(len, counts))
    print(" " * width + "".join(f"{kind:>12}" for kind in ("files", *KINDS)))
    for name, each in counts.items():
        print(f"{name:{width}}" + "".join(f"{number:12,}" for number in each.values()))


if __name__ == "__main__":
    raise SystemExit(main())
