#ifndef OPS_SIMILARITY_H
#define OPS_SIMILARITY_H

#include <stddef.h>

/*
 * The similarity that the markdown service tells, from 0 to 1, where .7 means "relevant" whatever
 * made the vectors: a monotone map from cosines. Embedders that could be had for the 40 pairs of
 * tests/data/sections have a map of their own, fitted on them (bench/markdown/sections;
 * docs/benchmarks.md). For any other the unit is how far from 0 cosines of the question are by
 * chance, and the map is one that suits those two. Pure.
 */

#define SIMILARITY_CHANCE_MIN .05 /* the least that a unit can be: a question about nothing that is there is near nothing */

struct knot;
struct similarity {
	const struct knot *knots;
	size_t n;
	double unit;
};

/* provider, model: what makes the vectors; either may be NULL. */
struct similarity similarity_for(const char *provider, const char *model);
/* Does it want to know what chance gives? */
int similarity_is_open(const struct similarity *s);
/* Cosines of the question to texts at random. Few count little. */
void similarity_learn(struct similarity *s, const float *cosines, size_t n);
double similarity_of_cosine(const struct similarity *s, double cosine);

#endif
