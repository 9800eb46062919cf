/*
 * Numbers are written as varints (zigzag), so that a cursor stays a word. What people paste wrongly is told apart by the
 * checksum (cut, garbage) and by the hash of the question (another list, other filters).
 */
#include "ops/cursor.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ops/param.h"
#include "spec/spec.h"
#include "text/hash.h"

#define VERSION 1
#define HASH_BYTES 4
#define BYTES_MAX (CURSOR_TEXT_MAX / 4 * 3)

/* --- base64url without padding (RFC 4648, 5). --- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static const char *text_of(struct arena *a, const struct buf *bytes)
{
	char *text = ARENA_ARRAY(a, char, bytes->len * 4 / 3 + 4);
	size_t n = 0;
	unsigned bits = 0, held = 0;

	for (size_t i = 0; i < bytes->len; i++) {
		held = held << 8 | (unsigned char)bytes->data[i];
		for (bits += 8; bits >= 6; bits -= 6)
			text[n++] = letters[held >> (bits - 6) & 63];
	}
	if (bits)
		text[n++] = letters[held << (6 - bits) & 63];
	text[n] = '\0';
	return text;
}

/* There is one text for some bytes: the bits that are left over must be 0. */
static bool bytes_of(const char *text, struct buf *ret)
{
	unsigned bits = 0, held = 0;

	for (; *text; text++) {
		const char *letter = strchr(letters, *text);
		if (!letter)
			return false;
		held = held << 6 | (unsigned)(letter - letters);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			buf_char(ret, (char)(held >> bits & 255));
		}
	}
	return bits < 6 && !(held & ((1u << bits) - 1)) && !ret->is_full;
}

/* --- Numbers. --- */

static void hash_add(struct buf *b, uint64_t hash)
{
	for (int i = 0; i < HASH_BYTES; i++)
		buf_char(b, (char)(hash >> 8 * i & 255));
}

static bool hash_is(const char *p, uint64_t hash)
{
	for (int i = 0; i < HASH_BYTES; i++)
		if ((unsigned char)p[i] != (hash >> 8 * i & 255))
			return false;
	return true;
}

static void number_add(struct buf *b, int64_t n)
{
	uint64_t z = (uint64_t)n << 1 ^ (n < 0 ? UINT64_MAX : 0);

	for (; z >= 128; z >>= 7)
		buf_char(b, (char)((z & 127) | 128));
	buf_char(b, (char)z);
}

static bool number_take(const char **p, const char *end, int64_t *ret)
{
	uint64_t z = 0;

	for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*(*p)++;
		z |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128)) {
			*ret = (int64_t)(z >> 1 ^ (z & 1 ? UINT64_MAX : 0));
			return true;
		}
	}
	return false;
}

/* --- The question. --- */

/* What says how much of the list is wanted is no part of the question. */
static bool is_about_paging(const char *name)
{
	return !strcmp(name, "cursor") || !strcmp(name, "limit") || !strcmp(name, "offset");
}

static uint64_t question_hash(struct op_call *call, const struct cursor *c)
{
	const struct op_spec *op = op_spec_find(c->op);
	AUTO(buf_done) struct buf b = { 0 };
	const char **values;

	buf_printf(&b, "%s\n%lld\n", c->op, (long long)c->project);
	for (const struct param *p = op ? op->params : NULL; p && p->name; p++) {
		if (is_about_paging(p->name))
			continue;
		const json *value = json_get(call->params, p->name);
		size_t n = param_list(call, p->name, NULL, &values);
		for (size_t i = 0; i < n; i++)
			buf_printf(&b, "%s=%zu:%s\n", p->name, strlen(values[i]), values[i]);
		if (!n && json_type(value) == JSON_REAL)
			buf_printf(&b, "%s=%.9g\n", p->name, json_value_real(value, 0));
		if (!n && json_type(value) == JSON_BOOL && json_value_bool(value, false))
			buf_printf(&b, "%s\n", p->name);
	}
	return hash64(buf_cstr(&b), b.len);
}

/* --- Both ways. --- */

void cursor_write(struct op_call *call, struct jw *out, const struct cursor *c, bool has_more)
{
	AUTO(buf_done) struct buf b = { 0 };

	if (!has_more) {
		jw_null(out, "next_cursor");
		return;
	}
	buf_char(&b, VERSION);
	hash_add(&b, question_hash(call, c));
	for (size_t i = 0; i < c->nkeys; i++)
		number_add(&b, c->keys[i]);
	buf_str(&b, c->name ? c->name : "");
	hash_add(&b, hash64(b.data, b.len));
	jw_str(out, "next_cursor", text_of(call->arena, &b));
}

static bool keys_take(struct op_call *call, struct cursor *c, const struct buf *b)
{
	const char *p = b->data + 1 + HASH_BYTES, *end = b->data + b->len - HASH_BYTES;

	for (size_t i = 0; i < c->nkeys; i++)
		if (!number_take(&p, end, &c->keys[i]))
			return false;
	c->name = arena_dup(call->arena, p, (size_t)(end - p));
	c->is_given = true;
	return (size_t)(end - p) <= CURSOR_NAME_MAX;
}

static bool is_whole(const struct buf *b)
{
	return b->len > 1 + 2 * HASH_BYTES && b->data[0] == VERSION &&
	       hash_is(b->data + b->len - HASH_BYTES, hash64(b->data, b->len - HASH_BYTES));
}

int cursor_read(struct op_call *call, struct cursor *io_c, struct err *err)
{
	const char *text = param_text(call, "cursor", NULL);
	AUTO(buf_done) struct buf b = { .max = BYTES_MAX };

	io_c->is_given = false;
	if (!text)
		return 0;
	if (param_size(call, "offset", 0))
		return err_set(
			err, ERR_USAGE, "a cursor says where to go on: leave the offset out");
	if (!bytes_of(text, &b) || !is_whole(&b)) {
		err_set(err, ERR_USAGE, "the cursor '%.40s' is damaged or was never given out",
			text);
		return err_hint(err, "send the next_cursor of the page before, whole");
	}
	if (hash_is(b.data + 1, question_hash(call, io_c)) && keys_take(call, io_c, &b))
		return 0;
	err_set(err, ERR_USAGE, "the cursor '%.40s' belongs to another list or to other filters",
		text);
	return err_hint(
		err, "send it with what its page was asked for with; only limit may differ");
}
