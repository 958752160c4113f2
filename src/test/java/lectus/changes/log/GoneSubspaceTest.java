package lectus.changes.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import lectus.audit.testing.SoundStore;
import lectus.changes.log.GoneSubspace.Image;
import lectus.database.Sequence;
import lectus.document.testing.Purging;
import lectus.document.testing.TestDatabase;
import lectus.revision.RevisionId;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is kept for images, and for how long. */
final class GoneSubspaceTest {
  private static final Sequence BEGINNING = new Sequence(0, Versionstamp.ZERO.bytes());

  @RegisterExtension
  static final TestStores stores = TestStores.endingWith(SoundStore::assertSound);

  private final TestDatabase db = TestDatabase.create(stores.fresh());

  private void follow(boolean standing, Duration ago) {
    db.transactions.run(
        tx -> {
          long now = Awaiting.await(tx.getReadVersion());
          Image image = new Image("it", standing, now - ago.toNanos() / 1_000, BEGINNING);
          return new GoneSubspace(db.catalogue.current(tx, db.name)).follow(tx, image);
        });
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
    db.write(TestDatabase.local("_local/l", "0-0", "{}"));
    boolean was =
        db.transactions.run(
            tx -> new GoneSubspace(db.catalogue.current(tx, db.name)).unfollow(tx, "it"));
    assertThat(was).isTrue();
    assertThat(purged("b")).isZero();
    GoneSubspace.Written none = new GoneSubspace.Written(BEGINNING, "");
    assertThat(
            db.<List<?>>read((tx, handle) -> new GoneSubspace(handle).writtenLocals(tx, none, 10)))
        .isEmpty();
  }
}
