package lectus.document;

import com.apple.foundationdb.KeyValue;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import lectus.attachment.AttachmentList;
import lectus.json.ChosenPaths;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.Leaf;
import lectus.json.MalformedTupleException;
import lectus.json.StringParts;

/**
 * Writes a body's members from its rows, which come in the order of their keys: all of them in the
 * order in which they were sent, or some in the order of their paths.
 */
public final class BodyReading {
  private final JsonAssembler members;
  private final ChosenPaths chosen;
  private RevisionMetadata metadata = RevisionMetadata.NONE;
  private TextChunks.Reading chunks = new TextChunks.Reading(0);

  /** The rows of leaves that are to be put in order, leaf by leaf. */
  private final List<List<KeyValue>> kept = new ArrayList<>();

  private int firstKeyBytes;

  /** Would write the rows that are kept, in the order of their keys. */
  private Optional<JsonAssembler> check = Optional.empty();

  /** A reading that refuses each row that is none of the body's, and goes on behind it. */
  public static BodyReading checking(JsonAssembler members) {
    BodyReading reading = new BodyReading(members, ChosenPaths.ALL);
    reading.check = Optional.of(new JsonAssembler(new JsonBuffer(256), false));
    return reading;
  }

  /**
   * @param chosen which leaves are written. Of the leaves with rows of their own no others may be
   *     passed in
   */
  BodyReading(JsonAssembler members, ChosenPaths chosen) {
    this.members = members;
    this.chosen = chosen;
  }

  /**
   * @param pathOffset offset in the key at which the leaf's path begins; the key's length for the
   *     metadata
   * @throws MalformedTupleException if the row is none of a body, or cannot follow the ones before
   */
  public void take(byte[] key, int pathOffset, byte[] value) {
    if (key.length == pathOffset) {
      begin(RevisionMetadata.of(value));
    } else if (metadata.isInline()) {
      throw new MalformedTupleException("A body has its leaves in one row and others below it");
    } else if (metadata.isText()) {
      chunks.take(key, pathOffset, value);
      members.text(value);
    } else if (metadata.isOrdered() && chosen == ChosenPaths.ALL) {
      keep(new KeyValue(key, value), pathOffset);
    } else {
      members.leaf(key, pathOffset, value);
    }
  }

  /**
   * Keeps a row of a leaf until all are there. Further pieces of a long string follow its first.
   */
  private void keep(KeyValue row, int pathOffset) {
    check.ifPresent(it -> it.leaf(row.getKey(), pathOffset, row.getValue()));
    firstKeyBytes = pathOffset;
    List<KeyValue> last = kept.isEmpty() ? List.of() : kept.get(kept.size() - 1);
    if (!last.isEmpty() && StringParts.isPiece(last.get(0).getKey(), row.getKey())) {
      last.add(row);
    } else {
      List<KeyValue> leaf = new ArrayList<>(1);
      leaf.add(row);
      kept.add(leaf);
    }
  }

  private void begin(RevisionMetadata its) {
    metadata = its;
    chunks = new TextChunks.Reading(its.textBytes());
    if (chosen == ChosenPaths.ALL) {
      its.forEachLeaf(members::leaf);
    } else {
      its.leaves(chosen).stream()
          .sorted(Leaf.BY_PATH)
          .forEach(leaf -> members.leaf(leaf.path(), 0, leaf.value()));
    }
  }

  /** Whether some leaves are wanted of a body whose chunks follow, for {@link #choose}. */
  boolean choosesFromText() {
    return chosen != ChosenPaths.ALL && metadata.isText();
  }

  /** Takes all chunks, unless nothing is chosen, and writes the chosen leaves. */
  void choose(Iterator<KeyValue> rows, int pathOffset) {
    if (!chosen.paths().isEmpty()) {
      TextChunks.leaves(metadata.textBytes(), rows, pathOffset, chosen)
          .forEach(leaf -> members.leaf(leaf.path(), 0, leaf.value()));
    }
    chunks = new TextChunks.Reading(0);
  }

  /**
   * Ends the body.
   *
   * @throws MalformedTupleException if a leaf lacks some of its rows, or a chunk is missing
   */
  public void finish() {
    chunks.finish();
    if (metadata.isOrdered() && chosen == ChosenPaths.ALL) {
      for (int number : metadata.order(kept.size())) {
        kept.get(number).forEach(row -> members.leaf(row.getKey(), firstKeyBytes, row.getValue()));
      }
    }
    members.finish();
  }

  /**
   * Whether a body that lies in chunks has such a leaf.
   *
   * @param object the body as JSON
   * @throws MalformedTupleException if it is no JSON
   */
  public static boolean hasLeaf(JsonBuffer object, JsonExploder.Choice choice) {
    return !TextChunks.leaves(object, choice).isEmpty();
  }

  /** Returns the metadata, once they were taken. */
  public RevisionMetadata metadata() {
    return metadata;
  }

  /** Returns the attachments, once the metadata were taken. */
  public AttachmentList attachments() {
    return metadata.attachments();
  }
}
