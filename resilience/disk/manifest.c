/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/disk/manifest_impl.h"

#include "core/system/file.h"
#include "core/base/checkpoint_format.h"
#include "core/base/hash.h"
#include "core/base/text/json.h"
#include "resilience/disk/disk_names_impl.h"

#include <errno.h>
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

/* A list with one string per line, for readability. */
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

/* The last member is the hash of the text before it. */
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

typedef struct parsing {
  gab_json_document *document;
  gab_manifest *manifest;
  const char *wrong; /* path of the first missing or wrong member; NULL: none */
  size_t files;      /* number of files read */
  gab_buffer *lines; /* of the list being read */
} parsing;

static void note(parsing *in, bool is_right, const char *path)
{
  if (!is_right && !in->wrong) in->wrong = path;
}

static uint64_t whole(parsing *in, const char *path)
{
  uint64_t value;
  note(in, gab_json_find_uint(in->document, path, 10, &value), path);
  return value;
}

static int32_t small(parsing *in, const char *path)
{
  const uint64_t value = whole(in, path);
  note(in, value <= INT32_MAX, path);
  return value <= INT32_MAX ? (int32_t)value : 0;
}

static void take_text(parsing *in, const char *path, char *text, size_t capacity)
{
  gab_json_get_text(in->document, path, text, capacity);
  note(in, text[0] != '\0', path);
}

/* A missing or wrong list is recorded; other failures are returned. */
static gab_status take_list(parsing *in, const char *path,
                            gab_status (*take)(void *user, gab_json_document *item))
{
  const gab_status status = gab_json_each(in->document, path, take, in);
  note(in, status != GAB_ERR_CORRUPT, path);
  return status == GAB_ERR_CORRUPT ? GAB_OK : status;
}

static gab_status take_line(void *user, gab_json_document *item)
{
  const parsing *in = user;
  GAB_TRY(gab_json_find_text(item, "", in->lines));
  return gab_put_bytes(in->lines, "\n", 1);
}

static gab_status take_failed(void *user, gab_json_document *item)
{
  parsing *in = user;
  gab_members *members = &in->manifest->members;
  uint64_t rank;
  if (!gab_json_find_uint(item, "", 10, &rank) || rank >= (uint64_t)members->ranks) return GAB_ERR_CORRUPT;
  return gab_members_remove(members, (gab_rank)rank);
}

static gab_status take_file(void *user, gab_json_document *item)
{
  parsing *in = user;
  if (in->files == in->manifest->file_count) return GAB_ERR_CORRUPT;
  gab_manifest_file *file = &in->manifest->files[in->files++];
  gab_json_get_text(item, "/name", file->name, sizeof file->name);
  const bool is_right = file->name[0] && !strchr(file->name, '/') &&
                        gab_json_find_uint(item, "/bytes", 10, &file->bytes) &&
                        gab_json_find_uint(item, "/digest", 16, &file->digest);
  return is_right ? GAB_OK : GAB_ERR_CORRUPT;
}

static gab_status take_members(parsing *in)
{
  const gab_disk_names *names = gab_disk_names_of(in->manifest->format);
  gab_members_init(&in->manifest->members, small(in, names->ranks));
  return take_list(in, names->failed, take_failed);
}

static gab_status take_files(parsing *in)
{
  gab_manifest *manifest = in->manifest;
  note(in, manifest->group >= 1 && gab_members_count(&manifest->members) >= 1, "group");
  if (in->wrong) return GAB_OK;
  GAB_TRY(gab_manifest_set_files(manifest));
  GAB_TRY(take_list(in, "files", take_file));
  note(in, in->files == manifest->file_count, "files");
  return GAB_OK;
}

static gab_status take_lines(parsing *in, const char *path, gab_buffer *lines)
{
  in->lines = lines;
  return take_list(in, path, take_line);
}

/* With the names of its format. */
static gab_status take_all(parsing *in)
{
  gab_manifest *manifest = in->manifest;
  take_text(in, "program", manifest->program, sizeof manifest->program);
  take_text(in, "scheme", manifest->scheme, sizeof manifest->scheme);
  manifest->step = (gab_step)whole(in, "step");
  manifest->serial = whole(in, "serial");
  manifest->epoch = whole(in, "epoch");
  manifest->blocks = whole(in, "blocks");
  manifest->written = gab_json_get_real(in->document, "written");
  manifest->seconds = gab_json_get_real(in->document, "seconds");
  manifest->group = small(in, "group");
  GAB_TRY(take_members(in));
  GAB_TRY(take_files(in));
  GAB_TRY(take_lines(in, "state", &manifest->state));
  return take_lines(in, "parameters", &manifest->parameters);
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

static gab_status parse(const char *name, gab_json_document *document, gab_manifest *manifest)
{
  parsing in = {.document = document, .manifest = manifest};
  char what[GAB_MANIFEST_NAME], program[GAB_MANIFEST_NAME];
  gab_json_get_text(document, "what", what, sizeof what);
  if (strcmp(what, "gabion checkpoint") != 0)
    GAB_FAIL(GAB_ERR_CORRUPT, "%s is not the manifest of a checkpoint", name);
  manifest->format = small(&in, "format");
  gab_json_get_text(document, "program", program, sizeof program);
  if (!in.wrong) GAB_TRY(gab_checkpoint_format_check(name, manifest->format, program));
  if (!in.wrong) GAB_TRY(take_all(&in));
  if (in.wrong) GAB_FAIL(GAB_ERR_CORRUPT, "%s: `%s' is missing or wrong", name, in.wrong);
  return GAB_OK;
}

gab_status gab_manifest_parse(const char *name, const char *text, size_t length, gab_manifest *manifest)
{
  if (!has_its_hash(text, length))
    GAB_FAIL(GAB_ERR_CORRUPT, "%s is cut or was changed: it does not match the hash at its end", name);
  gab_json_document *document = gab_json_read(text, length);
  if (!document) GAB_FAIL(GAB_ERR_CORRUPT, "%s is not valid JSON", name);
  const gab_status status = parse(name, document, manifest);
  gab_json_forget(&document);
  return status;
}

/* A missing file is not an error of the user here. */
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

static void describe_difference(gab_buffer *out, const char *place, const char *here, const setting *theirs,
                                const setting *mine)
{
  const setting *any = theirs ? theirs : mine;
  char line[640];
  int length = snprintf(
      line, sizeof line, "  %.*s: %.*s %s, %.*s %s\n", any->key_length < 128 ? any->key_length : 128,
      any->key, theirs ? (theirs->value_length < 200 ? theirs->value_length : 200) : 7,
      theirs ? theirs->value : "nothing", place,
      mine ? (mine->value_length < 200 ? mine->value_length : 200) : 7, mine ? mine->value : "nothing", here);
  if (gab_put_bytes(out, line, (size_t)length) != GAB_OK)
    gab_error_clear(); /* on failure the line is omitted */
}

static bool is_no_difference(bool (*is_new)(const void *user, const char *key), const void *user,
                             const setting *mine)
{
  char key[256];
  if (!is_new || mine->key_length >= (int)sizeof key) return false;
  snprintf(key, sizeof key, "%.*s", mine->key_length, mine->key);
  return is_new(user, key);
}

size_t gab_manifest_compare(const gab_buffer *theirs, const gab_buffer *mine, const char *place,
                            const char *now, bool (*is_new)(const void *user, const char *key),
                            const void *user, gab_buffer *differences)
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
      describe_difference(differences, place, now, order <= 0 ? &a : NULL, order >= 0 ? &b : NULL);
      count++;
    }
    if (order <= 0) has_a = next_setting(theirs, &at, &a);
    if (order >= 0) has_b = next_setting(mine, &here, &b);
  }
  return count;
}
