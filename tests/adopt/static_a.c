/* KVSERVE_STATIC: every function is private to its file, so two files may each hold a copy. With static_b.c. */
#define KVSERVE_STATIC
#define KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"

int static_b(void);

int main(void)
{
    return kvs_result_str(KVS_OK)[0] == 'o' ? static_b() : 1;
}
