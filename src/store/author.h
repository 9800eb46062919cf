#ifndef STORE_AUTHOR_H
#define STORE_AUTHOR_H

#include "store/store.h"

/*
 * Whose rows are whose. A connection works for one author: what it writes is that author's, and it sees its author's rows and
 * what others have shared (`team`). On PostgreSQL the database keeps to that (schema_owner.c, postgres_owner.c); a file
 * belongs to one person, whose number in it is AUTHOR_FIRST, and whoever can read it reads all of it.
 */

#define AUTHOR_NAME_MAX 64 /* bytes */
#define AUTHOR_FIRST 1     /* owns what was stored before there were authors */
#define AUTHOR_NOBODY 0    /* of rows that belong to the store as a whole */

enum visibility { VISIBLE_AUTHOR, VISIBLE_TEAM }; /* stored */

/* Printable UTF-8 of 1 to AUTHOR_NAME_MAX bytes that neither begins nor ends with a space; else ERR_USAGE. */
int author_check(const char *name, struct err *err);
/* The number of the connection's author, and the name. */
int64_t store_me(const struct store *s);
const char *store_my_name(const struct store *s); /* "" when it was opened for nobody in particular */
/* How a colleague is called; NULL for the connection's own author. */
int store_author_name(struct store *s, struct arena *a, int64_t id, const char **ret, struct err *err);
/* How many authors the store has. */
int store_authors(struct store *s, int64_t *ret, struct err *err);

/*
 * Makes memories of the author's team's, or private again. A colleague's: ERR_USAGE, who it is. Those that are so already are not
 * touched; *ret_changed counts the others.
 */
#define SHARE_PAGE 200 /* memories of one transaction */
int store_share(struct store *s, const int64_t *ids, size_t n, bool is_team, size_t *ret_changed, struct err *err);
/* Whether the author's memories of this project are shared when they are made, those of no project for 0. */
int store_project_shared(struct store *s, int64_t project, bool *ret, struct err *err);
/* Names of the projects that are, those that were worked in last first. */
int store_projects_shared(struct store *s, struct arena *a, size_t max, const char ***ret, size_t *ret_n, struct err *err);
int store_project_share(struct store *s, int64_t project, bool is_shared, struct err *err);
/* The author's memories in it, chunks apart, that are not so yet: the next SHARE_PAGE above `after`. */
int store_unshared(struct store *s, struct arena *a, int64_t project, bool is_team, int64_t after, int64_t **ret, size_t *ret_n, struct err *err);
/* ERR_USAGE when this memory is a colleague's: only its author may do `what` ("forget it", "change it"). */
int memory_must_be_mine(const struct memory *m, const char *what, struct err *err);

/* author.c, for store.c: finds or makes the author of a connection that was just opened. name NULL: the first. */
int author_enter(struct store *s, const char *name, bool keeps_login, struct err *err);

#endif
