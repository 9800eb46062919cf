/*
 * Whom a connection works for (schema_owner.c says what follows from it). Superusers and roles with BYPASSRLS are let past
 * policies, so a connection of theirs takes a role without a login instead, which has the rights of a daemon and no others.
 */
#include "store/postgres.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define LET_PAST                                                                                 \
	"SELECT CASE WHEN r.rolsuper OR r.rolbypassrls THEN 1 ELSE 0 END FROM pg_roles r WHERE " \
	"r.rolname = session_user"

/* A login that may not make the role may be a member of one that the administrator made. */
static const char member_make[] =
	"DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '" PG_MEMBER "') THEN "
	"CREATE ROLE " PG_MEMBER " NOLOGIN; END IF; "
	"EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$";

/* Tables of this schema that the role may not write; those of a later migration, at most. */
static const char member_lacks[] =
	"SELECT count(*) FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND "
	"c.relkind IN ('r', 'S') AND NOT CASE c.relkind WHEN 'r' THEN "
	"has_table_privilege('" PG_MEMBER
	"', c.oid, 'INSERT') ELSE has_sequence_privilege('" PG_MEMBER "', c.oid, 'USAGE') END";

static int grant(struct postgres *db, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *s = db->schema;
	int64_t lacks;

	if (db_one(&db->base, member_lacks, NULL, 0, 0, &lacks, err))
		return -1;
	if (!lacks)
		return 0;
	return pg_simple(db,
		arena_printf(&a,
			"GRANT USAGE ON SCHEMA \"%s\" TO " PG_MEMBER
			"; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \"%s\" "
			"TO " PG_MEMBER "; GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA "
					"\"%s\" TO " PG_MEMBER,
			s, s, s),
		NULL, err);
}

/* Under the lock of writers, so that daemons that start together do not get in each other's way. */
static int member_ready(struct postgres *db, struct err *err)
{
	if (pg_begin(&db->base, err))
		return -1;
	if (!pg_simple(db, member_make, NULL, err) && !grant(db, err) && !pg_commit(&db->base, err))
		return 0;
	pg_rollback(&db->base);
	return -1;
}

static int no_member(struct postgres *db, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	const char *why = arena_str(&a, err->text), *login = PQuser(db->conn);

	if (err->code == ERR_BUSY)
		return -1;
	err_set(err, ERR_STORE,
		"the login '%s' of the store is let past row-level security, which keeps what "
		"people "
		"keep to themselves apart, and cannot be kept from it (%s)",
		login, why);
	return err_hint(err,
		"As an administrator: ALTER ROLE \"%s\" NOBYPASSRLS, or CREATE ROLE " PG_MEMBER
		" NOLOGIN and GRANT " PG_MEMBER " TO \"%s\".",
		login, login);
}

int pg_role_leave(struct postgres *db, struct err *err)
{
	return db->takes_role ? pg_simple(db, "RESET ROLE", NULL, err) : 0;
}

int pg_role_take(struct postgres *db, struct err *err)
{
	return db->takes_role ? pg_simple(db, "SET ROLE " PG_MEMBER, NULL, err) : 0;
}

int pg_as_login(struct db *db, bool is_login, struct err *err)
{
	return is_login ? pg_role_leave(postgres_of(db), err) : pg_role_take(postgres_of(db), err);
}

static int say_author(struct postgres *db, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };

	return pg_simple(db,
		arena_printf(&a, "SET remanence.author = '%lld'", (long long)db->author), NULL,
		err);
}

int pg_identify_again(struct postgres *db, struct err *err)
{
	if (!db->author)
		return 0;
	return say_author(db, err) || pg_role_take(db, err) ? -1 : 0;
}

/* Another login came first with this name. */
static int check_login(struct postgres *db, int64_t author, struct err *err)
{
	int64_t is_ours;

	if (db_one(&db->base,
		    "SELECT CASE WHEN login = session_user::text THEN 1 ELSE 0 END FROM author "
		    "WHERE id = ?1",
		    DB_ARGS(db_i(author)), 1, &is_ours, err))
		return -1;
	if (is_ours)
		return 0;
	err_set(err, ERR_STORE,
		"somebody works under the name of this author with another login than '%s'",
		PQuser(db->conn));
	return err_hint(err, "Set `author` to a name of your own; if it is yours, the owner of the "
			     "tables can give it "
			     "to this login (docs/postgresql.md).");
}

int pg_identify(struct db *base, int64_t author, bool keeps_login, struct err *err)
{
	struct postgres *db = postgres_of(base);
	int64_t is_let_past = 0;

	if (!keeps_login && (check_login(db, author, err) ||
				    db_one(base, LET_PAST, NULL, 0, 0, &is_let_past, err)))
		return -1;
	db->author = author;
	if (is_let_past && db->mode != DB_READ && member_ready(db, err))
		return no_member(db, err);
	db->takes_role = is_let_past;
	if (!pg_identify_again(db, err))
		return 0;
	return is_let_past ? no_member(db, err) : -1;
}

/* ---- copies of everything ---- */

static int force(struct postgres *db, const char *how, struct err *err)
{
	AUTO(arena_done) struct arena a = { 0 };
	PGresult *r;
	int failed = 0;

	if (pg_simple(db,
		    "SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = "
		    "current_schema()::regnamespace AND relkind = 'r' AND relrowsecurity",
		    &r, err))
		return -1;
	for (int i = 0; i < PQntuples(r) && !failed; i++)
		failed = pg_simple(db,
			arena_printf(&a, "ALTER TABLE %s %s ROW LEVEL SECURITY",
				PQgetvalue(r, i, 0), how),
			NULL, err);
	PQclear(r);
	return failed;
}

/* The owner of tables is let past policies that are not forced; nobody else sees that, since it ends with the transaction. */
int pg_everyone(struct db *base, bool is_writer, struct err *err)
{
	struct postgres *db = postgres_of(base);
	int64_t is_let_past;

	if (pg_role_leave(db, err) || db_one(base, LET_PAST, NULL, 0, 0, &is_let_past, err))
		return -1;
	db->takes_role = false;
	if (is_let_past || (is_writer && !force(db, "NO FORCE", err)))
		return 0;
	if (is_writer && err->code == ERR_BUSY)
		return -1;
	err_set(err, ERR_USAGE, "the login '%s' may not %s what others keep to themselves",
		PQuser(db->conn), is_writer ? "write" : "read");
	return err_hint(err, is_writer ? "Copy as the owner of the tables; see docs/postgresql.md."
				       : "Copy without --all, or as a role with BYPASSRLS; see "
					 "docs/postgresql.md.");
}

int pg_everyone_end(struct db *base, struct err *err)
{
	/* A login that works for an author elsewhere may not be one here. */
	static const char logins[] =
		"UPDATE author SET login = session_user WHERE login IS NULL OR login NOT IN "
		"(SELECT rolname::text FROM pg_roles)";
	int64_t is_let_past;

	if (pg_simple(postgres_of(base), logins, NULL, err) ||
		db_one(base, LET_PAST, NULL, 0, 0, &is_let_past, err))
		return -1;
	return is_let_past ? 0 : force(postgres_of(base), "FORCE", err);
}
