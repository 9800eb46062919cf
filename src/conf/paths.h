#ifndef CONF_PATHS_H
#define CONF_PATHS_H

#include "base/arena.h"
#include "base/err.h"

/*
 * Where everything lives (design: one data folder, 0700, files 0600). Strings live in the arena
 * given to paths_init.
 */

struct paths {
	const char *home;     /* $REMANENCE_HOME, else ${XDG_DATA_HOME:-~/.local/share}/remanence */
	const char *store;    /* home/remanence.db */
	const char *index;    /* home/index */
	const char *spool;    /* home/spool; tmp/, new/, bad/ below */
	const char *run;      /* home/run */
	const char *observer; /* home/run/remanence-observer: where an agent runs that is asked as a model */
	const char *socket;   /* home/run/socket */
	const char *lock;     /* home/run/lock */
	const char *token;    /* home/run/token */
	const char *starts;   /* home/run/starts: clients note here when they started the daemon; whoever sees it serve removes the file */
	const char *log;      /* home/log */
	const char *start_error; /* home/log/start-error: why the daemon could not start, one sentence; it removes the file when it serves */
	const char *backup;   /* home/backup */
	const char *settings; /* ${XDG_CONFIG_HOME:-~/.config}/remanence/settings.json */
	const char *prompts;  /* prompts/ beside it: a person's own prompts and modes for the model */
	const char *spare;    /* $XDG_RUNTIME_DIR/remanence, or NULL: where the hook writes when the disk is full */
	const char *user_home; /* $HOME, or NULL */
};

/*
 * home_override: --home, or NULL. Neither HOME nor REMANENCE_HOME set: ERR_USAGE with what to set.
 * Touches no file.
 */
int paths_init(struct paths *p, const char *home_override, struct arena *a, struct err *err);
/* Makes the folders that are missing. */
int paths_create(const struct paths *p, struct err *err);

#endif
