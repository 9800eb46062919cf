#include "daemon/current.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

struct generation {
	struct settings *settings;
	struct redactor *redactor;
	struct generation *before;
};

struct current {
	char *path;
	pthread_mutex_t mutex; /* of reading anew */
	struct timespec mtime;
	off_t size;
	_Atomic(struct generation *) now;
};

static const struct {
	const char *name;
	enum log_level level;
} level_names[] = { { "error", LOG_ERROR }, { "warn", LOG_WARN }, { "info", LOG_INFO },
	{ "debug", LOG_DEBUG } };

static void level_set(const struct settings *s)
{
	const char *wanted = settings_text(s, SET_LOG_LEVEL);
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
		if (wanted && str_ieq(wanted, level_names[i].name))
			log_set_level(level_names[i].level);
}

static void say_warnings(const struct buf *warnings)
{
	struct str rest = { buf_cstr(warnings), warnings->len }, line;
	while (str_line(&rest, &line))
		if (line.n)
			log_warn("settings: %.*s", (int)line.n, line.p);
}

/* A bad pattern of the user's must not stop the redaction by ours. */
static int redactor_make(const struct settings *s, struct redactor **ret, struct err *err)
{
	struct err bad = { 0 };
	if (!redactor_new(settings_list(s, SET_REDACT_PATTERNS), ret, &bad))
		return 0;
	log_error("redact.patterns: %s; none of them holds", bad.text);
	return redactor_new(NULL, ret, err);
}

static int generation_load(struct current *c, struct err *err)
{
	AUTO(buf_done) struct buf warnings = { .max = 64 << 10 };
	struct settings *settings;
	struct redactor *redactor;
	if (settings_load(c->path, &settings, &warnings, err))
		return -1;
	say_warnings(&warnings);
	if (redactor_make(settings, &redactor, err)) {
		settings_free(settings);
		return -1;
	}
	struct generation *g = mem_alloc(sizeof(*g));
	*g = (struct generation){ settings, redactor, atomic_load(&c->now) };
	atomic_store(&c->now, g);
	level_set(settings);
	return 0;
}

/* Takes note of the file's state. True when it is another than before. */
static bool file_has_changed(struct current *c)
{
	struct stat st;
	if (stat(c->path, &st))
		st = (struct stat){ .st_size = -1 };
	bool is_other = st.st_mtim.tv_sec != c->mtime.tv_sec ||
			st.st_mtim.tv_nsec != c->mtime.tv_nsec || st.st_size != c->size;
	c->mtime = st.st_mtim;
	c->size = st.st_size;
	return is_other;
}

struct current *current_open(const char *path, struct err *err)
{
	struct current *c = mem_alloc(sizeof(*c));
	c->path = mem_strdup(path);
	pthread_mutex_init(&c->mutex, NULL);
	file_has_changed(c);
	if (!generation_load(c, err))
		return c;
	current_close(c);
	return NULL;
}

void current_close(struct current *c)
{
	if (!c)
		return;
	struct generation *g = atomic_load(&c->now);
	while (g) {
		struct generation *before = g->before;
		settings_free(g->settings);
		redactor_free(g->redactor);
		free(g);
		g = before;
	}
	pthread_mutex_destroy(&c->mutex);
	free(c->path);
	free(c);
}

const struct settings *current_settings(struct current *c)
{
	return atomic_load(&c->now)->settings;
}

const struct redactor *current_redactor(struct current *c)
{
	return atomic_load(&c->now)->redactor;
}

bool current_refresh(struct current *c, bool force)
{
	struct err err = { 0 };
	pthread_mutex_lock(&c->mutex);
	bool has_changed = file_has_changed(c) || force;
	bool is_read = has_changed && !generation_load(c, &err);
	pthread_mutex_unlock(&c->mutex);
	if (has_changed && !is_read)
		log_error("the settings as they were still hold: %s", err.text);
	else if (is_read)
		log_info("the settings were read anew");
	return is_read;
}
