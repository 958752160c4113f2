package lectus.store.embedded.engine.folder;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.rocksdb.RocksDBException;

/** Clients learn what is wrong, the log where: clients need not know of the server's files. */
final class IoFailureTest {
  private static final String FILE = "/srv/data/rocks/000012.log";

  @ParameterizedTest
  @CsvSource({
    "No space left on device, 1599, The disk is full.",
    "Too many open files, 1514, The server has too many files and sockets open.",
    "Input/output error, 1514, The store could not be written."
  })
  void a_write_that_fails(String reason, int code, String told) {
    IoFailure trouble =
        IoFailure.of(new RocksDBException("While appending to file: " + FILE + ": " + reason));

    assertThat(trouble.refusal().getCode()).isEqualTo(code);
    assertThat(trouble.refusal()).hasMessage(told);
    assertThat(trouble.sentence()).contains(FILE, reason);
  }

  @Test
  void a_read_that_fails() {
    RocksDBException failure =
        new RocksDBException("While open a file for random read: " + FILE + ": Input/output error");

    assertThat(IoFailure.unreadable(failure).getCode()).isEqualTo(1513);
    assertThat(IoFailure.unreadable(failure))
        .hasMessage("The store could not be read; the log says why.");
  }
}
