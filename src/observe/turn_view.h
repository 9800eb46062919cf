#ifndef OBSERVE_TURN_VIEW_H
#define OBSERVE_TURN_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "observe/candidates.h"
#include "observe/markdown.h"
#include "observe/rules.h"

/*
 * A turn as the rules see it: who asked what, what the agent said at the end, which files,
 * commands, commits, failures and choices there were. Made once per turn; everything lies in the
 * arena. Pure.
 */

struct touched_file {
	const char *path; /* as memories name it */
	bool is_modified, is_new;
	const struct event *event; /* the last that touched it */
	size_t order;              /* index of that event in the turn */
};

struct command {
	const struct event *event;
	size_t order;
	const char *text; /* for people: one line, without a leading "cd" and long here-documents */
	const char *key;  /* what makes two runs the same command */
	const char *error; /* first line that tells the failure; NULL when it did not fail */
	bool failed, is_check,
		is_telling; /* is_telling: worth keeping (builds, tests, commits), not a look around */
	bool moves_files; /* git mv, git rm, mv, rm: work without an edit */
};

struct commit {
	const struct event *event;
	size_t order;
	const char *hash, *subject;
	const char *body; /* the rest of the message, NULL */
};

/* A check that failed, then files changed, then it passed. */
struct repair {
	const struct command *failed, *passed;
};

/* What the person chose when asked, or said when refusing a step. */
struct choice {
	const struct event *event;
	const char *question; /* NULL: a refusal */
	const char *answer;
};

/* What a sub-agent reported. */
struct report {
	const struct event *event;
	const char *task;
	struct str text;
};

struct turn_view {
	struct arena *a;
	const struct rules_input *in;
	const struct event *prompt; /* the first that a person typed; NULL */
	const char *request;        /* all typed prompts, one line; NULL */
	const struct event *reply;  /* the last of the main thread; NULL */
	struct str
		account; /* what was said after the last step, or else what was said on the way */
	struct blocks blocks; /* of the account, with sections */
	struct touched_file *files;
	size_t nfiles, files_cap, nmodified;
	struct command *commands;
	size_t ncommands, commands_cap;
	struct commit *commits;
	size_t ncommits, commits_cap;
	struct repair *repairs;
	size_t nrepairs, repairs_cap;
	struct choice *choices;
	size_t nchoices, choices_cap;
	struct report *reports;
	size_t nreports, reports_cap;
	size_t tools, looks;       /* calls; those that only read or search */
	struct candidates *titles; /* of replies and commits; made when first asked for */
	struct said_list *said; /* sentences of the person, and of the account (fact_said.c); */
	struct told_list *told; /* made when first asked for */
	const char **given;        /* titles given so far in this turn */
	size_t ngiven, given_cap;
};

void turn_view_make(struct turn_view *v, struct arena *a, const struct rules_input *in);

/* turn_commands.c */
void turn_command_add(struct turn_view *v, const struct event *e, size_t order);
void turn_repairs_find(struct turn_view *v);
/* turn_choices.c */
void turn_choice_add(struct turn_view *v, const struct event *e);
/* A file as memories name it: below its project, also in a linked work tree. In the arena or the event. */
const char *turn_path(const struct turn_view *v, const struct event *e, const char *path);
/* Were files changed, moved or committed? */
bool turn_did_work(const struct turn_view *v);
/* Text on one line, at most max bytes, cut at a word. */
char *one_line(struct arena *a, struct str text, size_t max);

#endif
