/* SPDX-License-Identifier: Apache-2.0 */
/** @file expression.h
 *  @brief Formulas in parameter files: `"0.1 * sin(2 * pi * t / period)"`.
 *
 *  A formula is a function of variables, such as a position and a time, and of named constants. muParser evaluates it in double
 *  precision: operators + - * / ^, comparisons, && ||, `a ? b : c`; sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh
 *  atanh sqrt exp ln (log is the same) log2 log10 abs sign rint erf mod min max sum avg; the constants pi and e. Equal inputs give
 *  equal bits on all processes of a machine whose nodes have the same processors and the same C library.
 *  A plain number needs no muParser; a build without muParser refuses everything else.
 *
 *  Parameter files: a key of type ::GAB_CONFIG_EXPRESSION, gab_config_expression(), and the section `constants`.
 *
 *  Stability: stable.
 */
#ifndef GABION_CORE_EXPRESSION_H
#define GABION_CORE_EXPRESSION_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_EXPRESSION_MOST_VARIABLES = 20, GAB_EXPRESSION_LONGEST = 2048 };

/** A named number that a formula may use. */
typedef struct gab_expression_constant {
  const char *name;
  double value;
} gab_expression_constant;

typedef struct gab_expression gab_expression;

/** Reads a formula. Local; one thread at a time. @param[in] text  at most #GAB_EXPRESSION_LONGEST characters; copied
 * @param[in] variables  names separated by '|', "x|y|z|t", at most #GAB_EXPRESSION_MOST_VARIABLES; "" or NULL: none. Of a name with
 * parentheses, "flow_rate()", the formula has values by name, `flow_rate(outlet)`: gab_expression_named()
 * @param[in] constants  may be NULL @param[out] expression  owned by the caller @return ::GAB_ERR_INPUT with the character
 * and the reason, and, without muParser, for all but a plain number */
gab_status gab_expression_create(const char *text, const char *variables,
                                 const gab_expression_constant *constants, size_t constant_count,
                                 gab_expression **expression);
void gab_expression_destroy(gab_expression **expression);

/** Its value, which may be infinite or NaN: callers must check it. Pure; threads of one OpenMP team may call it
 * concurrently. @param[in] values  of the variables, in the order of their names (of those with parentheses without effect), then of
 * gab_expression_named() */
double gab_expression_at(const gab_expression *expression, const double *values);

/** Whether the variable of this index, from 0, occurs in it. */
bool gab_expression_uses(const gab_expression *expression, int variable);
/** A value by name, such as `flow_rate(outlet)`; each one is listed once. @param[in] index  from 0, in the order of their first
 * occurrence @param[out] variable  index of the variable with parentheses; may be NULL @return the text between the parentheses
 * without blanks around it; NULL behind the last */
const char *gab_expression_named(const gab_expression *expression, int index, int *variable);
/** Whether no variable occurs in it. */
bool gab_expression_is_constant(const gab_expression *expression);
/** Version of muParser in this build; NULL: none, and formulas are refused. */
const char *gab_expression_library(void);
/** The original text. */
const char *gab_expression_text(const gab_expression *expression);

#ifdef __cplusplus
}
#endif
#endif
