/*
 * Work done: files changed. One observation for the turn, or one per commit when there were
 * several, or one per numbered part of the agent's account. Its type is what the words of prompt,
 * commit and account and the outcome of checks say it was.
 */

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/rule_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define PIECES_MAX 4
#define PIECE_MIN 80 /* bytes of narrative that make a numbered part a piece of its own */
#define LEAST_SCORE 2
#define POOR_SCORE (-12) /* of a sentence that is better than none beside the names of the files */
#define READS_KEPT 6

/* ---- what kind of work ---- */

static const char *const fix_words[] = { "fix", "bug", "root cause", "regression", "crash",
	"broken", "incorrect", "wrong", "fails", "error when", "leak", "race", "corrig", "bogue",
	"plant", "erreur" };
static const char *const feature_words[] = { "add", "implement", "introduc", "support", "new ",
	"creat", "feature", "enable", "expos", "ajout", "implément", "nouve", "créé" };
static const char *const refactor_words[] = { "refactor", "extract", "renam", "simplif", "dedup",
	"duplicate", "consolidat", "clean up", "cleanup", "moved", "split", "unif", "inline",
	"restructur", "dead code", "renomm", "déplac", "nettoy", "factoris" };

static const struct {
	const char *prefix;
	enum memory_type type;
} commit_types[] = { { "fix", TYPE_BUGFIX }, { "bug", TYPE_BUGFIX }, { "hotfix", TYPE_BUGFIX },
	{ "feat", TYPE_FEATURE }, { "add", TYPE_FEATURE }, { "implement", TYPE_FEATURE },
	{ "refactor", TYPE_REFACTOR }, { "rename", TYPE_REFACTOR }, { "simplify", TYPE_REFACTOR },
	{ "extract", TYPE_REFACTOR }, { "cleanup", TYPE_REFACTOR }, { "unify", TYPE_REFACTOR },
	{ "docs", TYPE_CHANGE }, { "chore", TYPE_CHANGE }, { "test", TYPE_CHANGE },
	{ "style", TYPE_CHANGE }, { "build", TYPE_CHANGE }, { "ci", TYPE_CHANGE },
	{ "perf", TYPE_CHANGE }, { "update", TYPE_CHANGE }, { "revert", TYPE_CHANGE } };

static enum memory_type type_of_commit(const char *subject)
{
	for (size_t i = 0; subject && i < ARRAY_LEN(commit_types); i++)
		if (str_istarts(subject, commit_types[i].prefix))
			return commit_types[i].type;
	return TYPE_NONE;
}

static bool only_documents(const struct turn_view *v)
{
	static const char *const endings[] = { ".md", ".txt", ".rst", ".adoc", ".json", ".yml",
		".yaml", ".toml", ".ini", ".cfg", ".gitignore", ".lock" };

	for (size_t i = 0; i < v->nfiles; i++) {
		bool is_document = !v->files[i].is_modified;

		for (size_t j = 0; j < ARRAY_LEN(endings) && !is_document; j++)
			is_document = str_ends(v->files[i].path, endings[j]);
		if (!is_document)
			return false;
	}
	return true;
}

/* An agent that names a cause mended something. */
static bool tells_cause(const struct turn_view *v)
{
	for (size_t i = 0; i < v->blocks.n; i++)
		if (v->blocks.items[i].section == SECTION_CAUSE &&
			v->blocks.items[i].kind != BLOCK_HEADING)
			return true;
	return false;
}

/* The title weighs most, then the prompt, then the account. */
static enum memory_type type_of_words(const struct turn_view *v, const char *title, struct str text)
{
	struct str prompt = str_of(v->request), name = str_of(title);
	unsigned fix = 3 * words_found(name, fix_words, ARRAY_LEN(fix_words)) +
		       2 * words_found(prompt, fix_words, ARRAY_LEN(fix_words)) +
		       words_found(text, fix_words, ARRAY_LEN(fix_words)) + (v->nrepairs ? 1 : 0) +
		       (tells_cause(v) ? 3 : 0);
	unsigned feature = 3 * words_found(name, feature_words, ARRAY_LEN(feature_words)) +
			   2 * words_found(prompt, feature_words, ARRAY_LEN(feature_words)) +
			   words_found(text, feature_words, ARRAY_LEN(feature_words));
	unsigned refactor = 4 * words_found(name, refactor_words, ARRAY_LEN(refactor_words)) +
			    3 * words_found(prompt, refactor_words, ARRAY_LEN(refactor_words)) +
			    words_found(text, refactor_words, ARRAY_LEN(refactor_words));
	unsigned best = MAX(fix, MAX(feature, refactor));

	if (best < 3)
		return TYPE_CHANGE;
	if (best == fix)
		return TYPE_BUGFIX;
	return best == refactor ? TYPE_REFACTOR : only_documents(v) ? TYPE_CHANGE : TYPE_FEATURE;
}

static void set_type(struct draft *d, const char *commit_subject, struct str text)
{
	enum memory_type type = type_of_commit(commit_subject);

	d->m.type = type != TYPE_NONE ? type : type_of_words(d->v, d->m.title, text);
	if (d->m.type == TYPE_BUGFIX)
		draft_concept(d, "problem-solution");
	draft_concept(d, "what-changed");
}

static void set_concepts(struct draft *d, const struct blocks *blocks, struct str text)
{
	static const char *const why[] = { "because", "root cause", "so that", "the reason",
		"parce que", "afin de" };
	static const char *const trade[] = { "trade-off", "tradeoff", "rather than", "at the cost",
		"plutôt que", "compromis" };
	static const char *const trap[] = { "gotcha", "note that", "careful", "caveat", "pitfall",
		"attention", "piège" };
	static const char *const pattern[] = { "pattern", "convention", "consistent with",
		"same approach", "follows the" };

	(void)blocks;
	if (words_found(text, why, ARRAY_LEN(why)))
		draft_concept(d, "why-it-exists");
	if (words_found(text, trap, ARRAY_LEN(trap)))
		draft_concept(d, "gotcha");
	if (words_found(text, trade, ARRAY_LEN(trade)))
		draft_concept(d, "trade-off");
	if (words_found(text, pattern, ARRAY_LEN(pattern)))
		draft_concept(d, "pattern");
}

/* ---- titles ---- */

/* When nobody said what it was: the files that changed. */
static const char *title_of_files(struct turn_view *v)
{
	struct buf out = { 0 };
	size_t n = 0;
	char *ret;

	for (size_t i = 0; i < v->nfiles && n < 3; i++) {
		const char *slash;

		if (!v->files[i].is_modified)
			continue;
		slash = strrchr(v->files[i].path, '/');
		if (n && strstr(buf_cstr(&out), slash ? slash + 1 : v->files[i].path))
			continue;
		buf_printf(&out, "%s%s", n ? ", " : "", slash ? slash + 1 : v->files[i].path);
		n++;
	}
	if (v->nmodified > n)
		buf_printf(&out, " +%zu", v->nmodified - n);
	ret = title_finish(v->a, (struct str){ buf_cstr(&out), out.len });
	buf_done(&out);
	return ret;
}

/* "src/a.c, src/b.c +3": what the subtitle of work says. */
static const char *subtitle_of_files(struct draft *d)
{
	struct buf out = { 0 };
	size_t shown = 0, total = 0;
	char *ret;

	for (size_t i = 0; i < d->m.nfiles; i++) {
		if (d->files[i].role != ROLE_MODIFIED)
			continue;
		total++;
		if (shown < 3 && out.len < 100) {
			/* A path outside of the project is long and says little. */
			const char *path = d->files[i].path[0] == '/'
						   ? strrchr(d->files[i].path, '/') + 1
						   : d->files[i].path;

			buf_printf(&out, "%s%s", shown ? ", " : "", path);
			shown++;
		}
	}
	if (total > shown)
		buf_printf(&out, " +%zu", total - shown);
	ret = out.len ? arena_dup(d->v->a, out.data, out.len) : NULL;
	buf_done(&out);
	return ret;
}

/* ---- evidence and outcome ---- */

static void add_edits(struct draft *d, size_t from, size_t to)
{
	struct turn_view *v = d->v;
	size_t n = 0;

	for (size_t i = 0; i < v->nfiles && n < 5; i++) {
		const struct touched_file *f = &v->files[i];

		if (!f->is_modified || f->order < from || f->order > to)
			continue;
		draft_evidence(d, f->event, "edit",
			f->event->diff ? str_of(f->event->diff) : str_of(f->path));
		n++;
	}
}

/* Checks that passed last make a memory surer, ones that failed last less sure. */
static void set_confidence(struct draft *d, size_t from, size_t to)
{
	const struct turn_view *v = d->v;
	bool seen = false, failed = false;

	for (size_t i = 0; i < v->ncommands; i++)
		if (v->commands[i].is_check && v->commands[i].order >= from &&
			v->commands[i].order <= to) {
			seen = true;
			failed = v->commands[i].failed;
		}
	d->m.confidence = .6 + (seen ? (failed ? -.1 : .2) : 0) + (d->m.commit ? .1 : 0);
}

static void end_work(struct draft *d, size_t from, size_t to, struct rules_output *out)
{
	draft_evidence(d, d->v->prompt, "prompt", str_of(d->v->request));
	add_edits(d, from, to);
	draft_evidence(d, d->v->reply, "reply", d->v->account);
	draft_commands(d, from, to);
	set_confidence(d, from, to);
	d->m.subtitle = subtitle_of_files(d);
	draft_end(d, out);
}

/* ---- the pieces ---- */

static const char *slot_name(struct turn_view *v, const char *prefix, size_t i)
{
	return arena_printf(v->a, "%s-%zu", prefix, i);
}

/* "More test fixes" says little: the files say what it fixed. */
static const char *title_of_commit(struct turn_view *v, const struct commit *c)
{
	struct sentence s = sentence_judge(str_of(c->subject));
	const char *files = sentence_is_specific(&s) ? NULL : title_of_files(v);

	return title_finish(
		v->a, str_of(files && *files ? arena_printf(v->a, "`%s`: %s", files, c->subject)
					     : c->subject));
}

static void work_of_commit(
	struct turn_view *v, const struct rule *rule, size_t i, struct rules_output *out)
{
	const struct commit *c = &v->commits[i];
	size_t from = i ? v->commits[i - 1].order + 1 : 0, to = c->order;
	struct draft d;

	draft_begin(&d, v, rule, slot_name(v, "commit", i), KIND_OBSERVATION);
	draft_title(&d, title_of_commit(v, c));
	d.m.commit = c->hash;
	if (c->body) {
		struct blocks blocks;

		blocks_parse(v->a, str_of(c->body), &blocks);
		draft_body(&d, &blocks, 0, blocks.n);
	}
	if (!d.m.body)
		d.m.body = c->subject;
	set_type(&d, c->subject, str_of(d.m.body));
	set_concepts(&d, NULL, str_of(d.m.body));
	draft_files(&d, from, to, NULL, 0);
	draft_evidence(&d, c->event, "commit", str_of(c->subject));
	end_work(&d, from, to, out);
}

/* Headings "1. …", "2. …" that say something split an account into pieces. */
static size_t numbered_parts(struct turn_view *v, size_t starts[PIECES_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < v->blocks.n; i++) {
		const struct block *b = &v->blocks.items[i];
		struct sentence s;

		if (b->kind != BLOCK_HEADING || b->level > LEVEL_BOLD)
			continue;
		if (!b->is_numbered) {
			if (n && b->level <= v->blocks.items[starts[0]].level && n <= PIECES_MAX) {
				starts[n] = i;
				return n;
			}
			continue;
		}
		s = sentence_judge(sentence_strip_reply(str_of(b->text)));
		if (!sentence_is_specific(&s) || b->section == SECTION_CHECK || n == PIECES_MAX)
			return 0;
		starts[n++] = i;
	}
	starts[n] = v->blocks.n;
	return n;
}

static bool work_of_part(struct turn_view *v, const struct rule *rule, const size_t *span, size_t i,
	struct rules_output *out)
{
	const struct block *head = &v->blocks.items[span[0]];
	char *body = narrative(v, &v->blocks, span[0] + 1, span[1], BODY_MAX);
	struct draft d;

	if (!body || strlen(body) < PIECE_MIN)
		return false;
	draft_begin(&d, v, rule, slot_name(v, "part", i), KIND_OBSERVATION);
	draft_title(&d, title_finish(v->a, sentence_strip_reply(str_of(head->text))));
	draft_body(&d, &v->blocks, span[0] + 1, span[1]);
	set_type(&d, NULL, str_of(body));
	set_concepts(&d, &v->blocks, str_of(body));
	draft_files(&d, 0, v->in->n, arena_printf(v->a, "%s %s", head->text, body), 0);
	if (v->ncommits)
		d.m.commit = v->commits[v->ncommits - 1].hash;
	end_work(&d, 0, v->in->n, out);
	return true;
}

static void work_of_turn(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	const struct commit *c = v->ncommits ? &v->commits[v->ncommits - 1] : NULL;
	struct candidates *titles = turn_titles(v, false);
	const char *title = candidates_take(v->a, titles, LEAST_SCORE, v->given, v->ngiven);
	struct draft d;

	draft_begin(&d, v, rule, "main", KIND_OBSERVATION);
	if (!title) {
		const char *files = title_of_files(v);

		title = candidates_take(v->a, titles, POOR_SCORE, v->given, v->ngiven);
		if (title && *files)
			title = title_finish(
				v->a, str_of(arena_printf(v->a, "`%s`: %s", files, title)));
		else if (!title)
			title = *files ? files : title_finish(v->a, str_of(v->request));
	}
	if (!title || !*title)
		return;
	draft_title(&d, title);
	d.m.commit = c ? c->hash : NULL;
	draft_body(&d, &v->blocks, 0, v->blocks.n);
	if (!d.m.body)
		d.m.body = v->request ? v->request : d.m.title;
	set_type(&d, c ? c->subject : NULL, v->account);
	set_concepts(&d, &v->blocks, v->account);
	draft_files(&d, 0, v->in->n, NULL, READS_KEPT);
	if (c)
		draft_evidence(&d, c->event, "commit", str_of(c->subject));
	end_work(&d, 0, v->in->n, out);
}

static size_t distinct_commits(const struct turn_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->ncommits; i++) {
		bool is_new = true;

		for (size_t j = 0; j < i && is_new; j++)
			is_new = !title_is_like(v->commits[i].subject, v->commits[j].subject);
		n += is_new;
	}
	return n;
}

void rule_work(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	size_t starts[PIECES_MAX + 1], parts, made = 0;

	if (!turn_did_work(v))
		return;
	if (v->ncommits >= 2 && distinct_commits(v) == v->ncommits && v->ncommits <= PIECES_MAX) {
		for (size_t i = 0; i < v->ncommits; i++)
			work_of_commit(v, rule, i, out);
		return;
	}
	parts = numbered_parts(v, starts);
	for (size_t i = 0; parts >= 2 && i < parts; i++)
		made += work_of_part(v, rule, &starts[i], i, out);
	if (!made)
		work_of_turn(v, rule, out);
}
