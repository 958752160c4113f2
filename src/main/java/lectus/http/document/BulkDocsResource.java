package lectus.http.document;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.DatabaseName;
import lectus.document.DocumentId;
import lectus.document.edit.ArrivingJson;
import lectus.document.edit.BulkEdits;
import lectus.document.edit.BulkEdits.RefusedEdit;
import lectus.document.edit.BulkReading;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.SentJson;
import lectus.document.write.EditFailures;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.http.ErrorStatus;
import lectus.http.Reply;
import lectus.http.document.DocumentApi.Uuids;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.FlowingBody;
import lectus.http.exchange.Requests;
import lectus.http.exchange.Resource;
import lectus.http.exchange.Services.Documents;
import lectus.http.limits.ParsedMemory;
import lectus.json.JsonBuffer;
import lectus.metrics.StageNotes;

/** {@code /{db}/_bulk_docs}. */
record BulkDocsResource(
    Catalogue catalogue, Documents documents, EditPreparation preparation, Uuids uuids)
    implements Resource {
  private static final int EXPECTATION_FAILED = 417;

  /** How CouchDB prints the missing revision of a document. */
  private static final String NO_BASE = "0-";

  /** Memory of parsed documents that are written together. Larger portions are not faster. */
  private static final long MAX_PORTION_BYTES = 32 << 20;

  /** JSON of more than this part of the memory for bodies goes to the store, which takes longer. */
  private static final int HELD_PART = 2;

  /**
   * More rows at once would delay the other writes of an executor, or the clients of an event loop.
   */
  private static final int MAX_ROWS_AT_ONCE = 1_000;

  @Override
  public void serve(Exchange exchange) {
    Requests.wantPostOfJson(exchange);
    DatabaseName database = exchange.databaseName();
    long memory = exchange.memory().bodies().limit();
    long portion = Math.min(MAX_PORTION_BYTES, memory);
    long mostHeld = Math.min(memory / HELD_PART, FlowingBody.mostBytes(exchange));
    JsonSink.read(
            exchange, () -> ArrivingJson.ofDocuments(documents.attachments(), database, mostHeld))
        .onComplete(json -> new Writing(exchange, database, json, portion).next(), exchange::fail);
  }

  /**
   * Writes the documents of one request, one portion after the other. What the client is told of a
   * portion says nothing of others, so one that fails as a whole is told document by document if
   * others came before it, and so are all that follow one that cannot be read. Replicators are not
   * told: they repeat the request, which does no harm.
   */
  private final class Writing {
    private final Exchange exchange;
    private final DatabaseName database;
    private final ParsedMemory memory;
    private final BulkReading reading;
    private final BulkRows rows;
    private Optional<DatabaseHandle> handle = Optional.empty();
    private boolean isFirst = true;
    private boolean isRepeated = true;

    /** Bytes of the answer for which there is memory. */
    private long counted;

    Writing(Exchange exchange, DatabaseName database, SentJson json, long portionBytes) {
      this.exchange = exchange;
      this.database = database;
      this.memory = exchange.parsing();
      this.rows = new BulkRows(exchange.query().isTrue("known_revisions"));
      this.reading =
          new BulkReading(
              documents.parser(),
              json,
              uuids::next,
              id -> DocumentId.checkIn(handle.orElseThrow(), id),
              memory::add,
              portionBytes);
    }

    void next() {
      exchange
          .parse(memory, this::read)
          .onComplete(portion -> step(() -> reserve(portion)), this::fail);
    }

    /** Counts the whole answer before anything is written of what it will tell. */
    private void reserve(BulkEdits portion) {
      if (!isFirst || portion.areLast()) {
        sign(portion);
        return;
      }
      long bytes = reading.answerBytes();
      exchange
          .held()
          .bodyGrows(bytes)
          .onComplete(
              there -> {
                counted = bytes;
                step(() -> sign(portion));
              },
              this::fail);
    }

    private BulkEdits read() {
      if (handle.isEmpty()) {
        handle = Optional.of(catalogue.open(database));
      }
      return reading.next();
    }

    private void sign(BulkEdits portion) {
      preparation
          .prepareAll(exchange, database, portion.edits())
          .compose(
              prepared -> preparation.designs().checked(exchange, database, portion.with(prepared)))
          .onComplete(prepared -> step(() -> write(prepared)), failure -> failed(portion, failure));
    }

    private void write(BulkEdits portion) {
      List<Edit> edits = portion.edits();
      Completion completion = preparation.completing(database, new Portion(this, portion));
      if (edits.isEmpty()) {
        completion.written(List.of());
        return;
      }
      long jsonBytes = edits.stream().mapToLong(edit -> edit.body().jsonBytes()).sum();
      long bytes = DocumentEditing.memoryOf(jsonBytes, edits.size());
      switch (portion.mode()) {
        case EACH_ALONE -> documents.writes().writeAll(database, edits, bytes, completion);
        case ATOMIC -> documents.writes().writeAtomically(database, edits, bytes, completion);
        case ALL_OR_NOTHING -> end(allOrNothing(edits));
      }
    }

    private void written(BulkEdits portion, List<EditOutcome> outcomes) {
      if (outcomes.size() + portion.refused().size() > MAX_ROWS_AT_ONCE) {
        exchange
            .work(() -> rows.add(portion, outcomes))
            .onComplete(
                failure -> goOn(portion, failure), busy -> overloaded(portion, outcomes, busy));
      } else {
        Optional<LectusError> failure = rows.add(portion, outcomes);
        exchange.context().runOnContext(none -> goOn(portion, failure));
      }
    }

    /** Reports what was stored even if the reader threads are overloaded. */
    private void overloaded(BulkEdits portion, List<EditOutcome> outcomes, Throwable failure) {
      if (failure instanceof LectusException) {
        step(() -> goOn(portion, rows.add(portion, outcomes)));
      } else {
        close(() -> exchange.fail(failure));
      }
    }

    private void failed(BulkEdits portion, Throwable failure) {
      if (isFirst) {
        fail(failure);
      } else {
        LectusError error = EditFailures.errorOf(failure);
        step(
            () ->
                written(
                    portion,
                    portion.edits().stream().map(edit -> EditFailures.of(edit, error)).toList()));
      }
    }

    private void goOn(BulkEdits portion, Optional<LectusError> failure) {
      isFirst = false;
      isRepeated = !portion.newEdits();
      if (failure.isPresent()) {
        end(Reply.error(failure.get()));
      } else if (portion.areLast()) {
        end(rows.reply());
      } else {
        long more = Math.max(0, rows.json.length() - counted);
        counted += more;
        exchange.held().bodyGrows(more).onComplete(there -> step(this::next), this::fail);
      }
    }

    private void end(Reply reply) {
      close(() -> exchange.guarded(() -> exchange.reply(reply)));
    }

    private void fail(Throwable failure) {
      if (isRepeated) {
        close(() -> exchange.fail(failure));
      } else {
        refuseRest(EditFailures.errorOf(failure));
      }
    }

    /** If not even the ids can be read, there are as many rows without. */
    private void refuseRest(LectusError error) {
      exchange
          .work(
              () -> {
                reading.readIds(rows.count(), id -> rows.refuse(Optional.of(id), error));
                return null;
              })
          .onComplete(
              done -> {
                while (rows.count() < reading.documents()) {
                  rows.refuse(Optional.empty(), error);
                }
                end(rows.reply());
              });
    }

    /** What is left behind otherwise is swept some time. */
    private void close(Runnable then) {
      if (reading.isHeld()) {
        then.run();
      } else {
        exchange
            .work(
                () -> {
                  reading.close();
                  return null;
                })
            .onComplete(closed -> then.run());
      }
    }

    private void step(Runnable step) {
      try {
        step.run();
      } catch (RuntimeException | Error failure) {
        fail(failure);
      }
    }
  }

  /** Receives the outcomes of a portion. */
  private record Portion(Writing writing, BulkEdits edits) implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      writing.written(edits, outcomes);
    }

    @Override
    public void failed(Throwable failure) {
      writing.exchange.context().runOnContext(none -> writing.failed(edits, failure));
    }

    @Override
    public boolean hasLeft() {
      return writing.exchange.isAbandoned();
    }

    @Override
    public StageNotes stages() {
      return writing.exchange.stages();
    }
  }

  /**
   * CouchDB 1.x stored conflicts for {@code all_or_nothing}; clusters of later versions refuse
   * every document.
   */
  private static Reply allOrNothing(List<Edit> edits) {
    JsonBuffer out = new JsonBuffer(16 + 128 * edits.size()).octet('[');
    String separator = "";
    for (Edit edit : edits) {
      out.ascii(separator).ascii("{\"id\":").string(edit.id());
      out.ascii(",\"rev\":").string(baseOf(edit)).ascii(",\"error\":\"not_implemented\"");
      out.ascii(",\"reason\":\"all_or_nothing is not supported\"}");
      separator = ",";
    }
    return Reply.json(EXPECTATION_FAILED, out.octet(']'));
  }

  private static String baseOf(Edit edit) {
    return edit instanceof InteractiveEdit document && document.base().isPresent()
        ? document.base().get().toString()
        : NO_BASE;
  }

  /**
   * The answer to a bulk request: a row for each document, in the request's order. For one thread
   * at a time.
   */
  private static final class BulkRows {
    private static final int FIRST_BYTES = 128;

    private final JsonBuffer json = new JsonBuffer(FIRST_BYTES).octet('[');
    private final int start = json.length();
    private final boolean showsKnown;
    private int status = 201;
    private int count;

    /**
     * @param showsKnown whether replicated revisions are listed that were stored already
     */
    BulkRows(boolean showsKnown) {
      this.showsKnown = showsKnown;
    }

    /** Returns how many documents have come. */
    int count() {
      return count;
    }

    /**
     * Adds the rows of documents.
     *
     * @return the error that fails the whole request in place of the rows
     */
    Optional<LectusError> add(BulkEdits bulk, List<EditOutcome> outcomes) {
      boolean isForReplicator = isForReplicator(bulk);
      Optional<LectusError> failure =
          isForReplicator ? ReplicatedOutcomes.toComeAgain(outcomes) : Optional.empty();
      if (failure.isEmpty()) {
        status = bulk.isAtomic() ? status(outcomes) : status;
        withRefused(bulk, outcomes).forEach(outcome -> append(bulk, outcome));
      }
      return failure;
    }

    /**
     * Adds the row of a document that was not written.
     *
     * @param id if it is known
     */
    void refuse(Optional<String> id, LectusError error) {
      count++;
      json.ascii(json.length() > start ? ",{" : "{");
      id.ifPresent(known -> json.ascii("\"id\":").string(known).octet(','));
      json.ascii("\"error\":").string(error.error());
      json.ascii(",\"reason\":").string(error.reason()).octet('}');
    }

    /** Returns the answer; nothing can be added any more. */
    Reply reply() {
      return Reply.json(status, json.octet(']'));
    }

    /** Replicators do not send atomic requests. */
    private static boolean isForReplicator(BulkEdits bulk) {
      return !bulk.newEdits() && !bulk.isAtomic();
    }

    /** Returns the most severe status among the edits of an atomic request that failed. */
    private static int status(List<EditOutcome> outcomes) {
      return outcomes.stream()
          .filter(EditOutcome.Failed.class::isInstance)
          .mapToInt(failed -> ErrorStatus.of(((EditOutcome.Failed) failed).error()))
          .max()
          .orElse(201);
    }

    /** Returns all outcomes in the request's order. */
    private static List<EditOutcome> withRefused(BulkEdits bulk, List<EditOutcome> outcomes) {
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

    /** Of replicated edits only errors are listed, and those known if they are asked for. */
    private void append(BulkEdits bulk, EditOutcome outcome) {
      count++;
      int before = json.length();
      if (before > start) {
        json.octet(',');
      }
      if (outcome instanceof EditOutcome.Failed failed) {
        WriteReply.appendFailed(
            isForReplicator(bulk) ? ReplicatedOutcomes.refused(failed) : failed, json);
      } else if (outcome instanceof EditOutcome.Withheld withheld) {
        WriteReply.appendWithheld(withheld, json);
      } else if (showsKnown && outcome instanceof EditOutcome.Unchanged known) {
        WriteReply.appendStored(known.id(), known.revision().toString(), json);
      } else if (bulk.newEdits() && outcome instanceof EditOutcome.Written written) {
        WriteReply.appendStored(written.id(), written.revision().toString(), json);
      } else {
        json.truncate(before);
      }
    }

    /**
     * Decides what a replicator is told of documents that were not stored. Replicators know two
     * answers only: they continue after a row, and they retry after a failed request.
     *
     * <p>PouchDB continues after rows whose error is {@code forbidden} or {@code unauthorized}. At
     * any other it stops for good, without a checkpoint. CouchDB counts any row as a failed write
     * and saves its checkpoint after it. So a document that can never be stored gets a row with
     * {@code forbidden}. An error that may pass, or is not the document's own, must not become a
     * row, because no replicator would send that document again: it fails the request. The whole
     * batch then comes again, and the documents already stored are recognized.
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

      /** Returns a final refusal. Its reason begins with the name of an error that no row has. */
      static EditOutcome.Failed refused(EditOutcome.Failed failed) {
        LectusError error = failed.error();
        if (error instanceof LectusError.Forbidden || error instanceof LectusError.Unauthorized) {
          return failed;
        }
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
}
