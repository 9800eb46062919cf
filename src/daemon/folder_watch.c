#include "daemon/folder_watch.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#ifdef __linux__

#include <sys/inotify.h>

#define EVENTS                                                                              \
	(IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE | \
		IN_DELETE_SELF | IN_MOVE_SELF | IN_ATTRIB | IN_ONLYDIR)
#define READ_BYTES (64u << 10)

/* One folder may be watched for several; the system then gives one number for it. */
struct watched {
	int number;
	int64_t id;
};

struct folder_watch {
	int fd;
	pthread_mutex_t mutex;
	struct watched *list;
	size_t n, cap;
	bool has_complained;
};

struct folder_watch *folder_watch_new(void)
{
	struct folder_watch *w = mem_alloc(sizeof(*w));

	pthread_mutex_init(&w->mutex, NULL);
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (w->fd < 0)
		log_warn("changes of markdown folders are only seen by the sweep: %s",
			strerror(errno));
	return w;
}

void folder_watch_free(struct folder_watch *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w->list);
	pthread_mutex_destroy(&w->mutex);
	free(w);
}

int folder_watch_fd(const struct folder_watch *w)
{
	return w->fd;
}

static bool is_known(const struct folder_watch *w, int number, int64_t id)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->list[i].number == number && (!id || w->list[i].id == id))
			return true;
	return false;
}

void folder_watch_add(struct folder_watch *w, int64_t id, const char *path)
{
	pthread_mutex_lock(&w->mutex);
	int number = w->fd < 0 ? -1 : inotify_add_watch(w->fd, path, EVENTS);
	if (number >= 0 && !is_known(w, number, id)) {
		MEM_GROW(w->list, w->cap, w->n + 1);
		w->list[w->n++] = (struct watched){ number, id };
	}
	if (number < 0 && w->fd >= 0 && errno == ENOSPC && !w->has_complained) {
		w->has_complained = true;
		log_warn("the system watches no more folders (fs.inotify.max_user_watches): "
			 "further ones are only seen by the sweep");
	}
	pthread_mutex_unlock(&w->mutex);
}

static void drop(struct folder_watch *w, int number, int64_t id)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->n; i++)
		if ((number && w->list[i].number != number) || (id && w->list[i].id != id))
			w->list[kept++] = w->list[i];
	w->n = kept;
}

void folder_watch_remove(struct folder_watch *w, int64_t id)
{
	pthread_mutex_lock(&w->mutex);
	for (size_t i = 0; i < w->n;) {
		int number = w->list[i].number;
		if (w->list[i].id != id) {
			i++;
			continue;
		}
		drop(w, number, id);
		if (!is_known(w, number, 0))
			inotify_rm_watch(w->fd, number);
	}
	pthread_mutex_unlock(&w->mutex);
}

/* What editors leave beside a file while they write it. */
static bool is_noise(const struct inotify_event *e)
{
	const char *name = e->len ? e->name : "";

	if (e->mask & IN_ISDIR)
		return *name == '.' && strcmp(name, ".claude");
	return (*name == '.' && strcmp(name, ".gitignore")) || str_ends(name, "~") ||
	       str_ends(name, ".swp") || str_ends(name, ".tmp") || !strcmp(name, "4913");
}

static void take(struct folder_watch *w, const struct inotify_event *e,
	void (*changed)(void *ctx, int64_t id), void *ctx)
{
	if (e->mask & IN_Q_OVERFLOW) {
		changed(ctx, 0);
		return;
	}
	if (!is_noise(e))
		for (size_t i = 0; i < w->n; i++)
			if (w->list[i].number == e->wd)
				changed(ctx, w->list[i].id);
	if (e->mask & IN_IGNORED)
		drop(w, e->wd, 0);
}

void folder_watch_read(struct folder_watch *w, void (*changed)(void *ctx, int64_t id), void *ctx)
{
	_Alignas(struct inotify_event) static _Thread_local char bytes[READ_BYTES];
	ssize_t n;

	pthread_mutex_lock(&w->mutex);
	while (w->fd >= 0 && (n = read(w->fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const struct inotify_event *)(bytes + at);
			take(w, e, changed, ctx);
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	pthread_mutex_unlock(&w->mutex);
}

#else

struct folder_watch {
	int nothing;
};

struct folder_watch *folder_watch_new(void)
{
	return mem_alloc(sizeof(struct folder_watch));
}

void folder_watch_free(struct folder_watch *w)
{
	free(w);
}

int folder_watch_fd(const struct folder_watch *w)
{
	return -1;
}

void folder_watch_add(struct folder_watch *w, int64_t id, const char *path)
{
}

void folder_watch_remove(struct folder_watch *w, int64_t id)
{
}

void folder_watch_read(struct folder_watch *w, void (*changed)(void *ctx, int64_t id), void *ctx)
{
}

#endif
