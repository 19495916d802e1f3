/* Of two translation units, the one that only uses it. Both must agree about the structs. With two_impl.c. */
#include "../../kvserve.h"

size_t two_impl_sizes(void);

int main(void)
{
    kvs_engine *e = NULL;
    kvs_config cfg = {0};
    cfg.model = "tests/adopt";                           /* not a model: the error must come back as one */
    kvs_result r = kvs_open(&cfg, &e);
    const char *text = kvs_last_error(e);
    size_t sizes = sizeof(kvs_config) + sizeof(kvs_sampling) + sizeof(kvs_output);
    int bad = r >= 0 || !text || !text[0] || sizes != two_impl_sizes();
    kvs_close(e);
    return bad;
}
