package lectus.document.list;

import java.util.LinkedHashMap;
import java.util.Map;

/** Query parameters for tests. */
final class Parameters {
  private Parameters() {}

  /**
   * @param namesAndValues name, value, name, value
   */
  static Map<String, String> of(String... namesAndValues) {
    Map<String, String> parameters = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      parameters.put(namesAndValues[i], namesAndValues[i + 1]);
    }
    return parameters;
  }
}
