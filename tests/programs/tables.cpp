// A program with every kind of unwind and exception table: catches by type, by several types, of
// all, clean-ups, a list of types that may pass, switches, and functions reached by address.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct Base {
    virtual int value(int x) {
        if (x > 3) {
            throw std::runtime_error("more than three");
        }
        return x;
    }
    virtual ~Base() {}
};

struct Derived : Base {
    int value(int x) override {
        std::string text(x, 'a');
        try {
            return Base::value(x) + (int)text.size();
        } catch (std::logic_error &) {
            return -1;
        } catch (int) {
            return -2;
        }
    }
};

#if __cplusplus < 201703L
int listed(int x) throw(int, std::runtime_error) {
    Derived one;
    return one.value(x);
}
#else
int listed(int x) {
    Derived one;
    return one.value(x);
}
#endif

static int promised(int x) noexcept {
    return listed(x & 1);
}

__attribute__((noinline)) static int chosen(int x) {
    switch (x) {
    case 0: return 5;
    case 1: puts("a"); return 3;
    case 2: puts("b"); return 9;
    case 3: puts("c"); return 1;
    case 4: return promised(1);
    case 5: puts("d"); return 7;
    }
    return 0;
}

static int (*by_address[])(int) = {chosen, promised, listed};

int main(int argc, char **) {
    std::vector<std::string> words(argc);
    int sum = 0;
    try {
        sum = listed(argc + 5);
    } catch (...) {
        puts("caught");
        sum = by_address[argc % 3](argc);
    }
    for (auto &word : words) {
        word = "word";
        sum += (int)word.size();
    }
    printf("%d\n", sum);
    return 0;
}
