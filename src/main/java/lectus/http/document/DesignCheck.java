package lectus.http.document;

import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.edit.BulkEdits;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.write.DesignRules;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.DesignFunctions;
import lectus.http.exchange.Exchange;
import lectus.json.JsonBuffer;

/**
 * Refuses a design document with a function that does not compile, if a client writes it. Those of
 * replicators are stored all the same, and so are all while no function can be run: what needs the
 * function says so.
 */
record DesignCheck(DesignFunctions functions) {

  /**
   * @return fails with {@code compilation_error} (400)
   */
  Future<Edit> checked(Exchange exchange, DatabaseName database, Edit edit) {
    return problem(exchange, database, edit)
        .compose(
            problem ->
                problem
                    .<Future<Edit>>map(it -> Future.failedFuture(new LectusException(it)))
                    .orElseGet(() -> Future.succeededFuture(edit)));
  }

  /** As above, for the edits of one request: those that fail count as refused. */
  Future<BulkEdits> checked(Exchange exchange, DatabaseName database, BulkEdits bulk) {
    List<Future<Optional<LectusError>>> checks = new ArrayList<>();
    Map<Integer, LectusError> problems = new HashMap<>();
    for (int number = 0; number < bulk.edits().size(); number++) {
      int place = number;
      if (isChecked(bulk.edits().get(number))) {
        checks.add(
            problem(exchange, database, bulk.edits().get(number))
                .onSuccess(problem -> problem.ifPresent(it -> problems.put(place, it))));
      }
    }
    return checks.isEmpty()
        ? Future.succeededFuture(bulk)
        : Future.all(checks).map(all -> bulk.without(problems));
  }

  private static boolean isChecked(Edit edit) {
    return edit instanceof InteractiveEdit && !edit.deleted() && DocumentId.isDesign(edit.id());
  }

  private Future<Optional<LectusError>> problem(
      Exchange exchange, DatabaseName database, Edit edit) {
    if (!isChecked(edit)) {
      return Future.succeededFuture(Optional.empty());
    }
    return exchange
        .work(() -> json(edit))
        .compose(
            json ->
                json.map(
                        it ->
                            Future.fromCompletionStage(
                                functions.problem(database, edit.id(), it), exchange.context()))
                    .orElseGet(() -> Future.succeededFuture(Optional.empty())));
  }

  /**
   * Returns the document; empty if its members are refused anyway, or there is nothing to compile.
   */
  private static Optional<byte[]> json(Edit edit) {
    if (DesignRules.problem(edit.body(), false).isPresent()
        || !DesignRules.hasSource(edit.body())) {
      return Optional.empty();
    }
    JsonBuffer json = new JsonBuffer(edit.body().jsonBytes() + 2).octet('{');
    edit.body().appendTo(json);
    return Optional.of(json.octet('}').toBytes());
  }
}
