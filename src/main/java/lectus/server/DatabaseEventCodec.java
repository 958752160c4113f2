package lectus.server;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lectus.database.InstanceId;
import lectus.database.Sequence;

/**
 * {@link DatabaseEvent} on the event bus: by reference inside one server, between servers as its
 * members printed in ASCII with spaces between them, behind four bytes of length. What a later
 * version adds stands behind them and is skipped.
 */
final class DatabaseEventCodec implements MessageCodec<DatabaseEvent, DatabaseEvent> {
  private static final String NO_SEQUENCE = "-";

  @Override
  public void encodeToWire(Buffer wire, DatabaseEvent event) {
    String sequence = event.sequence().map(Sequence::toString).orElse(NO_SEQUENCE);
    String text =
        event.storeId() + ' ' + event.instance().hex() + ' ' + event.kind() + ' ' + sequence;
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    wire.appendInt(bytes.length).appendBytes(bytes);
  }

  @Override
  public DatabaseEvent decodeFromWire(int position, Buffer wire) {
    int start = position + Integer.BYTES;
    byte[] bytes = wire.getBytes(start, start + wire.getInt(position));
    String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(" ");
    return new DatabaseEvent(
        parts[0],
        new InstanceId(parts[1]),
        DatabaseEvent.Kind.valueOf(parts[2]),
        parts[3].equals(NO_SEQUENCE) ? Optional.empty() : Sequence.parse(parts[3]));
  }

  @Override
  public DatabaseEvent transform(DatabaseEvent event) {
    return event;
  }

  @Override
  public String name() {
    return "lectus.database_event";
  }

  @Override
  public byte systemCodecID() {
    return -1;
  }
}
