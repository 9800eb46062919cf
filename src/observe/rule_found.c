/*
 * What was found, mended, decided and reported: observations that rest on words or on outcomes
 * rather than on changed files.
 */

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/rule_table.h"
#include "observe/sections.h"
#include "observe/sentence.h"
#include "observe/title.h"

#define FINDING_MIN 220         /* bytes of an answer that rests on looking around */
#define FINDING_ASKED_MIN 260   /* bytes of an answer to a question that means something alone */
#define FINDING_UNAIDED_MIN 420 /* bytes of any other answer without a tool */
#define LEAST_SCORE 3
#define REPORT_SCORE 12 /* of a report's sentence that names it better than its task does */
#define READS_KEPT 20
#define REPORTS_MAX 3
#define REPAIRS_MAX 1
#define COMMAND_IN_TITLE 28
#define CHOICES_MAX 3
#define DECISION_MIN 60
#define ANSWER_IN_TITLE 48

static const char *const security_words[] = { "vulnerab", "cve-", "sql injection", "xss", "csrf",
	"path traversal", "command injection", "privilege escalation", "remote code execution",
	"secret leak", "leaked secret", "exposed secret", "exposed credential",
	"hardcoded credential", "hardcoded secret", "security issue", "security hole", "faille" };
static const char *const alert_words[] = { "exposed credential", "leaked secret", "exposed secret",
	"hardcoded credential", "hardcoded secret", "committed secret", "actively exploited" };

static void set_found_type(struct draft *d, struct str text)
{
	d->m.type = TYPE_DISCOVERY;
	if (words_found(str_of(d->m.title), security_words, ARRAY_LEN(security_words)) ||
		words_found(text, security_words, ARRAY_LEN(security_words)) >= 2)
		d->m.type = words_found(text, alert_words, ARRAY_LEN(alert_words))
				    ? TYPE_SECURITY_ALERT
				    : TYPE_SECURITY_NOTE;
}

static void set_found_concepts(struct draft *d, struct str text)
{
	static const char *const why[] = { "because", "root cause", "the reason", "caused by",
		"parce que", "à cause" };
	static const char *const problem[] = { "root cause", "the bug", "the problem",
		"the issue is", "fails because", "le problème" };
	static const char *const trade[] = { "trade-off", "tradeoff", "pros", "alternativ",
		"option 1", "recommend", "compromis", "avantage" };
	static const char *const trap[] = { "gotcha", "careful", "caveat", "pitfall", "attention",
		"piège", "surprising" };

	draft_concept(d, words_found(text, problem, ARRAY_LEN(problem)) ? "problem-solution"
									: "how-it-works");
	if (words_found(text, why, ARRAY_LEN(why)))
		draft_concept(d, "why-it-exists");
	if (words_found(text, trade, ARRAY_LEN(trade)))
		draft_concept(d, "trade-off");
	if (words_found(text, trap, ARRAY_LEN(trap)))
		draft_concept(d, "gotcha");
}

static size_t finding_min(struct turn_view *v)
{
	if (v->tools)
		return FINDING_MIN;
	return v->prompt && title_from_prompt(v->a, str_of(v->prompt->text)) ? FINDING_ASKED_MIN
									     : FINDING_UNAIDED_MIN;
}

void rule_finding(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	struct candidates *titles;
	const char *title;
	struct draft d;
	char *body;

	if (turn_did_work(v) || !v->reply)
		return;
	body = narrative(v, &v->blocks, 0, v->blocks.n, BODY_MAX);
	if (!body || strlen(body) < finding_min(v))
		return;
	titles = turn_titles(v, false);
	title = candidates_take(v->a, titles, LEAST_SCORE, v->given, v->ngiven);
	if (!title)
		return;
	draft_begin(&d, v, rule, "main", KIND_OBSERVATION);
	draft_title(&d, title);
	draft_body(&d, &v->blocks, 0, v->blocks.n);
	d.m.confidence = v->looks ? .6 : .5;
	set_found_type(&d, v->account);
	set_found_concepts(&d, v->account);
	draft_files(&d, 0, v->in->n, NULL, READS_KEPT);
	draft_commands(&d, 0, v->in->n);
	draft_evidence(&d, v->prompt, "prompt", str_of(v->request));
	draft_evidence(&d, v->reply, "reply", v->account);
	draft_end(&d, out);
}

/* ---- mended ---- */

/* "src/a.go:12:3: undefined: x" without its place. */
static struct str without_place(struct str s)
{
	for (unsigned i = 0; i < 3; i++) {
		const char *colon = s.n ? memchr(s.p, ':', MIN(s.n, 120u)) : NULL;
		struct str head = { s.p, colon ? (size_t)(colon - s.p) : 0 };

		if (!colon || memchr(head.p, ' ', head.n) ||
			(!memchr(head.p, '.', head.n) && !memchr(head.p, '/', head.n) &&
				strspn(head.p, "0123456789") != head.n))
			break;
		s = str_trim((struct str){ colon + 1, s.n - head.n - 1 });
	}
	return s;
}

static const char *files_between(struct turn_view *v, size_t from, size_t to, struct draft *d)
{
	const char *first = NULL;

	for (size_t i = from; i <= to && i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (!e->writes_files || e->status == STATUS_FAILED || e->status == STATUS_DENIED)
			continue;
		if (d)
			draft_evidence(d, e, "fix", e->diff ? str_of(e->diff) : (struct str){ 0 });
		for (size_t f = 0; f < v->nfiles && !first; f++)
			if (v->files[f].is_modified && e->nfiles &&
				str_ends(e->files[0], v->files[f].path))
				first = v->files[f].path;
	}
	return first;
}

/* "go test" of "go test -race ./...": the words before flags and paths. */
static const char *short_command(struct arena *a, const char *key)
{
	const char *end = key;

	for (unsigned words = 0; *end && words < 4; words++) {
		const char *next = end + strspn(end, " ");
		size_t n = strcspn(next, " ");

		if (words && (next[0] == '-' || memchr(next, '/', n) || memchr(next, '"', n) ||
				     memchr(next, '.', n)))
			break;
		end = next + n;
	}
	return one_line(a, (struct str){ key, (size_t)(end - key) }, COMMAND_IN_TITLE);
}

static bool mend(struct turn_view *v, const struct rule *rule, const struct repair *r, size_t slot,
	struct rules_output *out)
{
	struct str error = without_place(str_of(r->failed->error));
	struct sentence s = sentence_judge(error);
	const char *file = files_between(v, r->failed->order, r->passed->order, NULL);
	const char *title;
	struct draft d;

	if (s.names + s.words < 2 || s.length < 16 || !file)
		return false;
	title = title_finish(
		v->a, str_of(arena_printf(v->a, "`%s`: %.*s", short_command(v->a, r->failed->key),
			      (int)error.n, error.p)));
	draft_begin(&d, v, rule, arena_printf(v->a, "repair-%zu", slot), KIND_OBSERVATION);
	draft_title(&d, title);
	d.m.type = TYPE_BUGFIX;
	d.m.trust = TRUST_TOOL;
	d.m.confidence = .7;
	d.m.subtitle = file;
	d.m.body = arena_printf(v->a, "`%s` failed: %s\nIt passed after edits to %s.",
		r->failed->text, r->failed->error, file);
	draft_concept(&d, "problem-solution");
	draft_concept(&d, "gotcha");
	draft_evidence(&d, r->failed->event, "failure", str_of(r->failed->error));
	files_between(v, r->failed->order, r->passed->order, &d);
	draft_evidence(&d, r->passed->event, "command", str_of(r->passed->text));
	draft_files(&d, r->failed->order, r->passed->order, NULL, 0);
	draft_commands(&d, r->failed->order, r->passed->order);
	draft_end(&d, out);
	return true;
}

/* Linters fail at every other try: what they say is no knowledge. */
static bool is_lint(const char *key)
{
	return strstr(key, "lint") || strstr(key, "fmt") || strstr(key, "format") ||
	       strstr(key, "prettier");
}

/* The last ones first: they were the hardest. */
void rule_repair(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	for (size_t i = v->nrepairs, made = 0; i-- > 0 && made < REPAIRS_MAX;)
		if (!is_lint(v->repairs[i].failed->key))
			made += mend(v, rule, &v->repairs[i], i, out);
}

/* ---- decided ---- */

static const char *const decided_cues[] = { "decided to", "i chose", "we chose", "chose to",
	"opted for", "opted to", "went with", "j'ai choisi", "décidé de", "on part sur" };

static bool tells_decision(struct str s)
{
	return words_found(s, decided_cues, ARRAY_LEN(decided_cues)) > 0;
}

/* The first sentence that states a decision. */
static struct str decision_sentence(const struct blocks *blocks)
{
	for (size_t i = 0; i < blocks->n; i++) {
		struct str rest = str_of(blocks->items[i].text), s;

		if (blocks->items[i].kind != BLOCK_TEXT && blocks->items[i].kind != BLOCK_ITEM)
			continue;
		while (sentence_next(&rest, &s)) {
			struct sentence judged;

			if (s.n < DECISION_MIN || !tells_decision(s))
				continue;
			judged = sentence_judge(sentence_strip_reply(s));
			if (!(judged.traits & (TRAIT_QUESTION | TRAIT_INTENT)) &&
				sentence_is_specific(&judged))
				return judged.text;
		}
	}
	return (struct str){ 0 };
}

void rule_decision(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	char *text = section_text(v->a, &v->blocks, SECTION_DECISION, BODY_MAX);
	struct str sentence = decision_sentence(&v->blocks), first = { 0 };
	struct str rest = str_of(text);
	const char *title;
	struct draft d;

	if (!sentence.n && text && strlen(text) >= DECISION_MIN) {
		str_line(&rest, &first);
		rest = first;
		sentence_next(&rest, &first);
		while (first.n > 2 && memcmp(first.p, "- ", 2) == 0)
			first.p += 2, first.n -= 2;
		sentence = first;
	}
	if (!sentence.n || sentence.p[sentence.n - 1] == ':')
		return;
	title = title_finish(v->a, sentence_strip_reply(sentence));
	for (size_t i = 0; i < v->ngiven; i++)
		if (title_is_like(title, v->given[i]))
			return;
	draft_begin(&d, v, rule, "main", KIND_OBSERVATION);
	draft_title(&d, title);
	d.m.type = TYPE_DECISION;
	d.m.body =
		text && strlen(text) >= DECISION_MIN ? text : inline_plain(v->a, sentence, false);
	draft_concept(&d, "trade-off");
	draft_concept(&d, "why-it-exists");
	draft_files(&d, 0, v->in->n, d.m.body, 0);
	draft_evidence(&d, v->prompt, "prompt", str_of(v->request));
	draft_evidence(&d, v->reply, "reply", sentence);
	draft_end(&d, out);
}

/* ---- chosen by the person ---- */

/* Questions about the course of the session, not about the work. */
static bool is_procedural(const char *question)
{
	static const char *const words[] = { "what would you like to do", "ready to", "proceed",
		"continue", "should i start", "force-push", "force push", "commit these",
		"push now", "next step", "run the tests", "shall i", "que veux-tu faire",
		"prêt à" };

	return words_found(str_of(question), words, ARRAY_LEN(words)) > 0;
}

static const char *choice_title(struct turn_view *v, const struct choice *c)
{
	struct str answer = str_of(c->answer);
	const char *mark = strstr(c->answer, " (Recommended)");
	size_t room;

	if (!c->question)
		return title_from_prompt(v->a, answer);
	if (mark)
		answer.n = (size_t)(mark - c->answer);
	answer = str_of(one_line(v->a, answer, ANSWER_IN_TITLE));
	room = TITLE_MAX - MIN(answer.n, (size_t)ANSWER_IN_TITLE + 4) - 3;
	return arena_printf(v->a, "%s → %s",
		one_line(v->a, str_of(inline_plain(v->a, str_of(c->question), false)), room),
		answer.p);
}

void rule_choice(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	for (size_t i = 0, made = 0; i < v->nchoices && made < CHOICES_MAX; i++) {
		const struct choice *c = &v->choices[i];
		const char *title =
			c->question && is_procedural(c->question) ? NULL : choice_title(v, c);
		struct draft d;

		if (!title)
			continue;
		draft_begin(&d, v, rule, arena_printf(v->a, "choice-%zu", i), KIND_OBSERVATION);
		draft_title(&d, title);
		d.m.type = TYPE_DECISION;
		d.m.trust = TRUST_PERSON;
		d.m.confidence = .85;
		if (c->question)
			d.m.body = arena_printf(v->a, "%s\n%s", c->question, c->answer);
		else
			d.m.body = arena_printf(v->a, "%s\n(%s: %s)", c->answer,
				event_status_names[STATUS_DENIED], c->event->tool);
		draft_concept(&d, "trade-off");
		if (c->event->nfiles && !c->question)
			draft_files(&d, 0, v->in->n, c->event->files[0], 0);
		draft_evidence(&d, c->event, "prompt", str_of(c->answer));
		draft_end(&d, out);
		made++;
	}
}

/* ---- reported by sub-agents ---- */

void rule_report(struct turn_view *v, const struct rule *rule, struct rules_output *out)
{
	for (size_t i = 0, made = 0; i < v->nreports && made < REPORTS_MAX; i++) {
		const struct report *r = &v->reports[i];
		struct candidates titles = { 0 };
		struct blocks blocks;
		const char *title;
		struct draft d;
		char *body;

		blocks_parse(v->a, r->text, &blocks);
		sections_mark(&blocks);
		candidates_add_reply(v->a, &titles, &blocks, 0);
		title = candidates_take(v->a, &titles, REPORT_SCORE, v->given, v->ngiven);
		if (!title && r->task)
			title = title_from_prompt(v->a, str_of(r->task));
		if (!title)
			title = candidates_take(v->a, &titles, LEAST_SCORE, v->given, v->ngiven);
		body = narrative(v, &blocks, 0, blocks.n, BODY_MAX);
		if (!title || !body || strlen(body) < FINDING_MIN)
			continue;
		draft_begin(&d, v, rule, arena_printf(v->a, "report-%zu", i), KIND_OBSERVATION);
		draft_title(&d, title);
		d.m.subtitle = r->task && *r->task && strcmp(r->task, title) != 0
				       ? one_line(v->a, str_of(r->task), 120)
				       : NULL;
		draft_body(&d, &blocks, 0, blocks.n);
		d.m.confidence = .5;
		set_found_type(&d, r->text);
		set_found_concepts(&d, r->text);
		draft_evidence(&d, r->event, "reply", r->text);
		draft_end(&d, out);
		made++;
	}
}
