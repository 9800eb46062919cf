#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include "store/store.h"

/*
 * Markdown folders: the folders that are followed, their files, and the chunks made of them. A
 * folder has a namespace of its own; a file is known by its folder and its path below the folder's
 * root. Everything about one file is written in the caller's transaction.
 */

#define FOLDER_NAMESPACE_MAX 100 /* bytes */
#define FOLDER_PATH_MAX 4096
#define FOLDER_GLOBS_MAX 4096 /* bytes of all, a line each */

struct folder {
	int64_t id, project; /* project 0: for all projects */
	bool is_team;        /* colleagues find its sections too */
	const char *namespace, *root, *globs /* a line each */;
	int64_t created_at, synced_at; /* 0: never */
	const char *error;             /* why the folder as a whole could not be read, or NULL */
	int64_t files, chunks, failed; /* in lists */
};
/* A daemon follows its author's folders only, and these functions give no others. */
int folder_list(struct store *s, struct arena *a, struct folder **ret, size_t *ret_n, struct err *err); /* by namespace */
/* The same, at most `max`, behind this namespace (NULL: from the first). */
int folder_page(struct store *s, struct arena *a, const char *behind, size_t max, struct folder **ret, size_t *ret_n, struct err *err);
int folder_find(struct store *s, struct arena *a, const char *namespace, struct folder *ret, struct err *err); /* id 0: none */
/* A new one (id 0: is set), or new root, globs, project and visibility, which its chunks then have too. */
int folder_put(struct store *s, struct folder *f, struct err *err);
int folder_synced(struct store *s, int64_t id, int64_t at, const char *error, struct err *err);
/* With all its files and chunks. */
int folder_remove(struct store *s, int64_t id, struct err *err);

struct folder_file {
	int64_t id;
	const char *path;     /* below the root */
	const char *checksum; /* of the content that its chunks were made of; NULL: there are none */
	int64_t stamp;        /* of size and times when it was read; 0: not to be trusted */
	int64_t chunks, synced_at;
	const char *error; /* why it could not be read, or NULL */
};
/* Ascending by path, bytewise. */
int folder_files(struct store *s, struct arena *a, int64_t folder, struct folder_file **ret, size_t *ret_n, struct err *err);

struct chunk_text {
	const char *section, *path, *body;
	int64_t index, first_line, last_line;
};
struct file_text {
	const char *path, *checksum;
	int64_t stamp, at;     /* when it is of: its date, else its time */
	const char *title, *metadata /* JSON */, *tags /* JSON array */, *notes; /* any may be NULL */
	const struct chunk_text *chunks;
	size_t n;
};
/* chunks: there are now; written: of these, new or changed, to be embedded anew. */
struct file_result {
	int64_t chunks, written, buried;
};
/*
 * Replaces what is known of the file by this. A chunk whose text stays keeps its id; one that was
 * forgotten does not come back.
 */
int folder_file_put(struct store *s, const struct folder *f, const struct file_text *t, struct file_result *ret, struct err *err);
/* It is elsewhere now, with all its chunks. */
int folder_file_move(struct store *s, int64_t file, const char *path, int64_t stamp, struct err *err);
int folder_file_remove(struct store *s, int64_t file, struct err *err);
/* It was looked at and is the same; or cannot be read (error) and keeps what it has. */
int folder_file_seen(struct store *s, int64_t file, int64_t stamp, const char *error, struct err *err);
/* A file that never could be read is known by its error alone; `drop`: what it had goes. */
int folder_file_failed(struct store *s, const struct folder *f, const char *path, const char *error, bool drop, struct err *err);

/* The search log: before that time, and all but the newest `keep`. */
#define SEARCH_LOG_MAX 1000000
struct search_record {
	int64_t at, took_us, results;
	const char *scope, *namespace, *query; /* any may be NULL */
	double top;
};
int search_log_put(struct store *s, const struct search_record *r, struct err *err);
int search_log_prune(struct store *s, int64_t before, int64_t keep, struct err *err);

#endif
