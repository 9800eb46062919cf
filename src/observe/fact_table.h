#ifndef OBSERVE_FACT_TABLE_H
#define OBSERVE_FACT_TABLE_H

#include "model/fact.h"
#include "observe/rules.h"
#include "observe/turn_view.h"

/*
 * The table of rules that see facts in a turn, and what they share for making candidates. A rule is
 * a row; `rules.off` switches it off by name. Languages say in which its words are looked for; 0
 * for rules that look at what was done, not at words.
 */

#define LANGUAGE_EN 1u
#define LANGUAGE_FR 2u
#define LANGUAGE_DE 4u
#define LANGUAGE_ES 8u

struct fact_rule {
	const char *name;
	enum memory_type category;
	unsigned languages;
	/* Its facts wait for a person until they come up in several sessions: judged on real
	 * sessions, too few of them were right. */
	bool waits;
	void (*run)(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
	const char *help;
};

extern const struct fact_rule fact_rules[];               /* ends with a NULL name */
const struct fact_rule *fact_rule_find(const char *name); /* NULL */

void facts_run(struct turn_view *v, struct rules_output *out);

void fact_prefer(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_correct(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_decide(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_dead_end(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_error_fix(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_tool_pattern(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_todo(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_convention(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);
void fact_architecture(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out);

/* ---- making candidates (fact_make.c) ---- */

#define FACT_TITLE_MAX 240
#define FACT_SUBJECT_MAX 160

/* Rule, category, slot, time and key of the event, trust; the rest is the caller's. */
struct fact_candidate candidate_begin(
	const struct fact_rule *rule, const struct event *e, const char *slot, enum trust trust);
void candidate_evidence(struct turn_view *v, struct fact_candidate *c, const struct event *e,
	const char *role, struct str excerpt);
void candidate_file(
	struct turn_view *v, struct fact_candidate *c, const char *path, enum file_role role);
/* Files of the turn whose name stands in the text. */
void candidate_files_named(struct turn_view *v, struct fact_candidate *c, const char *text);
/* Sets topic from rule and subject, and adds it; a slot that is there already is left. */
void candidate_add(struct turn_view *v, struct rules_output *out, struct fact_candidate *c);
/* `group`: rules of one group share topics, so that what one says the other may contradict. */
int64_t fact_topic_of(const char *group, const char *subject);

/* The telling words of a text, folded, sorted, each once, joined by a blank. */
char *subject_of(struct arena *a, struct str text);
/* Of these words how many stand in the other list, 0 to 1 of the shorter one. */
double subject_share(const char *a, const char *b);
/* Of the words of a subject how many stand in a text in small letters, 0 to 1. */
double subject_within(const char *subject, const char *lower);
char *text_lower(struct arena *a, struct str text);
/* One sentence, first letter large, without closing dot; at most FACT_TITLE_MAX bytes. */
char *fact_title(struct arena *a, struct str text);
/*
 * What the edits between two events changed, in a few words (fact_change.c): the line that shares a
 * word with the error, or the only one. NULL, and *ret_is_fix false, when neither is there.
 */
struct seen_error {
	const char *line, *signature; /* "" unknown */
};
char *change_text(struct turn_view *v, size_t from, size_t to, const struct seen_error *error,
	bool *ret_is_fix);
/* Names and code in a text: identifiers, paths, what stands in back quotes. */
unsigned names_in(struct str text);
bool starts_with_any(struct str s, const char *const *words, size_t n, struct str *ret_rest);
/* The same at the borders of words. */
bool says_any(const char *lower, const char *const *words, size_t n);
bool contains_any(const char *lower, const char *const *words, size_t n);

/* ---- the person's own words (fact_said.c) ---- */

struct said {
	const struct event *event;
	struct str text;   /* one sentence as written */
	const char *lower; /* the same in small letters */
	bool is_long;      /* of a long prompt, which is mostly about one task */
	bool is_item;      /* an item of a list */
};

struct said_list {
	struct said *items;
	size_t n, cap;
};

void said_find(struct turn_view *v, struct said_list *ret);

/* ---- sentences of the agent's account ---- */

#define TOLD_PAIRS 1024

struct told {
	struct str text; /* stripped of what comes before the matter */
	const char *lower;
	int section;
	bool is_item;
	const struct event *reply; /* that it stands in */
	uint64_t pairs[TOLD_PAIRS / 64]; /* which neighbouring bytes it has, folded into few bits */
};

/* As says_any, but what cannot stand in the sentence is not looked for. */
bool told_says(const struct told *t, const char *const *words, size_t n);
bool told_may_say(const struct told *t, const char *word);

struct told_list {
	struct told *items;
	size_t n, cap;
};

void told_find(struct turn_view *v, struct told_list *ret);
/* The same of the replies before the last one, which are mostly about the next step. */
void told_find_on_the_way(struct turn_view *v, struct told_list *ret);

#endif
