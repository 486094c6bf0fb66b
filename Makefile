# Everything here works from a bare machine with Python 3.11 or later, make and pip: the first
# target makes .venv and installs what requirements.lock pins.

PYTHON ?= python3
VENV ?= .venv
# An index with CPU builds of torch, if pip's own has only the CUDA ones (README, "Install").
TORCH_INDEX ?=
# Test processes side by side.
JOBS ?= 2

BIN := $(VENV)/bin
READY := $(VENV)/.ready
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show these lines
	@grep -hE '^[a-z][a-z-]*:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: install
install: $(READY) ## Make .venv with everything in it (the other targets do it by themselves)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "memci needs Python 3.11 or later: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV): a few minutes the first time."
	$(INSTALL) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r requirements.lock
	$(INSTALL) --no-deps --editable .
	@$(BIN)/python -c 'import importlib.metadata as m; any((d.name or "").startswith("nvidia-") for d in m.distributions()) and print("Note: this torch brought CUDA along; README, \"Install\", says how to get the small CPU build.")'
	@touch $@

.PHONY: demo
demo: $(READY) ## See everything at work on two conversations, in under three minutes
	@$(BIN)/memci demo

.PHONY: up
up: $(READY) ## Run memci on this machine, with its own PostgreSQL and Redis, until Ctrl-C
	@$(BIN)/memci up

.PHONY: test
test: $(READY) ## Run all tests, on real servers, without network
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

.PHONY: check
check: $(READY) ## Check style, types and the direction of imports
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: bench
bench: $(READY) ## Measure, as ratios to baselines of the same run
	@$(BIN)/python -m benchmarks

.PHONY: test-rabbitmq
test-rabbitmq: $(READY) ## Test RabbitMQ as broker: make test-rabbitmq URL=amqp://…
	@test -n "$(URL)" || { echo "Give a server that may be filled and emptied: make test-rabbitmq URL=amqp://user:password@127.0.0.1:5672/vhost"; exit 2; }
	MEMCI_TEST_RABBITMQ_URL=$(URL) $(BIN)/python -m pytest tests/rabbitmq

.PHONY: lock
lock: $(READY) ## Pin anew what pyproject.toml allows
	@{ echo '# Everything that `make` installs, pinned: made by `make lock` from pyproject.toml (extra: dev).'; \
	   echo '# torch is the CPU build of 2.13.0; see README, "Install".'; \
	   $(BIN)/pip-compile --quiet --no-header --no-annotate --strip-extras --allow-unsafe \
	     --no-emit-index-url --no-emit-find-links --extra dev --output-file - pyproject.toml \
	   | sed 's/^torch==\([0-9.]*\)+cpu$$/torch==\1/'; } > requirements.lock.new
	mv requirements.lock.new requirements.lock

.PHONY: clean
clean: ## Remove .venv and what tools left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage build *.egg-info
