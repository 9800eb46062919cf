#ifndef WIRE_ENVIRONMENT_H
#define WIRE_ENVIRONMENT_H

/*
 * Settings that come from the environment hold for the process that has them. Client and daemon compare theirs by a hash, so that a
 * client whose REMANENCE_* differ from the running daemon's can say so: X-Remanence-Settings of every reply.
 */

#define WIRE_ENVIRONMENT_HASH 17 /* 16 hex digits and a NUL */
#define WIRE_ENVIRONMENT_MAX 512 /* variables looked at */

/*
 * FNV-1a (64 bits) over the lines "NAME=value\n", sorted, of all variables that begin with REMANENCE_, without those that name the
 * data folder (both sides agree on it) or concern one process only (REMANENCE_HOME, REMANENCE_IGNORE, REMANENCE_OBSERVER).
 */
void wire_environment_hash(char out[WIRE_ENVIRONMENT_HASH]);

#endif
