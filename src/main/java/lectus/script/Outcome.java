package lectus.script;

import java.util.Optional;
import lectus.error.LectusError;

/** How a call ended. */
public sealed interface Outcome {
  /** Returns why there is no value, for whoever waits for it; empty if there is one. */
  default Optional<LectusError> failure() {
    if (this instanceof Thrown thrown) {
      return Optional.of(
          switch (thrown.error()) {
            case "forbidden" -> new LectusError.Forbidden(thrown.reason());
            case "unauthorized" -> new LectusError.Unauthorized(thrown.reason());
            default -> new LectusError.FunctionFailed(thrown.error(), thrown.reason());
          });
    }
    if (this instanceof NotCompiled broken) {
      return Optional.of(new LectusError.FunctionFailed("compilation_error", broken.reason()));
    }
    if (this instanceof Failed failed) {
      return Optional.of(
          failed.isOfCall()
              ? new LectusError.FunctionFailed("function_failed", failed.reason())
              : new LectusError.Unavailable(failed.reason()));
    }
    return Optional.empty();
  }

  /**
   * The function returned.
   *
   * @param json as {@link Kind} says, as UTF-8
   */
  record Value(byte[] json) implements Outcome {}

  /**
   * The function threw: {@code {forbidden: …}}, {@code {unauthorized: …}}, or anything else with
   * its name and its message.
   */
  record Thrown(String error, String reason) implements Outcome {}

  /**
   * @param reason with line and column if they are known
   */
  record NotCompiled(String reason) implements Outcome {}

  /**
   * There is no verdict.
   *
   * @param isOfCall whether another try would end in the same way: the function took too much time
   *     or memory, or its result is too large. Otherwise no function could be run.
   */
  record Failed(String reason, boolean isOfCall) implements Outcome {
    public Failed(String reason) {
      this(reason, false);
    }

    /** Whether calls of the kind cost those of others much. */
    boolean isCostly() {
      return mayPass() || reason.endsWith(Child.TOO_MUCH);
    }

    /**
     * Whether another try may end otherwise, when the machine has less to do: the call took too
     * much time, or its process was ended, which the system does where memory is short.
     */
    public boolean mayPass() {
      return reason.endsWith(Child.TOO_LONG) || reason.endsWith(Child.ENDED);
    }
  }
}
