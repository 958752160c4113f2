package lectus.http.exchange;

/**
 * A resource's work with a request's body, on a reader's thread.
 *
 * @param <A> the answer: whole, or in parts
 */
public interface BodyWork<A> {
  A answer(byte[] body) throws Exception;
}
