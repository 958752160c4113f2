package lectus.abuse.fuzz;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.abuse.fuzz.Fuzz.Findings;
import lectus.abuse.fuzz.Fuzz.Seen;
import lectus.abuse.fuzz.Malformed.RawRequests;
import lectus.abuse.fuzz.Requests.FuzzRequest;
import lectus.abuse.fuzz.Requests.FuzzRequest.Kind;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;

/** Sends requests, pipelined on a keep-alive connection, and judges the answers. */
final class HttpSession implements AutoCloseable {
  private static final int LONGEST_BATCH = 12;

  /** Fits into the buffers of a socket, so that neither side waits for the other to read. */
  private static final int BATCH_BYTES = 48 << 10;

  private final int port;
  private final Dice dice;
  private final Seen seen;
  private final Requests requests;
  private final RawRequests raw;
  private final Findings findings;
  private final String origin;
  private Connection connection;

  /**
   * @param origin printed with each finding: how to reproduce it
   */
  HttpSession(int port, Dice dice, Findings findings, String origin) {
    this.port = port;
    this.dice = dice;
    this.findings = findings;
    this.origin = origin;
    seen = new Seen();
    requests = new Requests(dice, seen);
    raw = new RawRequests(dice, requests);
  }

  /** Sends some requests, and returns how many. */
  int next() {
    if (dice.oneIn(12)) {
      new RawExchange(port, findings, origin).send(raw.next());
      return 1;
    }
    List<FuzzRequest> batch = new ArrayList<>();
    int bytes = 0;
    for (int i = 1 + dice.below(LONGEST_BATCH); i > 0 && bytes < BATCH_BYTES; i--) {
      FuzzRequest request = requests.next();
      if (request.kind() == Kind.LIVE) {
        sendLive(request);
        return 1 + send(batch);
      }
      if (bytes > 0 && bytes + request.bytes().length > BATCH_BYTES) {
        return send(batch) + send(List.of(request));
      }
      batch.add(request);
      bytes += request.bytes().length;
    }
    return send(batch);
  }

  private int send(List<FuzzRequest> batch) {
    if (batch.isEmpty()) {
      return 0;
    }
    if (connection == null) {
      connection = new Connection(port);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    batch.forEach(request -> all.writeBytes(request.bytes()));
    boolean cut = !written(all.toByteArray());
    for (int i = 0; i < batch.size(); i++) {
      if (!read(batch.get(i), cut)) {
        close();
        return i + 1;
      }
    }
    if (cut) {
      close();
    }
    return batch.size();
  }

  /** A server that refuses a body may close before it has read all of it. */
  private boolean written(byte[] bytes) {
    try {
      connection.write(bytes);
      return true;
    } catch (UncheckedIOException closed) {
      return false;
    }
  }

  /** Returns whether the connection can be reused. */
  private boolean read(FuzzRequest request, boolean cut) {
    try {
      Answer head = connection.readHead();
      while (head.status() == 100) {
        head = connection.readHead();
      }
      return readBody(request, head);
    } catch (UncheckedIOException e) {
      if (isTimeout(e)) {
        findings.add("no answer", describe(request));
      } else if (!cut && request.bytes().length < BATCH_BYTES) {
        findings.add("closed without an answer: " + e.getCause().getMessage(), describe(request));
      }
      return false;
    } catch (RuntimeException garbled) {
      findings.add("no HTTP: " + garbled, describe(request));
      return false;
    }
  }

  private boolean readBody(FuzzRequest request, Answer head) {
    try {
      Answer answer = connection.readBody(head, request.toHead());
      judge(request, answer);
      seen.note(answer.body());
      return !"close".equals(answer.header("connection"));
    } catch (UncheckedIOException e) {
      if (isTimeout(e)) {
        findings.add("no end of an answer", describe(request));
      } else if (head.isChunked()) {
        // Its database was dropped meanwhile.
        findings.countCut();
      } else {
        findings.add("an answer that ends too early", describe(request));
      }
      return false;
    }
  }

  private static boolean isTimeout(UncheckedIOException failure) {
    return failure.getCause() instanceof SocketTimeoutException;
  }

  private void judge(FuzzRequest request, Answer answer) {
    int status = answer.status();
    findings.count(status);
    if (status >= 500 && status != 501 && status != 503) {
      findings.add(status + " " + shape(answer.body()), describe(request));
    }
    // Atomic bulk requests report failures in rows.
    boolean explained =
        request.toHead()
            || answer.body().startsWith("{\"error\":")
            || ((status == 409 || status == 412) && answer.body().startsWith("[{\"id\":"));
    if (status >= 400 && !explained) {
      findings.add(status + " without error and reason", describe(request) + " -> " + answer);
    }
  }

  /** Returns an error's text without what differs each time. */
  private static String shape(String body) {
    return body.replaceAll("[0-9a-f]{6,}", "…").trim();
  }

  private String describe(FuzzRequest request) {
    return origin + ": " + request;
  }

  /** Waits for the beginning of the answer and leaves. */
  private void sendLive(FuzzRequest request) {
    try (Connection own = new Connection(port).write(request.bytes())) {
      Answer head = own.readHead();
      while (head.status() == 100) {
        head = own.readHead();
      }
      if (head.status() >= 500 && head.status() != 501 && head.status() != 503) {
        findings.add(head.status() + " at the head of a feed", describe(request));
      }
    } catch (UncheckedIOException e) {
      if (isTimeout(e)) {
        findings.add("no head of a feed", describe(request));
      } else if (request.bytes().length < BATCH_BYTES) {
        findings.add(
            "feed closed without an answer: " + e.getCause().getMessage(), describe(request));
      }
    } catch (RuntimeException garbled) {
      findings.add("no HTTP in a feed: " + garbled, describe(request));
    }
  }

  @Override
  public void close() {
    if (connection != null) {
      connection.close();
      connection = null;
    }
  }

  /** Sends bytes that may not be HTTP, and checks that the server ends the exchange. */
  private static final class RawExchange {
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
    private static boolean readToEnd(InputStream in, ByteArrayOutputStream into)
        throws IOException {
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
}
