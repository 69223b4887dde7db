# Everything is done from here, in a fresh clone too: `make serve`, `make test`.
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
PYTEST := $(BIN)/python -m pytest tests eij_core --doctest-modules --ignore=tests/benchmarks
# Browsers, counters and processes keep real time, and a busy machine is late: what failed among
# others is asked once more, alone. The first failure stays in the output.
AGAIN := { echo "== failed above: once more, alone"; $(PYTEST) --last-failed --last-failed-no-failures none; }

.PHONY: help install lock browser serve lint format test chaos bench bench-selectors bench-energy bench-app bench-campaign screenshots film clean

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
	@$(BIN)/eij warm
	exec $(BIN)/eij serve --address $(HOST) --port $(PORT)

lint: $(STAMP) ## ruff, mypy, codespell
	@$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	git ls-files -z --cached --others --exclude-standard | xargs -0 $(BIN)/codespell

format: $(STAMP) ## ruff: sort imports, fix, format
	@$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint ## lint, then all tests: compiled, and interpreted for coverage
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	echo "browser: $$EIJ_BROWSER"
	echo "== compiled"
	$(PYTEST) -n $(JOBS) -m "not slow and not chaos" || $(AGAIN)
	echo "== interpreted, with coverage"
	export HYPOTHESIS_PROFILE=dev NUMBA_DISABLE_JIT=1
	$(PYTEST) -n $(JOBS) -m "not slow and not chaos and not ui and not compiled" \
	  --ignore=tests/app --ignore=tests/notebooks --cov --cov-report= || $(AGAIN)
	$(BIN)/coverage report --fail-under=95

chaos: $(STAMP) ## every hard test, hypothesis with 10,000 examples; takes long
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	HYPOTHESIS_PROFILE=chaos $(PYTEST) -n $(JOBS)

bench: $(BENCH) ## ours against the peers and C; ratios, not times
	@test -f tests/benchmarks/core.py || { echo "make bench: tests/benchmarks/core.py comes later"; exit 0; }
	$(BIN)/python -m tests.benchmarks.core

bench-selectors: $(STAMP) ## ns per decision of every rule, with 2 to 16 operators
	@$(BIN)/python -m tests.benchmarks.selectors

bench-energy: $(STAMP) ## how well Joules are told apart, on a fake counter of known power
	@$(BIN)/python -m tests.benchmarks.attribution

bench-app: $(STAMP) ## the load of the dashboard: frames, clicks, pages, memory
	@$(BIN)/python -m tests.benchmarks.dashboard

bench-campaign: $(STAMP) ## campaigns: trials per second, efficiency, the store's share
	@$(BIN)/python -m tests.benchmarks.campaign

screenshots: $(STAMP) ## pictures of the dashboard
	@test -f tests/screenshots.py || { echo "make screenshots: tests/screenshots.py comes later"; exit 0; }
	export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	$(BIN)/python -m tests.screenshots

film: $(STAMP) ## a run of the dashboard as a moving picture
	@export EIJ_BROWSER="$$($(BIN)/python tests/find_browser.py --install)"
	$(BIN)/python -m tests.moving_picture

clean: ## caches, coverage and builds; .venv stays
	@rm -rf build dist htmlcov .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -path ./$(VENV) -prune -o \( -name __pycache__ -o -name '*.nb[ic]' \) -print0 | xargs -0 rm -rf
