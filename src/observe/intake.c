#include "observe/intake.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "conf/project.h"
#include "observe/clean.h"
#include "text/hash.h"

#define FOLDERS_MAX 512  /* working folders remembered; above it they are all forgotten */
#define FRESH_US 1000000 /* after this an identity is read again whose signature cannot tell all */
#define FILES_MAX 256    /* files kept per event */

/* Our own tools: what they recall is known already and must not be observed as if it were new. */
static const char *const own_tools[] = { "mcp__remanence__*", "mcp__*remanence*__*", "remanence__*",
	"remanence.*" };

struct folder {
	char *cwd;
	struct arena arena; /* of the identity */
	struct project_identity identity;
	int64_t project;
	uint64_t signature, read_at;
};

struct intake {
	const struct settings *settings;
	const struct redactor *redactor;
	struct folder *folders;
	size_t nfolders, cap;
};

/* One capture on its way in. */
struct take {
	struct intake *in;
	struct store *s;
	struct arena *a;
	const struct capture *c;
	const char *spool_name;
	struct intake_result *ret;
	struct err *err;
};

struct intake *intake_new(const struct settings *settings, const struct redactor *redactor)
{
	struct intake *in = mem_alloc(sizeof(*in));

	intake_set(in, settings, redactor);
	return in;
}

void intake_set(struct intake *in, const struct settings *settings, const struct redactor *redactor)
{
	in->settings = settings;
	in->redactor = redactor;
}

static void folders_clear(struct intake *in)
{
	for (size_t i = 0; i < in->nfolders; i++) {
		free(in->folders[i].cwd);
		arena_done(&in->folders[i].arena);
	}
	in->nfolders = 0;
}

void intake_free(struct intake *in)
{
	if (!in)
		return;
	folders_clear(in);
	free(in->folders);
	free(in);
}

static void sign(uint64_t *signature, const char *dir, const char *name)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct stat st;

	if (stat(name ? path_join(&a, dir, name) : dir, &st) < 0)
		memset(&st, 0, sizeof(st));
	*signature = *signature * 1099511628211u ^ (uint64_t)st.st_mtim.tv_sec * 1000000007u ^
		     (uint64_t)st.st_mtim.tv_nsec ^ (uint64_t)st.st_ino << 20 ^
		     (uint64_t)st.st_size << 40;
}

/*
 * Changes when the identity may have: a repository made or gone, its head moved, its remotes
 * edited.
 */
static uint64_t folder_signature(const struct folder *f)
{
	uint64_t signature = 14695981039346656037u;

	sign(&signature, f->identity.root, ".git");
	sign(&signature, f->cwd, ".git");
	if (f->identity.common_dir) {
		sign(&signature, f->identity.common_dir, "HEAD");
		sign(&signature, f->identity.common_dir, "config");
	}
	return signature;
}

static bool folder_is_fresh(const struct folder *f)
{
	/* A linked worktree's head lies elsewhere; a repository may be made in any folder above. */
	if ((f->identity.worktree || !f->identity.common_dir) &&
		clock_mono_us() - f->read_at > FRESH_US)
		return false;
	return f->signature == folder_signature(f);
}

static int folder_read(struct folder *f, struct store *s, struct err *err)
{
	arena_done(&f->arena);
	f->arena = (struct arena){ 0 };
	f->identity = (struct project_identity){ 0 };
	f->project = 0;
	project_identify(&f->arena, f->cwd, &f->identity);
	f->signature = folder_signature(f);
	f->read_at = clock_mono_us();
	return store_project_resolve(s, &f->identity, &f->project, err);
}

/* The identity and project of a working folder. NULL with an error. */
static const struct folder *folder_of(struct take *t, const char *cwd)
{
	struct intake *in = t->in;
	struct folder *f = NULL;
	bool is_known;

	for (size_t i = 0; i < in->nfolders && !f; i++)
		if (strcmp(in->folders[i].cwd, cwd) == 0)
			f = &in->folders[i];
	is_known = f && f->project;
	if (is_known && folder_is_fresh(f))
		return f;
	if (!f) {
		if (in->nfolders == FOLDERS_MAX)
			folders_clear(in);
		MEM_GROW(in->folders, in->cap, in->nfolders + 1);
		f = &in->folders[in->nfolders++];
		*f = (struct folder){ .cwd = mem_strdup(cwd) };
	}
	return folder_read(f, t->s, t->err) < 0 ? NULL : f;
}

static bool list_matches(const char *const *list, const char *value)
{
	for (; value && list && *list; list++)
		if (str_glob(*list, value))
			return true;
	return false;
}

static const char *expand_home(struct arena *a, const char *path)
{
	const char *home = getenv("HOME");

	return str_starts(path, "~/") && home ? path_join(a, home, path + 2) : path;
}

/* A folder excludes what lies below it; a glob may match the folder or one above it. */
static bool folder_is_excluded(struct take *t, const char *cwd)
{
	const char *const *list = settings_list(t->in->settings, SET_CAPTURE_EXCLUDE);
	const char *dir = cwd && *cwd ? path_clean(t->a, "/", cwd) : NULL;

	for (; dir && list && *list; list++) {
		const char *pattern = expand_home(t->a, *list);
		size_t n = strlen(pattern);

		while (n > 1 && pattern[n - 1] == '/')
			n--;
		pattern = arena_dup(t->a, pattern, n);
		if (path_below(pattern, dir) || strcmp(pattern, dir) == 0)
			return true;
		for (const char *up = dir; up[0] && strcmp(up, "/") != 0;
			up = path_parent(t->a, up))
			if (str_glob(pattern, up))
				return true;
	}
	return false;
}

static const char *const shell_tools[] = { "Bash", "shell", "exec_command", "local_shell*",
	"Execute", "run_shell_command", "bash" };
static const char *const own_commands[] = { "remanence search", "remanence recall", "remanence get",
	"remanence timeline", "remanence context", "remanence facts", "remanence sessions" };

static bool name_is_in(const char *const *globs, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (str_glob(globs[i], name))
			return true;
	return false;
}

static bool is_own_tool(const struct captured_event *e)
{
	if (name_is_in(own_tools, ARRAY_LEN(own_tools), e->tool))
		return true;
	if (!name_is_in(shell_tools, ARRAY_LEN(shell_tools), e->tool))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(own_commands); i++)
		if (str_find(e->input, str_of(own_commands[i])))
			return true;
	return false;
}

static bool event_is_unwanted(struct take *t, const struct captured_event *e)
{
	if (e->kind == EVENT_TOOL &&
		list_matches(settings_list(t->in->settings, SET_CAPTURE_SKIP_TOOLS), e->tool))
		return true;
	return folder_is_excluded(t, e->cwd);
}

/* Paused, or forgotten. */
static int is_excluded(struct take *t, const struct captured_event *e, int64_t project, bool *ret)
{
	struct exclusion x = {
		.at = e ? e->at : t->c->session.started_at,
		.agent_session = t->c->session.agent_session,
		.agent = t->c->session.agent,
		.project = project,
	};

	if (e) {
		x.key = e->tool_use_id ? e->tool_use_id : e->id ? e->id : t->spool_name;
		x.text_hash = hash64(e->text.p, e->text.n);
	}
	return store_is_excluded(t->s, &x, ret, t->err);
}

static void cap(struct take *t, struct captured_event *e, struct str *field)
{
	size_t max = (size_t)settings_int(t->in->settings, SET_CAPTURE_MAX_OUTPUT);

	if (field->n <= max)
		return;
	if (!e->true_size)
		e->true_size = field->n;
	*field = utf8_head_tail(t->a, *field, max);
}

static void clean_files(struct take *t, struct captured_event *e)
{
	size_t n = MIN(e->nfiles, FILES_MAX);
	const char **files = ARENA_ARRAY(t->a, const char *, n ? n : 1);
	const char *cwd = e->cwd ? e->cwd : t->c->session.cwd;

	e->nfiles = 0;
	for (size_t i = 0; i < n; i++)
		if (e->files[i] && *e->files[i] && !strstr(e->files[i], "://"))
			files[e->nfiles++] =
				path_clean(t->a, cwd ? cwd : "/", expand_home(t->a, e->files[i]));
	e->files = files;
}

/* Cleaned, redacted and within bounds; false when nothing is left of it. */
static bool prepare(struct take *t, struct captured_event *e)
{
	if (e->kind == EVENT_TOOL && is_own_tool(e))
		e->output = (struct str){ 0 };
	if (!clean_event(t->a, t->in->redactor, e, &t->ret->redactions))
		return false;
	cap(t, e, &e->input);
	cap(t, e, &e->output);
	cap(t, e, &e->diff);
	cap(t, e, &e->text);
	clean_files(t, e);
	return true;
}

/* The project of a working folder; without one, that of the session as it is known. */
static int project_of(struct take *t, const char *cwd, int64_t *ret, const char **ret_branch)
{
	const struct folder *f;
	struct session known;
	int64_t id = 0;

	if (cwd && *cwd) {
		f = folder_of(t, cwd);
		if (!f)
			return -1;
		*ret = f->project;
		*ret_branch = f->identity.branch;
		return 0;
	}
	*ret = 0;
	if (store_session_find(
		    t->s, t->c->session.agent, t->c->session.agent_session, &id, t->err) < 0)
		return -1;
	if (id && store_session_get(t->s, t->a, id, &known, t->err) == 0)
		*ret = known.project;
	return 0;
}

/* Writes the session once, when the first thing of it is kept. */
static int session_put(struct take *t)
{
	struct captured_session c = t->c->session;
	const char *branch = NULL, *cwd = c.cwd;
	int64_t project;

	if (t->ret->session)
		return 0;
	for (size_t i = 0; i < t->c->nevents && !cwd; i++)
		cwd = t->c->events[i].cwd;
	if (project_of(t, cwd, &project, &branch) < 0)
		return -1;
	if (!c.branch && t->spool_name)
		c.branch = branch;
	t->ret->project = project;
	return store_session_put(t->s, &c, project, &t->ret->session, t->err);
}

static int event_put(struct take *t, struct captured_event *e, int64_t project)
{
	struct event_put put = { .session = t->ret->session,
		.project = project,
		.agent = t->c->session.agent,
		.event = e,
		.spool_name = t->spool_name };
	enum put_result result;
	int64_t id;

	if (store_event_put(t->s, &put, &result, &id, t->err) < 0)
		return -1;
	switch (result) {
	case PUT_NEW:
		t->ret->new_events++;
		break;
	case PUT_MERGED:
		t->ret->merged_events++;
		break;
	case PUT_SAME:
		t->ret->same_events++;
		break;
	case PUT_EXCLUDED:
		t->ret->excluded_events++;
		break;
	}
	return 0;
}

static int take_event(struct take *t, const struct captured_event *original)
{
	struct captured_event e = *original;
	const char *branch = NULL;
	bool excluded = false;
	int64_t project;

	if (event_is_unwanted(t, &e)) {
		t->ret->excluded_events++;
		return 0;
	}
	if (!prepare(t, &e)) {
		t->ret->same_events++;
		return 0;
	}
	if (project_of(t, e.cwd ? e.cwd : t->c->session.cwd, &project, &branch) < 0 ||
		is_excluded(t, &e, project, &excluded) < 0)
		return -1;
	if (excluded) {
		t->ret->excluded_events++;
		return 0;
	}
	/*
	 * A hook tells of now, so that the head as it stands is the event's; a transcript may be a
	 * year old.
	 */
	if (!e.branch && t->spool_name)
		e.branch = branch;
	if (session_put(t) < 0)
		return -1;
	return event_put(t, &e, project);
}

/* A capture without events still tells of its session: a title, an end. */
static int take_session(struct take *t)
{
	const char *branch = NULL;
	bool excluded = false;
	int64_t project;

	if (t->c->nevents || !t->c->session.agent_session)
		return 0;
	if (project_of(t, t->c->session.cwd, &project, &branch) < 0 ||
		is_excluded(t, NULL, project, &excluded) < 0)
		return -1;
	return excluded ? 0 : session_put(t);
}

int intake_take(struct intake *in, struct store *s, struct arena *a, const struct capture *c,
	const char *spool_name, struct intake_result *ret, struct err *err)
{
	struct take t = {
		.in = in, .s = s, .a = a, .c = c, .spool_name = spool_name, .ret = ret, .err = err
	};

	ret->session = ret->project = 0;
	if ((c->session.is_headless && !settings_bool(in->settings, SET_CAPTURE_HEADLESS)) ||
		folder_is_excluded(&t, c->session.cwd)) {
		ret->excluded_events += c->nevents;
		return 0;
	}
	for (size_t i = 0; i < c->nevents; i++)
		if (take_event(&t, &c->events[i]) < 0)
			return -1;
	return take_session(&t);
}
