/* 04_batching.c - who computes in which step.

   You see: eight answers of different length in four places, first by static batching (a new batch when the last one
            has ended), then by continuous batching (a new request as soon as a place is empty). One line per request,
            one column per step. Then a long prompt comes while others write: the fewer tokens a step may have, the more
            chunks the prompt is cut into, and the shorter the others wait for their next token.
   Build:   cc -O2 examples/04_batching.c -o 04_batching -lm -lpthread
   Next:    05_preemption.c, when the blocks run out. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { N = 8, PLACES = 4, COLUMNS = 96 };

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

static kvs_engine *open_engine(const char *model, kvs_batching batching, int32_t places, int32_t budget)
{
    kvs_config cfg = {0};
    kvs_engine *e;
    cfg.model = model; cfg.batching = batching; cfg.max_num_seqs = places; cfg.max_num_batched_tokens = budget;
    cfg.no_prefix_cache = 1;                              /* so that every run computes every token */
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    return e;
}

static void submit(kvs_engine *e, const char *text, int32_t max_tokens, int *index)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    p.text = text; p.user = index; s.max_tokens = max_tokens; s.ignore_eos = 1;
    if (kvs_submit(e, &p, &s, NULL) < 0) die(kvs_last_error(e));
}

static double seconds(const kvs_engine *e)                /* that all steps took so far */
{
    kvs_stats s;
    kvs_stats_get(e, &s);
    return s.time_step;
}

typedef struct tally { int steps, tokens; double steps_to_end, ms_to_end, seconds; } tally;

/* Submits all, steps until all have ended. line: per request one character for each step. */
static tally run(kvs_engine *e, const int32_t max_tokens[N], char line[N][COLUMNS])
{
    int index[N], ended[N] = {0}, left = N;
    double start = seconds(e);
    tally t = {0, 0, 0, 0, 0};
    kvs_stats s;
    kvs_output o;
    for (int i = 0; i < N; i++) { index[i] = i; submit(e, "What is a block?", max_tokens[i], &index[i]); }
    for (; left; t.steps++) {
        int now[N] = {0};
        if (kvs_step(e) < 0) die(kvs_last_error(e));
        while (kvs_poll(e, &o)) {
            int i = *(int *)o.user;
            now[i] = 1;
            t.tokens += (int)o.n_tokens;
            if (!o.finish_reason) continue;
            ended[i] = 1; left--; t.steps_to_end += t.steps + 1; t.ms_to_end += o.time_total * 1e3;
        }
        kvs_stats_get(e, &s);
        for (int i = 0; i < N && t.steps < COLUMNS; i++)  /* a place is empty though somebody waits: the waste */
            line[i][t.steps] = now[i] ? '#' : !ended[i] ? '.' : s.waiting ? '-' : ' ';
    }
    t.seconds = seconds(e) - start;
    return t;
}

static void timeline(const char *model, const char *name, kvs_batching batching)
{
    static const int32_t max_tokens[N] = {6, 48, 12, 20, 30, 8, 16, 24};
    kvs_engine *e = open_engine(model, batching, PLACES, 0);
    char line[N][COLUMNS];
    tally t = run(e, max_tokens, line);
    for (int i = 0; i < 8; i++) {                         /* the steps are always the same; the best time counts */
        tally again = run(e, max_tokens, line);
        if (again.seconds < t.seconds) t = again;
    }
    printf("%s batching      # a token   . waits   - its place is empty while others wait\n", name);
    for (int i = 0; i < N; i++)
        printf("  %c %2d  %.*s\n", 'A' + i, max_tokens[i], t.steps < COLUMNS ? t.steps : COLUMNS, line[i]);
    printf("  %d tokens in %d steps: %.2f tokens a step, %.0f tokens/s; mean latency %.1f steps, %.1f ms\n\n", t.tokens,
           t.steps, (double)t.tokens / t.steps, t.tokens / t.seconds, t.steps_to_end / (int)N, t.ms_to_end / (int)N);
    kvs_close(e);
}

/* Three requests write; after some steps a long prompt comes. What does that do to the others' steps? */
static void long_prompt(const char *model, int32_t budget)
{
    static char text[4096];
    kvs_engine *e = open_engine(model, KVS_BATCHING_CONTINUOUS, PLACES, budget);
    int is_long[2] = {0, 1}, steps = 0, prompt_tokens = 0, done = 0;
    double pause = 0, ttft = 0, calm = 0;
    kvs_output o;
    for (int i = 0; i < PLACES - 1; i++) submit(e, "What is a block?", 200, &is_long[0]);
    for (int i = 0; i < 10; i++) {
        double t = seconds(e);
        if (kvs_step(e) < 0) die(kvs_last_error(e));
        if (i > 1 && (calm == 0 || seconds(e) - t < calm)) calm = seconds(e) - t;
        while (kvs_poll(e, &o)) {}
    }
    for (text[0] = 0; strlen(text) < 2500;) strcat(text, "A block holds the keys and values of some tokens. ");
    submit(e, text, 1, &is_long[1]);
    for (; !done; steps++) {
        double t = seconds(e);
        if (kvs_step(e) < 0) die(kvs_last_error(e));
        t = seconds(e) - t;
        if (t > pause) pause = t;
        while (kvs_poll(e, &o))
            if (*(int *)o.user) { done = 1; ttft = o.time_first_token; prompt_tokens = o.prompt_tokens; }
    }
    printf("  %6d %14d %8d %18.1f %18.1f %22.1f\n", budget, prompt_tokens, steps, calm * 1e3, pause * 1e3, ttft * 1e3);
    kvs_close(e);
}

int main(int argc, char **argv)
{
    static const int32_t budget[] = {1024, 256, 64, 16};
    const char *model = argc > 1 ? argv[1] : "examples/tiny";
    timeline(model, "Static", KVS_BATCHING_STATIC);
    timeline(model, "Continuous", KVS_BATCHING_CONTINUOUS);
    printf("Chunked prefill: a long prompt comes while three others write\n"
           "  %6s %14s %8s %18s %18s %22s\n", "budget", "prompt tokens", "chunks", "step before, ms",
           "longest step, ms", "TTFT of the prompt, ms");
    for (size_t i = 0; i < sizeof budget / sizeof budget[0]; i++) long_prompt(model, budget[i]);
    return 0;
}
