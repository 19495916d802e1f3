/* >>blocks and >>prefix: the block manager alone, through its public functions. */

enum { BL_BS = 4 };

static kvs_blocks *bl_open(int32_t NB, int prefix)
{
    kvs_blocks_config c;
    kvs_blocks *b = NULL;
    memset(&c, 0, sizeof c);
    c.num_blocks = NB; c.block_size = BL_BS; c.no_prefix_cache = !prefix;
    CHECK(kvs_blocks_open(&c, &b) == KVS_OK);
    return b;
}

static void bl_check(const kvs_blocks *b)
{
    char err[KVS_MAX_ERROR];
    CHECK_MSG(kvs_blocks_check(b, err) == KVS_OK, "%s", err);
}

static void bl_close(kvs_blocks *b) { bl_check(b); kvs_blocks_close(b); }

/* Computes n blocks of tokens: allocates and publishes them, and leaves the caller's references in table. */
static void bl_fill(kvs_blocks *b, const char *salt, const int32_t *tokens, int32_t n, int32_t *table)
{
    for (int32_t i = 0; i < n; i++)
        table[i] = kvs_blocks_publish(b, salt, i ? table[i - 1] : -1, tokens + i * BL_BS, kvs_blocks_alloc(b));
}

static void bl_release(kvs_blocks *b, const int32_t *table, int32_t n) { while (n > 0) kvs_blocks_unref(b, table[--n]); }

static void bl_count(int32_t *tokens, int32_t first, int32_t n) { for (int32_t i = 0; i < n; i++) tokens[i] = first + i; }

/* Publishes n blocks of first, first + 1, ... and lets them go: they are cached now. */
static void bl_cache(kvs_blocks *b, const char *salt, int32_t first, int32_t n)
{
    int32_t t[64], table[16];
    bl_count(t, first, n * BL_BS);
    bl_fill(b, salt, t, n, table);
    bl_release(b, table, n);
}

/* How many blocks of these tokens are cached; changes nothing but their age. */
static kvs_prefix_hit bl_look(kvs_blocks *b, const char *salt, const int32_t *tokens, int32_t n)
{
    int32_t table[64];
    kvs_prefix_hit h = kvs_blocks_match(b, salt, tokens, n, 64, table);
    bl_release(b, table, h.n_blocks);
    return h;
}

static int bl_stats(const kvs_blocks *b, int32_t free, int32_t cached, int32_t used)
{
    kvs_blocks_stats s;
    kvs_blocks_stats_get(b, &s);
    return s.free == free && s.cached == cached && s.used == used && s.total == free + cached + used;
}

/* ---- states ---- */

static void test_blocks_states(void)
{
    kvs_blocks *b = bl_open(3, 1);
    int32_t t[BL_BS] = {1, 2, 3, 4}, a[3];
    CHECK(bl_stats(b, 3, 0, 0));
    for (int i = 0; i < 3; i++) a[i] = kvs_blocks_alloc(b);
    CHECK(a[0] != a[1] && a[1] != a[2] && a[0] != a[2] && bl_stats(b, 0, 0, 3));
    CHECK_EQ_INT(kvs_blocks_alloc(b), -1);
    kvs_blocks_ref(b, a[0]);
    kvs_blocks_unref(b, a[0]);
    CHECK(bl_stats(b, 0, 0, 3));                             /* one holder is left */
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, t, a[0]), a[0]);
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, t, a[0]), a[0]);   /* again: nothing */
    kvs_blocks_unref(b, a[0]);
    kvs_blocks_unref(b, a[1]);
    CHECK(bl_stats(b, 1, 1, 1));
    kvs_blocks_ref(b, a[0]);                                 /* a cached block comes back to life */
    CHECK(bl_stats(b, 1, 0, 2));
    kvs_blocks_unref(b, a[0]);
    CHECK_EQ_INT(kvs_blocks_alloc(b), a[1]);                 /* free blocks go first, cached ones only when there is no other */
    CHECK_EQ_INT(kvs_blocks_alloc(b), a[0]);
    CHECK(bl_stats(b, 0, 0, 3) && b->evictions == 1 && bl_look(b, NULL, t, BL_BS).n_blocks == 0);
    bl_close(b);
}

static void test_blocks_sharing(void)
{
    kvs_blocks *b = bl_open(8, 1);
    int32_t t[12], a[3], c[3];
    bl_count(t, 1, 12);
    bl_fill(b, "s", t, 3, a);
    kvs_prefix_hit h = kvs_blocks_match(b, "s", t, 12, 2, c);      /* no more than asked for */
    CHECK(h.n_blocks == 2 && c[0] == a[0] && c[1] == a[1] && b->block[a[0]].ref == 2 && b->block[a[2]].ref == 1);
    CHECK(b->queries == 2 && b->hits == 2);
    bl_release(b, a, 3);
    CHECK(bl_stats(b, 5, 1, 2));
    bl_release(b, c, 2);
    CHECK(bl_stats(b, 5, 3, 0));
    CHECK(kvs_blocks_match(b, "s", t, 12, 0, c).n_blocks == 0 && kvs_blocks_match(b, "s", t, 12, -1, c).n_blocks == 0);
    CHECK(kvs_blocks_match(b, "s", t, -5, 3, c).n_blocks == 0);
    bl_close(b);
}

/* Eviction eats the least recently used sequence from its end; what is left of it can still be found. */
static void test_blocks_tails_before_heads(void)
{
    kvs_blocks *b = bl_open(8, 1);
    int32_t t[16], u[16];
    bl_count(t, 1, 16);
    bl_count(u, 101, 16);
    bl_cache(b, NULL, 1, 4);
    bl_cache(b, NULL, 101, 4);
    CHECK_EQ_INT(bl_look(b, NULL, t, 16).n_blocks, 4);       /* t was used last */
    for (int left = 3; left >= 0; left--) {
        kvs_blocks_alloc(b);
        int32_t table[4];
        kvs_prefix_hit h = kvs_blocks_match(b, NULL, u, 16, 4, table);
        CHECK(h.n_blocks == left && h.miss == KVS_MISS_EVICTED && h.miss_index == left * BL_BS);
        bl_release(b, table, h.n_blocks);
        bl_look(b, NULL, t, 16);                             /* looking at u made it young: now t is again */
    }
    CHECK_EQ_INT(bl_look(b, NULL, t, 16).n_blocks, 4);
    kvs_blocks_alloc(b);
    CHECK_EQ_INT(bl_look(b, NULL, t, 16).n_blocks, 3);
    bl_close(b);
}

static void test_blocks_twins(void)
{
    kvs_blocks *b = bl_open(8, 1);
    int32_t t[8], first = kvs_blocks_alloc(b), second = kvs_blocks_alloc(b), third = kvs_blocks_alloc(b);
    bl_count(t, 1, 8);
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, t, first), first);
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, t, second), first);      /* the caller's reference moves to the twin */
    CHECK(b->block[first].ref == 2 && b->block[second].ref == 0 && bl_stats(b, 6, 0, 2));
    CHECK_EQ_INT(kvs_blocks_publish(b, "salt", -1, t, third), third);     /* the same under another salt is another content */
    kvs_blocks_unref(b, first); kvs_blocks_unref(b, first);
    int32_t fourth = kvs_blocks_alloc(b);
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, t, fourth), first);      /* a cached twin comes back to life */
    CHECK(bl_stats(b, 6, 0, 2));
    kvs_blocks_unref(b, first); kvs_blocks_unref(b, third);
    bl_close(b);
}

/* ---- why not more ---- */

static void bl_miss(kvs_blocks *b, const char *salt, const int32_t *t, int32_t n, int32_t blocks, kvs_miss miss, int32_t index, int line)
{
    kvs_prefix_hit h = bl_look(b, salt, t, n);
    CHECK_MSG(h.n_blocks == blocks && h.miss == miss && h.miss_index == index, "line %d: %d blocks, reason %d at %d; expected %d, %d at %d",
              line, h.n_blocks, (int)h.miss, h.miss_index, blocks, (int)miss, index);
}
#define BL_MISS(salt, t, n, blocks, miss, index) bl_miss(b, salt, t, n, blocks, miss, index, __LINE__)

static void test_blocks_miss_reasons(void)
{
    kvs_blocks *b = bl_open(8, 1);
    int32_t t[16], u[16], table[4];
    bl_count(t, 1, 16);
    BL_MISS(NULL, t, 16, 0, KVS_MISS_TOKENS, 0);             /* nothing is there */
    bl_cache(b, NULL, 1, 3);
    BL_MISS(NULL, t, 12, 3, KVS_MISS_NONE, 12);
    BL_MISS(NULL, t, 14, 3, KVS_MISS_PARTIAL, 12);
    BL_MISS(NULL, t, 16, 3, KVS_MISS_TOKENS, 12);            /* nothing continues there */
    BL_MISS(NULL, t, 3, 0, KVS_MISS_PARTIAL, 0);
    BL_MISS(NULL, t, 0, 0, KVS_MISS_NONE, 0);
    for (int at = 0; at < 12; at++) {                        /* the first token that differs, wherever it is */
        memcpy(u, t, sizeof u);
        u[at] = 99;
        BL_MISS(NULL, u, 12, at / BL_BS, KVS_MISS_TOKENS, at);
    }
    BL_MISS("mine", t, 12, 0, KVS_MISS_SALT, 0);
    BL_MISS("mine", u, 12, 0, KVS_MISS_SALT, 0);             /* its first block is there */
    u[0] = 98;
    BL_MISS("mine", u, 12, 0, KVS_MISS_TOKENS, 0);
    u[0] = t[0]; u[1] = 98;
    BL_MISS("mine", u, 12, 0, KVS_MISS_TOKENS, 0);           /* how far another salt's prompt agrees is nobody's business */
    bl_cache(b, "mine", 1, 2);
    BL_MISS("mine", t, 12, 2, KVS_MISS_TOKENS, 8);           /* below the root the salt is no reason any more */
    BL_MISS("", t, 12, 3, KVS_MISS_NONE, 12);                /* NULL and "" are the same salt */
    kvs_prefix_hit h = kvs_blocks_match(b, NULL, t, 12, 1, table);      /* a limit of the caller's is no miss */
    CHECK(h.n_blocks == 1 && h.miss == KVS_MISS_NONE && h.miss_index == 4);
    h = kvs_blocks_match(b, NULL, t, 7, 1, table + 1);
    CHECK(h.n_blocks == 1 && h.miss == KVS_MISS_PARTIAL && h.miss_index == 4);
    bl_release(b, table, 2);
    bl_close(b);
    b = bl_open(8, 0);
    bl_fill(b, NULL, t, 2, table);
    BL_MISS(NULL, t, 8, 0, KVS_MISS_OFF, 0);
    bl_release(b, table, 2);
    CHECK(bl_stats(b, 8, 0, 0));
    bl_close(b);
}

/* "Other salt" is said only while the other salt's block is there; "evicted" only of what was evicted. */
static void test_blocks_miss_evicted(void)
{
    kvs_blocks *b = bl_open(2, 1);
    int32_t t[8], u[8], a[2];
    bl_count(t, 1, 8);
    bl_count(u, 51, 8);
    bl_cache(b, "mine", 1, 2);
    BL_MISS(NULL, t, 8, 0, KVS_MISS_SALT, 0);
    a[0] = kvs_blocks_alloc(b);
    BL_MISS("mine", t, 8, 1, KVS_MISS_EVICTED, 4);
    BL_MISS(NULL, t, 8, 0, KVS_MISS_SALT, 0);
    a[1] = kvs_blocks_alloc(b);
    BL_MISS("mine", t, 8, 0, KVS_MISS_EVICTED, 0);
    BL_MISS(NULL, t, 8, 0, KVS_MISS_TOKENS, 0);
    BL_MISS("mine", u, 8, 0, KVS_MISS_TOKENS, 0);
    bl_release(b, a, 2);
    memset(b->ghost, 0, b->n_buckets * sizeof *b->ghost);    /* what if others overwrote the ghosts: not "salt", which it was not */
    BL_MISS("mine", t, 8, 0, KVS_MISS_TOKENS, 0);
    bl_cache(b, "mine", 1, 2);                               /* computed again: found again */
    BL_MISS("mine", t, 8, 2, KVS_MISS_NONE, 8);
    bl_close(b);
    b = bl_open(2, 1);
    b->hash_mask = 0;                                        /* all keys are 0, as are empty ghosts */
    BL_MISS(NULL, t, 8, 0, KVS_MISS_TOKENS, 0);
    bl_close(b);
}

/* A continuation known to miss_index may be long gone, and its number in use by others. */
static void test_blocks_stale_hints(void)
{
    kvs_blocks *b = bl_open(4, 1);
    int32_t t[16], u[16];
    bl_count(t, 1, 16);
    bl_cache(b, NULL, 1, 2);
    memcpy(u, t, sizeof u);
    u[6] = 99;
    BL_MISS(NULL, u, 8, 1, KVS_MISS_TOKENS, 6);
    int32_t a[3];
    for (int i = 0; i < 3; i++) a[i] = kvs_blocks_alloc(b);  /* two free ones and the tail of t */
    BL_MISS(NULL, u, 8, 1, KVS_MISS_TOKENS, 4);
    bl_release(b, a, 3);
    bl_cache(b, NULL, 201, 3);                               /* the tail's number belongs to another sequence now */
    BL_MISS(NULL, u, 8, 1, KVS_MISS_TOKENS, 4);
    bl_close(b);
}

/* ---- content: a hit is exactly what was asked for, whatever the hashes ---- */

enum { BL_NB = 24 };

typedef struct bl_model {                                    /* who holds what, said slowly */
    kvs_blocks *b;
    uint64_t content[BL_NB];                                 /* of published blocks: a hash of salt and all tokens up to its end, 64 bits wide */
    int32_t  table[8][16], n[8];                             /* eight holders */
    int32_t  tokens[8][64], salt[8];
} bl_model;

static uint64_t bl_content(int32_t salt, const int32_t *tokens, int32_t n)
{
    uint64_t h = (uint64_t)salt + 1;
    for (int32_t i = 0; i < n; i++) h = kvs__mix(kvs__mix(h + 1) + (uint64_t)tokens[i]);
    return h;
}

/* Asks for a prompt's blocks, computes what is missing (as long as there are blocks), holds them. */
static void bl_model_ask(bl_model *m, int k)
{
    static const char *const salt[] = {NULL, "a", "b"};
    int32_t n = t_range(1, 12), *t = m->tokens[k], *table = m->table[k];
    m->salt[k] = t_range(0, 2);
    for (int32_t i = 0; i < 64; i++) t[i] = t_range(0, 9) == 0;
    kvs_prefix_hit h = kvs_blocks_match(m->b, salt[m->salt[k]], t, n * BL_BS, n, table);
    for (int32_t i = 0; i < h.n_blocks; i++)
        CHECK_MSG(m->content[table[i]] == bl_content(m->salt[k], t, (i + 1) * BL_BS), "block %d has foreign content", table[i]);
    uint64_t next = h.n_blocks < n ? bl_content(m->salt[k], t, (h.n_blocks + 1) * BL_BS) : 0;
    for (int32_t i = 0; i < BL_NB; i++)
        CHECK_MSG(!next || !m->b->block[i].published || m->content[i] != next, "block %d was there and was not found", i);
    m->n[k] = h.n_blocks;
    while (m->n[k] < n) {
        int32_t i = m->n[k], got = kvs_blocks_alloc(m->b);
        if (got < 0) return;
        m->content[got] = bl_content(m->salt[k], t, (i + 1) * BL_BS);
        if (t_range(0, 9) == 0) { kvs_blocks_unref(m->b, got); return; }      /* its prefill was aborted */
        table[m->n[k]++] = kvs_blocks_publish(m->b, salt[m->salt[k]], i ? table[i - 1] : -1, t + i * BL_BS, got);
        CHECK_MSG(table[i] == got || m->content[table[i]] == m->content[got], "block %d is no twin of %d", table[i], got);
    }
}

/* A cached block is older than its parent: the LRU list names children before their parents. */
static void bl_check_lru(const kvs_blocks *b)
{
    int32_t age[BL_NB], n = 0;
    memset(age, 0, sizeof age);
    for (int32_t i = b->lru.head; i >= 0; i = b->block[i].next) {
        age[i] = ++n;
        CHECK_MSG(b->block[i].parent < 0 || age[b->block[i].parent] == 0, "block %d will outlive its parent", i);
    }
}

static void test_blocks_random(void)
{
    static const uint64_t mask[] = {~0ull, 0, 1, 6, 0xff00};
    int rounds = t_long ? 200000 : 10000;
    for (int k = 0; k < 5; k++) {
        bl_model m;
        memset(&m, 0, sizeof m);
        m.b = bl_open(BL_NB, 1);
        m.b->hash_mask = mask[k];
        t_seed((uint64_t)k + 1);
        for (int i = 0; i < rounds && !t_bad; i++) {
            int who = t_range(0, 7);
            bl_release(m.b, m.table[who], m.n[who]);
            m.n[who] = 0;
            if (t_range(0, 2)) bl_model_ask(&m, who);
            bl_check(m.b);
            bl_check_lru(m.b);
        }
        CHECK(m.b->hits > (uint64_t)rounds / 4 && m.b->evictions > (uint64_t)rounds / 4);
        for (int who = 0; who < 8; who++) bl_release(m.b, m.table[who], m.n[who]);
        CHECK_EQ_INT(m.b->used, 0);
        bl_close(m.b);
    }
}

/* ---- what callers may do wrong ---- */

static void test_blocks_misuse(void)
{
    kvs_blocks *b = bl_open(4, 1);
    int32_t t[8], a[4], table[4];
    kvs_blocks_stats s;
    char err[KVS_MAX_ERROR];
    bl_count(t, 1, 8);
    kvs_blocks_ref(b, 0); kvs_blocks_unref(b, 0);            /* a free block */
    kvs_blocks_ref(b, -1); kvs_blocks_unref(b, -1); kvs_blocks_ref(b, 4); kvs_blocks_unref(b, INT32_MAX);
    CHECK(kvs_blocks_publish(b, NULL, -1, t, -1) == -1 && kvs_blocks_publish(b, NULL, -1, t, 4) == 4 && kvs_blocks_publish(b, NULL, -1, t, 2) == 2);
    CHECK(bl_stats(b, 4, 0, 0) && bl_look(b, NULL, t, 8).n_blocks == 0);
    for (int i = 0; i < 4; i++) a[i] = kvs_blocks_alloc(b);
    for (int32_t p = -3; p < 6; p++) if (p != -1) CHECK_EQ_INT(kvs_blocks_publish(b, NULL, p, t, a[0]), a[0]);   /* no parent of that name */
    CHECK(kvs_blocks_publish(b, NULL, -1, NULL, a[0]) == a[0] && bl_look(b, NULL, t, 8).n_blocks == 0);
    bl_release(b, a, 4);
    kvs_blocks_unref(b, a[0]);                               /* once too often */
    CHECK(bl_stats(b, 4, 0, 0));
    bl_close(b);
    kvs_blocks_close(NULL);
    kvs_blocks_ref(NULL, 0); kvs_blocks_unref(NULL, 0);
    kvs_blocks_stats_get(NULL, &s);
    kvs_blocks_stats_get(NULL, NULL);
    CHECK(s.total == 0 && kvs_blocks_alloc(NULL) == -1 && kvs_blocks_publish(NULL, NULL, -1, t, 3) == 3);
    CHECK(kvs_blocks_match(NULL, NULL, t, 8, 2, table).n_blocks == 0 && kvs_blocks_check(NULL, err) == KVS_ERR_INVALID && err[0]);
    CHECK(kvs_blocks_check(NULL, NULL) == KVS_ERR_INVALID);
}

/* A table released from its head: the cache may lose blocks, but never takes one content for another. */
static void test_blocks_released_from_the_head(void)
{
    kvs_blocks *b = bl_open(2, 1);
    int32_t t[8], u[8], a[2];
    bl_count(t, 1, 8);
    bl_count(u, 1, 8);
    u[0] = 99;                                               /* the second block has the same tokens after another beginning */
    bl_fill(b, NULL, t, 2, a);
    int32_t head = a[0];
    kvs_blocks_unref(b, a[0]);
    kvs_blocks_unref(b, a[1]);
    CHECK_EQ_INT(kvs_blocks_alloc(b), head);                 /* the head was evicted, its child is cached */
    CHECK_EQ_INT(kvs_blocks_publish(b, NULL, -1, u, head), head);
    CHECK_EQ_INT(bl_look(b, NULL, u, 8).n_blocks, 1);
    kvs_blocks_close(b);                                     /* bl_check would call it what it is: corrupt */
}

static void test_blocks_open(void)
{
    kvs_blocks_config c;
    kvs_blocks *b = (kvs_blocks *)(void *)&c;
    memset(&c, 0, sizeof c);
    static const int32_t bad[][2] = {{0, 16}, {-1, 16}, {(1 << 28) + 1, 16}, {INT32_MAX, 16}, {4, 0}, {4, -4}, {4, 4097}};
    for (size_t i = 0; i < KVS__COUNT(bad); i++) {
        c.num_blocks = bad[i][0]; c.block_size = bad[i][1];
        b = (kvs_blocks *)(void *)&c;
        CHECK(kvs_blocks_open(&c, &b) == KVS_ERR_INVALID && b == NULL);
    }
    CHECK(kvs_blocks_open(NULL, &b) == KVS_ERR_INVALID && kvs_blocks_open(&c, NULL) == KVS_ERR_INVALID);
    static const int32_t good[][2] = {{1, 1}, {7, 16}, {8, 4096}, {100, 3}, {1025, 16}};
    for (size_t i = 0; i < KVS__COUNT(good); i++) {
        c.num_blocks = good[i][0]; c.block_size = good[i][1];
        CHECK(kvs_blocks_open(&c, &b) == KVS_OK);
        CHECK_EQ_INT(b->mem.live, kvs__blk_bytes(c.num_blocks, c.block_size));
        CHECK((b->n_buckets & (b->n_buckets - 1)) == 0 && b->n_buckets >= 2u * (uint32_t)c.num_blocks);
        bl_close(b);
    }
}

/* The static layout's allocation: aligned runs, whole or not at all. */
static void test_blocks_runs(void)
{
    kvs_blocks *b = bl_open(11, 0);
    int32_t t[4][4], i;
    for (i = 0; i < 2; i++) CHECK_EQ_INT(kvs__blk_alloc_run(b, 4, t[i]), 4 * i);
    CHECK_EQ_INT(kvs__blk_alloc_run(b, 4, t[2]), -1);        /* three are left at the end: wasted */
    CHECK(bl_stats(b, 3, 0, 8) && t[1][0] == 4 && t[1][3] == 7);
    bl_release(b, t[0], 4);
    CHECK_EQ_INT(kvs__blk_alloc_run(b, 4, t[2]), 0);
    CHECK_EQ_INT(kvs__blk_alloc_run(b, 12, t[3]), -1);
    bl_release(b, t[1], 4);
    bl_release(b, t[2], 4);
    CHECK(bl_stats(b, 11, 0, 0));
    CHECK_EQ_INT(kvs__blk_alloc_run(b, 1, t[0]), 0);
    CHECK_EQ_INT(kvs__blk_alloc_run(b, 1, t[0] + 1), 1);
    bl_release(b, t[0], 2);
    bl_close(b);
}

/* ---- kvs_blocks_check ---- */

static void bl_planted(const kvs_blocks *b, int line)
{
    char err[KVS_MAX_ERROR];
    CHECK_MSG(kvs_blocks_check(b, err) == KVS_ERR_CORRUPT && err[0], "line %d: not found", line);
}
#define BL_PLANT(type, place, value) do { type *t_p = &(place); type t_was = *t_p; *t_p = (value); bl_planted(b, __LINE__); *t_p = t_was; } while (0)

static void test_blocks_check_finds_faults(void)
{
    kvs_blocks *b = bl_open(10, 1);
    int32_t t[12], a[3], held, empty = 0;
    bl_count(t, 1, 12);
    bl_cache(b, NULL, 101, 2);
    bl_fill(b, NULL, t, 3, a);
    held = kvs_blocks_alloc(b);
    kvs_blocks_alloc(b);
    CHECK(bl_stats(b, 3, 2, 5));
    int32_t leaf = b->lru.head, root = b->lru.tail, slot = (int32_t)(b->block[a[0]].key.lo & (b->n_buckets - 1));
    while (b->bucket[empty] >= 0) empty++;
    BL_PLANT(int32_t, b->block[held].ref, 0);                /* a leaked block, counted as used */
    BL_PLANT(int32_t, b->block[held].ref, -1);
    BL_PLANT(int32_t, b->block[b->free.head].ref, 1);        /* free and held */
    BL_PLANT(int32_t, b->block[leaf].ref, 1);                /* cached and held */
    BL_PLANT(int32_t, b->block[a[0]].ref, 0);                /* held, its parent not */
    BL_PLANT(int32_t, b->used, 4);
    BL_PLANT(int32_t, b->free.count, 4);
    BL_PLANT(int32_t, b->lru.count, 1);
    BL_PLANT(int32_t, b->free.head, b->block[b->free.head].next);
    BL_PLANT(int32_t, b->free.head, b->lru.head);
    BL_PLANT(int32_t, b->free.head, 10);
    BL_PLANT(int32_t, b->lru.head, -1);
    BL_PLANT(int32_t, b->lru.tail, leaf);
    BL_PLANT(int32_t, b->block[leaf].next, leaf);            /* a circle */
    BL_PLANT(int32_t, b->block[leaf].next, 1000);
    BL_PLANT(int32_t, b->block[root].prev, -1);
    BL_PLANT(int32_t, b->block[root].prev, -7);
    BL_PLANT(int32_t, b->block[a[1]].published, 0);          /* its child still hangs on it */
    BL_PLANT(int32_t, b->block[a[2]].published, 0);          /* in the index, not published */
    BL_PLANT(int32_t, b->block[held].published, 1);          /* published, not in the index */
    BL_PLANT(int32_t, b->block[a[1]].published, 2);
    BL_PLANT(int32_t, b->block[a[1]].parent, held);
    BL_PLANT(int32_t, b->block[a[1]].parent, 10);
    BL_PLANT(int32_t, b->block[a[1]].parent, -1);
    BL_PLANT(int32_t, b->block[a[1]].parent, root);          /* another publication under the parent's number */
    BL_PLANT(uint64_t, b->block[a[0]].key.lo, b->block[a[0]].key.lo ^ 1);
    BL_PLANT(uint64_t, b->block[a[2]].key.hi, 5);
    BL_PLANT(uint64_t, b->block[a[0]].root.hi, 5);           /* under another salt */
    BL_PLANT(int32_t, b->tokens[a[0] * BL_BS + 1], 55);      /* content exchanged */
    BL_PLANT(int32_t, b->bucket[slot], -1);
    BL_PLANT(int32_t, b->bucket[slot], 10);
    BL_PLANT(int32_t, b->bucket[empty], a[0]);               /* indexed twice */
    BL_PLANT(int32_t, b->opening[empty], 10);
    BL_PLANT(int32_t, b->block[a[0]].chain, a[0]);           /* a circle */
    BL_PLANT(int32_t, b->block[a[0]].chain, -2);
    bl_close(b);
}

SUITE(blocks)
{
    RUN(test_blocks_states);
    RUN(test_blocks_sharing);
    RUN(test_blocks_tails_before_heads);
    RUN(test_blocks_twins);
    RUN(test_blocks_miss_reasons);
    RUN(test_blocks_miss_evicted);
    RUN(test_blocks_stale_hints);
    RUN(test_blocks_random);
    RUN(test_blocks_misuse);
    RUN(test_blocks_released_from_the_head);
    RUN(test_blocks_open);
    RUN(test_blocks_runs);
    RUN(test_blocks_check_finds_faults);
}
