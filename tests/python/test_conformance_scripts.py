"""The scripts in conformance: generated files are current, headers are complete, and the model of a receiver."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import ackclock as ak
import arrivals
import conformance_index


def test_every_order_of_five_segments_and_every_pair_of_sixteen_edges_has_its_script() -> None:
    names = [path.name for path, _ in arrivals.files()]
    assert sum(name.startswith("order-") for name in names) == 120
    assert sum(name.startswith("overlap-") for name in names) == 120


def test_the_model_reports_as_the_examples_of_the_rfcs_do() -> None:
    # RFC 2018 §7, case 2 (the first of eight segments of 500 bytes is lost), and RFC 2883 §4.1.2 and §4.2.1.
    lost = arrivals.Receiver(timestamps=False, next=5000)
    assert [lost.arrives(at, at + 500, 0) for at in (5500, 6000, 6500)][-1] == [(5500, 7000)]
    twice = arrivals.Receiver(timestamps=False, next=4000, held=[(4500, 5000)])
    assert twice.arrives(3000, 3500, 0) == [(3000, 3500), (4500, 5000)]
    part = arrivals.Receiver(timestamps=False, next=1000, held=[(1500, 2000)])
    assert part.arrives(1000, 2000, 0) == [(1500, 2000)]
    assert part.next == 2000


def test_the_model_reports_at_most_three_blocks_beside_timestamps() -> None:
    for timestamps, most in ((False, 4), (True, 3)):
        held = arrivals.Receiver(timestamps=timestamps)
        assert len([held.arrives(at, at + 1, 0) for at in (3, 5, 7, 9, 11)][-1]) == most


def test_no_two_scripts_written_by_hand_prove_the_same_sentence_of_the_same_section() -> None:
    by_hand = [script for script in conformance_index.headers() if not script.generated]
    claims = [(script.sections, script.proves) for script in by_hand]
    assert [twice for twice in set(claims) if claims.count(twice) > 1] == []


def test_a_script_without_its_rfc_section_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    script = tmp_path / "states/odd.pkt"
    script.write_text("// Proves much.\n", encoding="utf-8")
    with pytest.raises(
        conformance_index.BadHeaderError, match=r"states/odd\.pkt:1: found '// Proves much\.'; expected"
    ):
        conformance_index.header(script, tmp_path)
    script.write_text("// RFC 9293 §3.4, RFC 5961 §4: it is so.\n", encoding="utf-8")
    assert conformance_index.header(script, tmp_path).sections == ((9293, "3.4"), (5961, "4"))
    assert conformance_index.header(script, tmp_path).proves == "it is so."


def test_a_header_may_name_a_rule_of_a_section_another_section_and_another_source() -> None:
    assert conformance_index.places("RFC 8985 §3.2, §6.2 step 4") == ((8985, "3.2"), (8985, "6.2"))
    assert conformance_index.places("RFC 6675 §5 (A, B), Hoe 1995 §3") == ((6675, "5"), (0, "Hoe 1995 §3"))
    assert conformance_index.places("Linux (tcp_early_retrans = 0)") == ((0, "Linux"),)
    assert conformance_index.places("§3") == conformance_index.places("RFC 9293") == ()


def test_every_script_of_ours_passes() -> None:
    assert [(r.file.name, r.text) for r in ak.conform(conformance_index.SCRIPTS) if r.result != "pass"] == []


def with_setting(script: str, setting: str) -> str:
    """Put a setting before the first event of a script, in place of the script's own setting of that name."""
    own = f"`sysctl -q {setting.partition('=')[0]}="
    lines = [line for line in script.splitlines() if own not in line]
    head = next(i for i, line in enumerate(lines) if line and not line.startswith(("//", "--")))
    return "\n".join([*lines[:head], f"   0 `sysctl -q {setting}`", *lines[head:], ""])


def test_a_script_fails_when_the_rule_that_it_proves_is_switched_off_or_broken(tmp_path: Path) -> None:
    broken = tomllib.loads((conformance_index.SCRIPTS / "broken.toml").read_text(encoding="utf-8"))
    assert len(broken) >= 40
    for name, setting in broken.items():
        script = (conformance_index.SCRIPTS / f"{name}.pkt").read_text(encoding="utf-8")
        changed = tmp_path / f"{name}.pkt"
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(with_setting(script, setting), encoding="utf-8")
    found = {r.file.relative_to(tmp_path).with_suffix("").as_posix(): r for r in ak.conform(tmp_path)}
    assert [(name, r.result, r.text) for name, r in found.items() if r.result != "fail"] == []
    assert found.keys() == broken.keys()


FOLDERS = (
    *("ack", "congestion", "detect", "disorder", "idle", "pacing", "recovery", "rto", "spurious", "startup", "timeout"),
    "undo",
)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_of_algorithms_has_at_least_three_scripts(folder: str) -> None:
    scripts = [
        name for one, names in conformance_index.algorithms().items() if one.split("/")[0] == folder for name in names
    ]
    assert len(scripts) >= 3, scripts


def test_an_algorithm_that_there_is_not_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.pkt").write_text("// RFC 9293 §3.4: it is so.\n// Algorithm: recovery/none\n", encoding="utf-8")
    with pytest.raises(conformance_index.BadHeaderError, match=r"odd\.pkt:2: found 'recovery/none'"):
        conformance_index.algorithms(tmp_path)
