#!/usr/bin/env python3
"""Speed of kvserve's tokenizer beside the reference library's, one thread each, and whether the ids are equal.

    python3 tests/bench_tokenizer.py DIR [MB [PROMPT_BYTES]]

DIR holds a folder per tokenizer (tokenizer.json). Texts of MB megabytes (10): English and code from files of this
machine, Korean from a seeded generator. Processor time counts (so a busy machine does little harm), the best of three
calls of each; with PROMPT_BYTES both get the text in pieces of that many bytes. Needs: cc, the package `tokenizers`.
"""

import os

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import array
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from tokenizers import Tokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent


def lines_of(folders, endings, want, keep):
    """Lines of files with such endings, none twice, until there are `want` bytes."""
    seen, out, size = set(), [], 0
    for folder in folders:
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.suffix in endings and p.is_file()):
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            for line in text.splitlines(keepends=True):
                if line not in seen and keep(line):
                    seen.add(line)
                    out.append(line)
                    size += len(line.encode())
            if size >= want:
                return "".join(out)
    return "".join(out)


def prose(line):
    words = line.split()
    return len(words) > 6 and sum(w.strip(".,;:!?()'\"").isalpha() for w in words) > 0.8 * len(words)


def korean(want):
    """Words of one to four syllables, few of them often; particles; punctuation."""
    rng = random.Random(1)
    syllables = [chr(0xAC00 + rng.randrange(11172)) for _ in range(900)]
    words = ["".join(rng.choice(syllables) for _ in range(rng.choice([1, 2, 2, 2, 3, 3, 4]))) for _ in range(30000)]
    ends = ["은", "는", "이", "가", "을", "를", "에서", "으로", "의", "다", "습니다", "", "", ""]
    out, size = [], 0
    while size < want:
        s = " ".join(
            words[int(len(words) * rng.random() ** 3)] + rng.choice(ends) for _ in range(rng.randrange(4, 16))
        ) + rng.choice([". ", ".\n", "? ", "!\n"])
        out.append(s)
        size += len(s.encode())
    return "".join(out)


def pieces(text, step):
    """The text as bench_tokenizer.c cuts it."""
    data = text.encode()
    if not step:
        return [text]
    out, i = [], 0
    while i < len(data):
        end = data.find(b"\n", i + step) + 1 if step < len(data) - i else 0
        out.append(data[i : end or len(data)].decode())
        i = end or len(data)
    return out


def reference(tokenizer, text, step):
    start = time.process_time()
    t = Tokenizer.from_file(str(tokenizer))
    t.encode_special_tokens = True
    load, best, parts = time.process_time() - start, 1e9, pieces(text, step)
    for _ in range(3):
        fresh = Tokenizer.from_file(str(tokenizer))  # with an empty cache of words, as ours has at each call
        fresh.encode_special_tokens = True
        start = time.process_time()
        ids = [fresh.encode(p, add_special_tokens=False).ids for p in parts]
        best = min(best, time.process_time() - start)
    ids = array.array("i", [i for part in ids for i in part])
    start = time.process_time()
    t.decode(ids)
    return load, best, time.process_time() - start, ids


def main():
    folder, mb = pathlib.Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 10
    step, want = int(sys.argv[3]) if len(sys.argv) > 3 else 0, int(mb * 1e6)
    code = lines_of(
        ["/usr/include", "/usr/lib/python3", "/usr/lib/python3.11"], {".h", ".c", ".py"}, want, lambda s: len(s) < 400
    )
    texts = {
        "English": lines_of(["/usr/share", "/usr/lib"], {".md", ".rst", ".txt", ".pod"}, want, prose),
        "code": code,
        "Korean": korean(want),
    }
    cut = {name: t.encode()[:want].decode(errors="ignore") for name, t in texts.items()}
    with tempfile.TemporaryDirectory() as tmp:
        bench = pathlib.Path(tmp, "bench")
        flags = os.environ.get("BENCH_CFLAGS", "-O2").split()
        subprocess.check_call(
            ["cc", *flags, str(ROOT / "tests" / "bench_tokenizer.c"), "-o", str(bench), "-lm", "-lpthread"]
        )
        print(
            f"{'tokenizer':14}{'text':9}{'MB':>6}{'ours MB/s':>11}{'reference':>11}{'ratio':>7}"
            f"{'decode':>8}{'load s':>8}{'ref':>6}  ids"
        )
        for tokenizer in sorted(folder.glob("*/tokenizer.json")):
            for name, text in cut.items():
                source, out = pathlib.Path(tmp, "text"), pathlib.Path(tmp, "ids")
                source.write_bytes(text.encode())
                said = subprocess.check_output(
                    [bench, tokenizer, source, out, *([str(step)] if step else [])], text=True
                )
                load, best, decode = (float(x) for x in said.split()[:3])
                ref_load, ref_best, ref_decode, ids = reference(tokenizer, text, step)
                same = array.array("i", out.read_bytes()) == ids
                size = len(text.encode()) / 1e6
                print(
                    f"{tokenizer.parent.name:14}{name:9}{size:6.1f}{size / best:11.1f}{size / ref_best:11.1f}"
                    f"{ref_best / best:7.1f}"
                    f"{ref_decode / decode:8.1f}{load:8.2f}{ref_load:6.2f}  {'equal' if same else 'DIFFERENT'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
