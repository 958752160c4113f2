package lectus.view;

import com.fasterxml.jackson.core.JsonToken;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import lectus.attachment.Digests;
import lectus.derived.SortKey;
import lectus.error.LectusException;
import lectus.json.JsonInput;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonBool;
import lectus.json.JsonValue.JsonObject;
import lectus.json.JsonValue.JsonString;
import lectus.script.Call.Program;

/**
 * The views of a design document. Design documents with equal functions and options have equal
 * signatures, and share one index.
 *
 * @param signature 32 hex digits
 * @param includeDesign whether design documents are mapped, too
 * @param localSeq whether documents are mapped with {@code _local_seq}
 * @param partitioned whether each partition has rows of its own
 * @param views in the order of the design document
 * @param json what the functions need of the design document
 */
record ViewDefinition(
    String signature,
    String language,
    boolean includeDesign,
    boolean localSeq,
    boolean partitioned,
    List<View> views,
    byte[] json) {
  /** Bytes of all functions and options of a design document. */
  static final int MAX_BYTES = 1 << 20;

  private static final int SIGNATURE_BYTES = 16;
  private static final String JAVASCRIPT = "javascript";

  /** Characters of a language's name that an error shows. */
  private static final int SHOWN = 100;

  private static final String OPTIONS = "options";
  private static final String VIEWS = "views";
  private static final Set<String> MEMBERS = Set.of("language", OPTIONS, VIEWS);
  private static final String MAP = "map";
  private static final String LIBRARY = "lib";

  /**
   * @param number its place among the views of its design document
   * @param reduce the name or the source of its reduce function
   * @param isRaw whether keys sort by Erlang's order
   */
  record View(String name, int number, Optional<String> reduce, boolean isRaw) {}

  /**
   * Reads the definition of a design document; empty if it has no views with functions.
   *
   * @param design its JSON, of which other members are passed over
   * @param partitioned whether its database is
   * @throws LectusException {@code bad_request}: it is too large
   */
  static Optional<ViewDefinition> of(byte[] design, boolean partitioned) {
    Map<String, JsonValue> members = new LinkedHashMap<>();
    String text = new String(design, StandardCharsets.UTF_8);
    try (JsonInput input = JsonInput.of(design)) {
      input.next();
      while (input.next() == JsonToken.FIELD_NAME) {
        String name = input.name();
        input.next();
        String member = MEMBERS.contains(name) ? input.skipped(text) : "";
        if (member.length() > MAX_BYTES) {
          throw tooLarge();
        }
        if (member.isEmpty()) {
          input.skip();
        } else {
          members.put(name, JsonValue.parse(member.getBytes(StandardCharsets.UTF_8)));
        }
      }
    }
    return of(new JsonObject(members), partitioned);
  }

  private static LectusException tooLarge() {
    return LectusException.badRequest(
        "The views of a design document take at most " + MAX_BYTES + " bytes.");
  }

  private static Optional<ViewDefinition> of(JsonObject design, boolean partitioned) {
    String language = design.textOf("language").orElse(JAVASCRIPT);
    if (language.equals("query") || !(design.members().get(VIEWS) instanceof JsonObject views)) {
      return Optional.empty();
    }
    JsonObject options = object(design, OPTIONS);
    Map<String, JsonValue> functions = new LinkedHashMap<>();
    List<View> found = new ArrayList<>();
    views
        .members()
        .forEach(
            (name, member) -> {
              if (name.equals(LIBRARY)) {
                functions.put(name, member);
              } else if (member instanceof JsonObject view && view.textOf(MAP).isPresent()) {
                functions.put(name, view);
                found.add(view(name, found.size(), view));
              }
            });
    if (found.isEmpty()) {
      return Optional.empty();
    }
    boolean isPartitioned = partitioned && flag(options, "partitioned", true);
    Map<String, JsonValue> program = new LinkedHashMap<>();
    program.put("language", new JsonString(language));
    program.put(OPTIONS, options);
    program.put(VIEWS, new JsonObject(functions));
    byte[] json = new JsonObject(program).toJson().getBytes(StandardCharsets.UTF_8);
    if (json.length > MAX_BYTES) {
      throw tooLarge();
    }
    return Optional.of(
        new ViewDefinition(
            signature(json, isPartitioned),
            language,
            flag(options, "include_design", false),
            flag(options, "local_seq", false),
            isPartitioned,
            found,
            json));
  }

  private static View view(String name, int number, JsonObject view) {
    Optional<String> collation = object(view, OPTIONS).textOf("collation");
    return new View(
        name, number, view.textOf("reduce"), collation.filter("raw"::equals).isPresent());
  }

  /** Another version of ICU sorts strings in another order. */
  private static String signature(byte[] json, boolean partitioned) {
    String more = "\n" + partitioned + "\n" + SortKey.collatorVersion();
    byte[] all = Arrays.copyOf(json, json.length + more.length());
    System.arraycopy(more.getBytes(StandardCharsets.US_ASCII), 0, all, json.length, more.length());
    return HexFormat.of().formatHex(Digests.sha256().digest(all), 0, SIGNATURE_BYTES);
  }

  private static JsonObject object(JsonObject of, String name) {
    return of.members().get(name) instanceof JsonObject object ? object : new JsonObject(Map.of());
  }

  private static boolean flag(JsonObject options, String name, boolean fallback) {
    return options.members().get(name) instanceof JsonBool flag ? flag.value() : fallback;
  }

  /** Whether functions in its language can be run. */
  boolean isSpoken() {
    return language.equals(JAVASCRIPT);
  }

  /**
   * @throws LectusException {@code compilation_error}: nobody speaks its language
   */
  void requireSpoken(View view) {
    if (!isSpoken()) {
      throw LectusException.badRequest(
          "compilation_error",
          "Compilation of the map function in the '"
              + view.name()
              + "' view failed: the language "
              + language.substring(0, Math.min(language.length(), SHOWN))
              + " is not supported.");
    }
  }

  Optional<View> view(String name) {
    return views.stream().filter(it -> it.name().equals(name)).findFirst();
  }

  /**
   * @param owner of the functions, which no database shares with another, also if they are equal
   * @param name database and id of the design document
   */
  Program program(String owner, String name) {
    return new Program(owner + " views " + signature, name, json);
  }
}
