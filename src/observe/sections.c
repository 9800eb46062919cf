#include "observe/sections.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/sentence.h"

#define HEADING_MAX 80 /* bytes of a heading that are looked at */

/* Words of headings, lower case; the first row found decides. */
static const struct {
	const char *words;
	enum section section;
} heading_words[] = { { "files changed", SECTION_FILES }, { "files modified", SECTION_FILES },
	{ "modified files", SECTION_FILES }, { "changed files", SECTION_FILES },
	{ "files created", SECTION_FILES }, { "new files", SECTION_FILES },
	{ "files updated", SECTION_FILES }, { "files", SECTION_FILES },
	{ "fichiers", SECTION_FILES }, { "root cause", SECTION_CAUSE },
	{ "the cause", SECTION_CAUSE }, { "cause", SECTION_CAUSE }, { "why it", SECTION_CAUSE },
	{ "why this", SECTION_CAUSE }, { "diagnosis", SECTION_CAUSE },
	{ "the problem", SECTION_CAUSE }, { "problem", SECTION_CAUSE },
	{ "the bug", SECTION_CAUSE }, { "bug", SECTION_CAUSE }, { "the issue", SECTION_CAUSE },
	{ "what happened", SECTION_CAUSE }, { "what went wrong", SECTION_CAUSE },
	{ "explanation", SECTION_CAUSE }, { "problème", SECTION_CAUSE },
	{ "diagnostic", SECTION_CAUSE }, { "pourquoi", SECTION_CAUSE },
	{ "explication", SECTION_CAUSE }, { "next step", SECTION_NEXT },
	{ "remaining", SECTION_NEXT }, { "todo", SECTION_NEXT }, { "to do", SECTION_NEXT },
	{ "follow-up", SECTION_NEXT }, { "followup", SECTION_NEXT }, { "follow up", SECTION_NEXT },
	{ "what's left", SECTION_NEXT }, { "whats left", SECTION_NEXT },
	{ "outstanding", SECTION_NEXT }, { "not done", SECTION_NEXT }, { "not yet", SECTION_NEXT },
	{ "recommend", SECTION_NEXT }, { "options", SECTION_NEXT },
	{ "open question", SECTION_NEXT }, { "questions for you", SECTION_NEXT },
	{ "blocked", SECTION_NEXT }, { "future work", SECTION_NEXT }, { "prochaine", SECTION_NEXT },
	{ "reste à faire", SECTION_NEXT }, { "à faire", SECTION_NEXT },
	{ "il reste", SECTION_NEXT }, { "recommandation", SECTION_NEXT }, { "suite", SECTION_NEXT },
	{ "verification", SECTION_CHECK }, { "verified", SECTION_CHECK },
	{ "validation", SECTION_CHECK }, { "validated", SECTION_CHECK },
	{ "test result", SECTION_CHECK }, { "testing", SECTION_CHECK },
	{ "tests run", SECTION_CHECK }, { "checks", SECTION_CHECK }, { "checked", SECTION_CHECK },
	{ "quality gates", SECTION_CHECK }, { "tests", SECTION_CHECK },
	{ "results", SECTION_CHECK }, { "vérification", SECTION_CHECK },
	{ "vérifié", SECTION_CHECK }, { "note", SECTION_NOTES }, { "caveat", SECTION_NOTES },
	{ "limitation", SECTION_NOTES }, { "important", SECTION_NOTES },
	{ "warning", SECTION_NOTES }, { "gotcha", SECTION_NOTES }, { "risk", SECTION_NOTES },
	{ "remarque", SECTION_NOTES }, { "attention", SECTION_NOTES }, { "limite", SECTION_NOTES },
	{ "à noter", SECTION_NOTES }, { "decision", SECTION_DECISION },
	{ "trade-off", SECTION_DECISION }, { "tradeoff", SECTION_DECISION },
	{ "design choice", SECTION_DECISION }, { "chosen", SECTION_DECISION },
	{ "rationale", SECTION_DECISION }, { "décision", SECTION_DECISION },
	{ "choix", SECTION_DECISION }, { "compromis", SECTION_DECISION },
	{ "usage", SECTION_USAGE }, { "how to use", SECTION_USAGE },
	{ "how to run", SECTION_USAGE }, { "how to test", SECTION_USAGE },
	{ "example", SECTION_USAGE }, { "try it", SECTION_USAGE }, { "utilisation", SECTION_USAGE },
	{ "worktree", SECTION_USAGE }, { "workmux", SECTION_USAGE }, { "branch", SECTION_USAGE },
	{ "commit", SECTION_USAGE }, { "how it works", SECTION_FOUND },
	{ "finding", SECTION_FOUND }, { "issues found", SECTION_FOUND },
	{ "current state", SECTION_FOUND }, { "current behavior", SECTION_FOUND },
	{ "key insight", SECTION_FOUND }, { "overview", SECTION_FOUND },
	{ "analysis", SECTION_FOUND }, { "architecture", SECTION_FOUND },
	{ "constat", SECTION_FOUND }, { "fonctionnement", SECTION_FOUND },
	{ "analyse", SECTION_FOUND }, { "conclusion", SECTION_FOUND }, { "answer", SECTION_FOUND },
	{ "réponse", SECTION_FOUND }, { "change", SECTION_DONE }, { "implemented", SECTION_DONE },
	{ "fix", SECTION_DONE }, { "solution", SECTION_DONE }, { "what i did", SECTION_DONE },
	{ "what was done", SECTION_DONE }, { "completed", SECTION_DONE }, { "added", SECTION_DONE },
	{ "updated", SECTION_DONE }, { "removed", SECTION_DONE }, { "created", SECTION_DONE },
	{ "done", SECTION_DONE }, { "summary", SECTION_DONE }, { "modification", SECTION_DONE },
	{ "changement", SECTION_DONE }, { "correction", SECTION_DONE }, { "corrigé", SECTION_DONE },
	{ "ajouté", SECTION_DONE }, { "ce qui a été fait", SECTION_DONE },
	{ "résumé", SECTION_DONE }, { "fait", SECTION_DONE } };

/* Words inside of sentences that tell what the sentence is for. */
static const struct {
	const char *words;
	enum section section;
} cue_words[] = { { "root cause", SECTION_CAUSE }, { "because", SECTION_CAUSE },
	{ "caused by", SECTION_CAUSE }, { "due to", SECTION_CAUSE }, { "turns out", SECTION_CAUSE },
	{ "the issue was", SECTION_CAUSE }, { "the issue is", SECTION_CAUSE },
	{ "the problem was", SECTION_CAUSE }, { "the problem is", SECTION_CAUSE },
	{ "the bug was", SECTION_CAUSE }, { "the reason", SECTION_CAUSE },
	{ "parce que", SECTION_CAUSE }, { "à cause de", SECTION_CAUSE },
	{ "venait de", SECTION_CAUSE }, { "vient de ce que", SECTION_CAUSE },
	{ "le problème", SECTION_CAUSE }, { "next step", SECTION_NEXT },
	{ "still need", SECTION_NEXT }, { "not yet", SECTION_NEXT }, { "left to do", SECTION_NEXT },
	{ "remains to", SECTION_NEXT }, { "want me to", SECTION_NEXT },
	{ "would you like", SECTION_NEXT }, { "should i ", SECTION_NEXT },
	{ "shall i ", SECTION_NEXT }, { "il reste", SECTION_NEXT },
	{ "prochaine étape", SECTION_NEXT }, { "veux-tu", SECTION_NEXT },
	{ "voulez-vous", SECTION_NEXT }, { "souhaitez-vous", SECTION_NEXT },
	{ "note that", SECTION_NOTES }, { "note:", SECTION_NOTES },
	{ "keep in mind", SECTION_NOTES }, { "caveat", SECTION_NOTES },
	{ "be aware", SECTION_NOTES }, { "beware", SECTION_NOTES }, { "attention", SECTION_NOTES },
	{ "à noter", SECTION_NOTES }, { "decided to", SECTION_DECISION },
	{ "i chose", SECTION_DECISION }, { "we chose", SECTION_DECISION },
	{ "went with", SECTION_DECISION }, { "opted for", SECTION_DECISION },
	{ "opted to", SECTION_DECISION }, { "rather than", SECTION_DECISION },
	{ "instead of", SECTION_DECISION }, { "trade-off", SECTION_DECISION },
	{ "j'ai choisi", SECTION_DECISION }, { "plutôt que", SECTION_DECISION },
	{ "au lieu de", SECTION_DECISION }, { "décidé de", SECTION_DECISION } };

static size_t fold(const char *text, size_t n, char *out, size_t size)
{
	size_t len = MIN(n, size - 1);

	for (size_t i = 0; i < len; i++)
		out[i] = (char)tolower((unsigned char)text[i]);
	out[len] = '\0';
	return len;
}

static bool stands_at_word(const char *text, const char *at)
{
	return at == text || !isalpha((unsigned char)at[-1]);
}

#define WORDS_ANY SIZE_MAX
#define LEAD_ROOM 8 /* bytes that a lead may have besides the words that make it a label */

static enum section find_section(const char *heading, size_t room)
{
	char folded[HEADING_MAX];
	size_t n = fold(heading, strlen(heading), folded, sizeof(folded));

	for (size_t i = 0; i < ARRAY_LEN(heading_words); i++) {
		const char *at = strstr(folded, heading_words[i].words);

		if (at && stands_at_word(folded, at) &&
			n - strlen(heading_words[i].words) <=
				(heading_words[i].section == SECTION_FILES ? LEAD_ROOM : room))
			return heading_words[i].section;
	}
	return SECTION_NONE;
}

enum section section_of(const char *heading)
{
	return find_section(heading, WORDS_ANY);
}

/* Only short headings name a section; a long one says something itself. */
#define SECTION_HEADING_MAX 48

void sections_mark(struct blocks *blocks)
{
	enum section current = SECTION_NONE, of_item = SECTION_NONE;
	unsigned level = 0, item_level = 0;

	for (size_t i = 0; i < blocks->n; i++) {
		struct block *b = &blocks->items[i];
		enum section own;

		if (b->kind == BLOCK_HEADING) {
			own = strlen(b->text) <= SECTION_HEADING_MAX ? section_of(b->text)
								     : SECTION_NONE;
			/* "### 1. Parser" below "## Changes" goes on with it. */
			if (own != SECTION_NONE || b->level <= level || !level) {
				current = own;
				level = b->level;
			}
			b->section = (int)own;
			continue;
		}
		own = b->lead ? find_section(b->lead, LEAD_ROOM) : SECTION_NONE;
		if (b->kind == BLOCK_ITEM && b->level > item_level && of_item != SECTION_NONE) {
			b->section = (int)of_item;
			continue;
		}
		of_item = b->kind == BLOCK_ITEM ? own : SECTION_NONE;
		item_level = b->level;
		b->section = (int)(own != SECTION_NONE ? own : current);
	}
}

/*
 * Adds whole sentences as long as they fit, but for those with a dropped trait; at least one, cut.
 */
static void add_sentences(struct buf *out, const char *text, size_t max, unsigned dropped)
{
	struct str rest = str_of(text), s;
	bool is_first = true;

	while (sentence_next(&rest, &s)) {
		if (sentence_judge(s).traits & dropped)
			continue;
		if (out->len + s.n + 1 > max) {
			if (is_first && out->len + 40 < max) {
				buf_add(out, s.p, utf8_cut(s.p, s.n, max - out->len - 4));
				buf_str(out, "…");
			}
			return;
		}
		if (!is_first)
			buf_char(out, ' ');
		buf_add(out, s.p, s.n);
		is_first = false;
	}
}

static char *finish(struct arena *a, struct buf *out)
{
	struct str s = str_trim((struct str){ buf_cstr(out), out->len });
	char *ret = s.n ? arena_dup(a, s.p, s.n) : NULL;
	size_t n = 0;

	for (char *p = ret; p && *p; p++)
		if (*p != '`')
			ret[n++] = *p;
	if (ret)
		ret[n] = '\0';
	buf_done(out);
	return ret;
}

char *section_text(struct arena *a, const struct blocks *blocks, enum section section, size_t max)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < blocks->n && out.len + 40 < max; i++) {
		const struct block *b = &blocks->items[i];

		if (b->section != (int)section || b->kind == BLOCK_CODE || b->kind == BLOCK_TABLE)
			continue;
		if (b->kind == BLOCK_HEADING &&
			(strlen(b->text) <= SECTION_HEADING_MAX || b->level == LEVEL_COLON))
			continue;
		if (out.len)
			buf_char(&out, '\n');
		if (b->kind == BLOCK_ITEM)
			buf_str(&out, "- ");
		add_sentences(&out, b->text, max,
			section == SECTION_NEXT ? 0 : TRAIT_QUESTION | TRAIT_INTENT);
	}
	return finish(a, &out);
}

static bool has_cue(struct str s, enum section section)
{
	char folded[1024];

	fold(s.p, s.n, folded, sizeof(folded));
	for (size_t i = 0; i < ARRAY_LEN(cue_words); i++) {
		const char *at =
			cue_words[i].section == section ? strstr(folded, cue_words[i].words) : NULL;

		if (at && stands_at_word(folded, at))
			return true;
	}
	return false;
}

char *section_cues(struct arena *a, const struct blocks *blocks, enum section section, size_t max)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < blocks->n; i++) {
		const struct block *b = &blocks->items[i];
		struct str rest = str_of(b->text), s;

		if (b->kind != BLOCK_TEXT && b->kind != BLOCK_ITEM)
			continue;
		while (sentence_next(&rest, &s)) {
			if (!has_cue(s, section) || out.len + s.n + 1 > max)
				continue;
			if (out.len)
				buf_char(&out, ' ');
			buf_add(&out, s.p, s.n);
		}
	}
	return finish(a, &out);
}
