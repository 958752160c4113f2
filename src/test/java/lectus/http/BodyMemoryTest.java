package lectus.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lectus.error.LectusError;
import lectus.error.LectusException;
import org.junit.jupiter.api.Test;

final class BodyMemoryTest {
  private final BodyMemory memory = new BodyMemory(100);

  @Test
  void bodies_share_it_up_to_its_limit() {
    memory.reserve(60, 0);
    memory.reserve(40, 0);
    assertThatThrownBy(() -> memory.reserve(1, 0))
        .isInstanceOfSatisfying(
            LectusException.class,
            refused -> assertThat(refused.error()).isInstanceOf(LectusError.Unavailable.class));
    memory.release(40);
    memory.reserve(40, 60);
  }

  @Test
  void one_body_alone_is_always_taken() {
    memory.reserve(90, 0);
    memory.reserve(90, 90);
    assertThatThrownBy(() -> memory.reserve(1, 0)).isInstanceOf(LectusException.class);
    memory.release(180);
    memory.reserve(100, 0);
  }
}
