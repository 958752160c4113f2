package lectus.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import org.junit.jupiter.api.Test;

final class DatabaseEventCodecTest {
  private static final String STORE = "0123456789abcdef0123456789abcdef";
  private static final InstanceId INSTANCE = new InstanceId("fedcba9876543210fedcba9876543210");

  private final DatabaseEventCodec codec = new DatabaseEventCodec();

  private DatabaseEvent overTheWire(DatabaseEvent event) {
    Buffer wire = Buffer.buffer("head");
    codec.encodeToWire(wire, event);
    return codec.decodeFromWire("head".length(), wire.appendString("tail"));
  }

  @Test
  void events_survive_the_wire() {
    Sequence sequence = new Sequence(300, new byte[] {0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1});
    DatabaseEvent updated = new DatabaseEvent(STORE, INSTANCE, new DatabaseEvent.Updated(sequence));
    DatabaseEvent over = new DatabaseEvent(STORE, INSTANCE, new DatabaseEvent.Deleted());
    DatabaseEvent begun = new DatabaseEvent(STORE, INSTANCE, new DatabaseEvent.Created());

    assertThat(overTheWire(updated)).isEqualTo(updated);
    assertThat(overTheWire(over)).isEqualTo(over);
    assertThat(overTheWire(begun)).isEqualTo(begun);
    assertThat(codec.transform(updated)).isSameAs(updated);
  }

  @Test
  void a_life_of_a_database_has_one_of_64_addresses() {
    DatabaseEvent event = new DatabaseEvent(STORE, INSTANCE, new DatabaseEvent.Deleted());

    assertThat(event.address()).matches("lectus\\.db_updated\\.([0-9]|[1-5][0-9]|6[0-3])");
    assertThat(new DatabaseEvent("other", INSTANCE, new DatabaseEvent.Deleted()).address())
        .isEqualTo(event.address());
  }
}
