package lectus.http.admin;

import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import lectus.http.message.EntityTag;
import lectus.http.message.HttpDate;

/**
 * A regular file as it was found.
 *
 * @param size in bytes
 */
record ServedFile(Path path, long size, Instant modified) implements Folder.Entry {
  /** Longer files are not served. */
  static final long MAX_BYTES = 64 << 20;

  String type() {
    return FileTypes.of(path.getFileName().toString());
  }

  EntityTag tag() {
    return new EntityTag("%x-%x".formatted(size, modified.toEpochMilli()));
  }

  /** Returns the value of {@code Last-Modified}, which has whole seconds. */
  String lastModified() {
    return HttpDate.format(modified);
  }

  /**
   * Whether it is as it was at that time; false for what is no date, which is to be ignored.
   *
   * @param date of an {@code If-Modified-Since}
   */
  boolean isUnchangedSince(String date) {
    return HttpDate.parse(date)
        .filter(since -> !modified.truncatedTo(ChronoUnit.SECONDS).isAfter(since))
        .isPresent();
  }
}
