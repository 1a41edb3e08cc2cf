"""``make audit``: the allowed licences, and the detection of missing ones."""

from __future__ import annotations

import audit
import pytest

ONES = {"MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"}


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only AND MIT", False),
        ("MIT OR Apache-2.0 AND GPL-3.0-only", True),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0-only", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
        ("MIT/Apache-2.0", True),
    ],
)
def test_an_expression_is_met_if_one_of_its_choices_is_allowed(expression: str, met: bool) -> None:
    assert audit.allowed(expression, ONES) == met


@pytest.mark.parametrize("expression", ["", "MIT OR", "(MIT", "MIT)", "OR MIT", "MIT MIT"])
def test_what_is_no_expression_is_not_taken_for_one(expression: str) -> None:
    with pytest.raises(ValueError, match="allowed: an SPDX expression"):
        audit.allowed(expression, ONES)


def test_a_package_whose_licence_is_not_allowed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = [
        audit.Used("crate", "good 1.0", "MIT", beside=False),
        audit.Used("crate", "left 1.0", "MPL-2.0", beside=False),
        audit.Used("npm", "tool 1.0", "MPL-2.0", beside=True),
        audit.Used("Python", "bare 1.0", "", beside=True),
    ]
    monkeypatch.setattr(audit, "used", lambda: iter(packages))
    assert [line.split(":")[0] for line in audit.refused()] == ["crate left 1.0", "Python bare 1.0"]


def test_what_only_develops_is_known_from_what_is_given_away() -> None:
    packages = {(one.kind, one.name.split(" ")[0]): one for one in audit.used()}
    assert not packages["crate", "parquet"].beside
    assert not packages["npm", "hyparquet"].beside
    assert packages["npm", "vite"].beside
    assert packages["Python", "pytest"].beside
