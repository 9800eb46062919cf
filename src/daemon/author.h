#ifndef DAEMON_AUTHOR_H
#define DAEMON_AUTHOR_H

#include "base/arena.h"
#include "base/err.h"
#include "conf/settings.h"

/* Whom this daemon works for: the setting `author`, else the name of the login. A name that cannot be one: ERR_USAGE. */
int author_name(struct arena *a, const struct settings *s, const char **ret, struct err *err);

#endif
