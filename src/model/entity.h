#ifndef MODEL_ENTITY_H
#define MODEL_ENTITY_H

#include <stdint.h>

#include "model/names.h"

/*
 * A library, tool, service, language, command, file or concept in one turn: how many of the turn's
 * events mention it.
 */
struct mention {
	enum entity_kind kind;
	const char *name;    /* canonical; lower case, but for error classes */
	int64_t n;           /* events */
	int64_t at, last_at; /* of the first and the last of them */
};

#define ENTITY_NAME_MAX 80 /* bytes; longer names are none */

#endif
