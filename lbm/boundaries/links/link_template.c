/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/links/link_template_impl.h"

#include "core/base/hash.h"
#include "lbm/levels/level_interface_impl.h"

#include <string.h>

/* So many unused ones stay beyond the number of used ones: blocks come and go between ranks, and what is dropped too
 * early has to be made again in every adaptation (some 100 kB each with blocks of 20^3 cells beside other levels). */
enum { BUCKETS = 256, FEWEST_KEPT = 48 };

struct gab_link_template {
  gab_link_templates *home;
  gab_link_template *next; /* in its bucket */
  gab_link_template_key key;
  size_t users;
  gab_run *runs;
  size_t run_count, *run_start;
  uint64_t fluid_cells;
  gab_links links;
  gab_level_interface *interface; /* without capacity for values; NULL: no other level is beside */
  bool is_joined;                 /* `interface` has been made */
};

struct gab_link_templates {
  gab_link_template *bucket[BUCKETS];
  size_t count, unused;
  bool is_closed;
};

/* ------------------------------------------------------------------------------------------ keys */

static bool has_profile(const gab_side *side)
{
  return side->shape || side->turbulence || (gab_side_moves(side) && side->profile != GAB_PROFILE_CONSTANT);
}

static bool has_length(const gab_side *side) { return side->slip_length > 0 || side->roughness > 0; }

bool gab_link_template_key_of(const gab_lbm_model *model, const gab_lbm_block *block,
                              gab_link_template_key *key)
{
  /* Cells that lists look away from the block: levels_view.c; and the coarser cells that these lie in. */
  enum { REACH = 4, NEAR = 6 };
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  gab_box around;
  memset(key, 0, sizeof *key);
  key->beside = block->beside;
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < domain->dimension;
    const int64_t size = domain->cells[axis] << (refines ? block->at->level : 0);
    const int64_t below = block->first[axis], above = size - below - model->cells[axis];
    around.lo[axis] = below - (refines ? NEAR : 0);
    around.hi[axis] = below + model->cells[axis] + (refines ? NEAR : 0);
    if (!refines || domain->periodic[axis]) continue;
    if ((below > 0 && below < REACH) || (above > 0 && above < REACH)) return false;
    const gab_side *sides = &model->options.sides[2 * axis];
    if ((below == 0 && has_profile(&sides[0])) || (above == 0 && has_profile(&sides[1]))) return false;
    const unsigned patched = model->options.patches ? model->options.patches->sides >> 2 * axis : 0;
    if ((below == 0 && (patched & 1)) || (above == 0 && (patched & 2))) return false;
    key->sides |= (uint8_t)((below == 0) << 2 * axis | (above == 0) << (2 * axis + 1));
    if ((below == 0 && has_length(&sides[0])) || (above == 0 && has_length(&sides[1])))
      key->level = (uint8_t)block->at->level;
  }
  return gab_geometry_is_clear(model->geometry, block->at->level, &around);
}

static gab_link_template **bucket_of(gab_link_templates *link_templates, const gab_link_template_key *key)
{
  return &link_templates->bucket[gab_hash64_fast(key, sizeof *key, 0) % BUCKETS];
}

/* ------------------------------------------------------------------------------------------ life */

static void drop(gab_link_template *link_template)
{
  gab_free(&link_template->runs);
  gab_free(&link_template->run_start);
  gab_links_release(&link_template->links);
  gab_level_interface_destroy(&link_template->interface);
  gab_free(&link_template);
}

/* Drops what nobody uses. */
static void drop_unused(gab_link_templates *link_templates)
{
  for (int b = 0; b < BUCKETS; b++)
    for (gab_link_template **place = &link_templates->bucket[b]; *place;) {
      gab_link_template *link_template = *place;
      if (link_template->users > 0) {
        place = &link_template->next;
        continue;
      }
      *place = link_template->next;
      drop(link_template);
      link_templates->count--;
    }
  link_templates->unused = 0;
}

gab_status gab_link_templates_create(gab_link_templates **link_templates)
{
  GAB_TRY(GAB_NEW(link_templates, GAB_MEMORY_OTHER));
  return GAB_OK;
}

/* @return the link templates if blocks still use them */
static gab_link_templates *if_used(gab_link_templates *link_templates)
{
  drop_unused(link_templates);
  if (link_templates->count == 0) gab_free(&link_templates);
  return link_templates;
}

void gab_link_templates_close(gab_link_templates **link_templates)
{
  if (!*link_templates) return;
  (*link_templates)->is_closed = true;
  (void)if_used(*link_templates);
  *link_templates = NULL;
}

/* ------------------------------------------------------------------------------------------ users */

static gab_link_template *find(gab_link_templates *link_templates, const gab_link_template_key *key)
{
  gab_link_template *link_template = *bucket_of(link_templates, key);
  while (link_template && memcmp(&link_template->key, key, sizeof *key) != 0)
    link_template = link_template->next;
  return link_template;
}

static void use(gab_link_template *link_template, gab_lbm_block *block)
{
  if (link_template->users++ == 0) link_template->home->unused--;
  block->link_template = link_template;
  block->runs = link_template->runs;
  block->run_count = link_template->run_count;
  block->run_start = link_template->run_start;
  block->fluid_cells = link_template->fluid_cells;
  block->links = link_template->links;
}

static void leave(gab_link_template *link_template)
{
  gab_link_templates *home = link_template->home;
  if (--link_template->users > 0) return;
  home->unused++;
  const size_t used = home->count - home->unused;
  if (home->is_closed) (void)if_used(home);
  else if (home->unused > used + FEWEST_KEPT) drop_unused(home);
}

bool gab_link_template_find(gab_link_templates *link_templates, const gab_link_template_key *key,
                            gab_lbm_block *block)
{
  bool found = false;
#pragma omp critical(gab_link_templates)
  {
    gab_link_template *link_template = find(link_templates, key);
    found = link_template != NULL;
    if (found) use(link_template, block);
  }
  return found;
}

/* The lists of a block are no longer its own. */
static void disown(gab_lbm_block *block)
{
  block->runs = NULL;
  block->run_start = NULL;
  block->links = (gab_links){0};
}

gab_status gab_link_template_share(gab_link_templates *link_templates, const gab_link_template_key *key,
                                   gab_lbm_block *block)
{
  gab_link_template *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  *made = (gab_link_template){.home = link_templates,
                              .key = *key,
                              .runs = block->runs,
                              .run_count = block->run_count,
                              .run_start = block->run_start,
                              .fluid_cells = block->fluid_cells,
                              .links = block->links};
  disown(block);
#pragma omp critical(gab_link_templates)
  {
    gab_link_template *link_template = find(link_templates, key);
    if (link_template) drop(made);
    else {
      gab_link_template **bucket = bucket_of(link_templates, key);
      link_template = made;
      link_template->next = *bucket;
      *bucket = link_template;
      link_templates->count++;
      link_templates->unused++;
    }
    use(link_template, block);
  }
  return GAB_OK;
}

gab_status gab_link_template_join(const gab_lbm_model *model, gab_lbm_block *block,
                                  gab_level_interface **interface)
{
  gab_link_template *link_template = block->link_template;
  gab_level_interface *made = NULL;
  bool is_joined;
#pragma omp critical(gab_link_templates)
  is_joined = link_template->is_joined;
  if (!is_joined) {
    GAB_TRY(gab_level_interface_list(model, block, &made));
#pragma omp critical(gab_link_templates)
    {
      if (link_template->is_joined) gab_level_interface_destroy(&made);
      else link_template->interface = made;
      link_template->is_joined = true;
    }
  }
  *interface = NULL;
  return link_template->interface ? gab_level_interface_borrow(link_template->interface, interface) : GAB_OK;
}

void gab_link_template_leave(gab_lbm_block *block)
{
  if (block->link_template) {
#pragma omp critical(gab_link_templates)
    leave(block->link_template);
    block->link_template = NULL;
    disown(block);
    return;
  }
  gab_free(&block->runs);
  gab_free(&block->run_start);
  gab_links_release(&block->links);
}
