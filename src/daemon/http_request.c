#include "daemon/http_request.h"

#include <microhttpd.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#define SHORT_BODY (64 << 10)

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Headers that must not come twice. */
static const char *const single[] = { "Host", "Origin", "Authorization", "Content-Length",
	"Transfer-Encoding" };

struct count {
	unsigned seen; /* bit per name */
	bool is_twice;
};

static enum MHD_Result count_header(
	void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct count *n = ctx;

	(void)kind;
	(void)value;
	for (size_t i = 0; i < ARRAY_LEN(single); i++) {
		if (!str_ieq(key, single[i]))
			continue;
		n->is_twice = n->is_twice || (n->seen >> i & 1);
		n->seen |= 1u << i;
	}
	return MHD_YES;
}

struct gate_request http_gate_request(struct MHD_Connection *c, const char *path)
{
	struct count n = { 0 };

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &n);
	return (struct gate_request){
		.path = path,
		.host = header(c, "Host"),
		.origin = header(c, "Origin"),
		.authorization = header(c, "Authorization"),
		.fetch_site = header(c, "Sec-Fetch-Site"),
		.is_ambiguous = n.is_twice ||
				(header(c, "Content-Length") && header(c, "Transfer-Encoding")),
	};
}

struct pair {
	const char *key, *value; /* value NULL: none */
	size_t key_len, value_len;
};

struct pairs {
	struct pair list[HTTP_QUERY_MAX];
	size_t n;
};

static enum MHD_Result pair_add(void *ctx, enum MHD_ValueKind kind, const char *key, size_t key_len,
	const char *value, size_t value_len)
{
	struct pairs *p = ctx;

	(void)kind;
	if (p->n == HTTP_QUERY_MAX)
		return MHD_NO;
	p->list[p->n++] = (struct pair){ key, value, key_len, value_len };
	return MHD_YES;
}

static bool is_same_key(const struct pair *a, const struct pair *b)
{
	return a->key_len == b->key_len && !memcmp(a->key, b->key, a->key_len);
}

static void pair_write(struct jw *w, const char *key, const struct pair *p)
{
	if (p->value)
		jw_slice(w, key, (struct str){ p->value, p->value_len });
	else
		jw_bool(w, key, true);
}

/* All values of the i-th pair's name, unless an earlier pair has it. */
static void name_write(struct jw *w, const struct pairs *p, size_t i)
{
	size_t same = 0;

	for (size_t k = 0; k < i; k++)
		if (is_same_key(&p->list[k], &p->list[i]))
			return;
	for (size_t k = i; k < p->n; k++)
		same += is_same_key(&p->list[k], &p->list[i]);
	if (same == 1) {
		pair_write(w, p->list[i].key, &p->list[i]);
		return;
	}
	jw_array(w, p->list[i].key);
	for (size_t k = i; k < p->n; k++)
		if (is_same_key(&p->list[k], &p->list[i]))
			pair_write(w, NULL, &p->list[k]);
	jw_end(w, ']');
}

void http_query_json(struct MHD_Connection *c, struct buf *out)
{
	struct pairs p = { .n = 0 };
	struct jw w = { .out = out };

	MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, pair_add, &p);
	jw_object(&w, NULL);
	for (size_t i = 0; i < p.n; i++)
		name_write(&w, &p, i);
	jw_end(&w, '}');
}

bool http_body_is_short(struct MHD_Connection *c)
{
	return !header(c, "Transfer-Encoding") && !header(c, "Expect") &&
	       !http_body_exceeds(c, SHORT_BODY);
}

bool http_body_exceeds(struct MHD_Connection *c, size_t max)
{
	const char *length = header(c, "Content-Length");
	int64_t n;

	return length && (!str_to_i64(length, &n) || n < 0 || (uint64_t)n > max);
}
