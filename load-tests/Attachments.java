import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Puts and gets attachments of 1 kB, 1 MB and 100 MB: through Lectus, straight in RocksDB, and
 * through BareUploads. One connection, or one thread, sends one after the other. All take turns, in
 * another order each round; a ratio is of the two figures of one round, and what is printed are
 * medians of the rounds. Every content is another one. {@code java -cp target/lectus.jar
 * load-tests/Attachments.java LECTUS_PORT BARE_PORT FOLDER ROUNDS}
 */
public final class Attachments {
  /** As Lectus cuts attachments, and as many as it commits at once. */
  private static final int CHUNK_BYTES = 90_000;

  private static final int CHUNKS_AT_ONCE = 8;
  private static final int PIECE_BYTES = 128 << 10;
  private static final int WARM_UPS = 2;
  private static final List<Size> SIZES =
      List.of(
          new Size("1 kB", 1_000, 200),
          new Size("1 MB", 1_000_000, 20),
          new Size("100 MB", 100_000_000, 1));

  private record Size(String name, int bytes, int count) {}

  /** A place for attachments. */
  private interface Place {
    void put(String name, Content content) throws Exception;

    void get(String name, Content content) throws Exception;
  }

  /** Bytes that no other content has: the same ones behind a number. */
  private static final class Content {
    private final byte[] bytes;
    private final int length;

    Content(byte[] bytes, int length, long number) {
      ByteBuffer.wrap(bytes).putLong(number);
      this.bytes = bytes;
      this.length = length;
    }

    void checkLength(long found) throws IOException {
      if (found != length) {
        throw new IOException(found + " bytes of " + length);
      }
    }
  }

  private final List<String> names = List.of("Lectus", "RocksDB", "Vert.x");
  private final List<Place> places;
  private final byte[] bytes = new byte[100_000_000];
  private long number;

  private Attachments(List<Place> places) {
    this.places = places;
    new Random(1).nextBytes(bytes);
  }

  public static void main(String[] args) throws Exception {
    RocksDB.loadLibrary();
    int rounds = Integer.parseInt(args[3]);
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, Path.of(args[2]).toString());
        Straight straight = new Straight(db);
        Http lectus = new Http(Integer.parseInt(args[0]), "/attachments/");
        Http bare = new Http(Integer.parseInt(args[1]), "/")) {
      new Attachments(List.of(lectus, straight, bare)).run(rounds);
    }
  }

  private void run(int rounds) throws Exception {
    System.out.println(
        "| attachments | Lectus, MB/s | straight RocksDB, MB/s | bare Vert.x, MB/s | Lectus of the"
            + " slower |");
    System.out.println("|---|---|---|---|---|");
    for (Size size : SIZES) {
      List<double[]> in = new ArrayList<>();
      List<double[]> out = new ArrayList<>();
      for (int round = -WARM_UPS; round < rounds; round++) {
        double[] nowIn = new double[places.size()];
        double[] nowOut = new double[places.size()];
        List<Integer> order = new ArrayList<>(List.of(0, 1, 2));
        Collections.rotate(order, Math.floorMod(round, order.size()));
        for (int place : order) {
          turn(places.get(place), size, place, nowIn, nowOut);
        }
        if (round >= 0) {
          in.add(nowIn);
          out.add(nowOut);
        }
      }
      row(size.name() + " in", in);
      row(size.name() + " out", out);
    }
  }

  /** Gets what it has put. */
  private void turn(Place place, Size size, int index, double[] in, double[] out) throws Exception {
    long first = number;
    long begun = System.nanoTime();
    for (int i = 0; i < size.count(); i++) {
      number++;
      place.put(names.get(index) + number, new Content(bytes, size.bytes(), number));
    }
    long stored = System.nanoTime();
    for (long one = first + 1; one <= number; one++) {
      place.get(names.get(index) + one, new Content(bytes, size.bytes(), one));
    }
    double megabytes = (double) size.bytes() * size.count() / 1_000_000;
    in[index] = megabytes * 1e9 / (stored - begun);
    out[index] = megabytes * 1e9 / (System.nanoTime() - stored);
  }

  private static void row(String what, List<double[]> rounds) {
    System.out.printf(
        Locale.ROOT,
        "| %s | %.3g | %.3g | %.3g | %.0f %% |%n",
        what,
        median(rounds.stream().map(it -> it[0]).toList()),
        median(rounds.stream().map(it -> it[1]).toList()),
        median(rounds.stream().map(it -> it[2]).toList()),
        100 * median(rounds.stream().map(it -> it[0] / Math.min(it[1], it[2])).toList()));
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return (sorted.get((sorted.size() - 1) / 2) + sorted.get(middle)) / 2;
  }

  /** A connection to a server that takes and gives attachments. */
  private static final class Http implements Place, AutoCloseable {
    private final String path;
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;
    private final byte[] piece = new byte[PIECE_BYTES];

    Http(int port, String path) throws IOException {
      this.path = path;
      this.socket = new Socket("127.0.0.1", port);
      socket.setTcpNoDelay(true);
      this.in = new BufferedInputStream(socket.getInputStream(), PIECE_BYTES);
      this.out = socket.getOutputStream();
    }

    @Override
    public void put(String name, Content content) throws IOException {
      send(
          "PUT",
          name,
          "Content-Length: " + content.length + "\r\nContent-Type: application/octet-stream\r\n");
      for (int at = 0; at < content.length; at += PIECE_BYTES) {
        out.write(content.bytes, at, Math.min(PIECE_BYTES, content.length - at));
      }
      answer("HTTP/1.1 201");
    }

    @Override
    public void get(String name, Content content) throws IOException {
      send("GET", name, "");
      content.checkLength(answer("HTTP/1.1 200"));
    }

    private void send(String method, String name, String headers) throws IOException {
      String target = path + name + (path.length() > 1 ? "/f" : "");
      String head = method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + "\r\n";
      out.write(head.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Returns the length of the body, which has been read. */
    private long answer(String status) throws IOException {
      String first = line();
      if (!first.startsWith(status)) {
        throw new IOException(first);
      }
      long length = -1;
      for (String line = line(); !line.isEmpty(); line = line()) {
        if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
          length = Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
        }
      }
      long missing = length;
      while (missing > 0) {
        int read = in.read(piece, 0, (int) Math.min(PIECE_BYTES, missing));
        if (read < 0) {
          throw new IOException(missing + " bytes are missing");
        }
        missing -= read;
      }
      return length;
    }

    private String line() throws IOException {
      StringBuilder line = new StringBuilder();
      for (int next = in.read(); next != '\n'; next = in.read()) {
        if (next < 0) {
          throw new IOException("The server has closed the connection.");
        }
        if (next != '\r') {
          line.append((char) next);
        }
      }
      return line.toString();
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  /** The chunks of the contents as rows, synced as often as Lectus does. */
  private static final class Straight implements Place, AutoCloseable {
    private final RocksDB db;
    private final WriteOptions synced = new WriteOptions().setSync(true);

    Straight(RocksDB db) {
      this.db = db;
    }

    @Override
    public void put(String name, Content content) throws RocksDBException {
      byte[] chunk = new byte[Math.min(CHUNK_BYTES, content.length)];
      int at = 0;
      while (at < content.length) {
        try (WriteBatch batch = new WriteBatch()) {
          for (int i = 0; i < CHUNKS_AT_ONCE && at < content.length; i++) {
            int length = Math.min(CHUNK_BYTES, content.length - at);
            byte[] value = length == chunk.length ? chunk : new byte[length];
            System.arraycopy(content.bytes, at, value, 0, length);
            batch.put(key(name, at), value);
            at += length;
          }
          db.write(synced, batch);
        }
      }
    }

    @Override
    public void get(String name, Content content) throws Exception {
      long found = 0;
      for (byte[] chunk = db.get(key(name, found));
          chunk != null;
          chunk = db.get(key(name, found))) {
        found += chunk.length;
      }
      content.checkLength(found);
    }

    private static byte[] key(String name, long at) {
      return String.format("prefix-%s-%012d", name, at).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
      synced.close();
    }
  }
}
