/* The loop of the paper's section 4.2.1. */
int main(void)
{
    long newClusterSize[100];
    int j;
    for (j = 0; j < 100; j++) {
        newClusterSize[j] = 0;
    }
    return 0;
}
