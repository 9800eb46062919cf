#include "index/writer.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/codec.h"
#include "index/session_list.h"
#include "index/skip.h"

#define WRITE_PIECE (1u << 20)

struct segment_writer {
	int fd, error;
	const struct doc_row *rows;
	size_t nrows;
	struct buf out, dictionary, index;
	struct buf skips, map, sessions, data, positions; /* of the term in hand */
	struct session_lists *lists;
	uint64_t written; /* bytes that left `out` */
	char stem[KEY_MAX];
	size_t stem_len;
	struct trailer t;
};

struct segment_writer *writer_new(int fd, const struct doc_row *rows, size_t n)
{
	struct segment_writer *w = mem_alloc(sizeof(*w));
	w->fd = fd;
	w->rows = rows;
	w->nrows = n;
	w->lists = session_lists_new(rows, n);
	w->out.max = w->dictionary.max = w->index.max = SIZE_MAX / 2;
	return w;
}

static void write_piece(struct segment_writer *w, bool is_last)
{
	if (w->fd < 0 || (!is_last && w->out.len < WRITE_PIECE))
		return;
	if (!w->error && file_write_all(w->fd, w->out.data, w->out.len) != 0)
		w->error = errno;
	w->written += w->out.len;
	buf_cut(&w->out, 0);
}

static uint64_t writer_at(const struct segment_writer *w)
{
	return w->written + w->out.len;
}

static void put_positions(
	struct segment_writer *w, const struct term_postings *t, size_t from, size_t to, size_t *at)
{
	struct bits_out bits = { .out = &w->positions };
	for (size_t i = from; i < to; i++) {
		if (!code_table()[t->codes[i]].is_exact)
			bits_put(&bits, t->counts[i], POSITIONS_BITS);
		for (unsigned k = 0; k < t->counts[i]; k++)
			bits_put(&bits, t->positions[(*at)++], w->rows[t->docs[i]].position_bits);
	}
	bits_flush(&bits);
}

static uint32_t gap_before(const struct term_postings *t, size_t i)
{
	return i ? t->docs[i] - t->docs[i - 1] - 1 : t->docs[0];
}

static unsigned varint_bytes(uint32_t v)
{
	return v < 1u << 7 ? 1 : v < 1u << 14 ? 2 : v < 1u << 21 ? 3 : v < 1u << 28 ? 4 : 5;
}

static size_t packed_bytes(const uint32_t values[POSTING_BLOCK], unsigned width)
{
	size_t bytes = POSTING_BLOCK / 8 * width, exceptions = 0;
	for (size_t i = 0; i < POSTING_BLOCK; i++) {
		uint64_t high = (uint64_t)values[i] >> width;
		if (high) {
			bytes += 1 + varint_bytes((uint32_t)high);
			exceptions++;
		}
	}
	return exceptions > EXCEPTIONS_MAX ? SIZE_MAX : bytes;
}

static unsigned best_width(const uint32_t values[POSTING_BLOCK])
{
	uint32_t all = 0;
	for (size_t i = 0; i < POSTING_BLOCK; i++)
		all |= values[i];
	unsigned best = bits_width(all);
	size_t least = packed_bytes(values, best);
	for (unsigned width = best; width > 0;) {
		size_t bytes = packed_bytes(values, --width);
		if (bytes == SIZE_MAX)
			break;
		if (bytes < least) {
			least = bytes;
			best = width;
		}
	}
	return best;
}

/* See skip.h. Returns the width. */
static unsigned put_packed(struct buf *out, const uint32_t values[POSTING_BLOCK])
{
	unsigned width = best_width(values), exceptions = 0;
	const uint32_t mask = (uint32_t)(((uint64_t)1 << width) - 1);
	for (size_t i = 0; i < POSTING_BLOCK; i++)
		exceptions += (uint64_t)values[i] >> width != 0;
	buf_char(out, (char)exceptions);
	struct bits_out bits = { .out = out };
	for (size_t i = 0; i < POSTING_BLOCK; i++)
		bits_put(&bits, values[i] & mask, width);
	for (size_t i = 0; i < POSTING_BLOCK; i++) {
		uint64_t high = (uint64_t)values[i] >> width;
		if (!high)
			continue;
		buf_char(out, (char)i);
		varint_put(out, high);
	}
	return width;
}

/* The greatest counts of a block and its shortest document: what bounds its scores. */
static void put_bounds(struct segment_writer *w, const struct term_postings *t, size_t from)
{
	unsigned title = 0, body = 0, rest = 0;
	uint8_t shortest = UINT8_MAX;
	for (size_t i = from; i < from + POSTING_BLOCK; i++) {
		const struct code_info *c = &code_table()[t->codes[i]];
		title = MAX(title, c->title);
		body = MAX(body, c->body);
		rest = MAX(rest, c->rest);
		shortest = MIN(shortest, w->rows[t->docs[i]].length);
	}
	fixed_put(&w->skips, code_of(title, body, rest), 1);
	fixed_put(&w->skips, shortest, 1);
}

static void put_block(
	struct segment_writer *w, const struct term_postings *t, size_t from, size_t *at)
{
	size_t positions_at = w->positions.len;
	uint32_t gaps[POSTING_BLOCK], codes[POSTING_BLOCK];
	for (size_t i = 0; i < POSTING_BLOCK; i++) {
		gaps[i] = gap_before(t, from + i);
		codes[i] = t->codes[from + i];
	}
	unsigned gap_bits = w->map.len ? 0 : put_packed(&w->data, gaps);
	unsigned code_bits = put_packed(&w->data, codes);
	if (t->has_positions)
		put_positions(w, t, from, from + POSTING_BLOCK, at);
	fixed_put(&w->skips, t->docs[from + POSTING_BLOCK - 1], 4);
	fixed_put(&w->skips, w->data.len, 4);
	fixed_put(&w->skips, positions_at, 4);
	fixed_put(&w->skips, gap_bits, 1);
	fixed_put(&w->skips, code_bits, 1);
	put_bounds(w, t, from);
}

static void put_tail(
	struct segment_writer *w, const struct term_postings *t, size_t from, size_t *at)
{
	for (size_t i = from; i < t->n; i++) {
		varint_put(&w->data, (uint64_t)gap_before(t, i) << 1 | (t->codes[i] != 0));
		if (t->codes[i])
			buf_char(&w->data, (char)t->codes[i]);
	}
	if (t->has_positions)
		put_positions(w, t, from, t->n, at);
}

/* Of a list that is long and dense enough. */
static void put_map(struct segment_writer *w, const struct term_postings *t)
{
	buf_cut(&w->map, 0);
	if (t->n < POSTING_BLOCK || t->n < w->nrows / DENSE_SHARE)
		return;
	fixed_fill(&w->map, map_bytes(w->nrows));
	for (size_t i = 0; i < t->n; i++)
		w->map.data[t->docs[i] / 8] |= (char)(1u << t->docs[i] % 8);
}

static size_t put_list(struct segment_writer *w, const struct term_postings *t)
{
	size_t blocks = t->n / POSTING_BLOCK, at = 0;
	put_map(w, t);
	buf_cut(&w->sessions, 0);
	session_lists_put(w->lists, t, &w->sessions);
	buf_cut(&w->skips, 0);
	buf_cut(&w->data, 0);
	buf_cut(&w->positions, 0);
	for (size_t b = 0; b < blocks; b++)
		put_block(w, t, b * POSTING_BLOCK, &at);
	size_t tail_at = w->positions.len, before = w->out.len;
	put_tail(w, t, blocks * POSTING_BLOCK, &at);
	if (blocks) {
		fixed_put(&w->out,
			LIST_HEAD + w->skips.len + w->map.len + w->sessions.len + w->data.len, 4);
		fixed_put(&w->out, tail_at, 4);
		fixed_put(&w->out, w->map.len, 4);
		fixed_put(&w->out, w->sessions.len, 4);
		buf_add(&w->out, w->skips.data, w->skips.len);
		buf_add(&w->out, w->map.data, w->map.len);
		buf_add(&w->out, w->sessions.data, w->sessions.len);
	}
	buf_add(&w->out, w->data.data, w->data.len);
	buf_add(&w->out, w->positions.data, w->positions.len);
	return w->out.len - before;
}

static size_t common(struct str a, struct str b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

static void put_tail_of(struct buf *b, struct str s, size_t keep)
{
	buf_char(b, (char)(s.n - keep));
	buf_add(b, s.p + keep, s.n - keep);
}

static void put_entry(
	struct segment_writer *w, const struct term_postings *t, size_t list_len, uint64_t list_at)
{
	size_t keep = common((struct str){ w->stem, w->stem_len }, t->stem);
	if (w->t.terms % DICTIONARY_BLOCK == 0) {
		keep = 0;
		fixed_put(&w->index, w->dictionary.len, 4);
		fixed_put(&w->index, list_at, 8);
		w->t.blocks++;
	}
	w->t.terms++;
	buf_char(&w->dictionary, (char)keep);
	put_tail_of(&w->dictionary, t->stem, keep);
	if (str_eq(t->stem, t->word)) {
		buf_char(&w->dictionary, 0);
	} else {
		size_t shared = common(t->stem, t->word);
		buf_char(&w->dictionary, (char)(1 + t->stem.n - shared));
		put_tail_of(&w->dictionary, t->word, shared);
	}
	varint_put(&w->dictionary, (uint64_t)t->n << 1 | t->has_positions);
	varint_put(&w->dictionary, list_len);
	memcpy(w->stem, t->stem.p, t->stem.n);
	w->stem_len = t->stem.n;
}

void writer_add(struct segment_writer *w, const struct term_postings *t)
{
	uint64_t at = writer_at(w);
	size_t len = put_list(w, t);
	put_entry(w, t, len, at);
	write_piece(w, false);
}

static uint64_t column_value(const struct doc_row *r, enum column c)
{
	const struct doc_columns *d = &r->columns;
	switch (c) {
	case COLUMN_ROW:
		return (uint64_t)DOC_ROW(r->id);
	case COLUMN_AT:
		return (uint64_t)MAX(0, MIN(d->at, AT_MAX));
	case COLUMN_PROJECT:
		return d->project;
	case COLUMN_SESSION:
		return d->session;
	case COLUMN_BRANCH:
		return d->branch;
	case COLUMN_KIND:
		return d->kind;
	case COLUMN_TYPE:
		return d->type;
	case COLUMN_STATUS:
		return d->status;
	case COLUMN_ORIGIN:
		return d->origin;
	case COLUMN_AGENT:
		return d->agent;
	case COLUMN_CONFIDENCE:
		return d->confidence;
	case COLUMN_FLAGS:
		return d->flags;
	case COLUMN_LENGTH:
		return r->length;
	case COLUMN_POSITION_BITS:
		return r->position_bits;
	default:
		return 0;
	}
}

static void put_column(struct segment_writer *w, enum column c)
{
	uint64_t min = UINT64_MAX, max = 0;
	for (size_t i = 0; i < w->nrows; i++) {
		uint64_t v = column_value(&w->rows[i], c);
		min = MIN(min, v);
		max = MAX(max, v);
	}
	if (c == COLUMN_LENGTH || c == COLUMN_POSITION_BITS) { /* read as bytes */
		min = 0;
		max = UINT8_MAX;
	}
	unsigned width = w->nrows ? bits_width(max - min) : 0;
	w->t.columns[c] = (struct packed_column){ writer_at(w), w->nrows ? min : 0, width };
	struct bits_out bits = { .out = &w->out };
	for (size_t i = 0; i < w->nrows; i++)
		bits_put(&bits, column_value(&w->rows[i], c) - min, width);
	bits_flush(&bits);
}

static void put_rest(struct segment_writer *w)
{
	w->t.postings_len = writer_at(w);
	w->t.dictionary_at = writer_at(w);
	w->t.dictionary_len = w->dictionary.len;
	buf_add(&w->out, w->dictionary.data, w->dictionary.len);
	w->t.index_at = writer_at(w);
	buf_add(&w->out, w->index.data, w->index.len);
	for (int c = 0; c < COLUMN_COUNT; c++)
		put_column(w, (enum column)c);
	w->t.docs = (uint32_t)w->nrows;
	for (size_t i = 0; i < w->nrows; i++)
		for (unsigned c = (unsigned)DOC_CLASS(w->rows[i].id) + 1; c <= CLASS_COUNT; c++)
			w->t.class_start[c] = (uint32_t)i + 1;
	w->t.version = format_version();
	w->t.magic = SEGMENT_MAGIC;
	fixed_put(&w->out, 0, BITS_PAD);
	buf_add(&w->out, &w->t, sizeof(w->t));
}

int writer_end(struct segment_writer *w, struct buf *ret, uint64_t *ret_len, struct err *err)
{
	put_rest(w);
	*ret_len = writer_at(w);
	write_piece(w, true);
	int error = w->error;
	if (w->fd < 0)
		*ret = w->out;
	else
		buf_done(&w->out);
	buf_done(&w->dictionary);
	buf_done(&w->index);
	buf_done(&w->skips);
	buf_done(&w->map);
	buf_done(&w->sessions);
	session_lists_free(w->lists);
	buf_done(&w->data);
	buf_done(&w->positions);
	free(w);
	return error ? err_set(err, ERR_IO, "cannot write the index: %s", strerror(error)) : 0;
}
