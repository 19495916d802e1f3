/* >>sample: against a slow and obvious reference, against golden data from numpy, and at every edge. */

enum { SMP_V = 1200 }; /* more than four blocks, and no multiple of sixteen is assumed */
static float smp_scratch[3 * SMP_V];

static kvs_sample_row smp_row(float temperature, double u)
{
    kvs_sample_row r;
    memset(&r, 0, sizeof r);
    r.temperature = temperature; r.u = u; r.n_top = -1;
    r.top_p = 1; r.repetition_penalty = 1;
    return r;
}

static int32_t smp_token(const float *logits, int32_t V, kvs_sample_row *r)
{
    for (int i = 0; i < 3 * SMP_V; i++)
        smp_scratch[i] = i % 3 ? (float)NAN : 1e30f; /* nothing may be expected of scratch */
    kvs__sample_row(logits, V, r, smp_scratch);
    return r->token;
}

/* Bit i is set if token i (< 64) is drawn for some u of a fine grid. */
static uint64_t smp_support(const float *logits, int32_t V, kvs_sample_row r)
{
    uint64_t set = 0;
    for (int i = 0; i < 4096; i++) {
        r.u = (i + 0.5) / 4096;
        int32_t t = smp_token(logits, V, &r);
        if (t >= 0 && t < 64) set |= 1ull << t;
    }
    return set;
}

/* ---- greedy and odd logits ---- */

static void test_sample_greedy(void)
{
    static float x[SMP_V];
    for (int V = 1; V <= SMP_V; V = V < 40 ? V + 1 : V + 97) {
        for (int best = 0; best < V; best += 1 + V / 7) {
            for (int i = 0; i < V; i++) x[i] = -1.0f - (float)(i % 5);
            x[best] = 3.0f;
            kvs_sample_row r = smp_row(0, 0.5);
            CHECK_EQ_INT(smp_token(x, V, &r), best);
            x[V - 1] = 3.0f;                             /* a tie: the lower id */
            CHECK_EQ_INT(smp_token(x, V, &r), best);
            r.temperature = 9e-6f;                       /* as good as 0 */
            CHECK_EQ_INT(smp_token(x, V, &r), best);
        }
    }
}

static void test_sample_odd_logits(void)
{
    const float nan = (float)NAN, inf = (float)INFINITY;
    for (int mode = 0; mode < 4; mode++) {
        kvs_sample_row r = smp_row(mode & 1 ? 1.0f : 0.0f, 0.3);
        r.n_top = 3;
        if (mode & 2) { r.top_k = 5; r.top_p = 0.9f; r.min_p = 0.01f; }
        const float none[5] = {nan, -inf, nan, -inf, nan}, blown[5] = {inf, nan, inf, -inf, inf};
        const float one[5] = {nan, -inf, -40, nan, -inf}, two[5] = {nan, 1, inf, nan, FLT_MAX},
                    last[5] = {nan, nan, -inf, nan, -FLT_MAX};
        CHECK_EQ_INT(smp_token(none, 5, &r), -1);
        CHECK_EQ_INT(r.top[0].token, -1);
        CHECK_EQ_INT(smp_token(blown, 5, &r), -1);       /* nothing finite: the model overflowed */
        CHECK_EQ_INT(smp_token(none, 0, &r), -1);
        CHECK_EQ_INT(smp_token(one, 5, &r), 2);
        CHECK_MSG(r.logprob <= 0 && r.logprob > -1e-5f, "logprob %g", (double)r.logprob);
        CHECK_EQ_INT(r.top[0].token, 2);
        CHECK_EQ_INT(r.top[1].token, -1);
        CHECK_EQ_INT(smp_token(two, 5, &r), 2);       /* +inf is FLT_MAX: two share the mass, u = 0.3 takes the first */
        CHECK_MSG(fabs((double)r.logprob + 0.693147) < 1e-5, "logprob %g", (double)r.logprob);
        CHECK_EQ_INT(r.top[0].token, 2); CHECK_EQ_INT(r.top[1].token, 4); CHECK_EQ_INT(r.top[2].token, 1);
        CHECK(r.top[2].logprob >= -FLT_MAX && r.top[2].logprob < -1e30f);
        CHECK_EQ_INT(smp_token(last, 5, &r), 4);
        CHECK_EQ_INT(smp_token(last + 4, 1, &r), 0);     /* a vocabulary of one */
        CHECK(r.logprob <= 0 && r.logprob > -1e-5f);
    }
}

/* ---- what changes the row ---- */

static void test_sample_bias_and_ban(void)
{
    const float x[6] = {0, 1, 2, 3, 4, 5};
    kvs_logit_bias bias[4] = {{1, 10.0f}, {9, 1e9f}, {-1, 1e9f}, {INT32_MAX, 1e9f}};
    int32_t banned[4] = {1, -7, 6, INT32_MAX}, all[6] = {5, 4, 3, 2, 1, 0};
    kvs_sample_row r = smp_row(0, 0);
    r.bias = bias; r.n_bias = 4; r.n_top = 2;
    CHECK_EQ_INT(smp_token(x, 6, &r), 1);
    CHECK_EQ_INT(r.top[0].token, 5);                     /* log-probabilities are of the raw logits */
    CHECK(fabs((double)(r.top[0].logprob - r.logprob) - 4.0) < 1e-5);
    r.banned = banned; r.n_banned = 4;
    CHECK_EQ_INT(smp_token(x, 6, &r), 5);                /* a ban beats a bias */
    r.banned = all; r.n_banned = 6;
    CHECK_EQ_INT(smp_token(x, 6, &r), -1);
    CHECK_EQ_INT(r.top[0].token, -1);
    r.n_banned = 5;
    CHECK_EQ_INT(smp_token(x, 6, &r), 0);
    r.n_banned = 0; r.n_bias = 1; bias[0].token = 5; bias[0].bias = -(float)INFINITY;
    CHECK_EQ_INT(smp_token(x, 6, &r), 4);
    r.temperature = 1;
    for (int i = 0; i < 20; i++) { r.u = i / 20.0; CHECK(smp_token(x, 6, &r) != 5); }
    bias[0].token = 2; bias[0].bias = FLT_MAX;           /* so far ahead that nothing else has weight */
    r.u = 0.999;
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    bias[0].bias = (float)INFINITY;
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
}

static void test_sample_penalties(void)
{
    const float x[6] = {1.0f, 1.1f, 1.3f, -1.0f, 0.5f, 1.25f};
    const int32_t history[9] = {2, 2, 5, 77, -3, 1, 1, 1, 0}; /* 5 of the prompt, two of them no ids, 4 of the output */
    kvs_sample_row r = smp_row(0, 0);
    r.tokens = history; r.n_prompt = 5; r.n_tokens = 9;
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    r.repetition_penalty = 1.25f;                        /* .8 .88 1.04 - .5 1.0 : prompt and output, once each */
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    r.repetition_penalty = 3.0f;                         /* everything seen falls below token 4 */
    CHECK_EQ_INT(smp_token(x, 6, &r), 4);
    r.repetition_penalty = 0.5f;                         /* a reward: 2.0 2.2 2.6 . .5 2.5 */
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    r.repetition_penalty = 0;                            /* off */
    r.frequency_penalty = -0.1f;                         /* the output only: 1.1 1.4 */
    CHECK_EQ_INT(smp_token(x, 6, &r), 1);
    r.frequency_penalty = 0; r.presence_penalty = -0.25f;            /* 1.25 1.35 */
    CHECK_EQ_INT(smp_token(x, 6, &r), 1);
    r.presence_penalty = -0.15f;                         /* 1.15 1.25, and 1.3 of the prompt stays */
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    r.n_prompt = 0;                                      /* now token 2 is output too */
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);
    r.presence_penalty = 0.15f;
    CHECK_EQ_INT(smp_token(x, 6, &r), 2);                /* 1.15 against 1.1 of token 5 */
    r.presence_penalty = 1;
    CHECK_EQ_INT(smp_token(x, 6, &r), 4);
    const float negative[3] = {-1.0f, -1.5f, -2.0f};     /* a penalty makes a negative logit more negative */
    r = smp_row(0, 0);
    r.tokens = history + 8; r.n_tokens = 1; r.repetition_penalty = 1.6f;
    CHECK_EQ_INT(smp_token(negative, 3, &r), 1);
}

/* ---- min_p, top_k, top_p ---- */

static void test_sample_min_p(void)
{
    const float x[5] = {0, -1, -2, -3, -4};              /* relative to the best: 1 .37 .135 .05 .018 */
    kvs_sample_row r = smp_row(1, 0);
    r.min_p = 0.2f;  CHECK_EQ_INT(smp_support(x, 5, r), 3);
    r.min_p = 0.1f;  CHECK_EQ_INT(smp_support(x, 5, r), 7);
    r.min_p = 1;     CHECK_EQ_INT(smp_support(x, 5, r), 1);
    r.min_p = 1e-40f; CHECK_EQ_INT(smp_support(x, 5, r), 31);
    r.min_p = 0.2f;
    r.temperature = 2;
    CHECK_EQ_INT(smp_support(x, 5, r), 15); /* after the temperature: 1 .61 .37 .22 .135 */
    const float flat[4] = {2, 2, 2, 1.9f};
    r.min_p = 1; CHECK_EQ_INT(smp_support(flat, 4, r), 7);
}

static void test_sample_top_k(void)
{
    const float x[8] = {1, 3, 2, 3, 0, 2, -1, 2};        /* 3 3 2 2 2 1 0 -1 */
    kvs_sample_row r = smp_row(1, 0);
    r.top_k = 1;   CHECK_EQ_INT(smp_support(x, 8, r), 0x0a);           /* ties with the k-th stay */
    r.top_k = 2;   CHECK_EQ_INT(smp_support(x, 8, r), 0x0a);
    r.top_k = 3;   CHECK_EQ_INT(smp_support(x, 8, r), 0xae);
    r.top_k = 5;   CHECK_EQ_INT(smp_support(x, 8, r), 0xae);
    r.top_k = 6;   CHECK_EQ_INT(smp_support(x, 8, r), 0xaf);
    r.top_k = 7;   CHECK_EQ_INT(smp_support(x, 8, r), 0xbf);
    r.top_k = 8;   CHECK_EQ_INT(smp_support(x, 8, r), 0xff);
    r.top_k = 1000000000; CHECK_EQ_INT(smp_support(x, 8, r), 0xff);
    r.top_k = -1;  CHECK_EQ_INT(smp_support(x, 8, r), 0xff);
    r.top_k = 6;
    r.min_p = 0.2f;
    CHECK_EQ_INT(smp_support(x, 8, r), 0xae);    /* min_p comes first and leaves five */
    const float spread[4] = {0, -200, -300, -5}; /* two beyond anything exp can hold: no weight, whatever k says */
    r = smp_row(1, 0);
    r.top_k = 3; CHECK_EQ_INT(smp_support(spread, 4, r), 9);
    r.u = 1 - 1e-16; CHECK_EQ_INT(smp_token(spread, 4, &r), 3);
}

static void test_sample_top_p(void)
{
    float x[10];
    const double p[10] = {0.05, 0.40, 0.02, 0.10, 0.20, 0.03, 0.12, 0.05, 0.01, 0.02};
    for (int i = 0; i < 10; i++) x[i] = (float)log(p[i]);
    kvs_sample_row r = smp_row(1, 0); /* order: 1 4 6 3 (0 7) 5 (2 9) 8; sums .40 .60 .72 .82 .87 .92 .95 .97 .99 */
    r.top_p = 1e-6f; CHECK_EQ_INT(smp_support(x, 10, r), 0x002);
    r.top_p = 0.39f; CHECK_EQ_INT(smp_support(x, 10, r), 0x002);
    r.top_p = 0.41f; CHECK_EQ_INT(smp_support(x, 10, r), 0x012);
    r.top_p = 0.71f; CHECK_EQ_INT(smp_support(x, 10, r), 0x052);
    r.top_p = 0.83f; CHECK_EQ_INT(smp_support(x, 10, r), 0x05b);       /* of two equals the lower id goes first */
    r.top_p = 0.88f; CHECK_EQ_INT(smp_support(x, 10, r), 0x0db);
    r.top_p = 0.96f; CHECK_EQ_INT(smp_support(x, 10, r), 0x0ff);
    r.top_p = 0.98f; CHECK_EQ_INT(smp_support(x, 10, r), 0x2ff);
    r.top_p = 0.995f; CHECK_EQ_INT(smp_support(x, 10, r), 0x3ff);
    r.top_p = 0; CHECK_EQ_INT(smp_support(x, 10, r), 0x3ff);
    r.top_p = 0.7f; r.top_k = 3; CHECK_EQ_INT(smp_support(x, 10, r), 0x012);       /* of what top_k left: .556 .833 1 */
    float flat[SMP_V];
    for (int i = 0; i < SMP_V; i++) flat[i] = -7.25f;
    r = smp_row(1, 1 - 1e-16);
    r.top_p = 0.5f; CHECK_EQ_INT(smp_token(flat, SMP_V, &r), SMP_V / 2 - 1);
    r.u = 0;        CHECK_EQ_INT(smp_token(flat, SMP_V, &r), 0);
    r.top_p = 1e-9f; r.u = 1 - 1e-16; CHECK_EQ_INT(smp_token(flat, SMP_V, &r), 0);
}

/* ---- the reference: sort everything, in double ---- */

static const double *smp_sort_key;
static int smp_by_weight(const void *a, const void *b)
{
    int i = *(const int *)a, j = *(const int *)b;
    if (smp_sort_key[i] > smp_sort_key[j]) return -1;
    if (smp_sort_key[i] < smp_sort_key[j]) return 1;
    return i - j;
}

/* weight[V]: what each token weighs after everything. 0: the case is too close to an edge for a fair comparison. */
static int smp_reference(const float *logits, int V, const kvs_sample_row *r, double *weight)
{
    static double z[SMP_V];
    static int order[SMP_V], prompt[SMP_V], output[SMP_V];
    double best = -INFINITY, total = 0, before = 0;
    memset(prompt, 0, sizeof prompt); memset(output, 0, sizeof output);
    for (int i = 0; i < r->n_tokens; i++) {
        if (r->tokens[i] < 0 || r->tokens[i] >= V) continue;
        if (i < r->n_prompt) prompt[r->tokens[i]]++;
        else output[r->tokens[i]]++;
    }
    for (int i = 0; i < V; i++) {
        z[i] = isnan(logits[i]) ? -INFINITY : (double)logits[i];
        for (int j = 0; j < r->n_bias; j++) if (r->bias[j].token == i) z[i] += (double)r->bias[j].bias;
        for (int j = 0; j < r->n_banned; j++) if (r->banned[j] == i) z[i] = -INFINITY;
        if (prompt[i] || output[i])
            z[i] = z[i] > 0 ? z[i] / (double)r->repetition_penalty : z[i] * (double)r->repetition_penalty;
        if (output[i]) z[i] -= (double)r->frequency_penalty * output[i] + (double)r->presence_penalty;
        z[i] /= (double)r->temperature;
        if (z[i] > best) best = z[i];
        order[i] = i;
    }
    for (int i = 0; i < V; i++) {
        weight[i] = exp(z[i] - best);
        if (r->min_p > 0 && fabs(weight[i] - (double)r->min_p) < 1e-6) return 0;
        if (weight[i] < (double)r->min_p) weight[i] = 0;
    }
    smp_sort_key = z;
    qsort(order, (size_t)V, sizeof *order, smp_by_weight);
    if (r->top_k > 0 && r->top_k < V)
        for (int i = 0; i < V; i++) if (z[i] < z[order[r->top_k - 1]]) weight[i] = 0;
    for (int i = 0; i < V; i++) total += weight[i];
    for (int i = 0; i < V && r->top_p < 1; i++) {
        if (fabs(before - (double)r->top_p * total) < 1e-5 * total) return 0;
        double w = weight[order[i]];
        if (before >= (double)r->top_p * total) weight[order[i]] = 0;
        before += w;
    }
    return 1;
}

static void smp_random_row(int V, float *x, kvs_sample_row *r, kvs_logit_bias *bias, int32_t *banned, int32_t *tokens)
{
    int coarse = t_range(0, 2) == 0;                     /* many ties */
    float width = (float)t_range(1, 12);
    for (int i = 0; i < V; i++) {
        x[i] = width * (t_float() + t_float() + t_float());
        if (coarse) x[i] = (float)(int)(2 * x[i]) / 2;
        if (t_range(0, 50) == 0) x[i] = t_range(0, 1) ? -(float)INFINITY : (float)NAN;
    }
    *r = smp_row((float)t_range(1, 20) / 8, 0);
    if (t_range(0, 1)) r->top_k = t_range(1, t_range(0, 1) ? 5 : V + 3);
    if (t_range(0, 1)) r->top_p = (float)t_range(1, 99) / 100;
    if (t_range(0, 3) == 0) r->min_p = (float)t_range(1, 99) / 400;
    if (t_range(0, 3) == 0) r->repetition_penalty = (float)t_range(2, 12) / 8;
    if (t_range(0, 3) == 0) r->presence_penalty = (float)t_range(-8, 8) / 4;
    if (t_range(0, 3) == 0) r->frequency_penalty = (float)t_range(-8, 8) / 4;
    r->bias = bias; r->n_bias = t_range(0, 3) ? 0 : 2;
    for (int i = 0; i < 2; i++) { bias[i].token = t_range(0, V - 1); bias[i].bias = (float)t_range(-40, 40) / 4; }
    if (bias[0].token == bias[1].token) r->n_bias = 0;   /* the order of two additions is not the point */
    r->banned = banned; r->n_banned = t_range(0, 3) ? 0 : 2;
    for (int i = 0; i < 2; i++) banned[i] = t_range(0, V - 1);
    r->tokens = tokens; r->n_tokens = t_range(0, 40); r->n_prompt = t_range(0, r->n_tokens);
    for (int i = 0; i < r->n_tokens; i++) tokens[i] = t_range(-1, V > 8 ? V / 4 : V);
}

static void test_sample_reference(void)
{
    static float x[SMP_V];
    static double weight[SMP_V];
    kvs_logit_bias bias[2];
    int32_t banned[2], tokens[64];
    int cases = t_long ? 60000 : 3000, fair = 0;
    t_seed(11);
    for (int n = 0; n < cases; n++) {
        kvs_sample_row r;
        int V = t_range(0, 1) ? t_range(2, 40) : t_range(2, SMP_V);
        smp_random_row(V, x, &r, bias, banned, tokens);
        if (!smp_reference(x, V, &r, weight)) continue;
        double total = 0, sum = 0;
        for (int i = 0; i < V; i++) total += weight[i];
        if (!(total > 0)) continue;
        fair++;
        for (int draw = 0; draw < 6; draw++) {
            r.u = draw ? (double)(t_rand() >> 11) / 9007199254740992.0 : 1 - 1.0 / 9007199254740992.0;
            int32_t token = smp_token(x, V, &r);
            CHECK_MSG(token >= 0 && token < V, "case %d: token %d of %d", n, (int)token, V);
            if (token < 0 || token >= V) continue;
            CHECK_MSG(weight[token] > 0, "case %d: token %d should have been removed", n, (int)token);
            for (int i = (int)(sum = 0); i < token; i++) sum += weight[i];
            CHECK_MSG(r.u > sum / total - 1e-5 && r.u < (sum + weight[token]) / total + 1e-5,
                      "case %d: u %g drew token %d, whose share is %g to %g", n, r.u, (int)token, sum / total,
                      (sum + weight[token]) / total);
        }
    }
    CHECK_MSG(fair > cases / 2, "only %d of %d cases could be compared", fair, cases);
}

/* ---- golden data: tests/golden/make_sampling.py says what the fields mean ---- */

static int smp_ints(const kvs__json *j, const kvs__json_node *list, int32_t *out, int cap)
{
    int n = 0;
    for (const kvs__json_node *v = kvs__json_first(j, list); v && n < cap; v = kvs__json_next(j, v))
        out[n++] = (int32_t)kvs__json_num(v, -1);
    return n;
}

/* The row that a case asks for; tokens, bias and banned are the caller's memory of 64 each. */
static kvs_sample_row smp_golden_row(const kvs__json *j, const kvs__json_node *c, int32_t *tokens, kvs_logit_bias *bias,
                                     int32_t *banned)
{
    const kvs__json_node *p = kvs__json_get(j, c, "params");
    const kvs__json_node *pair = kvs__json_first(j, kvs__json_get(j, p, "logit_bias"));
    kvs_sample_row r = smp_row((float)kvs__json_num(kvs__json_get(j, p, "temperature"), -1), 0);
    r.top_p = (float)kvs__json_num(kvs__json_get(j, p, "top_p"), -1);
    r.min_p = (float)kvs__json_num(kvs__json_get(j, p, "min_p"), -1);
    r.top_k = (int32_t)kvs__json_num(kvs__json_get(j, p, "top_k"), -1);
    r.repetition_penalty = (float)kvs__json_num(kvs__json_get(j, p, "repetition_penalty"), -1);
    r.presence_penalty = (float)kvs__json_num(kvs__json_get(j, p, "presence_penalty"), -1);
    r.frequency_penalty = (float)kvs__json_num(kvs__json_get(j, p, "frequency_penalty"), -1);
    r.n_prompt = smp_ints(j, kvs__json_get(j, c, "prompt"), tokens, 32);
    r.n_tokens = r.n_prompt + smp_ints(j, kvs__json_get(j, c, "output"), tokens + r.n_prompt, 32);
    for (r.n_bias = 0; pair && r.n_bias < 64; pair = kvs__json_next(j, pair), r.n_bias++) {
        const kvs__json_node *id = kvs__json_first(j, pair);
        bias[r.n_bias].token = (int32_t)kvs__json_num(id, -1);
        bias[r.n_bias].bias = (float)kvs__json_num(kvs__json_next(j, id), 0);
    }
    if (r.n_tokens - r.n_prompt < (int32_t)kvs__json_num(kvs__json_get(j, p, "min_tokens"), -1))
        r.n_banned = smp_ints(j, kvs__json_get(j, p, "stop_ids"), banned, 64);
    r.tokens = tokens; r.bias = bias; r.banned = banned;
    r.n_top = 5;
    return r;
}

/* Draws at both ends and in the middle of each kept token's share, so the shares are right and nothing else is kept. */
static void smp_golden_case(const kvs__json *j, const kvs__json_node *c)
{
    float x[256];
    int32_t tokens[64], banned[64], V = 0, i = 0;
    kvs_logit_bias bias[64];
    size_t len;
    const char *name = kvs__json_str(j, kvs__json_get(j, c, "name"), &len);
    const kvs__json_node *v = kvs__json_first(j, kvs__json_get(j, c, "logits"));
    for (; v && V < 256; v = kvs__json_next(j, v)) x[V++] = (float)kvs__json_num(v, 0);
    kvs_sample_row r = smp_golden_row(j, c, tokens, bias, banned);
    double before = 0;
    const kvs__json_node *kept = kvs__json_first(j, kvs__json_get(j, c, "kept"));
    const kvs__json_node *prob = kvs__json_first(j, kvs__json_get(j, c, "probs"));
    CHECK_MSG(V > 0 && kept && prob, "%s: not a case", name);
    for (; kept && prob; kept = kvs__json_next(j, kept), prob = kvs__json_next(j, prob)) {
        double p = kvs__json_num(prob, -1);
        for (int at = 0; at < 3; at++) {
            r.u = before + (at == 0 ? 1e-6 : at == 1 ? p / 2 : p - 1e-6);
            if (at != 1 && p < 4e-6) continue;
            CHECK_MSG(smp_token(x, V, &r) == (int32_t)kvs__json_num(kept, -1) || (at == 1 && p < 1e-6),
                      "%s: u %g drew token %d, expected %g", name, r.u, (int)r.token, kvs__json_num(kept, -1));
        }
        before += p;
    }
    CHECK_MSG(fabs(before - 1) < 1e-6, "%s: the probabilities sum to %g", name, before);
    for (v = kvs__json_first(j, kvs__json_get(j, c, "top5")); v; v = kvs__json_next(j, v), i++) {
        const kvs__json_node *id = kvs__json_first(j, v);
        double lp = kvs__json_num(kvs__json_next(j, id), 1);
        CHECK_MSG(r.top[i].token == (int32_t)kvs__json_num(id, -1), "%s: top %d is token %d", name, i,
                  (int)r.top[i].token);
        CHECK_MSG(fabs((double)r.top[i].logprob - lp) < 1e-5 * (1 - lp), "%s: top %d has logprob %g, expected %g",
                  name, i, (double)r.top[i].logprob, lp);
    }
    CHECK_EQ_INT(i, 5);
}

static void test_sample_golden(void)
{
    size_t n;
    char *text = t_read("tests/golden/sampling.json", &n);
    kvs__mem mem;
    kvs__json j;
    kvs__err e;
    e.text[0] = 0;
    kvs__mem_init(&mem, NULL);
    memset(&j, 0, sizeof j);
    CHECK_MSG(text != NULL, "tests/golden/sampling.json is missing: run from the repository root");
    if (!text) return;
    kvs_result r = kvs__json_parse(&mem, text, n, "sampling.json", &j, &e);
    CHECK_MSG(r == KVS_OK, "%s", e.text);
    int cases = 0;
    if (r == KVS_OK) {
        const kvs__json_node *c = kvs__json_first(&j, kvs__json_get(&j, kvs__json_root(&j), "cases"));
        for (; c; c = kvs__json_next(&j, c), cases++) smp_golden_case(&j, c);
    }
    CHECK_MSG(cases >= 30, "%d cases", cases);
    kvs__json_free(&j);
    free(text);
}

/* ---- the draw ---- */

static void test_sample_monotone(void)
{
    static float x[SMP_V];
    t_seed(12);
    for (int mode = 0; mode < 6; mode++) {
        kvs_sample_row r = smp_row(mode < 3 ? 1.0f : 0.3f, 0);
        for (int i = 0; i < SMP_V; i++) x[i] = 4 * t_float();
        if (mode % 3 == 1) r.top_k = 40;
        if (mode % 3 == 2) r.top_p = 0.8f;
        int32_t before = 0, token, first;
        first = smp_token(x, SMP_V, &r);                 /* u = 0: the lowest id that is left */
        for (int i = 0; i < 3000; i++) {
            r.u = i / 3000.0;
            token = smp_token(x, SMP_V, &r);
            CHECK_MSG(token >= before && token >= first, "u %g drew token %d after %d", r.u, (int)token, (int)before);
            before = token;
        }
        r.u = 1 - 1.0 / 9007199254740992.0;              /* the largest u: the highest id that is left */
        token = smp_token(x, SMP_V, &r);
        CHECK(token >= before);
        r.u = 1;                                         /* out of range, but no reason to fall off the end */
        CHECK_EQ_INT(smp_token(x, SMP_V, &r), token);
    }
}

/* Shares begin exactly where the sum of those before ends: token i of V equals has u in [i/V, (i+1)/V). */
static void test_sample_edges(void)
{
    static float x[1024];
    static float scratch[3 * 1024];
    for (int i = 0; i < 1024; i++) x[i] = 0.25f;
    for (int i = 0; i < 1024; i++) {
        kvs_sample_row r = smp_row(1, i / 1024.0);
        kvs__sample_row(x, 1024, &r, scratch);
        CHECK_EQ_INT(r.token, i);
        r.u = (i + 1) / 1024.0 - 1e-15;
        kvs__sample_row(x, 1024, &r, scratch);
        CHECK_EQ_INT(r.token, i);
    }
}

/* Pearson's statistic of n draws against the probabilities that the logits mean. */
static double smp_chi_square(const float *x, int V, kvs_sample_row r, const double *p, int n, uint64_t seed)
{
    int seen[64] = {0};
    double chi = 0;
    for (int i = 0; i < n; i++) {
        r.u = kvs__sample_uniform(seed, 0, (uint64_t)i);
        int32_t t = smp_token(x, V, &r);
        if (t >= 0 && t < 64) seen[t]++;
    }
    for (int i = 0; i < V; i++) {
        if (p[i] > 0) chi += (seen[i] - n * p[i]) * (seen[i] - n * p[i]) / (n * p[i]);
        else if (seen[i]) return INFINITY;
    }
    return chi;
}

static void test_sample_chi_square(void)
{
    float x[50];
    double p[50], total = 0;
    int n = t_long ? 200000 : 20000;
    t_seed(13);
    for (int i = 0; i < 50; i++) { x[i] = 1.5f * t_float(); p[i] = exp((double)x[i] / 0.7); total += p[i]; }
    for (int i = 0; i < 50; i++) p[i] /= total;
    for (uint64_t seed = 0; seed < 3; seed++) {
        double chi = smp_chi_square(x, 50, smp_row(0.7f, 0), p, n, seed);
        CHECK_MSG(chi > 18 && chi < 96, "chi-square %g with 49 degrees of freedom (99.99 %% lie between 18 and 96)",
                  chi);
    }
    kvs_sample_row r = smp_row(0.7f, 0);                 /* only the tokens above a line stay: 9 degrees of freedom */
    r.top_k = 10;
    double line[50];
    memcpy(line, p, sizeof p);
    for (int i = 0; i < 50; i++) for (int j = i + 1; j < 50; j++)
        if (line[j] > line[i]) { double t = line[i]; line[i] = line[j]; line[j] = t; }
    total = 0;
    for (int i = 0; i < 50; i++) { if (p[i] < line[9]) p[i] = 0; total += p[i]; }
    for (int i = 0; i < 50; i++) p[i] /= total;
    double chi = smp_chi_square(x, 50, r, p, n, 77);
    CHECK_MSG(chi > 0.7 && chi < 34, "chi-square %g with 9 degrees of freedom", chi);
}

static void test_sample_uniform(void)
{
    int n = 100000, bin[64] = {0};
    double mean = 0, chi = 0, serial = 0, last = 0.5;
    for (int i = 0; i < n; i++) {
        double u = kvs__sample_uniform(42, 1, (uint64_t)i);
        if (!(u >= 0 && u < 1)) { CHECK_MSG(0, "u = %g", u); return; }
        mean += u / n; serial += (u - 0.5) * (last - 0.5) / n; last = u;
        bin[(int)(u * 64)]++;
    }
    for (int i = 0; i < 64; i++) chi += (bin[i] - n / 64.0) * (bin[i] - n / 64.0) / (n / 64.0);
    CHECK_MSG(fabs(mean - 0.5) < 0.004, "mean %g", mean);
    CHECK_MSG(fabs(serial) < 0.001, "neighbours correlate: %g", serial);
    CHECK_MSG(chi > 26 && chi < 115, "chi-square %g with 63 degrees of freedom", chi);
    /* Neighbouring streams share nothing, and a stream is a function of its three numbers. */
    int same = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        double u = kvs__sample_uniform(i, 0, 5);
        same += u == kvs__sample_uniform(i + 1, 0, 5);
        same += u == kvs__sample_uniform(i, 1, 5);
        same += u == kvs__sample_uniform(i, 0, 6);
        same += u == kvs__sample_uniform(i, 1, 4);
        same += u != kvs__sample_uniform(i, 0, 5);
    }
    CHECK_EQ_INT(same, 0);
    CHECK(kvs__sample_uniform(UINT64_MAX, UINT32_MAX, UINT64_MAX) < 1);
    /* The stream is part of what users can rely on: a seed gives the same text in the next version. */
    CHECK_EQ_INT(kvs__sample_uniform(0, 0, 0) * 9007199254740992.0, 1249383295688599);
    CHECK_EQ_INT(kvs__sample_uniform(1234, 2, 100) * 9007199254740992.0, 3305912221001948);
}

/* ---- log-probabilities ---- */

static void test_sample_logprobs(void)
{
    static float x[SMP_V], again[SMP_V];
    t_seed(14);
    for (int n = 0; n < 60; n++) {
        int V = t_range(1, SMP_V);
        double best = -INFINITY, sum = 0;
        for (int i = 0; i < V; i++) {
            x[i] = (n % 3 ? 10.0f : 0.01f) * t_float();
            if (n % 4 == 0) x[i] = (float)(int)x[i];     /* ties */
            if ((double)x[i] > best) best = (double)x[i];
        }
        for (int i = 0; i < V; i++) sum += exp((double)x[i] - best);
        memcpy(again, x, sizeof x);
        kvs_sample_row r = smp_row(1.7f, 0.9);
        r.n_top = KVS_MAX_LOGPROBS; r.top_k = 30;
        int32_t t = smp_token(x, V, &r);
        CHECK(memcmp(again, x, sizeof x) == 0);          /* the logits are kept */
        CHECK_MSG(fabs((double)x[t] - best - log(sum) - (double)r.logprob) < 2e-5, "logprob %g, expected %g",
                  (double)r.logprob, (double)x[t] - best - log(sum));
        for (int i = 0; i < r.n_top && i < V; i++) {
            int32_t id = r.top[i].token, better = 0;
            for (int j = 0; j < V; j++) better += x[j] > x[id] || (!(x[j] < x[id]) && j < id);
            CHECK_EQ_INT(better, i);                     /* exactly i tokens come before it */
            CHECK(fabs((double)x[id] - best - log(sum) - (double)r.top[i].logprob) < 2e-5);
            if (id == t) CHECK(memcmp(&r.logprob, &r.top[i].logprob, sizeof r.logprob) == 0);
        }
        for (int i = V; i < r.n_top; i++) CHECK_EQ_INT(r.top[i].token, -1);
    }
    kvs_sample_row r = smp_row(0, 0);
    memset(r.top, 0x55, sizeof r.top);
    smp_token(x, 4, &r);
    CHECK(r.logprob >= 0 && r.logprob <= 0);             /* not asked for */
    CHECK_EQ_INT(r.top[0].token, 0x55555555);
    r.n_top = 0; x[0] = 5; x[1] = -500;
    kvs_logit_bias bias = {1, 2000.0f};
    r.bias = &bias; r.n_bias = 1;
    smp_token(x, 2, &r);
    CHECK_MSG(fabs((double)r.logprob + 505) < 1e-3, "logprob %g", (double)r.logprob);       /* far, but not lost */
}

/* ---- kvs__sampling_check ---- */

static kvs_sampling smp_sampling(void) { kvs_sampling s; memset(&s, 0, sizeof s); return s; }

static void smp_refused(const kvs_sampling *s, const char *field, const char *got, int line)
{
    kvs__err e;
    e.text[0] = 0;
    kvs_result r = kvs__sampling_check(s, 100, &e);
    CHECK_MSG(r == KVS_ERR_INVALID, "line %d: %s: result %d", line, field, (int)r);
    CHECK_MSG(strstr(e.text, field) && strstr(e.text, got) && strstr(e.text, "expected"), "line %d: message \"%s\"",
              line, e.text);
    CHECK_EQ_INT(kvs__sampling_check(s, 100, NULL), KVS_ERR_INVALID);
}
static void smp_taken(const kvs_sampling *s, const char *field, int line)
{
    kvs__err e;
    e.text[0] = 0;
    CHECK_MSG(kvs__sampling_check(s, 100, &e) == KVS_OK, "line %d: %s: %s", line, field, e.text);
}
#define SMP_REFUSED(field, value, got) do { kvs_sampling t_s = smp_sampling(); t_s.field = value; \
        smp_refused(&t_s, "sampling." #field, got, __LINE__); } while (0)
#define SMP_TAKEN(field, value) do { kvs_sampling t_s = smp_sampling(); t_s.field = value; \
        smp_taken(&t_s, #field, __LINE__); } while (0)

static void test_sampling_check_numbers(void)
{
    const float nan = (float)NAN, inf = (float)INFINITY;
    kvs_sampling zero = smp_sampling();
    CHECK_EQ_INT(kvs__sampling_check(&zero, 100, NULL), KVS_OK);
    CHECK_EQ_INT(kvs__sampling_check(NULL, 100, NULL), KVS_ERR_INVALID);
    SMP_REFUSED(temperature, -0.5f, "got -0.5");
    SMP_REFUSED(temperature, nan, "nan");
    SMP_REFUSED(temperature, inf, "inf");
    SMP_TAKEN(temperature, 0.0f); SMP_TAKEN(temperature, 100.0f); SMP_TAKEN(temperature, 1e-30f);
    SMP_REFUSED(top_p, -0.01f, "got -0.01"); SMP_REFUSED(top_p, 1.5f, "got 1.5"); SMP_REFUSED(top_p, nan, "nan");
    SMP_TAKEN(top_p, 1.0f); SMP_TAKEN(top_p, 1e-20f);
    SMP_REFUSED(top_k, -2, "got -2"); SMP_TAKEN(top_k, -1); SMP_TAKEN(top_k, 1000000);
    SMP_REFUSED(min_p, 1.01f, "got 1.01");
    SMP_REFUSED(min_p, -1.0f, "got -1");
    SMP_REFUSED(min_p, nan, "nan");
    SMP_TAKEN(min_p, 1.0f);
    SMP_REFUSED(repetition_penalty, -1.0f, "got -1");
    SMP_REFUSED(repetition_penalty, inf, "inf");
    SMP_TAKEN(repetition_penalty, 1e-3f);
    SMP_REFUSED(repetition_penalty, nan, "nan");
    SMP_REFUSED(presence_penalty, 2.5f, "got 2.5");
    SMP_REFUSED(presence_penalty, nan, "nan");
    SMP_TAKEN(presence_penalty, -2.0f);
    SMP_REFUSED(frequency_penalty, -2.5f, "got -2.5");
    SMP_REFUSED(frequency_penalty, nan, "nan");
    SMP_TAKEN(frequency_penalty, 2.0f);
    SMP_REFUSED(max_tokens, -1, "got -1");
    SMP_REFUSED(min_tokens, -1, "got -1");
    SMP_TAKEN(max_tokens, 100000000);
    SMP_TAKEN(min_tokens, 5);
    SMP_REFUSED(logprobs, -1, "got -1");
    SMP_REFUSED(logprobs, KVS_MAX_LOGPROBS + 2, "KVS_MAX_LOGPROBS");
    SMP_TAKEN(logprobs, KVS_MAX_LOGPROBS + 1);
    SMP_REFUSED(n, -1, "got -1"); SMP_TAKEN(n, 16);
    kvs_sampling s = smp_sampling();
    s.max_tokens = 4; s.min_tokens = 5;
    smp_refused(&s, "sampling.min_tokens", "<= max_tokens", __LINE__);
    s.min_tokens = 4;
    CHECK_EQ_INT(kvs__sampling_check(&s, 100, NULL), KVS_OK);
    s.max_tokens = 2000000000; s.min_tokens = 0; s.top_k = -2000000000;
    smp_refused(&s, "sampling.top_k", "got -2000000000", __LINE__);
}

static void test_sampling_check_lists(void)
{
    const char *stop[3] = {"\n\n", "", NULL};
    int32_t ids[3] = {99, 0, 100};
    kvs_logit_bias bias[3] = {{99, -100.0f}, {0, (float)INFINITY}, {5, (float)NAN}};
    kvs_sampling s = smp_sampling();
    s.n_stop = 1; smp_refused(&s, "sampling.stop", "NULL", __LINE__);
    s.stop = stop; CHECK_EQ_INT(kvs__sampling_check(&s, 100, NULL), KVS_OK);
    s.n_stop = 2; smp_refused(&s, "sampling.stop[1]", "empty", __LINE__);
    stop[1] = "x"; s.n_stop = 3; smp_refused(&s, "sampling.stop[2]", "NULL", __LINE__);
    s = smp_sampling();
    s.n_stop_token_ids = 3; smp_refused(&s, "sampling.stop_token_ids", "NULL", __LINE__);
    s.stop_token_ids = ids; smp_refused(&s, "sampling.stop_token_ids[2]", "got 100", __LINE__);
    ids[2] = -1; smp_refused(&s, "sampling.stop_token_ids[2]", "got -1", __LINE__);
    s.n_stop_token_ids = 2; CHECK_EQ_INT(kvs__sampling_check(&s, 100, NULL), KVS_OK);
    s = smp_sampling();
    s.n_logit_bias = 3; smp_refused(&s, "sampling.logit_bias", "NULL", __LINE__);
    s.logit_bias = bias; smp_refused(&s, "sampling.logit_bias[2]", "NaN", __LINE__);
    bias[2].bias = 0; bias[2].token = 100; smp_refused(&s, "sampling.logit_bias[2]", "got 100", __LINE__);
    bias[2].token = -5; smp_refused(&s, "sampling.logit_bias[2]", "got -5", __LINE__);
    s.n_logit_bias = 2; CHECK_EQ_INT(kvs__sampling_check(&s, 100, NULL), KVS_OK);
}

SUITE(sample)
{
    RUN(test_sample_greedy);
    RUN(test_sample_odd_logits);
    RUN(test_sample_bias_and_ban);
    RUN(test_sample_penalties);
    RUN(test_sample_min_p);
    RUN(test_sample_top_k);
    RUN(test_sample_top_p);
    RUN(test_sample_reference);
    RUN(test_sample_golden);
    RUN(test_sample_monotone);
    RUN(test_sample_edges);
    RUN(test_sample_chi_square);
    RUN(test_sample_uniform);
    RUN(test_sample_logprobs);
    RUN(test_sampling_check_numbers);
    RUN(test_sampling_check_lists);
}
