/* A library: y += a x, compiled to whatever the compiler likes; 2 n flop. */
void axpy(long n, double a, const double *x, double *y) {
    for (long i = 0; i < n; i++) y[i] += a * x[i];
}
