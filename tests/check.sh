#!/bin/sh
# make check: everything that `make test` is too slow, too picky or too dependent on installed tools for.
#
#     sh tests/check.sh [STEP...]     run from the repository root; no STEP: all of them
#
# Steps: docs adopt examples native asan tsan fuzz long. What is not installed is skipped with a line.
# Logs: build/check/*.log. Ends with "N passed, N failed"; the exit status says whether anything failed.
set -u
LIBS="-lm -lpthread"
WARN=${WARN:--Wall -Wextra -Wpedantic -Wshadow -Wconversion}
OUT=build/check
LIMIT=${LIMIT:-900}                                      # seconds for one program: a hang is a failure, not a wait
FUZZ=${FUZZ:-200000}                                     # inputs of each fuzzer, or a minute's worth
# The suites and tests that start threads. The pairs of circumstances of suite determinism take TSan ten minutes and start no others.
THREADED="cpu engine_threads engine_two engine_generate engine_step determinism_random determinism_small pitfalls"
passed=0 failed=0
mkdir -p $OUT

slug() { echo "$*" | tr -c 'a-zA-Z0-9+.\n' '_'; }         # a file name made of any text

# step NAME COMMAND...: runs it and counts it; a failing one shows the command and the ends of its log.
step() {
    step_log=$OUT/$(slug "$1").log
    step_name=$1
    shift
    if timeout "$LIMIT" "$@" >"$step_log" 2>&1; then
        passed=$((passed + 1))
        echo "ok    $step_name"
    else
        failed=$((failed + 1))
        echo "FAIL  $step_name   $step_log"
        echo "$*" | sed 's/^/      $ /'
        head -n 12 "$step_log" | sed 's/^/      /'
        tail -n +13 "$step_log" | tail -n 20 | sed 's/^/      /'
    fi
}
skip() { echo "skip  $1: $2"; }
have() { command -v "$1" >/dev/null 2>&1; }
# links COMPILER FLAG...: can it build a program that way? Sanitizer libraries are often missing.
links() {
    echo 'int main(void) { return 0; }' >$OUT/probe.c
    "$@" $OUT/probe.c -o $OUT/probe >/dev/null 2>&1 && $OUT/probe >/dev/null 2>&1
}

# ---- the compiler matrix: every way to adopt the header, warning-free ----

# adopt COMPILER LANGUAGE-FLAGS...
adopt() {
    cc=$1
    if ! have "$cc"; then skip "adopt with $*" "not installed"; return; fi
    # C++ has no exemption for {0} in -Wmissing-field-initializers. The header itself needs no exemption.
    case $cc in *++) quiet=-Wno-missing-field-initializers ;; *) quiet= ;; esac
    w="$* $WARN $quiet -Werror"                           # quiet after WARN: the later one counts
    late=$(echo "$w" | sed 's/std=c11/std=gnu11/')       # strict C11 needs the implementation first: see the manual
    o=$OUT/$(slug "$*")
    A=tests/adopt
    step "declarations only: $*" sh -c "$w -c $A/declare.c -o $o.declare.o"
    step "implementation, then again: $*" sh -c "$w -O2 $A/one.c -o $o.one $LIBS && $o.one"
    step "implementation last: $*" sh -c "$late $A/late.c -o $o.late $LIBS && $o.late"
    step "two translation units: $*" sh -c "$w -c $A/two_impl.c -o $o.impl.o && $w -c $A/two_use.c -o $o.use.o &&
        $cc $o.impl.o $o.use.o -o $o.two $LIBS && $o.two"
    step "KVSERVE_STATIC in two: $*" sh -c "$w -c $A/static_a.c -o $o.a.o && $w -c $A/static_b.c -o $o.b.o &&
        $cc $o.a.o $o.b.o -o $o.static $LIBS && $o.static"
}

do_adopt() {
    adopt gcc -std=c11
    adopt clang -std=c11
    adopt g++ -std=c++17 -x c++
    adopt clang++ -std=c++17 -x c++
    # A C++ file that calls an implementation compiled as C: the declarations must say extern "C".
    if have gcc && have g++; then
        m=$OUT/mixed
        step "C and C++ together" sh -c "gcc -c tests/adopt/two_impl.c -o $m.c.o &&
            g++ -c tests/adopt/mixed.cpp -o $m.cpp.o && g++ $m.c.o $m.cpp.o -o $m $LIBS && $m"
    fi
    for cc in cc gcc clang; do
        if ! have $cc; then skip "the user's line with $cc" "not installed"; continue; fi
        step "the user's line: $cc -O2" sh -c "$cc -O2 tests/adopt/one.c -o $OUT/user $LIBS && $OUT/user"
        step "with asserts: $cc -O0 -DKVS_DEBUG" \
            sh -c "$cc -O0 -DKVS_DEBUG tests/adopt/one.c -o $OUT/user $LIBS && $OUT/user"
    done
}

# The examples are what people copy from: as free of warnings as the header.
do_examples() {
    for f in examples/*.c; do
        [ -e "$f" ] || { skip examples "there are none"; return; }
        step "no warnings: $f" ${CC:-cc} -std=c11 $WARN -Werror -c "$f" -o $OUT/example.o
    done
}

# ---- the tests, built in other ways ----

# tests NAME COMPILER-AND-FLAGS FILTER...
tests() {
    tests_name=$1 tests_build=$2
    shift 2
    o=$OUT/tests-$(slug "$tests_name")
    rm -f "$o"
    step "build: $tests_name" sh -c "$tests_build tests/tests.c -o $o $LIBS"
    if [ -x "$o" ]; then step "tests: $tests_name" "$o" "$@"; fi
}

do_long() { tests "at full length" "${CC:-cc} -std=c11 -O2" --long; }

# A user's own flags must not change a bit of any result: fused a * b + c, wider vectors.
do_native() {
    for cc in gcc clang; do
        if have $cc; then tests "$cc -O3 -march=native" "$cc -O3 -march=native"; fi
    done
}

sanitized() {
    kind=$1 flags=$2
    shift 2
    for cc in gcc clang; do
        have $cc || continue
        links $cc $flags || continue
        tests "$kind" "$cc -std=c11 -g -O1 -fno-omit-frame-pointer -DKVS_DEBUG $flags" "$@"
        return
    done
    skip "$kind" "no compiler here can link $flags"
}
do_asan() { sanitized "ASan + UBSan" "-fsanitize=address,undefined -fno-sanitize-recover=all"; }
do_tsan() { sanitized "TSan" "-fsanitize=thread" $THREADED; }

# ---- fuzzers: each is a program of its own; arguments are the iterations and the seed ----

do_fuzz() {
    flags="-fsanitize=address,undefined -fno-sanitize-recover=all"
    links ${CC:-cc} $flags || flags=""
    for f in tests/fuzz_*.c; do
        [ -e "$f" ] || { skip fuzz "there is no tests/fuzz_*.c"; return; }
        o=$OUT/$(basename "$f" .c)
        step "fuzz: $(basename "$f")" \
            sh -c "${CC:-cc} -g -O1 $flags $f -o $o $LIBS && $o $FUZZ 1 60"
    done
}

do_docs() { step "documents" sh tests/check_docs.sh; }

for s in ${*:-docs adopt examples native asan tsan fuzz long}; do
    case $s in
        docs|adopt|examples|native|asan|tsan|fuzz|long) do_$s ;;
        *) echo "no step \"$s\"; there are: docs adopt examples native asan tsan fuzz long"; exit 2 ;;
    esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
