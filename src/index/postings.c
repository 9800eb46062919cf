/*
 * List of fewer than POSTING_BLOCK documents: varints, then positions. Longer ones: a head, a skip
 * entry for each full block, the map if there is one, the sessions if they are listed, the blocks,
 * the tail as varints, positions.
 */

#include "index/postings.h"

#include "base/mem.h"
#include "index/skip.h"

void postings_start(struct postings *p, const struct segment *s, const struct term_ref *ref)
{
	p->seg = s;
	p->ref = *ref;
	p->blocks = ref->df / POSTING_BLOCK;
	p->next = 0;
	p->n = 0;
	p->noffsets = 0;
	p->positions = p->map = p->sessions = NULL;
	if (p->blocks == 0) {
		p->tail = ref->list;
		return;
	}
	p->positions = ref->list + fixed_get(ref->list, 4);
	p->skips = ref->list + LIST_HEAD;
	p->data = p->skips + (size_t)p->blocks * SKIP_ENTRY;
	const size_t map = fixed_get(ref->list + HEAD_MAP, 4),
		     sessions = fixed_get(ref->list + HEAD_SESSIONS, 4);
	p->map = map ? p->data : NULL;
	p->sessions = sessions ? p->data + map : NULL;
	p->data += map + sessions;
	p->tail = p->data + skip_end(p->skips, p->blocks - 1);
}

static uint32_t last_before(const struct postings *p, uint32_t block)
{
	return block ? skip_last(p->skips, block - 1) : UINT32_MAX;
}

/* Eight values in one load; a width that the compiler knows needs no shifts by a variable. */
static inline const uint8_t *unpack_by(const uint8_t *at, unsigned width, uint32_t *values)
{
	const uint64_t mask = ((uint64_t)1 << width) - 1;
	for (uint32_t i = 0; i < POSTING_BLOCK; i += 8, at += width) {
		const uint64_t word = load64(at);
		for (unsigned k = 0; k < 8; k++)
			values[i + k] = (uint32_t)(word >> (k * width) & mask);
	}
	return at;
}

static const uint8_t *unpack_wide(const uint8_t *at, unsigned width, uint32_t *values)
{
	for (uint32_t i = 0, bit = 0; i < POSTING_BLOCK; i++, bit += width)
		values[i] = (uint32_t)bits_at(at, bit, width);
	return at + POSTING_BLOCK / 8 * width;
}

static const uint8_t *unpack_values(const uint8_t *at, unsigned width, uint32_t *values)
{
	switch (width) {
	case 0:
		return unpack_by(at, 0, values);
	case 1:
		return unpack_by(at, 1, values);
	case 2:
		return unpack_by(at, 2, values);
	case 3:
		return unpack_by(at, 3, values);
	case 4:
		return unpack_by(at, 4, values);
	case 5:
		return unpack_by(at, 5, values);
	case 6:
		return unpack_by(at, 6, values);
	case 7:
		return unpack_by(at, 7, values);
	default:
		return unpack_wide(at, width, values);
	}
}

/* Unpacks a block's values; returns where its data ends. See skip.h. */
static const uint8_t *unpack(const uint8_t *at, unsigned width, uint32_t values[POSTING_BLOCK])
{
	unsigned exceptions = *at++;
	at = unpack_values(at, width, values);
	for (; exceptions > 0; exceptions--) {
		uint32_t i = *at++ % POSTING_BLOCK;
		values[i] |= (uint32_t)(varint_get(&at) << width);
	}
	return at;
}

/* Eight values of so many bits, at most eight, a byte each. */
static inline uint64_t spread(uint64_t values, unsigned width)
{
	const uint64_t one = ((uint64_t)1 << width) - 1, two = ((uint64_t)1 << 2 * width) - 1,
		       four = ((uint64_t)1 << 4 * width) - 1;
	const uint64_t twos = two | two << 32, ones = one * 0x0001000100010001u;
	values = (values & four) | (values >> 4 * width & four) << 32;
	values = (values & twos) | (values >> 2 * width & twos) << 16;
	return (values & ones) | (values >> width & ones) << 8;
}

static inline const uint8_t *spread_by(const uint8_t *at, unsigned width, uint8_t *values)
{
	for (uint32_t i = 0; i < POSTING_BLOCK; i += 8, at += width)
		store64(values + i, spread(load64(at), width));
	return at;
}

static const uint8_t *spread_values(const uint8_t *at, unsigned width, uint8_t *values)
{
	switch (width) {
	case 0:
		memset(values, 0, POSTING_BLOCK);
		return at;
	case 1:
		return spread_by(at, 1, values);
	case 2:
		return spread_by(at, 2, values);
	case 3:
		return spread_by(at, 3, values);
	case 4:
		return spread_by(at, 4, values);
	default:
		return spread_by(at, width, values);
	}
}

/* As unpack, of values below 256. */
static void unpack_codes(const uint8_t *at, unsigned width, uint8_t codes[POSTING_BLOCK])
{
	unsigned exceptions = *at++;
	at = spread_values(at, width, codes);
	for (; exceptions > 0; exceptions--) {
		uint32_t i = *at++ % POSTING_BLOCK;
		codes[i] = (uint8_t)(codes[i] | varint_get(&at) << width);
	}
}

/* The block's documents from the map, which has the tail's too. */
static void docs_of_map(struct postings *p, uint32_t first)
{
	uint64_t bits = load64(p->map + first / 64 * 8) & ~(uint64_t)0 << first % 64;
	uint32_t n = 0, base = first / 64 * 64;
	for (;;) {
		for (; bits; bits &= bits - 1) {
			p->docs[n++] = base + (uint32_t)__builtin_ctzll(bits);
			if (n == POSTING_BLOCK)
				return;
		}
		base += 64;
		bits = load64(p->map + base / 8);
	}
}

static void decode_block(struct postings *p, uint32_t block, bool with_codes)
{
	const uint8_t *skip = p->skips + (size_t)block * SKIP_ENTRY;
	const uint8_t *at = p->data + (block ? skip_end(p->skips, block - 1) : 0);
	uint32_t doc = last_before(p, block);
	if (p->map) {
		docs_of_map(p, doc + 1);
	} else {
		at = unpack(at, skip[SKIP_GAP_BITS], p->docs);
		for (uint32_t i = 0; i < POSTING_BLOCK; i++) {
			doc += 1 + p->docs[i];
			p->docs[i] = doc;
		}
	}
	p->n = POSTING_BLOCK;
	if (!with_codes)
		return;
	unpack_codes(at, skip[SKIP_CODE_BITS], p->codes);
	p->block_positions = p->positions + skip_positions(p->skips, block);
}

static void decode_tail(struct postings *p)
{
	const uint8_t *at = p->tail;
	uint32_t doc = last_before(p, p->blocks);
	p->n = p->ref.df % POSTING_BLOCK;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t v = varint_get(&at);
		doc += 1 + (uint32_t)(v >> 1);
		p->docs[i] = doc;
		p->codes[i] = v & 1 ? *at++ : 0;
	}
	p->block_positions = p->blocks ? p->positions + fixed_get(p->ref.list + HEAD_TAIL, 4) : at;
}

static inline bool next_block(struct postings *p, bool with_codes)
{
	p->noffsets = 0;
	if (p->next < p->blocks) {
		decode_block(p, p->next++, with_codes);
		return true;
	}
	if (p->next > p->blocks || p->ref.df % POSTING_BLOCK == 0) {
		p->n = 0;
		p->next = p->blocks + 1;
		return false;
	}
	decode_tail(p);
	p->next++;
	return true;
}

bool postings_next(struct postings *p)
{
	return next_block(p, true);
}

bool postings_next_docs(struct postings *p)
{
	return next_block(p, false);
}

/*
 * The first block from `from` on whose last document is not before `doc`; blocks when only the tail
 * can have it.
 */
static uint32_t block_for(const struct postings *p, uint32_t from, uint32_t doc)
{
	uint32_t step = 1, lo = from;
	while (lo + step < p->blocks && skip_last(p->skips, lo + step - 1) < doc)
		step *= 2;
	lo += step / 2;
	uint32_t hi = MIN(from + step, p->blocks);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (skip_last(p->skips, mid) < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint32_t postings_ahead(const struct postings *p)
{
	const bool has_tail = p->next == p->blocks && p->ref.df % POSTING_BLOCK;
	return p->next < p->blocks || has_tail ? last_before(p, p->next) + 1 : UINT32_MAX;
}

void postings_skip(struct postings *p, uint32_t doc)
{
	p->n = 0;
	if (p->next < p->blocks && skip_last(p->skips, p->next) < doc)
		p->next = block_for(p, p->next, doc);
}

struct block_bound postings_bound(const struct postings *p, uint32_t block)
{
	const uint8_t *skip = p->skips + (size_t)block * SKIP_ENTRY;
	return (struct block_bound){ last_before(p, block) + 1, skip[SKIP_BEST_CODE],
		skip[SKIP_SHORTEST] };
}

/* Among the documents in hand. */
static int find_in_hand(const struct postings *p, uint32_t doc)
{
	uint32_t lo = 0, hi = p->n - 1;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		if (p->docs[mid] < doc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return p->docs[lo] == doc ? (int)lo : -1;
}

int postings_find(struct postings *p, uint32_t doc)
{
	while (p->n == 0 || p->docs[p->n - 1] < doc) {
		if (p->next < p->blocks)
			p->next = block_for(p, p->next, doc);
		if (!postings_next(p))
			return -1;
	}
	return find_in_hand(p, doc);
}

/* Documents of [from, to) in the map. */
static uint32_t map_count(const uint8_t *map, uint32_t from, uint32_t to)
{
	const uint64_t first = ~(uint64_t)0 << from % 64, last = ((uint64_t)1 << to % 64) - 1;
	uint32_t n = 0;
	if (from / 64 == to / 64)
		return bits_count(load64(map + from / 64 * 8) & first & last);
	n = bits_count(load64(map + from / 64 * 8) & first);
	for (uint32_t word = from / 64 + 1; word < to / 64; word++)
		n += bits_count(load64(map + word * 8));
	return n + bits_count(load64(map + to / 64 * 8) & last);
}

/* Makes the codes those of the next block, from the document's place on. */
static void place_codes(const struct postings *p, struct coded *c, uint32_t doc)
{
	if (c->block != p->next) {
		const uint8_t *skip = p->skips + (size_t)p->next * SKIP_ENTRY;
		unpack_codes(p->data + (p->next ? skip_end(p->skips, p->next - 1) : 0),
			skip[SKIP_CODE_BITS], c->codes);
		c->block = p->next;
		c->doc = last_before(p, p->next) + 1;
		c->rank = 0;
	}
	c->rank += map_count(p->map, c->doc, doc);
	c->doc = doc;
}

bool postings_mapped(struct postings *p, struct coded *c, struct mapped *m)
{
	m->bits = 0;
	while (!m->bits && m->from < m->end && p->map && !p->n) {
		if (p->next < p->blocks && skip_last(p->skips, p->next) < m->from)
			postings_skip(p, m->from);
		if (p->next >= p->blocks)
			return false;
		const uint32_t last = skip_last(p->skips, p->next), word = m->from / 64,
			       stop = MIN(MIN(m->end, last + 1), word * 64 + 64);
		m->bits = load64(p->map + word * 8) & ~(uint64_t)0 << m->from % 64;
		m->bits &= stop % 64 ? ((uint64_t)1 << stop % 64) - 1 : ~(uint64_t)0;
		m->base = word * 64;
		if (m->bits) {
			place_codes(p, c, m->from);
			m->codes = c->codes + c->rank % POSTING_BLOCK;
			c->rank += bits_count(m->bits);
			c->doc = stop;
		}
		m->from = stop;
		p->next += stop > last;
	}
	return m->bits != 0;
}

int postings_code(struct postings *p, struct coded *c, uint32_t doc)
{
	if (p->map && !(p->map[doc / 8] >> doc % 8 & 1))
		return -1;
	if (!p->n || p->docs[p->n - 1] < doc) {
		postings_skip(p, doc);
		if (p->map && p->next < p->blocks) {
			place_codes(p, c, doc);
			return c->codes[c->rank % POSTING_BLOCK];
		}
	}
	const int at = postings_find(p, doc);
	return at < 0 ? -1 : p->codes[at];
}

/*
 * Walks the block's postings up to one: how far each one's positions reach depends on all before
 * it.
 */
static void fill_offsets(struct postings *p, uint32_t until)
{
	const struct code_info *codes = code_table();
	const uint8_t *widths = p->seg->position_bits;
	if (p->noffsets == 0)
		p->offsets[p->noffsets++] = 0;
	for (uint32_t i = p->noffsets - 1; i < until; i++) {
		const struct code_info *c = &codes[p->codes[i]];
		uint32_t bit = p->offsets[i];
		uint32_t count = c->title + (uint32_t)c->body + c->rest;
		if (!c->is_exact) {
			count = (uint32_t)bits_at(p->block_positions, bit, POSITIONS_BITS);
			bit += POSITIONS_BITS;
		}
		p->offsets[i + 1] = bit + count * widths[p->docs[i]];
	}
	p->noffsets = MAX(p->noffsets, until + 1);
}

size_t postings_positions(struct postings *p, uint32_t i, uint32_t *ret)
{
	if (!p->ref.has_positions)
		return 0;
	fill_offsets(p, i);
	const struct code_info *c = &code_table()[p->codes[i]];
	uint32_t bit = p->offsets[i], count = c->title + (uint32_t)c->body + c->rest;
	unsigned width = p->seg->position_bits[p->docs[i]];
	if (!c->is_exact) {
		count = (uint32_t)bits_at(p->block_positions, bit, POSITIONS_BITS);
		bit += POSITIONS_BITS;
	}
	for (uint32_t k = 0; k < count; k++, bit += width)
		ret[k] = (uint32_t)bits_at(p->block_positions, bit, width);
	return count;
}
