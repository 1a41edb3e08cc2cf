#!/usr/bin/env bash
# Follows "How to add an algorithm", "How to add an element" and "How to add a column" in CONTRIBUTING.md. In a copy of the crates, a
# renamed newreno.rs becomes a stack, and a renamed wobble.rs an element; a flow gets a column. Checks that they run, behave exactly like
# the originals, that the column is in every output, and that only the places named there were changed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target} CARGO_INCREMENTAL=0
# Always the same path: Cargo keeps its output for each path indefinitely.
copy=$CARGO_TARGET_DIR/newcomer
rm -rf "$copy"
mkdir -p "$copy"
mkdir "$copy/tests"
cp -a Cargo.toml Cargo.lock clippy.toml rustfmt.toml crates "$copy"
cp -a tests/fuzz "$copy/tests"

cd "$copy/crates/tcp/src"
# Steps 1 to 3: the file, and its types.
sed 's/NewReno/Newcomer/g' recovery/newreno.rs > recovery/newcomer.rs
# Steps 4 to 6: seven lines in the slot's file.
sed -i recovery.rs \
    -e 's|^pub mod newreno;|pub mod newcomer;\n&|' \
    -e 's|^    Newreno(newreno::NewRenoSpec),|&\n    /// NewReno under another name.\n    Newcomer(newcomer::NewcomerSpec),|' \
    -e 's|^    Newreno(newreno::NewReno),|&\n    /// NewReno under another name.\n    Newcomer(newcomer::Newcomer),|' \
    -e 's/RecoverySpec::Newreno(_)/& | RecoverySpec::Newcomer(_)/' \
    -e 's|^ *RecoverySpec::Newreno(s) => s.validate(),|&\n            RecoverySpec::Newcomer(s) => s.validate(),|' \
    -e 's|^ *RecoverySpec::Newreno(s) => AnyRecovery.*|&\n            RecoverySpec::Newcomer(s) => AnyRecovery::Newcomer(newcomer::Newcomer::new(s)),|' \
    -e 's/ Newreno |/& Newcomer |/'
# Step 7: the profile.
sed -i stack/profiles.rs \
    -e 's|^use crate::recovery::newreno::|use crate::recovery::newcomer::NewcomerSpec;\n&|' \
    -e 's|^    Profile { name: "newreno", .*|&\n    Profile { name: "newcomer", summary: "NewReno under another name", make: newcomer },|' \
    -e 's|^fn newreno(|fn newcomer(name: \&str) -> Stack {\n    base(name, dup_ack(Guard::Careful), RecoverySpec::Newcomer(NewcomerSpec::default()))\n}\n\n&|'
# Step 9: no second implementation yet.
sed -i "$copy/crates/sim/tests/referee/second.rs" \
    -e 's|(&str, &str)\] = &\[\];|(\&str, \&str)] = \&[("recovery", "newcomer")];|' \
    -e '/^#\[expect(dead_code, reason = "no kind is unwritten/d' \
    -e 's|^ *RecoverySpec::Custom(f) => (f.make)(mss),|            RecoverySpec::Newcomer(_) => unwritten(),\n&|'
# The element, steps 1 to 6: its file, and four lines.
cd "$copy/crates/sim/src"
sed 's/Wobble/Newcomer/g; s/wobble/newcomer/g' element/wobble.rs > element/newcomer.rs
sed -i element.rs \
    -e 's|^pub mod wobble;|pub mod newcomer;\n&|' \
    -e 's|^    "wobble" Wobble(wobble::WobbleSpec),|&\n    "newcomer" Newcomer(newcomer::NewcomerSpec),|' \
    -e 's|^    Wobble(wobble::Wobble),|&\n    Newcomer(newcomer::Newcomer),|' \
    -e 's|^ *Delays::Wobble(w) => w.of(now),|&\n            Delays::Newcomer(n) => n.of(now),|'
# The column, steps 1 and 2: its declaration.
sed -i "$copy/crates/lab/src/results.rs" \
    -e 's|^        /// Retransmission timeouts\.$|        /// Data packets that were not dropped.\n        newcomer_packets: u64 [averaged, summed, shown("newcomer")] =\n            f.result.data_sent - f.tally.data_drops;\n&|'
sed -i "$copy/crates/capture/src/rows/flow.rs" \
    -e 's|^        /// Captured packets with data\.$|        /// Captured packets without data.\n        newcomer_packets: u64 [shown("newcomer")] = f.record().packets - f.record().segments;\n&|'
# Tests for the stack and the element.
sed -i 's|^mod nothing_lost;|mod newcomer;\n&|' "$copy/crates/sim/tests/sim/main.rs"
cat > "$copy/crates/sim/tests/sim/newcomer.rs" <<'RUST'
//! The newcomers do what newreno and wobble do.

use ackclock_sim::element::newcomer::{self, NewcomerSpec};
use ackclock_sim::element::wobble::{self, WobbleSpec};
use ackclock_sim::engine::Sim;
use ackclock_sim::results::Results;
use ackclock_sim::scenario::{
    BernoulliSpec, ElementSpec, Gap, Only, Per, Place, QueueLimit, QueueSpec, Scenario, SwapMode, SwapSpec,
};
use ackclock_sim::topology::dumbbell::{dumbbell, flow, pipe};
use ackclock_tcp::stack::Stack;
use ackclock_tcp::time::Nanos;
use ackclock_tcp::units::Rate;

/// Loss, reordering and a queue that overflows.
fn path() -> Scenario {
    let access = pipe(Some(Rate(10_000_000)), Nanos::from_millis(1));
    let mut shared = pipe(Some(Rate(5_000_000)), Nanos::from_millis(50));
    shared.queue = QueueSpec { limit: QueueLimit::Packets(65), limit_counts_service: true };
    let gap = Gap::Exponential(Nanos::from_secs(1));
    shared.elements = vec![
        ElementSpec::Bernoulli(BernoulliSpec { p: 0.002, per: Per::Packet, at: Place::Entry, only: Only::All }),
        ElementSpec::Swap(SwapSpec { mode: SwapMode::Literal, count: 4, gap }),
    ];
    dumbbell(2, &access, &shared, &flow())
}

fn run(stack: &str, seed: u64) -> Results {
    over(&path(), stack, seed)
}

fn over(path: &Scenario, stack: &str, seed: u64) -> Results {
    let stack = Stack::named(stack).expect("a named stack");
    Sim::new(path, &[stack], seed, ()).expect("a possible scenario").run()
}

#[test]
fn a_copy_of_wobble_runs_and_does_what_wobble_does() {
    let with = |e: ElementSpec| {
        let mut s = path();
        s.links[0].forward.elements = vec![e];
        over(&s, "dsack", 1)
    };
    let (amplitude, period, overtaking) = (Nanos::from_millis(30), Nanos::from_millis(100), true);
    let shape = newcomer::Shape::Sine;
    let ours = with(ElementSpec::Newcomer(NewcomerSpec { shape, amplitude, period, overtaking }));
    let shape = wobble::Shape::Sine;
    assert_eq!(ours, with(ElementSpec::Wobble(WobbleSpec { shape, amplitude, period, overtaking })));
    assert!(ours.flows.iter().all(|f| f.needless > 0), "it must reorder");
}

#[test]
fn a_copy_of_newreno_runs_and_does_what_newreno_does() {
    for seed in 1..=5 {
        let (ours, theirs) = (run("newcomer", seed), run("newreno", seed));
        assert_eq!(ours, theirs, "seed {seed}");
        assert_ne!(ours, run("reno", seed), "the path must tell stacks apart");
        let again: u64 = ours.flows.iter().map(|f| f.retransmitted).sum();
        println!("seed {seed}: {again} retransmissions, {:?} B delivered, by both", ours.flows[0].delivered);
    }
}
RUST

cd "$copy"
cargo fmt --all
cargo test --quiet --locked --workspace --test sim newcomer:: -- --nocapture
cargo test --quiet --locked --workspace --test referee every_kind
INSTA_UPDATE=always INSTA_FORCE_PASS=1 cargo test --quiet --locked --workspace --test sweep
# Its rows in the tables equal newreno's.
sed -n 's/^newreno  *//p' crates/sim/tests/sweep/tables.snap > ours
sed -n 's/^newcomer  *//p' crates/sim/tests/sweep/tables.snap | diff - ours

# The column is in JSON, frames, the command's table, the page's types and the reference.
cargo run --quiet --locked --example results_page -- page > results.md
cargo run --quiet --locked --example results_page -- types > results.ts
grep --quiet '^| `newcomer_packets` | int64' results.md
grep --quiet '^  readonly newcomer_packets: number;' results.ts
cargo run --quiet --locked --example capture_rows -- page > captured.md
cargo run --quiet --locked --example capture_rows -- types > captured.ts
grep --quiet '^| `newcomer_packets` | int64' captured.md
grep --quiet '"name":"newcomer_packets","title":"newcomer"' captured.ts
PYO3_BUILD_EXTENSION_MODULE=1 cargo build --quiet --locked --manifest-path crates/py/Cargo.toml --lib
mkdir python
cp -a "$root/python/ackclock" python
rm -f python/ackclock/_native*.so
cp "$CARGO_TARGET_DIR/debug/lib_native.so" python/ackclock/_native.abi3.so
PYTHONPATH=$copy/python "$root/.venv/bin/python" "$root/tools/newcomer_columns.py" "$root"

# Exactly the listed places were changed, and the sequencer was not.
listed=$(sed -n '/^```places$/,/^```$/p' "$root/CONTRIBUTING.md" | awk '/^crates/ { print $1 }' | sort)
touched=$({ diff -rq "$root/crates" crates || true; } | sed -E 's|^Only in ([^:]*): |\1/|; s|^Files .* and (.*) differ$|\1|' | sort)
if [ "$listed" != "$touched" ]; then
    printf 'CONTRIBUTING.md lists\n%s\nbut touched were\n%s\n' "$listed" "$touched" >&2
    exit 1
fi
diff -r "$root/crates/tcp/src/sender" crates/tcp/src/sender
diff "$root/crates/tcp/src/sender.rs" crates/tcp/src/sender.rs
rm -rf "$copy"
echo "newcomer: copies of newreno.rs and wobble.rs are a stack and an element; $(wc -l <<< "$touched") places touched, all listed, none in the sequencer; the new columns are in every output"
