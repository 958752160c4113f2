package lectus.document.testing;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import lectus.database.Validator;
import lectus.document.read.DesignPrograms;
import lectus.document.write.Judge;
import lectus.error.LectusError;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.revision.RevisionId;
import lectus.store.Store;
import lectus.store.TransactionLimits;
import lectus.store.TransactionRunner;

/**
 * Runs functions that need no child process. The text of one is {@code accept}, {@code refuse},
 * {@code min 5} (the new document's member v is at least 5), {@code was} (its member was is the old
 * document's v, or null) or {@code owner} (its member owner is the user).
 */
public final class JavaFunctions implements Judge {
  public static final Optional<LectusError> ACCEPTED = Optional.empty();

  private final DesignPrograms programs;
  private final AtomicInteger calls = new AtomicInteger();
  private volatile Runnable before = () -> {};

  public JavaFunctions(Store store) {
    this.programs =
        new DesignPrograms(new TransactionRunner(store, TransactionLimits.DEFAULT), 1 << 20);
  }

  /** Returns a design document with such a function. */
  public static String validating(String function) {
    return "{\"validate_doc_update\":\"" + function + "\"}";
  }

  /** Returns how many functions were called. */
  public int calls() {
    return calls.get();
  }

  /** Has something done before each verdict. */
  public void before(Runnable action) {
    before = action;
  }

  @Override
  public List<CompletableFuture<Verdict>> judge(List<Question> questions) {
    return questions.stream().map(it -> CompletableFuture.supplyAsync(() -> judge(it))).toList();
  }

  private Verdict judge(Question question) {
    Optional<LectusError> refusal = Optional.empty();
    for (Validator validator : question.functions()) {
      if (refusal.isEmpty()) {
        refusal = call(question, validator);
      }
    }
    before.run();
    return new Verdict(question.judged(), refusal);
  }

  private Optional<LectusError> call(Question question, Validator validator) {
    calls.incrementAndGet();
    try {
      RevisionId revision = RevisionId.of(validator.revision());
      byte[] design =
          programs
              .of(question.db(), validator.designId(), revision, validator.changedAt())
              .join()
              .json();
      return refusal(
          text(parsed(design), "validate_doc_update"),
          parsed(question.newDoc()),
          question.oldDoc(),
          parsed(question.user()));
    } catch (RuntimeException gone) {
      return Optional.of(new LectusError.Unavailable("The function cannot be read."));
    }
  }

  /** Returns why a function refuses a document. */
  public static Optional<LectusError> refusal(
      String function, JsonObject newDoc, byte[] oldDoc, JsonObject user) {
    String[] words = function.split(" ");
    boolean isAccepted =
        switch (words[0]) {
          case "accept" -> true;
          case "min" -> number(newDoc, "v") >= Integer.parseInt(words[1]);
          case "was" -> newDoc.get("was").equals(Optional.of(v(JsonValue.parse(oldDoc))));
          case "owner" -> newDoc.get("owner").equals(user.get("name"));
          default -> false;
        };
    if (isAccepted) {
      return ACCEPTED;
    }
    return Optional.of(
        words[0].equals("owner")
            ? new LectusError.Unauthorized(function)
            : new LectusError.Forbidden(function));
  }

  private static JsonValue v(JsonValue oldDoc) {
    return oldDoc instanceof JsonObject object ? object.get("v").orElseThrow() : new JsonNull();
  }

  private static int number(JsonObject object, String member) {
    return object
        .get(member)
        .map(it -> it instanceof JsonNumber number ? Integer.parseInt(number.text()) : -1)
        .orElse(-1);
  }

  private static JsonObject parsed(byte[] json) {
    return (JsonObject) JsonValue.parse(json);
  }

  private static String text(JsonObject object, String member) {
    return ((JsonString) object.get(member).orElseThrow()).value();
  }

  /** Returns JSON as text. */
  public static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8);
  }
}
