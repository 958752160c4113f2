package lectus.server;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.nio.charset.StandardCharsets;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.server.DatabaseEvent.Created;
import lectus.server.DatabaseEvent.Deleted;
import lectus.server.DatabaseEvent.Happening;
import lectus.server.DatabaseEvent.Updated;

/**
 * {@link DatabaseEvent} on the event bus: by reference inside one server, between servers as its
 * members printed in ASCII with spaces between them, behind four bytes of length. The last one is
 * the highest sequence of an update, {@code +} for a creation or {@code -} for a deletion.
 */
final class DatabaseEventCodec implements MessageCodec<DatabaseEvent, DatabaseEvent> {
  private static final String CREATED = "+";
  private static final String DELETED = "-";

  @Override
  public void encodeToWire(Buffer wire, DatabaseEvent event) {
    String happening = print(event.happening());
    String text = event.storeId() + ' ' + event.instance().hex() + ' ' + happening;
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    wire.appendInt(bytes.length).appendBytes(bytes);
  }

  @Override
  public DatabaseEvent decodeFromWire(int position, Buffer wire) {
    int start = position + Integer.BYTES;
    byte[] bytes = wire.getBytes(start, start + wire.getInt(position));
    String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(" ");
    return new DatabaseEvent(parts[0], new InstanceId(parts[1]), parse(parts[2]));
  }

  private static String print(Happening happening) {
    if (happening instanceof Updated updated) {
      return updated.highest().toString();
    }
    return happening instanceof Created ? CREATED : DELETED;
  }

  private static Happening parse(String text) {
    return switch (text) {
      case CREATED -> new Created();
      case DELETED -> new Deleted();
      default -> new Updated(Sequence.parse(text).orElseThrow());
    };
  }

  @Override
  public DatabaseEvent transform(DatabaseEvent event) {
    return event;
  }

  @Override
  public String name() {
    return "lectus.db_updated";
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
