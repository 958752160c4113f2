package lectus.store.embedded;

import com.apple.foundationdb.KeyArrayResult;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import lectus.store.embedded.engine.read.Cursor;

/** Estimates sizes and split points of ranges. They ignore own writes and add no conflicts. */
final class RangeEstimates {
  private final Attempt attempt;
  private final AttemptReads reads;

  RangeEstimates(Attempt attempt, AttemptReads reads) {
    this.attempt = attempt;
    this.reads = reads;
  }

  /**
   * Returns the estimated bytes in a range. The future fails with 2005 if the range is inverted.
   */
  CompletableFuture<Long> sizeBytes(byte[] begin, byte[] end) {
    return reads.answer(
        () -> {
          check(begin, end);
          return attempt.environment.engine().estimatedSize(begin.clone(), end.clone());
        });
  }

  /**
   * Returns keys that split a range into chunks of about {@code chunkBytes}. The first is its
   * begin, the last its end. The future fails with 2005 if the range is inverted, 2004 if it
   * extends past FF.
   */
  CompletableFuture<KeyArrayResult> splitPoints(byte[] begin, byte[] end, long chunkBytes) {
    return reads.answer(
        () -> {
          check(begin, end);
          byte[] keysEnd = attempt.options.readEnd();
          if (KeySpace.compare(begin, keysEnd) > 0 || KeySpace.compare(end, keysEnd) > 0) {
            throw StoreError.KEY_OUTSIDE_LEGAL_RANGE.exception();
          }
          if (chunkBytes <= 0) {
            throw StoreError.CLIENT_INVALID_OPERATION.exception();
          }
          return encoded(points(begin.clone(), end.clone(), chunkBytes));
        });
  }

  private void check(byte[] begin, byte[] end) {
    if (KeySpace.compare(begin, end) > 0) {
      throw StoreError.INVERTED_RANGE.exception();
    }
    attempt.checkDeferred();
    attempt.checkUsable();
  }

  private List<byte[]> points(byte[] begin, byte[] end, long chunkBytes) {
    List<byte[]> points = new ArrayList<>();
    points.add(begin);
    long bytes = 0;
    try (Cursor rows = attempt.snapshot().scan(begin, end, false)) {
      while (rows.next()) {
        byte[] key = rows.key();
        if (bytes >= chunkBytes) {
          points.add(key);
          bytes = 0;
        }
        bytes += key.length + rows.value().length;
      }
    }
    points.add(end);
    return points;
  }

  private static KeyArrayResult encoded(List<byte[]> keys) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int[] lengths = new int[keys.size()];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = keys.get(i).length;
      bytes.writeBytes(keys.get(i));
    }
    return new KeyArrayResult(bytes.toByteArray(), lengths);
  }
}
