#include "index/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/dates.h"
#include "index/writer.h"
#include "text/hash.h"

#define POSITION_MASK (((uint32_t)1 << 29) - 1)
#define NO_POSITION POSITION_MASK
#define FIELD_SHIFT 29

struct occurrence {
	uint32_t term, doc, place; /* field above, position below */
};

struct entry {
	uint32_t key;   /* offset in keys: stem, then word */
	uint32_t count; /* occurrences */
	uint32_t start; /* of them, once they are sorted */
	uint8_t stem_len, word_len;
	bool has_positions;
};

struct builder {
	struct analyser *an;
	struct buf keys;
	struct entry *entries;
	size_t nentries, entries_cap;
	uint32_t *table; /* entry + 1 by hash */
	size_t table_size;
	struct occurrence *occurrences;
	size_t noccurrences, occurrences_cap;
	/* The document in hand. */
	uint32_t doc, base, words, last_position;
	enum field field;
	/* The word whose stem may still come. */
	bool has_word;
	char word[TERM_MAX], stem[TERM_MAX];
	size_t word_len, stem_len;
	uint32_t word_position;
};

struct builder *builder_new(void)
{
	struct builder *b = mem_alloc(sizeof(*b));
	b->an = analyser_new();
	return b;
}

static void forget_batch(struct builder *b)
{
	buf_done(&b->keys);
	free(b->entries);
	free(b->table);
	free(b->occurrences);
	b->entries = NULL;
	b->table = NULL;
	b->occurrences = NULL;
	b->nentries = b->entries_cap = b->table_size = b->noccurrences = b->occurrences_cap = 0;
}

void builder_free(struct builder *b)
{
	if (!b)
		return;
	forget_batch(b);
	analyser_free(b->an);
	free(b);
}

static struct str stem_str(const struct builder *b, const struct entry *e)
{
	return (struct str){ b->keys.data + e->key, e->stem_len };
}

static struct str word_str(const struct builder *b, const struct entry *e)
{
	return (struct str){ b->keys.data + e->key + e->stem_len, e->word_len };
}

static uint64_t key_hash(struct str stem, struct str word)
{
	return hash64(stem.p, stem.n) * 31 + hash64(word.p, word.n);
}

static void grow_table(struct builder *b)
{
	size_t size = b->table_size ? b->table_size * 2 : 1024;
	free(b->table);
	b->table = mem_alloc(size * sizeof(*b->table));
	b->table_size = size;
	for (size_t i = 0; i < b->nentries; i++) {
		uint64_t h = key_hash(stem_str(b, &b->entries[i]), word_str(b, &b->entries[i]));
		size_t s = h & (size - 1);
		while (b->table[s])
			s = (s + 1) & (size - 1);
		b->table[s] = (uint32_t)i + 1;
	}
}

static uint32_t entry_of(struct builder *b, struct str stem, struct str word, bool has_positions)
{
	if ((b->nentries + 1) * 2 > b->table_size)
		grow_table(b);
	size_t s = key_hash(stem, word) & (b->table_size - 1);
	for (; b->table[s]; s = (s + 1) & (b->table_size - 1)) {
		const struct entry *e = &b->entries[b->table[s] - 1];
		if (str_eq(stem_str(b, e), stem) && str_eq(word_str(b, e), word))
			return b->table[s] - 1;
	}
	MEM_GROW(b->entries, b->entries_cap, b->nentries + 1);
	b->entries[b->nentries] = (struct entry){ .key = (uint32_t)b->keys.len,
		.stem_len = (uint8_t)stem.n,
		.word_len = (uint8_t)word.n,
		.has_positions = has_positions };
	buf_add(&b->keys, stem.p, stem.n);
	buf_add(&b->keys, word.p, word.n);
	b->table[s] = (uint32_t)++b->nentries;
	return (uint32_t)b->nentries - 1;
}

static void add_occurrence(struct builder *b, uint32_t term, uint32_t position)
{
	MEM_GROW(b->occurrences, b->occurrences_cap, b->noccurrences + 1);
	b->occurrences[b->noccurrences++] =
		(struct occurrence){ term, b->doc, (uint32_t)b->field << FIELD_SHIFT | position };
	b->entries[term].count++;
}

static void finish_word(struct builder *b)
{
	if (!b->has_word)
		return;
	b->has_word = false;
	struct str word = { b->word, b->word_len };
	struct str stem = b->stem_len ? (struct str){ b->stem, b->stem_len } : word;
	bool is_stop = term_is_stop_word(word.p, word.n);
	uint32_t position = b->base + b->word_position;
	add_occurrence(b, entry_of(b, stem, word, !is_stop), is_stop ? NO_POSITION : position);
	if (is_stop)
		return;
	b->words++; /* fields are short enough for every position to fit */
	b->last_position = MAX(b->last_position, position);
}

static void take_term(void *ctx, const struct term *t)
{
	struct builder *b = ctx;
	if (t->form == TERM_STEM) {
		memcpy(b->stem, t->text, t->len);
		b->stem_len = t->len;
		return;
	}
	finish_word(b);
	if (t->form == TERM_WHOLE) {
		char marked[KEY_MAX] = { WHOLE_MARK };
		memcpy(marked + 1, t->text, t->len);
		struct str whole = { marked, t->len + 1u };
		add_occurrence(b, entry_of(b, whole, whole, false), NO_POSITION);
		return;
	}
	b->has_word = true;
	memcpy(b->word, t->text, t->len);
	b->word_len = t->len;
	b->stem_len = 0;
	b->word_position = t->position;
}

static enum language language_of(const struct doc *d)
{
	return text_language(d->body.n ? d->body : d->title);
}

static void take_field(struct builder *b, enum field field, struct str text, enum language lang)
{
	if (text.n == 0)
		return;
	if (text.n > FIELD_MAX)
		text.n = utf8_cut(text.p, text.n, FIELD_MAX);
	b->field = field;
	analyser_run_as(b->an, text, lang, take_term, b);
	finish_word(b);
	if (b->last_position + POSITION_GAP > b->base)
		b->base = b->last_position + POSITION_GAP;
}

static void take_doc(struct builder *b, const struct doc *d, uint32_t n, struct doc_row *row)
{
	const struct str fields[FIELD_COUNT] = { d->title, d->body, d->rest };
	enum language lang = language_of(d);
	b->doc = n;
	b->base = b->words = b->last_position = 0;
	for (int f = 0; f < FIELD_COUNT; f++)
		take_field(b, (enum field)f, fields[f], lang);
	/* The day it is of, as words, which do not count for its length. */
	const uint32_t words = b->words;
	char date[DATE_WORDS_MAX];
	take_field(b, FIELD_REST, date_words(d->columns.at, date), lang);
	b->words = words;
	row->id = d->id;
	row->columns = d->columns;
	row->length = length_code(b->words);
	row->position_bits = (uint8_t)bits_width(b->last_position);
}

/* One document's occurrences of a term. Of function words only the presence is kept. */
static void write_posting(
	struct segment_writer *w, const struct occurrence *o, size_t n, bool is_stop)
{
	unsigned by_field[FIELD_COUNT] = { 0 };
	uint32_t positions[POSITIONS_MAX];
	size_t count = 0;
	for (size_t i = 0; i < n; i++) {
		uint32_t position = o[i].place & POSITION_MASK;
		by_field[o[i].place >> FIELD_SHIFT]++;
		if (position != NO_POSITION && count < POSITIONS_MAX)
			positions[count++] = position;
	}
	uint8_t code = is_stop ? 0
			       : code_of(by_field[FIELD_TITLE], by_field[FIELD_BODY],
					 by_field[FIELD_REST]);
	writer_posting(w, o->doc, code, positions, count);
}

static void write_term(const struct builder *b, struct segment_writer *w, const struct entry *e)
{
	const struct occurrence *o = b->occurrences + e->start, *end = o + e->count;
	bool is_stop = !e->has_positions && stem_str(b, e).p[0] != WHOLE_MARK;
	size_t docs = 0;
	for (const struct occurrence *i = o; i < end; i++)
		docs += i == o || i->doc != i[-1].doc;
	writer_term(
		w, &(struct term_head){ stem_str(b, e), word_str(b, e), e->has_positions, docs });
	for (const struct occurrence *next; o < end; o = next) {
		for (next = o; next < end && next->doc == o->doc;)
			next++;
		write_posting(w, o, (size_t)(next - o), is_stop);
	}
	writer_term_end(w);
}

/* Counting sort by term; documents and positions keep their order. */
static void sort_occurrences(struct builder *b)
{
	struct occurrence *sorted =
		mem_resize(NULL, MAX(b->noccurrences, (size_t)1) * sizeof(*sorted));
	uint32_t *next = mem_alloc((b->nentries + 1) * sizeof(*next));
	uint32_t at = 0;
	for (size_t i = 0; i < b->nentries; i++) {
		b->entries[i].start = next[i] = at;
		at += b->entries[i].count;
	}
	for (size_t i = 0; i < b->noccurrences; i++)
		sorted[next[b->occurrences[i].term]++] = b->occurrences[i];
	free(next);
	free(b->occurrences);
	b->occurrences = sorted;
	b->occurrences_cap = b->noccurrences;
}

/* An entry by the first bytes of its stem, which mostly tell which comes first. */
struct entry_key {
	uint64_t first;
	const struct entry *entry;
};

static uint64_t first_bytes(struct str s)
{
	uint64_t v = 0;
	for (size_t i = 0; i < sizeof(v); i++)
		v = v << 8 | (i < s.n ? (uint8_t)s.p[i] : 0);
	return v;
}

static int compare_keys(const void *x, const void *y, void *ctx)
{
	const struct builder *b = ctx;
	const struct entry_key *a = x, *c = y;
	if (a->first != c->first)
		return a->first < c->first ? -1 : 1;
	return key_compare(stem_str(b, a->entry), word_str(b, a->entry), stem_str(b, c->entry),
		word_str(b, c->entry));
}

/* In the order of the dictionary. */
static struct entry_key *sort_entries(struct builder *b)
{
	struct entry_key *keys = mem_resize(NULL, (b->nentries + 1) * sizeof(*keys));
	for (size_t i = 0; i < b->nentries; i++)
		keys[i] = (struct entry_key){ first_bytes(stem_str(b, &b->entries[i])),
			&b->entries[i] };
	if (b->nentries)
		qsort_r(keys, b->nentries, sizeof(*keys), compare_keys, b);
	return keys;
}

static int compare_docs(const void *x, const void *y)
{
	const struct doc *const *a = x, *const *b = y;
	if ((*a)->id != (*b)->id)
		return (*a)->id < (*b)->id ? -1 : 1;
	return (*a > *b) - (*a < *b); /* later ones come later */
}

/* Pointers to the documents, ascending by id, each id once. */
static const struct doc **sort_docs(const struct doc *docs, size_t n, size_t *ret_n)
{
	const struct doc **order = mem_alloc((n + 1) * sizeof(*order));
	size_t kept = 0;
	for (size_t i = 0; i < n; i++)
		order[i] = &docs[i];
	qsort(order, n, sizeof(*order), compare_docs);
	for (size_t i = 0; i < n; i++) {
		if (kept && order[kept - 1]->id == order[i]->id)
			kept--;
		order[kept++] = order[i];
	}
	*ret_n = kept;
	return order;
}

struct rows {
	struct doc_row *rows;
	uint8_t *lengths, *position_bits;
	struct segment_docs docs;
};

static void rows_column(void *ctx, enum column c, size_t first, size_t n, uint64_t *values)
{
	const struct rows *r = ctx;
	for (size_t i = 0; i < n; i++)
		values[i] = doc_row_column(&r->rows[first + i], c);
}

static void rows_start(struct rows *r, size_t n)
{
	r->rows = mem_alloc((n + 1) * sizeof(*r->rows));
	r->lengths = mem_alloc(n + 1);
	r->position_bits = mem_alloc(n + 1);
	r->docs = (struct segment_docs){ .n = n,
		.lengths = r->lengths,
		.position_bits = r->position_bits,
		.column = rows_column,
		.ctx = r };
}

/* Once the documents are taken. */
static void rows_end(struct rows *r)
{
	for (size_t i = 0; i < r->docs.n; i++) {
		r->lengths[i] = r->rows[i].length;
		r->position_bits[i] = r->rows[i].position_bits;
		for (unsigned c = (unsigned)DOC_CLASS(r->rows[i].id) + 1; c <= CLASS_COUNT; c++)
			r->docs.class_start[c] = (uint32_t)i + 1;
	}
}

static void rows_done(struct rows *r)
{
	free(r->rows);
	free(r->lengths);
	free(r->position_bits);
}

struct segment *builder_run(struct builder *b, const struct doc *docs, size_t n)
{
	const struct doc **order = sort_docs(docs, n, &n);
	AUTO(rows_done) struct rows rows;
	rows_start(&rows, n);
	for (size_t i = 0; i < n; i++)
		take_doc(b, order[i], (uint32_t)i, &rows.rows[i]);
	rows_end(&rows);
	sort_occurrences(b);
	AUTO(mem_free_ptr) struct entry_key *keys = sort_entries(b);
	struct segment_writer *w = writer_new(-1, NULL, &rows.docs);
	for (size_t i = 0; i < b->nentries; i++)
		write_term(b, w, keys[i].entry);
	struct buf image = { 0 };
	uint64_t len;
	writer_end(w, &image, &len, NULL);
	free(order);
	forget_batch(b);
	return segment_of_memory(&image);
}
