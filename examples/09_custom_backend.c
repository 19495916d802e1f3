/* 09_custom_backend.c - the line between bookkeeping and maths.

   You see: three steps, op by op: how often it was called, the bytes it moved, the arithmetic it did, and their ratio.
            Reading a prompt does much arithmetic per byte. Writing one token does little: it waits for memory. Sixteen
            sequences at once read the weights once for all of them.
   How:     above kvs_backend everything is integers, below it is floats. A backend is a struct of functions; this one
            is a copy of the CPU's with a counter around each op. A backend for another device fills the same struct.
   Build:   cc -O2 examples/09_custom_backend.c -o 09_custom_backend -lm -lpthread
   Next:    10_blocks_alone.c, the bookkeeping without any maths. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { EMBED, NORM, LINEAR, ROPE, KV_WRITE, ATTENTION, ACT_MUL, GATHER, SAMPLE, OPS };
typedef struct tally { int calls; double bytes, flops, seconds; } tally;

/* The context that ops receive is the CPU's own, so what we know lives here: this is for one engine. */
static const kvs_backend *cpu;
static const kvs_batch *batch;                 /* of this step */
static tally count[OPS];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double size_of(kvs_dtype t) { return t == KVS_F32 ? 4 : t == KVS_INT8 || t == KVS_FP8_E4M3 ? 1 : 2; }
static double act(double elements) { return elements * cpu->act_bytes; }
static double kv(const kvs_kv_desc *d, double tokens)     /* K and V of one layer */
{
    return 2 * tokens * d->n_kv_heads * d->head_dim * size_of(d->dtype);
}

/* Keys in memory, each read once for all rows of its sequence; pairs of row and key: a row sees the keys up to it. */
static double keys(void)  { double n = 0; for (int32_t i = 0; i < batch->S; i++) n += batch->kv_len[i]; return n; }
static double pairs(void) { double n = 0; for (int32_t i = 0; i < batch->T; i++) n += batch->pos[i] + 1; return n; }

/* One op of the backend: runs the CPU's, then counts bytes and flops by its arguments a and the T rows of the batch. */
#define OP(name, which, bytes_, flops_)                                   \
    static void name(void *ctx, const kvs_##name##_args *a)               \
    {                                                                     \
        double start = now(), T = batch->T;                               \
        cpu->name(ctx, a);                                                \
        count[which].seconds += now() - start; count[which].calls++;      \
        count[which].bytes += (bytes_); count[which].flops += (flops_);   \
        (void)T; (void)a;                                                 \
    }
OP(embed, EMBED, a->table ? T * a->table->k * (size_of(a->table->dtype) + cpu->act_bytes) : 0, 0)
OP(norm, NORM, act(2.0 * a->rows * a->heads * a->D), 4.0 * a->rows * a->heads * a->D)
OP(linear, LINEAR, size_of(a->w->dtype) * a->w->n * a->w->k + act((double)a->rows * (a->w->k + a->w->n)),
   2.0 * a->rows * a->w->k * a->w->n)
OP(rope, ROPE, act(2 * T * a->heads * a->rot_dim), 3 * T * a->heads * a->rot_dim)
OP(kv_write, KV_WRITE, kv(a->kv, T) + act(2 * T * a->kv->n_kv_heads * a->kv->head_dim), 0)
OP(attention, ATTENTION, kv(a->kv, keys()) + act(2 * T * a->H * a->kv->head_dim), 4 * pairs() * a->H * a->kv->head_dim)
OP(act_mul, ACT_MUL, act(3 * T * a->F), 5 * T * a->F)
OP(gather, GATHER, act(2.0 * a->n * a->D), 0)
OP(sample, SAMPLE, act((double)a->n_rows * a->V), (double)a->n_rows * a->V)

static void begin(void *ctx, const kvs_batch *b) { batch = b; cpu->begin(ctx, b); }

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

static void submit(kvs_engine *e, const char *text)
{
    kvs_prompt p = {0};
    p.text = text;
    if (kvs_submit(e, &p, NULL, NULL) < 0) die(kvs_last_error(e));
}

static void print_line(const char *name, const tally *c)
{
    printf("   %-10s%6d%12.1f%12.3f%15.2f%10.3f\n", name, c->calls, c->bytes / 1e3, c->flops / 1e6,
           c->bytes > 0 ? c->flops / c->bytes : 0, c->seconds * 1e3);
}

/* One step, counted; shown unless title is NULL. */
static void step(kvs_engine *e, const char *title)
{
    static const char *const name[OPS] = {"embed", "norm", "linear", "rope", "kv_write",
                                          "attention", "act_mul", "gather", "sample"};
    kvs_output o;
    tally sum = {0, 0, 0, 0};
    memset(count, 0, sizeof count);
    if (kvs_step(e) < 0) die(kvs_last_error(e));
    while (kvs_poll(e, &o)) {}
    if (!title) return;
    printf("%s: T = %d rows, S = %d sequences\n", title, batch->T, batch->S);
    printf("   %-10s%6s%12s%12s%15s%10s\n", "op", "calls", "KB", "Mflop", "flop per byte", "ms");
    for (int i = 0; i < OPS; i++) {
        print_line(name[i], &count[i]);
        sum.calls += count[i].calls; sum.bytes += count[i].bytes;
        sum.flops += count[i].flops; sum.seconds += count[i].seconds;
    }
    print_line("together", &sum);
    printf("   for one row: %.1f KB, %.2f Mflop\n\n", sum.bytes / 1e3 / batch->T, sum.flops / 1e6 / batch->T);
}

int main(int argc, char **argv)
{
    static char text[4096];
    kvs_config cfg = {0};
    kvs_engine *e;
    kvs_backend spy = *(cpu = kvs_cpu_backend());         /* memory, loading and sizes stay the CPU's */
    spy.name = "cpu, counted";
    spy.begin = begin; spy.embed = embed; spy.norm = norm; spy.linear = linear; spy.rope = rope;
    spy.kv_write = kv_write; spy.attention = attention; spy.act_mul = act_mul; spy.gather = gather; spy.sample = sample;
    cfg.model = argc > 1 ? argv[1] : "examples/tiny";
    cfg.backend = &spy; cfg.max_num_seqs = 16; cfg.no_prefix_cache = 1;
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    while (strlen(text) < 1500) strcat(text, "A block holds the keys and values of a fixed number of tokens. ");
    submit(e, text);
    step(e, "Prefill of one prompt");
    step(e, "Decode of one sequence");
    for (int i = 1; i < 16; i++) submit(e, "What is a block?");
    step(e, NULL);                                        /* the fifteen prompts */
    step(e, "Decode of sixteen sequences");
    kvs_close(e);
    return 0;
}
