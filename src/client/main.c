/*
 * remanence: the client. The hook comes first: it runs at every step of every session, and needs
 * nothing of the rest.
 */
#include <string.h>

#include "client/client.h"
#include "client/hook.h"

/* `remanence hook --help` is a person's. */
static bool is_hook(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "hook") != 0)
		return false;
	return argc < 3 || (strcmp(argv[2], "--help") != 0 && strcmp(argv[2], "-h") != 0);
}

int main(int argc, char **argv)
{
	if (is_hook(argc, argv))
		return hook_main(argc - 2, argv + 2, NULL);
	return client_main(argc, argv);
}
