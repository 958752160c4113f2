package lectus.http.document;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import lectus.document.DocumentId;
import lectus.document.write.EditOutcome;
import lectus.document.write.Writes.Completion;
import lectus.error.LectusError;
import lectus.http.Headers;
import lectus.http.Reply;
import lectus.http.exchange.Exchange;
import lectus.http.exchange.Failures;
import lectus.json.JsonBuffer;
import lectus.metrics.RequestLabel;
import lectus.metrics.StageNotes;
import lectus.revision.RevisionId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How the outcomes of writes reach their clients. */
final class WriteReply {
  private WriteReply() {}

  /**
   * @param status of a success
   * @param location of the document; null for none
   */
  static Reply of(EditOutcome outcome, int status, String location) {
    if (outcome instanceof EditOutcome.Written written) {
      return stored(status, written.id(), written.revision(), location);
    }
    if (outcome instanceof EditOutcome.Unchanged unchanged) {
      return stored(status, unchanged.id(), unchanged.revision(), location);
    }
    return Reply.error(((EditOutcome.Failed) outcome).error());
  }

  /**
   * Writes of local documents have no ETag: their tag is the digest of the content, not the
   * revision.
   */
  private static Reply stored(int status, String id, RevisionId revision, String location) {
    String rev = revision.toString();
    JsonBuffer json = new JsonBuffer(64 + 2 * id.length() + rev.length());
    appendStored(id, rev, json);
    Reply untagged = Reply.json(status, json);
    Reply reply = DocumentId.isLocal(id) ? untagged : untagged.withEtag(rev);
    return location == null ? reply : reply.with(Headers.LOCATION, location);
  }

  /** Answers {@code batch=ok}: the edit was accepted, and its outcome is not reported. */
  static Reply accepted(String id) {
    return Reply.json(202, new JsonBuffer(64).ascii("{\"ok\":true,\"id\":").string(id).octet('}'));
  }

  static void appendStored(String id, String revision, JsonBuffer out) {
    out.ascii("{\"ok\":true,\"id\":").string(id);
    out.ascii(",\"rev\":").string(revision).octet('}');
  }

  static void appendFailed(EditOutcome.Failed failed, JsonBuffer out) {
    out.ascii("{\"id\":").string(failed.id());
    Optional<RevisionId> revision = failed.revision();
    if (revision.isPresent()) {
      out.ascii(",\"rev\":").string(revision.get().toString());
    }
    out.ascii(",\"error\":").string(failed.error().error());
    out.ascii(",\"reason\":").string(failed.error().reason()).octet('}');
  }

  static void appendWithheld(EditOutcome.Withheld withheld, JsonBuffer out) {
    out.ascii("{\"id\":").string(withheld.id());
    out.ascii(",\"error\":\"aborted\",\"reason\":");
    out.string("Another document of this atomic request failed, so nothing was stored.").octet('}');
  }

  /** Answers a request when all its edits are done, on the request's own event loop. */
  record AnsweringAll(Exchange exchange, Function<List<EditOutcome>, Reply> reply)
      implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      exchange
          .context()
          .runOnContext(none -> exchange.guarded(() -> exchange.reply(reply.apply(outcomes))));
    }

    @Override
    public boolean hasLeft() {
      return exchange.isAbandoned();
    }

    @Override
    public void failed(Throwable failure) {
      exchange.context().runOnContext(none -> exchange.fail(failure));
    }
  }

  /** Answers a request when its only edit is done, on the request's own event loop. */
  record Answering(Exchange exchange, Function<EditOutcome, Reply> reply) implements Completion {
    @Override
    public void written(List<EditOutcome> outcomes) {
      EditOutcome outcome = outcomes.get(0);
      exchange.context().runOnContext(none -> exchange.guarded(() -> answer(outcome)));
    }

    private void answer(EditOutcome outcome) {
      exchange.reply(reply.apply(outcome));
    }

    @Override
    public StageNotes stages() {
      return exchange.stages();
    }

    @Override
    public boolean hasLeft() {
      return exchange.isAbandoned();
    }

    @Override
    public void failed(Throwable failure) {
      exchange.context().runOnContext(none -> exchange.fail(failure));
    }
  }

  /** Completes a write that was answered before it was done ({@code batch=ok}). */
  record FireAndForget(RequestLabel request) implements Completion {
    private static final Logger LOG = LoggerFactory.getLogger(FireAndForget.class);

    @Override
    public void written(List<EditOutcome> outcomes) {
      for (EditOutcome outcome : outcomes) {
        if (outcome instanceof EditOutcome.Failed failed) {
          request.on(LOG.atInfo()).log("batch edit failed: {}", failed.error().error());
        }
      }
    }

    @Override
    public void failed(Throwable failure) {
      LectusError error = Failures.errorOf(failure, request);
      request.on(LOG.atInfo()).log("batch edit failed: {}", error.reason());
    }

    @Override
    public boolean isAwaited() {
      return false;
    }
  }
}
