package lectus.http.client;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * A request to another server.
 *
 * @param patience how long no byte may come
 * @param isStopped whether nobody wants the answer any more; then {@link HttpCaller#STOP_MILLIS}
 *     are left for it
 */
public record HttpCall(
    String method,
    URI url,
    Map<String, String> headers,
    Optional<CallBody> body,
    Duration patience,
    BooleanSupplier isStopped) {

  HttpCall to(URI other, Map<String, String> others) {
    return new HttpCall(method, other, others, body, patience, isStopped);
  }

  /** The body of a request. It may be written more than once if it can be. */
  public interface CallBody {
    /** The length of a body that is made while it is sent. */
    long UNKNOWN = -1;

    /** Returns how many bytes are written, or {@link #UNKNOWN}. */
    long length();

    void writeTo(OutputStream out) throws IOException;

    default boolean isRepeatable() {
      return true;
    }

    static CallBody of(byte[] bytes) {
      return new CallBody() {
        @Override
        public long length() {
          return bytes.length;
        }

        @Override
        public void writeTo(OutputStream out) throws IOException {
          out.write(bytes);
        }
      };
    }
  }
}
