(* OCaml: a collector that finds values on the stack by return addresses, and exceptions. *)
exception Found of int

type tree = Leaf | Node of tree * int * tree

let rec build depth value =
  if depth = 0 then Leaf else Node (build (depth - 1) (2 * value), value, build (depth - 1) (2 * value + 1))

let rec sum = function Leaf -> 0 | Node (l, v, r) -> sum l + v + sum r

let rec deep n kept =
  if n = 0 then (Gc.full_major (); List.length kept)
  else 1 + deep (n - 1) (string_of_int n :: kept)

let find n = try for i = 0 to 100 do if i * i > n then raise (Found i) done; -1 with Found i -> i

let () =
  for i = 1 to 10 do
    Printf.printf "%d %d %d\n" (sum (build 12 i)) (deep 2000 []) (find (i * 50))
  done;
  let table = Hashtbl.create 10 in
  for i = 0 to 50000 do Hashtbl.replace table (i mod 997) (Printf.sprintf "%d" i) done;
  (try ignore (Array.make 3 0).(5) with Invalid_argument text -> print_endline text);
  (try ignore (1 / (Hashtbl.length table - 997)) with Division_by_zero -> print_endline "divided");
  (let rec endless n = 1 + endless (n + 1) in
   try print_int (endless 0) with Stack_overflow -> print_endline "overflow");
  Printf.printf "%d\n" (Hashtbl.fold (fun _ text total -> total + String.length text) table 0);
  exit 13
