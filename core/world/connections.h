/* SPDX-License-Identifier: Apache-2.0 */
/** @file connections.h
 *  @brief TCP connections of this process, of the MPI library and others: limits of silence, and closing.
 *
 *  When a cable is cut, the system keeps sent data and retries; if the cable is back after a minute, the data arrives. By
 *  then each side has taken the other for dead and reports that to others, which would believe it. So the system is told to
 *  close a connection, and to discard its data, when nothing was acknowledged for some time (TCP_USER_TIMEOUT, RFC 5482; by
 *  keep-alives on idle connections). MPI then counts the process at the other end as dead, without another report. A
 *  stopped process does not lose its connections in this way, since its system acknowledges for it. core/world/quarantine.h
 *  decides when connections are closed together, before the system closes them.
 *
 *  All functions are local. Connections are made on demand, so a caller that wants all of them must poll. A connection is
 *  read through a descriptor of its own, since the library may close its descriptor meanwhile.
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

/** Of a node: IPv6, or an IPv4 address mapped to one (RFC 4291, 2.5.5.2). */
typedef struct gab_address {
  uint8_t bytes[16];
} gab_address;
bool gab_address_equal(const gab_address *a, const gab_address *b);

/** A TCP socket with another machine at its other end, or one that waits for such. */
typedef struct gab_connection {
  int descriptor;   /**< valid during the visit */
  bool listens;     /**< then there is nothing below */
  bool is_open;     /**< false: it is being made, or has ended; then there is nothing below */
  gab_address peer; /**< where the other end is */
  double silent;    /**< seconds since anything was received, be it an acknowledgement */
  bool asked;       /**< something was sent to which no answer has come yet */
} gab_connection;

/** Visits all that this process has now. Sockets within the machine are left out. */
void gab_connections_visit(void (*visit)(const gab_connection *connection, void *user), void *user);

/** Has a connection end without an acknowledgement for `seconds`, at least 0.1; one where nothing is sent is asked for
 *  a sign of life after `idle` seconds, rounded to whole ones. What cannot be limited stays as it is.
 *  @return whether it is so from now on, and was not before */
bool gab_connection_limit(const gab_connection *connection, double seconds, double idle);

/** From now on nothing that comes from these addresses is received, and none of it acknowledged. For one that
 *  listens: no connection from there is accepted (of IPv4, the first thousand of them). */
void gab_connection_deafen(const gab_connection *connection, const gab_address *from, size_t count);

/** Ends it at once; what was on its way in either direction is forgotten. The library finds a connection that broke. */
void gab_connection_end(const gab_connection *connection);

#ifdef __cplusplus
}
#endif
#endif
