package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.HexFormat;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/**
 * The parameter {@code since}: where a feed begins.
 *
 * @param after a position that a feed returned, or the beginning; empty for {@code now}: after the
 *     last change
 */
public record Since<P extends ResumePoint<P>>(Optional<P> after) {
  private static final char KNOWN_END = '-';
  private static final int MAX_KNOWN_DIGITS = 15;
  private static final Pattern HEX = Pattern.compile("[1-9a-f][0-9a-f]*");

  public static <P extends ResumePoint<P>> Since<P> now() {
    return new Since<P>(Optional.empty());
  }

  public static <P extends ResumePoint<P>> Since<P> after(P position) {
    return new Since<>(Optional.of(position));
  }

  public boolean isNow() {
    return after.isEmpty();
  }

  /** Returns the text that {@link #parse} reads. */
  public String text() {
    return after.map(P::text).orElse("now");
  }

  /**
   * @param text {@code 0}, {@code now} or a position, bare or in JSON's quotes, which CouchDB's
   *     clients put around sequences
   * @param positions parses a bare position; empty if it is none
   * @throws LectusException {@code bad_request}
   */
  public static <P extends ResumePoint<P>> Since<P> parse(
      String text, Function<String, Optional<P>> positions) {
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    String bare = quoted ? text.substring(1, text.length() - 1) : text;
    return bare.equals("now")
        ? now()
        : after(
            positions
                .apply(bare)
                .orElseThrow(
                    () ->
                        LectusException.badRequest(
                            "Malformed sequence supplied in 'since' parameter.")));
  }

  /**
   * A position as text, and what its reader knows.
   *
   * @param position where it is
   * @param known the version as of which the reader knows which stored feeds were removed; 0 if it
   *     knows that as of its position
   */
  public record Parts(String position, long known) {}

  /** Returns the parts of a text without quotes; empty if its {@link #head} is none. */
  public static Optional<Parts> parts(String bare) {
    int split = bare.indexOf(KNOWN_END);
    if (split < 0) {
      return Optional.of(new Parts(bare, 0));
    }
    String hex = bare.substring(0, split);
    boolean isNumber = hex.length() <= MAX_KNOWN_DIGITS && HEX.matcher(hex).matches();
    return isNumber
        ? Optional.of(new Parts(bare.substring(split + 1), HexFormat.fromHexDigitsToLong(hex)))
        : Optional.empty();
  }

  /**
   * Returns the part of the text before the position; empty if the position says everything.
   *
   * @param at the position in the order of all commits
   * @param known as in {@link Parts}
   */
  public static String head(Versionstamp at, long known) {
    return known > 0 && at.compareTo(Versionstamp.upTo(known)) < 0
        ? Long.toHexString(known) + KNOWN_END
        : "";
  }

  /**
   * Refuses a position that no feed can have returned yet: a reader continuing there would miss
   * every change before it. A feed returns a commit's versionstamp or a point made from a read
   * version, and no later transaction has a lower one.
   *
   * @param at the position after which the client wants to continue
   * @param known as in {@link Parts}
   * @throws LectusException {@code bad_request}
   */
  public static void checkReached(ReadTransaction tx, Versionstamp at, long known) {
    long reached = Awaiting.await(tx.getReadVersion());
    if (at.compareTo(Versionstamp.upTo(reached)) > 0 || known > reached) {
      throw future();
    }
  }

  /** Returns the error for a sequence that has not been reached. */
  public static LectusException future() {
    return LectusException.badRequest("The sequence in 'since' lies in the future.");
  }
}
