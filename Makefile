# Every target sets up .venv by itself; the second time it finds it ready.
PYTHON ?= python3
BIN := .venv/bin
OUT := build/demo
LOOPS := $(wildcard src/epivote/kernels/loops/*.?pp benchmarks/*.cpp)
# Compiled modules are kept: tests start hundreds of processes, which would each compile the whole package.
export PYTHONDONTWRITEBYTECODE =
# What the compiler of the loops keeps, so that it takes less time after a change.
export ZIG_GLOBAL_CACHE_DIR ?= $(CURDIR)/build/compiler

.PHONY: demo quiz test test-long test-slow coverage mutants sanitize wheels lint format types bench bench-files bench-collect bench-scale reproduce methods confidence compare docs clean

demo: .venv/.installed
	@$(BIN)/epivote demo $(OUT)
	@echo
	@echo 'The command is $(BIN)/epivote; after `source $(BIN)/activate` it is just epivote.'

# make quiz BOTS=40: simulated participants fill it in; make quiz HOST=0.0.0.0: for phones in the same network
quiz: .venv/.installed-quiz
	$(BIN)/python -m examples.shapes.serve --bots $(or $(BOTS),0) --host $(or $(HOST),127.0.0.1) --port $(or $(PORT),8000)

test: lint types
	$(BIN)/pytest -q -n auto --dist worksteal -m "not slow and not long"

# the tests that take longer than 0.25 seconds each
test-long: .venv/.installed-dev
	$(BIN)/pytest -q -n auto --dist worksteal -m "long and not slow"

# kills, load, fuzzing and many settings of the browser, then every property again with more examples; not part of .ci/run
test-slow: .venv/.installed-dev
	$(BIN)/pytest -q -n auto --dist worksteal -m slow
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -q -n auto --dist worksteal -m "hypothesis and not slow"

# by line and branch, in every process that tests start; files under 90 % are named at the end, pages are in build/coverage
coverage: .venv/.installed-dev
	$(BIN)/python -m mutants.touched

# plants defects and runs the tests that could notice; goes on where it was interrupted; make mutants MINUTES=60: as many as can be tried
mutants: .venv/.installed-dev .venv/.installed-loops
	$(BIN)/python -m mutants --count $(or $(COUNT),300) --seed $(or $(SEED),2022) $(if $(MINUTES),--minutes $(MINUTES)) --page

# the tests of the compiled loops, ended by what reads or writes beyond an array; needs g++
sanitize: .venv/.installed-dev
	PYTHONPATH=. $(BIN)/python tests/sanitize.py

lint: .venv/.installed-dev
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run -Werror $(LOOPS)
	$(BIN)/ruff check

format: .venv/.installed-dev
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(LOOPS)
	$(BIN)/ruff check --fix

types: .venv/.installed-dev
	$(BIN)/mypy

bench: .venv/.installed-bench
	$(BIN)/python -m benchmarks.run

bench-files: .venv/.installed-dev
	$(BIN)/python -m benchmarks.files

bench-collect: .venv/.installed-dev
	$(BIN)/python -m benchmarks.collect

# pages, files and estimates of a task with 2.5 million ballots
bench-scale: .venv/.installed-dev
	$(BIN)/python -m benchmarks.scale

reproduce: .venv/.installed-dev
	$(BIN)/python -m experiments.reproduce

methods: .venv/.installed-bench
	$(BIN)/python -m experiments.methods

confidence: .venv/.installed-dev
	$(BIN)/python -m experiments.confidence

compare: .venv/.installed-compare
	$(BIN)/python -m experiments.comparison

docs: .venv/.installed-docs
	$(BIN)/zensical build --clean --strict
	$(BIN)/python docs/check_search.py

# what is released, in dist: wheels of all platforms, made and checked on this machine
wheels: .venv/.installed-loops
	$(BIN)/python make_wheels.py

clean:
	rm -rf .venv build dist site

# installing compiles the loops of epivote.kernels, anew where their sources have changed
.venv/.installed: pyproject.toml hatch_build.py $(filter src/%,$(LOOPS))
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --editable .
	@touch $@

.venv/.installed-quiz: .venv/.installed
	$(BIN)/pip install --quiet --editable '.[collect]' --group quiz
	@touch $@

.venv/.installed-dev: .venv/.installed
	$(BIN)/pip install --quiet --editable '.[collect]' --group dev
	@touch $@

# peerannot asks for a deep-learning framework that its Dawid-Skene never calls; where it cannot be had, the page says so
.venv/.installed-bench: .venv/.installed-dev
	$(BIN)/pip install --quiet --group bench
	-$(BIN)/pip install --quiet --no-deps peerannot
	@touch $@

# snorkel asks for a viewer of training runs that its LabelModel never calls; torch is pinned so that a build for CPUs can be put in its place
.venv/.installed-compare: .venv/.installed-bench
	-$(BIN)/pip install --quiet torch==2.13.0
	-$(BIN)/pip install --quiet --no-deps snorkel
	@touch $@

.venv/.installed-loops: .venv/.installed
	$(BIN)/pip install --quiet --group loops
	@touch $@

.venv/.installed-docs: .venv/.installed
	$(BIN)/pip install --quiet --group docs
	@touch $@
