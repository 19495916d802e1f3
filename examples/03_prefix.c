/* 03_prefix.c - a prompt that begins like an older one finds its KV computed.

   You see: one request per line. "cached" tokens of its prompt were found in the pool, the others were computed. TTFT
            is the time to the first token. Last, at which token the match ended, and why.
   Build:   cc -O2 examples/03_prefix.c -o 03_prefix -lm -lpthread
   Next:    04_batching.c, many requests in one step. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { BLOCKS = 96, MAX_LEN = 1024 };

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

static kvs_engine *open_engine(const char *model, int no_prefix_cache)
{
    kvs_config cfg = {0};
    kvs_memory_plan plan;
    kvs_engine *e;
    char err[KVS_MAX_ERROR];
    cfg.model = model; cfg.max_model_len = MAX_LEN; cfg.no_prefix_cache = no_prefix_cache;
    if (kvs_plan(&cfg, &plan, err) < 0) die(err);
    cfg.kv_cache_bytes = BLOCKS * plan.page_bytes;        /* small, so that something is evicted below */
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    return e;
}

/* A long text that many requests have in common, as a system prompt or a document would be. */
static const char *prompt(const char *subject, const char *ending)
{
    static char text[8192];
    size_t n = 0;
    for (int i = 1; i <= 20; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "Rule %d about the %s: a block holds the keys and values of 16 tokens. ", i, subject);
    snprintf(text + n, sizeof text - n, "%s", ending);
    return text;
}

/* Prints why the match of this prompt stopped where it did. */
static void explain(const kvs_engine *e, const char *text, const kvs_output *o)
{
    static const char *const why[] = {"all was found", "the cache is off", "is new here",
                                      "is cached under another salt", "was evicted", "is in a block that is not full"};
    static int32_t id[4096];
    char piece[64];
    const kvs_tokenizer *t = kvs_get_tokenizer(e);
    int64_t n = t ? kvs_tokenizer_encode(t, text, strlen(text), KVS_ADD_SPECIAL, id, sizeof id / sizeof id[0]) : 0;
    if (o->miss != KVS_MISS_NONE && o->miss != KVS_MISS_OFF && o->miss_index < n) {
        n = kvs_tokenizer_decode(t, id + o->miss_index, 1, 0, piece, sizeof piece);
        printf("token %d \"%.*s\" ", o->miss_index, n < 0 ? 0 : n > 64 ? 64 : (int)n, piece);
    }
    printf("%s\n", why[o->miss]);
}

/* Asks for one token, prints the line unless `what` is NULL, returns the TTFT in seconds. */
static double ask(kvs_engine *e, const char *what, const char *text, const char *salt)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    kvs_output o;
    kvs_result r;
    double ttft = 0;
    p.text = text; p.cache_salt = salt; s.max_tokens = 1;
    if (kvs_submit(e, &p, &s, NULL) < 0) die(kvs_last_error(e));
    while ((r = kvs_step(e)) == KVS_OK)
        while (kvs_poll(e, &o)) {
            ttft = o.time_first_token;
            if (!what) continue;
            printf("%-36s %6d %6d %8d %8.1f   ", what, o.prompt_tokens, o.cached_tokens,
                   o.prompt_tokens - o.cached_tokens, ttft * 1e3);
            explain(e, text, &o);
        }
    if (r < 0) die(kvs_last_error(e));
    return ttft;
}

/* Reads other texts until the pool has reused the room of old ones. */
static void flood(kvs_engine *e)
{
    kvs_stats s;
    int n = 0;
    do {
        char subject[32];
        snprintf(subject, sizeof subject, "number %d", ++n);
        ask(e, NULL, prompt(subject, ""), NULL);
        kvs_stats_get(e, &s);
    } while (s.evictions == 0 && n < 100);
    printf("  (other texts pass through the pool of %llu blocks until some must go: %llu blocks are evicted)\n",
           (unsigned long long)s.blocks_total, (unsigned long long)s.evictions);
}

int main(int argc, char **argv)
{
    static const char q1[] = "What is a block?";
    static const char q2[] = "Why does a full hit still compute the last token of the prompt?";
    const char *model = argc > 1 ? argv[1] : "examples/tiny";
    kvs_engine *e = open_engine(model, 0), *off = open_engine(model, 1);
    kvs_stats s;
    printf("%-36s %6s %6s %8s %8s   %s\n", "request", "prompt", "cached", "computed", "TTFT ms", "why not more");
    ask(e, "1 a long text, then a question", prompt("cache", q1), NULL);
    double with = ask(e, "2 same text, another question", prompt("cache", q2), NULL);
    ask(e, "3 request 1 once more", prompt("cache", q1), NULL);
    ask(e, "4 a word near the beginning differs", prompt("table", q1), NULL);
    ask(e, "5 request 1 with the salt \"alice\"", prompt("cache", q1), "alice");
    ask(e, "6 that once more", prompt("cache", q1), "alice");
    flood(e);
    ask(e, "7 request 1 after that", prompt("cache", q1), NULL);
    double without = ask(off, "8 request 2, no_prefix_cache = 1", prompt("cache", q2), NULL);
    kvs_stats_get(e, &s);
    printf("\n%llu of %llu blocks looked up were found; %llu prompt tokens were not computed.\n",
           (unsigned long long)s.prefix_hits, (unsigned long long)s.prefix_queries,
           (unsigned long long)s.cached_tokens);
    printf("TTFT of request 2: %.1f ms with the prefix cache, %.1f ms without, %.0f times as long.\n", with * 1e3,
           without * 1e3, without / with);
    kvs_close(off);
    kvs_close(e);
    return 0;
}
