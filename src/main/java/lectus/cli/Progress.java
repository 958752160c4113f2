package lectus.cli;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** How far a command is: at a terminal one line that changes, elsewhere a line a second. */
final class Progress {
  private static final long NANOS_AT_TERMINAL = 100_000_000;
  private static final long NANOS_ELSEWHERE = 1_000_000_000;
  private static final int BAR = 30;
  private static final long KILO = 1_000;
  private static final String UNITS = "kMGTPE";

  private final PrintWriter err;
  private final boolean isTerminal;
  private final LongSupplier nanoTime;
  private long shownNanos;
  private int shownLength;

  Progress(PrintWriter err, boolean isTerminal, LongSupplier nanoTime) {
    this.err = err;
    this.isTerminal = isTerminal;
    this.nanoTime = nanoTime;
    this.shownNanos = nanoTime.getAsLong();
  }

  static Progress of(Console console) {
    return new Progress(console.err(), console.isTerminal(), System::nanoTime);
  }

  /**
   * Returns what takes the number of each few bytes that were read or written.
   *
   * @param total how many there will be; 0: that is not known
   */
  LongConsumer ofBytes(String what, long total) {
    AtomicLong done = new AtomicLong();
    return more -> {
      long now = done.addAndGet(more);
      show(
          total > 0 ? OptionalDouble.of((double) now / total) : OptionalDouble.empty(),
          () -> what + ", " + bytes(now));
    };
  }

  /**
   * Tells how far it is, unless it just did.
   *
   * @param share of the whole, from 0 to 1; empty if the whole is not known
   * @param text such as {@code notes, 3 MB}
   */
  synchronized void show(OptionalDouble share, Supplier<String> text) {
    long now = nanoTime.getAsLong();
    if (now - shownNanos < (isTerminal ? NANOS_AT_TERMINAL : NANOS_ELSEWHERE)) {
      return;
    }
    shownNanos = now;
    if (isTerminal) {
      replace((share.isPresent() ? bar(share.getAsDouble()) + " " : "") + text.get());
    } else {
      err.println(text.get() + (share.isPresent() ? ", " + percent(share.getAsDouble()) : ""));
      err.flush();
    }
  }

  /** Takes the line that changes away, before another one is printed. */
  synchronized void clear() {
    if (shownLength > 0) {
      replace("");
      shownLength = 0;
    }
  }

  private void replace(String line) {
    err.print("\r" + line + " ".repeat(Math.max(0, shownLength - line.length())) + "\r");
    err.flush();
    shownLength = line.length();
  }

  private static String bar(double share) {
    int full = (int) Math.round(BAR * Math.max(0, Math.min(1, share)));
    return "[" + "#".repeat(full) + ".".repeat(BAR - full) + "] " + percent(share);
  }

  private static String percent(double share) {
    return (int) (100 * Math.max(0, Math.min(1, share))) + " %";
  }

  /** Returns a number of bytes for people: {@code 12.3 MB}. */
  static String bytes(long bytes) {
    if (bytes < KILO) {
      return bytes + " bytes";
    }
    double value = bytes;
    int unit = -1;
    while (value >= KILO && unit < UNITS.length() - 1) {
      value /= KILO;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %sB", value, UNITS.charAt(unit));
  }
}
