/* >>json: every rule of RFC 8259 that a parser gets wrong, numbers against the C library, depth, duplicates, memory. */

static kvs_result json_try(const char *text, size_t n, kvs__json *j, kvs__err *e)
{
    static kvs__mem mem;
    kvs__mem_init(&mem, NULL);
    memset(j, 0, sizeof *j);
    e->text[0] = 0;
    return kvs__json_parse(&mem, text, n, "t.json", j, e);
}
static int json_ok(const char *text)
{
    kvs__json j; kvs__err e;
    int ok = json_try(text, strlen(text), &j, &e) == KVS_OK;
    if (!ok) CHECK(j.node == NULL && j.arena == NULL && e.text[0]);
    kvs__json_free(&j);
    return ok;
}

static void test_json_accepts(void)
{
    static const char *const good[] = {
        "0", "-0", "1", "-1.5e+3", "1E5", "1e-5", "true", "false", "null", "\"\"", " [ ] ", "{ }",
        "[1,2,[3,{\"a\":[]}]]", "\t\r\n0\n",
        "{\"\":0}", "\"\\u0000\"", "\"\\/\"", "\"\x7f\"", "\"\xf4\x8f\xbf\xbf\"", "\"\xef\xbf\xbd\"", "[[],[],{}]",
        "1e-999", "0e999999999999",
    };
    static const char *const bad[] = {
        "", " ", "[", "]", "{", "}", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\"}", "{\"a\" 1}", "{a:1}", "{1:1}",
        "{\"a\":}", "[1}", "{\"a\":1]",
        "01", "-01", "+1", ".5", "1.", "1.e5", "1e", "1e+", "-", "--1", "0x10", "1_000", "NaN", "Infinity",
        "-Infinity", "nul", "nulll", "True",
        "'a'", "\"", "\"a", "\"\\\"", "\"\\x41\"", "\"\\u12\"", "\"\\u123g\"", "\"\\U00000041\"", "\"\n\"", "\"\t\"",
        "\"\x1f\"", "1 1", "{} x", "[] []", "//c\n1",
        "/**/1", ("\xef\xbb\xbf" "1"), "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xff\"",
        "\"\xe2\x82\"", "\"\xe2\x82", "1e999", "-1e309", "[1e400]",
    };
    for (size_t i = 0; i < KVS__COUNT(good); i++) CHECK_MSG(json_ok(good[i]), "refused: %s", good[i]);
    for (size_t i = 0; i < KVS__COUNT(bad); i++) CHECK_MSG(!json_ok(bad[i]), "accepted: %s", bad[i]);
    kvs__json j; kvs__err e;
    CHECK(json_try("1\0", 2, &j, &e) != KVS_OK);
    CHECK(json_try("\"a\0b\"", 5, &j, &e) != KVS_OK);
    CHECK(json_try("[1\0]", 4, &j, &e) != KVS_OK);
}

static void test_json_tree(void)
{
    static const char text[] = "{\"a\": [1, \"two\", {\"b\": null}, []],\n \"t\": true, \"f\": false,\n"
                               "\"a\": {\"x\": -7}, \"\": 2.5}";
    kvs__json j; kvs__err e; size_t len; int64_t v = 0;
    CHECK_EQ_INT(json_try(text, sizeof text - 1, &j, &e), KVS_OK);
    const kvs__json_node *root = kvs__json_root(&j), *a = kvs__json_first(&j, root), *n;
    CHECK_EQ_INT(root->type, KVS__JSON_OBJECT);
    CHECK_EQ_INT(root->count, 5);
    CHECK_STR(kvs__json_key(&j, a, &len), "a");
    CHECK_EQ_INT(len, 1);
    CHECK_EQ_INT(a->type, KVS__JSON_ARRAY);
    CHECK_EQ_INT(a->count, 4);
    n = kvs__json_first(&j, a);
    CHECK_EQ_INT(kvs__json_int(n, &v), 0);
    CHECK_EQ_INT(v, 1);
    n = kvs__json_next(&j, n);
    CHECK_STR(kvs__json_str(&j, n, &len), "two");
    CHECK_EQ_INT(len, 3);
    CHECK(kvs__json_int(n, &v) == -1 && kvs__json_num(n, 9) == 9 && kvs__json_bool(n, 5) == 5);
    n = kvs__json_next(&j, n);
    CHECK_EQ_INT(kvs__json_get(&j, n, "b")->type, KVS__JSON_NULL);
    n = kvs__json_next(&j, n);
    CHECK(n->type == KVS__JSON_ARRAY && n->count == 0 && !kvs__json_first(&j, n) && !kvs__json_next(&j, n));
    n = kvs__json_next(&j, a);
    CHECK(kvs__json_bool(n, 0) == 1 && n->line == 2);
    CHECK(kvs__json_bool(kvs__json_next(&j, n), 1) == 0);
    CHECK_EQ_INT(kvs__json_int(kvs__json_get(&j, kvs__json_get(&j, root, "a"), "x"), &v), 0);   /* the last "a" */
    CHECK_EQ_INT(v, -7);
    CHECK(kvs__json_num(kvs__json_get(&j, root, ""), 0) == 2.5);
    CHECK(kvs__json_int(kvs__json_get(&j, root, ""), &v) == -1);
    CHECK(!kvs__json_get(&j, root, "nope") && !kvs__json_get(&j, a, "a") && !kvs__json_get(&j, NULL, "a"));
    CHECK(!kvs__json_str(&j, NULL, &len) && len == 0 && !kvs__json_first(&j, NULL) && !kvs__json_next(&j, NULL));
    kvs__json_free(&j);
    kvs__json_free(&j);                            /* twice does no harm */
    CHECK(!kvs__json_root(&j));
}

static void json_string(const char *text, const char *want, size_t want_len)
{
    kvs__json j; kvs__err e; size_t len;
    CHECK_EQ_INT(json_try(text, strlen(text), &j, &e), KVS_OK);
    const char *s = kvs__json_str(&j, kvs__json_root(&j), &len);
    CHECK_MSG(s && len == want_len && memcmp(s, want, len) == 0 && s[len] == 0, "%s gave \"%s\"", text, s);
    kvs__json_free(&j);
}

static void test_json_strings(void)
{
    json_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
    json_string("\"a\\u0000b\"", "a\0b", 3);
    json_string("\"\\u00e9\\u20AC\"", "\xc3\xa9\xe2\x82\xac", 5);
    json_string("\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80", 4);
    json_string("\"\\ud83d\"", "\xef\xbf\xbd", 3);
    json_string("\"\\ude00\\ud83d\"", "\xef\xbf\xbd\xef\xbf\xbd", 6);
    json_string("\"\\ud83d\\u0041\"", "\xef\xbf\xbd" "A", 4);
    json_string("\"\\ud83d\\n\"", "\xef\xbf\xbd\n", 4);
    json_string("\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80", 7);
    json_string("\"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\"", "\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd", 9);
}

static double json_number(const char *text)
{
    kvs__json j; kvs__err e;
    double d = NAN;
    if (json_try(text, strlen(text), &j, &e) == KVS_OK) d = kvs__json_num(kvs__json_root(&j), NAN);
    kvs__json_free(&j);
    return d;
}

/* The C library rounds correctly; the test runs in the "C" locale. */
static void test_json_numbers(void)
{
    static const char *const hard[] = {
        "1e-5", "1e-06", "0.1", "0.02", "1e22", "1e23", "123456789012345678901234567890", "1.7976931348623157e308",
        "2.2250738585072014e-308",
        "2.2250738585072011e-308", "4.9406564584124654e-324", "2.4703282292062328e-324", "2.4703282292062327e-324",
        "5e-324", "1e-400", "-0.0",
        "9007199254740993", "9007199254740993.0", "9007199254740992.99999999999999999999999",
        "9007199254740993.00000000000000000000000000001",
        "0.000000000000000000000000000000000000000000001e45", "1e308", "8.98846567431158e307",
        "6.631236846766476e-316", "3.2378839133029012895883524125015e-319",
        "18446744073709551616", "9223372036854775808", "-9223372036854775809", "7.0e-10", "500000.0",
        "1.0000000000000000000000e0", "0e5", "0.0e-999",
    };
    char buf[2000];
    for (size_t i = 0; i < KVS__COUNT(hard); i++) {
        double got = json_number(hard[i]), want = strtod(hard[i], NULL);
        CHECK_MSG(memcmp(&got, &want, sizeof got) == 0, "%s: %.17g, expected %.17g", hard[i], got, want);
    }
    t_seed(7);
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = t_rand();
        double want, got;
        memcpy(&want, &bits, sizeof want);
        if (!(fabs(want) < INFINITY)) continue;
        snprintf(buf, sizeof buf, "%.*e", t_range(16, 30), want);
        got = json_number(buf);
        CHECK_MSG(memcmp(&got, &want, sizeof got) == 0, "%s: %.17g", buf, got);
    }
    memset(buf, '9', 1500);                        /* more digits than are kept */
    snprintf(buf + 1500, 20, "e-1400");
    CHECK(json_number(buf) == strtod(buf, NULL));
    buf[1500] = 0;
    memset(buf, '0', 1500);                        /* exactly half, and a digit far out that breaks the tie */
    memcpy(buf, "9007199254740993.", 17);
    CHECK(json_number(buf) == 9007199254740992.0);
    buf[1400] = '1';
    CHECK(json_number(buf) == 9007199254740994.0);
}

static void test_json_integers(void)
{
    static const struct { const char *text; int ok; int64_t want; } t[] = {
        {"0", 1, 0}, {"-0", 1, 0}, {"9223372036854775807", 1, INT64_MAX}, {"-9223372036854775808", 1, INT64_MIN},
        {"9223372036854775808", 0, 0},
        {"-9223372036854775809", 0, 0}, {"1.0", 0, 0}, {"1e3", 0, 0}, {"10000000000000000000", 0, 0}, {"true", 0, 0},
        {"\"1\"", 0, 0},
    };
    for (size_t i = 0; i < KVS__COUNT(t); i++) {
        kvs__json j; kvs__err e; int64_t v = 0;
        CHECK_EQ_INT(json_try(t[i].text, strlen(t[i].text), &j, &e), KVS_OK);
        int ok = kvs__json_int(kvs__json_root(&j), &v) == 0;
        CHECK_MSG(ok == t[i].ok && v == t[i].want, "%s: ok %d value %lld", t[i].text, ok, (long long)v);
        kvs__json_free(&j);
    }
}

static void test_json_depth(void)
{
    char buf[2 * KVS__JSON_DEPTH + 8];
    for (int depth = KVS__JSON_DEPTH; depth <= KVS__JSON_DEPTH + 1; depth++) {
        memset(buf, '[', (size_t)depth);
        memset(buf + depth, ']', (size_t)depth);
        buf[2 * depth] = 0;
        CHECK_EQ_INT(json_ok(buf), depth == KVS__JSON_DEPTH);
    }
    size_t n = 1 << 20;
    char *big = (char *)malloc(n + 1);
    kvs__json j; kvs__err e;
    memset(big, '[', n);
    CHECK_EQ_INT(json_try(big, n, &j, &e), KVS_ERR_FORMAT);
    CHECK_HAS(e.text, "t.json:1: nested deeper than 128");
    free(big);
}

static void test_json_duplicates(void)
{
    kvs__json j; kvs__err e;
    static const char two[] = "{\"b\":1,\"ab\":1,\"a\":{\"a\":1},\"ab\":2,\"b\":3}";
    CHECK_EQ_INT(json_try(two, sizeof two - 1, &j, &e), KVS_OK);
    CHECK_STR(kvs__json_dup(&j, kvs__json_root(&j)), "ab");
    CHECK(!kvs__json_dup(&j, kvs__json_get(&j, kvs__json_root(&j), "a")) && !kvs__json_dup(&j, NULL));
    kvs__json_free(&j);
    CHECK_EQ_INT(json_try("{}", 2, &j, &e), KVS_OK);
    CHECK(!kvs__json_dup(&j, kvs__json_root(&j)));
    kvs__json_free(&j);

    kvs__buf b; kvs__mem mem; char key[32];
    kvs__mem_init(&mem, NULL);
    memset(&b, 0, sizeof b);
    b.mem = &mem;
    kvs__buf_put(&b, "{", 1);
    for (int i = 0; i < 50000; i++)
        kvs__buf_put(&b, key, (size_t)snprintf(key, sizeof key, "\"k%d\":%d,", i * 7919 % 50021, i));
    kvs__buf_put(&b, "\"z\":0}", 6);
    CHECK_EQ_INT(json_try(b.p, b.n, &j, &e), KVS_OK);
    CHECK(!kvs__json_dup(&j, kvs__json_root(&j)));
    kvs__json_free(&j);
    memcpy(strstr(b.p, "\"z\""), "\"k", 2);      /* "k": still alone */
    b.n -= 6; b.p[b.n] = 0;
    kvs__buf_put(&b, "\"k0\":0}", 7);
    CHECK_EQ_INT(json_try(b.p, b.n, &j, &e), KVS_OK);
    CHECK_STR(kvs__json_dup(&j, kvs__json_root(&j)), "k0");
    kvs__json_free(&j);
    kvs__buf_free(&b);
}

static void test_json_messages(void)
{
    kvs__json j; kvs__err e;
    CHECK_EQ_INT(json_try("{\n\"a\": 1\n\"b\"", 12, &j, &e), KVS_ERR_FORMAT);
    CHECK_STR(e.text, "t.json:3: expected ',' or '}', found '\"'");
    CHECK_EQ_INT(json_try("[1,", 3, &j, &e), KVS_ERR_FORMAT);
    CHECK_STR(e.text, "t.json:1: expected a value, found the end of the file");
    CHECK_EQ_INT(json_try("\"\x80\"", 3, &j, &e), KVS_ERR_FORMAT);
    CHECK_STR(e.text, "t.json:1: expected valid UTF-8, found byte 0x80");
    CHECK_EQ_INT(json_try("[1,\n1e999]", 10, &j, &e), KVS_ERR_FORMAT);
    CHECK_STR(e.text, "t.json:2: the number is too large");
}

/* Every allocation may fail: an error, nothing left over. */
typedef struct json_budget { int left; } json_budget;
static void *json_alloc(size_t n, void *user)
{
    json_budget *b = (json_budget *)user;
    return b->left-- > 0 ? malloc(n) : NULL;
}
static void  json_free(void *p, void *user) { (void)user; free(p); }

static void test_json_memory(void)
{
    static const char text[] = "{\"a\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}";
    for (int n = 0; ; n++) {
        json_budget budget; kvs_allocator a; kvs__mem mem; kvs__json j; kvs__err e;
        budget.left = n;
        a.alloc = json_alloc; a.free = json_free; a.user = &budget;
        kvs__mem_init(&mem, &a);
        memset(&j, 0, sizeof j);
        kvs_result r = kvs__json_parse(&mem, text, sizeof text - 1, "t.json", &j, &e);
        if (r) { CHECK_EQ_INT(r, KVS_ERR_MEMORY); CHECK_STR(e.text, "t.json: out of memory"); }
        kvs__json_free(&j);
        CHECK_EQ_INT(mem.live, 0);
        if (!r || n > 100) { CHECK(n >= 3 && n < 100); break; }
    }
}

/* Random bytes from JSON's own alphabet, each text in a block of its exact size so that a sanitizer sees a read past
   the end. */
static void test_json_noise(void)
{
    static const char *const piece[] = {
        "[", "]", "{", "}", ",", ":", "\"", "\\", "\\u", "d83d", "1", "-", ".", "e", "null", "true", " ", "\n",
        "\"a\":", "\xf0", "\x9f", "[1,", "\"b\",",
    };
    t_seed(11);
    for (int i = 0; i < 3000; i++) {
        char buf[256]; size_t n = 0;
        for (int k = t_range(1, 20); k > 0; k--) {
            const char *s = piece[t_range(0, (int)KVS__COUNT(piece) - 1)];
            memcpy(buf + n, s, strlen(s)); n += strlen(s);
        }
        char *exact = (char *)malloc(n);
        memcpy(exact, buf, n);
        kvs__json j; kvs__err e;
        if (json_try(exact, n, &j, &e)) CHECK(e.text[0] && !j.node);
        kvs__json_free(&j);
        free(exact);
    }
}

SUITE(json)
{
    RUN(test_json_accepts);
    RUN(test_json_tree);
    RUN(test_json_strings);
    RUN(test_json_numbers);
    RUN(test_json_integers);
    RUN(test_json_depth);
    RUN(test_json_duplicates);
    RUN(test_json_messages);
    RUN(test_json_memory);
    RUN(test_json_noise);
}
