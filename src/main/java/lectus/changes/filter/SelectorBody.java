package lectus.changes.filter;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import lectus.document.RequestJson;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.mango.selector.Selector;

/**
 * The body for {@code filter=_selector}: {@code {"selector":{…},"fields":["a","b.c"]}}.
 *
 * @param fields of {@code include_docs} rows; empty for all
 */
public record SelectorBody(FeedFilter.Selected filter, List<FieldPath> fields) {

  /**
   * @throws LectusException {@code bad_request}, with the sentence of {@code _find} if the selector
   *     is wrong
   */
  public static SelectorBody parse(byte[] body) {
    JsonValue.JsonObject object = RequestJson.object(body);
    return new SelectorBody(
        filter(object.get("selector").orElseGet(JsonValue.JsonNull::new)),
        object.get("fields").map(SelectorBody::fields).orElse(List.of()));
  }

  /**
   * @throws LectusException {@code bad_request}
   */
  public static FeedFilter.Selected filter(JsonValue selector) {
    if (selector instanceof JsonValue.JsonObject object) {
      return new FeedFilter.Selected(asBadRequest(() -> Selector.compile(object)));
    }
    throw LectusException.badRequest("Selector error: expected a JSON object");
  }

  /**
   * @param fields an array of names in {@link FieldPath}'s syntax; an empty one stands for all
   * @throws LectusException {@code bad_request}
   */
  public static List<FieldPath> fields(JsonValue fields) {
    if (!(fields instanceof JsonValue.JsonArray array)) {
      throw LectusException.badRequest("Selector error: fields must be JSON array");
    }
    List<String> names = new ArrayList<>(array.elements().size());
    for (JsonValue field : array.elements()) {
      names.add(name(field));
    }
    return asBadRequest(() -> FieldPath.parseAll(names));
  }

  private static String name(JsonValue field) {
    if (field instanceof JsonValue.JsonString name) {
      return name.value();
    }
    JsonBuffer json = new JsonBuffer(64);
    field.writeTo(json);
    throw LectusException.badRequest("Invalid JSON for field spec: " + json);
  }

  /** {@code _changes} has one error name for every fault of a selector. */
  private static <T> T asBadRequest(Supplier<T> parsed) {
    try {
      return parsed.get();
    } catch (LectusException e) {
      if (e.error() instanceof LectusError.BadRequest bad) {
        throw LectusException.badRequest(bad.reason());
      }
      throw e;
    }
  }
}
