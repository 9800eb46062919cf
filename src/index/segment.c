#include "index/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "text/hash.h"

static bool is_inside(const struct trailer *t, size_t len)
{
	if (t->magic != SEGMENT_MAGIC || t->version != format_version())
		return false;
	if (t->class_start[CLASS_COUNT] != t->docs || t->dictionary_at > len ||
		t->dictionary_len > len || t->index_at > len)
		return false;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (t->columns[i].at > len || t->columns[i].width > BITS_MAX)
			return false;
	return t->columns[COLUMN_LENGTH].width == 8 && t->columns[COLUMN_POSITION_BITS].width == 8;
}

static struct segment *segment_new(const uint8_t *data, size_t len)
{
	struct segment *s = mem_alloc(sizeof(*s));
	s->data = data;
	s->len = len;
	s->refs = 1;
	s->wipe_fd = -1;
	memcpy(&s->t, data + len - sizeof(s->t), sizeof(s->t));
	s->lengths = data + s->t.columns[COLUMN_LENGTH].at;
	s->position_bits = data + s->t.columns[COLUMN_POSITION_BITS].at;
	return s;
}

struct segment *segment_of_memory(struct buf *image)
{
	size_t len = image->len;
	return segment_new((uint8_t *)buf_steal(image), len);
}

int segment_map(
	const char *path, uint64_t len, const uint64_t *hash, struct segment **ret, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, ERR_IO, "cannot open '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != len ||
		len < sizeof(struct trailer)) {
		close(fd);
		return err_set(err, ERR_IO, "'%s' has not the size that the index remembers", path);
	}
	void *data = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (data == MAP_FAILED)
		return err_set(err, ERR_IO, "cannot map '%s': %s", path, strerror(errno));
	struct trailer t;
	memcpy(&t, (uint8_t *)data + len - sizeof(t), sizeof(t));
	uint64_t found = hash64(data, len);
	if ((hash && *hash != found) || !is_inside(&t, len)) {
		munmap(data, len);
		return err_set(err, ERR_IO, "'%s' is damaged", path);
	}
	*ret = segment_new(data, len);
	(*ret)->is_mapped = true;
	(*ret)->hash = found;
	(*ret)->name = mem_strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	return 0;
}

static void wipe_file(int fd, size_t len)
{
	static const char zeros[1 << 16];
	for (size_t at = 0; at < len;) {
		ssize_t n = pwrite(fd, zeros, MIN(sizeof(zeros), len - at), (off_t)at);
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	fdatasync(fd);
	close(fd);
}

void segment_free(struct segment *s)
{
	if (!s)
		return;
	if (s->is_mapped) {
		munmap((void *)(uintptr_t)s->data, s->len);
	} else {
		/* What was forgotten must not linger in freed memory. */
		explicit_bzero((void *)(uintptr_t)s->data, s->len);
		free((void *)(uintptr_t)s->data);
	}
	if (s->wipe_fd >= 0)
		wipe_file(s->wipe_fd, s->len);
	free(s->name);
	free(s->slots);
	free(s->session_slots);
	free(s->runs);
	free(s->priors);
	free(s->ranges);
	free(s);
}

enum doc_class segment_class(const struct segment *s, uint32_t doc)
{
	return doc < s->t.class_start[1]   ? DOC_MEMORY
	       : doc < s->t.class_start[2] ? DOC_EVENT
					   : DOC_SESSION;
}

doc_id segment_id(const struct segment *s, uint32_t doc)
{
	return DOC_ID(segment_class(s, doc), segment_column(s, COLUMN_ROW, doc));
}

void segment_columns(const struct segment *s, uint32_t doc, struct doc_columns *ret)
{
	*ret = (struct doc_columns){
		.at = (int64_t)segment_column(s, COLUMN_AT, doc),
		.project = (uint32_t)segment_column(s, COLUMN_PROJECT, doc),
		.session = (uint32_t)segment_column(s, COLUMN_SESSION, doc),
		.branch = (uint32_t)segment_column(s, COLUMN_BRANCH, doc),
		.kind = (uint8_t)segment_column(s, COLUMN_KIND, doc),
		.type = (uint8_t)segment_column(s, COLUMN_TYPE, doc),
		.status = (uint8_t)segment_column(s, COLUMN_STATUS, doc),
		.origin = (uint8_t)segment_column(s, COLUMN_ORIGIN, doc),
		.agent = (uint8_t)segment_column(s, COLUMN_AGENT, doc),
		.confidence = (uint8_t)segment_column(s, COLUMN_CONFIDENCE, doc),
		.flags = (uint8_t)segment_column(s, COLUMN_FLAGS, doc),
	};
}

bool segment_find_doc(const struct segment *s, doc_id id, uint32_t *ret)
{
	unsigned class = (unsigned)DOC_CLASS(id);
	if (class >= CLASS_COUNT)
		return false;
	uint32_t lo = s->t.class_start[class], hi = s->t.class_start[class + 1];
	const uint32_t end = hi;
	uint64_t row = (uint64_t)DOC_ROW(id);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (segment_column(s, COLUMN_ROW, mid) < row)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == end || segment_column(s, COLUMN_ROW, lo) != row)
		return false;
	*ret = lo;
	return true;
}

static int bytes_compare(struct str a, struct str b)
{
	int c = memcmp(a.p, b.p, MIN(a.n, b.n));
	return c ? c : (a.n > b.n) - (a.n < b.n);
}

int key_compare(struct str stem_a, struct str word_a, struct str stem_b, struct str word_b)
{
	int c = bytes_compare(stem_a, stem_b);
	return c ? c : bytes_compare(word_a, word_b);
}

#define INDEX_ENTRY 12u /* 4 bytes of dictionary offset, 8 of list offset */

static void cursor_at_block(struct term_cursor *c, const struct segment *s, uint32_t block)
{
	const uint8_t *entry = s->data + s->t.index_at + (size_t)block * INDEX_ENTRY;
	c->seg = s;
	c->next = block * DICTIONARY_BLOCK;
	c->p = s->data + s->t.dictionary_at + fixed_get(entry, 4);
	c->list_at = fixed_get(entry + 4, 8);
	c->stem_len = 0;
}

void term_cursor_start(struct term_cursor *c, const struct segment *s)
{
	c->seg = s;
	c->next = 0;
	if (s->t.blocks)
		cursor_at_block(c, s, 0);
}

/*
 * Takes `keep` bytes of what is there and the rest from the dictionary. Lengths were checked when
 * written.
 */
static size_t read_tail(const uint8_t **p, char *key, size_t keep)
{
	size_t n = *(*p)++;
	memcpy(key + keep, *p, n);
	*p += n;
	return keep + n;
}

bool term_cursor_next(struct term_cursor *c)
{
	if (c->next >= c->seg->t.terms)
		return false;
	size_t keep = *c->p++;
	c->stem_len = read_tail(&c->p, c->stem, keep);
	uint8_t drop = *c->p++;
	if (drop == 0) {
		memcpy(c->word, c->stem, c->stem_len);
		c->word_len = c->stem_len;
	} else {
		memcpy(c->word, c->stem, c->stem_len);
		c->word_len = read_tail(&c->p, c->word, c->stem_len - (drop - 1u));
	}
	uint64_t df = varint_get(&c->p);
	c->ref.df = (uint32_t)(df >> 1);
	c->ref.has_positions = df & 1;
	c->ref.list = c->seg->data + c->list_at;
	c->ref.len = varint_get(&c->p);
	c->list_at += c->ref.len;
	c->next++;
	return true;
}

/* First stem of a dictionary block; it is stored whole. */
static struct str block_stem(const struct segment *s, uint32_t block)
{
	const uint8_t *p = s->data + s->t.dictionary_at +
			   fixed_get(s->data + s->t.index_at + (size_t)block * INDEX_ENTRY, 4);
	return (struct str){ (const char *)p + 2, p[1] };
}

bool term_cursor_seek(struct term_cursor *c, const struct segment *s, struct str stem)
{
	uint32_t lo = 0, hi = s->t.blocks;
	c->stem_len = 0;
	while (lo < hi) { /* the first block whose first stem is not below */
		uint32_t mid = lo + (hi - lo) / 2;
		if (bytes_compare(block_stem(s, mid), stem) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (s->t.blocks == 0)
		return false;
	cursor_at_block(c, s, lo ? lo - 1 : 0);
	while (term_cursor_next(c)) {
		int order = bytes_compare((struct str){ c->stem, c->stem_len }, stem);
		if (order >= 0)
			return order == 0;
	}
	c->stem_len = 0;
	return false;
}
