#include "index/synonyms.h"

#include <string.h>

#include "base/mem.h"

#define ROW_MAX (SYNONYMS_MAX + 1)

/* Only words that mean the same wherever they stand: "prod" and "product" do not. */
static const char *const rows[][ROW_MAX] = {
	{ "auth", "authentication", "authentification" },
	{ "authz", "authorization", "autorisation" },
	{ "db", "database", "bdd" },
	{ "k8s", "kubernetes" },
	{ "repo", "repository", "depot" },
	{ "config", "configuration", "cfg" },
	{ "env", "environment", "environnement" },
	{ "deps", "dependencies", "dependances" },
	{ "dep", "dependency", "dependance" },
	{ "dir", "directory", "folder", "dossier", "repertoire" },
	{ "doc", "documentation", "docs" },
	{ "js", "javascript" },
	{ "ts", "typescript" },
	{ "py", "python" },
	{ "pg", "postgres", "postgresql" },
	{ "perf", "performance" },
	{ "msg", "message" },
	{ "err", "error", "erreur" },
	{ "param", "parameter", "parametre" },
	{ "arg", "argument" },
	{ "impl", "implementation" },
	{ "infra", "infrastructure" },
	{ "regex", "regexp" },
	{ "async", "asynchronous", "asynchrone" },
	{ "sync", "synchronization", "synchronisation" },
	{ "creds", "credentials" },
	{ "pwd", "password", "passwd" },
	{ "spec", "specification" },
	{ "admin", "administrator", "administrateur" },
	{ "app", "application" },
	{ "lib", "library" },
	{ "pkg", "package", "paquet" },
	{ "var", "variable" },
	{ "fn", "func", "function", "fonction" },
	{ "prod", "production" },
	{ "dev", "development", "developpement" },
	{ "mem", "memory", "memoire" },
	{ "tmp", "temp", "temporary", "temporaire" },
	{ "bug", "defect" },
};

static const char *const *row_of(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < ROW_MAX && rows[i][k]; k++)
			if (rows[i][k][0] == word.p[0] && str_is(word, rows[i][k]))
				return rows[i];
	return NULL;
}

size_t synonyms_of(struct str word, struct str ret[SYNONYMS_MAX])
{
	const char *const *row = word.n ? row_of(word) : NULL;
	size_t n = 0;
	for (size_t k = 0; row && k < ROW_MAX && row[k]; k++)
		if (!str_is(word, row[k]) && n < SYNONYMS_MAX)
			ret[n++] = str_of(row[k]);
	return n;
}
