package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import com.apple.foundationdb.async.AsyncIterable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.testing.TestDatabase;
import lectus.document.testing.WinnerRow;
import lectus.revision.OtherLeaves;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** RFC 001, "Summarizing the performance profile": keys read, there or not, and round trips. */
class ReadProfileTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private int documents = 1;

  private record Profile(int keys, int roundTrips) {}

  @AfterEach
  void audit() {
    db.audit(documents);
  }

  /** No edit branch, but whether the document is live and whether it is deleted. */
  @Test
  void new_document() {
    assertThat(profileOf(edit("a", null, "{}"))).isEqualTo(new Profile(2, 1));
  }

  @Test
  void new_document_over_a_tombstone() {
    db.delete("a", db.put("a", "{}"));

    assertThat(profileOf(edit("a", null, "{}"))).isEqualTo(new Profile(3, 2));
  }

  @Test
  void extending_the_winning_branch() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-e"), "{\"v\":1}")))
        .isEqualTo(new Profile(1, 1));
  }

  @Test
  void extending_a_losing_branch() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-b"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
  }

  @Test
  void extending_the_loser_of_two_branches() {
    branches("1-a", "9-b");

    assertThat(profileOf(edit("a", RevisionId.of("1-a"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
  }

  @ParameterizedTest(name = "{0} branches")
  @ValueSource(ints = {2, 3, 10, 1 + OtherLeaves.MOST})
  void extending_a_losing_branch_far_below_the_winner(int count) {
    manyBranches(count);

    assertThat(profileOf(edit("a", RevisionId.of("1-0"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
  }

  /** An unread branch may be the same revision: a third key tells. */
  @ParameterizedTest(name = "{0} branches")
  @ValueSource(ints = {2 + OtherLeaves.MOST, 70})
  void extending_a_losing_branch_of_more_than_the_winner_lists(int count) {
    manyBranches(count);

    assertThat(profileOf(edit("a", RevisionId.of("1-0"), "{\"v\":1}")))
        .isEqualTo(new Profile(3, 3));
  }

  /** The made revision, 2-a199d5e7df8166f7f8c58f6945c4dc12, has the CRC-32 of another leaf. */
  @Test
  void extending_a_losing_branch_where_another_leaf_has_the_fingerprint_of_the_revision() {
    branches("9-z", "1-0", "1-eegeagecgaeeaecaa");

    assertThat(profileOf(edit("a", RevisionId.of("1-0"), "{\"v\":1}")))
        .isEqualTo(new Profile(3, 3));
    assertThat(db.leaves("a"))
        .containsExactly("9-z", "2-a199d5e7df8166f7f8c58f6945c4dc12", "1-eegeagecgaeeaecaa");
  }

  /** Once, since the edit writes what it has read. */
  @Test
  void a_winner_that_lists_no_leaves_costs_a_read_of_all_branches_once() {
    manyBranches(10);
    WinnerRow.unlist(db, "a");

    assertThat(profileOf(edit("a", RevisionId.of("1-0"), "{\"v\":1}")))
        .isEqualTo(new Profile(12, 3));
    assertThat(profileOf(edit("a", RevisionId.of("1-1"), "{\"v\":1}")))
        .isEqualTo(new Profile(2, 2));
    WinnerRow.unlist(db, "a");
    assertThat(profileOf(edit("a", RevisionId.of("9-z"), "{\"v\":1}")))
        .isEqualTo(new Profile(1, 1));
    assertThat(profileOf(deletion("a", db.winner("a").leaf()))).isEqualTo(new Profile(12, 2));
    assertThat(profileOf(deletion("a", db.winner("a").leaf()))).isEqualTo(new Profile(2, 1));
  }

  @Test
  void extending_a_losing_branch_where_the_revision_is_there() {
    manyBranches(3);
    RevisionId child = elsewhere(edit("a", RevisionId.of("1-0"), "{\"v\":1}"));
    db.replicate("a", "{\"v\":1}", child.toString());

    assertThat(profileOf(edit("a", RevisionId.of("1-0"), "{\"v\":1}")).keys()).isGreaterThan(2);
  }

  @Test
  void deleting_the_winning_branch() {
    branches("1-a", "1-b");

    assertThat(profileOf(deletion("a", RevisionId.of("1-b")))).isEqualTo(new Profile(2, 1));
  }

  @Test
  void deleting_the_last_live_branch_above_tombstones() {
    branches("5-e");
    tombstones("1-a", "1-b", "1-c");

    assertThat(profileOf(deletion("a", RevisionId.of("5-e")))).isEqualTo(new Profile(2, 1));
  }

  @ParameterizedTest(name = "{0} branches")
  @ValueSource(ints = {2, 3, 10, 1 + OtherLeaves.MOST})
  void deleting_the_winning_one_of_many_branches(int count) {
    manyBranches(count);

    assertThat(profileOf(deletion("a", RevisionId.of("9-z")))).isEqualTo(new Profile(2, 1));
  }

  /** An unread branch may be the same tombstone: a third key tells. */
  @ParameterizedTest(name = "{0} branches")
  @ValueSource(ints = {2 + OtherLeaves.MOST, 70})
  void deleting_the_winning_one_of_more_than_it_lists(int count) {
    manyBranches(count);

    assertThat(profileOf(deletion("a", RevisionId.of("9-z")))).isEqualTo(new Profile(3, 2));
  }

  /** What an edit writes lists the leaves as what it read did. */
  @Test
  void edits_that_follow_each_other() {
    manyBranches(10);
    for (int i = 0; i < 4; i++) {
      assertThat(profileOf(edit("a", RevisionId.of("1-" + i), "{\"v\":1}")))
          .isEqualTo(new Profile(2, 2));
      RevisionId winner = db.winner("a").leaf();
      assertThat(profileOf(deletion("a", winner))).isEqualTo(new Profile(2, 1));
    }
  }

  @Test
  void deleting_the_only_branch() {
    RevisionId first = db.put("a", "{}");

    assertThat(profileOf(deletion("a", first))).isEqualTo(new Profile(1, 1));
  }

  /** It, the next in line, which is read in case that it wins, and the winner. */
  @Test
  void deleting_a_losing_branch() {
    branches("1-a", "1-b", "1-c");

    assertThat(profileOf(deletion("a", RevisionId.of("1-b")))).isEqualTo(new Profile(3, 2));
  }

  @Test
  void deleting_the_lowest_branch() {
    fiveBranches();

    assertThat(profileOf(deletion("a", RevisionId.of("1-a")))).isEqualTo(new Profile(2, 2));
  }

  @Test
  void replicated_revision() {
    fiveBranches();

    assertThat(profileOf(replicated("a", "{}", "2-f", "1-a"))).isEqualTo(new Profile(5, 1));
  }

  @Test
  void conflict() {
    fiveBranches();

    assertThat(profileOf(edit("a", RevisionId.of("1-x"), "{}"))).isEqualTo(new Profile(1, 1));
  }

  @Test
  void a_batch_takes_no_more_round_trips_than_one_edit() {
    fiveBranches();
    List<Edit> edits = new ArrayList<>();
    edits.add(edit("a", RevisionId.of("1-b"), "{\"v\":1}"));
    for (int i = 0; i < 100; i++) {
      edits.add(edit("new" + i, RevisionId.of("1-x"), "{}"));
      edits.add(replicated("other" + i, "{}", "2-f", "1-a"));
    }

    assertThat(profileOf(edits).roundTrips()).isEqualTo(2);
    documents = 101;
  }

  private static RevisionId elsewhere(InteractiveEdit edit) {
    return TestDatabase.written(
        TestDatabase.create(stores.fresh())
            .write(List.of(replicated("a", "{}", edit.base().orElseThrow().toString()), edit))
            .get(1));
  }

  /** All at the first position but for the winner. */
  private void manyBranches(int count) {
    branches("9-z");
    for (int i = 0; i < count - 1; i++) {
      branches("1-" + i);
    }
  }

  private void fiveBranches() {
    branches("1-a", "1-b", "1-c", "1-d", "1-e");
  }

  private void branches(String... leaves) {
    for (String leaf : leaves) {
      db.replicate("a", "{}", leaf);
    }
  }

  private void tombstones(String... leaves) {
    for (String leaf : leaves) {
      db.replicate("a", "{\"_deleted\":true}", leaf);
    }
  }

  private Profile profileOf(Edit edit) {
    return profileOf(List.of(edit));
  }

  private Profile profileOf(List<Edit> edits) {
    DocumentWriter writer = new DocumentWriter(db.store, db.catalogue);
    return db.transactions.run(
        tx -> {
          // The catalogue's snapshot read, the same for every transaction, is not counted.
          try (RoundTrips network = new RoundTrips(tx)) {
            new EditTransaction(
                    writer,
                    network.transaction(),
                    db.name,
                    EditGroup.of(edits, Long.MAX_VALUE),
                    false,
                    List.of())
                .write(EditTransaction.ahead(DocumentWriter.DOCUMENTS_AT_ONCE));
            return new Profile(network.keys(), network.trips());
          }
        });
  }

  /**
   * A transaction as if behind a network: reads are answered only once the thread that uses it
   * waits for one of them, and then all at once. So what it counts are round trips, and the keys
   * that were read: those asked for one by one, there or not, and those that ranges brought.
   */
  private static final class RoundTrips implements AutoCloseable {
    private static final byte SYSTEM = (byte) 0xff;

    private final Transaction inner;
    private final Thread user = Thread.currentThread();
    private final Queue<Runnable> asked = new ConcurrentLinkedQueue<>();
    private final Thread network = new Thread(this::answer, "network");
    private volatile boolean closed;
    private volatile int trips;
    private volatile int keys;

    RoundTrips(Transaction inner) {
      this.inner = inner;
      network.setDaemon(true);
      network.start();
    }

    /** Returns the same transaction, for the thread that created this object. */
    Transaction transaction() {
      return proxy(Transaction.class, (method, arguments) -> call(inner, method, arguments));
    }

    int trips() {
      return trips;
    }

    int keys() {
      return keys;
    }

    @Override
    public void close() {
      closed = true;
    }

    private void answer() {
      while (!closed) {
        if (asked.isEmpty() || user.getState() != Thread.State.WAITING) {
          Thread.onSpinWait();
          continue;
        }
        trips++;
        List<Runnable> together = new ArrayList<>();
        for (Runnable read = asked.poll(); read != null; read = asked.poll()) {
          together.add(read);
        }
        together.forEach(Runnable::run);
      }
    }

    private Object call(ReadTransaction target, Method method, Object[] arguments) {
      if (method.getName().equals("snapshot")) {
        ReadTransaction snapshot = inner.snapshot();
        return proxy(ReadTransaction.class, (its, values) -> call(snapshot, its, values));
      }
      // FoundationDB's metadata version comes with the read version.
      if (method.getName().equals("get") && ((byte[]) arguments[0])[0] != SYSTEM) {
        return later(
            () -> this.<CompletableFuture<byte[]>>call(method, target, arguments), value -> 1);
      }
      if (method.getName().equals("getRange")) {
        AsyncIterable<KeyValue> rows = call(method, target, arguments);
        return proxy(AsyncIterable.class, (itsMethod, none) -> onRows(itsMethod, rows));
      }
      return call(method, target, arguments);
    }

    private Object onRows(Method method, AsyncIterable<KeyValue> rows) {
      if (!method.getName().equals("asList")) {
        throw new UnsupportedOperationException(method.toString());
      }
      return later(rows::asList, List::size);
    }

    private <T> CompletableFuture<T> later(
        Supplier<CompletableFuture<T>> read, ToIntFunction<T> size) {
      CompletableFuture<T> answer = new CompletableFuture<>();
      asked.add(
          () -> {
            T value = read.get().join();
            keys += size.applyAsInt(value);
            answer.complete(value);
          });
      return answer;
    }

    private <T> T call(Method method, Object target, Object[] arguments) {
      try {
        @SuppressWarnings("unchecked")
        T result = (T) method.invoke(target, arguments);
        return result;
      } catch (IllegalAccessException | InvocationTargetException e) {
        throw new IllegalStateException(e);
      }
    }

    private interface Handler {
      Object call(Method method, Object[] arguments) throws Throwable;
    }

    private static <T> T proxy(Class<T> type, Handler handler) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (self, method, arguments) -> handler.call(method, arguments)));
    }
  }
}
