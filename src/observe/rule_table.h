#ifndef OBSERVE_RULE_TABLE_H
#define OBSERVE_RULE_TABLE_H

#include "base/buf.h"
#include "observe/rules.h"
#include "observe/turn_view.h"

/*
 * The table of rules, and what rules share for making memories. A rule looks at the view of a turn
 * and adds memories to the output; a new kind of knowledge is a further row. Rows run in order: an
 * earlier rule has the first choice of titles.
 */

struct rule {
	const char *name;
	void (*run)(struct turn_view *v, const struct rule *rule, struct rules_output *out);
	const char *help;
};

extern const struct rule rules_table[]; /* ends with a NULL name */

void rule_work(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_finding(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_repair(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_decision(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_choice(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_report(struct turn_view *v, const struct rule *rule, struct rules_output *out);
void rule_summary(struct turn_view *v, const struct rule *rule, struct rules_output *out);

/* rule_make.c */
#define BODY_MAX 1100
#define FACTS_MAX 10

struct draft {
	struct memory m;
	struct turn_view *v;
	struct memory_file *files;
	size_t files_cap;
	struct evidence *evidence;
	size_t evidence_cap;
	const char *facts[FACTS_MAX];
	size_t nfacts;
	const char *concepts[4];
	size_t nconcepts;
};

void draft_begin(struct draft *d, struct turn_view *v, const struct rule *rule, const char *slot,
	enum memory_kind kind);
void draft_title(struct draft *d, const char *title); /* and remembers it as given in this turn */
/*
 * Files of events in [from, to]; `mentioned` limits them to those whose name stands in the text,
 * unless none does. NULL: all.
 */
void draft_files(struct draft *d, size_t from, size_t to, const char *mentioned, size_t reads_max);
void draft_commands(struct draft *d, size_t from, size_t to);
void draft_evidence(struct draft *d, const struct event *e, const char *role, struct str excerpt);
void draft_fact(struct draft *d, struct str fact);
void draft_concept(struct draft *d, const char *concept);
void draft_end(struct draft *d, struct rules_output *out);

/*
 * Plain sentences of blocks [from, to) that say something, without announcements, offers and
 * checks; "- " before items.
 */
char *narrative(
	struct turn_view *v, const struct blocks *blocks, size_t from, size_t to, size_t max);
/* Body and facts of blocks [from, to): NULL body when they say nothing. */
void draft_body(struct draft *d, const struct blocks *blocks, size_t from, size_t to);
/* How many of these words (lower case) stand in the text. */
unsigned words_found(struct str text, const char *const *words, size_t n);
/* All that may name this turn, best first. */
struct candidates *turn_titles(struct turn_view *v, bool for_summary);

#endif
