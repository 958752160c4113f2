package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import lectus.changes.page.DatabaseNotifications.Listener;
import lectus.changes.page.DatabaseNotifications.WantedDatabases;
import lectus.changes.page.Registration;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseConfiguration;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.database.Incarnations;
import lectus.database.Incarnations.Incarnation;
import lectus.database.Incarnations.Origin;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.database.ShardTopology;
import lectus.database.ShardTopology.Generation;
import lectus.database.ShardTopology.HashScheme;
import lectus.database.Whereabouts;
import lectus.derived.DerivedSet;
import lectus.store.Versionstamp;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The events that a server subscribes to, and the listeners that are told of them. */
final class BusSubscriptionsTest implements EventChannel {
  private static final DatabaseHandle DATABASE = database();
  private static final InstanceId INSTANCE = DATABASE.instance();
  private static final int ADDRESS = DatabaseEvent.address(INSTANCE);

  private final Map<Integer, Consumer<DatabaseEvent>> subscribed = new HashMap<>();
  private final List<Runnable> lingering = new ArrayList<>();
  private final List<String> heard = new ArrayList<>();
  private final ListenerRegistry listeners = new ListenerRegistry(Runnable::run);

  private static DatabaseHandle database() {
    Generation generation =
        new Generation(Optional.empty(), HashScheme.JUMP_CRC32, List.of(new ShardId("0")), false);
    return new DatabaseHandle(
        DatabaseName.of("one"),
        new InstanceId("1".repeat(32)),
        new byte[] {1},
        new byte[] {2},
        new Incarnations(
            List.of(new Incarnation(0, Origin.CREATED, Versionstamp.ZERO, Optional.empty()))),
        0,
        Versionstamp.ZERO,
        new DatabaseConfiguration(1_000, false),
        new ShardTopology(List.of(generation), false),
        Optional.empty(),
        List.of(),
        new DerivedSet<>(List.of()),
        new DerivedSet<>(List.of()),
        false,
        Whereabouts.HERE,
        Optional.empty());
  }

  @BeforeEach
  void watch() {
    listeners.watch(
        new BusSubscriptions(this, listeners, "store", this::alarm, Duration.ofSeconds(1))::check);
  }

  private void alarm(Duration delay, Runnable task) {
    if (delay.isZero()) {
      task.run();
    } else {
      lingering.add(task);
    }
  }

  private void endOfLinger() {
    List<Runnable> tasks = new ArrayList<>(lingering);
    lingering.clear();
    tasks.forEach(Runnable::run);
  }

  @Override
  public void publish(DatabaseEvent event) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Registration subscribe(int address, Consumer<DatabaseEvent> receiver) {
    assertThat(subscribed.put(address, receiver)).isNull();
    return () -> subscribed.remove(address);
  }

  private Listener listener(String name) {
    return new Listener() {
      @Override
      public void updated(Sequence highest, TouchedShards shards) {
        heard.add(name + " updated " + (highest.versionstamp()[7] & 0xff));
      }

      @Override
      public void deleted() {
        heard.add(name + " deleted");
      }
    };
  }

  private static String printed(Versionstamp level) {
    return level.equals(Versionstamp.END) ? "moved" : "moved to " + (level.bytes()[7] & 0xff);
  }

  private static DatabaseEvent updated(int number) {
    return DatabaseEvent.updated(
        "store",
        INSTANCE,
        DATABASE.name(),
        CoalescedAnnouncementsTest.sequence(number),
        TouchedShards.ANY);
  }

  @Test
  void an_address_is_subscribed_while_somebody_needs_it_and_a_little_longer() {
    Registration first = listeners.add(DATABASE, listener("first"));
    Registration second = listeners.add(DATABASE, listener("second"));
    assertThat(subscribed).containsOnlyKeys(ADDRESS);
    first.close();
    second.close();
    assertThat(subscribed).containsOnlyKeys(ADDRESS);
    assertThat(lingering).hasSize(1);
    Registration third = listeners.add(DATABASE, listener("third"));
    endOfLinger();
    assertThat(subscribed).containsOnlyKeys(ADDRESS);
    third.close();
    third.close();
    endOfLinger();

    assertThat(subscribed).isEmpty();
    assertThat(listeners.isEmpty()).isTrue();
  }

  @Test
  void who_listens_to_the_store_needs_every_address() {
    Registration all = listeners.addToAll(WantedDatabases.ALL, level -> heard.add(printed(level)));
    assertThat(subscribed).hasSize(DatabaseEvent.ADDRESSES);
    subscribed.get(ADDRESS).accept(DatabaseEvent.created("store", INSTANCE, DATABASE.name()));
    subscribed.get(ADDRESS).accept(updated(1));
    subscribed.get(ADDRESS).accept(DatabaseEvent.deleted("store", INSTANCE, DATABASE.name()));
    assertThat(heard).containsExactly("moved", "moved to 1", "moved");
    all.close();
    endOfLinger();

    assertThat(subscribed).isEmpty();
  }

  @Test
  void what_was_heard_before_is_not_told_again() {
    listeners.add(DATABASE, listener("a"));
    Consumer<DatabaseEvent> receiver = subscribed.get(ADDRESS);
    receiver.accept(updated(5));
    receiver.accept(updated(5));
    receiver.accept(updated(4));
    listeners.add(DATABASE, listener("b"));
    receiver.accept(updated(3));
    assertThat(heard).containsExactly("a updated 5");
    receiver.accept(updated(6));

    assertThat(heard).containsExactlyInAnyOrder("a updated 5", "a updated 6", "b updated 6");
  }

  @Test
  void events_of_another_store_are_dropped() {
    listeners.add(DATABASE, listener("a"));
    Consumer<DatabaseEvent> receiver = subscribed.get(ADDRESS);
    receiver.accept(
        DatabaseEvent.updated(
            "foreign",
            INSTANCE,
            DATABASE.name(),
            CoalescedAnnouncementsTest.sequence(1),
            TouchedShards.ANY));
    receiver.accept(DatabaseEvent.deleted("foreign", INSTANCE, DATABASE.name()));
    assertThat(heard).isEmpty();
    receiver.accept(DatabaseEvent.deleted("store", INSTANCE, DATABASE.name()));

    assertThat(heard).containsExactly("a deleted");
  }
}
