"""Count the instructions that each packet of an attack costs a host; print a table, and fail beyond the bounds.

The example ``attacks`` of crates/wire runs each attack with three numbers of packets under callgrind. The cost of a
packet is the difference between two of these runs. It may be at most four times that of an honest data packet, and at
most a third larger for many packets than for few, so that no attack gets more expensive with each packet.
"""

from __future__ import annotations

import re
import sys
from concurrent.futures import ThreadPoolExecutor

from instructions import built, output

COUNTS = (1_000, 4_000, 16_000)
MOST, GROWTH = 4.0, 4 / 3
SAID = re.compile(r"answers (\d+) of at most (\d+)\nkept (\d+) of at most (\d+)")


def main() -> int:
    """Run every attack."""
    program = built("attacks", "build", "--release", "--package=ackclock-wire", "--example=attacks")
    names = output(program).stdout.split()

    def counted(name: str, count: int) -> tuple[int, tuple[int, ...]]:
        ran = output("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, name, str(count))
        instructions, said = re.search(r"Collected\s*:\s*(\d+)", ran.stderr), SAID.search(ran.stdout)
        if instructions is None or said is None:
            sys.exit(f"{name}: callgrind or the program printed nothing:\n{ran.stdout}{ran.stderr}")
        return int(instructions[1]), tuple(map(int, said.groups()))

    wrong, honest = [], 0.0
    print(f"| attack, {COUNTS[-1]:,} packets | answers | bound | bytes kept | bound | instructions for each packet |")
    print("| --- | --- | --- | --- | --- | --- |")
    with ThreadPoolExecutor() as pool:
        for name in names:
            few, some, many = pool.map(lambda count: counted(name, count), COUNTS)  # noqa: B023 - awaited here
            early = (some[0] - few[0]) / (COUNTS[1] - COUNTS[0])
            late = (many[0] - some[0]) / (COUNTS[2] - COUNTS[1])
            honest = honest or late
            answers, most_answers, kept, most_kept = many[1]
            print(f"| {name} | {answers:,} | {most_answers:,} | {kept:,} | {most_kept:,} | {late:,.0f} |", flush=True)
            if late > MOST * honest or late > GROWTH * early or answers > most_answers or kept > most_kept:
                wrong.append(f"{name}: beyond its bounds; {early:,.0f} instructions at first, later {late:,.0f}")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
