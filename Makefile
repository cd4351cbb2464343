# The same targets that CI runs. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
TOOLS := .venv-tools
DATA ?= ../shared/data
PY := $(VENV)/bin/python
# The code is linked into build/ file by file, as turnsignal.stream and turnsignal.agents; a file that comes or goes
# needs new links, so the mark of a finished installation carries a sum over the list of files.
LINKED := $(VENV)/.linked-$(shell find stream agents deploy grafana/dashboards grafana/provisioning -type f ! -path "*/__pycache__/*" | LC_ALL=C sort | cksum | cut -d " " -f 1)
LINK := -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --config-settings editable_mode=strict --editable .
# The lock files name everything, so there is nothing to resolve.
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --no-deps
# For Python 3.11 to 3.13 and every platform at once; where packages come from is nobody's business but the installer's.
LOCK := $(TOOLS)/bin/uv pip compile --quiet --system-certs --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header pyproject.toml $(LOCK_ARGS)

# Where a machine forbids Python to keep what it compiled, every run and every command that a test starts compiles all anew.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help install demo observe fmt check lint test measure dashboards preview bench bench-detect bench-judge bench-report bench-formats claims faults lock sbom audit clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Made anew whenever what it should hold changes; the code itself is linked, not copied. Every package is the one whose
# hash stands in a lock file, those that install the others (pip, setuptools) included.
$(VENV)/.installed: pyproject.toml deploy/requirements.lock
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --require-hashes --requirement deploy/requirements.lock
	@touch $@

$(LINKED): $(VENV)/.installed
	@rm -f $(VENV)/.linked-*
	@PYTHONWARNINGS=ignore $(PY) $(LINK)
	@touch $@

# Not compiled ahead: of what only tests use most is never imported, and compiling it takes as long as installing it.
$(VENV)/.tests: $(VENV)/.installed deploy/requirements-test.lock
	$(INSTALL) --no-compile --require-hashes --requirement deploy/requirements-test.lock
	@touch $@

$(VENV)/.report: $(VENV)/.installed deploy/requirements-report.lock
	$(INSTALL) --require-hashes --requirement deploy/requirements-report.lock
	@touch $@

$(TOOLS)/.installed:
	$(PYTHON) -m venv --clear $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check 'uv>=0.9' 'cyclonedx-bom>=7' 'pip-audit>=2.9'
	@touch $@

# Grafana's own panel components, 430 MB with what they bring; nothing else needs them.
grafana/preview/node_modules/.installed: grafana/preview/package-lock.json
	npm ci --prefix grafana/preview --legacy-peer-deps --no-audit --no-fund --ignore-scripts
	@touch $@

$(BENCH)/.installed: pyproject.toml
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check --config-settings editable_mode=strict --editable '.[bench]'
	@touch $@

install: $(LINKED) ## make .venv with .venv/bin/turnsignal

demo: $(LINKED) ## watch simulated conversations live for a minute (ARGS="--forever", ARGS="--file turns.jsonl.gz")
	@$(VENV)/bin/turnsignal demo $(ARGS)

observe: $(LINKED) ## look at running workers in Prometheus, Alertmanager and Grafana, as far as they are installed
	@$(VENV)/bin/turnsignal observe $(ARGS)

fmt: $(VENV)/.tests $(LINKED) ## format the code
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

check: $(VENV)/.tests $(LINKED) ## what to run while working: style, layers, and the tests that need no broker; types: make lint (ARGS="tests/stream")
	$(VENV)/bin/ruff check --quiet .
	$(VENV)/bin/lint-imports --no-cache >/dev/null
	$(PY) -m pytest -q -n auto --dist loadfile -m "not kafka and not slow" --hypothesis-profile quick $(ARGS)

lint: $(VENV)/.tests $(LINKED) ## check formatting, style, types and layers
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports --no-cache

test: $(VENV)/.tests $(LINKED) ## run all tests, those on a real broker too (ARGS="tests/stream -k pairing")
	@$(PY) tests/both_parts.py $(ARGS)

measure: $(VENV)/.report $(LINKED) ## say how far each evaluator agrees with labels (DATA=folder of sets, PART=frozen, sealed or open)
	@test -d "$(DATA)" || { echo "no data in $(DATA): DATA=FOLDER make measure, FOLDER with turns*.jsonl(.gz) or of such folders" >&2; exit 2; }
	$(if $(PART),$(PY) tests/measuring/parts.py "$(DATA)" --part $(PART) --into out/parts/$(PART))
	$(if $(PART),$(PY) tests/measuring/everyday.py --part $(PART) --into out/parts/$(PART))
	$(VENV)/bin/turnsignal measure "$(if $(PART),out/parts/$(PART),$(DATA))" --mappings tests/measuring --json out/measure.json --html out/measure.html $(ARGS)
	$(PY) -m tests.measuring.failing_answers
	$(if $(PART)$(filter-out ../shared/data,$(DATA)),,$(PY) -m tests.measuring.real_parts "$(DATA)")

claims: $(VENV)/.tests $(LINKED) ## simulate recordings: how often comparisons claim what is not, miss what is, and intervals cover (ARGS="--recordings 100")
	$(PY) -m tests.measuring.claims $(ARGS)

dashboards: $(VENV)/.tests $(LINKED) ## write grafana/dashboards/*.json anew from grafana/boards
	$(PY) -m grafana.build

preview: $(VENV)/.tests $(LINKED) grafana/preview/node_modules/.installed ## draw every dashboard, light and dark, into deploy/pictures (ARGS="--only overview")
	cd grafana/preview && node build.mjs
	$(PY) -W ignore -m grafana.preview.draw $(ARGS)

bench: $(BENCH)/.installed ## measure speed and memory beside other engines (ARGS="--quick")
	$(BENCH)/bin/python tests/bench/run.py $(ARGS)

bench-detect: $(BENCH)/.installed ## how soon a change is called and how often none is, beside other detectors (ARGS="--only planted")
	$(BENCH)/bin/python tests/bench/detection.py $(ARGS)

bench-judge: $(VENV)/.tests $(LINKED) ## how fast judges are asked, how evenly a budget is spent, what a cascade saves (labels=FOLDER of mtrag_followup)
	$(PY) -m tests.bench.judging $(ARGS)
	$(PY) tests/bench/pacing.py
	$(PY) tests/bench/cascade.py $(labels)

bench-report: $(VENV)/.tests $(LINKED) ## how often comparing claims too much, whether the waterfall names what was planted, what both cost (ARGS="--pairs 200")
	$(PY) tests/bench/comparing.py $(ARGS)
	$(PY) tests/bench/waterfall.py

bench-formats: $(VENV)/.tests $(LINKED) ## what reading each format of logs costs beside turns of our own (ARGS="--size 1000": in memory, by a log of so many MB)
	$(PY) -m tests.bench.reading_logs $(ARGS)

faults: $(VENV)/.tests $(LINKED) ## break workers, brokers, networks, disks and records in every known way, ten seeds, and print the table (ARGS="--short")
	$(PY) -m tests.kafka.faults.run $(ARGS)

lock: $(TOOLS)/.installed ## choose the versions that are installed anew (LOCK_ARGS="--upgrade")
	$(LOCK) --group build --output-file deploy/requirements.lock
	$(LOCK) --extra language --extra report --constraint deploy/requirements.lock --output-file deploy/requirements-report.lock
	$(LOCK) --extra test --extra lint --constraint deploy/requirements-report.lock --output-file deploy/requirements-test.lock

sbom: $(TOOLS)/.installed ## list what a worker is made of in out/sbom.json (CycloneDX)
	@mkdir -p out
	$(TOOLS)/bin/cyclonedx-py requirements deploy/requirements.lock --pyproject pyproject.toml --output-reproducible --output-file out/sbom.json

audit: $(TOOLS)/.installed ## ask the advisory services about every locked package
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement deploy/requirements.lock --progress-spinner off
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes --requirement deploy/requirements-test.lock --progress-spinner off

clean: ## remove what the other targets made
	rm -rf $(VENV) $(BENCH) $(TOOLS) out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
