package lectus.document.edit;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import lectus.error.LectusException;
import lectus.json.JsonInput;

/**
 * The edits of a {@code _bulk_docs} request.
 *
 * <p>CouchDB refuses the whole request if it cannot take one document, and replicators stop for
 * good when a request is refused. Here such a document fails alone, like one in conflict. The whole
 * request is refused only in a mode in which one failure prevents all writes, or if none of its
 * documents could be stored and it does not come from a replicator.
 *
 * @param edits in the request's order
 * @param refused the documents that are not valid edits, in the request's order
 * @param newEdits false if the documents bring their own revisions
 */
public record BulkEdits(
    List<Edit> edits, List<RefusedEdit> refused, boolean newEdits, BulkMode mode) {

  /** More documents would make an answer of 50 MB, and have hardly a hundred bytes each. */
  public static final int MOST_DOCUMENTS = 500_000;

  /**
   * @param newId generates ids for documents without one
   * @param ids throws what is wrong with an id in this database
   * @param memory receives, for each document, the approximate bytes of memory that it holds;
   *     throws when that is too much
   * @throws LectusException {@code bad_request}: not JSON, or of another shape; the error of the
   *     first refused document, if that refuses the request; {@code too_large} (413): more than
   *     {@value #MOST_DOCUMENTS} documents
   */
  public static BulkEdits parse(
      DocumentParser parser,
      byte[] json,
      Supplier<String> newId,
      Consumer<String> ids,
      LongConsumer memory) {
    BulkRequest request = new BulkRequest(parser, memory);
    try (JsonInput input = JsonInput.of(json)) {
      request.read(input);
      input.expectEnd();
    }
    BulkEdits bulk = request.edits(newId, ids);
    bulk.requireWorthwhile();
    return bulk;
  }

  public boolean isAtomic() {
    return mode == BulkMode.ATOMIC;
  }

  private void requireWorthwhile() {
    boolean refusesAll = mode != BulkMode.EACH_ALONE || (newEdits && edits.isEmpty());
    if (refusesAll && !refused.isEmpty()) {
      throw new LectusException(refused.get(0).error());
    }
  }
}
