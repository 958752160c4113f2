package lectus.script;

import java.util.List;
import lectus.script.Outcome.Failed;

/**
 * One call of a function.
 *
 * @param path of the function in the design document, such as {@code ["filters","mine"]}
 * @param arguments JSON as UTF-8
 */
public record Call(Kind kind, List<String> path, List<byte[]> arguments) {
  public Call {
    path = List.copyOf(path);
    arguments = List.copyOf(arguments);
  }

  /**
   * @param what it did, after its name
   */
  Failed failed(String what) {
    return new Failed("The function " + String.join(".", path) + what, true);
  }

  /**
   * The functions of one design document.
   *
   * @param key equal keys mean equal JSON
   * @param name what the log calls it: database and id
   * @param json the body of the design document, as UTF-8
   */
  public record Program(String key, String name, byte[] json) {}
}
