# One word for each thing one does here. `make` alone sets everything up and runs the tests.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin

.PHONY: test sample notebooks mockservers evaluate setup fmt check cov bench clean

test: check
	$(RUN)/python -m pytest -n 2
	$(MAKE) notebooks

sample: setup
	$(RUN)/python -m holodeck_nb test sample/financial-assistant/agent.yaml

notebooks: setup
	$(RUN)/python -m pytest -p no:cacheprovider -o addopts= --nbval --nbval-sanitize-with=tests/support/nbval_sanitize.cfg notebooks

# A provider's test server that others wrote; tests that need it skip where there is no Node.
mockservers:
	npm install --prefix .mockservers --no-audit --no-fund --silent @copilotkit/aimock@1.43.0

# The package behind `type: evaluate` (400 MB with what it needs); half of that metric's tests skip without it.
evaluate: setup
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e '.[evaluate]'

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

fmt: setup
	$(RUN)/ruff format .
	$(RUN)/ruff check --fix .

check: setup
	$(RUN)/ruff format --check .
	$(RUN)/ruff check .
	$(RUN)/mypy

cov: setup
	$(RUN)/python -m pytest -n 2 --cov --cov-report=term-missing:skip-covered --cov-fail-under=95

bench: setup
	for file in tests/bench/bench_*.py; do $(RUN)/python $$file || exit 1; done

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
