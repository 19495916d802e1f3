/* 10_blocks_alone.c - the block manager without a model.

   You see: a pool of eight blocks of four tokens, where a token is a letter and "computing its KV" is writing it down.
            Texts that begin alike share blocks; blocks of ended texts stay findable (cached); the least recently used
            give way when room is needed, the end of a text before its beginning.
   Why:     this is the part of a serving engine that decides who holds which memory. It knows no floats, so it works
            for anything that is computed from a prefix, and can be tested by itself.
   Build:   cc -O2 examples/10_blocks_alone.c -o 10_blocks_alone -lm -lpthread
   Next:    kvserve.h, sections >>blocks and >>prefix: what is called here, in a few hundred lines. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { BLOCKS = 8, SIZE = 4, LONGEST = BLOCKS * SIZE };

static kvs_blocks *pool;
static char memory[BLOCKS][SIZE];         /* what a block holds is not the manager's: here letters, in an engine KV */
static int holders[BLOCKS];               /* only for the picture */

typedef struct text { const char *letters; int32_t table[BLOCKS], n; } text;

static void die(const char *what) { fprintf(stderr, "%s\n", what); exit(1); }

/* One line: what was done, letters and holders of every block, the counts. found < 0: not shown. */
static void show(const char *what, const char *letters, int32_t found)
{
    kvs_blocks_stats s;
    kvs_blocks_stats_get(pool, &s);
    printf("%-5s %-16s ", what, letters);
    if (found >= 0) printf("%5d  ", found); else printf("%7s", "");
    for (int i = 0; i < BLOCKS; i++) {
        char mark = holders[i] ? (char)('0' + holders[i]) : ' ', letter[SIZE];
        for (int k = 0; k < SIZE; k++) letter[k] = memory[i][k] ? memory[i][k] : ' ';
        printf("|%.*s %c", SIZE, letter, mark);
    }
    printf("| %4d %6d %4d\n", s.used, s.cached, s.free);
}

/* Gives the blocks of a text back, the last one first (see kvs_blocks_unref). */
static void end(text *t)
{
    while (t->n > 0) {
        holders[t->table[--t->n]]--;
        kvs_blocks_unref(pool, t->table[t->n]);
    }
    show("end", t->letters, -1);
}

/* Finds what is there of a text and computes the rest. 0, or -1 when there are not enough blocks. */
static int begin(text *t, const char *letters, const char *salt)
{
    int32_t token[LONGEST] = {0}, n = (int32_t)strlen(letters);
    for (int32_t i = 0; i < n; i++) token[i] = letters[i];
    t->letters = letters;
    kvs_prefix_hit hit = kvs_blocks_match(pool, salt, token, n, n / SIZE, t->table);
    for (t->n = 0; t->n < hit.n_blocks; t->n++) holders[t->table[t->n]]++;
    for (; t->n * SIZE < n; t->n++) {
        int32_t at = t->n * SIZE, full = n - at >= SIZE, b = kvs_blocks_alloc(pool);
        if (b < 0) {
            printf("      no block is left for the rest of \"%s\"; it gives back what it has\n", letters);
            end(t);
            return -1;
        }
        memset(memory[b], 0, SIZE);
        memcpy(memory[b], letters + at, full ? (size_t)SIZE : (size_t)(n - at));         /* "compute" */
        if (full) b = kvs_blocks_publish(pool, salt, at ? t->table[t->n - 1] : -1, token + at, b);
        t->table[t->n] = b;
        holders[b]++;
    }
    show("begin", letters, hit.n_blocks);
    return 0;
}

int main(void)
{
    kvs_blocks_config cfg = {0};
    kvs_blocks_stats s;
    text a, b, c;
    char err[KVS_MAX_ERROR];
    cfg.num_blocks = BLOCKS; cfg.block_size = SIZE;
    if (kvs_blocks_open(&cfg, &pool) < 0) die("out of memory");
    printf("%-5s %-16s %5s  %-57s %4s %6s %4s\n", "", "text", "found", "the pool: letters, how many texts hold it",
           "used", "cached", "free");

    printf("Sharing: the second text finds the full blocks that both begin with.\n");
    begin(&a, "the cat sat on", NULL);
    begin(&b, "the cat ran", NULL);
    printf("Full blocks are kept when nobody holds them any more, and are found again; others are free.\n");
    end(&a);
    end(&b);
    begin(&a, "the cat sat up", NULL);
    printf("The same letters under another salt: nothing is found.\n");
    begin(&b, "the cat ran", "alice");
    end(&a);
    end(&b);
    printf("Room is needed: the least recently used block is evicted, the end of a text before its beginning.\n");
    begin(&a, "a new long text", NULL);
    begin(&b, "the cat sat on", NULL);
    printf("All are held: no allocation. That is no error, but a reason to wait, or to preempt somebody.\n");
    if (begin(&c, "one more", NULL)) {
        end(&a);
        begin(&c, "one more", NULL);
    }
    kvs_blocks_stats_get(pool, &s);
    printf("%llu blocks were looked up, %llu found, %llu evicted.\n", (unsigned long long)s.queries,
           (unsigned long long)s.hits, (unsigned long long)s.evictions);
    if (kvs_blocks_check(pool, err) < 0) die(err);
    kvs_blocks_close(pool);
    return 0;
}
