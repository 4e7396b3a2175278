"""What is compared with a report: it lacks something, or has too much."""

from __future__ import annotations

from tests.eudr.plots import Plots, differences, make_plots


def reported(
    made: Plots, *, holes: str = "split", points: bool = True
) -> list[tuple[str, str | None, str]]:
    """A report that is right; of each pair it names the first."""
    return [
        (each.severity, each.names[0], each.code)
        for each in made.planted
        if each.code and each.holes in (None, holes) and (points or not each.points)
    ]


def test_differences_name_what_is_missing_and_what_is_too_much() -> None:
    made = make_plots(1, plots=500, producers=40, each=3)
    for holes, points in (("split", True), ("refuse", True), ("split", False)):
        found = reported(made, holes=holes, points=points)
        found.append(("warning", None, "several_producers"))
        assert differences(made, found, holes=holes, points=points) == []
    severity, name, code = found.pop(-2)
    (line,) = differences(made, found, points=False)
    assert line.startswith(f"missing: {severity} {code}")
    harmless = next(each for each in made.planted if not each.code).names[0]
    hole = next(each for each in made.planted if each.code == "hole").names[0]
    for wrong in (
        ("problem", name, "country_missing"),
        ("problem" if severity == "warning" else "warning", name, code),
        ("warning", harmless, "area_differs"),
        ("problem", hole, "hole"),
    ):
        lines = differences(made, [*found, (severity, name, code), wrong], points=False)
        assert lines == [f"too much: {wrong[0]} {wrong[2]} of {wrong[1]}"]
