/*
 * cmark says where blocks begin; the bytes are taken from the document itself, so that nothing that
 * cmark drops (link definitions, white space, markers) is lost. A block reaches to the beginning of
 * the next one.
 */
#include "text/document.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm.h>
#include <ctype.h>
#include <pthread.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define LEVELS 6
#define SECTION_LEVEL 2
#define PATH_MAX_BYTES 1000
#define HEADING_SHOWN 200 /* bytes of one heading in a path */

enum line_flag {
	LINE_LOCKED = 1, /* no cut before it: inside a table or code that stays whole */
	LINE_CODE = 2,   /* no cut inside it at a sentence */
};

struct block {
	size_t from, to; /* lines, from 0; to is behind the last */
	int level;       /* of a heading, else 0 */
};

struct parse {
	struct arena *a;
	struct str body;
	size_t *starts; /* of the lines, and the end */
	uint8_t *flags;
	size_t nlines, lines_cap;
	size_t first_line; /* of the body, in the file */
	struct block *blocks;
	size_t nblocks, blocks_cap;
	size_t chars;
	struct document *doc;
	size_t chunks_cap;
	struct str headings[LEVELS + 1]; /* that are open, by level */
	/* The section in hand. */
	const char *section;
	struct str heading;
	size_t index;
	bool has_heading;   /* not given to a chunk yet */
	bool keeps_heading; /* it is too long for a name, and stays in the text */
};

static size_t count_chars(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end; p++)
		n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

static struct str trim(struct str s)
{
	while (s.n && isspace((unsigned char)s.p[s.n - 1]))
		s.n--;
	while (s.n && isspace((unsigned char)*s.p)) {
		s.p++;
		s.n--;
	}
	return s;
}

/* Blank lines at both ends go; the indentation of the first line stays, since it may be code. */
static struct str trim_lines(struct str s)
{
	struct str t = trim(s);

	while (t.p > s.p && (t.p[-1] == ' ' || t.p[-1] == '\t')) {
		t.p--;
		t.n++;
	}
	return t;
}

static struct str lines_of(const struct parse *p, size_t from, size_t to)
{
	return (struct str){ p->body.p + p->starts[from], p->starts[to] - p->starts[from] };
}

/* Lines end as CommonMark says: \n, \r or both. */
static void find_lines(struct parse *p)
{
	const char *s = p->body.p;
	size_t n = 1, at = 0;

	for (size_t i = 0; i < p->body.n; i++)
		n += s[i] == '\n' || s[i] == '\r';
	p->starts = ARENA_ARRAY(p->a, size_t, n + 1);
	while (at < p->body.n) {
		p->starts[p->nlines++] = at;
		while (at < p->body.n && s[at] != '\n' && s[at] != '\r')
			at++;
		if (at < p->body.n && s[at++] == '\r' && at < p->body.n && s[at] == '\n')
			at++;
	}
	p->starts[p->nlines] = p->body.n;
	p->flags = arena_alloc(p->a, p->nlines + 1);
}

/* --- Blocks. --- */

static cmark_node *tree_of(struct str body)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, cmark_gfm_core_extensions_ensure_registered);
	cmark_parser *parser = cmark_parser_new(CMARK_OPT_DEFAULT);
	cmark_syntax_extension *table = cmark_find_syntax_extension("table");
	if (table)
		cmark_parser_attach_syntax_extension(parser, table);
	cmark_parser_feed(parser, body.p, body.n);
	cmark_node *root = cmark_parser_finish(parser);
	cmark_parser_free(parser);
	return root;
}

/* From 0; -1: not known. */
static long line_of(const struct parse *p, int line)
{
	return line < 1 || (size_t)line > p->nlines ? -1 : line - 1;
}

static void add_block(struct parse *p, size_t from, int level)
{
	struct block b = { .from = from, .level = level };

	/* What cmark places at or before the last one is part of it. */
	if (p->nblocks && from <= p->blocks[p->nblocks - 1].from) {
		if (from == p->blocks[p->nblocks - 1].from)
			p->blocks[p->nblocks - 1].level =
				MAX(level, p->blocks[p->nblocks - 1].level);
		return;
	}
	ARENA_PUSH(p->a, p->blocks, p->nblocks, p->blocks_cap, b);
}

static void add_heading(struct parse *p, cmark_node *node, size_t from)
{
	long end = line_of(p, cmark_node_get_end_line(node));
	size_t before = p->nblocks;

	add_block(p, from, cmark_node_get_heading_level(node));
	/* What stands between a heading and the next block, such as link definitions. */
	if (p->nblocks > before && end >= (long)from && (size_t)end + 1 < p->nlines)
		add_block(p, (size_t)end + 1, 0);
}

/* The items of a list are packed one by one, like paragraphs. */
static void add_top(struct parse *p, cmark_node *node)
{
	long from = line_of(p, cmark_node_get_start_line(node));

	if (from < 0)
		return;
	if (cmark_node_get_type(node) == CMARK_NODE_HEADING) {
		add_heading(p, node, (size_t)from);
		return;
	}
	add_block(p, (size_t)from, 0);
	if (cmark_node_get_type(node) != CMARK_NODE_LIST)
		return;
	for (cmark_node *item = cmark_node_first_child(node); item; item = cmark_node_next(item)) {
		long at = line_of(p, cmark_node_get_start_line(item));
		if (at > from)
			add_block(p, (size_t)at, 0);
	}
}

static size_t block_chars(const struct parse *p, size_t from, size_t to)
{
	struct str s = trim(lines_of(p, from, to));

	return count_chars(s.p, s.p + s.n);
}

static void lock(struct parse *p, cmark_node *node)
{
	long from = line_of(p, cmark_node_get_start_line(node));
	long last = line_of(p, cmark_node_get_end_line(node));

	if (from < 0 || last < from)
		return;
	bool is_whole =
		block_chars(p, (size_t)from, (size_t)last + 1) <= p->chars * DOCUMENT_WHOLE_TIMES;
	for (long i = from; i <= last; i++)
		p->flags[i] |= (uint8_t)(LINE_CODE | (is_whole && i > from ? LINE_LOCKED : 0));
}

static void lock_all(struct parse *p, cmark_node *root)
{
	cmark_iter *it = cmark_iter_new(root);
	cmark_event_type event;

	while ((event = cmark_iter_next(it)) != CMARK_EVENT_DONE) {
		cmark_node *node = cmark_iter_get_node(it);
		if (event != CMARK_EVENT_ENTER)
			continue;
		if (cmark_node_get_type(node) == CMARK_NODE_CODE_BLOCK ||
			!strcmp(cmark_node_get_type_string(node), "table"))
			lock(p, node);
	}
	cmark_iter_free(it);
}

/* A heading stays with the first line of what follows it. */
static void lock_headings(struct parse *p)
{
	for (size_t i = 0; i < p->nblocks; i++) {
		size_t line = p->blocks[i].to;
		if (!p->blocks[i].level)
			continue;
		while (line < p->nlines && !trim(lines_of(p, line, line + 1)).n)
			p->flags[line++] |= LINE_LOCKED;
		if (line < p->nlines)
			p->flags[line] |= LINE_LOCKED;
	}
}

static void find_blocks(struct parse *p)
{
	cmark_node *root = tree_of(p->body);

	add_block(p, 0, 0);
	for (cmark_node *n = cmark_node_first_child(root); n; n = cmark_node_next(n)) {
		if (p->nblocks == 1 && line_of(p, cmark_node_get_start_line(n)) == 0)
			p->nblocks = 0;
		add_top(p, n);
	}
	lock_all(p, root);
	cmark_node_free(root);
	for (size_t i = 0; i < p->nblocks; i++)
		p->blocks[i].to = i + 1 < p->nblocks ? p->blocks[i + 1].from : p->nlines;
	lock_headings(p);
}

/* --- Headings. --- */

/* Without its marks: "## Install ##" and the line of dashes under it. */
static struct str heading_name(struct str s)
{
	s = trim(s);
	const char *line_end = memchr(s.p, '\n', s.n);
	if (!line_end)
		line_end = memchr(s.p, '\r', s.n);
	if (line_end) {
		while (s.n && s.p[s.n - 1] != '\n' && s.p[s.n - 1] != '\r')
			s.n--;
		return trim(s);
	}
	while (s.n && *s.p == '#') {
		s.p++;
		s.n--;
	}
	s = trim(s);
	size_t n = s.n;
	while (n && s.p[n - 1] == '#')
		n--;
	if (n < s.n && (!n || s.p[n - 1] == ' ' || s.p[n - 1] == '\t'))
		s.n = n;
	return trim(s);
}

static void open_heading(struct parse *p, int level, struct str name)
{
	for (int i = level + 1; i <= LEVELS; i++)
		p->headings[i].n = 0;
	name.n = utf8_cut(name.p, name.n, HEADING_SHOWN);
	p->headings[level] = name;
}

/* On one line. */
static char *one_line(struct arena *a, struct str s, size_t max)
{
	char *copy = arena_dup(a, s.p, utf8_cut(s.p, s.n, max));

	for (char *c = copy; *c; c++)
		if (*c == '\n' || *c == '\r' || *c == '\t')
			*c = ' ';
	return copy;
}

static const char *path_now(struct parse *p)
{
	AUTO(buf_done) struct buf b = { .max = PATH_MAX_BYTES };

	for (int i = 1; i <= LEVELS; i++)
		if (p->headings[i].n)
			buf_printf(&b, "%s%s", b.len ? " > " : "",
				one_line(p->a, p->headings[i], HEADING_SHOWN));
	if (!p->headings[SECTION_LEVEL].n)
		buf_printf(&b, "%s%s", b.len ? " > " : "", p->section);
	return arena_str(p->a, buf_cstr(&b));
}

/* --- Chunks. --- */

static size_t line_at(const struct parse *p, const char *at)
{
	size_t offset = (size_t)(at - p->body.p), lo = 0, hi = p->nlines;

	while (lo + 1 < hi) {
		size_t mid = (lo + hi) / 2;
		if (p->starts[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static void emit(struct parse *p, struct str text)
{
	bool is_whole_line = p->starts[line_at(p, text.p)] == (size_t)(text.p - p->body.p);
	text = is_whole_line ? trim_lines(text) : trim(text);
	if (!text.n && !p->has_heading)
		return;
	struct document_chunk c = {
		.section = p->section, .path = path_now(p), .index = p->index++
	};
	struct str first = text;
	if (p->has_heading) {
		c.heading = p->heading;
		first = p->heading;
		/* A section of nothing but its heading is found by that. */
		if (!text.n || p->keeps_heading) {
			text = (struct str){ p->heading.p,
				text.n ? (size_t)(text.p + text.n - p->heading.p) : p->heading.n };
			c.heading = (struct str){ 0 };
		}
	}
	p->has_heading = false;
	c.text = text;
	c.first_line = p->first_line + line_at(p, first.p);
	c.last_line = p->first_line + line_at(p, text.p + text.n - 1);
	ARENA_PUSH(p->a, p->doc->chunks, p->doc->n, p->chunks_cap, c);
}

static bool ends_sentence(const char *from, const char *at)
{
	while (at > from && isspace((unsigned char)at[-1]))
		at--;
	while (at > from && strchr("\"')]*_`", at[-1]))
		at--;
	return at > from && strchr(".!?:;", at[-1]);
}

/* How good a cut before `line` is; 0: none there. */
static int cut_worth(const struct parse *p, size_t line)
{
	enum { ANYWHERE = 1, SENTENCE = 2, BLANK = 3 };

	if (p->flags[line] & LINE_LOCKED)
		return 0;
	struct str before = lines_of(p, line - 1, line);
	if (!trim(before).n)
		return BLANK;
	return ends_sentence(before.p, before.p + before.n) ? SENTENCE : ANYWHERE;
}

/* Inside a line that is too long: behind a sentence, a word, or else any character. */
static const char *cut_in_line(
	const struct parse *p, const char *from, const char *end, bool is_code)
{
	const char *limit = from, *sentence = NULL, *space = NULL;
	size_t n = 0;

	for (; limit < end && n < p->chars; n++) {
		utf8_next(&limit, end);
		if (limit >= end || n < p->chars / 2 || !isspace((unsigned char)*limit))
			continue;
		space = limit;
		if (!is_code && ends_sentence(from, limit))
			sentence = limit;
	}
	return sentence ? sentence : space ? space : limit;
}

/* Where the piece that begins at `from` ends, below `end`. */
static const char *piece_end(const struct parse *p, const char *from, const char *end)
{
	size_t first = line_at(p, from), line = first + 1, n = 0;
	const char *best = NULL;
	int worth = 0;

	for (const char *at = from; line < p->nlines; line++) {
		const char *start = p->body.p + p->starts[line];
		if (start >= end)
			break;
		n += count_chars(at, start);
		at = start;
		if (n > p->chars && (best || !(p->flags[line] & LINE_LOCKED)))
			break;
		int here = cut_worth(p, line);
		if (here && (here >= worth || n < p->chars / 2)) {
			best = start;
			worth = here;
		}
	}
	if (best)
		return best;
	const char *line_end = line < p->nlines ? p->body.p + p->starts[line] : end;
	line_end = MIN(line_end, end);
	/* One line, or lines that stay together. */
	if (line > first + 1 || count_chars(from, line_end) <= p->chars)
		return line_end;
	return cut_in_line(p, from, line_end, p->flags[first] & LINE_CODE);
}

static void emit_pieces(struct parse *p, const char *from, const char *end)
{
	while (from < end) {
		struct str left = trim((struct str){ from, (size_t)(end - from) });
		const char *to = count_chars(left.p, left.p + left.n) <= p->chars
					 ? end
					 : piece_end(p, from, end);
		emit(p, (struct str){ from, (size_t)(to - from) });
		from = to;
	}
}

static void section_begin(struct parse *p, const struct block *b)
{
	struct str whole = lines_of(p, b->from, b->to), name = heading_name(whole);

	open_heading(p, SECTION_LEVEL, name);
	p->heading = trim(whole);
	p->section = name.n ? one_line(p->a, name, DOCUMENT_SECTION_MAX) : "Untitled";
	p->has_heading = true;
	p->keeps_heading = name.n > DOCUMENT_SECTION_MAX;
	p->index = 0;
}

/* Blocks from `i` on that stay together: headings with what follows them. Gives the one behind. */
static size_t group_end(const struct parse *p, size_t i)
{
	size_t end = i + 1;

	while (end < p->nblocks && p->blocks[end - 1].level &&
		p->blocks[end].level != SECTION_LEVEL)
		end++;
	/* A blank piece behind a heading is none. */
	while (end < p->nblocks && end > i + 1 &&
		!block_chars(p, p->blocks[end - 1].from, p->blocks[end - 1].to) &&
		p->blocks[end].level != SECTION_LEVEL)
		end++;
	return end;
}

static void headings_open(struct parse *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct block *b = &p->blocks[i];
		if (b->level)
			open_heading(p, b->level, heading_name(lines_of(p, b->from, b->to)));
		if (b->level == 1 && !p->doc->title && p->headings[1].n)
			p->doc->title = one_line(p->a, p->headings[1], HEADING_SHOWN);
	}
}

/* The chunk in hand: blocks [from, to), nothing when they are equal. */
static void flush(struct parse *p, size_t from, size_t to)
{
	if (from == to)
		return;
	const char *start = p->body.p + p->starts[p->blocks[from].from];
	emit_pieces(p, start, p->body.p + p->starts[p->blocks[to - 1].to]);
	/* Those in its middle. */
	headings_open(p, from, to);
}

static bool fits(const struct parse *p, size_t from, size_t to)
{
	return from == to || block_chars(p, p->blocks[from].from, p->blocks[to - 1].to) <= p->chars;
}

/* The blocks of one section. */
static void pack(struct parse *p, size_t from, size_t to)
{
	size_t held = from, n = 0; /* of blocks in hand */

	for (size_t i = from, end; i < to; i = end) {
		end = MIN(group_end(p, i), to);
		if (n && !fits(p, held, end)) {
			flush(p, held, held + n);
			n = 0;
		}
		if (!n) {
			held = i;
			headings_open(p, i, end);
		}
		n = end - held;
	}
	flush(p, held, held + n);
	if (p->has_heading)
		emit(p, (struct str){ p->heading.p, 0 });
}

static void cut_sections(struct parse *p)
{
	size_t i = 0;

	p->section = DOCUMENT_INTRODUCTION;
	while (i < p->nblocks) {
		size_t end = i;
		if (p->blocks[i].level == SECTION_LEVEL)
			section_begin(p, &p->blocks[i++]);
		for (end = i; end < p->nblocks && p->blocks[end].level != SECTION_LEVEL;)
			end++;
		pack(p, i, end);
		i = end;
	}
}

static bool is_blank(struct str s)
{
	return !trim(s).n;
}

void document_parse(struct arena *a, struct str text, size_t chars, struct document *ret)
{
	static const char mark[] = "\xef\xbb\xbf"; /* byte order mark */
	struct parse p = {
		.a = a, .doc = ret, .chars = MAX(chars, (size_t)DOCUMENT_CHARS_MIN), .first_line = 1
	};
	struct str inside;

	*ret = (struct document){ 0 };
	if (text.n >= 3 && !memcmp(text.p, mark, 3))
		text = (struct str){ text.p + 3, text.n - 3 };
	size_t front = front_matter_find(text, &inside);
	if (front && !front_matter_read(a, inside, &ret->front))
		front = 0;
	ret->title = ret->front.title;
	p.body = (struct str){ text.p + front, text.n - front };
	bool is_bare = front && is_blank(p.body);
	/* A file of nothing but front matter is found by that. */
	if (is_bare)
		p.body = inside;
	if (is_blank(p.body))
		return;
	for (const char *c = text.p; c < p.body.p; c++)
		p.first_line += *c == '\n';
	find_lines(&p);
	if (is_bare) {
		p.section = DOCUMENT_INTRODUCTION;
		emit_pieces(&p, p.body.p, p.body.p + p.body.n);
		return;
	}
	find_blocks(&p);
	cut_sections(&p);
}

bool document_blank_private(char *text, size_t n)
{
	static const char open[] = "<private>", close[] = "</private>";
	bool has = false;

	for (char *p = text;
		(p = (char *)str_ifind((struct str){ p, (size_t)(text + n - p) }, open));) {
		const char *end = str_ifind((struct str){ p, (size_t)(text + n - p) }, close);
		end = end ? end + sizeof(close) - 1 : text + n;
		for (; p < end; p++)
			if (*p != '\n' && *p != '\r')
				*p = ' ';
		has = true;
	}
	return has;
}
