# The same targets that CI runs. `make` alone lists them.
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install demo fmt lint test bench faults measure clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml
	python3 -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check --editable '.[test,lint]'
	@touch $@

install: $(STAMP) ## make .venv with .venv/bin/turnsignal and what the tests need
