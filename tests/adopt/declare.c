/* Declarations alone: every public type is complete enough to be used, nothing else is needed to compile. */
#include "../../kvserve.h"

int declare_only(const kvs_output *o);
int declare_only(const kvs_output *o)
{
    kvs_sampling s = {0};
    kvs_prompt p = {0};
    kvs_memory_plan plan = {0};
    kvs_stats stats = {0};
    s.n = 2; p.text = "x"; plan.num_blocks = 1; stats.steps = 1;
    return (int)(o->n_tokens + (size_t)s.n + sizeof p + plan.num_blocks + stats.steps);
}
