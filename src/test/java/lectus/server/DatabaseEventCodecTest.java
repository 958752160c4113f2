package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import java.util.Set;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.server.HazelcastCluster.DatabaseEventCodec;
import org.junit.jupiter.api.Test;

final class DatabaseEventCodecTest {
  private static final String STORE = "0123456789abcdef0123456789abcdef";
  private static final InstanceId INSTANCE = new InstanceId("fedcba9876543210fedcba9876543210");

  private static final DatabaseName NAME = DatabaseName.of("a_$()+-/1");

  private final DatabaseEventCodec codec = new DatabaseEventCodec();

  private DatabaseEvent overTheWire(DatabaseEvent event) {
    Buffer wire = Buffer.buffer("head");
    codec.encodeToWire(wire, event);
    return codec.decodeFromWire("head".length(), wire.appendString("tail"));
  }

  @Test
  void events_survive_the_wire() {
    Sequence sequence = new Sequence(300, new byte[] {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1});
    DatabaseEvent created = DatabaseEvent.created(STORE, INSTANCE, NAME);
    DatabaseEvent updated =
        DatabaseEvent.updated(
            STORE,
            INSTANCE,
            NAME,
            sequence,
            new TouchedShards(Set.of(new ShardId("3"), new ShardId("17"))));
    DatabaseEvent deleted = DatabaseEvent.deleted(STORE, INSTANCE, NAME);

    assertThat(overTheWire(created)).isEqualTo(created);
    assertThat(overTheWire(updated)).isEqualTo(updated);
    assertThat(overTheWire(deleted)).isEqualTo(deleted);
    assertThat(codec.transform(updated)).isSameAs(updated);
  }

  @Test
  void what_a_later_version_adds_is_skipped() {
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, DatabaseEvent.deleted(STORE, INSTANCE, NAME));
    String text = wire.getString(Integer.BYTES, wire.length()) + " more";

    assertThat(codec.decodeFromWire(0, Buffer.buffer().appendInt(text.length()).appendString(text)))
        .isEqualTo(DatabaseEvent.deleted(STORE, INSTANCE, NAME));
  }

  @Test
  void a_kind_that_a_later_version_tells_of_is_another() {
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, DatabaseEvent.deleted(STORE, INSTANCE, NAME));
    String text = wire.getString(Integer.BYTES, wire.length()).replace("DELETED", "RENAMED");

    assertThat(
            codec
                .decodeFromWire(0, Buffer.buffer().appendInt(text.length()).appendString(text))
                .kind())
        .isEqualTo(DatabaseEvent.Kind.OTHER);
  }

  @Test
  void a_life_of_a_database_has_one_of_64_addresses() {
    for (int i = 0; i < 1_000; i++) {
      InstanceId instance = new InstanceId("%032x".formatted(i * 7919L));
      assertThat(DatabaseEvent.address(instance)).isBetween(0, 63);
      assertThat(DatabaseEvent.deleted("any", instance, NAME).address())
          .isEqualTo(DatabaseEvent.address(instance));
    }
  }
}
