#include "observe/markdown.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define COLON_HEADING_MAX 60 /* bytes of a line that ends in a colon and heads what follows */
#define LEAD_MAX 100
#define LINK_MAX 2000 /* bytes of a link; bounds how deep links nest */
#define BOLD_HEADING_MAX 140

/* ---- inline ---- */

bool is_picture(uint32_t cp)
{
	return (cp >= 0x1f000 && cp <= 0x1faff) || (cp >= 0x2600 && cp <= 0x27bf) ||
	       (cp >= 0x2b00 && cp <= 0x2bff) || cp == 0xfe0f || cp == 0x20e3 || cp == 0x200d ||
	       (cp >= 0x25a0 && cp <= 0x25ff) || (cp >= 0x2300 && cp <= 0x23ff);
}

struct inline_run {
	struct buf out;
	const char *p, *start, *end;
	bool keeps_quotes;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

/* `code`, ``code with ` in it``: its content goes through as it is. */
static bool take_code(struct inline_run *r)
{
	const char *p = r->p, *close;
	size_t ticks = 0;

	while (p + ticks < r->end && p[ticks] == '`')
		ticks++;
	if (!ticks)
		return false;
	for (close = p + ticks; close + ticks <= r->end; close++)
		if (memcmp(close, p, ticks) == 0 &&
			(close + ticks == r->end || close[ticks] != '`'))
			break;
	if (close + ticks > r->end) {
		r->p += ticks;
		return true;
	}
	if (r->keeps_quotes)
		buf_char(&r->out, '`');
	buf_add(&r->out, p + ticks, (size_t)(close - p) - ticks);
	if (r->keeps_quotes)
		buf_char(&r->out, '`');
	r->p = close + ticks;
	return true;
}

static const char *matching(const char *p, const char *end, char open, char close)
{
	int depth = 0;

	for (; p < end; p++) {
		if (*p == open)
			depth++;
		else if (*p == close && --depth == 0)
			return p;
	}
	return NULL;
}

/* [text](target) and ![text](target) leave the text. */
static bool take_link(struct inline_run *r)
{
	const char *open = *r->p == '!' ? r->p + 1 : r->p, *close, *target_end, *limit;
	char *text;

	if (open >= r->end || *open != '[')
		return false;
	limit = open + MIN(r->end - open, LINK_MAX);
	close = matching(open, limit, '[', ']');
	if (!close || close + 1 >= r->end || close[1] != '(')
		return false;
	target_end = matching(close + 1, limit, '(', ')');
	if (!target_end)
		return false;
	{
		AUTO(arena_done) struct arena a = { 0 };

		text = inline_plain(
			&a, (struct str){ open + 1, (size_t)(close - open) - 1 }, r->keeps_quotes);
		buf_str(&r->out, text);
	}
	r->p = target_end + 1;
	return true;
}

/* <br>, <b>, </details>: known short tags only, since generics and comparisons look alike. */
static bool take_tag(struct inline_run *r)
{
	static const char *const names[] = { "br", "b", "i", "em", "strong", "code", "details",
		"summary", "sub", "sup", "p", "div", "kbd" };
	const char *p = r->p + 1, *name;

	if (*r->p != '<')
		return false;
	p += p < r->end && *p == '/';
	for (name = p; p < r->end && isalpha((unsigned char)*p); p++)
		;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if ((size_t)(p - name) != n || memcmp(name, names[i], n) != 0)
			continue;
		while (p < r->end && (*p == ' ' || *p == '/'))
			p++;
		if (p < r->end && *p == '>') {
			buf_char(&r->out, ' ');
			r->p = p + 1;
			return true;
		}
	}
	return false;
}

/* "*", "**", "_" and "~~" that open or close emphasis; "2 * 3", "*.c" and "snake_case" stay. */
static bool take_emphasis(struct inline_run *r)
{
	char c = *r->p, before = r->p > r->start ? r->p[-1] : ' ', after;
	size_t n = 0;
	bool opens, closes;

	if (c != '*' && c != '_' && c != '~')
		return false;
	while (r->p + n < r->end && r->p[n] == c)
		n++;
	after = r->p + n < r->end ? r->p[n] : ' ';
	opens = !isspace((unsigned char)after) && !is_word(before) &&
		(is_word(after) || strchr("`\"'([</$.\\", after) || n >= 2);
	closes = !isspace((unsigned char)before) && !is_word(after);
	if (c == '*' && n >= 2)
		opens = closes = !(isspace((unsigned char)before) && isspace((unsigned char)after));
	if (c == '*' && n == 1 && after == '.')
		opens = false;
	if (c == '~' && n < 2)
		return false;
	if (c == '_' && n >= 2 && is_word(before) + is_word(after) == 2)
		return false;
	if (!opens && !(closes && memchr(r->start, c, (size_t)(r->p - r->start))))
		return false;
	r->p += n;
	return true;
}

static bool take_escape(struct inline_run *r)
{
	if (*r->p != '\\' || r->p + 1 >= r->end || !strchr("*_`#[]()|~<>-", r->p[1]))
		return false;
	buf_char(&r->out, r->p[1]);
	r->p += 2;
	return true;
}

/* Pictures go; white space becomes one blank; everything else is copied. */
static void take_char(struct inline_run *r)
{
	const char *from = r->p;
	uint32_t cp = utf8_next(&r->p, r->end);

	if (is_picture(cp))
		return;
	if (cp == 0xa0 || cp == 0x202f || cp <= ' ') {
		if (r->out.len && r->out.data[r->out.len - 1] != ' ')
			buf_char(&r->out, ' ');
		return;
	}
	buf_add(&r->out, from, (size_t)(r->p - from));
}

char *inline_plain(struct arena *a, struct str text, bool keeps_quotes)
{
	struct inline_run r = {
		.p = text.p, .start = text.p, .end = text.p + text.n, .keeps_quotes = keeps_quotes
	};
	struct str out;
	char *ret;

	while (r.p < r.end)
		if (!take_code(&r) && !take_link(&r) && !take_tag(&r) && !take_escape(&r) &&
			!take_emphasis(&r))
			take_char(&r);
	out = str_trim((struct str){ buf_cstr(&r.out), r.out.len });
	ret = arena_dup(a, out.p, out.n);
	buf_done(&r.out);
	return ret;
}

/* ---- blocks ---- */

struct parse {
	struct arena *a;
	struct blocks *ret;
	struct buf text; /* of the open paragraph or item */
	struct block open;
	bool is_open, in_fence;
	char fence;
	const char *code_start;
};

static struct str skip_pictures(struct str s)
{
	for (;;) {
		const char *p = s.p, *end = s.p + s.n;

		s = str_trim(s);
		p = s.p;
		if (!s.n || !is_picture(utf8_next(&p, end)))
			return s;
		s = (struct str){ p, (size_t)(end - p) };
	}
}

/* "**Root cause:** the cache" gives the lead "Root cause"; so does "**Root cause** — the cache". */
static void find_lead(struct parse *ps, struct str raw, struct block *b)
{
	const char *close;
	struct str lead;

	raw = skip_pictures(raw);
	if (raw.n < 5 || memcmp(raw.p, "**", 2) != 0)
		return;
	close = str_find((struct str){ raw.p + 2, raw.n - 2 }, STR("**"));
	if (!close || close - raw.p > LEAD_MAX)
		return;
	lead = str_trim((struct str){ raw.p + 2, (size_t)(close - raw.p) - 2 });
	while (lead.n && strchr(":.-", lead.p[lead.n - 1]))
		lead.n--;
	b->lead = inline_plain(ps->a, lead, false);
	b->after_lead = strlen(
		inline_plain(ps->a, (struct str){ raw.p, (size_t)(close - raw.p) + 2 }, true));
	while (b->text[b->after_lead] && strchr(" :-", b->text[b->after_lead]))
		b->after_lead++;
	if (strncmp(b->text + b->after_lead, "—", 3) == 0 ||
		strncmp(b->text + b->after_lead, "–", 3) == 0)
		b->after_lead += 3;
	while (b->text[b->after_lead] == ' ')
		b->after_lead++;
}

/* A paragraph that is one bold phrase, or a short line with a colon, heads a section. */
static void make_heading(struct block *b, struct str raw)
{
	raw = skip_pictures(raw);
	if (b->lead && !b->text[b->after_lead] && raw.n <= BOLD_HEADING_MAX) {
		b->kind = BLOCK_HEADING;
		b->level = LEVEL_BOLD;
	} else if (raw.n && raw.n <= COLON_HEADING_MAX && raw.p[raw.n - 1] == ':' &&
		   !memchr(raw.p, '\n', raw.n)) {
		b->kind = BLOCK_HEADING;
		b->level = LEVEL_COLON;
	}
}

static void close_block(struct parse *ps)
{
	struct str raw = str_trim((struct str){ buf_cstr(&ps->text), ps->text.len });

	if (ps->is_open && raw.n) {
		ps->open.text = inline_plain(ps->a, raw, true);
		find_lead(ps, raw, &ps->open);
		if (ps->open.kind == BLOCK_TEXT)
			make_heading(&ps->open, raw);
		if (*ps->open.text)
			ARENA_PUSH(ps->a, ps->ret->items, ps->ret->n, ps->ret->cap, ps->open);
	}
	buf_cut(&ps->text, 0);
	ps->is_open = false;
}

static void open_block(struct parse *ps, struct block b, struct str text)
{
	close_block(ps);
	ps->open = b;
	ps->is_open = true;
	buf_add(&ps->text, text.p, text.n);
}

static void add_code(struct parse *ps, struct str code)
{
	struct block b = { .kind = BLOCK_CODE, .text = arena_dup(ps->a, code.p, code.n) };

	ARENA_PUSH(ps->a, ps->ret->items, ps->ret->n, ps->ret->cap, b);
}

static bool fence_line(struct parse *ps, struct str line)
{
	struct str t = str_trim(line);
	bool is_fence = t.n >= 3 && (memcmp(t.p, "```", 3) == 0 || memcmp(t.p, "~~~", 3) == 0);

	if (ps->in_fence) {
		if (is_fence && t.p[0] == ps->fence &&
			str_trim((struct str){ t.p + 3, t.n - 3 }).n == 0) {
			ps->in_fence = false;
			add_code(ps,
				(struct str){ ps->code_start, (size_t)(line.p - ps->code_start) });
		}
		return true;
	}
	if (!is_fence || memchr(t.p + 3, '`', t.n - 3))
		return false;
	close_block(ps);
	ps->in_fence = true;
	ps->fence = t.p[0];
	ps->code_start = line.p + line.n + 1;
	return true;
}

static bool rule_line(struct str t)
{
	if (t.n < 3 || !strchr("-*_=", t.p[0]))
		return false;
	for (size_t i = 1; i < t.n; i++)
		if (t.p[i] != t.p[0] && t.p[i] != ' ')
			return false;
	return true;
}

/* Bytes of a list sign and its blank: "- ", "* ", "• ", "3. ", "a) ", with a check box after it. */
static size_t item_sign(struct str t, bool *is_numbered)
{
	size_t n = 0;

	*is_numbered = false;
	if (t.n > 2 && strchr("-*+", t.p[0]) && t.p[1] == ' ') {
		n = 2;
	} else if (t.n > 4 && memcmp(t.p, "\xe2\x80\xa2", 3) == 0) {
		n = 3;
	} else {
		while (n < t.n && n < 3 && isdigit((unsigned char)t.p[n]))
			n++;
		if (!n || n + 2 > t.n || !strchr(".)", t.p[n]) || t.p[n + 1] != ' ')
			return 0;
		*is_numbered = true;
		n += 2;
	}
	while (n < t.n && t.p[n] == ' ')
		n++;
	if (t.n - n > 4 && t.p[n] == '[' && t.p[n + 2] == ']' && t.p[n + 3] == ' ')
		n += 4;
	return n;
}

static void heading_line(struct parse *ps, struct str t)
{
	struct block b = { .kind = BLOCK_HEADING };
	size_t sign;

	while (b.level < t.n && t.p[b.level] == '#')
		b.level++;
	t = str_trim((struct str){ t.p + b.level, t.n - b.level });
	while (t.n && t.p[t.n - 1] == '#')
		t.n--;
	t = skip_pictures(t);
	sign = item_sign(t, &b.is_numbered);
	if (b.is_numbered)
		t = (struct str){ t.p + sign, t.n - sign };
	open_block(ps, b, t);
	close_block(ps);
}

static void text_line(struct parse *ps, struct str line, struct str t)
{
	struct block b = { .kind = BLOCK_TEXT };
	size_t sign = item_sign(t, &b.is_numbered), indent = (size_t)(t.p - line.p);

	if (sign && t.n > sign) {
		b.kind = BLOCK_ITEM;
		b.level = (unsigned)(indent / 2);
		open_block(ps, b, (struct str){ t.p + sign, t.n - sign });
	} else if (t.p[0] == '|') {
		close_block(ps);
		b.kind = BLOCK_TABLE;
		open_block(ps, b, t);
		close_block(ps);
	} else if (t.p[0] == '>' && (t.n == 1 || t.p[1] == ' ')) {
		b.kind = BLOCK_QUOTE;
		open_block(ps, b, str_trim((struct str){ t.p + 1, t.n - 1 }));
	} else if (ps->is_open && ps->open.kind != BLOCK_QUOTE &&
		   !(ps->open.kind == BLOCK_TEXT && memcmp(t.p, "**", MIN(t.n, 2)) == 0)) {
		buf_char(&ps->text, '\n');
		buf_add(&ps->text, t.p, t.n);
	} else {
		open_block(ps, b, t);
	}
}

void blocks_parse(struct arena *a, struct str markdown, struct blocks *ret)
{
	struct parse ps = { .a = a, .ret = ret };
	struct str rest = { markdown.p, utf8_cut(markdown.p, markdown.n, MARKDOWN_MAX) }, line;

	*ret = (struct blocks){ 0 };
	while (str_line(&rest, &line)) {
		struct str t = str_trim(line);

		if (fence_line(&ps, line))
			continue;
		if (!t.n || rule_line(t))
			close_block(&ps);
		else if (t.p[0] == '#' && t.n > 1 && (t.p[1] == '#' || t.p[1] == ' '))
			heading_line(&ps, t);
		else
			text_line(&ps, line, t);
	}
	close_block(&ps);
	buf_done(&ps.text);
}
