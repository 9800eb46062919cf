#include "daemon/environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf/environment.h"

extern char **environ;

void environment_clean(void)
{
	size_t n = 0;
	for (char **e = environ; e && *e; e++)
		if (environment_keeps(*e))
			environ[n++] = *e;
	if (environ)
		environ[n] = NULL;
}

void environment_close_descriptors(void)
{
	static const unsigned first = 3;
	for (int fd = 0; fd < (int)first; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
#ifdef __linux__
	if (!close_range(first, ~0u, 0))
		return;
#endif
	long max = sysconf(_SC_OPEN_MAX);
	for (long fd = first; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		close((int)fd);
}
