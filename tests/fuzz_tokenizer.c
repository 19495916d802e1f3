/* Fuzzes the tokenizer: an input is read as a tokenizer.json, and as text for a tokenizer that is good.

       cc -g -O1 -fsanitize=address,undefined tests/fuzz_tokenizer.c -o build/fuzz_tokenizer -lm -lpthread
       build/fuzz_tokenizer [ITERATIONS [SEED]]        from the repository root; see tests/fuzz.h
       clang -g -O1 -fsanitize=fuzzer,address -DFUZZ_LIBFUZZER tests/fuzz_tokenizer.c -o build/fuzz_tokenizer ... */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

#define FUZZ_DATA "tests/data/tokenizers/"
static const char *const fuzz_seeds[] = {
    "@" FUZZ_DATA "mistral/tokenizer.json",  "@" FUZZ_DATA "gpt2/tokenizer.json",   "@" FUZZ_DATA "seeds/model.json",
    "@" FUZZ_DATA "seeds/added.json",        "@" FUZZ_DATA "seeds/split.json",      "@" FUZZ_DATA "seeds/llama.json",
    "@" FUZZ_DATA "seeds/bytes.json",
};

static void fuzz_fail(const char *what)
{
    printf("broken: %s\n", what);
    abort();
}

/* Decoding in one go, in a stream, and after encoding agree; every piece is whole UTF-8. */
static void fuzz_text(const kvs_tokenizer *t, const char *data, size_t n, int flags, int round_trip)
{
    int64_t k = kvs_tokenizer_encode(t, data, n, flags, NULL, 0);
    if (k < 0) { if (k != KVS_ERR_FORMAT) fuzz_fail("encode"); return; }
    int32_t *ids = (int32_t *)malloc(((size_t)k + 1) * sizeof *ids);
    if (!ids || kvs_tokenizer_encode(t, data, n, flags, ids, (size_t)k) != k) fuzz_fail("encode again");
    int64_t len = kvs_tokenizer_decode(t, ids, (size_t)k, flags, NULL, 0), at = 0;
    char *text = (char *)malloc((size_t)len + 1), piece[KVS_MAX_PIECE];
    if (!text || kvs_tokenizer_decode(t, ids, (size_t)k, flags, text, (size_t)len) != len) fuzz_fail("decode again");
    kvs_stream s;
    memset(&s, 0, sizeof s);
    for (int64_t i = 0; i <= k; i++) {
        int64_t m = i < k ? kvs_stream_put(t, &s, ids[i], flags, piece, sizeof piece)
            : kvs_stream_flush(t, &s, piece, sizeof piece);
        if (m < 0 || at + m > len || memcmp(text + at, piece, (size_t)m) != 0) fuzz_fail("stream");
        if (kvs__utf8_valid(piece, (size_t)m) != (size_t)m) fuzz_fail("half a character");
        at += m;
    }
    if (at != len) fuzz_fail("length of the stream");
    if (round_trip) {
        kvs__mem mem;
        kvs__buf clean;
        kvs__mem_init(&mem, NULL);
        memset(&clean, 0, sizeof clean);
        clean.mem = &mem;
        kvs__utf8_clean(data, n, &clean);
        if (clean.n != (size_t)len || (len && memcmp(clean.p, text,
                                                     clean.n) != 0)) fuzz_fail("decode(encode(text)) is not the text");
        kvs__buf_free(&clean);
    }
    free(ids);
    free(text);
}

static void fuzz_one(const char *data, size_t n)
{
    static kvs_tokenizer *gpt2, *mistral;
    char err[KVS_MAX_ERROR];
    kvs__err e;
    if (!gpt2 && kvs_tokenizer_open(FUZZ_DATA "gpt2", NULL, &gpt2, err)) fuzz_fail(err);
    if (!mistral && kvs_tokenizer_open(FUZZ_DATA "mistral", NULL, &mistral, err)) fuzz_fail(err);
    fuzz_text(gpt2, data, n, 0, 1);
    fuzz_text(mistral, data, n, KVS_PARSE_SPECIAL, 0);
    kvs_tokenizer *t = kvs__tok_new(NULL, NULL);
    if (!t) return;
    e.text[0] = 0;
    kvs_result r = kvs__tok_parse(t, data, n, "fuzz", &e);
    if (r && !e.text[0]) fuzz_fail("an error without a text");
    for (int flags = 0; !r && flags < 8; flags++) {
        fuzz_text(t, data, n < 400 ? n : 400, flags, 0);
        fuzz_text(t, "<s> abab 12 \xC3\xA9 A\xC3\x81 \xE2\x96\x81 ba b!", 28, flags, 0);
    }
    kvs_tokenizer_close(t);
}

#include "fuzz.h"
