import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * The measured server: requests to it, in sequence on one connection, and its CPU time. The
 * connection is a bare socket, because a client library takes longer than the server.
 */
final class LoadedServer implements AutoCloseable {
  private static final String LENGTH = "content-length:";

  private final long process;
  private final Socket socket;
  private final InputStream in;

  LoadedServer(int port, long process) throws IOException {
    this.process = process;
    this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
    this.in = new BufferedInputStream(socket.getInputStream());
    socket.setTcpNoDelay(true);
  }

  /** Returns when the answer has arrived. */
  void send(String method, String path, String json) throws IOException {
    socket.getOutputStream().write(request(method, path, json));
    String status = line();
    int length = 0;
    for (String line = line(); !line.isEmpty(); line = line()) {
      if (line.toLowerCase(Locale.ROOT).startsWith(LENGTH)) {
        length = Integer.parseInt(line.substring(LENGTH.length()).trim());
      }
    }
    String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
    if (!status.startsWith("HTTP/1.1 20")) {
      throw new IOException(status + " " + body);
    }
  }

  /** Returns the bytes of a request with a JSON body. */
  static byte[] request(String method, String path, String json) {
    String head =
        method
            + " "
            + path
            + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
            + json.length()
            + "\r\n\r\n";
    return (head + json).getBytes(StandardCharsets.US_ASCII);
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder();
    for (int octet = in.read(); octet != '\n'; octet = in.read()) {
      if (octet < 0) {
        throw new IOException("The server has closed the connection");
      }
      line.append((char) octet);
    }
    return line.toString().trim();
  }

  /** Returns the CPU time of all its threads so far, user and kernel. */
  double cpuSeconds() throws IOException {
    String stat = Files.readString(Path.of("/proc/" + process + "/stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / 100.0;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
