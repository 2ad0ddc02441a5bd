/* SPDX-License-Identifier: Apache-2.0 */
#include "core/config/config_impl.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *default_of(const gab_config_key *key, gab_config_choice_fn *choice_at)
{
  if (!key->default_text) return "required";
  if (strcmp(key->default_text, GAB_CONFIG_OPTIONAL) != 0) return key->default_text;
  for (int i = 0; choice_at && choice_at(i).name; i++)
    if (choice_at(i).usual) return "as marked";
  return "none";
}

/* After the name of a choice. */
static const char *mark_of(gab_config_choice choice) { return choice.usual ? " (default)" : ""; }

/* ---- help on the terminal ---- */

static void write_section_head(FILE *out, const gab_config_section *section)
{
  fprintf(out, "%s%s", section->path[0] ? section->path : "(top level)", section->is_list ? " (list)" : "");
  if (section->variant)
    fprintf(out, " with type: %s%s", section->variant, section->variant_is_default ? " (default)" : "");
  if (section->doc) fprintf(out, ": %s", section->doc);
  fputc('\n', out);
}

/* Choices of a value, NULL if they are not a list; a key of type choice has them in its type, too. */
static gab_config_choice_fn *choices_of(const gab_config *config, const gab_config_section *section,
                                        const gab_config_key *key)
{
  char full[GAB_CONFIG_PATH_CAPACITY];
  gab_config_join(full, sizeof full, section->path, key->name);
  for (size_t i = 0; i < config->choices_count; i++)
    if (strcmp(config->choices[i].path, full) == 0) return config->choices[i].choice_at;
  return key->choice_at;
}

static void write_key_line(FILE *out, const gab_config *config, const gab_config_section *section,
                           const gab_config_key *key)
{
  gab_config_choice_fn *choice_at = choices_of(config, section, key);
  fprintf(out, "  %-20s %s\n", key->name, key->doc);
  for (int i = 0; choice_at && choice_at(i).name; i++) {
    if (i == 0) fprintf(out, "  %-20s   %s of: ", "", key->length_max > 0 ? "any" : "one");
    fprintf(out, "%s%s%s", choice_at(i).name, mark_of(choice_at(i)), choice_at(i + 1).name ? ", " : "\n");
  }
  fprintf(out, "  %-20s   default: %s\n", "", default_of(key, choice_at));
}

static void write_choices(FILE *out, const gab_config_key *key, gab_config_choice_fn *choice_at)
{
  const char *head = key->length_max > 0 ? "any of:" : "one of:";
  for (int i = 0; choice_at && choice_at(i).name; i++) {
    const gab_config_choice choice = choice_at(i);
    fprintf(out, "  %-9s %s%s%s%s\n", i == 0 ? head : "", choice.name, mark_of(choice),
            choice.doc ? ": " : "", choice.doc ? choice.doc : "");
  }
}

static void write_key(FILE *out, const gab_config *config, const gab_config_section *section,
                      const gab_config_key *key)
{
  char type[512];
  gab_config_choice_fn *choice_at = choices_of(config, section, key);
  gab_config_describe_type(key, type, sizeof type);
  fprintf(out, "%s%s%s%s\n", section->path, section->is_list ? "[]" : "", section->path[0] ? "." : "",
          key->name);
  if (section->variant) fprintf(out, "  for:      type: %s\n", section->variant);
  fprintf(out, "  what:     %s\n  type:     %s\n  default:  %s\n", key->doc, type,
          default_of(key, choice_at));
  write_choices(out, key, choice_at);
}

/* "bodies.0.radius" and "bodies[].radius" to "bodies.radius". */
static void strip_indices(const char *path, char *plain, size_t capacity)
{
  size_t used = 0;
  for (const char *word = path; *word;) {
    size_t length = strcspn(word, ".");
    size_t kept = length;
    if (kept >= 2 && strncmp(word + kept - 2, "[]", 2) == 0) kept -= 2;
    bool index = kept > 0 && strspn(word, "0123456789") >= kept;
    if (!index && used + kept + 2 < capacity) {
      if (used > 0) plain[used++] = '.';
      memcpy(plain + used, word, kept);
      used += kept;
    }
    word += length + (word[length] == '.');
  }
  plain[used] = '\0';
}

static size_t write_sections(const gab_config *config, FILE *out, const char *path)
{
  size_t found = 0, length = strlen(path);
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *section = config->sections[i];
    bool below = strncmp(section->path, path, length) == 0 &&
                 (length == 0 || section->path[length] == '\0' || section->path[length] == '.');
    if (!below) continue;
    if (found++ > 0) fputc('\n', out);
    write_section_head(out, section);
    for (size_t k = 0; k < section->count; k++) write_key_line(out, config, section, &section->keys[k]);
  }
  return found;
}

/* Keys with that full path, or with that bare name in any section. */
static size_t write_keys(const gab_config *config, FILE *out, const char *path, bool bare)
{
  size_t found = 0;
  for (size_t i = 0; i < config->section_count; i++)
    for (size_t k = 0; k < config->sections[i]->count; k++) {
      char full[GAB_CONFIG_PATH_CAPACITY];
      const gab_config_key *key = &config->sections[i]->keys[k];
      gab_config_join(full, sizeof full, config->sections[i]->path, key->name);
      if (strcmp(bare ? key->name : full, path) != 0) continue;
      if (found++ > 0) fputc('\n', out);
      write_key(out, config, config->sections[i], key);
    }
  return found;
}

/* Whether a text contains a word, in lower or upper case, at the beginning of one of its words. */
static bool mentions(const char *text, const char *word)
{
  const size_t length = strlen(word);
  for (const char *at = text; at && *at; at++)
    if ((at == text || !isalnum((unsigned char)at[-1])) && strncasecmp(at, word, length) == 0) return true;
  return false;
}

static bool key_mentions(const gab_config_key *key, gab_config_choice_fn *choice_at, const char *word)
{
  bool found = mentions(key->name, word) || mentions(key->doc, word) || mentions(key->choices, word);
  for (int i = 0; choice_at && choice_at(i).name && !found; i++)
    found = mentions(choice_at(i).name, word) || mentions(choice_at(i).doc, word);
  return found;
}

/* Keys and variants whose descriptions contain a word, a line each. */
static size_t write_mentions(const gab_config *config, FILE *out, const char *word)
{
  static const char head[] = "is not the name of a parameter or section. Descriptions that contain it:";
  size_t found = 0;
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *section = config->sections[i];
    char variant[64] = "";
    if (section->variant) snprintf(variant, sizeof variant, " (type: %s)", section->variant);
    if (mentions(section->doc, word) || mentions(section->variant, word)) {
      if (found++ == 0) fprintf(out, "'%s' %s\n", word, head);
      fprintf(out, "  %s%s: %s\n", section->path, variant, section->doc ? section->doc : "");
    }
    for (size_t k = 0; k < section->count; k++) {
      const gab_config_key *key = &section->keys[k];
      if (!key_mentions(key, choices_of(config, section, key), word)) continue;
      if (found++ == 0) fprintf(out, "'%s' %s\n", word, head);
      fprintf(out, "  %s%s%s%s: %s\n", section->path, section->path[0] ? "." : "", key->name, variant,
              key->doc);
    }
  }
  return found;
}

static void keep_closer(const char *wanted, const char *known, size_t *nearest, char *closest,
                        size_t capacity, const char *shown)
{
  size_t distance = gab_config_distance(wanted, known);
  if (distance >= *nearest) return;
  *nearest = distance;
  snprintf(closest, capacity, "%s", shown);
}

/* "" if no path is similar. */
static void closest_path(const gab_config *config, const char *wanted, char *closest, size_t capacity)
{
  size_t nearest = SIZE_MAX;
  closest[0] = '\0';
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *section = config->sections[i];
    keep_closer(wanted, section->path, &nearest, closest, capacity, section->path);
    for (size_t k = 0; k < section->count; k++) {
      char full[GAB_CONFIG_PATH_CAPACITY];
      gab_config_join(full, sizeof full, section->path, section->keys[k].name);
      keep_closer(wanted, full, &nearest, closest, capacity, full);
      keep_closer(wanted, section->keys[k].name, &nearest, closest, capacity, full);
    }
  }
  if (!gab_config_is_near(wanted, nearest)) closest[0] = '\0';
}

gab_status gab_config_write_help(const gab_config *config, FILE *out, const char *path)
{
  char plain[GAB_CONFIG_PATH_CAPACITY] = "", closest[GAB_CONFIG_PATH_CAPACITY];
  if (path) strip_indices(path, plain, sizeof plain);
  size_t found = path && plain[0] ? write_keys(config, out, plain, false) : 0;
  if (found == 0 && (!path || plain[0])) found = write_sections(config, out, plain);
  if (found == 0 && plain[0]) found = write_keys(config, out, plain, true);
  if (found > 0 || !path) return GAB_OK;
  if (plain[0] && write_mentions(config, out, plain) > 0) return GAB_OK;
  closest_path(config, plain, closest, sizeof closest);
  GAB_FAIL(GAB_ERR_INPUT, "unknown parameter '%s'%s%s%s", path, closest[0] ? "; did you mean '" : "", closest,
           closest[0] ? "'?" : "");
}

/* ---- the reference page ---- */

static void write_cell(FILE *out, const char *text)
{
  for (; *text; text++) {
    if (*text == '|') fputc('\\', out);
    fputc(*text, out);
  }
}

/* After the explanation, as a list. */
static void write_choices_cell(FILE *out, gab_config_choice_fn *choice_at)
{
  for (int i = 0; choice_at && choice_at(i).name; i++) {
    const gab_config_choice choice = choice_at(i);
    fprintf(out, "%s`%s`%s%s", i > 0 ? "; " : " ", choice.name, mark_of(choice), choice.doc ? ": " : "");
    if (choice.doc) write_cell(out, choice.doc);
    if (!choice_at(i + 1).name) fputc('.', out);
  }
}

static void write_row(FILE *out, const gab_config_key *key, gab_config_choice_fn *choice_at)
{
  char type[512], range[128];
  gab_config_key bare = *key;
  bare.unit = NULL;
  bare.min = bare.max = 0;
  gab_config_describe_type(&bare, type, sizeof type);
  gab_config_describe_range(key, range, sizeof range);
  const char *cells[] = {type, key->unit ? key->unit : "", range, default_of(key, choice_at)};
  fprintf(out, "| `%s` |", key->name);
  for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
    fputc(' ', out);
    write_cell(out, cells[i]);
    fputs(cells[i][0] ? " |" : "|", out);
  }
  fputc(' ', out);
  write_cell(out, key->doc);
  write_choices_cell(out, choice_at);
  fputs(" |\n", out);
}

static void write_table(const gab_config *config, FILE *out, const gab_config_section *section)
{
  bool first = gab_config_find_section(config, section->path) == section;
  if (first) {
    fprintf(out, "\n## %s\n", section->path[0] ? section->path : "Top level");
    if (section->is_list) fputs("\nA list: each item begins with a dash.\n", out);
  }
  if (section->variant)
    fprintf(out, "\n### `type: %s`%s\n", section->variant, section->variant_is_default ? " (default)" : "");
  if (section->doc) fprintf(out, "\n%s\n", section->doc);
  if (section->count == 0) return;
  fputs("\n| key | type | unit | range | default | what |\n|---|---|---|---|---|---|\n", out);
  for (size_t k = 0; k < section->count; k++)
    write_row(out, &section->keys[k], choices_of(config, section, &section->keys[k]));
}

/* The next table of a path from index *at on; NULL after the last. */
static const gab_config_section *next_table(const gab_config *config, const char *path, size_t *at)
{
  for (; *at < config->section_count; ++*at)
    if (strcmp(config->sections[*at]->path, path) == 0) return config->sections[(*at)++];
  return NULL;
}

static bool is_same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

/* Whether two paths have the same tables. */
static bool have_same_tables(const gab_config *config, const char *path, const char *other)
{
  size_t at = 0, at_other = 0;
  for (;;) {
    const gab_config_section *a = next_table(config, path, &at), *b = next_table(config, other, &at_other);
    if (!a || !b) return a == b;
    if (a->keys != b->keys || a->count != b->count || !is_same_text(a->variant, b->variant) ||
        !is_same_text(a->doc, b->doc))
      return false;
  }
}

/* An earlier path with the same tables; NULL: none. */
static const char *earlier_of_same_tables(const gab_config *config, const char *path)
{
  for (size_t i = 0; i < config->section_count; i++) {
    const gab_config_section *section = config->sections[i];
    if (strcmp(section->path, path) == 0) return NULL;
    if (section->count > 0 && have_same_tables(config, path, section->path)) return section->path;
  }
  return NULL;
}

gab_status gab_config_write_reference(const gab_config *config, FILE *out)
{
  fputs("# Parameters\n\nGenerated from the tables in the source. A file holds sections; keys that are left "
        "out "
        "have their default.\n",
        out);
  for (size_t i = 0; i < config->section_count; i++) {
    const char *path = config->sections[i]->path;
    if (gab_config_find_section(config, path) != config->sections[i]) continue;
    const char *earlier = earlier_of_same_tables(config, path);
    if (earlier) fprintf(out, "\n## %s\n\nAs `%s`.\n", path, earlier);
    for (size_t j = i; j < config->section_count && !earlier; j++)
      if (strcmp(config->sections[j]->path, config->sections[i]->path) == 0)
        write_table(config, out, config->sections[j]);
  }
  if (ferror(out)) GAB_FAIL(GAB_ERR_IO, "the reference could not be written");
  return GAB_OK;
}
