/*
 * One line of text for each operation, since JSON schemas written out are ten times as long and nobody would read them:
 * "name:type", "name[members of each]", "name[str]", "name{members}", with a ? behind what may be null or left out.
 */
#include "daemon/openapi_result.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define HIT                                                                                 \
	"ref:str kind:str type:str? title:str snippet:str? at:int score:num? project:str? " \
	"branch:str? "                                                                      \
	"agent:str? session:str? files[]? confidence:num? status:str? author:str? visibility:str? suspect:bool? tokens:int?"
#define FOUND_FOLDER                                                                          \
	"files:int synced:int skipped:int renamed:int removed:int chunks:int new_chunks:int " \
	"failures:int"
#define CALLS "calls:int units:int tokens_in:int tokens_out:int cost:num ok:int failed:int"

static const struct {
	const char *op, *members;
} results[] = {
	{ "search", "hits[" HIT "] total:int total_exact:bool took_ms:num" },
	{ "timeline", "anchor:str? total:int items[" HIT "] next_cursor:str? took_ms:num" },
	{ "get", "records[record:str ref:str kind:str? title:str? body:str? at:int? author:str? own:bool? visibility:str? tokens:int?] "
		 "missing[]" },
	{ "facts", "total:int facts[ref:str category:str title:str text:str status:str pinned:bool "
		   "confidence:num "
		   "trust:str at:int author:str? visibility:str? evidence:int revised:bool suspect:bool files[str]] "
		   "next_cursor:str?" },
	{ "recall", "query:str text:str found:bool memories[] tokens:int took_ms:num" },
	{ "context", "text:str chars:int tokens:int memories[str] sections[name:str chars:int]" },
	{ "files", "path:str files[path:str memories:int last_at:int] memories[" HIT
		   "] total:int next_cursor:str?" },
	{ "blame", "sources[]" },
	{ "entities", "entities[name:str kind:str mentions:int sessions:int first_at:int "
		      "last_at:int] total:int "
		      "name:str? memories[" HIT "]? neighbours[name:str kind:str together:int]? "
		      "months[month:str mentions:int sessions:int]? next_cursor:str?" },
	{ "remember", "ref:str kind:str title:str exists:bool redacted:int" },
	{ "edit", "ref:str title:str redacted:int" },
	{ "pin", "pinned[str]? unpinned[str]?" },
	{ "share", "visibility:str changed:int project:str? shared_store:bool" },
	{ "review", "review[ref:str kind:str category:str? title:str text:str status:str "
		    "reason:str confidence:num trust:str "
		    "at:int author:str? visibility:str? files[str] evidence[ref:str? role:str? excerpt:str?]]? total:int? "
		    "next_cursor:str? "
		    "ref:str? action:str? status:str?" },
	{ "forget", "forgotten[str]? memories:int? events:int? sessions:int? plan{memories:int "
		    "events:int sessions:int}?" },
	{ "pause", "paused:bool pauses[]" },
	{ "resume", "ended:int pauses[]" },
	{ "sessions", "sessions[ref:str agent:str agent_session:str project:str? branch:str? "
		      "title:str? model:str? cwd:str? "
		      "headless:bool started_at:int? last_event_at:int? ended_at:int? events:int "
		      "memories:int tokens_in:int "
		      "tokens_out:int] next_cursor:str?" },
	{ "projects", "projects[id:int name:str root:str? sessions:int memories:int visibility:str "
		      "last_event_at:int?] next_cursor:str?" },
	{ "why", "session:str? injections[]? given:int? used:int? chars:int? tokens:int?" },
	{ "stats", "projects:int sessions:int turns:int events:int memories{observation:int "
		   "summary:int fact:int note:int "
		   "chunk:int} memories_total:int pending:int entities:int vectors:int "
		   "store_bytes:int index_bytes:int" },
	{ "status", "running:bool pid:int uptime_ms:int version:str build:str home:str store:str author:str "
		    "http:str? queue{spool:int} "
		    "index{docs:int segments:int bytes:int behind:int} authors:int? shared_projects[str]? jobs{waiting:int "
		    "running:int done:int dead:int}?" },
	{ "import", "files:int sessions:int events:int new_events:int memories:int bytes:int "
		    "skipped[] took_ms:num" },
	{ "sync", "folders[namespace:str root:str globs[str] project:str? visibility:str files:int chunks:int "
		  "last_sync:int errors:int "
		  "error:str? failed[path:str reason:str]]? next_cursor:str? namespace:str? "
		  "files:int? synced:int? skipped:int? "
		  "renamed:int? removed:int? chunks:int? new_chunks:int? failures:int? added:int?" },
	{ "config", "file:str? settings[key:str value:str? default:str? origin:str help:str]? "
		    "key:str? value:str? origin:str?" },
	{ "doctor", "checks[name:str ok:bool detail:str? advice:str?] ok:bool" },
	{ "backup", "file:str bytes:int" },
	{ "restore", "restored:str sessions:int events:int forgotten{memories:int events:int "
		     "sessions:int}" },
	{ "export", "format:str memories:int text:str?" },
	{ "store", "from:str to:str sessions:int events:int memories:int rows:int" },
	{ "observer", "ok:bool? class:str? verdict:str? advice:str? units:int? models[]?" },
	{ "stop", "" },
	{ "reindex", "documents:int bytes:int took_ms:num" },
	{ "jobs", "jobs[ref:str kind:str state:str attempts:int last_error:str? session:str? "
		  "title:str? project:str? at:int "
		  "bytes:int]? next_cursor:str? counts{waiting:int running:int done:int dead:int}? "
		  "waiting_again:int? dropped:int?" },
	{ "cost", "since:int " CALLS " today{" CALLS "} days[]? projects[]? models[]?" },
	{ "model", "provider:str? on:bool? file:str? model:str? dimension:int? vectors:int? "
		   "waiting:int?" },
};

static const struct {
	const char *word, *type;
} types[] = { { "str", "string" }, { "int", "integer" }, { "num", "number" },
	{ "bool", "boolean" } };

static const char *type_of(struct str word)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_is(word, types[i].word))
			return types[i].type;
	return "string";
}

/* "string", or ["string", "null"]. */
static void type_write(struct jw *w, const char *type, bool is_optional)
{
	if (!is_optional) {
		jw_str(w, "type", type);
		return;
	}
	jw_array(w, "type");
	jw_str(w, NULL, type);
	jw_str(w, NULL, "null");
	jw_end(w, ']');
}

/* Length of "[…]" or "{…}" at the beginning of a text. */
static size_t group_len(const char *p)
{
	size_t n = 0;
	int depth = 0;

	do {
		depth += p[n] == '[' || p[n] == '{';
		depth -= p[n] == ']' || p[n] == '}';
		n++;
	} while (depth);
	return n;
}

struct member {
	struct str name, inside; /* inside: of the brackets, or the type's word */
	char kind;               /* ':', '[' or '{' */
	bool is_optional;
};

static bool member_next(struct str *rest, struct member *ret)
{
	const char *p = rest->p, *end = p + rest->n;

	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return false;
	size_t name = strcspn(p, ":[{");
	ret->name = (struct str){ p, name };
	ret->kind = p[name];
	p += name;
	size_t n =
		ret->kind == ':' ? 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyz") : group_len(p);
	ret->inside = (struct str){ p + 1, n - (ret->kind == ':' ? 1 : 2) };
	p += n;
	ret->is_optional = p < end && *p == '?';
	p += ret->is_optional;
	*rest = (struct str){ p, (size_t)(end - p) };
	return true;
}

static bool has_members(struct str inside)
{
	return memchr(inside.p, ':', inside.n) || memchr(inside.p, '[', inside.n);
}

static void members_write(struct jw *w, struct str members);

static void key_write(struct jw *w, struct str name)
{
	AUTO(arena_done) struct arena a = { 0 };

	jw_object(w, arena_dup(&a, name.p, name.n));
}

static void member_write(struct jw *w, const struct member *m)
{
	key_write(w, m->name);
	type_write(w,
		m->kind == ':'   ? type_of(m->inside)
		: m->kind == '[' ? "array"
				 : "object",
		m->is_optional);
	if (m->kind == '{')
		members_write(w, m->inside);
	if (m->kind == '[') {
		jw_object(w, "items");
		if (has_members(m->inside)) {
			jw_str(w, "type", "object");
			members_write(w, m->inside);
		} else if (m->inside.n) {
			jw_str(w, "type", type_of(m->inside));
		}
		jw_end(w, '}');
	}
	jw_end(w, '}');
}

static void members_write(struct jw *w, struct str members)
{
	struct str rest = members;
	struct member m;

	jw_object(w, "properties");
	while (member_next(&rest, &m))
		member_write(w, &m);
	jw_end(w, '}');
	jw_array(w, "required");
	for (rest = members; member_next(&rest, &m);)
		if (!m.is_optional)
			jw_slice(w, NULL, m.name);
	jw_end(w, ']');
}

void openapi_result_write(struct jw *w, const char *op)
{
	jw_object(w, "schema");
	jw_str(w, "type", "object");
	for (size_t i = 0; i < ARRAY_LEN(results); i++)
		if (strcmp(results[i].op, op) == 0)
			members_write(w, str_of(results[i].members));
	jw_end(w, '}');
}
