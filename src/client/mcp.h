#ifndef CLIENT_MCP_H
#define CLIENT_MCP_H

#include "client/client.h"

/*
 * MCP on standard input and output: JSON-RPC 2.0, one message a line. mcp.c is the protocol,
 * mcp_tools.c the tools: those operations of the table that have OP_MCP.
 */

#define MCP_LINE_MAX (8u << 20) /* a longer message is refused and skipped */

#define MCP_STRING_MAX 4000 /* bytes of one text in a result; longer ones keep head and tail */

/* The array of tools for tools/list. */
void mcp_tools_list(struct jw *w);
/* The operation behind a tool's name; NULL when there is no such tool. */
const struct op_spec *mcp_tool_find(const char *name);
/* Runs a tool and writes the members of its result: content, structuredContent, isError. */
void mcp_tool_call(struct client *c, const struct op_spec *op, const json *arguments, struct jw *w);
/* The reply of an operation as text for a model: short, no decoration. */
void mcp_text(const struct op_spec *op, const json *reply, struct buf *out);

#endif
