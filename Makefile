# Everything a fresh clone needs is Python 3.11 or later and make. The environment lives in .venv; uv is used where it is.
PYTHON ?= python3
OUT    ?= out/demo
ARGS   ?=
MINUTES ?= 10

VENV  := .venv
BIN   := $(VENV)/bin
UV    := $(shell command -v uv 2>/dev/null)
# Two makes at once take turns at installing, where the system has flock.
LOCK  := $(if $(shell command -v flock 2>/dev/null),flock $(VENV)/.lock)
# The versions that are known to work together; CONSTRAINTS= (nothing) takes the newest that pyproject.toml allows.
CONSTRAINTS ?= constraints.txt

ifdef UV
CREATE  := $(UV) venv --quiet --allow-existing --python $(PYTHON) $(VENV)
INSTALL := $(UV) pip install --quiet --python $(BIN)/python
else
CREATE  := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input
endif
INSTALL += $(if $(CONSTRAINTS),--constraint $(CONSTRAINTS))
# Each worker begins with a share of the files: what is set up or compiled for a file is so once, in one of them.
PYTEST  := $(BIN)/python -m pytest -n auto --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test slow same-bits check format bench placo sweep clean
# Targets share one environment, and pytest has its own workers: -j is accepted and changes nothing.
.NOTPARALLEL:

help: ## say what there is to make
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

demo: $(VENV)/.ready-poise ## film bodies that answer their arms and conduct, over animated ones, with files, plots and figures, into out/demo
	$(BIN)/poise demo $(or $(NAME),conductor) -o $(OUT) $(ARGS)

test: $(VENV)/.ready-test ## run the tests, all but those that take long
	$(PYTEST) -m "not slow and not data" $(ARGS)

slow: $(VENV)/.ready-test ## run the tests that take long, and those on recordings
	$(PYTEST) -m "slow or data" $(ARGS)

same-bits: $(VENV)/.ready-test ## compare every result with another revision, bit for bit (BEFORE=revision, ARGS="--only WORD")
	cd tests && PYTHONPATH="$(CURDIR)/src" ../$(BIN)/python -m tools.same_bits $(BEFORE) $(ARGS)

check: $(VENV)/.ready-check ## lint, format and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(VENV)/.ready-check ## mend what the linter and the formatter can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.ready-peers ## measure speed beside the peers
	$(BIN)/poise bench $(or $(NAME),all) $(ARGS)

sweep: $(VENV)/.ready-test ## run everything over wide ranges (NAME=push: one of it; MINUTES=10 of broken files, of commands, of abuse) and write docs
	cd tests && ../$(BIN)/python -m tools.sweeps $(NAME) --minutes $(MINUTES) $(ARGS)

placo: $(VENV)/.ready-test ## measure inverse kinematics beside placo, in an environment of its own
	$(PYTHON) -m venv .placo
	.placo/bin/python -m pip install --quiet placo==0.10.2 pin==3.8.0 numpy==2.3.5
	cd tests && POISE_PLACO_PYTHON=$(CURDIR)/.placo/bin/python ../$(BIN)/python -m tools.ik_placo

clean: ## remove the environment and all output
	rm -rf $(VENV) .placo out build dist

# A stamp a set of extras: a second run installs nothing unless the requirements changed.
$(VENV)/.ready-poise: EXTRAS :=
$(VENV)/.ready-test $(VENV)/.ready-check $(VENV)/.ready-peers: EXTRAS = [$(@:$(VENV)/.ready-%=%)]

$(VENV)/.ready-%: pyproject.toml $(CONSTRAINTS) | $(VENV)/.made
	$(LOCK) $(INSTALL) --editable '.$(EXTRAS)'
	@touch $@

$(VENV)/.made:
	@mkdir -p $(VENV)
	$(LOCK) $(CREATE)
	@touch $@
