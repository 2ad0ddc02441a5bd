/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_canvas_impl.h"

#include <math.h>

/* Colours are chosen in OKLab (Björn Ottosson, 2020), where equal steps look equal, by lightness, chroma and
 * hue; where the screen cannot show one, it is made paler until it can. */

static bool to_linear_rgb(double lightness, double chroma, double degrees, double rgb[3])
{
  double hue = degrees * 3.14159265358979323846 / 180.0;
  double a = chroma * cos(hue), b = chroma * sin(hue);
  double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
  double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
  double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
  l = l * l * l;
  m = m * m * m;
  s = s * s * s;
  rgb[0] = 4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s;
  rgb[1] = -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s;
  rgb[2] = -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s;
  for (int i = 0; i < 3; i++) {
    if (rgb[i] < -1e-4 || rgb[i] > 1.0001) return false;
  }
  return true;
}

static unsigned char to_byte(double linear)
{
  double v = linear < 0 ? 0 : linear > 1 ? 1 : linear;
  v = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
  return (unsigned char)(v * 255 + 0.5);
}

static gab_rgb colour_of(double lightness, double chroma, double degrees)
{
  double rgb[3];
  while (!to_linear_rgb(lightness, chroma, degrees, rgb) && chroma > 0) chroma -= 0.002;
  return (gab_rgb){to_byte(rgb[0]), to_byte(rgb[1]), to_byte(rgb[2])};
}

void gab_colour_map(bool diverging, gab_rgb colours[256])
{
  for (int i = 0; i < 256; i++) {
    double t = i / 255.0;
    if (diverging) {
      double s = fabs(2 * t - 1);
      colours[i] = colour_of(0.97 - 0.55 * pow(s, 1.2), 0.20 * pow(s, 0.85), t < 0.5 ? 255 : 30);
    } else {
      /* Paler in the middle, since screens have no saturated blue-green and steps would be uneven. */
      double middle = sin(3.14159265358979323846 * t);
      double chroma = 0.118 - 0.035 * middle * middle + 0.072 * t * t * t;
      colours[i] = colour_of(0.24 + 0.70 * t, chroma, 292 - 186 * pow(t, 1.15));
    }
  }
}

gab_rgb gab_colour_of_number(int32_t number)
{
  /* Hues by the golden angle, in three rings of lightness. */
  static const double lightness[3] = {0.72, 0.60, 0.84};
  return colour_of(lightness[number % 3], 0.19, 25 + 137.50776405 * number);
}
