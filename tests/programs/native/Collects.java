// Java: code made at run time, implicit checks for null, stack overflows, threads, a collector.
import java.util.*;
import java.util.stream.*;

public class Collects {
    static int[] nothing;
    static int depth;

    static int deep() { depth++; return deep() + 1; }

    static long work(long seed) {
        long sum = seed;
        for (int i = 0; i < 2000; i++) {
            sum = sum * 31 + (i % 3 == 0 ? Long.hashCode(sum) : i);
            if (i % 500 == 499) {
                try { sum += nothing[i]; } catch (NullPointerException e) { sum += 7; }
                try { sum += new int[3][i % 5].length / (i - i); }
                catch (ArithmeticException e) { sum += 9; }
            }
        }
        return sum;
    }

    public static void main(String[] arguments) throws Exception {
        long sum = 0;
        for (int i = 0; i < 3000; i++) sum = sum * 3 + work(i);
        System.out.println("work " + sum);
        for (int i = 0; i < 3; i++)
            try { deep(); } catch (StackOverflowError e) { sum++; }
        System.out.println(depth > 1000);
        List<Thread> threads = new ArrayList<>();
        long[] results = new long[4];
        for (int t = 0; t < 4; t++) {
            int which = t;
            threads.add(new Thread(() -> {
                for (int i = 0; i < 500; i++) results[which] += work(i * which) % 1000;
            }));
        }
        for (Thread one : threads) one.start();
        for (Thread one : threads) one.join();
        System.out.println(Arrays.toString(results));
        Map<String, Integer> words = new TreeMap<>();
        for (int i = 0; i < 200000; i++) words.merge("w" + i % 1000, i, Integer::sum);
        System.out.println(words.values().stream().mapToLong(i -> i).sum());
        System.gc();
        System.out.println(IntStream.range(0, 1000).parallel().mapToLong(i -> work(i) & 15).sum());
        System.exit(27);
    }
}
