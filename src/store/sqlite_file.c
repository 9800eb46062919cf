/* The SQLite driver's work on whole files: where they may lie, backups, checks, and removing
 * what was deleted for good. */
#include "store/sqlite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#ifdef __linux__
#include <sys/vfs.h>
#endif

#define BACKUP_PAUSE_MS 5
#define CHECK_LINES_MAX 100

#ifdef __linux__
/* Values of statfs(2), "Filesystem types". FUSE is not among them: most of it is local. */
static const struct {
	long type;
	const char *name;
} network[] = {
	{ 0x6969, "NFS" },
	{ 0x517b, "SMB" },
	{ 0xfe534d42, "SMB2" },
	{ 0xff534d42, "CIFS" },
	{ 0x01021997, "9P" },
	{ 0x5346414f, "AFS" },
	{ 0x6b414653, "AFS" },
	{ 0x00c36400, "Ceph" },
	{ 0x0bd00bd0, "Lustre" },
	{ 0x73757245, "Coda" },
	{ 0x564c, "NCP" },
	{ 0x19830326, "BeeGFS" },
};
#endif

int sqlite_refuse_network(const char *path, struct err *err)
{
#ifdef __linux__
	AUTO(arena_done) struct arena a = { 0 };
	struct statfs fs;

	if (statfs(path, &fs) && statfs(path_parent(&a, path), &fs))
		return 0; /* opening will say why */
	for (size_t i = 0; i < ARRAY_LEN(network); i++) {
		if ((long)fs.f_type != network[i].type)
			continue;
		err_set(err, ERR_STORE,
			"'%s' is on a network file system (%s), where locks do not hold", path,
			network[i].name);
		return err_hint(err, "Set REMANENCE_HOME to a folder on a local disk.");
	}
#else
	(void)path;
	(void)err;
#endif
	return 0;
}

int sqlite_version(struct db *db, int64_t *ret, struct err *err)
{
	return db_one(db, "PRAGMA user_version", NULL, 0, 0, ret, err);
}

int sqlite_set_version(struct db *db, int64_t version, struct err *err)
{
	char sql[64];

	snprintf(sql, sizeof(sql), "PRAGMA user_version=%lld", (long long)version);
	return db_script(db, sql, err);
}

/* In one step, on one snapshot: writers go on meanwhile, and none of their commits starts it
 * anew. */
static int copy_pages(struct sqlite *db, sqlite3 *to, struct err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", db->handle, "main");
	int rc;

	if (!b)
		return err_set(err, ERR_STORE, "cannot start a backup of '%s': %s", db->path,
			sqlite3_errmsg(to));
	while ((rc = sqlite3_backup_step(b, -1)) == SQLITE_BUSY || rc == SQLITE_LOCKED)
		sqlite3_sleep(BACKUP_PAUSE_MS);
	sqlite3_backup_finish(b);
	if (rc != SQLITE_DONE)
		return err_set(err, ERR_STORE, "the backup of '%s' stopped: %s", db->path,
			sqlite3_errstr(rc));
	return 0;
}

static int write_backup(struct sqlite *db, const char *path, struct err *err)
{
	sqlite3 *to = NULL;
	int rc = sqlite3_open_v2(
		path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);

	if (rc != SQLITE_OK)
		err_set(err, ERR_STORE, "cannot write the backup '%s': %s", path,
			sqlite3_errmsg(to));
	else if (!(rc = copy_pages(db, to, err)))
		/* A file that stands alone: no log beside it. */
		sqlite3_exec(to, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
	sqlite3_close(to);
	return rc ? -1 : 0;
}

int sqlite_backup(struct db *db, const char *path, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *part = arena_printf(&a, "%s.part", path);

	unlink(part);
	if (file_write(part, "", 0, 0600, err))
		return -1;
	if (write_backup(sqlite_of(db), part, err)) {
		unlink(part);
		return -1;
	}
	if (rename(part, path)) {
		err_set(err, ERR_IO, "cannot rename the backup to '%s': %s", path, strerror(errno));
		unlink(part);
		return -1;
	}
	return 0;
}

int sqlite_check(struct db *db, bool is_deep, struct buf *report, struct err *err)
{
	AUTO(db_end_ptr) struct db_rows *r = NULL;
	int lines = 0, rc;

	if (db_query_once(db, is_deep ? "PRAGMA integrity_check" : "PRAGMA quick_check", NULL, 0,
		    &r, err))
		return -1;
	while ((rc = db_next(r, err)) > 0) {
		const char *line = db_text(r, 0);
		if (line && strcmp(line, "ok") != 0 && lines++ < CHECK_LINES_MAX)
			buf_printf(report, "%s\n", line);
	}
	return rc;
}

int sqlite_checkpoint(struct db *db, bool truncate, struct err *err)
{
	int rc = sqlite3_wal_checkpoint_v2(sqlite_of(db)->handle, NULL,
		truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

	if (rc == SQLITE_OK || (!truncate && (rc & 0xff) == SQLITE_BUSY))
		return 0;
	return sqlite_fail(sqlite_of(db), "moving the log into the store", err);
}

int sqlite_scrub(struct db *db, struct err *err)
{
	/* Deleted cells and pages were overwritten as they went (secure_delete); older images
	 * of them are in the log. */
	sqlite3_db_cacheflush(sqlite_of(db)->handle);
	return sqlite_checkpoint(db, true, err);
}

int sqlite_compact(struct db *db, struct err *err)
{
	if (sqlite3_exec(sqlite_of(db)->handle, "VACUUM", NULL, NULL, NULL) != SQLITE_OK)
		return sqlite_fail(sqlite_of(db), "compacting", err);
	return sqlite_checkpoint(db, true, err);
}

int64_t sqlite_bytes(struct db *db)
{
	static const char *const endings[] = { "", "-wal", "-shm" };
	AUTO(arena_done) struct arena a = { 0 };
	int64_t sum = 0;
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (stat(arena_printf(&a, "%s%s", sqlite_of(db)->path, endings[i]), &st) == 0)
			sum += st.st_size;
	return sum;
}

int64_t sqlite_bytes_used(struct db *db)
{
	int64_t pages = 0, free_pages = 0, size = 0;

	db_one(db, "PRAGMA page_count", NULL, 0, 0, &pages, NULL);
	db_one(db, "PRAGMA freelist_count", NULL, 0, 0, &free_pages, NULL);
	db_one(db, "PRAGMA page_size", NULL, 0, 0, &size, NULL);
	return (pages - free_pages) * size;
}

int sqlite_snapshot(struct db *db, struct err *err)
{
	return db_run(db, "BEGIN", NULL, 0, err);
}

int sqlite_number(struct db *db, const char *table, int64_t at_least, int64_t *ret, struct err *err)
{
	if (at_least &&
		db_run(db, "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1 AND seq < ?2",
			DB_ARGS(db_t(table), db_i(at_least)), err))
		return -1;
	if (at_least &&
		db_run(db,
			"INSERT INTO sqlite_sequence (name, seq) SELECT ?1, ?2 WHERE NOT EXISTS"
			" (SELECT 1 FROM sqlite_sequence WHERE name = ?1) AND EXISTS (SELECT 1 FROM"
			" sqlite_master WHERE name = ?1 AND sql LIKE '%AUTOINCREMENT%')",
			DB_ARGS(db_t(table), db_i(at_least)), err))
		return -1;
	return db_one(db, "SELECT seq FROM sqlite_sequence WHERE name = ?1", DB_ARGS(db_t(table)),
		0, ret, err);
}
