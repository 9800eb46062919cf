#ifndef OPS_FIND_H
#define OPS_FIND_H

#include "ops/hits.h"

/*
 * Searching as operations do it: names become ids, what the index cannot filter by (files, validity at a time) is sifted
 * here, hits become rows. A filter in the question whose value means nothing ("type: string") is text, as a person means it.
 */

#define FIND_SIFT_PAGE 256
#define FIND_SIFT_MEANT 768 /* the best by words and meaning, before the pages by words alone */
#define FIND_SIFT_MAX 8192 /* candidates looked at when hits are sifted after the index */

enum find_mode { FIND_AUTO, FIND_LEXICAL, FIND_SEMANTIC, FIND_HYBRID };

struct find {
	const char *text;              /* NULL or "": filters only */
	const char *meant;             /* what is embedded, when that is not the text */
	bool is_plain;                 /* the text is no query: no phrases, no exclusions, no filters of its own */
	struct search_filter filter;
	enum find_mode mode;           /* meaning takes part when it can; FIND_LEXICAL: never */
	const char *file, *branch;     /* NULL: any */
	const char *namespace, *tag;   /* of chunks; NULL: any */
	int64_t as_of;                 /* 0: now */
	size_t offset, limit;
	bool takes_far;                /* by meaning, however far: the caller judges */
	bool wants_total, by_session;
};

struct find_result {
	struct search_result r;        /* terms, rung, totals; hits of the page */
	struct found *found;
	size_t n;
	const char *mode;              /* "lexical", "semantic", "hybrid": how it was searched */
	char why[ERR_TEXT_MAX];        /* not by meaning, though it was asked for */
	uint64_t total;
	bool total_is_exact;
};

int find_run(struct lookup *l, const struct find *f, struct find_result *ret, struct err *err);
/* `scope`, `kind`, `type`, `after` … of the call's parameters. */
int find_from_params(struct op_call *call, struct find *ret, struct err *err);
uint32_t find_branch_hash(const char *branch);
/* What the index knows a namespace by, in the column of branches: chunks are of no branch. */
uint32_t find_namespace_hash(const char *namespace);

#endif
