/** @file physics.h
 *  @brief A physics is a table: all that the commands of `gabion` know of what they compute.
 *
 *  The commands see cases (::driver_case) and tables, never a flow or a solidification. A new physics is a folder beside
 *  theirs with one table, named in physics.c.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_PHYSICS_H
#define GABION_APPS_DRIVER_PHYSICS_H

#include "apps/driver/driver.h"

/** What `gabion plan` has to know of a case of any physics: what a block takes. */
typedef struct plan_model {
  const char *fields;              /**< what a block has in memory, in a word: "populations" */
  double state, image;             /**< bytes of that in a block, and in a snapshot of it */
  double crossing[GAB_DIRECTIONS]; /**< bytes that a block sends in each direction in a step of its level */
  gab_step adapts_every;           /**< steps after which the grid changes; 0: never */
} plan_model;

/** Is handed the grid of the start, all on this process. */
typedef gab_status plan_fn(void *user, const plan_model *model, gab_proxies *proxies);

struct gab_physics {
  const char *name;    /**< "flow" */
  const char *title;   /**< with its article, for messages: "a flow" */
  const char *section; /**< a case with this section is one of it; NULL: a case that is none of the others' */
  /** Sections of parameter files that mean nothing without it, NULL-terminated: another physics refuses them. */
  const char *const *own;
  /** Bytes of its case, a structure that begins with a ::driver_case. */
  size_t case_bytes;

  /** Declares those sections. Local. */
  gab_status (*declare)(gab_config *config);
  /** Works out what a checked parameter file comes to. Local. @param[in,out] found  physics, config and options are set,
   *  all else is zero; stays where it is, to be released whatever the status
   *  @return ::GAB_ERR_INPUT with the places in the file */
  gab_status (*read)(driver_case *found);
  void (*release)(driver_case *which);
  /** Tries what a run does before it makes blocks and files, and says in the log what follows from the case. Collective. */
  gab_status (*check)(gab_world *world, const driver_case *which);
  /** Computes the case, and says in the log how that ended. Collective.
   *  @param[in,out] begin  its restart is owned by the run from now on, its lock is borrowed */
  gab_status (*run)(gab_world *world, const driver_case *which, const char *folder,
                    driver_continuation *begin);
  /** For `gabion plan`: makes the grid of the start as proxies and hands it on. NULL: it cannot be planned. Collective. */
  gab_status (*plan)(gab_world *world, const driver_case *which, plan_fn *use, void *user);
  /** For `gabion info`: prints what the case is computed with. NULL: nothing. Local. */
  gab_status (*print)(const driver_case *which, FILE *out);
};

/** @return the index-th of all physics, NULL behind the last */
const gab_physics *driver_physics_at(int index);
/** What a checked parameter file is about. */
const gab_physics *driver_physics_of(const gab_config *config);

/** Makes the case of a checked parameter file and reads it. Local. @param[in] config, options  borrowed
 *  @param[out] found  to be destroyed by driver_case_destroy() whatever the status */
gab_status driver_case_create(const gab_config *config, const driver_options *options, driver_case **found);
void driver_case_destroy(driver_case **which);
/** ::GAB_ERR_INPUT if the file has a section that belongs to another physics. */
gab_status driver_case_refuse_others(const driver_case *which);
/** The grid of the start on this process, for `use`; starts MPI for it and ends it.
 *  @return ::GAB_ERR_INPUT if there are several processes, or if the physics cannot be planned */
gab_status driver_case_plan(const driver_case *which, plan_fn *use, void *user);

#endif
