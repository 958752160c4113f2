package lectus.http.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import lectus.http.testing.Answer;
import lectus.http.testing.LectusServer;

/** The successive databases of one name, and what each held when it ended. */
final class Lives {
  private final LectusServer server;
  private final String name;
  private final List<SortedMap<String, SeenRow>> ended = new ArrayList<>();
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  Lives(LectusServer server, String name) {
    this.server = server;
    this.name = name;
    server.put("/" + name);
  }

  String name() {
    return name;
  }

  /** Runs while the database exists. */
  void whileAlive(Runnable write) {
    lock.readLock().lock();
    try {
      write.run();
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Deletes it while nobody writes, and creates it again; {@code between} runs meanwhile. */
  void startAnother(Runnable between) {
    lock.writeLock().lock();
    try {
      ended.add(content());
      server.delete("/" + name);
      between.run();
      server.put("/" + name);
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Replaces the shards of its changes, even while others write. */
  void reshard(int shards) {
    lock.readLock().lock();
    try {
      Answer answer = server.put("/" + name + "/_changes/_meta", "{\"shards\":" + shards + "}");
      assertThat(answer.status()).isEqualTo(202);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Returns the sequence of the last row, which resharding does not change. */
  String lastChange() {
    String newest = server.get("/" + name + "/_changes?descending=true&limit=1").body();
    return newest.contains("{\"seq\"") ? SeenRow.text(SeenRow.parse(newest), "last_seq") : "0";
  }

  /** Records the content of the last life; nobody writes any more. */
  void end() {
    ended.add(content());
  }

  /** Returns the changes by sequence. */
  private SortedMap<String, SeenRow> content() {
    SortedMap<String, SeenRow> rows = new TreeMap<>();
    for (String line : server.get("/" + name + "/_changes").body().split("\r?\n")) {
      if (line.startsWith("{\"seq\"")) {
        String json = line.endsWith(",") ? line.substring(0, line.length() - 1) : line;
        SeenRow row = SeenRow.of(SeenRow.parse(json));
        rows.put(row.seq(), row);
      }
    }
    return rows;
  }

  /**
   * Compares what one connection saw with the changes.
   *
   * @param since the position after which it read
   * @param upTo the position up to which it had seen everything
   */
  void check(List<SeenRow> seen, String since, String upTo, String connection) {
    Map<String, SeenRow> bySequence = new HashMap<>();
    String before = since;
    for (SeenRow row : seen) {
      assertThat(row.seq()).as("order: %s", connection).isGreaterThan(before);
      before = row.seq();
      bySequence.put(row.seq(), row);
    }
    assertThat(seen.stream().map(row -> row.id() + row.rev()).toList())
        .as("repeats: %s", connection)
        .doesNotHaveDuplicates();
    if (!seen.isEmpty()) {
      lifeOf(seen.get(0).seq())
          .forEach(
              (seq, row) -> {
                if (seq.compareTo(since) > 0 && seq.compareTo(upTo) <= 0) {
                  assertThat(bySequence.get(seq)).as("gap: %s", connection).isEqualTo(row);
                }
              });
    }
  }

  /** Sequences of later lives are higher. */
  private SortedMap<String, SeenRow> lifeOf(String seq) {
    for (SortedMap<String, SeenRow> life : ended) {
      if (!life.isEmpty() && life.lastKey().compareTo(seq) >= 0) {
        return life;
      }
    }
    throw new AssertionError("The row at " + seq + " is of no life of " + name);
  }
}
