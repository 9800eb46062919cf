/* Words that look like names and are none, one list per place. Sorted by bytes. */
#include "observe/entity_names.h"

#include "base/mem.h"

/* First words of commands that everybody runs all the time, and words of shell and prose. */
static const char *const noise_commands[] = { "add", "alias", "all", "and", "app", "arg", "args",
	"assert", "async", "await", "awk", "bar", "base64", "basename", "bash", "bat", "baz", "bc",
	"bg", "bind", "break", "build", "builtin", "bzip2", "caller", "case", "cat", "catch", "cd",
	"char", "check", "chmod", "chown", "class", "clean", "clear", "cmd", "cmp", "column",
	"comm", "command", "commands", "compgen", "complete", "const", "continue", "coproc", "cp",
	"cut", "data", "date", "dd", "declare", "def", "delete", "deploy", "dev", "df", "diff",
	"dir", "dirname", "dirs", "disown", "do", "doas", "done", "du", "echo", "egrep", "elif",
	"else", "enable", "env", "err", "error", "esac", "eval", "exec", "exit", "expand", "export",
	"expr", "false", "fd", "fg", "fgrep", "fi", "file", "files", "finally", "find", "fish",
	"fix", "fn", "fold", "foo", "for", "format", "free", "from", "function", "get", "getconf",
	"getopts", "grep", "gunzip", "gzip", "hash", "head", "help", "hexdump", "history",
	"hostname", "htop", "iconv", "id", "if", "ifconfig", "impl", "import", "in", "input",
	"install", "int", "ip", "jobs", "join", "key", "kill", "killall", "less", "let", "line",
	"lines", "lint", "ln", "local", "locale", "logger", "ls", "lsblk", "lsof", "main", "man",
	"mapfile", "md5", "md5sum", "mkdir", "mktemp", "mod", "more", "mount", "msg", "mv", "name",
	"netstat", "new", "nice", "nl", "nohup", "note", "nproc", "od", "open", "options", "opts",
	"output", "package", "paste", "path", "pbcopy", "pbpaste", "pgrep", "ping", "pkill", "popd",
	"print", "printf", "private", "ps", "pub", "public", "pushd", "pwd", "raise", "read",
	"readarray", "readlink", "realpath", "reset", "result", "results", "return", "rev", "rm",
	"rmdir", "run", "say", "script", "scripts", "sed", "see", "select", "seq", "serve", "set",
	"setsid", "sh", "sha1sum", "sha256sum", "shasum", "shift", "shopt", "shuf", "sleep", "sort",
	"source", "split", "sponge", "ss", "start", "stat", "static", "stdbuf", "stop", "strings",
	"struct", "stty", "su", "sudo", "sync", "tac", "tail", "tar", "tee", "test", "text", "the",
	"then", "this", "throw", "time", "timeout", "tmp", "todo", "top", "touch", "tput", "tr",
	"trap", "tree", "true", "truncate", "try", "type", "typeset", "ulimit", "umask", "umount",
	"uname", "uniq", "unset", "until", "unzip", "update", "uptime", "use", "value", "var",
	"void", "wait", "watch", "wc", "when", "whereis", "which", "while", "whoami", "with",
	"xargs", "xxd", "xz", "yes", "zip", "zsh" };

/* What manifests and imports name besides libraries. */
static const char *const noise_libraries[] = { "__future__", "a", "api", "app", "apps", "assets",
	"author", "b", "bar", "baz", "build", "c", "cli", "client", "client-only", "commands",
	"common", "components", "config", "configs", "conftest", "constants", "controllers", "core",
	"database", "db", "dependencies", "description", "dist", "domain", "entities", "example",
	"examples", "fixtures", "foo", "generated", "handlers", "helper", "helpers", "here",
	"hooks", "index", "infrastructure", "internal", "it", "lib", "library", "libs", "license",
	"main", "middleware", "migrations", "mock", "mocks", "model", "models", "module",
	"module-name", "modules", "my-package", "mymodule", "mypackage", "name", "package",
	"package-name", "packages", "pages", "plugin", "plugins", "private", "proto", "public",
	"python", "requires", "routes", "schema", "schemas", "script", "scripts", "server",
	"server-only", "service", "services", "settings", "setup", "shared", "somelib", "src",
	"store", "stores", "styles", "tasks", "test", "testing", "tests", "that", "the", "them",
	"there", "this", "tool", "tools", "types", "util", "utils", "version", "views", "what",
	"where", "which", "worker", "workers", "workspace", "x", "y", "your-package", "z" };

/* Other spellings that are words of the language: no names in a sentence. */
static const char *const noise_spellings[] = { "actix", "ag", "attr", "attrs", "bash", "cc",
	"cockroach", "compose", "curl", "dateutil", "dotenv", "dynamo", "es", "gh", "gha", "kube",
	"md", "microhttpd", "moment", "next", "node", "np", "pd", "pil", "plt", "rabbit", "rg",
	"sh", "tf", "three", "torch", "vue", "yaml" };

static const char *const standard_python[] = { "__main__", "_thread", "abc", "aifc", "argparse",
	"array", "ast", "asynchat", "asyncio", "asyncore", "atexit", "audioop", "base64", "bdb",
	"binascii", "bisect", "builtins", "bz2", "calendar", "cgi", "cgitb", "chunk", "cmath",
	"cmd", "code", "codecs", "codeop", "collections", "colorsys", "compileall", "concurrent",
	"configparser", "contextlib", "contextvars", "copy", "copyreg", "cprofile", "crypt", "csv",
	"ctypes", "curses", "dataclasses", "datetime", "dbm", "decimal", "difflib", "dis",
	"distutils", "doctest", "email", "encodings", "ensurepip", "enum", "errno", "faulthandler",
	"fcntl", "filecmp", "fileinput", "fnmatch", "fractions", "ftplib", "functools", "gc",
	"getopt", "getpass", "gettext", "glob", "graphlib", "grp", "gzip", "hashlib", "heapq",
	"hmac", "html", "http", "imaplib", "imghdr", "imp", "importlib", "inspect", "io",
	"ipaddress", "itertools", "json", "keyword", "linecache", "locale", "logging", "lzma",
	"mailbox", "mailcap", "marshal", "math", "mimetypes", "mmap", "modulefinder", "msvcrt",
	"multiprocessing", "netrc", "nntplib", "numbers", "operator", "optparse", "os",
	"ossaudiodev", "pathlib", "pdb", "pickle", "pickletools", "pipes", "pkgutil", "platform",
	"plistlib", "poplib", "posix", "posixpath", "pprint", "profile", "pstats", "pty", "pwd",
	"py_compile", "pyclbr", "pydoc", "queue", "quopri", "random", "re", "readline", "reprlib",
	"resource", "rlcompleter", "runpy", "sched", "secrets", "select", "selectors", "shelve",
	"shlex", "shutil", "signal", "site", "smtpd", "smtplib", "sndhdr", "socket", "socketserver",
	"spwd", "sqlite3", "ssl", "stat", "statistics", "string", "stringprep", "struct",
	"subprocess", "sunau", "symtable", "sys", "sysconfig", "syslog", "tabnanny", "tarfile",
	"telnetlib", "tempfile", "termios", "textwrap", "threading", "time", "timeit", "tkinter",
	"token", "tokenize", "tomllib", "trace", "traceback", "tracemalloc", "tty", "turtle",
	"types", "typing", "unicodedata", "unittest", "urllib", "uu", "uuid", "venv", "warnings",
	"wave", "weakref", "webbrowser", "winreg", "winsound", "wsgiref", "xml", "xmlrpc", "zipapp",
	"zipfile", "zipimport", "zlib", "zoneinfo" };

static const char *const standard_javascript[] = { "assert", "async_hooks", "buffer",
	"child_process", "cluster", "console", "constants", "crypto", "dgram",
	"diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https",
	"inspector", "module", "net", "os", "path", "perf_hooks", "process", "punycode",
	"querystring", "readline", "repl", "sea", "sqlite", "stream", "string_decoder", "sys",
	"test", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi",
	"worker_threads", "zlib" };

static const char *const standard_c[] = { "aio", "alloca", "arm_neon", "arpa", "asm", "assert",
	"byteswap", "complex", "cpio", "cpuid", "ctype", "dirent", "dlfcn", "emmintrin", "endian",
	"err", "errno", "error", "execinfo", "fcntl", "features", "fenv", "float", "fnmatch",
	"getopt", "glob", "grp", "iconv", "ifaddrs", "immintrin", "inttypes", "iso646", "langinfo",
	"libgen", "limits", "linux", "locale", "mach", "malloc", "math", "memory", "net", "netdb",
	"netinet", "nl_types", "paths", "poll", "pthread", "pwd", "regex", "resolv", "sched",
	"search", "semaphore", "setjmp", "shadow", "signal", "spawn", "stdalign", "stdarg",
	"stdatomic", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string",
	"strings", "sys", "syscall", "sysexits", "syslog", "tar", "termios", "tgmath", "threads",
	"time", "uchar", "ucontext", "ulimit", "unistd", "utime", "utmp", "utmpx", "wait", "wchar",
	"wctype", "windows", "winsock2", "wordexp", "x86intrin", "xmmintrin" };

static const char *const standard_rust[] = { "alloc", "core", "crate", "proc_macro", "self", "std",
	"super", "test", "tests" };

static const char *const standard_ruby[] = { "benchmark", "bundler", "csv", "date", "digest",
	"english", "erb", "fileutils", "forwardable", "json", "logger", "minitest-std", "net",
	"open3", "openssl", "optparse", "ostruct", "pathname", "securerandom", "set", "shellwords",
	"singleton", "socket", "stringio", "tempfile", "time", "timeout", "tmpdir", "uri", "yaml" };

static const char *const system_errors[] = { "E2BIG", "EACCES", "EADDRINUSE", "EADDRNOTAVAIL",
	"EAGAIN", "EBADF", "EBUSY", "ECHILD", "ECONNABORTED", "ECONNREFUSED", "ECONNRESET",
	"EDEADLK", "EEXIST", "EFAULT", "EFBIG", "EHOSTUNREACH", "EINTR", "EINVAL", "EIO", "EISDIR",
	"ELOOP", "EMFILE", "EMSGSIZE", "ENAMETOOLONG", "ENETUNREACH", "ENFILE", "ENODEV", "ENOENT",
	"ENOEXEC", "ENOMEM", "ENOSPC", "ENOSYS", "ENOTCONN", "ENOTDIR", "ENOTEMPTY", "ENOTFOUND",
	"ENOTSUP", "EPERM", "EPIPE", "ERANGE", "ERESOLVE", "EROFS", "ETIMEDOUT", "ETXTBSY", "EXDEV",
	"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGKILL", "SIGSEGV" };

#define LIST(x)                 \
	{                       \
		x, ARRAY_LEN(x) \
	}
const struct word_list word_lists[WORD_LIST_COUNT] = {
	[NOISE_COMMANDS] = LIST(noise_commands),
	[NOISE_LIBRARIES] = LIST(noise_libraries),
	[NOISE_SPELLINGS] = LIST(noise_spellings),
	[STANDARD_PYTHON] = LIST(standard_python),
	[STANDARD_JAVASCRIPT] = LIST(standard_javascript),
	[STANDARD_C] = LIST(standard_c),
	[STANDARD_RUST] = LIST(standard_rust),
	[STANDARD_RUBY] = LIST(standard_ruby),
	[SYSTEM_ERRORS] = LIST(system_errors),
};
