# SPDX-License-Identifier: Apache-2.0
# Compares the centre lines of a cavity run with Ghia, Ghia & Shin 1982, tables I and II, and at Re 1000 with the
# spectral solution of Botella & Peyret 1998, tables 9 and 10, at the same points.
# Variables: n (points along an edge, one per finest cell), re (100 or 1000), base (width of a cell of level 0; n
# cells of one level if left out). Input: probes.csv of the cavity cases, last row; with several levels, levels too.
BEGIN {
  FS = ","
  if (!base) base = 1 / n
  # y; u(0.5, y) at Re 100 and 1000 by Ghia et al., at Re 1000 by Botella & Peyret
  u_table = "0.9766  0.84123  0.65928  0.6644227   0.9688  0.78871  0.57492  0.5808359   " \
            "0.9609  0.73722  0.51117  0.5169277   0.9531  0.68717  0.46604  0.4723329   " \
            "0.8516  0.23151  0.33304  0.3372212   0.7344  0.00332  0.18719  0.1886747   " \
            "0.6172 -0.13641  0.05702  0.0570178   0.5000 -0.20581 -0.06080 -0.0620561   " \
            "0.4531 -0.21090 -0.10648 -0.1081999   0.2813 -0.15662 -0.27805 -0.2803696   " \
            "0.1719 -0.10150 -0.38289 -0.3885691   0.1016 -0.06434 -0.29730 -0.3004561   " \
            "0.0703 -0.04775 -0.22220 -0.2228955   0.0625 -0.04192 -0.20196 -0.2023300   " \
            "0.0547 -0.03717 -0.18109 -0.1812881"
  # x; v(x, 0.5) likewise
  v_table = "0.9688 -0.05906 -0.21388 -0.2279225   0.9609 -0.07391 -0.27669 -0.2936869   " \
            "0.9531 -0.08864 -0.33714 -0.3553213   0.9453 -0.10313 -0.39188 -0.4103754   " \
            "0.9063 -0.16914 -0.51550 -0.5264392   0.8594 -0.22445 -0.42665 -0.4264545   " \
            "0.8047 -0.24533 -0.31966 -0.3202137   0.5000  0.05454  0.02526  0.0257995   " \
            "0.2344  0.17527  0.32235  0.3253592   0.2266  0.17507  0.33075  0.3339924   " \
            "0.1563  0.16077  0.37095  0.3769189   0.0938  0.12317  0.32627  0.3330442   " \
            "0.0781  0.10890  0.30353  0.3099097   0.0703  0.10091  0.29012  0.2962703   " \
            "0.0625  0.09233  0.27485  0.2807056"
}
NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
END {
  compare("u", u_table, "left", "right", "x")
  compare("v", v_table, "below", "above", "y")
  printf "rms %.5f\nmost %.5f\nspectral %.5f\n", sqrt(squares / points), most, most_spectral
}
function centre(line1, line2, component, cell) {
  return ($column[line1 cell ".velocity." component] + $column[line2 cell ".velocity." component]) / 2
}
# Where the value of a line is: the centre of the cell around the point.
function place(line, cell,   width) {
  width = base / 2 ^ ((line cell ".level") in column ? $column[line cell ".level"] : 0)
  return (int((cell + 0.5) / n / width) + 0.5) * width
}
# The value between two cell centres, linearly.
function value_at(line1, line2, component, at,   low, high, share) {
  for (low = int(at * n); place(line1, low) > at; low--);
  for (high = low; place(line1, high) <= at; high++);
  for (low = high; place(line1, low) > at; low--);
  share = (at - place(line1, low)) / (place(line1, high) - place(line1, low))
  return (1 - share) * centre(line1, line2, component, low) + share * centre(line1, line2, component, high)
}
function size(x) { return x < 0 ? -x : x }
function compare(name, table, line1, line2, component,   row, count, i, got, d) {
  count = split(table, row, / +/)
  for (i = 1; i + 3 <= count; i += 4) {
    got = value_at(line1, line2, component, row[i])
    d = got - row[re == 1000 ? i + 2 : i + 1]
    printf "%s(%.4f)  got %9.5f  expected %9.5f  difference %8.5f", name, row[i], got, got - d, d
    if (re == 1000) printf "   spectral %9.5f  difference %8.5f", row[i + 3], got - row[i + 3]
    printf "\n"
    squares += d * d; points++
    if (size(d) > most) most = size(d)
    if (re == 1000 && size(got - row[i + 3]) > most_spectral) most_spectral = size(got - row[i + 3])
  }
}
