#include "observe/candidates.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "observe/sections.h"
#include "observe/sentence.h"
#include "observe/title.h"

#define REPLY_BLOCKS 40   /* blocks of a reply that are looked at */
#define REPLY_SENTENCES 3 /* sentences of one paragraph */
#define PROMPT_SENTENCES 3
#define FIRST_BONUS 6 /* of a reply's first telling sentence; one less for each after it */
#define HEADING_BONUS 3
#define ITEM_BONUS (-1)
#define ITEMS_LATE 4 /* most that an item loses for those before it */
#define LEAD_BONUS 1
#define PROMPT_MIN_WORDS 3   /* telling words of a prompt that means something alone */
#define PROMPT_WHOLE_WORDS 5 /* words of a whole sentence, which needs one telling word less */

/* What is left of a long sentence when it is cut may say little. */
static int title_score(struct arena *a, struct str text, const struct sentence *whole)
{
	struct sentence s;

	if (whole->length <= TITLE_MAX)
		return sentence_score(whole);
	s = sentence_judge(str_of(title_finish(a, text)));
	return sentence_score(&s) - 1;
}

void candidates_add(struct arena *a, struct candidates *c, struct str text, int bonus)
{
	struct str stripped = sentence_strip_reply(text);
	struct sentence s = sentence_judge(stripped);
	struct candidate item = { .score = MIN(sentence_score(&s), title_score(a, stripped, &s)) +
					   bonus };

	if (!sentence_is_specific(&s) || stripped.p[0] == '(')
		return;
	item.text = arena_dup(a, stripped.p, stripped.n);
	ARENA_PUSH(a, c->items, c->n, c->cap, item);
}

/* What sections are worth for a title. */
static int section_bonus(int section)
{
	static const int bonus[SECTION_COUNT] = {
		[SECTION_CAUSE] = 1,
		[SECTION_DONE] = 1,
		[SECTION_CHECK] = -9,
		[SECTION_NEXT] = -7,
		[SECTION_FILES] = -8,
		[SECTION_NOTES] = -4,
		[SECTION_USAGE] = -9,
		[SECTION_DECISION] = 1,
	};

	return bonus[section];
}

/* "`root.go:55` - Removed the command": the deed, not the place. */
static struct str after_place(struct str s)
{
	static const char *const borders[] = { " - ", " — ", " – ", ": " };
	const char *close = s.n > 2 && s.p[0] == '`' ? memchr(s.p + 1, '`', s.n - 1) : NULL;
	struct str rest;

	if (!close)
		return s;
	rest = (struct str){ close + 1, s.n - (size_t)(close + 1 - s.p) };
	if (rest.n && rest.p[0] == '(') {
		close = memchr(rest.p, ')', rest.n);
		rest = close ? (struct str){ close + 1, rest.n - (size_t)(close + 1 - rest.p) }
			     : rest;
	}
	for (size_t i = 0; i < ARRAY_LEN(borders); i++) {
		size_t n = strlen(borders[i]);

		if (rest.n > n + 20 && memcmp(rest.p, borders[i], n) == 0)
			return (struct str){ rest.p + n, rest.n - n };
	}
	return s;
}

static void add_paragraph(
	struct arena *a, struct candidates *c, const struct block *b, int bonus, int *first)
{
	struct str rest = str_of(b->text), s;

	for (unsigned i = 0; i < REPLY_SENTENCES && sentence_next(&rest, &s); i++) {
		size_t before = c->n;

		candidates_add(a, c, s, bonus + *first);
		if (c->n > before && *first > 0)
			(*first)--;
	}
}

/* One item of a list stands for the whole only when it tells a deed. */
#define NO_DEED_PENALTY 4

static void add_item(struct arena *a, struct candidates *c, const struct block *b, int bonus)
{
	struct str rest = str_of(b->text), s;
	size_t before = c->n;

	if (b->level > 1)
		return;
	if (b->lead)
		candidates_add(a, c, str_of(b->lead), bonus + LEAD_BONUS);
	if (b->lead && b->text[b->after_lead])
		rest = str_of(b->text + b->after_lead);
	if (sentence_next(&rest, &s))
		candidates_add(a, c, after_place(s), bonus + ITEM_BONUS);
	for (size_t i = before; i < c->n; i++) {
		struct sentence judged = sentence_judge(str_of(c->items[i].text));

		c->items[i].is_detail = true;
		if (!(judged.traits & TRAIT_DEED))
			c->items[i].score -= NO_DEED_PENALTY;
	}
}

void candidates_lower_details(struct candidates *c, int points)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->items[i].is_detail)
			c->items[i].score -= points;
}

void candidates_add_reply(
	struct arena *a, struct candidates *c, const struct blocks *blocks, int bonus)
{
	int first = FIRST_BONUS, items = 0;

	for (size_t i = 0; i < blocks->n && i < REPLY_BLOCKS; i++) {
		const struct block *b = &blocks->items[i];
		int here = bonus + section_bonus(b->section) - (int)(i / 12);

		if (b->kind == BLOCK_TEXT)
			add_paragraph(a, c, b, here, &first);
		else if (b->kind == BLOCK_HEADING && b->level != LEVEL_COLON)
			candidates_add(a, c, str_of(b->text), here + HEADING_BONUS);
		else if (b->kind == BLOCK_ITEM)
			add_item(a, c, b, here - MIN(items++, ITEMS_LATE));
	}
}

/* ---- prompts ---- */

static bool has_dangling_pointer(struct str s)
{
	struct str rest = s, word;
	bool found = false;

	while (word_next(&rest, &word)) {
		static const char *const objects[] = { "it", "this", "that", "them", "these",
			"those", "ça", "cela", "ceci" };

		/* "this test" points at nothing unsaid; "fix this" does. */
		found = false;
		for (size_t i = 0; i < ARRAY_LEN(objects); i++)
			found = found || (word.n == strlen(objects[i]) &&
						 strncasecmp(word.p, objects[i], word.n) == 0);
	}
	return found;
}

static bool prompt_sentence_is_telling(const struct sentence *s)
{
	bool dangles = has_dangling_pointer(s->text);
	unsigned needed = dangles ? PROMPT_MIN_WORDS + 1 : PROMPT_MIN_WORDS,
		 telling = s->words + 2 * s->names;

	if (!dangles && telling + 1 == needed && telling + s->plain >= PROMPT_WHOLE_WORDS)
		needed--;
	if (s->traits & TRAIT_LEAD_IN && s->words + s->names < needed + 1)
		return false;
	return s->length >= 12 && telling >= needed && s->words >= 1;
}

static bool is_plan_start(const char *text)
{
	return str_istarts(text, "implement the following plan") ||
	       str_istarts(text, "implement this plan") ||
	       str_istarts(text, "execute the following plan");
}

/* "Plan: Fix error handling" is about error handling. */
static struct str without_plan(struct str s)
{
	static const char *const labels[] = { "Implementation Plan:", "Plan:", "Plan -", "Plan —",
		"Task:", "Issue:", "Feature:", "Fix:", "Bug:" };

	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (s.n > strlen(labels[i]) && strncasecmp(s.p, labels[i], strlen(labels[i])) == 0)
			return str_trim(
				(struct str){ s.p + strlen(labels[i]), s.n - strlen(labels[i]) });
	return s;
}

/*
 * "I messed up the branches", "seems like the worker is done": what a person tells rather than
 * asks.
 */
#define TOLD_PENALTY 10

static bool first_word_is_in(struct str s, const char *const *words, size_t n)
{
	struct str rest = s, first = { 0 };

	word_next(&rest, &first);
	for (size_t i = 0; i < n; i++)
		if (first.n == strlen(words[i]) && strncasecmp(first.p, words[i], first.n) == 0)
			return true;
	return false;
}

static const char *const asking_words[] = { "what", "why", "how", "where", "when", "who", "which",
	"is", "are", "does", "do", "did", "was", "were", "has", "have", "isn't", "doesn't", "any",
	"should", "quel", "quelle", "quels", "quelles", "pourquoi", "comment", "où", "quand",
	"est-ce", "combien", "qui", "que", "qu'est-ce" };

static bool asks_or_orders(struct str s)
{
	struct str rest = s, first = { 0 };

	word_next(&rest, &first);
	return word_is_order(first) || (s.n && s.p[s.n - 1] == '?') ||
	       first_word_is_in(s, asking_words, ARRAY_LEN(asking_words));
}

/* "Can you rename it?" is an order; what remains of it asks nothing. */
static struct str without_polite_mark(struct str s)
{
	if (!s.n || s.p[s.n - 1] != '?' ||
		first_word_is_in(s, asking_words, ARRAY_LEN(asking_words)))
		return s;
	while (s.n && (s.p[s.n - 1] == '?' || s.p[s.n - 1] == ' '))
		s.n--;
	return s;
}

static void add_prompt_text(
	struct arena *a, struct candidates *c, struct str text, int bonus, bool is_heading)
{
	struct str stripped = without_polite_mark(without_plan(sentence_strip_prompt(text)));
	struct sentence s = sentence_judge(stripped);
	struct candidate item = { .is_request = true };

	if (!prompt_sentence_is_telling(&s) || strchr("=[{<|>\"#*~+", text.p[0]))
		return;
	/* A question or an order is what a prompt is: no points off for that. */
	s.traits &= TRAIT_LEAD_IN | TRAIT_POINTER | TRAIT_STATUS;
	item.score = MAX(sentence_score(&s), -2) + bonus -
		     (is_heading || asks_or_orders(stripped) ? 0 : TOLD_PENALTY);
	item.text = arena_dup(a, stripped.p, stripped.n);
	ARENA_PUSH(a, c->items, c->n, c->cap, item);
}

/* Pasted text: several lines that are not prose say little as titles. */
static void add_prompt_block(
	struct arena *a, struct candidates *c, const struct block *b, int *bonus)
{
	struct str rest = str_of(b->text), s;

	for (unsigned i = 0; i < PROMPT_SENTENCES && sentence_next(&rest, &s); i++) {
		add_prompt_text(a, c, s, *bonus, b->kind == BLOCK_HEADING && b->level < LEVEL_BOLD);
		*bonus -= 3;
	}
}

/* "me@host folder % make", "folder $ make" */
static bool is_terminal_line(struct str s)
{
	struct str head = { s.p, MIN(s.n, 60u) };
	const char *line = memchr(head.p, '\n', head.n);

	head.n = line ? (size_t)(line - head.p) : head.n;
	return str_find(head, STR(" % ")) || str_find(head, STR(" $ "));
}

void candidates_add_prompt(struct arena *a, struct candidates *c, struct str prompt, int bonus)
{
	struct blocks blocks;
	bool is_plan = false;

	prompt = str_trim(prompt);
	if (prompt.n && prompt.p[0] == '/' && !memchr(prompt.p, ' ', MIN(prompt.n, 80)) &&
		!memchr(prompt.p, '\n', MIN(prompt.n, 80)))
		return;
	/* "/command and its text", "$skill and its text" */
	if (prompt.n > 1 && (prompt.p[0] == '/' || (prompt.p[0] == '$' && prompt.p[1] != ' '))) {
		const char *blank = prompt.p + strcspn(prompt.p, " \n");

		prompt = str_trim((struct str){ blank, (size_t)(prompt.p + prompt.n - blank) });
	}
	/* A shell command, or a terminal's text pasted. */
	if (prompt.n > 2 &&
		(is_terminal_line(prompt) || prompt.p[0] == '!' || memcmp(prompt.p, "$ ", 2) == 0 ||
			memcmp(prompt.p, "\xe2\x9d\xaf", 3) == 0 ||
			memcmp(prompt.p, "\xe2\x9e\x9c", 3) == 0))
		return;
	blocks_parse(a, prompt, &blocks);
	for (size_t i = 0; i < blocks.n && i < 8; i++) {
		const struct block *b = &blocks.items[i];

		if (i == 0 && is_plan_start(b->text)) {
			is_plan = true;
			continue;
		}
		if (b->kind == BLOCK_HEADING && is_plan && b->level < LEVEL_BOLD) {
			add_prompt_text(a, c, str_of(b->text), bonus + 8, true);
			if (b->level == 1)
				break;
		} else if (!is_plan && (b->kind == BLOCK_TEXT || b->kind == BLOCK_HEADING ||
					       b->kind == BLOCK_ITEM)) {
			add_prompt_block(a, c, b, &bonus);
		}
	}
}

/* ---- choosing ---- */

static bool is_like_any(const char *title, const char *const *given, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (given[i] && title_is_like(title, given[i]))
			return true;
	return false;
}

char *candidates_take(
	struct arena *a, struct candidates *c, int least, const char *const *given, size_t ngiven)
{
	for (;;) {
		struct candidate *best = NULL;
		char *title;

		for (size_t i = 0; i < c->n; i++)
			if (!c->items[i].is_taken && c->items[i].score >= least &&
				(!best || c->items[i].score > best->score))
				best = &c->items[i];
		if (!best)
			return NULL;
		best->is_taken = true;
		title = best->is_request ? title_finish_request(a, str_of(best->text))
					 : title_finish(a, str_of(best->text));
		if (!is_like_any(title, given, ngiven))
			return title;
	}
}
