package lectus.document.write;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.DatabaseHandle;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.Validator;
import lectus.document.read.DesignPrograms;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.script.Call;
import lectus.script.Kind;
import lectus.script.Outcome;
import lectus.script.Program;
import lectus.script.Scripts;

/** Calls functions in child processes. */
public final class ScriptJudge implements Judge {
  private static final List<String> PATH = List.of("validate_doc_update");

  private final DesignPrograms programs;
  private final Scripts scripts;

  public ScriptJudge(DesignPrograms programs, Scripts scripts) {
    this.programs = programs;
    this.scripts = scripts;
  }

  /** Questions of one state of one database, which the same functions are asked. */
  private record Court(InstanceId instance, Optional<Sequence> configuredAt) {}

  @Override
  public List<CompletableFuture<Verdict>> judge(List<Question> questions) {
    Map<Court, List<Asked>> courts = new LinkedHashMap<>();
    List<CompletableFuture<Verdict>> verdicts = new ArrayList<>(questions.size());
    for (Question question : questions) {
      Judged about = question.judged();
      Asked asked = new Asked(question);
      courts
          .computeIfAbsent(
              new Court(about.instance(), about.configuredAt()), it -> new ArrayList<>())
          .add(asked);
      verdicts.add(asked.verdict);
    }
    courts.values().forEach(this::ask);
    return verdicts;
  }

  private void ask(List<Asked> all) {
    DatabaseHandle db = all.get(0).question.db();
    for (Validator validator : all.get(0).question.functions()) {
      programs
          .of(db, validator.designId(), RevisionId.of(validator.revision()), validator.changedAt())
          .whenComplete((program, failure) -> ask(program, failure, db, all));
    }
  }

  /** Asks one function. If its program is gone, the verdict on an edit will not be looked at. */
  private void ask(Program program, Throwable failure, DatabaseHandle db, List<Asked> all) {
    if (failure != null) {
      LectusError error = new LectusError.Unavailable("A validate_doc_update could not be read.");
      all.forEach(it -> it.refuse(error));
      return;
    }
    List<Asked> open = all.stream().filter(it -> !it.verdict.isDone()).toList();
    List<Call> calls = open.stream().map(Asked::call).toList();
    List<CompletableFuture<Outcome>> outcomes =
        scripts.run(Scripts.Pool.INTERACTIVE, db.instance().hex(), program, calls);
    for (int i = 0; i < open.size(); i++) {
      open.get(i).await(outcomes.get(i));
    }
  }

  /** A question on its way. The first refusal is the verdict. */
  private static final class Asked {
    private final Question question;
    private final CompletableFuture<Verdict> verdict = new CompletableFuture<>();
    private int left;

    Asked(Question question) {
      this.question = question;
      this.left = question.functions().size();
    }

    Call call() {
      return new Call(
          Kind.VALIDATE,
          PATH,
          List.of(question.newDoc(), question.oldDoc(), question.user(), question.security()));
    }

    void await(CompletableFuture<Outcome> outcome) {
      verdict.whenComplete((done, cancelled) -> outcome.cancel(false));
      outcome.whenComplete((ended, cancelled) -> take(ended));
    }

    private void take(Outcome ended) {
      Optional<LectusError> refusal = refusal(ended);
      if (refusal.isPresent()) {
        refuse(refusal.get());
      } else {
        accept();
      }
    }

    void refuse(LectusError error) {
      verdict.complete(new Verdict(question.judged(), Optional.of(error)));
    }

    private synchronized void accept() {
      left--;
      if (left == 0) {
        verdict.complete(new Verdict(question.judged(), Optional.empty()));
      }
    }

    /**
     * @param ended null if the call was cancelled
     */
    private static Optional<LectusError> refusal(Outcome ended) {
      if (ended instanceof Outcome.Value) {
        return Optional.empty();
      }
      if (ended instanceof Outcome.Thrown thrown) {
        return Optional.of(
            switch (thrown.error()) {
              case "forbidden" -> new LectusError.Forbidden(thrown.reason());
              case "unauthorized" -> new LectusError.Unauthorized(thrown.reason());
              default -> new LectusError.BadRequest(thrown.error(), thrown.reason());
            });
      }
      if (ended instanceof Outcome.NotCompiled broken) {
        return Optional.of(new LectusError.BadRequest("compilation_error", broken.reason()));
      }
      String why = ended instanceof Outcome.Failed failed ? failed.reason() : "cancelled";
      return Optional.of(
          new LectusError.Unavailable("validate_doc_update could not be run: " + why));
    }
  }
}
