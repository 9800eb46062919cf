#include "observe/refine_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/ground.h"
#include "observe/sentence.h"

#define ACRONYM_MAX 6
#define NAMES_MAX 32 /* compared of two texts */

/* ---- what stands in the evidence ---- */

static const char *ifind(struct str text, struct str what)
{
	char first[3] = { 0 };

	if (!what.n || what.n > text.n)
		return NULL;
	first[0] = (char)tolower((unsigned char)what.p[0]);
	first[1] = (char)toupper((unsigned char)what.p[0]);
	for (const char *end = text.p + text.n - what.n + 1, *p = text.p; p < end; p++) {
		if (*p != first[0] && *p != first[1])
			continue;
		if (strncasecmp(p, what.p, what.n) == 0)
			return p;
	}
	return NULL;
}

bool evidence_has(const struct grounds *g, struct str what)
{
	size_t budget = GROUND_EVIDENCE_MAX;

	for (size_t i = 0; i < g->n && budget; i++) {
		struct str piece = { g->evidence[i].p, MIN(g->evidence[i].n, budget) };

		budget -= piece.n;
		if (str_find(piece, what) || ifind(piece, what))
			return true;
	}
	return false;
}

/* ---- numbers with units ---- */

/* Words of one family mean the same: "3 min", "3 minutes". */
static const char *const unit_families[][8] = {
	{ "ms", "millisecond", "milliseconde" },
	{ "s", "sec", "second", "seconde", "sekunde", "segundo" },
	{ "m", "min", "minute", "minuto" },
	{ "h", "hr", "hour", "heure", "stunde", "hora" },
	{ "d", "day", "jour", "tag", "día" },
	{ "w", "week", "semaine", "woche", "semana" },
	{ "month", "mois", "monat", "mes" },
	{ "year", "an", "jahr", "año" },
	{ "%", "percent", "pour cent", "prozent", "por ciento" },
	{ "x", "×", "times", "fois", "mal", "veces", "fold" },
};

static int family_at(struct str text)
{
	struct str word = text;

	if (word.n && (*word.p == ' ' || *word.p == '-'))
		word.p++, word.n--;
	if (word.n && *word.p == '%')
		return 8;
	text = word;
	word.n = 0;
	while (word.n < text.n &&
		(isalpha((unsigned char)text.p[word.n]) || (unsigned char)text.p[word.n] >= 0x80))
		word.n++;
	/* Plurals. */
	for (size_t i = 0; i < ARRAY_LEN(unit_families); i++)
		for (size_t k = 0; k < 8 && unit_families[i][k]; k++) {
			size_t n = strlen(unit_families[i][k]);

			if (word.n >= n && strncasecmp(word.p, unit_families[i][k], n) == 0 &&
				(word.n == n || (n > 2 && word.n <= n + 2)))
				return (int)i;
		}
	return -1;
}

static bool is_digit(char c)
{
	return isdigit((unsigned char)c) != 0;
}

/* A number of these digits that is followed by a unit of this family (-1: by anything). */
static bool has_quantity(struct str text, struct str digits, int family)
{
	const char *end = text.p + text.n, *at;

	while ((at = str_find(text, digits)) != NULL) {
		const char *after = at + digits.n;
		bool is_free =
			(at == text.p || !is_digit(at[-1])) && (after == end || !is_digit(*after));

		if (is_free && (family < 0 || family_at((struct str){ after,
						      MIN((size_t)(end - after), 24u) }) == family))
			return true;
		text = (struct str){ at + 1, (size_t)(end - at) - 1 };
	}
	return false;
}

static bool evidence_has_quantity(const struct grounds *g, struct str digits, int family)
{
	for (size_t i = 0; i < g->n; i++)
		if (has_quantity(g->evidence[i], digits, family))
			return true;
	return false;
}

/* The number at the beginning of a word, without thousands' commas. */
static struct str digits_of(struct arena *a, struct str word)
{
	char *out = arena_alloc(a, word.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < word.n && (is_digit(word.p[i]) || strchr(".,", word.p[i])); i++)
		if (word.p[i] != ',')
			out[n++] = word.p[i];
	while (n && out[n - 1] == '.')
		n--;
	return (struct str){ out, n };
}

/* "took 3 minutes": spans of one digit are no claims of ground.h. */
static size_t unsupported_spans(struct grounds *g, struct str text)
{
	size_t wrong = 0;

	for (size_t i = 0; i < text.n; i++) {
		struct str number = { text.p + i, 0 };
		int family;

		if (!is_digit(text.p[i]) || (i && (isalnum((unsigned char)text.p[i - 1]) ||
							  strchr("._-/#:", text.p[i - 1]))))
			continue;
		while (i + number.n < text.n &&
			(is_digit(number.p[number.n]) ||
				(strchr(".,", number.p[number.n]) && i + number.n + 1 < text.n &&
					is_digit(number.p[number.n + 1]))))
			number.n++;
		family = family_at(
			(struct str){ number.p + number.n, MIN(text.n - i - number.n, 24u) });
		i += number.n;
		if (family < 0)
			continue;
		g->counts->claims++;
		wrong += !evidence_has_quantity(g, digits_of(g->a, number), family);
	}
	return wrong;
}

/* ---- claims that need no proof ---- */

static bool is_acronym(struct str w)
{
	size_t upper = 0;

	for (size_t i = 0; i < w.n; i++)
		upper += isupper((unsigned char)w.p[i]) != 0;
	return w.n <= ACRONYM_MAX && upper >= w.n - 1 && upper >= 2;
}

static bool is_household_name(struct str w)
{
	static const char *const words[] = { "JavaScript", "TypeScript", "GitHub", "GitLab",
		"macOS", "iOS", "PostgreSQL", "SQLite", "MySQL", "Node.js", "OAuth", "DevOps",
		"WebSocket", "README", "UTF-8", "e.g", "i.e", "etc", "and/or", "CI/CD", "I/O",
		"n't" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_ieq(words[i], w.p) ||
			(w.n == strlen(words[i]) && strncasecmp(w.p, words[i], w.n) == 0))
			return true;
	return false;
}

/* "read/write": words of their own. */
static bool are_plain_words(const struct grounds *g, struct str w)
{
	struct str rest = w, part;
	size_t n = 0;

	if (!memchr(w.p, '/', w.n))
		return false;
	while (str_split(&rest, '/', &part)) {
		for (size_t i = 0; i < part.n; i++)
			if (!isalpha((unsigned char)part.p[i]))
				return false;
		if (!part.n || !evidence_has(g, part))
			return false;
		n++;
	}
	return n >= 2;
}

/* "src/a.c:12": the file, and the number somewhere. */
static bool is_known_place(const struct grounds *g, struct str w)
{
	const char *colon = memchr(w.p, ':', w.n);
	struct str file, line;

	if (!colon)
		return false;
	file = (struct str){ w.p, (size_t)(colon - w.p) };
	line = (struct str){ colon + 1, w.n - file.n - 1 };
	for (size_t i = 0; i < line.n; i++)
		if (!is_digit(line.p[i]) && !strchr(":-", line.p[i]))
			return false;
	line = digits_of(g->a, line);
	return file.n && line.n && evidence_has(g, file) && evidence_has_quantity(g, line, -1);
}

/* Without typographic quotes, "…" and the punctuation before them, which ground.h leaves on words. */
static struct str bare_word(struct str w)
{
	static const char *const marks[] = { "\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x98",
		"\xe2\x80\x99", "\xe2\x80\xa6", "'s" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		size_t n = strlen(marks[i]);

		if (w.n > n && memcmp(w.p, marks[i], n) == 0)
			w = (struct str){ w.p + n, w.n - n };
		if (w.n > n && memcmp(w.p + w.n - n, marks[i], n) == 0)
			w.n -= n;
	}
	while (w.n > 1 && strchr(".,:;()", w.p[w.n - 1]))
		w.n--;
	return w;
}

static bool is_excused(const struct grounds *g, const struct claim *c)
{
	struct str w = bare_word(str_of(c->text)), digits;

	switch (c->kind) {
	case CLAIM_COMMIT:
		return false;
	case CLAIM_NUMBER:
		digits = digits_of(g->a, w);
		return digits.n && digits.n < w.n &&
		       evidence_has_quantity(g, digits,
			       family_at((struct str){ w.p + digits.n, w.n - digits.n }));
	case CLAIM_IDENTIFIER:
		if (is_acronym(w) || are_plain_words(g, w) || is_known_place(g, w))
			return true;
		break;
	default:
		break;
	}
	return is_household_name(w) || evidence_has(g, w);
}

bool text_is_supported(struct grounds *g, struct str text)
{
	struct grounding found;
	size_t wrong = 0;

	ground_check(g->a, text, g->evidence, g->n, &found);
	for (size_t i = 0; i < found.n; i++)
		wrong += !found.claims[i].is_supported && !is_excused(g, &found.claims[i]);
	g->counts->claims += found.n;
	wrong += unsupported_spans(g, text);
	g->counts->unsupported += wrong;
	return wrong == 0;
}

static bool add_supported(struct grounds *g, struct buf *out, struct str line, size_t *removed)
{
	struct str rest = line, sentence;
	size_t start = out->len;

	if (line.n > 2 && line.p[0] == '-' && line.p[1] == ' ') {
		buf_str(out, "- ");
		rest = (struct str){ line.p + 2, line.n - 2 };
		start = out->len;
	}
	while (sentence_next(&rest, &sentence)) {
		if (!sentence.n)
			continue;
		if (!text_is_supported(g, sentence)) {
			(*removed)++;
			continue;
		}
		if (out->len > start)
			buf_char(out, ' ');
		buf_add(out, sentence.p, sentence.n);
	}
	return out->len > start;
}

char *text_supported(struct grounds *g, const char *text, size_t *removed)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = str_of(text), line;

	while (text && str_line(&rest, &line)) {
		size_t before = out.len;

		line = str_trim(line);
		if (!line.n)
			continue;
		if (before)
			buf_char(&out, '\n');
		if (!add_supported(g, &out, line, removed))
			buf_cut(&out, before);
	}
	return out.len ? arena_dup(g->a, out.data, out.len) : NULL;
}

/* ---- who did it ---- */

static const struct {
	const char *person, *assistant;
} actors[] = {
	{ "The user ", "The assistant " },
	{ "User ", "The assistant " },
	{ "The person ", "The assistant " },
	{ "The developer ", "The assistant " },
	{ "The human ", "The assistant " },
	{ "The engineer ", "The assistant " },
	{ "L'utilisateur a ", "L'assistant a " },
	{ "L\xe2\x80\x99utilisateur a ", "L'assistant a " },
	{ "L'utilisatrice a ", "L'assistant a " },
	{ "El usuario ", "El asistente " },
};
static const char *const adverbs[] = { "then ", "also ", "successfully ", "has ", "had ", "first ",
	"next ", "later ", "manually ", "ensuite ", "d'abord " };
/* What persons do not do in a session: the rest (asked, chose, refused …) is theirs. */
static const char *const acts[] = { "ran", "run", "executed", "edited", "created", "implemented",
	"fixed", "updated", "modified", "added", "removed", "deleted", "wrote", "rewrote",
	"committed", "pushed", "tested", "refactored", "installed", "read", "searched", "opened",
	"investigated", "examined", "analyzed", "analysed", "explored", "reviewed", "inspected",
	"renamed", "moved", "merged", "rebased", "configured", "deployed", "built", "compiled",
	"debugged", "verified", "checked", "changed", "replaced", "extracted", "migrated",
	"generated", "listed", "grepped", "viewed", "resolved", "discovered", "identified", "found",
	"made", "performed", "used", "launched", "started", "invoked", "called", "applied",
	"exécuté", "lancé", "modifié", "créé", "ajouté", "corrigé", "supprimé", "écrit", "testé",
	"installé", "lu", "renommé", "refactorisé", "déployé", "mis", "vérifié", "ejecutó",
	"modificó", "creó", "añadió", "corrigió", "eliminó" };

static bool starts_ci(struct str s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && strncasecmp(s.p, with, n) == 0;
}

/* "I ran it and it failed": then the person did. */
static bool person_says_so(const char *prompt, struct str verb)
{
	static const char *const forms[] = { "i ", "i've ", "i have ", "i just ", "i already ",
		"j'ai ", "ich habe " };
	char said[64];

	for (size_t i = 0; prompt && verb.n < 32 && i < ARRAY_LEN(forms); i++) {
		size_t n = strlen(forms[i]);

		memcpy(said, forms[i], n);
		for (size_t k = 0; k < verb.n; k++)
			said[n + k] = (char)tolower((unsigned char)verb.p[k]);
		said[n + verb.n] = '\0';
		if (strstr(prompt, said))
			return true;
	}
	return false;
}

/* The row of `actors` that the sentence begins with, when what follows is an act; -1. */
static int wrong_actor(struct str s, const char *prompt)
{
	for (size_t i = 0; i < ARRAY_LEN(actors); i++) {
		struct str rest, verb;

		if (!starts_ci(s, actors[i].person))
			continue;
		rest = (struct str){ s.p + strlen(actors[i].person),
			s.n - strlen(actors[i].person) };
		for (size_t k = 0; k < 2 * ARRAY_LEN(adverbs); k++)
			if (starts_ci(rest, adverbs[k % ARRAY_LEN(adverbs)])) {
				size_t n = strlen(adverbs[k % ARRAY_LEN(adverbs)]);

				rest = (struct str){ rest.p + n, rest.n - n };
			}
		verb = (struct str){ rest.p, 0 };
		while (verb.n < rest.n && rest.p[verb.n] != ' ' && !strchr(".,;:", rest.p[verb.n]))
			verb.n++;
		for (size_t k = 0; k < ARRAY_LEN(acts); k++)
			if (verb.n == strlen(acts[k]) && strncasecmp(verb.p, acts[k], verb.n) == 0)
				return person_says_so(prompt, verb) ? -1 : (int)i;
	}
	return -1;
}

size_t text_misattributed(struct str text, const char *prompt)
{
	struct str line, sentence;
	size_t n = 0;

	while (str_line(&text, &line)) {
		if (line.n > 2 && line.p[0] == '-' && line.p[1] == ' ')
			line = (struct str){ line.p + 2, line.n - 2 };
		while (sentence_next(&line, &sentence))
			n += wrong_actor(sentence, prompt) >= 0;
	}
	return n;
}

const char *text_attribute(struct grounds *g, const char *text)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct str rest = str_of(text), line, sentence;
	const char *from = text;

	if (!text || !text_misattributed(rest, g->prompt))
		return text;
	while (str_line(&rest, &line)) {
		if (line.n > 2 && line.p[0] == '-' && line.p[1] == ' ')
			line = (struct str){ line.p + 2, line.n - 2 };
		while (sentence_next(&line, &sentence)) {
			int which = wrong_actor(sentence, g->prompt);

			if (which < 0)
				continue;
			buf_add(&out, from, (size_t)(sentence.p - from));
			buf_str(&out, actors[which].assistant);
			from = sentence.p + strlen(actors[which].person);
			g->counts->attribution++;
		}
	}
	buf_str(&out, from);
	return arena_dup(g->a, out.data, out.len);
}

/* ---- about us ---- */

static const char *const our_words[] = { "observer", "memory agent", "recorder", "work unit",
	"the record ", "recording session", "observation agent", "observing agent", "transcript",
	"remanence", "observation batch", "observation queue" };

bool text_is_about_us(const struct grounds *g, const char *text)
{
	char *lower = text ? text_lower(g->a, str_of(text)) : NULL;
	struct grounds work = *g;

	if (!lower)
		return false;
	/* The digest's own words prove nothing. */
	while (work.n && work.events && work.events[work.n - 1] == 0)
		work.n--;
	for (size_t i = 0; i < ARRAY_LEN(our_words); i++)
		if (strstr(lower, our_words[i]) &&
			!evidence_has(&work, str_trim(str_of(our_words[i]))))
			return true;
	return strstr(lower, "[remanence]") != NULL;
}

/* ---- the same ---- */

static size_t names_of(const char *text, struct str names[NAMES_MAX])
{
	struct str rest = str_of(text), w;
	size_t n = 0;

	while (n < NAMES_MAX && word_next(&rest, &w)) {
		bool has_digit = false;

		for (size_t i = 0; i < w.n && !has_digit; i++)
			has_digit = is_digit(w.p[i]);
		if (has_digit || word_is_name(w))
			names[n++] = w;
	}
	return n;
}

/* All of the first are among the second. */
static bool are_among(const struct str *x, size_t nx, const struct str *y, size_t ny)
{
	for (size_t i = 0; i < nx; i++) {
		bool found = false;

		for (size_t k = 0; k < ny && !found; k++)
			found = x[i].n == y[k].n && strncasecmp(x[i].p, y[k].p, x[i].n) == 0;
		if (!found)
			return false;
	}
	return true;
}

bool text_is_same(const char *x, const char *y)
{
	struct str nx[NAMES_MAX], ny[NAMES_MAX];
	size_t cx, cy;

	if (str_ieq(x, y))
		return true;
	if (!title_is_like(x, y))
		return false;
	cx = names_of(x, nx);
	cy = names_of(y, ny);
	/* "port 8080" and "port 8081" are two. */
	return are_among(nx, cx, ny, cy) && are_among(ny, cy, nx, cx);
}
