package lectus.document.write;

import static lectus.document.testing.TestDatabase.deletion;
import static lectus.document.testing.TestDatabase.edit;
import static lectus.document.testing.TestDatabase.replicated;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import lectus.audit.testing.SoundStore;
import lectus.document.edit.Edit;
import lectus.document.testing.TestDatabase;
import lectus.document.write.PendingCommits.WriteResult;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Many threads on few documents: nothing is lost, counted twice, or left over. */
class ConcurrentEditsTest {
  private static final int THREADS = 8;

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private interface Work {
    int run(int thread) throws Exception;
  }

  @Test
  void no_edit_of_a_contended_document_is_lost() throws Exception {
    int editsPerThread = 25;
    db.put("a", "{}");

    int written =
        inAllThreads(
            thread -> {
              int done = 0;
              while (done < editsPerThread) {
                RevisionId base = db.winner("a").leaf();
                String json = "{\"thread\":" + thread + ",\"edit\":" + done + "}";
                done += isWritten(db.write(edit("a", base, json))) ? 1 : 0;
              }
              return done;
            });

    assertThat(written).isEqualTo(THREADS * editsPerThread);
    assertThat(db.leaves("a")).hasSize(1);
    assertThat(db.winner("a").leaf().position()).isEqualTo(1 + written);
    assertThat(db.winner("a").ancestors().count()).isEqualTo(written);
    db.audit(1);
  }

  @Test
  void one_of_many_inserts_of_an_id_wins() throws Exception {
    int ids = 10;

    int written =
        inAllThreads(
            thread -> {
              int done = 0;
              for (int id = 0; id < ids; id++) {
                String json = "{\"thread\":" + thread + "}";
                done += isWritten(db.write(edit("id" + id, null, json))) ? 1 : 0;
              }
              return done;
            });

    assertThat(written).isEqualTo(ids);
    assertThat(db.changes()).hasSize(ids);
    db.audit(ids);
  }

  @Test
  void all_kinds_of_edits_at_once_leave_a_sound_database() throws Exception {
    List<String> ids = List.of("a", "b", "c");

    int written =
        inAllThreads(
            thread -> {
              Random random = new Random(thread);
              int done = 0;
              for (int i = 0; i < 40; i++) {
                done += isWritten(db.write(anyEdit(ids.get(random.nextInt(3)), random, i))) ? 1 : 0;
              }
              return done;
            });

    assertThat(written).isPositive();
    assertThat(db.changes()).hasSize(3);
    db.audit(3);
  }

  private Edit anyEdit(String id, Random random, int number) {
    List<EditBranch> live = db.branches(id).stream().filter(it -> !it.deleted()).toList();
    String json = "{\"n\":" + number + ",\"r\":" + random.nextInt() + "}";
    if (live.isEmpty()) {
      return edit(id, null, json);
    }
    RevisionId base = live.get(random.nextInt(live.size())).leaf();
    return switch (random.nextInt(3)) {
      case 0 -> deletion(id, base);
      case 1 -> replicated(id, json, number % 5 + 2 + "-" + random.nextInt(4), "1-root");
      default -> edit(id, base, json);
    };
  }

  @Test
  void batches_that_overlap_decide_every_document_once() throws Exception {
    int documents = 40;
    List<Edit> inserts =
        IntStream.range(0, documents).<Edit>mapToObj(i -> edit("d" + i, null, "{}")).toList();

    int written =
        inAllThreads(
            thread -> {
              List<Edit> mine = new ArrayList<>(inserts);
              Collections.shuffle(mine, new Random(thread));
              return (int) db.write(mine).stream().filter(ConcurrentEditsTest::isWritten).count();
            });

    assertThat(written).isEqualTo(documents);
    assertThat(db.statistics().documents()).isEqualTo(documents);
    db.audit(documents);
  }

  @Test
  void atomic_requests_are_stored_whole_or_not_at_all() throws Exception {
    int requestsPerThread = 10;
    db.put("a", "{}");
    db.put("b", "{}");

    int written =
        inAllThreads(
            thread -> {
              int done = 0;
              while (done < requestsPerThread) {
                done += editBoth(thread, done) ? 1 : 0;
              }
              return done;
            });

    assertThat(written).isEqualTo(THREADS * requestsPerThread);
    assertThat(db.winner("a").leaf().position()).isEqualTo(1 + written);
    assertThat(db.winner("b").path()).isEqualTo(db.winner("a").path());
    db.audit(2);
  }

  /**
   * Equal edits of documents with equal histories make equal revisions, unless one is made alone.
   */
  private boolean editBoth(int thread, int number) {
    RevisionId base = db.winner("a").leaf();
    String json = "{\"thread\":" + thread + ",\"edit\":" + number + "}";
    WriteResult result =
        db.writer.writeAtomically(db.name, List.of(edit("a", base, json), edit("b", base, json)));
    if (result.outcomes().stream().anyMatch(EditOutcome.Failed.class::isInstance)) {
      assertThat(result.outcomes()).noneMatch(ConcurrentEditsTest::isWritten);
      assertThat(result.last()).isEmpty();
    }
    return !result.outcomes().stream().anyMatch(EditOutcome.Failed.class::isInstance);
  }

  @Test
  void an_edit_does_not_outlive_a_configuration_it_did_not_see() throws Exception {
    db.put("a", "{}");

    int written =
        inAllThreads(
            thread -> {
              if (thread == 0) {
                for (int limit = 30; limit > 3; limit--) {
                  db.revsLimit(limit);
                }
                return 0;
              }
              int done = 0;
              for (int i = 0; i < 20; i++) {
                RevisionId base = db.winner("a").leaf();
                done += isWritten(db.write(edit("a", base, "{\"n\":" + i + "}"))) ? 1 : 0;
              }
              return done;
            });

    db.put("a", db.winner("a").leaf(), "{\"last\":true}");
    assertThat(db.winner("a").leaf().position()).isEqualTo(2 + written);
    assertThat(db.winner("a").length()).isLessThanOrEqualTo(4);
    db.audit(1);
  }

  private static boolean isWritten(EditOutcome outcome) {
    return outcome instanceof EditOutcome.Written;
  }

  /** Runs the work in all threads at once; returns the sum of their results. */
  private static int inAllThreads(Work work) throws InterruptedException, ExecutionException {
    ExecutorService executor = Executors.newFixedThreadPool(THREADS);
    CyclicBarrier start = new CyclicBarrier(THREADS);
    try {
      List<Future<Integer>> results = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        int thread = i;
        results.add(
            executor.submit(
                () -> {
                  start.await();
                  return work.run(thread);
                }));
      }
      int sum = 0;
      for (Future<Integer> result : results) {
        sum += result.get();
      }
      return sum;
    } finally {
      executor.shutdownNow();
    }
  }
}
