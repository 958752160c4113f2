package lectus.http.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** The answer of another server. Whoever has read enough of it closes it. */
public final class HttpAnswer implements AutoCloseable {
  private final int status;
  private final UnaryOperator<String> headers;
  private final InputStream body;

  /**
   * @param headers returns the value of a header by its name, or null
   * @param body ends the connection if it is closed before its end
   */
  HttpAnswer(int status, UnaryOperator<String> headers, InputStream body) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  public int status() {
    return status;
  }

  public Optional<String> header(String name) {
    return Optional.ofNullable(headers.apply(name));
  }

  public InputStream body() {
    return body;
  }

  /**
   * Reads the rest.
   *
   * @throws IOException there are more bytes, among others
   */
  public byte[] bytes(int most) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    byte[] part = new byte[8 << 10];
    for (int read = body.read(part); read >= 0; read = body.read(part)) {
      if (all.size() + read > most) {
        throw new IOException("The answer has more than " + most + " bytes.");
      }
      all.write(part, 0, read);
    }
    return all.toByteArray();
  }

  @Override
  public void close() {
    try {
      body.close();
    } catch (IOException gone) {
      // Nobody wants the rest.
    }
  }
}
