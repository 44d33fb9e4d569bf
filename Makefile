# Every target sets itself up on a fresh machine; a second call installs nothing.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
DEMO := $(VENV)/demo-installed
# A folder changes when a module is added, moved or removed: an installation in place must learn of it.
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/* cpp/*/*/*) $(wildcard src/hardwood/*/)

.PHONY: demo test quick parts sanitize lint bench bench-compare bench-peers pages clean

demo: $(DEMO)
	$(BIN)/python examples/election.py demo

test: $(STAMP) parts
	sh scripts/browser
	$(BIN)/python -m pytest -n auto

# Under a minute on two cores: what is not marked slow.
quick: $(STAMP)
	$(BIN)/python -m pytest -n auto -m "not slow" -q

# The parts of the search in C++, each on its own.
parts: $(STAMP)
	sh scripts/parts $(BIN)/cmake build/parts ""
	build/parts/parts

# The same under sanitizers: memory and undefined behaviour, then threads.
sanitize: $(STAMP)
	sh scripts/parts $(BIN)/cmake build/parts-address address,undefined
	build/parts-address/parts
	sh scripts/parts $(BIN)/cmake build/parts-thread thread
	build/parts-thread/parts

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet ".[bench]"
	$(BIN)/python benchmarks/ground_floor.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/survey.py
	$(BIN)/python benchmarks/pieces.py build/pieces
	$(BIN)/python benchmarks/weights.py
	$(BIN)/python benchmarks/counts.py build/counts
	$(BIN)/python benchmarks/threads.py
	$(BIN)/python benchmarks/switches.py
	$(BIN)/python benchmarks/mio.py
	$(MAKE) pages

# Other packages on the same tables, each in an environment of its own (build/peers); hours, and it goes on where it was.
bench-peers: $(STAMP)
	$(BIN)/python benchmarks/peers/run.py
	$(BIN)/python benchmarks/peers/page.py
	$(MAKE) pages

# Every page with numbers in it, from the files of results.
pages: $(STAMP)
	$(BIN)/python benchmarks/pages.py

# Work of the search beside another commit: make bench-compare BASE=main~5. Without noise, so one run is enough.
BASE ?= HEAD
bench-compare: $(STAMP)
	$(BIN)/python benchmarks/gate.py --base $(BASE)

# Installed in place: edits of Python files count at once, edits of C++ or of the build rebuild here.
$(STAMP): $(SOURCES) scripts/bootstrap
	sh scripts/bootstrap $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --config-settings=cmake.define.HARDWOOD_STUB=ON
	touch $@

# The package and what the demo shows, not the tools of developers; whoever has those has all of it.
$(DEMO): $(SOURCES) scripts/bootstrap
	sh scripts/bootstrap $(VENV)
	if [ -e $(STAMP) ]; then $(MAKE) $(STAMP); else $(BIN)/python -m pip install --quiet ".[demo]"; fi
	touch $@

clean:
	rm -rf $(VENV) build
