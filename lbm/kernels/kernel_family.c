/* SPDX-License-Identifier: Apache-2.0 */
/* Families of kernels by name: those of the library and registered ones. */
#include "lbm/kernels/kernel_family.h"

#include <stdio.h>
#include <string.h>

/* The first is taken if nothing is said. */
static const gab_kernel_family library[] = {
    {.name = "auto",
     .doc = "in_place for blocks with many fluid cells, sparse for others",
     .fields = 1,
     .blocks = GAB_KERNEL_BLOCKS_BY_SHARE},
    {.name = "in_place", .doc = "one field of populations per block (the AA pattern)", .fields = 1},
    {.name = "sparse",
     .doc = "as in_place, fluid cells alone",
     .fields = 1,
     .blocks = GAB_KERNEL_BLOCKS_SPARSE},
    {.name = "vector", .doc = "two fields per block", .fields = 2},
    {.name = "reference", .doc = "two fields per block, readable, cell by cell", .fields = 2}};
enum {
  LIBRARY = sizeof library / sizeof library[0],
  MOST_OWN = GAB_MOST_KERNEL_FAMILIES - LIBRARY,
  MOST_LETTERS = 40
};
static const gab_kernel_family *own[MOST_OWN];
static int own_count;

const gab_kernel_family *gab_kernel_family_at(int index)
{
  if (index < 0 || index >= LIBRARY + own_count) return NULL;
  return index < LIBRARY ? &library[index] : own[index - LIBRARY];
}

const gab_kernel_family *gab_kernel_family_by_name(const char *name)
{
  char known[GAB_MOST_KERNEL_FAMILIES * (MOST_LETTERS + 2) + 1] = "";
  const gab_kernel_family *family;
  for (int i = 0; (family = gab_kernel_family_at(i)); i++) {
    if (!name || strcmp(family->name, name) == 0) return family;
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", family->name);
  }
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "unknown kernel \"%s\"; known are %s", name, known);
  return NULL;
}

gab_status gab_kernel_family_register(const gab_kernel_family *family)
{
  if (!family->name || !family->doc || !family->sweep)
    GAB_FAIL(GAB_ERR_ARGUMENT, "kernel '%s' lacks a name, a text or its sweep",
             family->name ? family->name : "?");
  if (!family->name[0] || strlen(family->name) > MOST_LETTERS || strpbrk(family->name, "|/, "))
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a kernel", family->name);
  if ((unsigned)family->blocks > GAB_KERNEL_BLOCKS_SPARSE || family->revision < 0 ||
      !(family->fields == 1 || (family->fields == 2 && family->blocks == GAB_KERNEL_BLOCKS_DENSE)))
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "kernel '%s': blocks have one field of populations, or two of all cells; a revision is not negative",
        family->name);
  for (int i = 0; gab_kernel_family_at(i); i++)
    if (strcmp(gab_kernel_family_at(i)->name, family->name) == 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "there is already a kernel '%s'", family->name);
  if (own_count == MOST_OWN)
    GAB_FAIL(GAB_ERR_ARGUMENT, "cannot add kernel '%s': there are %d of programs already", family->name,
             MOST_OWN);
  own[own_count++] = family;
  return GAB_OK;
}
