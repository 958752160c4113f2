package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.Transaction;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace.Image;
import lectus.changes.log.GoneSubspace.Written;
import lectus.database.Sequence;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.document.write.SweepMetrics;
import lectus.document.write.TombstoneSweep;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.LeasedRounds;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is kept for images, and for how long. */
final class GoneSubspaceTest {
  private static final Sequence BEGINNING = new Sequence(0, Versionstamp.ZERO.bytes());

  @RegisterExtension static final TestStores stores = SoundStore.stores();

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private <T> T run(BiFunction<Transaction, GoneSubspace, T> body) {
    return db.transactions.run(
        tx -> body.apply(tx, new GoneSubspace(db.catalogue.current(tx, db.name))));
  }

  private void follow(boolean standing, Duration ago) {
    follow("it", standing, ago, BEGINNING);
  }

  private void follow(String name, boolean standing, Duration ago, Sequence since) {
    run(
        (tx, gone) -> {
          long now = Awaiting.await(tx.getReadVersion());
          return gone.follow(tx, new Image(name, standing, now - ago.toNanos() / 1_000, since));
        });
  }

  private List<Written> marks() {
    return db.read((tx, handle) -> new GoneSubspace(handle).writtenLocals(tx, "", 10));
  }

  private void clearMarks() {
    Optional<String> next = run((tx, gone) -> gone.clearMarks(tx, ""));
    assertThat(next).isEmpty();
  }

  private void writeLocal(String id) {
    db.write(TestDatabase.local("_local/" + id, "0-0", "{}"));
  }

  private int purged(String id) {
    RevisionId revision = db.put(id, "{}");
    db.write(Purging.of(id, revision));
    return db.read(
        (tx, handle) ->
            Awaiting.await(new GoneSubspace(handle).after(tx, Optional.empty(), 10)).size());
  }

  private List<Image> images() {
    return db.read((tx, handle) -> new GoneSubspace(handle).images(tx));
  }

  @Test
  void without_an_image_nothing_is_kept() {
    assertThat(purged("a")).isZero();
  }

  @ParameterizedTest
  @CsvSource({"false,9", "true,86399"})
  void an_image_that_was_used_lately_has_what_is_gone_kept(boolean standing, long minutes) {
    follow(standing, Duration.ofMinutes(minutes));
    assertThat(purged("a")).isEqualTo(1);
    assertThat(purged("b")).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"false,11", "true,86401"})
  void an_image_that_was_not_used_for_long_is_forgotten(boolean standing, long minutes) {
    follow(standing, Duration.ofMinutes(minutes));
    assertThat(images()).hasSize(1);
    assertThat(purged("a")).isZero();
    assertThat(images()).isEmpty();
  }

  @Test
  void when_the_last_image_is_dropped_nothing_is_kept_any_more() {
    follow(true, Duration.ZERO);
    assertThat(purged("a")).isEqualTo(1);
    writeLocal("l");
    boolean was = run((tx, gone) -> gone.unfollow(tx, "it"));
    assertThat(was).isTrue();
    assertThat(purged("b")).isZero();
    assertThat(marks()).isEmpty();
  }

  @Test
  void marks_that_all_images_have_seen_are_cleared() {
    follow("one", true, Duration.ZERO, BEGINNING);
    follow("other", true, Duration.ZERO, BEGINNING);
    writeLocal("l");
    writeLocal("m");
    Sequence seen = marks().get(0).sequence();
    follow("one", true, Duration.ZERO, seen);
    clearMarks();
    assertThat(marks()).hasSize(2);

    follow("other", true, Duration.ZERO, seen);
    clearMarks();
    assertThat(marks()).extracting(Written::docId).containsExactly("_local/m");
  }

  @Test
  void the_mark_of_a_document_that_is_written_meanwhile_stays() {
    follow(true, Duration.ZERO);
    writeLocal("l");
    follow("it", true, Duration.ZERO, marks().get(0).sequence());
    boolean[] isWritten = new boolean[1];
    run(
        (tx, gone) -> {
          Optional<String> last = gone.clearMarks(tx, "");
          if (!isWritten[0]) {
            isWritten[0] = true;
            writeLocal("l");
          }
          return last;
        });
    assertThat(marks()).hasSize(1);
  }

  @Test
  void chains_that_keep_too_much_waiting_are_forgotten_and_not_before() {
    // A cluster estimates by samples.
    TestStores.onlyEmbedded();
    follow(true, Duration.ZERO);
    String id = "d".repeat(500);
    for (int i = 0; i < 100; i++) {
      purged(id + i);
    }
    writeLocal("l");
    long size =
        run(
            (tx, gone) ->
                Awaiting.await(
                    tx.getEstimatedRangeSizeBytes(gone.range().begin, gone.range().end)));
    assertThat(size).isPositive();
    bound(size);
    assertThat(images()).hasSize(1);

    bound(size - 1);
    assertThat(images()).isEmpty();
    assertThat(marks()).isEmpty();
  }

  private void bound(long mostBytes) {
    db.transactions.run(
        tx -> {
          new GoneSubspace(db.catalogue.current(tx, db.name), mostBytes).bound(tx);
          return null;
        });
  }

  @Test
  void the_sweep_forgets_an_image_that_was_not_used_for_long_though_nothing_is_purged() {
    follow("lately", true, Duration.ofDays(59), BEGINNING);
    follow("long ago", true, Duration.ofDays(61), BEGINNING);
    TombstoneSweep sweep =
        new TombstoneSweep(
            db.store,
            db.catalogue,
            db.writer,
            new SweepMetrics(),
            InstantSource.system(),
            LeasedRounds.withoutPause(db.store, TombstoneSweep.TASK));
    while (sweep.step()) {
      continue;
    }
    sweep.giveBack();
    assertThat(images()).extracting(Image::name).containsExactly("lately");
  }
}
