/*
 * The index alone, in memory of one process: builds documents of varied made-up text, asks a mix of
 * questions and prints processor times, sizes and memory; SQLite's FTS5 answers the same questions
 * beside it.
 *
 *   bench_index [DOCUMENTS [QUESTIONS [FOLDER]]]     100000, 300, a folder in /tmp
 *
 * A folder that is named is kept, and what it holds is used again.
 */

#include <malloc.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "index/query.h"

#define VOCABULARY 40000
#define TOPIC_WORDS 60
#define TOPIC_NAMES 15
#define DOCS_PER_SESSION 25
#define TEXT_BYTES 1200
#define BATCH 500
#define WORD_MAX 24
#define ROUNDS 5 /* the first warms up */

static uint64_t seed = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % n);
}

/*
 * Words of syllables, drawn by Zipf's law; function words and identifiers between them; each
 * session has words of its own.
 */
struct corpus {
	char words[VOCABULARY][WORD_MAX];
	double sums[VOCABULARY];
	unsigned topic[TOPIC_WORDS], names[TOPIC_NAMES][2];
};

static const char *const glue[] = { "the", "a", "of", "and", "to", "in", "it", "that", "with",
	"for", "on", "as", "by", "from", "is", "was", "this", "which", "when", "after", "before",
	"only", "now", "also", "because", "so", "then" };

static void corpus_fill(struct corpus *c)
{
	static const char *const syllables[] = { "ba", "ce", "di", "fo", "gu", "ha", "ki", "lo",
		"mu", "na", "pe", "qui", "ra", "so", "tu", "va", "we", "xi", "yo", "zu", "bra",
		"cle", "dri", "flo", "gru", "pla", "sti", "tro", "kna", "phe", "ing", "er" };
	double sum = 0;
	for (int i = 0; i < VOCABULARY; i++) {
		c->words[i][0] = '\0';
		for (uint32_t n = 1 + (i > 30) + rnd(3); n > 0; n--)
			strcat(c->words[i], syllables[rnd(ARRAY_LEN(syllables))]);
		sum += 1.0 / (i + 6);
		c->sums[i] = sum;
	}
}

static unsigned corpus_draw(const struct corpus *c)
{
	double x = rnd(1u << 30) / (double)(1u << 30) * c->sums[VOCABULARY - 1];
	int lo = 0, hi = VOCABULARY - 1;
	while (lo < hi) {
		int mid = (lo + hi) / 2;
		if (c->sums[mid] < x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (unsigned)lo;
}

static void corpus_new_topic(struct corpus *c)
{
	for (int i = 0; i < TOPIC_WORDS; i++)
		c->topic[i] = rnd(3) ? 200 + rnd(VOCABULARY - 200) : corpus_draw(c);
	for (int i = 0; i < TOPIC_NAMES; i++) {
		c->names[i][0] = corpus_draw(c);
		c->names[i][1] = c->topic[rnd(TOPIC_WORDS)];
	}
}

static void put_name(const struct corpus *c, struct buf *b)
{
	const unsigned *name = c->names[rnd(TOPIC_NAMES)];
	buf_printf(b, "%s_%s", c->words[name[0]], c->words[name[1]]);
}

static void put_word(const struct corpus *c, struct buf *b)
{
	uint32_t r = rnd(100);
	if (r < 38)
		buf_str(b, glue[rnd(ARRAY_LEN(glue))]);
	else if (r < 41)
		put_name(c, b);
	else if (r < 60)
		buf_str(b, c->words[c->topic[rnd(TOPIC_WORDS)]]);
	else
		buf_str(b, c->words[corpus_draw(c)]);
	buf_str(b, rnd(12) ? " " : ". ");
}

struct text {
	struct buf title, body, rest;
};

static void make_text(const struct corpus *c, struct text *t)
{
	buf_cut(&t->title, 0);
	buf_cut(&t->body, 0);
	buf_cut(&t->rest, 0);
	for (int i = 0; i < 8; i++)
		put_word(c, &t->title);
	while (t->body.len < TEXT_BYTES)
		put_word(c, &t->body);
	buf_printf(&t->rest, "src/%s/%s.c", c->words[c->topic[0]], c->words[c->topic[rnd(8)]]);
}

enum mix { ONE_RARE, ONE_COMMON, SHORT, LONG, TWELVE, FILTERED, NO_HIT, SESSIONS, MIX_COUNT };
static const char *const mix_names[] = { "one rare word", "one common word", "2-5 words",
	"6-11 words", "12 words", "2-12 words, filter", "no hit", "2-12 words, sessions" };

struct question {
	enum mix mix;
	char *text;
	uint32_t project;
};

/* Words that follow each other in a text that is there, function words left as they come. */
static void cut_question(const char *body, unsigned words, struct buf *out)
{
	const char *p = body + rnd(TEXT_BYTES / 2);
	while (*p && *p != ' ')
		p++;
	for (; *p && words > 0; p++) {
		if (*p == ' ' && p[1] != ' ')
			words--;
		if (words)
			buf_char(out, *p == '.' ? ' ' : *p);
	}
}

static void make_question(
	const struct corpus *c, const char *body, enum mix mix, struct question *q)
{
	struct buf b = { 0 };
	switch (mix) {
	case ONE_RARE:
		buf_str(&b, c->words[5000 + rnd(VOCABULARY - 5000)]);
		break;
	case ONE_COMMON:
		buf_str(&b, c->words[rnd(60)]);
		break;
	case NO_HIT:
		buf_printf(&b, "qqzz%uxx wwkk%uyy", rnd(1000), rnd(1000));
		break;
	case SHORT:
		cut_question(body, 3 + rnd(4), &b);
		break;
	case LONG:
		cut_question(body, 7 + rnd(6), &b);
		break;
	case TWELVE:
		cut_question(body, 13, &b);
		break;
	default:
		cut_question(body, 3 + rnd(11), &b);
		break;
	}
	*q = (struct question){ mix, buf_steal(&b), mix == FILTERED ? 1 + rnd(20) : 0 };
}

static size_t anonymous_bytes(void)
{
	AUTO(buf_done) struct buf b = { 0 };
	char line[200];
	size_t kb = 0;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Anonymous: %zu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024;
}

static int compare_times(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void print_times(const char *name, double *times, size_t n)
{
	if (n == 0)
		return;
	qsort(times, n, sizeof(*times), compare_times);
	printf("  %-22s %6zu  p50 %8.3f  p95 %8.3f  p99 %8.3f ms\n", name, n, times[n / 2],
		times[n * 95 / 100], times[n * 99 / 100]);
}

struct times {
	double *all, *by_mix[MIX_COUNT];
	size_t n, n_by_mix[MIX_COUNT];
};

static void times_add(struct times *t, enum mix mix, double ms, size_t most)
{
	if (!t->all) {
		t->all = mem_alloc(most * sizeof(double));
		for (int i = 0; i < MIX_COUNT; i++)
			t->by_mix[i] = mem_alloc(most * sizeof(double));
	}
	t->all[t->n++] = ms;
	t->by_mix[mix][t->n_by_mix[mix]++] = ms;
}

static void times_print(struct times *t)
{
	print_times("all", t->all, t->n);
	for (int i = 0; i < MIX_COUNT; i++)
		print_times(mix_names[i], t->by_mix[i], t->n_by_mix[i]);
}

/* Processor time: what else the machine does shall not count. */
static double since(uint64_t start)
{
	return (double)(clock_cpu_us() - start) / 1000;
}

static void ask_index(struct index *ix, struct analyser *an, const struct question *q)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct query_filter filter;
	struct search_result r;
	struct search s = { .query = query_parse(&a, an, str_of(q->text), &filter),
		.filter = { .project = q->project },
		.limit = 20,
		.by_session = q->mix == SESSIONS,
		.now = 1 };
	index_search(ix, &a, &s, &r, NULL);
}

/* Each word quoted, ORed: what a program must do so that no punctuation is an error. */
static void fts_question(const char *text, struct buf *out)
{
	struct str rest = str_of(text), word;
	while (str_split(&rest, ' ', &word))
		if (word.n)
			buf_printf(out, "%s\"%.*s\"", out->len ? " OR " : "", (int)word.n, word.p);
}

static void ask_fts(sqlite3_stmt *st, const char *match)
{
	sqlite3_bind_text(st, 1, match, -1, SQLITE_STATIC);
	while (sqlite3_step(st) == SQLITE_ROW)
		;
	sqlite3_reset(st);
}

struct bench {
	const char *dir;
	struct index *ix;
	sqlite3 *db;
	sqlite3_stmt *insert;
	struct question *questions;
	size_t nquestions, bytes;
	bool is_built; /* by an earlier run: texts are made for the questions only */
};

static void fts_add(struct bench *b, int64_t row, const struct text *t)
{
	sqlite3_bind_int64(b->insert, 1, row);
	sqlite3_bind_text(b->insert, 2, t->title.data, -1, SQLITE_STATIC);
	sqlite3_bind_text(b->insert, 3, t->body.data, -1, SQLITE_STATIC);
	sqlite3_bind_text(b->insert, 4, t->rest.data, -1, SQLITE_STATIC);
	sqlite3_step(b->insert);
	sqlite3_reset(b->insert);
}

static double build(struct bench *b, struct corpus *c, size_t docs, size_t questions)
{
	static struct text texts[BATCH];
	static struct doc batch[BATCH];
	double spent = 0;
	for (size_t i = 0, n = 0; i < docs; i++) {
		if (i % DOCS_PER_SESSION == 0)
			corpus_new_topic(c);
		struct text *t = &texts[n];
		make_text(c, t);
		batch[n++] = (struct doc){ .id = DOC_ID(DOC_MEMORY, i + 1),
			.columns = { .at = 1700000000000 + (int64_t)i * 60000,
				.project = 1 + (uint32_t)(i / DOCS_PER_SESSION % 20),
				.session = 1 + (uint32_t)(i / DOCS_PER_SESSION),
				.kind = 1 + (uint8_t)rnd(4),
				.type = (uint8_t)rnd(9),
				.agent = 1 + (uint8_t)rnd(2),
				.confidence = (uint8_t)rnd(256) },
			.title = { t->title.data, t->title.len },
			.body = { t->body.data, t->body.len },
			.rest = { t->rest.data, t->rest.len } };
		b->bytes += t->title.len + t->body.len + t->rest.len;
		if (b->db)
			fts_add(b, (int64_t)i + 1, t);
		if (b->nquestions < questions && rnd((uint32_t)docs) < 2 * questions) {
			make_question(c, t->body.data, (enum mix)(b->nquestions % MIX_COUNT),
				&b->questions[b->nquestions]);
			b->nquestions++;
		}
		if (n < BATCH && i + 1 < docs)
			continue;
		uint64_t start = clock_cpu_us();
		if (!b->is_built)
			index_put(b->ix, batch, n, NULL);
		if (index_wants_flush(b->ix) || i + 1 == docs)
			index_flush(b->ix, false, NULL);
		spent += since(start);
		n = 0;
	}
	return spent;
}

static void open_fts(struct bench *b)
{
	AUTO(arena_done) struct arena a = { 0 };
	sqlite3_open(path_join(&a, b->dir, "fts.db"), &b->db);
	sqlite3_exec(b->db,
		"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
		"CREATE VIRTUAL TABLE f USING fts5(title, body, rest, tokenize = 'porter "
		"unicode61', content='');BEGIN",
		NULL, NULL, NULL);
	sqlite3_prepare_v2(b->db, "INSERT INTO f(rowid, title, body, rest) VALUES (?1, ?2, ?3, ?4)",
		-1, &b->insert, NULL);
}

static void bench_fts(struct bench *b)
{
	struct times t = { 0 };
	sqlite3_stmt *st;
	sqlite3_exec(b->db, "COMMIT; INSERT INTO f(f) VALUES ('optimize')", NULL, NULL, NULL);
	sqlite3_prepare_v2(b->db,
		"SELECT rowid FROM f WHERE f MATCH ?1 ORDER BY bm25(f, 2.5, 1, 0.8) LIMIT 20", -1,
		&st, NULL);
	for (size_t i = 0; i < b->nquestions; i++) {
		AUTO(buf_done) struct buf q = { 0 };
		fts_question(b->questions[i].text, &q);
		uint64_t start = clock_cpu_us();
		ask_fts(st, buf_cstr(&q));
		times_add(&t, b->questions[i].mix, since(start), b->nquestions);
	}
	printf("SQLite FTS5 %s (no sessions, no filter, no pairs)\n", sqlite3_libversion());
	times_print(&t);
	sqlite3_finalize(st);
}

static void bench_index(struct bench *b, struct analyser *an)
{
	struct times t = { 0 };
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < b->nquestions; i++) {
			uint64_t start = clock_cpu_us();
			ask_index(b->ix, an, &b->questions[i]);
			if (round)
				times_add(&t, b->questions[i].mix, since(start),
					(ROUNDS - 1) * b->nquestions);
		}
	}
	puts("index");
	times_print(&t);
}

int main(int argc, char **argv)
{
	size_t docs = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000,
	       questions = argc > 2 ? strtoul(argv[2], NULL, 10) : 300;
	char made[] = "/tmp/remanence-bench-XXXXXX";
	struct bench b = { .dir = argc > 3 ? argv[3] : mkdtemp(made) };
	struct corpus *c = mem_alloc(sizeof(*c));
	struct err err;
	bool needs_rebuild, has_fts = !getenv("NO_FTS");
	char dir[4096];
	snprintf(dir, sizeof(dir), "%s/index", b.dir);
	corpus_fill(c);
	b.questions = mem_alloc(questions * sizeof(*b.questions));
	if (has_fts)
		open_fts(&b);
	if (index_open(dir, &b.ix, &needs_rebuild, &err) != 0)
		die("%s", err.text);
	struct index_stats st;
	index_stats(b.ix, &st);
	b.is_built = st.docs == docs;
	double spent = build(&b, c, docs, questions);
	index_stats(b.ix, &st);
	printf("%zu documents of %.0f bytes: put and flushed in %.0f ms (%.1f MB/s)\n", docs,
		(double)b.bytes / (double)docs, spent, (double)b.bytes / 1000 / spent);
	printf("%llu segments, %.1f MB: %.0f bytes per document\n", (unsigned long long)st.segments,
		(double)st.bytes / 1e6, (double)st.bytes / (double)docs);
	index_close(b.ix);
	malloc_trim(0);
	size_t before = anonymous_bytes();
	uint64_t start = clock_cpu_us();
	if (index_open(dir, &b.ix, &needs_rebuild, &err) != 0 || needs_rebuild)
		die("the index did not open again");
	printf("opened and verified in %.1f ms, %.1f MB of anonymous memory\n", since(start),
		(double)(anonymous_bytes() - before) / 1e6);
	struct analyser *an = analyser_new();
	bench_index(&b, an);
	malloc_trim(0);
	printf("%.1f MB of anonymous memory after the searches\n",
		(double)(anonymous_bytes() - before) / 1e6);
	if (has_fts)
		bench_fts(&b);
	if (argc <= 3)
		file_remove_tree(b.dir, NULL);
	return 0;
}
