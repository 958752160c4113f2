package lectus.selector;

import java.util.List;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.LeafView;

/** A compiled Mango selector. Immutable; used by any number of threads. */
public final class Selector {
  private final Condition condition;
  private final List<LeafRead> reads;

  private Selector(Condition condition) {
    this.condition = condition;
    this.reads = LeafReads.of(condition);
  }

  /**
   * @throws LectusException 400 with the name and sentence of CouchDB's {@code _find}: {@code
   *     bad_arg}, {@code invalid_operator}, {@code not_supported}, {@code invalid_selector}, {@code
   *     invalid_field_name}, {@code invalid_selector_json}
   */
  public static Selector compile(JsonValue json) {
    if (json instanceof JsonObject object) {
      return new Selector(Compiler.compile(object));
    }
    throw SelectorErrors.notAnObject(json);
  }

  /**
   * What of a document must be there to be {@linkplain #matches matched}, in the order of the
   * store. Paths of metadata such as {@code _id}, which are not stored with the body, are among
   * them.
   */
  public List<LeafRead> reads() {
    return reads;
  }

  /**
   * @param document the document with at least the leaves of {@link #reads}
   */
  public boolean matches(LeafView document) {
    return condition.holds(document);
  }
}
