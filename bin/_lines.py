"""Prints the lines of code of a checkout, by package. Standard library only."""

import argparse
import ast
import io
import json
import subprocess
import tokenize
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ("config.py", "worker.py", "wsgi.py", "gunicorn.conf.py")
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


class Count(NamedTuple):
    """How many files, and how many lines of code in them."""

    files: int
    lines: int


def main() -> int:
    parser = argparse.ArgumentParser(
        "bin/lines",
        description="Print the lines of Python code of each package of app/ and of each script "
        "beside it, without blank lines, comments, imports and docstrings; below, the average for "
        "each operation of /v1 and each HTML page, and the lines of tests/.",
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT, help="another checkout")
    parser.add_argument("--json", action="store_true", help="print an object of JSON")
    options = parser.parse_args()
    if not (options.folder / "app").is_dir():
        parser.error(f"{options.folder} has no folder app")
    packages, tests = count_packages(options.folder), count(options.folder / "tests")
    total = Count(*map(sum, zip(*packages.values(), strict=True)))
    operations, pages = addresses(options.folder)
    average = total.lines / (operations + pages) if operations else None
    if options.json:
        print(json.dumps({
            "packages": {name: each._asdict() for name, each in packages.items()},
            "total": total._asdict(),
            "operations": operations, "pages": pages, "per_operation_or_page": average,
            "tests": tests._asdict(),
        }, indent=2))  # fmt: skip
        return 0
    print_table({**packages, "total": total})
    if average:
        print(f"\n{average:.0f} lines per operation or page ({operations} and {pages})")
    else:
        print("\nThe application cannot be loaded: operations and pages are not counted.")
    print(f"{tests.lines:,} lines in {tests.files:,} files of tests/")
    return 0


def count_packages(root: Path) -> dict[str, Count]:
    """The count of each folder in ``app/``, of each file beside these, and of each script."""
    paths = [*(root / "app").iterdir(), *map(root.joinpath, SCRIPTS)]
    names = {str(path.relative_to(root)) + "/" * path.is_dir(): count(path) for path in paths}
    return {name: names[name] for name in sorted(names) if names[name].files}


def count(path: Path) -> Count:
    """The count of a file, or of a folder with all below it; other files than Python's are none."""
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    sources = [each.read_text("utf-8") for each in files if each.suffix == ".py"]
    return Count(len(sources), sum(map(lines_of_code, sources)))


def lines_of_code(source: str) -> int:
    """The number of lines that are not blank and no comment, import or docstring."""
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Expr(ast.Constant(str())):
                code.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = source.split("\n")
    return sum(bool(lines[number - 1].strip()) for number in code)


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


def print_table(counts: Mapping[str, Count]) -> None:
    width = max(map(len, counts))
    print(f"{'':{width}}  files   lines")
    for name, each in counts.items():
        print(f"{name:{width}}  {each.files:5,}  {each.lines:6,}")


if __name__ == "__main__":
    raise SystemExit(main())
