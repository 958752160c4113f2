package lectus.document.edit;

import java.util.Optional;
import java.util.function.Function;
import lectus.error.LectusException;

/**
 * The revisions that a request names outside the document, as sent.
 *
 * @param query the parameter {@code rev}
 * @param ifMatch the header {@code If-Match}, without quotes
 */
public record NamedRevisions(Optional<String> query, Optional<String> ifMatch) {
  public static final NamedRevisions NONE = new NamedRevisions(Optional.empty(), Optional.empty());

  public boolean isEmpty() {
    return query.isEmpty() && ifMatch.isEmpty();
  }

  /**
   * Returns the one revision that the document, the query and the header agree on. Each of them may
   * name none.
   *
   * @param own the revision that the document names
   * @param reading parses the texts
   * @throws LectusException {@code bad_request}: two of them differ
   */
  public <R> Optional<R> agreed(Optional<R> own, Function<String, R> reading) {
    Optional<R> body =
        agreed(
            own,
            query.map(reading),
            "Document rev from request body and query string have different values");
    return agreed(body, ifMatch.map(reading), "Document rev and etag have different values");
  }

  private static <R> Optional<R> agreed(Optional<R> one, Optional<R> other, String complaint) {
    if (one.isPresent() && other.isPresent() && !one.equals(other)) {
      throw LectusException.badRequest(complaint);
    }
    return one.or(() -> other);
  }
}
