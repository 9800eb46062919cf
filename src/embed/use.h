#ifndef EMBED_USE_H
#define EMBED_USE_H

#include <stddef.h>
#include <stdint.h>

#include "embed/kernel.h"
#include "embed/model.h"

/*
 * The forward pass of USE-multilingual v3 (Yang et al. 2019, arXiv:1907.04307, the model of
 * convolutions over runs of 2, 3 and 5 tokens): rows of the table, projected, two convolutions with
 * residuals per branch, layer norm, sum over the tokens, four dense layers, tanh. No state: working
 * memory (up to 2 MB) is taken and given back in each call; any number of threads may call.
 */

#define USE_BATCH_TOKENS 256 /* of all the sequences of a call */
#define USE_BATCH_TEXTS 32

/* Ids with TOKEN_BEGIN in front and TOKEN_END behind. */
struct sequence {
	const uint32_t *ids; /* each below MODEL_PIECES */
	size_t n;            /* 1 … USE_BATCH_TOKENS */
};

/*
 * One unit vector per sequence, ret[i][MODEL_DIMS]. A vector does not depend on what else is in the
 * batch, nor on the kernel.
 */
void use_embed(const struct model *m, const struct kernel *k, const struct sequence *s, size_t n,
	float (*ret)[MODEL_DIMS]);

#endif
