#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/str.h"
#include "net/key.h"

#define KEY_MAX 8192
#define KEY_COMMAND_MS 15000
#define ERRORS_MAX 300
#define KEY_SHORTEST 6 /* a shorter one would star out common letters */

/* White space around a key is never meant; a line end inside it would make another header. */
static int key_trim(struct str text, const char *where, char **ret, struct err *err)
{
	struct str key = str_trim(text);

	if (str_has_control(key))
		return err_set(err, ERR_USAGE, "the key of %s holds more than one line", where);
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

static int key_of_command(const struct key_source *source, char **ret, struct err *err)
{
	AUTO(buf_done) struct buf out = { .max = KEY_MAX }, errors = { .max = ERRORS_MAX };
	const char *const argv[] = { "/bin/sh", "-c", source->command, NULL };
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
		return err_set(err, ERR_USAGE, "%s.key_command ended with status %d: %s",
			source->room, status, buf_cstr(&errors));
	int result = key_trim((struct str){ buf_cstr(&out), out.len }, "the command", ret, err);
	if (!result && !**ret)
		result = err_set(err, ERR_USAGE, "%s.key_command printed no key", source->room);
	return result;
}

static bool is_set(const char *text)
{
	return text && *text;
}

int key_read(const struct key_source *source, char **ret, struct err *err)
{
	char name[64];

	if (is_set(source->key)) {
		snprintf(name, sizeof name, "%s.key", source->room);
		return key_trim(str_of(source->key), name, ret, err);
	}
	if (is_set(source->file))
		return key_of_file(source->file, ret, err);
	if (is_set(source->command))
		return key_of_command(source, ret, err);
	*ret = mem_strdup("");
	return 0;
}

void key_free(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	free(key);
}

void key_hide(const char *key, char *text)
{
	size_t n = strlen(key);

	if (n < KEY_SHORTEST)
		return;
	for (char *at; (at = strstr(text, key));)
		memset(at, '*', n);
}
