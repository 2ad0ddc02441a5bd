/* SPDX-License-Identifier: Apache-2.0 */
/* Text that describes a placement. */
#include "resilience/schemes/placement.h"
#include "resilience/schemes/domains_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *plural(gab_domain_kind kind)
{
  static const char *const names[] = {"", "ranks", "nodes", "chassis", "islands"};
  return names[kind];
}

static void GAB_PRINTF(3, 4) add(char *text, size_t capacity, const char *format, ...)
{
  size_t used = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + used, capacity - used, format, arguments);
  va_end(arguments);
}

static void describe_groups(const gab_placement *placement, char *text, size_t capacity)
{
  gab_group group;
  gab_rank first = gab_members_rank(&placement->members, 0);
  if (!gab_placement_group(placement, first, &group) || group.parities == 0) {
    add(text, capacity, "nobody to share parities with");
    return;
  }
  add(text, capacity, "groups of about %d, %d parit%s each, %d/%d of an image in addition to the own one",
      group.count, group.parities, group.parities == 1 ? "y" : "ies", group.parities,
      gab_group_pieces(&group));
}

/* A holder function may name a place twice, or the place itself: `fewest` is the minimum number of copies of an image. */
static bool is_uneven(const gab_placement *placement, int fewest)
{
  return placement->scheme->holder && fewest < gab_placement_copies(placement);
}

const char *gab_placement_describe(const gab_placement *placement, char *text, size_t capacity)
{
  gab_placement_costs costs = gab_placement_get_costs(placement, 1);
  text[0] = '\0';
  add(text, capacity, "%s: ", placement->scheme->name);
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) describe_groups(placement, text, capacity);
  else
    add(text, capacity, "%s%d cop%s of each image", is_uneven(placement, costs.any_losses) ? "up to " : "",
        gab_placement_copies(placement), gab_placement_copies(placement) == 1 ? "y" : "ies");
  if (placement->within > GAB_DOMAIN_NONE)
    add(text, capacity, " within one %s", gab_domain_name(placement->within));
  if (costs.any_losses == 0) {
    add(text, capacity,
        is_uneven(placement, 0) ? "; some ranks have none, and their death is not survived"
                                : "; no death is survived");
    return text;
  }
  add(text, capacity, "; any %d rank%s", costs.any_losses, costs.any_losses == 1 ? "" : "s");
  if (placement->scheme->kind == GAB_SCHEME_GROUPS) add(text, capacity, " of each group");
  if (costs.any_domain)
    add(text, capacity, " and any one %s as a whole", gab_domain_name(placement->separate));
  add(text, capacity, " can be lost");
  if (placement->scheme->holder) add(text, capacity, "; more only if a copy of each image is left");
  return text;
}

static void say_within(const gab_placement *placement, const gab_redundancy *asked, char *text,
                       size_t capacity)
{
  if (!placement->given_up_within) return;
  if (!placement->domains) add(text, capacity, "nothing is known about %s", plural(asked->within));
  else
    add(text, capacity, "some %s has too few processes for scheme %s", gab_domain_name(asked->within),
        placement->scheme->name);
  add(text, capacity, ", so redundancy is not kept within one (resilience.within: %s)",
      gab_domain_name(asked->within));
}

static void say_separate(const gab_placement *placement, const gab_redundancy *asked, char *text,
                         size_t capacity)
{
  if (!placement->given_up_separate) return;
  if (text[0]) add(text, capacity, "; ");
  bool in_one = !placement->domains || gab_domains_number(placement->domains, asked->separate) < 2;
  const char *kind = gab_domain_name(asked->separate);
  if (placement->scheme->holder)
    add(text, capacity, "scheme %s does not say where copies lie", placement->scheme->name);
  else if (in_one) add(text, capacity, "all processes are in one %s", kind);
  else if (placement->within > GAB_DOMAIN_NONE)
    add(text, capacity, "some %s lies in too few %s", gab_domain_name(placement->within),
        plural(asked->separate));
  else
    add(text, capacity, "one %s has too many of the processes for scheme %s", kind, placement->scheme->name);
  add(text, capacity, ", so %s (resilience.separate: %s): the loss of a %s may be beyond the scheme",
      in_one ? "images and their redundancy lie in it together"
             : "some images lie there with their redundancy",
      kind, kind);
}

/* Groups may be smaller than requested. */
static void say_smaller(const gab_placement *placement, const gab_redundancy *asked, char *text,
                        size_t capacity)
{
  gab_group group;
  int wanted = asked->group ? asked->group : 8;
  gab_rank first = gab_members_rank(&placement->members, 0);
  if (!placement->strict || placement->given_up_separate || !gab_placement_group(placement, first, &group))
    return;
  int32_t count = gab_members_count(&placement->members);
  if (group.count >= wanted || group.count >= count || group.count * 2 > wanted) return;
  add(text, capacity,
      "%s%ss are so large that groups of %d would have more members in one than can be lost: groups of %d "
      "instead, which keep %d/%d of an image in addition to the own one instead of %d/%d",
      text[0] ? "; " : "", gab_domain_name(asked->separate), wanted, group.count, group.parities,
      gab_group_pieces(&group), group.parities, wanted - group.parities);
}

const char *gab_placement_warning(const gab_placement *placement, const gab_redundancy *asked, char *text,
                                  size_t capacity)
{
  text[0] = '\0';
  say_within(placement, asked, text, capacity);
  say_separate(placement, asked, text, capacity);
  say_smaller(placement, asked, text, capacity);
  return text[0] ? text : NULL;
}
