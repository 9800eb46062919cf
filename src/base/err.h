#ifndef BASE_ERR_H
#define BASE_ERR_H

/*
 * What went wrong, said once, where it was found. A function that can fail takes a `struct err *` last, fills it and
 * returns -1. Rooms return errors; doors (command line, HTTP, MCP) print them, using the row of `err_codes` that belongs to
 * the code. The caller owns the struct; it holds no pointers and needs no ending.
 */

enum err_code {
	ERR_NONE,
	ERR_USAGE,       /* the request makes no sense: unknown option, bad value, not JSON */
	ERR_FORBIDDEN,   /* no token, wrong Host or Origin */
	ERR_NOT_FOUND,   /* a reference, file or command that does not exist */
	ERR_TOO_LARGE,   /* above a stated ceiling */
	ERR_BUSY,        /* locked, draining, another daemon: try again */
	ERR_UNAVAILABLE, /* the daemon does not answer */
	ERR_IO,          /* a file or socket operation failed */
	ERR_STORE,       /* the database refused */
	ERR_UPSTREAM,    /* a model or embedding server failed */
	ERR_INTERNAL,    /* our own bug */
	ERR_CODE_COUNT
};

#define ERR_TEXT_MAX 512
#define ERR_HINT_MAX 256

struct err {
	enum err_code code;
	char text[ERR_TEXT_MAX]; /* one sentence: what failed, on what, why */
	char hint[ERR_HINT_MAX]; /* what to do about it, or "" */
};

struct err_info {
	const char *name; /* as in the JSON of the contract: "usage", "not_found", … */
	int exit_status;
	int http_status;
	int rpc_code; /* JSON-RPC */
	int retryable;
};

extern const struct err_info err_codes[ERR_CODE_COUNT];

/* Fills *err (which may be NULL) and returns -1, so that a caller can `return err_set(…)`. Cut at ERR_TEXT_MAX on a UTF-8 border. */
int err_set(struct err *err, enum err_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds advice to an error that is already set. Returns -1. */
int err_hint(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "prefix: " before the text that is there. Returns -1. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The code whose row has this name; ERR_INTERNAL when there is none. */
enum err_code err_code_of(const char *name);

/* Prints "fatal: …" and aborts: out of memory and broken invariants only. */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
