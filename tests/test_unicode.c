/* >>utf8 and >>unicode: broken UTF-8, and goldens made by tests/golden/make_unicode.py --golden. */

/* Decodes like the text's readers do and writes it out again, broken pieces as U+FFFD. */
static void utf8_case(const char *in, size_t n, const char *want)
{
    char *exact = (char *)malloc(n ? n : 1), got[256];
    size_t len = 0;
    uint32_t cp;
    memcpy(exact, in, n);                          /* so that a sanitizer sees a read past the end */
    for (size_t i = 0; i < n;) {
        size_t take = kvs__utf8_next(exact + i, n - i, &cp);
        CHECK(take >= 1 && take <= n - i);
        i += take;
        len += kvs__utf8_put(cp, got + len);
    }
    got[len] = 0;
    CHECK_STR(got, want);
    free(exact);
}

#define FFFD "\xef\xbf\xbd"
static void test_utf8_broken(void)
{
    static const struct { const char *in, *want; } t[] = {
        {"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z", "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z"}, {"\x80", FFFD},
        {"\xbf\xbf", FFFD FFFD},
        {"\xc0\xaf", FFFD FFFD}, {"\xc1\xbf", FFFD FFFD}, {"\xc3", FFFD}, {"\xc3(", FFFD "("}, {"\xe2\x82", FFFD},
        {"\xe2\x82(", FFFD "("},
        {"\xe2(\xa1", FFFD "(" FFFD}, {"\xe0\x80\xaf", FFFD FFFD FFFD}, {"\xe0\xa0", FFFD},
        {"\xed\xa0\x80", FFFD FFFD FFFD},
        {"\xed\x9f\xbf", "\xed\x9f\xbf"}, {"\xee\x80\x80", "\xee\x80\x80"}, {"\xf0\x9f\x98", FFFD},
        {"\xf0\x9f\x98z", FFFD "z"},
        {"\xf0\x9f(", FFFD "("}, {"\xf0\x80\x80\xaf", FFFD FFFD FFFD FFFD}, {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
        {"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD}, {"\xf5\x80\x80\x80", FFFD FFFD FFFD FFFD}, {"\xff\xfe", FFFD FFFD},
        {"\xf0\x9f\xe2\x82\xc3\xc3\xa9", FFFD FFFD FFFD "\xc3\xa9"},
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf" "A", FFFD FFFD FFFD FFFD "A"},
    };
    for (size_t i = 0; i < KVS__COUNT(t); i++) utf8_case(t[i].in, strlen(t[i].in), t[i].want);
}

static void test_utf8_round_trip(void)
{
    char b[4];
    uint32_t back;
    for (uint32_t c = 0; c <= KVS__UNI_MAX; c += c < 0x900 ? 1 : 37) {
        if (c >= 0xD800 && c < 0xE000) continue;
        size_t n = kvs__utf8_put(c, b);
        CHECK(kvs__utf8_next(b, n, &back) == n && back == c);
        for (size_t cut = 1; cut < n; cut++) CHECK(kvs__utf8_next(b, cut, &back) == cut && back == KVS__UTF8_BAD);
    }
}

/* "69.307" to UTF-8; "-" is the empty text. */
static size_t uni_hex(const char *word, char *out)
{
    size_t n = 0;
    char *end;
    if (*word == '-') return 0;
    for (;; word = end + 1) {
        n += kvs__utf8_put((uint32_t)strtoul(word, &end, 16), out + n);
        if (*end != '.') return n;
    }
}

static void uni_check_norm(const char *source, const char *const want[4])
{
    static const char *const name[] = {"NFC", "NFD", "NFKC", "NFKD"};
    char in[512], out[2048];
    size_t n = uni_hex(source, in);
    for (int f = 0; f < 4; f++) {
        size_t len = uni_hex(want[f], out);
        kvs__mem mem; kvs__buf b;
        kvs__mem_init(&mem, NULL);
        memset(&b, 0, sizeof b);
        b.mem = &mem;
        kvs__uni_normalize((kvs__uni_form)f, in, n, &b);
        int same = !b.oom && b.n == len && (!len || !memcmp(b.p, out, len));
        CHECK_MSG(same, "%s of %s, expected %s", name[f], source, want[f]);
        kvs__buf_free(&b);
        CHECK_EQ_INT(mem.live, 0);
    }
}

static void uni_check_case(const char *cp, const char *lower, const char *fold)
{
    char in[8], want[16];
    size_t n = uni_hex(cp, in), len = uni_hex(lower, want);
    kvs__mem mem; kvs__buf b;
    kvs__mem_init(&mem, NULL);
    memset(&b, 0, sizeof b);
    b.mem = &mem;
    kvs__uni_lower(&b, in, n);
    CHECK_MSG(b.n == len && !memcmp(b.p, want, len), "lower case of %s", cp);
    CHECK_MSG(kvs__uni_fold((uint32_t)strtoul(cp, NULL, 16)) == strtoul(fold, NULL, 16), "folding of %s", cp);
    kvs__buf_free(&b);
}

static void test_unicode_golden(void)
{
    static const char *const cats = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";
    char *text = t_read("tests/golden/unicode.txt", NULL);
    int lines = 0;
    CHECK_MSG(text != NULL, "tests/golden/unicode.txt is missing");
    for (char *line = text, *next; line && *line; line = next, lines++) {
        char *word[6];
        int n = 0;
        next = line + strcspn(line, "\n");
        if (*next) *next++ = 0;
        for (char *p = line; *p && n < 6; n++) {
            word[n] = p;
            p += strcspn(p, " ");
            if (*p) *p++ = 0;
        }
        if (n == 3 && !strcmp(word[0], "cat")) {
            const char *got = cats + 2 * kvs__uni_category((uint32_t)strtoul(word[1], NULL, 16));
            CHECK_MSG(!strncmp(got, word[2], 2), "category of %s is %.2s, expected %s", word[1], got, word[2]);
        } else if (n == 4 && !strcmp(word[0], "case")) uni_check_case(word[1], word[2], word[3]);
        else if (n == 6 && !strcmp(word[0], "norm")) {
            const char *want[4] = {word[2], word[3], word[4], word[5]};
            uni_check_norm(word[1], want);
        }
    }
    CHECK(lines > 500);
    free(text);
}

static void test_unicode_space(void)
{
    int count = 0;
    for (uint32_t c = 0; c <= KVS__UNI_MAX; c++) count += kvs__uni_space(c);
    CHECK_EQ_INT(count, 25);
    CHECK(kvs__uni_space(0x85) && kvs__uni_space(0xA0) && kvs__uni_space(0x3000));
    CHECK(!kvs__uni_space(0x200B) && !kvs__uni_space(0xFEFF));
    CHECK_EQ_INT(kvs__uni_category(0x110000), KVS__UC_CN);
    CHECK_EQ_INT(kvs__uni_category(0xDC00), KVS__UC_CS);
}

/* A million marks in falling order, and long stretches of every kind: the result is sorted, and it does not take
   forever. */
static void test_unicode_hostile(void)
{
    size_t n = 1000000;
    char *in = (char *)malloc(n);
    kvs__mem mem; kvs__buf b;
    kvs__mem_init(&mem, NULL);
    memset(&b, 0, sizeof b);
    b.mem = &mem;
    for (size_t i = 0; i < n; i += 2) memcpy(in + i, i < n / 2 ? "\xcc\x81" : "\xcc\xa7", 2);   /* classes 230, 202 */
    kvs__uni_normalize(KVS__NFC, in, n, &b);
    CHECK(b.n == n && !memcmp(b.p, "\xcc\xa7", 2) && !memcmp(b.p + n - 2, "\xcc\x81", 2));
    b.n = 0;
    for (size_t i = 0; i + 3 <= n; i += 3) memcpy(in + i, "\xef\xb7\xba", 3);   /* U+FDFA: 18 characters in NFKC */
    kvs__uni_normalize(KVS__NFKC, in, n - n % 3, &b);
    CHECK_EQ_INT(b.n, n / 3 * 33);
    kvs__buf_free(&b);
    free(in);
    CHECK_EQ_INT(mem.live, 0);
}

SUITE(unicode)
{
    RUN(test_utf8_broken);
    RUN(test_utf8_round_trip);
    RUN(test_unicode_golden);
    RUN(test_unicode_space);
    RUN(test_unicode_hostile);
}
