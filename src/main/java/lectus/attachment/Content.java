package lectus.attachment;

/**
 * A content to which a document may refer now.
 *
 * @param length in bytes, as stored
 * @param md5 of the bytes as stored
 */
public record Content(ContentId id, long length, Md5 md5) {}
