/* Every test of kvserve in one program; run it from the repository root.

       build/tests [--list] [--long] [FILTER...]

   FILTER: a suite (sample), or part of a test's name (top_p). --long: property tests at full length.
   One translation unit, with the implementation: tests may look at private functions. */
#define KVSERVE_IMPLEMENTATION
#include "../kvserve.h"
#include "test.h"

static int t_long;                                       /* tests multiply their random cases by ten or so */

/* What RUN does with a test: list it, skip it, or run it. */
static int t_list, t_n_filters, t_whole_suite;
static char **t_filters;
static void t_go(const char *name, void (*fn)(void))
{
    int wanted = t_whole_suite || t_n_filters == 0;
    for (int i = 0; i < t_n_filters && !wanted; i++) wanted = strstr(name, t_filters[i]) != NULL;
    if (!wanted) return;
    if (t_list) printf("%s\n", name);
    else t_run(name, fn);
}
#undef RUN
#define RUN(fn) t_go(#fn, fn)

/* The suites, in the order of the header's sections; then the ones that cross them. */
#if __has_include("test_base.c")
#  include "test_base.c"
#else
SUITE(base) {}
#endif
#if __has_include("test_json.c")
#  include "test_json.c"
#else
SUITE(json) {}
#endif
#if __has_include("test_unicode.c")
#  include "test_unicode.c"
#else
SUITE(unicode) {}
#endif
#if __has_include("test_regex.c")
#  include "test_regex.c"
#else
SUITE(regex) {}
#endif
#if __has_include("test_tokenizer.c")
#  include "test_tokenizer.c"
#else
SUITE(tokenizer) {}
#endif
#if __has_include("test_template.c")
#  include "test_template.c"
#else
SUITE(template) {}
#endif
#if __has_include("test_safetensors.c")
#  include "test_safetensors.c"
#else
SUITE(safetensors) {}
#endif
#if __has_include("test_model.c")
#  include "test_model.c"
#else
SUITE(model) {}
#endif
#if __has_include("test_blocks.c")
#  include "test_blocks.c"
#else
SUITE(blocks) {}
#endif
#if __has_include("test_prefix.c")
#  include "test_prefix.c"
#else
SUITE(prefix) {}
#endif
#if __has_include("test_sched.c")
#  include "test_sched.c"
#else
SUITE(sched) {}
#endif
#if __has_include("test_batch.c")
#  include "test_batch.c"
#else
SUITE(batch) {}
#endif
#if __has_include("test_cpu.c")
#  include "test_cpu.c"
#else
SUITE(cpu) {}
#endif
#if __has_include("test_simd.c")
#  include "test_simd.c"
#else
SUITE(simd) {}
#endif
#if __has_include("test_forward.c")
#  include "test_forward.c"
#else
SUITE(forward) {}
#endif
#if __has_include("test_sample.c")
#  include "test_sample.c"
#else
SUITE(sample) {}
#endif
#if __has_include("test_engine.c")
#  include "test_engine.c"
#else
SUITE(engine) {}
#endif
#if __has_include("test_inspect.c")
#  include "test_inspect.c"
#else
SUITE(inspect) {}
#endif
#if __has_include("test_determinism.c")
#  include "test_determinism.c"
#else
SUITE(determinism) {}
#endif
#if __has_include("test_pitfalls.c")
#  include "test_pitfalls.c"
#else
SUITE(pitfalls) {}
#endif
#if __has_include("test_badfiles.c")
#  include "test_badfiles.c"
#else
SUITE(badfiles) {}
#endif
#if __has_include("test_api.c")
#  include "test_api.c"
#else
SUITE(api) {}
#endif

static const struct { const char *name; void (*run)(void); } t_suites[] = {
#define T_SUITE(name) {#name, suite_##name}
    T_SUITE(base), T_SUITE(json), T_SUITE(unicode), T_SUITE(regex), T_SUITE(tokenizer), T_SUITE(template),
    T_SUITE(safetensors), T_SUITE(model), T_SUITE(blocks), T_SUITE(prefix), T_SUITE(sched), T_SUITE(batch),
    T_SUITE(cpu), T_SUITE(simd), T_SUITE(forward), T_SUITE(sample), T_SUITE(engine), T_SUITE(inspect),
    T_SUITE(determinism), T_SUITE(pitfalls), T_SUITE(badfiles), T_SUITE(api),
#undef T_SUITE
};

int main(int argc, char **argv)
{
    t_filters = argv + 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) t_list = 1;
        else if (strcmp(argv[i], "--long") == 0) t_long = 1;
        else t_filters[t_n_filters++] = argv[i];
    }
    for (size_t s = 0; s < sizeof t_suites / sizeof *t_suites; s++) {
        t_whole_suite = 0;
        for (int i = 0; i < t_n_filters; i++) t_whole_suite |= strcmp(t_suites[s].name, t_filters[i]) == 0;
        t_suites[s].run();
    }
    if (t_list) return 0;
    if (t_passed + t_failed == 0) printf("no test matches\n");
    printf("%d passed, %d failed\n", t_passed, t_failed);
    return t_failed || t_passed == 0;
}
