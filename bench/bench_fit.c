/*
 * The ranking alone, asked the questions of a set: prints for each the place of the first right
 * session. Used by bench/fit, which tries weights and leaves folds out.
 *
 *   bench_fit INDEX QUESTIONS [NAME=VALUE[,NAME=VALUE …]]…
 *
 * QUESTIONS: a line each, tabs between: project, sessions that are right (commas), now (Unix ms),
 * text. For each set of weights one line: the places (0: not found), separated by blanks.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "index/query.h"
#include "index/weights.h"

#define RIGHT_MAX 64
#define LIMIT 100

struct question {
	uint32_t project, right[RIGHT_MAX];
	size_t nright;
	int64_t now;
	char *text;
};

struct set {
	struct question *items;
	size_t n, cap;
};

static char *field(char **rest)
{
	char *start = *rest, *end = strchr(start, '\t');
	if (end)
		*end = '\0';
	*rest = end ? end + 1 : start + strlen(start);
	return start;
}

static void read_question(struct set *s, char *line)
{
	struct question q = { 0 };
	line[strcspn(line, "\n")] = '\0';
	q.project = (uint32_t)strtoul(field(&line), NULL, 10);
	for (char *p = field(&line); *p && q.nright < RIGHT_MAX; p += *p == ',')
		q.right[q.nright++] = (uint32_t)strtoul(p, &p, 10);
	q.now = strtoll(field(&line), NULL, 10);
	q.text = strdup(line);
	MEM_GROW(s->items, s->cap, s->n + 1);
	s->items[s->n++] = q;
}

static void read_questions(struct set *s, const char *path)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen(path, "r");
	if (!f)
		die("cannot open '%s'", path);
	while (getline(&line, &cap, f) > 0)
		read_question(s, line);
	free(line);
	fclose(f);
}

static void set_weight(const char *name, double value)
{
	for (size_t i = 0; i < weight_count; i++) {
		if (strcmp(weight_names[i].name, name) != 0)
			continue;
		*weight_names[i].value = value;
		return;
	}
	die("there is no weight '%s'", name);
}

static void set_weights(const char *text)
{
	char *copy = strdup(text), *rest = NULL;
	for (char *p = strtok_r(copy, ",", &rest); p; p = strtok_r(NULL, ",", &rest)) {
		char *value = strchr(p, '=');
		if (!value)
			die("'%s' is no NAME=VALUE", p);
		*value = '\0';
		set_weight(p, atof(value + 1));
	}
	free(copy);
}

static size_t place_of(struct index *ix, struct analyser *an, const struct question *q)
{
	AUTO(arena_done) struct arena a = { 0 };
	struct query_filter filter;
	struct search_result r;
	struct search s = { .query = query_parse(&a, an, str_of(q->text), &filter),
		.filter = { .project = q->project },
		.limit = LIMIT,
		.by_session = true,
		.now = q->now };
	if (index_search(ix, &a, &s, &r, NULL) != 0)
		die("a search failed");
	for (size_t i = 0; i < r.n; i++)
		for (size_t k = 0; k < q->nright; k++)
			if (r.hits[i].columns.session == q->right[k])
				return i + 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct set s = { 0 };
	struct index *ix;
	struct err err;
	bool needs_rebuild;
	for (size_t i = 0; argc == 2 && strcmp(argv[1], "--weights") == 0 && i < weight_count; i++)
		printf("%s=%g\n", weight_names[i].name, *weight_names[i].value);
	if (argc == 2)
		return 0;
	if (argc < 3)
		die("bench_fit INDEX QUESTIONS [NAME=VALUE,…]…");
	if (index_open(argv[1], &ix, &needs_rebuild, &err) != 0 || needs_rebuild)
		die("cannot open the index in '%s'", argv[1]);
	read_questions(&s, argv[2]);
	struct analyser *an = analyser_new();
	struct weights start = index_weights;
	for (int i = 3; i <= argc; i++) {
		if (i == argc && argc > 3)
			break;
		index_weights = start;
		if (i < argc)
			set_weights(argv[i]);
		for (size_t k = 0; k < s.n; k++)
			printf("%s%zu", k ? " " : "", place_of(ix, an, &s.items[k]));
		puts("");
	}
	index_close(ix);
	return 0;
}
