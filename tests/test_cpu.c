/* The CPU backend: every op against its formula in doubles; then the determinism contract: the same bits from portable,
   AVX2 and AVX-512 kernels, from 1 and 3 threads, for a row alone and in a batch, for keys written in one go or token
   by token. */

/* ---- a backend with its sizes ---- */

typedef struct { const kvs_backend *b; void *ctx; kvs_allocator al; int64_t live, calls, bytes; int fail_at; } t_cpu;

static void *t_cpu_alloc(size_t n, void *user)
{
    t_cpu *c = (t_cpu *)user;
    if (c->fail_at && ++c->calls == c->fail_at) return NULL;
    c->live++; c->bytes += (int64_t)n;
    return malloc(n);
}
static void t_cpu_free(void *p, void *user) { ((t_cpu *)user)->live--; free(p); }

static kvs_backend_desc t_cpu_desc(t_cpu *c, kvs_isa isa, int threads)
{
    kvs_backend_desc d;
    memset(&d, 0, sizeof d);
    c->al.alloc = t_cpu_alloc; c->al.free = t_cpu_free; c->al.user = c;
    d.num_threads = threads; d.isa = isa; d.max_tokens = 80; d.max_seqs = 16; d.max_k = 1100; d.max_n = 1000;
    d.n_heads = 40; d.n_kv_heads = 40; d.head_dim = 256; d.block_size = 16; d.max_model_len = 1200; d.vocab = 300;
    d.kv_dtype = KVS_BF16; d.allocator = &c->al;
    return d;
}

/* 0: this machine has not got the isa. */
static int t_cpu_open(t_cpu *c, kvs_isa isa, int threads)
{
    char err[KVS_MAX_ERROR] = "";
    memset(c, 0, sizeof *c);
    c->b = kvs_cpu_backend();
    kvs_backend_desc d = t_cpu_desc(c, isa, threads);
    kvs_result r = c->b->open(&d, &c->ctx, err);
    CHECK_MSG(r == KVS_OK || (r == KVS_ERR_UNSUPPORTED && isa >= KVS_ISA_AVX2), "open isa %d: %d %s", (int)isa, (int)r,
              err);
    return r == KVS_OK;
}
static void t_cpu_close(t_cpu *c)
{
    c->b->close(c->ctx);
    CHECK_EQ_INT(c->live, 0);
}
static void t_cpu_sync(t_cpu *c)
{
    char err[KVS_MAX_ERROR] = "";
    CHECK_MSG(c->b->sync(c->ctx, err) == KVS_OK, "%s", err);
}

/* Every kernel set with 1 and 3 threads; the first (portable, 1) makes the bits that the others must repeat. */
#define T_CPU_VARIANTS 6
static int t_cpu_variant(t_cpu *c, int i) { return t_cpu_open(c, (kvs_isa)(KVS_ISA_PORTABLE + i / 2), i % 2 ? 3 : 1); }

static float *t_cpu_floats(size_t n, float scale)
{
    float *p = (float *)malloc((n + 1) * sizeof *p);
    for (size_t i = 0; i < n; i++) p[i] = t_float() * scale;
    return p;
}

static void t_cpu_same(const char *what, int variant, const float *a, const float *b, size_t n)
{
    size_t bad = 0, at = 0;
    for (size_t i = 0; i < n; i++) if (memcmp(&a[i], &b[i], 4) && !bad++) at = i;
    CHECK_MSG(!bad, "%s: %zu of %zu differ from the portable path, variant %d, first at %zu: %a, expected %a",
              what, bad, n, variant, at, (double)b[at], (double)a[at]);
}

static kvs_batch t_cpu_rows(int T, const int32_t *token, const int32_t *pos)
{
    kvs_batch b;
    memset(&b, 0, sizeof b);
    b.T = T; b.S = 1; b.token = token; b.pos = pos;
    return b;
}

/* ---- maths ---- */

typedef float t_cpu_fn(float);
static float t_cpu_exp(float x) { return kvs__expf(x); }
static float t_cpu_log(float x) { return kvs__logf(x); }
static float t_cpu_tanh(float x) { return kvs__tanhf(x); }
static float t_cpu_cdf(float x) { return kvs__normcdf(x); }
static float t_cpu_silu(float x) { return kvs__silu(x); }
static float t_cpu_gelu(float x) { return kvs__gelu(x); }
static float t_cpu_gelu_tanh(float x) { return kvs__gelu_tanh(x); }
static double t_dbl_cdf(double x) { return 0.5 * erfc(-x / sqrt(2.0)); }
static double t_dbl_silu(double x) { return x / (1 + exp(-x)); }
static double t_dbl_gelu(double x) { return x * t_dbl_cdf(x); }
static double t_dbl_gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

/* The largest error of f over [lo, hi]: in units of 2^-24 of the value, or absolute in units of `unit` if that is not
   0. */
static double t_cpu_worst(t_cpu_fn *f, double (*exact)(double), float lo, float hi, double unit)
{
    double worst = 0;
    for (int i = 0; i <= 200000; i++) {
        float x = (float)((double)lo + ((double)hi - (double)lo) * i / 200000);
        double want = exact((double)x),
               e = fabs((double)f(x) - want) / (unit != 0 ? unit : fabs(want) * 0x1p-24 + 1e-300);
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

static void test_cpu_maths(void)
{
    CHECK(t_cpu_worst(t_cpu_exp, exp, -86.5f, 88.3f, 0) < 3.0);
    CHECK(t_cpu_worst(t_cpu_exp, exp, -1.0f, 1.0f, 0) < 3.0);
    CHECK(t_cpu_worst(t_cpu_log, log, 1e-30f, 1.0f, 0) < 2.0);
    CHECK(t_cpu_worst(t_cpu_log, log, 0.7f, 1.5f, 0) < 2.0);
    CHECK(t_cpu_worst(t_cpu_log, log, 1.0f, 3e38f, 0) < 2.0);
    CHECK(t_cpu_worst(t_cpu_tanh, tanh, -9.0f, 9.0f, 0) < 4.0);
    CHECK(t_cpu_worst(t_cpu_tanh, tanh, -0.01f, 0.01f, 0) < 4.0);
    CHECK(t_cpu_worst(t_cpu_cdf, t_dbl_cdf, -9.0f, 9.0f, 1.0) < 2.5e-7);
    CHECK(t_cpu_worst(t_cpu_cdf, t_dbl_cdf, -9.0f, 0.0f, 0) < 1e-5 * 0x1p24);
    CHECK(t_cpu_worst(t_cpu_silu, t_dbl_silu, -80.0f, 80.0f, 0) < 8.0);
    CHECK(t_cpu_worst(t_cpu_gelu, t_dbl_gelu, -5.0f, 5.0f, 1.0) < 5e-7);
    CHECK(t_cpu_worst(t_cpu_gelu_tanh, t_dbl_gelu_tanh, -5.0f, 5.0f, 1.0) < 1e-6);
    CHECK(kvs__expf(0.0f) == 1.0f && kvs__expf(-90.0f) == 0.0f && kvs__expf(-INFINITY) == 0.0f &&
          kvs__expf(89.0f) == INFINITY);
    CHECK(kvs__expf(NAN) != kvs__expf(NAN) && kvs__tanhf(NAN) != kvs__tanhf(NAN) && kvs__logf(NAN) != kvs__logf(NAN));
    CHECK(kvs__logf(1.0f) == 0.0f && kvs__logf(0.0f) == -INFINITY && kvs__logf(INFINITY) == INFINITY &&
          kvs__logf(-1.0f) != kvs__logf(-1.0f));
    CHECK(kvs__tanhf(50.0f) == 1.0f && kvs__tanhf(-INFINITY) == -1.0f && kvs__tanhf(0.0f) == 0.0f);
    CHECK(kvs__normcdf(INFINITY) == 1.0f && kvs__normcdf(-40.0f) == 0.0f && kvs__silu(-200.0f) == 0.0f &&
          kvs__gelu_tanh(-30.0f) == 0.0f);
}

/* The doubles of the portable kernel are as good as a true fma. */
static void test_cpu_fma_bf16(void)
{
    t_seed(11);
    for (int i = 0; i < 300000; i++) {
        float a = kvs__bf16_f32(kvs__f32_bf16(ldexpf(t_float(), t_range(-20, 20)))),
              b = kvs__bf16_f32(kvs__f32_bf16(ldexpf(t_float(), t_range(-20, 20))));
        float c = t_range(0, 1) ? ldexpf(t_float(), t_range(-60, 60)) : -a * b * (1.0f + ldexpf(t_float(), -20));
        float x = kvs__fma_bf16(a, b, c), y = fmaf(a, b, c);
        CHECK_MSG(memcmp(&x, &y, 4) == 0, "%a * %a + %a = %a, expected %a", (double)a, (double)b, (double)c, (double)x,
                  (double)y);
    }
}

/* ---- threads ---- */

typedef struct { int32_t *count; int32_t thread_max; int64_t max_range; } t_pool_arg;
static void t_pool_job(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    t_pool_arg *a = (t_pool_arg *)arg;
    for (int64_t i = begin; i < end; i++) __atomic_add_fetch(&a->count[i], 1, __ATOMIC_RELAXED);
    CHECK(thread >= 0 && thread < a->thread_max && (end - begin <= a->max_range));
}

static void test_cpu_pool(void)
{
    static const int sizes[] = {1, 2, 5};
    t_seed(5);
    for (size_t k = 0; k < 3; k++) {
        kvs__pool pool;
        kvs__worker worker[8];
        int32_t count[500];
        t_pool_arg a = {count, sizes[k], 0};
        CHECK(kvs__pool_open(&pool, worker, sizes[k]) == 0);
        for (int run = 0; run < 1500; run++) {
            const int n = t_range(0, run % 10 ? 20 : 500), small = t_range(0, 9) == 0;
            memset(count, 0, sizeof count);
            int take = t_range(1, 30);
            a.max_range = small || n == 1 || sizes[k] == 1 ? n : take;
            kvs__pool_run(&pool, t_pool_job, &a, n, take, small);
            for (int i = 0; i < 500; i++) CHECK_EQ_INT(count[i], i < n);
            if (run % 500 == 3) {                                       /* let them fall asleep */
                struct timespec ts = {0, 2000000};
                nanosleep(&ts, NULL);
                kvs__pool_wake(&pool);
            }
        }
        kvs__pool_close(&pool, worker);
    }
}

/* ---- open, sizes, errors ---- */

static void test_cpu_open(void)
{
    char err[KVS_MAX_ERROR] = "";
    t_cpu c;
    CHECK(t_cpu_open(&c, KVS_ISA_AUTO, 2));
    kvs_backend_desc d = t_cpu_desc(&c, KVS_ISA_AUTO, 2);
    CHECK_EQ_INT(c.b->num_threads(c.ctx), 2);
    CHECK(c.b->isa_name(c.ctx) && c.b->free_memory() > 1 << 20);
    CHECK_EQ_INT(((kvs__cpu *)c.ctx)->mem.live, c.b->scratch_bytes(&d)); /* what the plan counts is what is allocated */
    void *p = c.b->alloc(c.ctx, 5u << 20);
    CHECK(p && ((uintptr_t)p & 63) == 0);
    c.b->free(c.ctx, p);
    t_cpu_close(&c);
    CHECK_EQ_INT(c.b->abi, KVS_BACKEND_ABI);
    CHECK_EQ_INT(c.b->size, sizeof(kvs_backend));

    memset(&d.isa, 0x7f, sizeof d.isa);
    CHECK_EQ_INT(c.b->open(&d, &c.ctx, err), KVS_ERR_UNSUPPORTED);
    CHECK_HAS(err, "isa");
    for (int fail = 1; fail <= 2; fail++) {
        c.calls = 0; c.fail_at = fail; d.isa = KVS_ISA_AUTO;
        CHECK_EQ_INT(c.b->open(&d, &c.ctx, err), KVS_ERR_MEMORY);
        CHECK_EQ_INT(c.live, 0);
    }
    c.fail_at = 0; d.num_threads = 0;
    CHECK_EQ_INT(c.b->open(&d, &c.ctx, err), KVS_OK);
    CHECK(c.b->num_threads(c.ctx) >= 1);
    t_cpu_close(&c);
}

/* A step that asks for more than the scratch holds is refused by sync, once; the host's floating-point state is as
   before. */
static void test_cpu_failure_and_fpu(void)
{
    char err[KVS_MAX_ERROR] = "";
    t_cpu c;
    if (!t_cpu_open(&c, KVS_ISA_AUTO, 2)) return;
    static float x[100];
    kvs_weight w;
    memset(&w, 0, sizeof w);
    w.kind = KVS_WEIGHT_LINEAR; w.dtype = KVS_F32; w.n = 1; w.k = 5000; w.data = x;
    kvs_linear_args a;
    memset(&a, 0, sizeof a);
    a.rows = 1; a.x = x; a.y = x; a.w = &w;
    kvs_batch b = t_cpu_rows(1, NULL, NULL);
#if defined(__SSE2__)
    uint32_t before = __builtin_ia32_stmxcsr() & ~0x3fu;      /* less the flags of past exceptions */
    __builtin_ia32_ldmxcsr(before | 0x6000u);
    c.b->begin(c.ctx, &b);
    CHECK_EQ_INT(__builtin_ia32_stmxcsr() & ~0x3fu, 0x9fc0);
    t_cpu_sync(&c);
    CHECK_EQ_INT(__builtin_ia32_stmxcsr() & ~0x3fu, before | 0x6000u);
    __builtin_ia32_ldmxcsr(before);
#endif
    c.b->begin(c.ctx, &b);
    c.b->linear(c.ctx, &a);
    CHECK_EQ_INT(c.b->sync(c.ctx, err), KVS_ERR_BACKEND);
    CHECK_HAS(err, "5000");
    c.b->begin(c.ctx, &b);
    t_cpu_sync(&c);
    t_cpu_close(&c);
}

/* ---- weights and linear ---- */

/* A matrix of random numbers as a file might hold it. */
typedef struct { kvs_weight_part part; char *data; float *exact; int n, k; } t_matrix;     /* exact[n][k]: as stored */

static t_matrix t_matrix_make(kvs_dtype t, int n, int k, int transposed, int odd)
{
    t_matrix m;
    size_t size = kvs__dtype_size(t);
    memset(&m, 0, sizeof m);
    m.n = n; m.k = k;
    m.data = (char *)malloc((size_t)n * (size_t)k * size + 1);
    m.exact = t_cpu_floats((size_t)n * (size_t)k, 1.0f);
    m.part.data = m.data + odd; m.part.dtype = t; m.part.rows = n;       /* odd: at an odd address */
    m.part.row_stride = transposed ? 1 : k; m.part.col_stride = transposed ? n : 1;
    for (int r = 0; r < n; r++)
        for (int j = 0; j < k; j++) {
            char *p = m.data + odd + ((int64_t)r * m.part.row_stride + (int64_t)j * m.part.col_stride) * (int64_t)size;
            kvs__store_elem(p, t, m.exact[r * k + j]);
            kvs__load_row(&m.exact[r * k + j], p, t, 1, 1);
        }
    return m;
}
static void t_matrix_free(t_matrix *m) { free(m->data); free(m->exact); }

static kvs_weight t_cpu_pack(t_cpu *c, kvs_weight_kind kind, kvs_dtype t, int n, int k, const kvs_weight_part *parts,
                             int n_parts, float add)
{
    kvs_weight_desc d;
    kvs_weight w;
    char err[KVS_MAX_ERROR] = "";
    memset(&d, 0, sizeof d);
    d.kind = kind; d.dtype = t; d.n = n; d.k = k; d.parts = parts; d.n_parts = n_parts; d.add = add;
    kvs_result r = c->b->pack(c->ctx, &d, &w, err);
    CHECK_MSG(r == KVS_OK, "pack: %s", err);
    CHECK_EQ_INT(w.bytes, c->b->weight_bytes(&d));
    CHECK(w.n == n && w.k == k && w.kind == kind);
    return w;
}
static void t_cpu_unpack(t_cpu *c, kvs_weight *w) { if (w->bytes) c->b->free(c->ctx, w->data); }

static float t_as(kvs_dtype t, float x)
{
    return t == KVS_BF16 ? kvs__bf16_f32(kvs__f32_bf16(x)) : t == KVS_F16 ? kvs__f16_f32(kvs__f32_f16(x)) : x;
}
static double t_act(kvs_act act, double x)
{
    switch (act) {
        case KVS_ACT_SILU: return t_dbl_silu(x);
        case KVS_ACT_GELU: return t_dbl_gelu(x);
        case KVS_ACT_GELU_TANH: return t_dbl_gelu_tanh(x);
        case KVS_ACT_RELU: return x < 0 ? 0 : x;
        case KVS_ACT_NONE: default: return x;
    }
}

typedef struct { kvs_dtype file, mem; int rows, N, K, transposed, bias, residual; kvs_act act; } t_lin;

/* One linear on an open backend, into y[rows][N]; in_place: residual and y are the same rows. */
static void t_lin_run(t_cpu *c, const t_lin *s, const t_matrix *m, const t_matrix *bias, const float *x,
                      const float *res, float *y)
{
    kvs_weight w = t_cpu_pack(c, KVS_WEIGHT_LINEAR, s->mem, s->N, s->K, &m->part, 1, 0), b;
    kvs_linear_args a;
    kvs_batch batch = t_cpu_rows(s->rows, NULL, NULL);
    memset(&a, 0, sizeof a);
    if (s->bias) { b = t_cpu_pack(c, KVS_WEIGHT_VECTOR, KVS_F32, 1, s->N, &bias->part, 1, 0); a.bias = &b; }
    a.rows = s->rows; a.x = x; a.x_stride = s->K; a.w = &w; a.act = s->act; a.y = y; a.y_stride = s->N;
    if (s->residual) { memcpy(y, res, (size_t)s->rows * (size_t)s->N * 4); a.residual = y; a.residual_stride = s->N; }
    c->b->begin(c->ctx, &batch);
    c->b->linear(c->ctx, &a);
    t_cpu_sync(c);
    t_cpu_unpack(c, &w);
    if (s->bias) t_cpu_unpack(c, &b);
}

/* Against doubles. The bound: K roundings of the largest partial sum, plus those of the activation. */
static void t_lin_exact(const t_lin *s, const t_matrix *m, const t_matrix *bias, const float *x, const float *res,
                        const float *y)
{
    for (int r = 0; r < s->rows; r++)
        for (int n = 0; n < s->N; n++) {
            double sum = 0, mag = 1;
            for (int k = 0; k < s->K; k++) {
                double p = (double)(s->mem == KVS_BF16 ? t_as(KVS_BF16, x[r * s->K + k]) : x[r * s->K + k]) *
                           (double)t_as(s->mem, m->exact[n * s->K + k]);
                sum += p; mag += fabs(p);
            }
            if (s->bias) sum += (double)bias->exact[n];
            double want = t_act(s->act, sum) + (s->residual ? (double)res[r * s->N + n] : 0),
                   got = (double)y[r * s->N + n];
            CHECK_MSG(fabs(got - want) <= mag * (s->K + 8) * 6e-8,
                      "linear %s->%s rows %d N %d K %d act %d: [%d, %d] = %g, expected %g", kvs__dtype_name(s->file),
                      kvs__dtype_name(s->mem), s->rows, s->N, s->K, (int)s->act, r, n, got, want);
        }
}

static void t_lin_case(t_cpu *cpu, const int *have, const t_lin *s)
{
    t_matrix m = t_matrix_make(s->file, s->N, s->K, s->transposed, s->rows % 2),
             bias = t_matrix_make(KVS_F32, s->N, 1, 0, 0);
    float *x = t_cpu_floats((size_t)(s->rows * s->K), 1.0f), *res = t_cpu_floats((size_t)(s->rows * s->N), 1.0f);
    float *want = t_cpu_floats((size_t)(s->rows * s->N), 0), *got = t_cpu_floats((size_t)(s->rows * s->N), 0);
    t_lin_run(&cpu[0], s, &m, &bias, x, res, want);
    t_lin_exact(s, &m, &bias, x, res, want);
    for (int i = 1; i < T_CPU_VARIANTS; i++)
        if (have[i]) {
            t_lin_run(&cpu[i], s, &m, &bias, x, res, got);
            t_cpu_same("linear", i, want, got, (size_t)(s->rows * s->N));
        }
    for (int r = 0; r < s->rows && s->rows > 1; r += 1 + s->rows / 3) {     /* a row alone */
        t_lin one = *s;
        int i = r % T_CPU_VARIANTS;
        one.rows = 1;
        if (!have[i]) continue;
        t_lin_run(&cpu[i], &one, &m, &bias, x + r * s->K, res + r * s->N, got);
        t_cpu_same("linear, row alone", i, want + r * s->N, got, (size_t)s->N);
    }
    free(x); free(res); free(want); free(got);
    t_matrix_free(&m); t_matrix_free(&bias);
}

static void test_cpu_linear(void)
{
    static const kvs_dtype type[] = {KVS_F32, KVS_F16, KVS_BF16};
    static const int N[] = {1, 31, 32, 33, 70, 160, 200}, K[] = {1, 2, 7, 48, 255, 256, 257, 576};
    t_cpu cpu[T_CPU_VARIANTS];
    int have[T_CPU_VARIANTS];
    t_seed(3);
    for (int i = 0; i < T_CPU_VARIANTS; i++) have[i] = t_cpu_variant(&cpu[i], i);
    for (int rows = 1; rows <= 40; rows += rows < 14 ? 1 : 11)          /* every row count of a tile, several tiles */
        for (size_t t = 0; t < 3; t++) {
            t_lin s = {type[t], type[t], rows, N[t_range(0, 6)], K[t_range(0, 7)], 0, t_range(0, 1), t_range(0, 1),
                       (kvs_act)t_range(0, 4)};
            t_lin_case(cpu, have, &s);
        }
    for (int i = 0; i < 25; i++) {                                      /* conversions, transposed sources */
        t_lin s = {type[t_range(0, 2)], type[t_range(0, 2)], t_range(1, 30), t_range(1, 150), t_range(1, 300),
                   t_range(0, 1), t_range(0, 1), t_range(0, 1), (kvs_act)t_range(0, 4)};
        t_lin_case(cpu, have, &s);
    }
    for (int i = 0; i < T_CPU_VARIANTS; i++) if (have[i]) t_cpu_close(&cpu[i]);
}

/* Values so small and so large that products and sums underflow and overflow: still the same bits (NaN: any NaN). */
static void test_cpu_linear_extremes(void)
{
    t_seed(8);
    for (int type = 0; type < 3; type++) {
        const kvs_dtype t = type == 0 ? KVS_F32 : type == 1 ? KVS_F16 : KVS_BF16;
        t_lin s = {t, t, 5, 64, 64, 0, 0, 0, KVS_ACT_NONE};
        t_matrix m = t_matrix_make(t, s.N, s.K, 0, 0);
        for (int i = 0; i < s.N * s.K; i++)
            kvs__store_elem(m.data + i * (int)kvs__dtype_size(t), t, ldexpf(t_float(), t_range(-130, 10)));
        float *x = t_cpu_floats(320, 1.0f), want[320], got[320];
        for (int i = 0; i < 320; i++)
            x[i] = ldexpf(x[i], i / 64 == 0 ? -100 : i / 64 == 1 ? 126 : i / 64 == 2 ? -20 : t_range(-149, 0));
        for (int i = 0; i < T_CPU_VARIANTS; i++) {
            t_cpu c;
            if (!t_cpu_variant(&c, i)) continue;
            t_lin_run(&c, &s, &m, NULL, x, NULL, i ? got : want);
            for (int j = 0; j < 320; j++) if (i && want[j] != want[j] && got[j] != got[j]) got[j] = want[j];
            if (i) t_cpu_same("linear, extremes", i, want, got, 320);
            t_cpu_close(&c);
        }
        free(x);
        t_matrix_free(&m);
    }
}

/* Stacked parts with row maps; a view of rows; a bias as columns with an addend. */
static void test_cpu_pack(void)
{
    static const int32_t map[] = {4, 0, 3, 3, 1};
    t_cpu c;
    char err[KVS_MAX_ERROR] = "";
    t_seed(4);
    if (!t_cpu_open(&c, KVS_ISA_AUTO, 3)) return;
    t_matrix m1 = t_matrix_make(KVS_F16, 5, 9, 0, 1), m2 = t_matrix_make(KVS_F32, 34, 9, 1, 0),
             col = t_matrix_make(KVS_BF16, 5, 1, 0, 0);
    kvs_weight_part part[3] = {m1.part, m2.part, m1.part};
    part[2].row_map = map; part[2].rows = 5;
    kvs_weight w = t_cpu_pack(&c, KVS_WEIGHT_LINEAR, KVS_F32, 44, 9, part, 3, 0);
    kvs_weight v = t_cpu_pack(&c, KVS_WEIGHT_ROWS, KVS_F32, 44, 9, part, 3, 0);
    const float *p = (const float *)w.data, *q = (const float *)v.data;
    for (int n = 0; n < 64; n++)
        for (int k = 0; k < 9; k++) {
            float want = n < 5    ? m1.exact[n * 9 + k]
                         : n < 39 ? m2.exact[(n - 5) * 9 + k]
                         : n < 44 ? m1.exact[map[n - 39] * 9 + k]
                                  : 0.0f;
            CHECK(p[(n / 32 * 9 + k) * 32 + n % 32] == want);
            if (n < 44) CHECK(q[n * 9 + k] == want);
        }
    t_cpu_unpack(&c, &w);
    t_cpu_unpack(&c, &v);

    v = t_cpu_pack(&c, KVS_WEIGHT_ROWS, KVS_F32, 5, 9, &m1.part, 1, 0);
    CHECK(v.bytes == 0 && v.data == m1.part.data && v.dtype == KVS_F16 && v.row_stride == 9);
    kvs_weight_part cols[2] = {col.part, col.part};
    cols[1].row_map = map;
    v = t_cpu_pack(&c, KVS_WEIGHT_VECTOR, KVS_F32, 1, 10, cols, 2, 1.0f);
    for (int i = 0; i < 10; i++) CHECK(((float *)v.data)[i] == (i < 5 ? col.exact[i] : col.exact[map[i - 5]]) + 1.0f);
    t_cpu_unpack(&c, &v);

    kvs_weight_desc d;
    memset(&d, 0, sizeof d);
    d.kind = KVS_WEIGHT_LINEAR; d.dtype = KVS_F32; d.n = 45; d.k = 9; d.parts = part; d.n_parts = 3;
    CHECK_EQ_INT(c.b->pack(c.ctx, &d, &w, err), KVS_ERR_INVALID);
    CHECK_HAS(err, "45");
    d.n = 44; d.dtype = KVS_INT8;
    CHECK_EQ_INT(c.b->pack(c.ctx, &d, &w, err), KVS_ERR_UNSUPPORTED);
    d.dtype = KVS_F32; part[1].dtype = KVS_FP8_E4M3;
    CHECK_EQ_INT(c.b->pack(c.ctx, &d, &w, err), KVS_ERR_UNSUPPORTED);
    CHECK_HAS(err, "fp8");
    part[1].dtype = KVS_F32; c.fail_at = 1; c.calls = 0;
    CHECK_EQ_INT(c.b->pack(c.ctx, &d, &w, err), KVS_ERR_MEMORY);
    t_cpu_close(&c);
    t_matrix_free(&m1); t_matrix_free(&m2); t_matrix_free(&col);
}

/* ---- elementwise ops ---- */

static void test_cpu_embed_gather(void)
{
    int32_t token[40], pos[40], pick[3] = {39, 0, 7};
    t_cpu c;
    t_seed(6);
    for (int i = 0; i < 40; i++) { token[i] = t_range(0, 49); pos[i] = t_range(0, 20); }
    for (int type = 0; type < 9; type++) {
        static const kvs_dtype t[] = {KVS_F32, KVS_F16, KVS_BF16};
        t_matrix tab = t_matrix_make(t[type % 3], 50, 300, 0, 0), pt = t_matrix_make(t[type / 3], 23, 300, type % 2, 0);
        if (!t_cpu_open(&c, KVS_ISA_AUTO, 3)) return;
        kvs_weight w = t_cpu_pack(&c, KVS_WEIGHT_ROWS, KVS_F32, 50, 300, &tab.part, 1, 0),
                   p = t_cpu_pack(&c, KVS_WEIGHT_ROWS, KVS_F32, 23, 300, &pt.part, 1, 0);
        float *x = t_cpu_floats(40 * 310, 0), *y = t_cpu_floats(3 * 300, 0);
        kvs_embed_args a = {&w, type % 2 ? &p : NULL, 2, 2.5f, x, 310};
        kvs_gather_args g = {3, 300, pick, x, 310, y, 300};
        kvs_batch b = t_cpu_rows(40, token, pos);
        c.b->begin(c.ctx, &b);
        c.b->embed(c.ctx, &a);
        c.b->gather(c.ctx, &g);
        t_cpu_sync(&c);
        for (int r = 0; r < 40; r++)
            for (int i = 0; i < 300; i++) {
                /* volatile: -march=native may fuse it with the next line */
                volatile float want = tab.exact[token[r] * 300 + i] * 2.5f;
                if (type % 2) want += pt.exact[(pos[r] + 2) * 300 + i];
                CHECK(x[r * 310 + i] == want);
            }
        for (int r = 0; r < 3; r++) CHECK(memcmp(y + r * 300, x + pick[r] * 310, 1200) == 0);
        t_cpu_unpack(&c, &w);
        t_cpu_unpack(&c, &p);
        t_cpu_close(&c);
        free(x); free(y);
        t_matrix_free(&tab); t_matrix_free(&pt);
    }
}

static void t_norm_case(kvs_norm kind, int rows, int heads, int D, int with_delta, int with_w)
{
    const int width = heads * D + 5;
    const size_t n = (size_t)(rows * width);
    t_matrix wm = t_matrix_make(KVS_F32, D, 1, 0, 0), bm = t_matrix_make(KVS_F32, D, 1, 0, 0);
    float *x0 = t_cpu_floats(n, 3.0f), *d = t_cpu_floats(n, 1.0f), *x = t_cpu_floats(n, 0), *y = t_cpu_floats(n, 0),
          *want = t_cpu_floats(2 * n, 0);
    for (int i = 0; i < T_CPU_VARIANTS; i++) {
        t_cpu c;
        if (!t_cpu_variant(&c, i)) continue;
        kvs_weight w = t_cpu_pack(&c, KVS_WEIGHT_VECTOR, KVS_F32, 1, D, &wm.part, 1, 1.0f),
                   b = t_cpu_pack(&c, KVS_WEIGHT_VECTOR, KVS_F32, 1, D, &bm.part, 1, 0);
        kvs_norm_args a = {kind, 1e-5f, rows, heads, D, x, width, with_delta ? d : NULL, width, with_delta ? y : x,
                           width, with_w ? &w : NULL, with_w ? &b : NULL};
        kvs_batch batch = t_cpu_rows(rows, NULL, NULL);
        memcpy(x, x0, n * 4);
        memset(y, 0, n * 4);
        c.b->begin(c.ctx, &batch);
        c.b->norm(c.ctx, &a);
        t_cpu_sync(&c);
        t_cpu_unpack(&c, &w);
        t_cpu_unpack(&c, &b);
        t_cpu_close(&c);
        if (i) { t_cpu_same("norm", i, want, x, n); t_cpu_same("norm", i, want + n, y, n); continue; }
        memcpy(want, x, n * 4);
        memcpy(want + n, y, n * 4);
        for (int r = 0; r < rows * heads; r++) {
            const int at = r / heads * width + r % heads * D;
            double mean = 0, var = 0;
            for (int j = 0; j < D; j++) mean += (double)x0[at + j] + (with_delta ? (double)d[at + j] : 0);
            mean = kind == KVS_NORM_LAYER ? mean / D : 0;
            for (int j = 0; j < D; j++)
                var += pow((double)x0[at + j] + (with_delta ? (double)d[at + j] : 0) - mean, 2) / D;
            for (int j = 0; j < D; j++) {
                double v = ((double)x0[at + j] + (with_delta ? (double)d[at + j] : 0) - mean) / sqrt(var + 1e-5);
                if (with_w) v = v * (1 + (double)wm.exact[j]) + (double)bm.exact[j];
                double got = (double)(with_delta ? y : x)[at + j];
                CHECK_MSG(fabs(got - v) < 1e-5 * (1 + fabs(v)), "norm kind %d D %d: %g, expected %g", (int)kind, D, got,
                          v);
                if (with_delta) CHECK(x[at + j] == x0[at + j] + d[at + j]);
            }
        }
        for (int r = 0; r < rows; r++) CHECK(memcmp(x + r * width + heads * D, x0 + r * width + heads * D, 20) == 0);
    }
    free(x0); free(d); free(x); free(y); free(want);
    t_matrix_free(&wm); t_matrix_free(&bm);
}

static void test_cpu_norm(void)
{
    t_seed(7);
    for (int i = 0; i < 16; i++)
        t_norm_case((kvs_norm)(i % 2), t_range(1, 40), i % 4 == 0 ? t_range(2, 5) : 1,
                    i < 4 ? t_range(1, 33) : t_range(1, 700), i / 2 % 2, i / 4 % 2);
}

static void test_cpu_rope(void)
{
    /* Dh, rot_dim, interleaved */
    static const int dims[][3] = {{16, 16, 0}, {64, 64, 0}, {64, 64, 1}, {80, 20, 0}, {32, 8, 1}, {96, 96, 0}};
    int32_t pos[60];
    t_seed(9);
    for (int i = 0; i < 60; i++) pos[i] = t_range(0, 90);
    for (size_t k = 0; k < KVS__COUNT(dims); k++) {
        const int Dh = dims[k][0], rot = dims[k][1], half = rot / 2, H = 5, T = 60;
        float *table = t_cpu_floats((size_t)(91 * rot), 1.0f), *x0 = t_cpu_floats((size_t)(T * H * Dh), 1.0f);
        float *x = t_cpu_floats((size_t)(T * H * Dh), 0), *want = t_cpu_floats((size_t)(T * H * Dh), 0);
        for (int i = 0; i < T_CPU_VARIANTS; i++) {
            t_cpu c;
            if (!t_cpu_variant(&c, i)) continue;
            kvs_rope_args a = {x, H * Dh, H, Dh, rot, dims[k][2], table};
            kvs_batch b = t_cpu_rows(T, NULL, pos);
            memcpy(x, x0, (size_t)(T * H * Dh) * 4);
            c.b->begin(c.ctx, &b);
            c.b->rope(c.ctx, &a);
            t_cpu_sync(&c);
            t_cpu_close(&c);
            if (i) { t_cpu_same("rope", i, want, x, (size_t)(T * H * Dh)); continue; }
            memcpy(want, x, (size_t)(T * H * Dh) * 4);
            for (int r = 0; r < T * H; r++)
                for (int j = 0; j < Dh; j++) {
                    const float *v = x0 + r * Dh, *cs = table + pos[r / H] * rot, *sn = cs + half;
                    const int pair = dims[k][2] ? j / 2 : j % (half ? half : 1),
                              second = dims[k][2] ? j % 2 : j >= half;
                    const int lo = dims[k][2] ? 2 * pair : pair, hi = dims[k][2] ? lo + 1 : lo + half;
                    double e = j >= rot ? (double)v[j]
                               : second ? (double)v[hi] * (double)cs[pair] + (double)v[lo] * (double)sn[pair]
                                        : (double)v[lo] * (double)cs[pair] - (double)v[hi] * (double)sn[pair];
                    CHECK(fabs(e - (double)x[r * Dh + j]) < 3e-7);
                }
        }
        free(table); free(x0); free(x); free(want);
    }
}

static void test_cpu_act_mul(void)
{
    t_seed(10);
    for (int k = 0; k < 10; k++) {
        const int T = t_range(1, 20), F = k < 5 ? t_range(1, 40) : t_range(200, 1000), in_place = k % 2;
        const size_t n = (size_t)(T * F * 2);
        float *gu = t_cpu_floats(n, 6.0f), *y = t_cpu_floats(n, 0), *want = t_cpu_floats(n, 0);
        for (int i = 0; i < T_CPU_VARIANTS; i++) {
            t_cpu c;
            if (!t_cpu_variant(&c, i)) continue;
            kvs_act_mul_args a = {F, (kvs_act)(k % 5), gu, gu + F, 2 * F, y, 2 * F};
            kvs_batch b = t_cpu_rows(T, NULL, NULL);
            if (in_place) { memcpy(y, gu, n * 4); a.g = y; a.u = y + F; }
            c.b->begin(c.ctx, &b);
            c.b->act_mul(c.ctx, &a);
            t_cpu_sync(&c);
            t_cpu_close(&c);
            if (i) { t_cpu_same("act_mul", i, want, y, n); continue; }
            memcpy(want, y, n * 4);
            for (int t = 0; t < T; t++)
                for (int j = 0; j < F; j++) {
                    double e = t_act((kvs_act)(k % 5), (double)gu[t * 2 * F + j]) * (double)gu[t * 2 * F + F + j];
                    CHECK(fabs(e - (double)y[t * 2 * F + j]) < 3e-6 * (1 + fabs(e)));
                }
        }
        free(gu); free(y); free(want);
    }
}

/* ---- attention ---- */

typedef struct { kvs_dtype kv; int Dh, HKV, H, window, alibi; float softcap; } t_att;
#define T_ATT_LEN 600        /* longest sequence */
#define T_ATT_BLOCKS 100

typedef struct {
    kvs_kv_desc kv;
    char *pool;
    float *q, *k, *v, *out, slope[40];
    int32_t table[2][T_ATT_LEN / 16 + 1];
    uint64_t pool_bytes;
} t_att_data;

/* Sequences 0 and 1 with their q, k and v; the pool full of NaN; block tables without order, and impossible where no
   token is visible. */
static t_att_data t_att_make(const t_att *s)
{
    t_att_data d;
    memset(&d, 0, sizeof d);
    d.kv.dtype = s->kv; d.kv.block_size = 16; d.kv.n_layers = 2; d.kv.n_kv_heads = s->HKV; d.kv.head_dim = s->Dh;
    d.pool_bytes = kvs_cpu_backend()->page_bytes(&d.kv) * T_ATT_BLOCKS;
    CHECK(d.pool_bytes > 0);
    d.pool = (char *)malloc(d.pool_bytes);
    d.q = t_cpu_floats((size_t)(2 * T_ATT_LEN * s->H * s->Dh), 2.0f);
    d.out = t_cpu_floats((size_t)(2 * T_ATT_LEN * s->H * s->Dh), 0);
    d.k = t_cpu_floats((size_t)(2 * T_ATT_LEN * s->HKV * s->Dh), 1.0f);
    d.v = t_cpu_floats((size_t)(2 * T_ATT_LEN * s->HKV * s->Dh), 1.0f);
    for (int h = 0; h < 40; h++) d.slope[h] = -0.01f * (float)(h + 1);
    for (int i = 0; i <= T_ATT_LEN / 16; i++) { d.table[0][i] = 2 * i; d.table[1][i] = 99 - 2 * i; }
    return d;
}
static void t_att_free(t_att_data *d) { free(d->pool); free(d->q); free(d->k); free(d->v); free(d->out); }

/* Rows from0..to0-1 of sequence 0 and from1..to1-1 of sequence 1 as one step: writes K and V, attends into d->out. */
static void t_att_step(t_cpu *c, const t_att *s, t_att_data *d, int from0, int to0, int from1, int to1,
                       kvs_attention how)
{
    int32_t pos[80], seq[80], q_start[3], kv_len[2], table[2][T_ATT_LEN / 16 + 1];
    int64_t slot[80];
    const int T = to0 - from0 + to1 - from1, qw = s->H * s->Dh, kw = s->HKV * s->Dh;
    float *q = t_cpu_floats((size_t)(T * qw), 0), *k = t_cpu_floats((size_t)(T * kw), 0),
          *v = t_cpu_floats((size_t)(T * kw), 0), *out = t_cpu_floats((size_t)(T * qw), 0);
    kvs_batch b;
    memset(&b, 0, sizeof b);
    for (int i = 0, row = 0; i < 2; i++) {
        const int from = i ? from1 : from0, to = i ? to1 : to0;
        if (from == to) continue;
        const int lo = s->window > 0 && from - s->window + 1 > 0 ? from - s->window + 1 : 0;
        for (int j = 0; j <= T_ATT_LEN / 16; j++)
            table[b.S][j] = j < lo / 16 || j > (to - 1) / 16 ? 0x7fffffff : d->table[i][j];
        q_start[b.S] = row; kv_len[b.S] = to;
        for (int p = from; p < to; p++, row++) {
            pos[row] = p; seq[row] = b.S; slot[row] = (int64_t)d->table[i][p / 16] * 16 + p % 16;
            memcpy(q + row * qw, d->q + (i * T_ATT_LEN + p) * qw, (size_t)qw * 4);
            memcpy(k + row * kw, d->k + (i * T_ATT_LEN + p) * kw, (size_t)kw * 4);
            memcpy(v + row * kw, d->v + (i * T_ATT_LEN + p) * kw, (size_t)kw * 4);
        }
        b.S++;
    }
    q_start[b.S] = T;
    b.T = T;
    b.pos = pos;
    b.seq = seq;
    b.slot = slot;
    b.q_start = q_start;
    b.kv_len = kv_len;
    b.block_table = &table[0][0];
    b.table_stride = T_ATT_LEN / 16 + 1;
    kvs_kv_write_args w = {k, v, kw, d->pool, &d->kv, 1};
    kvs_attention_args a;
    memset(&a, 0, sizeof a);
    a.q = q; a.q_stride = qw; a.out = out; a.out_stride = qw; a.pool = d->pool; a.kv = &d->kv; a.layer = 1; a.H = s->H;
    a.scale = 1.0f / sqrtf((float)s->Dh);
    a.softcap = s->softcap;
    a.window = s->window;
    a.alibi = s->alibi ? d->slope : NULL;
    a.how = how;
    c->b->begin(c->ctx, &b);
    c->b->kv_write(c->ctx, &w);
    c->b->attention(c->ctx, &a);
    t_cpu_sync(c);
    for (int row = 0; row < T; row++) {
        const int i = row < to0 - from0 ? 0 : 1;
        memcpy(d->out + (i * T_ATT_LEN + pos[row]) * qw, out + row * qw, (size_t)qw * 4);
    }
    free(q); free(k); free(v); free(out);
}

/* Both sequences to length n0 and n1, in steps of at most `chunk` rows each. */
static void t_att_all(t_cpu *c, const t_att *s, t_att_data *d, int n0, int n1, int chunk0, int chunk1,
                      kvs_attention how)
{
    memset(d->pool, 0xff, d->pool_bytes);
    for (int a = 0, b = 0; a < n0 || b < n1; ) {
        const int a2 = KVS__MIN(a + chunk0, n0), b2 = KVS__MIN(b + chunk1, n1);
        t_att_step(c, s, d, a, a2, b, b2, how);
        a = a2; b = b2;
    }
}

static void t_att_exact(const t_att *s, const t_att_data *d, int i, int pos, double tolerance)
{
    const int lo = s->window > 0 && pos - s->window + 1 > 0 ? pos - s->window + 1 : 0;
    for (int h = 0; h < s->H; h++) {
        const float *q = d->q + ((i * T_ATT_LEN + pos) * s->H + h) * s->Dh,
                    *got = d->out + ((i * T_ATT_LEN + pos) * s->H + h) * s->Dh;
        double score[T_ATT_LEN], max = -1e300, sum = 0;
        for (int j = lo; j <= pos; j++) {
            const float *k = d->k + ((i * T_ATT_LEN + j) * s->HKV + h / (s->H / s->HKV)) * s->Dh;
            double x = 0;
            for (int e = 0; e < s->Dh; e++)
                x += (double)(s->kv == KVS_BF16 ? t_as(s->kv, q[e]) : q[e]) * (double)t_as(s->kv, k[e]);
            x /= sqrt(s->Dh);
            if (s->softcap > 0) x = (double)s->softcap * tanh(x / (double)s->softcap);
            if (s->alibi) x += (double)d->slope[h] * (j - pos);
            score[j] = x;
            max = x > max ? x : max;
        }
        for (int j = lo; j <= pos; j++) sum += exp(score[j] - max);
        for (int e = 0; e < s->Dh; e++) {
            double want = 0;
            for (int j = lo; j <= pos; j++)
                want += exp(score[j] - max) / sum *
                        (double)t_as(s->kv, d->v[((i * T_ATT_LEN + j) * s->HKV + h / (s->H / s->HKV)) * s->Dh + e]);
            CHECK_MSG(fabs(want - (double)got[e]) < tolerance,
                      "attention %s Dh %d H %d/%d window %d: seq %d pos %d head %d [%d] = %g, expected %g",
                      kvs__dtype_name(s->kv), s->Dh, s->H, s->HKV, s->window, i, pos, h, e, (double)got[e], want);
        }
    }
}

static void t_att_case(t_cpu *cpu, const int *have, const t_att *s, int n0, int n1)
{
    t_att_data d = t_att_make(s);
    const size_t row = (size_t)(s->H * s->Dh), n = 2 * T_ATT_LEN * row;
    float *want = t_cpu_floats(n, 0);
    t_att_all(&cpu[0], s, &d, n0, n1, 40, 17, KVS_ATTENTION_FLASH);
    for (int p = 0; p < n0; p += 1 + p / 2) t_att_exact(s, &d, 0, p, s->kv == KVS_BF16 ? 6e-3 : 1e-4);
    if (n1) t_att_exact(s, &d, 1, n1 - 1, s->kv == KVS_BF16 ? 6e-3 : 1e-4);
    memcpy(want, d.out, n * 4);
    for (int i = 1; i < T_CPU_VARIANTS; i++) {
        if (!have[i]) continue;
        memset(d.out, 0, n * 4);
        t_att_all(&cpu[i], s, &d, n0, n1, i == 5 ? 1 : t_range(1, 40), t_range(1, 40), KVS_ATTENTION_FLASH);
        t_cpu_same("attention, seq 0", i, want, d.out, (size_t)n0 * row);
        t_cpu_same("attention, seq 1", i, want + T_ATT_LEN * row, d.out + T_ATT_LEN * row, (size_t)n1 * row);
    }
    t_att_free(&d);
    free(want);
}

static void test_cpu_attention(void)
{
    static const int dims[] = {16, 24, 32, 48, 64, 80, 96, 8, 128, 256};
    t_cpu cpu[T_CPU_VARIANTS];
    int have[T_CPU_VARIANTS];
    t_seed(12);
    for (int i = 0; i < T_CPU_VARIANTS; i++) have[i] = t_cpu_variant(&cpu[i], i);
    for (int i = 0; i < 30; i++) {
        static const int group[] = {1, 2, 3, 4, 7, 8, 13};
        t_att s = {i % 3 == 0 ? KVS_BF16 : i % 3 == 1 ? KVS_F32 : KVS_F16,
                   dims[i / 3],
                   0,
                   0,
                   0,
                   i % 4 == 1,
                   i % 5 == 2 ? 20.0f : 0.0f};
        s.HKV = t_range(1, 3); s.H = s.HKV * group[t_range(0, 5)];
        if (i == 6) { s.HKV = 2; s.H = 26; }
        if (i % 3 == 1 && i / 3 % 2) s.window = t_range(1, 300);
        if (i % 3 == 0 && i % 2) s.window = t_range(1, 60);
        t_att_case(cpu, have, &s, i == 12 ? 600 : t_range(1, i % 6 == 1 ? 270 : 90), t_range(0, 40));
    }
    for (int i = 0; i < T_CPU_VARIANTS; i++) if (have[i]) t_cpu_close(&cpu[i]);
}

/* The naive way gives the same numbers up to rounding. */
static void test_cpu_attention_naive(void)
{
    t_cpu c;
    t_seed(13);
    if (!t_cpu_open(&c, KVS_ISA_AUTO, 3)) return;
    for (int i = 0; i < 6; i++) {
        t_att s = {i % 3 == 0 ? KVS_BF16 : i % 3 == 1 ? KVS_F32 : KVS_F16,
                   32,
                   2,
                   6,
                   i % 2 ? 50 : 0,
                   i == 2,
                   i == 3 ? 15.0f : 0.0f};
        t_att_data d = t_att_make(&s);
        t_att_all(&c, &s, &d, 90, 20, 40, 40, KVS_ATTENTION_NAIVE);
        for (int p = 0; p < 90; p += 7) t_att_exact(&s, &d, 0, p, s.kv == KVS_BF16 ? 3e-2 : 3e-3);
        t_att_exact(&s, &d, 1, 19, s.kv == KVS_BF16 ? 3e-2 : 3e-3);
        t_att_free(&d);
    }
    t_cpu_close(&c);
}

static void test_cpu_pages(void)
{
    const kvs_backend *b = kvs_cpu_backend();
    kvs_kv_desc kv = {KVS_BF16, 16, 3, 2, 64};
    CHECK_EQ_INT(b->page_bytes(&kv), 3 * 2 * 2 * 16 * 64 * 2);
    kv.dtype = KVS_F32;
    CHECK_EQ_INT(b->page_bytes(&kv), 3 * 2 * 2 * 16 * 64 * 4);
    kv.block_size = 32; CHECK_EQ_INT(b->page_bytes(&kv), 0);
    kv.block_size = 16; kv.head_dim = 63; CHECK_EQ_INT(b->page_bytes(&kv), 0);
    kv.head_dim = 512; CHECK_EQ_INT(b->page_bytes(&kv), 0);
    kv.head_dim = 64; kv.dtype = KVS_INT8; CHECK_EQ_INT(b->page_bytes(&kv), 0);
    kv.dtype = KVS_BF16;
    size_t n = (size_t)b->page_bytes(&kv);
    char *pool = (char *)malloc(4 * n), *host = (char *)malloc(n);
    for (size_t i = 0; i < 4 * n; i++) pool[i] = (char)t_rand();
    t_cpu c;
    if (t_cpu_open(&c, KVS_ISA_AUTO, 1)) {
        b->block_copy(c.ctx, pool, &kv, 2, 0);
        CHECK(memcmp(pool, pool + 2 * n, n) == 0);
        b->block_read(c.ctx, pool, &kv, 3, host);
        b->block_write(c.ctx, pool, &kv, 1, host);
        CHECK(memcmp(pool + n, pool + 3 * n, n) == 0 && memcmp(pool + n, host, n) == 0);
        t_cpu_close(&c);
    }
    free(pool); free(host);
}

/* Greedy rows: the maximum of each; rows share logits. (The sampler itself: test_sample.c.) */
static void test_cpu_sample(void)
{
    t_cpu c;
    t_seed(14);
    if (!t_cpu_open(&c, KVS_ISA_AUTO, 3)) return;
    float *logits = t_cpu_floats(20 * 300, 1.0f);
    kvs_sample_row rows[40];
    memset(rows, 0, sizeof rows);
    for (int i = 0; i < 40; i++) {
        rows[i].logit_row = i / 2;
        rows[i].n_top = -1;
        logits[i / 2 * 300 + i / 2 * 7] = 5.0f;
    }
    kvs_sample_args a = {logits, 300, 300, 40, rows};
    kvs_batch b = t_cpu_rows(20, NULL, NULL);
    c.b->begin(c.ctx, &b);
    c.b->sample(c.ctx, &a);
    t_cpu_sync(&c);
    for (int i = 0; i < 40; i++) CHECK_EQ_INT(rows[i].token, i / 2 * 7);
    t_cpu_close(&c);
    free(logits);
}

SUITE(cpu)
{
    RUN(test_cpu_maths);
    RUN(test_cpu_fma_bf16);
    RUN(test_cpu_pool);
    RUN(test_cpu_open);
    RUN(test_cpu_failure_and_fpu);
    RUN(test_cpu_pack);
    RUN(test_cpu_linear);
    RUN(test_cpu_linear_extremes);
    RUN(test_cpu_embed_gather);
    RUN(test_cpu_norm);
    RUN(test_cpu_rope);
    RUN(test_cpu_act_mul);
    RUN(test_cpu_attention);
    RUN(test_cpu_attention_naive);
    RUN(test_cpu_pages);
    RUN(test_cpu_sample);
}
