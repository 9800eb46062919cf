#include "daemon/gate.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define BAD_REQUEST 400
#define UNAUTHORIZED 401
#define FORBIDDEN 403
#define PORT_HTTP 80
#define PORT_DIGITS ((size_t)5)

/* What stands in a Host header, or after the scheme of an Origin. */
struct authority {
	struct str host; /* an IPv6 address without its brackets */
	struct str port; /* empty: none given */
};

/* "name", "name:port", "1.2.3.4:port", "[::1]:port". */
static bool authority_parse(const char *text, struct authority *ret)
{
	static const char host_letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
	const char *end = *text == '[' ? strchr(text, ']') : text + strspn(text, host_letters);

	if (!end || end == text)
		return false;
	if (*text == '[') {
		ret->host = (struct str){ text + 1, (size_t)(end - text) - 1 };
		end++;
	} else {
		ret->host = (struct str){ text, (size_t)(end - text) };
	}
	ret->port = (struct str){ end, 0 };
	if (!*end)
		return true;
	ret->port = str_of(end + 1);
	return *end == ':' && ret->port.n && strspn(end + 1, "0123456789") == ret->port.n;
}

static bool is_host(struct str host, const char *name)
{
	return host.n == strlen(name) && !strncasecmp(host.p, name, host.n);
}

/* No name can be made to point elsewhere where there is no name. */
static bool is_ip(struct str host)
{
	char text[TCP_HOST_MAX];
	unsigned char bytes[sizeof(struct in6_addr)];

	if (!host.n || host.n >= sizeof(text))
		return false;
	memcpy(text, host.p, host.n);
	text[host.n] = '\0';
	return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static bool is_port(struct str port, unsigned wanted)
{
	unsigned given = port.n ? 0 : PORT_HTTP;

	for (size_t i = 0; i < MIN(port.n, PORT_DIGITS); i++)
		given = given * 10 + (unsigned)(port.p[i] - '0');
	return port.n <= PORT_DIGITS && given == wanted;
}

/* One of http.hosts: a name for any port, or with the one that it is for. */
static bool is_listed(const char *const *list, const struct authority *a, const char *whole)
{
	for (; list && *list; list++)
		if (is_host(a->host, *list) || str_ieq(whole, *list))
			return true;
	return false;
}

/*
 * On the loopback the port must be ours too. Elsewhere it may be another one outside (a container's
 * port is mapped), and the host any address of this machine.
 */
static bool host_is_ours(const struct gate_rules *rules, const char *text)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost", "::1" };
	const struct tcp_address *own = rules->address;
	struct authority a;
	bool is_known = false;

	if (!authority_parse(text, &a))
		return false;
	if (is_listed(rules->hosts, &a, text))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(loopback); i++)
		is_known = is_known || is_host(a.host, loopback[i]);
	is_known = is_known || is_host(a.host, own->host);
	if (own->is_loopback)
		return is_known && is_port(a.port, own->port);
	return is_known || is_ip(a.host);
}

/* RFC 6454: the page that asks must be one of our own, under the name that it asks at. */
static bool origin_is_ours(const char *origin, const char *host)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_istarts(origin, schemes[i]))
			return str_ieq(origin + strlen(schemes[i]), host);
	return false;
}

static const char *bearer(const char *authorization)
{
	static const char scheme[] = "Bearer ";

	if (!authorization || !str_istarts(authorization, scheme))
		return NULL;
	authorization += strlen(scheme);
	return authorization + strspn(authorization, " ");
}

static bool is_open(const struct gate_rules *rules, const struct gate_request *q)
{
	static const char *const can_be_open[] = { "/health", "/stats", "/search" };
	bool can_be = false;

	for (size_t i = 0; i < ARRAY_LEN(can_be_open); i++)
		can_be = can_be || !strcmp(q->path, can_be_open[i]);
	if (!can_be || q->origin || q->fetch_site)
		return false;
	for (const char *const *route = rules->open_routes; route && *route; route++)
		if (!strcmp(q->path + (**route != '/'), *route))
			return true;
	return false;
}

int gate_check(const struct gate_rules *rules, const struct gate_request *q, struct err *err)
{
	if (q->is_ambiguous) {
		err_set(err, ERR_USAGE, "the request's headers contradict each other");
		return BAD_REQUEST;
	}
	if (!q->host || !host_is_ours(rules, q->host)) {
		err_set(err, ERR_FORBIDDEN,
			"the request is for the host '%.100s', not for this daemon",
			q->host ? q->host : "");
		err_hint(err, "ask at %s, or add the name to http.hosts", rules->address->name);
		return FORBIDDEN;
	}
	if ((q->origin && !origin_is_ours(q->origin, q->host)) ||
		(q->fetch_site && strcmp(q->fetch_site, "same-origin") &&
			strcmp(q->fetch_site, "none"))) {
		err_set(err, ERR_FORBIDDEN, "the request comes from a page of another site");
		return FORBIDDEN;
	}
	if (token_matches(rules->token, bearer(q->authorization)) || is_open(rules, q))
		return 0;
	err_set(err, ERR_FORBIDDEN,
		q->authorization ? "the token is not the right one"
				 : "the request carries no token");
	err_hint(err,
		"send 'Authorization: Bearer TOKEN'; it stands in run/token of the data folder");
	return UNAUTHORIZED;
}
