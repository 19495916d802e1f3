/* The engine against the reference library: every family's logits and greedy tokens (tests/golden), and the public functions'
   contracts: sizes, ownership, errors, threads, no allocation while stepping. */

#define GOLDEN "tests/golden/models/"
#define TINY   "examples/tiny"

/* ---- helpers that other suites use too ---- */

static void t_zero_config(kvs_config *c, const char *model)
{
    memset(c, 0, sizeof *c);
    c->model = model;
    c->kv_cache_bytes = 4 << 20;
    c->max_num_seqs = 32;
    c->max_num_batched_tokens = 64;
}

static kvs_engine *t_open(const kvs_config *c)
{
    kvs_engine *e;
    kvs_result r = kvs_open(c, &e);
    CHECK_MSG(r == KVS_OK, "kvs_open %s: %s", c->model, kvs_last_error(e));
    if (r < 0) { kvs_close(e); return NULL; }
    return e;
}

static kvs_prompt t_prompt(const int32_t *ids, size_t n)
{
    kvs_prompt p;
    memset(&p, 0, sizeof p);
    p.tokens = ids; p.n_tokens = n;
    return p;
}

static kvs_sampling t_sampling(int max_tokens)
{
    kvs_sampling s;
    memset(&s, 0, sizeof s);
    s.max_tokens = max_tokens; s.ignore_eos = 1;
    return s;
}

/* A golden.json: arrays of numbers by name. */
typedef struct t_golden { kvs__mem mem; kvs__json j; char *text; } t_golden;

static int t_golden_open(t_golden *g, const char *name)
{
    char path[256];
    size_t n;
    kvs__err e;
    memset(g, 0, sizeof *g);
    kvs__mem_init(&g->mem, NULL);
    snprintf(path, sizeof path, GOLDEN "%s/golden.json", name);
    g->text = t_read(path, &n);
    CHECK_MSG(g->text != NULL, "%s is missing", path);
    return g->text && kvs__json_parse(&g->mem, g->text, n, path, &g->j, &e) >= 0 ? 0 : -1;
}
static void t_golden_close(t_golden *g) { kvs__json_free(&g->j); free(g->text); }

static size_t t_golden_numbers(const t_golden *g, const kvs__json_node *a, double *out, size_t cap)
{
    size_t n = 0;
    for (const kvs__json_node *x = a ? kvs__json_first(&g->j, a) : NULL; x && n < cap; x = kvs__json_next(&g->j, x)) out[n++] = kvs__json_num(x, NAN);
    return n;
}
static size_t t_golden_ids(const t_golden *g, const char *key, int32_t *out, size_t cap)
{
    double v[256];
    size_t n = t_golden_numbers(g, kvs__json_get(&g->j, kvs__json_root(&g->j), key), v, cap < 256 ? cap : 256);
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)v[i];
    return n;
}

/* Runs one prompt to its end; out gets the tokens. Returns their number. */
static int t_run_one(kvs_engine *e, const kvs_prompt *p, const kvs_sampling *s, int32_t *out, float *logprobs, int cap)
{
    kvs_output o;
    int n = 0;
    kvs_result r = kvs_submit(e, p, s, NULL);
    CHECK_MSG(r == KVS_OK, "kvs_submit: %s", kvs_last_error(e));
    while (r >= 0 && (r = kvs_step(e)) == KVS_OK)
        while (kvs_poll(e, &o))
            for (size_t i = 0; i < o.n_tokens && n < cap; i++) { if (logprobs) logprobs[n] = o.logprobs ? o.logprobs[i] : 0; out[n++] = o.tokens[i]; }
    CHECK_MSG(r == KVS_IDLE, "kvs_step: %s", kvs_last_error(e));
    CHECK_MSG(kvs_check(e) == KVS_OK, "kvs_check: %s", kvs_last_error(e));
    return n;
}

/* ---- golden families ---- */

/* Largest difference of the last computed row of logits to the golden ones, in units of their standard deviation. */
static double t_logit_error(kvs_engine *e, const double *want, size_t V, double std)
{
    double worst = 0;
    float *got = (float *)malloc(V * sizeof *got);
    e->be->download(e->fwd.ctx, got, e->fwd.logits, V * sizeof *got);
    for (size_t i = 0; i < V; i++) {
        double d = fabs((double)got[i] - want[i]) / std;
        if (!(d <= worst)) worst = d;
    }
    free(got);
    return worst;
}

static void t_golden_model(const char *name, kvs_attention how)
{
    t_golden g;
    kvs_config c;
    char dir[256];
    double want[512];
    int32_t prompt[64], greedy[64], got[64];
    kvs_sampling s = t_sampling(1);
    snprintf(dir, sizeof dir, GOLDEN "%s", name);
    t_zero_config(&c, dir);
    c.dtype = KVS_F32; c.kv_cache_dtype = KVS_F32; c.attention = how; c.no_prefix_cache = 1;
    if (t_golden_open(&g, name)) return;
    kvs_engine *e = t_open(&c);
    if (!e) { t_golden_close(&g); return; }
    const kvs__json_node *root = kvs__json_root(&g.j);
    size_t n = t_golden_ids(&g, "prompt", prompt, 64), m = t_golden_ids(&g, "greedy", greedy, 64);
    double std = kvs__json_num(kvs__json_get(&g.j, root, "logits_std"), 0), pos[2];
    t_golden_numbers(&g, kvs__json_get(&g.j, root, "positions"), pos, 2);
    const kvs__json_node *row = kvs__json_first(&g.j, kvs__json_get(&g.j, root, "logits_first_rows"));
    for (int i = 0; i < 3; i++) {
        size_t len = i < 2 ? (size_t)pos[i] + 1 : n;
        size_t V = t_golden_numbers(&g, i < 2 ? row : kvs__json_get(&g.j, root, "logits_last"), want, 512);
        if (i < 2) row = kvs__json_next(&g.j, row);
        kvs_prompt p = t_prompt(prompt, len);
        CHECK_EQ_INT(t_run_one(e, &p, &s, got, NULL, 64), 1);
        double err = t_logit_error(e, want, V, std);
        CHECK_MSG(V == (size_t)e->model.cfg.V && err < 1e-4, "%s: logits of position %zu differ by %.2g of their deviation", name, len - 1, err);
    }
    s.max_tokens = (int32_t)m;
    kvs_prompt p = t_prompt(prompt, n);
    CHECK_EQ_INT(t_run_one(e, &p, &s, got, NULL, 64), m);
    for (size_t i = 0; i < m; i++) CHECK_MSG(got[i] == greedy[i], "%s: greedy token %zu is %d, expected %d", name, i, got[i], greedy[i]);
    kvs_close(e);
    t_golden_close(&g);
}

/* Families that the engine refuses by name until their maths is implemented. */
static int t_golden_refused(const char *name)
{
    static const char *const refused[] = {"gemma2", "mpt-clip"};
    kvs_config c;
    kvs_engine *e;
    char dir[256];
    for (size_t i = 0; i < KVS__COUNT(refused); i++) {
        if (strcmp(name, refused[i])) continue;
        snprintf(dir, sizeof dir, GOLDEN "%s", name);
        t_zero_config(&c, dir);
        CHECK_MSG(kvs_open(&c, &e) == KVS_ERR_UNSUPPORTED, "%s: expected KVS_ERR_UNSUPPORTED: %s", name, kvs_last_error(e));
        CHECK_HAS(kvs_last_error(e), "config.json");
        kvs_close(e);
        return 1;
    }
    return 0;
}

static void t_golden_all(kvs_attention how)
{
    char *names = t_read(GOLDEN "names.txt", NULL);
    int n = 0;
    CHECK(names != NULL);
    for (char *s = names ? strtok(names, "\n") : NULL; s; s = strtok(NULL, "\n"), n++)
        if (!t_golden_refused(s)) t_golden_model(s, how);
    CHECK(n >= 30);
    free(names);
}
static void test_engine_golden_families(void) { t_golden_all(KVS_ATTENTION_FLASH); }
static void test_engine_golden_families_naive(void) { t_golden_all(KVS_ATTENTION_NAIVE); }

/* ---- the bundled model ---- */

static void test_engine_tiny_answers(void)
{
    kvs_config c;
    size_t len;
    kvs__err err;
    char *text = t_read(TINY "/expected.json", &len), got[4096] = "";
    kvs__mem mem;
    kvs__json j;
    t_zero_config(&c, TINY);
    memset(&j, 0, sizeof j);
    kvs__mem_init(&mem, NULL);
    kvs_engine *e = t_open(&c);
    if (!e || !text || kvs__json_parse(&mem, text, len, "expected.json", &j, &err) < 0) { CHECK(!"expected.json"); kvs_close(e); free(text); return; }
    kvs_prompt p;
    memset(&p, 0, sizeof p);
    p.text = kvs__json_str(&j, kvs__json_get(&j, kvs__json_root(&j), "prompt"), NULL);
    kvs_output o;
    kvs_finish why = KVS_FINISH_NONE;
    CHECK_EQ_INT(kvs_submit(e, &p, NULL, NULL), KVS_OK);
    while (kvs_step(e) == KVS_OK)
        while (kvs_poll(e, &o)) {
            CHECK(o.text[o.text_len] == 0);
            if (strlen(got) + o.text_len < sizeof got) strcat(got, o.text);
            why = o.finish_reason;
        }
    CHECK_STR(got, kvs__json_str(&j, kvs__json_get(&j, kvs__json_root(&j), "text"), NULL));
    CHECK_EQ_INT(why, KVS_FINISH_STOP);
    kvs__json_free(&j);
    kvs_close(e);
    free(text);
}

/* ---- sizes ---- */

typedef struct t_counting { uint64_t live, peak, calls; int fail_at; } t_counting;
static void *t_count_alloc(size_t n, void *user)
{
    t_counting *c = (t_counting *)user;
    if (c->fail_at && __atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED) >= (uint64_t)c->fail_at) return NULL;
    if (!c->fail_at) __atomic_add_fetch(&c->calls, 1, __ATOMIC_RELAXED);
    size_t *p = (size_t *)malloc(n + 16);
    if (!p) return NULL;
    *p = n;
    __atomic_add_fetch(&c->live, n, __ATOMIC_RELAXED);
    return p + 2;
}
static void t_count_free(void *ptr, void *user)
{
    t_counting *c = (t_counting *)user;
    size_t *p = (size_t *)ptr - 2;
    __atomic_sub_fetch(&c->live, *p, __ATOMIC_RELAXED);
    free(p);
}
static void t_count_into(kvs_config *c, t_counting *k)
{
    memset(k, 0, sizeof *k);
    c->allocator.alloc = t_count_alloc; c->allocator.free = t_count_free; c->allocator.user = k;
}

/* What kvs_plan says is what kvs_open allocates, but for headers of a few bytes and what describes the model (config, names, tokenizer). */
static void test_engine_plan_is_exact(void)
{
    kvs_config c;
    kvs_memory_plan p, q;
    t_counting k;
    char err[KVS_MAX_ERROR];
    t_zero_config(&c, GOLDEN "llama1-mha");              /* no tokenizer */
    t_count_into(&c, &k);
    CHECK_EQ_INT(kvs_plan(&c, &p, err), KVS_OK);
    CHECK_EQ_INT(k.live, 0);
    kvs_engine *e = t_open(&c);
    if (!e) return;
    CHECK(p.total_bytes == p.weight_bytes + p.kv_bytes + p.workspace_bytes + p.host_bytes);
    CHECK(p.kv_bytes == p.num_blocks * p.page_bytes && p.kv_bytes <= c.kv_cache_bytes);
    uint64_t rest = e->mem.live + e->blk->mem.live;      /* the engine's own counters: without the backend */
    CHECK_MSG(k.live >= p.total_bytes && k.live <= p.total_bytes + 400000, "plan %llu, allocated %llu",
              (unsigned long long)p.total_bytes, (unsigned long long)k.live);
    CHECK(rest <= k.live);
    c.kv_cache_bytes = 8 << 20;                          /* what changes between two plans is exactly what changes in memory */
    uint64_t before = k.live;
    kvs_close(e);
    CHECK_EQ_INT(k.live, 0);
    CHECK_EQ_INT(kvs_plan(&c, &q, err), KVS_OK);
    if (!(e = t_open(&c))) return;
    CHECK_EQ_INT((int64_t)(k.live - before), (int64_t)(q.total_bytes - p.total_bytes));
    kvs_close(e);
    CHECK_EQ_INT(k.live, 0);
}

static void test_engine_step_allocates_nothing(void)
{
    kvs_config c;
    t_counting k;
    kvs_output o;
    t_zero_config(&c, TINY);
    t_count_into(&c, &k);
    kvs_engine *e = t_open(&c);
    if (!e) return;
    for (int i = 0; i < 8; i++) {
        kvs_prompt p;
        kvs_sampling s = t_sampling(40);
        const char *stop = "zzzz";
        memset(&p, 0, sizeof p);
        p.text = i % 2 ? "What is a block table?" : "What is preemption, and why does it not change the output of a request?";
        s.logprobs = i % 3; s.n = 1 + i % 3; s.temperature = (float)(i % 2); s.repetition_penalty = 1.1f; s.top_p = 0.9f;
        s.stop = &stop; s.n_stop = 1;
        CHECK_EQ_INT(kvs_submit(e, &p, &s, NULL), KVS_OK);
    }
    uint64_t calls = k.calls;
    int steps = 0;
    for (; kvs_step(e) == KVS_OK; steps++) while (kvs_poll(e, &o)) {}
    CHECK_MSG(k.calls == calls, "%llu allocations in %d steps", (unsigned long long)(k.calls - calls), steps);
    kvs_close(e);
    CHECK_EQ_INT(k.live, 0);
}

/* Every single allocation of opening and submitting fails once: an error, no leak, no crash. */
static void test_engine_out_of_memory(void)
{
    kvs_config c;
    t_counting k;
    kvs_engine *e;
    const int32_t ids[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
    t_zero_config(&c, GOLDEN "llama-tied-stale");
    t_count_into(&c, &k);
    for (int at = 1; at < 4000; at += at < 40 || t_long ? 1 : 7) {
        memset(&k, 0, sizeof k);
        k.fail_at = at;
        kvs_result r = kvs_open(&c, &e);
        if (r == KVS_OK) {
            kvs_prompt p = t_prompt(ids, 20);
            kvs_sampling s = t_sampling(4);
            r = kvs_submit(e, &p, &s, NULL);
            while (r >= 0 && (r = kvs_step(e)) == KVS_OK) { kvs_output o; while (kvs_poll(e, &o)) {} }
        }
        CHECK_MSG(r == KVS_ERR_MEMORY || r == KVS_IDLE, "allocation %d fails: %s (%s)", at, kvs_result_str(r), kvs_last_error(e));
        kvs_close(e);
        CHECK_MSG(k.live == 0, "allocation %d fails: %llu bytes leaked", at, (unsigned long long)k.live);
        if (r == KVS_IDLE) break;                        /* more than there are */
    }
}

/* Random weights by config.json alone: every family's shapes, no file of weights, the plan still exact. */
static void test_engine_dummy_weights(void)
{
    const char *const model[] = {"llama-sharded", "gpt2", "falcon-40b", "opt-350m", "phi"};
    int32_t ids[5] = {1, 2, 3, 4, 5}, got[8];
    for (size_t i = 0; i < KVS__COUNT(model); i++)
        for (int d = KVS_AUTO; d <= KVS_BF16; d++) {
            char from[256], dir[] = "/tmp/kvs_dummy_XXXXXX", to[64], *text;
            kvs_config c;
            kvs_memory_plan plan;
            CHECK(mkdtemp(dir) != NULL);
            snprintf(from, sizeof from, GOLDEN "%s/config.json", model[i]);
            snprintf(to, sizeof to, "%s/config.json", dir);
            text = t_read(from, NULL);
            FILE *f = fopen(to, "w");
            CHECK(text && f && fputs(text, f) >= 0);
            if (f) fclose(f);
            free(text);
            t_zero_config(&c, dir);
            kvs_engine *e;
            CHECK(kvs_open(&c, &e) < 0);                     /* without the switch, weights are missed */
            kvs_close(e);
            c.load_format = KVS_LOAD_DUMMY; c.dtype = (kvs_dtype)d;
            CHECK_EQ_INT(kvs_plan(&c, &plan, NULL), KVS_OK);
            if ((e = t_open(&c)) != NULL) {
                kvs_prompt p = t_prompt(ids, 5);
                kvs_sampling s = t_sampling(8);
                CHECK_EQ_INT(e->model.dtype, d == KVS_AUTO ? KVS_BF16 : d);
                CHECK_EQ_INT(e->plan.total_bytes, plan.total_bytes);
                CHECK_EQ_INT(t_run_one(e, &p, &s, got, NULL, 8), 8);
                kvs_close(e);
            }
            remove(to);
            remove(dir);
        }
}

/* ---- contracts ---- */

static void test_engine_null_and_stale(void)
{
    kvs_config c;
    kvs_engine *e = (kvs_engine *)&c;
    kvs_request gone = {123456};
    kvs_stats st;
    kvs_sampling s;
    kvs_memory_plan plan;
    kvs_output o;
    t_zero_config(&c, TINY);
    CHECK_EQ_INT(kvs_open(NULL, &e), KVS_ERR_INVALID);
    CHECK(e == NULL);
    CHECK_EQ_INT(kvs_open(&c, NULL), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_plan(NULL, &plan, NULL), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_plan(&c, NULL, NULL), KVS_ERR_INVALID);
    kvs_close(NULL);
    CHECK(kvs_last_error(NULL) != NULL);
    CHECK_EQ_INT(kvs_step(NULL), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_poll(NULL, &o), 0);
    CHECK_EQ_INT(kvs_cancel(NULL, gone), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_submit(NULL, NULL, NULL, NULL), KVS_ERR_INVALID);
    kvs_stats_get(NULL, &st);
    kvs_sampling_default(NULL, &s);
    CHECK_EQ_INT(st.steps, 0);
    CHECK_EQ_INT(kvs_check(NULL), KVS_ERR_INVALID);
    if (!(e = t_open(&c))) return;
    CHECK_EQ_INT(kvs_submit(e, NULL, NULL, NULL), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_cancel(e, gone), KVS_ERR_STALE);
    gone.id = 0;
    CHECK_EQ_INT(kvs_cancel(e, gone), KVS_ERR_STALE);
    CHECK_EQ_INT(kvs_step(e), KVS_IDLE);
    CHECK_EQ_INT(kvs_poll(e, NULL), 0);
    kvs_prompt p;
    memset(&p, 0, sizeof p);
    CHECK_EQ_INT(kvs_submit(e, &p, NULL, NULL), KVS_ERR_INVALID);
    CHECK_HAS(kvs_last_error(e), "text or tokens");
    const int32_t bad[2] = {1, 1 << 30}, neg[1] = {-1};
    p = t_prompt(bad, 2);
    CHECK_EQ_INT(kvs_submit(e, &p, NULL, NULL), KVS_ERR_INVALID);
    CHECK_HAS(kvs_last_error(e), "prompt token 1");
    p = t_prompt(neg, 1);
    CHECK_EQ_INT(kvs_submit(e, &p, NULL, NULL), KVS_ERR_INVALID);
    p = t_prompt(bad, 0);
    CHECK_EQ_INT(kvs_submit(e, &p, NULL, NULL), KVS_ERR_INVALID);
    CHECK_HAS(kvs_last_error(e), "empty");
    /* a handle dies in the step after its last piece was polled; its slot's next tenant has another id */
    kvs_request a, b;
    kvs_sampling one = t_sampling(1);
    const int32_t ok[3] = {5, 6, 7};
    p = t_prompt(ok, 3);
    CHECK_EQ_INT(kvs_submit(e, &p, &one, &a), KVS_OK);
    while (kvs_step(e) == KVS_OK) while (kvs_poll(e, &o)) {}
    CHECK_EQ_INT(kvs_cancel(e, a), KVS_ERR_STALE);
    for (int i = 0; i < 64; i++) {
        CHECK_EQ_INT(kvs_submit(e, &p, &one, &b), KVS_OK);
        CHECK(b.id != a.id && b.id != 0);
        while (kvs_step(e) == KVS_OK) while (kvs_poll(e, &o)) {}
    }
    kvs_close(e);
}

static void t_open_fails(kvs_config *c, kvs_result want, const char *words)
{
    kvs_engine *e;
    kvs_output o;
    kvs_prompt p;
    memset(&p, 0, sizeof p);
    p.text = "x";
    CHECK_MSG(kvs_open(c, &e) == want, "expected %s, got: %s", kvs_result_str(want), kvs_last_error(e));
    CHECK(e != NULL);
    CHECK_HAS(kvs_last_error(e), words);
    CHECK(kvs_submit(e, &p, NULL, NULL) < 0 && kvs_step(e) < 0 && kvs_poll(e, &o) == 0 && kvs_check(e) < 0);   /* a failed engine answers */
    kvs_close(e);
}

static void test_engine_bad_config(void)
{
    kvs_config good, c;
    t_zero_config(&good, TINY);
    c = good; c.model = NULL;                       t_open_fails(&c, KVS_ERR_INVALID, "model");
    c = good; c.model = "no/such/folder";           t_open_fails(&c, KVS_ERR_IO, "no/such/folder");
    c = good; c.dtype = KVS_INT8;                   t_open_fails(&c, KVS_ERR_UNSUPPORTED, "dtype");
    c = good; c.kv_cache_dtype = KVS_FP8_E4M3;      t_open_fails(&c, KVS_ERR_UNSUPPORTED, "kv_cache_dtype");
    c = good; c.block_size = -1;                    t_open_fails(&c, KVS_ERR_INVALID, "block_size");
    c = good; c.block_size = 24;                    t_open_fails(&c, KVS_ERR_UNSUPPORTED, "block_size");
    c = good; c.max_num_seqs = -4;                  t_open_fails(&c, KVS_ERR_INVALID, "max_num_seqs");
    c = good; c.max_num_batched_tokens = -1;        t_open_fails(&c, KVS_ERR_INVALID, "max_num_batched_tokens");
    c = good; c.gpu_memory_utilization = 1.5f;      t_open_fails(&c, KVS_ERR_INVALID, "gpu_memory_utilization");
    c = good; c.gpu_memory_utilization = NAN;       t_open_fails(&c, KVS_ERR_INVALID, "gpu_memory_utilization");
    c = good; c.max_model_len = 1 << 20;            t_open_fails(&c, KVS_ERR_INVALID, "max_model_len");
    c = good; c.kv_cache_bytes = 1;                 t_open_fails(&c, KVS_ERR_CAPACITY, "blocks");
    c = good; c.max_model_len = 512; c.kv_cache_bytes = 1 << 16;  t_open_fails(&c, KVS_ERR_CAPACITY, "max_model_len");
    c = good; c.attention = (kvs_attention)7;       t_open_fails(&c, KVS_ERR_INVALID, "attention");
    c = good; c.device = KVS_DEVICE_CUDA;           t_open_fails(&c, KVS_ERR_BACKEND, "cuda");
    kvs_backend other = *kvs_cpu_backend();
    other.abi = 99;
    c = good; c.backend = &other;                   t_open_fails(&c, KVS_ERR_BACKEND, "ABI");
}

static void test_engine_config_resolve(void)
{
    kvs_config c, r;
    memset(&c, 0, sizeof c);
    kvs_config_resolve(&c, &r);
    CHECK_EQ_INT(r.block_size, 16);
    CHECK_EQ_INT(r.max_num_seqs, 256);
    CHECK_EQ_INT(r.max_num_batched_tokens, 512);
    CHECK(r.gpu_memory_utilization > 0.89f && r.gpu_memory_utilization < 0.91f);
    CHECK(r.backend == kvs_cpu_backend());
    c.kv_layout = KVS_LAYOUT_STATIC;
    kvs_config_resolve(&c, &r);
    CHECK_EQ_INT(r.no_prefix_cache, 1);
}

static void test_engine_generate(void)
{
    kvs_config c;
    kvs_completion *out;
    kvs_prompt p[3];
    kvs_output o;
    kvs_request other;
    int32_t ids[3][24], lone[64];
    t_zero_config(&c, GOLDEN "llama1-mha");
    kvs_engine *e = t_open(&c);
    if (!e) return;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 24; k++) ids[i][k] = (i * 7 + k * 3) % 120 + 1;
        p[i] = t_prompt(ids[i], (size_t)(10 + 7 * i));
    }
    kvs_sampling s = t_sampling(9);
    CHECK_EQ_INT(kvs_submit(e, &p[0], &s, &other), KVS_OK);       /* somebody else's request is not swallowed */
    p[1].tokens = ids[1]; p[1].n_tokens = 0;                      /* a refused prompt does not stop the others */
    s.n = 2; s.temperature = 0.8f; s.seed = 5; s.logprobs = 1;
    CHECK_EQ_INT(kvs_generate(e, p, 3, &s, &out), KVS_OK);
    for (int i = 0; out && i < 6; i++) {
        CHECK(out[i].prompt_index == i / 2 && out[i].index == i % 2);
        CHECK_EQ_INT(out[i].result, i / 2 == 1 ? KVS_ERR_INVALID : KVS_OK);
        CHECK_EQ_INT(out[i].n_tokens, i / 2 == 1 ? 0 : 9);
        CHECK_EQ_INT(out[i].finish_reason, i / 2 == 1 ? KVS_FINISH_ERROR : KVS_FINISH_LENGTH);
    }
    CHECK(out && memcmp(out[0].tokens, out[1].tokens, 9 * sizeof(int32_t)) != 0);   /* two streams */
    int seen = 0, got = 0;
    while (kvs_poll(e, &o)) { seen += o.request.id == other.id; got += (int)o.n_tokens; }
    CHECK_EQ_INT(seen, 1);                                        /* one piece with everything that was not polled */
    CHECK_EQ_INT(got, 9);
    kvs_completions_free(e, out, 6);
    s.n = 1; s.seed = 5;
    CHECK_EQ_INT(t_run_one(e, &p[0], &s, lone, NULL, 64), 9);
    kvs_close(e);
}

/* Threads submit and cancel while one steps. */
typedef struct t_worker { kvs_engine *e; int seed, refused, submitted, cancelled; } t_worker;

static void *t_worker_main(void *arg)
{
    t_worker *w = (t_worker *)arg;
    int32_t ids[40];
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 40; k++) ids[k] = 1 + (w->seed * 31 + k * (i % 3 + 1)) % 100;
        kvs_prompt p = t_prompt(ids, (size_t)(5 + (i * 7 + w->seed) % 34));
        kvs_sampling s = t_sampling(1 + i % 9);
        kvs_request r;
        kvs_stats st;
        s.n = 1 + i % 2;
        if (i % 10 == 9) { s.top_p = 7; w->refused += kvs_submit(w->e, &p, &s, &r) == KVS_ERR_INVALID && strstr(kvs_last_error(w->e), "top_p"); continue; }
        if (kvs_submit(w->e, &p, &s, &r) == KVS_OK) w->submitted += s.n;
        if (i % 4 == 1 && kvs_cancel(w->e, r) == KVS_OK) w->cancelled++;
        kvs_stats_get(w->e, &st);
    }
    return NULL;
}

static void test_engine_threads(void)
{
    kvs_config c;
    pthread_t th[3];
    t_worker w[3];
    kvs_output o;
    t_zero_config(&c, GOLDEN "llama1-mha");
    c.kv_cache_bytes = 600000;                       /* small: preemptions too */
    kvs_engine *e = t_open(&c);
    if (!e) return;
    for (int i = 0; i < 3; i++) {
        memset(&w[i], 0, sizeof w[i]);
        w[i].e = e; w[i].seed = i;
        CHECK(pthread_create(&th[i], NULL, t_worker_main, &w[i]) == 0);
    }
    int finished = 0, want = -1;
    for (int spin = 0; spin < 200000 && finished != want; spin++) {
        kvs_result r = kvs_step(e);
        CHECK_MSG(r >= 0, "kvs_step: %s", kvs_last_error(e));
        while (kvs_poll(e, &o)) finished += o.finish_reason != KVS_FINISH_NONE;
        if (spin % 16 == 0) CHECK_MSG(kvs_check(e) == KVS_OK, "kvs_check: %s", kvs_last_error(e));
        if (r == KVS_IDLE && want < 0) {
            want = 0;
            for (int i = 0; i < 3; i++) { pthread_join(th[i], NULL); want += w[i].submitted; CHECK_EQ_INT(w[i].refused, 4); }
        }
    }
    if (want < 0) for (int i = 0; i < 3; i++) pthread_join(th[i], NULL);
    CHECK_EQ_INT(finished, want);
    kvs_stats st;
    kvs_step(e);
    kvs_stats_get(e, &st);
    CHECK(st.blocks_used == 0 && st.blocks_free + st.blocks_cached == st.blocks_total && st.waiting + st.running == 0);
    kvs_close(e);
}

static void test_engine_two_engines(void)
{
    kvs_config c;
    int32_t ids[20], a[16], b[16], alone[16];
    for (int i = 0; i < 20; i++) ids[i] = i + 1;
    kvs_prompt p = t_prompt(ids, 20);
    kvs_sampling s = t_sampling(16);
    t_zero_config(&c, GOLDEN "llama1-mha");
    kvs_engine *x = t_open(&c);
    c.model = GOLDEN "gpt2";
    kvs_engine *y = t_open(&c);
    if (x && y) {
        t_run_one(x, &p, &s, alone, NULL, 16);
        kvs_submit(x, &p, &s, NULL);
        kvs_submit(y, &p, &s, NULL);
        int na = 0, nb = 0, more = 1;
        while (more) {                               /* interleaved */
            kvs_output o;
            more = (kvs_step(x) == KVS_OK) | (kvs_step(y) == KVS_OK);
            while (kvs_poll(x, &o)) for (size_t i = 0; i < o.n_tokens; i++) a[na++] = o.tokens[i];
            while (kvs_poll(y, &o)) for (size_t i = 0; i < o.n_tokens; i++) b[nb++] = o.tokens[i];
        }
        CHECK(na == 16 && nb == 16 && memcmp(a, alone, sizeof a) == 0 && memcmp(a, b, sizeof a) != 0);
    }
    kvs_close(x);
    kvs_close(y);
}

/* A backend that fails at a given sync: the requests of that step end with ERROR, nothing of it is cached, the engine goes on. */
static int t_fail_sync;
static kvs_result t_sync(void *ctx, char err[KVS_MAX_ERROR])
{
    kvs_result r = kvs_cpu_backend()->sync(ctx, err);
    if (t_fail_sync && --t_fail_sync == 0) { snprintf(err, KVS_MAX_ERROR, "the device fell off the bus"); return KVS_ERR_BACKEND; }
    return r;
}
static void test_engine_backend_failure(void)
{
    kvs_config c;
    kvs_backend be = *kvs_cpu_backend();
    kvs_output o;
    int32_t ids[40], good[8], after[8];
    for (int i = 0; i < 40; i++) ids[i] = i + 1;
    kvs_prompt p = t_prompt(ids, 40);
    kvs_sampling s = t_sampling(8);
    t_zero_config(&c, GOLDEN "llama1-mha");
    be.sync = t_sync; c.backend = &be; c.no_prefix_cache = 0;
    kvs_engine *e = t_open(&c);
    if (!e) return;
    t_fail_sync = 1;
    CHECK_EQ_INT(kvs_submit(e, &p, &s, NULL), KVS_OK);
    CHECK_EQ_INT(kvs_step(e), KVS_ERR_BACKEND);
    CHECK_HAS(kvs_last_error(e), "fell off");
    CHECK(kvs_poll(e, &o) == 1 && o.finish_reason == KVS_FINISH_ERROR);
    CHECK_EQ_INT(kvs_check(e), KVS_OK);
    kvs_stats st;
    kvs_step(e);
    kvs_stats_get(e, &st);
    CHECK_EQ_INT(st.blocks_cached, 0);
    t_run_one(e, &p, &s, after, NULL, 8);
    kvs_close(e);
    c.backend = NULL;
    if (!(e = t_open(&c))) return;
    t_run_one(e, &p, &s, good, NULL, 8);
    CHECK(memcmp(good, after, sizeof good) == 0);
    kvs_close(e);
}

SUITE(engine)
{
    RUN(test_engine_golden_families);
    RUN(test_engine_golden_families_naive);
    RUN(test_engine_tiny_answers);
    RUN(test_engine_plan_is_exact);
    RUN(test_engine_step_allocates_nothing);
    RUN(test_engine_out_of_memory);
    RUN(test_engine_dummy_weights);
    RUN(test_engine_null_and_stale);
    RUN(test_engine_bad_config);
    RUN(test_engine_config_resolve);
    RUN(test_engine_generate);
    RUN(test_engine_threads);
    RUN(test_engine_two_engines);
    RUN(test_engine_backend_failure);
}
