package lectus.feed;

import com.apple.foundationdb.ReadTransaction;
import lectus.error.LectusException;
import lectus.store.Reads;
import lectus.store.Versionstamp;

/** What all forms of the parameter {@code since} have in common. */
public final class SinceText {
  private SinceText() {}

  /** Without JSON's quotes, which CouchDB's clients put around sequences. */
  public static String bare(String text) {
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? text.substring(1, text.length() - 1) : text;
  }

  /**
   * Refuses what no feed can have given out yet: whoever read on from there would miss every change
   * up to it. What a feed gives out is a commit's versionstamp or made of a read version, and no
   * later transaction has a lower one.
   *
   * @param at what the client wants to go on behind
   * @throws LectusException {@code bad_request}
   */
  public static void checkReached(ReadTransaction tx, Versionstamp at) {
    if (at.compareTo(Versionstamp.upTo(Reads.await(tx.getReadVersion()))) > 0) {
      throw future();
    }
  }

  /** A sequence that has not been reached. */
  public static LectusException future() {
    return LectusException.badRequest("The sequence in 'since' lies in the future.");
  }

  public static LectusException malformed() {
    return LectusException.badRequest("Malformed sequence supplied in 'since' parameter.");
  }
}
