/* Fuzzes the regex engine: an input is a pattern and, behind its first newline, a text. Both ways of searching must
   agree, and neither may take more than its share of steps.  cc -g -O1 -fsanitize=address,undefined
   tests/fuzz_regex.c -o build/fuzz_regex -lm -lpthread build/fuzz_regex [ITERATIONS [SEED]]                  more in
   fuzz.h; run from the repository root */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

static const char *const fuzz_seeds[] = {

    "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+\n"
        "I'll go, it's  12 o'clock   \n\n now.",

    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{M}]*[\\p{Ll}\\p{M}]+(?i:'s|'t|'re)?|\\p{N}{1,3}|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+\n"
        "HELLO World's 12345  x",
    "(?:a|ab)*?(?=c|d)(?!b)\nabababcaabd", "(?:a+b{2,3})+|x*y++z?+|(?>a*)b\naabbaabbbxxyyzaab",
    "(?i)[a-k&&[^c-e]]+?|\\b\\w{2,}\\b$\nABCabc k\xe2\x84\xaa",
    "^.*$|\\A(?m:.)\\Z|\\x41\\x{e9}\\u00e9\nab\ncd A\xc3\xa9",
    "(?=(\\d{3})+(?!\\d))|\\p{Han}+|\\P{L}\n1234567\xe6\xb1\x89\xe5\xad\x97",
    "a{0,9}a{0,9}a{0,9}b|a\naaaaaaaaaaaaaaaaaaaaaaaaaa", "[[a-c]x\\]&&[^b]-]+|[\\d\\-z]\nabcx]-1z",
    "(a+)+b|(?:(?:a|b)+c)+|a\naaaaaaaaababababab",
};

/* Bounds of the first 64 matches of text, careful or not; ends the program if one is out of place or too dear. */
static size_t fuzz_find(const kvs__regex *re, kvs__mem *mem, const char *text, size_t n, int careful, size_t out[128])
{
    kvs__regex_scratch s;
    size_t count = 0, from = 0, a, b;
    memset(&s, 0, sizeof s);
    s.test = careful;
    while (count < 64 && from <= n && kvs__regex_find(re, &s, text, n, from, &a, &b) == 1) {
        if (a < from || b < a || b > n) abort();
        out[2 * count] = a; out[2 * count + 1] = b;
        count++;
        from = b > a ? b : b + 1;
    }
    if (s.steps > 4096 + (uint64_t)(n + 1) * (16 + 2000 * re->n_inst)) abort();
    kvs__regex_scratch_free(mem, &s);
    return count;
}

static void fuzz_one(const char *data, size_t n)
{
    kvs__mem mem;
    kvs__regex *re;
    kvs__err e;
    size_t plain[128], careful[128], len = 0;
    kvs__mem_init(&mem, NULL);
    e.text[0] = 0;
    while (len < n && data[len] != '\n') len++;
    kvs_result r = kvs__regex_compile(&mem, data, len, &re, &e);
    if (r != KVS_OK && (!e.text[0] || re)) abort();
    if (len < n) len++;
    if (r == KVS_OK) {
        const char *text = data + len;
        size_t k = fuzz_find(re, &mem, text, n - len, 0, plain);
        if (k != fuzz_find(re, &mem, text, n - len, 1, careful)) abort();
        if (k && memcmp(plain, careful, 2 * k * sizeof *plain)) abort();
        kvs__regex_free(re);
    }
    if (mem.live) abort();
}

#include "fuzz.h"
