# Every target works as the first command on a machine with Python 3.11 or newer and make: it makes .venv by itself.
PYTHON ?= python3.11
BIN := .venv/bin
STAMP := .venv/.installed
INSTALL := -m pip install --quiet --disable-pip-version-check --no-deps

.DEFAULT_GOAL := help
.PHONY: help install demo ui lint test proof soak bench wheel site pictures lock

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 10

install: $(STAMP)  ## .venv with the pinned versions

$(STAMP): pyproject.toml .requirements/dev.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 to 3.14 is needed; set PYTHON=/path/to/python3.12, say"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) --require-hashes -r .requirements/dev.txt
	$(BIN)/python $(INSTALL) --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)  ## the whole pipeline against a sandbox of the service
	$(BIN)/wms-sync demo

ui: $(STAMP)  ## Dagster's UI on your settings, or on a sandbox; PORT=3001 chooses
	$(BIN)/wms-sync ui $(if $(PORT),--port $(PORT))

lint: $(STAMP)  ## ruff, mypy (strict) and sqlfluff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --processes 2 sql

# Three at a time, file by file: on two cores one of them always waits for a process, a clock or a poll. In the order of
# tests/conftest.py: by number of tests, the few that start processes and wait would all come last. Python's compiled
# files are kept: without them each process compiles all tests anew, which takes it 7 seconds.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# what needs no server, no other process and no Dagster instance; tests/conftest.py draws the line
test: $(STAMP) $(if $(DUCKDB),.clients/duckdb-$(DUCKDB)/.installed)  ## the quick tests, in three minutes; DUCKDB=2 chooses another
	$(if $(DUCKDB),PYTHONPATH=.clients/duckdb-$(DUCKDB)) $(PYTEST) -m "not proof"

# Debian's chromium operates the UI, alone: beside other tests it waits too long for the UI
CLICKS = PYTHONPATH=$(CURDIR)/.browser $(BIN)/python -m pytest tests/pipelines/test_dagster_ui.py -k clicks

# everything else but the full counts: kills, PostgreSQL, lakes, Dagster, a browser, dbt, the wheel, the sandbox's own tests
proof: $(STAMP) .browser/.installed .venv-dbt/.installed  ## the slow tests
	$(CLICKS)
	DBT=$(CURDIR)/.venv-dbt/bin/dbt $(PYTEST) -m proof

# each seed is in the name of its test, each kill is printed
SOAK ?= tests/survival
soak: $(STAMP)  ## the full counts of kills and seeds, for hours; SOAK="tests/survival -k kills" chooses
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --soak -v -s -o faulthandler_timeout=0 --basetemp .soak $(SOAK)

bench: $(STAMP) .venv-bench/.installed  ## this pipeline against dlt and against the floor; BENCH="night" chooses
	$(BIN)/python -m benchmarks $(BENCH)

wheel: $(STAMP)  ## the source distribution, and the wheel made of it, in dist
	$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python

MERMAID = 12.3.0
MERMAID_SHA256 = be0684e8d20bfc874df12c0f04927a5c482f57f2200eec54cca52a4583fd4040
SITE = $(shell sed -n 's/^site_url = "\(.*\)"/\1/p' zensical.toml)

.site/mermaid.min.js:
	mkdir -p .site
	npm pack --silent --pack-destination .site mermaid@$(MERMAID)
	echo "$(MERMAID_SHA256)  .site/mermaid-$(MERMAID).tgz" | sha256sum --check --quiet
	tar -xzOf .site/mermaid-$(MERMAID).tgz package/dist/mermaid.min.js > $@

# a demo whose report has a target; what the site shows and the pictures are of
demo-of-docs: $(STAMP)
	mkdir -p .site
	WMS_ON_TIME_TARGET=95 $(BIN)/wms-sync demo --data-dir .site/demo > .site/demo.log

# docs/ as it is, with the README as first page, whose links to the site become links to its pages, so that they are checked
site: demo-of-docs .venv-site/.installed .site/mermaid.min.js  ## the docs as a site, with the report and dictionary of a demo
	rm -rf .site/docs site
	cp -r docs .site/docs
	sed -E -e 's#$(SITE)images/#images/#g' \
		-e 's#$(SITE)([a-z/-]+)\.html#\1.md#g' \
		-e 's#sandbox/(report|dictionary)\.md#sandbox/\1.html#g' README.md > .site/docs/index.md
	cp .site/mermaid.min.js .site/docs/assets/
	WMS_DATA_DIR=.site/demo $(BIN)/wms-sync dictionary --to .site/docs/sandbox
	cp .site/demo/report.html .site/docs/sandbox/
	chmod -R go+rX .site/docs
	.venv-site/bin/zensical build --clean --strict

pictures: demo-of-docs .browser/.installed  ## the pictures of the docs, from this commit
	for size in 1300,1050:report 390,900:report-phone; do chromium --headless --no-sandbox --hide-scrollbars \
		--window-size=$${size%:*} --screenshot=docs/images/$${size#*:}.png .site/demo/report.html; done
	$(CLICKS) --basetemp /tmp/wms-sync --pictures docs/images

# environments of their own, so that what they need touches nothing else
.browser/.installed: $(STAMP) .requirements/browser.txt
	$(BIN)/python $(INSTALL) --require-hashes --upgrade --target .browser -r .requirements/browser.txt
	@touch $@

.clients/duckdb-2/.installed: $(STAMP) .requirements/duckdb-2.txt
	$(BIN)/python $(INSTALL) --require-hashes --upgrade --target .clients/duckdb-2 -r .requirements/duckdb-2.txt
	@touch $@

.venv-%/.installed: .requirements/%.txt
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python $(INSTALL) --require-hashes -r $<
	@touch $@

COMPILE = $(BIN)/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 --no-header --no-annotate
EXTRAS = $(addprefix --extra ,alerts files lake postgres report)

lock: $(STAMP)  ## the pinned lists again, from pyproject.toml
	$(COMPILE) pyproject.toml $(EXTRAS) --group dev -o .requirements/dev.txt
	$(COMPILE) pyproject.toml --extra alerts --extra pods -o .requirements/image.txt
	for group in bench browser dbt duckdb-2 site; do $(COMPILE) --group $$group -o .requirements/$$group.txt || exit 1; done
