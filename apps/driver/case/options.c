/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the driver. */
#include "apps/driver/driver.h"

#include "resilience/loop/stop.h"

#include <stddef.h>
#include <string.h>

enum { MOST_WORD = 64 };

/* Number of letters to insert, delete or replace (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
  size_t row[MOST_WORD + 1], columns = strlen(b);
  if (columns > MOST_WORD) columns = MOST_WORD;
  for (size_t j = 0; j <= columns; j++) row[j] = j;
  for (size_t i = 1; a[i - 1]; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= columns; j++) {
      size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      size_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
      row[j] = replaced < least ? replaced : least;
    }
  }
  return row[columns];
}

const char *gab_app_closest(const char *wanted, const char *const *words)
{
  const char *closest = words[0];
  size_t least = SIZE_MAX;
  for (size_t i = 0; words[i]; i++) {
    size_t this_one = distance(wanted, words[i]);
    if (this_one < least) {
      least = this_one;
      closest = words[i];
    }
  }
  return closest;
}

typedef struct option_row {
  const char *name;
  char letter;      /* in `allowed` */
  const char *mark; /* short form or NULL */
  bool has_value;
  size_t place; /* of a bool, or of a text if it has a value */
} option_row;

enum { NO_PLACE = 0 }; /* of a list, or of a value that is read at once: see take() */

#define PLACE(member) offsetof(gab_app_options, member)
static const option_row rows[] = {
    {"--out", 'o', "-o", true, PLACE(out)},
    {"--set", 's', "-s", true, NO_PLACE},
    {"--inject", 'i', NULL, true, NO_PLACE},
    {"--verbose", 'v', "-v", false, PLACE(verbose)},
    {"--quiet", 'q', "-q", false, PLACE(quiet)},
    {"--reference", 'r', NULL, false, PLACE(reference)},
    {"--help", 'h', "-h", false, PLACE(help)},
    {"--processes", 'p', NULL, false, PLACE(processes)},
    {"--walltime", 'w', NULL, true, NO_PLACE},
    {"--fresh", 'f', NULL, false, PLACE(fresh)},
    {"--continue-anyway", 'c', NULL, false, PLACE(anyway)},
    {"--block", 'b', NULL, true, PLACE(block)},
    {"--traffic", 't', NULL, true, PLACE(traffic)},
    {"--json", 'j', NULL, false, PLACE(json)},
    {"--overcommit", 'm', NULL, false, PLACE(overcommit)},
    {"--print-spares", 'S', NULL, false, PLACE(print_spares)},
    {"--devices", 'd', NULL, false, PLACE(devices)},
    {"--draw", 'D', NULL, true, PLACE(draw)},
    {"--cells", 'C', NULL, true, PLACE(cells)},
    {"--scaling", 'x', NULL, true, PLACE(scaling)},
    {"--value", 'V', NULL, true, NO_PLACE},
    {"-n", 'n', NULL, true, PLACE(ranks)},
    {"--tolerance", 'T', NULL, true, PLACE(tolerance)},
    {"--all", 'A', NULL, false, PLACE(all)},
    {"--dry-run", 'y', NULL, false, PLACE(dry_run)},
    {"--redo", 'R', NULL, false, PLACE(redo)},
    {"--table", 'a', NULL, false, PLACE(table)},
    {"--point", 'k', NULL, true, PLACE(point)},
    {"--launch", 'l', NULL, true, PLACE(launch)},
    {"--slurm", 'L', NULL, false, PLACE(slurm)},
    {"--pbs", 'B', NULL, false, PLACE(pbs)},
};
#undef PLACE
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

static bool is_allowed(const option_row *row, const char *allowed)
{
  return row->letter == 'h' || strchr(allowed, row->letter);
}

static gab_status add(const char **list, size_t *count, const char *value, const char *option)
{
  if (*count == GAB_APP_MOST_SETTINGS)
    GAB_FAIL(GAB_ERR_INPUT, "%s is given more than %d times", option, GAB_APP_MOST_SETTINGS);
  list[(*count)++] = value;
  return GAB_OK;
}

static gab_status take(const option_row *row, const char *value, gab_app_options *options)
{
  void *place = (unsigned char *)options + row->place;
  switch (row->letter) {
  case 's':
    return add(options->settings, &options->setting_count, value, row->name);
  case 'i':
    return add(options->injections, &options->injection_count, value, row->name);
  case 'V':
    return add(options->values, &options->value_count, value, row->name);
  case 'w':
    return gab_walltime_parse(value, &options->walltime);
  default:
    if (row->has_value) *(const char **)place = value;
    else *(bool *)place = true;
  }
  return GAB_OK;
}

/* "--set" matches itself, "-s", and "--set=VALUE"; *value is then the text after the sign. */
static bool matches(const option_row *row, const char *word, const char **value)
{
  size_t length = strlen(row->name);
  *value = NULL;
  if (strcmp(word, row->name) == 0 || (row->mark && strcmp(word, row->mark) == 0)) return true;
  if (!row->has_value || strncmp(word, row->name, length) != 0 || word[length] != '=') return false;
  *value = word + length + 1;
  return true;
}

static gab_status refuse(const char *word, const char *allowed)
{
  const char *names[ROW_COUNT + 1];
  size_t count = 0;
  for (int i = 0; i < ROW_COUNT; i++)
    if (is_allowed(&rows[i], allowed)) names[count++] = rows[i].name;
  names[count] = NULL;
  GAB_FAIL(GAB_ERR_INPUT, "unknown option '%s'; did you mean '%s'? (--help lists them)", word,
           gab_app_closest(word, names));
}

gab_status gab_app_options_parse(int argc, char **argv, const char *allowed, gab_app_options *options)
{
  *options = (gab_app_options){0};
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i], *value = NULL;
    if (word[0] != '-' || !word[1]) {
      if (strchr(allowed, '*')) {
        GAB_TRY(add(options->words, &options->word_count, word, "a folder"));
        options->word = options->words[0];
        continue;
      }
      const bool is_second = options->word && !options->other && strchr(allowed, '2');
      if (options->word && !is_second)
        GAB_FAIL(GAB_ERR_INPUT, "unexpected argument '%s' after '%s'", word,
                 options->other ? options->other : options->word);
      *(is_second ? &options->other : &options->word) = word;
      continue;
    }
    const option_row *found = NULL;
    for (int k = 0; k < ROW_COUNT && !found; k++)
      if (is_allowed(&rows[k], allowed) && matches(&rows[k], word, &value)) found = &rows[k];
    if (!found) return refuse(word, allowed);
    if (found->has_value && !value) {
      if (i + 1 == argc) GAB_FAIL(GAB_ERR_INPUT, "%s needs a value", found->name);
      value = argv[++i];
    }
    GAB_TRY(take(found, value, options));
  }
  return GAB_OK;
}
