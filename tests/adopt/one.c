/* The common case: one file with the implementation, and the header included again behind it. */
#define KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"
#include "../../kvserve.h"

int main(void)
{
    return strcmp(kvs_result_str(KVS_OK), "ok");
}
