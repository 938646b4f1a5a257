package main

func extra(n int) int { return n * 3 }
