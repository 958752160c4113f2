package lectus.selector;

import java.util.List;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.LeafView;

/**
 * A compiled Mango selector. Immutable; used by any number of threads. Selectors are equal if they
 * were written alike, whatever the order of their members.
 */
public final class Selector {
  private final JsonObject source;
  private final int hash;
  private final Condition condition;
  private final List<LeafRead> reads;

  private Selector(JsonObject source) {
    this.source = source;
    this.hash = source.hashCode();
    this.condition = Compiler.compile(source);
    this.reads = LeafReads.of(condition);
  }

  /**
   * @throws LectusException 400 with the name and sentence of CouchDB's {@code _find}: {@code
   *     bad_arg}, {@code invalid_operator}, {@code not_supported}, {@code invalid_selector}, {@code
   *     invalid_field_name}, {@code invalid_selector_json}
   */
  public static Selector compile(JsonValue json) {
    if (json instanceof JsonObject object) {
      return new Selector(object);
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

  @Override
  public boolean equals(Object other) {
    return other instanceof Selector it && hash == it.hash && source.equals(it.source);
  }

  @Override
  public int hashCode() {
    return hash;
  }
}
