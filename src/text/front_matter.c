#include "text/front_matter.h"

#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

/* libyaml's events, of which only the outer two levels are looked at. */

#define DEPTH_READ 2 /* mappings that names are taken from */
#define NAME_MAX_BYTES 200

static bool is_fence(struct str line, bool is_end)
{
	while (line.n && strchr(" \t\r", line.p[line.n - 1]))
		line.n--;
	return str_is(line, "---") || (is_end && str_is(line, "..."));
}

size_t front_matter_find(struct str text, struct str *ret_inside)
{
	struct str rest = text, line;

	*ret_inside = (struct str){ text.p, 0 };
	if (!str_line(&rest, &line) || !is_fence(line, false))
		return 0;
	const char *from = rest.p;
	while (rest.n && (size_t)(rest.p - text.p) <= FRONT_MATTER_MAX) {
		const char *start = rest.p;
		str_line(&rest, &line);
		if (!is_fence(line, true))
			continue;
		*ret_inside = (struct str){ from, (size_t)(start - from) };
		return (size_t)(rest.p - text.p);
	}
	return 0;
}

/* --- Reading. --- */

struct reading {
	struct arena *a;
	struct front_matter *f;
	size_t entries_cap, tags_cap;
	yaml_parser_t parser;
	yaml_event_t event;
	bool is_bad;
};

static yaml_event_type_t next(struct reading *r)
{
	yaml_event_delete(&r->event);
	if (!r->is_bad && !yaml_parser_parse(&r->parser, &r->event)) {
		memset(&r->event, 0, sizeof(r->event));
		r->is_bad = true;
	}
	return r->is_bad ? YAML_NO_EVENT : r->event.type;
}

static char *scalar(struct reading *r)
{
	return arena_dup(
		r->a, r->event.data.scalar.value, strlen((const char *)r->event.data.scalar.value));
}

/* What stands there and is not looked at: the event in hand and all that it opens. */
static void pass_over(struct reading *r)
{
	unsigned depth = 0;

	for (;;) {
		yaml_event_type_t type = r->event.type;
		depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT;
		depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT;
		if (!depth || r->is_bad)
			return;
		next(r);
	}
}

static void add_tag(struct reading *r, struct str tag)
{
	tag = str_trim(tag);
	if (tag.n && *tag.p == '#')
		tag = (struct str){ tag.p + 1, tag.n - 1 };
	if (!tag.n || r->f->ntags == FRONT_MATTER_TAGS_MAX)
		return;
	const char *copy = arena_dup(r->a, tag.p, tag.n);
	ARENA_PUSH(r->a, r->f->tags, r->f->ntags, r->tags_cap, copy);
}

static void add_tags(struct reading *r, const char *value)
{
	struct str rest = str_of(value), part;

	while (str_split(&rest, ',', &part))
		add_tag(r, part);
}

static bool is_one_of(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(names[i], name))
			return true;
	return false;
}

static bool is_tags(const char *name)
{
	static const char *const names[] = { "tags", "tag", "keywords" };

	return is_one_of(name, names, ARRAY_LEN(names));
}

static void add_entry(struct reading *r, const char *name, const char *value)
{
	static const char *const dates[] = { "date", "updated", "last_updated", "modified",
		"created" };
	struct front_matter *f = r->f;

	if (!*value || f->n == FRONT_MATTER_ENTRIES_MAX)
		return;
	struct front_entry e = { name, value };
	ARENA_PUSH(r->a, f->entries, f->n, r->entries_cap, e);
	if (!strcasecmp(name, "title"))
		f->title = value;
	if (!f->title && !strcasecmp(name, "name"))
		f->title = value;
	if (is_one_of(name, dates, ARRAY_LEN(dates)) && (!f->date || !strcasecmp(name, "date")))
		f->date = value;
}

static void read_list(struct reading *r, const char *name)
{
	AUTO(buf_done) struct buf joined = { .max = FRONT_MATTER_MAX };
	yaml_event_type_t type;

	while ((type = next(r)) != YAML_SEQUENCE_END_EVENT && !r->is_bad) {
		if (type != YAML_SCALAR_EVENT) {
			pass_over(r);
			continue;
		}
		const char *value = scalar(r);
		if (is_tags(name))
			add_tag(r, str_of(value));
		buf_printf(&joined, "%s%s", joined.len ? ", " : "", value);
	}
	add_entry(r, name, arena_str(r->a, buf_cstr(&joined)));
}

static void read_mapping(struct reading *r, const char *outer, unsigned depth);

static void read_value(struct reading *r, const char *name, unsigned depth)
{
	yaml_event_type_t type = next(r);

	if (type == YAML_SCALAR_EVENT) {
		const char *value = scalar(r);
		if (is_tags(name))
			add_tags(r, value);
		add_entry(r, name, value);
	} else if (type == YAML_SEQUENCE_START_EVENT) {
		read_list(r, name);
	} else if (type == YAML_MAPPING_START_EVENT && depth < DEPTH_READ) {
		read_mapping(r, name, depth + 1);
	} else {
		pass_over(r);
	}
}

/* Its start was read. */
static void read_mapping(struct reading *r, const char *outer, unsigned depth)
{
	yaml_event_type_t type;

	while ((type = next(r)) != YAML_MAPPING_END_EVENT && !r->is_bad) {
		if (type != YAML_SCALAR_EVENT) {
			pass_over(r);
			next(r);
			pass_over(r);
			continue;
		}
		char *name = scalar(r);
		name[utf8_cut(name, strlen(name), NAME_MAX_BYTES)] = '\0';
		read_value(r, outer ? arena_printf(r->a, "%s.%s", outer, name) : name, depth);
	}
}

bool front_matter_read(struct arena *a, struct str inside, struct front_matter *ret)
{
	struct reading r = { .a = a, .f = ret };
	bool is_mapping = false;

	*ret = (struct front_matter){ 0 };
	if (!yaml_parser_initialize(&r.parser))
		return false;
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)inside.p, inside.n);
	while (!r.is_bad && r.event.type != YAML_STREAM_END_EVENT) {
		yaml_event_type_t type = next(&r);
		if (type == YAML_MAPPING_START_EVENT && !is_mapping) {
			is_mapping = true;
			read_mapping(&r, NULL, 1);
		} else if (type == YAML_SCALAR_EVENT || type == YAML_SEQUENCE_START_EVENT) {
			r.is_bad = true;
		}
	}
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.parser);
	if (r.is_bad)
		*ret = (struct front_matter){ 0 };
	return !r.is_bad;
}

char *front_matter_json(struct arena *a, const struct front_matter *f)
{
	AUTO(buf_done) struct buf b = { 0 };
	struct jw w = { .out = &b };

	if (!f->n)
		return NULL;
	jw_object(&w, NULL);
	for (size_t i = 0; i < f->n; i++)
		if (!is_tags(f->entries[i].name))
			jw_str(&w, f->entries[i].name, f->entries[i].value);
	jw_array(&w, "tags");
	for (size_t i = 0; i < f->ntags; i++)
		jw_str(&w, NULL, f->tags[i]);
	jw_end(&w, ']');
	jw_end(&w, '}');
	return arena_str(a, buf_cstr(&b));
}
