#ifndef CLIENT_RENDER_H
#define CLIENT_RENDER_H

#include "client/client.h"

/* How each operation's reply looks to a person. Pure: JSON in, text into term->out. */

typedef void render_fn(struct client *c, const json *reply);
render_fn *render_find(const char *op); /* NULL: the reply is shown as JSON */

render_fn render_search, render_timeline, render_recall, render_context; /* render_hits.c */
render_fn render_entities;                                               /* render_entities.c */
render_fn render_get;                                                    /* render_record.c */
render_fn render_sessions, render_projects, render_files, render_blame, render_why;    /* render_lists.c */
render_fn render_stats, render_status, render_doctor, render_model;      /* render_state.c */
render_fn render_import, render_remember, render_edit, render_pin, render_share, render_forget, render_pause,
	render_resume, render_config, render_backup, render_store, render_restore, render_reindex, render_export,
	render_stop; /* render_done.c */
render_fn render_sync;                                                    /* render_sync.c */
void render_sync_progress(struct client *c, const char *line, size_t len);
render_fn render_jobs, render_cost, render_observer;                      /* render_model.c */
render_fn render_facts;                                                  /* render_facts.c */
render_fn render_review;                                                 /* render_review.c */
void render_progress(
	struct client *c, const char *line, size_t len); /* render_done.c: on standard error */
void render_progress_end(void);

/* Helpers that several groups use (render.c). */
/* A line of columns; with details also its snippet and where it belongs. */
void render_hit(struct client *c, const json *hit, bool has_details);
/* The colour of a type or kind. */
enum style render_type_style(const char *type);
const char *render_ago(struct client *c, int64_t at);
const char *render_age(struct client *c, int64_t at); /* the same in a column: "9mo" */
/* "name   value" with the name dim and padded; nothing when the value is NULL or "". */
void render_field(struct client *c, const char *name, const char *value);
void render_title(struct client *c, const char *title); /* a heading line */
/* What is empty, and what to do about it. */
void render_nothing(struct client *c, const char *what, const char *advice);
/* "1 file", "1,234 files" */
const char *render_plural(struct client *c, int64_t n, const char *one, const char *many);
/* Dim closing line. */
void render_footer(struct client *c, const char *text);
/* The command that shows the next page, when the reply has a next_cursor (render_more.c). */
void render_more(struct client *c, const json *reply);
/* "a, b and 3 more" of an array of strings or of objects with `key`. */
char *render_join(struct client *c, const json *array, const char *key, size_t max);
/* One memory that waits for a person, as a card; `progress` is "3 of 17" or NULL. */
void render_review_card(struct client *c, const json *item, const char *progress);

#endif
