/* The name under which memories are stored stays the same whatever environment the daemon was started from. */
#include "daemon/author.h"

#include <pwd.h>
#include <unistd.h>

#include "store/author.h"

int author_name(struct arena *a, const struct settings *s, const char **ret, struct err *err)
{
	const char *name = settings_text(s, SET_AUTHOR);

	if (!name || !*name) {
		/* A container's user often has no name. */
		const struct passwd *p = getpwuid(getuid());
		name = p && p->pw_name && !author_check(p->pw_name, NULL)
			       ? p->pw_name
			       : arena_printf(a, "user%ld", (long)getuid());
	}
	if (author_check(name, err))
		return -1;
	*ret = arena_str(a, name);
	return 0;
}
