/* bench_report.h - how bench.c shows what it measured: the table, --json, --svg, progress. Included by bench.c alone. */

static char *read_text(const char *path)               /* up to a megabyte; NULL if it cannot be read; free it */
{
    FILE *f = fopen(path, "rb");
    char *s = f ? (char *)calloc(1, 1 << 20) : NULL;
    if (s && !fread(s, 1, (1 << 20) - 1, f)) { free(s); s = NULL; }
    if (f) fclose(f);
    return s;
}

static void progress(const bench *b, const char *what, int i, int n)     /* what NULL: wipes it away */
{
    if (!isatty(2)) return;
    fprintf(stderr, "\r\033[K");
    if (what) fprintf(stderr, "[%d/%d] %s: %s %d of %d", b->at + 1, b->n_rows, b->rows[b->at].name, what, i, n);
}

/* ---- from repetitions to a row ---- */

static double value_of(const row *r, double seconds) { return r->amount > 0 ? r->amount / seconds : 1e3 * seconds; }

/* Medians. The limit and the share of it are medians, too, of what each repetition met: machines change in between. */
static void summarize(const bench *b, row *r)
{
    double v[10][MAX_REPS], dram = 0;
    int n = r->n;
    for (int i = 0; i < n; i++) {
        const sample *s = &r->s[i];
        v[0][i] = value_of(r, s->seconds); v[1][i] = value_of(r, s->floor); v[2][i] = 100 * s->floor / s->seconds;
        v[3][i] = s->peer; v[4][i] = s->peer > 0 ? v[0][i] / s->peer : 0;
        v[5][i] = s->p.ping_ns; v[6][i] = s->p.dram_one; v[7][i] = s->p.dram_all; v[8][i] = s->p.peak; v[9][i] = s->share;
        dram += s->by_dram;
    }
    r->by_dram = 2 * dram > n;
    r->median = probe_median(v[0], n); r->min = v[0][0]; r->max = v[0][n - 1];     /* sorted by now */
    r->limit = probe_median(v[1], n); r->percent = probe_median(v[2], n);
    r->share = probe_median(v[9], n);
    r->peer = probe_median(v[3], n); r->ratio = probe_median(v[4], n);
    r->p.ping_ns = probe_median(v[5], n); r->p.dram_one = probe_median(v[6], n);
    r->p.dram_all = probe_median(v[7], n); r->p.peak = probe_median(v[8], n);
    if (r->kind != MIXED || !b->n_wait) return;
    double wait[N_MIXED * MAX_REPS], pace[N_MIXED * MAX_REPS];
    memcpy(wait, b->wait, sizeof wait);
    memcpy(pace, b->pace, sizeof pace);
    double w = probe_median(wait, b->n_wait), p = probe_median(pace, b->n_wait);
    snprintf(r->note, sizeof r->note, "TTFT median %.0f, worst %.0f ms; each token median %.1f, worst %.1f", 1e3 * w,
             1e3 * wait[b->n_wait - 1], 1e3 * p, 1e3 * pace[b->n_wait - 1]);
}

static const char *unit(const row *r) { return r->amount > 0 ? "tok/s" : "ms"; }
static const char *bound(const row *r) { return r->by_dram ? "DRAM" : "maths"; }
static const char *digits(double v, char s[32])        /* three of them, or all before the point */
{
    snprintf(s, 32, "%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v);
    return s;
}

/* ---- the table, 80 columns ---- */

static void print_head(bench *b)
{
    char *text = read_text("/proc/cpuinfo"), *at = text ? strstr(text, "model name") : NULL;
    if (at && (at = strchr(at, ':')) && at[1] == ' ') snprintf(b->cpu, sizeof b->cpu, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
    free(text);
    printf("kvserve %s: %s, %s weights, %.1f M parameters\n", KVS_VERSION, b->title, b->dummy ? "random" : "its own",
           (double)b->info.n_params * 1e-6);
    printf("%s %s, %d threads; %s; peak is of %s\n", b->info.backend, b->info.isa, b->info.num_threads, b->cpu,
           b->prober.instruction);
    printf("median, min and max of %d repetitions, the machine measured around each\n", b->o.reps);
    static const char columns[] = "%-17s %8s %7s %7s %8s %-5s %4s %7s %6s %4s\n";
    putchar('\n');
    printf(columns, "", "", "", "", "limit", "", "% of", "DRAM", "peak", "ping");
    printf(columns, "row", "tok/s", "min", "max", "tok/s", "by", "it", "GB/s", "GF/s", "ns");
}

static void print_row(const bench *b, const row *r)
{
    char v[4][32], band[32], ping[32];
    progress(b, NULL, 0, 0);
    if (b->at == 0 || b->rows[b->at - 1].v != r->v) printf("weights %s, KV bf16\n", r->v->name);
    if (!r->n) { printf("%-17s %s\n", r->name, r->note); return; }
    snprintf(band, sizeof band, "%.0f/%.0f", r->p.dram_one * 1e-9, r->p.dram_all * 1e-9);
    snprintf(ping, sizeof ping, r->p.ping_ns <= 0 ? "-" : r->p.ping_ns < 9999 ? "%.0f" : "busy", r->p.ping_ns);
    printf("%-17s %8s %7s %7s %8s %-5s %4.0f %7s %6.0f %4s\n", r->name, digits(r->median, v[0]), digits(r->min, v[1]),
           digits(r->max, v[2]), digits(r->limit, v[3]), bound(r), r->percent, band, r->p.peak * 1e-9, ping);
    if (r->share < 0.9) printf("  busy machine: the threads had a processor for %.0f %% of the time\n", 100 * r->share);
    if (r->note[0]) printf("  %s\n", r->note);
    if (r->peer > 0) printf("  the other engine: %s tok/s; kvserve: %.2f times that\n", digits(r->peer, v[0]), r->ratio);
    else if (b->o.against && r->kind <= DECODE) printf("  the other engine failed, or printed no number\n");
    fflush(stdout);
}

static void print_foot(const bench *b)
{
    printf("\nlimit    what DRAM (weights and KV read once a step) or peak (maths) allow\n"
           "DRAM     by one thread / by all;   ping: a cache line to another thread and back\n"
           "prefill  one prompt, steps of at most 512 tokens (max_num_batched_tokens 512)\n"
           "decode   B requests of C tokens each, no prefix cache, whole steps\n");
    if (b->o.quick) putchar('\n');
    for (const row *r = b->rows; r < b->rows + b->n_rows && b->o.quick; r++)
        if (r->n) printf("row %s %.1f %s %.1f %.1f\n", r->id, r->median, unit(r), r->limit, r->percent);
}

/* ---- --json ---- */

static void json_string(FILE *f, const char *key, const char *s)
{
    fprintf(f, "\"%s\": \"", key);
    for (; *s; s++)
        if ((unsigned char)*s < 32) fprintf(f, "\\u%04x", (unsigned)*s);
        else fprintf(f, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    fprintf(f, "\", ");
}

static void json_row(FILE *f, const row *r)
{
    fprintf(f, "\n  {");
    json_string(f, "name", r->id);
    json_string(f, "unit", unit(r));
    json_string(f, "bound", r->by_dram ? "dram" : "maths");
    json_string(f, "note", r->note);
    fprintf(f, "\"median\": %.6g, \"min\": %.6g, \"max\": %.6g, \"limit\": %.6g, \"percent\": %.4g,\n   \"share\": %.3g, \"peer\": %.6g, "
            "\"ratio\": %.4g, \"repetitions\": [", r->median, r->min, r->max, r->limit, r->percent, r->share, r->peer, r->ratio);
    for (int i = 0; i < r->n; i++) {
        const sample *s = &r->s[i];
        fprintf(f, "%s\n    {\"value\": %.6g, \"limit\": %.6g, \"flops\": %.6g, \"bytes\": %.6g, ", i ? "," : "",
                value_of(r, s->seconds), value_of(r, s->floor), s->flops, s->bytes);
        fprintf(f, "\"ping_ns\": %.5g, \"dram_one\": %.5g, \"dram_all\": %.5g, \"peak\": %.5g, \"share\": %.3g, \"peer\": %.6g}",
                s->p.ping_ns, s->p.dram_one, s->p.dram_all, s->p.peak, s->share, s->peer);
    }
    fprintf(f, "]}");
}

static int write_json(const bench *b, const char *path)
{
    FILE *f = fopen(path, "w");
    int n = 0;
    if (!f) return -1;
    fprintf(f, "{");
    json_string(f, "kvserve", KVS_VERSION);
    json_string(f, "model", b->title);
    json_string(f, "cpu", b->cpu);
    json_string(f, "isa", b->info.isa);
    json_string(f, "against", b->o.against ? b->o.against : "");
    fprintf(f, "\"time\": %lld, \"parameters\": %llu, \"threads\": %d,\n \"rows\": [", (long long)time(NULL),
            (unsigned long long)b->info.n_params, b->info.num_threads);
    for (const row *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (!r->n) continue;
        if (n++) fputc(',', f);
        json_row(f, r);
    }
    fprintf(f, "]}\n");
    return fclose(f);
}

/* ---- --svg: each row is a frame as long as its limit, filled as far as it was reached ---- */

enum { SVG_LEFT = 165, SVG_WIDE = 330, SVG_STEP = 26, SVG_TOP = 74 };

static void svg_row(FILE *f, const row *r, int y)
{
    char v[2][32];
    double w = SVG_WIDE * (r->percent < 106 ? r->percent : 106) / 100, peer = r->ratio > 0 ? w / r->ratio : 0;
    fprintf(f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", SVG_LEFT - 10, y + 14, r->id);
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\" fill=\"#3b7dd8\"/>\n", SVG_LEFT, y, w);
    fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"18\" fill=\"none\" stroke=\"#888\"/>\n", SVG_LEFT, y, SVG_WIDE);
    if (peer > 0 && peer < 1.06 * SVG_WIDE)
        fprintf(f, "<rect x=\"%.1f\" y=\"%d\" width=\"3\" height=\"22\" fill=\"#d9480f\"/>\n", SVG_LEFT + peer - 1.5, y - 2);
    fprintf(f, r->amount > 0 ? "<text x=\"%d\" y=\"%d\">%s of %s tok/s: %.0f %%, %s</text>\n"
                             : "<text x=\"%d\" y=\"%d\">%s ms, at best %s: %.0f %%, %s</text>\n",
            SVG_LEFT + SVG_WIDE + 26, y + 14, digits(r->median, v[0]), digits(r->limit, v[1]), r->percent, bound(r));
}

static int write_svg(const bench *b, const char *path)
{
    int y = SVG_TOP, shown = 0;
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    for (int i = 0; i < b->n_rows; i++) shown += b->rows[i].n > 0;
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 760 %d\" font-family=\"sans-serif\" "
            "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            SVG_TOP + SVG_STEP * shown + (b->o.against ? 34 : 12));
    fprintf(f, "<text x=\"16\" y=\"28\" font-size=\"16\" font-weight=\"bold\">%s, %d threads: speed reached, of what this "
            "machine allows</text>\n", b->title, b->info.num_threads);
    fprintf(f, "<text x=\"16\" y=\"50\" fill=\"#555\">Blue: kvserve. Frame: the limit, set by memory (DRAM) or by "
            "arithmetic (maths).</text>\n");
    for (const row *r = b->rows; r < b->rows + b->n_rows; r++) {
        if (!r->n) continue;
        svg_row(f, r, y);
        y += SVG_STEP;
    }
    if (b->o.against) {
        fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"3\" height=\"16\" fill=\"#d9480f\"/>\n", SVG_LEFT, y + 6);
        fprintf(f, "<text x=\"%d\" y=\"%d\" fill=\"#d9480f\">", SVG_LEFT + 10, y + 19);
        for (const char *p = b->o.against; *p && *p != ' '; p++)
            fprintf(f, *p == '<' ? "&lt;" : *p == '&' ? "&amp;" : "%c", *p);
        fprintf(f, " in the same minutes</text>\n");
    }
    fprintf(f, "</svg>\n");
    return fclose(f);
}
