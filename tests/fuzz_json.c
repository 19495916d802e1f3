/* Fuzzes the JSON reader, and walks what it accepts.

       cc -g -O1 -fsanitize=address,undefined tests/fuzz_json.c -o build/fuzz_json -lm -lpthread
       build/fuzz_json [ITERATIONS [SEED]]                   more in fuzz.h; run from the repository root */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

static const char *const fuzz_seeds[] = {
    "{\"a\": [1, -2.5e3, true, false, null], \"b\": {\"c\": \"text\"}, \"a\": 1e-5}",
    "[\"\\u00e9\\ud83d\\ude00\\ud800\\n\\\"\\\\\", \"\xc3\xa9\xe6\xb1\x89\xf0\x9f\x98\x80\", \"\"]",

    "[0.1, 123456789012345678901234567890, 1.7976931348623157e308, 4.9e-324, -0, 9223372036854775807, 0.0000000001]",
    "[[[[[[[[[[[[{\"\": {\"\": [[]]}}]]]]]]]]]]]]",
    " {\n\"k1\" : 1 ,\r\n\t\"k2\":2,\"k3\":{} , \"k4\":[ ] }\n",
};

/* Visits every node in the order of the text: as many as the document says, each child within its parent's count. */
static size_t fuzz_walk(const kvs__json *j, const kvs__json_node *node, int depth)
{
    size_t count = 0, seen = 1, len;
    int64_t v;
    if (depth > KVS__JSON_DEPTH) abort();
    const char *s = kvs__json_str(j, node, &len);
    if (s && s[len] != 0) abort();
    if (kvs__json_int(node, &v) == 0 && kvs__json_num(node, 0) != (double)v) abort();
    for (const kvs__json_node *c = kvs__json_first(j, node); c; c = kvs__json_next(j, c), count++) {
        if (node->type == KVS__JSON_OBJECT && !kvs__json_get(j, node, kvs__json_key(j, c, &len))) {
            if (strlen(kvs__json_key(j, c, NULL)) == len) abort();   /* a key with a NUL inside cannot be asked for */
        }
        seen += fuzz_walk(j, c, depth + 1);
    }
    if (count != node->count) abort();
    if (kvs__json_dup(j, node) && count < 2) abort();
    return seen;
}

static void fuzz_one(const char *data, size_t n)
{
    kvs__mem mem;
    kvs__json j;
    kvs__err e;
    kvs__mem_init(&mem, NULL);
    memset(&j, 0, sizeof j);
    e.text[0] = 0;
    kvs_result r = kvs__json_parse(&mem, data, n, "x.json", &j, &e);
    if (r == KVS_OK ? fuzz_walk(&j, kvs__json_root(&j), 0) != j.n_nodes : !e.text[0]) abort();
    kvs__json_free(&j);
    if (mem.live) abort();
}

#include "fuzz.h"
