#include "daemon/environment.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

extern char **environ;

/* A name that ends with '_' stands for all that begin so. */
static const char *const kept[] = {
	"HOME",
	"PATH",
	"USER",
	"LOGNAME",
	"LANG",
	"LC_",
	"TZ",
	"TMPDIR",
	"XDG_",
	"REMANENCE_",
	/* Where agents keep their transcripts when not at home. */
	"CLAUDE_CONFIG_DIR",
	"CODEX_HOME",
	/* Proxies and certificates, as curl reads them. */
	"http_proxy",
	"https_proxy",
	"HTTPS_PROXY",
	"all_proxy",
	"ALL_PROXY",
	"no_proxy",
	"NO_PROXY",
	"CURL_CA_BUNDLE",
	"SSL_CERT_FILE",
	"SSL_CERT_DIR",
	/* Keys of model servers, as their own programs read them. */
	"OPENAI_API_KEY",
	"ANTHROPIC_API_KEY",
	"GEMINI_API_KEY",
	"GOOGLE_API_KEY",
	"OLLAMA_API_KEY",
	/* As a hand-made markdown service names them. */
	"AI_ORCHESTRATOR_URL",
	"EMBEDDING_MODEL",
	"MEMORY_DIR",
	"CHUNK_SIZE",
	/* Of tests. */
	"ASAN_OPTIONS",
	"UBSAN_OPTIONS",
	"TSAN_OPTIONS",
	"LSAN_OPTIONS",
};

int environment_keeps(const char *variable)
{
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		size_t n = strlen(kept[i]);
		if (!strncmp(variable, kept[i], n) && (kept[i][n - 1] == '_' || variable[n] == '='))
			return 1;
	}
	return 0;
}

void environment_clean(void)
{
	size_t n = 0;
	for (char **e = environ; e && *e; e++)
		if (environment_keeps(*e))
			environ[n++] = *e;
	if (environ)
		environ[n] = NULL;
}

void environment_close_descriptors(void)
{
	static const unsigned first = 3;
	for (int fd = 0; fd < (int)first; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR);
#ifdef __linux__
	if (!close_range(first, ~0u, 0))
		return;
#endif
	long max = sysconf(_SC_OPEN_MAX);
	for (long fd = first; fd < (max > 0 && max < 65536 ? max : 65536); fd++)
		close((int)fd);
}
