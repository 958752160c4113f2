package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sends bytes that may not be HTTP, and checks that the server ends the exchange. */
final class RawExchange {
  /** How long the server may wait for more, before it is told that there is none. */
  private static final int PAUSE_MILLIS = 50;

  private static final int PATIENCE_MILLIS = 20_000;
  private static final int MAX_READ = 1 << 20;
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.[01] (5\\d\\d)[^\\n]*");

  private final int port;
  private final Findings findings;
  private final String origin;

  RawExchange(int port, Findings findings, String origin) {
    this.port = port;
    this.findings = findings;
    this.origin = origin;
  }

  void send(FuzzRequest request) {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
      socket.getOutputStream().write(request.bytes());
      socket.setSoTimeout(PAUSE_MILLIS);
      if (!readToEnd(socket.getInputStream(), answer)) {
        socket.shutdownOutput();
        socket.setSoTimeout(PATIENCE_MILLIS);
        if (!readToEnd(socket.getInputStream(), answer)) {
          findings.add("not closed after its end", origin + ": " + request);
        }
      }
    } catch (IOException reset) {
      // The server may reset a connection that it cannot read.
    }
    judge(request, answer.toString(StandardCharsets.ISO_8859_1));
  }

  /** Returns false if nothing arrived for too long. */
  private static boolean readToEnd(InputStream in, ByteArrayOutputStream into) throws IOException {
    byte[] buffer = new byte[8_192];
    try {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (into.size() < MAX_READ) {
          into.write(buffer, 0, n);
        }
      }
      return true;
    } catch (SocketTimeoutException silent) {
      return false;
    }
  }

  private void judge(FuzzRequest request, String answer) {
    Matcher status = STATUS.matcher(answer);
    while (status.find()) {
      if (!status.group(1).equals("501") && !status.group(1).equals("503")) {
        findings.add("raw: " + status.group().trim(), origin + ": " + request);
      }
    }
  }
}
