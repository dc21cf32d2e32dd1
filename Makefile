# Needs Python 3.11 or newer and make; everything else goes into .venv, at the versions in constraints.txt.

PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.ready
READY := .venv/.ready-dev
NO_PAGE := src/pliant/studio/static/not-made
PAGE := hatch_build.py $(wildcard studio/*.py studio/*.json studio/*.html studio/*.mjs studio/src/*)

# Hundreds of processes are started: none of them should compile the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test kernels lint docs site reference figures pictures examples clean

help: ## list what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

setup: $(READY) ## make the environment in .venv (all others do this first)

demo: $(VENV) ## see it work: a simulated arm is pushed and yields
	$(BIN)/pliant demo

test: $(READY) kernels ## run the tests
	@$(BIN)/python tests/run.py

kernels: $(VENV) ## compile the control kernels (once; everything else does so when it needs them)
	@$(BIN)/python -c "from pliant.cli.show import compile_first, compile_planner; compile_first(); compile_planner()"

lint: $(READY) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

docs: $(READY) ## check links, code and commands in the documentation
	$(BIN)/python docs/check.py

site: $(READY) ## build the documentation site into site/, without a network; a warning fails
	$(BIN)/zensical build --clean --strict

reference: $(READY) ## write docs/reference anew from the declarations
	$(BIN)/python docs/generate.py

figures: $(READY) ## measure every published figure anew and write docs/figures.md (takes an hour)
	$(BIN)/python docs/figures.py

pictures: $(READY) ## draw the pictures of README and docs anew (needs EGL)
	MUJOCO_GL=egl $(BIN)/python docs/pictures.py

examples: $(READY) ## run every example, without a display
	@set -e; for file in examples/*.py; do \
	  test -e "$$file" || { echo "There is no example."; exit 1; }; \
	  echo "$$file"; MPLBACKEND=agg MUJOCO_GL=egl $(BIN)/python "$$file"; \
	done

clean: ## remove what make has made; recordings in out/ stay
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .cache build dist site studio/node_modules studio/out src/pliant/studio/static
	find src tests docs examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The package is installed in place; its installation makes the Studio's page, so it is done again when that changes.
# Pinned also for the build of the package itself, which pip does in an environment apart (the two variables are the
# old and the new way to say so). The demonstration does without the tools of the developers.
export PIP_CONSTRAINT = constraints.txt
export PIP_BUILD_CONSTRAINT = constraints.txt
INSTALL = $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e

$(VENV): pyproject.toml constraints.txt $(PAGE)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Pliant needs Python 3.11 or newer, and '$(PYTHON)' is not. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/pip || $(PYTHON) -m venv .venv || { \
	  echo "'$(PYTHON)' cannot make a virtual environment. On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "Setting up .venv (once; the first time it has to download everything)"
	@$(INSTALL) ".[render]"
	@test ! -e $(NO_PAGE) || { echo "The Studio's page could not be made; everything else works. Why:"; cat $(NO_PAGE); }
	@touch $@

$(READY): $(VENV)
	@echo "Adding the developers' tools to .venv (once)"
	@$(INSTALL) ".[dev]"
	@touch $@
