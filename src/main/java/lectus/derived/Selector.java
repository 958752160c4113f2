package lectus.derived;

import java.util.List;
import java.util.Optional;
import lectus.error.LectusException;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonObject;
import lectus.json.LeafView;

/**
 * A compiled Mango selector. Immutable and thread-safe. Selectors are equal if their JSON is, apart
 * from the order of members.
 */
public final class Selector {
  private final JsonObject source;
  private final int hash;
  private final Condition condition;
  private final List<LeafRead> reads;

  private Selector(JsonObject source) {
    SelectorLimits.check(source);
    this.source = source;
    this.hash = source.hashCode();
    this.condition = Compiler.compile(source);
    this.reads = SelectorNeeds.of(condition);
  }

  /**
   * @throws LectusException 400 with the name and sentence of CouchDB's {@code _find}: {@code
   *     bad_arg}, {@code invalid_operator}, {@code not_supported}, {@code invalid_selector}, {@code
   *     invalid_field_name}, {@code invalid_selector_json}; {@code invalid_selector} beyond a limit
   * @see SelectorLimits
   */
  public static Selector compile(JsonValue json) {
    if (json instanceof JsonObject object) {
      return new Selector(object);
    }
    throw SelectorErrors.notAnObject(json);
  }

  /**
   * Returns the parts of a document that are needed to {@linkplain #matches match} it, in the order
   * of the store. This includes paths of metadata such as {@code _id}, which are not stored with
   * the body.
   */
  public List<LeafRead> reads() {
    return reads;
  }

  /**
   * @param document the document with at least the leaves of {@link #reads}
   * @param docId named in an error
   * @throws LectusException 400 {@code bad_request} if the document is too large for what the
   *     selector does with it
   */
  public boolean matches(LeafView document, String docId) {
    return condition.holds(document, new MatchBudget(docId, MatchBudget.MAX_WORK));
  }

  /**
   * Like {@link #matches}, while others wait for the document, too.
   *
   * @return empty if matching takes too long
   */
  public Optional<Boolean> matchesSoon(LeafView document, String docId) {
    MatchBudget budget = new MatchBudget(docId, MatchBudget.MAX_WORK_BESIDE_OTHERS);
    try {
      return Optional.of(condition.holds(document, budget));
    } catch (LectusException failure) {
      if (budget.isOverspent()) {
        return Optional.empty();
      }
      throw failure;
    }
  }

  Condition condition() {
    return condition;
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
