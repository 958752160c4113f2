package lectus.http.document;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import lectus.document.edit.BulkEdits;
import lectus.document.edit.RefusedEdit;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.exchange.Exchange;
import lectus.http.message.ErrorStatus;
import lectus.http.message.Reply;
import lectus.json.JsonBuffer;
import lectus.measure.StageNotes;

/** Answers a bulk request when all of its edits are done, with a row for each document. */
record BulkAnswering(Exchange exchange, BulkEdits bulk) implements Completion {
  private static final int TYPICAL_ROW_BYTES = 96;

  /**
   * More rows at once would delay the other writes of an executor, or the clients of an event loop.
   */
  private static final int MOST_ROWS_AT_ONCE = 1_000;

  @Override
  public void written(List<EditOutcome> outcomes) {
    if (outcomes.size() + bulk.refused().size() > MOST_ROWS_AT_ONCE) {
      exchange.work(() -> reply(outcomes)).onComplete(this::send, busy -> busy(outcomes, busy));
    } else {
      send(reply(outcomes));
    }
  }

  /** Reports what was stored even if the reader threads are overloaded. */
  private void busy(List<EditOutcome> outcomes, Throwable failure) {
    if (failure instanceof LectusException) {
      send(reply(outcomes));
    } else {
      failed(failure);
    }
  }

  private void send(Reply reply) {
    exchange.context().runOnContext(none -> exchange.guarded(() -> exchange.reply(reply)));
  }

  @Override
  public StageNotes stages() {
    return exchange.stages();
  }

  @Override
  public void failed(Throwable failure) {
    exchange.context().runOnContext(none -> exchange.fail(failure));
  }

  private Reply reply(List<EditOutcome> outcomes) {
    return failure(outcomes).map(Reply::error).orElseGet(() -> rows(outcomes));
  }

  private Optional<LectusError> failure(List<EditOutcome> outcomes) {
    return isForReplicator() ? ReplicatedOutcomes.toComeAgain(outcomes) : Optional.empty();
  }

  /** Replicators do not send atomic requests. */
  private boolean isForReplicator() {
    return !bulk.newEdits() && !bulk.isAtomic();
  }

  private Reply rows(List<EditOutcome> outcomes) {
    return Reply.json(status(outcomes), json(withRefused(outcomes)));
  }

  /** Returns the most severe status among the edits of an atomic request that failed. */
  private int status(List<EditOutcome> outcomes) {
    if (!bulk.isAtomic()) {
      return 201;
    }
    return outcomes.stream()
        .filter(EditOutcome.Failed.class::isInstance)
        .mapToInt(failed -> ErrorStatus.of(((EditOutcome.Failed) failed).error()))
        .max()
        .orElse(201);
  }

  /** Returns all outcomes in the request's order. */
  private List<EditOutcome> withRefused(List<EditOutcome> outcomes) {
    if (bulk.refused().isEmpty()) {
      return outcomes;
    }
    List<EditOutcome> all = new ArrayList<>(outcomes.size() + bulk.refused().size());
    Iterator<EditOutcome> written = outcomes.iterator();
    for (RefusedEdit refused : bulk.refused()) {
      while (all.size() < refused.place()) {
        all.add(written.next());
      }
      all.add(new EditOutcome.Failed(refused.id(), refused.revision(), refused.error()));
    }
    written.forEachRemaining(all::add);
    return all;
  }

  private JsonBuffer json(List<EditOutcome> outcomes) {
    JsonBuffer out = new JsonBuffer(16 + TYPICAL_ROW_BYTES * outcomes.size()).octet('[');
    int start = out.length();
    for (EditOutcome outcome : outcomes) {
      int before = out.length();
      if (before > start) {
        out.octet(',');
      }
      if (!append(outcome, out)) {
        out.truncate(before);
      }
    }
    return out.octet(']');
  }

  /** Returns whether a row was written: for replicated edits only errors are listed. */
  private boolean append(EditOutcome outcome, JsonBuffer out) {
    if (outcome instanceof EditOutcome.Failed failed) {
      EditReplies.appendFailed(
          isForReplicator() ? ReplicatedOutcomes.refused(failed) : failed, out);
      return true;
    }
    if (outcome instanceof EditOutcome.Withheld withheld) {
      EditReplies.appendWithheld(withheld, out);
      return true;
    }
    if (bulk.newEdits() && outcome instanceof EditOutcome.Written written) {
      EditReplies.appendStored(written.id(), written.revision().toString(), out);
      return true;
    }
    return false;
  }

  /**
   * Decides what a replicator is told of documents that were not stored. Replicators know two
   * answers only: they continue after a row, and they retry after a failed request.
   *
   * <p>PouchDB continues after rows whose error is {@code forbidden} or {@code unauthorized}. At
   * any other it stops for good, without a checkpoint. CouchDB counts any row as a failed write and
   * saves its checkpoint after it. So a document that can never be stored gets a row with {@code
   * forbidden}. An error that may pass, or is not the document's own, must not become a row,
   * because no replicator would send that document again: it fails the request. The whole batch
   * then comes again, and the documents already stored are recognized.
   */
  private static final class ReplicatedOutcomes {
    private ReplicatedOutcomes() {}

    /**
     * Returns the error that fails the whole request; empty if all that was not stored can never
     * be.
     */
    static Optional<LectusError> toComeAgain(List<EditOutcome> outcomes) {
      return outcomes.stream()
          .filter(EditOutcome.Failed.class::isInstance)
          .map(failed -> ((EditOutcome.Failed) failed).error())
          .filter(ReplicatedOutcomes::mayPass)
          .findFirst();
    }

    /** Returns a final refusal. Its reason begins with the error's own name. */
    static EditOutcome.Failed refused(EditOutcome.Failed failed) {
      LectusError error = failed.error();
      LectusError told = new LectusError.Forbidden(error.error() + ": " + error.reason());
      return new EditOutcome.Failed(failed.id(), failed.revision(), told);
    }

    /**
     * Whether the error may pass. That includes a missing database: another one of its name may
     * take the document.
     */
    private static boolean mayPass(LectusError error) {
      return error instanceof LectusError.Unavailable
          || error instanceof LectusError.InDoubt
          || error instanceof LectusError.InsufficientStorage
          || error instanceof LectusError.Internal
          || error instanceof LectusError.NotFound;
    }
  }
}
