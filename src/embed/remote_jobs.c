/*
 * An orchestrator that runs models as jobs: one is made for each text, then they are asked after
 * until all are done. Their number at a time is small, since others wait in the same queue.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "embed/remote_parts.h"

#define JOBS_AT_ONCE 8
#define POLL_FIRST_MS 50
#define POLL_MS 500
#define JOB_ID_MAX 200
#define MESSAGE_MAX 200

struct job_open {
	size_t text;
	char id[JOB_ID_MAX];
};

static bool start(struct remote_work *w, size_t text, struct job_open *ret)
{
	AUTO(buf_done) struct buf body = { 0 }, prompt = { 0 };
	struct jw j = { .out = &body };

	remote_text(w, text, &prompt);
	jw_object(&j, NULL);
	jw_str(&j, "tool_id", "ollama");
	jw_str(&j, "job_type", "embeddings");
	jw_str(&j, "priority", "normal");
	jw_object(&j, "input_params");
	jw_str(&j, "model", w->r->c.model);
	jw_str(&j, "prompt", buf_cstr(&prompt));
	jw_end(&j, '}');
	jw_end(&j, '}');
	AUTO(json_free_ptr)
	json *reply = remote_exchange(w,
		&(struct remote_exchange){ .method = "POST", .path = "/api/jobs", .body = &body });
	if (!reply)
		return false;
	json *id = json_get(reply, "job_id");
	const char *text_id = json_value_str(id);
	*ret = (struct job_open){ .text = text };
	if (text_id)
		snprintf(ret->id, sizeof ret->id, "%s", text_id);
	else if (json_type(id) == JSON_INT)
		snprintf(ret->id, sizeof ret->id, "%lld", (long long)json_value_int(id, 0));
	/* It becomes part of a path. */
	if (!*ret->id || strspn(ret->id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					 "0123456789-_.~") != strlen(ret->id)) {
		remote_fail(
			w, CALL_SERVER, "the orchestrator gave no job_id that can be asked after");
		return false;
	}
	return true;
}

static void job_failed(struct remote_work *w, const json *job)
{
	json *error = json_get(job, "error");
	const char *why = json_value_str(error);
	bool is_too_long;

	if (!why)
		why = json_str(error, "message");
	why = why ? why : "it does not say why";
	enum call_outcome outcome = problem_class(0, why, &is_too_long);
	/* "model … not found" comes without a status here. */
	if (outcome == CALL_SERVER && str_ifind(str_of(why), "model") &&
		str_ifind(str_of(why), "not found"))
		outcome = CALL_SETUP;
	w->result->is_too_long = is_too_long;
	remote_fail(w, outcome, "the job failed: %.*s", MESSAGE_MAX, why);
}

/* True when the job is done and its vector taken. */
static bool look(struct remote_work *w, const struct job_open *job)
{
	char path[JOB_ID_MAX + 16];

	snprintf(path, sizeof path, "/api/jobs/%s", job->id);
	AUTO(json_free_ptr)
	json *reply =
		remote_exchange(w, &(struct remote_exchange){ .method = "GET", .path = path });
	const char *status = json_str(reply, "status");
	if (!reply)
		return false;
	if (!status) {
		remote_fail(w, CALL_SERVER, "the orchestrator does not say how the job stands");
		return false;
	}
	if (strcmp(status, "completed") == 0)
		return remote_take(w, job->text, json_path(reply, "output.embedding"));
	if (strcmp(status, "failed") == 0 || strcmp(status, "cancelled") == 0)
		job_failed(w, reply);
	return false;
}

/* False when the time is over, or nobody wants it any more. */
static bool pause_ms(struct remote_work *w, int ms)
{
	uint64_t now = clock_mono_us();

	if (w->call->stop && atomic_load(w->call->stop)) {
		remote_fail(w, CALL_ABORTED, "the request was given up by us");
		return false;
	}
	if (now + (uint64_t)ms * 1000 >= w->end_us) {
		remote_fail(w, CALL_TIMEOUT, "the orchestrator's job was not done in time");
		return false;
	}
	clock_sleep_us((uint64_t)ms * 1000);
	return true;
}

/* Until all of these are done, or one failed. */
static void finish(struct remote_work *w, struct job_open *jobs, size_t n)
{
	int wait = POLL_FIRST_MS;

	while (n && !remote_has_failed(w)) {
		if (!pause_ms(w, wait))
			return;
		wait = MIN(wait * 2, POLL_MS);
		for (size_t i = 0; i < n && !remote_has_failed(w);) {
			if (look(w, &jobs[i]))
				jobs[i] = jobs[--n];
			else
				i++;
		}
	}
}

void remote_jobs_run(struct remote_work *w)
{
	struct job_open jobs[JOBS_AT_ONCE];

	for (size_t i = 0; i < w->call->n && !remote_has_failed(w);) {
		size_t n = 0;
		while (n < JOBS_AT_ONCE && i < w->call->n && start(w, i, &jobs[n])) {
			n++;
			i++;
		}
		finish(w, jobs, n);
	}
}

int remote_jobs_check(struct remote *r, const json *tools, struct err *err)
{
	for (size_t i = 0; i < json_len(tools); i++) {
		const char *id = json_str(json_at(tools, i), "id");
		const char *status = json_str(json_at(tools, i), "status");
		if (!id || strcmp(id, "ollama") != 0)
			continue;
		if (status && strcmp(status, "running") == 0)
			return 0;
		return err_set(err, ERR_UPSTREAM, "the orchestrator's tool ollama is %s",
			status ? status : "in no stated state");
	}
	return err_set(err, ERR_UPSTREAM, "the orchestrator at %s has no tool ollama", r->c.url);
}

const struct remote_provider remote_jobs = {
	.name = "jobs",
	.run = remote_jobs_run,
	.check_path = "/api/tools",
};
