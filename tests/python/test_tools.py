"""What the lists of tests name exists: fuzz targets, and the modules of the Rust test programs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_fuzz_target_names_one_test_that_exists() -> None:
    for name, target in tomllib.loads((ROOT / "tools/campaigns/fuzz.toml").read_text(encoding="utf-8")).items():
        match target["test"]:
            case ["page", words]:
                text = (ROOT / "web/src/damaged.test.ts").read_text(encoding="utf-8")
                found = len(re.findall(f'"[^"\\n]*{words}[^"\\n]*"', text))
            case ["python", file, words]:
                text = (ROOT / "tests/python" / file).read_text(encoding="utf-8")
                found = int(all(word in text for word in words.split() if word != "and"))
            case ["rust", file, words]:
                crates = ROOT / "crates"
                files = [*crates.glob(f"*/tests/{file}.rs"), *crates.glob(f"*/tests/{file}/*.rs")]
                text = "".join(one.read_text(encoding="utf-8") for one in files)
                found = text.count(f"fn {words}")
            case _:
                found = 0
        assert found == 1, name


def test_every_file_of_rust_tests_is_a_module_of_its_program() -> None:
    files = [one for main in (ROOT / "crates").glob("*/tests/*/main.rs") for one in main.parent.rglob("*.rs")]
    assert len(files) > 100
    for file in files:
        if file.name != "main.rs":
            program = file.parent / "main.rs"
            owner = program if program.is_file() else file.parent.with_suffix(".rs")
            declared = rf"^(pub(\(crate\))? )?mod {file.stem};"
            assert re.search(declared, owner.read_text(encoding="utf-8"), re.MULTILINE), file
