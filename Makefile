# Two commands do everything on a fresh machine: `make e2e` and `make test`. Each sets up what it needs.

PYTHON   ?= python3
PROVIDER ?= local
K8S      ?=
PROVIDERS ?= local
EMULATE  ?=
ARGS     ?=
WORKERS  ?= $(if $(filter kind,$(PROVIDER)),2,4)
N        ?= 20
GROUP    ?=
RUN      ?=

VENV   := .venv
PY     := $(VENV)/bin/python
PYTEST := $(PY) -m pytest
CLUSTER := --provider $(PROVIDER) $(if $(K8S),--k8s $(K8S))
PARALLEL := -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help setup e2e test lint unit smoke controls soak matrix up down reap bench chaos lock protos driver-image suite-image engine engine-stop node-image

help: ## what there is
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 12

$(VENV)/.ready: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "dra-e2e needs Python 3.11 or newer; name one with PYTHON=…" >&2; exit 4; }
	@echo "setting up $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@touch $@

setup: $(VENV)/.ready ## the virtual environment with the locked dependencies

e2e: setup ## the whole suite and its report (PROVIDER=, K8S=, ARGS="-k taint")
	$(PYTEST) scenarios $(CLUSTER) $(PARALLEL) $(ARGS)

test: lint unit smoke ## the project's own tests, linters, type checks and a smoke run

lint: setup
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PYTHONPATH=. $(VENV)/bin/lint-imports

unit: setup
	$(PYTEST) tests $(ARGS)

smoke: setup
	$(PYTEST) scenarios --provider local --statement WF-05,WF-09 $(ARGS)

controls: setup ## every scenario with its control's difference applied: each must fail
	$(PYTEST) scenarios $(CLUSTER) $(PARALLEL) --controls $(ARGS)

soak: setup ## GROUP=workflow N=20: a group (without GROUP: the whole suite) N times in random order
	$(PYTEST) scenarios$(if $(GROUP),/$(GROUP)) $(CLUSTER) $(PARALLEL) --rounds $(N) $(ARGS)

matrix: setup ## every release, one report (K8S="1.36 1.37" EMULATE="1.36" PROVIDERS="local kind")
	$(PY) -m harness matrix --k8s "$(K8S)" --emulate "$(EMULATE)" --providers "$(PROVIDERS)" -- $(PARALLEL) $(ARGS)

up: setup ## a cluster with the fake driver to play with
	$(PY) -m harness up $(CLUSTER) $(ARGS)

down: setup ## remove it (RUN=… only that one)
	$(PY) -m harness down $(RUN)

reap: setup ## remove whatever a killed run left behind
	$(PY) -m harness reap $(ARGS)

suite-image: setup ## the image of Pods that run the suite (docs/in-cluster.md)
	$(PY) -m harness suite-image

driver-image: setup ## the image of the fake driver's Pods, for kind clusters
	$(PY) -m harness driver-image

engine: setup ## a private Docker engine for kind clusters, where Docker is installed but not running
	$(PY) -m harness engine

engine-stop: setup ## stop it
	$(PY) -m harness engine-stop

node-image: setup ## the node image for kind clusters, where kindest/node cannot be pulled (K8S=)
	$(PY) -m harness node-image $(if $(K8S),--k8s $(K8S))

bench: setup ## throughput, latencies, start-up, overhead, with plots
	$(PY) -m harness bench $(CLUSTER) $(ARGS)

chaos: setup ## named faults over a standard load, one after the other: does everything heal?
	$(PY) -m harness chaos $(CLUSTER) $(ARGS)

lock: setup ## lock the dependencies anew
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-emit-find-links --group dev --output-file requirements.lock pyproject.toml
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-emit-find-links --no-annotate --constraints requirements.lock --output-file deploy/requirements.txt pyproject.toml

protos: setup ## generate the messages of CRI and DRA anew
	$(PY) -m fake_driver.protos.generate
	$(PY) -m harness.clusters.local.cri.generate
