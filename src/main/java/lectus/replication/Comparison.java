package lectus.replication;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import lectus.error.LectusException;
import lectus.json.JsonBuffer;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonArray;
import lectus.json.JsonValue.JsonNull;
import lectus.json.JsonValue.JsonNumber;
import lectus.json.JsonValue.JsonObject;
import lectus.replication.SentDocument.Growth;
import lectus.replication.SentDocument.RawElements;
import lectus.replication.Source.Asked;

/**
 * Compares two databases leaf by leaf: which revisions there are, their histories, their bodies and
 * their attachments. Members may have another order, and numbers another form. It holds a megabyte
 * of documents of each side, and at most one document more.
 */
public final class Comparison {
  private static final int ROWS_AT_ONCE = 500;
  private static final int BYTES_AT_ONCE = 1 << 20;
  private static final int MOST_BYTES = 64 << 20;
  private static final Growth UNCOUNTED = bytes -> {};

  private final RemoteDatabase one;
  private final RemoteDatabase other;
  private final Consumer<String> found;
  private final LongConsumer progress;

  /**
   * @param found takes a sentence without its full stop for each difference
   * @param progress takes the number of each few leaves that were compared
   */
  public Comparison(
      RemoteDatabase one, RemoteDatabase other, Consumer<String> found, LongConsumer progress) {
    this.one = one;
    this.other = other;
    this.found = found;
    this.progress = progress;
  }

  private record Leaf(String id, String revision) {
    static Leaf of(JsonObject document) {
      return new Leaf(document.textOf("_id").orElse(""), document.textOf("_rev").orElse(""));
    }

    String sentence(String what) {
      return id + " " + revision + ": " + what;
    }
  }

  /** Compares everything that is in either database. */
  public void run() throws IOException {
    for (Pages pages = new Pages(one); pages.hasNext(); ) {
      Set<Leaf> leaves = pages.next();
      Set<Leaf> missing = missing(other, leaves);
      leaves.removeAll(missing);
      compare(leaves);
      progress.accept(leaves.size() + missing.size());
    }
    // A leaf of both is a leaf of one, and was compared.
    for (Pages pages = new Pages(other); pages.hasNext(); ) {
      missing(one, pages.next());
    }
  }

  /** The leaves of a database, in the order of its changes. */
  private static final class Pages {
    private final RemoteDatabase database;
    private JsonValue since = Checkpoints.BEGINNING;
    private boolean hasNext = true;

    Pages(RemoteDatabase database) {
      this.database = database;
    }

    boolean hasNext() {
      return hasNext;
    }

    Set<Leaf> next() throws IOException {
      ChangesPage page = ChangesPage.of(database.changes(Asked.of(since, ROWS_AT_ONCE)).join());
      hasNext = page.rows() >= ROWS_AT_ONCE;
      if (hasNext && page.leadsNowhere(since)) {
        throw new IOException("the changes of " + database.shown() + " end where they begin");
      }
      since = page.end();
      Set<Leaf> leaves = new LinkedHashSet<>();
      page.revisions()
          .forEach((id, revisions) -> revisions.forEach(it -> leaves.add(new Leaf(id, it))));
      return leaves;
    }
  }

  /** Returns the leaves that a database lacks, and tells of them. */
  private Set<Leaf> missing(RemoteDatabase database, Set<Leaf> leaves) {
    Map<String, List<String>> asked = new LinkedHashMap<>();
    leaves.forEach(
        it -> asked.computeIfAbsent(it.id(), id -> new ArrayList<>()).add(it.revision()));
    Set<Leaf> missing = new LinkedHashSet<>();
    if (!asked.isEmpty()) {
      database.missing(asked).forEach(it -> missing.add(new Leaf(it.id(), it.revision())));
    }
    missing.forEach(it -> found.accept(it.sentence("is missing in " + database.shown())));
    return missing;
  }

  private void compare(Set<Leaf> leaves) throws IOException {
    if (leaves.isEmpty()) {
      return;
    }
    Set<Leaf> left = new LinkedHashSet<>(leaves);
    Map<Leaf, JsonObject> held = new LinkedHashMap<>();
    long bytes = 0;
    try (InputStream answer = asked(one, leaves)) {
      RawElements results = new RawElements(answer, Optional.of("results"), MOST_BYTES, UNCOUNTED);
      for (Optional<byte[]> each = results.next(); each.isPresent(); each = results.next()) {
        documents(each.get()).forEach(it -> held.put(Leaf.of(it), it));
        bytes += each.get().length;
        if (bytes > BYTES_AT_ONCE) {
          compare(held, left);
          bytes = 0;
        }
      }
    }
    compare(held, left);
    left.forEach(it -> found.accept(it.sentence("cannot be compared as it is in " + one.shown())));
  }

  private void compare(Map<Leaf, JsonObject> held, Set<Leaf> left) throws IOException {
    held.keySet().retainAll(left);
    Map<Leaf, JsonObject> others = new HashMap<>();
    if (!held.isEmpty()) {
      try (InputStream answer = asked(other, held.keySet())) {
        RawElements results =
            new RawElements(answer, Optional.of("results"), MOST_BYTES, UNCOUNTED);
        for (Optional<byte[]> each = results.next(); each.isPresent(); each = results.next()) {
          documents(each.get()).forEach(it -> others.put(Leaf.of(it), it));
        }
      }
    }
    for (Map.Entry<Leaf, JsonObject> each : held.entrySet()) {
      Leaf leaf = each.getKey();
      JsonObject there = others.get(leaf);
      if (there == null) {
        found.accept(leaf.sentence("cannot be compared as it is in " + other.shown()));
      } else {
        compare(leaf, each.getValue(), there);
      }
    }
    left.removeAll(held.keySet());
    held.clear();
  }

  private static InputStream asked(RemoteDatabase database, Set<Leaf> leaves) throws IOException {
    JsonBuffer request = new JsonBuffer(64 * leaves.size()).ascii("{\"docs\":[");
    request.each(
        leaves,
        it ->
            request
                .ascii("{\"id\":")
                .string(it.id())
                .ascii(",\"rev\":")
                .string(it.revision())
                .octet('}'));
    return database
        .bulkGet(request.ascii("]}").toBytes(), false)
        .orElseThrow(() -> new IOException(database.shown() + " does not answer _bulk_get"));
  }

  /** Returns the documents of a result that are there, and not nested too deep to be compared. */
  private static List<JsonObject> documents(byte[] result) {
    List<JsonObject> all = new ArrayList<>();
    if (parsed(result) instanceof JsonObject of
        && of.get("docs").orElse(null) instanceof JsonArray docs) {
      for (JsonValue each : docs.elements()) {
        if (each instanceof JsonObject it && it.get("ok").orElse(null) instanceof JsonObject ok) {
          all.add(ok);
        }
      }
    }
    return all;
  }

  private static JsonValue parsed(byte[] result) {
    try {
      return JsonValue.parse(result);
    } catch (LectusException unreadable) {
      return new JsonNull();
    }
  }

  private void compare(Leaf leaf, JsonObject here, JsonObject there) throws IOException {
    Set<String> names = new TreeSet<>(here.members().keySet());
    names.addAll(there.members().keySet());
    for (String name : names) {
      if (name.equals("_attachments")) {
        compareAttachments(leaf, attachments(here), attachments(there));
        continue;
      }
      JsonValue mine = here.members().get(name);
      JsonValue its = there.members().get(name);
      Optional<String> path = difference(mine, its, name);
      if (path.isPresent()) {
        String what = name.equals("_revisions") ? "the history" : path.get();
        found.accept(leaf.sentence(what + " differs"));
        return;
      }
    }
  }

  private static Map<String, JsonValue> attachments(JsonObject document) {
    return document.get("_attachments").orElse(null) instanceof JsonObject all
        ? all.members()
        : Map.of();
  }

  private void compareAttachments(
      Leaf leaf, Map<String, JsonValue> here, Map<String, JsonValue> there) throws IOException {
    Set<String> names = new TreeSet<>(here.keySet());
    names.addAll(there.keySet());
    for (String name : names) {
      boolean isSame =
          here.get(name) instanceof JsonObject mine
              && there.get(name) instanceof JsonObject its
              && mine.get("content_type").equals(its.get("content_type"))
              && mine.get("length").equals(its.get("length"))
              && mine.get("revpos").equals(its.get("revpos"))
              && (mine.get("digest").equals(its.get("digest")) || hasSameBytes(leaf, name));
      if (!isSame) {
        found.accept(leaf.sentence("the attachment " + name + " differs"));
      }
    }
  }

  /** Digests are of what is stored, which one of them may have compressed. */
  private boolean hasSameBytes(Leaf leaf, String name) throws IOException {
    return Arrays.equals(
        one.digest(leaf.id(), leaf.revision(), name),
        other.digest(leaf.id(), leaf.revision(), name));
  }

  /**
   * Returns the path of the first difference; a value may be null where there is none.
   *
   * @param path of both values
   */
  public static Optional<String> difference(JsonValue mine, JsonValue its, String path) {
    if (mine instanceof JsonObject one && its instanceof JsonObject other) {
      Set<String> names = new TreeSet<>(one.members().keySet());
      names.addAll(other.members().keySet());
      for (String name : names) {
        Optional<String> found =
            difference(one.members().get(name), other.members().get(name), path + "." + name);
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }
    if (mine instanceof JsonArray one
        && its instanceof JsonArray other
        && one.elements().size() == other.elements().size()) {
      for (int i = 0; i < one.elements().size(); i++) {
        Optional<String> found =
            difference(one.elements().get(i), other.elements().get(i), path + "[" + i + "]");
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    }
    if (mine instanceof JsonNumber one && its instanceof JsonNumber other) {
      boolean isSame =
          one.equals(other)
              || new BigDecimal(one.text()).compareTo(new BigDecimal(other.text())) == 0;
      return isSame ? Optional.empty() : Optional.of(path);
    }
    return mine != null && mine.equals(its) ? Optional.empty() : Optional.of(path);
  }
}
