package lectus.changes.page;

import com.apple.foundationdb.ReadTransaction;
import java.util.Optional;
import java.util.function.Function;
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

  public static <P extends ResumePoint<P>> Since<P> now() {
    return new Since<P>(Optional.empty());
  }

  public static <P extends ResumePoint<P>> Since<P> after(P position) {
    return new Since<>(Optional.of(position));
  }

  public boolean isNow() {
    return after.isEmpty();
  }

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
   * @param known as of where the reader knows which stored feeds were removed; empty if it knows
   *     that as of its position
   */
  public record Parts(String position, Optional<String> known) {}

  public static Parts parts(String bare) {
    int split = bare.indexOf(KNOWN_END);
    return split < 0
        ? new Parts(bare, Optional.empty())
        : new Parts(bare.substring(split + 1), Optional.of(bare.substring(0, split)));
  }

  /**
   * Returns the part of the text before the position; empty if the position says everything.
   *
   * @param known as in {@link Parts}
   */
  public static <T extends Comparable<? super T>> String head(T position, T known) {
    return position.compareTo(known) < 0 ? known.toString() + KNOWN_END : "";
  }

  /**
   * Refuses a position that no feed can have returned yet: a reader continuing there would miss
   * every change before it. A feed returns a commit's versionstamp or a point made from a read
   * version, and no later transaction has a lower one.
   *
   * @param at the position after which the client wants to continue
   * @throws LectusException {@code bad_request}
   */
  public static void checkReached(ReadTransaction tx, Versionstamp at) {
    long reached = Awaiting.await(tx.getReadVersion());
    if (at.compareTo(Versionstamp.upTo(reached)) > 0) {
      throw LectusException.badRequest("The sequence in 'since' lies in the future.");
    }
  }
}
