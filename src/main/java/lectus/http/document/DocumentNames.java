package lectus.http.document;

import java.util.List;

/** Joins the path segments after the database's name to a document's id. */
final class DocumentNames {
  private DocumentNames() {}

  /**
   * @param segments of a path that names a document: {@code _design/x} and {@code _local/x} may
   *     arrive as two names or as one with an encoded slash
   */
  static String idOf(List<String> segments) {
    String id = segments.get(1);
    return segments.size() == 2 ? id : id + '/' + segments.get(2);
  }
}
