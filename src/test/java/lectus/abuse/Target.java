package lectus.abuse;

import java.util.Map;
import java.util.TreeMap;

/** The attacked server, and its answers. */
public final class Target {
  private final int port;
  private final Map<Integer, Integer> statuses = new TreeMap<>();

  public Target(int port) {
    this.port = port;
  }

  public int port() {
    return port;
  }

  synchronized void count(int status) {
    statuses.merge(status, 1, Integer::sum);
  }

  /** Returns the number of answers by their status. */
  public synchronized Map<Integer, Integer> statuses() {
    return new TreeMap<>(statuses);
  }
}
