package lectus.server;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageCodec;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;
import lectus.changes.notify.DatabaseEvent;
import lectus.changes.page.TouchedShards;
import lectus.database.DatabaseName;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.ShardId;

/**
 * {@link DatabaseEvent} on the event bus: by reference inside one server; between servers as four
 * bytes of length and its members printed in ASCII, separated by spaces. A later version may append
 * members, which are skipped.
 */
public final class DatabaseEventCodec implements MessageCodec<DatabaseEvent, DatabaseEvent> {
  private static final int NAME = 4;
  private static final int SHARDS = 5;
  private static final String SHARD_SEPARATOR = ",";

  /** Neither a sequence nor a name is printed like this. */
  private static final String NONE = "-";

  @Override
  public void encodeToWire(Buffer wire, DatabaseEvent event) {
    String text =
        String.join(
            " ",
            event.storeId(),
            event.instance().hex(),
            event.kind().name(),
            event.sequence().map(Sequence::toString).orElse(NONE),
            event.name().map(DatabaseName::text).orElse(NONE),
            shards(event.shards()));
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    wire.appendInt(bytes.length).appendBytes(bytes);
  }

  @Override
  public DatabaseEvent decodeFromWire(int position, Buffer wire) {
    int start = position + Integer.BYTES;
    byte[] bytes = wire.getBytes(start, start + wire.getInt(position));
    String[] parts = new String(bytes, StandardCharsets.US_ASCII).split(" ");
    DatabaseEvent.Kind kind = DatabaseEvent.Kind.of(parts[2]);
    return new DatabaseEvent(
        parts[0],
        new InstanceId(parts[1]),
        kind,
        parts[3].equals(NONE) ? Optional.empty() : Sequence.parse(parts[3]),
        name(parts),
        kind == DatabaseEvent.Kind.UPDATED ? shards(parts) : TouchedShards.ANY);
  }

  private static String shards(TouchedShards shards) {
    return shards.ids().isEmpty()
        ? NONE
        : shards.ids().stream().map(ShardId::text).collect(Collectors.joining(SHARD_SEPARATOR));
  }

  private static TouchedShards shards(String[] parts) {
    if (parts[SHARDS].equals(NONE)) {
      return TouchedShards.ANY;
    }
    return new TouchedShards(
        Arrays.stream(parts[SHARDS].split(SHARD_SEPARATOR))
            .map(ShardId::new)
            .collect(Collectors.toSet()));
  }

  private static Optional<DatabaseName> name(String[] parts) {
    return DatabaseName.isLegal(parts[NAME])
        ? Optional.of(new DatabaseName(parts[NAME]))
        : Optional.empty();
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
