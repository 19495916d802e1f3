/* Section base: hashing, conversions, memory. */

/* SipHash-2-4-128, key 00..0f, messages 00, 00 01, ...: values of the authors' reference vectors, low word then high. */
static void test_base_siphash(void)
{
    static const struct { size_t n; uint64_t lo, hi; } want[] = {
        {0, 0xe6a825ba047f81a3ull, 0x930255c71472f66dull},
        {1, 0x44af996bd8c187daull, 0x45fc229b11597634ull},
        {2, 0xc75da4a48d227781ull, 0xe4ff0af6de8ba3fcull},
        {3, 0x4ea967520cb6709cull, 0x51ed8529b0b6335full}};
    unsigned char in[64];
    kvs__key k = {0x0706050403020100ull, 0x0f0e0d0c0b0a0908ull};
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    for (size_t i = 0; i < KVS__COUNT(want); i++) {
        kvs__key h = kvs__hash128(in, want[i].n, k);
        CHECK_MSG(h.lo == want[i].lo && h.hi == want[i].hi, "length %zu: %016llx %016llx", want[i].n, (unsigned long long)h.lo, (unsigned long long)h.hi);
    }
}

static void test_base_half_precision(void)
{
    int wrong = 0;
    for (uint32_t i = 0; i < 65536; i++) {
        float f = kvs__f16_f32((uint16_t)i), b = kvs__bf16_f32((uint16_t)i);
        if (f == f) wrong += kvs__f32_f16(f) != i;                               /* every half survives the round trip */
        else wrong += (kvs__f32_f16(f) & 0x7c00u) != 0x7c00u || !(kvs__f32_f16(f) & 0x3ffu);
        if (b == b && (i & 0x7f80u)) wrong += kvs__f32_bf16(b) != i;
        if (b == b && !(i & 0x7f80u)) wrong += kvs__f32_bf16(b) != (i & 0x8000u);   /* denormals are flushed */
    }
    CHECK_EQ_INT(wrong, 0);
    for (uint32_t i = 0; i < 0x7bffu; i++) {                                     /* halfway between neighbours: to the even one */
        float a = kvs__f16_f32((uint16_t)i), b = kvs__f16_f32((uint16_t)(i + 1)), mid = a + (b - a) / 2;
        wrong += kvs__f32_f16(mid) != (i & 1 ? i + 1 : i);
        wrong += kvs__f32_f16(nextafterf(mid, 1e9f)) != i + 1 || kvs__f32_f16(nextafterf(mid, 0)) != i;
    }
    CHECK_EQ_INT(wrong, 0);
    CHECK_EQ_INT(kvs__f32_f16(65520.0f), 0x7c00);
    CHECK_EQ_INT(kvs__f32_f16(65519.0f), 0x7bff);
    CHECK_EQ_INT(kvs__f32_bf16(1.00390625f), 0x3f80);                            /* tie: to even */
    CHECK_EQ_INT(kvs__f32_bf16(1.01171875f), 0x3f82);
}

static void test_base_memory(void)
{
    kvs__mem m;
    kvs__mem_init(&m, NULL);
    volatile size_t huge = SIZE_MAX;                                             /* hidden from the compiler, which would warn */
    CHECK(kvs__alloc(&m, huge / 2, 4) == NULL);
    CHECK(kvs__alloc(&m, huge, 1) == NULL);
    char *p = (char *)kvs__alloc(&m, 100, 3);
    CHECK(p && ((uintptr_t)p & 63) == 0 && p[0] == 0 && p[299] == 0);
    CHECK_EQ_INT(m.live, 300);
    void *a = NULL;
    size_t cap = 0;
    for (size_t n = 1; n < 100000; n *= 3) CHECK(kvs__grow(&m, &a, &cap, n, 8) == 0 && cap >= n);
    kvs__free(&m, a);
    kvs__free(&m, p);
    kvs__free(&m, NULL);
    CHECK_EQ_INT(m.live, 0);
    uint64_t r;
    CHECK(kvs__mul_u64(1ull << 33, 1ull << 31, &r) == -1 && kvs__mul_u64(1ull << 32, 1ull << 31, &r) == 0 && r == 1ull << 63);
    CHECK(kvs__add_u64(UINT64_MAX, 1, &r) == -1 && kvs__add_u64(1, 2, &r) == 0 && r == 3);
}

static void test_base_texts(void)
{
    kvs__err e;
    CHECK_STR(kvs_result_str(KVS_OK), "ok");
    CHECK(kvs_result_str((kvs_result)-77) != NULL);
    char longest[2 * KVS_MAX_ERROR];
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = 0;
    CHECK_EQ_INT(kvs__fail(&e, KVS_ERR_IO, "%s", longest), KVS_ERR_IO);
    CHECK_EQ_INT(strlen(e.text), KVS_MAX_ERROR - 1);                             /* cut, terminated */
    kvs__map map;
    CHECK_EQ_INT(kvs__map_open("no/such/file", &map, &e), KVS_ERR_IO);
    CHECK_HAS(e.text, "no/such/file");
    CHECK_EQ_INT(kvs__map_open("tests", &map, &e), KVS_ERR_IO);                  /* a folder */
}

SUITE(base)
{
    RUN(test_base_siphash);
    RUN(test_base_half_precision);
    RUN(test_base_memory);
    RUN(test_base_texts);
}
