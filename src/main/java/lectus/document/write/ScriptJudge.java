package lectus.document.write;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import lectus.database.InstanceId;
import lectus.database.Sequence;
import lectus.database.Validator;
import lectus.document.read.DesignPrograms;
import lectus.error.LectusError;
import lectus.revision.RevisionId;
import lectus.script.Call;
import lectus.script.Call.Program;
import lectus.script.Kind;
import lectus.script.Outcome;
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
    courts.values().forEach(all -> guarded(all, () -> ask(all, 0)));
    return verdicts;
  }

  /** Asks the functions one after the other, and none about what another has refused. */
  private void ask(List<Asked> all, int next) {
    List<Asked> open = all.stream().filter(it -> !it.verdict.isDone()).toList();
    if (open.isEmpty()) {
      return;
    }
    Question first = open.get(0).question;
    if (next == first.functions().size()) {
      open.forEach(Asked::accept);
      return;
    }
    Validator validator = first.functions().get(next);
    programs
        .of(
            first.db(),
            validator.designId(),
            RevisionId.of(validator.revision()),
            validator.changedAt())
        .whenComplete(
            (program, failure) ->
                guarded(open, () -> ask(open, Optional.ofNullable(program), next)));
  }

  /** Whatever fails, the questions are answered. */
  private static void guarded(List<Asked> all, Runnable work) {
    try {
      work.run();
    } catch (Throwable failure) {
      LectusError error = new LectusError.Unavailable("The document could not be validated.");
      all.forEach(it -> it.refuse(error));
      throw failure;
    }
  }

  /**
   * Asks one function.
   *
   * @param program empty: it is gone, and the verdict on an edit will not be looked at
   */
  private void ask(List<Asked> open, Optional<Program> program, int place) {
    if (program.isEmpty()) {
      LectusError error = new LectusError.Unavailable("A validate_doc_update could not be read.");
      open.forEach(it -> it.refuse(error));
      return;
    }
    List<CompletableFuture<Outcome>> outcomes =
        scripts.run(
            Scripts.Pool.INTERACTIVE,
            open.get(0).question.db().instance().hex(),
            program.get(),
            open.stream().map(Asked::call).toList());
    for (int i = 0; i < open.size(); i++) {
      CompletableFuture<Outcome> outcome = outcomes.get(i);
      open.get(i).verdict.whenComplete((done, cancelled) -> outcome.cancel(false));
    }
    CompletableFuture.allOf(outcomes.toArray(CompletableFuture[]::new))
        .whenComplete(
            (done, cancelled) ->
                guarded(
                    open,
                    () -> {
                      for (int i = 0; i < open.size(); i++) {
                        open.get(i).take(outcomes.get(i), program.get().name());
                      }
                      ask(open, place + 1);
                    }));
  }

  /** A question on its way. The first refusal is the verdict. */
  private static final class Asked {
    private final Question question;
    private final CompletableFuture<Verdict> verdict = new CompletableFuture<>();

    Asked(Question question) {
      this.question = question;
    }

    Call call() {
      return new Call(
          Kind.VALIDATE,
          PATH,
          List.of(question.newDoc(), question.oldDoc(), question.user(), question.security()));
    }

    /**
     * Takes what a function has said.
     *
     * @param program the design document's name, for errors that are no refusals
     */
    void take(CompletableFuture<Outcome> outcome, String program) {
      refusal(outcome.isCompletedExceptionally() ? null : outcome.getNow(null), program)
          .ifPresent(this::refuse);
    }

    void refuse(LectusError error) {
      verdict.complete(new Verdict(question.judged(), Optional.of(error)));
    }

    void accept() {
      verdict.complete(new Verdict(question.judged(), Optional.empty()));
    }

    /**
     * @param ended null if the call was cancelled
     */
    private static Optional<LectusError> refusal(Outcome ended, String program) {
      if (ended instanceof Outcome.Value) {
        return Optional.empty();
      }
      if (ended instanceof Outcome.Thrown thrown) {
        return Optional.of(
            switch (thrown.error()) {
              case "forbidden" -> new LectusError.Forbidden(thrown.reason());
              case "unauthorized" -> new LectusError.Unauthorized(thrown.reason());
              default ->
                  new LectusError.BadRequest(thrown.error(), program + ": " + thrown.reason());
            });
      }
      if (ended instanceof Outcome.NotCompiled broken) {
        return Optional.of(
            new LectusError.BadRequest("compilation_error", program + ": " + broken.reason()));
      }
      String why = ended instanceof Outcome.Failed failed ? failed.reason() : "cancelled";
      return Optional.of(
          new LectusError.Unavailable(
              "The validate_doc_update of " + program + " could not be run: " + why));
    }
  }
}
