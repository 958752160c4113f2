package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import org.junit.jupiter.api.Test;

final class CoalescedAnnouncementsTest implements EventChannel {
  private static final InstanceId ONE = new InstanceId("1".repeat(32));
  private static final InstanceId TWO = new InstanceId("2".repeat(32));

  private static final DatabaseName NAME = DatabaseName.of("name");

  private final List<DatabaseEvent> published = new ArrayList<>();
  private final List<Duration> alarms = new ArrayList<>();
  private Runnable task;
  private long now = 5;
  private final CoalescedAnnouncements announcements =
      new CoalescedAnnouncements("store", this, this::alarm, Duration.ofMillis(5), () -> now);

  private void alarm(Duration delay, Runnable due) {
    alarms.add(delay);
    task = due;
  }

  private void ring() {
    now += alarms.get(alarms.size() - 1).toNanos();
    task.run();
  }

  static Sequence sequence(int number) {
    return new Sequence(0, new byte[] {0, 0, 0, 0, 0, 0, 0, (byte) number, 0, 0, 0, 0});
  }

  private static DatabaseEvent event(InstanceId instance, int number) {
    return DatabaseEvent.updated("store", instance, NAME, sequence(number), TouchedShards.ANY);
  }

  @Override
  public void publish(DatabaseEvent event) {
    published.add(event);
  }

  @Override
  public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
    throw new UnsupportedOperationException();
  }

  @Test
  void the_first_event_goes_at_once() {
    announcements.updated(ONE, NAME, sequence(1), TouchedShards.ANY);

    assertThat(alarms).containsExactly(Duration.ZERO);
    ring();
    assertThat(published).containsExactly(event(ONE, 1));
  }

  @Test
  void what_comes_during_the_pause_is_one_event_with_the_highest_sequence() {
    announcements.updated(ONE, NAME, sequence(1), TouchedShards.ANY);
    ring();
    now += 2_000_000;
    announcements.updated(ONE, NAME, sequence(2), TouchedShards.ANY);
    announcements.updated(ONE, NAME, sequence(4), TouchedShards.ANY);
    announcements.updated(ONE, NAME, sequence(3), TouchedShards.ANY);
    announcements.updated(TWO, NAME, sequence(5), TouchedShards.ANY);

    assertThat(alarms).containsExactly(Duration.ZERO, Duration.ofMillis(3));
    ring();
    assertThat(published).containsExactlyInAnyOrder(event(ONE, 1), event(ONE, 4), event(TWO, 5));
    now += 5_000_000;
    announcements.updated(ONE, NAME, sequence(6), TouchedShards.ANY);
    assertThat(alarms).last().isEqualTo(Duration.ZERO);
  }

  @Test
  void creation_and_deletion_do_not_wait() {
    announcements.updated(TWO, NAME, sequence(1), TouchedShards.ANY);
    ring();
    published.clear();
    announcements.created(ONE, NAME);
    ring();
    announcements.deleted(ONE, NAME);
    ring();

    assertThat(published)
        .containsExactly(
            DatabaseEvent.created("store", ONE, NAME), DatabaseEvent.deleted("store", ONE, NAME));
    assertThat(alarms).containsOnly(Duration.ZERO);
  }
}
