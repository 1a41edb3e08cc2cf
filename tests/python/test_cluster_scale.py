"""The stand-ins of ``tools/cluster_scale.py``: a sweep takes their rows for those of real workers."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import cluster_scale

from ackclock.runs.store.keys import keys_of, keys_of_runs
from ackclock.sweep.points import Points


def test_a_stand_in_answers_with_the_runs_that_were_asked_for() -> None:
    tasks = [replace(point.task, count=3) for point in Points(cluster_scale.plan(8000))]
    assert len(tasks) == 8
    stand_in = cluster_scale.StandIn()
    for task, done in zip(tasks, stand_in(tasks, 1.0), strict=True):
        assert keys_of_runs(done.runs) == keys_of(task)
        assert {json.loads(run)["seed"] for run in done.runs} == set(range(task.first, task.first + task.count))


def test_a_scheduler_and_eight_stand_ins_fill_a_store(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    command = [sys.executable, cluster_scale.__file__, "--runs", "2000", "--workers", "8", "--json", str(figures)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert (found["runs"], found["workers"]) == (2000, 8)
    assert found["sqlite_mb"] > 1
    assert "| runs kept a second |" in done.stdout
