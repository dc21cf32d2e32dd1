# Needs Python 3.11 or newer and make; everything else goes into .venv, at the versions in constraints.txt.

PYTHON ?= python3
BIN := .venv/bin
VENV := .venv/.ready
READY := .venv/.ready-dev
STEPS := $(PYTHON) tools/environment.py
PAGE := hatch_build.py $(wildcard studio/*.py studio/*.json studio/*.html studio/*.mjs studio/src/*)

# If the user's cache folder cannot be used, compiled code is kept in the clone.
CACHES := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pliant/kernels
ifeq ($(PLIANT_CACHE)$(shell mkdir -p -m 700 "$(CACHES)" 2>/dev/null && test -w "$(CACHES)" -a -O "$(CACHES)" && echo usable),)
export PLIANT_CACHE := $(CURDIR)/.venv/kernels
endif

# Hundreds of processes are started: none of them should compile the whole package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup demo test test-all about-tests kernels lint docs site reference figures pictures examples clean

help: ## list all targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 18

setup: $(READY) ## set up .venv (all other targets do this first)

demo: $(VENV) ## push a simulated arm and watch it respond
	@$(STEPS) step compile $(BIN)/python -c "from pliant.cli.show import compile_first; compile_first('loop', 'replay', 'law hold', 'law admittance')"
	@$(STEPS) step run $(BIN)/pliant demo --no-studio
	@$(STEPS) summary demo
	@if test -t 0 && test -t 1 && test -e src/pliant/studio/static/index.html; then $(BIN)/pliant studio hand_guiding; fi

test: about-tests $(READY) kernels ## run the quick tests: every capability at least once
	@$(BIN)/python tests/run.py quick

test-all: about-tests $(READY) kernels ## run all tests, with many more random examples
	@$(BIN)/python tests/run.py all

about-tests:
	@echo "Setting up .venv and compiling the control code (both once, a few minutes), then running the tests."

kernels: $(VENV) ## compile the control code now (otherwise compiled on first use)
	@$(BIN)/pliant cache warm

lint: $(READY) ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright

docs: $(READY) ## check links, code and commands in the documentation
	$(BIN)/python docs/check.py

site: $(READY) ## build the documentation site into site/ (offline; warnings are errors)
	$(BIN)/zensical build --clean --strict

reference: $(READY) ## regenerate docs/reference from the declarations
	$(BIN)/python docs/generate.py

figures: $(READY) ## measure every published figure again and write docs/figures.md (takes about 15 minutes)
	$(BIN)/python docs/figures.py

pictures: $(READY) ## redraw the pictures of README and docs (needs EGL)
	MUJOCO_GL=egl $(BIN)/python docs/pictures.py

examples: $(READY) ## run every example, without a display
	@set -e; for file in examples/*.py; do \
	  test -e "$$file" || { echo "No examples found."; exit 1; }; \
	  echo "$$file"; MPLBACKEND=agg MUJOCO_GL=egl $(BIN)/python "$$file"; \
	done

clean: ## remove everything that make created; recordings in out/ are kept
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .cache build dist site studio/node_modules studio/out src/pliant/studio/static
	find src benchmarks tests docs examples -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# Both packages are installed in place, and the Studio's page is built beside them; again when their sources change. The
# demonstration does without the tools of the developers.
$(VENV): pyproject.toml benchmarks/pyproject.toml constraints.txt tools/environment.py $(PAGE) | announce
	@$(STEPS) base
	@touch $@

$(READY): $(VENV)
	@$(STEPS) dev
	@touch $@

.PHONY: announce
announce: # what the goals will do, before anything is done
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Pliant needs Python 3.11 or newer, but '$(PYTHON)' is older. Try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(STEPS) announce $(MAKECMDGOALS)
