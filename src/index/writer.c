#include "index/writer.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "index/codec.h"
#include "index/session_list.h"
#include "index/skip.h"
#include "index/spill.h"

#define WRITE_PIECE (1u << 20)

struct segment_writer {
	int fd, error;
	const struct segment_docs *docs;
	struct buf out;
	struct spill dictionary, index;
	struct session_lists *lists;
	uint64_t written; /* bytes that left `out` */
	char stem[KEY_MAX];
	size_t stem_len;
	struct trailer t;
	/* The term in hand. */
	struct term_head head;
	struct buf skips, map, sessions, data;
	struct spill positions;
	uint32_t last; /* document of the last posting, + 1 */
	/* Its postings that are no whole block yet. */
	size_t n;
	uint32_t gaps[POSTING_BLOCK], numbers[POSTING_BLOCK];
	uint8_t codes[POSTING_BLOCK];
	uint16_t counts[POSTING_BLOCK];
	uint32_t *taken; /* their positions */
	size_t ntaken, taken_cap;
};

struct segment_writer *writer_new(int fd, const char *dir, const struct segment_docs *docs)
{
	struct segment_writer *w = mem_alloc(sizeof(*w));
	w->fd = fd;
	w->docs = docs;
	w->lists = session_lists_new(docs);
	w->out.max = SIZE_MAX / 2;
	spill_init(&w->dictionary, fd < 0 ? NULL : dir);
	spill_init(&w->index, fd < 0 ? NULL : dir);
	spill_init(&w->positions, fd < 0 ? NULL : dir);
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

static void put_piece(void *ctx, const void *data, size_t len)
{
	struct segment_writer *w = ctx;
	buf_add(&w->out, data, len);
	write_piece(w, false);
}

static uint64_t writer_at(const struct segment_writer *w)
{
	return w->written + w->out.len;
}

/* Of the postings in hand. */
static void put_positions(struct segment_writer *w)
{
	struct bits_out bits = { .out = &w->positions.held };
	for (size_t i = 0, at = 0; i < w->n; i++) {
		if (!code_table()[w->codes[i]].is_exact)
			bits_put(&bits, w->counts[i], POSITIONS_BITS);
		const unsigned width = w->docs->position_bits[w->numbers[i]];
		for (unsigned k = 0; k < w->counts[i]; k++)
			bits_put(&bits, w->taken[at++], width);
	}
	bits_flush(&bits);
	spill_settle(&w->positions);
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
static void put_bounds(struct segment_writer *w)
{
	unsigned title = 0, body = 0, rest = 0;
	uint8_t shortest = UINT8_MAX;
	for (size_t i = 0; i < POSTING_BLOCK; i++) {
		const struct code_info *c = &code_table()[w->codes[i]];
		title = MAX(title, c->title);
		body = MAX(body, c->body);
		rest = MAX(rest, c->rest);
		shortest = MIN(shortest, w->docs->lengths[w->numbers[i]]);
	}
	fixed_put(&w->skips, code_of(title, body, rest), 1);
	fixed_put(&w->skips, shortest, 1);
}

static void put_block(struct segment_writer *w)
{
	const uint64_t positions_at = spill_len(&w->positions);
	uint32_t codes[POSTING_BLOCK];
	for (size_t i = 0; i < POSTING_BLOCK; i++)
		codes[i] = w->codes[i];
	unsigned gap_bits = w->map.len ? 0 : put_packed(&w->data, w->gaps);
	unsigned code_bits = put_packed(&w->data, codes);
	if (w->head.has_positions)
		put_positions(w);
	fixed_put(&w->skips, w->numbers[POSTING_BLOCK - 1], 4);
	fixed_put(&w->skips, w->data.len, 4);
	fixed_put(&w->skips, positions_at, 4);
	fixed_put(&w->skips, gap_bits, 1);
	fixed_put(&w->skips, code_bits, 1);
	put_bounds(w);
}

static void put_tail(struct segment_writer *w)
{
	for (size_t i = 0; i < w->n; i++) {
		varint_put(&w->data, (uint64_t)w->gaps[i] << 1 | (w->codes[i] != 0));
		if (w->codes[i])
			buf_char(&w->data, (char)w->codes[i]);
	}
	if (w->head.has_positions)
		put_positions(w);
}

/* A list that is long and dense enough has one. */
static void start_map(struct segment_writer *w)
{
	buf_cut(&w->map, 0);
	if (w->head.n >= POSTING_BLOCK && w->head.n >= w->docs->n / DENSE_SHARE)
		fixed_fill(&w->map, map_bytes(w->docs->n));
}

void writer_term(struct segment_writer *w, const struct term_head *t)
{
	w->head = *t;
	w->last = 0;
	w->n = w->ntaken = 0;
	buf_cut(&w->skips, 0);
	buf_cut(&w->data, 0);
	start_map(w);
	session_lists_start(w->lists, t->n);
}

void writer_posting(
	struct segment_writer *w, uint32_t doc, uint8_t code, const uint32_t *positions, size_t n)
{
	w->gaps[w->n] = doc - w->last;
	w->numbers[w->n] = doc;
	w->codes[w->n] = code;
	w->counts[w->n++] = (uint16_t)n;
	w->last = doc + 1;
	if (n) {
		MEM_GROW(w->taken, w->taken_cap, w->ntaken + n);
		memcpy(w->taken + w->ntaken, positions, n * sizeof(*positions));
		w->ntaken += n;
	}
	if (w->map.len)
		w->map.data[doc / 8] |= (char)(1u << doc % 8);
	session_lists_add(w->lists, doc, code);
	if (w->n < POSTING_BLOCK)
		return;
	put_block(w);
	w->n = w->ntaken = 0;
}

/* What stands before the documents of a list with blocks. */
static void put_list_head(struct segment_writer *w, uint64_t tail_at)
{
	buf_cut(&w->sessions, 0);
	session_lists_end(w->lists, &w->sessions);
	fixed_put(
		&w->out, LIST_HEAD + w->skips.len + w->map.len + w->sessions.len + w->data.len, 4);
	fixed_put(&w->out, tail_at, 4);
	fixed_put(&w->out, w->map.len, 4);
	fixed_put(&w->out, w->sessions.len, 4);
	put_piece(w, w->skips.data, w->skips.len);
	put_piece(w, w->map.data, w->map.len);
	put_piece(w, w->sessions.data, w->sessions.len);
}

static uint64_t put_list(struct segment_writer *w)
{
	const uint64_t before = writer_at(w), tail_at = spill_len(&w->positions);
	put_tail(w);
	if (w->skips.len)
		put_list_head(w, tail_at);
	put_piece(w, w->data.data, w->data.len);
	spill_take(&w->positions, put_piece, w);
	return writer_at(w) - before;
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

static void put_entry(struct segment_writer *w, uint64_t list_len, uint64_t list_at)
{
	const struct term_head *t = &w->head;
	struct buf *out = &w->dictionary.held;
	size_t keep = common((struct str){ w->stem, w->stem_len }, t->stem);
	if (w->t.terms % DICTIONARY_BLOCK == 0) {
		keep = 0;
		fixed_put(&w->index.held, spill_len(&w->dictionary), 4);
		fixed_put(&w->index.held, list_at, 8);
		spill_settle(&w->index);
		w->t.blocks++;
	}
	w->t.terms++;
	buf_char(out, (char)keep);
	put_tail_of(out, t->stem, keep);
	if (str_eq(t->stem, t->word)) {
		buf_char(out, 0);
	} else {
		size_t shared = common(t->stem, t->word);
		buf_char(out, (char)(1 + t->stem.n - shared));
		put_tail_of(out, t->word, shared);
	}
	varint_put(out, (uint64_t)t->n << 1 | t->has_positions);
	varint_put(out, list_len);
	memcpy(w->stem, t->stem.p, t->stem.n);
	w->stem_len = t->stem.n;
	spill_settle(&w->dictionary);
}

void writer_term_end(struct segment_writer *w)
{
	uint64_t at = writer_at(w);
	put_entry(w, put_list(w), at);
}

uint64_t doc_row_column(const struct doc_row *r, enum column c)
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

static void column_range(
	const struct segment_docs *d, enum column c, uint64_t *ret_min, uint64_t *ret_max)
{
	uint64_t values[COLUMN_PIECE], min = UINT64_MAX, max = 0;
	for (size_t at = 0, n; at < d->n; at += n) {
		n = MIN(d->n - at, (size_t)COLUMN_PIECE);
		d->column(d->ctx, c, at, n, values);
		for (size_t i = 0; i < n; i++) {
			min = MIN(min, values[i]);
			max = MAX(max, values[i]);
		}
	}
	const bool is_bytes = c == COLUMN_LENGTH || c == COLUMN_POSITION_BITS; /* read as such */
	*ret_min = is_bytes || !d->n ? 0 : min;
	*ret_max = is_bytes ? UINT8_MAX : max;
}

static void put_column(struct segment_writer *w, enum column c)
{
	const struct segment_docs *d = w->docs;
	uint64_t values[COLUMN_PIECE], min, max;
	column_range(d, c, &min, &max);
	unsigned width = d->n ? bits_width(max - min) : 0;
	w->t.columns[c] = (struct packed_column){ writer_at(w), min, width };
	struct bits_out bits = { .out = &w->out };
	for (size_t at = 0, n; at < d->n; at += n) {
		n = MIN(d->n - at, (size_t)COLUMN_PIECE);
		d->column(d->ctx, c, at, n, values);
		for (size_t i = 0; i < n; i++)
			bits_put(&bits, values[i] - min, width);
		write_piece(w, false);
	}
	bits_flush(&bits);
}

static void put_rest(struct segment_writer *w)
{
	w->t.postings_len = writer_at(w);
	w->t.dictionary_at = writer_at(w);
	w->t.dictionary_len = spill_len(&w->dictionary);
	spill_take(&w->dictionary, put_piece, w);
	w->t.index_at = writer_at(w);
	spill_take(&w->index, put_piece, w);
	for (int c = 0; c < COLUMN_COUNT; c++)
		put_column(w, (enum column)c);
	w->t.docs = (uint32_t)w->docs->n;
	memcpy(w->t.class_start, w->docs->class_start, sizeof(w->t.class_start));
	w->t.version = format_version();
	w->t.magic = SEGMENT_MAGIC;
	fixed_put(&w->out, 0, BITS_PAD);
	buf_add(&w->out, &w->t, sizeof(w->t));
}

static int first_error(const struct segment_writer *w)
{
	const int errors[] = { w->error, w->dictionary.error, w->index.error, w->positions.error };
	for (size_t i = 0; i < ARRAY_LEN(errors); i++)
		if (errors[i])
			return errors[i];
	return 0;
}

int writer_end(struct segment_writer *w, struct buf *ret, uint64_t *ret_len, struct err *err)
{
	put_rest(w);
	*ret_len = writer_at(w);
	write_piece(w, true);
	int error = first_error(w);
	if (w->fd < 0)
		*ret = w->out;
	else
		buf_done(&w->out);
	spill_done(&w->dictionary);
	spill_done(&w->index);
	spill_done(&w->positions);
	buf_done(&w->skips);
	buf_done(&w->map);
	buf_done(&w->sessions);
	buf_done(&w->data);
	session_lists_free(w->lists);
	free(w->taken);
	free(w);
	return error ? err_set(err, ERR_IO, "cannot write the index: %s", strerror(error)) : 0;
}
