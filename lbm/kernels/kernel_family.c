/* SPDX-License-Identifier: Apache-2.0 */
/* Families of kernels by name: those of the library and registered ones. */
#include "lbm/kernels/kernel_family.h"

#include "core/base/registry_impl.h"

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
enum { MOST_LETTERS = 40 };
static gab_registry families = {.kind = "kernel",
                                .most = GAB_MOST_KERNEL_FAMILIES,
                                .entries = {&library[0], &library[1], &library[2], &library[3], &library[4]}};

const gab_kernel_family *gab_kernel_family_at(int index) { return gab_registry_at(&families, index); }

const gab_kernel_family *gab_kernel_family_by_name(const char *name)
{
  return name ? gab_registry_require(&families, name) : library;
}

gab_status gab_kernel_family_register(const gab_kernel_family *family)
{
  if (!family->name || !family->doc || !family->sweep)
    GAB_FAIL(GAB_ERR_ARGUMENT, "kernel '%s' lacks a name, a text or its sweep",
             family->name ? family->name : "?");
  if (strlen(family->name) > MOST_LETTERS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "'%s' cannot be the name of a kernel", family->name);
  if ((unsigned)family->blocks > GAB_KERNEL_BLOCKS_SPARSE || family->revision < 0 ||
      !(family->fields == 1 || (family->fields == 2 && family->blocks == GAB_KERNEL_BLOCKS_DENSE)))
    GAB_FAIL(
        GAB_ERR_ARGUMENT,
        "kernel '%s': blocks have one field of populations, or two of all cells; a revision is not negative",
        family->name);
  return gab_registry_add(&families, family);
}
