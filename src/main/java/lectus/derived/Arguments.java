package lectus.derived;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import lectus.json.JsonBuffer;
import lectus.json.JsonExploder;
import lectus.json.JsonInput;
import lectus.json.JsonLimits;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.json.LeafList;
import lectus.json.LeafView;

/** Parses arguments of operators; malformed ones are answered with 400 {@code bad_arg}. */
final class Arguments {
  /** No integer of a document has more digits (the tuple layer's largest integer). */
  private static final int LONGEST_INTEGER = 616;

  private static final String MEMBER = "v";
  private static final LeafView.Step STEP = LeafView.Step.of(MEMBER);

  private Arguments() {}

  /**
   * Returns an argument in the form of a document's values, for comparisons.
   *
   * @throws lectus.error.LectusException 400 or 413 for a value that no document can have
   */
  static LeafView view(JsonValue argument) {
    JsonBuffer json = new JsonBuffer(64);
    argument.writeTo(json);
    byte[] member = ("{\"" + MEMBER + "\":" + json + "}").getBytes(StandardCharsets.UTF_8);
    try (JsonInput input = JsonInput.of(member)) {
      input.next();
      input.next();
      JsonExploder exploder = new JsonExploder(input, JsonLimits.couchDb());
      exploder.member(input.name());
      return LeafList.of(exploder.finish()).root().child(STEP);
    }
  }

  static List<LeafView> views(String operator, JsonValue argument) {
    return array(operator, argument).elements().stream().map(Arguments::view).toList();
  }

  static JsonArray array(String operator, JsonValue argument) {
    if (argument instanceof JsonArray array) {
      return array;
    }
    throw SelectorErrors.badArgument(operator, argument);
  }

  static JsonObject object(String operator, JsonValue argument) {
    if (argument instanceof JsonObject object) {
      return object;
    }
    throw SelectorErrors.badArgument(operator, argument);
  }

  static String string(String operator, JsonValue argument) {
    if (argument instanceof JsonString string) {
      return string.value();
    }
    throw SelectorErrors.badArgument(operator, argument);
  }

  static BigInteger size(String operator, JsonValue argument) {
    BigInteger size = integer(argument);
    if (size == null || size.signum() < 0) {
      throw SelectorErrors.badArgument(operator, argument);
    }
    return size;
  }

  static Operator remainder(String operator, JsonValue argument) {
    List<JsonValue> both = array(operator, argument).elements();
    BigInteger divisor = both.size() == 2 ? integer(both.get(0)) : null;
    BigInteger remainder = both.size() == 2 ? integer(both.get(1)) : null;
    if (divisor == null || remainder == null || divisor.signum() == 0) {
      throw SelectorErrors.badArgument(operator, argument);
    }
    return new Operator.Remainder(divisor, remainder);
  }

  /** As in CouchDB, an argument of another type makes it another operator, which is unknown. */
  static Operator prefix(String operator, JsonValue argument) {
    if (argument instanceof JsonString string) {
      return new Operator.BeginsWith(string.value().getBytes(StandardCharsets.UTF_8));
    }
    throw SelectorErrors.invalidOperator(operator);
  }

  /** Returns the argument as an integer; null if it is not one. */
  private static BigInteger integer(JsonValue argument) {
    boolean isInteger =
        argument instanceof JsonNumber number
            && number.text().length() <= LONGEST_INTEGER
            && number.text().chars().noneMatch(c -> c == '.' || c == 'e' || c == 'E');
    return isInteger ? new BigInteger(((JsonNumber) argument).text()) : null;
  }
}
