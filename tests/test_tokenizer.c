/* >>tokenizer: ids and texts of the reference library on the vocabularies of five published models and on a made-up
   tokenizer for every part of tokenizer.json; then what the library cannot tell: streams, hostile files, memory,
       threads.

   The published vocabularies are cut down to what their cases use (tests/golden/reduce_tokenizer.py). With
   KVS_TOKENIZER_DIR=DIR in the environment the full ones are tested too: DIR/NAME/tokenizer.json and cases.jsonl. */

#define TOK_DATA "tests/data/tokenizers/"

static kvs_tokenizer *tok_open(const char *path)
{
    char err[KVS_MAX_ERROR];
    kvs_tokenizer *t = NULL;
    kvs_result r = kvs_tokenizer_open(path, NULL, &t, err);
    CHECK_MSG(r == KVS_OK, "%s", err);
    return t;
}

/* tokenizer.json from a string; NULL and the message in e if it is refused. */
static kvs_tokenizer *tok_parse(const char *json, size_t n, kvs_result *r, kvs__err *e)
{
    kvs_tokenizer *t = kvs__tok_new(NULL, NULL);
    e->text[0] = 0;
    *r = kvs__tok_parse(t, json, n, "t.json", e);
    if (*r == KVS_OK) return t;
    kvs_tokenizer_close(t);
    return NULL;
}

/* The same of a text that has ' in place of ". */
static kvs_tokenizer *tok_quoted(const char *json, kvs_result *r, kvs__err *e)
{
    size_t n = strlen(json);
    char *p = (char *)malloc(n + 1);
    for (size_t i = 0; i <= n; i++) p[i] = json[i] == '\'' ? '"' : json[i];
    kvs_tokenizer *t = tok_parse(p, n, r, e);
    free(p);
    return t;
}

/* ---- golden cases ---- */

typedef struct tok_lines { char *text; size_t n, at; kvs__mem mem; kvs__json j; } tok_lines;

static int tok_next(tok_lines *l)   /* the next line of a .jsonl into l->j */
{
    kvs__err e;
    kvs__json_free(&l->j);
    if (l->at >= l->n) return 0;
    const char *p = l->text + l->at, *end = (const char *)memchr(p, '\n', l->n - l->at);
    size_t len = end ? (size_t)(end - p) : l->n - l->at;
    l->at += len + 1;
    kvs_result r = kvs__json_parse(&l->mem, p, len, "case", &l->j, &e);
    CHECK_MSG(r == KVS_OK, "%s", e.text);
    return r == KVS_OK;
}
static int tok_lines_open(tok_lines *l, const char *path)
{
    memset(l, 0, sizeof *l);
    kvs__mem_init(&l->mem, NULL);
    l->text = t_read(path, &l->n);
    return l->text != NULL;
}

static int32_t *tok_ids(const kvs__json *j, const kvs__json_node *list, size_t *n)   /* malloc'd */
{
    int32_t *ids = (int32_t *)malloc((list ? list->count + 1 : 1) * sizeof *ids);
    int64_t v;
    *n = 0;
    for (const kvs__json_node *x = kvs__json_first(j, list); x; x = kvs__json_next(j, x))
        ids[(*n)++] = kvs__json_int(x, &v) ? -1 : (int32_t)v;
    return ids;
}

static void tok_check_encode(const kvs_tokenizer *t, const char *name, const kvs__json *j, const kvs__json_node *o,
                             const char *key, int flags)
{
    size_t len = 0, n = 0;
    const char *text = kvs__json_str(j, kvs__json_get(j, o, "text"), &len);
    int32_t *want = tok_ids(j, kvs__json_get(j, o, key), &n);
    int64_t got = kvs_tokenizer_encode(t, text, len, flags, NULL, 0);
    int32_t *ids = (int32_t *)malloc((size_t)(got > 0 ? got : 0) * sizeof *ids + 4);
    CHECK_EQ_INT(kvs_tokenizer_encode(t, text, len, flags, ids, (size_t)(got > 0 ? got : 0)), got);
    size_t same = 0;
    while (got > 0 && same < n && same < (size_t)got && ids[same] == want[same]) same++;
    CHECK_MSG(got == (int64_t)n && same == n, "%s: %s of \"%s\": %lld ids, expected %zu, id %zu is %d, expected %d",
              name, key, text,
              (long long)got, n, same, got > (int64_t)same ? ids[same] : -1, same < n ? want[same] : -1);
    free(ids);
    free(want);
}

/* Feeds ids one by one: every piece is whole UTF-8. Returns the length. */
static size_t tok_stream(const kvs_tokenizer *t, const int32_t *ids, size_t n, int flags, char *out)
{
    kvs_stream s;
    char piece[KVS_MAX_PIECE];
    size_t len = 0;
    memset(&s, 0, sizeof s);
    for (size_t i = 0; i <= n; i++) {
        int64_t k = i < n ? kvs_stream_put(t, &s, ids[i], flags, piece, sizeof piece)
            : kvs_stream_flush(t, &s, piece, sizeof piece);
        CHECK_MSG(k >= 0, "stream: %lld", (long long)k);
        if (k <= 0) continue;
        CHECK(kvs__utf8_valid(piece, (size_t)k) == (size_t)k);
        memcpy(out + len, piece, (size_t)k);
        len += (size_t)k;
    }
    CHECK_EQ_INT(kvs_stream_flush(t, &s, piece, sizeof piece), 0);
    return len;
}

static void tok_check_decode(const kvs_tokenizer *t, const char *name, const kvs__json *j, const kvs__json_node *o,
                             const char *key, int flags)
{
    size_t n = 0, len = 0;
    int32_t *ids = tok_ids(j, kvs__json_get(j, o, "ids"), &n);
    const char *want = kvs__json_str(j, kvs__json_get(j, o, key), &len);
    int64_t got = kvs_tokenizer_decode(t, ids, n, flags, NULL, 0);
    char *text = (char *)malloc((size_t)(got > 0 ? got : 0) + 1);
    CHECK_EQ_INT(kvs_tokenizer_decode(t, ids, n, flags, text, (size_t)got), got);
    text[got] = 0;
    CHECK_MSG(want && (size_t)got == len && memcmp(text, want, len) == 0, "%s: %s \"%s\", expected \"%s\"", name, key,
              text, want);
    CHECK_EQ_INT(tok_stream(t, ids, n, flags, text), got);
    CHECK_MSG(want && memcmp(text, want, len) == 0, "%s: streamed \"%s\", expected \"%s\"", name, text, want);
    free(text);
    free(ids);
}

/* All cases of a cases.jsonl. Returns how many. */
static int tok_cases(const char *tokenizer, const char *cases)
{
    tok_lines l;
    int n = 0;
    kvs_tokenizer *t = tok_open(tokenizer);
    if (!t || !tok_lines_open(&l, cases)) { kvs_tokenizer_close(t); return 0; }
    for (; tok_next(&l); n++) {
        const kvs__json_node *root = kvs__json_root(&l.j);
        tok_check_encode(t, tokenizer, &l.j, root, "ids", KVS_PARSE_SPECIAL);
        tok_check_encode(t, tokenizer, &l.j, root, "ids_special", KVS_PARSE_SPECIAL | KVS_ADD_SPECIAL);
        tok_check_decode(t, tokenizer, &l.j, root, "decoded", 0);
        tok_check_decode(t, tokenizer, &l.j, root, "decoded_skip_special", KVS_SKIP_SPECIAL);
    }
    free(l.text);
    kvs_tokenizer_close(t);
    return n;
}

static const char *const tok_models[] = {"gpt2", "mistral", "qwen3", "deepseek_v3", "gptoss"};

static void test_tokenizer_models(void)
{
    char path[256], cases[256];
    for (size_t i = 0; i < KVS__COUNT(tok_models); i++) {
        snprintf(path, sizeof path, TOK_DATA "%s", tok_models[i]);
        snprintf(cases, sizeof cases, TOK_DATA "%s/cases.jsonl", tok_models[i]);
        CHECK_EQ_INT(tok_cases(path, cases), 175);
    }
    CHECK_EQ_INT(tok_cases(TOK_DATA "gpt2/files", TOK_DATA "gpt2/cases.jsonl"), 175);   /* vocab.json + merges.txt */
}

static void test_tokenizer_full(void)
{
    const char *dir = getenv("KVS_TOKENIZER_DIR");
    char path[512], cases[512];
    for (size_t i = 0; dir && i < KVS__COUNT(tok_models); i++) {
        snprintf(path, sizeof path, "%s/%s", dir, tok_models[i]);
        snprintf(cases, sizeof cases, "%s/%s/cases.jsonl", dir, tok_models[i]);
        CHECK_EQ_INT(tok_cases(path, cases), 175);
    }
}

static void test_tokenizer_parts(void)
{
    tok_lines l;
    int n = 0;
    kvs__err e;
    kvs_result r;
    if (!tok_lines_open(&l, TOK_DATA "synthetic.jsonl")) { CHECK(!"synthetic.jsonl is there"); return; }
    for (; tok_next(&l); n++) {
        size_t len = 0;
        const kvs__json_node *root = kvs__json_root(&l.j), *c;
        const char *name = kvs__json_str(&l.j, kvs__json_get(&l.j, root, "name"), NULL);
        const char *json = kvs__json_str(&l.j, kvs__json_get(&l.j, root, "tokenizer"), &len);
        kvs_tokenizer *t = tok_parse(json, len, &r, &e);
        CHECK_MSG(t != NULL, "%s: %s", name, e.text);
        if (!t) continue;
        for (c = kvs__json_first(&l.j, kvs__json_get(&l.j, root, "encode")); c; c = kvs__json_next(&l.j, c)) {
            tok_check_encode(t, name, &l.j, c, "ids", KVS_PARSE_SPECIAL);
            tok_check_encode(t, name, &l.j, c, "special", KVS_PARSE_SPECIAL | KVS_ADD_SPECIAL);
            tok_check_encode(t, name, &l.j, c, "plain", 0);
        }
        for (c = kvs__json_first(&l.j, kvs__json_get(&l.j, root, "decode")); c; c = kvs__json_next(&l.j, c)) {
            tok_check_decode(t, name, &l.j, c, "text", 0);
            tok_check_decode(t, name, &l.j, c, "skip", KVS_SKIP_SPECIAL);
        }
        kvs_tokenizer_close(t);
    }
    CHECK(n > 100);
    free(l.text);
}

/* ---- one way against another ---- */

/* Text of words, runs and odd characters, maybe broken. */
static size_t tok_random_text(char *out, size_t cap, int broken)
{
    static const char *const some[] = {" ", "the", " the", "hello", "\n", "  ", "1", "23", "é", "你好", "안녕", "😀",
                                       "aaaa", "-", "--",
                                       "ab", "abc", "<s>", "<|im_start|>", "<|endoftext|>", "'s", "\xE2\x96\x81", "x",
                                           "\t", "ing", "ER"};
    static const char *const bad[] = {"\xff", "\xc3", "\xe4\xbd", "\xf0\x9f\x98", "\x80", "\xed\xa0\x80", "\xc0\xaf"};
    size_t n = 0, want = (size_t)t_range(0, (int)cap - 20);
    while (n < want) {
        const char *s = broken && t_range(0, 5) == 0 ? bad[t_rand() % KVS__COUNT(bad)]
            : some[t_rand() % KVS__COUNT(some)];
        for (int k = t_range(0, 9) ? 1 : t_range(1, 30); k > 0 && n < want; k--) { memcpy(out + n, s,
                                                                                          strlen(s)); n += strlen(s); }
    }
    return n;
}

/* c must be fresh. Appends nothing anywhere else. */
static int tok_same(kvs__tok_call *a, kvs__tok_call *b)
{
    return a->out.n == b->out.n && (a->out.n == 0 || memcmp(a->out.id, b->out.id, a->out.n * sizeof *a->out.id) == 0);
}

static void test_tokenizer_invalid_utf8(void)
{
    static const struct { const char *bad, *good; } pair[] = {
        {"a\xff" "b", "a\xEF\xBF\xBD" "b"}, {"\xc3", "\xEF\xBF\xBD"}, {"\xe4\xbd", "\xEF\xBF\xBD"},
            {"\xe4\xbd" "a", "\xEF\xBF\xBD" "a"},
        {"\xf0\x9f\x98", "\xEF\xBF\xBD"}, {"\xed\xa0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
            {"\xc0\xaf", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xf4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, {"\xEF\xBF\xBD", "\xEF\xBF\xBD"}};
    for (size_t m = 0; m < 2; m++) {
        kvs_tokenizer *t = tok_open(m ? TOK_DATA "mistral" : TOK_DATA "qwen3");
        for (size_t i = 0; t && i < KVS__COUNT(pair); i++) {
            int32_t a[64], b[64];
            int64_t x = kvs_tokenizer_encode(t, pair[i].bad, strlen(pair[i].bad), 0, a, 64);
            int64_t y = kvs_tokenizer_encode(t, pair[i].good, strlen(pair[i].good), 0, b, 64);
            CHECK_MSG(x == y && x > 0 && memcmp(a, b, (size_t)x * sizeof *a) == 0, "broken text %zu", i);
        }
        kvs_tokenizer_close(t);
    }
}

/* The cache of words and the cut of long pieces change no id; neither does the heap where the scan would do. */
static void test_tokenizer_shortcuts(void)
{
    char text[1200];
    for (size_t m = 0; m < KVS__COUNT(tok_models); m++) {
        char path[256];
        snprintf(path, sizeof path, TOK_DATA "%s", tok_models[m]);
        kvs_tokenizer *t = tok_open(path);
        t_seed(m);
        for (int round = 0; t && round < 150; round++) {
            size_t n = tok_random_text(text, round % 3 ? sizeof text : 60, round % 5 == 0);
            kvs__tok_call a, b;
            kvs__tok_call_init(&a, t, sizeof text, 0);
            kvs__tok_call_init(&b, t, 0, 0);
            CHECK(a.word && !b.word);
            CHECK_EQ_INT(kvs__tok_encode(&a, text, n, 0), KVS_OK);
            CHECK_EQ_INT(kvs__tok_encode(&b, text, n, 0), KVS_OK);
            CHECK(tok_same(&a, &b));
            kvs__tok_call_free(&a); kvs__tok_call_free(&b);
            if (kvs__utf8_valid(text, n) < n) continue;
            kvs__tok_call_init(&a, t, 0, 0);
            kvs__tok_call_init(&b, t, 0, 0);
            CHECK_EQ_INT(kvs__bpe_piece(&a, text, n), KVS_OK);
            CHECK_EQ_INT(kvs__bpe_merge(&b, text, n), KVS_OK);
            if (!t->ignore_merges) CHECK(tok_same(&a, &b));
            size_t k = 0;
            CHECK_EQ_INT(kvs__bpe_symbols(&a, text, n < 40 ? n : 40), KVS_OK);
            CHECK_EQ_INT(kvs__bpe_symbols(&b, text, n < 40 ? n : 40), KVS_OK);
            k = a.sym.n;
            if (k > 1) {
                CHECK_EQ_INT(kvs__bpe_merge_long(&a, a.sym.id, &a.sym.n), KVS_OK);
                b.sym.n = kvs__bpe_merge_short(&b, b.sym.id, k);
                CHECK(a.sym.n == b.sym.n && memcmp(a.sym.id, b.sym.id, a.sym.n * sizeof *a.sym.id) == 0);
            }
            kvs__tok_call_free(&a); kvs__tok_call_free(&b);
        }
        kvs_tokenizer_close(t);
    }
}

/* A million equal letters, a million unknown ones, a million spaces: one word each. */
static void test_tokenizer_long_word(void)
{
    enum { N = 1000000 };
    char *text = (char *)malloc(2 * N), *back = (char *)malloc(2 * N + 8);
    int32_t *ids = (int32_t *)malloc(2 * N * sizeof *ids);
    for (size_t m = 0; m < 2; m++) {
        kvs_tokenizer *t = tok_open(m ? TOK_DATA "mistral" : TOK_DATA "gpt2");
        for (int kind = 0; t && kind < 3; kind++) {
            size_t n = N;
            memset(text, kind ? ' ' : 'a', N);
            if (kind == 2) for (n = 0; n < N; n += 2) memcpy(text + n, "\xC4\xA6", 2);
            int64_t k = kvs_tokenizer_encode(t, text, n, 0, ids, 2 * N);
            CHECK(k > 0 && k <= 2 * N);
            CHECK_EQ_INT(kvs_tokenizer_decode(t, ids, (size_t)k, 0, back, 2 * N), n);
            CHECK(memcmp(text, back, n) == 0);
        }
        kvs_tokenizer_close(t);
    }
    free(text); free(back); free(ids);
}

/* ---- streams ---- */

static void test_tokenizer_stream_random(void)
{
    int32_t ids[80];
    char *a = (char *)malloc(80 * KVS_MAX_PIECE), *b = (char *)malloc(80 * KVS_MAX_PIECE);
    for (size_t m = 0; m < KVS__COUNT(tok_models); m++) {
        char path[256];
        snprintf(path, sizeof path, TOK_DATA "%s", tok_models[m]);
        kvs_tokenizer *t = tok_open(path);
        t_seed(100 + m);
        for (int round = 0; t && round < 300; round++) {
            size_t n = (size_t)t_range(0, 80);
            int low = round % 2;                   /* byte tokens: mistral's are 3..258, the others' below 256 or so */
            for (size_t i = 0; i < n; i++) ids[i] = t_range(-1, low ? 260 : kvs_tokenizer_vocab_size(t));
            int flags = round % 3 ? 0 : KVS_SKIP_SPECIAL;
            int64_t k = kvs_tokenizer_decode(t, ids, n, flags, a, 80 * KVS_MAX_PIECE);
            CHECK_EQ_INT(tok_stream(t, ids, n, flags, b), k);
            CHECK(k >= 0 && memcmp(a, b, (size_t)k) == 0);
            CHECK(kvs__utf8_valid(a, (size_t)k) == (size_t)k);
        }
        kvs_tokenizer_close(t);
    }
    free(a); free(b);
}

/* An emoji of four byte tokens comes out whole; a buffer that is too small changes nothing. */
static void test_tokenizer_stream_bytes(void)
{
    kvs_tokenizer *t = tok_open(TOK_DATA "mistral");
    kvs_stream s, was;
    char out[KVS_MAX_PIECE];
    if (!t) return;
    memset(&s, 0, sizeof s);
    static const unsigned char emoji[] = {0xF0, 0x9F, 0x98, 0x80};
    for (int i = 0; i < 4; i++) CHECK_EQ_INT(kvs_stream_put(t, &s, 3 + emoji[i], 0, out, sizeof out), 0);
    was = s;
    CHECK_EQ_INT(kvs_stream_put(t, &s, kvs_tokenizer_id(t, "a", 1), 0, out, 4), KVS_ERR_CAPACITY);
    CHECK(memcmp(&s, &was, sizeof s) == 0);
    CHECK_EQ_INT(kvs_stream_put(t, &s, kvs_tokenizer_id(t, "a", 1), 0, out, sizeof out), 5);
    CHECK(memcmp(out, "\xF0\x9F\x98\x80" "a", 5) == 0);
    for (int i = 0; i < 3; i++) CHECK_EQ_INT(kvs_stream_put(t, &s, 3 + emoji[i], 0, out, sizeof out), 0);
    CHECK_EQ_INT(kvs_stream_flush(t, &s, out, sizeof out), 9);        /* three bytes that never became a character */
    size_t len = 0;                                                  /* a long run of whole characters comes in time */
    for (int i = 0; i < 400; i++) {
        int64_t k = kvs_stream_put(t, &s, 3 + emoji[i % 4], 0, out, sizeof out);
        CHECK(k >= 0 && k % 4 == 0);
        len += (size_t)k;
    }
    CHECK(len >= 400 - (size_t)KVS__RUN);
    CHECK_EQ_INT(kvs_stream_flush(t, &s, out, sizeof out) + (int64_t)len, 400);
    kvs_tokenizer_close(t);
}

/* ---- control tokens ---- */

/* No way of spelling makes a control token unless it is asked for: whole words, merges, added tokens. */
static void test_tokenizer_no_injection(void)
{
    static const char json[] =
        "{'added_tokens':[{'id':4,'content':'<x>','special':true}],'model':{'type':'BPE','ignore_merges':true,"
        "'vocab':{'<':0,'x':1,'>':2,'<x':3,'<x>':4},'merges':['< x','<x >']}}";
    kvs_result r;
    kvs__err e;
    int32_t ids[8];
    kvs_tokenizer *t = tok_quoted(json, &r, &e);
    CHECK_MSG(t != NULL, "%s", e.text);
    if (!t) return;
    CHECK_EQ_INT(kvs_tokenizer_encode(t, "<x>", 3, KVS_PARSE_SPECIAL, ids, 8), 1);
    CHECK_EQ_INT(ids[0], 4);
    CHECK_EQ_INT(kvs_tokenizer_encode(t, "<x>", 3, 0, ids, 8), 2);
    CHECK(ids[0] == 3 && ids[1] == 2);
    CHECK_EQ_INT(kvs_tokenizer_encode(t, "<<x>", 4, 0, ids, 8), 3);
    kvs_tokenizer_close(t);
    for (size_t m = 0; m < KVS__COUNT(tok_models); m++) {
        char path[256], text[64];
        snprintf(path, sizeof path, TOK_DATA "%s", tok_models[m]);
        t = tok_open(path);
        for (int32_t id = 0; t && id < kvs_tokenizer_vocab_size(t); id++) {
            if (!kvs_tokenizer_is_special(t, id)) continue;
            size_t n;
            const char *s = kvs_tokenizer_token(t, id, &n);
            int32_t got[64];
            CHECK_EQ_INT(kvs_tokenizer_encode(t, s, n, KVS_PARSE_SPECIAL, got, 64), 1);
            CHECK_EQ_INT(got[0], id);
            int64_t k = kvs_tokenizer_encode(t, s, n, 0, got, 64);
            CHECK(k > 1);
            for (int64_t i = 0; i < k; i++) CHECK(!kvs_tokenizer_is_special(t, got[i]));
            CHECK_EQ_INT(kvs_tokenizer_decode(t, got, (size_t)k, 0, text, sizeof text), n);
        }
        kvs_tokenizer_close(t);
    }
}

/* ---- the interface ---- */

static void test_tokenizer_lookup(void)
{
    kvs_tokenizer *t = tok_open(TOK_DATA "qwen3");
    size_t n = 99;
    if (!t) return;
    CHECK_EQ_INT(kvs_tokenizer_vocab_size(t), 151669);
    CHECK_EQ_INT(kvs_tokenizer_id(t, "<|im_start|>", 12), 151644);
    CHECK_STR(kvs_tokenizer_token(t, 151644, &n), "<|im_start|>");
    CHECK_EQ_INT(n, 12);
    CHECK_EQ_INT(kvs_tokenizer_is_special(t, 151644), 1);
    CHECK_EQ_INT(kvs_tokenizer_is_special(t, 0), 0);
    CHECK_STR(kvs_tokenizer_token(t, 0, NULL), "!");
    CHECK(kvs_tokenizer_token(t, -1, &n) == NULL && n == 0);
    CHECK(kvs_tokenizer_token(t, 1 << 30, NULL) == NULL);
    CHECK_EQ_INT(kvs_tokenizer_id(t, "no such token", 13), -1);
    int32_t ids[2] = {7, 7};
    int64_t all = kvs_tokenizer_encode(t, "1 2 3", 5, 0, ids, 1);
    CHECK(all > 1 && ids[0] != 7 && ids[1] == 7);                    /* cap is kept, the count is of all */
    CHECK_EQ_INT(kvs_tokenizer_encode(t, NULL, 0, 0, NULL, 0), 0);
    CHECK_EQ_INT(kvs_tokenizer_encode(t, NULL, 1, 0, NULL, 0), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_tokenizer_encode(NULL, "a", 1, 0, NULL, 0), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_tokenizer_encode(t, "a", 1, 0, NULL, 1), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_tokenizer_decode(t, NULL, 1, 0, NULL, 0), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_tokenizer_decode(t, NULL, 0, 0, NULL, 0), 0);
    CHECK_EQ_INT(kvs_stream_put(t, NULL, 0, 0, NULL, 0), KVS_ERR_INVALID);
    kvs_tokenizer_close(t);
    kvs_tokenizer_close(NULL);
    CHECK_EQ_INT(kvs_tokenizer_open(NULL, NULL, &t, NULL), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_tokenizer_vocab_size(NULL), 0);
}

/* vocab.json + merges.txt with both config files: prefix space, added tokens, special ones. */
static void test_tokenizer_folder(void)
{
    kvs_tokenizer *t = tok_open(TOK_DATA "folder");
    int32_t ids[16];
    if (!t) return;
    CHECK_EQ_INT(kvs_tokenizer_id(t, "<end>", 5), 261);
    CHECK_EQ_INT(kvs_tokenizer_id(t, "[tool]", 6), 262);
    CHECK_EQ_INT(kvs_tokenizer_id(t, "<begin>", 7), 263);
    CHECK_EQ_INT(kvs_tokenizer_id(t, "<tool>", 6), 264);
    CHECK(kvs_tokenizer_is_special(t, 261) && !kvs_tokenizer_is_special(t, 262) && kvs_tokenizer_is_special(t, 263)
          && kvs_tokenizer_is_special(t, kvs_tokenizer_id(t, "<pad>", 5)));
    CHECK_EQ_INT(kvs_tokenizer_encode(t, "the  <begin>the<end>[tool]", 26, KVS_PARSE_SPECIAL, ids, 16), 5);
    CHECK(ids[0] == 258 && ids[1] == 263 && ids[2] == 258 && ids[3] == 261 && ids[4] == 262);
    kvs_tokenizer_close(t);
}

/* ---- hostile files ---- */

#define TOK_MODEL "'model':{'type':'BPE','vocab':{'a':0,'b':1,'ab':2},'merges':['a b']}"

static void test_tokenizer_refuses(void)
{
    static const struct { const char *json; kvs_result code; const char *says[3]; } bad[] = {
        {"", KVS_ERR_FORMAT, {"t.json:1"}},
        {"{'model':{'type':'BPE',", KVS_ERR_FORMAT, {"t.json:1", "the end of the file"}},
        {"[]", KVS_ERR_FORMAT, {"an array", "an object"}},
        {"{}", KVS_ERR_FORMAT, {"\"model\"", "nothing"}},
        {"{'model':3}", KVS_ERR_FORMAT, {"\"model\"", "a number", "an object"}},
        {"{'version':'2.0'," TOK_MODEL "}", KVS_ERR_UNSUPPORTED, {"version", "2.0"}},
        {"{'model':{'type':'WordPiece','vocab':{}}}", KVS_ERR_UNSUPPORTED,
         {"model", "WordPiece", "not implemented"}},
        {"{'model':{'type':'Unigram'}}", KVS_ERR_UNSUPPORTED, {"model", "Unigram"}},
        {"{'model':{'type':'BPE'}}", KVS_ERR_FORMAT, {"model", "vocab", "nothing"}},
        {"{'model':{'vocab':{}}}", KVS_ERR_FORMAT, {"model", "merges"}},
        {"{'model':{'vocab':[],'merges':[]}}", KVS_ERR_FORMAT, {"vocab", "an array"}},
        {"{'model':{'vocab':{'a':'0'},'merges':[]}}", KVS_ERR_FORMAT, {"model.vocab", "\"a\""}},
        {"{'model':{'vocab':{'a':-1},'merges':[]}}", KVS_ERR_FORMAT, {"model.vocab", "\"a\"", "from 0"}},
        {"{'model':{'vocab':{'a':1.5},'merges':[]}}", KVS_ERR_FORMAT, {"\"a\""}},
        {"{'model':{'vocab':{'a':4194304},'merges':[]}}", KVS_ERR_FORMAT, {"\"a\"", "4194303"}},
        {"{'model':{'vocab':{'a':1e30},'merges':[]}}", KVS_ERR_FORMAT, {"\"a\""}},
        {"{'model':{'vocab':{'a':99999999999999999999},'merges':[]}}", KVS_ERR_FORMAT, {"\"a\""}},
        {"{'model':{\n'vocab':{'a':1,\n'b':1},'merges':[]}}", KVS_ERR_FORMAT,
         {"t.json:3", "\"a\" and \"b\"", "same id 1"}},
        {"{'model':{'vocab':{'a':1,'a':2},'merges':[]}}", KVS_ERR_FORMAT, {"\"a\"", "twice"}},
        {"{'model':{'vocab':{'a':1},'merges':['a b']}}", KVS_ERR_FORMAT,
         {"model.merges[0]", "\"b\"", "not in the vocabulary"}},
        {"{'model':{'vocab':{'a':1,'b':2},'merges':['a b']}}", KVS_ERR_FORMAT,
         {"model.merges[0]", "\"ab\""}},
        {"{'model':{'vocab':{'a':1,'aa':2},'merges':['a a','aa']}}", KVS_ERR_FORMAT,
         {"merge 1", "\"aa\"", "one space"}},
        {"{'model':{'vocab':{'a':1,'aa':2},'merges':['a a a']}}", KVS_ERR_FORMAT, {"\"a a a\""}},
        {"{'model':{'vocab':{'a':1,'aa':2},'merges':[['a']]}}", KVS_ERR_FORMAT, {"merge 0", "an array"}},
        {"{'model':{'vocab':{'a':1,'aa':2},'merges':[['a',1]]}}", KVS_ERR_FORMAT, {"merge 0"}},
        {"{'model':{'vocab':{'a':1},'merges':[null]}}", KVS_ERR_FORMAT, {"merge 0", "null"}},
        {"{'model':{'vocab':{'a':1},'merges':[],'dropout':0.1}}", KVS_ERR_UNSUPPORTED, {"dropout"}},
        {"{'model':{'vocab':{'a':1},'merges':[],'continuing_subword_prefix':'##'}}", KVS_ERR_UNSUPPORTED,
         {"continuing_subword_prefix"}},
        {"{'model':{'vocab':{'a':1},'merges':[],'end_of_word_suffix':'</w>'}}", KVS_ERR_UNSUPPORTED,
         {"end_of_word_suffix"}},
        {"{'model':{'vocab':{'a':1},'merges':[],'byte_fallback':1}}", KVS_ERR_FORMAT,
         {"byte_fallback", "a number"}},
        {"{'model':{'vocab':{'a':1},'merges':[],'unk_token':1}}", KVS_ERR_FORMAT, {"unk_token", "a number"}},
        {"{" TOK_MODEL ",'added_tokens':{}}", KVS_ERR_FORMAT, {"added_tokens", "an object", "an array"}},
        {"{" TOK_MODEL ",'added_tokens':[3]}", KVS_ERR_FORMAT, {"added_tokens[0]"}},
        {"{" TOK_MODEL ",'added_tokens':[{'id':3}]}", KVS_ERR_FORMAT, {"added_tokens[0]", "content"}},
        {"{" TOK_MODEL ",'added_tokens':[{'id':-3,'content':'x'}]}", KVS_ERR_FORMAT,
         {"added_tokens[0]", "id", "-3"}},
        {"{" TOK_MODEL ",'added_tokens':[{'id':3,'content':'x','special':'yes'}]}", KVS_ERR_FORMAT,
         {"special", "a string"}},
        {"{'added_tokens':[{'id':1,'content':'x'}],'model':{'vocab':{'a':1},'merges':[]}}",
         KVS_ERR_FORMAT, {"\"x\"", "id 1", "\"a\""}},
        {"{" TOK_MODEL ",'normalizer':{'type':'BertNormalizer'}}", KVS_ERR_UNSUPPORTED,
         {"normalizer", "BertNormalizer"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Precompiled'}}", KVS_ERR_UNSUPPORTED,
         {"normalizer", "Precompiled"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Sequence','normalizers':[{'type':'NFC'},{'type':'Foo'}]}}",
         KVS_ERR_UNSUPPORTED,
         {"normalizer.normalizers[1]", "Foo"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Sequence','normalizers':[3]}}", KVS_ERR_FORMAT,
         {"normalizers[0]", "a number"}},
        {"{" TOK_MODEL ",'normalizer':{}}", KVS_ERR_FORMAT, {"normalizer", "type"}},
        {"{" TOK_MODEL ",'normalizer':[]}", KVS_ERR_FORMAT, {"normalizer", "an array"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Replace','pattern':{'Regex':'('},'content':''}}",
         KVS_ERR_FORMAT, {"normalizer"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Replace','pattern':{'String':''},'content':''}}",
         KVS_ERR_UNSUPPORTED, {"empty pattern"}},
        {"{" TOK_MODEL ",'normalizer':{'type':'Strip','strip_left':true}}", KVS_ERR_FORMAT, {"strip_right"}},
        {"{" TOK_MODEL ",'pre_tokenizer':{'type':'BertPreTokenizer'}}", KVS_ERR_UNSUPPORTED,
         {"pre_tokenizer", "BertPreTokenizer"}},
        {"{" TOK_MODEL ",'pre_tokenizer':{'type':'Split','pattern':{'String':'a'},'behavior':'Odd','invert':false}}",
         KVS_ERR_UNSUPPORTED, {"pre_tokenizer", "behavior", "Odd"}},
        {"{" TOK_MODEL ",'pre_tokenizer':{'type':'Split','pattern':'a','behavior':'Removed','invert':false}}",
         KVS_ERR_FORMAT,
         {"pattern", "a string"}},
        {"{" TOK_MODEL ",'pre_tokenizer':{'type':'Metaspace','replacement':'ab'}}", KVS_ERR_FORMAT,
         {"replacement", "one character"}},
        {"{" TOK_MODEL ",'decoder':{'type':'WordPiece'}}", KVS_ERR_UNSUPPORTED, {"decoder", "WordPiece"}},
        {"{" TOK_MODEL ",'decoder':{'type':'Sequence','decoders':[{'type':'Fuse'},{'type':'ByteFallback'}]}}",
         KVS_ERR_UNSUPPORTED,
         {"decoder.decoders[1]", "behind Fuse"}},
        {"{" TOK_MODEL ",'decoder':{'type':'Replace','pattern':{'Regex':'a'},'content':''}}",
         KVS_ERR_UNSUPPORTED, {"decoder", "regular"}},
        {"{" TOK_MODEL ",'decoder':{'type':'Strip','content':' ','start':-1,'stop':0}}", KVS_ERR_FORMAT,
         {"decoder", "start", "-1"}},
        {"{" TOK_MODEL ",'post_processor':{'type':'Odd'}}", KVS_ERR_UNSUPPORTED, {"post_processor", "Odd"}},
        {"{" TOK_MODEL ",'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'x'}}],"
         "'special_tokens':{}}}",
         KVS_ERR_FORMAT, {"post_processor", "\"x\""}},
        {"{" TOK_MODEL ",'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'x'}},"
         "{'Sequence':{'id':'A'}}],'special_tokens':{'x':{'ids':[7]}}}}", KVS_ERR_FORMAT,
             {"post_processor", "id 7"}},
        {"{" TOK_MODEL ",'post_processor':{'type':'TemplateProcessing','single':[]}}", KVS_ERR_UNSUPPORTED,
         {"0 sequences"}},
        {"{" TOK_MODEL ",'post_processor':{'type':'BertProcessing','cls':['a'],'sep':['b',1]}}",
         KVS_ERR_FORMAT, {"post_processor"}},
    };
    for (size_t i = 0; i < KVS__COUNT(bad); i++) {
        kvs__err e;
        kvs_result r;
        kvs_tokenizer *t = tok_quoted(bad[i].json, &r, &e);
        CHECK_MSG(t == NULL && r == bad[i].code, "%s: gives %s: %s", bad[i].json, kvs_result_str(r), e.text);
        for (int k = 0; k < 3 && bad[i].says[k]; k++)
            CHECK_MSG(strstr(e.text, bad[i].says[k]) != NULL, "\"%s\" does not mention \"%s\"", e.text, bad[i].says[k]);
        kvs_tokenizer_close(t);
    }
}

/* Sizes that only a file made for it has. */
static void test_tokenizer_refuses_sizes(void)
{
    char *json = (char *)malloc(200000), *p;
    kvs__err e;
    kvs_result r;
    p = json + sprintf(json, "{'model':{'merges':[],'vocab':{'");
    memset(p, 'x', KVS_MAX_PIECE);
    strcpy(p + KVS_MAX_PIECE, "':0}}}");
    CHECK(tok_quoted(json, &r, &e) == NULL && r == KVS_ERR_UNSUPPORTED);
    CHECK_HAS(e.text, "1024 bytes");
    p = json + sprintf(json, "{" TOK_MODEL ",'normalizer':");
    for (int i = 0; i < 20; i++) p += sprintf(p, "{'type':'Sequence','normalizers':[");
    p += sprintf(p, "{'type':'NFC'}");
    for (int i = 0; i < 20; i++) p += sprintf(p, "]}");
    strcpy(p, "}");
    CHECK(tok_quoted(json, &r, &e) == NULL && r == KVS_ERR_UNSUPPORTED);
    CHECK_HAS(e.text, "nested");
    p = json + sprintf(json,
                       "{" TOK_MODEL ",'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'Whitespace'}");
    for (int i = 0; i < 20; i++) p += sprintf(p, ",{'type':'Whitespace'}");
    strcpy(p, "]}}");
    CHECK(tok_quoted(json, &r, &e) == NULL && r == KVS_ERR_UNSUPPORTED);
    CHECK_HAS(e.text, "more than 16");
    p = json + sprintf(json,
                       "{" TOK_MODEL ",'decoder':{'type':'Replace','pattern':{'String':'a'},'content':'");
    memset(p, 'y', 600);
    strcpy(p + 600, "'}}");
    CHECK(tok_quoted(json, &r, &e) == NULL && r == KVS_ERR_UNSUPPORTED);
    CHECK_HAS(e.text, "1024");
    free(json);
}

/* Cuts of a good file, at every length: refused, never worse. */
static void test_tokenizer_truncated(void)
{
    size_t n = 0;
    char *json = t_read(TOK_DATA "mistral/tokenizer.json", &n);
    kvs__err e;
    kvs_result r;
    for (size_t len = 0; json && len + 2 < n; len += 1 + len / 16) {
        CHECK(tok_parse(json, len, &r, &e) == NULL);
        CHECK(r == KVS_ERR_FORMAT && e.text[0]);
    }
    CHECK(json != NULL);
    free(json);
    char err[KVS_MAX_ERROR];
    kvs_tokenizer *t;
    CHECK_EQ_INT(kvs_tokenizer_open("tests/data/none", NULL, &t, err), KVS_ERR_IO);
    CHECK(t == NULL);
    CHECK_HAS(err, "tests/data/none");
    CHECK_EQ_INT(kvs_tokenizer_open("tests/data", NULL, &t, err), KVS_ERR_IO);
    CHECK_HAS(err, "vocab.json");
}

/* ---- memory and threads ---- */

static int tok_allocs, tok_limit, tok_live;
static void *tok_alloc(size_t bytes, void *user)
{
    (void)user;
    if (tok_allocs++ >= tok_limit) return NULL;
    tok_live++;
    return malloc(bytes);
}
static void tok_free(void *p, void *user)
{
    (void)user;
    if (p) tok_live--;
    free(p);
}

/* Every allocation fails once: the answer is KVS_ERR_MEMORY (or it did without), and nothing is lost. */
static void test_tokenizer_no_memory(void)
{
    kvs_allocator a = {tok_alloc, tok_free, NULL};
    char err[KVS_MAX_ERROR];
    int32_t ids[600];
    tok_live = 0;
    for (size_t m = 0; m < 3; m++) {
        static const char *const path[] = {TOK_DATA "mistral", TOK_DATA "gpt2/files", TOK_DATA "deepseek_v3"};
        kvs_tokenizer *t = NULL;
        kvs_result r = KVS_ERR_MEMORY;
        for (tok_limit = 0; r && tok_limit < 10000; tok_limit++) {
            tok_allocs = 0;
            r = kvs_tokenizer_open(path[m], &a, &t, err);
            CHECK(r == KVS_OK || (r == KVS_ERR_MEMORY && !t && tok_live == 0 && err[0]));
        }
        CHECK(t != NULL);
        int64_t n = KVS_ERR_MEMORY;
        int live = tok_live;
        static const char text[] = "one two three <s> \xff 1234567 four five six seven eight nine ten eleven "
                                   "안녕하세요 thirteen";
        for (tok_limit = 0; t && n < 0 && tok_limit < 10000; tok_limit++) {
            tok_allocs = 0;
            n = kvs_tokenizer_encode(t, text, sizeof text - 1, KVS_PARSE_SPECIAL, ids, 600);
            CHECK(tok_live == live && (n > 0 || n == KVS_ERR_MEMORY));
        }
        CHECK(n > 0);
        kvs_tokenizer_close(t);
        CHECK_EQ_INT(tok_live, 0);
    }
}

static const kvs_tokenizer *tok_shared;
static void *tok_thread(void *arg)
{
    char *text = (char *)arg;
    int32_t ids[400];
    char back[4000];
    for (int i = 0; i < 200; i++) {
        int64_t n = kvs_tokenizer_encode(tok_shared, text, strlen(text), 0, ids, 400);
        int64_t k = kvs_tokenizer_decode(tok_shared, ids, (size_t)(n > 0 ? n : 0), 0, back, sizeof back);
        if (n <= 0 || (size_t)k != strlen(text) || memcmp(back, text, (size_t)k) != 0) return NULL;
    }
    return text;
}
static void test_tokenizer_threads(void)
{
    static char text[4][40] = {"the quick brown fox", "안녕하세요 세계", "for (int i = 0; i < n; i++) {}",
                               "1234567890 <|im_start|>"};
    pthread_t id[4];
    kvs_tokenizer *t = tok_open(TOK_DATA "qwen3");
    if (!t) return;
    tok_shared = t;
    for (int i = 0; i < 4; i++) CHECK_EQ_INT(pthread_create(&id[i], NULL, tok_thread, text[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *ok = NULL;
        pthread_join(id[i], &ok);
        CHECK(ok != NULL);
    }
    kvs_tokenizer_close(t);
}

SUITE(tokenizer)
{
    RUN(test_tokenizer_models);
    RUN(test_tokenizer_full);
    RUN(test_tokenizer_parts);
    RUN(test_tokenizer_invalid_utf8);
    RUN(test_tokenizer_shortcuts);
    RUN(test_tokenizer_long_word);
    RUN(test_tokenizer_stream_random);
    RUN(test_tokenizer_stream_bytes);
    RUN(test_tokenizer_no_injection);
    RUN(test_tokenizer_lookup);
    RUN(test_tokenizer_folder);
    RUN(test_tokenizer_refuses);
    RUN(test_tokenizer_refuses_sizes);
    RUN(test_tokenizer_truncated);
    RUN(test_tokenizer_no_memory);
    RUN(test_tokenizer_threads);
}
