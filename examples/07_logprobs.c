/* 07_logprobs.c - how sure the model was of each token.

   You see: an answer token by token, each with its probability, a bar for it, and the best alternatives; then the
            perplexity of the whole answer, and how it grows when tokens are drawn at a higher temperature.
   Build:   cc -O2 examples/07_logprobs.c -o 07_logprobs -lm -lpthread
   Try:     ./07_logprobs examples/tiny "What is a banana?"
   Next:    08_priorities_cancel.c, many threads. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

enum { TOP = 3, LINES = 16 };

static void die(const char *text) { fprintf(stderr, "%s\n", text); exit(1); }

/* The text of one token between quotes, with newlines made visible, padded to `width` bytes. */
static void print_token(const kvs_tokenizer *t, int32_t id, int width)
{
    char raw[KVS_MAX_PIECE], shown[40];
    int64_t n = kvs_tokenizer_decode(t, &id, 1, 0, raw, sizeof raw);
    size_t k = 0;
    shown[k++] = '"';
    for (int64_t i = 0; i < n && k + 4 < sizeof shown; i++) {
        if (raw[i] == '\n') { shown[k++] = '\\'; shown[k++] = 'n'; }
        else shown[k++] = raw[i];
    }
    shown[k++] = '"';
    printf("%.*s%*s", (int)k, shown, (int)k < width ? width - (int)k : 0, "");
}

static void print_piece(const kvs_tokenizer *t, const kvs_output *o)
{
    for (size_t i = 0; i < o->n_tokens && o->completion_tokens <= LINES; i++) {
        double p = exp((double)o->logprobs[i]);
        printf("   ");
        print_token(t, o->tokens[i], 16);
        printf("%6.2f%% %-20.*s ", 100 * p, (int)(p * 20 + 0.5), "####################");
        for (size_t k = 0; k < o->n_top; k++) {           /* o->top: [n_tokens][n_top], best first */
            const kvs_token_logprob *alt = &o->top[i * o->n_top + k];
            if (alt->token == o->tokens[i]) continue;
            print_token(t, alt->token, 14);
            printf("%6.2f%%  ", 100 * exp((double)alt->logprob));
        }
        printf("\n");
    }
}

/* Answers the question; returns the perplexity: the number of equally likely tokens that would be as hard to guess. */
static double answer(kvs_engine *e, const char *question, float temperature, int show, int32_t *n_tokens)
{
    kvs_prompt p = {0};
    kvs_sampling s = {0};
    kvs_output o;
    kvs_result r;
    double sum = 0;
    p.text = question; s.temperature = temperature; s.seed = 1; s.max_tokens = 100; s.logprobs = 1 + TOP;
    *n_tokens = 0;
    if (kvs_submit(e, &p, &s, NULL) < 0) die(kvs_last_error(e));
    while ((r = kvs_step(e)) == KVS_OK)
        while (kvs_poll(e, &o)) {
            if (show) print_piece(kvs_get_tokenizer(e), &o);
            for (size_t i = 0; i < o.n_tokens; i++) sum += (double)o.logprobs[i];
            *n_tokens = o.completion_tokens;
        }
    if (r < 0) die(kvs_last_error(e));
    return exp(-sum / *n_tokens);
}

int main(int argc, char **argv)
{
    static const float temperature[] = {0, 0.7f, 1, 1.3f, 1.6f};
    const char *question = argc > 2 ? argv[2] : "A block";   /* many ways to go on */
    kvs_config cfg = {0};
    kvs_engine *e;
    int32_t n;
    cfg.model = argc > 1 ? argv[1] : "examples/tiny"; cfg.max_model_len = 256;
    if (kvs_open(&cfg, &e) < 0) die(kvs_last_error(e));
    if (!kvs_get_tokenizer(e)) die("this lesson needs a model with a tokenizer");
    printf("%s\n\n   %-16s%7s %-20s alternatives\n", question, "token", "prob.", "");
    double ppl = answer(e, question, 0, 1, &n);
    if (n > LINES) printf("   ... and %d more\n", n - LINES);
    printf("\nPerplexity of the %d tokens: %.3f (1: each was certain; %d: each was a blind guess)\n\n", n, ppl,
           kvs_tokenizer_vocab_size(kvs_get_tokenizer(e)));
    printf("Drawn at other temperatures (logprobs are the model's own, before temperature):\n");
    printf("   %-14s%-12s%s\n", "temperature", "perplexity", "tokens");
    for (size_t i = 0; i < sizeof temperature / sizeof temperature[0]; i++) {
        ppl = answer(e, question, temperature[i], 0, &n);
        printf("   %-14.1f%-12.3f%d\n", (double)temperature[i], ppl, n);
    }
    kvs_close(e);
    return 0;
}
