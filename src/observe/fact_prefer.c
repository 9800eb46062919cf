/*
 * What a person prefers, demands and forbids for good, and what they correct. English, French,
 * German, Spanish. What speaks of this moment ("don't touch that file now") is a step of one task:
 * a sentence must mean something on another day. One that may have been meant once only is kept as
 * weak and waits until it is said again.
 */

#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/sentence.h"

#define WORDS_MIN 3
#define WORDS_MAX 34
#define OPTION_WORDS_MAX 4
#define OPTION_MAX 48
#define PREFERENCES_MAX 8 /* of one turn */
#define GROUP "preference"

/* ---- what may come before the matter ---- */

static const char *const leads[] = { "please ", "pls ", "also, ", "also ", "and ", "but ", "so ",
	"ok, ", "ok ", "okay, ", "okay ", "btw, ", "btw ", "by the way, ", "by the way ", "hey ",
	"just ", "note: ", "note that ", "remember: ", "remember to ", "remember that ",
	"remember, ", "important: ", "i want you to ", "i need you to ", "i'd like you to ",
	"you should ", "you must ", "you need to ", "you have to ", "we should ", "we must ",
	"make sure to ", "make sure you ", "make sure that you ", "be sure to ", "let's ",
	"s'il te plaît, ", "s'il te plaît ", "s'il te plait ", "stp ", "et ", "merci de ",
	"il faut que tu ", "tu dois ", "il faut ", "bitte ", "und ", "por favor, ", "por favor ",
	"y " };

/* Said for good. */
static const char *const lasting[] = { "from now on, ", "from now on ", "going forward, ",
	"going forward ", "in the future, ", "in the future ", "in future, ", "in future ",
	"as a rule, ", "as a rule ", "as a general rule, ", "in general, ", "in this repo, ",
	"in this project, ", "in this codebase, ", "in this repository, ", "for this project, ",
	"for all future ", "désormais, ", "désormais ", "dorénavant, ", "dorénavant ",
	"à l'avenir, ", "à l'avenir ", "à partir de maintenant, ", "à partir de maintenant ",
	"en général, ", "dans ce projet, ", "ab jetzt ", "ab sofort ", "in zukunft ", "künftig ",
	"a partir de ahora, ", "a partir de ahora ", "de ahora en adelante, ",
	"de ahora en adelante " };
static const char *const lasting_ends[] = { " from now on", " going forward", " in the future",
	" in future", " every time", " each time", " à l'avenir", " désormais", " dorénavant",
	" ab jetzt", " in zukunft", " a partir de ahora" };

static const char *const corrections[] = { "no, ", "no - ", "nope, ", "no. ", "actually, ",
	"actually ", "non, ", "nein, ", "i said ", "i told you to ", "i told you, ", "stop, ",
	"not like that, ", "wrong, ", "i thought ", "that's wrong, ", "that is wrong, ",
	"that's not right, ", "that is not correct, ", "that's not correct, " };

static const char *const always[] = { "always ", "toujours ", "immer ", "siempre " };
static const char *const never[] = { "never ", "don't ever ", "do not ever ", "dont ever ",
	"ne jamais ", "niemals ", "nie ", "nunca ", "jamais " };
static const char *const refusals[] = { "don't use ", "do not use ", "dont use ", "stop using ",
	"avoid using ", "n'utilise pas ", "n'utilise plus ", "n'utilise jamais ",
	"ne pas utiliser ", "évite d'utiliser ", "verwende kein ", "verwende keine ", "no uses " };
static const char *const stops[] = { "stop ", "avoid ", "don't ", "do not ", "dont ",
	"i don't want you to ", "i do not want you to ", "ne mets pas ", "ne fais pas ",
	"n'ajoute pas ", "arrête de ", "évite de ", "je ne veux pas que tu ", "evita ",
	"vermeide " };
static const char *const prefers[] = { "i prefer ", "i'd prefer ", "i would prefer ", "we prefer ",
	"prefer ", "i'd rather use ", "i always prefer ", "i generally prefer ",
	"i usually prefer ", "je préfère ", "on préfère ", "nous préférons ", "préfère ",
	"ich bevorzuge ", "wir bevorzugen ", "prefiero ", "preferimos " };
static const char *const uses[] = { "use ", "we use ", "we're using ", "we are using ", "i use ",
	"we always use ", "always use ", "you should use ", "utilise ", "on utilise ",
	"nous utilisons ", "utiliser ", "verwende ", "wir verwenden ", "nutze ", "usa ",
	"usamos " };
static const char *const habits[] = { "we always ", "we never ", "we don't ", "we only ",
	"we usually ", "i always ", "i never want ", "i like ", "i want ", "our convention is ",
	"the convention is ", "our rule is ", "on ne ", "nous ne " };

/* What is used no longer, and what it was changed for. */
static const char *const dropped[] = { "i no longer use ", "we no longer use ", "we don't use ",
	"we do not use ", "i don't use ", "i do not use ", "we stopped using ", "i stopped using ",
	"on n'utilise plus ", "on n'utilise pas ", "je n'utilise plus ", "je n'utilise pas ",
	"wir verwenden kein ", "ya no usamos " };
static const char *const moved[] = { "we switched ", "we moved ", "we migrated ", "we changed ",
	"i switched ", "i moved ", "we've switched ", "we've moved ", "we have switched ",
	"we have moved ", "we have migrated ", "on est passé ", "on est passés ", "je suis passé ",
	"hemos pasado " };
/* Not wanted, whatever the task. */
static const char *const dislikes[] = { "we don't want ", "we explicitly don't want ",
	"we do not want ", "we never want ", "i don't want ", "i do not want ", "i never want ",
	"i don't like ", "i do not like ", "i really don't like ", "i hate ", "we don't do ",
	"please no ", "on ne veut pas de ", "on ne veut pas d'", "je ne veux pas de ",
	"je ne veux pas d'", "je n'aime pas ", "wir wollen keine ", "ich mag keine ",
	"no queremos " };
static const char *const customs_said[] = { "the pattern is to ", "the pattern was to ",
	"the convention is to ", "our convention is to ", "the rule is to ", "our rule is to ",
	"the way we do it is to ", "la convention est de ", "la règle est de " };
/* At which point of each piece of work. */
static const char *const occasions[] = { "before ", "after ", "whenever ", "each time ",
	"every time ", "when you ", "once you ", "avant de ", "avant chaque ", "après chaque ",
	"chaque fois que ", "à chaque fois que ", "bevor du ", "vor jedem ", "nach jedem ",
	"antes de " };
static const char *const each_time[] = { "each", "every", "any", "whenever", "always", "chaque",
	"toujours", "jedem", "immer", "cada", "siempre" };
/* What rules of a house speak of. */
static const char *const ruled[] = { "commit messages ", "commits ", "commit subjects ",
	"pull requests ", "prs ", "branches ", "branch names ", "tests ", "unit tests ",
	"integration tests ", "test names ", "functions ", "function names ", "classes ",
	"methods ", "file names ", "variables ", "error messages ", "log messages ", "comments ",
	"code comments ", "docs ", "releases ", "migrations ", "dependencies ",
	"les messages de commit ", "les tests ", "les commentaires ", "commit-nachrichten ",
	"los commits " };
static const char *const ruling[] = { "should ", "must ", "have to ", "need to ", "are always ",
	"are never ", "shouldn't ", "mustn't ", "doivent ", "ne doivent pas ", "sollen ", "müssen ",
	"deben " };
static const char *const languages_named[] = { " in french", " in english", " in german",
	" in spanish", " in italian", " in japanese", " in chinese", " in portuguese",
	" en français", " en anglais", " en francais", " auf deutsch", " auf englisch",
	" en español", " en inglés" };
static const char *const speaking[] = { "answer ", "reply ", "respond ", "write ", "speak ",
	"talk ", "comment ", "réponds", "parle", "écris ", "rédige ", "antworte ", "schreib ",
	"sprich ", "responde ", "habla ", "escribe " };

static const char *const spellings[] = { "british spelling", "american spelling", "british english",
	"american english", "uk english", "us english" };

/* ---- what speaks of this moment ---- */

static const char *const passing[] = { " this ", " these ", " those ", " that.", " that,", " now",
	" yet", " today", " above", " below", " following", " again", " for the moment",
	" at the moment", " this time", " already", " right away", " the pr", " the branch",
	" first,", " for a ", " current ", " ce ", " cet ", " cette ", " ces ", " ça", " cela",
	" maintenant", " ici", " jetzt", " dieser", " diese", " dieses", " ahora", " este ",
	" esta ", " eso", " aquí", " next step", " step ", " previous", " latest change",
	" your change", " last commit", " the plan", " the test ", " the file ", " the code ",
	" the issue ", " the bug ", " anything else", " fix anything", " change anything",
	" let me know", " the script ", " the error ", " the same " };
static const char *const projects[] = { "this project", "this repo", "this codebase",
	"this repository", "ce projet", "ce dépôt", "cette base de code" };

static bool is_passing(struct arena *a, const char *lower)
{
	char *text = arena_printf(a, " %s ", lower);

	for (size_t i = 0; i < ARRAY_LEN(projects); i++) {
		char *at = strstr(text, projects[i]);

		if (at)
			memset(at, '-', strlen(projects[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(lasting); i++) {
		char *at = strstr(text, lasting[i]);

		if (at)
			memset(at, ' ', strlen(lasting[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(lasting_ends); i++) {
		char *at = strstr(text, lasting_ends[i]);

		if (at)
			memset(at, ' ', strlen(lasting_ends[i]));
	}
	/* "we use X here" is how it always is. */
	if (strstr(text, " here") && !strstr(text, " we "))
		return true;
	return contains_any(text, passing, ARRAY_LEN(passing)) || strchr(text, '#');
}

/* ---- options that stand for each other ---- */

static const struct {
	const char *family;
	const char *const *members;
} families[] = {
	{ "package manager of node", (const char *const[]){ "npm", "pnpm", "yarn", "bun", NULL } },
	{ "package manager of python",
		(const char *const[]){ "pip", "uv", "poetry", "pipenv", "conda", "pdm", NULL } },
	{ "test runner of node", (const char *const[]){ "jest", "vitest", "mocha", "ava", NULL } },
	{ "test runner of python", (const char *const[]){ "pytest", "unittest", "nose", NULL } },
	{ "browser tests",
		(const char *const[]){ "playwright", "cypress", "selenium", "puppeteer", NULL } },
	{ "linter of python", (const char *const[]){ "ruff", "flake8", "pylint", NULL } },
	{ "formatter of node", (const char *const[]){ "prettier", "biome", NULL } },
	{ "indentation", (const char *const[]){ "tabs", "spaces", NULL } },
	{ "quotes", (const char *const[]){ "single quotes", "double quotes", NULL } },
	{ "database", (const char *const[]){ "sqlite", "postgres", "postgresql", "mysql", "mariadb",
			      "duckdb", "mongodb", NULL } },
	{ "search of files", (const char *const[]){ "rg", "ripgrep", "grep", "ag", NULL } },
	{ "integrating branches", (const char *const[]){ "rebase", "merge", "squash", NULL } },
	{ "build of java", (const char *const[]){ "maven", "gradle", NULL } },
	{ "build of c", (const char *const[]){ "cmake", "meson", "bazel", NULL } },
	{ "containers", (const char *const[]){ "docker", "podman", NULL } },
};

static const char *family_of(const char *option)
{
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		for (const char *const *m = families[i].members; *m; m++)
			if (strcmp(*m, option) == 0)
				return families[i].family;
	return NULL;
}

static const char *const versus[] = { " instead of ", " rather than ", ", not ", " over ", " not ",
	" and not ", " plutôt que ", " au lieu de ", ", pas ", " et non ", " et pas ", " statt ",
	" anstatt ", " en vez de ", " en lugar de " };
static const char *const scopes[] = { " here", " anymore", " any more", " for ", " in ", " when ",
	" as ", " pour ", " dans ", " quand ", " für ", " para ", " en ", " because ", " so ",
	" since ", " whenever ", " with ", " to ", " if ", ", ", "; ", " - ", " (" };

struct options {
	struct str chosen, other, scope; /* in small letters */
};

static size_t words_of(struct str s)
{
	size_t n = 0;
	struct str w;

	while (word_next(&s, &w))
		n++;
	return n;
}

/* "use the review skill": a step, whatever it is called. */
static bool names_helper(struct str w)
{
	static const char *const helpers[] = { "skill", "skills", "agent", "agents", "subagent",
		"subagents", "tool", "tools", "mcp", "worker", "something", "command" };

	for (size_t i = 0; i < ARRAY_LEN(helpers); i++)
		if (str_is(w, helpers[i]))
			return true;
	return false;
}

static bool is_option(struct str s)
{
	struct str rest = s, w;
	size_t n = words_of(s);

	if (!n || n > OPTION_WORDS_MAX || s.n > OPTION_MAX)
		return false;
	while (word_next(&rest, &w))
		if (word_is_pointer(w) || names_helper(w))
			return false;
	return true;
}

/* Cuts off what says where it holds. */
static struct str cut_scope(struct str s, struct str *ret_scope)
{
	const char *best = NULL;

	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		const char *at = str_find(s, str_of(scopes[i]));

		if (at && at > s.p && (!best || at < best))
			best = at;
	}
	*ret_scope = best ? str_trim((struct str){ best, (size_t)(s.p + s.n - best) })
			  : (struct str){ 0 };
	return best ? str_trim((struct str){ s.p, (size_t)(best - s.p) }) : s;
}

static struct str strip_article(struct str s)
{
	static const char *const articles[] = { "the ", "a ", "an ", "le ", "la ", "les ", "l'",
		"des ", "de ", "du ", "un ", "une ", "using ", "d'", "el ", "los " };

	starts_with_any(s, articles, ARRAY_LEN(articles), &s);
	while (s.n && strchr(".!`\"'*,):( ", s.p[s.n - 1]))
		s.n--;
	if (s.n > 4 && memcmp(s.p + s.n - 4, " and", 4) == 0)
		s.n -= 4;
	while (s.n && strchr("`\"'*", s.p[0]))
		s.p++, s.n--;
	return s;
}

/* "pnpm instead of npm for installs" */
static bool options_parse(struct str rest, struct options *ret)
{
	const char *at = NULL;
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(versus) && !at; i++) {
		at = str_find(rest, str_of(versus[i]));
		len = strlen(versus[i]);
	}
	*ret = (struct options){ 0 };
	if (!at)
		return false;
	ret->chosen = strip_article((struct str){ rest.p, (size_t)(at - rest.p) });
	ret->other = str_trim((struct str){ at + len, (size_t)(rest.p + rest.n - at) - len });
	ret->other = strip_article(cut_scope(ret->other, &ret->scope));
	return is_option(ret->chosen) && is_option(ret->other);
}

/* ---- one sentence ---- */

enum manner { MANNER_NONE, MANNER_OPTIONS, MANNER_USE, MANNER_DO, MANNER_DONT };

struct heard {
	enum manner manner;
	int strength;
	bool is_correction, is_lasting;
	bool is_sure;    /* whatever else the sentence says */
	struct str rest; /* in small letters: what is demanded */
	size_t skipped;  /* bytes of the sentence before it */
	struct options options;
};

static void hear_leads(struct heard *h, const char *lower)
{
	struct str s = str_of(lower);

	for (unsigned round = 0; round < 5; round++) {
		if (starts_with_any(s, lasting, ARRAY_LEN(lasting), &s))
			h->is_lasting = true;
		else if (starts_with_any(s, corrections, ARRAY_LEN(corrections), &s))
			h->is_correction = true;
		else if (!starts_with_any(s, leads, ARRAY_LEN(leads), &s))
			break;
	}
	h->is_lasting |= says_any(lower, lasting_ends, ARRAY_LEN(lasting_ends));
	h->rest = s;
	h->skipped = (size_t)(s.p - lower);
}

/* "mets toujours …", "ne mets jamais …": the French say it after the verb. */
static enum manner hear_inner(struct str s)
{
	struct str head = { s.p, MIN(s.n, 30u) };
	bool opens_negation = s.n > 3 && (memcmp(s.p, "ne ", 3) == 0 || memcmp(s.p, "n'", 2) == 0);

	if (opens_negation && str_find(head, STR(" jamais ")))
		return MANNER_DONT;
	if (str_find((struct str){ s.p, MIN(s.n, 22u) }, STR(" toujours ")) &&
		!str_find((struct str){ s.p, MIN(s.n, 12u) }, STR(" est ")))
		return MANNER_DO;
	return MANNER_NONE;
}

static bool is_statement(struct str rest)
{
	static const char *const verbs[] = { " is ", " are ", " was ", " will be ", " fails",
		" happens", " shows" };
	struct str head = { rest.p, MIN(rest.n, 24u) };

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (str_find(head, str_of(verbs[i])))
			return true;
	return false;
}

static bool knows_option(struct arena *a, struct str option)
{
	return family_of(arena_dup(a, option.p, option.n)) != NULL;
}

/* "use X": of two options that stand for each other, or said for good. */
static void hear_use(struct arena *a, struct heard *h, const char *lower, struct str what)
{
	struct str scope, option;
	bool is_ours = strncmp(lower + h->skipped, "we ", 3) == 0 ||
		       strncmp(lower + h->skipped, "on ", 3) == 0;

	if (options_parse(what, &h->options)) {
		h->manner = MANNER_OPTIONS;
		h->strength = h->is_lasting || h->is_correction || is_ours ? 2 : 1;
		/* "let's use X, not Y" settles one thing: a decision. */
		if (str_starts(lower, "let's ") && !h->is_lasting &&
			!knows_option(a, h->options.chosen))
			h->manner = MANNER_NONE;
		return;
	}
	option = strip_article(cut_scope(what, &scope));
	if (!is_option(option))
		return;
	h->options = (struct options){ .chosen = option, .scope = scope };
	if (h->is_lasting || h->is_correction || is_ours)
		h->strength = h->is_lasting ? 2 : 1;
	else if (words_of(h->rest) > 6)
		return;
	else
		h->strength = knows_option(a, option) && !str_starts(lower, "let's ") ? 1 : 0;
	h->manner = MANNER_USE;
}

static void hear_forbidden(struct arena *a, struct heard *h)
{
	struct str what;

	if (starts_with_any(h->rest, never, ARRAY_LEN(never), &what)) {
		h->manner = str_starts(what.p, "mind") ? MANNER_NONE : MANNER_DONT;
		h->strength = 2;
	} else if (starts_with_any(h->rest, refusals, ARRAY_LEN(refusals), NULL)) {
		h->manner = MANNER_DONT;
		h->strength = 1;
	} else if (starts_with_any(h->rest, stops, ARRAY_LEN(stops), &what)) {
		struct str first = { what.p, strcspn(what.p, " ") };
		bool is_stop = str_starts(h->rest.p, "stop ") || str_starts(h->rest.p, "avoid ");

		/* "stop the server" is an order of the moment, "stop adding comments" is not. */
		if (is_stop && !str_ends(arena_dup(a, first.p, first.n), "ing"))
			return;
		h->manner = MANNER_DONT;
		h->strength = h->is_lasting ? 2 : 0;
	}
}

/* Begins with what to do: "write …", "only add …". */
static bool is_order(struct str rest)
{
	static const char *const orders[] = { "only ", "do ", "keep ", "write ", "put ", "ask ",
		"show ", "commit ", "push ", "name ", "call ", "make ", "let ", "tell ", "give ",
		"answer ", "reply ", "respond ", "speak ", "work ", "open ", "start ", "leave ",
		"include ", "écris ", "mets ", "réponds ", "fais ", "demande ", "garde ", "lance ",
		"schreib ", "antworte ", "escribe ", "responde ", "pon " };
	struct str first;

	if (starts_with_any(rest, orders, ARRAY_LEN(orders), NULL))
		return words_of(rest) >= WORDS_MIN;
	return word_next(&rest, &first) && word_is_order(first) && words_of(rest) >= 2;
}

/* "from npm to pnpm": what stands before and behind the word. */
static bool change_parse(struct str what, struct str *ret_from, struct str *ret_to)
{
	static const char *const tos[] = { " to ", " à ", " auf ", " a " };
	struct str padded = { what.p - 1, what.n + 1 };

	for (size_t i = 0; i < ARRAY_LEN(tos); i++) {
		const char *at = str_find(padded, str_of(tos[i]));
		size_t len = strlen(tos[i]);

		if (!at)
			continue;
		*ret_to = (struct str){ at + len, (size_t)(what.p + what.n - at) - len };
		*ret_from = at > what.p && str_starts(what.p, "from ")
				    ? (struct str){ what.p + 5, (size_t)(at - what.p) - 5 }
				    : (struct str){ 0 };
		return true;
	}
	return false;
}

/* "we no longer use X", "we switched from X to Y" */
static void hear_change(struct arena *a, struct heard *h)
{
	struct str what, scope, from, to;

	if (starts_with_any(h->rest, dropped, ARRAY_LEN(dropped), &what)) {
		if (is_option(strip_article(cut_scope(what, &scope))))
			h->manner = MANNER_DONT, h->strength = 2;
		return;
	}
	if (!starts_with_any(h->rest, moved, ARRAY_LEN(moved), &what) ||
		!change_parse(what, &from, &to))
		return;
	to = strip_article(cut_scope(to, &scope));
	from = strip_article(from);
	if (!is_option(to) || !knows_option(a, to))
		return;
	h->options = (struct options){
		.chosen = to, .other = is_option(from) ? from : (struct str){ 0 }, .scope = scope
	};
	h->manner = MANNER_OPTIONS;
	h->strength = 2;
}

/* "we don't want hardcoded waits": of kinds of things, not of the one at hand. */
static void hear_dislike(struct heard *h)
{
	static const char *const particular[] = { "the ", "a ", "an ", "to ", "you ", "it", "that",
		"this", "them", "my ", "your ", "our ", "those", "these", "le ", "la ", "les ",
		"ça", "que ", "qu'" };
	static const char *const compatible[] = { "backward", "legacy", "compatibility",
		"rétrocompatib", "abwärtskompatib" };
	static const char *const needless[] = { "we don't need ", "we do not need ", "no need for ",
		"on n'a pas besoin de ", "wir brauchen keine " };
	struct str what;

	if (starts_with_any(h->rest, dislikes, ARRAY_LEN(dislikes), &what)) {
		if (words_of(what) < 2 ||
			starts_with_any(what, particular, ARRAY_LEN(particular), NULL))
			return;
	} else if (!starts_with_any(h->rest, needless, ARRAY_LEN(needless), &what) ||
		   !starts_with_any(what, compatible, ARRAY_LEN(compatible), NULL)) {
		return;
	}
	h->is_sure = starts_with_any(what, compatible, ARRAY_LEN(compatible), NULL);
	h->manner = MANNER_DONT;
	h->strength = h->is_lasting ? 2 : 1;
}

/* "before you commit, run the linter" */
static void hear_occasion(struct heard *h)
{
	const char *comma = h->rest.n ? memchr(h->rest.p, ',', MIN(h->rest.n, 60u)) : NULL;
	struct str head, clause;

	if (!comma || !starts_with_any(h->rest, occasions, ARRAY_LEN(occasions), NULL))
		return;
	head = (struct str){ h->rest.p, (size_t)(comma - h->rest.p) };
	clause = str_trim((struct str){ comma + 1, (size_t)(h->rest.p + h->rest.n - comma) - 1 });
	bool is_always = starts_with_any(clause, always, ARRAY_LEN(always), &clause) ||
			 starts_with_any(clause, never, ARRAY_LEN(never), &clause);
	if (!is_always && !is_order(clause))
		return;
	for (size_t i = 0; i < ARRAY_LEN(each_time); i++)
		is_always |= str_find(head, str_of(each_time[i])) != NULL;
	h->manner = MANNER_DO;
	h->strength = is_always || h->is_lasting ? 2 : 0;
}

/* "commit messages must be in English", "every function should have a test" */
static void hear_rule(struct heard *h)
{
	static const char *const all[] = { "all ", "every ", "each ", "any ", "new ", "tous ",
		"toutes ", "chaque ", "alle ", "jede ", "jeder ", "todos los ", "cada " };
	static const char *const firmly[] = { "must ", "mustn't ", "always ", "never ", "doivent ",
		"müssen ", "deben " };
	struct str rest = h->rest, verb;
	bool is_all = starts_with_any(rest, all, ARRAY_LEN(all), &rest), is_firm = false;
	const char *found = NULL;

	if (is_all ? str_starts(rest.p, "of ")
		   : !starts_with_any(rest, ruled, ARRAY_LEN(ruled), NULL))
		return;
	for (size_t i = 0; i < ARRAY_LEN(ruling) && !found; i++)
		found = str_find((struct str){ rest.p, MIN(rest.n, 40u) }, str_of(ruling[i]));
	if (!found || found == rest.p || found[-1] != ' ')
		return;
	verb = (struct str){ found, (size_t)(rest.p + rest.n - found) };
	for (size_t i = 0; i < ARRAY_LEN(firmly); i++)
		is_firm |= str_find((struct str){ verb.p, MIN(verb.n, 24u) }, str_of(firmly[i])) !=
			   NULL;
	/* "tests should pass" is what everybody wants. */
	if (words_of(verb) < 3)
		return;
	h->manner = MANNER_DO;
	h->strength = is_firm ? 2 : is_all ? 1 : 0;
}

static void hear_language(struct heard *h)
{
	if (!starts_with_any(h->rest, speaking, ARRAY_LEN(speaking), NULL))
		return;
	for (size_t i = 0; i < ARRAY_LEN(languages_named); i++)
		if (str_find(h->rest, str_of(languages_named[i])))
			h->manner = MANNER_DO;
}

/* What is said otherwise than by the words for it. */
static void hear_house(struct arena *a, struct heard *h)
{
	struct str what;

	h->strength = 1;
	if (starts_with_any(h->rest, customs_said, ARRAY_LEN(customs_said), &what)) {
		h->skipped += (size_t)(what.p - h->rest.p);
		h->rest = what;
		h->manner = words_of(what) >= WORDS_MIN ? MANNER_DO : MANNER_NONE;
		return;
	}
	hear_change(a, h);
	if (h->manner == MANNER_NONE)
		hear_dislike(h);
	if (h->manner == MANNER_NONE)
		hear_occasion(h);
	if (h->manner == MANNER_NONE)
		hear_rule(h);
	if (h->manner == MANNER_NONE)
		hear_language(h);
}

static void hear(struct arena *a, struct heard *h, const char *lower)
{
	struct str what;

	*h = (struct heard){ .strength = 1 };
	hear_leads(h, lower);
	if (starts_with_any(h->rest, prefers, ARRAY_LEN(prefers), &what)) {
		h->manner = options_parse(what, &h->options) ? MANNER_OPTIONS
			    : words_of(what) >= WORDS_MIN    ? MANNER_DO
							     : MANNER_NONE;
		h->strength = 2;
	} else if (starts_with_any(h->rest, uses, ARRAY_LEN(uses), &what)) {
		hear_use(a, h, lower, what);
		if (h->manner == MANNER_USE && says_any(lower, spellings, ARRAY_LEN(spellings)))
			h->strength = MAX(h->strength, 1);
	} else if (starts_with_any(h->rest, always, ARRAY_LEN(always), &what)) {
		h->manner = is_statement(what) ? MANNER_NONE : MANNER_DO;
		h->strength = 2;
	} else {
		hear_forbidden(a, h);
	}
	if (h->manner == MANNER_NONE) {
		h->manner = hear_inner(h->rest);
		h->strength = 2;
	}
	if (h->manner == MANNER_NONE && starts_with_any(h->rest, habits, ARRAY_LEN(habits), NULL)) {
		h->manner = h->is_lasting || strstr(lower, "we always ") ||
					    strstr(lower, "we never ") ||
					    strstr(lower, "convention") || strstr(lower, "rule")
				    ? MANNER_DO
				    : MANNER_NONE;
		h->strength = 1;
	}
	if (h->manner == MANNER_NONE)
		hear_house(a, h);
	if (h->manner == MANNER_NONE && h->is_lasting && is_order(h->rest))
		h->manner = MANNER_DO, h->strength = 2;
}

/* ---- candidates ---- */

static char *option_text(struct arena *a, struct str lower, const struct said *s)
{
	const char *at = s->lower;
	const char *found = strstr(at, arena_dup(a, lower.p, lower.n));

	/* As the person spelt it. */
	return found ? arena_dup(a, s->text.p + (found - at), lower.n)
		     : arena_dup(a, lower.p, lower.n);
}

static void fill_options(
	struct turn_view *v, struct fact_candidate *c, const struct heard *h, const struct said *s)
{
	const struct options *o = &h->options;
	char *chosen = arena_dup(v->a, o->chosen.p, o->chosen.n);
	const char *other = o->other.n ? arena_dup(v->a, o->other.p, o->other.n) : "";
	const char *family = family_of(chosen);
	const char *scope = o->scope.n ? arena_dup(v->a, o->scope.p, MIN(o->scope.n, 60u)) : "";
	bool is_where = str_starts(scope, "for ") || str_starts(scope, "in ") ||
			str_starts(scope, "when ") || str_starts(scope, "pour ");

	if (!is_where || contains_any(scope, projects, ARRAY_LEN(projects)))
		scope = "";
	if (!family && *other)
		family = family_of(other)            ? family_of(other)
			 : strcmp(chosen, other) < 0 ? arena_printf(v->a, "%s | %s", chosen, other)
						     : arena_printf(v->a, "%s | %s", other, chosen);
	c->subject = family ? arena_printf(v->a, "%s%s%s", family, *scope ? " " : "", scope)
			    : arena_printf(v->a, "use %s", chosen);
	c->value = chosen;
	if (!*other && !family_of(chosen)) {
		c->title = fact_title(
			v->a, (struct str){ s->text.p + h->skipped, s->text.n - h->skipped });
		return;
	}
	c->title = arena_printf(v->a, *other ? "You prefer %s over %s%s%s" : "You prefer %s%s%s%s",
		option_text(v->a, o->chosen, s), *other ? option_text(v->a, o->other, s) : "",
		*scope ? " " : "", scope);
}

static void fill_demand(
	struct turn_view *v, struct fact_candidate *c, const struct heard *h, const struct said *s)
{
	struct str words = { s->text.p + h->skipped, s->text.n - h->skipped };

	c->subject = subject_of(v->a, words);
	/* "Always run the tests first": every word of it is common, and it says much. */
	if (!*c->subject)
		c->subject = text_lower(v->a, h->rest);
	c->value = h->manner == MANNER_DO ? "do" : "don't";
	c->title = fact_title(v->a, words);
	if (str_starts(c->title, "I "))
		c->title = arena_printf(v->a, "You %s", c->title + 2);
}

/* Does the sentence mean something alone, on another day? */
static bool is_durable(struct turn_view *v, const struct said *s, const struct heard *h)
{
	size_t n = words_of(s->text);

	if (n < (h->options.chosen.n ? 2 : WORDS_MIN) || n > WORDS_MAX ||
		(!h->is_sure && is_passing(v->a, s->lower)))
		return false;
	if (h->rest.n > 3 &&
		(memcmp(h->rest.p, "it ", 3) == 0 || str_find(h->rest, STR(" it.")) ||
			str_find((struct str){ h->rest.p, MIN(h->rest.n, 20u) }, STR(" it "))))
		return false;
	/* In a long text or a list of one task's details only what is said for good counts. */
	if ((s->is_long || s->is_item) && !(h->strength == 2 && (h->is_lasting || !s->is_long)))
		return false;
	return true;
}

static void hear_all(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out,
	bool wants_correction)
{
	struct said_list list;
	size_t n = 0;

	said_find(v, &list);
	for (size_t i = 0; i < list.n && n < PREFERENCES_MAX; i++) {
		const struct said *s = &list.items[i];
		struct fact_candidate c;
		struct heard h;

		hear(v->a, &h, s->lower);
		if (h.manner == MANNER_NONE || h.is_correction != wants_correction ||
			!is_durable(v, s, &h))
			continue;
		c = candidate_begin(rule, s->event, arena_printf(v->a, "%s/%zu", s->event->key, i),
			TRUST_PROMPT);
		c.strength = h.strength;
		if (h.manner == MANNER_OPTIONS || h.manner == MANNER_USE)
			fill_options(v, &c, &h, s);
		else
			fill_demand(v, &c, &h, s);
		c.topic = fact_topic_of(GROUP, c.subject);
		c.body = one_line(v->a, s->text, FACT_TITLE_MAX);
		candidate_evidence(v, &c, s->event, "prompt", s->text);
		candidate_add(v, out, &c);
		n++;
	}
}

void fact_prefer(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	hear_all(v, rule, out, false);
}

void fact_correct(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	hear_all(v, rule, out, true);
}
