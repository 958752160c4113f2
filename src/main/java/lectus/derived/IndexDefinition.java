package lectus.derived;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.json.FieldPath;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.json.TupleReader;

/**
 * An index as a design document describes it.
 *
 * @param design the design document's id
 * @param name of the view that describes it
 * @param fields in {@link lectus.derived.NormalSelector}'s spelling, at least one
 * @param direction of all fields, {@code asc} or {@code desc}; it says nothing of the order in
 *     which the index can be read
 * @param filter the documents that are in it, as a selector; empty: all that have the fields
 * @param partitioned whether it is read a partition at a time
 */
public record IndexDefinition(
    String design,
    String name,
    List<String> fields,
    String direction,
    Optional<JsonObject> filter,
    boolean partitioned)
    implements Derived.Definition {
  public static final int MAX_FIELDS = 32;

  /** Maximum number of indexes of a database: their definitions are in memory beside its handle. */
  public static final int MAX_INDEXES = 64;

  /** Maximum length of an index's name, in UTF-16 units. */
  public static final int LONGEST_NAME = 500;

  /** Maximum length of an index's fields and partial filter together, in UTF-16 units. */
  public static final int LONGEST_DEFINITION = 8_000;

  public static final String ASCENDING = "asc";
  public static final String DESCENDING = "desc";

  public static final Set<String> IN_EVERY_DOCUMENT = Set.of("_id", "_rev");

  /**
   * Bytes of an entry's key for the values of all fields: far below the store's 10 kB for a key.
   */
  private static final int SORT_KEY_BYTES = 6_000;

  /** The same for one value. */
  private static final int MAX_VALUE_BYTES = 1_000;

  private static final int HEAP_BYTES = 1_000;

  private static final long HEAP_BYTES_PER_CHARACTER = 20;

  public IndexDefinition {
    fields = List.copyOf(fields);
  }

  @Override
  public Derived.Kind kind() {
    return Derived.Kind.INDEX;
  }

  @Override
  public String definedBy() {
    return design;
  }

  @Override
  public String title() {
    return "index " + design + "/" + name;
  }

  @Override
  public List<FieldPath> paths() {
    return fields.stream().map(FieldPath::parse).toList();
  }

  /**
   * Returns how many bytes of a value's sort key an entry has. Values that differ only behind them
   * are not told apart by the index.
   */
  public int valueBytes() {
    return Math.min(MAX_VALUE_BYTES, SORT_KEY_BYTES / fields.size());
  }

  /** Whether it depends on a member that is not among the leaves that indexes are made of. */
  public boolean looksAt(String member) {
    byte[] path = FieldPath.parse(member).prefixes().get(0);
    return SelectorNeeds.union(selector().map(List::of).orElse(List.of()), paths()).stream()
        .anyMatch(it -> TupleReader.isAtOrBelow(path, it.path()));
  }

  public Optional<Selector> selector() {
    return filter.map(Selector::compile);
  }

  @Override
  public long heapBytes() {
    Optional<FilterSize> size = filter.map(FilterSize::of);
    long characters = fields.stream().mapToInt(String::length).sum();
    return HEAP_BYTES
        + HEAP_BYTES_PER_CHARACTER * characters
        + size.map(FilterSize::memory).orElse(0L);
  }

  /** Returns the definition as CouchDB shows it: fields with directions, and the filter. */
  public JsonObject json() {
    List<JsonValue> directed = new ArrayList<>(fields.size());
    for (String field : fields) {
      directed.add(new JsonObject(Map.of(field, new JsonString(direction))));
    }
    Map<String, JsonValue> members = new LinkedHashMap<>();
    members.put("fields", new JsonArray(directed));
    filter.ifPresent(it -> members.put("partial_filter_selector", it));
    return new JsonObject(members);
  }
}
