"""Builds wheels and source distributions: maturin, after a check that all contents exist (decision 0196)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import maturin
from maturin import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
Settings = Mapping[str, Any] | None
SHARE = Path(__file__).resolve().parents[1] / "python" / "ackclock" / "share"
NEEDED = {
    "page/index.html": "the lab page is not built: make web builds it (Rust and Node 20 or newer)",
    "papers/README.md": "the papers are missing",
    "scenarios/bundle.toml": "the scenarios are missing",
    "conformance/broken.toml": "the conformance scripts are missing",
    "captures/cubic-two-paths-sender.pcapng.gz": "the captures are missing",
}
"""Files in every wheel, and the error message if one is missing."""
LINKS = "; in a checkout python/ackclock/share has symbolic links, in a source distribution it has files"


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    """Build a complete wheel, or exit with a message."""
    _check()
    built: str = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    return built


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Make a source distribution that can build a complete wheel, or exit with a message."""
    _check()
    built: str = maturin.build_sdist(sdist_directory, config_settings)
    return built


def _check() -> None:
    for name, wrong in NEEDED.items():
        if not (SHARE / name).is_file():
            sys.exit(f"ackclock: {wrong}{'' if name.startswith('page') else LINKS}")
