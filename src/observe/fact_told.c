/*
 * Facts in what was agreed and in what the agent reports: decisions, dead ends, what is left open,
 * conventions, architecture. Sentences of a certain form, which name something; those about how the
 * project is must name what was really seen in this turn.
 */

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "observe/fact_table.h"
#include "observe/ground.h"
#include "observe/sections.h"
#include "observe/sentence.h"

#define EACH_MAX 4 /* candidates of one rule in one turn */
#define TEXT_MIN 30
#define CHOICE_BYTES_MAX 120
#define DONE_MAX 1500
#define SUBJECT_BYTES_MAX 60
#define FORM_BYTES_MAX 20 /* of "is responsible for" */

static bool begins_word(struct str text, const char *at)
{
	return at && (at == text.p || *at == ' ' || !isalnum((unsigned char)at[-1]));
}

static char *slot_of(struct turn_view *v, const char *prefix, size_t i)
{
	return arena_printf(v->a, "%s-%zu", prefix, i);
}

static bool is_plain_statement(struct str text)
{
	static const char *const projects[] = { "This project ", "This codebase ", "This repo" };
	struct sentence s = sentence_judge(text);

	/* "This project" points at nothing that must be known. */
	if (starts_with_any(text, projects, ARRAY_LEN(projects), NULL))
		s.traits &= ~(unsigned)TRAIT_POINTER;
	return !(s.traits & (TRAIT_QUESTION | TRAIT_INTENT | TRAIT_POINTER | TRAIT_LEAD_IN |
				    TRAIT_ADDRESS | TRAIT_STATUS)) &&
	       sentence_is_specific(&s);
}

/* A sentence of the reply as a candidate. */
static void add_told(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out,
	const struct told *t, size_t i)
{
	struct fact_candidate c;

	if (!t->reply)
		return;
	c = candidate_begin(
		rule, t->reply, slot_of(v, t->reply == v->reply ? "told" : "way", i), TRUST_REPLY);
	c.subject = subject_of(v->a, t->text);
	c.value = "";
	c.title = fact_title(v->a, t->text);
	candidate_files_named(v, &c, c.title);
	candidate_evidence(v, &c, v->prompt, "prompt", str_of(v->request));
	candidate_evidence(v, &c, t->reply, "reply", t->text);
	candidate_add(v, out, &c);
}

/* ---- decisions ---- */

static const char *const deciding[] = { "decided to ", "decided on ", "decided against ",
	"we chose ", "i chose ", "chose to ", "chose ", "opted for ", "opted to ", "went with ",
	"settled on ", "decision: ", "decided: ", "agreed to ", "we agreed ", "the decision is ",
	"j'ai choisi ", "on a choisi ", "nous avons choisi ", "décision : ", "on a décidé ",
	"j'ai décidé ", "nous avons décidé ", "wir haben entschieden ", "decidimos " };
static const char *const reasons[] = { " because", " instead of ", " rather than ", " over ",
	" so that ", " to avoid ", " since ", " not ", " plutôt que ", " parce que ",
	" au lieu de ", " afin de ", " pour éviter ", " statt ", " en vez de " };
static const char *const agreeing[] = { "let's go with ", "let's use ", "we'll use ",
	"we will use ", "we'll go with ", "go with ", "i decided to ", "we decided to ",
	"i've decided to ", "we're going with ", "on part sur ", "on va utiliser ", "partons sur ",
	"je choisis ", "on garde ", "wir nehmen ", "vamos con " };

/* "you decided to call X": somebody else's flow, not a decision about the work. */
static bool opens_with(const char *lower, const char *const *words, size_t n)
{
	static const char *const before[] = { "i ", "we ", "also ", "so ", "ok ", "ok, ", "okay, ",
		"yes, ", "yes ", "then ", "for now, ", "nous ", "on ", "j'ai " };
	struct str s = str_of(lower);

	if (starts_with_any(s, words, n, NULL))
		return true;
	return starts_with_any(s, before, ARRAY_LEN(before), &s) &&
	       starts_with_any(s, words, n, NULL);
}

/* Questions about the next step of the work, not about the work itself. */
static bool is_about_steps(const char *lower)
{
	static const char *const steps[] = { "should i proceed", "would you like me", "ready to",
		"shall i", "commit", "push", "what next", "next step",
		"how would you like to proceed", "how should i proceed", "what would you like",
		"which task", "continue", "start with", "do you want me", "merge",
		"what do you want", "pull request", "worktree", "open a pr", "look good",
		"looks good", "feedback", "satisfied", "approve", "review" };

	return contains_any(lower, steps, ARRAY_LEN(steps));
}

static void add_choice(
	struct turn_view *v, const struct fact_rule *rule, struct rules_output *out, size_t i)
{
	static const char *const empty[] = { "yes", "no", "ok", "oui", "non", "both", "all", "none",
		"skip", "other", "not sure", "i don't know", "you decide" };
	const struct choice *ch = &v->choices[i];
	struct fact_candidate c;
	struct str answer = str_of(ch->answer);
	const char *cut;
	char *lower;

	if (!ch->question || answer.n < 3 || answer.n > 160 || strchr(ch->answer, '?') ||
		is_about_steps(text_lower(v->a, str_of(ch->question))))
		return;
	cut = str_find(answer, STR(" (Recommended)"));
	if (cut)
		answer.n = (size_t)(cut - answer.p);
	lower = text_lower(v->a, answer);
	for (size_t k = 0; k < ARRAY_LEN(empty); k++)
		if (strcmp(lower, empty[k]) == 0)
			return;
	c = candidate_begin(rule, ch->event, slot_of(v, "choice", i), TRUST_PROMPT);
	c.strength = 2;
	c.subject = subject_of(v->a, str_of(ch->question));
	c.value = lower;
	c.title = arena_printf(
		v->a, "%s → %s", fact_title(v->a, str_of(ch->question)), fact_title(v->a, answer));
	candidate_files_named(v, &c, c.title);
	candidate_evidence(v, &c, ch->event, "answer", str_of(c.title));
	candidate_add(v, out, &c);
}

static const char *const pointing[] = { "first one", "second one", "third one", "last one",
	"option", "that one", "this one", "former", "latter", "your suggestion", "your proposal" };

/* The person agrees to something that has a name. */
static void add_agreed(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	struct said_list list;
	size_t n = 0;

	said_find(v, &list);
	for (size_t i = 0; i < list.n && n < EACH_MAX; i++) {
		const struct said *s = &list.items[i];
		struct fact_candidate c;

		/* Of a long text only a choice in so many words: "let's use X instead of Y". */
		if ((s->is_long && (s->is_item || s->text.n > CHOICE_BYTES_MAX)) ||
			s->text.n < TEXT_MIN || says_any(s->lower, pointing, ARRAY_LEN(pointing)) ||
			!opens_with(s->lower, agreeing, ARRAY_LEN(agreeing)) ||
			!says_any(s->lower, reasons, ARRAY_LEN(reasons)))
			continue;
		c = candidate_begin(rule, s->event, slot_of(v, "agreed", i), TRUST_PROMPT);
		c.subject = subject_of(v->a, s->text);
		c.value = "";
		c.title = fact_title(v->a, s->text);
		candidate_evidence(v, &c, s->event, "prompt", s->text);
		candidate_add(v, out, &c);
		n++;
	}
}

void fact_decide(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	struct told_list list;
	size_t n = 0;

	for (size_t i = 0; i < v->nchoices && i < EACH_MAX; i++)
		add_choice(v, rule, out, i);
	add_agreed(v, rule, out);
	told_find(v, &list);
	for (size_t i = 0; i < list.n && n < EACH_MAX; i++) {
		const struct told *t = &list.items[i];

		if (t->text.n < TEXT_MIN || !opens_with(t->lower, deciding, ARRAY_LEN(deciding)) ||
			!told_says(t, reasons, ARRAY_LEN(reasons)) || strchr(t->lower, '?'))
			continue;
		add_told(v, rule, out, t, i);
		n++;
	}
}

/* ---- dead ends ---- */

static const char *const failing[] = { "didn't work", "did not work", "doesn't work because",
	"does not work because", "won't work because", "will not work because", "reverted because",
	"reverted the ", "had to revert", "was reverted", "turned out to be wrong",
	"turned out not to", "is a dead end", "was a dead end", "abandoned because",
	"abandoned since", "can't be used because", "cannot be used because", "not viable because",
	"isn't viable", "is not viable", "n'a pas marché", "n'a pas fonctionné",
	"ne fonctionne pas parce", "ne marche pas parce", "fausse piste", "hat nicht funktioniert",
	"no funcionó" };

void fact_dead_end(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	static const char *const hypothetical[] = { "if", "would", "could", "might", "may", "when",
		"should", "ensure", "verify", "check", "let me", "i'll" };
	struct told_list list;
	size_t n = 0;

	told_find(v, &list);
	for (size_t i = 0; i < list.n && n < EACH_MAX; i++) {
		const struct told *t = &list.items[i];

		if (t->text.n < TEXT_MIN || !told_says(t, failing, ARRAY_LEN(failing)) ||
			told_says(t, hypothetical, ARRAY_LEN(hypothetical)) || !names_in(t->text) ||
			!is_plain_statement(t->text))
			continue;
		add_told(v, rule, out, t, i);
		n++;
	}
}

/* ---- open ends ---- */

static const char *const leaving[] = { "still need to", "still needs to be", "still needs fixing",
	"remains to be", "left to do", "not yet implemented", "not implemented yet",
	"todo: ", "follow-up: ", "remaining: ", "is still missing", "are still missing",
	"not yet covered", "not yet handled", "reste à ", "pas encore implémenté",
	"il manque encore", "noch offen", "falta por " };
static const char *const offering[] = { "want me to", "let me know", "would you like", "i can",
	"shall i", "if you", "you can", "you could", "you may", "you'll", "let me", "until",
	"so that", "stop at", "if", "changed from", "voulez-vous", "veux-tu", "dis-moi",
	"feel free", "optional", "consider", "none", "nothing" };

/* Is this word part of what is there already? Words are only looked for, so that once is enough. */
static bool is_said(const struct buf *words, struct str w)
{
	return str_find((struct str){ buf_cstr(words), words->len }, w) != NULL;
}

/* Each word of a text once, in small letters. */
static char *words_once(struct arena *a, struct str text)
{
	AUTO(buf_done) struct buf words = { 0 };
	struct str rest = str_of(text_lower(a, text)), w;

	while (str_split(&rest, ' ', &w)) {
		if (!w.n || is_said(&words, w))
			continue;
		buf_add(&words, w.p, w.n);
		buf_char(&words, ' ');
	}
	return arena_dup(a, buf_cstr(&words), words.len);
}

/* Work done in this turn may close what an earlier one left open. */
static void add_done(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct fact_candidate c;
	const struct event *last = v->reply ? v->reply : v->prompt;

	if (!last || !turn_did_work(v))
		return;
	buf_printf(&text, "%s ", v->request ? v->request : "");
	for (size_t i = 0; i < v->ncommits; i++)
		buf_printf(&text, "%s ", v->commits[i].subject);
	for (size_t i = 0; i < v->blocks.n && text.len < DONE_MAX; i++)
		if (v->blocks.items[i].section != SECTION_NEXT &&
			v->blocks.items[i].kind != BLOCK_CODE)
			buf_printf(&text, "%s ", v->blocks.items[i].text);
	c = candidate_begin(rule, last, "done", TRUST_REPLY);
	c.part = PART_DONE;
	c.subject = "todo";
	c.topic = fact_topic_of(rule->name, "");
	c.title = "done";
	c.body = words_once(v->a,
		(struct str){ buf_cstr(&text), utf8_cut(buf_cstr(&text), text.len, DONE_MAX) });
	candidate_evidence(v, &c, last, "done", (struct str){ 0 });
	candidate_add(v, out, &c);
}

/* Not in what code says, and not what the agent is about to do itself. */
static bool leaves_open(const struct told *t)
{
	static const char *const own[] = { "i still need", "i need to", "i'll", "i will", "je dois",
		"ich muss" };

	if (told_says(t, own, ARRAY_LEN(own)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(leaving); i++) {
		const char *at = told_may_say(t, leaving[i]) ? strstr(t->lower, leaving[i]) : NULL;
		size_t ticks = 0;

		for (const char *p = t->lower; at && p < at; p++)
			ticks += *p == '`';
		if (begins_word(str_of(t->lower), at) && ticks % 2 == 0)
			return true;
	}
	return false;
}

void fact_todo(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	struct told_list list;
	size_t n = 0;

	add_done(v, rule, out);
	told_find(v, &list);
	for (size_t i = 0; v->reply && i < list.n && n < EACH_MAX; i++) {
		const struct told *t = &list.items[i];
		bool is_left = t->text.n >= TEXT_MIN && leaves_open(t);
		struct fact_candidate c;

		if (!is_left || t->text.n < TEXT_MIN ||
			told_says(t, offering, ARRAY_LEN(offering)) || strchr(t->lower, '?') ||
			!is_plain_statement(t->text) || sentence_judge(t->text).traits & TRAIT_DEED)
			continue;
		c = candidate_begin(rule, v->reply, slot_of(v, "open", i), TRUST_REPLY);
		c.topic = fact_topic_of(rule->name, "");
		c.subject = subject_of(v->a, t->text);
		c.value = "";
		c.title = fact_title(v->a, t->text);
		candidate_files_named(v, &c, c.title);
		candidate_evidence(v, &c, v->reply, "reply", t->text);
		candidate_add(v, out, &c);
		n++;
	}
}

/* ---- how the project is ---- */

static const char *const customs[] = { "by convention", "the convention is", "naming convention",
	"follows the convention", "the project uses ", "the codebase uses ", "this project uses ",
	"this codebase uses ", "the repo uses ", "project convention", "codebase convention",
	"tests live in", "tests are in ", "are named ", "must be registered", "all commands ",
	"all tests ", "every command ", "par convention", "le projet utilise ", "la convention est",
	"die konvention", "das projekt verwendet", "el proyecto usa " };
static const char *const structures[] = { " is responsible for ", " lives in ", " live in ",
	" is implemented in ", " is defined in ", " are defined in ", " delegates to ",
	" is stored in ", " are stored in ", " is the entry point", " wraps ", " reads from ",
	" writes to ", " is called by ", " is called from ", " is handled by ", " are handled by ",
	" is handled in ", " is built from ", " consists of ", " est défini dans ",
	" est responsable de ", " se trouve dans ", " délègue à ", " liegt in ",
	" se encuentra en " };
static const char *const changing[] = { "added", "fixed", "changed", "updated", "removed", "now",
	"no longer", "created", "renamed", "moved", "should", "would", "could", "will", "was",
	"were", "instead", "let me", "i'll", "bug", "fails", "error", "issue", "missing", "broken",
	"wrong", "incorrect", "until", "if", "problem", "option", "approach", "line", "already",
	"still", "expected", "fix", "need", "needs", "which", "we", "i", "you", "but", "doesn't",
	"does not", "isn't", "verifies", "verify", "tests that", "ajouté", "corrigé",
	"maintenant" };

/* The names of a sentence must have been seen by a tool, not only told. */
static bool is_seen(struct turn_view *v, struct str text)
{
	struct str *evidence = ARENA_ARRAY(v->a, struct str, v->in->n * 3 + 1);
	struct grounding g;
	size_t n = 0;

	for (size_t i = 0; i < v->in->n; i++) {
		const struct event *e = &v->in->events[i];

		if (e->kind != EVENT_TOOL || e->subagent)
			continue;
		evidence[n++] = str_of(e->output);
		evidence[n++] = str_of(e->input);
		evidence[n++] = str_of(e->diff);
	}
	ground_check(v->a, text, evidence, n, &g);
	return g.n >= 1 && g.unsupported == 0;
}

struct forms {
	const char *const *items;
	size_t n;
};

/* The subject is short: what it is stands near the beginning. */
static bool says_early(const struct told *t, const char *const *forms, size_t n)
{
	struct str head = { t->lower, strnlen(t->lower, SUBJECT_BYTES_MAX + FORM_BYTES_MAX) };

	for (size_t i = 0; i < n; i++)
		if (told_may_say(t, forms[i]) &&
			begins_word(head, str_find(head, str_of(forms[i]))))
			return true;
	return false;
}

/* "The function is called …": which one, only the talk around it told. */
static bool has_vague_subject(const struct told *t)
{
	static const char *const vague[] = { "the function ", "the method ", "the code ",
		"the test ", "the tests ", "the file ", "the class ", "the command ", "the hook ",
		"the script ", "the variable ", "the value ", "the change ", "the setting ",
		"the linter ", "the output ", "the result ", "the path ", "the handler ",
		"the wrapper ", "the new ", "the other ", "both ", "each ", "it ", "they ",
		"la fonction ", "le fichier ", "le test " };

	return starts_with_any(str_of(t->lower), vague, ARRAY_LEN(vague), NULL);
}

static void add_known_of(struct turn_view *v, const struct fact_rule *rule,
	struct rules_output *out, const struct told_list *list, const struct forms *forms)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n && n < EACH_MAX; i++) {
		const struct told *t = &list->items[i];

		if (t->text.n < TEXT_MIN || !says_early(t, forms->items, forms->n) ||
			told_says(t, changing, ARRAY_LEN(changing)) || t->section == SECTION_NEXT ||
			t->section == SECTION_DONE || t->section == SECTION_CHECK ||
			names_in(t->text) < (has_vague_subject(t) ? 2u : 1u) ||
			!is_plain_statement(t->text) || !is_seen(v, t->text))
			continue;
		add_told(v, rule, out, t, i);
		n++;
	}
}

static void add_known(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out,
	const struct forms *forms)
{
	struct told_list list;

	told_find(v, &list);
	add_known_of(v, rule, out, &list, forms);
	told_find_on_the_way(v, &list);
	add_known_of(v, rule, out, &list, forms);
}

void fact_convention(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	add_known(v, rule, out, &(struct forms){ customs, ARRAY_LEN(customs) });
}

void fact_architecture(struct turn_view *v, const struct fact_rule *rule, struct rules_output *out)
{
	add_known(v, rule, out, &(struct forms){ structures, ARRAY_LEN(structures) });
}
