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
 * certificates as curl's environment says (http_proxy, https_proxy, all_proxy, no_proxy;
 * CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR). One `struct net` belongs to one thread and keeps its
 * connections open between requests. No redirect is followed and no other protocol is spoken.
 * SIGPIPE is ignored or blocked by the process.
 */

#define NET_STOP_MS 100                   /* how soon *stop is noticed */
#define NET_RETRY_AFTER_MAX_MS 86400000   /* a longer wait that a server asks for counts as this */

struct net;

struct net_request {
	const char *method; /* "GET" or "POST" */
	const char *url;    /* http:// or https:// */
	const char *const *headers; /* "Name: value", NULL-terminated; may hold keys: never logged */
	const void *body;
	size_t body_len;
	int connect_ms, stall_ms, total_ms; /* each above 0; stall: silence once connected */
	size_t max_bytes;                   /* of the reply's body, unpacked; NET_TOO_LONG above */
	/*
	 * Called with each piece of a reply of status 2xx as it comes; non-zero ends the request
	 * (NET_ENOUGH). The body of any other status is kept all the same.
	 */
	int (*piece)(void *ctx, const char *p, size_t n);
	void *ctx;
	const _Atomic bool *stop; /* NULL: nobody aborts */
};

enum net_end {
	NET_DONE,     /* a whole reply of any status */
	NET_ENOUGH,   /* `piece` had enough */
	NET_TIMEOUT,  /* total */
	NET_STALLED,  /* silence */
	NET_REFUSED,  /* nobody listens, name unknown, no route, no connection in connect_ms */
	NET_BROKEN,   /* reset or cut in the middle, not HTTP, TLS failed */
	NET_TOO_LONG,
	NET_ABORTED, /* *stop */
};

struct net_reply {
	enum net_end end;
	long status;           /* 0: none came */
	struct buf body;       /* what came, also when it broke; empty when `piece` took it; a NUL follows */
	char content_type[128];
	int64_t retry_after_ms; /* -1: not said; a date is turned into a wait */
	int64_t connect_ms;    /* name, connection and TLS; 0 on one that was open; -1: did not come so far */
	int64_t first_byte_ms; /* of the body; -1: none */
	int64_t total_ms;
	char why[ERR_TEXT_MAX]; /* unless NET_DONE: a sentence without keys */
};

struct net *net_new(void);
void net_free(struct net *n); /* NULL is fine */
/*
 * -1 only for a request that cannot be sent as it is (ERR_USAGE: url, header with a line end).
 * The reply is ended with net_reply_done in any case.
 */
int net_ask(struct net *n, const struct net_request *q, struct net_reply *ret, struct err *err);
void net_reply_done(struct net_reply *r);
/* The host and port of an address, for sentences: nothing secret that an address may hold is in it. */
#define NET_HOST_MAX 300
const char *net_host(const char *url, char out[NET_HOST_MAX]);

#endif
