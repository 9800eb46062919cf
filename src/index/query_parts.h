#ifndef INDEX_QUERY_PARTS_H
#define INDEX_QUERY_PARTS_H

#include "index/query.h"

/* A parsed question from the inside. */

#define WORD_STEMS_MAX 16

struct query_word {
	struct str word; /* folded */
	struct str stems[WORD_STEMS_MAX];
	size_t nstems;
	uint32_t position; /* in the question, function words counted */
	bool is_whole;     /* an identifier or path whose parts are words of their own */
	bool is_part;
	bool is_stop;
	bool is_scored;
	bool is_excluded; /* no document may hold it */
};

struct query_phrase {
	size_t first, n; /* words, in query->phrase_words */
	bool is_excluded;
};

struct phrase_word {
	size_t word;     /* in query->words */
	uint32_t offset; /* from the phrase's first */
};

/* When what is asked for happened, as the question says it. */
enum period_unit {
	PERIOD_NONE,
	PERIOD_DAY,   /* `back` days ago */
	PERIOD_WEEK,  /* the week `back` weeks ago, from Monday */
	PERIOD_MONTH, /* the month `back` months ago */
	PERIOD_WEEKDAY,    /* the latest day of that name, 0 Sunday */
	PERIOD_MONTH_NAME, /* the latest month of that name, 0 January */
};

struct period {
	enum period_unit unit;
	int back, number;
	size_t first, n; /* its words */
};

struct query {
	struct query_word words[QUERY_TERMS_MAX];
	size_t nwords;
	struct query_phrase *phrases;
	size_t nphrases, phrases_cap;
	struct phrase_word *phrase_words;
	size_t nphrase_words, phrase_words_cap;
	struct period period;
};

#endif
