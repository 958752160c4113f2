package lectus.document.write;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import lectus.error.LectusError;
import lectus.error.LectusException;
import lectus.json.ChosenPaths;
import lectus.json.ExplodedBody;
import lectus.json.FieldPath;
import lectus.json.JsonExploder;
import lectus.json.LeafList;
import lectus.json.LeafView;
import lectus.json.LeafView.LeafType;
import lectus.json.TupleReader;

/**
 * CouchDB 3.5.2's rules for design documents, checked before one is stored. They apply to
 * interactive and replicated edits, tombstones included: members have the right types, each view
 * has a map function, built-in reduce functions exist. Source code is compiled elsewhere, and only
 * if {@link #hasSource}.
 */
public final class DesignRules {
  private static final String LIBRARY = "lib";
  private static final int MAX_RANK = 100;

  /** Languages whose built-in reduce functions are known; CouchDB accepts any in others. */
  private static final Set<String> LANGUAGES = Set.of("javascript", "query");

  /** Prefixes of the names of built-in reduce functions. */
  private static final List<String> REDUCES =
      List.of("_sum", "_count", "_stats", "_approx_count_distinct", "_first", "_last");

  private static final List<String> RANKED_REDUCES = List.of("_top_", "_bottom_");

  private static final ChosenPaths MEMBERS =
      ChosenPaths.ofFields(
          Stream.of(
                  "filters",
                  "language",
                  "lists",
                  "options",
                  "rewrites",
                  "shows",
                  "updates",
                  "validate_doc_update",
                  "views")
              .map(FieldPath::parse)
              .toList());

  private final LeafView document;
  private final LeafView views;

  /**
   * Chooses the leaves that show what the rules look at, which is no array's element and no deeper
   * than a view's members. Of each array, and of each object as deep as that, it is one leaf.
   */
  private static final class Shown implements JsonExploder.Choice {
    private static final int DEEPEST = 3;

    /** The container of which a leaf was taken last. */
    private byte[] shown = {};

    @Override
    public boolean leadsTo(byte[] path, int pathEnd) {
      return MEMBERS.leadsTo(path, pathEnd) && !isShown(path, lookedAt(path, pathEnd), pathEnd);
    }

    @Override
    public boolean keeps(byte[] path, int pathEnd) {
      shown = Arrays.copyOf(path, lookedAt(path, pathEnd));
      return true;
    }

    private boolean isShown(byte[] path, int lookedAt, int pathEnd) {
      return lookedAt < pathEnd && Arrays.equals(shown, 0, shown.length, path, 0, lookedAt);
    }

    private static int lookedAt(byte[] path, int pathEnd) {
      TupleReader names = new TupleReader(path, 0, pathEnd);
      for (int depth = 0; depth < DEEPEST && names.hasNext() && names.isString(); depth++) {
        names.stringUtf8();
      }
      return names.position();
    }
  }

  /** The types that a member may have, in the order in which CouchDB's sentence names them. */
  private enum Kind {
    ARRAY,
    BOOLEAN,
    OBJECT,
    STRING;

    private boolean fits(LeafType type) {
      return this == BOOLEAN ? type.isBoolean() : type.name().equals(name());
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private DesignRules(LeafView document) {
    this.document = document;
    this.views = member(document, "views");
  }

  /**
   * Returns what is wrong with a design document: {@code invalid_design_doc} (400) with CouchDB's
   * sentence.
   *
   * @param partitioned whether its database is partitioned
   */
  public static Optional<LectusError> problem(ExplodedBody body, boolean partitioned) {
    try {
      new DesignRules(LeafList.of(body, new Shown()).root()).check(partitioned);
      return Optional.empty();
    } catch (LectusException broken) {
      return Optional.of(broken.error());
    }
  }

  /** Returns whether a design document without a problem has views or validates in JavaScript. */
  public static boolean hasSource(ExplodedBody body) {
    DesignRules rules = new DesignRules(LeafList.of(body, new Shown()).root());
    return rules.language().equals("javascript")
        && (!rules.views.isMissing() || !member(rules.document, "validate_doc_update").isMissing());
  }

  /** CouchDB reports the first fault, so the checks run in CouchDB's order. */
  private void check(boolean partitioned) {
    checkFunctions("filters");
    want(member(document, "language"), "language", Kind.STRING);
    checkFunctions("lists");
    checkOptions();
    want(member(document, "rewrites"), "rewrites", Kind.ARRAY, Kind.STRING);
    checkFunctions("shows");
    checkFunctions("updates");
    want(member(document, "validate_doc_update"), "validate_doc_update", Kind.OBJECT, Kind.STRING);
    checkViews();
    checkPartitioned(partitioned);
    checkReduces();
  }

  private void checkFunctions(String name) {
    LeafView functions = member(document, name);
    want(functions, name, Kind.OBJECT);
    forEachMember(
        functions, (key, value) -> want(value, name + "." + key, Kind.STRING, Kind.OBJECT));
  }

  private void checkOptions() {
    LeafView options = member(document, "options");
    want(options, "options", Kind.OBJECT);
    for (String option : List.of("include_design", "local_seq", "partitioned")) {
      want(member(options, option), "options." + option, Kind.BOOLEAN);
    }
  }

  private void checkViews() {
    want(views, "views", Kind.OBJECT);
    want(member(views, LIBRARY), "views." + LIBRARY, Kind.OBJECT);
    Kind map = language().equals("query") ? Kind.OBJECT : Kind.STRING;
    forEachMember(
        views,
        (name, view) -> {
          want(view, "views." + name, Kind.OBJECT);
          want(member(view, "map"), "views." + name + ".map", map);
        });
    forEachMember(
        views,
        (name, view) -> want(member(view, "reduce"), "views." + name + ".reduce", Kind.STRING));
    forEachMember(views, DesignRules::wantMap);
  }

  private static void wantMap(String name, LeafView view) {
    if (!name.equals(LIBRARY) && member(view, "map").isMissing()) {
      throw broken("View `" + name + "` must contain map function");
    }
  }

  private void checkPartitioned(boolean partitioned) {
    LeafType option = member(member(document, "options"), "partitioned").type();
    if (!partitioned && option == LeafType.TRUE) {
      throw broken("partitioned option cannot be true in a non-partitioned database.");
    }
  }

  private void checkReduces() {
    if (LANGUAGES.contains(language())) {
      forEachMember(
          views,
          (name, view) -> {
            LeafView reduce = member(view, "reduce");
            if (!reduce.isMissing() && !member(view, "map").isMissing()) {
              checkReduce(reduce.string());
            }
          });
    }
  }

  private static void checkReduce(String reduce) {
    if (!reduce.startsWith("_") || REDUCES.stream().anyMatch(reduce::startsWith)) {
      return;
    }
    String ranked =
        RANKED_REDUCES.stream()
            .filter(reduce::startsWith)
            .findFirst()
            .orElseThrow(() -> broken("`" + reduce + "` is not a supported reduce function."));
    String rank = reduce.substring(ranked.length());
    if (!rank.matches("[+-]?[0-9]+")) {
      throw broken("invalid rank reducer");
    }
    if (!rank.matches("[+]?0*([1-9][0-9]?|" + MAX_RANK + ")")) {
      throw broken("rank value must be between 1 and " + MAX_RANK);
    }
  }

  private String language() {
    LeafView language = member(document, "language");
    return language.isMissing() ? "javascript" : language.string();
  }

  private static LeafView member(LeafView object, String name) {
    return object.child(LeafView.Step.of(name));
  }

  private static void forEachMember(LeafView object, BiConsumer<String, LeafView> sink) {
    LeafView.Children children = object.children();
    for (LeafView child = children.next(); child != null; child = children.next()) {
      sink.accept(child.name().string(), child);
    }
  }

  /** Accepts a missing member. */
  private static void want(LeafView value, String path, Kind... kinds) {
    if (!value.isMissing() && Arrays.stream(kinds).noneMatch(kind -> kind.fits(value.type()))) {
      String types = Arrays.stream(kinds).map(Kind::toString).collect(Collectors.joining(" or "));
      throw broken("`" + path + "` field must have " + types + " type");
    }
  }

  private static LectusException broken(String reason) {
    return LectusException.badRequest("invalid_design_doc", reason);
  }
}
