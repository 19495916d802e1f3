/* bench.c - how fast is it, and how fast could it be on this machine at this minute?

   You see: a table. Each row is a way of using the engine; beside the speed stand the limit that physics sets, the share of it that was
   reached, and what the machine could do in that minute (bench_probe.h). Nothing is downloaded: the models are shapes with random
   weights, which cost the same time as trained ones.
   Build:   cc -O2 examples/bench.c -o build/bench -lm -lpthread
   Try:     build/bench --quick                              under a minute; lines "row NAME VALUE UNIT LIMIT PERCENT" for scripts
            build/bench --shape tinyllama-1.1b --rows decode --svg bench.svg
            build/bench --model DIR                          a real checkpoint; --config FILE: random weights of any shape

   The rows
       prefill C        one new prompt of C tokens, one token out; at most 512 tokens a step. tok/s counts the prompt
       decode B @C      B requests with prompts of C tokens of their own; timed are whole steps that make B tokens, after the prompts.
                        No prefix cache. The context has grown a little by then: the limit uses the true one
       mixed N          N requests of 128..768 + 32..96 tokens; one arrives every 6 steps, while others run. tok/s counts the output
       TTFT cold C      ms from submit to the first token: a prompt of C + 32 tokens that nobody has sent before
       TTFT hit C       the same, when another request began with the same C tokens
   The limit is the slower of two floors, both with the probes of that row:
       DRAM   (weights + keys and values that a step reads, each once) / DRAM bandwidth; no floor if all of it fits the cache
       maths  (2 per weight and token, 4 per head element and key) / peak flops
   Against another engine, run alternately with ours, repetition by repetition. In the command {kind} {batch} {context} {threads} {dtype}
   are replaced by the row's, and the last number of its last line counts, or the last match of --against-regex:
       build/bench --rows prefill --against 'llama-bench -m M.gguf -t {threads} -p {context} -n 0 -fa 1 -r 1 -o json' \
                   --against-regex '"avg_ts": ([0-9.]+)'     llama.cpp or ik_llama.cpp. Decode, one request: -p 0 -n 32 -d {context}
       build/bench --rows decode --against 'llama-batched-bench -m M.gguf -t {threads} -c 300000 -b 2048 -fa on -npp {context} -ntg 32
                   -npl {batch} --output-format jsonl' --against-regex '"speed_tg": ([0-9.]+)'     (-fa without "on" in older ones)
   Next:    README.md, the numbers. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"
#include "bench_probe.h"
#include <regex.h>
#include <signal.h>

#define MAX_REPS   64
#define MAX_ROWS   64
#define STEPS      32                   /* timed steps of one decode repetition, fewer if they are slow */
#define TAIL       32                   /* tokens after a shared prefix */
#define N_MIXED    16
#define ARRIVAL    6                    /* steps between two arrivals */

/* ---- what there is to measure ---- */

typedef struct shape { const char *name; int D, L, H, HKV, Dh, F, V, tied; double theta; int max_pos; } shape;

/* max_pos of TinyLlama is 2048; more costs nothing, and the rows with context 4096 need it. */
static const shape shapes[] = {
    {"smollm2-135m", 576, 30, 9, 3, 64, 1536, 49152, 1, 100000, 8192},
    {"tinyllama-1.1b", 2048, 22, 32, 4, 64, 5632, 32000, 0, 10000, 8192}};

/* How weights are held and multiplied. KV is bf16 in all of them. int8 weights will be one more line: 1.03 bytes (with the scales), and a
   peak of their own; then kvs_config gets its quantization in open_engine. standard: measured when --dtype is not given. */
typedef struct variant { const char *name; kvs_dtype dtype; double bytes; probe_peak peak; int standard; } variant;
static const variant variants[] = {{"bf16", KVS_BF16, 2, PROBE_BF16, 1}, {"f16", KVS_F16, 2, PROBE_F32, 0}, {"f32", KVS_F32, 4, PROBE_F32, 0}};

typedef enum kind { PREFILL, DECODE, MIXED, COLD, HIT } kind;
static const char *const kind_name[] = {"prefill", "decode", "mixed", "ttft-cold", "ttft-hit"};

/* One repetition: a unit of work (a decode step, a prompt, a workload), the time it took, and what it asks of the machine. */
typedef struct sample { double seconds, flops, bytes; probe p; double peer; } sample;

typedef struct row {
    kind kind; int batch, context, quick;
    const variant *v;
    char name[32], id[48], note[160];
    int n; sample s[MAX_REPS];
    double amount;                      /* tokens in a unit; 0: the value is its time in ms */
    double median, min, max, limit, percent, peer, ratio;      /* filled by summarize */
    probe p; int by_dram;
} row;

typedef struct options {
    const char *model, *config, *shape, *dtype, *rows, *json, *svg, *against, *regex;
    int reps, threads, quick; double seconds; kvs_isa isa;
} options;

typedef struct bench {
    options o;
    char title[64];
    const char *dir;                    /* model folder */
    int dummy, tied;
    row rows[MAX_ROWS]; int n_rows, at;
    double start, room;                 /* room: bytes of memory for weights and KV */
    prober prober; size_t cache;
    regex_t regex;
    uint64_t rng;
    /* the engine that is open */
    kvs_engine *e;
    const variant *v; int family;       /* what it was opened for */
    kvs_model_info info;
    kvs_memory_plan plan;
    double prefill_rate;                /* tokens/s seen so far, to foresee the time of a row */
    /* the row that runs */
    double made;                        /* tokens made since its requests started */
    kvs_request request[256];
    double wait[N_MIXED * MAX_REPS], pace[N_MIXED * MAX_REPS]; int n_wait;
} bench;

/* ---- small things ---- */

static double median_of(const row *r, double (*get)(const sample *))
{
    double v[MAX_REPS];
    for (int i = 0; i < r->n; i++) v[i] = get(&r->s[i]);
    return probe_median(v, r->n);
}

static void progress(const bench *b, const char *what, int i, int n)
{
    if (!isatty(2)) return;
    fprintf(stderr, "\r\033[K");
    if (what) fprintf(stderr, "[%d/%d] %s: %s %d of %d", b->at + 1, b->n_rows, b->rows[b->at].name, what, i, n);
}

static int fail(const bench *b, const char *what)
{
    progress(b, NULL, 0, 0);
    fprintf(stderr, "bench: %s: %s\n", what, b->e ? kvs_last_error(b->e) : "no engine");
    return -1;
}

static int32_t random_token(bench *b)
{
    b->rng = b->rng * 6364136223846793005ull + 1442695040888963407ull;
    return (int32_t)((b->rng >> 33) % (uint64_t)b->info.vocab_size);
}

static char *read_text(const char *path)               /* NULL if it cannot be read; free it */
{
    FILE *f = fopen(path, "rb");
    char *s = f ? (char *)calloc(1, 1 << 20) : NULL;
    if (s && !fread(s, 1, (1 << 20) - 1, f)) { free(s); s = NULL; }
    if (f) fclose(f);
    return s;
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
             "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \"hidden_act\": \"silu\", \"torch_dtype\": \"bfloat16\",\n"
             " \"hidden_size\": %d, \"num_hidden_layers\": %d, \"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": %d,\n"
             " \"intermediate_size\": %d, \"vocab_size\": %d, \"tie_word_embeddings\": %s, \"rope_theta\": %.1f,\n"
             " \"max_position_embeddings\": %d, \"rms_norm_eps\": 1e-05, \"bos_token_id\": 1, \"eos_token_id\": 2}\n",
             s->D, s->L, s->H, s->HKV, s->Dh, s->F, s->V, s->tied ? "true" : "false", s->theta, s->max_pos);
    return temp_model(t);
}

/* Is the output head the embedding table? The public API does not say; config.json does, or else it is the custom of the family. */
static int find_tied(const bench *b)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/config.json", b->dir);
    char *s = read_text(path);
    const char *at = s ? strstr(s, "\"tie_word_embeddings\"") : NULL;
    int tied = at ? at[strcspn(at, "tf:") + 1] : 0;
    if (at) { at = strchr(at, ':'); tied = at && at[1 + strspn(at + 1, " \t\r\n")] == 't'; }
    else tied = !strstr("LlamaForCausalLM MistralForCausalLM Qwen2ForCausalLM Qwen3ForCausalLM PhiForCausalLM Phi3ForCausalLM "
                        "GPTNeoXForCausalLM StableLmForCausalLM", b->info.architecture);
    free(s);
    return tied;
}

/* ---- engines: one family of rows shares one ---- */

enum { FAMILY_PREFILL, FAMILY_DECODE, FAMILY_SERVE };
static int family_of(const row *r) { return r->kind == PREFILL ? FAMILY_PREFILL : r->kind == DECODE ? FAMILY_DECODE : FAMILY_SERVE; }

/* Tokens that one request of a decode row may make: the first ones decode while the last ones prefill. */
static int decode_room(const bench *b, const row *r) { return r->batch * r->context / 1024 + r->batch + b->o.reps * (STEPS + 1) + 64; }

static double pool_tokens(const bench *b, const row *r)
{
    return r->kind == DECODE ? (double)r->batch * (r->context + decode_room(b, r) + 16) :
           r->kind == MIXED ? N_MIXED * 1024.0 : 4.0 * (r->context + TAIL + 64);
}
static int longest(const bench *b, const row *r) { return r->kind == MIXED ? 1024 : r->context + (r->kind == DECODE ? decode_room(b, r) : TAIL + 2); }

static int fits(const bench *b, const row *r) { return pool_tokens(b, r) * (double)b->plan.token_bytes < b->room; }

static void on_load(uint64_t done, uint64_t total, const char *what, void *user)
{
    (void)what;
    progress((const bench *)user, "loading, MB", (int)(done >> 20), (int)(total >> 20));
}

static int open_engine(bench *b, const row *r)
{
    kvs_config c;
    char err[KVS_MAX_ERROR];
    double tokens = 0;
    int family = family_of(r), seqs = 1;
    if (b->e && b->v == r->v && b->family == family) return 0;
    kvs_close(b->e);
    b->e = NULL;
    memset(&c, 0, sizeof c);
    c.model = b->dir; c.load_format = b->dummy ? KVS_LOAD_DUMMY : KVS_LOAD_AUTO;
    c.dtype = r->v->dtype; c.kv_cache_dtype = KVS_BF16;
    c.num_threads = b->o.threads; c.isa = b->o.isa;
    c.no_prefix_cache = family != FAMILY_SERVE;
    c.max_num_batched_tokens = family == FAMILY_DECODE ? 2048 : 512;    /* DECODE: prompts are not timed; larger steps keep the lengths alike */
    c.progress = on_load; c.progress_user = b;
    if (kvs_plan(&c, &b->plan, err) < 0) { progress(b, NULL, 0, 0); fprintf(stderr, "bench: %s\n", err); return -1; }
    b->room = 0.8 * available_memory() - (double)(b->plan.weight_bytes + b->plan.mapped_bytes);
    for (const row *x = b->rows; x < b->rows + b->n_rows; x++) {
        if (x->v != r->v || family_of(x) != family || !fits(b, x)) continue;
        if (pool_tokens(b, x) > tokens) tokens = pool_tokens(b, x);
        if (x->batch > seqs) seqs = x->batch;
    }
    c.max_num_seqs = seqs;
    c.kv_cache_bytes = (uint64_t)(tokens > 512 ? tokens : 512) * b->plan.token_bytes;
    if (kvs_open(&c, &b->e) < 0) return fail(b, "kvs_open");
    kvs_model_info_get(b->e, &b->info);
    b->v = r->v; b->family = family; b->tied = find_tied(b);
    b->prober.n_threads = b->info.num_threads < PROBE_MAX_THREADS ? b->info.num_threads : PROBE_MAX_THREADS;
    b->prober.kind = r->v->peak;
    return 0;
}

/* ---- what a piece of work asks of the machine ---- */

static double head_weights(const bench *b) { return (double)b->info.vocab_size * b->info.hidden; }
static double body_weights(const bench *b) { return (double)b->info.n_params - (b->tied ? 1 : 2) * head_weights(b); }
static double weight_bytes(const bench *b) { return (body_weights(b) + head_weights(b)) * b->v->bytes; }
static double key_flops(const bench *b) { return 4.0 * b->info.n_layers * b->info.n_heads * b->info.head_dim; }

/* A prompt: rows n after the first `before` tokens, in steps of 512, and logits of the last. */
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

/* ---- driving the engine ---- */

static int submit(bench *b, const int32_t *ids, int n, int max_tokens, void *user, kvs_request *out)
{
    kvs_prompt p;
    kvs_sampling s;
    memset(&p, 0, sizeof p);
    memset(&s, 0, sizeof s);
    p.tokens = ids; p.n_tokens = (size_t)n; p.user = user;
    s.max_tokens = max_tokens; s.ignore_eos = 1;
    return kvs_submit(b->e, &p, &s, out) < 0 ? fail(b, "kvs_submit") : 0;
}

/* One step and everything it gave. *tokens: how many were made; *last: the last piece of a request that ended. 1, 0 idle, -1. */
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

/* Submits one prompt and takes one token of it; the time from submit to token, or < 0. Later steps (none, as a rule) are not timed. */
static double first_token(bench *b, const int32_t *ids, int n, int *cached)
{
    kvs_output last;
    int tokens, more;
    double t0 = probe_now(), t = 0;
    memset(&last, 0, sizeof last);
    if (submit(b, ids, n, 1, NULL, NULL)) return -1;
    while ((more = step(b, &tokens, &last)) == 1)
        if (tokens && t == 0) { t = probe_now() - t0; *cached = last.cached_tokens; }
    return more < 0 ? -1 : t;
}

static int32_t *random_prompt(bench *b, int n)
{
    int32_t *ids = (int32_t *)malloc((size_t)n * sizeof *ids);
    for (int i = 0; ids && i < n; i++) ids[i] = random_token(b);
    return ids;
}

/* ---- the rows: begin, repetitions, end ---- */

static int decode_begin(bench *b, row *r)
{
    int tokens = 0;
    double t0 = probe_now();
    b->made = 0;
    for (int i = 0; i < r->batch; i++) {
        int32_t *ids = random_prompt(b, r->context);
        int failed = !ids || submit(b, ids, r->context, decode_room(b, r), NULL, &b->request[i]);
        free(ids);
        if (failed) return -1;
    }
    while (tokens != r->batch) {                       /* the step that ends the last prompt makes a token for everybody */
        kvs_stats st;
        if (step(b, &tokens, NULL) != 1) return -1;
        kvs_stats_get(b->e, &st);
        progress(b, "running", st.running, r->batch);
    }
    b->prefill_rate = r->batch * r->context / (probe_now() - t0);
    return 0;
}

/* Mean of up to STEPS steps in which every request makes one token, after one that wakes the threads. */
static int decode_sample(bench *b, row *r, sample *s)
{
    int n = 0, tokens;
    double keys = 0, t0 = 0, t = 0, enough = b->o.quick ? 0.25 : 0.5;
    for (; n <= STEPS && (n <= 4 || t < enough); n++) {
        if (n == 1) t0 = probe_now();
        if (n) keys += (double)r->batch * r->context + b->made;
        if (step(b, &tokens, NULL) < 0) return -1;
        if (tokens != r->batch) { fprintf(stderr, "bench: a decode step made %d tokens of %d\n", tokens, r->batch); return -1; }
        t = n ? probe_now() - t0 : 0;
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
    int tail = r->kind == PREFILL ? 0 : TAIL, n = r->context + tail, cached = 0;
    int32_t *ids = random_prompt(b, n);
    double t = ids ? 0 : -1;
    if (r->kind == HIT && t == 0) {
        t = first_token(b, ids, n, &cached);
        for (int i = r->context; i < n; i++) ids[i] = random_token(b);
    }
    if (t >= 0) t = first_token(b, ids, n, &cached);
    free(ids);
    if (t < 0) return -1;
    s->seconds = t;
    ask_prompt(b, s, cached, n - cached);
    if (r->kind != HIT) b->prefill_rate = n / t;
    else snprintf(r->note, sizeof r->note, "%d of %d tokens found in the prefix cache", cached, n);
    return 0;
}

static int mixed_sample(bench *b, row *r, sample *s)
{
    int sent = 0, done = 0, steps = 0, tokens, n_in[N_MIXED], n_out[N_MIXED];
    double t0 = probe_now();
    b->made = 0; b->rng = 7;                           /* the same lengths each time; the tokens differ by the draws of `salt` */
    int32_t salt = (int32_t)(r->n * 7919);
    for (; done < N_MIXED; steps++) {
        if (sent < N_MIXED && steps % ARRIVAL == 0) {
            n_in[sent] = 128 + random_token(b) % 641; n_out[sent] = 32 + random_token(b) % 65;
            int32_t *ids = random_prompt(b, n_in[sent]);
            for (int i = 0; ids && i < n_in[sent]; i++) ids[i] = (ids[i] + salt) % b->info.vocab_size;
            int failed = !ids || submit(b, ids, n_in[sent], n_out[sent], NULL, NULL);
            free(ids);
            if (failed) return -1;
            sent++;
        }
        kvs_output o;
        if (kvs_step(b->e) < 0) return fail(b, "kvs_step");
        while (kvs_poll(b->e, &o)) {
            if (!o.finish_reason) continue;
            b->wait[b->n_wait] = o.time_first_token;
            b->pace[b->n_wait++] = (o.time_total - o.time_first_token) / (o.completion_tokens - 1);
            done++;
        }
    }
    s->seconds = probe_now() - t0;
    for (int i = tokens = 0; i < N_MIXED; i++) {
        sample alone = {0};
        ask_prompt(b, &alone, 0, n_in[i]);
        s->flops += alone.flops;                       /* its bytes are those of steps shared with others, below */
        ask_decode(b, s, n_out[i] - 1, (n_out[i] - 1) * (n_in[i] + 0.5 * n_out[i]), 0);
        tokens += n_out[i];
    }
    s->bytes += weight_bytes(b) * steps;
    r->amount = tokens;
    return 0;
}

static int row_sample(bench *b, row *r, sample *s)
{
    return r->kind == DECODE ? decode_sample(b, r, s) : r->kind == MIXED ? mixed_sample(b, r, s) : prompt_sample(b, r, s);
}

/* ---- another engine ---- */

/* The command with {words} replaced by what the row is. */
static void peer_command(const bench *b, const row *r, char *out, size_t cap)
{
    char number[3][16];
    snprintf(number[0], 16, "%d", r->batch); snprintf(number[1], 16, "%d", r->context); snprintf(number[2], 16, "%d", b->info.num_threads);
    const char *word[][2] = {{"{kind}", kind_name[r->kind]}, {"{batch}", number[0]}, {"{context}", number[1]}, {"{threads}", number[2]},
                             {"{dtype}", r->v->name}};
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

/* The number in one line of its output, or -1: by the regex, or the last one in it. */
static double peer_number(const bench *b, const char *line)
{
    regmatch_t m[2];
    double v = -1;
    if (b->o.regex) {
        for (; !regexec(&b->regex, line, 2, m, 0); line += m[0].rm_eo > 0 ? m[0].rm_eo : 1) v = strtod(line + m[m[1].rm_so >= 0].rm_so, NULL);
        return v;
    }
    for (char *end; *line; line = end > line ? end : line + 1) {
        double x = strtod(line, &end);
        if (end > line && x >= 0) v = x;
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

static double get_seconds(const sample *s) { return s->seconds; }
static double get_flops(const sample *s) { return s->flops; }
static double get_bytes(const sample *s) { return s->bytes; }
static double get_ping(const sample *s) { return s->p.ping_ns; }
static double get_one(const sample *s) { return s->p.dram_one; }
static double get_all(const sample *s) { return s->p.dram_all; }
static double get_peak(const sample *s) { return s->p.peak; }
static double get_peer(const sample *s) { return s->peer; }

static double value_of(const row *r, double seconds) { return r->amount > 0 ? r->amount / seconds : 1e3 * seconds; }

static void summarize(const bench *b, row *r)
{
    double lo = r->s[0].seconds, hi = lo, ratio[MAX_REPS];
    for (int i = 0; i < r->n; i++) {
        double t = r->s[i].seconds;
        if (t < lo) lo = t;
        if (t > hi) hi = t;
        ratio[i] = r->s[i].peer > 0 ? value_of(r, t) / r->s[i].peer : 0;
    }
    double t = median_of(r, get_seconds), bytes = median_of(r, get_bytes);
    r->p.ping_ns = median_of(r, get_ping); r->p.dram_one = median_of(r, get_one);
    r->p.dram_all = median_of(r, get_all); r->p.peak = median_of(r, get_peak);
    double maths = median_of(r, get_flops) / r->p.peak, band = r->p.dram_all > r->p.dram_one ? r->p.dram_all : r->p.dram_one;
    double dram = bytes < (double)b->cache ? 0 : bytes / band, floor = dram > maths ? dram : maths;
    r->by_dram = dram > maths;
    r->median = value_of(r, t); r->limit = value_of(r, floor); r->percent = 100 * floor / t;
    r->min = value_of(r, r->amount > 0 ? hi : lo); r->max = value_of(r, r->amount > 0 ? lo : hi);
    r->peer = median_of(r, get_peer); r->ratio = probe_median(ratio, r->n);
    if (r->kind == MIXED && b->n_wait) {
        double w[2] = {probe_median((double *)(uintptr_t)b->wait, b->n_wait), b->wait[b->n_wait - 1]};
        double p[2] = {probe_median((double *)(uintptr_t)b->pace, b->n_wait), b->pace[b->n_wait - 1]};
        snprintf(r->note, sizeof r->note, "TTFT median %.0f, worst %.0f ms; time per token median %.1f, worst %.1f ms",
                 1e3 * w[0], 1e3 * w[1], 1e3 * p[0], 1e3 * p[1]);
    }
}

/* 0: measured, or skipped with a note; -1: an error that ends the program. share: seconds after which no repetition is added. */
static int run_row(bench *b, row *r)
{
    if (open_engine(b, r)) return -1;
    double used = probe_now() - b->start, left = b->o.seconds - used, share = left / (b->n_rows - b->at);
    double setup = r->kind == DECODE && b->prefill_rate > 0 ? r->batch * r->context / b->prefill_rate : 0;
    if (longest(b, r) >= b->info.max_position) {
        snprintf(r->note, sizeof r->note, "skipped: the model ends at %d tokens", b->info.max_position);
        return 0;
    }
    if (!fits(b, r)) {
        snprintf(r->note, sizeof r->note, "skipped: %.1f GB of KV, %.1f GB of memory", pool_tokens(b, r) * (double)b->plan.token_bytes * 1e-9, b->room * 1e-9);
        return 0;
    }
    if (b->o.seconds > 0 && setup > left) { snprintf(r->note, sizeof r->note, "skipped: no time left for %.0f s of prompts", setup); return 0; }
    b->n_wait = 0;
    r->amount = r->kind == PREFILL ? r->context : r->kind == DECODE ? r->batch : 0;
    sample warm = {0};
    if (r->kind == DECODE ? decode_begin(b, r) : r->kind != MIXED && prompt_sample(b, r, &warm)) return -1;
    double began = probe_now();
    while (r->n < b->o.reps && !(b->o.seconds > 0 && r->n && probe_now() - began > share)) {
        sample *s = &r->s[r->n];
        progress(b, "repetition", r->n + 1, b->o.reps);
        s->p = probe_take(&b->prober);
        if (row_sample(b, r, s)) return -1;
        if (b->o.against && (r->kind == PREFILL || r->kind == DECODE)) s->peer = peer_run(b, r);
        r->n++;
    }
    summarize(b, r);
    return r->kind == DECODE ? decode_end(b, r) : 0;
}

/* ---- output ---- */

static void print_head(const bench *b)
{
    double load[1] = {0};
    char *cpu = read_text("/proc/cpuinfo"), *at = cpu ? strstr(cpu, "model name") : NULL;
    if (at && (at = strchr(at, ':'))) at[strcspn(at, "\n")] = 0;
    printf("kvserve %s: %s, %s weights, %.1f M parameters\n", KVS_VERSION, b->title, b->dummy ? "random" : "its own", (double)b->info.n_params * 1e-6);
    printf("%s %s, %d threads,%s\n", b->info.backend, b->info.isa, b->info.num_threads, at ? at + 1 : " processor unknown");
    printf("median, min, max of %d repetitions; machine measured before each\n", b->o.reps);
    if (getloadavg(load, 1) == 1 && load[0] > 1.2 * b->info.num_threads)
        printf("NOTE: load average %.1f: other programs run here, the figures are theirs, too\n", load[0]);
    printf("\n%-17s %8s %7s %7s %8s %-5s %4s %7s %6s %s\n", "", "", "", "", "limit by", "", "", "DRAM", "peak", "ping");
    printf("%-17s %8s %7s %7s %8s %-5s %4s %7s %6s %4s\n", "row", "tok/s", "min", "max", "", "", "%", "GB/s", "GF/s", "ns");
    free(cpu);
}

static const char *digits(double v, char *s)           /* about four of them */
{
    snprintf(s, 16, "%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
    return s;
}

static void print_row(const bench *b, const row *r)
{
    char v[4][16], band[16], ping[16];
    progress(b, NULL, 0, 0);
    if (b->at == 0 || b->rows[b->at - 1].v != r->v) printf("weights %s, KV bf16\n", r->v->name);
    if (!r->n) { printf("%-17s %s\n", r->name, r->note); return; }
    snprintf(band, sizeof band, "%.0f/%.0f", r->p.dram_one * 1e-9, r->p.dram_all * 1e-9);
    snprintf(ping, sizeof ping, r->p.ping_ns < 9999 ? "%.0f" : "busy", r->p.ping_ns);
    printf("%-17s %8s %7s %7s %8s %-5s %4.0f %7s %6.0f %4s\n", r->name, digits(r->median, v[0]), digits(r->min, v[1]), digits(r->max, v[2]),
           digits(r->limit, v[3]), r->by_dram ? "DRAM" : "maths", r->percent, band, r->p.peak * 1e-9, r->p.ping_ns > 0 ? ping : "-");
    if (r->note[0]) printf("%-17s %s\n", "", r->note);
    if (r->peer > 0) printf("%-17s the other one: %s tok/s; this one is %.2f times as fast\n", "", digits(r->peer, v[0]), r->ratio);
    else if (b->o.against && r->kind <= DECODE) printf("%-17s the other one failed, or printed no number\n", "");
    fflush(stdout);
}

static void json_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) if ((unsigned char)*s < 32) fprintf(f, "\\u%04x", *s); else fprintf(f, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    fputc('"', f);
}

static int write_json(const bench *b, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fprintf(f, "{\"kvserve\": \"%s\", \"model\": ", KVS_VERSION);
    json_string(f, b->title);
    fprintf(f, ", \"parameters\": %llu, \"isa\": \"%s\", \"threads\": %d, \"against\": ", (unsigned long long)b->info.n_params, b->info.isa, b->info.num_threads);
    json_string(f, b->o.against ? b->o.against : "");
    fprintf(f, ",\n \"rows\": [");
    for (int i = 0, first = 1; i < b->n_rows; i++) {
        const row *r = &b->rows[i];
        if (!r->n) continue;
        fprintf(f, "%s\n  {\"name\": \"%s\", \"unit\": \"%s\", \"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"limit\": %.6g, \"percent\": %.4g, "
                "\"bound\": \"%s\", \"peer\": %.6g, \"ratio\": %.4g, \"note\": ", first ? "" : ",", r->id, r->amount > 0 ? "tok/s" : "ms",
                r->median, r->min, r->max, r->limit, r->percent, r->by_dram ? "dram" : "maths", r->peer, r->ratio);
        json_string(f, r->note);
        fprintf(f, ",\n   \"repetitions\": [");
        for (int k = 0; k < r->n; k++) {
            const sample *s = &r->s[k];
            fprintf(f, "%s\n    {\"value\": %.6g, \"flops\": %.6g, \"bytes\": %.6g, \"ping_ns\": %.5g, \"dram_one\": %.5g, \"dram_all\": %.5g, "
                    "\"peak\": %.5g, \"peer\": %.6g}", k ? "," : "", value_of(r, s->seconds), s->flops, s->bytes, s->p.ping_ns, s->p.dram_one,
                    s->p.dram_all, s->p.peak, s->peer);
        }
        fprintf(f, "]}");
        first = 0;
    }
    fprintf(f, "]}\n");
    return fclose(f);
}

/* Each row is a frame as long as its limit, filled as far as it was reached. */
static int write_svg(const bench *b, const char *path)
{
    enum { LEFT = 170, WIDE = 330, STEP = 26, TOP = 72 };
    int shown = 0, y = TOP;
    char v[2][16];
    for (int i = 0; i < b->n_rows; i++) shown += b->rows[i].n > 0;
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 %d\" font-family=\"sans-serif\" font-size=\"13\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">%s on %d threads: reached, of what this machine allows</text>\n"
            "<text x=\"16\" y=\"48\" fill=\"#555\">A frame is the limit: weights and KV through DRAM once, or every multiplication at peak speed. "
            "The bar is kvserve.</text>\n", TOP + STEP * shown + (b->o.against ? 34 : 12), b->title, b->info.num_threads);
    for (int i = 0; i < b->n_rows; i++) {
        const row *r = &b->rows[i];
        if (!r->n) continue;
        double w = WIDE * (r->percent < 108 ? r->percent : 108) / 100;
        fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n"
                "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\" fill=\"#3b7dd8\"/>\n"
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"18\" fill=\"none\" stroke=\"#999\"/>\n", LEFT - 10, y + 14, r->id, LEFT, y, w, LEFT, y, WIDE);
        if (r->ratio > 0)
            fprintf(f, "<rect x=\"%.1f\" y=\"%d\" width=\"3\" height=\"22\" fill=\"#d9480f\"/>\n", LEFT + w / r->ratio - 1.5, y - 2);
        fprintf(f, "<text x=\"%d\" y=\"%d\">%s of %s %s: %.0f %% (%s)</text>\n", LEFT + WIDE + 34, y + 14, digits(r->median, v[0]), digits(r->limit, v[1]),
                r->amount > 0 ? "tok/s" : "ms", r->percent, r->by_dram ? "DRAM" : "maths");
        y += STEP;
    }
    if (b->o.against) {
        fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"3\" height=\"16\" fill=\"#d9480f\"/>\n<text x=\"%d\" y=\"%d\" fill=\"#d9480f\">", LEFT, y + 6, LEFT + 10, y + 19);
        for (const char *p = b->o.against; *p && *p != ' '; p++) fprintf(f, *p == '<' ? "&lt;" : *p == '&' ? "&amp;" : "%c", *p);
        fprintf(f, " in the same minutes</text>\n");
    }
    fprintf(f, "</svg>\n");
    return fclose(f);
}

/* ---- the command line ---- */

static void usage(void)
{
    fprintf(stderr,
        "bench [options]\n"
        "  --quick              under a minute, and lines for scripts    --shape NAME    smollm2-135m (default), tinyllama-1.1b\n"
        "  --model DIR          a checkpoint                             --config FILE   random weights of the shape in a config.json\n"
        "  --rows TEXT          only rows whose name has it              --dtype NAME    bf16, f16, f32 weights\n"
        "  --reps N             repetitions (5)                          --threads N     (all)\n"
        "  --isa NAME           portable, avx2, avx512 (best)            --seconds N     drop repetitions, then rows, to end about then\n"
        "  --json FILE          everything, repetition by repetition     --svg FILE      a plot\n"
        "  --against 'COMMAND' [--against-regex RE]                      another engine, alternately: see the top of bench.c\n");
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
        else if (!strcmp(a, "--isa")) o->isa = !strcmp(v, "portable") ? KVS_ISA_PORTABLE : !strcmp(v, "avx2") ? KVS_ISA_AVX2 : KVS_ISA_AVX512;
        else if (!strcmp(a, "--seconds")) o->seconds = atof(v);
        else if (!strcmp(a, "--json")) o->json = v;
        else if (!strcmp(a, "--svg")) o->svg = v;
        else if (!strcmp(a, "--against")) o->against = v;
        else if (!strcmp(a, "--against-regex")) o->regex = v;
        else return -1;
        i++;
    }
    if (o->quick && o->seconds <= 0) o->seconds = 40;
    return o->reps > 0 && o->reps <= MAX_REPS ? 0 : -1;
}

static void add_row(bench *b, const variant *v, kind k, int batch, int context, int quick)
{
    row *r = &b->rows[b->n_rows];
    if (b->n_rows == MAX_ROWS || (b->o.quick && !quick)) return;
    memset(r, 0, sizeof *r);
    r->kind = k; r->batch = batch; r->context = context; r->quick = quick; r->v = v;
    if (k == PREFILL) snprintf(r->name, sizeof r->name, "prefill %d", context);
    else if (k == DECODE) snprintf(r->name, sizeof r->name, "decode %d @%d", batch, context);
    else if (k == MIXED) snprintf(r->name, sizeof r->name, "mixed %d", batch);
    else snprintf(r->name, sizeof r->name, "TTFT %s %d, ms", k == COLD ? "cold" : "hit", context);
    snprintf(r->id, sizeof r->id, k == DECODE ? "%s-%s-%d-%d" : k == MIXED ? "%s-%s-%d" : "%s-%s-%.0d%d", v->name, kind_name[k],
             k == DECODE || k == MIXED ? batch : 0, context);
    if (!b->o.rows || strstr(r->name, b->o.rows) || strstr(r->id, b->o.rows)) b->n_rows++;
}

static void choose_rows(bench *b)
{
    for (size_t i = 0; i < KVS__COUNT(variants); i++) {
        const variant *v = &variants[i];
        if (b->o.dtype ? strcmp(b->o.dtype, v->name) : !v->standard) continue;
        for (int c = 512; c <= 4096; c *= 8) add_row(b, v, PREFILL, 1, c, c == 512);
        for (int c = 512; c <= 4096; c *= 8)
            for (int n = 1; n <= 64; n *= 2) add_row(b, v, DECODE, n, c, c == 512 && (n == 1 || n == 8 || n == 32));
        add_row(b, v, MIXED, N_MIXED, 0, 0);
        for (int c = 512; c <= 4096; c *= 8) { add_row(b, v, COLD, 1, c, 0); add_row(b, v, HIT, 1, c, 0); }
    }
}

/* Finds or makes the model folder. */
static int choose_model(bench *b)
{
    const options *o = &b->o;
    const char *name = o->model ? o->model : o->config ? o->config : o->shape;
    snprintf(b->title, sizeof b->title, "%s", strrchr(name, '/') && strrchr(name, '/')[1] ? strrchr(name, '/') + 1 : name);
    b->dummy = !o->model;
    b->dir = o->model ? o->model : temp_dir;
    if (o->model) return 0;
    if (o->config) {
        char *text = read_text(o->config);
        int failed = !text || temp_model(text);
        free(text);
        if (failed) fprintf(stderr, "bench: cannot read %s, or cannot write a copy into a temporary folder\n", o->config);
        return failed ? -1 : 0;
    }
    for (size_t i = 0; i < KVS__COUNT(shapes); i++) {
        if (strcmp(o->shape, shapes[i].name)) continue;
        if (temp_shape(&shapes[i])) { fprintf(stderr, "bench: cannot write into a temporary folder\n"); return -1; }
        return 0;
    }
    fprintf(stderr, "bench: no shape %s\n", o->shape);
    return -1;
}

int main(int argc, char **argv)
{
    static bench b;
    int failed = 0;
    b.o.reps = 5; b.o.shape = shapes[0].name; b.rng = 1;
    if (parse(argc, argv, &b.o)) { usage(); return 2; }
    if (b.o.regex && regcomp(&b.regex, b.o.regex, REG_EXTENDED)) { fprintf(stderr, "bench: not a regular expression: %s\n", b.o.regex); return 2; }
    choose_rows(&b);
    if (!b.n_rows) { fprintf(stderr, "bench: no such row\n"); return 2; }
    b.start = probe_now();
    b.cache = probe_cache_bytes();
    if (choose_model(&b)) return 1;
    if (open_engine(&b, &b.rows[0])) failed = 1;
    if (!failed && probe_open(&b.prober, b.info.num_threads, b.rows[0].v->peak)) { fprintf(stderr, "bench: no memory for the probes\n"); failed = 1; }
    if (!failed) print_head(&b);
    for (b.at = 0; b.at < b.n_rows && !failed; b.at++) {
        failed = run_row(&b, &b.rows[b.at]) != 0;
        if (!failed) print_row(&b, &b.rows[b.at]);
    }
    if (!failed && b.o.quick) putchar('\n');
    for (int i = 0; i < b.n_rows && !failed && b.o.quick; i++) {
        const row *r = &b.rows[i];
        if (r->n) printf("row %s %.1f %s %.1f %.1f\n", r->id, r->median, r->amount > 0 ? "tok/s" : "ms", r->limit, r->percent);
    }
    if (!failed && b.o.json && write_json(&b, b.o.json)) { fprintf(stderr, "bench: cannot write %s\n", b.o.json); failed = 1; }
    if (!failed && b.o.svg && write_svg(&b, b.o.svg)) { fprintf(stderr, "bench: cannot write %s\n", b.o.svg); failed = 1; }
    kvs_close(b.e);
    return failed;
}
