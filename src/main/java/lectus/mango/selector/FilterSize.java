package lectus.mango.selector;

import java.util.Map;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;

/**
 * The size of a filter, which is a selector or a list of ids. It is measured in one pass over the
 * JSON before anything is compiled.
 *
 * @param values members and elements, at any depth
 * @param characters of names, strings and numbers, in UTF-16 units
 * @param instructions of all regular expressions once compiled, at most
 */
public record FilterSize(long values, long characters, long instructions) {
  /**
   * Maximum number of instructions in the filter of an index or a stored feed, which is evaluated
   * in the transaction of each write: as many as may look at a text of 1 200 characters there.
   */
  public static final int MAX_INSTRUCTIONS_IN_WRITES = 500;

  /**
   * Bytes of a value, as JSON and compiled: objects, references, entries of maps, including those
   * of a live tail's index.
   */
  private static final int BYTES_PER_VALUE = 300;

  /** Bytes of a character, as JSON and in the form that is compared with documents. */
  private static final int BYTES_PER_CHARACTER = 4;

  /** Bytes of an instruction, compiled and with what two threads need to run it. */
  private static final int BYTES_PER_INSTRUCTION = 200;

  public static FilterSize of(JsonValue filter) {
    Count count = new Count();
    count.add(filter);
    return new FilterSize(count.values, count.characters, count.instructions);
  }

  /**
   * Returns the approximate memory of the filter in bytes. Instructions beyond the limit are never
   * compiled.
   */
  public long memory() {
    return BYTES_PER_VALUE * values
        + BYTES_PER_CHARACTER * characters
        + BYTES_PER_INSTRUCTION * Math.min(instructions, SelectorLimits.MAX_INSTRUCTIONS);
  }

  private static final class Count {
    private long values;
    private long characters;
    private long instructions;

    void add(JsonValue value) {
      values++;
      if (value instanceof JsonObject object) {
        object.members().entrySet().forEach(this::add);
      } else if (value instanceof JsonArray array) {
        array.elements().forEach(this::add);
      } else if (value instanceof JsonString text) {
        characters += text.value().length();
      } else if (value instanceof JsonNumber number) {
        characters += number.text().length();
      }
    }

    private void add(Map.Entry<String, JsonValue> member) {
      characters += member.getKey().length();
      if (member.getKey().equals("$regex") && member.getValue() instanceof JsonString text) {
        instructions += RegexSize.of(text.value()).instructions();
      }
      add(member.getValue());
    }
  }
}
