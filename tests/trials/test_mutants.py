"""The changes that ``bin/trials mutants`` makes; trying them takes hours."""

from __future__ import annotations

import ast
from dataclasses import asdict

from trials.mutants.changes import Mutant, again, mutants, nearness, sample

SOURCE = '''\
"""A docstring is left alone."""
LIMIT: "int" = 5  # é

class Hive:
    """So is this one."""

    def fill(self, bees: int, full: bool = False) -> "str | None":
        if not full and bees <= LIMIT:
            self.bees += bees
            return f"{bees + 1} more"
        raise ValueError("full")
'''
PATH = "app/hives/filling.py"
CHANGES = {
    'LIMIT: "int" = 5  # é': ["5 → 6"],
    'def fill(self, bees: int, full: bool = False) -> "str | None":': ["False → True"],
    "if not full and bees <= LIMIT:": [
        "bees <= LIMIT → (bees < LIMIT)",
        "not full and bees <= LIMIT → (not (not full and bees <= LIMIT))",
        "not full and bees <= LIMIT → (not full or bees <= LIMIT)",
        "not full → (full)",
    ],
    "self.bees += bees": ["self.bees += bees → pass"],
    'return f"{bees + 1} more"': [
        "f\"{bees + 1} more\" → 'x'",
        'return f"{bees + 1} more" → return None',
    ],
    'raise ValueError("full")': ["\"full\" → 'fullx'", 'raise ValueError("full") → pass'],
}


def made(source: str = SOURCE, path: str = PATH) -> list[Mutant]:
    return list(mutants(path, source.encode()))


def test_the_changes_of_each_line() -> None:
    found: dict[str, list[str]] = {}
    for each in made():
        found.setdefault(each.source, []).append(each.change)
    assert {line: sorted(changes) for line, changes in found.items()} == CHANGES


def test_each_change_is_code_that_differs() -> None:
    texts = [each.apply(SOURCE.encode()).decode() for each in made()]
    assert len({ast.dump(ast.parse(text)) for text in [*texts, SOURCE]}) == len(texts) + 1
    assert SOURCE.replace('LIMIT: "int" = 5', 'LIMIT: "int" = 6') in texts


def test_what_runs_a_change() -> None:
    by_change = {each.change: each for each in made()}
    constant, default = by_change["5 → 6"], by_change["False → True"]
    assert (constant.function, constant.lines, constant.names) == ("", (), ("LIMIT",))
    assert (default.function, {*default.lines}) == ("Hive.fill", {7, 8, 9, 10, 11})
    assert {*by_change["self.bees += bees → pass"].lines} == {9}


def test_a_seed_chooses_the_same_lines_again() -> None:
    assert sample(made(), 4, 1) == sample(made(), 4, 1) != sample(made(), 4, 2)
    assert len({each.line for each in sample(made(), 99, 1)}) == len(CHANGES)


def test_a_change_is_found_in_another_file() -> None:
    former = [asdict(each) for each in made()]
    fuller = f"import bees\n\n{SOURCE}".replace("bees <= LIMIT", "bees < LIMIT")
    moved = made(fuller, "app/hives/hive.py")
    pairs = again(former, made(fuller, "app/bees/filling.py") + moved)
    gone = [each["change"] for each, now in pairs if now is None]
    assert gone == [each["change"] for each in former if "<= LIMIT" in each["source"]]
    assert {now for _, now in pairs if now} < {*moved}


def test_a_file_is_near_its_tests() -> None:
    assert nearness("tests/hives/test_filling.py::test_a_bee", PATH) == 2
    assert nearness("tests/hives/bees/test_filling.py::test_a_bee", PATH) == 1
    assert nearness("tests/test_filling.py::test_a_bee", PATH) == 0
