/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_canvas_impl.h"

#include <math.h>
#include <string.h>

/* A stroke font drawn for this file. A glyph is a list of strokes separated by blanks; a stroke is a list of
 * points, two hexadecimal digits each: x to the right, y upwards. The base line is at y = 3, capitals end at
 * c (12), small letters at 9, descenders at 0. A stroke that begins with ~ is a curve that its points guide
 * (a quadratic B-spline through the first and last), closed if both are the same. One point twice is a dot.
 */
static const char *const ascii[95] = {
    "",                                     /* space */
    "0c06 0303",                            /* ! */
    "0c0a 2c2a",                            /* " */
    "131c 535c 0969 0666",                  /* # */
    "~6a6c0c0867630305 3d32",               /* $ */
    "036c ~090c2c2909 ~4346666343",         /* % */
    "631a ~1a1c4c4a 4a05 ~05036368",        /* & */
    "0c0a",                                 /* ' */
    "~2d0c0322",                            /* ( */
    "~0d2c2302",                            /* ) */
    "2b25 0a46 4a06",                       /* * */
    "3a34 0767",                            /* + */
    "1402",                                 /* , */
    "0747",                                 /* - */
    "0303",                                 /* . */
    "025d",                                 /* / */
    "~030c6c6303",                          /* 0 */
    "1a3c33 1353",                          /* 1 */
    "~0a0c6c6803 0363",                     /* 2 */
    "~0b0c6c6828 ~2868630304",              /* 3 */
    "4c0666 4c43",                          /* 4 */
    "6c1c08 ~082969630304",                 /* 5 */
    "~0363690903 ~5c0c06",                  /* 6 */
    "0c6c23",                               /* 7 */
    "~181c5c5818 ~0308686303",              /* 8 */
    "~060c6c6606 ~696313",                  /* 9 */
    "0808 0303",                            /* : */
    "1818 1402",                            /* ; */
    "5a0754",                               /* < */
    "0969 0565",                            /* = */
    "0a5704",                               /* > */
    "~0a0c5c5826 2323",                     /* ? */
    "~2529494525 ~4945656c0c0363",          /* @ */
    "033c63 1656",                          /* A */
    "030c3c ~3c6c6838 0838 ~38686333 3303", /* B */
    "~6a6c0c036365",                        /* C */
    "030c2c ~2c6c6323 2303",                /* D */
    "6c0c0363 0848",                        /* E */
    "6c0c03 0848",                          /* F */
    "~6a6c0c036367 6737",                   /* G */
    "030c 636c 0868",                       /* H */
    "030c",                                 /* I */
    "4c46 ~46430305",                       /* J */
    "030c 6c07 2963",                       /* K */
    "0c0363",                               /* L */
    "030c376c63",                           /* M */
    "030c636c",                             /* N */
    "~030c6c6303",                          /* O */
    "030c3c ~3c6c6737 3707",                /* P */
    "~030c6c6303 4562",                     /* Q */
    "030c3c ~3c6c6737 3707 3763",           /* R */
    "~6a6c0c0867630305",                    /* S */
    "0c6c 3c33",                            /* T */
    "0c06 ~06036366 666c",                  /* U */
    "0c336c",                               /* V */
    "0c234a638c",                           /* W */
    "0c63 036c",                            /* X */
    "0c37 6c3733",                          /* Y */
    "0c6c0363",                             /* Z */
    "2d0d0222",                             /* [ */
    "0d52",                                 /* backslash */
    "0d2d2202",                             /* ] */
    "093c69",                               /* ^ */
    "0262",                                 /* _ */
    "0d1b",                                 /* ` */
    "~0309595303 5953",                     /* a */
    "0c03 ~0309595303",                     /* b */
    "~585909035354",                        /* c */
    "5c53 ~0309595303",                     /* d */
    "0656 ~565909035354",                   /* e */
    "~5c2c29 2923 0949",                    /* f */
    "~0309595303 5952 ~52500001",           /* g */
    "0c03 ~06095956 5653",                  /* h */
    "0309 0c0c",                            /* i */
    "1912 ~121000 1c1c",                    /* j */
    "0c03 4905 1653",                       /* k */
    "0c03",                                 /* l */
    "0903 ~06094946 4643 ~46498986 8683",   /* m */
    "0903 ~06095956 5653",                  /* n */
    "~0309595303",                          /* o */
    "0900 ~0309595303",                     /* p */
    "5950 ~0309595303",                     /* q */
    "0903 ~060939",                         /* r */
    "~5859090756530304",                    /* s */
    "1c15 ~151333 0939",                    /* t */
    "0906 ~06035356 5953",                  /* u */
    "092349",                               /* v */
    "0923486389",                           /* w */
    "0953 0359",                            /* x */
    "0923 4910",                            /* y */
    "09590353",                             /* z */
    "~3d1d1807 ~07161232",                  /* { */
    "0d02",                                 /* | */
    "~0d2d2837 ~37262202",                  /* } */
    "~0609366669",                          /* ~ */
};

/* Letters of units beyond ASCII (UTF-8, first byte 0xc2), by their second byte. */
static const struct {
  unsigned char byte;
  const char *strokes;
} units[] = {
    {0xb0, "~0a0c2c2a0a"},             /* degree */
    {0xb2, "~0b0d2d2b08 0838"},        /* squared */
    {0xb3, "~0c0d3d3b1b ~1b3b380809"}, /* cubed */
    {0xb5, "0900 ~05035356 5953"},     /* micro */
    {0xb7, "0707"},                    /* middle dot */
};

#define CAP_UNITS  9.0  /* height of a capital in units of the grid */
#define GAP_UNITS  2.4  /* between glyphs */
#define PEN_RADIUS 0.62 /* half the width of a stroke, in units */
#define MAX_POINTS 160  /* of a smoothed stroke */
#define MAX_GLYPH  96   /* pixels of a glyph's box in x and y */

static int hex(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

/* The next glyph of a text; advances *text. */
static const char *next_glyph(const char **text)
{
  const unsigned char *at = (const unsigned char *)*text;
  if (at[0] == 0xc2) {
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
      if (at[1] == units[i].byte) {
        *text += 2;
        return units[i].strokes;
      }
    }
  }
  *text += 1;
  if (at[0] < 128) return at[0] >= ' ' && at[0] <= '~' ? ascii[at[0] - ' '] : "";
  while (((unsigned char)**text & 0xc0) == 0x80) *text += 1; /* the rest of an unknown letter */
  return ascii['?' - ' '];
}

static double glyph_width(const char *strokes)
{
  if (!strokes[0]) return 2.0;
  int width = 0;
  for (const char *at = strokes; *at; at++) {
    if (*at == ' ' || *at == '~') continue;
    if (hex(at[0]) > width) width = hex(at[0]);
    at++;
  }
  return width;
}

typedef struct point {
  double x, y;
} point;

/* One round of Chaikin's corner cutting. */
static int cut_corners(const point *in, int count, bool closed, point *out)
{
  int made = 0;
  if (!closed) out[made++] = in[0];
  for (int i = 0; i + 1 < count; i++) {
    point a = in[i], b = in[i + 1];
    bool first = !closed && i == 0, last = !closed && i + 2 == count;
    if (!first) out[made++] = (point){0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y};
    if (!last) out[made++] = (point){0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y};
  }
  if (!closed) out[made++] = in[count - 1];
  else out[made++] = out[0];
  return made;
}

/* Reads the stroke at *strokes and advances behind it. @return number of points */
static int read_stroke(const char **strokes, point points[MAX_POINTS])
{
  const char *at = *strokes;
  point other[MAX_POINTS];
  int count = 0;
  bool curve = *at == '~';
  if (curve) at++;
  for (; *at && *at != ' '; at += 2) points[count++] = (point){hex(at[0]), hex(at[1])};
  while (*at == ' ') at++;
  *strokes = at;
  bool closed = points[0].x == points[count - 1].x && points[0].y == points[count - 1].y;
  for (int round = 0; curve && round < 4 && 2 * count + 2 <= MAX_POINTS; round++) {
    count = cut_corners(points, count, closed, other);
    memcpy(points, other, (size_t)count * sizeof(point));
  }
  return count;
}

static double distance(double x, double y, point a, point b)
{
  double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
  double t = length > 0 ? ((x - a.x) * dx + (y - a.y) * dy) / length : 0;
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/* Covers the pixels near one segment; pixels keep the strongest cover, so that strokes may cross. */
static void draw_segment(float *cover, int width, int height, point a, point b, double radius)
{
  int x0 = (int)floor(fmin(a.x, b.x) - radius - 1), x1 = (int)ceil(fmax(a.x, b.x) + radius + 1);
  int y0 = (int)floor(fmin(a.y, b.y) - radius - 1), y1 = (int)ceil(fmax(a.y, b.y) + radius + 1);
  for (int y = y0 < 0 ? 0 : y0; y <= y1 && y < height; y++) {
    for (int x = x0 < 0 ? 0 : x0; x <= x1 && x < width; x++) {
      double inside = 0.5 + radius - distance(x + 0.5, y + 0.5, a, b);
      float now = (float)(inside < 0 ? 0 : inside > 1 ? 1 : inside);
      if (now > cover[y * width + x]) cover[y * width + x] = now;
    }
  }
}

static void draw_glyph(gab_canvas *canvas, double x, double y, double scale, gab_rgb colour,
                       const char *strokes)
{
  float cover[MAX_GLYPH * MAX_GLYPH] = {0};
  point points[MAX_POINTS];
  double margin = 3;
  int left = (int)floor(x - margin), top = (int)floor(y - 10.5 * scale - margin);
  int width = (int)ceil(glyph_width(strokes) * scale + 2 * margin) + 1,
      height = (int)ceil(14 * scale + 2 * margin);
  if (width > MAX_GLYPH) width = MAX_GLYPH;
  if (height > MAX_GLYPH) height = MAX_GLYPH;
  while (*strokes) {
    int count = read_stroke(&strokes, points);
    for (int i = 0; i < count; i++) {
      points[i].x = x + points[i].x * scale - left;
      points[i].y = y - (points[i].y - 3) * scale - top;
    }
    bool dot = count == 2 && points[0].x == points[1].x && points[0].y == points[1].y;
    double radius = PEN_RADIUS * scale * (dot ? 1.35 : 1.0);
    for (int i = 0; i + 1 < count; i++) draw_segment(cover, width, height, points[i], points[i + 1], radius);
  }
  for (int j = 0; j < height; j++) {
    for (int i = 0; i < width; i++) {
      if (cover[j * width + i] > 0) gab_canvas_blend(canvas, left + i, top + j, colour, cover[j * width + i]);
    }
  }
}

double gab_canvas_text_width(double size, const char *text)
{
  double width = 0;
  while (*text) width += glyph_width(next_glyph(&text)) + GAP_UNITS;
  return width > 0 ? (width - GAP_UNITS) * size / CAP_UNITS : 0;
}

void gab_canvas_text(gab_canvas *canvas, double x, double y, double size, gab_text_anchor anchor,
                     gab_rgb colour, const char *text)
{
  double scale = size / CAP_UNITS;
  if (anchor != GAB_TEXT_LEFT)
    x -= gab_canvas_text_width(size, text) * (anchor == GAB_TEXT_RIGHT ? 1.0 : 0.5);
  while (*text) {
    const char *glyph = next_glyph(&text);
    draw_glyph(canvas, x, y, scale, colour, glyph);
    x += (glyph_width(glyph) + GAP_UNITS) * scale;
  }
}
