/*
 * Shell text as simple commands. Not a shell: it knows quotes, comments, here-documents,
 * redirections and the words that stand before commands, which is enough to tell which programs
 * were run with which words.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "observe/entity_find.h"

#define HERE_MAX 4
#define LEVEL_MAX 8 /* quotes within quotes */

struct lexer {
	const char *p, *end;
	char *out; /* where the next word goes; all words fit into as much as the text takes */
	struct shell_command c;
	struct str here[HERE_MAX]; /* ends of here-documents that begin on this line */
	size_t nhere;
	int depth;       /* open parentheses */
	bool is_skipped; /* up to the next command: what follows "for" or "case" */
	void (*each)(void *ctx, const struct shell_command *c);
	void *ctx;
};

static void command_end(struct lexer *x)
{
	if (x->c.n && !x->is_skipped)
		x->each(x->ctx, &x->c);
	x->c.n = 0;
	x->is_skipped = false;
}

static void skip_to(struct lexer *x, char c)
{
	while (x->p < x->end && *x->p != c)
		x->p += *x->p == '\\' && x->p + 1 < x->end ? 2 : 1;
	x->p = MIN(x->p, x->end);
}

/* After a newline: the bodies of the here-documents that it opened. */
static void skip_here(struct lexer *x)
{
	for (size_t i = 0; i < x->nhere; i++) {
		struct str rest = { x->p, (size_t)(x->end - x->p) }, line;
		while (str_line(&rest, &line) && !str_eq(str_trim(line), x->here[i]))
			;
		x->p = rest.n ? rest.p : x->end;
	}
	x->nhere = 0;
}

/* A here-document within "$(…)": up to its end. */
static void skip_inner_here(struct lexer *x)
{
	size_t n = 0;

	while (x->p < x->end && strchr("<- '\"\\", *x->p))
		x->p++;
	while (x->p + n < x->end && (isalnum((unsigned char)x->p[n]) || x->p[n] == '_'))
		n++;
	if (!n)
		return;
	struct str name = { x->p, n }, line;
	skip_to(x, '\n');
	struct str rest = { x->p, (size_t)(x->end - x->p) };
	while (str_line(&rest, &line) && !str_eq(str_trim(line), name))
		;
	x->p = rest.n ? rest.p : x->end;
}

static void skip_double(struct lexer *x, unsigned level);

/* What follows "$(", past its end. */
static void skip_substitution(struct lexer *x, unsigned level)
{
	for (unsigned depth = 1; x->p < x->end && depth;) {
		char c = *x->p++;
		if (c == '\\' && x->p < x->end) {
			x->p++;
		} else if (c == '\'') {
			while (x->p < x->end && *x->p != '\'')
				x->p++;
			x->p += x->p < x->end;
		} else if (c == '"') {
			skip_double(x, level + 1);
			x->p += x->p < x->end;
		} else if (c == '<' && x->p < x->end && *x->p == '<') {
			skip_inner_here(x);
		} else {
			depth += (c == '(') - (c == ')');
		}
	}
}

/* Up to the closing quote. */
static void skip_double(struct lexer *x, unsigned level)
{
	while (x->p < x->end && *x->p != '"') {
		bool is_open = *x->p == '$' && x->p + 1 < x->end && x->p[1] == '(';
		x->p += (*x->p == '\\' || is_open) && x->p + 1 < x->end ? 2 : 1;
		if (is_open && level < LEVEL_MAX)
			skip_substitution(x, level);
	}
}

/* One word with its quotes taken off; *ret_quoted when any part was quoted. */
static char *word_take(struct lexer *x, bool *ret_quoted)
{
	char *out = x->out, *to = out;

	*ret_quoted = false;
	for (; x->p < x->end && !strchr(" \t\r\n;&|()<>", *x->p); x->p++) {
		char quote = *x->p;
		if (quote == '\\' && x->p + 1 < x->end) {
			x->p++;
			if (*x->p != '\n')
				*to++ = *x->p;
		} else if (quote == '\'' || quote == '"') {
			bool is_after_dollar = to > out && to[-1] == '$';
			const char *from = ++x->p;
			*ret_quoted = true;
			if (quote == '"')
				skip_double(x, 0);
			if (quote == '\'' && is_after_dollar) /* $'…' has escapes */
				skip_to(x, quote);
			for (; quote == '\'' && x->p < x->end && *x->p != quote;)
				x->p++;
			memcpy(to, from, (size_t)(x->p - from));
			to += x->p - from;
			if (x->p >= x->end)
				break;
		} else {
			*to++ = *x->p;
		}
	}
	*to++ = '\0';
	x->out = to;
	return out;
}

static void redirect(struct lexer *x)
{
	bool is_here = x->end - x->p > 2 && x->p[0] == '<' && x->p[1] == '<' && x->p[2] != '<',
	     is_quoted;

	if (x->c.n) { /* "2>": the number belongs to the sign */
		const char *last = x->c.words[x->c.n - 1];
		x->c.n -= isdigit((unsigned char)last[0]) && !last[1] && x->p[-1] == last[0];
	}
	while (x->p < x->end && strchr("<>&-", *x->p))
		x->p++;
	while (x->p < x->end && (*x->p == ' ' || *x->p == '\t'))
		x->p++;
	if (x->p < x->end && *x->p == '(')
		return;
	char *word = word_take(x, &is_quoted);
	if (is_here && *word && x->nhere < HERE_MAX)
		x->here[x->nhere++] = str_of(word);
}

/* Words that stand before a command, or instead of one. */
static bool is_lead(const char *w)
{
	static const char *const leads[] = { "if", "then", "else", "elif", "while", "until", "do",
		"{", "!", "fi", "done", "}", "esac" };

	for (size_t i = 0; i < ARRAY_LEN(leads); i++)
		if (strcmp(w, leads[i]) == 0)
			return true;
	return false;
}

static void word_add(struct lexer *x)
{
	bool is_quoted;
	const char *from = x->p;
	char *w = word_take(x, &is_quoted);

	if (x->p == from)
		x->p++; /* never stand still */
	if (!x->c.n && !is_quoted && is_lead(w))
		return;
	if (!x->c.n && (strcmp(w, "for") == 0 || strcmp(w, "case") == 0 ||
			       strcmp(w, "select") == 0 || strcmp(w, "function") == 0))
		x->is_skipped = true;
	if (x->c.n < SHELL_WORDS_MAX)
		x->c.words[x->c.n++] = w;
}

static void parenthesis(struct lexer *x)
{
	bool is_function = *x->p == '(' && x->p + 1 < x->end && x->p[1] == ')' && x->c.n == 1;

	/* "name()" defines; "pattern)" belongs to a case. */
	x->is_skipped |= is_function || (*x->p == ')' && !x->depth);
	command_end(x);
	if (is_function)
		x->p++;
	else
		x->depth = MAX(0, x->depth + (*x->p == '(' ? 1 : -1));
	x->p++;
}

void shell_each(struct arena *a, struct str text,
	void (*each)(void *ctx, const struct shell_command *c), void *ctx)
{
	struct lexer x = { .p = text.p,
		.end = text.p + text.n,
		.out = arena_alloc(a, text.n + 2),
		.each = each,
		.ctx = ctx };

	while (x.p < x.end) {
		char c = *x.p;
		if (c == '\n') {
			command_end(&x);
			x.p++;
			skip_here(&x);
		} else if (c == ' ' || c == '\t' || c == '\r') {
			x.p++;
		} else if (c == '&' && x.p + 1 < x.end && x.p[1] == '>') {
			x.p++;
		} else if (c == ';' || c == '&' || c == '|') {
			command_end(&x);
			x.p++;
		} else if (c == '(' || c == ')') {
			parenthesis(&x);
		} else if (c == '<' || c == '>') {
			redirect(&x);
		} else if (c == '#') {
			skip_to(&x, '\n');
		} else {
			word_add(&x);
		}
	}
	command_end(&x);
}
