package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import java.util.Optional;
import lectus.document.write.EditFailures;
import lectus.error.FoundationDbError;
import lectus.error.LectusError;
import lectus.http.message.ErrorStatus;
import lectus.metrics.RequestLabel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {
  private static RequestLabel label(String id) {
    return new RequestLabel(id, Optional.empty(), Optional.empty());
  }

  @ParameterizedTest
  @CsvSource({"1020,The store is too busy.", "1031,The store does not answer."})
  void a_store_that_may_answer_later_is_unavailable(int code, String reason) {
    assertThat(Failures.errorOf(new FDBException("", code), label("id")))
        .isEqualTo(new LectusError.Unavailable(reason, 1));
  }

  @Test
  void a_store_that_cannot_be_written_says_why() {
    LectusError full =
        Failures.errorOf(
            FoundationDbError.NO_SPACE.exception("The disk has 3 MB free."), label("id"));
    assertThat(full).isEqualTo(new LectusError.InsufficientStorage("The disk has 3 MB free."));
    assertThat(ErrorStatus.of(full)).isEqualTo(507);
    FDBException broken = FoundationDbError.FILE_NOT_WRITABLE.exception("The disk fails.");
    assertThat(Failures.errorOf(broken, label("id")))
        .isEqualTo(new LectusError.Unavailable("The disk fails.", 5));
  }

  /** Messages of exceptions, FoundationDB's or others, may contain what clients must not see. */
  @ParameterizedTest
  @CsvSource({"1510", "1513", "1514", "1522", "1599", "2000", "1020", "1031", "4100"})
  void nobody_is_told_an_exceptions_message(int code) {
    FDBException failure = new FDBException("/var/lib/secret", code);

    assertThat(Failures.errorOf(failure, label("id")).reason()).doesNotContain("secret");
    assertThat(EditFailures.errorOf(failure).reason()).doesNotContain("secret");
    Throwable other = new IllegalStateException("/var/lib/secret");
    assertThat(Failures.errorOf(other, label("id")).reason()).doesNotContain("secret");
    assertThat(EditFailures.errorOf(other).reason()).doesNotContain("secret");
  }

  @Test
  void want_of_memory_passes() {
    assertThat(Failures.errorOf(new OutOfMemoryError("Java heap space"), label("id")))
        .isEqualTo(new LectusError.Unavailable("The server is short of memory.", 1));
  }

  @ParameterizedTest
  @CsvSource({"1510", "1522", "2000"})
  void what_nobody_foresaw_names_the_request(int code) {
    assertThat(Failures.errorOf(new FDBException("", code), label("5120a47c69")))
        .isEqualTo(new LectusError.Internal("The request 5120a47c69 failed; the log says why."));
  }
}
