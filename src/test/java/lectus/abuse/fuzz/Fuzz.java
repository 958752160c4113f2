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
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import lectus.abuse.fuzz.Fuzz.Findings;
import lectus.abuse.fuzz.Fuzz.Seen;
import lectus.abuse.fuzz.Malformed.RawRequests;
import lectus.abuse.fuzz.Requests.FuzzRequest;
import lectus.abuse.fuzz.Requests.FuzzRequest.Kind;
import lectus.http.testing.Answer;
import lectus.http.testing.Connection;

/** Clients that send all kinds of requests to a server, each from a seed of its own. */
final class Fuzz {
  /** Most of them wait for a disk or a pause most of the time. */
  private static final int CLIENTS = 12;

  private static final int SOCKET_SESSION_IN = 60;

  private final int port;
  private final Findings findings = new Findings();
  private final AtomicLong sent = new AtomicLong();

  Fuzz(int port) {
    this.port = port;
  }

  Findings findings() {
    return findings;
  }

  long sent() {
    return sent.get();
  }

  /** Sends that many requests and messages, and ends earlier after too many failures. */
  void run(long seed, long requests) throws InterruptedException {
    long end = sent.get() + requests;
    List<Thread> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      long own = seed + client;
      Thread thread = new Thread(() -> runClient(own, end), "fuzz-" + client);
      thread.setDaemon(true);
      thread.start();
      clients.add(thread);
    }
    for (Thread client : clients) {
      client.join();
    }
  }

  private void runClient(long seed, long end) {
    Dice dice = new Dice(seed);
    Seen seen = new Seen();
    String origin = "seed " + seed;
    try (HttpSession http = new HttpSession(port, dice, findings, origin)) {
      while (sent.get() < end && !findings.areMany()) {
        boolean socket = dice.oneIn(SOCKET_SESSION_IN);
        sent.addAndGet(
            socket ? new SocketSession(port, dice, seen, findings, origin).run() : http.next());
      }
    } catch (Throwable failure) {
      findings.add("the client ended: " + failure, origin);
    }
  }

  /** Sends a given number of requests to a running server, and reports the outcome. */
  static final class FuzzMain {
    private FuzzMain() {}

    /**
     * @param arguments the port on this machine, the seed, the number of requests
     */
    public static void main(String[] arguments) throws InterruptedException {
      Fuzz fuzz = new Fuzz(Integer.parseInt(arguments[0]));
      fuzz.run(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
      System.out.println(
          fuzz.sent() + " requests and messages, answers: " + fuzz.findings().statuses());
      fuzz.findings().all().forEach(System.out::println);
      System.exit(fuzz.findings().all().isEmpty() ? 0 : 1);
    }
  }

  /** Failures, one example of each kind, with how to reproduce it. */
  static final class Findings {
    private static final int MAX_KINDS = 40;

    private final Map<String, String> byKind = new TreeMap<>();
    private final Map<Integer, Integer> statuses = new TreeMap<>();
    private final Map<String, Integer> counts = new TreeMap<>();
    private int cut;

    /**
     * @param kind what many have in common; they are reported once
     */
    synchronized void add(String kind, String example) {
      counts.merge(kind, 1, Integer::sum);
      byKind.putIfAbsent(kind, example);
    }

    /** Counts an answer, right or wrong. */
    synchronized void count(int status) {
      statuses.merge(status, 1, Integer::sum);
    }

    /** Counts an answer that was broken off. */
    synchronized void countCut() {
      cut++;
    }

    synchronized int cut() {
      return cut;
    }

    /** Returns how often each status came, which shows what the requests reached. */
    synchronized Map<Integer, Integer> statuses() {
      return new TreeMap<>(statuses);
    }

    synchronized boolean areMany() {
      return byKind.size() >= MAX_KINDS;
    }

    synchronized List<String> all() {
      return byKind.entrySet().stream()
          .map(
              each ->
                  each.getKey()
                      + " ("
                      + counts.get(each.getKey())
                      + " times), such as: "
                      + each.getValue())
          .toList();
    }
  }

  /** Revisions and sequences seen in answers, for later requests. */
  static final class Seen {
    private static final int MOST = 64;
    private static final Pattern REVISION = Pattern.compile("\"(\\d{1,6}-[0-9a-f]{32})\"");
    private static final Pattern SEQUENCE =
        Pattern.compile("\"(?:seq|last_seq|update_seq|at)\":\"([^\"\\\\]{1,80})\"");

    private final List<String> revisions = new ArrayList<>(List.of("1-" + "a".repeat(32)));
    private final List<String> sequences = new ArrayList<>(List.of("0"));
    private int turn;

    /** Notes the first few of a text. */
    void note(String text) {
      String begin = text.length() > 2_000 ? text.substring(0, 2_000) : text;
      note(REVISION.matcher(begin), revisions);
      note(SEQUENCE.matcher(begin), sequences);
    }

    private void note(Matcher found, List<String> into) {
      for (int i = 0; i < 3 && found.find(); i++) {
        if (into.size() < MOST) {
          into.add(found.group(1));
        } else {
          into.set(turn++ % MOST, found.group(1));
        }
      }
    }

    String revision(Dice dice) {
      return dice.of(revisions);
    }

    String sequence(Dice dice) {
      return dice.of(sequences);
    }
  }

  /** Sends requests, pipelined on a keep-alive connection, and judges the answers. */
  private static final class HttpSession implements AutoCloseable {
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
}
