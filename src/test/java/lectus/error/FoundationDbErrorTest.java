package lectus.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FoundationDbErrorTest {

  @Test
  void the_retryable_codes_are_foundationdbs() {
    assertThat(IntStream.range(0, 10_000).filter(FoundationDbError::isRetryable))
        .containsExactly(1007, 1009, 1020, 1037, 1038, 1042, 1051, 1078, 1213, 1223, 1235, 1242);
  }

  @Test
  void an_unknown_result_is_not_retryable() {
    assertThat(IntStream.range(0, 10_000).filter(FoundationDbError::isUnknownResult))
        .containsExactly(1021, 1025, 1031, 1039)
        .noneMatch(FoundationDbError::isRetryable);
  }
}
