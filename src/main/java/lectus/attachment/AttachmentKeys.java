package lectus.attachment;

import com.apple.foundationdb.Range;
import lectus.database.DatabaseSubspace;
import lectus.json.TupleWriter;

/** The parts of the attachments' subspace; the number is the second element of their keys. */
public enum AttachmentKeys {
  /** Contents that are wholly stored. */
  CONTENTS(0),
  /** The bytes of contents, and of those that are being stored. */
  CHUNKS(1),
  /** Which leaves show a content. */
  REFERENCES(2),
  /** Contents that may have lost their last reference, or have got none yet. */
  UNUSED(3),
  /** Contents that are being stored. */
  UPLOADS(4);

  private final int number;

  AttachmentKeys(int number) {
    this.number = number;
  }

  public TupleWriter key(byte[] databasePrefix) {
    return DatabaseSubspace.ATTACHMENTS.key(databasePrefix).integer(number);
  }

  public Range range(byte[] databasePrefix) {
    return Range.startsWith(key(databasePrefix).toBytes());
  }
}
