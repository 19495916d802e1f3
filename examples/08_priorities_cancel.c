/* 08_priorities_cancel.c - requests from many threads, some more urgent, one no longer wanted.

   You see: four threads submit eight requests; two may run at once, the lowest priority number first. While they run,
            another thread submits an urgent one, which overtakes all that wait, and one more cancels a request in the
            middle of its answer. Listed in the order in which they ended.
   Build:   cc -O2 examples/08_priorities_cancel.c -o 08_priorities_cancel -lm -lpthread
   Next:    09_custom_backend.c, below the scheduler. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { THREADS = 4, EACH = 2, JOBS = THREADS * EACH + 1, URGENT = JOBS - 1, RUNNING = 2 };

typedef struct job {
    kvs_engine *e;
    kvs_request request;
    const char *from, *question;
    int32_t priority;
    kvs_result result;        /* of kvs_submit or kvs_cancel */
} job;

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

/* No lock of ours is needed: any thread may call kvs_submit and kvs_cancel while another one is in kvs_step. */
static void submit(job *j)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    p.text = j->question; p.priority = j->priority; p.user = j;
    s.max_tokens = 30;
    j->result = kvs_submit(j->e, &p, &s, &j->request);
}

static void *submit_each(void *arg) { for (int i = 0; i < EACH; i++) submit((job *)arg + i); return NULL; }
static void *submit_one(void *arg)  { submit((job *)arg); return NULL; }
static void *cancel_one(void *arg)  { job *j = (job *)arg; j->result = kvs_cancel(j->e, j->request); return NULL; }

static void in_thread(void *(*run)(void *), job *j)       /* and waits for it */
{
    pthread_t t;
    if (pthread_create(&t, NULL, run, j)) die("no thread");
    pthread_join(t, NULL);
}

static void start(kvs_engine *e, job jobs[JOBS])
{
    static const char *const question[] = {"What is a block?", "What is a token?", "What is RoPE?", "What is a tier?"};
    static const char *const name[] = {"thread 0", "thread 1", "thread 2", "thread 3"};
    pthread_t t[THREADS];
    for (int i = 0; i < JOBS; i++) {
        jobs[i].e = e; jobs[i].question = question[i % 4];
        jobs[i].from = i == URGENT ? "urgent" : name[i / EACH];
        jobs[i].priority = i == URGENT ? 0 : (i / EACH) % 2 ? 5 : 1;      /* threads 1 and 3 are in no hurry */
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&t[i], NULL, submit_each, &jobs[i * EACH])) die("no thread");
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < URGENT; i++) if (jobs[i].result < 0) die(kvs_result_str(jobs[i].result));
}

/* In the middle of everything: an urgent request, and the end of a running one. */
static void interrupt(job *urgent, job *victim, int at)
{
    printf("%-6d (a thread submits an urgent request, another cancels one of %s that is running)\n", at, victim->from);
    in_thread(submit_one, urgent);
    in_thread(cancel_one, victim);
    if (urgent->result < 0 || victim->result < 0) die("the interruption failed");
}

static void print_end(int at, const kvs_output *o)
{
    static const char *const why[] = {"", "stop", "length", "cancelled", "error"};
    const job *j = (const job *)o->user;
    printf("%-6d %-10s %8d   %-10s %7d %10.1f %10.1f\n", at, j->from, j->priority, why[o->finish_reason],
           o->completion_tokens, o->time_queue * 1e3, o->time_total * 1e3);
}

int main(int argc, char **argv)
{
    static job jobs[JOBS];
    kvs_config cfg = {0};
    kvs_engine *e;
    kvs_output o;
    kvs_stats s;
    kvs_result r;
    job *victim = NULL, *seen = NULL;
    cfg.model = argc > 1 ? argv[1] : "examples/tiny";
    cfg.scheduling_policy = KVS_POLICY_PRIORITY; cfg.max_num_seqs = RUNNING;
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    start(e, jobs);
    printf("%-6s %-10s %8s   %-10s %7s %10s %10s\n", "step", "from", "priority", "ended by", "tokens", "waited ms",
           "total ms");
    for (int at = 1; (r = kvs_step(e)) == KVS_OK; at++) {
        while (kvs_poll(e, &o))
            if (o.finish_reason) print_end(at, &o); else seen = (job *)o.user;
        if (at < 10 || victim || !seen) continue;
        victim = seen;
        interrupt(&jobs[URGENT], victim, at);
    }
    if (r < 0) die(kvs_last_error(e));
    kvs_stats_get(e, &s);
    printf("\n%llu requests, %llu of them cancelled; %llu blocks in use now, %llu cached for later.\n",
           (unsigned long long)s.requests, (unsigned long long)s.cancelled, (unsigned long long)s.blocks_used,
           (unsigned long long)s.blocks_cached);
    if (victim) printf("Cancelling it again: %s.\n", kvs_result_str(kvs_cancel(e, victim->request)));
    printf("Every reference counted: %s.\n", kvs_result_str(kvs_check(e)));
    kvs_close(e);
    return 0;
}
