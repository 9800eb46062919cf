/*
 * What a person said in their own words: sentences of typed prompts. Pasted logs, quoted text, code
 * and what commands expand to are somebody else's words; a long prompt is mostly the description of
 * one task.
 */

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define PROMPT_LONG 600 /* bytes above which a prompt is a task with its details */
#define PROMPT_MAX 6000 /* bytes above which it is a document that was pasted */
#define LINE_MAX 700    /* bytes of a line that a person typed */
#define SENTENCE_MAX 260
#define SENTENCE_MIN 8
#define SAID_MAX 60

static bool is_foreign_prompt(const char *text)
{
	static const char *const starts[] = { "<", "/", "Caveat:", "[Request interrupted",
		"Implement the following plan", "This session is being continued", "#", "{", "[{",
		"You are ", "Your task is", "Base directory for this skill", "---\n",
		"Analyze this", "Review the code changes", "Unknown skill", "[Image" };

	while (isspace((unsigned char)*text))
		text++;
	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (str_starts(text, starts[i]))
			return true;
	return false;
}

/* Code, logs, quotes, tables, tags, diffs, stack traces. */
static bool is_foreign_line(struct str line, bool is_indented)
{
	static const char *const marks[] = { " ERROR ", " INFO ", " WARN", "Traceback",
		"://localhost", "    at ", "=>", " != ", " == ", "();", "});", "&&", "||",
		"error:", "Error:", "⏺", "⎿", "❯", "│", "└", "├", "\t" };
	static const char starts[] = ">|$<{}[]+#@\"`;=%&\\/~";
	unsigned letters = 0;

	if (is_indented || strchr(starts, line.p[0]))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (str_find(line, str_of(marks[i])))
			return true;
	for (size_t i = 0; i < line.n; i++)
		letters += isalpha((unsigned char)line.p[i]) || (unsigned char)line.p[i] >= 0x80 ||
			   line.p[i] == ' ';
	return letters * 10 < line.n * 8;
}

static struct str strip_item(struct str line, bool *ret_is_item)
{
	size_t digits = 0;

	*ret_is_item = false;
	if (line.n > 2 && strchr("-*", line.p[0]) && line.p[1] == ' ') {
		*ret_is_item = true;
		return str_trim((struct str){ line.p + 2, line.n - 2 });
	}
	while (digits < line.n && isdigit((unsigned char)line.p[digits]))
		digits++;
	if (digits && digits + 1 < line.n && strchr(".)", line.p[digits])) {
		*ret_is_item = true;
		return str_trim((struct str){ line.p + digits + 1, line.n - digits - 1 });
	}
	return line;
}

static bool is_abbreviation(struct str before)
{
	static const char *const words[] = { "e.g", "i.e", "etc", "vs", "cf", "approx", "no",
		"p.ex", "z.b", "bzw" };
	size_t n = 0;

	while (n < before.n && !isspace((unsigned char)before.p[before.n - 1 - n]))
		n++;
	struct str word = { before.p + before.n - n, n };
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (word.n == strlen(words[i]) && strncasecmp(word.p, words[i], word.n) == 0)
			return true;
	return word.n < 2;
}

/* Who types begins sentences with small letters: "please fix. i no longer use it" are two. */
static bool typed_next(struct str *rest, struct str *ret)
{
	for (size_t i = 0; i + 2 < rest->n; i++) {
		if (!strchr(".!?", rest->p[i]) || rest->p[i + 1] != ' ' ||
			is_abbreviation((struct str){ rest->p, i }))
			continue;
		*ret = (struct str){ rest->p, i + 1 };
		*rest = (struct str){ rest->p + i + 2, rest->n - i - 2 };
		return true;
	}
	*ret = *rest;
	*rest = (struct str){ 0 };
	return ret->n > 0;
}

static void add_sentence(
	struct turn_view *v, struct said_list *out, const struct said *proto, struct str s)
{
	struct said item = *proto;

	s = str_trim(s);
	if (s.n < SENTENCE_MIN || s.n > SENTENCE_MAX || s.p[s.n - 1] == '?' || s.p[s.n - 1] == ':')
		return;
	item.text = s;
	item.lower = text_lower(v->a, s);
	ARENA_PUSH(v->a, out->items, out->n, out->cap, item);
}

static void add_line(
	struct turn_view *v, struct said_list *out, const struct said *proto, struct str line)
{
	struct str s, part;

	while (out->n < SAID_MAX && sentence_next(&line, &s))
		while (out->n < SAID_MAX && typed_next(&s, &part))
			add_sentence(v, out, proto, part);
}

/* The next line that the person typed. */
static bool own_next(struct str *rest, bool *in_code, struct str *ret)
{
	while (str_line(rest, ret)) {
		bool is_indented =
			ret->n > 3 && (memcmp(ret->p, "    ", 4) == 0 || ret->p[0] == '\t');

		*ret = str_trim(*ret);
		if (ret->n >= 3 && memcmp(ret->p, "```", 3) == 0)
			*in_code = !*in_code;
		else if (!*in_code && ret->n >= SENTENCE_MIN && !is_foreign_line(*ret, is_indented))
			return true;
	}
	return false;
}

static void add_prompt(struct turn_view *v, struct said_list *out, const struct event *e)
{
	struct str rest = str_of(e->text), line;
	struct said proto = { .event = e };
	bool in_code = false;
	size_t own = 0;

	if (rest.n > PROMPT_MAX || is_foreign_prompt(e->text))
		return;
	/* What was pasted makes a prompt no description of a task. */
	while (own_next(&rest, &in_code, &line))
		own += line.n + 1;
	proto.is_long = own > PROMPT_LONG;
	rest = str_of(e->text);
	in_code = false;
	while (own_next(&rest, &in_code, &line)) {
		if (line.n > LINE_MAX)
			continue;
		line = strip_item(line, &proto.is_item);
		add_line(v, out, &proto, line);
	}
}

static void find_said(struct turn_view *v, struct said_list *ret)
{
	*ret = (struct said_list){ 0 };
	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind == EVENT_PROMPT && !e->subagent && !e->is_meta && e->text && *e->text)
			add_prompt(v, ret, e);
	}
	/* What was said when refusing a step is typed too. */
	for (size_t i = 0; i < v->nchoices; i++) {
		struct said proto = { .event = v->choices[i].event };

		if (!v->choices[i].question && strlen(v->choices[i].answer) < PROMPT_LONG)
			add_line(v, ret, &proto, str_of(v->choices[i].answer));
	}
}

#define TOLD_MAX 200

static unsigned pair_of(const char *p)
{
	return ((unsigned char)p[0] * 31u + (unsigned char)p[1] * 7u) % TOLD_PAIRS;
}

bool told_may_say(const struct told *t, const char *word)
{
	for (; word[0] && word[1]; word++) {
		unsigned i = pair_of(word);

		if (!(t->pairs[i / 64] >> (i % 64) & 1))
			return false;
	}
	return true;
}

static void mark_pairs(struct told *t)
{
	for (const char *p = t->lower; p[0] && p[1]; p++) {
		unsigned i = pair_of(p);

		t->pairs[i / 64] |= UINT64_C(1) << (i % 64);
	}
}

static void add_told(struct turn_view *v, const struct blocks *blocks, const struct event *reply,
	struct told_list *ret)
{
	for (size_t i = 0; i < blocks->n && ret->n < TOLD_MAX; i++) {
		const struct block *b = &blocks->items[i];
		struct str rest = str_of(b->text), s;

		if (b->kind != BLOCK_TEXT && b->kind != BLOCK_ITEM)
			continue;
		while (ret->n < TOLD_MAX && sentence_next(&rest, &s)) {
			struct told t = { .section = b->section,
				.is_item = b->kind == BLOCK_ITEM,
				.reply = reply };

			t.text = sentence_strip_reply(s);
			if (t.text.n < 12 || t.text.n > 320)
				continue;
			t.lower = text_lower(v->a, t.text);
			mark_pairs(&t);
			ARENA_PUSH(v->a, ret->items, ret->n, ret->cap, t);
		}
	}
}

void said_find(struct turn_view *v, struct said_list *ret)
{
	if (!v->said) {
		v->said = ARENA_NEW(v->a, struct said_list);
		find_said(v, v->said);
	}
	*ret = *v->said;
}

void told_find(struct turn_view *v, struct told_list *ret)
{
	if (!v->told) {
		v->told = ARENA_NEW(v->a, struct told_list);
		*v->told = (struct told_list){ 0 };
		add_told(v, &v->blocks, v->reply, v->told);
	}
	*ret = *v->told;
}

void told_find_on_the_way(struct turn_view *v, struct told_list *ret)
{
	*ret = (struct told_list){ 0 };
	for (size_t i = 0; i < v->in->n && ret->n < TOLD_MAX; i++) {
		const struct event *e = &v->in->events[i];
		struct blocks blocks;

		if (e->kind != EVENT_REPLY || e->subagent || e == v->reply || !e->text)
			continue;
		blocks_parse(v->a, str_of(e->text), &blocks);
		sections_mark(&blocks);
		add_told(v, &blocks, e, ret);
	}
}
