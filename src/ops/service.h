#ifndef OPS_SERVICE_H
#define OPS_SERVICE_H

#include "ops/ops.h"

/*
 * What the three root routes of the markdown service say, in the shapes that scripts made for a
 * hand-made service expect. No operations of the table: their parameters are the raw JSON object,
 * checked here, and members that nobody knows are passed over.
 */

#define SERVICE_QUERY_MAX (16u << 10) /* bytes */
#define SERVICE_LIMIT 5
#define SERVICE_LIMIT_MAX 100
#define SERVICE_THRESHOLD .7

op_fn service_health; /* {"status":"ok","ollama":bool} */
op_fn service_stats;  /* {"total_chunks","total_files","last_sync"} */
/*
 * {"query","namespace","limit","threshold"} → [{"content","namespace","file_source","section",
 * "similarity"}], best first, none below the threshold.
 */
op_fn service_search;

#endif
