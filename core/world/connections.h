/* SPDX-License-Identifier: Apache-2.0 */
/** @file connections.h
 *  @brief TCP connections of this process, those of the MPI library included: limits of silence, closing.
 *
 *  After a cut of a cable the system keeps sent data and retries, so the data arrives if the cable is back after a
 *  minute. By then each side has declared the other dead and reports that to others. Therefore the system closes a
 *  connection, and discards its data, if nothing was acknowledged for some time (TCP_USER_TIMEOUT, RFC 5482;
 *  keep-alives on idle connections). MPI then counts the peer as dead without further reports. A stopped process keeps
 *  its connections, since its system acknowledges for it. core/world/quarantine.h closes connections together, before
 *  the system does.
 *
 *  All functions are local. Connections are made on demand, so a caller must poll to see all of them. A connection is
 *  accessed through a duplicate descriptor, since the library may close its own meanwhile.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_CONNECTIONS_H
#define GABION_CORE_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Address of a node: IPv6, or a mapped IPv4 address (RFC 4291, 2.5.5.2). */
typedef struct gab_address {
  uint8_t bytes[16];
} gab_address;
bool gab_address_equal(const gab_address *a, const gab_address *b);

/** A TCP socket connected to another machine, or listening. */
typedef struct gab_connection {
  int descriptor;   /**< valid during the visit */
  bool listens;     /**< the members below are then unused */
  bool is_open;     /**< false: connecting or closed; the members below are then unused */
  gab_address peer; /**< address of the peer */
  double silent;    /**< seconds since the last received data or acknowledgement */
  bool asked;       /**< sent data is not acknowledged yet */
} gab_connection;

/** Visits all present connections, except those within the machine. */
void gab_connections_visit(void (*visit)(const gab_connection *connection, void *user), void *user);

/** Limits the time without an acknowledgement, after which the system closes the connection, to `seconds` (at least
 * 0.1). Idle connections send keep-alives after `idle` seconds, rounded to whole ones. Without effect if the system
 * does not support it. @return whether the limit is new */
bool gab_connection_limit(const gab_connection *connection, double seconds, double idle);

/** Drops everything that arrives from these addresses, without acknowledgement. A listening socket accepts no
 * connection from there (IPv4: the first thousand addresses). */
void gab_connection_deafen(const gab_connection *connection, const gab_address *from, size_t count);

/** Closes a connection at once and discards data in transit in both directions. The library detects a broken connection. */
void gab_connection_end(const gab_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
