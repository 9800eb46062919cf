#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

void drive_take_option(const struct drive_option *rows, size_t n, const char *arg)
{
	const char *value = strchr(arg, '=');

	for (size_t i = 0; value && i < n; i++) {
		if (strlen(rows[i].name) != (size_t)(value - arg) || !str_starts(arg, rows[i].name))
			continue;
		if (rows[i].text)
			*rows[i].text = value + 1;
		else if (rows[i].number)
			*rows[i].number = atoi(value + 1);
		else
			*rows[i].wide = atoll(value + 1);
		return;
	}
	die("there is no option '%s'", arg);
}

void drive_read_input(struct buf *to)
{
	char piece[4096];

	for (size_t n; (n = fread(piece, 1, sizeof piece, stdin)) > 0;)
		buf_add(to, piece, n);
}

void drive_print(struct buf *line)
{
	puts(buf_cstr(line));
	fflush(stdout);
}

int drive_print_error(const struct err *err)
{
	AUTO(buf_done) struct buf line = { 0 };
	struct jw w = { .out = &line };

	jw_object(&w, NULL);
	jw_str(&w, "error", err_codes[err->code].name);
	jw_str(&w, "detail", err->text);
	jw_str(&w, "hint", err->hint);
	jw_end(&w, '}');
	drive_print(&line);
	return 1;
}
