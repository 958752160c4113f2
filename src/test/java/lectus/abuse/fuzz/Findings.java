package lectus.abuse.fuzz;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Failures, one example of each kind, with how to reproduce it. */
final class Findings {
  private static final int MAX_KINDS = 40;

  private final Map<String, String> byKind = new TreeMap<>();
  private final Map<Integer, Integer> statuses = new TreeMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();
  private int cut;

  /**
   * @param kind what many have in common; they are reported once
   */
  synchronized void add(String kind, String example) {
    counts.merge(kind, 1, Integer::sum);
    byKind.putIfAbsent(kind, example);
  }

  /** Counts an answer, right or wrong. */
  synchronized void count(int status) {
    statuses.merge(status, 1, Integer::sum);
  }

  /** Counts an answer that was broken off. */
  synchronized void countCut() {
    cut++;
  }

  synchronized int cut() {
    return cut;
  }

  /** Returns how often each status came, which shows what the requests reached. */
  synchronized Map<Integer, Integer> statuses() {
    return new TreeMap<>(statuses);
  }

  synchronized boolean areMany() {
    return byKind.size() >= MAX_KINDS;
  }

  synchronized List<String> all() {
    return byKind.entrySet().stream()
        .map(
            each ->
                each.getKey()
                    + " ("
                    + counts.get(each.getKey())
                    + " times), such as: "
                    + each.getValue())
        .toList();
  }
}
