# Every command that CI runs, under the name of its job. `make test` and `make reproduce` set everything up themselves.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Tests, clippy and the Python extension share one build. Maturin sets this variable too; a different value would rebuild PyO3.
export PYO3_BUILD_EXTENSION_MODULE := 1
export PYTHONDONTWRITEBYTECODE := 1
BIN := .venv/bin

.PHONY: help test check lint unit survivors mutants referee fuzz attacks faults newcomer cite generated python wasm aarch64 web web-test web-figures web-bench docs ns2-logs capture-judge instructions bench capture-bench live-bench sweep-speed sweep-kills reproduce linux wheel sdist wheel-test audit packetdrill requirements release clean setup

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

# Instructions, which no other work changes, are counted whenever a core is free: live tests mostly wait. Targets that need the build
# wait for it. The others run two at a time, the longest first, with the output of each kept together.
test: ## set-up, then every check that must pass
	@$(MAKE) --jobs=4 setup check
	@MAKE='$(MAKE)' tools/beside.sh instructions $(MAKE) built-checks
	@echo "make test: all checks passed"

.PHONY: built-checks
built-checks: unit .venv/.extension
	@$(MAKE) --jobs=2 --output-sync=target EXTENSION_IS_BUILT=1 GUIDES_BY_WHEEL=1 python web-test wheel-test newcomer survivors docs wasm lint cite ns2-logs

setup: .venv/.ready web/node_modules/.ready setup-rust ## .venv, crates, the Rust target for WebAssembly, valgrind, the tools of the lab page

.PHONY: setup-rust
setup-rust:
	@tools/need.sh rust valgrind
	@tools/step.sh "set-up: crates" 20 cargo fetch --locked

.venv/.ready: requirements-dev.txt
	@python=$$(tools/need.sh python); tools/step.sh "set-up: Python environment" 5 "$$python" -m venv .venv
	@mkdir -p target; sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt > target/uv.txt
	@tools/step.sh "set-up: uv" 2 $(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r target/uv.txt
	@tools/step.sh "set-up: Python packages" 20 $(BIN)/uv pip install --python .venv --require-hashes --compile-bytecode -r requirements-dev.txt
	@touch $@

check: ## formatting and clippy, with warnings as errors; no crate is built twice
	cargo fmt --all --check
	tools/one_build.sh
	cargo clippy --workspace --all-targets --locked -- -D warnings

# Of the examples, only two are built, which tests start. Clippy reads them all.
unit: ## the Rust tests, optimised, with debug assertions and overflow checks
	cargo build --workspace --locked --example engine_c --example conform_smoltcp
	cargo test --workspace --locked --tests
	cargo test --workspace --locked --doc

# `make test` runs the guides with a wheel instead.
GUIDES := tests/python/test_docs.py::test_every_block_of_a_page_does_what_it_says
python: .venv/.extension ## the Python tests, with the extension built in the tests' profile
	$(BIN)/python -m mypy.stubtest ackclock._native
	$(BIN)/python -m pytest $(if $(GUIDES_BY_WHEEL),--deselect $(GUIDES))

# Cargo decides whether a build is needed, so this target always runs.
.PHONY: .venv/.extension
extension = tools/step.sh "extension for Python: $(2)" $(3) $(BIN)/maturin develop --locked $(1)
.venv/.extension: .venv/.ready
	@$(if $(EXTENSION_IS_BUILT),,$(call extension,--profile dev,build for tests,180))

lint: .venv/.ready ## ruff, mypy --strict, sizes of files and functions, arrows between modules, phrases to avoid
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python tools/sizes.py
	$(BIN)/python tools/arrows.py
	$(BIN)/python tools/voice.py

SAME := $(addprefix crates/lab/tests/scenarios/,good.toml dumbbell.toml elements.toml paths.toml)
newcomer: ## CONTRIBUTING's steps with copies of newreno.rs and wobble.rs: the copies behave like the originals, and only the listed places change
	@tools/newcomer.sh

cite: .venv/.extension ## citations against docs/references.toml, both ways; test vectors against the tests; the results revision; docs/algorithms.md
	$(BIN)/python tools/cite.py
	$(BIN)/python tools/vectors.py
	$(BIN)/python tools/revision.py
	$(BIN)/python tools/algorithms.py --check
	$(BIN)/python tools/scenario_classes.py --check

generated: .venv/.extension ## renew the files made from the code: docs/algorithms.md, scenario.md, scenario.schema.json, trace.md, conformance-scripts.md, conformance-settings.md, conformance/arrival, python/ackclock/scenario
	$(BIN)/python tools/algorithms.py
	$(BIN)/python tools/scenario_classes.py
	$(BIN)/python tools/arrivals.py
	$(BIN)/python tools/conformance_index.py
	cargo run --quiet --locked --example scenario_docs
	cargo run --quiet --locked --example trace_page > docs/trace.md
	cargo run --quiet --locked --example settings_page > docs/conformance-settings.md

wasm: ## the lab page's WebAssembly module; its trace hashes in Node must equal the native ones
	cargo build -p ackclock-wasm --locked --target wasm32-unknown-unknown --profile web
	cargo build --workspace --locked --example expected
	"$${CARGO_TARGET_DIR:-target}"/debug/examples/expected $(SAME) > target/same.json
	node crates/wasm/tests/same.mjs target/wasm32-unknown-unknown/web/ackclock_wasm.wasm < target/same.json

aarch64: ## trace hashes on aarch64, emulated by qemu-user, must equal the native ones
	@tools/step.sh "set-up: Rust for aarch64" 20 rustup target add aarch64-unknown-linux-gnu
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
		cargo build --workspace --locked --example expected --target aarch64-unknown-linux-gnu
	cargo build --workspace --locked --example expected
	"$${CARGO_TARGET_DIR:-target}"/debug/examples/expected $(SAME) > target/same.json
	qemu-aarch64 -L /usr/aarch64-linux-gnu \
		"$${CARGO_TARGET_DIR:-target}"/aarch64-unknown-linux-gnu/debug/examples/expected $(SAME) > target/aarch64.json
	cmp target/same.json target/aarch64.json

web: web/node_modules/.ready ## the lab page, into web/dist: plain files for any web host
	@tools/step.sh "lab page: build" 90 bash -c "cd web && npm run --silent generate && npm run --silent build"

web/node_modules/.ready: web/package-lock.json
	@tools/need.sh npm
	@tools/step.sh "set-up: tools of the lab page" 20 npm --prefix web ci --no-fund --no-audit
	@touch $@

# Checks that need no browser run even if there is none. Make would put off a target whose prerequisite takes long, so this one
# makes the page itself.
web-test: .venv/.extension ## the lab page: lint, types, unit tests, and the built page in headless Chromium
	@$(MAKE) web
	cd web && npm run --silent lint && npm run --silent check && npm run --silent test
	@if chromium=$$(tools/need.sh chromium); then \
	  cd web && CHROMIUM=$$chromium npm run --silent test:page; \
	else \
	  echo "SKIPPED: the tests of the lab page in a browser"; \
	fi

web-figures: web ## the pictures of the lab page in README and docs, docs/figures/lab-*.png
	cd web && CHROMIUM=$$(../tools/need.sh chromium) FIGURES=../docs/figures npm run --silent test:page -- tests/figures.test.ts

web-bench: web ## time from click to picture, frames per second, size of the first load; into results/web-bench.json
	cd web && CHROMIUM=$$(../tools/need.sh chromium) npm run --silent bench

ns2-logs: ## comparison with ns-2's packet logs, packet by packet; ACKCLOCK_NS2_LOGS names another folder of logs
	cargo test --workspace --locked --test sim ns2:: -- --nocapture

capture-judge: ## verdicts on simulated captures of 30 paths and 6 stacks, four seeds each, compared with the truth; into tests/captures/verdicts.md
	mkdir -p tests/captures
	ACKCLOCK_JUDGE_TABLE=$(CURDIR)/tests/captures/verdicts.md cargo test --workspace --locked --test judge

survivors: .venv/.ready ## changes that the rule tests once missed, in a copy of the engine: each must fail its test
	$(BIN)/python tools/mutants.py --kept

mutants: .venv/.ready ## changes the code in one place, drawn by a fixed seed, and asks whether a test notices; into tests/mutants (ARGS=--referee: the referee against faults that no test noticed)
	@tools/need.sh rust mutants
	PATH="$(CURDIR)/target/tools/bin:$$PATH" $(BIN)/python tools/mutants.py $(ARGS)

referee: ## every stack against the rules of its sources in SCENARIOS random scenarios each (default 10,000)
	ACKCLOCK_REFEREE=$(or $(SCENARIOS),10000) cargo test --workspace --locked --test referee -- --nocapture

fuzz: .venv/.ready ## random inputs for every target of tools/fuzz.toml, with cases per second (CASES of each; FROM draws others; ARGS=--continue: those not run before, noted in tests/fuzz/ran.csv; TARGETS)
	@tools/need.sh rust npm
	$(BIN)/python tools/fuzz.py $(if $(CASES),--cases $(CASES)) $(if $(FROM),--from $(FROM)) $(ARGS) $(TARGETS)

attacks: .venv/.ready ## attacks on a host, in memory and behind a device: its answers, memory and work for each packet, with their bounds
	@tools/need.sh rust valgrind
	$(BIN)/python tools/attacks.py
	cargo run --quiet --release --locked -p ackclock-live --example live_attacks

faults: .venv/.extension ## kills commands at each write of their files, and fills the disk there; needs strace (ARGS="--most N")
	@type -P strace >/dev/null || { echo "SKIPPED: faults at writes need strace (Debian: apt-get install strace)"; exit 0; }; $(BIN)/python tools/faults.py $(ARGS)

instructions: .venv/.ready ## instructions per delivered packet (callgrind), also for every stack, within 2 % of tools/instructions.toml
	@tools/need.sh valgrind
	$(BIN)/python tools/instructions.py

bench: .venv/.ready ## speed of flows, swaps, every stack, recording, sweeps, start-up, compared with ns-2 and ns-3 if installed; into results/bench.json (QUICK=1)
	@$(call extension,--release,release build,160)
	$(BIN)/python tools/bench.py $(if $(QUICK),--quick)

capture-bench: .venv/.ready ## speed of capture analysis, compared with tshark and tcptrace if installed; into results/capture-bench.json (QUICK=1)
	@tools/need.sh rust
	$(BIN)/python tools/capture_bench.py $(if $(QUICK),--quick)

packetdrill: .venv/.ready ## the scripts of conformance and of ACKCLOCK_PACKETDRILL with an unmodified packetdrill and with our runner: both must agree (PACKETDRILL=its source or program)
	@tools/need.sh rust
	$(BIN)/python tools/packetdrill.py $(if $(PACKETDRILL),--packetdrill $(PACKETDRILL))

live-bench: ## the engine on a device with this kernel as its peer, compared with smoltcp; some transfers pass 2^32 twice; into results/live-bench.json (QUICK=1)
	@tools/need.sh rust
	cargo run --quiet --release --locked -p ackclock-live --example live_bench -- $(if $(QUICK),--quick)

linux: .venv/.ready ## this kernel's TCP compared with ours on the paths of tests/linux: its missing runs, all of ours, docs/linux.md
	@$(call extension,--release,release build,160)
	$(BIN)/python tools/linux.py

sweep-speed: .venv/.ready ## speed of sweeps: two workers and one, here and on Dask; 100,000 short runs; into results/sweep-speed.json
	@$(call extension,--release,release build,160)
	mkdir -p results && $(BIN)/python tools/sweep_speed.py --json results/sweep-speed.json

sweep-kills: .venv/.ready ## kill sweeps of 2,000 runs and a paper's readings twenty times at random, here and on Dask, and compare their results
	@$(call extension,--release,release build,160)
	$(BIN)/python tools/sweep_kills.py
	$(BIN)/python tools/reproduce_kills.py

docs: .venv/.extension ## the Rust documentation, and all documents as a site in site/ with executed notebooks; warnings are errors
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --document-private-items --exclude ackclock-py
	$(BIN)/python tools/notebooks.py --check
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python tools/site_check.py site

reproduce: .venv/.ready ## set-up, then the papers' figures and a verdict for every claim, in results/report.html (QUICK=1: fewer, shorter runs)
	@tools/need.sh rust
	@$(call extension,--release,release build,160)
	$(BIN)/ackclock reproduce $(if $(QUICK),--quick)

# Built by pip, so the wheel equals pip's result for a checkout. The extension is the tests' one, or optimised as by maturin.
built = PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation \
  --wheel-dir $(1) --config-settings "maturin.build-args=--locked $(2)" .

wheel: .venv/.ready web ## a release wheel in dist/, with papers, scenarios, the lab page and licences
	$(BIN)/python tools/notices.py --check
	@tools/step.sh "wheel: build" 300 env $(call built,dist,--compatibility pypi)

sdist: .venv/.ready web ## a source distribution in dist/; it needs a Rust compiler
	$(BIN)/python tools/notices.py --check
	PATH="$(CURDIR)/$(BIN):$$PATH" PYTHONPATH=tools $(BIN)/python -c 'from wheel_backend import build_sdist; build_sdist("dist")'

wheel-test: .venv/.extension ## the guides with a wheel in a fresh environment, in an empty folder; WHEEL=FILE names it, else it is built in the tests' profile
	@$(MAKE) web
	$(BIN)/python tools/notices.py --check
	rm -rf target/wheel
	@$(if $(WHEEL),,tools/step.sh "wheel: build for tests" 180 env $(call built,target/wheel,--profile dev --strip false --compatibility linux))
	$(BIN)/python -m pytest -rP tests/python/test_wheel.py $(GUIDES) --wheel $(or $(WHEEL),target/wheel/ackclock-*.whl)

audit: .venv/.ready web/node_modules/.ready ## licences of all dependencies; advisories, if their databases can be reached
	$(BIN)/python tools/audit.py

release: ## a release, to the last step before publishing (docs/release.md)
	@tools/need.sh python rust npm >/dev/null
	@"$$(tools/need.sh python)" tools/release.py

requirements: .venv/.ready ## renew requirements-dev.txt: versions and hashes of the packages for development and CI
	printf '%s\n' cloudpickle "dask[distributed]" duckdb hypothesis ipykernel jinja2 jsonschema matplotlib maturin mkdocs-material "mkdocstrings[python]" mypy nbclient optuna pandas polars pyarrow pytest rich ruff tomli-w typer uv \
	  | $(BIN)/uv pip compile --quiet --no-config --universal --python-version "$$($(BIN)/python -c 'import platform; print(platform.python_version())')" \
	    --generate-hashes --no-header --no-annotate - -o target/requirements.txt
	(sed -n 1p requirements-dev.txt; cat target/requirements.txt) > requirements-dev.new
	mv requirements-dev.new requirements-dev.txt

clean: ## delete everything that can be built again
	rm -rf target .venv dist results site web/dist web/generated web/node_modules
