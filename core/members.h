/** @file members.h
 *  @brief Which slots take part: a small value that translates between slots and dense indices.
 *
 *  The slots 0 … slots-1 of the start minus those that are gone, kept as the sorted list of the gone ones:
 *  memory and time grow with the number of deaths, not of processes (contract 7). The *index* of a slot is
 *  its position among the members. A snapshot keeps the members of its time, so that who holds whose copy
 *  can still be worked out after further deaths.
 *
 *  Tier: extender header.
 */
#ifndef GABION_CORE_MEMBERS_H
#define GABION_CORE_MEMBERS_H

#include "core/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_members {
  gab_slot slots;    /**< how many slots the run started with */
  int32_t gone_count; /**< how many of them are gone */
  gab_slot *gone;    /**< ascending; owned; NULL if none */
} gab_members;

/** All of `slots` slots. */
void gab_members_init(gab_members *members, gab_slot slots);
void gab_members_release(gab_members *members);
gab_status gab_members_copy(gab_members *to, const gab_members *from);
/** Takes a slot out; no effect if it is out already. */
gab_status gab_members_remove(gab_members *members, gab_slot slot);

int32_t gab_members_count(const gab_members *members);
bool gab_members_has(const gab_members *members, gab_slot slot);
/** @return the position of `slot` among the members, -1 if it is none */
int32_t gab_members_index(const gab_members *members, gab_slot slot);
/** @return the slot at position `index`, GAB_NO_SLOT outside [0, count) */
gab_slot gab_members_slot(const gab_members *members, int32_t index);

gab_status gab_members_pack(const gab_members *members, gab_buffer *out);
/** @param[in,out] members  initialised; replaced on success only */
gab_status gab_members_unpack(gab_members *members, gab_reader *in);

#ifdef __cplusplus
}
#endif
#endif
