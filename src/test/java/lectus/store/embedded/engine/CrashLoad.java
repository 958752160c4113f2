package lectus.store.embedded.engine;

import static lectus.store.embedded.engine.Commits.bytes;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.MutationType;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import lectus.store.embedded.engine.CommitRequest.CommitReceipt;
import lectus.store.embedded.engine.StoreSnapshot.Cursor;

/**
 * Concurrent commits with redundant parts, from which the audit detects a transaction that is
 * stored in part, twice, or out of order.
 *
 * <pre>
 * a/{id}, b/{id}         one each for every transaction; id is "{writer}-{number}"
 * last/{writer}/{id}     the last transaction of a writer; it clears its predecessor
 * count                  how many transactions there are, kept by ADD
 * s/{versionstamp}       the id of the transaction
 * </pre>
 */
final class CrashLoad {
  private static final int WRITERS = 8;
  private static final byte[] ONE = {1, 0, 0, 0};

  /** Receives a writer's acknowledged commits. */
  interface Acknowledged {
    void accept(String id, CommitReceipt receipt);
  }

  private CrashLoad() {}

  /** Starts writers that run until {@code stop}. Ids begin with {@code run}. */
  static List<Thread> start(Engine engine, String run, BooleanSupplier stop, Acknowledged sink) {
    List<Thread> writers = new ArrayList<>();
    for (int writer = 0; writer < WRITERS; writer++) {
      String name = run + "." + writer;
      Thread thread = new Thread(() -> write(engine, name, stop, sink), "writer-" + name);
      thread.setDaemon(true);
      thread.start();
      writers.add(thread);
    }
    return writers;
  }

  private static void write(Engine engine, String writer, BooleanSupplier stop, Acknowledged sink) {
    for (int number = 0; !stop.getAsBoolean(); number++) {
      String id = String.format("%s-%07d", writer, number);
      sink.accept(id, transaction(writer, id).on(engine));
    }
  }

  static Commits transaction(String writer, String id) {
    byte[] stamped = new byte[16];
    stamped[0] = 's';
    stamped[1] = '/';
    stamped[12] = 2;
    return Commits.commit()
        .set("a/" + id, "")
        .clear("last/" + writer + "/", "last/" + writer + "0")
        .set("last/" + writer + "/" + id, "")
        .atomic(MutationType.ADD, bytes("count"), ONE)
        .atomic(MutationType.SET_VERSIONSTAMPED_KEY, stamped, bytes(id))
        .set("b/" + id, "");
  }

  /**
   * Checks that every transaction is stored as a whole or not at all.
   *
   * @return the ids of {@code acknowledged} that are missing
   */
  static Set<String> audit(Engine engine, Set<String> acknowledged) {
    try (StoreSnapshot snapshot = engine.latest()) {
      Set<String> found = ids(snapshot, "a/", "a0");
      assertThat(ids(snapshot, "b/", "b0")).isEqualTo(found);
      assertThat(count(snapshot)).isEqualTo(found.size());
      assertThat(stamped(snapshot)).hasSize(found.size());
      assertThat(new TreeSet<>(stamped(snapshot))).isEqualTo(found);
      assertThat(ids(snapshot, "last/", "last0"))
          .isEqualTo(
              found.stream()
                  .collect(
                      Collectors.groupingBy(CrashLoad::writer, Collectors.maxBy(String::compareTo)))
                  .entrySet()
                  .stream()
                  .map(entry -> entry.getKey() + "/" + entry.getValue().orElseThrow())
                  .collect(Collectors.toCollection(TreeSet::new)));
      Set<String> missing = new TreeSet<>(acknowledged);
      missing.removeAll(found);
      return missing;
    }
  }

  private static String writer(String id) {
    return id.substring(0, id.indexOf('-'));
  }

  private static Set<String> ids(StoreSnapshot snapshot, String begin, String end) {
    return Commits.rows(snapshot, begin, end).stream()
        .map(row -> row.substring(begin.length(), row.length() - 1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static int count(StoreSnapshot snapshot) {
    byte[] count = snapshot.get(bytes("count"));
    return count == null ? 0 : Integer.reverseBytes(new java.math.BigInteger(1, count).intValue());
  }

  private static List<String> stamped(StoreSnapshot snapshot) {
    List<String> ids = new ArrayList<>();
    try (Cursor cursor = snapshot.scan(bytes("s/"), bytes("s0"), false)) {
      while (cursor.next()) {
        ids.add(Commits.text(cursor.value()));
      }
    }
    return ids;
  }
}
