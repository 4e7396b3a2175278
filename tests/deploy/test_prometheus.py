"""The files for Prometheus: their alerts are about metrics that there are, and begin in time."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from app.policy.metrics import METRICS
from tests.architecture.sources import ROOT
from tests.captured import captured
from tests.deploy.files import text
from tests.deploy.programs import find_installed

RULES = "deploy/prometheus/canopy.rules.yml"
CASES = "tests/deploy/canopy.rules.test.yml"
# A name, then the labels that are chosen by.
SELECTED = re.compile(r"\b((?:canopy|process)_\w+)(?:\{([^}]*)\})?")
PROMETHEUS = {"job", "instance"}  # labels of what is scraped


def alerts() -> dict[str, str]:
    """The expression of each alert."""
    (group,) = yaml.safe_load(text(RULES))["groups"]
    return {rule["alert"]: rule["expr"] for rule in group["rules"]}


def samples() -> dict[str, set[str]]:
    """What each metric is shown as, with its labels."""
    found: dict[str, set[str]] = {}
    for name, kind in METRICS.items():
        labels = set(kind.labels)
        if kind.type == "histogram":
            found |= {
                f"{name}_sum": labels,
                f"{name}_count": labels,
                f"{name}_bucket": labels | {"le"},
            }
        else:
            found[name] = labels
    return found


def test_the_alerts_are_about_metrics_and_labels_that_there_are() -> None:
    known = samples()
    for alert, expression in alerts().items():
        chosen = SELECTED.findall(expression)
        assert chosen or alert == "CanopyDown"
        labels = set(PROMETHEUS)
        for name, selector in chosen:
            assert name in known, f"{alert}: {name}"
            assert set(re.findall(r"(\w+)\s*=?[=!~]", selector)) <= known[name], f"{alert}: {name}"
            labels |= known[name]
        for by in re.findall(r"\bby \(([^)]*)\)", expression):
            assert set(by.split(", ")) <= labels, f"{alert}: {by}"


def test_no_label_is_one_that_prometheus_gives() -> None:
    """It would rename ours."""
    assert all(PROMETHEUS.isdisjoint(kind.labels) for kind in METRICS.values())


def test_every_alert_has_a_case() -> None:
    *_, wrong = yaml.safe_load(text(CASES))["tests"]
    expected = [each for test in wrong["promql_expr_test"] for each in test["exp_samples"]]
    named = {re.findall(r'alertname="(\w+)"', each["labels"])[0] for each in expected}
    assert named == set(alerts())


@pytest.mark.slow
def test_promtool_accepts_the_files_and_their_cases(tmp_path: Path) -> None:
    promtool = find_installed("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed; Debian has it in the package prometheus")
    for path in (RULES, CASES, "deploy/prometheus/scrape.yml"):
        shutil.copy(ROOT / path, tmp_path)
    for words in (
        ["check", "config", "scrape.yml"],
        ["test", "rules", "canopy.rules.test.yml"],
    ):
        done = captured([promtool.path, *words], cwd=tmp_path, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
