# Every task starts here, in a fresh clone too: `make serve`, `make check`, `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.eij-installed
BENCH  := $(VENV)/.eij-bench-installed
UV      = $(BIN)/uv
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# PYTHON=python3.12 make install   chooses the interpreter of .venv
PYTHON ?=
# workers of pytest
JOBS ?= auto
# address and port of `make serve`
HOST ?= 127.0.0.1
PORT ?= 5006

LOCK := pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate \
        --no-emit-index-url --generate-hashes
# tests/benchmarks imports the peers: never collected
PYTEST := $(BIN)/python -m pytest tests eij_core --doctest-modules --ignore=tests/benchmarks \
          -n $(JOBS) --dist worksteal
EVERY  := not slow and not chaos

.PHONY: help install lock browser serve lint format check test chaos bench bench-selectors bench-energy \
        bench-app bench-campaign bench-start bench-loops bench-worlds shipped screenshots film build clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(STAMP) ## .venv with eij, panel and the tools of the tests

$(STAMP): pyproject.toml constraints.txt
	@if [ ! -x $(BIN)/python ]; then
	  python=
	  for name in $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11 python); do
	    if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	      python=$$name
	      break
	    fi
	  done
	  if [ -z "$$python" ]; then
	    found=$$($(or $(PYTHON),python3) --version 2>&1 || true)
	    echo "make install: EI/J needs Python 3.11 or newer, but found: $${found:-none}." >&2
	    echo "Install one, or name it: PYTHON=/path/to/python3.11 make install" >&2
	    exit 1
	  fi
	  echo "making $(VENV) with $$("$$python" --version)"
	  "$$python" -m venv $(VENV) || {
	    rm -rf $(VENV)
	    echo "make install: '$$python -m venv' failed; on Debian: apt-get install python3-venv" >&2
	    exit 1
	  }
	fi
	uv=$$(sed -n 's/^\(uv==[^ ;]*\).*/\1/p' constraints.txt)
	[ "$$($(UV) --version 2>/dev/null | cut -d' ' -f2)" = "$${uv#uv==}" ] \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check "$$uv"
	$(UV) pip install --quiet --require-hashes -r constraints.txt
	$(UV) pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(BENCH): $(STAMP) constraints-bench.txt
	@$(UV) pip install --quiet --require-hashes -r constraints-bench.txt
	touch $@

lock: ## resolve the pinned versions anew (constraints*.txt)
	@test -x $(UV) || { echo "make lock: run make install first" >&2; exit 1; }
	$(UV) $(LOCK) --upgrade pyproject.toml --all-extras --group test --group lint --group build -o constraints.txt
	$(UV) $(LOCK) --upgrade --group bench -c constraints.txt -o constraints-bench.txt

browser: $(STAMP) ## a Chromium for the tests: the system's, else Playwright's, else Debian's
	@$(BIN)/python tests/find_browser.py --install

serve: $(STAMP) ## the dashboard, on http://127.0.0.1:5006/app (HOST=, PORT=)
	@exec $(BIN)/eij serve --address $(HOST) --port $(PORT)

lint: $(STAMP) ## ruff, mypy, codespell
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	git ls-files -z --cached --others --exclude-standard | xargs -0 $(BIN)/codespell

format: $(STAMP) ## ruff: sort imports, fix, format
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

check: lint ## lint, types and the quick tests, interpreted and without a browser: 2 minutes
	@NUMBA_DISABLE_JIT=1 HYPOTHESIS_PROFILE=dev $(PYTEST) -q -m "$(EVERY) and not ui and not compiled and not long"

test: lint ## lint, then all tests but the slow and the chaotic: half an hour
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	echo "browser: $$EIJ_BROWSER"
	echo "== interpreted, with coverage"
	NUMBA_DISABLE_JIT=1 $(PYTEST) -m "$(EVERY) and not ui and not compiled" --cov --cov-report=
	$(BIN)/coverage report --fail-under=95
	echo "== compiled"
	$(PYTEST) -m "$(EVERY) and (compiled or both or ui)"

chaos: $(STAMP) ## every test, compiled, hypothesis with 10,000 examples: hours
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	HYPOTHESIS_PROFILE=chaos $(PYTEST)

bench: $(BENCH) ## ours against the peers and C; ratios, not times
	@$(BIN)/python -m tests.benchmarks.core

bench-selectors: $(STAMP) ## ns per decision of every rule, with 2 to 16 operators
	@$(BIN)/python -m tests.benchmarks.selectors

bench-energy: $(STAMP) ## error of the settlement, on a fake counter of known power
	@$(BIN)/python -m tests.benchmarks.attribution

bench-app: $(STAMP) ## the dashboard under load: frames, clicks, pages, memory
	@$(BIN)/python -m tests.benchmarks.dashboard

bench-campaign: $(STAMP) ## campaigns: trials per second, efficiency, the store's share
	@$(BIN)/python -m tests.benchmarks.campaign

bench-start: $(STAMP) ## the first second: cold and warm starts, imports, the server, the page
	@$(BIN)/python -m tests.benchmarks.start

shipped: $(STAMP) ## the results that pages open with
	$(BIN)/python -m app.pages.run.lessons.welcome
	$(BIN)/python -m app.pages.zoo.shipped

bench-loops: $(BENCH) ## ours in ALNS's loop against ALNS's own schemes, on equal Joules; 6 minutes of CPU
	@$(BIN)/python -m tests.benchmarks.loops

bench-worlds: $(STAMP) ## known optima within a minute; INSTANCES=folder has the files
	@$(BIN)/python -m tests.benchmarks.worlds $(if $(INSTANCES),--instances "$(INSTANCES)")

screenshots: $(STAMP) ## pictures of the dashboard
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	$(BIN)/python -m tests.screenshots

film: $(STAMP) ## a run of the dashboard as a moving picture
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	$(BIN)/python -m tests.moving_picture

build: $(STAMP) ## wheel and source archive in dist/
	@$(BIN)/python -m hatchling build

clean: ## caches, coverage and builds; .venv stays
	@rm -rf build dist htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o \( -name __pycache__ -o -name '*.nb[ic]' \) -print0 | xargs -0 rm -rf
