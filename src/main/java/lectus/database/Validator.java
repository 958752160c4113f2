package lectus.database;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import lectus.derived.Selector;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.JsonValue;

/**
 * A design document that validates every write of its database: its live winner has a member {@code
 * validate_doc_update}.
 *
 * @param revision of the winner, as text
 * @param changedAt the sequence of the design document's last change. The revision alone does not
 *     say what the member is: it may be purged and come again with another body
 * @param declaration the member if its language is {@code query}; empty: it is to be a function
 */
public record Validator(
    String designId, String revision, Sequence changedAt, Optional<Declaration> declaration) {

  /** Memory besides the id and the selector, in bytes. */
  private static final int OTHER_BYTES = 200;

  /** Memory of a compiled selector for each byte of its JSON, in bytes. */
  private static final long BYTES_OF_SELECTOR = 10;

  long heapBytes() {
    return OTHER_BYTES
        + designId.length()
        + declaration.map(it -> BYTES_OF_SELECTOR * it.json.length).orElse(0L);
  }

  /** A selector for what a function would be called with, or why it is none. */
  public static final class Declaration {
    /** The longest selector that is kept, in bytes of JSON. */
    public static final int MAX_BYTES = 90_000;

    private final byte[] json;
    private final Selector selector;
    private final LectusError fault;

    /**
     * @param json empty for one that is too long
     */
    Declaration(byte[] json) {
      Selector compiled = null;
      LectusError problem = null;
      try {
        compiled = Selector.compile(JsonValue.parse(within(json)));
      } catch (LectusException refused) {
        problem =
            new LectusError.BadRequest(
                "compilation_error", "validate_doc_update: " + refused.error().reason());
      }
      this.json = json;
      this.selector = compiled;
      this.fault = problem;
    }

    private static byte[] within(byte[] json) {
      if (json.length == 0) {
        throw LectusException.badRequest("The selector has more than " + MAX_BYTES + " bytes.");
      }
      return json;
    }

    /** Returns the member with this JSON. */
    public static Declaration of(byte[] json) {
      return new Declaration(json.length > MAX_BYTES ? new byte[0] : json);
    }

    byte[] json() {
      return json;
    }

    /** Returns why it cannot be a selector. */
    public Optional<LectusError> fault() {
      return Optional.ofNullable(fault);
    }

    /** If there is no {@link #fault}. */
    public Selector selector() {
      return selector;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Declaration it && toString().equals(it.toString());
    }

    @Override
    public int hashCode() {
      return toString().hashCode();
    }

    @Override
    public String toString() {
      return new String(json, StandardCharsets.UTF_8);
    }
  }
}
