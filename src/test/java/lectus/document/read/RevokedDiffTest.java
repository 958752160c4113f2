package lectus.document.read;

import static lectus.document.testing.TestDatabase.utf8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseRequest;
import lectus.database.DatabaseRequest.DatabaseAccess;
import lectus.document.testing.TestDatabase;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** {@code _revs_diff} reads in many transactions before it answers. */
final class RevokedDiffTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  /** More than are read in one transaction. */
  private static final String MANY =
      IntStream.range(0, 1_300)
          .mapToObj("\"%d\":[\"1-a\"]"::formatted)
          .collect(Collectors.joining(",", "{", "}"));

  private final TestDatabase db = TestDatabase.create(stores.fresh());
  private final RevisionsDiff diff = new RevisionsDiff(db.catalogue, db.transactions);
  private final AtomicInteger judged = new AtomicInteger();
  private final AtomicInteger checked = new AtomicInteger();

  /** Whoever asks is let in for so many transactions. */
  private DatabaseAccess permit(int transactions, int checks) {
    return new DatabaseAccess() {
      @Override
      public void judge(DatabaseHandle db) {
        if (judged.incrementAndGet() > transactions) {
          throw LectusException.forbidden("no member");
        }
      }

      @Override
      public void checkAdmission() {
        if (checked.incrementAndGet() > checks) {
          throw LectusException.unauthorized("another account");
        }
      }
    };
  }

  private void ask(DatabaseAccess permit) {
    diff.revsDiff(new DatabaseRequest(db.name, permit), utf8(MANY), new JsonBuffer(64));
  }

  @Test
  void it_fails_when_the_right_is_gone_before_its_last_transaction() {
    assertThatThrownBy(() -> ask(permit(2, 2)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("no member");
  }

  @Test
  void it_fails_when_the_account_is_another_before_its_last_transaction() {
    assertThatThrownBy(() -> ask(permit(3, 1)))
        .isInstanceOf(LectusException.class)
        .hasMessageContaining("another account");
  }

  @Test
  void it_asks_once_for_each_transaction() {
    ask(permit(3, 2));
    assertThat(judged).hasValue(3);
    assertThat(checked).hasValue(2);
  }
}
