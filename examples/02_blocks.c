/* 02_blocks.c - block tables, as they grow.

   You see: three answers written at the same time into two equal KV pools. Left the paged one: a request takes a block
            when it needs one. Right the layout before PagedAttention: a request reserves its longest possible length.
            Each line is a block table (-: no blocks; it has ended, or waits); below, how much of the blocks is empty.
            Last, how many requests each pool can run at once.
   Build:   cc -O2 examples/02_blocks.c -o 02_blocks -lm -lpthread
   Next:    03_prefix.c, blocks that are found again. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { N = 3, BLOCKS = 24, MAX_LEN = 128, MANY = 12 };

typedef struct side { kvs_engine *e; kvs_request r[N]; int left; } side;

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

/* An engine with a pool of exactly BLOCKS blocks; kvs_plan knows the size of one without loading anything. */
static kvs_engine *open_engine(const char *model, kvs_kv_layout layout, kvs_memory_plan *plan)
{
    kvs_config cfg = {0};
    kvs_engine *e;
    char err[KVS_MAX_ERROR];
    cfg.model = model; cfg.kv_layout = layout; cfg.max_model_len = MAX_LEN;
    if (kvs_plan(&cfg, plan, err) < 0) die(err);
    cfg.kv_cache_bytes = BLOCKS * plan->page_bytes;
    if (kvs_plan(&cfg, plan, err) < 0) die(err);
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    return e;
}

static void submit(kvs_engine *e, const char *text, int32_t max_tokens, kvs_request *out)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    p.text = text; s.max_tokens = max_tokens;
    if (kvs_submit(e, &p, &s, out) < 0) die(kvs_last_error(e));
}

/* One step; returns how many requests ended in it. The text is thrown away here. */
static int step(kvs_engine *e)
{
    kvs_output o;
    int ended = 0;
    if (kvs_step(e) < 0) die(kvs_last_error(e));
    while (kvs_poll(e, &o)) ended += o.finish_reason != KVS_FINISH_NONE;
    return ended;
}

static void show_use(const kvs_engine *e, const kvs_memory_plan *plan, int width)
{
    kvs_stats s;
    char text[96];
    kvs_stats_get(e, &s);
    uint64_t room = s.blocks_used * (plan->page_bytes / plan->token_bytes), empty = room - s.tokens_held;
    snprintf(text, sizeof text, "%llu blocks hold %llu tokens: %.0f%% empty", (unsigned long long)s.blocks_used,
             (unsigned long long)s.tokens_held, room ? 100.0 * (double)empty / (double)room : 0.0);
    printf("%-*s", width, text);
}

static void show(int at, const side *paged, const side *fixed, const kvs_memory_plan *plan)
{
    char left[256], right[256];
    for (int i = 0; i < N; i++) {
        size_t l = kvs_block_table_str(paged->e, paged->r[i], 0, left, sizeof left);
        size_t r = kvs_block_table_str(fixed->e, fixed->r[i], 0, right, sizeof right);
        if (i) printf("%-8s", ""); else printf("step %-3d", at);
        printf(" %c  %-44s%s\n", 'A' + i, l ? left : "-", r ? right : "-");
    }
    printf("%-12s", "");
    show_use(paged->e, plan, 44);
    show_use(fixed->e, plan, 0);
    printf("\n\n");
}

/* Runs MANY short requests to their end: how many were running at once, how many steps did it take? */
static void crowd(const char *name, kvs_engine *e)
{
    kvs_stats s;
    int left = MANY, steps = 0, most = 0;
    for (int i = 0; i < MANY; i++) submit(e, "What is a block?", 20, NULL);
    for (; left; steps++) {
        left -= step(e);
        kvs_stats_get(e, &s);
        if (s.running > most) most = s.running;
    }
    printf("    %-8s %2d at once, all done after %d steps\n", name, most, steps);
}

int main(int argc, char **argv)
{
    static const char *const question[N] = {"What is a KV cache?", "What is PagedAttention?", "What is a block?"};
    static const int32_t max_tokens[N] = {60, 12, 40};
    const char *model = argc > 1 ? argv[1] : "examples/tiny";
    kvs_memory_plan plan, same;
    side paged = {open_engine(model, KVS_LAYOUT_PAGED, &plan), {{0}}, N};
    side fixed = {open_engine(model, KVS_LAYOUT_STATIC, &same), {{0}}, N};
    printf("Two pools of %llu blocks; a block is %llu bytes, room for %llu tokens. max_model_len is %d.\n\n",
           (unsigned long long)plan.num_blocks, (unsigned long long)plan.page_bytes,
           (unsigned long long)(plan.page_bytes / plan.token_bytes), plan.max_model_len);
    printf("%-12s%-44s%s\n", "", "paged", "static: reserved for max_model_len");
    for (int i = 0; i < N; i++) {
        submit(paged.e, question[i], max_tokens[i], &paged.r[i]);
        submit(fixed.e, question[i], max_tokens[i], &fixed.r[i]);
    }
    for (int at = 1; paged.left || fixed.left; at++) {
        paged.left -= step(paged.e);
        fixed.left -= step(fixed.e);
        if (at % 14 == 1) show(at, &paged, &fixed, &plan);
    }
    printf("%d short requests into the same pools:\n", MANY);
    crowd("paged", paged.e);
    crowd("static", fixed.e);
    kvs_close(paged.e);
    kvs_close(fixed.e);
    return 0;
}
