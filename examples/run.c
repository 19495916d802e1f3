/* run.c - talk to a model from the command line.

   You see: a progress bar while loading, the answer as it is made, one line of figures at the end.
   Build:   cc -O2 examples/run.c -o run -lm -lpthread
   Try:     ./run "What is KV cache optimization?"
            ./run --model models/smollm2-135m-instruct --chat "Why is the sky blue?"
            ./run --model DIR --chat              (no prompt: reads lines from standard input, remembers the conversation)
   Next:    01_hello.c, the first lesson of the course: the same without options. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

typedef struct options {
    kvs_config cfg;
    kvs_sampling s;
    int chat, model_sampling;
    const char *prompt;
} options;

static void usage(void)
{
    fprintf(stderr,
        "run [options] [prompt]\n"
        "  --model DIR          model folder (examples/tiny)      --chat             ChatML turns, for models tuned on it\n"
        "  --max-tokens N       end after N tokens (context)      --temperature X    0 is greedy (0)\n"
        "  --top-p X --top-k N --min-p X --repetition-penalty X   --seed N           repeatable sampling\n"
        "  --defaults           sampling as the model advises     --stop TEXT        end there\n"
        "  --threads N          (all)                             --kv-dtype f32|f16|bf16\n"
        "  --kv-bytes N         KV pool                           --max-model-len N\n");
}

static void on_log(kvs_log_level level, const char *text, void *user)
{
    (void)user;
    if (level == KVS_LOG_WARN) fprintf(stderr, "\rnote: %s\n", text);
}

static void on_progress(uint64_t done, uint64_t total, const char *what, void *user)
{
    static int shown = -1;
    int now = total ? (int)(done * 40 / total) : 40;
    (void)what; (void)user;
    if (now == shown || !isatty(2)) return;
    shown = now;
    fprintf(stderr, "\rloading [%-40.*s] %3d%%%s", now, "########################################", now * 100 / 40, now == 40 ? "\r\033[K" : "");
}

static kvs_dtype dtype_of(const char *s)
{
    return !strcmp(s, "f32") ? KVS_F32 : !strcmp(s, "f16") ? KVS_F16 : !strcmp(s, "bf16") ? KVS_BF16 : KVS_INT8 /* refused by name */;
}

/* 0, or -1 on a wrong command line. */
static int parse(int argc, char **argv, options *o)
{
    static const char *stop[1];
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(a, "--", 2)) { if (o->prompt) return -1; o->prompt = a; continue; }
        if (!strcmp(a, "--chat")) { o->chat = 1; continue; }
        if (!strcmp(a, "--defaults")) { o->model_sampling = 1; continue; }
        if (!v) return -1;
        if (!strcmp(a, "--model")) o->cfg.model = v;
        else if (!strcmp(a, "--max-tokens")) o->s.max_tokens = atoi(v);
        else if (!strcmp(a, "--temperature")) o->s.temperature = (float)atof(v);
        else if (!strcmp(a, "--top-p")) o->s.top_p = (float)atof(v);
        else if (!strcmp(a, "--top-k")) o->s.top_k = atoi(v);
        else if (!strcmp(a, "--min-p")) o->s.min_p = (float)atof(v);
        else if (!strcmp(a, "--repetition-penalty")) o->s.repetition_penalty = (float)atof(v);
        else if (!strcmp(a, "--seed")) o->s.seed = strtoull(v, NULL, 10);
        else if (!strcmp(a, "--stop")) { stop[0] = v; o->s.stop = stop; o->s.n_stop = 1; }
        else if (!strcmp(a, "--threads")) o->cfg.num_threads = atoi(v);
        else if (!strcmp(a, "--kv-dtype")) o->cfg.kv_cache_dtype = dtype_of(v);
        else if (!strcmp(a, "--kv-bytes")) o->cfg.kv_cache_bytes = strtoull(v, NULL, 10);
        else if (!strcmp(a, "--max-model-len")) o->cfg.max_model_len = atoi(v);
        else return -1;
        i++;
    }
    return 0;
}

/* Token ids of a conversation, growing turn by turn. What the user types is encoded as plain text: it cannot forge a control token. */
typedef struct history { int32_t *ids; size_t n, cap; } history;

static void reserve(history *h, size_t more)
{
    if (h->n + more <= h->cap) return;
    h->cap = (h->n + more) * 2;
    h->ids = (int32_t *)realloc(h->ids, h->cap * sizeof *h->ids);
    if (!h->ids) { fprintf(stderr, "out of memory\n"); exit(1); }
}

static void append(history *h, const int32_t *ids, size_t n)
{
    if (!n) return;
    reserve(h, n);
    memcpy(h->ids + h->n, ids, n * sizeof *ids);
    h->n += n;
}

static void add(history *h, const kvs_tokenizer *t, const char *text, size_t len, int flags)
{
    size_t room = len + 16;                               /* a byte makes at most one token */
    reserve(h, room);
    int64_t n = kvs_tokenizer_encode(t, text, len, flags, h->ids + h->n, room);
    if (n > 0) h->n += (size_t)n;
}

static void add_turn(history *h, const kvs_tokenizer *t, const char *user)
{
    static const char open[] = "<|im_start|>user\n", close[] = "<|im_end|>\n<|im_start|>assistant\n";
    add(h, t, open, strlen(open), KVS_PARSE_SPECIAL | (h->n ? 0 : KVS_ADD_SPECIAL));
    add(h, t, user, strlen(user), 0);
    add(h, t, close, strlen(close), KVS_PARSE_SPECIAL);
}

/* Runs one request to its end; prints it; appends its tokens to h if given. */
static int answer(kvs_engine *e, const kvs_prompt *p, const kvs_sampling *s, history *h)
{
    kvs_output o, last;
    kvs_stats st;
    kvs_result r = kvs_submit(e, p, s, NULL);
    memset(&last, 0, sizeof last);
    memset(&st, 0, sizeof st);
    while (r >= 0 && (r = kvs_step(e)) == KVS_OK)
        while (kvs_poll(e, &o)) {
            fwrite(o.text, 1, o.text_len, stdout);
            fflush(stdout);
            if (h) append(h, o.tokens, o.n_tokens);
            last = o;
            if (!o.finish_reason) kvs_stats_get(e, &st);
        }
    if (r < 0) { fprintf(stderr, "%s: %s\n", kvs_result_str(r), kvs_last_error(e)); return -1; }
    double rest = last.time_total - last.time_first_token;
    fprintf(stderr, "\n[%d prompt tokens, %d cached; TTFT %.0f ms; %d tokens at %.1f tok/s; KV blocks %llu of %llu; %s]\n", last.prompt_tokens,
            last.cached_tokens, last.time_first_token * 1e3, last.completion_tokens, rest > 0 ? (last.completion_tokens - 1) / rest : 0.0,
            (unsigned long long)st.blocks_used, (unsigned long long)st.blocks_total, last.finish_reason == KVS_FINISH_LENGTH ? "length" : "stop");
    return 0;
}

static int chat(kvs_engine *e, const options *o)
{
    const kvs_tokenizer *t = kvs_get_tokenizer(e);
    history h = {NULL, 0, 0};
    char line[8192];
    int failed = t == NULL;
    for (int turn = 0; !failed; turn++) {
        const char *user = o->prompt;
        if (!user) {
            if (isatty(0)) { fputs("> ", stdout); fflush(stdout); }
            if (!fgets(line, sizeof line, stdin)) break;
            line[strcspn(line, "\n")] = 0;
            user = line;
        }
        if (turn) add(&h, t, "\n", 1, 0);
        add_turn(&h, t, user);
        kvs_prompt p = {0};
        p.tokens = h.ids; p.n_tokens = h.n;
        history said = {NULL, 0, 0};
        failed = answer(e, &p, &o->s, &said);
        append(&h, said.ids, said.n);                          /* the next turn finds all of this in the prefix cache */
        free(said.ids);
        if (o->prompt) break;
    }
    free(h.ids);
    return failed;
}

int main(int argc, char **argv)
{
    options o;
    kvs_engine *e;
    memset(&o, 0, sizeof o);
    o.cfg.model = "examples/tiny"; o.cfg.log = on_log; o.cfg.progress = on_progress;
    if (parse(argc, argv, &o) || (!o.prompt && !o.chat)) { usage(); return 2; }
    kvs_result r = kvs_open(&o.cfg, &e);
    int failed = r < 0;
    if (failed) fprintf(stderr, "%s: %s\n", kvs_result_str(r), kvs_last_error(e));
    if (!failed && o.model_sampling) { int max = o.s.max_tokens; kvs_sampling_default(e, &o.s); o.s.max_tokens = max; }
    if (!failed && o.chat) failed = chat(e, &o);
    else if (!failed) {
        kvs_prompt p = {0};
        p.text = o.prompt;
        failed = answer(e, &p, &o.s, NULL);
    }
    kvs_close(e);
    return failed != 0;
}
