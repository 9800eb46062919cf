#ifndef NET_NET_H
#define NET_NET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * HTTP and HTTPS to other programs, over libcurl, which no other room includes. Proxies and
 * certificates as curl's environment says. One `struct net` belongs to one thread and keeps its
 * connections open between requests. No redirect is followed and no other protocol is spoken.
 */

struct net;

struct net_request {
	const char *method; /* "GET" or "POST" */
	const char *url;    /* http:// or https:// */
	const char *const *headers; /* "Name: value", NULL-terminated; may hold keys: never logged */
	const void *body;
	size_t body_len;
	int connect_ms, stall_ms, total_ms; /* each above 0; stall: silence once connected */
	size_t max_bytes;                   /* of the reply's body, unpacked; NET_TOO_LONG above */
	/* Called with each piece as it comes (streaming); non-zero ends the request (NET_ENOUGH). */
	int (*piece)(void *ctx, const char *p, size_t n);
	void *ctx;
	const _Atomic bool *stop; /* NULL: nobody aborts */
};

enum net_end {
	NET_DONE,     /* a whole reply of any status */
	NET_ENOUGH,   /* `piece` had enough */
	NET_TIMEOUT,  /* total */
	NET_STALLED,  /* silence */
	NET_REFUSED,  /* nobody listens, name unknown, no route */
	NET_BROKEN,   /* reset or cut in the middle, not HTTP, TLS failed */
	NET_TOO_LONG,
	NET_ABORTED, /* *stop */
};

struct net_reply {
	enum net_end end;
	long status;           /* 0: none came */
	struct buf body;       /* what came, also when it broke; empty when `piece` took it */
	char content_type[128];
	int64_t retry_after_ms; /* -1: not said; a date is turned into a wait */
	int64_t connect_ms, first_byte_ms, total_ms; /* -1: did not come so far */
	char why[ERR_TEXT_MAX]; /* unless NET_DONE: a sentence without keys */
};

struct net *net_new(void);
void net_free(struct net *n); /* NULL is fine */
/* -1 only for a request that cannot be sent as it is (ERR_USAGE: url, method). Reply ended with net_reply_done. */
int net_ask(struct net *n, const struct net_request *q, struct net_reply *ret, struct err *err);
void net_reply_done(struct net_reply *r);

#endif
