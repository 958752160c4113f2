package lectus.store.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.DatabaseOptions;
import com.apple.foundationdb.OptionConsumer;
import com.apple.foundationdb.TransactionOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lectus.store.embedded.AttemptOptions.DatabaseOption;
import lectus.store.embedded.AttemptOptions.TransactionOption;
import org.junit.jupiter.api.Test;

/** Option names and numbers match fdb-java's. */
final class OptionCodesTest {
  private final List<Integer> codes = new ArrayList<>();
  private final OptionConsumer sink = (code, value) -> codes.add(code);

  @Test
  void options_of_a_transaction() {
    TransactionOptions options = new TransactionOptions(sink);
    options.setNextWriteNoWriteConflictRange();
    options.setReadYourWritesDisable();
    options.setPrioritySystemImmediate();
    options.setAccessSystemKeys();
    options.setReadSystemKeys();
    options.setRawAccess();
    options.setTimeout(1);
    options.setRetryLimit(1);
    options.setMaxRetryDelay(1);
    options.setSizeLimit(100);
    options.setSnapshotRywEnable();
    options.setSnapshotRywDisable();
    options.setLockAware();
    options.setReadLockAware();
    options.setBypassUnreadable();

    assertThat(codes.stream().map(TransactionOption::of))
        .containsExactlyElementsOf(
            Stream.of(TransactionOption.values()).map(Optional::of).toList());
    assertThat(TransactionOption.isKnown(30)).isTrue();
    assertThat(TransactionOption.isKnown(200)).isTrue();
    assertThat(TransactionOption.isKnown(31)).isFalse();
    assertThat(TransactionOption.isKnown(-1)).isFalse();
    assertThat(TransactionOption.isKnown(1_000_000)).isFalse();
  }

  @Test
  void options_of_a_database() {
    DatabaseOptions options = new DatabaseOptions(sink);
    options.setMaxWatches(1);
    options.setSnapshotRywEnable();
    options.setSnapshotRywDisable();
    options.setTransactionTimeout(1);
    options.setTransactionRetryLimit(1);
    options.setTransactionMaxRetryDelay(1);
    options.setTransactionSizeLimit(100);
    options.setTransactionBypassUnreadable();

    assertThat(codes.stream().map(DatabaseOption::of))
        .containsExactlyElementsOf(Stream.of(DatabaseOption.values()).map(Optional::of).toList());
    assertThat(DatabaseOption.isKnown(20)).isTrue();
    assertThat(DatabaseOption.isKnown(10)).isTrue();
    assertThat(DatabaseOption.isKnown(30)).isFalse();
  }
}
