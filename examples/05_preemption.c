/* 05_preemption.c - a pool that is too small.

   You see: four answers in a pool that holds all of them, then the same four in one that does not. When blocks run out,
            the newest request gives its blocks back and waits; later it comes back, finds those that nobody has taken
            meanwhile, and computes the rest again. Last, the answers of both runs are compared byte by byte.
   Build:   cc -O2 examples/05_preemption.c -o 05_preemption -lm -lpthread
   Next:    06_fork.c, several answers to one prompt. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { N = 4, COLUMNS = 112, TEXT = 4096 };

typedef struct answers { char text[N][TEXT]; size_t len[N]; int32_t preemptions[N]; int left; } answers;

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

static kvs_engine *open_engine(const char *model, uint64_t blocks)
{
    kvs_config cfg = {0};
    kvs_memory_plan plan;
    kvs_engine *e;
    char err[KVS_MAX_ERROR];
    cfg.model = model; cfg.max_model_len = 128;
    if (kvs_plan(&cfg, &plan, err) < 0) die(err);
    cfg.kv_cache_bytes = blocks * plan.page_bytes;
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    return e;
}

static void submit_all(kvs_engine *e, kvs_request r[N], int index[N])
{
    static const char *const question[N] = {"What is KV cache optimization?", "What is a KV cache?",
                                            "What is PagedAttention?", "What is a block?"};
    for (int i = 0; i < N; i++) {
        kvs_prompt p = {0};
        index[i] = i;
        p.text = question[i]; p.user = &index[i];
        if (kvs_submit(e, &p, NULL, &r[i]) < 0) die(kvs_last_error(e));
    }
}

/* One step; appends what it made to the answers. */
static void step(kvs_engine *e, answers *a, int finished[N])
{
    kvs_output o;
    if (kvs_step(e) < 0) die(kvs_last_error(e));
    while (kvs_poll(e, &o)) {
        int i = *(int *)o.user;
        if (a->len[i] + o.text_len < TEXT) memcpy(a->text[i] + a->len[i], o.text, o.text_len);
        a->len[i] += o.text_len;
        a->preemptions[i] = o.preemptions;
        if (o.finish_reason) { finished[i] = 1; a->left--; }
    }
}

/* What happened to request i, from its block table before and after a step: who was preempted holds no block now. */
static char look(int at, int i, const char *before, const char *after, int finished)
{
    if (finished) return ' ';
    if (before[0] && !after[0]) {
        printf("  step %3d   %c is preempted: gives back blocks %s\n", at, 'A' + i, before);
        return 'x';
    }
    if (!before[0] && after[0] && at > 1) printf("  step %3d   %c comes back: holds blocks %s\n", at, 'A' + i, after);
    return after[0] ? '#' : '.';
}

static void run(const char *model, uint64_t blocks, answers *a)
{
    kvs_engine *e = open_engine(model, blocks);
    kvs_request r[N];
    kvs_stats s;
    uint64_t found = 0;                                   /* in the prefix cache; here only who comes back finds any */
    int index[N], finished[N] = {0}, at = 0;
    char line[N][COLUMNS], before[N][128] = {{0}}, after[128];
    memset(a, 0, sizeof *a);
    a->left = N;
    printf("A pool of %llu blocks\n", (unsigned long long)blocks);
    submit_all(e, r, index);
    while (a->left) {
        step(e, a, finished);
        at++;
        for (int i = 0; i < N; i++) {
            kvs_block_table_str(e, r[i], 0, after, sizeof after);
            char c = look(at, i, before[i], after, finished[i]);
            if (at <= COLUMNS) line[i][at - 1] = c;
            memcpy(before[i], after, sizeof after);
        }
        kvs_stats_get(e, &s);
        if (s.prefix_hits > found)
            printf("%13s%llu full blocks were still in the prefix cache, the rest is computed again\n", "",
                   (unsigned long long)(s.prefix_hits - found));
        found = s.prefix_hits;
    }
    for (int i = 0; i < N; i++) printf("    %c %.*s\n", 'A' + i, at < COLUMNS ? at : COLUMNS, line[i]);
    printf("  %d steps (columns: # runs, x is preempted, . waits), %llu preemptions\n\n", at,
           (unsigned long long)s.preemptions);
    kvs_close(e);
}

int main(int argc, char **argv)
{
    static answers large, small;
    const char *model = argc > 1 ? argv[1] : "examples/tiny";
    int same = 0;
    run(model, 64, &large);
    run(model, 12, &small);
    for (int i = 0; i < N; i++) {
        int equal = large.len[i] == small.len[i] && !memcmp(large.text[i], small.text[i], TEXT);
        printf("  %c  %4zu bytes, preempted %d and %d times: %s\n", 'A' + i, small.len[i], large.preemptions[i],
               small.preemptions[i], equal ? "identical" : "DIFFERENT");
        same += equal;
    }
    printf("%d of %d answers are byte for byte the same in both pools.\n", same, N);
    return same != N;
}
