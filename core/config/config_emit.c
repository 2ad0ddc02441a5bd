/* Texts in quotes through the emitter of the YAML library. */
#include "core/config/config_impl.h"

#include <libfyaml.h>
#include <stdlib.h>

/* A text that went through the parser, which has to live until the emitter is done. */
struct config_kept {
  struct config_kept *next;
  struct fy_parser *parser;
  char quoted[];
};

void gab_config_kept_release(config_kept **kept)
{
  for (config_kept *next, *old = *kept; old; old = next) {
    next = old->next;
    if (old->parser) fy_parser_destroy(old->parser);
    free(old);
  }
  *kept = NULL;
}

static bool has_blank_ends(const char *text, size_t length)
{
  if (length == 0 || (text[0] != ' ' && text[length - 1] != ' ')) return false;
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)text[i] < 0x20 || text[i] == 0x7F) return false;
  return true;
}

/* libfyaml 0.7.12 drops blanks at the ends of a text that it is given without quotes: so the library reads
 * such a text in quotes first. Single ones, within which nothing is special but themselves (and ends of
 * lines, in a text with which blanks are kept anyway). */
static bool emit_with_blanks(struct fy_emitter *emitter, config_kept **kept, const char *text, size_t length)
{
  size_t used = 0;
  config_kept *made = malloc(sizeof *made + 2 * length + 3);
  if (!made) return false;
  made->quoted[used++] = '\'';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\'') made->quoted[used++] = '\'';
    made->quoted[used++] = text[i];
  }
  made->quoted[used++] = '\'';
  const struct fy_parse_cfg quiet = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2};
  made->parser = fy_parser_create(&quiet);
  made->next = *kept;
  *kept = made;
  struct fy_event *event = NULL;
  if (made->parser && fy_parser_set_string(made->parser, made->quoted, used) == 0)
    while ((event = fy_parser_parse(made->parser)) && event->type != FYET_SCALAR)
      fy_parser_event_free(made->parser, event);
  return event && fy_emit_event_from_parser(emitter, made->parser, event) == 0;
}

bool gab_config_emit_quoted(struct fy_emitter *emitter, config_kept **kept, const char *text, size_t length)
{
  if (has_blank_ends(text, length)) return emit_with_blanks(emitter, kept, text, length);
  struct fy_event *event =
      fy_emit_event_create(emitter, FYET_SCALAR, FYSS_DOUBLE_QUOTED, text, length, NULL, NULL);
  return event && fy_emit_event(emitter, event) == 0;
}
