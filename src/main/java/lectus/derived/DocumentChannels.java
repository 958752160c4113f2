package lectus.derived;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.FieldPath;
import lectus.json.LeafType;
import lectus.json.LeafView;
import lectus.mango.selector.EditWork;
import lectus.mango.selector.LeafRead;
import lectus.mango.selector.NeededLeaves;
import lectus.mango.selector.Selector;

/** Finds out in which channels of a stored feed a leaf of a document is. */
public final class DocumentChannels {
  /** The only channel of a feed with a selector. */
  public static final String ONLY = "";

  private final Optional<Selector> selector;
  private final List<LeafView.Step> path;
  private final List<LeafRead> reads;

  DocumentChannels(FeedRule rule) {
    if (rule instanceof FeedRule.Selected some) {
      this.selector = Optional.of(Selector.compile(some.selector()));
      this.path = List.of();
      this.reads = selector.get().reads();
    } else {
      FieldPath field = FieldPath.parse(((FeedRule.Channels) rule).path());
      this.selector = Optional.empty();
      this.path = field.names().stream().map(LeafView.Step::of).toList();
      this.reads = NeededLeaves.of(List.of(), List.of(field));
    }
  }

  Optional<Selector> selector() {
    return selector;
  }

  /** Returns the parts of a document that decide in which channels it is. */
  public List<LeafRead> reads() {
    return reads;
  }

  /**
   * @param leaf with at least the leaves of {@link #reads}
   * @throws LectusException {@code bad_request}: the feed cannot take the document
   */
  public Set<String> of(LeafView leaf, String docId) {
    if (selector.isPresent()) {
      return selector.get().matches(leaf, docId) ? Set.of(ONLY) : Set.of();
    }
    return named(leaf);
  }

  /**
   * The same, as far as the write of the document may go into it.
   *
   * @throws LectusException {@code bad_request}: the feed cannot take the document
   */
  public Set<String> of(LeafView leaf, EditWork.Share work) {
    if (selector.isPresent()) {
      return work.matches(selector.get(), leaf) ? Set.of(ONLY) : Set.of();
    }
    return named(leaf);
  }

  private Set<String> named(LeafView leaf) {
    LeafView value = leaf;
    for (int i = 0; i < path.size() && !value.isMissing(); i++) {
      value = value.child(path.get(i));
    }
    Set<String> names = new LinkedHashSet<>();
    if (value.type() == LeafType.STRING) {
      add(value, names);
    } else if (value.type() == LeafType.ARRAY) {
      LeafView.Children elements = value.children();
      for (LeafView each = elements.next(); each != null; each = elements.next()) {
        if (each.type() == LeafType.STRING) {
          add(each, names);
        }
      }
    }
    return names;
  }

  /** The empty string names no channel. */
  private static void add(LeafView name, Set<String> names) {
    byte[] utf8 = name.utf8();
    if (utf8.length > FeedLimits.LONGEST_CHANNEL) {
      throw LectusException.badRequest(
          "The name of a channel has "
              + utf8.length
              + " bytes, the limit is "
              + FeedLimits.LONGEST_CHANNEL
              + ".");
    }
    if (utf8.length > 0) {
      names.add(new String(utf8, StandardCharsets.UTF_8));
    }
    checkCount(names.size());
  }

  /**
   * @param channels of a document in one feed
   * @throws LectusException {@code bad_request}: they are too many
   */
  public static void checkCount(int channels) {
    if (channels > FeedLimits.MAX_CHANNELS) {
      throw LectusException.badRequest(
          "The document names more than " + FeedLimits.MAX_CHANNELS + " channels.");
    }
  }
}
