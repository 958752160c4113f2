package lectus.derived;

import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;

/** The errors of selectors, with CouchDB's names and sentences; all are 400. */
final class SelectorErrors {
  /** Maximum number of characters of an argument that a reason repeats. */
  private static final int LONGEST_ARGUMENT = 200;

  private SelectorErrors() {}

  /** Shows the argument as JSON, where CouchDB shows an Erlang term. */
  static LectusException badArgument(String operator, JsonValue argument) {
    return LectusException.badRequest(
        "bad_arg", "Bad argument for operator " + operator + ": " + text(argument));
  }

  static LectusException invalidOperator(String operator) {
    return LectusException.badRequest(
        "invalid_operator", "Invalid operator: " + shortened(operator));
  }

  static LectusException notSupported(String operator) {
    return LectusException.badRequest("not_supported", "Unsupported operator: " + operator);
  }

  static LectusException notAnObject(JsonValue selector) {
    return LectusException.badRequest(
        "invalid_selector_json", "Selector must be a JSON object, not: " + text(selector));
  }

  static LectusException missingFieldName() {
    return LectusException.badRequest(
        "invalid_selector", "One or more conditions is missing a field name.");
  }

  /**
   * @param limit with its unit
   */
  static LectusException tooLarge(String limit) {
    return LectusException.badRequest(
        "invalid_selector", "The selector has more than " + limit + ".");
  }

  static LectusException tooMuchWork(String docId) {
    return LectusException.badRequest(
        "The selector takes too much work for the document `" + shortened(docId) + "`.");
  }

  private static String text(JsonValue argument) {
    JsonBuffer json = new JsonBuffer(64);
    argument.writeTo(json);
    return shortened(json.toString());
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST_ARGUMENT
        ? text
        : text.substring(0, text.offsetByCodePoints(0, LONGEST_ARGUMENT / 2)) + "…";
  }
}
