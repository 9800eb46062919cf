/*
 * entities: a table of names by kind and count; of one name its numbers, history, company and
 * memories.
 */
#include "client/render.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

#define NAME_WIDTH_MAX 48
#define KIND_WIDTH 9
#define COUNT_WIDTH 9
#define BAR_WIDTH 30

static int name_width(const json *rows)
{
	int width = (int)strlen("entity");

	for (size_t i = 0; i < json_len(rows); i++)
		width = MAX(width, term_columns(json_slice(json_get(json_at(rows, i), "name"))));
	return MIN(width, NAME_WIDTH_MAX);
}

static void heading(struct client *c, int width)
{
	struct term *t = &c->term;

	if (c->is_quiet)
		return;
	term_cell(t, DIM, "entity", width, false);
	term_cell(t, DIM, "  kind", KIND_WIDTH + 2, false);
	term_cell(t, DIM, "mentions", COUNT_WIDTH, true);
	term_cell(t, DIM, "sessions", COUNT_WIDTH + 1, true);
	term_cell(t, DIM, "first", 13, true);
	term_cell(t, DIM, "last", 13, true);
	term_newline(t);
}

static void table(struct client *c, const json *rows)
{
	struct term *t = &c->term;
	int width = name_width(rows);

	heading(c, width);
	for (size_t i = 0; i < json_len(rows); i++) {
		const json *e = json_at(rows, i);
		term_cell(t, BOLD, json_str(e, "name"), width, false);
		term_indent(t, 2);
		term_cell(t, NAME, json_str(e, "kind"), KIND_WIDTH, false);
		term_cell(t, PLAIN, term_count(&t->arena, json_int(e, "mentions", 0)), COUNT_WIDTH,
			true);
		term_cell(t, PLAIN, term_count(&t->arena, json_int(e, "sessions", 0)),
			COUNT_WIDTH + 1, true);
		term_cell(t, DIM, clock_day(&t->arena, json_int(e, "first_at", 0)), 13, true);
		term_cell(t, DIM, clock_day(&t->arena, json_int(e, "last_at", 0)), 13, true);
		term_newline(t);
	}
}

static void months(struct client *c, const json *list)
{
	struct term *t = &c->term;
	int64_t most = 1;

	for (size_t i = 0; i < json_len(list); i++)
		most = MAX(most, json_int(json_at(list, i), "mentions", 0));
	for (size_t i = 0; i < json_len(list); i++) {
		const json *m = json_at(list, i);
		int64_t n = json_int(m, "mentions", 0), bar = (n * BAR_WIDTH + most - 1) / most;
		term_cell(t, DIM, json_str(m, "month"), 8, false);
		term_cell(t, PLAIN, term_count(&t->arena, n), 7, true);
		term_indent(t, 2);
		for (int64_t k = 0; k < bar; k++)
			term_put(t, NAME, "▪");
		term_newline(t);
	}
}

static void neighbours(struct client *c, const json *list)
{
	struct term *t = &c->term;

	term_put(t, DIM, "with    ");
	for (size_t i = 0; i < json_len(list); i++) {
		const json *o = json_at(list, i);
		term_printf(t, PLAIN, "%s%s ", i ? ", " : "", json_str(o, "name"));
		term_put(t, DIM, term_count(&t->arena, json_int(o, "together", 0)));
	}
	term_newline(t);
}

void render_entities(struct client *c, const json *reply)
{
	const json *rows = json_get(reply, "entities"), *memories = json_get(reply, "memories");
	int64_t total = json_int(reply, "total", 0);

	if (!json_len(rows)) {
		render_nothing(c, "Nothing is mentioned here yet.",
			"Entities come with the first sessions; `--project all` looks everywhere.");
		return;
	}
	table(c, rows);
	if (!json_str(reply, "name")) {
		if (total > (int64_t)json_len(rows))
			render_footer(
				c, arena_printf(&c->term.arena,
					   "%zu of %s · --kind filters",
					   json_len(rows), term_count(&c->term.arena, total)));
		return;
	}
	term_newline(&c->term);
	months(c, json_get(reply, "months"));
	if (json_len(json_get(reply, "neighbours")))
		neighbours(c, json_get(reply, "neighbours"));
	if (json_len(memories))
		term_newline(&c->term);
	for (size_t i = 0; i < json_len(memories); i++)
		render_hit(c, json_at(memories, i), true);
}
