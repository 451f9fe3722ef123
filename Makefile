# Every target works as the first command on a machine with Python 3.11 to 3.13 and make: it makes .venv by itself.
PYTHON ?= python3.11
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: install demo test proof soak faults wheel lint ui browser pictures dbt bench reference site lock clean

install: $(STAMP)

$(STAMP): pyproject.toml .requirements/dev.txt
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 to 3.13 is needed; set PYTHON=/path/to/python3.12, say"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r .requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(STAMP)
	$(BIN)/wms-sync demo

# Three at a time, file by file: on two cores one of them always waits for a process, a clock or a poll. In the order of
# tests/conftest.py: by number of tests, the few that start processes and wait would all come last. Python's compiled
# files are kept: without them each process compiles all tests anew, which takes it 7 seconds.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder

# what needs no server, no other process and no Dagster instance; tests/conftest.py draws the line
test: $(STAMP)
	$(PYTEST) -m "not proof"

# everything else but the full counts: kills, PostgreSQL, lakes, Dagster, the sandbox's own tests
proof: $(STAMP) browser dbt
	$(PYTEST) -m proof

# the full counts of kills and seeds; each seed is in the name of its test, each kill is printed. SOAK="-k kills" chooses
soak: $(STAMP)
	$(BIN)/python -m pytest --soak -v -s -o faulthandler_timeout=0 --basetemp .soak tests/survival $(SOAK)

# each promise broken in a copy of the source, to see its tests fail; FAULTS="-k receipt" chooses. Python's compiled files
# are copied too, so that each copy compiles only what was changed
faults: $(STAMP)
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n 2 -v -o faulthandler_timeout=0 tests/faults/planting.py $(FAULTS)

# the wheel in an empty environment of each Python that is here; downloads every dependency
wheel: $(STAMP)
	tests/try_wheel.sh $(foreach version,3.11 3.12 3.13,$(shell command -v python$(version)))

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --processes 2 sql

ui: $(STAMP)
	$(BIN)/wms-sync ui $(if $(PORT),--port $(PORT))

# apart from .venv: make test leaves these tests out, which take two minutes
.browser/.installed: $(STAMP) .requirements/browser.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target .browser \
		-r .requirements/browser.txt
	@touch $@

# Debian's chromium operates the UI; with pictures, what it looks at is kept for the docs
browser: .browser/.installed
	PYTHONPATH=.browser $(BIN)/python -m pytest tests/pipelines/test_dagster_ui.py -k clicks $(LOOKS)

pictures: LOOKS = --pictures docs/images
pictures: browser

# dbt has an environment of its own; make test leaves its test out
.venv-dbt/.installed: .requirements/dbt.txt
	$(PYTHON) -m venv .venv-dbt
	.venv-dbt/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r .requirements/dbt.txt
	@touch $@

dbt: $(STAMP) .venv-dbt/.installed
	DBT=$(CURDIR)/.venv-dbt/bin/dbt $(BIN)/python -m pytest tests/reports/test_dictionary.py -k dbt

# an environment of its own, so that dlt's dependencies touch nothing else
.venv-bench/.installed: $(STAMP) .requirements/bench.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r .requirements/bench.txt
	@touch $@

bench: $(STAMP) .venv-bench/.installed
	$(BIN)/python -m benchmarks $(BENCH)

# the generated pages of docs/reference, from the code
reference: $(STAMP)
	$(BIN)/python -m tests.test_reference

# the docs' site, in an environment of its own, beside the report and the dictionary of a demo. Mermaid is served by the site
.venv-site/.installed: .requirements/site.txt
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r .requirements/site.txt
	@touch $@

MERMAID = https://registry.npmjs.org/mermaid/-/mermaid-12.3.0.tgz
MERMAID_SHA256 = be0684e8d20bfc874df12c0f04927a5c482f57f2200eec54cca52a4583fd4040

.site/mermaid.min.js:
	mkdir -p .site
	curl -sSfL -o .site/mermaid.tgz $(MERMAID)
	echo "$(MERMAID_SHA256)  .site/mermaid.tgz" | sha256sum --check --quiet
	tar -xzOf .site/mermaid.tgz package/dist/mermaid.min.js > $@

SITE = $(shell sed -n 's/^site_url = "\(.*\)"/\1/p' zensical.toml)

# a demo whose report has a target; what the site shows and the pictures are of
demo-of-docs: $(STAMP)
	mkdir -p .site
	WMS_ON_TIME_TARGET=95 $(BIN)/wms-sync demo --data-dir .site/demo > .site/demo.log

report-pictures: demo-of-docs
	for size in 1300,1050:report 390,900:report-phone; do chromium --headless --no-sandbox --hide-scrollbars \
		--window-size=$${size%:*} --screenshot=docs/images/$${size#*:}.png .site/demo/report.html; done

pictures: report-pictures

# docs/ as it is, with the README as first page, whose links to the site become links to its pages, so that they are checked
site: demo-of-docs .venv-site/.installed .site/mermaid.min.js  ## the docs as a site, in site
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

# the pinned lists again, from pyproject.toml
lock:
	$(PYTHON) -m venv .venv-lock
	.venv-lock/bin/python -m pip install --quiet ".[alerts,files,lake,postgres,report,test]" hatchling editables
	.venv-lock/bin/python -m pip freeze --exclude wms-sync > .requirements/dev.txt
	rm -rf .venv-lock

# not data: that is what an operator has
clean:
	rm -rf .venv .venv-bench .venv-dbt .venv-site .site site .browser bench-data .soak .mypy_cache .ruff_cache .pytest_cache
