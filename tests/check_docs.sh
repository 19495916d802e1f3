#!/bin/sh
# The documents say nothing that is not so. Run from the repository root; prints what is wrong, and then exits with 1.
set -u
H=kvserve.h
OUT=build/check
CC=${CC:-cc}
bad=0
mkdir -p $OUT
wrong() { echo "$*"; bad=1; }

[ -f $H ] || { echo "$H is missing"; exit 1; }

# ---- the program on the header's first screen compiles as it stands, and is short ----
# From the #define KVSERVE_IMPLEMENTATION below "A COMPLETE PROGRAM" to the brace that ends main, without indentation.
awk '/A COMPLETE PROGRAM/ { look = 1 }
     look && !on && /^ *#define KVSERVE_IMPLEMENTATION/ { match($0, /^ */); n = RLENGTH; on = 1 }
     on { print substr($0, n + 1) }
     on && substr($0, n + 1) == "}" { exit }' $H >$OUT/first_screen.c
lines=$(wc -l <$OUT/first_screen.c)
if [ "$lines" -lt 5 ]; then
    wrong "$H: no program found below \"A COMPLETE PROGRAM\""
else
    [ "$lines" -le 25 ] || wrong "$H: the first program has $lines lines, at most 25 are promised"
    $CC -O2 -Wall -Wextra -I. $OUT/first_screen.c -o $OUT/first_screen -lm -lpthread 2>$OUT/first_screen.log ||
        wrong "$H: the first program does not compile: $(head -n 3 $OUT/first_screen.log)"
    [ ! -s $OUT/first_screen.log ] || wrong "$H: the first program has warnings: $(head -n 3 $OUT/first_screen.log)"
    if [ -x $OUT/first_screen ] && [ -f examples/tiny/config.json ]; then
        answer=$($OUT/first_screen examples/tiny 2>&1) || wrong "$H: the first program fails: $answer"
        [ -n "$answer" ] || wrong "$H: the first program prints nothing"
    fi
fi

# ---- tables of contents: each tag stands in both, and is one section ----
# A section opens with a line of = and then its tag; what stands before the first section is the manual.
awk '/^\/\* =+$/ { bar = NR } NR == bar + 1 && /^ *>>[a-z]/ { sub(/^ *>>/, ""); print $1 }' $H | sort >$OUT/sections
sed '/^\/\* ==*$/,$d' $H | grep -o '>>[a-z][a-z_0-9]*' | tr -d '>' | sort >$OUT/contents
[ -s $OUT/contents ] || wrong "$H: no table of contents"
uniq -d $OUT/sections | while read -r tag; do echo "section >>$tag exists twice"; done >$OUT/twice
[ ! -s $OUT/twice ] || wrong "$H: $(cat $OUT/twice)"
for tag in $(uniq $OUT/contents); do
    grep -qx "$tag" $OUT/sections || wrong "$H: the contents name >>$tag, which is no section"
    n=$(grep -cx "$tag" $OUT/contents)
    [ "$n" = 2 ] || wrong "$H: >>$tag stands $n times in the two tables of contents, expected 2"
done
for tag in $(uniq $OUT/sections); do
    [ "$tag" = licence ] || grep -qx "$tag" $OUT/contents || wrong "$H: section >>$tag is missing from the contents"
done

# ---- the size that STYLE promises for the manual ----
manual=$(awk '/^\/\* =+$/ { print NR - 1; exit }' $H)
[ "$manual" -le 350 ] || wrong "$H: the manual has $manual lines, at most 350 are promised"

# ---- README and friends: what they tell the reader to type exists ----
for doc in README.md CONTRIBUTING.md CHANGELOG.md; do
    [ -f $doc ] || { [ $doc != README.md ] || wrong "README.md is missing"; continue; }
    # make TARGET at the start of a line of code, or after a backtick
    for target in $(grep -oE '(^[ $]*|`)make [a-z][a-z0-9-]*' $doc | sed 's/.*make //' | sort -u); do
        grep -q "^$target:" Makefile || wrong "$doc: \"make $target\" is no target of the Makefile"
    done
    # paths of files, and programs in build/, which come from examples/ or tests/
    for path in $(grep -oE '(^|[^A-Za-z0-9_/.-])(examples|tests|tools|build)/[A-Za-z0-9_/.-]*[A-Za-z0-9_]' $doc |
                  grep -oE '(examples|tests|tools|build)/.*' | sort -u); do
        name=${path#build/}
        case $path in
            build/*) [ -e "examples/$name.c" ] || [ -e "tests/$name.c" ] || wrong "$doc: nothing builds $path" ;;
            *) [ -e "$path" ] || wrong "$doc: $path does not exist" ;;
        esac
    done
done

# ---- every test file is compiled into build/tests ----
for f in tests/test_*.c; do
    grep -q "\"$(basename "$f")\"" tests/tests.c || wrong "tests/tests.c does not include $f"
done

exit $bad
