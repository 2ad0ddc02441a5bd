#include "lbm/boundaries/link_template_impl.h"

#include "core/base/hash.h"
#include "lbm/levels/levels_impl.h"

#include <string.h>

/* So many unused ones stay beyond the number of used ones: blocks come and go between slots, and what is dropped too
 * early has to be made again in every adaptation (some 100 kB each with blocks of 20^3 cells beside other levels). */
enum { BUCKETS = 256, FEWEST_KEPT = 48 };

struct gab_form {
  gab_forms *home;
  gab_form *next; /* in its bucket */
  gab_form_key key;
  size_t users;
  gab_run *runs;
  size_t run_count, *run_start;
  uint64_t fluid_cells;
  gab_links links;
  gab_level_interface *interface; /* without room for values; NULL: no other level is beside */
  bool is_joined;                 /* `interface` has been made */
};

struct gab_forms {
  gab_form *bucket[BUCKETS];
  size_t count, unused;
  bool is_closed;
};

/* ------------------------------------------------------------------------------------------ keys */

static bool has_profile(const gab_side *side)
{
  return side->kind == GAB_SIDE_VELOCITY && side->profile == GAB_PROFILE_PARABOLIC;
}

bool gab_form_key_of(const gab_lbm_model *model, const gab_lbm_block *block, gab_form_key *key)
{
  /* Cells that lists look away from the block: levels_view.c; and the coarser cells that these lie in. */
  enum { REACH = 4, NEAR = 6 };
  const gab_domain *domain = gab_geometry_domain(model->geometry);
  gab_box around;
  memset(key, 0, sizeof *key);
  key->beside = block->beside;
  for (int axis = 0; axis < 3; ++axis) {
    const bool refines = axis < domain->dimension;
    const int64_t size = domain->cells[axis] << (refines ? block->at->level : 0);
    const int64_t below = block->first[axis], above = size - below - model->cells[axis];
    around.lo[axis] = below - (refines ? NEAR : 0);
    around.hi[axis] = below + model->cells[axis] + (refines ? NEAR : 0);
    if (!refines || domain->periodic[axis]) continue;
    if ((below > 0 && below < REACH) || (above > 0 && above < REACH)) return false;
    const gab_side *sides = &model->options.sides[2 * axis];
    if ((below == 0 && has_profile(&sides[0])) || (above == 0 && has_profile(&sides[1]))) return false;
    key->sides |= (uint8_t)((below == 0) << 2 * axis | (above == 0) << (2 * axis + 1));
  }
  return gab_geometry_is_clear(model->geometry, block->at->level, &around);
}

static gab_form **bucket_of(gab_forms *forms, const gab_form_key *key)
{
  return &forms->bucket[gab_hash64_fast(key, sizeof *key, 0) % BUCKETS];
}

/* ------------------------------------------------------------------------------------------ life */

static void drop(gab_form *form)
{
  gab_free(&form->runs);
  gab_free(&form->run_start);
  gab_links_release(&form->links);
  gab_level_interface_destroy(&form->interface);
  gab_free(&form);
}

/* Drops what nobody uses. */
static void drop_unused(gab_forms *forms)
{
  for (int b = 0; b < BUCKETS; ++b)
    for (gab_form **place = &forms->bucket[b]; *place;) {
      gab_form *form = *place;
      if (form->users > 0) {
        place = &form->next;
        continue;
      }
      *place = form->next;
      drop(form);
      --forms->count;
    }
  forms->unused = 0;
}

gab_status gab_forms_create(gab_forms **forms)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof **forms, GAB_MEMORY_OTHER, &memory));
  *forms = memory;
  return GAB_OK;
}

/* @return the forms if blocks still use them */
static gab_forms *if_used(gab_forms *forms)
{
  drop_unused(forms);
  if (forms->count == 0) gab_free(&forms);
  return forms;
}

void gab_forms_close(gab_forms **forms)
{
  if (!*forms) return;
  (*forms)->is_closed = true;
  (void)if_used(*forms);
  *forms = NULL;
}

/* ------------------------------------------------------------------------------------------ users */

static gab_form *find(gab_forms *forms, const gab_form_key *key)
{
  gab_form *form = *bucket_of(forms, key);
  while (form && memcmp(&form->key, key, sizeof *key) != 0) form = form->next;
  return form;
}

static void use(gab_form *form, gab_lbm_block *block)
{
  if (form->users++ == 0) --form->home->unused;
  block->form = form;
  block->runs = form->runs;
  block->run_count = form->run_count;
  block->run_start = form->run_start;
  block->fluid_cells = form->fluid_cells;
  block->links = form->links;
}

static void leave(gab_form *form)
{
  gab_forms *home = form->home;
  if (--form->users > 0) return;
  ++home->unused;
  const size_t used = home->count - home->unused;
  if (home->is_closed) (void)if_used(home);
  else if (home->unused > used + FEWEST_KEPT) drop_unused(home);
}

bool gab_form_find(gab_forms *forms, const gab_form_key *key, gab_lbm_block *block)
{
  bool found = false;
#pragma omp critical(gab_forms)
  {
    gab_form *form = find(forms, key);
    found = form != NULL;
    if (found) use(form, block);
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

gab_status gab_form_share(gab_forms *forms, const gab_form_key *key, gab_lbm_block *block)
{
  void *memory;
  GAB_TRY(gab_alloc(sizeof(gab_form), GAB_MEMORY_OTHER, &memory));
  gab_form *made = memory;
  *made = (gab_form){.home = forms,
                     .key = *key,
                     .runs = block->runs,
                     .run_count = block->run_count,
                     .run_start = block->run_start,
                     .fluid_cells = block->fluid_cells,
                     .links = block->links};
  disown(block);
#pragma omp critical(gab_forms)
  {
    gab_form *form = find(forms, key);
    if (form) drop(made);
    else {
      gab_form **bucket = bucket_of(forms, key);
      form = made;
      form->next = *bucket;
      *bucket = form;
      ++forms->count;
      ++forms->unused;
    }
    use(form, block);
  }
  return GAB_OK;
}

gab_status gab_form_join(const gab_lbm_model *model, gab_lbm_block *block, gab_level_interface **interface)
{
  gab_form *form = block->form;
  gab_level_interface *made = NULL;
  bool is_joined;
#pragma omp critical(gab_forms)
  is_joined = form->is_joined;
  if (!is_joined) {
    GAB_TRY(gab_level_interface_list(model, block, &made));
#pragma omp critical(gab_forms)
    {
      if (form->is_joined) gab_level_interface_destroy(&made);
      else form->interface = made;
      form->is_joined = true;
    }
  }
  *interface = NULL;
  return form->interface ? gab_level_interface_borrow(form->interface, interface) : GAB_OK;
}

void gab_form_leave(gab_lbm_block *block)
{
  if (block->form) {
#pragma omp critical(gab_forms)
    leave(block->form);
    block->form = NULL;
    disown(block);
    return;
  }
  gab_free(&block->runs);
  gab_free(&block->run_start);
  gab_links_release(&block->links);
}
