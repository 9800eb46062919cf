#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stddef.h>

#include "base/err.h"

/*
 * The log: lines "2026-11-29T17:15:00.123Z level message" in one file, rotated at LOG_FILE_MAX (name, name.1 … name.3), or
 * on standard error. Never holds texts of sessions, environment values or keys. Thread-safe.
 */

#define LOG_FILE_MAX (1u << 20)
#define LOG_FILES 4

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

int log_open(const char *path, struct err *err); /* NULL: standard error */
void log_set_level(enum log_level level);
void log_print(enum log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_close(void);

#define log_error(...) log_print(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_print(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_print(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_DEBUG, __VA_ARGS__)

#endif
