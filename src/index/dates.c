#include "index/dates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

/* Folded, as words of questions are. */
static const char *const weekdays[][2] = {
	{ "sunday", "dimanche" },
	{ "monday", "lundi" },
	{ "tuesday", "mardi" },
	{ "wednesday", "mercredi" },
	{ "thursday", "jeudi" },
	{ "friday", "vendredi" },
	{ "saturday", "samedi" },
};

static const char *const months[][2] = {
	{ "january", "janvier" },
	{ "february", "fevrier" },
	{ "march", "mars" },
	{ "april", "avril" },
	{ "may", "mai" },
	{ "june", "juin" },
	{ "july", "juillet" },
	{ "august", "aout" },
	{ "september", "septembre" },
	{ "october", "octobre" },
	{ "november", "novembre" },
	{ "december", "decembre" },
};

static const char *const numbers[][2] = {
	{ "", "" },
	{ "one", "une" },
	{ "two", "deux" },
	{ "three", "trois" },
	{ "four", "quatre" },
	{ "five", "cinq" },
	{ "six", "six" },
	{ "seven", "sept" },
	{ "eight", "huit" },
	{ "nine", "neuf" },
	{ "ten", "dix" },
};

static const struct {
	const char *word;
	enum period_unit unit;
} units[] = {
	{ "day", PERIOD_DAY },
	{ "days", PERIOD_DAY },
	{ "jour", PERIOD_DAY },
	{ "jours", PERIOD_DAY },
	{ "week", PERIOD_WEEK },
	{ "weeks", PERIOD_WEEK },
	{ "semaine", PERIOD_WEEK },
	{ "semaines", PERIOD_WEEK },
	{ "month", PERIOD_MONTH },
	{ "months", PERIOD_MONTH },
	{ "mois", PERIOD_MONTH },
};

struct str date_words(int64_t at, char ret[DATE_WORDS_MAX])
{
	time_t seconds = (time_t)(at / 1000);
	struct tm tm;
	if (at == 0 || !localtime_r(&seconds, &tm))
		return (struct str){ ret, 0 };
	int n = snprintf(ret, DATE_WORDS_MAX, "%04d-%02d-%02d %04d-%02d %s %s",
		(tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday,
		(tm.tm_year + 1900) % 10000, tm.tm_mon + 1, weekdays[tm.tm_wday][0],
		months[tm.tm_mon][0]);
	return (struct str){ ret, MIN((size_t)MAX(n, 0), (size_t)DATE_WORDS_MAX - 1) };
}

static bool word_is(const struct query *q, size_t i, const char *word)
{
	return i < q->nwords && !q->words[i].is_excluded && str_is(q->words[i].word, word);
}

static bool word_is_any(const struct query *q, size_t i, const char *const *words)
{
	for (; *words; words++)
		if (word_is(q, i, *words))
			return true;
	return false;
}

/* Place of the word in a table of pairs, or -1. */
static int find_in(const struct query *q, size_t i, const char *const table[][2], size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (table[k][0][0] && (word_is(q, i, table[k][0]) || word_is(q, i, table[k][1])))
			return (int)k;
	return -1;
}

static int find_number(const struct query *q, size_t i)
{
	static const char *const ones[] = { "a", "an", "un", NULL };
	char digits[5] = "";
	if (i >= q->nwords)
		return -1;
	if (word_is_any(q, i, ones))
		return 1;
	struct str w = q->words[i].word;
	if (w.n && w.n < sizeof(digits) && strspn(w.p, "0123456789") >= w.n) {
		memcpy(digits, w.p, w.n);
		return atoi(digits);
	}
	return find_in(q, i, numbers, ARRAY_LEN(numbers));
}

static bool find_unit(const struct query *q, size_t i, enum period_unit *ret)
{
	for (size_t k = 0; k < ARRAY_LEN(units); k++)
		if (word_is(q, i, units[k].word)) {
			*ret = units[k].unit;
			return true;
		}
	return false;
}

static const char *const lasts[] = { "last", "previous", "past", "derniere", "dernier", "passee",
	"passe", NULL };
static const char *const thises[] = { "this", "cette", "ce", NULL };

/* "three weeks ago", "il y a trois semaines" */
static size_t match_ago(const struct query *q, size_t i, struct period *p)
{
	bool is_french = word_is(q, i, "il") && word_is(q, i + 1, "y") && word_is(q, i + 2, "a");
	size_t at = is_french ? i + 3 : i;
	int n = find_number(q, at);
	if (n < 0 || !find_unit(q, at + 1, &p->unit) || (!is_french && !word_is(q, at + 2, "ago")))
		return 0;
	p->back = n;
	return at + (is_french ? 2 : 3) - i;
}

/* "last week", "this month", "la semaine derniere", "ce mois" */
static size_t match_relative(const struct query *q, size_t i, struct period *p)
{
	bool is_last = word_is_any(q, i, lasts);
	if ((is_last || word_is_any(q, i, thises)) && find_unit(q, i + 1, &p->unit)) {
		p->back = is_last;
		return 2;
	}
	if (find_unit(q, i, &p->unit) && word_is_any(q, i + 1, lasts)) {
		p->back = 1;
		return 2;
	}
	return 0;
}

/* "today", "yesterday", "hier" */
static size_t match_day(const struct query *q, size_t i, struct period *p)
{
	static const char *const today[] = { "today", "aujourd", NULL };
	static const char *const yesterday[] = { "yesterday", "hier", NULL };
	p->unit = PERIOD_DAY;
	p->back = word_is_any(q, i, yesterday);
	return word_is_any(q, i, today) || p->back ? 1 : 0;
}

/* "tuesday", "last tuesday", "mardi dernier": the latest one that is over or under way. */
static size_t match_weekday(const struct query *q, size_t i, struct period *p)
{
	size_t first = word_is_any(q, i, lasts) || word_is(q, i, "on");
	int day = find_in(q, i + first, weekdays, ARRAY_LEN(weekdays));
	if (day < 0)
		return 0;
	p->unit = PERIOD_WEEKDAY;
	p->number = day;
	return first + 1 + word_is_any(q, i + first + 1, lasts);
}

/* "november", "in may", "en mai", "mars dernier"; "may" and "march" need a word that says so. */
static size_t match_month(const struct query *q, size_t i, struct period *p)
{
	static const char *const before[] = { "in", "en", "since", "last", "during", "of", NULL };
	size_t first = word_is_any(q, i, before);
	int month = find_in(q, i + first, months, ARRAY_LEN(months));
	bool is_other_word = word_is(q, i + first, "may") || word_is(q, i + first, "march") ||
			     word_is(q, i + first, "mars") || word_is(q, i + first, "mai");
	if (month < 0 || (is_other_word && !first))
		return 0;
	p->unit = PERIOD_MONTH_NAME;
	p->number = month;
	return first + 1;
}

void period_find(struct query *q)
{
	static size_t (*const matches[])(const struct query *, size_t, struct period *) = {
		match_ago, match_relative, match_day, match_weekday, match_month
	};
	for (size_t i = 0; i < q->nwords; i++) {
		for (size_t k = 0; k < ARRAY_LEN(matches); k++) {
			struct period p = { 0 };
			size_t n = matches[k](q, i, &p);
			if (n == 0)
				continue;
			p.first = i;
			p.n = MIN(n, q->nwords - i);
			q->period = p;
			return;
		}
	}
}

/* Midnight at the start of the day so many days after. */
static int64_t midnight_after(struct tm day, int days)
{
	day.tm_mday += days;
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return (int64_t)mktime(&day) * 1000;
}

bool period_times(const struct query *q, int64_t now, int64_t *ret_from, int64_t *ret_to)
{
	const struct period *p = &q->period;
	time_t seconds = (time_t)(now / 1000);
	struct tm tm, end;
	if (p->unit == PERIOD_NONE || now == 0 || !localtime_r(&seconds, &tm))
		return false;
	int days = 1;
	if (p->unit == PERIOD_DAY) {
		tm.tm_mday -= p->back;
	} else if (p->unit == PERIOD_WEEK) {
		tm.tm_mday -= (tm.tm_wday + 6) % 7 + 7 * p->back;
		days = 7;
	} else if (p->unit == PERIOD_WEEKDAY) {
		tm.tm_mday -= (tm.tm_wday - p->number + 7) % 7;
	} else {
		int months_back = p->unit == PERIOD_MONTH ? p->back
							   : (tm.tm_mon - p->number + 12) % 12;
		tm.tm_mon -= months_back;
		tm.tm_mday = 1;
		end = tm;
		end.tm_mon++;
		*ret_from = midnight_after(tm, 0);
		*ret_to = midnight_after(end, 0);
		return true;
	}
	*ret_from = midnight_after(tm, 0);
	*ret_to = midnight_after(tm, days);
	return true;
}
