#!/usr/bin/env python3
"""Makes sampling.json: what a sampler with vLLM's semantics keeps, and with which probabilities. numpy only, float64.

    python make_sampling.py

The steps, in this order (vllm/v1/sample/sampler.py):
 0  raw logprobs = log_softmax(logits), before anything else: these are the ones reported (top5; equal ones by lower id)
 1  logit_bias: added to the logit of its token
 2  min_tokens: while fewer tokens than that were generated, every stop token (stop_token_ids and EOS together, `stop_ids`): -inf
 3  penalties: repetition, for each token seen in prompt or output: logit > 0 ? logit / r : logit * r
               frequency: logit -= f * (times in the output);  presence: logit -= p if it is in the output (neither counts the prompt)
 4  temperature < 1e-5: greedy, the first (lowest id) of the largest logits; that is all. Otherwise logits /= temperature
 5  min_p: removed if prob < min_p * (largest prob), with the probs of step 4 (so it stays if equal)
 6  top_k (0 = off): removed if logit < k-th largest logit. **Ties with the k-th are all kept**: more than k may remain
 7  top_p (1 = off): probs are renormalised over what remains; in ascending order, removed while the running sum (its own included) is
    <= 1 - top_p; the last is always kept. Equivalently: kept while the mass of those ranked before it is < top_p. **Among equal
    logits the lower id ranks first** (is kept first). vLLM leaves that to an unstable sort; we define it.
 8  final probs = softmax over what remains; `kept` lists the ids in ascending order, `probs` in the same order

Kept means not removed: a kept token's probability may be too small for float32 (cases with large logits or a low temperature).
Except where a case is about a tie, no decision is nearer than 1e-4 to its threshold (asserted), so float32 must decide the same.
Logits are exactly representable in float32.
"""
import json, os
import numpy as np

OFF = dict(temperature=1.0, top_p=1.0, top_k=0, min_p=0.0, repetition_penalty=1.0, presence_penalty=0.0, frequency_penalty=0.0,
           logit_bias=[], min_tokens=0, stop_ids=[])
CLEAR = 1e-4


class Unclear(Exception):
    pass


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def sample(logits, p, prompt, output, ties=False):
    def clear(a, b, scale=1.0):
        if not ties and np.any(np.abs(a - b) < CLEAR * scale):
            raise Unclear

    x = np.array(logits, np.float64)
    V = len(x)
    raw = x - x.max() - np.log(np.exp(x - x.max()).sum())
    top5 = sorted(range(V), key=lambda t: (-raw[t], t))[:5]
    for t, b in p["logit_bias"]:
        x[t] += b
    if len(output) < p["min_tokens"]:
        x[p["stop_ids"]] = -np.inf
    seen, r = sorted(set(prompt) | set(output)), p["repetition_penalty"]
    for t in seen:
        x[t] = x[t] / r if x[t] > 0 else x[t] * r
    count = np.bincount(np.array(output, int), minlength=V)
    x -= p["frequency_penalty"] * count
    x -= p["presence_penalty"] * (count > 0)
    out = dict(top5=[[t, round(float(raw[t]), 8)] for t in top5])
    if p["temperature"] < 1e-5:
        best = int(np.argmax(x))
        s = np.sort(x)
        clear(s[-1], s[-2])
        return dict(out, kept=[best], probs=[1.0])
    x /= p["temperature"]
    probs = softmax(x)
    if p["min_p"] > 0:
        clear(probs / probs.max(), p["min_p"], p["min_p"])
        x[probs < p["min_p"] * probs.max()] = -np.inf
    if 0 < p["top_k"] < V:
        kth = np.sort(x)[V - p["top_k"]]
        if np.isfinite(kth) and not ties:
            others = np.delete(x, np.argwhere(x == kth)[0])
            clear(others, kth)
        x[x < kth] = -np.inf
    if p["top_p"] < 1:
        order = sorted(range(V), key=lambda t: (x[t], -t))  # ascending; of equal ones the higher id first, so it goes first
        cum = np.cumsum(softmax(x)[order])
        gone = cum <= 1 - p["top_p"]
        gone[-1] = False
        clear(cum[:-1][cum[:-1] > 0], 1 - p["top_p"])
        a = set(np.array(order)[~gone])
        down, mass, b = order[::-1], 0.0, set()  # the same from the other end, as a check
        for t in down:
            if mass < p["top_p"] - 1e-12 or not b:
                b.add(t)
            mass += softmax(x)[t]
        assert ties or a == {t for t in b if np.isfinite(x[t])}
        x[np.array(order)[gone]] = -np.inf
    probs = softmax(x)
    kept = [int(t) for t in np.flatnonzero(np.isfinite(x))]
    return dict(out, kept=kept, probs=[float(f"{probs[t]:.10g}") for t in kept])


def f32(x):
    return [float(v) for v in np.asarray(x, np.float32)]


def short(logits):  # few digits, still exact in float32: multiples of 1/1024
    return f32(np.round(np.asarray(logits) * 1024) / 1024)


def main():
    cases = []

    def case(name, seed=0, V=None, logits=None, ties=False, spread=2.5, **params):
        p = {**OFF, **params}
        for k in range(1000):
            rng = np.random.default_rng([seed, k, *name.encode()])
            n = V or int(rng.integers(40, 65))
            x = short(rng.standard_normal(n) * spread) if logits is None else f32(logits)
            if len(set(x)) < len(x) and not ties:
                continue
            n = len(x)
            prompt = rng.integers(0, n, 9).tolist()
            hot = int(np.argmax(x))
            output = rng.integers(0, n, 6).tolist() + [hot, hot]  # the best token has been generated: penalties bite
            prompt[0] = int(np.argsort(x)[-2])
            q = {a: (b(x) if callable(b) else b) for a, b in p.items()}
            try:
                res = sample(x, q, prompt, output, ties)
            except Unclear:
                continue
            cases.append(dict(name=name, logits=x, prompt=prompt, output=output, params=q, **res))
            return
        raise SystemExit(f"{name}: nothing clear")

    best = lambda x: int(np.argmax(x))
    case("plain")
    case("greedy", temperature=0.0)
    case("greedy tie: lowest id", logits=[1, 3, 0.5, 3, 3] + [0] * 35, ties=True, temperature=0.0)
    case("greedy after penalties", temperature=0.0, repetition_penalty=1.5, frequency_penalty=0.6)
    case("temperature 0.01", temperature=0.01, spread=0.5)
    case("temperature 0.25", temperature=0.25)
    case("temperature 3", temperature=3.0)
    case("large logits", temperature=0.5, spread=90.0)
    case("top_k 1", top_k=1)
    case("top_k 7", top_k=7)
    case("top_k above V", top_k=1000)
    case("top_k ties all kept", logits=[2, 1, 1, 1, 1, 0, 4, -1] + [-2] * 40, ties=True, top_k=3)
    case("top_p 0.9", top_p=0.9)
    case("top_p 0.5 hot", top_p=0.5, temperature=2.0)
    case("top_p tiny keeps one", top_p=1e-6)
    case("top_p 0.999", top_p=0.999)
    case("top_p uniform: lower ids kept", logits=[1.5] * 40, ties=True, top_p=0.24)  # 10 of 40: 9/40 < .24
    case("min_p 0.1", min_p=0.1)
    case("min_p 1 keeps the best", min_p=1.0, ties=True)
    case("min_p after temperature", min_p=0.3, temperature=2.5)
    case("top_k then top_p", top_k=6, top_p=0.8, temperature=1.5)
    case("min_p, top_k, top_p", min_p=0.02, top_k=9, top_p=0.85, temperature=1.8)
    case("top_k above what min_p left", min_p=0.4, top_k=30, top_p=0.95)
    case("repetition 1.3", repetition_penalty=1.3)
    case("repetition 0.8 favours", repetition_penalty=0.8)
    case("presence 1.1", presence_penalty=1.1)
    case("frequency 0.7", frequency_penalty=0.7)
    case("negative penalties", presence_penalty=-0.5, frequency_penalty=-0.4, top_k=10)
    case("all penalties", repetition_penalty=1.2, presence_penalty=0.4, frequency_penalty=0.3, temperature=0.8, top_p=0.9)
    case("logit_bias", logit_bias=lambda x: [[3, 5.5], [7, -4.0], [best(x), -100.0]], top_k=12)
    case("logit_bias before penalties", logit_bias=lambda x: [[best(x), -20.0]], repetition_penalty=1.4, temperature=1.2)
    case("min_tokens bars stop tokens", min_tokens=9, stop_ids=lambda x: [2, best(x)], top_p=0.95)
    case("min_tokens reached", min_tokens=8, stop_ids=lambda x: [2, best(x)], top_p=0.95)
    case("min_tokens beats logit_bias", min_tokens=20, stop_ids=[5], logit_bias=[[5, 100.0]], temperature=0.0)
    for i in range(6):
        r = np.random.default_rng([77, i])
        u = lambda a, b: round(float(r.uniform(a, b)), 3)
        case(f"everything {i}", seed=i, temperature=u(0.4, 2), top_p=u(0.6, 0.99), top_k=int(r.integers(5, 30)), min_p=u(0, 0.08),
             repetition_penalty=u(0.8, 1.6), presence_penalty=u(-0.5, 1), frequency_penalty=u(-0.3, 0.8), min_tokens=int(r.integers(0, 12)),
             stop_ids=[2, int(r.integers(3, 40))], logit_bias=[[int(r.integers(0, 40)), u(-3, 3)], [41 - 2, u(-3, 3)]])
    here = os.path.dirname(os.path.abspath(__file__))
    with open(f"{here}/sampling.json", "w") as fp:
        fp.write('{"cases": [\n' + ",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
    for c in cases:
        print(f"{c['name']:32s} V {len(c['logits'])} kept {len(c['kept']):2d} best {max(c['probs']):.4f}")


main()
