/* 06_fork.c - several answers to one prompt.

   You see: one request with n = 4. Its prompt is computed once; the four outputs begin with the same blocks (* = held
            by more than one), and who writes into a shared block gets a copy of it. Then the memory that this took,
            against four separate requests (whatever turns out equal is shared there too, if the prefix cache is on, but
            it was computed four times); last, the four answers.
   Build:   cc -O2 examples/06_fork.c -o 06_fork -lm -lpthread
   Next:    07_logprobs.c, how sure the model was. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { N = 4, TEXT = 512 };

static const char prompt[] =
    "A block holds the keys and values of a fixed number of tokens, often 16. It is the unit in which memory is "
    "allocated, shared, evicted and moved. A sequence owns a list of blocks, and only its last block can be partly "
    "empty.\n\n"
    "What is a block?";

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

static kvs_engine *open_engine(const char *model, int no_prefix_cache)
{
    kvs_config cfg = {0};
    kvs_engine *e;
    cfg.model = model; cfg.max_model_len = 256; cfg.max_num_seqs = 8; cfg.no_prefix_cache = no_prefix_cache;
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    return e;
}

static void submit(kvs_engine *e, int32_t n, uint64_t seed, kvs_request *out)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    p.text = prompt; s.n = n; s.temperature = 1.4f; s.seed = seed;
    s.min_tokens = s.max_tokens = 40;                     /* all outputs equally long: a fair comparison */
    if (kvs_submit(e, &p, &s, out) < 0) die(kvs_last_error(e));
}

static void show_tables(const kvs_engine *e, kvs_request r, int at)
{
    char table[256];
    kvs_stats s;
    kvs_stats_get(e, &s);
    printf("after step %d: %llu blocks in use, %llu copied\n", at, (unsigned long long)s.blocks_used,
           (unsigned long long)s.block_copies);
    for (int i = 0; i < N; i++) {
        if (kvs_block_table_str(e, r, i, table, sizeof table)) printf("   output %d   %s\n", i, table);
        else printf("   output %d   (finished)\n", i);
    }
}

typedef struct use { uint64_t most, copies, computed; } use;

/* Steps until all is done. text (may be NULL) gets the outputs of r, and its tables are shown now and then. */
static use run(kvs_engine *e, kvs_request r, char text[N][TEXT])
{
    use u = {0, 0, 0};
    size_t len[N] = {0};
    kvs_result result;
    kvs_output o;
    kvs_stats s;
    for (int at = 1; (result = kvs_step(e)) == KVS_OK; at++) {
        kvs_stats_get(e, &s);
        if (s.blocks_used > u.most) u.most = s.blocks_used;
        if (text && (at == 1 || at == 2 || at == 20)) show_tables(e, r, at);
        while (kvs_poll(e, &o)) {
            if (!text || len[o.index] + o.text_len >= TEXT) continue;
            memcpy(text[o.index] + len[o.index], o.text, o.text_len + 1);
            len[o.index] += o.text_len;
        }
    }
    if (result < 0) die(kvs_last_error(e));
    u.copies = s.block_copies;
    u.computed = s.prompt_tokens - s.cached_tokens;
    return u;
}

static void report(const char *what, use u, uint64_t page_bytes)
{
    printf("   %-38s %6llu %6llu %8llu %22llu\n", what, (unsigned long long)u.most,
           (unsigned long long)(u.most * page_bytes / 1024), (unsigned long long)u.copies,
           (unsigned long long)u.computed);
}

int main(int argc, char **argv)
{
    static char text[N][TEXT];
    const char *model = argc > 1 ? argv[1] : "examples/tiny";
    kvs_engine *fork_e = open_engine(model, 0), *cached = open_engine(model, 0), *alone = open_engine(model, 1);
    kvs_config cfg = {0};
    kvs_memory_plan plan;
    kvs_request r, other = {0};
    cfg.model = model;
    if (kvs_plan(&cfg, &plan, NULL) < 0) die("kvs_plan failed");
    submit(fork_e, N, 7, &r);
    use u = run(fork_e, r, text);
    for (int i = 0; i < N; i++) { submit(alone, 1, 7 + (uint64_t)i, NULL); submit(cached, 1, 7 + (uint64_t)i, NULL); }
    printf("\n   %-38s %6s %6s %8s %22s\n", "most after any step", "blocks", "KiB", "copies", "prompt tokens computed");
    report("one request, n = 4", u, plan.page_bytes);
    report("4 separate requests, no prefix cache", run(alone, other, NULL), plan.page_bytes);
    report("4 separate requests, with prefix cache", run(cached, other, NULL), plan.page_bytes);
    printf("\nThe %d outputs\n", N);
    for (int i = 0; i < N; i++) {
        const char *t = text[i];
        while (*t == '\n') t++;
        printf("   %d  %s\n", i, t);
    }
    kvs_close(alone); kvs_close(cached); kvs_close(fork_e);
    return 0;
}
