// C++ with virtual calls, exceptions and containers, counted for its cost. usage: objects N REPEATS
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};
struct Square : Shape {
    explicit Square(double side) : side(side) {}
    double area() const override { return side * side; }
    double side;
};
struct Disc : Shape {
    explicit Disc(double radius) : radius(radius) {}
    double area() const override {
        if (radius > 0.99) throw std::domain_error("too large");
        return 3.14159265358979 * radius * radius;
    }
    double radius;
};

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    const long n = std::atol(argv[1]), repeats = std::atol(argv[2]);
    double sum = 0;
    long thrown = 0;
    unsigned seed = 1;
    std::map<std::string, long> names;
    for (long r = 0; r < repeats; r++) {
        std::vector<std::unique_ptr<Shape>> shapes;
        for (long i = 0; i < n; i++) {
            const double size = ((seed = seed * 1664525u + 1013904223u) >> 8) / 16777216.0;
            if (seed & 1 << 20) shapes.push_back(std::make_unique<Square>(size));
            else shapes.push_back(std::make_unique<Disc>(size));
            names["shape " + std::to_string(seed >> 24)]++;
        }
        for (const auto &shape : shapes) {
            try {
                sum += shape->area();
            } catch (const std::domain_error &) {
                thrown++;
            }
        }
        std::sort(shapes.begin(), shapes.end(),
                  [](const auto &a, const auto &b) { return a.get() < b.get(); });
    }
    std::printf("%.17g %ld %zu\n", sum, thrown, names.size());
    return 0;
}
