package main

// #include <stdlib.h>
// static int thrice(int n) { return n * 3; }
// extern int goBack(int);
// static int through(int n) { return goBack(n) + 1; }
import "C"

//export goBack
func goBack(n C.int) C.int { return n + C.int(deep(100, [64]byte{})) }

func extra(n int) int {
	sum := 0
	for i := 0; i < 1000; i++ {
		sum += int(C.through(C.thrice(C.int(n)))) & 1
	}
	return sum
}
