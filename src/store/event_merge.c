/*
 * Merging of two copies of one event, field by field: unknown < hook < transcript, and never from
 * known to unknown. The mask `said` holds which fields a transcript has given, so that the result
 * does not depend on who came first. Every rule here is idempotent.
 */
#include "store/room.h"

#include <string.h>

#include "base/mem.h"

/* May a field that is known be replaced? A field that was empty always may. */
static bool may_take(struct event_row *to, const struct event_row *from, int bit, bool is_known)
{
	bool is_said = from->said & bit;
	bool takes = !is_known || (is_said && !(to->said & bit));

	if (is_said)
		to->said |= bit;
	return takes;
}

static bool merge_text(struct event_row *to, const struct event_row *from, int bit,
	struct str *value, struct str other)
{
	if (!other.n || !may_take(to, from, bit, value->n > 0) || str_eq(*value, other))
		return false;
	*value = other;
	return true;
}

static bool merge_name(struct event_row *to, const struct event_row *from, int bit,
	const char **value, const char *other)
{
	if (!other || !may_take(to, from, bit, *value != NULL) ||
		(*value && strcmp(*value, other) == 0))
		return false;
	*value = other;
	return true;
}

/* Of equals the graver status holds: a result that came in two lines failed when one of them
 * says so. */
static bool merge_status(struct event_row *to, const struct event_row *from)
{
	bool was_said = to->said & SAID_STATUS, is_said = from->said & SAID_STATUS;

	if (from->status == STATUS_UNKNOWN)
		return false;
	bool takes = was_said == is_said ? from->status > to->status
					 : is_said || to->status == STATUS_UNKNOWN;
	if (is_said)
		to->said |= SAID_STATUS;
	if (!takes || to->status == from->status)
		return false;
	to->status = from->status;
	return true;
}

/* A tool call began at the earliest time that anybody of equal rank tells. */
static bool merge_time(struct event_row *to, const struct event_row *from)
{
	bool was_said = to->said & SAID_AT, is_said = from->said & SAID_AT;

	if (!from->at)
		return false;
	bool takes = !to->at || (was_said == is_said ? from->at < to->at : is_said);
	if (is_said)
		to->said |= SAID_AT;
	if (!takes || to->at == from->at)
		return false;
	to->at = from->at;
	return true;
}

static bool merge_files(struct arena *a, struct event_row *to, const struct event_row *from)
{
	size_t i = 0, j = 0, n = 0;

	if (!from->nfiles)
		return false;
	const char **both = ARENA_ARRAY(a, const char *, to->nfiles + from->nfiles);
	while ((i < to->nfiles || j < from->nfiles) && n < EVENT_FILES_MAX) {
		int order = i == to->nfiles     ? 1
			    : j == from->nfiles ? -1
						: strcmp(to->files[i], from->files[j]);
		both[n++] = order <= 0 ? to->files[i] : from->files[j];
		i += order <= 0;
		j += order >= 0;
	}
	bool is_changed = n != to->nfiles;
	to->files = both;
	to->nfiles = n;
	return is_changed;
}

bool event_merge(struct arena *a, struct event_row *to, const struct event_row *from)
{
	bool is_changed = false;
	int flags = to->flags | (from->flags & (FLAG_WRITES | FLAG_META));

	is_changed |= merge_text(to, from, SAID_TEXT, &to->text, from->text);
	is_changed |= merge_text(to, from, SAID_INPUT, &to->input, from->input);
	is_changed |= merge_text(to, from, SAID_OUTPUT, &to->output, from->output);
	is_changed |= merge_text(to, from, SAID_DIFF, &to->diff, from->diff);
	is_changed |= merge_name(to, from, SAID_TURN, &to->agent_turn, from->agent_turn);
	is_changed |= merge_name(to, from, SAID_TOOL, &to->tool, from->tool);
	is_changed |= merge_name(to, from, SAID_CWD, &to->cwd, from->cwd);
	is_changed |= merge_name(to, from, SAID_BRANCH, &to->branch, from->branch);
	is_changed |= merge_status(to, from);
	is_changed |= merge_time(to, from);
	is_changed |= merge_files(a, to, from);
	if (from->exit_code >= 0 && may_take(to, from, SAID_EXIT, to->exit_code >= 0) &&
		to->exit_code != from->exit_code) {
		to->exit_code = from->exit_code;
		is_changed = true;
	}
	if (!to->subagent && from->subagent) {
		to->subagent = from->subagent;
		is_changed = true;
	}
	if (flags != to->flags || from->true_size > to->true_size || from->source > to->source)
		is_changed = true;
	to->flags = flags;
	to->true_size = MAX(to->true_size, from->true_size);
	to->source = MAX(to->source, from->source);
	return is_changed;
}

static bool same_name(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool event_equal(const struct event_row *a, const struct event_row *b)
{
	if (a->at != b->at || a->kind != b->kind || a->source != b->source ||
		a->status != b->status || a->exit_code != b->exit_code ||
		(a->flags & ~FLAG_LOOSE) != (b->flags & ~FLAG_LOOSE) ||
		a->true_size != b->true_size || a->said != b->said || a->nfiles != b->nfiles)
		return false;
	if (!same_name(a->key, b->key) || !same_name(a->subagent, b->subagent) ||
		!same_name(a->tool, b->tool) || !same_name(a->cwd, b->cwd) ||
		!same_name(a->branch, b->branch) || !same_name(a->agent_turn, b->agent_turn))
		return false;
	for (size_t i = 0; i < a->nfiles; i++)
		if (strcmp(a->files[i], b->files[i]) != 0)
			return false;
	return str_eq(a->text, b->text) && str_eq(a->input, b->input) &&
	       str_eq(a->output, b->output) && str_eq(a->diff, b->diff);
}
