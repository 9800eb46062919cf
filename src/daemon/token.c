#include "daemon/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"

#define TOKEN_MODE 0600
#define OTHERS_MODE 0077

static bool is_hex(const char *text, size_t n)
{
	return strspn(text, "0123456789abcdef") >= n;
}

/* Is this a file that only its owner could read, and that owner us? */
static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & OTHERS_MODE) && st.st_nlink == 1;
}

/* The token that is there; false when there is none or it is not to be trusted. */
static bool token_read(const char *path, struct token *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[TOKEN_TEXT_MAX + 1] = "";
	bool is_good = false;

	if (fd < 0)
		return false;
	if (is_private(fd)) {
		ssize_t n = read(fd, text, sizeof(text) - 1);
		is_good = n >= 2 * TOKEN_BYTES && is_hex(text, 2 * TOKEN_BYTES) &&
			  (text[2 * TOKEN_BYTES] == '\n' || !text[2 * TOKEN_BYTES]);
	}
	close(fd);
	if (is_good)
		memcpy(ret->text, text, 2 * TOKEN_BYTES);
	else
		log_warn("'%s' was not a private file with a token; a new one is made", path);
	explicit_bzero(text, sizeof(text));
	return is_good;
}

static int random_fill(unsigned char *to, size_t n, struct err *err)
{
	for (size_t got = 0; got < n;) {
		ssize_t more = getrandom(to + got, n - got, 0);
		if (more < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "the system gives no random bytes: %s",
				strerror(errno));
		got += more > 0 ? (size_t)more : 0;
	}
	return 0;
}

static int token_make(const char *path, struct token *ret, struct err *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[TOKEN_BYTES];
	char line[TOKEN_TEXT_MAX + 1] = "";

	if (random_fill(bytes, sizeof(bytes), err))
		return -1;
	for (size_t i = 0; i < TOKEN_BYTES; i++) {
		line[2 * i] = digits[bytes[i] >> 4];
		line[2 * i + 1] = digits[bytes[i] & 15];
	}
	memcpy(ret->text, line, 2 * TOKEN_BYTES);
	line[2 * TOKEN_BYTES] = '\n';
	if (unlink(path) && errno != ENOENT)
		return err_set(err, ERR_IO, "cannot replace the token file '%s': %s", path,
			strerror(errno));
	int result = file_write(path, line, 2 * TOKEN_BYTES + 1, TOKEN_MODE, err);
	explicit_bzero(line, sizeof(line));
	explicit_bzero(bytes, sizeof(bytes));
	return result;
}

int token_open(const char *path, struct token *ret, struct err *err)
{
	struct token made = { "" };

	if (!token_read(path, &made) && token_make(path, &made, err))
		return -1;
	*ret = made;
	return 0;
}

bool token_matches(const struct token *t, const char *given)
{
	volatile unsigned char differs = 0;

	if (!given || strlen(given) != 2 * TOKEN_BYTES)
		return false;
	for (size_t i = 0; i < 2 * TOKEN_BYTES; i++)
		differs |= (unsigned char)(t->text[i] ^ given[i]);
	return !differs;
}
