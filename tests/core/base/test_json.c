/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* gabion-test: labels=quick */

static char *ended(gab_json **json)
{
  gab_buffer text = {0};
  assert_int_equal(gab_json_end(json, &text), GAB_OK);
  assert_null(*json);
  assert_int_equal(gab_put_bytes(&text, "", 1), GAB_OK);
  char *copy = strdup((const char *)text.data);
  gab_buffer_release(&text);
  return copy;
}

static void is(gab_json **json, const char *expected)
{
  char *text = ended(json);
  assert_string_equal(text, expected);
  free(text);
}

static void members_and_lists_of_a_line(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "event", "recovery");
  gab_json_list(json, "lost");
  gab_json_int(json, NULL, -3);
  gab_json_uint(json, NULL, UINT64_MAX);
  gab_json_close(json);
  gab_json_object(json, "of");
  gab_json_bool(json, "yes", true);
  gab_json_null(json, "none");
  gab_json_close(json);
  gab_json_list(json, "empty");
  gab_json_close(json);
  gab_json_format(json, "checksum", "%016x", 255);
  is(&json, "{\"event\": \"recovery\", \"lost\": [-3, 18446744073709551615], \"of\": {\"yes\": true, "
            "\"none\": null}, "
            "\"empty\": [], \"checksum\": \"00000000000000ff\"}\n");
}

static void strings_that_look_like_something_else(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "a", "true");
  gab_json_text(json, "b", "12.5");
  gab_json_text(json, "c", "");
  gab_json_text(json, "d", "a: b # c, - [x] {y} 'z'");
  gab_json_text(json, "e", "  x ");
  gab_json_text(json, "f", "   ");
  gab_json_text(json, "g", " it's \"z\" \\ ");
  gab_json_text(json, " h", "\n ");
  gab_json_text(json, "null", "~");
  is(&json,
     "{\"a\": \"true\", \"b\": \"12.5\", \"c\": \"\", \"d\": \"a: b # c, - [x] {y} 'z'\", \"e\": \"  x \", "
     "\"f\": \"   \", \"g\": \" it's \\\"z\\\" \\\\ \", \" h\": \"\\n \", \"null\": \"~\"}\n");
}

static void quotes_controls_and_letters_are_escaped(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "path", "C:\\\"out\"");
  gab_json_text(json, "controls", "a\tb\nc\rd\x01\x1f");
  gab_json_text(json, "letters",
                "Gr\xc3\xb6\xc3\x9f"
                "e \xe4\xb8\xad");
  is(&json, "{\"path\": \"C:\\\\\\\"out\\\"\", \"controls\": \"a\\tb\\nc\\rd\\u0001\\u001F\", "
            "\"letters\": \"Gr\xc3\xb6\xc3\x9f"
            "e \xe4\xb8\xad\"}\n");
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "bad",
                "a\xff\xfe"
                "b\xc3");
  is(&json, "{\"bad\": \"a\xEF\xBF\xBD\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\"}\n");
}

static void numbers_are_json(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_real(json, "nan", NAN);
  gab_json_real(json, "inf", INFINITY);
  gab_json_real(json, "minus", -INFINITY);
  gab_json_real(json, "third", 1.0 / 3);
  gab_json_real(json, "whole", 5);
  gab_json_real(json, "small", 1.5e-300);
  gab_json_rounded(json, "seconds", 0.123456789, 3);
  gab_json_rounded(json, "never", NAN, 3);
  gab_json_rounded(json, "huge", 1e300, 3);
  is(&json, "{\"nan\": null, \"inf\": null, \"minus\": null, \"third\": 0.3333333333333333, \"whole\": 5, "
            "\"small\": 1.5e-300, \"seconds\": 0.123, \"never\": null, \"huge\": 1e+300}\n");
}

static void long_texts_stay_in_one_line(void **state)
{
  (void)state;
  char words[3001] = "";
  for (int i = 0; i < 1000; i++) memcpy(words + 3 * i, "ab ", 4);
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_text(json, "long", words);
  char *text = ended(&json);
  assert_non_null(strstr(text, words));
  free(text);
}

static void a_page_has_lines_for_people(void **state)
{
  (void)state;
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_text(json, "a", "x, {\"y\": [{}, {}]}, \\\"");
  gab_json_list(json, "numbers");
  gab_json_int(json, NULL, 1);
  gab_json_int(json, NULL, 2);
  gab_json_close(json);
  gab_json_list(json, "faults");
  for (int i = 0; i < 2; i++) {
    gab_json_object(json, NULL);
    gab_json_int(json, "step", i);
    gab_json_list(json, "lost");
    gab_json_close(json);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_json_object(json, "none");
  gab_json_close(json);
  is(&json, "{\n  \"a\": \"x, {\\\"y\\\": [{}, {}]}, \\\\\\\"\",\n  \"numbers\": [1, 2],\n  \"faults\": [\n"
            "    {\"step\": 0, \"lost\": []},\n    {\"step\": 1, \"lost\": []}\n  ],\n  \"none\": {}\n}\n");
  json = gab_json_begin(GAB_JSON_PAGE);
  is(&json, "{}\n");
}

static void misuse_is_told_at_the_end(void **state)
{
  (void)state;
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_LINE);
  gab_json_list(json, "open");
  assert_int_equal(gab_json_end(&json, &text), GAB_ERR_ARGUMENT);
  json = gab_json_begin(GAB_JSON_LINE);
  gab_json_int(json, NULL, 1);
  assert_int_equal(gab_json_end(&json, &text), GAB_ERR_ARGUMENT);
  json = gab_json_begin(GAB_JSON_LINE);
  gab_json_close(json);
  gab_json_close(json);
  assert_int_equal(gab_json_end(&json, &text), GAB_ERR_ARGUMENT);
  assert_int_equal(text.size, 0);
  json = NULL; /* no memory: nothing crashes */
  gab_json_int(json, "a", 1);
  assert_int_equal(gab_json_end(&json, &text), GAB_ERR_MEMORY);
  gab_buffer_release(&text);
}

static void what_was_written_is_read_back(void **state)
{
  (void)state;
  char word[64];
  const char *odd = "a \"b\" \\ \n \x02 \xc3\xb6: {[#";
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_text(json, "odd", odd);
  gab_json_object(json, "grid");
  gab_json_list(json, "levels");
  gab_json_int(json, NULL, 2);
  gab_json_int(json, NULL, 5);
  gab_json_close(json);
  gab_json_real(json, "dt", 1e-7);
  gab_json_close(json);
  char *text = ended(&json);
  gab_json_document *document = gab_json_read(text, strlen(text));
  free(text);
  assert_non_null(document);
  assert_string_equal(gab_json_get_text(document, "/odd", word, sizeof word), odd);
  assert_string_equal(gab_json_get_list(document, "/grid/levels", word, sizeof word), "2, 5");
  assert_true(gab_json_get_real(document, "/grid/dt") == 1e-7);
  assert_string_equal(gab_json_get_text(document, "/none", word, sizeof word), "");
  assert_int_equal(gab_json_get_int(document, "/none"), 0);
  gab_json_forget(&document);
  assert_null(gab_json_read("{\"a\": ", 6));
  assert_null(gab_json_read_file("/nowhere/at/all"));
}

static gab_status add_up(void *user, gab_json_document *item)
{
  uint64_t *sum = user, value;
  if (!gab_json_find_uint(item, "/bytes", 10, &value)) return GAB_ERR_CORRUPT;
  *sum += value;
  return GAB_OK;
}

static gab_status append_line(void *user, gab_json_document *item)
{
  GAB_TRY(gab_json_find_text(item, "", user));
  return gab_put_bytes(user, ";", 1);
}

static void items_of_a_list_are_documents(void **state)
{
  static const char text[] = "{\"files\": [{\"bytes\": 5}, {\"bytes\": 18446744073709551610}], \"lines\": "
                             "[\"a = 1\", \"\"], \"none\": [], \"odd\": [{\"bytes\": 1}, 3, {\"bytes\": 1}]}";
  (void)state;
  gab_json_document *document = gab_json_read(text, sizeof text - 1);
  assert_non_null(document);
  uint64_t sum = 0;
  assert_int_equal(gab_json_each(document, "files", add_up, &sum), GAB_OK);
  assert_true(sum == UINT64_MAX);
  gab_buffer lines = {0};
  assert_int_equal(gab_json_each(document, "/lines", append_line, &lines), GAB_OK);
  assert_int_equal(lines.size, 7);
  assert_memory_equal(lines.data, "a = 1;;", 7);
  gab_buffer_release(&lines);
  sum = 0;
  assert_int_equal(gab_json_each(document, "none", add_up, &sum), GAB_OK);
  assert_int_equal(gab_json_each(document, "odd", add_up, &sum), GAB_ERR_CORRUPT); /* ends at the second */
  assert_int_equal(sum, 1);
  assert_int_equal(gab_json_each(document, "absent", add_up, &sum), GAB_ERR_CORRUPT);
  assert_int_equal(gab_json_each(document, "files/0", add_up, &sum), GAB_ERR_CORRUPT);
  gab_json_forget(&document);
}

static gab_status append_number(void *user, const char *name, double value)
{
  char text[64];
  if (value == 99) GAB_FAIL(GAB_ERR_CORRUPT, "99");
  const int length = snprintf(text, sizeof text, "%s=%g;", name, value);
  return gab_put_bytes(user, text, (size_t)length);
}

static void numbers_are_visited_by_their_names(void **state)
{
  static const char text[] =
      "{\"a\": 1, \"results\": {\"bodies\": [{\"name\": \"rod\", \"force\": [1.5, -2]}, {\"cx\": 3}], "
      "\"text\": \"4\", \"none\": null, \"is\": true, \"deep\": {\"x\": 5e-3}}, \"bad\": [1, 99, 2]}";
  (void)state;
  gab_json_document *document = gab_json_read(text, sizeof text - 1);
  assert_non_null(document);
  gab_buffer out = {0};
  assert_int_equal(gab_json_each_number(document, "/results", append_number, &out), GAB_OK);
  assert_int_equal(gab_put_bytes(&out, "", 1), GAB_OK);
  assert_string_equal((const char *)out.data,
                      "bodies.rod.force.0=1.5;bodies.rod.force.1=-2;bodies.1.cx=3;deep.x=0.005;");
  gab_buffer_release(&out);
  assert_int_equal(gab_json_each_number(document, "/absent", append_number, &out), GAB_OK);
  assert_int_equal(out.size, 0);
  assert_int_equal(gab_json_each_number(document, "/a", append_number, &out),
                   GAB_OK); /* the value itself, without a name */
  assert_memory_equal(out.data, "=1;", 3);
  assert_int_equal(gab_json_each_number(document, "/bad", append_number, &out), GAB_ERR_CORRUPT);
  gab_buffer_release(&out);
  gab_json_forget(&document);
}

static void whole_numbers_are_found_or_not(void **state)
{
  static const char text[] =
      "{\"hex\": \"00ff\", \"most\": 18446744073709551615, \"beyond\": 18446744073709551616, "
      "\"minus\": -1, \"real\": 1.5, \"word\": \"abc\", \"blank\": \"\", \"list\": [1]}";
  static const char *const wrong[] = {"beyond", "minus", "real", "word", "blank", "list", "absent"};
  (void)state;
  uint64_t value;
  gab_json_document *document = gab_json_read(text, sizeof text - 1);
  assert_non_null(document);
  assert_true(gab_json_find_uint(document, "/hex", 16, &value) && value == 255);
  assert_true(gab_json_find_uint(document, "word", 16, &value) && value == 0xabc);
  assert_true(gab_json_find_uint(document, "most", 10, &value) && value == UINT64_MAX);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    value = 1;
    assert_false(gab_json_find_uint(document, wrong[i], 10, &value));
    assert_int_equal(value, 0);
  }
  gab_buffer out = {0};
  assert_int_equal(gab_json_find_text(document, "list", &out), GAB_ERR_CORRUPT);
  assert_int_equal(out.size, 0);
  gab_json_forget(&document);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_and_lists_of_a_line),
      cmocka_unit_test(strings_that_look_like_something_else),
      cmocka_unit_test(quotes_controls_and_letters_are_escaped),
      cmocka_unit_test(bytes_that_are_no_text_are_replaced),
      cmocka_unit_test(numbers_are_json),
      cmocka_unit_test(long_texts_stay_in_one_line),
      cmocka_unit_test(a_page_has_lines_for_people),
      cmocka_unit_test(misuse_is_told_at_the_end),
      cmocka_unit_test(what_was_written_is_read_back),
      cmocka_unit_test(items_of_a_list_are_documents),
      cmocka_unit_test(numbers_are_visited_by_their_names),
      cmocka_unit_test(whole_numbers_are_found_or_not),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
