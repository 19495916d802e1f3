/* Declarations first (from some other header, say), the implementation at the end of the file; then both once more. */
#include "../../kvserve.h"

int main(void)
{
    kvs_config cfg = {0}, full;
    kvs_config_resolve(&cfg, &full);
    return full.block_size == 16 && kvs_result_str(KVS_IDLE)[0] == 'n' ? 0 : 1;
}

#define KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"
#undef KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"
