/* bench.c - how fast is it, and how fast could it be on this machine at this minute?

   You see: a table. Each row is a way of using the engine; beside the speed stand the limit that physics sets, the
   share of it that was reached, and what the machine could do just then (bench_probe.h). Nothing is downloaded: the
   models are shapes with random weights, which take the same time as trained ones.
   Build:   cc -O2 examples/bench.c -o build/bench -lm -lpthread
   Try:     build/bench --quick              under a minute; ends with lines "row NAME VALUE UNIT LIMIT PERCENT"
            build/bench --shape tinyllama-1.1b --rows decode --svg bench.svg
            build/bench --model DIR          a real checkpoint; --config FILE: random weights of any shape

   The rows
       prefill C        one new prompt of C tokens, one token out; at most 512 tokens a step. tok/s counts the prompt
       decode B @C      B requests with prompts of C tokens of their own. Timed are whole steps that make B tokens,
                        after the prompts; no prefix cache. Contexts have grown a little: the limit uses the true ones
       mixed N          N requests of 128..768 tokens in and 32..96 out; one arrives every 6 steps, while others run.
                        tok/s counts the output
       TTFT cold C      ms from submit to the first token: C + 32 tokens that nobody has sent before
       TTFT hit C       the same, when another request began with the same C tokens
   The limit is the slower of two floors, with the probes before and after each repetition:
       DRAM   (weights + keys and values that a step reads, each once) / bandwidth; none if all of it fits the cache
       maths  (2 per weight and token, 4 per head element and key) / peak flops

   Against another engine, which is run alternately with this one, repetition by repetition. In the command {kind}
   {batch} {context} {threads} {dtype} stand for the row's; the last number of its last line counts, or the last match
   of --against-regex. llama.cpp and ik_llama.cpp (older: -fa without "on"; decode of one: -p 0 -n 32 -d {context}):
       build/bench --rows prefill --against-regex '"avg_ts": ([0-9.]+)' \
           --against 'llama-bench -m M.gguf -t {threads} -p {context} -n 0 -fa 1 -r 1 -o json'
       build/bench --rows decode --against-regex '"speed_tg": ([0-9.]+)' \
           --against 'llama-batched-bench -m M.gguf -t {threads} -c 300000 -b 2048 -fa on -npp {context} -ntg 32
                      -npl {batch} --output-format jsonl'
   Next:    bench_probe.h, how the machine is measured. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"
#include "bench_probe.h"
#include <regex.h>
#include <signal.h>
#include <sys/resource.h>

#define MAX_REPS   64
#define MAX_ROWS   64
#define MAX_BATCH  64
#define STEPS      32                   /* timed steps of one decode repetition; fewer if they are slow */
#define TAIL       32                   /* tokens after a shared prefix */
#define N_MIXED    16
#define ARRIVAL    6                    /* steps between two arrivals */

/* ---- what there is to measure ---- */

typedef struct shape { const char *name; int D, L, H, HKV, Dh, F, V, tied; double theta; int max_pos; } shape;

/* TinyLlama was made for 2048 positions; more cost nothing, and the rows with context 4096 need them. */
static const shape shapes[] = {
    {"smollm2-135m", 576, 30, 9, 3, 64, 1536, 49152, 1, 100000, 8192},
    {"tinyllama-1.1b", 2048, 22, 32, 4, 64, 5632, 32000, 0, 10000, 8192}};

/* How weights are held and multiplied; KV is bf16 in all of them. standard: measured when --dtype is not given.
   int8 weights will be one more line (1.03 bytes with the scales, a peak of their own) and one more in open_engine. */
typedef struct variant { const char *name; kvs_dtype dtype; double bytes; probe_peak peak; int standard; } variant;
static const variant variants[] = {
    {"bf16", KVS_BF16, 2, PROBE_BF16, 1},
    {"f16", KVS_F16, 2, PROBE_F32, 0},
    {"f32", KVS_F32, 4, PROBE_F32, 0}};

typedef enum kind { PREFILL, DECODE, MIXED, COLD, HIT } kind;
static const char *const kind_name[] = {"prefill", "decode", "mixed", "ttft-cold", "ttft-hit"};

/* One repetition of a unit of work (a decode step, a prompt, a workload): its time, and what it asks of the machine. */
typedef struct sample {
    double seconds, flops, bytes;
    probe p;                            /* around it */
    double floor; int by_dram;          /* seconds that it must take at least */
    double share;                       /* of its threads' time, how much they had a processor for */
    double peer;                        /* tok/s of the other engine just after, or 0 */
} sample;

typedef struct row {
    kind kind; int batch, context;
    const variant *v;
    char name[32], id[48], note[128];
    int n; sample s[MAX_REPS];
    double amount;                      /* tokens in a unit; 0: the figure is its time in ms */
    double median, min, max, limit, percent, share, peer, ratio;       /* of the repetitions */
    probe p; int by_dram;
} row;

typedef struct options {
    const char *model, *config, *shape, *dtype, *rows, *json, *svg, *against, *regex;
    int reps, threads, quick; double seconds; kvs_isa isa;
} options;

typedef struct bench {
    options o;
    char title[64], cpu[80];
    const char *dir; int dummy;         /* model folder; random weights */
    row rows[MAX_ROWS]; int n_rows, at;
    double start, room;                 /* room: bytes of memory that KV may take */
    prober prober; size_t cache;
    regex_t regex;
    uint64_t rng;
    kvs_engine *e;                      /* the engine that is open, */
    const variant *v; int family;       /* what it was opened for, */
    kvs_model_info info; kvs_memory_plan plan; int tied;       /* and what it says of itself */
    double prefill_rate;                /* the best seen, tokens/s: foresees the time of a row */
    double made;                        /* tokens made since the requests of this row started */
    kvs_request request[MAX_BATCH];
    double wait[N_MIXED * MAX_REPS], pace[N_MIXED * MAX_REPS]; int n_wait;
} bench;

#include "bench_report.h"

/* ---- small things ---- */

static int fail(const bench *b, const char *what)
{
    progress(b, NULL, 0, 0);
    fprintf(stderr, "bench: %s: %s\n", what, b->e ? kvs_last_error(b->e) : "");
    return -1;
}

static int draw(uint64_t *rng, int n)                  /* 0..n-1 */
{
    *rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
    return (int)((*rng >> 33) % (uint64_t)n);
}

static double available_memory(void)
{
    char line[128];
    double kb = 0;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f)) if (sscanf(line, "MemAvailable: %lf", &kb) == 1) break;
    if (f) fclose(f);
    return kb > 0 ? kb * 1024 : 0.5 * (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
}

/* ---- a model folder with nothing but a config.json; gone at the end, also after ^C ---- */

static char temp_dir[256], temp_file[300];

static void temp_remove(void)
{
    if (temp_file[0]) unlink(temp_file);
    if (temp_dir[0]) rmdir(temp_dir);
}
static void on_signal(int sig) { temp_remove(); _exit(128 + sig); }

static int temp_model(const char *config)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(temp_dir, sizeof temp_dir, "%s/kvserve-bench-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(temp_dir)) { temp_dir[0] = 0; return -1; }
    snprintf(temp_file, sizeof temp_file, "%s/config.json", temp_dir);
    atexit(temp_remove);
    signal(SIGINT, on_signal);
    signal(SIGTERM, on_signal);
    FILE *f = fopen(temp_file, "w");
    if (!f) return -1;
    int failed = fputs(config, f) < 0;
    return fclose(f) || failed ? -1 : 0;
}

static int temp_shape(const shape *s)
{
    char t[1024];
    snprintf(t, sizeof t,
             "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"torch_dtype\": \"bfloat16\",\n"
             " \"hidden_size\": %d, \"num_hidden_layers\": %d, \"num_attention_heads\": %d, \"num_key_value_heads\": %d,\n"
             " \"head_dim\": %d, \"intermediate_size\": %d, \"vocab_size\": %d, \"tie_word_embeddings\": %s,\n"
             " \"rope_theta\": %.1f, \"max_position_embeddings\": %d, \"rms_norm_eps\": 1e-05, \"hidden_act\": \"silu\",\n"
             " \"bos_token_id\": 1, \"eos_token_id\": 2}\n",
             s->D, s->L, s->H, s->HKV, s->Dh, s->F, s->V, s->tied ? "true" : "false", s->theta, s->max_pos);
    return temp_model(t);
}

/* Is the output head the embedding table? config.json says so, or else it is the custom of the family. */
static int find_tied(const bench *b)
{
    static const char untied[] = "LlamaForCausalLM MistralForCausalLM Qwen2ForCausalLM Qwen3ForCausalLM PhiForCausalLM "
                                 "Phi3ForCausalLM GPTNeoXForCausalLM StableLmForCausalLM";
    static const char key[] = "\"tie_word_embeddings\"";
    char path[4096];
    snprintf(path, sizeof path, "%s/config.json", b->dir);
    char *text = read_text(path), *at = text ? strstr(text, key) : NULL;
    int tied = !strstr(untied, b->info.architecture);
    if (at) tied = at[sizeof key - 1 + strspn(at + sizeof key - 1, ": \t\r\n")] == 't';
    free(text);
    return tied;
}

/* ---- engines: one family of rows shares one ---- */

enum { FAMILY_PREFILL, FAMILY_DECODE, FAMILY_SERVE };
static int family_of(const row *r)
{
    return r->kind == PREFILL ? FAMILY_PREFILL : r->kind == DECODE ? FAMILY_DECODE : FAMILY_SERVE;
}

/* Tokens that one request of a decode row may make: the first ones already decode while the last ones prefill. */
static int decode_room(const bench *b, const row *r)
{
    return r->batch * r->context / 1024 + r->batch + b->o.reps * (STEPS + 1) + 64;
}
static int longest(const bench *b, const row *r)
{
    return r->kind == MIXED ? 768 + 96 : r->context + (r->kind == DECODE ? decode_room(b, r) : TAIL + 1);
}
static double pool_tokens(const bench *b, const row *r)
{
    return (r->kind == DECODE ? r->batch : r->kind == MIXED ? N_MIXED : 4) * (longest(b, r) + 16.0);
}
static double pool_bytes(const bench *b, const row *r) { return pool_tokens(b, r) * (double)b->plan.token_bytes; }

static void on_load(uint64_t done, uint64_t total, const char *what, void *user)
{
    (void)what;
    progress((const bench *)user, "loading, MB", (int)(done >> 20), (int)(total >> 20));
}

/* The pool holds the largest row of the family that fits the memory. */
static int open_engine(bench *b, const row *r)
{
    kvs_config c;
    char err[KVS_MAX_ERROR];
    double tokens = 512;
    if (b->e && b->v == r->v && b->family == family_of(r)) return 0;
    kvs_close(b->e);
    b->e = NULL; b->v = r->v; b->family = family_of(r);
    memset(&c, 0, sizeof c);
    c.model = b->dir; c.load_format = b->dummy ? KVS_LOAD_DUMMY : KVS_LOAD_AUTO;
    c.dtype = r->v->dtype; c.kv_cache_dtype = KVS_BF16;
    c.num_threads = b->o.threads; c.isa = b->o.isa;
    c.no_prefix_cache = b->family != FAMILY_SERVE;
    c.max_num_batched_tokens = b->family == FAMILY_DECODE ? 2048 : 512;     /* larger steps keep the contexts alike */
    c.max_num_seqs = 1;
    c.progress = on_load; c.progress_user = b;
    if (kvs_plan(&c, &b->plan, err) < 0) { fprintf(stderr, "bench: %s\n", err); return -1; }
    b->room = 0.8 * available_memory() - (double)(b->plan.weight_bytes + b->plan.mapped_bytes);
    for (const row *x = b->rows; x < b->rows + b->n_rows; x++) {
        if (x->v != r->v || family_of(x) != b->family || pool_bytes(b, x) > b->room) continue;
        if (pool_tokens(b, x) > tokens) tokens = pool_tokens(b, x);
        if (x->batch > c.max_num_seqs) c.max_num_seqs = x->batch;
    }
    c.kv_cache_bytes = (uint64_t)tokens * b->plan.token_bytes;
    if (kvs_open(&c, &b->e) < 0) return fail(b, "kvs_open");
    kvs_model_info_get(b->e, &b->info);
    b->tied = find_tied(b);
    b->prober.n_threads = b->info.num_threads < PROBE_MAX_THREADS ? b->info.num_threads : PROBE_MAX_THREADS;
    b->prober.kind = r->v->peak;
    return 0;
}

/* ---- what a piece of work asks of the machine ---- */

static double head_weights(const bench *b) { return (double)b->info.vocab_size * b->info.hidden; }
static double body_weights(const bench *b) { return (double)b->info.n_params - (b->tied ? 1 : 2) * head_weights(b); }
static double weight_bytes(const bench *b) { return (body_weights(b) + head_weights(b)) * b->v->bytes; }
static double key_flops(const bench *b) { return 4.0 * b->info.n_layers * b->info.n_heads * b->info.head_dim; }

/* n tokens of a prompt after the first `before`, 512 a step, and the logits of the last. */
static void ask_prompt(const bench *b, sample *s, double before, double n)
{
    s->flops += 2 * body_weights(b) * n + key_flops(b) * (n * before + n * (n + 1) / 2) + 2 * head_weights(b);
    for (double end = before; end < before + n; ) {
        end = end + 512 < before + n ? end + 512 : before + n;
        s->bytes += weight_bytes(b) + end * (double)b->plan.token_bytes;
    }
}

/* n tokens of decode that see `keys` keys together, in `steps` steps. */
static void ask_decode(const bench *b, sample *s, double n, double keys, double steps)
{
    s->flops += 2 * (body_weights(b) + head_weights(b)) * n + key_flops(b) * keys;
    s->bytes += weight_bytes(b) * steps + keys * (double)b->plan.token_bytes;
}

static void find_floor(const bench *b, sample *s)
{
    double band = s->p.dram_all > s->p.dram_one ? s->p.dram_all : s->p.dram_one;
    double maths = s->flops / s->p.peak, dram = s->bytes < (double)b->cache ? 0 : s->bytes / band;
    s->by_dram = dram > maths;
    s->floor = s->by_dram ? dram : maths;
}

/* ---- driving the engine ---- */

/* Submits a prompt; the caller's ids, or n random ones. */
static int submit(bench *b, const int32_t *ids, int n, int max_tokens, kvs_request *out)
{
    kvs_prompt p;
    kvs_sampling s;
    int32_t *own = ids ? NULL : (int32_t *)malloc((size_t)n * sizeof *own);
    for (int i = 0; own && i < n; i++) own[i] = draw(&b->rng, b->info.vocab_size);
    memset(&p, 0, sizeof p);
    memset(&s, 0, sizeof s);
    p.tokens = ids ? ids : own; p.n_tokens = (size_t)n;
    s.max_tokens = max_tokens; s.ignore_eos = 1;
    kvs_result r = kvs_submit(b->e, &p, &s, out);
    free(own);
    return r < 0 ? fail(b, "kvs_submit") : 0;
}

/* One step and everything it gave: *tokens made; *last, the piece that ended a request. 1 worked, 0 idle, -1 failed. */
static int step(bench *b, int *tokens, kvs_output *last)
{
    kvs_output o;
    kvs_result r = kvs_step(b->e);
    *tokens = 0;
    while (kvs_poll(b->e, &o)) {
        *tokens += (int)o.n_tokens;
        if (o.finish_reason == KVS_FINISH_ERROR) return fail(b, "a request ended with an error");
        if (o.finish_reason && last) *last = o;
    }
    b->made += *tokens;
    return r < 0 ? fail(b, "kvs_step") : r == KVS_OK;
}

/* Seconds from submit to the first token, or -1. */
static double first_token(bench *b, const int32_t *ids, int n, int *cached)
{
    kvs_output last;
    int tokens, more;
    double t0 = probe_now(), t = -1;
    memset(&last, 0, sizeof last);
    if (submit(b, ids, n, 1, NULL)) return -1;
    while ((more = step(b, &tokens, &last)) == 1)
        if (tokens && t < 0) { t = probe_now() - t0; *cached = last.cached_tokens; }
    return more < 0 ? -1 : t;
}

/* ---- the rows ---- */

/* Time for what a row does before its first repetition, at the best speed seen so far. */
static double prompt_seconds(const bench *b, const row *r)
{
    return r->kind == DECODE && b->prefill_rate > 0 ? r->batch * r->context / b->prefill_rate : 0;
}

static int out_of_time(const bench *b, double more)
{
    return b->o.seconds > 0 && probe_now() + more > b->start + b->o.seconds;
}

static void saw_prefill(bench *b, double rate) { if (rate > b->prefill_rate) b->prefill_rate = rate; }

/* Brings B requests to where all of them decode. 1: no time for it. */
static int decode_begin(bench *b, const row *r)
{
    int tokens = 0, more = 1;
    double t0 = probe_now();
    kvs_stats st;
    b->made = 0;
    for (int i = 0; i < r->batch; i++)
        if (submit(b, NULL, r->context, decode_room(b, r), &b->request[i])) return -1;
    while (tokens != r->batch && more == 1) {   /* the step that ends the last prompt makes a token for everybody */
        more = step(b, &tokens, NULL);
        kvs_stats_get(b->e, &st);
        progress(b, "running", st.running, r->batch);
        if (out_of_time(b, 0)) return 1;
    }
    saw_prefill(b, r->batch * r->context / (probe_now() - t0));
    return more == 1 ? 0 : fail(b, "requests ended before all of them ran");
}

/* Mean of up to STEPS steps in which every request makes one token, after one that wakes the threads. */
static int decode_sample(bench *b, const row *r, sample *s)
{
    int n = 0, tokens;
    double keys = 0, t0 = 0, t = 0, enough = b->o.quick ? 0.25 : 0.5;
    for (; n <= STEPS && (n <= 4 || t < enough); n++) {
        if (n == 1) t0 = probe_now();
        if (n) keys += (double)r->batch * r->context + b->made;
        if (step(b, &tokens, NULL) < 0) return -1;
        if (tokens != r->batch) return fail(b, "a decode step did not make one token for each request");
        if (n) t = probe_now() - t0;
    }
    s->seconds = t / (n - 1);
    ask_decode(b, s, r->batch, keys / (n - 1), 1);
    return 0;
}

static int decode_end(bench *b, const row *r)
{
    int tokens, more;
    for (int i = 0; i < r->batch; i++) kvs_cancel(b->e, b->request[i]);
    while ((more = step(b, &tokens, NULL)) == 1) continue;
    return more;
}

/* PREFILL and COLD: a prompt of random tokens. HIT: first one that leaves its prefix in the cache. */
static int prompt_sample(bench *b, row *r, sample *s)
{
    int n = r->context + (r->kind == PREFILL ? 0 : TAIL), cached = 0;
    int32_t *ids = (int32_t *)malloc((size_t)n * sizeof *ids);
    if (!ids) return fail(b, "out of memory");
    for (int i = 0; i < n; i++) ids[i] = draw(&b->rng, b->info.vocab_size);
    double t = r->kind == HIT ? first_token(b, ids, n, &cached) : 0;
    for (int i = r->context; i < n; i++) ids[i] = draw(&b->rng, b->info.vocab_size);
    if (t >= 0) t = first_token(b, ids, n, &cached);
    free(ids);
    if (t < 0) return -1;
    s->seconds = t;
    ask_prompt(b, s, cached, n - cached);
    if (r->kind == HIT) snprintf(r->note, sizeof r->note, "%d of %d tokens found in the prefix cache", cached, n);
    else saw_prefill(b, n / t);
    return 0;
}

/* The lengths are the same in each repetition, the tokens are not. The weights count once for each step. */
static int mixed_sample(bench *b, row *r, sample *s)
{
    int done = 0, sent = 0;
    uint64_t lengths = 7;
    kvs_output o;
    double t0 = probe_now();
    r->amount = 0;
    for (int i = 0; done < N_MIXED; i++) {
        if (sent < N_MIXED && i % ARRIVAL == 0) {
            int n_in = 128 + draw(&lengths, 641), n_out = 32 + draw(&lengths, 65);
            sample alone = {0};
            if (submit(b, NULL, n_in, n_out, NULL)) return -1;
            ask_prompt(b, &alone, 0, n_in);
            s->flops += alone.flops;
            ask_decode(b, s, n_out - 1, (n_out - 1) * (n_in + 0.5 * n_out), 0);
            r->amount += n_out;
            sent++;
        }
        if (kvs_step(b->e) < 0) return fail(b, "kvs_step");
        s->bytes += weight_bytes(b);
        while (kvs_poll(b->e, &o)) {
            if (!o.finish_reason) continue;
            b->wait[b->n_wait] = o.time_first_token;
            b->pace[b->n_wait++] = (o.time_total - o.time_first_token) / (o.completion_tokens - 1);
            done++;
        }
    }
    s->seconds = probe_now() - t0;
    return 0;
}

/* ---- another engine ---- */

/* The command with {words} replaced by what the row is. */
static void peer_command(const bench *b, const row *r, char *out, size_t cap)
{
    char batch[16], context[16], threads[16];
    snprintf(batch, 16, "%d", r->batch);
    snprintf(context, 16, "%d", r->context);
    snprintf(threads, 16, "%d", b->info.num_threads);
    const char *word[][2] = {{"{kind}", kind_name[r->kind]}, {"{batch}", batch}, {"{context}", context},
                             {"{threads}", threads}, {"{dtype}", r->v->name}};
    size_t n = 0;
    for (const char *p = b->o.against; *p && n + 32 < cap; ) {
        size_t i = 0;
        while (i < KVS__COUNT(word) && strncmp(p, word[i][0], strlen(word[i][0]))) i++;
        if (i == KVS__COUNT(word)) { out[n++] = *p++; continue; }
        n += (size_t)snprintf(out + n, cap - n, "%s", word[i][1]);
        p += strlen(word[i][0]);
    }
    out[n] = 0;
}

/* The number in a line of its output, or -1: the last match of the regex, or the last number there is. */
static double peer_number(const bench *b, const char *p)
{
    regmatch_t m[2];
    double v = -1;
    for (; b->o.regex && *p && !regexec(&b->regex, p, 2, m, 0); p += m[0].rm_eo > 0 ? m[0].rm_eo : 1)
        v = strtod(p + m[m[1].rm_so >= 0].rm_so, NULL);
    for (char *end; !b->o.regex && *p; p = end > p ? end : p + 1) {
        double x = strtod(p, &end);
        if (end > p && x >= 0) v = x;
    }
    return v;
}

/* tok/s that the command reports; 0 if it fails or says nothing. */
static double peer_run(const bench *b, const row *r)
{
    char command[4096], line[16384];
    double v = -1;
    peer_command(b, r, command, sizeof command);
    fflush(stdout);
    FILE *f = popen(command, "r");
    while (f && fgets(line, sizeof line, f)) {
        if (!line[strspn(line, " \t\r\n")]) continue;
        double x = peer_number(b, line);
        if (x >= 0 || !b->o.regex) v = x;              /* without a regex only the last line counts */
    }
    return f && pclose(f) == 0 && v > 0 ? v : 0;
}

/* ---- one row ---- */

static double cpu_seconds(void)                        /* of all threads; one that waits in a step spins first, and counts */
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* 1: the row cannot be measured; its note says why. */
static int skip_row(const bench *b, row *r)
{
    if (longest(b, r) >= b->info.max_position)
        snprintf(r->note, sizeof r->note, "skipped: the model ends at %d tokens", b->info.max_position);
    else if (pool_bytes(b, r) > b->room)
        snprintf(r->note, sizeof r->note, "skipped: %.1f GB of KV, %.1f free", pool_bytes(b, r) * 1e-9, b->room * 1e-9);
    else if (out_of_time(b, prompt_seconds(b, r)))
        snprintf(r->note, sizeof r->note, "skipped: no time left for %.0f s of prompts", prompt_seconds(b, r));
    return r->note[0] != 0;
}

static int row_sample(bench *b, row *r, sample *s)
{
    if (r->kind == DECODE) return decode_sample(b, r, s);
    return r->kind == MIXED ? mixed_sample(b, r, s) : prompt_sample(b, r, s);
}

/* When a row should stop repeating: what is left without the prompts of the rows to come, in equal shares. */
static double row_end(const bench *b, const row *r)
{
    double now = probe_now(), left = b->o.seconds - (now - b->start);
    for (const row *x = r + 1; x < b->rows + b->n_rows; x++) if (prompt_seconds(b, x) < left) left -= prompt_seconds(b, x);
    return now + left / (double)(b->rows + b->n_rows - r);
}

/* 0: measured, or skipped with a note; -1: an error that ends the program. */
static int run_row(bench *b, row *r)
{
    sample warm = {0};
    if (open_engine(b, r)) return -1;
    if (skip_row(b, r)) return 0;
    b->n_wait = 0;
    r->amount = r->kind == PREFILL ? r->context : r->kind == DECODE ? r->batch : 0;
    int begun = r->kind == DECODE ? decode_begin(b, r) : r->kind == MIXED ? 0 : prompt_sample(b, r, &warm);
    if (begun < 0) return -1;
    if (begun > 0) { snprintf(r->note, sizeof r->note, "given up: no time left"); return decode_end(b, r); }
    double until = row_end(b, r);
    probe before = probe_take(&b->prober);
    for (int i = 0; i < b->o.reps; i++) {
        if (b->o.seconds > 0 && (i >= 3 ? probe_now() > until : i && out_of_time(b, 0))) break;
        sample *s = &r->s[i];
        progress(b, "repetition", i + 1, b->o.reps);
        double t = probe_now(), cpu = cpu_seconds();
        if (row_sample(b, r, s)) return -1;
        s->share = (cpu_seconds() - cpu) / ((probe_now() - t) * b->info.num_threads);
        if (b->o.against && r->kind <= DECODE) s->peer = peer_run(b, r);
        probe after = probe_take(&b->prober);
        s->p = probe_mean(before, after);
        before = after;
        find_floor(b, s);
        r->n++;
    }
    summarize(b, r);
    return r->kind == DECODE ? decode_end(b, r) : 0;
}

/* ---- the command line ---- */

static void usage(void)
{
    fprintf(stderr,
        "bench [options]\n"
        "  --quick           under a minute, with lines for scripts   --shape NAME   smollm2-135m or tinyllama-1.1b\n"
        "  --model DIR       a checkpoint                             --config FILE  random weights of that shape\n"
        "  --rows TEXT       only rows whose name contains it         --dtype NAME   bf16, f16, f32 weights\n"
        "  --reps N          repetitions (5)                          --threads N    (all)\n"
        "  --isa NAME        portable, avx2, avx512 (the best)        --seconds N    measure less, to end about then\n"
        "  --json FILE       everything, by repetition                --svg FILE     a plot\n"
        "  --against 'COMMAND' [--against-regex RE]                   another engine: see the top of bench.c\n");
}

static int parse_isa(const char *s, kvs_isa *out)
{
    static const char *const names[] = {"auto", "portable", "avx2", "avx512"};
    for (int i = 0; i < 4; i++) if (!strcmp(s, names[i])) { *out = (kvs_isa)i; return 0; }
    return -1;
}

static int parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(a, "--quick")) { o->quick = 1; continue; }
        if (!v) return -1;
        if (!strcmp(a, "--model")) o->model = v;
        else if (!strcmp(a, "--config")) o->config = v;
        else if (!strcmp(a, "--shape")) o->shape = v;
        else if (!strcmp(a, "--rows")) o->rows = v;
        else if (!strcmp(a, "--dtype")) o->dtype = v;
        else if (!strcmp(a, "--reps")) o->reps = atoi(v);
        else if (!strcmp(a, "--threads")) o->threads = atoi(v);
        else if (!strcmp(a, "--isa")) { if (parse_isa(v, &o->isa)) return -1; }
        else if (!strcmp(a, "--seconds")) o->seconds = atof(v);
        else if (!strcmp(a, "--json")) o->json = v;
        else if (!strcmp(a, "--svg")) o->svg = v;
        else if (!strcmp(a, "--against")) o->against = v;
        else if (!strcmp(a, "--against-regex")) o->regex = v;
        else return -1;
        i++;
    }
    if (o->quick && o->seconds <= 0) o->seconds = 44;
    return o->reps > 0 && o->reps <= MAX_REPS ? 0 : -1;
}

static void add_row(bench *b, const variant *v, kind k, int batch, int context)
{
    row *r = &b->rows[b->n_rows];
    if (b->n_rows == MAX_ROWS) return;
    memset(r, 0, sizeof *r);
    r->kind = k; r->batch = batch; r->context = context; r->v = v;
    if (k == PREFILL) snprintf(r->name, sizeof r->name, "prefill %d", context);
    else if (k == DECODE) snprintf(r->name, sizeof r->name, "decode %d @%d", batch, context);
    else if (k == MIXED) snprintf(r->name, sizeof r->name, "mixed %d", batch);
    else snprintf(r->name, sizeof r->name, "TTFT %s %d, ms", k == COLD ? "cold" : "hit", context);
    if (k == DECODE) snprintf(r->id, sizeof r->id, "%s-decode-%d-%d", v->name, batch, context);
    else snprintf(r->id, sizeof r->id, "%s-%s-%d", v->name, kind_name[k], k == MIXED ? batch : context);
    if (!b->o.rows || strstr(r->name, b->o.rows) || strstr(r->id, b->o.rows)) b->n_rows++;
}

static void choose_rows(bench *b)
{
    for (size_t i = 0; i < KVS__COUNT(variants); i++) {
        const variant *v = &variants[i];
        if (b->o.dtype ? strcmp(b->o.dtype, v->name) : !v->standard) continue;
        add_row(b, v, PREFILL, 1, 512);
        if (b->o.quick) {
            for (int n = 1; n <= 32; n = n == 1 ? 8 : n * 4) add_row(b, v, DECODE, n, 512);
            continue;
        }
        add_row(b, v, PREFILL, 1, 4096);
        for (int c = 512; c <= 4096; c *= 8)
            for (int n = 1; n <= MAX_BATCH; n *= 2) add_row(b, v, DECODE, n, c);
        add_row(b, v, MIXED, N_MIXED, 0);
        for (int c = 512; c <= 4096; c *= 8) { add_row(b, v, COLD, 1, c); add_row(b, v, HIT, 1, c); }
    }
}

/* Finds or makes the model folder. */
static int choose_model(bench *b)
{
    const options *o = &b->o;
    const char *name = o->model ? o->model : o->config ? o->config : o->shape, *slash = strrchr(name, '/');
    int failed = 0;
    snprintf(b->title, sizeof b->title, "%s", slash && slash[1] ? slash + 1 : name);
    b->dummy = !o->model;
    b->dir = o->model ? o->model : temp_dir;
    if (o->model) return 0;
    if (o->config) {
        char *text = read_text(o->config);
        failed = !text || temp_model(text);
        free(text);
    } else {
        size_t i = 0;
        while (i < KVS__COUNT(shapes) && strcmp(name, shapes[i].name)) i++;
        failed = i == KVS__COUNT(shapes) || temp_shape(&shapes[i]);
    }
    if (failed) fprintf(stderr, "bench: %s: no such shape or file, or no temporary folder for its config.json\n", name);
    return failed ? -1 : 0;
}

static int run_all(bench *b)
{
    if (choose_model(b) || open_engine(b, &b->rows[0])) return -1;
    if (probe_open(&b->prober, b->info.num_threads, b->rows[0].v->peak)) return fail(b, "no memory for the probes");
    print_head(b);
    for (b->at = 0; b->at < b->n_rows; b->at++) {
        if (run_row(b, &b->rows[b->at])) return -1;
        print_row(b, &b->rows[b->at]);
    }
    print_foot(b);
    if (b->o.json && write_json(b, b->o.json)) return fail(b, b->o.json);
    if (b->o.svg && write_svg(b, b->o.svg)) return fail(b, b->o.svg);
    return 0;
}

int main(int argc, char **argv)
{
    static bench b;
    b.o.reps = 5; b.o.shape = shapes[0].name; b.rng = 1;
    b.start = probe_now();
    b.cache = probe_cache_bytes();
    if (parse(argc, argv, &b.o)) { usage(); return 2; }
    if (b.o.regex && regcomp(&b.regex, b.o.regex, REG_EXTENDED)) { fprintf(stderr, "bench: bad --against-regex\n"); return 2; }
    choose_rows(&b);
    if (!b.n_rows) { fprintf(stderr, "bench: no such row\n"); return 2; }
    int failed = run_all(&b);
    kvs_close(b.e);
    return failed != 0;
}
