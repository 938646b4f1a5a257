// Rust: panics that are caught, threads, closures, iterators, a global allocator, 128-bit numbers.
use std::collections::{BTreeMap, HashMap};
use std::panic;
use std::sync::{Arc, Mutex};
use std::thread;

fn mix(sum: u64, number: u64) -> u64 {
    sum.wrapping_mul(1099511628211).wrapping_add(number)
}

struct Counts<'a>(&'a Mutex<u64>, u64);
impl Drop for Counts<'_> {
    fn drop(&mut self) {
        if let Ok(mut sum) = self.0.lock() {
            *sum = mix(*sum, self.1);
        }
    }
}

#[inline(never)]
fn sometimes(i: u64, sum: &Mutex<u64>) -> u64 {
    let _counts = Counts(sum, i);
    match i % 7 {
        0 => panic!("number {}", i),
        1 => [1, 2, 3][(i % 4) as usize],
        2 => "12x".parse::<u64>().map_err(|e| e.to_string().len() as u64).unwrap_or_else(|n| n),
        3 => i / (i % 2),
        n => n * i,
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let sum = Mutex::new(1u64);
    for i in 0..2000u64 {
        let found = panic::catch_unwind(panic::AssertUnwindSafe(|| sometimes(i, &sum)));
        let mut sum = sum.lock().unwrap();
        *sum = mix(*sum, found.unwrap_or_else(|error| match error.downcast::<String>() {
            Ok(text) => text.len() as u64,
            Err(_) => 17,
        }));
    }
    println!("panics {:016x}", *sum.lock().unwrap());

    let total = Arc::new(Mutex::new(0u64));
    let threads: Vec<_> = (0..8u64)
        .map(|t| {
            let total = Arc::clone(&total);
            thread::spawn(move || {
                let own: u64 = (0..10000u64).filter(|i| i % (t + 2) == 0).map(|i| i * t).sum();
                *total.lock().unwrap() += own;
                if t == 5 { panic!("in a thread") }
                own
            })
        })
        .collect();
    let results: Vec<_> = threads.into_iter().map(|one| one.join().unwrap_or(3)).collect();
    println!("threads {:?} {}", results, total.lock().unwrap());

    let mut words = HashMap::new();
    for word in "the cat and the dog and the bird".split(' ') {
        *words.entry(word).or_insert(0u128) += 1u128 << 70;
    }
    println!("{:?}", words.into_iter().collect::<BTreeMap<_, _>>());
    let trace = std::backtrace::Backtrace::force_capture().to_string();
    println!("{}", trace.contains("main"));
    std::process::exit(if (1..50).map(|x| (x as f64).sqrt()).sum::<f64>() > 200.0 { 23 } else { 24 });
}
