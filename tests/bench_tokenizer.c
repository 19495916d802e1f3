/* Encodes a text file on one thread, for tests/bench_tokenizer.py: bench_tokenizer TOKENIZER TEXT IDS [PROMPT_BYTES]
   Prints the processor seconds of open, of encode (best of three) and of decode, and writes the ids to IDS (int32). With
   PROMPT_BYTES the text goes in as separate calls of about that length, as prompts come. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

static double cpu(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* One pass over the text in calls of `step` bytes, cut at line ends. Returns the number of ids, or < 0. */
static int64_t pass(const kvs_tokenizer *t, const char *text, size_t n, size_t step, int32_t *ids, size_t cap)
{
    int64_t total = 0;
    for (size_t i = 0, len; i < n; i += len) {
        const char *nl = step < n - i ? (const char *)memchr(text + i + step, '\n', n - i - step) : NULL;
        len = nl ? (size_t)(nl + 1 - text) - i : n - i;
        int64_t k = kvs_tokenizer_encode(t, text + i, len, 0, ids + total, cap - (size_t)total);
        if (k < 0) return k;
        total += k;
    }
    return total;
}

int main(int argc, char **argv)
{
    char err[KVS_MAX_ERROR];
    kvs_tokenizer *t;
    kvs__map map;
    kvs__err e;
    double t0 = cpu(), best = 1e9;
    if (argc < 4) { fprintf(stderr, "usage: bench_tokenizer TOKENIZER TEXT IDS [PROMPT_BYTES]\n"); return 2; }
    if (kvs_tokenizer_open(argv[1], NULL, &t, err)) { fprintf(stderr, "%s\n", err); return 1; }
    double load = cpu() - t0;
    if (kvs__map_open(argv[2], &map, &e)) { fprintf(stderr, "%s\n", e.text); return 1; }
    size_t cap = 4 * map.n + 64, step = argc > 4 ? (size_t)strtoul(argv[4], NULL, 10) : map.n;
    int32_t *ids = (int32_t *)malloc(cap * sizeof *ids);
    char *text = (char *)malloc(4 * map.n + 64);
    int64_t n = 0;
    if (!ids || !text) return 1;
    for (int i = 0; i < 3; i++) {
        t0 = cpu();
        n = pass(t, map.p, map.n, step, ids, cap);
        double took = cpu() - t0;
        if (took < best) best = took;
    }
    if (n < 0) { fprintf(stderr, "encode: %s\n", kvs_result_str((kvs_result)n)); return 1; }
    t0 = cpu();
    int64_t len = kvs_tokenizer_decode(t, ids, (size_t)n, 0, text, 4 * map.n + 64);
    printf("%.6f %.6f %.6f %lld\n", load, best, cpu() - t0, (long long)len);
    FILE *f = fopen(argv[3], "wb");
    if (!f || fwrite(ids, sizeof *ids, (size_t)n, f) != (size_t)n || fclose(f)) { perror(argv[3]); return 1; }
    kvs__map_close(&map);
    kvs_tokenizer_close(t);
    free(ids); free(text);
    return 0;
}
