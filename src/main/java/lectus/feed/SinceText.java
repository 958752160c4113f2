package lectus.feed;

import com.apple.foundationdb.ReadTransaction;
import lectus.error.LectusException;
import lectus.store.Awaiting;
import lectus.store.Versionstamp;

/** Parsing and checks common to all forms of the parameter {@code since}. */
public final class SinceText {
  private SinceText() {}

  /** Returns the text without JSON's quotes, which CouchDB's clients put around sequences. */
  public static String bare(String text) {
    boolean quoted = text.length() >= 2 && text.startsWith("\"") && text.endsWith("\"");
    return quoted ? text.substring(1, text.length() - 1) : text;
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
    if (at.compareTo(Versionstamp.upTo(Awaiting.await(tx.getReadVersion()))) > 0) {
      throw future();
    }
  }

  /** Returns the error for a sequence that has not been reached. */
  public static LectusException future() {
    return LectusException.badRequest("The sequence in 'since' lies in the future.");
  }

  public static LectusException malformed() {
    return LectusException.badRequest("Malformed sequence supplied in 'since' parameter.");
  }
}
