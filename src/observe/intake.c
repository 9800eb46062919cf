#include "observe/intake.h"

#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "llm/llm.h"
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
	uint64_t signature, read_at, looked_at;
};

struct intake {
	const struct settings *settings;
	const struct redactor *redactor;
	struct folder *folders;
	size_t nfolders, cap;
	size_t last; /* that was asked for */
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
	in->nfolders = in->last = 0;
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

/* What hooks tell is of now; for what transcripts tell of, a look in a while will do. */
static bool folder_is_fresh(struct folder *f, bool is_of_now)
{
	uint64_t now = clock_mono_us();

	/* A linked worktree's head lies elsewhere; a repository may be made in any folder above. */
	if ((f->identity.worktree || !f->identity.common_dir) && now - f->read_at > FRESH_US)
		return false;
	if (!is_of_now && now - f->looked_at <= FRESH_US)
		return true;
	f->looked_at = now;
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
	f->read_at = f->looked_at = clock_mono_us();
	return store_project_resolve(s, &f->identity, &f->project, err);
}

/* Events of one folder come one after another. */
static struct folder *folder_find(struct intake *in, const char *cwd)
{
	for (size_t i = 0; i < in->nfolders; i++) {
		size_t at = (in->last + i) % in->nfolders;

		if (strcmp(in->folders[at].cwd, cwd) == 0) {
			in->last = at;
			return &in->folders[at];
		}
	}
	return NULL;
}

/* The identity and project of a working folder. NULL with an error. */
static const struct folder *folder_of(struct take *t, const char *cwd)
{
	struct intake *in = t->in;
	struct folder *f = folder_find(in, cwd);
	bool is_known = f && f->project;

	if (is_known && folder_is_fresh(f, t->spool_name != NULL))
		return f;
	if (!f) {
		if (in->nfolders == FOLDERS_MAX)
			folders_clear(in);
		MEM_GROW(in->folders, in->cap, in->nfolders + 1);
		in->last = in->nfolders;
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

	/* An agent that is asked as a model: what it was sent is ours. */
	if (dir && strcmp(path_base(dir), LLM_FOLDER) == 0)
		return true;
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

/* One capture being cleaned. */
struct cleaning {
	const struct settings *settings;
	const struct redactor *redactor;
	struct arena *a;
	struct capture *c;
};

static void cap(struct cleaning *k, struct captured_event *e, struct str *field)
{
	size_t max = (size_t)settings_int(k->settings, SET_CAPTURE_MAX_OUTPUT);

	if (field->n <= max)
		return;
	if (!e->true_size)
		e->true_size = field->n;
	*field = utf8_head_tail(k->a, *field, max);
}

static void clean_files(struct cleaning *k, struct captured_event *e)
{
	size_t n = MIN(e->nfiles, FILES_MAX);
	const char **files = ARENA_ARRAY(k->a, const char *, n ? n : 1);
	const char *cwd = e->cwd ? e->cwd : k->c->session.cwd;

	for (size_t i = n = 0; i < MIN(e->nfiles, FILES_MAX); i++)
		if (e->files[i] && *e->files[i] && !strstr(e->files[i], "://"))
			files[n++] =
				path_clean(k->a, cwd ? cwd : "/", expand_home(k->a, e->files[i]));
	e->files = files;
	e->nfiles = n;
}

/* Cleaned, redacted and within bounds; false when nothing is left of it. */
static bool event_clean(struct cleaning *k, struct captured_event *e)
{
	if (e->kind == EVENT_TOOL && is_own_tool(e))
		e->output = (struct str){ 0 };
	e->redactions = 0;
	if (!clean_event(k->a, k->redactor, e, &e->redactions)) {
		k->c->redactions += e->redactions;
		return false;
	}
	cap(k, e, &e->input);
	cap(k, e, &e->output);
	cap(k, e, &e->diff);
	cap(k, e, &e->text);
	clean_files(k, e);
	return true;
}

void intake_clean(const struct settings *settings, const struct redactor *redactor, struct arena *a,
	struct capture *c)
{
	struct cleaning k = { settings, redactor, a, c };
	size_t n = 0;

	for (size_t i = 0; i < c->nevents; i++)
		if (event_clean(&k, &c->events[i]))
			c->events[n++] = c->events[i];
	c->nempty = c->nevents - n;
	c->nevents = n;
	c->is_clean = true;
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
	if (id && store_session_of(t->s, t->a, id, &known, t->err) == 0)
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
		t->ret->merged_events += e->later != NULL;
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

/*
 * Both tellings of a call are looked at: what was paused or forgotten between them leaves one. True
 * when something is left to store.
 */
static int leave_out(struct take *t, struct captured_event *e, int64_t project, bool *ret)
{
	bool is_out = false, is_later_out = false;

	if (is_excluded(t, e, project, &is_out) < 0 ||
		(e->later && is_excluded(t, e->later, project, &is_later_out) < 0))
		return -1;
	t->ret->excluded_events += is_out + is_later_out;
	if (is_out && e->later && !is_later_out) {
		*e = *e->later;
		is_out = false;
	} else if (is_later_out) {
		e->later = NULL;
	}
	*ret = is_out;
	return 0;
}

static int take_event(struct take *t, const struct captured_event *original)
{
	struct captured_event e = *original;
	const char *branch = NULL;
	bool excluded = false;
	int64_t project;

	if (event_is_unwanted(t, &e)) {
		t->ret->excluded_events += 1 + (e.later != NULL);
		return 0;
	}
	t->ret->redactions += e.redactions + (e.later ? e.later->redactions : 0);
	if (project_of(t, e.cwd ? e.cwd : t->c->session.cwd, &project, &branch) < 0 ||
		leave_out(t, &e, project, &excluded) < 0)
		return -1;
	if (excluded)
		return 0;
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

	if (t->c->nevents || t->c->nempty || !t->c->session.agent_session)
		return 0;
	if (project_of(t, t->c->session.cwd, &project, &branch) < 0 ||
		is_excluded(t, NULL, project, &excluded) < 0)
		return -1;
	return excluded ? 0 : session_put(t);
}

int intake_take(struct intake *in, struct store *s, struct arena *a, const struct capture *c,
	const char *spool_name, struct intake_result *ret, struct err *err)
{
	struct capture own = *c;
	struct take t = { .in = in,
		.s = s,
		.a = a,
		.c = &own,
		.spool_name = spool_name,
		.ret = ret,
		.err = err };

	ret->session = ret->project = 0;
	if ((c->session.is_headless && !settings_bool(in->settings, SET_CAPTURE_HEADLESS)) ||
		folder_is_excluded(&t, c->session.cwd)) {
		ret->excluded_events += c->nevents + c->nempty;
		return 0;
	}
	if (!own.is_clean) {
		if (own.nevents)
			own.events = arena_dup(a, c->events, c->nevents * sizeof(*c->events));
		intake_clean(in->settings, in->redactor, a, &own);
	}
	ret->same_events += own.nempty;
	ret->redactions += own.redactions;
	for (size_t i = 0; i < own.nevents; i++)
		if (take_event(&t, &own.events[i]) < 0)
			return -1;
	return take_session(&t);
}
