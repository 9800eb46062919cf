/* Values of rows, which come over in binary. */
#include "store/postgres.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define NUMERIC_BASE 10000 /* of the digits of a number on the wire */

bool pg_is_null(struct db_rows *r, int col)
{
	return PQgetisnull(rows_of(r)->result, rows_of(r)->at, col);
}

static const char *value_of(struct db_rows *r, int col)
{
	return PQgetvalue(rows_of(r)->result, rows_of(r)->at, col);
}

static Oid type_of(struct db_rows *r, int col)
{
	return PQftype(rows_of(r)->result, col);
}

enum db_type pg_kind(struct db_rows *r, int col)
{
	if (pg_is_null(r, col))
		return DB_NULL;
	switch (type_of(r, col)) {
	case OID_BYTEA:
		return DB_BLOB;
	case OID_FLOAT4:
	case OID_FLOAT8:
		return DB_REAL;
	case OID_BOOL:
	case OID_INT2:
	case OID_INT4:
	case OID_INT8:
	case OID_NUMERIC:
		return DB_INT;
	default:
		return DB_TEXT;
	}
}

static int16_t short_at(const char *p)
{
	uint16_t n;

	memcpy(&n, p, sizeof(n));
	return (int16_t)be16toh(n);
}

/* Sums of whole numbers come as numeric: digits to the base of 10000, the first of which counts base^weight. */
static int64_t numeric_int(const char *p)
{
	int digits = short_at(p), weight = short_at(p + 2);
	bool is_negative = short_at(p + 4) == 0x4000;
	int64_t sum = 0;

	for (int i = 0; i <= weight; i++)
		sum = sum * NUMERIC_BASE + (i < digits ? short_at(p + 8 + 2 * i) : 0);
	return is_negative ? -sum : sum;
}

static double float_at(const char *p, Oid type)
{
	uint64_t bits;
	uint32_t half;
	double r;
	float f;

	if (type == OID_FLOAT4) {
		memcpy(&half, p, sizeof(half));
		half = be32toh(half);
		memcpy(&f, &half, sizeof(f));
		return (double)f;
	}
	memcpy(&bits, p, sizeof(bits));
	bits = be64toh(bits);
	memcpy(&r, &bits, sizeof(r));
	return r;
}

int64_t pg_int(struct db_rows *r, int col)
{
	const char *p = value_of(r, col);
	uint64_t wide;
	uint32_t half;

	if (pg_is_null(r, col))
		return 0;
	switch (type_of(r, col)) {
	case OID_INT8:
		memcpy(&wide, p, sizeof(wide));
		return (int64_t)be64toh(wide);
	case OID_INT4:
		memcpy(&half, p, sizeof(half));
		return (int32_t)be32toh(half);
	case OID_INT2:
		return short_at(p);
	case OID_BOOL:
		return *p != 0;
	case OID_NUMERIC:
		return numeric_int(p);
	case OID_FLOAT4:
	case OID_FLOAT8:
		return (int64_t)float_at(p, type_of(r, col));
	default:
		return atoll(p);
	}
}

double pg_real(struct db_rows *r, int col)
{
	Oid type = type_of(r, col);

	if (type == OID_FLOAT4 || type == OID_FLOAT8)
		return pg_is_null(r, col) ? 0 : float_at(value_of(r, col), type);
	return (double)pg_int(r, col);
}

const char *pg_text(struct db_rows *r, int col)
{
	return pg_is_null(r, col) ? NULL : value_of(r, col);
}

const void *pg_blob(struct db_rows *r, int col, size_t *ret_n)
{
	*ret_n = (size_t)PQgetlength(rows_of(r)->result, rows_of(r)->at, col);
	return pg_is_null(r, col) ? NULL : value_of(r, col);
}
