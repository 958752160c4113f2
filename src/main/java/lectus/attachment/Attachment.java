package lectus.attachment;

/**
 * An attachment of a leaf.
 *
 * @param content its bytes as they are stored
 * @param md5 of the bytes as they are stored; the client sees it as {@code md5-…}
 * @param length of the bytes before they were encoded
 * @param storedLength of the bytes as they are stored
 * @param gzipped whether they are stored compressed
 * @param position of the revision that brought it, CouchDB's {@code revpos}
 */
public record Attachment(
    String name,
    String type,
    ContentId content,
    Md5 md5,
    long length,
    long storedLength,
    boolean gzipped,
    long position) {

  public Attachment as(String otherType) {
    return new Attachment(name, otherType, content, md5, length, storedLength, gzipped, position);
  }

  public Attachment at(long revisionPosition) {
    return new Attachment(
        name, type, content, md5, length, storedLength, gzipped, revisionPosition);
  }
}
