package lectus.account;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What waits, in a line for each client. The lines take turns, and if all of them together are full
 * the last of the longest one has to go; so one client that sends a flood keeps only himself
 * waiting. Thread-safe.
 */
final class FairQueues<T> {
  private final int most;

  /** None is empty; the one whose turn is next comes first. */
  private final Map<String, Deque<T>> lines = new LinkedHashMap<>();

  private int waiting;

  FairQueues(int most) {
    this.most = most;
  }

  /**
   * @return what is turned away for it, maybe itself; empty if there was room
   */
  synchronized Optional<T> add(String client, T newcomer) {
    lines.computeIfAbsent(client, first -> new ArrayDeque<>()).addLast(newcomer);
    if (waiting < most) {
      waiting++;
      return Optional.empty();
    }
    return Optional.of(removeLast(longest(client)));
  }

  /** Of lines that are equally long, the newcomer's. */
  private String longest(String newcomers) {
    String longest = newcomers;
    for (Map.Entry<String, Deque<T>> line : lines.entrySet()) {
      if (line.getValue().size() > lines.get(longest).size()) {
        longest = line.getKey();
      }
    }
    return longest;
  }

  private T removeLast(String client) {
    Deque<T> line = lines.get(client);
    T last = line.removeLast();
    if (line.isEmpty()) {
      lines.remove(client);
    }
    return last;
  }

  /** Returns whose turn it is, who waits no longer. */
  synchronized Optional<T> next() {
    Optional<String> client = lines.keySet().stream().findFirst();
    if (client.isEmpty()) {
      return Optional.empty();
    }
    Deque<T> line = lines.remove(client.get());
    T next = line.removeFirst();
    if (!line.isEmpty()) {
      lines.put(client.get(), line);
    }
    waiting--;
    return Optional.of(next);
  }
}
