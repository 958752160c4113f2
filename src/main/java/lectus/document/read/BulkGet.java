package lectus.document.read;

import java.util.ArrayList;
import java.util.List;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.document.AttachmentsShown;
import lectus.document.DatabaseReads;
import lectus.document.FilledBody;
import lectus.document.PagedBody;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.store.TransactionRunner;

/** {@code _bulk_get}: many revisions of many documents at once. */
public final class BulkGet {
  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public BulkGet(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /**
   * Returns the whole answer.
   *
   * @param body the request's body, JSON
   * @param revs adds {@code _revisions} to each document
   * @param latest returns the leaves below the requested revisions instead
   * @param attachments how documents show them
   * @param form the format of the answer
   * @throws LectusException {@code bad_request}
   */
  public PagedBody answer(
      DatabaseRequest asked,
      byte[] body,
      boolean revs,
      boolean latest,
      AttachmentsShown attachments,
      BulkGetForm form) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    return new FilledBody(
        reads, new BulkGetBody(reads, requests(body), revs, latest, attachments, form));
  }

  private static List<BulkGetRequest> requests(byte[] body) {
    JsonValue docs =
        RequestJson.object(body)
            .get("docs")
            .orElseThrow(() -> LectusException.badRequest("Missing JSON list of 'docs'."));
    if (!(docs instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Missing JSON list of 'docs'.");
    }
    List<BulkGetRequest> requests = new ArrayList<>(array.elements().size());
    for (JsonValue element : array.elements()) {
      requests.add(BulkGetRequest.parse(element));
    }
    return requests;
  }
}
