/*
 * The file that says which files of vectors count, of which model they are, and which changes of
 * the store were embedded. Its renaming is the commit.
 */

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "index/codec.h"
#include "index/vectors_parts.h"
#include "text/hash.h"

#define MANIFEST_NAME "manifest"
#define MANIFEST_MAGIC 0x3166696e616d6376u
#define MANIFEST_MAX (64u << 10)
#define MODEL_ID_MAX 256u

int vectors_manifest_write(struct vectors *v, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	AUTO(buf_done) struct buf b = { 0 };
	size_t model = v->model ? strlen(v->model) : 0;
	fixed_put(&b, MANIFEST_MAGIC, 8);
	fixed_put(&b, v->next_file, 8);
	fixed_put(&b, v->spans.n, 8);
	for (size_t i = 0; i < v->spans.n; i++) {
		fixed_put(&b, (uint64_t)v->spans.at[i].low, 8);
		fixed_put(&b, (uint64_t)v->spans.at[i].high, 8);
	}
	fixed_put(&b, v->n, 8);
	for (size_t i = 0; i < v->n; i++) {
		fixed_put(&b, v->files[i]->number, 8);
		fixed_put(&b, v->files[i]->hash, 8);
	}
	fixed_put(&b, model, 8);
	if (model)
		buf_add(&b, v->model, model);
	fixed_put(&b, hash64(b.data, b.len), 8);
	if (file_write_durable(path_join(&a, v->dir, MANIFEST_NAME), b.data, b.len, 0600, err))
		return -1;
	v->is_changed = false;
	return 0;
}

struct reader {
	const uint8_t *p, *end;
	bool is_short;
};

static uint64_t take(struct reader *r)
{
	if (r->end - r->p < 8) {
		r->is_short = true;
		return 0;
	}
	uint64_t n = fixed_get(r->p, 8);
	r->p += 8;
	return n;
}

struct entry {
	uint64_t number, hash;
};

struct manifest {
	uint64_t next_file;
	struct vectors_spans spans;
	struct entry entries[VECTORS_FILES_MAX];
	size_t n;
	char *model;
};

static bool manifest_parse(struct arena *a, struct str data, struct manifest *ret)
{
	struct reader r = { (const uint8_t *)data.p, (const uint8_t *)data.p + data.n - 8, false };
	if (take(&r) != MANIFEST_MAGIC)
		return false;
	ret->next_file = take(&r);
	ret->spans.n = take(&r);
	if (ret->spans.n > VECTORS_SPANS_MAX)
		return false;
	for (size_t i = 0; i < ret->spans.n; i++) {
		ret->spans.at[i].low = (int64_t)take(&r);
		ret->spans.at[i].high = (int64_t)take(&r);
	}
	ret->n = take(&r);
	if (ret->n > VECTORS_FILES_MAX)
		return false;
	for (size_t i = 0; i < ret->n; i++) {
		ret->entries[i].number = take(&r);
		ret->entries[i].hash = take(&r);
	}
	size_t model = take(&r);
	if (r.is_short || model > MODEL_ID_MAX || model != (size_t)(r.end - r.p))
		return false;
	ret->model = arena_dup(a, r.p, model);
	return true;
}

/* False when there is none that can be used. */
static bool manifest_read(struct arena *a, const char *dir, struct manifest *ret)
{
	AUTO(buf_done) struct buf b = { .max = MANIFEST_MAX };
	const char *path = path_join(a, dir, MANIFEST_NAME);
	if (file_read(path, MANIFEST_MAX, &b, NULL))
		return false;
	if (b.len >= 16 && fixed_get((uint8_t *)b.data + b.len - 8, 8) == hash64(b.data, b.len - 8) &&
		manifest_parse(a, (struct str){ b.data, b.len }, ret))
		return true;
	log_warn("'%s' is damaged: everything is embedded anew", path);
	return false;
}

static bool is_listed(const struct vectors *v, const char *name)
{
	char own[VECTORS_NAME_MAX];
	for (size_t i = 0; i < v->n; i++) {
		vectors_file_name(v->files[i]->number, own);
		if (!strcmp(own, name))
			return true;
		vectors_bits_name(v->files[i]->number, own);
		if (!strcmp(own, name))
			return v->files[i]->bits.at != NULL;
	}
	return false;
}

static void remove_unlisted(const struct vectors *v)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t n;
	if (file_list(&a, v->dir, &names, &n, NULL))
		return;
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], MANIFEST_NAME) && !is_listed(v, names[i]))
			unlink(path_join(&a, v->dir, names[i]));
}

void vectors_manifest_load(struct vectors *v, const char *model, size_t dims)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct manifest m = { 0 };
	bool is_there = manifest_read(&a, v->dir, &m);
	if (is_there && model && strcmp(m.model, model)) {
		log_info("the vectors are of the model '%s': everything is embedded anew with '%s'", m.model, model);
		is_there = false;
	}
	dims = model ? dims : 0;
	v->next_file = MAX(m.next_file, (uint64_t)1);
	for (size_t i = 0; is_there && i < m.n; i++) {
		char name[VECTORS_NAME_MAX];
		struct err why;
		vectors_file_name(m.entries[i].number, name);
		struct vectors_file f = { path_join(&a, v->dir, name), m.entries[i].number, &m.entries[i].hash,
			dims };
		if (!vectors_file_map(&f, &v->files[v->n], &why)) {
			vectors_bits_load(v, v->files[v->n]);
			dims = v->files[v->n++]->dims; /* those of one folder are alike */
			continue;
		}
		log_warn("%s: what it held is embedded anew", why.text);
		m.spans.n = 0;
		v->is_changed = true;
	}
	if (dims)
		v->dims = v->tail.dims = dims;
	v->spans = is_there ? m.spans : (struct vectors_spans){ 0 };
	free(v->model);
	v->model = mem_strdup(model ? model : is_there ? m.model : "");
	remove_unlisted(v);
}

const char *vectors_model_of(struct arena *a, const char *dir)
{
	struct manifest m = { 0 };
	if (!file_exists(path_join(a, dir, MANIFEST_NAME)) || !manifest_read(a, dir, &m) || !m.n)
		return NULL;
	return m.model;
}
