# Two commands matter: `make demo` and `make test`. Both set up .venv first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable
DEMO := scenarios/first-walk/ring-reduce-scatter-8.yaml

.PHONY: help demo test setup lint types tests test-browser docs scenarios wheel tables schema seed1 seed2 \
	docs-output questions pictures baseline bench format clean

help:
	@echo "make demo    run a scenario, print its table, draw its timeline into out/demo"
	@echo "make test    run every check"
	@echo "make docs    build the manual: out/docs/index.html"
	@echo "make test-browser  look at reports in a headless Chromium, which is fetched where there is none"
	@echo "make scenarios  hold the library against what it expects, and tell of each"
	@echo "make bench   measure the figures of benchmarks/"
	@echo "make tables  write today's steps of every algorithm into tests/algorithms/steps.json"
	@echo "make schema  write the schema and words of scenarios/, and the line that names the schema into its files"
	@echo "make seed1   write docs/explanation/seed1.md: the first seed document beside what collsim computes"
	@echo "make seed2   write docs/explanation/seed2.md: the second seed document beside what collsim derives"
	@echo "make docs-output  write into docs what the commands on its pages print today"
	@echo "make pictures  draw the pictures of docs/reference/pictures.md by the commands that it shows"
	@echo "make baseline  draw the pictures that tests compare with; look at them before they are kept"
	@echo "make format  lay the code out"

demo: $(VENV)/.run
	$(BIN)/collsim run $(DEMO) --out out/demo --force
	@echo "the timeline: out/demo/timeline.png"

# what takes one core, two at a time; then the tests, which take both
test: setup
	$(MAKE) --jobs 2 lint types docs wheel
	$(MAKE) tests

setup: $(VENV)/.dev

# what a run needs, and what the checks need on top; the constraints hold for build tools, too
$(VENV)/.run: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("collsim needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: setup
	$(BIN)/mypy

# halves of the files in order, so that a loop is compiled once; processes that tests start find bytecode
tests: setup
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

# every page anew: what is generated depends on the code, which Sphinx does not see
docs: setup
	$(BIN)/python -m sphinx --builder html --jobs 2 --fresh-env --fail-on-warning --keep-going --quiet \
		--doctree-dir out/doctrees docs out/docs

# a part of the tests, too, where playwright and a Chromium are installed
test-browser: setup
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(BIN)/python -c 'import shutil, sys; sys.exit(not any(map(shutil.which, sys.argv[1:])))' $(BROWSERS) || $(BIN)/python -m playwright install chromium
	$(BIN)/python -m pytest tests/browser -rs

# what tests/scenario/test_library.py holds, too, told one by one
scenarios: setup
	$(BIN)/collsim check scenarios

wheel: setup
	$(BIN)/python tests/wheel_check.py

tables: setup
	$(BIN)/collsim algorithms --table --ranks 2..16 --format json > $(VENV)/steps.json
	mv $(VENV)/steps.json tests/algorithms/steps.json

schema: setup
	$(BIN)/python -m tests.scenario.schema.test_json_schema

seed1: setup
	$(BIN)/python -m simulator.seeds.seed1 docs/explanation/seed1.md

seed2: setup
	$(BIN)/python -m simulator.seeds.seed2 docs/explanation/seed2.md

docs-output questions: setup
	$(BIN)/python -m tests.docs.page

# each command of the page, as it stands there
pictures: setup
	sed -n 's,^collsim \(plot .* --out docs/.*\),\1,p' docs/reference/pictures.md | while read -r words; do \
		$(BIN)/python -m simulator $$words --force || exit 1; done

baseline: setup
	$(BIN)/python -m pytest tests/plots/test_baseline.py --mpl-generate-path=tests/plots/baseline

bench: setup
	$(BIN)/python benchmarks/run.py

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) out docs/reference/_pictures build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
