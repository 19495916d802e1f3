/* >>regex: against Oniguruma itself (tests/golden/make_regex.py), what is refused, and how much work hostile text
   makes. */

static kvs__mem re_mem;

static kvs__regex *re_compile(const char *pattern)
{
    kvs__regex *re;
    kvs__err e;
    kvs__mem_init(&re_mem, NULL);
    kvs_result r = kvs__regex_compile(&re_mem, pattern, strlen(pattern), &re, &e);
    CHECK_MSG(r == KVS_OK, "%s: %s", pattern, e.text);
    return r ? NULL : re;
}

/* All non-empty matches; after an empty one the search goes on one character later. Returns how many; bounds go to
   out[2 * cap]. */
static size_t re_find_all(const kvs__regex *re, kvs__regex_scratch *s, const char *text, size_t n, size_t *out,
                          size_t cap)
{
    size_t count = 0, from = 0, a, b;
    while (from <= n) {
        int r = kvs__regex_find(re, s, text, n, from, &a, &b);
        CHECK(r >= 0 && (r == 0 || (from <= a && a <= b && b <= n)));
        if (r <= 0) break;
        if (b > a && count++ < cap) { out[2 * count - 2] = a; out[2 * count - 1] = b; }
        from = b > a ? b : b + 1;
        while (from < n && ((unsigned char)text[from] & 0xC0) == 0x80) from++;
    }
    return count;
}

/* One pattern and text of the goldens, both ways of working. */
static void re_check_case(const kvs__json *j, const kvs__regex *re, const char *pattern, const kvs__json_node *row)
{
    size_t n, got[400];
    const kvs__json_node *text = kvs__json_first(j, row), *want = kvs__json_next(j, text), *w;
    const char *t = kvs__json_str(j, text, &n);
    char *exact = (char *)malloc(n ? n : 1);             /* so that a sanitizer sees a read past the end */
    memcpy(exact, t, n);
    for (int careful = 0; careful < 2; careful++) {
        kvs__regex_scratch s;
        memset(&s, 0, sizeof s);
        s.test = careful;
        size_t k = re_find_all(re, &s, exact, n, got, 200);
        int same = 2 * k == want->count && k <= 200;
        w = kvs__json_first(j, want);
        for (size_t i = 0; same && i < 2 * k; i++, w = kvs__json_next(j, w))
            same = kvs__json_num(w, -1) == (double)got[i];
        CHECK_MSG(same, "%s on \"%s\" (careful %d)", pattern, t, careful);
        kvs__regex_scratch_free(&re_mem, &s);
    }
    free(exact);
}

/* The goldens: an array of {"p": pattern, "c": [[text, [start, end, ..]], ..]}. The first ones are those of models. */
static void re_golden(kvs__json *j)
{
    static kvs__mem mem;
    size_t n = 0;
    char *text = t_read("tests/golden/regex.json", &n);
    kvs__err e;
    kvs__mem_init(&mem, NULL);
    memset(j, 0, sizeof *j);
    CHECK_MSG(text != NULL, "tests/golden/regex.json is missing");
    if (text) CHECK_EQ_INT(kvs__json_parse(&mem, text, n, "regex.json", j, &e), KVS_OK);
    free(text);
}

static void test_regex_golden(void)
{
    kvs__json j;
    re_golden(&j);
    for (const kvs__json_node *p = kvs__json_first(&j, kvs__json_root(&j)); p; p = kvs__json_next(&j, p)) {
        const char *pattern = kvs__json_str(&j, kvs__json_get(&j, p, "p"), NULL);
        kvs__regex *re = re_compile(pattern);
        const kvs__json_node *c = kvs__json_first(&j, kvs__json_get(&j, p, "c"));
        for (; re && c; c = kvs__json_next(&j, c)) re_check_case(&j, re, pattern, c);
        kvs__regex_free(re);
        CHECK_EQ_INT(re_mem.live, 0);
    }
    kvs__json_free(&j);
}

static void test_regex_refuses(void)
{
    static const struct { const char *pattern, *message; } t[] = {
        {"a(?<=b)c", "(?<= at offset 1 is not implemented"}, {"(?<!b)", "(?<! at offset 0"},
        {"(?<n>a)", "(?<n at offset 0"},
        {"(?#c)", "(?# at offset 0"}, {"(?x: a)", "(?x at offset 0"}, {"ab\\1", "\\1 at offset 2"},
        {"\\R", "\\R at offset 0"},
        {"\\X", "\\X at offset 0"}, {"\\K", "\\K at offset 0"}, {"\\G", "\\G at offset 0"},
        {"\\h", "\\h at offset 0"}, {"[\\h]", "\\h at offset 1"},
        {"x\\p{Greek}", "\\p{Greek} at offset 1"}, {"\\pL", "\\pL at offset 0"}, {"[[:alpha:]]", "[: at offset 1"},
        {"\\xE9", "\\xE9 at offset 0"},
        {"(?>ab)", "(?>ab) at offset 0"}, {"(?:ab)?+", "(?:ab)?+ at offset 0"}, {"x(?:a*)*", "(?:a*)* at offset 1"},
        {"a{3,2}", "{3,2} at offset 1"},
        {"a{1001}", "{1001} at offset 1"}, {"a++????????", "a++???????? at offset 0"},
        {"\xe6\xb1\x89\\p{\xe6\xb1\x89}", "at offset 3"},
        {"(a", "( without ) at offset 0"}, {"a)", ") without ( at offset 1"}, {"(?i", "( without )"},
        {"[a", "[ without ]"}, {"[a-", "[ without ]"},
        {"[]", "empty class"}, {"[^]", "empty class"}, {"[b-a]", "empty range"}, {"[\\d-x]", "range of classes"},
        {"[a-\\d]", "range of classes"},
        {"*a", "nothing to repeat"}, {"a|+", "nothing to repeat"}, {"a\\", "nothing behind the backslash"},
        {"\\p{L", "without }"}, {"\\x{110000}", "not a character"},
        {"\\uD800", "not a character"}, {"\\u12", "hex digits"}, {"\\x{}", "hex digits"},
        {"a\xff", "invalid UTF-8 at offset 1"}, {"[&&a]", "nothing before &&"},
        {"((a{1000}){1000}){1000}b{2}(?:ab){1000}(?:cd){1000}(?:ab){1000}", "too large"},
    };
    for (size_t i = 0; i < KVS__COUNT(t); i++) {
        kvs__regex *re;
        kvs__err e;
        kvs__mem mem;
        kvs__mem_init(&mem, NULL);
        kvs_result r = kvs__regex_compile(&mem, t[i].pattern, strlen(t[i].pattern), &re, &e);
        CHECK_MSG(r != KVS_OK && !re, "%s was accepted", t[i].pattern);
        if (r) CHECK_HAS(e.text, t[i].message);
        if (!r) kvs__regex_free(re);
        CHECK_EQ_INT(mem.live, 0);
    }
}

static void test_regex_nesting(void)
{
    static const char *const open[] = {"(", "[a", "(?i)", "(?=a", "(?:a|"};
    char pattern[2000];
    for (size_t i = 0; i < KVS__COUNT(open); i++) {
        kvs__regex *re;
        kvs__err e;
        kvs__mem mem;
        size_t n = 0;
        kvs__mem_init(&mem, NULL);
        for (int k = 0; k < 300; k++) n += (size_t)snprintf(pattern + n, sizeof pattern - n, "%s", open[i]);
        CHECK(kvs__regex_compile(&mem, pattern, n, &re, &e) == KVS_ERR_FORMAT);
        CHECK_HAS(e.text, "nested too deeply");
        CHECK_EQ_INT(mem.live, 0);
    }
}

/* Steps for each byte of a text, and whether the search became careful. */
static double re_effort(const char *pattern, const char *piece, size_t total, int *careful)
{
    size_t n = strlen(piece);
    char *text = (char *)malloc(total + n);
    for (size_t i = 0; i < total; i += n) memcpy(text + i, piece, n);
    total -= total % n;
    kvs__regex *re = re_compile(pattern);
    kvs__regex_scratch s;
    memset(&s, 0, sizeof s);
    if (re) re_find_all(re, &s, text, total, NULL, 0);
    double effort = (double)s.steps / (double)total;
    *careful = s.careful;
    kvs__regex_scratch_free(&re_mem, &s);
    kvs__regex_free(re);
    CHECK_EQ_INT(re_mem.live, 0);
    free(text);
    return effort;
}

/* The patterns of real models never need the notes, whatever the text. */
static void test_regex_hostile_text(void)
{
    static const char *const piece[] = {
        "a", "A", " ", "\n", "\r\n", " \n", "a ", "aA", "AAa", "A1", "1", "!", "'", "'s", "!a", "\t", "\xc2\xa0",
        "\xe6\xb1\x89", "\xcc\x81",
        "\xf0\x9f\x98\x80", "                               .", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.",
    };
    kvs__json j;
    re_golden(&j);
    const kvs__json_node *row = kvs__json_first(&j, kvs__json_root(&j));
    for (int i = 0; row && i < 8; i++, row = kvs__json_next(&j, row))
        for (size_t k = 0; k < KVS__COUNT(piece); k++) {
            int careful;
            const char *pattern = kvs__json_str(&j, kvs__json_get(&j, row, "p"), NULL);
            double effort = re_effort(pattern, piece[k], 100000, &careful);
            CHECK_MSG(effort <= 8 && !careful, "pattern %d on \"%s\": %.1f steps a byte", i, piece[k], effort);
        }
    CHECK(row != NULL);
    kvs__json_free(&j);
}

/* Patterns that are quadratic or worse for a plain backtracker: twice the text is twice the work. */
static void test_regex_hostile_pattern(void)
{
    static const char *const pattern[] = {
        "a+b|a", "(?:a|aa)+c|a", "(?:a+)+b|a", "(?=a*b)a", "(?=a*)a", "(?:a|b)*?c|a", "a*(?=a*c)c|a",
        "(?:\\w+\\s?)+!|.", "a++b|a", "a*?b|a", "(?!a*?b)a",
        "(?:ab?)+?c|a", "a?a?a?a?a?a?a?a?a?a?a?a?b|a", "(?:a{0,9}a){3}b|a", "(?=(?:aa)+$)a", "a{0,9}a{0,9}a{0,9}b|a",
        "(?=a+(?=a*b))a|a",
    };
    for (size_t i = 0; i < KVS__COUNT(pattern); i++) {
        int careful;
        double small = re_effort(pattern[i], "a", 10000, &careful);
        double large = re_effort(pattern[i], "a", 100000, &careful);
        int linear = large <= 200 && large <= small * 1.2 + 1;
        CHECK_MSG(linear, "%s: %.1f, then %.1f steps a byte", pattern[i], small, large);
        CHECK(small >= 1);
    }
}

/* One scratch serves several regexes and texts; from == 0 begins anew even where the address is the same. */
static void test_regex_scratch(void)
{
    kvs__regex *a = re_compile("a+b|a"), *b = re_compile("(?=(\\d\\d)+$)");
    char text[41] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    size_t start, end;
    kvs__regex_scratch s;
    memset(&s, 0, sizeof s);
    s.test = 1;
    CHECK(kvs__regex_find(a, &s, text, 40, 0, &start, &end) == 1 && start == 0 && end == 1);
    CHECK(kvs__regex_find(a, &s, text, 40, 5, &start, &end) == 1 && start == 5 && end == 6);
    CHECK(kvs__regex_find(b, &s, text, 40, 0, &start, &end) == 0);
    text[39] = 'b';
    CHECK(kvs__regex_find(a, &s, text, 40, 0, &start, &end) == 1 && start == 0 && end == 40);
    CHECK(kvs__regex_find(a, &s, text, 40, 40, &start, &end) == 0);
    memset(text, '7', 40);
    for (size_t i = 0; i < 39; i++) {
        CHECK(kvs__regex_find(b, &s, text, 40, i, &start, &end) == 1);
        CHECK(start == (i + 1) / 2 * 2 && end == start);
    }
    kvs__regex_scratch_free(&re_mem, &s);
    kvs__regex_free(a);
    kvs__regex_free(b);
}

/* Broken UTF-8 is against the contract, but it is not read past its end, and both ways of searching agree. */
static void test_regex_broken_text(void)
{
    static const char *const pattern[] = {"\\w*a??b", "\\p{L}+", "[^a]+", ".*?x|\\W", "\\b", "(?!\\S).",
                                          "\xe6\xb1\x89*"};
    t_seed(3);
    for (size_t i = 0; i < KVS__COUNT(pattern); i++) {
        kvs__regex *re = re_compile(pattern[i]);
        for (int k = 0; k < 300; k++) {
            size_t n = (size_t)t_range(0, 12), found[2][40], count[2];
            char *text = (char *)malloc(n ? n : 1);
            for (size_t c = 0; c < n; c++) text[c] = (char)t_range(k % 2 ? 0x80 : 0, 255);
            for (int careful = 0; careful < 2; careful++) {
                kvs__regex_scratch s;
                memset(&s, 0, sizeof s);
                s.test = careful;
                count[careful] = re_find_all(re, &s, text, n, found[careful], 20);
                kvs__regex_scratch_free(&re_mem, &s);
            }
            CHECK_EQ_INT(count[0], count[1]);
            CHECK(!count[0] || !memcmp(found[0], found[1], 2 * count[0] * sizeof found[0][0]));
            free(text);
        }
        kvs__regex_free(re);
    }
}

typedef struct re_budget { int left; } re_budget;
static void *re_alloc(size_t n, void *user)
{
    re_budget *b = (re_budget *)user;
    return b->left-- > 0 ? malloc(n) : NULL;
}
static void re_release(void *p, void *user) { (void)user; free(p); }

/* Every allocation of compiling and matching may fail. */
static void test_regex_memory(void)
{
    static const char pattern[] = "(?i:ab|c[d-f\\p{L}&&[^x]])(?=(?:ab)+)|\\bz{2,}(?:q|r)+?";
    for (int n = 0, found = 0; !found && n < 500; n++) {
        re_budget budget; kvs_allocator a; kvs__mem mem; kvs__regex *re; kvs__err e; kvs__regex_scratch s;
        size_t start, end;
        budget.left = n;
        a.alloc = re_alloc; a.free = re_release; a.user = &budget;
        kvs__mem_init(&mem, &a);
        memset(&s, 0, sizeof s);
        s.test = 1;
        kvs_result r = kvs__regex_compile(&mem, pattern, sizeof pattern - 1, &re, &e);
        CHECK(r == KVS_OK || (r == KVS_ERR_MEMORY && !re));
        int m = r ? -1 : kvs__regex_find(re, &s, "ab cdcgababab", 13, 0, &start, &end);
        found = m == 1 && start == 5 && end == 7;
        CHECK(m == -1 || found);
        kvs__regex_scratch_free(&mem, &s);
        if (!r) kvs__regex_free(re);
        CHECK_EQ_INT(mem.live, 0);
        CHECK(found || n < 499);
    }
}

SUITE(regex)
{
    RUN(test_regex_golden);
    RUN(test_regex_refuses);
    RUN(test_regex_nesting);
    RUN(test_regex_hostile_text);
    RUN(test_regex_hostile_pattern);
    RUN(test_regex_scratch);
    RUN(test_regex_broken_text);
    RUN(test_regex_memory);
}
