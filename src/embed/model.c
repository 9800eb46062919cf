/*
 * The file is trusted only as far as it was checked: the pin when it was installed, sums of all but
 * the table at each start. A wrong byte in the table can spoil a vector but reach no other memory;
 * tries are walked with bounds.
 */
#include "embed/model.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "embed/model_pin.h"
#include "embed/sha256.h"

#define MAGIC "RMNMODEL"
#define FORMAT 1
#define ID_MAX 40
#define UNKNOWN_PENALTY 10.0 /* below the least likely piece */
#define SUM_FACTOR UINT64_C(0x9e3779b97f4a7c15)

enum model_section {
	SECTION_CHARSMAP,
	SECTION_REPLACEMENTS,
	SECTION_PIECES,
	SECTION_SCORES,
	SECTION_CHUNKS,
	SECTION_NORM_WIDE,
	SECTION_NORM_FEATURES,
	SECTION_LAYERS,
	SECTION_TABLE = SECTION_LAYERS + LAYER_COUNT,
	SECTION_COUNT
};

struct section {
	uint64_t at, size, sum;
};

struct head {
	char magic[8];
	uint32_t format, sections;
	uint64_t size;
	char id[ID_MAX];
	struct section at[SECTION_COUNT];
	uint64_t sum; /* of everything before */
};

static const struct {
	size_t taps, depth, columns;
} shapes[LAYER_COUNT] = {
	[LAYER_PROJECT] = { 2, 256, MODEL_WIDE },
	[LAYER_NEAR + 0] = { 2, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_NEAR + 1] = { 3, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_NEAR + 2] = { 5, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_FAR + 0] = { 2, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_FAR + 1] = { 3, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_FAR + 2] = { 5, MODEL_BRANCH, MODEL_BRANCH },
	[LAYER_SUM] = { MODEL_FEATURES / 64, 64, MODEL_DIMS },
	[LAYER_D0] = { MODEL_DIMS / 64, 64, MODEL_HIDDEN },
	[LAYER_D1] = { MODEL_HIDDEN / 64, 64, MODEL_HIDDEN },
	[LAYER_P1] = { MODEL_DIMS / 64, 64, MODEL_HIDDEN },
	[LAYER_D2] = { MODEL_HIDDEN / 64, 64, MODEL_DIMS },
	[LAYER_P3] = { MODEL_HIDDEN / 64, 64, MODEL_DIMS },
	[LAYER_D3] = { MODEL_DIMS / 64, 64, MODEL_DIMS },
};

/*
 * The sum of word I times (2 I + 1) times a constant: any one changed word changes it, since all
 * the factors are odd.
 */
static uint64_t model_sum(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t sum = 0, word, factor = 1;
	size_t i;

	for (i = 0; i + sizeof(word) <= size; i += sizeof(word), factor += 2) {
		memcpy(&word, p + i, sizeof(word));
		sum += word * factor;
	}
	if (i < size) {
		word = 0;
		memcpy(&word, p + i, size - i);
		sum += word * factor;
	}
	return sum * SUM_FACTOR;
}

static int refuse(struct err *err, const char *path, const char *why)
{
	err_set(err, ERR_USAGE, "model file '%s' is %s", path, why);
	err_hint(err, "get it again: tools/model-get");
	return -1;
}

static int absent(struct err *err, const char *path)
{
	err_set(err, ERR_NOT_FOUND, "vectors: off (no model file): '%s' does not exist", path);
	err_hint(err, "get it with tools/model-get; until then recall goes by words");
	return -1;
}

static int map_file(const char *path, struct model *m, struct err *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return absent(err, path);
	if (fd < 0)
		return err_set(
			err, ERR_IO, "cannot open model file '%s': %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(struct head)) {
		close(fd);
		return refuse(err, path, "not a model file");
	}
	m->size = (size_t)st.st_size;
	m->map = mmap(NULL, m->size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (m->map == MAP_FAILED) {
		m->map = NULL;
		return err_set(
			err, ERR_IO, "cannot map model file '%s': %s", path, strerror(errno));
	}
	return 0;
}

static const void *section_at(const struct model *m, unsigned i)
{
	return (const char *)m->map + ((const struct head *)m->map)->at[i].at;
}

/* Of one size each, but for the two tries and the replacements, which only have to be of whole units. */
static size_t section_size(unsigned i, size_t found)
{
	static const size_t sizes[SECTION_LAYERS] = {
		[SECTION_SCORES] = MODEL_PIECES * sizeof(float),
		[SECTION_CHUNKS] = 2 * MODEL_CHUNKS * sizeof(float),
		[SECTION_NORM_WIDE] = 2 * MODEL_WIDE * sizeof(float),
		[SECTION_NORM_FEATURES] = 2 * MODEL_FEATURES * sizeof(float),
	};

	if (i == SECTION_TABLE)
		return (size_t)MODEL_PIECES * MODEL_ROW;
	if (i >= SECTION_LAYERS) {
		size_t taps = shapes[i - SECTION_LAYERS].taps;
		size_t columns = shapes[i - SECTION_LAYERS].columns;

		return columns * taps * shapes[i - SECTION_LAYERS].depth +
		       columns * (2 * taps + 1) * sizeof(float);
	}
	if (sizes[i])
		return sizes[i];
	return i == SECTION_REPLACEMENTS ? MAX(found, 1)
					 : MAX(found & ~(size_t)3, sizeof(uint32_t));
}

static int check_head(const struct model *m, const char *path, struct err *err)
{
	const struct head *h = m->map;

	if (memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0)
		return refuse(err, path, "not a model file");
	if (h->format != FORMAT || h->sections != SECTION_COUNT ||
		strncmp(h->id, MODEL_ID, sizeof(h->id)) != 0)
		return refuse(err, path, "of another version of this program");
	if (h->sum != model_sum(h, offsetof(struct head, sum)))
		return refuse(err, path, "damaged");
	if (m->size < h->size)
		return refuse(err, path, "cut: it is shorter than its head says");
	if (m->size > h->size)
		return refuse(err, path, "damaged: it is longer than its head says");
	return 0;
}

static int check_sections(const struct model *m, const char *path, struct err *err)
{
	const struct head *h = m->map;

	for (unsigned i = 0; i < SECTION_COUNT; i++) {
		const struct section *s = &h->at[i];

		if (s->at > m->size || s->size > m->size - s->at || s->at % 64 ||
			s->size != section_size(i, s->size))
			return refuse(err, path, "of another version of this program");
		if (i != SECTION_TABLE && s->sum != model_sum(section_at(m, i), s->size))
			return refuse(err, path, "damaged");
	}
	if (((const char *)section_at(
		    m, SECTION_REPLACEMENTS))[h->at[SECTION_REPLACEMENTS].size - 1])
		return refuse(err, path, "damaged");
	return 0;
}

static struct trie trie_at(const struct model *m, unsigned i)
{
	const struct head *h = m->map;

	return (struct trie){ section_at(m, i), h->at[i].size / sizeof(uint32_t) };
}

static void find_layer(struct model *m, unsigned i)
{
	struct layer *l = &m->layers[i];
	size_t taps = shapes[i].taps, depth = shapes[i].depth, columns = shapes[i].columns;

	l->taps = taps;
	l->depth = depth;
	l->columns = columns;
	l->weights = section_at(m, SECTION_LAYERS + i);
	l->scales = (const float *)(const void *)(l->weights + columns * taps * depth);
	l->sums = l->scales + columns * taps;
	l->bias = l->sums + columns * taps;
}

static double unknown_score(const struct model *m)
{
	float least = m->scores[0];

	for (size_t i = 1; i < MODEL_PIECES; i++)
		least = MIN(least, m->scores[i]);
	return (double)least - UNKNOWN_PENALTY;
}

static void find_sections(struct model *m)
{
	const struct head *h = m->map;

	m->charsmap = trie_at(m, SECTION_CHARSMAP);
	m->pieces = trie_at(m, SECTION_PIECES);
	m->replacements = section_at(m, SECTION_REPLACEMENTS);
	m->replacements_size = h->at[SECTION_REPLACEMENTS].size;
	m->scores = section_at(m, SECTION_SCORES);
	m->unknown_score = unknown_score(m);
	m->chunk_scale = section_at(m, SECTION_CHUNKS);
	m->chunk_low = m->chunk_scale + MODEL_CHUNKS;
	m->norm_wide[0] = section_at(m, SECTION_NORM_WIDE);
	m->norm_wide[1] = m->norm_wide[0] + MODEL_WIDE;
	m->norm_features[0] = section_at(m, SECTION_NORM_FEATURES);
	m->norm_features[1] = m->norm_features[0] + MODEL_FEATURES;
	for (unsigned i = 0; i < LAYER_COUNT; i++)
		find_layer(m, i);
	m->table = section_at(m, SECTION_TABLE);
}

/* The table is the last section, and the pages that it has to itself are what the advice is for. */
static void advise_table(const struct model *m, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)m->table + page - 1) & ~(page - 1);
	uintptr_t end = (uintptr_t)m->map + m->size;

	madvise((void *)start, end - start, advice);
}

int model_open(const char *path, struct model *ret, struct err *err)
{
	struct model m = { 0 };

	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		return err_set(err, ERR_USAGE,
			"vectors: off: the model file is for little-endian machines");
	if (map_file(path, &m, err) < 0)
		return -1;
	if (check_head(&m, path, err) < 0 || check_sections(&m, path, err) < 0) {
		model_close(&m);
		return -1;
	}
	find_sections(&m);
	/* A token's row is on one or two pages; reading ahead would fetch those of others. */
	advise_table(&m, MADV_RANDOM);
	*ret = m;
	return 0;
}

void model_close(struct model *m)
{
	if (m && m->map)
		munmap(m->map, m->size);
	if (m)
		*m = (struct model){ 0 };
}

void model_rest(const struct model *m)
{
	advise_table(m, MADV_DONTNEED);
}

static int check_pin(const struct model *m, const char *path, struct err *err)
{
	char hex[SHA256_HEX];

	sha256_hex(m->map, m->size, hex);
	if (m->size != MODEL_BYTES || strcmp(hex, MODEL_SHA256) != 0)
		return refuse(err, path, "damaged: its sha256 is not the one this program knows");
	return 0;
}

int model_check(const char *path, struct err *err)
{
	AUTO(model_close) struct model m = { 0 };

	return model_open(path, &m, err) < 0 ? -1 : check_pin(&m, path, err);
}

int model_install(const char *from, const char *dir, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(model_close) struct model m = { 0 };

	if (model_open(from, &m, err) < 0 || check_pin(&m, from, err) < 0 ||
		file_mkdirs(dir, 0700, err) < 0)
		return -1;
	return file_write_durable(path_join(&a, dir, MODEL_FILE), m.map, m.size, 0600, err);
}

size_t model_places(
	struct arena *a, const char *home, const char *exe, const char *ret[MODEL_PLACES])
{
	size_t n = 0;

	if (home)
		ret[n++] = arena_printf(a, "%s/model/" MODEL_FILE, home);
	if (exe)
		ret[n++] = path_clean(a, "/",
			arena_printf(a, "%s/../share/remanence/" MODEL_FILE, path_parent(a, exe)));
	return n;
}

const char *model_find(const char *const *places, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (file_exists(places[i]))
			return places[i];
	return NULL;
}
