/* SPDX-License-Identifier: Apache-2.0 */
/** @file particles.h
 *  @brief Particles on blocks: records with a position, stored on the block that contains them.
 *
 *  A record of the program begins with a gab_particle; what follows is the program's. Each block keeps its records in ascending
 *  order of ids, so results do not depend on the number of processes or on the way of a particle:
 *  @code
 *    typedef struct tracer { gab_particle base; double age; } tracer;
 *    GAB_TRY(gab_particles_create(forest, &(gab_particle_kind){"tracers", sizeof(tracer)}, &tracers)); // before the blocks
 *    ...
 *    for (size_t b = 0; b < gab_forest_block_count(forest); b++) {           // in a task of the time loop
 *      tracer *all = gab_particles_of(tracers, gab_forest_block(forest, b), &count);
 *      for (size_t i = 0; i < count; i++) all[i].base.at[0] += dt * ...;
 *    }
 *    GAB_TRY(gab_particles_move(tracers, NULL));
 *  @endcode
 *  Records are stored block data: part of snapshots, checkpoints on disk, migration and the checksum of the forest. When blocks split
 *  or merge, records follow their positions. Levels may differ between blocks.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_BLOCKFOREST_PARTICLES_H
#define GABION_BLOCKFOREST_PARTICLES_H

#include "blockforest/forest/forest.h"
#include "field/field.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Head of every record. */
typedef struct gab_particle {
  uint64_t id;  /**< unique among the particles of a container */
  double at[3]; /**< physical coordinates; in 2D at[2] is not looked at */
} gab_particle;

/** A kind of particles. */
typedef struct gab_particle_kind {
  const char *name; /**< of the block data; unique; copied */
  size_t
      record_bytes; /**< of a record, gab_particle included; a multiple of 8, at most 4096. Records hold plain numbers, without
                            pointers; padding bytes count in the checksum, so zero them */
} gab_particle_kind;

typedef struct gab_particles gab_particles;

/** Makes an empty container. Collective (opens a port), before the forest has blocks.
 *  @param[out] particles  to be destroyed before the forest @return ::GAB_ERR_ARGUMENT for a size that cannot be; as
 *  gab_forest_add_data() */
gab_status gab_particles_create(gab_forest *forest, const gab_particle_kind *kind, gab_particles **particles);
void gab_particles_destroy(gab_particles **particles);

/** Adds a record if a block of this process contains its position, which is wrapped at periodic sides. For an initial state each
 *  process offers all records. Local. @param[out] added  whether it is here; may be NULL
 *  @return ::GAB_ERR_INPUT for a position outside the domain or not finite; ::GAB_ERR_MEMORY */
gab_status gab_particles_add(gab_particles *particles, const void *record, bool *added);

/** The records of a block, in ascending order of ids. Their values may be changed, ids excepted. Valid until the next call that
 *  adds or moves, or until blocks change. Local; different blocks may be worked on by different threads.
 *  @param[out] count  of records @return NULL if there are none */
void *gab_particles_of(const gab_particles *particles, const gab_block *block, size_t *count);

/** Keeps the first `count` records of a block, for a program that has removed others by moving the remaining ones forward in their
 *  order. Local. */
void gab_particles_keep(gab_particles *particles, const gab_block *block, size_t count);

/** After positions have changed: each record goes to the block that contains it. Positions wrap at periodic sides; records beyond
 *  other sides are removed. Collective among neighbours: one message per neighbour rank.
 *  @param[out] removed  by this process; may be NULL
 *  @return ::GAB_ERR_ARGUMENT for a particle that has left its block and all neighbours of it in one step, or whose position is
 *  not finite: with id and position; it ends the run on all. ::GAB_ERR_FAULT in a broken world */
gab_status gab_particles_move(gab_particles *particles, uint64_t *removed);

/** Adds processor time that a program has spent on the records of a block, for balancing by measured times
 *  (gab_balance_options.measured, gab_balance_improve()). No result depends on it. Local; different blocks by different threads. */
void gab_particles_add_work(gab_particles *particles, const gab_block *block, uint64_t nanoseconds);

/** Bytes of a record. */
GAB_EXTENDER size_t gab_particles_record_bytes(const gab_particles *particles);

/** Records of all ranks. Collective. */
gab_status gab_particles_count(const gab_particles *particles, uint64_t *count);

/** Value of a component at a position within a block, linear between cell centres: second order. Ghosts beyond faces, edges and
 *  corners must be filled. Local. @param[in] field  of the block, with one layer of ghosts or more */
double gab_field_interpolate(const gab_forest *forest, const gab_block *block, const gab_field *field,
                             int component, const double at[3]);

enum { GAB_PARTICLE_MOST_AMOUNTS = 8 };

/** What a record deposits: as many amounts as were asked for. Pure; called by several threads, more than once for a record. */
typedef void (*gab_particle_amounts_fn)(void *user, const void *record, double *amounts);

/** Adds an amount of each record to the cells around it, with the weights of gab_field_interpolate(): on one level
 *  the sum over cells of deposit times value equals the sum over records of amount times interpolated value. Next to another level the
 *  share of a cell goes to the cells that lie there; beyond sides that are not periodic, and where no block exists, to the nearest cell of
 *  the record's block. So the sum over all cells grows by the sum of the amounts, to rounding. Each cell adds its shares in the order of
 *  ids: the same bits on any number of processes. Ghosts of the field are neither read nor written.
 *  Collective among neighbours: one message per neighbour rank.
 *  @param[in] field  block data that are a gab_field with the cells of a block @param[in] first  component of the first amount
 *  @param[in] count  of amounts, 1 to ::GAB_PARTICLE_MOST_AMOUNTS
 *  @return ::GAB_ERR_ARGUMENT for components that the field lacks, or a record outside its block (gab_particles_move() first): it ends the
 *  run on all; ::GAB_ERR_FAULT in a broken world */
gab_status gab_particles_deposit(gab_particles *particles, gab_data_id field, int first, int count,
                                 gab_particle_amounts_fn amounts, void *user);

#ifdef __cplusplus
}
#endif
#endif
