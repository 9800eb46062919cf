#include "observe/sentence.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/title.h"
#include "text/snippet.h"

#define TITLE_CLAUSE_MIN 34 /* characters that a title cut at a clause must keep */
#define TITLE_LONG 140      /* characters above which a sentence makes a poor title */
#define TITLE_SHORT 22

/* ---- where sentences end ---- */

static const char *const abbreviations[] = { "e.g", "i.e", "etc", "vs", "cf", "approx", "ca", "no",
	"fig", "p.ex", "ex", "resp", "incl", "M", "Mr", "Dr", "St" };

static bool ends_in_abbreviation(const char *start, const char *dot)
{
	for (size_t i = 0; i < ARRAY_LEN(abbreviations); i++) {
		size_t n = strlen(abbreviations[i]);

		if ((size_t)(dot - start) >= n && strncasecmp(dot - n, abbreviations[i], n) == 0 &&
			((size_t)(dot - start) == n || !isalnum((unsigned char)dot[-1 - (long)n])))
			return strcmp(abbreviations[i], "etc") != 0 &&
			       strcmp(abbreviations[i], "no") != 0;
	}
	return false;
}

/*
 * After a dot a sentence goes on when a small letter follows, unless a plain word stands before:
 * people write without capitals.
 */
static bool begins_sentence(const char *start, const char *dot, const char *end)
{
	const char *p = dot + 1, *word = dot;

	while (p < end && *p == ' ')
		p++;
	if (p >= end || !islower((unsigned char)*p))
		return true;
	if (dot > start && dot[-1] == ' ')
		return true;
	while (word > start && isalpha((unsigned char)word[-1]))
		word--;
	return dot - word >= 4 && (word == start || word[-1] == ' ');
}

/* The full stops of Chinese and Japanese, three bytes each; no blank follows them. */
static bool is_wide_stop(const char *p, const char *end)
{
	static const char *const stops[] = { "。", "！", "？" };

	for (size_t i = 0; end - p >= 3 && i < ARRAY_LEN(stops); i++)
		if (memcmp(p, stops[i], 3) == 0)
			return true;
	return false;
}

static bool is_stop(const char *start, const char *p, const char *end)
{
	if (*p == '.')
		return (p + 1 >= end || p[1] == ' ') && begins_sentence(start, p, end) &&
		       !ends_in_abbreviation(start, p) &&
		       !(p > start && isdigit((unsigned char)p[-1]) && p - start <= 3);
	if (*p == '!' || *p == '?')
		return p + 1 >= end || p[1] == ' ';
	return false;
}

bool sentence_next(struct str *rest, struct str *ret)
{
	struct str s = str_trim(*rest);
	const char *p = s.p, *end = s.p + s.n;
	bool in_code = false;

	if (!s.n)
		return false;
	for (; p < end; p++) {
		if (*p == '`')
			in_code = !in_code;
		if (!in_code && is_wide_stop(p, end)) {
			p += 3;
			break;
		}
		if (!in_code && is_stop(s.p, p, end)) {
			while (p < end && strchr(".!?)\"'", *p))
				p++;
			break;
		}
	}
	*ret = str_trim((struct str){ s.p, (size_t)(p - s.p) });
	*rest = (struct str){ p, (size_t)(end - p) };
	return true;
}

/* ---- judging ---- */

static const struct {
	const char *start;
	unsigned trait;
} trait_starts[] = { { "let me", TRAIT_INTENT }, { "let's", TRAIT_INTENT },
	{ "i'll", TRAIT_INTENT }, { "i will", TRAIT_INTENT }, { "now i", TRAIT_INTENT },
	{ "now let", TRAIT_INTENT }, { "i'm going", TRAIT_INTENT }, { "i am going", TRAIT_INTENT },
	{ "i'm now", TRAIT_INTENT }, { "i'm ", TRAIT_INTENT }, { "next, i", TRAIT_INTENT },
	{ "next i", TRAIT_INTENT }, { "first, let", TRAIT_INTENT }, { "first i", TRAIT_INTENT },
	{ "using the", TRAIT_INTENT }, { "reading ", TRAIT_INTENT }, { "checking ", TRAIT_INTENT },
	{ "running ", TRAIT_INTENT }, { "looking ", TRAIT_INTENT }, { "searching", TRAIT_INTENT },
	{ "starting ", TRAIT_INTENT }, { "spawning", TRAIT_INTENT }, { "fetching", TRAIT_INTENT },
	{ "sources", TRAIT_STATUS }, { "here is", TRAIT_POINTER }, { "first, i", TRAIT_INTENT },
	{ "going to", TRAIT_INTENT }, { "we'll", TRAIT_INTENT }, { "i need to", TRAIT_INTENT },
	{ "i should", TRAIT_INTENT }, { "waiting", TRAIT_INTENT }, { "je vais", TRAIT_INTENT },
	{ "je commence", TRAIT_INTENT }, { "commençons", TRAIT_INTENT },
	{ "maintenant,", TRAIT_INTENT }, { "regardons", TRAIT_INTENT },
	{ "want me", TRAIT_QUESTION }, { "would you like", TRAIT_QUESTION },
	{ "should i", TRAIT_QUESTION }, { "shall i", TRAIT_QUESTION },
	{ "do you want", TRAIT_QUESTION }, { "if you want", TRAIT_QUESTION },
	{ "let me know", TRAIT_QUESTION }, { "if you'd like", TRAIT_QUESTION },
	{ "say the word", TRAIT_QUESTION }, { "happy to", TRAIT_QUESTION },
	{ "ready to", TRAIT_QUESTION }, { "ready for", TRAIT_STATUS },
	{ "veux-tu", TRAIT_QUESTION }, { "voulez-vous", TRAIT_QUESTION },
	{ "souhaitez-vous", TRAIT_QUESTION }, { "souhaites-tu", TRAIT_QUESTION },
	{ "si tu veux", TRAIT_QUESTION }, { "si vous voulez", TRAIT_QUESTION },
	{ "dis-moi", TRAIT_QUESTION }, { "dites-moi", TRAIT_QUESTION }, { "you ", TRAIT_ADDRESS },
	{ "your ", TRAIT_ADDRESS }, { "try ", TRAIT_ADDRESS }, { "feel free", TRAIT_ADDRESS },
	{ "tu peux", TRAIT_ADDRESS }, { "vous pouvez", TRAIT_ADDRESS }, { "votre ", TRAIT_ADDRESS },
	{ "i think", TRAIT_OPINION }, { "i'd ", TRAIT_OPINION }, { "i would", TRAIT_OPINION },
	{ "i agree", TRAIT_OPINION }, { "i believe", TRAIT_OPINION },
	{ "i recommend", TRAIT_OPINION }, { "i suggest", TRAIT_OPINION },
	{ "i don't", TRAIT_OPINION }, { "i can", TRAIT_OPINION }, { "i was", TRAIT_OPINION },
	{ "je pense", TRAIT_OPINION }, { "je recommande", TRAIT_OPINION },
	{ "je propose", TRAIT_OPINION }, { "if ", TRAIT_OPINION }, { "all ", TRAIT_STATUS },
	{ "everything ", TRAIT_STATUS }, { "both ", TRAIT_POINTER },
	{ "the following", TRAIT_POINTER }, { "the changes", TRAIT_POINTER },
	{ "for ", TRAIT_POINTER }, { "with ", TRAIT_POINTER }, { "once ", TRAIT_POINTER },
	{ "since ", TRAIT_POINTER }, { "looks ", TRAIT_POINTER }, { "a summary", TRAIT_POINTER },
	{ "the summary", TRAIT_POINTER }, { "my ", TRAIT_POINTER }, { "pushed", TRAIT_STATUS },
	{ "committed", TRAIT_STATUS }, { "no changes", TRAIT_STATUS }, { "tests ", TRAIT_STATUS },
	{ "linter:", TRAIT_STATUS }, { "no response requested", TRAIT_STATUS },
	{ "verification", TRAIT_STATUS }, { "tous les tests", TRAIT_STATUS },
	{ "les tests", TRAIT_STATUS }, { "log location", TRAIT_STATUS },
	{ "location:", TRAIT_STATUS }, { "generated with", TRAIT_STATUS },
	{ "total", TRAIT_STATUS }, { "one note", TRAIT_POINTER }, { "one caveat", TRAIT_POINTER },
	{ "caveat", TRAIT_POINTER }, { "if you", TRAIT_ADDRESS }, { "during ", TRAIT_POINTER },
	{ "when ", TRAIT_POINTER }, { "why ", TRAIT_POINTER }, { "in ", TRAIT_POINTER },
	{ "docs also", TRAIT_POINTER }, { "before:", TRAIT_POINTER }, { "after:", TRAIT_POINTER },
	{ "pr:", TRAIT_STATUS }, { "branch:", TRAIT_STATUS }, { "commit:", TRAIT_STATUS },
	{ "pr url", TRAIT_STATUS }, { "worktree:", TRAIT_STATUS }, { "http", TRAIT_STATUS },
	{ "usage", TRAIT_STATUS }, { "draft pr", TRAIT_STATUS } };

static bool begins_with(struct str s, const char *start)
{
	size_t i = 0;

	for (; *start; start++) {
		if (i + 2 < s.n && *start == '\'' && memcmp(s.p + i, "\xe2\x80\x99", 3) == 0)
			i += 3;
		else if (i < s.n && tolower((unsigned char)s.p[i]) == (unsigned char)*start)
			i++;
		else
			return false;
	}
	return true;
}

/*
 * U+3000 to U+DFFF: scripts whose letters say as much as two of ours, and that put no blanks
 * between words.
 */
static bool is_wide(char lead)
{
	return (unsigned char)lead >= 0xe3 && (unsigned char)lead <= 0xed;
}

static size_t characters(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += (((unsigned char)s.p[i] & 0xc0) != 0x80 && s.p[i] != '`') + is_wide(s.p[i]);
	return n;
}

#define WIDE_WORD 2 /* letters of a word in such a script, about */

static unsigned wide_words(struct str word)
{
	unsigned n = 0;

	for (size_t i = 0; i < word.n; i++)
		n += is_wide(word.p[i]);
	return n / WIDE_WORD;
}

static const char *const status_words[] = { "tests pass", "all pass", "tests are passing",
	"0 issues", "0 lint", "no issues", "lint passes", "lint clean", "tests passent" };

#define STATUS_LOOK 200 /* bytes of a sentence searched for the words of a status */

static bool tells_status(struct str s)
{
	char folded[STATUS_LOOK + 1];
	size_t n = MIN(s.n, (size_t)STATUS_LOOK);

	for (size_t i = 0; i < n; i++)
		folded[i] = (char)(s.p[i] >= 'A' && s.p[i] <= 'Z' ? s.p[i] + 32 : s.p[i]);
	folded[n] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(status_words); i++)
		if (strstr(folded, status_words[i]))
			return true;
	return false;
}

static unsigned traits_of(struct str s)
{
	unsigned traits = 0;
	struct str rest = s, first = { 0 };

	char initial = s.n ? (char)tolower((unsigned char)s.p[0]) : '\0';

	for (size_t i = 0; i < ARRAY_LEN(trait_starts); i++)
		if (trait_starts[i].start[0] == initial && begins_with(s, trait_starts[i].start))
			traits |= trait_starts[i].trait;
	if (s.n && s.p[s.n - 1] == '?')
		traits |= TRAIT_QUESTION;
	if (s.n && s.p[s.n - 1] == ':')
		traits |= TRAIT_LEAD_IN;
	word_next(&rest, &first);
	if (word_is_pointer(first))
		traits |= TRAIT_POINTER;
	if (word_is_deed(first))
		traits |= TRAIT_DEED;
	else if (tells_status(s))
		traits |= TRAIT_STATUS;
	return traits;
}

/* Code in back quotes is one name whatever stands in it. */
static void count_words(struct str s, struct sentence *ret)
{
	struct str rest = s, word;

	while (rest.n) {
		const char *tick = memchr(rest.p, '`', rest.n), *close;
		struct str before = { rest.p, tick ? (size_t)(tick - rest.p) : rest.n };

		while (word_next(&before, &word)) {
			if (word_is_generic(word) ||
				(word.n == 1 && !isdigit((unsigned char)word.p[0]))) {
				ret->plain++;
				continue;
			}
			ret->names += word_is_name(word);
			ret->words += !word_is_name(word) && !word_is_pointer(word);
			ret->words += wide_words(word);
		}
		if (!tick)
			break;
		close = memchr(tick + 1, '`', (size_t)(rest.p + rest.n - tick - 1));
		if (!close)
			break;
		ret->names +=
			(close - tick > 2) + (memchr(tick, ' ', (size_t)(close - tick)) != NULL);
		rest = (struct str){ close + 1, (size_t)(rest.p + rest.n - close - 1) };
	}
}

struct sentence sentence_judge(struct str stripped)
{
	struct sentence ret = {
		.text = stripped, .traits = traits_of(stripped), .length = characters(stripped)
	};

	count_words(stripped, &ret);
	return ret;
}

bool sentence_is_specific(const struct sentence *s)
{
	if (s->length < 12 || s->names + s->words < 2)
		return false;
	return s->words >= 1 || (s->names >= 2 && s->plain >= 2) ||
	       (s->names && s->traits & TRAIT_DEED);
}

int sentence_score(const struct sentence *s)
{
	static const struct {
		unsigned trait;
		int points;
	} prices[] = { { TRAIT_QUESTION, -16 }, { TRAIT_INTENT, -14 }, { TRAIT_POINTER, -5 },
		{ TRAIT_DEED, 4 }, { TRAIT_STATUS, -7 }, { TRAIT_LEAD_IN, -8 },
		{ TRAIT_ADDRESS, -6 }, { TRAIT_OPINION, -5 } };
	int score = (int)MIN(s->words, 7u) + 2 * (int)MIN(s->names, 3u);

	if (!sentence_is_specific(s))
		return -20;
	for (size_t i = 0; i < ARRAY_LEN(prices); i++)
		if (s->traits & prices[i].trait)
			score += prices[i].points;
	if (s->length > TITLE_LONG)
		score -= 3;
	else if (s->length > TITLE_MAX)
		score -= 1;
	if (s->length < TITLE_SHORT)
		score -= 4;
	if (str_find(s->text, STR("://")))
		score -= 3;
	return score;
}

/* ---- titles ---- */

static bool is_clause_sign(const char *p, const char *end)
{
	static const char *const signs[] = { " — ", " – ", " - ", "; ", ". ", " (", ", " };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if ((size_t)(end - p) >= strlen(signs[i]) &&
			memcmp(p, signs[i], strlen(signs[i])) == 0)
			return true;
	return false;
}

/* "For the parser, …" cut at its comma would leave nothing said. */
static bool opens_with_subclause(struct str s)
{
	static const char *const starts[] = { "for ", "in ", "if ", "when ", "since ", "with ",
		"after ", "before ", "while ", "to ", "as ", "on ", "at ", "from ", "although ",
		"because ", "looking ", "during ", "where ", "given that ", "once ", "based ",
		"given ", "pour ", "dans ", "si ", "quand ", "avec ", "après ", "avant ", "sur ",
		"comme " };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (begins_with(s, starts[i]))
			return true;
	return false;
}

/* The last clause border that leaves enough, outside of parentheses; 0 when there is none. */
static size_t clause_cut(struct str s, size_t max)
{
	size_t best = 0;
	int depth = 0;

	if (opens_with_subclause(s))
		return 0;
	for (size_t i = 0; i < max && i < s.n; i++) {
		if (i >= TITLE_CLAUSE_MIN && depth == 0 && is_clause_sign(s.p + i, s.p + s.n))
			best = i;
		depth += (s.p[i] == '(' || s.p[i] == '[') - (s.p[i] == ')' || s.p[i] == ']');
	}
	return best;
}

/* Words that no title ends in. */
static struct str drop_dangling(struct str s)
{
	static const char *const dangling[] = { "a", "an", "the", "and", "or", "to", "of", "in",
		"on", "for", "with", "by", "from", "that", "which", "is", "are", "as", "at", "not",
		"its", "so", "when", "but", "if", "le", "la", "les", "un", "une", "de", "des", "du",
		"et", "ou", "à", "pour", "avec", "par", "que", "qui", "dans", "sur", "est" };

	for (bool again = true; again;) {
		const char *blank = memrchr(s.p, ' ', s.n);
		struct str last = blank ? (struct str){ blank + 1, (size_t)(s.p + s.n - blank - 1) }
					: (struct str){ 0 };

		again = false;
		for (size_t i = 0; blank && i < ARRAY_LEN(dangling) && !again; i++)
			if (str_is(last, dangling[i])) {
				s.n = (size_t)(blank - s.p);
				again = true;
			}
	}
	return s;
}

/* Signs of three bytes that no title ends in. */
static bool is_wide_closer(const char *p)
{
	static const char *const signs[] = { "—", "–", "。", "！", "：", "，", "、" };

	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		if (memcmp(p, signs[i], 3) == 0)
			return true;
	return false;
}

static struct str trim_end(struct str s)
{
	for (;;) {
		s = str_trim(s);
		if (s.n >= 3 && is_wide_closer(s.p + s.n - 3))
			s.n -= 3;
		else if (s.n && strchr(".:;,-!", s.p[s.n - 1]))
			s.n--;
		else
			return s;
	}
}

static bool has_open_parenthesis(struct str s)
{
	int depth = 0;

	for (size_t i = 0; i < s.n; i++)
		depth += (s.p[i] == '(') - (s.p[i] == ')');
	return depth > 0;
}

static char *cut_title(struct arena *a, struct str s, bool at_clauses)
{
	size_t max = grapheme_cut(s, TITLE_MAX - 1), at = at_clauses ? clause_cut(s, max) : 0;
	struct str cut = trim_end((struct str){ s.p, at });

	if (at && drop_dangling(cut).n == cut.n)
		return arena_dup(a, s.p, trim_end((struct str){ s.p, at }).n);
	cut = (struct str){ s.p, max };
	while (cut.n > max / 2 && s.p[cut.n] != ' ')
		cut.n--;
	if (cut.n <= max / 2)
		cut.n = max;
	if (has_open_parenthesis(cut)) {
		const char *open = memrchr(cut.p, '(', cut.n);

		if (open - cut.p >= TITLE_CLAUSE_MIN)
			return arena_dup(
				a, s.p, trim_end((struct str){ s.p, (size_t)(open - cut.p) }).n);
	}
	cut = trim_end(drop_dangling(trim_end(cut)));
	return arena_printf(a, "%.*s…", (int)cut.n, cut.p);
}

/* A small first letter becomes large when its word is a plain word, not a name. */
static void raise_first(char *title, struct str original)
{
	struct str rest = original, first = { 0 };

	if (original.n && original.p[0] == '`')
		return;
	word_next(&rest, &first);
	/* "fix(parser): …" is how commits are named. */
	if (first.p == original.p && first.n < original.n && strchr("(:!", original.p[first.n]))
		return;
	if (first.p == original.p && !word_is_name(first) && islower((unsigned char)title[0]) &&
		!memchr(first.p, '-', first.n))
		title[0] = (char)toupper((unsigned char)title[0]);
	else if (first.p == original.p && memchr(first.p, '-', first.n) &&
		 isalpha((unsigned char)title[0]) && !word_is_name(first))
		title[0] = (char)toupper((unsigned char)title[0]);
}

static char *finish(struct arena *a, struct str s, bool at_clauses)
{
	struct str original = trim_end(s);
	char *plain = arena_alloc(a, original.n + 1), *ret;
	size_t n = 0;

	for (size_t i = 0; i < original.n; i++)
		if (original.p[i] != '`')
			plain[n++] = (unsigned char)original.p[i] < ' ' ? ' ' : original.p[i];
	s = trim_end((struct str){ plain, n });
	while (s.n > 1 && (s.p[0] == '"' || s.p[0] == '(') &&
		!memchr(s.p + 1, s.p[0] == '"' ? '"' : ')', s.n - 1))
		s.p++, s.n--;
	if (grapheme_cut(s, TITLE_MAX) < s.n)
		ret = cut_title(a, s, at_clauses);
	else
		ret = arena_dup(a, s.p, s.n);
	raise_first(ret, original);
	return ret;
}

char *title_finish(struct arena *a, struct str s)
{
	return finish(a, s, true);
}

char *title_finish_request(struct arena *a, struct str s)
{
	return finish(a, s, false);
}

#define TELLING_MAX 24

static size_t telling_words(const char *title, struct str words[TELLING_MAX])
{
	struct str rest = str_of(title), word;
	size_t n = 0;

	while (n < TELLING_MAX && word_next(&rest, &word))
		if (word.n > 1 && !word_is_generic(word) && !word_is_deed(word))
			words[n++] = word;
	return n;
}

bool title_is_like(const char *a, const char *b)
{
	struct str wa[TELLING_MAX], wb[TELLING_MAX];
	size_t na = telling_words(a, wa), nb = telling_words(b, wb), same = 0;

	if (na == 0 || nb == 0)
		return str_ieq(a, b);
	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			if (wa[i].n == wb[j].n && strncasecmp(wa[i].p, wb[j].p, wa[i].n) == 0) {
				same++;
				break;
			}
	return same * 10 >= MIN(na, nb) * 7 && same * 2 >= MAX(na, nb);
}
