/* Fuzzes config.json, generation_config.json and tokenizer_config.json.

       cc -g -O1 -fsanitize=address,undefined tests/fuzz_config.c -o build/fuzz_config -lm -lpthread
       build/fuzz_config [ITERATIONS [SEED]]                 more in fuzz.h; run from the repository root

   Each input is read as all three; a config that is accepted goes on to be bound to the tensors of a golden model. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

static const char *const fuzz_seeds[] = {
    "@tests/golden/models/gpt-neox/config.json",     "@tests/golden/models/gpt-neox/config.json",
    "@tests/golden/models/llama3-rope/config.json",  "@tests/golden/models/llama-rope-yarn-mscale/config.json",
    "@tests/golden/models/qwen2-window/config.json", "@tests/golden/models/falcon-40b/config.json",
    "@tests/golden/models/mpt/config.json",          "@tests/golden/models/opt-350m/config.json",
    "@tests/golden/models/gemma/config.json",        "@tests/golden/models/phi-qkln/config.json",
    "@tests/golden/models/qwen2/generation_config.json",
    "{\"eos_token\": {\"content\": \"</s>\"}, \"do_sample\": true, \"eos_token_id\": [1, 2, 3], \"top_k\": 5}",
    "{\"architectures\":[\"LlamaForCausalLM\"],\"hidden_size\":8,\"num_hidden_layers\":2,\"num_attention_heads\":2,"
    "\"vocab_size\":16,\"max_position_embeddings\":64,\"layer_types\":[\"full_attention\",\"full_attention\"],"
    "\"rope_parameters\":{\"rope_type\":\"linear\",\"factor\":2,\"rope_theta\":1e4}}"
};

/* Uses what was accepted as the engine would. */
static void fuzz_use(const kvs__model_config *g)
{
    float table[4 * 1024], alibi[4096];
    if (g->L < 1 || g->H % g->HKV || g->Dh > 1024 || g->rope.dim > g->Dh || g->n_eos > KVS__MAX_EOS) abort();
    if (g->pos == KVS__POS_ROPE) kvs__model_rope_table(g, 4, table);
    if (g->pos == KVS__POS_ALIBI) kvs__model_alibi(g, alibi);
}

static void fuzz_one(const char *data, size_t n)
{
    static kvs_result (*const read[])(kvs__cfg *) = {kvs__cfg_model, kvs__cfg_generation, kvs__cfg_tokenizer};
    for (int i = 0; i < 3; i++) {
        kvs__mem mem;
        kvs__err e;
        kvs__model m;
        kvs__mem_init(&mem, NULL);
        memset(&m, 0, sizeof m);
        m.mem = m.warnings.mem = &mem;
        m.cfg.V = 1000;
        e.text[0] = 0;
        kvs_result r = kvs__cfg_text(&m, data, n, "config.json", read[i], &e);
        if (r != KVS_OK && !e.text[0]) abort();
        if (r == KVS_OK && i == 0) {
            fuzz_use(&m.cfg);
            r = kvs__st_open(&mem, "tests/golden/models/gpt-neox", &m.st, &e);
            if (r == KVS_OK) r = kvs__model_bind(&m, KVS_AUTO, &e);
            for (size_t w = 0; r == KVS_OK && w < m.n_w; w++) kvs__model_check_finite(&m.w[w], &e);
        }
        kvs__model_close(&m);
        if (mem.live) abort();
    }
}

#include "fuzz.h"
