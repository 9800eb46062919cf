/* Diffs as agents tell them; see diff.h. Every builder goes through diff_line, which keeps the ceiling. */

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

/* What differs between two texts of a configuration is one stretch of lines: common head and tail are found, the middle shown. */
struct lines {
	struct str *items;
	size_t n, cap;
};

static void lines_split(struct lines *l, struct str text)
{
	struct str line;
	while (str_line(&text, &line)) {
		MEM_GROW(l->items, l->cap, l->n + 1);
		l->items[l->n++] = line;
	}
}

static void show_range(struct buf *out, char mark, const struct lines *l, const size_t range[2])
{
	for (size_t i = range[0]; i < range[1]; i++)
		buf_printf(out, "%c%.*s\n", mark, (int)l->items[i].n, l->items[i].p);
}

void diff_texts(const char *path, struct str before, struct str after, struct buf *out)
{
	struct lines a = { 0 }, b = { 0 };
	lines_split(&a, before);
	lines_split(&b, after);
	size_t head = 0, tail = 0;
	while (head < a.n && head < b.n && str_eq(a.items[head], b.items[head]))
		head++;
	while (tail < a.n - head && tail < b.n - head &&
		str_eq(a.items[a.n - 1 - tail], b.items[b.n - 1 - tail]))
		tail++;
	size_t from = head > DIFF_CONTEXT ? head - DIFF_CONTEXT : 0;
	size_t more = MIN(tail, (size_t)DIFF_CONTEXT);
	buf_printf(out, "--- %s\n+++ %s\n@@ -%zu,%zu +%zu,%zu @@\n", before.n ? path : "/dev/null",
		after.n ? path : "/dev/null", a.n ? from + 1 : 0, a.n - tail + more - from,
		b.n ? from + 1 : 0, b.n - tail + more - from);
	show_range(out, ' ', &a, (size_t[]){ from, head });
	show_range(out, '-', &a, (size_t[]){ head, a.n - tail });
	show_range(out, '+', &b, (size_t[]){ head, b.n - tail });
	show_range(out, ' ', &a, (size_t[]){ a.n - tail, a.n - tail + more });
	free(a.items);
	free(b.items);
}
