package lectus.replication;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import lectus.json.JsonValue;
import lectus.json.JsonValue.JsonNumber;
import lectus.replication.SentDocument.RawJson;

/**
 * An answer with changes.
 *
 * @param revisions the changed leaves of documents by their ids, each once
 * @param documents those that came with their only leaf and its history
 * @param rows how many there were
 * @param end the position behind them
 * @param pending how many changes follow, if the source says so
 */
record ChangesPage(
    Map<String, List<String>> revisions,
    List<SentDocument> documents,
    int rows,
    JsonValue end,
    OptionalLong pending) {

  static ChangesPage of(byte[] answer) throws IOException {
    RawJson json = new RawJson(answer);
    Rows rows = new Rows();
    Optional<JsonValue> end = Optional.empty();
    OptionalLong pending = OptionalLong.empty();
    json.open('{');
    while (json.nextMember()) {
      if (json.isNamed("results")) {
        rows.read(json);
      } else if (json.isNamed("last_seq")) {
        end = Optional.of(json.value());
      } else if (json.isNamed("pending")) {
        pending = number(json.value());
      } else {
        json.skip();
      }
    }
    rows.several.forEach((id, leaves) -> rows.revisions.put(id, List.copyOf(leaves)));
    return new ChangesPage(
        rows.revisions,
        // Of a document that changed meanwhile, the second row has another leaf.
        rows.documents.stream().filter(it -> rows.revisions.get(it.id()).size() == 1).toList(),
        rows.count,
        end.orElseThrow(() -> new IOException("Changes without an end.")),
        pending);
  }

  /** Whether it has rows, and whoever asks for what follows gets them again. */
  boolean leadsNowhere(JsonValue since) {
    return rows > 0 && ReplicationRequest.text(end).equals(ReplicationRequest.text(since));
  }

  private static OptionalLong number(JsonValue value) {
    return value instanceof JsonNumber number && number.text().matches("[0-9]{1,18}")
        ? OptionalLong.of(Long.parseLong(number.text()))
        : OptionalLong.empty();
  }

  private static final class Rows {
    private final Map<String, List<String>> revisions = new LinkedHashMap<>();

    /** Leaves of documents of which there are several rows. */
    private final Map<String, Set<String>> several = new HashMap<>();

    private final List<SentDocument> documents = new ArrayList<>();
    private int count;

    void read(RawJson json) throws IOException {
      json.open('[');
      while (json.nextElement()) {
        row(json);
        count++;
      }
    }

    private void row(RawJson json) throws IOException {
      Optional<String> id = Optional.empty();
      List<String> leaves = List.of();
      Optional<SentDocument> document = Optional.empty();
      json.open('{');
      while (json.nextMember()) {
        if (json.isNamed("id")) {
          id = Optional.of(json.text());
        } else if (json.isNamed("changes")) {
          leaves = leaves(json);
        } else if (json.isNamed("doc") && json.isAtObject()) {
          document = Optional.of(SentDocument.of(json));
        } else {
          json.skip();
        }
      }
      String known = id.orElseThrow(() -> new IOException("A change without an id."));
      List<String> former = revisions.putIfAbsent(known, leaves);
      if (former != null) {
        several.computeIfAbsent(known, it -> new LinkedHashSet<>(former)).addAll(leaves);
      }
      if (document.isPresent() && leaves.size() == 1) {
        if (document.get().isWhole(known, leaves.get(0))) {
          documents.add(document.get());
        }
      }
    }

    private static List<String> leaves(RawJson json) throws IOException {
      Set<String> leaves = new LinkedHashSet<>();
      json.open('[');
      while (json.nextElement()) {
        json.open('{');
        while (json.nextMember()) {
          if (json.isNamed("rev")) {
            leaves.add(json.text());
          } else {
            json.skip();
          }
        }
      }
      return List.copyOf(leaves);
    }
  }
}
