package lectus.document.write;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.UserContext;
import lectus.database.Validator;
import lectus.error.LectusError;
import lectus.revision.RevisionId;

/** Asks the functions {@code validate_doc_update} of design documents. */
@FunctionalInterface
public interface Judge {
  /** Nothing runs functions. */
  Judge NONE =
      questions -> {
        LectusError none = new LectusError.Unavailable("This server does not run functions.");
        return questions.stream()
            .map(
                it ->
                    CompletableFuture.completedFuture(new Verdict(it.judged(), Optional.of(none))))
            .toList();
      };

  /**
   * Never blocks, never throws. A question whose future is cancelled need not be asked any more.
   *
   * @return one for each question, in order; none fails
   */
  List<CompletableFuture<Verdict>> judge(List<Question> questions);

  /**
   * What the functions are called with, as JSON.
   *
   * @param functions to be called, of design documents as they were when the edit was planned
   * @param oldDoc {@code null} for a document that is new or was deleted
   */
  record Question(
      Judged judged,
      DatabaseHandle db,
      List<Validator> functions,
      byte[] newDoc,
      byte[] oldDoc,
      byte[] user,
      byte[] security) {
    /** Memory of a question besides its JSON: objects, a future, a call of each function. */
    private static final int OTHER_BYTES = 1_000;

    /** Returns about how many bytes of memory it takes. */
    public long bytes() {
      return (long) OTHER_BYTES + newDoc.length + oldDoc.length + user.length + security.length;
    }
  }

  /**
   * What a verdict depends on. It counts as long as a planned edit depends on the same.
   *
   * @param configuredAt when the database's version key was moved: every change of a validator or
   *     of the security object moves it
   * @param old the leaf that the edit extends
   * @param changedAt the sequence of the document's last change: the revision of a leaf may be
   *     purged and come again with another body
   * @param made the edit's revision
   */
  record Judged(
      InstanceId instance,
      Optional<Sequence> configuredAt,
      Optional<RevisionId> old,
      Optional<Sequence> changedAt,
      RevisionId made,
      UserContext by) {}

  /**
   * @param refusal why the edit must not be stored; empty if it may be
   */
  record Verdict(Judged judged, Optional<LectusError> refusal) {}
}
