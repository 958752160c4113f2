package lectus.attachment;

import java.util.HexFormat;
import lectus.tuple.TupleWriter;

/**
 * The attachment that an upload in pieces is for, as a hash of fixed length.
 *
 * @param hex SHA-256 of the tuple (document, attachment's name)
 */
public record UploadTarget(String hex) {
  private static final int TYPICAL_BYTES = 128;

  public static UploadTarget of(String docId, String name) {
    byte[] target = new TupleWriter(TYPICAL_BYTES).string(docId).string(name).toBytes();
    return of(Digests.sha256().digest(target));
  }

  static UploadTarget of(byte[] hash) {
    return new UploadTarget(HexFormat.of().formatHex(hash));
  }

  byte[] bytes() {
    return HexFormat.of().parseHex(hex);
  }
}
