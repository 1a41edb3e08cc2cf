from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, final

__all__ = [
    "Ack",
    "Advice",
    "Board",
    "Capture",
    "Cause",
    "Context",
    "Cut",
    "Episode",
    "Fate",
    "Flow",
    "Gate",
    "GiveBack",
    "Ledger",
    "LiveRun",
    "Loss",
    "Mistake",
    "Newest",
    "Packet",
    "Phase",
    "Prior",
    "Rearm",
    "Repair",
    "Runs",
    "Sample",
    "Segment",
    "Table",
    "Verdict",
    "Window",
    "Xmit",
    "__version__",
    "capture",
    "capture_copy",
    "capture_fit",
    "capture_packets",
    "check",
    "checksums",
    "columns_json",
    "conform_run",
    "conform_scripts",
    "events",
    "identities",
    "interval",
    "live_bench",
    "live_path",
    "live_recv",
    "live_send",
    "live_shell",
    "own_parameters",
    "plain_identities",
    "read_toml",
    "results_revision",
    "rows_of_runs",
    "run",
    "run_json",
    "run_rows",
    "schema_json",
    "seconds",
    "show_toml",
    "stack_names",
    "stacks_json",
]

__version__: str
results_revision: int

@final
class Table:
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @staticmethod
    def of_bytes(bytes: bytes) -> Table: ...
    def __len__(self) -> int: ...

@final
class Runs:
    scenario: Final[str]
    duration_s: Final[float]
    first: Final[tuple[int, str]]
    def json(self) -> str: ...
    def frame(self) -> Table: ...
    def summary(self) -> Table: ...
    def links(self) -> Table: ...
    def background(self) -> Table: ...
    def reordering(self) -> Table: ...
    def densities(self) -> Table: ...
    def stalls(self) -> Table | None: ...
    def __len__(self) -> int: ...

@final
class Capture:
    def table(self, name: str) -> Table: ...
    def late(self) -> list[int] | None: ...
    def answers(self, connections: Sequence[tuple[str, int]], transfers: Sequence[tuple[str, int]]) -> list[str]: ...
    def json(self, details: bool) -> str: ...

def conform_scripts(path: Path) -> list[Path]: ...
def conform_run(
    files: Sequence[Path],
    freebsd: bool,
    stack: str | None,
    library: Path | None,
    tun: tuple[str, Sequence[str]] | None,
    threads: int,
) -> str: ...
def capture(
    files: Sequence[str],
    at: str | None,
    limit: int,
    chosen: tuple[str, str] | None,
    densities: bool,
    progress: Callable[[float], object] | None,
) -> Capture: ...
def capture_copy(
    file: str,
    frames: Sequence[int] | None,
    comments: Mapping[int, str] | None,
    chosen: tuple[str, str] | None,
    to: str,
) -> tuple[int, int]: ...
def capture_packets(file: str, interface: int | None, number: int, source: str, limit: int) -> Table: ...
def capture_fit(
    files: Sequence[str],
    at: str | None,
    limit: int,
    chosen: tuple[str, str] | None,
    stack: str,
    seconds: float | None,
) -> str: ...

@final
class LiveRun:
    runs: Final[Runs]
    about: Final[str]
    def events(self) -> tuple[str, Table]: ...
    def simulate(self, seeds: int, progress: Callable[[float], object] | None) -> Runs: ...
    def simulated_events(self, seed: int) -> tuple[str, Table]: ...

def run(
    file: str,
    text: str | None,
    stacks: Sequence[str],
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | list[int] | None,
    trace: str | None,
    pcap: tuple[str, str | None, int | None] | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
    measures: bool,
    stalls: bool,
) -> Runs: ...
def events(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int,
    progress: Callable[[float], object] | None,
) -> tuple[str, Table]: ...
def run_json(
    file: str,
    text: str | None,
    stacks: Sequence[str],
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | list[int] | None,
    trace: str | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> str: ...
def run_rows(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | list[int] | None,
    threads: int | None,
    progress: Callable[[float], object] | None,
) -> list[str]: ...
def rows_of_runs(runs: list[str]) -> Table: ...
def checksums(keys: Sequence[object], runs: Sequence[object]) -> list[int | None]: ...
def plain_identities(runs: Sequence[str]) -> list[str | None]: ...
def check(file: str, text: str | None) -> None: ...
def read_toml(file: str, text: str) -> str: ...
def show_toml(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | list[int] | None,
) -> str: ...
def identities(
    file: str,
    text: str | None,
    stack: str | None,
    set: Sequence[tuple[str, str]],
    seed: int | None,
    seeds: int | list[int] | None,
) -> list[str]: ...
def schema_json() -> str: ...
def columns_json() -> str: ...
def stacks_json() -> str: ...
def stack_names() -> list[str]: ...
def seconds(option: str, text: str) -> float: ...
def own_parameters(stack: str) -> list[tuple[str, str]]: ...
def interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float | None]: ...

@final
class Ack:
    ack: Final[int]
    prior_una: Final[int]
    acked: Final[int]
    advances: Final[bool]
    sacked: Final[int]
    delivered: Final[int]
    dup_run: Final[int]
    is_dup: Final[bool]
    has_sack: Final[bool]
    ece: Final[bool]
    covers_retransmit: Final[bool]
    dsack: Final[tuple[int, int] | None]
    rtt: Final[int | None]
    tsecr: Final[int | None]
    newest: Final[Newest | None]

@final
class Advice:
    KEEP: ClassVar[Advice]
    @staticmethod
    def ssthresh(bytes: float) -> Advice: ...
    @staticmethod
    def growth(share: float) -> Advice: ...

@final
class Board:
    pipe: Final[int]
    sacked: Final[int]
    lost: Final[int]
    lost_to_send: Final[int]
    highest_sacked: Final[int | None]
    first_lost: Final[int | None]
    first_hole: Final[Segment | None]
    def segments(self) -> list[Segment]: ...
    def newly(self) -> list[Segment]: ...
    def get(self, offset: int) -> Segment | None: ...
    def __len__(self) -> int: ...
    def mark_head_lost(self) -> int: ...
    def mark_lost(self, offset: int) -> int: ...
    def mark_rest_lost(self) -> int: ...
    def mark_holes_under(self, segments: int) -> int: ...
    def mark_holes_below(self, offset: int) -> int: ...
    def mark_is_lost(self, dupthresh: int, mss: int) -> int: ...
    def unmark_lost(self) -> None: ...
    def clear_sacks(self) -> None: ...

@final
class Cause:
    FAST: ClassVar[Cause]
    RTO: ClassVar[Cause]
    ECN: ClassVar[Cause]
    def __int__(self) -> int: ...

@final
class Context:
    now: Final[int]
    snd_una: Final[int]
    snd_nxt: Final[int]
    snd_max: Final[int]
    flight: Final[int]
    room: Final[int]
    recover: Final[int | None]
    timed_out: Final[bool]
    srtt: Final[int | None]
    min_rtt: Final[int | None]
    rto: Final[int]
    rto_at: Final[int | None]
    mss: Final[int]
    next_len: Final[int]
    phase: Final[Phase]
    cwnd_limited: Final[bool]

@final
class Cut:
    def __new__(cls, ssthresh: float, cwnd: float) -> Cut: ...
    ssthresh: Final[float]
    cwnd: Final[float]

@final
class Episode:
    id: Final[int]
    cause: Final[Cause]
    began: Final[int]
    recover: int
    prior: Final[Window]
    target: Final[float]
    flight: Final[int]
    retransmits: Final[int]
    proven_spurious: int
    dupacks_to_fill: Final[int]
    first_dup: Final[int]
    last_dup: Final[int]
    filled: Final[int | None]
    ended: Final[int | None]
    void: bool
    def sample(self) -> Sample | None: ...

@final
class Fate:
    PASS: ClassVar[Fate]
    DROP: ClassVar[Fate]
    DUPLICATE: ClassVar[Fate]
    @staticmethod
    def delay(ns: int) -> Fate: ...

@final
class Flow:
    CONTINUE: ClassVar[Flow]
    DONE: ClassVar[Flow]
    DONE_AND_GROW: ClassVar[Flow]
    RESTART: ClassVar[Flow]
    REWIND: ClassVar[Flow]
    BEGIN: ClassVar[Flow]
    @staticmethod
    def continue_with(rearm: Rearm) -> Flow: ...

@final
class Gate:
    WINDOW: ClassVar[Gate]
    PIPE: ClassVar[Gate]
    def __int__(self) -> int: ...

@final
class GiveBack:
    w: Final[Window]
    acked: Final[int]
    outstanding: Final[int]
    def restore_congestion(self, episode: Episode) -> None: ...
    def fired_for_nothing(self, at: int) -> None: ...

@final
class Ledger:
    open: Final[Episode | None]
    newest: Final[Episode | None]
    count: Final[int]
    def get(self, id: int) -> Episode | None: ...

@final
class Loss:
    cause: Final[Cause]
    flight: Final[int]
    rwnd: Final[int]
    first: Final[int]
    cwnd_at_send: Final[float]
    sent_at: Final[int]
    sends: Final[int]
    repeated: Final[bool]

@final
class Mistake:
    def __new__(cls, episode: Episode, reordered: bool = True) -> Mistake: ...
    episode: Final[int]
    cause: Final[Cause]
    sample: Final[Sample | None]

@final
class Newest:
    at: Final[int]
    end: Final[int]
    retransmitted: Final[bool]

@final
class Packet:
    now: Final[int]
    nth: Final[int]
    size: Final[int]
    data: Final[bool]

@final
class Phase:
    OPEN: ClassVar[Phase]
    DISORDER: ClassVar[Phase]
    RECOVERY: ClassVar[Phase]
    LOSS: ClassVar[Phase]
    def __int__(self) -> int: ...

@final
class Prior:
    AT_TIMEOUT: ClassVar[Prior]
    BEFORE_INTERRUPTED: ClassVar[Prior]
    def __int__(self) -> int: ...

@final
class Rearm:
    ON_NEW_DATA: ClassVar[Rearm]
    RESTART: ClassVar[Rearm]
    KEEP: ClassVar[Rearm]
    def __int__(self) -> int: ...

@final
class Repair:
    MARKS: ClassVar[Repair]
    REWIND: ClassVar[Repair]
    REWIND_ALL: ClassVar[Repair]

@final
class Sample:
    dupacks: Final[int]
    first_dup: Final[int]
    last_dup: Final[int]
    filled: Final[int]
    resent: Final[int | None]
    segments: Final[int]
    spacing: Final[int]

@final
class Segment:
    start: Final[int]
    end: Final[int]
    len: Final[int]
    at: Final[int]
    cwnd: Final[float]
    sends: Final[int]
    sacked: Final[bool]
    lost: Final[bool]
    resent: Final[bool]
    probe: Final[bool]

@final
class Verdict:
    CLEAR: ClassVar[Verdict]
    SUSPECT: ClassVar[Verdict]
    REPAIRED: ClassVar[Verdict]
    PROBE: ClassVar[Verdict]
    @staticmethod
    def lost(bytes: int) -> Verdict: ...
    @staticmethod
    def more(bytes: int) -> Verdict: ...

@final
class Window:
    def __new__(cls, cwnd: float, ssthresh: float) -> Window: ...
    def admits(self, cx: Context, extra: int = 0) -> bool: ...
    def admits_by_pipe(self, board: Board, cx: Context) -> bool: ...
    cwnd: float
    ssthresh: float

@final
class Xmit:
    NEW: ClassVar[Xmit]
    @staticmethod
    def again(offset: int) -> Xmit: ...
    offset: Final[int | None]

def live_bench(
    sends: bool,
    v6: bool,
    offload: bool,
    bytes: str,
    mtu: int,
    stack_name: str,
    realtime: bool,
    pcap: str | None,
    say: Callable[[str], object],
    progress: Callable[[float], object] | None,
) -> str: ...
def live_path(
    file: str,
    text: str | None,
    set: Sequence[tuple[str, str]],
    senders: Sequence[str],
    receiver: str,
    seconds: str | None,
    seed: int | None,
    sysctls: Sequence[tuple[str, str]],
    trace: str | None,
    pcap: str | None,
    snap: int | None,
    realtime: bool,
    say: Callable[[str], object],
    progress: Callable[[float], object] | None,
) -> LiveRun: ...
def live_send(
    file: str,
    to: str,
    from_: str | None,
    way: dict[str, object],
    say: Callable[[str], object],
    progress: Callable[[float], object] | None,
) -> str: ...
def live_recv(
    file: str,
    listen: str,
    way: dict[str, object],
    say: Callable[[str], object],
    progress: Callable[[float], object] | None,
) -> str: ...
def live_shell(
    file: str,
    text: str | None,
    command: list[str],
    peer: str | None,
    from_: str | None,
    to: str | None,
    seed: int | None,
    mtu: int,
    realtime: bool,
    quiet: bool,
    say: Callable[[str], object],
    go_on: Callable[[], bool],
) -> str: ...
