/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/manifest_impl.h"

#include "core/system/file.h"
#include "core/base/checkpoint_format.h"
#include "core/base/hash.h"
#include "core/base/text/json.h"
#include "resilience/disk/disk_names_impl.h"

#include <errno.h>
#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define HASH_MEMBER ",\n  \"hash\": \""

void gab_manifest_init(gab_manifest *manifest)
{
  *manifest = (gab_manifest){.format = GAB_CHECKPOINT_FORMAT, .step = -1};
  gab_members_init(&manifest->members, 0);
}

void gab_manifest_release(gab_manifest *manifest)
{
  gab_members_release(&manifest->members);
  gab_buffer_release(&manifest->state);
  gab_buffer_release(&manifest->parameters);
  gab_free(&manifest->files);
}

gab_status gab_manifest_set_files(gab_manifest *manifest)
{
  size_t count =
      ((size_t)gab_members_count(&manifest->members) + (size_t)manifest->group - 1) / (size_t)manifest->group;
  gab_free(&manifest->files);
  GAB_TRY(GAB_NEW_ARRAY(&manifest->files, count, GAB_MEMORY_OTHER));
  manifest->file_count = count;
  return GAB_OK;
}

/* ---------------------------------------------------------------- writing */

/* One string for each line: a list that people can read. */
static void put_lines(gab_json *json, const char *name, const gab_buffer *lines)
{
  gab_json_list(json, name);
  for (size_t start = 0; start < lines->size;) {
    const unsigned char *line = lines->data + start, *end = memchr(line, '\n', lines->size - start);
    const size_t length = end ? (size_t)(end - line) : lines->size - start;
    gab_json_bytes(json, NULL, line, length);
    start += length + 1;
  }
  gab_json_close(json);
}

static void put_members(gab_json *json, const gab_disk_names *names, const gab_members *members)
{
  gab_json_int(json, names->ranks, members->ranks);
  gab_json_list(json, names->failed);
  for (int32_t i = 0; i < members->gone_count; i++) gab_json_int(json, NULL, members->gone[i]);
  gab_json_close(json);
}

static void put_files(gab_json *json, const gab_manifest *manifest)
{
  gab_json_list(json, "files");
  for (size_t i = 0; i < manifest->file_count; i++) {
    const gab_manifest_file *file = &manifest->files[i];
    gab_json_object(json, NULL);
    gab_json_text(json, "name", file->name);
    gab_json_uint(json, "bytes", file->bytes);
    gab_json_format(json, "digest", "%016" PRIx64, file->digest);
    gab_json_close(json);
  }
  gab_json_close(json);
}

/* The hash at the end is that of the text before it. */
gab_status gab_manifest_format(const gab_manifest *manifest, gab_buffer *text)
{
  const size_t start = text->size;
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_text(json, "what", "gabion checkpoint");
  gab_json_int(json, "format", manifest->format);
  gab_json_text(json, "program", manifest->program);
  gab_json_text(json, "scheme", manifest->scheme);
  gab_json_int(json, "step", manifest->step);
  gab_json_uint(json, "serial", manifest->serial);
  gab_json_uint(json, "epoch", manifest->epoch);
  gab_json_rounded(json, "written", manifest->written, 3);
  gab_json_rounded(json, "seconds", manifest->seconds, 6);
  gab_json_uint(json, "blocks", manifest->blocks);
  gab_json_int(json, "group", manifest->group);
  put_members(json, gab_disk_names_of(manifest->format), &manifest->members);
  put_files(json, manifest);
  put_lines(json, "state", &manifest->state);
  put_lines(json, "parameters", &manifest->parameters);
  GAB_TRY(gab_json_end(&json, text));
  text->size -= strlen("\n}\n");
  char tail[sizeof HASH_MEMBER + 32];
  const int length = snprintf(tail, sizeof tail, HASH_MEMBER "%016" PRIx64 "\"\n}\n",
                              gab_hash64(text->data + start, text->size - start, 0));
  return gab_put_bytes(text, tail, (size_t)length);
}

/* ---------------------------------------------------------------- reading */

/* The first failure is kept. */
typedef struct parsing {
  struct fy_node *root;
  const char *missing;
} parsing;

static const char *scalar(parsing *in, struct fy_node *node, const char *key)
{
  struct fy_node *found = node ? fy_node_mapping_lookup_by_string(node, key, strlen(key)) : NULL;
  const char *text = found && fy_node_is_scalar(found) ? fy_node_get_scalar0(found) : NULL;
  if (text) return text;
  if (!in->missing) in->missing = key;
  return "";
}

static uint64_t whole(parsing *in, struct fy_node *node, const char *key, int base)
{
  const char *text = scalar(in, node, key);
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, base);
  if ((end == text || *end || errno || text[0] == '-') && !in->missing) in->missing = key;
  return value;
}

static int32_t small(parsing *in, const char *key)
{
  uint64_t value = whole(in, in->root, key, 10);
  if (value > INT32_MAX && !in->missing) in->missing = key;
  return value > INT32_MAX ? 0 : (int32_t)value;
}

static struct fy_node *list(parsing *in, const char *key)
{
  struct fy_node *found = fy_node_mapping_lookup_by_string(in->root, key, strlen(key));
  if (found && fy_node_is_sequence(found)) return found;
  if (!in->missing) in->missing = key;
  return NULL;
}

static size_t count_of(struct fy_node *sequence)
{
  int count = sequence ? fy_node_sequence_item_count(sequence) : 0;
  return count > 0 ? (size_t)count : 0;
}

static gab_status read_lines(parsing *in, const char *key, gab_buffer *lines)
{
  struct fy_node *items = list(in, key), *item;
  void *at = NULL;
  while (items && (item = fy_node_sequence_iterate(items, &at))) {
    size_t length;
    const char *text = fy_node_get_scalar(item, &length);
    if (!text && !in->missing) in->missing = key;
    if (text) GAB_TRY(gab_put_bytes(lines, text, length));
    GAB_TRY(gab_put_bytes(lines, "\n", 1));
  }
  return GAB_OK;
}

static gab_status read_members(parsing *in, const gab_disk_names *names, gab_members *members)
{
  int32_t ranks = small(in, names->ranks);
  gab_members_init(members, ranks);
  struct fy_node *items = list(in, names->failed), *item;
  void *at = NULL;
  while (items && (item = fy_node_sequence_iterate(items, &at))) {
    const char *text = fy_node_get_scalar0(item);
    long failed = text ? strtol(text, NULL, 10) : -1;
    if (failed < 0 || failed >= ranks) in->missing = names->failed;
    else GAB_TRY(gab_members_remove(members, (gab_rank)failed));
  }
  return GAB_OK;
}

static gab_status read_files(parsing *in, gab_manifest *manifest)
{
  struct fy_node *items = list(in, "files");
  if (manifest->group < 1 || gab_members_count(&manifest->members) < 1) in->missing = "group";
  if (in->missing) return GAB_OK;
  GAB_TRY(gab_manifest_set_files(manifest));
  if (count_of(items) != manifest->file_count) {
    in->missing = "files";
    return GAB_OK;
  }
  void *at = NULL;
  for (size_t i = 0; i < manifest->file_count; i++) {
    struct fy_node *item = fy_node_sequence_iterate(items, &at);
    gab_manifest_file *file = &manifest->files[i];
    snprintf(file->name, sizeof file->name, "%.60s", scalar(in, item, "name"));
    if (strchr(file->name, '/')) in->missing = "name";
    file->bytes = whole(in, item, "bytes", 10);
    file->digest = whole(in, item, "digest", 16);
  }
  return GAB_OK;
}

static gab_status read_all(parsing *in, gab_manifest *manifest)
{
  snprintf(manifest->program, sizeof manifest->program, "%.60s", scalar(in, in->root, "program"));
  snprintf(manifest->scheme, sizeof manifest->scheme, "%.60s", scalar(in, in->root, "scheme"));
  manifest->step = (gab_step)whole(in, in->root, "step", 10);
  manifest->serial = whole(in, in->root, "serial", 10);
  manifest->epoch = whole(in, in->root, "epoch", 10);
  manifest->blocks = whole(in, in->root, "blocks", 10);
  manifest->written = strtod(scalar(in, in->root, "written"), NULL);
  manifest->seconds = strtod(scalar(in, in->root, "seconds"), NULL);
  manifest->group = small(in, "group");
  GAB_TRY(read_members(in, gab_disk_names_of(manifest->format), &manifest->members));
  GAB_TRY(read_files(in, manifest));
  GAB_TRY(read_lines(in, "state", &manifest->state));
  return read_lines(in, "parameters", &manifest->parameters);
}

static bool has_its_hash(const char *text, size_t length)
{
  const size_t tail = strlen(HASH_MEMBER) + 16 + strlen("\"\n}\n");
  char expected[64];
  if (length < tail) return false;
  snprintf(expected, sizeof expected, HASH_MEMBER "%016" PRIx64 "\"\n}\n",
           gab_hash64(text, length - tail, 0));
  return memcmp(text + length - tail, expected, tail) == 0;
}

static gab_status parse(const char *name, struct fy_document *document, gab_manifest *manifest)
{
  parsing in = {.root = fy_document_root(document)};
  if (!in.root || !fy_node_is_mapping(in.root)) GAB_FAIL(GAB_ERR_CORRUPT, "%s is not a manifest", name);
  if (strcmp(scalar(&in, in.root, "what"), "gabion checkpoint") != 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "%s is not the manifest of a checkpoint", name);
  manifest->format = small(&in, "format");
  if (in.missing) GAB_FAIL(GAB_ERR_CORRUPT, "%s: `%s' is missing or wrong", name, in.missing);
  GAB_TRY(gab_checkpoint_format_check(name, manifest->format, scalar(&in, in.root, "program")));
  GAB_TRY(read_all(&in, manifest)); /* by the names of that format */
  if (in.missing) GAB_FAIL(GAB_ERR_CORRUPT, "%s: `%s' is missing or wrong", name, in.missing);
  return GAB_OK;
}

gab_status gab_manifest_parse(const char *name, const char *text, size_t length, gab_manifest *manifest)
{
  const struct fy_parse_cfg settings = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2};
  if (!has_its_hash(text, length))
    GAB_FAIL(GAB_ERR_CORRUPT, "%s is cut or was changed: it does not match the hash at its end", name);
  struct fy_document *document = fy_document_build_from_string(&settings, text, length);
  if (!document) GAB_FAIL(GAB_ERR_CORRUPT, "%s is not valid JSON", name);
  gab_status status = parse(name, document, manifest);
  fy_document_destroy(document);
  return status;
}

/* What is not there, or no file, is no fault of the user here. */
static gab_status read_file(const char *path, gab_buffer *text)
{
  const size_t largest = (size_t)1 << 30;
  char message[1024];
  gab_status status = gab_file_read(path, largest, text);
  if (status != GAB_ERR_INPUT) return status;
  snprintf(message, sizeof message, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_IO, "%s", message);
}

gab_status gab_manifest_read(const char *folder, gab_manifest *manifest)
{
  char path[4200];
  gab_buffer text = {0};
  snprintf(path, sizeof path, "%.4000s/manifest.json", folder);
  gab_status status = read_file(path, &text);
  if (status == GAB_OK) status = gab_manifest_parse(path, (const char *)text.data, text.size, manifest);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_manifest_check_files(const gab_manifest *manifest, const char *folder)
{
  for (size_t i = 0; i < manifest->file_count; i++) {
    const gab_manifest_file *file = &manifest->files[i];
    char path[4200];
    struct stat info;
    snprintf(path, sizeof path, "%.4000s/%s", folder, file->name);
    if (stat(path, &info) != 0) GAB_FAIL(GAB_ERR_CORRUPT, "%s: %s", path, strerror(errno));
    if ((uint64_t)info.st_size != file->bytes)
      GAB_FAIL(GAB_ERR_CORRUPT, "%s has %lld bytes, it should have %" PRIu64, path, (long long)info.st_size,
               file->bytes);
  }
  return GAB_OK;
}

/* ---------------------------------------------------------------- comparing */

/* A line "key = value", as views. */
typedef struct setting {
  const char *key, *value;
  int key_length, value_length;
} setting;

static bool next_setting(const gab_buffer *lines, size_t *at, setting *found)
{
  if (*at >= lines->size) return false;
  const char *line = (const char *)lines->data + *at, *end = memchr(line, '\n', lines->size - *at);
  size_t length = end ? (size_t)(end - line) : lines->size - *at, key = 0;
  while (key < length && line[key] != ' ' && line[key] != '=') key++;
  size_t value = key;
  while (value < length && (line[value] == ' ' || line[value] == '=')) value++;
  *found = (setting){line, line + value, (int)key, (int)(length - value)};
  *at += length + 1;
  return true;
}

static int compare_keys(const setting *a, const setting *b)
{
  int least = a->key_length < b->key_length ? a->key_length : b->key_length;
  int order = strncmp(a->key, b->key, (size_t)least);
  return order ? order : a->key_length - b->key_length;
}

static void describe_difference(gab_buffer *out, const setting *theirs, const setting *mine)
{
  const setting *any = theirs ? theirs : mine;
  char line[640];
  int length = snprintf(line, sizeof line, "  %.*s: %.*s in the checkpoint, %.*s now\n",
                        any->key_length < 128 ? any->key_length : 128, any->key,
                        theirs ? (theirs->value_length < 200 ? theirs->value_length : 200) : 7,
                        theirs ? theirs->value : "nothing",
                        mine ? (mine->value_length < 200 ? mine->value_length : 200) : 7,
                        mine ? mine->value : "nothing");
  if (gab_put_bytes(out, line, (size_t)length) != GAB_OK) gab_error_clear(); /* one line fewer to read */
}

static bool is_no_difference(bool (*is_new)(const void *user, const char *key), const void *user,
                             const setting *mine)
{
  char key[256];
  if (!is_new || mine->key_length >= (int)sizeof key) return false;
  snprintf(key, sizeof key, "%.*s", mine->key_length, mine->key);
  return is_new(user, key);
}

size_t gab_manifest_compare(const gab_buffer *theirs, const gab_buffer *mine,
                            bool (*is_new)(const void *user, const char *key), const void *user,
                            gab_buffer *differences)
{
  size_t at = 0, here = 0, count = 0;
  setting a, b;
  bool has_a = next_setting(theirs, &at, &a), has_b = next_setting(mine, &here, &b);
  while (has_a || has_b) {
    int order = !has_a ? 1 : !has_b ? -1 : compare_keys(&a, &b);
    bool same = order == 0 && a.value_length == b.value_length &&
                strncmp(a.value, b.value, (size_t)a.value_length) == 0;
    if (order > 0 && !same) same = is_no_difference(is_new, user, &b);
    if (!same) {
      describe_difference(differences, order <= 0 ? &a : NULL, order >= 0 ? &b : NULL);
      count++;
    }
    if (order <= 0) has_a = next_setting(theirs, &at, &a);
    if (order >= 0) has_b = next_setting(mine, &here, &b);
  }
  return count;
}
