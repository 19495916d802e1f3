/* >>sched and >>batch: a simulated engine in which every slot of the pool holds what true KV would be, a hash of the salt and of all
   tokens up to that one. The simulated forward pass writes its slots and then reads every key position its sequences attend to; so a
   block that is shared wrongly, copied too late, published too early or stale is found as wrong content. */

enum { SC_LEN = 160, SC_SEQS = 64, SC_SALTS = 3, SC_POOL = 500 };

typedef struct sc_seq {
    kvs__seq seq;
    int32_t  tokens[SC_LEN], table[SC_LEN];
    uint64_t hist[SC_LEN];                     /* what true KV would be at each position */
    int32_t  n_max, salt, greedy, live, was_running;
    int32_t  n_known, known[SC_LEN];           /* its table after the last step: what is new since is undefined memory */
    int32_t  first_hit;                        /* blocks of the prompt found at the first admission, -1 before it */
    uint64_t arrival; int32_t admissions;      /* its place in the order of arrival, for good; before this plan */
    int32_t  owed;                             /* it was running before this plan and needs one token */
} sc_seq;

typedef struct sc_sim {
    kvs__mem mem;
    kvs_blocks *blk;
    kvs__sched  s;
    kvs__batch  batch;
    sc_seq  *seq;                              /* [SC_SEQS] */
    uint64_t *kv;                              /* [NB][BS] */
    int32_t *scratch;
    int32_t  alphabet, L, stop_chance, last_len;
    int32_t  last[SC_LEN], last_salt;          /* what finished last: to be continued */
    int      bad, episode;
    kvs__seq *head;                            /* first of the running queue before the plan */
    int32_t  planned, was_running;
    uint64_t preemptions;                      /* before the plan */
    uint64_t junk, ops, rows, aborts, finished;
} sc_sim;

static const char *const sc_salt[SC_SALTS] = {"", "alice", "bob"};

static uint64_t sc_mix(uint64_t h, int32_t token) { return kvs__mix(kvs__mix(h + 1) + (uint64_t)token); }
static uint64_t sc_start(int32_t salt) { return kvs__mix((uint64_t)salt + 77); }
static sc_seq *sc_of(const kvs__seq *x) { return (sc_seq *)x->owner; }

/* A check that ends the episode: what follows a broken state says nothing. */
#define SC_CHECK(m, cond, ...) do { if (!(cond) && !(m)->bad) { \
        (m)->bad = 1; \
        CHECK_MSG(0, "episode %d, operation %llu: %s", (m)->episode, (unsigned long long)(m)->ops, #cond); \
        printf("    " __VA_ARGS__); printf("\n"); } } while (0)

static int sc_open(sc_sim *m, const kvs__sched_config *cfg, int32_t NB, int32_t BS, int prefix)
{
    kvs_blocks_config bc;
    memset(m, 0, sizeof *m);
    memset(&bc, 0, sizeof bc);
    kvs__mem_init(&m->mem, NULL);
    bc.num_blocks = NB; bc.block_size = BS; bc.no_prefix_cache = !prefix;
    m->seq = (sc_seq *)kvs__alloc(&m->mem, SC_SEQS, sizeof *m->seq);
    m->kv = (uint64_t *)kvs__alloc(&m->mem, (size_t)NB * (size_t)BS, sizeof *m->kv);
    m->scratch = (int32_t *)kvs__alloc(&m->mem, (size_t)NB, sizeof *m->scratch);
    m->alphabet = 3; m->L = cfg->max_blocks_per_seq * BS;
    return kvs_blocks_open(&bc, &m->blk) == KVS_OK && kvs__sched_open(&m->mem, m->blk, cfg, &m->s) == KVS_OK &&
           kvs__batch_open(&m->mem, cfg->max_tokens, cfg->max_seqs, cfg->max_blocks_per_seq, &m->batch) == KVS_OK ? 0 : -1;
}

static void sc_close(sc_sim *m)
{
    kvs__batch_close(&m->mem, &m->batch);
    kvs__sched_close(&m->mem, &m->s);
    kvs_blocks_close(m->blk);
    kvs__free(&m->mem, m->seq); kvs__free(&m->mem, m->kv); kvs__free(&m->mem, m->scratch);
    CHECK_EQ_INT(m->mem.live, 0);
}

static void sc_push(sc_seq *q, int32_t token)
{
    int32_t p = q->seq.n_tokens++;
    q->tokens[p] = token;
    q->hist[p] = sc_mix(p ? q->hist[p - 1] : sc_start(q->salt), token);
}

static int32_t sc_live(const sc_sim *m)
{
    int32_t n = 0;
    for (int i = 0; i < SC_SEQS; i++) n += m->seq[i].live;
    return n;
}

static sc_seq *sc_free_seq(sc_sim *m)
{
    for (int i = 0; i < SC_SEQS; i++) if (!m->seq[i].live) return &m->seq[i];
    return NULL;
}

/* Submits n outputs of a prompt, each of n_out tokens at most. Returns the leader, NULL if it was refused or the table is full. */
static sc_seq *sc_submit(sc_sim *m, const int32_t *tokens, int32_t n_prompt, int32_t n_out, int32_t n, int32_t salt, int32_t priority)
{
    sc_seq *leader = NULL, *before = NULL;
    int64_t need, have;
    if (sc_live(m) + n > SC_SEQS || !kvs__sched_fits(&m->s, n_prompt + n_out, n, &need, &have)) return NULL;
    for (int32_t i = 0; i < n; i++) {
        sc_seq *q = sc_free_seq(m);
        memset(q, 0, sizeof *q);
        q->seq.tokens = q->tokens; q->seq.table = q->table; q->seq.token_cap = q->seq.table_cap = SC_LEN;
        q->seq.owner = q; q->seq.priority = priority; q->seq.root = kvs__pfx_root(m->blk, sc_salt[salt]);
        q->seq.n_prompt = n_prompt;
        q->salt = salt; q->n_max = n_prompt + n_out; q->live = 1; q->first_hit = -1; q->greedy = 1;
        for (int32_t k = 0; k < n_prompt; k++) sc_push(q, tokens[k]);
        if (before) before->seq.sibling = &q->seq; else leader = q;
        before = q;
    }
    kvs__sched_add(&m->s, &leader->seq);
    for (kvs__seq *x = &leader->seq; x; x = x->sibling) sc_of(x)->arrival = x->arrival;
    return leader;
}

/* Sequences that the scheduler let go: also those that were taken along by their leader. */
static void sc_sweep(sc_sim *m)
{
    for (int i = 0; i < SC_SEQS; i++) {
        sc_seq *q = &m->seq[i];
        if (!q->live || q->seq.state != KVS__SEQ_DONE) continue;
        SC_CHECK(m, q->seq.n_blocks == 0, "a sequence that is gone holds %d blocks", q->seq.n_blocks);
        q->live = 0;
    }
}

static void sc_cancel(sc_sim *m, sc_seq *q)
{
    kvs__sched_remove(&m->s, &q->seq);
    sc_sweep(m);
}

/* ---- one step, with everything that must hold between its parts ---- */

static void sc_before_plan(sc_sim *m)
{
    m->head = m->s.running.head;
    m->was_running = m->s.running.count;
    m->preemptions = m->s.preemptions;
    for (int i = 0; i < SC_SEQS; i++) {
        sc_seq *q = &m->seq[i];
        q->was_running = q->live && q->seq.state == KVS__SEQ_RUNNING;
        q->admissions = q->seq.admissions;
        q->owed = q->was_running && q->seq.n_tokens - q->seq.n_computed == 1;
    }
}

/* Queue order, static batching, nobody new while somebody had to go, hits counted at the first admission only. */
static void sc_check_queues(sc_sim *m)
{
    const kvs__sched *s = &m->s;
    for (const kvs__seq *x = s->running.head; x; x = x->next) {
        sc_seq *q = sc_of(x);
        SC_CHECK(m, s->cfg.batching == KVS_BATCHING_CONTINUOUS || !m->was_running || q->was_running, "admitted before the batch drained");
        SC_CHECK(m, s->preemptions == m->preemptions || q->admissions == x->admissions, "admitted where another had to go");
        SC_CHECK(m, x->arrival == q->arrival, "it lost its place");
        if (q->first_hit < 0) q->first_hit = x->hit.n_blocks;
        SC_CHECK(m, x->hit.n_blocks == q->first_hit && x->hit.n_blocks * m->blk->BS < x->n_prompt, "cached blocks: %d, at first %d, prompt %d",
                 x->hit.n_blocks, q->first_hit, x->n_prompt);
    }
    if (s->cfg.policy == KVS_POLICY_FCFS && s->running.tail && s->waiting.head)
        SC_CHECK(m, s->running.tail->arrival < s->waiting.head->arrival, "somebody overtook");
}

static void sc_check_plan(sc_sim *m)
{
    const kvs__sched *s = &m->s;
    int32_t sum = 0;
    SC_CHECK(m, m->planned >= 0 && m->planned <= s->cfg.max_tokens && s->n_step <= s->cfg.max_seqs, "%d tokens, %d sequences", m->planned, s->n_step);
    SC_CHECK(m, m->planned > 0 || !sc_live(m), "nothing planned, but %d wait", sc_live(m));
    if (m->head) SC_CHECK(m, s->running.head && s->n_step > 0 && m->head->state == KVS__SEQ_RUNNING && s->step[0] == m->head, "the first does not get on");
    for (int32_t i = 0; i < s->n_step && !m->bad; i++) {
        const kvs__seq *x = s->step[i];
        sum += x->n_now;
        SC_CHECK(m, x->state == KVS__SEQ_RUNNING && x->n_now > 0 && x->n_computed + x->n_now <= x->n_tokens, "%d tokens now", x->n_now);
        SC_CHECK(m, !s->cfg.no_chunked_prefill || x->n_computed + x->n_now == x->n_tokens, "a prompt was cut");
        for (int32_t k = 0; k < i; k++) SC_CHECK(m, s->step[k] != x, "planned twice");
        sc_of(x)->owed = 0;
    }
    SC_CHECK(m, sum == m->planned, "%d tokens planned, %d in the step", m->planned, sum);
    for (int i = 0; i < SC_SEQS; i++)                        /* a long prompt does not hold up those who need one token */
        SC_CHECK(m, !m->seq[i].owed || m->seq[i].seq.state != KVS__SEQ_RUNNING || s->cfg.no_chunked_prefill || m->was_running > s->cfg.max_tokens,
                 "a decode was left out of the step");
    sc_check_queues(m);
}

/* What was allocated by the plan holds anything at all. */
static void sc_poison(sc_sim *m)
{
    int32_t BS = m->blk->BS;
    for (int i = 0; i < SC_SEQS; i++) {
        sc_seq *q = &m->seq[i];
        for (int32_t k = 0; q->live && k < q->seq.n_blocks; k++) {
            int32_t t = q->table[k];
            if ((k < q->n_known && q->known[k] == t) || m->blk->block[t].published) continue;
            SC_CHECK(m, m->blk->block[t].ref == 1, "new block %d has %d holders", t, m->blk->block[t].ref);
            for (int32_t j = 0; j < BS; j++) m->kv[t * BS + j] = ++m->junk;
        }
    }
}

static void sc_copies(sc_sim *m)
{
    size_t BS = (size_t)m->blk->BS;
    for (int32_t i = 0; i < m->s.n_copy; i++)
        memcpy(m->kv + (size_t)m->s.copy[i].dst * BS, m->kv + (size_t)m->s.copy[i].src * BS, BS * sizeof *m->kv);
    SC_CHECK(m, m->s.n_copy <= m->blk->NB + m->s.cfg.max_seqs, "%d copies", m->s.n_copy);
    m->s.n_copy = 0;
}

/* Writes the rows of the batch; junk if the backend fails half-way. */
static void sc_write(sc_sim *m, int fails)
{
    const kvs_batch *v = &m->batch.v;
    SC_CHECK(m, v->T == m->planned && v->S == m->s.n_step && v->q_start[v->S] == v->T, "%d rows", v->T);
    for (int32_t r = 0; r < v->T && !m->bad; r++) {
        const sc_seq *q = sc_of(m->s.step[v->seq[r]]);
        const kvs__block *b = &m->blk->block[v->slot[r] / m->blk->BS];
        SC_CHECK(m, b->ref == 1 && !b->published, "writes into block %d: %d holders, published %d", (int)(v->slot[r] / m->blk->BS), b->ref, b->published);
        SC_CHECK(m, v->token[r] == q->tokens[v->pos[r]], "row %d has token %d at %d", r, v->token[r], v->pos[r]);
        m->kv[v->slot[r]] = fails ? ++m->junk : q->hist[v->pos[r]];
    }
    m->rows += (uint64_t)v->T;
}

/* Reads all keys of all sequences through the batch's tables. */
static void sc_read(sc_sim *m)
{
    const kvs_batch *v = &m->batch.v;
    int32_t BS = m->blk->BS, logits = 0;
    for (int32_t i = 0; i < v->S && !m->bad; i++) {
        const sc_seq *q = sc_of(m->s.step[i]);
        const int32_t *table = v->block_table + (size_t)i * (size_t)v->table_stride;
        SC_CHECK(m, v->pos[v->q_start[i + 1] - 1] == v->kv_len[i] - 1, "sequence %d ends at %d", i, v->kv_len[i]);
        for (int32_t p = 0; p < v->kv_len[i] && !m->bad; p++)
            SC_CHECK(m, m->kv[table[p / BS] * BS + p % BS] == q->hist[p], "block %d does not hold position %d of %d", table[p / BS], p, v->kv_len[i]);
        if (v->kv_len[i] < q->seq.n_tokens) { SC_CHECK(m, q->seq.logit == -1, "an unfinished prompt has logits"); continue; }
        SC_CHECK(m, q->seq.logit == logits && v->logit_row[logits] == v->q_start[i + 1] - 1, "logits of row %d", v->logit_row[logits]);
        logits++;
    }
    SC_CHECK(m, logits == v->n_logits, "%d rows of logits", v->n_logits);
}

static void sc_accept(sc_sim *m)
{
    for (int32_t i = 0; i < m->s.n_step && !m->bad; i++) {
        sc_seq *q = sc_of(m->s.step[i]);
        if (q->seq.logit < 0) continue;
        SC_CHECK(m, q->seq.n_computed == q->seq.n_tokens && q->seq.state == KVS__SEQ_RUNNING, "sampled before all is computed");
        uint64_t pick = q->greedy ? q->hist[q->seq.n_tokens - 1] : t_rand();
        sc_push(q, (int32_t)(pick % (uint64_t)m->alphabet));
        if (q->seq.n_tokens < q->n_max && !(m->stop_chance && t_range(1, m->stop_chance) == 1)) continue;
        m->last_len = q->seq.n_tokens; m->last_salt = q->salt;
        memcpy(m->last, q->tokens, sizeof m->last);
        m->finished++;
        kvs__sched_remove(&m->s, &q->seq);
    }
}

/* The backend failed: everybody in the step is ended, with all outputs of the same prompt that still wait for the fork. */
static void sc_abort(sc_sim *m)
{
    for (int32_t i = 0; i < m->s.n_step; i++) kvs__sched_remove(&m->s, m->s.step[i]);
    m->s.n_step = m->s.n_copy = 0;
    m->aborts++;
}

static void sc_after(sc_sim *m)
{
    kvs__err e = {""};
    sc_sweep(m);
    for (int i = 0; i < SC_SEQS; i++) {
        sc_seq *q = &m->seq[i];
        q->n_known = q->live ? q->seq.n_blocks : 0;
        if (q->n_known) memcpy(q->known, q->table, (size_t)q->n_known * sizeof *q->known);
    }
    SC_CHECK(m, kvs__sched_check(&m->s, m->scratch, &e) == KVS_OK, "%s", e.text);
}

/* Returns the tokens computed. */
static int32_t sc_step_or_fail(sc_sim *m, int fails)
{
    sc_before_plan(m);
    m->planned = kvs__sched_plan(&m->s);
    sc_check_plan(m);
    if (m->planned > 0 && !m->bad) {
        sc_poison(m);
        kvs__batch_build(&m->batch, &m->s);
        sc_copies(m);
        sc_write(m, fails);
        if (fails) sc_abort(m);
        else {
            sc_read(m);
            kvs__sched_commit(&m->s);
            SC_CHECK(m, m->s.n_step <= m->s.cfg.max_seqs, "%d sequences after the forks", m->s.n_step);
            sc_copies(m);
            sc_accept(m);
        }
    }
    sc_after(m);
    return m->planned;
}
static int32_t sc_step(sc_sim *m) { return sc_step_or_fail(m, 0); }

/* Every published block holds what its name promises, though perhaps nobody reads it; and no content is there twice. */
static void sc_check_cache(sc_sim *m)
{
    const kvs_blocks *b = m->blk;
    int32_t BS = b->BS;
    for (int32_t i = 0; i < b->NB && !m->bad; i++) {
        const kvs__block *x = &b->block[i];
        int32_t salt = 0;
        if (!x->published) continue;
        while (salt < SC_SALTS - 1 && !kvs__key_eq(x->root, kvs__pfx_root(b, sc_salt[salt]))) salt++;
        uint64_t h = x->parent < 0 ? sc_start(salt) : m->kv[x->parent * BS + BS - 1];
        for (int32_t j = 0; j < BS; j++) {
            h = sc_mix(h, b->tokens[i * BS + j]);
            SC_CHECK(m, m->kv[i * BS + j] == h, "published block %d does not hold its tokens at %d", i, j);
        }
        for (int32_t k = 0; k < i; k++)
            SC_CHECK(m, !b->block[k].published || m->kv[k * BS + BS - 1] != h, "blocks %d and %d are published with the same content", k, i);
    }
}

static void sc_check_empty(sc_sim *m)
{
    const kvs_blocks *b = m->blk;
    SC_CHECK(m, b->used == 0 && b->free.count + b->lru.count == b->NB, "%d blocks leaked", b->used);
    SC_CHECK(m, m->s.slots == 0 && m->s.running.count == 0 && m->s.waiting.count == 0, "%d slots leaked", m->s.slots);
}

/* Steps until all is done. First come, first served: whoever is the oldest computes a token in each step, which bounds their number. */
static void sc_drain(sc_sim *m)
{
    int64_t bound = 1, steps = 0;
    for (int i = 0; i < SC_SEQS; i++) bound += m->seq[i].live ? m->seq[i].n_max : 0;
    if (m->s.cfg.policy == KVS_POLICY_PRIORITY) bound = 8 * bound + 100;     /* who is overtaken starts over */
    while (sc_live(m) && !m->bad) {
        sc_step(m);
        m->ops++;
        SC_CHECK(m, ++steps <= bound, "%d sequences are not done after %lld steps", sc_live(m), (long long)steps);
    }
    sc_check_cache(m);
    if (!m->bad) sc_check_empty(m);
}

/* ---- the fuzz ---- */

typedef struct sc_totals { uint64_t ops, rows, preemptions, forks, copies, hits, evictions, aborts, finished, refused, resumed; } sc_totals;

/* A prompt: random, the beginning of one that others use too, or a continuation of what finished last. Returns its length. */
static int32_t sc_prompt(sc_sim *m, int32_t (*shared)[SC_LEN], int32_t *tokens, int32_t *salt)
{
    int32_t n = t_range(1, m->L - 1), same = 0, kind = t_range(0, 3);
    const int32_t *from = shared[t_range(0, 2)];
    *salt = t_range(0, 3) ? 0 : t_range(0, SC_SALTS - 1);
    if (kind == 3 && m->last_len) { from = m->last; *salt = m->last_salt; same = KVS__MIN(m->last_len, n); }
    else if (kind) same = t_range(0, n);
    if (t_range(0, 3) == 0 && same >= m->blk->BS) n = same = same / m->blk->BS * m->blk->BS;      /* a full hit */
    for (int32_t i = 0; i < n; i++) tokens[i] = i < same ? from[i] : t_range(0, m->alphabet - 1);
    return n;
}

static void sc_random_submit(sc_sim *m, int32_t (*shared)[SC_LEN], sc_totals *t)
{
    int32_t tokens[SC_LEN], salt, n_prompt = sc_prompt(m, shared, tokens, &salt), n = t_range(0, 2) ? 1 : t_range(1, 4);
    int32_t n_out = t_range(1, t_range(0, 1) ? m->L - n_prompt : KVS__MIN(8, m->L - n_prompt)), NB = m->blk->NB, run = m->s.cfg.max_blocks_per_seq;
    int fits = m->s.cfg.layout == KVS_LAYOUT_STATIC ? n * run <= NB / run * run : (n_prompt + n_out - 2) / m->blk->BS + (n_prompt + n_out > 1) <= NB;
    int full = sc_live(m) + n > SC_SEQS;
    sc_seq *q = sc_submit(m, tokens, n_prompt, n_out, n, salt, t_range(0, 3));
    fits = fits && n <= m->s.cfg.max_seqs;
    SC_CHECK(m, full || (q != NULL) == fits, "%d tokens, %d times: %s", n_prompt + n_out, n, q ? "accepted" : "refused");
    t->refused += !fits;
    for (kvs__seq *x = q ? &q->seq : NULL; x; x = x->sibling) sc_of(x)->greedy = t_range(0, 1);
}

static void sc_random_cancel(sc_sim *m)
{
    sc_seq *q = &m->seq[t_range(0, SC_SEQS - 1)];
    if (!q->live) return;
    if (t_range(0, 1)) { sc_cancel(m, q); return; }
    kvs__seq *leader = q->seq.leader;                        /* the whole group, in either order */
    int forward = t_range(0, 1);
    for (int i = 0; i < SC_SEQS; i++) {
        sc_seq *y = &m->seq[forward ? i : SC_SEQS - 1 - i];
        if (y->live && y->seq.leader == leader) kvs__sched_remove(&m->s, &y->seq);
    }
    sc_sweep(m);
}

/* A random machine. Returns -1 if it could not be opened. */
static int sc_random_open(sc_sim *m, int episode)
{
    static const int32_t block_size[] = {4, 16, 4, 1}, pool[] = {3, 8, 40, SC_POOL};
    static const uint64_t mask[] = {~0ull, ~0ull, 0, 1, 7};
    kvs__sched_config c;
    memset(&c, 0, sizeof c);
    int32_t BS = block_size[t_range(0, 3)], NB = t_range(3, pool[t_range(0, 3)]), L = t_range(2, t_range(0, 1) ? SC_LEN : 40);
    if (t_range(0, 3)) L = KVS__MAX(2, KVS__MIN(L, NB * BS));            /* else some requests can never fit */
    c.max_seqs = t_range(1, 16); c.max_tokens = t_range(1, t_range(0, 1) ? 64 : 8);
    c.max_blocks_per_seq = (L + BS - 1) / BS;
    c.policy = (kvs_policy)t_range(0, 1);
    c.layout = t_range(0, 4) ? KVS_LAYOUT_PAGED : KVS_LAYOUT_STATIC;
    c.batching = t_range(0, 4) ? KVS_BATCHING_CONTINUOUS : KVS_BATCHING_STATIC;
    c.no_chunked_prefill = t_range(0, 4) == 0;
    if (c.no_chunked_prefill) c.max_tokens = KVS__MAX(c.max_tokens, L);
    if (sc_open(m, &c, NB, BS, c.layout == KVS_LAYOUT_PAGED && t_range(0, 4))) return -1;
    m->L = L; m->alphabet = t_range(1, 3); m->stop_chance = t_range(0, 1) * 20; m->episode = episode;
    m->blk->hash_mask = mask[t_range(0, 4)];
    return 0;
}

/* One machine: some hundred operations under a random load, then until it has drained. */
static int sc_episode(int episode, sc_totals *t)
{
    sc_sim m;
    int32_t shared[3][SC_LEN];
    t_seed((uint64_t)episode + 1);
    CHECK(sc_random_open(&m, episode) == 0);
    for (int i = 0; i < 3; i++) for (int k = 0; k < SC_LEN; k++) shared[i][k] = t_range(0, m.alphabet - 1);
    int load = t_range(5, 60), cancels = t_range(0, 6), fails = t_range(0, 3) == 0;
    for (int i = t_range(50, 700); i > 0 && !m.bad; i--, m.ops++) {
        int r = t_range(0, 99);
        if (r < load) sc_random_submit(&m, shared, t);
        else if (r < load + cancels) sc_random_cancel(&m);
        else sc_step_or_fail(&m, fails && t_range(0, 40) == 0);
        if (i % 64 == 0) sc_check_cache(&m);
    }
    sc_drain(&m);
    t->ops += m.ops; t->rows += m.rows; t->preemptions += m.s.preemptions; t->forks += m.s.forks; t->copies += m.s.block_copies;
    t->hits += m.blk->hits; t->evictions += m.blk->evictions; t->aborts += m.aborts; t->finished += m.finished;
    sc_close(&m);
    return m.bad ? -1 : 0;
}

static void test_sched_fuzz(void)
{
    sc_totals t;
    uint64_t want = t_long ? 10000000 : 400000;
    int failures = 0;
    memset(&t, 0, sizeof t);
    for (int episode = 0; t.ops < want && failures < 3; episode++) failures += sc_episode(episode, &t) != 0;
    if (failures) return;
    CHECK_MSG(t.rows > t.ops && t.finished > t.ops / 50 && t.preemptions > t.ops / 500 && t.forks > t.ops / 500 && t.copies > t.ops / 1000 &&
              t.hits > t.ops / 50 && t.evictions > t.ops / 100 && t.aborts > t.ops / 5000 && t.refused > 10,
              "it did not meet everything: %llu operations, %llu rows, %llu finished, %llu preemptions, %llu forks, %llu copies, %llu hits, "
              "%llu evictions, %llu aborts, %llu refused", (unsigned long long)t.ops, (unsigned long long)t.rows, (unsigned long long)t.finished,
              (unsigned long long)t.preemptions, (unsigned long long)t.forks, (unsigned long long)t.copies, (unsigned long long)t.hits,
              (unsigned long long)t.evictions, (unsigned long long)t.aborts, (unsigned long long)t.refused);
}

/* ---- one situation each ---- */

static kvs__sched_config sc_config(int32_t max_seqs, int32_t max_tokens, int32_t max_blocks)
{
    kvs__sched_config c;
    memset(&c, 0, sizeof c);
    c.max_seqs = max_seqs; c.max_tokens = max_tokens; c.max_blocks_per_seq = max_blocks;
    return c;
}

/* Submits n tokens first, first + 1, ... as a prompt. */
static sc_seq *sc_ask(sc_sim *m, int32_t first, int32_t n, int32_t n_out, int32_t outputs, int32_t priority)
{
    int32_t tokens[SC_LEN];
    for (int32_t i = 0; i < n; i++) tokens[i] = first + i;
    return sc_submit(m, tokens, n, n_out, outputs, 0, priority);
}

static void sc_steps(sc_sim *m, int n) { while (n-- > 0) sc_step(m); }

static int32_t sc_made(const sc_seq *q) { return q->seq.n_tokens - q->seq.n_prompt; }

static void test_sched_full_hit_leaves_a_query(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 64, 8);
    CHECK(sc_open(&m, &c, 16, 4, 1) == 0);
    sc_ask(&m, 1, 12, 1, 1, 0);
    CHECK_EQ_INT(sc_step(&m), 12);
    sc_seq *q = sc_ask(&m, 1, 12, 1, 1, 0);                  /* all three blocks are cached, but the last token has no logits yet */
    CHECK_EQ_INT(sc_step(&m), 4);
    CHECK(q->seq.hit.n_blocks == 2 && q->seq.hit.miss == KVS_MISS_NONE && sc_made(q) == 1);
    q = sc_ask(&m, 1, 13, 1, 1, 0);                          /* one token more: the third block is a hit */
    CHECK_EQ_INT(sc_step(&m), 1);
    CHECK(q->seq.hit.n_blocks == 3 && q->seq.hit.miss == KVS_MISS_PARTIAL && q->seq.hit.miss_index == 12);
    sc_drain(&m);
    sc_close(&m);
}

static void test_sched_aborted_prefill(void)
{
    for (int how = 0; how < 2; how++) {                      /* the backend fails in the second chunk; cancelled after the first */
        sc_sim m;
        kvs__sched_config c = sc_config(4, 10, 16);
        CHECK(sc_open(&m, &c, 16, 4, 1) == 0);
        sc_seq *q = sc_ask(&m, 1, 30, 4, 2, 0);
        sc_step(&m);
        CHECK(q->seq.n_computed == 10 && q->seq.n_published == 2);
        if (how == 0) sc_step_or_fail(&m, 1); else sc_cancel(&m, q);
        CHECK(sc_live(&m) == 0 && m.blk->used == 0 && m.blk->lru.count == 2 && m.s.slots == 0);
        q = sc_ask(&m, 1, 30, 4, 1, 0);
        sc_step(&m);
        CHECK_EQ_INT(q->seq.hit.n_blocks, 2);                /* only what was computed; the simulation checks its content */
        sc_drain(&m);
        sc_close(&m);
    }
}

static void test_sched_fork_copies_on_write(void)
{
    for (int prefix = 0; prefix < 2; prefix++) {
        sc_sim m;
        kvs__sched_config c = sc_config(8, 64, 8);
        CHECK(sc_open(&m, &c, 16, 4, prefix) == 0);
        sc_seq *a = sc_ask(&m, 1, 6, 6, 3, 0), *b = sc_of(a->seq.sibling), *d = sc_of(b->seq.sibling);
        CHECK_EQ_INT(sc_step(&m), 6);                        /* the prompt is computed once, and each output gets its first token */
        CHECK(sc_made(a) == 1 && sc_made(b) == 1 && sc_made(d) == 1 && m.s.forks == 2 && m.s.block_copies == 0 && m.blk->used == 2);
        CHECK(m.blk->block[a->table[0]].ref == 3 && m.blk->block[a->table[1]].ref == 3 && a->table[1] == d->table[1]);
        a->greedy = b->greedy = d->greedy = 0;
        int32_t shared = a->table[1];
        CHECK_EQ_INT(sc_step(&m), 3);                        /* two copy the partial block; the last one to write has it to itself */
        CHECK(m.s.block_copies == 2 && m.blk->used == 4 && a->table[1] != b->table[1] && d->table[1] == shared);
        CHECK(m.blk->block[a->table[0]].ref == 3 && m.blk->block[shared].ref == 1);
        sc_drain(&m);
        sc_close(&m);
    }
    sc_sim m;
    kvs__sched_config c = sc_config(8, 64, 8);
    CHECK(sc_open(&m, &c, 16, 4, 1) == 0);
    sc_ask(&m, 1, 8, 6, 4, 0);                               /* the prompt ends with a block: nothing to copy */
    sc_drain(&m);
    CHECK(m.s.forks == 3 && m.s.block_copies == 0);
    sc_close(&m);
}

/* No block for the copy: the sibling is squeezed out, and then the block is no longer shared, so the leader stays. */
static void test_sched_fork_in_a_full_pool(void)
{
    for (int prefix = 0; prefix < 2; prefix++) {
        sc_sim m;
        kvs__sched_config c = sc_config(4, 64, 3);
        CHECK(sc_open(&m, &c, 3, 4, prefix) == 0);
        sc_seq *a = sc_ask(&m, 1, 9, 3, 2, 0), *b = sc_of(a->seq.sibling);
        sc_steps(&m, 2);
        CHECK(a->seq.preemptions == 0 && b->seq.preemptions == 1 && sc_made(a) == 2 && sc_made(b) == 1 && m.s.block_copies == 0);
        sc_drain(&m);
        CHECK_EQ_INT(a->seq.preemptions, 0);
        sc_close(&m);
    }
}

static void test_sched_refused(void)
{
    sc_sim m;
    int64_t need, have;
    kvs__sched_config c = sc_config(3, 64, 10);
    CHECK(sc_open(&m, &c, 8, 4, 1) == 0);
    CHECK(kvs__sched_fits(&m.s, 33, 1, &need, &have) && need == 8 && have == 8);       /* the last token's KV is never needed */
    CHECK(!kvs__sched_fits(&m.s, 34, 1, &need, &have) && need == 9 && have == 8);
    CHECK(kvs__sched_fits(&m.s, 33, 3, &need, &have));                                 /* they take turns */
    CHECK(!kvs__sched_fits(&m.s, 5, 4, &need, &have) && need == 1 && have == 8);       /* four sequences, three may run */
    CHECK(!kvs__sched_fits(&m.s, INT32_MAX, 1, &need, &have) && need == INT32_MAX / 4 + 1);
    CHECK(!sc_ask(&m, 1, 33, 1, 1, 0) && sc_live(&m) == 0);
    sc_ask(&m, 1, 32, 1, 1, 0);
    sc_drain(&m);
    sc_close(&m);
    c.layout = KVS_LAYOUT_STATIC; c.max_blocks_per_seq = 3;
    CHECK(sc_open(&m, &c, 8, 4, 0) == 0);
    CHECK(kvs__sched_fits(&m.s, 5, 2, &need, &have) && need == 6 && have == 6);        /* two blocks are left over: no run fits */
    CHECK(!kvs__sched_fits(&m.s, 5, 3, &need, &have) && need == 9 && have == 6);
    sc_close(&m);
}

static void test_sched_order(void)
{
    for (int priority = 0; priority < 2; priority++) {
        sc_sim m;
        int32_t done[4], n = 0;
        static const int32_t urgency[] = {5, 7, -1, 5}, expect[2][4] = {{0, 1, 2, 3}, {2, 0, 3, 1}};
        kvs__sched_config c = sc_config(1, 64, 8);
        c.policy = priority ? KVS_POLICY_PRIORITY : KVS_POLICY_FCFS;
        CHECK(sc_open(&m, &c, 16, 4, 1) == 0);
        sc_seq *q[4];
        for (int i = 0; i < 4; i++) q[i] = sc_ask(&m, 10 * i, 5, 2, 1, urgency[i]);
        for (int step = 0; step < 8; step++) {
            sc_step(&m);
            for (int i = 0; i < 4; i++) if (q[i] && !q[i]->live) { done[n++] = i; q[i] = NULL; }
        }
        CHECK(n == 4 && memcmp(done, expect[priority], sizeof done) == 0);
        sc_close(&m);
    }
}

static void test_sched_decodes_beside_a_long_prompt(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(8, 8, 40);
    CHECK(sc_open(&m, &c, 60, 4, 1) == 0);
    sc_seq *q[3];
    for (int i = 0; i < 3; i++) q[i] = sc_ask(&m, 10 * i, 2, 40, 1, 0);
    sc_step(&m);
    sc_seq *p = sc_ask(&m, 100, 50, 2, 1, 0);
    for (int step = 1; step <= 10; step++) {
        CHECK_EQ_INT(sc_step(&m), 8);                        /* three decodes and five tokens of the prompt */
        CHECK_EQ_INT(p->seq.n_computed, 5 * step);
        for (int i = 0; i < 3; i++) CHECK_EQ_INT(sc_made(q[i]), 1 + step);
    }
    CHECK_EQ_INT(sc_made(p), 1);
    sc_drain(&m);
    sc_close(&m);
}

/* More sequences than tokens per step: the oldest get them. */
static void test_sched_budget_below_sequences(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 4, 8);
    CHECK(sc_open(&m, &c, 40, 4, 1) == 0);
    sc_seq *q[4];
    for (int i = 0; i < 4; i++) q[i] = sc_ask(&m, 10 * i, 1, 10, 1, 0);
    sc_step(&m);
    m.s.cfg.max_tokens = 2;
    sc_steps(&m, 3);
    CHECK(sc_made(q[0]) == 4 && sc_made(q[1]) == 4 && sc_made(q[2]) == 1 && sc_made(q[3]) == 1);
    sc_drain(&m);
    sc_close(&m);
}

/* A prompt that became the first of the queue among decodes that use up the budget still gets on. */
static void test_sched_urgent_prompt_among_decodes(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 4, 8);
    c.policy = KVS_POLICY_PRIORITY;
    CHECK(sc_open(&m, &c, 40, 4, 1) == 0);
    for (int i = 0; i < 3; i++) sc_ask(&m, 10 * i, 1, 20, 1, 1);
    sc_step(&m);
    sc_seq *p = sc_ask(&m, 100, 8, 2, 1, 0);
    sc_step(&m);
    CHECK(p->seq.n_computed == 1 && m.s.running.head == &p->seq);
    m.s.cfg.max_tokens = 2;
    sc_steps(&m, 7);
    CHECK(p->seq.n_computed == 8 && sc_made(p) == 1);
    sc_drain(&m);
    sc_close(&m);
}

static void test_sched_preempts_the_newest(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(3, 64, 10);
    CHECK(sc_open(&m, &c, 10, 4, 1) == 0);
    sc_seq *q[3];
    for (int i = 0; i < 3; i++) q[i] = sc_ask(&m, 30 * i, 8, 28, 1, 0);
    int32_t made = 0;
    while (q[2]->seq.preemptions == 0 && made++ < 20) sc_step(&m);
    CHECK(q[0]->seq.preemptions == 0 && q[1]->seq.preemptions == 0 && sc_made(q[0]) == 6 && sc_made(q[2]) == 5);
    while (q[1]->seq.preemptions == 0 && made++ < 40) sc_step(&m);
    CHECK(q[0]->seq.preemptions == 0 && q[1]->seq.preemptions == 1 && q[2]->seq.state == KVS__SEQ_WAITING);
    while (q[0]->live && made++ < 80) sc_step(&m);
    CHECK(made < 80 && q[0]->seq.preemptions == 0 && sc_made(q[0]) == 28);
    sc_drain(&m);
    CHECK(sc_made(q[1]) == 28 && sc_made(q[2]) == 28);
    sc_close(&m);
}

static void test_sched_resume_is_a_hit(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 64, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    sc_seq *q = sc_ask(&m, 1, 10, 20, 1, 0);
    sc_steps(&m, 5);                                         /* 15 tokens, 14 computed, 3 blocks full */
    kvs__sched_preempt(&m.s, &q->seq);
    sc_after(&m);
    CHECK(m.blk->used == 0 && m.blk->lru.count == 3);
    CHECK_EQ_INT(sc_step(&m), 3);                            /* not 15 */
    CHECK(q->seq.preemptions == 1 && q->seq.admissions == 2 && q->seq.hit.n_blocks == 0);   /* what the prompt found at first */
    sc_drain(&m);
    CHECK_EQ_INT(sc_made(q), 20);
    sc_close(&m);
}

/* A sibling's cached tokens are its leader's, also after it was preempted itself. */
static void test_sched_sibling_keeps_its_hit(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 64, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    sc_ask(&m, 1, 5, 1, 1, 0);
    sc_step(&m);
    sc_seq *a = sc_ask(&m, 1, 10, 20, 2, 0), *b = sc_of(a->seq.sibling);
    sc_steps(&m, 8);
    kvs__sched_preempt(&m.s, &b->seq);
    sc_after(&m);
    sc_step(&m);
    CHECK(b->seq.state == KVS__SEQ_RUNNING && a->seq.hit.n_blocks == 1 && b->seq.hit.n_blocks == 1);
    sc_drain(&m);
    sc_close(&m);
}

/* Who waits looks again in every step; that counts as one look. */
static void test_sched_counts_a_look_once(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 64, 10);
    CHECK(sc_open(&m, &c, 8, 4, 1) == 0);
    sc_ask(&m, 1, 8, 1, 1, 0);
    sc_step(&m);
    CHECK(m.blk->queries == 1 && m.blk->hits == 0);
    sc_ask(&m, 50, 17, 8, 1, 0);
    sc_step(&m);
    sc_seq *q = sc_ask(&m, 1, 20, 1, 1, 0);                  /* three of five blocks are missing, one is free */
    uint64_t queries = m.blk->queries;
    sc_steps(&m, 5);
    CHECK(q->seq.state == KVS__SEQ_WAITING && m.blk->queries == queries && m.blk->hits == 0);
    sc_drain(&m);
    CHECK(m.blk->queries == queries + 3 && m.blk->hits == 2 && q->seq.hit.n_blocks == 2);
    sc_close(&m);
}

static void test_sched_static_batching(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(2, 8, 10);
    c.batching = KVS_BATCHING_STATIC;
    CHECK(sc_open(&m, &c, 20, 4, 0) == 0);
    sc_seq *a = sc_ask(&m, 1, 6, 2, 1, 0), *b = sc_ask(&m, 20, 6, 9, 1, 0), *d = sc_ask(&m, 40, 6, 2, 1, 0);
    sc_step(&m);
    CHECK(b->seq.n_computed == 2 && m.blk->used == 4);       /* b holds the blocks of its whole prompt, though its turn is not over */
    while (b->live && m.ops++ < 40) {
        sc_step(&m);
        CHECK(d->seq.state == KVS__SEQ_WAITING);             /* also when a is gone */
    }
    CHECK(!a->live && sc_made(b) == 9);
    sc_step(&m);
    CHECK_EQ_INT(sc_made(d), 1);
    sc_drain(&m);
    sc_close(&m);
}

/* Blocks are promised to each member of a static batch at admission, so nobody is preempted before it begins. */
static void test_sched_static_batch_is_not_overcommitted(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(8, 4, 10);
    c.batching = KVS_BATCHING_STATIC;
    CHECK(sc_open(&m, &c, 8, 4, 0) == 0);
    for (int i = 0; i < 4; i++) sc_ask(&m, 30 * i, 12, 1, 1, 0);
    sc_step(&m);
    CHECK(m.s.running.count == 2 && m.blk->used == 6);
    sc_drain(&m);
    CHECK_EQ_INT(m.s.preemptions, 0);
    sc_close(&m);
}

static void test_sched_static_layout(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(8, 64, 4);
    c.layout = KVS_LAYOUT_STATIC;
    CHECK(sc_open(&m, &c, 14, 4, 0) == 0);
    sc_seq *a = sc_ask(&m, 1, 3, 3, 2, 0), *b = sc_of(a->seq.sibling), *d = sc_ask(&m, 20, 3, 3, 2, 0);
    sc_step(&m);                                             /* three runs of four: the second pair waits, two blocks are lost */
    CHECK(m.blk->used == 8 && m.s.running.count == 2 && d->seq.state == KVS__SEQ_WAITING && m.blk->free.count == 6);
    for (int i = 0; i < 4; i++) CHECK(a->table[i] == a->table[0] + i && b->table[i] == b->table[0] + i && a->table[0] % 4 == 0);
    CHECK(a->table[0] != b->table[0] && m.s.block_copies == 1);   /* a run cannot be shared: the fork copied what the prompt filled */
    sc_drain(&m);
    CHECK_EQ_INT(sc_made(d), 3);
    /* preempted before its fork: the sibling's run goes back too */
    sc_seq *e = sc_ask(&m, 1, 9, 2, 2, 0);
    m.s.cfg.max_tokens = 4;
    sc_step(&m);
    CHECK(e->seq.n_computed == 4 && m.blk->used == 8);
    kvs__sched_preempt(&m.s, &e->seq);
    sc_after(&m);
    CHECK(m.blk->used == 0 && m.s.slots == 0);
    sc_drain(&m);
    sc_close(&m);
}

static void test_sched_whole_prompts(void)
{
    for (int batching = 0; batching < 2; batching++) {
        sc_sim m;
        kvs__sched_config c = sc_config(4, 20, 5);
        c.no_chunked_prefill = 1; c.batching = batching ? KVS_BATCHING_STATIC : KVS_BATCHING_CONTINUOUS;
        CHECK(sc_open(&m, &c, 40, 4, 1) == 0);
        sc_ask(&m, 1, 12, 4, 1, 0);
        sc_seq *b = sc_ask(&m, 40, 12, 4, 1, 0);
        CHECK_EQ_INT(sc_step(&m), 12);                       /* eight tokens of the budget stay unused: sc_check_plan sees to it */
        CHECK(sc_made(b) == 0);
        CHECK_EQ_INT(sc_step(&m), 13);
        sc_drain(&m);
        sc_close(&m);
    }
}

static void test_sched_cancel_before_the_fork(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(8, 4, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    for (int started = 0; started < 2; started++) {
        sc_seq *a = sc_ask(&m, 100 * started, 10, 3, 3, 0), *b = sc_of(a->seq.sibling), *d = sc_of(b->seq.sibling);
        if (started) sc_step(&m);
        CHECK_EQ_INT(m.s.slots, started ? 3 : 0);
        sc_cancel(&m, b);                                    /* a sibling that waits for the fork */
        sc_after(&m);
        CHECK(m.s.slots == (started ? 2 : 0) && !b->live && a->live && d->live);
        sc_cancel(&m, a);                                    /* the leader: nobody is left to compute the prompt */
        sc_after(&m);
        CHECK(sc_live(&m) == 0 && m.s.slots == 0 && m.blk->used == 0);
        kvs__sched_remove(&m.s, &a->seq);                    /* again: harmless */
        kvs__sched_remove(&m.s, &d->seq);
        sc_after(&m);
    }
    sc_seq *a = sc_ask(&m, 1, 10, 3, 3, 0), *d = sc_of(a->seq.sibling->sibling);
    sc_cancel(&m, d);
    sc_steps(&m, 3);
    CHECK(sc_made(a) == 1 && m.s.forks == 1);
    sc_cancel(&m, a);                                        /* after the fork the leader is one of them */
    CHECK_EQ_INT(sc_live(&m), 1);
    sc_drain(&m);
    sc_close(&m);
}

/* Two that compute the same in the same step end with one set of blocks. */
static void test_sched_twins_share(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 64, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    sc_seq *a = sc_ask(&m, 1, 10, 3, 1, 0), *b = sc_ask(&m, 1, 10, 3, 1, 0);
    CHECK_EQ_INT(sc_step(&m), 20);
    CHECK(a->table[0] == b->table[0] && a->table[1] == b->table[1] && a->table[2] != b->table[2] && m.blk->used == 4);
    sc_drain(&m);
    sc_close(&m);
}

static void test_sched_batch_arrays(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 6, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    sc_ask(&m, 50, 5, 9, 1, 0);
    sc_step(&m);
    sc_ask(&m, 80, 9, 2, 1, 0);
    sc_step(&m);                                             /* a decode at position 5, a chunk of five */
    const kvs_batch *v = &m.batch.v;
    const int32_t *t = m.seq[1].table;
    CHECK(v->T == 6 && v->S == 2 && v->n_logits == 1 && v->logit_row[0] == 0 && v->q_start[1] == 1 && v->q_start[2] == 6);
    CHECK(v->pos[0] == 5 && v->kv_len[0] == 6 && v->kv_len[1] == 5 && v->token[1] == 80 && v->token[5] == 84 && v->seq[0] == 0 && v->seq[5] == 1);
    CHECK(v->slot[1] == (int64_t)t[0] * 4 && v->slot[5] == (int64_t)t[1] * 4 && v->block_table[v->table_stride + 1] == t[1]);
    sc_drain(&m);
    sc_close(&m);
    kvs__mem mem;
    kvs__mem_init(&mem, NULL);
    CHECK(kvs__batch_open(&mem, 100, 7, 5, &m.batch) == KVS_OK);
    CHECK_EQ_INT(mem.live, kvs__batch_bytes(100, 7, 5));
    kvs__batch_close(&mem, &m.batch);
    CHECK_EQ_INT(mem.live, 0);
}

static int sc_allocs_left;
static void *sc_alloc(size_t bytes, void *user) { (void)user; return sc_allocs_left-- > 0 ? malloc(bytes) : NULL; }
static void sc_free(void *p, void *user) { (void)user; free(p); }

/* Out of memory at each allocation of the openings in turn: an error, and nothing is left behind. */
static void test_sched_out_of_memory(void)
{
    kvs_allocator a = {sc_alloc, sc_free, NULL};
    kvs_blocks_config bc;
    memset(&bc, 0, sizeof bc);
    bc.num_blocks = 8; bc.block_size = 4; bc.allocator = a;
    kvs__sched_config c = sc_config(4, 6, 10);
    int failed = 0;
    for (int n = 0;; n++, failed++) {
        kvs_blocks *blk;
        kvs__sched s;
        kvs__batch b;
        kvs__mem mem;
        kvs__mem_init(&mem, &a);
        memset(&s, 0, sizeof s);
        memset(&b, 0, sizeof b);
        sc_allocs_left = n;
        kvs_result r = kvs_blocks_open(&bc, &blk);
        if (r == KVS_OK) r = kvs__sched_open(&mem, blk, &c, &s);
        if (r == KVS_OK) r = kvs__batch_open(&mem, 6, 4, 10, &b);
        kvs__batch_close(&mem, &b);
        kvs__sched_close(&mem, &s);
        kvs_blocks_close(blk);
        CHECK_EQ_INT(mem.live, 0);
        if (r == KVS_OK) break;
        CHECK_EQ_INT(r, KVS_ERR_MEMORY);
    }
    CHECK_EQ_INT(failed, 6 + 2 + 8);
}

static void sc_planted(sc_sim *m, int line)
{
    kvs__err e = {""};
    CHECK_MSG(kvs__sched_check(&m->s, m->scratch, &e) == KVS_ERR_CORRUPT && e.text[0], "line %d: not found", line);
}
#define SC_PLANT(m, type, place, value) do { type *t_p = &(place); type t_was = *t_p; *t_p = (value); sc_planted((m), __LINE__); *t_p = t_was; } while (0)

static void test_sched_check_finds_faults(void)
{
    sc_sim m;
    kvs__sched_config c = sc_config(4, 6, 10);
    CHECK(sc_open(&m, &c, 20, 4, 1) == 0);
    sc_seq *a = sc_ask(&m, 1, 5, 9, 1, 0), *b = sc_ask(&m, 30, 9, 9, 2, 0), *w = sc_ask(&m, 60, 5, 5, 2, 0);
    sc_steps(&m, 2);
    kvs__seq *y = b->seq.sibling;
    CHECK(b->seq.n_computed == 6 && w->seq.state == KVS__SEQ_WAITING && y->state == KVS__SEQ_FORKING);
    SC_PLANT(&m, int32_t, m.s.slots, 4);
    SC_PLANT(&m, int32_t, m.s.running.count, 3);
    SC_PLANT(&m, kvs__seq *, m.s.running.tail, &a->seq);
    SC_PLANT(&m, kvs__seq *, b->seq.prev, NULL);
    SC_PLANT(&m, uint64_t, a->seq.arrival, 99);
    SC_PLANT(&m, kvs__seq_state, a->seq.state, KVS__SEQ_WAITING);
    SC_PLANT(&m, kvs__seq_state, y->state, KVS__SEQ_RUNNING);
    SC_PLANT(&m, kvs__seq *, y->leader, &a->seq);
    SC_PLANT(&m, int32_t, y->n_blocks, 1);
    SC_PLANT(&m, int32_t, w->seq.n_blocks, 1);
    SC_PLANT(&m, int32_t, a->seq.n_computed, 99);
    SC_PLANT(&m, int32_t, a->seq.n_blocks, 1);
    SC_PLANT(&m, int32_t, a->seq.n_published, 2);
    SC_PLANT(&m, int32_t, a->table[0], b->table[0]);
    SC_PLANT(&m, int32_t, a->table[1], 20);
    SC_PLANT(&m, int32_t, a->table[1], -1);
    SC_PLANT(&m, int32_t, m.blk->block[a->table[1]].ref, 2);
    SC_PLANT(&m, int32_t, m.blk->used, 1);
    sc_drain(&m);
    sc_close(&m);
}

SUITE(sched)
{
    RUN(test_sched_full_hit_leaves_a_query);
    RUN(test_sched_aborted_prefill);
    RUN(test_sched_fork_copies_on_write);
    RUN(test_sched_fork_in_a_full_pool);
    RUN(test_sched_refused);
    RUN(test_sched_order);
    RUN(test_sched_decodes_beside_a_long_prompt);
    RUN(test_sched_budget_below_sequences);
    RUN(test_sched_urgent_prompt_among_decodes);
    RUN(test_sched_preempts_the_newest);
    RUN(test_sched_resume_is_a_hit);
    RUN(test_sched_sibling_keeps_its_hit);
    RUN(test_sched_counts_a_look_once);
    RUN(test_sched_static_batching);
    RUN(test_sched_static_batch_is_not_overcommitted);
    RUN(test_sched_static_layout);
    RUN(test_sched_whole_prompts);
    RUN(test_sched_cancel_before_the_fork);
    RUN(test_sched_twins_share);
    RUN(test_sched_batch_arrays);
    RUN(test_sched_out_of_memory);
    RUN(test_sched_check_finds_faults);
    RUN(test_sched_fuzz);
}
