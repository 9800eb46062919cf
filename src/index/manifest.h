#ifndef INDEX_MANIFEST_H
#define INDEX_MANIFEST_H

#include "index/snapshot.h"

/*
 * The file that says which segments make up the index, with their sizes, checksums and removed
 * documents, and up to which change it is complete. Its renaming is the commit.
 */

#define MANIFEST_NAME "manifest"
#define MANIFEST_MAX (256u << 20)
#define SEGMENTS_MAX 1024u
#define SEGMENT_NAME_MAX 32

struct manifest_entry {
	uint64_t number, len, hash;
	uint32_t ndead, *dead; /* ascending */
};

struct manifest {
	uint64_t seq, next_file;
	size_t n;
	struct manifest_entry *entries;
};

void segment_name(uint64_t number, char ret[SEGMENT_NAME_MAX]);
/* -1 when missing, damaged or of another version. */
int index_manifest_read(struct arena *a, const char *dir, struct manifest *ret, struct err *err);
/* Of the segments of files only. */
int index_manifest_write(const char *dir, const struct snapshot *s, uint64_t seq, uint64_t next_file,
	struct err *err);
int dir_sync(const char *dir, struct err *err);

#endif
