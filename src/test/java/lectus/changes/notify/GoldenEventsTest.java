package lectus.changes.notify;

import static org.assertj.core.api.Assertions.assertThat;

import com.apple.foundationdb.KeyValue;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.Set;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;
import lectus.server.HazelcastCluster.DatabaseEventCodec;
import lectus.store.testing.GoldenRows;
import org.junit.jupiter.api.Test;

/** The exact bytes that servers of one store send each other. */
final class GoldenEventsTest {
  private static final String STORE = "0123456789abcdef0123456789abcdef";
  private static final InstanceId INSTANCE = new InstanceId("fedcba9876543210fedcba9876543210");
  private static final DatabaseName NAME = DatabaseName.of("a/b");

  private final DatabaseEventCodec codec = new DatabaseEventCodec();

  private KeyValue onTheWire(DatabaseEvent event) {
    Buffer wire = Buffer.buffer();
    codec.encodeToWire(wire, event);
    return new KeyValue(new byte[0], wire.getBytes());
  }

  @Test
  void events() {
    DatabaseEvent created = DatabaseEvent.created(STORE, INSTANCE, NAME);
    DatabaseEvent updated =
        DatabaseEvent.updated(
            STORE,
            INSTANCE,
            NAME,
            new Sequence(0, new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
            new TouchedShards(Set.of(new ShardId("12"))));
    DatabaseEvent deleted = DatabaseEvent.deleted(STORE, INSTANCE, NAME);
    GoldenRows golden = GoldenRows.of("DatabaseEventCodec");

    golden.assertAre(List.of(onTheWire(created), onTheWire(updated), onTheWire(deleted)));
    assertThat(codec.decodeFromWire(0, Buffer.buffer(golden.value("created")))).isEqualTo(created);
    assertThat(codec.decodeFromWire(0, Buffer.buffer(golden.value("updated")))).isEqualTo(updated);
    assertThat(codec.decodeFromWire(0, Buffer.buffer(golden.value("deleted")))).isEqualTo(deleted);
  }
}
