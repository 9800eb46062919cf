#include "observe/confidence.h"

#include <math.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define HALF_YEAR_MS (182LL * 86400000)
#define MOST .99

static const double who[TRUST_COUNT] = {
	[TRUST_OUTSIDE] = .15,
	[TRUST_TOOL] = .35,
	[TRUST_REPLY] = .42,
	[TRUST_PROMPT] = .55,
	[TRUST_PERSON] = 1,
};
static const double words[] = { -.2, 0, .15 }; /* by strength */

struct parts {
	double who, words, outcome, repetition, contradiction, ungrounded;
};

static struct parts parts_of(const struct confidence *c)
{
	struct parts p = { .who = who[c->trust],
		.words = words[MIN(MAX(c->strength, 0), 2)],
		.outcome = c->outcome > 0   ? .15
			   : c->outcome < 0 ? -.25
					    : 0 };

	p.repetition = MIN(
		.3, .1 * log2((double)MAX(c->sessions, 1)) + .04 * log2((double)MAX(c->times, 1)));
	p.contradiction = -MIN(.2, .1 * (double)c->contradictions);
	p.ungrounded = -MIN(.4, .1 * (double)c->unsupported);
	return p;
}

double confidence_of(const struct confidence *c)
{
	struct parts p = parts_of(c);

	if (c->trust == TRUST_PERSON)
		return 1;
	return MAX(0, MIN(MOST, p.who + p.words + p.outcome + p.repetition + p.contradiction +
					p.ungrounded));
}

char *confidence_parts(struct arena *a, const struct confidence *c, int64_t first, int64_t last)
{
	AUTO(buf_done) struct buf out = { 0 };
	struct jw w = { .out = &out };
	struct parts p = parts_of(c);
	const struct {
		const char *name;
		double value;
	} rows[] = { { "who", p.who }, { "words", p.words }, { "outcome", p.outcome },
		{ "repetition", p.repetition }, { "contradiction", p.contradiction },
		{ "ungrounded", p.ungrounded } };

	jw_object(&w, NULL);
	jw_str(&w, "said_by", trust_names[c->trust]);
	jw_int(&w, "times", c->times);
	jw_int(&w, "turns", c->turns);
	jw_int(&w, "sessions", c->sessions);
	jw_int(&w, "first", first);
	jw_int(&w, "last", last);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!i || fabs(rows[i].value) >= .005)
			jw_real(&w, rows[i].name, rows[i].value, 2);
	jw_end(&w, '}');
	return arena_dup(a, buf_cstr(&out), out.len);
}

double confidence_age_cost(int64_t last, int64_t now)
{
	return now > last ? MIN(.2, .05 * (double)((now - last) / HALF_YEAR_MS)) : 0;
}

double confidence_aged(const struct memory *m, int64_t now)
{
	if (m->trust == TRUST_PERSON || m->is_pinned)
		return m->confidence;
	return MAX(0, m->confidence - confidence_age_cost(m->at, now));
}
