#ifndef EMBED_MODEL_PIN_H
#define EMBED_MODEL_PIN_H

/*
 * The one model file that this version accepts: what tools/model-convert makes of the package that
 * tools/model.txt names. tools/model-get reads the sha256 from here. A change of MODEL_ID re-embeds
 * every store.
 */

#define MODEL_ID "use-multilingual-v3/q6-1"
#define MODEL_SHA256 "ecec75fa1f5f3bc5fc866883a38d82d9ec7dc5c7930ba05b8345c976f294e173"
#define MODEL_BYTES 55423040u

#endif
