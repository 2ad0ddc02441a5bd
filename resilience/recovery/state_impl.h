/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of state.c and state_main.c. */
#ifndef GABION_RESILIENCE_STATE_IMPL_H
#define GABION_RESILIENCE_STATE_IMPL_H

#include "resilience/checkpoint/checkpoint_impl.h"
#include "resilience/disk/disk.h"
#include "resilience/recovery/state.h"

/* A part of the state. The checkpoint refers to the item, whose content changes when the program is called
 * again. */
typedef struct gab_state_item {
  char name[GAB_ENTITY_NAME];
  gab_entity entity; /* pack == NULL: `bytes` bytes at entity.user */
  size_t bytes;
} gab_state_item;

struct gab_state {
  gab_world *world;
  gab_comm *comm;
  gab_forest *forest; /* without blocks: only entities survive */
  gab_checkpoint *checkpoint;
  gab_disk *disk; /* NULL: no files */
  gab_step file_every;
  bool file_wait;
  bool has_saved; /* this process has taken part in a save that was committed, or has loaded one */
  gab_state_item items[GAB_MOST_ENTITIES];
  int item_count;
  gab_state_times times;
};

#endif
