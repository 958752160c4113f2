package lectus.document.read;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import lectus.database.Catalogue;
import lectus.database.DatabaseRequest;
import lectus.document.DatabaseReads;
import lectus.document.ReadAhead;
import lectus.document.RequestJson;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.revision.EditBranch;
import lectus.revision.RevisionId;
import lectus.revision.RevisionText;
import lectus.revision.RevisionsSubspace;
import lectus.store.Awaiting;
import lectus.store.TransactionRunner;

/**
 * Finds which of a replicator's revisions are missing here: {@code _revs_diff} and {@code
 * _missing_revs}.
 */
public final class RevisionsDiff {
  /** Number of documents whose edit branches are read together, in one transaction. */
  private static final int FIRST_DOCUMENTS = 200;

  private static final int MAX_DOCUMENTS = 1_000;

  /** Target size of the branches read together, in bytes. */
  private static final long TARGET_BYTES = 2_000_000;

  private static final int BRANCH_BYTES = 200;
  private static final int REVISION_BYTES = 16;

  private final Catalogue catalogue;
  private final TransactionRunner transactions;

  public RevisionsDiff(Catalogue catalogue, TransactionRunner transactions) {
    this.catalogue = catalogue;
    this.transactions = transactions;
  }

  /** Revisions of a document of which somebody asks whether they are here. */
  public record Question(String id, Collection<RevisionId> revisions) {}

  /**
   * Revisions of a document that are missing here.
   *
   * @param ancestors leaves that may be ancestors of them
   */
  public record Missing(String id, List<RevisionId> revisions, List<RevisionId> ancestors) {}

  /**
   * @param bytes of the branches that were read
   */
  private record Answers(List<Missing> answers, long bytes) {}

  /**
   * Appends the answer to {@code _revs_diff}, without a line feed.
   *
   * @param body the request's body: {@code {"id":["1-x",…],…}}
   * @throws LectusException {@code bad_request}
   */
  public void revsDiff(DatabaseRequest asked, byte[] body, JsonBuffer out) {
    out.octet('{')
        .each(
            missing(asked, questions(RequestJson.object(body))),
            answer -> {
              RevisionText.appendAll(
                  out.string(answer.id()).ascii(":{\"missing\":"), answer.revisions());
              if (!answer.ancestors().isEmpty()) {
                RevisionText.appendAll(out.ascii(",\"possible_ancestors\":"), answer.ancestors());
              }
              out.octet('}');
            })
        .octet('}');
  }

  /** Appends the answer to {@code _missing_revs}; otherwise like {@link #revsDiff}. */
  public void missingRevs(DatabaseRequest asked, byte[] body, JsonBuffer out) {
    out.ascii("{\"missing_revs\":{")
        .each(
            missing(asked, questions(RequestJson.object(body))),
            it -> RevisionText.appendAll(out.string(it.id()).octet(':'), it.revisions()))
        .ascii("}}");
  }

  /** Returns what is missing; nothing of documents of which nothing is. */
  public List<Missing> missing(DatabaseRequest asked, List<Question> questions) {
    DatabaseReads reads = new DatabaseReads(catalogue, transactions, asked);
    List<Missing> answers = new ArrayList<>();
    ReadAhead ahead = new ReadAhead(FIRST_DOCUMENTS, MAX_DOCUMENTS, TARGET_BYTES);
    int from = 0;
    do {
      int to = Math.min(questions.size(), from + ahead.size());
      Answers some = answers(reads, questions.subList(from, to));
      answers.addAll(some.answers());
      ahead.took(Math.max(1, to - from), some.bytes());
      from = to;
    } while (from < questions.size());
    return answers;
  }

  private static List<Question> questions(JsonValue.JsonObject body) {
    List<Question> questions = new ArrayList<>(body.members().size());
    for (Map.Entry<String, JsonValue> member : body.members().entrySet()) {
      if (!(member.getValue() instanceof JsonValue.JsonArray array)) {
        throw LectusException.badRequest("Revisions of a document must be a JSON array");
      }
      Set<RevisionId> revisions = new LinkedHashSet<>(RequestJson.revisions(array));
      questions.add(new Question(member.getKey(), revisions));
    }
    return questions;
  }

  private static Answers answers(DatabaseReads reads, List<Question> questions) {
    return reads.read(
        (tx, db) -> {
          RevisionsSubspace revisions = new RevisionsSubspace(db);
          AllDocsSubspace allDocs = new AllDocsSubspace(db);
          List<CompletableFuture<List<EditBranch>>> reading = new ArrayList<>(questions.size());
          for (Question question : questions) {
            reading.add(
                allDocs.isKnownNew(tx, question.id())
                    ? CompletableFuture.completedFuture(List.of())
                    : revisions.branches(tx, question.id()));
          }
          List<Missing> answers = new ArrayList<>();
          long bytes = 0;
          for (int i = 0; i < questions.size(); i++) {
            List<EditBranch> branches = Awaiting.await(reading.get(i));
            for (EditBranch branch : branches) {
              bytes += BRANCH_BYTES + (long) REVISION_BYTES * branch.length();
            }
            Missing answer = answer(questions.get(i), branches);
            if (!answer.revisions().isEmpty()) {
              answers.add(answer);
            }
          }
          return new Answers(answers, bytes);
        });
  }

  private static Missing answer(Question question, List<EditBranch> branches) {
    List<RevisionId> missing =
        question.revisions().stream()
            .filter(revision -> branches.stream().noneMatch(it -> it.contains(revision)))
            .toList();
    long highest = missing.stream().mapToLong(RevisionId::position).max().orElse(0);
    List<RevisionId> ancestors =
        branches.stream()
            .map(EditBranch::leaf)
            .filter(leaf -> leaf.position() < highest)
            .sorted(Comparator.reverseOrder())
            .toList();
    return new Missing(question.id(), missing, ancestors);
  }
}
