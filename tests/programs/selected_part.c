/* A library of two functions: outer() calls inner(), which calls what it is given with 5. */
__attribute__((noinline)) void inner(void (*function)(long)) {
    function(2);
    function(3);
    __asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void outer(void (*function)(long)) {
    inner(function);
    __asm__ volatile("" ::: "memory");
}
