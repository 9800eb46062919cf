#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include "base/err.h"
#include "store/db.h"

/* The schema, as numbered steps forward. A step is never changed once released; the last
 * number is the schema's version. */

struct migration {
	int64_t version;
	const char *const *statements; /* ends with NULL */
	/* What statements cannot say; after them, in the same transaction. May be NULL. */
	int (*run)(struct db *db, struct err *err);
};
extern const struct migration migrations[];
extern const size_t migrations_n;

/* schema_owner.c: migration 11. */
extern const char *const owner_tables[];
int owner_migrate(struct db *db, struct err *err);

/* Brings the database to the last version, a backup before when it holds anything. Newer than
 * we know: ERR_STORE. */
int schema_migrate(struct db *db, const char *backup_dir, struct err *err);
/* Refuses a database whose version is not ours. */
int schema_check(struct db *db, struct err *err);

#endif
