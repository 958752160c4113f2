package lectus.http.token;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The file of keys, read again when it changes. A file that cannot be read or understood any more
 * takes nothing away: the keys stay as they were, and the log says so. Thread-safe.
 */
final class TokenKeysFile {
  private static final Logger LOG = LoggerFactory.getLogger(TokenKeysFile.class);

  /** How old a look at the file may be. */
  private static final long FRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Path file;
  private volatile Look last = new Look(TokenKeys.NONE, new Stamp(FileTime.fromMillis(0), -1), 0);

  /** Whether the last look failed, which is said once. */
  private boolean isMissing;

  private volatile long lookedAtNanos = System.nanoTime() - FRESH_NANOS;

  TokenKeysFile(Path file) {
    this.file = file;
  }

  /**
   * What was seen of the file.
   *
   * @param number grows with each change
   */
  record Look(TokenKeys keys, Stamp stamp, int number) {}

  /** What changes with a file. */
  record Stamp(FileTime changed, long bytes) {}

  /** Whether the file was looked at lately. Never waits. */
  boolean isFresh() {
    return System.nanoTime() - lookedAtNanos < FRESH_NANOS;
  }

  /** Returns what was seen last. Never waits. */
  Look last() {
    return last;
  }

  /** Returns the keys as they are in the file now, or were a moment ago; waits for the disk. */
  synchronized Look current() {
    if (!isFresh()) {
      look();
      lookedAtNanos = System.nanoTime();
    }
    return last;
  }

  private void look() {
    try {
      BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
      Stamp stamp = new Stamp(attributes.lastModifiedTime(), attributes.size());
      if (!stamp.equals(last.stamp())) {
        last = new Look(keysOr(last.keys()), stamp, last.number() + 1);
      }
      isMissing = false;
    } catch (IOException e) {
      if (!isMissing) {
        LOG.warn("The keys of tokens in {} cannot be read. Those from before are kept.", file, e);
      }
      isMissing = true;
    }
  }

  private TokenKeys keysOr(TokenKeys before) throws IOException {
    try {
      return TokenKeys.read(file);
    } catch (MalformedKeysException e) {
      LOG.warn("The keys of tokens in {} are not taken. Those from before are kept.", file, e);
      return before;
    }
  }
}
