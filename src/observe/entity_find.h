#ifndef OBSERVE_ENTITY_FIND_H
#define OBSERVE_ENTITY_FIND_H

#include "observe/entity.h"
#include "observe/entity_names.h"

/*
 * What the finders of entities share: one list of mentions per turn, an event counts once for each
 * entity.
 */

#define LOOK_MAX (64u << 10) /* bytes of one text looked at */

struct finder {
	struct arena *a;
	const struct rules_input *in;
	const struct event *e; /* the one looked at */
	size_t order;          /* its number in the turn, from 1 */
	struct mention *items;
	size_t n, cap;
	size_t *orders; /* the last event that counted, per item */
	size_t orders_n, orders_cap;
	int *slots; /* hash table of items, -1 empty */
};

/*
 * Adds a mention by this event. The kind is that of the place where the name was found; a known
 * name has its own. Names that are noise there or have no such form are left out.
 */
void entity_add(struct finder *f, enum entity_kind kind, struct str name);

/*
 * entity_code.c: imports of a source text, by the language of its path. Line numbers before the
 * lines are skipped.
 */
void entity_imports(struct finder *f, const char *path, struct str text);
/* The line without a number, arrow or tab that a reading tool put before it. */
struct str entity_line(struct str line);
/* Is this name a part of the path, or that of the project: the project's own? */
bool entity_is_own(const struct finder *f, const char *path, struct str name);

/* entity.c: a file's text that a shell command showed; the path as it was written there. */
void entity_shown(struct finder *f, const char *path, struct str text);

/*
 * entity_manifest.c: what a manifest (package.json, Cargo.toml, Dockerfile …) names; false when the
 * path is none.
 */
bool entity_manifest(struct finder *f, const char *path, struct str text);
/* "registry/owner/name:tag" */
void entity_image(struct finder *f, struct str image);

/* entity_shell.c: a shell command's parts as lists of words, quotes and redirections taken off. */
#define SHELL_WORDS_MAX 64
struct shell_command {
	char *words[SHELL_WORDS_MAX];
	size_t n;
};
void shell_each(struct arena *a, struct str text,
	void (*each)(void *ctx, const struct shell_command *c), void *ctx);

/*
 * entity_command.c: tools, commands, packages, images, hosts of a shell command; imports of a file
 * that it shows.
 */
void entity_command(struct finder *f, const char *text);

/* entity_text.c */
/* In back quotes, or with a capital where no sentence begins. */
bool entity_is_written_as_name(struct str text, struct str w);
void entity_prose(struct finder *f, struct str text); /* what a person or an agent wrote */
void entity_errors(struct finder *f, struct str output);
void entity_url(struct finder *f,
	struct str word); /* host, port and service of a word that holds "://" or a local port */

#endif
