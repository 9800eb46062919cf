#ifndef NET_PROBLEM_H
#define NET_PROBLEM_H

#include <stdbool.h>

#include "base/json.h"
#include "base/str.h"
#include "model/job.h"
#include "net/net.h"

/* What model servers say about a failure, and which outcome that is. Pure. */

#define PROBLEM_TEXT_MAX 300 /* bytes kept of what a server says */

struct problem {
	enum call_outcome outcome; /* CALL_NONE: there is none */
	long status;
	bool is_too_long;          /* our text */
	char message[PROBLEM_TEXT_MAX];
	char code[PROBLEM_TEXT_MAX]; /* its codes and types, in one line */
};

void problem_of_body(struct problem *p, long status, const char *content_type, struct str body);
/* An "error" member of a reply or event; false when there is none. */
bool problem_of_json(struct problem *p, long status, const json *reply);
/* Words about a failure, such as those of a program; status 0: none. */
enum call_outcome problem_class(long status, const char *text, bool *ret_is_too_long);
/* A connection that failed or was given up; CALL_OK for a reply that can be read. */
enum call_outcome problem_of_end(enum net_end end);

#endif
