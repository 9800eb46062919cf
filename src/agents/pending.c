/* Unanswered tool calls of one transcript, oldest first; see pending.h. */

#include "agents/pending.h"

#include <string.h>

#include "agents/captures.h"
#include "base/mem.h"

static void call_done(struct pending_call *call)
{
	free(call->id);
	free(call->name);
	free(call->uuid);
	for (size_t i = 0; i < call->nfiles; i++)
		free(call->files[i]);
	*call = (struct pending_call){ 0 };
}

void pending_remove(struct pending *p, struct pending_call *call)
{
	size_t at = (size_t)(call - p->calls);
	call_done(call);
	memmove(call, call + 1, (p->n - at - 1) * sizeof(*call));
	p->n--;
	p->calls[p->n] = (struct pending_call){ 0 };
}

struct pending_call *pending_find(struct pending *p, const char *id)
{
	for (size_t i = p->n; id && i-- > 0;)
		if (!strcmp(p->calls[i].id, id))
			return &p->calls[i];
	return NULL;
}

static struct pending_call *pending_new(struct pending *p, const char *id)
{
	struct pending_call *old = pending_find(p, id);
	if (old)
		pending_remove(p, old);
	if (p->n == PENDING_MAX)
		pending_remove(p, &p->calls[0]);
	struct pending_call *call = &p->calls[p->n++];
	call->id = mem_strdup(id);
	return call;
}

struct pending_call *pending_of_process(struct pending *p, int64_t process)
{
	for (size_t i = p->n; process && i-- > 0;)
		if (p->calls[i].process == process && !p->calls[i].is_poll)
			return &p->calls[i];
	return NULL;
}

void pending_poll(struct pending *p, const char *id, int64_t process)
{
	struct pending_call *call = pending_new(p, id);
	call->process = process;
	call->is_poll = true;
}

static void call_file(struct pending_call *call, const char *path)
{
	if (path && call->nfiles < PENDING_FILES_MAX && strlen(path) <= PENDING_PATH_MAX)
		call->files[call->nfiles++] = mem_strdup(path);
}

static char *dup_or_null(const char *s)
{
	return s ? mem_strdup(s) : NULL;
}

void pending_add(struct pending *p, const struct captured_event *e)
{
	if (!e->tool_use_id)
		return;
	struct pending_call *call = pending_new(p, e->tool_use_id);
	call->name = dup_or_null(e->tool);
	call->uuid = dup_or_null(e->id);
	call->at = e->at;
	call->writes_files = e->writes_files;
	for (size_t i = 0; i < e->nfiles; i++)
		call_file(call, e->files[i]);
}

void pending_fill(const struct pending_call *call, struct arena *a, struct captured_event *e)
{
	e->tool = arena_str(a, call->name);
	e->id = arena_str(a, call->uuid);
	if (call->at)
		e->at = call->at;
	for (size_t i = 0; i < call->nfiles; i++)
		capture_file(a, e, call->files[i], call->writes_files);
}

void pending_print(const struct pending *p, struct jw *w, const char *key)
{
	jw_array(w, key);
	for (size_t i = 0; i < p->n; i++) {
		const struct pending_call *call = &p->calls[i];
		jw_object(w, NULL);
		jw_str(w, "id", call->id);
		if (call->name)
			jw_str(w, "name", call->name);
		if (call->uuid)
			jw_str(w, "uuid", call->uuid);
		jw_int(w, "at", call->at);
		if (call->writes_files)
			jw_bool(w, "writes", true);
		if (call->is_told)
			jw_bool(w, "told", true);
		if (call->process)
			jw_int(w, "process", call->process);
		if (call->is_poll)
			jw_bool(w, "poll", true);
		jw_array(w, "files");
		for (size_t j = 0; j < call->nfiles; j++)
			jw_str(w, NULL, call->files[j]);
		jw_end(w, ']');
		jw_end(w, '}');
	}
	jw_end(w, ']');
}

void pending_load(struct pending *p, const json *list)
{
	for (size_t i = 0; i < json_len(list); i++) {
		const json *j = json_at(list, i);
		const char *id = json_str(j, "id");
		if (!id)
			continue;
		struct pending_call *call = pending_new(p, id);
		call->name = dup_or_null(json_str(j, "name"));
		call->uuid = dup_or_null(json_str(j, "uuid"));
		call->at = json_int(j, "at", 0);
		call->writes_files = json_bool(j, "writes", false);
		call->is_told = json_bool(j, "told", false);
		call->process = json_int(j, "process", 0);
		call->is_poll = json_bool(j, "poll", false);
		const json *files = json_get(j, "files");
		for (size_t k = 0; k < json_len(files); k++)
			call_file(call, json_value_str(json_at(files, k)));
	}
}

void pending_done(struct pending *p)
{
	while (p->n)
		pending_remove(p, &p->calls[p->n - 1]);
}
