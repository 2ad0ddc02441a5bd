/* SPDX-License-Identifier: Apache-2.0 */
/** @file link_template_impl.h
 *  @brief Templates of runs, links and lists between levels, shared by blocks with equal surroundings.
 *
 *  Far from bodies these depend only on the levels next to a block and on the sides of the domain that it touches, not on its
 *  position, nor on its level unless walls that it touches have a length in cells (slip, roughness). There are few such surroundings but many blocks, and after a change of the grid most of them have
 *  occurred before. So templates are made once, reference-counted, and kept for a while after their last block is gone.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_FORM_IMPL_H
#define GABION_LBM_FORM_IMPL_H

#include "lbm/lbm_impl.h"

/** All that a link template follows from. */
typedef struct gab_link_template_key {
  gab_beside beside;
  uint8_t sides; /**< of the domain that the block touches: bits */
  uint8_t level; /**< if lengths of these sides are in links, otherwise 0 */
} gab_link_template_key;

typedef struct gab_link_template gab_link_template;
/** The link templates of a flow. Thread safe. They outlive the flow as long as blocks use them. */
typedef struct gab_link_templates gab_link_templates;

gab_status gab_link_templates_create(gab_link_templates **link_templates);
/** No more blocks are to be made. */
void gab_link_templates_close(gab_link_templates **link_templates);

/** @return false if the lists of a block depend on its place too: bodies are near, or a profile along a side
 *  @param[in] block  its level, place and what is beside it are set */
bool gab_link_template_key_of(const gab_lbm_model *model, const gab_lbm_block *block,
                              gab_link_template_key *key);
/** Gives a block the lists of the link template of that key, if there is one. @return false if not */
bool gab_link_template_find(gab_link_templates *link_templates, const gab_link_template_key *key,
                            gab_lbm_block *block);
/** Makes the lists of a block the link template of that key; if another thread was faster, gives it that one's. */
gab_status gab_link_template_share(gab_link_templates *link_templates, const gab_link_template_key *key,
                                   gab_lbm_block *block);
/** Gives a block its interface by that of its link template; another thread may be making it too. */
gab_status gab_link_template_join(const gab_lbm_model *model, gab_lbm_block *block,
                                  gab_level_interface **interface);
/** Lets go of the lists of a block: those of its link template, or its own. */
void gab_link_template_leave(gab_lbm_block *block);

#endif
