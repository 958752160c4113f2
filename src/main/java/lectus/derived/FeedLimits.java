package lectus.derived;

/**
 * The limits on stored feeds. Each edit of a document is looked at by all feeds of its database,
 * and writes an entry for each channel in which the document is.
 */
public final class FeedLimits {
  /** Maximum number of stored feeds of a database. */
  public static final int MAX_FEEDS = 32;

  /** Maximum length of a feed's name, in characters. */
  public static final int LONGEST_NAME = 128;

  /** Maximum length of a selector, as JSON, or of a field's path, in UTF-16 units. */
  public static final int LONGEST_DEFINITION = 8_000;

  /** Maximum number of channels of a feed in which one document is. */
  public static final int MAX_CHANNELS = 100;

  /** Number of channels of a feed of which it is remembered that one document left them. */
  public static final int MAX_LEFT = 200;

  /** Maximum length of a channel's name, in bytes of UTF-8. */
  public static final int LONGEST_CHANNEL = 256;

  /** Maximum number of channels that one reader asks for. */
  public static final int MAX_ASKED = 100;

  private FeedLimits() {}
}
