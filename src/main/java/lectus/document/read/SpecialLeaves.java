package lectus.document.read;

import java.util.List;
import lectus.json.FieldPath;
import lectus.json.LeafList;
import lectus.revision.RevisionId;
import lectus.selector.LeafRead;
import lectus.tuple.TuplePrefixes;
import lectus.tuple.TupleType;
import lectus.tuple.TupleWriter;

/**
 * The members of a document that are not stored with its body, as leaves for a selector: {@code
 * _id}, {@code _rev} and, for a tombstone, {@code _deleted}.
 */
final class SpecialLeaves {
  private static final byte[] ID = path("_id");
  private static final byte[] REVISION = path("_rev");
  private static final byte[] DELETED = path("_deleted");
  private static final byte[] ATTACHMENTS = path("_attachments");
  private static final byte[] CONFLICTS = path("_conflicts");
  private static final byte[] TRUE = new TupleWriter(1).bool(true).toBytes();

  private final boolean id;
  private final boolean revision;
  private final boolean deleted;

  SpecialLeaves(List<LeafRead> reads) {
    this.id = isRead(reads, ID);
    this.revision = isRead(reads, REVISION);
    this.deleted = isRead(reads, DELETED);
  }

  /** Whether the read lies wholly outside the body: names with an underscore are reserved. */
  static boolean isPart(LeafRead read) {
    return read.path().length > 1 && read.path()[0] == TupleType.STRING && read.path()[1] == '_';
  }

  /** Whether these reads look at attachments. */
  static boolean haveAttachments(List<LeafRead> reads) {
    return lookAt(reads, ATTACHMENTS);
  }

  /** Whether these reads look at the leaves that lost. */
  static boolean haveConflicts(List<LeafRead> reads) {
    return lookAt(reads, CONFLICTS);
  }

  /** Adds what the selector looks at. */
  void addTo(LeafList leaves, byte[] prefix, String docId, boolean isDeleted, RevisionId leaf) {
    if (id) {
      leaves.add(LeafPrefixes.join(prefix, ID), new TupleWriter(64).string(docId).toBytes());
    }
    if (revision) {
      byte[] text = new TupleWriter(64).string(leaf.toString()).toBytes();
      leaves.add(LeafPrefixes.join(prefix, REVISION), text);
    }
    if (deleted && isDeleted) {
      leaves.add(LeafPrefixes.join(prefix, DELETED), TRUE);
    }
  }

  private static boolean lookAt(List<LeafRead> reads, byte[] container) {
    return isRead(reads, container)
        || reads.stream().anyMatch(it -> TuplePrefixes.isAtOrBelow(container, it.path()));
  }

  private static boolean isRead(List<LeafRead> reads, byte[] path) {
    return reads.stream().anyMatch(read -> TuplePrefixes.isAtOrBelow(read.path(), path));
  }

  private static byte[] path(String name) {
    return new FieldPath(List.of(name)).prefixes().get(0);
  }
}
