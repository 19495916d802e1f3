/* safetensors: what is read, and that every broken file is refused by name. */
#include "files.h"

/* Opens dir/name; *err gets the text. The tensors are only counted. */
static kvs_result st_try(const char *name, char err[KVS_MAX_ERROR], size_t *n)
{
    kvs_safetensors *st = NULL;
    kvs_result r = kvs_safetensors_open(*name ? f_path(name) : f_dir, NULL, &st, err);
    kvs_safetensors_list(st, n);
    CHECK((r == KVS_OK) == (st != NULL));
    kvs_safetensors_close(st);
    return r;
}

static void test_st_read(void)
{
    char err[KVS_MAX_ERROR];
    kvs_safetensors *st = NULL;
    size_t n;
    f_open();
    f_safetensors("a.safetensors",
                  "{\"__metadata__\":{\"format\":\"pt\"},"
                  "\"z\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[4,28]},"
                  "\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[0,4]},"
                  "\"scalar\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[28,30]},"
                  "\"empty\":{\"dtype\":\"I64\",\"shape\":[0,5],\"data_offsets\":[28,28]},"
                  "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[1,1,2,2],\"data_offsets\":[30,34]}}   ", 34);
    CHECK_EQ_INT(kvs_safetensors_open(f_path("a.safetensors"), NULL, &st, err), KVS_OK);
    const kvs_tensor *list = kvs_safetensors_list(st, &n), *t = kvs_safetensors_find(st, "z");
    CHECK_EQ_INT(n, 5);
    CHECK(list && t);
    for (size_t i = 1; list && i < n; i++) CHECK(strcmp(list[i - 1].name, list[i].name) < 0);
    if (t) {
        CHECK_EQ_INT(t->dtype, KVS_F32);
        CHECK_EQ_INT(t->rank, 2);
        CHECK_EQ_INT(t->shape[0], 2);
        CHECK_EQ_INT(t->shape[1], 3);
        CHECK_EQ_INT(t->bytes, 24);
        CHECK_EQ_INT(((const unsigned char *)t->data)[0], 4);
        CHECK_STR(t->file, f_path("a.safetensors"));
    }
    t = kvs_safetensors_find(st, "mask");
    CHECK(t && t->dtype == KVS_AUTO && t->rank == 4);
    if (t) CHECK_STR(kvs__st_type_name(t), "BOOL");
    t = kvs_safetensors_find(st, "scalar");
    CHECK(t && t->rank == 0 && t->bytes == 2 && t->dtype == KVS_F16);
    t = kvs_safetensors_find(st, "empty");
    CHECK(t && t->bytes == 0);
    CHECK(kvs_safetensors_find(st, "y") == NULL && kvs_safetensors_find(st, "") == NULL);
    kvs_safetensors_close(st);
    f_safetensors("none.safetensors", "{}", 0);
    CHECK_EQ_INT(st_try("none.safetensors", err, &n), KVS_OK);
    CHECK_EQ_INT(n, 0);
    f_close();
    CHECK_EQ_INT(kvs_safetensors_open(NULL, NULL, &st, err), KVS_ERR_INVALID);
    CHECK_EQ_INT(kvs_safetensors_open("x", NULL, NULL, NULL), KVS_ERR_INVALID);
    kvs_safetensors_close(NULL);
}

#define ST_A "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}"
#define ST_B(range) ST_A ",\"bb\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" range "}"
#define ST_ONE(dtype, shape, range) "{\"bb\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" range "}}"

static void test_st_bad_header(void)
{
    static const struct { const char *header; size_t data; kvs_result res; const char *says; } bad[] = {
        {"", 0, KVS_ERR_FORMAT, "x.safetensors"},
        {"[]", 0, KVS_ERR_FORMAT, "not a JSON object"},
        {"{", 0, KVS_ERR_FORMAT, "x.safetensors:1"},
        {"{} x", 0, KVS_ERR_FORMAT, "x.safetensors:1"},
        {"{\"bb\":3}", 0, KVS_ERR_FORMAT, "\"bb\""},
        {"{\"__metadata__\":[]}", 0, KVS_ERR_FORMAT, "__metadata__"},
        {"{\"__metadata__\":{\"k\":1}}", 0, KVS_ERR_FORMAT, "\"k\""},
        {ST_ONE("7", "[2]", "[0,8]"), 8, KVS_ERR_FORMAT, "\"dtype\""},
        {ST_ONE("\"F4\"", "[2]", "[0,8]"), 8, KVS_ERR_UNSUPPORTED, "\"F4\""},
        {ST_ONE("\"F32\"", "2", "[0,8]"), 8, KVS_ERR_FORMAT, "\"shape\""},
        {ST_ONE("\"F32\"", "[-2]", "[0,8]"), 8, KVS_ERR_FORMAT, "dimension 0"},
        {ST_ONE("\"F32\"", "[1,2.0]", "[0,8]"), 8, KVS_ERR_FORMAT, "dimension 1"},
        {ST_ONE("\"F32\"", "[\"2\"]", "[0,8]"), 8, KVS_ERR_FORMAT, "dimension 0"},
        {ST_ONE("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), 8, KVS_ERR_UNSUPPORTED, "9 dimensions"},
        {ST_ONE("\"F32\"", "[4294967296,4294967296,2]", "[0,8]"), 8, KVS_ERR_FORMAT, "overflows"},
        {ST_ONE("\"F32\"", "[9223372036854775807]", "[0,8]"), 8, KVS_ERR_FORMAT, "overflows"},
        {ST_ONE("\"F32\"", "[3]", "[0,8]"), 8, KVS_ERR_FORMAT, "span 8 bytes, expected 12 for F32 [3]"},
        {ST_ONE("\"F32\"", "[2]", "[8,0]"), 8, KVS_ERR_FORMAT, "[8, 0]"},
        {ST_ONE("\"F32\"", "[2]", "[0,12]"), 8, KVS_ERR_FORMAT, "end <= 8"},
        {ST_ONE("\"F32\"", "[2]", "[-8,0]"), 8, KVS_ERR_FORMAT, "[-8, 0]"},
        {ST_ONE("\"F32\"", "[2]", "[0,8,8]"), 8, KVS_ERR_FORMAT, "two integers"},
        {ST_ONE("\"F32\"", "[2]", "[0]"), 8, KVS_ERR_FORMAT, "two integers"},
        {ST_ONE("\"F32\"", "[2]", "[0,8.5]"), 8, KVS_ERR_FORMAT, "two integers"},
        {ST_ONE("\"F32\"", "[2]", "{\"a\":0,\"b\":8}"), 8, KVS_ERR_FORMAT, "two integers"},
        {ST_ONE("\"F32\"", "[2]", "[0,18446744073709551616]"), 8, KVS_ERR_FORMAT, "two integers"},
        {ST_ONE("\"F32\",\"dtype\":\"F32\"", "[2]", "[0,8]"), 8, KVS_ERR_FORMAT, "\"dtype\" is given twice"},
        {"{\"bb\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, KVS_ERR_FORMAT, "\"shape\""},
        {"{\"bb\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, KVS_ERR_FORMAT, "\"dtype\""},
        {"{\"bb\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8, KVS_ERR_FORMAT, "\"data_offsets\""},
        {"{\"bb\\u0000c\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, KVS_ERR_FORMAT, "NUL"},
        {"{" ST_A "," ST_A "}", 8, KVS_ERR_FORMAT, "\"a\": it is given twice"},
        {"{" ST_B("[4,12]") "}", 12, KVS_ERR_FORMAT, "\"bb\": it starts at 4, expected 8: it overlaps"},
        {"{" ST_B("[0,8]") "}", 8, KVS_ERR_FORMAT, "it overlaps"},
        {"{" ST_B("[12,20]") "}", 20, KVS_ERR_FORMAT, "\"bb\": it starts at 12, expected 8: there is a hole"},
        {ST_ONE("\"F32\"", "[2]", "[4,12]"), 12, KVS_ERR_FORMAT, "hole"},
        {"{" ST_A "}", 12, KVS_ERR_FORMAT, "12 bytes of data, expected 8"},
        {"{}", 1, KVS_ERR_FORMAT, "1 bytes of data, expected 0"}
    };
    char err[KVS_MAX_ERROR];
    f_open();
    for (size_t i = 0; i < KVS__COUNT(bad); i++) {
        size_t n;
        f_safetensors("x.safetensors", bad[i].header, bad[i].data);
        kvs_result r = st_try("x.safetensors", err, &n);
        CHECK_MSG(r == bad[i].res, "%s: result %d, expected %d (%s)", bad[i].header, r, bad[i].res, err);
        CHECK_HAS(err, "x.safetensors");
        CHECK_HAS(err, bad[i].says);
    }
    f_close();
}

static void test_st_bad_file(void)
{
    static const char head[] = "{" ST_A "}";
    unsigned char file[8 + sizeof head - 1 + 8] = {0};
    char err[KVS_MAX_ERROR];
    size_t n;
    f_open();
    CHECK_EQ_INT(st_try("absent.safetensors", err, &n), KVS_ERR_IO);
    CHECK_HAS(err, "absent.safetensors");
    CHECK_EQ_INT(st_try("", err, &n), KVS_ERR_IO);
    CHECK_HAS(err, "model.safetensors.index.json");
    file[0] = sizeof head - 1;
    memcpy(file + 8, head, sizeof head - 1);
    for (size_t cut = 0; cut < sizeof file; cut++) {             /* cut off anywhere */
        f_write("x.safetensors", file, cut);
        CHECK_EQ_INT(st_try("x.safetensors", err, &n), KVS_ERR_FORMAT);
        CHECK_HAS(err, "x.safetensors");
    }
    f_write("x.safetensors", file, sizeof file);
    CHECK_EQ_INT(st_try("x.safetensors", err, &n), KVS_OK);
    for (int byte = 0; byte < 8; byte++) {                       /* a header that lies about its length */
        file[byte] ^= 0x80;
        f_write("x.safetensors", file, sizeof file);
        CHECK_EQ_INT(st_try("x.safetensors", err, &n), KVS_ERR_FORMAT);
        CHECK_HAS(err, "header claims");
        file[byte] ^= 0x80;
    }
    file[0]--;
    f_write("x.safetensors", file, sizeof file);
    CHECK_EQ_INT(st_try("x.safetensors", err, &n), KVS_ERR_FORMAT);
    f_close();
}

static void st_index(const char *weight_map)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"metadata\":{\"total_size\":16},\"weight_map\":%s}", weight_map);
    f_write("model.safetensors.index.json", text, strlen(text));
}

#define ST_BB "{\"bb\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}"

static void test_st_shards(void)
{
    static const struct { const char *map; kvs_result res; const char *says; } bad[] = {
        {"[]", KVS_ERR_FORMAT, "weight_map"},
        {"{\"a\":1}", KVS_ERR_FORMAT, "tensor \"a\""},
        {"{\"a\":\"../one.safetensors\"}", KVS_ERR_FORMAT, "../one.safetensors"},
        {"{\"a\":\"/etc/passwd\"}", KVS_ERR_FORMAT, "/etc/passwd"},
        {"{\"a\":\"sub/one.safetensors\"}", KVS_ERR_FORMAT, "sub/one"},
        {"{\"a\":\"sub\\\\one.safetensors\"}", KVS_ERR_FORMAT, "beside the index"},
        {"{\"a\":\"..\"}", KVS_ERR_FORMAT, "beside the index"},
        {"{\"a\":\"\"}", KVS_ERR_FORMAT, "beside the index"},
        {"{\"a\":\".safetensors\"}", KVS_ERR_FORMAT, "beside the index"},
        {"{\"a\":\"one.safetensors\\u0000\"}", KVS_ERR_FORMAT, "beside the index"},
        {"{\"a\":\"model.safetensors.index.json\"}", KVS_ERR_FORMAT, "model.safetensors.index.json\""},   /* itself */
        {"{\"a\":\"three.safetensors\"}", KVS_ERR_IO, "three.safetensors"},
        {"{\"a\":\"one.safetensors\",\"bb\":\"one.safetensors\"}", KVS_ERR_FORMAT,
         "\"bb\": expected in \"one.safetensors\""},
        {"{\"a\":\"two.safetensors\",\"bb\":\"one.safetensors\"}", KVS_ERR_FORMAT, "found in one.safetensors"},
        {"{\"a\":\"one.safetensors\",\"a\":\"one.safetensors\"}", KVS_ERR_FORMAT, "given twice"},
        {"{\"a\":\"one.safetensors\",\"bb\":\"two.safetensors\",\"c\":\"again.safetensors\"}", KVS_ERR_FORMAT,
         "tensor \"a\" is in"}
    };
    char err[KVS_MAX_ERROR];
    size_t n;
    f_open();
    f_safetensors("one.safetensors", "{" ST_A "}", 8);
    f_safetensors("two.safetensors", ST_BB, 8);
    f_safetensors("again.safetensors", "{" ST_A ",\"c\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[8,8]}}", 8);
    st_index("{\"a\":\"one.safetensors\",\"bb\":\"two.safetensors\"}");
    CHECK_EQ_INT(st_try("", err, &n), KVS_OK);                   /* the folder */
    CHECK_EQ_INT(n, 2);
    CHECK_EQ_INT(st_try("model.safetensors.index.json", err, &n), KVS_OK);
    CHECK_EQ_INT(n, 2);
    st_index("{\"bb\":\"two.safetensors\",\"c\":\"again.safetensors\"}");      /* a is in a shard but not in the map */
    CHECK_EQ_INT(st_try("", err, &n), KVS_OK);
    CHECK_EQ_INT(n, 2);
    st_index("{}");
    CHECK_EQ_INT(st_try("", err, &n), KVS_OK);
    CHECK_EQ_INT(n, 0);
    for (size_t i = 0; i < KVS__COUNT(bad); i++) {
        st_index(bad[i].map);
        kvs_result r = st_try("", err, &n);
        CHECK_MSG(r == bad[i].res, "%s: result %d, expected %d (%s)", bad[i].map, r, bad[i].res, err);
        CHECK_HAS(err, bad[i].says);
    }
    f_safetensors("model.safetensors", ST_BB, 8);                /* the single file goes before an index */
    CHECK_EQ_INT(st_try("", err, &n), KVS_OK);
    CHECK_EQ_INT(n, 1);
    f_close();
}

/* Every allocation may fail: a code, a text, no leak (the sanitizers see that). */
static void test_st_out_of_memory(void)
{
    char err[KVS_MAX_ERROR];
    kvs_safetensors *st;
    kvs_result r = KVS_ERR_MEMORY;
    for (f_fail_at = 1; r != KVS_OK && f_fail_at < 1000; f_fail_at++) {
        f_calls = 0;
        r = kvs_safetensors_open("tests/golden/models/llama-sharded", &f_allocator, &st, err);
        if (r == KVS_OK) { kvs_safetensors_close(st); break; }
        CHECK_EQ_INT(r, KVS_ERR_MEMORY);
        CHECK_HAS(err, "memory");
        CHECK(st == NULL);
    }
    CHECK(f_fail_at > 5 && f_fail_at < 1000);
    f_fail_at = 0;
}

SUITE(safetensors)
{
    RUN(test_st_read);
    RUN(test_st_bad_header);
    RUN(test_st_bad_file);
    RUN(test_st_shards);
    RUN(test_st_out_of_memory);
}
