package lectus.derived;

import lectus.mango.selector.SelectorIndex;
import lectus.store.Versionstamp;

/**
 * A stored feed of a database. Two are equal if they have the same entries, whether all of these
 * are there yet or not.
 */
public final class StoredFeed {
  private final long number;
  private final FeedDefinition definition;
  private final boolean isReadable;
  private final Versionstamp formerRemovedAt;
  private final DocumentChannels channels;

  /**
   * @param number tells it from all other stored feeds that the database has or had
   * @param isReadable whether all documents are in it; before, it is only written
   * @param formerRemovedAt when another feed of the same name was removed last before its
   *     definition, or may have been; ZERO if none was
   */
  public StoredFeed(
      long number, FeedDefinition definition, boolean isReadable, Versionstamp formerRemovedAt) {
    this.number = number;
    this.definition = definition;
    this.isReadable = isReadable;
    this.formerRemovedAt = formerRemovedAt;
    this.channels = new DocumentChannels(definition.rule());
  }

  public long number() {
    return number;
  }

  public FeedDefinition definition() {
    return definition;
  }

  public boolean isReadable() {
    return isReadable;
  }

  public Versionstamp formerRemovedAt() {
    return formerRemovedAt;
  }

  /** Returns in which of its channels documents are. */
  public DocumentChannels channels() {
    return channels;
  }

  /** Whether deciding if a document belongs may take long. */
  public boolean isCostly() {
    return channels.selector().filter(it -> !SelectorIndex.finds(it)).isPresent();
  }

  /** Returns the feed once all documents are in it. */
  public StoredFeed readable() {
    return new StoredFeed(number, definition, true, formerRemovedAt);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof StoredFeed it
        && number == it.number
        && definition.equals(it.definition);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(number);
  }
}
