/* What the rules for facts share: candidates, subjects, titles. */

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/sentence.h"
#include "store/stale.h"
#include "text/hash.h"

#define SUBJECT_WORDS_MAX 12
#define WORD_MAX 40
#define NAMES_MAX 20

struct fact_candidate candidate_begin(
	const struct fact_rule *rule, const struct event *e, const char *slot, enum trust trust)
{
	return (struct fact_candidate){ .rule = rule->name,
		.slot = slot,
		.category = rule->category,
		.trust = trust,
		.strength = 1,
		.times = 1,
		.at = e->at,
		.key = e->key };
}

void candidate_evidence(struct turn_view *v, struct fact_candidate *c, const struct event *e,
	const char *role, struct str excerpt)
{
	struct evidence item = { .role = role };
	size_t cap = c->nevidence ? CANDIDATE_EVIDENCE_MAX : 0;

	if (!e || c->nevidence == CANDIDATE_EVIDENCE_MAX)
		return;
	if (!c->evidence)
		c->evidence = ARENA_ARRAY(v->a, struct evidence, CANDIDATE_EVIDENCE_MAX);
	cap = CANDIDATE_EVIDENCE_MAX;
	item.event = e->id;
	item.excerpt = excerpt.n ? one_line(v->a, excerpt, CANDIDATE_EXCERPT_MAX - 4) : NULL;
	ARENA_PUSH(v->a, c->evidence, c->nevidence, cap, item);
}

void candidate_file(
	struct turn_view *v, struct fact_candidate *c, const char *path, enum file_role role)
{
	size_t cap = CANDIDATE_FILES_MAX;
	struct memory_file f = { .path = path, .role = role, .size = -1 };

	for (size_t i = 0; i < c->nfiles; i++)
		if (strcmp(c->files[i].path, path) == 0)
			return;
	if (c->nfiles == CANDIDATE_FILES_MAX)
		return;
	if (!c->files)
		c->files = ARENA_ARRAY(v->a, struct memory_file, CANDIDATE_FILES_MAX);
	ARENA_PUSH(v->a, c->files, c->nfiles, cap, f);
}

void candidate_files_named(struct turn_view *v, struct fact_candidate *c, const char *text)
{
	for (size_t i = 0; i < v->nfiles; i++) {
		const char *base = path_base(v->files[i].path);

		if (strlen(base) > 3 && strstr(text, base))
			candidate_file(v, c, v->files[i].path, ROLE_ABOUT);
	}
}

int64_t fact_topic_of(const char *group, const char *subject)
{
	AUTO(buf_done) struct buf b = { 0 };

	buf_printf(&b, "%s\n%s", group, subject);
	return (int64_t)hash64(b.data, b.len);
}

/* The branch of the event, else of what came before it in the turn, else of the session. */
static const char *branch_of(const struct turn_view *v, const struct fact_candidate *c)
{
	const char *branch = v->in->session ? v->in->session->branch : NULL;

	for (size_t i = 0; i < v->in->n && v->in->events[i].at <= c->at; i++)
		branch = v->in->events[i].branch ? v->in->events[i].branch : branch;
	return branch && *branch ? branch : NULL;
}

void candidate_add(struct turn_view *v, struct rules_output *out, struct fact_candidate *c)
{
	if (memory_type_binds(c->category))
		c->branch = branch_of(v, c);
	if (!c->subject || !*c->subject || !c->title || !*c->title)
		return;
	if (!c->topic)
		c->topic = fact_topic_of(c->rule, c->subject);
	for (size_t i = 0; i < out->ncandidates; i++)
		if (strcmp(out->candidates[i].rule, c->rule) == 0 &&
			strcmp(out->candidates[i].slot, c->slot) == 0)
			return;
	ARENA_PUSH(v->a, out->candidates, out->ncandidates, out->candidates_cap, *c);
}

/* ---- words ---- */

char *text_lower(struct arena *a, struct str text)
{
	char *s = arena_dup(a, text.p, text.n);

	for (size_t i = 0; i < text.n; i++)
		s[i] = (char)tolower((unsigned char)s[i]);
	return s;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Words that carry how a thing is said, not what is spoken of. */
static bool is_manner(const char *word)
{
	static const char *const manner[] = { "always", "never", "ever", "prefer", "please", "use",
		"using", "used", "instead", "rather", "than", "over", "not", "don't", "avoid",
		"must", "should", "need", "want", "future", "forward", "remember", "ensure", "sure",
		"toujours", "jamais", "utilise", "utiliser", "plutôt", "préfère", "immer", "nie",
		"niemals", "siempre", "nunca", "decided", "decide", "chose", "decision" };

	for (size_t i = 0; i < ARRAY_LEN(manner); i++)
		if (strcmp(manner[i], word) == 0)
			return true;
	return false;
}

/* Plurals and a few endings apart, the same word. */
static char *word_root(struct arena *a, struct str w)
{
	char *s = text_lower(a, w);
	size_t n = strlen(s);

	if (n > 4 && s[n - 1] == 's' && s[n - 2] != 's')
		s[--n] = '\0';
	if (n > 6 && strcmp(s + n - 3, "ing") == 0)
		s[n - 3] = '\0';
	return s;
}

char *subject_of(struct arena *a, struct str text)
{
	AUTO(buf_done) struct buf out = { 0 };
	const char *words[SUBJECT_WORDS_MAX];
	size_t n = 0;
	struct str w;

	while (n < SUBJECT_WORDS_MAX && word_next(&text, &w)) {
		char *root;
		bool is_there = false;

		if (w.n > WORD_MAX || (word_is_generic(w) && !word_is_name(w)))
			continue;
		if (is_manner(text_lower(a, w)))
			continue;
		root = word_root(a, w);
		for (size_t i = 0; i < n && !is_there; i++)
			is_there = strcmp(words[i], root) == 0;
		if (!is_there && *root)
			words[n++] = root;
	}
	if (n)
		qsort(words, n, sizeof(*words), by_text);
	for (size_t i = 0; i < n && out.len < FACT_SUBJECT_MAX; i++)
		buf_printf(&out, "%s%s", i ? " " : "", words[i]);
	return arena_dup(a, buf_cstr(&out), out.len);
}

static bool has_word(const char *list, struct str word)
{
	struct str rest = str_of(list), w;

	while (str_split(&rest, ' ', &w))
		if (str_eq(w, word))
			return true;
	return false;
}

double subject_share(const char *a, const char *b)
{
	struct str rest = str_of(a), w;
	size_t n[2] = { 0, 0 }, shared = 0;

	while (str_split(&rest, ' ', &w))
		n[0]++, shared += has_word(b, w);
	rest = str_of(b);
	while (str_split(&rest, ' ', &w))
		n[1]++;
	return MIN(n[0], n[1]) ? (double)shared / (double)MIN(n[0], n[1]) : 0;
}

double subject_within(const char *subject, const char *lower)
{
	struct str rest = str_of(subject), w;
	size_t n = 0, found = 0;

	while (str_split(&rest, ' ', &w)) {
		n++;
		found += str_find(str_of(lower), w) != NULL;
	}
	return n ? (double)found / (double)n : 0;
}

char *fact_title(struct arena *a, struct str text)
{
	char *s = one_line(a, str_trim(text), FACT_TITLE_MAX);
	size_t n = strlen(s);

	if (n > 2 && s[n - 1] == ')' && strchr(":;", s[n - 2]))
		s[--n] = '\0'; /* a smile */
	while (n && strchr(".,;: ", s[n - 1]))
		s[--n] = '\0';
	/* The small letters of Latin-1 lie 32 behind the large ones. */
	if ((unsigned char)s[0] == 0xC3 && (unsigned char)s[1] >= 0xA0 &&
		(unsigned char)s[1] <= 0xBE)
		s[1] = (char)((unsigned char)s[1] - 0x20);
	if (islower((unsigned char)s[0]) && !word_is_name((struct str){ s, strcspn(s, " ,:") }))
		s[0] = (char)toupper((unsigned char)s[0]);
	return s;
}

unsigned names_in(struct str text)
{
	unsigned n = 0;
	struct str rest = text, w;

	while (n < NAMES_MAX && word_next(&rest, &w)) {
		/* What stands in back quotes is code, whatever it looks like. */
		bool is_quoted = w.p > text.p && w.p[-1] == '`';

		n += is_quoted || word_is_name(w);
	}
	return n;
}

bool starts_with_any(struct str s, const char *const *words, size_t n, struct str *ret_rest)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]);

		if (s.n < len || memcmp(s.p, words[i], len) != 0)
			continue;
		if (ret_rest)
			*ret_rest = str_trim((struct str){ s.p + len, s.n - len });
		return true;
	}
	return false;
}

static bool is_inside(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool says(const char *lower, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(lower, word); at; at = strstr(at + 1, word))
		if ((at == lower || !is_inside(word[0]) || !is_inside(at[-1])) &&
			(!is_inside(word[len - 1]) || !is_inside(at[len])))
			return true;
	return false;
}

bool says_any(const char *lower, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (says(lower, words[i]))
			return true;
	return false;
}

bool told_says(const struct told *t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (told_may_say(t, words[i]) && says(t->lower, words[i]))
			return true;
	return false;
}

bool contains_any(const char *lower, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(lower, words[i]))
			return true;
	return false;
}
