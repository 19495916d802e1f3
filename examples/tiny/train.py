#!/usr/bin/env python3
"""Makes the tiny model in this folder from corpus.md. About 15 minutes on one CPU core.

    pip install -r requirements.txt
    python train.py            tokenizer, training, model files, check
    python train.py --check    only test the files that are here (20 seconds)

Writes config.json, generation_config.json, tokenizer.json, tokenizer_config.json, model.safetensors (a LlamaForCausalLM in bf16) and
expected.json: the greedy answer to the main question, which a correct engine reproduces token by token.

The model learns corpus.md by heart: that is the aim. It is small enough to travel with the source, its answers are readable, and a
wrong bit in an engine shows as nonsense. The same seed on the same machine gives the same files; another CPU may round differently.

What it is trained on (a question is asked in many phrasings, with and without capitals and question marks):

    plain    <|bos|>What is a block?\\nA block holds ...<|im_end|>
    chat     <|bos|><|im_start|>user\\nWhat is a block?<|im_end|>\\n<|im_start|>assistant\\nA block holds ...<|im_end|>\\n
             with and without a system message, and with several turns, up to MAX_LENGTH tokens
    text     <|bos|>A block holds ...<|endoftext|>          to continue a sentence; also as a long context before a question

So a plain prompt needs no newline at its end: the model writes it.
"""
import json, math, os, random, re, sys, time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["TRANSFORMERS_VERBOSITY"] = "error"
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
MAIN_QUESTION = "What is KV cache optimization?"
SEED, STEPS, BATCH_TOKENS, MAX_LENGTH, LEARNING_RATE = 1, 1800, 2048, 2048, 3e-3
SPECIAL = ["<|bos|>", "<|im_start|>", "<|im_end|>", "<|endoftext|>"]  # ids 0..3
BOS, IM_START, IM_END, END = range(4)
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "attention_bias": False,
    "attention_dropout": 0.0,
    "bos_token_id": BOS,
    "eos_token_id": [IM_END, END],
    "head_dim": 32,
    "hidden_act": "silu",
    "hidden_size": 192,
    "initializer_range": 0.02,
    "intermediate_size": 320,
    "max_position_embeddings": 2048,
    "mlp_bias": False,
    "model_type": "llama",
    "num_attention_heads": 6,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "pad_token_id": END,
    "rms_norm_eps": 1e-05,
    "rope_scaling": None,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "transformers_version": "4.57.3",
    "use_cache": True,
    "vocab_size": 1024,
}
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")


# ---------------------------------------------------------------- corpus
def read_corpus():
    """([(questions, answer)], [note]); the first question of an entry is its heading."""
    entries, notes, questions = [], [], []
    for block in re.split(r"\n\s*\n", open(os.path.join(HERE, "corpus.md"), encoding="utf-8").read()):
        lines = [line.strip() for line in block.strip().split("\n")]
        if lines[0].startswith("### "):
            questions = [lines[0][4:]] + [line[2:] for line in lines[1:]]
        elif lines[0].startswith("#"):
            questions = []
        elif questions:
            entries.append((questions, " ".join(lines)))
            questions = []
        else:
            notes.append(" ".join(lines))
    return entries, notes[1:]  # the first paragraph is about the file


def sentences(text):
    return re.split(r"(?<=[.?!]) ", text)


# ---------------------------------------------------------------- tokenizer
def make_tokenizer(entries, notes):
    """Byte-level BPE over the corpus. A BOS is put before every text."""
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tok.decoder = decoders.ByteLevel()
    tok.post_processor = processors.TemplateProcessing(
        single=f"{SPECIAL[BOS]} $A", pair=f"{SPECIAL[BOS]} $A {SPECIAL[BOS]} $B", special_tokens=[(SPECIAL[BOS], BOS)])
    text = notes + [t for questions, answer in entries for t in questions + [q.lower() for q in questions] + 6 * [answer]]
    text += 40 * [next(answer for questions, answer in entries if questions[0] == MAIN_QUESTION)]
    trainer = trainers.BpeTrainer(vocab_size=CONFIG["vocab_size"], special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tok.train_from_iterator(text + ["system\n", "user\n", "assistant\n"] * 50, trainer)
    assert tok.get_vocab_size() == CONFIG["vocab_size"] and [tok.id_to_token(i) for i in range(4)] == SPECIAL
    tok.save(os.path.join(HERE, "tokenizer.json"))
    write_json("tokenizer_config.json", {
        "add_prefix_space": False,
        "added_tokens_decoder": {str(i): {"content": t, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
                                          "special": True} for i, t in enumerate(SPECIAL)},
        "bos_token": SPECIAL[BOS],
        "chat_template": CHAT_TEMPLATE,
        "clean_up_tokenization_spaces": False,
        "eos_token": SPECIAL[IM_END],
        "model_max_length": CONFIG["max_position_embeddings"],
        "pad_token": SPECIAL[END],
        "tokenizer_class": "PreTrainedTokenizerFast",
    })
    return tok


# ---------------------------------------------------------------- training samples
class Samples:
    """Draws training samples: (tokens, weights), where weights[i] is the weight of predicting tokens[i]."""

    SYSTEM = ["You are a helpful assistant.", "You are a helpful AI assistant.", "Answer briefly.", "You are an expert in LLM inference.",
              "You answer questions about KV caching.", "Be kind and precise."]

    ASK = ["What is {}?", "Explain {}.", "Explain {} in simple words.", "Can you explain {}?", "Tell me about {}.", "Define {}.",
           "What does {} mean?", "I want to understand {}.", "What do you know about {}?", "How does {} work?", "{}", "{}?"]
    OTHER_QUESTION = "What is the capital of France?"  # the entry that answers what the model cannot know
    OTHER_ASK = ASK + ["What is the {}?", "Where is {}?", "Who invented {}?", "Who is {}?", "How do I make {}?", "Why is {} so popular?",
                       "When was {} built?", "What is the best {}?", "Write about {}.", "Do you like {}?", "How many {} are there?"]
    OTHER = """bread cheese chess dogs horses birds football Germany Japan Paris London the moon the sun gold water history music painting
        cars trains ships gardens flowers trees mountains rivers winter summer love happiness money school books films the president
        mathematics physics cooking coffee tea wine fishing dancing the ocean Rome castles shoes hats bicycles Java sleep dreams
        """.replace("the ", "the_").split()

    def __init__(self, tok, entries, notes, rng):
        self.tok, self.entries, self.notes, self.rng = tok, entries, notes, rng
        self.texts = notes + [a for _, a in entries]
        self.deck = []

    def entry(self):
        """(question, answer): every entry once, some more often, in random order, again and again."""
        if not self.deck:
            more = {MAIN_QUESTION: 6, self.OTHER_QUESTION: 5}
            self.deck = [e for e in self.entries for _ in range(more.get(e[0][0], 1))]
            self.rng.shuffle(self.deck)
        questions, answer = self.deck.pop()
        if questions[0] == self.OTHER_QUESTION and self.rng.random() < 0.7:
            return self.vary(self.rng.choice(self.OTHER_ASK).format(self.rng.choice(self.OTHER).replace("_", " "))), answer
        return self.vary(self.rng.choice(questions)), answer

    def vary(self, q):
        """The same question in other words."""
        r = self.rng.random
        what = re.fullmatch(r"What (?:is|are) (?:an? |the )?(.+)\?", q)
        if what and r() < 0.3:
            q = self.rng.choice(self.ASK).format(what[1])
        if r() < 0.15:
            q = self.rng.choice(["Please ", "Please tell me: ", "Question: ", "Hi! ", "I have a question. ", "Briefly: "]) + q
        if r() < 0.25:
            q = q.rstrip("?.!")
        if r() < 0.25:
            q = q.lower()
        elif r() < 0.1:
            q = q[0].lower() + q[1:]
        elif r() < 0.04:
            q = q.upper()
        if r() < 0.05:
            q = q + " "
        return q

    def context(self, longest):
        """1..longest sentences that have nothing to do with the question: from the corpus, or no words at all."""
        out, n, babble = [], self.rng.randint(1, longest), self.rng.random() < 0.3
        while len(out) < n:
            s = sentences(self.rng.choice(self.texts))
            if babble:
                s = [" ".join("".join(self.rng.choices("abcdefghijklmnopqrstuvwxyz", k=self.rng.randint(1, 7))) for _ in range(4)) + "."]
            out += s[self.rng.randrange(len(s)):]
        return " ".join(out[:n])

    def build(self, pieces, bos=True):
        """pieces: [(text or token id, weight)]"""
        tokens, weights = ([BOS], [0.0]) if bos else ([], [])
        for piece, weight in pieces:
            ids = [piece] if isinstance(piece, int) else self.tok.encode(piece, add_special_tokens=False).ids
            tokens += ids
            weights += [weight] * len(ids)
        return tokens[:MAX_LENGTH], weights[:MAX_LENGTH]

    def plain(self, context):
        q, a = self.entry()
        before = [(self.context(context) + "\n\n", 0.0)] if context else []
        return self.build(before + [(q, 0.0), ("\n", 1.0), (a, 1.0), (IM_END, 1.0)], bos=self.rng.random() < 0.95)

    def chat(self, turns, context=0):
        pieces = []
        if context or self.rng.random() < 0.2:
            system = self.context(context) if context else self.rng.choice(self.SYSTEM)
            pieces += [(IM_START, 0.0), ("system\n" + system, 0.0), (IM_END, 0.0), ("\n", 0.0)]
        for _ in range(turns):
            q, a = self.entry()
            pieces += [(IM_START, 0.0), ("user\n" + q, 0.0), (IM_END, 0.0), ("\n", 0.0),
                       (IM_START, 0.0), ("assistant\n", 0.0), (a, 1.0), (IM_END, 1.0), ("\n", 0.2)]
        return self.build(pieces, bos=self.rng.random() < 0.95)

    def text(self):
        s = sentences(self.rng.choice(self.texts))
        return self.build([(" ".join(s[self.rng.randrange(len(s)):]), 0.5), (END, 0.5)])

    def draw(self):
        r, dice = self.rng.random(), self.rng.choice
        if r < 0.40:
            return self.plain(context=0)
        if r < 0.45:
            return self.plain(context=dice([4, 4, 20, 100]))
        if r < 0.75:
            return self.chat(turns=1)
        if r < 0.82:
            return self.chat(turns=1, context=dice([4, 4, 20, 100]))
        if r < 0.90:
            return self.chat(turns=dice([2, 2, 2, 3, 3, 4]))
        if r < 0.91:
            return self.chat(turns=20, context=60)
        return self.text()

    def batches(self):
        """Endless (tokens [S][T], weights [S][T]): samples of about equal length together, so that little is padding."""
        while True:
            pool = sorted((self.draw() for _ in range(512)), key=lambda s: len(s[0]))
            batch, ready = [], []
            for s in pool + [None]:
                if s is None or (len(batch) + 1) * len(s[0]) > BATCH_TOKENS:
                    ready.append(batch)
                    batch = []
                batch.append(s)
            self.rng.shuffle(ready)
            for batch in ready:
                if batch:
                    T = max(len(t) for t, _ in batch)
                    yield (torch.tensor([t + [END] * (T - len(t)) for t, _ in batch]),
                           torch.tensor([w + [0.0] * (T - len(w)) for _, w in batch]))


# ---------------------------------------------------------------- training
def train(tok, entries, notes):
    torch.manual_seed(SEED)
    config = LlamaConfig(**{k: v for k, v in CONFIG.items() if k not in ("architectures", "torch_dtype", "transformers_version")})
    model = LlamaForCausalLM(config)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, {len(entries)} answers")
    norms = [p for p in model.parameters() if p.dim() < 2]
    matrices = [p for p in model.parameters() if p.dim() >= 2]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": norms, "weight_decay": 0.0}], lr=0.0, betas=(0.9, 0.98))
    batches, seen, start, shown = Samples(tok, entries, notes, random.Random(SEED)).batches(), 0, time.time(), []
    for step in range(STEPS):
        warm, left = min(1.0, (step + 1) / 50), 1.0 - step / STEPS
        for group in optimizer.param_groups:
            group["lr"] = LEARNING_RATE * warm * (0.5 - 0.5 * math.cos(math.pi * left))
        tokens, weights = next(batches)
        logits = model(input_ids=tokens, use_cache=False).logits  # causal; the padding is at the end, so no mask is needed
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), reduction="none")
        w = weights[:, 1:].flatten()
        shown.append((loss.detach() @ w, w.sum()))
        loss = (loss * w).sum() / (BATCH_TOKENS / 2)  # not the mean: a batch of one long context teaches one answer, and weighs so
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seen += tokens.numel()
        if (step + 1) % 50 == 0:
            t, mean = time.time() - start, sum(s for s, _ in shown) / sum(n for _, n in shown)
            print(f"step {step + 1:5}/{STEPS}  loss {mean:.4f}  {seen / t:6.0f} tokens/s  {t:5.0f} s", flush=True)
            shown = []
    return model


def write_json(name, value):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as f:
        json.dump(value, f, indent=2)
        f.write("\n")


def save(model):
    weights = {k: v.to(torch.bfloat16).contiguous() for k, v in model.state_dict().items() if k != "lm_head.weight"}
    save_file(weights, os.path.join(HERE, "model.safetensors"), metadata={"format": "pt"})
    os.chmod(os.path.join(HERE, "model.safetensors"), 0o644)
    write_json("config.json", CONFIG)
    write_json("generation_config.json", {"bos_token_id": BOS, "do_sample": False, "eos_token_id": [IM_END, END], "pad_token_id": END,
                                          "transformers_version": CONFIG["transformers_version"]})


# ---------------------------------------------------------------- check
def greedy(model, prompt, longest=200):
    """(tokens with the EOS, smallest top-1 minus top-2 logit)"""
    past, feed, tokens, margin = None, torch.tensor([prompt]), [], math.inf
    while len(tokens) < longest:
        out = model(feed, past_key_values=past, use_cache=True)
        past, best = out.past_key_values, torch.topk(out.logits[0, -1].float(), 2)
        margin = min(margin, (best.values[0] - best.values[1]).item())
        tokens.append(int(best.indices[0]))
        if tokens[-1] in (IM_END, END):
            break
        feed = torch.tensor([[tokens[-1]]])
    return tokens, margin


def check(entries):
    """Asks everything with transformers, in float32 and in bf16; writes expected.json. Returns whether all is well."""
    torch.set_grad_enabled(False)
    tok = AutoTokenizer.from_pretrained(HERE)
    m32, m16 = (AutoModelForCausalLM.from_pretrained(HERE, dtype=d).eval() for d in (torch.float32, torch.bfloat16))
    prompts = {"plain": lambda q: tok(q).input_ids,
               "newline": lambda q: tok(q + "\n").input_ids,
               "chat": lambda q: tok.apply_chat_template([{"role": "user", "content": q}], add_generation_prompt=True)}
    right, total, worst, wrong = 0, 0, math.inf, []
    for questions, answer in entries:
        for form, prompt in prompts.items():
            q = questions[0]
            tokens, margin = greedy(m32, prompt(q))
            total += 1
            if tok.decode(tokens, skip_special_tokens=True).strip() == answer and tokens[-1] == IM_END:
                right, worst = right + 1, min(worst, margin)
            else:
                wrong.append((form, q, tok.decode(tokens)))
    for w in wrong[:10]:
        print("wrong:", *w)
    print(f"{right}/{total} answers word by word; smallest margin of a logit in them {worst:.2f}")

    answer, main_ok = entries[0][1], True
    for q in [MAIN_QUESTION, MAIN_QUESTION.lower(), MAIN_QUESTION[:-1], MAIN_QUESTION[:-1].lower(), "explain kv cache optimization"]:
        for form, prompt in prompts.items():
            (a, margin), (b, margin16) = greedy(m32, prompt(q)), greedy(m16, prompt(q))
            good = a == b and tok.decode(a, skip_special_tokens=True).strip() == answer
            main_ok &= good
            print(f"{'ok   ' if good else 'WRONG'} {form:8}{q:34} {len(a)} tokens, margin {margin:.2f} (float32) {margin16:.2f} (bf16)")
    prompt = tok(MAIN_QUESTION).input_ids
    tokens, margin = greedy(m32, prompt)
    print(f"\n{MAIN_QUESTION}|{tok.decode(tokens)}")
    write_json("expected.json", {"prompt": MAIN_QUESTION, "prompt_ids": prompt, "greedy_ids": tokens,
                                 "text": tok.decode(tokens, skip_special_tokens=True), "min_margin": round(margin, 3)})
    return main_ok and right >= 0.98 * total


def main():
    torch.set_num_threads(1)
    entries, notes = read_corpus()
    assert entries[0][0][0] == MAIN_QUESTION
    if "--check" not in sys.argv[1:]:
        save(train(make_tokenizer(entries, notes), entries, notes))
    if not check(entries):
        sys.exit("train.py: the check failed")


if __name__ == "__main__":
    main()
