/* Models: every golden folder loads as what it is and, by the canonical dataflow in its plainest form, computes what
   the reference library computed; every config and tensor that is not quite right is refused by name. */
#include "files.h"

static kvs__mem mt_mem;
static kvs__err mt_err;

static kvs_result mt_open(kvs__model *m, const char *dir)
{
    kvs__mem_init(&mt_mem, NULL);
    mt_err.text[0] = 0;
    return kvs__model_open(&mt_mem, dir, KVS_AUTO, m, &mt_err);
}
static void mt_close(kvs__model *m)
{
    kvs__model_close(m);
    CHECK_EQ_INT(mt_mem.live, 0);
}

/* ---- the canonical dataflow, as the header comment of >>model has it: no blocks, no cache, all in f32 ---- */

/* A weight as [n, k] floats. */
static float *mt_unpack(const kvs__weight *w)
{
    int vector = w->desc.kind == KVS_WEIGHT_VECTOR;
    int64_t k = vector ? 1 : w->desc.k, row = 0;
    if (!w->desc.n_parts) return NULL;
    float *out = (float *)malloc((size_t)w->desc.n * (size_t)w->desc.k * sizeof(float));
    for (int32_t p = 0; p < w->desc.n_parts; p++)
        for (int32_t r = 0; r < w->part[p].rows; r++, row++)
            for (int64_t c = 0; c < k; c++) {
                const kvs_weight_part *q = &w->part[p];
                int64_t at = (q->row_map ? q->row_map[r] : r) * q->row_stride + c * q->col_stride;
                const uint16_t *half = (const uint16_t *)q->data;
                float f = q->dtype == KVS_F32 ? ((const float *)q->data)[at]
                        : q->dtype == KVS_F16 ? kvs__f16_f32(half[at]) : kvs__bf16_f32(half[at]);
                out[row * k + c] = f + w->desc.add;
            }
    CHECK_EQ_INT(row * k, (int64_t)w->desc.n * w->desc.k);
    return out;
}

typedef struct { const kvs__model *m; float **w; float *rope, *alibi; int T; } mt_net;

static const float *mt_w(const mt_net *n, int l, int slot) { return n->w[kvs__model_at(l, slot)]; }
static float *mt_new(int64_t n) { return (float *)calloc((size_t)n, sizeof(float)); }

/* y [T, N] = x [T, K] w^T + the bias, which is in the slot behind (of the global ones only HEAD has one). */
static void mt_linear(const mt_net *n, int l, int slot, const float *x, float *y)
{
    const kvs_weight_desc *d = &n->m->w[kvs__model_at(l, slot)].desc;
    const float *w = mt_w(n, l, slot), *b = l >= 0 || slot == KVS__G_HEAD ? mt_w(n, l, slot + 1) : NULL;
    for (int t = 0; t < n->T; t++)
        for (int64_t o = 0; o < d->n; o++) {
            double s = b ? b[o] : 0;
            for (int64_t k = 0; k < d->k; k++) s += (double)x[t * d->k + k] * w[o * d->k + k];
            y[t * (int64_t)d->n + o] = (float)s;
        }
}

/* y = norm(x) of `rows` slices of D, x and y may be the same. An absent norm copies. */
static void mt_norm(const mt_net *n, int l, int slot, int64_t rows, int D, const float *x, float *y)
{
    const float *w = mt_w(n, l, slot), *b = mt_w(n, l, slot + 1);
    for (int64_t r = 0; r < rows; r++, x += D, y += D) {
        double mean = 0, var = 0;
        for (int i = 0; i < D; i++) mean += x[i];
        mean = n->m->cfg.norm == KVS_NORM_LAYER ? mean / D : 0;
        for (int i = 0; i < D; i++) var += (x[i] - mean) * (x[i] - mean) / D;
        for (int i = 0; i < D; i++)
            y[i] = w ? (float)((x[i] - mean) / sqrt(var + (double)n->m->cfg.eps) * w[i] + (b ? b[i] : 0)) : x[i];
    }
}

static double mt_act(kvs_act act, double x)
{
    switch (act) {
        case KVS_ACT_SILU: return x / (1 + exp(-x));
        case KVS_ACT_GELU: return 0.5 * x * (1 + erf(x / sqrt(2.0)));
        case KVS_ACT_GELU_TANH: return 0.5 * x * (1 + tanh(sqrt(2 / 3.14159265358979) * (x + 0.044715 * x * x * x)));
        case KVS_ACT_RELU: return x > 0 ? x : 0;
        case KVS_ACT_NONE: default: return x;
    }
}

/* Normalises and turns one head of q or k at position t. */
static void mt_head(const mt_net *n, int l, int slot, float *v, int t)
{
    const kvs__model_config *g = &n->m->cfg;
    int half = g->rope.dim / 2;
    if (mt_w(n, l, slot)) mt_norm(n, l, slot, 1, g->Dh, v, v);
    for (int i = 0; n->rope && i < half; i++) {
        float c = n->rope[t * 2 * half + i], s = n->rope[t * 2 * half + half + i], a = v[i], b = v[i + half];
        v[i] = a * c - b * s;
        v[i + half] = b * c + a * s;
    }
}

/* out [T, D] += attn(h [T, D]) */
static void mt_attention(const mt_net *n, int l, const float *h, float *out)
{
    const kvs__model_config *g = &n->m->cfg;
    int T = n->T, H = g->H, G = g->HKV, Dh = g->Dh, wide = (H + 2 * G) * Dh;
    float *qkv = mt_new(T * wide), *att = mt_new(T * H * Dh), *o = mt_new(T * g->D), *p = mt_new(T);
    mt_linear(n, l, KVS__W_QKV, h, qkv);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < H + G; i++) mt_head(n, l, i < H ? KVS__W_QNORM : KVS__W_KNORM, qkv + t * wide + i * Dh, t);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < H; i++) {
            int first = g->window[l] && t - g->window[l] + 1 > 0 ? t - g->window[l] + 1 : 0;
            const float *q = qkv + t * wide + i * Dh;
            double sum = 0;
            for (int j = first; j <= t; j++) {
                const float *k = qkv + j * wide + (H + i / (H / G)) * Dh;
                double s = 0;
                for (int d = 0; d < Dh; d++) s += (double)q[d] * k[d];
                s = exp(s * (double)g->attn_scale + (n->alibi ? (double)n->alibi[i] * (j - t) : 0));
                p[j] = (float)s;
                sum += s;
            }
            for (int j = first; j <= t; j++)
                for (int d = 0; d < Dh; d++)
                    att[(t * H + i) * Dh + d] += (float)(p[j] / sum) * qkv[j * wide + (H + G + i / (H / G)) * Dh + d];
        }
    mt_linear(n, l, KVS__W_O, att, o);
    for (int i = 0; i < T * g->D; i++) out[i] += o[i];
    free(qkv); free(att); free(o); free(p);
}

/* out [T, D] += mlp(h [T, D]) */
static void mt_mlp(const mt_net *n, int l, const float *h, float *out)
{
    const kvs__model_config *g = &n->m->cfg;
    int T = n->T, F = g->F, wide = g->gated ? 2 * F : F;
    float *up = mt_new(T * wide), *a = mt_new(T * F), *y = mt_new(T * g->D);
    mt_linear(n, l, KVS__W_UP, h, up);
    for (int t = 0; t < T; t++)
        for (int i = 0; i < F; i++)
            a[t * F + i] = (float)(mt_act(g->act, up[t * wide + i]) * (g->gated ? up[t * wide + F + i] : 1.0f));
    mt_linear(n, l, KVS__W_DOWN, a, y);
    for (int i = 0; i < T * g->D; i++) out[i] += y[i];
    free(up); free(a); free(y);
}

static void mt_layer(const mt_net *n, int l, float *x)
{
    int T = n->T, D = n->m->cfg.D;
    size_t bytes = (size_t)T * (size_t)D * sizeof(float);
    float *h = mt_new(T * D), *old = mt_new(T * D);
    memcpy(old, x, bytes);
    switch (n->m->cfg.flow) {
        case KVS__FLOW_SEQUENTIAL:
            mt_norm(n, l, KVS__W_NORM1, T, D, x, h);
            mt_attention(n, l, h, x);
            mt_norm(n, l, KVS__W_NORM2, T, D, x, h);
            mt_mlp(n, l, h, x);
            break;
        case KVS__FLOW_PARALLEL:
            mt_norm(n, l, KVS__W_NORM1, T, D, old, h);
            mt_attention(n, l, h, x);
            if (mt_w(n, l, KVS__W_NORM2)) mt_norm(n, l, KVS__W_NORM2, T, D, old, h);
            mt_mlp(n, l, h, x);
            break;
        case KVS__FLOW_POSTNORM:
            mt_attention(n, l, old, x);
            mt_norm(n, l, KVS__W_NORM1, T, D, x, x);
            memcpy(h, x, bytes);
            mt_mlp(n, l, h, x);
            mt_norm(n, l, KVS__W_NORM2, T, D, x, x);
            break;
    }
    free(h); free(old);
}

static void mt_embed(const mt_net *n, const int64_t *token, float *x)
{
    const kvs__model_config *g = &n->m->cfg;
    const float *embed = mt_w(n, -1, KVS__G_EMBED), *pos = mt_w(n, -1, KVS__G_POS);
    float *e = mt_new(n->T * g->E);
    for (int t = 0; t < n->T; t++)
        for (int i = 0; i < g->E; i++) e[t * g->E + i] = embed[token[t] * g->E + i] * g->embed_scale;
    if (mt_w(n, -1, KVS__G_PROJ_IN)) mt_linear(n, -1, KVS__G_PROJ_IN, e, x);
    else memcpy(x, e, (size_t)(n->T * g->D) * sizeof(float));
    for (int t = 0; pos && t < n->T; t++)
        for (int i = 0; i < g->D; i++) x[t * g->D + i] += pos[(t + g->pos_offset) * g->D + i];
    free(e);
}

/* logits [T, V] of the tokens. */
static void mt_forward(const kvs__model *m, const int64_t *token, int T, float *logits)
{
    const kvs__model_config *g = &m->cfg;
    mt_net n = {m, NULL, NULL, NULL, T};
    float *x = mt_new(T * g->D), *y = mt_new(T * g->E);
    n.w = (float **)calloc(m->n_w, sizeof *n.w);
    for (size_t i = 0; i < m->n_w; i++) n.w[i] = mt_unpack(&m->w[i]);
    if (g->pos == KVS__POS_ROPE) { n.rope = mt_new(T * g->rope.dim); kvs__model_rope_table(g, T, n.rope); }
    if (g->pos == KVS__POS_ALIBI) { n.alibi = mt_new(g->H); kvs__model_alibi(g, n.alibi); }
    mt_embed(&n, token, x);
    for (int l = 0; l < g->L; l++) mt_layer(&n, l, x);
    if (mt_w(&n, -1, KVS__G_NORM)) mt_norm(&n, -1, KVS__G_NORM, T, g->D, x, x);
    if (mt_w(&n, -1, KVS__G_PROJ_OUT)) mt_linear(&n, -1, KVS__G_PROJ_OUT, x, y);
    mt_linear(&n, -1, KVS__G_HEAD, mt_w(&n, -1, KVS__G_PROJ_OUT) ? y : x, logits);
    for (size_t i = 0; i < m->n_w; i++) free(n.w[i]);
    free(n.w); free(n.rope); free(n.alibi); free(x); free(y);
}

/* ---- golden folders ---- */

typedef struct { const char *name; int L, D, H, HKV, Dh, F, V, P; const char *kind; } mt_case;

static const mt_case mt_cases[] = {  /*  L   D  H HKV Dh  F    V     P  flow, positions, activation, mlp, head, dtype */
    {"llama1-mha",              2, 48, 3, 3, 16,  56, 131,  128, "sequential rope16 silu gated f32"},
    {"llama-gqa-headdim",       2, 48, 4, 2, 16,  56, 128,  128, "sequential rope16 silu gated f32"},
    {"llama-mqa",               2, 32, 4, 1, 16,  48, 128,  128, "sequential rope16 silu gated f32"},
    {"llama3-rope",             2, 32, 2, 1, 32,  48, 151,  128, "sequential rope32 silu gated f32"},
    {"llama-rope-linear",       1, 32, 2, 1, 32,  48, 128,  128, "sequential rope32 silu gated f32"},
    {"llama-rope-dynamic",      1, 32, 2, 1, 32,  48, 128,  128, "sequential rope32 silu gated f32"},
    {"llama-rope-yarn",         1, 32, 2, 1, 32,  48, 128,  256, "sequential rope32 silu gated f32"},
    {"llama-rope-yarn-mscale",  1, 32, 2, 1, 32,  48, 128,  512, "sequential rope32 silu gated f32"},
    {"llama-tied-stale",        1, 32, 2, 1, 16,  48, 128,  128, "sequential rope16 silu gated tied f32"},
    {"llama-bias",              2, 32, 4, 2, 16,  48, 128,  128, "sequential rope16 silu gated f32"},
    {"llama-bf16",              2, 64, 4, 2, 32,  64, 128,  128, "sequential rope32 silu gated bf16"},
    {"llama-f16",               2, 64, 4, 4, 16,  72, 128,  128, "sequential rope16 silu gated f16"},
    {"llama-sharded",           1, 32, 4, 2, 16,  48, 128,  128, "sequential rope16 silu gated f32"},
    {"mistral-window",          2, 32, 4, 2, 16,  48, 128,  128, "sequential rope16 silu gated f32"},
    {"qwen2",                   2, 48, 3, 1, 16,  56, 128,  128, "sequential rope16 silu gated f32"},
    {"qwen2-window",            3, 32, 2, 1, 16,  48, 128,  128, "sequential rope16 silu gated f32"},
    {"qwen3",                   2, 32, 4, 2, 16,  48, 128,  128, "sequential rope16 silu gated tied f32"},
    {"gemma",                   2, 32, 2, 1, 32,  48, 128,  128, "sequential rope32 tanh gated tied f32"},
    {"phi",                     2, 48, 3, 3, 16,  72, 133,  128, "parallel rope8 tanh f32"},
    {"phi-qkln",                2, 32, 2, 1, 16,  64, 133,  128, "parallel rope6 tanh f32"},
    {"phi3",                    2, 64, 4, 2, 16,  48, 140,  128, "sequential rope12 silu gated tied f32"},
    {"stablelm",                2, 32, 2, 1, 16,  48, 128,  128, "sequential rope4 silu gated f32"},
    {"stablelm-parallel",       2, 32, 2, 2, 16,  48, 128,  128, "parallel rope4 silu gated f32"},
    {"opt-125m",                2, 48, 3, 3, 16,  72, 128,   80, "sequential learned relu tied f32"},
    {"opt-350m",                2, 48, 3, 3, 16,  72, 134,   80, "postnorm learned relu tied f16"},
    {"gpt2",                    2, 32, 2, 2, 16, 128, 137,   76, "sequential learned tanh tied f32"},
    {"gpt-neox",                2, 48, 3, 3, 16,  56, 144,   80, "parallel rope4 gelu f32"},
    {"gpt-neox-sequential",     2, 64, 2, 2, 32,  56, 128,   80, "sequential rope8 gelu f16"},
    {"falcon-7b",               2, 32, 2, 1, 16, 128, 128, 2048, "parallel rope16 gelu tied f32"},
    {"falcon-40b",              2, 64, 4, 2, 16,  48, 128, 2048, "parallel rope16 gelu tied f32"},
    {"falcon-11b",              2, 32, 2, 1, 16,  96, 128,  128, "parallel rope16 gelu f32"},
    {"falcon-rw",               2, 64, 4, 4, 16,  48, 128, 2048, "sequential alibi gelu tied f32"},
    {"mpt",                     2, 48, 3, 3, 16, 192, 128,  128, "sequential alibi gelu tied bf16"}
};

/* "parallel rope8 tanh f32" */
static const char *mt_kind(const kvs__model *m, char buf[96])
{
    static const char *const flow[] = {"sequential", "parallel", "postnorm"};
    static const char *const pos[] = {"rope", "learned", "alibi"};
    static const char *const act[] = {"none", "silu", "gelu", "tanh", "relu"};
    const kvs__model_config *c = &m->cfg;
    char dim[16] = "";
    if (c->pos == KVS__POS_ROPE) snprintf(dim, sizeof dim, "%d", (int)c->rope.dim);
    snprintf(buf, 96, "%s %s%s %s%s%s %s", flow[c->flow], pos[c->pos], dim, act[c->act], c->gated ? " gated" : "",
             c->tied ? " tied" : "", kvs__dtype_name(m->dtype));
    return buf;
}

static const char *mt_dir(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "tests/golden/models/%s", name);
    return path;
}

static void test_model_golden_config(void)
{
    for (size_t i = 0; i < KVS__COUNT(mt_cases); i++) {
        const mt_case *c = &mt_cases[i];
        char kind[96];
        kvs__model m;
        kvs_result r = mt_open(&m, mt_dir(c->name));
        const kvs__model_config *g = &m.cfg;
        CHECK_MSG(r == KVS_OK, "%s", mt_err.text);
        if (r) continue;
        CHECK_MSG(g->L == c->L && g->D == c->D && g->H == c->H && g->HKV == c->HKV && g->Dh == c->Dh && g->F == c->F &&
                  g->V == c->V && g->max_pos == c->P, "%s: a size is wrong: L %d D %d H %d HKV %d Dh %d F %d V %d P %d",
                  c->name, (int)g->L, (int)g->D, (int)g->H, (int)g->HKV, (int)g->Dh, (int)g->F, (int)g->V,
                      (int)g->max_pos);
        CHECK_STR(mt_kind(&m, kind), c->kind);
        CHECK_MSG(m.warnings.n == 0, "%s: %s", c->name, m.warnings.p);
        for (size_t k = 0; k < m.n_w; k++) CHECK(kvs__model_check_finite(&m.w[k], &mt_err) == KVS_OK);
        mt_close(&m);
    }
}

/* The largest difference of a row of logits to a JSON array. */
static double mt_diff(const kvs__json *j, const kvs__json_node *list, const float *row)
{
    double worst = 0;
    for (const kvs__json_node *n = kvs__json_first(j, list); n; n = kvs__json_next(j, n), row++)
        worst = fmax(worst, fabs(kvs__json_num(n, 1e9) - (double)*row));
    return worst;
}

static void mt_compare(const kvs__model *m, const char *name, const kvs__json *j)
{
    const kvs__json_node *root = kvs__json_root(j), *prompt = kvs__json_get(j, root, "prompt");
    const kvs__json_node *at = kvs__json_first(j, kvs__json_get(j, root, "positions"));
    const kvs__json_node *row = kvs__json_first(j, kvs__json_get(j, root, "logits_first_rows"));
    int64_t token[256], pos;
    int T = 0;
    for (const kvs__json_node *n = kvs__json_first(j, prompt); n && T < 256; n = kvs__json_next(j, n))
        kvs__json_int(n, &token[T++]);
    float *logits = mt_new((int64_t)T * m->cfg.V);
    mt_forward(m, token, T, logits);
    double worst = mt_diff(j, kvs__json_get(j, root, "logits_last"), logits + (int64_t)(T - 1) * m->cfg.V);
    for (; at && row; at = kvs__json_next(j, at), row = kvs__json_next(j, row))
        if (!kvs__json_int(at, &pos)) worst = fmax(worst, mt_diff(j, row, logits + pos * m->cfg.V));
    CHECK_MSG(T > 16 && worst < 1e-4, "%s: T %d, logits differ by %g", name, T, worst);
    free(logits);
}

static void test_model_dataflow(void)
{
    for (size_t i = 0; i < KVS__COUNT(mt_cases); i++) {
        char path[320];
        kvs__model m;
        kvs__json j;
        size_t n = 0;
        memset(&j, 0, sizeof j);
        if (mt_open(&m, mt_dir(mt_cases[i].name))) continue;         /* said above */
        snprintf(path, sizeof path, "%s/golden.json", mt_dir(mt_cases[i].name));
        char *text = t_read(path, &n);
        if (text && kvs__json_parse(&mt_mem, text, n, path, &j, &mt_err) == KVS_OK)
            mt_compare(&m, mt_cases[i].name, &j);
        else CHECK_MSG(0, "%s: %s", path, mt_err.text);
        free(text);
        kvs__json_free(&j);
        mt_close(&m);
    }
}

static void test_model_golden_defaults(void)
{
    kvs__model m;
    CHECK_EQ_INT(mt_open(&m, mt_dir("llama3-rope")), KVS_OK);
    CHECK(m.cfg.bos == 0 && m.cfg.n_eos == 2 && m.cfg.eos[0] == 2 && m.cfg.eos[1] == 3);
    CHECK(m.cfg.sampling.temperature == 0.6f && m.cfg.sampling.top_p == 0.9f && m.cfg.sampling.top_k == 0);
    CHECK_EQ_INT(m.cfg.rope.original_max, 64);
    mt_close(&m);
    CHECK_EQ_INT(mt_open(&m, mt_dir("qwen2")), KVS_OK);              /* config: 2; generation_config: 2 and 3 */
    CHECK(m.cfg.n_eos == 2 && m.cfg.eos[1] == 3 && m.cfg.window[0] == 0);
    CHECK(m.cfg.sampling.temperature == 0.7f && m.cfg.sampling.top_k == 20 &&
          m.cfg.sampling.repetition_penalty == 1.05f);
    CHECK_EQ_INT(kvs__model_add_eos(&m, 1), 0);
    CHECK_EQ_INT(kvs__model_add_eos(&m, 3), 0);
    CHECK_EQ_INT(kvs__model_add_eos(&m, 1000), 0);                   /* outside the vocabulary */
    CHECK_EQ_INT(kvs__model_add_eos(&m, -1), 0);
    CHECK(m.cfg.n_eos == 3 && m.cfg.eos[0] == 1 && m.cfg.eos[1] == 2 && m.cfg.eos[2] == 3);
    mt_close(&m);
    CHECK_EQ_INT(mt_open(&m, mt_dir("mistral-window")), KVS_OK);     /* no do_sample: greedy */
    CHECK(m.cfg.sampling.temperature == 0 && m.cfg.window[0] == 8 && m.cfg.window[1] == 8);
    mt_close(&m);
    CHECK_EQ_INT(mt_open(&m, mt_dir("qwen2-window")), KVS_OK);
    CHECK(m.cfg.window[0] == 0 && m.cfg.window[1] == 6 && m.cfg.window[2] == 6);
    mt_close(&m);
    CHECK_EQ_INT(mt_open(&m, mt_dir("gemma2")), KVS_ERR_UNSUPPORTED);
    CHECK_HAS(mt_err.text, "Gemma2ForCausalLM");
    CHECK_HAS(mt_err.text, "GemmaForCausalLM");
    CHECK_EQ_INT(mt_open(&m, mt_dir("mpt-clip")), KVS_ERR_UNSUPPORTED);
    CHECK_HAS(mt_err.text, "attn_config.clip_qkv");
    CHECK_EQ_INT(kvs__model_open(&mt_mem, mt_dir("llama-mqa"), KVS_INT8, &m, &mt_err), KVS_ERR_INVALID);
    CHECK_HAS(mt_err.text, "int8");
    CHECK_EQ_INT(mt_open(&m, mt_dir("no-such-folder")), KVS_ERR_IO);
    CHECK_HAS(mt_err.text, "no-such-folder");
}

/* ---- positions ---- */

static void mt_near(const float *got, const double *want, int n, double tol, const char *what)
{
    for (int i = 0; i < n; i++)
        CHECK_MSG(fabs((double)got[i] - want[i]) <= tol * fabs(want[i]), "%s[%d] = %.9g, expected %.9g", what, i,
                  (double)got[i], want[i]);
}

/* inv_freq of transformers 4.57.3, printed by its ROPE_INIT_FUNCTIONS; the kinds as real models use them. */
static void test_model_rope(void)
{
    static const struct { kvs__rope r; int at[8]; double want[8]; } kinds[] = {
        {{KVS__ROPE_DEFAULT, 80, 1e6, 1, 1, 4096, 1, 4, 32, 1, 1, 0, 0, 1}, {0, 5, 10, 15, 20, 25, 30, 39},
         {1.0, 0.177827939, 0.0316227786, 0.00562341325, 0.00100000005, 0.00017782794, 3.16227743e-05, 1.41253713e-06}},
        {{KVS__ROPE_LINEAR, 64, 1e4, 2.5, 1, 4096, 1, 4, 32, 1, 1, 0, 0, 1}, {0, 4, 8, 12, 16, 20, 24, 31},
         {0.400000006, 0.1264911, 0.0399999991, 0.0126491114, 0.00399999972, 0.00126491114, 0.000400000019,
          5.33408602e-05}},
        {{KVS__ROPE_LLAMA3, 128, 5e5, 8, 1, 8192, 1, 4, 32, 1, 1, 0, 0, 1}, {0, 8, 16, 24, 32, 40, 48, 63},
         {1.0, 0.193922758, 0.0376060307, 0.00729266508, 0.000524846022, 3.42810235e-05, 6.64786967e-06,
          3.06892588e-07}},
        {{KVS__ROPE_YARN, 128, 1e6, 4, 1, 32768, 1, 4, 32, 1, 1, 0, 0, 1.1386}, {0, 8, 16, 24, 32, 40, 48, 63},
         {1.0, 0.177827939, 0.0316227786, 0.00537532149, 0.000602941145, 4.44569851e-05, 7.90569356e-06,
          3.10234441e-07}}
    };
    float inv[512], got[8];
    for (size_t i = 0; i < KVS__COUNT(kinds); i++) {
        kvs__rope_inv_freq(&kinds[i].r, inv);
        for (int k = 0; k < 8; k++) got[k] = inv[kinds[i].at[k]];
        mt_near(got, kinds[i].want, 8, 2e-7, "inv_freq");
    }
    kvs__model_config g;
    float table[3 * 2 * 2];
    memset(&g, 0, sizeof g);
    g.rope.dim = 4; g.rope.theta = 10000; g.rope.factor = 1; g.rope.original_max = 128; g.rope.beta_fast = 32;
    g.rope.beta_slow = 1; g.rope.attention_factor = 2;
    kvs__model_rope_table(&g, 3, table);
    const double want[] = {2, 2, 0, 0, 2 * cos(1), 2 * cos(0.01), 2 * sin(1), 2 * sin(0.01), 2 * cos(2), 2 * cos(0.02),
                           2 * sin(2), 2 * sin(0.02)};
    mt_near(table, want, 12, 1e-6, "table");
}

static void test_model_alibi(void)
{
    kvs__model_config g;
    float out[12];
    const double eight[] = {1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256};
    const double twelve[] = {1. / 2, 1. / 4, 1. / 8, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256,
                             0.7071067811865476, 0.35355339059327379, 0.17677669529663689, 0.088388347648318447};
    const double three[] = {1. / 16, 1. / 256, 1. / 4};
    const double scaled[] = {1. / 64, 1. / 1024, 1. / 16};
    memset(&g, 0, sizeof g);
    g.alibi_max = 8;
    g.H = 8; kvs__model_alibi(&g, out); mt_near(out, eight, 8, 1e-7, "8 heads");
    g.H = 12; kvs__model_alibi(&g, out); mt_near(out, twelve, 12, 1e-7, "12 heads");
    g.H = 3; kvs__model_alibi(&g, out); mt_near(out, three, 3, 1e-7, "3 heads");
    g.alibi_scaled = 1; g.attn_scale = 0.25f;
    kvs__model_alibi(&g, out); mt_near(out, scaled, 3, 1e-7, "scaled");
}

/* ---- config.json, key by key ---- */

/* A file in which one key has another value (NULL: is absent) or is new. base: pairs, ended by NULL. */
static void mt_config(const char *file, const char *const *base, const char *key, const char *value)
{
    char text[4096];
    size_t n = 0;
    int done = 0;
    for (; *base; base += 2) {
        int it = key && !strcmp(*base, key);
        const char *v = it ? value : base[1];
        done |= it;
        if (v) n += (size_t)snprintf(text + n, sizeof text - n, "%s\"%s\": %s", n ? ",\n  " : "{\n  ", *base, v);
    }
    if (key && !done && value) n += (size_t)snprintf(text + n, sizeof text - n, ",\n  \"%s\": %s", key, value);
    n += (size_t)snprintf(text + n, sizeof text - n, "\n}\n");
    f_write(file, text, n);
}

/* Reads only config.json of the test's folder; the caller closes m if this is KVS_OK. */
static kvs_result mt_read_config(kvs__model *m)
{
    kvs__mem_init(&mt_mem, NULL);
    memset(m, 0, sizeof *m);
    m->mem = m->warnings.mem = &mt_mem;
    mt_err.text[0] = 0;
    kvs_result r = kvs__cfg_file(m, f_dir, "config.json", 0, kvs__cfg_model, &mt_err);
    if (!r) r = kvs__cfg_file(m, f_dir, "generation_config.json", 1, kvs__cfg_generation, &mt_err);
    if (!r) r = kvs__cfg_file(m, f_dir, "tokenizer_config.json", 1, kvs__cfg_tokenizer, &mt_err);
    if (r) kvs__model_close(m);
    return r;
}

static const char *const mt_llama[] = {
    "architectures", "[\"LlamaForCausalLM\"]", "hidden_size", "8", "num_hidden_layers", "2", "num_attention_heads", "2",
    "num_key_value_heads", "1", "intermediate_size", "12", "vocab_size", "16", "max_position_embeddings", "64",
    "rms_norm_eps", "1e-5", "hidden_act", "\"silu\"", "rope_theta", "10000.0", "eos_token_id", "2", "bos_token_id", "1",
    "tie_word_embeddings", "false", NULL};
static const char *const mt_qwen2[] = {
    "architectures", "[\"Qwen2ForCausalLM\"]", "hidden_size", "8", "num_hidden_layers", "3", "num_attention_heads", "2",
    "num_key_value_heads", "1", "intermediate_size", "12", "vocab_size", "16", "max_position_embeddings", "64",
    "use_sliding_window", "true", "sliding_window", "5", "max_window_layers", "2", NULL};
static const char *const mt_falcon[] = {
    "architectures", "[\"FalconForCausalLM\"]", "hidden_size", "8", "num_hidden_layers", "1",
    "num_attention_heads", "2", "num_kv_heads", "2", "vocab_size", "16", NULL};
static const char *const mt_mpt[] = {
    "architectures", "[\"MptForCausalLM\"]", "d_model", "8", "n_layers", "1", "n_heads", "2", "vocab_size", "16", NULL};
static const char *const mt_gemma[] = {
    "architectures", "[\"GemmaForCausalLM\"]", "hidden_size", "8", "num_hidden_layers", "1", "num_attention_heads", "2",
    "num_key_value_heads", "1", "intermediate_size", "12", "vocab_size", "16", "max_position_embeddings", "64",
    "hidden_act", "\"gelu\"", NULL};
static const char *const mt_opt[] = {
    "architectures", "[\"OPTForCausalLM\"]", "hidden_size", "8", "num_hidden_layers", "1", "num_attention_heads", "2",
    "ffn_dim", "12", "vocab_size", "16", "max_position_embeddings", "64", NULL};
static const char *const mt_stablelm[] = {
    "architectures", "[\"StableLmForCausalLM\"]", "hidden_size", "16", "num_hidden_layers", "1",
    "num_attention_heads", "2", "num_key_value_heads", "1", "intermediate_size", "12", "vocab_size", "16", "max_position_embeddings", "64", NULL};

typedef struct { const char *const *base; const char *key, *value; kvs_result res; const char *says; } mt_mutation;

static void test_model_bad_config(void)
{
    static const mt_mutation bad[] = {
        {mt_llama, "architectures", NULL, KVS_ERR_FORMAT, "architectures"},
        {mt_llama, "architectures", "[]", KVS_ERR_FORMAT, "architectures"},
        {mt_llama, "architectures", "\"LlamaForCausalLM\"", KVS_ERR_FORMAT, "architectures"},
        {mt_llama, "architectures", "[3]", KVS_ERR_FORMAT, "architectures"},
        {mt_llama, "architectures", "[\"MambaForCausalLM\"]", KVS_ERR_UNSUPPORTED,
         "\"MambaForCausalLM\" is not implemented"},
        {mt_llama, "architectures", "[\"MambaForCausalLM\"]", KVS_ERR_UNSUPPORTED, "MptForCausalLM"},
        {mt_llama, "hidden_size", NULL, KVS_ERR_FORMAT, "\"hidden_size\" is missing"},
        {mt_llama, "hidden_size", "null", KVS_ERR_FORMAT, "\"hidden_size\" is missing"},
        {mt_llama, "hidden_size", "0", KVS_ERR_FORMAT, "config.json:3: \"hidden_size\" is 0"},
        {mt_llama, "hidden_size", "-8", KVS_ERR_FORMAT, "hidden_size"},
        {mt_llama, "hidden_size", "8.0", KVS_ERR_FORMAT, "hidden_size"},
        {mt_llama, "hidden_size", "\"8\"", KVS_ERR_FORMAT, "\"hidden_size\" is \"8\", expected an integer"},
        {mt_llama, "hidden_size", "[8]", KVS_ERR_FORMAT, "\"hidden_size\" is an array"},
        {mt_llama, "hidden_size", "true", KVS_ERR_FORMAT, "hidden_size"},
        {mt_llama, "hidden_size", "9223372036854775807", KVS_ERR_FORMAT, "hidden_size"},
        {mt_llama, "hidden_size", "1e99", KVS_ERR_FORMAT, "hidden_size"},
        {mt_llama, "hidden_size", "9", KVS_ERR_FORMAT, "9 is not a multiple of 2"},
        {mt_llama, "num_hidden_layers", "1025", KVS_ERR_FORMAT, "num_hidden_layers"},
        {mt_llama, "num_hidden_layers", "4294967297", KVS_ERR_FORMAT, "num_hidden_layers"},
        {mt_llama, "num_attention_heads", "0", KVS_ERR_FORMAT, "num_attention_heads"},
        {mt_llama, "num_key_value_heads", "3", KVS_ERR_FORMAT, "2 attention heads are not a multiple of 3"},
        {mt_llama, "num_key_value_heads", "0", KVS_ERR_FORMAT, "num_key_value_heads"},
        {mt_llama, "head_dim", "2048", KVS_ERR_FORMAT, "head_dim"},
        {mt_llama, "head_dim", "5", KVS_ERR_UNSUPPORTED, "rope turns 5 of 5"},
        {mt_llama, "intermediate_size", "-1", KVS_ERR_FORMAT, "intermediate_size"},
        {mt_llama, "vocab_size", "5000000", KVS_ERR_FORMAT, "vocab_size"},
        {mt_llama, "max_position_embeddings", "0", KVS_ERR_FORMAT, "max_position_embeddings"},
        {mt_llama, "n_embd", "9", KVS_ERR_FORMAT, "\"hidden_size\" and \"n_embd\" disagree"},
        {mt_llama, "rms_norm_eps", "null", KVS_ERR_FORMAT, "epsilon"},
        {mt_llama, "rms_norm_eps", "\"small\"", KVS_ERR_FORMAT, "rms_norm_eps"},
        {mt_llama, "rms_norm_eps", "2", KVS_ERR_FORMAT, "rms_norm_eps"},
        {mt_llama, "hidden_act", "\"quick_gelu\"", KVS_ERR_UNSUPPORTED, "\"hidden_act\" is \"quick_gelu\""},
        {mt_llama, "hidden_act", "7", KVS_ERR_FORMAT, "hidden_act"},
        {mt_llama, "hidden_act", "null", KVS_ERR_FORMAT, "hidden_act"},
        {mt_llama, "rope_theta", "0", KVS_ERR_FORMAT, "rope_theta"},
        {mt_llama, "rope_theta", "\"10000\"", KVS_ERR_FORMAT, "rope_theta"},
        {mt_llama, "rope_scaling", "3", KVS_ERR_UNSUPPORTED, "rope_scaling"},
        {mt_llama, "rope_scaling", "{\"type\": \"longrope\", \"short_factor\": [1]}", KVS_ERR_UNSUPPORTED,
         "\"longrope\""},
        {mt_llama, "rope_scaling", "{\"type\": \"su\"}", KVS_ERR_UNSUPPORTED, "\"su\""},
        {mt_llama, "rope_scaling", "{\"rope_type\": \"mrope\"}", KVS_ERR_UNSUPPORTED, "rope_type"},
        {mt_llama, "rope_scaling", "{\"rope_type\": \"yarn\", \"type\": \"linear\"}", KVS_ERR_FORMAT, "disagree"},
        {mt_llama, "rope_scaling", "{\"type\": \"linear\", \"factor\": 0}", KVS_ERR_FORMAT, "rope_scaling.factor"},
        {mt_llama, "rope_scaling", "{\"type\": \"linear\", \"factor\": \"2\"}", KVS_ERR_FORMAT, "rope_scaling.factor"},
        {mt_llama, "rope_scaling", "{\"type\": \"linear\", \"mrope_section\": [1]}", KVS_ERR_UNSUPPORTED,
         "mrope_section"},
        {mt_llama, "rope_scaling", "{\"type\": \"llama3\", \"low_freq_factor\": 4}", KVS_ERR_FORMAT, "low_freq_factor"},
        {mt_llama, "rope_parameters", "{\"rope_theta\": 5000}", KVS_ERR_FORMAT,
         "\"rope_theta\" and \"rope_parameters.rope_theta\""},
        {mt_llama, "rope_parameters", "{\"full_attention\": {}}", KVS_ERR_UNSUPPORTED,
         "rope_parameters.full_attention"},
        {mt_llama, "partial_rotary_factor", "1.5", KVS_ERR_FORMAT, "partial_rotary_factor"},
        {mt_llama, "partial_rotary_factor", "0.1", KVS_ERR_UNSUPPORTED, "rope turns 0"},
        {mt_llama, "rotary_dim", "6", KVS_ERR_UNSUPPORTED, "rope turns 6 of 4"},
        {mt_llama, "rope_interleaved", "true", KVS_ERR_UNSUPPORTED, "rope_interleaved"},
        {mt_llama, "sliding_window", "16", KVS_ERR_UNSUPPORTED, "sliding_window"},
        {mt_llama, "layer_types", "[\"full_attention\", \"sliding_attention\"]", KVS_ERR_UNSUPPORTED, "layer 1"},
        {mt_llama, "layer_types", "[\"full_attention\"]", KVS_ERR_FORMAT, "layer_types"},
        {mt_llama, "layer_types", "[\"full_attention\", \"linear_attention\"]", KVS_ERR_UNSUPPORTED,
         "linear_attention"},
        {mt_llama, "tie_word_embeddings", "\"no\"", KVS_ERR_FORMAT, "tie_word_embeddings"},
        {mt_llama, "attention_bias", "1", KVS_ERR_FORMAT, "attention_bias"},
        {mt_llama, "alibi", "true", KVS_ERR_UNSUPPORTED, "\"alibi\" is true, expected false"},
        {mt_llama, "quantization_config", "{\"bits\": 4}", KVS_ERR_UNSUPPORTED, "quantization_config"},
        {mt_llama, "num_experts", "8", KVS_ERR_UNSUPPORTED, "num_experts"},
        {mt_llama, "num_local_experts", "8", KVS_ERR_UNSUPPORTED, "num_local_experts"},
        {mt_llama, "attention_multiplier", "0.1", KVS_ERR_UNSUPPORTED, "attention_multiplier"},
        {mt_llama, "residual_multiplier", "0.2", KVS_ERR_UNSUPPORTED, "residual_multiplier"},
        {mt_llama, "embedding_multiplier", "12", KVS_ERR_UNSUPPORTED, "embedding_multiplier"},
        {mt_llama, "logits_scaling", "8", KVS_ERR_UNSUPPORTED, "\"logits_scaling\" is 8, expected 1"},
        {mt_llama, "logit_scale", "0.5", KVS_ERR_UNSUPPORTED, "logit_scale"},
        {mt_llama, "clip_qkv", "8", KVS_ERR_UNSUPPORTED, "clip_qkv"},
        {mt_llama, "final_logit_softcapping", "30.0", KVS_ERR_UNSUPPORTED, "final_logit_softcapping"},
        {mt_llama, "attn_logit_softcapping", "50.0", KVS_ERR_UNSUPPORTED, "attn_logit_softcapping"},
        {mt_llama, "query_pre_attn_scalar", "256", KVS_ERR_UNSUPPORTED, "query_pre_attn_scalar"},
        {mt_llama, "kv_lora_rank", "512", KVS_ERR_UNSUPPORTED, "kv_lora_rank"},
        {mt_llama, "pruned_heads", "{\"0\": [1]}", KVS_ERR_UNSUPPORTED, "pruned_heads"},
        {mt_llama, "attention_sink_scale", "1", KVS_ERR_UNSUPPORTED, "\"attention_sink_scale\" is unknown"},
        {mt_llama, "parallel_attn", "true", KVS_ERR_UNSUPPORTED, "parallel_attn"},
        {mt_llama, "bos_token_id", "\"<s>\"", KVS_ERR_FORMAT, "bos_token_id"},
        {mt_llama, "eos_token_id", "\"</s>\"", KVS_ERR_FORMAT, "eos_token_id"},
        {mt_llama, "eos_token_id", "[2, \"x\"]", KVS_ERR_FORMAT, "eos_token_id"},
        {mt_llama, "hidden_act\": \"silu\", \"hidden_act", "\"relu\"", KVS_ERR_FORMAT, "\"hidden_act\" is given twice"},
        {mt_qwen2, "sliding_window", "0", KVS_ERR_FORMAT, "sliding_window"},
        {mt_qwen2, "use_sliding_window", "1", KVS_ERR_FORMAT, "use_sliding_window"},
        {mt_qwen2, "max_window_layers", "-1", KVS_ERR_FORMAT, "max_window_layers"},
        {mt_qwen2, "attention_bias", "false", KVS_ERR_UNSUPPORTED, "\"attention_bias\" is false, expected true"},
        {mt_qwen2, "num_key_value_heads", NULL, KVS_ERR_FORMAT, "32 key/value heads"},        /* its default is 32 */
        {mt_falcon, "multi_query", "false", KVS_ERR_UNSUPPORTED, "this form of FalconForCausalLM"},
        {mt_falcon, "parallel_attn", "false", KVS_ERR_UNSUPPORTED, "this form of FalconForCausalLM"},
        {mt_falcon, "apply_residual_connection_post_layernorm", "true", KVS_ERR_UNSUPPORTED,
         "apply_residual_connection"},
        {mt_falcon, "alibi", "3", KVS_ERR_FORMAT, "alibi"},
        {mt_mpt, "attn_config", "{\"alibi\": false}", KVS_ERR_UNSUPPORTED, "attn_config.alibi"},
        {mt_mpt, "attn_config", "{\"qk_ln\": true}", KVS_ERR_UNSUPPORTED, "attn_config.qk_ln"},
        {mt_mpt, "attn_config", "{\"prefix_lm\": true}", KVS_ERR_UNSUPPORTED, "attn_config.prefix_lm"},
        {mt_mpt, "attn_config", "{\"kv_n_heads\": 1}", KVS_ERR_UNSUPPORTED, "attn_config.kv_n_heads"},
        {mt_mpt, "attn_config", "{\"attn_type\": \"multiquery_attention\"}", KVS_ERR_UNSUPPORTED,
         "attn_config.attn_type"},
        {mt_mpt, "attn_config", "{\"alibi_bias_max\": -8}", KVS_ERR_FORMAT, "attn_config.alibi_bias_max"},
        {mt_mpt, "attn_config", "7", KVS_ERR_UNSUPPORTED, "attn_config"},
        {mt_mpt, "no_bias", "false", KVS_ERR_UNSUPPORTED, "no_bias"},
        {mt_mpt, "norm_type", "\"rmsnorm\"", KVS_ERR_UNSUPPORTED, "norm_type"},
        {mt_mpt, "expansion_ratio", "0", KVS_ERR_FORMAT, "expansion_ratio"},
        {mt_opt, "_remove_final_layer_norm", "true", KVS_ERR_UNSUPPORTED, "_remove_final_layer_norm"},
        {mt_opt, "layer_norm_elementwise_affine", "false", KVS_ERR_UNSUPPORTED, "layer_norm_elementwise_affine"},
        {mt_opt, "word_embed_proj_dim", "0", KVS_ERR_FORMAT, "word_embed_proj_dim"},
        {mt_stablelm, "qk_layernorm", "true", KVS_ERR_UNSUPPORTED, "qk_layernorm"}
    };
    f_open();
    for (size_t i = 0; i < KVS__COUNT(bad); i++) {
        kvs__model m;
        mt_config("config.json", bad[i].base, bad[i].key, bad[i].value);
        kvs_result r = mt_read_config(&m);
        CHECK_MSG(r == bad[i].res, "%s = %s: result %d, expected %d (%s)", bad[i].key,
                  bad[i].value ? bad[i].value : "(absent)",
                  r, bad[i].res, mt_err.text);
        CHECK_HAS(mt_err.text, "config.json");
        CHECK_HAS(mt_err.text, bad[i].says);
        if (!r) kvs__model_close(&m);
        CHECK_EQ_INT(mt_mem.live, 0);
    }
    f_write("config.json", "[]", 2);
    kvs__model m;
    CHECK_EQ_INT(mt_read_config(&m), KVS_ERR_FORMAT);
    f_write("config.json", "", 0);
    CHECK_EQ_INT(mt_read_config(&m), KVS_ERR_FORMAT);
    unlink(f_path("config.json"));
    CHECK_EQ_INT(mt_read_config(&m), KVS_ERR_IO);
    CHECK_HAS(mt_err.text, "config.json");
    f_close();
}

/* Reads base with one key changed, which must succeed: mt_g is then what it says, until the next one. */
static kvs__model mt_m;
static const kvs__model_config *const mt_g = &mt_m.cfg;
static int mt_good(const char *const *base, const char *key, const char *value)
{
    mt_config("config.json", base, key, value);
    kvs_result r = mt_read_config(&mt_m);
    CHECK_MSG(r == KVS_OK, "%s = %s: %s", key, value ? value : "(absent)", mt_err.text);
    return r == KVS_OK;
}
#define MT_GOOD(base, key, value, expr) do { \
        if (mt_good(base, key, value)) { CHECK_MSG(expr, "%s: not " #expr, key); mt_close(&mt_m); } } while (0)

static void test_model_good_config(void)
{
    f_open();
    MT_GOOD(mt_llama, "architectures", "[\"Unknown\", \"LlamaForCausalLM\"]", mt_g->L == 2 &&
            !strcmp(mt_g->arch, "LlamaForCausalLM"));
    MT_GOOD(mt_llama, "num_key_value_heads", "null", mt_g->HKV == 2);
    MT_GOOD(mt_llama, "head_dim", "null", mt_g->Dh == 4);
    MT_GOOD(mt_llama, "head_dim", "6", mt_g->Dh == 6 && mt_g->rope.dim == 6);
    MT_GOOD(mt_llama, "n_embd", "8", mt_g->D == 8);
    MT_GOOD(mt_llama, "rms_norm_eps", NULL, mt_g->eps == 1e-6f);
    MT_GOOD(mt_llama, "rope_scaling", "null", mt_g->rope.type == KVS__ROPE_DEFAULT && mt_g->rope.theta == 10000);
    MT_GOOD(mt_llama, "rope_scaling", "{\"type\": \"linear\", \"rope_type\": \"linear\", \"factor\": 4}",
            mt_g->rope.type == KVS__ROPE_LINEAR && mt_g->rope.factor == 4);
    MT_GOOD(mt_llama, "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 4}",
            mt_g->rope.original_max == 64 && fabs(mt_g->rope.attention_factor - (0.1 * log(4.0) + 1)) < 1e-12);
    MT_GOOD(mt_llama, "rope_scaling", "{\"rope_type\": \"yarn\", \"factor\": 4, \"attention_factor\": 1.5}",
            mt_g->rope.attention_factor == 1.5);
    MT_GOOD(mt_llama, "rope_theta", NULL, mt_g->rope.theta == 10000);
    MT_GOOD(mt_llama, "rope_parameters", "{\"rope_type\": \"llama3\", \"rope_theta\": 10000.0, \"factor\": 8, "
            "\"low_freq_factor\": 1, \"high_freq_factor\": 4, \"original_max_position_embeddings\": 32}",
            mt_g->rope.type == KVS__ROPE_LLAMA3 && mt_g->rope.factor == 8 && mt_g->rope.original_max == 32);
    MT_GOOD(mt_llama, "layer_types", "[\"full_attention\", \"full_attention\"]", mt_g->window[0] == 0);
    MT_GOOD(mt_llama, "sliding_window", "null", mt_g->window[0] == 0);
    MT_GOOD(mt_llama, "attention_bias", "true", mt_g->flags & KVS__F_BIAS_QKV);
    MT_GOOD(mt_llama, "logits_scaling", "1.0", mt_g->L == 2);
    MT_GOOD(mt_llama, "use_some_new_norm", "false", mt_g->L == 2);
    MT_GOOD(mt_llama, "eos_token_id", "[3, 2, 3, 99, -1]", mt_g->n_eos == 2 && mt_g->eos[0] == 2 && mt_g->eos[1] == 3);
    MT_GOOD(mt_llama, "eos_token_id", "null", mt_g->n_eos == 0);
    MT_GOOD(mt_llama, "eos_token_id", NULL, mt_g->n_eos == 0 && mt_g->bos == 1);
    MT_GOOD(mt_llama, "favourite_colour", "\"green\"", strstr(mt_m.warnings.p, "\"favourite_colour\"") != NULL);
    MT_GOOD(mt_qwen2, "use_sliding_window", "false", !mt_g->window[0] && !mt_g->window[1] && !mt_g->window[2]);
    MT_GOOD(mt_qwen2, "max_window_layers", "1", !mt_g->window[0] && mt_g->window[1] == 5 && mt_g->window[2] == 5);
    MT_GOOD(mt_qwen2, "layer_types", "[\"sliding_attention\", \"full_attention\", \"sliding_attention\"]",
            mt_g->window[0] == 5 && !mt_g->window[1] && mt_g->window[2] == 5);
    MT_GOOD(mt_qwen2, "sliding_window", "null", !mt_g->window[2]);
    MT_GOOD(mt_falcon, "alibi", "true", mt_g->pos == KVS__POS_ALIBI && mt_g->HKV == 1 && mt_g->F == 32 && mt_g->tied);
    MT_GOOD(mt_falcon, "new_decoder_architecture", "true", mt_g->HKV == 2 && (mt_g->flags & KVS__F_NORM2));
    MT_GOOD(mt_falcon, "num_ln_in_parallel_attn", "null", mt_g->HKV == 1);
    MT_GOOD(mt_mpt, "attn_config",
            "{\"alibi_bias_max\": 4, \"softmax_scale\": 0.5, \"qk_ln\": false, \"clip_qkv\": null}",
            mt_g->alibi_max == 4 && mt_g->attn_scale == 0.5f && mt_g->max_pos == 2048 && mt_g->F == 32);
    MT_GOOD(mt_mpt, "expansion_ratio", "3", mt_g->F == 24);
    MT_GOOD(mt_mpt, "norm_type", "\"low_precision_layernorm\"", mt_g->norm == KVS_NORM_LAYER);
    MT_GOOD(mt_gemma, "hidden_act", "\"gelu\"", mt_g->act == KVS_ACT_GELU_TANH && mt_g->Dh == 256 && mt_g->tied);
    MT_GOOD(mt_gemma, "hidden_activation", "\"silu\"", mt_g->act == KVS_ACT_SILU);
    MT_GOOD(mt_gemma, "hidden_activation", "null", mt_g->act == KVS_ACT_GELU_TANH &&
            mt_g->embed_scale == (float)sqrt(8.0));
    MT_GOOD(mt_opt, "do_layer_norm_before", "false", mt_g->flow == KVS__FLOW_POSTNORM &&
            !(mt_g->flags & KVS__F_NORM_LAST));
    MT_GOOD(mt_opt, "enable_bias", "false", !(mt_g->flags & KVS__F_BIAS) && (mt_g->flags & KVS__F_NORM_BIAS));
    MT_GOOD(mt_opt, "word_embed_proj_dim", "6", mt_g->E == 6 && (mt_g->flags & KVS__F_PROJ));
    MT_GOOD(mt_stablelm, "use_qkv_bias", "true", mt_g->flags & KVS__F_BIAS_QKV);
    f_close();
}

/* generation_config.json and tokenizer_config.json beside a good config.json. */
static void mt_other_file(const char *file, const char *text, kvs_result want, const char *says, int n_eos,
                          float temperature)
{
    kvs__model m;
    f_clear();
    mt_config("config.json", mt_llama, NULL, NULL);
    f_write(file, text, strlen(text));
    kvs_result r = mt_read_config(&m);
    CHECK_MSG(r == want, "%s: result %d (%s)", text, r, mt_err.text);
    if (r) { CHECK_HAS(mt_err.text, file); CHECK_HAS(mt_err.text, says); return; }
    CHECK_EQ_INT(m.cfg.n_eos, n_eos);
    CHECK_MSG(m.cfg.sampling.temperature == temperature, "%s", text);
    CHECK_STR(m.cfg.eos_token, says);
    mt_close(&m);
}

static void test_model_other_files(void)
{
    static const char gen[] = "generation_config.json", tok[] = "tokenizer_config.json";
    f_open();
    mt_other_file(gen, "{\"eos_token_id\": [3, 4]}", KVS_OK, "", 3, 0);
    mt_other_file(gen, "{\"do_sample\": true}", KVS_OK, "", 1, 1);
    mt_other_file(gen, "{\"do_sample\": true, \"temperature\": 0.5}", KVS_OK, "", 1, 0.5f);
    mt_other_file(gen, "{\"do_sample\": false, \"temperature\": 0.5}", KVS_OK, "", 1, 0);
    mt_other_file(gen, "{\"temperature\": null, \"unheard_of\": {}}", KVS_OK, "", 1, 0);
    mt_other_file(gen, "{\"temperature\": -1}", KVS_ERR_FORMAT, "temperature", 0, 0);
    mt_other_file(gen, "{\"top_p\": 1.5}", KVS_ERR_FORMAT, "top_p", 0, 0);
    mt_other_file(gen, "{\"top_k\": 2.5}", KVS_ERR_FORMAT, "top_k", 0, 0);
    mt_other_file(gen, "{\"repetition_penalty\": 0}", KVS_ERR_FORMAT, "repetition_penalty", 0, 0);
    mt_other_file(gen, "{\"do_sample\": 1}", KVS_ERR_FORMAT, "do_sample", 0, 0);
    mt_other_file(gen, "{\"eos_token_id\": 1.5}", KVS_ERR_FORMAT, "eos_token_id", 0, 0);
    mt_other_file(gen, "{", KVS_ERR_FORMAT, "expected", 0, 0);
    mt_other_file(tok, "{\"eos_token\": \"<|end|>\"}", KVS_OK, "<|end|>", 1, 0);
    mt_other_file(tok, "{\"eos_token\": {\"content\": \"</s>\", \"lstrip\": false}}", KVS_OK, "</s>", 1, 0);
    mt_other_file(tok, "{\"eos_token\": null}", KVS_OK, "", 1, 0);
    mt_other_file(tok, "{\"eos_token\": 7}", KVS_OK, "", 1, 0);
    f_close();
}

/* ---- tensors ---- */

typedef struct { const char *name, *dtype, *shape; int bytes; } mt_tensor;

/* mt_llama as a file: D 8, H 2, HKV 1, Dh 4, F 12, V 16; one layer, the same again for the second. */
static const mt_tensor mt_tensors[] = {
    {"model.embed_tokens.weight", "F32", "[16,8]", 512}, {"model.norm.weight", "F32", "[8]", 32},
    {"lm_head.weight", "F32", "[16,8]", 512},
    {"model.layers.0.input_layernorm.weight", "F32", "[8]", 32},
    {"model.layers.0.post_attention_layernorm.weight", "BF16", "[8]", 16},
    {"model.layers.0.self_attn.q_proj.weight", "F32", "[8,8]", 256},
    {"model.layers.0.self_attn.k_proj.weight", "F32", "[4,8]", 128},
    {"model.layers.0.self_attn.v_proj.weight", "F16", "[4,8]", 64},
    {"model.layers.0.self_attn.o_proj.weight", "F32", "[8,8]", 256},
    {"model.layers.0.mlp.gate_proj.weight", "F32", "[12,8]", 384},
        {"model.layers.0.mlp.up_proj.weight", "F32", "[12,8]", 384},
    {"model.layers.0.mlp.down_proj.weight", "F32", "[8,12]", 384},
    {NULL, NULL, NULL, 0}                                /* for one more */
};
enum { MT_TENSORS = 12 };

/* Writes the tensors, with one of them replaced (name NULL: left out) or added; pad: blanks behind the header. */
static void mt_tensor_file(size_t at, mt_tensor with, int pad)
{
    char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "{"), data = 0;
    for (size_t i = 0; i <= MT_TENSORS; i++) {
        mt_tensor t = i == at ? with : mt_tensors[i];
        if (!t.name) continue;
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s\"%s\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[%zu,%zu]}",
                              n > 1 ? "," : "", t.name, t.dtype, t.shape, data, data + (size_t)t.bytes);
        data += (size_t)t.bytes;
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "}");
    while (n % 8 != 0) text[n++] = ' ';
    while (pad-- > 0) text[n++] = ' ';
    text[n] = 0;
    f_safetensors("model.safetensors", text, data);
}

static void test_model_bad_tensors(void)
{
    static const struct { size_t at; mt_tensor with; kvs_result res; const char *says; } cases[] = {
        {1, {NULL, NULL, NULL, 0}, KVS_ERR_MISMATCH, "\"model.norm.weight\" is missing, expected [8]"},
        {2, {NULL, NULL, NULL, 0}, KVS_ERR_MISMATCH, "\"lm_head.weight\" is missing, expected [16, 8]"},
        {0, {NULL, NULL, NULL, 0}, KVS_ERR_MISMATCH, "\"model.embed_tokens.weight\" is missing"},
        {7, {NULL, NULL, NULL, 0}, KVS_ERR_MISMATCH,
         "\"model.layers.0.self_attn.v_proj.weight\" is missing, expected [4, 8]"},
        {5, {"model.layers.0.self_attn.q_proj.weight", "F32", "[8,7]", 224}, KVS_ERR_MISMATCH,
         "q_proj.weight\" is [8, 7], expected [8, 8]"},
        {6, {"model.layers.0.self_attn.k_proj.weight", "F32", "[8,8]", 256}, KVS_ERR_MISMATCH,
         "k_proj.weight\" is [8, 8], expected [4, 8]"},
        {9, {"model.layers.0.mlp.gate_proj.weight", "F32", "[96]", 384}, KVS_ERR_MISMATCH,
         "gate_proj.weight\" is [96], expected [12, 8]"},
        {3, {"model.layers.0.input_layernorm.weight", "F32", "[8,1]", 32}, KVS_ERR_MISMATCH, "is [8, 1], expected [8]"},
        {0, {"model.embed_tokens.weight", "F32", "[17,8]", 544}, KVS_ERR_MISMATCH, "is [17, 8], expected [16, 8]"},
        {8, {"model.layers.0.self_attn.o_proj.weight", "I32", "[8,8]", 256}, KVS_ERR_UNSUPPORTED,
         "o_proj.weight\" has dtype I32"},
        {8, {"model.layers.0.self_attn.o_proj.weight", "F8_E4M3", "[8,8]", 64}, KVS_ERR_UNSUPPORTED,
         "has dtype F8_E4M3"},
        {MT_TENSORS, {"model.layers.0.self_attn.q_proj.bias", "F32", "[8]", 32}, KVS_ERR_MISMATCH,
         "q_proj.bias\" has no place"},
        {MT_TENSORS, {"model.layers.0.self_attn.q_norm.weight", "F32", "[4]", 16}, KVS_ERR_MISMATCH,
         "q_norm.weight\" has no place"},
        {MT_TENSORS, {"model.layers.1.input_layernorm.weight", "F32", "[8]", 32}, KVS_ERR_MISMATCH,
         "layers.1.input_layernorm"},
        {MT_TENSORS, {"model.norm.bias", "F32", "[8]", 32}, KVS_ERR_MISMATCH, "\"model.norm.bias\" has no place"},
        {MT_TENSORS, {"lm_head.bias", "F32", "[16]", 64}, KVS_ERR_MISMATCH, "\"lm_head.bias\" has no place"},
        {MT_TENSORS, {"model.layers.0.self_attn.rotary_emb.inv_freq", "F32", "[2]", 8}, KVS_OK, NULL},
        {MT_TENSORS, {"model.layers.0.attn.bias", "BOOL", "[1,1,2,2]", 4}, KVS_OK, NULL},
        {MT_TENSORS, {"model.layers.0.attn.bias", "F32", "[8]", 32}, KVS_ERR_MISMATCH, "attn.bias\" has no place"},
        {MT_TENSORS, {"score.weight", "F32", "[1,8]", 32}, KVS_OK, "score.weight"}
    };
    kvs__model m;
    f_open();
    mt_config("config.json", mt_llama, "num_hidden_layers", "1");
    for (size_t i = 0; i < KVS__COUNT(cases); i++) {
        mt_tensor_file(cases[i].at, cases[i].with, 0);
        kvs_result r = mt_open(&m, f_dir);
        CHECK_MSG(r == cases[i].res, "%zu: result %d, expected %d (%s)", i, r, cases[i].res, mt_err.text);
        if (r) CHECK_HAS(mt_err.text, cases[i].says);
        else {
            CHECK((m.warnings.n > 0) == (cases[i].says != NULL));
            if (cases[i].says) CHECK_HAS(m.warnings.p, cases[i].says);
        }
        mt_close(&m);
    }
    mt_config("config.json", mt_llama, NULL, NULL);                  /* two layers, the file has one */
    CHECK_EQ_INT(mt_open(&m, f_dir), KVS_ERR_MISMATCH);
    CHECK_HAS(mt_err.text, "model.layers.1.input_layernorm.weight");
    f_close();
}

/* Mixed dtypes, and a file whose data does not start at a multiple of an element's size. */
static void test_model_unaligned(void)
{
    const mt_tensor none = {NULL, NULL, NULL, 0};
    kvs__model m;
    float *row[2][64];
    f_open();
    mt_config("config.json", mt_llama, "num_hidden_layers", "1");
    for (int odd = 0; odd < 2; odd++) {
        mt_tensor_file(MT_TENSORS, none, odd);
        CHECK_EQ_INT(mt_open(&m, f_dir), KVS_OK);
        CHECK((m.n_copy > 0) == odd);
        CHECK_EQ_INT(m.dtype, KVS_F32);
        CHECK_EQ_INT(m.n_params, 16 * 8 * 2 + 8 * 3 + 8 * 16 + 8 * 8 + 36 * 8);
        const kvs__weight *qkv = &m.w[kvs__model_at(0, KVS__W_QKV)];
        CHECK(qkv->desc.n == 16 && qkv->desc.k == 8 && qkv->desc.n_parts == 3 && qkv->part[2].dtype == KVS_F16);
        for (size_t i = 0; i < m.n_w && i < 64; i++) row[odd][i] = mt_unpack(&m.w[i]);
        for (size_t i = 0; odd && i < m.n_w && i < 64; i++) {
            size_t bytes = (size_t)m.w[i].desc.n * (size_t)m.w[i].desc.k * sizeof(float);
            if (row[0][i]) CHECK(!memcmp(row[0][i], row[1][i], bytes));
            free(row[0][i]);
            free(row[1][i]);
        }
        mt_close(&m);
    }
    f_close();
}

static void test_model_not_finite(void)
{
    static const uint32_t f32_bad[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u};
    static const uint32_t f32_good[] = {0x7f7fffffu, 0x80000000u, 0x00000001u, 0x477ff000u};
    float data[5000];
    kvs_tensor t;
    kvs__weight w;
    memset(&t, 0, sizeof t);
    memset(&w, 0, sizeof w);
    memset(data, 0, sizeof data);
    t.name = "some.weight"; t.file = "x.safetensors"; t.dtype = KVS_F32; t.bytes = sizeof data;
    w.desc.n_parts = 1; w.desc.dtype = KVS_F32; w.part[0].data = data; w.part[0].dtype = KVS_F32; w.tensor[0] = &t;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_OK);
    for (int i = 0; i < 4; i++) {
        data[4999] = kvs__u32_f32(f32_good[i]);
        CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_OK);
        data[4098] = kvs__u32_f32(f32_bad[i]);
        CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_ERR_FORMAT);
        CHECK_HAS(mt_err.text, "\"some.weight\": element 4098");
        data[4098] = 0;
    }
    w.desc.dtype = KVS_F16;                              /* 65520 does not fit f16 */
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_ERR_FORMAT);
    CHECK_HAS(mt_err.text, "element 4999 is not finite as f16");
    data[4999] = 65519.0f;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_OK);
    uint16_t *half = (uint16_t *)(void *)data;
    w.part[0].dtype = KVS_F16;
    memset(data, 0, sizeof data);
    half[9999] = 0x7bff;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_OK);
    half[9999] = 0xfc00;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_ERR_FORMAT);
    w.part[0].dtype = KVS_BF16; w.desc.dtype = KVS_BF16;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_OK);      /* as bf16 it is an ordinary number, -2.6e36 */
    half[9999] = 0x7f80;
    CHECK_EQ_INT(kvs__model_check_finite(&w, &mt_err), KVS_ERR_FORMAT);
}

static void test_model_out_of_memory(void)
{
    static const char *const names[] = {"gpt-neox", "llama-sharded"};
    for (size_t i = 0; i < KVS__COUNT(names); i++) {
        kvs_result r = KVS_ERR_MEMORY;
        for (f_fail_at = 1; r != KVS_OK && f_fail_at < 1000; f_fail_at++) {
            kvs__model m;
            kvs__mem mem;
            f_calls = 0;
            kvs__mem_init(&mem, &f_allocator);
            r = kvs__model_open(&mem, mt_dir(names[i]), KVS_AUTO, &m, &mt_err);
            CHECK(r == KVS_OK || r == KVS_ERR_MEMORY);
            if (r) CHECK_HAS(mt_err.text, "memory");
            kvs__model_close(&m);
            CHECK_EQ_INT(mem.live, 0);
        }
        CHECK(f_fail_at > 10 && f_fail_at < 1000);
    }
    f_fail_at = 0;
}

SUITE(model)
{
    RUN(test_model_golden_config);
    RUN(test_model_dataflow);
    RUN(test_model_golden_defaults);
    RUN(test_model_rope);
    RUN(test_model_alibi);
    RUN(test_model_bad_config);
    RUN(test_model_good_config);
    RUN(test_model_other_files);
    RUN(test_model_bad_tensors);
    RUN(test_model_unaligned);
    RUN(test_model_not_finite);
    RUN(test_model_out_of_memory);
}
