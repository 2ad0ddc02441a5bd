/* SPDX-License-Identifier: Apache-2.0 */
/** @file config.h
 *  @brief Strict parameter files: YAML checked against tables.
 *
 *  Each module declares its sections as static tables, which define parsing, checking, `gabion help`, and the
 *  reference page. A file with an unknown key is refused, with all mistakes at once, each with its line and column.
 *  JSON is YAML, so any script can write such files.
 *
 *  @code
 *  static const gab_config_key keys[] = {
 *    {.name = "omega", .type = GAB_CONFIG_REAL, .min = 0, .max = 2, .min_excluded = true, .max_excluded =
 *  true, .default_text = "1.8", .doc = "relaxation rate of the shear modes"},
 *    {.name = "force", .type = GAB_CONFIG_REAL, .length_min = 2, .length_max = 3, .unit = "lattice units",
 *     .default_text = "[0, 0, 0]", .doc = "body force per cell"},
 *  };
 *  static const gab_config_section section = {.path = "lbm", .keys = keys, .count = 2, .doc = "fluid"};
 *
 *  GAB_TRY(gab_config_declare(config, &section));
 *  GAB_TRY(gab_config_load(config, "case.yaml"));
 *  GAB_TRY(gab_config_override(config, "lbm.omega=1.9"));
 *  GAB_TRY(gab_config_check(config));
 *  double omega = gab_config_real(config, "lbm.omega");
 *  @endcode
 *
 *  No function is collective: each process reads the file, or receives its text. Numbers are read and written the same
 *  in every locale.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_CORE_CONFIG_H
#define GABION_CORE_CONFIG_H

#include "core/base/buffer.h"
#include "core/base/hash.h"
#include "core/base/text/json.h"
#include "core/config/expression.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Type of one value; a key with `length_max` > 0 holds a list of them. */
typedef enum gab_config_type {
  GAB_CONFIG_BOOL = 0, /**< true or false */
  GAB_CONFIG_INT,      /**< int64_t, decimal */
  GAB_CONFIG_REAL,     /**< finite double; an integer literal is fine */
  GAB_CONFIG_STRING,   /**< text */
  GAB_CONFIG_CHOICE,   /**< one of `choices` */
  GAB_CONFIG_EXPRESSION /**< a number, or a formula of `variables` and of the section `constants`: expression.h; never a list */
} gab_config_type;

/** Whether a text is the path of a file, and from where it counts if it is relative. */
typedef enum gab_config_file {
  GAB_CONFIG_NO_FILE = 0,
  GAB_CONFIG_FILE_BY_CASE, /**< from the folder of the parameter file */
  GAB_CONFIG_FILE_BY_WORK  /**< from the working folder */
} gab_config_file;

typedef struct gab_config gab_config;

/** Adds the bytes of all files named by a text to a hash. Local.
 *  @param[in] config  for other keys that choose among the files @param[in] path  absolute, or from the working folder
 *  @return ::GAB_ERR_INPUT with the file and the reason if one cannot be read */
typedef gab_status gab_config_content(const gab_config *config, const char *path, gab_hash64_stream *hash);

/** `default_text` of a key without a default: gab_config_is_set() is then false, numbers read as 0 (reals as NaN),
 *  strings as "", lists as empty. */
#define GAB_CONFIG_OPTIONAL "<none>"
/** `length_max` of a list of any length. */
#define GAB_CONFIG_ANY_LENGTH SIZE_MAX
/** Enough for every path of a key, see gab_config_path(). */
#define GAB_CONFIG_PATH_CAPACITY 256

/** A choice of a value, e.g. an entry of a registry to which programs add theirs. */
typedef struct gab_config_choice {
  const char *name; /**< NULL: behind the last */
  const char *doc;  /**< a few words; may be NULL */
  bool usual;       /**< of a key without a default: effect of omitting it */
} gab_config_choice;

/** The index-th choice, from 0. Called whenever choices are needed, so entries that are registered later are among them. */
typedef gab_config_choice gab_config_choice_fn(int index);

/** One row of a table. Fields that are left out are zero. */
typedef struct gab_config_key {
  const char *name; /**< lower-case letters, digits, underscores; begins with a letter */
  gab_config_type type;
  const char *unit;      /**< for people, may be NULL */
  double min, max;       /**< of numbers: checked if min < max; INFINITY leaves a side open */
  bool min_excluded;     /**< the minimum itself is not allowed */
  bool max_excluded;     /**< the maximum itself is not allowed */
  size_t length_min;     /**< of a list */
  size_t length_max;     /**< of a list; 0: a single value */
  const char *choices;   /**< of choices: separated by '|', e.g. "srt|trt" */
  const char *variables; /**< of formulas: separated by '|', e.g. "x|y|z|t"; NULL: none */
  /** of choices, instead of `choices`; of texts: what help lists, without a check */
  gab_config_choice_fn *choice_at;
  const char *default_text; /**< as one would write it in the file; NULL: required; or #GAB_CONFIG_OPTIONAL */
  gab_config_file file;     /**< of texts */
  gab_config_content *content; /**< of a text that names several files; NULL: `file` is one file */
  /** of a file: only a run that starts at step 0 reads it. Its content is part of the case then, but a run that
   *  resumes needs it no longer (gab_config_is_read_at_start()) */
  bool at_start;
  bool outside; /**< does not change the state of the simulation: left out of gab_config_canonical_state() */
  /** other keys of this table, separated by '|', that say the same in another way and name this one here, too: one of
   *  them may be given; one that is set by an override replaces the others of the file */
  const char *instead_of;
  bool repeats;  /**< of a list of texts or choices: may have one of them twice */
  bool distinct; /**< of a list section: no two items may give the same text */
  bool
      any_value; /**< of a text: also a list or a mapping, whose value is its text in one line, as `--set` takes it */
  const char *doc; /**< one sentence */
} gab_config_key;

/** A table. Several tables may have one path: their keys add up.
 *
 *  A section with variants has one table per variant, all with the same path, and optionally one without variant for
 *  common keys. The key `type` is then added automatically; its value is the variant. */
typedef struct gab_config_section {
  const char *path; /**< "lbm", "resilience.memory", "bodies"; "" is the top level of the file */
  const char *doc;
  const gab_config_key *keys;
  size_t count;
  bool is_list;            /**< a YAML sequence of mappings: keys are "bodies.0.radius" */
  bool optional;           /**< may be left out even if it has required keys; a list is always optional */
  const char *variant;     /**< value of `type` that this table is for; NULL: no variant */
  bool variant_is_default; /**< `type` may be left out and then means this one */
  /** its keys have any names of letters, digits and `_`: `keys` has one row, which describes each of them */
  bool any_name;
} gab_config_section;

/** The section `constants`: numbers with names, for formulas of the file; a constant may use those before it. */
extern const gab_config_section gab_config_constants;

/** @param[out] config  owned by the caller, released by gab_config_destroy() */
gab_status gab_config_create(gab_config **config);
void gab_config_destroy(gab_config **config);

/** Adds a table; it is borrowed and must outlive the configuration (make it static).
 *  @return ::GAB_ERR_ARGUMENT for an invalid table: a repeated name, a default of the wrong type, ... */
gab_status gab_config_declare(gab_config *config, const gab_config_section *section);

/** For a text whose choices are not known to its table: lists them in help, instead of gab_config_key.choice_at.
 *  After the declaration of its section. @param[in] path  of the key; borrowed as long as the configuration, as
 *  `choice_at` is
 *  @return ::GAB_ERR_ARGUMENT if no table has such a text */
GAB_EXTENDER gab_status gab_config_set_choices(gab_config *config, const char *path,
                                               gab_config_choice_fn *choice_at);

/** Reads a file and checks that it is YAML. Replaces an earlier one; on failure nothing changes.
 *  @return ::GAB_ERR_INPUT with "file:line:column: reason"; also for a folder, a pipe, or another irregular file */
gab_status gab_config_load(gab_config *config, const char *path);
/** The same from memory; messages use `name` as the file. */
gab_status gab_config_load_text(gab_config *config, const char *name, const char *text, size_t length);
/** @return the last loaded text, "" if none; for other processes and checkpoints.
 *  @param[out] length  its bytes; may be NULL */
GAB_EXTENDER const char *gab_config_text(const gab_config *config, size_t *length);
/** @return the name of the last loaded text */
GAB_EXTENDER const char *gab_config_name(const gab_config *config);

/** Sets one value over the file: "section.key=value" with the value as in YAML; list items are
 *  "bodies.0.radius=3", one more item than there are appends it. Later ones win, also over keys that say the same
 *  in another way (gab_config_key.instead_of). Takes part from the next gab_config_check() on.
 *  @return ::GAB_ERR_INPUT if it has not this form */
gab_status gab_config_override(gab_config *config, const char *assignment);

/** Checks everything loaded and set against the tables and makes the values available. On failure the values
 *  of the last successful check remain.
 *  @return ::GAB_ERR_INPUT with all violations, one per line: "case.yaml:12:7: ..." */
gab_status gab_config_check(gab_config *config);

/** @name Values
 *  After a successful check these cannot fail. An undeclared path or type is a programming error: the getter returns
 *  the value of an unset key, sets the error message and logs it. Strings and arrays belong to the configuration and
 *  are valid until its next check or end.
 *  @{ */
bool gab_config_bool(const gab_config *config, const char *path);
int64_t gab_config_int(const gab_config *config, const char *path);
double gab_config_real(const gab_config *config, const char *path);
/** Of a string or of a choice. */
const char *gab_config_string(const gab_config *config, const char *path);
/** Index into the choices of the key, in their order; -1 if unset. The `type` of a variant has none: use
 *  gab_config_string(). */
int gab_config_choice_index(const gab_config *config, const char *path);
const int64_t *gab_config_ints(const gab_config *config, const char *path, size_t *count);
const double *gab_config_reals(const gab_config *config, const char *path, size_t *count);
/** Of a list of strings or choices. */
const char *const *gab_config_strings(const gab_config *config, const char *path, size_t *count);
/** Of a key of type ::GAB_CONFIG_EXPRESSION; NULL if it is unset. Lives as strings do. */
const gab_expression *gab_config_expression(const gab_config *config, const char *path);
/** The path of the file in a text of gab_config_key.file, to be opened from the working folder.
 *  @param[out] file  of PATH_MAX @return ::GAB_ERR_INPUT if it is too long */
GAB_EXTENDER gab_status gab_config_file_of(const gab_config *config, const char *path, char *file);
/** Whether a key has files of gab_config_key.at_start. */
GAB_EXTENDER bool gab_config_is_read_at_start(const gab_config *config, const char *path);
/** Number of items of a list section, or of values of a key. */
size_t gab_config_count(const gab_config *config, const char *path);
/** Whether the user gave it (a key, a section or an item), in the file or by an override. */
bool gab_config_is_set(const gab_config *config, const char *path);
/** @} */

/** Makes a path: `gab_config_real(config, gab_config_path(path, "bodies.%zu.radius", i))`.
 *  @return buffer, which holds #GAB_CONFIG_PATH_CAPACITY characters */
const char *gab_config_path(char *buffer, const char *format, ...) GAB_PRINTF(2, 3);

/** Source of a value: "case.yaml:12:7", "--set lbm.omega=3" or "default". For an omitted key the place of its
 *  section, if present. @return buffer */
GAB_EXTENDER const char *gab_config_where(const gab_config *config, const char *path, char *buffer,
                                          size_t capacity);

/** For mistakes that only a module can see: makes the message "<where>: <path>: <text>"; with config NULL "<path>: <text>".
 *  @return ::GAB_ERR_INPUT */
gab_status gab_config_fail(const gab_config *config, const char *path, const char *format, ...)
    GAB_PRINTF(3, 4);

/** Appends all values, defaults too, as sorted lines "key = value": the same text for the same values however
 *  they were written. Not terminated. */
GAB_EXTENDER gab_status gab_config_canonical(const gab_config *config, gab_buffer *text);
/** The same without the keys that are marked as outside of the state: equal texts, equal results. The value of a key that
 *  names a file is the hash of its content instead of its path. Reads such files unless their hashes are known.
 *  @return ::GAB_ERR_INPUT if a file cannot be read */
GAB_EXTENDER gab_status gab_config_canonical_state(const gab_config *config, gab_buffer *text);

/** @name Content of the files that a case names
 *  Hashes (XXH64) of all files that keys of the state name, in the order of the keys. One process reads the files with
 *  gab_config_hash_files(), the others take its hashes. Known until the next check.
 *  @{ */
/** Reads the files. After gab_config_check(). Local.
 *  @param[in,out] hashes  eight bytes for each key with a file are appended
 *  @return ::GAB_ERR_INPUT with the place in the parameter file if a file cannot be read */
GAB_EXTENDER gab_status gab_config_hash_files(gab_config *config, gab_buffer *hashes);
/** Sets hashes from gab_config_hash_files() of another process with the same parameters. Local.
 *  @return ::GAB_ERR_CORRUPT if the number of hashes is not the number of keys */
GAB_EXTENDER gab_status gab_config_set_file_hashes(gab_config *config, const gab_buffer *hashes);
/** Appends one line for each key with a file whose value differs between two texts of gab_config_canonical_state():
 *  the path of that file. @param[in] differences  text, terminated, in which such keys are searched
 *  @param[out] lines  not terminated */
GAB_EXTENDER gab_status gab_config_name_files(const gab_config *config, const char *differences,
                                              gab_buffer *lines);
/** Puts a list under `key`: parameter, path and content hash of each file. */
GAB_EXTENDER void gab_config_put_files(const gab_config *config, const char *key, gab_json *json);
/** @} */

/** Appends the effective parameters as a self-contained YAML file: the loaded text, with all assignments applied, and
 *  files by absolute paths. Without changes the text is kept, with its comments. A check of it gives the same values.
 *  After gab_config_check(). */
GAB_EXTENDER gab_status gab_config_effective(const gab_config *config, gab_buffer *text);
/** Puts an object under `key` with the parameters that were given and are not as they are by default, by
 *  their paths. */
GAB_EXTENDER void gab_config_put_changed(const gab_config *config, const char *key, gab_json *json);

/** A number, or a list of numbers, that the user gave. Borrowed from the configuration until its next check. */
typedef struct gab_config_number {
  const char *path;
  const gab_config_key *key;
  const int64_t *ints; /**< of type ::GAB_CONFIG_INT, else NULL */
  const double *reals; /**< of type ::GAB_CONFIG_REAL, else NULL */
  size_t count;        /**< of a single number 1 */
} gab_config_number;
/** The next of them, in the order of their paths. @param[in,out] at  0 at first @return false after the last one */
GAB_EXTENDER bool gab_config_next_number(const gab_config *config, size_t *at, gab_config_number *number);

/** Writes help about a key ("lbm.omega", "omega"), a section ("lbm") or everything (NULL).
 *  @return ::GAB_ERR_INPUT with the closest known path if the path is unknown */
gab_status gab_config_write_help(const gab_config *config, FILE *out, const char *path);
/** Writes the reference of all parameters as Markdown. */
GAB_EXTENDER gab_status gab_config_write_reference(const gab_config *config, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
