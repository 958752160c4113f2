package lectus.http.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A socket to a server on which requests are written and answers are read byte for byte. */
public final class Connection implements AutoCloseable {
  /** How long a test waits for a byte that must come. */
  private static final int PATIENCE_MILLIS = 50_000;

  private final Socket socket;
  private final InputStream in;

  public Connection(int port) {
    this(port, 0);
  }

  /**
   * @param receiveBytes the size of the receive buffer; 0: the system's default
   */
  public Connection(int port, int receiveBytes) {
    this(port, receiveBytes, PATIENCE_MILLIS);
  }

  /**
   * @param receiveBytes as above
   * @param patienceMillis how long a byte that must come may take
   */
  public Connection(int port, int receiveBytes, int patienceMillis) {
    try {
      socket = new Socket();
      if (receiveBytes > 0) {
        socket.setReceiveBufferSize(receiveBytes);
      }
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.setSoTimeout(patienceMillis);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A socket that is connected, such as one of TLS. */
  public Connection(Socket connected) {
    try {
      socket = connected;
      socket.setSoTimeout(PATIENCE_MILLIS);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Connection write(byte[] bytes) {
    try {
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Connection write(String text) {
    return write(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Closes the connection for writing, and goes on reading. */
  public Connection endWriting() {
    try {
      socket.shutdownOutput();
      return this;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the next whole answer. */
  public Answer read(boolean toHead) {
    return readBody(readHead(), toHead);
  }

  /** Returns the rest of an answer whose head was read. */
  public Answer readBody(Answer head, boolean toHead) {
    boolean bodyless = toHead || head.status() == 304 || head.status() == 204;
    String body = bodyless ? "" : new String(body(head), StandardCharsets.UTF_8);
    return new Answer(head.status(), head.reason(), head.headers(), body);
  }

  /** Returns the status line and headers of the next answer, without its body. */
  public Answer readHead() {
    String status = line();
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (String line = line(); !line.isEmpty(); line = line()) {
      int colon = line.indexOf(':');
      headers
          .computeIfAbsent(
              line.substring(0, colon).toLowerCase(Locale.ROOT), name -> new ArrayList<>())
          .add(line.substring(colon + 1).trim());
    }
    return new Answer(Integer.parseInt(status.substring(9, 12)), reason(status), headers, "");
  }

  private static String reason(String statusLine) {
    return statusLine.length() > 13 ? statusLine.substring(13) : "";
  }

  private byte[] body(Answer head) {
    if (head.isChunked()) {
      return chunks();
    }
    String length = head.header("content-length");
    return length == null ? new byte[0] : bytes(Integer.parseInt(length));
  }

  private byte[] chunks() {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (byte[] chunk = chunk(); chunk.length > 0; chunk = chunk()) {
      body.writeBytes(chunk);
    }
    return body.toByteArray();
  }

  /** Returns the next chunk of a chunked body; empty at its end. */
  public byte[] chunk() {
    byte[] chunk = bytes(Integer.parseInt(line(), 16));
    if (!line().isEmpty()) {
      throw new IllegalStateException("No line end behind a chunk");
    }
    return chunk;
  }

  /** Returns the first bytes of the next chunk; the rest is not read. */
  public String chunkTextBegins() {
    line();
    return new String(bytes(100), StandardCharsets.UTF_8);
  }

  public String chunkText() {
    return new String(chunk(), StandardCharsets.UTF_8);
  }

  /** Returns all chunks to the end of the body. */
  public String rest() {
    return new String(chunks(), StandardCharsets.UTF_8);
  }

  /** Reads so many bytes and discards them. */
  public void skip(int length) {
    bytes(length);
  }

  /** Returns the next bytes, all of them. */
  public byte[] bytes(int length) {
    try {
      byte[] bytes = in.readNBytes(length);
      if (bytes.length < length) {
        throw new EOFException("The connection ended inside a body");
      }
      return bytes;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String line() {
    try {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int b = in.read(); b != '\n'; b = in.read()) {
        if (b < 0) {
          throw new EOFException("The connection ended inside a line");
        }
        line.write(b);
      }
      String text = line.toString(StandardCharsets.ISO_8859_1);
      return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A WebSocket frame of the server. */
  public record Frame(int opcode, byte[] payload) {}

  /** Returns the next frame, which must be whole and unmasked. */
  public Frame frame() {
    byte[] head = bytes(2);
    if ((head[0] & 0xf0) != 0x80 || head[1] < 0) {
      throw new IllegalStateException("Not a whole frame of a server");
    }
    int length =
        switch (head[1]) {
          case 126 -> ByteBuffer.wrap(bytes(2)).getChar();
          case 127 -> Math.toIntExact(ByteBuffer.wrap(bytes(8)).getLong());
          default -> head[1];
        };
    return new Frame(head[0] & 0x0f, bytes(length));
  }

  /** Returns the next byte. */
  public int octet() {
    return bytes(1)[0] & 0xff;
  }

  /** Returns everything until the server ends the connection. */
  public String readToEnd() {
    try {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Whether the server has ended the connection and everything it sent was read. */
  public boolean isAtEnd() {
    try {
      return in.read() < 0;
    } catch (IOException reset) {
      return true;
    }
  }

  /** Resets the connection, like a client that is killed. */
  public void abort() {
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
