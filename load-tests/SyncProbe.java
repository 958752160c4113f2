import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Measures how many appends of one kilobyte a second the disk makes durable, in sequence: the
 * median of five rounds of a second. {@code java load-tests/SyncProbe.java FOLDER [ROUNDS]}
 */
public final class SyncProbe {
  private static final int ROUNDS = 5;
  private static final long ROUND_NANOS = 1_000_000_000L;

  public static void main(String[] args) throws IOException {
    Path file = Files.createTempFile(Path.of(args[0]), "probe", ".log");
    double[] rates = new double[args.length > 1 ? Integer.parseInt(args[1]) : ROUNDS];
    try (FileChannel log = FileChannel.open(file, StandardOpenOption.WRITE)) {
      for (int round = 0; round < rates.length; round++) {
        rates[round] = rate(log);
      }
    } finally {
      Files.delete(file);
    }
    Arrays.sort(rates);
    System.out.printf("%.0f%n", rates[rates.length / 2]);
  }

  private static double rate(FileChannel log) throws IOException {
    ByteBuffer record = ByteBuffer.allocateDirect(1024);
    long start = System.nanoTime();
    long appends = 0;
    while (System.nanoTime() - start < ROUND_NANOS) {
      log.write(record.clear());
      log.force(false);
      appends++;
    }
    return appends * 1e9 / (System.nanoTime() - start);
  }
}
