package lectus.http.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** One request, written as it is given: nothing is normalized or encoded. */
public final class Request {
  private final int port;
  private final String method;
  private final StringBuilder head;
  private byte[] body;

  public Request(int port, String method, String target) {
    this.port = port;
    this.method = method;
    this.head = new StringBuilder(method + ' ' + target + " HTTP/1.1\r\nHost: host\r\n");
  }

  public Request header(String name, String value) {
    head.append(name).append(": ").append(value).append("\r\n");
    return this;
  }

  /** Sets a JSON body and its content type. */
  public Request json(String json) {
    return header("Content-Type", "application/json").body(json.getBytes(StandardCharsets.UTF_8));
  }

  public Request body(byte[] bytes) {
    body = bytes;
    return header("Content-Length", Integer.toString(bytes.length));
  }

  /** Sets a body that is sent compressed. */
  public Request gzipped(byte[] bytes) {
    return header("Content-Encoding", "gzip").body(gzip(bytes));
  }

  public Request gzipped(String text) {
    return gzipped(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a member of gzip for each part. */
  public static byte[] gzip(byte[]... parts) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
        gzip.write(part);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return bytes.toByteArray();
  }

  public byte[] bytes() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(head.toString().getBytes(StandardCharsets.ISO_8859_1));
    bytes.writeBytes("\r\n".getBytes(StandardCharsets.ISO_8859_1));
    if (body != null) {
      bytes.writeBytes(body);
    }
    return bytes.toByteArray();
  }

  /** Sends it on a connection of its own and reads the whole answer. */
  public Answer send() {
    try (Connection connection = open()) {
      return connection.read(method.equals("HEAD"));
    }
  }

  /** Sends it and lets the caller read the answer. */
  public Connection open() {
    return new Connection(port).write(bytes());
  }
}
