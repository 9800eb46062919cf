/*
 * Secret or not: whether a value assigned to a secret-sounding name is one. Source code assigns
 * calls, variables and type names to "password" and "token" far more often than it holds real ones,
 * so that most of this is about what code looks like.
 */

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "text/redact_table.h"

#define RANDOM_MIN_QUOTED 12
#define RANDOM_MIN_BARE 16
/* Bits per character; words of prose stand near 3 but fail the other tests */
#define RANDOM_ENTROPY 2.9
#define PASSWORD_MIN_QUOTED 5
#define PASSWORD_MIN_BARE 6
#define WORD_MIN 3 /* letters that make a part a word */

/* Values, or beginnings of values, that stand for a secret without being one. Lower case. */
static const char *const placeholders[] = { "your", "my_", "my-", "xxx", "***", "...", "<", "{",
	"$", "%", "changeme", "change_me", "change-me", "example", "placeholder", "redacted",
	"[redacted", "dummy", "fake", "test", "sample", "todo", "insert", "replace", "process.env",
	"os.environ", "os.getenv", "env.", "getenv", "system.getenv", "secrets.", "vars.",
	"import.meta", "config.", "settings.", "undefined", "@", "#", "&" };
/* Values that are these words as a whole. */
static const char *const plain_words[] = { "string", "str", "number", "bool", "boolean", "bytes",
	"byte", "char", "text", "varchar", "object", "any", "none", "null", "nil", "pass", "pw",
	"pwd", "foo", "bar", "true", "false", "void", "optional", "required", "password", "passwd",
	"secret", "token", "hidden", "value", "username", "user", "default", "input", "unknown",
	"empty", "invalid", "admin", "buffer", "int", "integer", "float", "bearer", "basic",
	"postgres", "self", "this", "func", "function", "async", "await", "return", "const",
	"static", "public", "private", "readonly", "missing" };

static bool has_prefix_ci(struct str v, const char *prefix)
{
	size_t n = strlen(prefix);

	return v.n >= n && strncasecmp(v.p, prefix, n) == 0;
}

static bool is_placeholder(struct str v)
{
	for (size_t i = 0; i < ARRAY_LEN(placeholders); i++)
		if (has_prefix_ci(v, placeholders[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(plain_words); i++)
		if (strlen(plain_words[i]) == v.n && has_prefix_ci(v, plain_words[i]))
			return true;
	for (size_t i = 1; i < v.n; i++)
		if (v.p[i] != v.p[0])
			return false;
	return true;
}

/*
 * Calls, subscripts, member chains, generics, pointers and casts: "os.environ[", "lexer.next()",
 * "Optional<T>".
 */
static bool is_code(struct str v)
{
	size_t dots = 0, plain = 0;

	for (size_t i = 0; i < v.n; i++) {
		if (strchr("()[]{}<>|", v.p[i]))
			return true;
		if (v.p[i] == '.' && i > 0 && i + 1 < v.n && isalpha((unsigned char)v.p[i + 1]))
			dots++;
		if (isalnum((unsigned char)v.p[i]) || v.p[i] == '_' || v.p[i] == '.')
			plain++;
	}
	return dots > 0 && plain == v.n && v.n < 60 && !isdigit((unsigned char)v.p[0]) &&
	       memchr(v.p, '.', v.n) && dots * 25 >= v.n;
}

static double entropy(struct str v)
{
	unsigned counts[256] = { 0 };
	double bits = 0;

	for (size_t i = 0; i < v.n; i++)
		counts[(unsigned char)v.p[i]]++;
	for (size_t i = 0; i < 256; i++)
		if (counts[i]) {
			double share = (double)counts[i] / (double)v.n;

			bits -= share * log2(share);
		}
	return bits;
}

/*
 * Letters that stand in words ("my-tls-secret-2024"): parts between separators that are all
 * letters, or one capital then lower case.
 */
static size_t letters_in_words(struct str v)
{
	size_t in_words = 0, run = 0;
	bool has_mixed = false;

	for (size_t i = 0; i <= v.n; i++) {
		unsigned char c = i < v.n ? (unsigned char)v.p[i] : 0;
		bool is_first = run == 0;

		if (isalpha(c)) {
			if (!is_first && isupper(c) != isupper((unsigned char)v.p[i - 1]) &&
				!(run == 1 && islower(c)))
				has_mixed = true;
			run++;
			continue;
		}
		if (run >= WORD_MIN && !has_mixed && !isdigit(c) &&
			(i <= run || !isdigit((unsigned char)v.p[i - run - 1])))
			in_words += run;
		run = 0;
		has_mixed = false;
	}
	return in_words;
}

static bool is_random(struct str v, bool is_quoted)
{
	size_t digits = 0, letters = 0, others = 0;

	if (v.n < (is_quoted ? RANDOM_MIN_QUOTED : RANDOM_MIN_BARE) || is_placeholder(v) ||
		is_code(v))
		return false;
	for (size_t i = 0; i < v.n; i++) {
		unsigned char c = (unsigned char)v.p[i];

		digits += isdigit(c) != 0;
		letters += isalpha(c) != 0;
		others += !isalnum(c) && !strchr("+/=_.~-", c);
	}
	if (others > 2 || digits < 2 || letters < 3 || has_prefix_ci(v, "http") || v.p[0] == '/' ||
		v.p[0] == '.')
		return false;
	return letters_in_words(v) * 2 < letters && entropy(v) >= RANDOM_ENTROPY;
}

/* A name of the program ("userPassword", "new_pw2") rather than a value. */
static bool is_identifier(struct str v)
{
	for (size_t i = 0; i < v.n; i++)
		if (!isalnum((unsigned char)v.p[i]) && v.p[i] != '_')
			return false;
	return !isdigit((unsigned char)v.p[0]);
}

static bool is_password(struct str v, bool is_quoted)
{
	size_t digits = 0;

	if (v.n < (is_quoted ? PASSWORD_MIN_QUOTED : PASSWORD_MIN_BARE) || is_placeholder(v) ||
		is_code(v))
		return false;
	if (is_quoted)
		return !memchr(v.p, ' ', v.n) && v.p[0] != '/' && v.p[0] != '.' && v.p[0] != '=' &&
		       v.p[0] != '+';
	for (size_t i = 0; i < v.n; i++)
		digits += isdigit((unsigned char)v.p[i]) != 0;
	if (digits == 0 || digits == v.n || v.p[0] == '/' || v.p[0] == '*' || v.p[0] == '-')
		return false;
	return !is_identifier(v) || digits * 4 >= v.n || v.n >= RANDOM_MIN_BARE;
}

bool redact_value_is_secret(enum value_check check, struct str value, bool is_quoted)
{
	switch (check) {
	case VALUE_ANY:
		return true;
	case VALUE_RANDOM:
		return is_random(value, is_quoted);
	case VALUE_PASSWORD:
		return is_password(value, is_quoted);
	case VALUE_URL:
		return value.n > 2 && !is_placeholder(value) && !memchr(value.p, '{', value.n) &&
		       !memchr(value.p, '(', value.n);
	}
	return false;
}
