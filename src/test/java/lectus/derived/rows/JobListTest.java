package lectus.derived.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import lectus.store.testing.TestStores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

final class JobListTest {
  @RegisterExtension static final TestStores stores = new TestStores();

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong definitions = new AtomicLong();
  private final AtomicLong clock = new AtomicLong(-SECOND);
  private final JobList jobs = new JobList(stores.fresh(), definitions::get, clock::get);

  @Test
  void while_nothing_changes_one_worker_looks_every_five_seconds() {
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isFalse();
    clock.addAndGet(5 * SECOND - 1);
    assertThat(jobs.isDue()).isFalse();
    clock.addAndGet(1);
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isFalse();
  }

  @Test
  void all_look_while_a_definition_may_be_on_its_way_into_the_store() {
    assertThat(jobs.isDue()).isTrue();
    definitions.incrementAndGet();
    assertThat(jobs.isDue()).isTrue();
    clock.addAndGet(6 * SECOND - 1);
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isTrue();
    clock.addAndGet(1);
    assertThat(jobs.isDue()).isFalse();
  }

  @Test
  void all_look_when_one_has_found_something() {
    assertThat(jobs.isDue()).isTrue();
    jobs.found();
    assertThat(jobs.isDue()).isTrue();
    assertThat(jobs.isDue()).isTrue();
  }
}
