# Two commands do everything: `make run` measures, `make test` proves. Both install what they need.

PYTHON ?= python3
VENV := .venv
NETDYNO := $(VENV)/bin/netdyno
PIP := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check

.PHONY: run test test-frameworks check bench bench-frameworks bench-gpu bench-honesty bench-report docs clean

run: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2
	$(NETDYNO) run

# Everything but the frameworks themselves. The report is tested in Debian's chromium, where that is installed.
# A thousand commands are started: Python may keep what it compiled for the first of them.
test: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/installed-for-tests
	$(NETDYNO) frameworks install pytorch-2
	$(VENV)/bin/python -m pytest -n 2 --ignore=tests/parity

# Every framework that can be installed, on every op and every network, against the float64 reference: two files at a time,
# because much of it is importing and compiling. So threads must not spin for long; those of CNTK's OpenMP must for a
# millisecond, or its steps take forty times as long. Then how many CPUs each uses, one at a time.
test-frameworks: $(VENV)/installed-for-tests
	$(NETDYNO) frameworks install all
	NETDYNO_SPECS=tests/parity/wrong_builds $(NETDYNO) frameworks install mxnet-1.2-plain
	OMP_WAIT_POLICY=PASSIVE KMP_BLOCKTIME=1 $(VENV)/bin/python -m pytest tests/parity --ignore=tests/parity/test_threads.py -n 2 --dist loadfile
	$(VENV)/bin/python -m pytest tests/parity/test_threads.py

# Damaged suites, arguments, imports, event streams, stores and data files by seed: make test-hostile SEED=7
.PHONY: test-hostile
test-hostile: $(VENV)/installed-for-tests
	$(VENV)/bin/python -m tests.hostile.run $(or $(SEED),0)

check: $(VENV)/installed-for-tests
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

# netdyno against bare loops, interleaved: a common definition must not cost speed.
bench: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2 jax
	$(VENV)/bin/python benchmarks/against_bare.py

# The same in every framework, on two networks.
bench-frameworks: $(VENV)/installed
	$(NETDYNO) frameworks install all
	$(VENV)/bin/python benchmarks/against_bare.py --every-framework --pairs 8 --processes 6

# Networks of other kinds: a recurrent one, an RBM, a VAE, in three frameworks. Less of it, with options of a network:
# make bench-families CASES="'pytorch-2:lstm/text{hidden=128}:32:float32:eager'"
.PHONY: bench-families
bench-families: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2 jax tensorflow-2
	$(VENV)/bin/python benchmarks/against_bare.py $(or $(CASES),--families) --pairs 8 --processes 4

# Does a network of each family learn, and the same in every framework? An hour: make bench-learning TEXT=a/file/of/words
.PHONY: bench-learning
bench-learning: $(VENV)/installed
	$(if $(TEXT),,$(error expected TEXT=FILE, a text of a megabyte or more))
	$(NETDYNO) frameworks install pytorch-2 jax tensorflow-2 mxnet-1.9
	$(VENV)/bin/python benchmarks/learning.py --text $(TEXT) $(OPTIONS)

# What is read on a GPU, part by part; see the file for the parts.
bench-gpu: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2
	$(VENV)/bin/python benchmarks/gpu.py $(or $(PARTS),float32 bfloat16 spread bare-float32 bare-bfloat16 resnet50 monitor largest)

# Does it say "faster" only when it is? A cell against itself, and against a slowed one.
bench-honesty: $(VENV)/installed
	$(VENV)/bin/python benchmarks/honesty.py

# Does a proof see a network that is slightly wrong? Mutations over twelve networks and three frameworks; 25 minutes.
# Less of it: make bench-proof OPTIONS="--networks lenet/mnist,residual --frameworks pytorch-2"
.PHONY: bench-proof
bench-proof: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2 jax tensorflow-2
	$(VENV)/bin/python benchmarks/proof.py $(OPTIONS)

# Is a right network ever called wrong? 200 drawn at random, in four frameworks: make bench-alarms OPTIONS="--count 20 --seed 7"
.PHONY: bench-alarms
bench-alarms: $(VENV)/installed-for-tests
	$(NETDYNO) frameworks install pytorch-2 jax tensorflow-2 mxnet-1.9
	OMP_WAIT_POLICY=PASSIVE KMP_BLOCKTIME=1 PYTHONPATH=. $(VENV)/bin/python benchmarks/alarms.py $(OPTIONS)

# Is anything lost? Two hundred signals at random moments, and eight writers on a PostgreSQL server that is restarted.
.PHONY: bench-losses
bench-losses: $(VENV)/installed-for-tests
	PYTHONPATH=. $(VENV)/bin/python benchmarks/kills.py --kills 50
	PYTHONPATH=. $(VENV)/bin/python benchmarks/writers.py

# Does the loader keep up? resnet50 on JPEGs: make bench-input, or on a GPU with OPTIONS="--gpus 1 --batch 256 --threads 8,16"
.PHONY: bench-input
bench-input: $(VENV)/installed
	$(NETDYNO) frameworks install pytorch-2
	$(VENV)/bin/python benchmarks/input.py $(OPTIONS)

# Every data format there and back, and against public tools: make bench-formats MNIST=folder/with/its/four/files
.PHONY: bench-formats
bench-formats: $(VENV)/installed
	$(if $(MNIST),,$(error expected MNIST=FOLDER with your copy of its four files))
	$(NETDYNO) frameworks install tensorflow-2 mxnet-1.9
	$(VENV)/bin/python benchmarks/formats.py --mnist $(MNIST)

# How large a report is, how long it takes to make and to open: 1,000 and 100,000 records drawn by seed.
bench-report: $(VENV)/installed-for-tests
	PYTHONPATH=. $(VENV)/bin/python benchmarks/report_size.py

# Debian's Python comes without ensurepip; its pip can then install a pip into the environment.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || \
	  { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(VENV)/bin/python install --quiet pip; }

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(PIP) --editable '.[data,report]'
	touch $@

$(VENV)/installed-for-tests: $(VENV)/installed
	$(PIP) --editable '.[dev]'
	touch $@

# The page about the frameworks, from their specs and a verification of all of them.
docs: $(VENV)/installed
	$(NETDYNO) verify --all --json > docs/parity.json || [ $$? -eq 1 ]  # 1: something is not equal, which the page shows
	$(VENV)/bin/python docs/make_frameworks.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
