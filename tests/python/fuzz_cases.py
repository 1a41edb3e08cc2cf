"""Mutated scenarios, plans, paths and command lines; a seed gives the same cases on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SWEEP = """
name = "fuzzed"
scenario = "base.toml"
seeds = { first = 1, count = 2 }
stop = { column = "goodput_bytes_per_s", half_width = "2 %", at_least = 4, at_most = 8 }
[grid]
stack = ["newreno", "dsack-avg"]
"link[0].rate" = { from = "1 Mbps", to = "4 Mbps", count = 2 }
[[coupled]]
"link[0].delay" = ["5 ms", "10 ms"]
"link[0].elements[0].p" = [0.001, 0.01]
[random]
samples = 2
seed = 1
"set.rto.min" = { from = "200 ms", to = "1 s", log = true }
"""
TUNE = """
name = "fuzzed"
stack = "dsack-ewma"
trials = 3
seed = 1
search = "tpe"
seeds = { first = 1, count = 1 }
[set]
"run.duration" = "1 s"
[parameters]
"detect.threshold.x" = { from = 0.01, to = 1.0, log = true }
"rto.min" = { from = "200 ms", to = "1 s" }
[[path]]
name = "one"
scenario = "base.toml"
set = { "link[0].rate" = "2 Mbps" }
[held_out]
seeds = { first = 100, count = 2 }
[[held_out.path]]
scenario = "base.toml"
"""
STUDY = """
name = "fuzzed"
question = "Which one?"
measure = "completion"
beside = ["goodput", "timeouts"]
stacks = ["newreno", "dsack-avg", "rfc-6675"]
baseline = "newreno"
within = "2 %"
seeds = { first = 1, at_least = 5, at_most = 20 }
[set]
"run.duration" = "1 s"
[[path]]
name = "one"
scenario = "base.toml"
set = { "link[0].delay" = "60 ms" }
[[path]]
scenario = "base.toml"
"""
PLANS = (
    (["sweep", "p.toml", "--dry-run"], SWEEP),
    (["tune", "p.toml"], TUNE),
    (["study", "p.toml", "--dry-run"], STUDY),
)
NUMBERS = (
    "0", "-1", "1e308", "nan", "inf", "-inf", "18446744073709551615", "18446744073709551616", "-9223372036854775808",
    "0.1", "1e-300", "00", "1_000_000", "true", '"x"', "[]", "{}", "9" * 400,
)  # fmt: skip
UNITS = ("ns", "us", "ms", "s", "min", "Mbps", "Gbps", "kbps", "B", "kB", "MiB", "packets", "%", "", "parsec")
TEXTS = (
    "", " ", "\\u0000", "\\n", "S", "../../etc/passwd", "/dev/zero", "/etc/passwd", "#x:Y", "rule.py:Rule", "x" * 3000,
    "\u202e", "💥", "{}", "NaN", "python", "file:///", "%s%n", "-1 ms", "1e400 s",
)  # fmt: skip
CHARACTERS = '[]{}"=,.#\n\\\x00\x7f\u2028é9-_ '
OPTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("--seed", ("-1", "0", "x", "1e3", str(2**63), "9" * 30, "")),
    ("--seeds", ("0", "-1", "1", "x", str(10**7), "")),
    ("--stack", ("", "rneo", "newreno", "\u202e", "x" * 2000)),
    (
        "--set",
        ("", "=", "x", "a=b", "rto.min=", "rto.min=-1 ms", "rto.min=1e999", "rto={", "detect=[[[[", "..=1"),
    ),
    ("--threads", ("0", "-1", "1", "x", "99999999999999999999")),
    ("--trace", ("no/such/x.csv", "x.gif", "", ".", "x.parquet")),
    ("--pcap", ("/dev/null", "/proc/nothing", "")),
    ("--plot", ("x.gif", "", "no/such/x.svg")),
    ("--plot-from", ("x", "-1 s", "1 s")),
    ("--on", ("dask:0", "dask:-1", "dask://", "tls://x", "x", "")),
    ("--store", ("/dev/null/x", "base.toml", "")),
    ("--nonsense", ("1",)),
)
PATHS = (
    "", ".", "..", "/", "/dev/null", "/dev/full", "no/such/file.toml", "base.toml/x", "folder", "x" * 300, "~",
    "bytes.toml", "empty.toml", "dir/../base.toml", "\u202e.toml", "-", "--", "/proc/self/mem", "link.toml", "big.toml",
)  # fmt: skip
COMMANDS = (
    ("run",), ("show",), ("sweep",), ("sweep", "--dry-run"), ("tune",), ("study",), ("capture",), ("reproduce",),
    ("results", "show"),
    ("results", "ls", "--store"), ("results", "check", "--store"), ("results", "merge"), ("lab", "--no-open"),
)  # fmt: skip


@dataclass
class Case:
    """A command line, and the files that it uses."""

    command: list[str]
    files: dict[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The case as JSON."""
        return asdict(self)


def bases() -> list[str]:
    """Valid scenarios to start from."""
    found = [(ROOT / "python" / "ackclock" / "starter.toml").read_text(encoding="utf-8")]
    return found + [path.read_text(encoding="utf-8") for path in sorted((ROOT / "scenarios").glob("*.toml"))]


def mutated(text: str, other: str, draw: random.Random) -> str:
    """Return a text with one to four mistakes."""
    for _ in range(draw.choice((1, 1, 1, 2, 3, 4))):
        text = draw.choice(MISTAKES)(text, other, draw)
    return text


def _line(text: str, other: str, draw: random.Random) -> str:
    """Remove, duplicate or move a line, or insert one from elsewhere."""
    lines = text.splitlines() or [""]
    at, to = draw.randrange(len(lines)), draw.randrange(len(lines))
    others = other.splitlines() or [""]
    match draw.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(to, lines[at])
        case 2:
            lines[at], lines[to] = lines[to], lines[at]
        case _:
            lines.insert(at, draw.choice(others))
    return "\n".join(lines) + "\n"


def _value(text: str, other: str, draw: random.Random) -> str:
    """Replace the text after an equals sign."""
    places = [i for i, c in enumerate(text) if c == "="]
    if not places:
        return other
    at = draw.choice(places) + 1
    end = min((i for i in (text.find(c, at) for c in ",}\n") if i >= 0), default=len(text))
    number, unit = draw.choice(NUMBERS), draw.choice(UNITS)
    new = draw.choice((number, f'"{number} {unit}"', f'"{draw.choice(TEXTS)}"', f"[{number}, {number}]"))
    return f"{text[:at]} {new}{text[end:]}"


def _word(text: str, _: str, draw: random.Random) -> str:
    """Replace a key or a word with another one."""
    words = [word for word in text.replace('"', " ").split() if word.isidentifier()] or ["x"]
    return text.replace(draw.choice(words), draw.choice(words + list(TEXTS)), draw.choice((1, -1)))


def _character(text: str, _: str, draw: random.Random) -> str:
    """Remove or insert a character."""
    at = draw.randrange(len(text) + 1)
    return text[:at] + draw.choice(("", draw.choice(CHARACTERS))) + text[at + draw.randrange(2) :]


def _deep(text: str, _: str, draw: random.Random) -> str:
    """Repeat or nest something very often."""
    at, many = draw.randrange(len(text) + 1), draw.choice((200, 20_000))
    return text[:at] + draw.choice(("[", "{", "a.", "\n[[link]]", " ", "elements = ")) * many + text[at:]


MISTAKES = (_line, _line, _value, _value, _value, _value, _word, _word, _character, _character, _deep)
"""Kinds of mistakes, weighted by repetition."""


def scenarios(count: int, draw: random.Random) -> Iterator[Case]:
    """Mutated scenarios, shown or run."""
    good = bases()
    for i in range(count):
        text = mutated(draw.choice(good), draw.choice(good), draw)
        yield Case(["run" if i % 3 == 0 else "show", "s.toml"], {"s.toml": text})


def plans(count: int, base: str, draw: random.Random) -> Iterator[Case]:
    """Mutated plans of sweeps, tuning and studies."""
    for i in range(count):
        command, text = PLANS[i % len(PLANS)]
        text = mutated(text, draw.choice(PLANS)[1], draw)
        yield Case(list(command), {"p.toml": text, "base.toml": base})


def lines(count: int, base: str, draw: random.Random) -> Iterator[Case]:
    """Paths of missing files, and invalid options."""
    files = {"base.toml": base, "empty.toml": "", "p.toml": SWEEP}
    every = [[*command, path] for command in COMMANDS for path in PATHS]
    draw.shuffle(every)
    for i in range(count):
        if i % 2 and every:
            yield Case(every.pop(), files)
            continue
        option, values = draw.choice(OPTIONS)
        command = draw.choice((["run", "base.toml"], ["show", "base.toml"], ["sweep", "p.toml", "--dry-run"]))
        extra = draw.choice(((), (), ("--nonsense",), ("more",)))
        yield Case([*command, option, draw.choice(values), *extra], files)
