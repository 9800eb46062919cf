#include "ops/meaning.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* What of a question is filter and not text; see index/query.h. */
static const char *const filters[] = { "file:", "type:", "kind:", "project:", "branch:", "agent:", "after:", "before:", "namespace:", "tag:" };

static bool is_filter(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(filters); i++)
		if (word.n > strlen(filters[i]) && !memcmp(word.p, filters[i], strlen(filters[i])))
			return true;
	return false;
}

static struct str without_filters(struct arena *a, const char *text)
{
	char *out = arena_alloc(a, strlen(text) + 2);
	size_t n = 0;
	for (const char *p = text; *p;) {
		size_t space = strspn(p, " \t\n\r"), len = strcspn(p + space, " \t\n\r");
		struct str word = { p + space, len };
		p += space + len;
		if (!len || is_filter(word))
			continue;
		if (n)
			out[n++] = ' ';
		memcpy(out + n, word.p, len);
		n += len;
	}
	return (struct str){ out, n };
}

bool meaning_ask(struct op_call *call, const char *text, struct meaning *ret, char *why)
{
	const struct services *v = call->services;
	*why = '\0';
	if (!text || !*text)
		return false;
	if (!v || !v->meaning) {
		snprintf(why, ERR_TEXT_MAX, "vectors: off");
		return false;
	}
	return v->meaning(v->daemon, without_filters(call->arena, text), &ret->query, &ret->vectors, why);
}
