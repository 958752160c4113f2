import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Measures the documents a second written by {@code _bulk_docs} and read by {@code _all_docs} and
 * {@code _changes}, both with bodies: documents of some 500 bytes with a dozen members, 500 in a
 * request, four connections that write and one that reads.
 *
 * <pre>
 * java load-tests/WholeDatabase.java PORT [DOCUMENTS] [ROUNDS]
 * </pre>
 *
 * Each round fills a database, reads it three times in both ways, and deletes it. The first rounds
 * warm the server up; the last line has the medians of the second half of the rounds.
 */
public final class WholeDatabase {
  private static final int BULK = 500;
  private static final int WRITERS = 4;
  private static final int READS = 3;

  private static final String[] WORDS = {
    "lectern", "orchard", "copper", "meadow", "lantern", "granite", "harbour", "violet", "saddle"
  };

  private final int port;

  private WholeDatabase(int port) {
    this.port = port;
  }

  public static void main(String[] args) throws Exception {
    WholeDatabase load = new WholeDatabase(Integer.parseInt(args[0]));
    int documents = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
    int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 6;
    List<byte[]> requests = requests(documents);
    List<double[]> figures = new ArrayList<>();
    System.out.println("documents a second: _bulk_docs, _all_docs, _changes");
    for (int round = 0; round < rounds; round++) {
      figures.add(load.round("whole-" + round, requests, documents));
      print("round " + round, figures.get(round));
    }
    List<double[]> warm = figures.subList(rounds / 2, rounds);
    double[] medians = new double[3];
    for (int i = 0; i < medians.length; i++) {
      int figure = i;
      medians[i] = median(warm.stream().mapToDouble(it -> it[figure]).toArray());
    }
    print("median", medians);
  }

  private static void print(String what, double[] figures) {
    System.out.printf(
        Locale.ROOT, "%s %.0f %.0f %.0f%n", what, figures[0], figures[1], figures[2]);
  }

  private double[] round(String name, List<byte[]> requests, int documents) throws Exception {
    call("PUT", "/" + name);
    double[] figures = {
      documents / fill(name, requests),
      documents / read("/" + name + "/_all_docs?include_docs=true", documents),
      documents / read("/" + name + "/_changes?include_docs=true", documents)
    };
    call("DELETE", "/" + name);
    return figures;
  }

  private double fill(String name, List<byte[]> requests) throws Exception {
    AtomicInteger next = new AtomicInteger();
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    long start = System.nanoTime();
    List<Future<Void>> writing = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      writing.add(writers.submit(() -> write(name, requests, next)));
    }
    for (Future<Void> one : writing) {
      one.get();
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    writers.shutdown();
    return seconds;
  }

  private Void write(String name, List<byte[]> requests, AtomicInteger next) throws IOException {
    try (Socket socket = connect()) {
      InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
      for (int i = next.getAndIncrement(); i < requests.size(); i = next.getAndIncrement()) {
        byte[] body = requests.get(i);
        OutputStream out = socket.getOutputStream();
        out.write(
            ascii(
                "POST /%s/_bulk_docs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                    .formatted(name, body.length)));
        out.write(body);
        out.flush();
        expectCreated(in);
      }
    }
    return null;
  }

  private static void expectCreated(InputStream in) throws IOException {
    String status = line(in);
    int length = -1;
    for (String header = line(in); !header.isEmpty(); header = line(in)) {
      if (header.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
        length = Integer.parseInt(header.substring(header.indexOf(':') + 1).strip());
      }
    }
    String answer = length < 0 ? chunks(in) : text(in, length);
    if (!status.contains(" 201") || answer.contains("\"error\"")) {
      throw new IOException(status + " " + answer.substring(0, Math.min(300, answer.length())));
    }
  }

  private static String chunks(InputStream in) throws IOException {
    StringBuilder all = new StringBuilder();
    while (true) {
      int size = Integer.parseInt(line(in), 16);
      all.append(text(in, size));
      line(in);
      if (size == 0) {
        return all.toString();
      }
    }
  }

  private static String text(InputStream in, int length) throws IOException {
    return new String(in.readNBytes(length), StandardCharsets.UTF_8);
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder line = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new IOException("The server closed the connection");
      }
      line.append((char) c);
    }
    return line.toString().strip();
  }

  /** Returns the median of the times of whole answers, in seconds. */
  private double read(String target, int documents) throws IOException {
    double[] seconds = new double[READS];
    for (int i = 0; i < READS; i++) {
      long start = System.nanoTime();
      long lines = call("GET", target);
      seconds[i] = (System.nanoTime() - start) / 1e9;
      if (lines < documents) {
        throw new IOException(target + " has " + lines + " lines");
      }
    }
    return median(seconds);
  }

  /** Reads an answer to its end and returns the number of its lines. */
  private long call(String method, String target) throws IOException {
    try (Socket socket = connect()) {
      socket
          .getOutputStream()
          .write(
              ascii(
                  "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
                      .formatted(method, target)));
      byte[] buffer = new byte[1 << 18];
      long lines = 0;
      InputStream in = socket.getInputStream();
      for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
        for (int i = 0; i < count; i++) {
          lines += buffer[i] == '\n' ? 1 : 0;
        }
      }
      return lines;
    }
  }

  private Socket connect() throws IOException {
    Socket socket = new Socket("127.0.0.1", port);
    socket.setTcpNoDelay(true);
    return socket;
  }

  private static List<byte[]> requests(int documents) {
    Random random = new Random(7);
    List<byte[]> requests = new ArrayList<>();
    for (int from = 0; from < documents; from += BULK) {
      StringBuilder body = new StringBuilder("{\"docs\":[");
      for (int i = from; i < Math.min(documents, from + BULK); i++) {
        body.append(i == from ? "" : ",").append(document(i, random));
      }
      requests.add(body.append("]}").toString().getBytes(StandardCharsets.UTF_8));
    }
    return requests;
  }

  private static String document(int number, Random random) {
    return String.format(
        Locale.ROOT,
        """
        {"_id":"order-%08d","type":"order","customer":"%s","created":"2024-%02d-%02dT10:%02d:00Z",\
        "paid":%b,"total":%.2f,"items":%d,"weight":%d,"status":"%s","reference":"%s",\
        "note":"%s","tags":["%s","%s"],\
        "address":{"street":"%s","number":%d,"city":"%s","zip":"%05d"}}""",
        number,
        words(random, 2),
        1 + random.nextInt(12),
        1 + random.nextInt(28),
        random.nextInt(60),
        random.nextBoolean(),
        random.nextInt(1_000_000) / 100.0,
        random.nextInt(20),
        random.nextInt(100_000),
        words(random, 1),
        Long.toHexString(random.nextLong()),
        words(random, 16),
        words(random, 1),
        words(random, 1),
        words(random, 2),
        random.nextInt(300),
        words(random, 1),
        random.nextInt(100_000));
  }

  private static String words(Random random, int count) {
    String[] words = new String[count];
    for (int i = 0; i < count; i++) {
      words[i] = WORDS[random.nextInt(WORDS.length)];
    }
    return String.join(" ", words);
  }

  private static double median(double[] of) {
    double[] sorted = of.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
