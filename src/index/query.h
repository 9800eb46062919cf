#ifndef INDEX_QUERY_H
#define INDEX_QUERY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "index/index.h"
#include "text/terms.h"

/*
 * What people type: words (ORed, stop words dropped unless they are all there is), "exact phrases",
 * -word, and the filters file: type: kind: project: branch: before: after: agent: namespace: tag: — anything else
 * is text: no punctuation is ever a syntax error.
 */

#define QUERY_TERMS_MAX 64  /* further words are ignored */
#define QUERY_TEXT_MAX 8192 /* bytes; longer questions are cut */

struct query_filter { /* as typed; the caller turns names into ids */
	const char *file, *type, *kind, *project, *branch, *before, *after, *agent, *namespace, *tag;
};

struct query; /* in the arena */
struct query *query_parse(
	struct arena *a, struct analyser *an, struct str text, struct query_filter *ret_filter);
/*
 * The words of a text that was not written as a question, such as a prompt: no syntax, so that a
 * quoted error demands nothing and an option like -m excludes nothing.
 */
struct query *query_of_text(struct arena *a, struct analyser *an, struct str text);
bool query_is_empty(const struct query
		*q); /* no words at all (filters only): everything matches, newest first */

#endif
