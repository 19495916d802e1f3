/* Fuzzes safetensors files, their headers, and the index of shards.

       cc -g -O1 -fsanitize=address,undefined tests/fuzz_safetensors.c -o build/fuzz_safetensors -lm -lpthread
       build/fuzz_safetensors [ITERATIONS [SEED]]            more in fuzz.h; run from the repository root

   An input that starts with '{' is a header (64 bytes of data follow it in the file), or, if it holds "weight_map", the
   index of a folder with two shards; any other is a whole file. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"

#define T(name, dtype, shape, range) \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" range "}"
static const char *const fuzz_seeds[] = {
    "{" T("a", "F32", "[2,8]", "[0,64]") "}",
    "{\"__metadata__\":{\"format\":\"pt\"}," T("a", "F32", "[2,4]", "[0,32]") "," T("b", "BF16", "[16]", "[32,64]") "}",
    "{" T("a", "I64", "[4]", "[0,32]") "," T("b", "F16", "[1,1,4,4]", "[32,64]") ","
    T("c", "BOOL", "[0]", "[64,64]") "}",
    "{\"metadata\":{},\"weight_map\":{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}}",
    "{\"weight_map\":{\"a\":\"one.safetensors\",\"../b\":\"../two.safetensors\"}}",
    "@tests/golden/models/llama-sharded/model-00001-of-00002.safetensors"
};

static char fuzz_dir[64], fuzz_path[8][128];
static void fuzz_cleanup(void)
{
    for (int i = 0; i < 4; i++) unlink(fuzz_path[i]);
    rmdir(fuzz_dir);
}

static void fuzz_file(const char *path, const char *header, size_t n_header, const char *data, size_t n_data)
{
    FILE *f = fopen(path, "wb");
    if (!f) return;
    for (int i = 0; i < 8 && header; i++) fputc((int)(((uint64_t)n_header >> (8 * i)) & 255), f);
    if (header) fwrite(header, 1, n_header, f);
    fwrite(data, 1, n_data, f);
    fclose(f);
}

static void fuzz_start(void)
{
    static const char *const name[] = {"one.safetensors", "two.safetensors", "model.safetensors.index.json",
                                       "x.safetensors"};
    static const char *const shard[] = {"{" T("a", "F32", "[2]", "[0,8]") "}", "{" T("b", "F32", "[2]", "[0,8]") "}"};
    strcpy(fuzz_dir, access("/dev/shm", W_OK) ? "/tmp/kvs_fuzz_XXXXXX" : "/dev/shm/kvs_fuzz_XXXXXX");
    if (!mkdtemp(fuzz_dir)) abort();
    for (int i = 0; i < 4; i++) snprintf(fuzz_path[i], sizeof fuzz_path[i], "%s/%s", fuzz_dir, name[i]);
    for (int i = 0; i < 2; i++) fuzz_file(fuzz_path[i], shard[i], strlen(shard[i]), "01234567", 8);
    atexit(fuzz_cleanup);
}

/* What was accepted must hold what it says: every byte is touched. */
static void fuzz_check(const kvs_safetensors *st)
{
    size_t n;
    uint64_t sum = 0;
    const kvs_tensor *t = kvs_safetensors_list(st, &n);
    for (size_t i = 0; i < n; i++) {
        for (uint64_t b = 0; b < t[i].bytes; b++) sum += ((const unsigned char *)t[i].data)[b];
        if (kvs_safetensors_find(st, t[i].name) != &t[i] || t[i].rank < 0 || t[i].rank > 8) abort();
    }
    if (sum == UINT64_MAX) abort();                      /* so that the sum is needed */
}

static void fuzz_one(const char *data, size_t n)
{
    static const char zeros[64];
    char err[KVS_MAX_ERROR];
    kvs_safetensors *st;
    if (!fuzz_dir[0]) fuzz_start();
    int header = n > 0 && data[0] == '{', index = 0;
    for (size_t i = 0; header && i + 10 < n && !index; i++) index = !memcmp(data + i, "weight_map", 10);
    const char *path = fuzz_path[index ? 2 : 3];
    if (header && !index) fuzz_file(path, data, n, zeros, sizeof zeros);
    else fuzz_file(path, NULL, 0, data, n);
    kvs_result r = kvs_safetensors_open(path, NULL, &st, err);
    if ((r == KVS_OK) != (st != NULL) || (r != KVS_OK && !err[0])) abort();
    if (st) fuzz_check(st);
    kvs_safetensors_close(st);
}

#include "fuzz.h"
