/* The data of a row: hash, how many vectors, their bytes each; then the scales, then the vectors. */
#include "store/vector.h"

#include <string.h>

#include "base/mem.h"
#include "store/room.h"

struct head {
	uint32_t hash;
	uint16_t n, dims;
};

int store_vector_put(
	struct store *s, const char *embedder, const struct paid_vector *v, struct err *err)
{
	static const char has[] = "SELECT 1 FROM memory WHERE id = ?1 AND author = ?2";
	static const char insert[] =
		"INSERT INTO vector (memory, embedder, data) VALUES (?1, ?2, ?3) "
		"ON CONFLICT (memory, embedder) DO UPDATE SET data = excluded.data";
	AUTO(buf_done) struct buf data = { 0 };
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct head h = { v->hash, (uint16_t)v->n, (uint16_t)v->dims };
	int rc = store_row(s, has, DB_ARGS(db_i(v->memory), db_i(s->me)), &r, err);

	if (rc <= 0)
		return rc;
	buf_add(&data, &h, sizeof h);
	buf_add(&data, v->scales, v->n * sizeof(float));
	buf_add(&data, v->at, (size_t)v->n * v->dims);
	return db_run(s->db, insert,
		DB_ARGS(db_i(v->memory), db_t(embedder), db_b(data.data, data.len)), err);
}

int store_vector_get(struct store *s, struct arena *a, const char *embedder, int64_t memory,
	struct paid_vector *ret, struct err *err)
{
	static const char sql[] = "SELECT data FROM vector WHERE memory = ?1 AND embedder = ?2";
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	struct head h;
	size_t n;
	int rc = store_row(s, sql, DB_ARGS(db_i(memory), db_t(embedder)), &r, err);

	if (rc <= 0)
		return rc;
	const char *data = db_blob(r, 0, &n);
	if (n < sizeof h)
		return 0;
	memcpy(&h, data, sizeof h);
	if (n != sizeof h + h.n * (sizeof(float) + h.dims))
		return 0;
	*ret = (struct paid_vector){ .memory = memory,
		.hash = h.hash,
		.n = h.n,
		.dims = h.dims,
		.scales = arena_dup(a, data + sizeof h, h.n * sizeof(float)),
		.at = arena_dup(a, data + sizeof h + h.n * sizeof(float), (size_t)h.n * h.dims) };
	return 1;
}
