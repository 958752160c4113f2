package lectus.http.document;

import java.util.List;

/** How the names behind a database's make a document's id. */
final class DocumentNames {
  private DocumentNames() {}

  /**
   * @param segments of a path that names a document: {@code _design/x} and {@code _local/x} may
   *     come as two names or as one with an encoded slash
   */
  static String idOf(List<String> segments) {
    String id = segments.get(1);
    return segments.size() == 2 ? id : id + '/' + segments.get(2);
  }
}
