#include "ops/similarity.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

struct knot {
	double cosine, similarity;
};

/* Cosines of the builtin embedder have the store's mean taken off: 0 is what any other text has. */
static const struct knot builtin[] = { { -.1, 0 }, { .04, .5 }, { .1, .7 }, { .18, .85 },
	{ .3, .95 }, { .6, 1 } };
static const struct knot as_is[] = { { 0, 0 }, { 1, 1 } };

static const struct {
	const char *provider;
	const struct knot *knots;
	size_t n;
} maps[] = {
	{ "builtin", builtin, ARRAY_LEN(builtin) },
};

double similarity_of_cosine(const char *provider, double cosine)
{
	const struct knot *k = as_is;
	size_t n = ARRAY_LEN(as_is), i = 1;

	for (size_t m = 0; provider && m < ARRAY_LEN(maps); m++)
		if (!strcmp(maps[m].provider, provider)) {
			k = maps[m].knots;
			n = maps[m].n;
		}
	if (cosine <= k[0].cosine)
		return k[0].similarity;
	while (i < n && cosine > k[i].cosine)
		i++;
	if (i == n)
		return k[n - 1].similarity;
	return k[i - 1].similarity + (k[i].similarity - k[i - 1].similarity) *
					     (cosine - k[i - 1].cosine) /
					     (k[i].cosine - k[i - 1].cosine);
}
