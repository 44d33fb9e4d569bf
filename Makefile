# Every target sets itself up on a fresh machine; a second call installs nothing.
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/* cpp/search/*)

.PHONY: demo test lint bench clean

demo: $(STAMP)
	$(BIN)/python examples/election.py demo

test: $(STAMP)
	sh scripts/browser
	$(BIN)/python -m pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m pip install --quiet ".[bench]"
	$(BIN)/python benchmarks/ground_floor.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/ordinary.py
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/mio.py

# Installed in place: edits of Python files count at once, edits of C++ or of the build rebuild here.
$(STAMP): $(SOURCES) scripts/bootstrap
	sh scripts/bootstrap $(VENV)
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) build
