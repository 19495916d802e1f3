// C++ that calls an implementation compiled as C (two_impl.c).
#include "../../kvserve.h"

extern "C" size_t two_impl_sizes(void);

int main()
{
    kvs_engine *e = nullptr;
    kvs_config cfg = {};
    bool refused = kvs_open(&cfg, &e) == KVS_ERR_INVALID;
    kvs_close(e);
    return refused && two_impl_sizes() > 0 ? 0 : 1;
}
