package lectus.derived;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import lectus.error.LectusException;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;
import lectus.store.Versionstamp;

/** A stored feed of a database. */
public final class StoredFeed extends Derived {
  /** The only channel of a feed with a selector. */
  public static final String ONLY = "";

  private final FeedDefinition definition;
  private final Removal former;
  private final Optional<Selector> selector;
  private final List<LeafView.Step> path;

  /**
   * When a stored feed was removed.
   *
   * @param incarnation of the database
   * @param at in the commit order of the store where that was
   */
  public record Removal(int incarnation, Versionstamp at) {
    public static final Removal NONE = new Removal(0, Versionstamp.ZERO);
  }

  /**
   * @param former when another feed of the same name was removed last before its definition, or may
   *     have been
   */
  public StoredFeed(long number, FeedDefinition definition, boolean isReadable, Removal former) {
    super(number, isReadable);
    this.definition = definition;
    this.former = former;
    this.selector = definition.selector().map(Selector::compile);
    this.path =
        definition.paths().stream()
            .flatMap(it -> it.names().stream())
            .map(LeafView.Step::of)
            .toList();
  }

  @Override
  public FeedDefinition definition() {
    return definition;
  }

  @Override
  public StoredFeed readable() {
    return new StoredFeed(number(), definition, true, former);
  }

  @Override
  public Optional<Selector> selector() {
    return selector;
  }

  public Removal former() {
    return former;
  }

  /** Whether deciding if a document belongs may take long. */
  public boolean isCostly() {
    return selector.filter(it -> !SelectorIndex.finds(it)).isPresent();
  }

  /**
   * Returns the channels in which a leaf of a document is.
   *
   * @param leaf with at least the leaves of {@link DerivedSet#reads}
   * @throws LectusException {@code bad_request}: the feed cannot take the document
   */
  public Set<String> channels(LeafView leaf, EditWork.Share work) {
    if (selector.isPresent()) {
      return work.matches(selector.get(), leaf) ? Set.of(ONLY) : Set.of();
    }
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
    if (utf8.length > FeedDefinition.LONGEST_CHANNEL) {
      throw LectusException.badRequest(
          "The name of a channel has "
              + utf8.length
              + " bytes, the limit is "
              + FeedDefinition.LONGEST_CHANNEL
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
    if (channels > FeedDefinition.MAX_CHANNELS) {
      throw LectusException.badRequest(
          "The document names more than " + FeedDefinition.MAX_CHANNELS + " channels.");
    }
  }
}
