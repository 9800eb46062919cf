#ifndef DAEMON_FOLDER_WATCH_H
#define DAEMON_FOLDER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the system tells of changes below folders (inotify). Where it tells nothing the descriptor
 * is -1 and the sweep has to do. Any thread.
 */

struct folder_watch;
struct folder_watch *folder_watch_new(void);
void folder_watch_free(struct folder_watch *w); /* NULL is fine */
int folder_watch_fd(const struct folder_watch *w); /* readable when there is something; -1: never */
/* Watches one folder, not those below it, for the sake of `id`. */
void folder_watch_add(struct folder_watch *w, int64_t id, const char *path);
void folder_watch_remove(struct folder_watch *w, int64_t id);
/* Calls changed(ctx, id) for each change that may matter; id 0: changes were missed, all may have some. */
void folder_watch_read(struct folder_watch *w, void (*changed)(void *ctx, int64_t id), void *ctx);

#endif
