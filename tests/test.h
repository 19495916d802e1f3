/* A test framework of fifty lines. A test file holds static functions and one SUITE that RUNs them; tests.c includes them all.
   CHECKs do not stop the test: the first failure of each line is printed, the test counts as failed once. */
#ifndef KVS_TEST_H
#define KVS_TEST_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int t_passed, t_failed, t_bad;         /* whole tests; bad CHECKs of the running test */
static const char *t_only;                    /* run only tests whose name contains this */

#define CHECK_MSG(cond, ...) do { if (!(cond)) { \
        if (t_bad++ < 5) { printf("  %s:%d: ", __FILE__, __LINE__); printf(__VA_ARGS__); printf("\n"); } } } while (0)
#define CHECK(cond) CHECK_MSG(cond, "failed: %s", #cond)
#define CHECK_EQ_INT(a, b) do { long long t_a = (long long)(a), t_b = (long long)(b); \
        CHECK_MSG(t_a == t_b, "%s = %lld, expected %s = %lld", #a, t_a, #b, t_b); } while (0)
#define CHECK_STR(a, b) do { const char *t_a = (a), *t_b = (b); \
        CHECK_MSG(t_a && t_b && strcmp(t_a, t_b) == 0, "%s = \"%s\", expected \"%s\"", #a, t_a ? t_a : "(null)", t_b ? t_b : "(null)"); } while (0)
/* text must contain part: for error messages */
#define CHECK_HAS(text, part) do { const char *t_a = (text), *t_b = (part); \
        CHECK_MSG(t_a && strstr(t_a, t_b), "\"%s\" does not mention \"%s\"", t_a ? t_a : "(null)", t_b); } while (0)

static void t_run(const char *name, void (*fn)(void))
{
    if (t_only && !strstr(name, t_only)) return;
    t_bad = 0;
    fn();
    if (t_bad) { t_failed++; printf("FAIL %s (%d checks)\n", name, t_bad); }
    else t_passed++;
    fflush(stdout);
}
#define RUN(fn) t_run(#fn, fn)
#define SUITE(name) static void suite_##name(void)

/* A small deterministic generator for property tests. */
static uint64_t t_rng_state = 1;
static void t_seed(uint64_t s) { t_rng_state = s * 2654435769u + 1; }
static uint64_t t_rand(void)
{
    uint64_t z = (t_rng_state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
static int t_range(int lo, int hi) { return lo + (int)(t_rand() % (uint64_t)(hi - lo + 1)); }   /* inclusive */
static float t_float(void) { return (float)((double)(t_rand() >> 11) / 9007199254740992.0 * 2.0 - 1.0); }   /* [-1, 1) */

/* Reads a whole file into malloc'd memory with a NUL behind; NULL if it is not there. */
static char *t_read(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    size_t cap = 1 << 16, len = 0, got;
    char *p = (char *)malloc(cap + 1);
    while (p && (got = fread(p + len, 1, cap - len, f)) > 0) {
        len += got;
        if (len == cap) { cap *= 2; p = (char *)realloc(p, cap + 1); }
    }
    fclose(f);
    if (p) p[len] = 0;
    if (n) *n = len;
    return p;
}
#endif
