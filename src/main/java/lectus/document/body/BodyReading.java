package lectus.document.body;

import java.util.List;
import lectus.attachment.AttachmentList;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.Leaf;
import lectus.tuple.MalformedTupleException;
import lectus.tuple.TuplePrefixes;

/** Writes a body's members from its rows, which come in the order of their keys. */
public final class BodyReading {
  /** All leaves of a body. */
  static final List<byte[]> ALL = List.of(new byte[0]);

  private final JsonAssembler members;
  private final List<byte[]> chosen;
  private RevisionMetadata metadata = RevisionMetadata.NONE;
  private TextChunks.Reading chunks = new TextChunks.Reading(0);

  /** The text of which some leaves are chosen, once it has begun. */
  private JsonBuffer text = new JsonBuffer(0);

  public BodyReading(JsonAssembler members) {
    this(members, ALL);
  }

  /**
   * @param chosen the paths at and below which leaves are written. Of the leaves with rows of their
   *     own no others may be passed in
   */
  BodyReading(JsonAssembler members, List<byte[]> chosen) {
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
      takeText(value);
    } else {
      members.leaf(key, pathOffset, value);
    }
  }

  private void begin(RevisionMetadata its) {
    metadata = its;
    chunks = new TextChunks.Reading(its.textBytes());
    its.forEachLeaf(
        (packed, path, pathEnd, at, end) -> {
          if (isChosen(packed, path, pathEnd)) {
            members.leaf(packed, path, pathEnd, at, end);
          }
        });
  }

  private void takeText(byte[] part) {
    if (chosen == ALL) {
      members.text(part);
      return;
    }
    if (text.length() == 0) {
      text = new JsonBuffer(metadata.textBytes() + 2).octet('{');
    }
    text.raw(part);
  }

  private boolean isChosen(byte[] bytes, int path, int pathEnd) {
    return chosen == ALL
        || chosen.stream().anyMatch(it -> TuplePrefixes.isAtOrBelow(it, bytes, path, pathEnd));
  }

  /**
   * Ends the body.
   *
   * @throws MalformedTupleException if a leaf lacks some of its rows, or a chunk is missing
   */
  public void finish() {
    chunks.finish();
    if (text.length() > 0) {
      for (Leaf leaf : exploded(text.octet('}')).leaves()) {
        if (isChosen(leaf.path(), 0, leaf.path().length)) {
          members.leaf(leaf.path(), 0, leaf.value());
        }
      }
    }
    members.finish();
  }

  /**
   * Returns the leaves of a body that was written as JSON.
   *
   * @throws MalformedTupleException if it is none
   */
  public static ExplodedBody exploded(JsonBuffer object) {
    try {
      return JsonExploder.whole(object.toBytes());
    } catch (LectusException noJson) {
      throw new MalformedTupleException("A body in chunks is no JSON: " + noJson.error().reason());
    }
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
