#!/usr/bin/env python3
"""Makes models/NAME/: one tiny random checkpoint per model family or variant, and what transformers computes with it.

    python make_models.py            all of them (a few minutes on one core)
    python make_models.py NAME...    only these

Each folder is what the Hub would hold (config.json with the Hub's own keys, generation_config.json where the family has one,
safetensors with the Hub's tensor names) plus golden.json:

    prompt             token ids, longer than one block of 16
    positions          the two positions of logits_first_rows: 0 and the middle one
    logits_first_rows  [2][V]
    logits_last        [V], after the last prompt token
    greedy             the 32 tokens that argmax gives after the prompt (EOS, had it come, would not have ended them)
    hidden             the last prompt position's residual row: before layer 0, then after each layer (5 digits; for debugging)
    logits_std, min_margin (smallest top-1 minus top-2 over the 33 argmaxes, / logits_std), f64_diff (largest
    |float32 - float64| of logits_last: what rounding alone does), seed, attn

Everything is float32 on the CPU (a bf16 or f16 checkpoint is widened first). A folder is only written if
  * the checkpoint, read back by transformers, has the weights that were meant, with nothing missing or unexpected;
  * the greedy tokens are clear (MIN_MARGIN), varied, free of special tokens, and equal with and without a KV cache;
  * every tensor matters: rolling it, or making a norm or bias neutral, moves logits_last (but see NO_EFFECT);
  * every config value in `matters` matters: the same weights with that key changed give other logits.
So a loader that forgets a bias, a scale or a key cannot pass.
"""
import copy, json, os, re, shutil, sys, warnings

os.environ["TRANSFORMERS_VERBOSITY"] = "error"
os.environ["OMP_NUM_THREADS"] = "1"
warnings.filterwarnings("ignore")
import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

torch.set_num_threads(1)
HERE = os.path.dirname(os.path.abspath(__file__))
N_GREEDY, MIN_MARGIN, MIN_DISTINCT, MIN_EFFECT = 32, 3e-3, 10, 1e-2
SPECIAL = 4  # ids 0..3 are pad, bos, eos, ..: never in a prompt, never generated


# ---------------------------------------------------------------- the specs
def llama_like(model_type, arch, **kw):
    c = dict(architectures=[arch], model_type=model_type, bos_token_id=1, eos_token_id=2, hidden_act="silu", hidden_size=32,
             initializer_range=0.02, intermediate_size=48, max_position_embeddings=128, num_attention_heads=2,
             num_hidden_layers=2, num_key_value_heads=1, rms_norm_eps=4e-3, rope_theta=10000.0, tie_word_embeddings=False,
             torch_dtype="float32", transformers_version="4.40.0", use_cache=True, vocab_size=128)
    c.update(kw)
    return c


def llama(**kw):
    return llama_like("llama", "LlamaForCausalLM", **{**dict(attention_bias=False, rope_scaling=None), **kw})


ROPE = dict(hidden_size=32, num_attention_heads=2, num_key_value_heads=1, head_dim=32)  # 16 frequencies to scale
SPECS = []


def spec(name, config, **kw):
    SPECS.append(dict(dict(name=name, config=config, plen=27, dtype=torch.float32, attn="eager", rename=None, extra=None,
                           shards=1, generation=None, matters={}, no_effect=None, distinct=MIN_DISTINCT), **kw))


def rotary_buffers(prefix):
    def f(sd, cfg, rng):
        r = cfg.hidden_size // cfg.num_attention_heads
        for i in range(cfg.num_hidden_layers):
            sd[f"{prefix}.{i}.self_attn.rotary_emb.inv_freq"] = 1.0 / 10000.0 ** (torch.arange(0, r, 2).float() / r)
    return f


def neox_buffers(sd, cfg, rng):
    """Pythia's files hold the causal mask (which is no bias), a scalar, and the frequencies."""
    P, r = cfg.max_position_embeddings, int(cfg.hidden_size // cfg.num_attention_heads * cfg.rotary_pct)
    for i in range(cfg.num_hidden_layers):
        p = f"gpt_neox.layers.{i}.attention."
        sd[p + "bias"] = torch.ones(P, P, dtype=torch.bool).tril().view(1, 1, P, P)
        sd[p + "masked_bias"] = torch.tensor(-1e9)
        sd[p + "rotary_emb.inv_freq"] = 1.0 / cfg.rotary_emb_base ** (torch.arange(0, r, 2).float() / r)


def gpt2_buffers(sd, cfg, rng):
    P = cfg.n_positions
    for i in range(cfg.n_layer):
        sd[f"h.{i}.attn.bias"] = torch.ones(P, P).tril().view(1, 1, P, P)


def stale_head(sd, cfg, rng):
    sd["lm_head.weight"] = torch.from_numpy(rng.standard_normal((cfg.vocab_size, cfg.hidden_size)).astype(np.float32))


def equal_head(sd, cfg, rng):
    sd["lm_head.weight"] = sd["transformer.word_embeddings.weight"].clone()


TH = {"rope_theta": 1000.0}
EPS = {"rms_norm_eps": 1e-6}
# --- llama and its variants
spec("llama1-mha", llama(hidden_size=48, num_attention_heads=3, num_key_value_heads=None, intermediate_size=56, vocab_size=131,
                         rms_norm_eps=1e-6),
     extra=rotary_buffers("model.layers"), matters={"rope_theta": 1000.0, "hidden_act": "gelu"})
spec("llama-gqa-headdim", llama(hidden_size=48, num_attention_heads=4, num_key_value_heads=2, head_dim=16, intermediate_size=56),
     plen=33, matters={**TH, **EPS})
spec("llama-mqa", llama(num_attention_heads=4, num_key_value_heads=1, head_dim=16), plen=40, matters=TH)
spec("llama3-rope", llama(**ROPE, rope_theta=10000.0, rms_norm_eps=1e-5, bos_token_id=0, eos_token_id=[2, 3], vocab_size=151,
                          rope_scaling=dict(factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                            original_max_position_embeddings=64, rope_type="llama3")),
     generation=dict(_from_model_config=True, bos_token_id=0, do_sample=True, eos_token_id=[2, 3], temperature=0.6, top_p=0.9,
                     transformers_version="4.42.3"),
     matters={"rope_scaling": None, "rope_scaling.factor": 4.0, "rope_scaling.low_freq_factor": 0.5,
              "rope_scaling.high_freq_factor": 8.0, "rope_scaling.original_max_position_embeddings": 128})
spec("llama-rope-linear", llama(**ROPE, num_hidden_layers=1, rope_scaling=dict(type="linear", factor=2.5)),  # the old key
     matters={"rope_scaling": None, "rope_scaling.factor": 2.0})
spec("llama-rope-dynamic", llama(**ROPE, num_hidden_layers=1, rope_scaling=dict(type="dynamic", factor=2.0)))  # plain rope up to max_position_embeddings
spec("llama-rope-yarn", llama(**ROPE, num_hidden_layers=1, max_position_embeddings=256,
                              rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=64)),
     plen=37, matters={"rope_scaling": None, "rope_scaling.factor": 2.0, "rope_scaling.original_max_position_embeddings": 256})
spec("llama-rope-yarn-mscale", llama(**ROPE, num_hidden_layers=1, max_position_embeddings=512,
                                     rope_scaling=dict(type="yarn", factor=4.0, beta_fast=8.0, beta_slow=0.5, mscale=1.0,
                                                       mscale_all_dim=0.6, truncate=False, original_max_position_embeddings=128)),
     matters={"rope_scaling.beta_fast": 32.0, "rope_scaling.beta_slow": 1.0, "rope_scaling.mscale": 0.6,
              "rope_scaling.mscale_all_dim": 1.0, "rope_scaling.truncate": True})
spec("llama-tied-stale", llama(tie_word_embeddings=True, num_hidden_layers=1), extra=stale_head)  # lm_head.weight is in the file and must be ignored
spec("llama-bias", llama(num_attention_heads=4, num_key_value_heads=2, head_dim=16, attention_bias=True, mlp_bias=True))
spec("llama-bf16", llama(hidden_size=64, num_attention_heads=4, num_key_value_heads=2, head_dim=32, intermediate_size=64,
                         torch_dtype="bfloat16", rms_norm_eps=1e-5), dtype=torch.bfloat16)
spec("llama-f16", llama(hidden_size=64, num_attention_heads=4, num_key_value_heads=4, intermediate_size=72,
                        torch_dtype="float16", rms_norm_eps=1e-5), dtype=torch.float16)
spec("llama-sharded", llama(num_hidden_layers=1, num_attention_heads=4, num_key_value_heads=2, head_dim=16), shards=2)
# --- mistral, qwen
spec("mistral-window", llama_like("mistral", "MistralForCausalLM", num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                                  sliding_window=8, rope_theta=1000.0),
     plen=38, matters={"sliding_window": None, "rope_theta": 10000.0},
     generation=dict(_from_model_config=True, bos_token_id=1, eos_token_id=2, transformers_version="4.40.0"))
QWEN = dict(max_window_layers=2, sliding_window=5, use_sliding_window=False, attention_dropout=0.0, rope_theta=1e6)
spec("qwen2", llama_like("qwen2", "Qwen2ForCausalLM", **{**QWEN, "hidden_size": 48, "num_attention_heads": 3,
                                                         "intermediate_size": 56, "max_window_layers": 0}),  # window is set and unused
     matters={"use_sliding_window": True, **TH},
     generation=dict(bos_token_id=1, pad_token_id=0, do_sample=True, eos_token_id=[2, 3], repetition_penalty=1.05,
                     temperature=0.7, top_p=0.8, top_k=20, transformers_version="4.37.0"))
spec("qwen2-window", llama_like("qwen2", "Qwen2ForCausalLM", **{**QWEN, "num_hidden_layers": 3, "max_window_layers": 1,
                                                                "sliding_window": 6, "use_sliding_window": True}),
     plen=35, matters={"use_sliding_window": False, "max_window_layers": 2, "sliding_window": 7})
spec("qwen3", llama_like("qwen3", "Qwen3ForCausalLM", **{**QWEN, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
                                                         "tie_word_embeddings": True, "attention_bias": False,
                                                         "sliding_window": None}), matters={**TH, **EPS})
# --- gemma
GEMMA = dict(head_dim=32, tie_word_embeddings=True, pad_token_id=0, eos_token_id=1, bos_token_id=2, attention_bias=False)
c = llama_like("gemma", "GemmaForCausalLM", **GEMMA, num_attention_heads=2, hidden_activation="gelu_pytorch_tanh")
c["hidden_act"] = "gelu_pytorch_tanh"
del c["tie_word_embeddings"]  # Hub files of gemma leave it out: true
spec("gemma", c, matters={**TH, **EPS, "hidden_act": "silu"})
c = llama_like("gemma2", "Gemma2ForCausalLM", **GEMMA, num_hidden_layers=3, sliding_window=7, query_pre_attn_scalar=20,
               attn_logit_softcapping=2.0, final_logit_softcapping=4.0, hidden_activation="gelu_pytorch_tanh", cache_implementation="hybrid")
del c["hidden_act"], c["tie_word_embeddings"]
spec("gemma2", c, plen=31, matters={"sliding_window": 8, "query_pre_attn_scalar": 32, "attn_logit_softcapping": None,
                                    "final_logit_softcapping": None})
# --- phi, phi3, stablelm
PHI = dict(architectures=["PhiForCausalLM"], model_type="phi", bos_token_id=1, eos_token_id=2, embd_pdrop=0.0, hidden_act="gelu_new",
           hidden_size=48, intermediate_size=72, layer_norm_eps=4e-3, max_position_embeddings=128, num_attention_heads=3,
           num_hidden_layers=2, num_key_value_heads=None, partial_rotary_factor=0.5, qk_layernorm=False, resid_pdrop=0.1,
           rope_scaling=None, rope_theta=10000.0, tie_word_embeddings=False, torch_dtype="float32", vocab_size=133)
LN = {"layer_norm_eps": 1e-5}
spec("phi", PHI, matters={"partial_rotary_factor": 0.25, **TH, **LN})
spec("phi-qkln", dict(PHI, hidden_size=32, intermediate_size=64, num_attention_heads=2, num_key_value_heads=1, qk_layernorm=True,
                      partial_rotary_factor=0.4), plen=22, matters={"partial_rotary_factor": 0.5})
c = llama_like("phi3", "Phi3ForCausalLM", attention_dropout=0.0, embd_pdrop=0.0, resid_pdrop=0.0, num_attention_heads=4,
               hidden_size=64, num_key_value_heads=2, original_max_position_embeddings=128, rope_scaling=None,
               sliding_window=20, partial_rotary_factor=0.75, tie_word_embeddings=True, pad_token_id=0, vocab_size=140)
spec("phi3", c, plen=36, matters={"sliding_window": None, "partial_rotary_factor": 1.0, **TH, **EPS})
c = llama_like("stablelm", "StableLmForCausalLM", num_attention_heads=2, num_key_value_heads=1, layer_norm_eps=4e-3, use_qkv_bias=True,
               partial_rotary_factor=0.25, qk_layernorm=False, use_parallel_residual=False, hidden_dropout=0.0)
del c["rms_norm_eps"]
spec("stablelm", c, matters={"partial_rotary_factor": 0.5, **TH, **LN})
spec("stablelm-parallel", dict(c, use_parallel_residual=True, use_qkv_bias=False, num_key_value_heads=2))
# --- opt
OPT = dict(_remove_final_layer_norm=False, activation_dropout=0.0, activation_function="relu", architectures=["OPTForCausalLM"],
           attention_dropout=0.0, bos_token_id=2, do_layer_norm_before=True, dropout=0.1, eos_token_id=2, ffn_dim=72, hidden_size=48,
           init_std=0.02, layerdrop=0.0, max_position_embeddings=80, model_type="opt", num_attention_heads=3, num_hidden_layers=2,
           pad_token_id=1, prefix="</s>", torch_dtype="float32", use_cache=True, vocab_size=128, word_embed_proj_dim=48)
spec("opt-125m", OPT, no_effect=r"k_proj\.bias$", matters={"activation_function": "gelu"},
     generation=dict(_from_model_config=True, bos_token_id=2, eos_token_id=2, pad_token_id=1, transformers_version="4.27.0"))
spec("opt-350m", dict(OPT, do_layer_norm_before=False, word_embed_proj_dim=32, vocab_size=134, torch_dtype="float16"), no_effect=r"k_proj\.bias$",
     dtype=torch.float16, rename=lambda n: n.removeprefix("model."))  # old files: decoder.*
# --- gpt2, gpt_neox
GPT2 = dict(activation_function="gelu_new", architectures=["GPT2LMHeadModel"], attn_pdrop=0.1, bos_token_id=1, embd_pdrop=0.1,
            eos_token_id=2, initializer_range=0.02, layer_norm_epsilon=4e-3, model_type="gpt2", n_ctx=76, n_embd=32, n_head=2, n_layer=2,
            n_positions=76, resid_pdrop=0.1, summary_activation=None, summary_first_dropout=0.1, summary_proj_to_labels=True,
            summary_type="cls_index", summary_use_proj=True, task_specific_params=None, vocab_size=137)
spec("gpt2", GPT2, extra=gpt2_buffers, rename=lambda n: n.removeprefix("transformer."),
     matters={"layer_norm_epsilon": 1e-6, "activation_function": "relu"})
NEOX = dict(architectures=["GPTNeoXForCausalLM"], bos_token_id=0, eos_token_id=0, hidden_act="gelu", hidden_size=48,
            initializer_range=0.02, intermediate_size=56, layer_norm_eps=4e-3, max_position_embeddings=80, model_type="gpt_neox",
            num_attention_heads=3, num_hidden_layers=2, rotary_emb_base=10000, rotary_pct=0.25, tie_word_embeddings=False,
            torch_dtype="float32", use_cache=True, use_parallel_residual=True, vocab_size=144)
spec("gpt-neox", NEOX, extra=neox_buffers, matters={"use_parallel_residual": False, "rotary_pct": 0.5, "rotary_emb_base": 1000, **LN})
spec("gpt-neox-sequential", dict(NEOX, hidden_size=64, num_attention_heads=2, use_parallel_residual=False, rotary_emb_base=500,
                                 layer_norm_eps=1e-5, torch_dtype="float16", vocab_size=128), dtype=torch.float16,
     matters={"use_parallel_residual": True, "rotary_emb_base": 10000})
# --- falcon. Eager falcon in transformers adds ALiBi twice; sdpa (its default) does not: falcon-rw uses sdpa.
FALCON = dict(alibi=False, apply_residual_connection_post_layernorm=False, architectures=["FalconForCausalLM"], attention_dropout=0.0,
              bias=False, bos_token_id=1, eos_token_id=2, hidden_dropout=0.0, hidden_size=64, initializer_range=0.02,
              layer_norm_epsilon=4e-3, model_type="falcon", multi_query=True, new_decoder_architecture=False, num_attention_heads=4,
              num_hidden_layers=2, parallel_attn=True, torch_dtype="float32", use_cache=True, vocab_size=128)
LNE = {"layer_norm_epsilon": 1e-6}
spec("falcon-7b", dict(FALCON, hidden_size=32, num_attention_heads=2), extra=equal_head, matters=LNE,  # ffn = 4 * hidden; head tied
     generation=dict(_from_model_config=True, bos_token_id=1, eos_token_id=2, transformers_version="4.33.0.dev0"))
spec("falcon-40b", dict(FALCON, new_decoder_architecture=True, num_kv_heads=2, ffn_hidden_size=48, multi_query=True), plen=34)
spec("falcon-11b", dict(FALCON, hidden_size=32, num_attention_heads=2, new_decoder_architecture=True, num_kv_heads=1, ffn_hidden_size=96,
                        ff_factor=3, num_ln_in_parallel_attn=1, tie_word_embeddings=False, rope_theta=500042.0, rope_scaling=None,
                        max_position_embeddings=128, activation="gelu"), matters=TH)
spec("falcon-rw", dict(FALCON, alibi=True, bias=True, multi_query=False, parallel_attn=False, ffn_hidden_size=48), attn="sdpa",
     plen=39)
# --- mpt
MPT = dict(architectures=["MPTForCausalLM"], attn_config=dict(alibi=True, alibi_bias_max=8, attn_impl="torch", attn_pdrop=0,
                                                              attn_type="multihead_attention", attn_uses_sequence_id=False,
                                                              clip_qkv=None, prefix_lm=False, qk_ln=False, softmax_scale=None),
           d_model=48, emb_pdrop=0, embedding_fraction=1.0, expansion_ratio=4, init_device="cpu", learned_pos_emb=True,
           logit_scale=None, max_seq_len=128, model_type="mpt", n_heads=3, n_layers=2, no_bias=True,
           norm_type="low_precision_layernorm", resid_pdrop=0, tokenizer_name="EleutherAI/gpt-neox-20b", torch_dtype="bfloat16",
           use_cache=False, verbose=0, vocab_size=128)  # 3 heads: not a power of two
spec("mpt", MPT, dtype=torch.bfloat16)
c = dict(copy.deepcopy(MPT), d_model=32, n_heads=2, torch_dtype="float32")
c["attn_config"].update(clip_qkv=0.9, softmax_scale=0.4)
spec("mpt-clip", c, matters={"attn_config.clip_qkv": None, "attn_config.softmax_scale": None})


# ---------------------------------------------------------------- weights
def fill(model, rng):
    """Random weights with which nothing is neutral: norms away from 1 (or from 0 where the factor is 1+w), biases away from 0."""
    one = 0.0 if model.config.model_type.startswith("gemma") else 1.0
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    embed = model.get_input_embeddings().weight
    conv1d = {id(m.weight) for m in model.modules() if type(m).__name__ == "Conv1D"}
    for name, p in sorted(model.named_parameters()):
        z = torch.from_numpy(rng.standard_normal(tuple(p.shape)).astype(np.float32))
        if p.dim() == 1:
            z = 0.25 * z if name.endswith("bias") else one + 0.3 * z
        elif p is embed:
            z = z * (0.12 if one == 0.0 else 0.25 if tied else 0.8)  # gemma multiplies by sqrt(D)
        elif "embed_positions" in name or "wpe" in name:
            z = z * 0.4
        else:
            fan_in = p.shape[0] if id(p) in conv1d else p.shape[1]
            z = z * (1.3 / fan_in ** 0.5)
        p.data.copy_(z)


def file_tensors(s, model, cfg, rng):
    sd, head = {}, "embed_out.weight" if cfg.model_type == "gpt_neox" else "lm_head.weight"
    for n, t in model.state_dict().items():
        if not (n == head and cfg.tie_word_embeddings):
            sd[s["rename"](n) if s["rename"] else n] = t.detach().clone().to(s["dtype"]).contiguous()
    real = set(sd)
    if s["extra"]:
        s["extra"](sd, cfg, rng)
    return sd, real


def write_weights(s, d, sd):
    if s["shards"] == 1:
        save_file(sd, f"{d}/model.safetensors", metadata={"format": "pt"})
        return
    n, names, wmap = s["shards"], sorted(sd), {}
    for k in range(n):
        part = {x: sd[x] for x in names[k * len(names) // n:(k + 1) * len(names) // n]}
        f = f"model-{k + 1:05d}-of-{n:05d}.safetensors"
        save_file(part, f"{d}/{f}", metadata={"format": "pt"})
        wmap.update({x: f for x in part})
    total = sum(t.numel() * t.element_size() for t in sd.values())
    with open(f"{d}/model.safetensors.index.json", "w") as fp:
        json.dump({"metadata": {"total_size": total}, "weight_map": wmap}, fp, indent=2)


def load(s, d, config=None):
    m, info = AutoModelForCausalLM.from_pretrained(d, config=config, dtype=torch.float32, attn_implementation=s["attn"],
                                                   output_loading_info=True)
    assert not info["missing_keys"] and not info["mismatched_keys"] and not info["error_msgs"], (s["name"], info)
    return m.eval(), info


# ---------------------------------------------------------------- what the reference computes
def layers_of(m):
    for path in ("model.layers", "model.decoder.layers", "transformer.h", "transformer.blocks", "gpt_neox.layers"):
        try:
            return m.get_submodule(path)
        except AttributeError:
            pass
    raise KeyError(type(m))


@torch.no_grad()
def logits(m, ids):
    return m(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


@torch.no_grad()
def residuals(m, ids):
    rows, hooks, ls = [], [], layers_of(m)
    first = lambda x: x[0] if isinstance(x, tuple) else x
    hooks.append(ls[0].register_forward_pre_hook(lambda _, a, k: rows.append(a[0] if a else k["hidden_states"]), with_kwargs=True))
    for l in ls:
        hooks.append(l.register_forward_hook(lambda _, a, o: rows.append(first(o))))
    logits(m, ids)
    for h in hooks:
        h.remove()
    return [r.reshape(-1, r.shape[-1])[-1] for r in rows]


def greedy(m, prompt):
    """Whole sequence again for each token: no cache to trust. Returns tokens and the smallest margin / std."""
    ids, margin = list(prompt), 1e9
    for _ in range(N_GREEDY):
        row = logits(m, ids)[-1]
        top = torch.topk(row, 2)
        margin = min(margin, float((top.values[0] - top.values[1]) / row.std()))
        ids.append(int(top.indices[0]))
    row = logits(m, ids)[-1]
    top = torch.topk(row, 2).values
    return ids[len(prompt):], min(margin, float((top[0] - top[1]) / row.std()))


def effect(a, b):
    return float((a - b).abs().max() / a.std())


def check_tensors(s, m, ids, base, gemma):
    embed = m.get_input_embeddings().weight
    for name, p in m.named_parameters():
        keep = p.data.clone()
        if p.dim() > 1:
            p.data = torch.roll(keep, 1, 0)
        else:
            p.data = torch.full_like(keep, 0.0 if name.endswith("bias") or gemma else 1.0)
        e = effect(base, logits(m, ids)[-1])
        p.data = keep
        if s["no_effect"] and re.search(s["no_effect"], name):
            assert e < 1e-4, (s["name"], name, e)
        else:
            assert e > MIN_EFFECT, (s["name"], name, "has no visible effect", e)


def check_config(s, d, ids, base):
    for key, value in s["matters"].items():
        c = json.load(open(f"{d}/config.json"))
        *path, last = key.split(".")
        o = c
        for k in path:
            o = o[k]
        assert last in o or key in ("rope_theta",), (s["name"], key)
        o[last] = value
        cfg = AutoConfig.for_model(**c)
        m, _ = load(s, d, config=cfg)
        e = effect(base, logits(m, ids)[-1])
        assert e > MIN_EFFECT / 5, (s["name"], key, "has no visible effect", e)
        print(f"      {key}={value}: {e:.4f}")


# ---------------------------------------------------------------- one folder
def f7(x):
    return [float(f"{v:.7g}") for v in x.tolist()]


def make(s):
    d = f"{HERE}/models/{s['name']}"
    shutil.rmtree(d, ignore_errors=True)
    os.makedirs(d)
    with open(f"{d}/config.json", "w") as fp:
        json.dump(dict(sorted(s["config"].items())), fp, indent=2)
        fp.write("\n")
    cfg = AutoConfig.from_pretrained(d)
    gemma = cfg.model_type.startswith("gemma")
    for seed in range(1, 400):
        rng = np.random.default_rng([seed, *s["name"].encode()])
        m = AutoModelForCausalLM.from_config(cfg, attn_implementation=s["attn"], dtype=torch.float32).eval()
        fill(m, rng)
        for p in m.parameters():  # the checkpoint's precision, in float32
            p.data = p.data.to(s["dtype"]).float()
        m.tie_weights()
        prompt = rng.integers(SPECIAL, cfg.vocab_size, s["plen"]).tolist()
        tokens, margin = greedy(m, prompt)
        if margin > MIN_MARGIN and len(set(tokens)) >= s["distinct"] and min(tokens) >= SPECIAL:
            break
    else:
        raise SystemExit(f"{s['name']}: no seed gives clear greedy tokens")
    sd, real = file_tensors(s, m, cfg, rng)
    write_weights(s, d, sd)
    if s["generation"]:
        with open(f"{d}/generation_config.json", "w") as fp:
            json.dump(s["generation"], fp, indent=2)
            fp.write("\n")

    r, info = load(s, d)  # from here on only what the files say
    mine = dict(m.named_parameters())
    theirs = dict(r.named_parameters())
    assert mine.keys() == theirs.keys() and all(torch.equal(mine[k], theirs[k]) for k in mine), s["name"]
    assert set(info["unexpected_keys"]) <= set(sd) - real, (s["name"], info["unexpected_keys"])
    rows = logits(r, prompt)
    assert torch.equal(rows, logits(m, prompt)) and greedy(r, prompt)[0] == tokens
    g = GenerationConfig(max_new_tokens=N_GREEDY, do_sample=False, pad_token_id=0, eos_token_id=None)
    r.generation_config = g
    cached = r.generate(torch.tensor([prompt]), generation_config=g, attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                        use_cache=True)[0, len(prompt):].tolist()
    assert cached == tokens, (s["name"], "with a KV cache", cached, tokens)
    hidden = residuals(r, prompt)
    base = rows[-1]
    check_tensors(s, r, prompt, base, gemma)
    check_config(s, d, prompt, base)
    torch.set_default_dtype(torch.float64)  # mpt builds its mask in the default type
    wide = logits(r.double(), prompt)[-1]
    torch.set_default_dtype(torch.float32)
    mid = len(prompt) // 2
    out = dict(prompt=prompt, positions=[0, mid], greedy=tokens, logits_last=f7(base), logits_first_rows=[f7(rows[0]), f7(rows[mid])],
               hidden=[[float(f"{v:.5g}") for v in h.tolist()] for h in hidden], logits_std=float(f"{base.std():.6g}"),
               min_margin=float(f"{margin:.4g}"), f64_diff=float(f"{(wide - base.double()).abs().max():.3g}"), seed=seed, attn=s["attn"])
    with open(f"{d}/golden.json", "w") as fp:
        fp.write("{\n" + ",\n".join(f' {json.dumps(k)}: {json.dumps(v)}' for k, v in out.items()) + "\n}\n")
    size = sum(os.path.getsize(f"{d}/{f}") for f in os.listdir(d))
    print(f"{s['name']:24s} seed {seed:3d} std {out['logits_std']:.2f} margin {margin:.4f} distinct {len(set(tokens)):2d} "
          f"f64 {out['f64_diff']:.1e} {size / 1024:.0f} KB", flush=True)


if __name__ == "__main__":
    want = sys.argv[1:]
    for s in SPECS:
        if not want or s["name"] in want:
            make(s)
    with open(f"{HERE}/models/names.txt", "w") as fp:
        fp.write("".join(s["name"] + "\n" for s in SPECS))
