#ifndef TEXT_DOCUMENT_H
#define TEXT_DOCUMENT_H

#include "text/front_matter.h"

/*
 * A markdown document, cut into chunks: sections begin at the headings of level 2 that CommonMark
 * sees at the top of the document ("## x", or "x" above a line of dashes; not those in code, HTML,
 * lists or quotes); what stands before the first is the section "Introduction". A section's blocks
 * are packed into chunks of about `chars` characters. A table or a block of code stays whole up to
 * DOCUMENT_WHOLE_TIMES that. A longer paragraph is cut at line ends, ends of sentences, spaces. Every byte
 * that is not white space stands in the front matter, in one heading or in one chunk. Pure.
 */

#define DOCUMENT_MAX (8u << 20) /* bytes; the caller refuses more */
#define DOCUMENT_WHOLE_TIMES 4
#define DOCUMENT_CHARS_MIN 50 /* smaller wishes are raised to it */
#define DOCUMENT_SECTION_MAX 255 /* bytes of a section's name; a longer heading stays in the text as well */
#define DOCUMENT_INTRODUCTION "Introduction"

struct document_chunk {
	struct str text;    /* a piece of the document's bytes, without blank lines at its ends */
	struct str heading; /* of the section, as its first chunk has it before the text; else empty */
	const char *section; /* its name */
	const char *path;    /* all headings that it stands under: "Guide > Install > On Debian" */
	size_t index;        /* in the section, from 0 */
	size_t first_line, last_line; /* of the file, from 1; the heading counts */
};

struct document {
	struct front_matter front;
	const char *title; /* of the front matter, else its first heading of level 1; NULL */
	struct document_chunk *chunks;
	size_t n;
};

/* text: valid UTF-8 of at most DOCUMENT_MAX bytes, which must live as long as the result. */
void document_parse(struct arena *a, struct str text, size_t chars, struct document *ret);
/* <private>…</private> (unclosed: to the end) becomes spaces; lines stay where they are. True when there was some. */
bool document_blank_private(char *text, size_t n);

#endif
