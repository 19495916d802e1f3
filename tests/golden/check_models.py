#!/usr/bin/env python3
"""Second opinion on models/: every family again in plain numpy (float64), read from the files alone, compared with golden.json.

    python check_models.py [NAME...]          needs numpy only

transformers made the goldens; this was written from the papers' formulas and the tensor layouts, so a misreading of a layout or
a bug of transformers (it has one in eager falcon with ALiBi) shows up as a difference. It also is the shortest description of what
a loader has to do: `rows` turns any family's config and names into one form, `forward` is the model.
"""
import json, math, os, sys
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
erf = np.vectorize(math.erf)
ACT = {"silu": lambda x: x / (1 + np.exp(-x)), "relu": lambda x: np.maximum(x, 0), "gelu": lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))}
ACT["gelu_new"] = ACT["gelu_pytorch_tanh"] = lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def read_safetensors(path):
    raw = open(path, "rb").read()
    n = int.from_bytes(raw[:8], "little")
    out = {}
    for name, t in json.loads(raw[8:8 + n]).items():
        if name == "__metadata__":
            continue
        b = raw[8 + n + t["data_offsets"][0]:8 + n + t["data_offsets"][1]]
        if t["dtype"] == "BF16":
            a = (np.frombuffer(b, "<u2").astype(np.uint32) << 16).view(np.float32)
        else:
            a = np.frombuffer(b, {"F32": "<f4", "F16": "<f2", "BOOL": "u1"}[t["dtype"]])
        out[name] = a.astype(np.float64).reshape(t["shape"])
    return out


def read_folder(d):
    index = f"{d}/model.safetensors.index.json"
    w = {}
    for f in sorted(set(json.load(open(index))["weight_map"].values())) if os.path.exists(index) else ["model.safetensors"]:
        w.update(read_safetensors(f"{d}/{f}"))
    return json.load(open(f"{d}/config.json")), w


def inv_freq(c, r, theta):
    """[r/2] frequencies and the factor on cos and sin."""
    f = theta ** -(np.arange(0, r, 2) / r)
    s = c.get("rope_scaling") or {}
    kind = s.get("type", s.get("rope_type", "default"))
    if kind in ("default", "dynamic"):  # dynamic: unscaled while the sequence fits max_position_embeddings
        return f, 1.0
    if kind == "linear":
        return f / s["factor"], 1.0
    orig, k = s["original_max_position_embeddings"], s["factor"]
    if kind == "llama3":
        turns, lo, hi = orig * f / (2 * math.pi), s["low_freq_factor"], s["high_freq_factor"]
        smooth = np.clip((turns - lo) / (hi - lo), 0, 1)
        return f * ((1 - smooth) / k + smooth), 1.0
    assert kind == "yarn", kind
    corr = lambda n: r * math.log(orig / (n * 2 * math.pi)) / (2 * math.log(theta))
    low, high = corr(s.get("beta_fast", 32)), corr(s.get("beta_slow", 1))
    if s.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, r - 1)
    ramp = np.clip((np.arange(r // 2) - low) / (high - low), 0, 1)
    m = lambda a: 0.1 * a * math.log(k) + 1
    att = m(s["mscale"]) / m(s["mscale_all_dim"]) if s.get("mscale") and s.get("mscale_all_dim") else m(1)
    return f / k * ramp + f * (1 - ramp), s.get("attention_factor") or att


def slopes(H):
    n = 2 ** int(math.log2(H))
    return np.array([2.0 ** (-8 * (i + 1) / n) for i in range(n)] + [2.0 ** (-8 * (2 * j + 1) / (2 * n)) for j in range(H - n)])


def rows(c, w):
    """-> one dict of facts and a function layer(i) -> dict of tensors: wq wk wv wo [out,in], biases or None, norms, mlp."""
    t = c["model_type"]
    g = lambda n: w.get(n)
    D = c.get("hidden_size") or c.get("n_embd") or c.get("d_model")
    H = c.get("num_attention_heads") or c.get("n_head") or c.get("n_heads")
    G = c.get("num_key_value_heads") or H
    Dh = c.get("head_dim") or D // H
    m = dict(D=D, H=H, G=G, Dh=Dh, L=c.get("num_hidden_layers") or c.get("n_layer") or c.get("n_layers"), norm="rms", eps=c.get("rms_norm_eps"),
             plus1=0, act=c.get("hidden_act"), r=Dh, theta=c.get("rope_theta", 1e4), scale=Dh**-0.5, alibi=None, embed_scale=1, wpe=None,
             pos_off=0, post=False, parallel=False, window=lambda i: None, cap=None, final_cap=None, clip=None, proj_in=None, proj_out=None,
             tied=c.get("tie_word_embeddings", t in ("gpt2", "opt", "mpt", "falcon", "gemma", "gemma2")), qk="rms", head_b=None)
    nb = lambda p: (g(p + ".weight"), g(p + ".bias"))
    cat = lambda q, k, v: (np.concatenate([q, k, v]) if q is not None else None)

    def split(W, how):  # fused rows -> q, k, v; works for a bias too
        if W is None:
            return None, None, None
        if how == "concat":
            return W[:H * Dh], W[H * Dh:(H + m["G"]) * Dh], W[(H + m["G"]) * Dh:]
        x = W.reshape(m["G"], H // m["G"] + 2, Dh, *W.shape[1:])  # "group": per kv head its queries, then k, then v
        flat = lambda y: y.reshape(-1, *W.shape[1:])
        return flat(x[:, :-2]), flat(x[:, -2]), flat(x[:, -1])

    if t in ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi3", "stablelm", "phi"):
        p = "model."
        m.update(embed=w[p + "embed_tokens.weight"], final=nb(p + ("final_layernorm" if t == "phi" else "norm")), head=g("lm_head.weight"))
        if t == "mistral":
            m["window"] = lambda i: c["sliding_window"]
        if t in ("qwen2", "qwen3") and c["use_sliding_window"]:
            m["window"] = lambda i: c["sliding_window"] if i >= c["max_window_layers"] else None
        if t.startswith("gemma"):
            m.update(plus1=1, embed_scale=D**0.5, act=c["hidden_activation"])
        if t == "gemma2":
            m.update(window=lambda i: None if i % 2 else c["sliding_window"], cap=c["attn_logit_softcapping"],
                     final_cap=c["final_logit_softcapping"], scale=c["query_pre_attn_scalar"] ** -0.5)
        if t == "phi3":
            m.update(r=int(Dh * c.get("partial_rotary_factor", 1)), window=lambda i: c["sliding_window"])
        if t in ("stablelm", "phi"):
            m.update(norm="ln", eps=c["layer_norm_eps"], r=int(Dh * c["partial_rotary_factor"]), qk="ln",
                     parallel=t == "phi" or c["use_parallel_residual"], head_b=g("lm_head.bias"))

        def layer(i):
            b = f"{p}layers.{i}."
            a, f = b + "self_attn.", b + "mlp."
            o = dict(n1=nb(b + "input_layernorm"), n2=nb(b + "post_attention_layernorm"), wo=nb(a + ("dense" if t == "phi" else "o_proj")))
            if t == "phi3":
                o["q"], o["k"], o["v"] = [(x, None) for x in split(w[a + "qkv_proj.weight"], "concat")]
                gu = w[f + "gate_up_proj.weight"]
                o["gate"], o["up"] = (gu[:len(gu) // 2], None), (gu[len(gu) // 2:], None)
            else:
                o.update({x: nb(f"{a}{x}_proj") for x in "qkv"})
                o["gate"], o["up"] = (None, nb(f + "fc1")) if t == "phi" else (nb(f + "gate_proj"), nb(f + "up_proj"))
            o["down"] = nb(f + ("fc2" if t == "phi" else "down_proj"))
            o["qn"], o["kn"] = (nb(a + "q_norm"), nb(a + "k_norm")) if t == "qwen3" else (nb(a + "q_layernorm"), nb(a + "k_layernorm"))
            if t == "gemma2":
                o.update(n1post=o["n2"], n2=nb(b + "pre_feedforward_layernorm"), n2post=nb(b + "post_feedforward_layernorm"))
            if m["parallel"]:
                o["n2"] = o["n1"]
            return o
    elif t == "opt":
        p = "model.decoder." if "model.decoder.embed_tokens.weight" in w else "decoder."
        m.update(norm="ln", eps=1e-5, act=c["activation_function"], r=0, embed=w[p + "embed_tokens.weight"], final=nb(p + "final_layer_norm"), head=None,
                 wpe=w[p + "embed_positions.weight"], pos_off=2, post=not c["do_layer_norm_before"], proj_in=g(p + "project_in.weight"),
                 proj_out=g(p + "project_out.weight"))

        def layer(i):
            b = f"{p}layers.{i}."
            return dict(n1=nb(b + "self_attn_layer_norm"), n2=nb(b + "final_layer_norm"), wo=nb(b + "self_attn.out_proj"), gate=None,
                        up=nb(b + "fc1"), down=nb(b + "fc2"), **{x: nb(f"{b}self_attn.{x}_proj") for x in "qkv"})
    elif t == "gpt2":
        T = lambda n: (w[n + ".weight"].T, w[n + ".bias"])
        m.update(norm="ln", eps=c["layer_norm_epsilon"], act=c["activation_function"], r=0, embed=w["wte.weight"], wpe=w["wpe.weight"], final=nb("ln_f"), head=None)

        def layer(i):
            b = f"h.{i}."
            W, B = T(b + "attn.c_attn")
            qkv = zip(split(W, "concat"), split(B, "concat"))
            return dict(n1=nb(b + "ln_1"), n2=nb(b + "ln_2"), wo=T(b + "attn.c_proj"), gate=None, up=T(b + "mlp.c_fc"), down=T(b + "mlp.c_proj"), **dict(zip("qkv", qkv)))
    elif t == "mpt":
        a = c["attn_config"]
        m.update(norm="ln", eps=c.get("layer_norm_epsilon", 1e-5), act="gelu", r=0, embed=w["transformer.wte.weight"], final=nb("transformer.norm_f"), head=None,
                 alibi=slopes(H), clip=a["clip_qkv"], scale=a["softmax_scale"] or m["scale"])

        def layer(i):
            b = f"transformer.blocks.{i}."
            qkv = [(x, None) for x in split(w[b + "attn.Wqkv.weight"], "concat")]
            return dict(n1=nb(b + "norm_1"), n2=nb(b + "norm_2"), wo=nb(b + "attn.out_proj"), gate=None, up=nb(b + "ffn.up_proj"), down=nb(b + "ffn.down_proj"), **dict(zip("qkv", qkv)))
    else:  # gpt_neox, falcon
        neox = t == "gpt_neox"
        how = "group"
        m.update(norm="ln", eps=c["layer_norm_eps" if neox else "layer_norm_epsilon"])
        if neox:
            p, at = "gpt_neox.layers.", "attention."
            m.update(r=int(Dh * c["rotary_pct"]), theta=c["rotary_emb_base"], parallel=c["use_parallel_residual"], embed=w["gpt_neox.embed_in.weight"],
                     final=nb("gpt_neox.final_layer_norm"), head=w["embed_out.weight"])
        else:
            p, at = "transformer.h.", "self_attention."
            new = c["new_decoder_architecture"]
            m["G"] = c.get("num_kv_heads") or H if new or not c["multi_query"] else 1
            m.update(act=c.get("activation", "gelu"), parallel=new or c["parallel_attn"], embed=w["transformer.word_embeddings.weight"], final=nb("transformer.ln_f"), head=g("lm_head.weight"))
            if c["alibi"]:
                m.update(r=0, alibi=slopes(H) * m["scale"])  # falcon: the bias is inside the 1/sqrt(Dh)

        def layer(i):
            b = f"{p}{i}."
            W, B = nb(b + at + "query_key_value")
            o = dict(wo=nb(b + at + "dense"), gate=None, up=nb(b + "mlp.dense_h_to_4h"), down=nb(b + "mlp.dense_4h_to_h"))
            o.update(dict(zip("qkv", zip(split(W, how), split(B, how)))))
            n1, n2 = nb(b + "input_layernorm"), nb(b + "post_attention_layernorm")
            if n1[0] is None:
                n1, n2 = nb(b + "ln_attn"), nb(b + "ln_mlp")
            return dict(o, n1=n1, n2=n1 if n2[0] is None else n2)
    m["head"] = m["embed"] if m["tied"] else m["head"]
    return m, layer


def norm(m, wb, x, kind=None):
    w, b = wb
    if w is None:
        return x
    if (kind or m["norm"]) == "ln":
        x = x - x.mean(-1, keepdims=True)
    x = x / np.sqrt((x * x).mean(-1, keepdims=True) + m["eps"]) * (w + m["plus1"])
    return x if b is None else x + b


def linear(wb, x):
    return x @ wb[0].T + (0 if wb[1] is None else wb[1])


def attention(m, o, x, i, freq):
    T, H, G, Dh = len(x), m["H"], m["G"], m["Dh"]
    q, k, v = (linear(o[n], x) for n in "qkv")
    if m["clip"]:
        q, k, v = (np.clip(y, -m["clip"], m["clip"]) for y in (q, k, v))
    q, k, v = q.reshape(T, H, Dh), k.reshape(T, G, Dh), v.reshape(T, G, Dh)
    q, k = norm(m, o.get("qn", (None, None)), q, m["qk"]), norm(m, o.get("kn", (None, None)), k, m["qk"])
    if m["r"]:
        f, att = freq
        ang = np.arange(T)[:, None, None] * f
        cos, sin, h = np.cos(ang) * att, np.sin(ang) * att, m["r"] // 2
        rot = lambda y: np.concatenate([y[..., :h] * cos - y[..., h:2 * h] * sin, y[..., h:2 * h] * cos + y[..., :h] * sin, y[..., 2 * h:]], -1)
        q, k = rot(q), rot(k)
    k, v = np.repeat(k, H // G, 1), np.repeat(v, H // G, 1)
    s = np.einsum("ihd,jhd->hij", q, k) * m["scale"]
    dist = np.arange(T)[None, :] - np.arange(T)[:, None]  # j - i
    if m["alibi"] is not None:
        s = s + m["alibi"][:, None, None] * dist
    if m["cap"]:
        s = m["cap"] * np.tanh(s / m["cap"])
    W = m["window"](i)
    s = np.where((dist > 0) | (False if W is None else dist <= -W), -np.inf, s)
    s = np.exp(s - s.max(-1, keepdims=True))
    return linear(o["wo"], np.einsum("hij,jhd->ihd", s / s.sum(-1, keepdims=True), v).reshape(T, H * Dh))


def mlp(m, o, x):
    a = ACT[m["act"]]
    return linear(o["down"], a(linear(o["gate"], x)) * linear(o["up"], x) if o["gate"] else a(linear(o["up"], x)))


def forward(c, w, ids):
    m, layer = rows(c, w)
    freq = inv_freq(c, m["r"], m["theta"]) if m["r"] else None
    x = m["embed"][ids] * m["embed_scale"]
    if m["proj_in"] is not None:
        x = x @ m["proj_in"].T
    if m["wpe"] is not None:
        x = x + m["wpe"][m["pos_off"] + np.arange(len(ids))]
    hidden = [x[-1]]
    none = (None, None)
    for i in range(m["L"]):
        o = layer(i)
        if m["post"]:
            x = norm(m, o["n1"], x + attention(m, o, x, i, freq))
            x = norm(m, o["n2"], x + mlp(m, o, x))
        elif m["parallel"]:
            x = x + attention(m, o, norm(m, o["n1"], x), i, freq) + mlp(m, o, norm(m, o["n2"], x))
        else:
            x = x + norm(m, o.get("n1post", none), attention(m, o, norm(m, o["n1"], x), i, freq))
            x = x + norm(m, o.get("n2post", none), mlp(m, o, norm(m, o["n2"], x)))
        hidden.append(x[-1])
    x = norm(m, m["final"], x)
    if m["proj_out"] is not None:
        x = x @ m["proj_out"].T
    y = x @ m["head"].T + (0 if m["head_b"] is None else m["head_b"])
    return (m["final_cap"] * np.tanh(y / m["final_cap"]) if m["final_cap"] else y), hidden


if __name__ == "__main__":
    bad = 0
    for name in sys.argv[1:] or open(f"{HERE}/models/names.txt").read().split():
        d = f"{HERE}/models/{name}"
        g = json.load(open(f"{d}/golden.json"))
        c, w = read_folder(d)
        y, hidden = forward(c, w, g["prompt"])
        h = [float(np.abs(a - np.array(b)).max()) for a, b in zip(hidden, g["hidden"])]
        e = max(np.abs(y[-1] - g["logits_last"]).max(), np.abs(y[g["positions"]] - np.array(g["logits_first_rows"])).max())
        z, n = forward(c, w, g["prompt"] + g["greedy"])[0], len(g["prompt"])  # the greedy tokens in one go
        same = z[n - 1:-1].argmax(-1).tolist() == g["greedy"]
        ok = e < 1e-4 * g["logits_std"] and same and len(hidden) == len(g["hidden"])
        bad += not ok
        print(f"{'ok ' if ok else 'BAD'} {name:24s} logits {e:.1e} greedy {'equal' if same else 'DIFFER'} hidden " + " ".join(f"{v:.0e}" for v in h))
    sys.exit(bad > 0)
