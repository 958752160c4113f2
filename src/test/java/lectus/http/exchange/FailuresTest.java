package lectus.http.exchange;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.FDBException;
import lectus.error.LectusError;
import lectus.http.message.ErrorStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {

  @ParameterizedTest
  @CsvSource({"1020,The store is too busy.", "1031,The store does not answer."})
  void a_store_that_may_answer_later_is_unavailable(int code, String reason) {
    assertThat(Failures.errorOf(new FDBException("", code), "id"))
        .isEqualTo(new LectusError.Unavailable(reason, 1));
  }

  @Test
  void a_store_that_cannot_be_written_says_why() {
    LectusError full = Failures.errorOf(new FDBException("The disk is full.", 1599), "id");
    assertThat(full).isEqualTo(new LectusError.InsufficientStorage("The disk is full."));
    assertThat(ErrorStatus.of(full)).isEqualTo(507);
    assertThat(Failures.errorOf(new FDBException("The disk fails.", 1514), "id"))
        .isEqualTo(new LectusError.Unavailable("The disk fails.", 5));
  }

  @Test
  void want_of_memory_passes() {
    assertThat(Failures.errorOf(new OutOfMemoryError("Java heap space"), "id"))
        .isEqualTo(new LectusError.Unavailable("The server is short of memory.", 1));
  }

  @ParameterizedTest
  @CsvSource({"1510", "1522", "2000"})
  void what_nobody_foresaw_names_the_request(int code) {
    assertThat(Failures.errorOf(new FDBException("", code), "5120a47c69"))
        .isEqualTo(new LectusError.Internal("The request 5120a47c69 failed; the log says why."));
  }
}
