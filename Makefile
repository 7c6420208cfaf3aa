PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

DATASET ?= cora
SERVE_ARGS ?=
PYTEST_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install explore test lint types bench clean

help: ## list these targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1	\2/'

install: $(STAMP) ## create .venv and install into it, once

explore: $(STAMP) ## open the explorer (DATASET=cora, SERVE_ARGS='--port 5006')
	$(BIN)/privcfs serve --dataset $(DATASET) --show $(SERVE_ARGS)

test: $(STAMP) ## run the tests (PYTEST_ARGS='-k universe')
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

lint: $(STAMP) ## check the code with ruff
	$(BIN)/ruff check .

types: $(STAMP) ## check the types of core with mypy
	$(BIN)/mypy

bench: $(STAMP) ## run every benchmark
	@set -e; for script in benchmarks/[!_]*.py; do echo "$$script"; $(BIN)/python "$$script"; done

clean: ## remove .venv, builds and caches
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find core explorer tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(STAMP): pyproject.toml constraints.txt | $(BIN)/pip
	$(BIN)/python -m pip install -e '.[test]' -c constraints.txt
	@touch $@

$(BIN)/pip:
	@command -v "$(PYTHON)" >/dev/null || { echo "found no '$(PYTHON)'; install Python 3.11 or later, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "found $$("$(PYTHON)" --version), need Python 3.11 or later; name one: make PYTHON=python3.12" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { echo "found $$("$(PYTHON)" --version) without the venv module; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
