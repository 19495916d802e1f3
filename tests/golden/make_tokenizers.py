#!/usr/bin/env python3
"""Makes tests/data/tokenizers/synthetic.jsonl: what the reference library does with every part of tokenizer.json that
kvserve implements, on small made-up tokenizers. Seeded: the same file every time.

A line is {"name", "tokenizer": the text of a tokenizer.json, "encode": [...], "decode": [...]}.
  encode   {"text", "ids": control tokens parsed, "special": the same with the post-processor, "plain": control tokens
           are text (encode_special_tokens)}
  decode   {"ids", "text", "skip": without control tokens}
"""

import json
import pathlib
import random
import unicodedata

from tokenizers import Tokenizer

OUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizers" / "synthetic.jsonl"
random.seed(20240607)

ALPHABET = "abcdehilnorstxyzABCEHXYZ0123456789 -_.,!?'\"<>|/()\n\t\u2581éÉüñ你好ßàΣ½²Ⅷ"
STRANGE = "é\u0301\u0327ﬁ①Å\u212bİ\u3000\u200b\ufeff\u00ad\x07\x7f가힣ᄀ\u1161\u11a8😀👩\u200d💻Ａ％\ufffd\u00a0\u2028\u09df\u0f77\u1e9b"
MERGES = [
    "t h",
    "th e",
    "i n",
    "e r",
    "a b",
    "ab c",
    "b c",
    "h e",
    "l l",
    "o o",
    "1 2",
    "12 3",
    "- -",
    "-- --",
    "é é",
    "你 好",
    "\u2581 \u2581",
    "\u2581 t",
    "\u2581t he",
    "\u2581t h",
    "\u2581 a",
    "\u2581a b",
    "x x",
    "xx xx",
    "xxx x",
    "a a",
    "aa a",
    "e s",
    "s t",
    "e st",
    ". .",
    "n er",
    "in er",
    "< |",
    "y z",
    "z y",
    "A b",
]


def byte_alphabet():
    keep = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [b for b in range(256) if b not in keep]
    return {**{b: chr(b) for b in keep}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


def usable(merges, chars):
    """The merges that can be entered in this order, and the vocabulary they make."""
    vocab, kept = list(dict.fromkeys(chars)), []
    for m in merges:
        a, b = m.split(" ")
        if a in vocab and b in vocab:
            kept.append(m)
            if a + b not in vocab:
                vocab.append(a + b)
    return vocab, kept


def char_model(extra=(), merges=MERGES, **options):
    vocab, kept = usable(merges, ["<unk>", *dict.fromkeys(ALPHABET), *extra])
    return {"type": "BPE", "vocab": {t: i for i, t in enumerate(vocab)}, "merges": kept, **options}


def byte_model(drop="", merges=MERGES, **options):
    table = byte_alphabet()
    spell = lambda s: "".join(table[b] for b in s.replace("\u2581", " ").encode())
    merges = [spell(a) + " " + spell(b) for a, b in (m.split(" ") for m in merges)]
    vocab, kept = usable(merges, [c for c in table.values() if c not in drop])
    return {"type": "BPE", "vocab": {t: i for i, t in enumerate(vocab)}, "merges": kept, **options}


BYTES = [f"<0x{b:02X}>" for b in range(256)]
FULL = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
UNK = {"unk_token": "<unk>"}


def token(content, special=False, **flags):
    base = {
        "id": 0,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": not special,
        "special": special,
    }
    return {**base, **flags}


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
CONFIGS = {}


def config(name, model, **parts):
    tok = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": None,
        "model": model,
    }
    tok.update(parts)
    # What the library will number them; it does not read "id".
    size = len(model["vocab"])
    for t in tok["added_tokens"]:
        t["id"] = model["vocab"].get(t["content"], size)
        size += t["content"] not in model["vocab"]
    assert name not in CONFIGS
    CONFIGS[name] = tok


def configs():
    unk = lambda: char_model(**UNK)
    for how in ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]:
        for invert in [False, True]:
            for kind, pattern in [("String", "-"), ("Regex", "\\d+|[aeo]"), ("Regex", "x*")]:
                config(
                    f"split {how} {invert} {pattern}",
                    unk(),
                    pre_tokenizer={"type": "Split", "pattern": {kind: pattern}, "behavior": how, "invert": invert},
                )
        config(f"punctuation {how}", unk(), pre_tokenizer={"type": "Punctuation", "behavior": how})
    config(
        "punctuation of all scripts",
        char_model(BYTES, **FULL),
        pre_tokenizer={"type": "Punctuation", "behavior": "Removed"},
    )
    config("marks of all scripts", char_model(BYTES, **FULL), normalizer={"type": "StripAccents"})
    config(
        "split two letters",
        unk(),
        pre_tokenizer={"type": "Split", "pattern": {"String": "th"}, "behavior": "Isolated", "invert": False},
    )
    config("punctuation", unk(), pre_tokenizer={"type": "Punctuation"})
    for one in [False, True]:
        config(f"digits {one}", unk(), pre_tokenizer={"type": "Digits", "individual_digits": one})
    config("whitespace", unk(), pre_tokenizer={"type": "Whitespace"})
    config("whitespace split", unk(), pre_tokenizer={"type": "WhitespaceSplit"})
    for scheme in ["always", "first", "never"]:
        for split in [False, True]:
            meta = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": split}
            config(
                f"metaspace {scheme} {split}",
                char_model(BYTES, **FULL),
                pre_tokenizer=meta,
                decoder=meta,
                added_tokens=[token("<s>", True), token("|")],
            )
    config("metaspace old", unk(), pre_tokenizer={"type": "Metaspace", "replacement": "_", "add_prefix_space": True})
    config(
        "metaspace old never",
        unk(),
        pre_tokenizer={"type": "Metaspace", "replacement": "_", "add_prefix_space": False, "prepend_scheme": "never"},
    )
    for prefix in [False, True]:
        for regex in [False, True]:
            level = {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex}
            config(
                f"byte level {prefix} {regex}",
                byte_model(),
                pre_tokenizer=level,
                decoder=BYTE_LEVEL,
                added_tokens=[token("<s>", True), token(" x"), token("é")],
            )
    config(
        "byte level first",
        byte_model(),
        decoder=BYTE_LEVEL,
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                BYTE_LEVEL,
                {"type": "Split", "pattern": {"Regex": "\u0120\\w"}, "behavior": "MergedWithNext", "invert": False},
            ],
        },
    )
    config("byte level normalizer", byte_model(), normalizer={"type": "ByteLevel"}, decoder=BYTE_LEVEL)
    config(
        "byte level, bytes missing",
        byte_model(drop="a\u0120é\u00c3\u00a9xX"),
        pre_tokenizer=BYTE_LEVEL,
        decoder=BYTE_LEVEL,
    )
    config(
        "sequences",
        byte_model(),
        decoder={"type": "Sequence", "decoders": [BYTE_LEVEL]},
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {
                    "type": "Sequence",
                    "pretokenizers": [
                        {"type": "Split", "pattern": {"Regex": "\\p{N}{1,3}"}, "behavior": "Isolated", "invert": False},
                        {"type": "WhitespaceSplit"},
                    ],
                },
                {"type": "Digits", "individual_digits": True},
                {"type": "Punctuation"},
                BYTE_LEVEL,
            ],
        },
    )
    config(
        "removed, then first",
        unk(),
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "WhitespaceSplit"},
                {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
            ],
        },
    )

    accents = list("eEaAuncosikif") + [
        "\u0301",
        "\u0308",
        "\u0303",
        "\u0327",
        "\u1161",
        "\u11a8",
        "f",
        "i",
        "%",
        "가",
        "ᄀ",
        "①",
    ]
    fall = lambda: char_model(BYTES + [a for a in accents if a not in ALPHABET and a not in BYTES], **FULL)
    for form in ["NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"]:
        config(f"normalizer {form}", fall(), normalizer={"type": form})
    for left in [False, True]:
        for right in [False, True]:
            strip = {"type": "Strip", "strip_left": left, "strip_right": right}
            config(
                f"strip {left} {right}",
                fall(),
                normalizer=strip,
                pre_tokenizer={"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "first", "split": True},
                added_tokens=[token("<s>", True), token("|")],
            )
    for kind, pattern, content in [
        ("String", " ", "\u2581"),
        ("String", "ab", ""),
        ("Regex", "\\s+", " "),
        ("Regex", "[^a-z]", ""),
        ("Regex", "x*", "-"),
        ("String", "-", "--"),
    ]:
        config(
            f"replace {pattern!r} {content!r}",
            fall(),
            normalizer={"type": "Replace", "pattern": {kind: pattern}, "content": content},
        )
    config(
        "normalizers",
        fall(),
        normalizer={
            "type": "Sequence",
            "normalizers": [
                {"type": "NFD"},
                {"type": "Lowercase"},
                {"type": "Sequence", "normalizers": [{"type": "StripAccents"}]},
                {"type": "Prepend", "prepend": "--"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            ],
        },
    )

    config("no unk", char_model())
    config("unk", unk())
    config("unk fused", char_model(fuse_unk=True, **UNK))
    config(
        "bytes, some missing",
        char_model([b for b in BYTES if b not in ("<0xC3>", "<0xF0>", "<0x07>")], **{**FULL, "fuse_unk": False}),
    )
    config("bytes, no unk", char_model(BYTES[128:], byte_fallback=True))
    config(
        "ignore merges",
        char_model(["the-", "abc-", "-the", "x-"], ignore_merges=True, **UNK),
        pre_tokenizer={"type": "Split", "pattern": {"String": "-"}, "behavior": "MergedWithPrevious", "invert": False},
    )
    config(
        "ignore merges, bytes",
        byte_model(ignore_merges=True),
        decoder=BYTE_LEVEL,
        pre_tokenizer={"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
    )
    config("pairs", {**(m := unk()), "merges": [x.split(" ") for x in m["merges"]]})
    config("a merge twice", {**(m := unk()), "merges": m["merges"] + ["t h", "x x", "a b"]})
    config("empty prefix", {**unk(), "continuing_subword_prefix": "", "end_of_word_suffix": "", "dropout": None})

    added = [
        token("<s>", True),
        token("</s>", True),
        token("<|x|>", True, normalized=True),
        token("<|"),
        token("ab"),
        token("abc"),
        token("abca"),
        token("THE", lstrip=True),
        token("er", rstrip=True),
        token("xy", single_word=True),
        token("[É]", normalized=True),
        token("  ", normalized=False),
        token("l", lstrip=True, rstrip=True),
        token("<m>", True, lstrip=True, rstrip=True),
        token("n", single_word=True, normalized=False),
    ]
    config("added", char_model(BYTES, **FULL), added_tokens=added)
    config("added lower", char_model(BYTES, **FULL), added_tokens=added, normalizer={"type": "Lowercase"})
    config("added nfd", char_model(BYTES, **FULL), added_tokens=added, normalizer={"type": "NFD"})
    config(
        "added llama",
        char_model(BYTES, **FULL),
        added_tokens=added,
        normalizer={
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            ],
        },
    )
    config(
        "added bytes",
        byte_model(),
        added_tokens=added,
        decoder=BYTE_LEVEL,
        pre_tokenizer={**BYTE_LEVEL, "use_regex": True},
    )

    specials = {s: {"id": s, "ids": [i], "tokens": [s]} for s, i in [("<unk>", 0), ("a", 1), ("b", 2)]}
    specials["two"] = {"id": "two", "ids": [3, 4], "tokens": ["c", "d"]}
    piece = lambda s: {"Sequence": {"id": "A", "type_id": 0}} if s == "$" else {"SpecialToken": {"id": s, "type_id": 0}}
    template = {
        "type": "TemplateProcessing",
        "special_tokens": specials,
        "pair": [piece("$"), {"Sequence": {"id": "B", "type_id": 1}}],
        "single": [piece(s) for s in ["<unk>", "two", "$", "a", "b"]],
    }
    config("template", unk(), post_processor=template)
    level = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}
    config("template in sequence", unk(), post_processor={"type": "Sequence", "processors": [level, template]})
    pair = {"sep": ["b", 2], "cls": ["a", 1]}
    config(
        "roberta",
        unk(),
        post_processor={"type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": True, **pair},
    )
    config("bert", unk(), post_processor={"type": "BertProcessing", **pair})

    replace = {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    fallback, fuse = {"type": "ByteFallback"}, {"type": "Fuse"}
    strip = lambda start, stop, content=" ": {"type": "Strip", "content": content, "start": start, "stop": stop}
    chains = {
        "llama": [replace, fallback, fuse, strip(1, 0)],
        "gemma": [replace, fallback, fuse],
        "strip tokens": [strip(1, 0, "a")],
        "strip first": [replace, fuse, strip(3, 0)],
        "fallback, replace": [fallback, replace, fuse],
        "fused metaspace": [
            fuse,
            {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
        ],
        "fused replace": [fallback, fuse, replace, {"type": "Replace", "pattern": {"String": "-"}, "content": "=="}],
        "replace twice": [
            {"type": "Replace", "pattern": {"String": "a"}, "content": "xx"},
            {"type": "Replace", "pattern": {"String": "xx"}, "content": "\u2581"},
            replace,
        ],
        "bytes, strip": [BYTE_LEVEL, strip(2, 0)],
        "bytes, replace": [BYTE_LEVEL, {"type": "Replace", "pattern": {"String": "é"}, "content": "e"}],
    }
    extra = [token("<s>", True), token("<|end|>", True), token("é \u2581"), token("<0x0g>"), token("<0x+A>")]
    for name, chain in chains.items():
        model = byte_model() if "bytes" in name else char_model(BYTES, **FULL)
        config(f"decoder {name}", model, decoder={"type": "Sequence", "decoders": chain}, added_tokens=extra)
    config("decoder none", char_model(BYTES, **FULL), added_tokens=extra)
    config("decoder byte level", byte_model(), decoder=BYTE_LEVEL, added_tokens=extra)


PIECES = [
    "<s>",
    "</s>",
    "<|x|>",
    "<m>",
    "ab",
    "abc",
    "abca",
    "the",
    "THE",
    "er",
    "xy",
    "[É]",
    "é",
    "  ",
    " ",
    "--",
    "-",
    "12",
    "123",
    "\u2581",
    "xxxx",
    "aaa",
    "l",
    " n ",
    "1a",
    "\n",
    "hello",
    "|",
    "<0x41>",
]


def text():
    kind = random.randrange(8)
    if kind == 0:
        return "".join(random.choice(STRANGE + "ab \u2581") for _ in range(random.randrange(1, 12)))
    if kind == 1:
        return random.choice(ALPHABET) * random.randrange(1, 70)
    source = [*PIECES, *random.sample(ALPHABET, 12), *(random.sample(STRANGE, 3) if kind == 2 else [])]
    return "".join(random.choice(source) for _ in range(random.randrange(1, 14)))


FIXED = [
    "",
    " ",
    "  ",
    "a",
    "-",
    "--",
    "a-b--c",
    "-a-",
    "the  abc\n\n12345 é",
    " leading",
    "trailing ",
    "<s>ab</s>",
    "<s> ab",
    "ab <s>  cd",
    "xy xyz xy",
    "I'll they're",
    "\x00a\x00",
]


def rare(kind):
    """Ten texts with characters of a kind that the library's tables may be too old for."""
    chars = [
        chr(c) for c in range(0x80, 0x110000) if unicodedata.category(chr(c))[0] == kind and not 0xE0100 <= c < 0xE01F0
    ]
    return ["".join("a" + c for c in random.sample(chars, 60)) for _ in range(10)]


def ids(tok, size):
    names = tok["model"]["vocab"]
    special = [t["id"] for t in tok["added_tokens"]]
    some = [
        names[b]
        for b in random.sample(BYTES, 6) + ["<0xC3>", "<0xA9>", "<0xE4>", "<0xBD>", "<0xA0>", "<0x0A>", "<0x20>"]
        if b in names
    ]
    pool = [
        *random.sample(range(size), 8),
        *special[:6],
        *some,
        *some,
        size + 5,
        names.get("\u2581", 0),
        names.get("\u0120", 0),
        1,
    ]
    pool += [names[c] for c in "\u00c3\u00a9\u00e4\u00bd\u0142" if c in names and "\u0142" in names]
    return [random.choice(pool) for _ in range(random.randrange(0, 16))]


def main():
    configs()
    with OUT.open("w") as f:
        for name, tok in CONFIGS.items():
            source = json.dumps(tok, ensure_ascii=False, separators=(",", ":"))
            t = Tokenizer.from_str(source)
            encode, decode = [], []
            texts = rare("P" if "punct" in name else "M") if "scripts" in name else FIXED + [text() for _ in range(14)]
            for s in texts:
                case = {"text": s, "ids": t.encode(s, add_special_tokens=False).ids, "special": t.encode(s).ids}
                t.encode_special_tokens = True
                case["plain"] = t.encode(s, add_special_tokens=False).ids
                t.encode_special_tokens = False
                encode.append(case)
            for x in [
                encode[-1]["special"],
                *(ids(tok, t.get_vocab_size()) for _ in range(24 if "decoder" in name else 4)),
            ]:
                decode.append({"ids": x, "text": t.decode(x, skip_special_tokens=False), "skip": t.decode(x)})
            line = {"name": name, "tokenizer": source, "encode": encode, "decode": decode}
            f.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(CONFIGS)} tokenizers, {OUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
