#include "observe/reply_prose.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "observe/sentence.h"
#include "observe/turn_view.h"

#define LOOK_MAX 4000 /* bytes of a text whose words are looked at */
#define SHORT_MAX 700 /* prose about limits is short; longer prose speaks of the work */
#define NOTHING_MAX 400
#define START_MAX 300 /* refusals begin with it */
#define WHY_MAX 300
#define THOUGHTS_MAX 32 /* one after the other; of more, the last end counts */

/* ---- thinking ---- */

static const struct {
	const char *open, *close;
} thinking[] = {
	{ "<think>", "</think>" }, { "<thinking>", "</thinking>" }, { "<thought>", "</thought>" },
	{ "<reasoning>", "</reasoning>" }, { "<reflection>", "</reflection>" },
	{ "<scratchpad>", "</scratchpad>" }, { "<analysis>", "</analysis>" },
	{ "<seed:think>", "</seed:think>" }, { "[THINK]", "[/THINK]" },
	{ "<|begin_of_thought|>", "<|end_of_thought|>" },
	{ "<|START_THINKING|>", "<|END_THINKING|>" },
	{ "\xe2\x97\x81think\xe2\x96\xb7", "\xe2\x97\x81/think\xe2\x96\xb7" }, /* ◁think▷ */
};

#define FINAL "<|channel|>final<|message|>"
#define CHANNEL "<|channel|>"

static struct str from(struct str text, const char *p)
{
	return (struct str){ p, (size_t)(text.p + text.n - p) };
}

static const char *last_of(struct str text, const char *what)
{
	const char *at = NULL, *next = text.p;

	while ((next = str_find(from(text, next), str_of(what)))) {
		at = next;
		next += strlen(what);
	}
	return at;
}

/* "<|return|>", "<|im_end|>" and the like behind the answer. */
static struct str without_tokens(struct str text)
{
	for (text = str_trim(text); text.n > 4 && memcmp(text.p + text.n - 2, "|>", 2) == 0;) {
		const char *open = last_of(text, "<|");

		if (!open || text.p + text.n - open > 40)
			break;
		text = str_trim((struct str){ text.p, (size_t)(open - text.p) });
	}
	return text;
}

static struct str unchannel(struct str text, bool *had)
{
	const char *final = last_of(text, FINAL);

	if (!str_find(text, STR(CHANNEL)))
		return text;
	*had = true;
	if (!final)
		return (struct str){ text.p, 0 };
	return without_tokens(from(text, final + strlen(FINAL)));
}

/* Does the answer begin here? What looks like a marker further on is part of it. */
static bool is_answer_start(struct str text)
{
	struct str next = text.n ? str_trim((struct str){ text.p + 1, text.n - 1 }) : text;

	if (!text.n || text.p[0] != '[')
		return text.n && (text.p[0] == '{' || text.p[0] == '`' ||
					 str_istarts(text.p, "<observation"));
	return next.n && strchr("{]\"'", next.p[0]);
}

static bool unthink_once(struct str *text, bool *had)
{
	const char *first = NULL;
	size_t which = 0;

	for (size_t i = 0; i < ARRAY_LEN(thinking); i++) {
		const char *at = str_ifind(*text, thinking[i].open);

		if (at && (!first || at < first)) {
			first = at;
			which = i;
		}
	}
	/* A marker behind the beginning of an answer is a word of it. */
	if (!first || memchr(text->p, '{', (size_t)(first - text->p)))
		return false;
	*had = true;
	first = str_ifind(from(*text, first), thinking[which].close);
	*text = first ? str_trim(from(*text, first + strlen(thinking[which].close)))
		      : (struct str){ text->p, 0 };
	return true;
}

/* The template of some models opens the thinking, so that only its end is in the text. */
static struct str unthink_end(struct str text, bool *had)
{
	for (size_t i = 0; i < ARRAY_LEN(thinking); i++) {
		const char *at = last_of(text, thinking[i].close);

		if (!at)
			continue;
		*had = true;
		text = str_trim(from(text, at + strlen(thinking[i].close)));
	}
	return text;
}

struct str reply_unthink(struct str text, bool *ret_had_some)
{
	*ret_had_some = false;
	text = without_tokens(unchannel(str_trim(text), ret_had_some));
	for (int i = 0; i < THOUGHTS_MAX && text.n && !is_answer_start(text); i++)
		if (!unthink_once(&text, ret_had_some))
			break;
	if (!is_answer_start(text))
		text = unthink_end(text, ret_had_some);
	return text;
}

/* ---- bytes ---- */

struct str reply_clean(struct arena *a, struct str text)
{
	char *copy;
	size_t n = 0;

	text.n = MIN(text.n, REPLY_MAX);
	if (text.n >= 2 &&
		(memcmp(text.p, "\xff\xfe", 2) == 0 || memcmp(text.p, "\xfe\xff", 2) == 0))
		text = (struct str){ text.p + 2, text.n - 2 };
	/* A cut may have split the last character. */
	copy = arena_dup(a, text.p ? text.p : "", text.n);
	for (size_t i = 0; i < text.n; i++)
		if (copy[i])
			copy[n++] = copy[i];
	copy[n] = '\0';
	text = utf8_repair(a, (struct str){ copy, n });
	while (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0)
		text = (struct str){ text.p + 3, text.n - 3 };
	text = (struct str){ arena_dup(a, text.p, text.n), text.n };
	return str_trim(text);
}

/* ---- classes ---- */

static const char *const page_marks[] = { "<!doctype", "<html", "<head", "<body" };

static const char *const nothing_words[] = { "nothing durable", "nothing worth",
	"nothing to record", "nothing to remember", "nothing to store", "nothing to save",
	"nothing of note", "nothing notable", "nothing significant", "no durable", "no memories",
	"no memory to", "no observation", "no new observation", "no significant", "nothing new",
	"not worth recording", "no facts to", "nothing here", "rien de durable", "rien à retenir",
	"rien à signaler", "aucune observation", "aucun souvenir", "nichts dauerhaftes",
	"nichts zu merken", "nichts bleibendes", "keine beobachtung", "nada duradero",
	"nada que recordar", "ninguna observación", "skip_summary" };

static const char *const nothing_alone[] = { "nothing", "none", "null", "skip", "skipped", "n/a",
	"empty", "rien", "nichts", "nada", "no" };

static const char *const quota_words[] = { "you've reached", "you have reached", "you've hit",
	"you have hit", "you've exceeded", "you have exceeded", "you exceeded", "exceeded your",
	"quota exceeded", "insufficient_quota", "insufficient quota", "usage limit",
	"limit reached", "rate limit exceeded", "rate_limit_error", "rate_limit_exceeded",
	"too many requests", "credit balance", "out of credits", "insufficient credits",
	"insufficient funds", "insufficient balance", "billing details", "billing hard limit",
	"upgrade your plan", "upgrade to", "payment required", "resource_exhausted",
	"your limit will reset", "limit will reset", "limite d'utilisation", "quota dépassé",
	"dépassé votre quota", "atteint votre limite", "atteint la limite", "kontingent",
	"nutzungslimit", "limit erreicht", "límite de uso", "cuota superada",
	"saldo insuficiente" };

static const char *const refusal_words[] = { "i can't", "i cannot", "i can not", "i'm unable",
	"i am unable", "i'm not able", "i am not able", "i won't", "i will not", "i'm sorry",
	"i am sorry", "sorry, ", "i apologize", "as an ai", "i must decline", "i have to decline",
	"i don't have access", "i do not have access", "against my guidelines", "unable to assist",
	"can't help with", "cannot help with", "can't assist", "cannot assist", "je ne peux pas",
	"je ne suis pas en mesure", "je suis désolé", "désolé", "je refuse", "il m'est impossible",
	"ich kann nicht", "kann ich nicht", "es tut mir leid", "tut mir leid", "leider kann",
	"ich darf nicht", "ich bin nicht in der lage", "lo siento", "no puedo", "me niego" };

static bool has_any(const char *lower, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(lower, words[i]))
			return true;
	return false;
}

/* Small letters, plain apostrophes, white space as one blank; the beginning of the text. */
static char *folded(struct arena *a, struct str text)
{
	char *out = arena_alloc(a, MIN(text.n, LOOK_MAX) + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n && i < LOOK_MAX; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == 0xe2 && i + 2 < text.n && memcmp(text.p + i, "\xe2\x80\x99", 3) == 0) {
			out[n++] = '\'';
			i += 2;
		} else if (c <= ' ') {
			if (n && out[n - 1] != ' ')
				out[n++] = ' ';
		} else if (c == 0xc3 && i + 1 < text.n && (unsigned char)text.p[i + 1] >= 0x80 &&
			   (unsigned char)text.p[i + 1] <= 0x9e) {
			out[n++] = (char)c;
			out[n++] = (char)(text.p[++i] + 0x20);
		} else {
			out[n++] = (char)tolower(c);
		}
	}
	return out;
}

bool reply_is_page(struct str text)
{
	struct str start = { text.p, MIN(text.n, 600u) };

	if (!text.n || text.p[0] != '<')
		return false;
	for (size_t i = 0; i < ARRAY_LEN(page_marks); i++)
		if (str_ifind(start, page_marks[i]))
			return true;
	return false;
}

/* What is left when signs and fences around it are taken off is one of these words. */
static bool is_nothing_alone(const char *lower)
{
	const char *p = lower, *end = lower + strlen(lower);

	while (*p && !isalpha((unsigned char)*p) && (unsigned char)*p < 0x80)
		p++;
	while (end > p && !isalpha((unsigned char)end[-1]) && (unsigned char)end[-1] < 0x80)
		end--;
	for (size_t i = 0; i < ARRAY_LEN(nothing_alone); i++)
		if (str_is((struct str){ p, (size_t)(end - p) }, nothing_alone[i]))
			return true;
	return false;
}

static bool is_blank(const char *lower)
{
	for (; *lower; lower++)
		if (isalnum((unsigned char)*lower) || (unsigned char)*lower >= 0x80)
			return false;
	return true;
}

/* "```json" around nothing. */
static const char *without_fence(const char *lower)
{
	if (strncmp(lower, "```", 3) != 0)
		return lower;
	lower += 3;
	while (isalpha((unsigned char)*lower))
		lower++;
	return lower;
}

enum reply_class reply_prose_class(struct arena *a, struct str text)
{
	char *lower = folded(a, text);
	size_t n = strlen(lower);

	if (is_blank(without_fence(lower)))
		return REPLY_EMPTY;
	if (n < NOTHING_MAX && (is_nothing_alone(without_fence(lower)) ||
				       has_any(lower, nothing_words, ARRAY_LEN(nothing_words))))
		return REPLY_NOTHING;
	if (n < SHORT_MAX && has_any(lower, quota_words, ARRAY_LEN(quota_words)))
		return REPLY_QUOTA;
	lower[utf8_cut(lower, n, START_MAX)] = '\0';
	if (has_any(lower, refusal_words, ARRAY_LEN(refusal_words)))
		return REPLY_REFUSAL;
	return REPLY_PROSE;
}

const char *reply_first_sentence(struct arena *a, struct str text)
{
	struct str rest = str_of(
			   one_line(a, (struct str){ text.p, MIN(text.n, LOOK_MAX) }, LOOK_MAX)),
		   sentence;

	if (!sentence_next(&rest, &sentence) || !sentence.n)
		return NULL;
	return one_line(a, sentence, WHY_MAX);
}
