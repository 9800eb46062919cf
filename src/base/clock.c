/*
 * UTC is calculated here (proleptic Gregorian, days_from_civil of Howard Hinnant's "chrono-Compatible
 * Low-Level Date Algorithms"); only the local zone is asked of the C library.
 */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define WEEK (7 * DAY)
#define MONTH (30 * DAY)
#define YEAR (365 * DAY)

/* What was read of a date and time; has_* say how precise it was. */
struct moment {
	int year, month, day, hour, minute, second, ms;
	bool has_day, has_time, has_zone;
	int zone_minutes;
};

int64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec / 1000000;
}

uint64_t clock_mono_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t clock_cpu_us(void)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

void clock_sleep_us(uint64_t us)
{
	const struct timespec t = { .tv_sec = (time_t)(us / 1000000),
		.tv_nsec = (long)(us % 1000000) * 1000 };

	nanosleep(&t, NULL);
}

struct timespec clock_after_us(uint64_t us)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += (long)(us % 1000000) * 1000;
	t.tv_sec += (time_t)(us / 1000000) + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static int64_t days_from_civil(int64_t y, int m, int d)
{
	int64_t era, doe;

	y -= m <= 2;
	era = (y >= 0 ? y : y - 399) / 400;
	doe = (y - era * 400) * 365 + (y - era * 400) / 4 - (y - era * 400) / 100 +
	      (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	return era * 146097 + doe - 719468;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && is_leap);
}

/* Exactly n digits; false leaves *p where it was. */
static bool take_digits(const char **p, int n, int *ret)
{
	int value = 0;

	for (int i = 0; i < n; i++) {
		char c = (*p)[i];
		if (c < '0' || c > '9')
			return false;
		value = value * 10 + (c - '0');
	}
	*p += n;
	*ret = value;
	return true;
}

static bool take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	*p += 1;
	return true;
}

/* ".123", of any length; milliseconds are kept. */
static void take_fraction(const char **p, int *ret_ms)
{
	int scale = 100, ms = 0;

	if ((**p != '.' && **p != ',') || (*p)[1] < '0' || (*p)[1] > '9')
		return;
	for (*p += 1; **p >= '0' && **p <= '9'; *p += 1, scale /= 10)
		ms += (**p - '0') * scale;
	*ret_ms = ms;
}

static bool take_zone(const char **p, struct moment *m)
{
	int hours, minutes = 0, sign;

	if (**p == 'Z' || **p == 'z') {
		*p += 1;
		m->has_zone = true;
		return true;
	}
	if (**p != '+' && **p != '-')
		return true;
	sign = **p == '-' ? -1 : 1;
	*p += 1;
	if (!take_digits(p, 2, &hours))
		return false;
	take_char(p, ':');
	if (**p && !take_digits(p, 2, &minutes))
		return false;
	m->zone_minutes = sign * (hours * 60 + minutes);
	m->has_zone = true;
	return hours < 24 && minutes < 60;
}

/* "17:15", "17:15:00", "17:15:00.123", and a zone. */
static bool take_time(const char **p, struct moment *m)
{
	if (!take_digits(p, 2, &m->hour) || !take_char(p, ':') || !take_digits(p, 2, &m->minute))
		return false;
	if (take_char(p, ':')) {
		if (!take_digits(p, 2, &m->second))
			return false;
		take_fraction(p, &m->ms);
	}
	m->has_time = true;
	/* 60 is a leap second: it counts as the first of the next minute. */
	return m->hour < 24 && m->minute < 60 && m->second <= 60;
}

/* "2026-11", "2026-11-29", and with a time behind "T" or a blank. The whole string. */
static bool parse_moment(const char *s, struct moment *m)
{
	*m = (struct moment){ .day = 1 };
	if (!take_digits(&s, 4, &m->year) || !take_char(&s, '-') || !take_digits(&s, 2, &m->month))
		return false;
	if (m->month < 1 || m->month > 12)
		return false;
	if (!*s)
		return true;
	if (!take_char(&s, '-') || !take_digits(&s, 2, &m->day))
		return false;
	if (m->day < 1 || m->day > days_in_month(m->year, m->month))
		return false;
	m->has_day = true;
	if (!*s)
		return true;
	if (*s != 'T' && *s != 't' && *s != ' ')
		return false;
	s++;
	return take_time(&s, m) && take_zone(&s, m) && !*s;
}

static int64_t utc_of(const struct moment *m)
{
	int64_t minutes = (days_from_civil(m->year, m->month, m->day) * 24 + m->hour) * 60 +
			  m->minute - m->zone_minutes;

	return minutes * MINUTE + m->second * SECOND + m->ms;
}

static int64_t local_of(const struct moment *m)
{
	struct tm tm = { .tm_year = m->year - 1900,
		.tm_mon = m->month - 1,
		.tm_mday = m->day,
		.tm_hour = m->hour,
		.tm_min = m->minute,
		.tm_sec = m->second,
		.tm_isdst = -1 };

	return (int64_t)mktime(&tm) * SECOND + m->ms;
}

static struct tm local_tm(int64_t at)
{
	time_t seconds = (time_t)(at / SECOND - (at % SECOND < 0));
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	return tm;
}

/* Midnight of the day that is `days` after that of `at`, in the local zone: days have 23 to 25 hours. */
static int64_t local_midnight(int64_t at, int days)
{
	struct tm tm = local_tm(at);

	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday += days;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * SECOND;
}

int64_t clock_parse_iso(const char *s)
{
	struct moment m;

	if (!s || !parse_moment(s, &m) || !m.has_time || !m.has_zone)
		return 0;
	return utc_of(&m);
}

struct unit {
	const char *name;
	int64_t ms;
	bool is_exact; /* taken by clock_parse_span too */
};

static const struct unit units[] = {
	{ "ms", 1, true },
	{ "s", SECOND, true },
	{ "m", MINUTE, true },
	{ "h", HOUR, true },
	{ "d", DAY, true },
	{ "w", WEEK, true },
	{ "sec", SECOND, false },
	{ "second", SECOND, false },
	{ "min", MINUTE, false },
	{ "minute", MINUTE, false },
	{ "hour", HOUR, false },
	{ "day", DAY, false },
	{ "week", WEEK, false },
	{ "month", MONTH, false },
	{ "year", YEAR, false },
	{ "y", YEAR, false },
};

/* Reads a number and what is behind it; `word` gets the rest, without blanks before it. */
static bool take_number(const char *s, int64_t *ret_n, const char **ret_word)
{
	int64_t n = 0;
	const char *p = s;

	for (; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
			return false;
	}
	*ret_n = n;
	*ret_word = p;
	return p > s;
}

bool clock_parse_span(const char *s, int64_t *ret)
{
	int64_t n;
	const char *word;

	if (!s || !take_number(s, &n, &word))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (units[i].is_exact && strcmp(word, units[i].name) == 0)
			return !__builtin_mul_overflow(n, units[i].ms, ret);
	}
	return false;
}

/* "7d", "7d ago", "3 days", "3 days ago": that long before now. */
static bool parse_ago(const char *s, int64_t now, int64_t *ret)
{
	int64_t n, span;
	const char *rest;
	struct str word;

	if (!take_number(s, &n, &rest))
		return false;
	word = str_trim(str_of(rest));
	if (word.n > 4 && str_ieq(word.p + word.n - 4, " ago"))
		word = str_trim((struct str){ word.p, word.n - 4 });
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		size_t len = strlen(units[i].name);
		bool is_plural = len > 2 && word.n == len + 1 && word.p[len] == 's';

		if ((word.n != len && !is_plural) || !str_istarts(word.p, units[i].name))
			continue;
		if (__builtin_mul_overflow(n, units[i].ms, &span) || span > now)
			return false;
		*ret = now - span;
		return true;
	}
	return false;
}

static bool parse_day_name(const char *s, int64_t now, bool is_end, int64_t *ret)
{
	static const struct {
		const char *name;
		int days;
	} names[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_ieq(s, names[i].name))
			continue;
		*ret = local_midnight(now, names[i].days + is_end) - is_end;
		return true;
	}
	return false;
}

/* The point a moment means in the local zone; its last millisecond when it is a day or a month. */
static int64_t point_of(struct moment m, bool is_end)
{
	if (m.has_zone)
		return utc_of(&m);
	if (m.has_time || !is_end)
		return local_of(&m);
	if (m.has_day)
		m.day++;
	else
		m.month++;
	return local_of(&m) - 1;
}

bool clock_parse_human(const char *s, int64_t now, bool is_end, int64_t *ret)
{
	char text[64];
	struct str trimmed = str_trim(str_of(s));
	struct moment m;
	const char *p = text;
	struct tm today;

	if (trimmed.n == 0 || trimmed.n >= sizeof(text))
		return false;
	memcpy(text, trimmed.p, trimmed.n);
	text[trimmed.n] = '\0';

	if (str_ieq(text, "now")) {
		*ret = now;
		return true;
	}
	if (parse_day_name(text, now, is_end, ret) || parse_ago(text, now, ret))
		return true;
	if (parse_moment(text, &m)) {
		*ret = point_of(m, is_end);
		return true;
	}
	/* A time alone is one of today. */
	today = local_tm(now);
	m = (struct moment){
		.year = today.tm_year + 1900, .month = today.tm_mon + 1, .day = today.tm_mday
	};
	if (!take_time(&p, &m) || *p)
		return false;
	*ret = local_of(&m);
	return true;
}

char *clock_iso(struct arena *a, int64_t at)
{
	int64_t ms = (at % DAY + DAY) % DAY, days = at / DAY - (at % DAY < 0);
	/* civil_from_days, same source as above. */
	int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	int day = (int)(doy - (153 * mp + 2) / 5 + 1), month = (int)(mp < 10 ? mp + 3 : mp - 9);
	int64_t year = yoe + era * 400 + (month <= 2);

	return arena_printf(a, "%04lld-%02d-%02dT%02d:%02d:%02d.%03dZ", (long long)year, month, day,
		(int)(ms / HOUR), (int)(ms / MINUTE % 60), (int)(ms / SECOND % 60),
		(int)(ms % SECOND));
}

char *clock_day(struct arena *a, int64_t at)
{
	struct tm tm = local_tm(at);

	return arena_printf(a, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static int64_t day_start(int64_t at, int days)
{
	struct tm tm = local_tm(at);

	tm.tm_mday += days;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * 1000;
}

int64_t clock_day_start(int64_t at)
{
	return day_start(at, 0);
}

int64_t clock_day_next(int64_t at)
{
	return day_start(at, 1);
}

char *clock_minute(struct arena *a, int64_t at)
{
	struct tm tm = local_tm(at);

	return arena_printf(a, "%04d-%02d-%02d %02d:%02d", tm.tm_year + 1900, tm.tm_mon + 1,
		tm.tm_mday, tm.tm_hour, tm.tm_min);
}

static const struct {
	uint64_t below, unit;
	const char *one, *many, *brief;
} ago_steps[] = {
	{ HOUR, MINUTE, "min", "min", "min" },
	{ DAY, HOUR, "hour", "hours", "h" },
	{ 2 * WEEK, DAY, "day", "days", "d" },
	{ 2 * MONTH, WEEK, "week", "weeks", "w" },
	{ YEAR, MONTH, "month", "months", "mo" },
	{ UINT64_MAX, YEAR, "year", "years", "y" },
};

/* Whole units of the step that fits; *ret_step is its row. */
static unsigned long long ago_units(int64_t at, int64_t now, size_t *ret_step)
{
	uint64_t span = at > now ? (uint64_t)at - (uint64_t)now : (uint64_t)now - (uint64_t)at;
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(ago_steps) && span >= ago_steps[i].below)
		i++;
	*ret_step = i;
	return span / ago_steps[i].unit;
}

char *clock_ago(struct arena *a, int64_t at, int64_t now)
{
	size_t i;
	unsigned long long n = ago_units(at, now, &i);

	if (!n)
		return arena_str(a, "just now");
	return arena_printf(a, at > now ? "in %llu %s" : "%llu %s ago", n,
		n == 1 ? ago_steps[i].one : ago_steps[i].many);
}

char *clock_age(struct arena *a, int64_t at, int64_t now)
{
	size_t i;
	unsigned long long n = ago_units(at, now, &i);

	return n ? arena_printf(a, at > now ? "+%llu%s" : "%llu%s", n, ago_steps[i].brief)
		 : arena_str(a, "now");
}
