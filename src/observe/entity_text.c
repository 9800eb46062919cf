/*
 * Entities in what people and agents write, in the output of commands (error classes only), and in
 * addresses.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "observe/entity_find.h"

#define ERROR_LINE_MAX 2000 /* longer lines are data */

/* ---- addresses ---- */

static const struct {
	const char *scheme, *service;
} schemes[] = { { "postgres", "postgresql" }, { "postgresql", "postgresql" }, { "mysql", "mysql" },
	{ "redis", "redis" }, { "rediss", "redis" }, { "mongodb", "mongodb" },
	{ "mongodb+srv", "mongodb" }, { "amqp", "rabbitmq" }, { "s3", "s3" }, { "kafka", "kafka" },
	{ "clickhouse", "clickhouse" }, { "nats", "nats" }, { "gs", "gcs" } };

static const struct {
	const char *port, *service;
} ports[] = { { "5432", "postgresql" }, { "6379", "redis" }, { "27017", "mongodb" },
	{ "3306", "mysql" }, { "9200", "elasticsearch" }, { "5672", "rabbitmq" },
	{ "11211", "memcached" } };

static const char *const unreal[] = { "example.com", "example.org", "example.net", "localhost.com",
	"foo.com", "bar.com", "test.com", "your-domain.com", "domain.com" };

static bool is_host(struct str h)
{
	const char *dot = NULL;
	bool has_letter = false;

	for (size_t i = 0; i < h.n; i++) {
		if (!isalnum((unsigned char)h.p[i]) && h.p[i] != '.' && h.p[i] != '-')
			return false;
		dot = h.p[i] == '.' ? h.p + i : dot;
		has_letter |= isalpha((unsigned char)h.p[i]) != 0;
	}
	if (!dot || dot == h.p || !has_letter || (size_t)(h.p + h.n - dot) < 3)
		return false;
	for (const char *p = dot + 1; p < h.p + h.n; p++)
		if (!isalpha((unsigned char)*p))
			return false;
	for (size_t i = 0; i < ARRAY_LEN(unreal); i++) {
		size_t n = strlen(unreal[i]);
		if (h.n >= n && memcmp(h.p + h.n - n, unreal[i], n) == 0 &&
			(h.n == n || h.p[h.n - n - 1] == '.'))
			return false;
	}
	return !(h.n > 5 && memcmp(h.p + h.n - 5, ".test", 5) == 0) &&
	       !(h.n > 8 && memcmp(h.p + h.n - 8, ".invalid", 8) == 0);
}

static bool is_local(struct str h)
{
	return str_is(h, "localhost") || str_is(h, "127.0.0.1") || str_is(h, "0.0.0.0") ||
	       str_is(h, "host.docker.internal");
}

/* A local port: what usually listens there, or the port itself. */
static void local_port(struct finder *f, struct str port)
{
	char name[24] = "localhost:";

	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		if (str_is(port, ports[i].port)) {
			entity_add(f, ENTITY_SERVICE, str_of(ports[i].service));
			return;
		}
	if (port.n < 2 || port.n > 5)
		return;
	memcpy(name + 10, port.p, port.n);
	entity_add(f, ENTITY_SERVICE, (struct str){ name, 10 + port.n });
}

static void host_and_port(struct finder *f, struct str at)
{
	size_t n = 0, p;

	while (n < at.n && (isalnum((unsigned char)at.p[n]) || strchr(".-_", at.p[n])))
		n++;
	struct str host = { at.p, n };
	for (p = n; p + 1 < at.n && at.p[n] == ':' && isdigit((unsigned char)at.p[p + 1]);)
		p++;
	if (is_local(host)) {
		if (p > n)
			local_port(f, (struct str){ at.p + n + 1, p - n });
		return;
	}
	if (host.n > 4 && memcmp(host.p, "www.", 4) == 0)
		host = (struct str){ host.p + 4, host.n - 4 };
	if (is_host(host))
		entity_add(f, ENTITY_SERVICE, host);
}

void entity_url(struct finder *f, struct str word)
{
	const char *sign = str_find(word, STR("://"));

	if (!sign) {
		const char *local = str_find(word, STR("localhost:"));
		if (local && (local == word.p || !isalnum((unsigned char)local[-1])))
			host_and_port(f, (struct str){ local, (size_t)(word.p + word.n - local) });
		return;
	}
	struct str scheme = { sign, 0 };
	while (scheme.p > word.p && (isalnum((unsigned char)scheme.p[-1]) || scheme.p[-1] == '+'))
		scheme.p--, scheme.n++;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_is(scheme, schemes[i].scheme)) {
			entity_add(f, ENTITY_SERVICE, str_of(schemes[i].service));
			return;
		}
	if (!scheme.n || str_is(scheme, "file"))
		return;
	struct str rest = { sign + 3, (size_t)(word.p + word.n - sign) - 3 };
	for (size_t i = 0; i < rest.n && rest.p[i] != '/' && rest.p[i] != '?'; i++)
		if (rest.p[i] == '@') /* user and password */
			rest = (struct str){ rest.p + i + 1, rest.n - i - 1 }, i = 0;
	host_and_port(f, rest);
}

/* ---- errors ---- */

static bool ends_in(struct str s, const char *end)
{
	size_t n = strlen(end);

	return s.n > n && memcmp(s.p + s.n - n, end, n) == 0;
}

/* "ValueError", "java.lang.NullPointerException": what says which class failed. */
static bool is_error_class(struct str w)
{
	bool has_lower = false;

	if (w.n < 7 || w.n > 50 || !isupper((unsigned char)w.p[0]))
		return false;
	for (size_t i = 0; i < w.n; i++) {
		if (!isalnum((unsigned char)w.p[i]))
			return false;
		has_lower |= islower((unsigned char)w.p[i]) != 0;
	}
	if (memcmp(w.p, "Test", 4) == 0) /* a test of one */
		return false;
	if (!has_lower || str_is(w, "UncaughtException") || str_is(w, "UnhandledException"))
		return false;
	return ends_in(w, "Error") || ends_in(w, "Exception") || str_is(w, "KeyboardInterrupt") ||
	       ends_in(w, "Warning");
}

/* A function or test that has to do with an error: its name begins with a verb. */
static bool is_about_errors(struct str w)
{
	static const char *const verbs[] = { "Test", "Handle", "On", "Is", "New", "Log", "Set",
		"Get", "Throw", "Run", "Show", "Render", "Create", "Make", "Print", "Assert",
		"Expect", "Wrap", "To", "Report", "Return", "Check", "Parse", "Format", "Write",
		"Raise", "Last" };

	if (ends_in(w, "WithError") || ends_in(w, "OnError") || ends_in(w, "AsError"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		size_t n = strlen(verbs[i]);
		bool is_class = strcmp(verbs[i], "Parse") == 0 && w.n == n + 5;
		if (w.n > n && memcmp(w.p, verbs[i], n) == 0 && isupper((unsigned char)w.p[n]) &&
			!is_class)
			return true;
	}
	return false;
}

/* E0502, TS2345, SC2086: letters, then as many digits as that tool has. */
static bool is_error_code(struct str w)
{
	static const struct {
		const char *letters;
		size_t digits;
	} codes[] = { { "E", 4 }, { "TS", 4 }, { "TS", 5 }, { "SC", 4 }, { "CS", 4 } };

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		size_t n = strlen(codes[i].letters), k = n;
		if (w.n != n + codes[i].digits || memcmp(w.p, codes[i].letters, n) != 0)
			continue;
		while (k < w.n && isdigit((unsigned char)w.p[k]))
			k++;
		/* Rust's begin with E0. */
		if (k == w.n && (n > 1 || w.p[1] == '0'))
			return true;
	}
	return false;
}

static bool is_system_error(struct str w)
{
	char name[16];

	if (w.n < 3 || w.n >= sizeof(name) || (w.p[0] != 'E' && w.p[0] != 'S'))
		return false;
	memcpy(name, w.p, w.n);
	name[w.n] = '\0';
	return word_is_listed(SYSTEM_ERRORS, name);
}

static bool is_code_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Codes anywhere in a line: words that begin as one does. */
static void error_codes(struct finder *f, struct str line, bool has_failed)
{
	for (size_t i = 0, n; i < line.n; i++) {
		char c = line.p[i];
		if ((c != 'E' && c != 'T' && c != 'S' && c != 'C') ||
			(i && is_code_byte(line.p[i - 1])))
			continue;
		for (n = 1; i + n < line.n && is_code_byte(line.p[i + n]);)
			n++;
		struct str w = { line.p + i, n };
		if (is_error_code(w) ? has_failed || str_ifind(line, "error")
				     : has_failed && is_system_error(w))
			entity_add(f, ENTITY_CONCEPT, w);
		i += n - 1;
	}
}

/* What stands before the class of an error. */
static struct str skip_leads(struct str line)
{
	static const char *const leads[] = { "E ", "Uncaught ", "Caused by: ", "Unhandled ",
		"thrown: ", "Exception in thread \"main\" ", "error: Uncaught ", "[" };

	line = str_trim(line);
	if (!line.n || !strchr("EUCte[", line.p[0]))
		return line;
	for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
		size_t n = strlen(leads[i]);
		if (line.n > n && memcmp(line.p, leads[i], n) == 0)
			line = str_trim((struct str){ line.p + n, line.n - n });
	}
	return line;
}

/* The class that a line begins with: "ValueError: …", "E   KeyError", "Caused by: x.y.Z: …". */
static void error_class(struct finder *f, struct str line)
{
	size_t n = 0, last = 0;

	line = skip_leads(line);
	for (; n < line.n && (is_code_byte(line.p[n]) || line.p[n] == '.'); n++)
		if (line.p[n] == '.')
			last = n + 1;
	struct str name = { line.p + last, n - last };
	bool is_end = n == line.n || line.p[n] == ':' || line.p[n] == ']' ||
		      (line.p[n] == ' ' && n + 1 < line.n && line.p[n + 1] == '[');
	if (is_end && is_error_class(name))
		entity_add(f, ENTITY_CONCEPT, name);
}

void entity_errors(struct finder *f, struct str output)
{
	static const char *const parts[] = { "rror", "xception", "Warning", "Interrupt" };
	bool has_failed = f->e->status == STATUS_FAILED || f->e->exit_code > 0;
	bool is_worth = has_failed;
	struct str line;

	for (size_t i = 0; i < ARRAY_LEN(parts) && !is_worth; i++)
		is_worth = str_find(output, str_of(parts[i])) != NULL;
	while (is_worth && str_line(&output, &line)) {
		if (line.n > ERROR_LINE_MAX)
			continue;
		error_codes(f, line, has_failed);
		error_class(f, line);
	}
}

/* ---- prose ---- */

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || strchr("_-.+#/@", c) != NULL ||
	       (unsigned char)c >= 0x80;
}

bool entity_is_written_as_name(struct str text, struct str w)
{
	const char *p = w.p;

	if (p > text.p && p[-1] == '`')
		return w.p + w.n < text.p + text.n && w.p[w.n] == '`';
	if (!isupper((unsigned char)w.p[0]) || (w.n > 1 && isupper((unsigned char)w.p[1])))
		return false;
	while (p > text.p && (p[-1] == ' ' || p[-1] == '*' || p[-1] == '(' || p[-1] == '"'))
		p--;
	return p > text.p && !strchr(".!?:\n-#|>", p[-1]) && p[-1] != '\r' && p != w.p;
}

static void prose_word(struct finder *f, struct str text, struct str w)
{
	char lower[ENTITY_NAME_MAX];
	const struct known_name *known;

	while (w.n && strchr(".-/+@_", w.p[w.n - 1]) && !str_is(w, "c++") && !str_is(w, "C++"))
		w.n--;
	if (w.n < 2 || w.n >= sizeof(lower))
		return;
	if ((is_error_class(w) && !is_about_errors(w)) || is_error_code(w) || is_system_error(w)) {
		entity_add(f, ENTITY_CONCEPT, w);
		return;
	}
	/* A path or a file's name is no name. */
	if (memchr(w.p, '/', w.n) || memchr(w.p, '@', w.n) || memchr(w.p, '_', w.n))
		return;
	for (size_t i = 0; i < w.n; i++)
		lower[i] = (char)tolower((unsigned char)w.p[i]);
	lower[w.n] = '\0';
	const char *canonical = name_canonical(lower);
	known = name_known(canonical);
	if (!known || known->kind == ENTITY_FILE || known->prose == PROSE_NEVER)
		return;
	bool is_spelling = canonical == lower || !word_is_listed(NOISE_SPELLINGS, lower);
	bool is_word = known->prose == PROSE_WORD && is_spelling && (canonical == lower || w.n > 2);
	if (is_word || entity_is_written_as_name(text, w))
		entity_add(f, known->kind, w);
}

/* Fenced blocks are code or output: skipped. */
static const char *skip_fence(const char *p, const char *end)
{
	const char *close = str_find((struct str){ p + 3, (size_t)(end - p) - 3 }, STR("```"));

	return close ? close + 3 : end;
}

void entity_prose(struct finder *f, struct str text)
{
	const char *p = text.p, *end = text.p + text.n;

	while (p < end) {
		if (end - p >= 3 && memcmp(p, "```", 3) == 0) {
			p = skip_fence(p, end);
			continue;
		}
		if (!is_word_byte(*p)) {
			p++;
			continue;
		}
		struct str w = { p, 0 };
		while (p < end &&
			(is_word_byte(*p) ||
				(*p == ':' && end - p > 2 && isalnum((unsigned char)p[1])) ||
				(*p == ':' && end - p > 2 && p[1] == '/' && p[2] == '/')))
			p++;
		w.n = (size_t)(p - w.p);
		if (memchr(w.p, ':', w.n)) {
			if (f->e->kind == EVENT_PROMPT)
				entity_url(f, w);
			continue;
		}
		prose_word(f, text, w);
	}
}
