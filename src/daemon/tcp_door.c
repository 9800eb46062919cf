#include "daemon/tcp_door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "daemon/daemon.h"
#include "daemon/http.h"
#include "daemon/watch.h"

static int door_open(struct daemon *d, const char *host, unsigned port, struct err *err)
{
	struct tcp_door *door = mem_alloc(sizeof(*door));
	int fd = -1;

	d->tcp_door = door;
	if (token_open(d->paths.token, &door->token, err) ||
		tcp_listen(host, port, &door->address, &fd, err))
		return -1;
	door->watch = watch_new();
	d->tcp = http_new(d, fd, door);
	return 0;
}

void tcp_door_open(struct daemon *d)
{
	const struct settings *s = current_settings(d->current);
	const char *host = settings_text(s, SET_HTTP_LISTEN);
	struct err err = { 0 };

	if (!*host || str_ieq(host, "off"))
		return;
	if (!door_open(d, host, (unsigned)settings_int(s, SET_HTTP_PORT), &err)) {
		log_info("serving HTTP at %s", d->tcp_door->address.name);
		return;
	}
	snprintf(d->tcp_error, sizeof(d->tcp_error), "%s", err.text);
	log_warn("%s", err.text);
	tcp_door_close(d);
}

void tcp_door_close(struct daemon *d)
{
	http_close(d->tcp);
	d->tcp = NULL;
	if (d->tcp_door) {
		watch_free(d->tcp_door->watch);
		explicit_bzero(&d->tcp_door->token, sizeof(d->tcp_door->token));
	}
	free(d->tcp_door);
	d->tcp_door = NULL;
}
