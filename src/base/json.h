#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/*
 * Reading JSON (a thin cover over json-c, the only place that includes it) and a small streaming writer. Readers are
 * forgiving: a missing or wrongly typed member gives the default, so that a drifting format never loses an event.
 */

#define JSON_DEPTH_MAX 128
#define JSON_PARSE_MAX (8u << 20) /* bytes; longer lines are thinned first (json_scan.h) */

typedef struct json_object json; /* owned by the root: json_free(root) frees all */

/* Parses exactly one value. Invalid UTF-8, lone surrogates and embedded NUL are repaired first. Duplicate keys: the last wins. ERR_USAGE with the byte offset. */
int json_parse(const char *text, size_t len, json **ret, struct err *err);
void json_free(json *j);
void json_free_ptr(json **j); /* for AUTO */

enum json_type { JSON_NULL, JSON_BOOL, JSON_INT, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };
enum json_type json_type(const json *j); /* NULL pointer is JSON_NULL */

json *json_get(const json *object, const char *key);        /* NULL when absent or not an object */
json *json_path(const json *object, const char *dotted);    /* "message.usage.input_tokens" */
const char *json_str(const json *object, const char *key);  /* NULL when absent or not a string; valid UTF-8 */
struct str json_slice(const json *string);                  /* the bytes of a string value; empty otherwise */
const char *json_value_str(const json *string);             /* NULL unless a string */
int64_t json_int(const json *object, const char *key, int64_t otherwise);
double json_real(const json *object, const char *key, double otherwise);
bool json_bool(const json *object, const char *key, bool otherwise);
bool json_value_bool(const json *j, bool otherwise);
int64_t json_value_int(const json *j, int64_t otherwise);
double json_value_real(const json *j, double otherwise);
size_t json_len(const json *array); /* 0 unless an array */
json *json_at(const json *array, size_t i);

/* Members of an object in file order: for (struct json_iter it = json_iter(o); json_next(&it);) it.key, it.value */
struct json_iter {
	const char *key;
	json *value;
	void *entry;
};
struct json_iter json_iter(const json *object);
bool json_next(struct json_iter *it);

/* Compact text of a value, appended. */
void json_print(const json *j, struct buf *out);

/*
 * Writer. Commas and nesting are its business; a key is NULL inside arrays and at the top. Strings are repaired to valid
 * UTF-8 and escaped (RFC 8259).
 */
struct jw {
	struct buf *out;
	unsigned depth; /* of objects and arrays that are open */
};
#define JW_DEPTH_MAX JSON_DEPTH_MAX /* the writer itself has no limit, but what is deeper cannot be read again */

void jw_object(struct jw *w, const char *key);
void jw_array(struct jw *w, const char *key);
void jw_end(struct jw *w, char closer); /* '}' or ']' */
void jw_str(struct jw *w, const char *key, const char *value); /* NULL writes null */
void jw_slice(struct jw *w, const char *key, struct str value);
void jw_printf(struct jw *w, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
void jw_int(struct jw *w, const char *key, int64_t value);
void jw_real(struct jw *w, const char *key, double value, int decimals);
void jw_bool(struct jw *w, const char *key, bool value);
void jw_null(struct jw *w, const char *key);
void jw_json(struct jw *w, const char *key, const json *value);
void jw_raw(struct jw *w, const char *key, struct str json_text); /* already valid JSON */
/* These texts as a JSON array, in the arena; NULL when there are none. */
char *json_list(struct arena *a, const char *const *items, size_t n);

#endif
