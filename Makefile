# Two commands do everything: `make run` measures, `make test` proves. Both install what they need.

PYTHON ?= python3
VENV := .venv
NETDYNO := $(VENV)/bin/netdyno
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test check bench bench-honesty clean

run: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2
	$(NETDYNO) run

test: $(VENV)/installed-for-tests
	$(NETDYNO) frameworks install pytorch-2 jax
	$(VENV)/bin/python -m pytest

check: $(VENV)/installed-for-tests
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# netdyno against bare loops, interleaved: a common definition must not cost speed.
bench: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2 jax
	$(VENV)/bin/python benchmarks/against_bare.py

# Does it say "faster" only when it is? A cell against itself, against a slowed one, and thirty kills.
bench-honesty: $(VENV)/installed
	$(VENV)/bin/python benchmarks/honesty.py
	$(VENV)/bin/python benchmarks/kills.py

# Debian's Python comes without ensurepip; its pip can then install a pip into the environment.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || \
	  { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; }

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable .
	touch $@

$(VENV)/installed-for-tests: $(VENV)/installed
	$(PIP) --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
