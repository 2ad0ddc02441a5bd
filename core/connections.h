/** @file connections.h
 *  @brief Connections over which nothing gets through end, on both sides, instead of trying again for a quarter of an hour.
 *
 *  When a cable is cut, the system keeps what was sent and tries again and again; when the cable is back after a minute,
 *  it arrives. By then each side has taken the other for dead, and says so to everybody it knows: the message of a
 *  process that was cut off, that some other one is dead, would be believed. So the system is told to give a connection
 *  up, and to forget what it was to bring, when nothing was acknowledged for some time (TCP_USER_TIMEOUT, RFC 5482; by
 *  keep-alives where there is nothing to send). MPI then counts the process at the other end as dead, without waiting for
 *  another one to tell: all that are cut off from each other find that out at once. A process that is stopped does not
 *  lose its connections by this: its system acknowledges for it.
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_CONNECTIONS_H
#define GABION_CORE_CONNECTIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/** Limits all TCP connections that this process has now, those of the MPI library and any other. Local; any thread. To be
 *  called again and again, since connections are made when they are needed. What cannot be limited stays as it is.
 *  @param[in] seconds  without an acknowledgement, after which a connection ends; at least 0.1 */
void gab_connections_limit(double seconds);

#ifdef __cplusplus
}
#endif
#endif
