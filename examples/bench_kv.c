/* bench_kv.c - what each idea of KV memory is worth, one added at a time, on the same pool, kernels and requests.

   You see: a table. First static allocation and static batching (what serving was before 2022), then paged blocks, continuous
   batching, chunked prefill, prefix cache. The workload: REQUESTS requests arrive at once; each is a common system prompt, a question of
   its own, and an answer of its own length (all lengths drawn from seeded distributions; no early end). Gains are smaller when prompts
   share nothing (--system 0), when all lengths are equal, or when the pool is so large that nobody waits.
   Build:   cc -O2 examples/bench_kv.c -o build/bench_kv -lm -lpthread
   Run:     build/bench_kv --model examples/tiny          (--quick: a smaller workload, and a last line for scripts)
   Next:    README.md, the numbers. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

typedef struct options { const char *model; int requests, system, pool_tokens, max_len, quick; } options;

typedef struct request { int32_t *ids; int n_prompt, n_output; } request;

typedef struct row {
    const char *name;
    kvs_kv_layout layout; kvs_batching batching; int whole_prompts, no_prefix;
} row;

typedef struct result {
    double seconds, tokens, at_once, waste, use;    /* at_once, waste, use: means over steps in which somebody waited for room */
    double *ttft, *tpot; int n, full_steps, preemptions;
    double cached, prompt;
    int peak;
} result;

static uint64_t rng = 42;
static double uniform(void)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(rng >> 11) / 9007199254740992.0;
}
/* Lengths as chats have them: many short, few long. */
static int length(int lo, int hi) { double u = uniform(); return lo + (int)((hi - lo) * u * u); }

static request *workload(const options *o, int vocab)
{
    request *r = (request *)calloc((size_t)o->requests, sizeof *r);
    for (int i = 0; r && i < o->requests; i++) {
        int user = length(16, 160);
        r[i].n_prompt = o->system + user; r[i].n_output = length(32, 320);
        r[i].ids = (int32_t *)malloc((size_t)r[i].n_prompt * sizeof(int32_t));
        if (!r[i].ids) return NULL;
        for (int k = 0; k < r[i].n_prompt; k++)
            r[i].ids[k] = k < o->system ? 4 + (k * 31 + 7) % (vocab - 4) : 4 + (int32_t)(uniform() * (vocab - 4));
    }
    return r;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double quantile(double *v, int n, double q)
{
    if (!n) return 0;
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[(int)(q * (n - 1) + 0.5)];
}

static void observe(kvs_engine *e, result *x)
{
    kvs_stats s;
    kvs_stats_get(e, &s);
    if (s.running > x->peak) x->peak = s.running;
    if (!s.waiting || !s.blocks_used) return;
    x->full_steps++;
    x->at_once += s.running;
    x->waste += 1 - (double)s.tokens_held / ((double)s.blocks_used * 16);
    x->use += (double)s.tokens_held / ((double)s.blocks_total * 16);
    x->preemptions = (int)s.preemptions;
}

static int run(const options *o, const row *w, const request *r, result *x)
{
    kvs_config c;
    kvs_memory_plan plan;
    kvs_engine *e;
    kvs_output out;
    char err[KVS_MAX_ERROR];
    memset(&c, 0, sizeof c);
    c.model = o->model; c.max_model_len = o->max_len;
    c.kv_layout = w->layout; c.batching = w->batching; c.no_chunked_prefill = w->whole_prompts; c.no_prefix_cache = w->no_prefix;
    c.max_num_seqs = 128; c.max_num_batched_tokens = 256;
    if (kvs_plan(&c, &plan, err) < 0) { fprintf(stderr, "%s\n", err); return -1; }
    c.kv_cache_bytes = plan.token_bytes * (uint64_t)o->pool_tokens;
    if (kvs_open(&c, &e) < 0) { fprintf(stderr, "%s\n", kvs_last_error(e)); kvs_close(e); return -1; }
    memset(x, 0, sizeof *x);
    x->ttft = (double *)calloc((size_t)o->requests, sizeof(double)); x->tpot = (double *)calloc((size_t)o->requests, sizeof(double));
    for (int i = 0; i < o->requests; i++) {
        kvs_prompt p;
        kvs_sampling s;
        memset(&p, 0, sizeof p);
        memset(&s, 0, sizeof s);
        p.tokens = r[i].ids; p.n_tokens = (size_t)r[i].n_prompt;
        s.max_tokens = r[i].n_output; s.ignore_eos = 1;
        if (kvs_submit(e, &p, &s, NULL) < 0) { fprintf(stderr, "%s\n", kvs_last_error(e)); kvs_close(e); return -1; }
    }
    kvs_result res;
    while ((res = kvs_step(e)) == KVS_OK) {
        while (kvs_poll(e, &out)) {
            x->tokens += (double)out.n_tokens;
            if (!out.finish_reason) continue;
            x->ttft[x->n] = out.time_first_token;
            x->tpot[x->n++] = out.completion_tokens > 1 ? (out.time_total - out.time_first_token) / (out.completion_tokens - 1) : 0;
            x->cached += out.cached_tokens; x->prompt += out.prompt_tokens;
            x->seconds = out.time_total > x->seconds ? out.time_total : x->seconds;
        }
        observe(e, x);
    }
    if (res < 0) fprintf(stderr, "%s\n", kvs_last_error(e));
    kvs_close(e);
    if (x->full_steps) { x->at_once /= x->full_steps; x->waste /= x->full_steps; x->use /= x->full_steps; }
    return res < 0 ? -1 : 0;
}

static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick")) { o->quick = 1; o->requests = 64; continue; }
        if (i + 1 >= argc) return -1;
        if (!strcmp(argv[i], "--model")) o->model = argv[++i];
        else if (!strcmp(argv[i], "--requests")) o->requests = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--system")) o->system = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--pool-tokens")) o->pool_tokens = atoi(argv[++i]);
        else if (!strcmp(argv[i], "--max-len")) o->max_len = atoi(argv[++i]);
        else return -1;
    }
    return o->requests > 0 && o->system >= 0 && o->max_len >= o->system + 480 && o->pool_tokens >= o->max_len ? 0 : -1;
}

int main(int argc, char **argv)
{
    static const row rows[] = {
        {"static layout, static batches", KVS_LAYOUT_STATIC, KVS_BATCHING_STATIC, 1, 1},
        {"+ paged blocks", KVS_LAYOUT_PAGED, KVS_BATCHING_STATIC, 1, 1},
        {"+ continuous batching", KVS_LAYOUT_PAGED, KVS_BATCHING_CONTINUOUS, 1, 1},
        {"+ chunked prefill", KVS_LAYOUT_PAGED, KVS_BATCHING_CONTINUOUS, 0, 1},
        {"+ prefix cache", KVS_LAYOUT_PAGED, KVS_BATCHING_CONTINUOUS, 0, 0}};
    options o = {"examples/tiny", 192, 512, 8192, 2048, 0};
    result x[KVS__COUNT(rows)];
    kvs_config c;
    kvs_engine *e;
    if (parse(argc, argv, &o)) {
        fprintf(stderr, "bench_kv [--quick] [--model DIR] [--requests N] [--system TOKENS] [--pool-tokens N] [--max-len N, >= system + 480]\n");
        return 2;
    }
    memset(&c, 0, sizeof c);
    c.model = o.model; c.kv_cache_bytes = 1 << 26;
    if (kvs_open(&c, &e) < 0) { fprintf(stderr, "%s\n", kvs_last_error(e)); kvs_close(e); return 1; }
    kvs_model_info info;
    kvs_model_info_get(e, &info);
    request *r = workload(&o, info.vocab_size);
    kvs_close(e);
    printf("%d requests: %d common tokens + 16..160 own, 32..320 out; pool of %d tokens, max_model_len %d\n\n", o.requests, o.system, o.pool_tokens, o.max_len);
    printf("%-29s %8s %6s %6s %8s %13s %13s %5s\n", "", "at once", "waste", "use", "tok/s", "TTFT p50/p99", "TPOT p50/p99", "hits");
    for (size_t i = 0; r && i < KVS__COUNT(rows); i++) {
        if (run(&o, &rows[i], r, &x[i])) return 1;
        printf("%-29s %8.1f %5.1f%% %5.1f%% %8.0f %6.2f/%5.2fs %5.1f/%5.1fms %4.0f%%\n", rows[i].name, x[i].full_steps ? x[i].at_once : x[i].peak,
               100 * x[i].waste, 100 * x[i].use, x[i].tokens / x[i].seconds, quantile(x[i].ttft, x[i].n, .5), quantile(x[i].ttft, x[i].n, .99),
               1e3 * quantile(x[i].tpot, x[i].n, .5), 1e3 * quantile(x[i].tpot, x[i].n, .99), 100 * x[i].cached / x[i].prompt);
        fflush(stdout);
    }
    const result *last = &x[KVS__COUNT(rows) - 1], *paged = &x[3];
    printf("\nheadline %.1f paged %.1f waste %.1f use %.1f\n", last->tokens / last->seconds / (x[0].tokens / x[0].seconds),
           x[1].tokens / x[1].seconds / (x[0].tokens / x[0].seconds), 100 * paged->waste, 100 * paged->use);
    return 0;
}
