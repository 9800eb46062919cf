#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/store.h"

/* A store in a folder of its own, open for writing, and an arena for what is read. */

struct fixture {
	struct arena arena;
	char root[64];
	char url[160], path[128];
	struct store *s;
	struct err err;
};

#define ok(expression)                                                \
	do {                                                          \
		f->err.text[0] = '\0';                                \
		if ((expression) != 0)                                \
			fail_msg("%s: %s", #expression, f->err.text); \
	} while (0)

static inline int fixture_open(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->root, sizeof(f->root), "/tmp/remanence-unit-XXXXXX");
	assert_non_null(mkdtemp(f->root));
	snprintf(f->path, sizeof(f->path), "%s/remanence.db", f->root);
	snprintf(f->url, sizeof(f->url), "sqlite:%s", f->path);
	ok(store_open(f->url, DB_CREATE, NULL, &f->s, &f->err));
	*state = f;
	return 0;
}

static inline int fixture_close(void **state)
{
	struct fixture *f = *state;

	store_close(f->s);
	file_remove_tree(f->root, NULL);
	arena_done(&f->arena);
	free(f);
	return 0;
}

static inline int64_t make_project(struct fixture *f, const char *path)
{
	const struct project_identity p = { .root = path, .path = path, .name = path_base(path) };
	int64_t id;

	ok(store_project_resolve(f->s, &p, &id, &f->err));
	return id;
}

static inline int64_t make_session(struct fixture *f, const char *name, int64_t project)
{
	const struct captured_session c = {
		.agent = AGENT_CLAUDE, .agent_session = name, .cwd = "/src/app"
	};
	int64_t id;

	ok(store_session_put(f->s, &c, project, &id, &f->err));
	return id;
}

static inline enum put_result put_event(struct fixture *f, int64_t session,
	const struct captured_event *e, const char *spool_name, int64_t *ret_id)
{
	const struct event_put p = {
		.session = session, .agent = AGENT_CLAUDE, .event = e, .spool_name = spool_name
	};
	enum put_result result;

	ok(store_event_put(f->s, &p, &result, ret_id, &f->err));
	return result;
}

/* Does any file below the root hold these bytes? */
static inline bool tree_holds(const char *dir, const void *needle, size_t n)
{
	AUTO(arena_done) struct arena a = { 0 };
	char **names;
	size_t count;

	assert_int_equal(file_list(&a, dir, &names, &count, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		AUTO(buf_done) struct buf b = { 0 };
		const char *path = path_join(&a, dir, names[i]);
		if (file_is_dir(path)) {
			if (tree_holds(path, needle, n))
				return true;
			continue;
		}
		assert_int_equal(file_read(path, (size_t)1 << 30, &b, NULL), 0);
		if (b.len >= n && memmem(b.data, b.len, needle, n))
			return true;
	}
	return false;
}

#endif
