/* 01_hello.c - the smallest complete program: a question in, an answer out.

   You see: one answer, written piece by piece as the model makes it.
   Build:   cc -O2 examples/01_hello.c -o 01_hello -lm -lpthread
   Try:     ./01_hello                        (from the top folder: uses examples/tiny)
            ./01_hello path/to/a/model
   Read:    kvs_open loads the folder, kvs_submit queues a request, each kvs_step computes one token of every running
            request, kvs_poll hands out what is new. That loop is all there is; the other lessons look inside it.
   This is the program on the first screen of kvserve.h; a test compares the two.
   Next:    02_blocks.c, where the keys and values of those tokens are kept. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

int main(int argc, char **argv)
{
    kvs_config cfg = {0};
    cfg.model = argc > 1 ? argv[1] : "examples/tiny";
    kvs_engine *e;
    if (kvs_open(&cfg, &e) < 0) { fprintf(stderr, "%s\n", kvs_last_error(e)); return 1; }
    kvs_prompt prompt = {0};
    prompt.text = "What is KV cache optimization?";
    kvs_submit(e, &prompt, NULL, NULL);                   // as many as you like, from any thread
    while (kvs_step(e) == KVS_OK) {
        kvs_output o;
        while (kvs_poll(e, &o)) fwrite(o.text, 1, o.text_len, stdout);
    }
    putchar('\n');
    kvs_close(e);
    return 0;
}
