#!/usr/bin/env python3
"""Prints the >>tables section of kvserve.h, or with --golden a small file of cases for tests/test_unicode.c.

    pip install unicodedata2==16.0.0
    python3 tests/golden/make_unicode.py > tables.h
    python3 tests/golden/make_unicode.py --golden > tests/golden/unicode.txt

Token ids must equal those of Hugging Face tokenizers, so each table has the Unicode version of the piece of that
library it stands for (found by asking tokenizers 0.22 about every code point):
    categories, case folding   16.0   its regex engine, Oniguruma 6.9.10
    normalisation               9.0   its crate unicode-normalization-alignments; that is 16.0 without the characters of
                                      NEWER, as Unicode never changes the decomposition of an assigned character
    lower case                 17.0   the standard library of its compiler
"""
import sys
import unicodedata as own
try:
    import unicodedata2 as ud
except ImportError:
    ud = own
assert sys.version_info >= (3, 11), "needs Python 3.11: older ones do not know all cased letters"
assert ud.unidata_version == "16.0.0", "needs Unicode 16.0: pip install unicodedata2==16.0.0"

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()

# Characters of Unicode 10 to 16 that decompose or have a combining class: for Unicode 9 they are unassigned and inert.
NEWER = """
7fd 897-89f 8ca-8d3 9fe c3c d3b-d3c eba 1715 1abf-1ace 1df6-1dfa 32ff a7f2-a7f4 a82c ab69 105c9 105e4 10781-10785
10787-107b0 107b2-107ba 10d24-10d27 10d69-10d6d 10eab-10eac 10efd-10eff 10f46-10f50 10f82-10f85 11070 1133b 11383
11385 1138e 11391 113c5 113c7-113c8 113ce-113d0 1145e 11839-1183a 11938 1193d-1193e 11943 119e0 11a34 11a47 11a99
11d42 11d44-11d45 11d97 11f41-11f42 16121-16128 1612f 16d68-16d6a 16ff0-16ff1 1ccd6-1ccf9 1e030-1e06d 1e08f
1e130-1e136 1e2ae 1e2ec-1e2ef 1e4ec-1e4ef 1e5ee-1e5ef 1f16c 1fbf0-1fbf9"""
# Cased pairs younger than Python 3.11 (Unicode 14): first upper, last upper, first lower, step.
CASE = [(0x1C89, 0x1C89, 0x1C8A, 1), (0xA7CB, 0xA7CB, 0x264, 1), (0xA7CC, 0xA7CC, 0xA7CD, 1),
        (0xA7DA, 0xA7DA, 0xA7DB, 1), (0xA7DC, 0xA7DC, 0x19B, 1), (0x10D50, 0x10D65, 0x10D70, 1)]
CASE_17 = [(0xA7CE, 0xA7D4, 0xA7CF, 2), (0x16EA0, 0x16EB8, 0x16EBB, 1)]
# Script=Han of Unicode 16, which unicodedata does not know.
HAN = """
2e80-2e99 2e9b-2ef3 2f00-2fd5 3005 3007 3021-3029 3038-303b 3400-4dbf 4e00-9fff f900-fa6d fa70-fad9 16fe2-16fe3
16ff0-16ff1 20000-2a6df 2a700-2b739 2b740-2b81d 2b820-2cea1 2ceb0-2ebe0 2ebf0-2ee5d 2f800-2fa1d 30000-3134a
31350-323af"""


def ranges(text):
    for word in text.split():
        first, _, last = word.partition("-")
        yield int(first, 16), int(last or first, 16)


NEWER_SET = {c for a, b in ranges(NEWER) for c in range(a, b + 1)}


def case_map(python_map, extra):
    """Single-character mappings of this Python where it knows the character, of the tables above where it may not."""
    out = {}
    for c in ALL:
        m = python_map(chr(c))
        if len(m) == 1 and ord(m) != c:
            out[c] = ord(m)
    for first, last, low, step in extra:
        for i, c in enumerate(range(first, last + 1, step)):
            if own.category(chr(c)) == "Cn":
                out[c] = low + i * step
    return out


def fold(s):
    f = s.casefold()            # full folding; where that is longer, simple folding is the lower case, if that is one
    if len(f) == 1:
        return f
    return s.lower() if len(s.lower()) == 1 else s


def ccc(c):
    return 0 if c in NEWER_SET else ud.combining(chr(c))


def decomposition(c):
    """(is compatibility, code points) or None; one level."""
    d = ud.decomposition(chr(c)).split()
    if not d or c in NEWER_SET:
        return None
    compat = d[0].startswith("<")
    return compat, [int(x, 16) for x in d[compat:]]


def runs(value):
    """[(first, value)] where the value changes, over all code points from 0."""
    out = []
    for c in range(0x110000):
        v = value(c)
        if not out or out[-1][1] != v:
            out.append((c, v))
    return out


def category_runs():
    """As runs, but a stretch of Lu Ll Lu Ll .. (or Ll Lu ..) of four or more is one run of value 30 (even Lu) or 31."""
    index = {k: i for i, k in enumerate(CATEGORIES)}
    cat = ["Cs" if 0xD800 <= c < 0xE000 else ud.category(chr(c)) for c in range(0x110000)]
    value = [index[k] for k in cat]
    c = 0
    while c < 0x110000:
        n = 0
        while cat[c + n] in ("Lu", "Ll") and (n == 0 or cat[c + n] != cat[c + n - 1]):
            n += 1
        if n >= 4:
            code = 30 if (cat[c] == "Lu") == (c % 2 == 0) else 31
            value[c:c + n] = [code] * n
        c += max(n, 1)
    return runs(lambda i: value[i])


def case_runs(mapping):
    """[(first, count, step, delta)]: first, first + step, .. each map to themselves + delta."""
    out = []
    for c in sorted(mapping):
        d = mapping[c] - c
        if out and out[-1][3] == d:
            first, n, step, _ = out[-1]
            gap = c - (first + (n - 1) * step)
            if gap == step or (n == 1 and gap <= 2):
                out[-1] = (first, n + 1, gap, d)
                continue
        out.append((c, 1, 1, d))
    return out


def one_runs(ones, pool):
    """[(first, count, flags, target)] of (code point, target, compat): targets that count up, or lists in the pool."""
    up = []
    for c, t, k in ones:
        if up and (up[-1][0] + len(up[-1][1]), up[-1][1][-1] + 1, up[-1][2]) == (c, t, k):
            up[-1][1].append(t)
        else:
            up.append((c, [t], k))
    out = []
    for c, ts, k in up:
        if len(ts) < 3 and out and len(out[-1][3]) and out[-1][0] + len(out[-1][1]) == c and out[-1][2] == k:
            out[-1][1].extend(ts)
        else:
            out.append((c, ts, k, ts if len(ts) < 3 else []))
    for c, ts, k, short in out:
        listed = len(short) and len(ts) > 1
        yield c, len(ts), k << 31 | bool(listed) << 30, len(pool) if listed else ts[0]
        if listed:
            pool.extend(ts)


EMITTED = []


def emit(name, typ, items, note, width=120):
    EMITTED.append(name)
    print(f"/* {note} */\nstatic const {typ} {name}[] = {{")
    line = "   "
    for item in items:
        if len(line) + 2 + len(item) > width:
            print(line)
            line = "   "
        line += " " + item + ","
    print(line + "\n};\n")


def number(x):
    return str(x) if x < 10 else f"0x{x:X}"


def tables():
    print("""/* ====================================================================================================
   >>tables   Unicode data, printed by tests/golden/make_unicode.py (do not edit).

   Runs are [first << 8 | value] up to the next entry's first.
   ==================================================================================================== */
""")
    emit("kvs__uc_runs", "uint32_t", [number(c << 8 | v) for c, v in category_runs()],
         "General categories, Unicode 16.0, as KVS__UC_..")
    emit("kvs__uc_han", "uint32_t", [number(x) for r in ranges(HAN) for x in r], "Script=Han: first, last.")
    for name, fn, extra, note in (
            ("kvs__fold_runs", fold, CASE, "Simple case folding, Unicode 16.0: first, count, step, delta."),
            ("kvs__lower_runs", str.lower, CASE + CASE_17, "Lower case, Unicode 17.0: first, count, step, delta.")):
        emit(name, "uint32_t", [f"{number(c)},{number(n)},{s},{number(d & 0xFFFFFFFF)}"
                                for c, n, s, d in case_runs(case_map(fn, extra))], note)
    emit("kvs__ccc_runs", "uint32_t", [number(c << 8 | v) for c, v in runs(ccc)], "Canonical combining classes.")

    # decompositions: pairs (canonical), runs of single characters, longer ones (compatibility)
    ones, pairs, many, pool = [], [], [], []
    for c in ALL:
        d = decomposition(c)
        if not d:
            continue
        compat, to = d
        if len(to) == 1:
            ones.append((c, to[0], compat))
        elif not compat:
            assert len(to) == 2
            pairs.append((c, to[0], to[1]))
        else:
            at = next((i for i in range(len(pool)) if pool[i:i + len(to)] == to), -1)
            if at < 0:
                at = len(pool)
                pool += to
            assert len(to) < 32 and at < 65536
            many.append((c, len(to), at))
    emit("kvs__dc_ones", "uint32_t",
         [f"{number(c)},0x{n | how:X},{number(t)}" for c, n, how, t in one_runs(ones, pool)],
         "Decompositions to one character: first, count, target. The others' targets follow on; with bit 30 of count\n"
         "   they are a list in the pool at target. Bit 31: compatibility.")
    emit("kvs__dc_pairs", "uint32_t", [f"{number(c)},{number(a)},{number(b)}" for c, a, b in pairs],
         "Canonical decompositions to two: code point, first, second. Without Hangul, whose rule is arithmetic.")
    composed = [i for i, (c, a, b) in enumerate(pairs) if ud.normalize("NFC", chr(a) + chr(b)) == chr(c)]
    composed.sort(key=lambda i: pairs[i][1:])
    emit("kvs__dc_order", "uint32_t", [str(i) for i in composed],
         "The pairs that compose again, sorted by (first, second): indices into the table above.")
    emit("kvs__dc_many", "uint32_t", [f"{number(c)},{number(n << 16 | at)}" for c, n, at in many],
         "Compatibility decompositions to more: code point, length << 16 | place in the pool.")
    emit("kvs__dc_pool", "uint32_t", [number(x) for x in pool], "The pool.")

    second = {pairs[i][2] for i in composed} | set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3))
    for form in ("NFC", "NFKC"):
        bad = {c for c in ALL if c not in NEWER_SET and
               (ud.normalize(form, chr(c)) != chr(c) or ud.combining(chr(c)) or c in second)}
        emit(f"kvs__{form.lower()}_runs", "uint32_t", [number(c << 8 | v) for c, v in runs(lambda c: int(c in bad))],
             f"1: may change in {form}, by itself or beside others.")

    print("""static kvs__unidata kvs__unidata_get(kvs__unidata_id id)
{
    static const kvs__unidata all[] = {""")
    for name in EMITTED:
        print(f"        {{{name}, KVS__COUNT({name})}},")
    print("""    };
    return all[id];
}""")


def golden():
    import random
    random.seed(1)
    hexes = lambda s: ".".join(f"{ord(c):X}" for c in s) or "-"
    old = [c for c in ALL if c not in NEWER_SET and own.category(chr(c)) != "Cn"]
    print("# category: cat CP NAME / norm: norm SOURCE NFC NFD NFKC NFKD / case: case CP LOWER FOLD, hex code points")
    for c in sorted(random.sample(ALL, 300) + [0, 0x7F, 0x80, 0xD7FF, 0xE000, 0xFFFF, 0x10FFFF, 0x1C89, 0xA7DC, 0x378]):
        print("cat", f"{c:X}", ud.category(chr(c)))
    lower, folds = case_map(str.lower, CASE + CASE_17), case_map(fold, CASE)
    cased = random.sample(sorted(set(lower) | set(folds)), 150)
    for c in sorted(cased + random.sample(ALL, 20) + [0x130, 0x131, 0x17F, 0x212A, 0xDF]):
        low = "69.307" if c == 0x130 else f"{lower.get(c, c):X}"
        print("case", f"{c:X}", low, f"{folds.get(c, c):X}")
    dec = [c for c in old if ud.decomposition(chr(c))]
    marks = [c for c in old if ud.combining(chr(c))]
    hard = [
        "\u1e9b\u0323", "\u1e0a\u0323", "D\u0307\u0323", "\u0344", "\u0958", "\u2adc", "\u212b", "\u2126", "\ufb01",
        "2\u2075", "\ud55c\uae00", "\u1112\u1161\u11ab", "\uac00\u11a7", "\uac00\u11a8", "\uac01\u11a8", "\ufdfa",
        "\u1100\u1161\u1161", "a\u0300\u0301\u0327", "a\u0327\u0301\u0300", "\u0327\u0301a", "a\u0315\u0300\u05aeb",
        "\U0001d15e\U0001d160", "\u0b47\u0300\u0b3e", "\u1100\u0300\u1161", "\u0b57\u0b3e\u0b47", "A\u030a\u0301",
        "\u3042\u3099\u304b\u3099", "a\u0334\u0300", "a\u0300\u0334", "\u03b9\u0308\u0301", "\u00a0\u2003x",
        "\u0cc6\u0cc2\u0cd5", "\uff76\uff9e"]
    pools = (dec, dec, marks, marks, old, range(0x41, 0x7B), range(0x1100, 0x11FF), range(0xAC00, 0xAC40))
    for i in range(400):
        hard.append("".join(chr(random.choice(random.choice(pools))) for _ in range(random.randint(1, 6))))
    for s in hard:
        print("norm", hexes(s), *(hexes(ud.normalize(f, s)) for f in ("NFC", "NFD", "NFKC", "NFKD")))


if __name__ == "__main__":
    golden() if "--golden" in sys.argv else tables()
