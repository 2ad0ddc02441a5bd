/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/output_quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double gab_quantity_scalar(const gab_quantity *quantity, gab_component component, const double *cell_values)
{
  if (quantity->components == 1) return cell_values[0];
  if (component != GAB_COMPONENT_MAGNITUDE) return cell_values[component];
  return sqrt(cell_values[0] * cell_values[0] + cell_values[1] * cell_values[1] +
              cell_values[2] * cell_values[2]);
}

size_t gab_quantity_block_values(const gab_forest *forest, const gab_quantity *quantity)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  return (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2] * (size_t)quantity->components;
}

/* Names are used for files, datasets and columns. */
static bool is_name(const char *name)
{
  if (!name || !name[0]) return false;
  for (const char *c = name; *c; c++) {
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-') return false;
  }
  return true;
}

gab_status gab_quantity_check(const gab_quantity *quantity)
{
  if (!quantity) GAB_FAIL(GAB_ERR_ARGUMENT, "no quantity given");
  if (!is_name(quantity->name)) {
    GAB_FAIL(GAB_ERR_ARGUMENT, "`%s' is not a valid name of a quantity: letters, digits, _ and -",
             quantity->name ? quantity->name : "");
  }
  if (quantity->components != 1 && quantity->components != 3) {
    GAB_FAIL(GAB_ERR_ARGUMENT, "quantity %s has %d components, only 1 and 3 are possible", quantity->name,
             quantity->components);
  }
  if (!quantity->evaluate) GAB_FAIL(GAB_ERR_ARGUMENT, "quantity %s cannot be evaluated", quantity->name);
  return GAB_OK;
}

static const gab_quantity *find(gab_quantity_list list, const char *name, size_t length)
{
  for (size_t i = 0; i < list.count; i++) {
    if (strlen(list.items[i].name) == length && memcmp(list.items[i].name, name, length) == 0) {
      return &list.items[i];
    }
  }
  return NULL;
}

static gab_status unknown(gab_quantity_list list, const char *name)
{
  char known[512] = "";
  size_t used = 0;
  for (size_t i = 0; i < list.count && used + 1 < sizeof known; i++) {
    int more = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", list.items[i].name);
    used += more > 0 ? (size_t)more : 0;
  }
  GAB_FAIL(GAB_ERR_INPUT, "unknown quantity `%s'; known are: %s", name, known);
}

gab_status gab_quantity_find(gab_quantity_list list, const char *name, const gab_quantity **quantity)
{
  *quantity = find(list, name, strlen(name));
  return *quantity ? GAB_OK : unknown(list, name);
}

gab_status gab_quantity_find_scalar(gab_quantity_list list, const char *name, const gab_quantity **quantity,
                                    gab_component *component)
{
  const char *dot = strrchr(name, '.');
  *quantity = find(list, name, dot ? (size_t)(dot - name) : strlen(name));
  if (!*quantity) return unknown(list, name);
  *component = (*quantity)->components == 1 ? GAB_COMPONENT_X : GAB_COMPONENT_MAGNITUDE;
  if (!dot) return GAB_OK;
  static const char *const suffixes[] = {"x", "y", "z", "magnitude"};
  for (int i = 0; i < 4 && (*quantity)->components == 3; i++) {
    if (strcmp(dot + 1, suffixes[i]) == 0) {
      *component = (gab_component)i;
      return GAB_OK;
    }
  }
  GAB_FAIL(GAB_ERR_INPUT, "quantity %s has no component `%s'%s", (*quantity)->name, dot + 1,
           (*quantity)->components == 3 ? "; there are: x, y, z, magnitude" : ": it is a scalar");
}

static void fill(const gab_forest *forest, double value, double *values)
{
  const int32_t *cells = gab_forest_get_options(forest)->cells;
  size_t count = (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2];
  for (size_t i = 0; i < count; i++) values[i] = value;
}

static gab_status evaluate_owner(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  (void)block;
  fill(forest, (double)gab_world_rank(gab_forest_world(forest)), values);
  return GAB_OK;
}

static gab_status evaluate_level(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  (void)user;
  fill(forest, (double)gab_block_level(forest, block), values);
  return GAB_OK;
}

const gab_quantity *gab_quantity_owner(void)
{
  static const gab_quantity owner = {
      .name = "owner", .components = 1, .pointwise = true, .evaluate = evaluate_owner};
  return &owner;
}

const gab_quantity *gab_quantity_level(void)
{
  static const gab_quantity level = {
      .name = "level", .components = 1, .pointwise = true, .evaluate = evaluate_level};
  return &level;
}
