/*
 * Diffs as agents tell them; see diff.h. Every builder goes through diff_line, which keeps the
 * ceiling.
 */

#include "agents/diff.h"

#include <stdio.h>
#include <string.h>

#include "agents/captures.h"
#include "base/mem.h"

#define DIFF_CONTEXT 3

static void diff_line(struct buf *b, const char *prefix, struct str line)
{
	size_t need = strlen(prefix) + line.n + 1;
	if (b->is_full || b->len + need > CAPTURE_DIFF_MAX) {
		b->is_full = true;
		return;
	}
	buf_str(b, prefix);
	buf_add(b, line.p ? line.p : "", line.n);
	buf_char(b, '\n');
}

static void diff_lines(struct buf *b, const char *prefix, struct str text)
{
	struct str line;
	while (!b->is_full && str_line(&text, &line))
		diff_line(b, prefix, line);
}

static size_t count_lines(struct str text)
{
	size_t n = 0;
	struct str line;
	while (str_line(&text, &line))
		n++;
	return n;
}

static struct str diff_take(struct arena *a, const struct buf *b)
{
	return capture_copy(a, (struct str){ buf_cstr(b), b->len });
}

static void diff_head(struct buf *b, const char *from, const char *to)
{
	diff_line(b, "--- ", str_of(from));
	diff_line(b, "+++ ", str_of(to));
}

static void diff_hunk_head(struct buf *b, const int64_t range[4])
{
	char head[120];
	int n = snprintf(head, sizeof(head), "@@ -%lld,%lld +%lld,%lld @@", (long long)range[0],
		(long long)range[1], (long long)range[2], (long long)range[3]);
	diff_line(b, "", (struct str){ head, (size_t)n });
}

struct str diff_of_hunks(struct arena *a, const char *path, const json *hunks)
{
	if (!json_len(hunks))
		return (struct str){ "", 0 };
	AUTO(buf_done) struct buf b = { 0 };
	diff_head(&b, path ? path : "file", path ? path : "file");
	for (size_t i = 0; i < json_len(hunks) && !b.is_full; i++) {
		const json *h = json_at(hunks, i);
		const int64_t range[4] = { json_int(h, "oldStart", 0), json_int(h, "oldLines", 0),
			json_int(h, "newStart", 0), json_int(h, "newLines", 0) };
		diff_hunk_head(&b, range);
		const json *lines = json_get(h, "lines");
		for (size_t j = 0; j < json_len(lines) && !b.is_full; j++)
			diff_line(&b, "", json_slice(json_at(lines, j)));
	}
	return diff_take(a, &b);
}

static void diff_whole_file(struct buf *b, const char *path, struct str content, bool is_new)
{
	diff_head(b, is_new ? "/dev/null" : path, is_new ? path : "/dev/null");
	int64_t n = (int64_t)count_lines(content);
	const int64_t made[4] = { 0, 0, 1, n }, gone[4] = { 1, n, 0, 0 };
	if (n)
		diff_hunk_head(b, is_new ? made : gone);
	diff_lines(b, is_new ? "+" : "-", content);
}

struct str diff_of_new_file(struct arena *a, const char *path, struct str content)
{
	if (!content.n)
		return (struct str){ "", 0 };
	AUTO(buf_done) struct buf b = { 0 };
	diff_whole_file(&b, path ? path : "file", content, true);
	return diff_take(a, &b);
}

struct str diff_of_changes(struct arena *a, const json *changes)
{
	AUTO(buf_done) struct buf b = { 0 };
	for (struct json_iter it = json_iter(changes); !b.is_full && json_next(&it);) {
		const char *type = json_str(it.value, "type");
		const char *moved = json_str(it.value, "move_path");
		struct str diff = json_slice(json_get(it.value, "unified_diff"));
		struct str content = json_slice(json_get(it.value, "content"));
		if (diff.n || moved) {
			diff_head(&b, it.key, moved ? moved : it.key);
			diff_lines(&b, "", diff);
		} else if (type) {
			diff_whole_file(&b, it.key, content, strcmp(type, "delete") != 0);
		}
	}
	return diff_take(a, &b);
}

/* The marks of a patch's text that name a file, and the two headers they become (%s: the file). */
static const struct patch_mark {
	const char *mark;
	bool is_from_null, is_to_null, is_move;
} patch_marks[] = {
	{ "*** Update File: ", false, false, false },
	{ "*** Add File: ", true, false, false },
	{ "*** Delete File: ", false, true, false },
	{ "*** Move to: ", false, false, true },
};

static const struct patch_mark *patch_mark_of(struct str line, struct str *ret_path)
{
	for (size_t i = 0; i < ARRAY_LEN(patch_marks); i++) {
		size_t n = strlen(patch_marks[i].mark);
		if (line.n > n && !memcmp(line.p, patch_marks[i].mark, n)) {
			*ret_path = str_trim((struct str){ line.p + n, line.n - n });
			return &patch_marks[i];
		}
	}
	return NULL;
}

static struct str patch_body(struct str text)
{
	static const char begin[] = "*** Begin Patch";
	const char *at = str_find(text, STR("*** Begin Patch"));
	if (!at)
		return (struct str){ 0 };
	at += sizeof(begin) - 1;
	return (struct str){ at, (size_t)(text.p + text.n - at) };
}

struct str diff_of_patch(struct arena *a, struct str patch)
{
	struct str rest = patch_body(patch), line, path;
	AUTO(buf_done) struct buf b = { 0 };
	while (!b.is_full && str_line(&rest, &line)) {
		const struct patch_mark *m = patch_mark_of(line, &path);
		if (m) {
			char *name = arena_dup(a, path.p, path.n);
			if (!m->is_move)
				diff_line(&b, "--- ", str_of(m->is_from_null ? "/dev/null" : name));
			diff_line(&b, "+++ ", str_of(m->is_to_null ? "/dev/null" : name));
		} else if (line.n >= 3 && !memcmp(line.p, "***", 3)) {
			if (line.n >= 13 && !memcmp(line.p, "*** End Patch", 13))
				break;
		} else if (line.n || b.len) {
			diff_line(&b, "", line);
		}
	}
	return diff_take(a, &b);
}

bool diff_patch_files(struct arena *a, struct str patch, struct captured_event *e)
{
	struct str rest = patch_body(patch), line, path;
	bool found = false;
	while (str_line(&rest, &line))
		if (patch_mark_of(line, &path) && path.n) {
			capture_file(a, e, arena_dup(a, path.p, path.n), true);
			found = true;
		}
	return found;
}

/* Lines of two texts and what becomes of each: ' ' kept, '-' taken out, '+' put in. */
struct lines {
	struct str *items;
	size_t n, cap;
};

struct change {
	char mark;
	struct str line;
	size_t old_at, new_at; /* lines before it, in each text */
};

struct changes {
	struct change *items;
	size_t n, cap;
	size_t old_at, new_at;
};

static void lines_split(struct lines *l, struct str text)
{
	struct str line;
	while (str_line(&text, &line)) {
		MEM_GROW(l->items, l->cap, l->n + 1);
		l->items[l->n++] = line;
	}
}

static void change_add(struct changes *c, char mark, struct str line)
{
	MEM_GROW(c->items, c->cap, c->n + 1);
	c->items[c->n++] = (struct change){ mark, line, c->old_at, c->new_at };
	c->old_at += mark != '+';
	c->new_at += mark != '-';
}

/*
 * How many lines of l, from `at` on, stand before one equal to this; SIZE_MAX when there is none.
 */
static size_t lines_until(const struct lines *l, size_t at, struct str line)
{
	for (size_t i = at; i < l->n; i++)
		if (str_eq(l->items[i], line))
			return i - at;
	return SIZE_MAX;
}

/*
 * Our edits put in or take out whole stretches, so the nearer way back to equal lines is the right
 * one.
 */
static void changes_find(struct changes *c, const struct lines *a, const struct lines *b)
{
	size_t i = 0, j = 0;
	while (i < a->n || j < b->n) {
		if (i < a->n && j < b->n && str_eq(a->items[i], b->items[j])) {
			change_add(c, ' ', a->items[i++]);
			j++;
			continue;
		}
		size_t gone = j < b->n ? lines_until(a, i, b->items[j]) : a->n - i;
		size_t made = i < a->n ? lines_until(b, j, a->items[i]) : b->n - j;
		if (j < b->n && (i == a->n || made <= gone) && made != SIZE_MAX)
			change_add(c, '+', b->items[j++]);
		else if (i < a->n)
			change_add(c, '-', a->items[i++]);
		else
			change_add(c, '+', b->items[j++]);
	}
}

/* End of the hunk that starts at `from`: where more than twice the context is unchanged. */
static size_t hunk_end(const struct changes *c, size_t from)
{
	size_t last = from;
	for (size_t i = from; i < c->n && i <= last + 2 * DIFF_CONTEXT; i++)
		if (c->items[i].mark != ' ')
			last = i;
	return MIN(last + 1 + DIFF_CONTEXT, c->n);
}

static void hunk_show(const struct changes *c, size_t from, size_t to, struct buf *out)
{
	size_t old_n = 0, new_n = 0;
	for (size_t i = from; i < to; i++) {
		old_n += c->items[i].mark != '+';
		new_n += c->items[i].mark != '-';
	}
	buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", c->items[from].old_at + (old_n > 0), old_n,
		c->items[from].new_at + (new_n > 0), new_n);
	for (size_t i = from; i < to; i++) {
		buf_char(out, c->items[i].mark);
		buf_add(out, c->items[i].line.p, c->items[i].line.n);
		buf_char(out, '\n');
	}
}

void diff_texts(const char *path, struct str before, struct str after, struct buf *out)
{
	struct lines a = { 0 }, b = { 0 };
	struct changes c = { 0 };
	lines_split(&a, before);
	lines_split(&b, after);
	changes_find(&c, &a, &b);
	buf_printf(out, "--- %s\n+++ %s\n", before.n ? path : "/dev/null",
		after.n ? path : "/dev/null");
	for (size_t i = 0; i < c.n; i++) {
		if (c.items[i].mark == ' ')
			continue;
		size_t from = i > DIFF_CONTEXT ? i - DIFF_CONTEXT : 0;
		size_t to = hunk_end(&c, i);
		hunk_show(&c, from, to, out);
		i = to;
	}
	free(a.items);
	free(b.items);
	free(c.items);
}
