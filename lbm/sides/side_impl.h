/* SPDX-License-Identifier: Apache-2.0 */
/** @file side_impl.h
 *  @brief Kinds of sides: one descriptor each, with the answers to all that the flow, its levels and its setup ask about a side.
 *
 *  A new kind is one line of GAB_SIDE_KINDS (lbm/sides/boundary.h) and one descriptor: closed kinds are in sides.c, open ones in
 *  open_sides.c. No other source may compare kinds.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SIDE_IMPL_H
#define GABION_LBM_SIDE_IMPL_H

#include "lbm/sides/patch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_domain;
struct gab_lbm_model;
struct gab_level_model;
struct gab_open_link;
struct gab_open_view;

/** What arrives in a fluid cell from beyond a side. */
typedef enum gab_side_arrival {
  GAB_ARRIVAL_WRAPPED,   /**< what the cells at the opposite side have sent; without links */
  GAB_ARRIVAL_BOUNCED,   /**< what the cell itself has sent, with the momentum of the side */
  GAB_ARRIVAL_REFLECTED, /**< what the mirror cell has sent: no friction, nothing passes */
  GAB_ARRIVAL_COMPUTED /**< what `arrives` says. The side is open: the fluid passes with a velocity that is not given */
} gab_side_arrival;

/** The population that arrives from beyond an open side, as a deviation from its weight. A pure function. */
typedef double (*gab_open_fn)(const struct gab_lbm_model *model, const struct gab_level_model *at,
                              const struct gab_open_link *link, const struct gab_open_view *seen);

/** To be made by GAB_SIDE_DESCRIPTOR(). */
typedef struct gab_side_descriptor {
  const char *name; /**< in parameter files; NULL: that of the registered condition */
  const char *doc;  /**< of the parameter reference, one sentence; NULL: that of the registered condition */
  const gab_config_key *keys; /**< NULL: none */
  size_t key_count;
  /** Takes the keys of a side. NULL: there are none. @param[in] path  "boundaries.x_min"
   *  @param[in,out] side  with density 1 and all else 0 @return ::GAB_ERR_INPUT with the place in the file */
  gab_status (*read)(const gab_config *config, const char *path, int dimension, const struct gab_units *units,
                     gab_side *side);
  /** gab_side.relaxation where that is 0. */
  double relaxation;
  /** gab_side.advection counts, and gab_open_view.ghost is set: side_state_impl.h. */
  bool keeps_state;
  /** Links (links.c), places beyond the domain as levels see them (levels_view.c), the mass of walls, the identity of the arithmetic. */
  gab_side_arrival arrival;
  /** Of ::GAB_ARRIVAL_COMPUTED: gab_open_view.next_drho is needed. */
  bool reads_next_density;
  /** `velocity`, `profile` and `flow_rate` of a gab_side count. */
  bool has_velocity;
  /** Not at porous cells: it takes their drag for stress or for acceleration of the flow, so that pressure and mass are wrong. */
  bool refuses_porous;
  /** Where sides meet of which none bounces, the highest decides (doc/sides.md). */
  int precedence;
  /** Whether waves may grow at it above a Reynolds number of the cell, unless gab_lbm_open_speed() bounds the magic parameter. Of a side
   *  that has a velocity, where that crosses it. */
  bool amplifies_waves;
  /** Reynolds number of a cell up to which flow along it stays uniform with trt, srt and mrt (gab_lbm_advise_open()); 0: any. */
  double reynolds_along;
  gab_open_fn arrives; /**< of ::GAB_ARRIVAL_COMPUTED, else NULL */
} gab_side_descriptor;

/** A descriptor from all of its members, each as `member = value`, in any order: an answer that is missing does not compile. A member that
 *  is added above is a parameter more here. */
#define GAB_SIDE_DESCRIPTOR(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)                                     \
  {                                                                                                          \
    .a, .b, .c, .d, .e, .f, .g, .h, .i, .j, .k, .l, .m, .n, .o                                               \
  }

#define GAB_SIDE_DECLARATION(upper, lower) extern const gab_side_descriptor gab_side_##lower;
GAB_SIDE_KINDS(GAB_SIDE_DECLARATION)
#undef GAB_SIDE_DECLARATION
extern const gab_side_descriptor *const gab_side_kinds[GAB_SIDE_KIND_COUNT];

/** What arrives from a patch of a body with a given pressure; instead of gab_side_descriptor.arrives. */
double gab_side_pressure_on_body(const struct gab_lbm_model *model, const struct gab_level_model *at,
                                 const struct gab_open_link *link, const struct gab_open_view *seen);

/** By gab_side_index: "boundaries.x_min" and so on. */
extern const char *const gab_side_paths[GAB_SIDE_COUNT];

/** Where a condition stands in a parameter file, for messages. @param[in] patches  of the flow; may be NULL */
static inline const char *gab_condition_path(const gab_patches *patches, int condition)
{
  return condition < GAB_SIDE_COUNT ? gab_side_paths[condition]
                                    : patches->list[condition - GAB_SIDE_COUNT].path;
}

static inline const gab_side_descriptor *gab_side_of(const gab_side *side)
{
  return gab_side_kinds[side->kind];
}

static inline bool gab_side_is_periodic(const gab_side *side)
{
  return gab_side_of(side)->arrival == GAB_ARRIVAL_WRAPPED;
}
static inline bool gab_side_bounces(const gab_side *side)
{
  return gab_side_of(side)->arrival == GAB_ARRIVAL_BOUNCED;
}
static inline bool gab_side_reflects(const gab_side *side)
{
  return gab_side_of(side)->arrival == GAB_ARRIVAL_REFLECTED;
}
static inline bool gab_side_is_open(const gab_side *side)
{
  return gab_side_of(side)->arrival == GAB_ARRIVAL_COMPUTED;
}
/** Its velocity is given, be it zero. */
static inline bool gab_side_moves(const gab_side *side) { return gab_side_of(side)->has_velocity; }
static inline bool gab_side_is_user_defined(const gab_side *side)
{
  return gab_side_of(side) == &gab_side_own;
}

/** Variables of `factor`, by index. Statistics of the flow: side_statistics.c. */
#define GAB_SIDE_FACTOR_VARIABLES                                                                            \
  "t|previous|interval|mean_velocity_x|mean_velocity_y|mean_velocity_z|kinetic_energy|flow_rate()|mean_pressure()"
enum {
  GAB_STATISTIC_TIME = 0,
  GAB_STATISTIC_PREVIOUS,
  GAB_STATISTIC_INTERVAL,
  GAB_STATISTIC_VELOCITY, /* three */
  GAB_STATISTIC_ENERGY = GAB_STATISTIC_VELOCITY + 3,
  GAB_STATISTIC_FLOW_RATE,
  GAB_STATISTIC_PRESSURE,
  GAB_STATISTIC_COUNT
};

/** Statistics of a flow at the last measurement, physical; zero before the first one. Equal on all ranks, part of the state. */
typedef struct gab_side_statistics {
  int64_t step; /**< of the measurement; 0: none */
  double velocity[3], energy;
  double flow_rate[GAB_MOST_CONDITIONS], pressure[GAB_MOST_CONDITIONS];
  double previous[GAB_MOST_CONDITIONS]; /**< of the formulas, before it */
} gab_side_statistics;

/** Keys of a side that make a value vary in time, for descriptors; `what` is that value. */
#define GAB_SIDE_TIME_KEYS(what)                                                                             \
  {.name = "factor",                                                                                         \
   .type = GAB_CONFIG_EXPRESSION,                                                                            \
   .variables = GAB_SIDE_FACTOR_VARIABLES,                                                                   \
   .min = -INFINITY,                                                                                         \
   .max = INFINITY,                                                                                          \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                      \
   .doc = "Formula by which the " what                                                                       \
          " is multiplied, of the time in s and of statistics of the flow: doc/sides.md."},                  \
      {.name = "factor_limit",                                                                               \
       .type = GAB_CONFIG_REAL,                                                                              \
       .min = 0,                                                                                             \
       .max = INFINITY,                                                                                      \
       .min_excluded = true,                                                                                 \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                  \
       .doc = "Bound of the absolute value of a factor that uses statistics; beyond it the run ends."},      \
      {.name = "series",                                                                                     \
       .type = GAB_CONFIG_STRING,                                                                            \
       .file = GAB_CONFIG_FILE_BY_CASE,                                                                      \
       .default_text = GAB_CONFIG_OPTIONAL,                                                                  \
       .doc = "File with a time in s and a factor of the " what " in each line, linear in between."},        \
      {.name = "series_repeats",                                                                             \
       .type = GAB_CONFIG_BOOL,                                                                              \
       .default_text = "false",                                                                              \
       .doc = "The series starts again after its last time; else its last value stays."},                    \
  {                                                                                                          \
    .name = "ramp_time", .type = GAB_CONFIG_REAL, .min = 0, .max = INFINITY, .unit = "s",                    \
    .default_text = "0", .doc = "Time of the smooth ramp of the " what " from zero."                         \
  }

/** Keys of a side that give it a sponge, for descriptors. */
#define GAB_SIDE_SPONGE_KEYS                                                                                                         \
  {.name = "sponge_thickness",                                                                                                       \
   .type = GAB_CONFIG_REAL,                                                                                                          \
   .min = 0,                                                                                                                         \
   .max = INFINITY,                                                                                                                  \
   .min_excluded = true,                                                                                                             \
   .unit = "m",                                                                                                                      \
   .default_text = GAB_CONFIG_OPTIONAL,                                                                                              \
   .doc =                                                                                                                            \
       "Thickness of a layer in front of the side that draws the flow to the given values: doc/sides.md."},                          \
      {.name = "sponge_damping",                                                                                                     \
       .type = GAB_CONFIG_REAL,                                                                                                      \
       .min = 0,                                                                                                                     \
       .max = INFINITY,                                                                                                              \
       .default_text = "4",                                                                                                          \
       .doc =                                                                                                                        \
           "Sound that crosses the sponge and returns decays to exp(-sponge_damping); the default is less in layers of few cells."}, \
  {                                                                                                                                  \
    .name = "sponge_viscosity", .type = GAB_CONFIG_REAL, .min = 1, .max = INFINITY, .default_text = "1",                             \
    .doc = "Viscosity at the side over that of the fluid; ends at relaxation rate 1."                                                \
  }
/** Takes #GAB_SIDE_SPONGE_KEYS and, of a side without a velocity of its own, `sponge_velocity`.
 *  @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_side_read_sponge(const gab_config *config, const char *path, int dimension,
                                const struct gab_units *units, bool has_velocity, gab_side *side);

/** Which statistics the factor of a side uses, and its limit. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_side_read_statistics(const gab_config *config, const char *path, gab_side *side);

/** @name Velocity or pressure of a side in space (side_velocity.c) and time (side_time.c)
 *  @{ */
/** Takes #GAB_SIDE_TIME_KEYS. @return ::GAB_ERR_INPUT with the place in the file */
gab_status gab_side_read_time(const gab_config *config, const char *path, const struct gab_units *units,
                              gab_side *side);
/** Factor in time: the product of ramp, formula and series. Pure. @param[in] steps  of level 0, also parts of one
 *  @param[in] statistics  NULL: none were measured yet */
double gab_side_factor_at(const gab_side *side, double steps, const gab_side_statistics *statistics);
/** The formula alone. Pure. @param[in] time  physical */
double gab_side_formula_at(const gab_side *side, double time, const gab_side_statistics *statistics);
/** Factors of the two parts of the shape: 1 and 0, or the cosine and sine of ::GAB_PROFILE_WOMERSLEY. Pure. */
void gab_side_turn_at(const gab_side *side, double steps, double turn[2]);
/** Whether the side is not the same at all times. Pure. */
bool gab_side_varies(const gab_side *side);
/** Whether it varies in the same way as another. Pure. */
bool gab_side_vary_in_time_alike(const gab_side *a, const gab_side *b);
/** Whether the factors of both sides, with the scale of a flow rate, are the same at all times. Pure. */
bool gab_side_vary_alike(const gab_side *a, const gab_side *b);
/** Factors at a point of the side. Pure. @param[in] share  its coordinates, from 0 to 1 across the domain @param[out] shape  the second is
 *  0 but for ::GAB_PROFILE_WOMERSLEY */
void gab_side_shape_at(const gab_side *side, int index, const struct gab_domain *domain,
                       const double share[3], double shape[2]);
/** The mean of the first over the cells of the whole side, 0 where it has another condition. Pure. */
double gab_side_mean_shape(const gab_side *side, int index, const struct gab_domain *domain);
/** Completes a side or patch that was read: what of its profile follows from the domain, its peaks, and the velocity that a flow rate means
 *  without bodies. @param[in] path  of it in the file @param[in] index  of the side @param[in] duration,viscosity  of the run, physical
 *  @return ::GAB_ERR_INPUT with the place in the file, in space or in time for a formula that has no finite value */
gab_status gab_side_complete(const gab_config *config, const char *path, int index,
                             const struct gab_domain *domain, double duration, double viscosity,
                             gab_side *side);
/** The same of a patch of a body: its peaks in time. */
gab_status gab_side_complete_on_body(const gab_config *config, const char *path, double duration,
                                     gab_side *side);
/** Velocity of a side with its peak, for estimates. */
static inline double gab_side_peak(const gab_side *side) { return side->peak > 0 ? side->peak : 1; }
/** Bound of the fluctuations of its velocity, in cells per step: three times the rms value of a component, at the largest factor in time;
 *  0 without turbulence. A normal distribution exceeds it with a probability of 0.13 %. Pure. */
double gab_side_fluctuation(const gab_side *side);
/** Largest speed that it gives, in cells per step: that of its velocity, and that bound. Pure. */
double gab_side_speed(const gab_side *side);
/** @} */

/** @name What walls of given velocity add to populations (side_terms.c)
 *  @{ */
/** What the walls at a place add to a population that they bounce back. */
typedef struct gab_wall_terms {
  double body;          /**< of a moving body; else 0 */
  bool crosses_outline; /**< the fluid cell lies in front of another condition than the place */
  int count;            /**< of conditions that move: two factors of two for each axis at most */
  struct gab_wall_term {
    int factor; /**< of #GAB_SIDE_FACTORS */
    double term;
    double across; /**< the part of it that enters the domain; only of flows with patches */
  } of[12];
} gab_wall_terms;
/** What a wall of a velocity, in cells per step, adds to the population that it bounces back in direction q. Pure. */
double gab_momentum_term(const struct gab_lbm_model *model, int q, const double velocity[3]);
/** Of the condition of a side: factor of its velocity or pressure at the middle of a link. Pure. @param[in] place  beyond the side that the
 *  link of direction q comes from @param[in] part  0, or 1: see #GAB_SIDE_FACTORS */
double gab_side_shape_of_link(const struct gab_lbm_model *model, int level, int q, const int64_t place[3],
                              const gab_side *given, int side, int part);
/** Of a place beyond sides; nothing elsewhere. `body` is 0. Pure. */
void gab_side_terms(const struct gab_lbm_model *model, int level, int q, const int64_t place[3],
                    gab_wall_terms *terms);
/** @} */

#ifdef __cplusplus
}
#endif
#endif
