/* Files that a test makes for itself: a folder below /tmp, gone at the end. */
#ifndef KVS_TEST_FILES_H
#define KVS_TEST_FILES_H
#include <dirent.h>

static char f_dir[64];                                   /* "" when there is none */
static char f_path_buf[4][512];

/* dir/name; lives until the fourth call from here. */
static const char *f_path(const char *name)
{
    static int next;
    char *p = f_path_buf[next++ % 4];
    snprintf(p, sizeof f_path_buf[0], "%s/%s", f_dir, name);
    return p;
}

static void f_open(void)
{
    strcpy(f_dir, "/tmp/kvs_test_XXXXXX");
    CHECK_MSG(mkdtemp(f_dir) != NULL, "no folder below /tmp");
}

static void f_clear(void)
{
    DIR *d = opendir(f_dir);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL) if (e->d_name[0] != '.' || e->d_name[1] == '_') unlink(f_path(e->d_name));
    if (d) closedir(d);
}

static void f_close(void)
{
    f_clear();
    CHECK_MSG(rmdir(f_dir) == 0, "%s is not empty", f_dir);
    f_dir[0] = 0;
}

static void f_write(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(f_path(name), "wb");
    CHECK_MSG(f != NULL, "cannot write %s", name);
    if (!f) return;
    CHECK_EQ_INT(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* A safetensors file: the header as given, n_data bytes 0, 1, 2, .. (mod 64: as f32 all finite). */
static void f_safetensors(const char *name, const char *header, size_t n_data)
{
    size_t n = strlen(header);
    unsigned char *p = (unsigned char *)malloc(8 + n + n_data);
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)((uint64_t)n >> (8 * i));
    memcpy(p + 8, header, n);
    for (size_t i = 0; i < n_data; i++) p[8 + n + i] = (unsigned char)(i % 64);
    f_write(name, p, 8 + n + n_data);
    free(p);
}

/* An allocator that fails at call number f_fail_at (from 1; 0: never). */
static int f_fail_at, f_calls;
static void *f_alloc(size_t bytes, void *user) { (void)user; return ++f_calls == f_fail_at ? NULL : malloc(bytes); }
static void f_free(void *p, void *user) { (void)user; free(p); }
static const kvs_allocator f_allocator = {f_alloc, f_free, NULL};
#endif
