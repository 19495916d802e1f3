/* The determinism contract: tokens and logprobs of a request are the same bits alone, with batch mates, in chunks, after prefix hits and
   preemptions, forked, on 1 or 2 threads, paged or static, portable or AVX. Every pair of circumstances is tried on the bundled model
   and on golden families that differ in attention (GQA, window, ALiBi, partial rotary). */

typedef struct t_variant {
    int mates;                    /* others in the batch */
    int budget;                   /* max_num_batched_tokens: prompt chunks */
    int hit;                      /* tokens of the prompt that are cached before */
    int preempt;                  /* every that many steps our sequence is preempted; 0 never */
    int fork;                     /* n */
    int threads;
    int layout, isa;
} t_variant;

enum { T_DET_TOKENS = 20, T_DET_PROMPT = 53 };

typedef struct t_det { int32_t token[T_DET_TOKENS]; float logprob[T_DET_TOKENS]; int n, preempted, cached; } t_det;

static int t_isa_there(kvs_isa isa)
{
    static int there[KVS_ISA_AVX512 + 1];                    /* 0 not asked, 1 yes, 2 no */
    kvs_config c;
    kvs_engine *e;
    if (!there[isa]) {
        t_zero_config(&c, GOLDEN "llama1-mha");
        c.isa = isa;
        there[isa] = kvs_open(&c, &e) == KVS_OK ? 1 : 2;
        kvs_close(e);
    }
    return there[isa] == 1;
}

static void t_det_prompt(int32_t *ids, int V)
{
    for (int i = 0; i < T_DET_PROMPT; i++) ids[i] = 3 + (i * i * 7 + i * 11) % (V - 3);
}

static void t_det_mate(kvs_engine *e, const int32_t *ours, int V)
{
    int32_t ids[T_DET_PROMPT];
    int n = t_range(1, T_DET_PROMPT), same = t_range(0, n);
    for (int i = 0; i < n; i++) ids[i] = i < same ? ours[i] : (int32_t)t_range(0, V - 1);
    kvs_prompt p = t_prompt(ids, (size_t)n);
    kvs_sampling s = t_sampling(t_range(1, 2 * T_DET_TOKENS));
    s.temperature = (float)t_range(0, 1); s.n = t_range(1, 10) == 1 ? 2 : 1; s.top_k = t_range(0, 5);
    CHECK_MSG(kvs_submit(e, &p, &s, NULL) == KVS_OK, "mate: %s", kvs_last_error(e));
}

/* Steps until nothing is left; collects output 0 of request r. */
static void t_det_drain(kvs_engine *e, const t_variant *v, kvs_request r, t_det *out, const int32_t *ours, int V)
{
    kvs_output o;
    kvs_result res = KVS_OK;
    for (int step = 1; res == KVS_OK; step++) {
        res = kvs_step(e);
        CHECK_MSG(res >= 0, "kvs_step: %s", kvs_last_error(e));
        while (kvs_poll(e, &o)) {
            if (o.request.id != r.id || o.index != 0) continue;
            for (size_t i = 0; i < o.n_tokens && out->n < T_DET_TOKENS; i++) { out->token[out->n] = o.tokens[i]; out->logprob[out->n++] = o.logprobs[i]; }
            out->preempted = o.preemptions; out->cached = o.cached_tokens;
        }
        if (v->mates > 3 && step % 7 == 3 && step < 30) t_det_mate(e, ours, V);
        kvs__req *q = kvs__req_find(e, r);
        if (v->preempt && step % v->preempt == 0 && q && q->out[0].seq.state == KVS__SEQ_RUNNING && q->out[0].seq.preemptions < 40)
            kvs__sched_preempt(&e->sched, &q->out[0].seq);
    }
}

static void t_det_run(const char *model, const t_variant *v, const kvs_sampling *sampling, t_det *out)
{
    kvs_config c;
    int32_t ids[T_DET_PROMPT];
    kvs_request r;
    t_zero_config(&c, model);
    c.max_num_batched_tokens = v->budget; c.num_threads = v->threads; c.isa = (kvs_isa)v->isa; c.kv_layout = (kvs_kv_layout)v->layout;
    c.max_model_len = 80;
    memset(out, 0, sizeof *out);
    kvs_engine *e = t_open(&c);
    if (!e) return;
    int V = e->model.cfg.V;
    t_det_prompt(ids, V);
    if (v->hit) {                                            /* somebody else has asked that much of it before */
        kvs_prompt p = t_prompt(ids, (size_t)v->hit);
        kvs_sampling s = t_sampling(1);
        int32_t t;
        t_run_one(e, &p, &s, &t, NULL, 1);
    }
    kvs_prompt p = t_prompt(ids, T_DET_PROMPT);
    kvs_sampling s = *sampling;
    s.n = v->fork;
    for (int i = 0; i < v->mates / 2; i++) t_det_mate(e, ids, V);
    CHECK_MSG(kvs_submit(e, &p, &s, &r) == KVS_OK, "submit: %s", kvs_last_error(e));
    for (int i = v->mates / 2; i < v->mates; i++) t_det_mate(e, ids, V);
    t_det_drain(e, v, r, out, ids, V);
    CHECK_MSG(kvs_check(e) == KVS_OK, "kvs_check: %s", kvs_last_error(e));
    if (v->hit && v->layout == KVS_LAYOUT_PAGED && !v->mates) CHECK_EQ_INT(out->cached, v->hit / 16 * 16);
    kvs_close(e);
}

static void t_det_same(const char *model, const t_variant *v, const t_det *a, const t_det *b)
{
    CHECK_MSG(a->n == b->n && memcmp(a->token, b->token, sizeof a->token) == 0 && memcmp(a->logprob, b->logprob, sizeof a->logprob) == 0,
              "%s: other bits with mates %d budget %d hit %d preempt %d fork %d threads %d layout %d isa %d", model, v->mates, v->budget, v->hit,
              v->preempt, v->fork, v->threads, v->layout, v->isa);
}

static const t_variant t_det_base = {0, 512, 0, 0, 1, 1, KVS_LAYOUT_PAGED, KVS_ISA_AUTO};

/* The values of each circumstance. */
static const struct { size_t at; int n, value[6]; } t_axes[] = {
    {offsetof(t_variant, mates),   3, {1, 5, 15}},      {offsetof(t_variant, budget),  3, {7, 16, 64}},
    {offsetof(t_variant, hit),     3, {16, 32, 53}},    {offsetof(t_variant, preempt), 2, {1, 5}},
    {offsetof(t_variant, fork),    1, {3}},             {offsetof(t_variant, threads), 1, {2}},
    {offsetof(t_variant, layout),  1, {KVS_LAYOUT_STATIC}},
    {offsetof(t_variant, isa),     3, {KVS_ISA_PORTABLE, KVS_ISA_AVX2, KVS_ISA_AVX512}}};

static void t_set(t_variant *v, size_t axis, int k) { memcpy((char *)v + t_axes[axis].at, &t_axes[axis].value[k], sizeof(int)); }

static void t_det_model(const char *model)
{
    kvs_sampling s = t_sampling(T_DET_TOKENS);
    t_det want, got;
    t_variant v = t_det_base;
    s.logprobs = 1; s.temperature = 0.9f; s.top_p = 0.95f; s.seed = 77; s.repetition_penalty = 1.05f;
    t_seed(1);
    t_det_run(model, &v, &s, &want);
    CHECK_EQ_INT(want.n, T_DET_TOKENS);
    for (size_t a = 0; a < KVS__COUNT(t_axes); a++)
        for (size_t b = a; b < KVS__COUNT(t_axes); b++)
            for (int i = 0; i < t_axes[a].n; i++)
                for (int k = 0; k < (a == b ? 1 : t_axes[b].n); k++) {
                    v = t_det_base;
                    t_set(&v, a, i);
                    if (b != a) t_set(&v, b, k);
                    if (v.isa && !t_isa_there((kvs_isa)v.isa)) continue;
                    t_det_run(model, &v, &s, &got);
                    t_det_same(model, &v, &want, &got);
                }
}

static void test_determinism_tiny(void)   { t_det_model(TINY); }
static void test_determinism_gqa(void)    { t_det_model(GOLDEN "llama-gqa-headdim"); }
static void test_determinism_window(void) { t_det_model(GOLDEN "mistral-window"); }
static void test_determinism_alibi(void)  { t_det_model(GOLDEN "falcon-rw"); }
static void test_determinism_bf16(void)   { t_det_model(GOLDEN "llama-bf16"); }

/* Everything at once, many times. */
static void test_determinism_random_mixtures(void)
{
    const char *const model[] = {GOLDEN "llama-bf16", GOLDEN "gpt-neox", GOLDEN "qwen3", GOLDEN "llama-f16"};
    kvs_sampling s = t_sampling(T_DET_TOKENS);
    s.logprobs = 1;
    t_seed(2);
    for (size_t m = 0; m < KVS__COUNT(model); m++) {
        t_det want, got;
        t_det_run(model[m], &t_det_base, &s, &want);
        for (int i = 0; i < (t_long ? 200 : 12); i++) {
            t_variant v = {t_range(0, 15), t_range(1, 80), t_range(0, T_DET_PROMPT), t_range(0, 6), t_range(1, 4), t_range(1, 3), t_range(0, 1), t_range(0, 3)};
            if (v.isa && !t_isa_there((kvs_isa)v.isa)) v.isa = KVS_ISA_AUTO;
            t_det_run(model[m], &v, &s, &got);
            t_det_same(model[m], &v, &want, &got);
        }
    }
}

/* A prefix hit of each length, and a preemption after each single step. */
static void test_determinism_each_length_and_step(void)
{
    kvs_sampling s = t_sampling(T_DET_TOKENS);
    t_det want, got;
    s.logprobs = 1;
    t_det_run(GOLDEN "llama-bf16", &t_det_base, &s, &want);
    for (int hit = 1; hit <= T_DET_PROMPT; hit++) {
        t_variant v = t_det_base;
        v.hit = hit;
        t_det_run(GOLDEN "llama-bf16", &v, &s, &got);
        t_det_same(GOLDEN "llama-bf16", &v, &want, &got);
    }
    for (int at = 1; at < T_DET_TOKENS; at++) {
        t_variant v = t_det_base;
        v.preempt = at; v.budget = 16;
        t_det_run(GOLDEN "llama-bf16", &v, &s, &got);
        CHECK(got.preempted > 0);
        t_det_same(GOLDEN "llama-bf16", &v, &want, &got);
    }
}

/* A pool so small that the scheduler itself preempts: everybody's output is what it is alone. */
static void test_determinism_small_pool(void)
{
    kvs_config c;
    enum { N = 6 };
    int32_t ids[N][40], alone[N][40], got[N][40];
    int n_got[N] = {0};
    t_zero_config(&c, GOLDEN "llama-bf16");
    kvs_sampling s = t_sampling(40);
    kvs_engine *big = t_open(&c);
    if (!big) return;
    c.kv_cache_bytes = 8 * big->plan.page_bytes;             /* 128 tokens for six requests of up to 80 */
    c.max_model_len = 100;
    kvs_engine *small = t_open(&c);
    if (!small) { kvs_close(big); return; }
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < 40; k++) ids[i][k] = 2 + (k * 13 + i * 29 + k * k) % 120;
        kvs_prompt p = t_prompt(ids[i], 40);
        p.user = got[i];
        CHECK_EQ_INT(t_run_one(big, &p, &s, alone[i], NULL, 40), 40);
        CHECK_EQ_INT(kvs_submit(small, &p, &s, NULL), KVS_OK);
    }
    kvs_output o;
    while (kvs_step(small) == KVS_OK) {
        CHECK_EQ_INT(kvs_check(small), KVS_OK);
        while (kvs_poll(small, &o)) {
            int i = (int)((int32_t (*)[40])o.user - got);
            for (size_t k = 0; k < o.n_tokens && n_got[i] < 40; k++) got[i][n_got[i]++] = o.tokens[k];
        }
    }
    kvs_stats st;
    kvs_stats_get(small, &st);
    CHECK_MSG(st.preemptions > 0, "the pool was meant to be too small");
    for (int i = 0; i < N; i++) CHECK(n_got[i] == 40 && memcmp(got[i], alone[i], sizeof got[i]) == 0);
    kvs_close(big);
    kvs_close(small);
}

SUITE(determinism)
{
    RUN(test_determinism_tiny);
    RUN(test_determinism_gqa);
    RUN(test_determinism_window);
    RUN(test_determinism_alibi);
    RUN(test_determinism_bf16);
    RUN(test_determinism_random_mixtures);
    RUN(test_determinism_each_length_and_step);
    RUN(test_determinism_small_pool);
}
