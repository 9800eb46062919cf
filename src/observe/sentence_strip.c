/*
 * What stands before the matter of a sentence, taken off: interjections, agreement, politeness,
 * subjects that are known.
 */
#include "observe/sentence.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define STRIPS_MAX 6 /* beginnings taken off one after the other */

/*
 * Beginnings that are dropped. "~" at the end: up to the next comma, colon or dash, when one comes
 * soon.
 */
static const char *const reply_starts[] = { "perfect!", "perfect,", "perfect.", "great!", "great,",
	"great.", "excellent!", "excellent,", "excellent.", "awesome!", "nice!", "done!", "done.",
	"done -", "done —", "done:", "done,", "all done!", "all done.", "all done -", "all done —",
	"success!", "yes,", "yes:", "no:", "yes.", "yes -", "yes —", "yes!", "yep,", "yep.", "no,",
	"no.", "no -", "no —", "correct.", "correct -", "correct —", "right.", "right,", "exactly.",
	"exactly,", "agreed.", "agreed,", "fair.", "ok,", "ok.", "okay,", "okay.", "sure,", "sure!",
	"sure.", "got it.", "got it,", "got it!", "understood.", "fixed!", "fixed.", "fixed -",
	"fixed —", "updated.", "implemented.", "change:", "changes:", "changed:", "but", "and",
	"now", "absolutely!", "absolutely.", "good question!", "good question.", "great question!",
	"great question.", "good point.", "good point!", "good catch!", "good catch.",
	"good catch -", "good catch —", "good thinking.", "you're right!", "you're right.",
	"you're right to~", "you're right that", "you're right,",
	"you're right:", "you were right,", "got it -", "got it —", "confirmed:", "confirmed.",
	"confirmed,", "found it:", "found it.", "the practical answer is:", "you're right -",
	"you're right —", "you're absolutely right!", "you're absolutely right.",
	"you're absolutely right,", "you're correct.", "you are right.", "that's right.",
	"that's correct.", "sorry,", "sorry.", "sorry about that.", "apologies,", "short answer:",
	"quick answer up front:", "quick answer:", "short version:", "absolutely —", "absolutely -",
	"absolutely,", "one caveat:", "reason:", "the short answer:", "one note:", "notable:", "q:",
	"summary:", "tl;dr:", "tl;dr", "result:", "status:", "in short,",
	"in short:", "in summary,", "to summarize,", "to summarize:", "overall,", "basically,",
	"essentially,", "additionally,", "also,", "however,", "finally,", "specifically,",
	"note:", "now,", "so,", "so", "then,", "i've successfully", "i have successfully",
	"we've successfully", "i successfully", "successfully", "i've now", "i have now",
	"i've also", "i also", "i have also", "i've just", "i just", "i've", "i have", "we've",
	"we have", "i can see that", "i can see", "i see that", "i found that", "i noticed that",
	"i confirmed that", "i verified that", "as you can see,", "it looks like",
	"it turns out that", "turns out", "it turns out", "based on~", "according to~",
	"after reviewing~", "after looking~", "looking at~", "parfait !", "parfait.", "parfait,",
	"excellent !", "super !", "voilà.", "voilà,", "voilà :", "c'est fait.",
	"c'est fait :", "c'est fait,", "terminé.", "terminé !", "fait.", "fait :", "oui,", "oui.",
	"non,", "non.", "d'accord,", "d'accord.", "bonne question.", "bonne question !",
	"en résumé,", "en résumé :", "bref,", "j'ai bien", "j'ai également", "j'ai aussi",
	"j'ai maintenant", "j'ai donc", "j'ai", "nous avons", "vous avez raison,",
	"vous avez raison.", "tu as raison,", "tu as raison.", "effectivement,", "exact.",
	"exact," };

static const char *const prompt_starts[] = { "hey,", "hey", "hi,", "hello,", "ok,", "ok", "okay,",
	"okay", "okay so", "so,", "so", "now,", "now", "then,", "then", "and,", "and", "also,",
	"also", "but", "well,", "yes,", "yes.", "yes please,", "yes", "yeah,", "yeah", "yep,",
	"no,", "sure,", "sure.", "great,", "great.", "great!", "perfect,", "perfect.", "perfect!",
	"cool,", "nice,", "nice.", "thanks,", "thanks.", "thanks!", "thank you.", "ah,", "ah",
	"oh,", "hmm,", "hm,", "right,", "alright,", "alright", "good.", "good,", "actually,",
	"actually", "question:", "one more thing:", "next,", "next:", "can you please",
	"can you also", "can you now", "can you", "could you please", "could you also", "could you",
	"would you please", "would you", "will you", "can we please", "can we also", "can we",
	"could we", "should we", "please can you", "please", "pls", "let's", "lets", "let us",
	"i'd like you to", "i would like you to", "i'd like to", "i would like to", "i want you to",
	"i want to", "i need you to", "i need to", "we need to", "we should", "we want to",
	"you should", "you need to", "help me to", "help me", "go ahead and", "i think we should",
	"i think you should", "i was wondering if", "just", "maybe", "do you know", "peux-tu",
	"peux tu", "pourrais-tu", "pouvez-vous", "pourriez-vous", "est-ce que tu peux",
	"est ce que tu peux", "tu peux", "est-ce qu'on peut", "on peut", "merci de",
	"s'il te plaît,", "s'il te plaît", "s'il vous plaît,", "s'il vous plaît", "stp,", "stp",
	"svp,", "svp", "il faut", "il faudrait", "je voudrais que tu", "je voudrais que vous",
	"je voudrais", "j'aimerais que tu", "j'aimerais", "je veux que tu", "je veux", "bon,",
	"bon", "alors,", "alors", "maintenant,", "maintenant", "oui,", "oui", "et", "donc",
	"d'accord,", "ensuite,", "ensuite", "bonjour,", "salut,", "super,", "super.", "super !" };

/*
 * Typographic apostrophes count as plain ones. Bytes of s that `start` takes, 0 when it does not
 * begin so.
 */
static size_t start_length(struct str s, const char *start)
{
	size_t i = 0;

	for (; *start && *start != '~'; start++) {
		if (i + 2 < s.n && *start == '\'' && memcmp(s.p + i, "\xe2\x80\x99", 3) == 0)
			i += 3;
		else if (i < s.n && tolower((unsigned char)s.p[i]) == (unsigned char)*start)
			i++;
		else
			return 0;
	}
	/* A whole word, unless the start ends in a sign. */
	if (i < s.n && *start != '~' && s.p[i] != ' ' &&
		(isalnum((unsigned char)start[-1]) || isalnum((unsigned char)s.p[i])))
		return 0;
	return i;
}

#define CLAUSE_MAX 46

static size_t to_comma(struct str s, size_t from)
{
	for (size_t i = from; i + 2 < s.n && i < CLAUSE_MAX; i++)
		if ((s.p[i] == ',' && strncmp(s.p + i, ", and", MIN(s.n - i, 5u)) != 0) ||
			s.p[i] == ':' || memcmp(s.p + i, " - ", 3) == 0 ||
			memcmp(s.p + i, "—", 3) == 0)
			return i + 1;
	return 0;
}

/* "2. Orphaned sessions", "3) …" */
static struct str skip_number(struct str s)
{
	size_t n = 0;

	while (n < s.n && n < 3 && isdigit((unsigned char)s.p[n]))
		n++;
	if (n && n + 2 < s.n && strchr(".)", s.p[n]) && s.p[n + 1] == ' ')
		return str_trim((struct str){ s.p + n + 2, s.n - n - 2 });
	return s;
}

static struct str skip_signs(struct str s)
{
	s = skip_number(str_trim(s));
	while (s.n && strchr("-:,;.!) ", s.p[0]) && !(s.p[0] == '-' && s.n > 1 && s.p[1] != ' ') &&
		!(s.p[0] == '.' && s.n > 1 && s.p[1] != ' '))
		s.p++, s.n--;
	while (s.n >= 4 && (memcmp(s.p, "— ", 4) == 0 || memcmp(s.p, "– ", 4) == 0))
		s.p += 4, s.n -= 4;
	return str_trim(s);
}

static struct str strip(struct str s, const char *const *starts, size_t n)
{
	for (unsigned round = 0; round < STRIPS_MAX; round++) {
		size_t longest = 0;

		char first = s.n ? (char)tolower((unsigned char)s.p[0]) : '\0';

		for (size_t i = 0; i < n; i++) {
			size_t len = starts[i][0] == first ? start_length(s, starts[i]) : 0;

			if (len && starts[i][strlen(starts[i]) - 1] == '~')
				len = to_comma(s, len);
			longest = MAX(longest, len);
		}
		if (!longest)
			break;
		s = skip_signs((struct str){ s.p + longest, s.n - longest });
	}
	return s;
}

static bool is_decision_verb(struct str word)
{
	return str_is(word, "chose") || str_is(word, "decided") || str_is(word, "opted") ||
	       str_is(word, "went");
}

/* "I updated the docs": who did it is known. */
static struct str without_subject(struct str s)
{
	static const char *const subjects[] = { "i ", "we " };

	for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
		size_t n = strlen(subjects[i]);
		struct str rest, first = { 0 };

		if (s.n <= n || strncasecmp(s.p, subjects[i], n) != 0)
			continue;
		rest = (struct str){ s.p + n, s.n - n };
		if (word_next(&rest, &first) && (word_is_deed(first) || is_decision_verb(first)))
			return (struct str){ s.p + n, s.n - n };
	}
	return s;
}

struct str sentence_strip_reply(struct str s)
{
	return without_subject(strip(skip_signs(s), reply_starts, ARRAY_LEN(reply_starts)));
}

struct str sentence_strip_prompt(struct str s)
{
	return strip(skip_signs(s), prompt_starts, ARRAY_LEN(prompt_starts));
}
