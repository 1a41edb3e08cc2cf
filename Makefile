# The usual commands; the rest is `tools/dev` (tools/dev --help). `make test` and `make reproduce` set everything up themselves.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Maturin sets this variable too; with another value PyO3 would be built again.
export PYO3_BUILD_EXTENSION_MODULE := 1
BIN := .venv/bin
KERNELS := $(CURDIR)/target/kernels
KERNEL_PAGE := test_every_block_of_a_page_does_what_it_says[docs/kernel.md]

.PHONY: help setup test kernel-test reproduce lint generated docs web wheel measure campaign release clean

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

test: ## set-up, then every check that must pass, with its time (tools/dev check: only what a change can reach)
	@$(MAKE) --jobs=3 setup
	@tools/dev check --all

kernel-test: .venv/.extension ## a Linux kernel in virtual time, built in target/kernels once, and the tests and the guide that need it (at most 25 minutes)
	@tools/step.sh "kernel in virtual time: build" timeout 20m bash -c \
	  '[ -e $(KERNELS)/6.12/linux ] || ACKCLOCK_KERNELS=$(KERNELS) $(BIN)/ackclock kernel build --debian 6.12'
	@ACKCLOCK_KERNELS=$(KERNELS) timeout 10m $(BIN)/python -m pytest -q -rs tests/python/test_kernel.py "tests/python/test_docs.py::$(KERNEL_PAGE)"

reproduce: .venv/.ready ## set-up, then the papers' figures and a verdict for every claim, in results/report.html (QUICK=1: fewer, shorter runs)
	@tools/need.sh rust
	@tools/step.sh "extension for Python: release build" $(BIN)/maturin develop --locked --release
	$(BIN)/ackclock reproduce $(if $(QUICK),--quick)

lint: setup ## formatting, clippy, ruff, mypy, arrows, language, citations, generated files
	@tools/dev check format clippy lint

generated: .venv/.extension ## renew the generated files, as tools/generate.py lists them
	@tools/dev generate

docs: setup ## the Rust documentation, and all documents as a site in site/
	@tools/dev check docs

web: web/node_modules/.ready ## the lab page, into web/dist: plain files for any web host
	@tools/step.sh "lab page: build" bash -c "cd web && npm run --silent generate && npm run --silent build"

wheel: .venv/.ready web ## a release wheel in dist/, with papers, scenarios, the lab page and licences
	@tools/dev generate --check THIRD-PARTY.txt
	@tools/step.sh "wheel: build" tools/dev release wheel dist

measure: setup ## NAME=bench ARGS="--quick": a measurement; without NAME a list of them
	@tools/dev measure $(NAME) $(ARGS)

campaign: setup ## NAME=fuzz ARGS="--cases 9000": a long test that looks for errors; without NAME a list of them
	@tools/dev campaign $(NAME) $(ARGS)

release: setup ## a release, to the last step before publishing (docs/release.md)
	@tools/dev release

setup: .venv/.ready web/node_modules/.ready .setup-rust ## .venv, crates, the Rust target for WebAssembly, valgrind, the tools of the lab page

clean: ## delete everything that can be built again
	rm -rf target .venv dist results site web/dist web/generated web/node_modules

.PHONY: .setup-rust .venv/.extension
.setup-rust:
	@tools/need.sh rust valgrind
	@tools/step.sh "set-up: crates" cargo fetch --locked

.venv/.ready: requirements-dev.txt
	@python=$$(tools/need.sh python); tools/step.sh "set-up: Python environment" "$$python" -m venv .venv
	@mkdir -p target; sed -n '/^uv==/,/[^\\]$$/p' requirements-dev.txt > target/uv.txt
	@tools/step.sh "set-up: uv" $(BIN)/python -m pip install --disable-pip-version-check --require-hashes -r target/uv.txt
	@tools/step.sh "set-up: Python packages" $(BIN)/uv pip install --python .venv --require-hashes --compile-bytecode -r requirements-dev.txt
	@touch $@

# Cargo decides whether a build is needed.
.venv/.extension: .venv/.ready
	@tools/step.sh "extension for Python: build for tests" $(BIN)/maturin develop --locked --profile dev

web/node_modules/.ready: web/package-lock.json
	@tools/need.sh npm
	@tools/step.sh "set-up: tools of the lab page" npm --prefix web ci --no-fund --no-audit
	@touch $@
