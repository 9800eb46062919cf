#ifndef OBSERVE_REPLY_H
#define OBSERVE_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "model/memory.h"

/*
 * The tolerant reader of what models answer: JSON by schema, JSON in prose or fences, several
 * objects, XML of any case with attributes, entities, CDATA and missing ends, thinking in any usual
 * marker, an answer cut off in the middle (whole items are kept), refusals, quota prose, HTML error
 * pages, nothing. Pure; never fails: every text has a class.
 */

enum reply_class {
	REPLY_NONE,
	REPLY_JSON,       /* as asked */
	REPLY_JSON_LOOSE, /* in prose, fences, with trailing commas, several objects … */
	REPLY_XML,
	REPLY_CUT,        /* whole items of something cut off */
	REPLY_NOTHING,    /* says that nothing is durable */
	REPLY_EMPTY,
	REPLY_REFUSAL,
	REPLY_QUOTA,      /* prose about limits or payment */
	REPLY_PAGE,       /* HTML */
	REPLY_PROSE,      /* text without a memory in it */
	REPLY_THOUGHT,    /* thinking only, no answer */
	REPLY_CLASS_COUNT
};
extern const char *const reply_class_names[REPLY_CLASS_COUNT];

#define REPLY_ITEMS_MAX 64
#define REPLY_LIST_MAX 64      /* facts, concepts, files of one item */
#define REPLY_FIELD_MAX 8192   /* bytes; longer is cut at a character */

/* One memory as the model worded it; fields NULL or empty when absent. */
struct reply_item {
	int unit;              /* number in the question, from 1; 0: not said */
	enum memory_kind kind; /* observation, summary or fact */
	enum memory_type type; /* as our lists name it, else TYPE_NONE; `said_type` tells what was said (mode_type_of) */
	const char *said_type;
	const char *title, *subtitle, *body;
	const char **facts, **concepts, **files_read, **files_modified;
	size_t nfacts, nconcepts, nread, nmodified;
	const char **files; /* whose role is not said */
	size_t nfiles;
	const char *request, *investigated, *learned, *completed, *next_steps, *notes;
	const char *subject, *value, *quote; /* of a fact, whose title is the sentence */
	double confidence;           /* as the model says; -1: it does not */
};

struct reply {
	enum reply_class class;
	struct reply_item *items;
	size_t n, cap;
	size_t dropped;    /* items with neither title nor body, and those that were cut off */
	bool has_thinking; /* some was taken away */
	const char *why;   /* of a refusal, quota prose or skip: its first sentence; NULL */
};

/* Invalid UTF-8 is repaired; texts beyond REPLY_MAX are cut there. is_cut: the server says that it stopped at the token limit. */
#define REPLY_MAX (1u << 20)
void reply_read(struct arena *a, struct str text, bool is_cut, struct reply *ret);

#endif
