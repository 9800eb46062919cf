#include "conf/environment.h"

#include <string.h>

#include "base/mem.h"

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
