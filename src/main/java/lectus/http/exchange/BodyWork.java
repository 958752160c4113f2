package lectus.http.exchange;

/**
 * What a resource makes of a request's body, on a reader's thread.
 *
 * @param <A> the answer: whole, or in parts
 */
public interface BodyWork<A> {
  A answer(byte[] body) throws Exception;
}
