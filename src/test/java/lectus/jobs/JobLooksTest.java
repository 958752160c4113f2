package lectus.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class JobLooksTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong definitions = new AtomicLong();
  private final AtomicLong clock = new AtomicLong(-SECOND);
  private final JobLooks looks = new JobLooks(definitions::get, clock::get);

  @Test
  void while_nothing_changes_one_worker_looks_every_five_seconds() {
    assertThat(looks.isDue()).isTrue();
    assertThat(looks.isDue()).isFalse();
    clock.addAndGet(5 * SECOND - 1);
    assertThat(looks.isDue()).isFalse();
    clock.addAndGet(1);
    assertThat(looks.isDue()).isTrue();
    assertThat(looks.isDue()).isFalse();
  }

  @Test
  void all_look_while_a_definition_may_be_on_its_way_into_the_store() {
    assertThat(looks.isDue()).isTrue();
    definitions.incrementAndGet();
    assertThat(looks.isDue()).isTrue();
    clock.addAndGet(6 * SECOND - 1);
    assertThat(looks.isDue()).isTrue();
    assertThat(looks.isDue()).isTrue();
    clock.addAndGet(1);
    assertThat(looks.isDue()).isFalse();
  }

  @Test
  void all_look_when_one_has_found_something() {
    assertThat(looks.isDue()).isTrue();
    looks.found();
    assertThat(looks.isDue()).isTrue();
    assertThat(looks.isDue()).isTrue();
  }
}
