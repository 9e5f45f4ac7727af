# `make run` and `make test` are all you need; each makes .venv itself.
#   PYTHON=python3.13   the interpreter .venv is made with (3.11 or newer)
#   PYTEST_ARGS=...     passed on to pytest
#   JOBS=1              so many tests at once; as many as cores
#   PIP_FLAGS=...       passed on to pip
#   CPU_TORCH=true      with the PyTorch of pip's usual index, though there is no GPU

PYTHON ?= python3
PYTEST_ARGS ?=
JOBS ?= auto
PIP_FLAGS ?= $(if $(CI),-q)

# The tests start many processes: without the compiled sources each would compile them again.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
PY := $(VENV)/bin/python
RLLIB := .venv-rllib
# What `make coverage` measures (without the modules of the engine that only compile), and the tests that it runs.
COMPILING := {jit,library,machine_code,cache_files,building,compiler,python_calls}
COVERED := --source=euphoria_env/engine,euphoria_env/cards --omit=$(shell bash -c 'echo euphoria_env/engine/$(COMPILING).py' | tr ' ' ,)
COVERING := tests/test_scenarios.py tests/test_game.py tests/test_since.py tests/test_fuzz.py
# What `make check` asks, as plain Python: nothing is compiled for it.
CHECKED := tests/test_complete.py tests/test_phrases.py tests/test_docs.py
# The build that checks every index; its code is optimised less, so that it compiles sooner.
CHECKING := NUMBA_BOUNDSCHECK=1 NUMBA_OPT=1 NUMBA_CACHE_DIR=$(or $(NUMBA_CACHE_DIR),$(VENV)/numba)
BROWSER := $(wildcard tests/test_browser*.py)
# What must work with every version of the libraries that the extras allow.
SELECTED := $(addprefix tests/test_,game.py batch.py aec.py single_env.py copies.py agents.py training.py commands.py)
PINS := pyproject.toml requirements.lock
BUILDING := hatchling numba gymnasium pettingzoo
PIP_INSTALL = $(PY) -m pip install --no-input --disable-pip-version-check $(PIP_FLAGS) -c requirements.lock
# PyTorch without CUDA, from its own index, where there is no GPU. If it cannot be had, pip takes the one of its usual index.
CPU_TORCH = command -v nvidia-smi >/dev/null || $(PIP_INSTALL) --no-deps --retries 0 --timeout 15 \
    --index-url https://download.pytorch.org/whl/cpu torch || echo 'no PyTorch without CUDA can be had: pip installs the usual one'

.DEFAULT_GOAL := help
.NOTPARALLEL: # all targets share one .venv
.DELETE_ON_ERROR:
.PHONY: run test check lint coverage packaging test-beside test-rllib format bench docs site links build lock clean help replay test-long test-fast test-slow test-bounds test-browser test-oldest test-newest fuzz test-clients

run: $(VENV)/.installed-run ## Train a player for three minutes, rate it, write a report
	$(PY) scripts/demo.py

test: lint ## Every check: `make lint`, then pytest on all cores
	$(PY) -m euphoria_agents compile
	@mkdir -p build; echo 'the scenarios, with every index checked: build/bounds.txt'; \
	$(CHECKING) $(PY) -m pytest -q tests/test_scenarios.py > build/bounds.txt 2>&1 & checked=$$!; \
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS); status=$$?; \
	wait $$checked || status=1; cat build/bounds.txt; exit $$status

test-bounds: $(VENV)/.installed-test ## The scenarios, and rows with changed bytes, with every index checked
	$(CHECKING) $(PY) -m pytest -q tests/test_scenarios.py tests/test_mutated_rows.py

check: lint ## The checks of a minute: lint, types, imports, completeness, fresh pages
	NUMBA_DISABLE_JIT=1 $(PY) -m pytest -q -m 'not slow and not long' $(CHECKED)

test-fast: $(VENV)/.installed-test ## The tests that take seconds
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile -m 'not slow and not long' $(BROWSER:%=--ignore=%) $(PYTEST_ARGS)

test-slow: $(VENV)/.installed-test ## The tests that take longer
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile -m 'slow and not long' $(BROWSER:%=--ignore=%) $(PYTEST_ARGS)

test-browser: $(VENV)/.installed-test ## The tests in a browser
	$(PY) -m pytest -q -n $(JOBS) --dist loadfile $(BROWSER) $(PYTEST_ARGS)

test-oldest test-newest: test-%: .venv-%/.installed ## A selection with the oldest, or the newest versions that are allowed
	.venv-$*/bin/python -m euphoria_agents compile
	.venv-$*/bin/python -m pytest -q -m 'not slow and not long' $(SELECTED)

lint: $(VENV)/.installed-test ## The checks without pytest
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports
	$(VENV)/bin/biome ci --error-on-warnings agents/euphoria_agents/play/web/static docs/site.js

coverage: $(VENV)/.installed-test ## Which lines of the engine the tests reach, run as plain Python
	NUMBA_DISABLE_JIT=1 $(PY) -m coverage run $(COVERED) -m pytest -q $(COVERING) $(PYTEST_ARGS)
	NUMBA_DISABLE_JIT=1 $(PY) -m coverage run -a $(COVERED) -m tests.tools.walk > /dev/null
	$(PY) -m coverage report

packaging: $(VENV)/.installed-test ## Install the wheel for each Python here, outside the repository, and play
	$(PY) -m pytest -v -m "" tests/test_packaging.py

test-long: $(VENV)/.installed-test ## The tests that take minutes, and are no part of `make test`
	$(PY) -m pytest -v -n $(JOBS) -m long

fuzz: $(VENV)/.installed-test ## Hostile input of every kind: refused in a line, or used without an error (half an hour)
	NUMBA_DISABLE_JIT=1 $(PY) -m tests.tools.fuzz since position --inputs 20000
	$(PY) -m tests.tools.fuzz record checkpoint --inputs 10000
	$(PY) -m tests.tools.fuzz run --inputs 3000
	$(PY) -m tests.tools.mutate_rows --rows 1000000 --seed $$(date +%s)
	NUMBA_BOUNDSCHECK=1 $(PY) -m tests.tools.mutate_rows --rows 10000000 --processes 2

replay: $(VENV)/.installed-test ## Play all games of the entries of the leaderboard again, and compare (an hour of a core)
	$(PY) scripts/replay_entries.py

test-beside: $(VENV)/.installed-test ## Install the wheel beside another package called `agents`, and use both
	@set -e; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp"' EXIT; \
	$(PY) -m build --wheel --outdir "$$tmp" .; \
	$(PYTHON) -m venv "$$tmp/venv"; \
	"$$tmp/venv/bin/python" -m pip install --no-input --disable-pip-version-check $(PIP_FLAGS) "$$tmp"/*.whl openai-agents; \
	cd "$$tmp"; venv/bin/python -c "import agents, euphoria_agents; \
	    print(agents.Agent(name='a').name, euphoria_agents.load('random'), agents.__file__, euphoria_agents.__file__)"; \
	venv/bin/euphoria --help > /dev/null; echo 'both work side by side'

test-clients: $(VENV)/.created ## Use the environments through other libraries, each in an environment of its own (half an hour)
	$(PY) scripts/test_clients.py

test-rllib: $(RLLIB)/.installed ## The tests on Ray, in an environment of its own (RLlib pins an older Gymnasium)
	$(RLLIB)/bin/python -m pytest -v tests/test_rllib.py

format: $(VENV)/.installed-test ## Let ruff fix and format the code
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .
	$(VENV)/bin/biome check --write agents/euphoria_agents/play/web/static docs/site.js

bench: $(VENV)/.installed-test ## Measure the speed of every layer (ten minutes on a quiet machine)
	$(VENV)/bin/euphoria speed --players 2 4 6 --sizes 1 16 256 1024 4096 --json build/bench.json

docs: $(VENV)/.installed-test ## Generate the tables of the docs
	$(PY) scripts/generate_docs.py

site: $(VENV)/.installed-test ## Make the docs a site: build/site/index.html
	$(PY) -m sphinx -q -W --keep-going -b html docs build/site

links: $(VENV)/.installed-test ## Ask the network whether the links of the docs to other places lead somewhere
	$(PY) -m sphinx -q -D nb_execution_mode=off -b linkcheck docs build/links

build: $(VENV)/.installed-test ## Build wheel and sdist into dist/
	$(PY) -m build

lock: ## Resolve requirements.lock again (PYTHON should be the oldest one supported)
	@set -e; tmp=$$(mktemp -d); trap 'rm -rf "$$tmp" requirements.lock.new' EXIT; \
	$(PYTHON) -m venv "$$tmp"; \
	"$$tmp/bin/python" -m pip install $(PIP_FLAGS) 'hatchling>=1.27,<2' -e '.[train,render,web,data,llm,mcp,openspiel,docs,dev]'; \
	sed -n '/^#/p' requirements.lock > requirements.lock.new; \
	"$$tmp/bin/python" -m pip freeze --all --exclude-editable --exclude pip | sed 's/+cpu$$//' >> requirements.lock.new; \
	if grep -nE '^[^#].*(@|/)' requirements.lock.new; then echo 'a path or an address got into the lock' >&2; exit 1; fi; \
	mv requirements.lock.new requirements.lock

clean: ## Remove .venv, caches and build products
	rm -rf $(VENV) $(RLLIB) .venv-oldest .venv-newest build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage htmlcov
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / {printf "  make %-24s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# The stamps: made last, so an interrupted install is done again; older than a pin, they are made again.
$(VENV)/.created:
	@command -v $(PYTHON) >/dev/null 2>&1 || \
	    { echo "error: no '$(PYTHON)' here. Python 3.11 or newer is needed: make ... PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "error: Python 3.11 or newer is needed, '$(PYTHON)' is $$($(PYTHON) -V 2>&1). Try: make ... PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(RLLIB)/.installed: $(VENV)/.created requirements-rllib.lock
	$(PYTHON) -m venv --clear $(RLLIB)
	$(RLLIB)/bin/python -m pip install --no-input --disable-pip-version-check $(PIP_FLAGS) -c requirements-rllib.lock -e '.[rllib,train]' pytest pytest-timeout
	@touch $@

.venv-oldest/.installed .venv-newest/.installed: .venv-%/.installed: $(VENV)/.created pyproject.toml
	$(PYTHON) -m venv --clear .venv-$*
	mkdir -p build && : > build/newest.txt && $(PY) scripts/oldest_requirements.py > build/oldest.txt
	.venv-$*/bin/python -m pip install --no-input --disable-pip-version-check $(PIP_FLAGS) -c build/$*.txt \
	    -e '.[train,render,web,data]' hypothesis pytest pytest-timeout pyyaml
	@touch $@

# What builds is installed first, so that pip does not install it once more beside the environment.
$(VENV)/.installed-run: $(VENV)/.created $(PINS)
	$(PIP_INSTALL) $(BUILDING)
	@$(CPU_TORCH)
	$(PIP_INSTALL) --no-build-isolation -e '.[train,web]'
	$(PY) -m euphoria_agents compile
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created $(PINS)
	$(PIP_INSTALL) $(BUILDING)
	@$(CPU_TORCH)
	$(PIP_INSTALL) --no-build-isolation -e '.[train,render,web,data,llm,mcp,docs,dev]'
	$(PY) -m euphoria_agents compile
	@touch $(VENV)/.installed-run $@
