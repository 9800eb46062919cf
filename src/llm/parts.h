#ifndef LLM_PARTS_H
#define LLM_PARTS_H

#include "base/arena.h"
#include "base/json.h"
#include "llm/llm.h"
#include "net/key.h"
#include "net/net.h"
#include "net/problem.h"

/* What the files of this room share: a client, a row per provider, an answer while it comes. */

#define CONNECT_MS 10000

/* What a server was found not to take; remembered as long as the client. */
enum {
	LACKS_SCHEMA = 1 << 0,
	LACKS_JSON = 1 << 1,
	LACKS_USAGE = 1 << 2,       /* stream_options */
	LACKS_TEMPERATURE = 1 << 3,
	LACKS_MAX_TOKENS = 1 << 4,  /* it wants max_completion_tokens */
	LACKS_V1 = 1 << 5,          /* its path does not begin with /v1 */
	LACKS_LIMITS = 1 << 6,      /* how long texts and lists of a schema may be */
	LACKS_PENALTY = 1 << 7      /* frequency_penalty */
};

struct llm {
	struct arena arena;
	const struct provider *provider;
	struct llm_config c; /* texts in the arena; url: without a slash at its end or a query */
	const char *query;   /* "?…" of the address, or "" */
	char *key;           /* on the heap; "" for none */
	unsigned lacks;
	bool circles;        /* an answer of it went round in circles */
	bool thinks;         /* it was seen to, or used up its tokens without a word */
	struct net *net; /* NULL: command */
};

/* An answer while it comes. */
struct reading {
	struct llm_answer *answer;
	bool is_ended;    /* the server said that this was all */
	bool is_full;     /* LLM_REPLY_MAX was reached, or it goes round in circles: no more is read */
	bool is_circle;   /* the latter */
	size_t looked;    /* bytes of the text that were searched for circles */
	bool is_refused;  /* a filter or a refusal field */
	bool has_thought; /* thinking came, which is not kept */
	int64_t prepare_ms; /* the server's work before its first word; 0 where it does not tell */
	struct problem problem;
};

struct provider {
	const char *name;
	const char *url;             /* its own address; NULL: there is none */
	const char *key_header;      /* up to the key: "x-api-key: " */
	const char *more_header;     /* NULL: none */
	bool is_lines;               /* a JSON object a line; else server-sent events */
	void (*path)(const struct llm *l, struct buf *out);
	void (*body)(const struct llm *l, const struct llm_question *q, struct jw *w);
	/* An event of the stream, or the whole reply of a server that does not stream. */
	void (*event)(struct reading *r, const json *event);
	void (*check_path)(const struct llm *l, struct buf *out);
	const char *names;           /* in the reply to check_path: "data.id"; NULL: asked by name */
};

extern const struct provider provider_openai, provider_ollama, provider_anthropic, provider_gemini;

/* reading.c */
/*
 * Adds to the text; what is above LLM_REPLY_MAX is cut and ends the answer, and so does the same few
 * words again and again: that a small model goes on with until its tokens are used up.
 */
void reading_text(struct reading *r, const char *text);
/* A string, or an array of parts with a "text"; parts marked as thinking are left out. */
void reading_content(struct reading *r, const json *content);
void reading_model(struct reading *r, const char *name);
void reading_refusal(struct reading *r, const char *why);

/* question.c */
/* The system text with the schema in it. */
void question_in_words(const struct llm_question *q, struct buf *out);
/* The system text; as above when the server cannot be given a schema. */
void question_system(const struct llm *l, const struct llm_question *q, struct buf *out);
bool question_by_schema(const struct llm *l, const struct llm_question *q);
bool question_by_json(const struct llm *l, const struct llm_question *q);
void question_schema(const struct llm *l, const struct llm_question *q, struct jw *w, const char *key);
/* The limit of its answer; 0: none. */
int64_t question_tokens(const struct llm *l, const struct llm_question *q);
/* Does its schema say how long texts and lists may be, and is that sent? */
bool question_has_limits(const struct llm *l, const struct llm_question *q);
/* The member "messages"; a role without text is left out. */
void question_messages(const struct llm_question *q, const char *system, struct jw *w);
/* The address without the first of these that it ends with: people give it at any length. */
void llm_base(const struct llm *l, const char *const *ends, size_t n, struct buf *out);

/* stream.c: lines out of pieces. */
#define STREAM_LINE_MAX (4u << 20)
#define STREAM_RAW_MAX (4u << 20)
struct stream {
	const struct llm *llm;
	struct reading *reading;
	struct buf line, data;
	struct buf raw; /* all that came, until something of an answer was in it */
	size_t lines, events;
	bool was_cr, is_too_long;
};
void stream_init(struct stream *s, const struct llm *l, struct reading *r);
void stream_done(struct stream *s);
int stream_piece(void *stream, const char *p, size_t n); /* for net_request */
void stream_end(struct stream *s);                       /* the last line needs no end */

struct key_source llm_key_source(const struct llm *l);

/* ask.c */
void http_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret);
int http_check(struct llm *l, struct err *err);

/* command.c */
void command_ask(struct llm *l, const struct llm_question *q, struct llm_answer *ret);
int command_check(struct llm *l, struct err *err);

#endif
