# Every target installs what it needs on a fresh Debian machine (scripts/setup); a second call installs nothing.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEMO := $(VENV)/demo-installed
# A folder changes when a module is added, moved or removed: the editable installation is then renewed.
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/*/*) $(wildcard src/hardwood/*/)

.PHONY: demo test quick parts sanitize lint bench bench-compare bench-peers pages clean

demo: $(DEMO)
	$(BIN)/python examples/election.py demo

test: $(STAMP) parts
	sh scripts/setup browser
	$(BIN)/python -m pytest -n auto --dist worksteal

# Tests that are not marked slow; one to three minutes on two cores.
quick: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow" -q

# C++ tests of the modules of the search.
parts: $(STAMP)
	sh scripts/setup cpp-tests
	sh scripts/build_cpp_tests $(BIN)/cmake build/parts ""
	build/parts/parts

# The C++ tests under sanitizers: memory and undefined behaviour, then threads.
sanitize: $(STAMP)
	sh scripts/setup cpp-tests
	sh scripts/build_cpp_tests $(BIN)/cmake build/parts-address address,undefined
	build/parts-address/parts
	sh scripts/build_cpp_tests $(BIN)/cmake build/parts-thread thread
	build/parts-thread/parts

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet ".[bench]"
	$(BIN)/python -m benchmarks.core_operations
	$(BIN)/python -m benchmarks.growth
	$(BIN)/python -m benchmarks.survey
	$(BIN)/python -m benchmarks.real_tables
	$(BIN)/python -m benchmarks.chunks build/chunks
	$(BIN)/python -m benchmarks.weights
	$(BIN)/python -m benchmarks.counts build/counts
	$(BIN)/python -m benchmarks.threads
	$(BIN)/python -m benchmarks.switches
	$(BIN)/python -m benchmarks.mio
	$(MAKE) pages

# Comparison with other packages, each in a virtual environment of its own (build/peers). It takes hours and resumes.
bench-peers: $(STAMP)
	$(BIN)/python -m benchmarks.peers.run
	$(BIN)/python -m benchmarks.peers.page
	$(MAKE) pages

# Pages with numbers, generated from the result files.
pages: $(STAMP)
	$(BIN)/python -m benchmarks.pages

# Work of the search compared with another commit: make bench-compare BASE=main~5. Work has no noise: one run suffices.
BASE ?= HEAD
bench-compare: $(STAMP)
	$(BIN)/python -m benchmarks.gate --base $(BASE)

# Editable installation: edits of Python files take effect at once, edits of C++ or of the build rebuild it. The build
# requirements are in the environment, so that only what changed is compiled again; the first time takes some minutes.
$(STAMP): $(SOURCES) scripts/setup
	sh scripts/setup build $(VENV)
	$(BIN)/python scripts/build_requirements.py | xargs $(BIN)/python -m pip install --quiet
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable ".[dev]" \
		--config-settings=cmake.define.HARDWOOD_STUB=ON
	touch $@

# The package with what the demo needs; an editable installation has all of it already.
$(DEMO): $(SOURCES) scripts/setup
	sh scripts/setup build $(VENV)
	if [ -e $(STAMP) ]; then $(MAKE) $(STAMP); else $(BIN)/python -m pip install --quiet ".[demo]"; fi
	touch $@

clean:
	rm -rf $(VENV) build
