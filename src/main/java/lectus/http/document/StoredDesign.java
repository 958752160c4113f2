package lectus.http.document;

import java.util.Optional;
import lectus.database.DatabaseRequest;
import lectus.document.read.DocumentQuery;
import lectus.document.read.DocumentReader;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ExplodedBody;
import lectus.json.JsonAssembler;
import lectus.json.JsonBuffer;
import lectus.mango.query.IndexDesign;

/** Reads design documents of indexes. */
final class StoredDesign {
  private StoredDesign() {}

  /** Returns empty if the document is not there. */
  static Optional<IndexDesign> read(DocumentReader documents, DatabaseRequest database, String id) {
    JsonBuffer json = new JsonBuffer(1_024);
    try {
      documents.read(database, id, DocumentQuery.DEFAULT, json);
    } catch (LectusException missing) {
      if (isOfDocument(missing.error())) {
        return Optional.empty();
      }
      throw missing;
    }
    return Optional.of(IndexDesign.of(json.toBytes()));
  }

  private static boolean isOfDocument(LectusError error) {
    return error instanceof LectusError.NotFound
        && (error.reason().equals("missing") || error.reason().equals("deleted"));
  }

  /** Returns the document with this body as it will be read once it is stored. */
  static IndexDesign of(ExplodedBody body) {
    JsonBuffer json = new JsonBuffer(256).octet('{');
    new JsonAssembler(json, false).all(body);
    return IndexDesign.of(json.octet('}').toBytes());
  }
}
