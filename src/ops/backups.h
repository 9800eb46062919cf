#ifndef OPS_BACKUPS_H
#define OPS_BACKUPS_H

#include "ops/ops.h"

/* Backups: those in the data folder's backup/, and those written elsewhere, which a list there remembers. */

#define BACKUP_LIST "elsewhere" /* file in backup/: one absolute path a line */

/* Writes an array of the paths of backups made at or after `since` (0: all). */
void backups_write(struct op_call *call, struct jw *out, const char *key, int64_t since);
/* A backup went to this path; remembered when it lies outside of backup/. */
void backups_note(struct op_call *call, const char *path);

#endif
