#ifndef DAEMON_CURRENT_H
#define DAEMON_CURRENT_H

#include <stdbool.h>

#include "base/err.h"
#include "conf/settings.h"
#include "text/redact.h"

/*
 * The settings in force, and the redactor made of them. They are read anew when the file changes;
 * what was in force before stays in memory until the daemon leaves, since a request may be using it
 * (they change by hand, a few kilobytes each time). Any thread.
 */

struct current;
struct current *current_open(const char *path, struct err *err);
void current_close(struct current *c); /* NULL is fine */
const struct settings *current_settings(struct current *c);
const struct redactor *current_redactor(struct current *c);
/*
 * Looks at the file's time; true when it was read anew. `force`: reads it whatever its time. A file
 * that cannot be used is said once and changes nothing.
 */
bool current_refresh(struct current *c, bool force);

#endif
