/* Of two translation units, the one with the implementation. */
#define KVSERVE_IMPLEMENTATION
#include "../../kvserve.h"

size_t two_impl_sizes(void);
size_t two_impl_sizes(void)
{
    return sizeof(kvs_config) + sizeof(kvs_sampling) + sizeof(kvs_output);
}
