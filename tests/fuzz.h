/* The driver of the fuzzers: a fuzz_NAME.c has some good inputs and what to do with one input; this file does the rest.

       #define KVSERVE_IMPLEMENTATION
       #include "../kvserve.h"
       static const char *const fuzz_seeds[] = {"{\"a\": [1, 2.5e3]}", ...};      texts, or "@path" of a file
       static void fuzz_one(const char *data, size_t n) { ... }                   must return, whatever data is
       #include "fuzz.h"

       cc -g -O1 -fsanitize=address,undefined tests/fuzz_json.c -o build/fuzz_json -lm -lpthread
       build/fuzz_json [ITERATIONS [SEED [SECONDS]]]    mutates the seeds; the same arguments give the same inputs, as many as time allows
       FUZZ_KEEP=1 build/fuzz_json ...         also leaves each input in build/fuzz.last: after a crash, that is the one
       build/fuzz_json FILE                    runs one input
       clang -g -O1 -fsanitize=fuzzer,address -DFUZZ_LIBFUZZER tests/fuzz_json.c ...      libFuzzer as the driver
 */
#ifdef FUZZ_LIBFUZZER
#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_one((const char *)data, n);
    return 0;
}
#else

enum { FUZZ_MAX = 1 << 16 };
static uint64_t fuzz_state;

static uint64_t fuzz_rand(void)
{
    uint64_t z = (fuzz_state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
static size_t fuzz_below(size_t n) { return n ? (size_t)(fuzz_rand() % n) : 0; }

/* Reads a file into at most FUZZ_MAX bytes; its length, or 0. */
static size_t fuzz_read(const char *path, char *out)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(out, 1, FUZZ_MAX, f) : 0;
    if (f) fclose(f);
    return n;
}

static size_t fuzz_seed(size_t i, char *out)
{
    const char *s = fuzz_seeds[i];
    if (s[0] == '@') return fuzz_read(s + 1, out);
    size_t n = strlen(s);
    if (n > FUZZ_MAX) n = FUZZ_MAX;
    memcpy(out, s, n);
    return n;
}

/* One small change; returns the new length. Kinds: flip a bit, put a byte that parsers look for, cut out, repeat, cut
   off, mix in bytes of another input, continue as another input. */
static size_t fuzz_mutate(char *p, size_t n, const char *other, size_t n_other)
{
    static const char special[] = "\0\x01\x7f\x80\xff\"\\{}[](),:.*+?|^$-0123456789eE \n\t/<>\xc3\xe2\xed\xf0\xbf";
    size_t at = fuzz_below(n), len = 1 + fuzz_below(fuzz_below(2) ? 4 : 64);
    if (n == 0) { p[0] = special[fuzz_below(sizeof special - 1)]; return 1; }
    if (len > n - at) len = n - at;
    switch (fuzz_below(7)) {
        case 0: p[at] = (char)(p[at] ^ (1 << fuzz_below(8))); return n;
        case 1: p[at] = special[fuzz_below(sizeof special - 1)]; return n;
        case 2: memmove(p + at, p + at + len, n - at - len); return n - len;
        case 3:
            if (n + len > FUZZ_MAX) return n;
            memmove(p + at + len, p + at, n - at);
            return n + len;
        case 4: return fuzz_below(4) ? n : at;
        case 5:
            len = 1 + fuzz_below(16);
            if (n_other == 0) return n;
            for (size_t i = 0; i < len && at + i < n; i++) p[at + i] = other[fuzz_below(n_other)];
            return n;
        default:
            if (n_other == 0) return n;
            at = fuzz_below(n < n_other ? n : n_other);
            memcpy(p + at, other + at, n_other - at);
            return n_other;
    }
}

int main(int argc, char **argv)
{
    static char input[FUZZ_MAX], other[FUZZ_MAX];
    size_t n_seeds = sizeof fuzz_seeds / sizeof *fuzz_seeds, n, n_other;
    long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 100000;
    fuzz_state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    if (argc > 1 && iterations == 0) {
        n = fuzz_read(argv[1], input);
        fuzz_one(input, n);
        return 0;
    }
    double until = argc > 3 ? kvs__now() + (double)strtol(argv[3], NULL, 10) : 1e300;
    long i = 0;
    for (; i < iterations && kvs__now() < until; i++) {
        size_t seed = fuzz_below(n_seeds);
        n = fuzz_seed(seed, input);
        n_other = fuzz_seed(fuzz_below(n_seeds), other);
        for (size_t k = i < (long)n_seeds ? 0 : 1 + fuzz_below(6); k > 0; k--)
            n = fuzz_mutate(input, n, other, n_other);
        char *exact = (char *)malloc(n ? n : 1);         /* its own allocation, so that a read past the end is seen */
        if (!exact) return 1;
        memcpy(exact, input, n);
        FILE *f = getenv("FUZZ_KEEP") ? fopen("build/fuzz.last", "wb") : NULL;
        if (f) { fwrite(exact, 1, n, f); fclose(f); }
        fuzz_one(exact, n);
        free(exact);
    }
    printf("%ld inputs\n", i);
    return 0;
}
#endif
