/*
 * Text is cut into chunks at white space and most punctuation; what may stand inside a name (_ - .
 * / \ @) does not end a chunk. A chunk of plain letters is a word; any other is a whole (an
 * identifier, a path) made of parts. Scripts without spaces give pairs of neighbouring characters.
 * Plain lower-case ASCII words, nearly all of a text, take a short way.
 */

#include "text/terms.h"

#include <libstemmer.h>
#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "text/hash.h"

#define CHUNK_MAX 256 /* characters of one chunk; longer ones are cut */
#define FOLD_MAX 18   /* bytes that one character may fold to; more are dropped */
#define PARTS_MAX 48  /* parts of one chunk; further ones are dropped */
#define WHOLES_MAX 8
#define STEM_SLOTS 4096u     /* power of two */
#define STEM_WORD_MAX 22     /* longer words are stemmed without the cache */
#define STEM_LONG 7          /* bytes of a stem that has its word's first four letters */
#define LANGUAGE_SAMPLE 2000 /* bytes that decide a text's language */
#define LANGUAGE_WORD_MAX 16 /* letters of a word that does; function words are shorter */

enum unit_class { U_LOWER, U_UPPER, U_DIGIT, U_JOIN, U_WIDE, U_BREAK };

struct unit {
	uint32_t start;       /* byte in the text */
	uint16_t fold, plain; /* where its folded and its lower-case bytes start */
	uint8_t class;
	char join;
};

struct stem_slot {
	uint8_t lang, word_len, stem_len;
	char word[STEM_WORD_MAX], stem[STEM_WORD_MAX];
};

struct analyser {
	struct sb_stemmer *stemmers[LANGUAGE_COUNT];
	struct stem_slot *stems;
	struct unit units[CHUNK_MAX + 1];
	size_t nunits;
	char fold[CHUNK_MAX * FOLD_MAX], plain[CHUNK_MAX * 4];
	char stem[256];
	/* The run. */
	struct str text;
	enum language lang; /* LANGUAGE_COUNT: not known yet */
	term_fn *each;
	void *ctx;
	uint32_t position;
	const struct wanted_terms *wanted; /* NULL: all terms */
};

struct part {
	size_t from, to; /* units */
};

struct analyser *analyser_new(void)
{
	static const char *const names[LANGUAGE_COUNT] = { "english", "french", "german" };
	struct analyser *an = mem_alloc(sizeof(*an));
	for (int i = 0; i < LANGUAGE_COUNT; i++)
		an->stemmers[i] = sb_stemmer_new(names[i], "UTF_8");
	an->stems = mem_alloc(STEM_SLOTS * sizeof(*an->stems));
	return an;
}

void analyser_free(struct analyser *an)
{
	if (!an)
		return;
	for (int i = 0; i < LANGUAGE_COUNT; i++)
		if (an->stemmers[i])
			sb_stemmer_delete(an->stemmers[i]);
	free(an->stems);
	free(an);
}

/* Letters that Unicode does not decompose though people type them without their stroke. */
static const struct {
	uint32_t cp;
	char folded[3];
} letters[] = {
	{ 0xc6, "ae" },
	{ 0xe6, "ae" },
	{ 0xd8, "o" },
	{ 0xf8, "o" },
	{ 0x110, "d" },
	{ 0x111, "d" },
	{ 0x141, "l" },
	{ 0x142, "l" },
	{ 0x152, "oe" },
	{ 0x153, "oe" },
};

/*
 * Case folded, compatibility forms resolved, marks stripped. Returns the bytes written, at most
 * FOLD_MAX.
 */
static size_t fold_char(uint32_t cp, char *out)
{
	for (size_t i = 0; i < ARRAY_LEN(letters) && cp <= letters[ARRAY_LEN(letters) - 1].cp;
		i++) {
		if (letters[i].cp == cp) {
			memcpy(out, letters[i].folded, strlen(letters[i].folded));
			return strlen(letters[i].folded);
		}
	}
	utf8proc_int32_t parts[18];
	int boundary = 0;
	utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts, ARRAY_LEN(parts),
		UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_STRIPMARK |
			UTF8PROC_IGNORE,
		&boundary);
	size_t len = 0;
	for (utf8proc_ssize_t i = 0;
		i < n && i < (utf8proc_ssize_t)ARRAY_LEN(parts) && len + 4 <= FOLD_MAX; i++)
		if (utf8proc_category(parts[i]) != UTF8PROC_CATEGORY_ZS)
			len += utf8_encode((uint32_t)parts[i], out + len);
	return len;
}

static size_t fold_str(struct str s, char *out, size_t max)
{
	size_t len = 0;
	for (const char *p = s.p, *end = s.p + s.n; p < end && len + FOLD_MAX <= max;) {
		if ((unsigned char)*p < 0x80)
			out[len++] = *p++;
		else
			len += fold_char(utf8_next(&p, end), out + len);
	}
	return len;
}

/* Scripts written without spaces between words, where pairs of characters stand for words. */
static bool is_wide(uint32_t cp)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{ 0x0e00, 0x0eff },
		{ 0x1000, 0x109f },
		{ 0x1100, 0x11ff },
		{ 0x1780, 0x17ff },
		{ 0x3005, 0x3007 },
		{ 0x3040, 0x30ff },
		{ 0x3130, 0x318f },
		{ 0x31f0, 0x31ff },
		{ 0x3400, 0x4dbf },
		{ 0x4e00, 0x9fff },
		{ 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },
		{ 0xff66, 0xff9d },
		{ 0x20000, 0x3ffff },
	};
	if (cp < ranges[0].from)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++)
		if (cp <= ranges[i].to)
			return cp >= ranges[i].from;
	return false;
}

/* L letter, U upper case, D digit, J what joins, everything else breaks; by character of ASCII. */
#define L U_LOWER
#define U U_UPPER
#define D U_DIGIT
#define J U_JOIN
#define B U_BREAK
static const uint8_t ascii_classes[128] = {
	B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* control characters */
	B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, /* control characters */
	B, B, B, B, B, B, B, B, B, B, B, B, B, J, J, J, /* up to - . / */
	D, D, D, D, D, D, D, D, D, D, B, B, B, B, B, B, /* 0 */
	J, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, /* @ A */
	U, U, U, U, U, U, U, U, U, U, U, B, J, B, B, J, /* P, \ and _ */
	B, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* ` a */
	L, L, L, L, L, L, L, L, L, L, L, B, B, B, B, B, /* p */
};
#undef L
#undef U
#undef D
#undef J
#undef B

static enum unit_class class_beyond_ascii(uint32_t cp)
{
	utf8proc_category_t category = utf8proc_category((utf8proc_int32_t)cp);
	switch (category) {
	case UTF8PROC_CATEGORY_LU:
	case UTF8PROC_CATEGORY_LT:
		return U_UPPER;
	case UTF8PROC_CATEGORY_LL:
	case UTF8PROC_CATEGORY_LM:
	case UTF8PROC_CATEGORY_LO:
	case UTF8PROC_CATEGORY_MN:
	case UTF8PROC_CATEGORY_MC:
	case UTF8PROC_CATEGORY_NL:
		return is_wide(cp) ? U_WIDE : U_LOWER;
	case UTF8PROC_CATEGORY_ND:
		return U_DIGIT;
	case UTF8PROC_CATEGORY_CF:
		return cp == 0xad || cp == 0x200d || cp == 0x200c ? U_LOWER : U_BREAK;
	default:
		return U_BREAK;
	}
}

static inline enum unit_class class_of(uint32_t cp)
{
	return cp < ARRAY_LEN(ascii_classes) ? (enum unit_class)ascii_classes[cp]
					     : class_beyond_ascii(cp);
}

/*
 * The stem of a lower-case word with its accents, folded; into an->stem when it is not in the
 * cache's slot.
 */
static struct str stem_of(struct analyser *an, struct str word, enum language lang)
{
	struct stem_slot *slot = NULL;
	if (word.n <= STEM_WORD_MAX) {
		slot = &an->stems[(hash64(word.p, word.n) + lang) & (STEM_SLOTS - 1)];
		if (slot->word_len == word.n && slot->lang == lang &&
			!memcmp(slot->word, word.p, word.n))
			return (struct str){ slot->stem, slot->stem_len };
	}
	const sb_symbol *s =
		sb_stemmer_stem(an->stemmers[lang], (const sb_symbol *)word.p, (int)word.n);
	struct str raw =
		s ? (struct str){ (const char *)s, (size_t)sb_stemmer_length(an->stemmers[lang]) }
		  : word;
	size_t n = fold_str(raw, an->stem, sizeof(an->stem));
	if (slot && n > 0 && n <= STEM_WORD_MAX) {
		*slot = (struct stem_slot){
			.lang = (uint8_t)lang, .word_len = (uint8_t)word.n, .stem_len = (uint8_t)n
		};
		memcpy(slot->word, word.p, word.n);
		memcpy(slot->stem, an->stem, n);
	}
	return (struct str){ an->stem, n };
}

struct str analyser_stem(struct analyser *an, struct str word, enum language lang)
{
	if (word.n < 3 || word.n > TERM_MAX)
		return word;
	struct str stem = stem_of(an, word, lang);
	return stem.n ? stem : word;
}

/* Snowball makes an i of some ys ("dying", "die"): they count as one. */
static unsigned letter_of(char c)
{
	return (c == 'y' ? 'i' : (unsigned char)c) & 63;
}

static unsigned two_of(struct str term)
{
	return ((unsigned char)term.p[0] & 63) << 6 | (term.n < 2 ? 0 : letter_of(term.p[1]));
}

static unsigned four_of(struct str term)
{
	return (two_of(term) * 67 + letter_of(term.p[2]) * 23 + letter_of(term.p[3])) & 4095;
}

void wanted_terms_init(struct wanted_terms *w, const struct str *terms, size_t n)
{
	*w = (struct wanted_terms){ .terms = terms, .n = n };
	for (size_t i = 0; i < n; i++) {
		if (terms[i].n == 0)
			continue;
		const unsigned two = two_of(terms[i]);
		if (terms[i].n >= STEM_LONG)
			w->four[four_of(terms[i]) / 64] |= (uint64_t)1 << four_of(terms[i]) % 64;
		else if (terms[i].n == 1) /* any second letter */
			w->two[two / 64] = ~(uint64_t)0;
		else
			w->two[two / 64] |= (uint64_t)1 << two % 64;
	}
}

/* Whether it may be a term that is looked for, or have one as its stem. */
static inline bool is_looked_for(const struct analyser *an, struct str term)
{
	const struct wanted_terms *w = an->wanted;
	if (!w)
		return true;
	const unsigned two = two_of(term), four = term.n < 4 ? 0 : four_of(term);
	return w->two[two / 64] >> two % 64 & 1 ||
	       (term.n >= 4 && w->four[four / 64] >> four % 64 & 1);
}

/* Then its stem says nothing more. */
static bool is_wanted_itself(const struct analyser *an, struct str word)
{
	for (size_t i = 0; an->wanted && i < an->wanted->n; i++)
		if (str_eq(an->wanted->terms[i], word))
			return true;
	return false;
}

static void emit(
	struct analyser *an, enum term_form form, struct str s, uint32_t start, uint32_t end)
{
	char cut[TERM_MAX];
	struct term t = { .text = s.p,
		.form = (uint8_t)form,
		.position = an->position,
		.start = start,
		.end = end };
	if (s.n == 0 || !is_looked_for(an, s))
		return;
	if (s.n > TERM_MAX) {
		static const char digits[] = "0123456789abcdef";
		size_t n = utf8_cut(s.p, s.n, TERM_MAX - 16);
		uint64_t h = hash64(s.p, s.n);
		memcpy(cut, s.p, n);
		for (int i = 0; i < 16; i++)
			cut[n++] = digits[(h >> (4 * i)) & 15];
		t.text = cut;
		s.n = n;
	}
	t.len = (uint8_t)s.n;
	an->each(an->ctx, &t);
}

static void emit_word(struct analyser *an, enum term_form form, struct str folded, struct str plain,
	const uint32_t span[2])
{
	emit(an, form, folded, span[0], span[1]);
	if (folded.n < 3 || folded.n > TERM_MAX || plain.n > TERM_MAX ||
		(folded.p[0] >= '0' && folded.p[0] <= '9') || !is_looked_for(an, folded) ||
		is_wanted_itself(an, folded))
		return;
	if (an->lang == LANGUAGE_COUNT)
		an->lang = text_language(an->text);
	struct str stem = stem_of(an, plain, an->lang);
	if (stem.n && !str_eq(stem, folded))
		emit(an, TERM_STEM, stem, span[0], span[1]);
}

static struct str fold_of(const struct analyser *an, size_t from, size_t to)
{
	return (struct str){ an->fold + an->units[from].fold,
		(size_t)(an->units[to].fold - an->units[from].fold) };
}

static struct str plain_of(const struct analyser *an, size_t from, size_t to)
{
	return (struct str){ an->plain + an->units[from].plain,
		(size_t)(an->units[to].plain - an->units[from].plain) };
}

static bool is_letter(const struct unit *u)
{
	return u->class == U_LOWER || u->class == U_UPPER;
}

/*
 * Whether letters and digits of units [from, to), which hold no join, are worth parting: "utf8" is,
 * "k8s", "v2" and "3fa85f64" are not.
 */
static bool splits_at_digits(const struct analyser *an, size_t from, size_t to)
{
	unsigned changes = 0;
	size_t run = 0;
	for (size_t i = from; i < to; i++, run++) {
		if (i == from || is_letter(&an->units[i]) == is_letter(&an->units[i - 1]))
			continue;
		if (is_letter(&an->units[i - 1]) && run < 2)
			return false;
		changes++;
		run = 0;
	}
	return changes > 0 && changes <= 2 && (run >= 2 || !is_letter(&an->units[to - 1]));
}

static bool is_border(const struct analyser *an, size_t i, size_t end, bool at_digits)
{
	const struct unit *u = an->units;
	if (is_letter(&u[i]) != is_letter(&u[i - 1]))
		return at_digits;
	if (u[i].class != U_UPPER)
		return false;
	return u[i - 1].class == U_LOWER ||
	       (u[i - 1].class == U_UPPER && i + 1 < end && u[i + 1].class == U_LOWER);
}

/* Parts of units [from, to): at joins, case changes and digits. */
static size_t find_parts(const struct analyser *an, size_t from, size_t to, struct part *parts)
{
	size_t n = 0;
	for (size_t i = from; i < to && n < PARTS_MAX;) {
		if (an->units[i].class == U_JOIN) {
			i++;
			continue;
		}
		size_t end = i;
		while (end < to && an->units[end].class != U_JOIN)
			end++;
		bool at_digits = splits_at_digits(an, i, end);
		size_t start = i;
		for (i++; i < end; i++) {
			if (is_border(an, i, end, at_digits) && n < PARTS_MAX - 1) {
				parts[n++] = (struct part){ start, i };
				start = i;
			}
		}
		parts[n++] = (struct part){ start, end };
	}
	return n;
}

static size_t count_parts(const struct part *parts, size_t n, size_t from, size_t to)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		count += parts[i].from >= from && parts[i].to <= to;
	return count;
}

/*
 * The names inside a longer one that people look for alone: components between slashes, and below
 * them those between dots ("segment_write.c" and "segment_write" of "src/segment_write.c"). Only
 * those starting at parts[at] are given.
 */
static void emit_inner(
	struct analyser *an, const struct part *parts, size_t n, size_t at, size_t end)
{
	static const char *const joins[] = { "/\\@", "/\\@." };
	size_t from = parts[at].from, before = 0;
	for (size_t level = 0; level < ARRAY_LEN(joins); level++) {
		char join = from > parts[0].from ? an->units[from - 1].join : '/';
		if (join == '\0' || !strchr(joins[level], join))
			continue;
		size_t to = from;
		while (to < end && !(an->units[to].class == U_JOIN &&
					   strchr(joins[level], an->units[to].join)))
			to++;
		bool is_new = to != before && !(from == parts[0].from && to == end);
		if (is_new && count_parts(parts, n, from, to) > 1)
			emit(an, TERM_WHOLE, fold_of(an, from, to), an->units[from].start,
				an->units[to].start);
		before = to;
	}
}

static bool is_number(const struct analyser *an, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (is_letter(&an->units[i]))
			return false;
	return true;
}

static void emit_name(
	struct analyser *an, size_t from, size_t to, const struct part *parts, size_t n)
{
	unsigned wholes = 0;
	emit(an, TERM_WHOLE, fold_of(an, from, to), an->units[from].start, an->units[to].start);
	for (size_t i = 0; i < n; i++, an->position++) {
		const uint32_t span[2] = { an->units[parts[i].from].start,
			an->units[parts[i].to].start };
		if (wholes++ < WHOLES_MAX)
			emit_inner(an, parts, n, i, to);
		emit_word(an, TERM_PART, fold_of(an, parts[i].from, parts[i].to),
			plain_of(an, parts[i].from, parts[i].to), span);
	}
}

/* units[nunits] is a sentinel that holds the end. */
static void finish_chunk(struct analyser *an)
{
	size_t from = 0, to = an->nunits;
	while (from < to && an->units[from].class == U_JOIN)
		from++;
	while (to > from && an->units[to - 1].class == U_JOIN)
		to--;
	if (from == to)
		return;
	struct part parts[PARTS_MAX];
	size_t n = find_parts(an, from, to, parts);
	const uint32_t span[2] = { an->units[from].start, an->units[to].start };
	if (n > 1 && !is_number(an, from, to)) {
		emit_name(an, from, to, parts, n);
		return;
	}
	emit_word(an, TERM_WORD, fold_of(an, from, to), plain_of(an, from, to), span);
	an->position++;
}

/* Reads one chunk at *p; a break or a wide character ends it and is not taken. */
static const char *read_chunk(struct analyser *an, const char *p, const char *end)
{
	uint16_t fold = 0, plain = 0;
	an->nunits = 0;
	while (p < end && an->nunits < CHUNK_MAX) {
		const char *next = p;
		uint32_t cp = (unsigned char)*p < 0x80 ? (uint32_t)(unsigned char)*next++
						       : utf8_next(&next, end);
		enum unit_class class = class_of(cp);
		if (class == U_BREAK || class == U_WIDE)
			break;
		struct unit *u = &an->units[an->nunits++];
		*u = (struct unit){ (uint32_t)(p - an->text.p), fold, plain, (uint8_t) class, 0 };
		if (cp < 0x80) {
			u->join = class == U_JOIN ? (char)cp : '\0';
			char lower = class == U_UPPER ? (char)(cp | 0x20) : (char)cp;
			an->fold[fold++] = lower;
			an->plain[plain++] = lower;
		} else {
			fold = (uint16_t)(fold + fold_char(cp, an->fold + fold));
			plain = (uint16_t)(plain + utf8_encode((uint32_t)utf8proc_tolower(
								       (utf8proc_int32_t)cp),
							   an->plain + plain));
		}
		p = next;
	}
	an->units[an->nunits] =
		(struct unit){ (uint32_t)(p - an->text.p), fold, plain, U_BREAK, 0 };
	return p;
}

/* "c++", "c#" and "f#" lose their meaning without their signs. */
static const char *read_language_name(struct analyser *an, const char *p, const char *end)
{
	const char *signs = p + 1;
	size_t n = 0;
	if (signs < end && *signs == '#')
		n = 1;
	else if (end - signs >= 2 && signs[0] == '+' && signs[1] == '+')
		n = 2;
	if (n == 0 || (signs + n < end && class_of((unsigned char)signs[n]) != U_BREAK &&
			      signs[n] != '.'))
		return NULL;
	char folded[3] = { (char)(*p | 0x20), signs[0], n == 2 ? signs[1] : '\0' };
	uint32_t start = (uint32_t)(p - an->text.p);
	emit(an, TERM_WORD, (struct str){ folded, n + 1 }, start, start + 1 + (uint32_t)n);
	an->position++;
	return signs + n;
}

/* Pairs of neighbours; a lone character stands for itself. */
static const char *read_wide(struct analyser *an, const char *p, const char *end)
{
	char pair[16];
	size_t first = 0, n = 0;
	uint32_t start = 0;
	while (p < end) {
		const char *next = p;
		uint32_t cp = utf8_next(&next, end);
		if (class_of(cp) != U_WIDE)
			break;
		char one[4];
		size_t len = utf8_encode(cp, one);
		memcpy(pair + first, one, len);
		if (n > 0) {
			emit(an, TERM_WORD, (struct str){ pair, first + len }, start,
				(uint32_t)(next - an->text.p));
			an->position++;
		}
		memcpy(pair, one, len);
		first = len;
		start = (uint32_t)(p - an->text.p);
		n++;
		p = next;
	}
	if (n == 1)
		emit(an, TERM_WORD, (struct str){ pair, first }, start, (uint32_t)(p - an->text.p));
	an->position++;
	return p;
}

static bool ends_plain(const char *p, const char *end)
{
	const char *next = p;
	if (p == end || class_of(utf8_next(&next, end)) == U_BREAK)
		return true;
	/* A full stop joins only what it stands within. */
	return *p == '.' && (next == end || *next == ' ' || *next == '\n');
}

/* Passes over a word as read_plain takes it, which begins as nothing does that is looked for. */
static const char *skip_plain(struct analyser *an, const char *p, const char *end)
{
	char beginning[4] = { (char)(*p | 0x20) };
	const char *start = p++;
	size_t n = 1;
	for (; p < end && *p >= 'a' && *p <= 'z'; p++)
		if (n < sizeof(beginning))
			beginning[n++] = *p;
	if (p - start >= TERM_MAX || !ends_plain(p, end) ||
		is_looked_for(an, (struct str){ beginning, n }))
		return NULL;
	an->position++;
	return p;
}

/*
 * A lower-case ASCII word (possibly with a capital first) that ends at a break. NULL: it takes the
 * long way.
 */
static const char *read_plain(struct analyser *an, const char *p, const char *end)
{
	char word[TERM_MAX];
	size_t n = 1;
	word[0] = (char)(*p | 0x20);
	while (p + n < end && p[n] >= 'a' && p[n] <= 'z' && n < TERM_MAX) {
		word[n] = p[n];
		n++;
	}
	if (n == TERM_MAX)
		return NULL;
	if (!ends_plain(p + n, end))
		return NULL;
	const struct str plain = { word, n };
	const uint32_t start = (uint32_t)(p - an->text.p), span[2] = { start, start + (uint32_t)n };
	emit_word(an, TERM_WORD, plain, plain, span);
	an->position++;
	return p + n;
}

void analyser_run_as(
	struct analyser *an, struct str text, enum language lang, term_fn *each, void *ctx)
{
	an->text = text;
	an->lang = lang;
	an->each = each;
	an->ctx = ctx;
	an->position = 0;
	for (const char *p = text.p, *end = text.p + text.n; p < end;) {
		const char *next = p;
		uint32_t cp = (unsigned char)*p < 0x80 ? (uint32_t)(unsigned char)*next++
						       : utf8_next(&next, end);
		enum unit_class class = class_of(cp);
		if (class == U_BREAK) {
			p = next;
			continue;
		}
		if (class == U_WIDE) {
			p = read_wide(an, p, end);
			continue;
		}
		const char *done = NULL;
		if (cp < 0x80 && (class == U_LOWER || class == U_UPPER)) {
			done = read_language_name(an, p, end);
			if (!done && an->wanted)
				done = skip_plain(an, p, end);
			if (!done)
				done = read_plain(an, p, end);
		}
		if (!done) {
			done = read_chunk(an, p, end);
			finish_chunk(an);
		}
		p = done;
	}
}

void analyser_run(struct analyser *an, struct str text, term_fn *each, void *ctx)
{
	analyser_run_as(an, text, text_language(text), each, ctx);
}

void analyser_look(struct analyser *an, struct str text, const struct wanted_terms *wanted,
	term_fn *each, void *ctx)
{
	an->wanted = wanted;
	analyser_run_as(an, text, LANGUAGE_COUNT, each, ctx);
	an->wanted = NULL;
}

static void count_word(const char *word, size_t n, unsigned votes[LANGUAGE_COUNT])
{
	unsigned languages = stop_word_languages(word, n);
	/* Shared function words tell nothing. */
	for (int i = 0; i < LANGUAGE_COUNT; i++)
		votes[i] += languages == 1u << i;
}

static bool is_ascii_letter(char c)
{
	return (unsigned char)c < 0x80 && ascii_classes[(unsigned char)c] <= U_UPPER;
}

/* The word at *p, folded; longer ones than any function word are cut. Returns its length. */
static size_t read_letters(const char **p, const char *end, char word[LANGUAGE_WORD_MAX + FOLD_MAX])
{
	size_t n = 0;
	for (; *p < end && n < LANGUAGE_WORD_MAX && is_ascii_letter(**p); ++*p)
		word[n++] = (char)(**p | 0x20);
	if (*p == end || ((unsigned char)**p < 0x80 && !is_ascii_letter(**p)))
		return n;
	while (*p < end) {
		const char *next = *p;
		uint32_t cp = (unsigned char)*next < 0x80 ? (uint32_t)(unsigned char)*next++
							  : utf8_next(&next, end);
		if (class_of(cp) > U_UPPER)
			break;
		*p = next;
		if (n > LANGUAGE_WORD_MAX)
			continue;
		if (cp < 0x80)
			word[n++] = (char)(cp | 0x20);
		else
			n += fold_char(cp, word + n);
	}
	return n;
}

enum language text_language(struct str text)
{
	unsigned votes[LANGUAGE_COUNT] = { 0 };
	char word[LANGUAGE_WORD_MAX + FOLD_MAX];
	const char *end = text.p + utf8_cut(text.p, text.n, LANGUAGE_SAMPLE);
	for (const char *p = text.p; p < end;) {
		while (p < end && (unsigned char)*p < 0x80 && !is_ascii_letter(*p))
			p++;
		const char *start = p;
		count_word(word, read_letters(&p, end, word), votes);
		if (p == start && p < end)
			utf8_next(&p, end);
	}
	enum language best = LANGUAGE_ENGLISH;
	for (int i = 0; i < LANGUAGE_COUNT; i++)
		if (votes[i] > votes[best])
			best = (enum language)i;
	return best;
}
