#!/usr/bin/env python3
"""Shrinks the tokenizers of published models to what the golden cases need.

    python3 tests/golden/reduce_tokenizer.py FULL

FULL holds a folder per model: tokenizer.json (or tokenizer.json.xz) and cases.jsonl, whose lines are
{"text", "ids", "ids_special", "decoded", "decoded_skip_special"} as the reference library gives them. Writes
tests/data/tokenizers/NAME/tokenizer.json and cases.jsonl, and checks with the reference library that every case still
has the same ids and texts.

What stays: entries whose text occurs in some case (only those can come out of a merge), single bytes, control tokens;
merges whose result stays. Ids are kept, so the vocabulary has holes. Kept added tokens are entered in the model's
vocabulary too: the library numbers those that are not by the size of the vocabulary.
"""

import json
import lzma
import pathlib
import re
import sys

from tokenizers import Tokenizer

OUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizers"
LONGEST = 128  # characters of an entry; longer ones are dropped


def byte_alphabet():
    keep = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in keep]
    table = {b: chr(b) for b in keep}
    table.update({b: chr(256 + i) for i, b in enumerate(rest)})
    return table


def read(path):
    packed = path.with_name(path.name + ".xz")
    return json.loads(lzma.open(packed).read() if packed.exists() else path.read_bytes())


def spellings(tok, reference, texts):
    """Every case as the model sees it: normalized, and in the byte alphabet if there is one."""
    table = byte_alphabet() if '"ByteLevel"' in json.dumps(tok["decoder"]) else None
    added = "|".join(re.escape(a["content"]) for a in tok["added_tokens"])
    for text in texts:
        for part in [text, *re.split(added, text)]:
            if reference.normalizer:
                part = reference.normalizer.normalize_str(part)
            yield "".join(table[b] for b in part.encode()) if table else part


def substrings(strings):
    found = set()
    for s in strings:
        for i in range(len(s)):
            found.update(s[i:j] for j in range(i + 1, min(len(s), i + LONGEST) + 1))
    return found


def reduce(tok, reference, texts):
    model, seen = tok["model"], substrings(spellings(tok, reference, texts))
    text = "\0".join(texts)
    base = set(byte_alphabet().values()) | {f"<0x{b:02X}>" for b in range(256)} | {model.get("unk_token")}
    added = [a for a in tok["added_tokens"] if a["content"] in text or "place" not in a["content"]]
    vocab = {t: i for t, i in model["vocab"].items() if t in seen or t in base}
    vocab.update({a["content"]: a["id"] for a in added})
    pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
    merges = [m for m, (a, b) in zip(model["merges"], pairs) if a + b in vocab and a in vocab and b in vocab]
    small = dict(tok, added_tokens=added, model=dict(model, vocab=vocab, merges=merges))
    return small


def check(name, small, cases):
    t = Tokenizer.from_str(json.dumps(small))
    for c in cases:
        assert t.encode(c["text"], add_special_tokens=False).ids == c["ids"], (name, c["text"])
        assert t.encode(c["text"]).ids == c["ids_special"], (name, c["text"])
        assert t.decode(c["ids"], skip_special_tokens=False) == c["decoded"], (name, c["text"])
        assert t.decode(c["ids"]) == c["decoded_skip_special"], (name, c["text"])


def main():
    full = pathlib.Path(sys.argv[1])
    for folder in sorted(p for p in full.iterdir() if p.is_dir()):
        tok = read(folder / "tokenizer.json")
        lines = (folder / "cases.jsonl").read_text()
        cases = [json.loads(line) for line in lines.splitlines()]
        small = reduce(tok, Tokenizer.from_str(json.dumps(tok)), [c["text"] for c in cases])
        check(folder.name, small, cases)
        out = OUT / folder.name
        out.mkdir(parents=True, exist_ok=True)
        (out / "tokenizer.json").write_text(json.dumps(small, ensure_ascii=False, separators=(",", ":")) + "\n")
        (out / "cases.jsonl").write_text(lines)
        if folder.name == "gpt2":  # the older form of the same
            (out / "files").mkdir(exist_ok=True)
            (out / "files" / "vocab.json").write_text(json.dumps(small["model"]["vocab"], separators=(",", ":")) + "\n")
            merges = "".join(m + "\n" for m in small["model"]["merges"])
            (out / "files" / "merges.txt").write_text("#version: 0.2\n" + merges)
        print(
            f"{folder.name}: {len(small['model']['vocab'])} entries, {len(small['model']['merges'])} merges, "
            f"{(out / 'tokenizer.json').stat().st_size} bytes, {len(cases)} cases agree with the reference"
        )


if __name__ == "__main__":
    main()
