#ifndef TESTS_ANALYSER_FIXTURE_H
#define TESTS_ANALYSER_FIXTURE_H

#include "unit.h"

#include "base/mem.h"
#include "text/terms.h"

/* An analyser for all tests of a program, and an arena for what they make by it. */

static struct analyser *an;
static struct arena a;

static inline int analyser_open(void **state)
{
	an = analyser_new();
	return 0;
}

static inline int analyser_close(void **state)
{
	analyser_free(an);
	arena_done(&a);
	return 0;
}

#endif
