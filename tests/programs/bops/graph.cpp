// Breadth-first search with the standard library's containers.
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <vector>

int main(int argc, char **argv)
{
    const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
    std::vector<std::vector<int>> edges(n);
    unsigned seed = 3;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) {
            seed = seed * 1664525u + 1013904223u;
            edges[i].push_back((seed >> 4) % n);
        }
    std::vector<int> depth(n, -1);
    std::deque<int> next{0};
    depth[0] = 0;
    long sum = 0;
    while (!next.empty()) {
        const int at = next.front();
        next.pop_front();
        for (int to : edges[at])
            if (depth[to] < 0) {
                depth[to] = depth[at] + 1;
                sum += depth[to];
                next.push_back(to);
            }
    }
    std::printf("%ld\n", sum);
    return 0;
}
