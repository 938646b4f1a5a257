// Go: goroutines whose stacks grow and move, a collector that walks them, and panics on faults.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
)

type tree struct {
	left, right *tree
	value       int
}

func build(depth, value int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{build(depth-1, value*2), build(depth-1, value*2+1), value}
}
func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.value + t.left.sum() + t.right.sum()
}
func deep(n int, room [64]byte) int {
	if n == 0 {
		runtime.GC()
		return int(room[3])
	}
	room[n%64]++
	return deep(n-1, room) + 1
}
func fails(t *tree) (result string) {
	defer func() { result = fmt.Sprint(recover()) }()
	return fmt.Sprint(t.value)
}

func main() {
	var group sync.WaitGroup
	results := make([]int, 16)
	for i := range results {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for j := 0; j < 5; j++ {
				results[i] += build(10, i).sum() + deep(500*(i+1), [64]byte{})
			}
		}(i)
	}
	group.Wait()
	debug.SetGCPercent(10)
	sort.Ints(results)
	fmt.Println(results)
	fmt.Println(fails(nil), fails(&tree{value: 4}))
	fmt.Println(strings.Contains(string(debug.Stack()), "main.main"), extra(5))
	os.Exit(19)
}
