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
 * <p>CouchDB refuses the whole request for one document that it cannot take, and replicators stop
 * for good at a request that is refused. Here such a document fails alone, as one in conflict does.
 * The whole request is refused where its mode lets nothing of it be stored then, and where nothing
 * of it could be, unless it is a replicator's.
 *
 * @param edits in the request's order
 * @param refused the documents that are no edits, in the request's order
 * @param newEdits false where the documents come with revisions of their own
 */
public record BulkEdits(
    List<Edit> edits, List<RefusedEdit> refused, boolean newEdits, BulkMode mode) {

  /** More would be an answer of 50 MB, and documents of hardly a hundred bytes each. */
  public static final int MOST_DOCUMENTS = 500_000;

  /**
   * @param newId makes ids for documents without one
   * @param ids throws what is wrong with an id in this database
   * @param memory told of each document about how many bytes of memory it holds; throws when that
   *     is too much
   * @throws LectusException {@code bad_request}: no JSON, or of another shape; what is wrong with
   *     the first refused document where that refuses the request; {@code too_large} (413): more
   *     than {@value #MOST_DOCUMENTS} documents
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
    boolean refusesAll = mode != BulkMode.EACH_ALONE || newEdits && edits.isEmpty();
    if (refusesAll && !refused.isEmpty()) {
      throw new LectusException(refused.get(0).error());
    }
  }
}
