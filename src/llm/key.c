/* Where the key comes from. It stands in memory and in a header, and nowhere else. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "llm/parts.h"

#define KEY_MAX 8192
#define KEY_COMMAND_MS 15000
#define KEY_SHORTEST 6 /* a shorter one would star out common letters */

/* White space around a key is never meant; a line end inside it would make another header. */
static int key_trim(struct str text, const char *where, char **ret, struct err *err)
{
	struct str key = str_trim(text);

	for (size_t i = 0; i < key.n; i++)
		if ((unsigned char)key.p[i] < ' ' || key.p[i] == 127)
			return err_set(
				err, ERR_USAGE, "the key of %s holds more than one line", where);
	*ret = mem_dup(key.n ? key.p : "", key.n);
	return 0;
}

static int key_of_file(const char *path, char **ret, struct err *err)
{
	AUTO(buf_done) struct buf text = { 0 };
	struct stat st;

	if (stat(path, &st) < 0)
		return err_set(
			err, ERR_USAGE, "cannot read the key in '%s': %s", path, strerror(errno));
	if (st.st_mode & (S_IRWXG | S_IRWXO)) {
		err_set(err, ERR_USAGE, "the key in '%s' is not used: others can read the file",
			path);
		return err_hint(err, "chmod 600 '%s'", path);
	}
	if (file_read(path, KEY_MAX, &text, err) < 0) {
		err->code = ERR_USAGE;
		return err_prefix(err, "cannot read the key");
	}
	int result = key_trim((struct str){ buf_cstr(&text), text.len }, path, ret, err);
	if (!result && !**ret)
		result = err_set(err, ERR_USAGE, "there is no key in '%s'", path);
	return result;
}

static int key_of_command(const char *command, char **ret, struct err *err)
{
	AUTO(buf_done) struct buf out = { .max = KEY_MAX }, errors = { .max = MESSAGE_MAX };
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct proc_run run = { .argv = argv, .timeout_ms = KEY_COMMAND_MS };
	int status = 0;

	if (proc_run(&run, &out, &errors, &status, err) < 0) {
		err->code = ERR_USAGE;
		return -1;
	}
	if (status < 0)
		return err_set(err, ERR_USAGE, "observer.key_command did not end within %d s",
			KEY_COMMAND_MS / 1000);
	if (status != 0)
		return err_set(err, ERR_USAGE, "observer.key_command ended with status %d: %s",
			status, buf_cstr(&errors));
	int result =
		key_trim((struct str){ buf_cstr(&out), out.len }, "observer.key_command", ret, err);
	if (!result && !**ret)
		result = err_set(err, ERR_USAGE, "observer.key_command printed no key");
	return result;
}

static const char *key_of_environment(const struct llm *l)
{
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(l->provider->key_variables) && !(found && *found); i++)
		if (l->provider->key_variables[i])
			found = getenv(l->provider->key_variables[i]);
	return found ? found : "";
}

static bool is_set(const char *text)
{
	return text && *text;
}

int key_read(const struct llm *l, char **ret, struct err *err)
{
	if (is_set(l->c.key))
		return key_trim(str_of(l->c.key), "observer.key", ret, err);
	if (is_set(l->c.key_file))
		return key_of_file(l->c.key_file, ret, err);
	if (is_set(l->c.key_command))
		return key_of_command(l->c.key_command, ret, err);
	return key_trim(str_of(l->has_own_address ? "" : key_of_environment(l)), "the environment",
		ret, err);
}

void key_hide(const struct llm *l, char *text)
{
	size_t n = strlen(l->key);

	if (n < KEY_SHORTEST)
		return;
	for (char *at; (at = strstr(text, l->key));)
		memset(at, '*', n);
}
