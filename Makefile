# Everything lives in .venv; a second run starts at once.
#
#   make demo       a rigid arm from its description to timed C; a flexible arm that moves, a picture and a report in out/
#   make test       lint, then all tests on two cores
#   make quick      the tests that took little time when they last ran, and those that failed: for while you edit. The first
#                   run takes all of them, to learn their times; compiled models are kept in .pytest_cache/models
#   make nightly    the tests that take long (marked nightly), which make test leaves out
#   make lowest     the tests that need no extra, with the lowest version of each dependency, in .venv-lowest (Python 3.10 or 3.11)
#   make constraints  the versions in .venv into tests/constraints.txt, which pins what make test and make docs install
#   make bridges    installs what the bridges lead to (large), and runs their tests
#   make loop-mutants  the loop's safety code, one comparison, sign or constant changed at a time: hours; EVERY=10 takes a tenth
#   make lint       ruff check, ruff format --check, mypy --strict
#   make format     ruff format, and the repairs that ruff check knows
#   make golden     the reviewed C in tests/golden, written again: look at the change before committing it
#   make methods    the methods of Model that come from the catalogue, for the runtime, editors and mypy
#   make pictures   draws the pictures of docs/ from their sources
#   make mutants    changes at random places, each against the tests of its room: COUNT=100 SEED=1
#   make fuzz       mutated robot files through load, check, generate and the compiler: CASES=10000 SEED=1
#   make changelog  the fragments of changelog.d into CHANGELOG.md: VERSION=0.2.0 DATE=2026-11-18
#   make dist       sdist and wheel, and the wheel of the runtime alone, in dist/, checked
#   make docs       builds the documentation as HTML into out/docs: all pages, the tutorials executed, every key of robot files, the API
#   make docs-tools what builds it; without it the test of the documentation is skipped
#   make bench      measures against other libraries (benchmarks/README.md)
#   make emulator   Debian: compiler and emulator of a Cortex-M4F, without which a few tests are skipped
#   make clean      removes .venv and everything else that is not under version control and was made here

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint tests/constraints.txt
LOWEST := .venv-lowest
INSTALLED := $(VENV)/.installed
TEST_TOOLS := $(VENV)/.installed-test
DEMO_TOOLS := $(VENV)/.installed-demo
DOCS_TOOLS := $(VENV)/.installed-docs
BENCH_TOOLS := $(VENV)/.installed-bench

.PHONY: demo test quick nightly lowest constraints bridges pocl lint format golden methods pictures viewer fuzz mutants loop-mutants changelog dist docs docs-tools bench emulator clean
.DEFAULT_GOAL := demo

demo: $(DEMO_TOOLS)
	$(BIN)/python -m elastogen.demo

# One process a core: threads of numpy's BLAS would wait for each other in them, and their waiting counts as CPU time.
test quick nightly lowest mutants loop-mutants bridges fuzz: export OPENBLAS_NUM_THREADS = 1

test: lint
	$(BIN)/python -m pytest -n 2 --dist loadfile --clean-tree

quick: $(TEST_TOOLS)
	$(BIN)/python -m pytest -n 2 --dist loadfile --quick

nightly: $(TEST_TOOLS)
	$(BIN)/python -m pytest -n 2 --dist loadfile --nightly

# Newer Pythons have no wheels of the lowest numpy and scipy: there the lowest that exist are higher than the bounds say.
lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/python -m pytest -n 2 --dist loadfile

constraints: $(TEST_TOOLS) $(DOCS_TOOLS) $(DEMO_TOOLS)
	{ sed -n '/^#/p' tests/constraints.txt; PYTHONPATH=tests/helpers $(BIN)/python -m environments constraints; } > $(VENV)/constraints
	mv $(VENV)/constraints tests/constraints.txt

bridges: $(TEST_TOOLS) pocl
	$(PIP) --editable '.[casadi,torch,jax,gymnasium,control,opencl]'
	$(PIP) cmeel-eigen
	$(PIP) --no-deps libaligator cmeel-fmt cmeel-mimalloc # of aligator its C++ library; on PyPI, "aligator" is something else
	$(PIP) --no-deps 'crocoddyl>=3.2.1' 'libcrocoddyl>=3.2.1' # what it loads its demos with wants another example-robot-data than the tests
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/runtime/bridges tests/build/export/test_opencl.py tests/build/export/test_cuda.py tests/build/export/test_ros2.py tests/front_door/test_documentation.py -k 'bridges or opencl or cuda or ros2'

# The PoCL that the pyopencl wheel brings does not know every processor; Debian's does, and pyopencl takes the system's first.
pocl:
	@if ls /etc/OpenCL/vendors/pocl*.icd >/dev/null 2>&1; then exit 0; fi; \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 \
	    && apt-get update -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20 \
	    && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends pocl-opencl-icd; then exit 0; fi; \
	  echo "Debian's PoCL was not installed (this takes root and apt-get): where the one of the pyopencl wheel does not know" \
	    "this processor, the OpenCL tests are skipped. Install the package pocl-opencl-icd." >&2

EVERY ?= 1
loop-mutants: $(TEST_TOOLS)
	PYTHONPATH=tests/helpers $(BIN)/python -m mutants.loop_safety --every $(EVERY)

lint: $(TEST_TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(TEST_TOOLS)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

golden: $(INSTALLED)
	$(BIN)/python tests/golden/golden_files.py

methods: $(INSTALLED)
	$(BIN)/python -m elastogen.build.python_methods

pictures: $(INSTALLED)
	$(BIN)/python docs/pictures/pipeline.py
	$(PIP) matplotlib
	$(BIN)/python docs/pictures/moving_arm.py

# three.js for the pages, bundled into the package: npm brings it and esbuild, into a folder outside the package.
viewer:
	mkdir -p out/three && cp templates/pages/three/entry.js templates/pages/three/package.json out/three/
	cd out/three && npm install --no-audit --no-fund && npm run bundle
	cp out/three/three.min.js templates/pages/three/ && cp out/three/node_modules/three/LICENSE templates/pages/three/

# Mutated robot files through load, check, generate and the compiler; findings are kept in fuzz-findings/.
CASES ?= 10000
SEED ?= 1
fuzz: $(TEST_TOOLS)
	PYTHONPATH=tests/helpers $(BIN)/python -m fuzz.run --cases $(CASES) --seed $(SEED)

mutants: $(TEST_TOOLS)
	PYTHONPATH=tests/helpers $(BIN)/python -m mutants.rooms --count $(or $(COUNT),100) --seed $(or $(SEED),1)

changelog:
	$(PYTHON) changelog.d/collect.py '$(VERSION)' '$(DATE)'

# The room `build` has the name of the packaging tool: build/__main__.py hands over to it.
dist: $(TEST_TOOLS)
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m build --wheel --outdir dist distributions/runtime
	$(BIN)/python -m twine check --strict dist/*

docs: $(DOCS_TOOLS)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs out/docs
	@echo "out/docs/index.html"

docs-tools: $(DOCS_TOOLS)

bench: $(BENCH_TOOLS)
	$(BIN)/python -m benchmarks

# Compiler and emulator of a Cortex-M4F, for the tests of the loop in a timer interrupt; without them these are skipped.
emulator:
	apt-get update -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=20
	DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends \
	  gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm

clean:
	rm -rf $(VENV) $(LOWEST) .setuptools-build *.egg-info out dist .pytest_cache .mypy_cache .ruff_cache .hypothesis fuzz-findings \
	  distributions/runtime/.setuptools-build distributions/runtime/*.egg-info benchmarks/results docs/generated
	find . -name __pycache__ -prune -exec rm -rf {} +

# Each missing piece is named in one sentence, with the package that brings it.
$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || \
	  { echo "elastogen needs Python 3.10 or newer: install the package python3 (Debian, Ubuntu, Fedora)." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "elastogen needs Python 3.10 or newer: install one and run make PYTHON=python3.12." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv is missing: install the package python3-venv (Debian, Ubuntu)." >&2; exit 1; }
	@command -v "$${CC:-cc}" >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 || \
	  { echo "A C compiler is missing: install the package gcc, with libc6-dev (Debian, Ubuntu)." >&2; exit 1; }
	@$(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")))' || \
	  { echo "Python's C headers are missing: install the package python3-dev (Debian, Ubuntu) or python3-devel (Fedora)." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# A source distribution has no symbolic links.
$(INSTALLED): $(VENV)/bin/python pyproject.toml setup.py setup.cfg tests/constraints.txt
	@for room in generator templates build runtime; do [ -e elastogen/$$room ] || ln -s ../$$room elastogen/$$room; done
	$(PIP) --editable .
	@touch $@

$(LOWEST)/.installed: $(INSTALLED) tests/helpers/environments/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info >= (3, 12))' || \
	  { echo "The lowest versions need Python 3.10 or 3.11: run make lowest PYTHON=python3.11." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet --editable . packaging
	PYTHONPATH=tests/helpers $(LOWEST)/bin/python -m environments lowest > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet --only-binary :all: --requirement $(LOWEST)/lowest.txt
	@touch $@

$(DEMO_TOOLS): $(INSTALLED)
	$(PIP) --editable '.[plot]'
	@touch $@

$(TEST_TOOLS): $(INSTALLED)
	$(PIP) --editable '.[test]'
	@touch $@

$(DOCS_TOOLS): $(INSTALLED)
	$(PIP) --editable '.[docs]'
	@touch $@

$(BENCH_TOOLS): $(INSTALLED)
	$(PIP) --editable '.[bench]'
	@touch $@
