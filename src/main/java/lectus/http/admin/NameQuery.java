package lectus.http.admin;

import lectus.database.NameRange;
import lectus.document.list.AllDocsQuery;
import lectus.document.list.AllDocsQuery.Listing;
import lectus.document.list.ListKey;
import lectus.http.message.QueryParameters;
import lectus.json.JsonValue;

/**
 * Parses the parameters of lists of databases into a range of names. In CouchDB these are lists of
 * documents, so the parameters are those of {@code _all_docs}.
 */
final class NameQuery {
  private NameQuery() {}

  /**
   * @throws lectus.error.LectusException {@code query_parse_error}, {@code bad_request}
   */
  static NameRange parse(QueryParameters query) {
    AllDocsQuery list = AllDocsQuery.parse(Listing.ALL, query.asMap(), null);
    return new NameRange(
        list.start().map(NameQuery::name),
        list.end().map(NameQuery::name),
        list.inclusiveEnd(),
        list.descending(),
        list.skip(),
        list.limit());
  }

  /** A key that is not a string sorts before all names, as it does among documents. */
  private static String name(ListKey key) {
    return key.json() instanceof JsonValue.JsonString name ? name.value() : "";
  }
}
