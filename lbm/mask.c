#include "lbm/shapes_impl.h"

#include "core/memory.h"

#ifdef GAB_HAVE_PNG
#include <png.h>

enum { DARKER_THAN = 128, MOST_PIXELS_PER_SIDE = 65536 };

gab_status gab_mask_read(const char *path, gab_mask *mask)
{
  *mask = (gab_mask){0};
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&image, path))
    GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: %s", path, image.message);
  image.format = PNG_FORMAT_GRAY;
  if (image.width > MOST_PIXELS_PER_SIDE || image.height > MOST_PIXELS_PER_SIDE) {
    png_image_free(&image);
    GAB_FAIL(GAB_ERR_INPUT, "picture %s has %u x %u pixels, more than %d along a side", path, image.width,
             image.height, MOST_PIXELS_PER_SIDE);
  }
  size_t count = PNG_IMAGE_SIZE(image);
  void *pixels;
  gab_status status = gab_alloc(count, GAB_MEMORY_OTHER, &pixels);
  if (status != GAB_OK) {
    png_image_free(&image);
    return status;
  }
  png_color white = {255, 255, 255}; /* behind transparent pixels */
  if (!png_image_finish_read(&image, &white, pixels, 0, NULL)) {
    gab_free(&pixels);
    GAB_FAIL(GAB_ERR_INPUT, "picture %s is damaged: %s", path, image.message);
  }
  mask->dark = pixels;
  mask->width = (int)image.width;
  mask->height = (int)image.height;
  for (size_t i = 0; i < count; ++i) mask->dark[i] = mask->dark[i] < DARKER_THAN;
  return GAB_OK;
}
#else
gab_status gab_mask_read(const char *path, gab_mask *mask)
{
  *mask = (gab_mask){0};
  GAB_FAIL(GAB_ERR_INPUT, "picture %s cannot be read: Gabion was built without libpng", path);
}
#endif

void gab_mask_release(gab_mask *mask)
{
  gab_free(&mask->dark);
  *mask = (gab_mask){0};
}
