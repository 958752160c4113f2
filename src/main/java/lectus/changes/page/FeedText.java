package lectus.changes.page;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import lectus.database.ShardId;
import lectus.error.LectusError;
import lectus.json.JsonBuffer;

/** The text around the rows of a feed, byte for byte CouchDB's. */
public final class FeedText {
  private static final byte[] HEAD = ascii("{\"results\":[\n");
  private static final byte[] SEPARATOR = ascii(",\r\n");
  private static final byte[] TAIL = ascii("\n],\n\"last_seq\":");
  private static final byte[] LAST_LINE = ascii("{\"last_seq\":");
  private static final byte[] PENDING = ascii(",\"pending\":");
  private static final byte[] RESHARDED = ascii("\"resharded\":{\"seq\":");
  private static final byte[] ERROR = ascii("\"error\":");
  private static final byte[] REASON = ascii(",\"reason\":");
  private static final byte[] SHARDS = ascii(",\"shards\":");
  private static final byte[] LAST_MEMBER = ascii(",\"last_seq\":");
  private static final byte[] END = ascii("}\n");

  private FeedText() {}

  /** Appends the text before the rows of a normal feed or a long poll. */
  public static void appendHead(JsonBuffer out) {
    out.raw(HEAD);
  }

  public static void appendSeparator(JsonBuffer out) {
    out.raw(SEPARATOR);
  }

  public static void appendTail(ResumePoint<?> last, long pending, JsonBuffer out) {
    appendTail(last, pending, Optional.empty(), out);
  }

  /** Appends the text after the rows of a normal feed or a long poll that may be over. */
  public static void appendTail(
      ResumePoint<?> last, long pending, Optional<FeedEnd> end, JsonBuffer out) {
    appendLast(out.raw(TAIL), last, pending);
    if (end.orElse(null) instanceof FeedEnd.Resharded resharded) {
      appendResharded(resharded, out.octet(','));
    }
    end.flatMap(FeedEnd::error).ifPresent(error -> appendError(error, out.octet(',')));
    out.raw(END);
  }

  /** Appends the last line of a continuous feed. */
  public static void appendLastLine(
      ResumePoint<?> last, long pending, FeedEnd end, JsonBuffer out) {
    if (end instanceof FeedEnd.Resharded resharded) {
      appendResharded(resharded, out.octet('{'));
      out.raw(LAST_MEMBER).string(last.text()).raw(END);
    } else if (end.error().isPresent()) {
      appendError(end.error().get(), out.octet('{'));
      out.raw(END);
    } else {
      appendLast(out.raw(LAST_LINE), last, pending);
      out.raw(END);
    }
  }

  private static void appendLast(JsonBuffer out, ResumePoint<?> last, long pending) {
    out.string(last.text());
    if (last.tellsPending()) {
      out.raw(PENDING).number(pending);
    }
  }

  /** Appends CouchDB's two members of an error. */
  private static void appendError(LectusError error, JsonBuffer out) {
    out.raw(ERROR).string(error.error());
    out.raw(REASON).string(error.reason());
  }

  /**
   * Appends where a reader of a shard continues, as a member of an object (RFC 018, Resharding).
   */
  private static void appendResharded(FeedEnd.Resharded resharded, JsonBuffer out) {
    out.raw(RESHARDED).string(resharded.position().text()).raw(SHARDS);
    appendShards(resharded.shards(), out);
    out.octet('}');
  }

  public static void appendShards(List<ShardId> shards, JsonBuffer out) {
    char separator = '[';
    for (ShardId shard : shards) {
      out.octet(separator).string(shard.text());
      separator = ',';
    }
    out.octet(']');
  }

  public static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
