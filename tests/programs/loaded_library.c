/* 500 scalar additions of fp64 per call. */
double library_data[500];
double library_work(void) {
    double sum = 0;
    for (int i = 0; i < 500; i++) sum += library_data[i];
    return sum;
}
