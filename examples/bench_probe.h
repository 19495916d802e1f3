/* bench_probe.h - what this machine can do at this moment, for bench.c. Knows neither models nor the engine.

   A virtual machine is not the same machine from minute to minute: its processors may be two threads of one core, two
   cores of one chip or cores of two chips, and neighbours come and go. So these are taken beside every figure:

   ping    A cache line sent to another thread and back, in ns. It says where the processors are: tens of ns on one
           chip, hundreds over two; far more if somebody else is running on them.
   DRAM    Bytes read per second, by one thread and by all, from a buffer several times as large as the cache.
   peak    Multiply-adds of the widest instruction for the type, by all threads, on registers alone; each is 2 flops.

   Each is the median of PROBE_WINDOWS windows, the kinds taking turns. Threads are not pinned: nor are the engine's. */
#ifndef BENCH_PROBE_H
#define BENCH_PROBE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#if defined(__x86_64__) && defined(__GNUC__)
#  include <immintrin.h>
#  define PROBE_X86 1
#endif

#define PROBE_WINDOWS 3
#define PROBE_SECONDS 0.006            /* one window */
#define PROBE_MAX_THREADS 256

/* One kind for each arithmetic that weights can be multiplied in; int8 weights will add vpdpbusd here. */
typedef enum probe_peak { PROBE_F32, PROBE_BF16, PROBE_PEAKS } probe_peak;

typedef struct probe { double ping_ns, dram_one, dram_all, peak; } probe;   /* bytes/s; flops/s. 0: not measured */

typedef struct prober {
    int n_threads;
    probe_peak kind;
    const char *instruction;           /* what peak was measured with */
    char *buffer; size_t region;       /* n_threads regions */
    size_t cursor[PROBE_MAX_THREADS];  /* reading goes on where the last window ended, so no line is still in the cache */
} prober;

static double probe_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int probe_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double probe_median(double *v, int n)       /* sorts v; 0 if there is none */
{
    if (n < 1) return 0;
    qsort(v, (size_t)n, sizeof *v, probe_by_value);
    return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

/* ---- the work of one thread ---- */

#define PROBE_CHUNK (1 << 20)

/* Touches every cache line of n bytes. Wide loads are not needed to reach DRAM speed; asking 4 KB ahead is. */
static uint64_t probe_read_plain(const char *p, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i += 64) {
        uint64_t x;
#if defined(__GNUC__)
        __builtin_prefetch(p + i + 4096);
#endif
        memcpy(&x, p + i, sizeof x);
        sum += x;
    }
    return sum;
}

#ifdef PROBE_X86
/* The same with whole lines in one load: 10 to 40 % more than the plain loop. */
__attribute__((target("avx512f"))) static uint64_t probe_read_avx512(const char *p, size_t n)
{
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    for (size_t i = 0; i < n; i += 256) {
        for (size_t k = 0; k < 256; k += 64) _mm_prefetch(p + i + 4096 + k, _MM_HINT_T0);
        a = _mm512_xor_si512(a, _mm512_loadu_si512(p + i));
        b = _mm512_xor_si512(b, _mm512_loadu_si512(p + i + 64));
        c = _mm512_xor_si512(c, _mm512_loadu_si512(p + i + 128));
        d = _mm512_xor_si512(d, _mm512_loadu_si512(p + i + 192));
    }
    return (uint64_t)_mm512_reduce_or_epi64(_mm512_or_si512(_mm512_or_si512(a, b), _mm512_or_si512(c, d)));
}
#endif

static uint64_t probe_read(const char *p, size_t n)
{
#ifdef PROBE_X86
    if (__builtin_cpu_supports("avx512f")) return probe_read_avx512(p, n);
#endif
    return probe_read_plain(p, n);
}

/* Twelve chains of multiply-adds hide the latency of all processors known to us. A call does ROUNDS of each. */
#define PROBE_ROUNDS 4096
#define PROBE_CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

#ifdef PROBE_X86
__attribute__((target("avx512f,avx512bf16"))) static double probe_flops_bf16(float *sink)
{
    __m512bh x = (__m512bh)_mm512_set1_epi16(0x3f80), y = x;
#define X(i) __m512 a##i = _mm512_set1_ps(i + *sink);
    PROBE_CHAINS(X)
#undef X
    for (int r = 0; r < PROBE_ROUNDS; r++) {
#define X(i) a##i = _mm512_dpbf16_ps(a##i, x, y);
        PROBE_CHAINS(X)
#undef X
    }
    __m512 s = _mm512_setzero_ps();
#define X(i) s = _mm512_add_ps(s, a##i);
    PROBE_CHAINS(X)
#undef X
    *sink = 1e-30f * _mm512_reduce_add_ps(s);
    return 12.0 * 64 * PROBE_ROUNDS;
}

__attribute__((target("avx512f"))) static double probe_flops_avx512(float *sink)
{
    __m512 x = _mm512_set1_ps(1 + *sink), y = x;
#define X(i) __m512 a##i = _mm512_set1_ps(i + *sink);
    PROBE_CHAINS(X)
#undef X
    for (int r = 0; r < PROBE_ROUNDS; r++) {
#define X(i) a##i = _mm512_fmadd_ps(x, y, a##i);
        PROBE_CHAINS(X)
#undef X
    }
    __m512 s = _mm512_setzero_ps();
#define X(i) s = _mm512_add_ps(s, a##i);
    PROBE_CHAINS(X)
#undef X
    *sink = 1e-30f * _mm512_reduce_add_ps(s);
    return 12.0 * 32 * PROBE_ROUNDS;
}

__attribute__((target("avx2,fma"))) static double probe_flops_avx2(float *sink)
{
    float out[8];
    __m256 x = _mm256_set1_ps(1 + *sink), y = x;
#define X(i) __m256 a##i = _mm256_set1_ps(i + *sink);
    PROBE_CHAINS(X)
#undef X
    for (int r = 0; r < PROBE_ROUNDS; r++) {
#define X(i) a##i = _mm256_fmadd_ps(x, y, a##i);
        PROBE_CHAINS(X)
#undef X
    }
    __m256 s = _mm256_setzero_ps();
#define X(i) s = _mm256_add_ps(s, a##i);
    PROBE_CHAINS(X)
#undef X
    _mm256_storeu_ps(out, s);
    *sink = 1e-30f * out[0];
    return 12.0 * 16 * PROBE_ROUNDS;
}
#endif

/* Any other machine: four floats at a time, fused if its compiler likes. */
#if defined(__GNUC__)
typedef float probe_floats __attribute__((vector_size(16)));
#  define PROBE_SPLAT(f) {(f), (f), (f), (f)}
#  define PROBE_FIRST(v) ((v)[0])
#  define PROBE_LANES 4
#else
typedef float probe_floats;
#  define PROBE_SPLAT(f) (f)
#  define PROBE_FIRST(v) (v)
#  define PROBE_LANES 1
#endif
static double probe_flops_plain(float *sink)
{
    probe_floats x = PROBE_SPLAT(0.5f + *sink), y = x, s = PROBE_SPLAT(0);
#define X(i) probe_floats a##i = PROBE_SPLAT(i + *sink);
    PROBE_CHAINS(X)
#undef X
    for (int r = 0; r < PROBE_ROUNDS; r++) {
#define X(i) a##i = a##i * x + y;
        PROBE_CHAINS(X)
#undef X
    }
#define X(i) s += a##i;
    PROBE_CHAINS(X)
#undef X
    *sink = 1e-30f * PROBE_FIRST(s);
    return 12.0 * 2 * PROBE_LANES * PROBE_ROUNDS;
}

typedef double (*probe_flops_fn)(float *sink);

/* The fastest way to multiply this kind on this machine, and what it is called. */
static probe_flops_fn probe_flops_best(probe_peak kind, const char **name)
{
#ifdef PROBE_X86
    *name = "vdpbf16ps 512";
    if (kind == PROBE_BF16 && __builtin_cpu_supports("avx512bf16")) return probe_flops_bf16;
    *name = "f32 FMA 512";
    if (__builtin_cpu_supports("avx512f")) return probe_flops_avx512;
    *name = "f32 FMA 256";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return probe_flops_avx2;
#endif
    (void)kind;
    *name = "f32, plain C";
    return probe_flops_plain;
}

/* ---- several threads for the same few milliseconds ---- */

typedef struct probe_job {
    prober *p; int index, n, reads;    /* reads: DRAM, else flops */
    int *arrived;                      /* shared */
    double rate;                       /* out: work per second */
    uint64_t sum; float sink;          /* out: what was computed, so that it has to be */
} probe_job;

static void probe_meet(int *arrived, int n)        /* everybody starts when the last has come */
{
    __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(arrived, __ATOMIC_ACQUIRE) < n) sched_yield();
}

static void *probe_work(void *arg)
{
    probe_job *j = (probe_job *)arg;
    prober *p = j->p;
    const char *name;
    probe_flops_fn flops = probe_flops_best(p->kind, &name);
    size_t *at = &p->cursor[j->index];
    double done = 0, t, t0;
    probe_meet(j->arrived, j->n);
    t0 = probe_now();
    do {
        if (j->reads) {
            j->sum += probe_read(p->buffer + (size_t)j->index * p->region + *at, PROBE_CHUNK);
            *at = *at + 2 * PROBE_CHUNK > p->region ? 0 : *at + PROBE_CHUNK;
            done += PROBE_CHUNK;
        } else for (int i = 0; i < 8; i++) done += flops(&j->sink);
        t = probe_now() - t0;
    } while (t < PROBE_SECONDS);
    j->rate = done / t;
    return NULL;
}

static double probe_rate(prober *p, int n, int reads)
{
    probe_job job[PROBE_MAX_THREADS];
    pthread_t thread[PROBE_MAX_THREADS];
    int arrived = 0, started = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        probe_job j = {p, i, n, reads, &arrived, 0, 0, 0};
        job[i] = j;
    }
    for (int i = 1; i < n; i++, started++)
        if (pthread_create(&thread[i], NULL, probe_work, &job[i])) break;
    if (started < n - 1) __atomic_add_fetch(&arrived, n - 1 - started, __ATOMIC_ACQ_REL);   /* nobody waits for those */
    probe_work(&job[0]);
    for (int i = 1; i <= started; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i <= started; i++) sum += job[i].rate;
    return sum;
}

/* ---- ping-pong ---- */

#define PROBE_TRIPS 100                            /* per timed batch */
typedef struct probe_ball { char before[128]; uint32_t turn; char after[128]; int arrived; } probe_ball;

static void probe_wait(const uint32_t *turn, uint32_t odd)
{
    for (uint32_t spins = 1; (__atomic_load_n(turn, __ATOMIC_ACQUIRE) & 1) != odd; spins++)
        if (spins % (1u << 16) == 0) sched_yield();   /* the other one has no processor */
}

static void *probe_pong(void *arg)
{
    probe_ball *b = (probe_ball *)arg;
    probe_meet(&b->arrived, 2);
    for (;;) {
        probe_wait(&b->turn, 1);
        uint32_t t = __atomic_load_n(&b->turn, __ATOMIC_RELAXED);
        if (t == UINT32_MAX) return NULL;
        __atomic_store_n(&b->turn, t + 1, __ATOMIC_RELEASE);
    }
}

/* Nanoseconds of a round trip: the median over batches of PROBE_TRIPS. */
static double probe_ping(void)
{
    probe_ball ball;
    pthread_t thread;
    double batch[512];
    int n = 0;
    uint32_t turn = 0;
    memset(&ball, 0, sizeof ball);
    if (pthread_create(&thread, NULL, probe_pong, &ball)) return 0;
    probe_meet(&ball.arrived, 2);
    double start = probe_now(), t = start;
    while (n < 512 && (t - start < PROBE_SECONDS || n < 3)) {
        for (int i = 0; i < PROBE_TRIPS; i++) {
            __atomic_store_n(&ball.turn, ++turn, __ATOMIC_RELEASE);
            probe_wait(&ball.turn, 0);
            turn++;
        }
        double now = probe_now();
        batch[n++] = (now - t) * 1e9 / PROBE_TRIPS;
        t = now;
    }
    __atomic_store_n(&ball.turn, UINT32_MAX, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    return probe_median(batch, n);
}

/* ---- together ---- */

/* Bytes of the last-level cache that processor 0 sees; a guess where the system does not say. */
static size_t probe_cache_bytes(void)
{
    size_t kb = 0;
    FILE *f = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (f) { if (fscanf(f, "%zuK", &kb) != 1) kb = 0; fclose(f); }
    return kb ? kb << 10 : (size_t)32 << 20;
}

/* 0, or -1 without memory for the buffer. */
static int probe_open(prober *p, int n_threads, probe_peak kind)
{
    memset(p, 0, sizeof *p);
    p->n_threads = n_threads < 1 ? 1 : n_threads > PROBE_MAX_THREADS ? PROBE_MAX_THREADS : n_threads;
    p->kind = kind;
    probe_flops_best(kind, &p->instruction);
    size_t bytes = 4 * probe_cache_bytes(), least = (size_t)256 << 20;
    if (bytes < least) bytes = least;              /* two chips have two caches */
    p->region = bytes / (size_t)p->n_threads / PROBE_CHUNK * PROBE_CHUNK;
    if (p->region < 2 * PROBE_CHUNK) p->region = 2 * PROBE_CHUNK;
    bytes = p->region * (size_t)p->n_threads + 2 * PROBE_CHUNK;              /* slack: prefetches run ahead */
    void *m = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (m == MAP_FAILED) return -1;
#ifdef MADV_HUGEPAGE
    madvise(m, bytes, MADV_HUGEPAGE);              /* the weights lie in huge pages, too */
#endif
    memset(m, 1, bytes);                           /* pages that were never written share one page of zeroes */
    p->buffer = (char *)m;
    return 0;
}

/* Takes n_threads, kind as they are now; about PROBE_WINDOWS * 4 * PROBE_SECONDS = 72 ms. */
static probe probe_take(prober *p)
{
    double v[4][PROBE_WINDOWS];
    struct timespec nap = {0, 2000000};            /* threads of the engine spin a little before they sleep */
    probe out;
    probe_flops_best(p->kind, &p->instruction);
    nanosleep(&nap, NULL);
    for (int w = 0; w < PROBE_WINDOWS; w++) {
        v[0][w] = p->n_threads > 1 ? probe_ping() : 0;
        v[1][w] = probe_rate(p, 1, 1);
        v[2][w] = p->n_threads > 1 ? probe_rate(p, p->n_threads, 1) : v[1][w];
        v[3][w] = probe_rate(p, p->n_threads, 0);
    }
    out.ping_ns = probe_median(v[0], PROBE_WINDOWS); out.dram_one = probe_median(v[1], PROBE_WINDOWS);
    out.dram_all = probe_median(v[2], PROBE_WINDOWS); out.peak = probe_median(v[3], PROBE_WINDOWS);
    return out;
}

/* What lies between two takes; ping is the better one: a thread that had no processor says nothing of the distance. */
static probe probe_mean(probe a, probe b)
{
    probe m;
    m.ping_ns = a.ping_ns < b.ping_ns ? a.ping_ns : b.ping_ns;
    m.dram_one = 0.5 * (a.dram_one + b.dram_one); m.dram_all = 0.5 * (a.dram_all + b.dram_all);
    m.peak = 0.5 * (a.peak + b.peak);
    return m;
}

#endif
