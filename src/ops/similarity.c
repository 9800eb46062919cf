#include "ops/similarity.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct knot {
	double cosine, similarity;
};

/* Cosines have the store's mean taken off: 0 is what any other text has. */
static const struct knot builtin[] = { { -.1, 0 }, { .04, .5 }, { .1, .7 }, { .18, .85 },
	{ .3, .95 }, { .6, 1 } };
static const struct knot minilm[] = { { 0, 0 }, { .1, .5 }, { .2, .7 }, { .32, .85 }, { .45, .95 },
	{ .7, 1 } };
/* In units of what chance gives. */
static const struct knot any[] = { { 0, 0 }, { .7, .5 }, { 1.3, .7 }, { 2.2, .85 }, { 3.4, .95 },
	{ 6, 1 } };

#define CHANCE .1       /* of an embedder of which nothing is known */
#define CHANCE_WORTH 20 /* cosines that this counts as much as */

static const struct {
	const char *provider, *model; /* NULL: any; a part of its name */
	const struct knot *knots;
	size_t n;
} maps[] = {
	{ "builtin", NULL, builtin, ARRAY_LEN(builtin) },
	{ NULL, "all-minilm", minilm, ARRAY_LEN(minilm) },
};

struct similarity similarity_for(const char *provider, const char *model)
{
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		if (maps[i].provider && (!provider || strcmp(maps[i].provider, provider) != 0))
			continue;
		if (maps[i].model && (!model || !strcasestr(model, maps[i].model)))
			continue;
		return (struct similarity){ maps[i].knots, maps[i].n, 1 };
	}
	return (struct similarity){ any, ARRAY_LEN(any), CHANCE };
}

int similarity_is_open(const struct similarity *s)
{
	return s->knots == any;
}

void similarity_learn(struct similarity *s, const float *cosines, size_t n)
{
	double squares = CHANCE_WORTH * CHANCE * CHANCE;

	if (!similarity_is_open(s))
		return;
	for (size_t i = 0; i < n; i++)
		squares += (double)cosines[i] * (double)cosines[i];
	s->unit = MAX(sqrt(squares / (double)(n + CHANCE_WORTH)), SIMILARITY_CHANCE_MIN);
}

double similarity_of_cosine(const struct similarity *s, double cosine)
{
	const struct knot *k = s->knots;
	double at = cosine / s->unit;
	size_t i = 1;

	if (at <= k[0].cosine)
		return k[0].similarity;
	while (i < s->n && at > k[i].cosine)
		i++;
	if (i == s->n)
		return k[s->n - 1].similarity;
	return k[i - 1].similarity + (k[i].similarity - k[i - 1].similarity) *
					     (at - k[i - 1].cosine) /
					     (k[i].cosine - k[i - 1].cosine);
}
