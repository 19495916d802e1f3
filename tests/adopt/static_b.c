/* The other file: see static_a.c. */
#define KVSERVE_STATIC
#define KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"

int static_b(void);
int static_b(void)
{
    return kvs_result_str(KVS_IDLE)[0] == 'n' ? 0 : 1;
}
