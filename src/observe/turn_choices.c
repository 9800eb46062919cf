/* What a person chose when asked by the agent, and what they said when refusing a step. */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "observe/turn_view.h"

#define TEXT_MAX 400

static const char *const asking_tools[] = { "AskUserQuestion", "request_user_input", "ask_user",
	"ask_question", "AskUser" };

/* How agents report a refusal with its reason. */
static const char *const refusals[] = { "the user said:\n",
	"The user provided the following reason for the rejection:", "user said: " };

static void push(struct turn_view *v, const struct event *e, struct str question, struct str answer)
{
	struct choice c = { .event = e };

	answer = str_trim(answer);
	question = str_trim(question);
	if (!answer.n)
		return;
	c.question = question.n ? one_line(v->a, question, TEXT_MAX) : NULL;
	c.answer = one_line(v->a, answer, TEXT_MAX);
	ARENA_PUSH(v->a, v->choices, v->nchoices, v->choices_cap, c);
}

/* …: "question"="answer", "question"="answer". */
static void add_quoted_pairs(struct turn_view *v, const struct event *e)
{
	const char *p = e->output;

	while ((p = strstr(p, "\"=\"")) != NULL) {
		const char *question = p, *end;

		while (question > e->output && question[-1] != '"')
			question--;
		end = strstr(p + 3, "\", \"");
		end = end ? end : strstr(p + 3, "\". ");
		end = end ? end : strrchr(p + 3, '"');
		if (!end || end <= p + 3)
			return;
		push(v, e, (struct str){ question, (size_t)(p - question) },
			(struct str){ p + 3, (size_t)(end - p) - 3 });
		p = end;
	}
}

void turn_choice_add(struct turn_view *v, const struct event *e)
{
	if (!e->output)
		return;
	if (name_is_any(e->tool, asking_tools, ARRAY_LEN(asking_tools))) {
		add_quoted_pairs(v, e);
		return;
	}
	if (e->status != STATUS_DENIED)
		return;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		const char *at = strstr(e->output, refusals[i]);

		if (at) {
			push(v, e, (struct str){ 0 }, str_of(at + strlen(refusals[i])));
			return;
		}
	}
}
