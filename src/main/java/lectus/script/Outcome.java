package lectus.script;

/** How a call ended. */
public sealed interface Outcome {
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
  }
}
