/* kvserve.h - v0.1.0 - MIT or public domain, as you choose (see the end) - no warranty implied; use at your own risk

   An LLM serving engine in one header: it loads a Hugging Face model folder and serves many requests at once from C.

   RECIPE
       1. Copy kvserve.h into your project.
       2. In exactly one C or C++ file:
              #define KVSERVE_IMPLEMENTATION
              #include "kvserve.h"
          Elsewhere just include it. (With -std=c11 include it before any system header: it asks for POSIX.)
       3. cc -O2 app.c -o app -lm -lpthread
          No -march is needed: the fast code is chosen when the program runs.

   A COMPLETE PROGRAM

       #define KVSERVE_IMPLEMENTATION
       #include "kvserve.h"

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

   WHAT IT DOES                                            WHAT IT DOES NOT
       paged KV cache, block tables, copy on write             training, LoRA, vision, speech, mixture of experts
       prefix cache with the reason of each miss               WordPiece and Unigram tokenizers
       continuous batching, chunked prefill, preemption        GGUF files (tools/smollm2.py shows a conversion)
       fork (n > 1), priorities, cancel at any time            Windows (POSIX threads and mmap are used)
       flash attention, MQA/GQA, sliding window, ALiBi         in this version: CUDA, chat templates, quantized
       sampling as in vLLM, seeded, logprobs                   weights or KV, KV offloading, an HTTP server
       one answer per request, whatever its neighbours

   MODELS     Llama 1-3, SmolLM2, TinyLlama, Mistral, Qwen2, Qwen3, OPT, Falcon, MPT, GPT-2, GPT-NeoX, Phi, Gemma 1.
              What would change the maths and is not implemented is refused by name.
   DTYPES     weights f32, f16, bf16; KV cache f32, f16, bf16.

   CONTENTS, in file order                                 CONTENTS, in the order to learn from
       >>api          the public interface                     >>blocks       who holds which KV block
       >>backend_api  the line between bookkeeping and maths   >>prefix       finding KV computed before
       >>base         errors, memory, hashing                  >>sched        who computes what next
       >>utf8  >>json a strict reader                          >>batch        the plan as arrays
       >>unicode      classes, folding, normal forms           >>forward      the transformer, once
       >>regex        the patterns of tokenizers               >>cpu          every op in plain C
       >>tokenizer    text to ids and back                     >>engine       requests in, text out
       >>tokenizer_open  tokenizer.json, checked               >>sample       from logits to a token
       >>safetensors  weights on disk                          >>inspect      looking at the machine
       >>model        families as rows of data                 >>model  >>safetensors
       >>blocks  >>prefix  >>sched  >>batch                    >>tokenizer  >>tokenizer_open  >>regex
       >>cpu          reference ops, threads                   >>unicode  >>json  >>utf8
       >>cpu_simd     AVX2 and AVX-512 twins, same bits        >>cpu_simd
       >>forward  >>sample  >>engine  >>inspect                >>api  >>backend_api  >>base
       >>tables       Unicode, generated                       >>tables

   CONCEPTS

   Token. Models read and write numbers, each a piece of text of about four letters. A request is a list of tokens that grows
   by one token per step.

   KV cache. To predict the next token, every layer compares it with all tokens before, by a key and a value vector for each. They
   never change once computed, so they are kept: 23 KB per token for SmolLM2-135M, 128 KB for Llama-3-8B. Keeping them turns the work
   per token from quadratic to linear, and makes memory what limits how many users one machine serves.

   Block. KV memory is cut into blocks of 16 tokens. A sequence takes one block at a time, as it grows. Before PagedAttention
   (Kwon et al., SOSP 2023) each sequence reserved its longest possible length; most of it was never used.

   Block table. Which blocks, in order, hold a sequence. Attention finds token p in block table[p / 16], slot p % 16. Since it is
   only a table, two sequences can name the same block.

   Prefix hash. The KV of a token depends only on the tokens up to it. So a full block has a name: the hash of all tokens up to its
   end. A new request that begins like an old one finds its blocks by name and skips that part of the work: a prefix hit.

   Continuous batching. One step computes one token for each running sequence, together, because reading the weights once for
   many rows costs about the same as for one. Sequences enter and leave the batch at any step (Orca: Yu et al., OSDI 2022).

   Chunked prefill. A long prompt is computed in pieces that share the steps' token budget with the decodes, so nobody's output
   stalls while somebody's prompt is read (Sarathi-Serve: Agrawal et al., OSDI 2024).

   Preemption. When blocks run out, the newest sequence gives its blocks back and waits. They stay findable as long as nobody needs
   the room; its resumption is mostly a prefix hit, and its output is the same as if nothing had happened.

   Fork. n answers to one prompt share the blocks of the prompt. The first to write into a shared block gets a copy: copy on write.

   CONFIGURATION (kvs_config; zero is the default)
       field                     zero means                   remarks
       model                     -                            folder with config.json, tokenizer.json, *.safetensors
       dtype                     as stored                    f32, f16, bf16 convert while loading
       load_format               the files                    dummy: random weights, only config.json is needed
       kv_cache_dtype            bf16; f32 for f32 weights
       block_size                16                           the CPU backend has no other
       kv_cache_bytes            see next                     size of the block pool
       gpu_memory_utilization    0.9                          of free memory (CPU: of at most 4 GiB); never more than useful
       max_model_len             the model's own              lowered to what the pool can hold
       max_num_seqs              256                          sequences running at once
       max_num_batched_tokens    512                          tokens per step: smaller = smoother output, larger = faster prefill
       no_prefix_cache           share                        kv_layout static implies 1
       no_chunked_prefill        cut prompts                  1 raises max_num_batched_tokens to max_model_len
       scheduling_policy         fcfs                         priority: kvs_prompt.priority, lower first
       kv_layout, batching,      paged, continuous, flash     static, static, naive: the baselines, to measure what
         attention                                              each idea is worth with everything else equal
       num_threads               every processor              same bits for any number
       isa                       the best there is            portable, avx2, avx512: same bits
       backend, device           the CPU
       seed                      0                            streams of requests without a seed
       allocator                 malloc, free                 every allocation of the engine
       log, progress             silent

   ERRORS   Functions return kvs_result; < 0 is an error, and kvs_last_error has the words: what, where, expected, got.
       KVS_ERR_INVALID      an argument is out of range            your call; nothing has changed
       KVS_ERR_MEMORY       the allocator returned NULL            nothing has changed
       KVS_ERR_IO, _FORMAT  a file is missing, short, malformed    names the file and the place
       KVS_ERR_UNSUPPORTED  the model needs what is not there      names the config key or the type
       KVS_ERR_MISMATCH     a tensor's shape or type is wrong      names the tensor
       KVS_ERR_TOO_LONG     prompt longer than max_model_len       refused at submit
       KVS_ERR_CAPACITY     could never fit the pool               refused at submit, with the numbers
       KVS_ERR_STALE        the request is gone                    kvs_cancel of a finished one: harmless
       KVS_ERR_BACKEND      the device failed                      the requests of that step end with KVS_FINISH_ERROR
       KVS_ERR_CORRUPT      a bug of ours (kvs_check)              please report it
   Running out of blocks is not an error: requests wait. After any error the engine can be used further, or closed.

   OWNERSHIP
       kvs_engine           yours from kvs_open (also if it failed) to kvs_close
       what you pass in     borrowed for the call; stop strings, biases, tokens are copied. kvs_config.backend until kvs_close
       kvs_output           views, valid until the next kvs_step. Pieces not polled are kept and come together later
       kvs_completion[]     yours; kvs_completions_free
       weights              mapped read-only from the files, packed into memory in the backend's layout

   NULL, ZERO, STALE
       kvs_open, kvs_plan       NULL config or out: KVS_ERR_INVALID          kvs_submit    NULL sampling = greedy; NULL out is fine
       kvs_close(NULL)          nothing                                      kvs_poll      NULL: 0
       kvs_last_error(NULL)     a text                                       kvs_cancel    stale, zero or foreign id: KVS_ERR_STALE
       kvs_stats_get and other getters: a NULL engine gives zeroes           after a failed kvs_open: every call says so

   THREADING
       kvs_submit, kvs_cancel, kvs_stats_get, kvs_last_error    any thread, at any time between kvs_open and kvs_close
       kvs_step, kvs_poll, kvs_generate, kvs_check,
         kvs_block_table_str                                    one thread at a time per engine (any, if you order them)
       kvs_open, kvs_close                                      nobody else may use that engine meanwhile
       kvs_tokenizer_*, kvs_safetensors_*                       read-only after open: any number of threads
       kvs_stream, kvs_blocks                                   plain data: one thread at a time
       Engines share nothing. kvs_last_error keeps the texts of the last 64 threads that called.

   DETERMINISM
       On the CPU backend the tokens and logprobs of a request are the same bits whatever else runs: batch mates, chunk sizes, prefix
       hits, preemptions, forks, thread count, instruction set. Work is split over outputs, never over a sum; every sum has one order.

   MEMORY
       kvs_plan says, before loading, how many bytes of weights, pool, workspace and tables kvs_open will allocate; it allocates exactly that.
       kvs_step allocates nothing as long as every piece is polled; kvs_submit allocates what its request can grow to.
*/

#ifndef KVSERVE_H
#define KVSERVE_H

#if defined(KVSERVE_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#  define _GNU_SOURCE 1          /* sched_getaffinity, MADV_HUGEPAGE, O_CLOEXEC, clock_gettime */
#endif

/* ====================================================================================================
   >>api   The public interface.

   Zero is the documented default of every field: start from `= {0}` and set what you need.
   Inputs (strings, arrays, structs) are borrowed for the call unless a comment says otherwise.
   NULL where a pointer is required gives KVS_ERR_INVALID, never a crash.
   ==================================================================================================== */

#include <stddef.h>
#include <stdint.h>

#ifndef KVS_API
#  if defined(KVSERVE_STATIC)
#    define KVS_API static
#  else
#    define KVS_API extern
#  endif
#endif

#define KVS_VERSION       "0.1.0"
#define KVS_MAX_ERROR     512   /* bytes of an error text, with its NUL */
#define KVS_MAX_LOGPROBS  20    /* alternatives that can be asked for beside each token */

#ifdef __cplusplus
extern "C" {
#endif

/* ---- results ---- */

#define KVS_RESULTS(X)                                                                      \
    X(KVS_OK,               0, "ok")                                                        \
    X(KVS_IDLE,             1, "nothing left to do")                                        \
    X(KVS_ERR_INVALID,     -1, "invalid argument")                                          \
    X(KVS_ERR_MEMORY,      -2, "out of memory")                                             \
    X(KVS_ERR_IO,          -3, "a file could not be read")                                  \
    X(KVS_ERR_FORMAT,      -4, "a file is malformed")                                       \
    X(KVS_ERR_UNSUPPORTED, -5, "a feature of the model is not implemented")                 \
    X(KVS_ERR_MISMATCH,    -6, "a tensor does not have the shape or type the config asks for") \
    X(KVS_ERR_TOO_LONG,    -7, "the prompt is longer than max_model_len allows")            \
    X(KVS_ERR_CAPACITY,    -8, "the request can never fit in the memory given")             \
    X(KVS_ERR_STALE,       -9, "the handle belongs to a request that is gone")              \
    X(KVS_ERR_BACKEND,    -10, "the backend failed")                                        \
    X(KVS_ERR_CORRUPT,    -11, "an internal invariant is broken")

typedef enum kvs_result {
#define KVS__X(name, value, text) name = value,
    KVS_RESULTS(KVS__X)
#undef KVS__X
    KVS__RESULT_END = 1000
} kvs_result;

/* The text of a result code: static storage, never NULL, any thread. */
KVS_API const char *kvs_result_str(kvs_result);

/* ---- element types ---- */

typedef enum kvs_dtype {
    KVS_AUTO = 0, KVS_F32, KVS_F16, KVS_BF16, KVS_FP8_E4M3, KVS_INT8
} kvs_dtype;

/* ---- callbacks ---- */

/* alloc returns memory aligned for any type, or NULL; free gets only what alloc returned. Both may be called from any thread
   that calls the engine. Both NULL: malloc and free. */
typedef struct kvs_allocator {
    void *(*alloc)(size_t bytes, void *user);
    void  (*free)(void *ptr, void *user);
    void  *user;
} kvs_allocator;

typedef enum kvs_log_level { KVS_LOG_ERROR = 0, KVS_LOG_WARN, KVS_LOG_INFO } kvs_log_level;
typedef void (*kvs_log_fn)(kvs_log_level, const char *text, void *user);      /* NULL: silent */
typedef void (*kvs_progress_fn)(uint64_t done, uint64_t total, const char *what, void *user); /* bytes, while loading */

/* ---- configuration (names follow vLLM's) ---- */

typedef enum kvs_kv_layout   { KVS_LAYOUT_PAGED = 0, KVS_LAYOUT_STATIC } kvs_kv_layout;
typedef enum kvs_batching    { KVS_BATCHING_CONTINUOUS = 0, KVS_BATCHING_STATIC } kvs_batching;
typedef enum kvs_attention   { KVS_ATTENTION_FLASH = 0, KVS_ATTENTION_NAIVE } kvs_attention;
typedef enum kvs_policy      { KVS_POLICY_FCFS = 0, KVS_POLICY_PRIORITY } kvs_policy;
typedef enum kvs_device      { KVS_DEVICE_AUTO = 0, KVS_DEVICE_CPU, KVS_DEVICE_CUDA } kvs_device;
typedef enum kvs_load_format { KVS_LOAD_AUTO = 0, KVS_LOAD_DUMMY } kvs_load_format;
typedef enum kvs_isa         { KVS_ISA_AUTO = 0, KVS_ISA_PORTABLE, KVS_ISA_AVX2, KVS_ISA_AVX512 } kvs_isa;

struct kvs_backend;

typedef struct kvs_config {
    const char   *model;                   /* folder with config.json, tokenizer.json, *.safetensors. Required */
    kvs_dtype     dtype;                   /* of the weights in memory: AUTO = as stored; F32, F16, BF16 */
    kvs_load_format load_format;           /* DUMMY: random weights of the shapes that config.json asks for, to measure without a checkpoint */
    kvs_dtype     kv_cache_dtype;          /* AUTO = BF16 for bf16 and f16 weights, F32 for f32 ones; F32, F16, BF16 */
    int32_t       block_size;              /* tokens per KV block, 16 (the only size of the CPU backend) */
    float         gpu_memory_utilization;  /* share of the device's free memory to use, 0.9; on the CPU: of 4 GiB or free RAM, the smaller */
    uint64_t      kv_cache_bytes;          /* size of the block pool; overrides the line above */
    int32_t       max_model_len;           /* tokens of prompt + output; 0 = the model's own, lowered to what the pool can hold */
    int32_t       max_num_seqs;            /* sequences running at once, 256 */
    int32_t       max_num_batched_tokens;  /* tokens per step, 512 */
    int32_t       no_prefix_cache;         /* 1: never share KV between requests */
    int32_t       no_chunked_prefill;      /* 1: a prompt is computed in one step */
    kvs_policy    scheduling_policy;
    kvs_kv_layout kv_layout;               /* teaching switches: STATIC reserves max_model_len per sequence at admission, */
    kvs_batching  batching;                /*   STATIC starts a batch only when the last one has drained, */
    kvs_attention attention;               /*   NAIVE materialises the scores */
    int32_t       num_threads;             /* 0 = one per processor this process may run on */
    kvs_isa       isa;                     /* CPU kernels; AUTO = the best this machine has. All give the same bits */
    kvs_device    device;
    const struct kvs_backend *backend;     /* NULL = the CPU; &kvs_cuda_backend from kvserve_kernels.cu. Borrowed until kvs_close */
    uint64_t      seed;                    /* random streams of requests that bring no seed of their own */
    kvs_allocator allocator;
    kvs_log_fn    log;        void *log_user;
    kvs_progress_fn progress; void *progress_user;
} kvs_config;

/* Writes every default in place of its zero. What remains zero is decided by the model (max_model_len, dtypes). Any thread. */
KVS_API void kvs_config_resolve(const kvs_config *cfg, kvs_config *out);

/* ---- the engine ---- */

typedef struct kvs_engine kvs_engine;                     /* opaque, on the heap, no globals: several engines in one process */
typedef struct kvs_request { uint32_t id; } kvs_request;  /* index + generation; an old one gives KVS_ERR_STALE. 0 is never valid */

typedef struct kvs_prompt {
    const char    *text;   size_t text_len;   /* UTF-8; text_len 0 = strlen(text) */
    const int32_t *tokens; size_t n_tokens;   /* or token ids as they are: used when tokens is not NULL; no BOS is added */
    int32_t        parse_special;             /* 1: "<|im_end|>" in the text becomes the control token. 0: stays text */
    int32_t        no_bos;                    /* 1: leave out what the tokenizer's post-processor would add */
    const char    *cache_salt;                /* requests share cached KV only with requests of the same salt; NULL = "" */
    int32_t        priority;                  /* KVS_POLICY_PRIORITY: lower runs first */
    void          *user;                      /* comes back in kvs_output */
} kvs_prompt;

typedef struct kvs_logit_bias { int32_t token; float bias; } kvs_logit_bias;

/* All zero is greedy decoding until the model ends its answer. Fields and their order of application are vLLM's. */
typedef struct kvs_sampling {
    float    temperature;            /* 0 = greedy */
    float    top_p;                  /* (0,1]; 0 = 1 = off */
    int32_t  top_k;                  /* 0 or -1 = off */
    float    min_p;                  /* [0,1]; 0 = off */
    float    repetition_penalty;     /* > 0; 0 = 1 = off; over prompt and output */
    float    presence_penalty;       /* [-2,2], over the output */
    float    frequency_penalty;      /* [-2,2], over the output */
    uint64_t seed;                   /* 0 = a stream of its own drawn from the engine's seed */
    int32_t  max_tokens;             /* 0 = up to max_model_len */
    int32_t  min_tokens;             /* no EOS or stop token before that many */
    const char *const *stop;         size_t n_stop;            /* strings that end the output; copied at submit */
    const int32_t     *stop_token_ids; size_t n_stop_token_ids; /* beside the model's EOS set; copied */
    const kvs_logit_bias *logit_bias; size_t n_logit_bias;      /* copied; an id outside the vocabulary is KVS_ERR_INVALID */
    int32_t  ignore_eos;
    int32_t  include_stop_str_in_output;
    int32_t  logprobs;               /* 0 = none, 1 = of each token, 1+k = with the k best alternatives (k <= KVS_MAX_LOGPROBS) */
    int32_t  n;                      /* outputs per prompt, 1; they share the prompt's blocks */
} kvs_sampling;

typedef enum kvs_finish {
    KVS_FINISH_NONE = 0, KVS_FINISH_STOP, KVS_FINISH_LENGTH, KVS_FINISH_CANCELLED, KVS_FINISH_ERROR
} kvs_finish;

/* Why a prompt did not find (more of) itself in the prefix cache. */
typedef enum kvs_miss {
    KVS_MISS_NONE = 0,   /* everything was found, or all but the last block: the last token must be computed anyway */
    KVS_MISS_OFF,        /* the prefix cache is off */
    KVS_MISS_TOKENS,     /* no cached sequence continues with these tokens: miss_index is the first that differs */
    KVS_MISS_SALT,       /* the tokens are there, under another salt */
    KVS_MISS_EVICTED,    /* they were there and were evicted */
    KVS_MISS_PARTIAL     /* what is left is shorter than a block: only full blocks are cached */
} kvs_miss;

typedef struct kvs_token_logprob { int32_t token; float logprob; } kvs_token_logprob;

/* The next piece of one output. Every pointer in it lives until the next kvs_step or kvs_close. */
typedef struct kvs_output {
    kvs_request    request;
    void          *user;                     /* from kvs_prompt */
    int32_t        index;                    /* which of the n outputs, 0..n-1 */
    const char    *text;    size_t text_len; /* the new piece: whole UTF-8 characters, NUL-terminated, maybe empty */
    const int32_t *tokens;  size_t n_tokens; /* the new tokens */
    const float   *logprobs;                 /* [n_tokens] of the raw logits, or NULL */
    const kvs_token_logprob *top;  size_t n_top; /* [n_tokens][n_top] best first, or NULL */
    kvs_finish     finish_reason;            /* not NONE: this was the last piece of this output */
    int32_t        prompt_tokens, completion_tokens;
    int32_t        cached_tokens;            /* of the prompt, found in the prefix cache at first admission */
    kvs_miss       miss; int32_t miss_index; /* why not more */
    int32_t        preemptions;
    double         time_queue, time_first_token, time_total;   /* seconds since submit */
} kvs_output;

/* The result of kvs_generate: one per prompt and n. Owned by the caller, freed with kvs_completions_free. */
typedef struct kvs_completion {
    int32_t     prompt_index, index;
    char       *text;    size_t text_len;
    int32_t    *tokens;  size_t n_tokens;
    float      *logprobs;                    /* [n_tokens] or NULL */
    kvs_finish  finish_reason;
    kvs_result  result;                      /* why the prompt was refused, else KVS_OK */
    int32_t     prompt_tokens, cached_tokens;
} kvs_completion;

typedef struct kvs_memory_plan {
    uint64_t weight_bytes;          /* allocated for weights; mapped_bytes are read from the file in place */
    uint64_t mapped_bytes;
    uint64_t page_bytes;            /* one KV block, all layers */
    uint64_t num_blocks, kv_bytes;  /* the pool */
    uint64_t workspace_bytes;       /* activations, logits, backend scratch */
    uint64_t host_bytes;            /* block tables, token arrays, hash index */
    uint64_t total_bytes;
    uint64_t token_bytes;           /* KV of one token, page_bytes / block_size */
    int32_t  max_model_len;
    int32_t  max_concurrency;       /* sequences of max_model_len that fit the pool together */
} kvs_memory_plan;

typedef struct kvs_stats {
    uint64_t steps, prompt_tokens, generated_tokens, cached_tokens;
    uint64_t requests, finished, cancelled, preemptions, forks, block_copies;
    int32_t  waiting, running;
    uint64_t blocks_total, blocks_free, blocks_cached, blocks_used;   /* free + cached + used == total */
    uint64_t tokens_held;           /* tokens whose KV is in used blocks, each block counted once */
    uint64_t prefix_queries, prefix_hits, evictions;                  /* blocks looked up, found; cached blocks reused for others */
    double   time_step, time_forward, time_sample;                    /* seconds, summed over all steps */
} kvs_stats;

/* Loads a model. *out is set even on failure, so that kvs_last_error works; close it in every case. */
KVS_API kvs_result  kvs_open(const kvs_config *cfg, kvs_engine **out);
KVS_API void        kvs_close(kvs_engine *);                       /* NULL is fine; cancels everything */
/* What went wrong last: what, where, expected, got. Valid until the next call on this engine by the same thread. Never NULL. */
KVS_API const char *kvs_last_error(const kvs_engine *);
/* Exact bytes, without loading a weight. err (may be NULL) gets the reason of a failure. */
KVS_API kvs_result  kvs_plan(const kvs_config *cfg, kvs_memory_plan *out, char err[KVS_MAX_ERROR]);

/* Queues a request. Any thread. out may be NULL. */
KVS_API kvs_result  kvs_submit(kvs_engine *, const kvs_prompt *, const kvs_sampling *, kvs_request *out);
/* One scheduler iteration: KVS_OK worked, KVS_IDLE nothing left, < 0 error. One thread at a time. Allocates no heap memory. */
KVS_API kvs_result  kvs_step(kvs_engine *);
/* 1: *out holds the next piece of some request; 0: none before the next step. The thread of kvs_step. */
KVS_API int         kvs_poll(kvs_engine *, kvs_output *out);
/* Ends a request with KVS_FINISH_CANCELLED, now or at the next step. Any thread. Blocks are never leaked. */
KVS_API kvs_result  kvs_cancel(kvs_engine *, kvs_request);
/* Offline batch: submits n prompts, steps until all are done. *out: array of n * max(1, sampling->n), by prompt then index. */
KVS_API kvs_result  kvs_generate(kvs_engine *, const kvs_prompt *, int n, const kvs_sampling *, kvs_completion **out);
KVS_API void        kvs_completions_free(kvs_engine *, kvs_completion *, int count);
/* The model's own defaults (generation_config.json). A zeroed struct is greedy instead. */
KVS_API void        kvs_sampling_default(const kvs_engine *, kvs_sampling *out);
KVS_API void        kvs_stats_get(const kvs_engine *, kvs_stats *out);      /* any thread */
/* Every invariant of blocks, reference counts, hash index and tables; KVS_ERR_CORRUPT with the first that fails. */
KVS_API kvs_result  kvs_check(const kvs_engine *);
/* Renders the block table of a request as text ("[0] 12* 13 14.." : * shared). Returns the length that the whole text needs. */
KVS_API size_t      kvs_block_table_str(const kvs_engine *, kvs_request, int index, char *buf, size_t cap);

/* The engine's tokenizer, NULL if the folder has none. Lives as long as the engine; any thread. */
KVS_API const struct kvs_tokenizer *kvs_get_tokenizer(const kvs_engine *);

typedef struct kvs_model_info {
    const char *architecture; int32_t vocab_size, n_layers, hidden, n_heads, n_kv_heads, head_dim, max_position;
    uint64_t n_params; const char *backend, *isa; int32_t num_threads; kvs_dtype dtype, kv_dtype;
} kvs_model_info;
KVS_API void        kvs_model_info_get(const kvs_engine *, kvs_model_info *out);

/* ---- the tokenizer alone ---- */

typedef struct kvs_tokenizer kvs_tokenizer;   /* immutable after open: any number of threads may encode and decode at once */
enum { KVS_ADD_SPECIAL = 1,    /* encode: apply the post-processor (BOS and the like) */
       KVS_PARSE_SPECIAL = 2,  /* encode: control tokens in the text become their ids; else they are plain text */
       KVS_SKIP_SPECIAL = 4 }; /* decode: leave out control tokens */

/* path: a model folder (tokenizer.json, or vocab.json + merges.txt) or a tokenizer.json. err as in kvs_plan. */
KVS_API kvs_result  kvs_tokenizer_open(const char *path, const kvs_allocator *, kvs_tokenizer **out, char err[KVS_MAX_ERROR]);
KVS_API void        kvs_tokenizer_close(kvs_tokenizer *);
/* Writes up to cap ids and returns how many there are in all (call again with a larger buffer if that is more than cap), or a
   kvs_result < 0. len counts bytes; invalid UTF-8 is read as U+FFFD. ids may be NULL if cap is 0. */
KVS_API int64_t     kvs_tokenizer_encode(const kvs_tokenizer *, const char *text, size_t len, int flags, int32_t *ids, size_t cap);
/* Writes up to cap bytes (no NUL) and returns how many there are in all, or a kvs_result < 0. */
KVS_API int64_t     kvs_tokenizer_decode(const kvs_tokenizer *, const int32_t *ids, size_t n, int flags, char *text, size_t cap);
KVS_API int32_t     kvs_tokenizer_vocab_size(const kvs_tokenizer *);          /* largest id + 1, added tokens included */
KVS_API int32_t     kvs_tokenizer_id(const kvs_tokenizer *, const char *token, size_t len);  /* of a whole vocabulary entry, or -1 */
KVS_API const char *kvs_tokenizer_token(const kvs_tokenizer *, int32_t id, size_t *len);     /* as in the vocabulary; NULL if none */
KVS_API int         kvs_tokenizer_is_special(const kvs_tokenizer *, int32_t id);

/* Streaming decode: feed ids one by one; gets whole UTF-8 characters only. Zero it before the first call; plain data, may be copied.
   The concatenation of all pieces and the final flush equals kvs_tokenizer_decode of all ids. */
typedef struct kvs_stream {
    unsigned char pending[64]; uint8_t n_pending;  /* bytes of an unfinished character, or of a run of byte-fallback tokens */
    uint8_t  stripped;                             /* leading spaces taken off so far */
    uint32_t started;                              /* bit per decoder step: it has seen its first token */
} kvs_stream;
/* Appends the text of one id to out (cap bytes; KVS_MAX_PIECE always suffices) and returns its length, or < 0. */
KVS_API int64_t     kvs_stream_put(const kvs_tokenizer *, kvs_stream *, int32_t id, int flags, char *out, size_t cap);
KVS_API int64_t     kvs_stream_flush(const kvs_tokenizer *, kvs_stream *, char *out, size_t cap);  /* U+FFFD for what stays unfinished */
#define KVS_MAX_PIECE 1024   /* longest text of one token plus pending bytes; a vocabulary with longer entries is refused */

/* ---- safetensors alone ---- */

typedef struct kvs_safetensors kvs_safetensors;
typedef struct kvs_tensor {
    const char *name;               /* lives as long as the file is open */
    kvs_dtype   dtype;
    int32_t     rank; int64_t shape[8];
    const void *data; uint64_t bytes;   /* in the read-only mapping */
    const char *file;
} kvs_tensor;

/* path: a .safetensors file, a model.safetensors.index.json, or a folder that holds either. Maps; copies nothing. */
KVS_API kvs_result  kvs_safetensors_open(const char *path, const kvs_allocator *, kvs_safetensors **out, char err[KVS_MAX_ERROR]);
KVS_API const kvs_tensor *kvs_safetensors_find(const kvs_safetensors *, const char *name);   /* NULL if none */
KVS_API const kvs_tensor *kvs_safetensors_list(const kvs_safetensors *, size_t *n);          /* sorted by name */
KVS_API void        kvs_safetensors_close(kvs_safetensors *);

/* ---- the block manager alone: paged KV memory with prefix sharing, no model, no floats ----
   A block is a number 0..num_blocks-1; what it holds is the caller's. One thread at a time. Calls with a block that does not
   exist, or that nobody holds, do nothing. */

typedef struct kvs_blocks kvs_blocks;
typedef struct kvs_blocks_config { int32_t num_blocks, block_size, no_prefix_cache; uint64_t seed; kvs_allocator allocator; } kvs_blocks_config;
typedef struct kvs_blocks_stats { int32_t total, free, cached, used; uint64_t queries, hits, evictions; } kvs_blocks_stats;
typedef struct kvs_prefix_hit { int32_t n_blocks; kvs_miss miss; int32_t miss_index; } kvs_prefix_hit;

KVS_API kvs_result kvs_blocks_open(const kvs_blocks_config *, kvs_blocks **out);
KVS_API void       kvs_blocks_close(kvs_blocks *);
/* A block nobody else holds, with one reference; evicts the least recently used cached block if need be. -1: none left. */
KVS_API int32_t    kvs_blocks_alloc(kvs_blocks *);
KVS_API void       kvs_blocks_ref(kvs_blocks *, int32_t block);
KVS_API void       kvs_blocks_unref(kvs_blocks *, int32_t block);     /* of a table: the last block first */
/* Finds the longest cached prefix of tokens under salt (NULL = ""), at most max_blocks. table[i] gets a reference each. */
KVS_API kvs_prefix_hit kvs_blocks_match(kvs_blocks *, const char *salt, const int32_t *tokens, int32_t n, int32_t max_blocks, int32_t *table);
/* Says that `block` holds the KV of `tokens` (block_size of them) after the published block `parent` (-1: at the start, under salt).
   Returns the block to use from now on: `block`, or an equal one that was there already, whose reference replaces the caller's. */
KVS_API int32_t    kvs_blocks_publish(kvs_blocks *, const char *salt, int32_t parent, const int32_t *tokens, int32_t block);
KVS_API void       kvs_blocks_stats_get(const kvs_blocks *, kvs_blocks_stats *out);
KVS_API kvs_result kvs_blocks_check(const kvs_blocks *, char err[KVS_MAX_ERROR]);

/* ====================================================================================================
   >>backend_api   The line between bookkeeping and maths.

   Above it: integers, schedules, strings. Below it: floats. A backend is one const struct of functions; the
   engine calls nothing else. To write your own, fill a kvs_backend and pass it in kvs_config.backend.

   Call order.  open -> alloc/pack (loading) -> { begin, ops..., sync }* -> free -> close. All calls of one context come from
   one thread at a time. Between begin and sync the ops run in the order given, as if each finished before the next began; a GPU
   backend enqueues them on its stream. Only after sync may the host read what sample or download wrote.
   Errors.      Ops return nothing. A backend remembers its first failure, makes later ops no-ops and reports it from sync.
   Pointers.    "device" pointers come from alloc and may only be dereferenced by the backend, offsets in elements or bytes
                may be added by the engine. Activations are rows of `act` elements: f32 on the CPU (act_bytes = 4).
   Aliasing.    An op's output may be its input only where said.
   Bit-stable.  Each output element depends only on its own row's inputs: never on T, on the other rows, or on the thread
                count. That makes the engine's determinism contract hold; a backend that cannot promise it clears `deterministic`.

   The shape alphabet: T tokens of this step, S sequences, D width, H query heads, HKV key/value heads, Dh head width,
   F feed-forward width, V vocabulary, L layers, BS tokens per block, NB blocks.
   ==================================================================================================== */

#define KVS_BACKEND_ABI 1

/* What a backend must know to size its scratch; all maxima over the model. */
typedef struct kvs_backend_desc {
    int32_t  num_threads;  kvs_isa isa;
    int32_t  max_tokens, max_seqs;      /* rows of a step, sequences of a step */
    int32_t  max_k, max_n;              /* widest linear: inputs, outputs */
    int32_t  n_heads, n_kv_heads, head_dim, block_size, max_model_len;
    int32_t  vocab;
    kvs_dtype kv_dtype;
    kvs_attention attention;
    const kvs_allocator *allocator;     /* already resolved: both functions set */
} kvs_backend_desc;

/* One block's page: [L][K,V][HKV] tiles of block_size x head_dim. How a tile is arranged is the backend's own. */
typedef struct kvs_kv_desc { kvs_dtype dtype; int32_t block_size, n_layers, n_kv_heads, head_dim; } kvs_kv_desc;

/* A matrix as found in files: n_parts pieces stacked by rows. Output row r of a part is source row row_map[r] (NULL: r).
   Element (r, k) lies at data[r * row_stride + k * col_stride], strides in elements. */
typedef struct kvs_weight_part {
    const void *data; kvs_dtype dtype;             /* F32, F16, BF16; host memory */
    int32_t rows; int64_t row_stride, col_stride;
    const int32_t *row_map;
} kvs_weight_part;

typedef enum kvs_weight_kind {
    KVS_WEIGHT_LINEAR = 0,   /* [N, K] for linear */
    KVS_WEIGHT_ROWS,         /* [N, K] for embed: looked up by row; may stay a view of the source, then bytes = 0 */
    KVS_WEIGHT_VECTOR        /* [1, K] f32: norms, biases */
} kvs_weight_kind;

typedef struct kvs_weight_desc {
    kvs_weight_kind kind; kvs_dtype dtype;          /* dtype wanted in memory (F32, F16, BF16) */
    int32_t n, k;
    const kvs_weight_part *parts; int32_t n_parts;
    float add;                                      /* VECTOR: added to each element (Gemma's 1 + w) */
} kvs_weight_desc;

typedef struct kvs_weight {                         /* a packed weight; made by pack, plain data, freed with free(data) if bytes > 0 */
    void *data; uint64_t bytes; kvs_weight_kind kind; kvs_dtype dtype; int32_t n, k; int64_t row_stride;
} kvs_weight;

/* The integers of one step, built by the batch section; valid until the next begin. */
typedef struct kvs_batch {
    int32_t T, S, n_logits;
    const int32_t *token;        /* [T] */
    const int32_t *pos;          /* [T] absolute position */
    const int64_t *slot;         /* [T] block * block_size + offset: where this token's K and V go */
    const int32_t *seq;          /* [T] which of the S sequences */
    const int32_t *q_start;      /* [S+1] first row of each sequence; its rows are consecutive positions */
    const int32_t *kv_len;       /* [S] tokens of the sequence up to and including its last row */
    const int32_t *block_table;  /* [S][table_stride] physical block numbers */
    int32_t table_stride;
    const int32_t *logit_row;    /* [n_logits] rows whose logits are wanted */
} kvs_batch;

typedef enum kvs_act { KVS_ACT_NONE = 0, KVS_ACT_SILU, KVS_ACT_GELU, KVS_ACT_GELU_TANH, KVS_ACT_RELU } kvs_act;
typedef enum kvs_norm { KVS_NORM_RMS = 0, KVS_NORM_LAYER } kvs_norm;

/* x[T, D] = table[token] * scale + pos_table[pos + pos_offset]; either table may be NULL and then adds nothing. */
typedef struct kvs_embed_args { const kvs_weight *table, *pos_table; int32_t pos_offset; float scale; void *x; int64_t x_stride; } kvs_embed_args;
/* For each row and each of `heads` slices of D elements: if delta, x += delta (x is written, same stride rules); y = norm(x) * w + b.
   y may be x when delta is NULL. w NULL = 1, b NULL = 0. rows <= max_tokens. */
typedef struct kvs_norm_args {
    kvs_norm kind; float eps; int32_t rows, heads, D;
    void *x; int64_t x_stride; const void *delta; int64_t delta_stride; void *y; int64_t y_stride;
    const kvs_weight *w, *b;
} kvs_norm_args;
/* y[rows, N] = act(x[rows, K] * w^T + bias) + residual. residual may be y, or NULL. y must not be x. */
typedef struct kvs_linear_args {
    int32_t rows; const void *x; int64_t x_stride; const kvs_weight *w, *bias;
    const void *residual; int64_t residual_stride; kvs_act act; void *y; int64_t y_stride;
} kvs_linear_args;
/* Rotates the first rot_dim elements of each of `heads` consecutive heads of x, in place. table: device f32
   [max_model_len][2][rot_dim/2] = cos then sin. interleaved: pairs (2i, 2i+1), else (i, i + rot_dim/2). */
typedef struct kvs_rope_args { void *x; int64_t x_stride; int32_t heads, Dh, rot_dim, interleaved; const float *table; } kvs_rope_args;
/* Writes K and V rows ([T] rows of HKV * Dh) of one layer into the pool at batch->slot. */
typedef struct kvs_kv_write_args { const void *k, *v; int64_t stride; void *pool; const kvs_kv_desc *kv; int32_t layer; } kvs_kv_write_args;
/* out[t, h] = softmax(scale * q[t,h] . K + alibi[h] * (j - pos)) V over keys j <= pos, j > pos - window (window 0: all).
   Heads are grouped: query head h reads KV head h / (H/HKV). alibi: device f32 [H] or NULL. softcap 0: none, else s = cap*tanh(s/cap). */
typedef struct kvs_attention_args {
    const void *q; int64_t q_stride; void *out; int64_t out_stride;
    const void *pool; const kvs_kv_desc *kv; int32_t layer, H;
    float scale, softcap; int32_t window; const float *alibi; kvs_attention how;
} kvs_attention_args;
/* y[t, i] = act(g[t, i]) * u[t, i], i < F. y may be g. */
typedef struct kvs_act_mul_args { int32_t F; kvs_act act; const void *g, *u; int64_t gu_stride; void *y; int64_t y_stride; } kvs_act_mul_args;
/* y[i] = x[rows[i]], i < n; rows: host array. */
typedef struct kvs_gather_args { int32_t n, D; const int32_t *rows; const void *x; int64_t x_stride; void *y; int64_t y_stride; } kvs_gather_args;

/* One row of sampling. Host pointers, valid until sync. */
typedef struct kvs_sample_row {
    float temperature, top_p, min_p, repetition_penalty, presence_penalty, frequency_penalty; int32_t top_k;
    double u;                                    /* uniform [0,1): this request's, for this position */
    const int32_t *tokens; int32_t n_prompt, n_tokens;   /* prompt then output, for the penalties */
    const kvs_logit_bias *bias; int32_t n_bias;
    const int32_t *banned; int32_t n_banned;     /* EOS and stop ids while min_tokens is not reached */
    int32_t n_top;                               /* alternatives wanted, 0..KVS_MAX_LOGPROBS; -1: no logprob at all */
    int32_t logit_row;                           /* row of the logits to read; several outputs may read the same one */
    int32_t token; float logprob;                /* out; logprob of the raw logits. token -1: the row held no finite logit */
    kvs_token_logprob top[KVS_MAX_LOGPROBS];     /* out, [n_top] best first, ties by lower id */
} kvs_sample_row;
/* logits: [n_logits, V] f32, kept unchanged. */
typedef struct kvs_sample_args { const void *logits; int64_t stride; int32_t V, n_rows; kvs_sample_row *rows; } kvs_sample_args;

typedef struct kvs_backend {
    uint32_t abi, size;              /* KVS_BACKEND_ABI, sizeof(kvs_backend) */
    const char *name;
    int32_t deterministic, act_bytes;

    /* sizes, pure functions: what kvs_plan adds up is what is then allocated */
    uint64_t   (*weight_bytes)(const kvs_weight_desc *);
    uint64_t   (*page_bytes)(const kvs_kv_desc *);              /* 0: this dtype, block size or head width is not supported */
    uint64_t   (*scratch_bytes)(const kvs_backend_desc *);
    uint64_t   (*free_memory)(void);                            /* bytes this backend could use now */

    kvs_result (*open)(const kvs_backend_desc *, void **ctx, char err[KVS_MAX_ERROR]);
    void       (*close)(void *ctx);
    const char *(*isa_name)(void *ctx);
    int32_t    (*num_threads)(void *ctx);

    void      *(*alloc)(void *ctx, uint64_t bytes);             /* device memory, undefined contents, 64-byte aligned; NULL if none */
    void       (*free)(void *ctx, void *ptr);
    void       (*upload)(void *ctx, void *dst, const void *host, uint64_t bytes);
    void       (*download)(void *ctx, void *host, const void *src, uint64_t bytes);
    kvs_result (*sync)(void *ctx, char err[KVS_MAX_ERROR]);
    kvs_result (*pack)(void *ctx, const kvs_weight_desc *, kvs_weight *out, char err[KVS_MAX_ERROR]);

    void (*begin)(void *ctx, const kvs_batch *);
    void (*embed)(void *ctx, const kvs_embed_args *);
    void (*norm)(void *ctx, const kvs_norm_args *);
    void (*linear)(void *ctx, const kvs_linear_args *);
    void (*rope)(void *ctx, const kvs_rope_args *);
    void (*kv_write)(void *ctx, const kvs_kv_write_args *);
    void (*attention)(void *ctx, const kvs_attention_args *);
    void (*act_mul)(void *ctx, const kvs_act_mul_args *);
    void (*gather)(void *ctx, const kvs_gather_args *);
    void (*sample)(void *ctx, const kvs_sample_args *);

    /* whole pages; src and dst are block numbers of the pool */
    void (*block_copy)(void *ctx, void *pool, const kvs_kv_desc *, int32_t src, int32_t dst);
    void (*block_read)(void *ctx, const void *pool, const kvs_kv_desc *, int32_t block, void *host);
    void (*block_write)(void *ctx, void *pool, const kvs_kv_desc *, int32_t block, const void *host);
} kvs_backend;

/* The CPU backend that kvs_config.backend = NULL uses. Tests wrap it to count, compare and fail. */
KVS_API const kvs_backend *kvs_cpu_backend(void);

#ifdef __cplusplus
}
#endif
#endif /* KVSERVE_H */

#if defined(KVSERVE_IMPLEMENTATION) && !defined(KVSERVE_IMPLEMENTED)
#define KVSERVE_IMPLEMENTED

#if defined(__GNUC__)
#  pragma GCC diagnostic push
#  pragma GCC diagnostic ignored "-Wunused-function"   /* parts that only some programs use */
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* ====================================================================================================
   >>base   Errors, memory, bytes, hashing. Knows nothing of models.
   ==================================================================================================== */

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#  include <sys/syscall.h>
#endif

#ifndef KVS_ASSERT
#  ifdef KVS_DEBUG
#    include <assert.h>
#    define KVS_ASSERT(x) assert(x)
#  else
#    define KVS_ASSERT(x) ((void)0)
#  endif
#endif

#define KVS__MIN(a, b) ((a) < (b) ? (a) : (b))
#define KVS__MAX(a, b) ((a) > (b) ? (a) : (b))
#define KVS__COUNT(a)  (sizeof(a) / sizeof((a)[0]))

KVS_API const char *kvs_result_str(kvs_result r)
{
    switch (r) {
#define KVS__X(name, value, text) case name: return text;
        KVS_RESULTS(KVS__X)
#undef KVS__X
        default: return "unknown result";
    }
}

/* ---- errors: one text that says what, where, expected, got ---- */

typedef struct kvs__err { char text[KVS_MAX_ERROR]; } kvs__err;

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static kvs_result kvs__fail(kvs__err *e, kvs_result r, const char *fmt, ...)
{
    if (e) {
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(e->text, sizeof e->text, fmt, ap);
        va_end(ap);
    }
    return r;
}

/* ---- memory: every allocation of the engine goes through a kvs__mem, which counts ----
   A block is preceded by a 64-byte header that holds its size, so that frees can be counted too. */

typedef struct kvs__mem { kvs_allocator a; uint64_t live, peak, calls; } kvs__mem;   /* counters: atomic */

static void *kvs__sys_alloc(size_t bytes, void *user) { (void)user; return malloc(bytes); }
static void  kvs__sys_free(void *ptr, void *user) { (void)user; free(ptr); }

static void kvs__mem_init(kvs__mem *m, const kvs_allocator *a)
{
    memset(m, 0, sizeof *m);
    if (a) m->a = *a;
    if (!m->a.alloc || !m->a.free) { m->a.alloc = kvs__sys_alloc; m->a.free = kvs__sys_free; }
}

#define KVS__ALIGN 64
typedef struct kvs__memhdr { void *base; size_t bytes; } kvs__memhdr;

/* n * size bytes, 64-byte aligned, contents undefined; NULL when out of memory or when the product overflows. n == 0 gives a
   valid pointer. For the large pools: pages nobody writes cost nothing. */
static void *kvs__alloc_raw(kvs__mem *m, size_t n, size_t size)
{
    if (size && n > (SIZE_MAX / 2 - 2 * KVS__ALIGN) / size) return NULL;
    size_t bytes = n * size;
    char *base = (char *)m->a.alloc(bytes + 2 * KVS__ALIGN, m->a.user);
    if (!base) return NULL;
    char *p = (char *)(((uintptr_t)base + sizeof(kvs__memhdr) + KVS__ALIGN - 1) & ~(uintptr_t)(KVS__ALIGN - 1));
    kvs__memhdr *h = (kvs__memhdr *)(void *)(p - sizeof(kvs__memhdr));
    h->base = base; h->bytes = bytes;
    uint64_t live = __atomic_add_fetch(&m->live, bytes, __ATOMIC_RELAXED);
    if (live > __atomic_load_n(&m->peak, __ATOMIC_RELAXED)) __atomic_store_n(&m->peak, live, __ATOMIC_RELAXED);
    __atomic_add_fetch(&m->calls, 1, __ATOMIC_RELAXED);
    return p;
}

static void *kvs__alloc(kvs__mem *m, size_t n, size_t size)   /* the same, zeroed */
{
    void *p = kvs__alloc_raw(m, n, size);
    if (p) memset(p, 0, n * size);
    return p;
}

static void kvs__free(kvs__mem *m, void *p)
{
    if (!p) return;
    kvs__memhdr *h = (kvs__memhdr *)(void *)((char *)p - sizeof(kvs__memhdr));
    __atomic_sub_fetch(&m->live, h->bytes, __ATOMIC_RELAXED);
    m->a.free(h->base, m->a.user);
}

/* Grows an array to hold at least need elements (doubling). 0 on success, -1 when out of memory (the array stays as it was). */
static int kvs__grow(kvs__mem *m, void **array, size_t *cap, size_t need, size_t size)
{
    if (need <= *cap) return 0;
    size_t want = *cap ? *cap : 16;
    while (want < need) { if (want > SIZE_MAX / 4) return -1; want *= 2; }
    void *p = kvs__alloc(m, want, size);
    if (!p) return -1;
    if (*cap) memcpy(p, *array, *cap * size);
    kvs__free(m, *array);
    *array = p; *cap = want;
    return 0;
}

/* A growing string of bytes, always NUL-terminated once something was put in. A failed put sets oom and later puts do nothing. */
typedef struct kvs__buf { kvs__mem *mem; char *p; size_t n, cap; int oom; } kvs__buf;

static void kvs__buf_put(kvs__buf *b, const void *src, size_t n)
{
    if (b->oom) return;
    void *p = b->p;
    if (n > SIZE_MAX / 4 || kvs__grow(b->mem, &p, &b->cap, b->n + n + 1, 1)) { b->oom = 1; return; }
    b->p = (char *)p;
    if (n) memcpy(b->p + b->n, src, n);
    b->n += n;
    b->p[b->n] = 0;
}
static void kvs__buf_free(kvs__buf *b) { kvs__free(b->mem, b->p); b->p = NULL; b->n = b->cap = 0; }

/* ---- overflow-safe arithmetic: 0 and the result, or -1 ---- */

static int kvs__mul_u64(uint64_t a, uint64_t b, uint64_t *out) { if (b && a > UINT64_MAX / b) return -1; *out = a * b; return 0; }
static int kvs__add_u64(uint64_t a, uint64_t b, uint64_t *out) { if (a > UINT64_MAX - b) return -1; *out = a + b; return 0; }

/* The first occurrence of part[m] in text[n], m > 0, or NULL: memmem, which not every libc declares. */
static const char *kvs__memmem(const char *text, size_t n, const char *part, size_t m)
{
    for (const char *p = text, *end = text + n; (size_t)(end - p) >= m; p++) {
        p = (const char *)memchr(p, part[0], (size_t)(end - p) - m + 1);
        if (!p) return NULL;
        if (memcmp(p, part, m) == 0) return p;
    }
    return NULL;
}

/* ---- files, mapped read-only ---- */

typedef struct kvs__map { const char *p; size_t n; } kvs__map;

/* An empty file maps to p = "" and n = 0. */
static kvs_result kvs__map_open(const char *path, kvs__map *out, kvs__err *e)
{
    struct stat st;
    out->p = NULL; out->n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return kvs__fail(e, KVS_ERR_IO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return kvs__fail(e, KVS_ERR_IO, "%s: not a regular file", path);
    }
    out->p = ""; out->n = 0;
    if (st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED) { close(fd); out->p = NULL; return kvs__fail(e, KVS_ERR_IO, "%s: mmap: %s", path, strerror(errno)); }
        out->p = (const char *)p; out->n = (size_t)st.st_size;
    }
    close(fd);
    return KVS_OK;
}
static void kvs__map_close(kvs__map *m)
{
    if (m->n) munmap((void *)(uintptr_t)m->p, m->n);
    m->p = NULL; m->n = 0;
}

static int kvs__file_exists(const char *path) { struct stat st; return stat(path, &st) == 0 && S_ISREG(st.st_mode); }
static int kvs__dir_exists(const char *path)  { struct stat st; return stat(path, &st) == 0 && S_ISDIR(st.st_mode); }

/* dir + "/" + name into out; -1 if it does not fit. */
static int kvs__path_join(char *out, size_t cap, const char *dir, const char *name)
{
    int n = snprintf(out, cap, "%s/%s", dir, name);
    return n < 0 || (size_t)n >= cap ? -1 : 0;
}

static double kvs__now(void)   /* seconds, monotonic */
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* ---- hashing: a keyed 128-bit hash for block keys, a 64-bit one for tables ---- */

static uint64_t kvs__rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static uint64_t kvs__mix(uint64_t x)
{
    x ^= x >> 30; x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27; x *= 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

typedef struct kvs__key { uint64_t lo, hi; } kvs__key;

/* SipHash-2-4 with 128-bit output (Aumasson, Bernstein 2012): keyed, so that a client who does not know the key cannot aim for
   collisions. Checked against the authors' vectors in tests/test_base.c. */
static kvs__key kvs__hash128(const void *data, size_t n, kvs__key k)
{
    const unsigned char *p = (const unsigned char *)data;
    uint64_t v0 = 0x736f6d6570736575ull ^ k.lo, v1 = 0x646f72616e646f6dull ^ k.hi ^ 0xee;
    uint64_t v2 = 0x6c7967656e657261ull ^ k.lo, v3 = 0x7465646279746573ull ^ k.hi;
#define KVS__SIPROUND do { \
        v0 += v1; v1 = kvs__rotl(v1, 13); v1 ^= v0; v0 = kvs__rotl(v0, 32); v2 += v3; v3 = kvs__rotl(v3, 16); v3 ^= v2; \
        v0 += v3; v3 = kvs__rotl(v3, 21); v3 ^= v0; v2 += v1; v1 = kvs__rotl(v1, 17); v1 ^= v2; v2 = kvs__rotl(v2, 32); } while (0)
    size_t left = n;
    for (; left >= 8; p += 8, left -= 8) {
        uint64_t m = 0;
        for (int i = 0; i < 8; i++) m |= (uint64_t)p[i] << (8 * i);
        v3 ^= m; KVS__SIPROUND; KVS__SIPROUND; v0 ^= m;
    }
    uint64_t b = (uint64_t)n << 56;
    for (size_t i = 0; i < left; i++) b |= (uint64_t)p[i] << (8 * i);
    v3 ^= b; KVS__SIPROUND; KVS__SIPROUND; v0 ^= b;
    kvs__key out;
    v2 ^= 0xee;
    for (int i = 0; i < 4; i++) KVS__SIPROUND;
    out.lo = v0 ^ v1 ^ v2 ^ v3;
    v1 ^= 0xdd;
    for (int i = 0; i < 4; i++) KVS__SIPROUND;
    out.hi = v0 ^ v1 ^ v2 ^ v3;
#undef KVS__SIPROUND
    return out;
}

/* FNV-1a with a final mix: for tables whose keys we made ourselves or whose worst case is only slow. */
static uint64_t kvs__hash64(const void *data, size_t n)
{
    const unsigned char *p = (const unsigned char *)data;
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return kvs__mix(h);
}

/* ---- element types ---- */

static size_t kvs__dtype_size(kvs_dtype d)
{
    switch (d) {
        case KVS_F32: return 4;
        case KVS_F16: case KVS_BF16: return 2;
        case KVS_FP8_E4M3: case KVS_INT8: return 1;
        case KVS_AUTO: default: return 0;
    }
}
static const char *kvs__dtype_name(kvs_dtype d)
{
    static const char *const name[] = {"auto", "f32", "f16", "bf16", "fp8_e4m3", "int8"};
    return (unsigned)d < KVS__COUNT(name) ? name[d] : "?";
}

static float kvs__u32_f32(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static uint32_t kvs__f32_u32(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static float kvs__bf16_f32(uint16_t h) { return kvs__u32_f32((uint32_t)h << 16); }

/* Round to nearest even; NaN stays a quiet NaN; denormals are flushed to zero as vcvtneps2bf16 does. */
static uint16_t kvs__f32_bf16(float f)
{
    uint32_t u = kvs__f32_u32(f);
    if ((u & 0x7f800000u) == 0) return (uint16_t)((u >> 16) & 0x8000u);
    if ((u & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((u >> 16) | 0x40u);
    return (uint16_t)((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
}

/* IEEE 754 half: exact. */
static float kvs__f16_f32(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, exp = (h >> 10) & 0x1fu, man = h & 0x3ffu;
    if (exp == 31) return kvs__u32_f32(sign | 0x7f800000u | (man << 13));
    if (exp) return kvs__u32_f32(sign | ((exp + 112) << 23) | (man << 13));
    if (!man) return kvs__u32_f32(sign);
    int shift = 0;                                   /* a denormal half is a normal float */
    while (!(man & 0x400u)) { man <<= 1; shift++; }
    return kvs__u32_f32(sign | ((uint32_t)(113 - shift) << 23) | ((man & 0x3ffu) << 13));
}

/* Round to nearest even, overflow to infinity, NaN stays NaN (as vcvtps2ph does). */
static uint16_t kvs__f32_f16(float f)
{
    uint32_t u = kvs__f32_u32(f), sign = (u >> 16) & 0x8000u;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | ((u >> 13) & 0x3ffu));
    if (u >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);
    if (u >= 0x38800000u) {                          /* normal half: rebias and round; a carry may reach infinity, rightly */
        u -= 0x38000000u;
        return (uint16_t)(sign | ((u + 0xfffu + ((u >> 13) & 1u)) >> 13));
    }
    if (u < 0x33000000u) return (uint16_t)sign;      /* below half of the smallest denormal */
    uint32_t shift = 126u - (u >> 23), man = (u & 0x7fffffu) | 0x800000u;   /* 14..24 */
    uint32_t half = 1u << (shift - 1), q = man >> shift, rem = man & ((1u << shift) - 1);
    if (rem > half || (rem == half && (q & 1u))) q++;
    return (uint16_t)(sign | q);
}

/* ====================================================================================================
   >>utf8   Code points in and out of UTF-8.

   Every text of the engine is UTF-8. What comes from outside may be broken; kvs__utf8_next then gives U+FFFD once per
   "maximal subpart" (the longest prefix of a valid sequence, else one byte), the rule of WHATWG, Rust and Python.
   ==================================================================================================== */

#define KVS__UTF8_BAD 0xFFFDu   /* the replacement character */

/* Decodes one code point of p[0..n), n > 0. Returns the bytes taken, >= 1. */
static size_t kvs__utf8_next(const char *p, size_t n, uint32_t *cp)
{
    const unsigned char *s = (const unsigned char *)p;
    unsigned char lo = 0x80, hi = 0xBF;            /* what the second byte may be */
    size_t more;
    uint32_t c = s[0];
    if (c < 0x80) { *cp = c; return 1; }
    *cp = KVS__UTF8_BAD;
    if (c >= 0xC2 && c <= 0xDF) { more = 1; c &= 0x1F; }
    else if (c >= 0xE0 && c <= 0xEF) {
        more = 2;
        if (c == 0xE0) lo = 0xA0;                  /* else it would fit two bytes */
        if (c == 0xED) hi = 0x9F;                  /* else it would be a surrogate */
        c &= 0x0F;
    } else if (c >= 0xF0 && c <= 0xF4) {
        more = 3;
        if (c == 0xF0) lo = 0x90;
        if (c == 0xF4) hi = 0x8F;                  /* else it would pass U+10FFFF */
        c &= 0x07;
    } else return 1;
    for (size_t i = 1; i <= more; i++, lo = 0x80, hi = 0xBF) {
        if (i >= n || s[i] < lo || s[i] > hi) return i;
        c = (c << 6) | (s[i] & 0x3Fu);
    }
    *cp = c;
    return more + 1;
}

/* Encodes cp, which must be a Unicode scalar value. Returns the bytes written, 1..4. */
static size_t kvs__utf8_put(uint32_t cp, char out[4])
{
    if (cp < 0x80) { out[0] = (char)cp; return 1; }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | (cp >> 6)); out[1] = (char)(0x80 | (cp & 0x3F));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | (cp >> 12)); out[1] = (char)(0x80 | ((cp >> 6) & 0x3F));
        out[2] = (char)(0x80 | (cp & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | (cp >> 18));         out[1] = (char)(0x80 | ((cp >> 12) & 0x3F));
    out[2] = (char)(0x80 | ((cp >> 6) & 0x3F)); out[3] = (char)(0x80 | (cp & 0x3F));
    return 4;
}

/* ====================================================================================================
   >>json   RFC 8259, read once into one flat array.

   A document becomes an array of nodes in the order of the text: a parent, then its children, each with its own
   children. A node knows the index of its next sibling, so a walk needs no pointers and freeing is two calls. Strings
   are decoded into one arena that cannot overflow: a string with its NUL is never longer than its text with two
   quotes. Strict: no comments, no trailing commas, no NaN, raw control characters and invalid UTF-8 are errors that
   name file and line. A lone surrogate escape becomes U+FFFD. No recursion: depth is limited and kept in an array.
   Knows nothing of what the files mean.
   ==================================================================================================== */

#define KVS__JSON_DEPTH 128

typedef enum {
    KVS__JSON_NULL, KVS__JSON_FALSE, KVS__JSON_TRUE, KVS__JSON_NUMBER, KVS__JSON_STRING,
    KVS__JSON_ARRAY, KVS__JSON_OBJECT
} kvs__json_type;

typedef struct kvs__json_node {
    uint8_t  type;                                 /* kvs__json_type */
    uint8_t  integer;                              /* a number that is exactly as.i, else it is as.d */
    uint32_t count;                                /* elements of an array, members of an object */
    uint32_t line;                                 /* from 1 */
    uint32_t next;                                 /* index of the next sibling, 0: the last one */
    uint32_t key, key_len;                         /* of a member, in the arena */
    union { int64_t i; double d; struct { uint32_t at, len; } s; } as;
} kvs__json_node;

typedef struct kvs__json {
    kvs__mem *mem;
    kvs__json_node *node;  size_t n_nodes, cap;
    char *arena;           size_t n_arena;
    uint32_t *order;                               /* room for the members of the largest object: kvs__json_dup */
} kvs__json;

typedef struct kvs__json_reader {
    kvs__json *j;
    const char *p, *end, *name;
    kvs__err *e;
    uint32_t line, key, key_len;                   /* the key read last waits for its value's node */
    uint32_t depth, largest;
    uint32_t parent[KVS__JSON_DEPTH], last[KVS__JSON_DEPTH];   /* open containers; their newest child, 0: none yet */
} kvs__json_reader;

static void kvs__json_free(kvs__json *j)
{
    if (!j->mem) return;
    kvs__free(j->mem, j->node);
    kvs__free(j->mem, j->arena);
    kvs__free(j->mem, j->order);
    memset(j, 0, sizeof *j);
}

static kvs_result kvs__json_bad(const kvs__json_reader *r, const char *expected)
{
    char found[24] = "the end of the file";
    if (r->p < r->end) {
        unsigned c = (unsigned char)*r->p;
        snprintf(found, sizeof found, c > 0x20 && c < 0x7F ? "'%c'" : "byte 0x%02x", c);
    }
    return kvs__fail(r->e, KVS_ERR_FORMAT, "%s:%u: expected %s, found %s", r->name, (unsigned)r->line, expected, found);
}

static void kvs__json_skip(kvs__json_reader *r)
{
    for (; r->p < r->end; r->p++) {
        if (*r->p == '\n') r->line++;
        else if (*r->p != ' ' && *r->p != '\t' && *r->p != '\r') return;
    }
}

/* ---- numbers ---- */

/* mant * 2^exp2, plus something smaller than its last bit if sticky, rounded to nearest even; the top bit of mant is
   set. */
static double kvs__json_round(uint64_t mant, int exp2, int sticky)
{
    int drop = 11;                                 /* 64 bits to 53 */
    if (exp2 + drop < -1074) drop = -1074 - exp2;  /* a denormal has fewer */
    if (drop > 64) return 0;
    uint64_t half = 1ull << (drop - 1);
    uint64_t rest = drop == 64 ? mant : mant & ((half << 1) - 1), keep = drop == 64 ? 0 : mant >> drop;
    if (rest > half || (rest == half && (sticky || (keep & 1)))) keep++;
    return ldexp((double)keep, exp2 + drop);
}

#define KVS__JSON_DIGITS 800   /* more cannot change a double except as "not zero" */
#define KVS__BIG_WORDS   224   /* 7168 bits: 800 digits take 2658, the shift for 10^-1130 up to 3904 */
typedef struct kvs__big { uint32_t w[KVS__BIG_WORDS]; int n; } kvs__big;   /* little endian, w[n-1] != 0 */

static void kvs__big_muladd(kvs__big *b, uint32_t mul, uint32_t add)
{
    uint64_t carry = add;
    for (int i = 0; i < b->n; i++) {
        carry += (uint64_t)b->w[i] * mul;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) b->w[b->n++] = (uint32_t)carry;
}
static uint32_t kvs__big_divide(kvs__big *b, uint32_t by)   /* returns the remainder */
{
    uint64_t rest = 0;
    for (int i = b->n - 1; i >= 0; i--) {
        rest = (rest << 32) | b->w[i];
        b->w[i] = (uint32_t)(rest / by);
        rest %= by;
    }
    while (b->n && !b->w[b->n - 1]) b->n--;
    return (uint32_t)rest;
}

static uint32_t kvs__big_bit(const kvs__big *b, int i) { return i < 0 ? 0 : (b->w[i / 32] >> (i % 32)) & 1u; }

/* The double nearest to digits * 10^exp10, by exact integers (strtod would ask the locale). n digits, the first not
   '0'; dropped: non-zero digits follow them. A negative power divides a number first shifted so that at least 64 bits
   of quotient remain. */
static double kvs__json_decimal(const char *digits, int n, int exp10, int dropped)
{
    kvs__big b;
    int exp2 = 0, sticky = dropped;
    if (n + exp10 > 310) return HUGE_VAL;
    if (n + exp10 < -330) return 0;
    b.n = 0;
    for (int i = 0; i < n; i++) kvs__big_muladd(&b, 10, (uint32_t)(digits[i] - '0'));
    for (int i = 0; i < exp10; i++) kvs__big_muladd(&b, 10, 0);
    if (exp10 < 0) {
        int words = (-exp10 * 107 / 32 + 31) / 32 + 3;       /* 107/32 > log2(10) */
        memmove(b.w + words, b.w, (size_t)b.n * sizeof b.w[0]);
        memset(b.w, 0, (size_t)words * sizeof b.w[0]);
        b.n += words; exp2 = -32 * words;
        for (int left = -exp10; left > 0; left -= 9) {
            uint32_t by = 1;
            for (int i = 0; i < left && i < 9; i++) by *= 10;
            if (kvs__big_divide(&b, by)) sticky = 1;
        }
    }
    int top = 32 * b.n;
    uint64_t mant = 0;                             /* the top 64 bits; a one below them is sticky */
    while (!kvs__big_bit(&b, top - 1)) top--;
    for (int i = 1; i <= 64; i++) mant = (mant << 1) | kvs__big_bit(&b, top - i);
    for (int i = 0; i < top - 64 && !sticky; i++) sticky = (int)kvs__big_bit(&b, i);
    return kvs__json_round(mant, exp2 + top - 64, sticky);
}

static int kvs__json_digit(const kvs__json_reader *r) { return r->p < r->end && *r->p >= '0' && *r->p <= '9'; }

/* Digits at r->p are appended to d without leading zeros; *exp10 counts those that found no room. Returns how many
   were read. */
static size_t kvs__json_digits(kvs__json_reader *r, char *d, int *n, int64_t *exp10, int *dropped)
{
    const char *from = r->p;
    for (; kvs__json_digit(r); r->p++) {
        if (*n == 0 && *r->p == '0') continue;
        if (*n < KVS__JSON_DIGITS) { d[(*n)++] = *r->p; continue; }
        ++*exp10;
        if (*r->p != '0') *dropped = 1;
    }
    return (size_t)(r->p - from);
}

/* At a digit or '-'. Integers that fit 64 bits stay exact; the rest becomes the nearest double. */
static kvs_result kvs__json_number(kvs__json_reader *r, kvs__json_node *out)
{
    char d[KVS__JSON_DIGITS];
    int n = 0, dropped = 0, integer = 1, neg = *r->p == '-';
    int64_t exp10 = 0;
    if (neg) r->p++;
    const char *from = r->p;
    if (!kvs__json_digits(r, d, &n, &exp10, &dropped)) return kvs__json_bad(r, "a digit");
    if (*from == '0' && r->p > from + 1) { r->p = from + 1; return kvs__json_bad(r, "no digit after a leading zero"); }
    if (r->p < r->end && *r->p == '.') {
        r->p++; integer = 0;
        size_t got = kvs__json_digits(r, d, &n, &exp10, &dropped);
        if (!got) return kvs__json_bad(r, "a digit after the point");
        exp10 -= (int64_t)got;
    }
    if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
        int64_t x = 0, minus = 0;
        r->p++; integer = 0;
        if (r->p < r->end && (*r->p == '-' || *r->p == '+')) minus = *r->p++ == '-';
        if (!kvs__json_digit(r)) return kvs__json_bad(r, "a digit of the exponent");
        for (; kvs__json_digit(r); r->p++) if (x < INT64_C(1) << 40) x = 10 * x + (*r->p - '0');
        exp10 += minus ? -x : x;
    }
    out->type = KVS__JSON_NUMBER;
    if (integer && n <= 19) {
        uint64_t x = 0;
        for (int i = 0; i < n; i++) x = 10 * x + (uint64_t)(d[i] - '0');
        out->integer = x <= (uint64_t)INT64_MAX + (uint64_t)neg;
        out->as.i = (int64_t)(neg ? 0 - x : x);
        if (out->integer) return KVS_OK;
    }
    exp10 = KVS__MIN(KVS__MAX(exp10, -100000), 100000);
    out->as.d = n ? kvs__json_decimal(d, n, (int)exp10, dropped) : 0;
    if (out->as.d > DBL_MAX)
        return kvs__fail(r->e, KVS_ERR_FORMAT, "%s:%u: the number is too large", r->name, (unsigned)r->line);
    if (neg) out->as.d = -out->as.d;
    return KVS_OK;
}

/* ---- strings ---- */

static int kvs__json_hex4(const kvs__json_reader *r, const char *p, uint32_t *out)
{
    if (r->end - p < 4) return -1;
    uint32_t x = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t c = (unsigned char)p[i], low = c | 0x20;
        if (c >= '0' && c <= '9') x = 16 * x + (c - '0');
        else if (low >= 'a' && low <= 'f') x = 16 * x + (low - 'a' + 10);
        else return -1;
    }
    *out = x;
    return 0;
}

/* At a backslash. Writes what it stands for to *w. A high surrogate takes the low one that follows; alone it becomes
   U+FFFD. */
static kvs_result kvs__json_escape(kvs__json_reader *r, char **w)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    uint32_t cp, low;
    r->p++;
    const char *at = r->p < r->end && *r->p ? strchr(from, *r->p) : NULL;
    if (at) { *(*w)++ = to[at - from]; r->p++; return KVS_OK; }
    if (r->p >= r->end || *r->p != 'u' || kvs__json_hex4(r, r->p + 1, &cp))
        return kvs__json_bad(r, "an escape (one of \"\\/bfnrt, or u and four hex digits)");
    r->p += 5;
    if (cp >= 0xD800 && cp < 0xE000) {
        int pair = cp < 0xDC00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u'
                   && !kvs__json_hex4(r, r->p + 2, &low) && low >= 0xDC00 && low < 0xE000;
        if (pair) { cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00); r->p += 6; }
        else cp = KVS__UTF8_BAD;
    }
    *w += kvs__utf8_put(cp, *w);
    return KVS_OK;
}

/* At the opening quote. Decodes into the arena: *at, *len, with a NUL behind. */
static kvs_result kvs__json_string(kvs__json_reader *r, uint32_t *at, uint32_t *len)
{
    kvs__json *j = r->j;
    char *w = j->arena + j->n_arena;
    uint32_t cp;
    *at = (uint32_t)j->n_arena;
    for (r->p++;;) {
        unsigned char c = r->p < r->end ? (unsigned char)*r->p : 0;
        if (c == '"') break;
        if (c < 0x20) return kvs__json_bad(r, "a character of a string or its closing '\"'");
        if (c == '\\') {
            kvs_result res = kvs__json_escape(r, &w);
            if (res) return res;
        } else if (c < 0x80) { *w++ = (char)c; r->p++; }
        else {
            size_t n = kvs__utf8_next(r->p, (size_t)(r->end - r->p), &cp);
            if (cp == KVS__UTF8_BAD && !(n == 3 && c == 0xEF)) return kvs__json_bad(r, "valid UTF-8");
            while (n--) *w++ = *r->p++;
        }
    }
    r->p++;
    *len = (uint32_t)(w - (j->arena + j->n_arena));
    *w = 0;
    j->n_arena = (size_t)(w + 1 - j->arena);
    return KVS_OK;
}

/* ---- values ---- */

/* The next node, linked to its parent and its elder sibling. NULL when out of memory. */
static kvs__json_node *kvs__json_push(kvs__json_reader *r)
{
    kvs__json *j = r->j;
    void *array = j->node;
    if (kvs__grow(j->mem, &array, &j->cap, j->n_nodes + 1, sizeof(kvs__json_node))) return NULL;
    j->node = (kvs__json_node *)array;
    uint32_t id = (uint32_t)j->n_nodes++;
    kvs__json_node *node = &j->node[id];
    memset(node, 0, sizeof *node);
    node->line = r->line;
    if (r->depth) {
        uint32_t *last = &r->last[r->depth - 1];
        kvs__json_node *parent = &j->node[r->parent[r->depth - 1]];
        parent->count++;
        if (parent->type == KVS__JSON_OBJECT) {
            node->key = r->key; node->key_len = r->key_len;
            r->largest = KVS__MAX(r->largest, parent->count);
        }
        if (*last) j->node[*last].next = id;
        *last = id;
    }
    return node;
}

static kvs_result kvs__json_word(kvs__json_reader *r, const char *word, kvs__json_type type, kvs__json_node *out)
{
    size_t n = strlen(word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, word, n)) return kvs__json_bad(r, "a value");
    out->type = (uint8_t)type;
    r->p += n;
    return KVS_OK;
}

/* A scalar as a whole, or the opening bracket of a container, which is then the innermost open one. */
static kvs_result kvs__json_value(kvs__json_reader *r)
{
    kvs__json_node *node = kvs__json_push(r);
    if (!node) return kvs__fail(r->e, KVS_ERR_MEMORY, "%s: out of memory", r->name);
    char c = r->p < r->end ? *r->p : 0;
    switch (c) {
        case 'n': return kvs__json_word(r, "null", KVS__JSON_NULL, node);
        case 't': return kvs__json_word(r, "true", KVS__JSON_TRUE, node);
        case 'f': return kvs__json_word(r, "false", KVS__JSON_FALSE, node);
        case '"':
            node->type = KVS__JSON_STRING;
            return kvs__json_string(r, &node->as.s.at, &node->as.s.len);
        case '{': case '[':
            if (r->depth == KVS__JSON_DEPTH)
                return kvs__fail(r->e, KVS_ERR_FORMAT, "%s:%u: nested deeper than %d", r->name, (unsigned)r->line,
                                 KVS__JSON_DEPTH);
            node->type = c == '{' ? KVS__JSON_OBJECT : KVS__JSON_ARRAY;
            r->last[r->depth] = 0;
            r->parent[r->depth++] = (uint32_t)(r->j->n_nodes - 1);
            r->p++;
            return KVS_OK;
        default:
            return c == '-' || kvs__json_digit(r) ? kvs__json_number(r, node) : kvs__json_bad(r, "a value");
    }
}

static kvs_result kvs__json_read_key(kvs__json_reader *r)
{
    if (r->p >= r->end || *r->p != '"') return kvs__json_bad(r, "a '\"' that opens a key");
    kvs_result res = kvs__json_string(r, &r->key, &r->key_len);
    if (res) return res;
    kvs__json_skip(r);
    if (r->p >= r->end || *r->p != ':') return kvs__json_bad(r, "':'");
    r->p++;
    kvs__json_skip(r);
    return KVS_OK;
}

/* Behind a value or an opening bracket: closes what closes, and goes on to where the next value starts (*done: there
   is none). */
static kvs_result kvs__json_between(kvs__json_reader *r, int opened, int *done)
{
    for (;; opened = 0, r->p++) {
        kvs__json_skip(r);
        *done = !r->depth;
        if (*done) return r->p < r->end ? kvs__json_bad(r, "the end of the file") : KVS_OK;
        int object = r->j->node[r->parent[r->depth - 1]].type == KVS__JSON_OBJECT;
        char c = r->p < r->end ? *r->p : 0;
        if (c == (object ? '}' : ']')) { r->depth--; continue; }
        if (!opened) {
            if (c != ',') return kvs__json_bad(r, object ? "',' or '}'" : "',' or ']'");
            r->p++;
            kvs__json_skip(r);
        }
        return object ? kvs__json_read_key(r) : KVS_OK;
    }
}

/* *out must be zero. On failure nothing is held; e names the file as `name` and the line. */
static kvs_result kvs__json_parse(kvs__mem *mem, const char *text, size_t n, const char *name, kvs__json *out,
                                  kvs__err *e)
{
    kvs__json_reader r;
    kvs_result res;
    int done = 0;
    memset(&r, 0, sizeof r);
    r.j = out; r.p = text; r.end = text + n; r.name = name; r.e = e; r.line = 1;
    if (n >= UINT32_MAX) return kvs__fail(e, KVS_ERR_FORMAT, "%s: %zu bytes, expected less than 4 GiB", name, n);
    out->mem = mem;
    out->arena = (char *)kvs__alloc(mem, n + 1, 1);
    out->cap = n / 16 + 16;                        /* tokenizer.json has a node per 18 bytes: it seldom grows */
    out->node = (kvs__json_node *)kvs__alloc(mem, out->cap, sizeof(kvs__json_node));
    res = out->arena && out->node ? KVS_OK : kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", name);
    kvs__json_skip(&r);
    while (!res && !done) {
        uint32_t depth = r.depth;
        res = kvs__json_value(&r);
        if (!res) res = kvs__json_between(&r, r.depth > depth, &done);
    }
    if (!res && !(out->order = (uint32_t *)kvs__alloc(mem, r.largest, sizeof(uint32_t))))
        res = kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", name);
    if (res) kvs__json_free(out);
    return res;
}

/* ---- reading the tree: every function accepts NULL for a node and then finds nothing ---- */

static const kvs__json_node *kvs__json_root(const kvs__json *j) { return j->n_nodes ? j->node : NULL; }

static const kvs__json_node *kvs__json_first(const kvs__json *j, const kvs__json_node *parent)
{
    (void)j;                                       /* the first child lies behind its parent; only containers count */
    return parent && parent->count ? parent + 1 : NULL;
}
static const kvs__json_node *kvs__json_next(const kvs__json *j, const kvs__json_node *node)
{
    return node && node->next ? j->node + node->next : NULL;
}
static const char *kvs__json_key(const kvs__json *j, const kvs__json_node *member, size_t *len)
{
    if (len) *len = member ? member->key_len : 0;
    return member ? j->arena + member->key : NULL;
}
static const char *kvs__json_str(const kvs__json *j, const kvs__json_node *node, size_t *len)
{
    int is = node && node->type == KVS__JSON_STRING;
    if (len) *len = is ? node->as.s.len : 0;
    return is ? j->arena + node->as.s.at : NULL;
}

/* The member of that name, the last one if there are several (as Python and JavaScript do). O(members). */
static const kvs__json_node *kvs__json_get(const kvs__json *j, const kvs__json_node *object, const char *key)
{
    const kvs__json_node *found = NULL;
    size_t n = strlen(key);
    if (!object || object->type != KVS__JSON_OBJECT) return NULL;
    for (const kvs__json_node *m = kvs__json_first(j, object); m; m = kvs__json_next(j, m))
        if (m->key_len == n && memcmp(j->arena + m->key, key, n) == 0) found = m;
    return found;
}

/* 0 and the value if the node is a number written as an integer that fits, else -1. */
static int kvs__json_int(const kvs__json_node *node, int64_t *out)
{
    if (!node || node->type != KVS__JSON_NUMBER || !node->integer) return -1;
    *out = node->as.i;
    return 0;
}
static double kvs__json_num(const kvs__json_node *node, double otherwise)
{
    if (!node || node->type != KVS__JSON_NUMBER) return otherwise;
    return node->integer ? (double)node->as.i : node->as.d;
}
static int kvs__json_bool(const kvs__json_node *node, int otherwise)
{
    if (!node || (node->type != KVS__JSON_TRUE && node->type != KVS__JSON_FALSE)) return otherwise;
    return node->type == KVS__JSON_TRUE;
}

/* Orders members by key (length first: any order will do), equal keys by place. */
static int kvs__json_before(const kvs__json *j, uint32_t a, uint32_t b)
{
    const kvs__json_node *x = &j->node[a], *y = &j->node[b];
    int c = x->key_len == y->key_len ? memcmp(j->arena + x->key, j->arena + y->key, x->key_len) : 0;
    if (x->key_len != y->key_len) return x->key_len < y->key_len;
    return c ? c < 0 : a < b;
}
static void kvs__json_sift(const kvs__json *j, uint32_t *heap, size_t i, size_t n)   /* the latest rises to the top */
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && kvs__json_before(j, heap[child], heap[child + 1])) child++;
        if (!kvs__json_before(j, heap[i], heap[child])) return;
        uint32_t t = heap[i]; heap[i] = heap[child]; heap[child] = t;
    }
}

/* The key whose repetition comes first in the text, or NULL if all differ. O(n log n): a heap sort of the document's
   own scratch (so not for two threads at once), where a comparison of all pairs would let a hostile header stall the
   loader. */
static const char *kvs__json_dup(const kvs__json *j, const kvs__json_node *object)
{
    uint32_t *v = j->order, again = 0;
    size_t n = 0;
    if (!object || object->type != KVS__JSON_OBJECT) return NULL;
    for (const kvs__json_node *m = kvs__json_first(j, object); m; m = kvs__json_next(j, m))
        v[n++] = (uint32_t)(m - j->node);
    for (size_t i = n / 2; i-- > 0;) kvs__json_sift(j, v, i, n);
    for (size_t i = n; i-- > 1;) {
        uint32_t t = v[0]; v[0] = v[i]; v[i] = t;
        kvs__json_sift(j, v, 0, i);
    }
    for (size_t i = 1; i < n; i++) {
        const kvs__json_node *x = &j->node[v[i - 1]], *y = &j->node[v[i]];
        int same = x->key_len == y->key_len && memcmp(j->arena + x->key, j->arena + y->key, x->key_len) == 0;
        if (same && (!again || v[i] < again)) again = v[i];
    }
    return again ? j->arena + j->node[again].key : NULL;
}

/* ====================================================================================================
   >>unicode   What the tokenizer must know of characters: category, white space, case, normal forms.

   Token ids must equal the reference library's on every input, so each table has the Unicode version of that
   library's part: categories and folding 16.0, normalisation 9.0, lower case 17.0. The data lies at the end of the
   file (>>tables) and is printed by tests/golden/make_unicode.py; here are only the searches in it. Nothing is
   expanded or cached: no globals. Knows nothing of tokens.
   ==================================================================================================== */

enum {   /* general categories, in the order of the tables */
    KVS__UC_LU, KVS__UC_LL, KVS__UC_LT, KVS__UC_LM, KVS__UC_LO, KVS__UC_MN, KVS__UC_MC, KVS__UC_ME, KVS__UC_ND,
    KVS__UC_NL, KVS__UC_NO, KVS__UC_PC, KVS__UC_PD, KVS__UC_PS, KVS__UC_PE, KVS__UC_PI, KVS__UC_PF, KVS__UC_PO,
    KVS__UC_SM, KVS__UC_SC, KVS__UC_SK, KVS__UC_SO, KVS__UC_ZS, KVS__UC_ZL, KVS__UC_ZP, KVS__UC_CC, KVS__UC_CF,
    KVS__UC_CS, KVS__UC_CO, KVS__UC_CN,
    KVS__UC_EVEN_UPPER, KVS__UC_ODD_UPPER   /* only inside the table: LU and LL in turn */
};

typedef enum kvs__unidata_id {   /* in the order of >>tables */
    KVS__UD_CATEGORY, KVS__UD_HAN, KVS__UD_FOLD, KVS__UD_LOWER, KVS__UD_CCC, KVS__UD_ONES, KVS__UD_PAIRS, KVS__UD_ORDER,
    KVS__UD_MANY, KVS__UD_POOL, KVS__UD_NFC, KVS__UD_NFKC
} kvs__unidata_id;
typedef struct kvs__unidata { const uint32_t *v; size_t n; } kvs__unidata;
static kvs__unidata kvs__unidata_get(kvs__unidata_id id);

#define KVS__UNI_MAX 0x10FFFFu

/* The last row (of `width` words) whose first word is <= key, or NULL. */
static const uint32_t *kvs__uni_row(kvs__unidata_id id, size_t width, uint32_t key)
{
    kvs__unidata t = kvs__unidata_get(id);
    size_t lo = 0, hi = t.n / width;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t.v[mid * width] <= key) lo = mid + 1;
        else hi = mid;
    }
    return lo ? t.v + (lo - 1) * width : NULL;
}
/* Of a table of runs (first << 8 | value): the value at cp. Every such table begins with 0. */
static uint32_t kvs__uni_run(kvs__unidata_id id, uint32_t cp) { return *kvs__uni_row(id, 1, cp << 8 | 0xFF) & 0xFF; }

static int kvs__uni_category(uint32_t cp)
{
    uint32_t c = cp > KVS__UNI_MAX ? (uint32_t)KVS__UC_CN : kvs__uni_run(KVS__UD_CATEGORY, cp);
    if (c < KVS__UC_EVEN_UPPER) return (int)c;
    return ((cp & 1) == 0) == (c == KVS__UC_EVEN_UPPER) ? KVS__UC_LU : KVS__UC_LL;
}

/* The White_Space property, which is also \s. */
static int kvs__uni_space(uint32_t cp)
{
    if (cp < 0x80) return cp == ' ' || (cp >= 9 && cp <= 13);
    return cp == 0x85 || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) || cp == 0x2028 || cp == 0x2029
        || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

/* ---- case ---- */

static uint32_t kvs__uni_map(kvs__unidata_id id, uint32_t cp)
{
    const uint32_t *r = kvs__uni_row(id, 4, cp);   /* first, count, step, delta */
    if (!r || (cp - r[0]) % r[2] || (cp - r[0]) / r[2] >= r[1]) return cp;
    return cp + r[3];
}
static uint32_t kvs__uni_fold(uint32_t cp) { return kvs__uni_map(KVS__UD_FOLD, cp); }

/* Appends s in lower case, character by character, as the reference library does: a capital sigma never becomes a
   final one. Only U+0130 becomes two characters. */
static void kvs__uni_lower(kvs__buf *out, const char *s, size_t n)
{
    char b[4];
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        i += kvs__utf8_next(s + i, n - i, &cp);
        if (cp < 0x80) { b[0] = (char)(cp >= 'A' && cp <= 'Z' ? cp + 32 : cp); kvs__buf_put(out, b, 1); continue; }
        if (cp == 0x130) { kvs__buf_put(out, "i\xcc\x87", 3); continue; }
        kvs__buf_put(out, b, kvs__utf8_put(kvs__uni_map(KVS__UD_LOWER, cp), b));
    }
}

/* ---- normal forms (UAX #15) ---- Text is copied as it is up to a character that the form may change; from the last
   character before it (which may compose with it) up to the next one that is safe, the stretch is decomposed, ordered
   and composed in an array of words: code point and, in the top byte, combining class. */

typedef enum { KVS__NFC, KVS__NFD, KVS__NFKC, KVS__NFKD } kvs__uni_form;

enum {   /* Hangul: syllable = S + (L * 21 + V) * 28 + T */
    KVS__HAN_S = 0xAC00, KVS__HAN_L = 0x1100, KVS__HAN_V = 0x1161, KVS__HAN_T = 0x11A7,
    KVS__HAN_NV = 21, KVS__HAN_NT = 28, KVS__HAN_NL = 19, KVS__HAN_NS = 19 * 21 * 28
};

typedef struct kvs__norm { kvs__buf *out; int compat; uint32_t *w, *tmp; size_t n, cap, tmp_cap; } kvs__norm;

static void kvs__norm_push(kvs__norm *m, uint32_t cp)
{
    void *array = m->w;
    if (kvs__grow(m->out->mem, &array, &m->cap, m->n + 1, sizeof *m->w)) { m->out->oom = 1; return; }
    m->w = (uint32_t *)array;
    m->w[m->n++] = cp | kvs__uni_run(KVS__UD_CCC, cp) << 24;
}

/* Appends the full decomposition of cp. Recursion follows the tables, which nest at most four deep. */
static void kvs__norm_decompose(kvs__norm *m, uint32_t cp)
{
    kvs__unidata pool = kvs__unidata_get(KVS__UD_POOL);
    const uint32_t *r;
    if (cp < 0x80) { kvs__norm_push(m, cp); return; }
    uint32_t s = cp - KVS__HAN_S;                  /* wraps below S, and is then large */
    if (s < KVS__HAN_NS) {
        kvs__norm_push(m, KVS__HAN_L + s / (KVS__HAN_NV * KVS__HAN_NT));
        kvs__norm_push(m, KVS__HAN_V + s / KVS__HAN_NT % KVS__HAN_NV);
        if (s % KVS__HAN_NT) kvs__norm_push(m, KVS__HAN_T + s % KVS__HAN_NT);
        return;
    }
    r = kvs__uni_row(KVS__UD_PAIRS, 3, cp);
    if (r && r[0] == cp) { kvs__norm_decompose(m, r[1]); kvs__norm_decompose(m, r[2]); return; }
    r = kvs__uni_row(KVS__UD_ONES, 3, cp);
    if (r && cp - r[0] < (r[1] & 0xFFFF) && (m->compat || !(r[1] >> 31))) {
        uint32_t i = cp - r[0];
        kvs__norm_decompose(m, r[1] >> 30 & 1 ? pool.v[r[2] + i] : r[2] + i);
        return;
    }
    r = kvs__uni_row(KVS__UD_MANY, 2, cp);
    if (!m->compat || !r || r[0] != cp) { kvs__norm_push(m, cp); return; }
    for (uint32_t i = 0; i < r[1] >> 16; i++) kvs__norm_decompose(m, pool.v[(r[1] & 0xFFFF) + i]);
}

/* Sorts w[0..n), all of them combining, by class, stably: a counting sort, so a million marks take linear time. */
static void kvs__norm_sort(kvs__norm *m, uint32_t *w, size_t n)
{
    size_t count[256], at = 0, i = 1;
    while (i < n && w[i - 1] >> 24 <= w[i] >> 24) i++;
    if (i >= n) return;
    void *array = m->tmp;
    if (kvs__grow(m->out->mem, &array, &m->tmp_cap, n, sizeof *m->tmp)) { m->out->oom = 1; return; }
    m->tmp = (uint32_t *)array;
    memset(count, 0, sizeof count);
    for (i = 0; i < n; i++) count[w[i] >> 24]++;
    for (i = 0; i < 256; i++) { size_t c = count[i]; count[i] = at; at += c; }
    for (i = 0; i < n; i++) m->tmp[count[w[i] >> 24]++] = w[i];
    memcpy(w, m->tmp, n * sizeof *w);
}

/* The primary composite of a and b, or 0. */
static uint32_t kvs__norm_pair(uint32_t a, uint32_t b)
{
    if (a - KVS__HAN_L < KVS__HAN_NL && b - KVS__HAN_V < KVS__HAN_NV)
        return KVS__HAN_S + ((a - KVS__HAN_L) * KVS__HAN_NV + (b - KVS__HAN_V)) * KVS__HAN_NT;
    uint32_t s = a - KVS__HAN_S, t = b - KVS__HAN_T;
    if (s < KVS__HAN_NS && s % KVS__HAN_NT == 0 && t - 1 < KVS__HAN_NT - 1) return a + t;
    kvs__unidata order = kvs__unidata_get(KVS__UD_ORDER), pairs = kvs__unidata_get(KVS__UD_PAIRS);
    size_t lo = 0, hi = order.n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const uint32_t *p = pairs.v + (size_t)3 * order.v[mid];
        if (p[1] == a && p[2] == b) return p[0];
        if (p[1] < a || (p[1] == a && p[2] < b)) lo = mid + 1;
        else hi = mid;
    }
    return 0;
}

/* Composes m->w in place: a character joins the last starter unless one of the same or a higher class stands between
   them. */
static void kvs__norm_compose(kvs__norm *m)
{
    size_t out = 0, starter = SIZE_MAX;
    uint32_t last = 0;                             /* class of the character before; 0: it is the starter itself */
    for (size_t i = 0; i < m->n; i++) {
        uint32_t cp = m->w[i] & 0xFFFFFF, cc = m->w[i] >> 24, both = 0;
        if (starter != SIZE_MAX && (last == 0 || last < cc)) both = kvs__norm_pair(m->w[starter], cp);
        if (both) { m->w[starter] = both; continue; }
        if (cc == 0) starter = out;
        last = cc;
        m->w[out++] = m->w[i];
    }
    m->n = out;
}

static void kvs__norm_stretch(kvs__norm *m, kvs__uni_form form, const char *s, size_t n)
{
    uint32_t cp;
    char b[4];
    m->n = 0;
    for (size_t i = 0; i < n;) { i += kvs__utf8_next(s + i, n - i, &cp); kvs__norm_decompose(m, cp); }
    for (size_t i = 0, from; i < m->n; i++) {
        for (from = i; i < m->n && m->w[i] >> 24;) i++;
        if (i > from + 1) kvs__norm_sort(m, m->w + from, i - from);
    }
    if (form == KVS__NFC || form == KVS__NFKC) kvs__norm_compose(m);
    for (size_t i = 0; i < m->n; i++) kvs__buf_put(m->out, b, kvs__utf8_put(m->w[i] & 0xFFFFFF, b));
}

/* A starter that the form leaves alone and that never composes with what is before it. */
static int kvs__norm_safe(kvs__uni_form form, uint32_t cp)
{
    const uint32_t *r;
    if (cp < 0x80 || (form == KVS__NFC && cp < 0x300)) return 1;
    if (form == KVS__NFC || form == KVS__NFKC) return !kvs__uni_run(form == KVS__NFC ? KVS__UD_NFC : KVS__UD_NFKC, cp);
    if (cp - KVS__HAN_S < KVS__HAN_NS || kvs__uni_run(KVS__UD_CCC, cp)) return 0;
    r = kvs__uni_row(KVS__UD_PAIRS, 3, cp);
    if (r && r[0] == cp) return 0;
    r = kvs__uni_row(KVS__UD_ONES, 3, cp);
    if (r && cp - r[0] < (r[1] & 0xFFFF) && (form == KVS__NFKD || !(r[1] >> 31))) return 0;
    r = kvs__uni_row(KVS__UD_MANY, 2, cp);
    return form != KVS__NFKD || !r || r[0] != cp;
}

/* Appends s, valid UTF-8, in the given form. Linear time; out->oom tells of a failure. */
static void kvs__uni_normalize(kvs__uni_form form, const char *s, size_t n, kvs__buf *out)
{
    size_t done = 0, last = 0, i = 0;              /* s[done..i) is not yet written; its last character is at `last` */
    uint32_t cp;
    kvs__norm m;
    memset(&m, 0, sizeof m);
    m.out = out; m.compat = form == KVS__NFKC || form == KVS__NFKD;
    while (i < n) {
        size_t take = kvs__utf8_next(s + i, n - i, &cp);
        if (kvs__norm_safe(form, cp)) { last = i; i += take; continue; }
        kvs__buf_put(out, s + done, last - done);
        for (i += take; i < n; i += take) {
            take = kvs__utf8_next(s + i, n - i, &cp);
            if (kvs__norm_safe(form, cp)) break;
        }
        kvs__norm_stretch(&m, form, s + last, i - last);
        done = last = i;
    }
    kvs__buf_put(out, s + done, n - done);
    kvs__free(out->mem, m.w);
    kvs__free(out->mem, m.tmp);
}

/* ====================================================================================================
   >>regex   The patterns of pre-tokenizers.

   Syntax and meaning are Oniguruma's (Ruby flavour), which the reference library uses: of the alternatives the first
   that leads to a match wins, quantifiers give back one character at a time, ^ and $ are those of lines, \s \d \w are
   Unicode's. Implemented:
       literals  .  [..] with ranges, nested classes and &&  \t \n \r \f \v \a \e \xHH \x{..} \uHHHH  \s \S \d \D \w \W
       \p{..} \P{..} \p{^..} of general categories and of Han  (..) (?:..) (?i) (?m) (?i-m:..)  |  ^ $ \A \z \Z \b \B
       * + ? {m} {m,} {,n} {m,n}, lazy with ?, possessive with + behind * + ?  (?>x*) of one class  (?=..) (?!..)
   Groups capture nothing. Everything else is refused by name and offset: look-behind, back references, named groups,
   [:posix:], other scripts, \R \X \K \G \h, (?x), (?>..) of more than one class, a possessive group, a repeated group
   that may match nothing. (?i) folds character by character: ss does not equal a sharp s, as it does there.

   Fast: A set of characters is a table by first byte; only characters beyond ASCII that the first byte does not decide
   are decoded and looked up, in two steps. A repeated class is one instruction that scans. An alternation looks at the
   next byte and tries only the alternatives that can begin so. A loop gives back only to where the next instruction
   can begin, and never if that cannot be or if the rest cannot fail. So most text is split without backtracking.

   Linear: A search counts its steps. If they pass 4096 + 16 per byte of text (known models come to 6 at most, save for
   look-aheads over digits), it goes on "carefully": each choice (instruction, position) that has failed is noted, for
   this text and across calls, and never explored again; in look-aheads also each that succeeded. So time is bounded by
   the size of the program times that of the text, and memory by 2 bits for each choice instruction and byte.
   Recursion follows the pattern, never the text. Knows nothing of tokens.
   ==================================================================================================== */

#define KVS__RE_MAX_PATTERN 16384
#define KVS__RE_MAX_INST    4096
#define KVS__RE_MAX_SETS    512
#define KVS__RE_MAX_REPEAT  1000
#define KVS__RE_MAX_NEST    64
#define KVS__RE_INF         UINT32_MAX
#define KVS__RE_END         256        /* "next byte" at the end of the text */
#define KVS__RE_NEXTS       257

enum { KVS__RE_SET, KVS__RE_LOOP, KVS__RE_ALT, KVS__RE_JMP, KVS__RE_PEEK, KVS__RE_LOOK, KVS__RE_ASSERT, KVS__RE_MATCH };
enum { KVS__RE_GREEDY, KVS__RE_LAZY, KVS__RE_POSSESSIVE };
enum {   /* kinds of ASSERT */
    KVS__RE_LINE_START, KVS__RE_LINE_END, KVS__RE_START, KVS__RE_STOP, KVS__RE_STOP_NL, KVS__RE_WORD, KVS__RE_NO_WORD
};

/* lead: by first byte, 0: no member begins so, 1: every such character is one, 2: ask page. page: by code point >> 8,
   which of the regex's pages of 256 bits. */
typedef struct kvs__re_set { uint8_t lead[256]; uint16_t page[(KVS__UNI_MAX >> 8) + 1]; uint32_t literal; } kvs__re_set;
typedef struct kvs__re_page { uint32_t bits[8]; } kvs__re_page;

typedef struct kvs__re_inst {
    uint8_t  op, mode;                 /* mode: of a LOOP; of PEEK and LOOK 1 = must not match; which ASSERT */
    uint16_t set;                      /* SET, LOOP, PEEK, word ASSERTs */
    uint32_t min, max;                 /* LOOP; of an ALT min is how many alternatives */
    uint32_t to;                       /* JMP, and where a LOOK goes on; of an ALT its first place in `target` */
    uint32_t slot;                     /* of ALT and LOOP: its row in `next`, `mask` and the notes */
} kvs__re_inst;

typedef struct kvs__re_next { uint8_t at[KVS__RE_NEXTS]; } kvs__re_next;    /* by next byte: can it begin so? */
typedef struct kvs__re_mask { uint32_t at[KVS__RE_NEXTS]; } kvs__re_mask;   /* by next byte: a bit for each that can */

typedef struct kvs__regex {
    kvs__mem *mem;
    kvs__re_set  *set;     size_t n_sets, cap_sets;
    kvs__re_page *page;    size_t n_pages, cap_pages;    /* 0: empty, 1: full */
    kvs__re_inst *inst;    size_t n_inst, cap_inst;
    uint32_t     *target;  size_t n_targets, cap_targets;
    uint32_t n_slots;
    kvs__re_mask *mask;                                  /* [n_slots] of an ALT: alternatives worth trying */
    kvs__re_next *next;                                  /* [n_slots] of a LOOP: what follows it */
    kvs__re_next  first;                                 /* of the whole */
} kvs__regex;

static void kvs__regex_free(kvs__regex *re)
{
    if (!re) return;
    kvs__free(re->mem, re->set);
    kvs__free(re->mem, re->page);
    kvs__free(re->mem, re->inst);
    kvs__free(re->mem, re->target);
    kvs__free(re->mem, re->mask);
    kvs__free(re->mem, re->next);
    kvs__free(re->mem, re);
}

/* ---- sets while they are being built: a bit for every code point ---- */

#define KVS__BITS_WORDS ((KVS__UNI_MAX + 1) / 32)
typedef struct kvs__bits { uint32_t w[KVS__BITS_WORDS]; } kvs__bits;

static int kvs__bits_has(const kvs__bits *b, uint32_t c) { return (int)(b->w[c / 32] >> (c % 32) & 1u); }
static void kvs__bits_fill(kvs__bits *b, uint32_t first, uint32_t last)
{
    while (first <= last) {
        if (first % 32 == 0 && last - first >= 31) { b->w[first / 32] = UINT32_MAX; first += 32; }
        else { b->w[first / 32] |= 1u << (first % 32); first++; }
    }
}
static void kvs__bits_add(kvs__bits *b, const kvs__bits *more, int negate)
{
    for (size_t i = 0; i < KVS__BITS_WORDS; i++) b->w[i] |= negate ? ~more->w[i] : more->w[i];
}

/* Adds the characters of all categories whose bit is set in `cats`. */
static void kvs__bits_categories(kvs__bits *b, uint32_t cats)
{
    kvs__unidata t = kvs__unidata_get(KVS__UD_CATEGORY);
    for (size_t i = 0; i < t.n; i++) {
        uint32_t first = t.v[i] >> 8, code = t.v[i] & 0xFF, last = i + 1 < t.n ? (t.v[i + 1] >> 8) - 1 : KVS__UNI_MAX;
        if (code < KVS__UC_EVEN_UPPER) { if (cats >> code & 1u) kvs__bits_fill(b, first, last); continue; }
        for (uint32_t c = first; c <= last; c++) if (cats >> kvs__uni_category(c) & 1u) kvs__bits_fill(b, c, c);
    }
}

/* Closes the set under simple case folding: through the folded form to all that fold to it. */
static void kvs__bits_fold(kvs__bits *b)
{
    kvs__unidata t = kvs__unidata_get(KVS__UD_FOLD);     /* rows: first, count, step, delta */
    for (int back = 0; back < 2; back++)
        for (size_t i = 0; i < t.n; i += 4)
            for (uint32_t k = 0, c = t.v[i]; k < t.v[i + 1]; k++, c += t.v[i + 2]) {
                uint32_t from = back ? c + t.v[i + 3] : c, to = back ? c : c + t.v[i + 3];
                if (kvs__bits_has(b, from)) kvs__bits_fill(b, to, to);
            }
}

#define KVS__UC_BIT(x) (1u << KVS__UC_##x)
static const uint32_t kvs__re_word_cats =
    KVS__UC_BIT(LU) | KVS__UC_BIT(LL) | KVS__UC_BIT(LT) | KVS__UC_BIT(LM) | KVS__UC_BIT(LO) | KVS__UC_BIT(MN) |
    KVS__UC_BIT(MC) | KVS__UC_BIT(ME) | KVS__UC_BIT(ND) | KVS__UC_BIT(NL) | KVS__UC_BIT(PC);

/* Adds \s, \d or \w. \w is Oniguruma's: letters, marks, decimal and letter numbers, connectors, circled letters, and,
   but not in brackets, the six superscripts and fractions of Latin-1. */
static void kvs__bits_escape(kvs__bits *b, char kind, int bracket)
{
    static const uint32_t word[][2] = {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149},
                                       {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    if (kind == 's') for (uint32_t c = 0; c <= 0x3000; c++) if (kvs__uni_space(c)) kvs__bits_fill(b, c, c);
    if (kind != 's') kvs__bits_categories(b, kind == 'd' ? KVS__UC_BIT(ND) : kvs__re_word_cats);
    if (kind != 'w') return;
    for (size_t i = bracket ? 3 : 0; i < KVS__COUNT(word); i++) kvs__bits_fill(b, word[i][0], word[i][1]);
}

/* What `lead` says of the characters first .. end - 1; both are multiples of 32. */
static uint8_t kvs__bits_lead(const kvs__bits *b, uint32_t first, uint32_t end)
{
    uint32_t any = 0, all = UINT32_MAX;
    for (uint32_t i = first / 32; i < end / 32; i++) { any |= b->w[i]; all &= b->w[i]; }
    return all == UINT32_MAX ? 1 : any ? 2 : 0;
}

/* Appends the set to the regex. Returns its number, or -1 when out of memory. */
static int kvs__re_add_set(kvs__regex *re, const kvs__bits *b, uint32_t literal)
{
    void *sets = re->set, *pages = re->page;
    if (kvs__grow(re->mem, &sets, &re->cap_sets, re->n_sets + 1, sizeof *re->set)) return -1;
    re->set = (kvs__re_set *)sets;
    kvs__re_set *set = &re->set[re->n_sets];
    memset(set, 0, sizeof *set);
    set->literal = literal;
    for (uint32_t c = 0; c < 0x80; c++) set->lead[c] = (uint8_t)kvs__bits_has(b, c);
    for (uint32_t c = 0xC2; c < 0xF5; c++) {             /* the characters that begin with c */
        uint32_t shift = c < 0xE0 ? 6 : c < 0xF0 ? 12 : 18, low = c & (c < 0xE0 ? 0x1Fu : c < 0xF0 ? 0xFu : 7u);
        uint32_t first = c == 0xE0 ? 0x800 : c == 0xF0 ? 0x10000 : low << shift;
        set->lead[c] = kvs__bits_lead(b, first, c == 0xED ? 0xD800 : c == 0xF4 ? 0x110000 : (low + 1) << shift);
    }
    for (uint32_t i = 0; i <= KVS__UNI_MAX >> 8; i++) {
        uint8_t kind = kvs__bits_lead(b, i << 8, (i + 1) << 8);
        set->page[i] = kind == 1;
        if (kind != 2) continue;
        if (re->n_pages > UINT16_MAX) return -1;
        if (kvs__grow(re->mem, &pages, &re->cap_pages, re->n_pages + 1, sizeof *re->page)) return -1;
        re->page = (kvs__re_page *)pages;
        memcpy(re->page[re->n_pages].bits, &b->w[8 * i], sizeof re->page[0].bits);
        set->page[i] = (uint16_t)re->n_pages++;
    }
    return (int)re->n_sets++;
}

/* ---- from text to tree: functions return a node or another true value, and 0 after a failure ---- */

enum {   /* kinds of node */
    KVS__RE_N_EMPTY, KVS__RE_N_SET, KVS__RE_N_CAT, KVS__RE_N_ALT, KVS__RE_N_REPEAT, KVS__RE_N_LOOK, KVS__RE_N_ASSERT
};
typedef struct kvs__re_node { uint8_t kind, mode; uint16_t set; uint32_t min, max; int child, next; } kvs__re_node;

typedef struct kvs__re_parser {
    kvs__regex *re;
    kvs__err *e;
    kvs_result res;                                      /* the first failure; everything stops at it */
    const char *p;  size_t n, at;
    kvs__re_node *node;  size_t n_nodes, cap_nodes;
    kvs__bits *tmp;                                      /* for one property or literal at a time */
    int fold, dotall, nest;                              /* (?i), (?m), depth */
    uint32_t *mark, *stack, stamp;                       /* of kvs__re_follow */
} kvs__re_parser;

static int kvs__re_alternation(kvs__re_parser *r);

static int kvs__re_bad(kvs__re_parser *r, size_t at, const char *what)
{
    if (!r->res) r->res = kvs__fail(r->e, KVS_ERR_FORMAT, "pattern: %s at offset %zu", what, at);
    return 0;
}
static int kvs__re_memory(kvs__re_parser *r)
{
    if (!r->res) r->res = kvs__fail(r->e, KVS_ERR_MEMORY, "pattern: out of memory");
    return 0;
}
/* Names what stands from `at` to `end` as not implemented. */
static int kvs__re_refuse(kvs__re_parser *r, size_t at, size_t end, const char *why)
{
    end = KVS__MIN(KVS__MIN(end, at + 100), r->n);
    while (end < r->n && ((unsigned char)r->p[end] & 0xC0) == 0x80) end++;
    if (!r->res)
        r->res = kvs__fail(r->e, KVS_ERR_UNSUPPORTED, "pattern: %.*s at offset %zu is not implemented%s%s",
                           (int)(end - at), r->p + at, at, *why ? ": " : "", why);
    return 0;
}

static int kvs__re_see(const kvs__re_parser *r, const char *s)   /* does the rest begin with s? */
{
    size_t n = strlen(s);
    return r->n - r->at >= n && memcmp(r->p + r->at, s, n) == 0;
}
static int kvs__re_eat(kvs__re_parser *r, const char *s)
{
    int seen = kvs__re_see(r, s);
    if (seen) r->at += strlen(s);
    return seen;
}

static int kvs__re_new(kvs__re_parser *r, int kind, int mode, int child)
{
    void *array = r->node;
    if (r->res) return 0;
    if (kvs__grow(r->re->mem, &array, &r->cap_nodes, r->n_nodes + 2, sizeof *r->node)) return kvs__re_memory(r);
    r->node = (kvs__re_node *)array;
    kvs__re_node *node = &r->node[++r->n_nodes];         /* 0 stays unused */
    memset(node, 0, sizeof *node);
    node->kind = (uint8_t)kind; node->mode = (uint8_t)mode; node->child = child;
    return (int)r->n_nodes;
}

static kvs__bits *kvs__re_bits_new(kvs__re_parser *r)
{
    kvs__bits *b = (kvs__bits *)kvs__alloc(r->re->mem, 1, sizeof *b);
    if (!b) kvs__re_memory(r);
    return b;
}

static size_t kvs__re_find_set(const kvs__regex *re, uint32_t literal)   /* n_sets if it is not there */
{
    size_t set = 0;
    while (set < re->n_sets && (literal == UINT32_MAX || re->set[set].literal != literal)) set++;
    return set;
}

/* A SET node of these characters. literal: a number that is equal for equal sets, so that they are shared;
   UINT32_MAX: none. */
static int kvs__re_set_node(kvs__re_parser *r, const kvs__bits *b, uint32_t literal)
{
    kvs__regex *re = r->re;
    size_t set = kvs__re_find_set(re, literal);
    if (r->res) return 0;
    if (set == KVS__RE_MAX_SETS) return kvs__re_bad(r, r->at, "too many different sets of characters");
    if (set == re->n_sets && kvs__re_add_set(re, b, literal) < 0) return kvs__re_memory(r);
    int node = kvs__re_new(r, KVS__RE_N_SET, 0, 0);
    if (node) r->node[node].set = (uint16_t)set;
    return node;
}
static int kvs__re_literal(kvs__re_parser *r, uint32_t cp)
{
    uint32_t literal = cp | (r->fold ? 1u << 31 : 0);
    if (kvs__re_find_set(r->re, literal) == r->re->n_sets) {
        memset(r->tmp, 0, sizeof *r->tmp);
        kvs__bits_fill(r->tmp, cp, cp);
        if (r->fold) kvs__bits_fold(r->tmp);
    }
    return kvs__re_set_node(r, r->tmp, literal);
}

/* Behind \p or \P. Adds the property to b. */
static int kvs__re_property(kvs__re_parser *r, kvs__bits *b, int negate)
{
    static const char names[] = "LuLlLtLmLoMnMcMeNdNlNoPcPdPsPePiPfPoSmScSkSoZsZlZpCcCfCsCoCn";
    size_t from = r->at - 2, end;
    uint32_t cats = 0;
    if (!kvs__re_eat(r, "{")) return kvs__re_refuse(r, from, r->at + 1, "write \\p{..}");
    if (kvs__re_eat(r, "^")) negate = !negate;
    for (end = r->at; end < r->n && r->p[end] != '}'; end++) {}
    if (end == r->n) return kvs__re_bad(r, from, "\\p{ without }");
    size_t n = end - r->at;
    for (uint32_t i = 0; i < KVS__UC_EVEN_UPPER; i++)    /* L is all that begins with L */
        if ((n == 1 || n == 2) && !memcmp(r->p + r->at, names + 2 * i, n)) cats |= 1u << i;
    memset(r->tmp, 0, sizeof *r->tmp);
    kvs__bits_categories(r->tmp, cats);
    kvs__unidata han = kvs__unidata_get(KVS__UD_HAN);
    if (!cats && !kvs__re_see(r, "Han}")) return kvs__re_refuse(r, from, end + 1, "only general categories and Han");
    for (size_t i = 0; !cats && i < han.n; i += 2) kvs__bits_fill(r->tmp, han.v[i], han.v[i + 1]);
    kvs__bits_add(b, r->tmp, negate);
    r->at = end + 1;
    return 1;
}

/* Behind \x (digits 2, or any in braces) or \u (digits 4). */
static int kvs__re_hex(kvs__re_parser *r, int digits, uint32_t *cp)
{
    size_t from = r->at - 2;
    int got = 0, braced = digits == 2 && kvs__re_eat(r, "{");
    for (*cp = 0; r->at < r->n && got < (braced ? 8 : digits); r->at++, got++) {
        uint32_t c = (unsigned char)r->p[r->at], low = c | 0x20;
        if (c >= '0' && c <= '9') *cp = 16 * *cp + (c - '0');
        else if (low >= 'a' && low <= 'f') *cp = 16 * *cp + (low - 'a' + 10);
        else break;
    }
    if (braced ? !got || !kvs__re_eat(r, "}") : got < digits) return kvs__re_bad(r, from, "hex digits are missing");
    if (!braced && digits == 2 && *cp > 0x7F) return kvs__re_refuse(r, from, r->at, "a byte of a longer character");
    if (*cp > KVS__UNI_MAX || (*cp >= 0xD800 && *cp < 0xE000)) return kvs__re_bad(r, from, "not a character");
    return 1;
}

/* At a backslash. 1: one character, in *cp. 2: a class, added to b. 0: failed. */
static int kvs__re_escape(kvs__re_parser *r, kvs__bits *b, uint32_t *cp, int bracket)
{
    static const char from[] = "tnrfvae", to[] = "\t\n\r\f\v\a\x1b";
    size_t at = r->at++;
    if (r->at == r->n) return kvs__re_bad(r, at, "nothing behind the backslash");
    char c = r->p[r->at];
    const char *known = c ? strchr(from, c) : NULL;
    int letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    r->at += kvs__utf8_next(r->p + r->at, r->n - r->at, cp);
    if (known) { *cp = (uint32_t)to[known - from]; return 1; }
    if (c == 'x' || c == 'u') return kvs__re_hex(r, c == 'x' ? 2 : 4, cp);
    if (c == 'p' || c == 'P') return kvs__re_property(r, b, c == 'P') ? 2 : 0;
    if (!letter) return 1;                               /* punctuation stands for itself */
    if (!strchr("sdwSDW", c)) return kvs__re_refuse(r, at, r->at, "");
    memset(r->tmp, 0, sizeof *r->tmp);
    kvs__bits_escape(r->tmp, (char)(c | 0x20), bracket);
    kvs__bits_add(b, r->tmp, c < 'a');
    return 2;
}

/* One character of a class or one of its escapes; returns as kvs__re_escape. */
static int kvs__re_class_char(kvs__re_parser *r, kvs__bits *b, uint32_t *cp)
{
    if (r->at == r->n) return kvs__re_bad(r, r->at, "[ without ]");
    if (kvs__re_eat(r, "\\b")) { *cp = 8; return 1; }
    if (kvs__re_see(r, "\\")) return kvs__re_escape(r, b, cp, 1);
    r->at += kvs__utf8_next(r->p + r->at, r->n - r->at, cp);
    return 1;
}

static int kvs__re_class(kvs__re_parser *r, kvs__bits *b, int *negated);

/* One item of a class, added to b: a nested class, an escape, a character, a range. */
static int kvs__re_class_item(kvs__re_parser *r, kvs__bits *b)
{
    size_t at = r->at;
    uint32_t lo = 0, hi;
    int negated;
    if (kvs__re_see(r, "[:")) return kvs__re_refuse(r, at, at + 2, "POSIX classes");
    if (kvs__re_see(r, "[")) {
        kvs__bits *inner = kvs__re_bits_new(r);
        if (inner && kvs__re_class(r, inner, &negated)) kvs__bits_add(b, inner, negated);
        kvs__free(r->re->mem, inner);
        return !r->res;
    }
    int kind = kvs__re_class_char(r, b, &lo);
    int range = kind && kvs__re_see(r, "-") && !kvs__re_see(r, "-]") && !kvs__re_see(r, "-&&");
    hi = lo;
    if (range) {
        r->at++;
        if (kind == 2 || kvs__re_see(r, "[") || kvs__re_class_char(r, b, &hi) == 2)
            return kvs__re_bad(r, at, "a range of classes");
        if (hi < lo) kvs__re_bad(r, at, "an empty range");
    }
    if (kind == 1 && !r->res) kvs__bits_fill(b, lo, hi);
    return !r->res;
}

/* At '['. Puts the class without its negation into b, which is empty. */
static int kvs__re_class(kvs__re_parser *r, kvs__bits *b, int *negated)
{
    size_t open = r->at++, first;
    kvs__bits *left = NULL;                              /* what stands before && */
    if (++r->nest > KVS__RE_MAX_NEST) return kvs__re_bad(r, open, "nested too deeply");
    *negated = kvs__re_eat(r, "^");
    for (first = r->at; !r->res && !kvs__re_eat(r, "]");) {
        if (!kvs__re_eat(r, "&&")) { kvs__re_class_item(r, b); continue; }
        if (r->at == first + 2) kvs__re_bad(r, first, "nothing before &&");
        int more = left != NULL;
        if (!more && !(left = kvs__re_bits_new(r))) break;
        for (size_t i = 0; i < KVS__BITS_WORDS; i++) left->w[i] = more ? left->w[i] & b->w[i] : b->w[i];
        memset(b, 0, sizeof *b);
    }
    if (!r->res && r->at == first + 1) kvs__re_bad(r, open, "an empty class");
    for (size_t i = 0; left && i < KVS__BITS_WORDS; i++) b->w[i] &= left->w[i];
    kvs__free(r->re->mem, left);
    r->nest--;
    return !r->res;
}

/* A class, an escape or '.', whichever stands here. */
static int kvs__re_set_atom(kvs__re_parser *r)
{
    kvs__bits *b = kvs__re_bits_new(r);
    uint32_t cp = 0;
    int negated = 0, kind = 2, brackets = kvs__re_see(r, "["), node = 0;
    if (!b) return 0;
    if (kvs__re_eat(r, ".")) { negated = 1; if (!r->dotall) kvs__bits_fill(b, '\n', '\n'); }
    else if (brackets) kvs__re_class(r, b, &negated);
    else kind = kvs__re_escape(r, b, &cp, 0);
    if (r->fold && brackets) kvs__bits_fold(b);          /* as there: not a \p{Lu} by itself */
    for (size_t i = 0; negated && i < KVS__BITS_WORDS; i++) b->w[i] = ~b->w[i];
    if (!r->res) node = kind == 1 ? kvs__re_literal(r, cp) : kvs__re_set_node(r, b, UINT32_MAX);
    kvs__free(r->re->mem, b);
    return node;
}

/* Behind "(?": i, m and - up to ':' or ')'. Returns that character. */
static char kvs__re_flags(kvs__re_parser *r, size_t open)
{
    for (int on = 1; r->at < r->n; r->at++) {
        char c = r->p[r->at];
        if (c == ':' || c == ')') { r->at++; return c; }
        if (c == '-') on = 0;
        else if (c == 'i') r->fold = on;
        else if (c == 'm') r->dotall = on;
        else return (char)kvs__re_refuse(r, open, r->at + 1, "");
    }
    return (char)kvs__re_bad(r, open, "( without )");
}

/* At '('. Flags set inside a group end with it. "(?i)" reaches to the end of the group around it, across its '|' too.
   */
static int kvs__re_group(kvs__re_parser *r)
{
    size_t open = r->at++;
    int fold = r->fold, dotall = r->dotall, look = 0, negative = 0, atomic = 0;
    if (kvs__re_eat(r, "?=")) look = 1;
    else if (kvs__re_eat(r, "?!")) look = negative = 1;
    else if (kvs__re_eat(r, "?>")) atomic = 1;
    else if (kvs__re_see(r, "?<")) return kvs__re_refuse(r, open, open + 4, "");
    else if (kvs__re_eat(r, "?")) {
        char end = kvs__re_flags(r, open);
        if (end != ':') return end ? kvs__re_alternation(r) : 0;   /* the rest; its ')' belongs to the group around */
    }
    int body = kvs__re_alternation(r);
    if (!r->res && !kvs__re_eat(r, ")")) kvs__re_bad(r, open, "( without )");
    r->fold = fold; r->dotall = dotall;
    if (r->res || (!look && !atomic)) return body;
    if (look) return kvs__re_new(r, KVS__RE_N_LOOK, negative, body);
    kvs__re_node *b = &r->node[body];
    int loop = b->kind == KVS__RE_N_REPEAT && b->mode != KVS__RE_LAZY && r->node[b->child].kind == KVS__RE_N_SET;
    if (loop) b->mode = KVS__RE_POSSESSIVE;
    return loop || b->kind == KVS__RE_N_SET ? body : kvs__re_refuse(r, open, r->at, "more than one repeated class");
}

static int kvs__re_atom(kvs__re_parser *r)
{
    static const struct { const char *text; int kind; } asserts[] = {
        {"^", KVS__RE_LINE_START}, {"$", KVS__RE_LINE_END}, {"\\A", KVS__RE_START}, {"\\z", KVS__RE_STOP},
        {"\\Z", KVS__RE_STOP_NL}, {"\\b", KVS__RE_WORD}, {"\\B", KVS__RE_NO_WORD},
    };
    uint32_t cp;
    for (size_t i = 0; i < KVS__COUNT(asserts); i++) {
        if (!kvs__re_eat(r, asserts[i].text)) continue;
        memset(r->tmp, 0, sizeof *r->tmp);
        if (asserts[i].kind >= KVS__RE_WORD) kvs__bits_escape(r->tmp, 'w', 0);
        int node = kvs__re_set_node(r, r->tmp, UINT32_MAX - (asserts[i].kind >= KVS__RE_WORD ? 1 : 2));
        if (node) { r->node[node].kind = KVS__RE_N_ASSERT; r->node[node].mode = (uint8_t)asserts[i].kind; }
        return node;
    }
    if (kvs__re_see(r, "(")) return kvs__re_group(r);
    if (kvs__re_see(r, "[") || kvs__re_see(r, ".") || kvs__re_see(r, "\\")) return kvs__re_set_atom(r);
    if (strchr("*+?", r->p[r->at]) && r->p[r->at]) return kvs__re_bad(r, r->at, "nothing to repeat");
    r->at += kvs__utf8_next(r->p + r->at, r->n - r->at, &cp);
    return kvs__re_literal(r, cp);
}

/* "{m}", "{m,}", "{,n}" or "{m,n}" here? Else nothing is taken: such a brace is an ordinary character. */
static int kvs__re_interval(kvs__re_parser *r, uint32_t *min, uint32_t *max)
{
    size_t i = r->at + 1, digits[2] = {0, 0};
    uint32_t v[2] = {0, 0};
    int comma = 0;
    if (!kvs__re_see(r, "{")) return 0;
    for (; i < r->n && r->p[i] != '}'; i++) {
        int d = r->p[i] - '0';
        if (r->p[i] == ',' && !comma) { comma = 1; continue; }
        if (d < 0 || d > 9) return 0;
        v[comma] = KVS__MIN(10 * v[comma] + (uint32_t)d, 100000);
        digits[comma]++;
    }
    if (i >= r->n || digits[0] + digits[1] == 0) return 0;
    *min = v[0];
    *max = !comma ? v[0] : digits[1] ? v[1] : KVS__RE_INF;
    if (v[0] > KVS__RE_MAX_REPEAT || v[1] > KVS__RE_MAX_REPEAT || *max < *min)
        kvs__re_refuse(r, r->at, i + 1, *max < *min ? "the bounds are exchanged" : "more than 1000 times");
    r->at = i + 1;
    return 1;
}

/* A quantifier here? As in Ruby, + behind an interval repeats it once more, and ? behind {m} makes it optional. */
static int kvs__re_quantifier(kvs__re_parser *r, uint32_t *min, uint32_t *max, int *mode)
{
    int interval = 0;
    *min = 0; *max = KVS__RE_INF; *mode = KVS__RE_GREEDY;
    if (kvs__re_eat(r, "*")) {}
    else if (kvs__re_eat(r, "+")) *min = 1;
    else if (kvs__re_eat(r, "?")) *max = 1;
    else if (kvs__re_interval(r, min, max)) interval = 1;
    else return 0;
    if (!(interval && *min == *max) && kvs__re_eat(r, "?")) *mode = KVS__RE_LAZY;
    else if (!interval && kvs__re_eat(r, "+")) *mode = KVS__RE_POSSESSIVE;
    return 1;
}

static int kvs__re_nullable(const kvs__re_parser *r, int id)   /* may it match without taking a character? */
{
    const kvs__re_node *node = &r->node[id];
    if (node->kind == KVS__RE_N_SET) return 0;
    if (node->kind == KVS__RE_N_REPEAT) return node->min == 0 || kvs__re_nullable(r, node->child);
    if (node->kind != KVS__RE_N_CAT && node->kind != KVS__RE_N_ALT) return 1;
    int cat = node->kind == KVS__RE_N_CAT;               /* all of a CAT, one of an ALT */
    for (int c = node->child; c; c = r->node[c].next) if (kvs__re_nullable(r, c) != cat) return !cat;
    return cat;
}

static int kvs__re_piece(kvs__re_parser *r)
{
    size_t at = r->at;
    int node = kvs__re_atom(r), mode;
    uint32_t min, max;
    for (int n = 0; node && !r->res && kvs__re_quantifier(r, &min, &max, &mode); n++) {
        const char *why = n == 4 ? "more than four quantifiers in a row" : NULL;
        if (mode == KVS__RE_POSSESSIVE && r->node[node].kind != KVS__RE_N_SET) why = "a possessive group";
        if (max > 1 && kvs__re_nullable(r, node)) why = "a repeated group that may match nothing";
        if (why) return kvs__re_refuse(r, at, r->at, why);
        node = kvs__re_new(r, KVS__RE_N_REPEAT, mode, node);
        if (node) { r->node[node].min = min; r->node[node].max = max; }
    }
    return r->res ? 0 : node;
}

/* Parses items with `item` as long as there are more, and makes them children of a node; a single one stands for
   itself. */
static int kvs__re_list(kvs__re_parser *r, int kind)
{
    int first = 0, last = 0, alt = kind == KVS__RE_N_ALT;
    while (!r->res) {
        if (!alt && (r->at == r->n || kvs__re_see(r, "|") || kvs__re_see(r, ")"))) break;
        int item = alt ? kvs__re_list(r, KVS__RE_N_CAT) : kvs__re_piece(r);
        if (!item) return 0;
        *(last ? &r->node[last].next : &first) = item;
        last = item;
        if (alt && !kvs__re_eat(r, "|")) break;
    }
    return first && first == last ? first : kvs__re_new(r, first ? kind : KVS__RE_N_EMPTY, 0, first);
}
static int kvs__re_alternation(kvs__re_parser *r)
{
    if (++r->nest > KVS__RE_MAX_NEST) return kvs__re_bad(r, r->at, "nested too deeply");
    int node = kvs__re_list(r, KVS__RE_N_ALT);
    r->nest--;
    return node;
}

/* ---- from tree to program ---- */

static void kvs__re_emit_node(kvs__re_parser *r, int id);

/* Appends an instruction; returns its number. */
static uint32_t kvs__re_emit(kvs__re_parser *r, int op, int mode, uint16_t set)
{
    kvs__regex *re = r->re;
    void *array = re->inst;
    if (re->n_inst == KVS__RE_MAX_INST) kvs__re_bad(r, r->n, "too large with its repetitions written out,");
    if (r->res) return 0;
    if (kvs__grow(re->mem, &array, &re->cap_inst, re->n_inst + 1, sizeof *re->inst)) { kvs__re_memory(r); return 0; }
    re->inst = (kvs__re_inst *)array;
    kvs__re_inst *in = &re->inst[re->n_inst];
    memset(in, 0, sizeof *in);
    in->op = (uint8_t)op; in->mode = (uint8_t)mode; in->set = set;
    if (op == KVS__RE_ALT || op == KVS__RE_LOOP) in->slot = re->n_slots++;
    return (uint32_t)re->n_inst++;
}

/* An ALT of n branches; kvs__re_branch says where they are. */
static uint32_t kvs__re_emit_alt(kvs__re_parser *r, uint32_t n)
{
    kvs__regex *re = r->re;
    void *array = re->target;
    uint32_t at = kvs__re_emit(r, KVS__RE_ALT, 0, 0);
    if (r->res) return 0;
    if (kvs__grow(re->mem, &array, &re->cap_targets, re->n_targets + n, sizeof *re->target)) kvs__re_memory(r);
    if (r->res) return 0;
    re->target = (uint32_t *)array;
    re->inst[at].min = n;
    re->inst[at].to = (uint32_t)re->n_targets;
    re->n_targets += n;
    return at;
}
static void kvs__re_branch(kvs__re_parser *r, uint32_t alt, uint32_t i)   /* branch i of alt starts here */
{
    if (!r->res) r->re->target[r->re->inst[alt].to + i] = (uint32_t)r->re->n_inst;
}
static void kvs__re_jump(kvs__re_parser *r, uint32_t from, size_t to)     /* the JMP or LOOK at `from` goes to `to` */
{
    if (!r->res) r->re->inst[from].to = (uint32_t)to;
}

/* Alternatives from `child` on; more than 32, the bits of a mask, are nested. */
static void kvs__re_emit_branches(kvs__re_parser *r, int child)
{
    uint32_t n = 0, jump[32];
    for (int c = child; c && n < 33; c = r->node[c].next) n++;
    int nest = n == 33;
    n = KVS__MIN(n, 32);
    uint32_t alt = kvs__re_emit_alt(r, n);
    for (uint32_t i = 0; i < n && !r->res; i++, child = r->node[child].next) {
        kvs__re_branch(r, alt, i);
        if (i == 31 && nest) kvs__re_emit_branches(r, child);
        else kvs__re_emit_node(r, child);
        jump[i] = i + 1 < n ? kvs__re_emit(r, KVS__RE_JMP, 0, 0) : 0;
    }
    for (uint32_t i = 0; i + 1 < n && !r->res; i++) kvs__re_jump(r, jump[i], r->re->n_inst);
}

/* A repeated group: written out min times, then a loop, or max - min options nested in each other. */
static void kvs__re_emit_repeat(kvs__re_parser *r, const kvs__re_node *node)
{
    uint32_t in = node->mode == KVS__RE_LAZY, out = !in, endless = node->max == KVS__RE_INF;
    uint32_t open = UINT32_MAX;                          /* the last ALT without a way out; it names the one before */
    for (uint32_t i = 0; i < node->min && !r->res; i++) kvs__re_emit_node(r, node->child);
    for (uint32_t i = 0, more = endless ? 1 : node->max - node->min; i < more && !r->res; i++) {
        uint32_t alt = kvs__re_emit_alt(r, 2);
        if (r->res) return;
        r->re->target[r->re->inst[alt].to + out] = open;
        open = alt;
        kvs__re_branch(r, alt, in);
        kvs__re_emit_node(r, node->child);
        if (endless) kvs__re_jump(r, kvs__re_emit(r, KVS__RE_JMP, 0, 0), alt);
    }
    while (open != UINT32_MAX && !r->res) {
        uint32_t alt = open;
        open = r->re->target[r->re->inst[alt].to + out];
        kvs__re_branch(r, alt, out);
    }
}

static void kvs__re_emit_node(kvs__re_parser *r, int id)
{
    const kvs__re_node node = r->node[id], *child = &r->node[node.child];
    int single = child->kind == KVS__RE_N_SET;           /* of a REPEAT or LOOK: one instruction is enough */
    uint32_t at;
    switch (node.kind) {
        case KVS__RE_N_SET: kvs__re_emit(r, KVS__RE_SET, 0, node.set); break;
        case KVS__RE_N_ASSERT: kvs__re_emit(r, KVS__RE_ASSERT, node.mode, node.set); break;
        case KVS__RE_N_CAT: for (int c = node.child; c && !r->res; c = r->node[c].next) kvs__re_emit_node(r, c); break;
        case KVS__RE_N_ALT: kvs__re_emit_branches(r, node.child); break;
        case KVS__RE_N_REPEAT:
            if (!single) { kvs__re_emit_repeat(r, &node); break; }
            at = kvs__re_emit(r, KVS__RE_LOOP, node.mode, child->set);
            if (!r->res) { r->re->inst[at].min = node.min; r->re->inst[at].max = node.max; }
            break;
        case KVS__RE_N_LOOK:
            at = kvs__re_emit(r, single ? KVS__RE_PEEK : KVS__RE_LOOK, node.mode, child->set);
            if (single) break;
            kvs__re_emit_node(r, node.child);
            kvs__re_emit(r, KVS__RE_MATCH, 0, 0);
            kvs__re_jump(r, at, r->re->n_inst);
            break;
        default: break;                                  /* EMPTY */
    }
}

/* ---- what can follow: the tables that save backtracking ---- */

/* Visits the instructions that may be the next to look at the text at pc. out (if not NULL) gets the next bytes with
   which they do not fail at once. Returns 1 if a match is certain from here: some way to MATCH asks for nothing. */
static int kvs__re_follow(kvs__re_parser *r, uint32_t pc, uint8_t *out)
{
    const kvs__regex *re = r->re;
    uint32_t n = 0, certain = 0;
    r->stack[n++] = pc;
    for (r->stamp++; n;) {
        pc = r->stack[--n];
        if (r->mark[pc] == r->stamp) continue;           /* once each, so the stack cannot overflow */
        r->mark[pc] = r->stamp;
        const kvs__re_inst *in = &re->inst[pc];
        int op = in->op;
        for (int c = 0; out && c < KVS__RE_NEXTS; c++) {
            int asks = op == KVS__RE_SET || op == KVS__RE_LOOP;
            if (asks) out[c] |= c < 256 && re->set[in->set].lead[c];
            if (op == KVS__RE_MATCH) out[c] |= c < 0x80 || c >= 0xC0;   /* never inside a character */
        }
        if (op == KVS__RE_MATCH) certain = 1;
        else if (op == KVS__RE_JMP) r->stack[n++] = in->to;
        else if (op == KVS__RE_LOOP && in->min == 0) r->stack[n++] = pc + 1;
        else if (op == KVS__RE_ALT) for (uint32_t i = 0; i < in->min; i++) r->stack[n++] = re->target[in->to + i];
        else if (out && (op == KVS__RE_PEEK || op == KVS__RE_ASSERT)) r->stack[n++] = pc + 1;
        else if (out && op == KVS__RE_LOOK) r->stack[n++] = in->to;
    }
    return (int)certain;
}

/* Fills the tables of ALTs and greedy LOOPs; a LOOP that need never give back becomes possessive. */
static void kvs__re_analyse(kvs__re_parser *r)
{
    kvs__regex *re = r->re;
    re->mask = (kvs__re_mask *)kvs__alloc(re->mem, re->n_slots, sizeof *re->mask);
    re->next = (kvs__re_next *)kvs__alloc(re->mem, re->n_slots, sizeof *re->next);
    r->mark = (uint32_t *)kvs__alloc(re->mem, re->n_inst, sizeof *r->mark);
    r->stack = (uint32_t *)kvs__alloc(re->mem, re->n_inst + re->n_targets + 1, sizeof *r->stack);
    if (!re->mask || !re->next || !r->mark || !r->stack) { kvs__re_memory(r); return; }
    for (uint32_t pc = 0; pc < re->n_inst; pc++) {
        kvs__re_inst *in = &re->inst[pc];
        uint8_t *next = re->next[in->slot].at;
        for (uint32_t i = 0; in->op == KVS__RE_ALT && i < in->min; i++) {
            memset(next, 0, KVS__RE_NEXTS);
            kvs__re_follow(r, re->target[in->to + i], next);
            for (int c = 0; c < KVS__RE_NEXTS; c++) re->mask[in->slot].at[c] |= (uint32_t)next[c] << i;
        }
        if (in->op != KVS__RE_LOOP || in->mode != KVS__RE_GREEDY) continue;
        int gives = 0, certain = kvs__re_follow(r, pc + 1, NULL);
        kvs__re_follow(r, pc + 1, next);
        for (int c = 0; c < 256; c++) gives |= next[c] && re->set[in->set].lead[c];
        if (certain || !gives) in->mode = KVS__RE_POSSESSIVE;
    }
    kvs__re_follow(r, 0, re->first.at);
}

/* Compiles n bytes of pattern. On failure *out is NULL and e says what and where. */
static kvs_result kvs__regex_compile(kvs__mem *mem, const char *pattern, size_t n, kvs__regex **out, kvs__err *e)
{
    kvs__re_parser r;
    uint32_t cp;
    int root = 0;
    memset(&r, 0, sizeof r);
    *out = NULL;
    r.e = e; r.p = pattern; r.n = n;
    if (n > KVS__RE_MAX_PATTERN)
        return kvs__fail(e, KVS_ERR_UNSUPPORTED, "pattern: longer than %d bytes", KVS__RE_MAX_PATTERN);
    for (size_t i = 0, take; i < n; i += take) {
        take = kvs__utf8_next(pattern + i, n - i, &cp);
        if (cp == KVS__UTF8_BAD && !(take == 3 && pattern[i] == '\xEF')) kvs__re_bad(&r, i, "invalid UTF-8");
    }
    if (r.res) return r.res;
    r.re = (kvs__regex *)kvs__alloc(mem, 1, sizeof *r.re);
    if (!r.re) return kvs__fail(e, KVS_ERR_MEMORY, "pattern: out of memory");
    r.re->mem = mem;
    r.re->page = (kvs__re_page *)kvs__alloc(mem, r.re->cap_pages = 64, sizeof *r.re->page);
    r.re->n_pages = 2;
    r.tmp = kvs__re_bits_new(&r);
    if (r.re->page) memset(&r.re->page[1], 0xFF, sizeof r.re->page[1]);
    else kvs__re_memory(&r);
    if (!r.res) root = kvs__re_alternation(&r);
    if (!r.res && r.at < n) kvs__re_bad(&r, r.at, ") without (");
    if (!r.res) kvs__re_emit_node(&r, root);
    kvs__re_emit(&r, KVS__RE_MATCH, 0, 0);
    if (!r.res) kvs__re_analyse(&r);
    kvs__free(mem, r.tmp);
    kvs__free(mem, r.node);
    kvs__free(mem, r.mark);
    kvs__free(mem, r.stack);
    if (r.res) kvs__regex_free(r.re);
    else *out = r.re;
    return r.res;
}

/* ---- matching ---- */

/* A choice that can be taken back. left: of an ALT the alternatives not yet tried; of a greedy loop 1 if it can also
   end at pos; of a lazy one how many more characters it may take. A loop's hi is where it ends now. In careful mode a
   frame stays until all it offers has failed (left = 0), so that this can be noted. */
typedef struct kvs__re_frame { uint32_t pc, left; size_t pos, lo, hi; } kvs__re_frame;

/* One thread's. Zero to begin with; memory comes from the regex's allocator. */
typedef struct kvs__regex_scratch {
    const kvs__regex *re;  const char *text;  size_t n;  /* what the notes are about */
    uint64_t steps, budget;                              /* taken for this text; when to be careful */
    int careful, test;                                   /* test: be careful from the first step on */
    kvs__re_frame *frame;  size_t n_frames, cap;
    uint8_t *memo;         size_t memo_cap;              /* 2 bits for (slot, position) */
} kvs__regex_scratch;

enum { KVS__RE_FAIL, KVS__RE_GO, KVS__RE_DONE, KVS__RE_NO_MEMORY };   /* what an instruction returns */
enum { KVS__RE_FAILED = 1, KVS__RE_SUCCEEDED = 2 };                   /* what a note says; 0: nothing */

static void kvs__regex_scratch_free(kvs__mem *mem, kvs__regex_scratch *s)
{
    kvs__free(mem, s->frame);
    kvs__free(mem, s->memo);
    memset(s, 0, sizeof *s);
}

/* Bytes of the character at pos if it is in the set, else 0. Broken UTF-8 is never a member, so that all searches
   agree on where characters begin, whatever the text. */
static inline size_t kvs__re_take(const kvs__regex *re, const kvs__re_set *set, const char *text, size_t pos, size_t n)
{
    if (pos >= n) return 0;
    const unsigned char *s = (const unsigned char *)text + pos;
    uint32_t kind = set->lead[s[0]], cp;
    if (!kind || s[0] < 0x80) return kind;
    size_t len = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
    if (len > n - pos) return 0;
    cp = s[0] & (0x7Fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
        cp = cp << 6 | (s[i] & 0x3Fu);
    }
    if (kind == 1 || cp > KVS__UNI_MAX) return kind == 1 ? len : 0;
    return re->page[set->page[cp >> 8]].bits[cp >> 5 & 7] >> (cp & 31) & 1 ? len : 0;
}

/* ---- careful mode: notes of what failed ---- */

static uint32_t kvs__re_note(const kvs__regex_scratch *s, const kvs__re_inst *in, size_t pos)
{
    size_t i = in->slot * (s->n + 1) + pos;
    return s->memo[i >> 2] >> (i & 3) * 2 & 3u;
}
static void kvs__re_note_set(kvs__regex_scratch *s, const kvs__re_inst *in, size_t from, size_t to, uint32_t what)
{
    for (size_t i = in->slot * (s->n + 1) + from, end = i + (to - from); i <= end; i++)
        s->memo[i >> 2] = (uint8_t)((s->memo[i >> 2] & ~(3u << (i & 3) * 2)) | what << (i & 3) * 2);
}

/* Notes the outcome of everything the frame stands for. An endless loop at lo that failed or succeeded with its end
   at hi did so from each position between; a counted one only from lo. */
static void kvs__re_note_frame(kvs__regex_scratch *s, const kvs__re_frame *f, uint32_t what)
{
    const kvs__re_inst *in = &s->re->inst[f->pc];
    if (in->op == KVS__RE_ALT) kvs__re_note_set(s, in, f->pos, f->pos, what);
    else kvs__re_note_set(s, in, f->lo, in->max == KVS__RE_INF ? f->hi : f->lo, what);
}

/* Enters careful mode if the steps are spent. 0, or -1 when out of memory. */
static int kvs__re_be_careful(kvs__regex_scratch *s)
{
    uint64_t bits;
    if (s->careful || s->steps <= s->budget) return 0;
    if (kvs__mul_u64(s->n + 1, s->re->n_slots, &bits) || bits / 4 + 1 > SIZE_MAX / 4) return -1;
    size_t need = (size_t)(bits / 4 + 1);
    void *array = s->memo;
    if (s->memo_cap < need) {
        s->memo_cap = 0;                                 /* nothing in it is worth copying */
        if (kvs__grow(s->re->mem, &array, &s->memo_cap, need, 1)) return -1;
        s->memo = (uint8_t *)array;
    }
    memset(s->memo, 0, need);
    s->careful = 1;
    return 0;
}

/* ---- the instructions ---- */

static inline int kvs__re_push(kvs__regex_scratch *s, uint32_t pc, uint32_t left, size_t pos, size_t lo, size_t hi)
{
    if (s->n_frames == s->cap) {
        void *array = s->frame;
        if (kvs__grow(s->re->mem, &array, &s->cap, s->n_frames + 1, sizeof *s->frame)) return KVS__RE_NO_MEMORY;
        s->frame = (kvs__re_frame *)array;
    }
    kvs__re_frame *f = &s->frame[s->n_frames++];
    f->pc = pc; f->left = left; f->pos = pos; f->lo = lo; f->hi = hi;
    return KVS__RE_GO;
}

/* The last place in [lo, *pos) where the next instruction can begin: *pos and 1, or 0. */
static inline int kvs__re_give_back(kvs__regex_scratch *s, const kvs__re_next *next, size_t lo, size_t *pos)
{
    for (size_t p = *pos; p > lo;) {
        s->steps++;
        if (next->at[(unsigned char)s->text[--p]]) { *pos = p; return 1; }   /* never inside a character */
    }
    return 0;
}

/* How far an endless loop at pos reaches. In careful mode it stops where a note says how the rest ends: *note. */
static inline size_t kvs__re_scan(const kvs__regex_scratch *s, const kvs__re_inst *in, size_t pos, uint32_t *note)
{
    const kvs__re_set *set = &s->re->set[in->set];
    for (size_t k; (k = kvs__re_take(s->re, set, s->text, pos, s->n)) > 0;) {
        pos += k;
        if (s->careful && (*note = kvs__re_note(s, in, pos)) != 0) break;
    }
    return pos;
}

/* A repeated class at *pos, which moves to where it ends first. */
static inline int kvs__re_loop(kvs__regex_scratch *s, uint32_t pc, size_t *pos)
{
    const kvs__re_inst *in = &s->re->inst[pc];
    const kvs__re_set *set = &s->re->set[in->set];
    int endless = in->max == KVS__RE_INF;
    size_t lo = *pos, hi, k;
    uint32_t note = 0;
    for (uint32_t i = 0; i < in->min; i++, lo += k)
        if (!(k = kvs__re_take(s->re, set, s->text, lo, s->n))) return KVS__RE_FAIL;
    if (s->careful) note = kvs__re_note(s, in, lo);
    if (note) return note == KVS__RE_FAILED ? KVS__RE_FAIL : KVS__RE_DONE;
    *pos = hi = lo;
    if (in->mode == KVS__RE_LAZY) return kvs__re_push(s, pc, endless ? KVS__RE_INF : in->max - in->min, 0, lo, lo);
    if (endless) hi = kvs__re_scan(s, in, lo, &note);
    else for (uint32_t i = in->min; i < in->max && (k = kvs__re_take(s->re, set, s->text, hi, s->n)) > 0; i++) hi += k;
    s->steps += hi - lo + 1;
    if (note == KVS__RE_SUCCEEDED) { kvs__re_note_set(s, in, lo, hi, note); return KVS__RE_DONE; }
    if (in->mode == KVS__RE_POSSESSIVE) {
        if (note) { kvs__re_note_set(s, in, lo, hi, note); return KVS__RE_FAIL; }
        *pos = hi;
        return s->careful ? kvs__re_push(s, pc, 0, 0, lo, hi) : KVS__RE_GO;
    }
    const kvs__re_next *next = &s->re->next[in->slot];
    size_t end = hi;
    int here = !note && next->at[hi < s->n ? (unsigned char)s->text[hi] : KVS__RE_END];
    if (!here && !kvs__re_give_back(s, next, lo, &end)) {
        if (s->careful) kvs__re_note_set(s, in, lo, endless ? hi : lo, KVS__RE_FAILED);
        return KVS__RE_FAIL;
    }
    if (s->careful && endless && end < hi) kvs__re_note_set(s, in, end + 1, hi, KVS__RE_FAILED);
    *pos = k = end;
    int more = kvs__re_give_back(s, next, lo, &k);
    return more || s->careful ? kvs__re_push(s, pc, (uint32_t)more, k, lo, end) : KVS__RE_GO;
}

static inline int kvs__re_alt(kvs__regex_scratch *s, uint32_t *pc, size_t pos)
{
    const kvs__re_inst *in = &s->re->inst[*pc];
    uint32_t left = s->re->mask[in->slot].at[pos < s->n ? (unsigned char)s->text[pos] : KVS__RE_END], from = *pc;
    uint32_t note = s->careful ? kvs__re_note(s, in, pos) : 0;
    s->steps++;
    if (!left || note == KVS__RE_FAILED) return KVS__RE_FAIL;
    if (note == KVS__RE_SUCCEEDED) return KVS__RE_DONE;
    *pc = s->re->target[in->to + (uint32_t)__builtin_ctz(left)];
    left &= left - 1;
    return left || s->careful ? kvs__re_push(s, from, left, pos, 0, 0) : KVS__RE_GO;
}

static size_t kvs__re_word_before(const kvs__regex_scratch *s, const kvs__re_set *word, size_t pos)
{
    size_t p = pos;
    while (p > 0 && pos - p < 4 && ((unsigned char)s->text[--p] & 0xC0) == 0x80) {}
    return pos ? kvs__re_take(s->re, word, s->text, p, pos) : 0;
}

static int kvs__re_assert(const kvs__regex_scratch *s, const kvs__re_inst *in, size_t pos)
{
    const kvs__re_set *word = &s->re->set[in->set];
    switch (in->mode) {
        case KVS__RE_LINE_START: return pos == 0 || (s->text[pos - 1] == '\n' && pos < s->n);
        case KVS__RE_LINE_END: return pos == s->n || s->text[pos] == '\n';
        case KVS__RE_START: return pos == 0;
        case KVS__RE_STOP: return pos == s->n;
        case KVS__RE_STOP_NL: return pos == s->n || (pos + 1 == s->n && s->text[pos] == '\n');
        default: break;
    }
    int edge = !kvs__re_word_before(s, word, pos) != !kvs__re_take(s->re, word, s->text, pos, s->n);
    return edge == (in->mode == KVS__RE_WORD);
}

/* The loop of frame f tries its next end. KVS__RE_FAIL: there is none, f->left is 0. */
static inline int kvs__re_again(kvs__regex_scratch *s, kvs__re_frame *f)
{
    const kvs__re_inst *in = &s->re->inst[f->pc];
    int endless = in->max == KVS__RE_INF, notes = s->careful && endless;
    if (in->mode == KVS__RE_LAZY) {
        size_t k = kvs__re_take(s->re, &s->re->set[in->set], s->text, f->hi, s->n);
        uint32_t note = k && notes ? kvs__re_note(s, in, f->hi + k) : 0;
        f->left -= !endless;
        if (note == KVS__RE_SUCCEEDED) return KVS__RE_DONE;
        if (!k || note) { f->left = 0; return KVS__RE_FAIL; }
        f->hi += k;
        return KVS__RE_GO;
    }
    if (notes) kvs__re_note_set(s, in, f->pos + 1, f->hi, KVS__RE_FAILED);
    f->hi = f->pos;
    f->left = (uint32_t)kvs__re_give_back(s, &s->re->next[in->slot], f->lo, &f->pos);
    return KVS__RE_GO;
}

/* Takes the newest choice above base that has something left: sets *pc and *pos. KVS__RE_FAIL if none has. */
static int kvs__re_backtrack(kvs__regex_scratch *s, size_t base, uint32_t *pc, size_t *pos)
{
    while (s->n_frames > base) {
        kvs__re_frame *f = &s->frame[s->n_frames - 1];
        const kvs__re_inst *in = &s->re->inst[f->pc];
        int r = KVS__RE_GO;
        s->steps++;
        if (kvs__re_be_careful(s)) return KVS__RE_NO_MEMORY;
        if (!f->left) {
            if (s->careful) kvs__re_note_frame(s, f, KVS__RE_FAILED);
            s->n_frames--;
            continue;
        }
        if (in->op == KVS__RE_ALT) {
            *pc = s->re->target[in->to + (uint32_t)__builtin_ctz(f->left)]; *pos = f->pos;
            f->left &= f->left - 1;
        } else {
            r = kvs__re_again(s, f);
            *pc = f->pc + 1; *pos = f->hi;
            if (r == KVS__RE_FAIL) continue;
        }
        if (!f->left && !s->careful) s->n_frames--;
        return r;
    }
    return KVS__RE_FAIL;
}

/* Runs from pc at pos to a MATCH. KVS__RE_DONE and *end, KVS__RE_FAIL or KVS__RE_NO_MEMORY; the frames are as before.
   look: how deep in look-aheads. Only there success is noted: it needs no *end, and nothing after it can undo it. */
static int kvs__re_run(kvs__regex_scratch *s, uint32_t pc, size_t pos, size_t *end, int look)
{
    const kvs__regex *re = s->re;
    size_t base = s->n_frames, k;
    int r = kvs__re_be_careful(s) ? KVS__RE_NO_MEMORY : KVS__RE_GO;
    while (r == KVS__RE_GO) {
        const kvs__re_inst *in = &re->inst[pc];
        switch (in->op) {
            case KVS__RE_SET:
                k = kvs__re_take(re, &re->set[in->set], s->text, pos, s->n);
                r = k ? KVS__RE_GO : KVS__RE_FAIL;
                pos += k; pc++;
                break;
            case KVS__RE_LOOP: r = kvs__re_loop(s, pc, &pos); pc++; break;
            case KVS__RE_ALT: r = kvs__re_alt(s, &pc, pos); break;
            case KVS__RE_JMP: pc = in->to; break;
            case KVS__RE_PEEK:
                k = kvs__re_take(re, &re->set[in->set], s->text, pos, s->n);
                r = (k > 0) != in->mode ? KVS__RE_GO : KVS__RE_FAIL;
                pc++;
                break;
            case KVS__RE_LOOK:
                r = kvs__re_run(s, pc + 1, pos, &k, look + 1);
                if (r != KVS__RE_NO_MEMORY) r = (r == KVS__RE_DONE) != in->mode ? KVS__RE_GO : KVS__RE_FAIL;
                pc = in->to;
                break;
            case KVS__RE_ASSERT: r = kvs__re_assert(s, in, pos) ? KVS__RE_GO : KVS__RE_FAIL; pc++; break;
            default: r = KVS__RE_DONE; break;
        }
        if (r == KVS__RE_FAIL) r = kvs__re_backtrack(s, base, &pc, &pos);
    }
    for (size_t i = base; look && s->careful && r == KVS__RE_DONE && i < s->n_frames; i++)
        kvs__re_note_frame(s, &s->frame[i], KVS__RE_SUCCEEDED);
    s->n_frames = base;
    *end = pos;
    return r;
}

/* The leftmost match in s[0..n) that starts at or after `from`: 1 and its bounds, 0 if there is none, -1 when out of
   memory. s must be valid UTF-8. The scratch may serve one regex and text after another, but the same s and n with
   from > 0 promises the same bytes as in the call before: what is noted about them is kept. */
static int kvs__regex_find(const kvs__regex *re, kvs__regex_scratch *s, const char *text, size_t n, size_t from,
                           size_t *start, size_t *end)
{
    if (from == 0 || s->re != re || s->text != text || s->n != n) {
        s->re = re; s->text = text; s->n = n;
        s->steps = 0; s->careful = 0;
        s->budget = s->test ? 0 : 4096 + 16 * (uint64_t)n;
    }
    for (size_t pos = from; pos <= n; pos++) {
        while (pos < n && !re->first.at[(unsigned char)text[pos]]) pos++;
        if (pos == n && !re->first.at[KVS__RE_END]) return 0;
        int r = kvs__re_run(s, 0, pos, end, 0);
        *start = pos;
        if (r != KVS__RE_FAIL) return r == KVS__RE_DONE ? 1 : -1;
    }
    return 0;
}

/* ====================================================================================================
   >>tokenizer   Text to ids and back, as the Hugging Face `tokenizers` library defines it.

   Owns: tokenizer.json (model type BPE), or vocab.json + merges.txt where that is absent. Must not know: models,
   batches, requests. Open builds one immutable kvs_tokenizer; encode and decode keep their state on the stack and in
   memory of the call, so any number of threads may use one tokenizer. What is not implemented is refused by name.

   encode   text --added tokens--> segments --normalizer--> --added tokens--> --pre-tokenizer--> words --BPE--> ids
            --post-processor--> ids with BOS and the like (KVS_ADD_SPECIAL)
   decode   ids --special ones left out (KVS_SKIP_SPECIAL)--> tokens --decoder--> text

   The same results as the library: encode(..., add_special_tokens) is KVS_PARSE_SPECIAL [| KVS_ADD_SPECIAL]; with
   encode_special_tokens = True it is the same without KVS_PARSE_SPECIAL; decode(skip_special_tokens) is
   KVS_SKIP_SPECIAL. Where it differs, on purpose:
   - invalid UTF-8 is accepted: each maximal subpart is read as U+FFFD (the library takes only valid strings);
   - "truncation" and "padding" of the file are ignored: they are a caller's wish, not the vocabulary's;
   - without KVS_PARSE_SPECIAL no merge and no whole-word lookup yields a control token, whatever the file lists;
   - bytes spelled by byte-fallback tokens turn into text in runs, and a run ends after KVS__RUN of them (the library
     waits for its end, then writes U+FFFD for each byte if any part of it is invalid: a stream could never begin).
   ==================================================================================================== */

#define KVS__TOK_IDS    (1 << 22)   /* ids below this: bounds what a hostile file can make us allocate */
#define KVS__TOK_STEPS  16          /* at most so many normalizers, so many pre-tokenizers, so many decoders */
#define KVS__TOK_NONE   UINT32_MAX
#define KVS__RUN        ((int)sizeof(((kvs_stream *)0)->pending))

enum { KVS__TOK_MODEL = 1,    /* in the model's vocabulary (an added token need not be) */
       KVS__TOK_ADDED = 2, KVS__TOK_SPECIAL = 4,
       KVS__TOK_LSTRIP = 8, KVS__TOK_RSTRIP = 16, KVS__TOK_WORD = 32, KVS__TOK_NORMALIZED = 64 };

/* ---- the data model ---- */

typedef struct kvs__tok_entry { uint32_t at; uint16_t len; uint8_t flags; } kvs__tok_entry;  /* flags 0: none */
typedef struct kvs__tok_slot  { uint32_t hash, id1; } kvs__tok_slot;                         /* id + 1; 0: free */
typedef struct kvs__tok_merge { uint32_t a, b, rank; int32_t id; } kvs__tok_merge;           /* a == NONE: free */

/* A character of a model that is not byte-level. left tells where words may be cut: a boundary that no merge can cross.
   A merge that crosses the boundary between characters x and y joins a token that ends in x and one that begins with y.
   So left is the only x for which such a merge exists, or LEFT_NONE (none at all), or LEFT_MANY. */
typedef struct kvs__tok_char { int32_t id; uint32_t left; } kvs__tok_char;
#define KVS__LEFT_NONE 0xFFFFFFFFu
#define KVS__LEFT_MANY 0xFFFFFFFEu

/* What Split and Replace look for. */
typedef enum { KVS__FIND_TEXT, KVS__FIND_REGEX, KVS__FIND_SPACE, KVS__FIND_DIGIT, KVS__FIND_PUNCT,
               KVS__FIND_WORD } kvs__find_kind;
typedef struct kvs__pattern { kvs__find_kind kind; kvs__regex *re; char *text; size_t n; } kvs__pattern;

/* One normalizer, pre-tokenizer or decoder; Sequences are flattened. Which fields count depends on the kind. */
typedef struct kvs__tok_step {
    uint8_t kind;                   /* kvs__tok_norm, kvs__pre_kind or kvs__dec_kind */
    uint8_t how;                    /* kvs__split_how, or kvs__meta_how */
    uint8_t invert, fused;          /* fused: what arrives are pieces of one string, not tokens */
    int32_t start, stop;            /* Strip */
    kvs__pattern find;
    char *text; size_t n_text;      /* what is prepended, or put in place of what is found */
} kvs__tok_step;
typedef struct kvs__tok_steps { kvs__tok_step step[KVS__TOK_STEPS]; int n; } kvs__tok_steps;

typedef enum { KVS__NORM_NFC, KVS__NORM_NFD, KVS__NORM_NFKC, KVS__NORM_NFKD, KVS__NORM_LOWERCASE, KVS__NORM_STRIP,
               KVS__NORM_STRIP_ACCENTS, KVS__NORM_PREPEND, KVS__NORM_REPLACE, KVS__NORM_NMT,
               KVS__NORM_BYTES } kvs__tok_norm;
typedef enum { KVS__PRE_SPLIT, KVS__PRE_PREFIX, KVS__PRE_META, KVS__PRE_BYTES } kvs__pre_kind;
typedef enum { KVS__DEC_BYTES, KVS__DEC_REPLACE, KVS__DEC_FALLBACK, KVS__DEC_FUSE, KVS__DEC_STRIP, KVS__DEC_META,
               KVS__DEC_JOIN } kvs__dec_kind;
typedef enum { KVS__SPLIT_REMOVED, KVS__SPLIT_ISOLATED, KVS__SPLIT_PREVIOUS, KVS__SPLIT_NEXT,
               KVS__SPLIT_CONTIGUOUS } kvs__split_how;
typedef enum { KVS__META_ALWAYS, KVS__META_FIRST, KVS__META_NEVER } kvs__meta_how;

/* Added tokens as they are searched for: patterns in byte order, so that the longest match is found by narrowing. */
typedef struct kvs__added { const char *p; uint32_t len, order; int32_t id; } kvs__added;
typedef struct kvs__added_set {
    kvs__added *pat; size_t n;
    char *text;                     /* of normalized patterns */
    uint8_t first[256];             /* some pattern begins with this byte */
    int only;                       /* the one first byte there is, or -1 */
} kvs__added_set;

struct kvs_tokenizer {
    kvs__mem *mem, own;             /* mem is &own, or the engine's */
    char *text;   size_t n_text;    /* all entries, each with a NUL */
    kvs__tok_entry *entry;  int32_t n_ids, n_vocab;
    kvs__tok_slot  *slot;   uint32_t slot_mask;      /* entry text -> id, open addressing, at most half full */
    kvs__tok_merge *merge;  uint32_t merge_mask;     /* (a, b) -> rank, id; the same */
    uint32_t longest;               /* entry, bytes */
    int32_t byte_id[256];           /* byte-level: the entry that stands for a byte, or -1 */
    int32_t fallback_id[256];       /* byte_fallback: the entry <0xHH>, or -1 */
    int32_t unk;                    /* -1: none, -2: named but not in the vocabulary */
    uint8_t byte_level, byte_fallback, fuse_unk, ignore_merges, special_merges;
    uint16_t page_of[0x1100];       /* code point / 256 -> page; page 0 is empty */
    kvs__tok_char (*page)[256];
    kvs__tok_steps norm, pre, dec;
    kvs__added_set raw, normalized; /* added tokens matched before and after the normalizer */
    int32_t *post; int32_t n_before, n_after;        /* what the post-processor puts around the ids */
};

/* ---- the byte-level alphabet: every byte has a printable character ---- */

static uint32_t kvs__byte_char(unsigned b)
{
    if (b <= 0x20) return 0x100 + b;
    if (b >= 0x7F && b <= 0xA0) return 0x121 + (b - 0x7F);
    return b == 0xAD ? 0x143 : b;
}
static int kvs__char_byte(uint32_t cp)   /* the byte, or -1 */
{
    if (cp >= 0x100 && cp <= 0x120) return (int)(cp - 0x100);
    if (cp >= 0x121 && cp <= 0x142) return (int)(cp - 0x121 + 0x7F);
    if (cp == 0x143) return 0xAD;
    return cp > 0xFF || cp <= 0x20 || (cp >= 0x7F && cp <= 0xA0) || cp == 0xAD ? -1 : (int)cp;
}
static void kvs__bytes_to_chars(kvs__buf *out, const char *p, size_t n)
{
    char c[4];
    for (size_t i = 0; i < n; i++) kvs__buf_put(out, c, kvs__utf8_put(kvs__byte_char((unsigned char)p[i]), c));
}
/* The bytes that a token spells, at most n, or -1 if some character stands for none. */
static int64_t kvs__chars_to_bytes(const char *p, size_t n, char *out)
{
    int64_t len = 0;
    uint32_t cp;
    for (size_t i = 0; i < n;) {
        i += kvs__utf8_next(p + i, n - i, &cp);
        int b = kvs__char_byte(cp);
        if (b < 0) return -1;
        out[len++] = (char)b;
    }
    return len;
}

/* ---- the vocabulary ---- */

static uint32_t kvs__tok_hash(const char *p, size_t n) { return (uint32_t)kvs__hash64(p, n); }

/* The id of an entry, added tokens included; -1: none. */
static int32_t kvs__tok_find(const kvs_tokenizer *t, const char *p, size_t n)
{
    uint32_t h = kvs__tok_hash(p, n);
    for (uint32_t i = h & t->slot_mask; t->slot[i].id1; i = (i + 1) & t->slot_mask) {
        if (t->slot[i].hash != h) continue;
        const kvs__tok_entry *e = &t->entry[t->slot[i].id1 - 1];
        if (e->len == n && memcmp(t->text + e->at, p, n) == 0) return (int32_t)(t->slot[i].id1 - 1);
    }
    return -1;
}
/* The same for the model alone: what the library's BPE sees. */
static int32_t kvs__tok_model_id(const kvs_tokenizer *t, const char *p, size_t n)
{
    int32_t id = n <= t->longest ? kvs__tok_find(t, p, n) : -1;
    return id >= 0 && (t->entry[id].flags & KVS__TOK_MODEL) ? id : -1;
}
static const kvs__tok_char *kvs__tok_char_at(const kvs_tokenizer *t, uint32_t cp)
{
    return &t->page[t->page_of[cp >> 8]][cp & 0xFF];
}

/* ---- characters of the kinds that pre-tokenizers and added tokens ask for ---- */

static int kvs__tok_in(uint32_t cp, uint64_t categories) { return (int)(categories >> kvs__uni_category(cp)) & 1; }
#define KVS__UC(x) (1ull << KVS__UC_##x)

/* The library's tables are of different age: for digits Unicode 17, for punctuation and marks 9 or older, so that the
   characters of these ranges, which came later, are none for it. Checked over all code points. */
static int kvs__tok_later(uint32_t cp, const uint32_t (*range)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) if (cp <= range[i][1]) return cp >= range[i][0];
    return 0;
}
static int kvs__tok_digit(uint32_t cp)
{
    return kvs__tok_in(cp, KVS__UC(ND) | KVS__UC(NL) | KVS__UC(NO)) || (cp >= 0x11DE0 && cp <= 0x11DE9)
           || (cp >= 0x16FF4 && cp <= 0x16FF6);
}
static int kvs__tok_mark(uint32_t cp)
{
    static const uint32_t later[][2] = {
        {0x7FD, 0x7FD}, {0x897, 0x8D3}, {0x9FE, 0x9FE}, {0xAFA, 0xAFF}, {0xB55, 0xB55}, {0xC04, 0xC3C}, {0xCF3, 0xD00},
        {0xD3B, 0xD3C}, {0xD81, 0xD81}, {0xEBA, 0xEBA}, {0xECE, 0xECE}, {0x1715, 0x1715}, {0x180F, 0x180F},
        {0x1ABF, 0x1ACE}, {0x1CF7, 0x1CF7}, {0x1DF6, 0x1DFA}, {0xA82C, 0xA82C}, {0xA8FF, 0xA8FF}, {0x10D24, 0x10D6D},
        {0x10EAB, 0x10F85}, {0x11070, 0x11074}, {0x110C2, 0x110C2}, {0x11145, 0x11146}, {0x111C9, 0x111C9},
        {0x111CE, 0x111CF}, {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x113B8, 0x113E2}, {0x1145E, 0x1145E},
        {0x1182C, 0x1183A}, {0x11930, 0x11943}, {0x119D1, 0x11A99}, {0x11D31, 0x11D97}, {0x11EF3, 0x11F5A},
        {0x13440, 0x13455}, {0x1611E, 0x1612F}, {0x16F4F, 0x16F4F}, {0x16F7F, 0x16F87}, {0x16FE4, 0x16FF1},
        {0x1CF00, 0x1CF46}, {0x1E08F, 0x1E08F}, {0x1E130, 0x1E136}, {0x1E2AE, 0x1E2EF}, {0x1E4EC, 0x1E4EF},
        {0x1E5EE, 0x1E5EF}};
    if (cp == 0x1CF2 || cp == 0x1CF3) return 1;
    return kvs__tok_in(cp, KVS__UC(MN) | KVS__UC(MC) | KVS__UC(ME)) && !kvs__tok_later(cp, later, KVS__COUNT(later));
}
static int kvs__tok_punct(uint32_t cp)
{
    static const uint32_t later[][2] = {
        {0x61D, 0x61D}, {0x9FD, 0x9FD}, {0xA76, 0xA76}, {0xC77, 0xC84}, {0x1B4E, 0x1B4F}, {0x1B7D, 0x1B7F},
        {0x2E43, 0x2E5D}, {0x10D6E, 0x10D6E}, {0x10EAD, 0x10EAD}, {0x10F55, 0x10F89}, {0x113D4, 0x113D8},
        {0x1144B, 0x1145D}, {0x11660, 0x116B9}, {0x1183B, 0x1183B}, {0x11944, 0x11946}, {0x119E2, 0x119E2},
        {0x11A3F, 0x11A46}, {0x11A9A, 0x11AA2}, {0x11B00, 0x11B09}, {0x11BE1, 0x11BE1}, {0x11C41, 0x11C71},
        {0x11EF7, 0x11F4F}, {0x11FFF, 0x11FFF}, {0x12FF1, 0x12FF2}, {0x16D6D, 0x16D6F}, {0x16E97, 0x16E9A},
        {0x16FE2, 0x16FE2}, {0x1E5FF, 0x1E5FF}, {0x1E95E, 0x1E95F}};
    const uint64_t all = KVS__UC(PC) | KVS__UC(PD) | KVS__UC(PS) | KVS__UC(PE) | KVS__UC(PI) | KVS__UC(PF)
                         | KVS__UC(PO);
    if (cp < 0x80) return cp > 0x20 && cp < 0x7F && !(cp >= '0' && cp <= '9') && ((cp | 32) < 'a' || (cp | 32) > 'z');
    if (cp == 0x166D || cp == 0x111C9) return 1;
    return kvs__tok_in(cp, all) && !kvs__tok_later(cp, later, KVS__COUNT(later));
}
/* \w of the library's Rust regexes: Alphabetic, marks, decimal digits, connectors, joiners. The ranges are the letters
   in circles and squares, the only alphabetic symbols. */
static int kvs__tok_word(uint32_t cp)
{
    if (cp < 0x80) return cp == '_' || (cp >= '0' && cp <= '9') || ((cp | 32) >= 'a' && (cp | 32) <= 'z');
    if (kvs__tok_in(cp, KVS__UC(LU) | KVS__UC(LL) | KVS__UC(LT) | KVS__UC(LM) | KVS__UC(LO) | KVS__UC(NL) | KVS__UC(ND)
                        | KVS__UC(MN) | KVS__UC(MC) | KVS__UC(ME) | KVS__UC(PC))) return 1;
    return cp == 0x200C || cp == 0x200D || (cp >= 0x24B6 && cp <= 0x24E9) || (cp >= 0x1F130 && cp <= 0x1F149)
           || (cp >= 0x1F150 && cp <= 0x1F169) || (cp >= 0x1F170 && cp <= 0x1F189);
}

/* The code point that ends at p[n), n > 0; its length in *len. Valid UTF-8. */
static uint32_t kvs__utf8_last(const char *p, size_t n, size_t *len)
{
    size_t k = 1;
    uint32_t cp;
    while (k < n && k < 4 && ((unsigned char)p[n - k] & 0xC0) == 0x80) k++;
    kvs__utf8_next(p + n - k, k, &cp);
    *len = k;
    return cp;
}
static size_t kvs__space_before(const char *p, size_t n)   /* bytes of white space that end at n */
{
    size_t left = n, len;
    while (left && kvs__uni_space(kvs__utf8_last(p, left, &len))) left -= len;
    return n - left;
}
static size_t kvs__space_after(const char *p, size_t n)    /* bytes of white space that p begins with */
{
    size_t i = 0;
    uint32_t cp;
    while (i < n) {
        size_t len = kvs__utf8_next(p + i, n - i, &cp);
        if (!kvs__uni_space(cp)) break;
        i += len;
    }
    return i;
}

/* ---- one call of encode ---- */

/* A word seen before in this call, and its ids, or where they are in out.id if there are many. A cache line. */
#define KVS__WORD_BYTES 32
#define KVS__WORD_IDS   7
typedef struct kvs__word { char key[KVS__WORD_BYTES]; int32_t id[KVS__WORD_IDS]; uint8_t len, n; } kvs__word;
#define KVS__WORD_SLOTS 32768      /* at most: 2 MiB */

typedef struct kvs__ids { int32_t *id; size_t n, cap; } kvs__ids;

typedef struct kvs__tok_call {
    const kvs_tokenizer *t;
    int plain;                      /* control tokens in the text stay text */
    kvs__regex_scratch regex[KVS__TOK_STEPS];       /* of each pre-tokenizer; the normalizers share the first */
    kvs__ids out, sym;              /* sym: the symbols of one word */
    kvs__word *word; uint32_t word_mask;
    uint32_t *work; size_t work_cap;
    uint64_t *heap; size_t heap_cap;
    kvs__buf clean, norm[2], pre[KVS__TOK_STEPS];
} kvs__tok_call;

static void kvs__tok_call_init(kvs__tok_call *c, const kvs_tokenizer *t, size_t len, int flags)
{
    memset(c, 0, sizeof *c);
    c->t = t;
    c->plain = !(flags & KVS_PARSE_SPECIAL);
    c->clean.mem = c->norm[0].mem = c->norm[1].mem = t->mem;
    for (int i = 0; i < KVS__TOK_STEPS; i++) c->pre[i].mem = t->mem;
    if (len < 256) return;                         /* nothing repeats */
    uint32_t slots = 64;
    while (slots < KVS__WORD_SLOTS && slots < len / 16) slots *= 2;
    c->word = (kvs__word *)kvs__alloc(t->mem, slots, sizeof(kvs__word));
    c->word_mask = slots - 1;                      /* without memory it works without the cache */
}
static void kvs__tok_call_free(kvs__tok_call *c)
{
    kvs__mem *m = c->t->mem;
    kvs__free(m, c->out.id); kvs__free(m, c->sym.id); kvs__free(m, c->word);
    kvs__free(m, c->work); kvs__free(m, c->heap);
    kvs__buf_free(&c->clean); kvs__buf_free(&c->norm[0]); kvs__buf_free(&c->norm[1]);
    for (int i = 0; i < KVS__TOK_STEPS; i++) { kvs__buf_free(&c->pre[i]); kvs__regex_scratch_free(m, &c->regex[i]); }
}

/* Room for n more ids. */
static kvs_result kvs__ids_room(kvs__mem *m, kvs__ids *v, size_t n)
{
    void *p = v->id;
    if (kvs__grow(m, &p, &v->cap, v->n + n, sizeof(int32_t))) return KVS_ERR_MEMORY;
    v->id = (int32_t *)p;
    return KVS_OK;
}
static kvs_result kvs__ids_put(kvs__mem *m, kvs__ids *v, const int32_t *id, size_t n)
{
    if (v->n + n > v->cap && kvs__ids_room(m, v, n)) return KVS_ERR_MEMORY;
    if (n) memcpy(v->id + v->n, id, n * sizeof *id);
    v->n += n;
    return KVS_OK;
}

/* ---- BPE: the symbols of a word, then merges in the order of their rank, the leftmost first ---- */

/* The merge of two neighbours, or NULL. */
static const kvs__tok_merge *kvs__bpe_pair(const kvs__tok_call *c, int32_t left, int32_t right)
{
    const kvs_tokenizer *t = c->t;
    uint32_t a = (uint32_t)left, b = (uint32_t)right;
    uint64_t h = (((uint64_t)a << 32) | b) * 0x9e3779b97f4a7c15ull;
    for (uint32_t i = (uint32_t)(h >> 32) & t->merge_mask;; i = (i + 1) & t->merge_mask) {
        const kvs__tok_merge *m = &t->merge[i];
        if (m->a == a && m->b == b)
            return c->plain && t->special_merges && (t->entry[m->id].flags & KVS__TOK_SPECIAL) ? NULL : m;
        if (m->a == KVS__TOK_NONE) return NULL;
    }
}

/* A character that is no entry: byte tokens for all of its bytes, or the unknown token (*unk: one is waiting to be put,
   in the library's order), or nothing. */
static kvs_result kvs__bpe_unknown(kvs__tok_call *c, const char *p, size_t n, int *unk)
{
    const kvs_tokenizer *t = c->t;
    size_t k = 0;
    while (t->byte_fallback && k < n && t->fallback_id[(unsigned char)p[k]] >= 0) k++;
    if (k == n) {
        for (k = 0; k < n; k++)
            if (kvs__ids_put(t->mem, &c->sym, &t->fallback_id[(unsigned char)p[k]], 1)) return KVS_ERR_MEMORY;
        return KVS_OK;
    }
    if (t->unk == -1) return KVS_OK;
    if (t->unk < 0) return KVS_ERR_FORMAT;
    if (*unk && !t->fuse_unk && kvs__ids_put(t->mem, &c->sym, &t->unk, 1)) return KVS_ERR_MEMORY;
    *unk = 1;
    return KVS_OK;
}

/* p[0..n) as symbols in c->sym. */
static kvs_result kvs__bpe_symbols(kvs__tok_call *c, const char *p, size_t n)
{
    const kvs_tokenizer *t = c->t;
    int unk = 0;
    char spelled[4];
    uint32_t cp;
    c->sym.n = 0;
    for (size_t i = 0, len; i < n; i += len) {
        int32_t id;
        if (t->byte_level) { len = 1; id = t->byte_id[(unsigned char)p[i]]; }
        else { len = kvs__utf8_next(p + i, n - i, &cp); id = kvs__tok_char_at(t, cp)->id; }
        if (id >= 0) {
            if (unk && kvs__ids_put(t->mem, &c->sym, &t->unk, 1)) return KVS_ERR_MEMORY;
            unk = 0;
            if (kvs__ids_put(t->mem, &c->sym, &id, 1)) return KVS_ERR_MEMORY;
            continue;
        }
        const char *s = p + i;
        size_t n_s = len;
        if (t->byte_level) { s = spelled; n_s = kvs__utf8_put(kvs__byte_char((unsigned char)p[i]), spelled); }
        kvs_result r = kvs__bpe_unknown(c, s, n_s, &unk);
        if (r) return r;
    }
    return unk ? kvs__ids_put(t->mem, &c->sym, &t->unk, 1) : KVS_OK;
}

/* Few symbols: look for the smallest rank among all, merge, close the gap. Returns the number of symbols left.
   Quadratic, but faster than the heap up to some 220 symbols (Qwen3's merges, Korean, AMD EPYC: 57 against 97 ns a
   symbol at 38 symbols, 82 against 110 at 175). */
#define KVS__BPE_SHORT 128
static size_t kvs__bpe_merge_short(const kvs__tok_call *c, int32_t *sym, size_t n)
{
    uint32_t rank[KVS__BPE_SHORT];                 /* of the pair (i, i + 1) */
    int32_t to[KVS__BPE_SHORT];
    for (size_t i = 0; i + 1 < n; i++) {
        const kvs__tok_merge *m = kvs__bpe_pair(c, sym[i], sym[i + 1]);
        rank[i] = m ? m->rank : KVS__TOK_NONE; to[i] = m ? m->id : 0;
    }
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++) if (rank[i] < rank[best]) best = i;
        if (rank[best] == KVS__TOK_NONE) break;
        sym[best] = to[best];
        n--;
        for (size_t i = best + 1; i < n; i++) { sym[i] = sym[i + 1]; rank[i - 1] = rank[i]; to[i - 1] = to[i]; }
        for (size_t i = best ? best - 1 : 0; i <= best && i + 1 < n; i++) {
            const kvs__tok_merge *m = kvs__bpe_pair(c, sym[i], sym[i + 1]);
            rank[i] = m ? m->rank : KVS__TOK_NONE; to[i] = m ? m->id : 0;
        }
    }
    return n;
}

static void kvs__heap_up(uint64_t *h, size_t i)
{
    uint64_t x = h[i];
    for (; i && h[(i - 1) / 2] > x; i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = x;
}
static void kvs__heap_down(uint64_t *h, size_t i, size_t n)
{
    uint64_t x = h[i];
    for (size_t k; (k = 2 * i + 1) < n; i = k) {
        if (k + 1 < n && h[k + 1] < h[k]) k++;
        if (h[k] >= x) break;
        h[i] = h[k];
    }
    h[i] = x;
}

/* A chain of symbols by index. rank[i] and to[i] are of the pair that begins at i; NONE: no merge, or i is gone. A heap
   entry is rank << 32 | i, and out of date unless rank[i] still says so: a pair's text only ever grows, so a rank never
   comes back to the same place. */
typedef struct kvs__bpe_chain {
    int32_t *sym; uint32_t n, *next, *prev, *rank, *to;
    uint64_t *heap; size_t n_heap;
} kvs__bpe_chain;

static void kvs__bpe_chain_pair(const kvs__tok_call *c, kvs__bpe_chain *w, uint32_t i)
{
    const kvs__tok_merge *m = w->next[i] < w->n ? kvs__bpe_pair(c, w->sym[i], w->sym[w->next[i]]) : NULL;
    w->rank[i] = m ? m->rank : KVS__TOK_NONE;
    if (!m) return;
    w->to[i] = (uint32_t)m->id;
    w->heap[w->n_heap++] = ((uint64_t)m->rank << 32) | i;
}

/* Any number of symbols in O(n log n): every merge takes one entry from the heap and adds two at most, so 2n are room
   enough. */
static kvs_result kvs__bpe_merge_long(kvs__tok_call *c, int32_t *sym, size_t *n)
{
    kvs__bpe_chain w;
    void *work = c->work, *heap = c->heap;
    size_t k = *n;
    if (kvs__grow(c->t->mem, &work, &c->work_cap, 4 * k, sizeof(uint32_t))) return KVS_ERR_MEMORY;
    c->work = (uint32_t *)work;
    if (kvs__grow(c->t->mem, &heap, &c->heap_cap, 2 * k, sizeof(uint64_t))) return KVS_ERR_MEMORY;
    c->heap = (uint64_t *)heap;
    w.sym = sym; w.n = (uint32_t)k; w.n_heap = 0; w.heap = c->heap;
    w.next = c->work; w.prev = w.next + k; w.rank = w.prev + k; w.to = w.rank + k;
    for (uint32_t i = 0; i < w.n; i++) { w.next[i] = i + 1; w.prev[i] = i - 1; }
    for (uint32_t i = 0; i < w.n; i++) kvs__bpe_chain_pair(c, &w, i);
    for (size_t i = w.n_heap / 2; i-- > 0;) kvs__heap_down(w.heap, i, w.n_heap);
    while (w.n_heap) {
        uint32_t i = (uint32_t)w.heap[0], rank = (uint32_t)(w.heap[0] >> 32);
        w.heap[0] = w.heap[--w.n_heap];
        if (w.n_heap) kvs__heap_down(w.heap, 0, w.n_heap);
        if (w.rank[i] != rank) continue;
        uint32_t gone = w.next[i];
        w.sym[i] = (int32_t)w.to[i];
        w.rank[gone] = KVS__TOK_NONE;
        w.next[i] = w.next[gone];
        if (w.next[i] < w.n) w.prev[w.next[i]] = i;
        for (uint32_t j = i, two = 0; two < 2 && j < w.n; two++, j = w.prev[i]) {
            size_t had = w.n_heap;
            kvs__bpe_chain_pair(c, &w, j);
            if (w.n_heap > had) kvs__heap_up(w.heap, had);
        }
    }
    *n = 0;
    for (uint32_t i = 0; i < w.n; i = w.next[i]) sym[(*n)++] = sym[i];
    return KVS_OK;
}

/* ids of a word whose merges cannot reach beyond it, appended to c->out. */
static kvs_result kvs__bpe_merge(kvs__tok_call *c, const char *p, size_t n)
{
    kvs_result r = kvs__bpe_symbols(c, p, n);
    if (!r && c->sym.n > KVS__BPE_SHORT) r = kvs__bpe_merge_long(c, c->sym.id, &c->sym.n);
    else if (!r && c->sym.n > 1) c->sym.n = kvs__bpe_merge_short(c, c->sym.id, c->sym.n);
    return r ? r : kvs__ids_put(c->t->mem, &c->out, c->sym.id, c->sym.n);
}

/* ignore_merges: a word that is an entry as a whole is that entry. -1: it is not. */
static int32_t kvs__bpe_whole(const kvs__tok_call *c, const char *p, size_t n)
{
    const kvs_tokenizer *t = c->t;
    char spelled[2 * KVS_MAX_PIECE];
    size_t len = 0;
    if (!t->ignore_merges || n > t->longest) return -1;
    if (t->byte_level) {
        for (size_t i = 0; i < n; i++) len += kvs__utf8_put(kvs__byte_char((unsigned char)p[i]), spelled + len);
        p = spelled; n = len;
    }
    int32_t id = kvs__tok_model_id(t, p, n);
    return id >= 0 && c->plain && (t->entry[id].flags & KVS__TOK_SPECIAL) ? -1 : id;
}

/* The place of a word in the cache; k gets the word, padded with zeros. */
static kvs__word *kvs__word_at(const kvs__tok_call *c, const char *p, size_t n, uint64_t k[KVS__WORD_BYTES / 8])
{
    uint64_t h = n;
    memset(k, 0, KVS__WORD_BYTES);
    memcpy(k, p, n);
    for (size_t i = 0; i < KVS__WORD_BYTES / 8; i++) h = kvs__rotl(h ^ k[i], 29) * 0x9e3779b97f4a7c15ull;
    return &c->word[(h >> 40) & c->word_mask];
}

/* A word through the cache. whole: it is a whole pre-token. */
static kvs_result kvs__bpe_word(kvs__tok_call *c, const char *p, size_t n, int whole)
{
    uint64_t k[KVS__WORD_BYTES / 8];
    kvs__word *w = n <= KVS__WORD_BYTES && c->word ? kvs__word_at(c, p, n, k) : NULL;
    size_t at = c->out.n;
    if (w && w->len == n && memcmp(w->key, k, sizeof k) == 0) {
        if (at + w->n > c->out.cap && kvs__ids_room(c->t->mem, &c->out, w->n)) return KVS_ERR_MEMORY;
        const int32_t *id = w->n <= KVS__WORD_IDS ? w->id : c->out.id + w->id[0];
        for (size_t i = 0; i < w->n; i++) c->out.id[at + i] = id[i];
        c->out.n += w->n;
        return KVS_OK;
    }
    int32_t id = whole ? kvs__bpe_whole(c, p, n) : -1;
    kvs_result r = id >= 0 ? kvs__ids_put(c->t->mem, &c->out, &id, 1) : kvs__bpe_merge(c, p, n);
    if (r || !w || at > INT32_MAX) return r;
    memcpy(w->key, k, sizeof k);
    w->len = (uint8_t)n; w->n = (uint8_t)(c->out.n - at);
    if (w->n > KVS__WORD_IDS) w->id[0] = (int32_t)at;
    else if (w->n) memcpy(w->id, c->out.id + at, w->n * sizeof *w->id);
    return r;
}

/* A pre-token. Where the model works on characters it may be the whole text, so it is cut at boundaries that no merge
   can cross (see kvs__tok_char): before "▁" of Llama and Mistral, in most of Chinese. The ids are the same, in linear
   time. */
static kvs_result kvs__bpe_piece(kvs__tok_call *c, const char *p, size_t n)
{
    const kvs_tokenizer *t = c->t;
    uint32_t cp, before = KVS__LEFT_NONE;          /* NONE: none, or not an entry: no cut beside it */
    size_t from = 0;
    if (t->byte_level) return kvs__bpe_word(c, p, n, 1);
    int32_t id = kvs__bpe_whole(c, p, n);
    if (id >= 0) return kvs__ids_put(t->mem, &c->out, &id, 1);
    for (size_t i = 0, len; i < n; i += len) {
        len = kvs__utf8_next(p + i, n - i, &cp);
        const kvs__tok_char *ch = kvs__tok_char_at(t, cp);
        if (ch->id >= 0 && before != KVS__LEFT_NONE && ch->left != before && ch->left != KVS__LEFT_MANY) {
            kvs_result r = kvs__bpe_word(c, p + from, i - from, 0);
            if (r) return r;
            from = i;
        }
        before = ch->id >= 0 ? cp : KVS__LEFT_NONE;
    }
    return from < n ? kvs__bpe_word(c, p + from, n - from, 0) : KVS_OK;
}

/* ---- finding: what Split and Replace have in common ---- */

/* Is cp of the class? */
static int kvs__find_class(kvs__find_kind kind, uint32_t cp)
{
    switch (kind) {
        case KVS__FIND_SPACE: return kvs__uni_space(cp);
        case KVS__FIND_DIGIT: return kvs__tok_digit(cp);
        case KVS__FIND_PUNCT: return kvs__tok_punct(cp);
        default:              return 0;
    }
}

/* \w+|[^\w\s]+ : the next run of word characters, or of what is neither word nor space. */
static int kvs__find_word(const char *p, size_t n, size_t from, size_t *start, size_t *end)
{
    uint32_t cp;
    size_t i = from + kvs__space_after(p + from, n - from);
    if (i == n) return 0;
    kvs__utf8_next(p + i, n - i, &cp);
    int word = kvs__tok_word(cp);
    *start = i;
    while (i < n) {
        size_t len = kvs__utf8_next(p + i, n - i, &cp);
        if (kvs__tok_word(cp) != word || (!word && kvs__uni_space(cp))) break;
        i += len;
    }
    *end = i;
    return 1;
}

typedef struct kvs__finder {
    const kvs__pattern *f; kvs__regex_scratch *scratch;
    const char *p; size_t n, from;
    size_t last;                    /* end of the last match; SIZE_MAX: none yet */
} kvs__finder;

/* The first match at or after from: 1, 0, or -1 without memory. */
static int kvs__find_at(const kvs__finder *f, size_t *start, size_t *end)
{
    const char *p = f->p, *text = f->f->text;
    size_t n = f->n, from = f->from, len;
    uint32_t cp;
    if (f->f->kind == KVS__FIND_REGEX) return kvs__regex_find(f->f->re, f->scratch, p, n, from, start, end);
    if (f->f->kind == KVS__FIND_WORD) return kvs__find_word(p, n, from, start, end);
    if (f->f->kind == KVS__FIND_TEXT) {
        const char *hit = f->f->n == 1 ? (const char *)memchr(p + from, text[0], n - from)
                                       : (const char *)kvs__memmem(p + from, n - from, text, f->f->n);
        if (!hit) return 0;
        *start = (size_t)(hit - p); *end = *start + f->f->n;
        return 1;
    }
    for (size_t i = from; i < n; i += len) {
        len = kvs__utf8_next(p + i, n - i, &cp);
        if (kvs__find_class(f->f->kind, cp)) { *start = i; *end = i + len; return 1; }
    }
    return 0;
}

/* The next match, Oniguruma's way: an empty one where the last one ended is passed over. */
static int kvs__find_next(kvs__finder *f, size_t *start, size_t *end)
{
    uint32_t cp;
    while (f->from <= f->n) {
        int found = kvs__find_at(f, start, end);
        if (found <= 0) return found;
        if (*start != *end || *end != f->last) { f->from = f->last = *end; return 1; }
        f->from += f->from < f->n ? kvs__utf8_next(f->p + f->from, f->n - f->from, &cp) : 1;
    }
    return 0;
}

/* ---- normalizers ---- */

static kvs_result kvs__tok_norm_replace(kvs__tok_call *c, const kvs__tok_step *s, const char *p, size_t n,
                                        kvs__buf *out, int *shifted)
{
    kvs__finder f = {&s->find, &c->regex[0], p, n, 0, SIZE_MAX};
    size_t done = 0, start = 0, end = 0;
    int found = 0;
    while (n && (found = kvs__find_next(&f, &start, &end)) > 0) {
        kvs__buf_put(out, p + done, start - done);
        kvs__buf_put(out, s->text, s->n_text);
        if (!out->n && end) *shifted = 1;
        if (out->n > INT32_MAX) return KVS_ERR_CAPACITY;
        done = end;
    }
    kvs__buf_put(out, p + done, n - done);
    return found < 0 ? KVS_ERR_MEMORY : KVS_OK;
}

/* Nmt: control characters go, unusual spaces become U+0020. Returns the character to put, or NONE. */
static uint32_t kvs__tok_norm_nmt(uint32_t c)
{
    int space = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 || (c >= 0x200B && c <= 0x200F)
                || c == 0x2028 || c == 0x2029 || c == 0x2581 || c == 0xFEFF || c == 0xFFFD;
    if ((c && c < 0x20 && !space) || c == 0x7F || c == 0x8F || c == 0x9F) return KVS__TOK_NONE;
    return space ? ' ' : c;
}

/* StripAccents and Nmt: character by character. */
static void kvs__tok_norm_filter(kvs__tok_norm kind, const char *p, size_t n, kvs__buf *out, int *shifted)
{
    uint32_t cp;
    char u[4];
    for (size_t i = 0, len; i < n; i += len) {
        len = kvs__utf8_next(p + i, n - i, &cp);
        if (kind == KVS__NORM_NMT) cp = kvs__tok_norm_nmt(cp);
        else if (kvs__tok_mark(cp)) cp = KVS__TOK_NONE;
        if (cp != KVS__TOK_NONE) kvs__buf_put(out, u, kvs__utf8_put(cp, u));
        else if (!out->n) *shifted = 1;
    }
}

static kvs_result kvs__tok_norm_step(kvs__tok_call *c, const kvs__tok_step *s, const char *p, size_t n, kvs__buf *out,
                                     int *shifted)
{
    size_t cut;
    switch ((kvs__tok_norm)s->kind) {
        case KVS__NORM_NFC:  kvs__uni_normalize(KVS__NFC, p, n, out); break;
        case KVS__NORM_NFD:  kvs__uni_normalize(KVS__NFD, p, n, out); break;
        case KVS__NORM_NFKC: kvs__uni_normalize(KVS__NFKC, p, n, out); break;
        case KVS__NORM_NFKD: kvs__uni_normalize(KVS__NFKD, p, n, out); break;
        case KVS__NORM_LOWERCASE: kvs__uni_lower(out, p, n); break;
        case KVS__NORM_STRIP:
            cut = s->start ? kvs__space_after(p, n) : 0;
            if (cut) *shifted = 1;
            n -= s->stop ? kvs__space_before(p + cut, n - cut) : 0;
            kvs__buf_put(out, p + cut, n - cut);
            break;
        case KVS__NORM_PREPEND:
            if (n) kvs__buf_put(out, s->text, s->n_text);
            kvs__buf_put(out, p, n);
            break;
        case KVS__NORM_STRIP_ACCENTS: case KVS__NORM_NMT:
            kvs__tok_norm_filter((kvs__tok_norm)s->kind, p, n, out, shifted);
            break;
        case KVS__NORM_REPLACE: return kvs__tok_norm_replace(c, s, p, n, out, shifted);
        case KVS__NORM_BYTES:   kvs__bytes_to_chars(out, p, n); break;
    }
    return KVS_OK;
}

/* Normalizes *p[0..*n): afterwards they name the result, which lives in c until the next call. *shifted: the first
   character was dropped. */
static kvs_result kvs__tok_norm_run(kvs__tok_call *c, const char **p, size_t *n, int *shifted)
{
    const kvs__tok_steps *steps = &c->t->norm;
    for (int i = 0; i < steps->n; i++) {
        kvs__buf *out = &c->norm[i & 1];
        out->n = 0;
        kvs_result r = kvs__tok_norm_step(c, &steps->step[i], *p, *n, out, shifted);
        if (r || out->oom) return r ? r : KVS_ERR_MEMORY;
        if (out->n > INT32_MAX) return KVS_ERR_CAPACITY;           /* symbols are counted in 32 bits */
        *p = out->p ? out->p : ""; *n = out->n;
    }
    return KVS_OK;
}

/* ---- pre-tokenizers: each step hands its pieces to the next, the last one to BPE: no lists of pieces are kept ---- */

static kvs_result kvs__pre_run(kvs__tok_call *c, int step, const char *p, size_t n, int first);

/* A splitter holds one span back, since the next may join it. */
typedef struct kvs__splitter { const char *p; size_t start, end; int step, first, held, match; } kvs__splitter;

static kvs_result kvs__split_emit(kvs__tok_call *c, const kvs__splitter *s, size_t start, size_t end)
{
    return start == end ? KVS_OK : kvs__pre_run(c, s->step + 1, s->p + start, end - start, s->first && start == 0);
}

/* The next span of the text, a match or what lies between two. */
static kvs_result kvs__split_span(kvs__tok_call *c, kvs__splitter *s, size_t start, size_t end, int match)
{
    const kvs__tok_step *st = &c->t->pre.step[s->step];
    int was = s->match, joins = 0;
    if (st->invert) match = !match;
    switch ((kvs__split_how)st->how) {
        case KVS__SPLIT_REMOVED:    return match ? KVS_OK : kvs__split_emit(c, s, start, end);
        case KVS__SPLIT_ISOLATED:   return kvs__split_emit(c, s, start, end);
        case KVS__SPLIT_CONTIGUOUS: joins = match == was; break;
        case KVS__SPLIT_PREVIOUS:   joins = match && !was; break;
        case KVS__SPLIT_NEXT:       joins = !match && was; break;
    }
    s->match = match;
    if (s->held && joins) { s->end = end; return KVS_OK; }
    kvs_result r = s->held ? kvs__split_emit(c, s, s->start, s->end) : KVS_OK;
    s->held = 1; s->start = start; s->end = end;
    return r;
}

static kvs_result kvs__pre_split(kvs__tok_call *c, int step, const char *p, size_t n, int first)
{
    kvs__splitter s = {p, 0, 0, step, first, 0, 0};
    kvs__finder f = {&c->t->pre.step[step].find, &c->regex[step], p, n, 0, SIZE_MAX};
    size_t done = 0, start = 0, end = 0;
    kvs_result r = KVS_OK;
    int found;
    while (!r && (found = kvs__find_next(&f, &start, &end)) != 0) {
        if (found < 0) return KVS_ERR_MEMORY;
        if (done != start) r = kvs__split_span(c, &s, done, start, 0);
        if (!r) r = kvs__split_span(c, &s, start, end, 1);
        done = end;
    }
    if (!r && done != n) r = kvs__split_span(c, &s, done, n, 0);
    return !r && s.held ? kvs__split_emit(c, &s, s.start, s.end) : r;
}

/* Metaspace: spaces become the replacement, and one is put in front. */
static void kvs__pre_meta(const kvs__tok_step *s, const char *p, size_t n, int first, kvs__buf *out)
{
    int has = p[0] == ' ' || (n >= s->n_text && memcmp(p, s->text, s->n_text) == 0);
    int wants = s->how == KVS__META_ALWAYS || (s->how == KVS__META_FIRST && first);
    if (wants && !has) kvs__buf_put(out, s->text, s->n_text);
    for (size_t i = 0, end; i < n; i = end + 1) {
        const char *hit = (const char *)memchr(p + i, ' ', n - i);
        end = hit ? (size_t)(hit - p) : n;
        kvs__buf_put(out, p + i, end - i);
        if (hit) kvs__buf_put(out, s->text, s->n_text);
    }
}

/* p[0..n), n > 0, from pre-tokenizer `step` on. first: it begins where the text begins. */
static kvs_result kvs__pre_run(kvs__tok_call *c, int step, const char *p, size_t n, int first)
{
    if (step == c->t->pre.n) return kvs__bpe_piece(c, p, n);
    const kvs__tok_step *s = &c->t->pre.step[step];
    kvs__buf *out = &c->pre[step];
    if (s->kind == KVS__PRE_SPLIT) return kvs__pre_split(c, step, p, n, first);
    if (s->kind == KVS__PRE_PREFIX && p[0] == ' ') return kvs__pre_run(c, step + 1, p, n, first);
    out->n = 0;
    if (s->kind == KVS__PRE_META) kvs__pre_meta(s, p, n, first, out);
    else if (s->kind == KVS__PRE_BYTES) kvs__bytes_to_chars(out, p, n);
    else { kvs__buf_put(out, " ", 1); kvs__buf_put(out, p, n); }
    if (out->oom || out->n > INT32_MAX) return out->oom ? KVS_ERR_MEMORY : KVS_ERR_CAPACITY;
    return kvs__pre_run(c, step + 1, out->p, out->n, first);
}

/* ---- added tokens: cut out before anything else sees them ---- */

/* The first of the patterns lo..hi whose byte d is at least b. All are longer than d, and equal before it. */
static size_t kvs__added_from(const kvs__added_set *s, size_t lo, size_t hi, size_t d, unsigned b)
{
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if ((unsigned char)s->pat[mid].p[d] < b) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The longest pattern that p[0..n) begins with, or NULL. Depth by depth the range of candidates is narrowed. */
static const kvs__added *kvs__added_longest(const kvs__added_set *s, const char *p, size_t n)
{
    const kvs__added *best = NULL;
    size_t lo = 0, hi = s->n;
    for (size_t d = 0; d < n && lo < hi; d++) {
        unsigned b = (unsigned char)p[d];
        lo = kvs__added_from(s, lo, hi, d, b);
        hi = kvs__added_from(s, lo, hi, d, b + 1);
        if (lo < hi && s->pat[lo].len == d + 1) best = &s->pat[lo++];
    }
    return best;
}

/* The leftmost, longest match at or after `from`; NULL: none. */
static const kvs__added *kvs__added_search(const kvs__added_set *s, const char *p, size_t n, size_t from, size_t *at)
{
    for (size_t i = from; i < n; i++) {
        if (s->only >= 0) {
            const char *hit = (const char *)memchr(p + i, s->only, n - i);
            if (!hit) return NULL;
            i = (size_t)(hit - p);
        }
        if (!s->first[(unsigned char)p[i]]) continue;
        const kvs__added *a = kvs__added_longest(s, p + i, n - i);
        if (a) { *at = i; return a; }
    }
    return NULL;
}

/* single_word: no word character may touch it. */
static int kvs__added_alone(const char *p, size_t n, size_t start, size_t stop)
{
    size_t len;
    uint32_t cp;
    if (start && kvs__tok_word(kvs__utf8_last(p, start, &len))) return 0;
    if (stop == n) return 1;
    kvs__utf8_next(p + stop, n - stop, &cp);
    return !kvs__tok_word(cp);
}

typedef struct kvs__cut {           /* begins as zeros */
    size_t from, done;              /* where the search goes on; text before done is dealt with */
    size_t start, stop; int32_t id; /* the token found */
} kvs__cut;

/* The next added token that counts: 1, its id and the span it takes (with the spaces it strips). The search goes on
   behind the token itself, as the library's does. */
static int kvs__added_next(const kvs__tok_call *c, const kvs__added_set *s, const char *p, size_t n, kvs__cut *k)
{
    const kvs__added *a;
    size_t at = 0;
    while (s->n && (a = kvs__added_search(s, p, n, k->from, &at)) != NULL) {
        unsigned flags = c->t->entry[a->id].flags;
        k->start = at; k->stop = k->from = at + a->len; k->id = a->id;
        if (c->plain && (flags & KVS__TOK_SPECIAL)) continue;
        if ((flags & KVS__TOK_WORD) && !kvs__added_alone(p, n, k->start, k->stop)) continue;
        if (flags & KVS__TOK_LSTRIP) {
            k->start = KVS__MAX(k->start, k->done);
            k->start -= kvs__space_before(p + k->done, k->start - k->done);
        }
        if (flags & KVS__TOK_RSTRIP) {
            k->stop = KVS__MAX(k->stop, k->done);  /* if done is further, another token stripped the spaces up to it */
            k->stop += kvs__space_after(p + k->stop, n - k->stop);
        }
        return 1;
    }
    return 0;
}

/* What lies between added tokens that are matched in the text as it came: normalize, match the others, pre-tokenize. */
static kvs_result kvs__tok_segment(kvs__tok_call *c, const char *p, size_t n, int first)
{
    kvs__cut k = {0, 0, 0, 0, 0};
    int shifted = 0;
    kvs_result r = kvs__tok_norm_run(c, &p, &n, &shifted);
    if (shifted) first = 0;
    while (!r && kvs__added_next(c, &c->t->normalized, p, n, &k)) {
        if (k.done < k.start) r = kvs__pre_run(c, 0, p + k.done, k.start - k.done, first && !k.done);
        if (!r) r = kvs__ids_put(c->t->mem, &c->out, &k.id, 1);
        k.done = k.stop;
    }
    return !r && k.done < n ? kvs__pre_run(c, 0, p + k.done, n - k.done, first && !k.done) : r;
}

/* Length of the valid UTF-8 that p begins with. */
static size_t kvs__utf8_valid(const char *p, size_t n)
{
    size_t i = 0;
    uint32_t cp;
    while (i < n) {
        uint64_t eight;
        if (n - i >= 8) {
            memcpy(&eight, p + i, 8);
            if (!(eight & 0x8080808080808080ull)) { i += 8; continue; }
        }
        size_t len = kvs__utf8_next(p + i, n - i, &cp);
        if (cp == KVS__UTF8_BAD && !(len == 3 && memcmp(p + i, "\xEF\xBF\xBD", 3) == 0)) return i;
        i += len;
    }
    return n;
}
static void kvs__utf8_clean(const char *p, size_t n, kvs__buf *out)
{
    uint32_t cp;
    char u[4];
    for (size_t i = 0; i < n;) {
        size_t good = kvs__utf8_valid(p + i, n - i);
        kvs__buf_put(out, p + i, good);
        i += good;
        if (i == n) return;
        i += kvs__utf8_next(p + i, n - i, &cp);
        kvs__buf_put(out, u, kvs__utf8_put(cp, u));
    }
}

static kvs_result kvs__tok_encode(kvs__tok_call *c, const char *p, size_t n, int flags)
{
    const kvs_tokenizer *t = c->t;
    kvs__cut k = {0, 0, 0, 0, 0};
    kvs_result r = KVS_OK;
    if (kvs__utf8_valid(p, n) < n) {
        kvs__utf8_clean(p, n, &c->clean);
        if (c->clean.oom) return KVS_ERR_MEMORY;
        p = c->clean.p; n = c->clean.n;
    }
    if (flags & KVS_ADD_SPECIAL) r = kvs__ids_put(t->mem, &c->out, t->post, (size_t)t->n_before);
    while (!r && kvs__added_next(c, &t->raw, p, n, &k)) {
        if (k.done < k.start) r = kvs__tok_segment(c, p + k.done, k.start - k.done, !k.done);
        if (!r) r = kvs__ids_put(t->mem, &c->out, &k.id, 1);
        k.done = k.stop;
    }
    if (!r && k.done < n) r = kvs__tok_segment(c, p + k.done, n - k.done, !k.done);
    if (!r && (flags & KVS_ADD_SPECIAL)) r = kvs__ids_put(t->mem, &c->out, t->post + t->n_before, (size_t)t->n_after);
    return r;
}

KVS_API int64_t kvs_tokenizer_encode(const kvs_tokenizer *t, const char *text, size_t len, int flags, int32_t *ids,
                                     size_t cap)
{
    kvs__tok_call c;
    if (!t || (!text && len) || (!ids && cap) || len > INT32_MAX) return KVS_ERR_INVALID;
    kvs__tok_call_init(&c, t, len, flags);
    kvs_result r = kvs__tok_encode(&c, len ? text : "", len, flags);
    int64_t n = r ? (int64_t)r : (int64_t)c.out.n;
    if (!r && cap && c.out.n) memcpy(ids, c.out.id, KVS__MIN(cap, c.out.n) * sizeof *ids);
    kvs__tok_call_free(&c);
    return n;
}

/* ---- decoders: each step hands its text to the next, the last one to the caller's buffer ----
   A decoder of the library turns a list of tokens into another list, and the lists are joined at the end. Here tokens
   pass one by one. Behind Fuse and ByteLevel they are pieces of one long token ("fused"); steps that would have to see
   that token whole are refused at open. */

typedef struct kvs__sink { const kvs_tokenizer *t; kvs_stream *s; char *out; size_t cap, n; } kvs__sink;

static void kvs__dec_put(kvs__sink *k, int step, const char *p, size_t n);

/* Whether this is the first token that reaches the step. */
static int kvs__dec_first(kvs__sink *k, int step)
{
    uint32_t bit = 1u << step;
    int first = !(k->s->started & bit);
    k->s->started |= bit;
    return first;
}

/* ByteLevel: bytes of unfinished characters wait in pending; what can never become valid is U+FFFD. */
static void kvs__dec_bytes(kvs__sink *k, int step, const char *p, size_t n)
{
    char b[KVS_MAX_PIECE + KVS__RUN];
    kvs_stream *s = k->s;
    size_t from = 0, i = 0, len = s->n_pending;
    uint32_t cp;
    memcpy(b, s->pending, len);
    int64_t got = kvs__chars_to_bytes(p, n, b + len);
    if (got < 0) memcpy(b + len, p, n);            /* a token with a foreign character spells itself */
    n = len + (got < 0 ? n : (size_t)got);
    s->n_pending = 0;
    for (; i < n; i += len) {
        len = kvs__utf8_next(b + i, n - i, &cp);
        if (cp != KVS__UTF8_BAD || (len == 3 && memcmp(b + i, "\xEF\xBF\xBD", 3) == 0)) continue;
        if (from < i) kvs__dec_put(k, step + 1, b + from, i - from);
        from = i + len;
        unsigned char lead = (unsigned char)b[i];
        size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (from == n && len < want && lead >= 0xC2 && lead <= 0xF4) {
            memcpy(s->pending, b + i, len);
            s->n_pending = (uint8_t)len;
        } else kvs__dec_put(k, step + 1, "\xEF\xBF\xBD", 3);
    }
    if (from < n) kvs__dec_put(k, step + 1, b + from, n - from);
}

/* ByteFallback: the end of a run of byte tokens. All of it is text, or each byte is U+FFFD. */
static void kvs__dec_run(kvs__sink *k, int step)
{
    char b[KVS__RUN];
    size_t n = k->s->n_pending;
    memcpy(b, k->s->pending, n);
    k->s->n_pending = 0;
    if (!n) return;
    if (kvs__utf8_valid(b, n) == n) kvs__dec_put(k, step + 1, b, n);
    else while (n--) kvs__dec_put(k, step + 1, "\xEF\xBF\xBD", 3);
}

/* A run that fills the buffer is cut before its last unfinished character, if that leaves something valid. */
static void kvs__dec_run_full(kvs__sink *k, int step)
{
    kvs_stream *s = k->s;
    unsigned char rest[4];
    uint8_t valid = (uint8_t)kvs__utf8_valid((const char *)s->pending, s->n_pending);
    uint8_t left = (uint8_t)(s->n_pending - valid);
    if (!valid || left > 3) { kvs__dec_run(k, step); return; }
    memcpy(rest, s->pending + valid, left);
    s->n_pending = valid;
    kvs__dec_run(k, step);
    memcpy(s->pending, rest, left);
    s->n_pending = left;
}

/* 0..255 if the token is <0xHH>, else -1. One sign before the digits is what Rust's parser takes, too. */
static int kvs__dec_hex(const char *p, size_t n)
{
    int x = 0;
    if (n != 6 || memcmp(p, "<0x", 3) != 0 || p[5] != '>') return -1;
    for (int i = p[3] == '+' ? 4 : 3; i < 5; i++) {
        int c = p[i] | 32, d = p[i] >= '0' && p[i] <= '9' ? p[i] - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0) return -1;
        x = 16 * x + d;
    }
    return x;
}

static void kvs__dec_fallback(kvs__sink *k, int step, const char *p, size_t n)
{
    int b = kvs__dec_hex(p, n);
    if (b < 0) { kvs__dec_run(k, step); kvs__dec_put(k, step + 1, p, n); return; }
    k->s->pending[k->s->n_pending++] = (unsigned char)b;
    if (k->s->n_pending == KVS__RUN) kvs__dec_run_full(k, step);
}

/* Every occurrence of find in the token becomes text (nothing, if drop). The result is one token again. */
static void kvs__dec_replace(kvs__sink *k, int step, const char *p, size_t n, int drop)
{
    const kvs__tok_step *s = &k->t->dec.step[step];
    char b[KVS_MAX_PIECE];                         /* open has checked that this is enough */
    size_t len = 0, add = drop ? 0 : s->n_text;
    for (size_t i = 0; i < n;) {
        int hit = n - i >= s->find.n && memcmp(p + i, s->find.text, s->find.n) == 0;
        if (len + (hit ? add : 1) > sizeof b) break;
        if (hit && add) memcpy(b + len, s->text, add);
        if (!hit) b[len] = p[i];
        len += hit ? add : 1;
        i += hit ? s->find.n : 1;
    }
    kvs__dec_put(k, step + 1, b, len);
}

/* Strip: at most start copies of the character at the beginning, stop at the end. Fused: of the whole text, whose end a
   stream cannot know (open refuses stop there). */
static void kvs__dec_strip(kvs__sink *k, int step, const char *p, size_t n)
{
    const kvs__tok_step *s = &k->t->dec.step[step];
    size_t len = s->n_text, cut = 0;
    int done = s->fused ? k->s->stripped : 0;
    while (done < s->start && cut < n) {
        int hit = n - cut >= len && memcmp(p + cut, s->text, len) == 0;
        cut += hit ? len : 0;
        done = hit ? done + 1 : s->start;
    }
    if (s->fused) k->s->stripped = (uint8_t)done;
    for (int i = 0; i < s->stop && n - cut >= len && memcmp(p + n - len, s->text, len) == 0; i++) n -= len;
    kvs__dec_put(k, step + 1, p + cut, n - cut);
}

static void kvs__dec_put(kvs__sink *k, int step, const char *p, size_t n)
{
    if (step == k->t->dec.n) {
        if (k->n < k->cap) memcpy(k->out + k->n, p, KVS__MIN(n, k->cap - k->n));
        k->n += n;
        return;
    }
    const kvs__tok_step *s = &k->t->dec.step[step];
    switch ((kvs__dec_kind)s->kind) {
        case KVS__DEC_BYTES:    kvs__dec_bytes(k, step, p, n); break;
        case KVS__DEC_REPLACE:  kvs__dec_replace(k, step, p, n, 0); break;
        case KVS__DEC_FALLBACK: kvs__dec_fallback(k, step, p, n); break;
        case KVS__DEC_FUSE:     kvs__dec_put(k, step + 1, p, n); break;
        case KVS__DEC_STRIP:    kvs__dec_strip(k, step, p, n); break;
        case KVS__DEC_META: {
            int first = s->fused || kvs__dec_first(k, step);   /* one fused token is the first */
            kvs__dec_replace(k, step, p, n, first && s->how != KVS__META_NEVER);
            break;
        }
        case KVS__DEC_JOIN:
            if (!kvs__dec_first(k, step)) kvs__dec_put(k, step + 1, " ", 1);
            kvs__dec_put(k, step + 1, p, n);
            break;
    }
}

static void kvs__dec_id(kvs__sink *k, int32_t id, int flags)
{
    const kvs_tokenizer *t = k->t;
    if (id < 0 || id >= t->n_ids || !t->entry[id].flags) return;      /* the library skips ids that it does not know */
    if ((flags & KVS_SKIP_SPECIAL) && (t->entry[id].flags & KVS__TOK_SPECIAL)) return;
    kvs__dec_put(k, 0, t->text + t->entry[id].at, t->entry[id].len);
}
static void kvs__dec_end(kvs__sink *k)
{
    for (int i = 0; i < k->t->dec.n; i++) {
        if (k->t->dec.step[i].kind == KVS__DEC_FALLBACK) kvs__dec_run(k, i);
        if (k->t->dec.step[i].kind == KVS__DEC_BYTES && k->s->n_pending) {
            k->s->n_pending = 0;
            kvs__dec_put(k, i + 1, "\xEF\xBF\xBD", 3);
        }
    }
}

KVS_API int64_t kvs_tokenizer_decode(const kvs_tokenizer *t, const int32_t *ids, size_t n, int flags, char *text,
                                     size_t cap)
{
    kvs_stream s;
    kvs__sink k;
    if (!t || (!ids && n) || (!text && cap)) return KVS_ERR_INVALID;
    memset(&s, 0, sizeof s);
    k.t = t; k.s = &s; k.out = text; k.cap = cap; k.n = 0;
    for (size_t i = 0; i < n; i++) kvs__dec_id(&k, ids[i], flags);
    kvs__dec_end(&k);
    return (int64_t)k.n;
}

/* One id, or the end (id < 0 and end). The state moves on only if the text fitted. */
static int64_t kvs__stream_step(const kvs_tokenizer *t, kvs_stream *s, int32_t id, int flags, int end, char *out,
                                size_t cap)
{
    kvs__sink k;
    if (!t || !s || (!out && cap) || s->n_pending >= KVS__RUN) return KVS_ERR_INVALID;
    kvs_stream next = *s;
    k.t = t; k.s = &next; k.out = out; k.cap = cap; k.n = 0;
    if (end) kvs__dec_end(&k);
    else kvs__dec_id(&k, id, flags);
    if (k.n > cap) return KVS_ERR_CAPACITY;
    *s = next;
    return (int64_t)k.n;
}
KVS_API int64_t kvs_stream_put(const kvs_tokenizer *t, kvs_stream *s, int32_t id, int flags, char *out, size_t cap)
{
    return kvs__stream_step(t, s, id, flags, 0, out, cap);
}
KVS_API int64_t kvs_stream_flush(const kvs_tokenizer *t, kvs_stream *s, char *out, size_t cap)
{
    return kvs__stream_step(t, s, -1, 0, 1, out, cap);
}

/* ---- looking things up ---- */

KVS_API int32_t kvs_tokenizer_vocab_size(const kvs_tokenizer *t) { return t ? t->n_ids : 0; }
KVS_API int32_t kvs_tokenizer_id(const kvs_tokenizer *t, const char *token, size_t len)
{
    return t && token ? kvs__tok_find(t, token, len) : -1;
}
KVS_API const char *kvs_tokenizer_token(const kvs_tokenizer *t, int32_t id, size_t *len)
{
    int is = t && id >= 0 && id < t->n_ids && t->entry[id].flags;
    if (len) *len = is ? t->entry[id].len : 0;
    return is ? t->text + t->entry[id].at : NULL;
}
KVS_API int kvs_tokenizer_is_special(const kvs_tokenizer *t, int32_t id)
{
    return t && id >= 0 && id < t->n_ids && (t->entry[id].flags & KVS__TOK_SPECIAL) != 0;
}

/* ====================================================================================================
   >>tokenizer_open   tokenizer.json into a kvs_tokenizer.

   A loader notes its first error and later calls do nothing, so that the functions below read as lists of what a file
   holds. Messages name the file, the line, the place in the tree, what was expected and what was found.
   ==================================================================================================== */

typedef struct kvs__tl {            /* the loader */
    kvs_tokenizer *t;
    const kvs__json *j;
    const char *name;               /* of the file */
    kvs__err *e;
    kvs_result res;
    int32_t next_id;                /* for added tokens that the vocabulary lacks */
} kvs__tl;

static void kvs__tl_note(kvs__tl *l, kvs_result r, const kvs__json_node *at, const char *where, const char *fmt,
                         va_list ap)
{
    char text[KVS_MAX_ERROR];
    if (l->res) return;
    vsnprintf(text, sizeof text, fmt, ap);
    l->res = at ? kvs__fail(l->e, r, "%s:%u: %s: %s", l->name, (unsigned)at->line, where, text)
                : kvs__fail(l->e, r, "%s: %s: %s", l->name, where, text);
}

/* What the file says is wrong. at: the node it says it in, or NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void kvs__tl_bad(kvs__tl *l, const kvs__json_node *at, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvs__tl_note(l, KVS_ERR_FORMAT, at, where, fmt, ap);
    va_end(ap);
}
/* What it says may be right, but is not implemented. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static void kvs__tl_cannot(kvs__tl *l, const kvs__json_node *at, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    kvs__tl_note(l, KVS_ERR_UNSUPPORTED, at, where, fmt, ap);
    va_end(ap);
}
static void kvs__tl_memory(kvs__tl *l)
{
    if (!l->res) l->res = kvs__fail(l->e, KVS_ERR_MEMORY, "%s: out of memory", l->name);
}
static void *kvs__tl_alloc(kvs__tl *l, size_t n, size_t size)
{
    void *p = l->res ? NULL : kvs__alloc(l->t->mem, n, size);
    if (!p) kvs__tl_memory(l);
    return p;
}

static const char *kvs__tl_kind(const kvs__json_node *v)
{
    static const char *const name[] = {"null", "false", "true", "a number", "a string", "an array", "an object"};
    return v ? name[v->type] : "nothing";
}
static int kvs__tl_is(const kvs__json_node *v, kvs__json_type type) { return v && v->type == type; }
static int kvs__tl_absent(const kvs__json_node *v) { return !v || v->type == KVS__JSON_NULL; }

static int kvs__tl_object(kvs__tl *l, const char *where, const kvs__json_node *v)
{
    if (!kvs__tl_is(v, KVS__JSON_OBJECT)) kvs__tl_bad(l, v, where, "is %s, expected an object", kvs__tl_kind(v));
    return !l->res;
}

/* A member of an object, with its type checked. Absent or null: NULL, which is an error if it is required. */
static const kvs__json_node *kvs__tl_get(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key,
                                         kvs__json_type type, int required)
{
    const kvs__json_node *v = kvs__json_get(l->j, o, key), want = {(uint8_t)type, 0, 0, 0, 0, 0, 0, {0}};
    int boolean = type == KVS__JSON_TRUE;
    if (boolean ? kvs__json_bool(v, -1) >= 0 : kvs__tl_is(v, type)) return v;
    if (required || !kvs__tl_absent(v))
        kvs__tl_bad(l, v ? v : o, where, "\"%s\" is %s, expected %s", key, kvs__tl_kind(v),
                    boolean ? "true or false" : kvs__tl_kind(&want));
    return NULL;
}
/* otherwise < 0: it must be there. */
static int kvs__tl_bool(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key, int otherwise)
{
    return kvs__json_bool(kvs__tl_get(l, where, o, key, KVS__JSON_TRUE, otherwise < 0), otherwise) > 0;
}
static int64_t kvs__tl_int(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key, int64_t lo,
                           int64_t hi)
{
    const kvs__json_node *v = kvs__tl_get(l, where, o, key, KVS__JSON_NUMBER, 1);
    int64_t x = lo;
    if (v && (kvs__json_int(v, &x) || x < lo || x > hi))
        kvs__tl_bad(l, v, where, "\"%s\" is %g, expected an integer from %lld to %lld", key,
                    kvs__json_num(v, 0), (long long)lo, (long long)hi);
    return l->res ? lo : x;
}
/* A required string. "" after an error. */
static const char *kvs__tl_str(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key, size_t *n)
{
    const char *s = kvs__json_str(l->j, kvs__tl_get(l, where, o, key, KVS__JSON_STRING, 1), n);
    return s ? s : "";
}
/* The same, copied. */
static char *kvs__tl_dup(kvs__tl *l, const char *s, size_t n)
{
    char *p = (char *)kvs__tl_alloc(l, n + 1, 1);
    if (p && n) memcpy(p, s, n);
    return p;
}
/* Which of the names a string is; -1 after an error. */
static int kvs__tl_pick(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key,
                        const char *const *name, int n)
{
    size_t len = 0;
    const char *s = kvs__tl_str(l, where, o, key, &len);
    for (int i = 0; i < n; i++) if (!l->res && strlen(name[i]) == len && memcmp(name[i], s, len) == 0) return i;
    kvs__tl_cannot(l, kvs__json_get(l->j, o, key), where, "%s \"%.60s\" is not implemented", key, s);
    return -1;
}

static void kvs__tl_regex(kvs__tl *l, const kvs__json_node *at, const char *where, const char *s, size_t n,
                          kvs__pattern *out)
{
    kvs__err e;
    e.text[0] = 0;
    out->kind = KVS__FIND_REGEX;
    kvs_result r = kvs__regex_compile(l->t->mem, s, n, &out->re, &e);
    if (r == KVS_ERR_MEMORY) kvs__tl_memory(l);
    else if (r == KVS_ERR_FORMAT) kvs__tl_bad(l, at, where, "%.300s", e.text);
    else if (r) kvs__tl_cannot(l, at, where, "%.300s", e.text);
}

/* {"String": "..."} or {"Regex": "..."} */
static void kvs__tl_pattern(kvs__tl *l, const char *where, const kvs__json_node *o, int regex, kvs__pattern *out)
{
    const kvs__json_node *p = kvs__tl_get(l, where, o, "pattern", KVS__JSON_OBJECT, 1);
    size_t n = 0;
    if (l->res) return;
    if (!kvs__json_get(l->j, p, "Regex")) {
        const char *s = kvs__tl_str(l, where, p, "String", &n);
        if (!l->res && !n) kvs__tl_cannot(l, p, where, "an empty pattern is not implemented");
        out->kind = KVS__FIND_TEXT; out->text = kvs__tl_dup(l, s, n); out->n = n;
        return;
    }
    const char *s = kvs__tl_str(l, where, p, "Regex", &n);
    if (!regex) kvs__tl_cannot(l, p, where, "a regular expression is not implemented here");
    if (!l->res) kvs__tl_regex(l, p, where, s, n, out);
}

/* Room for one more step; NULL after an error. */
static kvs__tok_step *kvs__tl_step(kvs__tl *l, const char *where, kvs__tok_steps *steps, int kind)
{
    if (!l->res && steps->n == KVS__TOK_STEPS)
        kvs__tl_cannot(l, NULL, where, "more than %d steps", KVS__TOK_STEPS);
    if (l->res) return NULL;
    kvs__tok_step *s = &steps->step[steps->n++];
    s->kind = (uint8_t)kind;
    return s;
}

/* Calls one() for an object, or for each element of a Sequence. */
typedef void kvs__tl_one(kvs__tl *l, const char *where, const kvs__json_node *o, int depth);
static void kvs__tl_sequence(kvs__tl *l, const char *where, const kvs__json_node *o, const char *key, int depth,
                             kvs__tl_one *one)
{
    char place[128];
    const kvs__json_node *list = kvs__tl_get(l, where, o, key, KVS__JSON_ARRAY, 1);
    int i = 0;
    if (depth >= 8) kvs__tl_cannot(l, o, where, "Sequences nested deeper than 8");
    for (const kvs__json_node *v = kvs__json_first(l->j, list); v && !l->res; v = kvs__json_next(l->j, v)) {
        snprintf(place, sizeof place, "%s.%s[%d]", where, key, i++);
        if (kvs__tl_object(l, place, v)) one(l, place, v, depth + 1);
    }
}

/* ---- the normalizer ---- */

static void kvs__tl_normalizer(kvs__tl *l, const char *where, const kvs__json_node *o, int depth)
{
    static const char *const name[] = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents", "Prepend",
                                       "Replace", "Nmt", "ByteLevel", "Sequence"};   /* in the order of kvs__tok_norm */
    int kind = kvs__tl_pick(l, where, o, "type", name, (int)KVS__COUNT(name));
    size_t n = 0;
    if (kind == KVS__NORM_BYTES + 1) kvs__tl_sequence(l, where, o, "normalizers", depth, kvs__tl_normalizer);
    kvs__tok_step *s = kind <= KVS__NORM_BYTES ? kvs__tl_step(l, where, &l->t->norm, kind) : NULL;
    if (!s) return;
    if (kind == KVS__NORM_STRIP) {
        s->start = kvs__tl_bool(l, where, o, "strip_left", -1);
        s->stop = kvs__tl_bool(l, where, o, "strip_right", -1);
    }
    if (kind == KVS__NORM_REPLACE) kvs__tl_pattern(l, where, o, 1, &s->find);
    if (kind == KVS__NORM_REPLACE || kind == KVS__NORM_PREPEND) {
        const char *text = kvs__tl_str(l, where, o, kind == KVS__NORM_REPLACE ? "content" : "prepend", &n);
        s->text = kvs__tl_dup(l, text, n); s->n_text = n;
    }
}

/* ---- the pre-tokenizer ---- */

static int kvs__tl_behaviour(kvs__tl *l, const char *where, const kvs__json_node *o)
{
    static const char *const name[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    return kvs__tl_pick(l, where, o, "behavior", name, (int)KVS__COUNT(name));
}
static kvs__tok_step *kvs__tl_split(kvs__tl *l, const char *where, kvs__find_kind find, int how)
{
    kvs__tok_step *s = kvs__tl_step(l, where, &l->t->pre, KVS__PRE_SPLIT);
    if (s) { s->how = (uint8_t)how; s->find.kind = find; }
    return s;
}

/* What GPT-2 splits words by. */
#define KVS__GPT2_REGEX "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

static void kvs__tl_pre_bytes(kvs__tl *l, const char *where, int prefix, int regex)
{
    if (prefix) kvs__tl_step(l, where, &l->t->pre, KVS__PRE_PREFIX);
    if (regex) {
        kvs__tok_step *s = kvs__tl_split(l, where, KVS__FIND_REGEX, KVS__SPLIT_ISOLATED);
        if (s) kvs__tl_regex(l, NULL, where, KVS__GPT2_REGEX, strlen(KVS__GPT2_REGEX), &s->find);
    }
    kvs__tl_step(l, where, &l->t->pre, KVS__PRE_BYTES);
}

/* The fields that Metaspace has as pre-tokenizer and as decoder. Old files say add_prefix_space. */
static void kvs__tl_meta(kvs__tl *l, const char *where, const kvs__json_node *o, const char **text, size_t *n, int *how)
{
    static const char *const scheme[] = {"always", "first", "never"};
    uint32_t cp;
    *text = kvs__tl_str(l, where, o, "replacement", n);
    int has = kvs__json_get(l->j, o, "prepend_scheme") != NULL;
    *how = has ? kvs__tl_pick(l, where, o, "prepend_scheme", scheme, 3) : KVS__META_ALWAYS;
    if (!kvs__tl_bool(l, where, o, "add_prefix_space", 1)) {
        if (has && *how != KVS__META_NEVER)
            kvs__tl_bad(l, o, where, "\"add_prefix_space\" is false, but \"prepend_scheme\" is not \"never\"");
        *how = KVS__META_NEVER;
    }
    if (!l->res && (!*n || kvs__utf8_next(*text, *n, &cp) != *n))
        kvs__tl_bad(l, o, where, "\"replacement\" is \"%.20s\", expected one character", *text);
}

static void kvs__tl_pre_meta(kvs__tl *l, const char *where, const kvs__json_node *o)
{
    const char *text;
    size_t n;
    int how;
    kvs__tl_meta(l, where, o, &text, &n, &how);
    kvs__tok_step *s = kvs__tl_step(l, where, &l->t->pre, KVS__PRE_META);
    if (s) { s->how = (uint8_t)how; s->text = kvs__tl_dup(l, text, n); s->n_text = n; }
    if (!kvs__tl_bool(l, where, o, "split", 1)) return;
    s = kvs__tl_split(l, where, KVS__FIND_TEXT, KVS__SPLIT_NEXT);
    if (s) { s->find.text = kvs__tl_dup(l, text, n); s->find.n = n; }
}

static void kvs__tl_pre_tokenizer(kvs__tl *l, const char *where, const kvs__json_node *o, int depth)
{
    static const char *const name[] = {"ByteLevel", "Split", "Digits", "Metaspace", "Punctuation", "Whitespace",
                                       "WhitespaceSplit", "Sequence"};
    int how, one;
    kvs__tok_step *s;
    switch (kvs__tl_pick(l, where, o, "type", name, (int)KVS__COUNT(name))) {
        case 0:
            one = kvs__tl_bool(l, where, o, "add_prefix_space", -1);
            kvs__tl_pre_bytes(l, where, one, kvs__tl_bool(l, where, o, "use_regex", 1));
            break;
        case 1:
            how = kvs__tl_behaviour(l, where, o);
            one = kvs__tl_bool(l, where, o, "invert", -1);
            s = kvs__tl_split(l, where, KVS__FIND_TEXT, how);
            if (s) { s->invert = (uint8_t)one; kvs__tl_pattern(l, where, o, 1, &s->find); }
            break;
        case 2:
            one = kvs__tl_bool(l, where, o, "individual_digits", -1);
            kvs__tl_split(l, where, KVS__FIND_DIGIT, one ? KVS__SPLIT_ISOLATED : KVS__SPLIT_CONTIGUOUS);
            break;
        case 3: kvs__tl_pre_meta(l, where, o); break;
        case 4:
            how = kvs__json_get(l->j, o, "behavior") ? kvs__tl_behaviour(l, where, o) : KVS__SPLIT_ISOLATED;
            kvs__tl_split(l, where, KVS__FIND_PUNCT, how);
            break;
        case 5:
            s = kvs__tl_split(l, where, KVS__FIND_WORD, KVS__SPLIT_REMOVED);
            if (s) s->invert = 1;
            break;
        case 6: kvs__tl_split(l, where, KVS__FIND_SPACE, KVS__SPLIT_REMOVED); break;
        case 7: kvs__tl_sequence(l, where, o, "pretokenizers", depth, kvs__tl_pre_tokenizer); break;
        default: break;
    }
}

/* ByteLevel as the last step need not spell bytes as characters: the model then reads bytes. */
static void kvs__tl_byte_level(kvs_tokenizer *t)
{
    kvs__tok_steps *pre = &t->pre;
    if (pre->n && pre->step[pre->n - 1].kind == KVS__PRE_BYTES) { pre->n--; t->byte_level = 1; }
}

/* ---- the decoder ---- */

/* Steps that need the whole of a fused text before they can write anything. */
static void kvs__tl_dec_check(kvs__tl *l, const char *where, const kvs__json_node *o, const kvs__tok_step *s)
{
    uint32_t cp;
    int bad = 0, held = s->kind == KVS__DEC_BYTES || s->kind == KVS__DEC_FALLBACK;
    if (s->kind == KVS__DEC_REPLACE) bad = kvs__utf8_next(s->find.text, s->find.n, &cp) != s->find.n;
    if (s->kind == KVS__DEC_STRIP) bad = s->stop != 0;
    if (s->fused && (bad || held)) kvs__tl_cannot(l, o, where, "not implemented behind Fuse or ByteLevel");
    for (const kvs__tok_step *d = l->t->dec.step; d < s; d++)
        if ((held && (d->kind == KVS__DEC_BYTES || d->kind == KVS__DEC_FALLBACK))
            || (s->kind == KVS__DEC_STRIP && s->fused && d->kind == KVS__DEC_STRIP && d->fused))
            kvs__tl_cannot(l, o, where, "twice is not implemented");
}

static void kvs__tl_dec_fields(kvs__tl *l, const char *where, const kvs__json_node *o, kvs__tok_step *s)
{
    const char *text = "";
    size_t n = 0;
    uint32_t cp;
    int how = 0;
    if (s->kind == KVS__DEC_REPLACE) {
        kvs__tl_pattern(l, where, o, 0, &s->find);
        text = kvs__tl_str(l, where, o, "content", &n);
    }
    if (s->kind == KVS__DEC_STRIP) {
        text = kvs__tl_str(l, where, o, "content", &n);
        s->start = (int32_t)kvs__tl_int(l, where, o, "start", 0, 200);
        s->stop = (int32_t)kvs__tl_int(l, where, o, "stop", 0, 200);
        if (!l->res && (!n || kvs__utf8_next(text, n, &cp) != n))
            kvs__tl_bad(l, o, where, "\"content\" is \"%.20s\", expected one character", text);
    }
    if (s->kind == KVS__DEC_META) {
        kvs__tl_meta(l, where, o, &text, &n, &how);
        s->how = (uint8_t)how;
        s->find.text = kvs__tl_dup(l, text, n); s->find.n = n;
        text = " "; n = 1;
    }
    s->text = kvs__tl_dup(l, text, n); s->n_text = n;
}

static void kvs__tl_decoder(kvs__tl *l, const char *where, const kvs__json_node *o, int depth)
{
    static const char *const name[] = {"ByteLevel", "Replace", "ByteFallback", "Fuse", "Strip", "Metaspace",
                                       "Sequence"};     /* in the order of kvs__dec_kind */
    int kind = kvs__tl_pick(l, where, o, "type", name, (int)KVS__COUNT(name));
    kvs__tok_steps *dec = &l->t->dec;
    if (kind == KVS__DEC_META + 1) kvs__tl_sequence(l, where, o, "decoders", depth, kvs__tl_decoder);
    kvs__tok_step *s = kind <= KVS__DEC_META ? kvs__tl_step(l, where, dec, kind) : NULL;
    if (!s) return;
    for (const kvs__tok_step *d = dec->step; d < s; d++)
        if (d->kind == KVS__DEC_FUSE || d->kind == KVS__DEC_BYTES) s->fused = 1;
    kvs__tl_dec_fields(l, where, o, s);
    if (!l->res) kvs__tl_dec_check(l, where, o, s);
}

/* How long the text of one id can get: KVS_MAX_PIECE is promised to callers, and decoders build on it. */
static void kvs__tl_dec_bound(kvs__tl *l)
{
    const kvs_tokenizer *t = l->t;
    char b[KVS_MAX_PIECE], out[1];
    size_t grow = 1, longest = t->longest + 1;
    for (int i = 0; i < t->dec.n; i++) {
        const kvs__tok_step *s = &t->dec.step[i];
        size_t by = s->find.n ? (s->n_text + s->find.n - 1) / s->find.n : 1;
        if (by > 1) grow = KVS__MIN(grow * by, KVS_MAX_PIECE + 1);
        if (s->kind == KVS__DEC_FALLBACK) longest += 3 * (size_t)KVS__RUN;
        if (s->kind == KVS__DEC_BYTES) longest += 4;
    }
    if (longest * grow > KVS_MAX_PIECE)
        kvs__tl_cannot(l, NULL, "decoder", "a token can decode to %zu bytes, expected at most %d", longest * grow,
                       KVS_MAX_PIECE);
    if (!t->dec.n || t->dec.step[0].kind != KVS__DEC_BYTES) return;
    for (int32_t id = 0; !l->res && id < t->n_ids; id++) {
        const kvs__tok_entry *x = &t->entry[id];
        if (3 * (size_t)x->len + 4 <= KVS_MAX_PIECE || kvs__chars_to_bytes(t->text + x->at, x->len, b) < 0) continue;
        if (kvs_tokenizer_decode(t, &id, 1, 0, out, 0) + 4 > KVS_MAX_PIECE)      /* broken bytes: U+FFFD for each */
            kvs__tl_cannot(l, NULL, "decoder", "id %d decodes to more than %d bytes", (int)id, KVS_MAX_PIECE);
    }
}

/* ---- the post-processor: what stands before and after the text's own ids ---- */

static void kvs__tl_post_put(kvs__tl *l, const kvs__json_node *at, const char *where, int64_t id, int after)
{
    kvs_tokenizer *t = l->t;
    if (l->res) return;
    if (id < 0 || id >= t->n_ids || !t->entry[id].flags) {
        kvs__tl_bad(l, at, where, "id %lld is not in the vocabulary", (long long)id);
        return;
    }
    if (t->n_before + t->n_after == 64) { kvs__tl_cannot(l, at, where, "more than 64 ids"); return; }
    if (!t->post) t->post = (int32_t *)kvs__tl_alloc(l, 64, sizeof(int32_t));
    if (!t->post) return;
    t->post[t->n_before + t->n_after] = (int32_t)id;
    if (after) t->n_after++; else t->n_before++;
}

/* {"id": "<s>", "ids": [1], "tokens": ["<s>"]} in special_tokens: a name may stand for several ids. */
static void kvs__tl_post_special(kvs__tl *l, const char *where, const kvs__json_node *table,
                                 const kvs__json_node *piece, int after)
{
    size_t n = 0;
    const char *id = kvs__tl_str(l, where, piece, "id", &n);
    const kvs__json_node *entry = kvs__json_get(l->j, table, id);
    if (!entry) kvs__tl_bad(l, piece, where, "\"%.60s\" is not among the special_tokens", id);
    const kvs__json_node *ids = l->res ? NULL : kvs__tl_get(l, where, entry, "ids", KVS__JSON_ARRAY, 1);
    for (const kvs__json_node *v = kvs__json_first(l->j, ids); v && !l->res; v = kvs__json_next(l->j, v)) {
        int64_t x = -1;
        if (kvs__json_int(v, &x)) x = -1;
        kvs__tl_post_put(l, v, where, x, after);
    }
}

static void kvs__tl_template(kvs__tl *l, const char *where, const kvs__json_node *o)
{
    const kvs__json_node *single = kvs__tl_get(l, where, o, "single", KVS__JSON_ARRAY, 1);
    const kvs__json_node *table = kvs__tl_get(l, where, o, "special_tokens", KVS__JSON_OBJECT, 0);
    int sequences = 0;
    for (const kvs__json_node *v = kvs__json_first(l->j, single); v && !l->res; v = kvs__json_next(l->j, v)) {
        const kvs__json_node *special = kvs__tl_get(l, where, v, "SpecialToken", KVS__JSON_OBJECT, 0);
        if (special) kvs__tl_post_special(l, where, table, special, sequences);
        else { kvs__tl_get(l, where, v, "Sequence", KVS__JSON_OBJECT, 1); sequences++; }
    }
    if (sequences != 1) kvs__tl_cannot(l, o, where, "\"single\" holds %d sequences, expected one", sequences);
}

static void kvs__tl_cls_sep(kvs__tl *l, const char *where, const kvs__json_node *o)
{
    for (int after = 0; after < 2; after++) {
        const kvs__json_node *pair = kvs__tl_get(l, where, o, after ? "sep" : "cls", KVS__JSON_ARRAY, 1);
        int64_t id = -1;
        if (kvs__json_int(kvs__json_next(l->j, kvs__json_first(l->j, pair)), &id)) id = -1;
        kvs__tl_post_put(l, pair, where, id, after);
    }
}

static void kvs__tl_post(kvs__tl *l, const char *where, const kvs__json_node *o, int depth)
{
    static const char *const name[] = {"TemplateProcessing", "RobertaProcessing", "BertProcessing", "ByteLevel",
                                       "Sequence"};     /* ByteLevel only moves offsets, which we do not keep */
    int kind = kvs__tl_pick(l, where, o, "type", name, (int)KVS__COUNT(name));
    if (kind < 3 && l->t->post) kvs__tl_cannot(l, o, where, "a second template is not implemented");
    if (kind == 0) kvs__tl_template(l, where, o);
    if (kind == 1 || kind == 2) kvs__tl_cls_sep(l, where, o);
    if (kind == 4) kvs__tl_sequence(l, where, o, "processors", depth, kvs__tl_post);
}

/* ---- the vocabulary ---- */

/* Enters a text under an id that is free. Room was made by kvs__tl_room. */
static void kvs__tl_enter(kvs__tl *l, const char *s, size_t n, int32_t id, unsigned flags)
{
    kvs_tokenizer *t = l->t;
    kvs__tok_entry *e = &t->entry[id];
    uint32_t h = kvs__tok_hash(s, n), i = h & t->slot_mask;
    while (t->slot[i].id1) i = (i + 1) & t->slot_mask;
    t->slot[i].hash = h; t->slot[i].id1 = (uint32_t)id + 1;
    e->at = (uint32_t)t->n_text; e->len = (uint16_t)n; e->flags = (uint8_t)flags;
    if (n) memcpy(t->text + t->n_text, s, n);
    t->n_text += n + 1;
    t->longest = KVS__MAX(t->longest, (uint32_t)n);
    t->n_ids = KVS__MAX(t->n_ids, id + 1);
}

/* Tables for so many entries, ids and bytes of text (NULs included). */
static void kvs__tl_room(kvs__tl *l, size_t entries, size_t ids, size_t bytes)
{
    kvs_tokenizer *t = l->t;
    uint32_t slots = 64;
    while (slots < 2 * entries) slots *= 2;
    t->text = (char *)kvs__tl_alloc(l, bytes, 1);
    t->entry = (kvs__tok_entry *)kvs__tl_alloc(l, ids, sizeof(kvs__tok_entry));
    t->slot = (kvs__tok_slot *)kvs__tl_alloc(l, slots, sizeof(kvs__tok_slot));
    t->slot_mask = slots - 1;
}

static void kvs__tl_length(kvs__tl *l, const kvs__json_node *at, const char *where, size_t n)
{
    if (n < KVS_MAX_PIECE) return;
    kvs__tl_cannot(l, at, where, "a token of %zu bytes, expected less than %d", n, KVS_MAX_PIECE);
}

/* {"text": id, ...}. n_added, added_bytes: room for added tokens and their text. */
static void kvs__tl_vocab(kvs__tl *l, const char *where, const kvs__json_node *vocab, size_t n_added,
                          size_t added_bytes)
{
    kvs_tokenizer *t = l->t;
    size_t bytes = added_bytes + 1, n = 0;
    int64_t id = 0, last = -1;
    for (const kvs__json_node *v = kvs__json_first(l->j, vocab); v && !l->res; v = kvs__json_next(l->j, v)) {
        const char *s = kvs__json_key(l->j, v, &n);
        if (kvs__json_int(v, &id) || id < 0 || id >= KVS__TOK_IDS)
            kvs__tl_bad(l, v, where, "the id of \"%.60s\" is not an integer from 0 to %d", s, KVS__TOK_IDS - 1);
        kvs__tl_length(l, v, where, n);
        last = KVS__MAX(last, id);
        bytes += n + 1;
    }
    if (bytes > UINT32_MAX || n_added >= KVS__TOK_IDS) kvs__tl_cannot(l, vocab, where, "too large");
    if (l->res) return;
    t->n_vocab = (int32_t)vocab->count;
    kvs__tl_room(l, vocab->count + n_added, (size_t)KVS__MAX(last + 1, t->n_vocab) + n_added, bytes);
    for (const kvs__json_node *v = kvs__json_first(l->j, vocab); v && !l->res; v = kvs__json_next(l->j, v)) {
        const char *s = kvs__json_key(l->j, v, &n);
        kvs__json_int(v, &id);
        if (t->entry[id].flags)
            kvs__tl_bad(l, v, where, "\"%.60s\" and \"%.60s\" have the same id %d", t->text + t->entry[id].at, s,
                        (int)id);
        else if (kvs__tok_find(t, s, n) >= 0) kvs__tl_bad(l, v, where, "\"%.60s\" is listed twice", s);
        else kvs__tl_enter(l, s, n, (int32_t)id, KVS__TOK_MODEL);
    }
}

/* ---- merges ---- */

static void kvs__tl_merge_room(kvs__tl *l, size_t n)
{
    uint32_t slots = 64;
    while (slots < 2 * n && slots < 1u << 30) slots *= 2;
    l->t->merge = (kvs__tok_merge *)kvs__tl_alloc(l, slots, sizeof(kvs__tok_merge));
    l->t->merge_mask = slots - 1;
    if (l->t->merge) memset(l->t->merge, 0xFF, (size_t)slots * sizeof(kvs__tok_merge));
}

/* Which of a, b and ab is not an entry? */
static void kvs__tl_merge_bad(kvs__tl *l, const kvs__json_node *at, size_t rank, const char *s, size_t n)
{
    char where[48];
    snprintf(where, sizeof where, at ? "model.merges[%zu]" : "merge %zu", rank);
    kvs__tl_bad(l, at, where, "\"%.*s\" is not in the vocabulary", (int)KVS__MIN(n, 60), s);
}

/* a + b -> ab, of this rank. A pair that is listed again takes the later rank, as in the library. */
static void kvs__tl_merge(kvs__tl *l, const kvs__json_node *at, const char *a, size_t n_a, const char *b, size_t n_b,
                          size_t rank)
{
    kvs_tokenizer *t = l->t;
    char ab[2 * KVS_MAX_PIECE];
    int32_t left = kvs__tok_model_id(t, a, n_a), right = kvs__tok_model_id(t, b, n_b);
    if (left < 0 || right < 0) { kvs__tl_merge_bad(l, at, rank, left < 0 ? a : b, left < 0 ? n_a : n_b); return; }
    memcpy(ab, a, n_a);
    memcpy(ab + n_a, b, n_b);
    int32_t id = kvs__tok_model_id(t, ab, n_a + n_b);
    if (id < 0) { kvs__tl_merge_bad(l, at, rank, ab, n_a + n_b); return; }
    uint64_t h = (((uint64_t)(uint32_t)left << 32) | (uint32_t)right) * 0x9e3779b97f4a7c15ull;
    uint32_t i = (uint32_t)(h >> 32) & t->merge_mask;
    while (t->merge[i].a != KVS__TOK_NONE && (t->merge[i].a != (uint32_t)left || t->merge[i].b != (uint32_t)right))
        i = (i + 1) & t->merge_mask;
    t->merge[i].a = (uint32_t)left; t->merge[i].b = (uint32_t)right;
    t->merge[i].rank = (uint32_t)rank; t->merge[i].id = id;
}

/* "a b": exactly one space. */
static void kvs__tl_merge_line(kvs__tl *l, const kvs__json_node *at, const char *s, size_t n, size_t rank)
{
    const char *gap = (const char *)memchr(s, ' ', n);
    size_t n_a = gap ? (size_t)(gap - s) : n;
    if (gap && !memchr(gap + 1, ' ', n - n_a - 1)) kvs__tl_merge(l, at, s, n_a, gap + 1, n - n_a - 1, rank);
    else kvs__tl_bad(l, at, "merges", "merge %zu is \"%.*s\", expected two tokens and one space between", rank,
                     (int)KVS__MIN(n, 60), s);
}

/* "merges": ["a b", ...] or [["a", "b"], ...] */
static void kvs__tl_merges(kvs__tl *l, const kvs__json_node *list)
{
    size_t rank = 0, n = 0, n_a = 0, n_b = 0;
    kvs__tl_merge_room(l, list->count);
    for (const kvs__json_node *v = kvs__json_first(l->j, list); v && !l->res; v = kvs__json_next(l->j, v)) {
        const char *s = kvs__json_str(l->j, v, &n);
        const kvs__json_node *x = kvs__tl_is(v, KVS__JSON_ARRAY) && v->count == 2 ? kvs__json_first(l->j, v) : NULL;
        const char *a = kvs__json_str(l->j, x, &n_a), *b = kvs__json_str(l->j, kvs__json_next(l->j, x), &n_b);
        if (s && n >= 8 && memcmp(s, "#version", 8) == 0) continue;       /* does not count as a rank */
        if (s) kvs__tl_merge_line(l, v, s, n, rank++);
        else if (a && b) kvs__tl_merge(l, v, a, n_a, b, n_b, rank++);
        else kvs__tl_bad(l, v, "merges", "merge %zu is %s, expected a string or two strings", rank, kvs__tl_kind(v));
    }
}

/* ---- what the model needs beside its tables ---- */

static void kvs__tl_byte_ids(kvs_tokenizer *t)
{
    char s[8];
    for (unsigned b = 0; b < 256; b++) {
        t->byte_id[b] = kvs__tok_model_id(t, s, kvs__utf8_put(kvs__byte_char(b), s));
        snprintf(s, sizeof s, "<0x%02X>", b);
        t->fallback_id[b] = t->byte_fallback ? kvs__tok_model_id(t, s, 6) : -1;
    }
}

/* The entry of a code point in the paged table, its page made if need be. NULL: no memory. */
static kvs__tok_char *kvs__tl_char(kvs__tl *l, uint32_t cp, uint32_t *pages, size_t *cap)
{
    kvs_tokenizer *t = l->t;
    uint16_t *of = &t->page_of[cp >> 8];
    if (!*of) {
        void *p = t->page;
        if (kvs__grow(t->mem, &p, cap, *pages + 1, sizeof *t->page)) { kvs__tl_memory(l); return NULL; }
        t->page = (kvs__tok_char (*)[256])p;
        for (int i = 0; i < 256; i++) { t->page[*pages][i].id = -1; t->page[*pages][i].left = KVS__LEFT_NONE; }
        *of = (uint16_t)(*pages)++;
    }
    return &t->page[*of][cp & 0xFF];
}

/* Ids of single characters, and between which of them a merge can reach: see kvs__tok_char. */
static void kvs__tl_chars(kvs__tl *l)
{
    kvs_tokenizer *t = l->t;
    uint32_t pages = 1, cp = 0, x;
    size_t cap = 1, len;
    t->page = (kvs__tok_char (*)[256])kvs__tl_alloc(l, 1, sizeof *t->page);
    for (int i = 0; t->page && i < 256; i++) { t->page[0][i].id = -1; t->page[0][i].left = KVS__LEFT_NONE; }
    if (t->byte_level) return;
    for (int32_t id = 0; id < t->n_ids && !l->res; id++) {
        const kvs__tok_entry *e = &t->entry[id];
        if (!(e->flags & KVS__TOK_MODEL) || !e->len || kvs__utf8_next(t->text + e->at, e->len, &cp) != e->len) continue;
        kvs__tok_char *ch = kvs__tl_char(l, cp, &pages, &cap);
        if (ch) ch->id = id;
    }
    for (size_t i = 0; i <= t->merge_mask && !l->res; i++) {
        const kvs__tok_merge *m = &t->merge[i];
        if (m->a == KVS__TOK_NONE || !t->entry[m->a].len || !t->entry[m->b].len) continue;
        x = kvs__utf8_last(t->text + t->entry[m->a].at, t->entry[m->a].len, &len);
        kvs__utf8_next(t->text + t->entry[m->b].at, t->entry[m->b].len, &cp);
        kvs__tok_char *ch = &t->page[t->page_of[cp >> 8]][cp & 0xFF];
        if (ch->id < 0) continue;                  /* on page 0, perhaps: leave it */
        if (ch->left == KVS__LEFT_NONE) ch->left = x;
        else if (ch->left != x) ch->left = KVS__LEFT_MANY;
    }
}

static void kvs__tl_empty_string(kvs__tl *l, const kvs__json_node *model, const char *key)
{
    const kvs__json_node *v = kvs__json_get(l->j, model, key);
    size_t n = 0;
    if (!kvs__tl_absent(v) && (!kvs__json_str(l->j, v, &n) || n))
        kvs__tl_cannot(l, v, "model", "\"%s\" is not implemented", key);
}

static void kvs__tl_model(kvs__tl *l, const kvs__json_node *root)
{
    static const char *const name[] = {"BPE"};
    kvs_tokenizer *t = l->t;
    const kvs__json_node *model = kvs__tl_get(l, "tokenizer", root, "model", KVS__JSON_OBJECT, 1);
    const kvs__json_node *dropout = kvs__json_get(l->j, model, "dropout");
    const kvs__json_node *unk = kvs__json_get(l->j, model, "unk_token");
    size_t n = 0, added_bytes = 0;
    if (kvs__json_get(l->j, model, "type")) kvs__tl_pick(l, "model", model, "type", name, 1);
    const kvs__json_node *vocab = l->res ? NULL : kvs__tl_get(l, "model", model, "vocab", KVS__JSON_OBJECT, 1);
    const kvs__json_node *merges = l->res ? NULL : kvs__tl_get(l, "model", model, "merges", KVS__JSON_ARRAY, 1);
    if (!kvs__tl_absent(dropout) && kvs__json_num(dropout, 1) != 0)
        kvs__tl_cannot(l, dropout, "model", "\"dropout\" makes encoding random: not implemented");
    kvs__tl_empty_string(l, model, "continuing_subword_prefix");
    kvs__tl_empty_string(l, model, "end_of_word_suffix");
    if (l->res) return;
    t->fuse_unk = (uint8_t)kvs__tl_bool(l, "model", model, "fuse_unk", 0);
    t->byte_fallback = (uint8_t)kvs__tl_bool(l, "model", model, "byte_fallback", 0);
    t->ignore_merges = (uint8_t)kvs__tl_bool(l, "model", model, "ignore_merges", 0);
    const kvs__json_node *added = kvs__tl_get(l, "tokenizer", root, "added_tokens", KVS__JSON_ARRAY, 0);
    for (const kvs__json_node *v = kvs__json_first(l->j, added); v; v = kvs__json_next(l->j, v)) {
        kvs__json_str(l->j, kvs__json_get(l->j, v, "content"), &n);
        added_bytes += n + 1;
    }
    if (!l->res) kvs__tl_vocab(l, "model.vocab", vocab, added ? added->count : 0, added_bytes);
    if (!l->res) kvs__tl_merges(l, merges);
    if (l->res || kvs__tl_absent(unk)) return;
    const char *s = kvs__tl_str(l, "model", model, "unk_token", &n);
    if (!l->res) t->unk = kvs__tok_model_id(t, s, n) >= 0 ? kvs__tok_model_id(t, s, n) : -2;
}

/* ---- added tokens ---- */

/* An added token: in the vocabulary already, or with the next id behind it (the id that the file gives it does not
   count; so it is in the library). */
static void kvs__tl_add(kvs__tl *l, const kvs__json_node *at, const char *where, const char *s, size_t n,
                        unsigned flags)
{
    kvs_tokenizer *t = l->t;
    kvs__tl_length(l, at, where, n);
    if (l->res || !n) return;
    int32_t id = kvs__tok_find(t, s, n);
    if (id >= 0) {                                 /* the later flags count, but once special is always special */
        t->entry[id].flags = (uint8_t)((t->entry[id].flags & (KVS__TOK_MODEL | KVS__TOK_SPECIAL)) | flags);
        return;
    }
    id = l->next_id++;
    if (t->entry[id].flags)
        kvs__tl_bad(l, at, where, "\"%.60s\" gets id %d, the number of entries, but \"%.60s\" has it", s,
                    (int)id, t->text + t->entry[id].at);
    else kvs__tl_enter(l, s, n, id, flags);
}

/* {"content": "...", "special": ..., ...} */
static void kvs__tl_added(kvs__tl *l, const char *where, const kvs__json_node *o)
{
    unsigned flags = KVS__TOK_ADDED;
    size_t n = 0;
    const char *s = kvs__tl_str(l, where, o, "content", &n);
    if (kvs__tl_bool(l, where, o, "special", 0)) flags |= KVS__TOK_SPECIAL;
    if (kvs__tl_bool(l, where, o, "single_word", 0)) flags |= KVS__TOK_WORD;
    if (kvs__tl_bool(l, where, o, "lstrip", 0)) flags |= KVS__TOK_LSTRIP;
    if (kvs__tl_bool(l, where, o, "rstrip", 0)) flags |= KVS__TOK_RSTRIP;
    if (kvs__tl_bool(l, where, o, "normalized", !(flags & KVS__TOK_SPECIAL))) flags |= KVS__TOK_NORMALIZED;
    kvs__tl_add(l, o, where, s, n, flags);
}

static int kvs__added_order(const void *x, const void *y)
{
    const kvs__added *a = (const kvs__added *)x, *b = (const kvs__added *)y;
    int c = memcmp(a->p, b->p, KVS__MIN(a->len, b->len));
    if (c || a->len != b->len) return c ? c : a->len < b->len ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* The pattern of one added token; of a normalized one it is what the normalizer makes of it. */
static void kvs__tl_added_pattern(kvs__tl *l, kvs__tok_call *c, kvs__buf *text, int32_t id, kvs__added *out)
{
    const kvs_tokenizer *t = l->t;
    const char *p = t->text + t->entry[id].at;
    size_t n = t->entry[id].len;
    int shifted = 0;
    if (t->entry[id].flags & KVS__TOK_NORMALIZED) {
        if (kvs__tok_norm_run(c, &p, &n, &shifted)) kvs__tl_memory(l);
        size_t at = text->n;
        kvs__buf_put(text, p, n);
        p = (const char *)(uintptr_t)at;           /* an offset until the buffer stands still */
    }
    out->p = p; out->len = (uint32_t)n; out->id = id;
}

/* Sorts the patterns, drops all but the first of equal ones, and notes their first bytes. */
static void kvs__tl_added_sort(kvs__added_set *set)
{
    size_t kept = 0;
    if (set->n > 1) qsort(set->pat, set->n, sizeof *set->pat, kvs__added_order);
    for (size_t i = 0; i < set->n; i++) {
        kvs__added a = set->pat[i], *was = kept ? &set->pat[kept - 1] : NULL;
        unsigned char b = (unsigned char)a.p[0];
        if (was && was->len == a.len && memcmp(was->p, a.p, a.len) == 0) continue;
        set->pat[kept++] = a;
        set->first[b] = 1;
        set->only = kept == 1 || set->only == b ? b : -1;
    }
    set->n = kept;
}

/* The set of added tokens with these flags among NORMALIZED. Among equal patterns special ones come first, then lower
   ids. */
static void kvs__tl_added_set(kvs__tl *l, unsigned normalized, kvs__added_set *set)
{
    const unsigned kinds = KVS__TOK_ADDED | KVS__TOK_NORMALIZED | KVS__TOK_SPECIAL;
    kvs_tokenizer *t = l->t;
    kvs__tok_call c;
    kvs__buf text;
    size_t n = 0;
    memset(&text, 0, sizeof text);
    text.mem = t->mem;
    set->only = -1;
    for (int32_t i = 0; i < t->n_ids; i++) n += (t->entry[i].flags & KVS__TOK_ADDED) != 0;
    set->pat = (kvs__added *)kvs__tl_alloc(l, n, sizeof(kvs__added));
    if (!set->pat) return;
    kvs__tok_call_init(&c, t, 0, 0);
    for (unsigned special = KVS__TOK_SPECIAL;; special = 0) {
        for (int32_t i = 0; i < t->n_ids && !l->res; i++) {
            if ((t->entry[i].flags & kinds) != (KVS__TOK_ADDED | normalized | special)) continue;
            kvs__tl_added_pattern(l, &c, &text, i, &set->pat[set->n]);
            set->pat[set->n].order = (uint32_t)set->n;
            set->n += set->pat[set->n].len > 0;    /* normalized away: it cannot be met */
        }
        if (!special) break;
    }
    kvs__tok_call_free(&c);
    set->text = text.p;
    if (text.oom) { kvs__tl_memory(l); set->n = 0; return; }
    for (size_t i = 0; normalized && i < set->n; i++) set->pat[i].p = text.p + (uintptr_t)set->pat[i].p;
    kvs__tl_added_sort(set);
}

/* ---- putting it together ---- */

static void kvs__tl_finish(kvs__tl *l)
{
    kvs_tokenizer *t = l->t;
    kvs__tl_byte_ids(t);
    kvs__tl_chars(l);
    if (!l->res) kvs__tl_added_set(l, 0, &t->raw);
    if (!l->res) kvs__tl_added_set(l, KVS__TOK_NORMALIZED, &t->normalized);
    for (size_t i = 0; !l->res && i <= t->merge_mask; i++) {
        const kvs__tok_merge *m = &t->merge[i];
        if (m->a != KVS__TOK_NONE && (t->entry[m->id].flags & KVS__TOK_SPECIAL)) t->special_merges = 1;
    }
    if (!l->res) kvs__tl_dec_bound(l);
}

/* A part of the tree that may be null. */
static const kvs__json_node *kvs__tl_part(kvs__tl *l, const kvs__json_node *root, const char *key)
{
    return l->res ? NULL : kvs__tl_get(l, "tokenizer", root, key, KVS__JSON_OBJECT, 0);
}

static void kvs__tl_tokenizer(kvs__tl *l, const kvs__json_node *root)
{
    static const char *const version[] = {"1.0"};
    const kvs__json_node *o;
    char where[48];
    int i = 0;
    kvs__tl_object(l, "tokenizer", root);
    if (!l->res && kvs__json_get(l->j, root, "version")) kvs__tl_pick(l, "tokenizer", root, "version", version, 1);
    if (!l->res) kvs__tl_model(l, root);
    if ((o = kvs__tl_part(l, root, "normalizer")) != NULL) kvs__tl_normalizer(l, "normalizer", o, 0);
    if ((o = kvs__tl_part(l, root, "pre_tokenizer")) != NULL) kvs__tl_pre_tokenizer(l, "pre_tokenizer", o, 0);
    if (l->res) return;
    kvs__tl_byte_level(l->t);
    l->next_id = l->t->n_vocab;
    o = kvs__json_first(l->j, kvs__json_get(l->j, root, "added_tokens"));
    for (; o && !l->res; o = kvs__json_next(l->j, o)) {
        snprintf(where, sizeof where, "added_tokens[%d]", i++);
        kvs__tl_int(l, where, o, "id", 0, KVS__TOK_IDS - 1);
        kvs__tl_added(l, where, o);
    }
    if ((o = kvs__tl_part(l, root, "post_processor")) != NULL) kvs__tl_post(l, "post_processor", o, 0);
    if ((o = kvs__tl_part(l, root, "decoder")) != NULL) kvs__tl_decoder(l, "decoder", o, 0);
    else if (!l->res) kvs__tl_step(l, "decoder", &l->t->dec, KVS__DEC_JOIN);
    if (!l->res) kvs__tl_finish(l);
}

static void kvs__tok_steps_free(kvs__mem *m, kvs__tok_steps *steps)
{
    for (int i = 0; i < KVS__TOK_STEPS; i++) {
        if (steps->step[i].find.re) kvs__regex_free(steps->step[i].find.re);
        kvs__free(m, steps->step[i].find.text);
        kvs__free(m, steps->step[i].text);
    }
}
KVS_API void kvs_tokenizer_close(kvs_tokenizer *t)
{
    if (!t) return;
    kvs__mem own = t->own, *m = t->mem == &t->own ? &own : t->mem;
    kvs__free(m, t->text); kvs__free(m, t->entry); kvs__free(m, t->slot); kvs__free(m, t->merge);
    kvs__free(m, t->page); kvs__free(m, t->post);
    kvs__free(m, t->raw.pat); kvs__free(m, t->raw.text);
    kvs__free(m, t->normalized.pat); kvs__free(m, t->normalized.text);
    kvs__tok_steps_free(m, &t->norm); kvs__tok_steps_free(m, &t->pre); kvs__tok_steps_free(m, &t->dec);
    kvs__free(m, t);
}

/* mem NULL: the tokenizer's own, of allocator a. */
static kvs_tokenizer *kvs__tok_new(kvs__mem *mem, const kvs_allocator *a)
{
    kvs__mem own;
    kvs__mem_init(&own, a);
    kvs_tokenizer *t = (kvs_tokenizer *)kvs__alloc(mem ? mem : &own, 1, sizeof *t);
    if (!t) return NULL;
    t->own = own;
    t->mem = mem ? mem : &t->own;
    t->unk = -1;
    return t;
}

/* tokenizer.json from memory. name: for messages. */
static kvs_result kvs__tok_parse(kvs_tokenizer *t, const char *text, size_t n, const char *name, kvs__err *e)
{
    kvs__json j;
    kvs__tl l;
    memset(&j, 0, sizeof j);
    memset(&l, 0, sizeof l);
    l.t = t; l.j = &j; l.name = name; l.e = e;
    l.res = kvs__json_parse(t->mem, text, n, name, &j, e);
    if (!l.res) kvs__tl_tokenizer(&l, kvs__json_root(&j));
    kvs__json_free(&j);
    return l.res;
}

/* ---- vocab.json + merges.txt: GPT-2's form, byte-level ---- */

static void kvs__tl_merges_txt(kvs__tl *l, const char *p, size_t n)
{
    size_t lines = 1, rank = 0;
    for (size_t i = 0; i < n; i++) lines += p[i] == '\n';
    kvs__tl_merge_room(l, lines);
    for (size_t i = 0, end; i < n && !l->res; i = end + 1) {
        const char *nl = (const char *)memchr(p + i, '\n', n - i);
        end = nl ? (size_t)(nl - p) : n;
        size_t len = end - i;
        if (len && p[i + len - 1] == '\r') len--;
        if (len >= 8 && memcmp(p + i, "#version", 8) == 0) continue;
        kvs__tl_merge_line(l, NULL, p + i, len, rank++);
    }
}

/* A special token of tokenizer_config.json or special_tokens_map.json: "..." or {"content": "..."}. */
static int kvs__tl_special(kvs__tl *l, const char *where, const kvs__json_node *v)
{
    size_t n = 0;
    const char *s = kvs__json_str(l->j, v, &n);
    if (s) kvs__tl_add(l, v, where, s, n, KVS__TOK_ADDED | KVS__TOK_SPECIAL);
    else if (kvs__tl_is(v, KVS__JSON_OBJECT)) {
        s = kvs__tl_str(l, where, v, "content", &n);
        unsigned strip = (kvs__tl_bool(l, where, v, "lstrip", 0) ? (unsigned)KVS__TOK_LSTRIP : 0u)
                       | (kvs__tl_bool(l, where, v, "rstrip", 0) ? (unsigned)KVS__TOK_RSTRIP : 0u);
        kvs__tl_add(l, v, where, s, n, KVS__TOK_ADDED | KVS__TOK_SPECIAL | strip);
    } else return 0;
    return 1;
}

/* Added tokens of such a file. Returns how many it names. */
static int kvs__tl_config(kvs__tl *l)
{
    static const char *const key[] = {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
                                      "mask_token"};
    const kvs__json_node *root = kvs__json_root(l->j), *v;
    int n = 0;
    v = kvs__json_first(l->j, kvs__tl_get(l, "tokenizer", root, "added_tokens_decoder", KVS__JSON_OBJECT, 0));
    for (; v && !l->res; v = kvs__json_next(l->j, v), n++) kvs__tl_added(l, "added_tokens_decoder", v);
    for (size_t i = 0; i < KVS__COUNT(key); i++) n += kvs__tl_special(l, key[i], kvs__json_get(l->j, root, key[i]));
    v = kvs__json_first(l->j, kvs__json_get(l->j, root, "additional_special_tokens"));
    for (; v && !l->res; v = kvs__json_next(l->j, v)) n += kvs__tl_special(l, "additional_special_tokens", v);
    return n;
}

static kvs_result kvs__tok_path(char out[4096], const char *dir, const char *name, kvs__err *e)
{
    if (!kvs__path_join(out, 4096, dir, name)) return KVS_OK;
    return kvs__fail(e, KVS_ERR_IO, "%.200s: the path is too long", dir);
}

/* Maps and parses dir/name. Absent: *j stays empty. */
static kvs_result kvs__tok_json(kvs__mem *m, const char *dir, const char *name, kvs__json *j, kvs__map *map,
                                kvs__err *e)
{
    char path[4096];
    kvs_result r = kvs__tok_path(path, dir, name, e);
    if (r || !kvs__file_exists(path)) return r;
    r = kvs__map_open(path, map, e);
    return r ? r : kvs__json_parse(m, map->p, map->n, name, j, e);
}

/* The files of a GPT-2 folder; config and specials may be empty. */
static void kvs__tl_gpt2(kvs__tl *l, const kvs__json file[3], const kvs__map *merges)
{
    static const char *const name[] = {"vocab.json", "tokenizer_config.json", "special_tokens_map.json"};
    static const char end[] = "<|endoftext|>";     /* GPT-2's own, if nothing else is said */
    kvs_tokenizer *t = l->t;
    size_t nodes = 1, bytes = sizeof end;
    int named = 0, prefix = 0;
    for (int i = 1; i < 3; i++) { nodes += file[i].n_nodes; bytes += file[i].n_arena; }
    l->j = &file[0]; l->name = name[0];
    if (kvs__tl_object(l, "vocab", kvs__json_root(l->j))) kvs__tl_vocab(l, "vocab", kvs__json_root(l->j), nodes, bytes);
    l->name = "merges.txt";
    if (!l->res) kvs__tl_merges_txt(l, merges->p, merges->n);
    l->next_id = t->n_vocab;
    for (int i = 1; i < 3 && !l->res; i++) {
        l->j = &file[i]; l->name = name[i];
        if (i == 1) prefix = kvs__tl_bool(l, "tokenizer", kvs__json_root(l->j), "add_prefix_space", 0);
        named += kvs__tl_config(l);
    }
    if (!l->res && !named && kvs__tok_find(t, end, sizeof end - 1) >= 0)
        kvs__tl_add(l, NULL, "vocab", end, sizeof end - 1, KVS__TOK_ADDED | KVS__TOK_SPECIAL);
    kvs__tl_pre_bytes(l, "pre_tokenizer", prefix, 1);
    kvs__tl_byte_level(t);
    kvs__tl_step(l, "decoder", &t->dec, KVS__DEC_BYTES);
    if (!l->res) kvs__tl_finish(l);
}

static kvs_result kvs__tok_open_gpt2(kvs_tokenizer *t, const char *dir, kvs__err *e)
{
    static const char *const name[] = {"vocab.json", "tokenizer_config.json", "special_tokens_map.json"};
    char path[4096];
    kvs__json file[3];
    kvs__map map[4];
    kvs__tl l;
    memset(file, 0, sizeof file);
    memset(map, 0, sizeof map);
    memset(&l, 0, sizeof l);
    l.t = t; l.e = e; l.name = dir;
    for (int i = 0; i < 3 && !l.res; i++) l.res = kvs__tok_json(t->mem, dir, name[i], &file[i], &map[i], e);
    if (!l.res) l.res = kvs__tok_path(path, dir, "merges.txt", e);
    if (!l.res && (!file[0].n_nodes || !kvs__file_exists(path)))
        l.res = kvs__fail(e, KVS_ERR_IO, "%.200s: neither tokenizer.json nor vocab.json and merges.txt", dir);
    if (!l.res) l.res = kvs__map_open(path, &map[3], e);
    if (!l.res) kvs__tl_gpt2(&l, file, &map[3]);
    for (int i = 0; i < 3; i++) kvs__json_free(&file[i]);
    for (int i = 0; i < 4; i++) kvs__map_close(&map[i]);
    return l.res;
}

/* path: a folder or a tokenizer.json. */
static kvs_result kvs__tok_load(kvs_tokenizer *t, const char *path, kvs__err *e)
{
    char file[4096];
    kvs__map map;
    kvs_result r = KVS_OK;
    if (kvs__dir_exists(path)) {
        r = kvs__tok_path(file, path, "tokenizer.json", e);
        if (r) return r;
        if (!kvs__file_exists(file)) return kvs__tok_open_gpt2(t, path, e);
        path = file;
    }
    r = kvs__map_open(path, &map, e);
    if (r) return r;
    const char *slash = strrchr(path, '/');
    r = kvs__tok_parse(t, map.p, map.n, slash ? slash + 1 : path, e);
    kvs__map_close(&map);
    return r;
}

/* The engine's way in: everything it allocates counts in mem. *out is NULL after an error. */
static kvs_result kvs__tok_open(kvs__mem *mem, const char *path, kvs_tokenizer **out, kvs__err *e)
{
    *out = kvs__tok_new(mem, NULL);
    kvs_result r = *out ? kvs__tok_load(*out, path, e) : kvs__fail(e, KVS_ERR_MEMORY, "%.200s: out of memory", path);
    if (r) { kvs_tokenizer_close(*out); *out = NULL; }
    return r;
}
KVS_API kvs_result kvs_tokenizer_open(const char *path, const kvs_allocator *a, kvs_tokenizer **out,
                                      char err[KVS_MAX_ERROR])
{
    kvs__err e;
    kvs_result r;
    if (!path || !out) return KVS_ERR_INVALID;
    memset(&e, 0, sizeof e);
    *out = kvs__tok_new(NULL, a);
    r = *out ? kvs__tok_load(*out, path, &e) : kvs__fail(&e, KVS_ERR_MEMORY, "%.200s: out of memory", path);
    if (r) { kvs_tokenizer_close(*out); *out = NULL; }
    if (err) memcpy(err, e.text, KVS_MAX_ERROR);
    return r;
}

/* ====================================================================================================
   >>safetensors   Named tensors in files that are mapped, never copied.

   A file is: header length (8 bytes, little endian), header (JSON), data. The header maps each name to dtype, shape and
   the half-open byte range of the data. Every rule of the format is checked before a tensor is shown to anybody: ranges
   lie inside the file, are as long as dtype and shape say, do not overlap and leave no hole; names are unique. A model
   may be cut into shards; then an index says which tensor is in which, and the shards must agree with it.
   Dtypes that the engine cannot compute with (integers, booleans, f64, 8-bit floats) are listed with dtype KVS_AUTO:
   old checkpoints carry such buffers, and it is for the user of a tensor to mind. A dtype that is not known at all is
   refused, since its size is not either. An unknown field of an entry is ignored, as by the reference implementation.
   Must not know: what the tensors are for.
   ==================================================================================================== */

#define KVS__ST_HEADER_MAX 100000000u        /* bytes; the limit of the reference implementation */

typedef struct kvs__st_shard { kvs__map map; char *path, *names; } kvs__st_shard;

struct kvs_safetensors {
    kvs__mem own, *mem;                      /* mem = &own when opened by the public function */
    kvs_tensor    *tensor; size_t n, cap;    /* sorted by name once open */
    kvs__st_shard *shard;  size_t n_shards, cap_shards;
};

typedef struct kvs__st_type { const char *name; uint64_t bytes; kvs_dtype dtype; } kvs__st_type;

static const kvs__st_type kvs__st_types[] = {
    {"F32", 4, KVS_F32},  {"F16", 2, KVS_F16},  {"BF16", 2, KVS_BF16},   {"F64", 8, KVS_AUTO},     {"I64", 8, KVS_AUTO},
    {"I32", 4, KVS_AUTO}, {"I16", 2, KVS_AUTO}, {"I8", 1, KVS_AUTO},     {"U64", 8, KVS_AUTO},     {"U32", 4, KVS_AUTO},
    {"U16", 2, KVS_AUTO}, {"U8", 1, KVS_AUTO},  {"BOOL", 1, KVS_AUTO},   {"F8_E4M3", 1, KVS_AUTO},
        {"F8_E5M2", 1, KVS_AUTO},
    {"F8_E8M0", 1, KVS_AUTO}, {"C64", 8, KVS_AUTO}
};

/* The dtype as the file spells it: it is kept behind the name. */
static const char *kvs__st_type_name(const kvs_tensor *t) { return t->name + strlen(t->name) + 1; }

/* "[2, 3]" into buf; "[]" for a scalar. */
static const char *kvs__st_shape_str(const int64_t *shape, int32_t rank, char *buf, size_t cap)
{
    size_t n = (size_t)snprintf(buf, cap, "[");
    for (int32_t i = 0; i < rank && n < cap; i++)
        n += (size_t)snprintf(buf + n, cap - n, i ? ", %lld" : "%lld", (long long)shape[i]);
    if (n < cap) snprintf(buf + n, cap - n, "]");
    return buf;
}

/* At most the last 160 bytes of a path, for messages: a tensor's name must not be cut off by a long folder. */
static const char *kvs__st_tail(const char *path)
{
    size_t n = strlen(path);
    return n > 160 ? path + n - 160 : path;
}

/* ---- one file ---- */

typedef struct kvs__st_reader {              /* what the functions below share while they read a header */
    kvs_safetensors *st; kvs__st_shard *shard; kvs__err *e;
    kvs__json json;
    const char *file;                        /* for messages: the last part of a long path, so that the rest has room */
    const char *data; uint64_t n_data;
    char *names_end;                         /* where the next name goes */
} kvs__st_reader;

#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
static kvs_result kvs__st_bad(const kvs__st_reader *r, kvs_result res, const char *name, const char *fmt, ...)
{
    char text[KVS_MAX_ERROR];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return kvs__fail(r->e, res, "%s: tensor \"%.200s\": %.200s", r->file, name, text);
}

static kvs_result kvs__st_read_type(kvs__st_reader *r, const kvs__json_node *node, const char *name,
                                    const kvs__st_type **out)
{
    const char *s = kvs__json_str(&r->json, node, NULL);
    if (!s) return kvs__st_bad(r, KVS_ERR_FORMAT, name, "expected a string \"dtype\"");
    for (size_t i = 0; i < KVS__COUNT(kvs__st_types); i++)
        if (!strcmp(s, kvs__st_types[i].name)) { *out = &kvs__st_types[i]; return KVS_OK; }
    return kvs__st_bad(r, KVS_ERR_UNSUPPORTED, name, "unknown dtype \"%.32s\"", s);
}

/* Reads "shape" into t; *bytes = product of the dimensions and `size`, the bytes of an element. */
static kvs_result kvs__st_read_shape(kvs__st_reader *r, const kvs__json_node *node, kvs_tensor *t, uint64_t size,
                                     uint64_t *bytes)
{
    *bytes = size;
    if (!node || node->type != KVS__JSON_ARRAY)
        return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "expected an array \"shape\"");
    if (node->count > KVS__COUNT(t->shape))
        return kvs__st_bad(r, KVS_ERR_UNSUPPORTED, t->name, "%u dimensions, expected at most 8", (unsigned)node->count);
    for (const kvs__json_node *d = kvs__json_first(&r->json, node); d; d = kvs__json_next(&r->json, d)) {
        int64_t v;
        if (kvs__json_int(d, &v) || v < 0)
            return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "dimension %d of \"shape\" is not an integer >= 0",
                               (int)t->rank);
        t->shape[t->rank++] = v;
    }
    for (int32_t i = 0; i < t->rank; i++)
        if (kvs__mul_u64(*bytes, (uint64_t)t->shape[i], bytes))
            return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "the product of \"shape\" overflows");
    return KVS_OK;
}

/* Reads "data_offsets" into t->data and t->bytes, which must be `want`. */
static kvs_result kvs__st_read_range(kvs__st_reader *r, const kvs__json_node *node, kvs_tensor *t, uint64_t want)
{
    const kvs__json_node *b = kvs__json_first(&r->json, node), *e = kvs__json_next(&r->json, b);
    int64_t begin, end;
    char shape[192];
    if (!node || node->type != KVS__JSON_ARRAY || node->count != 2 || kvs__json_int(b, &begin) ||
        kvs__json_int(e, &end))
        return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "expected \"data_offsets\" to be two integers");
    if (begin < 0 || begin > end || (uint64_t)end > r->n_data)
        return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "data_offsets [%lld, %lld], expected 0 <= begin <= end <= %llu",
                           (long long)begin, (long long)end, (unsigned long long)r->n_data);
    t->bytes = (uint64_t)(end - begin);
    t->data = r->data + begin;
    if (t->bytes == want) return KVS_OK;
    return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "data_offsets span %llu bytes, expected %llu for %s %s",
                       (unsigned long long)t->bytes, (unsigned long long)want, kvs__st_type_name(t),
                       kvs__st_shape_str(t->shape, t->rank, shape, sizeof shape));
}

static kvs_result kvs__st_read_metadata(kvs__st_reader *r, const kvs__json_node *node)
{
    if (node->type != KVS__JSON_OBJECT)
        return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: __metadata__ is not an object", r->file);
    for (const kvs__json_node *m = kvs__json_first(&r->json, node); m; m = kvs__json_next(&r->json, m))
        if (m->type != KVS__JSON_STRING)
            return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: __metadata__ \"%.200s\" is not a string", r->file,
                             kvs__json_key(&r->json, m, NULL));
    return KVS_OK;
}

/* One member of the header becomes one kvs_tensor at the end of st->tensor. Its name goes into the shard's arena. */
static kvs_result kvs__st_read_tensor(kvs__st_reader *r, const kvs__json_node *node)
{
    const kvs__st_type *type = NULL;
    size_t len;
    uint64_t bytes;
    kvs_result res;
    const char *key = kvs__json_key(&r->json, node, &len), *again;
    kvs_tensor *t = &r->st->tensor[r->st->n];
    if (strlen(key) != len) return kvs__st_bad(r, KVS_ERR_FORMAT, key, "its name holds a NUL");
    if (node->type != KVS__JSON_OBJECT) return kvs__st_bad(r, KVS_ERR_FORMAT, key, "expected an object");
    if ((again = kvs__json_dup(&r->json, node)) != NULL)
        return kvs__st_bad(r, KVS_ERR_FORMAT, key, "\"%.32s\" is given twice", again);
    if ((res = kvs__st_read_type(r, kvs__json_get(&r->json, node, "dtype"), key, &type))) return res;
    memset(t, 0, sizeof *t);
    t->name = r->names_end;
    t->dtype = type->dtype;
    t->file = r->shard->path;
    memcpy(r->names_end, key, len + 1);
    r->names_end += len + 1;
    memcpy(r->names_end, type->name, strlen(type->name) + 1);
    r->names_end += strlen(type->name) + 1;
    if ((res = kvs__st_read_shape(r, kvs__json_get(&r->json, node, "shape"), t, type->bytes, &bytes))) return res;
    if ((res = kvs__st_read_range(r, kvs__json_get(&r->json, node, "data_offsets"), t, bytes))) return res;
    r->st->n++;
    return KVS_OK;
}

/* Room for the tensors of this header and their names. */
static kvs_result kvs__st_reserve(kvs__st_reader *r, const kvs__json_node *root)
{
    kvs_safetensors *st = r->st;
    size_t bytes = 1, len;
    void *array = st->tensor;
    for (const kvs__json_node *m = kvs__json_first(&r->json, root); m; m = kvs__json_next(&r->json, m)) {
        kvs__json_key(&r->json, m, &len);
        bytes += len + 1 + sizeof "F8_E4M3";          /* none is longer */
    }
    if (!kvs__grow(st->mem, &array, &st->cap, st->n + root->count, sizeof(kvs_tensor))) {
        st->tensor = (kvs_tensor *)array;
        r->shard->names = r->names_end = (char *)kvs__alloc(st->mem, bytes, 1);
        if (r->names_end) return KVS_OK;
    }
    return kvs__fail(r->e, KVS_ERR_MEMORY, "%s: out of memory", r->file);
}

static int kvs__st_by_data(const void *a, const void *b)
{
    const kvs_tensor *x = (const kvs_tensor *)a, *y = (const kvs_tensor *)b;
    if (x->data != y->data) return (const char *)x->data < (const char *)y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}
static int kvs__st_by_name(const void *a, const void *b)
{
    return strcmp(((const kvs_tensor *)a)->name, ((const kvs_tensor *)b)->name);
}

/* The tensors from `first` on must tile the data of the file: in order of place, each starts where the last ended. */
static kvs_result kvs__st_check_cover(const kvs__st_reader *r, size_t first)
{
    uint64_t at = 0;
    if (r->st->n > first) qsort(r->st->tensor + first, r->st->n - first, sizeof(kvs_tensor), kvs__st_by_data);
    for (size_t i = first; i < r->st->n; i++) {
        const kvs_tensor *t = &r->st->tensor[i];
        uint64_t begin = (uint64_t)((const char *)t->data - r->data);
        if (begin != at)
            return kvs__st_bad(r, KVS_ERR_FORMAT, t->name, "it starts at %llu, expected %llu: %s",
                               (unsigned long long)begin,
                               (unsigned long long)at,
                                   begin < at ? "it overlaps another" : "there is a hole before it");
        at = begin + t->bytes;
    }
    if (at == r->n_data) return KVS_OK;
    return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: %llu bytes of data, expected %llu: the end of its last tensor", r->file,
                     (unsigned long long)r->n_data, (unsigned long long)at);
}

static kvs_result kvs__st_read_header(kvs__st_reader *r)
{
    const kvs__map *map = &r->shard->map;
    const kvs__json_node *root;
    uint64_t n = 0;
    kvs_result res;
    if (map->n < 8) return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: %zu bytes, expected at least 8", r->file, map->n);
    for (int i = 0; i < 8; i++) n |= (uint64_t)(unsigned char)map->p[i] << (8 * i);
    if (n > KVS__ST_HEADER_MAX || n > map->n - 8)
        return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: the header claims %llu bytes, expected at most %llu", r->file,
                         (unsigned long long)n, (unsigned long long)KVS__MIN(map->n - 8, KVS__ST_HEADER_MAX));
    r->data = map->p + 8 + n;
    r->n_data = map->n - 8 - n;
    if ((res = kvs__json_parse(r->st->mem, map->p + 8, (size_t)n, r->file, &r->json, r->e))) return res;
    root = kvs__json_root(&r->json);
    if (root->type != KVS__JSON_OBJECT)
        return kvs__fail(r->e, KVS_ERR_FORMAT, "%s: the header is not a JSON object", r->file);
    const char *again = kvs__json_dup(&r->json, root);
    if (again) return kvs__st_bad(r, KVS_ERR_FORMAT, again, "it is given twice");
    if ((res = kvs__st_reserve(r, root))) return res;
    size_t first = r->st->n;
    for (const kvs__json_node *m = kvs__json_first(&r->json, root); m && !res; m = kvs__json_next(&r->json, m)) {
        int metadata = !strcmp(kvs__json_key(&r->json, m, NULL), "__metadata__");
        res = metadata ? kvs__st_read_metadata(r, m) : kvs__st_read_tensor(r, m);
    }
    return res ? res : kvs__st_check_cover(r, first);
}

/* Maps a file and appends its tensors. What it allocates belongs to st, also on failure. */
static kvs_result kvs__st_add_file(kvs_safetensors *st, const char *path, kvs__err *e)
{
    kvs__st_reader r;
    kvs_result res;
    void *array = st->shard;
    size_t len = strlen(path) + 1;
    memset(&r, 0, sizeof r);
    if (kvs__grow(st->mem, &array, &st->cap_shards, st->n_shards + 1, sizeof(kvs__st_shard)))
        return kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", path);
    st->shard = (kvs__st_shard *)array;
    r.st = st; r.e = e;
    r.shard = &st->shard[st->n_shards++];
    memset(r.shard, 0, sizeof *r.shard);
    r.shard->path = (char *)kvs__alloc(st->mem, len, 1);
    if (!r.shard->path) return kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", path);
    memcpy(r.shard->path, path, len);
    r.file = kvs__st_tail(r.shard->path);
    if ((res = kvs__map_open(path, &r.shard->map, e))) return res;
    res = kvs__st_read_header(&r);
    kvs__json_free(&r.json);
    return res;
}

/* ---- shards ---- */

static const kvs_tensor *kvs__st_find(const kvs_safetensors *st, const char *name)
{
    size_t lo = 0, hi = st->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(st->tensor[mid].name, name);
        if (!c) return &st->tensor[mid];
        if (c < 0) lo = mid + 1;
        else hi = mid;
    }
    return NULL;
}

/* A shard is a plain file name beside the index: no folder, nothing hidden, no way out. */
static int kvs__st_plain_name(const char *s, size_t len)
{
    static const char end[] = ".safetensors";
    return s && len > sizeof end - 1 && strlen(s) == len && s[0] != '.' && !strchr(s, '/') && !strchr(s, '\\')
        && !strcmp(s + len - (sizeof end - 1), end);
}

static kvs_result kvs__st_sort(kvs_safetensors *st, kvs__err *e)
{
    if (st->n) qsort(st->tensor, st->n, sizeof(kvs_tensor), kvs__st_by_name);
    for (size_t i = 1; i < st->n; i++) {
        const kvs_tensor *a = &st->tensor[i - 1], *b = &st->tensor[i];
        if (!strcmp(a->name, b->name))
            return kvs__fail(e, KVS_ERR_FORMAT, "%s: tensor \"%.150s\" is in %s too", kvs__st_tail(a->file), a->name,
                             kvs__st_tail(b->file));
    }
    return KVS_OK;
}

static int kvs__st_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct kvs__st_index {               /* model.safetensors.index.json while it is read */
    const char *path, *file;                 /* file: for messages */
    kvs__map text; kvs__json json;
    const kvs__json_node *map;               /* weight_map: tensor name -> shard name */
    const char **names;                      /* scratch, [map->count] */
} kvs__st_index;

/* Opens each shard that the map names, once. */
static kvs_result kvs__st_open_shards(kvs_safetensors *st, kvs__st_index *x, kvs__err *e)
{
    char path[4096];
    size_t n = 0, len, dir = strlen(x->path);
    kvs_result res = KVS_OK;
    for (const kvs__json_node *m = kvs__json_first(&x->json, x->map); m; m = kvs__json_next(&x->json, m)) {
        const char *s = kvs__json_str(&x->json, m, &len), *tensor = kvs__json_key(&x->json, m, NULL);
        if (!kvs__st_plain_name(s, len))
            return kvs__fail(e, KVS_ERR_FORMAT,
                             "%s: tensor \"%.150s\": expected the name of a file beside the index, got "
                             "\"%.60s\"", x->file, tensor, s ? s : "(not a string)");
        x->names[n++] = s;
    }
    while (dir && x->path[dir - 1] != '/') dir--;
    qsort((void *)x->names, n, sizeof *x->names, kvs__st_by_text);
    for (size_t i = 0; i < n && !res; i++) {
        if (i && !strcmp(x->names[i], x->names[i - 1])) continue;
        int w = snprintf(path, sizeof path, "%.*s%s", (int)dir, x->path, x->names[i]);
        if (w < 0 || (size_t)w >= sizeof path)
            return kvs__fail(e, KVS_ERR_INVALID, "%s: the path is too long", x->file);
        res = kvs__st_add_file(st, path, e);
    }
    return res;
}

/* Holds the shards against the map: each tensor must be where it says. Tensors that it does not name are dropped. */
static kvs_result kvs__st_match_map(kvs_safetensors *st, const kvs__st_index *x, kvs__err *e)
{
    const int32_t mark = 0x100;
    size_t kept = 0;
    for (const kvs__json_node *m = kvs__json_first(&x->json, x->map); m; m = kvs__json_next(&x->json, m)) {
        const char *name = kvs__json_key(&x->json, m, NULL), *file = kvs__json_str(&x->json, m, NULL);
        const kvs_tensor *t = kvs__st_find(st, name);
        const char *slash = t ? strrchr(t->file, '/') : NULL, *found = !t ? "nowhere" : slash ? slash + 1 : t->file;
        if (strcmp(found, file))
            return kvs__fail(e, KVS_ERR_FORMAT, "%s: tensor \"%.150s\": expected in \"%.60s\", found %s%.60s", x->file,
                             name,
                             file, t ? "in " : "", found);
        st->tensor[t - st->tensor].rank |= mark;
    }
    for (size_t i = 0; i < st->n; i++) {
        if (!(st->tensor[i].rank & mark)) continue;
        st->tensor[kept] = st->tensor[i];
        st->tensor[kept++].rank &= ~mark;
    }
    st->n = kept;
    return KVS_OK;
}

static kvs_result kvs__st_read_index(kvs_safetensors *st, kvs__st_index *x, kvs__err *e)
{
    kvs_result res;
    const char *again;
    if ((res = kvs__map_open(x->path, &x->text, e))) return res;
    if ((res = kvs__json_parse(st->mem, x->text.p, x->text.n, x->file, &x->json, e))) return res;
    x->map = kvs__json_get(&x->json, kvs__json_root(&x->json), "weight_map");
    if (!x->map || x->map->type != KVS__JSON_OBJECT)
        return kvs__fail(e, KVS_ERR_FORMAT, "%s: expected an object \"weight_map\"", x->file);
    if ((again = kvs__json_dup(&x->json, x->map)) != NULL)
        return kvs__fail(e, KVS_ERR_FORMAT, "%s: tensor \"%.200s\" is given twice", x->file, again);
    x->names = (const char **)kvs__alloc(st->mem, x->map->count, sizeof *x->names);
    if (!x->names) return kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", x->file);
    if ((res = kvs__st_open_shards(st, x, e))) return res;
    if ((res = kvs__st_sort(st, e))) return res;
    return kvs__st_match_map(st, x, e);
}

static kvs_result kvs__st_add_index(kvs_safetensors *st, const char *path, kvs__err *e)
{
    kvs__st_index x;
    memset(&x, 0, sizeof x);
    x.path = path; x.file = kvs__st_tail(path);
    kvs_result res = kvs__st_read_index(st, &x, e);
    kvs__free(st->mem, (void *)x.names);
    kvs__json_free(&x.json);
    kvs__map_close(&x.text);
    return res;
}

/* ---- open and close ---- */

static int kvs__st_ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && !strcmp(s + n - m, end);
}

/* A folder is looked into in the order of the reference library: the single file, then the index. */
static kvs_result kvs__st_add_path(kvs_safetensors *st, const char *path, kvs__err *e)
{
    static const char one[] = "model.safetensors", many[] = "model.safetensors.index.json";
    char p[4096];
    kvs_result res;
    if (!kvs__dir_exists(path)) {
        if (kvs__st_ends_with(path, ".json")) return kvs__st_add_index(st, path, e);
    } else {
        if (kvs__path_join(p, sizeof p, path, many))
            return kvs__fail(e, KVS_ERR_INVALID, "%.100s...: the path is too long", path);
        int has_index = kvs__file_exists(p);
        kvs__path_join(p, sizeof p, path, one);
        if (!kvs__file_exists(p)) {
            if (!has_index)
                return kvs__fail(e, KVS_ERR_IO, "%s: neither %s nor %s is there", kvs__st_tail(path), one, many);
            kvs__path_join(p, sizeof p, path, many);
            return kvs__st_add_index(st, p, e);
        }
        path = p;
    }
    if ((res = kvs__st_add_file(st, path, e))) return res;
    return kvs__st_sort(st, e);
}

static void kvs__st_close(kvs_safetensors *st)
{
    if (!st) return;
    kvs__mem mem = st->own, *m = st->mem == &st->own ? &mem : st->mem;    /* own goes away with st */
    for (size_t i = 0; i < st->n_shards; i++) {
        kvs__map_close(&st->shard[i].map);
        kvs__free(m, st->shard[i].path);
        kvs__free(m, st->shard[i].names);
    }
    kvs__free(m, st->shard);
    kvs__free(m, st->tensor);
    kvs__free(m, st);
}

/* mem NULL: the new object keeps its own, made from `allocator`. On failure *out is NULL. */
static kvs_result kvs__st_new(kvs__mem *mem, const kvs_allocator *allocator, const char *path, kvs_safetensors **out,
                              kvs__err *e)
{
    kvs__mem own;
    kvs__mem_init(&own, allocator);
    kvs_safetensors *st = (kvs_safetensors *)kvs__alloc(mem ? mem : &own, 1, sizeof *st);
    *out = NULL;
    if (!st) return kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", path);
    st->own = own;
    st->mem = mem ? mem : &st->own;
    kvs_result res = kvs__st_add_path(st, path, e);
    if (res) { kvs__st_close(st); return res; }
    *out = st;
    return KVS_OK;
}

static kvs_result kvs__st_open(kvs__mem *mem, const char *path, kvs_safetensors **out, kvs__err *e)
{
    return kvs__st_new(mem, NULL, path, out, e);
}

KVS_API kvs_result kvs_safetensors_open(const char *path, const kvs_allocator *allocator, kvs_safetensors **out,
                                        char err[KVS_MAX_ERROR])
{
    kvs__err e;
    kvs_result res;
    e.text[0] = 0;
    if (out) *out = NULL;
    res = path && out ? kvs__st_new(NULL, allocator, path, out, &e)
                      : kvs__fail(&e, KVS_ERR_INVALID, "kvs_safetensors_open: path and out must not be NULL");
    if (err) memcpy(err, e.text, sizeof e.text);
    return res;
}
KVS_API const kvs_tensor *kvs_safetensors_find(const kvs_safetensors *st, const char *name)
{
    return st && name ? kvs__st_find(st, name) : NULL;
}
KVS_API const kvs_tensor *kvs_safetensors_list(const kvs_safetensors *st, size_t *n)
{
    if (n) *n = st ? st->n : 0;
    return st ? st->tensor : NULL;
}
KVS_API void kvs_safetensors_close(kvs_safetensors *st) { kvs__st_close(st); }

/* ====================================================================================================
   >>model   A folder of files becomes one canonical model: config, rows of data per family, weight descriptions.

   Owns: what config.json, generation_config.json and tokenizer_config.json mean, which tensor is which, the tables of
   positions. Must not know: blocks, requests, backends. It computes nothing and copies no weight; it describes what the
   engine then has packed.

   The canonical dataflow. Every family is this one function; x [T, D] is the residual stream, weights are [out, in].
   NAME is a slot (below); NAME_B, its bias, is added where the model has one.

       x = EMBED[token] * embed_scale          [T, E];  x = PROJ_IN x  if given;  x += POS[pos + pos_offset]  if LEARNED
       each layer l:
           attn(h):  q, k, v = QKV h           [T, (H + 2 HKV) Dh]: all q heads, all k heads, all v heads
                     q, k = QNORM q, KNORM k   if given: each head by itself, over Dh
                     q, k = rope(q), rope(k)   if ROPE: the first rope.dim elements of each head, as two halves
                     O (softmax(attn_scale q.k + alibi (j - pos)) v)          over keys j > pos - window[l]; 0: over all
           mlp(h):   DOWN (act(UP h));  gated: DOWN (act(g) * u), g, u = UP h: F gate rows, then F up rows
           SEQUENTIAL:  x += attn(NORM1 x);                  x += mlp(NORM2 x)
           PARALLEL:    x += attn(NORM1 x) + mlp(NORM2 x);   NORM2 absent: both read NORM1 x
           POSTNORM:    x = NORM1(x + attn x);               x = NORM2(x + mlp x)
       x = NORM x  if given;  x = PROJ_OUT x  if given;  logits = HEAD x                                        [T, V]

   So a forward pass looks at flow, gated, pos, act, and whether a slot is present (desc.n_parts > 0).
   ==================================================================================================== */

typedef enum kvs__flow { KVS__FLOW_SEQUENTIAL = 0, KVS__FLOW_PARALLEL, KVS__FLOW_POSTNORM } kvs__flow;
typedef enum kvs__pos  { KVS__POS_ROPE = 0, KVS__POS_LEARNED, KVS__POS_ALIBI } kvs__pos;
typedef enum kvs__rope_type {
    KVS__ROPE_DEFAULT = 0, KVS__ROPE_LINEAR, KVS__ROPE_LLAMA3, KVS__ROPE_YARN, KVS__ROPE_DYNAMIC
} kvs__rope_type;

typedef struct kvs__rope {
    kvs__rope_type type;
    int32_t dim;                             /* rotated elements of each head, even, <= Dh: Dh * partial */
    double  theta, factor, partial;
    int32_t original_max;                    /* llama3, yarn: positions of the first training */
    double  low_freq, high_freq;             /* llama3 */
    double  beta_fast, beta_slow; int32_t truncate;   /* yarn */
    double  mscale, mscale_all;              /* yarn: what attention_factor comes from if it is not given */
    double  attention_factor;                /* cos and sin are multiplied by it; 1 but for yarn */
} kvs__rope;

#define KVS__MAX_EOS    64
#define KVS__MAX_LAYERS 1024

typedef struct kvs__model_config {
    char      arch[48];                      /* "LlamaForCausalLM" */
    int32_t   L, D, H, HKV, Dh, F, V;
    int32_t   E;                             /* width of the embedding; D but for opt-350m */
    int32_t   max_pos;                       /* a hard limit: LEARNED has no row beyond, dynamic rope would be wrong */
    kvs__flow flow;
    kvs_norm  norm;  float eps;              /* of every norm of the model, QNORM and KNORM too */
    kvs_act   act;   int32_t gated;
    kvs__pos  pos;   int32_t pos_offset;     /* LEARNED: row = position + pos_offset (OPT: 2) */
    kvs__rope rope;                          /* ROPE */
    double    alibi_max; int32_t alibi_scaled;   /* ALIBI: largest exponent; the bias is inside the scale (Falcon) */
    float     attn_scale;                    /* 1/sqrt(Dh) */
    float     embed_scale;                   /* 1; Gemma: sqrt(D), rounded to bf16 if the weights in memory are */
    int32_t   window[KVS__MAX_LAYERS];       /* [L] keys that a query sees, itself included; 0: all */
    int32_t   tied;                          /* HEAD describes the same tensor as EMBED */
    uint32_t  flags;                         /* KVS__F_*: what the file looks like; a forward pass has no use for it */
    int32_t   bos;                           /* -1: none */
    int32_t   eos[KVS__MAX_EOS], n_eos;      /* any of these ends an answer; sorted, no duplicates */
    char      eos_token[128];                /* of tokenizer_config.json, "" if none; its id: see kvs__model_add_eos */
    kvs_sampling sampling;                   /* defaults from generation_config.json; zero unless it says do_sample */
} kvs__model_config;

/* Slots: globals first, then one run of layer slots per layer. */
enum {
    KVS__G_EMBED, KVS__G_POS, KVS__G_PROJ_IN, KVS__G_PROJ_OUT, KVS__G_NORM, KVS__G_NORM_B, KVS__G_HEAD, KVS__G_HEAD_B,
    KVS__G_COUNT
};
enum {
    KVS__W_NORM1, KVS__W_NORM1_B, KVS__W_NORM2, KVS__W_NORM2_B,
    KVS__W_QNORM, KVS__W_QNORM_B, KVS__W_KNORM, KVS__W_KNORM_B,
    KVS__W_QKV, KVS__W_QKV_B, KVS__W_O, KVS__W_O_B, KVS__W_UP, KVS__W_UP_B, KVS__W_DOWN, KVS__W_DOWN_B,
    KVS__W_COUNT
};

/* One slot: a description for backend->pack. desc.n_parts == 0: the model has no such weight.
   LINEAR and ROWS: parts are stacked by rows, [n, k]. VECTOR: n = 1, and a part is a column of `rows` elements (element
   r = data[row_map[r] * row_stride]); parts are stacked too, k elements in all: the biases of q, k and v are three. */
typedef struct kvs__weight {
    kvs_weight_desc desc;                    /* desc.parts = part: do not move or copy the struct */
    kvs_weight_part part[3];
    const kvs_tensor *tensor[3];             /* where each part comes from: names for messages */
} kvs__weight;

typedef struct kvs__model {
    kvs__mem *mem;
    kvs__model_config cfg;
    kvs_safetensors  *st;
    kvs_dtype    dtype;                      /* of matrices in memory: the one asked for, or that of most elements */
    kvs__weight *w;  size_t n_w;             /* [KVS__G_COUNT + L * KVS__W_COUNT]; kvs__model_at gives the index */
    int32_t     *qkv_map;                    /* row map of a fused QKV, shared by all layers; NULL: rows are in order */
    void       **copy; size_t n_copy, cap_copy;   /* tensors whose elements are not aligned in the file are copied */
    kvs_tensor  *dummy; size_t n_dummy;      /* KVS_LOAD_DUMMY: one for each part, all of the same random bytes */
    uint64_t     n_params;                   /* elements of all slots, a tied head not counted twice */
    kvs__buf     warnings;                   /* lines for the log: keys and tensors that were not used */
    const struct kvs__arch *row;
} kvs__model;

/* Index into model.w of a global slot (layer < 0) or a layer's slot. The engine keeps its packed weights likewise. */
static size_t kvs__model_at(int32_t layer, int slot)
{
    return layer < 0 ? (size_t)slot : KVS__G_COUNT + (size_t)layer * KVS__W_COUNT + (size_t)slot;
}

/* ---- rows: what distinguishes the families ---- */

enum {
    KVS__F_RMS = 1,          KVS__F_ADD1 = 2,         /* norms are RMSNorm; their factor is 1 + w */
    KVS__F_NORM_BIAS = 4,    KVS__F_NORM2 = 8,        /* norms have a bias; a layer has two */
    KVS__F_NORM_LAST = 16,   KVS__F_QK_NORM = 32,     /* there is one after the last layer; of each head of q and k */
    KVS__F_GATED = 64,       KVS__F_GELU_TANH = 128,  /* the mlp; "gelu" in the config means the tanh form */
    KVS__F_BIAS_QKV = 256,   KVS__F_BIAS_O = 512,
    KVS__F_BIAS_MLP = 1024,  KVS__F_BIAS_HEAD = 2048,
    KVS__F_LEARNED = 1 << 12, KVS__F_ALIBI = 1 << 13, /* positions; neither: rope */
    KVS__F_ALIBI_SCALED = 1 << 14,                    /* score = (q.k + bias) * scale */
    KVS__F_TIED = 1 << 15,   KVS__F_EMBED_SQRT = 1 << 16,    /* head = embedding; embedding * sqrt(D) */
    KVS__F_CONV1D = 1 << 17,                          /* matrices of the layers are [in, out] */
    KVS__F_GROUPS = 1 << 18,                          /* rows of QKV stand by KV head: the q heads that read it, k, v */
    KVS__F_MQA = 1 << 19,                             /* one KV head, whatever the config says */
    KVS__F_WINDOW = 1 << 20, KVS__F_WINDOW_OPT = 1 << 21,    /* sliding_window counts; only if use_sliding_window */
    KVS__F_PROJ = 1 << 22,                            /* set when E != D */
    KVS__F_BIAS = KVS__F_BIAS_QKV | KVS__F_BIAS_O | KVS__F_BIAS_MLP,
    KVS__F_NORMS = KVS__F_NORM2 | KVS__F_NORM_LAST
};

/* JSON as it stands in the source, as a string. */
#define KVS__JSON(...) #__VA_ARGS__

/* To add a family: add a row, its tensor names if they are new, and a golden test. */
typedef struct kvs__arch {
    const char *name;         /* as in "architectures"; several are separated by a blank */
    const char *when;         /* of several forms of a family: the values that choose this one; NULL: no condition */
    kvs__flow flow; int32_t pos_offset;
    uint32_t flags, may;      /* KVS__F_*; those that a boolean key of the config may change */
    const char *defaults;     /* values of absent keys. A key that is null has no value, not its default */
    const char *names;        /* modules by role; arrays: the pieces of a stacked weight. prefix: the alternatives */
} kvs__arch;

static const char kvs__names_llama[] = KVS__JSON({
    "prefix": ["model."], "embed": "embed_tokens", "norm": "norm", "head": "lm_head", "layers": "layers",
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
    "qnorm": "self_attn.q_norm", "knorm": "self_attn.k_norm",
    "qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "o": "self_attn.o_proj",
    "up": ["mlp.gate_proj", "mlp.up_proj"], "down": "mlp.down_proj"});
static const char kvs__names_phi3[] = KVS__JSON({
    "prefix": ["model."], "embed": "embed_tokens", "norm": "norm", "head": "lm_head", "layers": "layers",
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
    "qkv": "self_attn.qkv_proj", "o": "self_attn.o_proj", "up": "mlp.gate_up_proj", "down": "mlp.down_proj"});
static const char kvs__names_phi[] = KVS__JSON({
    "prefix": ["model."], "embed": "embed_tokens", "norm": "final_layernorm", "head": "lm_head", "layers": "layers",
    "norm1": "input_layernorm", "qnorm": "self_attn.q_layernorm", "knorm": "self_attn.k_layernorm",
    "qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "o": "self_attn.dense",
    "up": "mlp.fc1", "down": "mlp.fc2"});
static const char kvs__names_neox[] = KVS__JSON({
    "prefix": ["gpt_neox."], "embed": "embed_in", "norm": "final_layer_norm", "head": "embed_out", "layers": "layers",
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
    "qkv": "attention.query_key_value", "o": "attention.dense",
    "up": "mlp.dense_h_to_4h", "down": "mlp.dense_4h_to_h"});
static const char kvs__names_gpt2[] = KVS__JSON({
    "prefix": ["transformer.", ""], "embed": "wte", "pos": "wpe", "norm": "ln_f", "head": "lm_head", "layers": "h",
    "norm1": "ln_1", "norm2": "ln_2", "qkv": "attn.c_attn", "o": "attn.c_proj",
    "up": "mlp.c_fc", "down": "mlp.c_proj"});
static const char kvs__names_opt[] = KVS__JSON({
    "prefix": ["model.decoder.", "decoder."], "embed": "embed_tokens", "pos": "embed_positions",
    "proj_in": "project_in", "proj_out": "project_out", "norm": "final_layer_norm", "head": "lm_head",
    "layers": "layers", "norm1": "self_attn_layer_norm", "norm2": "final_layer_norm",
    "qkv": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"], "o": "self_attn.out_proj",
    "up": "fc1", "down": "fc2"});
static const char kvs__names_falcon[] = KVS__JSON({
    "prefix": ["transformer."], "embed": "word_embeddings", "norm": "ln_f", "head": "lm_head", "layers": "h",
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm",
    "qkv": "self_attention.query_key_value", "o": "self_attention.dense",
    "up": "mlp.dense_h_to_4h", "down": "mlp.dense_4h_to_h"});
static const char kvs__names_falcon_40b[] = KVS__JSON({
    "prefix": ["transformer."], "embed": "word_embeddings", "norm": "ln_f", "head": "lm_head", "layers": "h",
    "norm1": "ln_attn", "norm2": "ln_mlp",
    "qkv": "self_attention.query_key_value", "o": "self_attention.dense",
    "up": "mlp.dense_h_to_4h", "down": "mlp.dense_4h_to_h"});
static const char kvs__names_mpt[] = KVS__JSON({
    "prefix": ["transformer."], "embed": "wte", "norm": "norm_f", "head": "lm_head", "layers": "blocks",
    "norm1": "norm_1", "norm2": "norm_2", "qkv": "attn.Wqkv", "o": "attn.out_proj",
    "up": "ffn.up_proj", "down": "ffn.down_proj"});

/* What forms of one family share. */
#define KVS__F_LLAMA      (KVS__F_RMS | KVS__F_GATED | KVS__F_NORMS)
#define KVS__F_STABLELM   (KVS__F_GATED | KVS__F_NORM_BIAS | KVS__F_NORM_LAST)
#define KVS__F_NEOX       (KVS__F_NORM_BIAS | KVS__F_NORMS | KVS__F_BIAS | KVS__F_GROUPS)
#define KVS__F_OPT        (KVS__F_NORM_BIAS | KVS__F_NORM2 | KVS__F_BIAS | KVS__F_LEARNED | KVS__F_TIED)
#define KVS__F_FALCON     (KVS__F_NORM_BIAS | KVS__F_NORM_LAST | KVS__F_TIED | KVS__F_ALIBI_SCALED)
#define KVS__F_FALCON_MAY (KVS__F_BIAS | KVS__F_TIED | KVS__F_ALIBI)
static const char kvs__stablelm_defaults[] = KVS__JSON({
    "hidden_act": "silu", "layer_norm_eps": 1e-5, "partial_rotary_factor": 0.25, "num_key_value_heads": 32});
static const char kvs__neox_defaults[] = KVS__JSON({"hidden_act": "gelu", "layer_norm_eps": 1e-5, "rotary_pct": 0.25});
static const char kvs__opt_defaults[] = KVS__JSON({"activation_function": "relu", "layer_norm_eps": 1e-5});
static const char kvs__falcon_defaults[] = KVS__JSON({
    "activation": "gelu", "layer_norm_epsilon": 1e-5, "max_position_embeddings": 2048,
    "new_decoder_architecture": false, "multi_query": true, "parallel_attn": true});

static const kvs__arch kvs__archs[] = {
    {"LlamaForCausalLM LLaMAForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_LLAMA, KVS__F_BIAS | KVS__F_TIED,
     KVS__JSON({"hidden_act": "silu", "rms_norm_eps": 1e-6}), kvs__names_llama},
    {"MistralForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_LLAMA | KVS__F_WINDOW, KVS__F_TIED,
     KVS__JSON({"hidden_act": "silu", "rms_norm_eps": 1e-6, "num_key_value_heads": 8, "sliding_window": 4096}),
     kvs__names_llama},
    {"Qwen2ForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_LLAMA | KVS__F_BIAS_QKV | KVS__F_WINDOW_OPT, KVS__F_TIED,
     KVS__JSON({"hidden_act": "silu", "rms_norm_eps": 1e-6, "num_key_value_heads": 32, "sliding_window": 4096,
                "max_window_layers": 28}), kvs__names_llama},
    {"Qwen3ForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_LLAMA | KVS__F_QK_NORM | KVS__F_WINDOW_OPT,
     KVS__F_BIAS_QKV | KVS__F_BIAS_O | KVS__F_TIED,
     KVS__JSON({"hidden_act": "silu", "rms_norm_eps": 1e-6, "num_key_value_heads": 32, "head_dim": 128,
                "sliding_window": 4096, "max_window_layers": 28}), kvs__names_llama},
    {"GemmaForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0,
     KVS__F_LLAMA | KVS__F_ADD1 | KVS__F_EMBED_SQRT | KVS__F_GELU_TANH | KVS__F_TIED,
     KVS__F_BIAS_QKV | KVS__F_BIAS_O | KVS__F_TIED,
     KVS__JSON({"hidden_act": "gelu_pytorch_tanh", "rms_norm_eps": 1e-6, "num_key_value_heads": 16, "head_dim": 256}),
     kvs__names_llama},
    {"Phi3ForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_LLAMA | KVS__F_WINDOW, KVS__F_TIED,
     KVS__JSON({"hidden_act": "silu", "rms_norm_eps": 1e-5}), kvs__names_phi3},
    {"PhiForCausalLM", NULL, KVS__FLOW_PARALLEL, 0,
     KVS__F_NORM_BIAS | KVS__F_NORM_LAST | KVS__F_BIAS | KVS__F_BIAS_HEAD, KVS__F_QK_NORM | KVS__F_TIED,
     KVS__JSON({"hidden_act": "gelu_new", "layer_norm_eps": 1e-5, "partial_rotary_factor": 0.5}), kvs__names_phi},
    {"StableLmForCausalLM", KVS__JSON({"use_parallel_residual": true}), KVS__FLOW_PARALLEL, 0, KVS__F_STABLELM,
     KVS__F_BIAS_QKV | KVS__F_TIED, kvs__stablelm_defaults, kvs__names_llama},
    {"StableLmForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_STABLELM | KVS__F_NORM2,
     KVS__F_BIAS_QKV | KVS__F_TIED, kvs__stablelm_defaults, kvs__names_llama},
    {"GPTNeoXForCausalLM", KVS__JSON({"use_parallel_residual": false}), KVS__FLOW_SEQUENTIAL, 0, KVS__F_NEOX,
     KVS__F_BIAS_QKV | KVS__F_BIAS_O | KVS__F_TIED, kvs__neox_defaults, kvs__names_neox},
    {"GPTNeoXForCausalLM", NULL, KVS__FLOW_PARALLEL, 0, KVS__F_NEOX,
     KVS__F_BIAS_QKV | KVS__F_BIAS_O | KVS__F_TIED, kvs__neox_defaults, kvs__names_neox},
    {"GPT2LMHeadModel", NULL, KVS__FLOW_SEQUENTIAL, 0,
     KVS__F_NORM_BIAS | KVS__F_NORMS | KVS__F_BIAS | KVS__F_LEARNED | KVS__F_CONV1D | KVS__F_TIED, KVS__F_TIED,
     KVS__JSON({"activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}), kvs__names_gpt2},
    {"OPTForCausalLM", KVS__JSON({"do_layer_norm_before": false}), KVS__FLOW_POSTNORM, 2, KVS__F_OPT,
     KVS__F_BIAS | KVS__F_TIED, kvs__opt_defaults, kvs__names_opt},
    {"OPTForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 2, KVS__F_OPT | KVS__F_NORM_LAST,
     KVS__F_BIAS | KVS__F_TIED, kvs__opt_defaults, kvs__names_opt},
    {"FalconForCausalLM",     /* 11b */
     KVS__JSON({"new_decoder_architecture": true, "parallel_attn": true, "num_ln_in_parallel_attn": 1}),
     KVS__FLOW_PARALLEL, 0, KVS__F_FALCON | KVS__F_GROUPS, KVS__F_FALCON_MAY, kvs__falcon_defaults, kvs__names_falcon},
    {"FalconForCausalLM", KVS__JSON({"new_decoder_architecture": true, "parallel_attn": true}),       /* 40b, 180b */
     KVS__FLOW_PARALLEL, 0, KVS__F_FALCON | KVS__F_GROUPS | KVS__F_NORM2, KVS__F_FALCON_MAY, kvs__falcon_defaults,
     kvs__names_falcon_40b},
    {"FalconForCausalLM",     /* 7b */
     KVS__JSON({"new_decoder_architecture": false, "multi_query": true, "parallel_attn": true}),
     KVS__FLOW_PARALLEL, 0, KVS__F_FALCON | KVS__F_MQA, KVS__F_FALCON_MAY, kvs__falcon_defaults, kvs__names_falcon},
    {"FalconForCausalLM",     /* rw-1b, rw-7b */
     KVS__JSON({"new_decoder_architecture": false, "multi_query": false, "parallel_attn": false}),
     KVS__FLOW_SEQUENTIAL, 0, KVS__F_FALCON | KVS__F_GROUPS | KVS__F_NORM2, KVS__F_FALCON_MAY, kvs__falcon_defaults,
     kvs__names_falcon},
    {"MptForCausalLM MPTForCausalLM", NULL, KVS__FLOW_SEQUENTIAL, 0, KVS__F_NORMS | KVS__F_ALIBI | KVS__F_TIED,
     KVS__F_TIED, KVS__JSON({"hidden_act": "gelu", "layer_norm_epsilon": 1e-5, "max_seq_len": 2048}), kvs__names_mpt}
};

/* Boolean keys and the flags they set or clear. What a row does not let them change they may only confirm. */
typedef struct kvs__bool_key { const char *key; uint32_t flags; } kvs__bool_key;
static const kvs__bool_key kvs__bool_keys[] = {
    {"attention_bias", KVS__F_BIAS_QKV | KVS__F_BIAS_O}, {"mlp_bias", KVS__F_BIAS_MLP},
    {"use_qkv_bias", KVS__F_BIAS_QKV}, {"enable_bias", KVS__F_BIAS}, {"bias", KVS__F_BIAS},
    {"qk_layernorm", KVS__F_QK_NORM}, {"tie_word_embeddings", KVS__F_TIED},
    {"alibi", KVS__F_ALIBI}, {"attn_config.alibi", KVS__F_ALIBI}
};

/* Keys that would change the maths, and the one value (or list of values) that does not. null is always allowed. */
static const char kvs__config_must[] = KVS__JSON({
    "quantization_config": null, "compression_config": null, "num_experts": 0, "num_local_experts": 0,
    "n_routed_experts": 0, "attention_multiplier": null, "residual_multiplier": 1, "embedding_multiplier": 1,
    "logits_scaling": 1, "logit_scale": null, "clip_qkv": null, "final_logit_softcapping": null,
    "attn_logit_softcapping": null, "query_pre_attn_scalar": null, "scale_attn_weights": true,
    "scale_attn_by_inverse_layer_idx": false, "scale_embedding": false, "add_cross_attention": false,
    "is_encoder_decoder": false, "layer_norm_elementwise_affine": true, "_remove_final_layer_norm": false,
    "apply_residual_connection_post_layernorm": false, "rope_interleaved": false, "use_logn_attn": false,
    "use_dynamic_ntk": false, "no_bias": true, "norm_type": ["layernorm", "low_precision_layernorm"],
    "embedding_fraction": 1, "ffn_config": null, "pruned_heads": {}, "layers_block_type": null, "kv_lora_rank": null,
    "attn_config.attn_type": "multihead_attention", "attn_config.qk_ln": false, "attn_config.qk_gn": false,
    "attn_config.prefix_lm": false, "attn_config.attn_uses_sequence_id": false, "attn_config.clip_qkv": null,
    "attn_config.rope": false, "attn_config.sliding_window_size": -1});

/* Keys that do not change what is computed here: training, bookkeeping, and what another part of the engine reads. */
static const char kvs__config_harmless[] =
    " _name_or_path architectures model_type auto_map torch_dtype dtype transformers_version use_cache"
    " cache_implementation initializer_range initializer_factor init_std init_config init_device verbose"
    " gradient_checkpointing attention_dropout hidden_dropout hidden_dropout_prob attention_probs_dropout_prob dropout"
    " activation_dropout layerdrop resid_pdrop embd_pdrop attn_pdrop emb_pdrop classifier_dropout"
    " classifier_dropout_prob attn_config.attn_pdrop attn_config.attn_impl attn_config.model_type"
    " attn_config.rope_theta attn_config.rope_impl attn_config.rope_dail_config attn_config.rope_hf_config"
    " learned_pos_emb rope_scaling.finetuned num_logits_to_keep mask_token_id pad_token_id sep_token_id unk_token_id"
    " cls_token_id decoder_start_token_id bos_token eos_token prefix pretraining_tp is_decoder is_llama_config"
    " ff_factor n_ctx original_max_position_embeddings rope_theta reorder_and_upcast_attn attn_implementation"
    " _attn_implementation _attn_implementation_autoset _flash_attn_2_enabled output_attentions output_hidden_states"
    " output_past return_dict use_return_dict torchscript use_bfloat16 tf_legacy_loss chunk_size_feed_forward"
    " finetuning_task problem_type num_labels _num_labels id2label label2id task_specific_params summary_activation"
    " summary_first_dropout summary_proj_to_labels summary_type summary_use_proj tokenizer_class tokenizer_name"
    " transformers.js_config max_sequence_length unsloth_version unsloth_fixed max_length min_length do_sample"
    " early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p typical_p repetition_penalty"
    " length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences"
    " output_scores return_dict_in_generate forced_bos_token_id forced_eos_token_id remove_invalid_values"
    " exponential_decay_length_penalty suppress_tokens begin_suppress_tokens tie_encoder_decoder"
    " cross_attention_hidden_size fp16 bf16 fp32 onnx_safe seq_length use_flash_attn ";

/* An unknown key with one of these in its name may change the maths: it is refused. Others are a warning. */
static const char *const kvs__config_suspect[] = {
    "scal", "mult", "cap", "clip", "expert", "moe", "router", "quant", "lora", "alibi", "rope", "rotary", "norm",
    "bias", "window", "sparse", "attn", "attention", "position", "logit", "layer", "head", "residual", "parallel",
    "mask", "mlp", "ffn", "compress", "share", "embed", "hidden", "act_fn", "activation", "theta", "ssm", "mamba"
};

/* ---- reading config.json ---- */

typedef struct kvs__cfg {
    kvs__model *m; kvs__err *e;
    const char *file;                        /* for messages */
    kvs__json json, defaults;                /* the file; the row's defaults, empty until the row is known */
    uint8_t *seen;                           /* [json.n_nodes]: this key was asked for */
} kvs__cfg;

typedef struct kvs__val { const kvs__json *j; const kvs__json_node *node; char key[64]; } kvs__val;  /* NULL: none */

/* Lists of words are separated by blanks. Copies the next word of one to out and returns what follows; NULL: none. */
static const char *kvs__word_next(const char *list, char out[64])
{
    list += strspn(list, " ");
    size_t n = strcspn(list, " ");
    if (!n) return NULL;
    snprintf(out, 64, "%.*s", (int)n, list);
    return list + n;
}
static int kvs__word_in(const char *list, const char *word)
{
    char w[64];
    while ((list = kvs__word_next(list, w)) != NULL) if (!strcmp(w, word)) return 1;
    return 0;
}

/* A value as text, for messages. */
static const char *kvs__node_str(const kvs__json *j, const kvs__json_node *n, char *buf, size_t cap)
{
    static const char *const word[] = {"null", "false", "true", "", "", "an array", "an object"};
    int64_t i;
    if (!kvs__json_int(n, &i)) snprintf(buf, cap, "%lld", (long long)i);
    else if (n->type == KVS__JSON_NUMBER) snprintf(buf, cap, "%g", kvs__json_num(n, 0));
    else if (n->type == KVS__JSON_STRING) snprintf(buf, cap, "\"%.60s\"", kvs__json_str(j, n, NULL));
    else snprintf(buf, cap, "%s", word[n->type]);
    return buf;
}

static int kvs__node_same(const kvs__json *ja, const kvs__json_node *a, const kvs__json *jb, const kvs__json_node *b)
{
    double x = kvs__json_num(a, 0), y = kvs__json_num(b, 0);
    if (a->type != b->type || x < y || x > y) return 0;
    if (a->type == KVS__JSON_STRING) return !strcmp(kvs__json_str(ja, a, NULL), kvs__json_str(jb, b, NULL));
    return !a->count && !b->count;           /* of containers only the empty ones */
}

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static kvs_result kvs__cfg_fail(const kvs__cfg *c, kvs_result res, const char *fmt, ...)
{
    char text[KVS_MAX_ERROR];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return kvs__fail(c->e, res, "%s: %.350s", c->file, text);
}

static kvs_result kvs__cfg_bad(const kvs__cfg *c, kvs_result res, const kvs__val *v, const char *expected)
{
    char got[96];
    if (!v->node) return kvs__cfg_fail(c, res, "\"%s\" is missing, expected %s", v->key, expected);
    return kvs__fail(c->e, res, "%s:%u: \"%s\" is %s, expected %s", c->file, (unsigned)v->node->line, v->key,
                     kvs__node_str(v->j, v->node, got, sizeof got), expected);
}

/* A line for the log: something in `file` was not used. There is room for about a hundred of them. */
static kvs_result kvs__model_warn(kvs__model *m, const char *file, const char *what, const char *name, kvs__err *e)
{
    char line[400];
    if (m->warnings.n > 16384) return KVS_OK;
    int n = snprintf(line, sizeof line, "%s: %s \"%.120s\" is unknown and was ignored\n", file, what, name);
    kvs__buf_put(&m->warnings, line, KVS__MIN((size_t)KVS__MAX(n, 0), sizeof line - 1));
    return m->warnings.oom ? kvs__fail(e, KVS_ERR_MEMORY, "%s: out of memory", file) : KVS_OK;
}

/* The member "key" of the file, or "parent.key". Marks what it finds as seen. */
static const kvs__json_node *kvs__cfg_member(kvs__cfg *c, const char *key)
{
    const kvs__json_node *parent = kvs__json_root(&c->json), *node;
    const char *dot = strchr(key, '.');
    if (dot) {
        char first[64];
        snprintf(first, sizeof first, "%.*s", (int)(dot - key), key);
        parent = kvs__json_get(&c->json, parent, first);
        if (parent && parent->type == KVS__JSON_OBJECT) c->seen[parent - c->json.node] = 1;
    }
    node = kvs__json_get(&c->json, parent, dot ? dot + 1 : key);
    if (node) c->seen[node - c->json.node] = 1;
    return node;
}

/* The value under any of the names `keys`, which must agree if the file uses several; else the row's default. out->key
   becomes the name in use, or the first one. Only a conflict fails. */
static kvs_result kvs__cfg_find(kvs__cfg *c, const char *keys, kvs__val *out)
{
    char key[64], text[96];
    int null = 0;
    memset(out, 0, sizeof *out);
    out->j = &c->json;
    for (const char *p = keys; (p = kvs__word_next(p, key)) != NULL;) {
        const kvs__json_node *node = kvs__cfg_member(c, key);
        if (!out->key[0]) memcpy(out->key, key, sizeof key);
        if (!node) continue;
        if (node->type == KVS__JSON_NULL) { null = 1; continue; }
        if (out->node && !kvs__node_same(out->j, out->node, &c->json, node))
            return kvs__cfg_fail(c, KVS_ERR_FORMAT, "\"%s\" and \"%s\" disagree: the second is %s", out->key, key,
                                 kvs__node_str(&c->json, node, text, sizeof text));
        memcpy(out->key, key, sizeof key);
        out->node = node;
    }
    if (out->node || null) return KVS_OK;
    for (const char *p = keys; !out->node && (p = kvs__word_next(p, key)) != NULL;)
        out->node = kvs__json_get(&c->defaults, kvs__json_root(&c->defaults), key);
    out->j = &c->defaults;
    return KVS_OK;
}

/* A key to read: its names, its type and range, and at which offset its value goes. Absent: what was there stays. */
typedef enum kvs__key_type { KVS__INT_REQUIRED, KVS__INT, KVS__DOUBLE, KVS__FLOAT, KVS__BOOL } kvs__key_type;
typedef struct kvs__cfg_key { const char *keys; kvs__key_type type; double lo, hi; size_t at; } kvs__cfg_key;

static kvs_result kvs__cfg_read_key(kvs__cfg *c, const kvs__cfg_key *k, char *base)
{
    kvs__val v;
    int64_t i = 0;
    char want[80];
    kvs_result res = kvs__cfg_find(c, k->keys, &v);
    if (res || (!v.node && k->type != KVS__INT_REQUIRED)) return res;
    int integer = k->type == KVS__INT_REQUIRED || k->type == KVS__INT, boolean = k->type == KVS__BOOL;
    double d = boolean ? kvs__json_bool(v.node, -1) : kvs__json_num(v.node, HUGE_VAL);
    if (!(d >= k->lo && d <= k->hi) || (integer && kvs__json_int(v.node, &i))) {
        snprintf(want, sizeof want, "%s from %.10g to %.10g", integer ? "an integer" : "a number", k->lo, k->hi);
        return kvs__cfg_bad(c, KVS_ERR_FORMAT, &v, boolean ? "true or false" : want);
    }
    int32_t i32 = integer ? (int32_t)i : boolean && d > 0;
    float f = (float)d;
    if (k->type == KVS__DOUBLE) memcpy(base + k->at, &d, sizeof d);
    else if (k->type == KVS__FLOAT) memcpy(base + k->at, &f, sizeof f);
    else memcpy(base + k->at, &i32, sizeof i32);
    return KVS_OK;
}

static kvs_result kvs__cfg_read_keys(kvs__cfg *c, const kvs__cfg_key *k, size_t n, void *base)
{
    kvs_result res = KVS_OK;
    for (size_t i = 0; i < n && !res; i++) res = kvs__cfg_read_key(c, &k[i], (char *)base);
    return res;
}

/* ---- which row ---- */

/* Makes the row's defaults the ones in use and tells whether its `when` holds. */
static kvs_result kvs__cfg_try_row(kvs__cfg *c, const kvs__arch *row, int *holds)
{
    kvs__json when;
    kvs__val v;
    kvs_result res;
    *holds = 1;
    memset(&when, 0, sizeof when);
    kvs__json_free(&c->defaults);
    res = kvs__json_parse(c->m->mem, row->defaults, strlen(row->defaults), row->name, &c->defaults, c->e);
    if (res || !row->when) return res;
    if ((res = kvs__json_parse(c->m->mem, row->when, strlen(row->when), row->name, &when, c->e))) return res;
    const kvs__json_node *n = kvs__json_first(&when, kvs__json_root(&when));
    for (; n && !res; n = kvs__json_next(&when, n)) {
        res = kvs__cfg_find(c, kvs__json_key(&when, n, NULL), &v);
        *holds &= !res && v.node && kvs__node_same(&when, n, v.j, v.node);
    }
    kvs__json_free(&when);
    return res;
}

static kvs_result kvs__cfg_no_row(const kvs__cfg *c, const char *name, int known)
{
    char list[320] = "";
    const char *last = "";
    size_t n = 0;
    if (known) return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "this form of %.80s is not implemented", name);
    for (size_t i = 0; i < KVS__COUNT(kvs__archs) && n < sizeof list; i++) {
        int again = !strcmp(kvs__archs[i].name, last);
        last = kvs__archs[i].name;
        if (!again) n += (size_t)snprintf(list + n, sizeof list - n, " %.*s", (int)strcspn(last, " "), last);
    }
    return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "architecture \"%.50s\" is not implemented, these are:%s", name, list);
}

/* Finds the row of the first architecture that has one. All its forms are tried: what they ask for counts as seen. */
static kvs_result kvs__cfg_row(kvs__cfg *c)
{
    const kvs__json_node *list = kvs__cfg_member(c, "architectures");
    const char *name = NULL;
    kvs_result res = KVS_OK;
    int known = 0, holds;
    if (list && list->type != KVS__JSON_ARRAY) list = NULL;
    for (const kvs__json_node *n = kvs__json_first(&c->json, list); n && !known; n = kvs__json_next(&c->json, n)) {
        const char *s = kvs__json_str(&c->json, n, NULL);
        if (s) name = s;
        for (size_t i = 0; s && i < KVS__COUNT(kvs__archs); i++) {
            if (!kvs__word_in(kvs__archs[i].name, s)) continue;
            known = 1;
            if ((res = kvs__cfg_try_row(c, &kvs__archs[i], &holds))) return res;
            if (holds && !c->m->row) c->m->row = &kvs__archs[i];
        }
    }
    if (!name) return kvs__cfg_fail(c, KVS_ERR_FORMAT, "expected \"architectures\" to be a list of names");
    if (!c->m->row) return kvs__cfg_no_row(c, name, known);
    snprintf(c->m->cfg.arch, sizeof c->m->cfg.arch, "%s", name);
    return kvs__cfg_try_row(c, c->m->row, &holds);
}

static kvs_result kvs__cfg_flags(kvs__cfg *c)
{
    kvs__model_config *g = &c->m->cfg;
    kvs__val v;
    kvs_result res;
    g->flags = c->m->row->flags;
    for (size_t i = 0; i < KVS__COUNT(kvs__bool_keys); i++) {
        uint32_t bits = kvs__bool_keys[i].flags;
        if ((res = kvs__cfg_find(c, kvs__bool_keys[i].key, &v))) return res;
        if (!v.node) continue;
        int on = kvs__json_bool(v.node, -1), may = !(bits & ~c->m->row->may);
        if (on < 0) return kvs__cfg_bad(c, KVS_ERR_FORMAT, &v, "true or false");
        if (may) g->flags = on ? g->flags | bits : g->flags & ~bits;
        else if (on != !!(g->flags & bits))
            return kvs__cfg_bad(c, KVS_ERR_UNSUPPORTED, &v, on ? "false for this family" : "true for this family");
    }
    return KVS_OK;
}

/* ---- values ---- */

static kvs_result kvs__cfg_sizes(kvs__cfg *c)
{
#define KVS__AT(field) offsetof(kvs__model_config, field)
    static const kvs__cfg_key keys[] = {
        {"hidden_size n_embd d_model n_embed", KVS__INT_REQUIRED, 1, 1 << 17, KVS__AT(D)},
        {"num_hidden_layers n_layer n_layers", KVS__INT_REQUIRED, 1, KVS__MAX_LAYERS, KVS__AT(L)},
        {"num_attention_heads n_head n_heads", KVS__INT_REQUIRED, 1, 4096, KVS__AT(H)},
        {"num_key_value_heads num_kv_heads n_head_kv", KVS__INT, 1, 4096, KVS__AT(HKV)},
        {"head_dim", KVS__INT, 1, 1024, KVS__AT(Dh)},
        {"vocab_size", KVS__INT_REQUIRED, 1, 1 << 22, KVS__AT(V)},
        {"max_position_embeddings n_positions max_seq_len", KVS__INT_REQUIRED, 1, 1 << 26, KVS__AT(max_pos)},
        {"word_embed_proj_dim", KVS__INT, 1, 1 << 17, KVS__AT(E)},
        {"expansion_ratio", KVS__INT, 1, 64, KVS__AT(F)}
    };
    static const kvs__cfg_key ffn =
        {"intermediate_size ffn_dim n_inner ffn_hidden_size", KVS__INT, 1, 1 << 20, KVS__AT(F)};
#undef KVS__AT
    kvs__model_config *g = &c->m->cfg;
    g->F = 4;
    kvs_result res = kvs__cfg_read_keys(c, keys, KVS__COUNT(keys), g);
    g->F *= g->D;
    if (!res) res = kvs__cfg_read_key(c, &ffn, (char *)g);
    if (res) return res;
    if (!g->HKV) g->HKV = g->H;
    if (g->flags & KVS__F_MQA) g->HKV = 1;
    if (!g->Dh && g->D % g->H)
        return kvs__cfg_fail(c, KVS_ERR_FORMAT, "hidden size %d is not a multiple of %d attention heads", (int)g->D,
                             (int)g->H);
    if (g->H % g->HKV)
        return kvs__cfg_fail(c, KVS_ERR_FORMAT, "%d attention heads are not a multiple of %d key/value heads",
                             (int)g->H, (int)g->HKV);
    if (!g->Dh) g->Dh = g->D / g->H;
    if (g->Dh > 1024)
        return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "heads are %d wide, expected at most 1024", (int)g->Dh);
    if (!g->E) g->E = g->D;
    if (g->E != g->D) g->flags |= KVS__F_PROJ;
    return KVS_OK;
}

static kvs_result kvs__cfg_act(kvs__cfg *c)
{
    static const struct { const char *name; kvs_act act; } acts[] = {
        {"silu", KVS_ACT_SILU}, {"swish", KVS_ACT_SILU}, {"gelu", KVS_ACT_GELU}, {"gelu_new", KVS_ACT_GELU_TANH},
        {"gelu_pytorch_tanh", KVS_ACT_GELU_TANH}, {"gelu_fast", KVS_ACT_GELU_TANH}, {"relu", KVS_ACT_RELU}
    };
    kvs__val v, old;
    kvs_result res;
    if ((res = kvs__cfg_find(c, "hidden_act activation_function activation", &old))) return res;
    if ((res = kvs__cfg_find(c, "hidden_activation", &v))) return res;      /* Gemma: the newer name wins */
    if (!v.node) v = old;
    const char *s = v.node ? kvs__json_str(v.j, v.node, NULL) : NULL;
    for (size_t i = 0; s && i < KVS__COUNT(acts); i++) {
        if (strcmp(s, acts[i].name)) continue;
        c->m->cfg.act = acts[i].act;
        if (acts[i].act == KVS_ACT_GELU && (c->m->cfg.flags & KVS__F_GELU_TANH)) c->m->cfg.act = KVS_ACT_GELU_TANH;
        return KVS_OK;
    }
    return kvs__cfg_bad(c, s ? KVS_ERR_UNSUPPORTED : KVS_ERR_FORMAT, &v,
                        "silu, gelu, gelu_new, gelu_pytorch_tanh, gelu_fast or relu");
}

/* Keys of rope stand in "rope_parameters" (transformers 5), in "rope_scaling", or beside it. */
#define KVS__ROPE_KEY(k) "rope_parameters." k " rope_scaling." k

static kvs_result kvs__cfg_rope_type(kvs__cfg *c, kvs__rope_type *out)
{
    static const char *const name[] = {"default", "linear", "llama3", "yarn", "dynamic"};
    kvs__val v;
    kvs_result res = kvs__cfg_find(c, KVS__ROPE_KEY("rope_type") " " KVS__ROPE_KEY("type"), &v);
    if (res || !v.node) return res;
    const char *s = kvs__json_str(v.j, v.node, NULL);
    for (int i = 0; s && i < (int)KVS__COUNT(name); i++)
        if (!strcmp(s, name[i])) { *out = (kvs__rope_type)i; return KVS_OK; }
    return kvs__cfg_bad(c, KVS_ERR_UNSUPPORTED, &v, "default, linear, llama3, yarn or dynamic");
}

static double kvs__rope_mscale(double factor, double mscale)
{
    return factor <= 1 ? 1 : 0.1 * mscale * log(factor) + 1;
}

static kvs_result kvs__cfg_rope(kvs__cfg *c)
{
#define KVS__AT(field) offsetof(kvs__rope, field)
    static const kvs__cfg_key keys[] = {
        {"rope_theta rotary_emb_base " KVS__ROPE_KEY("rope_theta"), KVS__DOUBLE, 1.001, 1e15, KVS__AT(theta)},
        {"partial_rotary_factor rotary_pct " KVS__ROPE_KEY("partial_rotary_factor"), KVS__DOUBLE, 0, 1,
         KVS__AT(partial)},
        {KVS__ROPE_KEY("factor"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(factor)},
        {KVS__ROPE_KEY("low_freq_factor"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(low_freq)},
        {KVS__ROPE_KEY("high_freq_factor"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(high_freq)},
        {KVS__ROPE_KEY("beta_fast"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(beta_fast)},
        {KVS__ROPE_KEY("beta_slow"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(beta_slow)},
        {KVS__ROPE_KEY("truncate"), KVS__BOOL, 0, 1, KVS__AT(truncate)},
        {KVS__ROPE_KEY("mscale"), KVS__DOUBLE, 0, 1e6, KVS__AT(mscale)},
        {KVS__ROPE_KEY("mscale_all_dim"), KVS__DOUBLE, 0, 1e6, KVS__AT(mscale_all)},
        {KVS__ROPE_KEY("attention_factor"), KVS__DOUBLE, 1e-6, 1e6, KVS__AT(attention_factor)},
        {KVS__ROPE_KEY("original_max_position_embeddings"), KVS__INT, 1, 1 << 26, KVS__AT(original_max)},
        {"rotary_dim", KVS__INT, 1, 1024, KVS__AT(dim)}
    };
#undef KVS__AT
    kvs__model_config *g = &c->m->cfg;
    kvs__rope *r = &g->rope;
    r->theta = 10000; r->factor = 1; r->partial = 1; r->original_max = g->max_pos;
    r->low_freq = 1; r->high_freq = 4; r->beta_fast = 32; r->beta_slow = 1; r->truncate = 1;
    kvs_result res = kvs__cfg_rope_type(c, &r->type);
    if (!res) res = kvs__cfg_read_keys(c, keys, KVS__COUNT(keys), r);
    if (res) return res;
    if (r->low_freq >= r->high_freq)
        return kvs__cfg_fail(c, KVS_ERR_FORMAT, "\"low_freq_factor\" %g is not below \"high_freq_factor\" %g",
                             r->low_freq, r->high_freq);
    if (r->type != KVS__ROPE_YARN) r->attention_factor = 1;
    else if (r->attention_factor <= 0) {
        int both = r->mscale > 0 && r->mscale_all > 0;
        r->attention_factor = kvs__rope_mscale(r->factor, both ? r->mscale : 1);
        if (both) r->attention_factor /= kvs__rope_mscale(r->factor, r->mscale_all);
    }
    if (!r->dim) r->dim = (int32_t)((double)g->Dh * r->partial);
    if (g->pos == KVS__POS_ROPE && (r->dim < 2 || r->dim % 2 || r->dim > g->Dh))
        return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "rope turns %d of %d elements of a head, expected an even number",
                             (int)r->dim, (int)g->Dh);
    return KVS_OK;
}

/* "layer_types", if given, says which layers have the window; else max_window_layers does, where a family knows it. */
static kvs_result kvs__cfg_window(kvs__cfg *c)
{
    struct window { int32_t width, use, full; } w = {0, 1, 0};
    static const kvs__cfg_key keys[] = {
        {"sliding_window", KVS__INT, 1, INT32_MAX, offsetof(struct window, width)},
        {"use_sliding_window", KVS__BOOL, 0, 1, offsetof(struct window, use)},
        {"max_window_layers", KVS__INT, 0, INT32_MAX, offsetof(struct window, full)}
    };
    kvs__model_config *g = &c->m->cfg;
    int has = !!(g->flags & (KVS__F_WINDOW | KVS__F_WINDOW_OPT)), opt = !!(g->flags & KVS__F_WINDOW_OPT);
    kvs__val types;
    kvs_result res = kvs__cfg_find(c, "layer_types", &types);
    w.use = !opt;
    if (!res) res = kvs__cfg_read_keys(c, keys, opt ? 3 : has ? 1 : 0, &w);
    if (res) return res;
    if (types.node && (types.node->type != KVS__JSON_ARRAY || types.node->count != (uint32_t)g->L))
        return kvs__cfg_bad(c, KVS_ERR_FORMAT, &types, "a list with one entry per layer");
    const kvs__json_node *n = kvs__json_first(types.j, types.node);
    for (int32_t l = 0; l < g->L; l++, n = kvs__json_next(types.j, n)) {
        const char *s = kvs__json_str(types.j, n, NULL);
        int slide = n ? s && !strcmp(s, "sliding_attention") : l >= w.full;
        if (n && ((!slide && (!s || strcmp(s, "full_attention"))) || (slide && !has)))
            return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "\"layer_types\": layer %d is \"%.60s\": not implemented",
                                 (int)l, s ? s : "(not a string)");
        g->window[l] = slide && w.use ? w.width : 0;
    }
    return KVS_OK;
}

static kvs_result kvs__cfg_maths(kvs__cfg *c)
{
    static const kvs__cfg_key keys[] = {
        {"attn_config.alibi_bias_max", KVS__DOUBLE, 1e-3, 1e3, offsetof(kvs__model_config, alibi_max)},
        {"attn_config.softmax_scale", KVS__FLOAT, 1e-6, 1e6, offsetof(kvs__model_config, attn_scale)}
    };
    static const kvs__cfg_key rms = {"rms_norm_eps", KVS__FLOAT, 0, 1, offsetof(kvs__model_config, eps)};
    static const kvs__cfg_key layer = {"layer_norm_eps layer_norm_epsilon", KVS__FLOAT, 0, 1,
                                       offsetof(kvs__model_config, eps)};
    kvs__model_config *g = &c->m->cfg;
    kvs_result res;
    g->flow = c->m->row->flow;
    g->gated = !!(g->flags & KVS__F_GATED);
    g->tied = !!(g->flags & KVS__F_TIED);
    g->norm = g->flags & KVS__F_RMS ? KVS_NORM_RMS : KVS_NORM_LAYER;
    g->pos = g->flags & KVS__F_ALIBI ? KVS__POS_ALIBI : g->flags & KVS__F_LEARNED ? KVS__POS_LEARNED : KVS__POS_ROPE;
    g->pos_offset = c->m->row->pos_offset;
    g->eps = -1; g->alibi_max = 8;
    g->alibi_scaled = !!(g->flags & KVS__F_ALIBI_SCALED);
    g->attn_scale = (float)(1 / sqrt((double)g->Dh));
    g->embed_scale = g->flags & KVS__F_EMBED_SQRT ? (float)sqrt((double)g->D) : 1;
    if ((res = kvs__cfg_read_keys(c, keys, KVS__COUNT(keys), g))) return res;
    if ((res = kvs__cfg_read_key(c, g->norm == KVS_NORM_RMS ? &rms : &layer, (char *)g))) return res;
    if (g->eps < 0) return kvs__cfg_fail(c, KVS_ERR_FORMAT, "the epsilon of the norms is missing");
    if ((res = kvs__cfg_act(c))) return res;
    if ((res = kvs__cfg_rope(c))) return res;
    return kvs__cfg_window(c);
}

/* ---- keys nobody asked for ---- */

/* Decides on one key, "key" or "parent.key": what it must be, harmless, a warning, or a refusal. */
static kvs_result kvs__cfg_leftover(kvs__cfg *c, const kvs__json *must, const kvs__json_node *node, const char *key)
{
    const kvs__json_node *want = kvs__json_get(must, kvs__json_root(must), key);
    char text[64];
    kvs__val v;
    if (node->type == KVS__JSON_NULL) return KVS_OK;
    if (want) {
        int list = want->type == KVS__JSON_ARRAY;
        const kvs__json_node *first = list ? kvs__json_first(must, want) : want;
        for (const kvs__json_node *w = first; w; w = list ? kvs__json_next(must, w) : NULL)
            if (kvs__node_same(must, w, &c->json, node)) return KVS_OK;
        v.j = &c->json; v.node = node;
        snprintf(v.key, sizeof v.key, "%s", key);
        return kvs__cfg_bad(c, KVS_ERR_UNSUPPORTED, &v, kvs__node_str(must, first, text, sizeof text));
    }
    if (node->type == KVS__JSON_FALSE || kvs__word_in(kvs__config_harmless, key)) return KVS_OK;
    for (size_t i = 0; i < KVS__COUNT(kvs__config_suspect); i++)
        if (strstr(key, kvs__config_suspect[i]))
            return kvs__cfg_fail(c, KVS_ERR_UNSUPPORTED, "\"%.120s\" is unknown, and may change the maths", key);
    return kvs__model_warn(c->m, c->file, "key", key, c->e);
}

/* Looks at every key that was not asked for, inside of the objects that were, too. */
static kvs_result kvs__cfg_leftovers(kvs__cfg *c)
{
    kvs__json must;
    memset(&must, 0, sizeof must);
    kvs_result res = kvs__json_parse(c->m->mem, kvs__config_must, strlen(kvs__config_must), "must", &must, c->e);
    const kvs__json_node *n = kvs__json_first(&c->json, kvs__json_root(&c->json));
    for (; n && !res; n = kvs__json_next(&c->json, n)) {
        char key[256];
        const char *parent = kvs__json_key(&c->json, n, NULL);
        int seen = c->seen[n - c->json.node];
        if (!seen) res = kvs__cfg_leftover(c, &must, n, parent);
        if (!seen || n->type != KVS__JSON_OBJECT) continue;
        for (const kvs__json_node *m = kvs__json_first(&c->json, n); m && !res; m = kvs__json_next(&c->json, m)) {
            snprintf(key, sizeof key, "%.40s.%.180s", parent, kvs__json_key(&c->json, m, NULL));
            if (!c->seen[m - c->json.node]) res = kvs__cfg_leftover(c, &must, m, key);
        }
    }
    kvs__json_free(&must);
    return res;
}

/* ---- the three files ---- */

/* Adds an id to the set that ends an answer; the engine calls it with what the tokenizer knows. Ids outside the
   vocabulary cannot be produced and are left out. -1: the set is full. */
static int kvs__model_add_eos(kvs__model *m, int64_t id)
{
    kvs__model_config *g = &m->cfg;
    int32_t i = 0;
    if (id < 0 || id >= g->V) return 0;
    while (i < g->n_eos && g->eos[i] < id) i++;
    if (i < g->n_eos && g->eos[i] == id) return 0;
    if (g->n_eos == KVS__MAX_EOS) return -1;
    memmove(g->eos + i + 1, g->eos + i, (size_t)(g->n_eos - i) * sizeof g->eos[0]);
    g->eos[i] = (int32_t)id;
    g->n_eos++;
    return 0;
}

/* "bos_token_id" and "eos_token_id" (one id or a list) of config.json or generation_config.json. */
static kvs_result kvs__cfg_special(kvs__cfg *c)
{
    kvs__val v;
    int64_t id;
    kvs_result res;
    if ((res = kvs__cfg_find(c, "bos_token_id", &v))) return res;
    if (v.node && kvs__json_int(v.node, &id)) return kvs__cfg_bad(c, KVS_ERR_FORMAT, &v, "an integer");
    if (v.node && id >= 0 && id < c->m->cfg.V) c->m->cfg.bos = (int32_t)id;
    if ((res = kvs__cfg_find(c, "eos_token_id", &v)) || !v.node) return res;
    int list = v.node->type == KVS__JSON_ARRAY;
    const kvs__json_node *n = list ? kvs__json_first(v.j, v.node) : v.node;
    for (; n; n = list ? kvs__json_next(v.j, n) : NULL) {
        if (kvs__json_int(n, &id)) return kvs__cfg_bad(c, KVS_ERR_FORMAT, &v, "an integer or a list of integers");
        if (kvs__model_add_eos(c->m, id)) return kvs__cfg_bad(c, KVS_ERR_UNSUPPORTED, &v, "at most 64 ids");
    }
    return KVS_OK;
}

static kvs_result kvs__cfg_model(kvs__cfg *c)
{
    kvs_result res = KVS_OK;
    const kvs__json_node *root = kvs__json_root(&c->json);
    const char *again = kvs__json_dup(&c->json, root);
    c->m->cfg.bos = -1;
    if (root->type != KVS__JSON_OBJECT) return kvs__cfg_fail(c, KVS_ERR_FORMAT, "expected an object");
    if (again) return kvs__cfg_fail(c, KVS_ERR_FORMAT, "\"%.100s\" is given twice", again);
    kvs_result (*const step[])(kvs__cfg *) = {kvs__cfg_row, kvs__cfg_flags, kvs__cfg_sizes, kvs__cfg_maths,
                                              kvs__cfg_special, kvs__cfg_leftovers};
    for (size_t i = 0; i < KVS__COUNT(step) && !res; i++) res = step[i](c);
    return res;
}

/* Sampling defaults. Without "do_sample": true the reference library decodes greedily, as a zeroed kvs_sampling does.
   Only keys that are there count: that library's own defaults (top_k 50) are not part of the model. */
static kvs_result kvs__cfg_generation(kvs__cfg *c)
{
    static const kvs__cfg_key keys[] = {
        {"temperature", KVS__FLOAT, 0, 1e3, offsetof(kvs_sampling, temperature)},
        {"top_p", KVS__FLOAT, 0, 1, offsetof(kvs_sampling, top_p)},
        {"min_p", KVS__FLOAT, 0, 1, offsetof(kvs_sampling, min_p)},
        {"top_k", KVS__INT, -1, INT32_MAX, offsetof(kvs_sampling, top_k)},
        {"repetition_penalty", KVS__FLOAT, 1e-3, 1e3, offsetof(kvs_sampling, repetition_penalty)},
        {"max_new_tokens", KVS__INT, 1, INT32_MAX, offsetof(kvs_sampling, max_tokens)}
    };
    static const kvs__cfg_key sample = {"do_sample", KVS__BOOL, 0, 1, 0};
    kvs_sampling *s = &c->m->cfg.sampling;
    int32_t on = 0;
    kvs_result res = kvs__cfg_special(c);
    s->temperature = 1;
    if (!res) res = kvs__cfg_read_keys(c, keys, KVS__COUNT(keys), s);
    if (!res) res = kvs__cfg_read_key(c, &sample, (char *)&on);
    if (!on) s->temperature = 0;
    return res;
}

/* Only the text of the EOS token: its id is the tokenizer's business. */
static kvs_result kvs__cfg_tokenizer(kvs__cfg *c)
{
    kvs__model_config *g = &c->m->cfg;
    const kvs__json_node *n = kvs__cfg_member(c, "eos_token");
    if (n && n->type == KVS__JSON_OBJECT) n = kvs__json_get(&c->json, n, "content");
    const char *s = kvs__json_str(&c->json, n, NULL);
    if (s && strlen(s) < sizeof g->eos_token) memcpy(g->eos_token, s, strlen(s) + 1);
    return KVS_OK;
}

#define KVS__CONFIG_MAX (32u << 20)

/* Parses a text and hands it to read. file: for messages. */
static kvs_result kvs__cfg_text(kvs__model *m, const char *text, size_t n, const char *file,
                                kvs_result (*read)(kvs__cfg *), kvs__err *e)
{
    kvs__cfg c;
    kvs_result res;
    memset(&c, 0, sizeof c);
    c.m = m; c.e = e; c.file = file;
    if (n > KVS__CONFIG_MAX)
        return kvs__cfg_fail(&c, KVS_ERR_FORMAT, "%zu bytes, expected at most %u", n, KVS__CONFIG_MAX);
    if ((res = kvs__json_parse(m->mem, text, n, file, &c.json, e))) return res;
    c.seen = (uint8_t *)kvs__alloc(m->mem, c.json.n_nodes, 1);
    res = c.seen ? read(&c) : kvs__cfg_fail(&c, KVS_ERR_MEMORY, "out of memory");
    kvs__free(m->mem, c.seen);
    kvs__json_free(&c.json);
    kvs__json_free(&c.defaults);
    return res;
}

/* The same with the file dir/name. optional: it may be absent. */
static kvs_result kvs__cfg_file(kvs__model *m, const char *dir, const char *name, int optional,
                                kvs_result (*read)(kvs__cfg *), kvs__err *e)
{
    char path[4096];
    kvs__map map;
    kvs_result res;
    if (kvs__path_join(path, sizeof path, dir, name))
        return kvs__fail(e, KVS_ERR_INVALID, "%.100s...: the path is too long", dir);
    if (optional && !kvs__file_exists(path)) return KVS_OK;
    if ((res = kvs__map_open(path, &map, e))) return res;
    res = kvs__cfg_text(m, map.p, map.n, kvs__st_tail(path), read, e);
    kvs__map_close(&map);
    return res;
}

/* ---- tables of positions ---- */

/* inv_freq in the arithmetic of the reference library: float32, but the bounds of the ramps are doubles. */
static void kvs__rope_inv_freq(const kvs__rope *r, float *inv)
{
    double span = 2 * log(r->theta), two_pi = 2 * 3.14159265358979323846, orig = (double)r->original_max;
    double low = (double)r->dim * log(orig / (r->beta_fast * two_pi)) / span;
    double high = (double)r->dim * log(orig / (r->beta_slow * two_pi)) / span;
    float f = (float)r->factor;
    if (r->truncate) { low = floor(low); high = ceil(high); }
    low = KVS__MAX(low, 0); high = KVS__MIN(high, (double)(r->dim - 1));
    if (!(low < high) && !(low > high)) high += 0.001;
    for (int32_t i = 0; i < r->dim / 2; i++) {
        float wave_len, s, ramp;
        float power = (float)pow((double)(float)r->theta, (double)((float)(2 * i) / (float)r->dim));
        float x = 1.0f / power;
        switch (r->type) {
            case KVS__ROPE_LINEAR: x = x / f; break;
            case KVS__ROPE_LLAMA3:
                wave_len = (float)two_pi / x;
                s = ((float)orig / wave_len - (float)r->low_freq) / (float)(r->high_freq - r->low_freq);
                if (wave_len > (float)(orig / r->low_freq)) x = x / f;
                else if (!(wave_len < (float)(orig / r->high_freq))) x = (1.0f - s) * x / f + s * x;
                break;
            case KVS__ROPE_YARN:
                ramp = ((float)i - (float)low) / (float)(high - low);
                ramp = 1.0f - KVS__MIN(KVS__MAX(ramp, 0.0f), 1.0f);
                x = 1.0f / (f * power) * (1.0f - ramp) + x * ramp;
                break;
            case KVS__ROPE_DEFAULT: case KVS__ROPE_DYNAMIC: default: break;   /* dynamic: the same up to max_pos */
        }
        inv[i] = x;
    }
}

/* out [max_len][2][dim/2]: cos then sin of pos * inv_freq, for kvs_rope_args.table. The angle is a float32 product, as
   in the reference library: its rounding at large positions is part of what models were trained with. */
static void kvs__model_rope_table(const kvs__model_config *g, int32_t max_len, float *out)
{
    float inv[512];                                  /* Dh <= 1024 */
    int32_t half = g->rope.dim / 2;
    float scale = (float)g->rope.attention_factor;
    kvs__rope_inv_freq(&g->rope, inv);
    for (int32_t p = 0; p < max_len; p++, out += 2 * half)
        for (int32_t i = 0; i < half; i++) {
            float angle = (float)p * inv[i];
            out[i] = (float)cos((double)angle) * scale;
            out[half + i] = (float)sin((double)angle) * scale;
        }
}

/* out [H]: slopes for kvs_attention_args.alibi (Press et al. 2021). With n = the largest power of two <= H, head i < n
   has 2^(-max (i+1) / n); the rest take every other one of 2n finer steps. A bias inside the scale is scaled here. */
static void kvs__model_alibi(const kvs__model_config *g, float *out)
{
    int32_t n = 1;
    while (2 * n <= g->H) n *= 2;
    for (int32_t i = 0; i < g->H; i++) {
        double step = i < n ? (double)(i + 1) / n : (double)(2 * (i - n) + 1) / (2 * n);
        out[i] = (float)pow(2, -g->alibi_max * step);
        if (g->alibi_scaled) out[i] *= g->attn_scale;
    }
}

/* ---- binding: which tensor is which ---- */

typedef struct kvs__slot { const char *role, *suffix; int vector; uint32_t needs; } kvs__slot;   /* needs: flags */

static const kvs__slot kvs__global_slots[KVS__G_COUNT] = {
    {"embed", ".weight", 0, 0},                 {"pos", ".weight", 0, KVS__F_LEARNED},
    {"proj_in", ".weight", 0, KVS__F_PROJ},     {"proj_out", ".weight", 0, KVS__F_PROJ},
    {"norm", ".weight", 1, KVS__F_NORM_LAST},   {"norm", ".bias", 1, KVS__F_NORM_LAST | KVS__F_NORM_BIAS},
    {"head", ".weight", 0, 0},                  {"head", ".bias", 1, KVS__F_BIAS_HEAD}
};
static const kvs__slot kvs__layer_slots[KVS__W_COUNT] = {
    {"norm1", ".weight", 1, 0},                 {"norm1", ".bias", 1, KVS__F_NORM_BIAS},
    {"norm2", ".weight", 1, KVS__F_NORM2},      {"norm2", ".bias", 1, KVS__F_NORM2 | KVS__F_NORM_BIAS},
    {"qnorm", ".weight", 1, KVS__F_QK_NORM},    {"qnorm", ".bias", 1, KVS__F_QK_NORM | KVS__F_NORM_BIAS},
    {"knorm", ".weight", 1, KVS__F_QK_NORM},    {"knorm", ".bias", 1, KVS__F_QK_NORM | KVS__F_NORM_BIAS},
    {"qkv", ".weight", 0, 0},                   {"qkv", ".bias", 1, KVS__F_BIAS_QKV},
    {"o", ".weight", 0, 0},                     {"o", ".bias", 1, KVS__F_BIAS_O},
    {"up", ".weight", 0, 0},                    {"up", ".bias", 1, KVS__F_BIAS_MLP},
    {"down", ".weight", 0, 0},                  {"down", ".bias", 1, KVS__F_BIAS_MLP}
};

typedef struct kvs__binder {
    kvs__model *m; kvs__err *e;
    kvs__json names;
    const char *prefix, *layers;
    uint8_t *used;                            /* [tensors of the file] */
} kvs__binder;

static const char *kvs__bind_role(const kvs__binder *b, const char *role, uint32_t i, uint32_t *count)
{
    const kvs__json_node *n = kvs__json_get(&b->names, kvs__json_root(&b->names), role);
    int list = n && n->type == KVS__JSON_ARRAY;
    *count = !n ? 0 : list ? n->count : 1;
    if (list) for (n = kvs__json_first(&b->names, n); n && i; i--) n = kvs__json_next(&b->names, n);
    return kvs__json_str(&b->names, n, NULL);
}

/* Rows and columns of a slot. */
static void kvs__slot_size(const kvs__model_config *g, int layer, int slot, int32_t *n, int32_t *k)
{
    int32_t qkv = (g->H + 2 * g->HKV) * g->Dh, up = (g->gated ? 2 : 1) * g->F;
    *n = 1; *k = g->D;
    if (!layer) switch (slot) {
        case KVS__G_EMBED: case KVS__G_HEAD: *n = g->V; *k = g->E; break;
        case KVS__G_POS: *n = g->max_pos + g->pos_offset; break;
        case KVS__G_PROJ_IN: *n = g->D; *k = g->E; break;
        case KVS__G_PROJ_OUT: *n = g->E; break;
        case KVS__G_HEAD_B: *k = g->V; break;
        default: break;
    } else switch (slot) {
        case KVS__W_QNORM: case KVS__W_QNORM_B: case KVS__W_KNORM: case KVS__W_KNORM_B: *k = g->Dh; break;
        case KVS__W_QKV: *n = qkv; break;
        case KVS__W_QKV_B: *k = qkv; break;
        case KVS__W_O: *n = g->D; *k = g->H * g->Dh; break;
        case KVS__W_UP: *n = up; break;
        case KVS__W_UP_B: *k = up; break;
        case KVS__W_DOWN: *n = g->D; *k = g->F; break;
        default: break;
    }
}

/* The tensor `name`, which must be there with these dimensions (cols 0: one dimension) and a float dtype. */
static kvs_result kvs__bind_tensor(kvs__binder *b, const char *name, int64_t rows, int64_t cols, const kvs_tensor **out)
{
    const kvs_tensor *t = kvs__st_find(b->m->st, name);
    const int64_t want[2] = {rows, cols};
    int32_t rank = cols ? 2 : 1;
    char expected[64], got[192];
    kvs__st_shape_str(want, rank, expected, sizeof expected);
    if (!t)
        return kvs__fail(b->e, KVS_ERR_MISMATCH, "tensor \"%.150s\" is missing, expected %s for %s", name, expected,
                         b->m->cfg.arch);
    if (t->rank != rank || t->shape[0] != rows || (cols && t->shape[1] != cols))
        return kvs__fail(b->e, KVS_ERR_MISMATCH, "%s: tensor \"%.150s\" is %s, expected %s", kvs__st_tail(t->file),
                         name, kvs__st_shape_str(t->shape, t->rank, got, sizeof got), expected);
    if (t->dtype == KVS_AUTO)
        return kvs__fail(b->e, KVS_ERR_UNSUPPORTED, "%s: tensor \"%.150s\" has dtype %s, expected F32, F16 or BF16",
                         kvs__st_tail(t->file), name, kvs__st_type_name(t));
    b->used[t - b->m->st->tensor] = 1;
    *out = t;
    return KVS_OK;
}

/* KVS_LOAD_DUMMY: a tensor of these dimensions, without a file. Its data is random and shared with all others: enough to measure with. */
static const kvs_tensor *kvs__bind_dummy(kvs__binder *b, int64_t rows, int64_t cols)
{
    kvs_tensor *t = &b->m->dummy[b->m->n_dummy++];
    t->name = "(random)"; t->file = "(none)";
    t->dtype = b->m->dtype; t->rank = cols ? 2 : 1; t->shape[0] = rows; t->shape[1] = cols;
    t->data = b->m->copy[0]; t->bytes = (uint64_t)rows * (uint64_t)KVS__MAX(cols, 1) * kvs__dtype_size(t->dtype);
    return t;
}

/* Random numbers for the largest tensor there is: uniform, with the deviation of 0.02 that models start their training with. */
static kvs_result kvs__bind_dummy_data(kvs__binder *b, kvs_dtype dtype)
{
    kvs__model *m = b->m;
    uint64_t most = 0, x = 1;
    void *array = NULL;
    for (int i = 0; i < KVS__G_COUNT + KVS__W_COUNT; i++) {
        int32_t n, k;
        kvs__slot_size(&m->cfg, i >= KVS__G_COUNT, i >= KVS__G_COUNT ? i - KVS__G_COUNT : i, &n, &k);
        most = KVS__MAX(most, (uint64_t)n * (uint64_t)k);
    }
    m->dtype = dtype == KVS_AUTO ? KVS_BF16 : dtype;
    m->dummy = (kvs_tensor *)kvs__alloc(m->mem, 3 * m->n_w, sizeof *m->dummy);
    uint16_t *p = (uint16_t *)kvs__alloc_raw(m->mem, (size_t)most, kvs__dtype_size(m->dtype));
    if (!m->dummy || !p || kvs__grow(m->mem, &array, &m->cap_copy, 1, sizeof(void *))) {
        kvs__free(m->mem, p);
        return kvs__fail(b->e, KVS_ERR_MEMORY, "out of memory for %llu random weights", (unsigned long long)most);
    }
    m->copy = (void **)array;
    m->copy[m->n_copy++] = p;
    for (uint64_t i = 0; i < most; i++) {
        x = x * 6364136223846793005ull + 1442695040888963407ull;
        float f = ((float)(x >> 40) / 16777216.0f - 0.5f) * 0.07f;
        if (m->dtype == KVS_F32) memcpy((float *)(void *)p + i, &f, 4);
        else p[i] = m->dtype == KVS_BF16 ? kvs__f32_bf16(f) : kvs__f32_f16(f);
    }
    return KVS_OK;
}

/* Where the elements are. A file need not align them: what is not aligned is copied, and the model owns the copy. */
static const void *kvs__bind_data(kvs__model *m, const kvs_tensor *t)
{
    void *array = m->copy, *p = NULL;
    if ((uintptr_t)t->data % kvs__dtype_size(t->dtype) == 0) return t->data;
    if (kvs__grow(m->mem, &array, &m->cap_copy, m->n_copy + 1, sizeof(void *))) return NULL;
    m->copy = (void **)array;
    p = kvs__alloc(m->mem, (size_t)t->bytes, 1);
    if (!p) return NULL;
    memcpy(p, t->data, (size_t)t->bytes);
    m->copy[m->n_copy++] = p;
    return p;
}

/* Rows of part i: three parts are q, k, v; two are halves. */
static int32_t kvs__part_rows(const kvs__model_config *g, int32_t total, uint32_t parts, uint32_t i)
{
    if (parts == 3) return (i ? g->HKV : g->H) * g->Dh;
    return total / (int32_t)parts;
}

/* Appends a part of `rows` rows to w. transposed: the file holds [k, rows]. */
static kvs_result kvs__bind_part(kvs__binder *b, kvs__weight *w, const char *name, int32_t rows, int transposed,
                                 const int32_t *map)
{
    kvs_weight_part *p = &w->part[w->desc.n_parts];
    const kvs_tensor *t = NULL;
    int vector = w->desc.kind == KVS_WEIGHT_VECTOR;
    int64_t cols = vector ? 0 : w->desc.k;
    kvs_result res = KVS_OK;
    if (b->m->dummy) t = kvs__bind_dummy(b, rows, cols);
    else res = kvs__bind_tensor(b, name, transposed ? cols : rows, transposed ? rows : cols, &t);
    if (res) return res;
    p->data = kvs__bind_data(b->m, t);
    if (!p->data) return kvs__fail(b->e, KVS_ERR_MEMORY, "tensor \"%.200s\": out of memory", name);
    p->dtype = t->dtype;
    p->rows = rows;
    p->row_stride = vector || transposed ? 1 : cols;
    p->col_stride = transposed ? rows : 1;
    p->row_map = map;
    w->tensor[w->desc.n_parts++] = t;
    return KVS_OK;
}

/* Fills one slot, or leaves it empty if the model has no such weight. layer < 0: a global one. */
static kvs_result kvs__bind_slot(kvs__binder *b, int32_t layer, int slot)
{
    const kvs__model_config *g = &b->m->cfg;
    int global = layer < 0, tied = global && slot == KVS__G_HEAD && g->tied;
    const kvs__slot *s = global ? &kvs__global_slots[slot] : &kvs__layer_slots[slot];
    const char *role = tied ? "embed" : s->role, *prefix = strcmp(role, "head") ? b->prefix : "";
    int transposed = !global && !s->vector && (g->flags & KVS__F_CONV1D);
    kvs__weight *w = &b->m->w[kvs__model_at(layer, slot)];
    uint32_t parts;
    kvs_result res = KVS_OK;
    char name[256];
    kvs__bind_role(b, role, 0, &parts);
    if (!parts || (g->flags & s->needs) != s->needs) return KVS_OK;
    w->desc.kind = s->vector ? KVS_WEIGHT_VECTOR : KVS_WEIGHT_LINEAR;
    if (global && (slot == KVS__G_EMBED || slot == KVS__G_POS)) w->desc.kind = KVS_WEIGHT_ROWS;
    w->desc.dtype = KVS_F32;                 /* of matrices: decided at the end, by kvs__bind_dtype */
    w->desc.parts = w->part;
    if ((g->flags & KVS__F_ADD1) && strstr(role, "norm")) w->desc.add = 1;
    kvs__slot_size(g, !global, slot, &w->desc.n, &w->desc.k);
    for (uint32_t i = 0; i < parts && !res; i++) {
        const char *module = kvs__bind_role(b, role, i, &parts);
        int32_t rows = kvs__part_rows(g, s->vector ? w->desc.k : w->desc.n, parts, i);
        if (global) snprintf(name, sizeof name, "%s%s%s", prefix, module, s->suffix);
        else snprintf(name, sizeof name, "%s%s.%d.%s%s", prefix, b->layers, (int)layer, module, s->suffix);
        res = kvs__bind_part(b, w, name, rows, transposed, strcmp(role, "qkv") ? NULL : b->m->qkv_map);
    }
    return res;
}

/* QKV rows by KV head: the q heads that read it, its k, its v. map[r] = where canonical row r is in the file. */
static kvs_result kvs__bind_qkv_map(kvs__binder *b)
{
    const kvs__model_config *g = &b->m->cfg;
    int32_t heads = g->H + 2 * g->HKV, per = g->H / g->HKV;
    if (!(g->flags & KVS__F_GROUPS)) return KVS_OK;
    int32_t *map = (int32_t *)kvs__alloc(b->m->mem, (size_t)heads * (size_t)g->Dh, sizeof *map);
    if (!map) return kvs__fail(b->e, KVS_ERR_MEMORY, "out of memory");
    b->m->qkv_map = map;
    for (int32_t h = 0; h < heads; h++) {
        int32_t kv = (h - g->H) % g->HKV, part = (h - g->H) / g->HKV;      /* of a k or v head: its group, 0 or 1 */
        int32_t from = h < g->H ? h / per * (per + 2) + h % per : kv * (per + 2) + per + part;
        for (int32_t i = 0; i < g->Dh; i++) *map++ = from * g->Dh + i;
    }
    return KVS_OK;
}

/* A tensor nobody asked for. Buffers of old checkpoints and a stale head are fine; others among the model's own names
   would take part in the computation; what is outside is a warning. */
static kvs_result kvs__bind_unused(kvs__binder *b, const kvs_tensor *t)
{
    static const char *const buffer[] = {".rotary_emb.inv_freq", ".attn.masked_bias", ".attention.masked_bias",
                                         ".attn.bias", ".attention.bias"};
    char head[64], layer[64];
    uint32_t n;
    for (size_t i = 0; i < KVS__COUNT(buffer); i++)
        if (kvs__st_ends_with(t->name, buffer[i]) && (i < 3 || t->rank == 4)) return KVS_OK;   /* the last two: masks */
    snprintf(head, sizeof head, "%s.", kvs__bind_role(b, "head", 0, &n));
    snprintf(layer, sizeof layer, "%s%s.", b->prefix, b->layers);
    int is_head = !strncmp(t->name, head, strlen(head)), is_layer = !strncmp(t->name, layer, strlen(layer));
    int is_inside = *b->prefix && !strncmp(t->name, b->prefix, strlen(b->prefix));
    if (is_head && b->m->cfg.tied) return KVS_OK;
    if (is_head || is_layer || is_inside)
        return kvs__fail(b->e, KVS_ERR_MISMATCH, "%s: tensor \"%.150s\" has no place in the %s of this config.json",
                         kvs__st_tail(t->file), t->name, b->m->cfg.arch);
    return kvs__model_warn(b->m, kvs__st_tail(t->file), "tensor", t->name, b->e);
}

/* The first prefix under which the embedding is found; else the first one, which the message about it then names. */
static void kvs__bind_prefix(kvs__binder *b)
{
    uint32_t n = 1, one;
    char name[256];
    b->layers = kvs__bind_role(b, "layers", 0, &one);
    b->prefix = kvs__bind_role(b, "prefix", 0, &n);
    for (uint32_t i = 0; b->m->st && i < n; i++) {
        const char *prefix = kvs__bind_role(b, "prefix", i, &n);
        snprintf(name, sizeof name, "%s%s.weight", prefix, kvs__bind_role(b, "embed", 0, &one));
        if (kvs__st_find(b->m->st, name)) { b->prefix = prefix; return; }
    }
}

/* dtype AUTO: that of most elements of matrices. Then it is one for all of them; pack converts the others. */
static void kvs__bind_dtype(kvs__model *m, kvs_dtype wanted)
{
    uint64_t count[KVS_INT8 + 1] = {0};
    kvs_dtype best = KVS_F32;
    for (size_t i = 0; i < m->n_w; i++) {
        const kvs__weight *w = &m->w[i];
        int again = i == KVS__G_HEAD && m->cfg.tied;
        for (int32_t p = 0; p < w->desc.n_parts && !again; p++) {
            uint64_t n = w->tensor[p]->bytes / kvs__dtype_size(w->part[p].dtype);
            m->n_params += n;
            if (w->desc.kind != KVS_WEIGHT_VECTOR) count[w->part[p].dtype] += n;
        }
    }
    for (int d = KVS_F32; d <= KVS_BF16; d++) if (count[d] > count[best]) best = (kvs_dtype)d;
    m->dtype = wanted == KVS_AUTO ? best : wanted;
    for (size_t i = 0; i < m->n_w; i++) if (m->w[i].desc.kind != KVS_WEIGHT_VECTOR) m->w[i].desc.dtype = m->dtype;
    if (m->dtype == KVS_BF16 && (m->cfg.flags & KVS__F_EMBED_SQRT))
        m->cfg.embed_scale = kvs__bf16_f32(kvs__f32_bf16(m->cfg.embed_scale));
}

/* m->st NULL: dummy weights. */
static kvs_result kvs__bind_all(kvs__binder *b, kvs_dtype dtype)
{
    kvs__model *m = b->m;
    kvs_result res = kvs__json_parse(m->mem, m->row->names, strlen(m->row->names), m->row->name, &b->names, b->e);
    size_t n_tensors = m->st ? m->st->n : 0;
    m->n_w = kvs__model_at(m->cfg.L, 0);
    m->w = (kvs__weight *)kvs__alloc(m->mem, m->n_w, sizeof *m->w);
    b->used = (uint8_t *)kvs__alloc(m->mem, n_tensors, 1);
    if (!res && (!m->w || !b->used)) res = kvs__fail(b->e, KVS_ERR_MEMORY, "out of memory");
    if (!res && !m->st) res = kvs__bind_dummy_data(b, dtype);
    if (!res) res = kvs__bind_qkv_map(b);
    if (!res) kvs__bind_prefix(b);
    for (int s = 0; s < KVS__G_COUNT && !res; s++) res = kvs__bind_slot(b, -1, s);
    for (int32_t l = 0; l < m->cfg.L && !res; l++)
        for (int s = 0; s < KVS__W_COUNT && !res; s++) res = kvs__bind_slot(b, l, s);
    for (size_t i = 0; i < n_tensors && !res; i++)
        if (!b->used[i]) res = kvs__bind_unused(b, &m->st->tensor[i]);
    return res;
}

static kvs_result kvs__model_bind(kvs__model *m, kvs_dtype dtype, kvs__err *e)
{
    kvs__binder b;
    memset(&b, 0, sizeof b);
    b.m = m; b.e = e;
    kvs_result res = kvs__bind_all(&b, dtype);
    kvs__free(m->mem, b.used);
    kvs__json_free(&b.names);
    if (!res) kvs__bind_dtype(m, dtype);
    return res;
}

/* ---- values ---- */

/* The first of n elements whose magnitude, read as an integer, is not below limit; n if there is none. A block is first
   searched without leaving the loop, which the compiler can vectorise. */
static uint64_t kvs__first_above(const void *data, kvs_dtype dtype, uint64_t n, uint32_t limit)
{
    const uint32_t *x32 = (const uint32_t *)data;
    const uint16_t *x16 = (const uint16_t *)data;
    for (uint64_t at = 0; at < n; at += 4096) {
        uint64_t end = KVS__MIN(n, at + 4096);
        uint32_t bad = 0;
        if (dtype == KVS_F32) for (uint64_t i = at; i < end; i++) bad |= (x32[i] & 0x7fffffffu) >= limit;
        else for (uint64_t i = at; i < end; i++) bad |= (x16[i] & 0x7fffu) >= limit;
        for (uint64_t i = at; bad && i < end; i++)
            if ((dtype == KVS_F32 ? x32[i] & 0x7fffffffu : x16[i] & 0x7fffu) >= limit) return i;
    }
    return n;
}

/* The magnitude, as an integer, from which on an element is not finite or becomes infinite as f16 (65520 and more). */
static uint32_t kvs__finite_limit(kvs_dtype from, int to_f16)
{
    if (from == KVS_F16) return 0x7c00u;
    if (from == KVS_BF16) return to_f16 ? 0x4780u : 0x7f80u;
    return to_f16 ? 0x477ff000u : 0x7f800000u;
}

/* No element of a slot may be NaN or infinite, nor become so in the dtype wanted in memory. */
static kvs_result kvs__model_check_finite(const kvs__weight *w, kvs__err *e)
{
    int to_f16 = w->desc.dtype == KVS_F16;
    for (int32_t i = 0; i < w->desc.n_parts; i++) {
        const kvs_weight_part *p = &w->part[i];
        uint64_t n = w->tensor[i]->bytes / kvs__dtype_size(p->dtype);
        uint64_t bad = kvs__first_above(p->data, p->dtype, n, kvs__finite_limit(p->dtype, to_f16));
        if (bad < n)
            return kvs__fail(e, KVS_ERR_FORMAT, "%s: tensor \"%.150s\": element %llu is not finite%s",
                             kvs__st_tail(w->tensor[i]->file), w->tensor[i]->name, (unsigned long long)bad,
                             to_f16 ? " as f16" : "");
    }
    return KVS_OK;
}

/* ---- open and close ---- */

static void kvs__model_close(kvs__model *m)
{
    if (!m->mem) return;
    for (size_t i = 0; i < m->n_copy; i++) kvs__free(m->mem, m->copy[i]);
    kvs__free(m->mem, m->copy);
    kvs__free(m->mem, m->dummy);
    kvs__free(m->mem, m->qkv_map);
    kvs__free(m->mem, m->w);
    kvs__buf_free(&m->warnings);
    kvs__st_close(m->st);
    memset(m, 0, sizeof *m);
}

/* Reads config.json, generation_config.json and tokenizer_config.json, maps the tensors and binds them. On failure
   nothing is held. */
static kvs_result kvs__model_open_as(kvs__mem *mem, const char *dir, kvs_load_format load, kvs_dtype dtype, kvs__model *out, kvs__err *e)
{
    kvs_result res;
    memset(out, 0, sizeof *out);
    out->mem = out->warnings.mem = mem;
    if (dtype > KVS_BF16)
        res = kvs__fail(e, KVS_ERR_INVALID, "dtype %s, expected auto, f32, f16 or bf16", kvs__dtype_name(dtype));
    else if (!kvs__dir_exists(dir)) res = kvs__fail(e, KVS_ERR_IO, "%.200s: not a folder", dir);
    else res = kvs__cfg_file(out, dir, "config.json", 0, kvs__cfg_model, e);
    if (!res) res = kvs__cfg_file(out, dir, "generation_config.json", 1, kvs__cfg_generation, e);
    if (!res) res = kvs__cfg_file(out, dir, "tokenizer_config.json", 1, kvs__cfg_tokenizer, e);
    if (!res && load != KVS_LOAD_DUMMY) res = kvs__st_open(mem, dir, &out->st, e);
    if (!res) res = kvs__model_bind(out, dtype, e);
    if (res) kvs__model_close(out);
    return res;
}

static kvs_result kvs__model_open(kvs__mem *mem, const char *dir, kvs_dtype dtype, kvs__model *out, kvs__err *e)
{
    return kvs__model_open_as(mem, dir, KVS_LOAD_AUTO, dtype, out, e);
}

/* ====================================================================================================
   >>blocks   Who holds which KV block.

   KV memory is one pool of NB equal blocks, each with room for the keys and values of BS tokens. A sequence does not
   own a stretch of memory; it owns a *block table*: a list of block numbers, in the order of its tokens.

       sequence A   tokens 0..15   16..31   32..40          pool   0   1   2   3   4   5   6   7
       table A   =  [   5      ,     2    ,    7   ]               .   B  AB   .   .  AB   .   A
       table B   =  [   5      ,     2    ,    1   ]                     ref=2     ref=2

   Every block is in exactly one of three states, so that  free + cached + used == total  always holds:
       used     ref > 0: that many tables hold it
       cached   ref == 0, but published: its content can still be found (section prefix). Waits in the LRU list
       free     ref == 0, content forgotten. Waits in the free list
   Owns block states, reference counts and the two lists. Must not know sequences, floats or where the bytes of a block
   lie.
   ==================================================================================================== */

typedef struct kvs__block {
    int32_t  ref;            /* tables that hold it */
    int32_t  prev, next;     /* neighbours in the free or the LRU list, -1 at the ends */
    int32_t  published;      /* its content is in the prefix index */
    int32_t  parent;         /* published: the block before it in its sequence, -1 at the start */
    int32_t  chain;          /* next block in the same index bucket */
    int32_t  last_child;     /* the block most recently published after this one: explains misses */
    kvs__key key, root;      /* of its content and all before it; of its salt */
} kvs__block;

typedef struct kvs__list { int32_t head, tail, count; } kvs__list;

struct kvs_blocks {
    kvs__mem    mem;
    int32_t     NB, BS, prefix_on;
    kvs__block *block;       /* [NB] */
    int32_t    *tokens;      /* [NB][BS] of published blocks: a hit is compared, not believed */
    kvs__list   free, lru;   /* lru: least recently used first */
    int32_t     used;
    /* the prefix index (section prefix) */
    int32_t    *bucket;      /* [n_buckets] first block of each hash chain */
    uint64_t   *ghost;       /* [n_buckets] fingerprints of evicted keys: tells "evicted" from "never seen" */
    int32_t    *opening;    /* [n_buckets] a first block whose tokens hash to here, salt left out: tells "other salt" */
    uint32_t    n_buckets;   /* a power of two */
    int32_t     last_root;   /* the first block most recently published */
    kvs__key    secret;      /* keys the hash */
    uint64_t    hash_mask;   /* all ones; a test narrows it to force collisions */
    uint64_t    queries, hits, evictions;
};

static void kvs__list_remove(kvs_blocks *b, kvs__list *l, int32_t i)
{
    kvs__block *x = &b->block[i];
    if (x->prev >= 0) b->block[x->prev].next = x->next; else l->head = x->next;
    if (x->next >= 0) b->block[x->next].prev = x->prev; else l->tail = x->prev;
    x->prev = x->next = -1;
    l->count--;
}

static void kvs__list_append(kvs_blocks *b, kvs__list *l, int32_t i)
{
    kvs__block *x = &b->block[i];
    x->prev = l->tail; x->next = -1;
    if (l->tail >= 0) b->block[l->tail].next = i; else l->head = i;
    l->tail = i;
    l->count++;
}

static void kvs__pfx_forget(kvs_blocks *b, int32_t i);

/* Blocks that could be allocated now. */
static int32_t kvs__blk_available(const kvs_blocks *b) { return b->free.count + b->lru.count; }

/* Takes block i, which must be free or cached, for one holder. What was cached in it is forgotten. */
static void kvs__blk_take(kvs_blocks *b, int32_t i)
{
    kvs__list_remove(b, b->block[i].published ? &b->lru : &b->free, i);
    if (b->block[i].published) { kvs__pfx_forget(b, i); b->evictions++; }
    b->block[i].ref = 1;
    b->used++;
}

KVS_API int32_t kvs_blocks_alloc(kvs_blocks *b)
{
    if (!b) return -1;
    int32_t i = b->free.head >= 0 ? b->free.head : b->lru.head;
    if (i >= 0) kvs__blk_take(b, i);
    return i;
}

/* Callers of the public functions may be wrong about a block: then nothing happens. */
static int kvs__blk_is(const kvs_blocks *b, int32_t i) { return b && i >= 0 && i < b->NB; }

KVS_API void kvs_blocks_ref(kvs_blocks *b, int32_t i)
{
    if (!kvs__blk_is(b, i) || (b->block[i].ref == 0 && !b->block[i].published)) return;    /* free: no content */
    if (b->block[i].ref++ == 0) { kvs__list_remove(b, &b->lru, i); b->used++; }
}

/* The last holder's release makes a published block cached, any other free. Releasing a table from its end puts the
   tail into the LRU list before the head; since whoever uses a block uses all before it, a cached block is always older
   than its parent. So eviction eats sequences from the end, and no cached block ever loses its parent. */
KVS_API void kvs_blocks_unref(kvs_blocks *b, int32_t i)
{
    if (!kvs__blk_is(b, i) || b->block[i].ref == 0 || --b->block[i].ref) return;
    b->used--;
    kvs__list_append(b, b->block[i].published ? &b->lru : &b->free, i);
}

/* Static layout: `run` consecutive blocks starting at a multiple of `run`, as a table; -1 if no such run is free. This
   is how caches were laid out before PagedAttention: the whole of max_model_len, whatever the request needs of it.
   Takes blocks in the pool's order, not the LRU's: only for a pool without prefix cache. */
static int32_t kvs__blk_alloc_run(kvs_blocks *b, int32_t run, int32_t *table)
{
    for (int32_t first = 0; first + run <= b->NB; first += run) {
        if (b->block[first].ref) continue;                /* runs are taken and released whole */
        for (int32_t i = 0; i < run; i++) { kvs__blk_take(b, first + i); table[i] = first + i; }
        return first;
    }
    return -1;
}

static uint32_t kvs__blk_buckets(int32_t NB)
{
    uint32_t n = 16;
    while (n < (uint32_t)NB * 2) n *= 2;
    return n;
}

/* Bytes that open allocates, for kvs_plan. */
static uint64_t kvs__blk_bytes(int32_t NB, int32_t BS)
{
    uint64_t n = (uint64_t)NB, h = kvs__blk_buckets(NB);
    return sizeof(kvs_blocks) + n * sizeof(kvs__block) + n * (uint64_t)BS * 4 + h * (4 + 8 + 4);
}

KVS_API void kvs_blocks_close(kvs_blocks *b)
{
    if (!b) return;
    kvs__mem m = b->mem;
    kvs__free(&m, b->block); kvs__free(&m, b->tokens);
    kvs__free(&m, b->bucket); kvs__free(&m, b->ghost); kvs__free(&m, b->opening);
    kvs__free(&m, b);
}

KVS_API kvs_result kvs_blocks_open(const kvs_blocks_config *cfg, kvs_blocks **out)
{
    if (out) *out = NULL;
    if (!cfg || !out || cfg->num_blocks < 1 || cfg->num_blocks > (1 << 28) || cfg->block_size < 1 ||
        cfg->block_size > 4096) return KVS_ERR_INVALID;
    kvs__mem m;
    kvs__mem_init(&m, &cfg->allocator);
    kvs_blocks *b = (kvs_blocks *)kvs__alloc(&m, 1, sizeof *b);
    if (!b) return KVS_ERR_MEMORY;
    size_t n = (size_t)cfg->num_blocks;
    b->NB = cfg->num_blocks; b->BS = cfg->block_size; b->prefix_on = !cfg->no_prefix_cache;
    b->n_buckets = kvs__blk_buckets(b->NB);
    b->block   = (kvs__block *)kvs__alloc(&m, n, sizeof *b->block);
    b->tokens  = (int32_t *)kvs__alloc(&m, n, (size_t)b->BS * sizeof *b->tokens);
    b->bucket  = (int32_t *)kvs__alloc(&m, b->n_buckets, sizeof *b->bucket);
    b->ghost   = (uint64_t *)kvs__alloc(&m, b->n_buckets, sizeof *b->ghost);
    b->opening = (int32_t *)kvs__alloc(&m, b->n_buckets, sizeof *b->opening);
    b->mem = m;
    if (!b->block || !b->tokens || !b->bucket || !b->ghost || !b->opening) {
        kvs_blocks_close(b);
        return KVS_ERR_MEMORY;
    }
    b->secret.lo = kvs__mix(cfg->seed ^ 0x6b7673ull); b->secret.hi = kvs__mix(b->secret.lo + 1);
    b->hash_mask = ~0ull;
    b->free.head = b->free.tail = b->lru.head = b->lru.tail = b->last_root = -1;
    memset(b->bucket, 0xff, b->n_buckets * sizeof *b->bucket);               /* all -1 */
    memset(b->opening, 0xff, b->n_buckets * sizeof *b->opening);
    for (int32_t i = 0; i < b->NB; i++) kvs__list_append(b, &b->free, i);
    *out = b;
    return KVS_OK;
}

/* ====================================================================================================
   >>prefix   Finding KV that was computed before.

   The KV of a token depends on the token and on everything before it, and on nothing else. So a full block is named by
   a hash of (the name of the block before it, its tokens); the first block's "before" is the root, a hash of the
   request's salt:

       root(salt) --> key0 = H(root, tokens 0..15) --> key1 = H(key0, tokens 16..31) --> ...

   Two prompts that begin alike walk the same keys for as long as they are alike. Only full blocks are published, and
   only after the step that filled them has finished. A hit compares tokens, parent block and root, so a collision of
   keys costs a miss, never another request's KV; only salts are known by their 128-bit hash alone. The hash is keyed
   with the seed of the configuration: where that is secret, nobody can aim for collisions.
   Owns the index. Must not know sequences; blocks' states change only through section blocks.
   ==================================================================================================== */

static kvs__key kvs__pfx_root(const kvs_blocks *b, const char *salt)
{
    return kvs__hash128(salt ? salt : "", salt ? strlen(salt) : 0, b->secret);
}

static kvs__key kvs__pfx_key(const kvs_blocks *b, kvs__key before, const int32_t *tokens)
{
    kvs__key inner = kvs__hash128(tokens, (size_t)b->BS * sizeof *tokens, b->secret), pair[2];
    pair[0] = before; pair[1] = inner;
    kvs__key k = kvs__hash128(pair, sizeof pair, b->secret);
    k.lo &= b->hash_mask; k.hi &= b->hash_mask;
    return k;
}

static int kvs__key_eq(kvs__key a, kvs__key c) { return a.lo == c.lo && a.hi == c.hi; }

/* Where `opening` remembers a first block: a place that depends on its tokens alone, so that it is the same under every
   salt. */
static int32_t *kvs__pfx_opening(const kvs_blocks *b, const int32_t *tokens)
{
    return &b->opening[kvs__hash128(tokens, (size_t)b->BS * sizeof *tokens, b->secret).lo & (b->n_buckets - 1)];
}

static int kvs__pfx_holds(const kvs_blocks *b, int32_t i, const int32_t *tokens)
{
    return memcmp(b->tokens + (int64_t)i * b->BS, tokens, (size_t)b->BS * sizeof *tokens) == 0;
}

/* Does block i come directly after published block `parent` (-1: at the start), under root? */
static int kvs__pfx_follows(const kvs_blocks *b, int32_t i, int32_t parent, kvs__key root)
{
    return b->block[i].published && b->block[i].parent == parent && kvs__key_eq(b->block[i].root, root);
}

/* The published block with this name and truly this content, or -1. */
static int32_t kvs__pfx_find(const kvs_blocks *b, kvs__key key, kvs__key root, int32_t parent, const int32_t *tokens)
{
    int32_t i = b->bucket[key.lo & (b->n_buckets - 1)];
    while (i >= 0 && !(kvs__key_eq(b->block[i].key, key) && kvs__pfx_follows(b, i, parent, root) &&
                       kvs__pfx_holds(b, i, tokens))) i = b->block[i].chain;
    return i;
}

/* Takes block i out of the index: it is about to be overwritten. */
static void kvs__pfx_forget(kvs_blocks *b, int32_t i)
{
    kvs__block *x = &b->block[i];
    int32_t *p = &b->bucket[x->key.lo & (b->n_buckets - 1)];
    while (*p != i) p = &b->block[*p].chain;
    *p = x->chain;
    b->ghost[x->key.lo & (b->n_buckets - 1)] = x->key.hi | 1;       /* | 1: an empty place is no key */
    x->published = 0;
    x->parent = x->chain = x->last_child = -1;
}

/* Why did the full block of tokens[at..] miss, which would be called `key`? `parent` is the last block that was found,
   or -1. */
static void kvs__pfx_explain(const kvs_blocks *b, kvs_prefix_hit *h, kvs__key key, kvs__key root, int32_t parent,
                             const int32_t *tokens)
{
    int32_t near = parent >= 0 ? b->block[parent].last_child : b->last_root, i = *kvs__pfx_opening(b, tokens), k = 0;
    if (b->ghost[key.lo & (b->n_buckets - 1)] == (key.hi | 1)) { h->miss = KVS_MISS_EVICTED; return; }
    if (parent < 0 && i >= 0 && kvs__pfx_follows(b, i, -1, b->block[i].root) && kvs__pfx_holds(b, i, tokens)) {
        h->miss = KVS_MISS_SALT;                 /* verified: it is there, and not under our root, or we had found it */
        return;
    }
    h->miss = KVS_MISS_TOKENS;
    if (near < 0 || !kvs__pfx_follows(b, near, parent, root)) return;
    while (k < b->BS && b->tokens[(int64_t)near * b->BS + k] == tokens[k]) k++;  /* against the latest continuation */
    h->miss_index += k;
}

static kvs_prefix_hit kvs__pfx_match(kvs_blocks *b, kvs__key root, const int32_t *tokens, int32_t n, int32_t max_blocks,
                                     int32_t *table)
{
    kvs_prefix_hit h = {0, KVS_MISS_OFF, 0};
    if (!b->prefix_on) return h;
    kvs__key key = root;
    int32_t parent = -1, i = -1, want = KVS__MIN(n / b->BS, max_blocks);
    const int32_t *t = tokens;
    for (; h.n_blocks < want; t += b->BS) {
        key = kvs__pfx_key(b, key, t);
        i = kvs__pfx_find(b, key, root, parent, t);
        b->queries++;
        if (i < 0) break;
        b->hits++;
        kvs_blocks_ref(b, i);
        table[h.n_blocks++] = parent = i;
    }
    h.miss_index = h.n_blocks * b->BS;
    int32_t left = n - h.miss_index;
    if (h.n_blocks < want) kvs__pfx_explain(b, &h, key, root, parent, t);
    else h.miss = left > 0 && left < b->BS ? KVS_MISS_PARTIAL : KVS_MISS_NONE;
    return h;
}

static int32_t kvs__pfx_publish(kvs_blocks *b, kvs__key root, int32_t parent, const int32_t *tokens, int32_t i)
{
    kvs__block *x = &b->block[i];
    if (!b->prefix_on || x->published) return i;
    kvs__key key = kvs__pfx_key(b, parent >= 0 ? b->block[parent].key : root, tokens);
    int32_t twin = kvs__pfx_find(b, key, root, parent, tokens);
    if (twin >= 0) {                                      /* somebody computed the same in the meantime: share theirs */
        kvs_blocks_ref(b, twin);
        kvs_blocks_unref(b, i);
        return twin;
    }
    uint32_t slot = (uint32_t)key.lo & (b->n_buckets - 1);
    x->key = key; x->root = root; x->parent = parent; x->published = 1; x->last_child = -1;
    x->chain = b->bucket[slot]; b->bucket[slot] = i;
    memcpy(b->tokens + (int64_t)i * b->BS, tokens, (size_t)b->BS * sizeof *tokens);
    if (parent >= 0) b->block[parent].last_child = i;
    else *kvs__pfx_opening(b, tokens) = b->last_root = i;
    return i;
}

KVS_API kvs_prefix_hit kvs_blocks_match(kvs_blocks *b, const char *salt, const int32_t *tokens, int32_t n,
                                        int32_t max_blocks, int32_t *table)
{
    kvs_prefix_hit none = {0, KVS_MISS_OFF, 0};
    if (!b || !tokens || !table) return none;
    return kvs__pfx_match(b, kvs__pfx_root(b, salt), tokens, n, max_blocks, table);
}

KVS_API int32_t kvs_blocks_publish(kvs_blocks *b, const char *salt, int32_t parent, const int32_t *tokens,
                                   int32_t block)
{
    if (!tokens || !kvs__blk_is(b, block) || !b->block[block].ref) return block;
    if (parent != -1 && !(kvs__blk_is(b, parent) && b->block[parent].ref && b->block[parent].published)) return block;
    return kvs__pfx_publish(b, kvs__pfx_root(b, salt), parent, tokens, block);
}

/* ====================================================================================================
   >>sched   Which sequences compute which tokens next.

   A sequence knows n_tokens tokens (prompt and output so far) and has the KV of the first n_computed. What it needs
   next is the KV of the rest: the whole prompt at first (prefill), one token later (decode), all of it again after a
   preemption. The scheduler sees no other difference, so one step mixes them freely (continuous batching). One budget
   of tokens per step is spent on running sequences first, oldest first, then on waiting ones; a long prompt is cut into
   chunks by what is left of it.

       submit --> waiting --admit--> running --finish--> gone
                     ^                  |
                     +---- preempt -----+     no block left: the newest gives its blocks back and will start over;
                                              its full blocks stay cached, so starting over is mostly a prefix hit

   The first of the running queue (the oldest, or the most urgent) is never preempted and fits the pool alone (checked
   at submit), so it computes a token in every step, and everybody becomes the first some day.

   fork: n outputs of one prompt. The leader computes the prompt, then each sibling copies its block table (not the
   blocks). The first who writes into a block that others hold too gets a copy of it: copy on write.

   One step:  kvs__sched_plan  ->  copies  ->  forward pass  ->  kvs__sched_commit  ->  sample, append tokens or finish
   Owns the queues, block tables and n_computed. Must not know text, sampling, floats or backends. Allocates nothing
   after open.
   ==================================================================================================== */

typedef enum { KVS__SEQ_WAITING = 1, KVS__SEQ_RUNNING, KVS__SEQ_FORKING, KVS__SEQ_DONE } kvs__seq_state;

typedef struct kvs__seq {
    struct kvs__seq *prev, *next;        /* neighbours in the queue it is in */
    struct kvs__seq *leader, *sibling;   /* fork group: its first member; the next one that waits for the fork */
    kvs__seq_state state;
    int32_t  priority; uint64_t arrival; /* lower first */
    int32_t *tokens;                     /* [token_cap] prompt and output; the engine appends after sampling */
    int32_t  n_tokens, n_prompt, token_cap;
    int32_t *table;                      /* [table_cap] the block table */
    int32_t  n_blocks, table_cap;
    int32_t  n_computed;                 /* tokens whose KV is in the blocks */
    int32_t  n_published;                /* full blocks already offered to the prefix index */
    int32_t  n_now;                      /* tokens planned for this step */
    int32_t  logit;                      /* row of this step's logits to sample from, -1: its prompt is not done yet */
    kvs__key root;                       /* of its cache salt */
    int32_t  admissions, preemptions;
    kvs_prefix_hit hit;                  /* of the first admission */
    void    *owner;                      /* the engine's record */
} kvs__seq;

typedef struct kvs__queue { kvs__seq *head, *tail; int32_t count; } kvs__queue;
typedef struct kvs__copy { int32_t src, dst; } kvs__copy;

typedef struct kvs__sched_config {
    int32_t max_seqs, max_tokens, max_blocks_per_seq;
    kvs_policy policy; kvs_kv_layout layout; kvs_batching batching;
    int32_t no_chunked_prefill;          /* then max_tokens must hold the longest sequence */
} kvs__sched_config;

typedef struct kvs__sched {
    kvs_blocks *blk;
    kvs__sched_config cfg;
    kvs__queue waiting, running;         /* both sorted: by priority (if that is the policy), then by arrival */
    int32_t    slots;                    /* running sequences, and siblings whose fork is due */
    uint64_t   arrivals, preemptions, forks, block_copies;
    kvs__seq **step; int32_t n_step;     /* [max_seqs] who computes in this step; after commit also new forks */
    kvs__copy *copy; int32_t n_copy;     /* block copies due, in this order: after plan, and after commit */
} kvs__sched;

static int kvs__seq_before(const kvs__sched *s, const kvs__seq *a, const kvs__seq *b)
{
    if (s->cfg.policy == KVS_POLICY_PRIORITY && a->priority != b->priority) return a->priority < b->priority;
    return a->arrival < b->arrival;
}

static void kvs__queue_insert(const kvs__sched *s, kvs__queue *q, kvs__seq *x)
{
    kvs__seq *before = q->head, *after = NULL;
    if (before && !kvs__seq_before(s, x, before)) {           /* not the new head: search from the end, where most go */
        for (after = q->tail; kvs__seq_before(s, x, after); after = after->prev) {}
        before = after->next;
    }
    x->prev = after; x->next = before;
    if (after) after->next = x; else q->head = x;
    if (before) before->prev = x; else q->tail = x;
    q->count++;
}

static void kvs__queue_remove(kvs__queue *q, kvs__seq *x)
{
    if (x->prev) x->prev->next = x->next; else q->head = x->next;
    if (x->next) x->next->prev = x->prev; else q->tail = x->prev;
    x->prev = x->next = NULL;
    q->count--;
}

/* Gives all blocks back, the tail first (see kvs_blocks_unref). */
static void kvs__seq_release(kvs__sched *s, kvs__seq *x)
{
    while (x->n_blocks > 0) kvs_blocks_unref(s->blk, x->table[--x->n_blocks]);
    x->n_computed = x->n_published = x->n_now = 0;
}

static int32_t kvs__seq_forks_due(const kvs__seq *x)
{
    int32_t n = 0;
    for (const kvs__seq *y = x->sibling; y; y = y->sibling) n++;
    return n;
}

/* Could a sequence that grows to n_max tokens ever run, with n outputs? If not, *need and *have say why, in blocks.
   Paged, the outputs may take turns. */
static int kvs__sched_fits(const kvs__sched *s, int32_t n_max, int32_t n, int64_t *need, int64_t *have)
{
    int32_t BS = s->blk->BS;
    *have = s->blk->NB;
    *need = ((int64_t)n_max - 1 + BS - 1) / BS;                     /* the last token is never computed */
    if (s->cfg.layout == KVS_LAYOUT_STATIC) {
        *need = (int64_t)n * s->cfg.max_blocks_per_seq;
        *have -= *have % s->cfg.max_blocks_per_seq;
    }
    return *need <= *have && n <= s->cfg.max_seqs;
}

/* Queues the first member of a fork group; siblings hang on leader->sibling and wait for its prompt. */
static void kvs__sched_add(kvs__sched *s, kvs__seq *leader)
{
    for (kvs__seq *x = leader; x; x = x->sibling) {
        x->leader = leader; x->arrival = ++s->arrivals;
        x->state = x == leader ? KVS__SEQ_WAITING : KVS__SEQ_FORKING;
    }
    kvs__queue_insert(s, &s->waiting, leader);
}

/* Takes a sequence out, in whatever state: its blocks go back. A leader that leaves before its fork takes its siblings
   along. */
static void kvs__sched_remove(kvs__sched *s, kvs__seq *x)
{
    if (x->state == KVS__SEQ_WAITING) kvs__queue_remove(&s->waiting, x);
    if (x->state == KVS__SEQ_RUNNING) { kvs__queue_remove(&s->running, x); s->slots--; }
    if (x->state == KVS__SEQ_FORKING) {
        kvs__seq *p = x->leader;
        while (p->sibling != x) p = p->sibling;
        p->sibling = x->sibling;
        if (x->leader->state == KVS__SEQ_RUNNING) s->slots--;
    } else {
        for (kvs__seq *y = x->sibling, *z; y; y = z) {
            z = y->sibling;
            y->sibling = NULL;
            if (x->state == KVS__SEQ_RUNNING) s->slots--;
            kvs__seq_release(s, y);
            y->state = KVS__SEQ_DONE;
        }
    }
    kvs__seq_release(s, x);
    x->sibling = NULL;
    x->state = KVS__SEQ_DONE;
}

static void kvs__sched_preempt(kvs__sched *s, kvs__seq *x)
{
    kvs__queue_remove(&s->running, x);
    s->slots -= 1 + kvs__seq_forks_due(x);
    for (kvs__seq *y = x; y; y = y->sibling) kvs__seq_release(s, y);  /* static: siblings have blocks too */
    x->state = KVS__SEQ_WAITING;
    x->preemptions++; s->preemptions++;
    kvs__queue_insert(s, &s->waiting, x);
}

/* Makes a place for x: preempts the newest running sequence. -1 if that is x itself. */
static int kvs__sched_squeeze(kvs__sched *s, kvs__seq *x)
{
    if (s->running.tail == x) return -1;
    kvs__sched_preempt(s, s->running.tail);
    return 0;
}

/* Makes x's table writable for its next n tokens: copies the block it would share with others while writing, adds
   blocks. 0, or -1 when blocks ran out and x is the newest: it must be preempted then. Only the block at n_computed can
   be shared and not full. */
static int kvs__sched_room(kvs__sched *s, kvs__seq *x, int32_t n)
{
    kvs_blocks *b = s->blk;
    int32_t at = x->n_computed / b->BS, need = (x->n_computed + n + b->BS - 1) / b->BS, i;
    while (at < x->n_blocks && b->block[x->table[at]].ref > 1) {     /* the other holder may be squeezed out */
        if ((i = kvs_blocks_alloc(b)) < 0) {
            if (kvs__sched_squeeze(s, x)) return -1;
            continue;
        }
        s->copy[s->n_copy].src = x->table[at]; s->copy[s->n_copy++].dst = i;
        s->block_copies++;
        kvs_blocks_unref(b, x->table[at]);
        x->table[at] = i;
    }
    KVS_ASSERT(at >= x->n_blocks || !b->block[x->table[at]].published);
    while (x->n_blocks < need) {
        if ((i = kvs_blocks_alloc(b)) >= 0) x->table[x->n_blocks++] = i;
        else if (kvs__sched_squeeze(s, x)) return -1;
    }
    return 0;
}

/* Static layout: one run of max_blocks_per_seq for each member of the group. -1: too few are free, the caller gives
   them all back. */
static int kvs__sched_reserve(kvs__sched *s, kvs__seq *leader)
{
    for (kvs__seq *x = leader; x; x = x->sibling) {
        if (kvs__blk_alloc_run(s->blk, s->cfg.max_blocks_per_seq, x->table) < 0) return -1;
        x->n_blocks = s->cfg.max_blocks_per_seq;
    }
    return 0;
}

/* How many of `need` tokens a sequence computes now (< 1: none). A chunk leaves one token of the budget for each decode
   behind it. */
static int32_t kvs__sched_share(const kvs__sched *s, int32_t need, int32_t budget, int32_t decodes)
{
    if (need == 1 || s->cfg.no_chunked_prefill) return need <= budget ? need : 0;
    return KVS__MIN(need, budget - decodes);
}

/* Gives x what it needs to be admitted: its prefix from the cache, and the certainty that the rest of what it knows now
   fits too. */
static int kvs__sched_place(kvs__sched *s, kvs__seq *x, kvs_prefix_hit *hit)
{
    kvs_blocks *b = s->blk;
    if (s->cfg.layout == KVS_LAYOUT_STATIC) return kvs__sched_reserve(s, x);
    if (kvs__blk_available(b) == 0) return -1;                      /* it will need one: do not hash in vain */
    *hit = kvs__pfx_match(b, x->root, x->tokens, x->n_tokens, (x->n_tokens - 1) / b->BS, x->table);
    x->n_blocks = x->n_published = hit->n_blocks;
    x->n_computed = hit->n_blocks * b->BS;                          /* at least one token is left to compute */
    return (x->n_tokens + b->BS - 1) / b->BS - hit->n_blocks <= kvs__blk_available(b) ? 0 : -1;
}

/* Tries to move the head of the waiting queue into the running one; returns it, or NULL. It needs free blocks for all
   the tokens it knows, so that it is not preempted at once, though not for what it may still write. */
static kvs__seq *kvs__sched_admit(kvs__sched *s, int32_t budget)
{
    kvs__seq *x = s->waiting.head;
    kvs_prefix_hit hit = {0, KVS_MISS_OFF, 0};
    uint64_t queries = s->blk->queries, hits = s->blk->hits;
    if (!x || s->slots + 1 + kvs__seq_forks_due(x) > s->cfg.max_seqs) return NULL;
    int placed = kvs__sched_place(s, x, &hit) == 0, by_batch = s->cfg.batching == KVS_BATCHING_STATIC;
    if (!placed || (!by_batch && kvs__sched_share(s, x->n_tokens - x->n_computed, budget, 0) < 1)) {
        for (kvs__seq *y = x; y; y = y->sibling) kvs__seq_release(s, y);
        s->blk->queries = queries; s->blk->hits = hits;             /* it will ask again: count that once */
        return NULL;
    }
    if (x->admissions++ == 0) x->hit = hit;
    kvs__queue_remove(&s->waiting, x);
    x->state = KVS__SEQ_RUNNING;
    kvs__queue_insert(s, &s->running, x);
    s->slots += 1 + kvs__seq_forks_due(x);
    return x;
}

/* Plans n tokens of x for this step. Returns n, or 0 when it found no block. */
static int32_t kvs__sched_take(kvs__sched *s, kvs__seq *x, int32_t n)
{
    if (n < 1 || kvs__sched_room(s, x, n)) return 0;
    x->n_now = n;
    s->step[s->n_step++] = x;
    return n;
}

/* Running sequences, oldest first. Returns the tokens planned; *pressed: somebody was preempted, so nobody new may come
   in. */
static int32_t kvs__sched_plan_running(kvs__sched *s, int *pressed)
{
    int32_t budget = s->cfg.max_tokens, decodes = 0, were = s->running.count;
    for (kvs__seq *x = s->running.head; x; x = x->next) { x->n_now = 0; decodes += x->n_tokens - x->n_computed == 1; }
    for (kvs__seq *x = s->running.head, *next; x; x = next) {
        int32_t need = x->n_tokens - x->n_computed;
        decodes -= need == 1;
        int32_t spare = x->prev ? decodes : KVS__MIN(decodes, budget - 1);         /* the first always gets on */
        int32_t n = kvs__sched_share(s, need, budget, spare);
        int32_t took = kvs__sched_take(s, x, n);          /* may preempt sequences behind x, never x or one before it */
        budget -= took;
        next = x->next;
        if (n > 0 && !took) kvs__sched_preempt(s, x);          /* no block, and x is the newest: it steps back itself */
    }
    *pressed = s->running.count != were;
    return s->cfg.max_tokens - budget;
}

/* Fills step[] and copy[]; returns the number of tokens to compute, 0 when there is nothing to do. */
static int32_t kvs__sched_plan(kvs__sched *s)
{
    int pressed, by_batch = s->cfg.batching == KVS_BATCHING_STATIC, closed = by_batch && s->running.count > 0;
    s->n_step = s->n_copy = 0;
    int32_t planned = kvs__sched_plan_running(s, &pressed);
    while (!pressed && !closed && (by_batch || planned < s->cfg.max_tokens)) {
        int32_t budget = s->cfg.max_tokens - planned;
        kvs__seq *x = kvs__sched_admit(s, budget);
        if (!x) break;
        int32_t need = x->n_tokens - x->n_computed;
        x->n_now = 0;
        if (by_batch) kvs__sched_room(s, x, need);       /* its turn may come steps later: it holds what was promised */
        planned += kvs__sched_take(s, x, kvs__sched_share(s, need, budget, 0));
    }
    return planned;
}

/* x has computed its prompt: its next sibling starts from the same blocks. */
static void kvs__sched_fork(kvs__sched *s, kvs__seq *x)
{
    kvs__seq *y = x->sibling;
    int32_t held = (x->n_computed + s->blk->BS - 1) / s->blk->BS;
    x->sibling = y->sibling;
    y->sibling = NULL;
    for (int32_t i = 0; i < held; i++) {
        if (s->cfg.layout == KVS_LAYOUT_STATIC) {                   /* it has a run of its own: copy all */
            s->copy[s->n_copy].src = x->table[i]; s->copy[s->n_copy++].dst = y->table[i];
            s->block_copies++;
        } else {
            y->table[y->n_blocks++] = x->table[i];
            kvs_blocks_ref(s->blk, x->table[i]);
        }
    }
    y->n_computed = x->n_computed; y->n_published = x->n_published;
    y->admissions = x->admissions; y->hit = x->hit;          /* so that a later admission does not count as its first */
    y->state = KVS__SEQ_RUNNING;
    kvs__queue_insert(s, &s->running, y);
    y->n_now = 0; y->logit = x->logit;
    s->step[s->n_step++] = y;
    s->forks++;
}

/* The forward pass is done: what it computed counts, full blocks can be found by others, forks happen. Siblings forked
   now are appended to step[] so that they are sampled too, from their leader's logits. */
static void kvs__sched_commit(kvs__sched *s)
{
    int32_t n = s->n_step, BS = s->blk->BS;
    s->n_copy = 0;
    for (int32_t i = 0; i < n; i++) {
        kvs__seq *x = s->step[i];
        x->n_computed += x->n_now;
        for (int32_t k = x->n_published; s->cfg.layout == KVS_LAYOUT_PAGED && k < x->n_computed / BS; k++) {
            int32_t parent = k ? x->table[k - 1] : -1;
            x->table[k] = kvs__pfx_publish(s->blk, x->root, parent, x->tokens + (int64_t)k * BS, x->table[k]);
            x->n_published = k + 1;
        }
        while (x->sibling && x->n_computed == x->n_tokens) kvs__sched_fork(s, x);
    }
}

static kvs_result kvs__sched_open(kvs__mem *m, kvs_blocks *blk, const kvs__sched_config *cfg, kvs__sched *s)
{
    memset(s, 0, sizeof *s);
    s->blk = blk; s->cfg = *cfg;
    s->step = (kvs__seq **)kvs__alloc(m, (size_t)cfg->max_seqs, sizeof *s->step);
    s->copy = (kvs__copy *)kvs__alloc(m, (size_t)blk->NB + (size_t)cfg->max_seqs, sizeof *s->copy);
    return s->step && s->copy ? KVS_OK : KVS_ERR_MEMORY;
}

static void kvs__sched_close(kvs__mem *m, kvs__sched *s) { kvs__free(m, s->step); kvs__free(m, s->copy); }

/* ====================================================================================================
   >>batch   The scheduler's plan as arrays: the ragged batch that the forward pass computes.

   The rows of all sequences lie one after the other, a decode as one row, a prefill chunk as many:

       sequences          A: decode   B: chunk of 3    C: decode
       row                0           1   2   3        4
       pos                97          16  17  18       5
       slot               block*BS + offset in the block, from the block table at pos: where K and V of the row go
       q_start            0           1                4   (5)
       kv_len             98          19               6       keys that the last row of each may see
       logit_row          0                            4       rows whose next token is wanted: not a chunk's

   Owns the arrays. Must not know what is computed with them.
   ==================================================================================================== */

typedef struct kvs__batch {
    kvs_batch v;                                          /* what backends see: points into the arrays below */
    int32_t *token, *pos, *seq, *q_start, *kv_len, *table, *logit_row;
    int64_t *slot;
} kvs__batch;

/* Bytes of the arrays for T tokens, S sequences and tables of at most B blocks. */
static uint64_t kvs__batch_bytes(int32_t T, int32_t S, int32_t B)
{
    return (uint64_t)T * (3 * 4 + 8) + ((uint64_t)S * 3 + 1) * 4 + (uint64_t)S * (uint64_t)B * 4;
}

static kvs_result kvs__batch_open(kvs__mem *m, int32_t T, int32_t S, int32_t B, kvs__batch *o)
{
    size_t t = (size_t)T, s = (size_t)S;
    memset(o, 0, sizeof *o);
    o->token   = (int32_t *)kvs__alloc(m, t, 4); o->pos    = (int32_t *)kvs__alloc(m, t, 4);
    o->seq     = (int32_t *)kvs__alloc(m, t, 4); o->slot   = (int64_t *)kvs__alloc(m, t, 8);
    o->q_start = (int32_t *)kvs__alloc(m, s + 1, 4); o->kv_len = (int32_t *)kvs__alloc(m, s, 4);
    o->logit_row = (int32_t *)kvs__alloc(m, s, 4);   o->table  = (int32_t *)kvs__alloc(m, s, (size_t)B * 4);
    o->v.token = o->token; o->v.pos = o->pos; o->v.seq = o->seq; o->v.slot = o->slot; o->v.q_start = o->q_start;
    o->v.kv_len = o->kv_len; o->v.logit_row = o->logit_row; o->v.block_table = o->table; o->v.table_stride = B;
    int all = o->token && o->pos && o->seq && o->slot && o->q_start && o->kv_len && o->logit_row && o->table;
    return all ? KVS_OK : KVS_ERR_MEMORY;
}

static void kvs__batch_close(kvs__mem *m, kvs__batch *o)
{
    kvs__free(m, o->token); kvs__free(m, o->pos); kvs__free(m, o->seq); kvs__free(m, o->slot);
    kvs__free(m, o->q_start); kvs__free(m, o->kv_len); kvs__free(m, o->logit_row); kvs__free(m, o->table);
}

static void kvs__batch_build(kvs__batch *o, kvs__sched *s)
{
    int32_t row = 0, BS = s->blk->BS;
    o->v.S = s->n_step; o->v.n_logits = 0;
    for (int32_t i = 0; i < s->n_step; i++) {
        kvs__seq *x = s->step[i];
        o->q_start[i] = row;
        o->kv_len[i] = x->n_computed + x->n_now;
        memcpy(o->table + (int64_t)i * o->v.table_stride, x->table, (size_t)x->n_blocks * sizeof *x->table);
        for (int32_t p = x->n_computed; p < o->kv_len[i]; p++, row++) {
            o->token[row] = x->tokens[p]; o->pos[row] = p; o->seq[row] = i;
            o->slot[row] = (int64_t)x->table[p / BS] * BS + p % BS;
        }
        x->logit = -1;
        if (o->kv_len[i] == x->n_tokens) { x->logit = o->v.n_logits; o->logit_row[o->v.n_logits++] = row - 1; }
    }
    o->q_start[s->n_step] = row;
    o->v.T = row;
}

/* ====================================================================================================
   >>cpu   The reference ops, the thread pool and the CPU backend.

   The numerics contract. Section 75 has faster kernels; all of them give the bits of the plain C here, because every
   output element is one chain of roundings in one fixed order:

   - bf16 weights: activations are rounded to bf16 (nearest even), then for the pairs of K in ascending order
         acc = fma(a0, w0, fma(a1, w1, acc))        the odd element first: what vdpbf16ps does, in f32
     Plain C gets the same from doubles: a*w of two 8-bit significands is exact in a double, and a sum rounded to 53
     bits and then to 24 equals the sum rounded to 24 at once, since 53 >= 2*24 + 2 (Figueroa 1995).
   - f32 and f16 weights: acc = fma(a, w, acc) over K ascending, activations stay f32.
   - linear then adds bias, applies the activation, adds the residual: each rounded on its own, in that order.
   - attention walks the keys in chunks of 256 at absolute positions. In a chunk: scores by the chains above over Dh,
     the maximum, p = exp(s - max), the sum of p in 16 lanes (lane = token % 16) then a tree, the sum of p*V by the
     chains above over the tokens (q and p rounded to bf16 for a bf16 cache). Chunks are merged in order. Nothing
     depends on where a row's batch, tile or step began.
   - everything else is a loop over elements, mul and add rounded separately, with exp, log, tanh and erf of our own.
     Sums run in 16 lanes, then a tree.
   - x86: denormals are read as zero and flushed to zero, in the pool and, from begin to sync, in the calling thread.
     Elsewhere they are honoured; that is the one difference between machines.

   Work is split over output columns, rows, heads and chunks: never inside a sum. So the number of threads changes no
   bit. Results that are not finite are not finite on every path; which NaN it is may differ.

   Owns: layouts of weights and of KV tiles, scratch, threads. Must not know: models, requests, schedules.
   ==================================================================================================== */

#if defined(__FAST_MATH__)
#  error "kvserve: compile the implementation without -ffast-math (determinism and NaN handling depend on it)"
#endif

/* a*b + c must stay two roundings although the functions of section 75 may use FMA. In GNU mode gcc contracts by
   default, also what comes from intrinsics; a header cannot rely on flags. Both pragmas end with section 75.
   tests/test_cpu.c checks the effect. */
#if defined(__clang__)
#  pragma float_control(push)
#  pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#  pragma GCC push_options
#  pragma GCC optimize("fp-contract=off", "tree-vectorize", "vect-cost-model=dynamic")
#endif

/* Bodies that are compiled once for each instruction set: inlined into functions that carry a target attribute. */
#define KVS__INLINE static inline __attribute__((always_inline))

/* ---- maths: branch-free, so that compilers make vectors of loops over them ---- */

/* c ? a : b. By masks: from ?: gcc makes branches first and vectors with masks on every instruction then. */
KVS__INLINE float kvs__pick(int c, float a, float b)
{
    const uint32_t m = 0u - (uint32_t)c;
    return kvs__u32_f32((kvs__f32_u32(a) & m) | (kvs__f32_u32(b) & ~m));
}

/* e^x within 1.5 ulp; 0 below -86.6 (before results get denormal), infinite above 88.37. */
KVS__INLINE float kvs__expf(float x)
{
    const float magic = 12582912.0f;                    /* 1.5 * 2^23: adding it rounds to an integer in the low bits */
    float t = x * 1.44269504f + magic, n = t - magic;
    float r = x - n * 0.693359375f;                     /* ln 2 in two parts; n times the first is exact */
    r = r - n * -2.12194440e-4f;
    float p = 1.381314476e-3f;                          /* minimax: relative error 3.3e-9 before rounding */
    p = p * r + 8.369418792e-3f;
    p = p * r + 4.166845605e-2f;
    p = p * r + 1.666651517e-1f;
    p = p * r + 4.999999404e-1f;
    p = p * (r * r) + r + 1.0f;
    p = p * kvs__u32_f32((kvs__f32_u32(t) << 23) + 0x3f800000u);    /* 2^n; the bits of magic are shifted out */
    return kvs__pick(x > 88.37f, INFINITY, kvs__pick(x < -86.6f, 0.0f, p));
}

/* ln x within 1 ulp for normal x; -inf for 0 and denormals, NaN below. */
KVS__INLINE float kvs__logf(float x)
{
    uint32_t u = kvs__f32_u32(x), e = (u - 0x3f3504f3u) >> 23;      /* m in [sqrt 1/2, sqrt 2) */
    float m = kvs__u32_f32(u - (e << 23)), n = (float)(int32_t)(e << 23) * (1.0f / 8388608.0f);
    float f = m - 1.0f, s = f / (2.0f + f), z = s * s, h = 0.5f * f * f;
    float r = z * (6.666678190e-1f + z * (3.997661471e-1f + z * 2.989862859e-1f));
    float y = n * 0.693359375f + (f - (h - (s * (h + r) + n * -2.12194440e-4f)));
    y = kvs__pick(x < 1.17549435e-38f, kvs__pick(x < -1.17549435e-38f, NAN, -INFINITY), y);
    return kvs__pick(x < INFINITY, y, x);
}

/* tanh x within 2 ulp. */
KVS__INLINE float kvs__tanhf(float x)
{
    float a = fabsf(x), z = x * x;
    float p = -5.660794675e-3f;                         /* minimax on |x| <= 0.63 */
    p = p * z + 2.060201392e-2f;
    p = p * z + -5.372923240e-2f;
    p = p * z + 1.333132833e-1f;
    p = p * z + -3.333327770e-1f;
    float near = x + x * z * p, far = 1.0f - 2.0f / (kvs__expf(2.0f * a) + 1.0f);
    return kvs__pick(a < 0.625f, near, kvs__pick(x < 0.0f, -far, far));
}

/* The normal distribution function (1 + erf(x / sqrt 2)) / 2 within 2.5e-7, from ln(erfc(a) e^(a*a) / t) as a
   polynomial in t = 1 / (1 + a/2); its left tail keeps a relative error of 1e-5. */
KVS__INLINE float kvs__normcdf(float x)
{
    float a = fabsf(x) * 0.707106781f, t = 1.0f / (1.0f + 0.5f * a);
    float p = 1.591776162e-1f;
    p = p * t + -7.582911253e-1f;
    p = p * t + 1.338610768f;
    p = p * t + -9.375566840e-1f;
    p = p * t + 1.184211373e-1f;
    p = p * t + -1.036529243e-1f;
    p = p * t + 6.998497248e-2f;
    p = p * t + 3.793234527e-1f;
    p = p * t + 9.994711876e-1f;
    p = p * t + -1.265488386f;
    float tail = 0.5f * t * kvs__expf(p - a * a);
    return kvs__pick(x < 0.0f, tail, 1.0f - tail);
}

KVS__INLINE float kvs__silu(float x) { return x / (1.0f + kvs__expf(-x)); }
KVS__INLINE float kvs__gelu(float x) { return x * kvs__normcdf(x); }
/* x/2 * (1 + tanh(u)) = x * sigmoid(2u), u = sqrt(2/pi) * (x + 0.044715 x^3): no cancellation on the left */
KVS__INLINE float kvs__gelu_tanh(float x)
{
    float u = 1.595769122f * (x + 0.044715f * x * x * x);
    return x / (1.0f + kvs__expf(-u));
}

/* x[n] = act(x[n]). */
KVS__INLINE void kvs__act_n(kvs_act act, float *x, int32_t n)
{
    switch (act) {
        case KVS_ACT_SILU:      for (int32_t i = 0; i < n; i++) x[i] = kvs__silu(x[i]); break;
        case KVS_ACT_GELU:      for (int32_t i = 0; i < n; i++) x[i] = kvs__gelu(x[i]); break;
        case KVS_ACT_GELU_TANH: for (int32_t i = 0; i < n; i++) x[i] = kvs__gelu_tanh(x[i]); break;
        case KVS_ACT_RELU:      for (int32_t i = 0; i < n; i++) x[i] = x[i] < 0.0f ? 0.0f : x[i]; break;
        case KVS_ACT_NONE: default: break;
    }
}

/* The one order of summing 16 lanes. */
KVS__INLINE float kvs__tree_sum(float *lane)
{
    for (int h = 8; h > 0; h /= 2)
        for (int l = 0; l < h; l++) lane[l] += lane[l + h];
    return lane[0];
}

/* Sum of (x - mean) ^ power over x[n], power 1 or 2: element i in lane i % 16, ascending. */
KVS__INLINE float kvs__lane_sum(const float *x, int32_t n, float mean, int power)
{
    float lane[16];
    int32_t i = 0;
    for (int l = 0; l < 16; l++) lane[l] = 0.0f;
    for (; i + 16 <= n; i += 16)
        for (int l = 0; l < 16; l++) { float d = x[i + l] - mean; lane[l] += power == 2 ? d * d : d; }
    for (int l = 0; i + l < n; l++) { float d = x[i + l] - mean; lane[l] += power == 2 ? d * d : d; }
    return kvs__tree_sum(lane);
}

/* ---- the multiply kernel: one shape serves linear, scores and P*V ----
   out[r][16 v + l] = sum over segments and steps, ascending, of a[r][step] * w[step][v][l].
   A step is one k for f32 and f16 weights, a pair of k for bf16 (the two lie side by side in a and in each lane of w).

                    segments of w                                  lanes (16 each)                    segments of a
     linear         256 of K; [N/32][K][32] panels                 two a panel, up to 4 panels        256 of K
     scores         the whole head; tile [Dh][16 tokens]           one KV block each                  all of Dh, one
     P*V            one KV block each; tile [16 tokens][Dh]        Dh / 16                            16 tokens

   Rows of a lie KVS__SEG elements apart inside a segment: a constant, so that 12 rows need one address register.
   Elements of a are f32; for bf16 weights rounded to bf16, and stored as bf16 if kvs__kernels.bf16_bytes is 2. */

#define KVS__ROWS  12     /* rows of a tile: 12 x 2 vectors of accumulators fill the registers of AVX-512 best */
#define KVS__SEG   256
#define KVS__CHUNK 256    /* keys of an attention chunk */
#define KVS__BS    16     /* tokens of a KV block */
#define KVS__MAX_DH 256

typedef struct kvs__mm {
    int32_t R, NV;                        /* rows 1..12, lane groups 1..8 */
    const char *a; size_t a_seg;          /* bytes from one segment of a to the next */
    const char *w; size_t w_seg;          /* segment i of w at seg ? seg[i] : w + i * w_seg */
    const char *const *seg;
    ptrdiff_t lane[8];                    /* bytes from there to lane group v */
    size_t w_step;                        /* bytes from one step of w to the next */
    int32_t n_seg, n_step, n_last;        /* steps of a segment, steps of the last one */
    ptrdiff_t ahead;                      /* hint: with w[i], fetch w[i + ahead bytes] for later; 0: nothing */
    const char *const *ahead_seg;         /* the same for scattered segments; NULL: use ahead */
    int32_t ahead_from, ahead_to;         /* only in these steps of a segment */
    float *out; size_t out_stride;        /* floats from row to row */
} kvs__mm;

typedef void kvs__mm_fn(const kvs__mm *);

static const char *kvs__mm_seg(const kvs__mm *m, int32_t i) { return m->seg ? m->seg[i] : m->w + (size_t)i * m->w_seg; }
static int32_t kvs__mm_steps(const kvs__mm *m, int32_t i) { return i + 1 < m->n_seg ? m->n_step : m->n_last; }

static float kvs__load_f32(const char *p) { float f; memcpy(&f, p, 4); return f; }
static uint16_t kvs__load_u16(const char *p) { uint16_t h; memcpy(&h, p, 2); return h; }

static float kvs__fma_bf16(float a, float w, float acc) { return (float)((double)a * (double)w + (double)acc); }

static void kvs__mm_bf16_portable(const kvs__mm *m)
{
    for (int32_t r = 0; r < m->R; r++)
        for (int32_t v = 0; v < m->NV; v++) {
            float *acc = m->out + (size_t)r * m->out_stride + 16 * v;
            for (int l = 0; l < 16; l++) acc[l] = 0.0f;
            for (int32_t s = 0; s < m->n_seg; s++) {
                const char *a = m->a + (size_t)s * m->a_seg + (size_t)r * KVS__SEG * 4;
                const char *w = kvs__mm_seg(m, s) + m->lane[v];
                for (int32_t i = 0; i < kvs__mm_steps(m, s); i++, a += 8, w += m->w_step) {
                    float a0 = kvs__load_f32(a), a1 = kvs__load_f32(a + 4);
                    for (int l = 0; l < 16; l++) {
                        float w0 = kvs__bf16_f32(kvs__load_u16(w + 4 * l));
                        float w1 = kvs__bf16_f32(kvs__load_u16(w + 4 * l + 2));
                        acc[l] = kvs__fma_bf16(a0, w0, kvs__fma_bf16(a1, w1, acc[l]));
                    }
                }
            }
        }
}

/* f32 weights, or f16 ones (half = 1). */
KVS__INLINE void kvs__mm_f32_body(const kvs__mm *m, const int half)
{
    for (int32_t r = 0; r < m->R; r++)
        for (int32_t v = 0; v < m->NV; v++) {
            float *acc = m->out + (size_t)r * m->out_stride + 16 * v;
            for (int l = 0; l < 16; l++) acc[l] = 0.0f;
            for (int32_t s = 0; s < m->n_seg; s++) {
                const char *a = m->a + (size_t)s * m->a_seg + (size_t)r * KVS__SEG * 4;
                const char *w = kvs__mm_seg(m, s) + m->lane[v];
                for (int32_t i = 0; i < kvs__mm_steps(m, s); i++, a += 4, w += m->w_step)
                    for (int l = 0; l < 16; l++) {
                        float wl = half ? kvs__f16_f32(kvs__load_u16(w + 2 * l)) : kvs__load_f32(w + 4 * l);
                        acc[l] = fmaf(kvs__load_f32(a), wl, acc[l]);
                    }
            }
        }
}
static void kvs__mm_f32_portable(const kvs__mm *m) { kvs__mm_f32_body(m, 0); }
static void kvs__mm_f16_portable(const kvs__mm *m) { kvs__mm_f32_body(m, 1); }

/* A job works on items begin..end-1 of an op; the pool hands out the ranges. */
typedef void kvs__job(void *arg, int64_t begin, int64_t end, int32_t thread);

/* What differs between instruction sets. The jobs are the same C, compiled for each. */
typedef struct kvs__kernels {
    const char *name;
    int32_t bf16_bytes;              /* activations that meet bf16 weights: 2 = bf16, 4 = rounded, then f32 again */
    kvs__mm_fn *mm_f32, *mm_f16, *mm_bf16;
    kvs__job *round_rows, *linear, *norm, *rope, *act_mul, *attend, *merge;
} kvs__kernels;

/* Section 75: the kernels of this instruction set, or NULL if the machine (or this build) has it not. */
static const kvs__kernels *kvs__simd_kernels(kvs_isa isa);

/* ---- threads ----
   One pool per context: the calling thread and n - 1 workers. A job's unclaimed items are one 64-bit word (next,
   count); a thread claims a range with one compare-and-swap and reports it as done by adding to `done`. A claim can
   only succeed on a live job, and a job cannot end before its claims are reported: so a worker that comes late, or is
   descheduled without a claim, is no concern of anybody. Ranges shrink towards the end of a job, which evens out
   threads of unequal speed.
   Workers spin for KVS__SPIN seconds after their last work, then sleep; begin wakes them. (A spinning barrier costs
   53 ns on one chip, waking a sleeper 14-60 us; a step has about 200 barriers.) */

#define KVS__MAX_THREADS 256
#define KVS__SPIN 400e-6

typedef struct kvs__pool {
    uint64_t word;        char pad0[56];         /* atomic: next << 32 | count. Alone on its cache line */
    int64_t  done;        char pad1[56];         /* atomic: items of this job that are finished */
    int32_t  sleepers, stop, wake;               /* atomic; written under the mutex */
    int32_t  n;                                  /* threads, the caller included */
    kvs__job *fn; void *arg; int64_t max_take;   /* of the live job */
    pthread_mutex_t mutex; pthread_cond_t cond;
} kvs__pool;

typedef struct kvs__worker { kvs__pool *pool; pthread_t thread; int32_t index; } kvs__worker;

/* Denormals off (x86). Returns what was set before, for fpu_leave. */
static uint32_t kvs__fpu_enter(void)
{
#if defined(__SSE2__)
    uint32_t old = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(0x9fc0u);             /* FTZ | DAZ, nearest even, all exceptions masked */
    return old;
#else
    return 0;
#endif
}
static void kvs__fpu_leave(uint32_t old)
{
#if defined(__SSE2__)
    __builtin_ia32_ldmxcsr(old);
#else
    (void)old;
#endif
}

/* One turn of a waiting loop. The first turns (about 20 us) only pause; later ones give the core away, since there may
   be more threads than cores. */
static void kvs__relax(uint32_t turn)
{
    if (turn > 500) { sched_yield(); return; }
#if defined(__SSE2__)
    __builtin_ia32_pause();
#endif
}

/* Claims some items of the live job: 1 and the range, or 0 if none is left. */
static int kvs__pool_claim(kvs__pool *p, int64_t *begin, int64_t *end)
{
    uint64_t w = __atomic_load_n(&p->word, __ATOMIC_ACQUIRE);
    for (;;) {
        int64_t next = (int64_t)(w >> 32), left = (int64_t)(w & 0xffffffffu) - next;
        if (left <= 0) return 0;
        int64_t most = __atomic_load_n(&p->max_take, __ATOMIC_RELAXED);  /* may be a later job's: any value will do */
        int64_t take = KVS__MIN(KVS__MAX(left / (2 * p->n), 1), KVS__MAX(most, 1));
        uint64_t after = w + ((uint64_t)take << 32);
        if (__atomic_compare_exchange_n(&p->word, &w, after, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            *begin = next; *end = next + take;
            return 1;
        }
    }
}

static int kvs__pool_work(kvs__pool *p, int32_t thread)
{
    int64_t begin, end;
    if (!kvs__pool_claim(p, &begin, &end)) return 0;
    p->fn(p->arg, begin, end, thread);
    __atomic_add_fetch(&p->done, end - begin, __ATOMIC_RELEASE);
    return 1;
}

static int kvs__pool_idle(kvs__pool *p)
{
    uint64_t w = __atomic_load_n(&p->word, __ATOMIC_SEQ_CST);
    return (w >> 32) >= (w & 0xffffffffu) && !__atomic_load_n(&p->stop, __ATOMIC_SEQ_CST);
}

/* Sleeps until there is work, the pool stops or somebody calls wake. */
static void kvs__pool_sleep(kvs__pool *p)
{
    pthread_mutex_lock(&p->mutex);
    int32_t seen = p->wake;
    __atomic_add_fetch(&p->sleepers, 1, __ATOMIC_SEQ_CST);   /* before the look at word; run() does the opposite */
    while (kvs__pool_idle(p) && p->wake == seen) pthread_cond_wait(&p->cond, &p->mutex);
    __atomic_sub_fetch(&p->sleepers, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&p->mutex);
}

static void kvs__pool_wake(kvs__pool *p)
{
    if (__atomic_load_n(&p->sleepers, __ATOMIC_SEQ_CST) == 0) return;
    pthread_mutex_lock(&p->mutex);
    p->wake++;
    pthread_cond_broadcast(&p->cond);
    pthread_mutex_unlock(&p->mutex);
}

static void *kvs__pool_main(void *arg)
{
    kvs__worker *me = (kvs__worker *)arg;
    kvs__pool *p = me->pool;
    kvs__fpu_enter();
    while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE)) {
        if (kvs__pool_work(p, me->index)) continue;
        double until = kvs__now() + KVS__SPIN;
        uint32_t turn = 0;
        while (kvs__pool_idle(p) && (++turn % 64 || kvs__now() < until)) kvs__relax(turn);
        if (kvs__pool_idle(p)) kvs__pool_sleep(p);
    }
    return NULL;
}

/* Runs fn over n items, at most max_take at a time, and returns when all are done. small: not worth a second thread. */
static void kvs__pool_run(kvs__pool *p, kvs__job *fn, void *arg, int64_t n, int64_t max_take, int small)
{
    if (n <= 0) return;
    if (p->n == 1 || n == 1 || small || n >= INT32_MAX) { fn(arg, 0, n, 0); return; }
    p->fn = fn; p->arg = arg;
    __atomic_store_n(&p->max_take, max_take, __ATOMIC_RELAXED);
    __atomic_store_n(&p->done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&p->word, (uint64_t)n, __ATOMIC_SEQ_CST);
    kvs__pool_wake(p);
    while (kvs__pool_work(p, 0)) {}
    for (uint32_t turn = 0; __atomic_load_n(&p->done, __ATOMIC_ACQUIRE) != n; turn++) kvs__relax(turn);
}

static void kvs__pool_close(kvs__pool *p, kvs__worker *w)
{
    pthread_mutex_lock(&p->mutex);
    __atomic_store_n(&p->stop, 1, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&p->cond);
    pthread_mutex_unlock(&p->mutex);
    for (int32_t i = 1; i < p->n; i++) pthread_join(w[i].thread, NULL);
    pthread_cond_destroy(&p->cond);
    pthread_mutex_destroy(&p->mutex);
}

/* Starts n - 1 workers; 0, or -1 if the system refuses. w: n entries that live as long as the pool. */
static int kvs__pool_open(kvs__pool *p, kvs__worker *w, int32_t n)
{
    memset(p, 0, sizeof *p);
    if (pthread_mutex_init(&p->mutex, NULL)) return -1;
    if (pthread_cond_init(&p->cond, NULL)) { pthread_mutex_destroy(&p->mutex); return -1; }
    p->n = n;
    for (int32_t i = 1; i < n; i++) {
        w[i].pool = p; w[i].index = i;
        if (pthread_create(&w[i].thread, NULL, kvs__pool_main, &w[i]) == 0) continue;
        p->n = i;                                /* close those that run */
        kvs__pool_close(p, w);
        return -1;
    }
    return 0;
}

/* ---- context and scratch ---- */

/* One tile of attention: n_tok rows of one sequence times n_head query heads that share a KV head, at most 12 in all,
   and the chunks it is to walk. */
typedef struct kvs__att_unit {
    int32_t seq, row, n_tok, head, n_head;
    int32_t chunk, chunk_end;
    int32_t n_parts; /* of a tile split over threads by chunk: in its first unit how many there are, else 0 */
    float *part;     /* where the chunk's result goes: [R]{[Dv], max, sum, -}; NULL: the unit does the whole tile */
} kvs__att_unit;

/* Of one thread. Rows lie KVS__SEG apart, see kvs__mm. */
typedef struct kvs__att_scratch {
    float q[KVS__ROWS * KVS__SEG], s[KVS__ROWS * KVS__SEG], p[KVS__ROWS * KVS__SEG];
    float o[KVS__ROWS * KVS__SEG], part[KVS__ROWS * (KVS__SEG + 16)];
    float max[KVS__ROWS], sum[KVS__ROWS];
    const char *v_tile[KVS__CHUNK / KVS__BS], *next[KVS__CHUNK / KVS__BS];
} kvs__att_scratch;

typedef struct kvs__cpu {
    kvs__mem mem;
    kvs_backend_desc d;
    const kvs__kernels *k;
    kvs__pool *pool; kvs__worker *worker;
    char *a;                         /* activations of a linear as the multiply kernel wants them */
    kvs__att_scratch *att;           /* [threads] */
    kvs__att_unit *unit; int64_t max_units;
    float *part; int64_t max_part;   /* floats: results of chunks that threads share out */
    float *row_scratch; size_t row_floats;      /* [threads][row_floats]: sampling, naive attention */
    const kvs_batch *batch;
    int32_t in_step, failed; uint32_t fpu;
    kvs__err err;
} kvs__cpu;

/* Remembers the first failure of a step; sync reports it. */
#define kvs__cpu_fail(c, ...) \
    do { if (!(c)->failed) kvs__fail(&(c)->err, KVS_ERR_BACKEND, __VA_ARGS__); (c)->failed = 1; } while (0)

static void kvs__sample_row(const float *logits, int32_t V, kvs_sample_row *row, float *scratch);   /* section sample */
static size_t kvs__sample_scratch_floats(int32_t V);

static int64_t kvs__ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Processors this process may run on. On Linux by the system call: its wrapper is hidden from whoever included a system
   header first. */
static int32_t kvs__cpu_count(void)
{
    int32_t n = 0;
#if defined(__linux__)
    unsigned char set[1024];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof set, set);
    for (long i = 0; i < bytes * 8; i++) n += set[i / 8] >> (i % 8) & 1;
#endif
    return n > 0 ? n : (int32_t)KVS__MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L);
}

static int32_t kvs__cpu_threads(const kvs_backend_desc *d)
{
    int32_t n = d->num_threads > 0 ? d->num_threads : kvs__cpu_count();
    return KVS__MIN(n, KVS__MAX_THREADS);
}

/* Lays out the scratch: sets the pointers of c (relative to base) and returns the bytes in all. */
static uint64_t kvs__cpu_layout(const kvs_backend_desc *d, kvs__cpu *c, char *base)
{
    uint64_t n = 0, threads = (uint64_t)kvs__cpu_threads(d);
    uint64_t T = (uint64_t)KVS__MAX(d->max_tokens, 1), H = (uint64_t)KVS__MAX(d->n_heads, 1);
    uint64_t chunks = (uint64_t)kvs__ceil_div(KVS__MAX(d->max_model_len, 1), KVS__CHUNK);
    uint64_t kv_heads = (uint64_t)KVS__MAX(d->n_kv_heads, 1);
    uint64_t groups = kv_heads * ((H / kv_heads + KVS__ROWS) / KVS__ROWS);       /* of heads in one tile, at most */
    uint64_t keys = chunks * KVS__CHUNK;
    c->max_part = (int64_t)(H * chunks * (KVS__SEG + 16));
    c->max_units = (int64_t)(T * KVS__MIN(H, groups) + H * chunks);
    c->row_floats = (size_t)KVS__MAX(keys, (uint64_t)kvs__sample_scratch_floats(d->vocab)) + 16;
    c->row_floats -= c->row_floats % 16;
#define KVS__TAKE(field, type, count) \
    do { c->field = (type *)(void *)(base + n); n += ((uint64_t)(count) * sizeof(type) + 63) / 64 * 64; } while (0)
    KVS__TAKE(pool, kvs__pool, 1);
    KVS__TAKE(worker, kvs__worker, threads);
    KVS__TAKE(a, char, T * (uint64_t)kvs__ceil_div(KVS__MAX(d->max_k, 1), KVS__SEG) * KVS__SEG * 4);
    KVS__TAKE(att, kvs__att_scratch, threads);
    KVS__TAKE(unit, kvs__att_unit, c->max_units);
    KVS__TAKE(part, float, c->max_part);
    KVS__TAKE(row_scratch, float, threads * (uint64_t)c->row_floats);
#undef KVS__TAKE
    return n;
}

static uint64_t kvs__cpu_scratch_bytes(const kvs_backend_desc *d)
{
    kvs__cpu c;
    static char zero[1];
    return sizeof c + kvs__cpu_layout(d, &c, zero);
}

/* Bytes that the kernel says can be had without swapping; the free pages if it does not say. */
static uint64_t kvs__cpu_free_memory(void)
{
    char text[512];
    FILE *f = fopen("/proc/meminfo", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    const char *p = strstr(text, "MemAvailable:");
    uint64_t kb = 0;
    if (p) for (p += 13; *p == ' ' || (*p >= '0' && *p <= '9'); p++) if (*p != ' ') kb = kb * 10 + (uint64_t)(*p - '0');
    if (kb) return kb * 1024;
    long pages = sysconf(_SC_AVPHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}

static const kvs__kernels *kvs__cpu_kernels(kvs_isa isa);
static const char *kvs__isa_name(kvs_isa isa)
{
    static const char *const name[] = {"auto", "portable", "avx2", "avx512"};
    return (unsigned)isa < KVS__COUNT(name) ? name[isa] : "?";
}

static kvs_result kvs__cpu_open(const kvs_backend_desc *d, void **ctx, char err[KVS_MAX_ERROR])
{
    kvs__err *e = (kvs__err *)(void *)err;
    kvs__mem mem;
    *ctx = NULL;
    const kvs__kernels *k = kvs__cpu_kernels(d->isa);
    if (!k)
        return kvs__fail(e, KVS_ERR_UNSUPPORTED, "cpu: isa %s asked for, which this machine or build does not have",
                         kvs__isa_name(d->isa));
    kvs__mem_init(&mem, d->allocator);
    kvs__cpu *c = (kvs__cpu *)kvs__alloc(&mem, 1, sizeof *c);
    if (!c) return kvs__fail(e, KVS_ERR_MEMORY, "cpu: out of memory");
    uint64_t bytes = kvs__cpu_layout(d, c, (char *)c);
    char *scratch = bytes < SIZE_MAX ? (char *)kvs__alloc_raw(&mem, (size_t)bytes, 1) : NULL;
    if (!scratch) {
        kvs__free(&mem, c);
        return kvs__fail(e, KVS_ERR_MEMORY, "cpu: no memory for %.1f MB of scratch", (double)bytes / 1e6);
    }
    kvs__cpu_layout(d, c, scratch);
    c->mem = mem; c->d = *d; c->k = k;
    if (kvs__pool_open(c->pool, c->worker, kvs__cpu_threads(d))) {
        kvs__free(&mem, scratch);
        kvs__free(&mem, c);
        return kvs__fail(e, KVS_ERR_BACKEND, "cpu: could not start %d threads", kvs__cpu_threads(d));
    }
    *ctx = c;
    return KVS_OK;
}

/* The calling thread gets its own floating-point settings back. */
static void kvs__cpu_end_step(kvs__cpu *c)
{
    if (c->in_step) kvs__fpu_leave(c->fpu);
    c->in_step = 0;
}

static void kvs__cpu_close(void *ctx)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    if (!c) return;
    kvs__cpu_end_step(c);
    kvs__pool_close(c->pool, c->worker);
    kvs__mem mem = c->mem;
    kvs__free(&mem, c->pool);        /* the first thing in the scratch */
    kvs__free(&mem, c);
}

static const char *kvs__cpu_isa_name(void *ctx) { return ((kvs__cpu *)ctx)->k->name; }
static int32_t kvs__cpu_num_threads(void *ctx) { return ((kvs__cpu *)ctx)->pool->n; }

static void *kvs__cpu_alloc(void *ctx, uint64_t bytes)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    char *p = bytes < SIZE_MAX ? (char *)kvs__alloc_raw(&c->mem, (size_t)bytes, 1) : NULL;
#if defined(MADV_HUGEPAGE)                       /* weights and KV are read in strides: +10 % at one row */
    const uintptr_t huge = 2u << 20, from = ((uintptr_t)p + huge - 1) & ~(huge - 1);
    const uintptr_t to = ((uintptr_t)p + (uintptr_t)bytes) & ~(huge - 1);
    if (p && bytes >= 2 * huge && to > from) (void)madvise((void *)from, (size_t)(to - from), MADV_HUGEPAGE);
#endif
    return p;
}
static void kvs__cpu_free(void *ctx, void *p) { kvs__free(&((kvs__cpu *)ctx)->mem, p); }
static void kvs__cpu_upload(void *ctx, void *dst, const void *host, uint64_t n)
{
    (void)ctx;
    if (n) memcpy(dst, host, (size_t)n);
}
static void kvs__cpu_download(void *ctx, void *host, const void *src, uint64_t n)
{
    kvs__cpu_upload(ctx, host, src, n);
}

static void kvs__cpu_begin(void *ctx, const kvs_batch *b)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    if (!c->in_step) { c->fpu = kvs__fpu_enter(); c->in_step = 1; }
    c->batch = b;
    kvs__pool_wake(c->pool);
}

static kvs_result kvs__cpu_sync(void *ctx, char err[KVS_MAX_ERROR])
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__cpu_end_step(c);
    if (!c->failed) return KVS_OK;
    c->failed = 0;
    return kvs__fail((kvs__err *)(void *)err, KVS_ERR_BACKEND, "%s", c->err.text);
}

/* ---- weights ---- */

static int kvs__is_float(kvs_dtype t) { return t == KVS_F32 || t == KVS_F16 || t == KVS_BF16; }

/* dst[n] = n elements of type t, stride elements apart. Files may hold them at any address. */
static void kvs__load_row(float *dst, const void *src, kvs_dtype t, int64_t stride, int32_t n)
{
    const char *p = (const char *)src;
    stride *= (int64_t)kvs__dtype_size(t);
    if (t == KVS_F32)       for (int32_t i = 0; i < n; i++) dst[i] = kvs__load_f32(p + i * stride);
    else if (t == KVS_BF16) for (int32_t i = 0; i < n; i++) dst[i] = kvs__bf16_f32(kvs__load_u16(p + i * stride));
    else                    for (int32_t i = 0; i < n; i++) dst[i] = kvs__f16_f32(kvs__load_u16(p + i * stride));
}

static void kvs__store_elem(char *dst, kvs_dtype t, float x)
{
    uint16_t h = t == KVS_BF16 ? kvs__f32_bf16(x) : kvs__f32_f16(x);
    if (t == KVS_F32) memcpy(dst, &x, 4);
    else memcpy(dst, &h, 2);
}

/* Where element (row, col) of a weight of kind ROWS lies. */
static const char *kvs__weight_at(const kvs_weight *w, int64_t row, int64_t col)
{
    return (const char *)w->data + (row * w->row_stride + col) * (int64_t)kvs__dtype_size(w->dtype);
}

static int kvs__rows_view(const kvs_weight_desc *w)
{
    return w->kind == KVS_WEIGHT_ROWS && w->n_parts == 1 && !w->parts[0].row_map && w->parts[0].col_stride == 1 &&
           kvs__is_float(w->parts[0].dtype);
}

/* Elements of k as stored: pairs for bf16. */
static uint64_t kvs__panel_bytes(kvs_dtype t, int32_t k)
{
    return (uint64_t)(t == KVS_BF16 ? k + k % 2 : k) * 32 * kvs__dtype_size(t);
}

static uint64_t kvs__cpu_weight_bytes(const kvs_weight_desc *w)
{
    if (w->n <= 0 || w->k <= 0 || w->k >= INT32_MAX / 2) return 0;
    switch (w->kind) {
        case KVS_WEIGHT_LINEAR: return (uint64_t)kvs__ceil_div(w->n, 32) * kvs__panel_bytes(w->dtype, w->k);
        case KVS_WEIGHT_ROWS:
            return kvs__rows_view(w) ? 0 : (uint64_t)w->n * (uint64_t)w->k * kvs__dtype_size(w->dtype);
        case KVS_WEIGHT_VECTOR: return (uint64_t)w->k * 4;
        default: return 0;
    }
}

typedef struct kvs__pack_arg { const kvs_weight_desc *w; char *out; } kvs__pack_arg;

/* Where output row r of w lies; its part. */
static const kvs_weight_part *kvs__pack_row(const kvs_weight_desc *w, int32_t r, const char **row)
{
    const kvs_weight_part *p = w->parts;
    for (; r >= p->rows; p++) r -= p->rows;
    if (p->row_map) r = p->row_map[r];
    *row = (const char *)p->data + (int64_t)r * p->row_stride * (int64_t)kvs__dtype_size(p->dtype);
    return p;
}

/* Columns k0.. of output row r into lane n of a panel: dst is the panel. tmp: 64 floats. */
static void kvs__pack_strip(const kvs_weight_desc *w, const kvs_weight_part *p, const char *row, int32_t n, int32_t k0,
                            char *dst)
{
    const int32_t count = KVS__MIN(64, w->k - k0);
    const int64_t size = (int64_t)kvs__dtype_size(w->dtype);
    float tmp[64];
    if (w->dtype == KVS_BF16 && p->dtype == KVS_BF16 && p->col_stride == 1 && count == 64) {  /* the usual case */
        dst += ((int64_t)k0 / 2 * 32 + n) * 4;
        row += (int64_t)k0 * 2;
        for (int32_t i = 0; i < 32; i++) memcpy(dst + i * 128, row + i * 4, 4);               /* pairs */
        return;
    }
    kvs__load_row(tmp, row + k0 * p->col_stride * (int64_t)kvs__dtype_size(p->dtype), p->dtype, p->col_stride, count);
    for (int32_t i = 0; i < count; i++) {
        int64_t k = k0 + i, at = w->dtype == KVS_BF16 ? ((k / 2) * 32 + n) * 2 + k % 2 : k * 32 + n;
        kvs__store_elem(dst + at * size, w->dtype, tmp[i]);
    }
}

/* Items: panels. [K/2][32][2] for bf16, [K][32] else; zero beyond column N and, with odd K, in the last half pair. */
static void kvs__pack_panels(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__pack_arg *a = (const kvs__pack_arg *)arg;
    const kvs_weight_desc *w = a->w;
    const uint64_t bytes = kvs__panel_bytes(w->dtype, w->k);
    (void)thread;
    for (int64_t panel = begin; panel < end; panel++) {
        char *dst = a->out + (uint64_t)panel * bytes;
        const int32_t lanes = (int32_t)KVS__MIN(32, w->n - panel * 32);
        if (lanes < 32 || w->k % 2) memset(dst, 0, (size_t)bytes);
        const char *row[32];
        const kvs_weight_part *part[32];
        for (int32_t n = 0; n < lanes; n++) part[n] = kvs__pack_row(w, (int32_t)(panel * 32) + n, &row[n]);
        for (int32_t k0 = 0; k0 < w->k; k0 += 64) /* strips of 64 x 32, so that the scattered writes stay in L1 */
            for (int32_t n = 0; n < lanes; n++) kvs__pack_strip(w, part[n], row[n], n, k0, dst);
    }
}

/* Items: rows of a [N, K] copy. */
static void kvs__pack_rows(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__pack_arg *a = (const kvs__pack_arg *)arg;
    const kvs_weight_desc *w = a->w;
    const int64_t size = (int64_t)kvs__dtype_size(w->dtype);
    (void)thread;
    for (int64_t r = begin; r < end; r++) {
        const char *row;
        const kvs_weight_part *p = kvs__pack_row(w, (int32_t)r, &row);
        for (int32_t k = 0; k < w->k; k++) {
            float x;
            kvs__load_row(&x, row + k * p->col_stride * (int64_t)kvs__dtype_size(p->dtype), p->dtype, 1, 1);
            kvs__store_elem(a->out + (r * w->k + k) * size, w->dtype, x);
        }
    }
}

/* The parts of a vector are columns: element i is (row i, column 0). A fused bias has several, maybe permuted. */
static void kvs__pack_vector(const kvs_weight_desc *w, float *out)
{
    for (int32_t i = 0; i < w->k; i++) {
        const char *row;
        const kvs_weight_part *p = kvs__pack_row(w, i, &row);
        kvs__load_row(out + i, row, p->dtype, 1, 1);
        out[i] += w->add;
    }
}

static kvs_result kvs__pack_check(const kvs_weight_desc *w, kvs__err *e)
{
    int64_t rows = 0, want = w->kind == KVS_WEIGHT_VECTOR ? w->k : w->n;
    if (w->n <= 0 || w->k <= 0 || w->k >= INT32_MAX / 2 || w->n_parts <= 0)
        return kvs__fail(e, KVS_ERR_INVALID, "cpu: weight of shape [%d, %d] in %d parts", w->n, w->k, w->n_parts);
    for (int32_t i = 0; i < w->n_parts; i++) {
        if (!kvs__is_float(w->parts[i].dtype))
            return kvs__fail(e, KVS_ERR_UNSUPPORTED, "cpu: weight stored as %s, expected f32, f16 or bf16",
                             kvs__dtype_name(w->parts[i].dtype));
        if (w->parts[i].rows < 0)
            return kvs__fail(e, KVS_ERR_INVALID, "cpu: a weight part of %d rows", w->parts[i].rows);
        rows += w->parts[i].rows;
    }
    if (rows != want)
        return kvs__fail(e, KVS_ERR_INVALID, "cpu: the parts of a weight have %lld rows, expected %lld",
                         (long long)rows, (long long)want);
    if (w->kind != KVS_WEIGHT_VECTOR && !kvs__rows_view(w) && !kvs__is_float(w->dtype))
        return kvs__fail(e, KVS_ERR_UNSUPPORTED, "cpu: weights as %s in memory, expected f32, f16 or bf16",
                         kvs__dtype_name(w->dtype));
    return KVS_OK;
}

static kvs_result kvs__cpu_pack(void *ctx, const kvs_weight_desc *w, kvs_weight *out, char err[KVS_MAX_ERROR])
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__err *e = (kvs__err *)(void *)err;
    memset(out, 0, sizeof *out);
    kvs_result r = kvs__pack_check(w, e);
    if (r != KVS_OK) return r;
    out->kind = w->kind; out->dtype = w->dtype; out->n = w->n; out->k = w->k; out->row_stride = w->k;
    out->bytes = kvs__cpu_weight_bytes(w);
    if (kvs__rows_view(w)) {
        out->data = (void *)(uintptr_t)w->parts[0].data;
        out->dtype = w->parts[0].dtype; out->row_stride = w->parts[0].row_stride;
        return KVS_OK;
    }
    out->data = kvs__cpu_alloc(c, out->bytes);
    if (!out->data)
        return kvs__fail(e, KVS_ERR_MEMORY, "cpu: no memory for a weight of %.1f MB", (double)out->bytes / 1e6);
    kvs__pack_arg a = {w, (char *)out->data};
    if (w->kind == KVS_WEIGHT_VECTOR) { kvs__pack_vector(w, (float *)out->data); out->dtype = KVS_F32; }
    else if (w->kind == KVS_WEIGHT_ROWS) kvs__pool_run(c->pool, kvs__pack_rows, &a, w->n, INT32_MAX, 0);
    else kvs__pool_run(c->pool, kvs__pack_panels, &a, kvs__ceil_div(w->n, 32), INT32_MAX, 0);
    return KVS_OK;
}

/* ---- embed, norm, rope, act_mul, gather: elementwise ----
   Below KVS__SMALL elements one thread is quicker than two. */

#define KVS__SMALL 8192
typedef struct kvs__op { kvs__cpu *c; const void *a; } kvs__op;     /* of most jobs: a is the op's argument struct */

static const float *kvs__row(const void *base, int64_t stride, int64_t r) { return (const float *)base + r * stride; }
static float *kvs__row_mut(void *base, int64_t stride, int64_t r) { return (float *)base + r * stride; }

/* Items: rows. x = table[token] * scale (+ position). */
static void kvs__embed_rows(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__op *o = (const kvs__op *)arg;
    const kvs_embed_args *a = (const kvs_embed_args *)o->a;
    const kvs_batch *b = o->c->batch;
    const int32_t width = (a->table ? a->table : a->pos_table)->k;
    (void)thread;
    for (int64_t t = begin; t < end; t++) {
        float *x = kvs__row_mut(a->x, a->x_stride, t), tmp[64];
        for (int32_t i = 0; i < width; i += 64) {
            const int32_t n = KVS__MIN(64, width - i);
            const kvs_weight *w = a->table, *p = a->pos_table;
            if (w) kvs__load_row(x + i, kvs__weight_at(w, b->token[t], i), w->dtype, 1, n);
            for (int32_t j = 0; j < n; j++) x[i + j] = w ? x[i + j] * a->scale : 0.0f;
            if (!p) continue;
            kvs__load_row(tmp, kvs__weight_at(p, (int64_t)b->pos[t] + a->pos_offset, i), p->dtype, 1, n);
            for (int32_t j = 0; j < n; j++) x[i + j] += tmp[j];
        }
    }
}

static void kvs__cpu_embed(void *ctx, const kvs_embed_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    const int64_t work = (int64_t)c->batch->T * (a->table ? a->table : a->pos_table)->k;
    kvs__pool_run(c->pool, kvs__embed_rows, &o, c->batch->T, INT32_MAX, work < KVS__SMALL);
}

/* Items: rows times heads. rms: y = x / sqrt(mean(x^2) + eps) * w + b. layer: the same of x - mean. */
KVS__INLINE void kvs__norm_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs_norm_args *a = (const kvs_norm_args *)((const kvs__op *)arg)->a;
    const float *w = a->w ? (const float *)a->w->data : NULL, *b = a->b ? (const float *)a->b->data : NULL;
    const int32_t D = a->D;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int64_t row = i / a->heads, at = i % a->heads * D;
        float *x = kvs__row_mut(a->x, a->x_stride, row) + at, *y = kvs__row_mut(a->y, a->y_stride, row) + at;
        if (a->delta) {
            const float *__restrict__ d = kvs__row(a->delta, a->delta_stride, row) + at;
            for (int32_t j = 0; j < D; j++) x[j] += d[j];
        }
        float mean = a->kind == KVS_NORM_LAYER ? kvs__lane_sum(x, D, 0.0f, 1) / (float)D : 0.0f;
        float var = kvs__lane_sum(x, D, mean, 2) / (float)D;
        float scale = 1.0f / sqrtf(var + a->eps);
        for (int32_t j = 0; j < D; j++) y[j] = (x[j] - mean) * scale;
        if (w) for (int32_t j = 0; j < D; j++) y[j] *= w[j];
        if (b) for (int32_t j = 0; j < D; j++) y[j] += b[j];
    }
}

static void kvs__cpu_norm(void *ctx, const kvs_norm_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    const int64_t n = (int64_t)a->rows * a->heads;
    kvs__pool_run(c->pool, c->k->norm, &o, n, INT32_MAX, n * a->D < KVS__SMALL);
}

/* Items: rows. (x0, x1) = (x0 cos - x1 sin, x1 cos + x0 sin). */
KVS__INLINE void kvs__rope_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__op *o = (const kvs__op *)arg;
    const kvs_rope_args *a = (const kvs_rope_args *)o->a;
    const int32_t half = a->rot_dim / 2;
    (void)thread;
    for (int64_t t = begin; t < end; t++) {
        const float *__restrict__ cs = a->table + (int64_t)o->c->batch->pos[t] * 2 * half, *__restrict__ sn = cs + half;
        for (int32_t h = 0; h < a->heads; h++) {
            float *x = kvs__row_mut(a->x, a->x_stride, t) + (int64_t)h * a->Dh;
            float *__restrict__ lo = x, *__restrict__ hi = x + half;
            if (a->interleaved) {
                for (int32_t i = 0; i < half; i++) {
                    float x0 = x[2 * i], x1 = x[2 * i + 1];
                    x[2 * i] = x0 * cs[i] - x1 * sn[i]; x[2 * i + 1] = x1 * cs[i] + x0 * sn[i];
                }
            } else {
                for (int32_t i = 0; i < half; i++) {
                    float x0 = lo[i], x1 = hi[i];
                    lo[i] = x0 * cs[i] - x1 * sn[i]; hi[i] = x1 * cs[i] + x0 * sn[i];
                }
            }
        }
    }
}

static void kvs__cpu_rope(void *ctx, const kvs_rope_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    const int64_t work = (int64_t)c->batch->T * a->heads * a->rot_dim;
    kvs__pool_run(c->pool, c->k->rope, &o, c->batch->T, INT32_MAX, work < KVS__SMALL);
}

/* Items: rows. y = act(g) * u, in pieces so that y may be g. */
KVS__INLINE void kvs__act_mul_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs_act_mul_args *a = (const kvs_act_mul_args *)((const kvs__op *)arg)->a;
    float tmp[256];
    (void)thread;
    for (int64_t t = begin; t < end; t++)
        for (int32_t i = 0; i < a->F; i += 256) {
            const int32_t n = KVS__MIN(256, a->F - i);
            const float *u = kvs__row(a->u, a->gu_stride, t) + i;
            float *y = kvs__row_mut(a->y, a->y_stride, t) + i;
            memcpy(tmp, kvs__row(a->g, a->gu_stride, t) + i, (size_t)n * sizeof *tmp);
            kvs__act_n(a->act, tmp, n);
            for (int32_t j = 0; j < n; j++) y[j] = tmp[j] * u[j];
        }
}

static void kvs__cpu_act_mul(void *ctx, const kvs_act_mul_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    kvs__pool_run(c->pool, c->k->act_mul, &o, c->batch->T, INT32_MAX, (int64_t)c->batch->T * a->F < KVS__SMALL);
}

static void kvs__cpu_gather(void *ctx, const kvs_gather_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    if (c->failed) return;
    for (int32_t i = 0; i < a->n; i++)
        memcpy(kvs__row_mut(a->y, a->y_stride, i), kvs__row(a->x, a->x_stride, a->rows[i]),
               (size_t)a->D * sizeof(float));
}

/* ---- linear ----
   Rows are cut into tiles of nearly equal height, at most 12; the weight into panels of 32 columns. First the rows are
   rounded and laid out as the multiply kernel wants them, then each (panel, tile) is one call of it. */

typedef struct kvs__linear { kvs__cpu *c; const kvs_linear_args *a; kvs__mm_fn *mm; int32_t tiles, bf16; } kvs__linear;

/* First row of a tile. */
static int32_t kvs__tile_row(const kvs__linear *x, int32_t tile)
{
    return (int32_t)((int64_t)x->a->rows * tile / x->tiles);
}

/* n elements at dst as they meet the weights; with an odd n, bf16 gets a zero beside the last. */
KVS__INLINE void kvs__round_n(const float *__restrict__ src, int32_t n, char *__restrict__ dst, int bf16, int bytes)
{
    if (!bf16) { memcpy(dst, src, (size_t)n * 4); return; }
    if (bytes == 2) {
        uint16_t *__restrict__ h = (uint16_t *)(void *)dst;
        for (int32_t i = 0; i < n; i++) h[i] = kvs__f32_bf16(src[i]);
        if (n % 2) h[n] = 0;
    } else {
        float *__restrict__ f = (float *)(void *)dst;
        for (int32_t i = 0; i < n; i++) f[i] = kvs__bf16_f32(kvs__f32_bf16(src[i]));
        if (n % 2) f[n] = 0.0f;
    }
}

/* Items: row tiles. */
KVS__INLINE void kvs__round_rows_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__linear *x = (const kvs__linear *)arg;
    const int32_t K = x->a->w->k, segs = (int32_t)kvs__ceil_div(K, KVS__SEG), bytes = x->bf16 ? x->c->k->bf16_bytes : 4;
    (void)thread;
    for (int64_t tile = begin; tile < end; tile++) {
        const int32_t r0 = kvs__tile_row(x, (int32_t)tile), R = kvs__tile_row(x, (int32_t)tile + 1) - r0;
        char *dst = x->c->a + (int64_t)r0 * segs * KVS__SEG * bytes;
        for (int32_t r = 0; r < R; r++)
            for (int32_t s = 0; s < segs; s++)
                kvs__round_n(kvs__row(x->a->x, x->a->x_stride, r0 + r) + s * KVS__SEG,
                             KVS__MIN(KVS__SEG, K - s * KVS__SEG), dst + (int64_t)(s * R + r) * KVS__SEG * bytes,
                             x->bf16, bytes);
    }
}

/* One row of n columns from column n0 on: y = act(acc + bias) + residual. */
KVS__INLINE void kvs__finish_row(const kvs_linear_args *a, int64_t row, int32_t n0, int32_t n, float *__restrict__ acc)
{
    float *y = kvs__row_mut(a->y, a->y_stride, row) + n0;
    if (a->bias) {
        const float *__restrict__ b = (const float *)a->bias->data + n0;
        for (int32_t i = 0; i < n; i++) acc[i] += b[i];
    }
    kvs__act_n(a->act, acc, n);
    if (a->residual) {
        const float *res = kvs__row(a->residual, a->residual_stride, row) + n0;
        for (int32_t i = 0; i < n; i++) acc[i] += res[i];
    }
    memcpy(y, acc, (size_t)n * sizeof *y);
}

/* Items: panel * tiles + tile, so that a thread stays on one panel while it goes through the rows. With a single tile
   of few rows up to 4 panels are computed together: more chains, which hide the latency of the multiply-adds. */
KVS__INLINE void kvs__linear_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__linear *x = (const kvs__linear *)arg;
    const kvs_linear_args *a = x->a;
    const kvs_dtype t = a->w->dtype;
    const int32_t K = a->w->k, N = a->w->n, segs = (int32_t)kvs__ceil_div(K, KVS__SEG);
    const int32_t bytes = x->bf16 ? x->c->k->bf16_bytes : 4, per = x->bf16 ? 2 : 1;           /* elements of a step */
    const int64_t panel_bytes = (int64_t)kvs__panel_bytes(t, K), half = 16 * per * (int64_t)kvs__dtype_size(t);
    float out[KVS__ROWS * 32] __attribute__((aligned(64)));
    kvs__mm m;
    (void)thread;
    memset(&m, 0, sizeof m);
    m.w_step = (size_t)(2 * half); m.w_seg = m.w_step * (size_t)(KVS__SEG / per);
    m.n_seg = segs; m.n_step = KVS__SEG / per; m.n_last = (K - (segs - 1) * KVS__SEG + per - 1) / per;
    m.out = out;
    for (int64_t i = begin; i < end; ) {
        const int32_t panel = (int32_t)(i / x->tiles), tile = (int32_t)(i % x->tiles);
        const int32_t r0 = kvs__tile_row(x, tile), R = kvs__tile_row(x, tile + 1) - r0;
        const int32_t P = (int32_t)KVS__MIN(end - i, x->tiles > 1 || !x->bf16 || R > 6 ? 1 : R > 3 ? 2 : 4);
        m.R = R; m.NV = 2 * P;
        m.a = x->c->a + (int64_t)r0 * segs * KVS__SEG * bytes; m.a_seg = (size_t)R * KVS__SEG * (size_t)bytes;
        m.w = (const char *)a->w->data + panel * panel_bytes;
        for (int32_t v = 0; v < 8; v++) m.lane[v] = v / 2 * panel_bytes + v % 2 * half;
        m.out_stride = (size_t)P * 32;
        /* one tile: a few KB ahead in each panel. Several: each fetches its share of the next panel */
        m.ahead = x->tiles == 1 ? 4096 : panel_bytes;
        m.ahead_from = m.n_step * tile / x->tiles; m.ahead_to = m.n_step * (tile + 1) / x->tiles;
        x->mm(&m);
        for (int32_t r = 0; r < R; r++)
            kvs__finish_row(a, r0 + r, panel * 32, KVS__MIN(P * 32, N - panel * 32), out + (size_t)r * m.out_stride);
        i += P;
    }
}

static kvs__mm_fn *kvs__mm_of(const kvs__kernels *k, kvs_dtype t)
{
    return t == KVS_BF16 ? k->mm_bf16 : t == KVS_F16 ? k->mm_f16 : k->mm_f32;
}

static void kvs__cpu_linear(void *ctx, const kvs_linear_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    const kvs_weight *w = a->w;
    if (c->failed || a->rows <= 0) return;
    if (w->kind != KVS_WEIGHT_LINEAR || a->rows > c->d.max_tokens || w->k > c->d.max_k) {
        kvs__cpu_fail(c, "linear: %d rows of %d, but the scratch is for %d rows of %d", a->rows, w->k, c->d.max_tokens,
                      c->d.max_k);
        return;
    }
    const int32_t tiles = (int32_t)kvs__ceil_div(a->rows, KVS__ROWS);
    const int64_t in = (int64_t)a->rows * w->k;
    kvs__linear x = {c, a, kvs__mm_of(c->k, w->dtype), tiles, w->dtype == KVS_BF16};
    kvs__pool_run(c->pool, c->k->round_rows, &x, tiles, INT32_MAX, in < KVS__SMALL);
    kvs__pool_run(c->pool, c->k->linear, &x, kvs__ceil_div(w->n, 32) * tiles, INT32_MAX, in * w->n < 4 * KVS__SMALL);
}

/* ---- the KV cache ----
   A page is [L][K,V][HKV] tiles, a tile 16 tokens of one head. Inside a tile, so that a vector holds 16 tokens of K or
   16 channels of V:
       f32, f16   K [Dh][16]        V [16][Dv]
       bf16       K [Dh/2][16][2]   V [8][Dv][2]      pairs of channels, pairs of tokens
   Dv is Dh rounded up to 16; the channels beyond Dh are never written and what is computed from them is never used. */

static int32_t kvs__kv_dv(const kvs_kv_desc *kv) { return (kv->head_dim + 15) / 16 * 16; }

static uint64_t kvs__kv_tile(const kvs_kv_desc *kv)
{
    return (uint64_t)kvs__kv_dv(kv) * KVS__BS * kvs__dtype_size(kv->dtype);
}

static uint64_t kvs__cpu_page_bytes(const kvs_kv_desc *kv)
{
    if (!kvs__is_float(kv->dtype) || kv->block_size != KVS__BS || kv->head_dim < 2 || kv->head_dim > KVS__MAX_DH)
        return 0;
    if (kv->head_dim % 2 || kv->n_layers <= 0 || kv->n_kv_heads <= 0) return 0;
    return 2 * (uint64_t)kv->n_layers * (uint64_t)kv->n_kv_heads * kvs__kv_tile(kv);
}

/* Byte offset of a tile in the pool. which: 0 K, 1 V. */
static uint64_t kvs__kv_offset(const kvs_kv_desc *kv, int64_t block, int32_t layer, int32_t which, int32_t head)
{
    uint64_t tile = ((uint64_t)layer * 2 + (uint64_t)which) * (uint64_t)kv->n_kv_heads + (uint64_t)head;
    return (uint64_t)block * kvs__cpu_page_bytes(kv) + tile * kvs__kv_tile(kv);
}

/* Index of (slot, channel d) inside a tile. */
static int64_t kvs__kv_at(const kvs_kv_desc *kv, int32_t which, int32_t slot, int32_t d)
{
    const int64_t Dv = kvs__kv_dv(kv), pair = kv->dtype == KVS_BF16;
    if (which == 0) return pair ? (d / 2 * KVS__BS + slot) * 2 + d % 2 : d * KVS__BS + slot;
    return pair ? (slot / 2 * Dv + d) * 2 + slot % 2 : slot * Dv + d;
}

/* Items: rows. A V token in an even slot sets its partner to zero: the pair is read as soon as the even one is visible,
   and zero times what happened to lie there must not be NaN. (Not if the next row writes the partner, perhaps at this
   moment.) */
static void kvs__kv_write_rows(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__op *o = (const kvs__op *)arg;
    const kvs_kv_write_args *a = (const kvs_kv_write_args *)o->a;
    const kvs_kv_desc *kv = a->kv;
    const kvs_batch *b = o->c->batch;
    const int64_t size = (int64_t)kvs__dtype_size(kv->dtype);
    (void)thread;
    for (int64_t t = begin; t < end; t++) {
        const int32_t slot = (int32_t)(b->slot[t] % KVS__BS);
        const int clear = kv->dtype == KVS_BF16 && slot % 2 == 0 && !(t + 1 < b->T && b->slot[t + 1] == b->slot[t] + 1);
        for (int32_t i = 0; i < 2 * kv->n_kv_heads; i++) {
            const int32_t which = i & 1, head = i / 2;
            const float *x = kvs__row(which ? a->v : a->k, a->stride, t) + (int64_t)head * kv->head_dim;
            char *tile = (char *)a->pool + kvs__kv_offset(kv, b->slot[t] / KVS__BS, a->layer, which, head);
            const int64_t at = kvs__kv_at(kv, which, slot, 0), odd = kvs__kv_at(kv, which, slot, 1) - at;
            const int64_t two = kvs__kv_at(kv, which, slot, 2) - at;         /* from one pair of channels to the next */
            for (int32_t d = 0; d < kv->head_dim; d++) {
                char *p = tile + (at + d / 2 * two + d % 2 * odd) * size;
                kvs__store_elem(p, kv->dtype, x[d]);
                if (which && clear) memset(p + size, 0, (size_t)size);
            }
        }
    }
}

static void kvs__cpu_kv_write(void *ctx, const kvs_kv_write_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    const int64_t work = (int64_t)c->batch->T * a->kv->n_kv_heads * a->kv->head_dim;
    kvs__pool_run(c->pool, kvs__kv_write_rows, &o, c->batch->T, INT32_MAX, work < KVS__SMALL / 8);
}

static void kvs__cpu_block_copy(void *ctx, void *pool, const kvs_kv_desc *kv, int32_t src, int32_t dst)
{
    const uint64_t n = kvs__cpu_page_bytes(kv);
    (void)ctx;
    if (src != dst) memcpy((char *)pool + (uint64_t)dst * n, (const char *)pool + (uint64_t)src * n, (size_t)n);
}
static void kvs__cpu_block_read(void *ctx, const void *pool, const kvs_kv_desc *kv, int32_t block, void *host)
{
    const uint64_t n = kvs__cpu_page_bytes(kv);
    (void)ctx;
    memcpy(host, (const char *)pool + (uint64_t)block * n, (size_t)n);
}
static void kvs__cpu_block_write(void *ctx, void *pool, const kvs_kv_desc *kv, int32_t block, const void *host)
{
    const uint64_t n = kvs__cpu_page_bytes(kv);
    (void)ctx;
    memcpy((char *)pool + (uint64_t)block * n, host, (size_t)n);
}

/* ---- attention, naive: what the paged one below must equal but for rounding ----
   All scores of a row, one softmax over them, one weighted sum. Items: rows times heads. */

/* The keys that the query at pos sees: lo..pos. */
static int32_t kvs__att_lo(const kvs_attention_args *a, int32_t pos)
{
    return a->window > 0 ? KVS__MAX(0, pos - a->window + 1) : 0;
}

/* The score of one key from its dot product. */
KVS__INLINE float kvs__att_score(const kvs_attention_args *a, float dot, float slope, int32_t distance)
{
    float s = dot * a->scale;
    if (a->softcap > 0.0f) s = a->softcap * kvs__tanhf(s / a->softcap);
    if (a->alibi) s = s + slope * (float)distance;
    return s;
}

static float kvs__kv_load(const kvs_attention_args *a, const int32_t *table, int32_t which, int32_t head, int32_t j,
                          int32_t d)
{
    const char *tile = (const char *)a->pool + kvs__kv_offset(a->kv, table[j / KVS__BS], a->layer, which, head);
    float x;
    kvs__load_row(&x, tile + kvs__kv_at(a->kv, which, j % KVS__BS, d) * (int64_t)kvs__dtype_size(a->kv->dtype),
                  a->kv->dtype, 1, 1);
    return x;
}

static void kvs__naive_rows(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__op *o = (const kvs__op *)arg;
    const kvs_attention_args *a = (const kvs_attention_args *)o->a;
    const kvs_batch *b = o->c->batch;
    const int32_t Dh = a->kv->head_dim, G = a->H / a->kv->n_kv_heads;
    float *s = o->c->row_scratch + (size_t)thread * o->c->row_floats;
    for (int64_t i = begin; i < end; i++) {
        const int32_t t = (int32_t)(i / a->H), h = (int32_t)(i % a->H), pos = b->pos[t], lo = kvs__att_lo(a, pos);
        const int32_t *table = b->block_table + (int64_t)b->seq[t] * b->table_stride;
        const float *q = kvs__row(a->q, a->q_stride, t) + (int64_t)h * Dh;
        float *out = kvs__row_mut(a->out, a->out_stride, t) + (int64_t)h * Dh, max = -INFINITY, sum = 0.0f;
        for (int32_t j = lo; j <= pos; j++) {
            float dot = 0.0f;
            for (int32_t d = 0; d < Dh; d++) dot += q[d] * kvs__kv_load(a, table, 0, h / G, j, d);
            s[j - lo] = kvs__att_score(a, dot, a->alibi ? a->alibi[h] : 0.0f, j - pos);
            max = s[j - lo] > max ? s[j - lo] : max;
        }
        for (int32_t j = lo; j <= pos; j++) { s[j - lo] = kvs__expf(s[j - lo] - max); sum += s[j - lo]; }
        for (int32_t d = 0; d < Dh; d++) {
            float acc = 0.0f;
            for (int32_t j = lo; j <= pos; j++) acc += s[j - lo] * kvs__kv_load(a, table, 1, h / G, j, d);
            out[d] = acc / sum;
        }
    }
}

/* ---- attention, paged and chunked (the algorithm of FlashAttention: no row of scores longer than a chunk) ---- */

typedef struct kvs__att {
    kvs__cpu *c; const kvs_attention_args *a; kvs__mm_fn *mm;
    int32_t bf16, p_bytes;               /* how q and p meet the cache: rounded to bf16 or not, bytes of an element */
    int32_t Dh, Dv, G;
    size_t lanes;                        /* bytes of a vector of the cache: 16 tokens or 16 channels (pairs, if bf16) */
    size_t page, tile; const char *k0;   /* bytes of a page and of a tile; the layer's first K tile in block 0 */
} kvs__att;

/* The keys of one chunk that some row of a unit sees: base + n0 .. base + end - 1; n0 is a multiple of 16. */
typedef struct kvs__att_span { int32_t base, n0, end, blocks, head; const int32_t *table; } kvs__att_span;

static kvs__att_span kvs__att_span_of(const kvs__att *x, const kvs__att_unit *u, int32_t chunk)
{
    const kvs_batch *b = x->c->batch;
    const int32_t first = kvs__att_lo(x->a, b->pos[u->row]), last = b->pos[u->row + u->n_tok - 1];
    kvs__att_span s;
    s.base = chunk * KVS__CHUNK;
    s.n0 = (KVS__MAX(first, s.base) - s.base) / KVS__BS * KVS__BS;
    s.end = KVS__MIN(last + 1 - s.base, KVS__CHUNK);
    s.blocks = (s.end - s.n0 + KVS__BS - 1) / KVS__BS;
    s.head = u->head / x->G;
    s.table = b->block_table + (int64_t)u->seq * b->table_stride + (s.base + s.n0) / KVS__BS;
    return s;
}

static const char *kvs__att_k_tile(const kvs__att *x, const kvs__att_span *s, int32_t i)
{
    return x->k0 + (size_t)s->table[i] * x->page + (size_t)s->head * x->tile;
}

/* p = exp(s * scale - m) for keys n0..n1-1, as f32 (kind 0), f32 rounded to bf16 (4) or bf16 (2); lane: sums before
   that rounding. Meanwhile bytes from..to-1 of the tiles next[] are fetched, one tile for 16 keys; next NULL: none. */
KVS__INLINE void kvs__att_weights(const float *__restrict__ s, int32_t n0, int32_t n1, float scale, float m,
                                  char *__restrict__ p, const int kind, float *__restrict__ lane,
                                  const char *const *next, size_t from, size_t to)
{
    float *__restrict__ pf = (float *)(void *)p;
    uint16_t *__restrict__ ph = (uint16_t *)(void *)p;
    for (int l = 0; l < 16; l++) lane[l] = 0.0f;
    for (int32_t i = n0; i < n1; i += 16) {
        if (next) for (size_t at = from; at < to; at += 64) __builtin_prefetch(next[(i - n0) / 16] + at, 0, 2);
        for (int l = 0; l < 16; l++) {
            const float e = kvs__expf(s[i + l] * scale - m);
            const uint32_t u = kvs__f32_u32(e), h = (u + 0x7fffu + (u >> 16 & 1u)) >> 16; /* e is 0, normal or NaN */
            lane[l] += e;
            if (kind == 2) ph[i + l] = (uint16_t)h;
            else pf[i + l] = kind == 4 ? kvs__u32_f32(h << 16) : e;
        }
    }
}

/* Scores to weights, for one row and the keys of a span, of which it sees v0..v1-1. s is overwritten. p: weights as the
   kernel wants them, exactly 0 where masked. out: max and sum of the visible ones; sum 0 if there are none. distance:
   of key 0 of the chunk from the row. */
KVS__INLINE void kvs__att_softmax(const kvs__att *x, const kvs__att_span *k, float *__restrict__ s,
                                  char *__restrict__ p, int32_t v0, int32_t v1, float slope, int32_t distance,
                                  float *out, const char *const *next, size_t from, size_t to)
{
    const kvs_attention_args *a = x->a;
    const int32_t n0 = k->n0, n1 = k->n0 + k->blocks * KVS__BS, kind = !x->bf16 ? 0 : x->p_bytes;
    float lane[16], scale = a->scale, m;
    out[0] = -INFINITY; out[1] = 0.0f;
    if (v0 >= v1) { memset(p + (size_t)n0 * (size_t)x->p_bytes, 0, (size_t)(n1 - n0) * (size_t)x->p_bytes); return; }
    if (a->softcap > 0.0f || a->alibi || !(scale > 0.0f)) {
        for (int32_t i = n0; i < n1; i++) s[i] = s[i] * scale;
        if (a->softcap > 0.0f) for (int32_t i = n0; i < n1; i++) s[i] = a->softcap * kvs__tanhf(s[i] / a->softcap);
        if (a->alibi) for (int32_t i = n0; i < n1; i++) s[i] = s[i] + slope * (float)(distance + i);
        scale = 1.0f;
    }
    for (int32_t i = n0; i < v0; i++) s[i] = -INFINITY;
    for (int32_t i = v1; i < n1; i++) s[i] = -INFINITY;
    for (int l = 0; l < 16; l++) lane[l] = -INFINITY;
    for (int32_t i = n0; i < n1; i += 16)
        for (int l = 0; l < 16; l++) lane[l] = s[i + l] > lane[l] ? s[i + l] : lane[l];
    for (int h = 8; h > 0; h /= 2)
        for (int l = 0; l < h; l++) lane[l] = lane[l + h] > lane[l] ? lane[l + h] : lane[l];
    m = lane[0] * scale;                     /* the maximum of s * scale, since scale > 0 and rounding is monotonic */
    if (kind == 2) kvs__att_weights(s, n0, n1, scale, m, p, 2, lane, next, from, to);
    else if (kind == 4) kvs__att_weights(s, n0, n1, scale, m, p, 4, lane, next, from, to);
    else kvs__att_weights(s, n0, n1, scale, m, p, 0, lane, next, from, to);
    out[0] = m; out[1] = kvs__tree_sum(lane);
}

/* q of the unit's rows, laid out for the kernel. */
KVS__INLINE void kvs__att_load_q(const kvs__att *x, const kvs__att_unit *u, kvs__att_scratch *z)
{
    for (int32_t r = 0; r < u->n_tok * u->n_head; r++) {
        const float *q = kvs__row(x->a->q, x->a->q_stride, u->row + r / u->n_head);
        q += (int64_t)(u->head + r % u->n_head) * x->Dh;
        kvs__round_n(q, x->Dh, (char *)z->q + (size_t)r * KVS__SEG * (size_t)x->p_bytes, x->bf16, x->p_bytes);
    }
}

/* z->s = q K^T. Beside each line of K comes one of V: the blocks lie anywhere, so only we know what is needed next. */
static void kvs__att_scores(const kvs__att *x, int32_t R, const kvs__att_span *k, kvs__att_scratch *z)
{
    kvs__mm m;
    memset(&m, 0, sizeof m);
    m.R = R; m.a = (const char *)z->q; m.w_step = x->lanes; m.out_stride = KVS__SEG;
    m.n_seg = 1; m.n_last = x->Dh / (x->bf16 ? 2 : 1);
    m.ahead = (ptrdiff_t)((size_t)x->a->kv->n_kv_heads * x->tile); m.ahead_to = INT32_MAX;
    for (int32_t i = 0; i < k->blocks; i += m.NV) {
        m.NV = KVS__MIN(8, k->blocks - i);
        m.w = kvs__att_k_tile(x, k, i); m.out = z->s + k->n0 + i * KVS__BS;
        for (int32_t v = 0; v < m.NV; v++) m.lane[v] = kvs__att_k_tile(x, k, i + v) - m.w;
        x->mm(&m);
    }
}

/* part[r] = p V. Beside V come the second halves of the K tiles of the next span. Tokens after the last visible pair,
   which may never have been written, are not touched. */
static void kvs__att_values(const kvs__att *x, int32_t R, const kvs__att_span *k, int more, kvs__att_scratch *z,
                            float *part)
{
    const int32_t per = x->bf16 ? 2 : 1;
    kvs__mm m;
    memset(&m, 0, sizeof m);
    for (int32_t i = 0; i < k->blocks; i++)
        z->v_tile[i] = kvs__att_k_tile(x, k, i) + (size_t)x->a->kv->n_kv_heads * x->tile;
    m.R = R; m.a = (const char *)z->p + (size_t)k->n0 * (size_t)x->p_bytes; m.a_seg = (size_t)(KVS__BS * x->p_bytes);
    m.seg = z->v_tile; m.w_step = (size_t)(x->Dv / 16) * x->lanes; m.out_stride = (size_t)(x->Dv + 16);
    m.n_seg = k->blocks; m.n_step = KVS__BS / per;
    m.n_last = (k->end - k->n0 - (k->blocks - 1) * KVS__BS + per - 1) / per;
    if (more) { m.ahead_seg = z->next; m.ahead_from = m.n_step / 2; m.ahead_to = m.n_step; }
    for (int32_t d = 0; d < x->Dv / 16; d += m.NV) {
        m.NV = KVS__MIN(8, x->Dv / 16 - d);
        for (int32_t v = 0; v < m.NV; v++) m.lane[v] = (ptrdiff_t)((size_t)(d + v) * x->lanes);
        m.out = part + d * 16;
        x->mm(&m);
    }
}

/* One chunk for all rows of a unit. part: [R]{[Dv], max, sum, 14 unused}. Only blocks that hold a key some row of the
   tile sees are read; a row gives keys that it does not see itself weight 0.
   Memory must not idle: while q K^T runs, V is fetched; during the softmax the first half of next's K tiles, during p V
   the second. On a Zen 4 core that streams 28 GB/s (2 KB tiles in random order: 14; 4 KB: 16), len 2048..4096: without
   any 10 GB/s, V only 13, K only 11, both 15-19. */
KVS__INLINE void kvs__att_chunk(const kvs__att *x, const kvs__att_unit *u, const kvs__att_span *k,
                                const kvs__att_span *next, kvs__att_scratch *z, float *part)
{
    const int32_t R = u->n_tok * u->n_head;
    for (int32_t i = 0; next && i < k->blocks; i++)
        z->next[i] = kvs__att_k_tile(x, next, KVS__MIN(i, next->blocks - 1));
    kvs__att_scores(x, R, k, z);
    for (int32_t r = 0; r < R; r++) {
        const int32_t pos = x->c->batch->pos[u->row + r / u->n_head], h = u->head + r % u->n_head;
        const int32_t v0 = KVS__MAX(kvs__att_lo(x->a, pos) - k->base, k->n0), v1 = KVS__MIN(pos + 1 - k->base, k->end);
        kvs__att_softmax(x, k, z->s + r * KVS__SEG, (char *)z->p + (size_t)r * KVS__SEG * (size_t)x->p_bytes, v0, v1,
                         x->a->alibi ? x->a->alibi[h] : 0.0f, k->base - pos, part + r * (x->Dv + 16) + x->Dv,
                         next ? z->next : NULL, x->tile / 2 * (size_t)r / (size_t)R,
                         x->tile / 2 * (size_t)(r + 1) / (size_t)R);
    }
    kvs__att_values(x, R, k, next != NULL, z, part);
}

/* Folds the result of the next chunk into o[R][KVS__SEG], max[R], sum[R]. o + 0: a chain that summed zeros of the
   tile's other rows may end in +0 where it would else be -0. */
KVS__INLINE void kvs__att_fold(const kvs__att *x, int32_t R, int first, const float *part, kvs__att_scratch *z)
{
    for (int32_t r = 0; r < R; r++, part += x->Dv + 16) {
        float *__restrict__ o = z->o + r * KVS__SEG;
        const float *__restrict__ acc = part;
        const float m = part[x->Dv], sum = part[x->Dv + 1];
        if (first) { z->max[r] = -INFINITY; z->sum[r] = 0.0f; }
        if (sum == 0.0f) continue;                                            /* the row sees no key of this chunk */
        if (z->sum[r] == 0.0f) {
            for (int32_t d = 0; d < x->Dh; d++) o[d] = acc[d] + 0.0f;
            z->max[r] = m; z->sum[r] = sum;
            continue;
        }
        const float top = z->max[r] > m ? z->max[r] : m, was = kvs__expf(z->max[r] - top), is = kvs__expf(m - top);
        for (int32_t d = 0; d < x->Dh; d++) o[d] = o[d] * was + (acc[d] + 0.0f) * is;
        z->max[r] = top; z->sum[r] = z->sum[r] * was + sum * is;
    }
}

KVS__INLINE void kvs__att_store(const kvs__att *x, const kvs__att_unit *u, const kvs__att_scratch *z)
{
    for (int32_t r = 0; r < u->n_tok * u->n_head; r++) {
        const float *o = z->o + r * KVS__SEG, inv = 1.0f / z->sum[r];
        float *out = kvs__row_mut(x->a->out, x->a->out_stride, u->row + r / u->n_head);
        out += (int64_t)(u->head + r % u->n_head) * x->Dh;
        for (int32_t d = 0; d < x->Dh; d++) out[d] = o[d] * inv;
    }
}

/* Items: units. A whole tile, or one chunk of it into its part. */
KVS__INLINE void kvs__attend_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__att *x = (const kvs__att *)arg;
    kvs__att_scratch *z = &x->c->att[thread];
    kvs__att_span k = kvs__att_span_of(x, &x->c->unit[begin], x->c->unit[begin].chunk), next;
    for (int64_t i = begin; i < end; i++) {
        const kvs__att_unit *u = &x->c->unit[i];
        float *part = u->part ? u->part : z->part;
        kvs__att_load_q(x, u, z);
        for (int32_t chunk = u->chunk; chunk < u->chunk_end; chunk++, k = next) {
            const kvs__att_unit *v = chunk + 1 < u->chunk_end ? u : u + 1;
            const int more = v == u || i + 1 < end;
            if (more) next = kvs__att_span_of(x, v, v == u ? chunk + 1 : v->chunk);
            else next = k;
            kvs__att_chunk(x, u, &k, more ? &next : NULL, z, part);
            if (!u->part) kvs__att_fold(x, u->n_tok * u->n_head, chunk == u->chunk, part, z);
        }
        if (!u->part) kvs__att_store(x, u, z);
    }
}

/* Items: units. Folds the parts of a split tile, in order. */
KVS__INLINE void kvs__merge_body(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__att *x = (const kvs__att *)arg;
    kvs__att_scratch *z = &x->c->att[thread];
    for (int64_t i = begin; i < end; i++) {
        const kvs__att_unit *u = &x->c->unit[i];
        for (int32_t j = 0; j < u->n_parts; j++) kvs__att_fold(x, u->n_tok * u->n_head, j == 0, u[j].part, z);
        if (u->n_parts) kvs__att_store(x, u, z);
    }
}

/* Lists the units; a tile is as many tokens as fit 12 rows with the heads that share a KV head. With split, one unit
   per chunk. Returns their number, -1 if the lists do not fit. */
static int64_t kvs__att_plan(const kvs__att *x, int split)
{
    const kvs_batch *b = x->c->batch;
    const int32_t per_tile = KVS__MIN(x->G, KVS__ROWS), toks = KVS__ROWS / per_tile;
    int64_t n = 0, used = 0;
    for (int32_t s = 0; s < b->S; s++)
        for (int32_t h = 0; h < x->a->H; h += KVS__MIN(per_tile, x->G - h % x->G))
            for (int32_t row = b->q_start[s]; row < b->q_start[s + 1]; row += toks) {
                kvs__att_unit u;
                memset(&u, 0, sizeof u);
                u.seq = s; u.row = row; u.n_tok = KVS__MIN(toks, b->q_start[s + 1] - row);
                u.head = h; u.n_head = KVS__MIN(per_tile, x->G - h % x->G);
                u.chunk = kvs__att_lo(x->a, b->pos[row]) / KVS__CHUNK;
                u.chunk_end = b->pos[row + u.n_tok - 1] / KVS__CHUNK + 1;
                const int32_t parts = split ? u.chunk_end - u.chunk : 1;
                const int64_t floats = split ? (int64_t)u.n_tok * u.n_head * (x->Dv + 16) : 0;
                if (n + parts > x->c->max_units || used + parts * floats > x->c->max_part) return -1;
                for (int32_t i = 0; i < parts; i++, n++) {
                    x->c->unit[n] = u;
                    if (!split) continue;
                    kvs__att_unit *v = &x->c->unit[n];
                    v->chunk = u.chunk + i; v->chunk_end = v->chunk + 1; v->n_parts = i ? 0 : parts;
                    v->part = x->c->part + used;
                    used += floats;
                }
            }
    return n;
}

static void kvs__cpu_attention(void *ctx, const kvs_attention_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    const kvs_kv_desc *kv = a->kv;
    kvs__op o = {c, a};
    if (c->failed) return;
    if (!kvs__cpu_page_bytes(kv) || a->H <= 0 || a->H % kv->n_kv_heads || a->H > c->d.n_heads ||
        c->batch->T > c->d.max_tokens) {
        kvs__cpu_fail(c, "attention: %d rows, %d heads on %d KV heads of %d %s: more than at open, or not supported",
                      c->batch->T, a->H, kv->n_kv_heads, kv->head_dim, kvs__dtype_name(kv->dtype));
        return;
    }
    if (a->how == KVS_ATTENTION_NAIVE) {
        kvs__pool_run(c->pool, kvs__naive_rows, &o, (int64_t)c->batch->T * a->H, 1, 0);
        return;
    }
    kvs__att x;
    x.c = c; x.a = a; x.mm = kvs__mm_of(c->k, kv->dtype);
    x.bf16 = kv->dtype == KVS_BF16; x.p_bytes = x.bf16 ? c->k->bf16_bytes : 4;
    x.Dh = kv->head_dim; x.Dv = kvs__kv_dv(kv); x.G = a->H / kv->n_kv_heads;
    x.lanes = kv->dtype == KVS_F16 ? 32 : 64;
    x.page = (size_t)kvs__cpu_page_bytes(kv); x.tile = (size_t)kvs__kv_tile(kv);
    x.k0 = (const char *)a->pool + kvs__kv_offset(kv, 0, a->layer, 0, 0);
    /* few tiles, as when one long sequence decodes, leave threads idle: then every chunk is a unit of its own */
    const int64_t tiles = (int64_t)c->batch->S * kv->n_kv_heads;
    int split = c->pool->n > 1 && tiles < 4 * (int64_t)c->pool->n && c->batch->T == c->batch->S;
    int64_t n = split ? kvs__att_plan(&x, 1) : -1;
    if (n < 0) { split = 0; n = kvs__att_plan(&x, 0); }
    if (n < 0) { kvs__cpu_fail(c, "attention: %d rows do not fit the scratch made at open", c->batch->T); return; }
    kvs__pool_run(c->pool, c->k->attend, &x, n, 4, 0);
    if (split) kvs__pool_run(c->pool, c->k->merge, &x, n, INT32_MAX, 1);
}

/* ---- sampling ---- */

/* Items: rows. */
static void kvs__sample_rows(void *arg, int64_t begin, int64_t end, int32_t thread)
{
    const kvs__op *o = (const kvs__op *)arg;
    const kvs_sample_args *a = (const kvs_sample_args *)o->a;
    for (int64_t i = begin; i < end; i++)
        kvs__sample_row(kvs__row(a->logits, a->stride, a->rows[i].logit_row), a->V, &a->rows[i],
                        o->c->row_scratch + (size_t)thread * o->c->row_floats);
}

static void kvs__cpu_sample(void *ctx, const kvs_sample_args *a)
{
    kvs__cpu *c = (kvs__cpu *)ctx;
    kvs__op o = {c, a};
    if (c->failed) return;
    if (a->V > c->d.vocab) {
        kvs__cpu_fail(c, "sample: vocabulary of %d, but the scratch is for %d", a->V, c->d.vocab);
        return;
    }
    kvs__pool_run(c->pool, kvs__sample_rows, &o, a->n_rows, 1, 0);
}

/* ---- the table ---- */

/* Compiles the jobs for one instruction set. */
#define KVS__JOB(name, isa, target) \
    target static void kvs__##name##_##isa(void *arg, int64_t begin, int64_t end, int32_t thread) \
    { kvs__##name##_body(arg, begin, end, thread); }
#define KVS__JOBS(isa, target) \
    KVS__JOB(round_rows, isa, target) KVS__JOB(linear, isa, target) KVS__JOB(norm, isa, target) \
    KVS__JOB(rope, isa, target) KVS__JOB(act_mul, isa, target) KVS__JOB(attend, isa, target) \
    KVS__JOB(merge, isa, target)
#define KVS__KERNELS(isa, name, bf16_bytes) \
    {name, bf16_bytes, kvs__mm_f32_##isa, kvs__mm_f16_##isa, kvs__mm_bf16_##isa, kvs__round_rows_##isa, \
     kvs__linear_##isa, kvs__norm_##isa, kvs__rope_##isa, kvs__act_mul_##isa, kvs__attend_##isa, kvs__merge_##isa}

KVS__JOBS(portable, )

static const kvs__kernels *kvs__cpu_kernels(kvs_isa isa)
{
    static const kvs__kernels portable = KVS__KERNELS(portable, "portable", 4);
    if (isa == KVS_ISA_PORTABLE) return &portable;
    if (isa == KVS_ISA_AVX2 || isa == KVS_ISA_AVX512) return kvs__simd_kernels(isa);
    if (isa != KVS_ISA_AUTO) return NULL;
    const kvs__kernels *best = kvs__simd_kernels(KVS_ISA_AVX512);
    if (!best) best = kvs__simd_kernels(KVS_ISA_AVX2);
    return best ? best : &portable;
}

KVS_API const kvs_backend *kvs_cpu_backend(void)
{
    static const kvs_backend table = {
        KVS_BACKEND_ABI, sizeof(kvs_backend), "cpu", 1, 4,
        kvs__cpu_weight_bytes, kvs__cpu_page_bytes, kvs__cpu_scratch_bytes, kvs__cpu_free_memory,
        kvs__cpu_open, kvs__cpu_close, kvs__cpu_isa_name, kvs__cpu_num_threads,
        kvs__cpu_alloc, kvs__cpu_free, kvs__cpu_upload, kvs__cpu_download, kvs__cpu_sync, kvs__cpu_pack,
        kvs__cpu_begin, kvs__cpu_embed, kvs__cpu_norm, kvs__cpu_linear, kvs__cpu_rope, kvs__cpu_kv_write,
        kvs__cpu_attention, kvs__cpu_act_mul, kvs__cpu_gather, kvs__cpu_sample,
        kvs__cpu_block_copy, kvs__cpu_block_read, kvs__cpu_block_write
    };
    return &table;
}

/* ====================================================================================================
   >>cpu_simd   The multiply kernel for AVX2 and AVX-512, and the jobs of section cpu compiled for both.

   Each kernel runs the chains of the numerics contract, several side by side: R rows times V vectors of accumulators
   stay in registers over the whole K. R x V is as large as the registers allow: 12 x 2 when there are rows enough, and
   with few rows more vectors, since a multiply-add takes 4-6 cycles and two can start in each. The functions carry
   target attributes, so no -march flag is needed; which set runs is decided at open. Owns: instructions. Must not know:
   what is multiplied.
   ==================================================================================================== */

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))

#include <cpuid.h>
#include <immintrin.h>

#define KVS__T256 __attribute__((target("avx2,fma,f16c")))
#define KVS__T512 __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))

/* Every loop over an array of vectors must vanish, or the array lives in memory. */
#if defined(__clang__)
#  define KVS__UNROLL _Pragma("unroll")
#else
#  define KVS__UNROLL _Pragma("GCC unroll 16")
#endif

enum { KVS__MM_F32, KVS__MM_F16, KVS__MM_BF16 };

static int32_t kvs__load_i32(const char *p) { int32_t i; memcpy(&i, p, 4); return i; }

/* Lines to fetch into L2 with the steps from..to of a segment. (On a Zen 4, K 576: 12 rows reach 160 GFLOP/s, without
   any prefetch 112. Into L1 they displace what is in use: 16 rows fell to 112, below the 147 without any.) */
#define KVS__AHEAD(step, V) \
    if ((uint32_t)(step) - from < count) { \
        KVS__UNROLL for (int v = 0; v < (V); v++) _mm_prefetch(w + lane[v] + ahead, _MM_HINT_T1); \
    }

KVS__T512 KVS__INLINE __m512 kvs__load512(const char *p, const int kind)
{
    if (kind != KVS__MM_F16) return _mm512_loadu_ps(p);
    return _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256((const __m256i *)(const void *)p));
}
/* One step of 16 chains. x: the same f32, or pair of bf16, in all lanes. */
KVS__T512 KVS__INLINE __m512 kvs__fma512(__m512 x, __m512 w, __m512 acc, const int kind)
{
    return kind == KVS__MM_BF16 ? _mm512_dpbf16_ps(acc, (__m512bh)x, (__m512bh)w) : _mm512_fmadd_ps(x, w, acc);
}

/* Rows 0..R-1, lane groups v0..v0+V-1. Groups beyond NV repeat the last one and are not stored. */
KVS__T512 KVS__INLINE void kvs__mm512(const kvs__mm *m, int32_t v0, const int R, const int V, const int kind)
{
    const size_t row = KVS__SEG * (kind == KVS__MM_BF16 ? 2 : 4), elem = 4;     /* bytes of a row of a, of a step */
    const uint32_t from = (uint32_t)m->ahead_from, count = (uint32_t)(m->ahead_to - m->ahead_from);
    ptrdiff_t lane[8], ahead = m->ahead;
    __m512 acc[24];
    KVS__UNROLL for (int v = 0; v < V; v++) lane[v] = m->lane[KVS__MIN(v0 + v, m->NV - 1)];
    KVS__UNROLL for (int i = 0; i < R * V; i++) acc[i] = _mm512_setzero_ps();
    for (int32_t s = 0; s < m->n_seg; s++) {
        const char *a = m->a + (size_t)s * m->a_seg, *w = kvs__mm_seg(m, s);
        const int32_t n = kvs__mm_steps(m, s);
        if (m->ahead_seg) ahead = m->ahead_seg[s] - w;
        for (int32_t i = 0; i < n; i++, a += elem, w += m->w_step) {
            KVS__AHEAD(i, V)
            KVS__UNROLL for (int v = 0; v < V; v += 2) {    /* two vectors, all rows: 24 + 2 + 1 registers at 12 x 2 */
                const __m512 w0 = kvs__load512(w + lane[v], kind), w1 = kvs__load512(w + lane[v + 1], kind);
                KVS__UNROLL for (int r = 0; r < R; r++) {
                    const __m512 x = _mm512_castsi512_ps(_mm512_set1_epi32(kvs__load_i32(a + (size_t)r * row)));
                    acc[r * V + v]     = kvs__fma512(x, w0, acc[r * V + v], kind);
                    acc[r * V + v + 1] = kvs__fma512(x, w1, acc[r * V + v + 1], kind);
                }
            }
        }
    }
    KVS__UNROLL for (int r = 0; r < R; r++)
        KVS__UNROLL for (int v = 0; v < V; v++)
            if (v0 + v < m->NV) _mm512_storeu_ps(m->out + (size_t)r * m->out_stride + 16 * (v0 + v), acc[r * V + v]);
}

/* Lane groups of one call, by rows: 3 x 8, 6 x 4, 12 x 2. (For f32 two are enough: a chain takes 4 cycles, not 6.) */
KVS__T512 KVS__INLINE void kvs__mm512_all(const kvs__mm *m, const int kind)
{
#define KVS__CASE(r, n) case r: kvs__mm512(m, v, r, n, kind); break;
    for (int32_t v = 0, take; v < m->NV; v += take) {
        take = kind != KVS__MM_BF16 ? 2 : m->R <= 3 && m->NV - v > 4 ? 8 : m->R <= 6 && m->NV - v > 2 ? 4 : 2;
        if (take == 8) switch (m->R) { KVS__CASE(1, 8) KVS__CASE(2, 8) KVS__CASE(3, 8) default: break; }
        else if (take == 4) switch (m->R) {
            KVS__CASE(1, 4) KVS__CASE(2, 4) KVS__CASE(3, 4) KVS__CASE(4, 4) KVS__CASE(5, 4) KVS__CASE(6, 4)
            default: break;
        } else switch (m->R) {
            KVS__CASE(1, 2) KVS__CASE(2, 2) KVS__CASE(3, 2) KVS__CASE(4, 2)  KVS__CASE(5, 2)  KVS__CASE(6, 2)
            KVS__CASE(7, 2) KVS__CASE(8, 2) KVS__CASE(9, 2) KVS__CASE(10, 2) KVS__CASE(11, 2) KVS__CASE(12, 2)
            default: break;
        }
    }
#undef KVS__CASE
}
KVS__T512 static void kvs__mm_f32_avx512(const kvs__mm *m)  { kvs__mm512_all(m, KVS__MM_F32); }
KVS__T512 static void kvs__mm_f16_avx512(const kvs__mm *m)  { kvs__mm512_all(m, KVS__MM_F16); }
KVS__T512 static void kvs__mm_bf16_avx512(const kvs__mm *m) { kvs__mm512_all(m, KVS__MM_BF16); }

/* 8 weights as f32: w0; of 8 bf16 pairs the even elements w0 and the odd ones w1. */
KVS__T256 KVS__INLINE void kvs__load256(const char *p, const int kind, __m256 *w0, __m256 *w1)
{
    *w1 = _mm256_setzero_ps();
    if (kind == KVS__MM_F16) *w0 = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
    else *w0 = _mm256_loadu_ps((const float *)(const void *)p);
    if (kind != KVS__MM_BF16) return;
    const __m256i pair = _mm256_castps_si256(*w0);
    *w0 = _mm256_castsi256_ps(_mm256_slli_epi32(pair, 16));
    *w1 = _mm256_castsi256_ps(_mm256_and_si256(pair, _mm256_set1_epi32((int)0xffff0000u)));
}

/* The same with half the register width and half the registers: rows r0..r0+R-1, V lane groups of two vectors each,
   R * V <= 4. A bf16 pair takes two FMAs, the odd element first. */
KVS__T256 KVS__INLINE void kvs__mm256(const kvs__mm *m, int32_t r0, int32_t v0, const int R, const int V,
                                      const int kind)
{
    const size_t row = KVS__SEG * 4, elem = kind == KVS__MM_BF16 ? 8 : 4;
    const int half = kind == KVS__MM_F16 ? 16 : 32;             /* bytes of half a lane group */
    const uint32_t from = (uint32_t)m->ahead_from, count = r0 ? 0 : (uint32_t)(m->ahead_to - m->ahead_from);
    ptrdiff_t lane[4], ahead = m->ahead;
    __m256 acc[8];
    KVS__UNROLL for (int v = 0; v < V; v++) lane[v] = m->lane[KVS__MIN(v0 + v, m->NV - 1)];
    KVS__UNROLL for (int i = 0; i < R * V * 2; i++) acc[i] = _mm256_setzero_ps();
    for (int32_t s = 0; s < m->n_seg; s++) {
        const char *a = m->a + (size_t)s * m->a_seg + (size_t)r0 * row, *w = kvs__mm_seg(m, s);
        const int32_t n = kvs__mm_steps(m, s);
        if (m->ahead_seg) ahead = m->ahead_seg[s] - w;
        for (int32_t i = 0; i < n; i++, a += elem, w += m->w_step) {
            KVS__AHEAD(i, V)
            KVS__UNROLL for (int v = 0; v < V; v++) {
                __m256 w0[2], w1[2];                    /* halves of the lane group; w1: odd elements of pairs */
                KVS__UNROLL for (int h = 0; h < 2; h++) kvs__load256(w + lane[v] + h * half, kind, &w0[h], &w1[h]);
                KVS__UNROLL for (int r = 0; r < R; r++) {
                    __m256 *c = &acc[(r * V + v) * 2];
                    if (kind == KVS__MM_BF16) {
                        const __m256 x1 = _mm256_set1_ps(kvs__load_f32(a + (size_t)r * row + 4));
                        KVS__UNROLL for (int h = 0; h < 2; h++) c[h] = _mm256_fmadd_ps(x1, w1[h], c[h]);
                    }
                    const __m256 x0 = _mm256_set1_ps(kvs__load_f32(a + (size_t)r * row));
                    KVS__UNROLL for (int h = 0; h < 2; h++) c[h] = _mm256_fmadd_ps(x0, w0[h], c[h]);
                }
            }
        }
    }
    KVS__UNROLL for (int r = 0; r < R; r++)
        KVS__UNROLL for (int v = 0; v < 2 * V; v++)
            if (v0 + v / 2 < m->NV)
                _mm256_storeu_ps(m->out + (size_t)(r0 + r) * m->out_stride + 16 * v0 + 8 * v, acc[r * 2 * V + v]);
}

KVS__T256 KVS__INLINE void kvs__mm256_all(const kvs__mm *m, const int kind)
{
    for (int32_t r = 0; r < m->R; r += 4)
        for (int32_t v = 0, take; v < m->NV; v += take) {
            take = m->R == 1 ? 4 : m->R == 2 ? 2 : 1;
            switch (KVS__MIN(m->R - r, 4)) {
                case 1:  if (take == 4) kvs__mm256(m, r, v, 1, 4, kind); else kvs__mm256(m, r, v, 1, 1, kind); break;
                case 2:  if (take == 2) kvs__mm256(m, r, v, 2, 2, kind); else kvs__mm256(m, r, v, 2, 1, kind); break;
                case 3:  kvs__mm256(m, r, v, 3, 1, kind); break;
                default: kvs__mm256(m, r, v, 4, 1, kind); break;
            }
        }
}
KVS__T256 static void kvs__mm_f32_avx2(const kvs__mm *m)  { kvs__mm256_all(m, KVS__MM_F32); }
KVS__T256 static void kvs__mm_f16_avx2(const kvs__mm *m)  { kvs__mm256_all(m, KVS__MM_F16); }
KVS__T256 static void kvs__mm_bf16_avx2(const kvs__mm *m) { kvs__mm256_all(m, KVS__MM_BF16); }

KVS__JOBS(avx2, KVS__T256)
KVS__JOBS(avx512, KVS__T512)

static int kvs__has_f16c(void)
{
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c >> 29 & 1u);
}

static const kvs__kernels *kvs__simd_kernels(kvs_isa isa)
{
    static const kvs__kernels avx2 = KVS__KERNELS(avx2, "avx2", 4), avx512 = KVS__KERNELS(avx512, "avx512-bf16", 2);
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !kvs__has_f16c()) return NULL;
    if (isa == KVS_ISA_AVX2) return &avx2;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw")) return NULL;
    if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq")) return NULL;
    return __builtin_cpu_supports("avx512bf16") ? &avx512 : NULL;
}

#else

static const kvs__kernels *kvs__simd_kernels(kvs_isa isa) { (void)isa; return NULL; }

#endif

/* What section cpu switched off comes back for the user's own code. */
#if defined(__clang__)
#  pragma float_control(pop)
#elif defined(__GNUC__)
#  pragma GCC pop_options
#endif

/* ====================================================================================================
   >>forward   Tokens in, logits out: the transformer, once, for every family.

   One function reads from top to bottom as the maths does. It serves prefill and decode alike: all it sees is a ragged batch of T rows,
   each with a token and a position; which rows belong together only matters to attention, which looks it up in the batch.
   Every weight, buffer and page is the backend's; here are only names, shapes and the order of things.
   Owns packed weights, the KV pool, activation buffers. Must not know requests or schedules.
   ==================================================================================================== */

typedef struct kvs__forward {
    kvs__mem *mem;
    const kvs__model *model;
    const kvs_backend *be;
    void      *ctx;
    kvs_weight *w;                     /* [model->n_w] packed, in the order of kvs__model_at */
    kvs_kv_desc kv;
    void      *pool;                   /* [NB] pages */
    float     *rope, *alibi;           /* device tables, or NULL */
    kvs_attention how;
    kvs_backend_desc desc;
    /* activations; T = max_num_batched_tokens, S = max_num_seqs */
    void      *x;                      /* [T, D] the residual stream */
    void      *h, *h2;                 /* [T, max(D, E)] what norms write */
    void      *qkv;                    /* [T, (H + 2 HKV) Dh] */
    void      *att;                    /* [T, H Dh] */
    void      *up;                     /* [T, F], gated [T, 2F] */
    void      *last;                   /* [S, max(D, E)] the rows whose logits are wanted */
    void      *logits;                 /* [S, V] */
    double     time_sample;            /* seconds, summed */
} kvs__forward;

static int32_t kvs__fwd_width(const kvs__model_config *c) { return KVS__MAX(c->D, c->E); }

/* The activation buffers: where each is kept and its elements per row; by_token: T rows, else S. */
typedef struct kvs__fwd_buffer { void **at; int64_t width; int by_token; } kvs__fwd_buffer;
#define KVS__FWD_BUFFERS 8

static void kvs__fwd_buffers(kvs__forward *f, kvs__fwd_buffer b[KVS__FWD_BUFFERS])
{
    const kvs__model_config *c = &f->model->cfg;
    int64_t W = kvs__fwd_width(c), Dh = c->Dh;
    kvs__fwd_buffer all[KVS__FWD_BUFFERS] = {
        {&f->x, c->D, 1}, {&f->h, W, 1}, {&f->h2, c->D, 1}, {&f->qkv, (c->H + 2 * c->HKV) * Dh, 1},
        {&f->att, c->H * Dh, 1}, {&f->up, c->gated ? 2 * (int64_t)c->F : c->F, 1}, {&f->last, W, 0}, {&f->logits, c->V, 0}};
    memcpy(b, all, sizeof all);
}

static uint64_t kvs__fwd_buffer_bytes(const kvs__forward *f, const kvs__fwd_buffer *b)
{
    return (uint64_t)b->width * (uint64_t)(b->by_token ? f->desc.max_tokens : f->desc.max_seqs) * (uint64_t)f->be->act_bytes;
}

static uint64_t kvs__fwd_rope_bytes(const kvs__forward *f)
{
    const kvs__model_config *c = &f->model->cfg;
    return c->pos == KVS__POS_ROPE ? (uint64_t)f->desc.max_model_len * (uint64_t)c->rope.dim * sizeof(float) : 0;
}

/* First half of opening: everything that can be said without weights or max_model_len. */
static kvs_result kvs__forward_setup(kvs__forward *f, const kvs__model *m, const kvs_config *cfg, kvs__mem *mem, kvs__err *e)
{
    const kvs__model_config *c = &m->cfg;
    f->mem = mem; f->model = m; f->be = cfg->backend; f->how = cfg->attention;
    f->kv.dtype = cfg->kv_cache_dtype ? cfg->kv_cache_dtype : m->dtype == KVS_F32 ? KVS_F32 : KVS_BF16;
    f->kv.block_size = cfg->block_size; f->kv.n_layers = c->L; f->kv.n_kv_heads = c->HKV; f->kv.head_dim = c->Dh;
    f->w = (kvs_weight *)kvs__alloc(mem, m->n_w, sizeof *f->w);
    return f->w ? KVS_OK : kvs__fail(e, KVS_ERR_MEMORY, "out of memory for %zu weights", m->n_w);
}

/* Sizes, once max_model_len is known. */
static void kvs__forward_plan(kvs__forward *f, const kvs_config *cfg, kvs_memory_plan *p)
{
    const kvs__model_config *c = &f->model->cfg;
    kvs_backend_desc *d = &f->desc;
    kvs__fwd_buffer b[KVS__FWD_BUFFERS];
    d->num_threads = cfg->num_threads; d->isa = cfg->isa; d->max_tokens = cfg->max_num_batched_tokens; d->max_seqs = cfg->max_num_seqs;
    d->n_heads = c->H; d->n_kv_heads = c->HKV; d->head_dim = c->Dh; d->block_size = cfg->block_size; d->max_model_len = cfg->max_model_len;
    d->vocab = c->V; d->kv_dtype = f->kv.dtype; d->attention = cfg->attention; d->allocator = &f->mem->a;
    for (size_t i = 0; i < f->model->n_w; i++) {
        const kvs_weight_desc *w = &f->model->w[i].desc;
        if (w->n_parts == 0) continue;
        uint64_t bytes = f->be->weight_bytes(w);
        p->weight_bytes += bytes;
        if (!bytes) p->mapped_bytes += (uint64_t)w->n * (uint64_t)w->k * kvs__dtype_size(w->parts[0].dtype);
        if (w->kind != KVS_WEIGHT_LINEAR) continue;
        d->max_k = KVS__MAX(d->max_k, w->k); d->max_n = KVS__MAX(d->max_n, w->n);
    }
    p->weight_bytes += kvs__fwd_rope_bytes(f) + (c->pos == KVS__POS_ALIBI ? (uint64_t)c->H * sizeof(float) : 0);
    p->workspace_bytes = f->be->scratch_bytes(d);
    kvs__fwd_buffers(f, b);
    for (int i = 0; i < KVS__FWD_BUFFERS; i++) p->workspace_bytes += kvs__fwd_buffer_bytes(f, &b[i]);
}

/* Packs every weight; the checkpoint is checked for NaN and infinity on the way. */
static kvs_result kvs__forward_pack(kvs__forward *f, const kvs_config *cfg, const kvs_memory_plan *plan, kvs__err *e)
{
    uint64_t done = 0, total = plan->weight_bytes + plan->mapped_bytes;
    kvs_result r = KVS_OK;
    for (size_t i = 0; i < f->model->n_w && r >= 0; i++) {
        const kvs__weight *w = &f->model->w[i];
        if (w->desc.n_parts == 0) continue;
        r = kvs__model_check_finite(w, e);
        if (r >= 0 && (r = f->be->pack(f->ctx, &w->desc, &f->w[i], e->text)) < 0) break;
        done += f->w[i].bytes ? f->w[i].bytes : (uint64_t)w->desc.n * (uint64_t)w->desc.k * kvs__dtype_size(w->desc.parts[0].dtype);
        if (cfg->progress) cfg->progress(done, total, w->tensor[0]->name, cfg->progress_user);
    }
    return r;
}

/* Rope and ALiBi tables, from host arithmetic to the device. */
static kvs_result kvs__forward_tables(kvs__forward *f, kvs__err *e)
{
    const kvs__model_config *c = &f->model->cfg;
    int32_t P = f->desc.max_model_len;
    uint64_t bytes = c->pos == KVS__POS_ROPE ? kvs__fwd_rope_bytes(f) : c->pos == KVS__POS_ALIBI ? (uint64_t)c->H * sizeof(float) : 0;
    if (!bytes) return KVS_OK;
    float *host = (float *)kvs__alloc(f->mem, (size_t)bytes, 1), *dev = (float *)f->be->alloc(f->ctx, bytes);
    if (host && dev) {
        if (c->pos == KVS__POS_ROPE) kvs__model_rope_table(c, P, host);
        else kvs__model_alibi(c, host);
        f->be->upload(f->ctx, dev, host, bytes);
    }
    kvs__free(f->mem, host);
    if (c->pos == KVS__POS_ROPE) f->rope = dev; else f->alibi = dev;
    return host && dev ? KVS_OK : kvs__fail(e, KVS_ERR_MEMORY, "out of memory for a position table of %llu bytes", (unsigned long long)bytes);
}

/* Second half of opening: allocates what the plan says and loads the weights. */
static kvs_result kvs__forward_open(kvs__forward *f, const kvs_config *cfg, const kvs_memory_plan *plan, kvs__err *e)
{
    kvs__fwd_buffer b[KVS__FWD_BUFFERS];
    kvs_result r = f->be->open(&f->desc, &f->ctx, e->text);
    if (r < 0) { f->ctx = NULL; return r; }
    if (!(f->pool = f->be->alloc(f->ctx, plan->kv_bytes)))
        return kvs__fail(e, KVS_ERR_MEMORY, "out of memory for a KV pool of %llu bytes", (unsigned long long)plan->kv_bytes);
    kvs__fwd_buffers(f, b);
    for (int i = 0; i < KVS__FWD_BUFFERS; i++)
        if (!(*b[i].at = f->be->alloc(f->ctx, kvs__fwd_buffer_bytes(f, &b[i]))))
            return kvs__fail(e, KVS_ERR_MEMORY, "out of memory for %llu bytes of workspace", (unsigned long long)plan->workspace_bytes);
    if ((r = kvs__forward_tables(f, e)) < 0) return r;
    return kvs__forward_pack(f, cfg, plan, e);
}

static void kvs__forward_close(kvs__forward *f)
{
    kvs__fwd_buffer b[KVS__FWD_BUFFERS];
    if (f->ctx) {
        for (size_t i = 0; i < f->model->n_w; i++) if (f->w[i].bytes) f->be->free(f->ctx, f->w[i].data);
        kvs__fwd_buffers(f, b);
        for (int i = 0; i < KVS__FWD_BUFFERS; i++) f->be->free(f->ctx, *b[i].at);
        f->be->free(f->ctx, f->rope); f->be->free(f->ctx, f->alibi); f->be->free(f->ctx, f->pool);
        f->be->close(f->ctx);
    }
    if (f->mem) kvs__free(f->mem, f->w);
    memset(f, 0, sizeof *f);
}

/* ---- the layer, op by op ---- */

static void *kvs__fwd_col(const kvs__forward *f, void *p, int64_t col) { return (char *)p + col * f->be->act_bytes; }

/* The packed weight of a slot, NULL if the model has none there. */
static const kvs_weight *kvs__fwd_w(const kvs__forward *f, int32_t layer, int slot)
{
    size_t i = kvs__model_at(layer, slot);
    return f->model->w[i].desc.n_parts ? &f->w[i] : NULL;
}

/* y = norm(x), rows of `heads` slices of D. */
static void kvs__fwd_norm(const kvs__forward *f, int32_t rows, int32_t heads, int32_t D, void *x, int64_t x_stride, void *y, int64_t y_stride,
                          const kvs_weight *w, const kvs_weight *b)
{
    kvs_norm_args a;
    memset(&a, 0, sizeof a);
    a.kind = f->model->cfg.norm; a.eps = f->model->cfg.eps; a.rows = rows; a.heads = heads; a.D = D;
    a.x = x; a.x_stride = x_stride; a.y = y; a.y_stride = y_stride; a.w = w; a.b = b;
    f->be->norm(f->ctx, &a);
}

/* y = act(x w^T + bias), and + y when add. */
static void kvs__fwd_linear(const kvs__forward *f, int32_t rows, const void *x, int64_t x_stride, const kvs_weight *w, const kvs_weight *bias,
                            kvs_act act, void *y, int64_t y_stride, int add)
{
    kvs_linear_args a;
    memset(&a, 0, sizeof a);
    a.rows = rows; a.x = x; a.x_stride = x_stride; a.w = w; a.bias = bias; a.act = act; a.y = y; a.y_stride = y_stride;
    if (add) { a.residual = y; a.residual_stride = y_stride; }
    f->be->linear(f->ctx, &a);
}

/* h [T, D] -> att [T, H Dh]: what attention adds to x before the output projection. Writes K and V of these rows to the pool. */
static void kvs__fwd_attention(const kvs__forward *f, int32_t l, int32_t T, const void *h, int64_t h_stride)
{
    const kvs__model_config *c = &f->model->cfg;
    int64_t q = (int64_t)c->H * c->Dh, kv = (int64_t)c->HKV * c->Dh, stride = q + 2 * kv;
    void *k = kvs__fwd_col(f, f->qkv, q), *v = kvs__fwd_col(f, f->qkv, q + kv);
    const kvs_weight *qn = kvs__fwd_w(f, l, KVS__W_QNORM), *kn = kvs__fwd_w(f, l, KVS__W_KNORM);

    kvs__fwd_linear(f, T, h, h_stride, kvs__fwd_w(f, l, KVS__W_QKV), kvs__fwd_w(f, l, KVS__W_QKV_B), KVS_ACT_NONE, f->qkv, stride, 0);
    if (qn) kvs__fwd_norm(f, T, c->H, c->Dh, f->qkv, stride, f->qkv, stride, qn, kvs__fwd_w(f, l, KVS__W_QNORM_B));
    if (kn) kvs__fwd_norm(f, T, c->HKV, c->Dh, k, stride, k, stride, kn, kvs__fwd_w(f, l, KVS__W_KNORM_B));
    if (c->pos == KVS__POS_ROPE) {
        kvs_rope_args r = {f->qkv, stride, c->H + c->HKV, c->Dh, c->rope.dim, 0, f->rope};      /* q and k lie side by side */
        f->be->rope(f->ctx, &r);
    }
    kvs_kv_write_args w = {k, v, stride, f->pool, &f->kv, l};
    f->be->kv_write(f->ctx, &w);
    kvs_attention_args a = {f->qkv, stride, f->att, q, f->pool, &f->kv, l, c->H, c->attn_scale, 0, c->window[l], f->alibi, f->how};
    f->be->attention(f->ctx, &a);
}

/* x [T, D] += mlp(h). */
static void kvs__fwd_mlp(const kvs__forward *f, int32_t l, int32_t T, const void *h, int64_t h_stride)
{
    const kvs__model_config *c = &f->model->cfg;
    int64_t wide = c->gated ? 2 * (int64_t)c->F : c->F;
    kvs__fwd_linear(f, T, h, h_stride, kvs__fwd_w(f, l, KVS__W_UP), kvs__fwd_w(f, l, KVS__W_UP_B), c->gated ? KVS_ACT_NONE : c->act, f->up, wide, 0);
    if (c->gated) {
        kvs_act_mul_args a = {c->F, c->act, f->up, kvs__fwd_col(f, f->up, c->F), wide, f->up, wide};   /* over the gate half */
        f->be->act_mul(f->ctx, &a);
    }
    kvs__fwd_linear(f, T, f->up, wide, kvs__fwd_w(f, l, KVS__W_DOWN), kvs__fwd_w(f, l, KVS__W_DOWN_B), KVS_ACT_NONE, f->x, c->D, 1);
}

/* One layer on the residual stream x [T, D]. The three flows differ only in what is normed when. */
static void kvs__fwd_layer(const kvs__forward *f, int32_t l, int32_t T)
{
    const kvs__model_config *c = &f->model->cfg;
    const kvs_weight *n1 = kvs__fwd_w(f, l, KVS__W_NORM1), *b1 = kvs__fwd_w(f, l, KVS__W_NORM1_B);
    const kvs_weight *n2 = kvs__fwd_w(f, l, KVS__W_NORM2), *b2 = kvs__fwd_w(f, l, KVS__W_NORM2_B);
    const kvs_weight *o = kvs__fwd_w(f, l, KVS__W_O), *ob = kvs__fwd_w(f, l, KVS__W_O_B);
    int64_t D = c->D, q = (int64_t)c->H * c->Dh;
    void *x = f->x, *h = f->h, *h2 = f->h2;

    switch (c->flow) {
    case KVS__FLOW_SEQUENTIAL:                                   /* x += attn(norm1 x); x += mlp(norm2 x) */
        kvs__fwd_norm(f, T, 1, c->D, x, D, h, D, n1, b1);
        kvs__fwd_attention(f, l, T, h, D);
        kvs__fwd_linear(f, T, f->att, q, o, ob, KVS_ACT_NONE, x, D, 1);
        kvs__fwd_norm(f, T, 1, c->D, x, D, h, D, n2, b2);
        kvs__fwd_mlp(f, l, T, h, D);
        break;
    case KVS__FLOW_PARALLEL:                                     /* x += attn(norm1 x) + mlp(norm2 x), both of the old x */
        kvs__fwd_norm(f, T, 1, c->D, x, D, h, D, n1, b1);
        if (n2) kvs__fwd_norm(f, T, 1, c->D, x, D, h2, D, n2, b2); else h2 = h;
        kvs__fwd_attention(f, l, T, h, D);
        kvs__fwd_linear(f, T, f->att, q, o, ob, KVS_ACT_NONE, x, D, 1);
        kvs__fwd_mlp(f, l, T, h2, D);
        break;
    case KVS__FLOW_POSTNORM:                                     /* x = norm1(x + attn x); x = norm2(x + mlp x) */
        kvs__fwd_attention(f, l, T, x, D);
        kvs__fwd_linear(f, T, f->att, q, o, ob, KVS_ACT_NONE, x, D, 1);
        kvs__fwd_norm(f, T, 1, c->D, x, D, x, D, n1, b1);
        kvs__fwd_mlp(f, l, T, x, D);
        kvs__fwd_norm(f, T, 1, c->D, x, D, x, D, n2, b2);
        break;
    }
}

/* x [T, D] from the batch's tokens and positions. */
static void kvs__fwd_embed(const kvs__forward *f, int32_t T)
{
    const kvs__model_config *c = &f->model->cfg;
    const kvs_weight *table = kvs__fwd_w(f, -1, KVS__G_EMBED), *pos = kvs__fwd_w(f, -1, KVS__G_POS), *in = kvs__fwd_w(f, -1, KVS__G_PROJ_IN);
    kvs_embed_args a = {table, pos, c->pos_offset, c->embed_scale, f->x, c->D};
    if (!in) { f->be->embed(f->ctx, &a); return; }
    kvs_embed_args narrow = {table, NULL, 0, c->embed_scale, f->h, c->E};       /* h [T, E] = tokens; x = positions; x += proj_in h */
    a.table = NULL;
    f->be->embed(f->ctx, &narrow);
    f->be->embed(f->ctx, &a);
    kvs__fwd_linear(f, T, f->h, c->E, in, NULL, KVS_ACT_NONE, f->x, c->D, 1);
}

/* logits [n, V] of the rows that want them. */
static void kvs__fwd_head(const kvs__forward *f, const kvs_batch *b)
{
    const kvs__model_config *c = &f->model->cfg;
    const kvs_weight *norm = kvs__fwd_w(f, -1, KVS__G_NORM), *out = kvs__fwd_w(f, -1, KVS__G_PROJ_OUT);
    int32_t n = b->n_logits;
    kvs_gather_args g = {n, c->D, b->logit_row, f->x, c->D, f->last, c->D};
    void *y = f->last;
    int64_t width = c->D;
    f->be->gather(f->ctx, &g);
    if (norm) kvs__fwd_norm(f, n, 1, c->D, y, c->D, y, c->D, norm, kvs__fwd_w(f, -1, KVS__G_NORM_B));
    if (out) {                                                    /* x has been gathered: h is free */
        kvs__fwd_linear(f, n, y, width, out, NULL, KVS_ACT_NONE, f->h, c->E, 0);
        y = f->h; width = c->E;
    }
    kvs__fwd_linear(f, n, y, width, kvs__fwd_w(f, -1, KVS__G_HEAD), kvs__fwd_w(f, -1, KVS__G_HEAD_B), KVS_ACT_NONE, f->logits, c->V, 0);
}

/* One step: b's rows through the model, n_rows tokens sampled. On success K and V of all rows are in the pool. */
static kvs_result kvs__forward_run(kvs__forward *f, const kvs_batch *b, kvs_sample_row *rows, int32_t n_rows, kvs__err *e)
{
    f->be->begin(f->ctx, b);
    kvs__fwd_embed(f, b->T);
    for (int32_t l = 0; l < f->model->cfg.L; l++) kvs__fwd_layer(f, l, b->T);
    if (b->n_logits) kvs__fwd_head(f, b);
    double t = kvs__now();
    kvs_sample_args s = {f->logits, f->model->cfg.V, f->model->cfg.V, n_rows, rows};
    if (n_rows) f->be->sample(f->ctx, &s);
    kvs_result r = f->be->sync(f->ctx, e->text);
    f->time_sample += kvs__now() - t;
    return r;
}

/* ====================================================================================================
   >>sample   From a row of logits to one token. Knows floats and token ids; not requests, text, blocks or threads.

   Semantics and order are vLLM's: log-probabilities of the raw logits; then logit_bias, banned tokens, penalties; then
   greedy, or temperature, min_p, top_k, top_p and a draw. All selection is by *distance*: how far a token's logit lies
   below the best one, divided by the temperature. A token's weight is exp(-distance), so the best token weighs exactly
   1, nothing can overflow, and "the k best" or "the top p of the mass" are one number to compare with: the cut.

   Nothing is sorted but the tokens that share a narrow band of distances with the cut, so a row costs a few passes over
   V floats. Every sum runs in one fixed order that depends on V alone: same row, same u, same token, on any machine and
   thread.

   Odd logits: NaN and -inf can never be chosen; +inf counts as the largest finite float. A row without a finite logit,
   or in which everything is banned, gives token -1.
   ==================================================================================================== */

#define KVS__SAMPLE_GREEDY 1e-5f    /* temperatures below are greedy, as in vLLM */
#define KVS__SAMPLE_FAR    86.0f    /* exp(-86) is nearly the smallest normal float; what lies farther has weight 0 */
#define KVS__SAMPLE_BANDS  1377     /* bands of distance, 1/16 wide, from 0 to 86 inclusive */
#define KVS__SAMPLE_LANES  16       /* element i is summed in lane i % 16: fixed, and as wide as the widest vector */
#define KVS__SAMPLE_BLOCK  256      /* a draw skips over whole blocks, then walks one */

/* ---- what a request may ask for ---- */

/* Numbers out of range. The text names the field, what was expected and what was found. */
static kvs_result kvs__sampling_check_numbers(const kvs_sampling *s, kvs__err *e)
{
    const double inf = (double)INFINITY, big = (double)FLT_MAX, max_int = (double)INT32_MAX;
    const struct { const char *name; double got, low, high; const char *expected; } rule[] = {
        {"temperature",        (double)s->temperature,        0, big,      "a finite number >= 0"},
        {"top_p",              (double)s->top_p,              0, 1,        "a number in (0, 1], or 0 for off"},
        {"top_k",              (double)s->top_k,             -1, max_int,  "a count >= 1, or 0 or -1 for off"},
        {"min_p",              (double)s->min_p,              0, 1,        "a number in [0, 1]"},
        {"repetition_penalty", (double)s->repetition_penalty, 0, big,      "a finite number > 0, or 0 for off"},
        {"presence_penalty",   (double)s->presence_penalty,  -2, 2,        "a number in [-2, 2]"},
        {"frequency_penalty",  (double)s->frequency_penalty, -2, 2,        "a number in [-2, 2]"},
        {"max_tokens",         (double)s->max_tokens,         0, max_int,  "a count >= 1, or 0 for no limit"},
        {"min_tokens",         (double)s->min_tokens,         0, s->max_tokens > 0 ? (double)s->max_tokens : inf,
                                                                           "a count >= 0 and <= max_tokens"},
        {"logprobs",           (double)s->logprobs,           0, KVS_MAX_LOGPROBS + 1,
                                                                           "0, 1, or 1 + a count <= KVS_MAX_LOGPROBS"},
        {"n",                  (double)s->n,                  0, max_int,  "a count >= 1, or 0 for 1"},
    };
    for (size_t i = 0; i < KVS__COUNT(rule); i++) {
        if (rule[i].got >= rule[i].low && rule[i].got <= rule[i].high) continue;      /* false for NaN */
        int digits = floor(rule[i].got) >= rule[i].got ? 10 : 6;                      /* counts in full */
        return kvs__fail(e, KVS_ERR_INVALID, "sampling.%s: expected %s, got %.*g",
                         rule[i].name, rule[i].expected, digits, rule[i].got);
    }
    return KVS_OK;
}

/* Everything a caller can get wrong in a kvs_sampling, checked once at submit; vocab: ids are 0..vocab-1. */
static kvs_result kvs__sampling_check(const kvs_sampling *s, int32_t vocab, kvs__err *e)
{
    if (!s) return kvs__fail(e, KVS_ERR_INVALID, "sampling: expected a kvs_sampling, got NULL");
    kvs_result r = kvs__sampling_check_numbers(s, e);
    if (r < 0) return r;
    const struct { const char *name; const void *list; size_t n; } rule[] = {
        {"stop", s->stop, s->n_stop}, {"stop_token_ids", s->stop_token_ids, s->n_stop_token_ids},
        {"logit_bias", s->logit_bias, s->n_logit_bias},
    };
    for (size_t i = 0; i < KVS__COUNT(rule); i++) {
        if (!rule[i].n || rule[i].list) continue;
        return kvs__fail(e, KVS_ERR_INVALID, "sampling.%s: expected %zu entries, got NULL",
                         rule[i].name, rule[i].n);
    }
    for (size_t i = 0; i < s->n_stop; i++) {
        if (s->stop[i] && s->stop[i][0]) continue;
        return kvs__fail(e, KVS_ERR_INVALID, "sampling.stop[%zu]: expected a string, got %s",
                         i, s->stop[i] ? "an empty one" : "NULL");
    }
    for (size_t i = 0; i < s->n_stop_token_ids; i++) {
        int32_t id = s->stop_token_ids[i];
        if (id >= 0 && id < vocab) continue;
        return kvs__fail(e, KVS_ERR_INVALID, "sampling.stop_token_ids[%zu]: expected an id below %d, got %d",
                         i, (int)vocab, (int)id);
    }
    for (size_t i = 0; i < s->n_logit_bias; i++) {
        int32_t id = s->logit_bias[i].token;
        if (id < 0 || id >= vocab)
            return kvs__fail(e, KVS_ERR_INVALID, "sampling.logit_bias[%zu]: expected an id below %d, got %d",
                             i, (int)vocab, (int)id);
        if (isnan(s->logit_bias[i].bias))
            return kvs__fail(e, KVS_ERR_INVALID, "sampling.logit_bias[%zu]: expected a number, got NaN", i);
    }
    return KVS_OK;
}

/* The random number of one token, uniform in [0, 1) with 53 bits: a function of the request's seed, which of its n
   outputs, and the token's position; no state. So a request draws the same numbers when it is preempted, forked or
   batched with others. */
static double kvs__sample_uniform(uint64_t seed, uint32_t index, uint64_t position)
{
    const uint64_t golden = 0x9e3779b97f4a7c15ull;       /* 2^64 / golden ratio: the step of SplitMix64 */
    uint64_t z = kvs__mix(seed + golden);
    z = kvs__mix(z + golden * ((uint64_t)index + 1));
    z = kvs__mix(z + golden * (position + 1));
    return (double)(z >> 11) * (1.0 / 9007199254740992.0);
}

/* ---- passes over a row ---- */

/* As in section cpu: no fused multiply-add, whatever flags the user has, and vectors at -O2. */
#if defined(__clang__)
#  pragma float_control(push)
#  pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#  pragma GCC push_options
#  pragma GCC optimize("fp-contract=off", "tree-vectorize", "vect-cost-model=dynamic")
#endif

/* The floats of scratch that kvs__sample_row needs: three arrays of V. */
static size_t kvs__sample_scratch_floats(int32_t V) { return V > 0 ? 3 * (size_t)V : 1; }

static float kvs__sample_clip(float x) { return x > FLT_MAX ? FLT_MAX : x; }      /* NaN stays NaN */

/* The largest of x[V], clipped; -inf if every one is NaN or -inf. */
static float kvs__sample_max(const float *x, int32_t V)
{
    float lane[KVS__SAMPLE_LANES], best;
    int32_t i = 0;
    for (int l = 0; l < KVS__SAMPLE_LANES; l++) lane[l] = -INFINITY;
    for (; i + KVS__SAMPLE_LANES <= V; i += KVS__SAMPLE_LANES)
        for (int l = 0; l < KVS__SAMPLE_LANES; l++) lane[l] = x[i + l] > lane[l] ? x[i + l] : lane[l];
    for (best = lane[0]; i < V; i++) best = x[i] > best ? x[i] : best;
    for (int l = 1; l < KVS__SAMPLE_LANES; l++) best = lane[l] > best ? lane[l] : best;
    return kvs__sample_clip(best);
}

/* The lowest id whose logit reaches max. */
static int32_t kvs__sample_find(const float *x, int32_t V, float max)
{
    for (int32_t i = 0; i < V; i++)
        if (x[i] >= max) return i;
    return -1;
}

/* d[V] = distance of every token below max; infinite for NaN and beyond FAR. x and d do not overlap. */
static void kvs__sample_distance(const float *__restrict__ x, int32_t V, float max, float temperature,
                                 float *__restrict__ d)
{
    for (int32_t i = 0; i < V; i++) {
        float z = (max - kvs__sample_clip(x[i])) / temperature;
        d[i] = z <= KVS__SAMPLE_FAR ? z : INFINITY;
    }
}

/* w[V] = exp(-d), or 0 beyond the cut. d and w do not overlap. Masks in place of branches, so that compilers make
   vectors of it (49152 logits, Zen 4, gcc 12 -O2: a whole draw takes 95 us, without vectors 250). */
static void kvs__sample_weigh(const float *__restrict__ d, int32_t V, float cut, float *__restrict__ w)
{
    for (int32_t i = 0; i < V; i++) {
        uint32_t in = 0u - (uint32_t)(d[i] <= cut);
        float e = kvs__expf(-kvs__u32_f32(kvs__f32_u32(d[i]) & in));
        w[i] = kvs__u32_f32(kvs__f32_u32(e) & in);
    }
}

/* Sum of w[n]: 16 lanes, folded in halves. */
static double kvs__sample_sum(const float *w, int32_t n)
{
    double lane[KVS__SAMPLE_LANES] = {0};
    int32_t i = 0;
    for (; i + KVS__SAMPLE_LANES <= n; i += KVS__SAMPLE_LANES)
        for (int l = 0; l < KVS__SAMPLE_LANES; l++) lane[l] += (double)w[i + l];
    for (int l = 0; i + l < n; l++) lane[l] += (double)w[i + l];
    for (int half = KVS__SAMPLE_LANES / 2; half; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return lane[0];
}

/* Sum of w[V] as kvs__sample_pick walks it: block after block. */
static double kvs__sample_total(const float *w, int32_t V)
{
    double total = 0;
    for (int32_t b = 0; b < V; b += KVS__SAMPLE_BLOCK)
        total += kvs__sample_sum(w + b, KVS__MIN(V - b, KVS__SAMPLE_BLOCK));
    return total;
}

/* ---- logit_bias, min_tokens, penalties: change the row before anything is chosen ---- */

static int kvs__sample_penalised(const kvs_sample_row *row)
{
    float r = row->repetition_penalty, p = fabsf(row->presence_penalty), f = fabsf(row->frequency_penalty);
    return row->n_tokens > 0 && ((r > 0 && (r < 1 || r > 1)) || p > 0 || f > 0);
}

/* The logit of a token that the prompt or the output holds, and the output `count` times.
   In double the product is exact: fused or not, the same bits. */
static float kvs__sample_penalty(const kvs_sample_row *row, float x, float count)
{
    float r = row->repetition_penalty > 0 ? row->repetition_penalty : 1.0f;
    x = x > 0 ? x / r : x * r;
    if (count <= 0) return x;
    return (float)((double)x - (double)row->frequency_penalty * (double)count - (double)row->presence_penalty);
}

/* count[V] need not be clear: only entries of tokens that occur are used, so the cost is the length of the history. */
static void kvs__sample_penalise(const kvs_sample_row *row, int32_t V, float *x, float *count)
{
    for (int32_t i = 0; i < row->n_tokens; i++)
        if ((uint32_t)row->tokens[i] < (uint32_t)V) count[row->tokens[i]] = 0;
    for (int32_t i = KVS__MAX(row->n_prompt, 0); i < row->n_tokens; i++)
        if ((uint32_t)row->tokens[i] < (uint32_t)V) count[row->tokens[i]] += 1;
    for (int32_t i = 0; i < row->n_tokens; i++) {
        int32_t t = row->tokens[i];
        if ((uint32_t)t >= (uint32_t)V || count[t] < 0) continue;
        x[t] = kvs__sample_penalty(row, x[t], count[t]);
        count[t] = -1;                                   /* done: once per token, however often it occurs */
    }
}

/* The row that choices are made from: logits itself if nothing changes it, else x[V]. count[V]: scratch.
   Ids outside the vocabulary are skipped. */
static const float *kvs__sample_edit(const float *logits, int32_t V, const kvs_sample_row *row, float *x, float *count)
{
    int penalised = kvs__sample_penalised(row);
    if (row->n_bias <= 0 && row->n_banned <= 0 && !penalised) return logits;
    memcpy(x, logits, (size_t)V * sizeof *x);
    for (int32_t i = 0; i < row->n_bias; i++)
        if ((uint32_t)row->bias[i].token < (uint32_t)V) x[row->bias[i].token] += row->bias[i].bias;
    for (int32_t i = 0; i < row->n_banned; i++)
        if ((uint32_t)row->banned[i] < (uint32_t)V) x[row->banned[i]] = -INFINITY;
    if (penalised) kvs__sample_penalise(row, V, x, count);
    return x;
}

/* ---- top_k and top_p: where is the cut? ---- */

static int32_t kvs__sample_band(float d) { return (int32_t)(d * 16.0f); }   /* monotone: nearer tokens, lower bands */

/* Sorts a[n], ascending. Heap sort: no recursion, no bad case, and n is small unless the row is flat. */
static void kvs__sample_sort(float *a, int32_t n)
{
    for (int32_t start = n / 2, end = n; end > 1;) {
        float v;
        if (start > 0) v = a[--start];
        else { v = a[--end]; a[end] = a[0]; }
        int32_t hole = start;
        for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
            if (child + 1 < end && a[child + 1] > a[child]) child++;
            if (a[child] <= v) break;
            a[hole] = a[child]; hole = child;
        }
        a[hole] = v;
    }
}

/* The distances of one band that are within the cut, sorted, into out. Returns how many. */
static int32_t kvs__sample_band_sorted(const float *d, int32_t V, float cut, int32_t band, float *out)
{
    float low = (float)band / 16.0f, high = (float)(band + 1) / 16.0f;
    int32_t n = 0;
    for (int32_t i = 0; i < V; i++)
        if (d[i] >= low && d[i] < high && d[i] <= cut) out[n++] = d[i];
    kvs__sample_sort(out, n);
    return n;
}

/* top_k: the k-th smallest distance, or the old cut if fewer than k tokens are within it. Ties with the k-th stay. */
static float kvs__sample_top_k(const float *d, int32_t V, float cut, int32_t k, float *tmp)
{
    int32_t count[KVS__SAMPLE_BANDS] = {0}, band = 0, nearer = 0;
    for (int32_t i = 0; i < V; i++)
        if (d[i] <= cut) count[kvs__sample_band(d[i])]++;
    while (band < KVS__SAMPLE_BANDS && nearer + count[band] < k) nearer += count[band++];
    if (band == KVS__SAMPLE_BANDS) return cut;
    kvs__sample_band_sorted(d, V, cut, band, tmp);
    return tmp[k - nearer - 1];
}

/* top_p: a token stays if the tokens before it, nearest first and lower ids first among equals, hold less than the
   share p of the mass; so the nearest always stays. Sets the weights of the others to 0. Mass is summed by band, in
   order of id. */
static void kvs__sample_top_p(const float *d, int32_t V, float cut, float p, float *w, float *tmp)
{
    double mass[KVS__SAMPLE_BANDS] = {0}, nearer = 0, want = (double)p * kvs__sample_total(w, V);
    int32_t band = 0, n, ties = 0;
    for (int32_t i = 0; i < V; i++)
        if (d[i] <= cut) mass[kvs__sample_band(d[i])] += (double)w[i];
    while (band < KVS__SAMPLE_BANDS && nearer + mass[band] < want) nearer += mass[band++];
    if (band == KVS__SAMPLE_BANDS) return;                /* p is 1 but for rounding */
    n = kvs__sample_band_sorted(d, V, cut, band, tmp);
    for (int32_t i = 0; i < n && nearer < want; i++) {
        ties = i && tmp[i] <= tmp[i - 1] ? ties + 1 : 1;  /* how many of those at the cut stay */
        cut = tmp[i];
        nearer += (double)kvs__expf(-tmp[i]);
    }
    for (int32_t i = 0; i < V; i++)
        if (d[i] > cut || (d[i] >= cut && ties-- <= 0)) w[i] = 0;
}

/* The token at share u of the total weight, in order of id. */
static int32_t kvs__sample_pick(const float *w, int32_t V, double u)
{
    double before = 0, target = u * kvs__sample_total(w, V);
    int32_t b = 0, token = -1;
    for (; b + KVS__SAMPLE_BLOCK < V; b += KVS__SAMPLE_BLOCK) {
        double with = before + kvs__sample_sum(w + b, KVS__SAMPLE_BLOCK);
        if (with > target) break;
        before = with;
    }
    for (int32_t i = b; i < V && i < b + KVS__SAMPLE_BLOCK; i++) {
        if (w[i] <= 0) continue;
        token = i;                                    /* the last one, should rounding leave the sum short of target */
        if ((before += (double)w[i]) > target) break;
    }
    return token;
}

/* One draw from x[V], whose largest is best > -inf. d, w, tmp: scratch of V each; tmp may be x, which is read once, at
   the start. */
static int32_t kvs__sample_draw(const float *x, int32_t V, float best, const kvs_sample_row *row,
                                float *d, float *w, float *tmp)
{
    float cut = KVS__SAMPLE_FAR;
    kvs__sample_distance(x, V, best, row->temperature, d);
    /* min_p: exp(-d) < min_p leaves. */
    if (row->min_p >= 1) cut = 0;
    else if (row->min_p > FLT_MIN) cut = KVS__MIN(cut, -kvs__logf(row->min_p));
    if (row->top_k > 0 && row->top_k < V) cut = kvs__sample_top_k(d, V, cut, row->top_k, tmp);
    kvs__sample_weigh(d, V, cut, w);
    if (row->top_p > 0 && row->top_p < 1) kvs__sample_top_p(d, V, cut, row->top_p, w, tmp);
    return kvs__sample_pick(w, V, row->u);
}

/* ---- log-probabilities of the raw logits ---- */

/* row->top[n_top]: the best tokens and, for now, their logits in place of log-probabilities. One pass; insertion into a
   short list. */
static void kvs__sample_best(const float *logits, int32_t V, kvs_sample_row *row)
{
    int32_t n = 0, want = row->n_top;
    if (want <= 0) return;
    for (int32_t i = 0; i < V; i++) {
        float x = kvs__sample_clip(logits[i]);
        if (!(x > (n < want ? -INFINITY : row->top[n - 1].logprob))) continue;
        int32_t at = n < want ? n++ : n - 1;
        for (; at > 0 && row->top[at - 1].logprob < x; at--) row->top[at] = row->top[at - 1];
        row->top[at].token = i; row->top[at].logprob = x;
    }
}

static float kvs__sample_logprob(float x, float max, double log_sum)
{
    double v = (double)x - (double)max - log_sum;
    return v < -(double)FLT_MAX ? -FLT_MAX : (float)v;
}

/* logprob of row->token, and the n_top best. Entries that the row cannot fill stay -1. */
static void kvs__sample_logprobs(const float *logits, int32_t V, float max, kvs_sample_row *row, float *d, float *w)
{
    kvs__sample_distance(logits, V, max, 1.0f, d);
    kvs__sample_weigh(d, V, KVS__SAMPLE_FAR, w);
    double log_sum = (double)kvs__logf((float)kvs__sample_total(w, V));
    if (row->token >= 0) row->logprob = kvs__sample_logprob(kvs__sample_clip(logits[row->token]), max, log_sum);
    kvs__sample_best(logits, V, row);
    for (int32_t i = 0; i < row->n_top && row->top[i].token >= 0; i++)
        row->top[i].logprob = kvs__sample_logprob(row->top[i].logprob, max, log_sum);
}

/* One row: reads logits[V] and the wishes in *row, writes row->token, row->logprob and row->top[n_top].
   scratch: kvs__sample_scratch_floats(V) floats of the calling thread. A greedy row without log-probabilities costs one
   pass to find the maximum and part of one to find its first place. */
static void kvs__sample_row(const float *logits, int32_t V, kvs_sample_row *row, float *scratch)
{
    float *a = scratch, *b = V > 0 ? a + V : a, *c = V > 0 ? b + V : a;
    float max = kvs__sample_max(logits, V);
    row->token = -1; row->logprob = 0;
    for (int32_t i = 0; i < row->n_top; i++) { row->top[i].token = -1; row->top[i].logprob = -FLT_MAX; }
    int finite = max > -INFINITY;
    if (max >= FLT_MAX) {                                /* at least one +inf: is there anything beside it? */
        finite = 0;
        for (int32_t i = 0; i < V && !finite; i++) finite = isfinite(logits[i]) != 0;
    }
    if (!finite) return;
    const float *x = kvs__sample_edit(logits, V, row, a, b);
    float best = x == logits ? max : kvs__sample_max(x, V);
    if (!(best > -INFINITY)) return;                     /* everything is banned */
    if (row->temperature < KVS__SAMPLE_GREEDY) row->token = kvs__sample_find(x, V, best);
    else row->token = kvs__sample_draw(x, V, best, row, b, c, a);
    if (row->n_top >= 0) kvs__sample_logprobs(logits, V, max, row, b, c);
}

#if defined(__clang__)
#  pragma float_control(pop)
#elif defined(__GNUC__)
#  pragma GCC pop_options
#endif

/* ====================================================================================================
   >>engine   Requests in, text out: everything above put together.

   A request has n outputs; each output is a sequence for the scheduler plus what turns tokens into text:

       kvs_submit (any thread) --> inbox --> kvs_step: plan, forward, sample, detokenise --> ready list --> kvs_poll
       kvs_cancel (any thread) --> flag  -->

   The lock guards the request table, the inbox, the cancel flags and the statistics that others may read. Everything else belongs
   to the thread that calls kvs_step. A request dies in the step after its last piece was polled.
   Owns requests and the life of all parts. Must not know how tokens are computed.
   ==================================================================================================== */

struct kvs__req;

typedef struct kvs__out {
    kvs__seq  seq;                      /* the scheduler's part */
    struct kvs__req *req;
    int32_t   index;                    /* which of the n outputs */
    kvs_stream stream;                  /* bytes of an unfinished character */
    kvs__buf  held;                     /* decoded text that may be the beginning of a stop string */
    kvs__buf  piece;                    /* text for the next poll */
    int32_t   piece_taken;              /* it was polled: the next text starts afresh */
    int32_t   tokens_taken;             /* output tokens polled so far */
    float    *logprobs;                 /* [max output] or NULL */
    kvs_token_logprob *top;             /* [max output][n_top] or NULL */
    double    time_first;               /* of the first token, 0 before */
    kvs_finish finish;
    int32_t   in_ready, closed;         /* closed: its last piece was polled */
    struct kvs__out *next_ready;
} kvs__out;

typedef struct kvs__stop { const char *text; size_t n; } kvs__stop;

typedef struct kvs__req {
    uint32_t  id;
    int32_t   n;                        /* outputs */
    kvs__out *out;                      /* [n] */
    kvs_sampling s;                     /* its arrays are copies */
    kvs__stop *stop;                    /* [s.n_stop] */
    size_t    longest_stop;
    int32_t  *banned, n_banned;         /* what min_tokens forbids: the EOS set and the stop ids */
    uint64_t  seed;
    void     *user;
    int32_t   quiet;                    /* kvs_generate collects it: its pieces are not polled */
    int32_t   cancel;                   /* set by any thread */
    double    time_submit, time_start;  /* start: first scheduled, 0 before */
    struct kvs__req *next;              /* in the inbox, or in the list of the dead */
} kvs__req;

static uint64_t kvs__sched_tokens_held(const kvs__sched *s, int32_t *fill);      /* section inspect */

#define KVS__ERR_SLOTS 64
typedef struct kvs__thread_err { pthread_t who; int used; kvs__err e; } kvs__thread_err;

struct kvs_engine {
    kvs__mem    mem;
    kvs_config  cfg;                    /* resolved */
    kvs__model  model;
    kvs_tokenizer *tok;                 /* NULL: the folder has none, prompts must be token ids */
    const kvs_backend *be;
    kvs__forward fwd;
    kvs_blocks *blk;
    kvs__sched  sched;
    kvs__batch  batch;
    kvs_sample_row *row;                /* [max_num_seqs] */
    kvs_memory_plan plan;
    int         loaded;

    pthread_mutex_t lock;
    kvs__req  **table;                  /* [table_cap] live requests by index */
    uint32_t   *generation;             /* [table_cap] */
    size_t      table_cap;
    uint32_t    next_index;             /* where the search for a free index starts: spreads reuse */
    kvs__req   *inbox, *inbox_tail;
    int32_t     cancels;                /* requests whose flag may be set */
    uint64_t    submitted;
    kvs_stats   stats;                  /* what others may read: `work` as of the end of the last step, and requests */
    kvs__thread_err err[KVS__ERR_SLOTS];
    uint32_t    err_next;

    kvs_stats   work;                   /* the stepping thread's own counts */
    kvs__out   *ready, *ready_tail;     /* outputs with a piece to poll */
    kvs__req   *dead;                   /* freed when the next step begins */
    int32_t    *scratch;                /* [NB] for checks and counts */
};

/* ---- errors: each calling thread has a text of its own ---- */

static kvs__err *kvs__engine_err(kvs_engine *e)
{
    pthread_t me = pthread_self();
    pthread_mutex_lock(&e->lock);
    kvs__thread_err *t = NULL;
    for (int i = 0; i < KVS__ERR_SLOTS && !t; i++)
        if (e->err[i].used && pthread_equal(e->err[i].who, me)) t = &e->err[i];
    if (!t) { t = &e->err[e->err_next++ % KVS__ERR_SLOTS]; t->who = me; t->used = 1; t->e.text[0] = 0; }
    pthread_mutex_unlock(&e->lock);
    return &t->e;
}

KVS_API const char *kvs_last_error(const kvs_engine *e)
{
    return e ? kvs__engine_err((kvs_engine *)(uintptr_t)e)->text : "no engine: out of memory";
}

static void kvs__log(const kvs_config *cfg, kvs_log_level level, const char *text)
{
    if (cfg->log) cfg->log(level, text, cfg->log_user);
}

/* ---- configuration ---- */

KVS_API void kvs_config_resolve(const kvs_config *cfg, kvs_config *out)
{
    *out = *cfg;
    if (!out->block_size) out->block_size = 16;
    if (out->gpu_memory_utilization == 0) out->gpu_memory_utilization = 0.9f;
    if (!out->max_num_seqs) out->max_num_seqs = 256;
    if (!out->max_num_batched_tokens) out->max_num_batched_tokens = 512;
    if (!out->backend) out->backend = kvs_cpu_backend();
    if (out->kv_layout == KVS_LAYOUT_STATIC) out->no_prefix_cache = 1;      /* nothing can be shared in it */
}

static kvs_result kvs__config_check(const kvs_config *c, kvs__err *e)
{
    if (!c->model) return kvs__fail(e, KVS_ERR_INVALID, "kvs_config.model is NULL: expected the path of a model folder");
    if (c->dtype != KVS_AUTO && c->dtype != KVS_F32 && c->dtype != KVS_F16 && c->dtype != KVS_BF16)
        return kvs__fail(e, KVS_ERR_UNSUPPORTED, "kvs_config.dtype: %s is not a weight type; expected auto, f32, f16 or bf16", kvs__dtype_name(c->dtype));
    if (c->kv_cache_dtype != KVS_AUTO && c->kv_cache_dtype != KVS_F32 && c->kv_cache_dtype != KVS_F16 && c->kv_cache_dtype != KVS_BF16)
        return kvs__fail(e, KVS_ERR_UNSUPPORTED, "kvs_config.kv_cache_dtype: %s is not implemented; expected auto, f32, f16 or bf16", kvs__dtype_name(c->kv_cache_dtype));
    if (!(c->gpu_memory_utilization > 0 && c->gpu_memory_utilization <= 1))
        return kvs__fail(e, KVS_ERR_INVALID, "kvs_config.gpu_memory_utilization: expected a share in (0, 1], got %g", (double)c->gpu_memory_utilization);
    const struct { const char *name; int64_t v, lo, hi; } range[] = {
        {"block_size", c->block_size, 1, 4096}, {"max_model_len", c->max_model_len, 0, 1 << 24},
        {"max_num_seqs", c->max_num_seqs, 1, 1 << 16}, {"max_num_batched_tokens", c->max_num_batched_tokens, 1, 1 << 20},
        {"num_threads", c->num_threads, 0, 1024}, {"scheduling_policy", (int64_t)c->scheduling_policy, 0, KVS_POLICY_PRIORITY},
        {"kv_layout", (int64_t)c->kv_layout, 0, KVS_LAYOUT_STATIC}, {"batching", (int64_t)c->batching, 0, KVS_BATCHING_STATIC},
        {"attention", (int64_t)c->attention, 0, KVS_ATTENTION_NAIVE}, {"isa", (int64_t)c->isa, 0, KVS_ISA_AVX512},
        {"device", (int64_t)c->device, 0, KVS_DEVICE_CUDA}, {"load_format", (int64_t)c->load_format, 0, KVS_LOAD_DUMMY}};
    for (size_t i = 0; i < KVS__COUNT(range); i++)
        if (range[i].v < range[i].lo || range[i].v > range[i].hi)
            return kvs__fail(e, KVS_ERR_INVALID, "kvs_config.%s: expected %lld..%lld, got %lld", range[i].name,
                             (long long)range[i].lo, (long long)range[i].hi, (long long)range[i].v);
    if (c->backend->abi != KVS_BACKEND_ABI || c->backend->size != sizeof(kvs_backend))
        return kvs__fail(e, KVS_ERR_BACKEND, "kvs_config.backend: ABI %u of size %u; this header has ABI %d of size %zu",
                         c->backend->abi, c->backend->size, KVS_BACKEND_ABI, sizeof(kvs_backend));
    if (c->device == KVS_DEVICE_CUDA && c->backend == kvs_cpu_backend())
        return kvs__fail(e, KVS_ERR_BACKEND, "kvs_config.device is cuda, but no CUDA backend was given in kvs_config.backend");
    return KVS_OK;
}

/* ---- opening: config, then the plan (exact bytes), then the memory itself ---- */

static int32_t kvs__engine_table_blocks(const kvs_engine *e)    /* blocks of a sequence of max_model_len */
{
    return (e->cfg.max_model_len + e->cfg.block_size - 1) / e->cfg.block_size;
}

/* Decides max_model_len and the number of blocks. */
static kvs_result kvs__engine_pool(kvs_engine *e, kvs__err *err)
{
    kvs_config *c = &e->cfg;
    kvs_memory_plan *p = &e->plan;
    int32_t asked = c->max_model_len, limit = e->model.cfg.max_pos;
    if (asked > limit)
        return kvs__fail(err, KVS_ERR_INVALID, "kvs_config.max_model_len: %d, but the model was made for %d positions", asked, limit);
    c->max_model_len = asked ? asked : limit;
    p->page_bytes = e->be->page_bytes(&e->fwd.kv);
    if (!p->page_bytes)
        return kvs__fail(err, KVS_ERR_UNSUPPORTED, "backend %s: no KV pages of block_size %d, head_dim %d, %s", e->be->name,
                         c->block_size, e->fwd.kv.head_dim, kvs__dtype_name(e->fwd.kv.dtype));
    uint64_t useful = (uint64_t)kvs__engine_table_blocks(e) * (uint64_t)c->max_num_seqs, bytes = c->kv_cache_bytes;
    if (!bytes) {
        uint64_t room = e->be->free_memory(), cap = 4ull << 30;
        if (e->be == kvs_cpu_backend() && room > cap) room = cap;
        bytes = (uint64_t)((double)room * (double)c->gpu_memory_utilization);
    }
    p->num_blocks = KVS__MIN(KVS__MIN(bytes / p->page_bytes, useful), (uint64_t)1 << 28);
    uint64_t tokens = p->num_blocks * (uint64_t)c->block_size;
    if (tokens < (uint64_t)c->max_model_len) {
        if (asked || tokens == 0)
            return kvs__fail(err, KVS_ERR_CAPACITY, "the KV pool of %llu bytes holds %llu blocks of %llu bytes, but one sequence of max_model_len %d "
                             "needs %d", (unsigned long long)bytes, (unsigned long long)p->num_blocks, (unsigned long long)p->page_bytes,
                             c->max_model_len, kvs__engine_table_blocks(e));
        c->max_model_len = (int32_t)tokens;
    }
    p->kv_bytes = p->num_blocks * p->page_bytes;
    return KVS_OK;
}

static void kvs__engine_plan(kvs_engine *e)
{
    kvs_config *c = &e->cfg;
    kvs_memory_plan *p = &e->plan;
    int32_t B = kvs__engine_table_blocks(e), NB = (int32_t)p->num_blocks;
    kvs__forward_plan(&e->fwd, c, p);
    uint64_t S = (uint64_t)c->max_num_seqs;
    p->host_bytes = kvs__blk_bytes(NB, c->block_size) + kvs__batch_bytes(c->max_num_batched_tokens, c->max_num_seqs, B) +
                    S * sizeof(kvs__seq *) + ((uint64_t)NB + S) * sizeof(kvs__copy) + S * sizeof(kvs_sample_row) + (uint64_t)NB * 4;
    p->total_bytes = p->weight_bytes + p->kv_bytes + p->workspace_bytes + p->host_bytes;
    p->token_bytes = p->page_bytes / (uint64_t)c->block_size;
    p->max_model_len = c->max_model_len;
    p->max_concurrency = NB / B;
}

/* Everything that needs no weight: config, tokenizer, tensors' names and shapes, sizes. */
static kvs_result kvs__engine_prepare(kvs_engine *e, kvs__err *err)
{
    kvs_config *c = &e->cfg;
    kvs_result r = kvs__config_check(c, err);
    if (r < 0) return r;
    e->be = c->backend;
    if ((r = kvs__model_open_as(&e->mem, c->model, c->load_format, c->dtype, &e->model, err)) < 0) return r;
    if (e->model.warnings.n) kvs__log(c, KVS_LOG_WARN, e->model.warnings.p);
    r = kvs__forward_setup(&e->fwd, &e->model, c, &e->mem, err);
    if (r < 0 || (r = kvs__engine_pool(e, err)) < 0) return r;
    if (c->no_chunked_prefill && c->max_num_batched_tokens < c->max_model_len) c->max_num_batched_tokens = c->max_model_len;
    kvs__engine_plan(e);
    return KVS_OK;
}

/* The tokenizer is optional: a folder without one takes token ids. Its control tokens may add to the EOS set. */
static kvs_result kvs__engine_tokenizer(kvs_engine *e, kvs__err *err)
{
    char path[4096], vocab[4096];
    if (kvs__path_join(path, sizeof path, e->cfg.model, "tokenizer.json") || kvs__path_join(vocab, sizeof vocab, e->cfg.model, "vocab.json"))
        return kvs__fail(err, KVS_ERR_INVALID, "kvs_config.model: the path is too long");
    if (!kvs__file_exists(path) && !kvs__file_exists(vocab)) {
        kvs__log(&e->cfg, KVS_LOG_WARN, "the folder has no tokenizer.json: prompts must be token ids");
        return KVS_OK;
    }
    kvs_result r = kvs__tok_open(&e->mem, e->cfg.model, &e->tok, err);
    if (r < 0) return r;
    int32_t n = kvs_tokenizer_vocab_size(e->tok), V = e->model.cfg.V;
    if (n > V) return kvs__fail(err, KVS_ERR_MISMATCH, "tokenizer.json has ids up to %d, but the model's vocabulary has %d entries", n - 1, V);
    int32_t id = kvs_tokenizer_id(e->tok, e->model.cfg.eos_token, strlen(e->model.cfg.eos_token));
    if (id >= 0) kvs__model_add_eos(&e->model, id);
    return KVS_OK;
}

static kvs_result kvs__engine_load(kvs_engine *e, kvs__err *err)
{
    kvs_config *c = &e->cfg;
    kvs_result r = kvs__engine_tokenizer(e, err);
    if (r < 0 || (r = kvs__forward_open(&e->fwd, c, &e->plan, err)) < 0) return r;
    kvs_blocks_config bc;
    memset(&bc, 0, sizeof bc);
    bc.num_blocks = (int32_t)e->plan.num_blocks; bc.block_size = c->block_size; bc.no_prefix_cache = c->no_prefix_cache;
    bc.seed = c->seed; bc.allocator = e->mem.a;
    kvs__sched_config sc = {c->max_num_seqs, c->max_num_batched_tokens, kvs__engine_table_blocks(e), c->scheduling_policy,
                            c->kv_layout, c->batching, c->no_chunked_prefill};
    if ((r = kvs_blocks_open(&bc, &e->blk)) < 0 || (r = kvs__sched_open(&e->mem, e->blk, &sc, &e->sched)) < 0 ||
        (r = kvs__batch_open(&e->mem, c->max_num_batched_tokens, c->max_num_seqs, kvs__engine_table_blocks(e), &e->batch)) < 0)
        return kvs__fail(err, r, "out of memory for %llu bytes of block tables", (unsigned long long)e->plan.host_bytes);
    e->row = (kvs_sample_row *)kvs__alloc(&e->mem, (size_t)c->max_num_seqs, sizeof *e->row);
    e->scratch = (int32_t *)kvs__alloc(&e->mem, (size_t)e->plan.num_blocks, sizeof *e->scratch);
    if (!e->row || !e->scratch) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the sampler's rows");
    e->stats.blocks_total = e->stats.blocks_free = e->work.blocks_total = e->plan.num_blocks;
    e->loaded = 1;
    return KVS_OK;
}

static kvs_engine *kvs__engine_new(const kvs_config *cfg)
{
    kvs__mem m;
    kvs__mem_init(&m, &cfg->allocator);
    kvs_engine *e = (kvs_engine *)kvs__alloc(&m, 1, sizeof *e);
    if (!e) return NULL;
    e->mem = m;
    kvs_config_resolve(cfg, &e->cfg);
    pthread_mutex_init(&e->lock, NULL);
    return e;
}

KVS_API kvs_result kvs_open(const kvs_config *cfg, kvs_engine **out)
{
    if (out) *out = NULL;
    if (!cfg || !out) return KVS_ERR_INVALID;
    kvs_engine *e = kvs__engine_new(cfg);
    if (!e) return KVS_ERR_MEMORY;
    *out = e;
    kvs__err *err = kvs__engine_err(e);
    kvs_result r = kvs__engine_prepare(e, err);
    if (r >= 0) r = kvs__engine_load(e, err);
    if (r < 0) kvs__log(&e->cfg, KVS_LOG_ERROR, err->text);
    return r;
}

KVS_API kvs_result kvs_plan(const kvs_config *cfg, kvs_memory_plan *out, char err[KVS_MAX_ERROR])
{
    if (err) err[0] = 0;
    if (out) memset(out, 0, sizeof *out);
    if (!cfg || !out) return KVS_ERR_INVALID;
    kvs_engine *e = kvs__engine_new(cfg);
    if (!e) return KVS_ERR_MEMORY;
    kvs__err text = {""};
    kvs_result r = kvs__engine_prepare(e, &text);
    if (r >= 0) *out = e->plan;
    if (err) memcpy(err, text.text, sizeof text.text);
    kvs_close(e);
    return r;
}

static void kvs__req_free(kvs_engine *e, kvs__req *q)
{
    if (!q) return;
    for (int32_t i = 0; q->out && i < q->n; i++) {
        kvs__out *o = &q->out[i];
        kvs__free(&e->mem, o->seq.tokens); kvs__free(&e->mem, o->seq.table);
        kvs__free(&e->mem, o->logprobs);   kvs__free(&e->mem, o->top);
        kvs__buf_free(&o->held);           kvs__buf_free(&o->piece);
    }
    kvs__free(&e->mem, q->out); kvs__free(&e->mem, q->stop); kvs__free(&e->mem, q->banned);
    kvs__free(&e->mem, (void *)(uintptr_t)q->s.stop_token_ids); kvs__free(&e->mem, (void *)(uintptr_t)q->s.logit_bias);
    kvs__free(&e->mem, q);
}

KVS_API void kvs_close(kvs_engine *e)
{
    if (!e) return;
    for (size_t i = 0; i < e->table_cap; i++) kvs__req_free(e, e->table[i]);
    kvs__free(&e->mem, e->table); kvs__free(&e->mem, e->generation);
    kvs__forward_close(&e->fwd);
    kvs__batch_close(&e->mem, &e->batch);
    kvs__sched_close(&e->mem, &e->sched);
    kvs_blocks_close(e->blk);
    kvs__free(&e->mem, e->row); kvs__free(&e->mem, e->scratch);
    kvs_tokenizer_close(e->tok);
    kvs__model_close(&e->model);
    pthread_mutex_destroy(&e->lock);
    kvs__mem m = e->mem;
    kvs__free(&m, e);
}

/* ---- submitting ---- */

/* Token ids of a prompt into *ids (owned by the caller: kvs__free). Returns their number or an error. */
static int64_t kvs__prompt_tokens(kvs_engine *e, const kvs_prompt *p, int32_t **ids, kvs__err *err)
{
    int32_t V = e->model.cfg.V;
    *ids = NULL;
    if (p->tokens) {
        for (size_t i = 0; i < p->n_tokens; i++)
            if (p->tokens[i] < 0 || p->tokens[i] >= V)
                return kvs__fail(err, KVS_ERR_INVALID, "prompt token %zu is %d: expected 0..%d", i, p->tokens[i], V - 1);
        if (!(*ids = (int32_t *)kvs__alloc(&e->mem, p->n_tokens, sizeof **ids))) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the prompt");
        memcpy(*ids, p->tokens, p->n_tokens * sizeof **ids);
        return (int64_t)p->n_tokens;
    }
    if (!p->text) return kvs__fail(err, KVS_ERR_INVALID, "kvs_prompt: expected text or tokens, both are NULL");
    if (!e->tok) return kvs__fail(err, KVS_ERR_UNSUPPORTED, "%s has no tokenizer: give kvs_prompt.tokens", e->cfg.model);
    int flags = (p->no_bos ? 0 : KVS_ADD_SPECIAL) | (p->parse_special ? KVS_PARSE_SPECIAL : 0);
    size_t len = p->text_len ? p->text_len : strlen(p->text), cap = len + 16;      /* a byte makes at most one token */
    int64_t n = KVS_ERR_MEMORY;
    for (;;) {
        if (!(*ids = (int32_t *)kvs__alloc(&e->mem, cap, sizeof **ids))) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the prompt");
        n = kvs_tokenizer_encode(e->tok, p->text, len, flags, *ids, cap);
        if (n <= (int64_t)cap) break;
        kvs__free(&e->mem, *ids);
        cap = (size_t)n;
    }
    if (n < 0) return kvs__fail(err, (kvs_result)n, "the prompt could not be tokenized: %s", kvs_result_str((kvs_result)n));
    if (n > 1 && (*ids)[0] == e->model.cfg.bos && (*ids)[1] == (*ids)[0]) memmove(*ids, *ids + 1, (size_t)--n * sizeof **ids);  /* never two BOS */
    return n;
}

/* Copies n elements; NULL (and *oom) when out of memory, NULL for none. */
static void *kvs__dup(kvs__mem *m, const void *src, size_t n, size_t size, int *oom)
{
    if (!n) return NULL;
    void *p = kvs__alloc(m, n, size);
    if (p) memcpy(p, src, n * size); else *oom = 1;
    return p;
}

static int kvs__req_copy_sampling(kvs_engine *e, kvs__req *q, const kvs_sampling *s)
{
    int oom = 0;
    size_t text = 0;
    q->s = *s;
    q->s.stop_token_ids = (const int32_t *)kvs__dup(&e->mem, s->stop_token_ids, s->n_stop_token_ids, sizeof(int32_t), &oom);
    q->s.logit_bias = (const kvs_logit_bias *)kvs__dup(&e->mem, s->logit_bias, s->n_logit_bias, sizeof(kvs_logit_bias), &oom);
    for (size_t i = 0; i < s->n_stop; i++) text += strlen(s->stop[i]) + 1;
    q->stop = (kvs__stop *)kvs__alloc(&e->mem, 1, s->n_stop * sizeof *q->stop + text);
    q->n_banned = (int32_t)(s->ignore_eos ? 0 : e->model.cfg.n_eos) + (int32_t)s->n_stop_token_ids;
    q->banned = (int32_t *)kvs__alloc(&e->mem, (size_t)q->n_banned, sizeof *q->banned);
    if (oom || !q->stop || !q->banned) return -1;
    char *at = (char *)(q->stop + s->n_stop);
    for (size_t i = 0; i < s->n_stop; i++) {
        q->stop[i].text = at; q->stop[i].n = strlen(s->stop[i]);
        memcpy(at, s->stop[i], q->stop[i].n + 1);
        at += q->stop[i].n + 1;
        q->longest_stop = KVS__MAX(q->longest_stop, q->stop[i].n);
    }
    int32_t k = 0;
    for (int32_t i = 0; !s->ignore_eos && i < e->model.cfg.n_eos; i++) q->banned[k++] = e->model.cfg.eos[i];
    for (size_t i = 0; i < s->n_stop_token_ids; i++) q->banned[k++] = s->stop_token_ids[i];
    return 0;
}

/* Room for everything the output can become, so that no step allocates. */
static int kvs__out_open(kvs_engine *e, kvs__req *q, int32_t i, const int32_t *ids, int32_t n_prompt, int32_t n_max, kvs__key root)
{
    kvs__out *o = &q->out[i];
    size_t out = (size_t)(n_max - n_prompt), cap = KVS_MAX_PIECE + q->longest_stop + 8;
    o->req = q; o->index = i;
    o->seq.owner = o; o->seq.root = root; o->seq.n_prompt = o->seq.n_tokens = n_prompt; o->seq.token_cap = n_max;
    o->seq.table_cap = e->cfg.kv_layout == KVS_LAYOUT_STATIC ? e->sched.cfg.max_blocks_per_seq : (n_max + e->cfg.block_size - 1) / e->cfg.block_size;
    o->seq.tokens = (int32_t *)kvs__alloc(&e->mem, (size_t)n_max, sizeof(int32_t));
    o->seq.table = (int32_t *)kvs__alloc(&e->mem, (size_t)o->seq.table_cap, sizeof(int32_t));
    if (!o->seq.tokens || !o->seq.table) return -1;
    memcpy(o->seq.tokens, ids, (size_t)n_prompt * sizeof *ids);
    if (q->s.logprobs > 0 && !(o->logprobs = (float *)kvs__alloc(&e->mem, out, sizeof(float)))) return -1;
    if (q->s.logprobs > 1 && !(o->top = (kvs_token_logprob *)kvs__alloc(&e->mem, out * (size_t)(q->s.logprobs - 1), sizeof *o->top))) return -1;
    o->held.mem = o->piece.mem = &e->mem;
    void *held = NULL, *piece = NULL;
    if (kvs__grow(&e->mem, &held, &o->held.cap, cap, 1)) return -1;
    o->held.p = (char *)held;
    if (kvs__grow(&e->mem, &piece, &o->piece.cap, 2 * cap, 1)) return -1;
    o->piece.p = (char *)piece;
    return 0;
}

/* A slot of the request table; gives the request its id. -1: out of memory, or 2^20 live requests. Under the lock. */
static int kvs__req_register(kvs_engine *e, kvs__req *q)
{
    size_t cap = e->table_cap, i;
    for (i = 0; i < cap; i++) if (!e->table[(e->next_index + i) % cap]) break;
    if (i == cap) {
        void *t = e->table, *g = e->generation;
        size_t tc = cap, gc = cap;
        if (cap >= (1u << 20) || kvs__grow(&e->mem, &t, &tc, cap + 1, sizeof *e->table)) return -1;
        e->table = (kvs__req **)t;
        if (kvs__grow(&e->mem, &g, &gc, cap + 1, sizeof *e->generation)) return -1;
        e->generation = (uint32_t *)g;
        e->table_cap = gc;
        e->next_index = (uint32_t)cap;
        i = 0;
    }
    uint32_t at = (uint32_t)((e->next_index + i) % e->table_cap);
    e->next_index = at + 1;
    e->generation[at] = e->generation[at] % 4095 + 1;                       /* 1..4095: an id is never 0 */
    q->id = at | e->generation[at] << 20;
    e->table[at] = q;
    return 0;
}

/* Builds the request, or says why it can never run. *ids: the prompt's tokens. */
static kvs_result kvs__req_build(kvs_engine *e, kvs__req *q, const kvs_prompt *p, const int32_t *ids, int64_t n, kvs__err *err)
{
    const kvs_sampling *s = &q->s;
    int32_t L = e->cfg.max_model_len;
    int64_t need, have;
    if (n < 1) return kvs__fail(err, KVS_ERR_INVALID, "the prompt is empty: expected at least one token");
    if (n >= L) return kvs__fail(err, KVS_ERR_TOO_LONG, "the prompt has %lld tokens; max_model_len %d leaves no room for output", (long long)n, L);
    int32_t n_max = s->max_tokens && s->max_tokens < L - (int32_t)n ? (int32_t)n + s->max_tokens : L;
    if (!kvs__sched_fits(&e->sched, n_max, q->n, &need, &have))
        return kvs__fail(err, KVS_ERR_CAPACITY, "%lld prompt tokens and up to %lld of output, %d times, need %lld blocks and %d sequences; there are %lld and %d",
                         (long long)n, (long long)(n_max - n), q->n, (long long)need, q->n, (long long)have, e->cfg.max_num_seqs);
    kvs__key root = kvs__pfx_root(e->blk, p->cache_salt);
    if (!(q->out = (kvs__out *)kvs__alloc(&e->mem, (size_t)q->n, sizeof *q->out))) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the request");
    for (int32_t i = 0; i < q->n; i++) {
        if (kvs__out_open(e, q, i, ids, (int32_t)n, n_max, root)) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the request");
        q->out[i].seq.priority = p->priority;
        if (i) q->out[i - 1].seq.sibling = &q->out[i].seq;
    }
    return KVS_OK;
}

/* Everything of kvs_submit but the queueing. *out is NULL on failure. */
static kvs_result kvs__req_new(kvs_engine *e, const kvs_prompt *p, const kvs_sampling *s, kvs__req **out, kvs__err *err)
{
    kvs_sampling greedy;
    int32_t *ids = NULL;
    memset(&greedy, 0, sizeof greedy);
    *out = NULL;
    if (!p) return kvs__fail(err, KVS_ERR_INVALID, "kvs_submit: the prompt is NULL");
    if (!e->loaded) return kvs__fail(err, KVS_ERR_INVALID, "the engine did not open");
    if (!s) s = &greedy;
    kvs_result r = kvs__sampling_check(s, e->model.cfg.V, err);
    if (r < 0) return r;
    kvs__req *q = (kvs__req *)kvs__alloc(&e->mem, 1, sizeof *q);
    if (!q) return kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the request");
    q->n = s->n ? s->n : 1;
    q->user = p->user; q->time_submit = kvs__now();
    int64_t n = kvs__req_copy_sampling(e, q, s) ? (int64_t)kvs__fail(err, KVS_ERR_MEMORY, "out of memory for the request")
                                                : kvs__prompt_tokens(e, p, &ids, err);
    r = n < 0 ? (kvs_result)n : kvs__req_build(e, q, p, ids, n, err);
    kvs__free(&e->mem, ids);
    if (r < 0) { kvs__req_free(e, q); return r; }
    *out = q;
    return KVS_OK;
}

/* Hands q over to the thread that steps: from here on q may be gone at any moment. *id: its handle. */
static kvs_result kvs__req_queue(kvs_engine *e, kvs__req *q, uint32_t *id, kvs__err *err)
{
    pthread_mutex_lock(&e->lock);
    int failed = kvs__req_register(e, q);
    if (!failed) {
        *id = q->id;
        q->seed = q->s.seed ? q->s.seed : kvs__mix(e->cfg.seed + 0x9e3779b97f4a7c15ull * ++e->submitted);
        if (e->inbox_tail) e->inbox_tail->next = q; else e->inbox = q;
        e->inbox_tail = q;
        e->stats.requests++;
    }
    pthread_mutex_unlock(&e->lock);
    if (!failed) return KVS_OK;
    kvs__req_free(e, q);
    return kvs__fail(err, KVS_ERR_MEMORY, "no room in the request table");
}

KVS_API kvs_result kvs_submit(kvs_engine *e, const kvs_prompt *p, const kvs_sampling *s, kvs_request *out)
{
    if (out) out->id = 0;
    if (!e) return KVS_ERR_INVALID;
    kvs__err *err = kvs__engine_err(e);
    kvs__req *q;
    kvs_result r = kvs__req_new(e, p, s, &q, err);
    if (r < 0) return r;
    uint32_t id = 0;
    r = kvs__req_queue(e, q, &id, err);
    if (out) out->id = id;
    return r;
}

/* The live request of a handle, or NULL. Under the lock. */
static kvs__req *kvs__req_find(const kvs_engine *e, kvs_request h)
{
    uint32_t i = h.id & 0xfffffu;
    kvs__req *q = i < e->table_cap ? e->table[i] : NULL;
    return q && q->id == h.id ? q : NULL;
}

KVS_API kvs_result kvs_cancel(kvs_engine *e, kvs_request h)
{
    if (!e) return KVS_ERR_INVALID;
    kvs__err *err = kvs__engine_err(e);
    pthread_mutex_lock(&e->lock);
    kvs__req *q = kvs__req_find(e, h);
    if (q && !q->cancel) { q->cancel = 1; e->cancels++; }
    pthread_mutex_unlock(&e->lock);
    return q ? KVS_OK : kvs__fail(err, KVS_ERR_STALE, "request %08x is not known (any more)", h.id);
}

/* ---- from tokens to text ---- */

static void kvs__out_ready(kvs_engine *e, kvs__out *o)
{
    if (o->in_ready || o->req->quiet) return;
    o->in_ready = 1; o->next_ready = NULL;
    if (e->ready_tail) e->ready_tail->next_ready = o; else e->ready = o;
    e->ready_tail = o;
}

/* Moves the first n bytes of the held text into the piece. */
static void kvs__out_release(kvs__out *o, size_t n)
{
    if (o->piece_taken) { o->piece.n = 0; o->piece_taken = 0; }
    kvs__buf_put(&o->piece, o->held.p, n);
    memmove(o->held.p, o->held.p + n, o->held.n - n);
    o->held.n -= n;
}

/* Looks for stop strings in the held text. Found: releases what is before (and with include_stop_str the string itself) and returns 1.
   Else releases all but the longest end that could still become a stop string. */
static int kvs__out_stop(kvs__out *o)
{
    const kvs__req *q = o->req;
    size_t n = o->held.n, keep = 0;
    for (size_t at = 0; at < n; at++)
        for (size_t i = 0; i < q->s.n_stop; i++) {
            size_t m = q->stop[i].n, have = KVS__MIN(m, n - at);
            if (memcmp(o->held.p + at, q->stop[i].text, have)) continue;
            if (have < m) { keep = KVS__MAX(keep, n - at); continue; }
            kvs__out_release(o, q->s.include_stop_str_in_output ? at + m : at);
            o->held.n = 0;
            return 1;
        }
    kvs__out_release(o, n - keep);
    return 0;
}

static void kvs__out_finish(kvs_engine *e, kvs__out *o, kvs_finish why)
{
    char tail[64];
    if (o->finish) return;
    o->finish = why;
    kvs__sched_remove(&e->sched, &o->seq);
    if (why != KVS_FINISH_STOP || o->held.n || o->stream.n_pending) {       /* nothing is lost: an unfinished character, text held back */
        int64_t n = e->tok ? kvs_stream_flush(e->tok, &o->stream, tail, sizeof tail) : 0;
        if (n > 0) kvs__buf_put(&o->held, tail, (size_t)n);
        kvs__out_release(o, o->held.n);
    }
    e->work.finished++;
    e->work.cancelled += why == KVS_FINISH_CANCELLED;
    kvs__out_ready(e, o);
}

static int kvs__in_list(const int32_t *list, int64_t n, int32_t x)
{
    while (n-- > 0) if (list[n] == x) return 1;
    return 0;
}

/* Takes a sampled token: appends it, makes text of it, decides whether the output ends. */
static void kvs__out_accept(kvs_engine *e, kvs__out *o, const kvs_sample_row *row)
{
    kvs__req *q = o->req;
    kvs__seq *x = &o->seq;
    char piece[KVS_MAX_PIECE];
    int32_t at = x->n_tokens - x->n_prompt;
    if (row->token < 0) {
        kvs__log(&e->cfg, KVS_LOG_ERROR, "the logits of a request hold no finite number: it ends with KVS_FINISH_ERROR");
        kvs__out_finish(e, o, KVS_FINISH_ERROR);
        return;
    }
    x->tokens[x->n_tokens++] = row->token;
    if (o->logprobs) o->logprobs[at] = row->logprob;
    if (o->top) memcpy(o->top + (size_t)at * (size_t)row->n_top, row->top, (size_t)row->n_top * sizeof *o->top);
    if (o->time_first == 0) o->time_first = kvs__now();
    e->work.generated_tokens++;
    kvs__out_ready(e, o);
    int last = at + 1 == q->s.max_tokens || x->n_tokens == x->token_cap, min = at + 1 >= q->s.min_tokens;
    int eos = min && kvs__in_list(q->banned, q->n_banned, row->token);
    if (eos && !q->s.include_stop_str_in_output) { kvs__out_finish(e, o, KVS_FINISH_STOP); return; }
    int64_t n = e->tok ? kvs_stream_put(e->tok, &o->stream, row->token, KVS_SKIP_SPECIAL, piece, sizeof piece) : 0;
    if (n > 0) kvs__buf_put(&o->held, piece, (size_t)n);
    if (eos) { kvs__out_finish(e, o, KVS_FINISH_STOP); return; }
    if (!min) kvs__out_release(o, o->held.n);
    else if (kvs__out_stop(o)) { o->stream.n_pending = 0; kvs__out_finish(e, o, KVS_FINISH_STOP); return; }
    if (last) kvs__out_finish(e, o, KVS_FINISH_LENGTH);
}

/* ---- stepping ---- */

static void kvs__step_bury(kvs_engine *e)      /* frees requests whose last piece was polled before this step */
{
    for (kvs__req *q = e->dead, *next; q; q = next) {
        next = q->next;
        e->table[q->id & 0xfffffu] = NULL;
        e->cancels -= q->cancel;
        kvs__req_free(e, q);
    }
    e->dead = NULL;
}

/* Takes over what other threads asked for since the last step. Under the lock. */
static void kvs__step_absorb(kvs_engine *e)
{
    kvs__step_bury(e);
    for (kvs__req *q = e->inbox, *next; q; q = next) {
        next = q->next;
        q->next = NULL;
        kvs__sched_add(&e->sched, &q->out[0].seq);
        e->work.prompt_tokens += (uint64_t)q->out[0].seq.n_prompt;
    }
    e->inbox = e->inbox_tail = NULL;
    for (size_t i = 0; e->cancels > 0 && i < e->table_cap; i++) {
        kvs__req *q = e->table[i];
        if (!q || q->cancel != 1) continue;
        q->cancel = 0; e->cancels--;
        for (int32_t k = q->n - 1; k >= 0; k--) kvs__out_finish(e, &q->out[k], KVS_FINISH_CANCELLED);
    }
}

static void kvs__step_copies(kvs_engine *e)
{
    for (int32_t i = 0; i < e->sched.n_copy; i++)
        e->be->block_copy(e->fwd.ctx, e->fwd.pool, &e->fwd.kv, e->sched.copy[i].src, e->sched.copy[i].dst);
    e->sched.n_copy = 0;
}

static void kvs__step_sample_row(kvs__out *o, int32_t logit, kvs_sample_row *r)
{
    const kvs__req *q = o->req;
    const kvs_sampling *s = &q->s;
    int32_t made = o->seq.n_tokens - o->seq.n_prompt;
    r->temperature = s->temperature; r->top_p = s->top_p > 0 ? s->top_p : 1; r->min_p = s->min_p; r->top_k = s->top_k;
    r->repetition_penalty = s->repetition_penalty > 0 ? s->repetition_penalty : 1;
    r->presence_penalty = s->presence_penalty; r->frequency_penalty = s->frequency_penalty;
    r->u = kvs__sample_uniform(q->seed, (uint32_t)o->index, (uint64_t)made);
    r->tokens = o->seq.tokens; r->n_prompt = o->seq.n_prompt; r->n_tokens = o->seq.n_tokens;
    r->bias = s->logit_bias; r->n_bias = (int32_t)s->n_logit_bias;
    r->banned = q->banned; r->n_banned = made < s->min_tokens ? q->n_banned : 0;
    r->n_top = s->logprobs - 1;                                             /* -1: no logprob at all */
    r->logit_row = logit;
}

/* Rows to sample: first every sequence of the step that has logits, then the siblings that fork from it in this step; the order in
   which kvs__sched_commit leaves step[]. Returns their number. */
static int32_t kvs__step_sample_rows(kvs_engine *e)
{
    int32_t n = 0;
    for (int32_t i = 0; i < e->sched.n_step; i++)
        if (e->sched.step[i]->logit >= 0) kvs__step_sample_row((kvs__out *)e->sched.step[i]->owner, e->sched.step[i]->logit, &e->row[n++]);
    for (int32_t i = 0; i < e->sched.n_step; i++)
        for (kvs__seq *y = e->sched.step[i]->sibling; y && e->sched.step[i]->logit >= 0; y = y->sibling)
            kvs__step_sample_row((kvs__out *)y->owner, e->sched.step[i]->logit, &e->row[n++]);
    return n;
}

static void kvs__step_accept(kvs_engine *e)
{
    for (int32_t i = 0, n = 0; i < e->sched.n_step; i++)
        if (e->sched.step[i]->logit >= 0) kvs__out_accept(e, (kvs__out *)e->sched.step[i]->owner, &e->row[n++]);
}

/* The backend failed: what it computed for these sequences cannot be trusted. */
static void kvs__step_abort(kvs_engine *e)
{
    for (int32_t i = 0; i < e->sched.n_step; i++) {
        kvs__req *q = ((kvs__out *)e->sched.step[i]->owner)->req;
        for (int32_t k = q->n - 1; k >= 0; k--) kvs__out_finish(e, &q->out[k], KVS_FINISH_ERROR);
    }
    e->sched.n_step = e->sched.n_copy = 0;
}

static kvs_result kvs__step_work(kvs_engine *e, kvs__err *err)
{
    double t0 = kvs__now();
    kvs__batch_build(&e->batch, &e->sched);
    for (int32_t i = 0; i < e->sched.n_step; i++) {
        kvs__req *q = ((kvs__out *)e->sched.step[i]->owner)->req;
        if (q->time_start == 0) { q->time_start = t0; e->work.cached_tokens += (uint64_t)q->out[0].seq.n_computed; }
    }
    kvs__step_copies(e);
    kvs_result r = kvs__forward_run(&e->fwd, &e->batch.v, e->row, kvs__step_sample_rows(e), err);
    if (r < 0) { kvs__step_abort(e); return r; }
    kvs__sched_commit(&e->sched);
    kvs__step_copies(e);
    e->work.time_forward += kvs__now() - t0;
    kvs__step_accept(e);
    return KVS_OK;
}

/* Publishes the counts for kvs_stats_get. Under the lock. */
static void kvs__step_stats(kvs_engine *e)
{
    kvs_blocks_stats b;
    kvs_stats *s = &e->work;
    kvs_blocks_stats_get(e->blk, &b);
    s->blocks_free = (uint64_t)b.free; s->blocks_cached = (uint64_t)b.cached; s->blocks_used = (uint64_t)b.used;
    s->prefix_queries = b.queries; s->prefix_hits = b.hits; s->evictions = b.evictions;
    s->waiting = e->sched.waiting.count; s->running = e->sched.running.count;
    s->preemptions = e->sched.preemptions; s->forks = e->sched.forks; s->block_copies = e->sched.block_copies;
    s->tokens_held = kvs__sched_tokens_held(&e->sched, e->scratch);
    s->time_sample = e->fwd.time_sample;
    s->requests = e->stats.requests;
    e->stats = *s;
}

KVS_API kvs_result kvs_step(kvs_engine *e)
{
    if (!e) return KVS_ERR_INVALID;
    kvs__err *err = kvs__engine_err(e);
    if (!e->loaded) return kvs__fail(err, KVS_ERR_INVALID, "the engine did not open");
    double t0 = kvs__now();
    pthread_mutex_lock(&e->lock);
    kvs__step_absorb(e);
    pthread_mutex_unlock(&e->lock);
    kvs_result r = KVS_OK;
    int32_t planned = kvs__sched_plan(&e->sched);
    if (planned > 0) r = kvs__step_work(e, err);
    else if (e->sched.waiting.count) r = kvs__fail(err, KVS_ERR_CORRUPT, "%d sequences wait and none can run", e->sched.waiting.count);
    else if (!e->ready) r = KVS_IDLE;
    pthread_mutex_lock(&e->lock);
    if (planned > 0) e->work.steps++;
    e->work.time_step += kvs__now() - t0;
    kvs__step_stats(e);
    pthread_mutex_unlock(&e->lock);
    return r;
}

/* ---- handing out ---- */

static void kvs__out_describe(const kvs_engine *e, const kvs__out *o, kvs_output *v)
{
    const kvs__req *q = o->req;
    const kvs__seq *x = &o->seq;
    int32_t made = x->n_tokens - x->n_prompt, n_top = q->s.logprobs > 1 ? q->s.logprobs - 1 : 0;
    memset(v, 0, sizeof *v);
    v->request.id = q->id; v->user = q->user; v->index = o->index;
    v->text = o->piece_taken || !o->piece.n ? "" : o->piece.p;
    v->text_len = o->piece_taken ? 0 : o->piece.n;
    v->tokens = x->tokens + x->n_prompt + o->tokens_taken; v->n_tokens = (size_t)(made - o->tokens_taken);
    v->logprobs = o->logprobs ? o->logprobs + o->tokens_taken : NULL;
    v->top = o->top ? o->top + (size_t)o->tokens_taken * (size_t)n_top : NULL; v->n_top = (size_t)n_top;
    v->finish_reason = o->finish;
    v->prompt_tokens = x->n_prompt; v->completion_tokens = made;
    v->cached_tokens = x->hit.n_blocks * e->cfg.block_size;
    v->miss = x->hit.miss; v->miss_index = x->hit.miss_index; v->preemptions = x->preemptions;
    double now = kvs__now();
    v->time_queue = (q->time_start > 0 ? q->time_start : now) - q->time_submit;
    v->time_first_token = o->time_first > 0 ? o->time_first - q->time_submit : 0;
    v->time_total = now - q->time_submit;
}

KVS_API int kvs_poll(kvs_engine *e, kvs_output *v)
{
    if (!e || !v || !e->ready) return 0;
    kvs__out *o = e->ready;
    e->ready = o->next_ready;
    if (!e->ready) e->ready_tail = NULL;
    o->in_ready = 0;
    kvs__out_describe(e, o, v);
    o->piece_taken = 1;
    o->tokens_taken = o->seq.n_tokens - o->seq.n_prompt;
    if (o->finish) {
        kvs__req *q = o->req;
        int32_t open = 0;
        o->closed = 1;
        for (int32_t i = 0; i < q->n; i++) open += !q->out[i].closed;
        if (!open) { q->next = e->dead; e->dead = q; }
    }
    return 1;
}

/* ---- offline batches ---- */

static kvs_result kvs__completion_fill(kvs_engine *e, const kvs__out *o, kvs_completion *c)
{
    size_t n = (size_t)(o->seq.n_tokens - o->seq.n_prompt);
    c->text = (char *)kvs__alloc(&e->mem, o->piece.n + 1, 1);
    c->tokens = (int32_t *)kvs__alloc(&e->mem, n, sizeof *c->tokens);
    c->logprobs = o->logprobs ? (float *)kvs__alloc(&e->mem, n, sizeof *c->logprobs) : NULL;
    if (!c->text || !c->tokens || (o->logprobs && !c->logprobs)) return KVS_ERR_MEMORY;
    memcpy(c->text, o->piece.p, o->piece.n);
    memcpy(c->tokens, o->seq.tokens + o->seq.n_prompt, n * sizeof *c->tokens);
    if (c->logprobs) memcpy(c->logprobs, o->logprobs, n * sizeof *c->logprobs);
    c->text_len = o->piece.n; c->n_tokens = n;
    c->finish_reason = o->finish;
    c->prompt_tokens = o->seq.n_prompt; c->cached_tokens = o->seq.hit.n_blocks * e->cfg.block_size;
    return KVS_OK;
}

/* Are all outputs of these requests finished? */
static int kvs__generate_done(kvs__req *const *q, int n)
{
    for (int i = 0; i < n; i++)
        for (int32_t k = 0; q[i] && k < q[i]->n; k++) if (!q[i]->out[k].finish) return 0;
    return 1;
}

KVS_API void kvs_completions_free(kvs_engine *e, kvs_completion *c, int count)
{
    if (!e || !c) return;
    for (int i = 0; i < count; i++) { kvs__free(&e->mem, c[i].text); kvs__free(&e->mem, c[i].tokens); kvs__free(&e->mem, c[i].logprobs); }
    kvs__free(&e->mem, c);
}

/* A prompt that is refused has finish_reason ERROR and its result; the others run. */
static kvs_result kvs__generate_run(kvs_engine *e, const kvs_prompt *p, int n, const kvs_sampling *s, kvs__req **q, kvs_completion *c, kvs__err *err)
{
    int per = s && s->n > 1 ? s->n : 1;
    kvs_result r = KVS_OK;
    for (int i = 0; i < n; i++) {
        kvs_result ri = kvs__req_new(e, &p[i], s, &q[i], err);
        uint32_t id;
        if (ri >= 0) { q[i]->quiet = 1; ri = kvs__req_queue(e, q[i], &id, err); }      /* this thread steps: q[i] stays */
        if (ri < 0) q[i] = NULL;
        for (int k = 0; k < per; k++) {
            kvs_completion *x = &c[i * per + k];
            x->prompt_index = i; x->index = k; x->result = ri; x->finish_reason = ri < 0 ? KVS_FINISH_ERROR : KVS_FINISH_NONE;
        }
    }
    while (r >= 0 && !kvs__generate_done(q, n)) r = kvs_step(e);
    for (int i = 0; i < n; i++)
        for (int k = 0; q[i] && r >= 0 && k < per; k++) r = kvs__completion_fill(e, &q[i]->out[k], &c[i * per + k]);
    return r;
}

KVS_API kvs_result kvs_generate(kvs_engine *e, const kvs_prompt *p, int n, const kvs_sampling *s, kvs_completion **out)
{
    if (out) *out = NULL;
    if (!e) return KVS_ERR_INVALID;
    kvs__err *err = kvs__engine_err(e);
    if (!out || !p || n < 1) return kvs__fail(err, KVS_ERR_INVALID, "kvs_generate: expected prompts, n >= 1 and out, got n = %d", n);
    if (!e->loaded) return kvs__fail(err, KVS_ERR_INVALID, "the engine did not open");
    size_t per = s && s->n > 1 ? (size_t)s->n : 1;
    kvs__req **q = (kvs__req **)kvs__alloc(&e->mem, (size_t)n, sizeof *q);
    kvs_completion *c = (kvs_completion *)kvs__alloc(&e->mem, (size_t)n * per, sizeof *c);
    kvs_result r = q && c ? kvs__generate_run(e, p, n, s, q, c, err) : kvs__fail(err, KVS_ERR_MEMORY, "out of memory for %d prompts", n);
    for (int i = 0; q && i < n; i++) {
        if (!q[i]) continue;
        for (int32_t k = q[i]->n - 1; k >= 0; k--) kvs__out_finish(e, &q[i]->out[k], KVS_FINISH_CANCELLED);   /* after an error */
        q[i]->next = e->dead; e->dead = q[i];
    }
    kvs__free(&e->mem, q);
    if (r < 0) { kvs_completions_free(e, c, n * (int)per); return r; }
    *out = c;
    return KVS_OK;
}

KVS_API void kvs_sampling_default(const kvs_engine *e, kvs_sampling *out)
{
    if (!out) return;
    memset(out, 0, sizeof *out);
    if (e) *out = e->model.cfg.sampling;
}

KVS_API void kvs_stats_get(const kvs_engine *e, kvs_stats *out)
{
    if (!out) return;
    memset(out, 0, sizeof *out);
    if (!e) return;
    pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&e->lock;
    pthread_mutex_lock(lock);
    *out = e->stats;
    pthread_mutex_unlock(lock);
}

/* ====================================================================================================
   >>inspect   Looking at the machine while it runs: invariants, counts, block tables as text. Changes nothing.
   ==================================================================================================== */

KVS_API void kvs_blocks_stats_get(const kvs_blocks *b, kvs_blocks_stats *s)
{
    if (!s) return;
    memset(s, 0, sizeof *s);
    if (!b) return;
    s->total = b->NB; s->free = b->free.count; s->cached = b->lru.count; s->used = b->used;
    s->queries = b->queries; s->hits = b->hits; s->evictions = b->evictions;
}

/* Walks a list and checks its links and its members' state. Returns the number of members, or -1. */
static int32_t kvs__list_check(const kvs_blocks *b, const kvs__list *l, int published)
{
    int32_t n = 0, prev = -1;
    if (l->head < -1 || l->head >= b->NB) return -1;
    for (int32_t i = l->head; i >= 0; prev = i, i = b->block[i].next, n++)
        if (b->block[i].ref || b->block[i].published != published || b->block[i].prev != prev || n > b->NB) return -1;
    return l->tail == prev && n == l->count ? n : -1;
}

static int kvs__blk_link(const kvs_blocks *b, int32_t i) { return i >= -1 && i < b->NB; }

/* What is wrong with block i alone; NULL: nothing. */
static const char *kvs__blk_wrong(const kvs_blocks *b, int32_t i)
{
    const kvs__block *x = &b->block[i];
    if (x->ref < 0 || (x->published & ~1)) return "impossible reference count or state";
    if (!kvs__blk_link(b, x->prev) || !kvs__blk_link(b, x->next) || !kvs__blk_link(b, x->chain) || !kvs__blk_link(b, x->parent))
        return "a link leads out of the pool";
    if (!x->published) return NULL;
    const kvs__block *p = x->parent >= 0 ? &b->block[x->parent] : NULL;
    if (p && !p->published) return "its parent is gone";
    if (p && x->ref && !p->ref) return "held, but its parent is not";
    if (!kvs__key_eq(x->key, kvs__pfx_key(b, p ? p->key : x->root, b->tokens + (int64_t)i * b->BS)))
        return "its name is not that of its tokens";
    return NULL;
}

/* The prefix index and the lists, once every link is known to stay in the pool. */
static kvs_result kvs__blk_check_links(const kvs_blocks *b, int32_t published, kvs__err *e)
{
    int32_t indexed = 0;
    for (uint32_t s = 0; s < b->n_buckets; s++) {
        if (!kvs__blk_link(b, b->bucket[s]) || !kvs__blk_link(b, b->opening[s]))
            return kvs__fail(e, KVS_ERR_CORRUPT, "bucket %u of the prefix index leads out of the pool", s);
        for (int32_t i = b->bucket[s]; i >= 0 && indexed <= b->NB; i = b->block[i].chain, indexed++)
            if (!b->block[i].published || (b->block[i].key.lo & (b->n_buckets - 1)) != s)
                return kvs__fail(e, KVS_ERR_CORRUPT, "block %d: in the wrong bucket of the prefix index", i);
    }
    if (indexed != published) return kvs__fail(e, KVS_ERR_CORRUPT, "%d blocks published, %d indexed", published, indexed);
    if (kvs__list_check(b, &b->free, 0) < 0 || kvs__list_check(b, &b->lru, 1) < 0)
        return kvs__fail(e, KVS_ERR_CORRUPT, "the free list or the LRU list is broken");
    return KVS_OK;
}

KVS_API kvs_result kvs_blocks_check(const kvs_blocks *b, char err[KVS_MAX_ERROR])
{
    kvs__err e = {""};
    kvs_result r = b ? KVS_OK : kvs__fail(&e, KVS_ERR_INVALID, "no block manager");
    int32_t used = 0, published = 0;
    for (int32_t i = 0; b && i < b->NB && r == KVS_OK; i++) {
        const char *wrong = kvs__blk_wrong(b, i);
        used += b->block[i].ref > 0; published += b->block[i].published;
        if (wrong) r = kvs__fail(&e, KVS_ERR_CORRUPT, "block %d: %s", i, wrong);
    }
    if (r == KVS_OK) r = kvs__blk_check_links(b, published, &e);
    if (r == KVS_OK && (used != b->used || b->free.count + b->lru.count + used != b->NB))
        r = kvs__fail(&e, KVS_ERR_CORRUPT, "free %d + cached %d + used %d (%d counted) != %d", b->free.count, b->lru.count, used, b->used, b->NB);
    if (err) memcpy(err, e.text, sizeof e.text);
    return r;
}

/* Adds the blocks of x to held[]: per block, the number of tables that name it. Returns 0 if something about x is wrong. */
static int kvs__seq_check(const kvs__sched *s, const kvs__seq *x, int32_t *held)
{
    const kvs_blocks *b = s->blk;
    if (x->n_computed < 0 || x->n_computed > x->n_tokens || x->n_tokens > x->token_cap || x->n_blocks > x->table_cap) return 0;
    if (x->n_computed > (int64_t)x->n_blocks * b->BS || (int64_t)x->n_published * b->BS > x->n_computed) return 0;
    for (int32_t i = 0; i < x->n_blocks; i++) {
        int32_t t = x->table[i];
        if (t < 0 || t >= b->NB) return 0;
        held[t]++;
        if (i < x->n_published && b->prefix_on && (!b->block[t].published || b->block[t].parent != (i ? x->table[i - 1] : -1))) return 0;
    }
    return 1;
}

/* Every invariant of queues, tables and reference counts. held: scratch of NB ints. */
static kvs_result kvs__sched_check(const kvs__sched *s, int32_t *held, kvs__err *e)
{
    const kvs_blocks *b = s->blk;
    int32_t slots = 0;
    memset(held, 0, (size_t)b->NB * sizeof *held);
    for (int q = 0; q < 2; q++) {
        const kvs__queue *list = q ? &s->running : &s->waiting;
        const kvs__seq *prev = NULL;
        int32_t n = 0;
        for (const kvs__seq *x = list->head; x; prev = x, x = x->next, n++) {
            if (x->state != (q ? KVS__SEQ_RUNNING : KVS__SEQ_WAITING) || x->prev != prev || (prev && !kvs__seq_before(s, prev, x)) || n > list->count)
                return kvs__fail(e, KVS_ERR_CORRUPT, "sequence %d of the %s queue is out of place", n, q ? "running" : "waiting");
            if (q) slots += 1 + kvs__seq_forks_due(x);
            for (const kvs__seq *y = x; y; y = y->sibling)
                if (!kvs__seq_check(s, y, held) || (!q && y->n_blocks) || (y != x && (y->state != KVS__SEQ_FORKING || y->leader != x)))
                    return kvs__fail(e, KVS_ERR_CORRUPT, "the block table of sequence %d (%s) is wrong", n, q ? "running" : "waiting");
        }
        if (n != list->count || list->tail != prev) return kvs__fail(e, KVS_ERR_CORRUPT, "a queue holds %d sequences, %d counted", n, list->count);
    }
    if (slots != s->slots || slots > s->cfg.max_seqs)
        return kvs__fail(e, KVS_ERR_CORRUPT, "%d slots in use, %d counted, %d allowed", slots, s->slots, s->cfg.max_seqs);
    for (int32_t i = 0; i < b->NB; i++)
        if (held[i] != b->block[i].ref)
            return kvs__fail(e, KVS_ERR_CORRUPT, "block %d: reference count %d, but %d tables hold it", i, b->block[i].ref, held[i]);
    return kvs_blocks_check(b, e ? e->text : NULL);
}

/* Tokens whose KV is held in used blocks, each block counted once. fill: scratch of NB ints. */
static uint64_t kvs__sched_tokens_held(const kvs__sched *s, int32_t *fill)
{
    uint64_t held = 0;
    int32_t BS = s->blk->BS;
    memset(fill, 0, (size_t)s->blk->NB * sizeof *fill);
    for (const kvs__seq *x = s->running.head; x; x = x->next)
        for (int32_t i = 0; i < x->n_blocks && i * BS < x->n_computed; i++) {
            int32_t n = KVS__MIN(BS, x->n_computed - i * BS), *f = &fill[x->table[i]];
            if (n > *f) { held += (uint64_t)(n - *f); *f = n; }
        }
    return held;
}

KVS_API kvs_result kvs_check(const kvs_engine *e)
{
    if (!e) return KVS_ERR_INVALID;
    kvs__err *err = kvs__engine_err((kvs_engine *)(uintptr_t)e);
    if (!e->loaded) return kvs__fail(err, KVS_ERR_INVALID, "the engine did not open");
    return kvs__sched_check(&e->sched, e->scratch, err);
}

KVS_API size_t kvs_block_table_str(const kvs_engine *e, kvs_request h, int index, char *buf, size_t cap)
{
    size_t n = 0;
    if (cap) buf[0] = 0;
    if (!e) return 0;
    pthread_mutex_lock((pthread_mutex_t *)(uintptr_t)&e->lock);
    const kvs__req *q = kvs__req_find(e, h);
    const kvs__seq *x = q && index >= 0 && index < q->n ? &q->out[index].seq : NULL;
    for (int32_t i = 0; x && i < x->n_blocks; i++) {
        const kvs__block *b = &e->blk->block[x->table[i]];
        char one[32];
        int len = snprintf(one, sizeof one, "%s%d%s", i ? " " : "", x->table[i], b->ref > 1 ? "*" : "");
        if (n + (size_t)len < cap) memcpy(buf + n, one, (size_t)len + 1);
        n += (size_t)len;
    }
    pthread_mutex_unlock((pthread_mutex_t *)(uintptr_t)&e->lock);
    return n;
}

KVS_API void kvs_model_info_get(const kvs_engine *e, kvs_model_info *o)
{
    if (!o) return;
    memset(o, 0, sizeof *o);
    o->architecture = o->backend = o->isa = "";
    if (!e || !e->loaded) return;
    const kvs__model_config *c = &e->model.cfg;
    o->architecture = c->arch; o->vocab_size = c->V; o->n_layers = c->L; o->hidden = c->D; o->n_heads = c->H; o->n_kv_heads = c->HKV;
    o->head_dim = c->Dh; o->max_position = c->max_pos; o->n_params = e->model.n_params; o->backend = e->be->name;
    o->isa = e->be->isa_name(e->fwd.ctx); o->num_threads = e->be->num_threads(e->fwd.ctx); o->dtype = e->model.dtype; o->kv_dtype = e->fwd.kv.dtype;
}

KVS_API const kvs_tokenizer *kvs_get_tokenizer(const kvs_engine *e) { return e ? e->tok : NULL; }

/* ====================================================================================================
   >>tables   Unicode data, printed by tests/golden/make_unicode.py (do not edit).

   Runs are [first << 8 | value] up to the next entry's first.
   ==================================================================================================== */

/* General categories, Unicode 16.0, as KVS__UC_.. */
static const uint32_t kvs__uc_runs[] = {
    0x19, 0x2016, 0x2111, 0x2413, 0x2511, 0x280D, 0x290E, 0x2A11, 0x2B12, 0x2C11, 0x2D0C, 0x2E11, 0x3008, 0x3A11,
    0x3C12, 0x3F11, 0x4100, 0x5B0D, 0x5C11, 0x5D0E, 0x5E14, 0x5F0B, 0x6014, 0x6101, 0x7B0D, 0x7C12, 0x7D0E, 0x7E12,
    0x7F19, 0xA016, 0xA111, 0xA213, 0xA615, 0xA711, 0xA814, 0xA915, 0xAA04, 0xAB0F, 0xAC12, 0xAD1A, 0xAE15, 0xAF14,
    0xB015, 0xB112, 0xB20A, 0xB414, 0xB501, 0xB611, 0xB814, 0xB90A, 0xBA04, 0xBB10, 0xBC0A, 0xBF11, 0xC000, 0xD712,
    0xD800, 0xDF01, 0xF712, 0xF801, 0xFF1E, 0x1381F, 0x1491E, 0x1791F, 0x17F01, 0x18100, 0x1821E, 0x18700, 0x18801,
    0x18900, 0x18C01, 0x18E00, 0x19201, 0x19300, 0x19501, 0x19600, 0x19901, 0x19C00, 0x19E01, 0x19F00, 0x1A01E, 0x1A71F,
    0x1AB1E, 0x1AF00, 0x1B001, 0x1B100, 0x1B31F, 0x1B800, 0x1B901, 0x1BB04, 0x1BC00, 0x1BD01, 0x1C004, 0x1C400, 0x1C502,
    0x1C601, 0x1C700, 0x1C802, 0x1C901, 0x1CA00, 0x1CB02, 0x1CC1F, 0x1DD1E, 0x1F001, 0x1F100, 0x1F202, 0x1F31E, 0x1F700,
    0x1F81E, 0x23401, 0x23A00, 0x23C01, 0x23D00, 0x23F01, 0x2401F, 0x24400, 0x2461E, 0x25001, 0x29404, 0x29501, 0x2B003,
    0x2C214, 0x2C603, 0x2D214, 0x2E003, 0x2E514, 0x2EC03, 0x2ED14, 0x2EE03, 0x2EF14, 0x30005, 0x3701E, 0x37403, 0x37514,
    0x37600, 0x37701, 0x3781D, 0x37A03, 0x37B01, 0x37E11, 0x37F00, 0x3801D, 0x38414, 0x38600, 0x38711, 0x38800, 0x38B1D,
    0x38C00, 0x38D1D, 0x38E00, 0x39001, 0x39100, 0x3A21D, 0x3A300, 0x3AC01, 0x3CF00, 0x3D001, 0x3D200, 0x3D501, 0x3D71E,
    0x3F001, 0x3F400, 0x3F501, 0x3F612, 0x3F700, 0x3F801, 0x3F900, 0x3FB01, 0x3FD00, 0x43001, 0x45F1E, 0x48215, 0x48305,
    0x48807, 0x48A1E, 0x4C11F, 0x4CF1E, 0x5301D, 0x53100, 0x5571D, 0x55903, 0x55A11, 0x56001, 0x58911, 0x58A0C, 0x58B1D,
    0x58D15, 0x58F13, 0x5901D, 0x59105, 0x5BE0C, 0x5BF05, 0x5C011, 0x5C105, 0x5C311, 0x5C405, 0x5C611, 0x5C705, 0x5C81D,
    0x5D004, 0x5EB1D, 0x5EF04, 0x5F311, 0x5F51D, 0x6001A, 0x60612, 0x60911, 0x60B13, 0x60C11, 0x60E15, 0x61005, 0x61B11,
    0x61C1A, 0x61D11, 0x62004, 0x64003, 0x64104, 0x64B05, 0x66008, 0x66A11, 0x66E04, 0x67005, 0x67104, 0x6D411, 0x6D504,
    0x6D605, 0x6DD1A, 0x6DE15, 0x6DF05, 0x6E503, 0x6E705, 0x6E915, 0x6EA05, 0x6EE04, 0x6F008, 0x6FA04, 0x6FD15, 0x6FF04,
    0x70011, 0x70E1D, 0x70F1A, 0x71004, 0x71105, 0x71204, 0x73005, 0x74B1D, 0x74D04, 0x7A605, 0x7B104, 0x7B21D, 0x7C008,
    0x7CA04, 0x7EB05, 0x7F403, 0x7F615, 0x7F711, 0x7FA03, 0x7FB1D, 0x7FD05, 0x7FE13, 0x80004, 0x81605, 0x81A03, 0x81B05,
    0x82403, 0x82505, 0x82803, 0x82905, 0x82E1D, 0x83011, 0x83F1D, 0x84004, 0x85905, 0x85C1D, 0x85E11, 0x85F1D, 0x86004,
    0x86B1D, 0x87004, 0x88814, 0x88904, 0x88F1D, 0x8901A, 0x8921D, 0x89705, 0x8A004, 0x8C903, 0x8CA05, 0x8E21A, 0x8E305,
    0x90306, 0x90404, 0x93A05, 0x93B06, 0x93C05, 0x93D04, 0x93E06, 0x94105, 0x94906, 0x94D05, 0x94E06, 0x95004, 0x95105,
    0x95804, 0x96205, 0x96411, 0x96608, 0x97011, 0x97103, 0x97204, 0x98105, 0x98206, 0x9841D, 0x98504, 0x98D1D, 0x98F04,
    0x9911D, 0x99304, 0x9A91D, 0x9AA04, 0x9B11D, 0x9B204, 0x9B31D, 0x9B604, 0x9BA1D, 0x9BC05, 0x9BD04, 0x9BE06, 0x9C105,
    0x9C51D, 0x9C706, 0x9C91D, 0x9CB06, 0x9CD05, 0x9CE04, 0x9CF1D, 0x9D706, 0x9D81D, 0x9DC04, 0x9DE1D, 0x9DF04, 0x9E205,
    0x9E41D, 0x9E608, 0x9F004, 0x9F213, 0x9F40A, 0x9FA15, 0x9FB13, 0x9FC04, 0x9FD11, 0x9FE05, 0x9FF1D, 0xA0105, 0xA0306,
    0xA041D, 0xA0504, 0xA0B1D, 0xA0F04, 0xA111D, 0xA1304, 0xA291D, 0xA2A04, 0xA311D, 0xA3204, 0xA341D, 0xA3504, 0xA371D,
    0xA3804, 0xA3A1D, 0xA3C05, 0xA3D1D, 0xA3E06, 0xA4105, 0xA431D, 0xA4705, 0xA491D, 0xA4B05, 0xA4E1D, 0xA5105, 0xA521D,
    0xA5904, 0xA5D1D, 0xA5E04, 0xA5F1D, 0xA6608, 0xA7005, 0xA7204, 0xA7505, 0xA7611, 0xA771D, 0xA8105, 0xA8306, 0xA841D,
    0xA8504, 0xA8E1D, 0xA8F04, 0xA921D, 0xA9304, 0xAA91D, 0xAAA04, 0xAB11D, 0xAB204, 0xAB41D, 0xAB504, 0xABA1D, 0xABC05,
    0xABD04, 0xABE06, 0xAC105, 0xAC61D, 0xAC705, 0xAC906, 0xACA1D, 0xACB06, 0xACD05, 0xACE1D, 0xAD004, 0xAD11D, 0xAE004,
    0xAE205, 0xAE41D, 0xAE608, 0xAF011, 0xAF113, 0xAF21D, 0xAF904, 0xAFA05, 0xB001D, 0xB0105, 0xB0206, 0xB041D, 0xB0504,
    0xB0D1D, 0xB0F04, 0xB111D, 0xB1304, 0xB291D, 0xB2A04, 0xB311D, 0xB3204, 0xB341D, 0xB3504, 0xB3A1D, 0xB3C05, 0xB3D04,
    0xB3E06, 0xB3F05, 0xB4006, 0xB4105, 0xB451D, 0xB4706, 0xB491D, 0xB4B06, 0xB4D05, 0xB4E1D, 0xB5505, 0xB5706, 0xB581D,
    0xB5C04, 0xB5E1D, 0xB5F04, 0xB6205, 0xB641D, 0xB6608, 0xB7015, 0xB7104, 0xB720A, 0xB781D, 0xB8205, 0xB8304, 0xB841D,
    0xB8504, 0xB8B1D, 0xB8E04, 0xB911D, 0xB9204, 0xB961D, 0xB9904, 0xB9B1D, 0xB9C04, 0xB9D1D, 0xB9E04, 0xBA01D, 0xBA304,
    0xBA51D, 0xBA804, 0xBAB1D, 0xBAE04, 0xBBA1D, 0xBBE06, 0xBC005, 0xBC106, 0xBC31D, 0xBC606, 0xBC91D, 0xBCA06, 0xBCD05,
    0xBCE1D, 0xBD004, 0xBD11D, 0xBD706, 0xBD81D, 0xBE608, 0xBF00A, 0xBF315, 0xBF913, 0xBFA15, 0xBFB1D, 0xC0005, 0xC0106,
    0xC0405, 0xC0504, 0xC0D1D, 0xC0E04, 0xC111D, 0xC1204, 0xC291D, 0xC2A04, 0xC3A1D, 0xC3C05, 0xC3D04, 0xC3E05, 0xC4106,
    0xC451D, 0xC4605, 0xC491D, 0xC4A05, 0xC4E1D, 0xC5505, 0xC571D, 0xC5804, 0xC5B1D, 0xC5D04, 0xC5E1D, 0xC6004, 0xC6205,
    0xC641D, 0xC6608, 0xC701D, 0xC7711, 0xC780A, 0xC7F15, 0xC8004, 0xC8105, 0xC8206, 0xC8411, 0xC8504, 0xC8D1D, 0xC8E04,
    0xC911D, 0xC9204, 0xCA91D, 0xCAA04, 0xCB41D, 0xCB504, 0xCBA1D, 0xCBC05, 0xCBD04, 0xCBE06, 0xCBF05, 0xCC006, 0xCC51D,
    0xCC605, 0xCC706, 0xCC91D, 0xCCA06, 0xCCC05, 0xCCE1D, 0xCD506, 0xCD71D, 0xCDD04, 0xCDF1D, 0xCE004, 0xCE205, 0xCE41D,
    0xCE608, 0xCF01D, 0xCF104, 0xCF306, 0xCF41D, 0xD0005, 0xD0206, 0xD0404, 0xD0D1D, 0xD0E04, 0xD111D, 0xD1204, 0xD3B05,
    0xD3D04, 0xD3E06, 0xD4105, 0xD451D, 0xD4606, 0xD491D, 0xD4A06, 0xD4D05, 0xD4E04, 0xD4F15, 0xD501D, 0xD5404, 0xD5706,
    0xD580A, 0xD5F04, 0xD6205, 0xD641D, 0xD6608, 0xD700A, 0xD7915, 0xD7A04, 0xD801D, 0xD8105, 0xD8206, 0xD841D, 0xD8504,
    0xD971D, 0xD9A04, 0xDB21D, 0xDB304, 0xDBC1D, 0xDBD04, 0xDBE1D, 0xDC004, 0xDC71D, 0xDCA05, 0xDCB1D, 0xDCF06, 0xDD205,
    0xDD51D, 0xDD605, 0xDD71D, 0xDD806, 0xDE01D, 0xDE608, 0xDF01D, 0xDF206, 0xDF411, 0xDF51D, 0xE0104, 0xE3105, 0xE3204,
    0xE3405, 0xE3B1D, 0xE3F13, 0xE4004, 0xE4603, 0xE4705, 0xE4F11, 0xE5008, 0xE5A11, 0xE5C1D, 0xE8104, 0xE831D, 0xE8404,
    0xE851D, 0xE8604, 0xE8B1D, 0xE8C04, 0xEA41D, 0xEA504, 0xEA61D, 0xEA704, 0xEB105, 0xEB204, 0xEB405, 0xEBD04, 0xEBE1D,
    0xEC004, 0xEC51D, 0xEC603, 0xEC71D, 0xEC805, 0xECF1D, 0xED008, 0xEDA1D, 0xEDC04, 0xEE01D, 0xF0004, 0xF0115, 0xF0411,
    0xF1315, 0xF1411, 0xF1515, 0xF1805, 0xF1A15, 0xF2008, 0xF2A0A, 0xF3415, 0xF3505, 0xF3615, 0xF3705, 0xF3815, 0xF3905,
    0xF3A0D, 0xF3B0E, 0xF3C0D, 0xF3D0E, 0xF3E06, 0xF4004, 0xF481D, 0xF4904, 0xF6D1D, 0xF7105, 0xF7F06, 0xF8005, 0xF8511,
    0xF8605, 0xF8804, 0xF8D05, 0xF981D, 0xF9905, 0xFBD1D, 0xFBE15, 0xFC605, 0xFC715, 0xFCD1D, 0xFCE15, 0xFD011, 0xFD515,
    0xFD911, 0xFDB1D, 0x100004, 0x102B06, 0x102D05, 0x103106, 0x103205, 0x103806, 0x103905, 0x103B06, 0x103D05,
    0x103F04, 0x104008, 0x104A11, 0x105004, 0x105606, 0x105805, 0x105A04, 0x105E05, 0x106104, 0x106206, 0x106504,
    0x106706, 0x106E04, 0x107105, 0x107504, 0x108205, 0x108306, 0x108505, 0x108706, 0x108D05, 0x108E04, 0x108F06,
    0x109008, 0x109A06, 0x109D05, 0x109E15, 0x10A000, 0x10C61D, 0x10C700, 0x10C81D, 0x10CD00, 0x10CE1D, 0x10D001,
    0x10FB11, 0x10FC03, 0x10FD01, 0x110004, 0x12491D, 0x124A04, 0x124E1D, 0x125004, 0x12571D, 0x125804, 0x12591D,
    0x125A04, 0x125E1D, 0x126004, 0x12891D, 0x128A04, 0x128E1D, 0x129004, 0x12B11D, 0x12B204, 0x12B61D, 0x12B804,
    0x12BF1D, 0x12C004, 0x12C11D, 0x12C204, 0x12C61D, 0x12C804, 0x12D71D, 0x12D804, 0x13111D, 0x131204, 0x13161D,
    0x131804, 0x135B1D, 0x135D05, 0x136011, 0x13690A, 0x137D1D, 0x138004, 0x139015, 0x139A1D, 0x13A000, 0x13F61D,
    0x13F801, 0x13FE1D, 0x14000C, 0x140104, 0x166D15, 0x166E11, 0x166F04, 0x168016, 0x168104, 0x169B0D, 0x169C0E,
    0x169D1D, 0x16A004, 0x16EB11, 0x16EE09, 0x16F104, 0x16F91D, 0x170004, 0x171205, 0x171506, 0x17161D, 0x171F04,
    0x173205, 0x173406, 0x173511, 0x17371D, 0x174004, 0x175205, 0x17541D, 0x176004, 0x176D1D, 0x176E04, 0x17711D,
    0x177205, 0x17741D, 0x178004, 0x17B405, 0x17B606, 0x17B705, 0x17BE06, 0x17C605, 0x17C706, 0x17C905, 0x17D411,
    0x17D703, 0x17D811, 0x17DB13, 0x17DC04, 0x17DD05, 0x17DE1D, 0x17E008, 0x17EA1D, 0x17F00A, 0x17FA1D, 0x180011,
    0x18060C, 0x180711, 0x180B05, 0x180E1A, 0x180F05, 0x181008, 0x181A1D, 0x182004, 0x184303, 0x184404, 0x18791D,
    0x188004, 0x188505, 0x188704, 0x18A905, 0x18AA04, 0x18AB1D, 0x18B004, 0x18F61D, 0x190004, 0x191F1D, 0x192005,
    0x192306, 0x192705, 0x192906, 0x192C1D, 0x193006, 0x193205, 0x193306, 0x193905, 0x193C1D, 0x194015, 0x19411D,
    0x194411, 0x194608, 0x195004, 0x196E1D, 0x197004, 0x19751D, 0x198004, 0x19AC1D, 0x19B004, 0x19CA1D, 0x19D008,
    0x19DA0A, 0x19DB1D, 0x19DE15, 0x1A0004, 0x1A1705, 0x1A1906, 0x1A1B05, 0x1A1C1D, 0x1A1E11, 0x1A2004, 0x1A5506,
    0x1A5605, 0x1A5706, 0x1A5805, 0x1A5F1D, 0x1A6005, 0x1A6106, 0x1A6205, 0x1A6306, 0x1A6505, 0x1A6D06, 0x1A7305,
    0x1A7D1D, 0x1A7F05, 0x1A8008, 0x1A8A1D, 0x1A9008, 0x1A9A1D, 0x1AA011, 0x1AA703, 0x1AA811, 0x1AAE1D, 0x1AB005,
    0x1ABE07, 0x1ABF05, 0x1ACF1D, 0x1B0005, 0x1B0406, 0x1B0504, 0x1B3405, 0x1B3506, 0x1B3605, 0x1B3B06, 0x1B3C05,
    0x1B3D06, 0x1B4205, 0x1B4306, 0x1B4504, 0x1B4D1D, 0x1B4E11, 0x1B5008, 0x1B5A11, 0x1B6115, 0x1B6B05, 0x1B7415,
    0x1B7D11, 0x1B8005, 0x1B8206, 0x1B8304, 0x1BA106, 0x1BA205, 0x1BA606, 0x1BA805, 0x1BAA06, 0x1BAB05, 0x1BAE04,
    0x1BB008, 0x1BBA04, 0x1BE605, 0x1BE706, 0x1BE805, 0x1BEA06, 0x1BED05, 0x1BEE06, 0x1BEF05, 0x1BF206, 0x1BF41D,
    0x1BFC11, 0x1C0004, 0x1C2406, 0x1C2C05, 0x1C3406, 0x1C3605, 0x1C381D, 0x1C3B11, 0x1C4008, 0x1C4A1D, 0x1C4D04,
    0x1C5008, 0x1C5A04, 0x1C7803, 0x1C7E11, 0x1C8001, 0x1C8900, 0x1C8A01, 0x1C8B1D, 0x1C9000, 0x1CBB1D, 0x1CBD00,
    0x1CC011, 0x1CC81D, 0x1CD005, 0x1CD311, 0x1CD405, 0x1CE106, 0x1CE205, 0x1CE904, 0x1CED05, 0x1CEE04, 0x1CF405,
    0x1CF504, 0x1CF706, 0x1CF805, 0x1CFA04, 0x1CFB1D, 0x1D0001, 0x1D2C03, 0x1D6B01, 0x1D7803, 0x1D7901, 0x1D9B03,
    0x1DC005, 0x1E001E, 0x1E9601, 0x1E9D1E, 0x1F0001, 0x1F0800, 0x1F1001, 0x1F161D, 0x1F1800, 0x1F1E1D, 0x1F2001,
    0x1F2800, 0x1F3001, 0x1F3800, 0x1F4001, 0x1F461D, 0x1F4800, 0x1F4E1D, 0x1F5001, 0x1F581D, 0x1F5900, 0x1F5A1D,
    0x1F5B00, 0x1F5C1D, 0x1F5D00, 0x1F5E1D, 0x1F5F00, 0x1F6001, 0x1F6800, 0x1F7001, 0x1F7E1D, 0x1F8001, 0x1F8802,
    0x1F9001, 0x1F9802, 0x1FA001, 0x1FA802, 0x1FB001, 0x1FB51D, 0x1FB601, 0x1FB800, 0x1FBC02, 0x1FBD14, 0x1FBE01,
    0x1FBF14, 0x1FC201, 0x1FC51D, 0x1FC601, 0x1FC800, 0x1FCC02, 0x1FCD14, 0x1FD001, 0x1FD41D, 0x1FD601, 0x1FD800,
    0x1FDC1D, 0x1FDD14, 0x1FE001, 0x1FE800, 0x1FED14, 0x1FF01D, 0x1FF201, 0x1FF51D, 0x1FF601, 0x1FF800, 0x1FFC02,
    0x1FFD14, 0x1FFF1D, 0x200016, 0x200B1A, 0x20100C, 0x201611, 0x20180F, 0x201910, 0x201A0D, 0x201B0F, 0x201D10,
    0x201E0D, 0x201F0F, 0x202011, 0x202817, 0x202918, 0x202A1A, 0x202F16, 0x203011, 0x20390F, 0x203A10, 0x203B11,
    0x203F0B, 0x204111, 0x204412, 0x20450D, 0x20460E, 0x204711, 0x205212, 0x205311, 0x20540B, 0x205511, 0x205F16,
    0x20601A, 0x20651D, 0x20661A, 0x20700A, 0x207103, 0x20721D, 0x20740A, 0x207A12, 0x207D0D, 0x207E0E, 0x207F03,
    0x20800A, 0x208A12, 0x208D0D, 0x208E0E, 0x208F1D, 0x209003, 0x209D1D, 0x20A013, 0x20C11D, 0x20D005, 0x20DD07,
    0x20E105, 0x20E207, 0x20E505, 0x20F11D, 0x210015, 0x210200, 0x210315, 0x210700, 0x210815, 0x210A01, 0x210B00,
    0x210E01, 0x211000, 0x211301, 0x211415, 0x211500, 0x211615, 0x211812, 0x211900, 0x211E15, 0x212400, 0x212515,
    0x212600, 0x212715, 0x212800, 0x212915, 0x212A00, 0x212E15, 0x212F01, 0x213000, 0x213401, 0x213504, 0x213901,
    0x213A15, 0x213C01, 0x213E00, 0x214012, 0x214500, 0x214601, 0x214A15, 0x214B12, 0x214C15, 0x214E01, 0x214F15,
    0x21500A, 0x216009, 0x218300, 0x218401, 0x218509, 0x21890A, 0x218A15, 0x218C1D, 0x219012, 0x219515, 0x219A12,
    0x219C15, 0x21A012, 0x21A115, 0x21A312, 0x21A415, 0x21A612, 0x21A715, 0x21AE12, 0x21AF15, 0x21CE12, 0x21D015,
    0x21D212, 0x21D315, 0x21D412, 0x21D515, 0x21F412, 0x230015, 0x23080D, 0x23090E, 0x230A0D, 0x230B0E, 0x230C15,
    0x232012, 0x232215, 0x23290D, 0x232A0E, 0x232B15, 0x237C12, 0x237D15, 0x239B12, 0x23B415, 0x23DC12, 0x23E215,
    0x242A1D, 0x244015, 0x244B1D, 0x24600A, 0x249C15, 0x24EA0A, 0x250015, 0x25B712, 0x25B815, 0x25C112, 0x25C215,
    0x25F812, 0x260015, 0x266F12, 0x267015, 0x27680D, 0x27690E, 0x276A0D, 0x276B0E, 0x276C0D, 0x276D0E, 0x276E0D,
    0x276F0E, 0x27700D, 0x27710E, 0x27720D, 0x27730E, 0x27740D, 0x27750E, 0x27760A, 0x279415, 0x27C012, 0x27C50D,
    0x27C60E, 0x27C712, 0x27E60D, 0x27E70E, 0x27E80D, 0x27E90E, 0x27EA0D, 0x27EB0E, 0x27EC0D, 0x27ED0E, 0x27EE0D,
    0x27EF0E, 0x27F012, 0x280015, 0x290012, 0x29830D, 0x29840E, 0x29850D, 0x29860E, 0x29870D, 0x29880E, 0x29890D,
    0x298A0E, 0x298B0D, 0x298C0E, 0x298D0D, 0x298E0E, 0x298F0D, 0x29900E, 0x29910D, 0x29920E, 0x29930D, 0x29940E,
    0x29950D, 0x29960E, 0x29970D, 0x29980E, 0x299912, 0x29D80D, 0x29D90E, 0x29DA0D, 0x29DB0E, 0x29DC12, 0x29FC0D,
    0x29FD0E, 0x29FE12, 0x2B0015, 0x2B3012, 0x2B4515, 0x2B4712, 0x2B4D15, 0x2B741D, 0x2B7615, 0x2B961D, 0x2B9715,
    0x2C0000, 0x2C3001, 0x2C5F1E, 0x2C6300, 0x2C6501, 0x2C661F, 0x2C6E00, 0x2C701E, 0x2C7401, 0x2C7500, 0x2C7601,
    0x2C7C03, 0x2C7E00, 0x2C801E, 0x2CE401, 0x2CE515, 0x2CEB1F, 0x2CEF05, 0x2CF200, 0x2CF301, 0x2CF41D, 0x2CF911,
    0x2CFD0A, 0x2CFE11, 0x2D0001, 0x2D261D, 0x2D2701, 0x2D281D, 0x2D2D01, 0x2D2E1D, 0x2D3004, 0x2D681D, 0x2D6F03,
    0x2D7011, 0x2D711D, 0x2D7F05, 0x2D8004, 0x2D971D, 0x2DA004, 0x2DA71D, 0x2DA804, 0x2DAF1D, 0x2DB004, 0x2DB71D,
    0x2DB804, 0x2DBF1D, 0x2DC004, 0x2DC71D, 0x2DC804, 0x2DCF1D, 0x2DD004, 0x2DD71D, 0x2DD804, 0x2DDF1D, 0x2DE005,
    0x2E0011, 0x2E020F, 0x2E0310, 0x2E040F, 0x2E0510, 0x2E0611, 0x2E090F, 0x2E0A10, 0x2E0B11, 0x2E0C0F, 0x2E0D10,
    0x2E0E11, 0x2E170C, 0x2E1811, 0x2E1A0C, 0x2E1B11, 0x2E1C0F, 0x2E1D10, 0x2E1E11, 0x2E200F, 0x2E2110, 0x2E220D,
    0x2E230E, 0x2E240D, 0x2E250E, 0x2E260D, 0x2E270E, 0x2E280D, 0x2E290E, 0x2E2A11, 0x2E2F03, 0x2E3011, 0x2E3A0C,
    0x2E3C11, 0x2E400C, 0x2E4111, 0x2E420D, 0x2E4311, 0x2E5015, 0x2E5211, 0x2E550D, 0x2E560E, 0x2E570D, 0x2E580E,
    0x2E590D, 0x2E5A0E, 0x2E5B0D, 0x2E5C0E, 0x2E5D0C, 0x2E5E1D, 0x2E8015, 0x2E9A1D, 0x2E9B15, 0x2EF41D, 0x2F0015,
    0x2FD61D, 0x2FF015, 0x300016, 0x300111, 0x300415, 0x300503, 0x300604, 0x300709, 0x30080D, 0x30090E, 0x300A0D,
    0x300B0E, 0x300C0D, 0x300D0E, 0x300E0D, 0x300F0E, 0x30100D, 0x30110E, 0x301215, 0x30140D, 0x30150E, 0x30160D,
    0x30170E, 0x30180D, 0x30190E, 0x301A0D, 0x301B0E, 0x301C0C, 0x301D0D, 0x301E0E, 0x302015, 0x302109, 0x302A05,
    0x302E06, 0x30300C, 0x303103, 0x303615, 0x303809, 0x303B03, 0x303C04, 0x303D11, 0x303E15, 0x30401D, 0x304104,
    0x30971D, 0x309905, 0x309B14, 0x309D03, 0x309F04, 0x30A00C, 0x30A104, 0x30FB11, 0x30FC03, 0x30FF04, 0x31001D,
    0x310504, 0x31301D, 0x313104, 0x318F1D, 0x319015, 0x31920A, 0x319615, 0x31A004, 0x31C015, 0x31E61D, 0x31EF15,
    0x31F004, 0x320015, 0x321F1D, 0x32200A, 0x322A15, 0x32480A, 0x325015, 0x32510A, 0x326015, 0x32800A, 0x328A15,
    0x32B10A, 0x32C015, 0x340004, 0x4DC015, 0x4E0004, 0xA01503, 0xA01604, 0xA48D1D, 0xA49015, 0xA4C71D, 0xA4D004,
    0xA4F803, 0xA4FE11, 0xA50004, 0xA60C03, 0xA60D11, 0xA61004, 0xA62008, 0xA62A04, 0xA62C1D, 0xA6401E, 0xA66E04,
    0xA66F05, 0xA67007, 0xA67311, 0xA67405, 0xA67E11, 0xA67F03, 0xA6801E, 0xA69C03, 0xA69E05, 0xA6A004, 0xA6E609,
    0xA6F005, 0xA6F211, 0xA6F81D, 0xA70014, 0xA71703, 0xA72014, 0xA7221E, 0xA73001, 0xA7311E, 0xA77003, 0xA77101,
    0xA7781F, 0xA77E1E, 0xA78803, 0xA78914, 0xA78B1F, 0xA78F04, 0xA7901E, 0xA79401, 0xA7951E, 0xA7AB00, 0xA7AF01,
    0xA7B000, 0xA7B41E, 0xA7C500, 0xA7C71F, 0xA7CC00, 0xA7CD01, 0xA7CE1D, 0xA7D000, 0xA7D101, 0xA7D21D, 0xA7D301,
    0xA7D41D, 0xA7D51E, 0xA7DD1D, 0xA7F203, 0xA7F500, 0xA7F601, 0xA7F704, 0xA7F803, 0xA7FA01, 0xA7FB04, 0xA80205,
    0xA80304, 0xA80605, 0xA80704, 0xA80B05, 0xA80C04, 0xA82306, 0xA82505, 0xA82706, 0xA82815, 0xA82C05, 0xA82D1D,
    0xA8300A, 0xA83615, 0xA83813, 0xA83915, 0xA83A1D, 0xA84004, 0xA87411, 0xA8781D, 0xA88006, 0xA88204, 0xA8B406,
    0xA8C405, 0xA8C61D, 0xA8CE11, 0xA8D008, 0xA8DA1D, 0xA8E005, 0xA8F204, 0xA8F811, 0xA8FB04, 0xA8FC11, 0xA8FD04,
    0xA8FF05, 0xA90008, 0xA90A04, 0xA92605, 0xA92E11, 0xA93004, 0xA94705, 0xA95206, 0xA9541D, 0xA95F11, 0xA96004,
    0xA97D1D, 0xA98005, 0xA98306, 0xA98404, 0xA9B305, 0xA9B406, 0xA9B605, 0xA9BA06, 0xA9BC05, 0xA9BE06, 0xA9C111,
    0xA9CE1D, 0xA9CF03, 0xA9D008, 0xA9DA1D, 0xA9DE11, 0xA9E004, 0xA9E505, 0xA9E603, 0xA9E704, 0xA9F008, 0xA9FA04,
    0xA9FF1D, 0xAA0004, 0xAA2905, 0xAA2F06, 0xAA3105, 0xAA3306, 0xAA3505, 0xAA371D, 0xAA4004, 0xAA4305, 0xAA4404,
    0xAA4C05, 0xAA4D06, 0xAA4E1D, 0xAA5008, 0xAA5A1D, 0xAA5C11, 0xAA6004, 0xAA7003, 0xAA7104, 0xAA7715, 0xAA7A04,
    0xAA7B06, 0xAA7C05, 0xAA7D06, 0xAA7E04, 0xAAB005, 0xAAB104, 0xAAB205, 0xAAB504, 0xAAB705, 0xAAB904, 0xAABE05,
    0xAAC004, 0xAAC105, 0xAAC204, 0xAAC31D, 0xAADB04, 0xAADD03, 0xAADE11, 0xAAE004, 0xAAEB06, 0xAAEC05, 0xAAEE06,
    0xAAF011, 0xAAF204, 0xAAF303, 0xAAF506, 0xAAF605, 0xAAF71D, 0xAB0104, 0xAB071D, 0xAB0904, 0xAB0F1D, 0xAB1104,
    0xAB171D, 0xAB2004, 0xAB271D, 0xAB2804, 0xAB2F1D, 0xAB3001, 0xAB5B14, 0xAB5C03, 0xAB6001, 0xAB6903, 0xAB6A14,
    0xAB6C1D, 0xAB7001, 0xABC004, 0xABE306, 0xABE505, 0xABE606, 0xABE805, 0xABE906, 0xABEB11, 0xABEC06, 0xABED05,
    0xABEE1D, 0xABF008, 0xABFA1D, 0xAC0004, 0xD7A41D, 0xD7B004, 0xD7C71D, 0xD7CB04, 0xD7FC1D, 0xD8001B, 0xE0001C,
    0xF90004, 0xFA6E1D, 0xFA7004, 0xFADA1D, 0xFB0001, 0xFB071D, 0xFB1301, 0xFB181D, 0xFB1D04, 0xFB1E05, 0xFB1F04,
    0xFB2912, 0xFB2A04, 0xFB371D, 0xFB3804, 0xFB3D1D, 0xFB3E04, 0xFB3F1D, 0xFB4004, 0xFB421D, 0xFB4304, 0xFB451D,
    0xFB4604, 0xFBB214, 0xFBC31D, 0xFBD304, 0xFD3E0E, 0xFD3F0D, 0xFD4015, 0xFD5004, 0xFD901D, 0xFD9204, 0xFDC81D,
    0xFDCF15, 0xFDD01D, 0xFDF004, 0xFDFC13, 0xFDFD15, 0xFE0005, 0xFE1011, 0xFE170D, 0xFE180E, 0xFE1911, 0xFE1A1D,
    0xFE2005, 0xFE3011, 0xFE310C, 0xFE330B, 0xFE350D, 0xFE360E, 0xFE370D, 0xFE380E, 0xFE390D, 0xFE3A0E, 0xFE3B0D,
    0xFE3C0E, 0xFE3D0D, 0xFE3E0E, 0xFE3F0D, 0xFE400E, 0xFE410D, 0xFE420E, 0xFE430D, 0xFE440E, 0xFE4511, 0xFE470D,
    0xFE480E, 0xFE4911, 0xFE4D0B, 0xFE5011, 0xFE531D, 0xFE5411, 0xFE580C, 0xFE590D, 0xFE5A0E, 0xFE5B0D, 0xFE5C0E,
    0xFE5D0D, 0xFE5E0E, 0xFE5F11, 0xFE6212, 0xFE630C, 0xFE6412, 0xFE671D, 0xFE6811, 0xFE6913, 0xFE6A11, 0xFE6C1D,
    0xFE7004, 0xFE751D, 0xFE7604, 0xFEFD1D, 0xFEFF1A, 0xFF001D, 0xFF0111, 0xFF0413, 0xFF0511, 0xFF080D, 0xFF090E,
    0xFF0A11, 0xFF0B12, 0xFF0C11, 0xFF0D0C, 0xFF0E11, 0xFF1008, 0xFF1A11, 0xFF1C12, 0xFF1F11, 0xFF2100, 0xFF3B0D,
    0xFF3C11, 0xFF3D0E, 0xFF3E14, 0xFF3F0B, 0xFF4014, 0xFF4101, 0xFF5B0D, 0xFF5C12, 0xFF5D0E, 0xFF5E12, 0xFF5F0D,
    0xFF600E, 0xFF6111, 0xFF620D, 0xFF630E, 0xFF6411, 0xFF6604, 0xFF7003, 0xFF7104, 0xFF9E03, 0xFFA004, 0xFFBF1D,
    0xFFC204, 0xFFC81D, 0xFFCA04, 0xFFD01D, 0xFFD204, 0xFFD81D, 0xFFDA04, 0xFFDD1D, 0xFFE013, 0xFFE212, 0xFFE314,
    0xFFE415, 0xFFE513, 0xFFE71D, 0xFFE815, 0xFFE912, 0xFFED15, 0xFFEF1D, 0xFFF91A, 0xFFFC15, 0xFFFE1D, 0x1000004,
    0x1000C1D, 0x1000D04, 0x100271D, 0x1002804, 0x1003B1D, 0x1003C04, 0x1003E1D, 0x1003F04, 0x1004E1D, 0x1005004,
    0x1005E1D, 0x1008004, 0x100FB1D, 0x1010011, 0x101031D, 0x101070A, 0x101341D, 0x1013715, 0x1014009, 0x101750A,
    0x1017915, 0x1018A0A, 0x1018C15, 0x1018F1D, 0x1019015, 0x1019D1D, 0x101A015, 0x101A11D, 0x101D015, 0x101FD05,
    0x101FE1D, 0x1028004, 0x1029D1D, 0x102A004, 0x102D11D, 0x102E005, 0x102E10A, 0x102FC1D, 0x1030004, 0x103200A,
    0x103241D, 0x1032D04, 0x1034109, 0x1034204, 0x1034A09, 0x1034B1D, 0x1035004, 0x1037605, 0x1037B1D, 0x1038004,
    0x1039E1D, 0x1039F11, 0x103A004, 0x103C41D, 0x103C804, 0x103D011, 0x103D109, 0x103D61D, 0x1040000, 0x1042801,
    0x1045004, 0x1049E1D, 0x104A008, 0x104AA1D, 0x104B000, 0x104D41D, 0x104D801, 0x104FC1D, 0x1050004, 0x105281D,
    0x1053004, 0x105641D, 0x1056F11, 0x1057000, 0x1057B1D, 0x1057C00, 0x1058B1D, 0x1058C00, 0x105931D, 0x1059400,
    0x105961D, 0x1059701, 0x105A21D, 0x105A301, 0x105B21D, 0x105B301, 0x105BA1D, 0x105BB01, 0x105BD1D, 0x105C004,
    0x105F41D, 0x1060004, 0x107371D, 0x1074004, 0x107561D, 0x1076004, 0x107681D, 0x1078003, 0x107861D, 0x1078703,
    0x107B11D, 0x107B203, 0x107BB1D, 0x1080004, 0x108061D, 0x1080804, 0x108091D, 0x1080A04, 0x108361D, 0x1083704,
    0x108391D, 0x1083C04, 0x1083D1D, 0x1083F04, 0x108561D, 0x1085711, 0x108580A, 0x1086004, 0x1087715, 0x108790A,
    0x1088004, 0x1089F1D, 0x108A70A, 0x108B01D, 0x108E004, 0x108F31D, 0x108F404, 0x108F61D, 0x108FB0A, 0x1090004,
    0x109160A, 0x1091C1D, 0x1091F11, 0x1092004, 0x1093A1D, 0x1093F11, 0x109401D, 0x1098004, 0x109B81D, 0x109BC0A,
    0x109BE04, 0x109C00A, 0x109D01D, 0x109D20A, 0x10A0004, 0x10A0105, 0x10A041D, 0x10A0505, 0x10A071D, 0x10A0C05,
    0x10A1004, 0x10A141D, 0x10A1504, 0x10A181D, 0x10A1904, 0x10A361D, 0x10A3805, 0x10A3B1D, 0x10A3F05, 0x10A400A,
    0x10A491D, 0x10A5011, 0x10A591D, 0x10A6004, 0x10A7D0A, 0x10A7F11, 0x10A8004, 0x10A9D0A, 0x10AA01D, 0x10AC004,
    0x10AC815, 0x10AC904, 0x10AE505, 0x10AE71D, 0x10AEB0A, 0x10AF011, 0x10AF71D, 0x10B0004, 0x10B361D, 0x10B3911,
    0x10B4004, 0x10B561D, 0x10B580A, 0x10B6004, 0x10B731D, 0x10B780A, 0x10B8004, 0x10B921D, 0x10B9911, 0x10B9D1D,
    0x10BA90A, 0x10BB01D, 0x10C0004, 0x10C491D, 0x10C8000, 0x10CB31D, 0x10CC001, 0x10CF31D, 0x10CFA0A, 0x10D0004,
    0x10D2405, 0x10D281D, 0x10D3008, 0x10D3A1D, 0x10D4008, 0x10D4A04, 0x10D4E03, 0x10D4F04, 0x10D5000, 0x10D661D,
    0x10D6905, 0x10D6E0C, 0x10D6F03, 0x10D7001, 0x10D861D, 0x10D8E12, 0x10D901D, 0x10E600A, 0x10E7F1D, 0x10E8004,
    0x10EAA1D, 0x10EAB05, 0x10EAD0C, 0x10EAE1D, 0x10EB004, 0x10EB21D, 0x10EC204, 0x10EC51D, 0x10EFC05, 0x10F0004,
    0x10F1D0A, 0x10F2704, 0x10F281D, 0x10F3004, 0x10F4605, 0x10F510A, 0x10F5511, 0x10F5A1D, 0x10F7004, 0x10F8205,
    0x10F8611, 0x10F8A1D, 0x10FB004, 0x10FC50A, 0x10FCC1D, 0x10FE004, 0x10FF71D, 0x1100006, 0x1100105, 0x1100206,
    0x1100304, 0x1103805, 0x1104711, 0x1104E1D, 0x110520A, 0x1106608, 0x1107005, 0x1107104, 0x1107305, 0x1107504,
    0x110761D, 0x1107F05, 0x1108206, 0x1108304, 0x110B006, 0x110B305, 0x110B706, 0x110B905, 0x110BB11, 0x110BD1A,
    0x110BE11, 0x110C205, 0x110C31D, 0x110CD1A, 0x110CE1D, 0x110D004, 0x110E91D, 0x110F008, 0x110FA1D, 0x1110005,
    0x1110304, 0x1112705, 0x1112C06, 0x1112D05, 0x111351D, 0x1113608, 0x1114011, 0x1114404, 0x1114506, 0x1114704,
    0x111481D, 0x1115004, 0x1117305, 0x1117411, 0x1117604, 0x111771D, 0x1118005, 0x1118206, 0x1118304, 0x111B306,
    0x111B605, 0x111BF06, 0x111C104, 0x111C511, 0x111C905, 0x111CD11, 0x111CE06, 0x111CF05, 0x111D008, 0x111DA04,
    0x111DB11, 0x111DC04, 0x111DD11, 0x111E01D, 0x111E10A, 0x111F51D, 0x1120004, 0x112121D, 0x1121304, 0x1122C06,
    0x1122F05, 0x1123206, 0x1123405, 0x1123506, 0x1123605, 0x1123811, 0x1123E05, 0x1123F04, 0x1124105, 0x112421D,
    0x1128004, 0x112871D, 0x1128804, 0x112891D, 0x1128A04, 0x1128E1D, 0x1128F04, 0x1129E1D, 0x1129F04, 0x112A911,
    0x112AA1D, 0x112B004, 0x112DF05, 0x112E006, 0x112E305, 0x112EB1D, 0x112F008, 0x112FA1D, 0x1130005, 0x1130206,
    0x113041D, 0x1130504, 0x1130D1D, 0x1130F04, 0x113111D, 0x1131304, 0x113291D, 0x1132A04, 0x113311D, 0x1133204,
    0x113341D, 0x1133504, 0x1133A1D, 0x1133B05, 0x1133D04, 0x1133E06, 0x1134005, 0x1134106, 0x113451D, 0x1134706,
    0x113491D, 0x1134B06, 0x1134E1D, 0x1135004, 0x113511D, 0x1135706, 0x113581D, 0x1135D04, 0x1136206, 0x113641D,
    0x1136605, 0x1136D1D, 0x1137005, 0x113751D, 0x1138004, 0x1138A1D, 0x1138B04, 0x1138C1D, 0x1138E04, 0x1138F1D,
    0x1139004, 0x113B61D, 0x113B704, 0x113B806, 0x113BB05, 0x113C11D, 0x113C206, 0x113C31D, 0x113C506, 0x113C61D,
    0x113C706, 0x113CB1D, 0x113CC06, 0x113CE05, 0x113CF06, 0x113D005, 0x113D104, 0x113D205, 0x113D304, 0x113D411,
    0x113D61D, 0x113D711, 0x113D91D, 0x113E105, 0x113E31D, 0x1140004, 0x1143506, 0x1143805, 0x1144006, 0x1144205,
    0x1144506, 0x1144605, 0x1144704, 0x1144B11, 0x1145008, 0x1145A11, 0x1145C1D, 0x1145D11, 0x1145E05, 0x1145F04,
    0x114621D, 0x1148004, 0x114B006, 0x114B305, 0x114B906, 0x114BA05, 0x114BB06, 0x114BF05, 0x114C106, 0x114C205,
    0x114C404, 0x114C611, 0x114C704, 0x114C81D, 0x114D008, 0x114DA1D, 0x1158004, 0x115AF06, 0x115B205, 0x115B61D,
    0x115B806, 0x115BC05, 0x115BE06, 0x115BF05, 0x115C111, 0x115D804, 0x115DC05, 0x115DE1D, 0x1160004, 0x1163006,
    0x1163305, 0x1163B06, 0x1163D05, 0x1163E06, 0x1163F05, 0x1164111, 0x1164404, 0x116451D, 0x1165008, 0x1165A1D,
    0x1166011, 0x1166D1D, 0x1168004, 0x116AB05, 0x116AC06, 0x116AD05, 0x116AE06, 0x116B005, 0x116B606, 0x116B705,
    0x116B804, 0x116B911, 0x116BA1D, 0x116C008, 0x116CA1D, 0x116D008, 0x116E41D, 0x1170004, 0x1171B1D, 0x1171D05,
    0x1171E06, 0x1171F05, 0x1172006, 0x1172205, 0x1172606, 0x1172705, 0x1172C1D, 0x1173008, 0x1173A0A, 0x1173C11,
    0x1173F15, 0x1174004, 0x117471D, 0x1180004, 0x1182C06, 0x1182F05, 0x1183806, 0x1183905, 0x1183B11, 0x1183C1D,
    0x118A000, 0x118C001, 0x118E008, 0x118EA0A, 0x118F31D, 0x118FF04, 0x119071D, 0x1190904, 0x1190A1D, 0x1190C04,
    0x119141D, 0x1191504, 0x119171D, 0x1191804, 0x1193006, 0x119361D, 0x1193706, 0x119391D, 0x1193B05, 0x1193D06,
    0x1193E05, 0x1193F04, 0x1194006, 0x1194104, 0x1194206, 0x1194305, 0x1194411, 0x119471D, 0x1195008, 0x1195A1D,
    0x119A004, 0x119A81D, 0x119AA04, 0x119D106, 0x119D405, 0x119D81D, 0x119DA05, 0x119DC06, 0x119E005, 0x119E104,
    0x119E211, 0x119E304, 0x119E406, 0x119E51D, 0x11A0004, 0x11A0105, 0x11A0B04, 0x11A3305, 0x11A3906, 0x11A3A04,
    0x11A3B05, 0x11A3F11, 0x11A4705, 0x11A481D, 0x11A5004, 0x11A5105, 0x11A5706, 0x11A5905, 0x11A5C04, 0x11A8A05,
    0x11A9706, 0x11A9805, 0x11A9A11, 0x11A9D04, 0x11A9E11, 0x11AA31D, 0x11AB004, 0x11AF91D, 0x11B0011, 0x11B0A1D,
    0x11BC004, 0x11BE111, 0x11BE21D, 0x11BF008, 0x11BFA1D, 0x11C0004, 0x11C091D, 0x11C0A04, 0x11C2F06, 0x11C3005,
    0x11C371D, 0x11C3805, 0x11C3E06, 0x11C3F05, 0x11C4004, 0x11C4111, 0x11C461D, 0x11C5008, 0x11C5A0A, 0x11C6D1D,
    0x11C7011, 0x11C7204, 0x11C901D, 0x11C9205, 0x11CA81D, 0x11CA906, 0x11CAA05, 0x11CB106, 0x11CB205, 0x11CB406,
    0x11CB505, 0x11CB71D, 0x11D0004, 0x11D071D, 0x11D0804, 0x11D0A1D, 0x11D0B04, 0x11D3105, 0x11D371D, 0x11D3A05,
    0x11D3B1D, 0x11D3C05, 0x11D3E1D, 0x11D3F05, 0x11D4604, 0x11D4705, 0x11D481D, 0x11D5008, 0x11D5A1D, 0x11D6004,
    0x11D661D, 0x11D6704, 0x11D691D, 0x11D6A04, 0x11D8A06, 0x11D8F1D, 0x11D9005, 0x11D921D, 0x11D9306, 0x11D9505,
    0x11D9606, 0x11D9705, 0x11D9804, 0x11D991D, 0x11DA008, 0x11DAA1D, 0x11EE004, 0x11EF305, 0x11EF506, 0x11EF711,
    0x11EF91D, 0x11F0005, 0x11F0204, 0x11F0306, 0x11F0404, 0x11F111D, 0x11F1204, 0x11F3406, 0x11F3605, 0x11F3B1D,
    0x11F3E06, 0x11F4005, 0x11F4106, 0x11F4205, 0x11F4311, 0x11F5008, 0x11F5A05, 0x11F5B1D, 0x11FB004, 0x11FB11D,
    0x11FC00A, 0x11FD515, 0x11FDD13, 0x11FE115, 0x11FF21D, 0x11FFF11, 0x1200004, 0x1239A1D, 0x1240009, 0x1246F1D,
    0x1247011, 0x124751D, 0x1248004, 0x125441D, 0x12F9004, 0x12FF111, 0x12FF31D, 0x1300004, 0x134301A, 0x1344005,
    0x1344104, 0x1344705, 0x134561D, 0x1346004, 0x143FB1D, 0x1440004, 0x146471D, 0x1610004, 0x1611E05, 0x1612A06,
    0x1612D05, 0x1613008, 0x1613A1D, 0x1680004, 0x16A391D, 0x16A4004, 0x16A5F1D, 0x16A6008, 0x16A6A1D, 0x16A6E11,
    0x16A7004, 0x16ABF1D, 0x16AC008, 0x16ACA1D, 0x16AD004, 0x16AEE1D, 0x16AF005, 0x16AF511, 0x16AF61D, 0x16B0004,
    0x16B3005, 0x16B3711, 0x16B3C15, 0x16B4003, 0x16B4411, 0x16B4515, 0x16B461D, 0x16B5008, 0x16B5A1D, 0x16B5B0A,
    0x16B621D, 0x16B6304, 0x16B781D, 0x16B7D04, 0x16B901D, 0x16D4003, 0x16D4304, 0x16D6B03, 0x16D6D11, 0x16D7008,
    0x16D7A1D, 0x16E4000, 0x16E6001, 0x16E800A, 0x16E9711, 0x16E9B1D, 0x16F0004, 0x16F4B1D, 0x16F4F05, 0x16F5004,
    0x16F5106, 0x16F881D, 0x16F8F05, 0x16F9303, 0x16FA01D, 0x16FE003, 0x16FE211, 0x16FE303, 0x16FE405, 0x16FE51D,
    0x16FF006, 0x16FF21D, 0x1700004, 0x187F81D, 0x1880004, 0x18CD61D, 0x18CFF04, 0x18D091D, 0x1AFF003, 0x1AFF41D,
    0x1AFF503, 0x1AFFC1D, 0x1AFFD03, 0x1AFFF1D, 0x1B00004, 0x1B1231D, 0x1B13204, 0x1B1331D, 0x1B15004, 0x1B1531D,
    0x1B15504, 0x1B1561D, 0x1B16404, 0x1B1681D, 0x1B17004, 0x1B2FC1D, 0x1BC0004, 0x1BC6B1D, 0x1BC7004, 0x1BC7D1D,
    0x1BC8004, 0x1BC891D, 0x1BC9004, 0x1BC9A1D, 0x1BC9C15, 0x1BC9D05, 0x1BC9F11, 0x1BCA01A, 0x1BCA41D, 0x1CC0015,
    0x1CCF008, 0x1CCFA1D, 0x1CD0015, 0x1CEB41D, 0x1CF0005, 0x1CF2E1D, 0x1CF3005, 0x1CF471D, 0x1CF5015, 0x1CFC41D,
    0x1D00015, 0x1D0F61D, 0x1D10015, 0x1D1271D, 0x1D12915, 0x1D16506, 0x1D16705, 0x1D16A15, 0x1D16D06, 0x1D1731A,
    0x1D17B05, 0x1D18315, 0x1D18505, 0x1D18C15, 0x1D1AA05, 0x1D1AE15, 0x1D1EB1D, 0x1D20015, 0x1D24205, 0x1D24515,
    0x1D2461D, 0x1D2C00A, 0x1D2D41D, 0x1D2E00A, 0x1D2F41D, 0x1D30015, 0x1D3571D, 0x1D3600A, 0x1D3791D, 0x1D40000,
    0x1D41A01, 0x1D43400, 0x1D44E01, 0x1D4551D, 0x1D45601, 0x1D46800, 0x1D48201, 0x1D49C00, 0x1D49D1D, 0x1D49E00,
    0x1D4A01D, 0x1D4A200, 0x1D4A31D, 0x1D4A500, 0x1D4A71D, 0x1D4A900, 0x1D4AD1D, 0x1D4AE00, 0x1D4B601, 0x1D4BA1D,
    0x1D4BB01, 0x1D4BC1D, 0x1D4BD01, 0x1D4C41D, 0x1D4C501, 0x1D4D000, 0x1D4EA01, 0x1D50400, 0x1D5061D, 0x1D50700,
    0x1D50B1D, 0x1D50D00, 0x1D5151D, 0x1D51600, 0x1D51D1D, 0x1D51E01, 0x1D53800, 0x1D53A1D, 0x1D53B00, 0x1D53F1D,
    0x1D54000, 0x1D5451D, 0x1D54600, 0x1D5471D, 0x1D54A00, 0x1D5511D, 0x1D55201, 0x1D56C00, 0x1D58601, 0x1D5A000,
    0x1D5BA01, 0x1D5D400, 0x1D5EE01, 0x1D60800, 0x1D62201, 0x1D63C00, 0x1D65601, 0x1D67000, 0x1D68A01, 0x1D6A61D,
    0x1D6A800, 0x1D6C112, 0x1D6C201, 0x1D6DB12, 0x1D6DC01, 0x1D6E200, 0x1D6FB12, 0x1D6FC01, 0x1D71512, 0x1D71601,
    0x1D71C00, 0x1D73512, 0x1D73601, 0x1D74F12, 0x1D75001, 0x1D75600, 0x1D76F12, 0x1D77001, 0x1D78912, 0x1D78A01,
    0x1D79000, 0x1D7A912, 0x1D7AA01, 0x1D7C312, 0x1D7C401, 0x1D7CA00, 0x1D7CB01, 0x1D7CC1D, 0x1D7CE08, 0x1D80015,
    0x1DA0005, 0x1DA3715, 0x1DA3B05, 0x1DA6D15, 0x1DA7505, 0x1DA7615, 0x1DA8405, 0x1DA8515, 0x1DA8711, 0x1DA8C1D,
    0x1DA9B05, 0x1DAA01D, 0x1DAA105, 0x1DAB01D, 0x1DF0001, 0x1DF0A04, 0x1DF0B01, 0x1DF1F1D, 0x1DF2501, 0x1DF2B1D,
    0x1E00005, 0x1E0071D, 0x1E00805, 0x1E0191D, 0x1E01B05, 0x1E0221D, 0x1E02305, 0x1E0251D, 0x1E02605, 0x1E02B1D,
    0x1E03003, 0x1E06E1D, 0x1E08F05, 0x1E0901D, 0x1E10004, 0x1E12D1D, 0x1E13005, 0x1E13703, 0x1E13E1D, 0x1E14008,
    0x1E14A1D, 0x1E14E04, 0x1E14F15, 0x1E1501D, 0x1E29004, 0x1E2AE05, 0x1E2AF1D, 0x1E2C004, 0x1E2EC05, 0x1E2F008,
    0x1E2FA1D, 0x1E2FF13, 0x1E3001D, 0x1E4D004, 0x1E4EB03, 0x1E4EC05, 0x1E4F008, 0x1E4FA1D, 0x1E5D004, 0x1E5EE05,
    0x1E5F004, 0x1E5F108, 0x1E5FB1D, 0x1E5FF11, 0x1E6001D, 0x1E7E004, 0x1E7E71D, 0x1E7E804, 0x1E7EC1D, 0x1E7ED04,
    0x1E7EF1D, 0x1E7F004, 0x1E7FF1D, 0x1E80004, 0x1E8C51D, 0x1E8C70A, 0x1E8D005, 0x1E8D71D, 0x1E90000, 0x1E92201,
    0x1E94405, 0x1E94B03, 0x1E94C1D, 0x1E95008, 0x1E95A1D, 0x1E95E11, 0x1E9601D, 0x1EC710A, 0x1ECAC15, 0x1ECAD0A,
    0x1ECB013, 0x1ECB10A, 0x1ECB51D, 0x1ED010A, 0x1ED2E15, 0x1ED2F0A, 0x1ED3E1D, 0x1EE0004, 0x1EE041D, 0x1EE0504,
    0x1EE201D, 0x1EE2104, 0x1EE231D, 0x1EE2404, 0x1EE251D, 0x1EE2704, 0x1EE281D, 0x1EE2904, 0x1EE331D, 0x1EE3404,
    0x1EE381D, 0x1EE3904, 0x1EE3A1D, 0x1EE3B04, 0x1EE3C1D, 0x1EE4204, 0x1EE431D, 0x1EE4704, 0x1EE481D, 0x1EE4904,
    0x1EE4A1D, 0x1EE4B04, 0x1EE4C1D, 0x1EE4D04, 0x1EE501D, 0x1EE5104, 0x1EE531D, 0x1EE5404, 0x1EE551D, 0x1EE5704,
    0x1EE581D, 0x1EE5904, 0x1EE5A1D, 0x1EE5B04, 0x1EE5C1D, 0x1EE5D04, 0x1EE5E1D, 0x1EE5F04, 0x1EE601D, 0x1EE6104,
    0x1EE631D, 0x1EE6404, 0x1EE651D, 0x1EE6704, 0x1EE6B1D, 0x1EE6C04, 0x1EE731D, 0x1EE7404, 0x1EE781D, 0x1EE7904,
    0x1EE7D1D, 0x1EE7E04, 0x1EE7F1D, 0x1EE8004, 0x1EE8A1D, 0x1EE8B04, 0x1EE9C1D, 0x1EEA104, 0x1EEA41D, 0x1EEA504,
    0x1EEAA1D, 0x1EEAB04, 0x1EEBC1D, 0x1EEF012, 0x1EEF21D, 0x1F00015, 0x1F02C1D, 0x1F03015, 0x1F0941D, 0x1F0A015,
    0x1F0AF1D, 0x1F0B115, 0x1F0C01D, 0x1F0C115, 0x1F0D01D, 0x1F0D115, 0x1F0F61D, 0x1F1000A, 0x1F10D15, 0x1F1AE1D,
    0x1F1E615, 0x1F2031D, 0x1F21015, 0x1F23C1D, 0x1F24015, 0x1F2491D, 0x1F25015, 0x1F2521D, 0x1F26015, 0x1F2661D,
    0x1F30015, 0x1F3FB14, 0x1F40015, 0x1F6D81D, 0x1F6DC15, 0x1F6ED1D, 0x1F6F015, 0x1F6FD1D, 0x1F70015, 0x1F7771D,
    0x1F77B15, 0x1F7DA1D, 0x1F7E015, 0x1F7EC1D, 0x1F7F015, 0x1F7F11D, 0x1F80015, 0x1F80C1D, 0x1F81015, 0x1F8481D,
    0x1F85015, 0x1F85A1D, 0x1F86015, 0x1F8881D, 0x1F89015, 0x1F8AE1D, 0x1F8B015, 0x1F8BC1D, 0x1F8C015, 0x1F8C21D,
    0x1F90015, 0x1FA541D, 0x1FA6015, 0x1FA6E1D, 0x1FA7015, 0x1FA7D1D, 0x1FA8015, 0x1FA8A1D, 0x1FA8F15, 0x1FAC71D,
    0x1FACE15, 0x1FADD1D, 0x1FADF15, 0x1FAEA1D, 0x1FAF015, 0x1FAF91D, 0x1FB0015, 0x1FB931D, 0x1FB9415, 0x1FBF008,
    0x1FBFA1D, 0x2000004, 0x2A6E01D, 0x2A70004, 0x2B73A1D, 0x2B74004, 0x2B81E1D, 0x2B82004, 0x2CEA21D, 0x2CEB004,
    0x2EBE11D, 0x2EBF004, 0x2EE5E1D, 0x2F80004, 0x2FA1E1D, 0x3000004, 0x3134B1D, 0x3135004, 0x323B01D, 0xE00011A,
    0xE00021D, 0xE00201A, 0xE00801D, 0xE010005, 0xE01F01D, 0xF00001C, 0xFFFFE1D, 0x1000001C, 0x10FFFE1D,
};

/* Script=Han: first, last. */
static const uint32_t kvs__uc_han[] = {
    0x2E80, 0x2E99, 0x2E9B, 0x2EF3, 0x2F00, 0x2FD5, 0x3005, 0x3005, 0x3007, 0x3007, 0x3021, 0x3029, 0x3038, 0x303B,
    0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFA6D, 0xFA70, 0xFAD9, 0x16FE2, 0x16FE3, 0x16FF0, 0x16FF1, 0x20000,
    0x2A6DF, 0x2A700, 0x2B739, 0x2B740, 0x2B81D, 0x2B820, 0x2CEA1, 0x2CEB0, 0x2EBE0, 0x2EBF0, 0x2EE5D, 0x2F800, 0x2FA1D,
    0x30000, 0x3134A, 0x31350, 0x323AF,
};

/* Simple case folding, Unicode 16.0: first, count, step, delta. */
static const uint32_t kvs__fold_runs[] = {
    0x41,0x1A,1,0x20, 0xB5,1,1,0x307, 0xC0,0x17,1,0x20, 0xD8,7,1,0x20, 0x100,0x18,2,1, 0x132,3,2,1, 0x139,8,2,1,
    0x14A,0x17,2,1, 0x178,1,1,0xFFFFFF87, 0x179,3,2,1, 0x17F,1,1,0xFFFFFEF4, 0x181,1,1,0xD2, 0x182,2,2,1,
    0x186,1,1,0xCE, 0x187,1,1,1, 0x189,2,1,0xCD, 0x18B,1,1,1, 0x18E,1,1,0x4F, 0x18F,1,1,0xCA, 0x190,1,1,0xCB,
    0x191,1,1,1, 0x193,1,1,0xCD, 0x194,1,1,0xCF, 0x196,1,1,0xD3, 0x197,1,1,0xD1, 0x198,1,1,1, 0x19C,1,1,0xD3,
    0x19D,1,1,0xD5, 0x19F,1,1,0xD6, 0x1A0,3,2,1, 0x1A6,1,1,0xDA, 0x1A7,1,1,1, 0x1A9,1,1,0xDA, 0x1AC,1,1,1,
    0x1AE,1,1,0xDA, 0x1AF,1,1,1, 0x1B1,2,1,0xD9, 0x1B3,2,2,1, 0x1B7,1,1,0xDB, 0x1B8,1,1,1, 0x1BC,1,1,1, 0x1C4,1,1,2,
    0x1C5,1,1,1, 0x1C7,1,1,2, 0x1C8,1,1,1, 0x1CA,1,1,2, 0x1CB,9,2,1, 0x1DE,9,2,1, 0x1F1,1,1,2, 0x1F2,2,2,1,
    0x1F6,1,1,0xFFFFFF9F, 0x1F7,1,1,0xFFFFFFC8, 0x1F8,0x14,2,1, 0x220,1,1,0xFFFFFF7E, 0x222,9,2,1, 0x23A,1,1,0x2A2B,
    0x23B,1,1,1, 0x23D,1,1,0xFFFFFF5D, 0x23E,1,1,0x2A28, 0x241,1,1,1, 0x243,1,1,0xFFFFFF3D, 0x244,1,1,0x45,
    0x245,1,1,0x47, 0x246,5,2,1, 0x345,1,1,0x74, 0x370,2,2,1, 0x376,1,1,1, 0x37F,1,1,0x74, 0x386,1,1,0x26,
    0x388,3,1,0x25, 0x38C,1,1,0x40, 0x38E,2,1,0x3F, 0x391,0x11,1,0x20, 0x3A3,9,1,0x20, 0x3C2,1,1,1, 0x3CF,1,1,8,
    0x3D0,1,1,0xFFFFFFE2, 0x3D1,1,1,0xFFFFFFE7, 0x3D5,1,1,0xFFFFFFF1, 0x3D6,1,1,0xFFFFFFEA, 0x3D8,0xC,2,1,
    0x3F0,1,1,0xFFFFFFCA, 0x3F1,1,1,0xFFFFFFD0, 0x3F4,1,1,0xFFFFFFC4, 0x3F5,1,1,0xFFFFFFC0, 0x3F7,1,1,1,
    0x3F9,1,1,0xFFFFFFF9, 0x3FA,1,1,1, 0x3FD,3,1,0xFFFFFF7E, 0x400,0x10,1,0x50, 0x410,0x20,1,0x20, 0x460,0x11,2,1,
    0x48A,0x1B,2,1, 0x4C0,1,1,0xF, 0x4C1,7,2,1, 0x4D0,0x30,2,1, 0x531,0x26,1,0x30, 0x10A0,0x26,1,0x1C60,
    0x10C7,1,1,0x1C60, 0x10CD,1,1,0x1C60, 0x13F8,6,1,0xFFFFFFF8, 0x1C80,1,1,0xFFFFE7B2, 0x1C81,1,1,0xFFFFE7B3,
    0x1C82,1,1,0xFFFFE7BC, 0x1C83,2,1,0xFFFFE7BE, 0x1C85,1,1,0xFFFFE7BD, 0x1C86,1,1,0xFFFFE7C4, 0x1C87,1,1,0xFFFFE7DC,
    0x1C88,1,1,0x89C3, 0x1C89,1,1,1, 0x1C90,0x2B,1,0xFFFFF440, 0x1CBD,3,1,0xFFFFF440, 0x1E00,0x4B,2,1,
    0x1E9B,1,1,0xFFFFFFC6, 0x1E9E,1,1,0xFFFFE241, 0x1EA0,0x30,2,1, 0x1F08,8,1,0xFFFFFFF8, 0x1F18,6,1,0xFFFFFFF8,
    0x1F28,8,1,0xFFFFFFF8, 0x1F38,8,1,0xFFFFFFF8, 0x1F48,6,1,0xFFFFFFF8, 0x1F59,4,2,0xFFFFFFF8, 0x1F68,8,1,0xFFFFFFF8,
    0x1F88,8,1,0xFFFFFFF8, 0x1F98,8,1,0xFFFFFFF8, 0x1FA8,8,1,0xFFFFFFF8, 0x1FB8,2,1,0xFFFFFFF8, 0x1FBA,2,1,0xFFFFFFB6,
    0x1FBC,1,1,0xFFFFFFF7, 0x1FBE,1,1,0xFFFFE3FB, 0x1FC8,4,1,0xFFFFFFAA, 0x1FCC,1,1,0xFFFFFFF7, 0x1FD8,2,1,0xFFFFFFF8,
    0x1FDA,2,1,0xFFFFFF9C, 0x1FE8,2,1,0xFFFFFFF8, 0x1FEA,2,1,0xFFFFFF90, 0x1FEC,1,1,0xFFFFFFF9, 0x1FF8,2,1,0xFFFFFF80,
    0x1FFA,2,1,0xFFFFFF82, 0x1FFC,1,1,0xFFFFFFF7, 0x2126,1,1,0xFFFFE2A3, 0x212A,1,1,0xFFFFDF41, 0x212B,1,1,0xFFFFDFBA,
    0x2132,1,1,0x1C, 0x2160,0x10,1,0x10, 0x2183,1,1,1, 0x24B6,0x1A,1,0x1A, 0x2C00,0x30,1,0x30, 0x2C60,1,1,1,
    0x2C62,1,1,0xFFFFD609, 0x2C63,1,1,0xFFFFF11A, 0x2C64,1,1,0xFFFFD619, 0x2C67,3,2,1, 0x2C6D,1,1,0xFFFFD5E4,
    0x2C6E,1,1,0xFFFFD603, 0x2C6F,1,1,0xFFFFD5E1, 0x2C70,1,1,0xFFFFD5E2, 0x2C72,1,1,1, 0x2C75,1,1,1,
    0x2C7E,2,1,0xFFFFD5C1, 0x2C80,0x32,2,1, 0x2CEB,2,2,1, 0x2CF2,1,1,1, 0xA640,0x17,2,1, 0xA680,0xE,2,1, 0xA722,7,2,1,
    0xA732,0x1F,2,1, 0xA779,2,2,1, 0xA77D,1,1,0xFFFF75FC, 0xA77E,5,2,1, 0xA78B,1,1,1, 0xA78D,1,1,0xFFFF5AD8,
    0xA790,2,2,1, 0xA796,0xA,2,1, 0xA7AA,1,1,0xFFFF5ABC, 0xA7AB,1,1,0xFFFF5AB1, 0xA7AC,1,1,0xFFFF5AB5,
    0xA7AD,1,1,0xFFFF5ABF, 0xA7AE,1,1,0xFFFF5ABC, 0xA7B0,1,1,0xFFFF5AEE, 0xA7B1,1,1,0xFFFF5AD6, 0xA7B2,1,1,0xFFFF5AEB,
    0xA7B3,1,1,0x3A0, 0xA7B4,8,2,1, 0xA7C4,1,1,0xFFFFFFD0, 0xA7C5,1,1,0xFFFF5ABD, 0xA7C6,1,1,0xFFFF75C8, 0xA7C7,2,2,1,
    0xA7CB,1,1,0xFFFF5A99, 0xA7CC,1,1,1, 0xA7D0,1,1,1, 0xA7D6,3,2,1, 0xA7DC,1,1,0xFFFF59BF, 0xA7F5,1,1,1,
    0xAB70,0x50,1,0xFFFF6830, 0xFF21,0x1A,1,0x20, 0x10400,0x28,1,0x28, 0x104B0,0x24,1,0x28, 0x10570,0xB,1,0x27,
    0x1057C,0xF,1,0x27, 0x1058C,7,1,0x27, 0x10594,2,1,0x27, 0x10C80,0x33,1,0x40, 0x10D50,0x16,1,0x20,
    0x118A0,0x20,1,0x20, 0x16E40,0x20,1,0x20, 0x1E900,0x22,1,0x22,
};

/* Lower case, Unicode 17.0: first, count, step, delta. */
static const uint32_t kvs__lower_runs[] = {
    0x41,0x1A,1,0x20, 0xC0,0x17,1,0x20, 0xD8,7,1,0x20, 0x100,0x18,2,1, 0x132,3,2,1, 0x139,8,2,1, 0x14A,0x17,2,1,
    0x178,1,1,0xFFFFFF87, 0x179,3,2,1, 0x181,1,1,0xD2, 0x182,2,2,1, 0x186,1,1,0xCE, 0x187,1,1,1, 0x189,2,1,0xCD,
    0x18B,1,1,1, 0x18E,1,1,0x4F, 0x18F,1,1,0xCA, 0x190,1,1,0xCB, 0x191,1,1,1, 0x193,1,1,0xCD, 0x194,1,1,0xCF,
    0x196,1,1,0xD3, 0x197,1,1,0xD1, 0x198,1,1,1, 0x19C,1,1,0xD3, 0x19D,1,1,0xD5, 0x19F,1,1,0xD6, 0x1A0,3,2,1,
    0x1A6,1,1,0xDA, 0x1A7,1,1,1, 0x1A9,1,1,0xDA, 0x1AC,1,1,1, 0x1AE,1,1,0xDA, 0x1AF,1,1,1, 0x1B1,2,1,0xD9, 0x1B3,2,2,1,
    0x1B7,1,1,0xDB, 0x1B8,1,1,1, 0x1BC,1,1,1, 0x1C4,1,1,2, 0x1C5,1,1,1, 0x1C7,1,1,2, 0x1C8,1,1,1, 0x1CA,1,1,2,
    0x1CB,9,2,1, 0x1DE,9,2,1, 0x1F1,1,1,2, 0x1F2,2,2,1, 0x1F6,1,1,0xFFFFFF9F, 0x1F7,1,1,0xFFFFFFC8, 0x1F8,0x14,2,1,
    0x220,1,1,0xFFFFFF7E, 0x222,9,2,1, 0x23A,1,1,0x2A2B, 0x23B,1,1,1, 0x23D,1,1,0xFFFFFF5D, 0x23E,1,1,0x2A28,
    0x241,1,1,1, 0x243,1,1,0xFFFFFF3D, 0x244,1,1,0x45, 0x245,1,1,0x47, 0x246,5,2,1, 0x370,2,2,1, 0x376,1,1,1,
    0x37F,1,1,0x74, 0x386,1,1,0x26, 0x388,3,1,0x25, 0x38C,1,1,0x40, 0x38E,2,1,0x3F, 0x391,0x11,1,0x20, 0x3A3,9,1,0x20,
    0x3CF,1,1,8, 0x3D8,0xC,2,1, 0x3F4,1,1,0xFFFFFFC4, 0x3F7,1,1,1, 0x3F9,1,1,0xFFFFFFF9, 0x3FA,1,1,1,
    0x3FD,3,1,0xFFFFFF7E, 0x400,0x10,1,0x50, 0x410,0x20,1,0x20, 0x460,0x11,2,1, 0x48A,0x1B,2,1, 0x4C0,1,1,0xF,
    0x4C1,7,2,1, 0x4D0,0x30,2,1, 0x531,0x26,1,0x30, 0x10A0,0x26,1,0x1C60, 0x10C7,1,1,0x1C60, 0x10CD,1,1,0x1C60,
    0x13A0,0x50,1,0x97D0, 0x13F0,6,1,8, 0x1C89,1,1,1, 0x1C90,0x2B,1,0xFFFFF440, 0x1CBD,3,1,0xFFFFF440, 0x1E00,0x4B,2,1,
    0x1E9E,1,1,0xFFFFE241, 0x1EA0,0x30,2,1, 0x1F08,8,1,0xFFFFFFF8, 0x1F18,6,1,0xFFFFFFF8, 0x1F28,8,1,0xFFFFFFF8,
    0x1F38,8,1,0xFFFFFFF8, 0x1F48,6,1,0xFFFFFFF8, 0x1F59,4,2,0xFFFFFFF8, 0x1F68,8,1,0xFFFFFFF8, 0x1F88,8,1,0xFFFFFFF8,
    0x1F98,8,1,0xFFFFFFF8, 0x1FA8,8,1,0xFFFFFFF8, 0x1FB8,2,1,0xFFFFFFF8, 0x1FBA,2,1,0xFFFFFFB6, 0x1FBC,1,1,0xFFFFFFF7,
    0x1FC8,4,1,0xFFFFFFAA, 0x1FCC,1,1,0xFFFFFFF7, 0x1FD8,2,1,0xFFFFFFF8, 0x1FDA,2,1,0xFFFFFF9C, 0x1FE8,2,1,0xFFFFFFF8,
    0x1FEA,2,1,0xFFFFFF90, 0x1FEC,1,1,0xFFFFFFF9, 0x1FF8,2,1,0xFFFFFF80, 0x1FFA,2,1,0xFFFFFF82, 0x1FFC,1,1,0xFFFFFFF7,
    0x2126,1,1,0xFFFFE2A3, 0x212A,1,1,0xFFFFDF41, 0x212B,1,1,0xFFFFDFBA, 0x2132,1,1,0x1C, 0x2160,0x10,1,0x10,
    0x2183,1,1,1, 0x24B6,0x1A,1,0x1A, 0x2C00,0x30,1,0x30, 0x2C60,1,1,1, 0x2C62,1,1,0xFFFFD609, 0x2C63,1,1,0xFFFFF11A,
    0x2C64,1,1,0xFFFFD619, 0x2C67,3,2,1, 0x2C6D,1,1,0xFFFFD5E4, 0x2C6E,1,1,0xFFFFD603, 0x2C6F,1,1,0xFFFFD5E1,
    0x2C70,1,1,0xFFFFD5E2, 0x2C72,1,1,1, 0x2C75,1,1,1, 0x2C7E,2,1,0xFFFFD5C1, 0x2C80,0x32,2,1, 0x2CEB,2,2,1,
    0x2CF2,1,1,1, 0xA640,0x17,2,1, 0xA680,0xE,2,1, 0xA722,7,2,1, 0xA732,0x1F,2,1, 0xA779,2,2,1, 0xA77D,1,1,0xFFFF75FC,
    0xA77E,5,2,1, 0xA78B,1,1,1, 0xA78D,1,1,0xFFFF5AD8, 0xA790,2,2,1, 0xA796,0xA,2,1, 0xA7AA,1,1,0xFFFF5ABC,
    0xA7AB,1,1,0xFFFF5AB1, 0xA7AC,1,1,0xFFFF5AB5, 0xA7AD,1,1,0xFFFF5ABF, 0xA7AE,1,1,0xFFFF5ABC, 0xA7B0,1,1,0xFFFF5AEE,
    0xA7B1,1,1,0xFFFF5AD6, 0xA7B2,1,1,0xFFFF5AEB, 0xA7B3,1,1,0x3A0, 0xA7B4,8,2,1, 0xA7C4,1,1,0xFFFFFFD0,
    0xA7C5,1,1,0xFFFF5ABD, 0xA7C6,1,1,0xFFFF75C8, 0xA7C7,2,2,1, 0xA7CB,1,1,0xFFFF5A99, 0xA7CC,8,2,1,
    0xA7DC,1,1,0xFFFF59BF, 0xA7F5,1,1,1, 0xFF21,0x1A,1,0x20, 0x10400,0x28,1,0x28, 0x104B0,0x24,1,0x28,
    0x10570,0xB,1,0x27, 0x1057C,0xF,1,0x27, 0x1058C,7,1,0x27, 0x10594,2,1,0x27, 0x10C80,0x33,1,0x40,
    0x10D50,0x16,1,0x20, 0x118A0,0x20,1,0x20, 0x16E40,0x20,1,0x20, 0x16EA0,0x19,1,0x1B, 0x1E900,0x22,1,0x22,
};

/* Canonical combining classes. */
static const uint32_t kvs__ccc_runs[] = {
    0, 0x300E6, 0x315E8, 0x316DC, 0x31AE8, 0x31BD8, 0x31CDC, 0x321CA, 0x323DC, 0x327CA, 0x329DC, 0x33401, 0x339DC,
    0x33DE6, 0x345F0, 0x346E6, 0x347DC, 0x34AE6, 0x34DDC, 0x34F00, 0x350E6, 0x353DC, 0x357E6, 0x358E8, 0x359DC, 0x35BE6,
    0x35CE9, 0x35DEA, 0x35FE9, 0x360EA, 0x362E9, 0x363E6, 0x37000, 0x483E6, 0x48800, 0x591DC, 0x592E6, 0x596DC, 0x597E6,
    0x59ADE, 0x59BDC, 0x59CE6, 0x5A2DC, 0x5A8E6, 0x5AADC, 0x5ABE6, 0x5ADDE, 0x5AEE4, 0x5AFE6, 0x5B00A, 0x5B10B, 0x5B20C,
    0x5B30D, 0x5B40E, 0x5B50F, 0x5B610, 0x5B711, 0x5B812, 0x5B913, 0x5BB14, 0x5BC15, 0x5BD16, 0x5BE00, 0x5BF17, 0x5C000,
    0x5C118, 0x5C219, 0x5C300, 0x5C4E6, 0x5C5DC, 0x5C600, 0x5C712, 0x5C800, 0x610E6, 0x6181E, 0x6191F, 0x61A20, 0x61B00,
    0x64B1B, 0x64C1C, 0x64D1D, 0x64E1E, 0x64F1F, 0x65020, 0x65121, 0x65222, 0x653E6, 0x655DC, 0x657E6, 0x65CDC, 0x65DE6,
    0x65FDC, 0x66000, 0x67023, 0x67100, 0x6D6E6, 0x6DD00, 0x6DFE6, 0x6E3DC, 0x6E4E6, 0x6E500, 0x6E7E6, 0x6E900, 0x6EADC,
    0x6EBE6, 0x6EDDC, 0x6EE00, 0x71124, 0x71200, 0x730E6, 0x731DC, 0x732E6, 0x734DC, 0x735E6, 0x737DC, 0x73AE6, 0x73BDC,
    0x73DE6, 0x73EDC, 0x73FE6, 0x742DC, 0x743E6, 0x744DC, 0x745E6, 0x746DC, 0x747E6, 0x748DC, 0x749E6, 0x74B00, 0x7EBE6,
    0x7F2DC, 0x7F3E6, 0x7F400, 0x816E6, 0x81A00, 0x81BE6, 0x82400, 0x825E6, 0x82800, 0x829E6, 0x82E00, 0x859DC, 0x85C00,
    0x8D4E6, 0x8E200, 0x8E3DC, 0x8E4E6, 0x8E6DC, 0x8E7E6, 0x8E9DC, 0x8EAE6, 0x8EDDC, 0x8F01B, 0x8F11C, 0x8F21D, 0x8F3E6,
    0x8F6DC, 0x8F7E6, 0x8F9DC, 0x8FBE6, 0x90000, 0x93C07, 0x93D00, 0x94D09, 0x94E00, 0x951E6, 0x952DC, 0x953E6, 0x95500,
    0x9BC07, 0x9BD00, 0x9CD09, 0x9CE00, 0xA3C07, 0xA3D00, 0xA4D09, 0xA4E00, 0xABC07, 0xABD00, 0xACD09, 0xACE00, 0xB3C07,
    0xB3D00, 0xB4D09, 0xB4E00, 0xBCD09, 0xBCE00, 0xC4D09, 0xC4E00, 0xC5554, 0xC565B, 0xC5700, 0xCBC07, 0xCBD00, 0xCCD09,
    0xCCE00, 0xD4D09, 0xD4E00, 0xDCA09, 0xDCB00, 0xE3867, 0xE3A09, 0xE3B00, 0xE486B, 0xE4C00, 0xEB876, 0xEBA00, 0xEC87A,
    0xECC00, 0xF18DC, 0xF1A00, 0xF35DC, 0xF3600, 0xF37DC, 0xF3800, 0xF39D8, 0xF3A00, 0xF7181, 0xF7282, 0xF7300, 0xF7484,
    0xF7500, 0xF7A82, 0xF7E00, 0xF8082, 0xF8100, 0xF82E6, 0xF8409, 0xF8500, 0xF86E6, 0xF8800, 0xFC6DC, 0xFC700,
    0x103707, 0x103800, 0x103909, 0x103B00, 0x108DDC, 0x108E00, 0x135DE6, 0x136000, 0x171409, 0x171500, 0x173409,
    0x173500, 0x17D209, 0x17D300, 0x17DDE6, 0x17DE00, 0x18A9E4, 0x18AA00, 0x1939DE, 0x193AE6, 0x193BDC, 0x193C00,
    0x1A17E6, 0x1A18DC, 0x1A1900, 0x1A6009, 0x1A6100, 0x1A75E6, 0x1A7D00, 0x1A7FDC, 0x1A8000, 0x1AB0E6, 0x1AB5DC,
    0x1ABBE6, 0x1ABDDC, 0x1ABE00, 0x1B3407, 0x1B3500, 0x1B4409, 0x1B4500, 0x1B6BE6, 0x1B6CDC, 0x1B6DE6, 0x1B7400,
    0x1BAA09, 0x1BAC00, 0x1BE607, 0x1BE700, 0x1BF209, 0x1BF400, 0x1C3707, 0x1C3800, 0x1CD0E6, 0x1CD300, 0x1CD401,
    0x1CD5DC, 0x1CDAE6, 0x1CDCDC, 0x1CE0E6, 0x1CE100, 0x1CE201, 0x1CE900, 0x1CEDDC, 0x1CEE00, 0x1CF4E6, 0x1CF500,
    0x1CF8E6, 0x1CFA00, 0x1DC0E6, 0x1DC2DC, 0x1DC3E6, 0x1DCADC, 0x1DCBE6, 0x1DCDEA, 0x1DCED6, 0x1DCFDC, 0x1DD0CA,
    0x1DD1E6, 0x1DF600, 0x1DFBE6, 0x1DFCE9, 0x1DFDDC, 0x1DFEE6, 0x1DFFDC, 0x1E0000, 0x20D0E6, 0x20D201, 0x20D4E6,
    0x20D801, 0x20DBE6, 0x20DD00, 0x20E1E6, 0x20E200, 0x20E501, 0x20E7E6, 0x20E8DC, 0x20E9E6, 0x20EA01, 0x20ECDC,
    0x20F0E6, 0x20F100, 0x2CEFE6, 0x2CF200, 0x2D7F09, 0x2D8000, 0x2DE0E6, 0x2E0000, 0x302ADA, 0x302BE4, 0x302CE8,
    0x302DDE, 0x302EE0, 0x303000, 0x309908, 0x309B00, 0xA66FE6, 0xA67000, 0xA674E6, 0xA67E00, 0xA69EE6, 0xA6A000,
    0xA6F0E6, 0xA6F200, 0xA80609, 0xA80700, 0xA8C409, 0xA8C500, 0xA8E0E6, 0xA8F200, 0xA92BDC, 0xA92E00, 0xA95309,
    0xA95400, 0xA9B307, 0xA9B400, 0xA9C009, 0xA9C100, 0xAAB0E6, 0xAAB100, 0xAAB2E6, 0xAAB4DC, 0xAAB500, 0xAAB7E6,
    0xAAB900, 0xAABEE6, 0xAAC000, 0xAAC1E6, 0xAAC200, 0xAAF609, 0xAAF700, 0xABED09, 0xABEE00, 0xFB1E1A, 0xFB1F00,
    0xFE20E6, 0xFE27DC, 0xFE2EE6, 0xFE3000, 0x101FDDC, 0x101FE00, 0x102E0DC, 0x102E100, 0x10376E6, 0x1037B00, 0x10A0DDC,
    0x10A0E00, 0x10A0FE6, 0x10A1000, 0x10A38E6, 0x10A3901, 0x10A3ADC, 0x10A3B00, 0x10A3F09, 0x10A4000, 0x10AE5E6,
    0x10AE6DC, 0x10AE700, 0x1104609, 0x1104700, 0x1107F09, 0x1108000, 0x110B909, 0x110BA07, 0x110BB00, 0x11100E6,
    0x1110300, 0x1113309, 0x1113500, 0x1117307, 0x1117400, 0x111C009, 0x111C100, 0x111CA07, 0x111CB00, 0x1123509,
    0x1123607, 0x1123700, 0x112E907, 0x112EA09, 0x112EB00, 0x1133C07, 0x1133D00, 0x1134D09, 0x1134E00, 0x11366E6,
    0x1136D00, 0x11370E6, 0x1137500, 0x1144209, 0x1144300, 0x1144607, 0x1144700, 0x114C209, 0x114C307, 0x114C400,
    0x115BF09, 0x115C007, 0x115C100, 0x1163F09, 0x1164000, 0x116B609, 0x116B707, 0x116B800, 0x1172B09, 0x1172C00,
    0x11C3F09, 0x11C4000, 0x16AF001, 0x16AF500, 0x16B30E6, 0x16B3700, 0x1BC9E01, 0x1BC9F00, 0x1D165D8, 0x1D16701,
    0x1D16A00, 0x1D16DE2, 0x1D16ED8, 0x1D17300, 0x1D17BDC, 0x1D18300, 0x1D185E6, 0x1D18ADC, 0x1D18C00, 0x1D1AAE6,
    0x1D1AE00, 0x1D242E6, 0x1D24500, 0x1E000E6, 0x1E00700, 0x1E008E6, 0x1E01900, 0x1E01BE6, 0x1E02200, 0x1E023E6,
    0x1E02500, 0x1E026E6, 0x1E02B00, 0x1E8D0DC, 0x1E8D700, 0x1E944E6, 0x1E94A07, 0x1E94B00,
};

/* Decompositions to one character: first, count, target. The others' targets follow on; with bit 30 of count
   they are a list in the pool at target. Bit 31: compatibility. */
static const uint32_t kvs__dc_ones[] = {
    0xA0,0x80000001,0x20, 0xAA,0x80000001,0x61, 0xB2,0xC0000002,0x93F, 0xB5,0x80000001,0x3BC, 0xB9,0xC0000002,0x941,
    0x17F,0x80000001,0x73, 0x2B0,0xC0000009,0x943, 0x2E0,0xC0000005,0x94C, 0x340,0x40000002,0x951, 0x343,0x1,0x313,
    0x374,0x1,0x2B9, 0x37E,0x1,0x3B, 0x387,0x1,0xB7, 0x3D0,0xC0000003,0x953, 0x3D5,0xC0000002,0x956,
    0x3F0,0xC0000003,0x958, 0x3F4,0xC0000002,0x95B, 0x3F9,0x80000001,0x3A3, 0xF0C,0x80000001,0xF0B,
    0x10FC,0x80000001,0x10DC, 0x1D2C,0xC0000003,0x95D, 0x1D30,0xC0000003,0x960, 0x1D33,0x80000008,0x47,
    0x1D3C,0xC0000012,0x963, 0x1D4F,0xC000000E,0x975, 0x1D5D,0x80000003,0x3B2, 0x1D60,0xC000000B,0x983,
    0x1D78,0x80000001,0x43D, 0x1D9B,0xC0000009,0x98E, 0x1DA4,0x80000003,0x268, 0x1DA7,0xC0000007,0x997,
    0x1DAE,0x80000004,0x272, 0x1DB2,0xC000000A,0x99E, 0x1DBC,0x80000003,0x290, 0x1DBF,0x80000001,0x3B8,
    0x1F71,0x1,0x3AC, 0x1F73,0x1,0x3AD, 0x1F75,0x1,0x3AE, 0x1F77,0x1,0x3AF, 0x1F79,0x1,0x3CC, 0x1F7B,0x1,0x3CD,
    0x1F7D,0x1,0x3CE, 0x1FBB,0x1,0x386, 0x1FBE,0x1,0x3B9, 0x1FC9,0x1,0x388, 0x1FCB,0x1,0x389, 0x1FD3,0x1,0x390,
    0x1FDB,0x1,0x38A, 0x1FE3,0x1,0x3B0, 0x1FEB,0x1,0x38E, 0x1FEE,0x40000002,0x9A8, 0x1FF9,0x1,0x38C, 0x1FFB,0x1,0x38F,
    0x1FFD,0x1,0xB4, 0x2000,0x40000002,0x9AA, 0x2002,0xC0000009,0x9AC, 0x2011,0x80000001,0x2010, 0x2024,0x80000001,0x2E,
    0x202F,0x80000001,0x20, 0x205F,0x80000001,0x20, 0x2070,0xC0000002,0x9B5, 0x2074,0x80000006,0x34,
    0x207A,0xC0000006,0x9B7, 0x2080,0x8000000A,0x30, 0x208A,0xC0000005,0x9BD, 0x2090,0xC0000006,0x9C2,
    0x2096,0x80000004,0x6B, 0x209A,0xC0000003,0x9C8, 0x2102,0x80000001,0x43, 0x2107,0x80000001,0x190,
    0x210A,0xC000000A,0x9CB, 0x2115,0x80000001,0x4E, 0x2119,0x80000003,0x50, 0x211C,0xC0000002,0x9D5,
    0x2124,0x80000001,0x5A, 0x2126,0x1,0x3A9, 0x2128,0x80000001,0x5A, 0x212A,0x40000002,0x9D7, 0x212C,0xC0000002,0x9D9,
    0x212F,0xC0000003,0x9DB, 0x2133,0xC0000002,0x9DE, 0x2135,0x80000004,0x5D0, 0x2139,0x80000001,0x69,
    0x213C,0xC0000005,0x9E0, 0x2145,0xC0000005,0x9E5, 0x2160,0x80000001,0x49, 0x2164,0x80000001,0x56,
    0x2169,0x80000001,0x58, 0x216C,0xC0000005,0x9EA, 0x2174,0x80000001,0x76, 0x2179,0x80000001,0x78,
    0x217C,0xC0000004,0x9EF, 0x2329,0x40000002,0x9F3, 0x2460,0x80000009,0x31, 0x24B6,0x8000001A,0x41,
    0x24D0,0x8000001A,0x61, 0x24EA,0x80000001,0x30, 0x2C7C,0xC0000002,0x9F5, 0x2D6F,0x80000001,0x2D61,
    0x2E9F,0x80000001,0x6BCD, 0x2EF3,0x80000001,0x9F9F, 0x2F00,0xC00000D6,0x9F7, 0x3000,0x80000001,0x20,
    0x3036,0x80000001,0x3012, 0x3038,0xC0000003,0xACD, 0x3131,0xC0000006,0xAD0, 0x3137,0x80000003,0x1103,
    0x313A,0x80000006,0x11B0, 0x3140,0x80000001,0x111A, 0x3141,0x80000003,0x1106, 0x3144,0x80000001,0x1121,
    0x3145,0x8000000A,0x1109, 0x314F,0x80000015,0x1161, 0x3164,0xC0000014,0xAD6, 0x3178,0x80000005,0x112B,
    0x317D,0xC0000007,0xAEA, 0x3184,0x80000003,0x1157, 0x3187,0xC0000008,0xAF1, 0x3192,0xC000000E,0xAF9,
    0x3244,0xC0000004,0xB07, 0x3260,0xC0000003,0xB0B, 0x3263,0x80000003,0x1105, 0x3266,0xC0000003,0xB0E,
    0x3269,0x80000005,0x110E, 0x3280,0xC0000031,0xB11, 0x32D0,0xC0000014,0xB42, 0x32E4,0x80000006,0x30CA,
    0x32EA,0xC0000004,0xB56, 0x32EE,0x80000005,0x30DE, 0x32F3,0xC0000002,0xB5A, 0x32F5,0x80000006,0x30E8,
    0x32FB,0x80000004,0x30EF, 0xA69C,0xC0000002,0xB5C, 0xA770,0x80000001,0xA76F, 0xA7F8,0xC0000002,0xB5E,
    0xAB5C,0xC0000004,0xB60, 0xF900,0x4000010E,0xB64, 0xFA10,0x1,0x585A, 0xFA12,0x1,0x6674, 0xFA15,0x4000000A,0xC72,
    0xFA20,0x1,0x8612, 0xFA22,0x1,0x8AF8, 0xFA25,0x40000002,0xC7C, 0xFA2A,0x40000044,0xC7E, 0xFA70,0x4000006A,0xCC2,
    0xFB20,0xC0000004,0xD2C, 0xFB24,0x80000003,0x5DB, 0xFB27,0xC0000003,0xD30, 0xFB50,0xC0000062,0xD33,
    0xFBD3,0xC0000017,0xD95, 0xFBFC,0xC0000004,0xDAC, 0xFE10,0xC000000A,0xDB0, 0xFE30,0xC0000011,0xDBA,
    0xFE41,0x80000004,0x300C, 0xFE47,0xC000000C,0xDCB, 0xFE54,0xC0000013,0xDD7, 0xFE68,0xC0000004,0xDEA,
    0xFE80,0xC0000075,0xDEE, 0xFF01,0x8000005E,0x21, 0xFF5F,0xC0000026,0xE63, 0xFF85,0x80000006,0x30CA,
    0xFF8B,0xC0000004,0xE89, 0xFF8F,0x80000005,0x30DE, 0xFF94,0xC0000002,0xE8D, 0xFF96,0x80000006,0x30E8,
    0xFF9C,0xC0000005,0xE8F, 0xFFA1,0x8000001E,0x3131, 0xFFC2,0x80000006,0x314F, 0xFFCA,0x80000006,0x3155,
    0xFFD2,0x80000006,0x315B, 0xFFDA,0x80000003,0x3161, 0xFFE0,0xC0000007,0xE94, 0xFFE8,0x80000001,0x2502,
    0xFFE9,0x80000004,0x2190, 0xFFED,0xC0000002,0xE9B, 0x1D400,0x8000001A,0x41, 0x1D41A,0x8000001A,0x61,
    0x1D434,0x8000001A,0x41, 0x1D44E,0x80000007,0x61, 0x1D456,0x80000012,0x69, 0x1D468,0x8000001A,0x41,
    0x1D482,0x8000001A,0x61, 0x1D49C,0x80000001,0x41, 0x1D49E,0xC0000002,0xE9D, 0x1D4A2,0x80000001,0x47,
    0x1D4A5,0xC0000002,0xE9F, 0x1D4A9,0x80000004,0x4E, 0x1D4AE,0x80000008,0x53, 0x1D4B6,0x80000004,0x61,
    0x1D4BB,0x80000001,0x66, 0x1D4BD,0x80000007,0x68, 0x1D4C5,0x8000000B,0x70, 0x1D4D0,0x8000001A,0x41,
    0x1D4EA,0x8000001A,0x61, 0x1D504,0xC0000002,0xEA1, 0x1D507,0x80000004,0x44, 0x1D50D,0x80000008,0x4A,
    0x1D516,0x80000007,0x53, 0x1D51E,0x8000001A,0x61, 0x1D538,0xC0000002,0xEA3, 0x1D53B,0x80000004,0x44,
    0x1D540,0x80000005,0x49, 0x1D546,0x80000001,0x4F, 0x1D54A,0x80000007,0x53, 0x1D552,0x8000001A,0x61,
    0x1D56C,0x8000001A,0x41, 0x1D586,0x8000001A,0x61, 0x1D5A0,0x8000001A,0x41, 0x1D5BA,0x8000001A,0x61,
    0x1D5D4,0x8000001A,0x41, 0x1D5EE,0x8000001A,0x61, 0x1D608,0x8000001A,0x41, 0x1D622,0x8000001A,0x61,
    0x1D63C,0x8000001A,0x41, 0x1D656,0x8000001A,0x61, 0x1D670,0x8000001A,0x41, 0x1D68A,0x8000001A,0x61,
    0x1D6A4,0xC0000002,0xEA5, 0x1D6A8,0x80000011,0x391, 0x1D6B9,0x80000001,0x3F4, 0x1D6BA,0x80000007,0x3A3,
    0x1D6C1,0x80000001,0x2207, 0x1D6C2,0x80000019,0x3B1, 0x1D6DB,0xC0000007,0xEA7, 0x1D6E2,0x80000011,0x391,
    0x1D6F3,0x80000001,0x3F4, 0x1D6F4,0x80000007,0x3A3, 0x1D6FB,0x80000001,0x2207, 0x1D6FC,0x80000019,0x3B1,
    0x1D715,0xC0000007,0xEAE, 0x1D71C,0x80000011,0x391, 0x1D72D,0x80000001,0x3F4, 0x1D72E,0x80000007,0x3A3,
    0x1D735,0x80000001,0x2207, 0x1D736,0x80000019,0x3B1, 0x1D74F,0xC0000007,0xEB5, 0x1D756,0x80000011,0x391,
    0x1D767,0x80000001,0x3F4, 0x1D768,0x80000007,0x3A3, 0x1D76F,0x80000001,0x2207, 0x1D770,0x80000019,0x3B1,
    0x1D789,0xC0000007,0xEBC, 0x1D790,0x80000011,0x391, 0x1D7A1,0x80000001,0x3F4, 0x1D7A2,0x80000007,0x3A3,
    0x1D7A9,0x80000001,0x2207, 0x1D7AA,0x80000019,0x3B1, 0x1D7C3,0xC0000009,0xEC3, 0x1D7CE,0x8000000A,0x30,
    0x1D7D8,0x8000000A,0x30, 0x1D7E2,0x8000000A,0x30, 0x1D7EC,0x8000000A,0x30, 0x1D7F6,0x8000000A,0x30,
    0x1EE00,0xC0000004,0xECC, 0x1EE05,0xC0000005,0xED0, 0x1EE0A,0x80000004,0x643, 0x1EE0E,0xC0000012,0xED5,
    0x1EE21,0xC0000002,0xEE7, 0x1EE24,0x80000001,0x647, 0x1EE27,0x80000001,0x62D, 0x1EE29,0x80000001,0x64A,
    0x1EE2A,0x80000004,0x643, 0x1EE2E,0xC0000005,0xEE9, 0x1EE34,0xC0000004,0xEEE, 0x1EE39,0x80000001,0x636,
    0x1EE3B,0x80000001,0x63A, 0x1EE42,0x80000001,0x62C, 0x1EE47,0x80000001,0x62D, 0x1EE49,0x80000001,0x64A,
    0x1EE4B,0x80000001,0x644, 0x1EE4D,0xC0000003,0xEF2, 0x1EE51,0xC0000002,0xEF5, 0x1EE54,0x80000001,0x634,
    0x1EE57,0x80000001,0x62E, 0x1EE59,0x80000001,0x636, 0x1EE5B,0x80000001,0x63A, 0x1EE5D,0x80000001,0x6BA,
    0x1EE5F,0x80000001,0x66F, 0x1EE61,0xC0000002,0xEF7, 0x1EE64,0x80000001,0x647, 0x1EE67,0xC0000004,0xEF9,
    0x1EE6C,0xC0000007,0xEFD, 0x1EE74,0xC0000004,0xF04, 0x1EE79,0xC0000004,0xF08, 0x1EE7E,0x80000001,0x6A1,
    0x1EE80,0xC000000A,0xF0C, 0x1EE8B,0x80000003,0x644, 0x1EE8E,0xC000000E,0xF16, 0x1EEA1,0xC0000003,0xF24,
    0x1EEA5,0xC0000005,0xF27, 0x1EEAB,0x80000003,0x644, 0x1EEAE,0xC000000E,0xF2C, 0x1F12B,0xC0000002,0xF3A,
    0x1F130,0x8000001A,0x41, 0x1F202,0x80000001,0x30B5, 0x1F210,0xC000002C,0xF3C, 0x1F250,0xC0000002,0xF68,
    0x2F800,0x4000021E,0xF6A,
};

/* Canonical decompositions to two: code point, first, second. Without Hangul, whose rule is arithmetic. */
static const uint32_t kvs__dc_pairs[] = {
    0xC0,0x41,0x300, 0xC1,0x41,0x301, 0xC2,0x41,0x302, 0xC3,0x41,0x303, 0xC4,0x41,0x308, 0xC5,0x41,0x30A,
    0xC7,0x43,0x327, 0xC8,0x45,0x300, 0xC9,0x45,0x301, 0xCA,0x45,0x302, 0xCB,0x45,0x308, 0xCC,0x49,0x300,
    0xCD,0x49,0x301, 0xCE,0x49,0x302, 0xCF,0x49,0x308, 0xD1,0x4E,0x303, 0xD2,0x4F,0x300, 0xD3,0x4F,0x301,
    0xD4,0x4F,0x302, 0xD5,0x4F,0x303, 0xD6,0x4F,0x308, 0xD9,0x55,0x300, 0xDA,0x55,0x301, 0xDB,0x55,0x302,
    0xDC,0x55,0x308, 0xDD,0x59,0x301, 0xE0,0x61,0x300, 0xE1,0x61,0x301, 0xE2,0x61,0x302, 0xE3,0x61,0x303,
    0xE4,0x61,0x308, 0xE5,0x61,0x30A, 0xE7,0x63,0x327, 0xE8,0x65,0x300, 0xE9,0x65,0x301, 0xEA,0x65,0x302,
    0xEB,0x65,0x308, 0xEC,0x69,0x300, 0xED,0x69,0x301, 0xEE,0x69,0x302, 0xEF,0x69,0x308, 0xF1,0x6E,0x303,
    0xF2,0x6F,0x300, 0xF3,0x6F,0x301, 0xF4,0x6F,0x302, 0xF5,0x6F,0x303, 0xF6,0x6F,0x308, 0xF9,0x75,0x300,
    0xFA,0x75,0x301, 0xFB,0x75,0x302, 0xFC,0x75,0x308, 0xFD,0x79,0x301, 0xFF,0x79,0x308, 0x100,0x41,0x304,
    0x101,0x61,0x304, 0x102,0x41,0x306, 0x103,0x61,0x306, 0x104,0x41,0x328, 0x105,0x61,0x328, 0x106,0x43,0x301,
    0x107,0x63,0x301, 0x108,0x43,0x302, 0x109,0x63,0x302, 0x10A,0x43,0x307, 0x10B,0x63,0x307, 0x10C,0x43,0x30C,
    0x10D,0x63,0x30C, 0x10E,0x44,0x30C, 0x10F,0x64,0x30C, 0x112,0x45,0x304, 0x113,0x65,0x304, 0x114,0x45,0x306,
    0x115,0x65,0x306, 0x116,0x45,0x307, 0x117,0x65,0x307, 0x118,0x45,0x328, 0x119,0x65,0x328, 0x11A,0x45,0x30C,
    0x11B,0x65,0x30C, 0x11C,0x47,0x302, 0x11D,0x67,0x302, 0x11E,0x47,0x306, 0x11F,0x67,0x306, 0x120,0x47,0x307,
    0x121,0x67,0x307, 0x122,0x47,0x327, 0x123,0x67,0x327, 0x124,0x48,0x302, 0x125,0x68,0x302, 0x128,0x49,0x303,
    0x129,0x69,0x303, 0x12A,0x49,0x304, 0x12B,0x69,0x304, 0x12C,0x49,0x306, 0x12D,0x69,0x306, 0x12E,0x49,0x328,
    0x12F,0x69,0x328, 0x130,0x49,0x307, 0x134,0x4A,0x302, 0x135,0x6A,0x302, 0x136,0x4B,0x327, 0x137,0x6B,0x327,
    0x139,0x4C,0x301, 0x13A,0x6C,0x301, 0x13B,0x4C,0x327, 0x13C,0x6C,0x327, 0x13D,0x4C,0x30C, 0x13E,0x6C,0x30C,
    0x143,0x4E,0x301, 0x144,0x6E,0x301, 0x145,0x4E,0x327, 0x146,0x6E,0x327, 0x147,0x4E,0x30C, 0x148,0x6E,0x30C,
    0x14C,0x4F,0x304, 0x14D,0x6F,0x304, 0x14E,0x4F,0x306, 0x14F,0x6F,0x306, 0x150,0x4F,0x30B, 0x151,0x6F,0x30B,
    0x154,0x52,0x301, 0x155,0x72,0x301, 0x156,0x52,0x327, 0x157,0x72,0x327, 0x158,0x52,0x30C, 0x159,0x72,0x30C,
    0x15A,0x53,0x301, 0x15B,0x73,0x301, 0x15C,0x53,0x302, 0x15D,0x73,0x302, 0x15E,0x53,0x327, 0x15F,0x73,0x327,
    0x160,0x53,0x30C, 0x161,0x73,0x30C, 0x162,0x54,0x327, 0x163,0x74,0x327, 0x164,0x54,0x30C, 0x165,0x74,0x30C,
    0x168,0x55,0x303, 0x169,0x75,0x303, 0x16A,0x55,0x304, 0x16B,0x75,0x304, 0x16C,0x55,0x306, 0x16D,0x75,0x306,
    0x16E,0x55,0x30A, 0x16F,0x75,0x30A, 0x170,0x55,0x30B, 0x171,0x75,0x30B, 0x172,0x55,0x328, 0x173,0x75,0x328,
    0x174,0x57,0x302, 0x175,0x77,0x302, 0x176,0x59,0x302, 0x177,0x79,0x302, 0x178,0x59,0x308, 0x179,0x5A,0x301,
    0x17A,0x7A,0x301, 0x17B,0x5A,0x307, 0x17C,0x7A,0x307, 0x17D,0x5A,0x30C, 0x17E,0x7A,0x30C, 0x1A0,0x4F,0x31B,
    0x1A1,0x6F,0x31B, 0x1AF,0x55,0x31B, 0x1B0,0x75,0x31B, 0x1CD,0x41,0x30C, 0x1CE,0x61,0x30C, 0x1CF,0x49,0x30C,
    0x1D0,0x69,0x30C, 0x1D1,0x4F,0x30C, 0x1D2,0x6F,0x30C, 0x1D3,0x55,0x30C, 0x1D4,0x75,0x30C, 0x1D5,0xDC,0x304,
    0x1D6,0xFC,0x304, 0x1D7,0xDC,0x301, 0x1D8,0xFC,0x301, 0x1D9,0xDC,0x30C, 0x1DA,0xFC,0x30C, 0x1DB,0xDC,0x300,
    0x1DC,0xFC,0x300, 0x1DE,0xC4,0x304, 0x1DF,0xE4,0x304, 0x1E0,0x226,0x304, 0x1E1,0x227,0x304, 0x1E2,0xC6,0x304,
    0x1E3,0xE6,0x304, 0x1E6,0x47,0x30C, 0x1E7,0x67,0x30C, 0x1E8,0x4B,0x30C, 0x1E9,0x6B,0x30C, 0x1EA,0x4F,0x328,
    0x1EB,0x6F,0x328, 0x1EC,0x1EA,0x304, 0x1ED,0x1EB,0x304, 0x1EE,0x1B7,0x30C, 0x1EF,0x292,0x30C, 0x1F0,0x6A,0x30C,
    0x1F4,0x47,0x301, 0x1F5,0x67,0x301, 0x1F8,0x4E,0x300, 0x1F9,0x6E,0x300, 0x1FA,0xC5,0x301, 0x1FB,0xE5,0x301,
    0x1FC,0xC6,0x301, 0x1FD,0xE6,0x301, 0x1FE,0xD8,0x301, 0x1FF,0xF8,0x301, 0x200,0x41,0x30F, 0x201,0x61,0x30F,
    0x202,0x41,0x311, 0x203,0x61,0x311, 0x204,0x45,0x30F, 0x205,0x65,0x30F, 0x206,0x45,0x311, 0x207,0x65,0x311,
    0x208,0x49,0x30F, 0x209,0x69,0x30F, 0x20A,0x49,0x311, 0x20B,0x69,0x311, 0x20C,0x4F,0x30F, 0x20D,0x6F,0x30F,
    0x20E,0x4F,0x311, 0x20F,0x6F,0x311, 0x210,0x52,0x30F, 0x211,0x72,0x30F, 0x212,0x52,0x311, 0x213,0x72,0x311,
    0x214,0x55,0x30F, 0x215,0x75,0x30F, 0x216,0x55,0x311, 0x217,0x75,0x311, 0x218,0x53,0x326, 0x219,0x73,0x326,
    0x21A,0x54,0x326, 0x21B,0x74,0x326, 0x21E,0x48,0x30C, 0x21F,0x68,0x30C, 0x226,0x41,0x307, 0x227,0x61,0x307,
    0x228,0x45,0x327, 0x229,0x65,0x327, 0x22A,0xD6,0x304, 0x22B,0xF6,0x304, 0x22C,0xD5,0x304, 0x22D,0xF5,0x304,
    0x22E,0x4F,0x307, 0x22F,0x6F,0x307, 0x230,0x22E,0x304, 0x231,0x22F,0x304, 0x232,0x59,0x304, 0x233,0x79,0x304,
    0x344,0x308,0x301, 0x385,0xA8,0x301, 0x386,0x391,0x301, 0x388,0x395,0x301, 0x389,0x397,0x301, 0x38A,0x399,0x301,
    0x38C,0x39F,0x301, 0x38E,0x3A5,0x301, 0x38F,0x3A9,0x301, 0x390,0x3CA,0x301, 0x3AA,0x399,0x308, 0x3AB,0x3A5,0x308,
    0x3AC,0x3B1,0x301, 0x3AD,0x3B5,0x301, 0x3AE,0x3B7,0x301, 0x3AF,0x3B9,0x301, 0x3B0,0x3CB,0x301, 0x3CA,0x3B9,0x308,
    0x3CB,0x3C5,0x308, 0x3CC,0x3BF,0x301, 0x3CD,0x3C5,0x301, 0x3CE,0x3C9,0x301, 0x3D3,0x3D2,0x301, 0x3D4,0x3D2,0x308,
    0x400,0x415,0x300, 0x401,0x415,0x308, 0x403,0x413,0x301, 0x407,0x406,0x308, 0x40C,0x41A,0x301, 0x40D,0x418,0x300,
    0x40E,0x423,0x306, 0x419,0x418,0x306, 0x439,0x438,0x306, 0x450,0x435,0x300, 0x451,0x435,0x308, 0x453,0x433,0x301,
    0x457,0x456,0x308, 0x45C,0x43A,0x301, 0x45D,0x438,0x300, 0x45E,0x443,0x306, 0x476,0x474,0x30F, 0x477,0x475,0x30F,
    0x4C1,0x416,0x306, 0x4C2,0x436,0x306, 0x4D0,0x410,0x306, 0x4D1,0x430,0x306, 0x4D2,0x410,0x308, 0x4D3,0x430,0x308,
    0x4D6,0x415,0x306, 0x4D7,0x435,0x306, 0x4DA,0x4D8,0x308, 0x4DB,0x4D9,0x308, 0x4DC,0x416,0x308, 0x4DD,0x436,0x308,
    0x4DE,0x417,0x308, 0x4DF,0x437,0x308, 0x4E2,0x418,0x304, 0x4E3,0x438,0x304, 0x4E4,0x418,0x308, 0x4E5,0x438,0x308,
    0x4E6,0x41E,0x308, 0x4E7,0x43E,0x308, 0x4EA,0x4E8,0x308, 0x4EB,0x4E9,0x308, 0x4EC,0x42D,0x308, 0x4ED,0x44D,0x308,
    0x4EE,0x423,0x304, 0x4EF,0x443,0x304, 0x4F0,0x423,0x308, 0x4F1,0x443,0x308, 0x4F2,0x423,0x30B, 0x4F3,0x443,0x30B,
    0x4F4,0x427,0x308, 0x4F5,0x447,0x308, 0x4F8,0x42B,0x308, 0x4F9,0x44B,0x308, 0x622,0x627,0x653, 0x623,0x627,0x654,
    0x624,0x648,0x654, 0x625,0x627,0x655, 0x626,0x64A,0x654, 0x6C0,0x6D5,0x654, 0x6C2,0x6C1,0x654, 0x6D3,0x6D2,0x654,
    0x929,0x928,0x93C, 0x931,0x930,0x93C, 0x934,0x933,0x93C, 0x958,0x915,0x93C, 0x959,0x916,0x93C, 0x95A,0x917,0x93C,
    0x95B,0x91C,0x93C, 0x95C,0x921,0x93C, 0x95D,0x922,0x93C, 0x95E,0x92B,0x93C, 0x95F,0x92F,0x93C, 0x9CB,0x9C7,0x9BE,
    0x9CC,0x9C7,0x9D7, 0x9DC,0x9A1,0x9BC, 0x9DD,0x9A2,0x9BC, 0x9DF,0x9AF,0x9BC, 0xA33,0xA32,0xA3C, 0xA36,0xA38,0xA3C,
    0xA59,0xA16,0xA3C, 0xA5A,0xA17,0xA3C, 0xA5B,0xA1C,0xA3C, 0xA5E,0xA2B,0xA3C, 0xB48,0xB47,0xB56, 0xB4B,0xB47,0xB3E,
    0xB4C,0xB47,0xB57, 0xB5C,0xB21,0xB3C, 0xB5D,0xB22,0xB3C, 0xB94,0xB92,0xBD7, 0xBCA,0xBC6,0xBBE, 0xBCB,0xBC7,0xBBE,
    0xBCC,0xBC6,0xBD7, 0xC48,0xC46,0xC56, 0xCC0,0xCBF,0xCD5, 0xCC7,0xCC6,0xCD5, 0xCC8,0xCC6,0xCD6, 0xCCA,0xCC6,0xCC2,
    0xCCB,0xCCA,0xCD5, 0xD4A,0xD46,0xD3E, 0xD4B,0xD47,0xD3E, 0xD4C,0xD46,0xD57, 0xDDA,0xDD9,0xDCA, 0xDDC,0xDD9,0xDCF,
    0xDDD,0xDDC,0xDCA, 0xDDE,0xDD9,0xDDF, 0xF43,0xF42,0xFB7, 0xF4D,0xF4C,0xFB7, 0xF52,0xF51,0xFB7, 0xF57,0xF56,0xFB7,
    0xF5C,0xF5B,0xFB7, 0xF69,0xF40,0xFB5, 0xF73,0xF71,0xF72, 0xF75,0xF71,0xF74, 0xF76,0xFB2,0xF80, 0xF78,0xFB3,0xF80,
    0xF81,0xF71,0xF80, 0xF93,0xF92,0xFB7, 0xF9D,0xF9C,0xFB7, 0xFA2,0xFA1,0xFB7, 0xFA7,0xFA6,0xFB7, 0xFAC,0xFAB,0xFB7,
    0xFB9,0xF90,0xFB5, 0x1026,0x1025,0x102E, 0x1B06,0x1B05,0x1B35, 0x1B08,0x1B07,0x1B35, 0x1B0A,0x1B09,0x1B35,
    0x1B0C,0x1B0B,0x1B35, 0x1B0E,0x1B0D,0x1B35, 0x1B12,0x1B11,0x1B35, 0x1B3B,0x1B3A,0x1B35, 0x1B3D,0x1B3C,0x1B35,
    0x1B40,0x1B3E,0x1B35, 0x1B41,0x1B3F,0x1B35, 0x1B43,0x1B42,0x1B35, 0x1E00,0x41,0x325, 0x1E01,0x61,0x325,
    0x1E02,0x42,0x307, 0x1E03,0x62,0x307, 0x1E04,0x42,0x323, 0x1E05,0x62,0x323, 0x1E06,0x42,0x331, 0x1E07,0x62,0x331,
    0x1E08,0xC7,0x301, 0x1E09,0xE7,0x301, 0x1E0A,0x44,0x307, 0x1E0B,0x64,0x307, 0x1E0C,0x44,0x323, 0x1E0D,0x64,0x323,
    0x1E0E,0x44,0x331, 0x1E0F,0x64,0x331, 0x1E10,0x44,0x327, 0x1E11,0x64,0x327, 0x1E12,0x44,0x32D, 0x1E13,0x64,0x32D,
    0x1E14,0x112,0x300, 0x1E15,0x113,0x300, 0x1E16,0x112,0x301, 0x1E17,0x113,0x301, 0x1E18,0x45,0x32D,
    0x1E19,0x65,0x32D, 0x1E1A,0x45,0x330, 0x1E1B,0x65,0x330, 0x1E1C,0x228,0x306, 0x1E1D,0x229,0x306, 0x1E1E,0x46,0x307,
    0x1E1F,0x66,0x307, 0x1E20,0x47,0x304, 0x1E21,0x67,0x304, 0x1E22,0x48,0x307, 0x1E23,0x68,0x307, 0x1E24,0x48,0x323,
    0x1E25,0x68,0x323, 0x1E26,0x48,0x308, 0x1E27,0x68,0x308, 0x1E28,0x48,0x327, 0x1E29,0x68,0x327, 0x1E2A,0x48,0x32E,
    0x1E2B,0x68,0x32E, 0x1E2C,0x49,0x330, 0x1E2D,0x69,0x330, 0x1E2E,0xCF,0x301, 0x1E2F,0xEF,0x301, 0x1E30,0x4B,0x301,
    0x1E31,0x6B,0x301, 0x1E32,0x4B,0x323, 0x1E33,0x6B,0x323, 0x1E34,0x4B,0x331, 0x1E35,0x6B,0x331, 0x1E36,0x4C,0x323,
    0x1E37,0x6C,0x323, 0x1E38,0x1E36,0x304, 0x1E39,0x1E37,0x304, 0x1E3A,0x4C,0x331, 0x1E3B,0x6C,0x331,
    0x1E3C,0x4C,0x32D, 0x1E3D,0x6C,0x32D, 0x1E3E,0x4D,0x301, 0x1E3F,0x6D,0x301, 0x1E40,0x4D,0x307, 0x1E41,0x6D,0x307,
    0x1E42,0x4D,0x323, 0x1E43,0x6D,0x323, 0x1E44,0x4E,0x307, 0x1E45,0x6E,0x307, 0x1E46,0x4E,0x323, 0x1E47,0x6E,0x323,
    0x1E48,0x4E,0x331, 0x1E49,0x6E,0x331, 0x1E4A,0x4E,0x32D, 0x1E4B,0x6E,0x32D, 0x1E4C,0xD5,0x301, 0x1E4D,0xF5,0x301,
    0x1E4E,0xD5,0x308, 0x1E4F,0xF5,0x308, 0x1E50,0x14C,0x300, 0x1E51,0x14D,0x300, 0x1E52,0x14C,0x301,
    0x1E53,0x14D,0x301, 0x1E54,0x50,0x301, 0x1E55,0x70,0x301, 0x1E56,0x50,0x307, 0x1E57,0x70,0x307, 0x1E58,0x52,0x307,
    0x1E59,0x72,0x307, 0x1E5A,0x52,0x323, 0x1E5B,0x72,0x323, 0x1E5C,0x1E5A,0x304, 0x1E5D,0x1E5B,0x304,
    0x1E5E,0x52,0x331, 0x1E5F,0x72,0x331, 0x1E60,0x53,0x307, 0x1E61,0x73,0x307, 0x1E62,0x53,0x323, 0x1E63,0x73,0x323,
    0x1E64,0x15A,0x307, 0x1E65,0x15B,0x307, 0x1E66,0x160,0x307, 0x1E67,0x161,0x307, 0x1E68,0x1E62,0x307,
    0x1E69,0x1E63,0x307, 0x1E6A,0x54,0x307, 0x1E6B,0x74,0x307, 0x1E6C,0x54,0x323, 0x1E6D,0x74,0x323, 0x1E6E,0x54,0x331,
    0x1E6F,0x74,0x331, 0x1E70,0x54,0x32D, 0x1E71,0x74,0x32D, 0x1E72,0x55,0x324, 0x1E73,0x75,0x324, 0x1E74,0x55,0x330,
    0x1E75,0x75,0x330, 0x1E76,0x55,0x32D, 0x1E77,0x75,0x32D, 0x1E78,0x168,0x301, 0x1E79,0x169,0x301, 0x1E7A,0x16A,0x308,
    0x1E7B,0x16B,0x308, 0x1E7C,0x56,0x303, 0x1E7D,0x76,0x303, 0x1E7E,0x56,0x323, 0x1E7F,0x76,0x323, 0x1E80,0x57,0x300,
    0x1E81,0x77,0x300, 0x1E82,0x57,0x301, 0x1E83,0x77,0x301, 0x1E84,0x57,0x308, 0x1E85,0x77,0x308, 0x1E86,0x57,0x307,
    0x1E87,0x77,0x307, 0x1E88,0x57,0x323, 0x1E89,0x77,0x323, 0x1E8A,0x58,0x307, 0x1E8B,0x78,0x307, 0x1E8C,0x58,0x308,
    0x1E8D,0x78,0x308, 0x1E8E,0x59,0x307, 0x1E8F,0x79,0x307, 0x1E90,0x5A,0x302, 0x1E91,0x7A,0x302, 0x1E92,0x5A,0x323,
    0x1E93,0x7A,0x323, 0x1E94,0x5A,0x331, 0x1E95,0x7A,0x331, 0x1E96,0x68,0x331, 0x1E97,0x74,0x308, 0x1E98,0x77,0x30A,
    0x1E99,0x79,0x30A, 0x1E9B,0x17F,0x307, 0x1EA0,0x41,0x323, 0x1EA1,0x61,0x323, 0x1EA2,0x41,0x309, 0x1EA3,0x61,0x309,
    0x1EA4,0xC2,0x301, 0x1EA5,0xE2,0x301, 0x1EA6,0xC2,0x300, 0x1EA7,0xE2,0x300, 0x1EA8,0xC2,0x309, 0x1EA9,0xE2,0x309,
    0x1EAA,0xC2,0x303, 0x1EAB,0xE2,0x303, 0x1EAC,0x1EA0,0x302, 0x1EAD,0x1EA1,0x302, 0x1EAE,0x102,0x301,
    0x1EAF,0x103,0x301, 0x1EB0,0x102,0x300, 0x1EB1,0x103,0x300, 0x1EB2,0x102,0x309, 0x1EB3,0x103,0x309,
    0x1EB4,0x102,0x303, 0x1EB5,0x103,0x303, 0x1EB6,0x1EA0,0x306, 0x1EB7,0x1EA1,0x306, 0x1EB8,0x45,0x323,
    0x1EB9,0x65,0x323, 0x1EBA,0x45,0x309, 0x1EBB,0x65,0x309, 0x1EBC,0x45,0x303, 0x1EBD,0x65,0x303, 0x1EBE,0xCA,0x301,
    0x1EBF,0xEA,0x301, 0x1EC0,0xCA,0x300, 0x1EC1,0xEA,0x300, 0x1EC2,0xCA,0x309, 0x1EC3,0xEA,0x309, 0x1EC4,0xCA,0x303,
    0x1EC5,0xEA,0x303, 0x1EC6,0x1EB8,0x302, 0x1EC7,0x1EB9,0x302, 0x1EC8,0x49,0x309, 0x1EC9,0x69,0x309,
    0x1ECA,0x49,0x323, 0x1ECB,0x69,0x323, 0x1ECC,0x4F,0x323, 0x1ECD,0x6F,0x323, 0x1ECE,0x4F,0x309, 0x1ECF,0x6F,0x309,
    0x1ED0,0xD4,0x301, 0x1ED1,0xF4,0x301, 0x1ED2,0xD4,0x300, 0x1ED3,0xF4,0x300, 0x1ED4,0xD4,0x309, 0x1ED5,0xF4,0x309,
    0x1ED6,0xD4,0x303, 0x1ED7,0xF4,0x303, 0x1ED8,0x1ECC,0x302, 0x1ED9,0x1ECD,0x302, 0x1EDA,0x1A0,0x301,
    0x1EDB,0x1A1,0x301, 0x1EDC,0x1A0,0x300, 0x1EDD,0x1A1,0x300, 0x1EDE,0x1A0,0x309, 0x1EDF,0x1A1,0x309,
    0x1EE0,0x1A0,0x303, 0x1EE1,0x1A1,0x303, 0x1EE2,0x1A0,0x323, 0x1EE3,0x1A1,0x323, 0x1EE4,0x55,0x323,
    0x1EE5,0x75,0x323, 0x1EE6,0x55,0x309, 0x1EE7,0x75,0x309, 0x1EE8,0x1AF,0x301, 0x1EE9,0x1B0,0x301, 0x1EEA,0x1AF,0x300,
    0x1EEB,0x1B0,0x300, 0x1EEC,0x1AF,0x309, 0x1EED,0x1B0,0x309, 0x1EEE,0x1AF,0x303, 0x1EEF,0x1B0,0x303,
    0x1EF0,0x1AF,0x323, 0x1EF1,0x1B0,0x323, 0x1EF2,0x59,0x300, 0x1EF3,0x79,0x300, 0x1EF4,0x59,0x323, 0x1EF5,0x79,0x323,
    0x1EF6,0x59,0x309, 0x1EF7,0x79,0x309, 0x1EF8,0x59,0x303, 0x1EF9,0x79,0x303, 0x1F00,0x3B1,0x313, 0x1F01,0x3B1,0x314,
    0x1F02,0x1F00,0x300, 0x1F03,0x1F01,0x300, 0x1F04,0x1F00,0x301, 0x1F05,0x1F01,0x301, 0x1F06,0x1F00,0x342,
    0x1F07,0x1F01,0x342, 0x1F08,0x391,0x313, 0x1F09,0x391,0x314, 0x1F0A,0x1F08,0x300, 0x1F0B,0x1F09,0x300,
    0x1F0C,0x1F08,0x301, 0x1F0D,0x1F09,0x301, 0x1F0E,0x1F08,0x342, 0x1F0F,0x1F09,0x342, 0x1F10,0x3B5,0x313,
    0x1F11,0x3B5,0x314, 0x1F12,0x1F10,0x300, 0x1F13,0x1F11,0x300, 0x1F14,0x1F10,0x301, 0x1F15,0x1F11,0x301,
    0x1F18,0x395,0x313, 0x1F19,0x395,0x314, 0x1F1A,0x1F18,0x300, 0x1F1B,0x1F19,0x300, 0x1F1C,0x1F18,0x301,
    0x1F1D,0x1F19,0x301, 0x1F20,0x3B7,0x313, 0x1F21,0x3B7,0x314, 0x1F22,0x1F20,0x300, 0x1F23,0x1F21,0x300,
    0x1F24,0x1F20,0x301, 0x1F25,0x1F21,0x301, 0x1F26,0x1F20,0x342, 0x1F27,0x1F21,0x342, 0x1F28,0x397,0x313,
    0x1F29,0x397,0x314, 0x1F2A,0x1F28,0x300, 0x1F2B,0x1F29,0x300, 0x1F2C,0x1F28,0x301, 0x1F2D,0x1F29,0x301,
    0x1F2E,0x1F28,0x342, 0x1F2F,0x1F29,0x342, 0x1F30,0x3B9,0x313, 0x1F31,0x3B9,0x314, 0x1F32,0x1F30,0x300,
    0x1F33,0x1F31,0x300, 0x1F34,0x1F30,0x301, 0x1F35,0x1F31,0x301, 0x1F36,0x1F30,0x342, 0x1F37,0x1F31,0x342,
    0x1F38,0x399,0x313, 0x1F39,0x399,0x314, 0x1F3A,0x1F38,0x300, 0x1F3B,0x1F39,0x300, 0x1F3C,0x1F38,0x301,
    0x1F3D,0x1F39,0x301, 0x1F3E,0x1F38,0x342, 0x1F3F,0x1F39,0x342, 0x1F40,0x3BF,0x313, 0x1F41,0x3BF,0x314,
    0x1F42,0x1F40,0x300, 0x1F43,0x1F41,0x300, 0x1F44,0x1F40,0x301, 0x1F45,0x1F41,0x301, 0x1F48,0x39F,0x313,
    0x1F49,0x39F,0x314, 0x1F4A,0x1F48,0x300, 0x1F4B,0x1F49,0x300, 0x1F4C,0x1F48,0x301, 0x1F4D,0x1F49,0x301,
    0x1F50,0x3C5,0x313, 0x1F51,0x3C5,0x314, 0x1F52,0x1F50,0x300, 0x1F53,0x1F51,0x300, 0x1F54,0x1F50,0x301,
    0x1F55,0x1F51,0x301, 0x1F56,0x1F50,0x342, 0x1F57,0x1F51,0x342, 0x1F59,0x3A5,0x314, 0x1F5B,0x1F59,0x300,
    0x1F5D,0x1F59,0x301, 0x1F5F,0x1F59,0x342, 0x1F60,0x3C9,0x313, 0x1F61,0x3C9,0x314, 0x1F62,0x1F60,0x300,
    0x1F63,0x1F61,0x300, 0x1F64,0x1F60,0x301, 0x1F65,0x1F61,0x301, 0x1F66,0x1F60,0x342, 0x1F67,0x1F61,0x342,
    0x1F68,0x3A9,0x313, 0x1F69,0x3A9,0x314, 0x1F6A,0x1F68,0x300, 0x1F6B,0x1F69,0x300, 0x1F6C,0x1F68,0x301,
    0x1F6D,0x1F69,0x301, 0x1F6E,0x1F68,0x342, 0x1F6F,0x1F69,0x342, 0x1F70,0x3B1,0x300, 0x1F72,0x3B5,0x300,
    0x1F74,0x3B7,0x300, 0x1F76,0x3B9,0x300, 0x1F78,0x3BF,0x300, 0x1F7A,0x3C5,0x300, 0x1F7C,0x3C9,0x300,
    0x1F80,0x1F00,0x345, 0x1F81,0x1F01,0x345, 0x1F82,0x1F02,0x345, 0x1F83,0x1F03,0x345, 0x1F84,0x1F04,0x345,
    0x1F85,0x1F05,0x345, 0x1F86,0x1F06,0x345, 0x1F87,0x1F07,0x345, 0x1F88,0x1F08,0x345, 0x1F89,0x1F09,0x345,
    0x1F8A,0x1F0A,0x345, 0x1F8B,0x1F0B,0x345, 0x1F8C,0x1F0C,0x345, 0x1F8D,0x1F0D,0x345, 0x1F8E,0x1F0E,0x345,
    0x1F8F,0x1F0F,0x345, 0x1F90,0x1F20,0x345, 0x1F91,0x1F21,0x345, 0x1F92,0x1F22,0x345, 0x1F93,0x1F23,0x345,
    0x1F94,0x1F24,0x345, 0x1F95,0x1F25,0x345, 0x1F96,0x1F26,0x345, 0x1F97,0x1F27,0x345, 0x1F98,0x1F28,0x345,
    0x1F99,0x1F29,0x345, 0x1F9A,0x1F2A,0x345, 0x1F9B,0x1F2B,0x345, 0x1F9C,0x1F2C,0x345, 0x1F9D,0x1F2D,0x345,
    0x1F9E,0x1F2E,0x345, 0x1F9F,0x1F2F,0x345, 0x1FA0,0x1F60,0x345, 0x1FA1,0x1F61,0x345, 0x1FA2,0x1F62,0x345,
    0x1FA3,0x1F63,0x345, 0x1FA4,0x1F64,0x345, 0x1FA5,0x1F65,0x345, 0x1FA6,0x1F66,0x345, 0x1FA7,0x1F67,0x345,
    0x1FA8,0x1F68,0x345, 0x1FA9,0x1F69,0x345, 0x1FAA,0x1F6A,0x345, 0x1FAB,0x1F6B,0x345, 0x1FAC,0x1F6C,0x345,
    0x1FAD,0x1F6D,0x345, 0x1FAE,0x1F6E,0x345, 0x1FAF,0x1F6F,0x345, 0x1FB0,0x3B1,0x306, 0x1FB1,0x3B1,0x304,
    0x1FB2,0x1F70,0x345, 0x1FB3,0x3B1,0x345, 0x1FB4,0x3AC,0x345, 0x1FB6,0x3B1,0x342, 0x1FB7,0x1FB6,0x345,
    0x1FB8,0x391,0x306, 0x1FB9,0x391,0x304, 0x1FBA,0x391,0x300, 0x1FBC,0x391,0x345, 0x1FC1,0xA8,0x342,
    0x1FC2,0x1F74,0x345, 0x1FC3,0x3B7,0x345, 0x1FC4,0x3AE,0x345, 0x1FC6,0x3B7,0x342, 0x1FC7,0x1FC6,0x345,
    0x1FC8,0x395,0x300, 0x1FCA,0x397,0x300, 0x1FCC,0x397,0x345, 0x1FCD,0x1FBF,0x300, 0x1FCE,0x1FBF,0x301,
    0x1FCF,0x1FBF,0x342, 0x1FD0,0x3B9,0x306, 0x1FD1,0x3B9,0x304, 0x1FD2,0x3CA,0x300, 0x1FD6,0x3B9,0x342,
    0x1FD7,0x3CA,0x342, 0x1FD8,0x399,0x306, 0x1FD9,0x399,0x304, 0x1FDA,0x399,0x300, 0x1FDD,0x1FFE,0x300,
    0x1FDE,0x1FFE,0x301, 0x1FDF,0x1FFE,0x342, 0x1FE0,0x3C5,0x306, 0x1FE1,0x3C5,0x304, 0x1FE2,0x3CB,0x300,
    0x1FE4,0x3C1,0x313, 0x1FE5,0x3C1,0x314, 0x1FE6,0x3C5,0x342, 0x1FE7,0x3CB,0x342, 0x1FE8,0x3A5,0x306,
    0x1FE9,0x3A5,0x304, 0x1FEA,0x3A5,0x300, 0x1FEC,0x3A1,0x314, 0x1FED,0xA8,0x300, 0x1FF2,0x1F7C,0x345,
    0x1FF3,0x3C9,0x345, 0x1FF4,0x3CE,0x345, 0x1FF6,0x3C9,0x342, 0x1FF7,0x1FF6,0x345, 0x1FF8,0x39F,0x300,
    0x1FFA,0x3A9,0x300, 0x1FFC,0x3A9,0x345, 0x219A,0x2190,0x338, 0x219B,0x2192,0x338, 0x21AE,0x2194,0x338,
    0x21CD,0x21D0,0x338, 0x21CE,0x21D4,0x338, 0x21CF,0x21D2,0x338, 0x2204,0x2203,0x338, 0x2209,0x2208,0x338,
    0x220C,0x220B,0x338, 0x2224,0x2223,0x338, 0x2226,0x2225,0x338, 0x2241,0x223C,0x338, 0x2244,0x2243,0x338,
    0x2247,0x2245,0x338, 0x2249,0x2248,0x338, 0x2260,0x3D,0x338, 0x2262,0x2261,0x338, 0x226D,0x224D,0x338,
    0x226E,0x3C,0x338, 0x226F,0x3E,0x338, 0x2270,0x2264,0x338, 0x2271,0x2265,0x338, 0x2274,0x2272,0x338,
    0x2275,0x2273,0x338, 0x2278,0x2276,0x338, 0x2279,0x2277,0x338, 0x2280,0x227A,0x338, 0x2281,0x227B,0x338,
    0x2284,0x2282,0x338, 0x2285,0x2283,0x338, 0x2288,0x2286,0x338, 0x2289,0x2287,0x338, 0x22AC,0x22A2,0x338,
    0x22AD,0x22A8,0x338, 0x22AE,0x22A9,0x338, 0x22AF,0x22AB,0x338, 0x22E0,0x227C,0x338, 0x22E1,0x227D,0x338,
    0x22E2,0x2291,0x338, 0x22E3,0x2292,0x338, 0x22EA,0x22B2,0x338, 0x22EB,0x22B3,0x338, 0x22EC,0x22B4,0x338,
    0x22ED,0x22B5,0x338, 0x2ADC,0x2ADD,0x338, 0x304C,0x304B,0x3099, 0x304E,0x304D,0x3099, 0x3050,0x304F,0x3099,
    0x3052,0x3051,0x3099, 0x3054,0x3053,0x3099, 0x3056,0x3055,0x3099, 0x3058,0x3057,0x3099, 0x305A,0x3059,0x3099,
    0x305C,0x305B,0x3099, 0x305E,0x305D,0x3099, 0x3060,0x305F,0x3099, 0x3062,0x3061,0x3099, 0x3065,0x3064,0x3099,
    0x3067,0x3066,0x3099, 0x3069,0x3068,0x3099, 0x3070,0x306F,0x3099, 0x3071,0x306F,0x309A, 0x3073,0x3072,0x3099,
    0x3074,0x3072,0x309A, 0x3076,0x3075,0x3099, 0x3077,0x3075,0x309A, 0x3079,0x3078,0x3099, 0x307A,0x3078,0x309A,
    0x307C,0x307B,0x3099, 0x307D,0x307B,0x309A, 0x3094,0x3046,0x3099, 0x309E,0x309D,0x3099, 0x30AC,0x30AB,0x3099,
    0x30AE,0x30AD,0x3099, 0x30B0,0x30AF,0x3099, 0x30B2,0x30B1,0x3099, 0x30B4,0x30B3,0x3099, 0x30B6,0x30B5,0x3099,
    0x30B8,0x30B7,0x3099, 0x30BA,0x30B9,0x3099, 0x30BC,0x30BB,0x3099, 0x30BE,0x30BD,0x3099, 0x30C0,0x30BF,0x3099,
    0x30C2,0x30C1,0x3099, 0x30C5,0x30C4,0x3099, 0x30C7,0x30C6,0x3099, 0x30C9,0x30C8,0x3099, 0x30D0,0x30CF,0x3099,
    0x30D1,0x30CF,0x309A, 0x30D3,0x30D2,0x3099, 0x30D4,0x30D2,0x309A, 0x30D6,0x30D5,0x3099, 0x30D7,0x30D5,0x309A,
    0x30D9,0x30D8,0x3099, 0x30DA,0x30D8,0x309A, 0x30DC,0x30DB,0x3099, 0x30DD,0x30DB,0x309A, 0x30F4,0x30A6,0x3099,
    0x30F7,0x30EF,0x3099, 0x30F8,0x30F0,0x3099, 0x30F9,0x30F1,0x3099, 0x30FA,0x30F2,0x3099, 0x30FE,0x30FD,0x3099,
    0xFB1D,0x5D9,0x5B4, 0xFB1F,0x5F2,0x5B7, 0xFB2A,0x5E9,0x5C1, 0xFB2B,0x5E9,0x5C2, 0xFB2C,0xFB49,0x5C1,
    0xFB2D,0xFB49,0x5C2, 0xFB2E,0x5D0,0x5B7, 0xFB2F,0x5D0,0x5B8, 0xFB30,0x5D0,0x5BC, 0xFB31,0x5D1,0x5BC,
    0xFB32,0x5D2,0x5BC, 0xFB33,0x5D3,0x5BC, 0xFB34,0x5D4,0x5BC, 0xFB35,0x5D5,0x5BC, 0xFB36,0x5D6,0x5BC,
    0xFB38,0x5D8,0x5BC, 0xFB39,0x5D9,0x5BC, 0xFB3A,0x5DA,0x5BC, 0xFB3B,0x5DB,0x5BC, 0xFB3C,0x5DC,0x5BC,
    0xFB3E,0x5DE,0x5BC, 0xFB40,0x5E0,0x5BC, 0xFB41,0x5E1,0x5BC, 0xFB43,0x5E3,0x5BC, 0xFB44,0x5E4,0x5BC,
    0xFB46,0x5E6,0x5BC, 0xFB47,0x5E7,0x5BC, 0xFB48,0x5E8,0x5BC, 0xFB49,0x5E9,0x5BC, 0xFB4A,0x5EA,0x5BC,
    0xFB4B,0x5D5,0x5B9, 0xFB4C,0x5D1,0x5BF, 0xFB4D,0x5DB,0x5BF, 0xFB4E,0x5E4,0x5BF, 0x1109A,0x11099,0x110BA,
    0x1109C,0x1109B,0x110BA, 0x110AB,0x110A5,0x110BA, 0x1112E,0x11131,0x11127, 0x1112F,0x11132,0x11127,
    0x1134B,0x11347,0x1133E, 0x1134C,0x11347,0x11357, 0x114BB,0x114B9,0x114BA, 0x114BC,0x114B9,0x114B0,
    0x114BE,0x114B9,0x114BD, 0x115BA,0x115B8,0x115AF, 0x115BB,0x115B9,0x115AF, 0x1D15E,0x1D157,0x1D165,
    0x1D15F,0x1D158,0x1D165, 0x1D160,0x1D15F,0x1D16E, 0x1D161,0x1D15F,0x1D16F, 0x1D162,0x1D15F,0x1D170,
    0x1D163,0x1D15F,0x1D171, 0x1D164,0x1D15F,0x1D172, 0x1D1BB,0x1D1B9,0x1D165, 0x1D1BC,0x1D1BA,0x1D165,
    0x1D1BD,0x1D1BB,0x1D16E, 0x1D1BE,0x1D1BC,0x1D16E, 0x1D1BF,0x1D1BB,0x1D16F, 0x1D1C0,0x1D1BC,0x1D16F,
};

/* The pairs that compose again, sorted by (first, second): indices into the table above. */
static const uint32_t kvs__dc_order[] = {
    881, 878, 882, 0, 1, 2, 3, 53, 55, 238, 4, 566, 5, 165, 208, 210, 564, 409, 57, 411, 413, 415, 59, 61, 63, 65, 6,
    419, 67, 421, 425, 427, 423, 7, 8, 9, 592, 69, 71, 73, 10, 590, 77, 212, 214, 588, 240, 75, 433, 435, 439, 198, 79,
    441, 81, 83, 187, 85, 87, 443, 447, 236, 445, 449, 451, 11, 12, 13, 89, 91, 93, 97, 14, 604, 167, 216, 218, 606, 95,
    453, 98, 457, 189, 459, 100, 461, 102, 106, 463, 104, 469, 467, 471, 473, 475, 200, 108, 15, 477, 112, 479, 110,
    483, 481, 16, 17, 18, 19, 114, 116, 246, 20, 610, 118, 169, 220, 222, 161, 608, 191, 493, 495, 120, 497, 124, 224,
    226, 499, 122, 503, 126, 128, 505, 132, 507, 232, 130, 515, 136, 517, 234, 134, 521, 519, 21, 22, 23, 138, 140, 142,
    24, 634, 144, 146, 171, 228, 230, 163, 632, 523, 148, 527, 525, 533, 535, 537, 539, 150, 543, 541, 545, 547, 549,
    646, 25, 152, 652, 250, 551, 154, 650, 648, 155, 553, 157, 159, 555, 557, 26, 27, 28, 29, 54, 56, 239, 30, 567, 31,
    166, 209, 211, 565, 410, 58, 412, 414, 416, 60, 62, 64, 66, 32, 420, 68, 422, 426, 428, 424, 33, 34, 35, 593, 70,
    72, 74, 36, 591, 78, 213, 215, 589, 241, 76, 434, 436, 440, 199, 80, 442, 82, 84, 188, 86, 88, 444, 448, 237, 446,
    450, 452, 559, 37, 38, 39, 90, 92, 94, 40, 605, 168, 217, 219, 607, 96, 454, 99, 197, 458, 190, 460, 101, 462, 103,
    107, 464, 105, 470, 468, 472, 474, 476, 201, 109, 41, 478, 113, 480, 111, 484, 482, 42, 43, 44, 45, 115, 117, 247,
    46, 611, 119, 170, 221, 223, 162, 609, 192, 494, 496, 121, 498, 125, 225, 227, 500, 123, 504, 127, 129, 506, 133,
    508, 233, 131, 516, 560, 137, 518, 235, 135, 522, 520, 47, 48, 49, 139, 141, 143, 50, 635, 145, 147, 172, 229, 231,
    164, 633, 524, 149, 528, 526, 534, 536, 538, 540, 151, 544, 542, 561, 546, 548, 550, 647, 51, 153, 653, 251, 552,
    52, 651, 562, 649, 156, 554, 158, 160, 556, 558, 854, 253, 820, 570, 568, 574, 572, 181, 202, 204, 185, 417, 596,
    594, 600, 598, 455, 614, 612, 618, 616, 485, 244, 487, 242, 206, 179, 175, 173, 177, 571, 569, 575, 573, 182, 203,
    205, 186, 418, 597, 595, 601, 599, 456, 615, 613, 619, 617, 486, 245, 488, 243, 207, 180, 176, 174, 178, 580, 578,
    584, 582, 581, 579, 585, 583, 429, 431, 430, 432, 489, 491, 490, 492, 509, 510, 511, 512, 529, 530, 531, 532, 563,
    624, 622, 628, 626, 630, 625, 623, 629, 627, 631, 638, 636, 642, 640, 644, 639, 637, 643, 641, 645, 195, 193, 194,
    183, 184, 437, 438, 248, 249, 196, 818, 254, 817, 816, 662, 663, 819, 826, 255, 676, 677, 827, 256, 690, 691, 828,
    839, 257, 838, 837, 262, 706, 707, 860, 258, 720, 721, 853, 852, 259, 851, 850, 263, 734, 861, 260, 746, 747, 862,
    813, 823, 754, 264, 810, 809, 654, 655, 814, 812, 755, 265, 670, 671, 756, 266, 682, 683, 824, 822, 757, 267, 833,
    832, 269, 698, 699, 835, 758, 271, 714, 715, 846, 847, 759, 272, 844, 843, 270, 726, 727, 848, 760, 273, 738, 739,
    858, 856, 834, 261, 836, 845, 268, 849, 857, 274, 275, 279, 296, 298, 278, 276, 300, 277, 294, 304, 306, 281, 308,
    283, 310, 280, 312, 318, 282, 320, 322, 324, 326, 316, 297, 299, 287, 285, 301, 286, 295, 305, 307, 290, 309, 284,
    311, 289, 313, 319, 291, 321, 323, 325, 327, 317, 288, 292, 293, 302, 303, 314, 315, 328, 329, 331, 330, 332, 334,
    335, 333, 336, 337, 338, 347, 348, 359, 358, 360, 363, 364, 366, 365, 367, 368, 371, 369, 370, 372, 373, 375, 374,
    376, 377, 379, 378, 397, 398, 399, 400, 401, 402, 403, 404, 405, 406, 407, 408, 465, 466, 501, 502, 513, 514, 576,
    586, 577, 587, 602, 603, 620, 621, 656, 658, 660, 761, 657, 659, 661, 762, 763, 764, 765, 766, 767, 768, 664, 666,
    668, 769, 665, 667, 669, 770, 771, 772, 773, 774, 775, 776, 672, 674, 673, 675, 678, 680, 679, 681, 684, 686, 688,
    777, 685, 687, 689, 778, 779, 780, 781, 782, 783, 784, 692, 694, 696, 785, 693, 695, 697, 786, 787, 788, 789, 790,
    791, 792, 700, 702, 704, 701, 703, 705, 708, 710, 712, 709, 711, 713, 716, 718, 717, 719, 722, 724, 723, 725, 728,
    730, 732, 729, 731, 733, 735, 736, 737, 740, 742, 744, 793, 741, 743, 745, 794, 795, 796, 797, 798, 799, 800, 748,
    750, 752, 801, 749, 751, 753, 802, 803, 804, 805, 806, 807, 808, 811, 821, 855, 815, 829, 830, 831, 825, 859, 840,
    841, 842, 863, 864, 865, 866, 868, 867, 869, 870, 871, 872, 873, 874, 875, 876, 877, 880, 879, 883, 884, 885, 886,
    887, 888, 889, 890, 899, 900, 891, 892, 893, 894, 901, 902, 895, 896, 897, 898, 903, 904, 905, 906, 933, 908, 909,
    910, 911, 912, 913, 914, 915, 916, 917, 918, 919, 920, 921, 922, 923, 924, 925, 926, 927, 928, 929, 930, 931, 932,
    934, 960, 935, 936, 937, 938, 939, 940, 941, 942, 943, 944, 945, 946, 947, 948, 949, 950, 951, 952, 953, 954, 955,
    956, 957, 958, 959, 961, 962, 963, 964, 965, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1008, 1007, 1009, 1010, 1011,
};

/* Compatibility decompositions to more: code point, length << 16 | place in the pool. */
static const uint32_t kvs__dc_many[] = {
    0xA8,0x20000, 0xAF,0x20002, 0xB4,0x20004, 0xB8,0x20006, 0xBC,0x30008, 0xBD,0x3000B, 0xBE,0x3000E, 0x132,0x20011,
    0x133,0x20013, 0x13F,0x20015, 0x140,0x20017, 0x149,0x20019, 0x1C4,0x2001B, 0x1C5,0x2001D, 0x1C6,0x2001F,
    0x1C7,0x20021, 0x1C8,0x20023, 0x1C9,0x20025, 0x1CA,0x20027, 0x1CB,0x20029, 0x1CC,0x2002B, 0x1F1,0x2002D,
    0x1F2,0x2002F, 0x1F3,0x20031, 0x2D8,0x20033, 0x2D9,0x20035, 0x2DA,0x20037, 0x2DB,0x20039, 0x2DC,0x2003B,
    0x2DD,0x2003D, 0x37A,0x2003F, 0x384,0x20004, 0x587,0x20041, 0x675,0x20043, 0x676,0x20045, 0x677,0x20047,
    0x678,0x20049, 0xE33,0x2004B, 0xEB3,0x2004D, 0xEDC,0x2004F, 0xEDD,0x20051, 0xF77,0x20053, 0xF79,0x20055,
    0x1E9A,0x20057, 0x1FBD,0x20059, 0x1FBF,0x20059, 0x1FC0,0x2005B, 0x1FFE,0x2005D, 0x2017,0x2005F, 0x2025,0x20061,
    0x2026,0x30063, 0x2033,0x20066, 0x2034,0x30068, 0x2036,0x2006B, 0x2037,0x3006D, 0x203C,0x20070, 0x203E,0x20072,
    0x2047,0x20074, 0x2048,0x20076, 0x2049,0x20078, 0x2057,0x40066, 0x20A8,0x2007A, 0x2100,0x3007C, 0x2101,0x3007F,
    0x2103,0x20082, 0x2105,0x30084, 0x2106,0x30087, 0x2109,0x2008A, 0x2116,0x2008C, 0x2120,0x2008E, 0x2121,0x30090,
    0x2122,0x20093, 0x213B,0x30095, 0x2150,0x30098, 0x2151,0x3009B, 0x2152,0x4009E, 0x2153,0x300A2, 0x2154,0x300A5,
    0x2155,0x300A8, 0x2156,0x300AB, 0x2157,0x300AE, 0x2158,0x300B1, 0x2159,0x300B4, 0x215A,0x300B7, 0x215B,0x300BA,
    0x215C,0x300BD, 0x215D,0x300C0, 0x215E,0x300C3, 0x215F,0x20008, 0x2161,0x200C6, 0x2162,0x300C8, 0x2163,0x200CB,
    0x2165,0x200CD, 0x2166,0x300CF, 0x2167,0x400D2, 0x2168,0x200D6, 0x216A,0x200D8, 0x216B,0x300DA, 0x2171,0x200DD,
    0x2172,0x300DF, 0x2173,0x200E2, 0x2175,0x200E4, 0x2176,0x300E6, 0x2177,0x400E9, 0x2178,0x200ED, 0x217A,0x200EF,
    0x217B,0x300F1, 0x2189,0x300F4, 0x222C,0x200F7, 0x222D,0x300F9, 0x222F,0x200FC, 0x2230,0x300FE, 0x2469,0x200A0,
    0x246A,0x20101, 0x246B,0x20103, 0x246C,0x20105, 0x246D,0x20107, 0x246E,0x20109, 0x246F,0x2010B, 0x2470,0x2010D,
    0x2471,0x2010F, 0x2472,0x20111, 0x2473,0x20113, 0x2474,0x30115, 0x2475,0x30118, 0x2476,0x3011B, 0x2477,0x3011E,
    0x2478,0x30121, 0x2479,0x30124, 0x247A,0x30127, 0x247B,0x3012A, 0x247C,0x3012D, 0x247D,0x40130, 0x247E,0x40134,
    0x247F,0x40138, 0x2480,0x4013C, 0x2481,0x40140, 0x2482,0x40144, 0x2483,0x40148, 0x2484,0x4014C, 0x2485,0x40150,
    0x2486,0x40154, 0x2487,0x40158, 0x2488,0x2015C, 0x2489,0x2015E, 0x248A,0x20160, 0x248B,0x20162, 0x248C,0x20164,
    0x248D,0x20166, 0x248E,0x20168, 0x248F,0x2016A, 0x2490,0x2016C, 0x2491,0x3016E, 0x2492,0x30171, 0x2493,0x30174,
    0x2494,0x30177, 0x2495,0x3017A, 0x2496,0x3017D, 0x2497,0x30180, 0x2498,0x30183, 0x2499,0x30186, 0x249A,0x30189,
    0x249B,0x3018C, 0x249C,0x3018F, 0x249D,0x30192, 0x249E,0x30195, 0x249F,0x30198, 0x24A0,0x3019B, 0x24A1,0x3019E,
    0x24A2,0x301A1, 0x24A3,0x301A4, 0x24A4,0x301A7, 0x24A5,0x301AA, 0x24A6,0x301AD, 0x24A7,0x301B0, 0x24A8,0x301B3,
    0x24A9,0x301B6, 0x24AA,0x301B9, 0x24AB,0x301BC, 0x24AC,0x301BF, 0x24AD,0x301C2, 0x24AE,0x301C5, 0x24AF,0x301C8,
    0x24B0,0x301CB, 0x24B1,0x301CE, 0x24B2,0x301D1, 0x24B3,0x301D4, 0x24B4,0x301D7, 0x24B5,0x301DA, 0x2A0C,0x400F7,
    0x2A74,0x301DD, 0x2A75,0x201E0, 0x2A76,0x301DF, 0x309B,0x201E2, 0x309C,0x201E4, 0x309F,0x201E6, 0x30FF,0x201E8,
    0x3200,0x301EA, 0x3201,0x301ED, 0x3202,0x301F0, 0x3203,0x301F3, 0x3204,0x301F6, 0x3205,0x301F9, 0x3206,0x301FC,
    0x3207,0x301FF, 0x3208,0x30202, 0x3209,0x30205, 0x320A,0x30208, 0x320B,0x3020B, 0x320C,0x3020E, 0x320D,0x30211,
    0x320E,0x40214, 0x320F,0x40218, 0x3210,0x4021C, 0x3211,0x40220, 0x3212,0x40224, 0x3213,0x40228, 0x3214,0x4022C,
    0x3215,0x40230, 0x3216,0x40234, 0x3217,0x40238, 0x3218,0x4023C, 0x3219,0x40240, 0x321A,0x40244, 0x321B,0x40248,
    0x321C,0x4024C, 0x321D,0x70250, 0x321E,0x60257, 0x3220,0x3025D, 0x3221,0x30260, 0x3222,0x30263, 0x3223,0x30266,
    0x3224,0x30269, 0x3225,0x3026C, 0x3226,0x3026F, 0x3227,0x30272, 0x3228,0x30275, 0x3229,0x30278, 0x322A,0x3027B,
    0x322B,0x3027E, 0x322C,0x30281, 0x322D,0x30284, 0x322E,0x30287, 0x322F,0x3028A, 0x3230,0x3028D, 0x3231,0x30290,
    0x3232,0x30293, 0x3233,0x30296, 0x3234,0x30299, 0x3235,0x3029C, 0x3236,0x3029F, 0x3237,0x302A2, 0x3238,0x302A5,
    0x3239,0x302A8, 0x323A,0x302AB, 0x323B,0x302AE, 0x323C,0x302B1, 0x323D,0x302B4, 0x323E,0x302B7, 0x323F,0x302BA,
    0x3240,0x302BD, 0x3241,0x302C0, 0x3242,0x302C3, 0x3243,0x302C6, 0x3250,0x302C9, 0x3251,0x20104, 0x3252,0x202CC,
    0x3253,0x2000D, 0x3254,0x202CE, 0x3255,0x202D0, 0x3256,0x202D2, 0x3257,0x202D4, 0x3258,0x202D6, 0x3259,0x202D8,
    0x325A,0x202DA, 0x325B,0x200A7, 0x325C,0x200A4, 0x325D,0x202DC, 0x325E,0x202DE, 0x325F,0x202E0, 0x326E,0x20215,
    0x326F,0x20219, 0x3270,0x2021D, 0x3271,0x20221, 0x3272,0x20225, 0x3273,0x20229, 0x3274,0x2022D, 0x3275,0x20231,
    0x3276,0x20235, 0x3277,0x20239, 0x3278,0x2023D, 0x3279,0x20241, 0x327A,0x20245, 0x327B,0x20249, 0x327C,0x502E2,
    0x327D,0x402E7, 0x327E,0x202EB, 0x32B1,0x202ED, 0x32B2,0x202EF, 0x32B3,0x202F1, 0x32B4,0x202F3, 0x32B5,0x202F5,
    0x32B6,0x2000A, 0x32B7,0x202CF, 0x32B8,0x202DF, 0x32B9,0x202F7, 0x32BA,0x202F9, 0x32BB,0x202FB, 0x32BC,0x202FD,
    0x32BD,0x202FF, 0x32BE,0x20301, 0x32BF,0x20303, 0x32C0,0x20305, 0x32C1,0x20307, 0x32C2,0x20309, 0x32C3,0x2030B,
    0x32C4,0x2030D, 0x32C5,0x2030F, 0x32C6,0x20311, 0x32C7,0x20313, 0x32C8,0x20315, 0x32C9,0x30317, 0x32CA,0x3031A,
    0x32CB,0x3031D, 0x32CC,0x20320, 0x32CD,0x30322, 0x32CE,0x20325, 0x32CF,0x30327, 0x3300,0x4032A, 0x3301,0x4032E,
    0x3302,0x40332, 0x3303,0x30336, 0x3304,0x40339, 0x3305,0x3033D, 0x3306,0x30340, 0x3307,0x50343, 0x3308,0x40348,
    0x3309,0x3034C, 0x330A,0x3034F, 0x330B,0x30352, 0x330C,0x40355, 0x330D,0x40359, 0x330E,0x3035D, 0x330F,0x30360,
    0x3310,0x20363, 0x3311,0x30365, 0x3312,0x40368, 0x3313,0x4036C, 0x3314,0x20370, 0x3315,0x50372, 0x3316,0x60377,
    0x3317,0x5037D, 0x3318,0x30374, 0x3319,0x50382, 0x331A,0x50387, 0x331B,0x4038C, 0x331C,0x30390, 0x331D,0x30393,
    0x331E,0x30396, 0x331F,0x40399, 0x3320,0x5039D, 0x3321,0x403A2, 0x3322,0x303A6, 0x3323,0x303A9, 0x3324,0x303AC,
    0x3325,0x203AF, 0x3326,0x203B1, 0x3327,0x20385, 0x3328,0x203B3, 0x3329,0x303B5, 0x332A,0x303B8, 0x332B,0x503BB,
    0x332C,0x303C0, 0x332D,0x403C3, 0x332E,0x503C7, 0x332F,0x303CC, 0x3330,0x203CF, 0x3331,0x203D1, 0x3332,0x503D3,
    0x3333,0x403D8, 0x3334,0x503DC, 0x3335,0x303E1, 0x3336,0x503E4, 0x3337,0x203E9, 0x3338,0x303EB, 0x3339,0x303EE,
    0x333A,0x303F1, 0x333B,0x303F4, 0x333C,0x303F7, 0x333D,0x403FA, 0x333E,0x303FE, 0x333F,0x20401, 0x3340,0x30403,
    0x3341,0x30406, 0x3342,0x30409, 0x3343,0x4040C, 0x3344,0x30410, 0x3345,0x30413, 0x3346,0x30416, 0x3347,0x50419,
    0x3348,0x4041E, 0x3349,0x20422, 0x334A,0x50424, 0x334B,0x20429, 0x334C,0x4042B, 0x334D,0x40379, 0x334E,0x3042F,
    0x334F,0x30432, 0x3350,0x30435, 0x3351,0x40438, 0x3352,0x2043C, 0x3353,0x3043E, 0x3354,0x40441, 0x3355,0x20445,
    0x3356,0x50447, 0x3357,0x3037F, 0x3358,0x2044C, 0x3359,0x2044E, 0x335A,0x20450, 0x335B,0x20452, 0x335C,0x20454,
    0x335D,0x20456, 0x335E,0x20458, 0x335F,0x2045A, 0x3360,0x2045C, 0x3361,0x2045E, 0x3362,0x30460, 0x3363,0x30463,
    0x3364,0x30466, 0x3365,0x30469, 0x3366,0x3046C, 0x3367,0x3046F, 0x3368,0x30472, 0x3369,0x30475, 0x336A,0x30478,
    0x336B,0x3047B, 0x336C,0x3047E, 0x336D,0x30481, 0x336E,0x30484, 0x336F,0x30487, 0x3370,0x3048A, 0x3371,0x3048D,
    0x3372,0x20490, 0x3373,0x20492, 0x3374,0x30494, 0x3375,0x20497, 0x3376,0x20499, 0x3377,0x2049B, 0x3378,0x3049D,
    0x3379,0x304A0, 0x337A,0x204A3, 0x337B,0x204A5, 0x337C,0x204A7, 0x337D,0x204A9, 0x337E,0x204AB, 0x337F,0x404AD,
    0x3380,0x204B1, 0x3381,0x204B3, 0x3382,0x204B5, 0x3383,0x204B7, 0x3384,0x204B9, 0x3385,0x204BB, 0x3386,0x204BD,
    0x3387,0x204BF, 0x3388,0x304C1, 0x3389,0x404C4, 0x338A,0x204C8, 0x338B,0x204CA, 0x338C,0x204CC, 0x338D,0x204CE,
    0x338E,0x204D0, 0x338F,0x204D2, 0x3390,0x204D4, 0x3391,0x304D6, 0x3392,0x304D9, 0x3393,0x304DC, 0x3394,0x304DF,
    0x3395,0x204E2, 0x3396,0x204E4, 0x3397,0x204E6, 0x3398,0x204E8, 0x3399,0x204EA, 0x339A,0x204EC, 0x339B,0x204EE,
    0x339C,0x204F0, 0x339D,0x204F2, 0x339E,0x204F4, 0x339F,0x304F6, 0x33A0,0x304F9, 0x33A1,0x2049E, 0x33A2,0x304FC,
    0x33A3,0x304FF, 0x33A4,0x30502, 0x33A5,0x204A1, 0x33A6,0x30505, 0x33A7,0x30508, 0x33A8,0x4050B, 0x33A9,0x2048E,
    0x33AA,0x3050F, 0x33AB,0x30512, 0x33AC,0x30515, 0x33AD,0x30518, 0x33AE,0x5051B, 0x33AF,0x60520, 0x33B0,0x20526,
    0x33B1,0x20528, 0x33B2,0x2052A, 0x33B3,0x2052C, 0x33B4,0x2052E, 0x33B5,0x20530, 0x33B6,0x20532, 0x33B7,0x20534,
    0x33B8,0x20536, 0x33B9,0x20538, 0x33BA,0x2053A, 0x33BB,0x2053C, 0x33BC,0x2053E, 0x33BD,0x20540, 0x33BE,0x20542,
    0x33BF,0x20544, 0x33C0,0x20546, 0x33C1,0x20548, 0x33C2,0x4054A, 0x33C3,0x2054E, 0x33C4,0x20550, 0x33C5,0x2049A,
    0x33C6,0x40552, 0x33C7,0x30556, 0x33C8,0x20559, 0x33C9,0x2055B, 0x33CA,0x2055D, 0x33CB,0x2055F, 0x33CC,0x20561,
    0x33CD,0x20563, 0x33CE,0x20565, 0x33CF,0x20567, 0x33D0,0x20569, 0x33D1,0x2056B, 0x33D2,0x3056D, 0x33D3,0x20570,
    0x33D4,0x20572, 0x33D5,0x30574, 0x33D6,0x30577, 0x33D7,0x2057A, 0x33D8,0x4057C, 0x33D9,0x30580, 0x33DA,0x20583,
    0x33DB,0x2051F, 0x33DC,0x20585, 0x33DD,0x20587, 0x33DE,0x30589, 0x33DF,0x3058C, 0x33E0,0x2058F, 0x33E1,0x20591,
    0x33E2,0x20593, 0x33E3,0x20595, 0x33E4,0x20597, 0x33E5,0x20599, 0x33E6,0x2059B, 0x33E7,0x2059D, 0x33E8,0x2059F,
    0x33E9,0x305A1, 0x33EA,0x305A4, 0x33EB,0x305A7, 0x33EC,0x305AA, 0x33ED,0x305AD, 0x33EE,0x305B0, 0x33EF,0x305B3,
    0x33F0,0x305B6, 0x33F1,0x305B9, 0x33F2,0x305BC, 0x33F3,0x305BF, 0x33F4,0x305C2, 0x33F5,0x305C5, 0x33F6,0x305C8,
    0x33F7,0x305CB, 0x33F8,0x305CE, 0x33F9,0x305D1, 0x33FA,0x305D4, 0x33FB,0x305D7, 0x33FC,0x305DA, 0x33FD,0x305DD,
    0x33FE,0x305E0, 0x33FF,0x305E3, 0xFB00,0x205E6, 0xFB01,0x205E8, 0xFB02,0x205EA, 0xFB03,0x305E7, 0xFB04,0x305EC,
    0xFB05,0x205EF, 0xFB06,0x205F1, 0xFB13,0x205F3, 0xFB14,0x205F5, 0xFB15,0x205F7, 0xFB16,0x205F9, 0xFB17,0x205FB,
    0xFB4F,0x205FD, 0xFBEA,0x205FF, 0xFBEB,0x205FF, 0xFBEC,0x20601, 0xFBED,0x20601, 0xFBEE,0x20603, 0xFBEF,0x20603,
    0xFBF0,0x20605, 0xFBF1,0x20605, 0xFBF2,0x20607, 0xFBF3,0x20607, 0xFBF4,0x20609, 0xFBF5,0x20609, 0xFBF6,0x2060B,
    0xFBF7,0x2060B, 0xFBF8,0x2060B, 0xFBF9,0x2060D, 0xFBFA,0x2060D, 0xFBFB,0x2060D, 0xFC00,0x2060F, 0xFC01,0x20611,
    0xFC02,0x20613, 0xFC03,0x2060D, 0xFC04,0x20615, 0xFC05,0x20617, 0xFC06,0x20619, 0xFC07,0x2061B, 0xFC08,0x2061D,
    0xFC09,0x2061F, 0xFC0A,0x20621, 0xFC0B,0x20623, 0xFC0C,0x20625, 0xFC0D,0x20627, 0xFC0E,0x20629, 0xFC0F,0x2062B,
    0xFC10,0x2062D, 0xFC11,0x2062F, 0xFC12,0x20631, 0xFC13,0x20633, 0xFC14,0x20635, 0xFC15,0x20637, 0xFC16,0x20639,
    0xFC17,0x20638, 0xFC18,0x2063B, 0xFC19,0x2063D, 0xFC1A,0x2063F, 0xFC1B,0x20641, 0xFC1C,0x20643, 0xFC1D,0x20645,
    0xFC1E,0x20647, 0xFC1F,0x20649, 0xFC20,0x2064B, 0xFC21,0x2064D, 0xFC22,0x2064F, 0xFC23,0x20651, 0xFC24,0x20653,
    0xFC25,0x20655, 0xFC26,0x20657, 0xFC27,0x20659, 0xFC28,0x2065B, 0xFC29,0x2065D, 0xFC2A,0x2065F, 0xFC2B,0x20661,
    0xFC2C,0x20663, 0xFC2D,0x20665, 0xFC2E,0x20667, 0xFC2F,0x20669, 0xFC30,0x2066B, 0xFC31,0x2066D, 0xFC32,0x2066F,
    0xFC33,0x20671, 0xFC34,0x20673, 0xFC35,0x20675, 0xFC36,0x20677, 0xFC37,0x20679, 0xFC38,0x2067B, 0xFC39,0x2067D,
    0xFC3A,0x2067F, 0xFC3B,0x20681, 0xFC3C,0x20683, 0xFC3D,0x20685, 0xFC3E,0x20687, 0xFC3F,0x20689, 0xFC40,0x2068B,
    0xFC41,0x2068D, 0xFC42,0x2068F, 0xFC43,0x20691, 0xFC44,0x20693, 0xFC45,0x20695, 0xFC46,0x2063A, 0xFC47,0x2063C,
    0xFC48,0x20697, 0xFC49,0x20699, 0xFC4A,0x2069B, 0xFC4B,0x2069D, 0xFC4C,0x2069F, 0xFC4D,0x206A1, 0xFC4E,0x206A3,
    0xFC4F,0x206A5, 0xFC50,0x206A7, 0xFC51,0x206A9, 0xFC52,0x206AB, 0xFC53,0x206AD, 0xFC54,0x206AF, 0xFC55,0x20636,
    0xFC56,0x206B1, 0xFC57,0x206B3, 0xFC58,0x20694, 0xFC59,0x206B5, 0xFC5A,0x206B0, 0xFC5B,0x206B7, 0xFC5C,0x206B9,
    0xFC5D,0x206BB, 0xFC5E,0x306BD, 0xFC5F,0x306C0, 0xFC60,0x306C3, 0xFC61,0x306C6, 0xFC62,0x306C9, 0xFC63,0x306CC,
    0xFC64,0x206CF, 0xFC65,0x206D1, 0xFC66,0x20613, 0xFC67,0x206D3, 0xFC68,0x2060D, 0xFC69,0x20615, 0xFC6A,0x206D5,
    0xFC6B,0x206D7, 0xFC6C,0x2061D, 0xFC6D,0x206D9, 0xFC6E,0x2061F, 0xFC6F,0x20621, 0xFC70,0x206DB, 0xFC71,0x206DD,
    0xFC72,0x20629, 0xFC73,0x206DF, 0xFC74,0x2062B, 0xFC75,0x2062D, 0xFC76,0x206E1, 0xFC77,0x206E3, 0xFC78,0x20631,
    0xFC79,0x206E5, 0xFC7A,0x20633, 0xFC7B,0x20635, 0xFC7C,0x2066D, 0xFC7D,0x2066F, 0xFC7E,0x20675, 0xFC7F,0x20677,
    0xFC80,0x20679, 0xFC81,0x20681, 0xFC82,0x20683, 0xFC83,0x20685, 0xFC84,0x20687, 0xFC85,0x2068F, 0xFC86,0x20691,
    0xFC87,0x20693, 0xFC88,0x206E7, 0xFC89,0x20697, 0xFC8A,0x206E9, 0xFC8B,0x206EB, 0xFC8C,0x206A3, 0xFC8D,0x206ED,
    0xFC8E,0x206A5, 0xFC8F,0x206A7, 0xFC90,0x206BB, 0xFC91,0x206EF, 0xFC92,0x206F1, 0xFC93,0x20694, 0xFC94,0x2069C,
    0xFC95,0x206B5, 0xFC96,0x206B0, 0xFC97,0x2060F, 0xFC98,0x20611, 0xFC99,0x206F3, 0xFC9A,0x20613, 0xFC9B,0x206F5,
    0xFC9C,0x20617, 0xFC9D,0x20619, 0xFC9E,0x2061B, 0xFC9F,0x2061D, 0xFCA0,0x206F7, 0xFCA1,0x20623, 0xFCA2,0x20625,
    0xFCA3,0x20627, 0xFCA4,0x20629, 0xFCA5,0x206F9, 0xFCA6,0x20631, 0xFCA7,0x20637, 0xFCA8,0x20639, 0xFCA9,0x20638,
    0xFCAA,0x2063B, 0xFCAB,0x2063D, 0xFCAC,0x20641, 0xFCAD,0x20643, 0xFCAE,0x20645, 0xFCAF,0x20647, 0xFCB0,0x20649,
    0xFCB1,0x2064B, 0xFCB2,0x206FB, 0xFCB3,0x2064D, 0xFCB4,0x2064F, 0xFCB5,0x20651, 0xFCB6,0x20653, 0xFCB7,0x20655,
    0xFCB8,0x20657, 0xFCB9,0x2065B, 0xFCBA,0x2065D, 0xFCBB,0x2065F, 0xFCBC,0x20661, 0xFCBD,0x20663, 0xFCBE,0x20665,
    0xFCBF,0x20667, 0xFCC0,0x20669, 0xFCC1,0x2066B, 0xFCC2,0x20671, 0xFCC3,0x20673, 0xFCC4,0x2067B, 0xFCC5,0x2067D,
    0xFCC6,0x2067F, 0xFCC7,0x20681, 0xFCC8,0x20683, 0xFCC9,0x20689, 0xFCCA,0x2068B, 0xFCCB,0x2068D, 0xFCCC,0x2068F,
    0xFCCD,0x206FD, 0xFCCE,0x20695, 0xFCCF,0x2063A, 0xFCD0,0x2063C, 0xFCD1,0x20697, 0xFCD2,0x2069D, 0xFCD3,0x2069F,
    0xFCD4,0x206A1, 0xFCD5,0x206A3, 0xFCD6,0x206FF, 0xFCD7,0x206A9, 0xFCD8,0x206AB, 0xFCD9,0x20701, 0xFCDA,0x20636,
    0xFCDB,0x206B1, 0xFCDC,0x206B3, 0xFCDD,0x20694, 0xFCDE,0x206A8, 0xFCDF,0x20613, 0xFCE0,0x206F5, 0xFCE1,0x2061D,
    0xFCE2,0x206F7, 0xFCE3,0x20629, 0xFCE4,0x206F9, 0xFCE5,0x20631, 0xFCE6,0x20703, 0xFCE7,0x20649, 0xFCE8,0x20705,
    0xFCE9,0x20707, 0xFCEA,0x20709, 0xFCEB,0x20681, 0xFCEC,0x20683, 0xFCED,0x2068F, 0xFCEE,0x206A3, 0xFCEF,0x206FF,
    0xFCF0,0x20694, 0xFCF1,0x206A8, 0xFCF2,0x3070B, 0xFCF3,0x3070E, 0xFCF4,0x30711, 0xFCF5,0x20714, 0xFCF6,0x20716,
    0xFCF7,0x20718, 0xFCF8,0x2071A, 0xFCF9,0x2071C, 0xFCFA,0x2071E, 0xFCFB,0x20720, 0xFCFC,0x20722, 0xFCFD,0x20724,
    0xFCFE,0x20726, 0xFCFF,0x20728, 0xFD00,0x206B2, 0xFD01,0x2072A, 0xFD02,0x2072C, 0xFD03,0x2072E, 0xFD04,0x206B4,
    0xFD05,0x20730, 0xFD06,0x20732, 0xFD07,0x20734, 0xFD08,0x20736, 0xFD09,0x20738, 0xFD0A,0x2073A, 0xFD0B,0x2073C,
    0xFD0C,0x20707, 0xFD0D,0x2073E, 0xFD0E,0x20740, 0xFD0F,0x20742, 0xFD10,0x20744, 0xFD11,0x20714, 0xFD12,0x20716,
    0xFD13,0x20718, 0xFD14,0x2071A, 0xFD15,0x2071C, 0xFD16,0x2071E, 0xFD17,0x20720, 0xFD18,0x20722, 0xFD19,0x20724,
    0xFD1A,0x20726, 0xFD1B,0x20728, 0xFD1C,0x206B2, 0xFD1D,0x2072A, 0xFD1E,0x2072C, 0xFD1F,0x2072E, 0xFD20,0x206B4,
    0xFD21,0x20730, 0xFD22,0x20732, 0xFD23,0x20734, 0xFD24,0x20736, 0xFD25,0x20738, 0xFD26,0x2073A, 0xFD27,0x2073C,
    0xFD28,0x20707, 0xFD29,0x2073E, 0xFD2A,0x20740, 0xFD2B,0x20742, 0xFD2C,0x20744, 0xFD2D,0x20738, 0xFD2E,0x2073A,
    0xFD2F,0x2073C, 0xFD30,0x20707, 0xFD31,0x20705, 0xFD32,0x20709, 0xFD33,0x20659, 0xFD34,0x20643, 0xFD35,0x20645,
    0xFD36,0x20647, 0xFD37,0x20738, 0xFD38,0x2073A, 0xFD39,0x2073C, 0xFD3A,0x20659, 0xFD3B,0x2065B, 0xFD3C,0x20746,
    0xFD3D,0x20746, 0xFD50,0x30748, 0xFD51,0x3074B, 0xFD52,0x3074B, 0xFD53,0x3074E, 0xFD54,0x30751, 0xFD55,0x30754,
    0xFD56,0x30757, 0xFD57,0x3075A, 0xFD58,0x30639, 0xFD59,0x30639, 0xFD5A,0x3075D, 0xFD5B,0x30760, 0xFD5C,0x30763,
    0xFD5D,0x30766, 0xFD5E,0x30769, 0xFD5F,0x3076C, 0xFD60,0x3076C, 0xFD61,0x3076F, 0xFD62,0x30772, 0xFD63,0x30772,
    0xFD64,0x30775, 0xFD65,0x30775, 0xFD66,0x30778, 0xFD67,0x3077B, 0xFD68,0x3077B, 0xFD69,0x3077E, 0xFD6A,0x30781,
    0xFD6B,0x30781, 0xFD6C,0x30784, 0xFD6D,0x30784, 0xFD6E,0x30787, 0xFD6F,0x3078A, 0xFD70,0x3078A, 0xFD71,0x3078D,
    0xFD72,0x3078D, 0xFD73,0x30790, 0xFD74,0x30793, 0xFD75,0x30796, 0xFD76,0x30799, 0xFD77,0x30799, 0xFD78,0x3079C,
    0xFD79,0x3079F, 0xFD7A,0x307A2, 0xFD7B,0x307A5, 0xFD7C,0x307A8, 0xFD7D,0x307A8, 0xFD7E,0x307AB, 0xFD7F,0x307AE,
    0xFD80,0x307B1, 0xFD81,0x307B4, 0xFD82,0x307B7, 0xFD83,0x307BA, 0xFD84,0x307BA, 0xFD85,0x307BD, 0xFD86,0x307BD,
    0xFD87,0x307C0, 0xFD88,0x307C0, 0xFD89,0x307C3, 0xFD8A,0x3063A, 0xFD8B,0x307C6, 0xFD8C,0x307C9, 0xFD8D,0x30695,
    0xFD8E,0x3063C, 0xFD8F,0x307CC, 0xFD92,0x307CF, 0xFD93,0x307D2, 0xFD94,0x307D5, 0xFD95,0x307D8, 0xFD96,0x307DB,
    0xFD97,0x307DE, 0xFD98,0x307DE, 0xFD99,0x307E1, 0xFD9A,0x307E4, 0xFD9B,0x307E7, 0xFD9C,0x307EA, 0xFD9D,0x307EA,
    0xFD9E,0x307ED, 0xFD9F,0x307F0, 0xFDA0,0x307F3, 0xFDA1,0x307F6, 0xFDA2,0x307F9, 0xFDA3,0x307FC, 0xFDA4,0x307FF,
    0xFDA5,0x30802, 0xFDA6,0x30805, 0xFDA7,0x30808, 0xFDA8,0x3080B, 0xFDA9,0x3080E, 0xFDAA,0x30811, 0xFDAB,0x30814,
    0xFDAC,0x30817, 0xFDAD,0x3081A, 0xFDAE,0x306B1, 0xFDAF,0x3081D, 0xFDB0,0x30820, 0xFDB1,0x30823, 0xFDB2,0x30826,
    0xFDB3,0x30829, 0xFDB4,0x307AB, 0xFDB5,0x307B1, 0xFDB6,0x3082C, 0xFDB7,0x3082F, 0xFDB8,0x30832, 0xFDB9,0x30835,
    0xFDBA,0x30838, 0xFDBB,0x3083B, 0xFDBC,0x30838, 0xFDBD,0x30832, 0xFDBE,0x3083E, 0xFDBF,0x30841, 0xFDC0,0x30844,
    0xFDC1,0x30847, 0xFDC2,0x3084A, 0xFDC3,0x3083B, 0xFDC4,0x30796, 0xFDC5,0x30778, 0xFDC6,0x3084D, 0xFDC7,0x30850,
    0xFDF0,0x30853, 0xFDF1,0x30856, 0xFDF2,0x40859, 0xFDF3,0x4085D, 0xFDF4,0x40861, 0xFDF5,0x40865, 0xFDF6,0x40869,
    0xFDF7,0x4086D, 0xFDF8,0x40871, 0xFDF9,0x30875, 0xFDFA,0x120878, 0xFDFB,0x8088A, 0xFDFC,0x40892, 0xFE70,0x20896,
    0xFE71,0x20898, 0xFE72,0x206BD, 0xFE74,0x206C0, 0xFE76,0x206C3, 0xFE77,0x2070B, 0xFE78,0x206C6, 0xFE79,0x2070E,
    0xFE7A,0x206C9, 0xFE7B,0x20711, 0xFE7C,0x206CC, 0xFE7D,0x2089A, 0xFE7E,0x2089C, 0xFE7F,0x2089E, 0xFEF5,0x208A0,
    0xFEF6,0x208A0, 0xFEF7,0x208A2, 0xFEF8,0x208A2, 0xFEF9,0x208A4, 0xFEFA,0x208A4, 0xFEFB,0x2088E, 0xFEFC,0x2088E,
    0x1F100,0x2016F, 0x1F101,0x208A6, 0x1F102,0x208A8, 0x1F103,0x208AA, 0x1F104,0x208AC, 0x1F105,0x208AE,
    0x1F106,0x208B0, 0x1F107,0x208B2, 0x1F108,0x208B4, 0x1F109,0x208B6, 0x1F10A,0x208B8, 0x1F110,0x308BA,
    0x1F111,0x308BD, 0x1F112,0x308C0, 0x1F113,0x308C3, 0x1F114,0x308C6, 0x1F115,0x308C9, 0x1F116,0x308CC,
    0x1F117,0x308CF, 0x1F118,0x308D2, 0x1F119,0x308D5, 0x1F11A,0x308D8, 0x1F11B,0x308DB, 0x1F11C,0x308DE,
    0x1F11D,0x308E1, 0x1F11E,0x308E4, 0x1F11F,0x308E7, 0x1F120,0x308EA, 0x1F121,0x308ED, 0x1F122,0x308F0,
    0x1F123,0x308F3, 0x1F124,0x308F6, 0x1F125,0x308F9, 0x1F126,0x308FC, 0x1F127,0x308FF, 0x1F128,0x30902,
    0x1F129,0x30905, 0x1F12A,0x30908, 0x1F12D,0x2090B, 0x1F12E,0x2090D, 0x1F14A,0x2090F, 0x1F14B,0x20538,
    0x1F14C,0x20911, 0x1F14D,0x20913, 0x1F14E,0x30915, 0x1F14F,0x20918, 0x1F16A,0x2091A, 0x1F16B,0x2091C,
    0x1F190,0x2091E, 0x1F200,0x20920, 0x1F201,0x20922, 0x1F240,0x30924, 0x1F241,0x30927, 0x1F242,0x3092A,
    0x1F243,0x3092D, 0x1F244,0x30930, 0x1F245,0x30933, 0x1F246,0x30936, 0x1F247,0x30939, 0x1F248,0x3093C,
};

/* The pool. */
static const uint32_t kvs__dc_pool[] = {
    0x20, 0x308, 0x20, 0x304, 0x20, 0x301, 0x20, 0x327, 0x31, 0x2044, 0x34, 0x31, 0x2044, 0x32, 0x33, 0x2044, 0x34,
    0x49, 0x4A, 0x69, 0x6A, 0x4C, 0xB7, 0x6C, 0xB7, 0x2BC, 0x6E, 0x44, 0x17D, 0x44, 0x17E, 0x64, 0x17E, 0x4C, 0x4A,
    0x4C, 0x6A, 0x6C, 0x6A, 0x4E, 0x4A, 0x4E, 0x6A, 0x6E, 0x6A, 0x44, 0x5A, 0x44, 0x7A, 0x64, 0x7A, 0x20, 0x306, 0x20,
    0x307, 0x20, 0x30A, 0x20, 0x328, 0x20, 0x303, 0x20, 0x30B, 0x20, 0x345, 0x565, 0x582, 0x627, 0x674, 0x648, 0x674,
    0x6C7, 0x674, 0x64A, 0x674, 0xE4D, 0xE32, 0xECD, 0xEB2, 0xEAB, 0xE99, 0xEAB, 0xEA1, 0xFB2, 0xF81, 0xFB3, 0xF81,
    0x61, 0x2BE, 0x20, 0x313, 0x20, 0x342, 0x20, 0x314, 0x20, 0x333, 0x2E, 0x2E, 0x2E, 0x2E, 0x2E, 0x2032, 0x2032,
    0x2032, 0x2032, 0x2032, 0x2035, 0x2035, 0x2035, 0x2035, 0x2035, 0x21, 0x21, 0x20, 0x305, 0x3F, 0x3F, 0x3F, 0x21,
    0x21, 0x3F, 0x52, 0x73, 0x61, 0x2F, 0x63, 0x61, 0x2F, 0x73, 0xB0, 0x43, 0x63, 0x2F, 0x6F, 0x63, 0x2F, 0x75, 0xB0,
    0x46, 0x4E, 0x6F, 0x53, 0x4D, 0x54, 0x45, 0x4C, 0x54, 0x4D, 0x46, 0x41, 0x58, 0x31, 0x2044, 0x37, 0x31, 0x2044,
    0x39, 0x31, 0x2044, 0x31, 0x30, 0x31, 0x2044, 0x33, 0x32, 0x2044, 0x33, 0x31, 0x2044, 0x35, 0x32, 0x2044, 0x35,
    0x33, 0x2044, 0x35, 0x34, 0x2044, 0x35, 0x31, 0x2044, 0x36, 0x35, 0x2044, 0x36, 0x31, 0x2044, 0x38, 0x33, 0x2044,
    0x38, 0x35, 0x2044, 0x38, 0x37, 0x2044, 0x38, 0x49, 0x49, 0x49, 0x49, 0x49, 0x49, 0x56, 0x56, 0x49, 0x56, 0x49,
    0x49, 0x56, 0x49, 0x49, 0x49, 0x49, 0x58, 0x58, 0x49, 0x58, 0x49, 0x49, 0x69, 0x69, 0x69, 0x69, 0x69, 0x69, 0x76,
    0x76, 0x69, 0x76, 0x69, 0x69, 0x76, 0x69, 0x69, 0x69, 0x69, 0x78, 0x78, 0x69, 0x78, 0x69, 0x69, 0x30, 0x2044, 0x33,
    0x222B, 0x222B, 0x222B, 0x222B, 0x222B, 0x222E, 0x222E, 0x222E, 0x222E, 0x222E, 0x31, 0x31, 0x31, 0x32, 0x31, 0x33,
    0x31, 0x34, 0x31, 0x35, 0x31, 0x36, 0x31, 0x37, 0x31, 0x38, 0x31, 0x39, 0x32, 0x30, 0x28, 0x31, 0x29, 0x28, 0x32,
    0x29, 0x28, 0x33, 0x29, 0x28, 0x34, 0x29, 0x28, 0x35, 0x29, 0x28, 0x36, 0x29, 0x28, 0x37, 0x29, 0x28, 0x38, 0x29,
    0x28, 0x39, 0x29, 0x28, 0x31, 0x30, 0x29, 0x28, 0x31, 0x31, 0x29, 0x28, 0x31, 0x32, 0x29, 0x28, 0x31, 0x33, 0x29,
    0x28, 0x31, 0x34, 0x29, 0x28, 0x31, 0x35, 0x29, 0x28, 0x31, 0x36, 0x29, 0x28, 0x31, 0x37, 0x29, 0x28, 0x31, 0x38,
    0x29, 0x28, 0x31, 0x39, 0x29, 0x28, 0x32, 0x30, 0x29, 0x31, 0x2E, 0x32, 0x2E, 0x33, 0x2E, 0x34, 0x2E, 0x35, 0x2E,
    0x36, 0x2E, 0x37, 0x2E, 0x38, 0x2E, 0x39, 0x2E, 0x31, 0x30, 0x2E, 0x31, 0x31, 0x2E, 0x31, 0x32, 0x2E, 0x31, 0x33,
    0x2E, 0x31, 0x34, 0x2E, 0x31, 0x35, 0x2E, 0x31, 0x36, 0x2E, 0x31, 0x37, 0x2E, 0x31, 0x38, 0x2E, 0x31, 0x39, 0x2E,
    0x32, 0x30, 0x2E, 0x28, 0x61, 0x29, 0x28, 0x62, 0x29, 0x28, 0x63, 0x29, 0x28, 0x64, 0x29, 0x28, 0x65, 0x29, 0x28,
    0x66, 0x29, 0x28, 0x67, 0x29, 0x28, 0x68, 0x29, 0x28, 0x69, 0x29, 0x28, 0x6A, 0x29, 0x28, 0x6B, 0x29, 0x28, 0x6C,
    0x29, 0x28, 0x6D, 0x29, 0x28, 0x6E, 0x29, 0x28, 0x6F, 0x29, 0x28, 0x70, 0x29, 0x28, 0x71, 0x29, 0x28, 0x72, 0x29,
    0x28, 0x73, 0x29, 0x28, 0x74, 0x29, 0x28, 0x75, 0x29, 0x28, 0x76, 0x29, 0x28, 0x77, 0x29, 0x28, 0x78, 0x29, 0x28,
    0x79, 0x29, 0x28, 0x7A, 0x29, 0x3A, 0x3A, 0x3D, 0x3D, 0x3D, 0x20, 0x3099, 0x20, 0x309A, 0x3088, 0x308A, 0x30B3,
    0x30C8, 0x28, 0x1100, 0x29, 0x28, 0x1102, 0x29, 0x28, 0x1103, 0x29, 0x28, 0x1105, 0x29, 0x28, 0x1106, 0x29, 0x28,
    0x1107, 0x29, 0x28, 0x1109, 0x29, 0x28, 0x110B, 0x29, 0x28, 0x110C, 0x29, 0x28, 0x110E, 0x29, 0x28, 0x110F, 0x29,
    0x28, 0x1110, 0x29, 0x28, 0x1111, 0x29, 0x28, 0x1112, 0x29, 0x28, 0x1100, 0x1161, 0x29, 0x28, 0x1102, 0x1161, 0x29,
    0x28, 0x1103, 0x1161, 0x29, 0x28, 0x1105, 0x1161, 0x29, 0x28, 0x1106, 0x1161, 0x29, 0x28, 0x1107, 0x1161, 0x29,
    0x28, 0x1109, 0x1161, 0x29, 0x28, 0x110B, 0x1161, 0x29, 0x28, 0x110C, 0x1161, 0x29, 0x28, 0x110E, 0x1161, 0x29,
    0x28, 0x110F, 0x1161, 0x29, 0x28, 0x1110, 0x1161, 0x29, 0x28, 0x1111, 0x1161, 0x29, 0x28, 0x1112, 0x1161, 0x29,
    0x28, 0x110C, 0x116E, 0x29, 0x28, 0x110B, 0x1169, 0x110C, 0x1165, 0x11AB, 0x29, 0x28, 0x110B, 0x1169, 0x1112,
    0x116E, 0x29, 0x28, 0x4E00, 0x29, 0x28, 0x4E8C, 0x29, 0x28, 0x4E09, 0x29, 0x28, 0x56DB, 0x29, 0x28, 0x4E94, 0x29,
    0x28, 0x516D, 0x29, 0x28, 0x4E03, 0x29, 0x28, 0x516B, 0x29, 0x28, 0x4E5D, 0x29, 0x28, 0x5341, 0x29, 0x28, 0x6708,
    0x29, 0x28, 0x706B, 0x29, 0x28, 0x6C34, 0x29, 0x28, 0x6728, 0x29, 0x28, 0x91D1, 0x29, 0x28, 0x571F, 0x29, 0x28,
    0x65E5, 0x29, 0x28, 0x682A, 0x29, 0x28, 0x6709, 0x29, 0x28, 0x793E, 0x29, 0x28, 0x540D, 0x29, 0x28, 0x7279, 0x29,
    0x28, 0x8CA1, 0x29, 0x28, 0x795D, 0x29, 0x28, 0x52B4, 0x29, 0x28, 0x4EE3, 0x29, 0x28, 0x547C, 0x29, 0x28, 0x5B66,
    0x29, 0x28, 0x76E3, 0x29, 0x28, 0x4F01, 0x29, 0x28, 0x8CC7, 0x29, 0x28, 0x5354, 0x29, 0x28, 0x796D, 0x29, 0x28,
    0x4F11, 0x29, 0x28, 0x81EA, 0x29, 0x28, 0x81F3, 0x29, 0x50, 0x54, 0x45, 0x32, 0x32, 0x32, 0x34, 0x32, 0x35, 0x32,
    0x36, 0x32, 0x37, 0x32, 0x38, 0x32, 0x39, 0x33, 0x30, 0x33, 0x33, 0x33, 0x34, 0x33, 0x35, 0x110E, 0x1161, 0x11B7,
    0x1100, 0x1169, 0x110C, 0x116E, 0x110B, 0x1174, 0x110B, 0x116E, 0x33, 0x36, 0x33, 0x37, 0x33, 0x38, 0x33, 0x39,
    0x34, 0x30, 0x34, 0x34, 0x34, 0x35, 0x34, 0x36, 0x34, 0x37, 0x34, 0x38, 0x34, 0x39, 0x35, 0x30, 0x31, 0x6708, 0x32,
    0x6708, 0x33, 0x6708, 0x34, 0x6708, 0x35, 0x6708, 0x36, 0x6708, 0x37, 0x6708, 0x38, 0x6708, 0x39, 0x6708, 0x31,
    0x30, 0x6708, 0x31, 0x31, 0x6708, 0x31, 0x32, 0x6708, 0x48, 0x67, 0x65, 0x72, 0x67, 0x65, 0x56, 0x4C, 0x54, 0x44,
    0x30A2, 0x30D1, 0x30FC, 0x30C8, 0x30A2, 0x30EB, 0x30D5, 0x30A1, 0x30A2, 0x30F3, 0x30DA, 0x30A2, 0x30A2, 0x30FC,
    0x30EB, 0x30A4, 0x30CB, 0x30F3, 0x30B0, 0x30A4, 0x30F3, 0x30C1, 0x30A6, 0x30A9, 0x30F3, 0x30A8, 0x30B9, 0x30AF,
    0x30FC, 0x30C9, 0x30A8, 0x30FC, 0x30AB, 0x30FC, 0x30AA, 0x30F3, 0x30B9, 0x30AA, 0x30FC, 0x30E0, 0x30AB, 0x30A4,
    0x30EA, 0x30AB, 0x30E9, 0x30C3, 0x30C8, 0x30AB, 0x30ED, 0x30EA, 0x30FC, 0x30AC, 0x30ED, 0x30F3, 0x30AC, 0x30F3,
    0x30DE, 0x30AE, 0x30AC, 0x30AE, 0x30CB, 0x30FC, 0x30AD, 0x30E5, 0x30EA, 0x30FC, 0x30AE, 0x30EB, 0x30C0, 0x30FC,
    0x30AD, 0x30ED, 0x30AD, 0x30ED, 0x30B0, 0x30E9, 0x30E0, 0x30AD, 0x30ED, 0x30E1, 0x30FC, 0x30C8, 0x30EB, 0x30AD,
    0x30ED, 0x30EF, 0x30C3, 0x30C8, 0x30B0, 0x30E9, 0x30E0, 0x30C8, 0x30F3, 0x30AF, 0x30EB, 0x30BC, 0x30A4, 0x30ED,
    0x30AF, 0x30ED, 0x30FC, 0x30CD, 0x30B1, 0x30FC, 0x30B9, 0x30B3, 0x30EB, 0x30CA, 0x30B3, 0x30FC, 0x30DD, 0x30B5,
    0x30A4, 0x30AF, 0x30EB, 0x30B5, 0x30F3, 0x30C1, 0x30FC, 0x30E0, 0x30B7, 0x30EA, 0x30F3, 0x30B0, 0x30BB, 0x30F3,
    0x30C1, 0x30BB, 0x30F3, 0x30C8, 0x30C0, 0x30FC, 0x30B9, 0x30C7, 0x30B7, 0x30C9, 0x30EB, 0x30CA, 0x30CE, 0x30CE,
    0x30C3, 0x30C8, 0x30CF, 0x30A4, 0x30C4, 0x30D1, 0x30FC, 0x30BB, 0x30F3, 0x30C8, 0x30D1, 0x30FC, 0x30C4, 0x30D0,
    0x30FC, 0x30EC, 0x30EB, 0x30D4, 0x30A2, 0x30B9, 0x30C8, 0x30EB, 0x30D4, 0x30AF, 0x30EB, 0x30D4, 0x30B3, 0x30D3,
    0x30EB, 0x30D5, 0x30A1, 0x30E9, 0x30C3, 0x30C9, 0x30D5, 0x30A3, 0x30FC, 0x30C8, 0x30D6, 0x30C3, 0x30B7, 0x30A7,
    0x30EB, 0x30D5, 0x30E9, 0x30F3, 0x30D8, 0x30AF, 0x30BF, 0x30FC, 0x30EB, 0x30DA, 0x30BD, 0x30DA, 0x30CB, 0x30D2,
    0x30D8, 0x30EB, 0x30C4, 0x30DA, 0x30F3, 0x30B9, 0x30DA, 0x30FC, 0x30B8, 0x30D9, 0x30FC, 0x30BF, 0x30DD, 0x30A4,
    0x30F3, 0x30C8, 0x30DC, 0x30EB, 0x30C8, 0x30DB, 0x30F3, 0x30DD, 0x30F3, 0x30C9, 0x30DB, 0x30FC, 0x30EB, 0x30DB,
    0x30FC, 0x30F3, 0x30DE, 0x30A4, 0x30AF, 0x30ED, 0x30DE, 0x30A4, 0x30EB, 0x30DE, 0x30C3, 0x30CF, 0x30DE, 0x30EB,
    0x30AF, 0x30DE, 0x30F3, 0x30B7, 0x30E7, 0x30F3, 0x30DF, 0x30AF, 0x30ED, 0x30F3, 0x30DF, 0x30EA, 0x30DF, 0x30EA,
    0x30D0, 0x30FC, 0x30EB, 0x30E1, 0x30AC, 0x30E1, 0x30AC, 0x30C8, 0x30F3, 0x30E4, 0x30FC, 0x30C9, 0x30E4, 0x30FC,
    0x30EB, 0x30E6, 0x30A2, 0x30F3, 0x30EA, 0x30C3, 0x30C8, 0x30EB, 0x30EA, 0x30E9, 0x30EB, 0x30D4, 0x30FC, 0x30EB,
    0x30FC, 0x30D6, 0x30EB, 0x30EC, 0x30E0, 0x30EC, 0x30F3, 0x30C8, 0x30B2, 0x30F3, 0x30, 0x70B9, 0x31, 0x70B9, 0x32,
    0x70B9, 0x33, 0x70B9, 0x34, 0x70B9, 0x35, 0x70B9, 0x36, 0x70B9, 0x37, 0x70B9, 0x38, 0x70B9, 0x39, 0x70B9, 0x31,
    0x30, 0x70B9, 0x31, 0x31, 0x70B9, 0x31, 0x32, 0x70B9, 0x31, 0x33, 0x70B9, 0x31, 0x34, 0x70B9, 0x31, 0x35, 0x70B9,
    0x31, 0x36, 0x70B9, 0x31, 0x37, 0x70B9, 0x31, 0x38, 0x70B9, 0x31, 0x39, 0x70B9, 0x32, 0x30, 0x70B9, 0x32, 0x31,
    0x70B9, 0x32, 0x32, 0x70B9, 0x32, 0x33, 0x70B9, 0x32, 0x34, 0x70B9, 0x68, 0x50, 0x61, 0x64, 0x61, 0x41, 0x55, 0x62,
    0x61, 0x72, 0x6F, 0x56, 0x70, 0x63, 0x64, 0x6D, 0x64, 0x6D, 0xB2, 0x64, 0x6D, 0xB3, 0x49, 0x55, 0x5E73, 0x6210,
    0x662D, 0x548C, 0x5927, 0x6B63, 0x660E, 0x6CBB, 0x682A, 0x5F0F, 0x4F1A, 0x793E, 0x70, 0x41, 0x6E, 0x41, 0x3BC, 0x41,
    0x6D, 0x41, 0x6B, 0x41, 0x4B, 0x42, 0x4D, 0x42, 0x47, 0x42, 0x63, 0x61, 0x6C, 0x6B, 0x63, 0x61, 0x6C, 0x70, 0x46,
    0x6E, 0x46, 0x3BC, 0x46, 0x3BC, 0x67, 0x6D, 0x67, 0x6B, 0x67, 0x48, 0x7A, 0x6B, 0x48, 0x7A, 0x4D, 0x48, 0x7A, 0x47,
    0x48, 0x7A, 0x54, 0x48, 0x7A, 0x3BC, 0x2113, 0x6D, 0x2113, 0x64, 0x2113, 0x6B, 0x2113, 0x66, 0x6D, 0x6E, 0x6D,
    0x3BC, 0x6D, 0x6D, 0x6D, 0x63, 0x6D, 0x6B, 0x6D, 0x6D, 0x6D, 0xB2, 0x63, 0x6D, 0xB2, 0x6B, 0x6D, 0xB2, 0x6D, 0x6D,
    0xB3, 0x63, 0x6D, 0xB3, 0x6B, 0x6D, 0xB3, 0x6D, 0x2215, 0x73, 0x6D, 0x2215, 0x73, 0xB2, 0x6B, 0x50, 0x61, 0x4D,
    0x50, 0x61, 0x47, 0x50, 0x61, 0x72, 0x61, 0x64, 0x72, 0x61, 0x64, 0x2215, 0x73, 0x72, 0x61, 0x64, 0x2215, 0x73,
    0xB2, 0x70, 0x73, 0x6E, 0x73, 0x3BC, 0x73, 0x6D, 0x73, 0x70, 0x56, 0x6E, 0x56, 0x3BC, 0x56, 0x6D, 0x56, 0x6B, 0x56,
    0x4D, 0x56, 0x70, 0x57, 0x6E, 0x57, 0x3BC, 0x57, 0x6D, 0x57, 0x6B, 0x57, 0x4D, 0x57, 0x6B, 0x3A9, 0x4D, 0x3A9, 0x61,
    0x2E, 0x6D, 0x2E, 0x42, 0x71, 0x63, 0x63, 0x43, 0x2215, 0x6B, 0x67, 0x43, 0x6F, 0x2E, 0x64, 0x42, 0x47, 0x79, 0x68,
    0x61, 0x48, 0x50, 0x69, 0x6E, 0x4B, 0x4B, 0x4B, 0x4D, 0x6B, 0x74, 0x6C, 0x6D, 0x6C, 0x6E, 0x6C, 0x6F, 0x67, 0x6C,
    0x78, 0x6D, 0x62, 0x6D, 0x69, 0x6C, 0x6D, 0x6F, 0x6C, 0x50, 0x48, 0x70, 0x2E, 0x6D, 0x2E, 0x50, 0x50, 0x4D, 0x50,
    0x52, 0x53, 0x76, 0x57, 0x62, 0x56, 0x2215, 0x6D, 0x41, 0x2215, 0x6D, 0x31, 0x65E5, 0x32, 0x65E5, 0x33, 0x65E5,
    0x34, 0x65E5, 0x35, 0x65E5, 0x36, 0x65E5, 0x37, 0x65E5, 0x38, 0x65E5, 0x39, 0x65E5, 0x31, 0x30, 0x65E5, 0x31, 0x31,
    0x65E5, 0x31, 0x32, 0x65E5, 0x31, 0x33, 0x65E5, 0x31, 0x34, 0x65E5, 0x31, 0x35, 0x65E5, 0x31, 0x36, 0x65E5, 0x31,
    0x37, 0x65E5, 0x31, 0x38, 0x65E5, 0x31, 0x39, 0x65E5, 0x32, 0x30, 0x65E5, 0x32, 0x31, 0x65E5, 0x32, 0x32, 0x65E5,
    0x32, 0x33, 0x65E5, 0x32, 0x34, 0x65E5, 0x32, 0x35, 0x65E5, 0x32, 0x36, 0x65E5, 0x32, 0x37, 0x65E5, 0x32, 0x38,
    0x65E5, 0x32, 0x39, 0x65E5, 0x33, 0x30, 0x65E5, 0x33, 0x31, 0x65E5, 0x67, 0x61, 0x6C, 0x66, 0x66, 0x66, 0x69, 0x66,
    0x6C, 0x66, 0x66, 0x6C, 0x17F, 0x74, 0x73, 0x74, 0x574, 0x576, 0x574, 0x565, 0x574, 0x56B, 0x57E, 0x576, 0x574,
    0x56D, 0x5D0, 0x5DC, 0x626, 0x627, 0x626, 0x6D5, 0x626, 0x648, 0x626, 0x6C7, 0x626, 0x6C6, 0x626, 0x6C8, 0x626,
    0x6D0, 0x626, 0x649, 0x626, 0x62C, 0x626, 0x62D, 0x626, 0x645, 0x626, 0x64A, 0x628, 0x62C, 0x628, 0x62D, 0x628,
    0x62E, 0x628, 0x645, 0x628, 0x649, 0x628, 0x64A, 0x62A, 0x62C, 0x62A, 0x62D, 0x62A, 0x62E, 0x62A, 0x645, 0x62A,
    0x649, 0x62A, 0x64A, 0x62B, 0x62C, 0x62B, 0x645, 0x62B, 0x649, 0x62B, 0x64A, 0x62C, 0x62D, 0x62C, 0x645, 0x62D,
    0x645, 0x62E, 0x62C, 0x62E, 0x62D, 0x62E, 0x645, 0x633, 0x62C, 0x633, 0x62D, 0x633, 0x62E, 0x633, 0x645, 0x635,
    0x62D, 0x635, 0x645, 0x636, 0x62C, 0x636, 0x62D, 0x636, 0x62E, 0x636, 0x645, 0x637, 0x62D, 0x637, 0x645, 0x638,
    0x645, 0x639, 0x62C, 0x639, 0x645, 0x63A, 0x62C, 0x63A, 0x645, 0x641, 0x62C, 0x641, 0x62D, 0x641, 0x62E, 0x641,
    0x645, 0x641, 0x649, 0x641, 0x64A, 0x642, 0x62D, 0x642, 0x645, 0x642, 0x649, 0x642, 0x64A, 0x643, 0x627, 0x643,
    0x62C, 0x643, 0x62D, 0x643, 0x62E, 0x643, 0x644, 0x643, 0x645, 0x643, 0x649, 0x643, 0x64A, 0x644, 0x62C, 0x644,
    0x62D, 0x644, 0x62E, 0x644, 0x645, 0x644, 0x649, 0x644, 0x64A, 0x645, 0x62C, 0x645, 0x645, 0x645, 0x649, 0x645,
    0x64A, 0x646, 0x62C, 0x646, 0x62D, 0x646, 0x62E, 0x646, 0x645, 0x646, 0x649, 0x646, 0x64A, 0x647, 0x62C, 0x647,
    0x645, 0x647, 0x649, 0x647, 0x64A, 0x64A, 0x62D, 0x64A, 0x62E, 0x64A, 0x649, 0x630, 0x670, 0x631, 0x670, 0x649,
    0x670, 0x20, 0x64C, 0x651, 0x20, 0x64D, 0x651, 0x20, 0x64E, 0x651, 0x20, 0x64F, 0x651, 0x20, 0x650, 0x651, 0x20,
    0x651, 0x670, 0x626, 0x631, 0x626, 0x632, 0x626, 0x646, 0x628, 0x631, 0x628, 0x632, 0x628, 0x646, 0x62A, 0x631,
    0x62A, 0x632, 0x62A, 0x646, 0x62B, 0x631, 0x62B, 0x632, 0x62B, 0x646, 0x645, 0x627, 0x646, 0x631, 0x646, 0x632,
    0x646, 0x646, 0x64A, 0x631, 0x64A, 0x632, 0x626, 0x62E, 0x626, 0x647, 0x628, 0x647, 0x62A, 0x647, 0x635, 0x62E,
    0x644, 0x647, 0x646, 0x647, 0x647, 0x670, 0x62B, 0x647, 0x633, 0x647, 0x634, 0x645, 0x634, 0x647, 0x640, 0x64E,
    0x651, 0x640, 0x64F, 0x651, 0x640, 0x650, 0x651, 0x637, 0x649, 0x637, 0x64A, 0x639, 0x649, 0x639, 0x64A, 0x63A,
    0x649, 0x63A, 0x64A, 0x633, 0x649, 0x633, 0x64A, 0x634, 0x649, 0x634, 0x64A, 0x62D, 0x649, 0x62C, 0x649, 0x62C,
    0x64A, 0x62E, 0x649, 0x635, 0x649, 0x635, 0x64A, 0x636, 0x649, 0x636, 0x64A, 0x634, 0x62C, 0x634, 0x62D, 0x634,
    0x62E, 0x634, 0x631, 0x633, 0x631, 0x635, 0x631, 0x636, 0x631, 0x627, 0x64B, 0x62A, 0x62C, 0x645, 0x62A, 0x62D,
    0x62C, 0x62A, 0x62D, 0x645, 0x62A, 0x62E, 0x645, 0x62A, 0x645, 0x62C, 0x62A, 0x645, 0x62D, 0x62A, 0x645, 0x62E,
    0x62D, 0x645, 0x64A, 0x62D, 0x645, 0x649, 0x633, 0x62D, 0x62C, 0x633, 0x62C, 0x62D, 0x633, 0x62C, 0x649, 0x633,
    0x645, 0x62D, 0x633, 0x645, 0x62C, 0x633, 0x645, 0x645, 0x635, 0x62D, 0x62D, 0x635, 0x645, 0x645, 0x634, 0x62D,
    0x645, 0x634, 0x62C, 0x64A, 0x634, 0x645, 0x62E, 0x634, 0x645, 0x645, 0x636, 0x62D, 0x649, 0x636, 0x62E, 0x645,
    0x637, 0x645, 0x62D, 0x637, 0x645, 0x645, 0x637, 0x645, 0x64A, 0x639, 0x62C, 0x645, 0x639, 0x645, 0x645, 0x639,
    0x645, 0x649, 0x63A, 0x645, 0x645, 0x63A, 0x645, 0x64A, 0x63A, 0x645, 0x649, 0x641, 0x62E, 0x645, 0x642, 0x645,
    0x62D, 0x642, 0x645, 0x645, 0x644, 0x62D, 0x645, 0x644, 0x62D, 0x64A, 0x644, 0x62D, 0x649, 0x644, 0x62C, 0x62C,
    0x644, 0x62E, 0x645, 0x644, 0x645, 0x62D, 0x645, 0x62D, 0x62C, 0x645, 0x62D, 0x64A, 0x645, 0x62C, 0x62D, 0x645,
    0x62E, 0x645, 0x645, 0x62C, 0x62E, 0x647, 0x645, 0x62C, 0x647, 0x645, 0x645, 0x646, 0x62D, 0x645, 0x646, 0x62D,
    0x649, 0x646, 0x62C, 0x645, 0x646, 0x62C, 0x649, 0x646, 0x645, 0x64A, 0x646, 0x645, 0x649, 0x64A, 0x645, 0x645,
    0x628, 0x62E, 0x64A, 0x62A, 0x62C, 0x64A, 0x62A, 0x62C, 0x649, 0x62A, 0x62E, 0x64A, 0x62A, 0x62E, 0x649, 0x62A,
    0x645, 0x64A, 0x62A, 0x645, 0x649, 0x62C, 0x645, 0x64A, 0x62C, 0x62D, 0x649, 0x62C, 0x645, 0x649, 0x633, 0x62E,
    0x649, 0x635, 0x62D, 0x64A, 0x634, 0x62D, 0x64A, 0x636, 0x62D, 0x64A, 0x644, 0x62C, 0x64A, 0x644, 0x645, 0x64A,
    0x64A, 0x62C, 0x64A, 0x64A, 0x645, 0x64A, 0x645, 0x645, 0x64A, 0x642, 0x645, 0x64A, 0x646, 0x62D, 0x64A, 0x639,
    0x645, 0x64A, 0x643, 0x645, 0x64A, 0x646, 0x62C, 0x62D, 0x645, 0x62E, 0x64A, 0x644, 0x62C, 0x645, 0x643, 0x645,
    0x645, 0x62C, 0x62D, 0x64A, 0x62D, 0x62C, 0x64A, 0x645, 0x62C, 0x64A, 0x641, 0x645, 0x64A, 0x628, 0x62D, 0x64A,
    0x633, 0x62E, 0x64A, 0x646, 0x62C, 0x64A, 0x635, 0x644, 0x6D2, 0x642, 0x644, 0x6D2, 0x627, 0x644, 0x644, 0x647,
    0x627, 0x643, 0x628, 0x631, 0x645, 0x62D, 0x645, 0x62F, 0x635, 0x644, 0x639, 0x645, 0x631, 0x633, 0x648, 0x644,
    0x639, 0x644, 0x64A, 0x647, 0x648, 0x633, 0x644, 0x645, 0x635, 0x644, 0x649, 0x635, 0x644, 0x649, 0x20, 0x627,
    0x644, 0x644, 0x647, 0x20, 0x639, 0x644, 0x64A, 0x647, 0x20, 0x648, 0x633, 0x644, 0x645, 0x62C, 0x644, 0x20, 0x62C,
    0x644, 0x627, 0x644, 0x647, 0x631, 0x6CC, 0x627, 0x644, 0x20, 0x64B, 0x640, 0x64B, 0x640, 0x651, 0x20, 0x652, 0x640,
    0x652, 0x644, 0x622, 0x644, 0x623, 0x644, 0x625, 0x30, 0x2C, 0x31, 0x2C, 0x32, 0x2C, 0x33, 0x2C, 0x34, 0x2C, 0x35,
    0x2C, 0x36, 0x2C, 0x37, 0x2C, 0x38, 0x2C, 0x39, 0x2C, 0x28, 0x41, 0x29, 0x28, 0x42, 0x29, 0x28, 0x43, 0x29, 0x28,
    0x44, 0x29, 0x28, 0x45, 0x29, 0x28, 0x46, 0x29, 0x28, 0x47, 0x29, 0x28, 0x48, 0x29, 0x28, 0x49, 0x29, 0x28, 0x4A,
    0x29, 0x28, 0x4B, 0x29, 0x28, 0x4C, 0x29, 0x28, 0x4D, 0x29, 0x28, 0x4E, 0x29, 0x28, 0x4F, 0x29, 0x28, 0x50, 0x29,
    0x28, 0x51, 0x29, 0x28, 0x52, 0x29, 0x28, 0x53, 0x29, 0x28, 0x54, 0x29, 0x28, 0x55, 0x29, 0x28, 0x56, 0x29, 0x28,
    0x57, 0x29, 0x28, 0x58, 0x29, 0x28, 0x59, 0x29, 0x28, 0x5A, 0x29, 0x3014, 0x53, 0x3015, 0x43, 0x44, 0x57, 0x5A,
    0x48, 0x56, 0x53, 0x44, 0x53, 0x53, 0x50, 0x50, 0x56, 0x57, 0x43, 0x4D, 0x43, 0x4D, 0x44, 0x44, 0x4A, 0x307B,
    0x304B, 0x30B3, 0x30B3, 0x3014, 0x672C, 0x3015, 0x3014, 0x4E09, 0x3015, 0x3014, 0x4E8C, 0x3015, 0x3014, 0x5B89,
    0x3015, 0x3014, 0x70B9, 0x3015, 0x3014, 0x6253, 0x3015, 0x3014, 0x76D7, 0x3015, 0x3014, 0x52DD, 0x3015, 0x3014,
    0x6557, 0x3015, 0x32, 0x33, 0x31, 0x6F, 0x68, 0x266, 0x6A, 0x72, 0x279, 0x27B, 0x281, 0x77, 0x79, 0x263, 0x6C, 0x73,
    0x78, 0x295, 0x300, 0x301, 0x3B2, 0x3B8, 0x3A5, 0x3C6, 0x3C0, 0x3BA, 0x3C1, 0x3C2, 0x398, 0x3B5, 0x41, 0xC6, 0x42,
    0x44, 0x45, 0x18E, 0x4F, 0x222, 0x50, 0x52, 0x54, 0x55, 0x57, 0x61, 0x250, 0x251, 0x1D02, 0x62, 0x64, 0x65, 0x259,
    0x25B, 0x25C, 0x67, 0x6B, 0x6D, 0x14B, 0x6F, 0x254, 0x1D16, 0x1D17, 0x70, 0x74, 0x75, 0x1D1D, 0x26F, 0x76, 0x1D25,
    0x3C6, 0x3C7, 0x69, 0x72, 0x75, 0x76, 0x3B2, 0x3B3, 0x3C1, 0x3C6, 0x3C7, 0x252, 0x63, 0x255, 0xF0, 0x25C, 0x66,
    0x25F, 0x261, 0x265, 0x1D7B, 0x29D, 0x26D, 0x1D85, 0x29F, 0x271, 0x270, 0x278, 0x282, 0x283, 0x1AB, 0x289, 0x28A,
    0x1D1C, 0x28B, 0x28C, 0x7A, 0x385, 0x60, 0x2002, 0x2003, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20, 0x30,
    0x69, 0x2B, 0x2212, 0x3D, 0x28, 0x29, 0x6E, 0x2B, 0x2212, 0x3D, 0x28, 0x29, 0x61, 0x65, 0x6F, 0x78, 0x259, 0x68,
    0x70, 0x73, 0x74, 0x67, 0x48, 0x48, 0x48, 0x68, 0x127, 0x49, 0x49, 0x4C, 0x6C, 0x52, 0x52, 0x4B, 0xC5, 0x42, 0x43,
    0x65, 0x45, 0x46, 0x4D, 0x6F, 0x3C0, 0x3B3, 0x393, 0x3A0, 0x2211, 0x44, 0x64, 0x65, 0x69, 0x6A, 0x4C, 0x43, 0x44,
    0x4D, 0x69, 0x6C, 0x63, 0x64, 0x6D, 0x3008, 0x3009, 0x6A, 0x56, 0x4E00, 0x4E28, 0x4E36, 0x4E3F, 0x4E59, 0x4E85,
    0x4E8C, 0x4EA0, 0x4EBA, 0x513F, 0x5165, 0x516B, 0x5182, 0x5196, 0x51AB, 0x51E0, 0x51F5, 0x5200, 0x529B, 0x52F9,
    0x5315, 0x531A, 0x5338, 0x5341, 0x535C, 0x5369, 0x5382, 0x53B6, 0x53C8, 0x53E3, 0x56D7, 0x571F, 0x58EB, 0x5902,
    0x590A, 0x5915, 0x5927, 0x5973, 0x5B50, 0x5B80, 0x5BF8, 0x5C0F, 0x5C22, 0x5C38, 0x5C6E, 0x5C71, 0x5DDB, 0x5DE5,
    0x5DF1, 0x5DFE, 0x5E72, 0x5E7A, 0x5E7F, 0x5EF4, 0x5EFE, 0x5F0B, 0x5F13, 0x5F50, 0x5F61, 0x5F73, 0x5FC3, 0x6208,
    0x6236, 0x624B, 0x652F, 0x6534, 0x6587, 0x6597, 0x65A4, 0x65B9, 0x65E0, 0x65E5, 0x66F0, 0x6708, 0x6728, 0x6B20,
    0x6B62, 0x6B79, 0x6BB3, 0x6BCB, 0x6BD4, 0x6BDB, 0x6C0F, 0x6C14, 0x6C34, 0x706B, 0x722A, 0x7236, 0x723B, 0x723F,
    0x7247, 0x7259, 0x725B, 0x72AC, 0x7384, 0x7389, 0x74DC, 0x74E6, 0x7518, 0x751F, 0x7528, 0x7530, 0x758B, 0x7592,
    0x7676, 0x767D, 0x76AE, 0x76BF, 0x76EE, 0x77DB, 0x77E2, 0x77F3, 0x793A, 0x79B8, 0x79BE, 0x7A74, 0x7ACB, 0x7AF9,
    0x7C73, 0x7CF8, 0x7F36, 0x7F51, 0x7F8A, 0x7FBD, 0x8001, 0x800C, 0x8012, 0x8033, 0x807F, 0x8089, 0x81E3, 0x81EA,
    0x81F3, 0x81FC, 0x820C, 0x821B, 0x821F, 0x826E, 0x8272, 0x8278, 0x864D, 0x866B, 0x8840, 0x884C, 0x8863, 0x897E,
    0x898B, 0x89D2, 0x8A00, 0x8C37, 0x8C46, 0x8C55, 0x8C78, 0x8C9D, 0x8D64, 0x8D70, 0x8DB3, 0x8EAB, 0x8ECA, 0x8F9B,
    0x8FB0, 0x8FB5, 0x9091, 0x9149, 0x91C6, 0x91CC, 0x91D1, 0x9577, 0x9580, 0x961C, 0x96B6, 0x96B9, 0x96E8, 0x9751,
    0x975E, 0x9762, 0x9769, 0x97CB, 0x97ED, 0x97F3, 0x9801, 0x98A8, 0x98DB, 0x98DF, 0x9996, 0x9999, 0x99AC, 0x9AA8,
    0x9AD8, 0x9ADF, 0x9B25, 0x9B2F, 0x9B32, 0x9B3C, 0x9B5A, 0x9CE5, 0x9E75, 0x9E7F, 0x9EA5, 0x9EBB, 0x9EC3, 0x9ECD,
    0x9ED1, 0x9EF9, 0x9EFD, 0x9F0E, 0x9F13, 0x9F20, 0x9F3B, 0x9F4A, 0x9F52, 0x9F8D, 0x9F9C, 0x9FA0, 0x5341, 0x5344,
    0x5345, 0x1100, 0x1101, 0x11AA, 0x1102, 0x11AC, 0x11AD, 0x1160, 0x1114, 0x1115, 0x11C7, 0x11C8, 0x11CC, 0x11CE,
    0x11D3, 0x11D7, 0x11D9, 0x111C, 0x11DD, 0x11DF, 0x111D, 0x111E, 0x1120, 0x1122, 0x1123, 0x1127, 0x1129, 0x1132,
    0x1136, 0x1140, 0x1147, 0x114C, 0x11F1, 0x11F2, 0x1184, 0x1185, 0x1188, 0x1191, 0x1192, 0x1194, 0x119E, 0x11A1,
    0x4E00, 0x4E8C, 0x4E09, 0x56DB, 0x4E0A, 0x4E2D, 0x4E0B, 0x7532, 0x4E59, 0x4E19, 0x4E01, 0x5929, 0x5730, 0x4EBA,
    0x554F, 0x5E7C, 0x6587, 0x7B8F, 0x1100, 0x1102, 0x1103, 0x1109, 0x110B, 0x110C, 0x4E00, 0x4E8C, 0x4E09, 0x56DB,
    0x4E94, 0x516D, 0x4E03, 0x516B, 0x4E5D, 0x5341, 0x6708, 0x706B, 0x6C34, 0x6728, 0x91D1, 0x571F, 0x65E5, 0x682A,
    0x6709, 0x793E, 0x540D, 0x7279, 0x8CA1, 0x795D, 0x52B4, 0x79D8, 0x7537, 0x5973, 0x9069, 0x512A, 0x5370, 0x6CE8,
    0x9805, 0x4F11, 0x5199, 0x6B63, 0x4E0A, 0x4E2D, 0x4E0B, 0x5DE6, 0x53F3, 0x533B, 0x5B97, 0x5B66, 0x76E3, 0x4F01,
    0x8CC7, 0x5354, 0x591C, 0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA, 0x30AB, 0x30AD, 0x30AF, 0x30B1, 0x30B3, 0x30B5,
    0x30B7, 0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1, 0x30C4, 0x30C6, 0x30C8, 0x30D2, 0x30D5, 0x30D8, 0x30DB, 0x30E4,
    0x30E6, 0x44A, 0x44C, 0x126, 0x153, 0xA727, 0xAB37, 0x26B, 0xAB52, 0x8C48, 0x66F4, 0x8ECA, 0x8CC8, 0x6ED1, 0x4E32,
    0x53E5, 0x9F9C, 0x9F9C, 0x5951, 0x91D1, 0x5587, 0x5948, 0x61F6, 0x7669, 0x7F85, 0x863F, 0x87BA, 0x88F8, 0x908F,
    0x6A02, 0x6D1B, 0x70D9, 0x73DE, 0x843D, 0x916A, 0x99F1, 0x4E82, 0x5375, 0x6B04, 0x721B, 0x862D, 0x9E1E, 0x5D50,
    0x6FEB, 0x85CD, 0x8964, 0x62C9, 0x81D8, 0x881F, 0x5ECA, 0x6717, 0x6D6A, 0x72FC, 0x90CE, 0x4F86, 0x51B7, 0x52DE,
    0x64C4, 0x6AD3, 0x7210, 0x76E7, 0x8001, 0x8606, 0x865C, 0x8DEF, 0x9732, 0x9B6F, 0x9DFA, 0x788C, 0x797F, 0x7DA0,
    0x83C9, 0x9304, 0x9E7F, 0x8AD6, 0x58DF, 0x5F04, 0x7C60, 0x807E, 0x7262, 0x78CA, 0x8CC2, 0x96F7, 0x58D8, 0x5C62,
    0x6A13, 0x6DDA, 0x6F0F, 0x7D2F, 0x7E37, 0x964B, 0x52D2, 0x808B, 0x51DC, 0x51CC, 0x7A1C, 0x7DBE, 0x83F1, 0x9675,
    0x8B80, 0x62CF, 0x6A02, 0x8AFE, 0x4E39, 0x5BE7, 0x6012, 0x7387, 0x7570, 0x5317, 0x78FB, 0x4FBF, 0x5FA9, 0x4E0D,
    0x6CCC, 0x6578, 0x7D22, 0x53C3, 0x585E, 0x7701, 0x8449, 0x8AAA, 0x6BBA, 0x8FB0, 0x6C88, 0x62FE, 0x82E5, 0x63A0,
    0x7565, 0x4EAE, 0x5169, 0x51C9, 0x6881, 0x7CE7, 0x826F, 0x8AD2, 0x91CF, 0x52F5, 0x5442, 0x5973, 0x5EEC, 0x65C5,
    0x6FFE, 0x792A, 0x95AD, 0x9A6A, 0x9E97, 0x9ECE, 0x529B, 0x66C6, 0x6B77, 0x8F62, 0x5E74, 0x6190, 0x6200, 0x649A,
    0x6F23, 0x7149, 0x7489, 0x79CA, 0x7DF4, 0x806F, 0x8F26, 0x84EE, 0x9023, 0x934A, 0x5217, 0x52A3, 0x54BD, 0x70C8,
    0x88C2, 0x8AAA, 0x5EC9, 0x5FF5, 0x637B, 0x6BAE, 0x7C3E, 0x7375, 0x4EE4, 0x56F9, 0x5BE7, 0x5DBA, 0x601C, 0x73B2,
    0x7469, 0x7F9A, 0x8046, 0x9234, 0x96F6, 0x9748, 0x9818, 0x4F8B, 0x79AE, 0x91B4, 0x96B8, 0x60E1, 0x4E86, 0x50DA,
    0x5BEE, 0x5C3F, 0x6599, 0x6A02, 0x71CE, 0x7642, 0x84FC, 0x907C, 0x9F8D, 0x6688, 0x962E, 0x5289, 0x677B, 0x67F3,
    0x6D41, 0x6E9C, 0x7409, 0x7559, 0x786B, 0x7D10, 0x985E, 0x516D, 0x622E, 0x9678, 0x502B, 0x5D19, 0x6DEA, 0x8F2A,
    0x5F8B, 0x6144, 0x6817, 0x7387, 0x9686, 0x5229, 0x540F, 0x5C65, 0x6613, 0x674E, 0x68A8, 0x6CE5, 0x7406, 0x75E2,
    0x7F79, 0x88CF, 0x88E1, 0x91CC, 0x96E2, 0x533F, 0x6EBA, 0x541D, 0x71D0, 0x7498, 0x85FA, 0x96A3, 0x9C57, 0x9E9F,
    0x6797, 0x6DCB, 0x81E8, 0x7ACB, 0x7B20, 0x7C92, 0x72C0, 0x7099, 0x8B58, 0x4EC0, 0x8336, 0x523A, 0x5207, 0x5EA6,
    0x62D3, 0x7CD6, 0x5B85, 0x6D1E, 0x66B4, 0x8F3B, 0x884C, 0x964D, 0x898B, 0x5ED3, 0x5140, 0x55C0, 0x51DE, 0x732A,
    0x76CA, 0x793C, 0x795E, 0x7965, 0x798F, 0x9756, 0x7CBE, 0x7FBD, 0x9038, 0x90FD, 0x98EF, 0x98FC, 0x9928, 0x9DB4,
    0x90DE, 0x96B7, 0x4FAE, 0x50E7, 0x514D, 0x52C9, 0x52E4, 0x5351, 0x559D, 0x5606, 0x5668, 0x5840, 0x58A8, 0x5C64,
    0x5C6E, 0x6094, 0x6168, 0x618E, 0x61F2, 0x654F, 0x65E2, 0x6691, 0x6885, 0x6D77, 0x6E1A, 0x6F22, 0x716E, 0x722B,
    0x7422, 0x7891, 0x793E, 0x7949, 0x7948, 0x7950, 0x7956, 0x795D, 0x798D, 0x798E, 0x7A40, 0x7A81, 0x7BC0, 0x7DF4,
    0x7E09, 0x7E41, 0x7F72, 0x8005, 0x81ED, 0x8279, 0x8279, 0x8457, 0x8910, 0x8996, 0x8B01, 0x8B39, 0x8CD3, 0x8D08,
    0x8FB6, 0x9038, 0x96E3, 0x97FF, 0x983B, 0x6075, 0x242EE, 0x8218, 0x4E26, 0x51B5, 0x5168, 0x4F80, 0x5145, 0x5180,
    0x52C7, 0x52FA, 0x559D, 0x5555, 0x5599, 0x55E2, 0x585A, 0x58B3, 0x5944, 0x5954, 0x5A62, 0x5B28, 0x5ED2, 0x5ED9,
    0x5F69, 0x5FAD, 0x60D8, 0x614E, 0x6108, 0x618E, 0x6160, 0x61F2, 0x6234, 0x63C4, 0x641C, 0x6452, 0x6556, 0x6674,
    0x6717, 0x671B, 0x6756, 0x6B79, 0x6BBA, 0x6D41, 0x6EDB, 0x6ECB, 0x6F22, 0x701E, 0x716E, 0x77A7, 0x7235, 0x72AF,
    0x732A, 0x7471, 0x7506, 0x753B, 0x761D, 0x761F, 0x76CA, 0x76DB, 0x76F4, 0x774A, 0x7740, 0x78CC, 0x7AB1, 0x7BC0,
    0x7C7B, 0x7D5B, 0x7DF4, 0x7F3E, 0x8005, 0x8352, 0x83EF, 0x8779, 0x8941, 0x8986, 0x8996, 0x8ABF, 0x8AF8, 0x8ACB,
    0x8B01, 0x8AFE, 0x8AED, 0x8B39, 0x8B8A, 0x8D08, 0x8F38, 0x9072, 0x9199, 0x9276, 0x967C, 0x96E3, 0x9756, 0x97DB,
    0x97FF, 0x980B, 0x983B, 0x9B12, 0x9F9C, 0x2284A, 0x22844, 0x233D5, 0x3B9D, 0x4018, 0x4039, 0x25249, 0x25CD0,
    0x27ED3, 0x9F43, 0x9F8E, 0x5E2, 0x5D0, 0x5D3, 0x5D4, 0x5E8, 0x5EA, 0x2B, 0x671, 0x671, 0x67B, 0x67B, 0x67B, 0x67B,
    0x67E, 0x67E, 0x67E, 0x67E, 0x680, 0x680, 0x680, 0x680, 0x67A, 0x67A, 0x67A, 0x67A, 0x67F, 0x67F, 0x67F, 0x67F,
    0x679, 0x679, 0x679, 0x679, 0x6A4, 0x6A4, 0x6A4, 0x6A4, 0x6A6, 0x6A6, 0x6A6, 0x6A6, 0x684, 0x684, 0x684, 0x684,
    0x683, 0x683, 0x683, 0x683, 0x686, 0x686, 0x686, 0x686, 0x687, 0x687, 0x687, 0x687, 0x68D, 0x68D, 0x68C, 0x68C,
    0x68E, 0x68E, 0x688, 0x688, 0x698, 0x698, 0x691, 0x691, 0x6A9, 0x6A9, 0x6A9, 0x6A9, 0x6AF, 0x6AF, 0x6AF, 0x6AF,
    0x6B3, 0x6B3, 0x6B3, 0x6B3, 0x6B1, 0x6B1, 0x6B1, 0x6B1, 0x6BA, 0x6BA, 0x6BB, 0x6BB, 0x6BB, 0x6BB, 0x6C0, 0x6C0,
    0x6C1, 0x6C1, 0x6C1, 0x6C1, 0x6BE, 0x6BE, 0x6BE, 0x6BE, 0x6D2, 0x6D2, 0x6D3, 0x6D3, 0x6AD, 0x6AD, 0x6AD, 0x6AD,
    0x6C7, 0x6C7, 0x6C6, 0x6C6, 0x6C8, 0x6C8, 0x677, 0x6CB, 0x6CB, 0x6C5, 0x6C5, 0x6C9, 0x6C9, 0x6D0, 0x6D0, 0x6D0,
    0x6D0, 0x649, 0x649, 0x6CC, 0x6CC, 0x6CC, 0x6CC, 0x2C, 0x3001, 0x3002, 0x3A, 0x3B, 0x21, 0x3F, 0x3016, 0x3017,
    0x2026, 0x2025, 0x2014, 0x2013, 0x5F, 0x5F, 0x28, 0x29, 0x7B, 0x7D, 0x3014, 0x3015, 0x3010, 0x3011, 0x300A, 0x300B,
    0x3008, 0x3009, 0x5B, 0x5D, 0x203E, 0x203E, 0x203E, 0x203E, 0x5F, 0x5F, 0x5F, 0x2C, 0x3001, 0x2E, 0x3B, 0x3A, 0x3F,
    0x21, 0x2014, 0x28, 0x29, 0x7B, 0x7D, 0x3014, 0x3015, 0x23, 0x26, 0x2A, 0x2B, 0x2D, 0x3C, 0x3E, 0x3D, 0x5C, 0x24,
    0x25, 0x40, 0x621, 0x622, 0x622, 0x623, 0x623, 0x624, 0x624, 0x625, 0x625, 0x626, 0x626, 0x626, 0x626, 0x627, 0x627,
    0x628, 0x628, 0x628, 0x628, 0x629, 0x629, 0x62A, 0x62A, 0x62A, 0x62A, 0x62B, 0x62B, 0x62B, 0x62B, 0x62C, 0x62C,
    0x62C, 0x62C, 0x62D, 0x62D, 0x62D, 0x62D, 0x62E, 0x62E, 0x62E, 0x62E, 0x62F, 0x62F, 0x630, 0x630, 0x631, 0x631,
    0x632, 0x632, 0x633, 0x633, 0x633, 0x633, 0x634, 0x634, 0x634, 0x634, 0x635, 0x635, 0x635, 0x635, 0x636, 0x636,
    0x636, 0x636, 0x637, 0x637, 0x637, 0x637, 0x638, 0x638, 0x638, 0x638, 0x639, 0x639, 0x639, 0x639, 0x63A, 0x63A,
    0x63A, 0x63A, 0x641, 0x641, 0x641, 0x641, 0x642, 0x642, 0x642, 0x642, 0x643, 0x643, 0x643, 0x643, 0x644, 0x644,
    0x644, 0x644, 0x645, 0x645, 0x645, 0x645, 0x646, 0x646, 0x646, 0x646, 0x647, 0x647, 0x647, 0x647, 0x648, 0x648,
    0x649, 0x649, 0x64A, 0x64A, 0x64A, 0x64A, 0x2985, 0x2986, 0x3002, 0x300C, 0x300D, 0x3001, 0x30FB, 0x30F2, 0x30A1,
    0x30A3, 0x30A5, 0x30A7, 0x30A9, 0x30E3, 0x30E5, 0x30E7, 0x30C3, 0x30FC, 0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA,
    0x30AB, 0x30AD, 0x30AF, 0x30B1, 0x30B3, 0x30B5, 0x30B7, 0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1, 0x30C4, 0x30C6,
    0x30C8, 0x30D2, 0x30D5, 0x30D8, 0x30DB, 0x30E4, 0x30E6, 0x30EF, 0x30F3, 0x3099, 0x309A, 0x3164, 0xA2, 0xA3, 0xAC,
    0xAF, 0xA6, 0xA5, 0x20A9, 0x25A0, 0x25CB, 0x43, 0x44, 0x4A, 0x4B, 0x41, 0x42, 0x41, 0x42, 0x131, 0x237, 0x2202,
    0x3F5, 0x3D1, 0x3F0, 0x3D5, 0x3F1, 0x3D6, 0x2202, 0x3F5, 0x3D1, 0x3F0, 0x3D5, 0x3F1, 0x3D6, 0x2202, 0x3F5, 0x3D1,
    0x3F0, 0x3D5, 0x3F1, 0x3D6, 0x2202, 0x3F5, 0x3D1, 0x3F0, 0x3D5, 0x3F1, 0x3D6, 0x2202, 0x3F5, 0x3D1, 0x3F0, 0x3D5,
    0x3F1, 0x3D6, 0x3DC, 0x3DD, 0x627, 0x628, 0x62C, 0x62F, 0x648, 0x632, 0x62D, 0x637, 0x64A, 0x633, 0x639, 0x641,
    0x635, 0x642, 0x631, 0x634, 0x62A, 0x62B, 0x62E, 0x630, 0x636, 0x638, 0x63A, 0x66E, 0x6BA, 0x6A1, 0x66F, 0x628,
    0x62C, 0x633, 0x639, 0x641, 0x635, 0x642, 0x634, 0x62A, 0x62B, 0x62E, 0x646, 0x633, 0x639, 0x635, 0x642, 0x628,
    0x62C, 0x62D, 0x637, 0x64A, 0x643, 0x645, 0x646, 0x633, 0x639, 0x641, 0x635, 0x642, 0x634, 0x62A, 0x62B, 0x62E,
    0x636, 0x638, 0x63A, 0x66E, 0x627, 0x628, 0x62C, 0x62F, 0x647, 0x648, 0x632, 0x62D, 0x637, 0x64A, 0x633, 0x639,
    0x641, 0x635, 0x642, 0x631, 0x634, 0x62A, 0x62B, 0x62E, 0x630, 0x636, 0x638, 0x63A, 0x628, 0x62C, 0x62F, 0x648,
    0x632, 0x62D, 0x637, 0x64A, 0x633, 0x639, 0x641, 0x635, 0x642, 0x631, 0x634, 0x62A, 0x62B, 0x62E, 0x630, 0x636,
    0x638, 0x63A, 0x43, 0x52, 0x624B, 0x5B57, 0x53CC, 0x30C7, 0x4E8C, 0x591A, 0x89E3, 0x5929, 0x4EA4, 0x6620, 0x7121,
    0x6599, 0x524D, 0x5F8C, 0x518D, 0x65B0, 0x521D, 0x7D42, 0x751F, 0x8CA9, 0x58F0, 0x5439, 0x6F14, 0x6295, 0x6355,
    0x4E00, 0x4E09, 0x904A, 0x5DE6, 0x4E2D, 0x53F3, 0x6307, 0x8D70, 0x6253, 0x7981, 0x7A7A, 0x5408, 0x6E80, 0x6709,
    0x6708, 0x7533, 0x5272, 0x55B6, 0x914D, 0x5F97, 0x53EF, 0x4E3D, 0x4E38, 0x4E41, 0x20122, 0x4F60, 0x4FAE, 0x4FBB,
    0x5002, 0x507A, 0x5099, 0x50E7, 0x50CF, 0x349E, 0x2063A, 0x514D, 0x5154, 0x5164, 0x5177, 0x2051C, 0x34B9, 0x5167,
    0x518D, 0x2054B, 0x5197, 0x51A4, 0x4ECC, 0x51AC, 0x51B5, 0x291DF, 0x51F5, 0x5203, 0x34DF, 0x523B, 0x5246, 0x5272,
    0x5277, 0x3515, 0x52C7, 0x52C9, 0x52E4, 0x52FA, 0x5305, 0x5306, 0x5317, 0x5349, 0x5351, 0x535A, 0x5373, 0x537D,
    0x537F, 0x537F, 0x537F, 0x20A2C, 0x7070, 0x53CA, 0x53DF, 0x20B63, 0x53EB, 0x53F1, 0x5406, 0x549E, 0x5438, 0x5448,
    0x5468, 0x54A2, 0x54F6, 0x5510, 0x5553, 0x5563, 0x5584, 0x5584, 0x5599, 0x55AB, 0x55B3, 0x55C2, 0x5716, 0x5606,
    0x5717, 0x5651, 0x5674, 0x5207, 0x58EE, 0x57CE, 0x57F4, 0x580D, 0x578B, 0x5832, 0x5831, 0x58AC, 0x214E4, 0x58F2,
    0x58F7, 0x5906, 0x591A, 0x5922, 0x5962, 0x216A8, 0x216EA, 0x59EC, 0x5A1B, 0x5A27, 0x59D8, 0x5A66, 0x36EE, 0x36FC,
    0x5B08, 0x5B3E, 0x5B3E, 0x219C8, 0x5BC3, 0x5BD8, 0x5BE7, 0x5BF3, 0x21B18, 0x5BFF, 0x5C06, 0x5F53, 0x5C22, 0x3781,
    0x5C60, 0x5C6E, 0x5CC0, 0x5C8D, 0x21DE4, 0x5D43, 0x21DE6, 0x5D6E, 0x5D6B, 0x5D7C, 0x5DE1, 0x5DE2, 0x382F, 0x5DFD,
    0x5E28, 0x5E3D, 0x5E69, 0x3862, 0x22183, 0x387C, 0x5EB0, 0x5EB3, 0x5EB6, 0x5ECA, 0x2A392, 0x5EFE, 0x22331, 0x22331,
    0x8201, 0x5F22, 0x5F22, 0x38C7, 0x232B8, 0x261DA, 0x5F62, 0x5F6B, 0x38E3, 0x5F9A, 0x5FCD, 0x5FD7, 0x5FF9, 0x6081,
    0x393A, 0x391C, 0x6094, 0x226D4, 0x60C7, 0x6148, 0x614C, 0x614E, 0x614C, 0x617A, 0x618E, 0x61B2, 0x61A4, 0x61AF,
    0x61DE, 0x61F2, 0x61F6, 0x6210, 0x621B, 0x625D, 0x62B1, 0x62D4, 0x6350, 0x22B0C, 0x633D, 0x62FC, 0x6368, 0x6383,
    0x63E4, 0x22BF1, 0x6422, 0x63C5, 0x63A9, 0x3A2E, 0x6469, 0x647E, 0x649D, 0x6477, 0x3A6C, 0x654F, 0x656C, 0x2300A,
    0x65E3, 0x66F8, 0x6649, 0x3B19, 0x6691, 0x3B08, 0x3AE4, 0x5192, 0x5195, 0x6700, 0x669C, 0x80AD, 0x43D9, 0x6717,
    0x671B, 0x6721, 0x675E, 0x6753, 0x233C3, 0x3B49, 0x67FA, 0x6785, 0x6852, 0x6885, 0x2346D, 0x688E, 0x681F, 0x6914,
    0x3B9D, 0x6942, 0x69A3, 0x69EA, 0x6AA8, 0x236A3, 0x6ADB, 0x3C18, 0x6B21, 0x238A7, 0x6B54, 0x3C4E, 0x6B72, 0x6B9F,
    0x6BBA, 0x6BBB, 0x23A8D, 0x21D0B, 0x23AFA, 0x6C4E, 0x23CBC, 0x6CBF, 0x6CCD, 0x6C67, 0x6D16, 0x6D3E, 0x6D77, 0x6D41,
    0x6D69, 0x6D78, 0x6D85, 0x23D1E, 0x6D34, 0x6E2F, 0x6E6E, 0x3D33, 0x6ECB, 0x6EC7, 0x23ED1, 0x6DF9, 0x6F6E, 0x23F5E,
    0x23F8E, 0x6FC6, 0x7039, 0x701E, 0x701B, 0x3D96, 0x704A, 0x707D, 0x7077, 0x70AD, 0x20525, 0x7145, 0x24263, 0x719C,
    0x243AB, 0x7228, 0x7235, 0x7250, 0x24608, 0x7280, 0x7295, 0x24735, 0x24814, 0x737A, 0x738B, 0x3EAC, 0x73A5, 0x3EB8,
    0x3EB8, 0x7447, 0x745C, 0x7471, 0x7485, 0x74CA, 0x3F1B, 0x7524, 0x24C36, 0x753E, 0x24C92, 0x7570, 0x2219F, 0x7610,
    0x24FA1, 0x24FB8, 0x25044, 0x3FFC, 0x4008, 0x76F4, 0x250F3, 0x250F2, 0x25119, 0x25133, 0x771E, 0x771F, 0x771F,
    0x774A, 0x4039, 0x778B, 0x4046, 0x4096, 0x2541D, 0x784E, 0x788C, 0x78CC, 0x40E3, 0x25626, 0x7956, 0x2569A, 0x256C5,
    0x798F, 0x79EB, 0x412F, 0x7A40, 0x7A4A, 0x7A4F, 0x2597C, 0x25AA7, 0x25AA7, 0x7AEE, 0x4202, 0x25BAB, 0x7BC6, 0x7BC9,
    0x4227, 0x25C80, 0x7CD2, 0x42A0, 0x7CE8, 0x7CE3, 0x7D00, 0x25F86, 0x7D63, 0x4301, 0x7DC7, 0x7E02, 0x7E45, 0x4334,
    0x26228, 0x26247, 0x4359, 0x262D9, 0x7F7A, 0x2633E, 0x7F95, 0x7FFA, 0x8005, 0x264DA, 0x26523, 0x8060, 0x265A8,
    0x8070, 0x2335F, 0x43D5, 0x80B2, 0x8103, 0x440B, 0x813E, 0x5AB5, 0x267A7, 0x267B5, 0x23393, 0x2339C, 0x8201, 0x8204,
    0x8F9E, 0x446B, 0x8291, 0x828B, 0x829D, 0x52B3, 0x82B1, 0x82B3, 0x82BD, 0x82E6, 0x26B3C, 0x82E5, 0x831D, 0x8363,
    0x83AD, 0x8323, 0x83BD, 0x83E7, 0x8457, 0x8353, 0x83CA, 0x83CC, 0x83DC, 0x26C36, 0x26D6B, 0x26CD5, 0x452B, 0x84F1,
    0x84F3, 0x8516, 0x273CA, 0x8564, 0x26F2C, 0x455D, 0x4561, 0x26FB1, 0x270D2, 0x456B, 0x8650, 0x865C, 0x8667, 0x8669,
    0x86A9, 0x8688, 0x870E, 0x86E2, 0x8779, 0x8728, 0x876B, 0x8786, 0x45D7, 0x87E1, 0x8801, 0x45F9, 0x8860, 0x8863,
    0x27667, 0x88D7, 0x88DE, 0x4635, 0x88FA, 0x34BB, 0x278AE, 0x27966, 0x46BE, 0x46C7, 0x8AA0, 0x8AED, 0x8B8A, 0x8C55,
    0x27CA8, 0x8CAB, 0x8CC1, 0x8D1B, 0x8D77, 0x27F2F, 0x20804, 0x8DCB, 0x8DBC, 0x8DF0, 0x208DE, 0x8ED4, 0x8F38, 0x285D2,
    0x285ED, 0x9094, 0x90F1, 0x9111, 0x2872E, 0x911B, 0x9238, 0x92D7, 0x92D8, 0x927C, 0x93F9, 0x9415, 0x28BFA, 0x958B,
    0x4995, 0x95B7, 0x28D77, 0x49E6, 0x96C3, 0x5DB2, 0x9723, 0x29145, 0x2921A, 0x4A6E, 0x4A76, 0x97E0, 0x2940A, 0x4AB2,
    0x29496, 0x980B, 0x980B, 0x9829, 0x295B6, 0x98E2, 0x4B33, 0x9929, 0x99A7, 0x99C2, 0x99FE, 0x4BCE, 0x29B30, 0x9B12,
    0x9C40, 0x9CFD, 0x4CCE, 0x4CED, 0x9D67, 0x2A0CE, 0x4CF8, 0x2A105, 0x2A20E, 0x2A291, 0x9EBB, 0x4D56, 0x9EF9, 0x9EFE,
    0x9F05, 0x9F0F, 0x9F16, 0x9F3B, 0x2A600,
};

/* 1: may change in NFC, by itself or beside others. */
static const uint32_t kvs__nfc_runs[] = {
    0, 0x30001, 0x34F00, 0x35001, 0x37000, 0x37401, 0x37500, 0x37E01, 0x37F00, 0x38701, 0x38800, 0x48301, 0x48800,
    0x59101, 0x5BE00, 0x5BF01, 0x5C000, 0x5C101, 0x5C300, 0x5C401, 0x5C600, 0x5C701, 0x5C800, 0x61001, 0x61B00, 0x64B01,
    0x66000, 0x67001, 0x67100, 0x6D601, 0x6DD00, 0x6DF01, 0x6E500, 0x6E701, 0x6E900, 0x6EA01, 0x6EE00, 0x71101, 0x71200,
    0x73001, 0x74B00, 0x7EB01, 0x7F400, 0x81601, 0x81A00, 0x81B01, 0x82400, 0x82501, 0x82800, 0x82901, 0x82E00, 0x85901,
    0x85C00, 0x8D401, 0x8E200, 0x8E301, 0x90000, 0x93C01, 0x93D00, 0x94D01, 0x94E00, 0x95101, 0x95500, 0x95801, 0x96000,
    0x9BC01, 0x9BD00, 0x9BE01, 0x9BF00, 0x9CD01, 0x9CE00, 0x9D701, 0x9D800, 0x9DC01, 0x9DE00, 0x9DF01, 0x9E000, 0xA3301,
    0xA3400, 0xA3601, 0xA3700, 0xA3C01, 0xA3D00, 0xA4D01, 0xA4E00, 0xA5901, 0xA5C00, 0xA5E01, 0xA5F00, 0xABC01, 0xABD00,
    0xACD01, 0xACE00, 0xB3C01, 0xB3D00, 0xB3E01, 0xB3F00, 0xB4D01, 0xB4E00, 0xB5601, 0xB5800, 0xB5C01, 0xB5E00, 0xBBE01,
    0xBBF00, 0xBCD01, 0xBCE00, 0xBD701, 0xBD800, 0xC4D01, 0xC4E00, 0xC5501, 0xC5700, 0xCBC01, 0xCBD00, 0xCC201, 0xCC300,
    0xCCD01, 0xCCE00, 0xCD501, 0xCD700, 0xD3E01, 0xD3F00, 0xD4D01, 0xD4E00, 0xD5701, 0xD5800, 0xDCA01, 0xDCB00, 0xDCF01,
    0xDD000, 0xDDF01, 0xDE000, 0xE3801, 0xE3B00, 0xE4801, 0xE4C00, 0xEB801, 0xEBA00, 0xEC801, 0xECC00, 0xF1801, 0xF1A00,
    0xF3501, 0xF3600, 0xF3701, 0xF3800, 0xF3901, 0xF3A00, 0xF4301, 0xF4400, 0xF4D01, 0xF4E00, 0xF5201, 0xF5300, 0xF5701,
    0xF5800, 0xF5C01, 0xF5D00, 0xF6901, 0xF6A00, 0xF7101, 0xF7700, 0xF7801, 0xF7900, 0xF7A01, 0xF7E00, 0xF8001, 0xF8500,
    0xF8601, 0xF8800, 0xF9301, 0xF9400, 0xF9D01, 0xF9E00, 0xFA201, 0xFA300, 0xFA701, 0xFA800, 0xFAC01, 0xFAD00, 0xFB901,
    0xFBA00, 0xFC601, 0xFC700, 0x102E01, 0x102F00, 0x103701, 0x103800, 0x103901, 0x103B00, 0x108D01, 0x108E00, 0x116101,
    0x117600, 0x11A801, 0x11C300, 0x135D01, 0x136000, 0x171401, 0x171500, 0x173401, 0x173500, 0x17D201, 0x17D300,
    0x17DD01, 0x17DE00, 0x18A901, 0x18AA00, 0x193901, 0x193C00, 0x1A1701, 0x1A1900, 0x1A6001, 0x1A6100, 0x1A7501,
    0x1A7D00, 0x1A7F01, 0x1A8000, 0x1AB001, 0x1ABE00, 0x1B3401, 0x1B3600, 0x1B4401, 0x1B4500, 0x1B6B01, 0x1B7400,
    0x1BAA01, 0x1BAC00, 0x1BE601, 0x1BE700, 0x1BF201, 0x1BF400, 0x1C3701, 0x1C3800, 0x1CD001, 0x1CD300, 0x1CD401,
    0x1CE100, 0x1CE201, 0x1CE900, 0x1CED01, 0x1CEE00, 0x1CF401, 0x1CF500, 0x1CF801, 0x1CFA00, 0x1DC001, 0x1DF600,
    0x1DFB01, 0x1E0000, 0x1F7101, 0x1F7200, 0x1F7301, 0x1F7400, 0x1F7501, 0x1F7600, 0x1F7701, 0x1F7800, 0x1F7901,
    0x1F7A00, 0x1F7B01, 0x1F7C00, 0x1F7D01, 0x1F7E00, 0x1FBB01, 0x1FBC00, 0x1FBE01, 0x1FBF00, 0x1FC901, 0x1FCA00,
    0x1FCB01, 0x1FCC00, 0x1FD301, 0x1FD400, 0x1FDB01, 0x1FDC00, 0x1FE301, 0x1FE400, 0x1FEB01, 0x1FEC00, 0x1FEE01,
    0x1FF000, 0x1FF901, 0x1FFA00, 0x1FFB01, 0x1FFC00, 0x1FFD01, 0x1FFE00, 0x200001, 0x200200, 0x20D001, 0x20DD00,
    0x20E101, 0x20E200, 0x20E501, 0x20F100, 0x212601, 0x212700, 0x212A01, 0x212C00, 0x232901, 0x232B00, 0x2ADC01,
    0x2ADD00, 0x2CEF01, 0x2CF200, 0x2D7F01, 0x2D8000, 0x2DE001, 0x2E0000, 0x302A01, 0x303000, 0x309901, 0x309B00,
    0xA66F01, 0xA67000, 0xA67401, 0xA67E00, 0xA69E01, 0xA6A000, 0xA6F001, 0xA6F200, 0xA80601, 0xA80700, 0xA8C401,
    0xA8C500, 0xA8E001, 0xA8F200, 0xA92B01, 0xA92E00, 0xA95301, 0xA95400, 0xA9B301, 0xA9B400, 0xA9C001, 0xA9C100,
    0xAAB001, 0xAAB100, 0xAAB201, 0xAAB500, 0xAAB701, 0xAAB900, 0xAABE01, 0xAAC000, 0xAAC101, 0xAAC200, 0xAAF601,
    0xAAF700, 0xABED01, 0xABEE00, 0xF90001, 0xFA0E00, 0xFA1001, 0xFA1100, 0xFA1201, 0xFA1300, 0xFA1501, 0xFA1F00,
    0xFA2001, 0xFA2100, 0xFA2201, 0xFA2300, 0xFA2501, 0xFA2700, 0xFA2A01, 0xFA6E00, 0xFA7001, 0xFADA00, 0xFB1D01,
    0xFB2000, 0xFB2A01, 0xFB3700, 0xFB3801, 0xFB3D00, 0xFB3E01, 0xFB3F00, 0xFB4001, 0xFB4200, 0xFB4301, 0xFB4500,
    0xFB4601, 0xFB4F00, 0xFE2001, 0xFE3000, 0x101FD01, 0x101FE00, 0x102E001, 0x102E100, 0x1037601, 0x1037B00, 0x10A0D01,
    0x10A0E00, 0x10A0F01, 0x10A1000, 0x10A3801, 0x10A3B00, 0x10A3F01, 0x10A4000, 0x10AE501, 0x10AE700, 0x1104601,
    0x1104700, 0x1107F01, 0x1108000, 0x110B901, 0x110BB00, 0x1110001, 0x1110300, 0x1112701, 0x1112800, 0x1113301,
    0x1113500, 0x1117301, 0x1117400, 0x111C001, 0x111C100, 0x111CA01, 0x111CB00, 0x1123501, 0x1123700, 0x112E901,
    0x112EB00, 0x1133C01, 0x1133D00, 0x1133E01, 0x1133F00, 0x1134D01, 0x1134E00, 0x1135701, 0x1135800, 0x1136601,
    0x1136D00, 0x1137001, 0x1137500, 0x1144201, 0x1144300, 0x1144601, 0x1144700, 0x114B001, 0x114B100, 0x114BA01,
    0x114BB00, 0x114BD01, 0x114BE00, 0x114C201, 0x114C400, 0x115AF01, 0x115B000, 0x115BF01, 0x115C100, 0x1163F01,
    0x1164000, 0x116B601, 0x116B800, 0x1172B01, 0x1172C00, 0x11C3F01, 0x11C4000, 0x16AF001, 0x16AF500, 0x16B3001,
    0x16B3700, 0x1BC9E01, 0x1BC9F00, 0x1D15E01, 0x1D16A00, 0x1D16D01, 0x1D17300, 0x1D17B01, 0x1D18300, 0x1D18501,
    0x1D18C00, 0x1D1AA01, 0x1D1AE00, 0x1D1BB01, 0x1D1C100, 0x1D24201, 0x1D24500, 0x1E00001, 0x1E00700, 0x1E00801,
    0x1E01900, 0x1E01B01, 0x1E02200, 0x1E02301, 0x1E02500, 0x1E02601, 0x1E02B00, 0x1E8D001, 0x1E8D700, 0x1E94401,
    0x1E94B00, 0x2F80001, 0x2FA1E00,
};

/* 1: may change in NFKC, by itself or beside others. */
static const uint32_t kvs__nfkc_runs[] = {
    0, 0xA001, 0xA100, 0xA801, 0xA900, 0xAA01, 0xAB00, 0xAF01, 0xB000, 0xB201, 0xB600, 0xB801, 0xBB00, 0xBC01, 0xBF00,
    0x13201, 0x13400, 0x13F01, 0x14100, 0x14901, 0x14A00, 0x17F01, 0x18000, 0x1C401, 0x1CD00, 0x1F101, 0x1F400, 0x2B001,
    0x2B900, 0x2D801, 0x2DE00, 0x2E001, 0x2E500, 0x30001, 0x34F00, 0x35001, 0x37000, 0x37401, 0x37500, 0x37A01, 0x37B00,
    0x37E01, 0x37F00, 0x38401, 0x38600, 0x38701, 0x38800, 0x3D001, 0x3D700, 0x3F001, 0x3F300, 0x3F401, 0x3F600, 0x3F901,
    0x3FA00, 0x48301, 0x48800, 0x58701, 0x58800, 0x59101, 0x5BE00, 0x5BF01, 0x5C000, 0x5C101, 0x5C300, 0x5C401, 0x5C600,
    0x5C701, 0x5C800, 0x61001, 0x61B00, 0x64B01, 0x66000, 0x67001, 0x67100, 0x67501, 0x67900, 0x6D601, 0x6DD00, 0x6DF01,
    0x6E500, 0x6E701, 0x6E900, 0x6EA01, 0x6EE00, 0x71101, 0x71200, 0x73001, 0x74B00, 0x7EB01, 0x7F400, 0x81601, 0x81A00,
    0x81B01, 0x82400, 0x82501, 0x82800, 0x82901, 0x82E00, 0x85901, 0x85C00, 0x8D401, 0x8E200, 0x8E301, 0x90000, 0x93C01,
    0x93D00, 0x94D01, 0x94E00, 0x95101, 0x95500, 0x95801, 0x96000, 0x9BC01, 0x9BD00, 0x9BE01, 0x9BF00, 0x9CD01, 0x9CE00,
    0x9D701, 0x9D800, 0x9DC01, 0x9DE00, 0x9DF01, 0x9E000, 0xA3301, 0xA3400, 0xA3601, 0xA3700, 0xA3C01, 0xA3D00, 0xA4D01,
    0xA4E00, 0xA5901, 0xA5C00, 0xA5E01, 0xA5F00, 0xABC01, 0xABD00, 0xACD01, 0xACE00, 0xB3C01, 0xB3D00, 0xB3E01, 0xB3F00,
    0xB4D01, 0xB4E00, 0xB5601, 0xB5800, 0xB5C01, 0xB5E00, 0xBBE01, 0xBBF00, 0xBCD01, 0xBCE00, 0xBD701, 0xBD800, 0xC4D01,
    0xC4E00, 0xC5501, 0xC5700, 0xCBC01, 0xCBD00, 0xCC201, 0xCC300, 0xCCD01, 0xCCE00, 0xCD501, 0xCD700, 0xD3E01, 0xD3F00,
    0xD4D01, 0xD4E00, 0xD5701, 0xD5800, 0xDCA01, 0xDCB00, 0xDCF01, 0xDD000, 0xDDF01, 0xDE000, 0xE3301, 0xE3400, 0xE3801,
    0xE3B00, 0xE4801, 0xE4C00, 0xEB301, 0xEB400, 0xEB801, 0xEBA00, 0xEC801, 0xECC00, 0xEDC01, 0xEDE00, 0xF0C01, 0xF0D00,
    0xF1801, 0xF1A00, 0xF3501, 0xF3600, 0xF3701, 0xF3800, 0xF3901, 0xF3A00, 0xF4301, 0xF4400, 0xF4D01, 0xF4E00, 0xF5201,
    0xF5300, 0xF5701, 0xF5800, 0xF5C01, 0xF5D00, 0xF6901, 0xF6A00, 0xF7101, 0xF7E00, 0xF8001, 0xF8500, 0xF8601, 0xF8800,
    0xF9301, 0xF9400, 0xF9D01, 0xF9E00, 0xFA201, 0xFA300, 0xFA701, 0xFA800, 0xFAC01, 0xFAD00, 0xFB901, 0xFBA00, 0xFC601,
    0xFC700, 0x102E01, 0x102F00, 0x103701, 0x103800, 0x103901, 0x103B00, 0x108D01, 0x108E00, 0x10FC01, 0x10FD00,
    0x116101, 0x117600, 0x11A801, 0x11C300, 0x135D01, 0x136000, 0x171401, 0x171500, 0x173401, 0x173500, 0x17D201,
    0x17D300, 0x17DD01, 0x17DE00, 0x18A901, 0x18AA00, 0x193901, 0x193C00, 0x1A1701, 0x1A1900, 0x1A6001, 0x1A6100,
    0x1A7501, 0x1A7D00, 0x1A7F01, 0x1A8000, 0x1AB001, 0x1ABE00, 0x1B3401, 0x1B3600, 0x1B4401, 0x1B4500, 0x1B6B01,
    0x1B7400, 0x1BAA01, 0x1BAC00, 0x1BE601, 0x1BE700, 0x1BF201, 0x1BF400, 0x1C3701, 0x1C3800, 0x1CD001, 0x1CD300,
    0x1CD401, 0x1CE100, 0x1CE201, 0x1CE900, 0x1CED01, 0x1CEE00, 0x1CF401, 0x1CF500, 0x1CF801, 0x1CFA00, 0x1D2C01,
    0x1D2F00, 0x1D3001, 0x1D3B00, 0x1D3C01, 0x1D4E00, 0x1D4F01, 0x1D6B00, 0x1D7801, 0x1D7900, 0x1D9B01, 0x1DF600,
    0x1DFB01, 0x1E0000, 0x1E9A01, 0x1E9C00, 0x1F7101, 0x1F7200, 0x1F7301, 0x1F7400, 0x1F7501, 0x1F7600, 0x1F7701,
    0x1F7800, 0x1F7901, 0x1F7A00, 0x1F7B01, 0x1F7C00, 0x1F7D01, 0x1F7E00, 0x1FBB01, 0x1FBC00, 0x1FBD01, 0x1FC200,
    0x1FC901, 0x1FCA00, 0x1FCB01, 0x1FCC00, 0x1FCD01, 0x1FD000, 0x1FD301, 0x1FD400, 0x1FDB01, 0x1FDC00, 0x1FDD01,
    0x1FE000, 0x1FE301, 0x1FE400, 0x1FEB01, 0x1FEC00, 0x1FED01, 0x1FF000, 0x1FF901, 0x1FFA00, 0x1FFB01, 0x1FFC00,
    0x1FFD01, 0x1FFF00, 0x200001, 0x200B00, 0x201101, 0x201200, 0x201701, 0x201800, 0x202401, 0x202700, 0x202F01,
    0x203000, 0x203301, 0x203500, 0x203601, 0x203800, 0x203C01, 0x203D00, 0x203E01, 0x203F00, 0x204701, 0x204A00,
    0x205701, 0x205800, 0x205F01, 0x206000, 0x207001, 0x207200, 0x207401, 0x208F00, 0x209001, 0x209D00, 0x20A801,
    0x20A900, 0x20D001, 0x20DD00, 0x20E101, 0x20E200, 0x20E501, 0x20F100, 0x210001, 0x210400, 0x210501, 0x210800,
    0x210901, 0x211400, 0x211501, 0x211700, 0x211901, 0x211E00, 0x212001, 0x212300, 0x212401, 0x212500, 0x212601,
    0x212700, 0x212801, 0x212900, 0x212A01, 0x212E00, 0x212F01, 0x213200, 0x213301, 0x213A00, 0x213B01, 0x214100,
    0x214501, 0x214A00, 0x215001, 0x218000, 0x218901, 0x218A00, 0x222C01, 0x222E00, 0x222F01, 0x223100, 0x232901,
    0x232B00, 0x246001, 0x24EB00, 0x2A0C01, 0x2A0D00, 0x2A7401, 0x2A7700, 0x2ADC01, 0x2ADD00, 0x2C7C01, 0x2C7E00,
    0x2CEF01, 0x2CF200, 0x2D6F01, 0x2D7000, 0x2D7F01, 0x2D8000, 0x2DE001, 0x2E0000, 0x2E9F01, 0x2EA000, 0x2EF301,
    0x2EF400, 0x2F0001, 0x2FD600, 0x300001, 0x300100, 0x302A01, 0x303000, 0x303601, 0x303700, 0x303801, 0x303B00,
    0x309901, 0x309D00, 0x309F01, 0x30A000, 0x30FF01, 0x310000, 0x313101, 0x318F00, 0x319201, 0x31A000, 0x320001,
    0x321F00, 0x322001, 0x324800, 0x325001, 0x327F00, 0x328001, 0x32FF00, 0x330001, 0x340000, 0xA66F01, 0xA67000,
    0xA67401, 0xA67E00, 0xA69C01, 0xA6A000, 0xA6F001, 0xA6F200, 0xA77001, 0xA77100, 0xA7F801, 0xA7FA00, 0xA80601,
    0xA80700, 0xA8C401, 0xA8C500, 0xA8E001, 0xA8F200, 0xA92B01, 0xA92E00, 0xA95301, 0xA95400, 0xA9B301, 0xA9B400,
    0xA9C001, 0xA9C100, 0xAAB001, 0xAAB100, 0xAAB201, 0xAAB500, 0xAAB701, 0xAAB900, 0xAABE01, 0xAAC000, 0xAAC101,
    0xAAC200, 0xAAF601, 0xAAF700, 0xAB5C01, 0xAB6000, 0xABED01, 0xABEE00, 0xF90001, 0xFA0E00, 0xFA1001, 0xFA1100,
    0xFA1201, 0xFA1300, 0xFA1501, 0xFA1F00, 0xFA2001, 0xFA2100, 0xFA2201, 0xFA2300, 0xFA2501, 0xFA2700, 0xFA2A01,
    0xFA6E00, 0xFA7001, 0xFADA00, 0xFB0001, 0xFB0700, 0xFB1301, 0xFB1800, 0xFB1D01, 0xFB3700, 0xFB3801, 0xFB3D00,
    0xFB3E01, 0xFB3F00, 0xFB4001, 0xFB4200, 0xFB4301, 0xFB4500, 0xFB4601, 0xFBB200, 0xFBD301, 0xFD3E00, 0xFD5001,
    0xFD9000, 0xFD9201, 0xFDC800, 0xFDF001, 0xFDFD00, 0xFE1001, 0xFE1A00, 0xFE2001, 0xFE4500, 0xFE4701, 0xFE5300,
    0xFE5401, 0xFE6700, 0xFE6801, 0xFE6C00, 0xFE7001, 0xFE7300, 0xFE7401, 0xFE7500, 0xFE7601, 0xFEFD00, 0xFF0101,
    0xFFBF00, 0xFFC201, 0xFFC800, 0xFFCA01, 0xFFD000, 0xFFD201, 0xFFD800, 0xFFDA01, 0xFFDD00, 0xFFE001, 0xFFE700,
    0xFFE801, 0xFFEF00, 0x101FD01, 0x101FE00, 0x102E001, 0x102E100, 0x1037601, 0x1037B00, 0x10A0D01, 0x10A0E00,
    0x10A0F01, 0x10A1000, 0x10A3801, 0x10A3B00, 0x10A3F01, 0x10A4000, 0x10AE501, 0x10AE700, 0x1104601, 0x1104700,
    0x1107F01, 0x1108000, 0x110B901, 0x110BB00, 0x1110001, 0x1110300, 0x1112701, 0x1112800, 0x1113301, 0x1113500,
    0x1117301, 0x1117400, 0x111C001, 0x111C100, 0x111CA01, 0x111CB00, 0x1123501, 0x1123700, 0x112E901, 0x112EB00,
    0x1133C01, 0x1133D00, 0x1133E01, 0x1133F00, 0x1134D01, 0x1134E00, 0x1135701, 0x1135800, 0x1136601, 0x1136D00,
    0x1137001, 0x1137500, 0x1144201, 0x1144300, 0x1144601, 0x1144700, 0x114B001, 0x114B100, 0x114BA01, 0x114BB00,
    0x114BD01, 0x114BE00, 0x114C201, 0x114C400, 0x115AF01, 0x115B000, 0x115BF01, 0x115C100, 0x1163F01, 0x1164000,
    0x116B601, 0x116B800, 0x1172B01, 0x1172C00, 0x11C3F01, 0x11C4000, 0x16AF001, 0x16AF500, 0x16B3001, 0x16B3700,
    0x1BC9E01, 0x1BC9F00, 0x1D15E01, 0x1D16A00, 0x1D16D01, 0x1D17300, 0x1D17B01, 0x1D18300, 0x1D18501, 0x1D18C00,
    0x1D1AA01, 0x1D1AE00, 0x1D1BB01, 0x1D1C100, 0x1D24201, 0x1D24500, 0x1D40001, 0x1D45500, 0x1D45601, 0x1D49D00,
    0x1D49E01, 0x1D4A000, 0x1D4A201, 0x1D4A300, 0x1D4A501, 0x1D4A700, 0x1D4A901, 0x1D4AD00, 0x1D4AE01, 0x1D4BA00,
    0x1D4BB01, 0x1D4BC00, 0x1D4BD01, 0x1D4C400, 0x1D4C501, 0x1D50600, 0x1D50701, 0x1D50B00, 0x1D50D01, 0x1D51500,
    0x1D51601, 0x1D51D00, 0x1D51E01, 0x1D53A00, 0x1D53B01, 0x1D53F00, 0x1D54001, 0x1D54500, 0x1D54601, 0x1D54700,
    0x1D54A01, 0x1D55100, 0x1D55201, 0x1D6A600, 0x1D6A801, 0x1D7CC00, 0x1D7CE01, 0x1D80000, 0x1E00001, 0x1E00700,
    0x1E00801, 0x1E01900, 0x1E01B01, 0x1E02200, 0x1E02301, 0x1E02500, 0x1E02601, 0x1E02B00, 0x1E8D001, 0x1E8D700,
    0x1E94401, 0x1E94B00, 0x1EE0001, 0x1EE0400, 0x1EE0501, 0x1EE2000, 0x1EE2101, 0x1EE2300, 0x1EE2401, 0x1EE2500,
    0x1EE2701, 0x1EE2800, 0x1EE2901, 0x1EE3300, 0x1EE3401, 0x1EE3800, 0x1EE3901, 0x1EE3A00, 0x1EE3B01, 0x1EE3C00,
    0x1EE4201, 0x1EE4300, 0x1EE4701, 0x1EE4800, 0x1EE4901, 0x1EE4A00, 0x1EE4B01, 0x1EE4C00, 0x1EE4D01, 0x1EE5000,
    0x1EE5101, 0x1EE5300, 0x1EE5401, 0x1EE5500, 0x1EE5701, 0x1EE5800, 0x1EE5901, 0x1EE5A00, 0x1EE5B01, 0x1EE5C00,
    0x1EE5D01, 0x1EE5E00, 0x1EE5F01, 0x1EE6000, 0x1EE6101, 0x1EE6300, 0x1EE6401, 0x1EE6500, 0x1EE6701, 0x1EE6B00,
    0x1EE6C01, 0x1EE7300, 0x1EE7401, 0x1EE7800, 0x1EE7901, 0x1EE7D00, 0x1EE7E01, 0x1EE7F00, 0x1EE8001, 0x1EE8A00,
    0x1EE8B01, 0x1EE9C00, 0x1EEA101, 0x1EEA400, 0x1EEA501, 0x1EEAA00, 0x1EEAB01, 0x1EEBC00, 0x1F10001, 0x1F10B00,
    0x1F11001, 0x1F12F00, 0x1F13001, 0x1F15000, 0x1F16A01, 0x1F16C00, 0x1F19001, 0x1F19100, 0x1F20001, 0x1F20300,
    0x1F21001, 0x1F23C00, 0x1F24001, 0x1F24900, 0x1F25001, 0x1F25200, 0x2F80001, 0x2FA1E00,
};

static kvs__unidata kvs__unidata_get(kvs__unidata_id id)
{
    static const kvs__unidata all[] = {
        {kvs__uc_runs, KVS__COUNT(kvs__uc_runs)},
        {kvs__uc_han, KVS__COUNT(kvs__uc_han)},
        {kvs__fold_runs, KVS__COUNT(kvs__fold_runs)},
        {kvs__lower_runs, KVS__COUNT(kvs__lower_runs)},
        {kvs__ccc_runs, KVS__COUNT(kvs__ccc_runs)},
        {kvs__dc_ones, KVS__COUNT(kvs__dc_ones)},
        {kvs__dc_pairs, KVS__COUNT(kvs__dc_pairs)},
        {kvs__dc_order, KVS__COUNT(kvs__dc_order)},
        {kvs__dc_many, KVS__COUNT(kvs__dc_many)},
        {kvs__dc_pool, KVS__COUNT(kvs__dc_pool)},
        {kvs__nfc_runs, KVS__COUNT(kvs__nfc_runs)},
        {kvs__nfkc_runs, KVS__COUNT(kvs__nfkc_runs)},
    };
    return all[id];
}

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#  pragma GCC diagnostic pop
#endif

#endif /* KVSERVE_IMPLEMENTATION */

/* ====================================================================================================
   >>licence   Choose whichever you prefer.

   ALTERNATIVE A - MIT License. Copyright (c) 2026 the kvserve authors.
   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
   "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
   distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
   following conditions: The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
   Software. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
   MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
   CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE
   OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

   ALTERNATIVE B - Public Domain (www.unlicense.org). This is free and unencumbered software released into the public domain. Anyone is free to
   copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or as a compiled binary, for any purpose,
   commercial or non-commercial, and by any means. In jurisdictions that recognize copyright laws, the author or authors of this software
   dedicate any and all copyright interest in the software to the public domain. THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND.
   ==================================================================================================== */
