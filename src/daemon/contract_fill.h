#ifndef DAEMON_CONTRACT_FILL_H
#define DAEMON_CONTRACT_FILL_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/embedding.h"
#include "daemon/readers.h"
#include "store/contract.h"

/*
 * Keeps the SQL contract (store/contract.h) filled: a thread with a connection of its own, which it opens when there is a
 * markdown folder. After a commit it looks whether files changed, writes what did, a page a transaction, and adds vectors
 * when the embedding has made them. A round may end anywhere; the next one finds what is missing.
 */

#define CONTRACT_PAGE 32
#define CONTRACT_LULL_MS 500	      /* after a commit, for others to come; between rounds while vectors are made */
#define CONTRACT_RETRY_MS 5000	      /* after a failure */
#define CONTRACT_LOOK_MS 60000	      /* an extension may have been made by hand, a schema renamed */

struct contract_fill_setup {
	const char *url, *author, *home; /* of the store; whom the daemon works for; the data folder */
	struct readers *readers;
	struct embedding *embedding;
};

struct contract_fill;
struct contract_fill *contract_fill_new(const struct contract_fill_setup *setup);
void contract_fill_free(struct contract_fill *f); /* NULL is fine */
/* Something was committed. */
void contract_fill_poke(struct contract_fill *f);

/* f may be NULL: the store has no such thing. */
void contract_fill_report(struct contract_fill *f, struct contract_report *ret);
bool contract_fill_is_idle(struct contract_fill *f);

#endif
