#ifndef OPS_SIMILARITY_H
#define OPS_SIMILARITY_H

/*
 * The similarity that the markdown service tells, from 0 to 1, where .7 means "relevant" whatever
 * made the vectors: a monotone map from cosines for each embedder, fitted on the 40 pairs of
 * tests/data/sections (bench/markdown/sections; docs/benchmarks.md). An embedder without a map of
 * its own has its cosines taken as they are. Pure.
 */
double similarity_of_cosine(const char *provider, double cosine);

#endif
