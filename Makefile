# Two commands do everything on a fresh Debian or Ubuntu with Python 3.11 or later:
#   make demo    install, measure this machine, measure a real program, leave the figures in demo/
#   make test    install, check and test
VENV := .venv
BIN := $(VENV)/bin
DIST := dist
INSTALLED := $(VENV)/.installed

# Byte code is kept, whatever the environment says: tests start many processes, and each would
# compile all of ours again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo libraries test test-all benchmark page site wheels clean

demo: $(INSTALLED)
	tools/demo.sh

test: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow"

# PyTorch and JAX as builds for CPUs: the tests that need them are skipped without.
libraries: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check 'torch==2.13.0' \
	    --index-url https://download.pytorch.org/whl/cpu || echo "no PyTorch: its tests are skipped" >&2
	$(BIN)/pip install --quiet --disable-pip-version-check 'jax[cpu]' || \
	    echo "no JAX: its tests are skipped" >&2

# Slow and privileged tests too, those of PyTorch and JAX, and those that open pages in a browser.
test-all: libraries test
	tools/bootstrap.sh $(VENV) browser
	$(BIN)/pytest -m slow

# The tables that users wait for: needs likwid (Debian) and carm-roofline (PyPI) beside us.
benchmark: $(INSTALLED)
	$(BIN)/python benchmarks/machine.py
	$(BIN)/python benchmarks/counting.py
	$(BIN)/python benchmarks/time_check.py --stated
	$(BIN)/python benchmarks/mix.py
	$(BIN)/python benchmarks/startup.py

# The script and style of the interactive page, which are kept in the repository: needs Node 20.
page: $(INSTALLED)
	$(BIN)/python -m ridgepoint.show.look web/src
	cd web && npm ci --no-audit --no-fund && npm run check && npm test && npm run build

# The documentation as a site, in the folder site: open site/index.html.
site: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[docs]'
	rm -rf site
	$(BIN)/python tools/site/build.py site

# The wheels for x86-64 Linux, with all that is otherwise compiled at first use: needs gcc.
wheels: $(INSTALLED)
	$(BIN)/pip install --quiet --disable-pip-version-check -r tools/wheels/requirements.txt
	$(BIN)/python tools/wheels/build_wheels.py $(DIST)

$(INSTALLED): pyproject.toml tools/bootstrap.sh
	tools/bootstrap.sh $(VENV)
	touch $@

clean:
	rm -rf $(VENV) demo site
