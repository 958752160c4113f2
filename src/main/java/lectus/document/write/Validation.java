package lectus.document.write;

import com.apple.foundationdb.ReadTransaction;
import com.apple.foundationdb.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.attachment.AttachmentList;
import lectus.database.Catalogue;
import lectus.database.DatabaseHandle;
import lectus.database.Sequence;
import lectus.database.Validator;
import lectus.derived.EditWork;
import lectus.document.DocumentId;
import lectus.document.DocumentJson;
import lectus.document.DocumentsSubspace;
import lectus.document.StoredBody;
import lectus.document.edit.Edit;
import lectus.document.edit.InteractiveEdit;
import lectus.document.edit.ReplicatedEdit;
import lectus.document.write.Judge.Judged;
import lectus.document.write.Judge.Question;
import lectus.document.write.Judge.Verdict;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ChosenPaths;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.revision.EditBranch;
import lectus.revision.RevisionHash;
import lectus.revision.RevisionId;
import lectus.revision.RevisionPath;
import lectus.revision.RevisionText;
import lectus.store.Awaiting;

/**
 * The validation of the edits of one transaction by the database's design documents, of which some
 * validate. Selectors are matched here. A function is not called in a transaction: its edit is not
 * stored, and is made again once there is a {@link Verdict}.
 */
final class Validation {
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);

  private final Transaction tx;
  private final DatabaseHandle db;
  private final List<Validator> validators;
  private final List<Validator> functions;
  private final List<Verdict> verdicts;
  private final Optional<LectusError> atWorkEnd;
  private final long mostWork;
  private CompletableFuture<byte[]> security;
  private ChosenPaths matched;
  private long work;

  /**
   * @param verdicts by the edits' places in the request; none, or null where there is none
   * @param mostWork that selectors may do in the transaction
   * @param atWorkEnd of edits for which no work is left; empty: they are made again in another
   *     transaction
   */
  Validation(
      Transaction tx,
      DatabaseHandle db,
      List<Verdict> verdicts,
      long mostWork,
      Optional<LectusError> atWorkEnd) {
    this.tx = tx;
    this.db = db;
    this.validators = db.validators();
    this.functions = validators.stream().filter(it -> it.declaration().isEmpty()).toList();
    this.verdicts = verdicts;
    this.mostWork = mostWork;
    this.atWorkEnd = atWorkEnd;
  }

  /**
   * Begins to judge an edit that is planned, and to read what that needs. As in CouchDB, design
   * documents are not judged; otherwise nobody could remove a validation.
   *
   * @param place of the edit in the request
   * @param made its revision
   * @param old the leaf that it extends
   * @param changedAt when the document was changed last
   * @return empty if nothing judges it
   */
  Optional<Judgement> begin(
      Edit edit,
      int place,
      RevisionId made,
      Optional<EditBranch> old,
      Optional<Sequence> changedAt) {
    if (DocumentId.isDesign(edit.id())) {
      return Optional.empty();
    }
    Judged judged =
        new Judged(
            db.instance(),
            db.configuredAt(),
            old.map(EditBranch::leaf),
            changedAt,
            made,
            edit.by());
    Verdict verdict = verdicts.isEmpty() ? null : verdicts.get(place);
    return Optional.of(
        verdict != null && verdict.judged().equals(judged)
            ? new Judgement(edit, verdict)
            : new Judgement(edit, judged, old));
  }

  /** An edit that is being judged. */
  final class Judgement {
    private final Edit edit;
    private final Judged judged;
    private final Optional<EditBranch> old;
    private final CompletableFuture<StoredBody> oldBody;
    private final Verdict verdict;

    private Judgement(Edit edit, Verdict verdict) {
      this.edit = edit;
      this.judged = verdict.judged();
      this.verdict = verdict;
      this.old = Optional.empty();
      this.oldBody = null;
    }

    private Judgement(Edit edit, Judged judged, Optional<EditBranch> old) {
      this.edit = edit;
      this.judged = judged;
      this.verdict = null;
      this.old = old;
      this.oldBody = old.map(this::read).orElse(null);
      readSecurity();
    }

    private CompletableFuture<StoredBody> read(EditBranch leaf) {
      ReadTransaction snapshot = tx.snapshot();
      DocumentsSubspace documents = new DocumentsSubspace(db);
      return StoredBody.read(snapshot, documents.revision(edit.id(), leaf.deleted(), leaf.leaf()));
    }

    boolean isReading() {
      return verdict == null;
    }

    /** Returns what becomes of the edit instead of being stored; empty if it may be stored. */
    Optional<EditOutcome> finish() {
      if (verdict != null) {
        return verdict.refusal().map(error -> EditFailures.of(edit, error));
      }
      if (work > mostWork) {
        return Optional.of(
            atWorkEnd
                .map(error -> EditFailures.of(edit, error))
                .orElseGet(() -> new EditOutcome.Unjudged(edit.id(), Optional.empty())));
      }
      Question question =
          new Question(
              judged,
              db,
              functions,
              newDoc(edit, judged.made()),
              old.map(this::oldDoc).orElse(NULL),
              edit.by().json(db.name()),
              Awaiting.await(security));
      Optional<LectusError> refusal = refusal(question);
      return refusal.isEmpty() && functions.isEmpty()
          ? Optional.empty()
          : Optional.of(
              refusal
                  .map(error -> EditFailures.of(edit, error))
                  .orElseGet(() -> new EditOutcome.Unjudged(edit.id(), Optional.of(question))));
    }

    private byte[] oldDoc(EditBranch leaf) {
      JsonBuffer out = new JsonBuffer(512);
      StoredBody body = Awaiting.await(oldBody);
      DocumentJson.append(out, edit.id(), leaf.deleted(), leaf.leaf(), body);
      DocumentJson.appendRevisions(out, leaf, db.configuration().revsLimit());
      DocumentJson.close(out, body.attachments());
      return out.toBytes();
    }

    /** Asks the selectors, in the order of the design documents. */
    private Optional<LectusError> refusal(Question question) {
      if (functions.size() == validators.size()) {
        return Optional.empty();
      }
      EditWork its = new EditWork(edit.id());
      try {
        EditWork.Share share = its.share();
        LeafView asked = null;
        for (Validator validator : validators) {
          if (validator.declaration().isEmpty()) {
            continue;
          }
          Validator.Declaration declaration = validator.declaration().get();
          if (declaration.fault().isPresent()) {
            return declaration.fault();
          }
          asked = asked == null ? view(question) : asked;
          if (!share.matches(declaration.selector(), asked)) {
            return Optional.of(new LectusError.Forbidden("document is not valid"));
          }
        }
        return Optional.empty();
      } catch (LectusException tooMuchWork) {
        return Optional.of(tooMuchWork.error());
      } finally {
        work += its.spent();
      }
    }
  }

  private void readSecurity() {
    if (security == null) {
      security = Catalogue.security(tx.snapshot(), db).thenApply(Validation::normal);
    }
  }

  /** Returns JSON that has each member once. */
  private static byte[] normal(byte[] json) {
    JsonBuffer out = new JsonBuffer(json.length);
    JsonValue.parse(json).writeTo(out);
    return out.toBytes();
  }

  /** Returns what the selectors look at. */
  private LeafView view(Question question) {
    JsonBuffer json =
        new JsonBuffer(128 + question.newDoc().length + question.oldDoc().length)
            .ascii("{\"newDoc\":")
            .raw(question.newDoc())
            .ascii(",\"oldDoc\":")
            .raw(question.oldDoc())
            .ascii(",\"userCtx\":")
            .raw(question.user())
            .ascii(",\"secObj\":")
            .raw(question.security())
            .octet('}');
    LeafList leaves = new LeafList(0);
    try (JsonInput input = JsonInput.of(json.array(), 0, json.length())) {
      JsonExploder.chosen(input, matched()).forEach(it -> leaves.add(it.path(), it.value()));
    }
    return leaves.root();
  }

  private ChosenPaths matched() {
    if (matched == null) {
      List<byte[]> paths = new ArrayList<>();
      for (Validator validator : validators) {
        validator
            .declaration()
            .filter(it -> it.fault().isEmpty())
            .ifPresent(it -> it.selector().reads().forEach(read -> paths.add(read.path())));
      }
      matched = ChosenPaths.of(paths);
    }
    return matched;
  }

  /**
   * Returns the document as a client sent it: an interactive edit has the revision that was edited,
   * as in CouchDB, or none.
   */
  private static byte[] newDoc(Edit edit, RevisionId made) {
    boolean isReplicated = edit instanceof ReplicatedEdit;
    Optional<RevisionPath> path =
        edit instanceof ReplicatedEdit replicated
            ? Optional.of(replicated.path())
            : ((InteractiveEdit) edit).base().map(RevisionPath::of);
    JsonBuffer out = new JsonBuffer(128 + edit.body().jsonBytes());
    out.ascii("{\"_id\":").string(edit.id());
    path.ifPresent(it -> RevisionText.append(out.ascii(",\"_rev\":"), it.leaf()));
    if (!edit.body().isEmpty()) {
      edit.body().appendTo(out.octet(','));
    }
    if (edit.deleted()) {
      out.ascii(",\"_deleted\":true");
    }
    appendRevisions(out, path);
    AttachmentList attachments = edit.attachments().of(isReplicated, made.position());
    DocumentJson.close(out, attachments);
    return out.toBytes();
  }

  private static void appendRevisions(JsonBuffer out, Optional<RevisionPath> path) {
    long start = path.map(it -> it.leaf().position()).orElse(0L);
    out.ascii(",\"_revisions\":{\"start\":").number(start).ascii(",\"ids\":[");
    if (path.isPresent()) {
      RevisionText.appendHash(out, path.get().leaf().hash(), start);
      for (RevisionHash ancestor : path.get().ancestors()) {
        RevisionText.appendHash(out.octet(','), ancestor, start);
      }
    }
    out.ascii("]}");
  }
}
