/* Errors worth remembering, by the tool that says them. The first form that fits counts. */

#include "observe/error_form.h"

#include <string.h>

#include "base/mem.h"

static const struct error_form error_forms[] = {
	{ "golangci", "(gosec)", WORTH_KEEPING, false },
	{ "golangci", "(noctx)", WORTH_KEEPING, false },
	{ "golangci", "(nilerr)", WORTH_KEEPING, false },
	{ "golangci", "(revive)", WORTH_KEEPING, false },
	{ "golangci", "(errcheck)", WORTH_KEEPING, false },
	{ "golangci", "(errorlint)", WORTH_KEEPING, false },
	{ "golangci", "(staticcheck)", WORTH_KEEPING, false },
	{ "golangci", "(wrapcheck)", WORTH_KEEPING, false },
	{ "golangci", "(exhaustive)", WORTH_KEEPING, false },
	{ "golangci", "(gocritic)", WORTH_KEEPING, false },
	{ "golangci", "(unparam)", WORTH_KEEPING, false },
	{ "gofmt", "is not `gofmt`-ed", WORTH_FORMAT, false },
	{ "eslint", "@typescript-eslint/", WORTH_KEEPING, false },
	{ "eslint", "react-hooks/", WORTH_KEEPING, false },
	{ "biome", " lint/", WORTH_KEEPING, false },
	{ "biome", "Formatter would have printed", WORTH_FORMAT, false },
	{ "black", "would reformat ", WORTH_FORMAT, false },
	{ "prettier", "Code style issues found", WORTH_FORMAT, false },
	{ "knip", "Unrecognized key(s)", WORTH_KEEPING, false },
	{ "shellcheck", "[SC", WORTH_KEEPING, false },
	{ "rust", "error[E", WORTH_ONCE, false },
	{ "cargo", "error: failed to ", WORTH_KEEPING, false },
	{ "cargo", "could not find `", WORTH_KEEPING, false },
	{ "go", "missing go.sum entry", WORTH_KEEPING, false },
	{ "go", "no required module provides", WORTH_KEEPING, false },
	{ "go", "import cycle not allowed", WORTH_KEEPING, false },
	{ "go", "updates to go.mod needed", WORTH_KEEPING, false },
	{ "go", "go: cannot find", WORTH_KEEPING, false },
	{ "go", "go: module ", WORTH_KEEPING, false },
	{ "go", "go.mod file not found", WORTH_KEEPING, false },
	{ "go", "inconsistent vendoring", WORTH_KEEPING, false },
	{ "go", "undefined: ", WORTH_ONCE, false },
	{ "go", "declared and not used", WORTH_ONCE, false },
	{ "go", "imported and not used", WORTH_ONCE, false },
	{ "go", "cannot use ", WORTH_ONCE, false },
	{ "go", "panic: ", WORTH_ONCE, false },
	{ "c", "undefined reference to", WORTH_KEEPING, false },
	{ "c", "fatal error: ", WORTH_KEEPING, false },
	{ "c", "multiple definition of", WORTH_KEEPING, false },
	{ "python", "ModuleNotFoundError", WORTH_KEEPING, false },
	{ "python", "ImportError", WORTH_KEEPING, false },
	{ "jest", "SyntaxError: Unexpected token", WORTH_KEEPING, false },
	{ "python", "SyntaxError", WORTH_ONCE, false },
	{ "python", "AttributeError", WORTH_ONCE, false },
	{ "python", "TypeError", WORTH_ONCE, false },
	{ "python", "NameError", WORTH_ONCE, false },
	{ "python", "KeyError", WORTH_ONCE, false },
	{ "python", "ValueError", WORTH_ONCE, false },
	{ "python", "externally-managed-environment", WORTH_KEEPING, false },
	{ "pytest", "fixture '", WORTH_KEEPING, false },
	{ "pytest", "error: unrecognized arguments", WORTH_KEEPING, false },
	{ "node", "Cannot find module", WORTH_KEEPING, false },
	{ "node", "Cannot find package", WORTH_KEEPING, false },
	{ "node", "ERR_MODULE_NOT_FOUND", WORTH_KEEPING, false },
	{ "node", "ERR_REQUIRE_ESM", WORTH_KEEPING, false },
	{ "node", "EADDRINUSE", WORTH_KEEPING, false },
	{ "npm", "npm ERR!", WORTH_KEEPING, false },
	{ "npm", "npm error", WORTH_KEEPING, false },
	{ "npm", "Missing script", WORTH_KEEPING, false },
	{ "pnpm", "ERR_PNPM", WORTH_KEEPING, false },
	{ "tsc", "error TS", WORTH_ONCE, false },
	{ "jest", "Cannot use import statement", WORTH_KEEPING, false },
	{ "vitest", "No test files found", WORTH_KEEPING, false },
	{ "java", "error: cannot find symbol", WORTH_ONCE, false },
	{ "java", "ClassNotFoundException", WORTH_KEEPING, false },
	{ "java", "NoSuchMethodError", WORTH_KEEPING, false },
	{ "java", "UnsupportedClassVersionError", WORTH_KEEPING, false },
	{ "maven", "Could not resolve dependencies", WORTH_KEEPING, false },
	{ "gradle", "Could not resolve ", WORTH_KEEPING, false },
	{ "gradle", "What went wrong", WORTH_ONCE, false },
	{ "docker", "failed to solve", WORTH_KEEPING, false },
	{ "docker", "Cannot connect to the Docker daemon", WORTH_KEEPING, false },
	{ "docker", "no space left on device", WORTH_KEEPING, false },
	{ "docker", "port is already allocated", WORTH_KEEPING, false },
	{ "git", "fatal: ", WORTH_KEEPING, true },
	{ "git", "! [rejected]", WORTH_KEEPING, true },
	{ "git", "error: failed to push", WORTH_KEEPING, true },
	{ "git", "error: pathspec", WORTH_KEEPING, true },
	{ "git", "error: Your local changes", WORTH_KEEPING, true },
	{ "psql", "FATAL: ", WORTH_KEEPING, false },
	{ "psql", "ERROR:  ", WORTH_KEEPING, false },
	{ "psql", "connection to server", WORTH_KEEPING, false },
	{ "shell", "command not found", WORTH_KEEPING, false },
	{ "shell", "Permission denied", WORTH_KEEPING, false },
	{ "shell", "unbound variable", WORTH_KEEPING, false },
	{ "shell", "syntax error near", WORTH_ONCE, false },
	{ "c", ": error: ", WORTH_ONCE, false },
};

static bool str_starts_with(struct str line, const char *mark)
{
	size_t n = strlen(mark);

	return line.n >= n && memcmp(line.p, mark, n) == 0;
}

const struct error_form *error_form_of(struct str line)
{
	for (size_t i = 0; i < ARRAY_LEN(error_forms); i++)
		if (error_forms[i].begins ? str_starts_with(line, error_forms[i].mark)
					  : str_find(line, str_of(error_forms[i].mark)) != NULL)
			return &error_forms[i];
	return NULL;
}
